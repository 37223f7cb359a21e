#!/bin/bash
# Is every mistake refused, at its place, in words that help? For each
# tests/invalid/NAME.json (with the options in NAME.args, one a line, if there
# are any) check, run and explain must say the messages of NAME.expected, nothing
# on standard output, and exit with 3. The messages stand there without the
# file's name: LINE:COLUMN: /pointer: message; one that ends in "..." may go on.
#   tests/invalid.sh --update   writes all NAME.expected anew: read the difference
set -euo pipefail

: "${SRC:?source directory}" "${INASIM:?the program}"
export INASIM_TRACES=../../traces # as it stands in messages
cd "$SRC/tests/invalid"
failures=0

fail() {
	printf 'invalid: %s: %s\n' "$1" "$2" >&2
	failures=$((failures + 1))
}

# The messages on standard input, without the lines of the source and the file's name.
messages_of() {
	local line
	while IFS= read -r line || [[ -n $line ]]; do
		[[ $line == '    '* ]] || printf '%s\n' "${line#"$1:"}"
	done
}

# Lists that grow with every scheme or model are left out.
shorten() {
	sed -E 's/(allowed here:|There are:|with the keys|one of) .*$/\1.../'
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

# try NAME VERB OPTION...: code, standard output, messages
try() {
	local name=$1 verb=$2 text found code=0
	shift 2
	text=$(timeout 20 "$INASIM" "$verb" "$name.json" "$@" 2>&1 >"$output") || code=$?
	((code == 3)) || fail "$name" "$verb ends with $code, not 3"
	[[ ! -s $output ]] || fail "$name" "$verb writes to standard output"
	found=$(messages_of "$name.json" <<<"$text")
	if [[ $update == yes && $verb == check ]]; then
		shorten <<<"$found" >"$name.expected"
	elif ! same "$(<"$name.expected")" "$found"; then
		fail "$name" "$verb says"$'\n'"$found"$'\n'"but expected is"$'\n'"$(<"$name.expected")"
	fi
}

update=no
[[ ${1:-} != --update ]] || update=yes
output=$(mktemp)
trap 'rm -f "$output"' EXIT
count=0
for file in *.json; do
	name=${file%.json}
	arguments=()
	[[ ! -f $name.args ]] || mapfile -t arguments <"$name.args"
	for verb in check run explain; do
		try "$name" "$verb" "${arguments[@]}"
	done
	count=$((count + 1))
done
for file in *.expected *.args; do
	[[ -f ${file%.*}.json ]] || fail "$file" "there is no ${file%.*}.json"
done

((count >= 200)) || fail "tests/invalid" "only $count files"
if ((failures > 0)); then
	echo "invalid: $failures mistakes" >&2
	exit 1
fi
echo "invalid: $count scenarios are refused as they should be"
