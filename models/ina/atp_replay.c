#include "ina/atp_replay.h"

#include "base/mem.h"
#include "base/ring.h"

#include <stdlib.h>

#define NEVER        SIM_TIME_MAX
#define PIECES_FIRST 256 /* places of a ring; a power of two */

/* An egress port, and what comes through it: `packets` one after the other. */
struct fifo {
	uint32_t port;
	sim_time transmission, latency; /* of a packet */
	sim_time free;                  /* everything before has left */
	double chance;                  /* of marks that have not come to pass */
	const struct link_class *link;
};

struct train {
	sim_time first, last; /* arrivals */
	uint32_t packets;
	bool marked;
};

/* An aggregator: the piece + 1 that has it, or had it last. */
struct held {
	uint64_t piece;
	sim_time before, until; /* had by the piece before; by this one */
};

/* A piece that is not at all workers yet. Groups are bits. */
struct piece {
	uint32_t waiting;   /* at level 1, to be added */
	uint32_t at_server; /* unadded, or all */
	sim_time due;       /* the last of those that wait has come */
	sim_time done;      /* the last of those at the server is added */
	bool waiting_marked, marked, resent, over;
};

struct result {
	sim_time due; /* at the group's switch */
	uint64_t piece;
	bool marked, resent;
};

/* Between a group and a server. */
struct way {
	bool local;                    /* level 1 is the group's own switch */
	uint32_t fifos[ROUTE_MAX + 1]; /* from there on up to level 1 */
	unsigned fifo_count;
	sim_time to_level1;     /* from the NIC, when nothing is in the way */
	sim_time to_switch;     /* of a result, from level 1 on */
	struct result *results; /* on their way: a ring, in the order of time */
	uint64_t first, end, mask;
};

struct group {
	uint32_t pool, workers;
	struct window window;
	sim_time nic;     /* free again */
	sim_time spacing; /* of packets there */
	sim_time up;      /* from the NIC to the switch */
	struct fifo down; /* and back, where results of all servers meet */
	struct way *ways; /* by server */
};

struct replayed_server {
	uint32_t pool, port, nic; /* FIFOs */
	sim_time added;           /* everything that has come */
};

struct atp_replay {
	const struct hashed_job *job;
	uint32_t group_count, all, servers, pool_count, fifo_count, positions;
	struct group *groups;
	sim_time turns[RACK_INPUTS_MAX + 1]; /* of the groups' next steps */
	struct replayed_server *server;
	uint32_t *switches; /* of pools */
	struct held **pools;
	struct fifo *fifos;
	struct piece *pieces; /* a ring, from the oldest that is not over */
	uint64_t first, next, mask;
	uint64_t end; /* of what the workers have to send */
	bool news;    /* results are on their way that were not before */
	sim_time adding, held;
	uint64_t server_packets, resent;
};

static sim_time later(sim_time a, sim_time b)
{
	return a > b ? a : b;
}

/* --- links --- */

/* The last of a train has found so many packets before it. */
static bool marks(struct fifo *fifo, uint64_t packets, uint32_t frame)
{
	const struct link_class *link = fifo->link;
	uint64_t queue = link->ecn_in_packets ? packets : packets * frame;

	if (queue <= link->ecn_min)
		return false;
	if (queue > link->ecn_max)
		return true;
	fifo->chance += link->mark_max * (double)(queue - link->ecn_min) /
			(double)(link->ecn_max - link->ecn_min);
	if (fifo->chance < 1)
		return false;
	fifo->chance--;
	return true;
}

static void pass(struct atp_replay *replay, uint32_t number, struct train *train)
{
	struct fifo *fifo = &replay->fifos[number];
	sim_time one = fifo->transmission, start = later(fifo->free, train->first);
	sim_time end = later(start + train->packets * one, train->last + one);
	sim_time wait = end - one - train->last;

	train->marked |= marks(fifo, (wait + one - 1) / one, replay->job->frame);
	fifo->free = end;
	train->first = start + one + fifo->latency;
	train->last = end + fifo->latency;
}

/* --- aggregators --- */

static uint16_t slot_of(const struct atp_replay *replay, uint64_t piece)
{
	return replay->positions ? (uint16_t)(piece % replay->positions)
				 : hashed_index(replay->job, piece, 0);
}

/* Packets of a piece come to an aggregator: whether they are added there. Groups may come in
 * another order than they are replayed in: one may have met the owner before. */
static bool take(struct held *held, uint64_t piece, sim_time now)
{
	if (held->piece == piece + 1)
		return now >= held->before;
	if (held->until > now)
		return false;
	*held = (struct held){ .piece = piece + 1, .before = held->until, .until = NEVER };
	return true;
}

static void give_up(struct held *held, uint64_t piece, sim_time now)
{
	if (held->piece == piece + 1 && held->until > now)
		held->until = now;
}

/* --- results --- */

static struct piece *piece_of(const struct atp_replay *replay, uint64_t piece)
{
	return &replay->pieces[piece & replay->mask];
}

static bool is_over(const struct atp_replay *replay, uint64_t piece)
{
	return piece < replay->first || piece_of(replay, piece)->over;
}

static void push_result(struct way *way, struct result result)
{
	way->results =
		ring_reserve(way->results, &way->mask, way->first, way->end, sizeof(*way->results));
	way->results[way->end++ & way->mask] = result;
}

/* The server has all: the result goes to the workers and frees aggregators on its way. */
static void send_result(struct atp_replay *replay, uint64_t number)
{
	const struct replayed_server *server = &replay->server[number % replay->servers];
	struct piece *piece = piece_of(replay, number);
	struct train train = { piece->done, piece->done, 1, false };
	uint16_t slot = slot_of(replay, number);

	piece->over = true;
	replay->news = true;
	pass(replay, server->nic, &train);
	give_up(&replay->pools[server->pool][slot], number, train.last);
	for (uint32_t g = 0; g < replay->group_count; g++) {
		const struct group *group = &replay->groups[g];
		struct way *way = &group->ways[number % replay->servers];
		struct result result = { train.last + way->to_switch, number, piece->marked,
					 piece->resent };

		give_up(&replay->pools[group->pool][slot], number, result.due);
		push_result(way, result);
		replay->held = later(replay->held,
				     result.due + group->down.transmission + group->down.latency);
	}
	while (replay->first < replay->next && piece_of(replay, replay->first)->over)
		replay->first++;
}

/* The way whose next result comes first, and when the group has it; NULL when none comes. */
static struct way *next_way(const struct atp_replay *replay, const struct group *group,
			    sim_time *due)
{
	struct way *next = NULL;
	sim_time first = NEVER;

	for (uint32_t q = 0; q < replay->servers; q++) {
		struct way *way = &group->ways[q];
		const struct result *front = &way->results[way->first & way->mask];

		if (way->first == way->end || front->due >= first)
			continue;
		first = front->due;
		next = way;
	}
	*due = later(first, group->down.free) + group->down.transmission + group->down.latency;
	return next;
}

static void accept(struct group *group, struct way *way, sim_time due)
{
	struct result result = way->results[way->first++ & way->mask];

	group->down.free = due - group->down.latency;
	if (result.resent)
		window_no_samples(&group->window);
	window_result(&group->window, result.piece, result.marked, due);
}

/* --- gradients --- */

/* Packets of `groups` come to level 1's port to the server. */
static void to_server(struct atp_replay *replay, uint64_t number, uint32_t groups,
		      struct train *train)
{
	struct replayed_server *server = &replay->server[number % replay->servers];
	struct piece *piece = piece_of(replay, number);

	pass(replay, server->port, train);
	server->added = later(server->added, train->first) + train->packets * replay->adding;
	server->added = later(server->added, train->last);
	replay->server_packets += train->packets;
	if (is_over(replay, number))
		return;
	piece->done = later(piece->done, server->added);
	piece->marked |= train->marked;
	piece->at_server |= groups;
	if (piece->at_server == replay->all)
		send_result(replay, number);
}

/* Added at level 1, where the sum leaves with the last. */
static void add(struct atp_replay *replay, uint64_t number, uint32_t group,
		const struct train *train)
{
	struct piece *piece = piece_of(replay, number);

	piece->waiting |= group;
	piece->waiting_marked |= train->marked;
	piece->due = later(piece->due, train->last);
	if (piece->waiting == replay->all)
		to_server(replay, number, replay->all,
			  &(struct train){ piece->due, piece->due, 1, piece->waiting_marked });
}

/* The first group sends a piece. */
static void open_piece(struct atp_replay *replay, uint64_t number)
{
	replay->pieces = ring_reserve(replay->pieces, &replay->mask, replay->first, number,
				      sizeof(*replay->pieces));
	replay->next = number + 1;
	*piece_of(replay, number) = (struct piece){ 0 };
}

/* The group's packets of a piece come to its switch. */
static void contribute(struct atp_replay *replay, uint32_t g, uint64_t number, sim_time now)
{
	const struct group *group = &replay->groups[g];
	const struct way *way = &group->ways[number % replay->servers];
	uint32_t level1 = replay->server[number % replay->servers].pool;
	struct train train = { now, now, group->workers, false };
	uint16_t slot = slot_of(replay, number);
	bool alone = false; /* the packets go on as they are */

	if (number == replay->next)
		open_piece(replay, number);
	if (!way->local) {
		alone = !take(&replay->pools[group->pool][slot], number, now);
		if (!alone)
			train.packets = 1;
		for (unsigned i = 0; i < way->fifo_count; i++)
			pass(replay, way->fifos[i], &train);
	}
	alone = alone || !take(&replay->pools[level1][slot], number, train.first);
	if (alone)
		to_server(replay, number, UINT32_C(1) << g, &train);
	else
		add(replay, number, UINT32_C(1) << g, &train);
}

/* Packets that were sent again come to an aggregator: does it hold others of the piece, which it
 * gives up? */
static bool flush(struct held *held, uint64_t piece, sim_time now)
{
	if (held->piece != piece + 1 || held->until != NEVER)
		return false;
	held->until = now;
	return true;
}

/* The first of them has freed level 1. What waited there goes with it to the server, which adds it
 * unless the packet itself is in by another way. Returns how many packets are left. `merged`: they
 * go in one, as level 1 has a word for it. */
static uint32_t send_flushed(struct atp_replay *replay, uint32_t group, uint64_t number,
			     bool merged, const struct train *train)
{
	struct piece *piece = piece_of(replay, number);
	struct train lead = { train->first, train->first, 1, piece->waiting_marked };
	bool added = !merged || piece->waiting & group;

	to_server(replay, number, added ? piece->waiting : 0, &lead);
	return merged ? train->packets - 1 : train->packets;
}

/* The same when they were lost: they free aggregators and are added at the server. */
static void contribute_again(struct atp_replay *replay, uint32_t g, uint64_t number, sim_time now)
{
	const struct group *group = &replay->groups[g];
	const struct way *way = &group->ways[number % replay->servers];
	uint32_t level1 = replay->server[number % replay->servers].pool;
	struct train train = { now, now, group->workers, false };
	uint16_t slot = slot_of(replay, number);
	bool merged = way->local || group->workers == 1;

	replay->resent += group->workers;
	if (!is_over(replay, number))
		piece_of(replay, number)->resent = true;
	if (!way->local)
		merged |= flush(&replay->pools[group->pool][slot], number, now);
	for (unsigned i = 0; i < way->fifo_count; i++)
		pass(replay, way->fifos[i], &train);
	if (flush(&replay->pools[level1][slot], number, train.first))
		train.packets = send_flushed(replay, UINT32_C(1) << g, number, merged, &train);
	if (train.packets)
		to_server(replay, number, UINT32_C(1) << g, &train);
}

/* --- groups --- */

/* When the group's next packet, or the next result that it has to hear before, would be at level 1
 * if nothing were in the way: those who are first there go first. */
static void plan_step(struct atp_replay *replay, uint32_t g)
{
	const struct group *group = &replay->groups[g];
	const struct window *window = &group->window;
	sim_time up = group->ways[window->next % replay->servers].to_level1, due;

	replay->turns[g] = NEVER;
	if (window_has_lost(window) || window_may_send(window, replay->end))
		replay->turns[g] = group->nic + up;
	else if (window->next < replay->end && next_way(replay, group, &due))
		replay->turns[g] = later(group->nic, due) + up;
}

/* The results that are there are heard; then a packet leaves, what is lost first, or the next
 * result comes. */
static void step(struct atp_replay *replay, uint32_t g)
{
	struct group *group = &replay->groups[g];
	struct window *window = &group->window;
	sim_time now = group->nic, due;
	struct way *way;
	uint64_t piece;

	while ((way = next_way(replay, group, &due)) && due <= now)
		accept(group, way, due);
	if (window_take_lost(window, &piece, now)) {
		group->nic += group->spacing;
		contribute_again(replay, g, piece, now + group->up);
	} else if (window_may_send(window, replay->end)) {
		group->nic += group->spacing;
		contribute(replay, g, window_send(window, now), now + group->up);
	} else if (way && window->next < replay->end) {
		group->nic = due;
		accept(group, way, due);
	}
}

static uint32_t first_turn(const struct atp_replay *replay)
{
	uint32_t first = 0;

	for (uint32_t g = 1; g < replay->group_count; g++)
		if (replay->turns[g] < replay->turns[first])
			first = g;
	return first;
}

/* In turns, until nobody has anything to do. */
static void run(struct atp_replay *replay)
{
	replay->news = true;
	for (;;) {
		uint32_t g;

		for (g = 0; replay->news && g < replay->group_count; g++)
			plan_step(replay, g);
		g = first_turn(replay);
		if (replay->turns[g] == NEVER)
			return;
		replay->news = false;
		step(replay, g);
		plan_step(replay, g);
	}
}

/* The timers of those that wait run out. */
static void time_out(struct atp_replay *replay)
{
	for (uint32_t g = 0; g < replay->group_count; g++) {
		struct group *group = &replay->groups[g];
		struct window *window = &group->window;
		sim_time now = later(group->nic, window->progress + window_rto(window));

		while (window->first < window->next && !window_has_lost(window)) {
			group->nic = now;
			now = window_expire(window, now);
		}
	}
}

/* All results that are on their way. False when there are none. */
static bool hear_all(struct atp_replay *replay)
{
	bool any = false;

	for (uint32_t g = 0; g < replay->group_count; g++) {
		struct group *group = &replay->groups[g];
		sim_time due;

		for (struct way *way = next_way(replay, group, &due); way;
		     way = next_way(replay, group, &due)) {
			group->nic = later(group->nic, due);
			replay->held = later(replay->held, due);
			accept(group, way, due);
			any = true;
		}
	}
	return any;
}

/* Nobody can send: those who have sent all hear what is on its way, and what is lost by that; or
 * it is for the timers. */
static void get_going(struct atp_replay *replay)
{
	if (!hear_all(replay))
		time_out(replay);
	run(replay);
}

static bool all_sent(const struct atp_replay *replay)
{
	for (uint32_t g = 0; g < replay->group_count; g++)
		if (replay->groups[g].window.next < replay->end)
			return false;
	return true;
}

void atp_replay_send(struct atp_replay *replay, uint64_t pieces)
{
	replay->end += pieces;
	run(replay);
	while (!all_sent(replay))
		get_going(replay);
}

sim_time atp_replay_held(const struct atp_replay *replay)
{
	return replay->held;
}

sim_time atp_replay_finish(struct atp_replay *replay)
{
	while (replay->first < replay->end)
		get_going(replay);
	return replay->held;
}

void atp_replay_rest(struct atp_replay *replay)
{
	atp_replay_finish(replay);
	hear_all(replay);
	for (uint32_t g = 0; g < replay->group_count; g++)
		replay->groups[g].nic = replay->held;
}

uint32_t atp_replay_groups(const struct atp_replay *replay)
{
	return replay->group_count;
}

uint64_t atp_replay_halvings(const struct atp_replay *replay)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t g = 0; g < replay->group_count; g++)
		if (replay->groups[g].window.reductions < least)
			least = replay->groups[g].window.reductions;
	return least;
}

uint64_t atp_replay_server_packets(const struct atp_replay *replay)
{
	return replay->server_packets;
}

uint64_t atp_replay_resent(const struct atp_replay *replay)
{
	return replay->resent;
}

/* --- building --- */

static const struct topology *topology_of(const struct atp_replay *replay)
{
	return replay->job->scheme->env.topo;
}

static uint32_t pool_of(struct atp_replay *replay, uint32_t sw)
{
	for (uint32_t p = 0; p < replay->pool_count; p++)
		if (replay->switches[p] == sw)
			return p;
	replay->switches[replay->pool_count] = sw;
	replay->pools[replay->pool_count] =
		xcalloc(replay->job->scheme->pools[0].count, sizeof(struct held));
	return replay->pool_count++;
}

static struct fifo fifo_at(const struct atp_replay *replay, uint32_t port)
{
	const struct network *net = &topology_of(replay)->net;
	const struct link_class *link = port_class(net, &net->ports[port]);

	return (struct fifo){ .port = port,
			      .transmission = link_transmission(link, replay->job->frame),
			      .latency = link->latency + link->jitter_max,
			      .link = link };
}

static uint32_t fifo_of(struct atp_replay *replay, uint32_t port)
{
	for (uint32_t f = 0; f < replay->fifo_count; f++)
		if (replay->fifos[f].port == port)
			return f;
	replay->fifos = xrealloc(replay->fifos, replay->fifo_count + 1, sizeof(*replay->fifos));
	replay->fifos[replay->fifo_count] = fifo_at(replay, port);
	return replay->fifo_count++;
}

static sim_time time_over(const struct atp_replay *replay, const uint32_t *ports, unsigned count)
{
	return plan_path(&topology_of(replay)->net, ports, count, replay->job->frame).sum;
}

/* Between worker w's group and server q. */
static void find_way(struct atp_replay *replay, struct group *group, uint32_t w, uint32_t q)
{
	const struct topology *topo = topology_of(replay);
	const struct hashed_job *job = replay->job;
	const struct racks *racks = &job->servers[q].racks;
	uint8_t rack = racks->of_worker[w].rack;
	struct way *way = &group->ways[q];
	uint32_t ports[ROUTE_MAX + 1];
	unsigned count;

	way->mask = PIECES_FIRST - 1;
	way->results = xcalloc(PIECES_FIRST, sizeof(*way->results));
	way->local = rack == RACK_NONE;
	way->to_level1 = time_over(replay, &job->job.hosts[w], 1);
	if (way->local)
		return;
	count = topology_path(topo, racks->racks[rack].down_host, &racks->racks[rack].up, ports);
	way->to_level1 = time_over(replay, ports, count - 1);
	for (unsigned i = 1; i + 1 < count; i++)
		way->fifos[way->fifo_count++] = fifo_of(replay, ports[i]);
	count = topology_path(topo, racks->server, &racks->racks[rack].down, ports);
	way->to_switch = time_over(replay, ports + 1, count - 2);
}

/* A worker beside a server leaves its NIC to the results, too: one for each of its pieces. */
static sim_time spacing_of(const struct atp_replay *replay, uint32_t host, sim_time transmission)
{
	for (uint32_t q = 0; q < replay->servers; q++)
		if (replay->job->job.server_hosts[q] == host)
			return transmission + transmission / replay->servers;
	return transmission;
}

static void place_worker(struct atp_replay *replay, uint32_t w)
{
	const struct hashed_job *job = replay->job;
	const struct network *net = &topology_of(replay)->net;
	uint32_t host = job->job.hosts[w], pool = pool_of(replay, net->ports[host].to - net->hosts);
	struct fifo nic = fifo_at(replay, host); /* host h sends on port h */
	struct group *group = replay->groups;

	while (group < replay->groups + replay->group_count && group->pool != pool)
		group++;
	if (group == replay->groups + replay->group_count) {
		replay->all |= UINT32_C(1) << replay->group_count++;
		group->pool = pool;
		window_init(&group->window, &job->scheme->window, job->frame, replay->servers);
		group->up = nic.transmission + nic.latency;
		group->down = fifo_at(replay, net->rare[host].reverse);
		group->ways = xcalloc(replay->servers, sizeof(*group->ways));
		for (uint32_t q = 0; q < replay->servers; q++)
			find_way(replay, group, w, q);
	}
	group->workers++;
	group->spacing = later(group->spacing, spacing_of(replay, host, nic.transmission));
}

static void place_server(struct atp_replay *replay, uint32_t q)
{
	const struct racks *racks = &replay->job->servers[q].racks;

	replay->server[q] = (struct replayed_server){
		.pool = pool_of(replay, racks->sw),
		.port = fifo_of(replay, racks->server_port),
		.nic = fifo_of(replay, racks->server),
	};
}

struct atp_replay *atp_replay_new(const struct hashed_job *job)
{
	struct atp_replay *replay = xcalloc(1, sizeof(*replay));
	const struct hashed_scheme *scheme = job->scheme;
	const struct atp_conf *conf = atp_conf(job);
	uint32_t most = RACK_INPUTS_MAX + 1 + job->job.servers, count = scheme->pools[0].count;
	bytes size = (bytes)scheme->conf->elements_per_packet * ELEMENT_BYTES;

	replay->job = job;
	replay->servers = job->job.servers;
	if (conf->index != ATP_INDEX_HASH)
		replay->positions = conf->positions < count ? (uint32_t)conf->positions : count;
	if (scheme->env.reducers->rate)
		replay->adding = (size * 8 * PS_PER_S + scheme->env.reducers->rate - 1) /
				 scheme->env.reducers->rate;
	replay->groups = xcalloc(RACK_INPUTS_MAX + 1, sizeof(*replay->groups));
	replay->server = xcalloc(replay->servers, sizeof(*replay->server));
	replay->switches = xcalloc(most, sizeof(*replay->switches));
	replay->pools = xcalloc(most, sizeof(*replay->pools));
	replay->mask = PIECES_FIRST - 1;
	replay->pieces = xcalloc(PIECES_FIRST, sizeof(*replay->pieces));
	for (uint32_t w = 0; w < job->job.workers; w++)
		place_worker(replay, w);
	for (uint32_t q = 0; q < replay->servers; q++)
		place_server(replay, q);
	return replay;
}

void atp_replay_free(struct atp_replay *replay)
{
	for (uint32_t g = 0; g < replay->group_count; g++) {
		for (uint32_t q = 0; q < replay->servers; q++)
			free(replay->groups[g].ways[q].results);
		free(replay->groups[g].ways);
		window_release(&replay->groups[g].window);
	}
	for (uint32_t p = 0; p < replay->pool_count; p++)
		free(replay->pools[p]);
	free(replay->pools);
	free(replay->switches);
	free(replay->groups);
	free(replay->server);
	free(replay->fifos);
	free(replay->pieces);
	free(replay);
}
