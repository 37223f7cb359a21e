#!/bin/bash
# The scenarios of the source tree still give the results of traces/reference.
set -euo pipefail

: "${SRC:?source directory}" "${INASIM:?the program}"
exec "$INASIM" regress "$SRC/traces/reference"
