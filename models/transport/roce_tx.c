/* The sender of a connection: messages as packets, pacing, go-back-N, timer. roce_select.c has
 * selective repeat. */
#include "transport/roce_conn.h"

#include "base/mem.h"
#include "base/ring.h"
#include "net/hop.h"
#include "transport/keys.h"

#include <math.h>
#include <stdlib.h>

#define FEW_PACKETS 3 /* in flight, for `rto_low` (IRN, section 3.1) */

/* --- messages --- */

static struct roce_message *message(const struct roce_tx *tx, uint64_t i)
{
	return &tx->messages[i & tx->mask];
}

/* One past the number of message `i`'s last packet. */
static uint64_t message_end(const struct roce_tx *tx, uint64_t i)
{
	return i + 1 < tx->posted ? message(tx, i + 1)->first : tx->end;
}

/* The message of a packet, which is not before message `from`. */
static uint64_t message_of(const struct roce_tx *tx, uint64_t from, uint64_t number)
{
	while (from < tx->posted && message_end(tx, from) <= number)
		from++;
	return from;
}

/* Sets `at` to the message of packet `nxt`. */
static void find_message(struct roce_tx *tx)
{
	tx->at = message_of(tx, tx->at, tx->nxt);
}

static void drop_acknowledged(struct roce_tx *tx)
{
	while (tx->oldest < tx->posted && message_end(tx, tx->oldest) <= tx->una)
		tx->oldest++;
	if (tx->at < tx->oldest)
		tx->at = tx->oldest;
}

/* --- sending --- */

static bool roce_window_allows(const struct roce_tx *tx)
{
	uint64_t flight = tx->counts ? tx->select->flight : tx->nxt - tx->una;

	return flight == 0 ||
	       (flight < tx->window && (double)(int64_t)(flight + 1) * tx->cc.mss <= tx->cc.cwnd);
}

/* After an ACK has made the window smaller, it can happen that no packet in flight asks for another
 * ACK. Then one more packet leaves in spite of the window, and it asks for one. */
static bool roce_has_new(const struct roce_tx *tx)
{
	return tx->nxt < tx->end && (tx->asked <= tx->una || roce_window_allows(tx));
}

static bool roce_waits_again(const struct roce_tx *tx)
{
	return tx->select && roce_select_waits(tx) && (!tx->counts || roce_window_allows(tx));
}

static bool roce_has_work(const struct roce_tx *tx)
{
	return roce_has_new(tx) || roce_waits_again(tx);
}

static void roce_on_pacing_timer(struct sim *sim, uint32_t entity, void *owner)
{
	(void)sim, (void)entity;
	roce_tx_wake(owner);
}

/* Whether the next packet has to wait; if so, sets the pacing timer. `cc.gap` counts from the
 * newest packet, even if the control set it after that packet had left. The end of a gap does not
 * change once it is set, but holds nothing back while the control has neither a rate nor a gap. */
static bool roce_held_back(struct roce_conn *conn)
{
	struct roce_tx *tx = &conn->tx;

	if (tx->cc.gap && !tx->next_at)
		tx->next_at = tx->sent_at + tx->cc.gap;
	if (!(tx->cc.rate || tx->cc.gap) || tx->next_at <= conn->roce->sim->now)
		return false;
	timer_set(conn->roce->sim, &tx->pacing, tx->next_at);
	return true;
}

/* A rate equal to the line rate needs no pacing: the link does it. A packet that is late because
 * the NIC, idle before, waited (idle_max in nic.h) does not put off those behind it, or a wait
 * longer than the gap would lower the rate. */
static void roce_pace(struct roce_tx *tx, uint32_t size, sim_time now)
{
	sim_time from = now - tx->next_at <= tx->nic_wait ? tx->next_at : now;

	if (tx->ops->on_send)
		tx->ops->on_send(&tx->cc, size, now);
	tx->sent_at = now;
	if (tx->cc.rate && tx->cc.rate < tx->cc.line)
		tx->next_at = from + size * 8 * PS_PER_S / tx->cc.rate;
	else
		tx->next_at = tx->cc.gap ? now + tx->cc.gap : 0;
}

static void roce_arm_timer(struct roce_conn *conn)
{
	const struct roce_conf *conf = conn->roce->conf;
	struct roce_tx *tx = &conn->tx;
	struct sim *sim = conn->roce->sim;
	bool few = tx->select && conf->rto_low && tx->nxt - tx->una <= FEW_PACKETS;

	tx->deadline = sim->now + transport_timeout(few ? conf->rto_low : conf->rto, tx->timeouts,
						    (unsigned)conf->backoff);
	/* a timer that fires before the deadline may stay: its handler sets it again */
	if (tx->timer_at <= tx->deadline)
		return;
	tx->timer_at = tx->deadline;
	timer_set(sim, &tx->timer, tx->deadline);
}

/* No ACK is due: no packet in flight asks for one, or the sender went back and has not sent yet. */
static void roce_stop_timer(struct roce_conn *conn)
{
	conn->tx.timer_at = SIM_TIME_MAX;
	timer_cancel(conn->roce->sim, &conn->tx.timer);
}

/* Packet `number` asks for an ACK. The timer waits for this ACK, or for that of an earlier packet
 * that asked. Other packets need no timer: the receiver notices their loss at a later packet, at
 * the latest at the next one that asks. */
static void roce_ask(struct roce_conn *conn, uint64_t number)
{
	struct roce_tx *tx = &conn->tx;

	if (tx->asked <= tx->una)
		roce_arm_timer(conn);
	tx->asked = number + 1;
}

/* Fills in a packet of message `at`, except for what depends on the packets behind it. */
HOT_INLINE void fill_packet(struct roce_conn *conn, uint64_t at, uint64_t number,
			    struct packet *packet)
{
	const struct roce_tx *tx = &conn->tx;
	const struct roce_conf *conf = conn->roce->conf;
	const struct roce_message *current = message(tx, at);
	uint64_t mtu = (uint64_t)conf->mtu;
	uint64_t left = current->size - (number - current->first) * mtu;
	uint64_t payload = left < mtu ? left : mtu, size = payload + tx->header;

	if (number == current->first)
		size += (uint64_t)conf->write_header;
	*packet = (struct packet){
		.seq = roce_psn(number),
		.sent_at = conn->roce->sim->now,
		.flow = conn->number,
		.generation = conn->generation,
		.size = (uint16_t)(size < TCP_MIN_FRAME ? TCP_MIN_FRAME : size),
		.payload = (uint16_t)payload,
		.kind = PACKET_DATA,
		.flags = tx->flags,
		.protocol = conn->roce->protocol,
	};
	packet_set_route(packet,
			 tx->spray ? &tx->spray->routes[spray_next(tx->spray)] : &tx->route);
	if (left <= mtu || (number + 1) % tx->ack_every == 0)
		packet->flags |= ROCE_ACK_REQUEST;
	if (number < tx->max) {
		packet->flags |= PACKET_RETRANSMIT;
		conn->stats.retransmissions++;
	}
}

/* --- telemetry --- */

/* The record of a packet that leaves. The one of an earlier copy is written over. */
static void roce_collect(struct roce_tx *tx, uint64_t number)
{
	struct roce_telemetry *telemetry = tx->telemetry;

	telemetry->records = ring_reserve(telemetry->records, &telemetry->mask, tx->una, number,
					  sizeof(*telemetry->records));
	telemetry->records[number & telemetry->mask].hops = 0;
}

struct int_record *roce_record(void *self, const struct packet *packet)
{
	const struct roce *roce = self;
	const struct roce_conn *conn = roce->conns[packet->flow];
	const struct roce_tx *tx = &conn->tx;
	uint64_t number = roce_number(roce_psn_of(packet), tx->una);

	if (packet->kind != PACKET_DATA || conn->generation != packet->generation || !conn->open ||
	    !tx->telemetry || number < tx->una || number >= tx->max)
		return NULL;
	return &tx->telemetry->records[number & tx->telemetry->mask];
}

/* Fills in what the switches told of the packet that an ACK answers, the last of those that it
 * acknowledges or, with selective repeat, the one that it names. An ACK that is late, or answers a
 * packet a second time, tells nothing new. */
static void tell_telemetry(struct roce_tx *tx, const struct packet *packet, struct cc_ack *ack)
{
	struct roce_telemetry *telemetry = tx->telemetry;
	uint64_t number = tx->una - 1;
	const struct int_record *record;

	if (tx->select)
		number = roce_number((uint32_t)(packet->seq >> ROCE_PSN_BITS) & ROCE_PSN_MASK,
				     tx->una);
	if (number <= telemetry->number || number >= tx->max)
		return;
	record = &telemetry->records[number & telemetry->mask];
	telemetry->number = number;
	if (record->hops && record->hops == telemetry->newest.hops) {
		telemetry->former = telemetry->newest;
		ack->former = &telemetry->former;
		ack->telemetry = record;
	}
	telemetry->newest = *record;
}

void roce_telemetry_free(struct roce_telemetry *telemetry)
{
	if (telemetry)
		free(telemetry->records);
	free(telemetry);
}

static void open_telemetry(struct roce_conn *conn)
{
	struct roce_tx *tx = &conn->tx;
	uint32_t header = tx->ops->telemetry(&tx->cc);

	network_telemetry(&conn->roce->topo->net);
	tx->telemetry = xcalloc(1, sizeof(*tx->telemetry));
	tx->telemetry->number = tx->una - 1;
	tx->header += header;
	conn->rx.answer += header;
}

/* Sends packet `nxt`. Returns whether another may follow. */
static bool send_next(struct roce_conn *conn, struct packet *packet)
{
	struct roce_tx *tx = &conn->tx;
	uint64_t number = tx->nxt;
	bool more;

	fill_packet(conn, tx->at, number, packet);
	if (++tx->nxt > tx->max)
		tx->max = tx->nxt;
	find_message(tx);
	more = tx->nxt < tx->end && roce_window_allows(tx);
	tx->limited = !more && tx->nxt < tx->end;
	if (!more)
		packet->flags |= ROCE_ACK_REQUEST;
	if (packet->flags & ROCE_ACK_REQUEST)
		roce_ask(conn, number);
	if (conn->packets)
		conn->packets->fill(conn->owner, number, packet);
	if (tx->select)
		roce_select_sent(conn, number);
	if (tx->telemetry)
		roce_collect(tx, number);
	return more;
}

/* Sends a lost packet again. The receiver answers it in any case, so the timer may wait for it. */
static __attribute__((noinline)) bool send_again(struct roce_conn *conn, struct packet *packet)
{
	struct roce_tx *tx = &conn->tx;
	uint64_t number = roce_select_next(tx);

	tx->select->again_first++;
	fill_packet(conn, message_of(tx, tx->oldest, number), number, packet);
	roce_select_sent(conn, number);
	if (tx->telemetry)
		roce_collect(tx, number);
	tx->asked = tx->nxt;
	roce_arm_timer(conn);
	return roce_has_work(tx);
}

static enum nic_pull roce_pull(void *owner, struct packet *packet)
{
	struct roce_conn *conn = owner;
	struct roce_tx *tx = &conn->tx;
	bool again = roce_waits_again(tx), more;

	if (!(again || roce_has_new(tx)) || roce_held_back(conn))
		return NIC_NOTHING;
	more = again ? send_again(conn, packet) : send_next(conn, packet);
	roce_pace(tx, packet->size, conn->roce->sim->now);
	return more && !roce_held_back(conn) ? NIC_MORE : NIC_LAST;
}

void roce_tx_wake(struct roce_conn *conn)
{
	struct roce_tx *tx = &conn->tx;

	if (roce_has_work(tx) && !roce_held_back(conn))
		nic_wake(&conn->roce->topo->net.nics[tx->port], &tx->source);
}

void roce_post(struct roce *roce, uint32_t number, uint64_t size)
{
	struct roce_conn *conn = roce->conns[number];
	struct roce_tx *tx = &conn->tx;
	uint64_t mtu = (uint64_t)roce->conf->mtu;

	SIM_BUG_ON(!size);
	/* do the NIC's deferred departures (nic.h) first: they must not see the new message */
	network_catch_up(&roce->topo->net, tx->host, roce->sim->now);
	tx->messages = ring_reserve(tx->messages, &tx->mask, tx->oldest, tx->posted,
				    sizeof(*tx->messages));
	*message(tx, tx->posted++) = (struct roce_message){ .first = tx->end, .size = size };
	tx->end += (size + mtu - 1) / mtu;
	if (roce->topo->net.onlooker)
		why_writes(why_of(&roce->topo->net), roce->protocol, number, tx->end);
	roce_tx_wake(conn);
}

/* --- answers --- */

static void go_back(struct roce_tx *tx)
{
	tx->nxt = tx->asked = tx->una;
	tx->at = tx->oldest;
}

static void on_acknowledged(struct roce_tx *tx, uint64_t number)
{
	tx->una = number;
	tx->timeouts = 0;
	drop_acknowledged(tx);
	if (tx->nxt < number) { /* the sender went back, but these packets have come */
		tx->nxt = number;
		find_message(tx);
	}
}

/* `news`: packets that are known to have come since the last ACK, in order or not. */
static void tell_control(struct roce_conn *conn, uint64_t acked, uint64_t news,
			 const struct packet *packet)
{
	struct roce_tx *tx = &conn->tx;
	sim_time now = conn->roce->sim->now;
	uint64_t mtu = (uint64_t)conn->roce->conf->mtu;
	struct cc_ack ack = {
		.ack = tx->una * mtu,
		.snd_nxt = tx->nxt * mtu,
		.acked = acked * mtu,
		.in_recovery = tx->nxt < tx->max || (tx->select && tx->una < tx->select->recover),
		.growth = tx->limited ? acked * mtu : 0,
		.now = now,
		.rtt = now - packet->echo, /* only streams echo a time; see roce_set_packets() */
	};

	if (tx->telemetry)
		tell_telemetry(tx, packet, &ack);
	if (tx->counts) {
		const struct cc_arrival arrival = {
			.arrived = news * mtu,
			.trimmed = packet->tag & ROCE_TRIMMED ? mtu : 0,
			.flight = tx->select->flight * mtu,
		};

		ack.ece = packet->tag & ROCE_MARKED;
		tx->ops->on_arrival(&tx->cc, &ack, &arrival);
		return;
	}
	tx->ops->on_ack(&tx->cc, &ack);
}

static void on_congestion(struct roce_conn *conn)
{
	conn->stats.marks++;
	if (conn->tx.ops->on_cnp)
		conn->tx.ops->on_cnp(&conn->tx.cc, conn->roce->sim->now);
}

void roce_tx_loss(struct roce_conn *conn)
{
	struct roce_tx *tx = &conn->tx;

	conn->stats.recoveries++;
	if (tx->ops->on_loss)
		tx->ops->on_loss(&tx->cc, conn->roce->sim->now);
}

/* An ACK or NACK acknowledges all packets before `number`. After a NACK the rest is sent again, or
 * what select decides. */
static void on_ack(struct roce_conn *conn, uint64_t number, const struct packet *packet)
{
	struct roce_tx *tx = &conn->tx;
	uint64_t acked = number - tx->una, news = 0;

	if (acked)
		on_acknowledged(tx, number);
	if (tx->select) {
		news = roce_select_take(conn, acked, packet);
	} else if (packet->flags & ROCE_NACK && tx->nxt > tx->una) {
		roce_tx_loss(conn);
		go_back(tx);
	}
	if (tx->asked <= tx->una)
		roce_stop_timer(conn);
	else if (acked)
		roce_arm_timer(conn);
	if (tx->ops->on_ack || tx->counts)
		tell_control(conn, acked, news, packet);
}

void roce_tx_receive(struct roce_conn *conn, const struct packet *packet)
{
	struct roce_tx *tx = &conn->tx;
	uint64_t number = roce_number(roce_psn_of(packet), tx->una);
	bool drained;

	if (packet->kind == PACKET_CONTROL || packet->flags & PACKET_ECE)
		on_congestion(conn);
	if (packet->kind == PACKET_CONTROL || number < tx->una || number > tx->max)
		return;
	drained = number > tx->una && number == tx->end;
	on_ack(conn, number, packet);
	if (drained && conn->app && conn->app->drained) {
		conn->app->drained(conn->owner);
		return; /* the connection may be gone */
	}
	roce_tx_wake(conn);
}

static void roce_on_timer(struct sim *sim, uint32_t entity, void *owner)
{
	struct roce_conn *conn = owner;
	struct roce_tx *tx = &conn->tx;

	(void)entity;
	tx->timer_at = SIM_TIME_MAX;
	if (sim->now < tx->deadline) {
		tx->timer_at = tx->deadline;
		timer_set(sim, &tx->timer, tx->deadline);
		return;
	}
	conn->stats.timeouts++;
	tx->timeouts++;
	if (tx->ops->on_timeout)
		tx->ops->on_timeout(&tx->cc, tx->timeouts,
				    (tx->nxt - tx->una) * (uint64_t)conn->roce->conf->mtu,
				    sim->now);
	if (tx->select)
		roce_select_timed_out(tx);
	else
		go_back(tx);
	roce_tx_wake(conn);
}

/* --- opening and closing --- */

static sim_time round_trip(const struct roce_conn *conn, bool switches)
{
	const struct roce_conf *conf = conn->roce->conf;

	return transport_round_trip(conn->roce->topo, conn->tx.host, &conn->tx.route, conn->rx.host,
				    &conn->rx.route, (uint32_t)(conf->mtu + conf->header),
				    switches);
}

/* NICs begin at the rate of their link, so the first window fills the path. 8e12: bits per byte
 * times picoseconds per second. */
static double first_window(const struct roce_conn *conn)
{
	return (double)round_trip(conn, false) * (double)conn->tx.cc.line / 8e12 +
	       (double)conn->roce->conf->mtu;
}

static void open_timers(struct roce_conn *conn, uint64_t key)
{
	struct sim *sim = conn->roce->sim;
	struct roce_tx *tx = &conn->tx;

	timer_open(sim, &tx->timer, SIM_TIMER, timer_key(TIMER_ROCE, key), roce_on_timer, conn);
	sim_name(sim, roce_on_timer, "RoCE retransmission timeout of connection %n");
	if (!tx->ops->paces)
		return;
	timer_open(sim, &tx->pacing, SIM_TIMER, timer_key(TIMER_PACING, key), roce_on_pacing_timer,
		   conn);
	sim_name(sim, roce_on_pacing_timer, "next paced packet of connection %n");
}

/* The number of packets that the configuration allows in flight. A control that counts them has
 * a largest window of its own, in place of IRN's. */
static uint64_t window_of(const struct roce *roce, const struct cc_ops *cc)
{
	bytes window = cc->selective ? roce->conf->window : roce->window;
	uint64_t packets = window / (uint64_t)roce->conf->mtu;

	if (!window || packets > ROCE_MAX_FLIGHT - 1)
		return ROCE_MAX_FLIGHT - 1;
	return packets ? packets : 1;
}

void roce_tx_routed(struct roce_conn *conn)
{
	struct network *net = &conn->roce->topo->net;
	struct roce_tx *tx = &conn->tx;

	conn->rx.port = network_port(net, conn->rx.host, conn->rx.route.link);
	if (!conn->packets) /* the owner's packets have a NIC of the owner's: roce_set_packets() */
		transport_take_nic(net, tx->host, &tx->route, &tx->source, &tx->port, &tx->cc);
	if (tx->ops->delays)
		tx->cc.switches = round_trip(conn, true);
	if (tx->spray)
		spray_route(tx->spray, conn->roce->topo, tx->host, conn->rx.host, conn->key,
			    &tx->route);
}

static void open_control(struct roce_conn *conn)
{
	const struct roce *roce = conn->roce;
	struct roce_tx *tx = &conn->tx;

	tx->cc = (struct cc){ .ssthresh = INFINITY,
			      .mss = (double)roce->conf->mtu,
			      .conf = roce->conf->control[cc_index(&roce_cc_table, tx->ops)] };
	roce_tx_routed(conn);
	tx->cc.cwnd = first_window(conn);
	if (tx->ops->telemetry)
		open_telemetry(conn);
	if (tx->ops->telemetry || tx->counts)
		tx->cc.trip = ideal_round_trip(
			roce->topo->conf, (uint32_t)roce->conf->mtu + tx->header, conn->rx.answer);
	tx->cc.trims = roce->topo->net.trim;
	cc_open(&tx->cc, tx->ops);
	if (tx->ops->cnp_interval)
		conn->rx.cnp_interval = tx->ops->cnp_interval(&tx->cc);
}

/* The shortest time for which the retransmission timer is set. */
static sim_time shortest(const struct roce_conf *conf)
{
	return conf->rto_low && conf->rto_low < conf->rto ? conf->rto_low : conf->rto;
}

void roce_tx_open(struct roce_conn *conn, uint32_t src, uint32_t dst, const struct cc_ops *cc,
		  uint32_t ack_every, uint64_t key)
{
	const struct roce *roce = conn->roce;
	const struct network *net = &roce->topo->net;
	struct roce_tx *tx = &conn->tx;
	uint64_t first = roce_first_number(roce);

	*tx = (struct roce_tx){
		.source = { .pull = roce_pull,
			    .owner = conn,
			    .deferrable = !cc->paces && nic_deferrable(net, shortest(roce->conf)) },
		.ops = cc,
		.host = src,
		.port = src,
		.una = first,
		.nxt = first,
		.max = first,
		.end = first,
		.asked = first,
		.header = (uint32_t)roce->conf->header,
		.window = window_of(roce, cc),
		.ack_every = ack_every,
		.counts = cc->selective,
		.flags = cc->ecn ? PACKET_ECT : 0,
		.timer_at = SIM_TIME_MAX,
	};
	transport_route(roce->topo, src, dst, key, false, &tx->route);
	roce_select_open(conn, key);
	open_control(conn);
	tx->nic_wait = port_class(net, &net->ports[tx->port])->idle_max;
	open_timers(conn, key);
}

void roce_tx_close(struct roce_conn *conn)
{
	free(conn->tx.messages);
	cc_close(&conn->tx.cc, conn->tx.ops);
	roce_select_close(conn);
	roce_telemetry_free(conn->tx.telemetry);
	nic_forget(&conn->roce->topo->net.nics[conn->tx.port], &conn->tx.source);
	timer_close(conn->roce->sim, &conn->tx.timer);
	if (conn->tx.ops->paces)
		timer_close(conn->roce->sim, &conn->tx.pacing);
}
