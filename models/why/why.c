#include "why/why_parts.h"

#include "base/mem.h"
#include "base/ring.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const why_cause_names[WHY_CAUSES] = {
	[WHY_COMPUTE] = "compute",
	[WHY_JITTER] = "jitter",
	[WHY_WINDOW] = "window",
	[WHY_WINDOW_MARKS] = "window_marks",
	[WHY_WINDOW_LOSSES] = "window_losses",
	[WHY_QUOTA] = "quota",
	[WHY_LOCK] = "lock",
	[WHY_NIC] = "nic",
	[WHY_WIRE] = "wire",
	[WHY_INSIDE] = "inside",
	[WHY_QUEUE_OWN] = "queue_own",
	[WHY_QUEUE_JOBS] = "queue_jobs",
	[WHY_QUEUE_FLOWS] = "queue_flows",
	[WHY_PAUSE] = "pause",
	[WHY_STRAGGLER] = "straggler",
	[WHY_BUBBLE] = "bubble",
	[WHY_SERVER] = "server",
	[WHY_NO_AGGREGATOR] = "no_aggregator",
	[WHY_TIMEOUT] = "timeout",
	[WHY_FAST] = "fast",
	[WHY_FAILURE] = "failure",
	[WHY_BACKOFF] = "backoff",
	[WHY_UNEXPLAINED] = "unexplained",
};

static sim_time min(sim_time a, sim_time b)
{
	return a < b ? a : b;
}

static sim_time max(sim_time a, sim_time b)
{
	return a > b ? a : b;
}

/* --- the largest of a kind, from a few candidates: a new one replaces the smallest --- */

static void tally(struct why_tally list[WHY_TALLIES], uint32_t id, sim_time time)
{
	size_t place = 0;

	for (size_t i = 0; i < WHY_TALLIES; i++) {
		if (list[i].times && list[i].id == id) {
			list[i].times++;
			list[i].time += time;
			return;
		}
		if (list[i].time < list[place].time)
			place = i;
	}
	list[place] = (struct why_tally){ id, 1, time };
}

static struct why_tally top(const struct why_tally list[WHY_TALLIES])
{
	struct why_tally best = { .id = WHY_NONE };

	for (size_t i = 0; i < WHY_TALLIES; i++)
		if (list[i].times && (best.id == WHY_NONE || list[i].time > best.time))
			best = list[i];
	return best;
}

/* --- accounts --- */

/* amount * part / whole */
static sim_time share(sim_time amount, sim_time part, sim_time whole)
{
	return (sim_time)((unsigned __int128)amount * part / whole);
}

/* The time of charge `a` that would be another cause's if it were one with the next charge. */
static sim_time blur(const struct why_charge *a, const struct why_charge *next)
{
	sim_time sum = 0, part = a->end - a->begin, whole = next->end - a->begin;

	for (unsigned c = 0; c < WHY_CAUSES; c++) {
		sim_time both = a->cause[c] + next->cause[c];
		sim_time then = both ? share(both, part, whole) : 0;

		sum += max(a->cause[c], then) - min(a->cause[c], then);
	}
	return sum;
}

/* Merges charges that follow each other, those that are most alike: pairs that blur no more than
 * the mean pair, of which there is always one. */
static void merge_log(struct why_account *account)
{
	sim_time blurs[WHY_LOG - 1], sum = 0;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < WHY_LOG - 1; i++)
		sum += blurs[i] = blur(&account->log[i], &account->log[i + 1]);
	for (uint32_t i = 0; i < WHY_LOG; i++) {
		struct why_charge one = account->log[i];

		if (i < WHY_LOG - 1 && blurs[i] <= sum / (WHY_LOG - 1)) {
			one.end = account->log[++i].end;
			for (unsigned c = 0; c < WHY_CAUSES; c++)
				one.cause[c] += account->log[i].cause[c];
		}
		account->log[kept++] = one;
	}
	account->logged = kept;
}

/* Charges a worker's time from account->until to `now`; the times in `cause` add up to it. */
static void book(const struct why_job *job, struct why_account *account, sim_time now,
		 const sim_time cause[WHY_CAUSES])
{
	const struct why_listener *listener = job->why->listener;
	struct why_charge *charge;
	sim_time sum = 0;

	if (account->logged == WHY_LOG)
		merge_log(account);
	charge = &account->log[account->logged++];
	charge->begin = account->until;
	charge->end = now;
	memcpy(charge->cause, cause, sizeof(charge->cause));
	for (unsigned c = 0; c < WHY_CAUSES; c++) {
		account->waits[c] += cause[c];
		sum += cause[c];
	}
	account->straggled += cause[WHY_STRAGGLER];
	SIM_BUG_ON(sum != now - account->until);
	if (listener && !job->bubbles)
		listener->charged(listener->owner, job->number, (uint32_t)(account - job->accounts),
				  account->until, now, cause);
	account->until = now;
}

static void book_one(const struct why_job *job, struct why_account *account, sim_time now,
		     enum why_cause cause)
{
	sim_time causes[WHY_CAUSES] = { 0 };

	causes[cause] = now - account->until;
	if (causes[cause])
		book(job, account, now, causes);
}

/* What has been charged to a worker since the last call is a part's. */
static void assign(const struct why_job *job, struct why_account *account, uint32_t part)
{
	const struct why_listener *listener = job->why->listener;

	if (job->parts[part].bubble) {
		account->waits[WHY_BUBBLE] = account->waits[WHY_STRAGGLER];
		account->waits[WHY_STRAGGLER] = 0;
	}
	for (unsigned c = 0; c < WHY_CAUSES; c++) {
		account->cause[c] += account->waits[c];
		account->part[part][c] += account->waits[c];
	}
	if (listener && job->bubbles && account->until > account->waited)
		listener->charged(listener->owner, job->number, (uint32_t)(account - job->accounts),
				  account->waited, account->until, account->waits);
	memset(account->waits, 0, sizeof(account->waits));
	account->waited = account->until;
}

/* --- back along the way of a result --- */

struct walk {
	struct why *why;
	const struct why_job *job;
	struct why_account *account;
	uint32_t worker;
	sim_time left;            /* to be charged */
	sim_time travel;          /* time on links, on the whole way */
	sim_time inside;          /* the same inside machines */
	enum why_trouble trouble; /* of the chunk */
	sim_time timed_out;       /* when a timeout last declared a chunk lost */
	bool detour;
	sim_time cause[WHY_CAUSES];
};

/* Charges `time` to a cause, but no more than is left. Returns the time charged. */
static sim_time take(struct walk *walk, enum why_cause cause, sim_time time)
{
	time = min(time, walk->left);
	walk->left -= time;
	walk->cause[cause] += time;
	return time;
}

/* Why the chunk went through a server or did not arrive: a loss, or no aggregator was free. */
static enum why_cause trouble_of(const struct walk *walk)
{
	return walk->trouble == WHY_LOST_TIMED ? WHY_TIMEOUT
	       : walk->trouble == WHY_LOST     ? WHY_FAST
					       : WHY_NO_AGGREGATOR;
}

/* Charges a packet's wait in a queue, or only the time that is left if that is less, in the
 * proportions of `before`. The whole wait on a detour is charged to what led to the detour. */
static void take_queue(struct walk *walk, const struct why_step *step)
{
	/* BEFORE_PAUSE, gaps before the packet: without PAUSE, an idle NIC began late (nic.h) */
	const enum why_cause causes[BEFORE_KINDS] = { WHY_QUEUE_OWN, WHY_QUEUE_JOBS,
						      WHY_QUEUE_FLOWS,
						      walk->why->net->lossless ? WHY_PAUSE
									       : WHY_NIC };
	sim_time time = min(step->hold, walk->left), given = 0;
	uint64_t whole = 0;
	unsigned rest = BEFORE_OWN; /* the largest kind, which gets what rounding leaves */

	if (!time)
		return;
	tally(walk->account->links, step->place, time);
	for (unsigned k = 0; k < BEFORE_KINDS; k++) {
		whole += step->before[k];
		if (step->before[k] > step->before[rest])
			rest = k;
	}
	if (step->detour) {
		take(walk, trouble_of(walk), time);
		return;
	}
	for (unsigned k = 0; k < BEFORE_KINDS && whole; k++)
		if (k != rest)
			given += take(walk, causes[k], share(time, step->before[k], whole));
	take(walk, causes[rest], time - given);
}

static void take_hop(struct walk *walk, const struct why_step *step)
{
	const struct why_step *previous = &walk->why->steps[step->previous];
	const struct network *net = walk->why->net;
	sim_time gap;

	walk->detour |= step->detour;
	walk->travel += step->travel;
	take_queue(walk, step);
	if (!step->previous || !previous->hop)
		return;
	gap = step->arrived - step->travel - step->hold - previous->arrived;
	if (net->ports[previous->place].to_host)
		take(walk, step->detour ? trouble_of(walk) : WHY_SERVER, gap);
	else if (walk->trouble >= WHY_LOST && walk->timed_out > previous->arrived &&
		 walk->timed_out - previous->arrived <= gap)
		take(walk, WHY_TIMEOUT, gap); /* of the switch, which sent it again */
	else
		walk->travel += gap; /* in a switch's pipeline */
}

static enum why_cause turn_of(const struct why_step *step)
{
	static const enum why_cause causes[] = { [WHY_UNCUT] = WHY_WINDOW,
						 [WHY_CUT_BY_MARKS] = WHY_WINDOW_MARKS,
						 [WHY_CUT_BY_LOSSES] = WHY_WINDOW_LOSSES,
						 [WHY_CUT_BY_QUOTA] = WHY_QUOTA,
						 [WHY_CUT_BY_LOCK] = WHY_LOCK };

	return causes[step->cut];
}

/* How long others can have computed since the worker's last task: the time until all had ended. */
static sim_time may_straggle(const struct walk *walk)
{
	return walk->job->worked - walk->account->worked - walk->account->straggled -
	       walk->cause[WHY_STRAGGLER];
}

static bool straggles(unsigned cause)
{
	return cause <= WHY_JITTER || cause == WHY_STRAGGLER;
}

/* Charges what another worker did from `begin` to `end`, the latest first, and its time on links
 * last. While the other worker computed, or waited for one who did, this one waited for a
 * straggler. */
static void take_from(struct walk *walk, uint32_t worker, sim_time begin, sim_time end)
{
	const struct why_account *other = &walk->job->accounts[worker];
	sim_time before = walk->left, wire = 0, inside = 0;

	for (uint32_t i = other->logged; i-- && walk->left;) {
		const struct why_charge *charge = &other->log[i];
		sim_time from = max(charge->begin, begin), to = min(charge->end, end);
		sim_time part = to > from ? to - from : 0, whole = charge->end - charge->begin;

		if (charge->end <= begin)
			break;
		wire += part;
		for (unsigned c = 0; c < WHY_CAUSES && part; c++) {
			sim_time time = share(charge->cause[c], part, whole);

			if (straggles(c))
				wire -= take(walk, WHY_STRAGGLER, min(time, may_straggle(walk)));
			else if (c == WHY_INSIDE)
				inside += time;
			else if (c != WHY_WIRE)
				wire -= take(walk, c, time);
		}
	}
	wire -= take(walk, WHY_INSIDE, inside);
	take(walk, WHY_WIRE, wire);
	if (before > walk->left)
		tally(walk->account->peers, worker, before - walk->left);
}

/* Where something begins inside a machine. Its sender may have straggled while this worker had
 * something to do there, too. */
static void take_inside(struct walk *walk, const struct why_step *step)
{
	const struct why_account *other = &walk->job->accounts[step->place];
	sim_time begin = walk->account->worked, since = walk->account->until;

	if (step->place == walk->worker)
		return;
	for (uint32_t i = other->logged; i-- && other->log[i].end > begin;) {
		const struct why_charge *charge = &other->log[i];
		sim_time from = max(charge->begin, begin), to = min(charge->end, since);

		for (unsigned c = 0; c < WHY_CAUSES && to > from; c++)
			if (straggles(c))
				take(walk, WHY_STRAGGLER,
				     min(share(charge->cause[c], to - from,
					       charge->end - charge->begin),
					 may_straggle(walk)));
	}
	if (step->ready > since)
		take_from(walk, step->place, since, step->ready);
}

static enum why_cause resent_for(const struct walk *walk, bool timed)
{
	return timed && walk->trouble != WHY_LACKED ? WHY_TIMEOUT
	       : walk->trouble                      ? trouble_of(walk)
						    : WHY_FAST;
}

/* Charges the `time` that a packet waited for its turn. The last part of it is the wait behind
 * other packets at the NIC. */
static void take_turn(struct walk *walk, const struct why_step *step, sim_time time)
{
	time -= take(walk, step->others ? WHY_NIC : WHY_WIRE, min(time, step->behind));
	take(walk, turn_of(step), time);
}

/* Charges the wait for its turn of a packet that is not of a stream. take_from() charges what the
 * sender did up to the end of its account, so only the time since then counts here. */
static void take_own_turn(struct walk *walk, const struct why_step *step, sim_time sent)
{
	const struct why_account *sender = &walk->job->accounts[step->place];
	sim_time since = max(max(walk->account->until, step->ready), sender->until);

	if (sent > since)
		take_turn(walk, step, sent - since);
}

/* Charges a wait for a timeout, of which the last part is the timer's back-off if a failed link had
 * lost what is sent again. */
static void take_timeout(struct walk *walk, const struct why_step *step, enum why_cause cause,
			 sim_time time)
{
	sim_time backoff = min(step->backoff_us * (sim_time)PS_PER_US, time);

	if (!step->outage) {
		take(walk, cause, time);
		return;
	}
	take(walk, WHY_BACKOFF, backoff);
	take(walk, WHY_FAILURE, time - backoff);
}

/* Charges the delays where a way begins. An amount of SIM_TIME_MAX charges all that is left. */
static void take_begin(struct walk *walk, const struct why_step *step)
{
	sim_time since = walk->account->until;
	sim_time sent = step->again && step->first != SIM_TIME_MAX ? step->first : step->sent;
	sim_time end = step->stream ? step->ready : sent;

	if (step->pushed) {
		tally(walk->account->rivals, step->place, walk->left);
		take(walk, trouble_of(walk), SIM_TIME_MAX);
		return;
	}
	if (step->again)
		take_timeout(walk, step, resent_for(walk, step->timed),
			     step->first == SIM_TIME_MAX ? SIM_TIME_MAX : step->sent - step->first);
	if (step->stream && sent > max(since, step->ready))
		take_turn(walk, step, sent - max(since, step->ready));
	if (step->silent && step->ready > since)
		take_timeout(walk, step, WHY_TIMEOUT,
			     step->ready - max(since, walk->why->steps[step->previous].sent));
	if (step->recovery) {
		take(walk, resent_for(walk, step->timed), SIM_TIME_MAX);
		return;
	}
	if (step->place == WHY_NONE)
		return;
	if (step->inside) {
		take_inside(walk, step);
		return;
	}
	if (!step->stream)
		take_own_turn(walk, step, sent);
	if (step->place != walk->worker && end > since)
		take_from(walk, step->place,
			  step->stream ? min(since, max(step->wrote, walk->account->worked))
				       : since,
			  end);
	if (step->ready < since) /* its data was ready before */
		take_turn(walk, step, SIM_TIME_MAX);
}

static sim_time end_of(const struct why_step *step)
{
	return step->hop ? step->arrived : step->sent;
}

/* Charges a worker's wait for a result. The packet that arrives now has brought the result.
 * `chunks`: those of which it is one that has had this trouble; NULL = it is of a stream. */
static void charge(struct why_job *job, uint32_t worker, const struct why_chunks *chunks,
		   enum why_trouble trouble)
{
	struct why *why = job->why;
	struct why_account *account = &job->accounts[worker];
	sim_time now = why->net->sim->now;
	struct walk walk = { .why = why,
			     .job = job,
			     .account = account,
			     .worker = worker,
			     .left = now - account->until,
			     .trouble = trouble,
			     .timed_out = chunks ? chunks->timed_out : 0 };
	uint32_t step = why->current.step;

	if (account->busy || !walk.left)
		return;
	if (step)
		take(&walk, WHY_WIRE, why->current.wire);
	for (; step && walk.left; step = why->steps[step].previous) {
		const struct why_step *at = &why->steps[step];

		if (at->hop)
			take_hop(&walk, at);
		else
			take_begin(&walk, at);
		if (at->hop || !at->previous || at->silent)
			continue;
		if (at->inside)
			walk.inside += at->ready - end_of(&why->steps[at->previous]);
		else
			take(&walk, WHY_SERVER, at->ready - end_of(&why->steps[at->previous]));
	}
	take(&walk, WHY_INSIDE, walk.inside);
	take(&walk, WHY_WIRE, walk.travel);
	take(&walk, walk.detour || walk.trouble ? trouble_of(&walk) : WHY_UNEXPLAINED,
	     SIM_TIME_MAX);
	book(job, account, now, walk.cause);
}

void why_charge(struct why_job *job, uint32_t worker)
{
	charge(job, worker, NULL, WHY_NO_TROUBLE);
}

/* --- where workers are --- */

static struct why_places *places_of(const struct why_job *job, uint32_t instance)
{
	return &job->places[instance % job->why->instances];
}

static void free_places(struct why *why, struct why_places *places)
{
	for (uint32_t i = 0; i < places->count; i++)
		why_step_release(why, places->places[i].way);
	free(places->places);
	free(places->by_host);
	*places = (struct why_places){ 0 };
}

static int by_host(const void *a, const void *b)
{
	const struct why_place *x = *(struct why_place *const *)a,
			       *y = *(struct why_place *const *)b;

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return x < y ? -1 : x > y;
}

void why_places(const struct network *net, uint32_t instance, uint32_t workers,
		const uint32_t *hosts, const uint32_t *members)
{
	struct why *why = why_of(net);
	struct why_job *job = why ? why_job_of(why, instance) : NULL;
	struct why_places *places;

	if (!job)
		return;
	places = places_of(job, instance);
	free_places(why, places);
	places->count = workers;
	places->places = xcalloc(workers, sizeof(*places->places));
	places->by_host = xcalloc(workers, sizeof(struct why_place *));
	for (uint32_t w = 0; w < workers; w++) {
		places->places[w].host = hosts[w];
		places->places[w].worker = members ? members[w] : w;
		places->by_host[w] = &places->places[w];
	}
	qsort(places->by_host, workers, sizeof(struct why_place *), by_host);
}

struct why_place *why_place_at(const struct why_job *job, uint32_t instance, uint32_t host)
{
	const struct why_places *places = places_of(job, instance);
	uint32_t first = 0, end = places->count;

	while (first < end) {
		uint32_t middle = first + (end - first) / 2;

		if (places->by_host[middle]->host < host)
			first = middle + 1;
		else
			end = middle;
	}
	return first < places->count && places->by_host[first]->host == host
		       ? places->by_host[first]
		       : NULL;
}

uint32_t why_worker_at(const struct why_job *job, uint32_t instance, uint32_t host)
{
	const struct why_place *place = why_place_at(job, instance, host);

	if (places_of(job, instance)->count)
		return place ? place->worker : WHY_NONE;
	return job->worker_of_host[host];
}

void why_leads(const struct network *net, uint32_t from, uint32_t to)
{
	struct why *why = why_of(net);

	if (!why)
		return;
	why->from = from;
	why->to = to;
}

/* --- jobs --- */

uint32_t why_part(struct why_job *job, const char *name, bool bubble)
{
	if (!job)
		return 0;
	for (uint32_t p = 0; p < job->part_count; p++)
		if (!strcmp(job->parts[p].name, name))
			return p;
	job->parts = xrealloc(job->parts, job->part_count + 1, sizeof(*job->parts));
	job->parts[job->part_count] = (struct why_part){ .name = xstrdup(name), .bubble = bubble };
	job->bubbles |= bubble;
	return job->part_count++;
}

static void free_accounts(struct why_job *job)
{
	for (uint32_t w = 0; w < job->workers; w++)
		free(job->accounts[w].part);
	free(job->accounts);
	for (uint32_t p = 0; p < job->part_count; p++)
		free((char *)job->parts[p].name);
	free(job->parts);
}

void why_job_end(struct why_job *job)
{
	struct why *why;

	if (!job)
		return;
	why = job->why;
	why->jobs[job->number] = NULL;
	free(job->before.volumes);
	for (struct why_chunks *next, *chunks = job->chunks; chunks; chunks = next) {
		next = chunks->next;
		free(chunks);
	}
	for (unsigned p = 0; p < NET_PROTOCOLS; p++)
		for (size_t f = 0; f < why->flow_count[p]; f++)
			if (why->flows[p][f].job == job)
				why->flows[p][f].job = NULL;
	for (uint32_t i = 0; i < why->instances; i++)
		free_places(why, &job->places[i]);
	free(job->places);
	free(job->hosts);
	free(job->worker_of_host);
	free_accounts(job);
	free(job);
}

/* Makes room for entry `number` of a list; new entries are zero. Returns the list. */
static void *reach(void *list, size_t *capacity, size_t number, size_t size)
{
	size_t old = *capacity;

	if (number < old)
		return list;
	*capacity = number + number / 2 + 8;
	list = xrealloc(list, *capacity, size);
	memset((char *)list + old * size, 0, (*capacity - old) * size);
	return list;
}

struct why_job *why_job_admit(const struct network *net, uint32_t number, const char *name,
			      const char *scheme, uint32_t workers, const uint32_t *hosts,
			      uint64_t iterations)
{
	struct why *why = why_of(net);
	struct why_job *job;

	if (!why)
		return NULL;
	job = xcalloc(1, sizeof(*job));
	if (number < why->job_capacity)
		why_job_end(why->jobs[number]);
	why->jobs = reach(why->jobs, &why->job_capacity, number, sizeof(*why->jobs));
	why->jobs[number] = job;
	why->names = reach(why->names, &why->name_capacity, number, sizeof(*why->names));
	free(why->names[number]);
	why->names[number] = xstrdup(name);
	*job = (struct why_job){ .why = why,
				 .number = number,
				 .workers = workers,
				 .name = why->names[number],
				 .scheme = scheme,
				 .iterations = iterations };
	job->hosts = xcalloc(workers, sizeof(*job->hosts));
	memcpy(job->hosts, hosts, workers * sizeof(*hosts));
	job->worker_of_host = xcalloc(why->net->hosts, sizeof(*job->worker_of_host));
	memset(job->worker_of_host, 0xff, /* WHY_NONE */
	       why->net->hosts * sizeof(*job->worker_of_host));
	for (uint32_t w = workers; w--;) /* the first of a host */
		job->worker_of_host[hosts[w]] = w;
	job->accounts = xcalloc(workers, sizeof(*job->accounts));
	job->places = xcalloc(why->instances, sizeof(*job->places));
	why_part(job, "own", false); /* WHY_PART_OWN and WHY_PART_OTHER */
	why_part(job, "other", false);
	if (why->listener)
		why->listener->job(why->listener->owner, number, name, workers, hosts);
	return job;
}

static void begin_iteration(struct why_job *job)
{
	job->rows = 0;
	for (uint32_t p = 0; p < job->part_count; p++)
		memset(job->parts[p].cause, 0, sizeof(job->parts[p].cause));
	job->since = job->why->net->sim->now;
	why_snapshot(job->why, &job->before);
}

void why_moves(struct why_job *job, uint32_t worker, uint32_t host)
{
	if (!job)
		return;
	job->hosts[worker] = host;
	job->worker_of_host[host] = worker;
}

void why_job_begin(struct why_job *job)
{
	if (!job)
		return;
	begin_iteration(job);
	for (uint32_t w = 0; w < job->workers; w++) {
		struct why_account *account = &job->accounts[w];

		account->begin = account->until = account->waited = job->since;
		account->part = xcalloc(job->part_count, sizeof(*account->part));
	}
}

void why_task(struct why_job *job, uint32_t worker, bool computes, bool ends)
{
	struct why_account *account;

	if (!job)
		return;
	account = &job->accounts[worker];
	if (ends) {
		account->worked = job->worked = job->why->net->sim->now;
		book_one(job, account, account->worked, account->task);
		assign(job, account, WHY_PART_OWN);
		account->straggled = 0;
	} else {
		charge(job, worker, NULL, WHY_NO_TROUBLE);
		assign(job, account, WHY_PART_OTHER);
	}
	account->busy = !ends;
	account->task = computes ? WHY_COMPUTE : WHY_JITTER;
}

void why_begins_anew(struct why_job *job)
{
	for (uint32_t w = 0; job && w < job->workers; w++)
		if (!job->accounts[w].busy)
			book_one(job, &job->accounts[w], job->why->net->sim->now, WHY_FAILURE);
}

void why_contributes(struct why_job *job, uint32_t worker)
{
	const struct why_listener *listener;

	if (!job)
		return;
	listener = job->why->listener;
	if (listener)
		listener->tensor(listener->owner, job->number, worker, false);
}

void why_stream(struct why_job *job, uint32_t worker, uint32_t stream, bool ends)
{
	if (job && job->why->listener)
		job->why->listener->stream(job->why->listener->owner, job->number, worker, stream,
					   ends);
}

static void tell_part(const struct why_job *job, uint32_t worker, uint32_t part, bool ends)
{
	const struct why_listener *listener = job->why->listener;

	if (listener && job->part_count > WHY_PARTS + 1)
		listener->part(listener->owner, job->number, worker, part, job->parts[part].name,
			       ends);
}

void why_takes_part(struct why_job *job, uint32_t worker, uint32_t part)
{
	if (job)
		tell_part(job, worker, part, false);
}

void why_got(struct why_job *job, uint32_t worker, uint32_t part)
{
	if (!job)
		return;
	charge(job, worker, NULL, WHY_NO_TROUBLE);
	if (!job->accounts[worker].busy)
		assign(job, &job->accounts[worker], part);
	tell_part(job, worker, part, true);
}

static struct why_chunks *add_chunks(struct why_job *job, uint8_t protocol, uint32_t instance,
				     const uint32_t *members)
{
	struct why_chunks *chunks = xcalloc(1, sizeof(*chunks));

	*chunks = (struct why_chunks){ job, job->chunks, protocol, instance, members, 0 };
	job->chunks = chunks;
	return chunks;
}

/* The number in its job of a worker of the instance. */
static uint32_t worker_of(const struct why_chunks *chunks, uint32_t worker)
{
	return chunks->members ? chunks->members[worker] : worker;
}

void why_hands_over(struct why_chunks *chunks, uint32_t worker)
{
	struct why_place *place;
	struct why *why;

	if (!chunks)
		return;
	why = chunks->job->why;
	if (worker >= places_of(chunks->job, chunks->instance)->count)
		return; /* the instance has started without why_places() */
	place = &places_of(chunks->job, chunks->instance)->places[worker];
	place->handed = why->net->sim->now;
	why_step_release(why, place->way);
	place->way = 0;
	if (why->current.step && why->current.worked && why->current.worker == place->worker)
		place->way = why_step_use(why, why->current.step);
}

/* Tells the listener of a sum that has come now, and who sent the packet that completed it. */
static void tell_last(const struct why *why, uint32_t number, uint32_t worker)
{
	const struct why_listener *listener = why->listener;
	uint32_t step = why->current.step;

	listener->tensor(listener->owner, number, worker, true);
	while (step && (why->steps[step].hop || why->steps[step].place == WHY_NONE))
		step = why->steps[step].previous;
	if (step && !why->steps[step].pushed)
		listener->last(listener->owner, number, worker, why->steps[step].place,
			       why->steps[step].sent);
}

/* Adds an account's parts to the job's, or the time from its end to the job's. */
static void add_parts(struct why_job *job, struct why_account *account)
{
	for (uint32_t p = 0; p < job->part_count; p++)
		for (unsigned c = 0; c < WHY_CAUSES; c++)
			job->parts[p].cause[c] += account->part[p][c];
	memset(account->part, 0, job->part_count * sizeof(*account->part));
}

static void add_ends(struct why_job *job, sim_time now)
{
	struct why_part *other = &job->parts[WHY_PART_OTHER];

	for (uint32_t w = 0; w < job->workers; w++)
		other->cause[job->bubbles ? WHY_BUBBLE : WHY_STRAGGLER] +=
			now - job->accounts[w].begin;
}

static void end_iteration(struct why_job *job, uint32_t worker)
{
	struct why *why = job->why;
	struct why_account *account = &job->accounts[worker];
	sim_time now = why->net->sim->now;
	struct why_row row = { .job = job->number,
			       .worker = worker,
			       .host = job->hosts[worker],
			       .name = job->name,
			       .scheme = job->scheme,
			       .iteration = account->iteration,
			       .begin = account->begin,
			       .end = now };

	if (account->busy)
		book_one(job, account, now, account->task);
	assign(job, account, account->busy ? WHY_PART_OWN : WHY_PART_OTHER);
	add_parts(job, account);
	account->begin = now;
	memcpy(row.cause, account->cause, sizeof(row.cause));
	row.peer = top(account->peers);
	row.link = top(account->links);
	row.rival = top(account->rivals);
	if (++job->rows == job->workers) { /* none ends the next iteration before that */
		row.since = job->since;
		row.before = &job->before;
		if (++job->ended == job->iterations)
			add_ends(job, now);
		row.parts = job->parts;
		row.part_count = job->part_count;
	}
	why->row(why->owner, &row);
	if (row.before)
		begin_iteration(job);
	account->iteration++;
	memset(account->cause, 0, sizeof(account->cause));
	memset(account->links, 0, sizeof(account->links));
	memset(account->peers, 0, sizeof(account->peers));
	memset(account->rivals, 0, sizeof(account->rivals));
}

void why_holds(struct why_job *job, uint32_t worker)
{
	if (!job)
		return;
	charge(job, worker, NULL, WHY_NO_TROUBLE);
	if (job->why->listener)
		tell_last(job->why, job->number, worker);
}

void why_iterates(struct why_job *job, uint32_t worker)
{
	if (!job)
		return;
	charge(job, worker, NULL, WHY_NO_TROUBLE);
	end_iteration(job, worker);
}

void why_reopens(const struct network *net)
{
	struct why *why = why_of(net);

	if (!why)
		return;
	why->reopened = array_reserve(why->reopened, why->reopened_count, &why->reopened_capacity,
				      sizeof(*why->reopened));
	why->reopened[why->reopened_count++] = net->sim->now;
}

/* --- schemes --- */

struct why_chunks *why_join(const struct network *net, uint32_t number, const uint32_t *members,
			    uint8_t protocol, uint32_t flow, struct why_bypass bypass)
{
	struct why *why = why_of(net);
	struct why_job *job = why ? why_job_of(why, number) : NULL;
	struct why_chunks *chunks = job ? add_chunks(job, protocol, number, members) : NULL;

	if (!why)
		return NULL;
	why->flows[protocol] = reach(why->flows[protocol], &why->flow_count[protocol], flow,
				     sizeof(*why->flows[protocol]));
	why->flows[protocol][flow] =
		(struct why_flow){ job, chunks, number / why->instances + 1, bypass };
	return chunks;
}

void why_result(struct why_chunks *chunks, uint32_t worker, uint64_t chunk)
{
	struct why_job *job;

	if (!chunks)
		return;
	job = chunks->job;
	charge(job, worker_of(chunks, worker), chunks,
	       why_trouble_of(job->why, job->number, chunks->protocol, chunk));
}

void why_timed_out(struct why_chunks *chunks)
{
	if (chunks)
		chunks->timed_out = chunks->job->why->net->sim->now;
}

void why_fetched(struct why_chunks *chunks, uint64_t chunk)
{
	if (chunks)
		why_note_trouble(chunks->job->why, chunks->job->number, chunks->protocol, chunk,
				 WHY_LOST_TIMED);
}

void why_window(struct why_chunks *chunks, uint32_t worker, enum why_cut cut)
{
	if (chunks)
		chunks->job->accounts[worker_of(chunks, worker)].cut = cut;
}

/* --- transports --- */

/* Forgets the writes that end at or before `end`. */
static void forget_writes(struct why *why, struct why_connection *conn, uint64_t end)
{
	for (; conn->oldest < conn->written; conn->oldest++) {
		const struct why_write *write = &conn->writes[conn->oldest & conn->mask];

		if (write->end > end)
			break;
		why_step_release(why, write->step);
	}
}

static void free_connection(struct why_connection *conn)
{
	if (conn)
		free(conn->writes);
	free(conn);
}

void why_connection(struct why *why, const struct why_conn *conn)
{
	struct why_connection *known;
	const struct why_job *job;
	struct why_number *number;

	why->conns[conn->protocol] =
		reach(why->conns[conn->protocol], &why->conn_capacity[conn->protocol], conn->number,
		      sizeof(*why->conns[0]));
	number = &why->conns[conn->protocol][conn->number];
	known = number->conn;
	if (known)
		forget_writes(why, known, UINT64_MAX);
	free_connection(known);
	if (conn->stream == WHY_FLOW) {
		*number = (struct why_number){ .owner = WHY_FLOWS | why->group };
		return;
	}
	known = xmalloc(sizeof(*known));
	*number = (struct why_number){ conn->job / why->instances + 1, known };
	*known = (struct why_connection){ .conn = *conn, .from = why->from, .to = why->to };
	job = why_job_of(why, conn->job);
	if (why->from == WHY_NONE && job) {
		known->from = why_worker_at(job, conn->job, conn->src);
		known->to = why_worker_at(job, conn->job, conn->dst);
	}
	why->from = why->to = WHY_NONE;
}

/* The step of the packet that caused a write. 0 if no packet did, or if the worker's account says
 * why it writes. A packet is the cause of
 *   - a server's write;
 *   - a write by a worker that passes on what it got, or is asked for something;
 *   - a write on a ring or to a server while the worker computes, or while the packet is at another
 *     node: only now can the receiver take the message. Such a way may not grow without end: see
 * WHY_RELAYS. */
static uint32_t cause_of_write(const struct why *why, const struct why_connection *known)
{
	const struct why_conn *conn = &known->conn;
	struct why_job *job = why_job_of(why, conn->job);
	uint32_t worker = known->from;
	bool server = worker == WHY_NONE;
	bool here = server || why->current.worker == WHY_NONE ? why->current.node == conn->src
							      : why->current.worker == worker;

	if (!why->current.step)
		return 0;
	if (conn->stream == WHY_RING || conn->stream == WHY_PUSH) {
		if (here)
			charge(job, worker, NULL, WHY_NO_TROUBLE); /* up to this write */
		if (here && !job->accounts[worker].busy)
			return 0;
		return why->steps[why->current.step].depth < WHY_RELAYS ? why->current.step : 0;
	}
	if (!here)
		return 0;
	if (conn->stream == WHY_PULL || conn->stream == WHY_HANDOFF ||
	    (conn->stream == WHY_RECOVERY && (server || !why->current.chunk)))
		return why->current.step;
	return 0;
}

void why_writes(struct why *why, uint8_t protocol, uint32_t number, uint64_t end)
{
	struct why_connection *conn = why_connection_of(why, protocol, number);
	struct why_write *write;

	if (!conn || !why_job_of(why, conn->conn.job))
		return;
	forget_writes(why, conn, *conn->conn.acked);
	conn->writes = ring_reserve(conn->writes, &conn->mask, conn->oldest, conn->written,
				    sizeof(*conn->writes));
	write = &conn->writes[conn->written++ & conn->mask];
	*write = (struct why_write){ .end = end,
				     .at = why->net->sim->now,
				     .previous = conn->wrote,
				     .answers = why->current.step != 0 };
	conn->wrote = write->at;
	write->step = why_step_use(why, cause_of_write(why, conn));
}

void why_delivered(struct why *why, uint8_t protocol, uint32_t number)
{
	const struct why_connection *conn = why_connection_of(why, protocol, number);
	struct why_job *job = conn ? why_job_of(why, conn->conn.job) : NULL;

	if (job && (conn->conn.stream == WHY_RING || conn->conn.stream == WHY_PULL))
		charge(job, conn->to, NULL, WHY_NO_TROUBLE);
}

/* --- set-up --- */

void why_set_instances(const struct network *net, uint32_t instances)
{
	if (why_of(net))
		why_of(net)->instances = instances;
}

struct why *why_open(struct network *net, void (*row)(void *owner, const struct why_row *row),
		     void *owner)
{
	struct why *why = xcalloc(1, sizeof(*why));

	why->net = net;
	why->instances = 1;
	why->from = why->to = WHY_NONE;
	why->row = row;
	why->owner = owner;
	why_trail_open(why);
	network_look_on(net, &why->onlooker);
	return why;
}

void why_listen(struct why *why, const struct why_listener *listener)
{
	why->listener = listener;
}

const char *why_job_name(const struct why *why, uint32_t job)
{
	return why->names[job];
}

void why_flow_opens(struct why *why, uint32_t group)
{
	why->group = group;
}

void why_flow_over(struct why *why, uint32_t src, uint32_t dst, bytes size, sim_time start)
{
	if (why->listener)
		why->listener->flow(why->listener->owner, src, dst, size, start);
}

struct sim_observer *why_observer(struct why *why)
{
	return &why->observer;
}

void why_free(struct why *why)
{
	if (!why)
		return;
	for (size_t i = 0; i < why->job_capacity; i++)
		why_job_end(why->jobs[i]);
	for (unsigned p = 0; p < NET_PROTOCOLS; p++) {
		for (size_t i = 0; i < why->conn_capacity[p]; i++)
			free_connection(why->conns[p][i].conn);
		free(why->conns[p]);
		free(why->flows[p]);
	}
	why->net->onlooker = NULL;
	for (size_t i = 0; i < why->name_capacity; i++)
		free(why->names[i]);
	free(why->names);
	free(why->reopened);
	free(why->jobs);
	why_trail_free(why);
	free(why);
}
