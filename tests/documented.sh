#!/bin/bash
# Milliseconds in the READMEs of scenarios of PANAMA and SwitchML: the first of each row is what the reference of its scenario
# holds, or what its command gives. Rows of the two tables only: `NAME.json`, `inasim run ...`.
# shellcheck disable=SC2016 # the single quotes hold jq and awk programs
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own

# rows README: first cell without its back-quotes, tab, the first number before "ms" in the last
rows() {
	awk -F'|' '/^\| `/ && match($(NF - 1), /[0-9.]+ ms/) {
		split(substr($(NF - 1), RSTART, RLENGTH), ms, " "); split($2, cell, "`"); print cell[2] "\t" ms[1] }' "$1"
}

# has MS SUMMARY ROW: the communication of all jobs or of a group of them, or their completion time
has() {
	checks=$((checks + 1))
	jq -e --arg ms "$1" '(.summary // .).jobs | [.communication_s.mean, .jct_s.mean, (.by_name[]? | .communication_s.mean)]
		| any(. != null and (. * 1000 - ($ms | tonumber) | fabs) < 0.00051)' "$2" >/dev/null ||
		fail "$3: not $1 ms but $(jq -c '(.summary // .).jobs.communication_s.mean * 1000' "$2")"
}

for folder in panama switchml; do
	while IFS=$'\t' read -r what ms; do
		case $what in
		*.json) has "$ms" "$SRC/traces/reference/$folder-${what%.json}.json" "$folder/$what" ;;
		"inasim run "*)
			(cd "$SRC" && bash -c "${what/#inasim/\"$INASIM\"} --quiet --json" 2>"$work/err") >run.json ||
				fail "$what: $(head -n 3 err)"
			has "$ms" run.json "$what"
			;;
		esac
	done < <(rows "$SRC/scenarios/$folder/README.md")
done
((checks >= 25)) || fail "only $checks rows found"
finish "$checks rows are as written"
