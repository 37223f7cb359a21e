/* The inside of "ps", parameter servers over TCP or RoCE: for ps*.c alone.
 *
 *   ps.c         parameters, workers, connections, the members of struct collective_ops
 *   ps_server.c  what a server holds: copies that its host adds, sums that are on their way
 *   ps_repeat.c  their state, for runs that repeat themselves
 *   ps_plan.c    a job as a fluid stream
 *
 * ps.c calls ps_server.c, which calls back only ps_sum_ready(): the server knows when a block is
 * complete, and ps.c to whom its sum goes. ps_plan.c only uses the keys of connections, and refuses
 * the same jobs.
 *
 * ps.c says what is modelled. */
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
	struct ps *jobs; /* those running, linked by `next` */
};

/* The next block in the stream of one server's shards, tensor by tensor. */
struct cursor {
	uint64_t tensor, block; /* `block`: its number within the shard */
	uint64_t number;        /* over all tensors, from 0 */
	uint64_t bytes;         /* of all blocks before */
};

/* One direction between a worker and a server. */
struct stream {
	struct ps *ps;
	uint32_t worker, server;
	struct connection conn; /* unless `local` */
	bool local;             /* both are on one host */
	bool pushing;           /* in push_more() */
	struct cursor to_write; /* the next block that the sender writes */
	struct cursor next;     /* the next block that the receiver takes */
};

/* A block at its server, from its first copy until all workers have the sum. */
struct block {
	uint64_t sum;
	uint32_t copies;    /* added */
	uint32_t delivered; /* workers that have the sum */
};

/* A copy that waits for the host to add it. */
struct copy {
	sim_time due;
	uint32_t worker;
	uint32_t way; /* from why_works(), for why_worked() */
};

struct server {
	struct ps *ps;
	uint32_t number, host;
	uint64_t sent;        /* the sums of this many blocks, from 0 on, have been sent */
	uint64_t oldest;      /* first block whose sum some worker lacks */
	uint64_t begun;       /* this many blocks, from 0 on, have a copy that has been added */
	uint64_t *added;      /* by worker: how many of its copies have been added */
	struct block *blocks; /* ring by number, from `oldest` to `begun` */
	uint64_t block_mask;
	struct copy *queue; /* ring of waiting copies, in the order of their times */
	uint64_t queue_first, queue_end, queue_mask;
	struct timer timer;          /* when the first copy is due */
	struct repeat_stream stream; /* of blocks, for runs that repeat themselves */
};

struct ps_worker {
	uint64_t contributed; /* tensors handed over */
	uint64_t held;        /* it has the sums of this many tensors, from 0 on */
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
	uint64_t mark; /* block of server 0 at which to look for repetition; UINT64_MAX = none */
	uint64_t distance; /* blocks from mark to mark */
	struct ps *next;
};

/* The chunk number under which exact.h checks a block. */
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

/* A worker's copy of its next block, of `size` bytes, has come. The host adds it when its turn
 * comes; without a reduction rate, at once. The last copy of a block calls ps_sum_ready(). */
void ps_server_receive(struct server *server, uint32_t worker, uint64_t size);

/* The sum of a block that has been sent and that some worker lacks. */
uint64_t ps_server_sum(const struct server *server, uint64_t number);

/* One more worker has the sum of a block. The last worker ends the block. */
void ps_server_delivered(struct server *server, uint64_t number);

/* --- ps.c --- */

/* All copies of the server's next block have been added. */
void ps_sum_ready(struct server *server);

/* The key (transport/keys.h) of the connection to a server (`push`) or back from it. */
uint64_t ps_connection_key(const struct ps *ps, uint32_t worker, uint32_t server, bool push);

/* Whether the job is too large; then *never says why. */
bool ps_refuses(const struct collective_job *job, const char **never);

/* Bytes of the cursor's shard from the cursor on. The tensor has been handed over. */
uint64_t ps_bytes_left(const struct ps *ps, uint32_t server, const struct cursor *at);

/* --- ps_repeat.c --- */

/* Called when a job begins, when server 0 has come to its mark, and when the job is over. */
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
