/* The interface of all collective schemes: all-reduce on hosts (ring) or in switches (models/ina),
 * reduce-scatter and all-gather.
 *
 * A scheme is a const struct collective_ops with a line in collective/schemes.h. A run has one
 * object for each scheme that a job uses (parameters, switch memory). A job has one instance, or
 * several: one for each NIC of its machines, or one for each of its exchanges. The tensors of an
 * instance form one stream, numbered from 0 for the life of the instance, in the same order at all
 * workers. A worker hands a tensor over when its gradients are ready. The scheme calls done() when
 * a worker holds the sum. */
#ifndef INASIM_COLLECTIVE_COLLECTIVE_H
#define INASIM_COLLECTIVE_COLLECTIVE_H

#include "collective/exact.h"
#include "collective/holding_times.h"
#include "collective/machine_conf.h"
#include "collective/plan.h"
#include "collective/reducer.h"
#include "conf/conf.h"
#include "transport/connection.h"

/* What a scheme may use; owned by the run. */
struct model_env {
	struct sim *sim;
	struct topology *topo;
	const struct machine_conf *machine; /* GPUs and NICs of the hosts */
	struct tcp *tcp;
	struct checks *checks;
	struct reducers *reducers; /* adding on hosts */
	struct fluid *fluid; /* the fluid model (fluid/fluid.h); NULL: packets are simulated */
	struct roce *roce;
	struct repeat *repeat; /* skips repeated periods (core/repeat.h); NULL: skips nothing */
};

/* Counters with one meaning for all schemes; those that do not apply stay 0. */
struct collective_stats {
	uint64_t packets_aggregated; /* contributions added in switches */
	uint64_t results;            /* sums completed in switches */
	uint64_t duplicates;         /* contributions that a switch already had */
	uint64_t repairs;            /* complete sums that a switch or host sent again */
	/* Contributions that workers retransmitted (SHARP: also sums that switches did); over TCP
	 * or RoCE, segments that workers and servers retransmitted. */
	uint64_t retransmissions;
	uint64_t timeouts;   /* retransmission timeouts of these workers, switches and servers */
	uint64_t waited;     /* ATP, ESA: ps without results that they ended, mean of workers */
	uint64_t collisions; /* packets whose aggregator belonged to another chunk */
	/* The three parts of `collisions`. The other chunk ... */
	uint64_t collisions_own;      /* was of the same job */
	uint64_t collisions_complete; /* was another job's, complete, and waited for its ACK */
	uint64_t collisions_waiting;  /* was another job's and waited for more workers */
	uint64_t preemptions_tried;   /* packets that tried to take another chunk's aggregator */
	uint64_t preemptions;         /* packets that took it */
	/* Contributions that switches forwarded to a server without adding them: new ones that
	 * collided, retransmitted ones that no aggregator could take in, and all that came to a
	 * server's switch that adds nothing up. */
	uint64_t fallbacks;
	/* Incomplete sums sent to a server: preempted, fetched by a reminder, or flushed by a
	 * retransmission. */
	uint64_t partials;
	/* Contributions that switches dropped because ... */
	uint64_t late; /* the sum had left already */
	/* another contribution to the sum or message (SHARP: an earlier one) was lost */
	uint64_t discarded;
	uint64_t overflows; /* the memory was full */
	uint64_t collected; /* aggregators freed because their owner had gone silent */
	uint64_t reminders; /* packets that ask for what seems lost */
	uint64_t server_packets, server_bytes; /* received by servers; bytes of frames */
	uint64_t stale;                        /* results that a worker already had */
};

/* Adds every counter of *one. */
void collective_stats_add(struct collective_stats *sum, const struct collective_stats *one);

/* Bytes times picoseconds. An integer: a memory that is always full has utilization 1 exactly. */
typedef unsigned __int128 byte_time;

/* Memory of one switch, for aggregators.csv. */
struct collective_memory {
	uint32_t sw;
	uint64_t memory_bytes, used_bytes, used_max_bytes;
	sim_time changed;        /* when used_bytes last changed */
	byte_time used_time;     /* integral of used_bytes until `changed`; for reports only */
	uint64_t draining_bytes; /* part of used_bytes that finished jobs still hold */
	const struct holding_times *held; /* of aggregators; NULL: memory is reserved per job */
	struct collective_stats stats;
};

/* Reserves memory of a switch at time `now`; a negative number of bytes gives memory back. */
void collective_reserve(struct collective_memory *memory, sim_time now, int64_t bytes_more);

/* The integral of used_bytes over time, up to `now`. */
byte_time collective_reserved(const struct collective_memory *memory, sim_time now);

/* The average share of `whole` bytes in use from time 0 to `now`, where `used` is from
 * collective_reserved(). 0 if `whole` or `now` is 0. */
double collective_utilization(byte_time used, bytes whole, sim_time now);

/* Notes a violation (exact.h) at `node` and stops the run. `what` describes it. `unit` ("chunk")
 * and `number` say where in the job's stream of tensors it is. */
void collective_violated(const struct model_env *env, const char *scheme, uint32_t job,
			 const char *unit, uint64_t number, uint32_t node, const char *what);

/* A job, as its scheme sees it. */
struct collective_job {
	/* The number of the instance: job * instances + i, where the job is that of the run, and i
	 * counts its groups and, within a group, NICs of machines that have several. */
	uint32_t number;
	uint32_t instances; /* of each job, at most; 0 means 1 */
	uint32_t workers;
	const uint32_t *hosts;        /* by worker, all different */
	bool listed;                  /* somebody listed them in the order of ranks */
	uint32_t servers;             /* parameter servers; 0 for schemes that need none */
	const uint32_t *server_hosts; /* all different; workers, and servers of other jobs, may
				       * be on them, too */
	/* Ranks of a worker; 0 means 1. More than one if `inside` is "ring": then `hosts` are
	 * numbers of machines. */
	uint32_t gpus;
	uint32_t first_edge; /* number of the first connection: a job may have several schedules */
	/* By worker, the number of its machine within the job: `hosts` are NICs of the workers'
	 * GPUs, and what two GPUs of a machine send each other stays inside. NULL: all workers are
	 * on machines of their own. */
	const uint32_t *machines;
	/* Of a part of the job's workers, for reports: their numbers in the job. NULL means all
	 * workers, in order. */
	const uint32_t *members;
	/* Of an all-to-all with unlike parts: the share of a worker's tensor that goes to each, row
	 * by row (workers x workers). Tensors with odd numbers go back: the table transposed. */
	const double *blocks;
	bytes gradients;  /* of an iteration, over all NICs */
	uint64_t tensors; /* that each worker will hand over; UINT64_MAX: not known before */
	/* Called from an event when worker `worker` holds the sum of tensor `tensor`. */
	void (*done)(void *owner, uint32_t worker, uint64_t tensor);
	void *owner;
};

/* The job's number in the run, for reports. */
static inline uint32_t collective_job_number(const struct collective_job *job)
{
	return job->instances ? job->number / job->instances : job->number;
}

/* The number of worker `worker` in its job, for reports. */
static inline int64_t collective_worker_number(const struct collective_job *job, uint32_t worker)
{
	return job->members ? job->members[worker] : worker;
}

/* What a scheme may know about the next tensor of a worker. */
struct collective_hint {
	uint32_t layer, layers;   /* 1 = front layer */
	bytes left;               /* gradient bytes of the iteration from this tensor on */
	sim_time compute_left;    /* for the rest of the backward pass and the next forward pass */
	bytes iteration_bytes;    /* gradient bytes of a whole iteration */
	sim_time compute;         /* for a whole iteration, without stragglers and jitter */
	uint64_t iterations_left; /* after this one */
	sim_time attained;        /* how long the job has run */
	/* Of this worker's previous iteration; 0 in the first one: */
	sim_time last_compute;
	sim_time last_exchange; /* from the first gradient to the last sum */
};

/* How a switch delays or multiplies packets. A lossless network needs headroom for this. */
struct collective_burst {
	sim_time held;    /* longest time that a switch keeps a packet beyond its own latency */
	unsigned packets; /* most packets that a switch sends because of one that it receives */
};

/* How the run of a job differs from its configuration; all zero if it does not. */
struct collective_actual {
	const char *scheme; /* the scheme that replaces the configured one; NULL: no other */
	const char *key;    /* the parameter of the configured scheme that causes this */
	const char *what;   /* the resource that the job has too little of ("slots"), or NULL */
	uint64_t has, of;   /* the job has `has` of the `of` units that it wants */
};

/* Room for "switchml_star with 65536 of 65536 trees". */
#define COLLECTIVE_ACTUAL_SIZE 80

/* Writes what a job configured with `scheme` runs as: "ring", "panama with 1 of 4 trees". Returns
 * `text`, of COLLECTIVE_ACTUAL_SIZE bytes. */
char *collective_actual_text(const struct collective_actual *actual, const char *scheme,
			     char *text);

/* A parameter that the values of other parameters leave without effect. */
struct collective_idle {
	const char *key, *why; /* static strings */
};
#define COLLECTIVE_IDLE_MAX 8

/* How far the fluid model may be from the packet model, as a fraction; 0 = not stated. Limits for
 * tests/crosscheck.sh and scripts/crosscheck; models/fluid/README.md has the measurements. */
struct fluid_tolerance {
	/* Error of the time in which gradients are exchanged, on one switch and over several tiers.
	 * For a single job that exchanges at least 10 MB at a time and has at most one parameter
	 * server. Queues must mark and drop only above the bandwidth-delay product. */
	double one_switch, tiers;
	double together; /* error of the end of the last of several jobs, all of this scheme */
};

/* What a scheme is, whatever its parameters. */
struct collective_traits {
	/* Most ranks of a job where a worker has several (struct collective_job); 0 if it cannot
	 * have several. */
	uint32_t ranks_max;
	bool by_connections; /* has its gradients sent over TCP or, if transport() says so, RoCE */
	bool messages;       /* its hosts may send messages over TCP (transport/messages.h) */
	bool heeds_marks;    /* it has windows of its own, which shrink on ECN marks */
	bool first_come;     /* jobs share aggregators, first come first served */
	/* Why switches cannot have memory of different sizes, or NULL. Messages print this behind
	 * the scheme's name. */
	const char *one_memory;
	struct fluid_tolerance tolerance;
};

struct collective_ops {
	const char *name, *help;
	const struct conf_table *table; /* its object under "schemes"; required, may have no rows */
	struct collective_traits traits;

	/* --- before a run: what its parameters make of it --- */

	/* Optional: whether the scheme draws random numbers even on one switch, for a job alone. */
	bool (*draws)(const void *conf);
	/* Optional: the transport of the scheme's connections, or of the ring that its jobs fall
	 * back to. */
	const struct transport *(*transport)(const void *conf);
	/* Optional: the default number of parameter servers for two or more workers. A scheme
	 * without this member has no servers. */
	uint32_t (*servers)(uint32_t workers);
	/* Optional: why no job of this size can run, wherever it is placed (a static string), or
	 * NULL. */
	const char *(*refuses)(const void *conf, const struct topology_conf *topology,
			       uint32_t workers, uint32_t servers);
	/* Optional: payload bytes that all hosts of a job together send per byte of its gradient,
	 * without loss. workers >= 2; `beside`: servers are on workers' hosts. Of a scheme with
	 * `ranks_max`, each of `gpus` GPUs of a worker's machine is a rank, in order of placement,
	 * and only bytes that leave machines count; else `gpus` is 1. Only for estimates of load
	 * and cost. Without this member: one byte per worker, because switches add everything up
	 * and send the results. */
	double (*injected)(uint32_t workers, uint32_t gpus, bool beside);
	/* Optional. Without it, a switch sends at once one packet for each that it receives.
	 * `ports`: number of ports of the largest switch. */
	struct collective_burst (*burst)(const void *conf, const struct topology_conf *topology,
					 uint32_t ports);
	/* Optional: bytes of the scheme's packets, FCS included, and bytes of gradients in a full
	 * packet. A scheme over TCP has no packets of its own. */
	uint32_t (*frame)(const void *conf);
	uint32_t (*payload)(const void *conf);
	/* Optional. Adds errors, at "/schemes/SCHEME/...", for parameters that cannot work on this
	 * topology. The caller checks the length of packets. */
	void (*check)(const void *conf, const struct topology_conf *topology, struct conf_doc *doc,
		      const char *scheme);
	/* Optional. Warns, at the pointer, if a job of so many workers and servers is possible on
	 * this topology but probably a mistake. Not called in the fluid model. */
	void (*warn)(const void *conf, const struct topology_conf *topology, uint32_t workers,
		     uint32_t servers, struct conf_doc *doc, const char *pointer);
	/* Optional. Parameters without effect; returns how many. */
	size_t (*idle)(const void *conf, struct collective_idle list[COLLECTIVE_IDLE_MAX]);
	/* Optional: what a job with so many bytes of gradients an iteration will run as, as far as
	 * the scenario alone tells. */
	struct collective_actual (*runs_as)(const void *conf, const struct topology_conf *topology,
					    bytes gradients);

	/* --- in a run --- */

	/* Required. The scheme for a run; `conf` outlives it. */
	void *(*open)(const struct model_env *env, const void *conf);
	void (*close)(void *scheme);
	/* Required. An instance for a job. NULL if switch memory is short now: the job then waits.
	 * NULL and *never, a reason (static string), if waiting is useless: the job is refused.
	 * *never is NULL before the call. */
	void *(*start)(void *scheme, const struct collective_job *job, const char **never);
	/* Optional; a scheme without it has no fluid model. Admits a job with the same memory and
	 * the same refusals as start(), but without workers or packets. Fills in *plan, which the
	 * caller releases. Returns the argument for withdraw(), or NULL as start() does. */
	void *(*plan)(void *scheme, const struct collective_job *job, struct stream_plan *plan,
		      const char **never);
	/* Optional: the scheme's reduce-scatter (steps.h), on the same scheme object. Without it,
	 * jobs use the all-reduce instead, and each worker a part of the sums. */
	const struct collective_ops *reduce_scatter;
	/* Optional: the scheme's all-gather, on the same scheme object. Its job cannot wait any
	 * more, so start() fails for good: after failures, or where no switch serves its workers.
	 */
	const struct collective_ops *all_gather;
	/* Required with plan(). The job is over: releases the memory that plan() took. */
	void (*withdraw)(void *admitted);
	/* Optional: called right before contribute(). */
	void (*hint)(void *instance, uint32_t worker, const struct collective_hint *hint);
	/* Required. Worker `worker` hands over the next tensor of its stream. */
	void (*contribute)(void *instance, uint32_t worker, bytes size);
	/* Required. Frees the instance when all workers hold the results of all tensors that they
	 * have handed over or, if `abandoned`, after a failure, while workers still lack results.
	 * Not called within done(). */
	void (*finish)(void *instance, bool abandoned);
	/* Optional: whether the instance's switches work and still have their partial sums. With
	 * `links` the links between these switches have to work, too. An instance without this
	 * member uses only connections, which find other routes. */
	bool (*intact)(const void *instance, bool links);
	/* Optional: a switch has lost its partial sums, and the scheme recovers by itself. Without
	 * this member the scheme's jobs on that switch do not go on (intact()). */
	void (*wipe)(void *scheme, uint32_t sw);
	/* Required. Adds what this instance did to *stats. */
	void (*stats)(const void *instance, struct collective_stats *stats);
	/* Optional: memory per switch. Returns the number of entries; the scheme owns *list. */
	size_t (*memory)(void *scheme, const struct collective_memory **list);
	/* Optional: slots per job or the like, for reports; 0 = does not apply. `instance` may also
	 * be the result of plan(). */
	uint64_t (*slots)(const void *instance);
	/* Optional: what a job runs as. `instance` may also be the result of plan(). */
	struct collective_actual (*ran_as)(const void *instance);
	/* Optional: bytes of all results that the first worker has so far, counted in full packets;
	 * shows the progress of an iteration. */
	bytes (*received)(const void *instance);
	/* Optional: visits the state of all jobs, to skip repeated periods (core/repeat.h). Jobs of
	 * a scheme that has neither this member nor `by_connections` (tcp_repeat.c, roce_repeat.c)
	 * keep the whole run from skipping. */
	void (*repeat)(void *scheme, struct repeat *repeat);
	/* Required. Prints what each stuck worker waits for, in at most `limit` lines. Returns the
	 * number of lines. */
	size_t (*report_waiting)(const void *instance, FILE *to, size_t limit);
};

#endif
