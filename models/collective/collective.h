/* How the workers of a job add up their gradients: the interface of every all-reduce scheme, on
 * hosts (ring) or in switches (models/ina), and of reduce-scatters and all-gathers.
 *
 * A scheme is one file with one const struct collective_ops and one line in collective/schemes.h.
 * Per run there is one scheme object (parameters, switch memory); per job one instance. A job's
 * tensors form one stream, numbered from 0 for the life of the job, in the same order at all
 * workers. A worker hands tensors over as their gradients become ready; the scheme says when a
 * worker holds the sum. */
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
	const struct machine_conf *machine; /* what the hosts are */
	struct tcp *tcp;
	struct checks *checks;
	struct reducers *reducers; /* adding on hosts */
	struct fluid *fluid;       /* streams instead of packets (fluid/fluid.h); NULL = packets */
	bytes load_below;          /* fluid: smaller flows of Poisson arrivals are load on links */
	struct roce *roce;
	struct repeat *repeat; /* skips what repeats (core/repeat.h); NULL = nothing is skipped */
};

/* Counters with one meaning for all schemes; those that do not apply stay 0. */
struct collective_stats {
	uint64_t packets_aggregated; /* contributions added in switches */
	uint64_t results;            /* sums completed in switches */
	uint64_t duplicates;         /* contributions that a switch already had */
	uint64_t repairs; /* complete sums that a switch or host had kept, and sent again */
	/* Contributions that workers sent again for any reason. Schemes over TCP: segments that
	 * workers and servers sent again. */
	uint64_t retransmissions;
	uint64_t timeouts;       /* of the senders that `retransmissions` counts */
	uint64_t collisions;     /* packets that found their aggregator taken by another owner */
	uint64_t collisions_own; /* of these: by another chunk of the same job */
	uint64_t collisions_complete; /* of these: the sum was complete and waited for its ACK */
	uint64_t collisions_waiting;  /* of these: the sum waited for more of its workers */
	uint64_t preemptions_tried;   /* packets that tried to take another owner's aggregator */
	uint64_t preemptions;         /* of these: packets that took it */
	/* Contributions that switches sent on to a server unadded: new ones that collided, and
	 * repeated ones that found no aggregator. */
	uint64_t fallbacks;
	/* Incomplete sums that left for a server: preempted, fetched by a reminder, or flushed by
	 * a packet that was sent again. */
	uint64_t partials;
	/* Contributions that switches threw away because ... */
	uint64_t late;      /* the sum had left without them */
	uint64_t discarded; /* another contribution to the same sum or message was lost */
	uint64_t overflows; /* the memory was full */
	uint64_t collected; /* aggregators freed because their owner had gone silent */
	uint64_t reminders; /* from workers to servers and from servers to switches */
	uint64_t server_packets, server_bytes; /* received by servers; bytes of frames */
	uint64_t stale;                        /* results that a worker already had */
};

/* Adds every counter of *one. */
void collective_stats_add(struct collective_stats *sum, const struct collective_stats *one);

/* Bytes times picoseconds: an integer, so that a memory that is always full has utilization 1. */
typedef unsigned __int128 byte_time;

/* Memory of one switch, for aggregators.csv. */
struct collective_memory {
	uint32_t sw;
	uint64_t memory_bytes, used_bytes, used_max_bytes;
	sim_time changed;        /* when used_bytes last changed */
	byte_time used_time;     /* integral of used_bytes until then; for reports only */
	uint64_t draining_bytes; /* part of used_bytes that jobs which are over still hold */
	const struct holding_times *held; /* of aggregators; NULL: memory is reserved per job */
	struct collective_stats stats;
};

/* Reserves (or, negative, gives back) memory of a switch at time `now`. */
void collective_reserve(struct collective_memory *memory, sim_time now, int64_t bytes_more);

/* The integral up to `now`. */
byte_time collective_reserved(const struct collective_memory *memory, sim_time now);

/* The average share of `whole` bytes in use from the start to `now`; 0 if either is 0. */
double collective_utilization(byte_time used, bytes whole, sim_time now);

/* Adds an error at "elements_per_packet" of a scheme if packets of `frame` bytes are too long for a
 * queue of a switch or NIC, or for the headroom of PAUSE. */
void collective_check_frame(const char *scheme, uint32_t frame,
			    const struct topology_conf *topology, struct conf_doc *doc);

/* Notes a violation (exact.h) at `node` and stops the run. `what` describes it; `unit` and `number`
 * name the part of the job's stream of tensors. */
void collective_violated(const struct model_env *env, const char *scheme, uint32_t job,
			 const char *unit, uint64_t number, uint32_t node, const char *what);

/* What a job looks like to its scheme. */
struct collective_job {
	/* The job's number in the run. Where machines have several NICs, each NIC has an instance
	 * of its own, with the job's number * nics + NIC. */
	uint32_t number;
	uint32_t nics; /* 0 = 1 */
	uint32_t workers;
	const uint32_t *hosts;        /* by rank, all different */
	uint32_t servers;             /* parameter servers; 0 for schemes that need none */
	const uint32_t *server_hosts; /* all different, but workers or servers of other jobs may
				       * be on the same hosts */
	/* Ranks of a worker where `inside` is "ring"; `hosts` are then machines. 0 = 1 */
	uint32_t gpus;
	uint32_t first_edge; /* number of the first connection: a job may have several schedules */
	bytes gradients;     /* of an iteration, over all NICs */
	uint64_t tensors;    /* that each worker will hand over */
	/* Worker `worker` holds the sum of tensor `tensor`. Called from an event. */
	void (*done)(void *owner, uint32_t worker, uint64_t tensor);
	void *owner;
};

/* The job's number in the run, for reports. */
static inline uint32_t collective_job_number(const struct collective_job *job)
{
	return job->nics ? job->number / job->nics : job->number;
}

/* What a scheme may know about the tensor that a worker hands over next. */
struct collective_hint {
	uint32_t layer, layers;   /* 1 = front layer */
	bytes left;               /* gradient bytes of the iteration from this tensor on */
	sim_time compute_left;    /* rest of the backward pass, and the next forward pass */
	bytes iteration_bytes;    /* of a whole iteration */
	sim_time compute;         /* of a whole iteration, without stragglers and jitter */
	uint64_t iterations_left; /* after this one */
	sim_time attained;        /* how long the job has run */
	sim_time last_compute;    /* of the iteration before at this worker; 0 = there is none */
	sim_time last_exchange;   /* of that iteration: from the first gradient to the last sum */
};

/* A switch may hold packets back, or send several for one that came in. A lossless network needs
 * headroom for both. */
struct collective_burst {
	sim_time held;    /* longest time that a switch keeps a packet beyond its own latency */
	unsigned packets; /* most packets that leave because one came */
};

/* What a job runs as, if that is not what it was given; else all zero. */
struct collective_actual {
	const char *scheme; /* another one; NULL = its own */
	const char *key;    /* the parameter of its scheme that decides so */
	const char *what;   /* what it has too few of ("slots"); NULL = nothing */
	uint64_t has, of;   /* it has `has` of `of` */
};

/* Room for "switchml_star with 65536 of 65536 trees". */
#define COLLECTIVE_ACTUAL_SIZE 80

/* "ring", "panama with 1 of 4 trees": what a job that was given `scheme` runs as. Returns `text`,
 * of COLLECTIVE_ACTUAL_SIZE bytes. */
char *collective_actual_text(const struct collective_actual *actual, const char *scheme,
			     char *text);

/* A parameter that has no effect beside the others. */
struct collective_idle {
	const char *key, *why; /* static strings */
};
#define COLLECTIVE_IDLE_MAX 4

/* How far the fluid fidelity may be from packets, as a share; 0 = not stated. tests/crosscheck.sh
 * and scripts/crosscheck judge by it; models/fluid/findings.md has the measurements. */
struct fluid_tolerance {
	/* Of the time in which gradients are exchanged: on one switch, over several tiers. Holds
	 * for a job alone that exchanges 10 MB and more at a time and has one parameter server at
	 * most, where queues mark and drop only above the bandwidth-delay product. */
	double one_switch, tiers;
	double together; /* of the end of the last of several jobs, all under this scheme */
};

struct collective_ops {
	const char *name, *help;
	const struct conf_table *table; /* its object under "schemes"; required, may have no rows */
	bool ranks;       /* a worker may have several ranks (struct collective_job) */
	bool over_tcp;    /* its gradients go over connections: TCP unless transport() says RoCE */
	bool heeds_marks; /* windows of its own shrink when packets are marked */
	bool first_come;  /* jobs share aggregators, and who comes first gets one */
	/* Optional: the transport that its parameters name. */
	const struct transport *(*transport)(const void *conf);

	/* Optional: the number of parameter servers for so many workers (two or more), unless the
	 * job says otherwise. A scheme without this member has none. */
	uint32_t (*servers)(uint32_t workers);
	/* Optional: why no job of this size can run on these machines, wherever it is placed (a
	 * static string), or NULL. */
	const char *(*refuses)(const void *conf, const struct topology_conf *topology,
			       const struct machine_conf *machine, uint32_t workers,
			       uint32_t servers);
	/* Optional: payload bytes that the hosts of a job send together for each byte of its
	 * gradient when nothing is lost (workers >= 2; `beside`: its servers are on workers'
	 * hosts). Used for stated loads, never for a decision. Without this member it is one byte
	 * per worker, because switches add everything up and send the results. */
	double (*injected)(uint32_t workers, bool beside);
	/* Optional. Without it each packet that a switch gets makes it send one, at once. `ports`:
	 * of the largest switch. */
	struct collective_burst (*burst)(const void *conf, const struct topology_conf *topology,
					 uint32_t ports);
	/* Optional: bytes of the scheme's packets, FCS included, and bytes of gradients in a full
	 * packet. A scheme over TCP has no packets of its own. */
	uint32_t (*frame)(const void *conf);
	uint32_t (*payload)(const void *conf);
	/* Optional. Adds errors for parameters that cannot work on this topology, besides those of
	 * collective_check_frame(), at "/schemes/SCHEME/...". */
	void (*check)(const void *conf, const struct topology_conf *topology, struct conf_doc *doc,
		      const char *scheme);
	/* Optional: why switches cannot have memory of different sizes. Messages print it behind
	 * the scheme's name. */
	const char *one_memory;
	/* Optional. Warns, at the pointer, if a job of so many workers and servers is possible on
	 * this topology but probably a mistake. Not asked in the fluid fidelity. */
	void (*warn)(const void *conf, const struct topology_conf *topology, uint32_t workers,
		     uint32_t servers, struct conf_doc *doc, const char *pointer);
	/* Optional. Parameters without effect; returns how many. */
	size_t (*idle)(const void *conf, struct collective_idle list[COLLECTIVE_IDLE_MAX]);
	/* Optional: what a job with so many bytes of gradients an iteration will run as, as far as
	 * the scenario alone decides it. */
	struct collective_actual (*runs_as)(const void *conf, const struct topology_conf *topology,
					    bytes gradients);
	/* Required. The scheme for a run; `conf` outlives it. */
	void *(*open)(const struct model_env *env, const void *conf);
	void (*close)(void *scheme);
	/* Required. An instance for a job, or NULL if resources (switch memory) are short now; the
	 * job then waits. If waiting is useless (more than ever fits, or the scheme refuses instead
	 * of queueing), it sets *never, NULL before the call, to the reason (a static string), and
	 * the job is refused. */
	void *(*start)(void *scheme, const struct collective_job *job, const char **never);
	/* Optional; a scheme without it has no fluid fidelity. Admits a job as start() does, with
	 * the same memory and the same refusals, but without workers or packets: fills in *plan,
	 * which the caller releases. Returns what withdraw() takes, or NULL as start() does. */
	void *(*plan)(void *scheme, const struct collective_job *job, struct stream_plan *plan,
		      const char **never);
	/* Optional: the scheme's reduce-scatter (steps.h), on the same scheme object. Without it
	 * jobs that want one get the all-reduce, and each worker uses a part of the sums. */
	const struct collective_ops *reduce_scatter;
	/* Optional: the scheme's all-gather, on the same scheme object; it takes no memory of
	 * switches, so its start() never fails. `paired`: it only runs beside the scheme's own
	 * reduce-scatter, which is admitted before. */
	const struct collective_ops *all_gather;
	bool paired;
	/* Required with plan(). The job is over: gives back what plan() took. */
	void (*withdraw)(void *admitted);
	struct fluid_tolerance tolerance;
	/* Optional: called right before contribute(). */
	void (*hint)(void *instance, uint32_t worker, const struct collective_hint *hint);
	/* Required. Worker `worker` hands over the next tensor of its stream. */
	void (*contribute)(void *instance, uint32_t worker, bytes size);
	/* Required. All workers hold all results: frees the instance. Not called within done(). */
	void (*finish)(void *instance);
	/* Optional: frees the instance while workers still lack results, because something has
	 * failed. Without this member finish() is called in this case, too. */
	void (*abandon)(void *instance);
	/* Optional: whether the switches that the instance uses work and still have what they have
	 * added up. With `links` the links between these switches have to work, too. Without this
	 * member the instance uses connections alone, which find other ways. */
	bool (*intact)(const void *instance, bool links);
	/* Optional: a switch has lost what it had added up, and the scheme recovers by itself.
	 * Without this member the scheme's jobs on that switch do not go on (intact()). */
	void (*wipe)(void *scheme, uint32_t sw);
	/* Required. Adds what this instance did to *stats. */
	void (*stats)(const void *instance, struct collective_stats *stats);
	/* Optional: memory per switch. Returns the number of entries; the scheme owns *list. */
	size_t (*memory)(void *scheme, const struct collective_memory **list);
	/* Optional: slots per job or the like, for reports; 0 = does not apply. */
	uint64_t (*slots)(const void *instance);
	/* Optional: what an instance, or what plan() returned, runs as. */
	struct collective_actual (*ran_as)(const void *instance);
	/* Optional: bytes of all results that the first worker has so far, counted in full packets;
	 * tells how far an iteration is. */
	bytes (*received)(const void *instance);
	/* Optional: goes through the state of all jobs, for runs that repeat themselves
	 * (core/repeat.h). Without it, and unless `over_tcp` (tcp_repeat.c, roce_repeat.c), nothing
	 * is skipped in a run with such jobs. */
	void (*repeat)(void *scheme, struct repeat *repeat);
	/* Required. Prints who waits for what: a line for each stuck worker, at most `limit`.
	 * Returns how many. */
	size_t (*report_waiting)(const void *instance, FILE *to, size_t limit);
};

#endif
