/* What a user may write under "servers" of a group of jobs. */
#include "workload/cluster.h"
#include "workload/jobs/jobs_parts.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const placement_choices[] = {
	[SERVERS_OWN] = "own", [SERVERS_SHARED] = "shared", [SERVERS_WORKERS] = "workers", NULL
};

static const struct conf_row placed_rows[] = {
	CONF_INT("count", struct job_group_conf, servers.number, CONF_OPTIONAL, 1, 1000000,
		 "Number of servers. Default: as many as the scheme wants."),
	CONF_ENUM("placement", struct job_group_conf, servers.placement, "own", placement_choices,
		  "own: on hosts without workers of the job, chosen by the job's placement, where "
		  "each takes a slot; shared: on the hosts of \"cluster\": {\"servers\": ...}, "
		  "which jobs get in turn; workers: server q beside worker q.",
		  "SwitchML section 5.3: dedicated machines"),
	{ 0 },
};
static const struct conf_table placed_table = { "servers_placed", placed_rows,
						sizeof(struct job_group_conf) };
static const struct conf_row servers_forms[] = {
	CONF_INT("number", struct job_group_conf, servers.number, CONF_REQUIRED, 1, 1000000,
		 "So many servers, each on a host of its own."),
	CONF_LIST("hosts", struct job_group_conf, servers.hosts, CONF_REQUIRED, &host_item, 1, 0,
		  "Servers on these hosts, where each takes a slot."),
	CONF_GROUP("placed", CONF_REQUIRED, &placed_table, "Number and placement."),
	{ 0 },
};
const struct conf_table servers_table = { "servers", servers_forms, sizeof(struct job_group_conf) };

bool job_group_servers_listed(const struct job_group_conf *conf)
{
	return conf->servers.given && conf->servers.form == SERVERS_HOSTS;
}

uint32_t job_group_servers(const struct job_group_conf *conf, uint32_t workers)
{
	const struct collective_ops *ops = scheme_ops(job_group_reduces(conf));

	/* one worker's gradient is the sum; groups have theirs on hosts of their members */
	if (!ops->servers || workers < 2 || conf->pipeline.stages > 1 ||
	    job_group_grouped(conf, conf->machine_gpus))
		return 0;
	if (job_group_servers_listed(conf))
		return (uint32_t)conf->servers.hosts.count;
	return conf->servers.number ? (uint32_t)conf->servers.number : ops->servers(workers);
}

uint32_t job_group_own_servers(const struct job_group_conf *conf, uint32_t workers)
{
	return conf->servers.placement == SERVERS_OWN ? job_group_servers(conf, workers) : 0;
}

/* --- checks --- */

static void check_lists(const struct job_group_conf *conf, struct conf_doc *doc,
			const char *pointer, const uint32_t *pool, uint32_t pool_count,
			uint32_t hosts)
{
	uint8_t *uses = xcalloc(hosts, sizeof(*uses));

	for (uint32_t i = 0; i < pool_count; i++)
		if (pool[i] < hosts)
			uses[pool[i]] = HOST_POOL;
	if (conf->workers.given && conf->workers.form == WORKERS_HOSTS)
		cluster_check_list(&conf->workers.hosts, HOST_WORKER, doc,
				   conf_at(doc, "%s/workers", pointer), hosts, uses);
	if (job_group_servers_listed(conf))
		cluster_check_list(&conf->servers.hosts, HOST_SERVER, doc,
				   conf_at(doc, "%s/servers", pointer), hosts, uses);
	free(uses);
}

static void check_room(const struct job_group_conf *conf, struct conf_doc *doc, const char *pointer,
		       uint32_t hosts, uint32_t pool_count)
{
	int64_t max = workers_span(&conf->workers).max;
	uint32_t own = max && max <= (int64_t)hosts ? job_group_own_servers(conf, (uint32_t)max)
						    : 0; /* check_workers() reports too many */
	uint32_t room = hosts > pool_count ? hosts - pool_count : 0;
	const char *at;

	if (!room || max > (int64_t)hosts || max + own <= (int64_t)room)
		return;
	at = conf_at(doc, "%s/%s", pointer, conf->servers.given ? "servers" : "workers");
	if (!own)
		conf_error(doc, at,
			   "%" PRId64 " workers, but %" PRIu32 " of %" PRIu32
			   " hosts are reserved for servers (\"cluster\": {\"servers\": ...})",
			   max, pool_count, hosts);
	else
		conf_error(doc, at,
			   "%" PRId64 " workers and %" PRIu32
			   " servers on hosts of their own, but the "
			   "network has %" PRIu32 " hosts for them; see \"servers\"",
			   max, own, room);
}

static void check_shared(const struct job_group_conf *conf, struct conf_doc *doc, const char *at,
			 uint32_t pool_count)
{
	uint32_t max = (uint32_t)workers_span(&conf->workers).max;
	uint32_t servers = job_group_servers(conf, max);

	if (!pool_count)
		conf_error(doc, at,
			   "no hosts are kept for servers: choose them by \"cluster\": "
			   "{\"servers\": ...}");
	else if (servers > pool_count)
		conf_error(doc, at,
			   "%" PRIu32 " servers on shared hosts, but only %" PRIu32
			   " hosts are kept for servers (\"cluster\": {\"servers\": ...})",
			   servers, pool_count);
}

static void check_beside(const struct job_group_conf *conf, struct conf_doc *doc, const char *at)
{
	struct workers_span span = workers_span(&conf->workers);
	/* jobs of one worker have no servers, so a range that begins at 1 counts from 2 */
	int64_t min = span.min == 1 && span.max > 1 ? 2 : span.min;

	if (min > 1 && conf->servers.number > min)
		conf_error(doc, at,
			   "%" PRId64 " servers cannot be beside %" PRId64
			   " workers: the host of a worker has one server of a job",
			   conf->servers.number, min);
}

void job_group_check_servers(const struct job_group_conf *conf, struct conf_doc *doc,
			     const char *pointer, uint32_t hosts,
			     const struct cluster_conf *cluster)
{
	const struct collective_ops *ops = scheme_ops((unsigned)conf->all_reduce);
	uint32_t pool_count, *pool = cluster_conf_pool(cluster, hosts, &pool_count);
	const char *at = conf_at(doc, "%s/servers", pointer);

	check_lists(conf, doc, pointer, pool, pool_count, hosts);
	free(pool);
	if (conf->servers.given && !ops->servers) {
		conf_error(doc, at, "%s%s has no parameter servers", ops->name,
			   conf->arrival.part && conf->arrival.part_scheme >= 0
				   ? ", which the trace names,"
				   : "");
		return;
	}
	check_room(conf, doc, pointer, hosts, pool_count);
	if (!scheme_ops(job_group_reduces(conf))->servers)
		return; /* a warning tells that they have no effect */
	if (conf->servers.placement == SERVERS_SHARED)
		check_shared(conf, doc, at, pool_count);
	else if (conf->servers.placement == SERVERS_WORKERS)
		check_beside(conf, doc, at);
}

/* Checks that the schemes of a program's groups take groups of their size. */
static void check_groups(const struct job_group_conf *conf, struct conf_doc *doc,
			 const char *pointer, const struct job_site *site, void *const *schemes)
{
	for (size_t g = 0; g < conf->program->group_count; g++) {
		const struct program_group *group = &conf->program->groups[g];
		unsigned scheme = job_group_scheme_of(conf, group);
		const struct collective_ops *ops = job_group_ops(scheme, group->op);
		uint32_t gpus = machine_gpus(site->machine), count = group->count;
		const char *why;

		if (group->op != OP_ALL_REDUCE || group->count < 2 || !ops->refuses ||
		    job_group_place(conf, group, gpus) == PLACE_SWITCH)
			continue;
		if (job_group_place(conf, group, gpus) == PLACE_STAGED) /* of machines */
			count /= program_group_together(group, gpus);
		why = ops->refuses(schemes[scheme], site->topology, count,
				   ops->servers ? ops->servers(count) : 0);
		if (!why)
			continue;
		conf_error(doc, pointer, "group \"%s\" of %" PRIu32 " ranks under %s: %s",
			   group->name, group->count, ops->name, why);
		return;
	}
}

void job_group_check_scheme(const struct job_group_conf *conf, struct conf_doc *doc,
			    const char *pointer, const struct job_site *site, void *const *schemes)
{
	const struct collective_ops *ops = scheme_ops(job_group_reduces(conf));
	uint32_t workers = (uint32_t)(workers_span(&conf->workers).max / conf->pipeline.stages);
	const char *why;

	if (conf->program) {
		check_groups(conf, doc, pointer, site, schemes);
		return;
	}
	if (!ops->refuses || workers < 2)
		return;
	why = ops->refuses(schemes[job_group_reduces(conf)], site->topology, workers,
			   job_group_servers(conf, workers));
	if (why)
		conf_error(doc, pointer, "%" PRIu32 " workers under %s: %s", workers, ops->name,
			   why);
}
