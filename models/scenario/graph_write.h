/* Writes networks as graphs (graph_conf.h). The networks come from a topology, or from files of
 * other simulators. */
#ifndef INASIM_SCENARIO_GRAPH_WRITE_H
#define INASIM_SCENARIO_GRAPH_WRITE_H

#include "topo/graph.h"

#include <stdio.h>

/* A node. Its name is the word and the number ("edge3"), or the word alone. */
struct graph_node_text {
	char word[12];
	bool numbered; /* the name has a number */
	uint32_t number;
	sim_time latency; /* of a switch; SIM_TIME_MAX: as in the scenario */
	bool passes;      /* a switch that adds nothing up */
};

struct graph_text {
	struct graph_node_text *nodes; /* hosts first */
	uint32_t hosts, switches;
	struct graph_link *links; /* in the order of every switch's ports */
	size_t link_count, link_capacity;
};

/* Allocates the nodes, zeroed except for their latency, which is SIM_TIME_MAX. graph_text_release()
 * frees the nodes and links. */
void graph_text_init(struct graph_text *text, uint32_t hosts, uint32_t switches);
void graph_text_release(struct graph_text *text);

/* Adds a link of cost 1 between nodes a and b. */
void graph_text_link(struct graph_text *text, uint32_t a, uint32_t b, const struct link_conf *link);

/* Whether rate, delay and loss are the same, as of parallel links. */
bool graph_links_alike(const struct graph_link *a, const struct graph_link *b);

/* Prints the graph as JSON. Consecutive names, and links of consecutive nodes, become ranges. */
void graph_text_print(const struct graph_text *text, FILE *to);

/* Fills in *text with the network of a topology, which must not be a graph. Ports keep their order,
 * so routes stay the same. Marks switches that add nothing up. The caller releases *text. */
void graph_export(struct graph_text *text, const struct topology_conf *conf);

/* Reads a topology of HPCC's or SimAI's simulator (topology.txt) or of csg-htsim (.topo); the first
 * line tells which. Sets *note to keys that the scenario needs because a graph cannot have them, or
 * NULL. Returns false for any other file, and for a network too large for a graph. Then *error has
 * the reason and the line, and *text needs no release. The caller frees *note and *error. */
bool graph_import(struct graph_text *text, FILE *from, char **note, char **error);

#endif
