#!/bin/bash
# Numbers of pages that have a mark are what their reference or command gives now; a stale one is seen. (Those of rows take
# minutes: scripts/repro docs --check.) Numbers with units and without a mark are counted in unmarked.txt, and do not become more.
# To count again: SRC=$PWD INASIM=$PWD/build/inasim tests/documented.sh --update
source "${SRC:?source directory}/tests/lib/shell.sh"
command -v python3 >/dev/null || exit 77
in_a_folder_of_its_own
export INASIM
cp -r "$SRC"/{scripts,scenarios,models,traces,README.md} .

# repro CODE ARGUMENT...: in the copy
repro() {
	local expected=$1 code=0
	shift
	scripts/repro "$@" --out "$work/repro" >out 2>err || code=$?
	checks=$((checks + 1))
	((code == expected)) || fail "scripts/repro $*: exit code $code, not $expected: $(tail -n 5 err)"
}

repro 0 docs --check --references
says err 'marked numbers, 0 differ'
checks=$((checks + $(sed -n 's/^repro: \([0-9]*\) marked.*/\1/p' err)))
((checks >= 40)) || fail "only $checks marks found"
repro 0 docs --check --commands
says err 'marked numbers, 0 differ'

# a stale number of a reference, of a command and a mark that says nothing
sed -i 's/125\.003 ms<!--/125.004 ms<!--/' scenarios/switchml/README.md
repro 1 docs --check --references
says err '125\.004 is 125\.003 now'
sed -i 's/313\.000 ms<!--/313.100 ms<!--/' scenarios/switchml/README.md
repro 1 docs --check --commands
says err '313\.100 is 313\.000 now'
repro 0 docs --commands
checks=$((checks + 1))
cmp -s scenarios/switchml/README.md "$SRC/scenarios/switchml/README.md" || fail "docs does not write what was there"
echo '1 ms<!-- n:row nothing -->' >>scenarios/switchml/README.md
repro 3 docs --check --references
says err 'no row nothing'

python3 - "$SRC" >unmarked.txt <<'PYTHON'
import pathlib, sys
sys.dont_write_bytecode = True
root = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(root / "scripts" / "reproduction"))
import documents
for page in documents.pages(root):
    if n := documents.loose(page.read_text()):
        print(n, page.relative_to(root))
PYTHON
if [[ ${1:-} == --update ]]; then
	cp unmarked.txt "$SRC/tests/unmarked.txt"
	exit
fi
grown=$(awk 'NR == FNR { allowed[$2] = $1; next } $1 > allowed[$2] { print $2 ": " $1 ", " allowed[$2] + 0 " are allowed" }' \
	"$SRC/tests/unmarked.txt" unmarked.txt)
checks=$((checks + 1))
[[ -z $grown ]] || fail "numbers of runs without a mark (scenarios/papers/README.md): $grown"
finish "$checks numbers and checks are as written"
