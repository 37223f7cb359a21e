/* A job on two levels of aggregating switches, for one of its servers (ESA section 5.2; ATP).
 *
 *     worker -> [level 0: switch of its rack] -> ... -> [level 1: switch of the server] -> server
 *
 * Switches in between only forward. The inputs of a level-0 switch are the workers of its rack. The
 * inputs of level 1 are the racks and, numbered after them, the workers below the server's switch.
 *
 * As in ATP's header, a packet names its contributors by a bitmap of one level: bitmap0 of a rack,
 * or bitmap1 of level 1, in which a rack's bit stands for all its workers. A bitmap has at most 31
 * bits, because the header's fan-in degrees have 5 bits. */
#ifndef INASIM_INA_COMMON_RACKS_H
#define INASIM_INA_COMMON_RACKS_H

#include "topo/topology.h"

#define RACK_INPUTS_MAX 31
#define RACK_NONE       31 /* not a rack: the bits are inputs of level 1 */

/* A set of contributors, as a packet or an aggregator names it. */
struct bitmap {
	uint32_t bits;
	uint8_t rack; /* whose workers the bits are, or RACK_NONE */
};

struct rack {
	uint32_t sw;
	uint32_t all;       /* bits of all its workers */
	uint32_t up_port;   /* egress port of its switch towards the server */
	struct route up;    /* from its workers to the server */
	struct route down;  /* from the server to down_port */
	uint32_t down_port; /* one of its workers */
};

/* Egress ports of a switch over which results reach workers. */
struct fan_out {
	uint32_t *ports;
	uint32_t count;
	uint32_t from; /* the switch that results come from; for level 1, itself */
};

/* Inputs of level 1 are also the workers below switches that add nothing up
 * (topology_aggregates()). */
struct racks {
	uint32_t server;      /* egress port of its host */
	uint32_t sw;          /* level 1 */
	bool passes;          /* level 1 adds nothing up */
	uint32_t server_port; /* egress port of level 1 to the server */
	uint32_t all;         /* bits of all inputs of level 1 */
	uint32_t count;       /* of racks */
	struct rack *racks;
	struct bitmap *of_worker;
	struct route *direct; /* to the server, by worker; only of inputs of level 1 */
	struct fan_out *fan_outs;
	uint32_t fan_out_count;
	uint32_t *fan_out_of_switch; /* index in fan_outs; UINT32_MAX = not on the way to workers */
};

/* Finds the racks of workers, and their routes to the server. Workers and server are given by the
 * egress ports of their hosts (ina_job.ports); they may share some. `entropy` picks one path among
 * equal ones for each rack, as ECMP does by address, so packets of a rack keep their order. Results
 * come down one tree. Returns false when a level would have more than 31 inputs; racks_release() is
 * needed even then. */
bool racks_init(struct racks *racks, const struct topology *topo, const uint32_t *workers,
		uint32_t count, uint32_t server, uint64_t entropy);
void racks_release(struct racks *racks);

/* Finds the paths anew after routing has changed. The arguments must be those of racks_init(). */
void racks_reroute(struct racks *racks, const struct topology *topo, const uint32_t *workers,
		   uint32_t count, uint64_t entropy);

/* Whether the job's switches still add, and all links work on the ways of its contributions and
 * results. */
bool racks_work(const struct racks *racks, const struct topology *topo, const uint32_t *workers,
		uint32_t count);

/* The route to the server of worker number `worker`. */
static inline const struct route *racks_route(const struct racks *racks, uint32_t worker)
{
	uint8_t rack = racks->of_worker[worker].rack;

	return rack == RACK_NONE ? &racks->direct[worker] : &racks->racks[rack].up;
}

/* Bits of all inputs of the level that `rack` names. */
static inline uint32_t racks_all(const struct racks *racks, uint8_t rack)
{
	return rack == RACK_NONE ? racks->all : racks->racks[rack].all;
}

#endif
