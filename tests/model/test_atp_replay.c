/* The replay of an ATP job alone against its packets: time, packets at servers, packets sent again.
 *
 * The job is replayed as a whole when the first of its packets has passed a switch, so that it
 * knows hosts, routes and hash, and nothing of what is to come. */
#include "ina/atp_replay.h"
#include "test_atp.h"

#define LINK(gbps) "\"link\": {\"rate\": \"" #gbps "Gbps\", \"delay\": \"1us\"}"
/* Marks at 13 kB a Gbps. */
#define ROOM10  ", \"switch\": {\"buffer\": \"16MB\", \"ecn\": {\"threshold\": \"130kB\"}}"
#define ROOM100 ", \"switch\": {\"buffer\": \"16MB\", \"ecn\": {\"threshold\": \"1300kB\"}}"

#define STAR(gbps) "\"kind\": \"star\", \"hosts\": 32, " LINK(gbps)
#define SPINE(gbps)                                                                                \
	"\"kind\": \"leaf-spine\", \"leaves\": 4, \"spines\": 4, \"hosts_per_leaf\": 4, " LINK(gbps)
#define FAT(gbps) "\"kind\": \"fat-tree\", \"k\": 4, " LINK(gbps)

#define AMPLE    ", \"memory\": \"16MB\""
#define POSITION ", \"index\": \"position\""
#define SPREAD   ", \"placement\": \"spread\""

struct replayed {
	const char *topology, *scheme, *job;
	unsigned workers;
	uint64_t pieces; /* of 256 elements */
	double time;     /* the replay's may differ by so much of the packets' */

	bool done;
	sim_time held;
	uint64_t server_packets, resent;
};

static void replay(struct bench *bench, uint32_t node, const struct packet *packet)
{
	struct replayed *c = bench->owner;
	struct atp_replay *replay;

	(void)node, (void)packet;
	if (c->done)
		return;
	c->done = true;
	replay = atp_replay_new(bench_job(bench, 0));
	atp_replay_send(replay, c->pieces);
	c->held = atp_replay_finish(replay);
	c->server_packets = atp_replay_server_packets(replay);
	c->resent = atp_replay_resent(replay);
	atp_replay_free(replay);
}

/* Returns how many packets were sent again. */
static uint64_t check(struct replayed *c)
{
	struct bench bench;
	uint64_t resends;

	bench_open(&bench, SCHEME_atp,
		   "{\"name\": \"t\", \"topology\": {%s}, \"schemes\": {\"atp\": {"
		   "\"elements_per_packet\": 256 %s}}, \"jobs\": [{\"workers\": %u, "
		   "\"all_reduce\": \"atp\" %s, \"model\": {\"layers\": [{\"gradient\": \"%" PRIu64
		   "B\"}]}}]}",
		   c->topology, c->scheme, c->workers, c->job, c->pieces * 1024);
	bench.after = replay;
	bench.owner = c;
	bench_finish(&bench, c->workers * c->pieces);
	expect_near(seconds_of(c->held), tat(&bench, 0), c->time, c->topology, c->workers);
	resends = bench.resends;
	if (!c->time) {
		cr_expect_eq(c->server_packets, bench.server, "%s %s: %" PRIu64 ", not %" PRIu64,
			     c->topology, c->scheme, c->server_packets, bench.server);
		cr_expect_eq(c->resent, resends);
	}
	bench_close(&bench);
	return resends;
}

/* To the picosecond, with one server: on one switch and over several tiers, where racks are at
 * different distances, and some meet on links and others do not; by hash, with memory so short that
 * most pieces collide, and by position; windows that are halved by marks; a server that adds more
 * slowly than its link brings. `server_packets` proves that there are collisions. */
Test(atp_replay, exact, .timeout = 120)
{
	struct replayed cases[] = {
		{ STAR(10) ROOM10, AMPLE, "", 8, 30000, 0 },
		{ STAR(100) ROOM100, AMPLE, "", 2, 10000, 0 },
		{ STAR(100) ROOM100, AMPLE, "", 8, 30000, 0 },
		{ STAR(100) ROOM100, AMPLE, "", 31, 10000, 0 },
		{ STAR(100), AMPLE, "", 8, 10000, 0 },
		{ STAR(100) ROOM100, ", \"memory\": \"256kB\"", "", 8, 10000, 0 },
		{ STAR(100) ROOM100, POSITION, "", 8, 10000, 0 },
		{ STAR(100) ", \"host\": {\"reduction_rate\": \"70Gbps\"}", AMPLE, "", 8, 10000,
		  0 },
		{ SPINE(100) ROOM100, AMPLE, "", 8, 30000, 0 },
		{ SPINE(100), AMPLE, "", 8, 10000, 0 },
		{ SPINE(10) ", \"oversubscription\": 4" ROOM10, AMPLE, "", 8, 10000, 0 },
		{ FAT(100) ROOM100, AMPLE, "", 8, 30000, 0 },
		{ FAT(100), AMPLE, "", 8, 10000, 0 },
		{ SPINE(100) ROOM100, AMPLE, SPREAD, 8, 30000, 0 },
		{ SPINE(100), AMPLE, SPREAD, 8, 10000, 0 },
		{ SPINE(10) ROOM10, ", \"memory\": \"256kB\"", SPREAD, 8, 10000, 0 },
		{ FAT(10) ROOM10, AMPLE, SPREAD, 15, 10000, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_eq(check(&cases[i]), 0);
	cr_expect_eq(cases[0].server_packets > 30000, true);
	cr_expect_eq(cases[5].server_packets > 30000, true); /* of 10,000 pieces */
	cr_expect_eq(cases[6].server_packets, 10000);
}

/* To 0.05 % on a switch, and 0.5 to 1 % over several tiers: what comes to a link at the very same
 * time goes in an order that the replay cannot know. Several servers, whose results meet at
 * workers, and on links that gradients of others use. */
Test(atp_replay, nearly, .timeout = 120)
{
	struct replayed cases[] = {
		{ FAT(100), AMPLE, SPREAD, 8, 10000, 0.0005 },
		{ STAR(100) ROOM100, AMPLE, ", \"servers\": 2", 8, 30000, 0.0005 },
		{ STAR(100) ROOM100, AMPLE, ", \"servers\": 8", 8, 10000, 0.0005 },
		{ SPINE(100) ROOM100, POSITION, SPREAD ", \"servers\": 2", 8, 9766, 0.005 },
		{ SPINE(100) ROOM100, POSITION, SPREAD ", \"servers\": 4", 8, 9766, 0.005 },
		{ FAT(100) ROOM100, POSITION, SPREAD ", \"servers\": 2", 8, 9766, 0.005 },
		{ FAT(100) ROOM100, POSITION, SPREAD ", \"servers\": 4", 8, 9766, 0.005 },
		{ FAT(10) ROOM10, POSITION, SPREAD ", \"servers\": 4", 8, 9766, 0.01 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check(&cases[i]);
}

/* Several servers over several tiers: a piece may find its aggregator in some switches only, and
 * is lost until it is sent again, for which windows are halved. The packets take 43 % longer than
 * without; the replay, which cannot know each of these losses, is within 10 %. */
Test(atp_replay, pieces_that_are_lost, .timeout = 120)
{
	struct replayed lossy = {
		SPINE(100) ROOM100, AMPLE, SPREAD ", \"servers\": 2", 8, 9766, 0.1
	};
	struct replayed never = {
		SPINE(100) ROOM100, POSITION, SPREAD ", \"servers\": 2", 8, 9766, 0.003
	};

	cr_expect_gt(check(&lossy), 8);
	cr_expect_eq(check(&never), 0);
	cr_expect_gt(lossy.resent, 8);
	cr_expect_gt(lossy.held, never.held * 5 / 4);
}

/* In parts, one behind the other, a job takes as long as in one; with a rest behind each part a
 * round trip longer, of 5 us and four packets. No collisions, which a rest would make fewer. */
Test(atp_replay, in_parts, .timeout = 60)
{
	sim_time held[3];

	for (int way = 0; way < 3; way++) {
		struct atp_replay *replay;
		struct hashed_job *job;
		struct collective_job spec = { .workers = 4, .servers = 1 };
		const uint32_t hosts[] = { 0, 1, 2, 3 }, server[] = { 4 };
		const char *never;
		struct bench bench;

		atp_star(&bench, 4, "", "\"elements_per_packet\": 256, \"index\": \"position\"", "",
			 1024);
		spec.hosts = hosts;
		spec.server_hosts = server;
		job = hashed_new(bench.scheme, &spec, &never);
		replay = atp_replay_new(job);
		for (int part = 0; part < 10; part++) {
			atp_replay_send(replay, way ? 1000 : 10000);
			if (way == 2)
				atp_replay_rest(replay);
			if (!way)
				break;
		}
		held[way] = atp_replay_finish(replay);
		atp_replay_free(replay);
		hashed_free_new(job);
		bench_close(&bench);
	}
	cr_expect_eq(held[1], held[0]);
	cr_expect_gt(held[2], held[0] + 9 * 5 * PS_PER_US, "%" PRIu64 " %" PRIu64 " ps", held[2],
		     held[0]); /* a round trip each */
}
