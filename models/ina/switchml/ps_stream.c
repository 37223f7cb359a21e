/* Parameter servers that do a switch's work: the benchmark program of SwitchML (Sapio et al.,
 * arXiv:1903.06701), section 5.3. ps.c has servers over TCP or RoCE.
 *
 * Modelled: workers run SwitchML's worker side as it is, with the same packets, slots, versions and
 * timers. Of m servers, server i mod m has slot i. It runs the switch's side, and sends n unicast
 * copies of each result to the n workers. Loss is repaired as in SwitchML (algorithms 3 and 4); the
 * paper's program does not repair it. Adding takes time by the host's reduction rate (reducer.h). A
 * repeated contribution takes none: it is answered at once, or dropped while the first waits to be
 * added. Packets between a worker and a server on the same host take no network and no time.
 *
 * Simplified: packets cost no CPU time, other than the reduction rate.
 *
 * Left open, and our reading: "uniformly sharded" is by slot, so that every tensor of m packets or
 * more is sharded. Slots by the rule are a multiple of m. If a user gives another number, some
 * servers have one slot more than others, and so a larger part of every tensor. Server q sends its
 * copies to the workers in turn, from worker q mod n on. There is no congestion control: with s
 * slots, at most n s / m packets meet at a server's port.
 *
 * The file is here, not in models/collective, because it uses the code of SwitchML's worker and
 * switch. */
#include "ina/switchml/switchml.h"

#include "base/mem.h"
#include "formulas/formulas.h"
#include "ina/common/adding.h"
#include "ina/common/outbox.h"
#include "topo/topology.h"
#include "transport/keys.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

struct ps_server {
	struct switchml *job;
	uint32_t number, host;
	uint32_t port;          /* egress port of its host */
	struct tree_node place; /* a root whose children are the workers; ports are their numbers */
	struct node node;
	/* node.seen, and the contributions that wait to be added; NULL: adding takes no time. */
	uint64_t *arrived;
	struct adding adding;
	struct outbox outbox;
};

struct ps_servers {
	struct ps_server *list;
	uint32_t count;
	struct ps_pair {
		struct route up, down;
	} * pairs;                         /* [worker * count + server] */
	uint32_t *children;                /* 0, 1, ... */
	struct collective_memory counters; /* of all servers together; only repairs are reported */
};

/* --- at servers --- */

static struct ps_pair *pair_of(const struct switchml *job, uint32_t w, uint32_t q)
{
	return &job->servers->pairs[(size_t)w * job->servers->count + q];
}

static void send_copy(struct ps_server *server, const struct packet *packet, uint32_t w)
{
	struct switchml *job = server->job;
	struct packet copy = *packet;

	if (job->base.spec.hosts[w] == server->host) {
		switchml_worker_result(switchml_worker(job, w), packet);
		return;
	}
	copy.kind = PACKET_DATA; /* what a worker on this host contributed is not of this kind */
	packet_set_route(&copy, &pair_of(job, w, server->number)->down);
	outbox_send(&server->outbox, &copy);
}

/* Does what a switch would do. Its "ports" are workers. */
static void ps_stream_serve(void *owner, const struct packet *packet)
{
	struct ps_server *server = owner;
	struct switch_actions actions = { 0 };

	switchml_at_node(server->job, &server->node, packet, &actions);
	for (unsigned i = 0; i < actions.count; i++) {
		const struct switch_send *send = &actions.send[i];

		for (uint32_t c = 0; c < send->count; c++)
			send_copy(server, &send->packet,
				  send->ports[(c + server->number) % send->count]);
	}
}

static void ps_stream_receive(struct ps_server *server, const struct packet *packet)
{
	const struct node *node = &server->node;

	if (!server->arrived || switchml_seen(node->seen, node->words, packet)) {
		ps_stream_serve(server, packet);
	} else if (!switchml_seen(server->arrived, node->words, packet)) {
		switchml_mark(server->arrived, node->words, packet);
		adding_push(&server->adding, packet,
			    (bytes)server->job->base.scheme->elements * ELEMENT_BYTES);
	}
}

/* --- between workers and servers --- */

static struct ps_server *server_of(const struct switchml *job, uint32_t slot)
{
	return &job->servers->list[slot % job->servers->count];
}

bool ps_stream_local(const struct worker *worker, uint32_t slot)
{
	return server_of(switchml_of(worker), slot)->port == worker->base.port;
}

void ps_stream_hand_over(struct worker *worker, const struct packet *packet)
{
	ps_stream_receive(server_of(switchml_of(worker), packet->slot), packet);
}

void ps_stream_address(const struct worker *worker, struct packet *packet)
{
	const struct switchml *job = switchml_of(worker);
	uint32_t q = server_of(job, packet->slot)->number;

	packet->kind = PACKET_DATA; /* switches only forward it */
	packet_set_route(packet, &pair_of(job, worker->base.number, q)->up);
}

static void ps_stream_deliver(void *self, uint32_t host, const struct packet *packet)
{
	struct switchml *job = ina_job_of(self, packet);

	if (!job)
		return; /* the job is over */
	if (packet->flags & PACKET_RESULT)
		switchml_worker_result(ina_worker_on(&job->base, host), packet);
	else
		ps_stream_receive(server_of(job, packet->slot), packet);
}

/* --- jobs --- */

static uint32_t ps_stream_servers(uint32_t workers)
{
	return workers;
}

/* As ps.c: a gradient from each worker and a sum to each, except within a host. */
static double ps_stream_injected(uint32_t workers, uint32_t gpus, bool beside)
{
	(void)gpus;
	return 2 * ((double)workers - beside);
}

static void ps_stream_check(const void *self, const struct topology_conf *topology,
			    struct conf_doc *doc, const char *scheme)
{
	const struct switchml_conf *conf = self;

	(void)topology, (void)scheme;
	if (conf->format == FORMAT_RDMA)
		conf_error(doc, "/schemes/ps_stream/format",
			   "\"rdma\" is for switches only; allowed: the other formats");
	if (conf->slots_form == SLOTS_RULE && conf->slots_rule == SLOTS_MEMORY)
		conf_error(doc, "/schemes/ps_stream/slots",
			   "the memory of hosts has no limit; allowed: \"bdp\" or a number");
}

static uint32_t port_of_server(const struct switchml *job, uint32_t q)
{
	return job->base.ports[job->base.spec.workers + q];
}

static void find_routes(struct switchml *job)
{
	const struct topology *topo = job->base.scheme->env.topo;
	uint64_t key =
		hash_pair(hash_pair(job->base.scheme->env.sim->seed, hash_string("ps_stream")),
			  job->base.spec.number);

	for (uint32_t w = 0; w < job->base.spec.workers; w++) {
		for (uint32_t q = 0; q < job->servers->count; q++) {
			uint32_t a = job->base.ports[w], b = port_of_server(job, q);
			uint64_t entropy = hash_pair(key, (uint64_t)w << 32 | q);

			if (a == b)
				continue;
			topology_route_between(topo, a, b, entropy, &pair_of(job, w, q)->up);
			topology_route_between(topo, b, a, ~entropy, &pair_of(job, w, q)->down);
		}
	}
}

static bool pair_works(const struct switchml *job, uint32_t w, uint32_t q)
{
	const struct topology *topo = job->base.scheme->env.topo;
	uint32_t a = job->base.ports[w], b = port_of_server(job, q);

	return a == b ||
	       (topology_works(topo, job->base.spec.hosts[w], &pair_of(job, w, q)->up) &&
		topology_works(topo, job->base.spec.server_hosts[q], &pair_of(job, w, q)->down));
}

/* Paths of a job never change. A version has one bit, so a late copy on a former path would be
 * added to another chunk. Jobs begin anew instead. */
static bool ps_stream_intact(const void *instance, bool links)
{
	const struct switchml *job = instance;

	for (uint32_t w = 0; links && w < job->base.spec.workers; w++)
		for (uint32_t q = 0; q < job->servers->count; q++)
			if (!pair_works(job, w, q))
				return false;
	return true;
}

/* Time of a packet from a worker to a server and back, on an idle network. */
static sim_time pair_round_trip(const struct switchml *job, uint32_t w, uint32_t q)
{
	const struct topology *topo = job->base.scheme->env.topo;
	uint32_t a = job->base.spec.hosts[w], b = job->base.spec.server_hosts[q],
		 ports[HOPS_MAX + 1];
	sim_time sum;
	unsigned count;

	if (a == b)
		return 0;
	count = topology_path(topo, a, &pair_of(job, w, q)->up, ports);
	sum = ideal_packet(&topo->net, ports, count, job->base.scheme->frame);
	count = topology_path(topo, b, &pair_of(job, w, q)->down, ports);
	return sum + ideal_packet(&topo->net, ports, count, job->base.scheme->frame);
}

/* The longest round trip of any worker and server, as a slot waits for its slowest worker. */
static sim_time round_trip(const struct switchml *job)
{
	sim_time longest = 0;

	for (uint32_t w = 0; w < job->base.spec.workers; w++) {
		for (uint32_t q = 0; q < job->servers->count; q++) {
			sim_time time = pair_round_trip(job, w, q);

			longest = time > longest ? time : longest;
		}
	}
	return longest;
}

/* How long a server's link takes for the copies of a result after the first. */
static sim_time copies_wait(const struct switchml *job, uint32_t q)
{
	const struct network *net = &job->base.scheme->env.topo->net;
	uint32_t port = port_of_server(job, q), copies = 0;

	for (uint32_t w = 0; w < job->base.spec.workers; w++)
		copies += job->base.ports[w] != port;
	return copies ? (copies - 1) * plan_path(net, &port, 1, job->base.scheme->frame).slowest
		      : 0;
}

static sim_time longest_wait(const struct switchml *job)
{
	sim_time longest = 0;

	for (uint32_t q = 0; q < job->servers->count; q++) {
		sim_time wait = copies_wait(job, q);

		longest = wait > longest ? wait : longest;
	}
	return longest;
}

/* How long a worker's slots have to last at the rate of its link, with n workers and m servers. A
 * worker's link needs slots for a round trip, as in SwitchML (section 3.6). A server's link needs
 * them for longer, until the last copy has left. But it has 1/m of the slots, and sends n copies
 * for each: with fewer servers than workers, m/n of what a worker's link would need is enough. */
static sim_time time_to_cover(sim_time trip, sim_time wait, uint64_t n, uint64_t m)
{
	sim_time busy = (trip + wait) * m / (m > n ? m : n);

	return busy > trip ? busy : trip;
}

/* Raises the slots to a multiple of m, as far as a packet can name them. */
static uint32_t shared_evenly(uint64_t slots, uint32_t m)
{
	uint32_t max = SWITCHML_SLOTS_MAX / m * m;

	slots = (slots + m - 1) / m * m;
	return slots <= max ? (uint32_t)slots : max;
}

static uint32_t choose_slots(const struct switchml *job)
{
	const struct switchml_conf *conf = switchml_conf(&job->base);
	uint32_t n = job->base.spec.workers, m = job->servers->count;
	sim_time time;

	if (conf->slots_form == SLOTS_NUMBER)
		return (uint32_t)conf->slots;
	time = time_to_cover(round_trip(job), longest_wait(job), n, m);
	return shared_evenly(switchml_slots_for(job, time), m);
}

/* choose_slots() before there is a network. All paths are assumed to lead through its top. */
static uint32_t slots_through_top(const struct switchml_conf *conf,
				  const struct topology_conf *topology, uint32_t frame, uint32_t n,
				  uint32_t m)
{
	bps rate = topology_host_rate(topology);
	sim_time trip = ideal_round_trip(topology, frame, frame),
		 wait = (n - 1) * topology_transmission(topology, frame);

	if (conf->slots_form == SLOTS_NUMBER)
		return (uint32_t)conf->slots;
	return shared_evenly(formula_pool_slots(rate, frame, time_to_cover(trip, wait, n, m),
						SWITCHML_SLOTS_MAX),
			     m);
}

/* Packets that do not fit into the buffer of a server's port are lost. The fixed timer retransmits
 * them, and also all packets that wait in the buffer. If they fill it again, this never ends. */
static void warn_overflow(uint32_t n, uint64_t slots, uint32_t frame, bytes buffer,
			  struct conf_doc *doc, const char *pointer)
{
	conf_warn(doc, pointer,
		  "%" PRIu32 " workers with %" PRIu64 " slots a server send it up to %" PRIu64
		  " bytes at once, more than the %" PRIu64
		  " of a switch's buffer (\"buffer\"): with the fixed timer of ps_stream, lost "
		  "packets may be retransmitted for ever; use \"timeout_rule\": \"doubling\"",
		  n, slots, n * slots * frame, buffer);
}

/* The server's link takes the packets of all workers one after another. Those that wait longer than
 * the timer are sent again, and each copy makes the others wait longer. Where switches take turns
 * between workers, some packets wait a third longer than the mean: measured with 4 to 15 workers on
 * one switch and over tiers, retransmissions begin where the mean is 0.8 to 1.0 of the timer. */
#define MOST_OF_TIMER 0.75

static void warn_early_timer(uint32_t n, uint64_t slots, sim_time wait, sim_time timeout,
			     struct conf_doc *doc, const char *pointer)
{
	conf_warn(doc, pointer,
		  "%" PRIu32 " workers with %" PRIu64
		  " slots a server keep its link busy for %g s, more than %g of "
		  "\"retransmission_timeout\" (%g s): with the fixed timer of ps_stream, packets "
		  "that wait for it are retransmitted again and again, perhaps for ever; use fewer "
		  "slots or \"timeout_rule\": \"doubling\"",
		  n, slots, seconds_of(wait), MOST_OF_TIMER, seconds_of(timeout));
}

static void ps_stream_warn(const void *self, const struct topology_conf *topology, uint32_t n,
			   uint32_t m, struct conf_doc *doc, const char *pointer)
{
	const struct switchml_conf *conf = self;
	const struct pause_conf *pause = &topology->switches.pause;
	bool drops = pause->form != PAUSE_SET && !pause->on;
	uint32_t frame = switchml_conf_frame(conf);
	bytes buffer = topology_buffer(topology, false);
	uint64_t slots = (slots_through_top(conf, topology, frame, n, m) + m - 1) / m;
	sim_time wait = n * slots * topology_transmission(topology, frame);

	if (conf->timeout.rule != RTO_FIXED)
		return;
	if (drops && n * slots * frame > buffer)
		warn_overflow(n, slots, frame, buffer, doc, pointer);
	else if ((double)wait > MOST_OF_TIMER * (double)conf->timeout.first)
		warn_early_timer(n, slots, wait, conf->timeout.first, doc, pointer);
}

static void open_server(struct switchml *job, uint32_t q)
{
	const struct model_env *env = &job->base.scheme->env;
	struct ps_server *server = &job->servers->list[q];
	uint64_t key = timer_key_of_job(TIMER_PS_STREAM, job->base.spec.number, q);

	server->job = job;
	server->number = q;
	server->host = job->base.spec.server_hosts[q];
	server->port = port_of_server(job, q);
	/* switchml_switch.c reports violations at node hosts + sw, which has to be this host */
	server->place = (struct tree_node){ .sw = server->host - env->topo->net.hosts,
					    .parent = TREE_NONE,
					    .children = job->base.spec.workers,
					    .down_ports = job->servers->children,
					    .inputs = job->base.spec.workers,
					    .input_ports = job->servers->children };
	server->node.base.place = &server->place;
	server->node.base.memory = &job->servers->counters;
	switchml_node_init(&server->node, job->slots, 1);
	if (env->reducers->rate)
		server->arrived =
			xcalloc((size_t)SWITCHML_VERSIONS * job->slots * server->node.words,
				sizeof(*server->arrived));
	adding_init(&server->adding, &env->topo->net, job->base.spec.number, env->reducers,
		    server->host, key, ps_stream_serve, server);
	outbox_init(&server->outbox, &env->topo->net.nics[server->port]);
}

/* Makes servers and the paths to them, without timers. */
static bool ps_stream_admit(void *self, const char **never)
{
	struct switchml *job = self;
	const struct collective_job *spec = &job->base.spec;
	struct ps_servers *servers = xcalloc(1, sizeof(*servers));

	(void)never;
	job->servers = servers;
	servers->count = spec->servers;
	servers->list = xcalloc(spec->servers, sizeof(*servers->list));
	servers->pairs = xcalloc((size_t)spec->workers * spec->servers, sizeof(*servers->pairs));
	servers->children = xcalloc(spec->workers, sizeof(*servers->children));
	for (uint32_t w = 0; w < spec->workers; w++)
		servers->children[w] = w;
	find_routes(job);
	job->format = switchml_format_of(switchml_conf(&job->base));
	job->slots = choose_slots(job);
	return true;
}

static void ps_stream_withdraw(void *self)
{
	struct ps_servers *servers = ((struct switchml *)self)->servers;

	free(servers->list);
	free(servers->pairs);
	free(servers->children);
	free(servers);
}

static void ps_stream_begin(void *self)
{
	struct switchml *job = self;

	for (uint32_t q = 0; q < job->servers->count; q++)
		open_server(job, q);
	switchml_workers_begin(job);
}

static void ps_stream_end(void *self)
{
	struct switchml *job = self;

	switchml_workers_end(job);
	for (uint32_t q = 0; q < job->servers->count; q++) {
		struct ps_server *server = &job->servers->list[q];

		outbox_release(&server->outbox);
		adding_release(&server->adding);
		switchml_node_release(&server->node);
		free(server->arrived);
	}
}

static void ps_stream_stats(const void *self, struct collective_stats *stats)
{
	const struct switchml *job = self;

	ina_stats(self, stats);
	stats->repairs += job->servers->counters.stats.repairs;
}

static void plan_way(const struct switchml *job, uint32_t from, const struct route *route,
		     struct plan_stream *stream, struct plan_path *longest)
{
	const struct topology *topo = job->base.scheme->env.topo;
	uint32_t ports[HOPS_MAX + 1];
	struct plan_path path;

	plan_add_route(stream, topo, from, route, 1);
	path = plan_path(&topo->net, ports, topology_path(topo, from, route, ports),
			 job->base.scheme->frame);
	plan_path_longest(longest, &path);
}

/* All slots go at one rate, and every server with slots is planned as the one with most. A slot is
 * free again after a round trip and copies_wait(). With few slots this time sets the rate. */
static void ps_stream_plan(void *self, struct stream_plan *plan)
{
	const struct switchml *job = self;
	const struct ina_scheme *scheme = job->base.scheme;
	const struct collective_job *spec = &job->base.spec;
	struct ps_servers *servers = job->servers;
	uint32_t max = (job->slots + servers->count - 1) / servers->count;
	struct plan_path up = { 0 }, down = { 0 };
	struct plan_stream *stream;

	plan_init(plan, 1);
	plan->bound.framing = ina_framing(&job->base, switchml_min_frame(&job->format));
	plan_add_servers(&plan->bound, spec);
	stream = &plan->streams[0];
	stream->packets = plan_ina_packets(&scheme->env.topo->net, scheme->frame, scheme->elements);
	stream->packets.fraction = (double)max / job->slots;
	for (uint32_t w = 0; w < spec->workers; w++) {
		for (uint32_t q = 0; q < servers->count && q < job->slots; q++) {
			if (spec->hosts[w] == spec->server_hosts[q])
				continue;
			plan_way(job, spec->hosts[w], &pair_of(job, w, q)->up, stream, &up);
			plan_way(job, spec->server_hosts[q], &pair_of(job, w, q)->down, stream,
				 &down);
		}
	}
	up = plan_path_then(&up, &down);
	plan->latency = plan_path_latency(&up);
	stream->cap =
		fmin(plan_window_rate(&stream->packets, max, up.sum + longest_wait(job)),
		     plan_reducer_rate(&stream->packets, scheme->env.reducers, spec->workers));
	plan_fix_window(stream, max, up.sum, &scheme->env.topo->net, job->base.ports[0]);
	plan_close(plan);
	plan_set_turns(plan, &scheme->env.topo->net, spec, servers->count);
}

static const struct ina_ops ops = {
	.title = "ps_stream",
	.size = { .job = sizeof(struct switchml), .worker = sizeof(struct worker) },
	.protocol = { .name = "ps_stream",
		      .flags = { "version", "late" },
		      .deliver = ps_stream_deliver },
	.pull = switchml_pull,
	.admit = ps_stream_admit,
	.withdraw = ps_stream_withdraw,
	.plan = ps_stream_plan,
	.begin = ps_stream_begin,
	.end = ps_stream_end,
	.contribute = switchml_contribute,
	.waits = switchml_waits,
};

static void *ps_stream_open(const struct model_env *env, const void *conf)
{
	return switchml_open_as(&ops, env, conf);
}

const struct collective_ops ps_stream_collective = {
	.name = "ps_stream",
	.help = "parameter servers with SwitchML's packets and slots on hosts (SwitchML section "
		"5.3)",
	.table = &ps_stream_table,
	INA_JOB_OPS,
	INA_PLAN_OPS,
	.servers = ps_stream_servers,
	.injected = ps_stream_injected,
	.frame = switchml_conf_frame,
	.payload = switchml_conf_payload,
	.check = ps_stream_check,
	.warn = ps_stream_warn,
	.idle = switchml_idle,
	.open = ps_stream_open,
	.close = ina_close,
	.stats = ps_stream_stats,
	.intact = ps_stream_intact,
	.traits.tolerance = { .one_switch = 0.02 },
	.slots = switchml_slots,
};
