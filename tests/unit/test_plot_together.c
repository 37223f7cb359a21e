/* Several result directories in one figure: each .dat holds a block for each
 * directory with the numbers that its tables imply. */
#include "out/folder.h"
#include "out/plot.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FLOWS_HEADER                                                                               \
	"flow_id,group,src,dst,size_bytes,start_s,finish_s,fct_s,ideal_fct_s,slowdown,"            \
	"retransmissions,finished,measured\n"
#define SERIES_HEADER                                                                              \
	"time_s,active_flows,active_jobs,queued_bytes,mean_utilization,max_utilization\n"

/* A blank and a quote: paths go through the shell and gnuplot. */
static char folder[] = INASIM_WORK_DIR "/inasim plot's together-XXXXXX";

static void setup(void)
{
	cr_assert_not_null(mkdtemp(folder));
}

static void teardown(void)
{
	cr_expect(folder_remove(folder));
}

TestSuite(plot_together, .init = setup, .fini = teardown);

static void create(const char *name, const char *text)
{
	char *path = folder_join(folder, name);
	cr_assert(folder_make_parents(path));
	FILE *file = fopen(path, "w");
	cr_assert_not_null(file, "%s", path);
	fputs(text, file);
	cr_assert_eq(fclose(file), 0);
	free(path);
}

/* 20 flows below 10 KB in A, of slowdown 1 to 20; in B two, one unfinished, one of
 * the warm-up. */
static void create_two(void)
{
	char flows[4000] = FLOWS_HEADER;
	for (int i = 1; i <= 20; i++)
		snprintf(flows + strlen(flows), sizeof flows - strlen(flows),
			 "%d,%s,0,1,100,0,1,0.5,0.5,%d,0,1,1\n", i, i % 2 ? "web" : "rpc", i);
	create("A/manifest.json", "{}");
	create("A/flows.csv", flows);
	create("A/jobs.csv", "name,jct_s,finished\nvgg,1,1\nvgg,3,1\nbert,4,1\n");
	create("A/series/network.csv", SERIES_HEADER "1,5,1,0,0.25,0.5\n2,6,1,0,0.5,1\n");
	create("B/manifest.json", "{}");
	create("B/flows.csv", FLOWS_HEADER "1,web,0,1,100,0,1,0.25,1,2,0,1,1\n"
					   "2,web,0,1,100,0,1,0.125,1,2,0,1,1\n"
					   "3,web,0,1,100,0,,,1,,0,0,1\n"
					   "4,web,0,1,100,0,1,9,1,9,0,1,0\n");
	create("B/jobs.csv", "name,jct_s,finished\nvgg,2,1\nbert,,0\nextra,5,1\n");
	create("B/series/network.csv", SERIES_HEADER "4,7,2,0,0.125,1\n");
}

static int draw(const char *figure, const char *label, char **printed, char **error)
{
	size_t size;
	char *a = folder_join(folder, "A/"), *b = folder_join(folder, "B");
	char *out = folder_join(folder, "out");
	struct plot_labelled runs[] = { { a, label }, { b, NULL } };
	struct plot_options options = { .term = "png", .only = figure, .out = out };
	FILE *to = open_memstream(printed, &size);
	int drawn = plot_together(runs, 2, &options, to, error);
	fclose(to);
	free(a);
	free(b);
	free(out);
	return drawn;
}

static char *read_file(const char *name)
{
	char *path = folder_join(folder, name), *text = calloc(1 << 16, 1);
	FILE *file = fopen(path, "r");
	cr_assert_not_null(file, "no %s", path);
	cr_assert(fread(text, 1, (1 << 16) - 1, file) > 0);
	fclose(file);
	free(path);
	return text;
}

static void expect_figure(const char *figure, const char *want)
{
	char *printed, *error = NULL, path[4096];
	create_two();
	cr_assert_eq(draw(figure, NULL, &printed, &error), 1, "%s", error);
	snprintf(path, sizeof path, "%s/out/%s.png\n", folder, figure);
	cr_expect_str_eq(printed, path);
	free(printed);
	snprintf(path, sizeof path, "out/%s.dat", figure);
	char *data = read_file(path);
	cr_expect_str_eq(data, want);
	free(data);
}

Test(plot_together, fct_cdf)
{
	create_two();
	char *printed, *error = NULL;
	cr_assert_eq(draw("fct_cdf", "`false`'s", &printed, &error), 1, "%s", error);
	free(printed);
	char *data = read_file("out/fct_cdf.dat"), *second = strstr(data, "\n\n\n");
	cr_assert_not_null(second);
	cr_expect_eq(strncmp(data, "# `false`'s: seconds share\n0.5 0\n0.5 0.05\n", 42), 0);
	cr_expect_str_eq(second, "\n\n\n# B: seconds share\n0.125 0\n0.125 0.5\n0.25 1\n");
	free(data);
	char *script = read_file("out/fct_cdf.gp");
	cr_expect_not_null(strstr(script, "(n = 20)'"));
	cr_expect_not_null(strstr(script, "'B (n = 2, 1 unfinished)'"));
	free(script);
}

/* The 10th of 20 is the median; two flows have none. */
Test(plot_together, slowdown)
{
	expect_figure("slowdown", "# A: class min_bytes finished_flows p50 p99\n"
				  "0 0 20 10 nan\n1 10000 0 nan nan\n2 100000 0 nan nan\n"
				  "3 1000000 0 nan nan\n4 10000000 0 nan nan\n"
				  "\n\n# B: class min_bytes finished_flows p50 p99\n"
				  "0 0 2 nan nan\n1 10000 0 nan nan\n2 100000 0 nan nan\n"
				  "3 1000000 0 nan nan\n4 10000000 0 nan nan\n");
	char *script = read_file("out/slowdown.gp");
	cr_expect_not_null(strstr(script, "of finished flows (1 unfinished)"));
	free(script);
}

/* A directory with one entry goes by its label alone. */
Test(plot_together, packets)
{
	create("A/series/links.csv", "time_s,links,packets\n1,0,5\n2,0,6\n");
	create("B/series/links.csv", "time_s,links,packets\n1,0,7\n1,host/up,8\n");
	expect_figure("packets", "# A: time_s packets\n1 5\n2 6\n"
				 "\n\n# B: 0: time_s packets\n1 7\n"
				 "\n\n# B: host/up: time_s packets\n1 8\n");
}

Test(plot_together, job_completion_times)
{
	expect_figure("jct", "# A: name mean_s min_s max_s finished_jobs\n"
			     "0 2 1 3 2\n1 4 4 4 1\n2 nan nan nan 0\n"
			     "\n\n# B: name mean_s min_s max_s finished_jobs\n"
			     "0 2 2 2 1\n1 nan nan nan 0\n2 5 5 5 1\n");
	char *script = read_file("out/jct.gp");
	cr_expect_not_null(strstr(script, "('vgg' 0, 'bert' 1, 'extra' 2)"));
	cr_expect_not_null(strstr(script, "'B (1 unfinished)'"));
	free(script);
}

/* Of all names together, in both: 1, 3, 4 and 2, 5 with one unfinished. */
Test(plot_together, distribution_of_job_completion_times)
{
	expect_figure("jct_cdf", "# A: seconds share\n1 0\n1 0.3333333333333333\n"
				 "3 0.6666666666666666\n4 1\n"
				 "\n\n# B: seconds share\n2 0\n2 0.5\n5 1\n");
	char *script = read_file("out/jct_cdf.gp");
	cr_expect_not_null(strstr(script, "'B (n = 2, 1 unfinished)'"));
	free(script);
}

Test(plot_together, series)
{
	expect_figure("series",
		      "# A: time_s active_flows active_jobs mean_utilization max_utilization\n"
		      "1 5 1 0.25 0.5\n2 6 1 0.5 1\n"
		      "\n\n# B: time_s active_flows active_jobs mean_utilization max_utilization\n"
		      "4 7 2 0.125 1\n");
}

/* Without a name all that both have data for; equal last parts are whole paths. */
Test(plot_together, all_that_both_have)
{
	char *printed, *error = NULL, *path = folder_join(folder, "B/series/network.csv");
	create_two();
	cr_assert_eq(unlink(path), 0);
	cr_expect_eq(draw(NULL, NULL, &printed, &error), 4, "%s", error);
	cr_expect_null(strstr(printed, "series"));
	free(printed);
	cr_expect_eq(draw("series", NULL, &printed, &error), -1);
	cr_expect_not_null(strstr(error, "no figure series: "), "%s", error);
	cr_expect_not_null(strstr(error, "B: there is no series/network.csv"), "%s", error);
	free(printed);
	free(error);
	free(path);
}

Test(plot_together, mistakes)
{
	char *printed, *error = NULL;
	create_two();
	cr_expect_eq(draw("pie", NULL, &printed, &error), -1);
	cr_expect_not_null(
		strstr(error,
		       "no figure \"pie\"; there are slowdown, fct_cdf, jct, jct_cdf, series and "),
		"%s", error);
	free(printed);
	free(error);
	create("B/flows.csv", FLOWS_HEADER "1,web,0,1,100,0,1,soon,1,2,0,1,1\n");
	cr_expect_eq(draw("fct_cdf", NULL, &printed, &error), -1);
	cr_expect_not_null(strstr(error, "B/flows.csv:2: column fct_s"), "%s", error);
	free(printed);
	free(error);
	struct plot_labelled run = { "A", NULL };
	struct plot_options options = { .term = "png" };
	cr_expect_eq(plot_together(&run, 1, &options, stdout, &error), -1);
	cr_expect_not_null(strstr(error, "need a folder of their own"), "%s", error);
	free(error);
}

Test(plot_together, sizes_for_print)
{
	static const struct {
		const char *text;
		double width, height;
	} good[] = { { "3.5in", 3.5, 0 },
		     { "2.54cm", 1, 0 },
		     { "7x2.5in", 7, 2.5 },
		     { "50.8x25.4mm", 2, 1 } };
	static const char *const bad[] = { "",     "3.5",    "in",      "0.5in", "41in", "nanin",
					   "-3in", "3.5inx", "3x0.5in", "3xin",  "3 in", "infin" };
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct plot_options options = { 0 };
		cr_expect(plot_size(good[i].text, &options), "%s", good[i].text);
		cr_expect_float_eq(options.width_in, good[i].width, 1e-9);
		cr_expect_float_eq(options.height_in, good[i].height, 1e-9);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct plot_options options = { 0 };
		cr_expect_not(plot_size(bad[i], &options), "%s", bad[i]);
	}
}

/* The same figure for a column of 3.5 inches, on each terminal. */
Test(plot_together, size_reaches_the_terminal)
{
	static const struct {
		const char *term, *want;
	} cases[] = { { "pdf", "pdfcairo size 3.500in,2.500in" },
		      { "svg", "svg size 336,240" },
		      { "png", "pngcairo size 1050,750" } };
	char *a = folder_join(folder, "A"), *out = folder_join(folder, "out");
	struct plot_labelled run = { a, "x" };
	create_two();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct plot_options options = { .term = cases[i].term, .only = "jct", .out = out };
		char *printed, *error = NULL;
		size_t size;
		FILE *to = open_memstream(&printed, &size);
		cr_assert(plot_size("3.5x2.5in", &options));
		cr_assert_eq(plot_together(&run, 1, &options, to, &error), 1, "%s", error);
		fclose(to);
		free(printed);
		char *script = read_file("out/jct.gp");
		cr_expect_not_null(strstr(script, cases[i].want), "%s", script);
		free(script);
	}
	free(a);
	free(out);
}
