/* ATP as fluid streams: those of hashed_plan.c, each tensor as much longer as a replay of the job
 * alone says (atp_replay.h): what its windows lose while they grow and when they are halved, and
 * what collisions with itself send. So bytes stand for time here; beside other jobs that is the
 * time that the job would have lost alone.
 *
 * A replay takes time, so it ends, and the job goes on as in the second half of it: after a number
 * of pieces that doubles until all windows have been halved HALVINGS times in the second half, for
 * then they are where they will be; or after STEPS, pieces times groups of workers, for good. */
#include "ina/atp_replay.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

#define FIRST    8192 /* pieces */
#define HALVINGS 8
#define STEPS    (UINT64_C(1) << 21) /* 0.6 to 0.9 s */

/* Of a job, instead of struct atp_job. */
struct atp_alone {
	struct atp_replay *replay; /* NULL: enough is known */
	struct plan_packets packets;
	uint32_t servers;
	double rate; /* of a stream: bytes per second */
	sim_time latency;
	uint64_t replayed;
	/* Since the last rest: its time; of what came since then, at `rate`, and lost. */
	sim_time begin;
	double ideal, lost;
	double all_ideal, all_lost;   /* since the beginning */
	double half_ideal, half_lost; /* in the first half of what is replayed */
	uint64_t half_halvings;
	uint64_t look; /* behind so many pieces whether it is enough */
};

/* Seconds that so many pieces take by the plan. */
static double ideal_of(const struct atp_alone *alone, uint64_t pieces)
{
	double each = alone->packets.payload + (double)alone->packets.overhead;

	return (double)pieces / alone->servers * each / alone->rate;
}

/* All that is sent since the last rest is held at `held`: seconds that are lost more than before.
 */
static double more_lost(struct atp_alone *alone, sim_time held)
{
	double time = seconds_of(held - alone->begin) - seconds_of(alone->latency);
	double more = fmax(0, time - alone->ideal - alone->lost);

	alone->lost += more;
	alone->all_lost += more;
	return more;
}

static void send(struct atp_alone *alone, uint64_t pieces)
{
	double ideal = ideal_of(alone, pieces);

	atp_replay_send(alone->replay, pieces);
	alone->replayed += pieces;
	alone->ideal += ideal;
	alone->all_ideal += ideal;
}

/* Nothing new is to be expected; if not, the second half begins here. */
static bool is_enough(struct atp_alone *alone)
{
	uint64_t halvings = atp_replay_halvings(alone->replay);

	if (alone->half_ideal > 0 && halvings >= alone->half_halvings + HALVINGS)
		return true;
	if (alone->replayed * atp_replay_groups(alone->replay) >= STEPS)
		return true;
	alone->half_ideal = alone->all_ideal;
	alone->half_lost = alone->all_lost;
	alone->half_halvings = halvings;
	alone->look *= 2;
	return false;
}

/* The next pieces, at most so many; returns how many, and adds to what is lost. */
static uint64_t replay(struct atp_alone *alone, uint64_t pieces, double *lost)
{
	uint64_t left = alone->look - alone->replayed;

	if (pieces < left) {
		send(alone, pieces);
		*lost += more_lost(alone, atp_replay_finish(alone->replay));
		return pieces;
	}
	send(alone, left);
	*lost += more_lost(alone, atp_replay_held(alone->replay));
	if (is_enough(alone)) {
		atp_replay_free(alone->replay);
		alone->replay = NULL;
	}
	return left;
}

/* Of pieces behind those that are replayed. */
static double mean_lost(const struct atp_alone *alone, uint64_t pieces)
{
	return ideal_of(alone, pieces) * (alone->all_lost - alone->half_lost) /
	       (alone->all_ideal - alone->half_ideal);
}

static double stretch(void *admitted, bytes size, bool rested)
{
	const struct hashed_job *job = admitted;
	struct atp_alone *alone = job->state;
	uint64_t pieces = (uint64_t)plan_message_packets(&alone->packets, size) * alone->servers;
	uint64_t left = pieces;
	double lost = 0;

	if (alone->replay && rested) {
		atp_replay_rest(alone->replay);
		alone->begin = atp_replay_held(alone->replay);
		alone->ideal = alone->lost = 0;
	}
	while (left && alone->replay)
		left -= replay(alone, left, &lost);
	lost += mean_lost(alone, left);
	return 1 + lost / ideal_of(alone, pieces);
}

void *atp_plan(void *self, const struct collective_job *spec, struct stream_plan *plan,
	       const char **never)
{
	struct hashed_scheme *scheme = self;
	struct hashed_job *job = hashed_plan(scheme, spec, plan, never);
	struct atp_alone *alone;

	if (!job)
		return NULL;
	job->number = scheme->planned++;
	alone = job->state = xcalloc(1, sizeof(*alone));
	alone->replay = atp_replay_new(job);
	alone->look = FIRST;
	alone->packets = plan->streams[0].packets;
	alone->servers = spec->servers;
	alone->latency = plan->latency;
	alone->rate = plan_slowest(plan, &scheme->env.topo->net);
	plan->ramp = (struct plan_ramp){ 0 }; /* the replay has it */
	plan->stretch = stretch;
	return job;
}

void atp_withdraw(void *admitted)
{
	struct hashed_job *job = admitted;
	struct atp_alone *alone = job->state;

	if (alone->replay)
		atp_replay_free(alone->replay);
	free(alone);
	hashed_withdraw(job);
}
