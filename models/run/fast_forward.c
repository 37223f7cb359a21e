#include "run/fast_forward.h"

#include "net/record.h"
#include "net/repeat.h"
#include "run/simulation_state.h"

static bool can_repeat(const struct simulation *s)
{
	if (s->failures || s->fluid || s->observer || scenario_has_flows(s->scenario) ||
	    !network_can_repeat(&s->topo.net))
		return false;
	for_enabled_jobs(group, s->scenario) {
		for (unsigned n = 0; scheme_ops(n); n++) {
			const struct collective_ops *ops = scheme_ops(n);

			if (!ops->traits.by_connections && !ops->repeat &&
			    (group->program ? job_group_uses(group, n)
					    : n == (unsigned)group->all_reduce))
				return false;
		}
	}
	return s->scenario->jobs.count;
}

/* Visits the state of the run (core/repeat.h): of schemes, transports and the network. */
static void walk(void *owner, struct repeat *repeat)
{
	struct simulation *s = owner;

	for (unsigned i = 0; scheme_ops(i); i++)
		if (s->schemes[i] && scheme_ops(i)->repeat)
			scheme_ops(i)->repeat(s->schemes[i], repeat);
	if (repeat->never) /* a scheme has found that nothing can be skipped */
		return;
	tcp_repeat(s->tcp, repeat);
	roce_repeat(s->roce, repeat);
	network_repeat(&s->topo.net, repeat);
	repeat_count(repeat, &s->checks.exact_checked);
}

static uint32_t fact(void *owner, uint32_t port, struct repeat_fact *fact)
{
	const struct simulation *s = owner;

	return network_repeat_fact(&s->topo.net, port, fact);
}

static void record(void *owner, bool on)
{
	struct simulation *s = owner;

	network_record(&s->topo.net, on ? &s->repeat : NULL);
}

void fast_forward_start(struct simulation *s)
{
	if (!can_repeat(s))
		return;
	repeat_init(&s->repeat, &s->sim);
	s->repeat.walk = walk;
	s->repeat.fact = fact;
	s->repeat.record = record;
	s->repeat.owner = s;
	tcp_skip_what_repeats(s->tcp, &s->repeat);
	roce_skip_what_repeats(s->roce, &s->repeat);
}
