#!/bin/bash
# Inputs and surroundings that nobody means well: very long lists, devices, control characters,
# full quotas, signals. Each ends in bounded time, with the right exit code and no harm to others.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own

# ends_soon CODE ARGUMENT...: in far less time of the processor than anything quadratic takes
ends_soon() {
	local code=0 expected=$1
	shift
	(ulimit -t 40 && exec "$INASIM" "$@") >out 2>err </dev/null || code=$?
	checks=$((checks + 1))
	((code == expected)) || fail "inasim $*: exit code $code, not $expected: $(head -c 500 err)"
}

# --- long lists ---

# list WORD: 400,000 of them, with commas
list() {
	yes "$1," | head -n 399999 | tr -d '\n'
	echo "$1"
}
ring='"all_reduce": "ring", "model": { "layers": [ { "gradient": "4MB" } ]'
star='"topology": { "kind": "star", "hosts": 4 }'
echo "{ \"name\": \"x\", $star, \"jobs\": [ { \"workers\": 4, \"overlap\": \"layers\", $ring, \"send_order\": [$(list 0)] } } ] }" >order.json
echo "{ \"name\": \"x\", $star, \"jobs\": [ { \"workers\": [$(list 0)], $ring } } ] }" >hosts.json
echo "{ \"name\": \"x\", $star, \"flows\": [ { \"size\": \"1KB\", \"pairs\": [$(list '[0,0]')] } ] }" >pairs.json
ends_soon 0 check order.json
ends_soon 3 check hosts.json
says err 'host 0 is listed twice'
says err 'and 399899 more'
ends_soon 3 check pairs.json
says err 'cannot send to itself'
rm -f ./*.json

# --- more than there is memory for ---

echo '{ "name": "x", "topology": { "kind": "leaf-spine", "leaves": 1024, "spines": 4, "hosts_per_leaf": 1024 }, "flows": [ { "size": "1KB", "pairs": [[0, 9]] } ] }' >large.json
ends_soon 3 check large.json
says err '1048576 hosts \(leaves x hosts_per_leaf\); allowed: at most 65536'
ends_soon 3 check large.json --set /topology/hosts_per_leaf=2 --set /topology/spines=1024
says err '1048576 up-links \(leaves x spines\); allowed: at most 131072'
ends_soon 0 check large.json --set /topology/hosts_per_leaf=64 --set /topology/spines=128

# --- names ---

cat >names.json <<'JSON'
{
  "name": "\u001b[2J\u0007clear", "topology": { "kind": "star", "hosts": 4 },
  "jobs": [ { "name": "\u001b[31mred\u009b1m", "workers": 3, "all_reduce": "ring", "model": { "layers": [ { "gradient": "100KB" } ] } } ],
  "flows": [ { "name": "\u001b]0;title\u0007", "size": "100KB", "pairs": [[3, 0]] } ]
}
JSON
# plain FILE...: no control characters but newlines, tabs
plain() {
	checks=$((checks + 1))
	! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$@" || fail "control characters: $(cat -v "$@" | head -n 20)"
}
ends 3 run names.json --out names
plain out err
says err ':2:11: /name: .*clear" has a control character'
says err ':3:23: /jobs/0/name: .*red.*1m" has a control character'
says err ':4:24: /flows/0/name: '
sed -i 's/\\u00[0-9a-f][0-9a-f]/+/g' names.json
ends 0 run names.json --out names
ends 0 run names.json --out names2 --seed 2
sed -i $'s/[+]/\e/g' names/*.csv # by hand
ends 0 compare names names2
plain out err
ends 0 compare names names2 --json
holds '.' out
ends 4 run names.json --set /stop/after=30us
says err 'red'

# Names of files are printed as plainly, whoever prints them.
sed 's/"name": "[^"]*", "topo/"name": "s", "topo/' names.json >$'\e[2Jgood.json'
echo '{ "nme": 1 }' >$'\e[2Jbad.json'
echo '{ "name": "p", "base": "names.json", "axes": [ { "name": "a", "cases": { "case": { "/seed": 3 } } } ] }' >$'\e[2Jplan.json'
while IFS='|' read -r code words; do
	# shellcheck disable=SC2086 # words
	ends "$code" ${words//@/$'\e[2J'}
	plain out err
done <<-'WORDS'
	0|run @good.json --out @good
	6|run @good.json --set /name="other" --out @good
	3|run @bad.json
	6|run @none.json
	3|run @good.json --set /@=1
	2|run @good.json --set @
	2|run @good.json --@
	0|check @good.json
	3|check @bad.json
	0|explain @good.json
	6|why @good
	0|compare @good @good
	6|compare @good @none
	0|init @new.json
	6|init @new.json
	6|regress @none
	0|sweep plan @plan.json
	0|sweep run @plan.json 0 --out @swept
	0|sweep status @plan.json --out @swept
	0|sweep collect @plan.json --out @swept
	3|sweep status @good.json
	6|plot @none
	2|@verb
WORDS
if command -v gnuplot >/dev/null; then
	for words in 'plot --figure job_timeline @good' 'plot @good' 'report @good'; do
		# shellcheck disable=SC2086 # words
		ends 0 ${words//@/$'\e[2J'}
		plain out err
	done
fi

# --- quotas and signals ---

cat >long.json <<'JSON'
{
  "name": "long", "topology": { "kind": "star", "hosts": 16 }, "stop": { "when": "time", "after": "100s" },
  "flows": [ { "size": "10KB", "arrival": { "poisson_load": 0.5 } } ], "output": { "series": { "every": "10us" } }
}
JSON
code=0
(ulimit -f 64 && exec "$INASIM" run long.json --quiet --out quota --set /stop/after=50ms) >out 2>err || code=$?
checks=$((checks + 1))
((code == 6)) || fail "beyond ulimit -f: exit code $code"
says err 'File too large'
[[ ! -e quota ]] || fail "half a result beyond ulimit -f"

# Few descriptors, down to too few: a run ends well, or says that they are too few.
for ((files = 30; files > 4; files--)); do
	code=0
	(ulimit -n "$files" && exec "$INASIM" run long.json --quiet --out "files-$files" --why --events 0s..1us --set /stop/after=10us) >out 2>err || code=$?
	checks=$((checks + 1))
	((code == 0)) || { ((code == 6)) && grep -q 'Too many open files' err; } || fail "with ulimit -n $files: exit code $code: $(cat err)"
done
[[ -e files-30/manifest.json && ! -e files-5 ]] || fail "few descriptors: $(ls -d files-*)"

# What cannot be looked up is not said to be missing: whoever reads it says why.
ends 0 run long.json --quiet --out loops --set /stop/after=10us
ln -s why.csv loops/why.csv
ends 6 why loops
says err 'cannot read loops/why.csv: Too many levels of symbolic links$'
rm loops/manifest.json && ln -s manifest.json loops/manifest.json
ends 6 compare loops files-30
says err 'cannot read loops/manifest.json: Too many levels of symbolic links$'

# mounts WHAT SCRIPT: runs it where it may mount; whether it ended with code 6. 77, 1: nothing can be mounted here.
mounts() {
	local code=0
	unshare -rm bash "$2" >out 2>err || code=$?
	case $code in
	6) checks=$((checks + 1)) ;;
	77 | 1) return 1 ;;
	*) fail "$1: exit code $code: $(cat err)"; return 1 ;;
	esac
}

# A full disk: the run tells its table all the same, and whole rows stay.
cat >full.sh <<'SH'
mkdir disk && mount -t tmpfs -o size=300k none disk 2>/dev/null || exit 77
code=0
"$INASIM" run long.json --out disk/full --set /stop/after=30ms || code=$?
cp -r disk/full.partial kept
[[ ! -e disk/full ]] || code=99
umount disk
exit "$code"
SH
if mounts 'a full disk' full.sh; then
	says out '^long: time after'
	says err 'No space left on device; what could be written is in disk/full.partial until the next run'
	[[ -s kept/flows.csv && -z $(tail -c 1 kept/flows.csv) ]] || fail "a full disk: $(ls -l kept)"
fi

# Former results that cannot be removed (something is mounted there): the new ones are in place, and nothing else is said.
cat >busy.sh <<'SH'
"$INASIM" run long.json --quiet --out busy --set /stop/after=1ms && mkdir busy/mounted && mount -t tmpfs none busy/mounted 2>/dev/null || exit 77
code=0
"$INASIM" run long.json --quiet --out busy --set /stop/after=2ms || code=$?
umount busy.partial/mounted
exit "$code"
SH
if mounts 'former results that stay' busy.sh; then
	says err '^inasim: busy is complete, but the former results cannot be removed from busy.partial: Device or resource busy$'
	holds '.sim_time_s == 0.002' busy/summary.json
fi

# hangs_up: the exit code of a run whose terminal goes away, with this handling of SIGHUP before
hangs_up() {
	local code=0
	(
		[[ $1 == default ]] || trap '' HUP
		exec "$INASIM" run long.json --quiet --out "$1" ${2:+--set "$2"}
	) 2>err &
	until written "$1.partial/flows.csv" || gone $!; do sleep 0.02; done
	kill -HUP $! || true
	wait $! || code=$?
	echo "$code"
}
checks=$((checks + 2))
code=$(hangs_up default)
((code == 130)) || fail "after SIGHUP: exit code $code"
holds '.end_reason == "interrupted"' default/summary.json
code=$(hangs_up ignored /stop/after=0.5s)
((code == 0)) || fail "under nohup, after SIGHUP: exit code $code"

finish "$checks checks"
