#include "scenario/topology_conf.h"

#include "collective/machine_ready.h"
#include "scenario/graph_conf.h"
#include "scenario/scenario.h"

#include <inttypes.h>
#include <string.h>

/* In the order of TOPOLOGIES; a unit test compares these with the names in the ops. */
static const char *const kind_names[] = { "star", "leaf-spine", "fat-tree", "graph", NULL };

/* --- rows --- */

#define MEMORY_MAX (UINT64_C(1) << 40) /* bytes of a port or a switch; more than any real one */

static const struct conf_row link_rows[] = {
	CONF_RATE("rate", struct link_conf, rate, "10Gbps", 1000000, TOPOLOGY_RATE_MAX,
		  "Bit rate, each direction.", "PANAMA section 7"),
	CONF_TIME("delay", struct link_conf, delay, "1us", PS_PER_NS, PS_PER_S,
		  "Propagation delay, one way.", "our choice (no paper states it)"),
	CONF_REAL("loss", struct link_conf, loss, "0", 0, 0.9,
		  "Probability that a packet is lost on the link, independently.", "no loss"),
	{ 0 },
};
static const struct conf_table link_table = { "link", link_rows, sizeof(struct link_conf),
					      "A link; both directions are equal." };

static const struct conf_row ecn_step_rows[] = {
	CONF_QUEUE("threshold", struct ecn_conf, step.threshold, CONF_REQUIRED, 0, MEMORY_MAX,
		   "Mark when the instantaneous queue is longer than this: in bytes, as switches "
		   "count, or in packets (\"85pkt\"), where a small one counts as much as a large "
		   "one."),
	{ 0 },
};
const struct conf_table ecn_step_table = { "ecn_step", ecn_step_rows, sizeof(struct ecn_conf),
					   "One threshold, as DCTCP." };
static const struct conf_row ecn_ramp_rows[] = {
	CONF_QUEUE("kmin", struct ecn_conf, ramp.kmin, CONF_REQUIRED, 0, MEMORY_MAX,
		   "No mark up to this queue."),
	CONF_QUEUE("kmax", struct ecn_conf, ramp.kmax, CONF_REQUIRED, 0, MEMORY_MAX,
		   "Every packet is marked above this queue."),
	CONF_REAL("pmax", struct ecn_conf, ramp.pmax, CONF_REQUIRED, 0, 1,
		  "Probability just below kmax."),
	{ 0 },
};
const struct conf_table ecn_ramp_table = { "ecn_ramp", ecn_ramp_rows, sizeof(struct ecn_conf),
					   "A linear ramp, as DCQCN." };
static const struct conf_row switch_ecn_forms[] = { ECN_FORMS(struct switch_conf, ecn), { 0 } };
static const struct conf_table switch_ecn_table = { "switch_ecn", switch_ecn_forms, 0, NULL };
static const struct conf_row host_ecn_forms[] = { ECN_FORMS(struct scenario, topology.host.ecn),
						  { 0 } };
static const struct conf_table host_ecn_table = { "host_ecn", host_ecn_forms, 0, NULL };

static const struct conf_row pause_rows[] = {
	CONF_BYTES("xoff", struct pause_conf, set.xoff, CONF_OPTIONAL, 64, MEMORY_MAX,
		   "When so many bytes that came in by a port are queued, its neighbour is "
		   "stopped. Default: the buffer less headroom and a frame."),
	CONF_BYTES("xon", struct pause_conf, set.xon, CONF_OPTIONAL, 1, MEMORY_MAX,
		   "When so few are left, the neighbour may go on. Default: two frames (\"mtu\") "
		   "below xoff, as the 3 KB of Alibaba's HPCC simulator."),
	CONF_BYTES("headroom", struct pause_conf, set.headroom, CONF_OPTIONAL, 64, HEADROOM_MAX,
		   "Memory of each port for what arrives after XOFF. Default: exactly what can "
		   "arrive."),
	CONF_REAL(
		"alpha", struct pause_conf, set.alpha, CONF_OPTIONAL, 0.001, 64,
		"Dynamic threshold, in place of xoff and xon: a neighbour is stopped at alpha "
		"times the free shared memory of the switch, and may go on two frames below that."),
	CONF_TIME("response", struct pause_conf, set.response, "0s", 0, PS_PER_MS,
		  "Time from the last bit of a PAUSE frame to its effect on the transmitter.",
		  "our choice (IEEE 802.3 annex 31B gives bounds by rate)"),
	CONF_BYTES("mtu", struct pause_conf, set.mtu, "1518B", 64, 9216,
		   "Largest frame; the headroom has room for frames of this size.", "IEEE 802.3"),
	{ 0 },
};
static const struct conf_table pause_table = { "pause", pause_rows, sizeof(struct pause_conf),
					       "Lossless links by PAUSE." };
static const struct conf_row pause_forms[] = {
	CONF_BOOL("switch", struct switch_conf, pause.on, CONF_REQUIRED,
		  "true: with all defaults."),
	CONF_OBJECT("set", struct switch_conf, pause, CONF_REQUIRED, &pause_table,
		    "Thresholds, headroom."),
	{ 0 },
};
static const struct conf_table pause_alternatives = { "pause_forms", pause_forms, 0, NULL };

static const struct conf_row shared_rows[] = {
	CONF_BYTES("size", struct shared_conf, size, CONF_REQUIRED, 1518, MEMORY_MAX,
		   "Of a switch, for all its ports."),
	CONF_REAL("alpha", struct shared_conf, alpha, "1", 0.001, 64,
		  "A port may hold this many times what is free.",
		  "ns3-datacenter's model of SONiC"),
	{ 0 },
};
static const struct conf_table shared_table = { "shared_buffer", shared_rows,
						sizeof(struct shared_conf),
						"A buffer that ports share." };

static const char *const ways_names[] = {
	[WAYS_SENDER] = "sender", [WAYS_SHORTEST] = "shortest", NULL
};

static const struct conf_row switch_rows[] = {
	CONF_TIME("latency", struct switch_conf, latency, "500ns", 0, PS_PER_S,
		  "Pipeline: time from the last bit of a packet to its egress queue.",
		  "our choice (store and forward; no paper states it)"),
	CONF_BYTES("buffer", struct switch_conf, buffer, CONF_OPTIONAL, 1518, MEMORY_MAX,
		   "Queue of each egress port; a frame that does not fit is dropped (tail drop). "
		   "With pause: memory for what comes in by each port. Default: 1 MB for each 10 "
		   "Gbps of the port, at least 1 MB.",
		   "our choice: room for eight times the threshold of \"ecn\": true"),
	CONF_OBJECT("shared_buffer", struct switch_conf, shared, CONF_OPTIONAL, &shared_table,
		    "One buffer for all egress ports of a switch, with dynamic thresholds; "
		    "\"buffer\", if given, is the limit of each beside that. With pause, \"alpha\" "
		    "of pause shares what comes in. Default: each port has its own."),
	CONF_ONEOF("ecn", struct switch_conf, ecn, "true", &switch_ecn_table, ecn.form,
		   "ECN marking of the egress queues.",
		   "PANAMA section 7: 85 packets at 10 Gbps, here in bytes and in proportion to "
		   "the rate (DCTCP section 3.4: K grows with C x RTT)"),
	CONF_ONEOF("pause", struct switch_conf, pause, "false", &pause_alternatives, pause.form,
		   "Lossless links: a switch stops its neighbours before its memory is full "
		   "(PAUSE; PFC of one class).",
		   "off, as in Ethernet"),
	CONF_BOOL("trim", struct switch_conf, trim, "false",
		  "true: a RoCE packet of \"recovery\": \"selective\" that finds its queue full is "
		  "cut to 64 bytes and goes on ahead of data, so that its receiver asks for it at "
		  "once. Needs \"classes\": \"control-first\".",
		  "off, as in Ethernet; UEC's switches trim"),
	CONF_ENUM("ways", struct switch_conf, ways, "sender", ways_names,
		  "Who chooses among equal ports on the way up. sender: ECMP by flow, or \"spray\" "
		  "of tcp; shortest: the switch, for each packet of data, one of the shortest "
		  "queues, by chance. In leaf-spine and fat-tree.",
		  "our choice: ECMP; shortest: uet-htsim's ecmp_ar"),
	CONF_BYTES("ways_level", struct switch_conf, ways_level, "9kB", 64, MEMORY_MAX >> 10,
		   "shortest: queues below this are alike, those below twice it, below four times, "
		   "and all longer ones.",
		   "uet-htsim: 5 % of a bandwidth-delay product"),
	CONF_STRING("aggregation", struct switch_conf, aggregation, "all",
		    "Which switches add gradients up: all, none, or those of one tier (\"leaf\"); "
		    "a graph may say it for each switch. The others only forward. ATP and ESA add "
		    "in the switches that can, and the server adds the rest (their own rule). "
		    "SwitchML and NetReduce add at the next switch above that can, and are refused "
		    "if the root cannot (our composition). Other schemes are refused if a switch "
		    "of their tree cannot.",
		    "all, as in the papers"),
	{ 0 },
};
static const struct conf_table switch_table = { "switch", switch_rows, sizeof(struct switch_conf),
						"All switches alike." };

static const char *const nic_modes[] = {
	[NIC_TURNS] = "turns", [NIC_FIFO] = "fifo", [NIC_BYTES] = "bytes", NULL
};

static const char *const gpus_wirings[] = {
	[GPUS_SWITCH] = "switch", [GPUS_MESH] = "mesh", [GPUS_CUBE_MESH] = "cube-mesh", NULL
};

static const struct conf_row gpus_rows[] = {
	CONF_INT("count", struct gpus_conf, count, "1", 1, 1024,
		 "GPUs of a worker. A worker with several is a machine; its GPUs compute alike and "
		 "share its NICs (\"inside\" of a job)."),
	CONF_RATE("rate", struct gpus_conf, rate, "150GBps", 1000000, TOPOLOGY_RATE_MAX,
		  "Rate of a GPU's link to the other GPUs, each direction.",
		  "NetReduce section 5.4: NVLink, 150 GB/s"),
	CONF_TIME("latency", struct gpus_conf, latency, "1us", 0, PS_PER_S,
		  "Latency of each step among GPUs (alpha).",
		  "NetReduce section 3.4 has 0.1-100 us"),
	CONF_BOOL("shared", struct gpus_conf, shared, "false",
		  "true: one link for all GPUs of a machine together, as behind a PCIe switch.",
		  "NetReduce appendix A: a link each"),
	CONF_ENUM("wiring", struct gpus_conf, wiring, "switch", gpus_wirings,
		  "A link from each GPU to a switch among them; a link between any two, each with "
		  "its "
		  "part of the rate; or DGX-1's 24 links (8 GPUs). Without links inside, a message "
		  "between two GPUs takes one of a GPU's links: a reduction to a master and a ring "
		  "have "
		  "single links, a scatter all.",
		  "NVSwitch; several count as one crossbar"),
	{ 0 },
};
static const struct conf_table gpus_table = { "gpus", gpus_rows, sizeof(struct gpus_conf),
					      "GPUs of a worker." };
static const struct conf_row gpus_forms[] = {
	CONF_ENUM("ready", struct scenario, machine.gpus.ready, CONF_REQUIRED, machine_ready_names,
		  "A ready machine: number and rate of GPUs, as NCCL counts it, and wiring."),
	CONF_OBJECT("set", struct scenario, machine.gpus, CONF_REQUIRED, &gpus_table,
		    "GPUs of a worker, and the links among them."),
	{ 0 },
};
static const struct conf_table gpus_forms_table = { "gpus_forms", gpus_forms, 0, NULL };

static const char *const nics_wirings[] = { [NICS_RACK] = "rack", [NICS_RAILS] = "rails", NULL };

static const struct conf_row nics_rows[] = {
	CONF_INT("count", struct scenario, machine.nics.count, "1", 1, 128,
		 "NICs of a machine. Their number must divide that of its GPUs, which share them "
		 "in blocks. Each is a host of the network: \"hosts\" and flows count NICs; jobs, "
		 "servers and \"cluster\" count machines.",
		 "one NIC a machine, as in all five papers"),
	CONF_ENUM("wiring", struct scenario, machine.nics.wiring, "rack", nics_wirings,
		  "Hosts that are the n NICs of machine j. rack: hosts n*j to n*j + n - 1, all "
		  "below one switch; rails: NIC i is host i*M + j, for M machines, so that NICs i "
		  "of all machines share switches (rail-optimised).",
		  "our choice"),
	{ 0 },
};
static const struct conf_table nics_table = { "nics", nics_rows, sizeof(struct scenario),
					      "NICs of a machine." };

static const struct conf_row cores_rows[] = {
	CONF_TIME(
		"packet", struct scenario, topology.host.cores.packet, "0s", 0, PS_PER_MS,
		"Time of each packet. SwitchML's four cores take at most 40 ns for its packets of "
		"180 bytes (SwitchML 2019 section 5.1, appendix B: one core keeps up with 10 "
		"Gbps).",
		"our choice: none, as no paper gives times"),
	CONF_RATE("rate", struct scenario, topology.host.cores.rate, CONF_OPTIONAL, 1000000,
		  TOPOLOGY_RATE_MAX,
		  "Rate of the bytes of frames. TCP at 100 Gbps had a fourth of RDMA's throughput "
		  "(SwitchML 2019 section 5.4). Default: they take no time."),
	{ 0 },
};
static const struct conf_table cores_table = { "cores", cores_rows, sizeof(struct scenario),
					       "The cores of a host that handle packets." };

static const struct conf_row host_rows[] = {
	CONF_ENUM("nic", struct scenario, topology.host.nic, "turns", nic_modes,
		  "turns: connections and trees send in turn, a packet each, and the rest of a "
		  "window waits at its source; bytes: in turn, equal bytes each; fifo: whole "
		  "windows go into one queue.",
		  "our choice (TCP small queues, RDMA queue pairs)"),
	CONF_TIME("latency", struct scenario, topology.host.latency, "0s", 0, PS_PER_S,
		  "Processing of every packet that a host receives.", "our choice"),
	CONF_TIME("jitter", struct scenario, topology.host.jitter, "0s", 0, PS_PER_S,
		  "Random addition to latency, uniform from 0 to this; packets keep their order.",
		  "our choice: none"),
	CONF_TIME("nic_jitter", struct scenario, topology.host.nic_jitter, CONF_OPTIONAL, 0,
		  PS_PER_S,
		  "An idle NIC waits a random time, uniform from 0 to this, before it sends data, "
		  "so that hosts do not run in lock-step. \"0s\": sends at once, for closed forms. "
		  "Default: the time of a frame of 1518 bytes on the link.",
		  "our choice (Floyd and Jacobson, On Traffic Phase Effects, 1992)",
		  .present = CONF_GIVEN(struct scenario, topology.host.nic_jitter_given)),
	CONF_GROUP("cores", "{}", &cores_table,
		   "What the cores of a host, all together, need for packets: data that it sends, "
		   "and apart from that all that it receives, one after the other. Packets wait in "
		   "the host's memory, without limit. Each of several links has such cores. Needs "
		   "fidelity packet."),
	CONF_BYTES("queue", struct scenario, topology.host.queue, CONF_OPTIONAL, 1518, 0,
		   "Limit of the NIC's queue. Default: none."),
	CONF_ONEOF("ecn", struct scenario, topology.host.ecn, "false", &host_ecn_table,
		   topology.host.ecn.form, "ECN marking of the NIC's queue.",
		   "NICs do not mark by default"),
	CONF_INT("slots", struct scenario, machine.slots, "1", 1, 1024,
		 "Number of workers that fit on a host, each of a different job.",
		 "one worker per host, as in all five papers' simulations"),
	CONF_ONEOF("gpus", struct scenario, machine.gpus, "{}", &gpus_forms_table,
		   machine.gpus.form, "GPUs of a worker, and the links among them."),
	CONF_ENUM("inside", struct scenario, machine.inside, "rates", machine_inside_names,
		  "rates: what the GPUs of a machine exchange takes closed-form times. links: each "
		  "GPU is a host with its NIC (\"nics\": as many) and links to the others "
		  "(\"wiring\" "
		  "of gpus), so contention and failures inside are packets; jobs then count GPUs.",
		  "rates cost nothing"),
	CONF_GROUP("nics", "{}", &nics_table, "NICs of a machine with several GPUs."),
	CONF_RATE("reduction_rate", struct scenario, machine.reduction_rate, CONF_OPTIONAL, 1000000,
		  UINT64_C(1000000000000000),
		  "Rate at which all parameter servers on a host together add gradients, first "
		  "come first served. Default: adding takes no time."),
	{ 0 },
};
static const struct conf_table host_table = { "host", host_rows, sizeof(struct scenario),
					      "All hosts alike." };

static const char *const class_names[] = {
	[CLASSES_SINGLE] = "single", [CLASSES_CONTROL_FIRST] = "control-first", NULL
};

static const char *const scheduler_names[] = { [SCHEDULER_FIFO] = "fifo",
					       [SCHEDULER_STRICT] = "strict",
					       [SCHEDULER_WEIGHTED] = "weighted",
					       NULL };
static const struct conf_row weight_item = {
	.type = CONF_INT, .imin = 1, .imax = 1000, .help = "Weight of a class."
};

static const struct conf_row graph_forms[] = {
	CONF_STRING("file", struct scenario, topology.graph_source.file, CONF_REQUIRED,
		    "A JSON file of the same form, beside the scenario."),
	CONF_OBJECT("in_place", struct scenario, topology.graph_source.in_place, CONF_REQUIRED,
		    &graph_table, "Hosts, switches, links.", .apart = true),
	{ 0 },
};
static const struct conf_table graph_source_table = { "graph_source", graph_forms, 0, NULL };

static const struct conf_row topology_rows[] = {
	CONF_ENUM("kind", struct scenario, topology.kind, CONF_REQUIRED, kind_names,
		  "Shape of the network."),
	CONF_INT("hosts", struct scenario, topology.hosts, CONF_OPTIONAL, 2, 60000,
		 "star: number of hosts."),
	CONF_INT("k", struct scenario, topology.k, CONF_OPTIONAL, 2, 64,
		 "fat-tree: ports of a switch (even); k*k*k/4 hosts."),
	CONF_INT("leaves", struct scenario, topology.leaves, CONF_OPTIONAL, 1, 1024,
		 "leaf-spine: number of leaf switches."),
	CONF_INT("spines", struct scenario, topology.spines, CONF_OPTIONAL, 1, 1024,
		 "leaf-spine: number of spine switches."),
	CONF_INT("hosts_per_leaf", struct scenario, topology.hosts_per_leaf, CONF_OPTIONAL, 1, 1024,
		 "leaf-spine: hosts below each leaf."),
	CONF_REAL("oversubscription", struct scenario, topology.oversubscription, CONF_OPTIONAL,
		  0.01, 1000,
		  "leaf-spine: host bandwidth below a leaf over its up-link bandwidth; sets the "
		  "rate of the up-links."),
	CONF_OBJECT("link", struct scenario, topology.link, "{}", &link_table,
		    "Links of hosts and, unless uplink is given, all links."),
	CONF_OBJECT("uplink", struct scenario, topology.uplink, CONF_OPTIONAL, &link_table,
		    "Links between switches, when they differ from those of hosts.",
		    .present = CONF_GIVEN(struct scenario, topology.uplink_given)),
	CONF_OBJECT("switch", struct scenario, topology.switches, "{}", &switch_table,
		    "The switches."),
	CONF_ONEOF("graph", struct scenario, topology.graph_source, CONF_OPTIONAL,
		   &graph_source_table, topology.graph_source.form,
		   "graph: hosts, switches and links, in place or in a file.",
		   .present = CONF_GIVEN(struct scenario, topology.graph_source.given)),
	CONF_GROUP("host", "{}", &host_table, "The hosts and their NICs."),
	CONF_ENUM("classes", struct scenario, topology.classes, "single", class_names,
		  "single: one queue a port, in the order of arrival; control-first: ACKs and the "
		  "messages of schemes go ahead of data at every port of switches and hosts, "
		  "without preemption, and PAUSE does not stop them. Streams (fluid, analytic) "
		  "have no order, and share links alike with both.",
		  "our choice (no paper gives classes of its own to ACKs)"),
	CONF_ENUM("scheduler", struct scenario, topology.scheduler, "fifo", scheduler_names,
		  "What the egress ports of switches send next. fifo; strict: the highest "
		  "\"priority\" of flows and jobs; weighted: deficit round robin of the classes by "
		  "\"weights\". Each class has a queue of \"buffer\" "
		  "bytes of its own. Hosts' NICs take turns all the same.",
		  "one queue a port"),
	CONF_LIST("weights", struct scenario, weights, "[]", &weight_item, 0, 8,
		  "weighted: of classes 0 and up. A quantum is the weight times 1518 bytes.",
		  "none"),
	CONF_BOOL("wire_overhead", struct scenario, topology.wire_overhead, "true",
		  "Count preamble and inter-frame gap, 20 bytes a frame.",
		  "IEEE 802.3; matches the measured gain of large packets in SwitchML section 5.5"),
	{ 0 },
};
const struct conf_table topology_table = { "topology", topology_rows, sizeof(struct scenario),
					   "The network." };

/* --- checks --- */

static bool key_in(const char *const *keys, const char *key)
{
	for (; *keys; keys++)
		if (!strcmp(*keys, key))
			return true;
	return false;
}

/* Checks keys that only some kinds of topologies have. */
static void check_keys(const struct topology_conf *conf, const struct topology_ops *ops,
		       struct conf_doc *doc)
{
	const struct {
		const char *key;
		bool given;
		bool optional;
	} special[] = {
		{ "hosts", .given = conf->hosts != 0 },
		{ "k", .given = conf->k != 0 },
		{ "leaves", .given = conf->leaves != 0 },
		{ "spines", .given = conf->spines != 0 },
		{ "hosts_per_leaf", .given = conf->hosts_per_leaf != 0 },
		{ "oversubscription", .given = conf->oversubscription != 0, .optional = true },
		{ "uplink", .given = conf->uplink_given, .optional = true },
		{ "graph", .given = conf->graph_source.given },
	};

	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		bool used = key_in(ops->keys, special[i].key);

		if (special[i].given && !used)
			conf_error(doc, conf_at(doc, "/topology/%s", special[i].key),
				   "a %s has no \"%s\"", ops->name, special[i].key);
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

/* Checks that the NICs of each machine, `nics` consecutive hosts, are all below one switch. */
static void check_one_switch(const struct graph *graph, uint32_t nics, struct conf_doc *doc)
{
	for (uint32_t host = 1; host < graph->hosts; host++)
		if (host % nics && graph_above(graph, host) != graph_above(graph, host - 1)) {
			conf_error(doc, "/topology/host/nics",
				   "hosts \"%s\" and \"%s\" are NICs of one machine, but on two "
				   "switches; see \"wiring\": \"rails\"",
				   graph->names[host - 1], graph->names[host]);
			return;
		}
}

static void check_nics(const struct topology_conf *conf, const struct machine_conf *machine,
		       struct conf_doc *doc)
{
	static const char *const at = "/topology/host/nics";
	uint32_t nics = machine_nics(machine), hosts = topology_hosts(conf);

	if (machine->gpus.count % nics)
		conf_error(doc, at,
			   "%" PRId64 " GPUs (\"gpus\") cannot share %" PRIu32
			   " NICs evenly: the number of NICs divides that of GPUs",
			   machine->gpus.count, nics);
	else if (hosts % nics || hosts < 2 * nics)
		conf_error(doc, at,
			   "%" PRIu32 " hosts do not make two or more machines of %" PRIu32
			   " NICs each",
			   hosts, nics);
	else if (machine->nics.wiring == NICS_RACK && conf->graph)
		check_one_switch(conf->graph, nics, doc);
	else if (machine->nics.wiring == NICS_RACK && topology_rack(conf) % nics)
		conf_error(doc, at,
			   "machines of %" PRIu32
			   " NICs each do not fit below switches with %" PRIu32
			   " hosts each; see \"wiring\": \"rails\"",
			   nics, topology_rack(conf));
}

static void check_aggregation(const struct topology_conf *conf, const struct topology_ops *ops,
			      struct conf_doc *doc)
{
	const char *text = conf->switches.aggregation;
	unsigned tiers = topology_tiers(conf);

	if (!strcmp(text, "all") || !strcmp(text, "none"))
		return;
	for (unsigned tier = 1; tier <= tiers; tier++)
		if (!strcmp(text, ops->tier_names[tier]))
			return;
	conf_error(doc, "/topology/switch/aggregation",
		   "\"%s\" is not a tier of switches here; allowed: \"all\", \"none\", or a tier "
		   "from \"%s\" to \"%s\"",
		   text, ops->tier_names[1], ops->tier_names[tiers]);
}

static void add_mistake(void *doc, const char *pointer, const char *text)
{
	conf_error(doc, pointer, "%s", text);
}

void topology_check(const struct topology_conf *conf, const struct machine_conf *machine,
		    struct conf_doc *doc)
{
	const struct topology_ops *ops = topology_kind((size_t)conf->kind);
	const struct topology_mistakes to = { add_mistake, doc };
	size_t before = conf_errors(doc);

	check_keys(conf, ops, doc);
	if (conf->uplink_given && conf->oversubscription != 0)
		conf_error(doc, "/topology/oversubscription",
			   "give either \"oversubscription\" or \"uplink\", both set the rate of "
			   "the up-links");
	if (machine->gpus.shared && machine->gpus.wiring != GPUS_SWITCH)
		conf_error(doc, "/topology/host/gpus/wiring",
			   "GPUs that share one link (\"shared\") have none of their own");
	check_ecn(&conf->switches.ecn, "/topology/switch/ecn", doc);
	check_ecn(&conf->host.ecn, "/topology/host/ecn", doc);
	if (conf_errors(doc) == before)
		ops->check(conf, &to);
	if (conf_errors(doc) == before && !conf->graph)
		topology_check_routes(ops, conf, &to);
	if (conf_errors(doc) == before)
		check_aggregation(conf, ops, doc);
	if (conf_errors(doc) == before && machine_nics(machine) > 1)
		check_nics(conf, machine, doc);
}
