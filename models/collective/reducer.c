#include "collective/reducer.h"

#include "base/fail.h"
#include "base/mem.h"

#include <stdlib.h>

void reducers_init(struct reducers *reducers, uint32_t hosts, bps rate)
{
	*reducers = (struct reducers){ .rate = rate, .hosts = hosts };
	reducers->host = xcalloc(hosts, sizeof(*reducers->host));
}

void reducers_release(struct reducers *reducers)
{
	free(reducers->host);
	*reducers = (struct reducers){ 0 };
}

sim_time reducers_add(struct reducers *reducers, uint32_t host, sim_time now, bytes size)
{
	struct reducer *reducer = &reducers->host[host];
	unsigned __int128 bits = (unsigned __int128)size * 8 * PS_PER_S;
	sim_time takes;

	SIM_BUG_ON(host >= reducers->hosts);
	if (!reducers->rate)
		return now;
	takes = (sim_time)((bits + reducers->rate - 1) / reducers->rate);
	if (reducer->free_at < now)
		reducer->free_at = now;
	reducer->free_at += takes;
	reducer->busy += takes;
	return reducer->free_at;
}
