/* Remarks on results: which jobs did not run as the scenario says, and warnings of probable
 * mistakes that a run shows and of work that failures ended. A warning is one function and one line
 * in `warnings`. Warnings from the scenario alone are in scenario/warnings.c. */
#include "run/results_parts.h"

#include "base/mem.h"
#include "topo/links.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Links with a higher mean utilization count as busy all the time. */
#define SATURATED 0.95

struct lines {
	char **items;
	size_t count, capacity;
};

/* Adds a line; takes ownership of the text. */
static void add(struct lines *lines, char *text)
{
	lines->items =
		array_reserve(lines->items, lines->count, &lines->capacity, sizeof(*lines->items));
	lines->items[lines->count++] = text;
}

void results_lines_free(char **lines)
{
	for (size_t i = 0; lines[i]; i++)
		free(lines[i]);
	free(lines);
}

char **results_otherwise(const struct simulation *s)
{
	struct lines lines = { 0 };
	const struct jobs_otherwise *all = jobs_report(s->jobs)->otherwise;

	for (size_t i = 0; i < jobs_report(s->jobs)->otherwise_count; i++)
		add(&lines, xasprintf("%s (%s): %zu ran as %s", all[i].group->name,
				      scheme_names[job_group_reduces(all[i].group)], all[i].count,
				      all[i].ran_as));
	add(&lines, NULL);
	return lines.items;
}

/* --- warnings --- */

/* Several jobs share switch memory, but there was no collision. */
static void warn_memory_idle(const struct simulation *s, struct lines *lines)
{
	for (unsigned i = 0; scheme_ops(i) && jobs_report(s->jobs)->arrived > 1 && !s->fluid; i++) {
		const struct collective_memory *memory;
		size_t count = simulation_memory(s, i, &memory);
		uint64_t added = 0, collisions = 0;

		for (size_t m = 0; m < count; m++) {
			if (!memory[m].held)
				continue; /* reserved for each job, so never contended */
			added += memory[m].stats.packets_aggregated;
			collisions += memory[m].stats.collisions;
		}
		if (added && !collisions)
			add(lines, xasprintf("switch memory was never contended: %s had 0 "
					     "collisions in %" PRIu64
					     " packets added, so neither its rules for collisions "
					     "nor the size of its memory made a difference",
					     scheme_names[i], added));
	}
}

/* Timers that end while packets wait in queues, not because they were lost. Switches then send sums
 * again that nobody lacks, and each copy makes the others wait longer: with a fixed timer this may
 * go on for ever. A loss, too, makes a switch send a sum again to some of the workers that have
 * waited, but only real floods of copies send each sum more than once on average. */
static void warn_early_timers(const struct simulation *s, struct lines *lines)
{
	struct run_values v = results_values(s);
	double lost = v.network.drops + v.network.losses;
	double early = fmin(v.aggregation.repairs, v.aggregation.timeouts);

	if (early > lost && early > v.aggregation.results)
		add(lines,
		    xasprintf("timers of jobs ended before answers came: switches or servers "
			      "sent %g sums again, of %g, and %g packets were lost; use "
			      "fewer slots, longer timeouts or, of SwitchML, "
			      "\"timeout_rule\": \"doubling\"",
			      v.aggregation.repairs, v.aggregation.results, lost));
}

/* Chunks that collided in some of their switches wait in the others until a timer ends. Losses do
 * the same, but tables show losses. */
static void warn_waited(const struct simulation *s, struct lines *lines)
{
	const struct jobs_waited *w = &jobs_report(s->jobs)->waited;
	struct run_values v = results_values(s);

	if (!w->count || v.network.drops + v.network.losses > 0 || !(v.aggregation.collisions > 0))
		return;
	add(lines,
	    xasprintf("jobs waited for timers though nothing was lost: %zu for more than "
		      "half of their time, job %" PRIu32 " (%s, %s) for %.3f of its %.3f "
		      "ms; a sum of which a part has collided elsewhere waits in a switch "
		      "until then (\"initial_timeout\", \"min_timeout\", \"memory\")",
		      w->count, w->job, w->group->name, scheme_names[job_group_reduces(w->group)],
		      1e3 * seconds_of(w->waited), 1e3 * seconds_of(w->jct)));
}

/* In analytic runs streams do not share links, so no link is ever full. */
static void warn_saturated(const struct simulation *s, struct lines *lines)
{
	bool shared = s->scenario->fidelity != FIDELITY_ANALYTIC;
	unsigned tiers = shared ? topology_tiers(&s->scenario->topology) : 0;

	for (unsigned tier = 1; tier <= tiers; tier++)
		for (enum link_way way = LINK_UP; way < LINK_WAYS; way++) {
			double max;
			struct jain jain = fairness_tier(s, tier, way, &max);

			if (jain.sum > SATURATED * jain.n)
				add(lines, xasprintf("the fabric was saturated throughout: links "
						     "%s/%s had a mean utilization of %.3f over "
						     "the whole run",
						     s->topo.ops->tier_names[tier],
						     link_way_names[way], jain.sum / jain.n));
		}
}

/* Go-back-N may send more packets again than there are. Tables show the time, not what it went to.
 */
static void warn_sent_again(const struct simulation *s, struct lines *lines)
{
	bytes size;
	uint64_t again = flows_sent_again(s->flows, &size);
	double needed = (double)size / (double)s->scenario->roce.mtu;

	if ((double)again > needed)
		add(lines,
		    xasprintf("flows over RoCE sent %" PRIu64 " packets again, %.3g times what "
			      "they had to send: after a loss RoCE sends everything again from "
			      "the lost packet on",
			      again, (double)again / needed));
}

/* `inasim run` warns of this, too, but not everyone who reads the results has seen that. */
static void warn_beside_flows(const struct simulation *s, struct lines *lines)
{
	const char *text = scenario_beside_flows(s->scenario);

	if (text)
		add(lines, xstrdup(text));
}

static void warn_refused(const struct simulation *s, struct lines *lines)
{
	const char *group, *why = jobs_reason(s->jobs, JOB_REFUSED, &group);

	if (why)
		add(lines, xasprintf("schemes refused %zu of %zu jobs; the first (%s): %s",
				     jobs_report(s->jobs)->refused, jobs_report(s->jobs)->count,
				     group, why));
}

static void warn_failed(const struct simulation *s, struct lines *lines)
{
	const char *group, *why = jobs_reason(s->jobs, JOB_FAILED, &group);
	char text[128];
	uint64_t cut = flows_lost(s->flows, text, sizeof(text));

	if (why)
		add(lines, xasprintf("failures ended %zu of %zu jobs; the first (%s) %s",
				     jobs_report(s->jobs)->failed, jobs_report(s->jobs)->count,
				     group, why));
	if (cut)
		add(lines,
		    xasprintf("failures cut off %" PRIu64 " of %" PRIu64 " flows; the first: %s",
			      cut, flows_started(s->flows), text));
}

static void (*const warnings[])(const struct simulation *s, struct lines *lines) = {
	warn_memory_idle, warn_early_timers, warn_waited, warn_sent_again,
	warn_saturated,   warn_beside_flows, warn_failed, warn_refused,
};

char **results_warnings(const struct simulation *s)
{
	struct lines lines = { 0 };

	for (size_t i = 0; i < sizeof(warnings) / sizeof(warnings[0]); i++)
		warnings[i](s, &lines);
	add(&lines, NULL);
	return lines.items;
}
