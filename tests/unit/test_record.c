/* When a point is run again: the table in sim/cli/README.md. */
#include "lab/sweep/record.h"

#include "base/mem.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool wants(enum point_status status, sim_time time_limit, bytes memory_limit)
{
	struct point_record record = { .status = status, .limits = { 10 * PS_PER_S, 1000000 } };

	return record_wants_run(&record, &(struct point_limits){ time_limit, memory_limit });
}

Test(record, results_stay)
{
	cr_expect(wants(POINT_MISSING, 0, 0));
	cr_expect(!wants(POINT_DONE, 0, 0));
	cr_expect(!wants(POINT_UNFINISHED, 0, 0));
	cr_expect(!wants(POINT_INVALID, 0, 0));
	cr_expect(!wants(POINT_VIOLATED, 0, 0));
}

Test(record, limits_must_grow)
{
	cr_expect(!wants(POINT_TIMEOUT, 10 * PS_PER_S, 0));
	cr_expect(!wants(POINT_TIMEOUT, 9 * PS_PER_S, 0));
	cr_expect(wants(POINT_TIMEOUT, 11 * PS_PER_S, 0));
	cr_expect(wants(POINT_TIMEOUT, 0, 1)); /* no limit is higher than any */
	cr_expect(!wants(POINT_MEMORY, 0, 1000000));
	cr_expect(wants(POINT_MEMORY, 1, 1000001));
	cr_expect(wants(POINT_MEMORY, 1, 0));
}

/* How often a point runs again is up to the caller. */
Test(record, what_was_killed_runs_again)
{
	cr_expect(wants(POINT_KILLED, 0, 0));
	cr_expect(wants(POINT_IO, 0, 0));
}

Test(record, reads_what_it_wrote)
{
	char *path = xasprintf("%s/record-%ld.json", INASIM_WORK_DIR, (long)getpid());
	struct point_record record, again;

	record_init(&record);
	record.status = POINT_MEMORY;
	record.signal = 6;
	record.attempts = 4;
	record.wall_s = 1.25;
	record.cpu_s = 0.5;
	record.peak_rss_bytes = 123456;
	record.limits = (struct point_limits){ 1500 * PS_PER_MS, UINT64_C(5000000000) };
	free(record.message);
	record.message = xstrdup("a \"quoted\" reason");
	cr_assert(record_write(&record, path));
	record_init(&again);
	record_read(&again, path);
	cr_expect(again.status == POINT_MEMORY && again.signal == 6 && again.exit_code == -1);
	cr_expect(again.attempts == 4);
	cr_expect(again.wall_s == 1.25 && again.cpu_s == 0.5 && again.peak_rss_bytes == 123456);
	cr_expect(again.limits.time == record.limits.time);
	cr_expect(again.limits.memory == record.limits.memory);
	cr_expect_str_eq(again.message, record.message);
	record_release(&again);
	record_release(&record);
	remove(path);
	free(path);
}

/* A crash of the machine may leave half a record. */
Test(record, half_a_file_is_missing)
{
	static const char *const halves[] = { "", "{ \"status\": \"do", "[]", "{}",
					      "{ \"status\": \"fine\" }" };
	char *path = xasprintf("%s/half-%ld.json", INASIM_WORK_DIR, (long)getpid());

	for (size_t i = 0; i < sizeof(halves) / sizeof(halves[0]); i++) {
		struct point_record record;
		FILE *file = fopen(path, "w");

		cr_assert(file);
		fputs(halves[i], file);
		fclose(file);
		record_init(&record);
		record_read(&record, path);
		cr_expect(record.status == POINT_MISSING, "%s", halves[i]);
		record_release(&record);
	}
	remove(path);
	free(path);
}

/* A record with numbers that no counter holds counts as missing. */
Test(record, numbers_out_of_range)
{
	char *path = xasprintf("%s/record-odd-%ld.json", INASIM_WORK_DIR, (long)getpid());
	FILE *file = fopen(path, "w");
	struct point_record record;

	cr_assert_not_null(file);
	fputs("{ \"status\": \"killed\", \"signal\": 1e10, \"attempts\": 1e300, "
	      "\"wall_s\": 1e999, \"limits\": { \"time_s\": 1e9, \"memory_bytes\": -1 } }",
	      file);
	fclose(file);
	record_init(&record);
	record_read(&record, path);
	cr_expect_eq(record.status, POINT_KILLED);
	cr_expect_eq(record.signal, 0);
	cr_expect_eq(record.attempts, 0);
	cr_expect_eq(record.wall_s, 0);
	cr_expect_eq(record.limits.time, 0);
	cr_expect_eq(record.limits.memory, 0);
	cr_expect_eq(record_exit_code(&record), 1);
	record_release(&record);
	unlink(path);
	free(path);
}
