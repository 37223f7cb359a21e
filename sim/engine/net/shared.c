#include "net/shared.h"

#include "base/mem.h"
#include "net/ingress.h"
#include "net/sched.h"

#include <inttypes.h>
#include <stdlib.h>

struct pool {
	bytes size, used; /* size 0: the ports of this switch share nothing */
	uint64_t alpha;
};

struct shared {
	struct pool *pools; /* by switch */
	bytes *counted;     /* by port: its bytes in pool.used, at least those in its queue */
};

void shared_set(struct network *net, uint32_t sw, bytes size, uint64_t alpha)
{
	if (!net->shared) {
		net->shared = xcalloc(1, sizeof(*net->shared));
		net->shared->pools = xcalloc(net->switches, sizeof(*net->shared->pools));
		net->shared->counted = xcalloc(net->port_count, sizeof(*net->shared->counted));
	}
	net->shared->pools[sw] = (struct pool){ .size = size, .alpha = alpha };
}

void shared_free(struct network *net)
{
	if (!net->shared)
		return;
	free(net->shared->pools);
	free(net->shared->counted);
	free(net->shared);
	net->shared = NULL;
}

static bytes held_by(const struct network *net, uint32_t port)
{
	return net->ports[port].queued_bytes + (net->sched ? sched_bytes(net, port) : 0);
}

static void count(struct network *net, struct pool *pool, uint32_t port)
{
	bytes now = held_by(net, port), *counted = &net->shared->counted[port];

	pool->used += now - *counted;
	*counted = now;
}

static bool fits(const struct pool *pool, bytes queue)
{
	return pool->used <= pool->size &&
	       queue <= (unsigned __int128)(pool->size - pool->used) * pool->alpha / ALPHA_ONE;
}

/* port_advance() and count() for all ports of a switch but `except`. */
static void settle(struct network *net, uint32_t sw, uint32_t except)
{
	const struct switch_node *node = &net->switch_nodes[sw];

	for (uint32_t p = node->first_port; p < node->first_port + node->ports; p++) {
		if (p == except)
			continue;
		port_advance(&net->ports[p], net->sim->now);
		count(net, &net->shared->pools[sw], p);
	}
}

bool shared_takes(struct network *net, uint32_t port, bytes queue, uint32_t size)
{
	uint32_t node = network_node(net, port);
	struct pool *pool;

	if (node < net->hosts || !net->shared->pools[node - net->hosts].size)
		return true;
	pool = &net->shared->pools[node - net->hosts];
	count(net, pool, port);
	if (fits(pool, queue))
		return true;
	settle(net, node - net->hosts, port);
	if (fits(pool, queue))
		return true;
	net->shared->counted[port] -= size;
	pool->used -= size;
	return false;
}

bytes shared_used(struct network *net, uint32_t sw)
{
	settle(net, sw, UINT32_MAX);
	return net->shared->pools[sw].used;
}

unsigned shared_check(struct network *net, FILE *report)
{
	unsigned bad = 0;

	for (uint32_t s = 0; s < net->switches; s++) {
		const struct pool *pool = &net->shared->pools[s];

		if (!pool->size || shared_used(net, s) <= pool->size)
			continue;
		fprintf(report,
			"switch %" PRIu32 " holds %" PRIu64 " bytes in a buffer of %" PRIu64 "\n",
			s, pool->used, pool->size);
		bad++;
	}
	return bad;
}
