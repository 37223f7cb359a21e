#!/bin/bash
# The lines of results/README.md for pandas and R run, on results with unfinished jobs and failed points, and print what the
# program says. Skipped (77) where neither is installed (scripts/setup --notebook); what is not is named.
source "${SRC:?source directory}/tests/lib/shell.sh"
python=
for program in python3 /usr/bin/python3; do
	[[ -n $python ]] || ! "$program" -c 'import pandas' 2>/dev/null || python=$program
done
[[ -n $python ]] || echo "notebook: pandas is not installed, its lines are skipped"
command -v Rscript >/dev/null || echo "notebook: R is not installed, its lines are skipped"
[[ -n $python ]] || command -v Rscript >/dev/null || exit 77
in_a_folder_of_its_own

# Of two jobs the one by ring has not finished; the group of the other has a name that means "missing" to readers of tables.
jq '.jobs |= map(if .all_reduce == "ring" then .iterations = 50 else .name = "NA" end) | .stop = { when: "time", after: "40ms" }' \
	"$SRC/scenarios/first.json" >half.json
ends 0 run --quiet half.json --out results/eight
# The sweep of the page; the last point does not run.
jq --arg base "$SRC/scenarios/two-jobs.json" '.base = $base | .set["/jobs/0/iterations"] = 1' "$SRC/scenarios/sweeps/load.json" >load.json
ends 0 sweep run load.json 0-16 --out results/load
ends 4 sweep collect load.json --out results/load
switchml=$(jq .jobs.jct_s.mean results/eight/summary.json)
ring=$(awk -F, '$1 == "ring" && $2 == 0.3 && $3 == "jobs.jct_s.mean" { print $5 }' results/load/groups.csv)
last=$(awk -F, '$1 == "switchml" && $2 == 0.3 && $3 == "jobs.jct_s.mean" { print $5 }' results/load/groups.csv)

# code LANGUAGE: the page's block in it
code() {
	sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$SRC/results/README.md" | sed '/^```/d'
}

# shows NUMBER: the output has it, rounded as readers of tables do
shows() {
	checks=$((checks + 1))
	awk -v want="$1" '{ for (i = 1; i <= NF; i++) if ($i + 0 > 0 && ($i / want - 1)^2 < 1e-8) found = 1 } END { exit !found }' out ||
		fail "no $1 in: $(<out)"
}

if [[ -n $python ]]; then
	(code python && echo 'assert set(jobs["name"]) == {"NA", "by-ring"}, jobs["name"]') >lines.py
	"$python" lines.py >out 2>err || fail "pandas: $(tail -n 3 err)"
	says out '^ring +1 +0 +NaN$'
	says out '^switchml +1 +1 '
	says out '^ +0\.3 +2 ' # of three replications
	for number in "$switchml" "$ring" "$last"; do shows "$number"; done
fi
if command -v Rscript >/dev/null; then
	(code r && echo 'stopifnot("NA" %in% table("results/eight/jobs.csv")$name)') >lines.R
	Rscript --vanilla lines.R >out 2>err || fail "R: $(tail -n 3 err)"
	for number in "$switchml" "$ring" "$last"; do shows "$number"; done
fi
finish "$checks checks hold"
