/* The inside of flows: for flow*.c. All others use flows.h. */
#ifndef INASIM_WORKLOAD_FLOWS_FLOWS_PARTS_H
#define INASIM_WORKLOAD_FLOWS_FLOWS_PARTS_H

#include "workload/flows/flow_fluid.h"
#include "workload/flows/flow_generator.h"
#include "workload/flows/flows.h"
#include "workload/jobs/job_trace.h"
#include "workload/flows/sizes.h"

/* Flows of a group's trace that wait for others; `missing` is NULL if none does. */
struct flow_after {
	uint32_t *missing; /* by row of the trace: what it still waits for; owned */
	uint32_t *ready;   /* rows that start now; owned */
	size_t ready_count;
	uint64_t left; /* flows that have not started */
	struct timer timer;
};

struct group {
	struct flows *flows;
	const struct flow_group_conf *conf;
	uint32_t number;
	uint32_t *order; /* of hosts, see flow_generator.h; owned */
	struct flow_generator generator;
	struct timer timer; /* the next arrival */
	struct flow_after after;
	struct flow_group_stats stats;
	bytes completed; /* unsampled bytes of flows that finished since the last sample */
};

struct flow {
	struct flows *flows;
	struct group *group;
	uint64_t id;
	uint32_t row; /* of the group's trace */
	uint32_t src, dst;
	struct connection conn;  /* packet fidelity */
	struct flow_fluid fluid; /* fluid fidelity */
	bytes size;
	sim_time start, ideal;
	sim_time finish;             /* when the last byte was received, or it was cut off */
	sim_time settled_at;         /* when all was acknowledged, or it was cut off; 0 = not yet */
	struct transport_stats sent; /* a copy, once the flow is settled */
	bool received, measured;
	bool cut_off;           /* ended unfinished, as failures have left no path */
	bytes delivered;        /* when it was cut off */
	bytes sampled;          /* bytes delivered up to the last sample */
	struct flow *next_idle; /* in flows->idle */
};

static inline bool flow_is_endless(const struct flow *flow)
{
	return flow->size == FLOW_ENDLESS;
}

struct flow_list {
	struct flow **items;
	size_t count, capacity;
};

struct flows {
	struct model_env env;
	struct group *groups;
	size_t group_count;
	struct measured_window window;
	struct out_table *table;
	struct flow **all; /* every struct flow ever made, idle ones too; for flows_end() */
	size_t all_count, all_capacity;
	struct flow *idle;        /* rows are written; to be reused */
	struct flow_list settled; /* flows whose rows are still to be written */
	uint64_t numbers;         /* flow numbers given so far; disabled groups get some, too */
	uint64_t started, finished, endless;
	uint64_t endless_cut_off; /* of `cut_off` */
	uint64_t cut_off, measured_cut_off;
	const struct flow *first_cut_off;
	uint64_t timeouts;          /* of measured flows with a written row */
	uint64_t again;             /* packets that flows over RoCE with a written row sent again */
	bytes over_roce;            /* bytes of these flows */
	struct flow_class *classes; /* by size */
	size_t class_count;
	void (*changed)(void *owner);
	void *owner;
};

/* --- flows.c --- */

/* Starts the flow of a row of the group's trace. */
void flow_start_row(struct group *group, uint32_t row);

/* --- flow_after.c --- */

void flow_after_open(struct group *group);
/* No flow that waits starts any more. */
void flow_after_release(struct group *group);

/* A flow has been received or, with `sent`, acknowledged: others may start. */
void flow_after_event(struct flow *flow, bool sent);

/* --- flow_tables.c --- */

/* Makes the classes of sizes that end at these borders. */
void flow_open_classes(struct flows *flows, const struct conf_list *borders);

struct flow_class *flow_class_of(struct flows *flows, bytes size);

/* Call when a flow is acknowledged and its connection closed. The flow's row is complete then. */
void flow_settle(struct flow *flow);

/* Writes the rows of settled flows, adds the measured ones to the summary, and forgets all. The
 * order is by time, then by number, so that it does not depend on the order of hosts within an
 * instant. Called before new flows start, and at the end. */
void flow_write_settled(struct flows *flows);

#endif
