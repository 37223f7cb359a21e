/* NetReduce, private to models/ina/netreduce/ and its tests: the state of a job.
 *
 *   netreduce.c         jobs, memory; opens with what is modelled
 *   netreduce_conf.c    parameters
 *   netreduce_worker.c  messages of a worker, packets of its connection
 *   netreduce_switch.c  accelerators: what becomes of a packet at a switch
 *   netreduce_delay.c   the time that an accelerator takes
 *   lookup.h            which packet of which message it is (CLT)
 *   columns.h           what is stored and added up
 *   netreduce_repeat.c  all of that, for runs that repeat themselves
 *
 * Ring i of a job has messages 0, 1, 2 ...; packet `index` of message m is chunk
 *
 *     (m * rings + i) * length + index
 *
 * of the job (ina.h). A tensor is padded to whole messages, equally many on each ring.
 *
 * A packet carries the number of its RoCE connection in `flow`, and its generation. In `seq` it has
 * the PSN (low 24 bits) and, above that, the number of its message. In the first packet of a
 * message that number stands for the INA header, and accelerators read it. In others it only serves
 * to check what they have found by PSN. Packets between switches belong to connection 0 of their
 * ring, and have in `child` 1 + the number of the switch that sent them among the inputs of the
 * next; those of workers have 0. */
#ifndef INASIM_INA_NETREDUCE_NETREDUCE_H
#define INASIM_INA_NETREDUCE_NETREDUCE_H

#include "ina/common/ina.h"
#include "ina/netreduce/columns.h"
#include "ina/netreduce/lookup.h"
#include "transport/connection.h"

/* Flag of its packets, which otherwise are as RoCE's DATA: first of a message, with INA header. */
enum { NETREDUCE_FIRST = ROCE_OWNERS };

#define NETREDUCE_RINGS_MAX 64

enum netreduce_repeats { NETREDUCE_EACH, NETREDUCE_ONCE };
enum netreduce_transport { NETREDUCE_DCQCN, NETREDUCE_LINE_RATE };

struct netreduce_conf {
	bytes memory;
	int64_t window; /* N, messages */
	int64_t length; /* of a message, packets: MsgLen */
	int64_t rings;
	int64_t header; /* bytes of the INA header */
	int64_t ack_every;
	int transport; /* enum netreduce_transport */
	int repeats;   /* enum netreduce_repeats */
	sim_time latency;
	struct roce_conf roce;
};

/* Fits collective_ops.check. */
void netreduce_check(const void *conf, const struct topology_conf *topology, struct conf_doc *doc,
		     const char *scheme);

/* Fits collective_ops.warn. */
void netreduce_warn(const void *conf, const struct topology_conf *topology, uint32_t workers,
		    uint32_t servers, struct conf_doc *doc, const char *pointer);

const struct cc_ops *netreduce_control(const struct netreduce_conf *conf);
const struct transport *netreduce_transport(const void *conf); /* fits collective_ops.transport */

/* Memory of a job at a switch with `rows` inputs, workers or switches: sections 3.1 and 4. */
bytes netreduce_bytes(const struct netreduce_conf *conf, uint32_t rows);

/* Fits collective_ops.refuses. */
const char *netreduce_refuses(const void *conf, const struct topology_conf *topology,
			      const struct machine_conf *machine, uint32_t workers,
			      uint32_t servers);
extern const char netreduce_too_large[];

/* Bytes of a packet, and of the first of a message, which has more headers; FCS included. */
uint32_t netreduce_packet(const struct netreduce_conf *conf);
uint32_t netreduce_frame(const void *conf); /* fits collective_ops.frame */
uint32_t netreduce_payload(const void *conf);

/* Bytes that a worker may have sent without a result, on all rings. */
bytes netreduce_window(const struct netreduce_conf *conf);

/* --- a ring --- */

/* The message of the packet asked for last: most packets belong to the same, or begin the next. */
struct span {
	uint64_t message;
	uint64_t begin; /* its first packet; the first of message 0 is 0 */
};

/* A worker on a ring: its connection to the next rank. Ranks are the numbers of workers. */
struct end {
	struct ring *ring;
	uint32_t rank;
	uint32_t connection;
	uint16_t generation;
	uint32_t node;               /* of the next switch above the worker that adds */
	uint32_t row;                /* of the worker there */
	uint64_t posted;             /* messages, to its own connection */
	uint64_t timeouts;           /* of the connection that --why has been told of */
	uint64_t results;            /* messages that came whole from the rank before */
	struct lookup table;         /* of the connection, at `node` */
	struct span sent, delivered; /* of its packets */
};

/* At a switch: a connection whose destination is one of its inputs. */
struct outlet {
	uint32_t connection;
	uint16_t generation;
	uint32_t row; /* of its source, if that is an input of this switch, too; else TREE_NONE */
};

/* A switch of the tree. Its results go to the workers among its inputs by outlets, and to the
 * switches among them by the ports of sums. A switch that passes has only the ports of sums. */
struct ring_node {
	const struct tree_node *place;
	struct accelerator *accelerator;
	struct columns columns;
	struct outlet *outlets;
	uint32_t *ports; /* of the outlets, then of the sums */
	uint32_t outlet_count;
	uint32_t sum_count;
};

struct ring {
	struct netreduce *job;
	uint32_t number;
	uint64_t first; /* number of the first packet, on all connections (roce.h) */
	struct end *ends;
	struct ring_node *nodes;      /* as those of the tree */
	struct lookup_entry *entries; /* of the tables of all ends */
	/* For runs that repeat themselves: numbers of messages, and `seq` of packets. */
	struct repeat_stream messages, stream;
};

struct netreduce {
	struct ina_job base;
	struct ring *rings;
};

struct netreduce_scheme {
	struct ina_scheme base;
	struct roce *roce;   /* of all its connections */
	sim_time round_trip; /* between hosts, idle, through the top of the network */
	struct end **ends;   /* by connection; NULL when over: late packets find nobody */
	size_t end_count, end_capacity;
	struct accelerator *accelerators; /* by switch */
	struct packet *results; /* scratch: packets that leave together, for the job with most */
	size_t results_capacity;
};

static inline const struct netreduce_conf *netreduce_conf(const struct ina_scheme *scheme)
{
	return scheme->conf;
}

static inline struct netreduce_scheme *netreduce_scheme(const struct netreduce *job)
{
	return (struct netreduce_scheme *)job->base.scheme;
}

/* The connection of a packet; NULL when it is over. */
static inline struct end *netreduce_end(const struct netreduce_scheme *scheme,
					const struct packet *packet)
{
	struct end *end = scheme->ends[packet->flow];

	return end && end->generation == packet->generation ? end : NULL;
}

/* The worker at which the connection ends. */
static inline struct end *netreduce_to(const struct end *from)
{
	const struct ring *ring = from->ring;

	return &ring->ends[from->rank + 1 < ring->job->base.spec.workers ? from->rank + 1 : 0];
}

static inline uint64_t netreduce_chunk(const struct ring *ring, uint64_t message, uint32_t index)
{
	const struct netreduce_conf *conf = netreduce_conf(ring->job->base.scheme);

	return (message * (uint64_t)conf->rings + ring->number) * (uint64_t)conf->length + index;
}

/* --- netreduce_worker.c --- */

void netreduce_end_open(struct ring *ring, uint32_t rank);
void netreduce_end_close(struct end *end);

/* Messages of the ring that the worker has handed over. */
uint64_t netreduce_messages(const struct end *end);

/* Posts what the window allows. */
void netreduce_post(struct end *end);

/* For struct ina_ops. */
void netreduce_contribute(void *worker, uint64_t first, uint64_t chunks);
bool netreduce_waits(const void *worker, char *text, size_t size);

/* --- netreduce_switch.c --- */

/* For struct protocol_ops. */
void netreduce_at_switch(void *scheme, uint32_t sw, uint32_t back, struct packet *packet,
			 struct switch_actions *actions);

/* --- netreduce_delay.c --- */

enum netreduce_way {
	NETREDUCE_UP,      /* to the parent */
	NETREDUCE_DOWN,    /* to all */
	NETREDUCE_OWN,     /* to the destination of its connection, an outlet */
	NETREDUCE_RESULTS, /* to all; outlets get the flags of their connections' own packets */
};

struct held {
	sim_time due;
	struct packet packet;
	uint32_t column; /* NETREDUCE_RESULTS */
	uint32_t back;   /* of the packet that this answers, as in protocol_ops.at_switch */
	enum netreduce_way way;
};

/* The accelerator of a switch, for all jobs. */
struct accelerator {
	struct netreduce_scheme *scheme;
	struct collective_memory *memory; /* not owned */
	uint32_t sw;
	struct held *held; /* a ring by number: held_head .. held_end - 1 */
	uint64_t held_head, held_end, held_mask;
	struct timer timer;
};

void accelerator_init(struct accelerator *accelerator, struct netreduce_scheme *scheme,
		      uint32_t sw);
void accelerator_release(struct accelerator *accelerator);

/* *what leaves after the accelerator's latency. All of it but `due` is set. */
void accelerator_send(struct accelerator *accelerator, const struct held *what);

/* --- netreduce_repeat.c --- */

/* For struct ina_ops, struct protocol_ops, struct collective_ops. */
uint64_t netreduce_period(const void *job);
void netreduce_repeat_job(void *job, struct repeat *repeat);
const struct repeat_stream *netreduce_stream(const void *scheme, const struct packet *packet);
void netreduce_repeat_packet(void *scheme, struct repeat *repeat, struct packet *packet);
void netreduce_repeat(void *scheme, struct repeat *repeat);

#endif
