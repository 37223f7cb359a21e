/* A graph as users write it, in a scenario or in a file of its own, and graph_read(). */
#ifndef INASIM_SCENARIO_GRAPH_CONF_H
#define INASIM_SCENARIO_GRAPH_CONF_H

#include "conf/conf.h"
#include "topo/graph.h"

/* Names may be ranges, as Slurm writes hosts: "h[0-15]", "n[01-16,20]", "t[0-3]-[0-3]". */
struct graph_switch_set {
	const char *name;
	sim_time latency;
	bool latency_given;
	bytes buffer; /* of each egress port; 0: not given */
	struct ecn_conf ecn;
	bool ecn_given;
	struct {
		int form; /* enum aggregation_form */
		bool on;
		bytes memory;
	} aggregation;
};
enum aggregation_form { AGGREGATION_ON_OFF, AGGREGATION_MEMORY };
struct graph_switch_conf {
	int form;         /* enum graph_switch_form */
	const char *name; /* GRAPH_SWITCH_NAME */
	struct graph_switch_set set;
};
enum graph_switch_form { GRAPH_SWITCH_NAME, GRAPH_SWITCH_SET };

struct graph_link_conf {
	const char *from, *to;
	int pairs; /* enum graph_pairs */
	int64_t count, cost;
	bps rate;       /* 0: not given */
	sim_time delay; /* 0: not given */
	double loss;
	bool loss_given;
};
enum graph_pairs { GRAPH_PAIRS_ALL, GRAPH_PAIRS_EACH };

struct graph_conf {
	struct conf_list hosts;    /* of const char * */
	struct conf_list switches; /* of struct graph_switch_conf */
	struct conf_list links;    /* of struct graph_link_conf */
};

/* The rows of struct graph_conf. */
extern const struct conf_table graph_table;

/* Sets topology->graph if the topology's kind is graph; else does nothing. The graph comes from the
 * scenario or its graph file, and lives as long as `doc`. If something is wrong, adds an error with
 * its place and leaves topology->graph NULL. */
void graph_read(struct topology_conf *topology, struct conf_doc *doc);

#endif
