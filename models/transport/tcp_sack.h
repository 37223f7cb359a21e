/* Selective acknowledgements of a TCP connection, and the loss detection that uses them: RFC 6675,
 * or RACK-TLP (RFC 8985) with the proportional rate reduction of RFC 6937 as Linux runs it. Only
 * for tcp*.c; connections with NewReno's recovery have none of this.
 *
 * Modelled: the sender's record of each segment until it is acknowledged; what is in flight without
 * what has arrived or is lost (RFC 6675, section 4, "pipe"); losses that are detected by three
 * segments that arrived of those behind (RFC 6675), or by time (RFC 8985, section 6); duplicates
 * that the receiver reports (RFC 2883), which widen RACK's window; tail loss probes (section 7).
 *
 * Simplified: an ACK tells all that has arrived until then, not three blocks of it (RFC 2018, which
 * loses nothing either unless many ACKs in a row are lost). RFC 6675's rules 3 and 4 (segments that
 * are not lost are sent again when there is nothing else) are left out. No F-RTO, no undoing of a
 * reduction. */
#ifndef INASIM_TRANSPORT_TCP_SACK_H
#define INASIM_TRANSPORT_TCP_SACK_H

#include "transport/tcp_conn.h"

/* What a receiver reports: a segment that came out of order, or twice. An ACK is a packet without
 * room for blocks; it has the number of reports until then (`tag`), and they are kept here, in the
 * order of arrival. The receiver adds at the end, the sender takes from the front what an ACK told
 * of. */
struct tcp_report {
	uint64_t seq;
	uint32_t size;
	bool twice;
};

struct tcp_reports {
	struct tcp_reports *next;
	struct tcp_report items[128];
};

/* The receiver's end. */
struct tcp_told {
	struct tcp_reports *last;
	uint32_t used; /* items of `last` */
};

enum {
	SEGMENT_SACKED = 1,
	SEGMENT_LOST = 2,
	SEGMENT_AGAIN = 4,  /* was sent again, and that copy is not lost */
	SEGMENT_COPIED = 8, /* was sent again at least once */
};

/* A segment that was sent and is not acknowledged. */
struct tcp_segment {
	uint64_t seq;
	sim_time sent;         /* the newest copy */
	uint64_t older, newer; /* numbers in the list by `sent` */
	uint32_t size;
	uint16_t path; /* spray.h: value of the newest copy */
	uint8_t state;
};

/* What an ACK brought. */
struct tcp_news {
	uint64_t delivered; /* bytes */
	sim_time now, echo;
	bool advanced, lost, twice, marked;
};

#define TCP_NO_SEGMENT UINT64_MAX

/* The sender's end. Segments are numbered in the order of the stream; the one with number n is
 * segments[n & mask]. The list by time of sending has those that are neither SACKed nor lost. */
struct tcp_sack {
	bool rack; /* else RFC 6675 */
	struct tcp_segment *segments;
	uint64_t mask, first, behind; /* numbers: first that is kept, behind the last */
	uint64_t oldest, newest;      /* of the list; TCP_NO_SEGMENT = empty */
	uint64_t sacked_to;           /* behind the last SACKed one; at least `first` */
	uint64_t lost_to;             /* RFC 6675: below, all that are not SACKed are lost */
	uint64_t again_from;          /* below, none waits to be sent again */
	uint64_t waiting;             /* lost, and not sent again since */
	uint64_t sacked;              /* segments */
	bool forced;                  /* the first that waits goes out whatever the window is */
	/* reports */
	struct tcp_reports *reports;
	uint32_t taken; /* items of `reports` */
	uint16_t heard; /* number of reports, modulo 2^16 */
	struct tcp_told told;
	/* RACK: of the segment that was sent last of those delivered, see RFC 8985, section 5.2 */
	sim_time sent, rtt, min_rtt;
	uint64_t end, highest; /* its end; the highest end that was delivered */
	uint64_t round_end;    /* of the round in which a duplicate widened the window */
	unsigned steps, first_steps, persist; /* reo_wnd_mult, now and without duplicates */
	bool reordered;
	struct timer reorder;
	/* TLP */
	bool probing;       /* tcp_tx.deadline is a probe's, not the retransmission timeout's */
	bool probe;         /* a probe goes out next */
	bool probe_copy;    /* the probe was no new data */
	uint64_t probe_end; /* nothing below is acknowledged yet; 0 = no probe under way */
	/* PRR, in bytes */
	double prior, reduced, out;
};

/* tcp_sack.c: segments and what is known of them */
void tcp_sack_open(struct tcp_conn *conn, uint64_t key);
void tcp_sack_close(struct tcp_conn *conn);
void tcp_sack_free(struct tcp_sack *sack);
/* The receiver got a segment out of order, or (`twice`) one that it had. */
void tcp_sack_report(struct tcp_rx *rx, const struct packet *packet, bool twice);
static inline struct tcp_segment *tcp_segment(const struct tcp_sack *sack, uint64_t number)
{
	return &sack->segments[number & sack->mask];
}
/* A new segment leaves. */
void tcp_sack_sent(struct tcp_conn *conn, const struct packet *packet);
/* The segment that leaves again now: the first that is lost, else, as a probe, the last. */
struct tcp_segment *tcp_sack_again(struct tcp_conn *conn);
/* Whether a lost segment waits to be sent again. If so, sets *size to its bytes. */
bool tcp_sack_waits(const struct tcp_conn *conn, uint64_t *size);
void tcp_sack_lose(struct tcp_conn *conn, uint64_t number);
/* Takes in an ACK: all below `una` is there, and what it reports. */
void tcp_sack_take(struct tcp_conn *conn, const struct packet *ack, struct tcp_news *news);

/* tcp_rack.c: losses, probes and the window in recovery */
void tcp_sack_delivered(struct tcp_conn *conn, const struct tcp_segment *segment,
			const struct tcp_news *news);
/* An ACK that is not below `una`. Fills in `acked` (what has newly arrived, in order or not). */
void tcp_sack_receive(struct tcp_conn *conn, const struct packet *packet, struct cc_ack *ack);
/* Sets tcp_tx.resend: whether a segment may go out again now. */
void tcp_sack_look(struct tcp_conn *conn);
bool tcp_sack_may_probe(const struct tcp_conn *conn);
/* The time until the next timeout: `rto`, or earlier a probe's. */
sim_time tcp_sack_timeout(struct tcp_conn *conn, sim_time rto);
/* The timer has run out. Returns true if that was for a probe, which is now due. */
bool tcp_sack_probes(struct tcp_conn *conn);
/* The retransmission timer has run out, and the window is cut. */
void tcp_sack_timed_out(struct tcp_conn *conn);
/* A probe leaves: new data, or (`copy`) a segment again. */
void tcp_sack_probed(struct tcp_conn *conn, bool copy);
void tcp_sack_on_reorder_timer(struct sim *sim, uint32_t entity, void *owner);

#endif
