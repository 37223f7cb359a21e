/* An axis of a sweep as a figure needs it: numbers where all its values are
 * numbers ("16KB", "10us", 0.2, "85pkt"), else places beside one another. */
#ifndef INASIM_LAB_FIGURES_AXIS_SCALE_H
#define INASIM_LAB_FIGURES_AXIS_SCALE_H

#include "lab/sweep/sweep_table.h"

#include <stdbool.h>
#include <stddef.h>

#define AXIS_LABEL 32 /* bytes of a label's buffer */

struct axis_scale {
	const struct sweep_axis *axis; /* not owned */
	bool numeric;                  /* all values are numbers of one kind, and differ */
	bool geometric; /* numeric, above 0, and by factors that are alike: for a logarithmic axis
			 */
	double *at;     /* by level: the number in base units, or, of labels, the level */
	const char **called; /* by level: what the user calls it (not owned), or NULL */
};

/* Numbers that hold a 0 and are geometric without it count as labels: they fit
 * neither a linear nor a logarithmic axis. Never fails. */
void axis_scale_init(struct axis_scale *scale, const struct sweep_axis *axis);
void axis_scale_release(struct axis_scale *scale);

/* Goes over to places beside one another (bars, maps). */
void axis_scale_as_labels(struct axis_scale *scale);

/* What stands at a tick: what the user calls the value, else the value as the plan writes it; a
 * long number is rounded to three digits ("31622777B" becomes "31.6MB"). Returns `buffer` or the
 * text itself. */
const char *axis_scale_label(const struct axis_scale *scale, size_t level, char *buffer);

#endif
