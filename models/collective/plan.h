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

/* A frame's idle time on a path, with the longest jitter, as the slowest of many hosts decides. */
struct plan_path {
	sim_time sum, slowest; /* slowest: transmission on the slowest link */
};

/* How a part of a tensor becomes packets. */
struct plan_packets {
	double messages;   /* of a tensor, one after the other over each link */
	double fraction;   /* of the tensor's bytes in each message */
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

/* For a scheme that passes messages on in blocks: how long its busiest stage rests, before the
 * first block reaches it and after the last has left it. */
struct plan_blocks {
	bytes size;         /* data of a whole block; 0 = packet by packet */
	double first, last; /* seconds for each byte of the first, the last block on the wire */
};

/* A window that starts with `window` packets, doubles in each round trip up to `ssthresh`
 * (INFINITY: always) and grows by `step` from there. */
struct plan_growth {
	double window, ssthresh, step;
};

/* A window that grows until it fills its path. All 0: it fills the path. */
struct plan_ramp {
	struct plan_growth growth; /* `window`: as it is now */
	double packet_s, trip_s;   /* a packet at the rate of the path; a round trip */
	double out;                /* packets of the window that have been sent */
};

struct stream_plan {
	struct plan_stream *streams; /* owned */
	size_t count;
	struct plan_ramp ramp; /* of the windows of all streams; delays tensors while they grow */
	/* From the end of the last stream until all workers hold the tensor (plan_latency()). */
	sim_time latency;
	struct plan_blocks blocks;
	/* A tensor begins when all workers hold the one before. False: each stream begins with it
	 * when done with the tensor before. */
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

/* Adds all links of an aggregation tree, up and down; hosts by worker. */
void plan_add_tree(struct plan_stream *stream, const struct tree *tree, const uint32_t *hosts,
		   uint32_t workers);

/* Lists each link once, in the order of their numbers; weights add up. */
void plan_merge(struct plan_link *links, size_t *count);
/* The same for all streams: the last step of making a plan. */
void plan_close(struct stream_plan *plan);

/* TCP: full segments, an ACK for every `ack_every` of them, one message of the whole tensor. ACKs
 * go against the data but count on the data's links. That is the same where every host sends as
 * much as it receives, as in rings and with parameter servers. */
struct plan_packets plan_tcp_packets(const struct tcp *tcp, const struct network *net,
				     uint32_t ack_every);

/* Makes it a stream of TCP connections, which fill queues. The stream's weight on the link of a NIC
 * is also how many of its connections take turns there. */
void plan_fill_queues(struct plan_stream *stream, const struct network *net);

/* For a closed plan whose packets are aggregated: sets `turn` of all streams. At its NIC each
 * worker, and each of the job's first `servers` servers, has one turn for all its streams together.
 * The NIC with most to send in a turn holds up all others, so its turn counts for every stream. */
void plan_set_turns(struct stream_plan *plan, const struct network *net,
		    const struct collective_job *job, uint32_t servers);

/* Packets of `frame` bytes with so many elements; one message of the whole tensor. */
struct plan_packets plan_ina_packets(const struct network *net, uint32_t frame, uint32_t elements);

/* The rate of `window` packets in flight with this round trip: bytes on the wire per second, with
 * those of ACKs. */
double plan_window_rate(const struct plan_packets *packets, double window, sim_time round_trip);

/* Makes it a stream with a window of so many packets that ignores ECN. The stream's share is its
 * window's part of all that is in flight when TCP fills the path to `host`, and the queue before
 * that host up to the threshold of marks. */
void plan_fix_window(struct plan_stream *stream, double window, sim_time round_trip,
		     const struct network *net, uint32_t host);

/* A window at its start, on a path that takes `rate` bytes per second. */
struct plan_ramp plan_ramp(const struct plan_packets *packets, const struct plan_growth *growth,
			   double rate, sim_time round_trip);

/* Sends so many more packets. Returns the time lost before the round trip in which the last of them
 * leaves; from when the window fills the path on, none is lost:
 *
 *     sum over round trips of (round trip - window * packet / rate), while that is positive */
sim_time plan_ramp_take(struct plan_ramp *ramp, double packets);

/* Everything is acknowledged: the next packet finds the whole window open. */
void plan_ramp_rest(struct plan_ramp *ramp);

/* Sends a whole tensor, message by message, and returns the time lost. A message begins when the
 * one before has reached the next rank as a whole and will all be acknowledged: each finds the
 * whole window open. */
sim_time plan_ramp_tensor(const struct stream_plan *plan, struct plan_ramp *ramp, bytes size);

/* Packets of each message of a tensor. */
double plan_message_packets(const struct plan_packets *packets, bytes size);

/* The rate that tcp.max_window allows with this round trip; INFINITY = no limit. An ACK for several
 * segments waits for the last of them, which makes the round trip of the first longer. */
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

/* Bytes that each link of weight 1 carries for a tensor. */
double plan_wire_bytes(const struct plan_packets *packets, bytes size);

/* Bytes per second of a stream that is alone. */
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

/* What a long train of such frames takes beyond its transmission on the slowest link. */
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
