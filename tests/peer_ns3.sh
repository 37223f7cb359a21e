#!/bin/bash
# FCTs of a permutation on a fat tree of 128 hosts, on the same paths in ns-3: mean, p50 and p99 within 3 %.
# Skipped (77) without ns-3, and without a compiler for it.
set -euo pipefail

: "${SRC:?source directory}" "${INASIM:?the program}"
if [[ ! -e /usr/include/ns3/core-module.h ]] || ! command -v g++ jq >/dev/null; then
	echo "peer_ns3: ns-3 is not installed (scripts/setup --ns3), skipped"
	exit 77
fi
INASIM=$(realpath "$INASIM") "$SRC/scripts/bench" --peer ns3 --runs 1 | tee bench
awk '/^fat-tree-128 +inasim \/ ns-3:/ {
	seen = 1
	for (i = 2; i < NF; i++)
		if ($i == "FCT" && ($(i + 1) < 0.97 || $(i + 1) > 1.03)) { print "peer_ns3: " $(i - 1) " FCT differs by more than 3 %"; bad = 1 }
} END { if (!seen) print "peer_ns3: no line of the fat tree"; exit bad || !seen }' bench
