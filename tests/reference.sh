#!/bin/bash
# The scenarios of the source tree still give the results of traces/reference: without CI those of at most 30 million
# events, which are nine of ten.
source "${SRC:?source directory}/tests/lib/shell.sh"

some=()
if [[ $(sample few all) == few ]]; then
	mapfile -t some < <(jq -r 'select(.events and .events <= 30e6) | "--scenario", (input_filename | split("/")[-1][:-5])' \
		"$SRC"/traces/reference/*.json)
fi
exec "$INASIM" regress "$SRC/traces/reference" "${some[@]}"
