#!/bin/bash
# scripts/sweep on a Slurm cluster, a real one of one node that is set up here: the same tables as with
# GNU parallel, also when tasks are cancelled or killed and when who waits for them is killed.
# Skipped (77) where Slurm or Munge is not installed.
source "${SRC:?source directory}/tests/lib/shell.sh"
export PATH=$PATH:/usr/sbin
for command in slurmctld slurmd sbatch munged parallel; do
	if ! command -v "$command" >/dev/null; then
		echo "sweep_slurm: $command is not installed (scripts/setup --sweep --slurm), skipped"
		exit 77
	fi
done
in_a_folder_of_its_own
cluster=$work/cluster
cleanup() {
	"$SRC/tests/sweep/cluster" stop "$cluster"
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
mkdir "$cluster"
cp "$SRC"/tests/sweep/*.json .
MAX_ARRAY=9 "$SRC/tests/sweep/cluster" start "$cluster"
export SLURM_CONF=$cluster/slurm.conf

# sweep CODE ARGUMENT...: scripts/sweep ends so; what it says is in the file said
sweep() {
	local expected=$1 code=0
	shift
	"$SRC/scripts/sweep" "$@" >said 2>&1 </dev/null || code=$?
	((code == expected)) || fail "scripts/sweep $*: exit code $code, not $expected: $(tail -n 5 said)"
}

# same_tables DIR DIR
same_tables() {
	local table
	for table in sweep.csv groups.csv sweep.json; do
		same "$1/$table" "$2/$table"
	done
}

# runs [TASK]: a task runs, not this one; its number is in task
runs() {
	task=$(squeue --noheader --array --states=RUNNING --format=%K | sed "/^${1:-none}\$/d" | head -n 1)
	[[ -n $task ]]
}

# processes TASK: of a task of the array
processes() {
	grep -lzxF "SLURM_CONF=$SLURM_CONF" /proc/[0-9]*/environ 2>/dev/null |
		xargs -r grep -lzxF "SLURM_ARRAY_TASK_ID=$1" 2>/dev/null | cut -d/ -f3
}

# has_processes: of a task that runs, in pids
has_processes() {
	runs && mapfile -t pids < <(processes "$task") && ((${#pids[@]} > 0))
}

idle() {
	[[ -z $(squeue --noheader) ]]
}

# A hundred points, eight or nine tasks (MaxArraySize is 9), as many as it takes.
all_points() {
	sweep 0 plan.json --out here
	sweep 0 plan.json --out there --slurm
	says said '100 points to run: 9 tasks'
	same_tables here there
	sweep 0 plan.json --out there --slurm
	! grep -q 'points to run' said || fail "finished points were submitted again: $(cat said)"
}

limits() {
	sweep 4 limits.json --out limits_here
	sweep 4 limits.json --out limits_there --slurm --points-per-task 2 --array-limit 1
	says said '4 points to run: 2 tasks'
	same_tables limits_here limits_there
}

# The processes of a task are killed, another task is cancelled: the points of both are run again.
disturbed() {
	local code=0 sweep killed task pids=()
	sweep 0 slow.json --out slow_here
	"$SRC/scripts/sweep" slow.json --out slow_there --slurm >said 2>&1 </dev/null &
	sweep=$!
	wait_for has_processes
	killed=$task
	kill -KILL "${pids[@]}" || fail "no process of task $killed"
	wait_for runs "$killed"
	scancel "$(squeue --noheader --format=%F | head -n 1)_$task"
	wait "$sweep" || code=$?
	((code == 0)) || fail "disturbed: exit code $code: $(cat said)"
	(($(grep -c 'points to run' said) > 1)) || fail "nothing was run again: $(cat said)"
	same_tables slow_here slow_there
}

# Who waits is killed: the same command waits for the array that goes on. Who waits is interrupted: so
# is the array.
waiting() {
	local code=0 sweep task
	"$SRC/scripts/sweep" slow.json --out joined --slurm >said 2>&1 </dev/null &
	sweep=$!
	wait_for runs
	kill -KILL "$sweep"
	wait "$sweep" 2>/dev/null || true
	sweep 0 slow.json --out joined --slurm
	says said 'runs this sweep already'
	! grep -q 'points to run' said || fail "points were submitted twice: $(cat said)"
	same_tables slow_here joined

	"$SRC/scripts/sweep" slow.json --out stopped --slurm >said 2>&1 </dev/null &
	sweep=$!
	wait_for runs
	kill -TERM "$sweep"
	wait "$sweep" || code=$?
	((code == 130)) || fail "interrupted: exit code $code: $(cat said)"
	wait_for idle
	sweep 0 slow.json --out stopped --slurm
	same_tables slow_here stopped
}

refused() {
	sweep 1 plan.json --out refused --slurm -- --partition=nowhere
	says said 'did not take'
	sweep 2 plan.json --out refused --slurm --points-per-task 2
	says said 'MaxArraySize'
	sweep 3 bad.json --out bad --slurm
	echo "no configuration" >broken.conf
	SLURM_CONF=$work/broken.conf sweep 1 plan.json --out refused --slurm
	says said 'does not answer'
}

all_points
limits
disturbed
waiting
refused
finish "job arrays make the same tables as GNU parallel"
