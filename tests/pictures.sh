#!/bin/bash
# Every command of the tutorial and of the gallery works, and every picture there is the one that its command draws. After a
# change that is meant: scripts/pictures. Of the gallery's kinds, drawn for a column, pixels are looked at: no word is cut at an
# edge, the legend covers nothing, no interval erases its bar; where a height has no room, plot names one that has.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own
command -v gnuplot >/dev/null || { echo "pictures: gnuplot is missing"; exit 77; }

tar -C "$SRC" --exclude='./build*' --exclude='./.git' --exclude='./results/*' -cf - . | tar -xf -
mkdir -p build
ln -s "$INASIM" build/inasim
ln -s "$(dirname "$INASIM")/tests" build/tests
env -u INASIM scripts/pictures --check >out 2>err || fail "$(<err)"
silent err
pictures=$(find scenarios/gallery scenarios/tutorial -name '*.svg' | wc -l)
shown=$(grep -ohE '\]\([a-z/0-9-]+\.svg\)' scenarios/gallery.md scenarios/tutorial/README.md | sort -u | wc -l)
checks=$((checks + 1))
[[ $pictures == "$shown" && $pictures -ge 26 ]] || fail "$pictures pictures are there, and $shown are shown"
# a job that runs as something else than it is called draws another picture than its sentence says
find results -name jobs.csv -exec awk -F, 'FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$at["ran_as"] == "ring" && $at["scheme"] != "ring" { print FILENAME ": " $at["scheme"] " ran as ring" }' {} + >others
checks=$((checks + 1))
[[ ! -s others ]] || fail "$(head -n 3 others)"

# inspect PICTURE [LEGENDLESS BARE]: pictures of one script, the second without its legend, the third without intervals
inspect() {
	checks=$((checks + 1))
	PYTHONPATH=$SRC/tests/lib python3 - "$@" >found 2>&1 <<'PYTHON' || fail "$1: $(tail -n 1 found)"
import sys
import png
WHITE = (255, 255, 255)
shown, legendless, bare = ([png.read(path) for path in sys.argv[1:]] + [[], []])[:3]
edges = [row[i] for row in shown for i in (0, 1, -2, -1)] + shown[0] + shown[1] + shown[-2] + shown[-1]
assert set(edges) == {WHITE}, "something is cut at an edge"
legend = 0
for row, without, plain in zip(shown, legendless, bare):
    for pixel, below, before in zip(row, without, plain):
        legend += pixel != below
        assert pixel == below or below == WHITE, "the legend covers something"
        assert pixel != WHITE or before == WHITE, "an interval erases something"
PYTHON
}

# column NAME SIZE: the gallery's plot of this name, so large
column() {
	local command dir=columns/$1-$2 script figure other
	command=$(grep -E "^build/inasim plot .*--out results/gallery/$1$" scenarios/gallery.md | sed 's/ --term svg.*//; s/^build.inasim //')
	read -ra command <<<"$command"
	ends 0 "${command[@]}" --size "$2" --out "$dir"
	for script in "$dir"/*.gp; do
		figure=$(basename "$script" .gp)
		sed 's/^if (KEY) .*//; s/^TERM = .*/&; PIPED = 1/' "$script" >"$dir/legendless"
		sed 's/^ends(b, s) = .*/ends(b, s) = "" #\\/; s/^TERM = .*/&; PIPED = 1/' "$script" >"$dir/bare"
		for other in legendless bare; do (cd "$dir" && gnuplot -d "$other" >"$other.png" 2>/dev/null); done
		if grep -q "$figure: .*too low" err; then
			low=$((low + 1))
		else
			inspect "$dir/$figure.png" "$dir/legendless.png" "$dir/bare.png"
		fi
	done
}
low=0
for name in schemes load relative box placement memory panels fct slowdown timeline trees packets cdf; do
	column $name 3.3in
	column $name 3.3x2in
done
# the network has no picture in the gallery; across a page
ends 0 plot results/first --figure network --size 3.3in --out columns/network
ends 0 plot results/first --figure network --size 7in --out columns/wide
ends 0 plot results/tutorial-load --kind cdf --y flows.fct_s --panels --size 7in --out columns/wide
ends 0 plot results/tutorial-load --kind box --y flows.fct_s --size 7in --out columns/wide
for picture in columns/network/*.png columns/wide/*.png; do inspect "$picture"; done
[[ $low -ge 1 && $low -le 5 ]] || fail "$low figures are too high for 2 inches"
column schemes 3.3x2in
needs=$(sed -nE 's/.*it needs ([0-9.]+)$/\1/p' err)
column schemes "3.3x${needs:-2}in"
grep -q 'too low' err && fail "$(<err)"
finish "$pictures pictures are what their commands draw"
