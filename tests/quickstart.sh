#!/bin/bash
# scripts/quickstart: the job is at least 1.5 times as fast by SwitchML as by ring when alone, the
# sentences say what was measured, and the figure is the one that the README shows. Time to
# install and to build is not in it. After a change that is meant:
#   scripts/quickstart && cp results/quickstart/breakdown.svg scenarios/quickstart
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own

quickstart() {
	local code=0
	checks=$((checks + 1))
	"$SRC/scripts/quickstart" "$@" >out 2>err || code=$?
	((code == ${expected:-0})) || fail "quickstart $*: exit code $code: $(tail -n 5 err)"
}

# time_of NAME: milliseconds of an iteration, as the figure has it
time_of() {
	"$INASIM" why --json "$work/q/$1" | jq '[.[].iterations[].why_s | add] | 1000 * add / length'
}

# words of the last lines of `out`, as one line
words() {
	tr '\n' ' ' <out
}

export INASIM
expected=2 quickstart one two
says err '^Usage: scripts/quickstart \[DIR\]'
quickstart "$work/q"
ring=$(time_of ring-alone)
checks=$((checks + 1))
jq -ne --argjson a "$ring" --argjson b "$(time_of switchml-alone)" '$a / $b >= 1.5' >/dev/null ||
	fail "ring alone takes $ring ms, less than 1.5 times as long as SwitchML"
for name in ring ps switchml; do
	row=$(printf '%.1f ms +%.1f ms' "$(time_of $name-alone)" "$(time_of $name-beside)")
	says out "^[A-Za-z ]+ +$row +[0-9.]+ +[0-9.]+ MB$"
done
checks=$((checks + 1))
[[ $(words | grep -oE '[a-z)0-9]\. ' | wc -l) == 3 ]] || fail "not three sentences: $(cat out)"
words >line
times=$(jq -n --argjson a "$ring" --argjson b "$(time_of switchml-alone)" '$a / $b')
says line "Alone SwitchML is the fastest: ring takes $(printf %.2f "$times") times as long as SwitchML"
says line 'An iteration of ring takes [0-9]+ ms \([a-zA-Z :,]+ [0-9]+, [a-zA-Z :,]+ [0-9]+(, less elsewhere)?\) longer'

# Its words for causes are the figure's.
while read -r word; do
	checks=$((checks + 1))
	grep -qF "\"$word\"," "$SRC/sim/lab/breakdown.c" || fail "\"$word\" is no word of the figure"
done < <(sed -nE 's/^\tsays\["(window_|nic|queue_).* = "(.*)"$/\2/p' "$SRC/scripts/quickstart.awk")
for name in {ring,ps,switchml}-{alone,beside}; do
	holds '[.jobs.why_s[]] | add > 0.02' "q/$name/summary.json"
done

# They follow the numbers: a ring of 10 ms is the fastest.
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "duration_s") duration = i }
	NR > 1 { $duration = 0.01 } { print }' q/ring-alone/why.csv >why.csv
cp why.csv q/ring-alone/why.csv
awk -F, -f "$SRC/scripts/quickstart.awk" q/{ring,ps,switchml}-{alone,beside}/{jobs,why,links}.csv >out
words >line
says line 'Alone ring is the fastest'
says line 'ring takes 0\.3[0-9] times as long as SwitchML'

# Another gnuplot draws other bytes.
if command -v gnuplot >/dev/null; then
	grep -q '</html>' q/report.html || fail "no report"
	shown=$SRC/scenarios/quickstart/breakdown.svg
	if [[ $(grep -o 'Produced by.*' "$shown") == "$(grep -o 'Produced by.*' q/breakdown.svg)" ]]; then
		same "$shown" q/breakdown.svg
	fi
fi
finish "ring alone takes $(printf %.2f "$times") times as long as SwitchML"
