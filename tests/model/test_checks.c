/* A check that cannot fail proves nothing. Each check that is always on sees what it is for: a
 * count, a queue, a sum or an ideal is made wrong in the middle of a run, which then ends with a
 * violation that names it; the same run, left alone, ends without. The
 * other schemes' sums are broken in tests of their own (END_VIOLATION). */
#include "ina/common/ina.h"
#include "net/lossless_parts.h"
#include "workload/flows/flows_parts.h"

#include "model_run.h"

#define BROKEN_AT (30 * PS_PER_US)

/* A job, and two flows to one host, which keep its queue busy for longer than 40 us. `stop`:
 * members of the scenario. */
static void build(struct run *run, const char *scheme, bool pause, const char *stop)
{
	run_build(run,
		  "{ 'name': 't', %s 'topology': { 'kind': 'star', 'hosts': 8, "
		  " 'switch': { 'pause': %s } },"
		  " 'jobs': [ { 'workers': 4, 'all_reduce': '%s', 'iterations': 2,"
		  "   'model': { 'layers': [ { 'gradient': '600kB', 'backward': '10us' } ] } } ],"
		  " 'flows': [ { 'size': '1MB', 'pairs': [[5, 6], [7, 6]] } ] }",
		  stop, pause ? "true" : "false", scheme);
}

static struct network *net_of(struct run *run)
{
	return &run->s->topo.net;
}

static void lose_count(struct run *run)
{
	net_of(run)->created++;
}

static void send_too_much(struct run *run)
{
	net_of(run)->ports[0].bytes += UINT64_C(1) << 32;
}

/* A queue that runs empty begins to count anew, so the run ends before it does. */
static void miscount_queue(struct run *run)
{
	struct network *net = net_of(run);

	for (uint32_t p = net->hosts; p < net->port_count; p++)
		if (net->ports[p].count)
			net->ports[p].queued_bytes++;
}

static void miscount_ingress(struct run *run)
{
	net_of(run)->lossless->lanes[net_of(run)->hosts].in.shared++;
	net_of(run)->lossless->memories[0].shared_used++;
}

static void miscount_memory(struct run *run)
{
	net_of(run)->lossless->memories[0].shared_used++;
}

/* Buffers shrink, and what is sent after a PAUSE frame finds no room. */
static void take_room(struct run *run)
{
	struct network *net = net_of(run);

	for (uint32_t p = net->hosts; p < net->port_count; p++) {
		struct ingress *in = &net->lossless->lanes[p].in;

		in->dynamic = false;
		in->xoff = in->headroom_size = 0;
	}
}

static void admit_smaller(struct run *run)
{
	net_of(run)->lossless->mtu = 100;
}

static void keep_memory(struct run *run)
{
	const struct collective_memory *memory;

	cr_assert_eq(simulation_memory(run->s, SCHEME_atp, &memory), 1);
	collective_reserve((struct collective_memory *)memory, run->s->sim.now, 256);
}

static void expect_less(struct run *run)
{
	run->s->flows->all[0]->ideal *= 100;
}

/* The only scheme with a state is the job's. */
static uint8_t protocol_of(const struct run *run)
{
	unsigned i = 0;

	while (!run->s->schemes[i])
		i++;
	return ((const struct ina_scheme *)run->s->schemes[i])->protocol;
}

static struct packet *sum_under_way(struct run *run)
{
	struct network *net = net_of(run);

	for (uint32_t p = 0; p < net->port_count; p++)
		for (uint32_t i = 0; i < net->ports[p].count; i++) {
			struct packet *packet = &net->ports[p].ring[ring_index(&net->ports[p], i)];

			if (packet->protocol == protocol_of(run) && packet->value)
				return packet;
		}
	return NULL;
}

static void flip_bit(struct run *run)
{
	struct packet *packet;

	while (packet = sum_under_way(run), !packet)
		cr_assert(sim_run(&run->s->sim, 1));
	packet->value ^= 1 << 9;
}

Test(checks, each_sees_what_it_is_for)
{
	static const struct {
		const char *scheme, *says;
		void (*break_it)(struct run *run);
		bool pause, cut; /* cut: the run ends at 40 us */
	} cases[] = {
		{ "atp", "packets are not conserved", lose_count, false },
		{ "atp", "more than its 10000000000 bps allow", send_too_much, false },
		{ "atp", "queued bytes but holds", miscount_queue, false, true },
		{ "atp", "still holds 256 bytes of atp after the last job", keep_memory, false },
		{ "atp", "less than its ideal", expect_less, false },
		{ "atp", "wrong sum", flip_bit, false },
		{ "esa", "wrong sum", flip_bit, false },
		{ "switchml", "wrong sum", flip_bit, false },
		{ "ps_stream", "wrong sum", flip_bit, false },
		{ "netreduce", "wrong sum", flip_bit, false },
		{ "sharp", "wrong sum", flip_bit, false },
		{ "atp", "bytes from port", miscount_ingress, true },
		{ "atp", "shared bytes, its ports count", miscount_memory, true },
		{ "atp", "packets were dropped in a network with PAUSE", take_room, true },
		{ "atp", "whose PAUSE thresholds assume at most 100", admit_smaller, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int broken = 0; broken <= 1; broken++) {
			struct run run;

			build(&run, cases[i].scheme, cases[i].pause,
			      cases[i].cut ? "'stop': { 'when': 'time', 'after': '40us' }," : "");
			run_until(&run, BROKEN_AT);
			if (broken)
				cases[i].break_it(&run);
			run_to(&run, broken         ? END_VIOLATION
				     : cases[i].cut ? END_TIME
						    : END_ALL_DONE);
			if (broken)
				cr_expect_not_null(strstr(run.s->checks.first, cases[i].says),
						   "\"%s\" is not in: %s", cases[i].says,
						   run.s->checks.first);
			run_free(&run);
		}
	}
}
