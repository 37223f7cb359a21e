/* What a replay of ATP is made of: groups of workers, links, aggregators, the ways between. */
#include "ina/atp_replay_parts.h"

#include "base/mem.h"

#include <stdlib.h>

static const struct topology *topology_of(const struct atp_replay *replay)
{
	return replay->job->scheme->env.topo;
}

/* NOBODY when no aggregators of the switch are used. */
static uint32_t known_pool(const struct atp_replay *replay, uint32_t sw)
{
	for (uint32_t p = 0; p < replay->pool_count; p++)
		if (replay->switches[p] == sw)
			return p;
	return NOBODY;
}

static uint32_t pool_of(struct atp_replay *replay, uint32_t sw)
{
	uint32_t known = known_pool(replay, sw);

	if (known != NOBODY)
		return known;
	replay->switches[replay->pool_count] = sw;
	replay->pools[replay->pool_count] =
		xcalloc(replay->job->scheme->pools[0].count, sizeof(struct held));
	return replay->pool_count++;
}

static struct fifo fifo_at(const struct atp_replay *replay, uint32_t port)
{
	const struct network *net = &topology_of(replay)->net;
	const struct link_class *link = port_class(net, &net->ports[port]);

	return (struct fifo){ .port = port,
			      .behind = NOBODY,
			      .transmission = link_transmission(link, replay->job->frame),
			      .latency = link->latency + link->jitter_max,
			      .link = link };
}

static uint32_t fifo_of(struct atp_replay *replay, uint32_t port)
{
	for (uint32_t f = 0; f < replay->fifo_count; f++)
		if (replay->fifos[f].port == port)
			return f;
	replay->fifos = xrealloc(replay->fifos, replay->fifo_count + 1, sizeof(*replay->fifos));
	replay->fifos[replay->fifo_count] = fifo_at(replay, port);
	return replay->fifo_count++;
}

/* What comes from node `behind` goes through a FIFO. */
static void feed(struct fifo *fifo, uint32_t behind)
{
	fifo->meet |= fifo->behind != NOBODY && fifo->behind != behind;
	fifo->behind = behind;
}

/* Between worker w's group and server q. */
static void find_way(struct atp_replay *replay, struct group *group, uint32_t w, uint32_t q)
{
	const struct topology *topo = topology_of(replay);
	const struct hashed_job *job = replay->job;
	const struct racks *racks = &job->servers[q].racks;
	uint8_t rack = racks->of_worker[w].rack;
	struct way *way = &group->ways[q];
	uint32_t ports[ROUTE_MAX + 1], behind = job->job.hosts[w];
	unsigned count;

	way->mask = PIECES_FIRST - 1;
	way->results = xcalloc(PIECES_FIRST, sizeof(*way->results));
	way->local = rack == RACK_NONE;
	if (way->local)
		return;
	count = topology_path(topo, racks->racks[rack].down_host, &racks->racks[rack].up, ports);
	for (unsigned i = 1; i + 1 < count; i++) {
		way->fifos[way->fifo_count++] = fifo_of(replay, ports[i]);
		feed(&replay->fifos[way->fifos[i - 1]], behind);
		behind = topo->net.ports[ports[i - 1]].to;
	}
}

/* A worker beside a server leaves its NIC to the results, too: one for each of its pieces. */
static sim_time spacing_of(const struct atp_replay *replay, uint32_t host, sim_time transmission)
{
	for (uint32_t q = 0; q < replay->servers; q++)
		if (replay->job->job.server_hosts[q] == host)
			return transmission + transmission / replay->servers;
	return transmission;
}

static void place_worker(struct atp_replay *replay, uint32_t w)
{
	const struct hashed_job *job = replay->job;
	const struct network *net = &topology_of(replay)->net;
	uint32_t host = job->job.hosts[w], pool = pool_of(replay, net->ports[host].to - net->hosts);
	struct fifo nic = fifo_at(replay, host); /* host h sends on port h */
	sim_time spacing = spacing_of(replay, host, nic.transmission);
	struct group *group = replay->groups;

	while (group < replay->groups + replay->group_count && group->pool != pool)
		group++;
	if (group == replay->groups + replay->group_count) {
		replay->all |= UINT32_C(1) << replay->group_count++;
		group->pool = pool;
		window_init(&group->window, &job->scheme->window, job->frame, replay->servers);
		group->up = nic.transmission + nic.latency;
		group->down = fifo_at(replay, net->rare[host].reverse);
		group->ways = xcalloc(replay->servers, sizeof(*group->ways));
		for (uint32_t q = 0; q < replay->servers; q++)
			find_way(replay, group, w, q);
	}
	group->workers++;
	if (group->spacing < spacing)
		group->spacing = spacing;
}

/* Where results go from a switch. */
static void find_stop(struct atp_replay *replay, const struct racks *racks,
		      const struct fan_out *fan, struct stop *stop)
{
	const struct network *net = &topology_of(replay)->net;
	uint32_t sw = net->ports[net->rare[fan->ports[0]].reverse].to - net->hosts;
	uint32_t behind = sw == racks->sw ? racks->server : net->hosts + fan->from;

	*stop = (struct stop){ .pool = known_pool(replay, sw), .group = NOBODY };
	for (uint32_t g = 0; g < replay->group_count; g++)
		if (stop->pool == replay->groups[g].pool)
			stop->group = g;
	stop->branches = xcalloc(fan->count, sizeof(*stop->branches));
	for (uint32_t i = 0; i < fan->count; i++) {
		uint32_t to = net->ports[fan->ports[i]].to;
		struct branch *branch = &stop->branches[stop->count];

		if (to < net->hosts)
			continue;
		branch->fifo = fifo_of(replay, fan->ports[i]);
		branch->stop = racks->fan_out_of_switch[to - net->hosts];
		feed(&replay->fifos[branch->fifo], behind);
		stop->count++;
	}
}

/* The tree by which results come to the workers. */
static void find_stops(struct atp_replay *replay, uint32_t q)
{
	const struct racks *racks = &replay->job->servers[q].racks;
	struct replayed_server *server = &replay->server[q];

	server->stop_count = racks->fan_out_count;
	server->level1 = racks->fan_out_of_switch[racks->sw];
	server->stops = xcalloc(server->stop_count, sizeof(*server->stops));
	for (uint32_t f = 0; f < server->stop_count; f++)
		find_stop(replay, racks, &racks->fan_outs[f], &server->stops[f]);
}

static void place_server(struct atp_replay *replay, uint32_t q)
{
	const struct racks *racks = &replay->job->servers[q].racks;

	replay->server[q] = (struct replayed_server){
		.pool = pool_of(replay, racks->sw),
		.port = fifo_of(replay, racks->server_port),
		.nic = fifo_of(replay, racks->server),
	};
}

struct atp_replay *atp_replay_new(const struct hashed_job *job)
{
	struct atp_replay *replay = xcalloc(1, sizeof(*replay));
	const struct hashed_scheme *scheme = job->scheme;
	const struct atp_conf *conf = atp_conf(job);
	uint32_t most = RACK_INPUTS_MAX + 1 + job->job.servers, count = scheme->pools[0].count;
	bytes size = (bytes)scheme->conf->elements_per_packet * ELEMENT_BYTES;

	replay->job = job;
	replay->servers = job->job.servers;
	if (conf->index != ATP_INDEX_HASH)
		replay->positions = conf->positions < count ? (uint32_t)conf->positions : count;
	if (scheme->env.reducers->rate)
		replay->adding = (size * 8 * PS_PER_S + scheme->env.reducers->rate - 1) /
				 scheme->env.reducers->rate;
	replay->groups = xcalloc(RACK_INPUTS_MAX + 1, sizeof(*replay->groups));
	replay->server = xcalloc(replay->servers, sizeof(*replay->server));
	replay->switches = xcalloc(most, sizeof(*replay->switches));
	replay->pools = xcalloc(most, sizeof(*replay->pools));
	replay->mask = PIECES_FIRST - 1;
	replay->pieces = xcalloc(PIECES_FIRST, sizeof(*replay->pieces));
	for (uint32_t w = 0; w < job->job.workers; w++)
		place_worker(replay, w);
	for (uint32_t q = 0; q < replay->servers; q++)
		place_server(replay, q);
	for (uint32_t q = 0; q < replay->servers; q++)
		find_stops(replay, q);
	return replay;
}

void atp_replay_free(struct atp_replay *replay)
{
	for (uint32_t g = 0; g < replay->group_count; g++) {
		for (uint32_t q = 0; q < replay->servers; q++)
			free(replay->groups[g].ways[q].results);
		free(replay->groups[g].ways);
		window_release(&replay->groups[g].window);
	}
	for (uint32_t q = 0; q < replay->servers; q++) {
		for (uint32_t f = 0; f < replay->server[q].stop_count; f++)
			free(replay->server[q].stops[f].branches);
		free(replay->server[q].stops);
	}
	for (uint32_t p = 0; p < replay->pool_count; p++)
		free(replay->pools[p]);
	free(replay->pools);
	free(replay->switches);
	free(replay->groups);
	free(replay->server);
	free(replay->fifos);
	flights_release(&replay->flights);
	free(replay->pieces);
	free(replay);
}
