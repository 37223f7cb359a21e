/* Tracks:
 *
 *   job       for each worker: slices (computing, or the cause of waiting), the number of tensors
 *             in exchange, and an instant for each sum, with an arrow from its last contribution;
 *             below it what takes time on each stream but the first, and, where ranks exchange
 *             several things, each group's exchanges
 *   switch    aggregator memory in use; collisions and preemptions as instants
 *   link      queue, marks and PAUSE
 *   flows     by sender
 *   failures  a slice while something is down
 *
 * The slices of a worker are charges of models/why: they cover its time without gaps, and the
 * slices of computing add up to the time in the tables. A charge with several causes counts as the
 * largest of them. Successive charges with the same cause are one slice. */
#include "run/timeline.h"

#include "base/home.h"
#include "base/input.h"
#include "base/mem.h"
#include "base/plain.h"
#include "data/trace.h"
#include "net/lossless.h"
#include "run/failures.h"
#include "run/simulation_state.h"
#include "run/switch_watch.h"
#include "topo/links.h"
#include "why/why.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_MAX      100000 /* bytes of the page's template */
#define LANE_NAME_MAX 60     /* most bytes of a job's name in the name of its track */

/* A stream, or a part (why.h) of what a rank exchanges. */
struct use_lane {
	uint64_t track; /* 0: none yet */
	uint32_t busy;  /* how many things are under way */
	sim_time since;
	const char *name; /* of its slices; lives as long as the job */
};

struct use_lanes {
	struct use_lane *lanes; /* owned */
	uint32_t count;
};

struct worker_lane {
	uint64_t track, tensors; /* tracks */
	struct use_lanes streams, parts;
	uint64_t exchanged; /* tensors in exchange now */
	/* Of the present slice: */
	enum why_cause cause;
	sim_time begin, end;
};

struct job_lane {
	struct worker_lane *workers; /* NULL until the job is admitted; owned */
	uint32_t count;              /* of those that are shown, the first ones */
};

struct switch_lane {
	uint64_t track, used; /* tracks; 0: none yet */
	uint64_t bytes;       /* last value of `used` */
};

struct link_lane {
	uint64_t queue, marks, pause; /* tracks; 0 if output.series.links lacks the link */
	uint64_t bytes, marked;       /* last values: bytes in the queue, total marks */
	sim_time paused;              /* last value: total time */
};

/* Overlapping flows of a sender have a track each. */
struct flow_lanes {
	struct flow_lane {
		uint64_t track;
		sim_time end; /* of the track's last flow */
	} * lanes;
	size_t count, capacity;
};

struct timeline {
	struct simulation *s;
	struct trace *trace;
	struct time_span span;
	struct job_lane *jobs; /* by number; disabled jobs have numbers, too */
	size_t job_count;
	uint32_t ranks, ranks_left_out;
	struct switch_lane *switches; /* by number */
	struct link_lane *links;      /* by port */
	struct flow_lanes *flows;     /* by host */
	uint32_t *touched;            /* ports with tracks to which this event adds packets */
	size_t touched_count, touched_capacity;
	uint64_t switch_root, flow_root;
	uint64_t arrows;
	struct why_listener listener;
	struct sim_observer observer;
	/* Of the present event: */
	uint32_t sw, job;        /* of its packet; UINT32_MAX: none */
	struct switch_seen seen; /* state of `sw` before the event */
};

static sim_time now_of(const struct timeline *t)
{
	return t->s->sim.now;
}

/* --- workers --- */

static void end_slice(struct timeline *t, const struct worker_lane *lane)
{
	sim_time begin = lane->begin > t->span.from ? lane->begin : t->span.from;
	sim_time end = lane->end < t->span.to ? lane->end : t->span.to;

	if (end > begin)
		trace_slice(t->trace, lane->track, why_cause_names[lane->cause], begin, end);
}

static void end_use(struct timeline *t, const struct use_lane *lane)
{
	sim_time begin = lane->since > t->span.from ? lane->since : t->span.from;
	sim_time end = now_of(t) < t->span.to ? now_of(t) : t->span.to;

	if (end > begin)
		trace_slice(t->trace, lane->track, lane->name, begin, end);
}

/* Something begins or ends at a lane of a worker. */
static void use(struct timeline *t, uint64_t parent, struct use_lanes *lanes, uint32_t number,
		const char *track, const char *name, bool ends)
{
	struct use_lane *lane;

	while (lanes->count <= number) {
		lanes->lanes = xrealloc(lanes->lanes, lanes->count + 1, sizeof(*lanes->lanes));
		lanes->lanes[lanes->count++] = (struct use_lane){ 0 };
	}
	lane = &lanes->lanes[number];
	if (!lane->track)
		lane->track = trace_track(t->trace, parent, track, NULL);
	lane->name = name;
	if (!ends && !lane->busy++)
		lane->since = now_of(t);
	else if (ends && !--lane->busy)
		end_use(t, lane);
}

static void end_uses(struct timeline *t, struct use_lanes *lanes)
{
	for (uint32_t i = 0; i < lanes->count; i++)
		if (lanes->lanes[i].busy)
			end_use(t, &lanes->lanes[i]);
	free(lanes->lanes);
}

static void end_job(struct timeline *t, struct job_lane *job)
{
	for (uint32_t w = 0; w < job->count; w++) {
		end_slice(t, &job->workers[w]);
		end_uses(t, &job->workers[w].streams);
		end_uses(t, &job->workers[w].parts);
	}
	free(job->workers);
	*job = (struct job_lane){ 0 };
}

static struct job_lane *job_of(struct timeline *t, uint32_t number)
{
	if (number >= t->job_count) {
		t->jobs = xrealloc(t->jobs, (size_t)number + 1, sizeof(*t->jobs));
		memset(&t->jobs[t->job_count], 0, (number + 1 - t->job_count) * sizeof(*t->jobs));
		t->job_count = (size_t)number + 1;
	}
	return &t->jobs[number];
}

static void on_job(void *owner, uint32_t number, const char *name, uint32_t workers,
		   const uint32_t *hosts)
{
	struct timeline *t = owner;
	struct job_lane *job = job_of(t, number);
	char text[96];
	uint64_t track;

	if (job->workers)
		return; /* reported before, when the job had to wait for switch memory */
	snprintf(text, sizeof(text), "job %" PRIu32 " %.*s", number,
		 (int)plain_letter(name, strnlen(name, LANE_NAME_MAX)), name);
	track = trace_track(t->trace, 0, text, NULL);
	job->count = TIMELINE_RANKS - t->ranks < workers ? TIMELINE_RANKS - t->ranks : workers;
	t->ranks += job->count;
	t->ranks_left_out += workers - job->count;
	job->workers = xcalloc(workers, sizeof(*job->workers));
	for (uint32_t w = 0; w < job->count; w++) {
		snprintf(text, sizeof(text), "worker %" PRIu32 " (host %" PRIu32 ")", w, hosts[w]);
		job->workers[w].track = trace_track(t->trace, track, text, NULL);
		job->workers[w].tensors = trace_track(t->trace, job->workers[w].track,
						      "tensors in exchange", "tensors");
	}
}

static void on_charged(void *owner, uint32_t job, uint32_t worker, sim_time begin, sim_time end,
		       const sim_time cause[WHY_CAUSES])
{
	struct timeline *t = owner;
	struct worker_lane *lane = &t->jobs[job].workers[worker];
	enum why_cause max = WHY_COMPUTE;

	if (worker >= t->jobs[job].count)
		return;
	for (unsigned c = 0; c < WHY_CAUSES; c++)
		if (cause[c] > cause[max])
			max = (enum why_cause)c;
	if (lane->cause != max || lane->end != begin) {
		end_slice(t, lane);
		lane->cause = max;
		lane->begin = begin;
	}
	lane->end = end;
}

/* What the first stream does, the worker's own track shows. */
static void on_stream(void *owner, uint32_t job, uint32_t worker, uint32_t stream, bool ends)
{
	struct timeline *t = owner;
	struct worker_lane *lane = &t->jobs[job].workers[worker];
	char name[24];

	if (worker >= t->jobs[job].count || !stream)
		return;
	snprintf(name, sizeof(name), "stream %" PRIu32, stream);
	use(t, lane->track, &lane->streams, stream, name, "busy", ends);
}

static void on_part(void *owner, uint32_t job, uint32_t worker, uint32_t part, const char *name,
		    bool ends)
{
	struct timeline *t = owner;
	struct worker_lane *lane = &t->jobs[job].workers[worker];

	if (worker < t->jobs[job].count)
		use(t, lane->track, &lane->parts, part, name, name, ends);
}

static void on_tensor(void *owner, uint32_t job, uint32_t worker, bool held)
{
	struct timeline *t = owner;
	struct worker_lane *lane = &t->jobs[job].workers[worker];

	if (worker >= t->jobs[job].count)
		return;
	lane->exchanged = held ? lane->exchanged - 1 : lane->exchanged + 1;
	if (time_span_has(&t->span, now_of(t)))
		trace_count(t->trace, lane->tensors, now_of(t), lane->exchanged);
}

static void on_last(void *owner, uint32_t job, uint32_t worker, uint32_t last, sim_time sent)
{
	struct timeline *t = owner;
	const struct worker_lane *lanes = t->jobs[job].workers;
	uint64_t arrow = ++t->arrows;
	struct trace_mark from = {
		.name = "last contribution", .key = "to_worker", .value = worker, .arrow = arrow
	};
	struct trace_mark to = {
		.name = "sum", .key = "last_worker", .value = last, .arrow = arrow, .arrives = true
	};

	if (!time_span_has(&t->span, sent) || !time_span_has(&t->span, now_of(t)))
		return;
	if (worker >= t->jobs[job].count || last >= t->jobs[job].count)
		return;
	trace_instant(t->trace, lanes[last].track, sent, &from);
	trace_instant(t->trace, lanes[worker].track, now_of(t), &to);
}

/* --- links --- */

static void look_at_link(struct timeline *t, uint32_t port)
{
	struct link_lane *lane = &t->links[port];
	struct network *net = &t->s->topo.net;
	sim_time now = now_of(t);
	uint64_t queue, marked = net->cold[port].marks;

	if (!lane->queue || !time_span_has(&t->span, now))
		return;
	queue = network_queue_bytes(net, port);
	if (queue != lane->bytes)
		trace_count(t->trace, lane->queue, now, queue);
	if (marked != lane->marked)
		trace_count(t->trace, lane->marks, now, marked);
	if (net->lossless && lossless_paused(net, port) != lane->paused) {
		lane->paused = lossless_paused(net, port);
		trace_count(t->trace, lane->pause, now, lane->paused / PS_PER_NS);
	}
	lane->bytes = queue;
	lane->marked = marked;
}

/* Called before the packet is in the queue, so the queue is read at the end of the event. */
static void on_queued(void *owner, uint32_t port)
{
	struct timeline *t = owner;

	if (!t->links[port].queue)
		return;
	t->touched = array_reserve(t->touched, t->touched_count, &t->touched_capacity,
				   sizeof(*t->touched));
	t->touched[t->touched_count++] = port;
}

/* Makes the tracks of a link. */
static void add_link(struct timeline *t, uint32_t port)
{
	struct link_lane *lane = &t->links[port];
	char name[LINK_NAME], text[80];
	uint64_t track;

	if (lane->queue)
		return;
	snprintf(text, sizeof(text), "link %s", link_name(&t->s->topo, port, name));
	track = trace_track(t->trace, 0, text, NULL);
	lane->queue = trace_track(t->trace, track, "queue", "bytes");
	lane->marks = trace_track(t->trace, track, "marks", "packets");
	lane->pause = trace_track(t->trace, track, "stopped by PAUSE", "ns");
}

static void add_links(struct timeline *t)
{
	const struct conf_list *entries = &t->s->scenario->series.links;
	uint32_t *ports = xcalloc(t->s->topo.net.port_count, sizeof(*ports));

	for (size_t i = 0; i < entries->count; i++) {
		const struct series_links *links = entries->items;
		uint32_t count = series_ports(t->s, &links[i], ports);

		for (uint32_t p = 0; p < count; p++)
			add_link(t, ports[p]);
	}
	free(ports);
}

/* --- flows --- */

/* Finds or makes a track of this sender that is free from `start` on. */
static struct flow_lane *lane_of_flow(struct timeline *t, uint32_t src, sim_time start)
{
	struct flow_lanes *lanes = &t->flows[src];
	char text[32];

	for (size_t i = 0; i < lanes->count; i++)
		if (lanes->lanes[i].end <= start)
			return &lanes->lanes[i];
	if (!t->flow_root)
		t->flow_root = trace_track(t->trace, 0, "flows", NULL);
	lanes->lanes =
		array_reserve(lanes->lanes, lanes->count, &lanes->capacity, sizeof(*lanes->lanes));
	snprintf(text, sizeof(text), "from host %" PRIu32, src);
	lanes->lanes[lanes->count].track = trace_track(t->trace, t->flow_root, text, NULL);
	return &lanes->lanes[lanes->count++];
}

static void on_flow(void *owner, uint32_t src, uint32_t dst, bytes size, sim_time start)
{
	struct timeline *t = owner;
	sim_time begin = start > t->span.from ? start : t->span.from, end = now_of(t);
	struct flow_lane *lane;
	char text[64];

	if (end > t->span.to)
		end = t->span.to;
	if (end <= begin)
		return;
	lane = lane_of_flow(t, src, begin);
	lane->end = end;
	snprintf(text, sizeof(text), "to host %" PRIu32 ", %" PRIu64 " bytes", dst, size);
	trace_slice(t->trace, lane->track, text, begin, end);
}

/* --- switches --- */

/* Before a switch handles a PACKET_AGGREGATION: notes the job, the switch and its state. */
static void note_packet(struct timeline *t, const struct sim_event *event)
{
	const struct network *net = &t->s->topo.net;
	const struct packet *packet = port_head(&net->ports[event->entity]);
	uint32_t sw = switch_behind(net, event->entity);
	struct packet_about about;

	if (sw == UINT32_MAX || packet->kind != PACKET_AGGREGATION)
		return;
	t->sw = sw;
	if (packet_tells(net, packet, &about))
		t->job = about.job;
	switch_look(t->s, t->sw, &t->seen);
}

static void look_at_switch(struct timeline *t)
{
	struct switch_lane *lane = &t->switches[t->sw];
	struct switch_seen now;
	const struct trace_mark collision = { .name = "collision", .key = "job", .value = t->job };
	const struct trace_mark preemption = { .name = "preemption",
					       .key = "by_job",
					       .value = t->job };
	char text[32];

	switch_look(t->s, t->sw, &now);
	if (!lane->track) {
		if (!t->switch_root)
			t->switch_root = trace_track(t->trace, 0, "switches", NULL);
		topology_node_name(&t->s->topo, t->s->topo.net.hosts + t->sw, text, sizeof(text));
		lane->track = trace_track(t->trace, t->switch_root, text, NULL);
		lane->used = trace_track(t->trace, lane->track, "aggregators in use", "bytes");
	}
	if (now.used_bytes != lane->bytes)
		trace_count(t->trace, lane->used, now_of(t), now.used_bytes);
	lane->bytes = now.used_bytes;
	if (now.stats.collisions > t->seen.stats.collisions)
		trace_instant(t->trace, lane->track, now_of(t), &collision);
	if (now.stats.preemptions > t->seen.stats.preemptions)
		trace_instant(t->trace, lane->track, now_of(t), &preemption);
}

/* --- events --- */

static void before(void *owner, const struct sim_event *event)
{
	struct timeline *t = owner;

	t->sw = t->job = UINT32_MAX;
	if (event->entity < t->s->topo.net.port_count && time_span_has(&t->span, event->at))
		note_packet(t, event);
}

static void after(void *owner, const struct sim_event *event)
{
	struct timeline *t = owner;

	if (t->sw != UINT32_MAX)
		look_at_switch(t);
	if (event->entity < t->s->topo.net.port_count)
		look_at_link(t, event->entity);
	while (t->touched_count)
		look_at_link(t, t->touched[--t->touched_count]);
}

/* --- failures --- */

struct failure_lanes {
	struct timeline *t;
	uint64_t root, *tracks; /* `tracks`: by element; 0: none yet */
	size_t count;
};

static void on_failure(void *owner, const char *name, size_t element, sim_time failed,
		       sim_time repaired)
{
	struct failure_lanes *lanes = owner;
	struct timeline *t = lanes->t;
	sim_time begin = failed > t->span.from ? failed : t->span.from;
	sim_time end = repaired < t->span.to ? repaired : t->span.to;

	if (begin >= end)
		return;
	if (!lanes->root)
		lanes->root = trace_track(t->trace, 0, "failures", NULL);
	while (lanes->count <= element) {
		lanes->tracks = xrealloc(lanes->tracks, lanes->count + 1, sizeof(*lanes->tracks));
		lanes->tracks[lanes->count++] = 0;
	}
	if (!lanes->tracks[element])
		lanes->tracks[element] = trace_track(t->trace, lanes->root, name, NULL);
	trace_slice(t->trace, lanes->tracks[element], "down", begin, end);
}

/* --- opening, closing, writing --- */

struct timeline *timeline_open(struct simulation *s, const struct time_span *span)
{
	struct timeline *t = xcalloc(1, sizeof(*t));
	const struct network *net = &s->topo.net;

	*t = (struct timeline){
		.s = s,
		.trace = trace_new(TIMELINE_MAX),
		.span = *span,
		.switches = xcalloc(net->switches, sizeof(*t->switches)),
		.links = xcalloc(net->port_count, sizeof(*t->links)),
		.flows = xcalloc(net->hosts, sizeof(*t->flows)),
		.listener = { .job = on_job,
			      .charged = on_charged,
			      .tensor = on_tensor,
			      .last = on_last,
			      .stream = on_stream,
			      .part = on_part,
			      .queued = on_queued,
			      .flow = on_flow,
			      .owner = t },
		.observer = { .before = before, .after = after, .owner = t },
	};
	add_links(t);
	why_listen(why_of(net), &t->listener);
	simulation_observe(s, &t->observer);
	return t;
}

void timeline_close(struct timeline *t)
{
	struct failure_lanes lanes = { .t = t };

	failures_each(t->s->failures, on_failure, &lanes);
	free(lanes.tracks);
	for (size_t i = 0; i < t->job_count; i++)
		end_job(t, &t->jobs[i]);
	why_listen(why_of(&t->s->topo.net), NULL);
}

/* Writes the page that shows the timeline without Perfetto. */
static bool write_page(const struct timeline *t, struct out_dir *dir, char **error)
{
	char *path = home_path("scripts/report/timeline.html"), *page;
	char *template = input_read(path, PAGE_MAX, NULL);
	bool good = template;

	if (template) {
		page = trace_page(t->trace, template);
		good = out_dir_write(dir, TIMELINE_PAGE, page, error);
		free(page);
	} else {
		*error = xasprintf("cannot read %s: %s", path, input_why(errno));
	}
	free(template);
	free(path);
	return good;
}

bool timeline_write(const struct timeline *t, struct out_dir *dir,
		    struct timeline_left_out *left_out, char **error)
{
	size_t length;
	const void *all = trace_bytes(t->trace, &length);

	left_out->events = trace_left_out(t->trace);
	left_out->ranks = t->ranks_left_out;
	return out_dir_write_bytes(dir, TIMELINE_FILE, all, length, error) &&
	       write_page(t, dir, error);
}

void timeline_free(struct timeline *t)
{
	if (!t)
		return;
	for (uint32_t h = 0; h < t->s->topo.net.hosts; h++)
		free(t->flows[h].lanes);
	trace_free(t->trace);
	free(t->touched);
	free(t->jobs);
	free(t->switches);
	free(t->links);
	free(t->flows);
	free(t);
}
