/* What the tables of a run hold, as the figures need it. Private to
 * sim/out/plot*.c. */
#ifndef INASIM_OUT_PLOT_DATA_H
#define INASIM_OUT_PLOT_DATA_H

#include "out/plot_page.h"

#include <stddef.h>
#include <stdint.h>

/* All zero is empty. */
struct plot_values {
	double *at;
	size_t count, capacity;
};
void plot_values_add(struct plot_values *values, double value);
void plot_values_sort(struct plot_values *values);

/* Nearest rank; NaN where fewer than ten values lie beyond it, n < 10/(1-p). */
double plot_percentile(const struct plot_values *sorted, unsigned permille);

/* Points (value, share not larger), thinned evenly but for the largest values.
 * Returns the number of points. */
size_t plot_cdf(FILE *data, const struct plot_values *sorted);

/* ---- flows.csv (plot_flows.c) ---- */

#define PLOT_CLASSES 5

struct plot_size_class {
	uint64_t min_bytes; /* the next one's is its end */
	const char *label;
};
extern const struct plot_size_class plot_size_classes[PLOT_CLASSES];

struct plot_flow_group {
	char *name;
	struct plot_values fct_s;
};

struct plot_flows {
	struct plot_values slowdown[PLOT_CLASSES]; /* sorted */
	struct plot_flow_group *groups;
	size_t group_count, group_capacity;
	uint64_t finished, unfinished;
	uint64_t too_fast; /* slowdown below 1: a bug of the simulator, shown and told */
};

/* Reads those of page->dir that count; to be released in any case. */
enum plot_outcome plot_flows_read(struct plot_flows *flows, struct plot_page *page);
void plot_flows_release(struct plot_flows *flows);

/* ---- series/network.csv (plot_network.c) ---- */

struct plot_sample {
	double time_s, flows, jobs, mean, max;
};

struct plot_samples {
	struct plot_sample *at;
	size_t count, capacity;
};

/* Reads those of page->dir; the caller frees samples->at in any case. */
enum plot_outcome plot_samples_read(struct plot_samples *samples, struct plot_page *page);

/* How many samples share a point of a figure, and these points: means (the maximum
 * stays a maximum) at the last one's time. */
size_t plot_samples_together(const struct plot_samples *samples);
void plot_samples_write(FILE *data, const struct plot_samples *samples, size_t together);

/* ---- series/links.csv (plot_packets.c) ---- */

/* One figure of several directories, by their labels; of one without (NULL). */
enum plot_outcome plot_packets_of(struct plot_page *page, const struct plot_labelled *runs,
				  char *const *labels, size_t count);

#endif
