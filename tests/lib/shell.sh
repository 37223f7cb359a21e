# What tests/*.sh share: they source this file first and end with `finish`. A check
# that fails is told and counted, and the others go on. Streams of the last program
# that was run are in the files out and err of the working directory.
# shellcheck shell=bash
set -euo pipefail

: "${SRC:?source directory}" "${INASIM:?the program}"
test_name=$(basename "$0" .sh)
failures=0
checks=0

# A new folder, $work, is the working directory from now on; it goes when the test ends.
in_a_folder_of_its_own() {
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	cd "$work"
}

# sample FEW MANY [ALL]: how many of many alike: few where somebody waits, many in CI, with NIGHTLY all (default: many)
sample() {
	if [[ -n ${NIGHTLY:-} ]]; then echo "${3-$2}"; elif [[ -n ${CI:-} ]]; then echo "$2"; else echo "$1"; fi
}

# fail WORDS...
fail() {
	printf '%s: %s\n' "$test_name" "$*" >&2
	failures=$((failures + 1))
}

# ends CODE ARGUMENT...: the program ends so
ends() {
	local expected=$1 code=0
	shift
	"$INASIM" "$@" >out 2>err </dev/null || code=$?
	checks=$((checks + 1))
	((code == expected)) || fail "inasim $*: exit code $code, not $expected: $(head -n 5 out err)"
}

# says FILE PATTERN: an extended regular expression
says() {
	checks=$((checks + 1))
	grep -qE -- "$2" "$1" || fail "no \"$2\" in $1: $(head -n 40 "$1")"
}

# silent FILE: nothing stands in it
silent() {
	checks=$((checks + 1))
	[[ ! -s $1 ]] || fail "$1 is not empty: $(head -n 3 "$1")"
}

# holds FILTER FILE [ARGUMENT...]: jq -e
holds() {
	checks=$((checks + 1))
	jq -e "${@:3}" "$1" "$2" >/dev/null 2>&1 || fail "$2: not $1: $(head -c 600 "$2")"
}

# cells PROGRAM FILE...: awk over rows whose cells are c["column"], with off(a, b) for numbers that
# differ; what it prints is wrong
cells() {
	local found program=$1
	shift
	checks=$((checks + 1))
	found=$(awk -F, '
		function off(a, b) { return a - b > 1e-9 || b - a > 1e-9 }
		FNR == 1 { split("", name); for (i = 1; i <= NF; i++) name[i] = $i; next }
		{ split("", c); for (i = 1; i <= NF; i++) c[name[i]] = $i }
		'"$program" "$@" | head -n 3)
	[[ -z $found ]] || fail "$*: $found"
}

# same FILE FILE: to the byte
same() {
	checks=$((checks + 1))
	cmp -s "$1" "$2" || fail "$1 and $2 differ: $(diff "$1" "$2" | head -n 4)"
}

# wait_for TEST...: until it holds; what has not come in two minutes will not, on any machine
wait_for() {
	local until=$((SECONDS + 120))
	checks=$((checks + 1))
	while ! "$@"; do
		((SECONDS < until)) || { fail "waited in vain for: $*"; return; }
		sleep 0.02
	done
}

# What to wait for: the process is no more (or nobody has asked for its exit code yet); it has a child;
# something stands in a file.
gone() {
	[[ ! -e /proc/$1 || $(awk '{ print $3 }' "/proc/$1/stat" 2>/dev/null) == [ZX] ]]
}
child_of() {
	awk '{ print $1 }' "/proc/$1/task/$1/children" 2>/dev/null
}
has_child() {
	[[ -n $(child_of "$1") ]]
}
written() {
	[[ -s $1 ]]
}

# Whether memory can be limited: the address sanitizer itself wants terabytes.
limits_memory() {
	{ (ulimit -d 100000 && "$INASIM" --version) >/dev/null; } 2>/dev/null
}

# listens PID FOLDER: a run writes into the folder, so it handles signals; or it has ended
listens() {
	[[ -e $2.partial/.writing ]] || gone "$1"
}

# finish WORDS...: the verdict of the whole test, which is its exit code; words for a good one
finish() {
	if ((failures > 0)); then
		printf '%s: %d mistakes, %d checks\n' "$test_name" "$failures" "$checks" >&2
		exit 1
	fi
	printf '%s: %s\n' "$test_name" "$*"
	exit 0
}
