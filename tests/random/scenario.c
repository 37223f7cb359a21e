/* A random valid scenario on stdout, a function of seed and number alone.
 *
 * Usage: random_scenario SEED NUMBER [calm]
 *
 * Scenarios are small (some hundred thousand packet-hops) and cover everything that a scenario can
 * have: topologies, schemes and their parameters, losses, PAUSE, short buffers and memories,
 * jitter, stragglers, arrivals of all forms, traces, ways to end. `calm`: jobs of megabytes and
 * long flows on ample networks without randomness, so that fidelities can be compared
 * (scripts/crosscheck).
 *
 * Each statement makes one draw at most and writes it at once, because the order in which a
 * compiler evaluates arguments must not matter. ' stands for ". */
#include "core/rng.h"
#include "collective/schemes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Features that were added later draw from streams of their own, so that scenarios without them
 * stay as they were. */
static struct rng all, later, off, failing, passing, alone, newest, programs, spraying, sharing,
	selecting, linked;
static struct rng *rng = &all;
static bool calm;
static bool steady; /* one job of many iterations, whose end is estimated (stop.estimate) */

static unsigned between(unsigned min, unsigned max)
{
	return min + (unsigned)rng_below(rng, max - min + 1);
}

static bool chance(unsigned percent)
{
	return rng_below(rng, 100) < percent;
}

static bool mute;

static void put(const char *format, ...)
{
	char text[1024];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	for (const char *c = text; *c && !mute; c++)
		putchar(*c == '\'' ? '"' : *c);
}

/* One of "a|b|c". A value that is listed twice comes twice as often. */
static const char *one_of(const char *values)
{
	static char text[256];
	size_t count = 1, skip;

	for (const char *c = values; *c; c++)
		count += *c == '|';
	for (skip = rng_below(rng, count); skip; skip--)
		values = strchr(values, '|') + 1;
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(values, "|"), values);
	return text;
}

/* An optional member of objects, not in calm scenarios: its frequency in percent, its values. */
struct option {
	const char *key;
	unsigned percent;
	const char *values; /* NULL: any transport */
};

static bool sprayed;     /* RoCE */
static bool selects;     /* RoCE repeats selectively */
static bool trims;       /* switches cut packets */
static bool even = true; /* links between switches are as fast as those of hosts; no graph */

static const char *any_transport(void)
{
	unsigned count = 0;
	const char *name;

	while (transport_names[count])
		count++;
	name = transport_names[rng_below(rng, count)];
	if (!strcmp(name, "nscc") && !selects)
		return "roce_swift";
	/* telemetry is of one path, and of no more than five switches */
	return !strcmp(name, "hpcc") && (sprayed || !even) ? "timely" : name;
}

static void put_option(const struct option *option)
{
	if (option->values)
		put(", '%s': %s", option->key, one_of(option->values));
	else
		put(", '%s': '%s'", option->key, any_transport());
}

static void put_options(const struct option *options, size_t count)
{
	for (size_t i = 0; i < count && !calm; i++)
		if (chance(options[i].percent))
			put_option(&options[i]);
}
#define OPTIONS(list) put_options(list, COUNT(list))

/* --- the network --- */

static unsigned hosts, machines, rack, pool, slots, gbps;
static bool gpus, fused; /* fused: the job has a fusion_cycle */
static unsigned gpus_each;
static bool no_switch;           /* among GPUs: they share a link, or are joined directly */
static bool sums_only;           /* its GPUs exchange only gradients: its keys leave nothing else */
static bool has_experts, staged; /* of a job; staged: its tensors have stages */
static unsigned places; /* slots of hosts that no job has yet; in calm scenarios no job waits */
static bool lossless, lossy;
static bool ranked;          /* flows and jobs have priorities */
static const char *node;     /* the name of switches of a kind, without their number */
static bool all_add;         /* all switches add, except perhaps those that a graph names */
static const char *adds;     /* tiers of which one may be the only tier that adds */
static bool own_memory;      /* some switches have memory of their own */
static unsigned linked_gpus; /* of a machine as links, or 0: hosts are its GPUs */
static bool planes;          /* hosts of a graph have a second link, to p0 */

/* Switches 1 to `last`, of which some may only forward, or have memory of their own. */
static void put_switches(unsigned last)
{
	unsigned first = last + 1;
	const char *aggregation = "false";

	rng = &passing;
	if (chance(50))
		first = between(1, last);
	if (first <= last && chance(50)) {
		own_memory = true;
		aggregation = one_of("'60kB'|'200kB'|'1MB'");
	}
	rng = &all;
	if (first > 1)
		put(", 's[1-%u]'", first - 1);
	if (first <= last)
		put(", { 'name': 's[%u-%u]', 'aggregation': %s }", first, last, aggregation);
}

/* A second link of all hosts, perhaps of another rate; the planes may be joined. */
static void put_planes(void)
{
	rng = &linked;
	if (planes)
		put(", { 'from': 'h[0-%u]', 'to': 'p0'%s }%s", hosts - 1,
		    one_of("||, 'rate': '3Gbps'"),
		    chance(50) ? ", { 'from': 'p0', 'to': 's0' }" : "");
	rng = &all;
}

/* A tree of switches, perhaps closed to a cycle, with hosts anywhere. */
static void put_graph(void)
{
	unsigned switches = between(1, 8), peer = 0;

	hosts = between(2, 20);
	rack = 1;
	put("'kind': 'graph', 'graph': { 'hosts': ['h[0-%u]']", hosts - 1);
	put(", 'switches': [%s", one_of("'s0'|{ 'name': 's0', 'latency': '100ns' }|"
					"{ 'name': 's0', 'ecn': { 'threshold': '10kB' } }"));
	if (switches > 1)
		put_switches(switches - 1);
	planes = rng_below(&linked, 100) < 30;
	if (planes)
		put(", 'p0'");
	put("], 'links': [ { 'from': 'h0', 'to': 's0' }");
	for (unsigned h = 1; h < hosts; h++)
		put(", { 'from': 'h%u', 'to': 's%u'%s }", h, between(0, switches - 1),
		    chance(10) ? ", 'rate': '5Gbps'" : "");
	for (unsigned i = 1; i < switches; i++) {
		peer = between(0, i - 1);
		put(", { 'from': 's%u', 'to': 's%u', 'count': %s, 'cost': %s%s }", i, peer,
		    one_of("1|1|3"), one_of("1|1|2"),
		    chance(30) ? ", 'rate': '40Gbps', 'delay': '3us'" : "");
	}
	if (switches > 2 && peer != 0 && chance(60))
		put(", { 'from': 's%u', 'to': 's0' }", switches - 1);
	put_planes();
	put(" ] }");
}

static void put_kind(void)
{
	unsigned leaves, per_leaf;

	switch (rng_below(rng, calm ? 3 : 4)) {
	case 0:
		node = NULL;
		adds = "'none'";
		hosts = rack = between(calm ? 6 : 2, 20);
		put("'kind': 'star', 'hosts': %u", hosts);
		return;
	case 1:
		node = "leaf";
		adds = "'none'|'leaf'|'leaf'|'spine'|'spine'|'spine'";
		leaves = between(1 + calm, 4);
		per_leaf = between(2 + calm, 6);
		hosts = leaves * per_leaf;
		rack = per_leaf;
		put("'kind': 'leaf-spine', 'leaves': %u, 'hosts_per_leaf': %u", leaves, per_leaf);
		put(", 'spines': %u", between(1, 4));
		even = false;
		if (calm || chance(50))
			put(", 'oversubscription': %s", one_of("1|1|2|4"));
		else if (chance(30))
			put(", 'uplink': { 'rate': '%sGbps', 'delay': '3us' }", one_of("7|40|100"));
		else
			even = true;
		return;
	case 2:
		node = "agg";
		adds = "'none'|'edge'|'edge'|'aggregation'|'core'|'core'|'core'";
		hosts = 16;
		rack = 2;
		put("'kind': 'fat-tree', 'k': 4");
		return;
	case 3:
		node = "s";
		adds = "'none'|'tier1'";
		even = false;
		put_graph();
	}
}

static void put_switch(void)
{
	static const struct option free_running[] = {
		{ "latency", 30, "'0s'|'100ns'|'2us'" },
		{ "buffer", 60, "'20kB'|'60kB'|'200kB'|'16MB'" },
		{ "ecn", 40,
		  "false|{ 'threshold': '5pkt' }|{ 'threshold': '30kB' }|"
		  "{ 'kmin': '5pkt', 'kmax': '30pkt', 'pmax': 0.2 }" },
	};
	static const struct option with_pause[] = {
		{ "latency", 30, "'0s'|'100ns'|'2us'" },
		{ "ecn", 100, "false|{ 'threshold': '30kB' }" },
		{ "buffer", 100, "'1MB'|'4MB'" },
		{ "pause", 100,
		  "{ 'mtu': '9KiB' }|{ 'mtu': '9KiB', 'alpha': 0.5 }|"
		  "{ 'mtu': '9KiB', 'xoff': '200kB' }|{ 'mtu': '9KiB', 'response': '1us' }" },
	};

	static const struct option shared[] = {
		{ "shared_buffer", 20,
		  "{ 'size': '100kB' }|{ 'size': '400kB', 'alpha': 0.25 }|"
		  "{ 'size': '32MB', 'alpha': 8 }" },
	};

	put(", 'switch': { '_': 0");
	if (calm) /* 85 full frames at 10 Gbps, as PANAMA section 7 */
		put(", 'buffer': '16MB', 'ecn': { 'threshold': '%ukB' }", 13 * gbps);
	else if (lossless)
		OPTIONS(with_pause);
	else
		OPTIONS(free_running);
	rng = &sharing;
	trims = !calm && !lossless && chance(15);
	if (trims)
		put(", 'trim': true");
	else if (!calm && !lossless)
		OPTIONS(shared);
	rng = &passing;
	all_add = calm || !chance(20);
	if (!all_add)
		put(", 'aggregation': %s", one_of(adds));
	rng = &all;
	put(" }");
}

/* Machines with several GPUs, some of them with several NICs. At least six machines, so that jobs
 * with servers have two workers. */
static void put_gpus(void)
{
	const char *wires;
	unsigned nics;

	rng = &later;
	machines = hosts;
	gpus = !calm && hosts >= 6 && chance(30);
	if (gpus) {
		gpus_each = (unsigned)strtoul(one_of("4|8"), NULL, 10);
		put(", 'gpus': { 'count': %u", gpus_each);
		put(", 'rate': %s", one_of("'1GBps'|'150GBps'"));
		wires = one_of("'shared': true|'shared': false|'wiring': 'mesh'");
		no_switch = strcmp(wires, "'shared': false");
		put(", %s }", wires);
		nics = (unsigned)strtoul(one_of("1|2|2|4"), NULL, 10);
		if (hosts % nics == 0 && hosts / nics >= 6) {
			machines = hosts / nics;
			put(", 'nics': { 'count': %u, 'wiring': '%s' }", nics,
			    rack % nics || chance(50) ? "rails" : "rack");
		}
	}
	rng = &all;
}

/* Machines as links, whose GPUs are hosts. */
static void put_linked_gpus(void)
{
	unsigned count;

	rng = &linked;
	count = chance(30) ? 2 : 4;
	if (!calm && !gpus && hosts % 4 == 0 && chance(15)) {
		even = false;
		linked_gpus = count;
		put(", 'inside': 'links', 'gpus': { 'count': %u", count);
		put(", 'rate': %s", one_of("'1GBps'|'50GBps'"));
		put(", 'latency': %s", one_of("'2ns'|'1us'"));
		put(", 'wiring': '%s' }", one_of("switch|mesh"));
		put(", 'nics': { 'count': %u, 'wiring': 'rails' }", count);
	}
	rng = &all;
}

static void put_inside(unsigned scheme)
{
	const char *inside = "";

	rng = &later;
	if (gpus) {
		inside = one_of(no_switch ? "scatter|master" : "scatter|master|nvls");
		if (scheme_ops(scheme)->traits.ranks_max && chance(40))
			inside = "ring";
		put(", 'inside': '%s'", inside);
	}
	if (gpus && strcmp(inside, "ring") && chance(40))
		put(", 'inside_chunk': %s", one_of("'20kB'|'1MB'"));
	sums_only = gpus && (!strcmp(inside, "ring") || !strcmp(scheme_names[scheme], "nvls"));
	rng = &all;
}

/* How tokens go to experts, if there are any. */
static void put_tokens(void)
{
	rng = &programs;
	if (!calm && chance(30))
		put(", 'all_to_all': '%s'", one_of("at_once|hierarchical"));
	if (!calm && chance(20))
		put(", 'tokens': { 'zipf': %s }", one_of("0.3|1.2"));
	rng = &all;
}

static void put_fallback(void)
{
	rng = &failing;
	if (!calm && chance(20)) {
		put(", 'fallback': '%s'", one_of("ring|ps"));
		sums_only |= gpus;
	}
	rng = &all;
}

static void put_host(void)
{
	static const struct option options[] = {
		{ "latency", 20, "'200ns'|'2us'" },
		{ "jitter", 25, "'50ns'|'300ns'|'5us'" },
		{ "nic_jitter", 50, "'0s'|'80ns'|'1us'" },
		{ "nic", 40, "'turns'|'fifo'|'bytes'" },
		{ "reduction_rate", 20, "'3Gbps'|'20Gbps'" },
		{ "ecn", 10, "{ 'threshold': '60kB' }" },
	};
	static const struct option cores[] = {
		{ "cores", 15,
		  "{ 'packet': '30ns' }|{ 'packet': '300ns', 'rate': '40Gbps' }|{ 'rate': '7Gbps' "
		  "}" },
	};

	slots = calm && chance(50) ? 1 : (unsigned)strtoul(one_of("1|1|2|6"), NULL, 10);
	places = hosts * slots;
	put(", 'host': { 'slots': %u%s", slots, calm ? ", 'nic_jitter': '0s'" : "");
	OPTIONS(options);
	if (!calm && !lossless && chance(10))
		put(", 'queue': '100kB'");
	rng = &newest;
	OPTIONS(cores);
	rng = &all;
	put_gpus();
	put_linked_gpus();
	put(" }");
}

/* Queues by class, in networks where nothing fails. */
static void put_scheduler(void)
{
	rng = &sharing;
	ranked = !calm && !lossless && !trims && chance(12);
	if (ranked)
		put(", 'scheduler': %s", one_of("'strict'|'weighted', 'weights': [1, 1, 4]"));
	rng = &all;
}

static void put_priority(void)
{
	rng = &sharing;
	if (ranked)
		put(", 'priority': %u", between(0, 2));
	rng = &all;
}

static void put_topology(void)
{
	static const struct option classes[] = { { "classes", 20, "'control-first'" } };
	static const struct option options[] = { { "wire_overhead", 10, "false" } };

	put(", 'topology': { ");
	put_kind();
	gbps = (unsigned)strtoul(one_of(calm ? "10|25|40|100" : "1|7|10|10|25|100"), NULL, 10);
	put(", 'link': { 'rate': '%uGbps'", gbps);
	put(", 'delay': %s", one_of(calm ? "'500ns'|'1us'|'2us'" : "'1ns'|'300ns'|'1us'|'2us'"));
	lossless = !calm && chance(20);
	lossy = !calm && chance(30);
	if (lossy)
		put(", 'loss': %s", one_of("0.00001|0.0003|0.003|0.02|0.05"));
	put(" }");
	put_switch();
	put_host();
	put_scheduler();
	if (trims)
		put(", 'classes': 'control-first'");
	mute = ranked || trims;
	OPTIONS(classes);
	mute = false;
	OPTIONS(options);
	put(" }");
	pool = !calm && machines > 6 && chance(25) ? between(1, 2) : 0;
	if (pool)
		put(", 'cluster': { 'servers': %u }", pool);
}

/* Not in graphs, nor over links between switches that are slower than those of hosts. */
static bool put_spray(void)
{
	static const struct option options[] = {
		{ "spray", 40, "'random'|'oblivious'|'reps'" },
		{ "paths", 40, "1|8|512" },
	};

	if (even)
		OPTIONS(options);
	return even;
}

static void put_tcp(void)
{
	static const struct option reordering[] = { { "reo_wnd_mult", 20, "1|4|1000" } };
	static const struct option options[] = {
		{ "mss", 30, "100|536|4000" },
		{ "initial_window", 30, "1|2|40" },
		{ "min_rto", 30, "'200us'|'1ms'" },
		{ "initial_rto", 30, "'500us'|'1ms'" },
		{ "ack_every", 30, "2|4" },
		{ "ack_delay", 30, "'20us'" },
		{ "max_window", 20, "'20kB'|'64kB'" },
	};
	static const struct option more[] = {
		{ "handshake_rtt", 20, "true" },
		{ "tlp_ack_delay", 10, "'100us'" },
		{ "tlp_slack", 10, "'50us'" },
		{ "rto_floor", 20, "'variance'" },
	};
	static const struct option cubic[] = {
		{ "c", 20, "0.1|10" },
		{ "beta", 20, "0.5|0.9" },
		{ "fast_convergence", 20, "false" },
		{ "slow_start", 50, "'hystart'|'standard'" },
		{ "rules", 30, "'linux'" },
	};
	static const struct option dctcp[] = { { "g", 20, "0.01|1" }, { "rules", 20, "'linux'" } };
	static const struct option swift[] = {
		{ "base_target", 30, "'5us'|'100us'" },
		{ "hop", 20, "'0s'|'5us'" },
		{ "fs_range", 20, "'0s'|'200us'" },
		{ "fs_min_cwnd", 20, "0.01|1" },
		{ "fs_max_cwnd", 20, "2|1000" },
		{ "ai", 20, "0.1|10" },
		{ "beta", 20, "0.1|1" },
		{ "max_mdf", 20, "0.1|0.9" },
		{ "retx_reset_threshold", 20, "1|2" },
	};

	put(", 'tcp': { '_': 0");
	OPTIONS(options);
	if (!calm && chance(40)) {
		put(", 'recovery': %s", one_of("'sack'|'rack'"));
		rng = &spraying;
		put_spray();
		OPTIONS(reordering);
		rng = &all;
	}
	OPTIONS(more);
	put(", 'control': { 'dctcp': { '_': 0");
	OPTIONS(dctcp);
	put(" }, 'cubic': { '_': 0");
	OPTIONS(cubic);
	put(" }, 'swift': { '_': 0");
	OPTIONS(swift);
	put(" } } }");
}

static void put_roce(void)
{
	static const struct option swift[] = {
		{ "base_target", 20, "'50us'|'1ms'" },
		{ "fs_range", 20, "'0s'|'20us'" },
		{ "ai", 20, "0.1|4" },
		{ "beta", 20, "0.2|1" },
		{ "max_mdf", 20, "0.1|0.9" },
	};
	static const struct option options[] = {
		{ "mtu", 30, "256|1000" },          { "header", 20, "70" },
		{ "write_header", 20, "0" },        { "ack_every", 30, "2|16" },
		{ "rto", 30, "'200us'|'5ms'" },     { "nack_again", 30, "'0s'|'20us'" },
		{ "window", 30, "'1100B'|'40kB'" }, { "first_psn", 40, "16777215|16777100" },
		{ "backoff", 30, "0|1" },
	};
	static const struct option dcqcn[] = {
		{ "set", 60, "'sigcomm15'|'hpcc'" },
		{ "g", 20, "0.001|1" },
		{ "cnp_interval", 30, "'0s'|'10us'|'100us'" },
		{ "alpha_timer", 20, "'5us'|'200us'" },
		{ "increase_timer", 20, "'5us'|'200us'" },
		{ "fast_recovery", 20, "1|10" },
		{ "rate_ai", 20, "'1Gbps'" },
		{ "rate_hai", 20, "'5Gbps'" },
		{ "min_rate", 30, "'100Mbps'|'400Gbps'" },
		{ "clamp_target", 30, "true|false" },
	};

	static const struct option hpcc[] = {
		{ "eta", 20, "0.5|1" },       { "max_stage", 30, "0|1" },
		{ "w_ai", 20, "'1B'|'1kB'" }, { "base_rtt", 20, "'1us'|'100us'" },
		{ "int_header", 20, "0" },    { "min_rate", 20, "'1Gbps'" },
	};
	static const struct option timely[] = {
		{ "alpha", 20, "0.02|1" },      { "beta", 20, "0.1|1" },
		{ "delta", 20, "'1Gbps'" },     { "hai", 20, "1" },
		{ "t_low", 30, "'0s'|'10us'" }, { "t_high", 30, "'20us'|'100us'" },
		{ "min_rtt", 20, "'5us'" },     { "min_rate", 20, "'1Gbps'" },
	};
	static const struct option nscc[] = {
		{ "base_rtt", 20, "'5us'|'100us'" },
		{ "target", 20, "'1us'|'50us'" },
		{ "gamma", 20, "0.1|1" },
		{ "eta", 20, "0|2" },
		{ "fair_increase", 20, "0|20" },
		{ "proportional_increase", 20, "0|20" },
		{ "fast_increase", 20, "0|2" },
		{ "delay_alpha", 20, "0.2|1" },
		{ "qa_gate", 20, "0|6" },
	};
	static const struct option selective[] = {
		{ "rto_low", 30, "'100us'|'20ms'" },
		{ "reorder", 30, "'0s'|'1us'|'200us'" },
	};

	put(", 'roce': { '_': 0");
	OPTIONS(options);
	rng = &selecting;
	selects = !calm && chance(40);
	if (selects) {
		put(", 'recovery': 'selective'");
		OPTIONS(selective);
		sprayed = put_spray();
	}
	rng = &all;
	put(", 'control': { 'dcqcn': { '_': 0");
	OPTIONS(dcqcn);
	put(" }, 'swift': { '_': 0");
	rng = &newest;
	OPTIONS(swift);
	rng = &selecting;
	put(" }, 'hpcc': { '_': 0");
	OPTIONS(hpcc);
	put(" }, 'timely': { '_': 0");
	OPTIONS(timely);
	put(" }, 'nscc': { '_': 0");
	OPTIONS(nscc);
	rng = &all;
	put(" } } }");
}

/* --- parameters of schemes --- */

static void put_rings(void)
{
	static const struct option ring[] = {
		{ "transport", 40, NULL },   { "order", 20, "'random'" },
		{ "ack_every", 30, "1|4" },  { "step_latency", 20, "'3us'" },
		{ "channels", 10, "1|2|3" },
	};
	static const struct option ps[] = {
		{ "transport", 40, NULL },
		{ "ps_block", 40, "'4kB'|'10001B'|'1MB'" },
		{ "credit", 40, "0|1|2" },
		{ "ack_every", 30, "1|4" },
	};

	static const struct option shards[] = {
		{ "window", 40, "'1B'|'20kB'|'64kB'" },
		{ "elements_per_packet", 40, "16|64|300" },
		{ "header", 10, "80" },
		{ "timeout", 30, "'100us'|'10ms'" },
	};

	static const struct option multicast[] = {
		{ "chains", 40, "2|7|64" },
		{ "elements_per_packet", 40, "16|64|300" },
		{ "header", 10, "60" },
		{ "cutoff", 40, "'20us'|'100us'|'10ms'" },
	};

	static const struct option nvls[] = {
		{ "window", 40, "'1B'|'20kB'|'64kB'" },
		{ "memory", 20, "'30kB'" },
		{ "elements_per_packet", 40, "16|64|300" },
		{ "header", 10, "16" },
		{ "request", 20, "16|64" },
	};

	static const struct option halving_doubling[] = {
		{ "transport", 40, NULL },
		{ "order", 30, "'random'" },
		{ "ack_every", 30, "1|4" },
		{ "step_latency", 30, "'3us'" },
	};
	static const struct option double_tree[] = {
		{ "transport", 40, NULL },       { "order", 30, "'random'" },
		{ "ack_every", 30, "1|4" },      { "step_latency", 30, "'3us'" },
		{ "chunk", 40, "'1KiB'|'1MB'" }, { "credit", 40, "1|2|8" },
		{ "channels", 20, "1|2|3" },
	};

	rng = &newest;
	put("'halving_doubling': { '_': 0");
	OPTIONS(halving_doubling);
	put(" }, 'double_tree': { '_': 0");
	OPTIONS(double_tree);
	rng = &all;
	put(" }, 'shards': { '_': 0");
	OPTIONS(shards);
	put(" }, 'multicast': { '_': 0");
	OPTIONS(multicast);
	put(" }, 'nvls': { '_': 0");
	OPTIONS(nvls);
	put(" }, 'ring': { '_': 0");
	OPTIONS(ring);
	put(" }, 'ps': { '_': 0");
	OPTIONS(ps);
	put(" }");
}

static bool put_messages_of_rdma(void)
{
	static const struct option options[] = { { "message", 70, "1|2|8" },
						 { "slots", 40, "8|64" } };
	bool rdma;

	rng = &later;
	rdma = chance(20);
	if (rdma) {
		put(", 'format': 'rdma'");
		OPTIONS(options);
	}
	rng = &all;
	return rdma;
}

static void put_slotted(void)
{
	static const struct option both[] = {
		{ "format", 40, "'s19-mtu'|'udp-32'|'udp-64'|'udp-256'" },
		{ "slots", 30, "1|16|100" },
		{ "retransmission_timeout", 30, "'300us'|'10ms'" },
		{ "timeout_threshold", 20, "1|10" },
	};
	static const struct option switchml[] = {
		{ "timeout_rule", 40, "'doubling'|'adaptive'" },
		{ "memory", 40, "'1MB'|'16MB'" },
		{ "tenants", 20, "2|4" },
		{ "admission", 20, "'refuse'" },
	};

	static const struct option packets[] = {
		{ "elements_per_packet", 20, "16|100|366" },
		{ "header", 20, "80" },
		{ "timeout_min", 20, "'300us'" },
	};

	put(", 'ps_stream': { 'timeout_rule': %s", one_of("'doubling'|'adaptive'"));
	OPTIONS(both);
	rng = &newest;
	OPTIONS(packets);
	rng = &all;
	put(" }, 'switchml': { '_': 0");
	mute = put_messages_of_rdma(); /* in place of what the next line draws */
	OPTIONS(both);
	rng = &newest;
	OPTIONS(packets);
	rng = &all;
	mute = false;
	OPTIONS(switchml);
	put(" }");
}

static void put_pool(void)
{
	static const struct option both[] = {
		{ "memory", 60, "'300B'|'4kB'|'40kB'|'1MB'" },
		{ "initial_window", 30, "'1B'|'5kB'|'200kB'" },
		{ "max_window", 20, "'20kB'|'200kB'" },
		{ "window_increase", 20, "'300B'|'10kB'" },
		{ "duplicate_threshold", 20, "1|10" },
		{ "min_timeout", 30, "'200us'|'5ms'" },
		{ "initial_timeout", 30, "'5ms'" },
		{ "max_timeout", 30, "'50ms'" },
		{ "halve_on", 40, "'nothing'|'mark'|'timeout'|'share'|'loss'" },
		{ "timeout_resends", 30, "'first'|'all'" },
		{ "header", 20, "80" },
	};
	static const struct option atp[] = {
		{ "index", 50, "'hash'|'position'|'rehash'" },
		{ "positions", 30, "1|20|1000" },
		{ "idle_limit", 20, "'1ms'" },
	};
	static const struct option esa[] = {
		{ "index", 30, "'hash'" },
		{ "preemption", 50, "'always'|'coin'|'never'" },
		{ "remaining", 30, "'job'|'attained'|'none'" },
		{ "ratio", 30, "'measured'|'model'|'none'" },
		{ "priority_scale", 20, "1|1000" },
		{ "reminder_rounds", 20, "1|10" },
		{ "query", 30, "'always'" },
		{ "resend", 30, "'timeout'" },
		{ "transport_timeout", 30, "'tcp'" },
		{ "server_reminders", 40, "'doubling'|'each'|'every'" },
	};
	static const struct option ablations[] = {
		{ "layers", 20, "false" },
		{ "downgrading", 20, "false" },
	};

	put(", 'atp': { 'elements_per_packet': %s", one_of("64|32|70"));
	OPTIONS(both);
	OPTIONS(atp);
	put(" }, 'esa': { 'elements_per_packet': %s", one_of("64|32|70"));
	OPTIONS(both);
	OPTIONS(esa);
	rng = &newest;
	OPTIONS(ablations);
	rng = &all;
	put(" }");
}

static const char *rounded(void)
{
	static char text[128];

	rng = &newest;
	snprintf(text, sizeof(text), "'fraction': %s", one_of("0.6|0.6|0.8|0.3"));
	strcat(text, one_of(", 'fraction_rounding': 'down'|, 'fraction_rounding': 'nearest'"));
	strcat(text, one_of("|, 'fraction_last': 'fraction'"));
	rng = &all;
	return text;
}

/* Without recovery nothing may be lost: switchml_star heeds no marks and fills any buffer. */
static void put_trees(void)
{
	static const struct option both[] = {
		{ "memory", 30, "'1MB'" },
		{ "trees", 40, "1|2|8" },
		{ "only_tree", 20, "1" },
		{ "elements_per_packet", 30, "32|256" },
		{ "order", 30, "'strict'" },
		{ "aggregate_above", 80, "'0B'|'0B'|'100kB'" },
		{ "below", 20, "{ 'ring': { 'ack_every': 1 } }" },
		{ "accelerator_latency", 30, "'0s'|'5us'|{ 'adder': '100ns' }" },
		{ "retransmission_timeout", 30, "'500us'|'2ms'" },
	};
	static const struct option panama[] = {
		{ "initial_window", 30, "1|10.5" },
		{ "ssthresh", 30, "1|8" },
		{ "g", 30, "1|0.01" },
		{ "growth", 30, "'always'" },
	};
	static const struct option star[] = { { "window", 30, "1|20" } };
	const char *losses = !lossless || lossy || chance(50) ? "'recovery': true"
			     : chance(70)                     ? "'fraction': 1"
			     : chance(50)                     ? "'fraction': 0.5"
							      : rounded();

	put(", 'panama': { %s", losses);
	OPTIONS(both);
	OPTIONS(panama);
	put(" }, 'switchml_star': { %s", losses);
	OPTIONS(both);
	OPTIONS(star);
	put(" }");
}

/* Retransmission timeouts are longer than the queue of a NIC ("fifo") on a slow link takes to
 * drain. Otherwise the whole queue would be sent again and again. Some PSNs wrap soon. */
static void put_messages(void)
{
	static const struct option netreduce[] = {
		{ "window", 30, "1|3" },         { "message", 60, "1|5|40" },
		{ "rings", 30, "2|3" },          { "header", 10, "0|64" },
		{ "latency", 30, "'0s'|'5us'" }, { "transport", 30, "'roce'" },
		{ "ack_every", 30, "1|16" },     { "repeats", 30, "'once'" },
	};
	static const struct option roce[] = {
		{ "mtu", 30, "256|512|4096" },
		{ "first_psn", 50, "16777200" },
		{ "window", 20, "'3000B'|'64kB'" },
	};

	put(", 'netreduce': { 'memory': %s", one_of("'1GB'|'1GB'|'60MB'|'50MB'"));
	OPTIONS(netreduce);
	put(", 'roce': { 'rto': %s", one_of("'100ms'|'300ms'"));
	OPTIONS(roce);
	put(", 'nack_again': %s } }", one_of("'0s'|'50ms'"));
}

/* Ample memory (packets of ATP and ESA can name 65,536 aggregators), timeouts that only losses let
 * expire, trees for tensors of all sizes. */
static void put_calm_schemes(void)
{
	unsigned elements = (unsigned)strtoul(one_of("64|128|256|256"), NULL, 10);

	for (unsigned i = 0; i < 2; i++)
		put("%s'%s': { 'elements_per_packet': %u%s, 'retransmission_timeout': '100ms' }",
		    i ? ", " : "", i ? "switchml" : "ps_stream", elements,
		    i ? ", 'memory': '1GB'" : "");
	for (unsigned i = 0; i < 2; i++)
		put(", '%s': { 'elements_per_packet': %u, 'memory': '16MB' }", i ? "atp" : "esa",
		    elements);
	for (unsigned i = 0; i < 2; i++)
		put(", '%s': { 'elements_per_packet': %u, 'aggregate_above': '0B', 'recovery': "
		    "true }",
		    i ? "panama" : "switchml_star", elements);
	put(", 'netreduce': { 'memory': '1GB' }");
}

static void put_sharp(void)
{
	static const struct option options[] = {
		{ "osts", 40, "4|20" },
		{ "quota", 60, "0.2|0.5|1" },
		{ "elements_per_packet", 40, "16|64|512" },
		{ "threshold", 40, "'0B'|'1kB'|'1GB'" },
		{ "window", 40, "'1B'|'4kB'|'20kB'" },
		{ "trees", 60, "1|1|3" },
		{ "lock", 50, "'operation'" },
		{ "without_lock", 60, "'llt'|'wait'" },
		{ "lock_time", 20, "'0s'|'30us'" },
		{ "latency", 20, "'0s'|'5us'" },
		{ "results", 40, "'hop'" },
		{ "timeout", 30, "'100us'|'10ms'" },
	};

	rng = &later;
	put(", 'sharp': { 'sat_trees': %s", one_of("4|4|8"));
	OPTIONS(options);
	put(" }");
	rng = &all;
}

static void put_schemes(void)
{
	put(", 'schemes': { ");
	if (calm) {
		put_calm_schemes();
	} else {
		put_rings();
		put_slotted();
		put_pool();
		put_trees();
		put_messages();
		put_sharp();
	}
	put(" }");
}

/* --- jobs --- */

/* Log-uniform from `min` to min * 2^doublings, in steps of 2^(1/8). Multiplies, because the last
 * bit of exp() differs among C libraries. */
static unsigned long size_from(double min, unsigned doublings)
{
	for (uint64_t steps = rng_below(rng, 8 * doublings + 1); steps; steps--)
		min *= 1.0905077326652577; /* 2^(1/8) */
	return (unsigned long)min;
}

static void put_layers(unsigned count, bool experts)
{
	put("'layers': [ ");
	for (unsigned i = 0; i < count; i++) {
		put("%s{ 'gradient': '%luB'", i ? ", " : "",
		    calm ? size_from(1e6, 5) : size_from(16, 16));
		if (chance(50))
			put(", 'forward': '%uus'", between(0, calm ? 1000 : 40));
		if (chance(calm ? 0 : 50))
			put(", 'backward': '%uus'", between(0, 80));
		mute = sums_only;
		if (experts && chance(50))
			put(", 'all_to_all': '%luB'", size_from(16, 14));
		mute = false;
		put(" }");
	}
	put(" ]");
}

static void put_fusion_cycle(void)
{
	rng = &later;
	fused = !calm && chance(20);
	if (fused)
		put(", 'fusion_cycle': %s", one_of("'5us'|'50us'|'1ms'"));
	rng = &all;
}

static void put_model(void)
{
	static const struct option options[] = { { "gradient_scale", 10, "0.3" },
						 { "compute_scale", 10, "0|2.5" } };
	unsigned layers = between(1, 3), form = calm ? 0 : (unsigned)rng_below(rng, 10);
	bool overlap = chance(50), experts = false;

	put(", 'overlap': '%s'", overlap ? "layers" : "none");
	if (form < 8) {
		put(", 'model': { ");
		experts = !calm && overlap && chance(20);
		put_layers(layers, experts);
		if (!calm && overlap && chance(20))
			put(", 'send_order': %s", layers == 1   ? "[0]"
						  : layers == 2 ? "[1, 0]"
								: "[2, 0, 1]");
		put(" }");
		OPTIONS(options);
	} else if (form == 8) {
		put(", 'model': '%s'", one_of("resnet50|vgg16|googlenet"));
		put(", 'gradient_scale': 0.001, 'compute_scale': 0.001");
	} else {
		put(", 'model': { 'mix': [ { 'model': 'alexnet', 'weight': 2 }, { 'model': "
		    "'inceptionv3' } ] }");
		put(", 'gradient_scale': 0.001, 'compute_scale': 0.001");
	}
	if (form >= 8 && overlap && chance(50))
		put(", 'fusion': '30kB'");
	has_experts = experts;
	fused = false;
	if (overlap && !experts)
		put_fusion_cycle();
}

/* As many workers as fit beside the servers. There are no more servers than workers. */
static unsigned put_workers(bool servers)
{
	unsigned max = calm && places < machines ? places : machines - pool, workers, first;
	bool turned;

	if (servers)
		max /= 2;
	max = max > (calm ? 16 : 8) ? (calm ? 16 : 8) : max;
	workers = max < 2 || (!calm && chance(3)) ? 1 : between(2, max);
	places -= calm ? workers + (servers ? 3 : 0) : 0;
	if (!calm && workers > 2 && chance(15)) {
		put(", 'workers': { 'min': 2, 'max': %u }", workers);
	} else if (!calm && chance(15)) {
		first = between(0, machines - pool - workers);
		rng = &newest;
		turned = chance(50);
		rng = &all;
		for (unsigned i = 0; i < workers; i++)
			put("%s %u", i ? "," : ", 'workers': [",
			    first + (turned ? workers - 1 - i : i));
		put(" ]");
	} else {
		put(", 'workers': %u", workers);
	}
	if (!servers || workers < 2 || (!calm && chance(40)))
		return workers;
	if (!calm && pool && chance(40))
		put(", 'servers': { 'count': %u, 'placement': 'shared' }", between(1, pool));
	else if (!calm && chance(40))
		put(", 'servers': { 'placement': 'workers' }");
	else
		put(", 'servers': %u", between(1, workers > 3 ? 3 : workers));
	return workers;
}

static void put_arrival(unsigned workers)
{
	if (steady)
		return;
	if (calm)
		put(", 'arrival': { 'at': '%uus' }", chance(50) ? between(0, 2000) : 0);
	else if (chance(15))
		put(", 'count': %u, 'arrival': { 'poisson_gap': '50us' }", between(1, 4));
	else if (workers > 1 && chance(10))
		put(", 'count': %u, 'arrival': { 'poisson_load': 0.3 }", between(1, 4));
	else if (chance(50))
		put(", 'count': %u, 'arrival': { 'at': '20us', 'spread': '100us' }", between(1, 3));
}

/* Disables some groups, also the first; the others keep their numbers. One at least is left. */
static void put_enabled(unsigned number, bool last)
{
	static bool some;
	bool is_off = number && !calm && chance(10);

	is_off |= !last && !calm && rng_below(&off, 100) < 15;
	if (is_off && (some || !last))
		put(", 'enabled': false");
	else
		some = true;
}

/* NVLS has no recovery, and NetReduce's messages need more memory than single switches have. */
static bool can_run(unsigned scheme)
{
	if (own_memory && (scheme_ops(scheme)->traits.one_memory || scheme == SCHEME_netreduce))
		return false;
	return scheme != SCHEME_nvls || (lossless && !lossy);
}

static unsigned any_scheme(void)
{
	unsigned count = 0, scheme;

	while (all_reduce_ops(count))
		count++;
	scheme = (unsigned)rng_below(rng, count);
	if (can_run(SCHEME_nvls) && chance(20))
		return SCHEME_nvls;
	return can_run(scheme) ? scheme : SCHEME_switchml;
}

static void put_job(unsigned number, unsigned scheme, bool last)
{
	static const struct option options[] = {
		{ "max_steps", 10, "2" },
		{ "compute_jitter", 15, "0.1|1" },
		{ "start_jitter", 15, "'5us'" },
		{ "send_jitter", 15, "'20us'" },
		{ "send_jitter_per", 15, "'tensor'" },
		{ "stragglers", 10, "{ 'workers': 1, 'slowdown': 1.7 }" },
		{ "prefetch", 20, "0|3" },
	};
#define SHARDS                                                                                     \
	"'optimizer'|'full'|'full', 'reduce_scatter': 'shards', 'all_gather': 'shards'|"           \
	"'optimizer', 'reduce_scatter': 'shards'|'full', 'all_gather': 'shards'|"                  \
	"'full', 'reduce_scatter': 'shards', 'all_gather': 'multicast'|"                           \
	"'optimizer', 'all_gather': 'multicast'"
	static const struct option without_sharp[] = { { "sharding", 20, SHARDS } };
	static const struct option sharding[] = {
		{ "sharding", 20,
		  SHARDS "|'full', 'reduce_scatter': 'sharp', 'all_gather': 'sharp'|"
			 "'optimizer', 'reduce_scatter': 'sharp'|'full', 'all_gather': 'sharp'" },
	};
	static const struct option domain[] = {
		{ "sharding", 40,
		  "'full', 'reduce_scatter': 'nvls', 'all_gather': 'nvls'|'optimizer', "
		  "'reduce_scatter': 'nvls', 'all_gather': 'shards'" },
	};

	put("%s{ 'name': '%s-%u', 'all_reduce': '%s'", number ? ", " : " ", scheme_names[scheme],
	    number, scheme_names[scheme]);
	put_priority();
	put_inside(scheme);
	put_fallback();
	put_tokens();
	put(", 'iterations': %u", steady ? between(10, 25) : between(1, calm ? 5 : 3));
	put(", 'placement': '%s'", one_of("compact|spread|random"));
	if (!calm && !steady && machines - pool > 4 && chance(5))
		put(", 'arrival': { 'trace': 'philly_8plus', 'limit': 3, 'speedup': 1e9, "
		    "'gpus_per_worker': 16 }");
	else
		put_arrival(put_workers(scheme_ops(scheme)->servers));
	put_model();
	OPTIONS(options);
	rng = &newest;
	staged = !calm && !gpus && !has_experts && chance(15);
	if (staged)
		put(", %s", one_of("'launch': '2us'|'conversion': '20Gbps'|'launch': '500ns', "
				   "'conversion': '3Gbps'"));
	rng = &failing;
	if (!calm && chance(30))
		put(", 'restart_delay': '%s'", one_of("0s|20us|10ms"));
	rng = &all;
	mute = sums_only || fused || staged;
	if (lossless && !lossy && chance(50)) {
		mute |= gpus; /* a domain's hosts are GPUs */
		OPTIONS(domain);
	} else if (own_memory)
		OPTIONS(without_sharp);
	else
		OPTIONS(sharding);
	mute = false;
	put_enabled(number, last);
	put(" }");
}

/* Ranks from `first` on, `shift` further each, of `count` in a circle: "0, 1, 2". */
static void put_ranks(unsigned first, unsigned count, unsigned shift, unsigned of)
{
	for (unsigned i = 0; i < count; i++)
		put("%s%u", i ? ", " : "", (first + i + shift) % of);
}

/* A node of a program whose ranks all do the same. Groups have a stream each, and nodes need
 * earlier ones, or any of the iteration before: so none waits for ever. */
static void put_node(unsigned number, unsigned count)
{
	static const char *const kinds[] = { "all_reduce", "all_reduce", "reduce_scatter",
					     "all_gather", "all_to_all", "broadcast",
					     "reduce",     "gather",     "scatter" };
	const char *kind = kinds[rng_below(rng, 9)];
	unsigned form = (unsigned)rng_below(rng, 9);

	put("%s{ 'name': 'n%u'", number ? ", " : "", number);
	if (form < 3)
		put(", 'compute': '%uus', 'stream': '%s'", between(0, 50), one_of("a|b"));
	else if (form == 3)
		put(", 'pause': '%uus'", between(0, 20));
	else if (form < 6)
		put(", '%s': '%luB', 'stream': 'all %s'", kind, size_from(1, 18), kind);
	else
		put(", '%s': '%luB', 'group': 'half', 'stream': 'half %s'", kind, size_from(1, 18),
		    kind);
	if (form > 3 && chance(50))
		put(", 'wait': false");
	if (number && chance(30))
		put(", 'after': ['n%u']", between(0, number - 1));
	if (chance(30))
		put(", 'after_previous': ['n%u']", between(0, count - 1));
	put(" }");
}

/* A message to the next rank of the circle, or from the one before. */
static void put_message(const char *what, unsigned size, unsigned ranks, unsigned shift)
{
	put(", { '%s': '%uB', 'stream': '%s', 'peer': [", what, size, what);
	put_ranks(0, ranks, shift, ranks);
	put("] }");
}

/* Groups over machines, a rank on each, with a scheme of their own. */
static void put_rails(void)
{
	put(", { 'name': 'rails', 'members': [");
	for (unsigned r = 0; r < gpus_each; r++) {
		put("%s[", r ? ", " : "");
		for (unsigned m = r; m < 16; m += gpus_each)
			put("%s%u", m > r ? ", " : "", m);
		put("]");
	}
	put("] }");
}

/* The schemes of a program's groups, if they have some of their own. */
static void put_collectives(unsigned ranks, bool rails)
{
	bool half = chance(70);

	if (!half && !rails)
		return;
	put(", 'collectives': [");
	if (half)
		put(" { 'group': 'half', 'scheme': '%s' }%s",
		    one_of(gpus && (ranks < 16 || own_memory) ? "ring|halving_doubling"
			   : gpus && gpus_each == 8           ? no_switch ? "ring" : "nvls|ring"
			   : own_memory                       ? "ring|switchml|switchml"
					: "ring|switchml|esa|atp|panama|sharp|ps"),
		    rails ? "," : "");
	rng = &linked;
	if (rails)
		put(" { 'group': 'rails', 'scheme': '%s' }",
		    one_of(own_memory ? "ring|switchml" : "ring|switchml|sharp|esa|double_tree"));
	rng = &programs;
	put(" ]");
}

/* A job with a program, in some scenarios. */
static void put_program(void)
{
	unsigned free = machines - pool > 6 ? 6 : machines - pool, nodes = between(1, 8), ranks,
		 size;
	bool some = chance(15), rails = false;

	if (gpus && machines - pool >= 4) {
		free = 16; /* a rank a GPU, of which a machine has four or eight */
		rails = rng_below(&linked, 100) < 20;
	}
	if (calm || steady || free < 4 || !(some || rails))
		return;
	ranks = 2 * between(2, free / 2);
	if (gpus && chance(50))
		ranks = 16; /* whole machines */
	if (rails)
		ranks = 16;
	size = (unsigned)size_from(1, 16);
	put(", { 'name': 'program', 'all_reduce': '%s'", one_of("ring|double_tree"));
	put(", 'iterations': %u", between(1, 4));
	put(", 'placement': '%s'", one_of("compact|spread|random"));
	put_collectives(ranks, rails);
	put(", 'model': { 'groups': [ { 'name': 'half', 'members': [[");
	put_ranks(0, ranks / 2, 0, ranks);
	put("], [");
	put_ranks(ranks / 2, ranks / 2, 0, ranks);
	put("]] }");
	if (rails)
		put_rails();
	put(" ], 'roles': [ { 'ranks': [");
	put_ranks(0, ranks, 0, ranks);
	put("], 'nodes': [ ");
	for (unsigned i = 0; i < nodes; i++)
		put_node(i, nodes);
	put_message("send", size, ranks, 1);
	put_message("receive", size, ranks, ranks - 1);
	put(", { 'all_reduce': '4kB', 'group': 'half', 'stream': 'half all_reduce' }");
	if (rails)
		put(", { 'all_reduce': '70kB', 'group': 'rails', 'stream': 'rails' }");
	put(" ] } ] } }");
}

/* A job whose layers are a pipeline, in some scenarios. */
static void put_pipeline(void)
{
	unsigned free = machines - pool, chunks = between(1, 2);

	if (calm || steady || free < 4 || !chance(10))
		return;
	put(", { 'name': 'pipeline', 'all_reduce': '%s'",
	    one_of(own_memory ? "ring|switchml" : "ring|switchml|esa|atp|panama|sharp|ps"));
	put(", 'iterations': %u, 'workers': %u", between(1, 3), free >= 6 ? 6 : 4);
	put(", 'overlap': 'layers', 'pipeline': { 'stages': 2, 'microbatches': %u",
	    2 * between(1, 3));
	put(", 'schedule': '%s', 'chunks': %u", chunks == 2 || chance(50) ? "1f1b" : "gpipe",
	    chunks);
	put(", 'activations': '%luB' }", size_from(1, 18));
	if (chance(30))
		put(", 'sharding': 'optimizer'");
	put(", 'model': { 'layers': [ ");
	for (unsigned i = 0; i < 4; i++)
		put("%s{ 'gradient': '%luB', 'forward': '%uus', 'backward': '%uus' }",
		    i ? ", " : "", size_from(16, 16), between(0, 40), between(0, 80));
	put(" ] } }");
}

/* A step of a language model on four ranks, in some scenarios. */
static void put_llm(void)
{
	if (calm || steady || machines - pool < 4 || !chance(8))
		return;
	put(", { 'name': 'llm', 'gpu': 'h100'");
	put_tokens();
	rng = &programs;
	put(", 'all_reduce': '%s'", one_of(gpus                  ? no_switch ? "ring" : "nvls|ring"
					   : own_memory || lossy ? "ring"
								 : "ring|switchml|sharp|ps"));
	put(", 'iterations': 2, 'gradient_scale': 1e-6, 'compute_scale': 1e-3");
	put(", 'model': { 'llm': { 'sequence': 64, 'global_batch': %u", 4 * between(1, 2));
	put(", 'name': %s } } }",
	    one_of("'llama3_8b', 'tensor': 2, 'pipeline': 2|'llama3_8b', 'pipeline': 2, 'chunks': "
		   "4, 'data': 2|'llama3_8b', 'context': 2, 'data': 2, 'distributed_optimizer': "
		   "true|'llama3_8b', 'tensor': 2, 'context': 2, 'sequence_parallel': true|"
		   "'mixtral_8x7b', 'expert': 2, 'data': 4|'mixtral_8x7b', 'tensor': 2, 'data': 2, "
		   "'expert': 2, 'expert_tensor': 1, 'sequence_parallel': true"));
}

/* One fifth each: a job alone; jobs under several schemes, with flows and without; flows alone
 * (calm: a job alone); the rest: jobs under one scheme. */
enum family { ALONE, MIXED_AND_FLOWS, MIXED, FLOWS, ALIKE, FAMILIES };

static unsigned put_jobs(enum family family)
{
	unsigned scheme = any_scheme(),
		 count = family == ALONE || family == FLOWS ? 1 : between(2, calm ? 6 : 4);

	if (family == FLOWS && !calm)
		return 0;
	put(", 'jobs': [");
	for (unsigned i = 0; i < count && (!calm || places >= 6); i++) {
		put_job(i, scheme, i + 1 == count);
		if (family < ALIKE)
			scheme = any_scheme();
	}
	rng = &programs;
	put_program();
	put_pipeline();
	put_llm();
	rng = &all;
	put(" ]");
	return count;
}

/* --- flows --- */

static void put_pairs(void)
{
	unsigned src = between(0, hosts - 1);

	if (calm || chance(25))
		put(", 'pairs': [ [ %u, %u ] ]", src, (src + between(1, hosts - 1)) % hosts);
	else if (chance(33))
		put(", 'pairs': 'permutation'");
	else if (chance(50))
		put(", 'pairs': 'incast', 'fan_in': %u, 'receiver': %u", between(1, hosts - 1),
		    src);
	else
		put(", 'count': %u", between(1, 40));
}

/* A flow that ends with the run, beside others that end it. DCTCP leaves something of the links to
 * them. Not beside jobs: their timers would have to be longer than its queue in a NIC ("fifo"). */
static bool put_endless(unsigned number, enum family family)
{
	bool endless;

	rng = &newest;
	endless = !calm && number && family == FLOWS && chance(10);
	if (endless)
		put("%s{ 'name': 'endless-%u', 'size': 'endless', 'pairs': [ [ %u, 0 ] ] }",
		    number ? ", " : " ", number, between(1, hosts - 1));
	rng = &all;
	return endless;
}

static void put_flows_of(unsigned number)
{
	put("%s{ 'name': 'group-%u', 'transport': '%s'", number ? ", " : " ", number,
	    calm ? one_of("dctcp|dctcp|reno") : any_transport());
	put_priority();
	if (!calm && chance(30)) {
		put(", 'count': %u", between(1, 60));
		put(", 'arrival': { 'poisson_load': %s }", one_of("0.1|0.5|1.5"));
		put(", 'size': %s, 'size_scale': 0.01",
		    one_of("{ 'cdf': 'websearch' }|{ 'cdf': 'datamining' }|"
			   "{ 'mix': [ { 'cdf': 'panama_short', 'weight': 3 }, { 'cdf': "
			   "'websearch' } ] }"));
	} else {
		put(", 'arrival': { 'at': '%uus' }", calm ? 0 : between(0, 300));
		put(", 'size': '%luB'", calm ? size_from(1e6, 5) : size_from(1, 17));
		put_pairs();
	}
	put(" }");
}

static unsigned put_flows(enum family family)
{
	unsigned count = between(1, 4);

	if (family != MIXED_AND_FLOWS && (calm || family != FLOWS))
		return 0;
	put(", 'flows': [");
	for (unsigned i = 0; i < count; i++)
		if (!put_endless(i, family))
			put_flows_of(i);
	put(" ]");
	return count;
}

/* No run gets to `after`: that would be unfinished work, which scenarios here do not leave. */
static void put_stop(enum family family)
{
	put(", 'stop': { 'after': '2400h'");
	if (steady) {
		put(", 'estimate': %s }", one_of("0.001|0.02|0.2"));
		return;
	}
	if (!calm && chance(10))
		put(", 'warmup': '50us'");
	if (!calm && chance(8))
		put(", 'when': 'measured_done', 'window': '10ms'");
	else if (!calm && chance(10))
		put(", 'when': '%s'", family == FLOWS ? "flows_done" : "jobs_done");
	put(" }");
}

static void put_host_name(unsigned host)
{
	if (linked_gpus)
		put("'m%ug%u'", host / linked_gpus, host % linked_gpus);
	else
		put("'h%u'", host);
}

/* Whatever fails is repaired, so that all work ends. */
static void put_failures(void)
{
	rng = &failing;
	if (calm || steady || !chance(20) || ranked) {
		rng = &all;
		return;
	}
	put(", 'failures': { 'reroute_delay': %s", one_of("'1ps'|'20us'|'1ms'"));
	put(", 'controller_delay': %s, 'events': [", one_of("'1ps'|'50us'|'10ms'"));
	for (unsigned i = 0, count = between(1, 3); i < count; i++) {
		put("%s { 'fails': ", i ? "," : "");
		if (planes && rng_below(&linked, 100) < 50)
			put("'p0'");
		else if (node && chance(50))
			put("'%s0'%s", node,
			    all_add && chance(40) ? ", 'aggregation_only': true" : "");
		else if (chance(50))
			put_host_name(between(0, hosts - 1));
		else
			put("%u",
			    between(0, 2 * hosts - 1)); /* hosts have a link, switches as many */
		put(", 'at': '%uus', 'repair_after': %s }", between(0, 400),
		    one_of("'1ps'|'3us'|'100us'|'5ms'"));
	}
	put(" ] }");
	rng = &all;
}

int main(int argc, char **argv)
{
	enum family family;

	if (argc < 3 || argc > 4 || (argc == 4 && strcmp(argv[3], "calm"))) {
		fputs("usage: random_scenario SEED NUMBER [calm]\n", stderr);
		return 2;
	}
	calm = argc == 4;
	rng_init(&all, strtoull(argv[1], NULL, 10), "random scenario", strtoull(argv[2], NULL, 10));
	rng_init(&spraying, strtoull(argv[1], NULL, 10), "random spray",
		 strtoull(argv[2], NULL, 10));
	rng_init(&sharing, strtoull(argv[1], NULL, 10), "random sharing",
		 strtoull(argv[2], NULL, 10));
	rng_init(&selecting, strtoull(argv[1], NULL, 10), "random selecting",
		 strtoull(argv[2], NULL, 10));
	rng_init(&later, strtoull(argv[1], NULL, 10), "random later", strtoull(argv[2], NULL, 10));
	rng_init(&failing, strtoull(argv[1], NULL, 10), "random failing",
		 strtoull(argv[2], NULL, 10));
	rng_init(&passing, strtoull(argv[1], NULL, 10), "random passing",
		 strtoull(argv[2], NULL, 10));
	rng_init(&off, strtoull(argv[1], NULL, 10), "random off", strtoull(argv[2], NULL, 10));
	rng_init(&alone, strtoull(argv[1], NULL, 10), "random alone", strtoull(argv[2], NULL, 10));
	rng_init(&programs, strtoull(argv[1], NULL, 10), "random programs",
		 strtoull(argv[2], NULL, 10));
	rng_init(&newest, strtoull(argv[1], NULL, 10), "random newest",
		 strtoull(argv[2], NULL, 10));
	rng_init(&linked, strtoull(argv[1], NULL, 10), "random linked",
		 strtoull(argv[2], NULL, 10));
	family = (enum family)rng_below(rng, FAMILIES);
	steady = !calm && family == ALONE && rng_below(&alone, 100) < 30;
	put("{ 'name': 'random-%s-%s', 'seed': %u", argv[1], argv[2], between(1, 1000000));
	put_topology();
	put_tcp();
	put_roce();
	put_schemes();
	put_jobs(family);
	put_flows(family);
	put_stop(family);
	put_failures();
	put(" }\n");
	return 0;
}
