/* Work that a program adds to a run: groups of hosts that do operations by a scheme, and callbacks.
 * A group is what jobs have for each group of their programs (jobs/job_exchange.c), without a job.
 */
#include "library/library_parts.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of instances (collective_job.number): above those of jobs, and below the 2^20 that keys
 * of connections and timers have room for. */
#define GROUPS_FIRST (UINT32_C(1) << 19)
#define GROUPS_MAX   (UINT32_C(1) << 19)

struct inasim_group {
	struct inasim *s;
	struct inasim_group *next;
	const struct collective_ops *ops;
	void *instance;
	uint32_t *hosts;
	uint32_t count;
	uint64_t handed_over, held; /* operations, of all members */
	void (*done)(void *owner, size_t member, uint64_t number);
	void *owner;
};

struct library_call {
	struct inasim *s;
	struct library_call *next;
	struct timer timer;
	void (*at)(void *owner);
	void *owner;
};

/* --- callbacks --- */

static void free_call(struct library_call *call)
{
	struct library_call **link = &call->s->calls;

	while (*link != call)
		link = &(*link)->next;
	*link = call->next;
	timer_close(&call->s->run->sim, &call->timer);
	free(call);
}

static void on_call(struct sim *sim, uint32_t entity, void *owner)
{
	struct library_call call = *(struct library_call *)owner;

	(void)sim, (void)entity;
	free_call(owner);
	call.at(call.owner);
}

void inasim_at(struct inasim *s, double time, void (*at)(void *owner), void *owner)
{
	struct library_call *call = xcalloc(1, sizeof(*call));
	struct sim *sim = &s->run->sim;
	sim_time when = library_time(time);

	*call = (struct library_call){ .s = s, .next = s->calls, .at = at, .owner = owner };
	s->calls = call;
	s->grows = true;
	timer_open(sim, &call->timer, SIM_CONTROL,
		   sim_key(SIM_CONTROL, CONTROL_LIBRARY + s->call_count++), on_call, call);
	timer_set(sim, &call->timer, when > sim->now ? when : sim->now);
}

/* --- groups --- */

size_t inasim_hosts(const struct inasim *s)
{
	return s->run->topo.net.hosts;
}

static bool find_name(const char *const *names, const char *name, unsigned *index)
{
	for (*index = 0; names[*index]; ++*index)
		if (!strcmp(names[*index], name))
			return true;
	return false;
}

/* "a, b, c", for messages; the caller frees. */
static char *list_of(const char *const *names)
{
	char *text = xstrdup(names[0]);

	for (size_t i = 1; names[i]; i++) {
		char *longer = xasprintf("%s, %s", text, names[i]);

		free(text);
		text = longer;
	}
	return text;
}

static char *unknown(const char *what, const char *found, const char *const *names)
{
	char *list = list_of(names);
	char *error = xasprintf("there is no %s \"%s\"; allowed: %s", what, found, list);

	free(list);
	return error;
}

/* Returns NULL, or why these hosts cannot be a group (caller frees). */
static char *wrong_hosts(const struct inasim *s, const uint32_t *hosts, size_t count)
{
	uint32_t all = s->run->topo.net.hosts;
	bool *taken = xcalloc(all, sizeof(*taken));
	char *error = NULL;

	if (count < 2 || count > all)
		error = xasprintf("a group has 2 to %" PRIu32 " hosts, not %zu", all, count);
	for (size_t i = 0; i < count && !error; i++) {
		if (hosts[i] >= all)
			error = xasprintf("there is no host %" PRIu32 "; the last is %" PRIu32,
					  hosts[i], all - 1);
		else if (taken[hosts[i]])
			error = xasprintf("host %" PRIu32 " is twice in a group", hosts[i]);
		else
			taken[hosts[i]] = true;
	}
	free(taken);
	return error;
}

/* Opens a scheme that no job uses. Returns NULL, or why it cannot work here (caller frees). */
static char *open_scheme(struct inasim *s, unsigned scheme)
{
	const struct collective_ops *ops = scheme_ops(scheme);
	size_t errors = conf_errors(s->doc);
	struct conf_mistake mistake;

	if (s->run->schemes[scheme])
		return NULL;
	if (ops->check)
		ops->check(s->scenario.schemes[scheme], &s->scenario.topology, s->doc, ops->name);
	if (conf_errors(s->doc) > errors)
		return conf_mistake(s->doc, errors, &mistake)
			       ? xasprintf("%s: %s", mistake.pointer, mistake.text)
			       : xasprintf("%s cannot work on this topology", ops->name);
	simulation_open_scheme(s->run, scheme);
	return NULL;
}

static void on_done(void *owner, uint32_t member, uint64_t number)
{
	struct inasim_group *group = owner;

	group->held++;
	if (group->done)
		group->done(group->owner, member, number);
}

/* The group as its scheme sees it: as an endless job. Parameter servers are on the first hosts. */
static struct collective_job specify(struct inasim_group *group, uint64_t size)
{
	uint32_t servers = group->ops->servers ? group->ops->servers(group->count) : 0;

	return (struct collective_job){
		.number = GROUPS_FIRST + group->s->group_count % GROUPS_MAX,
		.workers = group->count,
		.hosts = group->hosts,
		.listed = true,
		.servers = servers > group->count ? group->count : servers,
		.server_hosts = group->hosts,
		.gradients = size,
		.tensors = UINT64_MAX,
		.done = on_done,
		.owner = group,
	};
}

/* Starts the instance. Returns NULL, or why it cannot (caller frees). */
static char *start(struct inasim_group *group, unsigned scheme, bool own, uint64_t size)
{
	struct inasim *s = group->s;
	struct collective_job spec = specify(group, size);
	const char *never = NULL;

	if (group->ops->refuses)
		never = group->ops->refuses(s->scenario.schemes[scheme], &s->scenario.topology,
					    group->count, spec.servers);
	if (!never)
		group->instance = group->ops->start(
			s->run->schemes[own ? scheme : (unsigned)SCHEME_ring], &spec, &never);
	if (group->instance)
		return NULL;
	return xasprintf("%s cannot run a group of %" PRIu32 " hosts: %s", group->ops->name,
			 group->count, never ? never : "too little switch memory is free now");
}

/* Makes a group whose arguments have been looked at; on failure returns why not (caller frees). */
static char *make(struct inasim_group *group, enum program_op op, unsigned scheme, uint64_t size)
{
	bool own;
	char *error;

	group->ops = job_group_ops(scheme, op);
	own = group->ops != job_group_ops(SCHEME_ring, op);
	error = open_scheme(group->s, own ? scheme : (unsigned)SCHEME_ring);
	return error ? error : start(group, scheme, own, size);
}

struct inasim_group *inasim_group(struct inasim *s, const char *operation, const char *scheme,
				  const uint32_t *hosts, size_t count, uint64_t size,
				  void (*done)(void *owner, size_t member, uint64_t number),
				  void *owner, char **error)
{
	struct inasim_group *group;
	unsigned op = 0, number = 0;

	*error = NULL;
	if (s->run->fluid)
		*error = xstrdup("groups need the packet fidelity");
	else if (!find_name(program_op_names, operation, &op))
		*error = unknown("operation", operation, program_op_names);
	else if (!find_name(all_reduce_names, scheme, &number))
		*error = unknown("scheme", scheme, all_reduce_names);
	else
		*error = wrong_hosts(s, hosts, count);
	if (*error)
		return NULL;
	group = xcalloc(1, sizeof(*group));
	*group = (struct inasim_group){ .s = s,
					.count = (uint32_t)count,
					.done = done,
					.owner = owner,
					.hosts = xcalloc(count, sizeof(*hosts)) };
	memcpy(group->hosts, hosts, count * sizeof(*hosts));
	*error = make(group, (enum program_op)op, number, size);
	if (*error) {
		free(group->hosts);
		free(group);
		return NULL;
	}
	s->grows = true;
	s->group_count++;
	group->next = s->groups;
	s->groups = group;
	return group;
}

void inasim_put(struct inasim_group *group, size_t member, uint64_t size)
{
	/* of an iteration with this operation alone, for schemes with priorities */
	const struct collective_hint hint = {
		.layer = 1, .layers = 1, .left = size, .iteration_bytes = size
	};

	group->handed_over++;
	if (group->ops->hint)
		group->ops->hint(group->instance, (uint32_t)member, &hint);
	group->ops->contribute(group->instance, (uint32_t)member, size);
}

void inasim_group_close(struct inasim_group *group)
{
	struct inasim_group **link = &group->s->groups;
	bool busy = group->handed_over != group->held;

	while (*link != group)
		link = &(*link)->next;
	*link = group->next;
	group->ops->finish(group->instance, busy);
	free(group->hosts);
	free(group);
}

void library_drop_work(struct inasim *s)
{
	while (s->groups)
		inasim_group_close(s->groups);
	while (s->calls)
		free_call(s->calls);
}
