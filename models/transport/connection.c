#include "transport/connection.h"

#include "transport/cc/dcqcn.h"
#include "transport/cc/dctcp.h"

extern const struct cc_ops reno_cc, cubic_cc, swift_cc, line_rate_cc, hpcc_cc, timely_cc, nscc_cc;

/* name, over RoCE, congestion control */
#define TRANSPORTS(X)                                                                              \
	X("dctcp", false, &dctcp_cc)                                                               \
	X("reno", false, &reno_cc)                                                                 \
	X("swift", false, &swift_cc)                                                               \
	X("dcqcn", true, &dcqcn_cc)                                                                \
	X("roce_swift", true, &swift_cc)                                                           \
	X("roce", true, &line_rate_cc)                                                             \
	X("cubic", false, &cubic_cc)                                                               \
	X("hpcc", true, &hpcc_cc)                                                                  \
	X("timely", true, &timely_cc)                                                              \
	X("nscc", true, &nscc_cc)

#define KIND(...) { __VA_ARGS__ },
static const struct transport kinds[] = { TRANSPORTS(KIND) };
#undef KIND

#define NAME(name, ...) name,
const char *const transport_names[] = { TRANSPORTS(NAME) NULL };
#undef NAME

const struct transport *transport_kind(unsigned index)
{
	return index < sizeof(kinds) / sizeof(kinds[0]) ? &kinds[index] : NULL;
}

struct connection connection_open(struct tcp *tcp, struct roce *roce,
				  const struct connection_spec *spec)
{
	const struct transport *kind = transport_kind(spec->transport);
	struct connection conn = { 0 };

	if (kind->roce) {
		conn.roce = roce;
		conn.number = roce_open(roce, spec->src, spec->dst, kind->cc, spec->ack_every,
					spec->key, spec->app, spec->owner);
		if (spec->class)
			roce_set_class(roce, conn.number, spec->class);
		return conn;
	}
	conn.tcp = tcp;
	conn.number = tcp_open(tcp, spec->src, spec->dst, kind->cc, spec->ack_every, spec->key,
			       spec->app, spec->owner);
	if (spec->class)
		tcp_set_class(tcp, conn.number, spec->class);
	return conn;
}

struct framing connection_framing(const struct tcp *tcp, const struct roce *roce,
				  unsigned transport)
{
	return transport_kind(transport)->roce ? roce_framing(roce) : tcp_framing(tcp);
}

void connection_close(const struct connection *connection)
{
	if (connection->roce)
		roce_close(connection->roce, connection->number);
	else
		tcp_close(connection->tcp, connection->number);
}

void connection_write(const struct connection *connection, uint64_t size)
{
	if (connection->roce)
		roce_post(connection->roce, connection->number, size);
	else
		tcp_write(connection->tcp, connection->number, size);
}

void connection_expect(const struct connection *connection, uint64_t offset)
{
	if (connection->roce)
		roce_expect(connection->roce, connection->number, offset);
	else
		tcp_expect(connection->tcp, connection->number, offset);
}

uint64_t connection_delivered(const struct connection *connection)
{
	return connection->roce ? roce_delivered(connection->roce, connection->number)
				: tcp_delivered(connection->tcp, connection->number);
}

sim_time connection_ideal(const struct connection *connection, bytes size)
{
	return connection->roce ? roce_ideal(connection->roce, connection->number, size)
				: tcp_ideal(connection->tcp, connection->number, size);
}

const struct transport_stats *connection_stats(const struct connection *connection)
{
	return connection->roce ? roce_stats(connection->roce, connection->number)
				: tcp_stats(connection->tcp, connection->number);
}
