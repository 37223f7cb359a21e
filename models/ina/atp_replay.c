#include "ina/atp_replay_parts.h"

#include "base/ring.h"

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

static void pass(struct atp_replay *replay, uint32_t number, struct flight *flight)
{
	struct fifo *fifo = &replay->fifos[number];
	sim_time one = fifo->transmission, start = later(fifo->free, flight->first);
	sim_time end = later(start + flight->packets * one, flight->last + one);
	sim_time wait = end - one - flight->last;

	flight->marked |= marks(fifo, (wait + one - 1) / one, replay->job->frame);
	flight->from = fifo->port;
	fifo->free = end;
	flight->first = start + one + fifo->latency;
	flight->last = end + fifo->latency;
}

/* --- aggregators --- */

static uint16_t slot_of(const struct atp_replay *replay, uint64_t piece)
{
	return replay->positions ? (uint16_t)(piece % replay->positions)
				 : hashed_index(replay->job, piece, 0);
}

/* Packets of a piece come to an aggregator: whether they are added there. */
static bool take(struct held *held, uint64_t piece, sim_time now)
{
	if (held->until > now)
		return held->piece == piece + 1;
	*held = (struct held){ .piece = piece + 1, .until = NEVER };
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

static void plan_step(struct atp_replay *replay, uint32_t g);

/* A result is at the switch of its workers. */
static void hand_down(struct atp_replay *replay, uint32_t g, const struct flight *flight)
{
	const struct group *group = &replay->groups[g];
	sim_time down = group->down.transmission + group->down.latency;

	push_result(&group->ways[flight->piece % replay->servers],
		    (struct result){ flight->first, flight->piece, flight->marked, flight->again });
	replay->held = later(replay->held, flight->first + down);
	plan_step(replay, g);
}

static void come_down(struct atp_replay *replay, const struct flight *flight);

static const struct stop *stop_of(const struct atp_replay *replay, const struct flight *flight)
{
	return &replay->server[flight->piece % replay->servers].stops[flight->stop];
}

/* A result leaves a switch by one of the branches. */
static void go_down(struct atp_replay *replay, struct flight *flight)
{
	const struct branch *branch = &stop_of(replay, flight)->branches[flight->hop];

	pass(replay, branch->fifo, flight);
	flight->stop = branch->stop;
	come_down(replay, flight);
}

/* A result comes to a switch, where it frees an aggregator, and goes on to the next place where it
 * meets others. */
static void come_down(struct atp_replay *replay, const struct flight *flight)
{
	const struct stop *stop = stop_of(replay, flight);
	uint64_t piece = flight->piece;

	if (stop->pool != NOBODY)
		give_up(&replay->pools[stop->pool][slot_of(replay, piece)], piece, flight->first);
	if (stop->group != NOBODY)
		hand_down(replay, stop->group, flight);
	for (uint8_t i = 0; i < stop->count; i++) {
		struct flight next = *flight;

		next.hop = i;
		if (replay->fifos[stop->branches[i].fifo].meet)
			flights_push(&replay->flights, &next);
		else
			go_down(replay, &next);
	}
}

/* The server has all: the result goes to the workers. */
static void send_result(struct atp_replay *replay, uint64_t number)
{
	const struct replayed_server *server = &replay->server[number % replay->servers];
	struct piece *piece = piece_of(replay, number);
	struct flight flight = { .first = piece->done,
				 .last = piece->done,
				 .piece = number,
				 .packets = 1,
				 .stop = server->level1,
				 .marked = piece->marked,
				 .again = piece->resent,
				 .down = true };

	piece->over = true;
	pass(replay, server->nic, &flight);
	come_down(replay, &flight);
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

/* Packets come to level 1's port to the server, where the last of `groups` are in then. */
static void to_server(struct atp_replay *replay, uint32_t groups, struct flight *flight)
{
	uint64_t number = flight->piece;
	struct replayed_server *server = &replay->server[number % replay->servers];
	struct piece *piece = piece_of(replay, number);

	pass(replay, server->port, flight);
	server->added = later(server->added, flight->first) + flight->packets * replay->adding;
	server->added = later(server->added, flight->last);
	replay->server_packets += flight->packets;
	if (is_over(replay, number))
		return;
	piece->done = later(piece->done, server->added);
	piece->marked |= flight->marked;
	piece->at_server |= groups;
	if (piece->at_server == replay->all)
		send_result(replay, number);
}

/* Added at level 1, where the sum leaves with the last. */
static void add(struct atp_replay *replay, const struct flight *flight)
{
	struct piece *piece = piece_of(replay, flight->piece);
	struct flight sum = {
		.first = flight->last, .last = flight->last, .piece = flight->piece, .packets = 1
	};

	piece->waiting |= UINT32_C(1) << flight->group;
	piece->waiting_marked |= flight->marked;
	if (piece->waiting != replay->all)
		return;
	sum.marked = piece->waiting_marked;
	to_server(replay, replay->all, &sum);
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
 * unless the packet itself is in by another way. `merged`: they go in one, as level 1 has a word
 * for it. */
static void send_flushed(struct atp_replay *replay, bool merged, struct flight *flight)
{
	struct piece *piece = piece_of(replay, flight->piece);
	struct flight lead = *flight;
	bool added = !merged || piece->waiting & UINT32_C(1) << flight->group;

	lead.last = lead.first;
	lead.packets = 1;
	lead.marked = piece->waiting_marked;
	flight->packets -= merged;
	to_server(replay, added ? piece->waiting : 0, &lead);
}

/* Packets come to level 1. */
static void at_level1(struct atp_replay *replay, struct flight *flight)
{
	uint64_t number = flight->piece;
	uint32_t pool = replay->server[number % replay->servers].pool;
	struct held *held = &replay->pools[pool][slot_of(replay, number)];
	uint32_t group = UINT32_C(1) << flight->group;

	if (flight->again) {
		if (flush(held, number, flight->first))
			send_flushed(replay, !flight->alone, flight);
		if (flight->packets)
			to_server(replay, group, flight);
	} else if (flight->alone || !take(held, number, flight->first)) {
		to_server(replay, flight->more ? 0 : group, flight);
	} else {
		add(replay, flight);
	}
}

/* They will meet others, so it is not their turn until they are there; packets that were added
 * nowhere have turns of their own. */
static void put_off(struct atp_replay *replay, const struct flight *flight)
{
	struct flight one = *flight;
	sim_time gap;

	if (flight->again || flight->packets == 1) {
		flights_push(&replay->flights, flight);
		return;
	}
	gap = (flight->last - flight->first) / (flight->packets - 1);
	one.packets = 1;
	for (uint32_t i = 1; i <= flight->packets; i++) {
		one.more = i < flight->packets;
		one.first = one.more ? flight->first + (i - 1) * gap : flight->last;
		one.last = one.first;
		flights_push(&replay->flights, &one);
	}
}

/* On to the next place where they meet others. */
static void travel(struct atp_replay *replay, struct flight *flight)
{
	const struct group *group = &replay->groups[flight->group];
	const struct way *way = &group->ways[flight->piece % replay->servers];

	while (flight->hop < way->fifo_count) {
		pass(replay, way->fifos[flight->hop++], flight);
		if (flight->hop == way->fifo_count || replay->fifos[way->fifos[flight->hop]].meet) {
			put_off(replay, flight);
			return;
		}
	}
	at_level1(replay, flight);
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
static struct flight take_off(const struct atp_replay *replay, uint32_t g, uint64_t piece,
			      sim_time now)
{
	return (struct flight){ .first = now,
				.last = now,
				.piece = piece,
				.group = g,
				.packets = replay->groups[g].workers };
}

static void contribute(struct atp_replay *replay, uint32_t g, uint64_t number, sim_time now)
{
	const struct group *group = &replay->groups[g];
	struct flight flight = take_off(replay, g, number, now);

	if (number == replay->next)
		open_piece(replay, number);
	if (!group->ways[number % replay->servers].local) {
		flight.alone =
			!take(&replay->pools[group->pool][slot_of(replay, number)], number, now);
		if (!flight.alone)
			flight.packets = 1;
	}
	travel(replay, &flight);
}

/* The same when they were lost: they free aggregators and are added at the server. */
static void contribute_again(struct atp_replay *replay, uint32_t g, uint64_t number, sim_time now)
{
	const struct group *group = &replay->groups[g];
	bool local = group->ways[number % replay->servers].local;
	struct flight flight = take_off(replay, g, number, now);

	replay->resent += group->workers;
	if (!is_over(replay, number))
		piece_of(replay, number)->resent = true;
	flight.again = true;
	flight.alone = !local && group->workers > 1;
	if (!local && flush(&replay->pools[group->pool][slot_of(replay, number)], number, now))
		flight.alone = false;
	travel(replay, &flight);
}

/* --- groups --- */

/* When the group's next packet would be at its switch, or would be if the result that it has to
 * hear before came now. */
static void plan_step(struct atp_replay *replay, uint32_t g)
{
	const struct group *group = &replay->groups[g];
	const struct window *window = &group->window;
	sim_time turn = NEVER, due;

	if (window_has_lost(window) || window_may_send(window, replay->end))
		turn = group->nic + group->up;
	else if (window->next < replay->end && next_way(replay, group, &due))
		turn = later(group->nic, due) + group->up;
	replay->turn_known &= turn == replay->turns[g];
	replay->turns[g] = turn;
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

static uint32_t first_turn(struct atp_replay *replay)
{
	if (replay->turn_known)
		return replay->turn;
	replay->turn = 0;
	for (uint32_t g = 1; g < replay->group_count; g++)
		if (replay->turns[g] < replay->turns[replay->turn])
			replay->turn = g;
	replay->turn_known = true;
	return replay->turn;
}

/* In the order of time, until nobody has anything to do. */
static void run(struct atp_replay *replay)
{
	for (uint32_t g = 0; g < replay->group_count; g++)
		plan_step(replay, g);
	for (;;) {
		uint32_t g = first_turn(replay);

		if (replay->flights.count && flights_next(&replay->flights) <= replay->turns[g]) {
			struct flight flight = flights_pop(&replay->flights);

			if (flight.down)
				go_down(replay, &flight);
			else
				travel(replay, &flight);
		} else if (replay->turns[g] != NEVER) {
			step(replay, g);
			plan_step(replay, g);
		} else {
			return;
		}
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
