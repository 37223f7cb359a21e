#include "run/simulation_state.h"

#include "base/mem.h"
#include "run/event_log.h"
#include "run/failures.h"
#include "run/fast_forward.h"
#include "net/lossless.h"
#include "run/results.h"
#include "run/timeline.h"
#include "run/why_table.h"
#include "topo/links.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

const char *const end_reason_names[] = {
	[END_ALL_DONE] = "all_done",           [END_JOBS_DONE] = "jobs_done",
	[END_FLOWS_DONE] = "flows_done",       [END_TIME] = "time",
	[END_TIME_LIMIT] = "time_limit",       [END_DEADLOCK] = "deadlock",
	[END_INTERRUPTED] = "interrupted",     [END_VIOLATION] = "violation",
	[END_MEASURED_DONE] = "measured_done", [END_FAILED] = "failed",
	[END_ESTIMATED] = "estimated",         [END_REFUSED] = "refused",
};

static double clock_s(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* --- the end --- */

static bool jobs_are_done(const struct simulation *s)
{
	const struct jobs_report *jobs = jobs_report(s->jobs);

	return jobs->finished + jobs->refused + jobs->failed == jobs->count;
}

/* The measured window is over, and all its jobs and flows have finished, been refused or failed. */
static bool measured_is_done(const struct simulation *s)
{
	const struct jobs_counts *jobs = &jobs_report(s->jobs)->measured;

	return s->sim.now >= scenario_window(s->scenario).to &&
	       jobs->finished + jobs->refused + jobs->failed == jobs->count &&
	       flows_measured_open(s->flows) == flows_measured_lost(s->flows);
}

/* Whether all work that the scenario waits for is done. */
static bool goal_reached(const struct simulation *s)
{
	switch ((enum stop_when)s->scenario->stop.when) {
	case STOP_ALL_DONE:
		return jobs_are_done(s) && flows_done(s->flows);
	case STOP_JOBS_DONE:
		return jobs_are_done(s);
	case STOP_FLOWS_DONE:
		return flows_done(s->flows);
	case STOP_TIME:
		return false;
	case STOP_MEASURED_DONE:
		return measured_is_done(s);
	}
	return false;
}

/* Called when a job or a flow has finished. */
static void on_change(void *owner)
{
	struct simulation *s = owner;

	if (jobs_are_done(s))
		flows_jobs_done(s->flows);
	if (goal_reached(s))
		sim_stop(&s->sim);
}

static void on_window_end(struct sim *sim, uint32_t entity, void *owner)
{
	(void)sim, (void)entity;
	on_change(owner);
}

static void on_limit(struct sim *sim, uint32_t entity, void *owner)
{
	struct simulation *s = owner;

	(void)entity;
	s->limit_reached = true;
	sim_stop(sim);
}

bool simulation_moves(const struct simulation *s)
{
	/* while lossless_watching(), a search for deadlocks is pending */
	return s->scenario->stop.when == STOP_TIME || (s->fluid && fluid_active(s->fluid)) ||
	       lossless_watching(&s->topo.net) || sim_moves(&s->sim, s->limit.id);
}

/* Sets the clock back to the last other event if only the time limit was left to happen. */
static void set_back_time(struct simulation *s)
{
	sim_time packets, others;

	if (!s->limit_reached || simulation_moves(s))
		return;
	/* the digest must not depend on the limit */
	s->sim.digest -= sim_event_fact(&s->sim, s->limit.id);
	packets = network_last_arrival(&s->topo.net);
	others = sim_last_move(&s->sim, s->limit.id);
	s->sim.now = packets > others ? packets : others;
}

static enum end_reason end_of(const struct simulation *s, bool interrupted)
{
	static const enum end_reason reached[] = { [STOP_ALL_DONE] = END_ALL_DONE,
						   [STOP_JOBS_DONE] = END_JOBS_DONE,
						   [STOP_FLOWS_DONE] = END_FLOWS_DONE,
						   [STOP_TIME] = END_TIME,
						   [STOP_MEASURED_DONE] = END_MEASURED_DONE };

	if (s->checks.exact_violations || s->checks.conservation_violations)
		return END_VIOLATION;
	if (interrupted)
		return END_INTERRUPTED;
	if (lossless_deadlocked(&s->topo.net))
		return END_DEADLOCK;
	if (jobs_report(s->jobs)->estimated)
		return END_ESTIMATED;
	if (s->scenario->stop.when != STOP_TIME && !goal_reached(s))
		return s->cut_short ? END_TIME_LIMIT : END_DEADLOCK;
	if (jobs_report(s->jobs)->failed || flows_lost(s->flows, NULL, 0))
		return END_FAILED;
	return jobs_report(s->jobs)->refused ? END_REFUSED : reached[s->scenario->stop.when];
}

size_t simulation_memory(const struct simulation *s, unsigned scheme,
			 const struct collective_memory **list)
{
	if (!s->schemes[scheme] || !scheme_ops(scheme)->memory)
		return 0;
	return scheme_ops(scheme)->memory(s->schemes[scheme], list);
}

/* Checks that packets and bytes add up and that, after the last job, no switch memory is in use
 * except what drains (struct collective_memory). */
static void final_checks(struct simulation *s)
{
	char *text = NULL;
	size_t length = 0;
	FILE *report = open_memstream(&text, &length);
	unsigned bad = network_check(&s->topo.net, report);

	for (unsigned i = 0; scheme_ops(i) && jobs_are_done(s); i++) {
		const struct collective_memory *memory;
		size_t count = simulation_memory(s, i, &memory);

		for (size_t m = 0; m < count; m++) {
			if (memory[m].used_bytes == memory[m].draining_bytes)
				continue;
			fprintf(report,
				"switch %" PRIu32 " still holds %" PRIu64
				" bytes of %s after the last job\n",
				memory[m].sw, memory[m].used_bytes - memory[m].draining_bytes,
				scheme_ops(i)->name);
			bad++;
		}
	}
	fclose(report);
	if (bad)
		checks_violated(&s->checks, &s->checks.conservation_violations, "%s", text);
	free(text);
}

/* --- building --- */

/* Tables that jobs, flows and failures write; NULL: not written. */
struct tables {
	struct jobs_tables jobs;
	struct out_table *flows, *failures;
};

/* False only if the table is wanted and cannot be opened. */
static bool open_table(struct out_dir *dir, const struct out_schema *schema, bool wanted,
		       struct out_table **table, char **error)
{
	if (wanted)
		*table = out_table_open(dir, schema, error);
	return !wanted || *table;
}

static bool open_tables(struct simulation *s, struct out_dir *dir, struct tables *tables,
			char **error)
{
	const struct scenario *scenario = s->scenario;
	bool jobs = scenario->jobs.count, memory = false, exchanges = false;

	for (unsigned i = 0; scheme_ops(i); i++)
		memory |= scenario_uses(scenario, i) && scheme_ops(i)->memory;
	for_enabled_jobs(group, scenario)
		exchanges |= group->exchanges;
	return !dir ||
	       (open_table(dir, &jobs_schema, jobs, &tables->jobs.jobs, error) &&
		open_table(dir, &iterations_schema, jobs, &tables->jobs.iterations, error) &&
		open_table(dir, &parts_schema, exchanges, &tables->jobs.parts, error) &&
		open_table(dir, &flows_schema, scenario->flows.count, &tables->flows, error) &&
		open_table(dir, &links_schema, true, &s->links, error) &&
		open_table(dir, &aggregators_schema, memory, &s->aggregators, error) &&
		open_table(dir, &failures_schema, scenario->failures.events.count,
			   &tables->failures, error));
}

static void open_timers(struct simulation *s)
{
	timer_open(&s->sim, &s->limit, SIM_CONTROL, sim_key(SIM_CONTROL, CONTROL_LIMIT), on_limit,
		   s);
	sim_name(&s->sim, on_limit, "time limit");
	timer_set(&s->sim, &s->limit, s->scenario->stop.after);
	timer_open(&s->sim, &s->window_end, SIM_CONTROL, sim_key(SIM_CONTROL, CONTROL_WINDOW_END),
		   on_window_end, s);
	sim_name(&s->sim, on_window_end, "end of the measured window");
	if (s->scenario->stop.when == STOP_MEASURED_DONE)
		timer_set(&s->sim, &s->window_end, scenario_window(s->scenario).to);
}

/* The links of the fluid model are the egress ports. */
static bool open_fluid(struct simulation *s, char **error)
{
	const struct network *net = &s->topo.net;
	double *capacity = xcalloc(net->port_count, sizeof(*capacity));

	for (uint32_t i = 0; i < net->port_count; i++)
		capacity[i] = (double)port_class(net, &net->ports[i])->rate / 8;
	s->fluid = fluid_open(&s->sim, &s->checks, capacity, net->port_count, net->host_ports,
			      s->scenario->fidelity == FIDELITY_FLUID,
			      (enum fluid_solver)s->scenario->fluid.solver, error);
	free(capacity);
	return s->fluid;
}

static void open_scheme(struct simulation *s, const struct model_env *env, unsigned i)
{
	const struct collective_ops *ops = scheme_ops(i);

	s->schemes[i] = ops->open(env, s->scenario->schemes[i]);
	s->fluid_schemes[i] =
		(struct fluid_scheme){ s->fluid, &s->sim, &s->topo.net, ops, s->schemes[i] };
	s->runs[i] = s->fluid ? (struct scheme_run){ &fluid_collective, &s->fluid_schemes[i] }
			      : (struct scheme_run){ ops, s->schemes[i] };
}

/* The environment of jobs, flows and schemes. */
static struct model_env env_of(struct simulation *s)
{
	return (struct model_env){
		.sim = &s->sim,
		.topo = &s->topo,
		.machine = &s->scenario->machine,
		.tcp = s->tcp,
		.checks = &s->checks,
		.reducers = &s->reducers,
		.fluid = s->fluid,
		.roce = s->roce,
		.repeat = &s->repeat,
	};
}

void simulation_open_scheme(struct simulation *s, unsigned scheme)
{
	struct model_env env = env_of(s);

	open_scheme(s, &env, scheme);
}

struct simulation *simulation_build(const struct scenario *scenario, struct out_dir *dir,
				    char **error)
{
	struct simulation *s = xcalloc(1, sizeof(*s));
	struct tables tables = { 0 };
	struct model_env env;
	const struct jobs_times times = { .end = scenario->stop.after,
					  .window = scenario_window(scenario),
					  .estimate = scenario->stop.estimate };

	s->scenario = scenario;
	sim_init(&s->sim, (uint64_t)scenario->seed);
	topology_build(&s->topo, &scenario->topology, &s->sim);
	s->tcp = tcp_new(&s->topo, &scenario->tcp);
	s->roce = roce_new(&s->topo, &scenario->roce, scenario->roce.window);
	reducers_init(&s->reducers, s->topo.net.hosts,
		      scenario->machine.reduction_rate / machine_nics(&scenario->machine));
	if (scenario->fidelity != FIDELITY_PACKET && !open_fluid(s, error))
		goto failed;
	env = env_of(s);
	for (unsigned i = 0; scheme_ops(i); i++)
		if (scenario_uses(scenario, i))
			open_scheme(s, &env, i);
	roce_register(s->roce);
	if (!open_tables(s, dir, &tables, error))
		goto failed;
	s->jobs = jobs_new(&env, scenario_jobs(scenario), scenario->jobs.count, s->runs,
			   &scenario->cluster, &times, &tables.jobs);
	s->flows = flows_new(
		&env, scenario_flows(scenario), scenario->flows.count,
		&(struct flows_report){ times.window, &scenario->flow_borders, tables.flows });
	jobs_on_change(s->jobs, on_change, s);
	flows_on_change(s->flows, on_change, s);
	open_timers(s);
	s->failures = failures_open(s, tables.failures);
	s->series = series_start(s, dir, error);
	if (!s->series && dir && scenario->series.every)
		goto failed;
	return s;
failed:
	simulation_free(s);
	return NULL;
}

void simulation_free(struct simulation *s)
{
	if (!s)
		return;
	timeline_free(s->timeline);
	failures_free(s->failures);
	flows_free(s->flows);
	jobs_free(s->jobs);
	for (unsigned i = 0; scheme_ops(i); i++)
		if (s->schemes[i])
			scheme_ops(i)->close(s->schemes[i]);
	fluid_free(s->fluid);
	reducers_release(&s->reducers);
	tcp_free(s->tcp);
	roce_free(s->roce);
	topology_release(&s->topo);
	repeat_release(&s->repeat);
	sim_release(&s->sim);
	series_free(s->series);
	free(s->spent);
	free(s);
}

/* --- running --- */

/* The fraction of the run's work that is done, from 0 to 1. */
static double work_done(const struct simulation *s)
{
	const struct jobs_counts *measured = &jobs_report(s->jobs)->measured;
	size_t ended = measured->finished + measured->refused + measured->failed;
	double jobs = jobs_progress(s->jobs), flows = flows_progress(s->flows);
	double window = (double)s->sim.now / (double)scenario_window(s->scenario).to;

	switch ((enum stop_when)s->scenario->stop.when) {
	case STOP_ALL_DONE: /* the lesser of the two */
		return !scenario_has_flows(s->scenario) || jobs < flows ? jobs : flows;
	case STOP_JOBS_DONE:
		return jobs;
	case STOP_FLOWS_DONE:
		return flows;
	case STOP_TIME:
		return 0;
	case STOP_MEASURED_DONE: /* after the window only jobs can be counted, not flows */
		if (window >= 1 && ended < measured->count)
			return (double)ended / (double)measured->count;
		return window < 1 ? window : 0.99; /* flows may be left */
	}
	return 0;
}

static void tell(const struct simulation *s, const struct simulation_options *options,
		 enum simulation_news news, double wall, sim_time stalled)
{
	struct simulation_progress progress = { .now = s->sim.now,
						.wall_s = wall,
						.stalled = stalled };
	double by_time = (double)s->sim.now / (double)s->scenario->stop.after, by_work;

	if (!options->tell)
		return;
	progress.iterations = jobs_report(s->jobs)->iterations_finished;
	progress.of_iterations = jobs_report(s->jobs)->iterations;
	progress.flows = flows_finished(s->flows);
	progress.of_flows = flows_started(s->flows);
	by_work = work_done(s);
	progress.limit = by_time >= by_work && s->scenario->stop.when != STOP_TIME;
	progress.done = fmax(by_time, by_work);
	options->tell(options->owner, news, s, &progress);
}

void simulation_observe(struct simulation *s, struct sim_observer *observer)
{
	struct sim_observer **last = &s->observer;

	while (*last)
		last = &(*last)->next;
	*last = observer;
}

/* Runs about `budget` events. False if the run has ended. */
static bool run_some(struct simulation *s, uint64_t budget)
{
	if (s->observer)
		return sim_observe(&s->sim, budget, s->observer);
	return s->repeat.walk ? repeat_run(&s->repeat, budget) : sim_run(&s->sim, budget);
}

#define LOOK_EVENTS (1 << 17) /* events between two readings of the wall clock */
#define TELL_EVERY  0.2       /* least wall time between two SIMULATION_GOES_ON, in seconds */

void simulation_begin(struct simulation *s, const struct simulation_options *options)
{
	s->began_wall_s = s->told_wall_s = clock_s(CLOCK_MONOTONIC);
	s->began_cpu_s = clock_s(CLOCK_PROCESS_CPUTIME_ID);
	if (!options->no_fast_forward)
		fast_forward_start(s);
	if (goal_reached(s))
		sim_stop(&s->sim);
}

/* Looks at the wall clock, which has no effect on events. */
static void look_up(struct simulation *s, const struct simulation_options *options)
{
	double now = clock_s(CLOCK_MONOTONIC), wall = now - s->began_wall_s;
	sim_time since;

	s->interrupted = options->interrupted && *options->interrupted;
	if (now - s->told_wall_s > TELL_EVERY) {
		s->told_wall_s = now;
		tell(s, options, SIMULATION_GOES_ON, wall, 0);
	}
	if (options->asked && *options->asked) {
		*options->asked = 0;
		tell(s, options, SIMULATION_ASKED, wall, 0);
	}
	if (jobs_stalled(s->jobs, &since) && since != s->stalled) {
		s->stalled = since;
		tell(s, options, SIMULATION_STALLED, wall, since);
	}
}

bool simulation_advance(struct simulation *s, const struct simulation_options *options)
{
	struct fail_context context = { s->scenario->name, (uint64_t)s->scenario->seed, &s->sim.now,
					&s->sim.events };
	bool more = !s->sim.stopped;

	fail_context(&context);
	while (more && !s->interrupted && (more = run_some(s, LOOK_EVENTS)))
		look_up(s, options);
	fail_context(NULL);
	return more;
}

void simulation_end(struct simulation *s)
{
	s->observer = NULL; /* its owner may free it from now on */
	set_back_time(s);
	series_stop(s->series);
	s->cpu_s = clock_s(CLOCK_PROCESS_CPUTIME_ID) - s->began_cpu_s;
	if (s->fluid)
		s->cpu_s += fluid_stop(s->fluid);
	s->wall_s = clock_s(CLOCK_MONOTONIC) - s->began_wall_s;
	timer_cancel(&s->sim, &s->limit);
	timer_cancel(&s->sim, &s->window_end);
	s->cut_short = s->limit_reached && simulation_moves(s);
	failures_end(s->failures);
	flows_end(s->flows);
	final_checks(s);
	s->end = end_of(s, s->interrupted);
}

void simulation_go(struct simulation *s, const struct simulation_options *options)
{
	simulation_begin(s, options);
	simulation_advance(s, options);
	simulation_end(s);
}

struct simulation *simulation_run(const struct scenario *scenario,
				  const struct simulation_options *options, char **error)
{
	struct simulation *s = simulation_build(scenario, options->dir, error);
	struct event_log *log = NULL;
	struct why_table *why = NULL;
	bool good = s;

	if (good && options->events.given) {
		log = event_log_open(s, options->dir, &options->events, error);
		good = log;
	}
	if (good && (options->why || options->timeline.given)) {
		why = why_table_open(s, options->why ? options->dir : NULL, error);
		good = why;
	}
	if (!good) {
		event_log_free(log);
		simulation_free(s);
		return NULL;
	}
	if (options->timeline.given)
		s->timeline = timeline_open(s, &options->timeline);
	simulation_go(s, options);
	if (s->timeline)
		timeline_close(s->timeline);
	event_log_free(log);
	why_table_free(why);
	results_write_tables(s);
	return s;
}

/* --- questions --- */

double simulation_carried(const struct simulation *s, uint32_t link)
{
	struct port_sent sent;

	if (s->fluid)
		return fluid_carried(s->fluid, link);
	sent = network_sent(&s->topo.net, link);
	return (double)sent.whole + sent.part;
}

bool simulation_unfinished(const struct simulation *s)
{
	return s->end == END_TIME_LIMIT || s->end == END_DEADLOCK || s->end == END_FAILED ||
	       s->end == END_REFUSED;
}

uint64_t simulation_digest(const struct simulation *s)
{
	return sim_run_digest(&s->sim);
}

uint64_t simulation_events(const struct simulation *s)
{
	return sim_event_count(&s->sim);
}

/* Lists the links of a PAUSE deadlock, which wait for each other. */
static void report_stuck(const struct simulation *s, FILE *to)
{
	const struct network *net = &s->topo.net;

	for (uint32_t i = 0; i < net->port_count; i++) {
		char link[LINK_NAME];

		if (lossless_stuck(net, i))
			fprintf(to,
				"link %s is stopped by PAUSE, and only links of this list could "
				"free the memory behind it\n",
				link_name(&s->topo, i, link));
	}
}

#define WAITING_SHOWN 10 /* the most jobs, flows or connections that are listed */

void simulation_waiting(const struct simulation *s, FILE *to)
{
	char text[128];
	uint64_t cut = flows_lost(s->flows, text, sizeof(text));

	if (cut)
		fprintf(to, "  %" PRIu64 " flows were cut off, the first: %s\n", cut, text);
	jobs_report_waiting(s->jobs, to, WAITING_SHOWN);
	flows_report_waiting(s->flows, to, WAITING_SHOWN);
	if (s->end == END_FAILED || s->end == END_REFUSED)
		return; /* what else was asked for is done, but for ACKs */
	tcp_report_waiting(s->tcp, to, WAITING_SHOWN);
	roce_report_waiting(s->roce, to, WAITING_SHOWN);
}

void simulation_report(const struct simulation *s, FILE *to)
{
	if (s->end == END_VIOLATION)
		fprintf(to, "a check was violated: %s\n", s->checks.first);
	if (!simulation_unfinished(s))
		return;
	fprintf(to, "%s at %.9f s with unfinished work:\n",
		s->end == END_DEADLOCK  ? "nothing can happen any more"
		: s->end == END_FAILED  ? "failures left nothing else to do"
		: s->end == END_REFUSED ? "schemes refused jobs; the run ended"
					: "the time limit was reached",
		seconds_of(s->sim.now));
	if (lossless_deadlocked(&s->topo.net))
		report_stuck(s, to);
	simulation_waiting(s, to);
}
