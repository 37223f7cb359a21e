/* SwitchML, private to models/ina/switchml/ and its tests: the state of a job.
 *
 *   switchml.c         jobs, switch memory; its top says what is modelled
 *   switchml_conf.c    parameters, packet formats
 *   switchml_switch.c  algorithm 3 and its hierarchy: slots
 *   switchml_worker.c  algorithm 4: sending, timers, tensors
 *   switchml_repeat.c  the state of a job, for runs that repeat themselves
 *   ps_stream.c        the same packets to hosts that do the switch's work
 *
 * Chunk g of a job's whole stream of tensors uses slot g mod s in version floor(g / s) mod 2, at
 * all workers and switches. A message of m packets uses m slots in a row, the first a multiple of
 * m. These slots move on to their next chunks together. */
#ifndef INASIM_INA_SWITCHML_SWITCHML_H
#define INASIM_INA_SWITCHML_SWITCHML_H

#include "core/alarm.h"
#include "ina/common/ina.h"
#include "ina/common/rto.h"

#define SWITCHML_VERSIONS  2               /* the pool and its shadow copy */
#define SWITCHML_SLOTS_MAX 65536           /* width of packet.slot */
#define SWITCHML_NONE      UINT32_MAX      /* no slot */
#define SWITCHML_GAP       UINT8_MAX       /* see node.next */
#define SWITCHML_ALONE     (UINT8_MAX - 1) /* see node.next */

/* In packet.own: 1 + the input that a result is for; 0 = all. */
enum { SWITCHML_INPUT };

/* Flags of packets. */
enum {
	SWITCHML_VERSION = PACKET_OWN(0), /* `ver` */
	/* With adaptive timeouts: this contribution or sum has waited for a worker's timeout, so
	 * its round trip is no sample. */
	SWITCHML_LATE = PACKET_OWN(1),
};

struct switchml_conf {
	bytes memory;
	int64_t tenants; /* 0 = memory is not split */
	int admission;   /* enum switchml_admission */
	int slots_form;  /* enum slots_form */
	int64_t slots;
	int slots_rule; /* enum slots_rule */
	int format;     /* enum switchml_formats */
	int64_t message;
	int64_t elements_per_packet, header, switch_elements; /* 0 = as the format says */
	struct rto_conf timeout;
};
enum switchml_formats { FORMAT_S19, FORMAT_MTU, FORMAT_32, FORMAT_64, FORMAT_256, FORMAT_RDMA };
enum switchml_admission { ADMISSION_QUEUE, ADMISSION_REFUSE };
enum slots_form { SLOTS_NUMBER, SLOTS_RULE };
enum slots_rule { SLOTS_BDP, SLOTS_MEMORY };

/* A packet format, of the paper or of the public code. */
struct switchml_format {
	int64_t elements, header; /* header: all bytes of a frame besides the elements */
	int64_t switch_elements;  /* elements that the switch adds and keeps */
	uint32_t message;         /* packets of a message */
	bool rdma;                /* the first and last packets of a message have more headers */
};

/* --- at switches --- */

enum slot_state {
	SLOT_PARTIAL, /* contributions are missing */
	SLOT_SENT_UP, /* complete below this switch; the parent has been told */
	SLOT_DONE,    /* holds the result */
};

/* One version of a slot at one switch. It keeps its value until the first contribution to its next
 * chunk, 2 s chunks later. */
struct slot {
	uint64_t chunk;
	uint64_t value;
	uint32_t count; /* inputs that have contributed */
	uint8_t state;  /* enum slot_state */
	uint8_t late;   /* SWITCHML_LATE if a contribution had that flag, else 0 */
};

/* A switch of the tree. */
struct node {
	struct ina_node base;
	struct slot *slots; /* [2 * slot + version] */
	uint64_t *seen;     /* [(2 * slot + version) * words], a bit per input */
	uint32_t words;
	/* Where messages have several packets, the packet of the message that may come next, at
	 * [slot / message * inputs + input]. SWITCHML_GAP: only the first, because a packet was
	 * missing. SWITCHML_ALONE: any, because the child is a switch. */
	uint8_t *next;
};

/* --- at workers --- */

enum worker_slot_state {
	WORKER_SLOT_IDLE,    /* its chunk has not been handed over */
	WORKER_SLOT_READY,   /* its chunk waits for the NIC: in `ready` */
	WORKER_SLOT_SENT,    /* its chunk awaits the result: in `sent` */
	WORKER_SLOT_EXPIRED, /* its timer has run out; it waits for the NIC: in `ready` */
};

struct worker_slot {
	uint64_t chunk; /* the slot's next chunk without a result */
	sim_time sent;
	uint32_t previous, following; /* neighbours in `ready` or `sent` */
	uint8_t state;                /* enum worker_slot_state */
	uint8_t version;              /* of `chunk` */
	bool again;                   /* sent twice, so its round trip is no sample */
	bool late;   /* the last result was a repair: others sent `chunk` long ago */
	bool held;   /* its result has come, but the message is not complete */
	uint8_t got; /* in a message's first slot: results that came in order */
};

static_assert(sizeof(struct worker_slot) == 32, "two to a line of cache");

struct worker_list {
	uint32_t first, last; /* slots, or SWITCHML_NONE */
};

struct worker {
	struct ina_worker base;
	struct worker_slot *slots;
	struct worker_list ready; /* in the order of sending */
	struct worker_list sent;  /* oldest first, which is the next to expire */
	uint16_t child;           /* the worker's number among the inputs of the next adding node */
	struct rto rto;
	struct alarm alarm; /* for the oldest in `sent` */
	uint64_t overtaken; /* results that came before the retransmission could leave */
} __attribute__((aligned(64)));

struct ps_servers;

/* One job. */
struct switchml {
	struct ina_job base;
	struct ps_servers *servers; /* of ps_stream, which has no tree; else NULL */
	uint32_t slots;
	struct switchml_format format;
};

static inline const struct switchml_conf *switchml_conf(const struct ina_job *job)
{
	return job->scheme->conf;
}

static inline struct switchml *switchml_of(const struct worker *worker)
{
	return (struct switchml *)worker->base.job;
}

static inline struct worker *switchml_worker(const struct switchml *job, uint32_t w)
{
	return (struct worker *)job->base.workers + w;
}

/* --- parameters --- */

extern const struct conf_table switchml_table,
	ps_stream_table; /* named by collective/schemes.c, too */

/* Further header bytes of the first packet of an RDMA message (RETH) and of the last (immediate
 * data). */
#define SWITCHML_FIRST_HEADER 16
#define SWITCHML_LAST_HEADER  4

/* The format that the user chose, with the parts that the user gave in place of its own. */
struct switchml_format switchml_format_of(const struct switchml_conf *conf);

/* Bytes of a packet of a message, by its number: packet 0 is the largest. */
uint32_t switchml_frame(const struct switchml_format *format, uint32_t packet);
/* A packet in the middle of a message, where headers are shortest. */
static inline uint32_t switchml_min_frame(const struct switchml_format *format)
{
	return switchml_frame(format, format->message > 1);
}
uint32_t switchml_conf_frame(const void *conf); /* for collective_ops.frame */
uint32_t switchml_conf_payload(const void *conf);

/* Switch memory of a slot: its values in both versions. */
uint64_t switchml_slot_bytes(const struct switchml_conf *conf);

/* How much of a switch's memory one job may have. */
uint64_t switchml_share(const struct switchml_conf *conf, bytes memory);

/* For collective_ops.idle of both schemes. */
size_t switchml_idle(const void *conf, struct collective_idle list[COLLECTIVE_IDLE_MAX]);

void switchml_check(const void *conf, const struct topology_conf *topology, struct conf_doc *doc,
		    const char *scheme);

/* --- what SwitchML and ps_stream share --- */

void *switchml_open_as(const struct ina_ops *ops, const struct model_env *env, const void *conf);

/* Slots that cover a round trip (section 3.6) at the rate of the slowest worker's link, which no
 * worker exceeds for long: ceil(BDP / b) raised to a power of two, at most SWITCHML_SLOTS_MAX. As
 * in the paper, b is the frame without preamble and gap. */
uint64_t switchml_slots_for(const struct switchml *job, sim_time round_trip_time);

/* Set up and release all workers. */
void switchml_workers_begin(struct switchml *job);
void switchml_workers_end(struct switchml *job);

/* For collective_ops.slots. */
uint64_t switchml_slots(const void *instance);

/* ps_stream.c: whether the server of a slot is on the worker's own host. If so, hand packets over
 * without the network; if not, address them to the server. */
bool ps_stream_local(const struct worker *worker, uint32_t slot);
void ps_stream_hand_over(struct worker *worker, const struct packet *packet);
void ps_stream_address(const struct worker *worker, struct packet *packet);

/* --- rules of the protocol --- */

/* Makes a node's slots, all empty. Workers below send messages of `message` packets. */
void switchml_node_init(struct node *node, uint32_t slots, uint32_t message);
/* Notes that this child of the node is a switch, whose packets may come in any order. */
void switchml_child_sends_alone(struct node *node, uint32_t child, uint32_t slots,
				uint32_t message);
void switchml_node_release(struct node *node);

/* Whether the child that sent the packet has contributed to its slot and version before. `seen` is
 * laid out as in struct node. */
bool switchml_seen(const uint64_t *seen, uint32_t words, const struct packet *packet);

/* Notes that the child has contributed to this version of the slot. The child then has the other
 * version's result, so its bit there is cleared. */
void switchml_mark(uint64_t *seen, uint32_t words, const struct packet *packet);

/* A contribution on its way up, or a result on its way down, has reached a switch. */
void switchml_at_node(struct switchml *job, struct node *node, const struct packet *packet,
		      struct switch_actions *actions);

/* `base` and `child` are set. */
void switchml_worker_init(struct worker *worker);
void switchml_worker_release(struct worker *worker);
void switchml_worker_result(struct worker *worker, const struct packet *packet);

/* switchml_repeat.c. Members of struct ina_ops. */
uint64_t switchml_period(const void *job);
void switchml_repeat(void *job, struct repeat *repeat);

/* Members of struct ina_ops. */
enum nic_pull switchml_pull(void *worker, struct packet *packet);
void switchml_contribute(void *worker, uint64_t first, uint64_t chunks);
bool switchml_waits(const void *worker, char *text, size_t size);

#endif
