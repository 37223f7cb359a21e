#include "lab/sweep/sweep.h"

#include "base/input.h"
#include "base/mem.h"
#include "data/folder.h"
#include "lab/sweep/point.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_PLAN (64 << 20) /* bytes */

/* --- reading --- */

/* Records have names such as "0123456789abcdef.json". */
static size_t count_records(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	size_t count = 0;

	while (dir && (entry = readdir(dir)))
		count += strspn(entry->d_name, "0123456789abcdef") == 16 &&
			 !strcmp(entry->d_name + 16, ".json");
	if (dir)
		closedir(dir);
	return count;
}

void sweep_read(struct sweep *sweep, const char *dir, const struct plan *plan,
		const struct point_facts *facts)
{
	size_t own = 0; /* records of points of the plan */
	size_t all;     /* records in the folder */

	*sweep = (struct sweep){ .plan = plan,
				 .facts = facts,
				 .dir = folder_trim(dir),
				 .records = xcalloc(plan->point_count, sizeof(*sweep->records)),
				 .running = xcalloc(plan->point_count, sizeof(*sweep->running)) };
	sweep->folder = folder_join(sweep->dir, "points");
	for (size_t i = 0; i < plan->point_count; i++) {
		char *record = point_path(sweep->folder, facts[i].hash, ".json");

		own += folder_exists(record);
		free(record);
		record_init(&sweep->records[i]);
		point_read_record(sweep->folder, facts[i].hash, &sweep->records[i]);
		sweep->running[i].holder =
			point_runs(sweep->folder, facts[i].hash, &sweep->running[i].seconds);
	}
	sweep->wanted = xcalloc(plan->point_count, sizeof(*sweep->wanted));
	sweep->precision =
		precision_wanted(plan, facts, sweep->records, sweep->folder, sweep->wanted);
	for (size_t i = 0; i < plan->point_count; i++)
		sweep->points += sweep->wanted[i];
	/* `own` may be larger: records have vanished since, or the folder cannot be listed */
	all = count_records(sweep->folder);
	sweep->others = all > own ? all - own : 0;
}

void sweep_release(struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->plan->point_count; i++) {
		record_release(&sweep->records[i]);
		free(sweep->running[i].holder);
	}
	free(sweep->wanted);
	free(sweep->running);
	free(sweep->records);
	free(sweep->folder);
	free(sweep->dir);
}

/* --- the directory --- */

/* Copies the plan to DIR/plan.json, unless an equal copy is there. False on failure, and *error if
 * the plan cannot be read. */
static bool copy_plan(const char *dir, const char *plan_path, char **error)
{
	char *path = folder_join(dir, "plan.json");
	char *text = input_read(plan_path, LONGEST_PLAN, NULL), *former;
	bool good;

	if (!text)
		*error = xasprintf("cannot copy %s: %s", plan_path, input_why(errno));
	former = input_read(path, LONGEST_PLAN, NULL);
	good = text && former && !strcmp(text, former);
	if (!good)
		good = text && folder_replace(path, text, strlen(text));
	free(former);
	free(text);
	free(path);
	return good;
}

bool sweep_make(const char *dir, const char *plan_path, char **error)
{
	/* only the parents of this path are made, not "x" itself */
	char *trimmed = folder_trim(dir), *inside = folder_join(trimmed, "points/x");
	bool good;

	*error = NULL;
	good = folder_make_parents(inside) && copy_plan(trimmed, plan_path, error);
	if (!good && !*error)
		*error = xasprintf("cannot write %s: %s", trimmed, strerror(errno));
	free(inside);
	free(trimmed);
	return good;
}

/* --- what is left --- */

void sweep_count(const struct sweep *sweep, size_t counts[POINT_STATUSES])
{
	memset(counts, 0, POINT_STATUSES * sizeof(*counts));
	for (size_t i = 0; i < sweep->plan->point_count; i++)
		counts[sweep->records[i].status] += sweep->wanted[i];
}

struct pending {
	size_t number;
	double cost;
};

static int compare_pending(const void *a, const void *b)
{
	const struct pending *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost > y->cost ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

size_t *sweep_pending(const struct sweep *sweep, const struct point_limits *limits, size_t *count)
{
	size_t points = sweep->plan->point_count;
	struct pending *pending = xcalloc(points, sizeof(*pending));
	size_t *numbers = xcalloc(points, sizeof(*numbers));

	*count = 0;
	for (size_t i = 0; i < points; i++)
		if (sweep->wanted[i] && record_wants_run(&sweep->records[i], limits))
			pending[(*count)++] = (struct pending){ i, sweep->facts[i].cost };
	qsort(pending, *count, sizeof(*pending), compare_pending);
	for (size_t i = 0; i < *count; i++)
		numbers[i] = pending[i].number;
	free(pending);
	return numbers;
}

double sweep_cpu_left(const struct sweep *sweep, const size_t *pending, size_t count)
{
	double seconds = 0, cost = 0, left = 0;

	for (size_t i = 0; i < sweep->plan->point_count; i++)
		if (point_status_is_done(sweep->records[i].status)) {
			seconds += sweep->records[i].cpu_s;
			cost += sweep->facts[i].cost;
		}
	for (size_t i = 0; i < count; i++)
		left += sweep->facts[pending[i]].cost;
	return cost > 0 ? seconds / cost * left : NAN;
}
