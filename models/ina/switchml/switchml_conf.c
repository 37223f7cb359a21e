/* Parameters of SwitchML, and of ps_stream, which sends the same packets. */
#include "ina/switchml/switchml.h"

#include <inttypes.h>

/* elements, header, switch_elements, message */
static const struct switchml_format formats[] = {
	[FORMAT_S19] = { 32, 52, 32, 1 }, /* section 3.4: 180 bytes */
	/* section 5.5: 1516 bytes, "just the first 32 elements" */
	[FORMAT_MTU] = { 366, 52, 32, 1 },
	/* p4app-switchML headers.p4: 52 bytes and an FCS of 4 */
	[FORMAT_32] = { 32, 56, 32, 1 },
	[FORMAT_64] = { 64, 56, 64, 1 },
	[FORMAT_256] = { 256, 56, 256, 1 },
	/* Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4 */
	[FORMAT_RDMA] = { 256, 62, 256, 4, .rdma = true },
};
static const char *const format_names[] = { "s19",     "s19-mtu", "udp-32", "udp-64",
					    "udp-256", "rdma",    NULL };

static const char *const admission_names[] = {
	[ADMISSION_QUEUE] = "queue", [ADMISSION_REFUSE] = "refuse", NULL
};
static const char *const slots_rules[] = { [SLOTS_BDP] = "bdp", [SLOTS_MEMORY] = "memory", NULL };

static const struct conf_row slots_forms[] = {
	CONF_INT("number", struct switchml_conf, slots, CONF_REQUIRED, 1, SWITCHML_SLOTS_MAX,
		 "This many."),
	CONF_ENUM("rule", struct switchml_conf, slots_rule, CONF_REQUIRED, slots_rules,
		  "bdp: the smallest power of two that covers the bandwidth-delay product of the "
		  "job's tree, at most what the memory holds; memory: all that it holds. For "
		  "ps_stream, bdp covers its longest path and the time that a slot waits for the "
		  "copies of all workers, and is raised to a multiple of its servers."),
	{ 0 },
};
static const struct conf_table slots_table = { "switchml_slots", slots_forms,
					       sizeof(struct switchml_conf), NULL };

static const struct conf_row switchml_rows[] = {
	CONF_BYTES("memory", struct switchml_conf, memory, "1MB", 8, UINT64_C(1) << 40,
		   "Aggregation memory of each switch, for all jobs.",
		   "ESA sections 1 and 2.2: 1 MB per job at 100 Gbps"),
	CONF_INT("tenants", struct switchml_conf, tenants, CONF_OPTIONAL, 1, 1000000,
		 "Splits the memory of a switch into so many equal parts; a job has one whole part "
		 "for its life. Default: a job takes what its slots need."),
	CONF_ENUM("admission", struct switchml_conf, admission, "queue", admission_names,
		  "What happens to a job that finds no memory at a switch of its tree. queue: it "
		  "waits, and later jobs wait behind it; refuse: it never runs.",
		  "SwitchML section 6: an admission mechanism; ESA section 2.1"),
	CONF_INT("switch_elements", struct switchml_conf, switch_elements, CONF_OPTIONAL, 1, 2048,
		 "Elements of a packet that a switch adds and has memory for. Default: those of "
		 "the format, or all of elements_per_packet. Fewer elements than in the packet "
		 "emulate a switch that could add more."),
	CONF_INT("message", struct switchml_conf, message, "4", 1, 64,
		 "Packets of a message with format rdma, a power of two. They are retransmitted "
		 "together. They have as many slots, which are reused together when the whole "
		 "result has come in order.",
		 "p4app-switchML rdma.cfg: 1024 elements, 256 in a packet"),
	{ .name = "slots",
	  .type = CONF_ONEOF,
	  .offset = 0,
	  .tag = offsetof(struct switchml_conf, slots_form),
	  .table = &slots_table,
	  .def = "\"bdp\"",
	  .help = "Slots of a job (s).",
	  .source = "SwitchML section 3.6" },
	CONF_ENUM("format", struct switchml_conf, format, "s19", format_names,
		  "s19: 32 elements in 180 bytes; s19-mtu: 366 in 1516, of which the switch adds "
		  "32 and forwards the rest unchanged; udp-32, udp-64, udp-256: the public code's, "
		  "with 56 bytes of headers; rdma: the same code's over unreliable connections of "
		  "RoCE, 256 in a packet with 62 bytes of headers, 16 more in the first packet of "
		  "a message and 4 in the last.",
		  "SwitchML sections 3.4 and 5.5; p4app-switchML"),
	CONF_INT("elements_per_packet", struct switchml_conf, elements_per_packet, CONF_OPTIONAL, 1,
		 2048, "32-bit elements in a packet (k), in place of those of the format."),
	CONF_INT("header", struct switchml_conf, header, CONF_OPTIONAL, 20, 200,
		 "Bytes of a frame besides the elements (Ethernet, IP, UDP, SwitchML, FCS), in "
		 "place of those of the format."),
	CONF_TIME("retransmission_timeout", struct switchml_conf, timeout.first, "1ms", PS_PER_US,
		  100 * PS_PER_S, "First timeout of a slot at a worker.", "SwitchML section 5.5"),
	CONF_ENUM("timeout_rule", struct switchml_conf, timeout.rule, "fixed", rto_names,
		  "How the timeout changes. fixed: never; doubling: doubles when more than "
		  "timeout_threshold packets (with format rdma: messages) of a worker have "
		  "expired, again after more than twice as many, and so on (public client); "
		  "adaptive: follows the round-trip time (RFC 6298).",
		  "SwitchML section 5.5"),
	CONF_INT("timeout_threshold", struct switchml_conf, timeout.threshold, "100", 1, 1000000000,
		 "Expired timers of a worker before the first doubling (timeout_rule doubling).",
		 "p4app-switchML timeouts.cfg"),
	CONF_TIME("timeout_min", struct switchml_conf, timeout.min, "100us", PS_PER_NS,
		  100 * PS_PER_S, "Shortest timeout with timeout_rule adaptive.", "our choice"),
	{ 0 },
};
/* ps_stream has the rows from "slots" on, not those about switch memory and messages. */
#define ROWS_BEFORE_SLOTS 5

const struct conf_table switchml_table = { "switchml", switchml_rows, sizeof(struct switchml_conf),
					   "SwitchML with loss recovery." };

const struct conf_table ps_stream_table = { "ps_stream", switchml_rows + ROWS_BEFORE_SLOTS,
					    sizeof(struct switchml_conf),
					    "Parameter servers with SwitchML's packets." };

struct switchml_format switchml_format_of(const struct switchml_conf *conf)
{
	struct switchml_format format = formats[conf->format];

	if (conf->elements_per_packet)
		format.elements = format.switch_elements = conf->elements_per_packet;
	if (conf->header)
		format.header = conf->header;
	if (conf->switch_elements)
		format.switch_elements = conf->switch_elements;
	if (format.rdma && conf->message)
		format.message = (uint32_t)conf->message;
	return format;
}

uint32_t switchml_frame(const struct switchml_format *format, uint32_t packet)
{
	uint32_t size = (uint32_t)(format->elements * ELEMENT_BYTES + format->header);

	if (!format->rdma)
		return size;
	return size + (packet == 0 ? SWITCHML_FIRST_HEADER : 0) +
	       (packet == format->message - 1 ? SWITCHML_LAST_HEADER : 0);
}

uint32_t switchml_conf_frame(const void *conf)
{
	struct switchml_format format = switchml_format_of(conf);

	return switchml_frame(&format, 0);
}

uint32_t switchml_conf_payload(const void *conf)
{
	return (uint32_t)(switchml_format_of(conf).elements * ELEMENT_BYTES);
}

uint64_t switchml_slot_bytes(const struct switchml_conf *conf)
{
	return SWITCHML_VERSIONS * (uint64_t)switchml_format_of(conf).switch_elements *
	       ELEMENT_BYTES;
}

uint64_t switchml_share(const struct switchml_conf *conf, bytes memory)
{
	return memory / (conf->tenants ? (uint64_t)conf->tenants : 1);
}

/* A job needs the slots that the user gave or, where a rule chooses, those of one message. */
static void check_memory(const struct switchml_conf *conf, const struct switchml_format *format,
			 struct conf_doc *doc)
{
	bool number = conf->slots_form == SLOTS_NUMBER;
	uint64_t slots = number ? (uint64_t)conf->slots : format->message,
		 need = slots * switchml_slot_bytes(conf);

	if (need <= switchml_share(conf, conf->memory))
		return;
	conf_error(doc, number ? "/schemes/switchml/slots" : "/schemes/switchml/memory",
		   "%" PRIu64 " slots of %" PRId64 " elements in two versions need %" PRIu64
		   " bytes, but %s has %" PRIu64 " bytes of aggregation memory",
		   slots, format->switch_elements, need,
		   conf->tenants ? "a tenant of a switch" : "a switch",
		   switchml_share(conf, conf->memory));
}

void switchml_check(const void *self, const struct topology_conf *topology, struct conf_doc *doc,
		    const char *scheme)
{
	const struct switchml_conf *conf = self;
	struct switchml_format format = switchml_format_of(conf);

	(void)topology, (void)scheme;
	if (format.switch_elements > format.elements)
		conf_error(doc, "/schemes/switchml/switch_elements",
			   "a switch cannot add %" PRId64 " elements of a packet that has %" PRId64,
			   format.switch_elements, format.elements);
	if (format.message & (format.message - 1))
		conf_error(doc, "/schemes/switchml/message",
			   "must be a power of two, found %" PRIu32, format.message);
	else if (conf->slots_form == SLOTS_NUMBER && conf->slots % format.message)
		conf_error(doc, "/schemes/switchml/slots",
			   "messages of %" PRIu32
			   " packets have as many slots each; allowed: a multiple of that",
			   format.message);
	check_memory(conf, &format, doc);
}

size_t switchml_idle(const void *self, struct collective_idle list[COLLECTIVE_IDLE_MAX])
{
	const struct switchml_conf *conf = self;
	size_t count = 0;

	if (conf->format != FORMAT_RDMA)
		list[count++] = (struct collective_idle){ "message", "\"format\" is not rdma" };
	if (conf->timeout.rule != RTO_DOUBLING)
		list[count++] = (struct collective_idle){ "timeout_threshold",
							  "\"timeout_rule\" is not doubling" };
	if (conf->timeout.rule != RTO_ADAPTIVE)
		list[count++] = (struct collective_idle){ "timeout_min",
							  "\"timeout_rule\" is not adaptive" };
	return count;
}
