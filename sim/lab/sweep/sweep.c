#include "lab/sweep/sweep.h"

#include "base/mem.h"
#include "io/folder.h"
#include "lab/sweep/point.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LONGEST_PLAN (64 << 20)

/* --- reading --- */

static int compare_hashes(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* "0123456789abcdef.json" */
static bool is_record(const char *name, uint64_t *hash)
{
	char *end;

	if (strspn(name, "0123456789abcdef") != 16 || strcmp(name + 16, ".json") != 0)
		return false;
	*hash = strtoull(name, &end, 16);
	return end == name + 16;
}

static size_t count_others(const char *folder, const struct point_facts *facts, size_t count)
{
	uint64_t *hashes = xcalloc(count, sizeof(*hashes)), hash;
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	size_t others = 0;

	for (size_t i = 0; i < count; i++)
		hashes[i] = facts[i].hash;
	qsort(hashes, count, sizeof(*hashes), compare_hashes);
	while (dir && (entry = readdir(dir)) != NULL)
		if (is_record(entry->d_name, &hash) &&
		    !bsearch(&hash, hashes, count, sizeof(*hashes), compare_hashes))
			others++;
	if (dir)
		closedir(dir);
	free(hashes);
	return others;
}

void sweep_read(struct sweep *sweep, const char *dir, const struct plan *plan,
		const struct point_facts *facts)
{
	*sweep = (struct sweep){ .plan = plan,
				 .facts = facts,
				 .dir = folder_trim(dir),
				 .records = xcalloc(plan->point_count, sizeof(*sweep->records)),
				 .running = xcalloc(plan->point_count, sizeof(*sweep->running)) };
	sweep->folder = folder_join(sweep->dir, "points");
	for (size_t i = 0; i < plan->point_count; i++) {
		record_init(&sweep->records[i]);
		point_read_record(sweep->folder, facts[i].hash, &sweep->records[i]);
		sweep->running[i].holder =
			point_runs(sweep->folder, facts[i].hash, &sweep->running[i].seconds);
	}
	sweep->others = count_others(sweep->folder, facts, plan->point_count);
}

void sweep_release(struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->plan->point_count; i++) {
		record_release(&sweep->records[i]);
		free(sweep->running[i].holder);
	}
	free(sweep->running);
	free(sweep->records);
	free(sweep->folder);
	free(sweep->dir);
}

/* --- the directory --- */

static bool copy_plan(const char *dir, const char *plan_path)
{
	char *path = folder_join(dir, "plan.json");
	char *text = folder_read(plan_path, LONGEST_PLAN, NULL),
	     *former = folder_read(path, LONGEST_PLAN, NULL);
	bool good = text && former && !strcmp(text, former);

	if (!good)
		good = text && folder_replace(path, text, strlen(text));
	free(former);
	free(text);
	free(path);
	return good;
}

bool sweep_make(const char *dir, const char *plan_path, char **error)
{
	char *trimmed = folder_trim(dir), *inside = folder_join(trimmed, "points/x");
	bool good = folder_make_parents(inside) && copy_plan(trimmed, plan_path);

	if (!good)
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
		counts[sweep->records[i].status]++;
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

size_t *sweep_pending(const struct sweep *sweep, sim_time time_limit, bytes memory_limit,
		      size_t *count)
{
	size_t points = sweep->plan->point_count;
	struct pending *pending = xcalloc(points, sizeof(*pending));
	size_t *numbers = xcalloc(points, sizeof(*numbers));

	*count = 0;
	for (size_t i = 0; i < points; i++)
		if (record_wants_run(&sweep->records[i], time_limit, memory_limit))
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
		if (sweep->records[i].status == POINT_DONE) {
			seconds += sweep->records[i].cpu_s;
			cost += sweep->facts[i].cost;
		}
	for (size_t i = 0; i < count; i++)
		left += sweep->facts[pending[i]].cost;
	return cost > 0 ? seconds / cost * left : NAN;
}
