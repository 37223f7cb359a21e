#!/bin/bash
# scripts/repro: verdicts follow from values, tolerances and intervals; wrong rows are refused with their place; killed at any
# moment it ends with the same bytes, and nothing that has ended runs again.
# shellcheck disable=SC2016 # the single quotes hold jq programs
source "${SRC:?source directory}/tests/lib/shell.sh"
command -v python3 >/dev/null || exit 77
in_a_folder_of_its_own
export INASIM
cp -r "$SRC"/{scripts,scenarios,traces} .

# repro CODE ARGUMENT...: in the copy
repro() {
	local expected=$1 code=0
	shift
	scripts/repro "$@" >out 2>err || code=$?
	checks=$((checks + 1))
	((code == expected)) || fail "scripts/repro $*: exit code $code, not $expected: $(tail -n 5 err)"
}

# verdict ROW VERDICT: in the last results
verdict() {
	holds '.rows[] | select(.id == $row) | .verdict == $verdict' "${3:-results/repro}/repro.json" --arg row "$1" --arg verdict "$2"
}

# --- rows and their verdicts
repro 0 --list
checks=$((checks + 1))
(($(wc -l <out) >= 104)) || fail "only $(wc -l <out) rows"
repro 0 s19-bytes s19-hierarchy s19-figure-10 s19-figure-7-gain s21-table-2-six
verdict s19-bytes reproduced
verdict s19-hierarchy reproduced
verdict s19-figure-7-gain reproduced
verdict s19-figure-10 "not by simulation"
verdict s21-table-2-six "direction only" # 1.503 of 1.54 is 2 % of the ratio and 7 % of the gain
holds '.counts.all.reproduced == 3 and (.rows | length) == 5' results/repro/repro.json
says results/repro/report.md '^\| s19-bytes .* reproduced'
says results/repro/index.html 'id="s19-hierarchy"'

# what has ended does not run again, and the pages are the same
cp results/repro/index.html before.html
repro 0 s19-bytes s19-hierarchy s19-figure-10 s19-figure-7-gain s21-table-2-six
checks=$((checks + 2))
! grep -q 'to run' err || fail "runs again what has ended"
cmp -s before.html results/repro/index.html || fail "the page differs without a run"

# another value in the paper, another rule in a plan: other verdicts
papers=scenarios/papers/switchml-2019.json
cp "$papers" papers.json
jq '(.rows[] | select(.id == "s19-figure-7-gain") | .paper) = 50' papers.json >"$papers"
repro 0 s19-figure-7-gain
verdict s19-figure-7-gain "not reproduced"
cp papers.json "$papers"
sed -i '/"1516 bytes": /s/s19-mtu/udp-64/' scenarios/sweeps/switchml-mtu.json
repro 0 s19-figure-7-gain
verdict s19-figure-7-gain "not reproduced"
cp "$SRC/scenarios/sweeps/switchml-mtu.json" scenarios/sweeps/

# the settings of a reading reach the points of a plan
jq '(.rows[] | select(.id == "s19-figure-7-gain") | .readings) = {"slow": {"/topology/link/rate": "1Gbps"}}' papers.json >"$papers"
repro 0 s19-figure-7-gain
holds '.rows[0] | .ours[0].mean != .readings[0].ours[0].mean' results/repro/repro.json
cp papers.json "$papers"

# judged FILTER ROW VERDICT: another verdict of a row that is changed so
judged() {
	jq "(.rows[] | select(.id == \"$2\")) |= ($1)" papers.json >"$papers"
	repro 0 "$2"
	verdict "$2" "$3"
	cp papers.json "$papers"
}
# what is fitted is not reproduced; a fitted reading is its own matter
judged '(.fitted = {"size": "100 MB"})' s19-figure-7-gain "consistent with a fit"
judged '(.readings = {"own": .ours} | .fitted = {"own": "100 MB"})' s19-figure-7-gain reproduced
holds '.rows[0].readings[0].verdict == "consistent with a fit"' results/repro/repro.json
# half of the last digit that is printed is within reach, too
judged '.tolerance = 0.001' s19-figure-7-gain "not reproduced"
judged '.tolerance = 0.001 | .digit = 3' s19-figure-7-gain reproduced
# a claim holds under all spreads of hosts, and not only under the row's; other readings are rules
judged '(.readings = {"spread 1 us": "1 > 2"})' s19-hierarchy "not reproduced"
judged '(.readings = {"another rule": "1 > 2"})' s19-hierarchy reproduced
# a random value near the edge of its tolerance takes three seeds
repro 0 s19-figure-5-low
judged ".paper = $(jq '2 * .rows[0].ours[0].mean' results/repro/repro.json) | .kind = \"value\" | .tolerance = 0.5 | .why = \"at its edge\" |
	.ours |= sub(\"=x\"; \"='switchml 128'\"; \"g\") | del(.x, .claim)" s19-figure-5-low undecided

# quotes are the papers' words, but for blanks, hyphens and marks of LaTeX
mkdir texts
for paper in scenarios/papers/*.json; do
	jq -r '.rows[].quote' "$paper" | sed 's/\[[^]]*\]/ /g; s/ \.\.\. /\n/g; s/x, /$\\times$, /g; s/link/lin-\nk/g' >"texts/$(basename "$paper" .json).txt"
done
repro 0 quotes texts
sed -i 's/further improve/improve/' texts/switchml-2019.txt
repro 1 quotes texts
says err 'row s19-figure-7-gain: not in SwitchML .2019.: "and further improve TAT by 31.6%"'

# --- wrong rows
# refused FILTER MESSAGE: rows changed so
refused() {
	jq "$1" papers.json >"$papers"
	repro 3 --list
	says err "$2"
}
refused '.rows[0].tolerence = 1' 'row "s19-bytes": there is no key "tolerence"'
refused 'del(.rows[0].why)' 'row "s19-bytes": "tolerance" and "why"'
refused '.rows[0].paper = [1, 2]' '2 values for 3 points'
refused '.rows[1] = .rows[0]' 'two rows "s19-bytes"'
refused '.rows[0].ours = "nothing.jobs.count"' 'no such run'
refused '.rows[0].ours = "1 +"' 'invalid syntax'
refused '(.rows[] | select(.kind == "none") | .reason) = ""' 'why not by simulation'
refused '.runs.pool.plan = "nowhere.json"' 'run "pool": there is no nowhere.json'
cp papers.json "$papers"
repro 2 s19-nothing
says err 'there is no row or paper "s19-nothing"'

# --- killed: five times, interrupted or at once, in a run or between two; the points of two rows. A point needs a token to begin,
# and each command gets one, so that some points are left however fast the machine is.
rows=(s19-figure-2-tat s19-figure-7-linear)
repro 0 "${rows[@]}" --out whole
points() { find "$1" -name '*.json' -path '*/points/*' | wc -l; }
(($(points whole) > 5)) || fail "only $(points whole) points for five kills"
cat >one_by_one <<-END
	#!/bin/bash
	if [[ "\$1 \$2" == "sweep run" ]]; then
		[[ -e token ]] || touch waits
		until rm token 2>/dev/null; do sleep 0.01; [[ -d killed ]] || exit 1; done
	fi
	exec "$INASIM" "\$@"
END
chmod +x one_by_one
mkdir killed
for signal in KILL INT KILL INT KILL; do
	rm -f waits
	touch token
	INASIM=$PWD/one_by_one setsid scripts/repro "${rows[@]}" --jobs 1 --out killed >/dev/null 2>&1 &
	child=$!
	while [[ -e token ]]; do sleep 0.01; done
	[[ $signal == INT ]] || until [[ -e waits ]]; do sleep 0.01; done # KILL: between two, INT: as soon as the first runs
	kill "-$signal" -- "-$child"
	wait "$child" 2>/dev/null || true
done
checks=$((checks + 3))
(($(points killed) >= 3)) || fail "what had ended is lost: $(points killed) points are left"
(($(points killed) < $(points whole))) || fail "nothing was left to run after five kills"
[[ ! -e killed/repro.json ]] || fail "a killed command wrote repro.json"
repro 0 "${rows[@]}" --out killed
for file in repro.json report.md; do
	checks=$((checks + 1))
	cmp -s "whole/$file" "killed/$file" || fail "$file differs after five kills"
done

# a run that failed: its rows are "not run", also those that read a table of it; the exit code says so
rm -r killed/*/points/*
cat >failing <<-END
	#!/bin/bash
	[[ "\$1 \$2" == "sweep run" ]] && exit 1
	exec "$INASIM" "\$@"
END
chmod +x failing
INASIM=$PWD/failing repro 1 s19-figure-2-tat nr-table-6-share --out killed
for row in s19-figure-2-tat nr-table-6-share; do verdict $row "not run" killed; done

# so is a row whose trace is a test's, where there is no build folder with tests
repro 1 s19-figure-1
verdict s19-figure-1 "not run"
finish "$checks checks"
