/* inasim in your own program: a simulation is made from a scenario, runs to its end or step by
 * step, takes more work while it runs, and its tables are read without files.
 *
 *     char *error;
 *     struct inasim *s = inasim_load("scenario.json", NULL, &error);
 *     if (!s) { fputs(error, stderr); return 1; }
 *     inasim_run(s, INFINITY);
 *     struct inasim_column jct;
 *     inasim_column(s, "jobs", "jct_s", &jct);
 *
 * Compile with `pkg-config --cflags --libs inasim`. From Python: inasim.py beside this file.
 *
 * There may be several simulations in a process, each used by one thread at a time. Nothing is
 * global. Mistakes come back as texts that the caller frees with free(). Two things end the
 * process, as in the program: no memory is left, or inasim has a bug. Times are in seconds. They
 * are doubles, which have picoseconds below 9000 s. */
#ifndef INASIM_H
#define INASIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct inasim;

/* The version, such as "0.2.0". */
const char *inasim_version(void);

/* --- a simulation --- */

/* Loads a scenario from a file or, with inasim_parse(), from a JSON text. `sets` are settings as of
 * --set, such as "/seed=2"; it ends with NULL, and may be NULL. Returns NULL and *error, all
 * mistakes with their places, if the scenario cannot run. The caller releases with inasim_close().
 */
struct inasim *inasim_load(const char *path, const char *const *sets, char **error);
struct inasim *inasim_parse(const char *json, const char *const *sets, char **error);
void inasim_close(struct inasim *s);

/* Runs until the simulated time `until`, or until the run ends by itself. Returns true if it has
 * only paused: call it again. INFINITY runs to the end. A run that never pauses and takes no more
 * work skips what repeats, as the program does; results are the same. */
bool inasim_run(struct inasim *s, double until);

/* Ends the run, now or, within a callback, right after it. */
void inasim_stop(struct inasim *s);

/* The simulated time. */
double inasim_now(const struct inasim *s);

/* --- results --- */

/* How the run has ended, as in summary.json ("all_done", "time_limit"); NULL before its end. */
const char *inasim_end(const struct inasim *s);

/* The digest of all events up to now: equal digests, equal runs. */
uint64_t inasim_digest(const struct inasim *s);

/* summary.json, once the run has ended; NULL before. The caller frees. */
char *inasim_summary(const struct inasim *s);

/* The names of the tables ("jobs.csv", "flows.csv"), by number; NULL behind the last. Functions
 * take "jobs", too. */
const char *inasim_table(const struct inasim *s, size_t number);

/* A column of a table with the rows up to now. Texts are in `texts`, everything else in `numbers`:
 * times in seconds, flags as 0 or 1. A missing value is NULL or NaN. `name` ends with its unit. The
 * arrays are the caller's, to be released with inasim_column_free(); texts and names belong to the
 * simulation. */
struct inasim_column {
	const char *name, *help;
	size_t rows;
	double *numbers;
	const char **texts; /* NULL: it has numbers */
};
/* By name; false if there is no such table or column. Rows of links and of switch memory are there
 * once the run has ended. */
bool inasim_column(const struct inasim *s, const char *table, const char *name,
		   struct inasim_column *column);
/* The names of a table's columns, by number; NULL behind the last. */
const char *inasim_column_name(const struct inasim *s, const char *table, size_t number);
void inasim_column_free(struct inasim_column *column);

/* --- more work ---
 *
 * For programs that decide themselves what happens next, such as a simulator of compute. Their
 * scenario may have no jobs and flows if it runs until a time ("stop": {"when": "time"}). What is
 * added is not in the tables. Callbacks are called at the simulated time of what they tell; they
 * may call everything but inasim_run(), inasim_close() and inasim_group_close(). */

/* Calls at(owner) at a time that has not passed. */
void inasim_at(struct inasim *s, double time, void (*at)(void *owner), void *owner);

/* The number of hosts, which have the numbers from 0. */
size_t inasim_hosts(const struct inasim *s);

/* A group of hosts, all different, that do one kind of operation by a scheme, over and over: such
 * as "all_reduce" by "switchml", or a "message" from the first host to the second, by "ring". The
 * order of hosts is that of ranks. The scheme has the parameters of the scenario. `size` is what a
 * member will hand over in one iteration of training, for schemes that share memory or choose by
 * size; an operation may have any size. done() is told when the member with this number, from 0,
 * has the result of its operation `number`, counted from 0. NULL and *error if the scheme cannot do
 * it there, or has no memory left. Schemes with parameter servers put them on the first hosts. */
struct inasim_group *inasim_group(struct inasim *s, const char *operation, const char *scheme,
				  const uint32_t *hosts, size_t count, uint64_t size,
				  void (*done)(void *owner, size_t member, uint64_t number),
				  void *owner, char **error);

/* A member takes part in its next operation, with so many bytes. All members must, and with the
 * same size (a receiver of messages, too). */
void inasim_put(struct inasim_group *group, size_t member, uint64_t size);

/* Ends a group and gives its switch memory back; what is under way is lost. inasim_close() ends
 * those that are left. */
void inasim_group_close(struct inasim_group *group);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
