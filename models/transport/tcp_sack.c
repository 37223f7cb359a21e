/* The segments under way of a connection with selective acknowledgements. */
#include "transport/tcp_sack.h"

#include "base/mem.h"
#include "transport/keys.h"

#include <stdlib.h>

/* Paths differ by their queues. A sprayed segment whose path has the longer one is lost to a window
 * of a fourth of the shortest round trip, and the window is halved in vain: so its bound, the
 * smoothed round trip, holds from the start. */
#define SPRAYED_STEPS 64

/* --- reports of the receiver --- */

void tcp_sack_report(struct tcp_rx *rx, const struct packet *packet, bool twice)
{
	struct tcp_told *told = rx->told;
	struct tcp_reports *last = told->last;

	if (told->used == sizeof(last->items) / sizeof(*last->items)) {
		last->next = xcalloc(1, sizeof(*last));
		told->last = last->next;
		told->used = 0;
	}
	told->last->items[told->used++] =
		(struct tcp_report){ .seq = packet->seq, .size = packet->payload, .twice = twice };
	rx->reported++;
}

static struct tcp_report take_report(struct tcp_sack *sack)
{
	struct tcp_reports *front = sack->reports;

	if (sack->taken == sizeof(front->items) / sizeof(*front->items)) {
		sack->reports = front->next;
		sack->taken = 0;
		free(front);
	}
	sack->heard++;
	return sack->reports->items[sack->taken++];
}

static void free_reports(struct tcp_sack *sack)
{
	while (sack->reports) {
		struct tcp_reports *next = sack->reports->next;

		free(sack->reports);
		sack->reports = next;
	}
}

/* --- segments --- */

/* What a segment adds to the bytes in flight: the first copy, and a later one. */
static uint64_t in_flight(const struct tcp_segment *segment)
{
	uint64_t first = segment->state & SEGMENT_LOST ? 0 : segment->size;
	uint64_t again = segment->state & SEGMENT_AGAIN ? segment->size : 0;

	return segment->state & SEGMENT_SACKED ? 0 : first + again;
}

/* Changes the state of a segment, and with it tcp_tx.gone: the bytes from `una` to `nxt` that are
 * not in flight. */
static void set_state(struct tcp_tx *tx, struct tcp_segment *segment, unsigned state)
{
	struct tcp_sack *sack = tx->sack;
	unsigned waits = SEGMENT_LOST | SEGMENT_AGAIN | SEGMENT_SACKED;

	tx->gone += in_flight(segment);
	sack->waiting -= (segment->state & waits) == SEGMENT_LOST;
	sack->sacked -= !!(segment->state & SEGMENT_SACKED);
	segment->state = (uint8_t)state;
	tx->gone -= in_flight(segment);
	sack->waiting += (segment->state & waits) == SEGMENT_LOST;
	sack->sacked += !!(segment->state & SEGMENT_SACKED);
}

static void unlist(struct tcp_sack *sack, uint64_t number)
{
	struct tcp_segment *segment = tcp_segment(sack, number);

	if (segment->older != TCP_NO_SEGMENT)
		tcp_segment(sack, segment->older)->newer = segment->newer;
	else if (sack->oldest == number)
		sack->oldest = segment->newer;
	else
		return; /* was not in the list */
	if (segment->newer != TCP_NO_SEGMENT)
		tcp_segment(sack, segment->newer)->older = segment->older;
	else
		sack->newest = segment->older;
	segment->older = segment->newer = TCP_NO_SEGMENT;
}

static void list_newest(struct tcp_sack *sack, uint64_t number)
{
	struct tcp_segment *segment = tcp_segment(sack, number);

	segment->older = sack->newest;
	segment->newer = TCP_NO_SEGMENT;
	if (sack->newest != TCP_NO_SEGMENT)
		tcp_segment(sack, sack->newest)->newer = number;
	else
		sack->oldest = number;
	sack->newest = number;
}

static void grow(struct tcp_sack *sack)
{
	uint64_t mask = sack->mask * 2 + 1;
	struct tcp_segment *segments = xcalloc(mask + 1, sizeof(*segments));

	for (uint64_t n = sack->first; n < sack->behind; n++)
		segments[n & mask] = *tcp_segment(sack, n);
	free(sack->segments);
	sack->segments = segments;
	sack->mask = mask;
}

void tcp_sack_sent(struct tcp_conn *conn, const struct packet *packet)
{
	struct tcp_sack *sack = conn->tx.sack;
	const struct spray *spray = conn->tx.spray;

	if (sack->behind - sack->first > sack->mask)
		grow(sack);
	*tcp_segment(sack, sack->behind) = (struct tcp_segment){ .seq = packet->seq,
								 .sent = packet->sent_at,
								 .size = packet->payload,
								 .path = spray ? spray->value : 0 };
	list_newest(sack, sack->behind++);
	sack->out += packet->payload;
}

/* The segment that is sent again next: the first that waits, else (a probe) the last. */
static uint64_t next_again(struct tcp_sack *sack)
{
	unsigned waits = SEGMENT_LOST | SEGMENT_AGAIN | SEGMENT_SACKED;

	if (!sack->waiting)
		return sack->behind - 1;
	while ((tcp_segment(sack, sack->again_from)->state & waits) != SEGMENT_LOST)
		sack->again_from++;
	return sack->again_from;
}

struct tcp_segment *tcp_sack_again(struct tcp_conn *conn)
{
	struct tcp_sack *sack = conn->tx.sack;
	uint64_t number = next_again(sack);
	struct tcp_segment *segment = tcp_segment(sack, number);

	sack->forced = false;
	unlist(sack, number);
	if (segment->state & SEGMENT_SACKED) /* a probe of what the receiver has */
		return segment;
	set_state(&conn->tx, segment, segment->state | SEGMENT_AGAIN | SEGMENT_COPIED);
	segment->sent = conn->tx.net->sim->now;
	list_newest(sack, number);
	sack->out += segment->size;
	return segment;
}

void tcp_sack_lose(struct tcp_conn *conn, uint64_t number)
{
	struct tcp_sack *sack = conn->tx.sack;
	struct tcp_segment *segment = tcp_segment(sack, number);

	unlist(sack, number);
	set_state(&conn->tx, segment, (segment->state | SEGMENT_LOST) & ~(unsigned)SEGMENT_AGAIN);
	if (number < sack->again_from)
		sack->again_from = number;
}

bool tcp_sack_waits(const struct tcp_conn *conn, uint64_t *size)
{
	struct tcp_sack *sack = conn->tx.sack;

	if (!sack->waiting)
		return false;
	*size = tcp_segment(sack, next_again(sack))->size;
	return true;
}

/* --- what an ACK brings --- */

/* The number of the segment that begins at `seq`. */
static uint64_t find(const struct tcp_sack *sack, uint64_t seq)
{
	uint64_t low = sack->first, high = sack->behind;

	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (tcp_segment(sack, middle)->seq <= seq)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void arrives(struct tcp_conn *conn, uint64_t number, struct tcp_news *news)
{
	struct tcp_sack *sack = conn->tx.sack;
	struct tcp_segment *segment = tcp_segment(sack, number);

	if (segment->state & SEGMENT_SACKED)
		return;
	news->delivered += segment->size;
	tcp_sack_delivered(conn, segment, news);
	unlist(sack, number);
	set_state(&conn->tx, segment, SEGMENT_SACKED);
	if (sack->sacked_to <= number)
		sack->sacked_to = number + 1;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Forgets what is acknowledged. */
static void forget(struct tcp_conn *conn, uint64_t una)
{
	struct tcp_tx *tx = &conn->tx;
	struct tcp_sack *sack = tx->sack;

	for (; sack->first < sack->behind; sack->first++) {
		struct tcp_segment *segment = tcp_segment(sack, sack->first);

		if (segment->seq + segment->size > una)
			break;
		set_state(tx, segment, 0); /* `una` has passed it */
	}
	sack->sacked_to = later(sack->sacked_to, sack->first);
	sack->lost_to = later(sack->lost_to, sack->first);
	sack->again_from = later(sack->again_from, sack->first);
}

void tcp_sack_take(struct tcp_conn *conn, const struct packet *ack, struct tcp_news *news)
{
	struct tcp_tx *tx = &conn->tx;
	struct tcp_sack *sack = tx->sack;

	for (uint64_t n = sack->first;
	     n < sack->behind && tcp_segment(sack, n)->seq < ack->next_expected; n++)
		arrives(conn, n, news);
	while ((int16_t)(ack->tag - sack->heard) > 0) {
		struct tcp_report report = take_report(sack);

		if (report.twice)
			news->twice = true;
		else if (report.seq >= ack->next_expected)
			arrives(conn, find(sack, report.seq), news);
	}
	forget(conn, ack->next_expected);
}

/* --- opening and closing --- */

void tcp_sack_open(struct tcp_conn *conn, uint64_t key)
{
	const struct tcp_conf *conf = conn->tcp->conf;
	struct tcp_sack *sack = conn->tx.sack;
	struct tcp_segment *segments = sack ? sack->segments : xcalloc(16, sizeof(*segments));
	uint64_t mask = sack ? sack->mask : 15;
	bool reorders = conf->spray || conn->tcp->topo->conf->switches.ways != WAYS_SENDER;
	unsigned steps = reorders ? SPRAYED_STEPS : 1;

	if (conf->reo_wnd_mult)
		steps = (unsigned)conf->reo_wnd_mult;
	if (sack)
		free_reports(sack);
	else
		sack = xcalloc(1, sizeof(*sack));
	*sack = (struct tcp_sack){ .rack = conf->recovery == TCP_RACK,
				   .segments = segments,
				   .mask = mask,
				   .oldest = TCP_NO_SEGMENT,
				   .newest = TCP_NO_SEGMENT,
				   .min_rtt = conn->tx.srtt ? conn->tx.srtt : SIM_TIME_MAX,
				   .reordered = reorders, /* the sender knows */
				   .steps = steps,
				   .first_steps = steps,
				   .reports = xcalloc(1, sizeof(*sack->reports)) };
	sack->told.last = sack->reports;
	conn->tx.sack = sack;
	if (!sack->rack)
		return;
	timer_open(conn->tx.net->sim, &sack->reorder, SIM_TIMER, timer_key(TIMER_RACK, key),
		   tcp_sack_on_reorder_timer, conn);
	sim_name(conn->tcp->sim, tcp_sack_on_reorder_timer,
		 "RACK reordering timer of connection %h");
}

void tcp_sack_close(struct tcp_conn *conn)
{
	if (conn->tx.sack && conn->tx.sack->rack)
		timer_close(conn->tx.net->sim, &conn->tx.sack->reorder);
}

void tcp_sack_free(struct tcp_sack *sack)
{
	if (!sack)
		return;
	free_reports(sack);
	free(sack->segments);
	free(sack);
}
