/* What a user may write under "cluster", and lists of hosts. */
#include "workload/cluster.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

const struct conf_row host_item = {
	.type = CONF_INT, .imin = 0, .imax = 1000000, .help = "Host number."
};
static const struct conf_row pool_forms[] = {
	CONF_INT("number", struct cluster_conf, servers.number, CONF_REQUIRED, 1, 1000000,
		 "So many hosts: those with the highest numbers."),
	CONF_LIST("hosts", struct cluster_conf, servers.hosts, CONF_REQUIRED, &host_item, 1, 0,
		  "These hosts."),
	{ 0 },
};
static const struct conf_table pool_table = { "server_pool", pool_forms,
					      sizeof(struct cluster_conf) };

static const struct conf_row cluster_rows[] = {
	CONF_TIME("controller_latency", struct cluster_conf, controller_latency, "1us", PS_PER_NS,
		  1000 * PS_PER_S,
		  "Time from the decision of the job controller to the start of the workers.",
		  "our choice"),
	CONF_ONEOF("servers", struct cluster_conf, servers, CONF_OPTIONAL, &pool_table,
		   servers.form,
		   "Hosts that take no workers: a pool of parameter servers for the jobs with "
		   "\"servers\": {\"placement\": \"shared\"}.",
		   .present = CONF_GIVEN(struct cluster_conf, servers.given)),
	{ 0 },
};
const struct conf_table cluster_table = { "cluster", cluster_rows, sizeof(struct cluster_conf),
					  "The job controller, and hosts that it reserves." };

/* The error text for a host that a list would use as `new`, although the host is `old` already. */
static const char *conflict(enum host_use old, enum host_use new)
{
	if (old == HOST_POOL)
		return new == HOST_POOL ? "is listed twice"
					: "is kept for servers that jobs share (\"cluster\": "
					  "{\"servers\": ...})";
	if (old == HOST_WORKER && new == HOST_SERVER)
		return "has a worker of this job; for servers beside workers: \"servers\": "
		       "{\"placement\": \"workers\"}";
	return new == HOST_WORKER ? "is listed twice: a host has one worker of a job"
				  : "is listed twice: a host has one server of a job";
}

void cluster_check_list(const struct conf_list *list, enum host_use use, struct conf_doc *doc,
			const char *pointer, uint32_t hosts, uint8_t *uses)
{
	const int64_t *items = list->items;

	for (size_t i = 0; i < list->count; i++) {
		if (items[i] >= (int64_t)hosts) {
			conf_error(doc, conf_at(doc, "%s/%zu", pointer, i),
				   "there is no host %" PRId64 "; hosts are 0 to %" PRIu32,
				   items[i], hosts - 1);
			continue;
		}
		if (uses[items[i]] != HOST_FREE)
			conf_error(doc, conf_at(doc, "%s/%zu", pointer, i), "host %" PRId64 " %s",
				   items[i], conflict((enum host_use)uses[items[i]], use));
		uses[items[i]] = (uint8_t)use;
	}
}

void cluster_conf_check(const struct cluster_conf *conf, struct conf_doc *doc, uint32_t hosts)
{
	uint8_t *uses = xcalloc(hosts, sizeof(*uses));
	int64_t kept = 0;

	if (conf->servers.form == POOL_HOSTS)
		cluster_check_list(&conf->servers.hosts, HOST_POOL, doc, "/cluster/servers", hosts,
				   uses);
	else
		kept = conf->servers.number;
	for (uint32_t h = 0; h < hosts; h++)
		kept += uses[h] != HOST_FREE;
	if (kept >= (int64_t)hosts)
		conf_error(doc, "/cluster/servers",
			   "%" PRId64 " of %" PRIu32 " hosts leave none for workers", kept, hosts);
	free(uses);
}

uint32_t *cluster_conf_pool(const struct cluster_conf *conf, uint32_t hosts, uint32_t *count)
{
	const int64_t *list = conf->servers.hosts.items;
	bool listed = conf->servers.form == POOL_HOSTS;
	uint32_t *pool;

	*count = listed ? (uint32_t)conf->servers.hosts.count : (uint32_t)conf->servers.number;
	pool = xcalloc(*count, sizeof(*pool));
	for (uint32_t i = 0; i < *count; i++)
		pool[i] = listed ? (uint32_t)list[i] : hosts - *count + i;
	return pool;
}
