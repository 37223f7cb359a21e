/* Checks of parameters and jobs of ATP and ESA, beyond what POOL_ROWS says. */
#include "ina/common/pool.h"

#include <inttypes.h>

const char *const timeout_resends_names[] = {
	[TIMEOUT_FIRST] = "first", [TIMEOUT_ALL] = "all", NULL
};

const char *const halve_on_names[] = {
	[HALVE_ON_NOTHING] = "nothing", [HALVE_ON_MARK] = "mark", [HALVE_ON_TIMEOUT] = "timeout",
	[HALVE_ON_SHARE] = "share",     [HALVE_ON_LOSS] = "loss", NULL
};

const char pool_one_memory[] = "needs the same memory in all switches, because workers compute one "
			       "index of an aggregator for all of them";

const char pool_too_many_inputs[] =
	"more than 31 workers in a rack, or more than 31 racks and workers at the switch of a "
	"parameter server; the header's bitmaps and fan-in degrees have no room for them";

uint32_t pool_servers(uint32_t workers)
{
	(void)workers;
	return 1; /* ESA section 7.1.2 */
}

/* The most workers that a server can have in the best placement: full racks, and workers below the
 * server's switch for the inputs of level 1 that are left. */
static uint64_t max_workers(const struct topology_conf *conf)
{
	uint32_t racks = topology_racks(conf), below = topology_rack(conf), full;

	if (below > RACK_INPUTS_MAX)
		below = RACK_INPUTS_MAX;
	full = racks - 1 < RACK_INPUTS_MAX ? racks - 1 : RACK_INPUTS_MAX;
	return (uint64_t)full * below +
	       (RACK_INPUTS_MAX - full < below ? RACK_INPUTS_MAX - full : below);
}

struct collective_burst pool_burst(const void *conf, const struct topology_conf *topology,
				   uint32_t ports)
{
	(void)conf, (void)topology, (void)ports;
	return (struct collective_burst){ .packets = 2 };
}

const char *pool_refuses(const void *conf, const struct topology_conf *topology, uint32_t workers,
			 uint32_t servers)
{
	(void)conf;
	if (servers > POOL_SERVERS_MAX)
		return "a job has at most 8 parameter servers";
	return workers > max_workers(topology) ? pool_too_many_inputs : NULL;
}

void pool_check(const void *self, const struct topology_conf *topology, struct conf_doc *doc,
		const char *scheme)
{
	const struct pool_conf *conf = self;
	uint64_t each = ina_payload(conf);
	const char *memory = conf_at(doc, "/schemes/%s/memory", scheme);

	(void)topology;
	if (conf->memory < each)
		conf_error(doc, memory,
			   "an aggregator of %" PRId64 " elements needs %" PRIu64
			   " bytes, but a switch has %" PRIu64 " bytes of aggregation memory",
			   conf->packets.elements, each, conf->memory);
	else if (conf->memory / each > AGGREGATORS_MAX)
		conf_error(doc, memory,
			   "%" PRIu64 " aggregators of %" PRIu64
			   " bytes, but their index has 16 bits: at most %" PRIu64 " bytes",
			   conf->memory / each, each, AGGREGATORS_MAX * each);
	if (conf->window.max_rto < conf->window.rto.min ||
	    conf->window.max_rto < conf->window.rto.first)
		conf_error(doc, conf_at(doc, "/schemes/%s/max_timeout", scheme),
			   "is shorter than min_timeout or initial_timeout");
}
