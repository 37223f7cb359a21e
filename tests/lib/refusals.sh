# Are wrong files refused in words that help? Beside each NAME.json of the working
# directory stand, in NAME.expected, the messages that the program must say: without
# the file's name, LINE:COLUMN: /pointer: message. One that ends in "..." may go on.
# Sourced after lib/shell.sh by tests that name the folder and the commands.
# shellcheck shell=bash

# The messages on standard input, without the lines of the source and the file's name.
messages_of() {
	local line
	while IFS= read -r line || [[ -n $line ]]; do
		[[ $line == '    '* ]] || printf '%s\n' "${line#"$1:"}"
	done
}

# Lists that grow with every scheme or model are left out.
shorten() {
	sed -E 's/(allowed here:|[Tt]here are:|with the keys|one of) .*$/\1.../'
}

# same_messages EXPECTED FOUND
same_messages() {
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

# refused NAME ARGUMENT...: the program, with these arguments, ends with 3, says the
# messages of NAME.expected and writes nothing else. With update=yes, what the first
# command of a NAME says is written there.
refused() {
	local name=$1 text found code=0
	shift
	checks=$((checks + 1))
	text=$(timeout 20 "$INASIM" "$@" 2>&1 >"$output") || code=$?
	((code == 3)) || fail "$name: inasim $* ends with $code, not 3"
	[[ ! -s $output ]] || fail "$name: inasim $* writes to standard output"
	found=$(messages_of "$name.json" <<<"$text")
	if [[ $update == yes && $name != "$updated" ]]; then
		shorten <<<"$found" >"$name.expected"
		updated=$name
	elif ! same_messages "$(<"$name.expected")" "$found"; then
		fail "$name: inasim $* says"$'\n'"$found"$'\n'"but expected is"$'\n'"$(<"$name.expected")"
	fi
}

# complete LEAST: no file stands there for a NAME.json that does not exist, and there
# are at least so many of those; how many is in $count
complete() {
	local file files
	for file in *.expected *.args; do
		[[ ! -e $file || -f ${file%.*}.json ]] || fail "$file: there is no ${file%.*}.json"
	done
	files=(*.json)
	count=${#files[@]}
	((count >= $1)) || fail "only $count files"
}

output=$(mktemp)
trap 'rm -rf "$output" "$output.d"' EXIT
update=no
updated=
[[ ${1:-} != --update ]] || update=yes
