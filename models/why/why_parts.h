/* The inside of models/why: for why*.c alone.
 *
 *   why.c          accounts of workers, the hooks, and the charges along a result's way
 *   why_trail.c    the ways of packets, as the network shows them
 *   why_volumes.c  what ports have carried, by owner */
#ifndef INASIM_WHY_WHY_PARTS_H
#define INASIM_WHY_WHY_PARTS_H

#include "why/why.h"

#define WHY_NONE    UINT32_MAX
#define WHY_TALLIES 8   /* candidates for the largest of a kind */
#define WHY_LOG     128 /* charges of a worker that others can look up; when full, like ones merge */
#define WHY_RELAYS  64  /* messages over which a write on a ring or to a server continues a way */

/* What a packet in a queue waited for: packets of an owner, or (BEFORE_PAUSE) a link that sent
 * nothing: with PAUSE it was stopped, without, a NIC began late. */
enum { BEFORE_OWN, BEFORE_JOBS, BEFORE_FLOWS, BEFORE_PAUSE, BEFORE_KINDS };

/* A step of a packet's way. The ways of copies share their first steps. */
struct why_step {
	uint32_t previous; /* step, or 0 */
	uint32_t users;
	/* Of a hop: its port. Of a packet that was pushed out: a job. Else a worker of the packet's
	 * job; WHY_NONE = a server, or a worker that only continues a way. */
	uint32_t place;
	bool hop;       /* over a link; otherwise a way begins, or goes on at a host */
	bool detour;    /* not added by switches, so through a server */
	uint16_t depth; /* messages that the way has led over */
	union {
		/* Where a way begins. The larger member of the union comes first, because an
		 * initialiser that names no member zeroes the first. */
		struct {
			sim_time sent;     /* when the NIC sent the packet */
			sim_time ready;    /* when its data was handed over, or written */
			sim_time wrote;    /* when a stream had been written to before `ready` */
			sim_time behind;   /* how long the NIC was busy right before */
			sim_time first;    /* when it was first sent; SIM_TIME_MAX = unknown */
			bool others : 1;   /* `behind`: with packets of others, not of this job */
			bool again : 1;    /* it was sent before */
			bool timed : 1;    /* a timeout is why it is sent again, or asked for */
			bool recovery : 1; /* a message about what is missing begins here */
			bool stream : 1; /* of TCP or RoCE: its window does not wait for results */
			bool pushed : 1; /* a packet of job `place` pushed it out of its aggregator
					  */
			bool silent : 1; /* the sender had waited for a timeout until `ready` */
			bool inside : 1; /* over links inside a machine, from `previous` or here */
			bool outage : 1; /* the timeout was for what a failed link had lost */
			uint8_t cut;     /* enum why_cut of the sender's window */
			uint32_t backoff_us; /* `outage`: of the timeout, since a way was there */
		};
		struct { /* a hop */
			sim_time arrived;
			sim_time hold;   /* in the queue, until arrived - travel */
			sim_time travel; /* time on the idle link */
			/* What the packet waited for at the end of `hold`; only the proportions
			 * of these numbers matter. */
			uint32_t before[BEFORE_KINDS];
		};
	};
};
static_assert(sizeof(struct why_step) == 64, "a step is a line of cache");

struct why_charge {
	sim_time begin, end;
	sim_time cause[WHY_CAUSES];
};

struct why_account {
	bool busy;           /* a task runs */
	enum why_cause task; /* cause that the task's time is charged to */
	enum why_cut cut;
	sim_time begin;     /* of the iteration */
	sim_time until;     /* time is charged up to here */
	sim_time worked;    /* when the last task ended */
	sim_time straggled; /* charged to others who computed since then */
	uint64_t iteration;
	sim_time cause[WHY_CAUSES];
	sim_time (*part)[WHY_CAUSES]; /* the same by part; owned */
	sim_time waits[WHY_CAUSES];   /* charged, but not yet to a part */
	sim_time waited;              /* since when */
	struct why_tally links[WHY_TALLIES], peers[WHY_TALLIES], rivals[WHY_TALLIES];
	struct why_charge log[WHY_LOG];
	uint32_t logged;
};

/* A worker of an instance. */
struct why_place {
	uint32_t host, worker; /* `worker`: of the job */
	sim_time handed;       /* when it handed over last */
	uint32_t way;          /* by which that had come; 0 = it was there */
};

/* Where the workers of an instance are. */
struct why_places {
	struct why_place *places;   /* by worker of the instance; owned; NULL = as in the job */
	struct why_place **by_host; /* owned */
	uint32_t count;
};

/* The chunks of an instance of a scheme. Instances of one job that use the same protocol share the
 * numbers of chunks in `troubles`: what was lost in one may be charged in another. */
struct why_chunks {
	struct why_job *job;
	struct why_chunks *next; /* of the job; owned */
	uint8_t protocol;
	uint32_t instance;
	const uint32_t *members; /* worker of the job, by worker of the instance; NULL = the same */
	sim_time timed_out;      /* when a timeout last declared something lost */
};

struct why_job {
	struct why *why;
	uint32_t number, workers;
	const char *name, *scheme;        /* not owned */
	uint32_t *hosts, *worker_of_host; /* WHY_NONE = no worker is there */
	struct why_account *accounts;
	struct why_part *parts; /* of the iteration whose rows come; owned, with names */
	uint32_t part_count;
	bool bubbles; /* some part is */
	uint64_t iterations;
	struct why_places *places;  /* by instance; owned */
	struct why_chunks *chunks;  /* list; owned */
	sim_time worked;            /* when a worker's last task ended */
	uint64_t ended;             /* iterations */
	uint32_t rows;              /* workers that have ended the iteration */
	sim_time since;             /* when the previous iteration ended, or the job began */
	struct why_snapshot before; /* what ports had carried at `since` */
};

/* A packet in a port's ring. */
struct why_queued {
	sim_time since, depart;
	uint32_t size, owner; /* owner as in struct why_volume */
	uint32_t step;        /* 0 = the packet is not followed */
};

/* A second ring beside a port's ring of packets. Entries `first` to `end` - 1 are in the queue;
 * older entries have left it lately. */
struct why_line {
	struct why_queued *ring;
	uint64_t first, end;
	uint32_t mask;
	/* Head of the port's list of volumes: that of the packet that left last; 0 = empty. */
	uint32_t volume;
};

struct why_write {
	uint64_t end;
	sim_time at, previous; /* `previous`: when the write before it was; 0 = there is none */
	uint32_t step;         /* of the packet that caused it; 0 = none */
	bool answers; /* it was written while a followed packet arrived, or a host's work on it
			 ended */
};

struct why_connection {
	struct why_conn conn;
	uint32_t from, to;        /* workers of the job; WHY_NONE = servers */
	struct why_write *writes; /* ring by number: writes not yet acknowledged */
	uint64_t mask, oldest, written;
	uint64_t timeouts;
	bool timed;     /* a timeout is why packets are sent again */
	sim_time sent;  /* when a packet last left */
	sim_time wrote; /* when the stream last grew */
	/* The last wait for a timeout: from what was sent before it to what was sent again. */
	sim_time silence, spoke;
	sim_time lost; /* when a failed link last lost a packet of it; 0 = never */
};

/* Who owns the packets of a scheme's flow. */
struct why_flow {
	struct why_job *job; /* NULL = the job is over */
	struct why_chunks *chunks;
	uint32_t owner;
	struct why_bypass bypass;
};

/* Who owns the packets of a connection. */
struct why_number {
	uint32_t owner;
	struct why_connection *conn; /* NULL = not a job's */
};

/* What kept a chunk from being added on its way. Of several, the last in this list counts; but a
 * chunk that lacked an aggregator may be sent again without counting as lost. */
enum why_trouble {
	WHY_NO_TROUBLE,
	WHY_LACKED,    /* it found no aggregator */
	WHY_LOST,      /* a packet was lost, or believed to be */
	WHY_LOST_TIMED /* the same, and a timeout said so */
};

/* An entry of the tables at the end of `struct why`. */
struct why_known {
	uint64_t key;
	union {
		sim_time at;
		uint32_t step;
		enum why_trouble trouble;
	};
};

struct why {
	struct net_onlooker onlooker; /* first member: the network has a pointer to it */
	struct network *net;
	struct sim_observer observer;
	void (*row)(void *owner, const struct why_row *row);
	void *owner;
	const struct why_listener *listener; /* NULL = none; not owned */

	struct why_job **jobs; /* by number */
	uint32_t instances;    /* of schemes that each job has, at most */
	char **names;          /* of all admitted jobs */
	size_t job_capacity, name_capacity;
	struct why_flow *flows[NET_PROTOCOLS];
	size_t flow_count[NET_PROTOCOLS];
	struct why_number *conns[NET_PROTOCOLS]; /* by number */
	size_t conn_capacity[NET_PROTOCOLS];
	uint32_t group;    /* of the flow that opens its connection */
	uint32_t from, to; /* of a job's; WHY_NONE: its hosts tell */

	sim_time *reopened; /* times of why_reopens(); owned */
	size_t reopened_count, reopened_capacity;

	struct why_line *lines;      /* by port */
	struct why_snapshot volumes; /* entry 0 stands for no volume */
	struct why_snapshot carried; /* result of the last why_carried() */
	struct why_step *steps;
	size_t step_count, step_capacity;
	uint32_t idle_step; /* head of the list of free steps */
	struct {
		uint32_t step; /* of the packet whose arrival, or end of work, runs; 0 = none */
		sim_time wire; /* its transmission on the link */
		uint32_t node;
		uint32_t worker; /* who gets it, where a connection tells; else WHY_NONE */
		uint32_t owner;
		bool worked; /* no packet: what a host did has ended */
		bool chunk;  /* the packet is of a scheme with its own packets */
		uint8_t protocol;
		uint64_t seq;
		uint64_t lost; /* packets that the network had lost before this arrival */
	} current;
	struct why_known *sent;     /* when packets were sent, by a hash of what they are */
	struct why_known *nodes;    /* a chunk's newest step at a node that may send it on later */
	struct why_known *troubles; /* of chunks */
};

/* why_volumes.c. Moves an owner's volume to the front of a port's list, or creates it there. */
void why_volume_first(struct why *why, struct why_line *line, uint32_t owner);

/* A packet, or a PAUSE frame, has reached the far end of a link. */
static inline void why_count(struct why *why, struct why_line *line, uint32_t owner,
			     enum packet_kind kind, uint32_t size)
{
	static const uint8_t classes[PACKET_KINDS] = { [PACKET_DATA] = WHY_DATA,
						       [PACKET_AGGREGATION] = WHY_AGGREGATION,
						       [PACKET_ACK] = WHY_CONTROL,
						       [PACKET_CONTROL] = WHY_CONTROL };

	if (why->volumes.volumes[line->volume].owner != owner) /* entry 0 has no owner */
		why_volume_first(why, line, owner);
	why->volumes.volumes[line->volume].bytes[classes[kind]] += size;
}

/* why_trail.c. A step is freed with its last user. why_step_use() adds a user, returns `step`. */
void why_trail_open(struct why *why);
void why_trail_free(struct why *why);
void why_step_release(struct why *why, uint32_t step);
uint32_t why_step_use(struct why *why, uint32_t step);
enum why_trouble why_trouble_of(const struct why *why, uint32_t job, uint8_t protocol,
				uint64_t chunk);
void why_note_trouble(struct why *why, uint32_t job, uint8_t protocol, uint64_t chunk,
		      enum why_trouble trouble);

static inline struct why_connection *why_connection_of(const struct why *why, uint8_t protocol,
						       uint32_t number)
{
	return number < why->conn_capacity[protocol] ? why->conns[protocol][number].conn : NULL;
}

static inline struct why_job *why_job_at(const struct why *why, uint32_t job)
{
	return job < why->job_capacity ? why->jobs[job] : NULL;
}

/* why.c. A worker of an instance by its host; NULL = nobody is there, or see the job. */
struct why_place *why_place_at(const struct why_job *job, uint32_t instance, uint32_t host);
/* The worker of the job that an instance has on a host; WHY_NONE = none. */
uint32_t why_worker_at(const struct why_job *job, uint32_t instance, uint32_t host);
/* Charges the wait of a worker up to now, if it waits. */
void why_charge(struct why_job *job, uint32_t worker);

/* The job of an instance of a scheme. */
static inline struct why_job *why_job_of(const struct why *why, uint32_t instance)
{
	return why_job_at(why, instance / why->instances);
}

#endif
