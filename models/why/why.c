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
	[WHY_QUEUE_OWN] = "queue_own",
	[WHY_QUEUE_JOBS] = "queue_jobs",
	[WHY_QUEUE_FLOWS] = "queue_flows",
	[WHY_PAUSE] = "pause",
	[WHY_STRAGGLER] = "straggler",
	[WHY_SERVER] = "server",
	[WHY_NO_AGGREGATOR] = "no_aggregator",
	[WHY_TIMEOUT] = "timeout",
	[WHY_FAST] = "fast",
	[WHY_FAILURE] = "failure",
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
		account->cause[c] += cause[c];
		sum += cause[c];
	}
	account->straggled += cause[WHY_STRAGGLER];
	SIM_BUG_ON(sum != now - account->until);
	if (listener)
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

/* --- back along the way of a result --- */

struct walk {
	struct why *why;
	const struct why_job *job;
	struct why_account *account;
	uint32_t worker;
	sim_time left;            /* to be charged */
	sim_time travel;          /* time on links, on the whole way */
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

/* Charges what another worker did from `begin` to `end`, the latest first, and its time on the wire
 * last. While the other worker computed, or waited for one who did, this one waited for a
 * straggler. */
static void take_from(struct walk *walk, uint32_t worker, sim_time begin, sim_time end)
{
	const struct why_account *other = &walk->job->accounts[worker];
	sim_time before = walk->left, wire = 0;

	for (uint32_t i = other->logged; i-- && walk->left;) {
		const struct why_charge *charge = &other->log[i];
		sim_time from = max(charge->begin, begin), to = min(charge->end, end);
		sim_time part = to > from ? to - from : 0, whole = charge->end - charge->begin;

		if (charge->end <= begin)
			break;
		wire += part;
		for (unsigned c = 0; c < WHY_CAUSES && part; c++) {
			sim_time time = share(charge->cause[c], part, whole);

			if (c <= WHY_JITTER || c == WHY_STRAGGLER)
				wire -= take(walk, WHY_STRAGGLER, min(time, may_straggle(walk)));
			else if (c != WHY_WIRE)
				wire -= take(walk, c, time);
		}
	}
	take(walk, WHY_WIRE, wire);
	if (before > walk->left)
		tally(walk->account->peers, worker, before - walk->left);
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
		take(walk, resent_for(walk, step->timed),
		     step->first == SIM_TIME_MAX ? SIM_TIME_MAX : step->sent - step->first);
	if (step->stream && sent > max(since, step->ready))
		take_turn(walk, step, sent - max(since, step->ready));
	if (step->silent && step->ready > since)
		take(walk, WHY_TIMEOUT,
		     step->ready - max(since, walk->why->steps[step->previous].sent));
	if (step->recovery) {
		take(walk, resent_for(walk, step->timed), SIM_TIME_MAX);
		return;
	}
	if (step->place == WHY_NONE)
		return;
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
		if (!at->hop && at->previous && !at->silent)
			take(&walk, WHY_SERVER, at->ready - end_of(&why->steps[at->previous]));
	}
	take(&walk, WHY_WIRE, walk.travel);
	take(&walk, walk.detour || walk.trouble ? trouble_of(&walk) : WHY_UNEXPLAINED,
	     SIM_TIME_MAX);
	book(job, account, now, walk.cause);
}

/* --- jobs --- */

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
	free(job->hosts);
	free(job->worker_of_host);
	free(job->accounts);
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
			      const char *scheme, uint32_t workers, const uint32_t *hosts)
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
				 .scheme = scheme };
	job->hosts = xcalloc(workers, sizeof(*job->hosts));
	memcpy(job->hosts, hosts, workers * sizeof(*hosts));
	job->worker_of_host = xcalloc(why->net->hosts, sizeof(*job->worker_of_host));
	memset(job->worker_of_host, 0xff, /* WHY_NONE */
	       why->net->hosts * sizeof(*job->worker_of_host));
	for (uint32_t w = 0; w < workers; w++)
		job->worker_of_host[hosts[w]] = w;
	job->accounts = xcalloc(workers, sizeof(*job->accounts));
	if (why->listener)
		why->listener->job(why->listener->owner, number, name, workers, hosts);
	return job;
}

static void begin_iteration(struct why_job *job)
{
	job->rows = 0;
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
	for (uint32_t w = 0; w < job->workers; w++)
		job->accounts[w].begin = job->accounts[w].until = job->since;
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
		account->straggled = 0;
	} else {
		charge(job, worker, NULL, WHY_NO_TROUBLE);
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
	job->accounts[worker].handed = job->why->net->sim->now;
	if (listener)
		listener->tensor(listener->owner, job->number, worker, false);
}

static struct why_chunks *add_chunks(struct why_job *job, uint8_t protocol, const uint32_t *members)
{
	struct why_chunks *chunks = xcalloc(1, sizeof(*chunks));

	*chunks = (struct why_chunks){ job, job->chunks, protocol, members, 0 };
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
	if (chunks)
		chunks->job->accounts[worker_of(chunks, worker)].handed =
			chunks->job->why->net->sim->now;
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
	memcpy(row.cause, account->cause, sizeof(row.cause));
	row.peer = top(account->peers);
	row.link = top(account->links);
	row.rival = top(account->rivals);
	if (++job->rows == job->workers) { /* none ends the next iteration before that */
		row.since = job->since;
		row.before = &job->before;
	}
	why->row(why->owner, &row);
	if (row.before)
		begin_iteration(job);
	account->iteration++;
	account->begin = now;
	memset(account->cause, 0, sizeof(account->cause));
	memset(account->links, 0, sizeof(account->links));
	memset(account->peers, 0, sizeof(account->peers));
	memset(account->rivals, 0, sizeof(account->rivals));
}

void why_holds(struct why_job *job, uint32_t worker, bool last)
{
	if (!job)
		return;
	charge(job, worker, NULL, WHY_NO_TROUBLE);
	if (job->why->listener)
		tell_last(job->why, job->number, worker);
	if (last)
		end_iteration(job, worker);
}

/* --- schemes --- */

struct why_chunks *why_join(const struct network *net, uint32_t number, const uint32_t *members,
			    uint8_t protocol, uint32_t flow, struct why_bypass bypass)
{
	struct why *why = why_of(net);
	struct why_job *job = why ? why_job_of(why, number) : NULL;
	struct why_chunks *chunks = job ? add_chunks(job, protocol, members) : NULL;

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
	*known = (struct why_connection){ .conn = *conn };
}

/* The step of the packet that caused a write. 0 if no packet did, or if the worker's account says
 * why it writes. A packet is the cause of
 *   - a server's write;
 *   - a write by a worker that passes on what it got, or is asked for something;
 *   - a write on a ring or to a server while the worker computes, or while the packet is at another
 *     node: only now can the receiver take the message. Such a way may not grow without end: see
 * WHY_RELAYS. */
static uint32_t cause_of_write(const struct why *why, const struct why_conn *conn)
{
	struct why_job *job = why_job_of(why, conn->job);
	uint32_t worker = job->worker_of_host[conn->src];
	bool server = worker == WHY_NONE, here = why->current.node == conn->src;

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
	write->step = why_step_use(why, cause_of_write(why, &conn->conn));
}

void why_delivered(struct why *why, uint8_t protocol, uint32_t number)
{
	const struct why_connection *conn = why_connection_of(why, protocol, number);
	struct why_job *job = conn ? why_job_of(why, conn->conn.job) : NULL;

	if (job && (conn->conn.stream == WHY_RING || conn->conn.stream == WHY_PULL))
		charge(job, job->worker_of_host[conn->conn.dst], NULL, WHY_NO_TROUBLE);
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
	free(why->jobs);
	why_trail_free(why);
	free(why);
}
