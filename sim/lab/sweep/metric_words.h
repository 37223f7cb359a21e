/* Names of metrics (paths into summary.json) in plain words, for figures and tables. */
#ifndef INASIM_LAB_SWEEP_METRIC_WORDS_H
#define INASIM_LAB_SWEEP_METRIC_WORDS_H

#include "lab/sweep/sweep_table.h"

/* "jobs.by_name.vgg.jct_s.p99" becomes "job completion time of vgg, 99th percentile", without the
 * unit. Size classes are named by their bounds if `table` (or NULL) has them. Unknown names are
 * spelled out: "jobs.new_thing" becomes "jobs: new thing". The caller frees. */
char *metric_words(const char *name, const struct sweep_table *table);

#endif
