# Tables of wrong files, tests/invalid.txt and invalid_plans.txt. A block stands for a
# file and says which messages it deserves; an empty line ends it:
#
#   === NAME [OPTION...]          NAME.json, and options for the command that reads it
#   { "name": "x" }               its text
#   ---
#   LINE:COLUMN: /pointer: ...    the messages; one that ends in "..." may go on
#
# "=== NAME printf": the text is a format of printf, for bytes that editors dislike and
# for a last line without its end. A NAME with a dot is a data file, which has no messages.
# shellcheck shell=bash

# unpack TABLE FOLDER: writes NAME.json, NAME.expected, perhaps NAME.args (an option a
# line), and the data files, which have no NAME.expected, into the folder; 1 and a message if the table is wrong
unpack() {
	local line number=0 part=between name option file
	while IFS= read -r line; do
		number=$((number + 1))
		case $part:$line in
		text:---)
			[[ $option != printf ]] || format "$file"
			part=between
			[[ $name == *.* ]] || { part=messages file=$2/$name.expected && : >"$file"; }
			;;
		text:*) printf '%s\n' "$line" >>"$file" ;;
		*:'=== '*)
			part='text'
			read -r _ name option <<<"$line"
			file=$2/$name
			[[ $name == *.* ]] || file+=.json
			[[ ! -e $file ]] || { echo "$1:$number: a second $name" >&2; return 1; }
			: >"$file"
			[[ -z $option || $option == printf ]] || tr ' ' '\n' <<<"$option" >"$2/$name.args"
			;;
		messages: | between: | between:'#'*) part=between ;;
		messages:*) printf '%s\n' "$line" >>"$file" ;;
		*) echo "$1:$number: neither a block nor a # comment" >&2; return 1 ;;
		esac
	done <"$1"
	[[ $part != text ]] || { echo "$1: $name has no line ---" >&2; return 1; }
}

# format FILE: its text becomes what printf makes of it
format() {
	local text
	text=$(<"$1")
	# shellcheck disable=SC2059 # a format is what it is
	printf "$text" >"$1"
}

# with_messages TABLE FOLDER: the table, with the messages of FOLDER/NAME.expected
with_messages() {
	local line part=between name
	while IFS= read -r line; do
		case $part:$line in
		text:---)
			printf '%s\n' "$line"
			part=between
			[[ $name == *.* ]] || { cat "$2/$name.expected"; part=messages; }
			continue
			;;
		text:*) ;;
		*:'=== '*) part=text; read -r _ name _ <<<"$line" ;;
		messages:) part=between ;;
		messages:*) continue ;;
		esac
		printf '%s\n' "$line"
	done <"$1"
}
