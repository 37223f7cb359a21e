#!/bin/bash
# The references that may run in threads, those of networks with TCP flows alone, have their digest in 2 threads, too, and
# the smallest in 3, 4 and 8; with NIGHTLY set all have.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own

for reference in "$SRC"/traces/reference/bench-fat-tree-*.json; do
	name=$(basename "$reference" .json)
	counts=(2)
	[[ $name != bench-fat-tree-128 && -z ${NIGHTLY:-} ]] || counts=(2 3 4 8)
	for threads in "${counts[@]}"; do
		ends 0 run "$SRC/scenarios/bench/${name#bench-}.json" --quiet --threads $threads --out results --force
		silent err
		holds ".threads == $threads and .digest == \"$(jq -r .digest "$reference")\"" results/manifest.json
	done
done
finish "$checks checks"
