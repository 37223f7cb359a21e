#include "core/parts.h"

#include "base/mem.h"
#include "core/team.h"

#include <stdlib.h>

#define APART 128   /* bytes: two cache lines, which some processors fetch together */
#define FEW   64    /* a window with fewer events is over before another thread has woken */
#define MANY  10000 /* a window with more events takes much longer than waking a thread */

#define ALONE_MAX 255 /* windows in a row that one thread runs after a wait, at most */

struct part {
	struct sim sim;
	sim_time holds; /* returned by give(): when there will be more to give */
};

enum phase { RUN, RUN_AND_GIVE, TAKE };

struct sim_parts {
	struct sim *whole;
	unsigned count, threads;
	struct part **list;     /* 1..count */
	struct equeue **queues; /* of the partitions; 1..count */
	const struct parts_ops *ops;
	sim_time lookahead;
	sim_time begin, end; /* rest of the window; no event before `begin` is pending */
	bool due;            /* an event of the whole simulation is due at `begin` */
	struct team *team;
	/* choose_threads() */
	uint64_t events;  /* of the last window: the next one has about as many */
	bool slept;       /* in the last window the calling thread slept, waiting for others */
	bool together;    /* all threads ran the window before the last, so none was asleep */
	bool alone;       /* the calling thread runs this window alone */
	unsigned left;    /* windows still to run alone */
	unsigned penalty; /* `left` after the last wait, less 1 for each window without a wait */
	/* while a window, or a part of it, runs: */
	bool running;
	enum phase phase;
	sim_time stop;
};

/* --- windows --- */

/* Runs the events of one partition before `stop`, in a window that goes on until `end`. */
static void run_until(struct sim *sim, sim_time stop, sim_time end)
{
	struct equeue *q = &sim->queue;
	uint32_t id;

	equeue_bound(q, stop, end);
	while ((id = equeue_pop_before(q, &sim->now)) != EQ_NONE) {
		sim_look(sim);
		if (id < sim->block_count) {
			sim->events++;
			sim->block.handler(sim, id, sim->block.owner);
		} else if (id - sim->more_first < sim->more_count) {
			sim->events++;
			sim->more.handler(sim, id, sim->more.owner);
		} else {
			sim_run_entity(sim, id);
		}
	}
}

static void work_on(const struct sim_parts *parts, struct part *part)
{
	if (parts->phase == TAKE) {
		parts->ops->take(&part->sim);
		return;
	}
	run_until(&part->sim, parts->stop, parts->end);
	if (parts->phase == RUN_AND_GIVE)
		part->holds = parts->ops->give(&part->sim, parts->end);
}

/* Runs the phase for the partitions of one thread. If the system gave fewer threads than asked for,
 * some threads do the work of several. */
static void work(void *owner, unsigned thread)
{
	const struct sim_parts *parts = owner;

	for (unsigned t = thread; t < parts->threads; t += team_size(parts->team))
		for (unsigned p = 1; p <= parts->count; p++)
			if (parts_thread(p, parts->count, parts->threads) == t)
				work_on(parts, parts->list[p]);
}

static void run_phase(struct sim_parts *parts, enum phase phase)
{
	parts->phase = phase;
	if (!parts->alone) {
		parts->slept |= !team_run(parts->team);
		return;
	}
	for (unsigned p = 1; p <= parts->count; p++)
		work_on(parts, parts->list[p]);
}

/* Decides whether all threads run the next window, or the calling thread alone. When other programs
 * use the cores, a thread may wait for a core, and all others wait for this thread, perhaps for
 * much longer than the window takes. After such a wait the calling thread runs some windows alone,
 * and more after each further wait. The next window of all threads does not count, since the other
 * threads were asleep. After a window of fewer than FEW events the next one is run alone, too. */
static void choose_threads(struct sim_parts *parts)
{
	bool together = !parts->alone;

	if (together && parts->together && parts->events < MANY) {
		if (parts->slept)
			parts->left = parts->penalty =
				parts->penalty < ALONE_MAX / 2 ? 2 * parts->penalty + 1 : ALONE_MAX;
		else if (parts->penalty)
			parts->penalty--;
	} else if (parts->left) {
		parts->left--;
	}
	parts->together = together;
	parts->slept = false;
	parts->alone = parts->left || parts->events < FEW;
}

static void add_up(struct sim *whole, struct sim *part)
{
	whole->events += part->events;
	whole->digest += part->digest;
	whole->uncounted += part->uncounted;
	part->events = part->digest = part->uncounted = 0;
}

/* Runs the window up to `stop`: its end, or just after the time of an event of the whole
 * simulation. False if no event ran. */
static bool run_window(struct sim *sim, sim_time stop)
{
	struct sim_parts *parts = sim->parts;
	uint64_t before = sim->events;

	choose_threads(parts);
	parts->running = true;
	parts->stop = stop;
	if (stop < parts->end) {
		run_phase(parts, RUN);
	} else {
		run_phase(parts, RUN_AND_GIVE);
		run_phase(parts, TAKE);
	}
	parts->running = false;
	for (unsigned p = 1; p <= parts->count; p++)
		add_up(sim, &parts->list[p]->sim);
	sim->now = stop - 1;
	parts->events = sim->events - before;
	return parts->events;
}

/* The time at which a partition next has an event or something to give. */
static sim_time first_event(const struct sim_parts *parts)
{
	sim_time first = SIM_TIME_MAX;

	for (unsigned p = 1; p <= parts->count; p++) {
		sim_time at = equeue_first(&parts->list[p]->sim.queue);

		first = at < first ? at : first;
		first = parts->list[p]->holds < first ? parts->list[p]->holds : first;
	}
	return first;
}

bool parts_fits(const struct sim *sim, sim_time until)
{
	return sim->parts->end <= until;
}

bool parts_run(struct sim *sim, uint64_t budget, sim_time until)
{
	struct sim_parts *parts = sim->parts;
	uint64_t enough = sim->events < UINT64_MAX - budget ? sim->events + budget : UINT64_MAX;

	while (!parts->due && sim->events < enough && parts_fits(sim, until)) {
		sim_time control = equeue_first(&sim->queue), next = parts->end;
		bool ran;

		parts->due = control < parts->end;
		ran = run_window(sim, parts->due ? control + 1 : parts->end);
		if (parts->due) {
			parts->begin = control; /* the event may schedule more at this time */
			continue;
		}
		if (!ran) {
			sim_time first = first_event(parts);

			next = first < control ? first : control;
			if (next == SIM_TIME_MAX)
				return false;
		}
		parts->begin = next;
		parts->end = next + parts->lookahead;
	}
	return true;
}

void parts_control(struct sim *sim)
{
	struct sim_parts *parts = sim->parts;
	uint32_t id;

	if (!parts->due)
		return;
	parts->due = false;
	for (unsigned p = 1; p <= parts->count; p++)
		parts->list[p]->sim.now = parts->begin;
	equeue_bound(&sim->queue, parts->begin + 1, parts->begin + 1);
	id = equeue_pop_before(&sim->queue, &sim->now);
	if (id != EQ_NONE)
		sim_run_entity(sim, id);
	if (sim->stopped)
		sim_do_deferred(sim, sim->now);
}

bool parts_hold(const struct sim *sim)
{
	for (unsigned p = 1; sim->parts && p <= sim->parts->count; p++)
		if (sim->parts->list[p]->sim.queue.away_count)
			return true;
	return false;
}

/* --- cutting and joining --- */

static struct part *part_new(const struct sim *whole, unsigned number)
{
	struct part *part = xaligned(APART, sizeof(*part));
	struct equeue *queue = &part->sim.queue;

	part->sim = *whole;
	part->sim.events = part->sim.digest = part->sim.uncounted = 0;
	part->sim.idle_timers = NULL;
	part->sim.idle_count = part->sim.idle_capacity = 0;
	equeue_init(queue, whole->seed);
	queue->number = (uint16_t)number;
	queue->last = whole->now;
	equeue_share(queue, &whole->queue);
	part->holds = SIM_TIME_MAX;
	return part;
}

void parts_cut(struct sim *sim, unsigned count, unsigned threads, sim_time lookahead,
	       const struct parts_ops *ops)
{
	struct sim_parts *parts = xcalloc(1, sizeof(*parts));

	threads = threads < count ? threads : count;
	SIM_BUG_ON(sim->parts || !lookahead || count >= EQ_AWAY);
	*parts = (struct sim_parts){ .whole = sim,
				     .count = count,
				     .threads = threads,
				     .ops = ops,
				     .lookahead = lookahead,
				     .begin = sim->now,
				     .end = sim->now + lookahead };
	sim->parts = parts;
	parts->list = xcalloc(count + 1, sizeof(struct part *));
	parts->queues = xcalloc(count + 1, sizeof(struct equeue *));
	for (unsigned p = 1; p <= count; p++) {
		parts->list[p] = part_new(sim, p);
		parts->queues[p] = &parts->list[p]->sim.queue;
		parts->queues[p]->all = parts->queues;
	}
	parts->team = team_new(threads, work, parts);
}

unsigned parts_threads(const struct sim *sim)
{
	return sim->parts ? team_size(sim->parts->team) : 1;
}

struct sim *parts_sim(const struct sim *sim, unsigned part)
{
	return &sim->parts->list[part]->sim;
}

uint32_t parts_add_entity(struct sim *part, enum sim_class class, uint64_t key,
			  sim_handler *handler, void *owner)
{
	struct sim_parts *parts = part->parts;
	struct sim *whole = parts->whole;
	uint32_t id = sim_add_entity(whole, class, key, handler, owner);

	SIM_BUG_ON(parts->running);
	parts_place(whole, id, part->queue.number);
	for (unsigned p = 1; p <= parts->count; p++) {
		struct sim *other = &parts->list[p]->sim;

		equeue_share(&other->queue, &whole->queue);
		other->entities = whole->entities;
	}
	return id;
}

/* The partition's idle timers go to the whole simulation. */
static void part_free(struct part *part, struct sim *whole)
{
	static const struct equeue nothing;
	struct sim *sim = &part->sim;

	for (size_t i = 0; i < sim->idle_count; i++) {
		struct timer timer = { sim->idle_timers[i] };

		timer_close(whole, &timer);
	}
	free(sim->idle_timers);
	/* the nodes belong to the whole */
	equeue_share(&sim->queue, &nothing);
	equeue_release(&sim->queue);
	free(part);
}

void parts_free(struct sim *sim)
{
	struct sim_parts *parts = sim->parts;

	if (!parts)
		return;
	team_free(parts->team);
	for (unsigned p = 1; p <= parts->count; p++)
		part_free(parts->list[p], sim);
	free(parts->list);
	free(parts->queues);
	free(parts);
	sim->parts = NULL;
}

void parts_join(struct sim *sim)
{
	struct sim_parts *parts = sim->parts;
	struct equeue *queue = &sim->queue;

	equeue_bound(queue, SIM_TIME_MAX, SIM_TIME_MAX);
	for (uint32_t id = 0; id < queue->node_count; id++) {
		struct eq_node *node = &queue->nodes[id];
		bool pending = equeue_pending(queue, id);

		if (!node->queue)
			continue;
		if (pending)
			equeue_cancel(&parts->list[node->queue]->sim.queue, id);
		node->queue = 0;
		if (pending)
			equeue_push(queue, id, node->at);
	}
	for (unsigned p = 1; p <= parts->count; p++)
		add_up(sim, &parts->list[p]->sim);
	parts_free(sim);
}
