/* Groups over replications: which points they hold, and the numbers of groups.csv
 * by hand with t(2) = 4.302652730 and t(1) = 12.706204736 from tables. */
#include "lab/sweep/groups.h"

#include "data/csv_read.h"
#include "sweep_sample.h"

#include <math.h>
#include <unistd.h>

static char folder[] = INASIM_WORK_DIR "/inasim-groups-XXXXXX";
static char *dir;
static struct sweep_table *table;

static void setup(void)
{
	char *error = NULL;
	cr_assert_not_null(mkdtemp(folder));
	dir = sample_sweep(folder, "s", SAMPLE_JSON, SAMPLE_CSV);
	table = sweep_table_read(dir, &error);
	cr_assert_not_null(table, "%s", error);
}

static void teardown(void)
{
	sweep_table_free(table);
	free(dir);
	cr_expect(folder_remove(folder));
}

TestSuite(groups, .init = setup, .fini = teardown);

Test(groups, hold_the_replications)
{
	struct groups groups = groups_of(table);
	cr_assert_eq(groups.count, 4);
	for (size_t g = 0; g < 4; g++) {
		cr_expect_eq(groups.items[g].count, 3);
		cr_expect_eq(groups.items[g].levels[0], g / 2);
		cr_expect_eq(groups.items[g].levels[1], g % 2);
		for (size_t i = 0; i < 3; i++)
			cr_expect_eq(groups.items[g].points[i]->number, 3 * g + i);
		cr_expect_eq(groups.items[g].censored, g == 3 ? 2 : 0);
	}
	groups_release(&groups);
}

/* Points of a group need not be next to each other. */
Test(groups, hold_points_from_anywhere)
{
	char *error = NULL,
	     *other = sample_sweep(folder, "o", SAMPLE_JSON,
				   SAMPLE_HEADER "0,00000000000000a0,0,71,0.8,ring,done,1,\n"
						 "1,00000000000000a1,0,71,0.2,ring,done,2,\n"
						 "2,00000000000000a2,1,72,0.8,ring,done,3,\n");
	struct sweep_table *t = sweep_table_read(other, &error);
	cr_assert_not_null(t, "%s", error);
	struct groups groups = groups_of(t);
	cr_assert_eq(groups.count, 2);
	cr_expect(groups.items[0].count == 2 && groups.items[0].points[1]->number == 2);
	cr_expect(groups.items[1].count == 1 && groups.items[1].points[0]->number == 1);
	groups_release(&groups);
	sweep_table_free(t);
	free(other);
}

/* A replication that occurs twice in a group has no single partner: no pairs. */
Test(groups, have_no_pairs_of_what_occurs_twice)
{
	char *error = NULL,
	     *other = sample_sweep(folder, "t", SAMPLE_JSON,
				   SAMPLE_HEADER "0,00000000000000a0,0,71,0.2,ring,done,1,\n"
						 "1,00000000000000a1,0,71,0.2,ring,done,2,\n"
						 "2,00000000000000a2,0,71,0.8,ring,done,3,\n"
						 "3,00000000000000a3,0,71,0.8,ring,done,4,\n");
	struct sweep_table *t = sweep_table_read(other, &error);
	cr_assert_not_null(t, "%s", error);
	struct groups groups = groups_of(t);
	struct group_ratio r = group_ratio(&groups.items[0], 0, &groups.items[1], 0,
					   &(struct verdict_rule){ 0.01, 1 });
	cr_expect(!r.paired && r.ratio.missing == 0);
	cr_expect_float_eq(r.ratio.value, 3.5 / 1.5, 1e-12);
	groups_release(&groups);
	sweep_table_free(t);
	free(other);
}

static void near(struct csv *csv, const char *column, double want)
{
	int c = csv_need(csv, column);
	if (isnan(want))
		cr_expect(csv_empty(csv, c), "line %d: %s is %s", (int)csv_line(csv), column,
			  csv_text(csv, c));
	else
		cr_expect_float_eq(csv_real(csv, c), want, 1e-8, "line %d: %s is %s",
				   (int)csv_line(csv), column, csv_text(csv, c));
}

struct row {
	const char *load, *scheme, *metric;
	double n, mean, sd, half, censored;
};

/* jct of "ina" at 0.2: 5.5 5.5 7, mean 6, sd sqrt(0.75); at 0.8: 14 and 9, the latter of an
 * unfinished point, mean 11.5, sd 5 / sqrt 2; two values have no interval. */
static const struct row rows[] = {
	{ "0.2", "ring", "jct", 3, 11, 1, 4.302652730 / 1.7320508075688772, 0 },
	{ "0.2", "ring", "late", 1, 1, NAN, NAN, 0 },
	{ "0.2", "ina, new", "jct", 3, 6, 0.8660254037844386, 4.302652730 / 2, 0 },
	{ "0.2", "ina, new", "late", 0, NAN, NAN, NAN, 0 },
	{ "0.8", "ring", "jct", 3, 15, 1, 4.302652730 / 1.7320508075688772, 0 },
	{ "0.8", "ring", "late", 0, NAN, NAN, NAN, 0 },
	{ "0.8", "ina, new", "jct", 2, 11.5, 3.5355339059327378, NAN, 2 },
	{ "0.8", "ina, new", "late", 0, NAN, NAN, NAN, 2 },
};

Test(groups, are_written)
{
	char *error = NULL, *path = folder_join(dir, "groups.csv");
	cr_assert(groups_write(table, path, &error), "%s", error);
	struct csv *csv = csv_open(path, &error);
	cr_assert_not_null(csv, "%s", error);
	cr_expect_eq(csv_columns(csv), 12);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct row *want = &rows[i];
		cr_assert(csv_next(csv));
		cr_expect_str_eq(csv_text(csv, csv_need(csv, "load")), want->load);
		cr_expect_str_eq(csv_text(csv, csv_need(csv, "scheme")), want->scheme);
		cr_expect_str_eq(csv_text(csv, csv_need(csv, "metric")), want->metric);
		near(csv, "n", want->n);
		near(csv, "mean", want->mean);
		near(csv, "sd", want->sd);
		near(csv, "half_width_95", want->half);
		near(csv, "low", want->mean - want->half);
		near(csv, "high", want->mean + want->half);
		near(csv, "censored", want->censored);
		near(csv, "substituted", 0);
		near(csv, "same", 0);
	}
	cr_expect_not(csv_next(csv));
	cr_expect(csv_close(csv, &error), "%s", error);
	free(path);
}

Test(groups, cannot_be_written)
{
	char *error = NULL;
	cr_expect_not(groups_write(table, "/nowhere/at/all/groups.csv", &error));
	cr_expect_not_null(strstr(error, "cannot write"), "%s", error);
	free(error);
}
