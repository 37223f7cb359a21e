#!/bin/bash
# Every figure of every shipped scenario (without NIGHTLY of every second) can be drawn: gnuplot has nothing to say about it, and the script beside
# it draws it again (two of each kind of figure; with NIGHTLY set all). In a column of 3.3 inches no word is cut off, letters have 8 points, the legend is
# beside the data. Scenarios end after some simulated time, so that many results are unfinished.
# Numbers of figures of sweeps are in unit/test_plot_sweep.c.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own
command -v gnuplot >/dev/null || exit 77

# again DIR [KIND]: each script in it draws, without a word (where the locale has no degree sign gnuplot
# says so whatever it draws)
declare -A drawn=()
again() {
	local script
	for script in "$1"/*.gp; do
		[[ -n ${NIGHTLY:-} ]] || ((++drawn["${2-}${script##*/}"] <= 2)) || continue
		checks=$((checks + 1))
		(cd "$1" && LC_ALL=C.UTF-8 gnuplot -d "${script##*/}") >again 2>&1 || fail "$script fails: $(cat again)"
		[[ ! -s again ]] || fail "$script says: $(cat again)"
	done
}

# tidy DIR: each table in it is one to other programs, as sim/cli/README.md says
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

# fits DIR: what a reader of a paper expects of each picture in it, drawn at 3.3 inches. Widths of words
# are estimated: half a letter's height for each.
fits() {
	command -v python3 >/dev/null || return 0
	checks=$((checks + 1))
	python3 - "$1"/*.svg <<'PYTHON' >found 2>&1 || fail "pictures in $1: $(tail -n 5 found)"
import os, re, sys
import xml.etree.ElementTree as xml
SVG = "{http://www.w3.org/2000/svg}"
for path in sys.argv[1:]:
    name = os.path.basename(path)
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name), "name " + name
    root = xml.parse(path).getroot()
    width, height = (float(root.get(key)) for key in ("width", "height"))
    assert width == 317, (path, width)  # CSS pixels: 96 an inch
    places, boxes = [], []
    for group in root.iter(SVG + "g"):
        words = "".join(group.itertext()) if group.find(SVG + "text") is not None else ""
        if not words.strip():
            continue
        size = float(group.get("font-size"))
        assert size >= 96 * 8 / 72 - 0.04, (path, words, size)
        x, y, turn = re.fullmatch(r"translate\(([^,]*),([^)]*)\)(?: rotate\((.*)\))?", group.get("transform")).groups()
        x, y, long = float(x), float(y), 0.5 * size * len(words.strip())
        before = {"start": 0, "middle": 0.5, "end": 1}[group.get("text-anchor")] * long
        if turn is None:
            assert x - before >= -2 and x - before + long <= width + 2, (path, "cut off: " + words)
            assert 0 <= y - 0.5 * size and y <= height, (path, "cut off: " + words)
        elif float(turn) == -90:
            assert y - long + before >= -2 and y + before <= height + 2, (path, "cut off: " + words)
        places.append((words, x, y))
        box = (x - before, y - 0.7 * size, x - before + long, y + 0.1 * size) if turn is None else \
            (x - 0.7 * size, y - long + before, x + 0.1 * size, y + before) if float(turn) == -90 else None
        if box:
            for other, b in boxes:
                assert box[0] >= b[2] or b[0] >= box[2] or box[1] >= b[3] or b[1] >= box[3], (path, words + " over " + other)
            boxes.append((words, box))
    # A group of a plot with one text is an entry of the legend, which is below all that others draw.
    entries, lowest = [], 0
    for plot in root.iter(SVG + "g"):
        if not (plot.get("id") or "").startswith("gnuplot_plot_"):
            continue
        texts = [float(re.search(r",([^)]*)", g.get("transform"))[1]) for g in plot.iter(SVG + "g")
                 if g.find(SVG + "text") is not None and "".join(g.itertext()).strip()]
        entries += texts if len(texts) == 1 else []
        lowest = max([lowest] + [float(y) for line in plot.iter(SVG + "path") if not texts
                                 for y in re.findall(r"[ML][-\d.]+,([-\d.]+)", line.get("d"))])
    assert not entries or lowest < min(entries), (path, "legend over data")
PYTHON
}

# what has a base is a sweep plan
mapfile -t scenarios < <(cd "$SRC/scenarios" && find . -name '*.json' -not -path './sweeps/*' -not -path './papers/*' \
	-not -path './bench/*' -exec grep -L '"base":' {} + | LC_ALL=C sort)
every=$(sample 2 2 1)
for ((i = 0; i < ${#scenarios[@]}; i++)); do
	scenario=${scenarios[i]}
	[[ $scenario == ./two-jobs.json || $scenario == ./shared-cluster.json ]] || ((i % every == 0)) || continue
	name=${scenario#./}
	name=${name//\//-}
	name=${name%.json}
	case $name in
	esa-* | why-*) after=5ms ;;     # much happens in them
	panama-shared-cluster) after=9100us ;; # long labels of rows
	roce-websearch) after=10ms ;;   # a warm-up and a window
	shared-cluster) after=40ms ;;                # a warm-up and a window
	panama-fairness | panama-no-congestion-control) after=251ms ;; # when the second job arrives
	baselines-spray-job) after=30ms ;; # its job begins at 20
	traces-*) after=2s ;; # jobs one after the other
	fluid-philly) after=2h ;;
	fluid-*) after=1s ;;
	*) after=20ms ;;
	esac
	"$INASIM" run "$SRC/scenarios/$scenario" --out "$name" --quiet --set /stop/after=\"$after\" >out 2>err || true
	[[ -d $name ]] || fail "$scenario leaves no results: $(cat err)"
	ends 0 plot --term svg "$name"
	again "$name/figures"
	tidy "$name/figures"
	ends 0 plot --term svg --size 3.3in --out "$name/paper" "$name"
	fits "$name/paper"
done
ends 0 plot --together --out together --term svg two-jobs shared-cluster
again together
tidy together
ends 0 plot --together --out paper --term svg --size 3.3in two-jobs shared-cluster
fits paper

# Names that would break the XML of a picture.
jq '.name = "a]]>b" | .jobs[0].name = "]]]>&<"' "$SRC/scenarios/two-jobs.json" >broken.json
ends 0 run --quiet broken.json --out broken --set /jobs/0/gradient_scale=1e-3 --set /jobs/0/compute_scale=1e-3 --set /stop/after=1ms --set /stop/when=time
ends 0 plot --quiet --term svg --size 3.3in --figure job_timeline broken
fits broken/figures
again broken/figures

# A sweep of the scenarios, made small: each kind alone and with all metrics as panels, with and
# without titles, with one point missing.
jq '.base = $base | .replications = 2 | .set += {
	"/jobs/0/gradient_scale": 1e-4, "/jobs/0/compute_scale": 1e-4,
	"/jobs/1/gradient_scale": 1e-4, "/jobs/1/compute_scale": 1e-4}' \
	--arg base "$SRC/scenarios/sweeps/$(jq -r .base "$SRC/scenarios/sweeps/load.json")" \
	"$SRC/scenarios/sweeps/load.json" >plan.json
ends 0 sweep run plan.json 0-10 --out swept
ends 4 sweep collect plan.json --out swept # one point is missing
for kind in lines bars box heat cdf; do
	ends 0 plot --term svg --size 3.3in --kind $kind --out "kinds/$kind" --label switchml=SwitchML swept
	fits "kinds/$kind"
	again "kinds/$kind" "$kind"
	tidy "kinds/$kind"
	[[ $kind == heat || $kind == cdf ]] && continue
	ends 0 plot --term svg --size 3.3in --no-title --font Sans,9 --kind $kind --panels --out "panels/$kind" \
		--x load --by scheme --y jobs.jct_s.mean --y jobs.iteration_s.mean --y network.drops swept
	fits "panels/$kind"
	again "panels/$kind" "panels $kind"
	tidy "panels/$kind"
done
ends 0 plot --term svg --size 3.3in --panels --x scheme --by none --out panels/fixed swept
ends 0 plot --term svg --size 3.3in --kind box --y flows.fct_s --y jobs.iteration_s --out kinds/pooled swept
ends 0 plot --term svg --size 3.3in --panels --kind cdf --y flows.fct_s --out panels/cdf swept
for folder in kinds/pooled panels/cdf; do
	fits $folder
	again $folder "$folder"
	tidy $folder
done
# a logarithmic panel of points that have no flows keeps its place, empty
jq -n '{ name: "half", topology: { kind: "star", hosts: 4 }, jobs: [ { workers: 2, all_reduce: "ring",
	model: { layers: [ { gradient: "1MB" } ] } } ], flows: [ { size: "10KB", arrival: { poisson_load: 0.05 } } ],
	stop: { when: "jobs_done" } }' >half.json
jq -n '{ name: "halves", base: "half.json", axes: [ { name: "beside", pointer: "/flows/0/enabled", values: [false, true] },
	{ name: "jobs_at_once", pointer: "/jobs/0/count", values: [1, 2] } ] }' >halves.json
ends 0 sweep run halves.json 0-3 --out halves
ends 0 sweep collect halves.json --out halves
for kind in lines box; do
	ends 0 plot --term svg --panels --kind $kind --x jobs_at_once --by none --log y --out panels/halves-$kind halves
done
ends 2 plot --y jobs.jct_s.mean --ylabel JCT --ylabel FCT swept
says err '2 --ylabel for 1 metric: give at most one for each'
ends 2 plot --ylabel JCT --ylabel FCT --ylabel drops swept
says err '3 --ylabel for 2 metrics: '
ends 2 plot --ylabel JCT swept broken # of each figure of a run it would be the label
says err '--xlabel and --ylabel are for one figure; say which with --figure'
fits panels/fixed
for term in pdf eps tikz png; do
	ends 0 plot --term $term --size 3.3in --panels --out "terms/$term" swept
done

finish "$checks checks hold"
