/* How a figure draws an axis of a sweep: as numbers if all its values are numbers ("16KB", "10us",
 * 0.2, "85pkt"), else as labels side by side. */
#ifndef INASIM_LAB_FIGURES_AXIS_SCALE_H
#define INASIM_LAB_FIGURES_AXIS_SCALE_H

#include "lab/sweep/sweep_table.h"

#include <stdbool.h>
#include <stddef.h>

#define AXIS_LABEL 32 /* bytes of a label's buffer */

struct axis_scale {
	const struct sweep_axis *axis; /* not owned */
	bool numeric;                  /* two or more values, different numbers of one kind */
	bool geometric; /* numeric, above 0, in nearly equal ratios: fit for a logarithmic axis */
	double *at;     /* by level: its position (a number in base units; of a label, the level) */
	const char **called; /* by level: the user's label for it (not owned), or NULL */
};

/* Decides how to draw an axis. Never fails. A geometric series with an additional 0 becomes labels,
 * since it fits neither a linear nor a logarithmic axis. */
void axis_scale_init(struct axis_scale *scale, const struct sweep_axis *axis);
void axis_scale_release(struct axis_scale *scale);

/* Whether the values of an axis, two or more, are names and not different numbers of one kind. */
bool axis_is_named(const struct sweep_axis *axis);

/* Turns the axis into labels side by side (for bars and maps). */
void axis_scale_as_labels(struct axis_scale *scale);

/* The label of a tick: the user's, or the value as the plan writes it. Long numbers are rounded to
 * three digits ("31622777B" becomes "31.6MB"). May use `buffer`, of AXIS_LABEL bytes. */
const char *axis_scale_label(const struct axis_scale *scale, size_t level, char *buffer);

#endif
