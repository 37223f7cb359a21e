/* Why a job took as long as it did: every picosecond of a worker has one cause.
 *
 * A worker either computes or waits for sums. When a result comes, the time since the previous one
 * (or since the worker stopped computing, if that was later) is charged to causes. To find them,
 * the result's way is followed back: from the worker to the switch or server that completed the
 * sum, and on to the worker whose contribution completed it. Delays on this way are charged, the
 * latest first, until the time is used up:
 *
 *   - one transmission of the packet;
 *   - queues, split by whose packets were sent before it (gaps between those are PAUSE), and
 *     servers;
 *   - the wait to be sent again;
 *   - the wait for its turn at the sender: for the NIC, or for the window;
 *   - what the sender did at that time, if it is another worker: the causes in its account, with
 *     its computing as `straggler`. On a connection it counts since the sender's write before, but
 *     not while this worker computed, and its time on the wire counts last: a worker who passes on
 *     what it got late has spent the latest time on the wire. Others straggle no longer than until
 *     all workers have computed;
 *   - the rest of the time on the links: last, because it delays no result that closely follows
 *     another.
 *
 * A rank that computes and exchanges at the same time waits, while it does not compute, for the
 * result that ends its wait: all of the wait counts for the group of this result (`parts` below).
 * If that is a message of a pipeline, others who compute are no stragglers, but its bubble. What
 * GPUs of a machine do together takes the time that it takes inside; a GPU that waits for what
 * another one of the machine gets from the network waits for that one's reasons.
 *
 * If a failure destroys what a worker waits for, there is no way back to follow. The time from the
 * worker's last result until the controller of jobs restarts its tensors is `failure`.
 *
 * If less time is left than a delay that has several causes, such as a queue, they share it in the
 * proportions of the whole delay.
 *
 * So a stream of results at the full rate is all `wire`, as in the closed form of an idle path. If
 * the window is too small, the time is `window`; beside other traffic it is `queue_flows`, at the
 * link where the packets queued. The rule does not see that an earlier queue made a window small
 * (`window_marks` says that ECN marks did; Swift's windows have none). Where a job shares a link,
 * its packets queue behind each other, too: up to half of the wait is `queue_own`.
 *
 * The hooks below only observe. Without --why each is a test for NULL. Times are integers that are
 * moved between accounts and never computed again, so causes add up to the time exactly. */
#ifndef INASIM_WHY_WHY_H
#define INASIM_WHY_WHY_H

#include "core/observe.h"
#include "net/network.h"

enum why_cause {
	WHY_COMPUTE,
	WHY_JITTER,        /* start_jitter and send_jitter of the scenario */
	WHY_WINDOW,        /* the sender's window, or its slots, were full */
	WHY_WINDOW_MARKS,  /* the same, and ECN marks had cut the window */
	WHY_WINDOW_LOSSES, /* the same, and losses had cut the window */
	WHY_QUOTA,         /* all buffers that the job may use (SHARP) were in use */
	WHY_LOCK,          /* the job did not have the lock of the tree (SHARP) yet */
	WHY_NIC,           /* behind other packets at the sender's host */
	WHY_WIRE,
	WHY_INSIDE,      /* over the links among the GPUs of a machine */
	WHY_QUEUE_OWN,   /* in a queue, behind packets of the same job */
	WHY_QUEUE_JOBS,  /* in a queue, behind packets of other jobs */
	WHY_QUEUE_FLOWS, /* in a queue, behind packets of flows */
	WHY_PAUSE,
	WHY_STRAGGLER, /* the last worker computed, or was late by jitter */
	WHY_BUBBLE,    /* the same of the stage of a pipeline whose message a rank waits for */
	WHY_SERVER,    /* a server was adding up, or a host took its time for a step */
	WHY_NO_AGGREGATOR,
	WHY_TIMEOUT, /* lost or believed lost, until a timeout */
	WHY_FAST,    /* lost or believed lost, and sent again without a timeout */
	/* From a failure of a link or switch to the restart of the tensors; of a connection, until
	 * there is a way again. */
	WHY_FAILURE,
	WHY_BACKOFF, /* and from then on, until a timer that has backed off sends again */
	WHY_UNEXPLAINED,
	WHY_CAUSES
};

extern const char *const why_cause_names[WHY_CAUSES]; /* such as "queue_flows" */

/* What ranks of a job spent an iteration on while they waited for one kind of result. */
struct why_part {
	const char *name; /* owned by the job */
	bool bubble;      /* see why_part() */
	sim_time cause[WHY_CAUSES];
};
/* The first parts of each job: what ranks do themselves, and waits that no result has ended. After
 * a rank's last iteration, it waits in the second one for the job's end, as a straggler. */
enum { WHY_PART_OWN, WHY_PART_OTHER, WHY_PARTS };

/* How one worker spent an iteration. */
struct why_row {
	uint32_t job, worker, host;
	const char *name, *scheme;
	uint64_t iteration;
	sim_time begin, end;
	sim_time cause[WHY_CAUSES]; /* add up to end - begin */
	struct why_tally {
		uint32_t id; /* UINT32_MAX = none */
		uint32_t times;
		sim_time time;
	} peer,        /* the worker that this one waited for most */
		link,  /* the port where its results queued most */
		rival; /* the job whose packets pushed its sums out of aggregators most */
	/* Only in the job's last row of an iteration, otherwise 0. `since`: when the previous
	 * iteration ended, or the job began. `before`: what ports had carried by then. */
	sim_time since;
	const struct why_snapshot *before;
	/* With `before`: over all workers. They add up to the rows of this iteration and, in the
	 * last one, to the time until the job's end, too. */
	const struct why_part *parts;
	uint32_t part_count;
};

/* The bytes of one owner that a port has carried so far, in frames that have reached its far end.
 * Lost frames count, so that the owners add up to the bytes in links.csv. A late copy on a
 * connection whose number has been reused counts for the new connection. */
enum why_class { WHY_AGGREGATION, WHY_DATA, WHY_CONTROL, WHY_CLASSES }; /* ACKs are control */
struct why_volume {
	uint32_t owner; /* 1 + job, WHY_FLOWS | group of flows, or 0 for PAUSE frames */
	uint32_t next;  /* index of the port's next volume */
	uint64_t bytes[WHY_CLASSES];
};
#define WHY_FLOWS (UINT32_C(1) << 31)

static inline uint64_t why_bytes(const struct why_volume *volume)
{
	return volume->bytes[WHY_AGGREGATION] + volume->bytes[WHY_DATA] +
	       volume->bytes[WHY_CONTROL];
}

/* Volumes of all ports. A zeroed snapshot is the one before the run. */
struct why_snapshot {
	struct why_volume *volumes; /* owned */
	size_t count, capacity;
};

struct why;
struct why_job;    /* a job's accounts */
struct why_chunks; /* the chunks of an instance of a scheme */

/* Sets `to` to what ports have carried up to now. */
void why_snapshot(const struct why *why, struct why_snapshot *to);
/* What these ports together have carried since `before`: one volume for each owner, sorted by
 * owner. Valid until the next call. */
const struct why_snapshot *why_carried(struct why *why, const uint32_t *ports, uint32_t count,
				       const struct why_snapshot *before);
/* The name of an admitted job, as why_job_admit() got it. */
const char *why_job_name(const struct why *why, uint32_t job);

/* Call before the first job: a job has at most so many instances of schemes, and instance i of job
 * j is number j * instances + i for the hooks of schemes and transports. */
void why_set_instances(const struct network *net, uint32_t instances);

/* Call before the first packet. `row` is called when a worker has ended an iteration. Free the
 * result with why_free(). */
struct why *why_open(struct network *net, void (*row)(void *owner, const struct why_row *row),
		     void *owner);
void why_free(struct why *why);

/* Is told what goes into the accounts; no member may be NULL. */
struct why_listener {
	void (*job)(void *owner, uint32_t job, const char *name, uint32_t workers,
		    const uint32_t *hosts);
	/* The time of a worker from `begin` to `end` is charged: causes add up to it. */
	void (*charged)(void *owner, uint32_t job, uint32_t worker, sim_time begin, sim_time end,
			const sim_time cause[WHY_CAUSES]);
	/* A worker has handed over a tensor, or, with `held`, has its sum. */
	void (*tensor)(void *owner, uint32_t job, uint32_t worker, bool held);
	/* What worker `last` sent at `sent` completed the sum that a worker gets now. */
	void (*last)(void *owner, uint32_t job, uint32_t worker, uint32_t last, sim_time sent);
	/* A worker begins or ends something on one of its streams, or in a part of a job that has
	 * several: for each `ends` there was one that did not. */
	void (*stream)(void *owner, uint32_t job, uint32_t worker, uint32_t stream, bool ends);
	void (*part)(void *owner, uint32_t job, uint32_t worker, uint32_t part, const char *name,
		     bool ends);
	/* A packet enters the queue of a port. */
	void (*queued)(void *owner, uint32_t port);
	/* A flow has finished. */
	void (*flow)(void *owner, uint32_t src, uint32_t dst, bytes size, sim_time start);
	void *owner;
};
/* Call before the first packet. `listener` must outlive the run. */
void why_listen(struct why *why, const struct why_listener *listener);

/* The connection that is opened next is of a flow of this group. */
void why_flow_opens(struct why *why, uint32_t group);
/* A flow has finished. */
void why_flow_over(struct why *why, uint32_t src, uint32_t dst, bytes size, sim_time start);

/* The observer to install for the run's events. */
struct sim_observer *why_observer(struct why *why);

static inline struct why *why_of(const struct network *net)
{
	return (struct why *)(void *)net->onlooker;
}

/* --- hooks for jobs --- */

/* A job has got its hosts. Called before its scheme starts, and again when the job has had to wait
 * for switch memory. `scheme` is static, the rest is copied. Returns the argument for the hooks
 * below. Without --why that is NULL, and the hooks do nothing. */
struct why_job *why_job_admit(const struct network *net, uint32_t job, const char *name,
			      const char *scheme, uint32_t workers, const uint32_t *hosts,
			      uint64_t iterations);
/* A part of the job with this name (copied), for why_holds() and others: what waits for a group's
 * results count as. `bubble`: they are messages of a pipeline. Returns its number; the same for
 * the same name. 0 without --why. */
uint32_t why_part(struct why_job *job, const char *name, bool bubble);
/* Which workers of its job, by number, and on which hosts, those of an instance are. Call before
 * it starts. NULL: the same numbers. Where several are on a host, the first one is meant. */
void why_places(const struct network *net, uint32_t instance, uint32_t workers,
		const uint32_t *hosts, const uint32_t *members);
/* The first iteration begins: accounts count from now. */
void why_job_begin(struct why_job *job);
/* A worker has moved to `host`. */
void why_moves(struct why_job *job, uint32_t worker, uint32_t host);
void why_job_end(struct why_job *job); /* frees it */
/* A task of a worker begins or ends: computing, or a delay that the scenario draws. */
void why_task(struct why_job *job, uint32_t worker, bool computes, bool ends);
/* What takes time on a stream begins or ends: a task, of which several may run. */
void why_stream(struct why_job *job, uint32_t worker, uint32_t stream, bool ends);
/* A worker hands something over to a group, or has the group's result. */
void why_takes_part(struct why_job *job, uint32_t worker, uint32_t part);
void why_got(struct why_job *job, uint32_t worker, uint32_t part);
/* A worker hands over a tensor of gradients. */
void why_contributes(struct why_job *job, uint32_t worker);
/* The scheme gets what a worker hands over. */
void why_hands_over(struct why_chunks *chunks, uint32_t worker);
/* A failed link or switch has lost all that workers wait for, and the controller of jobs restarts
 * these tensors now. All waits up to now are charged to the failure. */
void why_begins_anew(struct why_job *job);
/* A worker has the sum of a tensor of gradients. */
void why_holds(struct why_job *job, uint32_t worker);
/* A worker has ended its iteration. */
void why_iterates(struct why_job *job, uint32_t worker);

/* --- hooks for schemes whose packets switches add --- */

/* How a protocol treats packets that find no aggregator free, so that no switch adds them. */
struct why_bypass {
	uint8_t flag;       /* PACKET_OWN() that marks them; 0 = none */
	bool detour;        /* only these go by the server (ESA); false: all sums do (ATP) */
	bool switches_wait; /* switches send packets later, by a timer (PANAMA, NetReduce) */
	bool answers;       /* workers send what others ask for: it continues the question (NVLS) */
	/* Switches add packets of the same flow and number. If this is not 0, packets of this flow
	 * count as packets of flow `together` - 1 (NetReduce's connections of a ring). */
	uint32_t together;
};

/* An instance of a scheme in an admitted job sends packets that carry `flow` in `protocol`.
 * `members`: the numbers in the job of its workers (not copied); NULL = the same. All flows of a
 * protocol share one numbering of chunks, so a reduce-scatter and an all-gather have a protocol
 * each. Returns the argument for the hooks below, valid until the job ends; NULL without --why. */
struct why_chunks *why_join(const struct network *net, uint32_t instance, const uint32_t *members,
			    uint8_t protocol, uint32_t flow, struct why_bypass bypass);

/* A worker has the result of a chunk for the first time (tensors.c calls this for all schemes). */
void why_result(struct why_chunks *chunks, uint32_t worker, uint64_t chunk);

/* A timeout has declared something lost. */
void why_timed_out(struct why_chunks *chunks);

/* After a timeout, a chunk comes by another way than its packets. Call before why_result(). */
void why_fetched(struct why_chunks *chunks, uint64_t chunk);

/* What has cut a sender's window below its first size, or (SHARP) holds the sender back. On a
 * connection of TCP or RoCE any mark or loss since it was opened counts. */
enum why_cut {
	WHY_UNCUT,
	WHY_CUT_BY_MARKS,
	WHY_CUT_BY_LOSSES,
	WHY_CUT_BY_QUOTA, /* the job's OSTs (SHARP) are in use */
	WHY_CUT_BY_LOCK   /* the tree was locked by another job, or its lock was on the way */
};
void why_window(struct why_chunks *chunks, uint32_t worker, enum why_cut cut);

/* --- hook for failures --- */

/* Something has been repaired, or paths lead around what has failed. */
void why_reopens(const struct network *net);

/* --- hooks for hosts that take time: servers that add, steps with a latency --- */

/* A host of a job begins to work on what it gets now, from the network or from its own worker.
 * Returns the way by which this has come, for why_work_ends(); 0 without --why. */
uint32_t why_work_begins(const struct network *net, uint32_t job, uint32_t host);
/* The work of a host on what came by this way is over. What the host sends in this event continues
 * the way. */
void why_work_ends(const struct network *net, uint32_t job, uint32_t host, uint32_t way);

/* A host of a job sends itself a message about what is missing. Returns its way, for
 * why_work_ends(); 0 as why_work_begins() does. */
uint32_t why_tells_itself(const struct network *net, uint32_t job, uint32_t host);

/* --- hooks for what GPUs of a machine do, without packets. `worker`: by its number in the job ---
 */

/* A worker's data are ready to go on, because of what it gets now, or has done. Returns their way,
 * 0 without --why, which ends with why_way_over(). */
uint32_t why_passes(const struct network *net, uint32_t instance, uint32_t worker);
/* A worker has what has come by this way, over links inside its machine or, if not `inside`, from
 * its host, which has worked on it. What it sends in this event continues the way. */
void why_passed(const struct network *net, uint32_t instance, uint32_t worker, uint32_t way,
		bool inside);
void why_way_over(const struct network *net, uint32_t way);
/* The connection that is opened next leads from worker to worker, by their numbers in the job. */
void why_leads(const struct network *net, uint32_t from, uint32_t to);

/* --- hooks for transports: connections of jobs --- */

/* What a connection carries. */
enum why_stream {
	WHY_FLOW,     /* nothing of a job */
	WHY_RING,     /* from worker to worker; what arrives is progress of the receiver */
	WHY_PUSH,     /* from worker to server */
	WHY_PULL,     /* from server to worker; what arrives is progress of the receiver */
	WHY_RECOVERY, /* messages of a scheme about what seems lost */
	WHY_HANDOFF,  /* from a worker that passes on what it got; not progress by itself */
};
struct why_conn {
	uint8_t protocol; /* of its packets, which have `number` as `flow` */
	uint32_t number;
	enum why_stream stream;
	uint32_t job, src, dst;
	uint64_t mask; /* the bits of a position in the stream that packet.seq holds */
	const uint64_t *timeouts, *losses, *marks; /* counters of the connection; not owned */
	const uint64_t *acked; /* position before which nothing is sent again; not owned */
};
void why_connection(struct why *why, const struct why_conn *conn);
/* The stream grows to `end`, in the units of packet.seq. Call before the new part is sent. */
void why_writes(struct why *why, uint8_t protocol, uint32_t number, uint64_t end);
/* More has come in order. Call before the application is told. */
void why_delivered(struct why *why, uint8_t protocol, uint32_t number);

#endif
