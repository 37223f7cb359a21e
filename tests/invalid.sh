#!/bin/bash
# Is every mistake refused, at its place, in words that help? For each
# tests/invalid/NAME.json (with the options in NAME.args, one a line, if there
# are any) check, run and explain must say the messages of NAME.expected.
#   tests/invalid.sh --update   writes all NAME.expected anew: read the difference
source "${SRC:?source directory}/tests/lib/shell.sh"
source "$SRC/tests/lib/refusals.sh"
cd "$SRC/tests/invalid"
export INASIM_TRACES=../../traces # as it stands in messages

for file in *.json; do
	name=${file%.json}
	arguments=()
	[[ ! -f $name.args ]] || mapfile -t arguments <"$name.args"
	for verb in check run explain; do
		refused "$name" "$verb" "$file" "${arguments[@]}"
	done
done
complete 200
finish "$count scenarios are refused as they should be"
