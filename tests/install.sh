#!/bin/bash
# cmake --install: the installed program works in any folder with files of its own, also when the
# prefix was moved or it is called by a link. A .deb in a clean root: scripts/try-deb, which takes
# minutes and the network.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own

# there FILE...: below the prefix, and not empty
there() {
	local file
	for file; do
		checks=$((checks + 1))
		[[ -s $prefix/$file ]] || fail "$file is not installed"
	done
}

first=$work/first
cmake --install "$(dirname "$INASIM")" --prefix "$first" >log 2>&1 || fail "cmake --install: $(tail -n 5 log)"
prefix=$work/moved # nothing may remember where it was
mv "$first" "$prefix"
share=$prefix/share/inasim
mkdir links "$work/elsewhere"
ln -s "$prefix/bin/inasim" links/inasim
INASIM=$work/links/inasim
cd "$work/elsewhere"

there share/man/man1/inasim.1 share/man/man1/inasim-sweep.1 share/man/man5/inasim-scenario.5 share/doc/inasim/copyright \
	share/bash-completion/completions/inasim share/zsh/vendor-completions/_inasim \
	share/fish/vendor_completions.d/inasim.fish
for schema in scenario plan; do
	there "share/inasim/$schema.schema.json"
	holds '.properties | length > 5' "$share/$schema.schema.json"
done

# Links of the README lead somewhere.
doc=$prefix/share/doc/inasim
while read -r link; do
	checks=$((checks + 1))
	[[ -e $doc/${link%%#*} ]] || fail "README.md: $link is not installed"
done < <(grep -oE '\]\([^)]+\)' "$doc/README.md" | sed 's/^](//; s/)$//' | grep -v '^http')

# It reads its own files: what changes there, changes for it.
echo 'mine,alexnet_caffe_grouped,a100,1,1.5,estimate,this test' >>"$share/traces/models/profiles.csv"
ends 0 list models
says out '^  mine +a100, batch 1: 1.5 ms'
ends 0 list traces
says out 'websearch'
ends 0 init
ends 0 check --strict scenario.json
ends 0 run --quiet scenario.json --out results --set /jobs/0/model=mine
ends 0 run --quiet "$share/scenarios/switchml/loss-1e-3.json"
ends 0 regress --scenario small-dctcp
says out '^small-dctcp: same$'
if [[ -x $prefix/bin/inasim-fluid ]]; then
	ends 0 run --quiet scenario.json --fidelity fluid --set /fluid/solver=simgrid
fi
if command -v gnuplot >/dev/null; then
	ends 0 plot --quiet results
	[[ -s results/figures/job_timeline.png ]] || fail "no figure"
	ends 0 report results
	says results/report.html 'download="CITATION.cff"'
	mv "$share/scripts" "$share/hidden"
	ends 6 plot --quiet results
	says err "cannot read $share/scripts/gnuplot"
	mv "$share/hidden" "$share/scripts"
fi
if command -v parallel >/dev/null && command -v jq >/dev/null; then
	cp "$SRC/tests/sweep/base.json" .
	jq '.replications = 1 | .axes[0].values |= .[:1]' "$SRC/tests/sweep/plan.json" >plan.json
	env -u INASIM "$prefix/bin/inasim-sweep" plan.json --out swept >log 2>&1 ||
		fail "inasim-sweep: $(tail -n 5 log)"
	[[ -s swept/sweep.csv ]] || fail "inasim-sweep: no sweep.csv"
fi

# The same version wherever it stands.
version=$(sed -n 's/^project(inasim VERSION \([0-9.]*\).*/\1/p' "$SRC/CMakeLists.txt")
ends 0 --version
says out "^inasim $version "
says "$SRC/CITATION.cff" "^version: $version$"
if command -v yq >/dev/null; then
	yq . "$prefix/share/doc/inasim/CITATION.cff" >citation.json
	holds '."cff-version" == "1.2.0" and .title and .authors[0] and .license == "GPL-3.0-or-later"' citation.json
fi

# Of what is missing, it says so.
mv "$prefix/bin/inasim-sweep" "$work"
ends 6 manual inasim-sweep.1
says err 'cannot read inasim-sweep'
mv "$work/inasim-sweep" "$prefix/bin"
finish "installed, moved, and used from elsewhere"
