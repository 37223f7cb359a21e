/* Names of metrics (paths into summary.json) in plain words, for figures. */
#ifndef INASIM_STUDY_METRIC_WORDS_H
#define INASIM_STUDY_METRIC_WORDS_H

#include "study/sweep/sweep_table.h"

enum metric_unit { METRIC_NUMBER, METRIC_SECONDS, METRIC_BYTES, METRIC_BITS_PER_SECOND };

/* "jobs.by_name.vgg.jct_s.p99" becomes "job completion time of vgg, 99th
 * percentile", without its unit. Size classes are named by their bounds where the
 * sweep has them. Names that are not known become words: "jobs.new_thing" is
 * "jobs: new thing". The caller frees. */
char *metric_words(const struct sweep_table *table, size_t metric);

/* The unit, by the suffix of its quantity. */
enum metric_unit metric_unit(const char *name);

#endif
