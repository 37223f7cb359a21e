#!/bin/bash
# The scenarios of the source tree still give the results of traces/reference, and each has a reference. Not run are those
# of more than 10 million events; in CI of more than 100 million; with NIGHTLY none is left out.
source "${SRC:?source directory}/tests/lib/shell.sh"

mapfile -t long < <(jq -r --argjson most "$(sample 10e6 100e6 1e99)" \
	'select(.events and .events > $most) | input_filename | split("/")[-1][:-5]' "$SRC"/traces/reference/*.json)
mapfile -t names < <({
	jq -r 'select(.events) | input_filename | split("/")[-1][:-5]' "$SRC"/traces/reference/*.json
	cd "$SRC/scenarios" && grep -rl --include='*.json' '"topology": *{' . | xargs grep -L '"base":' | sed 's|^\./||; s|/|-|g; s|\.json$||'
} | sort -u | grep -vxF "$(printf '%s\n' "${long[@]:-none}")")
exec "$INASIM" regress "$SRC/traces/reference" "${names[@]/#/--scenario=}"
