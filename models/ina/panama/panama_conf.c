/* Parameters of PANAMA and SwitchML*. Only their windows differ. */
#include "ina/panama/panama.h"

#include <inttypes.h>

static const char *const order_names[] = {
	[PANAMA_INDEPENDENT] = "independent", [PANAMA_STRICT] = "strict", NULL
};
static const char *const growth_names[] = { "unmarked", "always", NULL };
static const char *const last_names[] = { "all", "fraction", NULL };
static const char *const rounding_names[] = { "up", "nearest", "down", NULL };

extern const struct conf_table ring_table; /* models/collective/ring.c */
static const struct conf_row below_rows[] = { CONF_APART("ring", 0, &ring_table), { 0 } };
static const struct conf_table below_table = { "panama_below", below_rows, sizeof(void *), NULL };

static const struct conf_row equation_rows[] = {
	CONF_INT("bus", struct panama_equation, bus, CONF_OPTIONAL, 8, 65536,
		 "Bits that a port moves in a cycle (W): its rate is bus / cycle (12.8 Gbps with "
		 "64 bits). Default: the least power of two from 64 on that is fast enough for the "
		 "fastest link: 128 at 25 Gbps, 512 at 100 Gbps.",
		 "PANAMA section 6 and appendix A, equation 1"),
	CONF_TIME("cycle", struct panama_equation, cycle, "5ns", 1, PS_PER_US,
		  "Time of a clock cycle (1 / f).", "PANAMA section 6: 200 MHz"),
	CONF_TIME("adder", struct panama_equation, adder, "15ns", 0, PS_PER_US,
		  "Latency of one adder (L_a); packets pass ceil(log2(ports)) of them.",
		  "PANAMA table 1: aggregation takes 30 ns longer, with 4 ports; its appendix A "
		  "says 10 ns"),
	CONF_TIME("fixed", struct panama_equation, fixed, "25ns", 0, PS_PER_S,
		  "Latency in addition to that of bus and adders.",
		  "PANAMA table 1 less equation 3"),
	{ 0 },
};
static const struct conf_table equation_table = { "panama_equation", equation_rows,
						  sizeof(struct panama_equation),
						  "Latency of an accelerator by equation 3." };

static const struct conf_row latency_forms[] = {
	CONF_TIME("time", struct panama_conf, latency.time, CONF_REQUIRED, 0, PS_PER_S,
		  "Latency that is the same at all switches, whose accelerators pass any rate."),
	CONF_OBJECT(
		"equation", struct panama_conf, latency.equation, CONF_REQUIRED, &equation_table,
		"(S / bus - 1) cycle + adder ceil(log2(ports)) + fixed, S the bits of a packet."),
	{ 0 },
};
static const struct conf_table latency_table = { "panama_latency", latency_forms,
						 sizeof(struct panama_conf), NULL };

/* Rows of both schemes, before and after those of their windows. */
#define ROWS_BEFORE                                                                                \
	CONF_BYTES("memory", struct panama_conf, memory, "64MB", 64, UINT64_C(1) << 40,            \
		   "Packet memory of the accelerator of each switch. It is split evenly among "    \
		   "ports, then among active jobs, then among the job's trees at this switch: "    \
		   "wnd_cap. A job waits while wnd_cap would be less than a packet.",              \
		   "PANAMA section 7"),                                                            \
		CONF_INT("trees", struct panama_conf, trees, "4", 1, PANAMA_TREES_MAX,             \
			 "Aggregation trees of a job (N). Their roots are different "              \
			 "switches of the lowest tier that has all workers below it; with "        \
			 "fewer such switches there are fewer trees, within a rack one.",          \
			 "PANAMA figure 3"),                                                       \
		CONF_INT("only_tree", struct panama_conf, only_tree, CONF_OPTIONAL, 1,             \
			 PANAMA_TREES_MAX,                                                         \
			 "Uses only this one of the trees, counted from 1 by the numbers of "      \
			 "their roots (PANAMA-Agg1...); if there are fewer roots, the count goes " \
			 "on from the first."),                                                    \
		CONF_INT("elements_per_packet", struct panama_conf, packets.elements, "362", 1,    \
			 2048, "32-bit floats in a packet.",                                       \
			 "our choice: packets of 1500 bytes, the largest of PANAMA table 1"),      \
		CONF_INT("header", struct panama_conf, packets.header, "52", 20, 200,              \
			 "Bytes of a frame besides the floats: Ethernet 14, IP 20, PANAMA 14, "    \
			 "FCS 4.",                                                                 \
			 "our choice; PANAMA figure 4 has no sizes"),                              \
		CONF_ENUM("order", struct panama_conf, order, "independent", order_names,          \
			  "Order of chunks over trees. strict: chunks leave in their order; "      \
			  "independent: a tree whose window is full does not hold up the others.", \
			  "PANAMA section 4.2.2: operates independently on each tree (4.1 may "    \
			  "also be read as strict)")

#define ROWS_BEHIND                                                                                \
	CONF_REAL("fraction", struct panama_conf, fraction, "1", 1e-6, 1,                          \
		  "An accelerator sends a sum as soon as it contains this fraction of the "        \
		  "workers below; the other contributions are too late. Below 1 (PANAMA-0.88), "   \
		  "see fraction_last.",                                                            \
		  "PANAMA section 7"),                                                             \
		CONF_ENUM("fraction_last", struct panama_conf, last, "all", last_names,            \
			  "What the last packet of a tensor waits for: all workers, or a slow "    \
			  "one falls behind by iterations; or the fraction, too.",                 \
			  "our choice; PANAMA does not say how iterations stay together"),         \
		CONF_ENUM("fraction_rounding", struct panama_conf, rounding, "up", rounding_names, \
			  "Rounding of the number of workers that the fraction means at an "       \
			  "accelerator: 0.88 of 4 is 4 with up, 3 with down; at least one.",       \
			  "our reading of PANAMA section 7: \"as soon as 88% ... of the "          \
			  "packets from the worker nodes have been received\""),                   \
		CONF_BYTES("aggregate_above", struct panama_conf, threshold, "40MB", 0,            \
			   UINT64_C(1) << 50,                                                      \
			   "Jobs with more gradient bytes than this in an iteration use "          \
			   "accelerators; others run a ring on hosts.",                            \
			   "PANAMA section 3"),                                                    \
		CONF_OBJECT("below", struct panama_conf, below, "{}", &below_table,                \
			    "Parameters of the ring that small jobs run.",                         \
			    "PANAMA section 7: DCTCP for what is not aggregated"),                 \
		{ .name = "accelerator_latency",                                                   \
		  .type = CONF_ONEOF,                                                              \
		  .offset = 0,                                                                     \
		  .tag = offsetof(struct panama_conf, latency.form),                               \
		  .table = &latency_table,                                                         \
		  .def = "{}",                                                                     \
		  .help = "Time from the packet that completes a sum to the egress queue, "        \
			  "besides the switch's own latency. If accelerators delay other "         \
			  "packets, too, put that into the latency of switches.",                  \
		  .source = "PANAMA section 6: the prototype" },                                   \
		CONF_BOOL("recovery", struct panama_conf, recovery, "false",                       \
			  "Allows for lost packets: what is missing is retransmitted on a second " \
			  "sequence of each tree, which takes half of the tree's memory.",         \
			  "our choice; PANAMA section 4.2.2 says that a timeout can be used"),     \
		CONF_TIME(                                                                         \
			"retransmission_timeout", struct panama_conf, timeout, "10ms", PS_PER_US,  \
			100 * PS_PER_S,                                                            \
			"Timeout of recovery; without progress it doubles, up to 64 times this.",  \
			"our choice; PANAMA section 4.2.2: not aggressively")

static const struct conf_row panama_rows[] = {
	ROWS_BEFORE,
	CONF_REAL("initial_window", struct panama_conf, window.initial, "2", 1, PANAMA_CAP_MAX,
		  "First window of a worker on a tree, in packets.", "PANAMA figure 5"),
	CONF_REAL("ssthresh", struct panama_conf, window.ssthresh, "64", 1, PANAMA_CAP_MAX,
		  "An unmarked window doubles up to this, in packets.", "PANAMA figure 5"),
	CONF_REAL("g", struct panama_conf, window.g, "0.0625", 1e-6, 1,
		  "Weight of a round in the fraction of marked packets.",
		  "RFC 8257 section 4.2: 1/16; PANAMA does not say"),
	CONF_ENUM("growth", struct panama_conf, window.growth, "unmarked", growth_names,
		  "Rounds after which a window grows by a packet. always: marked ones, too, after "
		  "the cut, as DCTCP's windows do (RFC 8257).",
		  "PANAMA figure 5"),
	ROWS_BEHIND,
	{ 0 },
};

static const struct conf_row switchml_star_rows[] = {
	ROWS_BEFORE,
	CONF_INT("window", struct panama_conf, window.packets, CONF_OPTIONAL, 1, PANAMA_CAP_MAX,
		 "Window of a worker on a tree, in packets, at most wnd_cap. Default: wnd_cap.",
		 "our choice; PANAMA section 7: no congestion control"),
	ROWS_BEHIND,
	{ 0 },
};

extern const struct conf_table panama_table,
	switchml_star_table; /* named by collective/schemes.c */
const struct conf_table panama_table = { "panama", panama_rows, sizeof(struct panama_conf),
					 "PANAMA: trees, in-order accelerators, ECN windows." };
const struct conf_table switchml_star_table = {
	"switchml_star", switchml_star_rows, sizeof(struct panama_conf),
	"PANAMA's augmented SwitchML: PANAMA without congestion control."
};

/* The bytes that any job takes at least at the smallest switch with hosts, which has *ports ports:
 * a packet of one tree at each port, with recovery two. */
static uint64_t min_memory(const struct panama_conf *conf, const struct topology_conf *topology,
			   uint32_t *ports)
{
	struct topology_shape shape;

	topology_shape(topology, &shape);
	*ports = UINT32_MAX;
	for (uint32_t i = 0; i < shape.switches; i++)
		if (shape.tiers[i] == 1 && shape.ports[i] < *ports)
			*ports = shape.ports[i];
	topology_shape_release(&shape);
	return (uint64_t)*ports * ina_frame(conf) * (conf->recovery ? 2 : 1);
}

/* Warns of ports slower than links. With PAUSE they are an error, because the headroom does not
 * include the packets that wait for them. */
static void check_bus(const struct panama_conf *conf, const struct topology_conf *topology,
		      struct conf_doc *doc, const char *scheme)
{
	struct panama_latency latency = panama_accelerators(conf, topology);
	const struct panama_equation *equation = &latency.equation;
	bps rate = topology_fastest(topology);
	bool pause = topology_pause(topology, false).on;

	if (!panama_slow_port(&latency, ina_frame(conf), rate) || (!pause && conf_errors(doc)))
		return;
	conf_say(doc, pause ? CONF_ERROR : CONF_WARNING,
		 conf_at(doc, "/schemes/%s/accelerator_latency/bus", scheme),
		 "%" PRId64 " bits pass %g Gbps a port, links have up to %g; those need %" PRId64
		 " bits",
		 equation->bus, (double)equation->bus * 1e3 / (double)equation->cycle,
		 (double)rate / 1e9, panama_bus_for(equation, rate));
}

void panama_check(const void *self, const struct topology_conf *topology, struct conf_doc *doc,
		  const char *scheme)
{
	const struct panama_conf *conf = self;
	const char *recovery = conf_at(doc, "/schemes/%s/recovery", scheme);
	uint32_t ports;
	uint64_t min = min_memory(conf, topology, &ports);

	check_bus(conf, topology, doc, scheme);
	if (conf->only_tree > conf->trees)
		conf_error(doc, conf_at(doc, "/schemes/%s/only_tree", scheme),
			   "is larger than the number of trees, %" PRId64, conf->trees);
	if (min > conf->memory)
		conf_error(doc, conf_at(doc, "/schemes/%s/memory", scheme),
			   "no job could ever run: one packet of one tree at each of the %" PRIu32
			   " ports of a switch%s needs %" PRIu64 " bytes, found %" PRIu64,
			   ports, conf->recovery ? ", and one for repairs," : "", min,
			   conf->memory);
	if (conf->recovery && conf->fraction < 1)
		conf_error(doc, recovery, "is not possible with a fraction below 1");
	if (!conf->recovery && topology_loses(topology))
		conf_error(doc, recovery, "links lose packets: must be true, found false");
}

size_t panama_idle(const void *self, struct collective_idle list[COLLECTIVE_IDLE_MAX])
{
	const struct panama_conf *conf = self;
	size_t count = 0;

	if (!conf->recovery)
		list[count++] = (struct collective_idle){ "retransmission_timeout",
							  "without \"recovery\" nothing is sent "
							  "again" };
	if (conf->fraction >= 1) {
		list[count++] = (struct collective_idle){ "fraction_last", "\"fraction\" is 1" };
		list[count++] =
			(struct collective_idle){ "fraction_rounding", "\"fraction\" is 1" };
	}
	if (conf->only_tree || conf->trees == 1)
		list[count++] = (struct collective_idle){ "order", "jobs have one tree" };
	return count;
}
