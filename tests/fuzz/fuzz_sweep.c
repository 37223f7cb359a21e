/* Any bytes as two sweep directories, a/ and b/: records are read, written and read again;
 * points are collected, and tables, of this or of any other making, compared.
 * Covers: sim/lab/sweep/record.c sim/lab/sweep/sweep.c sim/lab/sweep/collect.c
 * sim/lab/sweep/sweep_table.c sim/lab/sweep/groups.c sim/lab/compare/compare_sweeps.c */
#include "base/mem.h"
#include "files.h"
#include "data/folder.h"
#include "lab/compare/compare.h"
#include "lab/sweep/groups.h"
#include "lab/sweep/point.h"
#include "lab/sweep/sweep.h"
#include "lab/sweep/sweep_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Two values of an axis, each with two replications: a/points/0000000000000001.json ... 4 */
static const char plan_text[] =
	"{ \"name\": \"p\", \"base\": \"x\", \"replications\": 2, "
	"\"axes\": [ { \"name\": \"seed_of\", \"pointer\": \"/seed_of\", \"values\": [1, 2] } ] }";

static void check_again(const struct point_record *record, const char *path)
{
	char *copy = xasprintf("%s.copy", path);
	struct point_record again;

	record_init(&again);
	if (!record_write(record, copy))
		abort();
	record_read(&again, copy);
	/* what is not UTF-8 is written as U+FFFD */
	if (strcmp(again.message, record->message) && !strstr(again.message, "\xef\xbf\xbd"))
		abort();
	if (again.status != record->status || again.limits.time != record->limits.time ||
	    again.attempts != record->attempts)
		abort();
	record_release(&again);
	free(copy);
}

static void read_record(const char *path)
{
	struct point_record record;

	record_init(&record);
	record_read(&record, path);
	record_wants_run(&record, &(struct point_limits){ PS_PER_S, 1000 });
	if (record_exit_code(&record) < 0 || record_exit_code(&record) > 255)
		abort();
	check_again(&record, path);
	record_release(&record);
}

static void collect(const char *dir, const struct plan *plan)
{
	struct point_facts facts[4];
	char *error = NULL;
	struct sweep sweep;
	size_t counts[POINT_STATUSES], count, *pending;
	char *copied = folder_join(dir, "sweep.json");

	sweep_make(dir, copied, &error); /* any file will do as the plan to copy */
	free(copied);
	free(error);
	error = NULL;
	for (size_t i = 0; i < 4; i++)
		facts[i] = (struct point_facts){ .hash = i + 1,
						 .seed = i,
						 .cost = 1 + (double)(i % 3) };
	sweep_read(&sweep, dir, plan, facts);
	sweep_count(&sweep, counts);
	pending = sweep_pending(&sweep, &(struct point_limits){ .time = PS_PER_S }, &count);
	sweep_cpu_left(&sweep, pending, count);
	free(pending);
	sweep_collect(&sweep, &error);
	sweep_release(&sweep);
	free(error);
}

static void write_groups(const char *dir)
{
	char *error = NULL, *path = folder_join(dir, "groups.csv");
	struct sweep_table *table = sweep_table_read(dir, &error);
	size_t same;

	if (table && groups_replicated(table, &same) < same)
		abort();
	if (table)
		groups_write(table, path, &error);
	sweep_table_free(table);
	free(path);
	free(error);
}

static void compare_all(const char *a, const char *b)
{
	const char *const dirs[] = { a, b };
	struct compare_options options = { .tolerance = NAN };
	static const char *const axes[] = { NULL, "seed_of", "workers", "all_reduce" };
	FILE *sink = fopen("/dev/null", "w");

	for (size_t i = 0; i < 8; i++) {
		char *error = NULL;

		options.json = i % 2;
		options.by = axes[i / 2];
		options.baseline = i == 3 ? "2" : NULL;
		compare(dirs, i / 2 == 0 ? 2 : 1, &options, sink, &error);
		free(error);
	}
	fclose(sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const taken[] = { "events", NULL };
	const char *folder = files_write(data, size);
	char *a = folder_join(folder, "a"), *b = folder_join(folder, "b");
	struct plan *plan = plan_parse("p", plan_text, strlen(plan_text), taken);

	if (plan->point_count != 4)
		abort();
	files_each(read_record);
	write_groups(a);
	compare_all(a, b);
	if (folder_is_folder(a))
		collect(a, plan);
	compare_all(a, b);
	plan_free(plan);
	free(a);
	free(b);
	return 0;
}
