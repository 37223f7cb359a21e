/* Flows of a trace that start when others have been received, or acknowledged: triggers of htsim.
 * They start at the same instant, by an event of the whole run, as who waits for whom knows no
 * hosts: the simulators that write such files do the same, in no time. */
#include "workload/flows/flows_parts.h"

#include "base/mem.h"

#include <stdlib.h>

/* Numbers of events of class SIM_CONTROL: beyond those of groups, below those of jobs. */
#define KEY_OF_AFTER (UINT64_C(1) << 31)

static void on_ready(struct sim *sim, uint32_t entity, void *owner)
{
	struct group *group = owner;
	struct flow_after *after = &group->after;

	(void)sim, (void)entity;
	flow_write_settled(group->flows);
	for (size_t i = 0; i < after->ready_count; i++) /* the list does not grow meanwhile */
		flow_start_row(group, after->ready[i]);
	after->left -= after->ready_count;
	after->ready_count = 0;
}

void flow_after_open(struct group *group)
{
	const struct flow_trace *trace = group->conf->recorded;
	struct flow_after *after = &group->after;
	struct sim *sim = group->flows->env.sim;

	if (group->conf->arrival.form != ARRIVE_TRACE || !trace->wait_count ||
	    !group->conf->enabled)
		return;
	after->left = trace->count - trace->timed;
	after->missing = xcalloc(trace->count, sizeof(*after->missing));
	after->ready = xcalloc(after->left, sizeof(*after->ready));
	for (size_t i = 0; i < trace->wait_count; i++)
		after->missing[trace->waits[i].next]++;
	timer_open(sim, &after->timer, SIM_CONTROL,
		   sim_key(SIM_CONTROL, KEY_OF_AFTER | group->number), on_ready, group);
	sim_name(sim, on_ready, "flows of group %n that waited for others");
}

void flow_after_release(struct group *group)
{
	free(group->after.missing);
	free(group->after.ready);
	group->after.missing = group->after.ready = NULL;
	group->after.left = group->after.ready_count = 0;
}

/* The first of those that wait for a row; waits are sorted. */
static size_t first_wait(const struct flow_trace *trace, uint32_t row)
{
	size_t low = 0, high = trace->wait_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (trace->waits[middle].flow < row)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void flow_after_event(struct flow *flow, bool sent)
{
	struct flow_after *after = &flow->group->after;
	const struct flow_trace *trace = flow->group->conf->recorded;
	struct sim *sim = flow->flows->env.sim;

	if (!after->missing)
		return;
	for (size_t i = first_wait(trace, flow->row);
	     i < trace->wait_count && trace->waits[i].flow == flow->row; i++) {
		const struct trace_wait *wait = &trace->waits[i];

		if (wait->sent != sent || --after->missing[wait->next])
			continue;
		after->ready[after->ready_count++] = wait->next;
		timer_set(sim, &after->timer, sim->now);
	}
}
