#!/bin/bash
# Four hundred random scenarios give what they gave: digests and tables (with --why, where it can be had) are those of
# random/drawn.txt. A change of behaviour that no other test has in mind is noticed here; whether it is right is not said.
# To write it again, with the reason in the commit: SRC=$PWD INASIM=$PWD/build/inasim RANDOM_SCENARIO=$PWD/build/tests/random_scenario tests/drawn.sh --update
source "${SRC:?source directory}/tests/lib/shell.sh"
: "${RANDOM_SCENARIO:?the program that makes scenarios}"
in_a_folder_of_its_own

# run FILE [OPTION]: whether it ends, perhaps with jobs that were refused (exit code 4)
run() {
	local status=0
	(ulimit -t 20 && "$INASIM" run --quiet --json "${@:2}" --out results "$1") >out 2>/dev/null || status=$?
	((status == 0 || status == 4))
}

broken=0
for ((i = 0; i < 400 && broken < 3; i++)); do
	"$RANDOM_SCENARIO" 7 $i >$i.json
	run $i.json --why || run $i.json || broken=$((broken + 1))
	printf '%d %s %s\n' $i "$(sed -n 's/^ *"digest": *"\([0-9a-f]*\)".*/\1/p' out)" "$(cat results/*.csv | cksum | cut -d ' ' -f 1)"
	rm -rf results
done >drawn.txt

checks=$((checks + 1))
(($(grep -cE '^[0-9]+ [0-9a-f]{16} [0-9]+$' drawn.txt) == 400)) || fail "not all of them run"

if [[ ${1:-} == --update ]]; then
	cp drawn.txt "$SRC/tests/random/drawn.txt"
	exit
fi

# others FIELD: the numbers of the scenarios that differ in it
others() {
	awk -v field="$1" 'NR == FNR { had[$1] = $field; next } had[$1] != $field { print $1 }' "$SRC/tests/random/drawn.txt" drawn.txt
}

for field in 2 3; do
	checks=$((checks + 400))
	mapfile -t changed < <(others $field)
	((${#changed[@]} == 0)) || fail "${#changed[@]} of 400 random scenarios have other $([[ $field == 2 ]] && echo digests || echo tables):" \
		"$(for i in "${changed[@]:0:5}"; do echo "number $i ($(jq -r '[.jobs[]?.all_reduce] | unique | join(" ")' $i.json))"; done)"
done
finish "$checks digests and tables as they were"
