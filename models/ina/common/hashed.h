/* What ATP and ESA share: jobs whose gradient packets meet in hashed aggregators
 * that all jobs of the scheme share, with one or more parameter servers a job
 * behind them.
 *
 *   hashed_conf.*    parameters, and what they have to be
 *   hashed.c         jobs, packets at switches and hosts
 *   hashed_worker.c  sending, results, timers
 *   hashed_plan.c    a job as fluid streams
 *   atp*.c, esa*.c   what switches and servers do: struct hashed_ops
 *
 * Job, piece, aggregator index, contributors (as a bitmap of one level, racks.h),
 * server and priority ride in every packet; see packet_*() below. Piece p of the
 * stream of tensors belongs to server p mod servers. Piece numbers have 32 bits on
 * the wire and 64 at hosts. */
#ifndef INASIM_INA_COMMON_HASHED_H
#define INASIM_INA_COMMON_HASHED_H

#include "collective/collective.h"
#include "collective/tensors.h"
#include "ina/common/aggregators.h"
#include "ina/common/hashed_conf.h"
#include "ina/common/outbox.h"
#include "ina/common/partial_sums.h"
#include "ina/common/racks.h"

#define HASHED_SERVERS_MAX 8 /* a job; three bits of a packet */

struct hashed_job;

/* Packets that have reached a server and wait until its host has added what came
 * before: only where the host's reduction rate is limited. Who is in `arrived` is known by
 * bitmap as soon as a packet is here, so only one that brings somebody new takes time. */
struct inbox {
	struct waiting {
		struct packet packet;
		sim_time due;
	} * ring;
	uint64_t head, count, mask;
	struct partial_sums arrived; /* with what waits; values mean nothing. Made when needed */
	struct timer timer;
};

/* A server of a job, and the job's switches as seen from there. */
struct hashed_server {
	struct hashed_job *job;
	uint32_t number;
	struct racks racks;
	struct partial_sums sums;
	struct inbox inbox;
	struct outbox outbox;
	uint64_t packets, frame_bytes; /* received from switches */
	void *state;                   /* the scheme's; owned by it */
};

struct hashed_worker {
	struct hashed_job *job;
	void *state;    /* the scheme's; owned by it */
	sim_time armed; /* when the timer runs; SIM_TIME_MAX = not set */
	uint32_t number, host;
	struct nic_source source;
	struct window window;
	struct timer timer;
	uint64_t retransmissions, stale, reminders;
} __attribute__((aligned(64)));

static_assert(offsetof(struct hashed_worker, window) == 64, "the window has lines of its own");

/* The hash of a piece; all workers of a job need the same within a window. */
#define KNOWN_INDICES 1024 /* a power of two */
struct known_index {
	uint32_t piece;
	uint16_t index;
};

/* One job. Packets carry its number in the scheme in `flow`. */
struct hashed_job {
	struct hashed_scheme *scheme;
	struct collective_job job;
	struct exact exact;
	struct tensors tensors;
	struct hashed_server *servers;
	struct hashed_worker *workers;
	uint32_t *worker_of_host;    /* UINT32_MAX = none */
	struct known_index *indices; /* of pieces lately sent: piece p at [p & KNOWN_INDICES - 1] */
	uint32_t number;
	uint16_t frame; /* bytes of a packet, FCS included */
	uint64_t held;  /* aggregators that it owns now */
	bool over;      /* finished; still here because it owned some then */
	void *state;    /* the scheme's; owned by it */
};

/* What makes a scheme. Packets are those of the job at hand. */
struct hashed_ops {
	const char *name, *title; /* "atp", "ATP" */
	bool through_server;      /* results come from the server, not from the last switch */
	/* State of a job, after everything else is in place, and its end. */
	void (*start)(struct hashed_job *job);
	void (*release)(struct hashed_job *job);
	/* A packet on its way up has reached a switch where it may be added: level 0
	 * (it names its rack) or level 1. */
	void (*at_switch)(struct hashed_server *server, struct aggregators *pool, bool level1,
			  struct packet *packet, struct switch_actions *actions);
	/* Optional: a result passes a switch on its way down. */
	void (*result_at_switch)(struct hashed_server *server, struct aggregators *pool,
				 struct packet *packet);
	/* A packet for the server has reached its host, which has added what came before. */
	void (*at_server)(struct hashed_server *server, const struct packet *packet);
	/* Adds contributors to a sum that is not complete; false when it cannot use them, as some
	 * of them are in. */
	bool (*add)(struct partial_sums *sums, struct partial_sum *sum, struct bitmap contributors,
		    uint64_t value);
	/* A piece seems lost to a worker: it is among window_take_lost(), which a worker's
	 * turn at the NIC takes from, too. */
	void (*lost)(struct hashed_worker *worker);
	/* Optional: a worker is about to send a piece for the first time; true when it has
	 * gone another way instead. */
	bool (*divert)(struct hashed_worker *worker, uint64_t piece);
	/* Aggregator of a piece that a worker is about to send. */
	uint16_t (*index)(struct hashed_worker *worker, uint64_t piece);
	/* Optional. */
	uint8_t (*priority)(struct hashed_worker *worker, uint64_t piece);
	/* Optional: the job is over, but aggregators still hold packets of it. They get freed
	 * nevertheless; without this member that is a violation. */
	void (*drain)(struct hashed_job *job);
	/* Optional: a worker has taken the result of a piece, for the first time. `packet`
	 * brought it, or is NULL. */
	void (*accepted)(struct hashed_worker *worker, uint64_t piece, uint64_t value,
			 const struct packet *packet);
};

struct hashed_scheme {
	struct model_env env;
	const struct hashed_conf *conf;
	struct window_conf window; /* of conf; the scheme may narrow it */
	const struct hashed_ops *ops;
	struct crc32 crc;
	uint8_t protocol;
	struct hashed_job **jobs; /* by number; NULL when over: late packets find nobody */
	size_t job_count, job_capacity;
	struct collective_memory *memory; /* by switch */
	struct aggregators *pools;        /* by switch */
};

/* --- packets --- */

static inline uint32_t packet_piece(const struct packet *packet)
{
	return (uint32_t)packet->seq;
}

static inline struct bitmap packet_bitmap(const struct packet *packet)
{
	return (struct bitmap){ (uint32_t)(packet->seq >> 32), packet->source & 31 };
}

static inline uint32_t packet_server(const struct packet *packet)
{
	return packet->source >> 5 & 7;
}

static inline uint8_t packet_priority(const struct packet *packet)
{
	return (uint8_t)(packet->source >> 8);
}

static inline void packet_set_bitmap(struct packet *packet, struct bitmap bitmap)
{
	packet->seq = (uint64_t)bitmap.bits << 32 | (uint32_t)packet->seq;
	packet->source = (uint16_t)((packet->source & ~31u) | bitmap.rack);
}

/* A packet of a job, from a host, with what all have in common; no route yet. */
struct packet hashed_packet(const struct hashed_server *server, uint64_t piece,
			    struct bitmap bitmap, uint16_t slot);

/* The server's index of a piece. */
static inline uint64_t server_index(const struct hashed_server *server, uint64_t piece)
{
	return server->job->job.servers == 1 ? piece : piece / server->job->job.servers;
}

static inline uint64_t server_piece(const struct hashed_server *server, uint64_t index)
{
	return index * server->job->job.servers + server->number;
}

static inline struct hashed_server *server_of_piece(const struct hashed_job *job, uint64_t piece)
{
	return &job->servers[job->job.servers == 1 ? 0 : piece % job->job.servers];
}

/* The piece of a packet at a server: all its 64 bits. */
uint64_t server_packet_piece(const struct hashed_server *server, const struct packet *packet);

/* The entry of a piece at a server, new if need be; NULL when it is long over: all
 * workers hold the result. */
struct partial_sum *server_entry(struct hashed_server *server, uint64_t piece);

/* The server sends a result towards all workers. */
void server_send_result(struct hashed_server *server, const struct partial_sum *sum, uint16_t slot,
			uint8_t flags, uint32_t extra);

/* A result leaves a switch for the workers, or for the switches below. */
void hashed_multicast(const struct hashed_server *server, uint32_t sw, const struct packet *result,
		      struct switch_actions *actions);

/* --- aggregators --- */

/* The job takes a free aggregator for the piece of a packet; its owner gives it up. */
void hashed_take(struct hashed_job *job, struct aggregators *pool, struct aggregator *a,
		 const struct packet *packet);
void hashed_free(struct hashed_scheme *scheme, struct aggregators *pool, struct aggregator *a);

/* Garbage collection: an owner that has gone silent gives it up. False when it stays. */
bool hashed_collect(struct hashed_scheme *scheme, struct aggregators *pool, struct aggregator *a);

/* ATP's index: a hash of job and piece. */
uint16_t hashed_index(const struct hashed_job *job, uint64_t piece, uint16_t salt);

/* The same without salt, remembered. */
static inline uint16_t hashed_known_index(const struct hashed_job *job, uint64_t piece)
{
	struct known_index *known = &job->indices[piece & (KNOWN_INDICES - 1)];

	if (known->piece != (uint32_t)piece)
		*known = (struct known_index){ (uint32_t)piece, hashed_index(job, piece, 0) };
	return known->index;
}

/* --- hashed_conf.c --- */

/* Why a job is refused that bitmaps have no room for. */
extern const char hashed_too_many_inputs[];

/* Bytes of a packet, FCS included. */
uint32_t hashed_frame(const void *conf);

/* Members of struct collective_ops. */
uint32_t hashed_servers(uint32_t workers);
const char *hashed_refuses(const struct topology_conf *topology, uint32_t workers,
			   uint32_t servers);
void hashed_check(const struct hashed_conf *conf, const char *name, struct conf_doc *doc);

/* A packet may make an aggregator's owner leave and complete the sum that takes its place (ESA, a
 * rack of one worker), or leave itself beside what the aggregator held (ATP, sent again). */
struct collective_burst hashed_burst(const void *conf, const struct topology_conf *topology,
				     uint32_t ports);

/* --- the life of jobs; what the ops table of a scheme is made of --- */

struct hashed_scheme *hashed_open(const struct model_env *env, const struct hashed_conf *conf,
				  const struct hashed_ops *ops, sim_time idle_limit);
void hashed_close(void *scheme);
void *hashed_start(void *scheme, const struct collective_job *job, const char **never);
void hashed_contribute(void *instance, uint32_t worker, bytes size);
void hashed_finish(void *instance);
void hashed_stats(const void *instance, struct collective_stats *stats);
size_t hashed_memory(void *scheme, const struct collective_memory **list);
void hashed_report_waiting(const void *instance, FILE *to, size_t limit);

/* Members of struct collective_ops that both schemes have. Packets took so many times as long as
 * fluid beside flows: models/fluid/findings.md. */
#define HASHED_OPS                                                                                 \
	.heeds_marks = true, .first_come = true,                                                   \
	.beside = { .flows = "4 to 8", .many = "1.6 to 2.1" }, .servers = hashed_servers,          \
	.refuses = hashed_refuses, .burst = hashed_burst, .frame = hashed_frame,                   \
	.close = hashed_close, .start = hashed_start, .contribute = hashed_contribute,             \
	.finish = hashed_finish, .plan = hashed_plan, .withdraw = hashed_withdraw,                 \
	.memory = hashed_memory, .report_waiting = hashed_report_waiting

/* hashed_plan.c */
void *hashed_plan(void *scheme, const struct collective_job *job, struct stream_plan *plan,
		  const char **never);
void hashed_withdraw(void *admitted);

/* A job with its servers, but without workers; NULL and *never when it cannot be expressed in ATP's
 * header. */
struct hashed_job *hashed_new(struct hashed_scheme *scheme, const struct collective_job *spec,
			      const char **never);
void hashed_free_new(struct hashed_job *job);

/* Breaks the run off: a rule of the protocol does not hold at `node`. */
void hashed_violated(const struct hashed_job *job, uint32_t node, uint64_t piece, const char *what);

/* --- hashed_worker.c; `job`, `number` and `host` are set --- */

void hashed_worker_init(struct hashed_worker *worker);
void hashed_worker_release(struct hashed_worker *worker);
void hashed_worker_contribute(struct hashed_worker *worker, uint64_t pieces);
void hashed_worker_result(struct hashed_worker *worker, const struct packet *packet);
/* A result, by whatever way it came. */
void hashed_worker_accept(struct hashed_worker *worker, uint64_t piece, uint64_t value, bool marked,
			  const struct packet *packet);
void hashed_worker_wake(struct hashed_worker *worker);

#endif
