#!/bin/bash
# Inputs and surroundings that nobody means well: very long lists, devices, control characters,
# full quotas, signals. Each ends in bounded time, with the right exit code and no harm to others.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own

# ends_soon CODE ARGUMENT...: in far less time than anything quadratic takes
ends_soon() {
	local code=0 expected=$1
	shift
	timeout 60 "$INASIM" "$@" >out 2>err </dev/null || code=$?
	checks=$((checks + 1))
	((code == expected)) || fail "inasim $*: exit code $code, not $expected: $(head -c 500 err)"
}

# --- lists of a million ---

# list WORD: a million of them, with commas
list() {
	yes "$1," | head -n 999999 | tr -d '\n'
	echo "$1"
}
ring='"all_reduce": "ring", "model": { "layers": [ { "gradient": "4MB" } ]'
star='"topology": { "kind": "star", "hosts": 4 }'
echo "{ \"name\": \"x\", $star, \"jobs\": [ { \"workers\": 4, \"overlap\": \"layers\", $ring, \"send_order\": [$(list 0)] } } ] }" >order.json
echo "{ \"name\": \"x\", $star, \"jobs\": [ { \"workers\": [$(list 0)], $ring } } ] }" >hosts.json
echo "{ \"name\": \"x\", $star, \"flows\": [ { \"size\": \"1KB\", \"pairs\": [$(list '[0,0]')] } ] }" >pairs.json
ends_soon 0 check order.json
ends_soon 3 check hosts.json
says err 'host 0 stands twice'
says err 'and 999899 more'
ends_soon 3 check pairs.json
says err 'cannot send to itself'
rm -f ./*.json

finish "$checks checks"
