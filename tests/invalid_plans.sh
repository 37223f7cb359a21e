#!/bin/bash
# Is every mistake in a sweep plan refused before anything runs, at its place, in
# words that help? For each tests/invalid-plans/NAME.json `sweep plan`, `status` and
# `collect` must say the messages of NAME.expected, and make no directory.
#   tests/invalid_plans.sh --update   writes all NAME.expected anew: read the difference
source "${SRC:?source directory}/tests/lib/shell.sh"
source "$SRC/tests/lib/refusals.sh"
cd "$SRC/tests/invalid-plans"

for file in *.json; do
	name=${file%.json}
	refused "$name" sweep plan "$file"
	for verb in status collect; do
		refused "$name" sweep "$verb" "$file" --out "$output.d"
		[[ ! -e $output.d ]] || fail "$name: $verb makes a directory"
	done
done
complete 70
finish "$count plans are refused as they should be"
