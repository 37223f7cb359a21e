/* Reliable byte streams between hosts: TCP as data centres run it.
 *
 * Modelled: cumulative ACKs, fast retransmit and NewReno recovery (RFC 6582), retransmission timer
 * with exponential back-off (RFC 6298) and go-back-N, round-trip times from echoed timestamps, ECN
 * echo with RFC 8257's receiver (section 3.2) and delayed ACKs. A segment behind which the sender
 * has nothing more to send (TCP_PUSH) is acknowledged at once.
 *
 * Packets of a connection may take all shortest paths: spray.h.
 * With SACK or RACK-TLP instead of NewReno: tcp_sack.h.
 *
 * Simplified: no handshake and no FIN (a stream starts with data), no limited transmit, no
 * restart of an idle window, no receive window unless `max_window` is set, headers of 40 bytes
 * without options.
 *
 * A connection goes one way. Sender and receiver have separate states, because they are on
 * different hosts. The slot of a closed connection is reused; a generation in each packet tells
 * late packets of the old connection apart. The sender closes. The receiver answers repeated
 * segments until the slot is reused. */
#ifndef INASIM_TRANSPORT_TCP_H
#define INASIM_TRANSPORT_TCP_H

#include "conf/conf.h"
#include "topo/topology.h"
#include "transport/cc/cc.h"
#include "why/why.h"

#define TCP_OVERHEAD  58 /* Ethernet 14, IPv4 20, TCP 20, FCS 4 */
#define TCP_MIN_FRAME 64

/* In DATA: the sender has nothing more to send at the moment. */
enum { TCP_PUSH = PACKET_OWN(1) };

enum tcp_recovery { TCP_NEWRENO, TCP_SACK, TCP_RACK };
enum tcp_floor { TCP_FLOOR_TIMEOUT, TCP_FLOOR_VARIANCE };

struct tcp_conf {
	int64_t mss;
	int64_t initial_window; /* segments */
	sim_time min_rto, initial_rto;
	int rto_floor; /* enum tcp_floor */
	int64_t ack_every;
	sim_time ack_delay;
	bytes max_window; /* 0 = none */
	int recovery;     /* enum tcp_recovery */
	bool handshake_rtt;
	int64_t reo_wnd_mult; /* 0 = by `spray` */
	int spray;            /* enum spray_kind */
	int64_t paths;        /* values that lead to routes, a power of two */
	sim_time tlp_ack_delay, tlp_slack;
	void *control[CC_COUNT]; /* parameters of congestion controls, as cc_table */
};

extern const struct conf_table tcp_table;

/* Callbacks of an application; any may be NULL. They run within the event that caused them.
 * delivered() must not close a connection. */
struct tcp_app {
	/* At the receiver: the expected bytes, or more, have come in order. */
	void (*delivered)(void *owner, uint64_t total);
	/* At the sender: everything written so far has been acknowledged. */
	void (*drained)(void *owner);
	/* For runs that repeat themselves (core/repeat.h): the walk includes the owner's state, so
	 * a period may contain whole messages. */
	bool repeats;
};

/* Counters of a connection of any transport. */
struct transport_stats {
	uint64_t retransmissions, timeouts;
	uint64_t recoveries; /* TCP: fast retransmits; RoCE: NACKs that made the sender go back */
	uint64_t marks;      /* TCP: ACKs with ECE; RoCE: CNPs, or ACKs with ECE instead */
};

struct tcp_conn; /* tcp_conn.h, for tests and traces */

/* All connections of a simulation. */
struct tcp;

struct tcp *tcp_new(struct topology *topo, const struct tcp_conf *conf);
void tcp_free(struct tcp *tcp);

/* Opens a connection between two different hosts. `key` (keys.h) is unique in the run: it names the
 * timers and, with the run's seed, picks the ECMP path. `ack_every`: segments per ACK, 0 = as
 * configured. `owner` and `app` are not owned. */
uint32_t tcp_open(struct tcp *tcp, uint32_t src, uint32_t dst, const struct cc_ops *cc,
		  uint32_t ack_every, uint64_t key, const struct tcp_app *app, void *owner);
void tcp_close(struct tcp *tcp, uint32_t conn);

/* The class of all its packets and ACKs (net/sched.h). Default: that of its job. */
void tcp_set_class(struct tcp *tcp, uint32_t conn, uint8_t class);

/* Makes all segments control packets if there are classes. Call before the first tcp_write(). */
void tcp_set_urgent(struct tcp *tcp, uint32_t conn);

/* Sets the first and smallest retransmission timeout. Call before the first tcp_write(). */
void tcp_set_timeout(struct tcp *tcp, uint32_t conn, sim_time timeout);

/* The application hands over `size` more bytes. */
void tcp_write(struct tcp *tcp, uint32_t conn, uint64_t size);

/* Requests one call of app->delivered(), as soon as `offset` bytes have come in order. */
void tcp_expect(struct tcp *tcp, uint32_t conn, uint64_t offset);

/* Whether this is a packet of TCP. If so, sets *app to that of its connection, or to NULL if the
 * connection is closed. */
bool tcp_app_of(const struct tcp *tcp, const struct packet *packet, const struct tcp_app **app);

const struct transport_stats *tcp_stats(const struct tcp *tcp, uint32_t conn);
uint64_t tcp_delivered(const struct tcp *tcp, uint32_t conn);

/* Ideal time of `size` bytes on the path of this connection, or of a connection with this key. */
struct framing tcp_framing(const struct tcp *tcp);
sim_time tcp_ideal(const struct tcp *tcp, uint32_t conn, bytes size);
sim_time tcp_ideal_between(const struct tcp *tcp, uint32_t src, uint32_t dst, uint64_t key,
			   bytes size);

/* For --why: reports a connection with this key. Fills in stream, job and counters of `conn`. */
void transport_tell_why(const struct network *net, uint64_t key,
			const struct transport_stats *stats, struct why_conn conn);

/* Sets *route to the path of a connection with this key, of any transport, or (`back`) of its ACKs:
 * ECMP by a hash of the key and the run's seed. */
void transport_route(const struct topology *topo, uint32_t src, uint32_t dst, uint64_t key,
		     bool back, struct route *route);

/* A connection's source takes the NIC of `host` that its new route begins with. *port is the egress
 * port of the NIC that it had, and becomes that of the new one. Tells the control of the route. */
void transport_take_nic(struct network *net, uint32_t host, const struct route *route,
			struct nic_source *source, uint32_t *port, struct cc *cc);

/* The round trip of a frame and its ACK by these routes when nothing else is sent. With `switches`,
 * only what the switches add: the last link of each way does not count. */
sim_time transport_round_trip(const struct topology *topo, uint32_t src, const struct route *there,
			      uint32_t dst, const struct route *back, uint32_t frame,
			      bool switches);

/* The time until the next timeout, after `timeouts` in a row without any new acknowledgement. Each
 * timeout doubles it, up to `doublings` times (RFC 6298, 5.5). */
static inline sim_time transport_timeout(sim_time rto, unsigned timeouts, unsigned doublings)
{
	return rto << (timeouts < doublings ? timeouts : doublings);
}

const struct tcp_conf *tcp_parameters(const struct tcp *tcp);

/* Whether all timeouts of a TCP sender are long enough for nic_deferrable(). */
bool tcp_deferrable(const struct tcp *tcp);

/* Open connections; 0 after everything has finished. */
size_t tcp_open_count(const struct tcp *tcp);

/* From now on receivers set marks in `repeat`, whose walk() calls tcp_repeat(). */
struct repeat;
void tcp_skip_what_repeats(struct tcp *tcp, struct repeat *repeat);
void tcp_repeat(struct tcp *tcp, struct repeat *repeat);

/* Prints a line for each connection that waits for ACKs, at most `limit` lines. */
void tcp_report_waiting(const struct tcp *tcp, FILE *to, size_t limit);

#endif
