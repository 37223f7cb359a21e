/* A stream of bytes from one host to another over the transport that the scenario names: TCP or
 * RoCE, with one of its congestion controls. Flows, schedules and parameter servers use it. Each
 * function calls its counterpart in tcp.h or roce.h. */
#ifndef INASIM_TRANSPORT_CONNECTION_H
#define INASIM_TRANSPORT_CONNECTION_H

#include "transport/roce.h"

/* A value of the key "transport". */
struct transport {
	const char *name;
	bool roce;
	const struct cc_ops *cc;
};

/* The transport at this index; NULL behind the last. transport_names is in the same order. */
const struct transport *transport_kind(unsigned index);
extern const char *const transport_names[];

struct connection {
	struct tcp *tcp; /* of `tcp` and `roce`, the one not used is NULL; not owned */
	struct roce *roce;
	uint32_t number;
};

/* Arguments of tcp_open(). `transport` is an index for transport_kind(). */
struct connection_spec {
	unsigned transport;
	uint32_t src, dst;
	uint32_t ack_every;
	uint8_t class; /* 0: that of the key's job (net/sched.h) */
	uint64_t key;
	const struct tcp_app *app;
	void *owner;
};

struct connection connection_open(struct tcp *tcp, struct roce *roce,
				  const struct connection_spec *spec);
/* How a transport, as in struct connection_spec, cuts messages into frames. */
struct framing connection_framing(const struct tcp *tcp, const struct roce *roce,
				  unsigned transport);
void connection_close(const struct connection *connection);

/* Adds `size` >= 1 bytes to the stream. Over RoCE they are one message. */
void connection_write(const struct connection *connection, uint64_t size);
void connection_expect(const struct connection *connection, uint64_t offset);
uint64_t connection_delivered(const struct connection *connection);
sim_time connection_ideal(const struct connection *connection, bytes size);

const struct transport_stats *connection_stats(const struct connection *connection);

#endif
