/* An all-reduce as a plan: streams of bytes on the network, without packets.
 *
 * A plan is made for a job on given hosts. Each stream carries a part of every tensor over a set of
 * links at one rate, as in a pipeline: over an aggregation tree, over an edge of a ring, over
 * all edges of another schedule, or between all pairs of workers and servers. The fluid model runs
 * plans (models/fluid). The closed form for an idle network also comes from plans.
 *
 * Links are egress ports of the network. All rates are in bytes on the wire, preamble and gap
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

/* The time of a frame on an idle path. Each link has its longest jitter, because a job waits for
 * the slowest of its many hosts. */
struct plan_path {
	sim_time sum;     /* transmission, latency and jitter of all links */
	sim_time slowest; /* transmission on the slowest link */
};

/* How a stream's part of a tensor becomes packets. */
struct plan_packets {
	double messages;   /* messages per tensor on each link, one after the other */
	double fraction;   /* of the tensor's bytes in each message */
	uint32_t payload;  /* bytes in a full packet */
	uint32_t overhead; /* bytes on the wire per packet, besides the payload */
	double control;    /* bytes on the wire of ACKs, per packet */
	bool padded;       /* the last packet of a message is padded to full size */
};

struct plan_stream {
	struct plan_link *links; /* owned */
	size_t count, capacity;
	double cap; /* largest rate, bytes per second; INFINITY = none */
	/* Streams that share a link have rates in proportion to these relative sizes, > 0: */
	double share; /* in the queue of a switch: bytes in flight */
	double turn;  /* at a NIC that sends for several jobs or flows: bytes sent in a turn */
	/* `fixed`: the stream's window ignores ECN. `share` is then the fraction of a link that
	 * this stream takes beside streams that heed ECN, and `min` the fraction that each of those
	 * keeps at least. */
	bool fixed;
	double min;
	bool fills; /* TCP: the stream fills queues up to the ECN threshold */
	struct plan_packets packets;
};

/* For a scheme that passes messages on in blocks: the time in which its busiest stage idles, before
 * the first block and after the last. */
struct plan_blocks {
	bytes size;   /* data of a whole block; 0 = packet by packet */
	double first; /* seconds of idling per byte on the wire of the first block */
	double last;  /* seconds of idling per byte on the wire of the last block */
};

/* A window that starts with `window` packets. In each round trip it doubles up to `ssthresh`
 * packets (INFINITY: always doubles), and from there grows by `step` packets. */
struct plan_growth {
	double window, ssthresh, step;
};

/* A window that grows until it fills its path. All 0: it fills the path from the start. */
struct plan_ramp {
	struct plan_growth growth; /* `window` is the present window */
	double packet_s;           /* seconds of a packet at the rate of the path */
	double trip_s;             /* seconds of a round trip */
	double out;                /* packets sent in the present window */
};

/* What the exchange of a tensor cannot avoid, one after the other, once all workers have handed it
 * over: `times` times a part num / den of its elements goes from host to host, over a link up and a
 * link down at least. `spread`: not as one message, but so much over one of the two links. */
struct plan_leg {
	uint64_t times;
	uint32_t num, den;
	bool spread;
};

#define PLAN_LEGS 17 /* of halving-doubling: 16 levels and the fold */

/* A bound: of many exchanges in a row, each after the one before, each takes at least the time of
 * all legs. No leg: none is known. */
struct plan_bound {
	struct framing framing;
	bytes unit;    /* tensors are padded to a multiple of this */
	sim_time step; /* before each crossing */
	struct plan_leg legs[PLAN_LEGS];
	unsigned count;
};

struct stream_plan {
	struct plan_stream *streams; /* owned */
	size_t count;
	struct plan_bound bound;
	struct plan_ramp ramp; /* of the windows of all streams; delays tensors while they grow */
	/* From the end of the last stream until all workers hold the tensor; plan_latency() adds
	 * the time of blocks. */
	sim_time latency;
	struct plan_blocks blocks;
	/* A tensor begins when all workers hold the tensor before. False: each stream begins its
	 * part of a tensor right after its part of the tensor before. */
	bool in_turn;
};

/* `count` empty streams without caps; share and turn are 1. */
void plan_init(struct stream_plan *plan, size_t count);
void plan_release(struct stream_plan *plan);

void plan_add(struct plan_stream *stream, uint32_t link, uint32_t weight);

/* Adds the links of a route from host `src`, with this weight. */
void plan_add_route(struct plan_stream *stream, const struct topology *topo, uint32_t src,
		    const struct route *route, uint32_t weight);

/* Adds the links of a connection (`key`: transport/keys.h) with this weight. Returns its path for a
 * full segment of the stream. */
struct plan_path plan_add_connection(struct plan_stream *stream, const struct topology *topo,
				     uint32_t src, uint32_t dst, uint64_t key, uint32_t weight);

/* Adds all links of an aggregation tree, up and down. `ports`: of its workers, as in tree_build().
 */
void plan_add_tree(struct plan_stream *stream, const struct tree *tree, const uint32_t *ports,
		   uint32_t workers);

/* Sorts the links by number and merges duplicates, whose weights add up. */
void plan_merge(struct plan_link *links, size_t *count);
/* plan_merge() for all streams. The last step of making a plan. */
void plan_close(struct stream_plan *plan);

/* TCP: full segments, an ACK for every `ack_every` segments, the whole tensor as one message. ACKs
 * count on the data's links although they go the other way. This makes no difference where every
 * host sends as much as it receives, as in rings and with parameter servers. */
struct plan_packets plan_tcp_packets(const struct tcp *tcp, const struct network *net,
				     uint32_t ack_every);

/* Makes `stream` a stream of TCP connections, which fill queues. Its weight on the link of a NIC is
 * taken for the number of its connections that take turns there. Where fewer do, the caller divides
 * `turn`. */
void plan_fill_queues(struct plan_stream *stream, const struct network *net);

/* For a closed plan of aggregation packets: sets `turn` of all streams, unless NICs are FIFO. Each
 * worker, and each of the job's first `servers` servers, has one turn at its NIC for all its
 * streams together. The NIC that has most to send in a turn holds up all others, so its turn counts
 * for every stream. */
void plan_set_turns(struct stream_plan *plan, const struct network *net,
		    const struct collective_job *job, uint32_t servers);

/* Packets of `frame` bytes that hold `elements` elements; the whole tensor as one message. */
struct plan_packets plan_ina_packets(const struct network *net, uint32_t frame, uint32_t elements);

/* The rate of `window` packets in flight with this round trip, in bytes on the wire per second,
 * ACKs included. */
double plan_window_rate(const struct plan_packets *packets, double window, sim_time round_trip);

/* Gives the stream a fixed window of `window` packets, which ignores ECN. The stream's share is the
 * fraction that this window has of all bytes in flight when TCP fills up the rest of the path to
 * the host that sends by port `from`, and the queue before that host up to the ECN threshold or, if
 * the queue never reaches this, up to its limit. */
void plan_fix_window(struct plan_stream *stream, double window, sim_time round_trip,
		     const struct network *net, uint32_t from);

/* A window at its start, on a path that takes `rate` bytes per second. */
struct plan_ramp plan_ramp(const struct plan_packets *packets, const struct plan_growth *growth,
			   double rate, sim_time round_trip);

/* Sends `packets` more packets. Until the window fills the path, the sender waits in each round
 * trip with an exhausted window, except in the last one. Returns the sum of these waits:
 *
 *     sum over round trips of (round trip - window * packet / rate), while that is positive */
sim_time plan_ramp_take(struct plan_ramp *ramp, double packets);

/* Everything is acknowledged: the whole window is open again. */
void plan_ramp_rest(struct plan_ramp *ramp);

/* Adds a leg. */
void plan_add_leg(struct plan_bound *bound, uint64_t times, uint32_t num, uint32_t den,
		  bool spread);

/* The legs by way of parameter servers: every gradient goes to a server, which has to get those of
 * all workers, and comes back. A server beside a worker spares the job these two of its ways. */
void plan_add_servers(struct plan_bound *bound, const struct collective_job *job);

/* How long the legs of a tensor take at least, on the fastest host of the job. */
sim_time plan_bound_time(const struct plan_bound *bound, const struct network *net,
			 const struct collective_job *job, bytes size);

/* Sends a whole tensor over the plan's first stream, message by message, and returns the time lost.
 * A message begins when the next rank has all of the previous message, which then counts as
 * acknowledged. So every message after the first finds the whole window open. */
sim_time plan_ramp_tensor(const struct stream_plan *plan, struct plan_ramp *ramp, bytes size);

/* Packets of each message of a tensor. */
double plan_message_packets(const struct plan_packets *packets, bytes size);

/* The rate that tcp.max_window allows with this round trip; INFINITY = no limit. An ACK for several
 * segments waits for the last of them, which lengthens the round trip of the first. */
double plan_tcp_cap(const struct tcp *tcp, const struct plan_packets *packets,
		    const struct plan_path *round_trip, uint32_t ack_every);

/* How the window of TCP starts and grows. */
struct plan_growth plan_tcp_growth(const struct tcp *tcp);

/* The rate, in bytes on the wire per second, at which a host adds each of `copies` equal streams;
 * INFINITY = no limit. Simplified: jobs on the same host do not slow each other down. */
double plan_reducer_rate(const struct plan_packets *packets, const struct reducers *reducers,
			 uint32_t copies);

/* The path of a full TCP segment, then the path of its ACK back. */
struct plan_path plan_tcp_round_trip(const struct tcp *tcp, const struct topology *topo,
				     uint32_t src, uint32_t dst, uint64_t key);

/* Bytes on the wire that each link of weight 1 carries for a tensor. */
double plan_wire_bytes(const struct plan_packets *packets, bytes size);

/* Rate of a stream that is alone in the network, in bytes on the wire per second. */
double plan_alone(const struct plan_stream *stream, const struct network *net);

/* Rate of each stream of a closed plan if the job is alone, in bytes on the wire per second.
 * Streams have equal parts of a tensor and share links equally. A tensor takes
 *
 *     max over streams (wire bytes / idle rate) + latency (and, at first, the ramp).
 *
 * The caller frees the array. */
double *plan_idle_rates(const struct stream_plan *plan, const struct network *net);

/* The lowest of plan_idle_rates(). */
double plan_slowest(const struct stream_plan *plan, const struct network *net);

/* From the end of a tensor's last stream until all workers hold the tensor: plan->latency plus the
 * time that blocks add. */
sim_time plan_latency(const struct stream_plan *plan, bytes size);

/* Appends a port to the path, for a frame of `frame` bytes. */
void plan_path_add(struct plan_path *path, const struct network *net, uint32_t port,
		   uint32_t frame);

/* *longest becomes the longer of both paths. */
void plan_path_longest(struct plan_path *longest, const struct plan_path *path);

/* Path a, then path b. */
struct plan_path plan_path_then(const struct plan_path *a, const struct plan_path *b);

/* The time of a long train of frames beyond its transmission on the slowest link. */
static inline sim_time plan_path_latency(const struct plan_path *path)
{
	return path->sum - path->slowest;
}

/* The path over these ports. */
struct plan_path plan_path(const struct network *net, const uint32_t *ports, unsigned count,
			   uint32_t frame);

/* The longest path from a worker to the root, then the longest from the root to a worker. */
struct plan_path plan_tree_path(const struct network *net, const struct tree *tree,
				const uint32_t *ports, uint32_t workers, uint32_t frame);

#endif
