/* Flows from the inside: shared by flow*.c; everybody else uses flows.h. */
#ifndef INASIM_WORKLOAD_FLOWS_FLOWS_PARTS_H
#define INASIM_WORKLOAD_FLOWS_FLOWS_PARTS_H

#include "workload/flows/flow_fluid.h"
#include "workload/flows/flow_generator.h"
#include "workload/flows/flows.h"
#include "workload/jobs/job_trace.h"
#include "workload/flows/sizes.h"

struct group {
	struct flows *flows;
	const struct flow_group_conf *conf;
	uint32_t number;
	uint32_t *order; /* see flow_generator.h; owned */
	struct flow_generator generator;
	double *load; /* fluid: of its short flows, bytes per second by port; NULL = none */
	struct timer timer;
	struct flow_group_stats stats;
	bytes completed; /* since the last sample, of flows that have finished since then */
};

struct flow {
	struct flows *flows;
	struct group *group;
	uint64_t id;
	uint32_t src, dst;
	struct connection conn;  /* with packets */
	struct flow_fluid fluid; /* without */
	bytes size;
	sim_time start, ideal;
	sim_time finish;             /* received */
	sim_time settled_at;         /* 0 = not yet */
	struct transport_stats sent; /* once settled */
	bool received, measured;
	bool cut_off;  /* failures have left no way: it has ended, unfinished */
	bytes sampled; /* delivered at the last sample */
	struct flow *next_idle;
};

struct flow_list {
	struct flow **items;
	size_t count, capacity;
};

/* What happened to flows on the hosts of a partition (core/parts.h) and is not counted yet. */
struct flow_news {
	struct flow_list received, settled;
};

#define FLOW_AHEAD 64 /* flows whose routes are added to the platform together */

/* Fluid: routes of flows that are about to start (flow_ahead.c). */
struct flow_ahead {
	struct flow_ahead_route {
		uint64_t number;
		uint32_t src, dst, route;
	} routes[FLOW_AHEAD];
	unsigned first, end; /* of those that have not started */
};

struct flows {
	struct model_env env;
	struct group *groups;
	size_t group_count;
	struct measured_window window;
	struct out_table *table;
	struct flow **all; /* every flow object ever made, for the end */
	size_t all_count, all_capacity;
	struct flow *idle;
	struct flow_news *news; /* by partition, 1..parts */
	unsigned parts;
	struct flow_list settled; /* not written yet */
	uint64_t numbers;         /* given so far, those of disabled groups included */
	struct flow_ahead ahead;  /* fluid */
	uint64_t started, finished;
	uint64_t cut_off, measured_cut_off;
	const struct flow *first_cut_off;
	uint64_t timeouts;          /* of measured flows whose row is written */
	struct flow_class *classes; /* by size */
	size_t class_count;
	void (*changed)(void *owner);
	void *owner;
};

/* --- flow_ahead.c --- */

/* The route of a flow that starts. The caller owns it. */
uint32_t flow_ahead_take(struct flows *flows, const struct flow_fluid_spec *flow);

/* --- flow_load.c --- */

/* Adds to group->load what short flows of the group put on each link, when `per_s` flows of all
 * sizes arrive in a second. */
void flow_load_add(struct group *group, double per_s);

/* --- flow_tables.c --- */

/* Makes the classes by size, whose borders are given. */
void flow_open_classes(struct flows *flows, const struct conf_list *borders);

struct flow_class *flow_class_of(struct flows *flows, bytes size);

/* The flow is acknowledged and its connection closed: its row is complete. */
void flow_settle(struct flow *flow);

void flow_list_add(struct flow_list *list, struct flow *flow);

/* Writes the rows of settled flows, adds them to the summary, and forgets them: by time, then
 * number, so the order of hosts within an instant does not matter. Called before new flows start,
 * and at the end. */
void flow_write_settled(struct flows *flows);

#endif
