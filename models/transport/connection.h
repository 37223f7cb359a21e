/* A stream of bytes from one host to another over the transport that the scenario names: TCP or
 * RoCE, with one of its congestion controls. For all that takes any transport: flows, schedules and
 * parameter servers. The functions are those of tcp.h and roce.h. */
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
	struct tcp *tcp; /* one of the two is NULL; not owned */
	struct roce *roce;
	uint32_t number;
};

/* What tcp_open() takes; `transport` is an index of transport_kind(). */
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

/* `size` >= 1 more bytes. Over RoCE they are a message. */
void connection_write(const struct connection *connection, uint64_t size);
void connection_expect(const struct connection *connection, uint64_t offset);
uint64_t connection_delivered(const struct connection *connection);
sim_time connection_ideal(const struct connection *connection, bytes size);

const struct transport_stats *connection_stats(const struct connection *connection);

#endif
