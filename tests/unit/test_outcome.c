/* Jobs, groups of flows and the end of two runs, side by side. */
#include "crosscheck/outcome.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const struct outcome_item *item_named(const struct outcome_item *items, size_t count,
					     const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(items[i].name, name))
			return &items[i];
	return NULL;
}

Test(outcome, jobs_groups_and_the_end)
{
	struct outcome_job packet_jobs[] = {
		{ .number = 0,
		  .name = "a",
		  .finished = true,
		  .exchange_s = 1.1,
		  .finish_s = 5,
		  .workers = 2 },
		{ .number = 1,
		  .name = "b",
		  .finished = true,
		  .exchange_s = 0,
		  .finish_s = 7,
		  .workers = 1 },
	};
	struct outcome_job fluid_jobs[] = {
		{ .number = 0,
		  .name = "a",
		  .finished = true,
		  .exchange_s = 1,
		  .finish_s = 4,
		  .workers = 2 },
		{ .number = 1,
		  .name = "b",
		  .finished = true,
		  .exchange_s = 0,
		  .finish_s = 5,
		  .workers = 1 },
	};
	/* The second flow of x is load in fluid, the third did not finish as packets. */
	struct outcome_flow packet_flows[] = { { "x", 1 },    { "x", 2 }, { "x", NAN },
					       { NULL, NAN }, { "y", 3 }, { "x", 5 } };
	struct outcome_flow fluid_flows[] = { { "x", 2 },    { "x", NAN }, { "x", 1 },
					      { NULL, NAN }, { "y", 4 },   { "x", 10 } };
	const struct outcome packet = {
		.jobs = packet_jobs, .job_count = 2, .flows = packet_flows, .flow_count = 6
	};
	const struct outcome fluid = {
		.jobs = fluid_jobs, .job_count = 2, .flows = fluid_flows, .flow_count = 6
	};
	const struct outcome_item *item;
	struct outcome_item *items;
	size_t count;

	items = outcome_pair(&packet, &fluid, &count);
	cr_assert_eq(count, 4, "job 0, x, y and the end; a job of one worker exchanges nothing");
	item = item_named(items, count, "job 0 (a)");
	cr_assert_not_null(item);
	cr_expect_float_eq(item->difference, 0.1, 1e-12);
	item = item_named(items, count, "flows x (2)");
	cr_assert_not_null(item);
	cr_expect_float_eq(item->packet_s, 3, 1e-12);
	cr_expect_float_eq(item->fluid_s, 6, 1e-12);
	cr_expect_float_eq(item->difference, -0.5, 1e-12);
	item = item_named(items, count, "flows y (1)");
	cr_assert_not_null(item);
	cr_expect_float_eq(item->difference, -0.25, 1e-12);
	item = item_named(items, count, "end of the last job");
	cr_assert_not_null(item);
	cr_expect_float_eq(item->difference, 0.4, 1e-12);
	outcome_items_free(items, count);
}

Test(outcome, what_did_not_finish_has_no_difference)
{
	struct outcome_job packet_jobs[] = { { .number = 0, .name = "a", .workers = 2 } };
	struct outcome_job fluid_jobs[] = { { .number = 0,
					      .name = "a",
					      .finished = true,
					      .exchange_s = 1,
					      .finish_s = 4,
					      .workers = 2 } };
	const struct outcome packet = { .jobs = packet_jobs, .job_count = 1 };
	const struct outcome fluid = { .jobs = fluid_jobs, .job_count = 1 };
	size_t count;
	struct outcome_item *items = outcome_pair(&packet, &fluid, &count);

	cr_assert_eq(count, 2);
	cr_expect(isnan(items[0].difference));
	cr_expect(isnan(items[1].difference));
	outcome_items_free(items, count);
}
