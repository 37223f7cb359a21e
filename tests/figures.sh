#!/bin/bash
# Every figure of every shipped scenario can be drawn: gnuplot has nothing to say about it, and the
# script beside it draws it again. Scenarios are interrupted after a second, so most results are unfinished.
# Figures of sweeps are in unit/test_plot_sweep.c.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own
command -v gnuplot >/dev/null || exit 77

# again DIR: each script in it draws, without a word (where the locale has no degree sign gnuplot
# says so whatever it draws)
again() {
	local script
	for script in "$1"/*.gp; do
		checks=$((checks + 1))
		(cd "$1" && LC_ALL=C.UTF-8 gnuplot -d "${script##*/}") >again 2>&1 || fail "$script fails: $(cat again)"
		[[ ! -s again ]] || fail "$script says: $(cat again)"
	done
}

# tidy DIR: each table in it is one to other programs, as sim/lab/figures/README.md says
tidy() {
	command -v python3 >/dev/null || return 0
	checks=$((checks + 1))
	python3 - "$1"/*.dat <<'PYTHON' || fail "a table in $1 is none"
import csv, sys
for path in sys.argv[1:]:
    rows = list(csv.DictReader((line for line in open(path) if line.strip() and line[0] != "#"), delimiter=" "))
    assert rows and list(rows[0])[:2] == ["panel", "series"] and list(rows[0])[-1] == "name", path
    for row in rows:
        assert None not in row and None not in row.values(), (path, row)
        for column in list(row)[:-1]:
            float(row[column])
PYTHON
}

mapfile -t scenarios < <(cd "$SRC/scenarios" && find . -name '*.json' -not -path './sweeps/*' \
	-not -path './bench/*' | LC_ALL=C sort)
for scenario in "${scenarios[@]}"; do
	name=${scenario#./}
	name=${name//\//-}
	name=${name%.json}
	timeout --signal=INT 1 "$INASIM" run "$SRC/scenarios/$scenario" --out "$name" --quiet >out 2>err || true
	[[ -d $name ]] || fail "$scenario leaves no results: $(cat err)"
	ends 0 plot --term svg "$name"
	again "$name/figures"
	tidy "$name/figures"
done
ends 0 plot --together --out together --term svg quickstart shared-cluster
again together
tidy together

finish "$checks checks hold"
