/* An all-reduce as data: the streams that it puts on the network, without packets.
 *
 * A plan is made for a job on given hosts. Each stream carries a part of every tensor over a set of
 * links at one rate, as in a pipeline: over the tree of an aggregation, over all edges of a ring,
 * or between all pairs of workers and servers. The fluid engine runs plans (models/fluid); the
 * closed form of an idle network is made of them, too.
 *
 * Links are egress ports of the network. All rates count bytes on the wire, preamble and gap
 * included where the topology has them. */
#ifndef INASIM_COLLECTIVE_PLAN_H
#define INASIM_COLLECTIVE_PLAN_H

#include "collective/reducer.h"
#include "topo/tree.h"
#include "transport/tcp.h"

struct collective_job;

struct plan_link {
	uint32_t link;
	uint32_t weight; /* bytes on the link for each byte of the stream */
};

/* The time of a frame on an idle path. The jitter of each link is taken at its longest, because a
 * job waits for the slowest of its many hosts. */
struct plan_path {
	sim_time sum;     /* transmission, latency and jitter of all links */
	sim_time slowest; /* transmission on the slowest link alone */
};

/* How a part of a tensor becomes packets. */
struct plan_packets {
	double messages;   /* that a tensor makes on each link, one after the other */
	double fraction;   /* of the tensor's bytes that is in each message */
	uint32_t payload;  /* bytes of a full packet */
	uint32_t overhead; /* bytes on the wire that a packet has besides its payload */
	double control;    /* bytes on the wire of the ACKs that a packet causes */
	bool padded;       /* all packets are full, even the last of a message */
};

struct plan_stream {
	struct plan_link *links; /* owned */
	size_t count, capacity;
	double cap; /* bytes per second; INFINITY = none */
	/* Streams that share a link have rates in proportion to these; both > 0: */
	double share; /* in the queue of a switch: what each has in flight */
	double turn;  /* at a NIC that sends for several jobs or flows: what each sends in a turn */
	/* The stream's window ignores ECN. Beside streams that heed ECN it takes `share`, which is
	 * then a fraction of the link, and each of the others keeps at least the fraction `min`. */
	bool fixed;
	double min;
	bool fills; /* TCP: the stream fills queues until marks come */
	struct plan_packets packets;
};

/* For a scheme that passes messages on in blocks: how long its busiest stage rests before the first
 * block reaches that stage, and after the last block has left it. */
struct plan_blocks {
	bytes size;   /* data of a whole block; 0 = packet by packet */
	double first; /* seconds of rest per byte on the wire of the first block */
	double last;  /* seconds of rest per byte on the wire of the last block */
};

/* A window that starts with `window` packets, doubles in each round trip up to `ssthresh`
 * (INFINITY: always) and grows by `step` from there. */
struct plan_growth {
	double window, ssthresh, step;
};

/* A window that grows until it fills its path. All 0: it fills the path from the start. */
struct plan_ramp {
	struct plan_growth growth; /* `window` is the present one */
	double packet_s;           /* seconds of a packet at the rate of the path */
	double trip_s;             /* seconds of a round trip */
	double out;                /* packets sent in the present window */
};

struct stream_plan {
	struct plan_stream *streams; /* owned */
	size_t count;
	struct plan_ramp ramp; /* of the windows of all streams; delays tensors while they grow */
	/* From the end of the last stream until all workers hold the tensor (plan_latency()). */
	sim_time latency;
	struct plan_blocks blocks;
	/* A tensor begins when all workers hold the one before. False: each stream begins its part
	 * of a tensor as soon as it is done with its part of the tensor before. */
	bool in_turn;
};

/* `count` empty streams without caps; share and turn are 1. */
void plan_init(struct stream_plan *plan, size_t count);
void plan_release(struct stream_plan *plan);

void plan_add(struct plan_stream *stream, uint32_t link, uint32_t weight);

/* Adds the links of a route, the source's NIC first, with this weight. */
void plan_add_route(struct plan_stream *stream, const struct topology *topo, uint32_t src,
		    const struct route *route, uint32_t weight);

/* Adds the links of a connection. Returns its path for a full segment of the stream. */
struct plan_path plan_add_connection(struct plan_stream *stream, const struct topology *topo,
				     uint32_t src, uint32_t dst, uint64_t key, uint32_t weight);

/* Adds all links of an aggregation tree, up and down. `hosts` are those of the workers, by worker.
 */
void plan_add_tree(struct plan_stream *stream, const struct tree *tree, const uint32_t *hosts,
		   uint32_t workers);

/* Lists each link once, in the order of their numbers; weights add up. */
void plan_merge(struct plan_link *links, size_t *count);
/* The same for all streams: the last step of making a plan. */
void plan_close(struct stream_plan *plan);

/* TCP: full segments, an ACK for every `ack_every` of them, one message of the whole tensor. ACKs
 * go against the data but count on the data's links. This makes no difference where every host
 * sends as much as it receives, as in rings and with parameter servers. */
struct plan_packets plan_tcp_packets(const struct tcp *tcp, const struct network *net,
				     uint32_t ack_every);

/* Makes `stream` one of TCP connections, which fill queues. Its weight on the link of a NIC is also
 * the number of its connections that take turns at that NIC. */
void plan_fill_queues(struct plan_stream *stream, const struct network *net);

/* For a closed plan whose packets are aggregated: sets `turn` of all streams. At its NIC each
 * worker, and each of the job's first `servers` servers, has one turn for all its streams together.
 * The NIC with most to send in a turn holds up all others, so its turn counts for every stream. */
void plan_set_turns(struct stream_plan *plan, const struct network *net,
		    const struct collective_job *job, uint32_t servers);

/* Packets of `frame` bytes that hold `elements` elements; one message of the whole tensor. */
struct plan_packets plan_ina_packets(const struct network *net, uint32_t frame, uint32_t elements);

/* The rate of `window` packets in flight with this round trip: bytes on the wire per second, those
 * of ACKs included. */
double plan_window_rate(const struct plan_packets *packets, double window, sim_time round_trip);

/* Gives the stream a fixed window of `window` packets, which ignores ECN. The stream's share is its
 * window's fraction of all bytes in flight when TCP fills up the rest: the path to `host`, and the
 * queue before that host up to the ECN threshold. */
void plan_fix_window(struct plan_stream *stream, double window, sim_time round_trip,
		     const struct network *net, uint32_t host);

/* A window at its start, on a path that takes `rate` bytes per second. */
struct plan_ramp plan_ramp(const struct plan_packets *packets, const struct plan_growth *growth,
			   double rate, sim_time round_trip);

/* Sends `packets` more packets. In each round trip before the one in which the last of them leaves,
 * the sender waits with an exhausted window, unless the window fills the path. Returns the sum of
 * these waits:
 *
 *     sum over round trips of (round trip - window * packet / rate), while that is positive */
sim_time plan_ramp_take(struct plan_ramp *ramp, double packets);

/* Everything is acknowledged: the next packet finds the whole window open. */
void plan_ramp_rest(struct plan_ramp *ramp);

/* Sends a whole tensor, message by message, and returns the time lost. A message begins when the
 * next rank has the whole message before. That one counts as acknowledged by then, so every message
 * finds the whole window open. */
sim_time plan_ramp_tensor(const struct stream_plan *plan, struct plan_ramp *ramp, bytes size);

/* Packets of each message of a tensor. */
double plan_message_packets(const struct plan_packets *packets, bytes size);

/* The rate that tcp.max_window allows with this round trip; INFINITY = no limit. An ACK for several
 * segments waits for the last of them, so the round trip of the first one is longer. */
double plan_tcp_cap(const struct tcp *tcp, const struct plan_packets *packets,
		    const struct plan_path *round_trip, uint32_t ack_every);

/* How the window of TCP starts and grows. */
struct plan_growth plan_tcp_growth(const struct tcp *tcp);

/* The rate, on the wire, at which a host adds each of `copies` equal streams; INFINITY = no limit.
 * Jobs that add on the same host do not slow each other down here. */
double plan_reducer_rate(const struct plan_packets *packets, const struct reducers *reducers,
			 uint32_t copies);

/* The path of a full segment of TCP, then that of its ACK back. */
struct plan_path plan_tcp_round_trip(const struct tcp *tcp, const struct topology *topo,
				     uint32_t src, uint32_t dst, uint64_t key);

/* Bytes on the wire that each link of weight 1 carries for a tensor. */
double plan_wire_bytes(const struct plan_packets *packets, bytes size);

/* Bytes on the wire per second of a stream that is alone in the network. */
double plan_alone(const struct plan_stream *stream, const struct network *net);

/* Bytes per second on the wire of each stream of a closed plan if the job is alone: its streams
 * have equal parts of a tensor, and share links equally. A tensor takes
 *
 *     max over streams (wire bytes / idle rate) + latency (and, at first, the ramp).
 *
 * The caller frees the array. */
double *plan_idle_rates(const struct stream_plan *plan, const struct network *net);

/* The lowest of plan_idle_rates(). */
double plan_slowest(const struct stream_plan *plan, const struct network *net);

/* From the end of the last stream of a tensor until all workers hold it: `latency`, and what blocks
 * add to it. */
sim_time plan_latency(const struct stream_plan *plan, bytes size);

/* Adds a port to the end of the path. */
void plan_path_add(struct plan_path *path, const struct network *net, uint32_t port,
		   uint32_t frame);

/* *longest becomes the longer of the two. */
void plan_path_longest(struct plan_path *longest, const struct plan_path *path);

/* Path a, then path b. */
struct plan_path plan_path_then(const struct plan_path *a, const struct plan_path *b);

/* The time that a long train of these frames takes beyond its transmission on the slowest link. */
static inline sim_time plan_path_latency(const struct plan_path *path)
{
	return path->sum - path->slowest;
}

/* The path over these ports. */
struct plan_path plan_path(const struct network *net, const uint32_t *ports, unsigned count,
			   uint32_t frame);

/* The longest path from a worker to the root of a tree, then the longest from there to a worker. */
struct plan_path plan_tree_path(const struct network *net, const struct tree *tree,
				const uint32_t *hosts, uint32_t workers, uint32_t frame);

#endif
