/* A stream of bytes from one host to another over what the scenario names as its transport: TCP or
 * RoCE, each with one of its congestion controls. For flows, rings and parameter servers, which
 * take any; see tcp.h and roce.h for what the functions mean. */
#ifndef INASIM_TRANSPORT_CONNECTION_H
#define INASIM_TRANSPORT_CONNECTION_H

#include "transport/roce.h"

/* What users write under "transport". */
struct transport {
	const char *name;
	bool roce;
	const struct cc_ops *cc;
};

/* NULL behind the last; the names for ENUM rows are in the same order. */
const struct transport *transport_kind(unsigned index);
extern const char *const transport_names[];

struct connection {
	struct tcp *tcp;   /* NULL unless it is over TCP; not owned */
	struct roce *roce; /* the same of RoCE */
	uint32_t number;
};

/* As tcp_open(); `transport` is the index of a kind. */
struct connection_spec {
	unsigned transport;
	uint32_t src, dst;
	uint32_t ack_every;
	uint64_t key;
	const struct tcp_app *app;
	void *owner;
};

struct connection connection_open(struct tcp *tcp, struct roce *roce,
				  const struct connection_spec *spec);
void connection_close(const struct connection *connection);

/* More bytes, at least one. Over RoCE they are a message. */
void connection_write(const struct connection *connection, uint64_t size);
void connection_expect(const struct connection *connection, uint64_t offset);
uint64_t connection_delivered(const struct connection *connection);
/* Payload bytes that are not at the receiver yet, of a stream of `size`; TCP only. */
uint64_t connection_missing(const struct connection *connection, uint64_t size);
sim_time connection_ideal(const struct connection *connection, bytes size);

/* Packets with data that were sent again; timeouts. */
uint64_t connection_retransmissions(const struct connection *connection);
uint64_t connection_timeouts(const struct connection *connection);

#endif
