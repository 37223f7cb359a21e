#!/bin/bash
# The scenarios of the source tree give the digests of traces/reference/digests.csv.
set -euo pipefail

: "${SRC:?source directory}" "${INASIM:?the program}"
export INASIM
exec "$SRC/scripts/reference"
