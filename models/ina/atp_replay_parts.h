/* The parts of a replay of ATP (atp_replay.h): between the file that builds it and the one that
 * runs it; nobody else includes this. */
#ifndef INASIM_INA_ATP_REPLAY_PARTS_H
#define INASIM_INA_ATP_REPLAY_PARTS_H

#include "ina/atp_replay.h"
#include "ina/flights.h"

#define NEVER        SIM_TIME_MAX
#define NOBODY       UINT32_MAX
#define PIECES_FIRST 256 /* places of a ring; a power of two */

/* An egress port. */
struct fifo {
	uint32_t port;
	uint32_t behind; /* the node that its packets come from last; NOBODY: not known yet */
	bool meet;       /* they come from several nodes, and wait for their turns */
	sim_time transmission, latency; /* of a packet */
	sim_time free;                  /* everything before has left */
	double chance;                  /* of marks that have not come to pass */
	const struct link_class *link;
};

/* An aggregator: the piece + 1 that has it, or had it last, and until when. */
struct held {
	uint64_t piece;
	sim_time until;
};

/* A piece that is not at all workers yet. Groups are bits. */
struct piece {
	uint32_t waiting;   /* at level 1, to be added */
	uint32_t at_server; /* unadded, or all */
	sim_time done;      /* the last of those at the server is added */
	bool waiting_marked, marked, resent, over;
};

struct result {
	sim_time due; /* at the group's switch */
	uint64_t piece;
	bool marked, resent;
};

/* Between a group and a server. */
struct way {
	bool local;                    /* level 1 is the group's own switch */
	uint32_t fifos[ROUTE_MAX + 1]; /* from there on up to level 1 */
	unsigned fifo_count;
	struct result *results; /* on their way: a ring, in the order of time */
	uint64_t first, end, mask;
};

struct group {
	uint32_t pool, workers;
	struct window window;
	sim_time nic;     /* free again */
	sim_time spacing; /* of packets there */
	sim_time up;      /* from the NIC to the switch */
	struct fifo down; /* and back, where results of all servers meet */
	struct way *ways; /* by server */
};

/* A switch that results of a server pass. */
struct stop {
	uint32_t pool, group; /* or NOBODY */
	struct branch {
		uint32_t fifo, stop;
	} * branches; /* to switches below */
	uint8_t count;
};

struct replayed_server {
	uint32_t pool, port, nic; /* FIFOs */
	struct stop *stops;       /* by fan-out of its racks */
	uint32_t stop_count, level1;
	sim_time added; /* everything that has come */
};

struct atp_replay {
	const struct hashed_job *job;
	uint32_t group_count, all, servers, pool_count, fifo_count, positions;
	struct group *groups;
	sim_time turns[RACK_INPUTS_MAX + 1]; /* of the groups' next steps */
	uint32_t turn;                       /* the first of them, if it is known */
	bool turn_known;
	struct replayed_server *server;
	uint32_t *switches; /* of pools */
	struct held **pools;
	struct fifo *fifos;
	struct piece *pieces; /* a ring, from the oldest that is not over */
	uint64_t first, next, mask;
	struct flights flights;
	uint64_t end; /* of what the workers have to send */
	sim_time adding, held;
	uint64_t server_packets, resent;
};

#endif
