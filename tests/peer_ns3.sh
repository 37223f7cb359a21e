#!/bin/bash
# The same flows on the same paths in ns-3, as a matrix: cases x {mean, p99} of the slowdown of short flows (below
# 100 KB; where a case has none, of all). A cell is inasim over ns-3, flows of all its seeds together, and holds
# within its bounds; tests/peer/ns3/README.md has the cause of each that is wider than 3 %.
# ns-3's side is kept in tests/peer/ns3/matrix.txt, with a checksum of all that it follows from. ns-3 itself runs
# where that has changed (the test fails until --update has kept the new side), and with NIGHTLY set, when it must
# give what is kept. Skipped (77) where it should run and is not installed.
# shellcheck disable=SC2317 # xargs calls here(), there() and incasts()
set -euo pipefail
shopt -s extglob
export LC_ALL=C

: "${SRC:?source directory}" "${INASIM:?the program}"
INASIM=$(realpath "$INASIM")
export SRC INASIM
peer=$SRC/tests/peer/ns3
kept=$peer/matrix.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(pkg-config --modversion ns3-internet 2>/dev/null || sed -n 's/^ns-//p' "$kept")

reno="/flows/0/transport=reno /topology/switch/ecn=false /topology/switch/buffer=150KB /tcp/mss=1448"
ns3_reno="--control=reno --timestamps --segment=1448 --wire-extra=24 --buffer=150000"

# case | seeds | scenario | senders of an incast | changes here | options of the peer | bounds of mean | of p99 | of p50, or none
cases() {
	cat <<CASES
permutation           |1        |fat-tree-128| |                                                        |--topology=fat-tree --k=8           |0.97 1.03|0.97 1.03|0.97 1.03
web-search 30 %       |1 2 3    |web-search  | |/tcp/max_window=192KB /flows/0/arrival/poisson_load=0.3 |--hosts=16 --max-window=192000       |0.95 1.05|0.90 1.10
web-search 60 %       |1 2 3    |web-search  | |/tcp/max_window=192KB                                   |--hosts=16 --max-window=192000       |0.90 1.10|0.85 1.10
web-search 60 %, FIFO  |1 2 3    |web-search  | |/topology/host/nic=fifo                                 |--hosts=16 --nic=fifo                |0.90 1.10|0.90 1.40
incast 16             |1 2 3    |incast      |16|                                                       |--hosts=33                           |0.97 1.03|0.97 1.03
incast 32             |1 2 3    |incast      |32|                                                       |--hosts=33                           |0.97 1.06|0.97 1.03
incast 16, Reno, loss |1 2 3 4 5|incast      |16|$reno                                                  |--hosts=33 $ns3_reno                 |0.95 1.10|0.97 1.03
incast 32, Reno, loss |1 2 3 4 5|incast      |32|$reno                                                  |--hosts=33 $ns3_reno                 |1.00 1.20|0.97 1.03
CASES
}

# incasts SENDERS SEED: 25 of them, 0.1 s apart, of 64 KB a sender, which start within 20 us
incasts() {
	echo start_s,src,dst,size_bytes
	awk -v n="$1" -v seed="$2" 'BEGIN {
		srand(seed)
		for (i = 0; i < 25; i++)
			for (h = 1; h <= n; h++)
				printf "%.9f,%d,0,64000\n", i * 0.1 + rand() * 20e-6, h
	}' | sort -t, -k1,1g
}

# here CASE SEED SCENARIO SENDERS CHANGES OPTIONS: a line a flow: size, ideal, FCT, timeouts
here() {
	local out=$work/$1.$2 arguments=() change
	for change in $5; do
		arguments+=(--set "$change")
	done
	if [[ -n $4 ]]; then
		incasts "$4" "$2" >"$out.csv"
		arguments+=(--set "/flows/0/arrival/trace=$out.csv")
	fi
	"$INASIM" run "$SRC/tests/peer/ns3/$3.json" --seed "$2" "${arguments[@]}" --quiet --out "$out"
	"$SRC/tests/peer/ns3/flows" "$out/flows.csv" >"$out.flows"
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ print $at["flow_id"], $at["size_bytes"], $at["ideal_fct_s"], $at["fct_s"], $at["timeouts"] }' "$out/flows.csv" |
		sort -n | cut -d ' ' -f2- >"$out.here"
}

# there CASE SEED SCENARIO SENDERS CHANGES OPTIONS: the same by ns-3, with the ideals from here
there() {
	local out=$work/$1.$2
	# shellcheck disable=SC2086 # options
	"$work/peer" --rate=10Gbps --delay=1us --flows="$out.flows" --out="$out.ns3" $6 2>"$out.log" || cat "$out.log"
	paste -d ' ' "$out.here" <(tail -n +2 "$out.ns3" | cut -d, -f6,7 | tr , ' ') |
		awk '{ print $1, $2, $6, $5 }' >"$out.there"
}
export -f here there incasts
export work

# parallel FUNCTION [CASE...]: for each seed of these cases (all)
parallel() {
	local function=$1 number=0 seed
	while IFS='|' read -r _ seeds scenario senders changes options _; do
		for seed in $seeds; do
			[[ $# -gt 1 && " ${*:2} " != *" $number "* ]] ||
				printf '%s\0' "$number" "$seed" "${scenario// /}" "${senders// /}" "$changes" "$options"
		done
		number=$((number + 1))
	done < <(cases) | xargs -0 -r -n 6 -P "$(nproc)" bash -euo pipefail -c "$function"' "$@"' "$function"
}

# inputs CASE OPTIONS: checksum of what ns-3's side follows from
inputs() {
	{
		echo "$version" "$2"
		cat "$peer/peer.cc" "$work/$1".*.flows
		cut -d ' ' -f1,2 "$work/$1".*.here
	} | sha256sum | cut -c1-16
}

# slowdowns FILE...: mean, p99 and p50 (nearest rank) of short flows, or of all; how many, and their timeouts
slowdowns() {
	cat "$@" >"$work/all"
	awk '$1 < 100000' "$work/all" >"$work/short"
	[[ -s $work/short ]] || cp "$work/all" "$work/short"
	awk '{ print $3 / $2, $4 }' "$work/short" | sort -g |
		awk '{ v[NR] = $1; sum += $1; timeouts += $2 }
			function quantile(q,    rank) {
				rank = int(q * NR)
				return v[rank < q * NR ? rank + 1 : rank]
			}
			END { print sum / NR, quantile(0.99), quantile(0.5), NR, timeouts }'
}

parallel here
stale=() number=0
while IFS='|' read -r _ _ _ _ _ options _; do
	sums[number]=$(inputs "$number" "${options// /}")
	[[ -z ${NIGHTLY:-} ]] && grep -q "^${sums[number]} " "$kept" || stale+=("$number")
	number=$((number + 1))
done < <(cases)
if ((${#stale[@]})); then
	if [[ ! -e /usr/include/ns3/core-module.h ]] || ! command -v g++ >/dev/null; then
		echo "peer_ns3: ${#stale[@]} cases need ns-3, which is not installed (scripts/setup --ns3), skipped"
		exit 77
	fi
	"$peer/build" "$work/peer" >/dev/null
	parallel there "${stale[@]}"
fi

bad=0 number=0
{
	echo "# ns-3's side of the matrix, which tests/peer_ns3.sh --update writes: checksum of its inputs; mean, p99 and p50"
	echo "# of the slowdown; flows; timeouts; case"
	echo "ns-$version"
} >"$work/matrix.txt"
printf '%-22s %6s %5s  %-24s %-24s %s\n' case flows seeds "mean (bounds)" "p99 (bounds)" "timeouts here, ns-3"
while IFS='|' read -r name seeds _ _ _ _ mean p99 p50; do
	if [[ -e $work/$number.1.there ]]; then
		theirs=$(slowdowns "$work/$number".*.there)
	else
		theirs=$(grep "^${sums[number]} " "$kept" | cut -d ' ' -f2-6)
	fi
	echo "${sums[number]} $theirs ${name%%+( )}" >>"$work/matrix.txt"
	line=$(echo "$(slowdowns "$work/$number".*.here) $theirs $mean $p99 $p50" |
		awk -v name="$name" -v seeds="$(wc -w <<<"$seeds")" '
			function cell(ratio, low, high) {
				wrong += !(ratio >= low && ratio <= high)
				return sprintf("%.3f (%.2f to %.2f)", ratio, low, high)
			}
			{ printf "%-22s %6d %5d  %-24s %-24s %d, %d", name, $4, seeds, cell($1 / $6, $11, $12),
				cell($2 / $7, $13, $14), $5, $10
				if (NF > 14) printf "; p50 %s", cell($3 / $8, $15, $16)
				if ($4 != $9) wrong = 1
				if (wrong) printf "  OUTSIDE" }')
	echo "$line"
	[[ $line != *OUTSIDE ]] || bad=1
	number=$((number + 1))
done < <(cases)
((number == 8)) || bad=1
if [[ ${1:-} == --update ]]; then
	cp "$work/matrix.txt" "$kept"
elif ! diff "$kept" "$work/matrix.txt"; then
	echo "peer_ns3: tests/peer/ns3/matrix.txt is not what ns-3 gives now; tests/peer_ns3.sh --update keeps that"
	bad=1
fi
exit "$bad"
