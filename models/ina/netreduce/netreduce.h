/* NetReduce, private to models/ina/netreduce/ and its tests: the state of a job.
 *
 *   netreduce.c         jobs, memory; its top says what is modelled
 *   netreduce_conf.c    parameters
 *   netreduce_worker.c  messages of a worker, packets of its connection
 *   netreduce_switch.c  accelerators: packets at a switch
 *   netreduce_delay.c   the time that an accelerator takes
 *   lookup.h            the message of a packet (CLT)
 *   columns.h           packets that an accelerator keeps, and their sums
 *   netreduce_repeat.c  the state of jobs, for runs that repeat themselves
 *
 * Ring i of a job has messages 0, 1, 2 ...; packet `index` of message m is chunk
 *
 *     (m * rings + i) * length + index
 *
 * of the job (ina.h). A tensor is padded to whole messages, equally many on each ring.
 *
 * A packet carries the number of its RoCE connection in `flow`, and its generation. `seq` has the
 * PSN (low 24 bits) and, above it, the number of the message. In the first packet of a message that
 * number stands for the INA header, and accelerators read it. In other packets of workers it only
 * serves to check the message found by PSN. Packets between switches belong to connection 0 of
 * their ring, and accelerators read the number in all of them. `tag` is 0 in packets from and to
 * workers. Between switches it is not 0; in a packet up it is 1 + the number of the sender among
 * the inputs of the next switch. */
#ifndef INASIM_INA_NETREDUCE_NETREDUCE_H
#define INASIM_INA_NETREDUCE_NETREDUCE_H

#include "ina/common/ina.h"
#include "ina/netreduce/columns.h"
#include "ina/netreduce/lookup.h"
#include "transport/connection.h"

/* Flag of the first packet of a message, with the INA header. Other flags are those of RoCE's
 * DATA. */
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

/* For collective_ops.check. */
void netreduce_check(const void *conf, const struct topology_conf *topology, struct conf_doc *doc,
		     const char *scheme);

/* For collective_ops.warn. */
void netreduce_warn(const void *conf, const struct topology_conf *topology, uint32_t workers,
		    uint32_t servers, struct conf_doc *doc, const char *pointer);

const struct cc_ops *netreduce_control(const struct netreduce_conf *conf);
const struct transport *netreduce_transport(const void *conf); /* for collective_ops */

/* Memory of a job at a switch with `rows` inputs (workers or switches): sections 3.1 and 4. */
bytes netreduce_bytes(const struct netreduce_conf *conf, uint32_t rows);

/* For collective_ops.refuses. */
const char *netreduce_refuses(const void *conf, const struct topology_conf *topology,
			      uint32_t workers, uint32_t servers);
extern const char netreduce_too_large[];

/* Bytes of a packet, FCS included. netreduce_frame() is for the first packet of a message, which
 * has more headers. */
uint32_t netreduce_packet(const struct netreduce_conf *conf);
uint32_t netreduce_frame(const void *conf); /* for collective_ops.frame */
uint32_t netreduce_payload(const void *conf);

/* Bytes that a worker may have sent without a result, on all rings. */
bytes netreduce_window(const struct netreduce_conf *conf);

/* --- a ring --- */

/* A cached message: most packets belong to the message of the packet before, or begin the next. */
struct span {
	uint64_t message;
	uint64_t begin; /* number of its first packet; 0 for message 0 */
};

/* A worker on a ring: its connection to the next rank. Ranks are the numbers of workers. */
struct end {
	struct ring *ring;
	uint32_t rank;
	uint32_t connection;
	uint16_t generation;
	uint32_t node;               /* of the next adding switch above the worker */
	uint32_t row;                /* of the worker at `node` */
	uint64_t posted;             /* messages given to its own connection */
	uint64_t timeouts;           /* of the connection, as far as --why has been told */
	uint64_t results;            /* complete messages from the rank before */
	struct lookup table;         /* of the connection, at `node` */
	struct span sent, delivered; /* of packets of the connection */
};

/* At a switch: a connection whose destination is one of its inputs. */
struct outlet {
	uint32_t connection;
	uint16_t generation;
	uint32_t row; /* of its source; TREE_NONE if that is no input of this switch */
};

/* A switch of the tree. Results go by outlets to workers among its inputs, and by the ports of sums
 * to switches. A switch that only forwards has no outlets. */
struct ring_node {
	const struct tree_node *place;
	struct accelerator *accelerator;
	struct columns columns;
	struct outlet *outlets;
	uint32_t *ports; /* ports of the outlets, then ports of sums */
	uint32_t outlet_count;
	uint32_t sum_count;
};

struct ring {
	struct netreduce *job;
	uint32_t number;
	uint64_t first; /* number of the first packet, on all connections (roce.h) */
	struct end *ends;
	struct ring_node *nodes;      /* by node of the tree */
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
	struct roce *roce;   /* all connections of the scheme */
	sim_time round_trip; /* from a host to the root and back, see round_trip() */
	struct end **ends;   /* by connection; NULL once it is closed */
	size_t end_count, end_capacity;
	struct accelerator *accelerators; /* by switch */
	struct packet *results;           /* scratch, for the packets that leave together */
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

/* The connection of a packet; NULL once it is closed. */
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

/* How many messages of the ring the worker has handed over. */
uint64_t netreduce_messages(const struct end *end);

/* Gives the connection the messages that the window allows. */
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
	NETREDUCE_OWN,     /* to the destination of the packet's connection */
	NETREDUCE_RESULTS, /* to all; outlets get the flags of their own packets */
};

struct held {
	sim_time due;
	struct packet packet;
	uint32_t column; /* NETREDUCE_RESULTS */
	uint32_t back;   /* of the packet that this answers, from at_switch() */
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

/* Sends a copy of *what after the accelerator's latency. The caller sets all but `due`. */
void accelerator_send(struct accelerator *accelerator, const struct held *what);

/* --- netreduce_repeat.c --- */

/* For struct ina_ops, struct protocol_ops, struct collective_ops. */
uint64_t netreduce_period(const void *job);
void netreduce_repeat_job(void *job, struct repeat *repeat);
const struct repeat_stream *netreduce_stream(const void *scheme, const struct packet *packet);
void netreduce_repeat_packet(void *scheme, struct repeat *repeat, struct packet *packet);
void netreduce_repeat(void *scheme, struct repeat *repeat);

#endif
