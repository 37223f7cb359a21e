/* What the verb why prints: why.c has the long form, why_summary.c the short one. */
#ifndef INASIM_CLI_WHY_PRINT_H
#define INASIM_CLI_WHY_PRINT_H

#include "lab/breakdown.h"
#include "why/why.h"

#include <stdio.h>

/* Prints causes as shares of their sum, the largest first; nothing if no time was spent. */
void print_causes(FILE *to, const double cause[WHY_CAUSES], double sum);
/* Prints what the workers of a job waited for, a line each, if there are several things. */
void print_groups(FILE *to, const struct breakdown *b, uint64_t job);
void print_iteration(FILE *to, const struct breakdown *b, const struct breakdown_iteration *it);
/* Prints the short form of a result directory. Returns an exit code, after a complaint. */
int print_summary(FILE *to, const char *dir, const struct breakdown *b);

#endif
