/* A collective as data: what an all-reduce puts on the network, without packets.
 *
 * A plan is made for a job on given hosts. Each of its streams carries a part of every tensor over
 * a set of links at one rate, as in a pipeline: the tree of an aggregation, all edges of a ring,
 * all pairs of workers and servers. The fluid engine runs plans (models/fluid), and so does the
 * closed form of an idle network.
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
	uint32_t weight; /* what the link carries of each byte of the stream */
};

/* The path of one frame, port by port; host jitter at its most, as the slowest of many decides. */
struct plan_path {
	sim_time sum, slowest; /* slowest: transmission on the slowest link */
};

/* How a part of a tensor becomes packets. */
struct plan_packets {
	double messages;   /* one after the other over each link ... */
	double fraction;   /* ... of this part of the tensor's bytes each */
	uint32_t payload;  /* bytes of a full packet */
	uint32_t overhead; /* what else it is on the wire; with padding, of all packets */
	double control;    /* bytes on the wire that each packet makes others send: ACKs */
	bool padded;       /* packets are full even when the data are not */
};

struct plan_stream {
	struct plan_link *links; /* owned */
	size_t count, capacity;
	double cap; /* bytes per second; INFINITY = none */
	/* Streams that wait for one link have rates in proportion to these; > 0: */
	double share; /* in the queue of a switch: what they have in flight */
	double turn;  /* at a NIC that sends for several jobs or flows: its turns */
	/* Its window heeds no marks. Where streams do, `share` is the part of the link that it has
	 * beside them, and `least` the part that is left to each of them at the least. */
	bool fixed;
	double least;
	bool fills; /* TCP: it fills queues until marks come */
	struct plan_packets packets;
};

/* Of a scheme that passes a message on in blocks: how long its busiest stage rests, until the first
 * block has come to it or after the last has left it, per byte on the wire of these blocks. */
struct plan_blocks {
	bytes size;         /* data of a whole one; 0 = packet by packet */
	double first, last; /* seconds per byte */
};

/* A window that starts with `window` packets, doubles in each round trip up to `ssthresh`
 * (INFINITY: slow start) and grows by `step` from there. */
struct plan_growth {
	double window, ssthresh, step;
};

/* Such a window on its way to filling a path; all 0 = it does. */
struct plan_ramp {
	struct plan_growth growth; /* `window`: now */
	double packet_s, trip_s;   /* a packet at the rate of the path; a round trip */
	double out;                /* packets of the window that are out */
};

struct stream_plan {
	struct plan_stream *streams; /* owned */
	size_t count;
	/* The windows of streams, which are alike; it delays tensors by what they lose. */
	struct plan_ramp ramp;
	/* From the end of the last stream until all workers hold the tensor; and what is added
	 * when the way back is not packet by packet. */
	sim_time latency;
	struct plan_blocks blocks;
	/* A tensor begins when all workers hold the one before; otherwise its streams follow
	 * those of the one before at once. */
	bool in_turn;
};

/* `count` empty streams without caps; share and turn are 1. */
void plan_init(struct stream_plan *plan, size_t count);
void plan_release(struct stream_plan *plan);

void plan_add(struct plan_stream *stream, uint32_t link, uint32_t weight);

/* The links of a route, the source's NIC first, with this weight. */
void plan_add_route(struct plan_stream *stream, const struct topology *topo, uint32_t src,
		    const struct route *route, uint32_t weight);

/* The links of a TCP connection. Returns its path for a full segment of the stream. */
struct plan_path plan_add_connection(struct plan_stream *stream, const struct topology *topo,
				     uint32_t src, uint32_t dst, uint64_t key, uint32_t weight);

/* All links of an aggregation tree, up and down; hosts by worker. */
void plan_add_tree(struct plan_stream *stream, const struct tree *tree, const uint32_t *hosts,
		   uint32_t workers);

/* Lists each link once, in the order of their numbers; weights add up. */
void plan_merge(struct plan_link *links, size_t *count);
/* The same for all streams; whoever makes a plan calls it last. */
void plan_close(struct stream_plan *plan);

/* TCP: full segments, and ACKs for every `ack_every` of them. ACKs go against the data; here they
 * are counted on the data's own links, which is the same where every host sends as much as it
 * receives, as in rings and parameter servers. Messages: one of the whole tensor. */
struct plan_packets plan_tcp_packets(const struct tcp *tcp, const struct network *net,
				     uint32_t ack_every);

/* A stream of TCP connections, one for each of its weight on a NIC. */
void plan_fill_queues(struct plan_stream *stream, const struct network *net);

/* Turns of the streams of a closed plan of aggregation packets. Each worker has one turn at its
 * NIC, and each of the first `servers` servers of the job; whatever it sends to several others or
 * on several trees shares that. Where a NIC has to send most in a turn decides: it is what the
 * streams wait for. */
void plan_take_turns(struct stream_plan *plan, const struct network *net,
		     const struct collective_job *job, uint32_t servers);

/* What else than the elements `frame` bytes carry on the wire. One message of the whole tensor. */
struct plan_packets plan_ina_packets(const struct network *net, uint32_t frame, uint32_t elements);

/* The rate of so many packets in flight with this round trip; bytes per second. */
double plan_window_rate(const struct plan_packets *packets, double window, sim_time round_trip);

/* A stream whose window, of so many packets, heeds no marks: it is a part of all that is in flight
 * where TCP fills the path to a host and, up to the marks, the queue before it. */
void plan_fix_window(struct plan_stream *stream, double window, sim_time round_trip,
		     const struct network *net, uint32_t host);

/* A window at its start, on a path that takes `rate` bytes per second. */
struct plan_ramp plan_ramp(const struct plan_packets *packets, const struct plan_growth *growth,
			   double rate, sim_time round_trip);

/* So many more packets go out: what is lost until they are out, or the window fills the path.
 *
 *     sum over round trips of (round trip - window * packet / rate), while that is positive
 *
 * Of the round trip in which the last of them leaves nothing is lost. */
sim_time plan_ramp_take(struct plan_ramp *ramp, double packets);

/* Everything is acknowledged: the next packet finds the whole window. */
void plan_ramp_rest(struct plan_ramp *ramp);

/* The same for a whole tensor. Its messages follow each other: before the next one begins, all of
 * the one before is at the next rank, and its ACKs are on their path. */
sim_time plan_ramp_tensor(const struct stream_plan *plan, struct plan_ramp *ramp, bytes size);

/* Packets of each message of a tensor. */
double plan_message_packets(const struct plan_packets *packets, bytes size);

/* The rate that tcp.max_window lets through on a path and back; INFINITY = without limit. An ACK
 * for several segments frees the first of them that much later. */
double plan_tcp_cap(const struct tcp *tcp, const struct plan_packets *packets,
		    const struct plan_path *round_trip, uint32_t ack_every);

/* The window of TCP. */
struct plan_growth plan_tcp_growth(const struct tcp *tcp);

/* The rate, on the wire, at which a host adds each of `copies` equal streams; INFINITY = without
 * limit. Several jobs that add on one host have all of it each. */
double plan_reducer_rate(const struct plan_packets *packets, const struct reducers *reducers,
			 uint32_t copies);

/* A path of TCP and back, to a full segment and its ACK. */
struct plan_path plan_tcp_round_trip(const struct tcp *tcp, const struct topology *topo,
				     uint32_t src, uint32_t dst, uint64_t key);

/* Bytes that each link of weight 1 carries for a tensor. */
double plan_wire_bytes(const struct plan_packets *packets, bytes size);

/* Bytes per second of a stream that is alone. */
double plan_alone(const struct plan_stream *stream, const struct network *net);

/* The same for all streams of a closed plan when the job is alone: those that share links with each
 * other share them equally, and all have equal parts of a tensor. So a tensor takes
 *
 *     max over streams (wire bytes / idle rate) + latency (and, at first, the ramp).
 *
 * By stream; the caller frees. */
double *plan_idle_rates(const struct stream_plan *plan, const struct network *net);

/* The lowest of them. */
double plan_slowest(const struct stream_plan *plan, const struct network *net);

/* From the end of a tensor's last stream until all workers hold it. */
sim_time plan_latency(const struct stream_plan *plan, bytes size);

void plan_path_add(struct plan_path *path, const struct network *net, uint32_t port,
		   uint32_t frame);

/* The longer of two paths becomes *longest. */
void plan_path_longest(struct plan_path *longest, const struct plan_path *path);

/* One path and then another. */
struct plan_path plan_path_then(const struct plan_path *a, const struct plan_path *b);

/* What a long train of such frames needs more than its bytes at the slowest rate. */
static inline sim_time plan_path_latency(const struct plan_path *path)
{
	return path->sum - path->slowest;
}

/* The path over these ports. */
struct plan_path plan_path(const struct network *net, const uint32_t *ports, unsigned count,
			   uint32_t frame);

/* The longest path of a worker to the root of a tree, and back to another. */
struct plan_path plan_tree_path(const struct network *net, const struct tree *tree,
				const uint32_t *hosts, uint32_t workers, uint32_t frame);

#endif
