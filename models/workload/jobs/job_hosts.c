/* Which hosts a job gets for its workers and parameter servers. */
#include "workload/jobs/jobs_parts.h"

#include "base/mem.h"

#include <stdlib.h>

static void copy_list(uint32_t *hosts, const struct conf_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		hosts[i] = (uint32_t)((const int64_t *)list->items)[i];
}

/* Takes the listed hosts, and `other_count` others that the placement chooses. Returns false and
 * takes nothing if that is impossible. */
static bool take_list_and(struct job *job, struct rng *rng, const uint32_t *listed,
			  uint32_t listed_count, uint32_t *others, uint32_t other_count)
{
	struct cluster *cluster = &job->jobs->cluster;

	if (!cluster_take_list(cluster, listed, listed_count))
		return false;
	if (cluster_place_apart(cluster, (enum placement)job->conf->placement, other_count, rng,
				listed, listed_count, others))
		return true;
	cluster_release(cluster, listed, listed_count);
	return false;
}

/* Takes slots for the workers, and for `own` servers on hosts of their own. */
static bool take_slots(struct job *job, uint32_t own)
{
	struct cluster *cluster = &job->jobs->cluster;
	bool workers_listed = job_hosts_listed(job);
	bool servers_listed = own && job_group_servers_listed(job->conf);
	uint32_t *workers = job->hosts, *servers = job->hosts + job->workers;
	struct rng rng;

	rng_init(&rng, job->jobs->env.sim->seed, "placement", job->number);
	if (workers_listed)
		copy_list(workers, &job->conf->workers.hosts);
	if (servers_listed)
		copy_list(servers, &job->conf->servers.hosts);
	if (workers_listed && (servers_listed || !own))
		return cluster_take_list(cluster, job->hosts, job->workers + own);
	if (workers_listed)
		return take_list_and(job, &rng, workers, job->workers, servers, own);
	if (servers_listed)
		return take_list_and(job, &rng, servers, own, workers, job->workers);
	return cluster_place(cluster, (enum placement)job->conf->placement, job->workers, own, &rng,
			     job->hosts);
}

/* Finds hosts for servers that take no slots. Jobs take turns on a pool: with one server for each
 * job and a pool of two, jobs with even numbers share one host and jobs with odd numbers the other,
 * as in ESA's testbed (section 7.1). */
static void borrow_hosts(struct job *job)
{
	const struct jobs *jobs = job->jobs;
	uint32_t *servers = job->hosts + job->workers;

	for (uint32_t q = 0; q < job->servers; q++)
		servers[q] = job->conf->servers.placement == SERVERS_SHARED
				     ? jobs->pool[((uint64_t)job->number * job->servers + q) %
						  jobs->pool_count]
				     : job->hosts[q];
}

bool job_take_hosts(struct job *job)
{
	uint32_t own = job_group_own_servers(job->conf, job->workers);

	job->hosts = xcalloc(job->workers + job->servers, sizeof(*job->hosts));
	if (!take_slots(job, own)) {
		free(job->hosts);
		job->hosts = NULL;
		return false;
	}
	if (!own)
		borrow_hosts(job);
	return true;
}

/* Whether one of a host's NICs is out of reach for all other hosts, for ever. */
static bool is_cut_off(const struct jobs *jobs, uint32_t host)
{
	const struct topology *topo = jobs->env.topo;
	const struct machine_conf *machine = jobs->env.machine;
	uint32_t hosts = topo->net.hosts;

	for (uint32_t r = 0; r < machine_nics(machine); r++) {
		bool reached = false;

		for (uint32_t h = 0; h < jobs->cluster.host_count && !reached; h++)
			reached = h != host &&
				  topology_ever_reaches(topo, machine_nic(machine, hosts, h, r),
							machine_nic(machine, hosts, host, r));
		if (!reached)
			return true;
	}
	return false;
}

bool job_replace_hosts(struct job *job)
{
	struct jobs *jobs = job->jobs;
	uint32_t own = job_group_own_servers(job->conf, job->workers), other;
	struct rng rng;

	rng_init(&rng, jobs->env.sim->seed, "other hosts", job->number);
	for (uint32_t i = 0; i < job->workers + own; i++) {
		if (!is_cut_off(jobs, job->hosts[i]))
			continue;
		do /* a free host that is cut off, too, stays taken, so it is not chosen again */
			if (!cluster_place_apart(&jobs->cluster,
						 (enum placement)job->conf->placement, 1, &rng,
						 job->hosts, job->workers + own, &other))
				return false;
		while (is_cut_off(jobs, other));
		job->hosts[i] = other;
	}
	if (!own)
		borrow_hosts(job);
	return true;
}

void job_return_hosts(struct job *job)
{
	cluster_release(&job->jobs->cluster, job->hosts,
			job->workers + job_group_own_servers(job->conf, job->workers));
	free(job->hosts);
	job->hosts = NULL;
}
