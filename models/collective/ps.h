/* Private header of "ps", parameter servers over TCP or RoCE. ps.c says what is modelled.
 *
 *   ps.c         parameters, workers, connections, the members of struct collective_ops
 *   ps_server.c  a server: copies that its host adds, sums that are in flight
 *   ps_repeat.c  the state of all jobs, to skip repeated periods
 *   ps_plan.c    a job as a fluid stream
 *
 * ps.c calls ps_server.c, which calls back ps_sum_ready() when a block is complete. ps_plan.c uses
 * only ps_connection_key() and ps_refuses(). */
#ifndef INASIM_COLLECTIVE_PS_H
#define INASIM_COLLECTIVE_PS_H

#include "collective/collective.h"
#include "collective/tensors.h"
#include "core/repeat.h"

struct ps_conf {
	int transport;
	bytes block;
	int64_t credit; /* 0 = no limit */
	int64_t ack_every;
};

struct ps_scheme {
	struct model_env env;
	const struct ps_conf *conf;
	uint64_t block;  /* bytes of a full block, a multiple of an element */
	struct ps *jobs; /* running jobs, linked by `next` */
};

/* The next block in the stream of one server's shards, tensor by tensor. */
struct cursor {
	uint64_t tensor, block; /* `block`: number within the shard of this tensor */
	uint64_t number;        /* number over all tensors, from 0 */
	uint64_t bytes;         /* bytes of all earlier blocks */
};

/* One direction between a worker and a server. */
struct stream {
	struct ps *ps;
	uint32_t worker, server;
	struct connection conn; /* unless `local` */
	bool local;             /* worker and server are on the same host */
	bool pushing;           /* in push_more() */
	struct cursor to_write; /* the next block to send */
	struct cursor next;     /* the next block to receive */
};

/* A block at its server, from its first copy until all workers have the sum. */
struct block {
	uint64_t sum;
	uint32_t copies;    /* number of copies added */
	uint32_t delivered; /* workers that have the sum */
};

/* A copy that waits for the host to add it. */
struct copy {
	sim_time due;
	uint32_t worker;
	uint32_t way; /* from why_work_begins(), for why_work_ends() */
};

struct server {
	struct ps *ps;
	uint32_t number, host;
	/* Numbers of blocks: */
	uint64_t sent;        /* the sums of all blocks before this one have been sent */
	uint64_t oldest;      /* first block whose sum some worker lacks */
	uint64_t begun;       /* all blocks before this one have at least one copy added */
	uint64_t *added;      /* by worker: its copies of all blocks before this one are added */
	struct block *blocks; /* ring by number, from `oldest` to `begun` */
	uint64_t block_mask;
	struct copy *queue; /* ring of waiting copies, in the order of their times */
	uint64_t queue_first, queue_end, queue_mask;
	struct timer timer;          /* when the first copy is due */
	struct repeat_stream stream; /* of blocks (core/repeat.h) */
};

struct ps_worker {
	uint64_t contributed; /* tensors handed over */
	uint64_t held;        /* the worker has the sums of all tensors before this one */
	uint32_t behind;      /* servers that still owe their shard of tensor `held` */
};

struct ps {
	struct ps_scheme *scheme;
	struct collective_job job;
	struct exact exact;
	struct server *servers;
	struct ps_worker *workers;
	struct stream *push, *pull; /* [worker * servers + server] */
	struct tensor_sizes sizes;
	uint64_t mark; /* next block of server 0 at which ps_mark() is called; UINT64_MAX: never */
	uint64_t distance; /* blocks from mark to mark */
	struct ps *next;
};

/* The number of a block as a chunk in exact.h. */
static inline uint64_t ps_block_name(uint32_t server, uint64_t number)
{
	return (uint64_t)server << 40 | number;
}

static inline struct stream *ps_stream_of(struct stream *streams, const struct ps *ps,
					  uint32_t worker, uint32_t server)
{
	return &streams[(size_t)worker * ps->job.servers + server];
}

/* --- ps_server.c --- */

void ps_server_open(struct ps *ps, uint32_t q);
void ps_server_release(struct server *server);

/* A worker's copy of its next block, of `size` bytes, has arrived. The host adds copies one after
 * the other; without a reduction rate, at once. Adding the last copy of a block calls
 * ps_sum_ready(). */
void ps_server_receive(struct server *server, uint32_t worker, uint64_t size);

/* The sum of a block. The sum has been sent, and some worker lacks it. */
uint64_t ps_server_sum(const struct server *server, uint64_t number);

/* One more worker has the sum of a block. The last worker's call removes the block. */
void ps_server_delivered(struct server *server, uint64_t number);

/* --- ps.c --- */

/* All copies of block `server->sent` have been added. */
void ps_sum_ready(struct server *server);

/* The key (transport/keys.h) of the connection to a server (`push`) or from the server. */
uint64_t ps_connection_key(const struct ps *ps, uint32_t worker, uint32_t server, bool push);

/* Whether the job is too large; if so, sets *never to the reason. */
bool ps_refuses(const struct collective_job *job, const char **never);

/* Bytes from the cursor to the end of its shard. The tensor must have been handed over. */
uint64_t ps_bytes_left(const struct ps *ps, uint32_t server, const struct cursor *at);

/* --- ps_repeat.c --- */

/* Called when a job begins, when server 0 has reached `mark`, and when the job is over. */
void ps_mark_first(struct ps *ps);
void ps_mark(struct ps *ps);
void ps_mark_no_more(struct ps *ps);
/* The member of struct collective_ops. */
void ps_repeat(void *scheme, struct repeat *repeat);

/* --- ps_plan.c --- */

/* The members of struct collective_ops. */
void *ps_plan(void *scheme, const struct collective_job *job, struct stream_plan *plan,
	      const char **never);
void ps_withdraw(void *admitted);

#endif
