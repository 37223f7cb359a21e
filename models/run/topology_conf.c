/* A topology as a scenario describes it: rows, and what they cannot say. */
#include "run/topology_conf.h"

#include <stdio.h>
#include <string.h>

/* Same order as TOPOLOGIES; a unit test holds it against the ops. */
static const char *const kind_names[] = { "star", "leaf-spine", "fat-tree", NULL };

/* --- rows --- */

#define MAX_RATE                                                                                   \
	UINT64_C(100000000000000) /* 100 Tbps: a byte still takes 0.08 ps; rounded up per frame */

static const struct conf_row link_rows[] = {
	{ .name = "rate",
	  .type = CONF_RATE,
	  .offset = offsetof(struct link_conf, rate),
	  .min = 1000000,
	  .max = MAX_RATE,
	  .def = "\"10Gbps\"",
	  .help = "Bit rate, each direction.",
	  .source = "PANAMA section 7" },
	{ .name = "delay",
	  .type = CONF_TIME,
	  .offset = offsetof(struct link_conf, delay),
	  .min = PS_PER_NS,
	  .max = PS_PER_S,
	  .def = "\"1us\"",
	  .help = "Propagation delay, one way.",
	  .source = "our choice (no paper states it)" },
	{ .name = "loss",
	  .type = CONF_REAL,
	  .offset = offsetof(struct link_conf, loss),
	  .rmin = 0,
	  .rmax = 0.9,
	  .def = "0",
	  .help = "Probability that a packet is lost on the link, independently.",
	  .source = "no loss" },
	{ 0 },
};
static const struct conf_table link_table = { "link", link_rows, sizeof(struct link_conf),
					      "A link; both directions are equal." };

static const struct conf_row ecn_step_rows[] = {
	{ .name = "threshold",
	  .type = CONF_QUEUE,
	  .offset = offsetof(struct ecn_conf, step.threshold),
	  .min = 0,
	  .max = UINT64_C(1) << 40,
	  .def = CONF_REQUIRED,
	  .help = "Mark when the instantaneous queue is longer than this, in bytes, as switches "
		  "count; in packets (\"85pkt\") a small one counts as much as a large one." },
	{ 0 },
};
static const struct conf_table ecn_step_table = { "ecn_step", ecn_step_rows,
						  sizeof(struct ecn_conf),
						  "One threshold, as DCTCP." };
static const struct conf_row ecn_ramp_rows[] = {
	{ .name = "kmin",
	  .type = CONF_QUEUE,
	  .offset = offsetof(struct ecn_conf, ramp.kmin),
	  .max = UINT64_C(1) << 40,
	  .def = CONF_REQUIRED,
	  .help = "No mark up to this queue." },
	{ .name = "kmax",
	  .type = CONF_QUEUE,
	  .offset = offsetof(struct ecn_conf, ramp.kmax),
	  .max = UINT64_C(1) << 40,
	  .def = CONF_REQUIRED,
	  .help = "Every packet is marked above this queue." },
	{ .name = "pmax",
	  .type = CONF_REAL,
	  .offset = offsetof(struct ecn_conf, ramp.pmax),
	  .rmin = 0,
	  .rmax = 1,
	  .def = CONF_REQUIRED,
	  .help = "Probability just below kmax." },
	{ 0 },
};
static const struct conf_table ecn_ramp_table = { "ecn_ramp", ecn_ramp_rows,
						  sizeof(struct ecn_conf),
						  "A linear ramp, as DCQCN." };
#define ECN_ALTERNATIVES(BASE)                                                                     \
	{ .name = "switch",                                                                        \
	  .type = CONF_BOOL,                                                                       \
	  .offset = (BASE) + offsetof(struct ecn_conf, on),                                        \
	  .help = "true: mark above 12.9 kB for each Gbps of the link, which is 129 kB (85 "       \
		  "frames "                                                                        \
		  "of 1518 bytes) at 10 Gbps; false: never mark." },                               \
		{ .name = "step",                                                                  \
		  .type = CONF_OBJECT,                                                             \
		  .offset = (BASE),                                                                \
		  .table = &ecn_step_table,                                                        \
		  .help = "One threshold." },                                                      \
		{ .name = "ramp",                                                                  \
		  .type = CONF_OBJECT,                                                             \
		  .offset = (BASE),                                                                \
		  .table = &ecn_ramp_table,                                                        \
		  .help = "Kmin, Kmax, Pmax." },                                                   \
	{                                                                                          \
		0                                                                                  \
	}
static const struct conf_row switch_ecn_forms[] = { ECN_ALTERNATIVES(
	offsetof(struct switch_conf, ecn)) };
static const struct conf_table switch_ecn_table = { "switch_ecn", switch_ecn_forms, 0, NULL };
static const struct conf_row host_ecn_forms[] = { ECN_ALTERNATIVES(
	offsetof(struct host_conf, ecn)) };
static const struct conf_table host_ecn_table = { "host_ecn", host_ecn_forms, 0, NULL };

static const struct conf_row pause_rows[] = {
	{ .name = "xoff",
	  .type = CONF_BYTES,
	  .offset = offsetof(struct pause_conf, set.xoff),
	  .min = 64,
	  .max = UINT64_C(1) << 40,
	  .def = CONF_OPTIONAL,
	  .help = "Bytes that came in by a port at which its neighbour is stopped; without it, "
		  "what the buffer leaves beside headroom and a frame." },
	{ .name = "xon",
	  .type = CONF_BYTES,
	  .offset = offsetof(struct pause_conf, set.xon),
	  .min = 1,
	  .max = UINT64_C(1) << 40,
	  .def = CONF_OPTIONAL,
	  .help = "Bytes at which it may go on; without it, two frames (\"mtu\") below xoff, as "
		  "the 3 KB of Alibaba's HPCC simulator." },
	{ .name = "headroom",
	  .type = CONF_BYTES,
	  .offset = offsetof(struct pause_conf, set.headroom),
	  .min = 64,
	  .max = HEADROOM_MAX,
	  .def = CONF_OPTIONAL,
	  .help = "Memory of each port for what comes after XOFF; without it, exactly what can "
		  "come." },
	{ .name = "alpha",
	  .type = CONF_REAL,
	  .offset = offsetof(struct pause_conf, set.alpha),
	  .rmin = 0.001,
	  .rmax = 64,
	  .def = CONF_OPTIONAL,
	  .help = "In place of xoff and xon: a neighbour is stopped at alpha times the shared "
		  "memory "
		  "of the switch that is free, and may go on two frames below that (dynamic "
		  "threshold)." },
	{ .name = "response",
	  .type = CONF_TIME,
	  .offset = offsetof(struct pause_conf, set.response),
	  .max = PS_PER_MS,
	  .def = "\"0s\"",
	  .help = "From the last bit of a PAUSE frame to its effect on the transmitter.",
	  .source = "our choice (IEEE 802.3 annex 31B gives bounds by rate)" },
	{ .name = "mtu",
	  .type = CONF_BYTES,
	  .offset = offsetof(struct pause_conf, set.mtu),
	  .min = 64,
	  .max = 9216,
	  .def = "\"1518B\"",
	  .help = "Largest frame: what the headroom is made for.",
	  .source = "IEEE 802.3" },
	{ 0 },
};
static const struct conf_table pause_table = { "pause", pause_rows, sizeof(struct pause_conf),
					       "Lossless links by PAUSE." };
static const struct conf_row pause_forms[] = {
	{ .name = "switch",
	  .type = CONF_BOOL,
	  .offset = offsetof(struct switch_conf, pause.on),
	  .help = "true: all by default." },
	{ .name = "set",
	  .type = CONF_OBJECT,
	  .offset = offsetof(struct switch_conf, pause),
	  .table = &pause_table,
	  .help = "Thresholds, headroom." },
	{ 0 },
};
static const struct conf_table pause_alternatives = { "pause_forms", pause_forms, 0, NULL };

static const struct conf_row switch_rows[] = {
	{ .name = "latency",
	  .type = CONF_TIME,
	  .offset = offsetof(struct switch_conf, latency),
	  .max = PS_PER_S,
	  .def = "\"500ns\"",
	  .help = "Pipeline: from the last bit in to the egress queue.",
	  .source = "our choice (store and forward; no paper states it)" },
	{ .name = "buffer",
	  .type = CONF_BYTES,
	  .offset = offsetof(struct switch_conf, buffer),
	  .min = 1518,
	  .max = UINT64_C(1) << 40,
	  .def = CONF_OPTIONAL,
	  .help = "Queue of each egress port; a frame that does not fit is dropped (tail drop). "
		  "With pause: memory of each port for what comes in by it. Without it, 1 MB for "
		  "each 10 Gbps of the port, at least 1 MB.",
	  .source = "our choice: room for eight times the threshold of \"ecn\": true" },
	{ .name = "ecn",
	  .type = CONF_ONEOF,
	  .offset = offsetof(struct switch_conf, ecn),
	  .tag = offsetof(struct switch_conf, ecn.form),
	  .table = &switch_ecn_table,
	  .def = "true",
	  .help = "ECN marking of the egress queues.",
	  .source = "PANAMA section 7: 85 packets at 10 Gbps, here in bytes and in proportion to "
		    "the rate (DCTCP section 3.4: K grows with C x RTT)" },
	{ .name = "pause",
	  .type = CONF_ONEOF,
	  .offset = offsetof(struct switch_conf, pause),
	  .tag = offsetof(struct switch_conf, pause.form),
	  .table = &pause_alternatives,
	  .def = "false",
	  .help = "Lossless links: a switch stops its neighbours before its memory is full "
		  "(PAUSE; PFC of one class).",
	  .source = "off, as in Ethernet" },
	{ 0 },
};
static const struct conf_table switch_table = { "switch", switch_rows, sizeof(struct switch_conf),
						"All switches alike." };

static const char *const nic_modes[] = {
	[NIC_TURNS] = "turns", [NIC_FIFO] = "fifo", [NIC_BYTES] = "bytes", NULL
};

static const struct conf_row host_rows[] = {
	{ .name = "nic",
	  .type = CONF_ENUM,
	  .offset = offsetof(struct host_conf, nic),
	  .choices = nic_modes,
	  .def = "\"turns\"",
	  .help = "turns: connections and trees send in turn, a packet each, and windows wait at "
		  "their "
		  "source; bytes: in turn, equal bytes each; fifo: a window is dumped into one "
		  "queue.",
	  .source = "our choice (TCP small queues, RDMA queue pairs)" },
	{ .name = "latency",
	  .type = CONF_TIME,
	  .offset = offsetof(struct host_conf, latency),
	  .max = PS_PER_S,
	  .def = "\"0s\"",
	  .help = "Processing of every packet that a host receives.",
	  .source = "our choice" },
	{ .name = "jitter",
	  .type = CONF_TIME,
	  .offset = offsetof(struct host_conf, jitter),
	  .max = PS_PER_S,
	  .def = "\"0s\"",
	  .help = "Random addition to that processing, uniform from 0 to this, order kept.",
	  .source = "our choice: none" },
	{ .name = "nic_jitter",
	  .type = CONF_TIME,
	  .offset = offsetof(struct host_conf, nic_jitter),
	  .present = 1 + offsetof(struct host_conf, nic_jitter_given),
	  .max = PS_PER_S,
	  .def = CONF_OPTIONAL,
	  .help = "A NIC that was idle begins to send data up to this later, uniform, so that "
		  "hosts "
		  "do not run in lock-step; \"0s\": at once, for closed forms. Without it, the "
		  "time of "
		  "a frame of 1518 bytes on the link.",
	  .source = "our choice (Floyd and Jacobson, On Traffic Phase Effects, 1992)" },
	{ .name = "queue",
	  .type = CONF_BYTES,
	  .offset = offsetof(struct host_conf, queue),
	  .min = 1518,
	  .def = CONF_OPTIONAL,
	  .help = "Limit of the NIC's queue; without it the queue is not limited." },
	{ .name = "ecn",
	  .type = CONF_ONEOF,
	  .offset = offsetof(struct host_conf, ecn),
	  .tag = offsetof(struct host_conf, ecn.form),
	  .table = &host_ecn_table,
	  .def = "false",
	  .help = "ECN marking of the NIC's queue.",
	  .source = "NICs do not mark by default" },
	{ .name = "slots",
	  .type = CONF_INT,
	  .offset = offsetof(struct host_conf, slots),
	  .imin = 1,
	  .imax = 1024,
	  .def = "1",
	  .help = "Workers that fit on a host, each of a different job.",
	  .source = "one worker per host, as in all five papers' simulations" },
	{ .name = "reduction_rate",
	  .type = CONF_RATE,
	  .offset = offsetof(struct host_conf, reduction_rate),
	  .min = 1000000,
	  .max = UINT64_C(1000000000000000),
	  .def = CONF_OPTIONAL,
	  .help = "Gradients that the parameter servers on a host add up together, first come "
		  "first served; when missing, adding takes no time." },
	{ 0 },
};
static const struct conf_table host_table = { "host", host_rows, sizeof(struct host_conf),
					      "All hosts alike." };

static const char *const class_names[] = {
	[CLASSES_SINGLE] = "single", [CLASSES_CONTROL_FIRST] = "control-first", NULL
};

static const struct conf_row topology_rows[] = {
	{ .name = "kind",
	  .type = CONF_ENUM,
	  .offset = offsetof(struct topology_conf, kind),
	  .choices = kind_names,
	  .def = CONF_REQUIRED,
	  .help = "Shape of the network." },
	{ .name = "hosts",
	  .type = CONF_INT,
	  .offset = offsetof(struct topology_conf, hosts),
	  .imin = 2,
	  .imax = 60000,
	  .def = CONF_OPTIONAL,
	  .help = "star: number of hosts." },
	{ .name = "k",
	  .type = CONF_INT,
	  .offset = offsetof(struct topology_conf, k),
	  .imin = 2,
	  .imax = 64,
	  .def = CONF_OPTIONAL,
	  .help = "fat-tree: ports of a switch (even); k*k*k/4 hosts." },
	{ .name = "leaves",
	  .type = CONF_INT,
	  .offset = offsetof(struct topology_conf, leaves),
	  .imin = 1,
	  .imax = 1024,
	  .def = CONF_OPTIONAL,
	  .help = "leaf-spine: number of leaf switches." },
	{ .name = "spines",
	  .type = CONF_INT,
	  .offset = offsetof(struct topology_conf, spines),
	  .imin = 1,
	  .imax = 1024,
	  .def = CONF_OPTIONAL,
	  .help = "leaf-spine: number of spine switches." },
	{ .name = "hosts_per_leaf",
	  .type = CONF_INT,
	  .offset = offsetof(struct topology_conf, hosts_per_leaf),
	  .imin = 1,
	  .imax = 1024,
	  .def = CONF_OPTIONAL,
	  .help = "leaf-spine: hosts below each leaf." },
	{ .name = "oversubscription",
	  .type = CONF_REAL,
	  .offset = offsetof(struct topology_conf, oversubscription),
	  .rmin = 0.01,
	  .rmax = 1000,
	  .def = CONF_OPTIONAL,
	  .help = "leaf-spine: host bandwidth below a leaf over its up-link bandwidth; sets the "
		  "rate of the "
		  "up-links." },
	{ .name = "link",
	  .type = CONF_OBJECT,
	  .offset = offsetof(struct topology_conf, link),
	  .table = &link_table,
	  .def = "{}",
	  .help = "Links of hosts and, unless uplink is given, all links." },
	{ .name = "uplink",
	  .type = CONF_OBJECT,
	  .offset = offsetof(struct topology_conf, uplink),
	  .table = &link_table,
	  .present = 1 + offsetof(struct topology_conf, uplink_given),
	  .def = CONF_OPTIONAL,
	  .help = "Links between switches, when they differ from those of hosts." },
	{ .name = "switch",
	  .type = CONF_OBJECT,
	  .offset = offsetof(struct topology_conf, switches),
	  .table = &switch_table,
	  .def = "{}",
	  .help = "The switches." },
	{ .name = "host",
	  .type = CONF_OBJECT,
	  .offset = offsetof(struct topology_conf, host),
	  .table = &host_table,
	  .def = "{}",
	  .help = "The hosts and their NICs." },
	{ .name = "classes",
	  .type = CONF_ENUM,
	  .offset = offsetof(struct topology_conf, classes),
	  .choices = class_names,
	  .def = "\"single\"",
	  .help = "single: one queue a port, in the order of arrival; control-first: ACKs and the "
		  "messages of schemes go ahead of data at every port of switches and hosts, "
		  "without preemption, and PAUSE does not stop them. Streams (fluid, analytic) "
		  "have "
		  "no order, and share links alike with both.",
	  .source = "our choice (no paper gives classes of its own to ACKs)" },
	{ .name = "wire_overhead",
	  .type = CONF_BOOL,
	  .offset = offsetof(struct topology_conf, wire_overhead),
	  .def = "true",
	  .help = "Count preamble and inter-frame gap, 20 bytes a frame.",
	  .source = "IEEE 802.3; matches the measured gain of large packets in SwitchML section "
		    "5.5" },
	{ 0 },
};
const struct conf_table topology_table = { "topology", topology_rows, sizeof(struct topology_conf),
					   "The network." };

/* --- checks --- */

static bool key_in(const char *const *keys, const char *key)
{
	for (; *keys; keys++)
		if (!strcmp(*keys, key))
			return true;
	return false;
}

/* The keys that belong to some kinds only, and whether the user gave them. */
static void check_keys(const struct topology_conf *conf, const struct topology_ops *ops,
		       struct conf_doc *doc)
{
	const struct {
		const char *key;
		bool given;
		bool optional;
	} special[] = {
		{ "hosts", conf->hosts != 0, false },
		{ "k", conf->k != 0, false },
		{ "leaves", conf->leaves != 0, false },
		{ "spines", conf->spines != 0, false },
		{ "hosts_per_leaf", conf->hosts_per_leaf != 0, false },
		{ "oversubscription", conf->oversubscription != 0, true },
		{ "uplink", conf->uplink_given, true },
	};

	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		bool used = key_in(ops->keys, special[i].key);
		char pointer[64];

		snprintf(pointer, sizeof(pointer), "/topology/%s", special[i].key);
		if (special[i].given && !used)
			conf_error(doc, pointer, "a %s has no \"%s\"", ops->name, special[i].key);
		else if (!special[i].given && used && !special[i].optional)
			conf_error(doc, "/topology", "a %s needs \"%s\"", ops->name,
				   special[i].key);
	}
}

static void check_ecn(const struct ecn_conf *ecn, const char *pointer, struct conf_doc *doc)
{
	if (ecn->form == ECN_RAMP && ecn->ramp.kmin.packets != ecn->ramp.kmax.packets)
		conf_error(doc, pointer,
			   "kmin and kmax must have the same unit, both packets or both bytes");
	else if (ecn->form == ECN_RAMP && ecn->ramp.kmin.amount >= ecn->ramp.kmax.amount)
		conf_error(doc, pointer, "kmin must be smaller than kmax");
}

static void add_mistake(void *doc, const char *pointer, const char *text)
{
	conf_error(doc, pointer, "%s", text);
}

void topology_check(const struct topology_conf *conf, struct conf_doc *doc)
{
	const struct topology_ops *ops = topology_kind((size_t)conf->kind);
	const struct topology_mistakes to = { add_mistake, doc };
	size_t before = conf_errors(doc);

	check_keys(conf, ops, doc);
	if (conf->uplink_given && conf->oversubscription != 0)
		conf_error(doc, "/topology/oversubscription",
			   "give either \"oversubscription\" or \"uplink\", both set the rate of "
			   "the up-links");
	check_ecn(&conf->switches.ecn, "/topology/switch/ecn", doc);
	check_ecn(&conf->host.ecn, "/topology/host/ecn", doc);
	if (conf_errors(doc) == before)
		ops->check(conf, &to);
}
