/* Reliable byte streams between hosts: TCP as data centres run it.
 *
 * Modelled: cumulative ACKs, fast retransmit and NewReno recovery (RFC 6582),
 * retransmission timer with exponential back-off (RFC 6298) and go-back-N,
 * round-trip times from echoed timestamps, ECN echo with RFC 8257's receiver
 * (section 3.2) and delayed ACKs. Simplified: no handshake and no FIN (a stream
 * starts with data), no SACK, no limited transmit, no restart of an idle window,
 * no receive-window limit unless `max_window` is set, headers of 40 bytes without
 * options.
 *
 * A connection goes one way. Sender state and receiver state are kept apart, as
 * they live on different hosts. Connections come and go; their slots are used
 * again, and a generation in each packet tells late packets apart. The sender closes; the receiver
 * answers segments that come twice until the slot is used again. */
#ifndef INASIM_TRANSPORT_TCP_H
#define INASIM_TRANSPORT_TCP_H

#include "conf/conf.h"
#include "topo/topology.h"
#include "transport/cc/cc.h"
#include "why/why.h"

#define TCP_OVERHEAD  58 /* Ethernet 14, IPv4 20, TCP 20, FCS 4 */
#define TCP_MIN_FRAME 64

/* Flag of its packets. */
enum { TCP_PUSH = PACKET_OWN(1) }; /* DATA: the sender has nothing more at the moment */

struct tcp_conf {
	int64_t mss;
	int64_t initial_window; /* segments */
	sim_time min_rto, initial_rto;
	int64_t ack_every;
	sim_time ack_delay;
	bytes max_window;        /* 0 = none */
	void *control[CC_COUNT]; /* parameters of congestion controls, as cc_tables */
};

extern const struct conf_table tcp_table;

/* What an application wants to hear; any may be NULL. Called from within the
 * event that caused it; a connection must not be closed from `delivered`. */
struct tcp_app {
	/* At the receiver: at least the expected number of bytes is in, in order. */
	void (*delivered)(void *owner, uint64_t total);
	/* At the sender: everything written so far has been acknowledged. */
	void (*drained)(void *owner);
};

struct tcp_stats {
	uint64_t segments, retransmissions, timeouts, fast_retransmits;
	uint64_t acks, marked_acks;
};

struct tcp_conn; /* tcp_conn.h, for tests and traces */

/* All connections of a simulation. */
struct tcp;

struct tcp *tcp_new(struct topology *topo, const struct tcp_conf *conf);
void tcp_free(struct tcp *tcp);

/* Opens a connection from host to host (different ones). `key` is a stable
 * number of this connection, unique in the run: it names its timer and, with the
 * run's seed, picks its ECMP path. `ack_every`: segments per ACK, 0 = as
 * configured. `owner` and `app` are not owned. */
uint32_t tcp_open(struct tcp *tcp, uint32_t src, uint32_t dst, const struct cc_ops *cc,
		  uint32_t ack_every, uint64_t key, const struct tcp_app *app, void *owner);
void tcp_close(struct tcp *tcp, uint32_t conn);

/* The network has been cut into so many partitions (net/cut.h), before the first connection; it is
 * joined again. */
void tcp_cut(struct tcp *tcp, unsigned parts);
void tcp_join(struct tcp *tcp);

/* In a network with classes all segments of the connection are control packets. Before the first
 * byte is written. */
void tcp_set_urgent(struct tcp *tcp, uint32_t conn);

/* The application hands over `size` more bytes. */
void tcp_write(struct tcp *tcp, uint32_t conn, uint64_t size);

/* app->delivered() is called once, as soon as `offset` bytes are in. */
void tcp_expect(struct tcp *tcp, uint32_t conn, uint64_t offset);

/* Whether this is a packet of TCP, and whose: *app becomes NULL when its connection is
 * closed. */
bool tcp_app_of(const struct tcp *tcp, const struct packet *packet, const struct tcp_app **app);

const struct tcp_stats *tcp_stats(const struct tcp *tcp, uint32_t conn);
uint64_t tcp_delivered(const struct tcp *tcp, uint32_t conn);

/* How many of the first `size` bytes are not at the receiver, in order or not. */
uint64_t tcp_missing(const struct tcp *tcp, uint32_t conn, uint64_t size);

/* Ideal time of `size` bytes on the path of this connection, or on the path
 * that a connection with this key would take. */
sim_time tcp_ideal(const struct tcp *tcp, uint32_t conn, bytes size);
sim_time tcp_ideal_between(const struct tcp *tcp, uint32_t src, uint32_t dst, uint64_t key,
			   bytes size);

/* For --why: a connection of this key has been opened; `stream` and `job` are left to this. */
void transport_tell_why(const struct network *net, uint64_t key, struct why_conn conn);

/* The path of a connection with this key, of any transport, and (back) that of its ACKs: ECMP by a
 * hash of the key and the run's seed. */
void transport_route(const struct topology *topo, uint32_t src, uint32_t dst, uint64_t key,
		     bool back, struct route *route);

const struct tcp_conf *tcp_parameters(const struct tcp *tcp);

/* Whether no timer that a connection starts when it sends is too short for nic_deferrable(). */
bool tcp_deferrable(const struct tcp *tcp);

/* Open connections; 0 after everything has finished. */
size_t tcp_open_count(const struct tcp *tcp);

/* Says who waits for what, one line a stuck connection, at most `limit`. */
void tcp_report_waiting(const struct tcp *tcp, FILE *to, size_t limit);

#endif
