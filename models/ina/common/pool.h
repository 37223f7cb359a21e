/* What ATP and ESA share: gradient packets meet in hashed aggregators that all jobs of the scheme
 * share, and a job has one or more parameter servers behind them.
 *
 *   pool_conf.*    parameters, and what they have to be
 *   pool.c         jobs, packets at switches and hosts
 *   pool_worker.c  sending, results, timers
 *   pool_plan.c    a job as fluid streams
 *   pool_repeat.c  the state of jobs, for runs that repeat themselves
 *   atp/, esa/     what switches and servers do: struct pool_ops
 *
 * Every packet carries its job, chunk, aggregator index, server, priority and contributors (as a
 * bitmap of one level, racks.h); see pool_chunk() and others below. Chunk p belongs to server p mod
 * servers. Chunk numbers have 32 bits on the wire and 64 at hosts. */
#ifndef INASIM_INA_COMMON_POOL_H
#define INASIM_INA_COMMON_POOL_H

#include "core/alarm.h"
#include "ina/common/adding.h"
#include "ina/common/aggregators.h"
#include "ina/common/ina.h"
#include "ina/common/pool_conf.h"
#include "ina/common/outbox.h"
#include "ina/common/partial_sums.h"
#include "ina/common/racks.h"

#define POOL_SERVERS_MAX 8 /* of a job; three bits of a packet */

/* Flag of packets that go on to the server and that no switch adds: they have collided, or carry a
 * sum that was preempted or fetched (ESA). */
enum { POOL_BYPASS = PACKET_OWN(0) };

struct pool_job;

/* A server of a job, and the job's switches as seen from there. */
struct pool_server {
	struct pool_job *job;
	uint32_t number;
	struct racks racks;
	struct partial_sums sums;
	/* Packets that the host has not yet added, where its reduction rate is limited. A packet
	 * takes time only if it brings a contributor that `arrived` lacks. */
	struct adding adding;
	struct partial_sums arrived; /* contributors that packets have brought; made when needed */
	struct outbox outbox;
	void *state; /* the scheme's; owned by it */
};

struct pool_worker {
	struct ina_worker base;
	struct alarm alarm; /* retransmission timeout */
	void *state;        /* the scheme's; owned by it */
	struct window window __attribute__((aligned(64)));
};

static_assert(offsetof(struct pool_worker, alarm) == 56, "`alarm.at` ends the first cache line");

/* A cached index of a chunk's aggregator: all workers of a job need it at about the same time. */
#define KNOWN_INDICES 1024 /* a power of two */
struct known_index {
	uint32_t chunk;
	uint16_t index;
};

/* One job. */
struct pool_job {
	struct ina_job base;
	struct pool_server *servers;
	uint16_t *order;             /* in which chunks take the aggregators; NULL = by hash */
	struct known_index *indices; /* of chunks lately sent: p at [p & (KNOWN_INDICES - 1)] */
	uint64_t held;               /* aggregators that the job owns now */
	uint64_t held_back;          /* times that only a window kept a worker from sending */
	bool over;                   /* finished, but not freed: it still owned aggregators */
};

/* What ATP and ESA do in their own ways. */
struct pool_ops {
	struct ina_ops base;
	const char *name;    /* "atp" */
	bool through_server; /* results come from the server, not from the last switch */
	/* Make and free the scheme's state of a job. When start() is called, all else is ready. */
	void (*start)(struct pool_job *job);
	void (*release)(struct pool_job *job);
	/* A packet on its way up, or a reminder (ESA), has reached a switch that may add or hold
	 * its chunk: that of its rack (level 0), or level 1. */
	void (*at_switch)(struct pool_server *server, struct aggregators *pool, bool level1,
			  struct packet *packet, struct switch_actions *actions);
	/* Optional: a result passes a switch on its way down. */
	void (*result_at_switch)(struct pool_server *server, struct aggregators *pool,
				 struct packet *packet);
	/* The server takes a packet, once its host has had the time to add it. */
	void (*at_server)(struct pool_server *server, const struct packet *packet);
	/* Adds contributors to a sum that is not complete. Returns false, and does nothing, if some
	 * of them are in already and so the value is of no use. */
	bool (*add)(struct partial_sums *sums, struct partial_sum *sum, struct bitmap contributors,
		    uint64_t value);
	/* Optional: a worker has declared chunks lost; window_take_lost() names them. Without this
	 * member the worker retransmits them in its turns at the NIC. */
	void (*lost)(struct pool_worker *worker);
	/* Optional: called before a worker sends a new chunk. Returns true if the scheme has sent
	 * the chunk another way. */
	bool (*divert)(struct pool_worker *worker, uint64_t chunk);
	/* Aggregator index of a chunk that a worker is about to send. */
	uint16_t (*index)(struct pool_worker *worker, uint64_t chunk);
	/* Optional: the priority of a chunk that a worker is about to send. */
	uint8_t (*priority)(struct pool_worker *worker, uint64_t chunk);
	/* Optional: begins to free the aggregators that a finished job still owns. Without this
	 * member it is a violation if any are owned at the end of the run. */
	void (*drain)(struct pool_job *job);
	/* Optional: a worker has taken the result of a chunk, for the first time. `packet` is NULL
	 * if a message brought the result. */
	void (*accepted)(struct pool_worker *worker, uint64_t chunk, uint64_t value,
			 const struct packet *packet);
	/* Optional: goes through the scheme's own state, for runs that repeat themselves. Windows
	 * have moved on before this is called. */
	void (*repeat)(struct pool_job *job, struct repeat *repeat);
};

struct pool_scheme {
	struct ina_scheme base;
	struct window_conf window; /* from the parameters; ATP may lower `max` */
	struct crc32 crc;
	struct aggregators *pools; /* by switch */
};

static inline struct pool_scheme *pool_scheme(const struct pool_job *job)
{
	return (struct pool_scheme *)job->base.scheme;
}

static inline const struct pool_ops *pool_ops(const struct pool_job *job)
{
	return (const struct pool_ops *)job->base.scheme->ops;
}

static inline struct pool_job *pool_job(const struct pool_worker *worker)
{
	return (struct pool_job *)worker->base.job;
}

static inline struct pool_worker *pool_worker(const struct pool_job *job, uint32_t w)
{
	return (struct pool_worker *)job->base.workers + w;
}

/* --- packets --- */

/* `seq` of a packet: the low bits of its chunk and, above them, its contributors.
 * `source`: its rack (or RACK_NONE) in bits 0 to 4, its server in bits 5 to 7, its
 * priority from bit 8 on. */
#define POOL_RACK_MASK      31u
#define POOL_SERVER_SHIFT   5
#define POOL_PRIORITY_SHIFT 8

static inline uint64_t pool_seq(uint32_t chunk, struct bitmap bitmap)
{
	return (uint64_t)bitmap.bits << 32 | chunk;
}

static inline uint32_t pool_chunk(const struct packet *packet)
{
	return (uint32_t)packet->seq;
}

static inline struct bitmap pool_bitmap(const struct packet *packet)
{
	return (struct bitmap){ (uint32_t)(packet->seq >> 32), packet->source & POOL_RACK_MASK };
}

static inline uint32_t pool_server_of(const struct packet *packet)
{
	return packet->source >> POOL_SERVER_SHIFT & (POOL_SERVERS_MAX - 1);
}

static inline uint8_t pool_priority(const struct packet *packet)
{
	return (uint8_t)(packet->source >> POOL_PRIORITY_SHIFT);
}

static inline void pool_set_bitmap(struct packet *packet, struct bitmap bitmap)
{
	packet->seq = pool_seq((uint32_t)packet->seq, bitmap);
	packet->source = (uint16_t)((packet->source & ~POOL_RACK_MASK) | bitmap.rack);
}

/* Fills in what all packets from a job's hosts have in common. The caller adds the route. */
void pool_packet(struct packet *packet, const struct pool_server *server, uint64_t chunk,
		 struct bitmap bitmap, uint16_t slot);

/* The server's index of a chunk. */
static inline uint64_t pool_server_index(const struct pool_server *server, uint64_t chunk)
{
	return server->job->base.spec.servers == 1 ? chunk : chunk / server->job->base.spec.servers;
}

static inline uint64_t pool_server_chunk(const struct pool_server *server, uint64_t index)
{
	return index * server->job->base.spec.servers + server->number;
}

static inline struct pool_server *pool_server_of_chunk(const struct pool_job *job, uint64_t chunk)
{
	return &job->servers[job->base.spec.servers == 1 ? 0 : chunk % job->base.spec.servers];
}

/* The full 64-bit chunk number of a packet at a server. */
uint64_t pool_server_packet_chunk(const struct pool_server *server, const struct packet *packet);

/* The oldest chunk whose result some worker lacks. No worker will ask for an older chunk. */
uint64_t pool_oldest(const struct pool_job *job);

/* The sum of a chunk at a server, made if need be; NULL: all workers have the result. */
struct partial_sum *pool_server_entry(struct pool_server *server, uint64_t chunk);

/* The server sends a result towards all workers, with `extra` in place of a bitmap. */
void pool_server_send_result(struct pool_server *server, const struct partial_sum *sum,
			     uint16_t slot, uint8_t flags, uint32_t extra);

/* Sends a result from a switch to the workers and switches below. */
void pool_multicast(const struct pool_server *server, uint32_t sw, const struct packet *result,
		    struct switch_actions *actions);

/* --- aggregators --- */

/* The job takes a free aggregator for the chunk of a packet. */
void pool_take(struct pool_job *job, struct aggregators *pool, struct aggregator *a,
	       const struct packet *packet);
/* Frees an aggregator that has an owner. */
void pool_free(struct pool_scheme *scheme, struct aggregators *pool, struct aggregator *a);

/* Aggregator index of a chunk: from the job's order if it has one, else a hash of job, chunk and
 * salt. */
uint16_t pool_index(const struct pool_job *job, uint64_t chunk, uint16_t salt);

/* pool_index() with salt 0, from the cache if it is there. */
static inline uint16_t pool_known_index(const struct pool_job *job, uint64_t chunk)
{
	struct known_index *known = &job->indices[chunk & (KNOWN_INDICES - 1)];

	if (known->chunk != (uint32_t)chunk)
		*known = (struct known_index){ (uint32_t)chunk, pool_index(job, chunk, 0) };
	return known->index;
}

/* --- pool_conf.c --- */

/* Why a job with too many workers for the bitmaps is refused. */
extern const char pool_too_many_inputs[];

/* Members of struct collective_ops. */
uint32_t pool_servers(uint32_t workers);
extern const char pool_one_memory[]; /* for collective_ops */
const char *pool_refuses(const void *conf, const struct topology_conf *topology, uint32_t workers,
			 uint32_t servers);
void pool_check(const void *conf, const struct topology_conf *topology, struct conf_doc *doc,
		const char *scheme);

/* Two packets may leave because one came. Under ESA these are the sum that the packet preempts and
 * the sum that it completes, in a rack of one worker. Under ATP they are the partial sum that a
 * retransmitted packet flushes, and the packet itself. */
struct collective_burst pool_burst(const void *conf, const struct topology_conf *topology,
				   uint32_t ports);

/* --- for the tables of functions of both schemes --- */

/* `conf` begins with struct pool_conf. */
struct pool_scheme *pool_open(const struct model_env *env, const void *conf,
			      const struct pool_ops *ops, sim_time idle_limit);
void pool_finish(void *instance, bool abandoned);
bool pool_intact(const void *instance, bool links);
void pool_wipe(void *scheme, uint32_t sw);
void pool_stats(const void *instance, struct collective_stats *stats);
void pool_close(void *scheme);

/* Members of struct collective_ops. */
#define POOL_OPS                                                                                   \
	.traits.heeds_marks = true, .traits.first_come = true, .servers = pool_servers,            \
	.refuses = pool_refuses, .traits.one_memory = pool_one_memory, .burst = pool_burst,        \
	.frame = ina_frame, .payload = ina_payload, .check = pool_check, .close = pool_close,      \
	.start = ina_start, .contribute = ina_contribute, .finish = pool_finish,                   \
	.intact = pool_intact, .wipe = pool_wipe, INA_PLAN_OPS, .memory = ina_memory,              \
	.received = ina_received, .report_waiting = ina_report_waiting, .repeat = pool_repeat,     \
	.ran_as = pool_ran_as

struct collective_actual pool_ran_as(const void *instance); /* of struct collective_ops */

/* Members of struct ina_ops, and of its `protocol`. */
void pool_deliver(void *self, uint32_t host, const struct packet *packet);
bool pool_adds_at(const void *self, uint32_t sw, const struct packet *packet);
void pool_at_switch(void *self, uint32_t sw, uint32_t back, struct packet *packet,
		    struct switch_actions *actions);
void pool_reroute(void *self);
bool pool_about(const void *scheme, const struct packet *packet, struct packet_about *about);
void pool_ahead(const void *self, uint32_t node, const struct packet *packet, bool again);
enum nic_pull pool_pull(void *worker, struct packet *packet);
bool pool_admit(void *job, const char **never);
void pool_withdraw(void *job);
void pool_plan(void *job, struct stream_plan *plan); /* pool_plan.c */
void pool_begin(void *job);
void pool_end(void *job);
void pool_contribute(void *worker, uint64_t first, uint64_t chunks);
bool pool_waits(const void *worker, char *text, size_t size);

#define POOL_INA_OPS                                                                               \
	.size = { .scheme = sizeof(struct pool_scheme),                                            \
		  .job = sizeof(struct pool_job),                                                  \
		  .worker = sizeof(struct pool_worker) },                                          \
	.protocol = { .name = "hashed aggregators",                                                \
		      .flags = { "bypass" },                                                       \
		      .deliver = pool_deliver,                                                     \
		      .at_switch = pool_at_switch,                                                 \
		      .adds_at = pool_adds_at,                                                     \
		      .ahead = pool_ahead,                                                         \
		      .reroute = pool_reroute,                                                     \
		      .about = pool_about,                                                         \
		      .stream = ina_stream,                                                        \
		      .repeat = pool_repeat_packet,                                                \
		      .repeats_slot = true },                                                      \
	.pull = pool_pull, .admit = pool_admit, .withdraw = pool_withdraw, .plan = pool_plan,      \
	.begin = pool_begin, .end = pool_end, .contribute = pool_contribute, .waits = pool_waits,  \
	.period = pool_period, .repeat = pool_repeat_job

/* pool_repeat.c */
void pool_repeat(void *scheme, struct repeat *repeat);
uint64_t pool_period(const void *job);
void pool_repeat_job(void *job, struct repeat *repeat);
void pool_repeat_packet(void *scheme, struct repeat *repeat, struct packet *packet);

/* --- pool_worker.c --- */

/* `base` is set before. */
void pool_worker_init(struct pool_worker *worker);
void pool_worker_release(struct pool_worker *worker);
void pool_worker_result(struct pool_worker *worker, const struct packet *packet);
/* The worker takes a result. `packet` is NULL if a message brought it. */
void pool_worker_accept(struct pool_worker *worker, uint64_t chunk, uint64_t value, bool marked,
			const struct packet *packet);

#endif
