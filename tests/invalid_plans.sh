#!/bin/bash
# Is every mistake in a sweep plan refused before anything runs, at its place, in
# words that help? For each plan of tests/invalid_plans.txt `sweep plan`, `status` and
# `collect` must say its messages, and make no directory.
#   tests/invalid_plans.sh --update   writes all messages anew: read the difference
source "${SRC:?source directory}/tests/lib/shell.sh"
source "$SRC/tests/lib/refusals.sh"

refuse_file() {
	local verb
	refused "$1" sweep plan "$1.json"
	for verb in status collect; do
		refused "$1" sweep "$verb" "$1.json" --out "$output.d"
		[[ ! -e $output.d ]] || fail "$1: $verb makes a directory"
	done
}

refuse_table "$SRC/tests/invalid_plans.txt" 70
finish "$count plans are refused as they should be"
