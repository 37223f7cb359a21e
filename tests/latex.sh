#!/bin/bash
# pdfLaTeX compiles every kind of figure (plot --term tikz) and of table (compare --latex) in one document, with names that are
# full of TeX's special characters, and lacks none of their letters.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own
for program in pdflatex gnuplot; do
	command -v $program >/dev/null || { echo "latex: $program is not installed (scripts/setup --latex), skipped"; exit 77; }
done

# names of jobs that were cut in the middle of an escape, and each special character
jq -n --arg special '\write18{x} %#$_^&~{}|<>"' '{ name: "a_b & 50%", topology: { kind: "star", hosts: 8 },
	jobs: [ "5%_a_a_a_a_a_a_a_a_a_a_a_a_a_a_a_a_a_a", "5%bb_a_a_a_a_a_a_a_a_a_a_a_a_a_a_a_a_a", $special | { name: .,
		workers: 2, all_reduce: "ring", model: { layers: [ { gradient: "20KB" } ] }, iterations: 2 } ],
	flows: [ { name: $special, size: "10KB", count: 30, arrival: { poisson_load: 0.3 } } ],
	stop: { when: "jobs_done", after: "10ms" }, output: { series: { every: "5us", links: [0] } } }' >one.json
jq -n '{ name: "a_b & 50%", base: "one.json", replications: 3, axes: [
	{ name: "all_reduce", pointer: "/jobs/0/all_reduce", values: ["ring", "switchml"] },
	{ name: "gradient", pointer: "/jobs/0/model/layers/0/gradient", values: ["10KB", "20KB"] } ] }' >plan.json
ends 0 run one.json --quiet --why --out one_1
ends 0 run one.json --quiet --why --set /jobs/0/all_reduce=switchml --out 'two & 50%'
ends 0 sweep run plan.json 0-11 --quiet --why --out swept
ends 0 sweep collect plan.json --quiet --out swept

# with a size for print, and without
ends 0 plot --term tikz --quiet --size 3.3in --out alone one_1
ends 0 plot --term tikz --quiet --together --out together one_1 'two & 50%'
sweep=(plot swept --term tikz --quiet --x gradient --by all_reduce --label 'ring=R_1 & 50%' --label '10KB={~^\}')
for kind in lines bars box heat; do
	ends 0 "${sweep[@]}" --size 3.3in --kind $kind --y jobs.jct_s.mean --out swept/$kind
done
ends 0 "${sweep[@]}" --relative-to ring --y jobs.jct_s.mean --out swept/relative
ends 0 "${sweep[@]}" --panels --size 7in --out swept/panels
ends 0 "${sweep[@]}" --figure breakdown --size 3.3in --no-title --out swept/breakdown
mkdir tables
ends 0 compare one_1 'two & 50%' --latex
cp out tables/runs.tex
ends 0 compare swept --by all_reduce --latex
cp out tables/sweep.tex
for label in 'ring=R_1 & 50%' '10KB={~^\}'; do labels+=(--label "$label"); done
ends 0 compare swept --pivot all_reduce "${labels[@]}" --latex
cp out tables/pivot.tex

{
	printf '%s\n' '\documentclass{article}' '\usepackage[textwidth=7in]{geometry}' '\usepackage{booktabs}' '\usepackage{gnuplot-lua-tikz}' '\begin{document}'
	find alone together swept tables -name '*.tex' | LC_ALL=C sort | sed 's/.*/\\noindent\\input{&}\\clearpage/'
	echo '\end{document}'
} >all.tex
checks=$((checks + 1))
[[ $(grep -c input all.tex) -ge 20 ]] || fail "only $(grep -c input all.tex) files for LaTeX"
export TEXMFVAR=$work/texmf # fonts that it draws
checks=$((checks + 1))
pdflatex -halt-on-error -interaction=nonstopmode all.tex >said 2>&1 </dev/null || fail "$(grep -A 4 '^!' said)"
checks=$((checks + 1))
! grep -E '^Overfull .hbox \(([3-9]|[0-9]{2,})\.' all.log >wide || fail "wider than a page: $(head -n 3 wide)"
checks=$((checks + 1))
grep 'Missing character' all.log >missing && fail "$(head -n 3 missing)"
finish "$checks checks hold"
