#!/bin/bash
# Every command of the tutorial and of the gallery works, and every picture there is the one that its command draws. After a
# change that is meant: scripts/pictures.
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
finish "$pictures pictures are what their commands draw"
