#!/bin/bash
# The library as others use it: the Python and the C of models/library/README.md run, installed and from the build, and
# give what the program gives. The functions themselves: tests/model/test_library.c.
source "${SRC:?source directory}/tests/lib/shell.sh"
build=$(dirname "$INASIM")
command -v python3 >/dev/null && [[ -e $build/libinasim.so ]] || exit 77 # not with sanitizers
in_a_folder_of_its_own

# code LANGUAGE: the page's blocks in it
code() {
	sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$SRC/models/library/README.md" | sed '/^```/d'
}
program() {
	"$INASIM" run --json --seed 2 "$SRC/scenarios/first.json" | jq -r .digest
}

code python >example.py
ln -s "$SRC/scenarios" scenarios
PYTHONPATH=$SRC/models/library INASIM_LIBRARY=$build/libinasim.so python3 -B example.py >out 2>err ||
	fail "python: $(tail -n 3 err)"
says out '^jobs_done \[0\.[0-9]+, 0\.[0-9]+\]$'
says out '^ring 3 0\.00'
says out '^switchml 0 0\.00'
says out '^esa 3 0\.00'
cat >tables.py <<'END'
import csv, inasim, json, pathlib, subprocess, sys
program, scenario = sys.argv[1:]
subprocess.run([program, "run", "--quiet", scenario, "--seed", "2", "--out", "results"], check=True)
run = inasim.run(scenario, {"/seed": 2})
for name in run.keys():  # every cell of every table
    rows = list(csv.DictReader(open(f"results/{name}.csv")))
    for column, values in run[name].items():
        for row, value in zip(rows, values, strict=True):
            cell = row[column]
            same = (cell == (value or "")) if isinstance(value, (str, type(None))) else \
                (cell == "" and value != value) or abs(float(cell) - value) <= 1e-12 * abs(value)
            assert same, (name, column, cell, value)
summary = json.loads(pathlib.Path("results/summary.json").read_text())
assert summary["digest"] == run.digest and summary["jobs"] == run.summary["jobs"]
assert inasim.version in subprocess.run([program, "--version"], capture_output=True, text=True).stdout
try:
    inasim.run({"name": "x"})
except inasim.Error as error:
    assert "topology" in str(error), error
def bad(*_):
    raise ValueError("of a callback")
network = {"name": "x", "stop": {"when": "time", "after": "1s"}, "topology": {"kind": "star", "hosts": 2}}
for adds in [lambda s: s.at(0.001, bad), lambda s: s.group("all_reduce", "ring", [0, 1], 1000, bad).put(1000)]:
    with inasim.Simulation(network) as s:
        adds(s)
        try:
            s.run()
            assert False, "the exception is lost"
        except ValueError as error:
            assert "of a callback" in str(error) and s.now < 0.002, (error, s.now)
try:
    run["jobz"]
except KeyError as error:
    assert "there are jobs" in str(error), error
print(sum(len(run[name]) for name in run.keys()), "columns")
END
PYTHONPATH=$SRC/models/library INASIM_LIBRARY=$build/libinasim.so python3 -B tables.py "$INASIM" scenarios/first.json >out 2>err ||
	fail "python: $(tail -n 3 err)"
says out '^[0-9]{2,3} columns$'

# installed, and moved
cmake --install "$build" --prefix "$PWD/first" >log 2>&1 || fail "cmake --install: $(tail -n 5 log)"
mv first moved
pc=$(find moved -name inasim.pc)
libraries=$PWD/$(dirname "$(dirname "$pc")")
code c >main.c
if command -v pkg-config >/dev/null; then
	flags=$(PKG_CONFIG_PATH=$PWD/$(dirname "$pc") pkg-config --cflags --libs inasim)
	# shellcheck disable=SC2086 # several words
	cc -Wall -Wextra -Werror main.c $flags -o main 2>err || fail "cc: $(tail -n 5 err)"
	LD_LIBRARY_PATH=$libraries ./main >out 2>err || fail "main: $(tail -n 3 err)"
	says out '^0\.005 s$'
	says out '^0\.[0-9]{12}$'
fi
echo 'import inasim; print(inasim.run("scenarios/first.json", {"/seed": 2}).digest)' >digest.py
checks=$((checks + 1))
[[ $(PYTHONPATH=$PWD/moved/lib/python3/dist-packages python3 -B digest.py) == $(program) ]] ||
	fail "the installed library gives another digest"

# it exports what its header has, and no more
checks=$((checks + 1))
diff <(nm -D --defined-only "$libraries/libinasim.so" | awk '{ print $3 }' | sort) \
	<(grep -oE '\binasim_[a-z_]+\(' "$SRC/models/library/inasim.h" | tr -d '(' | sort -u) >out || fail "exports: $(cat out)"

finish "$checks checks"
