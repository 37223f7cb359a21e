#!/bin/bash
# Every figure of every shipped scenario can be drawn: gnuplot has nothing to say about it, and the
# script beside it draws it again. Scenarios are interrupted after a second, so most results are unfinished.
# Figures of sweeps are in unit/test_plot_sweep.c.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own
command -v gnuplot >/dev/null || exit 77

# again DIR: each script in it draws, without a word
again() {
	local script
	for script in "$1"/*.gp; do
		checks=$((checks + 1))
		(cd "$1" && gnuplot -d "${script##*/}") >again 2>&1 || fail "$script fails: $(cat again)"
		[[ ! -s again ]] || fail "$script says: $(cat again)"
	done
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
done
ends 0 plot --together --out together --term svg quickstart shared-cluster
again together

finish "$checks checks hold"
