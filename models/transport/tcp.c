#include "transport/tcp.h"

#include "base/mem.h"
#include "net/sched.h"
#include "transport/keys.h"
#include "transport/tcp_sack.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const recovery_names[] = { "newreno", "sack", "rack", NULL };

static const char *const floor_names[] = { "timeout", "variance", NULL };

static const struct conf_row tcp_rows[] = {
	CONF_INT("mss", struct tcp_conf, mss, "1460", 64, 9000, "Payload bytes of a full segment.",
		 "1500-byte IP packets"),
	CONF_INT("initial_window", struct tcp_conf, initial_window, "10", 1, 10000,
		 "Initial window in segments.", "RFC 6928"),
	CONF_TIME("min_rto", struct tcp_conf, min_rto, "10ms", PS_PER_US, 100 * PS_PER_S,
		  "Smallest retransmission timeout.", "DCTCP SIGCOMM'10 experiments"),
	CONF_ENUM("rto_floor", struct tcp_conf, rto_floor, "timeout", floor_names,
		  "What min_rto bounds: timeout, all of it (RFC 6298); variance, what is added to "
		  "the smoothed round trip, as in Linux.",
		  "RFC 6298 section 2.4"),
	CONF_TIME("initial_rto", struct tcp_conf, initial_rto, "10ms", PS_PER_US, 100 * PS_PER_S,
		  "Timeout before the first round-trip time is known.", "our choice: as min_rto"),
	CONF_INT("ack_every", struct tcp_conf, ack_every, "1", 1, 64,
		 "Segments per ACK, of flows and of schemes' messages; above 1 with RFC 8257's "
		 "state machine. Rings, trees and ps have their own.",
		 "our choice: an ACK per packet"),
	CONF_TIME("ack_delay", struct tcp_conf, ack_delay, "500us", PS_PER_US, PS_PER_S,
		  "Longest wait of a delayed ACK (ack_every above 1).", "our choice"),
	CONF_BYTES("max_window", struct tcp_conf, max_window, CONF_OPTIONAL, 1460, 0,
		   "Upper bound of the window (receive buffer)."),
	CONF_ENUM("recovery", struct tcp_conf, recovery, "newreno", recovery_names,
		  "How losses are found and repaired: newreno; sack; rack: RACK-TLP, as Linux.",
		  "our choice: as the papers"),
	CONF_BOOL("handshake_rtt", struct tcp_conf, handshake_rtt, "false",
		  "A connection begins with the round trip of the idle path, as from a handshake.",
		  "our choice: the first segment measures it"),
	CONF_INT("reo_wnd_mult", struct tcp_conf, reo_wnd_mult, CONF_OPTIONAL, 1, 1000,
		 "RACK, at first: how many fourths of the shortest round trip a segment may come "
		 "behind later ones, up to a smoothed round trip. Default: 1; with \"spray\" or "
		 "\"ways\" 64, where paths differ by queues.",
		 "RFC 8985 section 6.2"),
	CONF_ENUM("spray", struct tcp_conf, spray, "none", spray_names,
		  "How packets of a connection take all shortest paths: none, one path; random; "
		  "oblivious, in turn; reps, those without marks again.",
		  "our choice: ECMP by flow"),
	CONF_INT("paths", struct tcp_conf, paths, "64", 1, 4096,
		 "Values that a sprayed connection has switches hash: a power of two.",
		 "uet-htsim"),
	CONF_TIME("tlp_ack_delay", struct tcp_conf, tlp_ack_delay, "0s", 0, PS_PER_S,
		  "Added to the time until a tail loss probe when one segment is under way.",
		  "our choice: no delayed ACKs; Linux: 200 ms"),
	CONF_TIME("tlp_slack", struct tcp_conf, tlp_slack, "0s", 0, PS_PER_S,
		  "Added when more are.", "RFC 8985; Linux: two ticks"),
	CONF_OBJECT("control", struct tcp_conf, control, "{}", &cc_table,
		    "Parameters of congestion controls."),
	{ 0 },
};
const struct conf_table tcp_table = { "tcp", tcp_rows, sizeof(struct tcp_conf),
				      "All TCP connections." };

/* Whether the receiver answers this packet. New data is for open connections only. Repeated
 * segments are answered until the slot is reused, as a host in TIME-WAIT would do (RFC 9293,
 * section 3.6.1), because the receiver cannot know at once that the sender has closed. */
static bool tcp_is_answered(const struct tcp_rx *rx, const struct packet *packet)
{
	return rx->generation == packet->generation &&
	       (!rx->over || packet->seq + packet->payload <= rx->next);
}

static void tcp_deliver(void *self, uint32_t host, const struct packet *packet)
{
	struct tcp *tcp = self;
	struct tcp_conn *conn = tcp->conns[packet->flow];

	if (packet->kind != PACKET_ACK) {
		if (!tcp_is_answered(&conn->rx, packet))
			return;
		SIM_BUG_ON(host != conn->rx.host);
		tcp_rx_receive(conn, packet);
	} else if (conn->generation == packet->generation && conn->open) {
		SIM_BUG_ON(host != conn->tx.host);
		tcp_tx_receive(conn, packet);
	}
}

/* Prefetches the cache lines that an ACK touches at the sender, or a segment at the receiver. */
static void tcp_prefetch(void *self, const struct packet *packet)
{
	const struct tcp *tcp = self;
	const char *conn = (const char *)tcp->conns[packet->flow];
	size_t begin = packet->kind == PACKET_ACK ? offsetof(struct tcp_conn, tx)
						  : offsetof(struct tcp_conn, rx);
	size_t end = packet->kind == PACKET_ACK ? offsetof(struct tcp_conn, rx)
						: offsetof(struct tcp_conn, owner);

	if (packet->kind == PACKET_ACK)
		__builtin_prefetch(conn); /* tcp_deliver() looks at the head of the struct, too */
	for (size_t at = begin & ~(size_t)63; at < end; at += 64)
		__builtin_prefetch(conn + at);
}

/* Closed connections get new routes, too: their receivers still answer. */
static void tcp_reroute(void *self)
{
	struct tcp *tcp = self;

	for (size_t i = 0; i < tcp->count; i++) {
		struct tcp_conn *conn = tcp->conns[i];

		transport_route(tcp->topo, conn->tx.host, conn->rx.host, conn->key, false,
				&conn->tx.route);
		transport_route(tcp->topo, conn->tx.host, conn->rx.host, conn->key, true,
				&conn->rx.route);
		tcp_tx_routed(conn, conn->rx.host);
	}
}

static uint8_t class_of(const void *self, const struct packet *packet)
{
	const struct tcp *tcp = self;

	return tcp->conns[packet->flow]->class;
}

static const struct protocol_ops tcp_protocol = {
	.class_of = class_of,
	.name = "tcp",
	.reroute = tcp_reroute,
	.flags = { NULL, "push" },
	.deliver = tcp_deliver,
	.prefetch = tcp_prefetch,
	.stream = tcp_stream,
	.repeat = tcp_repeat_packet,
};

/* --- connections --- */

struct tcp *tcp_new(struct topology *topo, const struct tcp_conf *conf)
{
	struct tcp *tcp = xcalloc(1, sizeof(*tcp));

	tcp->topo = topo;
	tcp->conf = conf;
	tcp->sim = topo->net.sim;
	tcp->protocol = network_register(&topo->net, &tcp_protocol, tcp);
	return tcp;
}

void tcp_free(struct tcp *tcp)
{
	if (!tcp)
		return;
	for (size_t i = 0; i < tcp->count; i++) {
		ranges_release(&tcp->conns[i]->rx.early);
		free(tcp->conns[i]->steps);
		tcp_sack_free(tcp->conns[i]->tx.sack);
		free(tcp->conns[i]->tx.spray);
		free(tcp->conns[i]);
	}
	free(tcp->conns);
	free(tcp->idle);
	free(tcp);
}

/* Sorts idle slots by (time of closing, number). So neither the next slot nor the connection
 * numbers in packets depend on the order of hosts that close at the same time. */
static int by_closing(const void *a, const void *b)
{
	const struct tcp_conn *const *x = a, *const *y = b;

	if ((*x)->closed_at != (*y)->closed_at)
		return (*x)->closed_at < (*y)->closed_at ? -1 : 1;
	return (*x)->number < (*y)->number ? -1 : (*x)->number > (*y)->number;
}

static void give_slot(struct tcp *tcp, struct tcp_conn *conn)
{
	size_t i = tcp->idle_count++;

	tcp->idle = array_reserve(tcp->idle, i, &tcp->idle_capacity, sizeof(*tcp->idle));
	for (; i > 0 && by_closing(&conn, &tcp->idle[i - 1]) < 0; i--)
		tcp->idle[i] = tcp->idle[i - 1];
	tcp->idle[i] = conn;
}

static struct tcp_conn *take_slot(struct tcp *tcp)
{
	struct tcp_conn *conn;

	if (tcp->idle_count) {
		conn = tcp->idle[--tcp->idle_count];
		tcp_rx_close(conn);
		conn->generation++;
		return conn;
	}
	tcp->conns = array_reserve(tcp->conns, tcp->count, &tcp->capacity, sizeof(*tcp->conns));
	conn = xaligned(64, sizeof(*conn));
	conn->tcp = tcp;
	conn->number = (uint32_t)tcp->count;
	tcp->conns[tcp->count++] = conn;
	return conn;
}

/* The key stands for the 5-tuple that switches hash. The way back has its own hash. */
void transport_route(const struct topology *topo, uint32_t src, uint32_t dst, uint64_t key,
		     bool back, struct route *route)
{
	uint64_t seed = hash_pair(topo->net.sim->seed, hash_string("ecmp"));

	topology_route(topo, back ? dst : src, back ? src : dst, hash_pair(seed, 2 * key + back),
		       route);
}

void transport_take_nic(struct network *net, uint32_t host, const struct route *route,
			struct nic_source *source, uint32_t *port, struct cc *cc)
{
	uint32_t before = *port;

	*port = network_port(net, host, route->link);
	nic_move(net, source, before, *port);
	cc->hops = route->hops;
	cc->line = port_class(net, &net->ports[*port])->rate;
}

/* The time of a frame on the idle path; `switches`: without the last link. */
static sim_time one_way(const struct topology *topo, uint32_t from, const struct route *route,
			uint32_t frame, bool switches)
{
	uint32_t ports[HOPS_MAX + 1];
	unsigned count = topology_path(topo, from, route, ports);

	return ideal_packet(&topo->net, ports, switches ? count - 1 : count, frame);
}

sim_time transport_round_trip(const struct topology *topo, uint32_t src, const struct route *there,
			      uint32_t dst, const struct route *back, uint32_t frame, bool switches)
{
	return one_way(topo, src, there, frame, switches) +
	       one_way(topo, dst, back, TCP_MIN_FRAME, switches);
}

const struct tcp_conf *tcp_parameters(const struct tcp *tcp)
{
	return tcp->conf;
}

void transport_tell_why(const struct network *net, uint64_t key,
			const struct transport_stats *stats, struct why_conn conn)
{
	uint64_t tag = key >> 48 & 15;

	conn.job = connection_job(key);
	conn.stream = tag == CONNECTION_RING        ? WHY_RING
		      : tag == CONNECTION_MULTICAST ? WHY_HANDOFF
						    : WHY_RECOVERY;
	if (conn.job == UINT32_MAX)
		conn.stream = WHY_FLOW;
	else if (tag == CONNECTION_PS)
		conn.stream = key & 1 ? WHY_PUSH : WHY_PULL; /* as ps_connection_key() sets it */
	conn.timeouts = &stats->timeouts;
	conn.losses = &stats->retransmissions;
	conn.marks = &stats->marks;
	why_connection(why_of(net), &conn);
}

uint32_t tcp_open(struct tcp *tcp, uint32_t src, uint32_t dst, const struct cc_ops *cc,
		  uint32_t ack_every, uint64_t key, const struct tcp_app *app, void *owner)
{
	struct tcp_conn *conn = take_slot(tcp);

	SIM_BUG_ON(src == dst);
	conn->open = true;
	conn->app = app;
	conn->owner = owner;
	conn->key = key;
	conn->class = sched_job_class(&tcp->topo->net, connection_job(key));
	conn->stats = (struct transport_stats){ 0 };
	transport_route(tcp->topo, src, dst, key, true, &conn->rx.route);
	tcp_tx_open(conn, src, dst, cc, key);
	tcp_rx_open(conn, dst, ack_every ? ack_every : (uint32_t)tcp->conf->ack_every, key);
	if (tcp->topo->net.onlooker)
		transport_tell_why(&tcp->topo->net, key, &conn->stats,
				   (struct why_conn){ .protocol = tcp->protocol,
						      .number = conn->number,
						      .src = src,
						      .dst = dst,
						      .mask = UINT64_MAX,
						      .acked = &conn->tx.una });
	return conn->number;
}

void tcp_set_class(struct tcp *tcp, uint32_t number, uint8_t class)
{
	tcp->conns[number]->class = class;
}

void tcp_close(struct tcp *tcp, uint32_t number)
{
	struct tcp_conn *conn = tcp->conns[number];

	SIM_BUG_ON(!conn->open);
	if (tcp->repeat)
		repeat_leave(tcp->repeat, conn);
	tcp_tx_close(conn);
	conn->open = false;
	conn->closed_at = conn->tx.net->sim->now;
	conn->rx.over = true;
	give_slot(tcp, conn);
}

void tcp_set_urgent(struct tcp *tcp, uint32_t number)
{
	struct tcp_tx *tx = &tcp->conns[number]->tx;

	SIM_BUG_ON(tx->written > 0);
	if (!tcp->topo->net.control_first)
		return;
	tx->source.urgent = true;
	tx->flags |= PACKET_URGENT;
}

void tcp_set_timeout(struct tcp *tcp, uint32_t number, sim_time timeout)
{
	struct tcp_tx *tx = &tcp->conns[number]->tx;

	SIM_BUG_ON(tx->written > 0);
	tx->rto = tx->min_rto = timeout;
	tx->source.deferrable &= nic_deferrable(&tcp->topo->net, timeout);
}

void tcp_write(struct tcp *tcp, uint32_t number, uint64_t size)
{
	const struct tcp_tx *tx = &tcp->conns[number]->tx;

	/* do the NIC's deferred departures (nic.h) first: they must not see the new bytes */
	network_catch_up(tx->net, tx->host, tx->net->sim->now);
	tcp->conns[number]->tx.written += size;
	if (tcp->topo->net.onlooker)
		why_writes(why_of(&tcp->topo->net), tcp->protocol, number,
			   tcp->conns[number]->tx.written);
	tcp_tx_wake(tcp->conns[number]);
}

void tcp_expect(struct tcp *tcp, uint32_t number, uint64_t offset)
{
	struct tcp_rx *rx = &tcp->conns[number]->rx;

	SIM_BUG_ON(offset <= rx->next);
	rx->wanted = offset;
	rx->expect = offset < rx->mark ? offset : rx->mark;
}

bool tcp_app_of(const struct tcp *tcp, const struct packet *packet, const struct tcp_app **app)
{
	const struct tcp_conn *conn;

	if (packet->protocol != tcp->protocol)
		return false;
	conn = tcp->conns[packet->flow];
	*app = conn->open && conn->generation == packet->generation ? conn->app : NULL;
	return true;
}

bool tcp_deferrable(const struct tcp *tcp)
{
	const struct network *net = &tcp->topo->net;

	return nic_deferrable(net, tcp->conf->min_rto) &&
	       nic_deferrable(net, tcp->conf->initial_rto);
}

const struct transport_stats *tcp_stats(const struct tcp *tcp, uint32_t number)
{
	const struct tcp_tx *tx = &tcp->conns[number]->tx;

	/* do the NIC's deferred departures (nic.h) first, so that they count */
	network_catch_up(tx->net, tx->host, tx->net->sim->now);
	return &tcp->conns[number]->stats;
}

uint64_t tcp_delivered(const struct tcp *tcp, uint32_t number)
{
	return tcp->conns[number]->rx.next;
}

struct framing tcp_framing(const struct tcp *tcp)
{
	return (struct framing){ .payload = (uint32_t)tcp->conf->mss,
				 .header = TCP_OVERHEAD,
				 .min_frame = TCP_MIN_FRAME,
				 .overtakes = tcp->conf->spray || tcp->topo->net.balance };
}

static sim_time ideal_on(const struct tcp *tcp, uint32_t src, const struct route *route, bytes size)
{
	struct framing framing = tcp_framing(tcp);
	uint32_t ports[HOPS_MAX + 1];
	unsigned count = topology_path(tcp->topo, src, route, ports);

	return ideal_transfer(&tcp->topo->net, ports, count, size, &framing);
}

sim_time tcp_ideal(const struct tcp *tcp, uint32_t number, bytes size)
{
	const struct tcp_conn *conn = tcp->conns[number];

	return ideal_on(tcp, conn->tx.host, &conn->tx.route, size);
}

sim_time tcp_ideal_between(const struct tcp *tcp, uint32_t src, uint32_t dst, uint64_t key,
			   bytes size)
{
	struct route route;

	transport_route(tcp->topo, src, dst, key, false, &route);
	return ideal_on(tcp, src, &route, size);
}

size_t tcp_open_count(const struct tcp *tcp)
{
	return tcp->count - tcp->idle_count;
}

void tcp_report_waiting(const struct tcp *tcp, FILE *to, size_t limit)
{
	for (size_t i = 0; i < tcp->count && limit; i++) {
		const struct tcp_conn *conn = tcp->conns[i];

		if (!conn->open || conn->tx.una == conn->tx.written)
			continue;
		fprintf(to,
			"  connection host %" PRIu32 " -> host %" PRIu32 ": %" PRIu64 " of %" PRIu64
			" bytes acknowledged, %" PRIu64 " timeouts\n",
			conn->tx.host, conn->rx.host, conn->tx.una, conn->tx.written,
			conn->stats.timeouts);
		limit--;
	}
}
