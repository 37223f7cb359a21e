/* Time series of a run: the whole network, chosen links by class of traffic, and groups of flows. A
 * sample is taken every `output.series.every` and at the end, so that the rows add up to the run.
 *
 * With --why, also who filled these links: bytes by owner and class.
 *
 * Samples change nothing: a run with series has the digest of the run without. Links count their
 * traffic by class only if a series asks for them. */
#ifndef INASIM_RUN_SERIES_H
#define INASIM_RUN_SERIES_H

#include "data/table.h"
#include "scenario/scenario.h"

/* Classes of traffic, as a packet shows them. */
enum traffic {
	TRAFFIC_AGGREGATION, /* packets that switches aggregate, and their results */
	TRAFFIC_JOBS,        /* other data of jobs: rings, parameter servers */
	TRAFFIC_BACKGROUND,  /* data of flows */
	TRAFFIC_CONTROL,     /* ACKs and control packets */
	TRAFFIC_CLASSES
};

extern const struct out_schema series_schema, link_series_schema, flow_series_schema,
	owner_series_schema;

struct simulation;
struct series;

/* Opens the tables that the scenario asks for and starts to sample. Returns NULL and leaves *error
 * alone if no series is wanted or `dir` is NULL; NULL and *error (caller frees) if a table cannot
 * be opened. */
struct series *series_start(struct simulation *simulation, struct out_dir *dir, char **error);
/* The links that an entry of output.series.links stands for: fills in `ports`, which has room for
 * all ports of the network, and returns how many. */
uint32_t series_ports(const struct simulation *simulation, const struct series_links *entry,
		      uint32_t *ports);
/* Before a run with --why: adds series/owners.csv if links are sampled. `series` may be NULL. False
 * and *error (caller frees) if the table cannot be opened. */
bool series_by_owner(struct series *series, struct out_dir *dir, char **error);
/* Takes the last sample at the end of the run, sim.now, before fluid_stop(). NULL is allowed. */
void series_stop(struct series *series);
void series_free(struct series *series);

#endif
