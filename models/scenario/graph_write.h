/* Networks written down as graphs (graph_conf.h): built ones, and files of other simulators. */
#ifndef INASIM_SCENARIO_GRAPH_WRITE_H
#define INASIM_SCENARIO_GRAPH_WRITE_H

#include "topo/graph.h"

#include <stdio.h>

/* What is written of a node: its name is the word and the number, "edge3", or the word alone. */
struct graph_node_text {
	char word[12];
	bool numbered;
	uint32_t number;
	sim_time latency; /* of a switch; SIM_TIME_MAX = that of the scenario */
	bool passes;      /* a switch that adds nothing up */
};

struct graph_text {
	struct graph_node_text *nodes; /* hosts first */
	uint32_t hosts, switches;
	struct graph_link *links; /* in the order of every switch's ports */
	size_t link_count, link_capacity;
};

/* Allocates the nodes, all 0 but for their latencies, SIM_TIME_MAX. graph_text_release() frees the
 * nodes and links. */
void graph_text_init(struct graph_text *text, uint32_t hosts, uint32_t switches);
void graph_text_release(struct graph_text *text);

/* Adds a link of cost 1; nodes in any order. */
void graph_text_link(struct graph_text *text, uint32_t a, uint32_t b, const struct link_conf *link);

/* As JSON; names and links that follow each other become ranges. */
void graph_text_print(const struct graph_text *text, FILE *to);

/* The network of a topology that is not a graph already, with the same routes: ports keep their
 * order. Switches that add nothing up say so. The caller releases *text. */
void graph_export(struct graph_text *text, const struct topology_conf *conf);

/* Reads a topology of HPCC's or SimAI's simulator (topology.txt) or of csg-htsim (.topo), told
 * apart by their first line. What a graph cannot say but the scenario can goes to *note (caller
 * frees; NULL = nothing). False and *error (caller frees), with the line, for what is no such file
 * or more than a graph has room for; then there is nothing to release. */
bool graph_import(struct graph_text *text, FILE *from, char **note, char **error);

#endif
