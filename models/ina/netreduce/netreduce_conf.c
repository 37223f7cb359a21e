/* Parameters of NetReduce. */
#include "ina/netreduce/netreduce.h"

#include "transport/cc/dcqcn.h"
#include "transport/spray.h"

#include <inttypes.h>

#define MESSAGES_MAX 1024

extern const struct cc_ops line_rate_cc;

static const char *const control_names[] = {
	[NETREDUCE_DCQCN] = "dcqcn", [NETREDUCE_LINE_RATE] = "roce", NULL
};

static const char *const repeats_names[] = {
	[NETREDUCE_EACH] = "each", [NETREDUCE_ONCE] = "once", NULL
};

static const struct conf_row netreduce_rows[] = {
	CONF_BYTES("memory", struct netreduce_conf, memory, "17.4MB", 1, UINT64_C(1) << 40,
		   "Payload buffer of the accelerator at each switch, for all jobs. A job needs 2 "
		   "x window x message x roce/mtu bytes for each ring and each of its workers "
		   "below the switch (at higher switches: each switch below).",
		   "NetReduce section 4: the FPGA's 993 blocks of 36 Kb are 26.27 % of all"),
	CONF_INT("window", struct netreduce_conf, window, "2", 1, MESSAGES_MAX / 2,
		 "Messages that a worker may have sent without having their results (N), on each "
		 "ring.",
		 "NetReduce section 5.1"),
	CONF_INT("message", struct netreduce_conf, length, "170", 1, 10000,
		 "Packets of a message (MsgLen). A tensor is padded to whole messages.",
		 "NetReduce section 5.1"),
	CONF_INT("rings", struct netreduce_conf, rings, "1", 1, NETREDUCE_RINGS_MAX,
		 "Rings of a job over the same hosts. Each ring has an equal part of every tensor, "
		 "and its own connections, windows and memory.",
		 "NetReduce section 3.4: one for each GPU of a machine"),
	CONF_INT("header", struct netreduce_conf, header, "16", 0, 256,
		 "Bytes of the INA header, one per message.", "our choice: the paper does not say"),
	CONF_TIME("latency", struct netreduce_conf, latency, "1us", 0, PS_PER_S,
		  "Time from when a packet leaves the switch for its accelerator until the "
		  "resulting packet is back in the switch.",
		  "our choice: two hops and a pipeline; the round trip is 6.3 us (section 5.2)"),
	CONF_ENUM("transport", struct netreduce_conf, transport, "dcqcn", control_names,
		  "Rate of the connections. dcqcn: by DCQCN; roce: always that of the link.",
		  "NetReduce section 3.2"),
	CONF_ENUM("repeats", struct netreduce_conf, repeats, "each", repeats_names,
		  "What a root above other switches does with retransmitted packets of a sum that "
		  "it has. each: answers each of them, to all workers; once: answers one in the "
		  "time that an idle path takes from a host up to the root and down again.",
		  "NetReduce section 3.2: retransmitted packets are not handled specifically"),
	CONF_INT("ack_every", struct netreduce_conf, ack_every, "0", 0, 4096,
		 "Packets per ACK, in place of roce/ack_every; the end of a message is always "
		 "acknowledged. 0: only the end is.",
		 "our choice: the paper does not say"),
	CONF_OBJECT("roce", struct netreduce_conf, roce, "{}", &roce_table,
		    "RoCE parameters of these connections."),
	{ 0 },
};
const struct conf_table netreduce_table = { "netreduce", netreduce_rows,
					    sizeof(struct netreduce_conf), "NetReduce over RoCE." };

const struct cc_ops *netreduce_control(const struct netreduce_conf *conf)
{
	return conf->transport == NETREDUCE_DCQCN ? &dcqcn_cc : &line_rate_cc;
}

const struct transport *netreduce_transport(const void *conf)
{
	const struct cc_ops *control = netreduce_control(conf);
	unsigned i = 0;

	while (!transport_kind(i)->roce || transport_kind(i)->cc != control)
		i++;
	return transport_kind(i);
}

bytes netreduce_bytes(const struct netreduce_conf *conf, uint32_t rows)
{
	return (bytes)(2 * conf->window * conf->length * conf->rings * conf->roce.mtu * rows);
}

uint32_t netreduce_packet(const struct netreduce_conf *conf)
{
	return (uint32_t)(conf->roce.mtu + conf->roce.header);
}

uint32_t netreduce_frame(const void *self)
{
	const struct netreduce_conf *conf = self;

	return netreduce_packet(conf) + (uint32_t)(conf->roce.write_header + conf->header);
}

uint32_t netreduce_payload(const void *self)
{
	return (uint32_t)((const struct netreduce_conf *)self)->roce.mtu;
}

bytes netreduce_window(const struct netreduce_conf *conf)
{
	return (bytes)(conf->rings * conf->window * conf->length) * netreduce_packet(conf);
}

void netreduce_warn(const void *self, const struct topology_conf *topology, uint32_t workers,
		    uint32_t servers, struct conf_doc *doc, const char *pointer)
{
	const struct netreduce_conf *conf = self;

	(void)workers, (void)servers, (void)pointer;
	roce_warn(&conf->roce, topology, netreduce_window(conf), doc, "/schemes/netreduce/roce");
}

const char netreduce_too_large[] =
	"the accelerator of a switch has no room for two windows of each worker and switch below "
	"it (raise \"memory\", or lower \"window\", \"message\" or \"rings\")";

/* In the best placement a job has equally many workers below each of the lowest switches. */
const char *netreduce_refuses(const void *self, const struct topology_conf *topology,
			      uint32_t workers, uint32_t servers)
{
	const struct netreduce_conf *conf = self;
	uint64_t racks = topology_racks(topology);
	uint32_t below = (uint32_t)((workers + racks - 1) / racks);

	(void)servers;
	if (netreduce_bytes(conf, 1) > conf->memory || topology_own_memory(topology))
		return NULL; /* netreduce_check() or admission reports it */
	return netreduce_bytes(conf, below) > conf->memory ? netreduce_too_large : NULL;
}

/* Its switches count on packets in order, on one path. */
static void check_order(const struct roce_conf *roce, struct conf_doc *doc)
{
	const struct {
		const char *key;
		bool given;
	} keys[] = { { "recovery", roce->recovery != ROCE_GO_BACK_N },
		     { "rto_low", roce->rto_low > 0 },
		     { "reorder", roce->reorder_given },
		     { "spray", roce->spray != SPRAY_NONE } };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].given)
			conf_error(doc, conf_at(doc, "/schemes/netreduce/roce/%s", keys[i].key),
				   "NetReduce's switches count on packets in order: only "
				   "\"recovery\": \"go_back_n\", without \"spray\"");
}

void netreduce_check(const void *self, const struct topology_conf *topology, struct conf_doc *doc,
		     const char *scheme)
{
	const struct netreduce_conf *conf = self;

	(void)topology, (void)scheme;
	check_order(&conf->roce, doc);
	if (2 * conf->window * conf->length > ROCE_MAX_FLIGHT)
		conf_error(doc, "/schemes/netreduce/message",
			   "2 x %" PRId64 " messages (\"window\") of %" PRId64
			   " packets are more than 24-bit sequence numbers tell apart; allowed: at "
			   "most %" PRId64,
			   conf->window, conf->length,
			   (int64_t)ROCE_MAX_FLIGHT / (2 * conf->window));
	if (conf->roce.mtu % ELEMENT_BYTES)
		conf_error(doc, "/schemes/netreduce/roce/mtu",
			   "a packet has whole elements; allowed: multiples of %d", ELEMENT_BYTES);
	if (netreduce_bytes(conf, 1) > conf->memory)
		conf_error(doc, "/schemes/netreduce/memory",
			   "%" PRIu64 " bytes do not hold 2 x %" PRId64 " messages of %" PRId64
			   " packets of a single worker, on %" PRId64 " ring%s; allowed: at least "
			   "\"%" PRIu64 "B\"",
			   conf->memory, conf->window, conf->length, conf->rings,
			   conf->rings > 1 ? "s" : "", netreduce_bytes(conf, 1));
}
