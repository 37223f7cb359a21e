#!/bin/bash
# Is every mistake in a sweep plan refused before anything runs, at its place, in
# words that help? For each tests/invalid-plans/NAME.json `sweep plan`, `status` and
# `collect` must say the messages of NAME.expected, nothing on standard output, and
# exit with 3. The messages stand there without the file's name; one that ends in
# "..." may go on.
#   tests/invalid_plans.sh --update   writes all NAME.expected anew: read the difference
set -euo pipefail

: "${SRC:?source directory}" "${INASIM:?the program}"
cd "$SRC/tests/invalid-plans"
failures=0

fail() {
	printf 'invalid_plans: %s: %s\n' "$1" "$2" >&2
	failures=$((failures + 1))
}

# The messages on standard input, without the lines of the plan and the file's name;
# lists that grow with the vocabulary of scenarios are left out.
messages_of() {
	local line
	while IFS= read -r line || [[ -n $line ]]; do
		[[ $line == '    '* ]] || printf '%s\n' "${line#"$1:"}"
	done
}

shorten() {
	sed -E 's/(allowed here:|with the keys|one of) .*$/\1.../'
}

# same EXPECTED FOUND
same() {
	local -a expected found
	local i
	mapfile -t expected <<<"$1"
	mapfile -t found <<<"$2"
	((${#expected[@]} == ${#found[@]})) || return 1
	for i in "${!expected[@]}"; do
		if [[ ${expected[i]} == *... ]]; then
			[[ ${found[i]} == "${expected[i]%...}"* ]] || return 1
		else
			[[ ${found[i]} == "${expected[i]}" ]] || return 1
		fi
	done
}

# try NAME VERB: code, standard output, messages
try() {
	local text found code=0
	text=$(timeout 20 "$INASIM" sweep "$2" "$1.json" --out "$output.d" 2>&1 >"$output") || code=$?
	((code == 3)) || fail "$1" "$2 ends with $code, not 3"
	[[ ! -s $output ]] || fail "$1" "$2 writes to standard output"
	[[ ! -e $output.d ]] || fail "$1" "$2 makes a directory"
	found=$(messages_of "$1.json" <<<"$text")
	if [[ $update == yes && $2 == status ]]; then
		shorten <<<"$found" >"$1.expected"
	elif ! same "$(<"$1.expected")" "$found"; then
		fail "$1" "$2 says"$'\n'"$found"$'\n'"but expected is"$'\n'"$(<"$1.expected")"
	fi
}

update=no
[[ ${1:-} != --update ]] || update=yes
output=$(mktemp)
trap 'rm -rf "$output" "$output.d"' EXIT
count=0
for file in *.json; do
	for verb in status collect; do
		try "${file%.json}" $verb
	done
	code=0
	"$INASIM" sweep plan "$file" >"$output" 2>/dev/null || code=$?
	[[ $code == 3 && ! -s $output ]] || fail "$file" "plan ends with $code"
	count=$((count + 1))
done
for file in *.expected; do
	[[ -f ${file%.*}.json ]] || fail "$file" "there is no ${file%.*}.json"
done

((count >= 70)) || fail "tests/invalid-plans" "only $count files"
if ((failures > 0)); then
	echo "invalid_plans: $failures mistakes" >&2
	exit 1
fi
echo "invalid_plans: $count plans are refused as they should be"
