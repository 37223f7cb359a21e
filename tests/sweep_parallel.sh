#!/bin/bash
# scripts/sweep with GNU parallel: the table of a sweep that was killed twenty times is that of one
# that was left alone; points that need too much have their row; killed points are run again; who
# interrupts leaves no process behind; two at once do no harm. Skipped (77) without GNU parallel.
source "${SRC:?source directory}/tests/lib/shell.sh"
if ! command -v parallel >/dev/null; then
	echo "sweep_parallel: GNU parallel is not installed (scripts/setup --sweep), skipped"
	exit 77
fi
in_a_folder_of_its_own
session=
cleanup() {
	[[ -z $session ]] || end_session "$session"
	rm -rf "$work"
}
trap cleanup EXIT
cp "$SRC"/tests/sweep/*.json .

# sweep CODE ARGUMENT...: scripts/sweep ends so; what it says is in the file said
sweep() {
	local expected=$1 code=0
	shift
	"$SRC/scripts/sweep" "$@" >said 2>&1 </dev/null || code=$?
	((code == expected)) || fail "scripts/sweep $*: exit code $code, not $expected: $(tail -n 5 said)"
}

# begin ARGUMENT...: scripts/sweep in a session of its own, whose number is in $session
begin() {
	env --default-signal=INT setsid "$SRC/scripts/sweep" "$@" >said 2>&1 </dev/null &
	session=$!
}

# members SESSION: its processes that still run
members() {
	ps -o pid=,stat= -s "$1" | awk '$2 !~ /^Z/ { print $1 }'
}

end_session() {
	local pids
	while mapfile -t pids < <(members "$1") && ((${#pids[@]} > 0)); do
		kill -KILL "${pids[@]}" || true
	done
	wait "$1" || true
	session=
} 2>/dev/null # bash's notice that it was killed

# same_tables DIR DIR
same_tables() {
	local table
	for table in sweep.csv groups.csv sweep.json; do
		same "$1/$table" "$2/$table"
	done
}

# statuses DIR: of the points, in order
statuses() {
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "status") column = i; next }
		{ print $column }' "$1/sweep.csv" | paste -sd' '
}

# Killed at random moments of the first half, from just after its start to well into the points.
killed_twenty_times() {
	local began kills=0 span delay progress=''
	began=$(date +%s%N)
	sweep 0 plan.json --out calm
	span=$((($(date +%s%N) - began) / 2000000))
	[[ $(tail -n +2 calm/sweep.csv | wc -l) == 100 ]] || fail "not 100 rows"
	RANDOM=1
	while ((kills < 20)); do
		begin plan.json --out rough --retries 20 # more than the usual 2: bad luck may hit a point often
		delay=$((RANDOM % span))
		sleep "$((delay / 1000)).$(printf %03d $((delay % 1000)))"
		if [[ -n $(members "$session") ]]; then
			end_session "$session"
			kills=$((kills + 1))
			progress+=" $({ find rough/points -maxdepth 1 -name '*.json' 2>/dev/null || true; } | wc -l)"
		else # faster than the killer: once more from the start
			same_tables calm rough
			rm -rf rough
		fi
	done
	sweep 0 plan.json --out rough --retries 20
	same_tables calm rough
	[[ $progress =~ [1-9] ]] || fail "no kill came after the first point"
	echo "sweep_parallel: points that had ended at the twenty kills:$progress"
}

# Nothing runs unless every point of the plan is valid.
wrong_plan() {
	sweep 3 bad.json --out bad
	[[ ! -e bad/points ]] || fail "points of a wrong plan have run"
	sweep 2 plan.json --jobs 0
	sweep 2 plan.json --out some --memory-limit much
	sweep 2 plan.json --partition test
	[[ ! -e some ]] || fail "something ran in spite of a wrong command line"
}

# Each point that ends otherwise than well has a row that says how, and is not run again.
limits() {
	local large=memory

	sweep 4 limits.json --out limits
	limits_memory || large='*'
	[[ $(statuses limits) == "done unfinished timeout "$large ]] || fail "limits: $(statuses limits)"
	sweep 4 limits.json --out limits
	! grep -q 'points to run' said || fail "hopeless points were run again: $(cat said)"
	sweep 4 limits.json --out large --memory-limit 1000TB --time-limit 1s
	grep -q '4 points to run, 1 at a time' said || fail "1000 TB at once: $(cat said)"
}

# simulating SESSION: processes that simulate a point, which are children of those that watch them
simulating() {
	ps -o pid=,ppid=,stat=,comm= -s "$1" |
		awk -v name="$(basename "$INASIM")" '$3 !~ /^Z/ && $4 == name { parent[$1] = $2 }
			END { for (p in parent) if (parent[p] in parent) print p }'
}

# simulates SESSION: a point runs; their processes are in pids
simulates() {
	mapfile -t pids < <(simulating "$1")
	((${#pids[@]} > 0))
}

# kill_one: waits for a point that runs, kills its process
kill_one() {
	local pids=()
	wait_for simulates "$session"
	kill -KILL "${pids[0]}" || fail "no point to kill"
}

retried() {
	local code=0
	begin slow.json --out slow
	kill_one
	wait "$session" || fail "a killed point was not run again: $(cat said)"
	[[ $(statuses slow) == "done done done done" ]] || fail "retried: $(statuses slow)"
	begin slow.json --out once --retries 0
	kill_one
	wait "$session" || code=$?
	((code == 4)) || fail "a point that was killed too often: exit code $code"
	[[ $(statuses once) == *killed* ]] || fail "not retried: $(statuses once)"
}

interrupted() {
	local code=0
	begin slow.json --out stopped
	wait_for simulates "$session"
	kill -TERM "$session"
	wait "$session" || code=$?
	((code == 130)) || fail "interrupted: exit code $code: $(cat said)"
	[[ -z $(members "$session") ]] || fail "interrupted, but still there: $(ps -s "$session" -o args)"
	session=
	sweep 0 slow.json --out stopped
	same_tables slow stopped
}

two_at_once() {
	begin plan.json --out both
	"$SRC/scripts/sweep" plan.json --out both --jobs 3 >also 2>&1 || fail "two at once: $(tail -n 3 also)"
	wait "$session" || fail "two at once: $(tail -n 3 said)"
	session=
	same_tables calm both
}

not_installed() {
	mkdir bin
	cp -rs "$(dirname "$(command -v awk)")"/. bin/
	rm -f bin/parallel bin/sbatch
	PATH=$work/bin sweep 1 plan.json --out none
	grep -q 'scripts/setup --sweep' said || fail "without GNU parallel: $(cat said)"
	PATH=$work/bin sweep 1 plan.json --out none --slurm
	grep -q 'scripts/setup --slurm' said || fail "without Slurm: $(cat said)"
}

killed_twenty_times
wrong_plan
limits
retried
interrupted
two_at_once
not_installed
finish "tables survive twenty kills, limits, retries, an interruption and company"
