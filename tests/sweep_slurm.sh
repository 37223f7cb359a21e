#!/bin/bash
# scripts/sweep on a Slurm cluster, a real one of one node that is set up here: the same tables as with
# GNU parallel, also when tasks are cancelled or killed and when who waits for them is killed.
# Skipped (77) where Slurm or Munge is not installed.
set -euo pipefail

: "${SRC:?source directory}" "${INASIM:?the program}"
export PATH=$PATH:/usr/sbin
for command in slurmctld slurmd sbatch munged parallel; do
	if ! command -v "$command" >/dev/null; then
		echo "sweep_slurm: $command is not installed (scripts/setup --sweep --slurm), skipped"
		exit 77
	fi
done
work=$(mktemp -d)
cluster=$work/cluster
cleanup() {
	"$SRC/tests/sweep/cluster" stop "$cluster"
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
mkdir "$cluster"
cp "$SRC"/tests/sweep/*.json "$work"
cd "$work"
MAX_ARRAY=9 "$SRC/tests/sweep/cluster" start "$cluster"
export SLURM_CONF=$cluster/slurm.conf
failures=0

fail() {
	printf 'sweep_slurm: %s\n' "$*" >&2
	failures=$((failures + 1))
}

# sweep CODE ARGUMENT...: scripts/sweep ends so; what it says is in the file said
sweep() {
	local expected=$1 code=0
	shift
	timeout 120 "$SRC/scripts/sweep" "$@" >said 2>&1 </dev/null || code=$?
	((code == expected)) || fail "scripts/sweep $*: exit code $code, not $expected: $(tail -n 5 said)"
}

# same DIR DIR: the same tables
same() {
	local table
	for table in sweep.csv groups.csv sweep.json; do
		cmp "$1/$table" "$2/$table" || fail "$2/$table is not $1/$table"
	done
}

# said_so PATTERN
said_so() {
	grep -qE -- "$1" said || fail "no \"$1\" in: $(cat said)"
}

# running [TASK]: number of a task that runs, not this one
running() {
	local try task
	for ((try = 0; try < 300; try++)); do
		task=$(squeue --noheader --array --states=RUNNING --format=%K | sed "/^${1:-none}\$/d" | head -n 1)
		[[ -z $task ]] || break
		sleep 0.1
	done
	echo "$task"
}

# processes TASK: of a task of the array
processes() {
	grep -lzxF "SLURM_CONF=$SLURM_CONF" /proc/[0-9]*/environ 2>/dev/null |
		xargs -r grep -lzxF "SLURM_ARRAY_TASK_ID=$1" 2>/dev/null | cut -d/ -f3
}

until_idle() {
	local try
	for ((try = 0; try < 200; try++)); do
		[[ -n $(squeue --noheader) ]] || return 0
		sleep 0.1
	done
	fail "still in the queue: $(squeue --array)"
}

# Two hundred points, eight or nine tasks (MaxArraySize is 9), as many as it takes.
all_points() {
	sweep 0 plan.json --out here
	sweep 0 plan.json --out there --slurm
	said_so '200 points to run: 9 tasks'
	same here there
	sweep 0 plan.json --out there --slurm
	! grep -q 'points to run' said || fail "finished points were submitted again: $(cat said)"
}

limits() {
	sweep 4 limits.json --out limits_here
	sweep 4 limits.json --out limits_there --slurm --points-per-task 2 --array-limit 1
	said_so '4 points to run: 2 tasks'
	same limits_here limits_there
}

# The processes of a task are killed, another task is cancelled: the points of both are run again.
disturbed() {
	local code=0 sweep killed cancelled pids=()
	sweep 0 slow.json --out slow_here
	"$SRC/scripts/sweep" slow.json --out slow_there --slurm >said 2>&1 </dev/null &
	sweep=$!
	for ((try = 0; try < 100 && ${#pids[@]} == 0; try++)); do
		killed=$(running)
		mapfile -t pids < <(processes "$killed")
	done
	kill -KILL "${pids[@]}" || fail "no process of task $killed"
	cancelled=$(running "$killed")
	scancel "$(squeue --noheader --format=%F | head -n 1)_$cancelled"
	wait "$sweep" || code=$?
	((code == 0)) || fail "disturbed: exit code $code: $(cat said)"
	(($(grep -c 'points to run' said) > 1)) || fail "nothing was run again: $(cat said)"
	same slow_here slow_there
}

# Who waits is killed: the same command waits for the array that goes on. Who waits is interrupted: so
# is the array.
waiting() {
	local code=0 sweep
	"$SRC/scripts/sweep" slow.json --out joined --slurm >said 2>&1 </dev/null &
	sweep=$!
	running >/dev/null
	kill -KILL "$sweep"
	wait "$sweep" 2>/dev/null || true
	sweep 0 slow.json --out joined --slurm
	said_so 'runs this sweep already'
	! grep -q 'points to run' said || fail "points were submitted twice: $(cat said)"
	same slow_here joined

	"$SRC/scripts/sweep" slow.json --out stopped --slurm >said 2>&1 </dev/null &
	sweep=$!
	running >/dev/null
	kill -TERM "$sweep"
	wait "$sweep" || code=$?
	((code == 130)) || fail "interrupted: exit code $code: $(cat said)"
	until_idle
	sweep 0 slow.json --out stopped --slurm
	same slow_here stopped
}

refused() {
	sweep 1 plan.json --out refused --slurm -- --partition=nowhere
	said_so 'did not take'
	sweep 2 plan.json --out refused --slurm --points-per-task 2
	said_so 'MaxArraySize'
	sweep 3 bad.json --out bad --slurm
	echo "no configuration" >broken.conf
	SLURM_CONF=$work/broken.conf sweep 1 plan.json --out refused --slurm
	said_so 'does not answer'
}

all_points
limits
disturbed
waiting
refused
((failures == 0)) || exit 1
echo "sweep_slurm: job arrays make the same tables as GNU parallel"
