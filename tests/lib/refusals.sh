# Are the files of a table (lib/table.sh) refused in words that help? Sourced after
# lib/shell.sh by tests that name the commands. The files are in the working directory
# from now on; with the argument --update, the messages of the table are written anew.
# shellcheck shell=bash
source "$SRC/tests/lib/table.sh"

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
	text=$(ulimit -t 20 && exec "$INASIM" "$@" 2>&1 >"$output") || code=$?
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

# refuse_table TABLE LEAST: refuse_file NAME for every file, of which there are at least
# so many; how many is in $count
refuse_table() {
	local file files
	unpack "$1" . || { fail "$1 cannot be read"; finish; }
	files=(*.expected)
	for file in "${files[@]}"; do
		refuse_file "${file%.expected}"
	done
	count=${#files[@]}
	((count >= $2)) || fail "only $count files"
	[[ $update == no ]] || { with_messages "$1" . >"$output" && cat "$output" >"$1"; }
}

in_a_folder_of_its_own
output=${work:?}/.output
update=no
updated=
[[ ${1:-} != --update ]] || update=yes
