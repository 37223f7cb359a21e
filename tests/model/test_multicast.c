/* All-gather by multicast: times against closed forms, turns, every packet of a small job lost in
 * turn, a loss that several ranks fetch one from the other, late ranks, the handshake, places. */
#include "model_run.h"

#include "ina/multicast/multicast.h"
#include "workload/jobs/jobs_parts.h"

#include <inttypes.h>
#include <stdlib.h>

#define BOTH    "'all_reduce': 'ring', 'reduce_scatter': 'shards', 'all_gather': 'multicast'"
#define PAYLOAD 4096.0
#define WIRE    4190.0 /* 74 bytes of headers, 20 of preamble and gap */

static void build(struct run *run, const char *topology, const char *multicast, const char *jobs)
{
	run_build(run,
		  "{ 'name': 't', 'topology': { %s }, 'schemes': { 'shards': { 'window': '1B' }, "
		  "'multicast': { %s } }, 'jobs': [ %s ] }",
		  topology, multicast, jobs);
}

/* --- closed forms --- */

static double time_of(const char *topology, unsigned workers, unsigned chains, const char *more)
{
	char job[400], multicast[80];
	struct run run;
	double t;

	snprintf(job, sizeof(job),
		 "{ 'workers': %u, " BOTH ", %s, 'placement': 'spread', 'model': { 'layers': [ { "
		 "'gradient': '40MB' } ] } }",
		 workers, more);
	snprintf(multicast, sizeof(multicast), "'elements_per_packet': 1024, 'chains': %u", chains);
	build(&run, topology, multicast, job);
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(run.s->topo.net.dropped, 0);
	t = jobs_report(run.s->jobs)->durations[0];
	run_free(&run);
	return t;
}

/* An all-gather, which "full" has once more, and `shards` shards of 40 MB / N that come to a rank
 * one after the other. `hops`: on the way from rank to rank, which each turn takes. */
static void gather(const char *topology, unsigned workers, unsigned chains, unsigned shards,
		   unsigned hops)
{
	double t = time_of(topology, workers, chains, "'sharding': 'full'") -
		   time_of(topology, workers, chains, "'sharding': 'optimizer'");
	double packet = WIRE * 8 / 200e9, way = hops * (500e-9 + packet) + (hops - 1) * 500e-9;
	double want = shards * 40e6 / workers / PAYLOAD * packet + shards / chains * way;

	cr_expect_float_eq(t / want, 1, 0.01, "%u workers, %u chains: %g", workers, chains,
			   t / want);
}

#define LINK "'link': { 'rate': '200Gbps', 'delay': '500ns' }, 'switch': { 'buffer': '40MB' }"

/* N shards in turn, as nobody gets anything new while it sends. */
Test(multicast, time_in_turn)
{
	static const unsigned workers[] = { 2, 3, 8, 16 };

	for (unsigned i = 0; i < 4; i++)
		gather("'kind': 'star', 'hosts': 16, " LINK, workers[i], 1, workers[i], 2);
	gather("'kind': 'leaf-spine', 'leaves': 3, 'spines': 2, 'hosts_per_leaf': 4, " LINK, 8, 1,
	       8, 4);
	gather("'kind': 'fat-tree', 'k': 4, " LINK, 16, 1, 16, 6);
}

/* With room for what meets in queues, all at once take the N - 1 shards that come down. */
Test(multicast, time_at_once)
{
	gather("'kind': 'star', 'hosts': 16, " LINK, 2, 2, 1, 2);
	gather("'kind': 'star', 'hosts': 16, " LINK, 8, 8, 7, 2);
	gather("'kind': 'star', 'hosts': 16, " LINK, 8, 100, 7, 2);
}

/* --- turns and the handshake --- */

static const struct protocol_ops *real;
static struct protocol_ops tap;

/* Returns the ops of multicast's packets, to be changed; `real` is what they were. */
static struct protocol_ops *tap_packets(struct network *net)
{
	for (unsigned p = 0; p < net->protocol_count; p++) {
		if (strcmp(net->protocols[p].ops->name, "multicast"))
			continue;
		real = net->protocols[p].ops;
		tap = *real;
		net->protocols[p].ops = &tap;
	}
	return &tap;
}

#define RACKS                                                                                      \
	"'kind': 'leaf-spine', 'leaves': 2, 'spines': 1, 'hosts_per_leaf': 2, 'link': { 'rate': "  \
	"'10Gbps' }"
/* Shards of four rows, two all-gathers an iteration. */
#define SMALL(more)                                                                                \
	"{ 'workers': 4, " BOTH ", 'sharding': 'full', 'iterations': 2, " more                     \
	"'model': { 'layers': [ { 'gradient': '16KB' } ] } }"
#define CONF     "'elements_per_packet': 256, 'cutoff': '50us'"
#define ROWS     4
#define GATHERS  4
#define RECEIVED (4 * 3 * ROWS * GATHERS) /* shards at other ranks, of all all-gathers */

static uint64_t came[4][GATHERS], last_chunk[4];
static unsigned started_early, out_of_turn;

/* The sender of an all-gather's packet has ended the one before, so its right neighbour has all of
 * that. */
static void watch(void *self, uint32_t host, const struct packet *packet)
{
	uint64_t tensor = packet->chunk / (4 * ROWS), from = packet->chunk / ROWS % 4;

	started_early += tensor && came[(from + 1) % 4][tensor - 1] < 3 * ROWS;
	out_of_turn += packet->chunk < last_chunk[host];
	last_chunk[host] = packet->chunk;
	came[host][tensor]++;
	real->deliver(self, host, packet);
}

static void run_watched(const char *multicast, const char *job)
{
	struct run run;

	memset(came, 0, sizeof(came));
	memset(last_chunk, 0, sizeof(last_chunk));
	started_early = out_of_turn = 0;
	build(&run, RACKS, multicast, job);
	tap_packets(&run.s->topo.net)->deliver = watch;
	run_to(&run, END_ALL_DONE);
	for (unsigned host = 0; host < 4; host++)
		for (unsigned t = 0; t < GATHERS; t++)
			cr_expect_eq(came[host][t], 3 * ROWS);
	cr_expect_eq(started_early, 0);
	run_free(&run);
}

/* In one chain shards come one after the other, in the order of ranks; of two chains two at a
 * time. Nobody begins before its right neighbour has what was before. */
Test(multicast, turns)
{
	run_watched(CONF, SMALL());
	cr_expect_eq(out_of_turn, 0);
	run_watched(CONF, SMALL("'start_jitter': '2ms', "));
	cr_expect_eq(out_of_turn, 0);
	run_watched(CONF ", 'chains': 2", SMALL());
	cr_expect_gt(out_of_turn, 0);
}

/* --- loss --- */

struct losses {
	const struct network *net;
	uint64_t seen, first, count;
};

static bool lose(void *owner, uint32_t port, const struct packet *packet)
{
	struct losses *losses = owner;

	(void)port;
	if (!strcmp(losses->net->protocols[packet->protocol].ops->name, "shards_scatter"))
		return false; /* tests/model/test_shards.c */
	losses->seen++;
	return losses->seen > losses->first && losses->seen <= losses->first + losses->count;
}

/* Loses `count` packets from the n-th on, of multicast or of TCP. Returns how many there were. */
static uint64_t run_with_losses(uint64_t n, uint64_t count, const char *multicast)
{
	struct losses losses = { .first = n, .count = count };
	struct network_faults faults = { .lose = lose, .owner = &losses };
	struct run run;

	build(&run, RACKS, multicast, SMALL());
	losses.net = &run.s->topo.net;
	network_inject(&run.s->topo.net, &faults);
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(run.s->checks.exact_checked, 2 * 4 * ROWS + RECEIVED);
	run_free(&run);
	return losses.seen;
}

/* Every byte of every shard once at every rank, whatever is lost, asks and the handshake, too. Each
 * packet is lost with one count of those behind it, at night with all counts. */
Test(multicast, each_packet_lost_in_turn)
{
	const bool night = getenv("NIGHTLY");
	static const uint64_t counts[] = { 1, 2, 7, 30 };
	static const char *const confs[] = { CONF, CONF ", 'chains': 2" };

	for (unsigned k = 0; k < 2; k++) {
		uint64_t packets = run_with_losses(0, 0, confs[k]);

		cr_expect_gt(packets, 400);
		for (unsigned c = 0; c < 4; c++)
			for (uint64_t n = night ? 0 : c; n < packets; n += night ? 1 : 4)
				run_with_losses(n, counts[c], confs[k]);
	}
}

Test(multicast, lost_at_random)
{
	for (unsigned seed = 1; seed <= 5; seed++) {
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'seed': %u, 'topology': { 'kind': 'fat-tree', 'k': 4, "
			  "'link': { 'loss': 0.05 } }, 'schemes': { 'multicast': { 'chains': %u, "
			  "'elements_per_packet': 256 } }, 'jobs': [ { 'workers': 16, " BOTH
			  ", 'sharding': 'optimizer', 'model': { 'layers': [ { 'gradient': '1MB' } "
			  "] } } ] }",
			  seed, seed * seed);
		run_to(&run, END_ALL_DONE);
		run_free(&run);
	}
}

static uint32_t lose_at;
static uint64_t lose_row;

/* Row 1 of the first shard. */
static bool lose_once(void *owner, uint32_t port, const struct packet *packet)
{
	const struct network *net = owner;

	return !strcmp(net->protocols[packet->protocol].ops->name, "multicast") &&
	       port == lose_at && packet->chunk == lose_row;
}

static sim_time causes[WHY_CAUSES];

static void add_row(void *owner, const struct why_row *row)
{
	(void)owner;
	for (unsigned c = 0; c < WHY_CAUSES; c++)
		causes[c] += row->cause[c];
}

/* Lost above the last common switch, both ranks behind it fetch: rank 2 from rank 1, and rank 3
 * from rank 2, which passes it on when it has it. Each asks once and gets one answer; the time is
 * that of a timeout. */
Test(multicast, lost_for_several)
{
	struct collective_stats stats = { 0 };
	struct network_faults faults = { .lose = lose_once };
	struct why *why;
	struct run run;

	memset(causes, 0, sizeof(causes));
	build(&run, RACKS, CONF, SMALL());
	lose_at = run.s->topo.net.switch_nodes[0].first_port + 2; /* leaf 0 towards the spine */
	lose_row = 1;
	faults.owner = &run.s->topo.net;
	network_inject(&run.s->topo.net, &faults);
	why = why_open(&run.s->topo.net, add_row, NULL);
	simulation_observe(run.s, why_observer(why));
	run_to(&run, END_ALL_DONE);
	jobs_stats(run.s->jobs, &stats);
	cr_expect_eq(run.s->topo.net.lost, 1);
	cr_expect_eq(stats.reminders, 2, "%" PRIu64, stats.reminders);
	cr_expect_eq(stats.retransmissions, 2, "%" PRIu64, stats.retransmissions);
	cr_expect_eq(stats.stale, 0);
	cr_expect_gt(causes[WHY_TIMEOUT], 10 * PS_PER_US);
	cr_expect_eq(causes[WHY_UNEXPLAINED], 0);
	why_free(why);
	run_free(&run);
}

/* --- late ranks --- */

/* Whether a rank that has no all-gather under way has run out of time for one. */
static bool waits_too_early(const struct run *run)
{
	const struct ina_scheme *scheme = run->s->schemes[SCHEME_multicast];
	const struct ina_job *job = scheme->jobs.count ? ina_find(&scheme->jobs, 0) : NULL;

	for (uint32_t w = 0; job && w < job->spec.workers; w++) {
		const struct multicast_worker *worker = (void *)ina_worker(job, w);

		if (worker->base.results == ina_available(&worker->base) && worker->backoff)
			return true;
	}
	return false;
}

/* Whoever is waited for has sent nothing, so nothing is sent twice, however often it is asked. It
 * has no cut-off time until it begins, whatever comes before. */
Test(multicast, late_ranks)
{
	struct collective_stats stats = { 0 };
	struct run run;

	build(&run, RACKS, CONF, SMALL("'start_jitter': '2ms', "));
	for (sim_time at = 0; at < 5000 * PS_PER_US; at += 50 * PS_PER_US) {
		run_until(&run, at);
		cr_expect_not(waits_too_early(&run), "at %g s", seconds_of(at));
	}
	run_to(&run, END_ALL_DONE);
	jobs_stats(run.s->jobs, &stats);
	cr_expect_gt(stats.timeouts, 10);
	cr_expect_gt(stats.reminders, stats.timeouts / 2);
	cr_expect_eq(stats.retransmissions, 0);
	run_free(&run);
}

/* --- places --- */

static bool done_once;

static void twice(void *self, uint32_t host, const struct packet *packet)
{
	real->deliver(self, host, packet);
	real->deliver(self, host, packet);
}

static void to_owner(void *self, uint32_t host, const struct packet *packet)
{
	bool move = !done_once;

	done_once = true;
	real->deliver(self, move ? (uint32_t)(packet->chunk / ROWS % 4) : host, packet);
}

static void changed(void *self, uint32_t host, const struct packet *packet)
{
	struct packet copy = *packet;

	copy.value += !done_once;
	done_once = true;
	real->deliver(self, host, &copy);
}

static void far_ahead(void *self, uint32_t host, const struct packet *packet)
{
	struct packet copy = *packet;

	copy.chunk += 2 * 4 * ROWS;
	real->deliver(self, host, &copy);
}

/* A copy is not counted twice; a shard at its own rank, or with another value, or of a tensor that
 * cannot have begun is a violation. */
Test(multicast, at_the_wrong_place)
{
	static const struct {
		void (*deliver)(void *self, uint32_t host, const struct packet *packet);
		const char *violation;
	} cases[] = { { twice, NULL },
		      { to_owner, "a rank's own shard came back" },
		      { changed, "a wrong shard" },
		      { far_ahead, "two all-gathers ahead" } };

	for (unsigned i = 0; i < 4; i++) {
		struct collective_stats stats = { 0 };
		struct run run;

		done_once = false;
		build(&run, RACKS, CONF, SMALL());
		tap_packets(&run.s->topo.net)->deliver = cases[i].deliver;
		run_to(&run, cases[i].violation ? END_VIOLATION : END_ALL_DONE);
		jobs_stats(run.s->jobs, &stats);
		if (cases[i].violation)
			cr_expect(strstr(run.s->checks.first, cases[i].violation), "%s",
				  run.s->checks.first);
		else
			cr_expect_eq(stats.stale, RECEIVED);
		run_free(&run);
	}
}

/* --- mistakes --- */

Test(multicast, mistakes)
{
	static const char wrong[] = "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 4 }, "
				    "'jobs': [ { 'workers': 4, 'model': { 'layers': [ { "
				    "'gradient': '4B' } ] }, 'sharding': 'full', %s } ] }";
	char text[400];

	snprintf(text, sizeof(text), wrong, "'all_reduce': 'ring', 'reduce_scatter': 'multicast'");
	cr_expect_eq(run_mistakes("multicast has no such operation; allowed: \"ring\" or ", text),
		     1);
	snprintf(text, sizeof(text), wrong, "'all_reduce': 'multicast'");
	cr_expect_gt(run_mistakes("/jobs/0/all_reduce", text), 0);
	snprintf(text, sizeof(text), wrong, BOTH);
	cr_expect_eq(run_mistakes("", text), 0);
}
