#!/bin/bash
# Platforms for SimGrid, with SimGrid itself as the witness: it loads what `export`
# writes, and its times are those of the bottleneck.
source "${SRC:?source directory}/tests/lib/shell.sh"
transfers=$(dirname "$INASIM")/tests/simgrid_transfers
if [[ ! -x $transfers ]]; then
	echo "simgrid: skipped, libsimgrid was not found when this was built"
	exit 77
fi
in_a_folder_of_its_own

# platform NAME TOPOLOGY: NAME.xml of that topology, a JSON object
platform() {
	printf '{ "name": "%s", "topology": %s, "flows": [ { "pairs": [[0, 1]], "size": "1MB" } ] }\n' \
		"$1" "$2" >"$1.json"
	ends 0 export "$1.json" --platform simgrid --out "$1.xml"
	silent out
	silent err
}

# moves PLATFORM SRC DST BYTES...: what SimGrid has to say, in the file moved
moves() {
	local code=0
	"$transfers" "$@" >moved 2>moved.err || code=$?
	checks=$((checks + 1))
	((code == 0)) || fail "SimGrid refuses $1: $(tail -n 3 moved.err)"
}

# line N SECONDS LATENCY LINKS: of the N-th transfer
line() {
	checks=$((checks + 1))
	awk -v n="$1" -v s="$2" -v l="$3" -v links="$4" '
		function near(a, b) { return a - b < 1e-9 * b && b - a < 1e-9 * b }
		NR == n + 1 { good = near($1, s) && near($2, l) && $3 == links }
		END { exit !good }' moved ||
		fail "transfer $1 is not $2 s, $3 s, $4 links: $(sed -n "$(($1 + 1))p" moved)"
}

# --- a star: 3 to 1, sizes of 1 MB at 10 Gbps: 3 * 0.8 ms; 2 links of 1 us, a switch of 500 ns ---

platform star '{ "kind": "star", "hosts": 4 }'
moves star.xml h1 h0 1e6 h2 h0 1e6 h3 h0 1e6
says moved '^4 hosts, '
for i in 1 2 3; do line $i 0.0024025 2.5e-6 2; done
moves star.xml h0 h1 1e6 h1 h0 1e6 # directions do not share
for i in 1 2; do line $i 0.0008025 2.5e-6 2; done

# --- leaf-spine, 4:1: two hosts share an up-link of 10 Gbps with one spine ---

platform spine '{ "kind": "leaf-spine", "leaves": 3, "spines": 1, "hosts_per_leaf": 4, "oversubscription": 4,
	"link": { "rate": "10Gbps", "delay": "2us" }, "switch": { "latency": "1us" }, "host": { "latency": "3us" } }'
moves spine.xml h0 h4 1e6 h1 h8 1e6
for i in 1 2; do line $i 0.001614 14e-6 4; done # 1.6 ms; 4 * 2 + 3 * 1 + 3 us
moves spine.xml h0 h4 1e6
line 1 0.000814 14e-6 4
platform thin '{ "kind": "leaf-spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 1,
	"link": { "rate": "10Gbps" }, "uplink": { "rate": "1Gbps", "delay": "5us" } }'
moves thin.xml h0 h1 1e6
line 1 0.0080135 13.5e-6 4

# --- fat tree: every pair has a route of 2, 4 or 6 links, as its places say ---

platform tree '{ "kind": "fat-tree", "k": 4 }'
pairs=()
for a in {0..15}; do
	for b in {0..15}; do
		((a == b)) || pairs+=("h$a" "h$b" 1)
	done
done
moves tree.xml "${pairs[@]}"
says moved '^16 hosts, '
checks=$((checks + 1))
wrong=$(tail -n +2 moved | awk '
	{
		n = NR - 1
		a = int(n / 15)
		b = n % 15
		b += b >= a
		links = int(a / 2) == int(b / 2) ? 2 : int(a / 4) == int(b / 4) ? 4 : 6
		latency = links * 1e-6 + (links - 1) * 0.5e-6
		if ($3 != links || $2 < latency * (1 - 1e-9) || $2 > latency * (1 + 1e-9))
			print a, b, $0
	}')
[[ -z $wrong ]] || fail "routes of the fat tree: $(head -n 3 <<<"$wrong")"
# ... and they spread: with 4 cores and 48 pairs of edge switches in other pods, none is idle
# but with probability 4 * (3/4)^48
for core in 0 1 2 3; do says tree.xml "<zoneRoute .*core$core-agg"; done

# --- the same seed, the same routes; another one, others ---

ends 0 export tree.json --platform simgrid
same out tree.xml
ends 0 export tree.json --platform simgrid --seed 2
checks=$((checks + 1))
cmp -s out tree.xml && fail "the seed does not choose among paths"

# --- a thousand hosts load ---

platform large '{ "kind": "fat-tree", "k": 16 }'
moves large.xml h0 h1023 1e8
line 1 0.0800085 8.5e-6 6

# --- what is not a platform is noticed by this test ---

sed 's/<link_ctn id="edge0-agg0"/<link_ctn id="nowhere"/' tree.xml >broken.xml
checks=$((checks + 1))
"$transfers" broken.xml >moved 2>&1 && fail "SimGrid takes a route over a link that is not there"

# --- usage ---

ends 2 export tree.json
says err 'needs --platform simgrid'
ends 2 export tree.json --platform ns3
says err 'there is no platform format "ns3"; there is simgrid'
ends 3 export tree.json --platform simgrid --set /topology/k=3
says err 'must be even'
silent out
ends 6 export tree.json --platform simgrid --out not/there.xml

# --- what is no file is written to, and stays what it is ---

mkdir keep
cp tree.xml tree.json keep
ln -s tree.json link.xml
for file in tree.xml tree.json link.xml; do # the scenario itself, and somebody's file by a link
	ends 6 export tree.json --platform simgrid --out "$file"
	says err "$file cannot be written: it exists already"
done
[[ -L link.xml ]] || fail "the link is a file now"
same keep/tree.xml tree.xml
same keep/tree.json tree.json
mkfifo pipe
cat pipe >piped.xml &
ends 0 export tree.json --platform simgrid --out pipe
wait
[[ -p pipe ]] || fail "the pipe is a file now"
same piped.xml tree.xml
ln -s /dev/full full
ends 6 export tree.json --platform simgrid --out full
says err 'full cannot be written: No space left'
ends 6 export tree.json --platform simgrid --out .
says err 'cannot be written'

finish "$checks checks, SimGrid agrees"
