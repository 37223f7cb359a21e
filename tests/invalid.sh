#!/bin/bash
# Is every mistake refused, at its place, in words that help? For each scenario of
# tests/invalid.txt, check, run and explain must say its messages.
#   tests/invalid.sh --update   writes all messages anew: read the difference
source "${SRC:?source directory}/tests/lib/shell.sh"
source "$SRC/tests/lib/refusals.sh"

refuse_file() {
	local arguments=() verb
	[[ ! -f $1.args ]] || mapfile -t arguments <"$1.args"
	for verb in check run explain; do
		refused "$1" "$verb" "$1.json" "${arguments[@]}"
	done
}

ln -s "$SRC/traces" .
export INASIM_TRACES=traces # as it stands in messages
refuse_table "$SRC/tests/invalid.txt" 300
finish "$count scenarios are refused as they should be"
