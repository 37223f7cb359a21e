#include "transport/roce.h"

#include "base/mem.h"
#include "net/sched.h"
#include "transport/keys.h"
#include "transport/roce_conn.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const recovery_names[] = {
	[ROCE_GO_BACK_N] = "go_back_n", [ROCE_SELECTIVE] = "selective", NULL
};

static const struct conf_row roce_rows[] = {
	CONF_INT("mtu", struct roce_conf, mtu, "1024", 256, 4096, "Payload bytes of a full packet.",
		 "InfiniBand MTUs are 256 to 4096; NetReduce section 5.1 has 1 KB"),
	CONF_INT("header", struct roce_conf, header, "62", 44, 256,
		 "Bytes of a frame besides its payload: Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC "
		 "4, FCS 4.",
		 "RoCEv2 (InfiniBand annex A17)"),
	CONF_INT("write_header", struct roce_conf, write_header, "16", 0, 256,
		 "Additional bytes in the first packet of a message (RETH of a write).",
		 "InfiniBand specification 9.4"),
	CONF_INT("ack_every", struct roce_conf, ack_every, "1", 1, 4096,
		 "Packets per ACK, of flows; rings, trees and ps have their own. The end of a "
		 "message and the last packet that fits into the window always request one.",
		 "HPCC SIGCOMM'19 simulator: 1"),
	CONF_TIME("rto", struct roce_conf, rto, "67.108864ms", PS_PER_US, 100 * PS_PER_S,
		  "Retransmission timeout.",
		  "InfiniBand specification 9.9.2: 4.096 us times 2^n; the verbs' examples "
		  "(ibv_rc_pingpong) have n = 14"),
	CONF_INT("backoff", struct roce_conf, backoff, "6", 0, 16,
		 "The timeout doubles with each of so many timeouts in a row; 0: it is always rto.",
		 "RFC 6298 (5.5), as TCP here; NVIDIA's adaptive retransmission doubles, too, from "
		 "less than a millisecond to rto"),
	CONF_TIME("nack_again", struct roce_conf, nack_again, CONF_OPTIONAL, 0, 100 * PS_PER_S,
		  "A receiver that still lacks the packet of its last NACK repeats the NACK when "
		  "another packet comes so much later; 0s: never. Default: 500us, or a round trip "
		  "through full queues if that is longer, but at most rto.",
		  "500us: HPCC SIGCOMM'19 simulator",
		  .present = CONF_GIVEN(struct roce_conf, nack_again_given)),
	CONF_BYTES("window", struct roce_conf, window, CONF_OPTIONAL, 256, 0,
		   "Cap on payload in flight; at least one packet. Default: none; with "
		   "\"recovery\": \"selective\" the link's rate times an idle round trip through "
		   "the top of the network.",
		   "IRN section 3.2"),
	CONF_INT("first_psn", struct roce_conf, first_psn, "0", 0, ROCE_PSN_MASK,
		 "Sequence number of the first packet of a connection.",
		 "our choice; NICs draw it, and it decides nothing but where numbers wrap"),
	CONF_ENUM("recovery", struct roce_conf, recovery, "go_back_n", recovery_names,
		  "go_back_n: a receiver discards packets out of order; selective: it keeps them, "
		  "and only lost packets are sent again.",
		  "InfiniBand specification 9.7; IRN section 3.1"),
	CONF_TIME("rto_low", struct roce_conf, rto_low, CONF_OPTIONAL, PS_PER_US, 100 * PS_PER_S,
		  "selective: retransmission timeout while at most 3 packets are in flight. "
		  "Default: rto.",
		  "IRN section 3.1: 100us, with an rto of 320us"),
	CONF_TIME("reorder", struct roce_conf, reorder, CONF_OPTIONAL, 0, PS_PER_S,
		  "selective: a packet that later ones have overtaken is lost when it is so much "
		  "late. Default: 0s, or with spray an idle round trip through the top of the "
		  "network, and through full queues where switches trim.",
		  "0s: IRN; a round trip: the largest that RFC 8985 allows; uet-htsim: never, as "
		  "trimmed packets tell of all losses",
		  .present = CONF_GIVEN(struct roce_conf, reorder_given)),
	CONF_ENUM("spray", struct roce_conf, spray, "none", spray_names,
		  "selective: how packets of a connection take all shortest paths, as /tcp/spray.",
		  "our choice: ECMP by flow"),
	CONF_INT("paths", struct roce_conf, paths, "64", 1, 4096,
		 "Values that a sprayed connection has switches hash: a power of two.",
		 "uet-htsim"),
	CONF_OBJECT("control", struct roce_conf, control, "{}", &roce_cc_table,
		    "Parameters of congestion controls."),
	{ 0 },
};
const struct conf_table roce_table = { "roce", roce_rows, sizeof(struct roce_conf),
				       "All RoCE connections." };

/* --- timers --- */

/* The time to send `size` <= 2 TB. Counts in Mbps, because size * 8 * PS_PER_S would overflow. */
static sim_time roce_transmission(bytes size, bps rate)
{
	return (sim_time)(size * 8000000 / (rate < 1000000 ? 1 : rate / 1000000));
}

/* The time that a full queue takes to drain, at a link between switches (`fabric`) or to a host. */
static sim_time full_queue(const struct topology_conf *topology, bool fabric)
{
	bps rate = topology_link_conf(topology, fabric).rate;

	return roce_transmission(topology_buffer(topology, fabric), rate);
}

sim_time roce_longest_trip(const struct roce_conf *conf, const struct topology_conf *topology,
			   bytes window)
{
	uint32_t frame = (uint32_t)(conf->mtu + conf->header);
	unsigned between_switches = topology_longest(topology) - 1;
	sim_time trip = ideal_round_trip(topology, frame, TCP_MIN_FRAME) +
			full_queue(topology, false) + between_switches * full_queue(topology, true);

	if (topology->host.nic == NIC_FIFO)
		trip += roce_transmission(window, topology_host_rate(topology));
	return trip;
}

void roce_warn(const struct roce_conf *conf, const struct topology_conf *topology, bytes window,
	       struct conf_doc *doc, const char *pointer)
{
	sim_time trip = roce_longest_trip(conf, topology, window);
	const struct {
		const char *key;
		sim_time value;
	} timers[] = { { "rto", conf->rto },
		       { "nack_again", conf->nack_again_given ? conf->nack_again : 0 } };

	for (size_t i = 0; i < sizeof(timers) / sizeof(timers[0]); i++)
		if (timers[i].value && timers[i].value < trip)
			conf_warn(doc, conf_at(doc, "%s/%s", pointer, timers[i].key),
				  "%g s is shorter than a round trip through the top of the "
				  "network when the queues on the way are full, %g s: packets that "
				  "only wait in queues are sent again, and all packets after them",
				  seconds_of(timers[i].value), seconds_of(trip));
}

/* The default is the longest time that a NACK and the packet that it asks for may take, but at
 * least 500 us and at most `rto`. A shorter time would repair each loss twice. */
static sim_time nack_again(const struct roce_conf *conf, const struct topology_conf *topology,
			   bytes window)
{
	sim_time min = 500 * PS_PER_US, trip = roce_longest_trip(conf, topology, window);

	if (conf->nack_again_given)
		return conf->nack_again;
	trip = trip > min ? trip : min;
	return trip < conf->rto ? trip : conf->rto;
}

void roce_receive(void *self, uint32_t host, const struct packet *packet)
{
	const struct roce *roce = self;
	struct roce_conn *conn = roce->conns[packet->flow];
	bool to_sender = packet->kind == PACKET_ACK || packet->kind == PACKET_CONTROL;

	if (!conn->open || conn->generation != packet->generation)
		return; /* of a closed connection */
	SIM_BUG_ON(host != (to_sender ? conn->tx.host : conn->rx.host));
	if (to_sender)
		roce_tx_receive(conn, packet);
	else
		roce_rx_receive(conn, packet);
}

/* An idle round trip through the top of the network. */
static sim_time roce_trip(const struct roce_conf *conf, const struct topology_conf *topology)
{
	return ideal_round_trip(topology, (uint32_t)(conf->mtu + conf->header), TCP_MIN_FRAME);
}

/* IRN's cap on what is in flight, and one packet more, since a packet is sent as a whole. */
static bytes roce_window(const struct roce_conf *conf, const struct topology_conf *topology)
{
	double bdp =
		(double)roce_trip(conf, topology) * (double)topology_host_rate(topology) / 8e12;

	if (conf->window || conf->recovery != ROCE_SELECTIVE)
		return conf->window;
	return (bytes)bdp + (bytes)conf->mtu;
}

/* Where switches trim, NACKs tell of losses, and only what is later than any queue may be lost. */
static sim_time reorder(const struct roce_conf *conf, const struct topology_conf *topology,
			bytes window)
{
	if (conf->reorder_given || !conf->spray)
		return conf->reorder;
	return topology->switches.trim ? roce_longest_trip(conf, topology, window)
				       : roce_trip(conf, topology);
}

/* Prefetches the cache lines that an ACK touches at the sender, or a packet at the receiver. */
void roce_prefetch(void *self, const struct packet *packet)
{
	const struct roce *roce = self;
	const char *conn = (const char *)roce->conns[packet->flow];
	bool to_sender = packet->kind == PACKET_ACK || packet->kind == PACKET_CONTROL;
	size_t begin = to_sender ? offsetof(struct roce_conn, tx) : offsetof(struct roce_conn, rx);
	size_t end = to_sender ? offsetof(struct roce_conn, rx) : sizeof(struct roce_conn);

	__builtin_prefetch(conn);
	for (size_t at = begin & ~(size_t)63; at < end; at += 64)
		__builtin_prefetch(conn + at);
}

static void roce_reroute(void *self)
{
	const struct roce *roce = self;

	for (size_t i = 0; i < roce->count; i++) {
		struct roce_conn *conn = roce->conns[i];

		if (!conn->open)
			continue;
		transport_route(roce->topo, conn->tx.host, conn->rx.host, conn->key, false,
				&conn->tx.route);
		transport_route(roce->topo, conn->tx.host, conn->rx.host, conn->key, true,
				&conn->rx.route);
		roce_tx_routed(conn);
	}
}

static uint8_t class_of(const void *self, const struct packet *packet)
{
	const struct roce *roce = self;

	return roce->conns[packet->flow]->class;
}

static bool trims(const void *self, const struct packet *packet)
{
	const struct roce *roce = self;
	const struct roce_conn *conn = roce->conns[packet->flow];

	return conn->open && conn->generation == packet->generation && conn->tx.select;
}

static const struct protocol_ops roce_protocol = {
	.class_of = class_of,
	.name = "roce",
	.reroute = roce_reroute,
	.flags = { "NACK", "ACK request" },
	.telemetry = roce_record,
	.deliver = roce_receive,
	.trims = trims,
	.prefetch = roce_prefetch,
	.stream = roce_stream,
	.repeat = roce_repeat_packet,
};

/* --- connections --- */

struct roce *roce_new(struct topology *topo, const struct roce_conf *conf, bytes window)
{
	struct roce *roce = xcalloc(1, sizeof(*roce));

	roce->topo = topo;
	roce->conf = conf;
	roce->sim = topo->net.sim;
	roce->nack_again = nack_again(conf, topo->conf, window);
	roce->window = roce_window(conf, topo->conf);
	roce->reorder = reorder(conf, topo->conf, window);
	return roce;
}

void roce_register(struct roce *roce)
{
	roce->protocol = network_register(&roce->topo->net, &roce_protocol, roce);
}

void roce_free(struct roce *roce)
{
	if (!roce)
		return;
	for (size_t i = 0; i < roce->count; i++) {
		struct roce_conn *conn = roce->conns[i];

		if (conn->open) {
			free(conn->tx.messages);
			cc_close(&conn->tx.cc, conn->tx.ops);
			roce_select_close(conn);
			roce_telemetry_free(conn->tx.telemetry);
			roce_rx_close(conn);
		}
		free(conn);
	}
	free(roce->conns);
	free(roce->idle);
	free(roce);
}

static struct roce_conn *take_slot(struct roce *roce)
{
	struct roce_conn *conn;

	if (roce->idle_count)
		return roce->conns[roce->idle[--roce->idle_count]];
	roce->conns =
		array_reserve(roce->conns, roce->count, &roce->capacity, sizeof(*roce->conns));
	conn = xaligned(64, sizeof(*conn));
	conn->roce = roce;
	conn->number = (uint32_t)roce->count;
	roce->conns[roce->count++] = conn;
	return conn;
}

uint32_t roce_open(struct roce *roce, uint32_t src, uint32_t dst, const struct cc_ops *cc,
		   uint32_t ack_every, uint64_t key, const struct tcp_app *app, void *owner)
{
	struct roce_conn *conn = take_slot(roce);

	SIM_BUG_ON(src == dst);
	conn->open = true;
	conn->app = app;
	conn->packets = NULL;
	conn->owner = owner;
	conn->key = key;
	conn->class = sched_job_class(&roce->topo->net, connection_job(key));
	conn->stats = (struct transport_stats){ 0 };
	transport_route(roce->topo, src, dst, key, true, &conn->rx.route);
	roce_rx_open(conn, dst);
	roce_tx_open(conn, src, dst, cc, ack_every ? ack_every : (uint32_t)roce->conf->ack_every,
		     key);
	roce_mark(conn, false);
	if (roce->topo->net.onlooker)
		transport_tell_why(&roce->topo->net, key, &conn->stats,
				   (struct why_conn){ .protocol = roce->protocol,
						      .number = conn->number,
						      .src = src,
						      .dst = dst,
						      .mask = ROCE_PSN_MASK,
						      .acked = &conn->tx.una });
	return conn->number;
}

void roce_set_class(struct roce *roce, uint32_t number, uint8_t class)
{
	roce->conns[number]->class = class;
}

void roce_close(struct roce *roce, uint32_t number)
{
	struct roce_conn *conn = roce->conns[number];

	SIM_BUG_ON(!conn->open);
	if (roce->repeat)
		repeat_leave(roce->repeat, conn);
	roce_tx_close(conn);
	roce_rx_close(conn);
	conn->open = false;
	conn->generation++;
	roce->idle = array_reserve(roce->idle, roce->idle_count, &roce->idle_capacity,
				   sizeof(*roce->idle));
	roce->idle[roce->idle_count++] = number;
}

void roce_set_packets(struct roce *roce, uint32_t number, const struct roce_packets *packets,
		      uint32_t port)
{
	struct roce_conn *conn = roce->conns[number];

	SIM_BUG_ON(conn->tx.posted > 0 || conn->tx.ops->delays || conn->tx.ops->telemetry);
	roce_select_close(conn);
	conn->packets = packets;
	conn->tx.port = port;
	conn->tx.cc.line = port_class(&roce->topo->net, &roce->topo->net.ports[port])->rate;
}

void roce_expect(struct roce *roce, uint32_t number, uint64_t offset)
{
	struct roce_rx *rx = &roce->conns[number]->rx;

	SIM_BUG_ON(offset <= rx->bytes);
	rx->wanted = offset;
	rx->expect = offset < rx->mark ? offset : rx->mark;
}

/* --- questions --- */

bool roce_app_of(const struct roce *roce, const struct packet *packet, const struct tcp_app **app)
{
	const struct roce_conn *conn;

	if (packet->protocol != roce->protocol)
		return false;
	conn = roce->conns[packet->flow];
	*app = conn->open && conn->generation == packet->generation ? conn->app : NULL;
	return true;
}

uint64_t roce_next_number(const struct roce *roce, uint32_t number)
{
	return roce->conns[number]->tx.end;
}

uint16_t roce_generation(const struct roce *roce, uint32_t number)
{
	return roce->conns[number]->generation;
}

uint64_t roce_delivered(const struct roce *roce, uint32_t number)
{
	return roce->conns[number]->rx.bytes;
}

const struct transport_stats *roce_stats(const struct roce *roce, uint32_t number)
{
	/* do the NIC's deferred departures (nic.h) first, so that they count */
	network_catch_up(&roce->topo->net, roce->conns[number]->tx.host, roce->sim->now);
	return &roce->conns[number]->stats;
}

struct framing roce_framing(const struct roce *roce)
{
	return (struct framing){ .payload = (uint32_t)roce->conf->mtu,
				 .header = (uint32_t)roce->conf->header,
				 .first_header = (uint32_t)roce->conf->write_header,
				 .min_frame = TCP_MIN_FRAME,
				 .overtakes = roce->conf->spray };
}

sim_time roce_ideal(const struct roce *roce, uint32_t number, bytes size)
{
	const struct roce_conn *conn = roce->conns[number];
	struct framing framing = roce_framing(roce);
	uint32_t ports[HOPS_MAX + 1];
	unsigned count = topology_path(roce->topo, conn->tx.host, &conn->tx.route, ports);

	return ideal_transfer(&roce->topo->net, ports, count, size, &framing);
}

size_t roce_open_count(const struct roce *roce)
{
	return roce->count - roce->idle_count;
}

void roce_report_waiting(const struct roce *roce, FILE *to, size_t limit)
{
	for (size_t i = 0; i < roce->count && limit; i++) {
		const struct roce_conn *conn = roce->conns[i];
		const struct roce_tx *tx = &conn->tx;

		if (!conn->open || tx->una == tx->end)
			continue;
		fprintf(to,
			"  RoCE connection host %" PRIu32 " -> host %" PRIu32 ": %" PRIu64
			" packets are not acknowledged, the first is PSN %" PRIu32 "; %" PRIu64
			" timeouts\n",
			tx->host, conn->rx.host, tx->end - tx->una, roce_psn(tx->una),
			conn->stats.timeouts);
		limit--;
	}
}
