/* Several result directories in one figure: each .dat holds a block for each
 * directory with the numbers that its tables imply. */
#include "figure_sample.h"

#define FLOWS_HEADER                                                                               \
	"flow_id,group,src,dst,size_bytes,start_s,finish_s,fct_s,ideal_fct_s,slowdown,"            \
	"retransmissions,finished,measured\n"
#define SERIES_HEADER                                                                              \
	"time_s,active_flows,active_jobs,queued_bytes,mean_utilization,max_utilization\n"

TestSuite(plot_together, .init = setup, .fini = teardown);

/* 20 flows below 10 KB in A, of slowdown 1 to 20; in B two finished, one unfinished, one of the
 * warm-up. */
static void create_two(void)
{
	char flows[4000] = FLOWS_HEADER;
	for (int i = 1; i <= 20; i++)
		snprintf(flows + strlen(flows), sizeof(flows) - strlen(flows),
			 "%d,%s,0,1,100,0,1,0.5,0.5,%d,0,1,1\n", i, i % 2 ? "web" : "rpc", i);
	create_text("A/manifest.json", "{}");
	create_text("A/summary.json", SIZE_CLASSES);
	create_text("A/flows.csv", flows);
	create_text("A/jobs.csv", "name,jct_s,finished\nvgg,1,1\nvgg,3,1\nbert,4,1\n");
	create_text("A/series/network.csv", SERIES_HEADER "1,5,1,0,0.25,0.5\n2,6,1,0,0.5,1\n");
	create_text("B/manifest.json", "{}");
	create_text("B/summary.json", SIZE_CLASSES);
	create_text("B/flows.csv", FLOWS_HEADER "1,web,0,1,100,0,1,0.25,1,2,0,1,1\n"
						"2,web,0,1,100,0,1,0.125,1,2,0,1,1\n"
						"3,web,0,1,100,0,,,1,,0,0,1\n"
						"4,web,0,1,100,0,1,9,1,9,0,1,0\n");
	create_text("B/jobs.csv", "name,jct_s,finished\nvgg,2,1\nbert,,0\nextra,5,1\n");
	create_text("B/series/network.csv", SERIES_HEADER "4,7,2,0,0.125,1\n");
}

static int draw(const char *figure, const char *label, char **printed, char **error)
{
	size_t size;
	char *a = folder_join(folder, "A/"), *b = folder_join(folder, "B");
	char *out = folder_join(folder, "out");
	struct plot_labelled runs[] = { { a, label }, { b, NULL } };
	struct plot_options options = { .term = "png",
					.only = { &figure, figure != NULL },
					.out = out };
	FILE *to = open_memstream(printed, &size);
	int drawn = plot_together(runs, 2, &options, to, error);
	fclose(to);
	free(a);
	free(b);
	free(out);
	return drawn;
}

static void expect_figure(const char *figure, const char *want)
{
	char *printed, *error = NULL, path[4096];
	create_two();
	cr_assert_eq(draw(figure, NULL, &printed, &error), 1, "%s", error);
	snprintf(path, sizeof(path), "%s/out/%s.png\n", folder, figure);
	cr_expect_str_eq(printed, path);
	free(printed);
	snprintf(path, sizeof(path), "out/%s.dat", figure);
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
	cr_expect_not_null(strstr(data, " name\n1 1 0.5 0 \"`false`'s\"\n1 1 0.5 0.05 \""));
	cr_expect_str_eq(second, "\n\n\n1 2 0.125 0 \"B\"\n1 2 0.125 0.3333333333333333 \"B\"\n"
				 "1 2 0.25 0.6666666666666666 \"B\"\n");
	free(data);
	char *script = read_file("out/fct_cdf.gp");
	cr_expect_not_null(strstr(script, "(n = 20)'"));
	cr_expect_not_null(strstr(script, "'B (n = 2, 1 unfinished)'"));
	free(script);
}

/* Bars of different size classes must not stand side by side. */
Test(plot_together, no_slowdown_by_different_classes)
{
	create_two();
	create_text("B/summary.json", "{\"flows\":{\"by_size\":[{\"min_bytes\":0}]}}");
	char *printed, *error = NULL;
	cr_assert_eq(draw("slowdown", NULL, &printed, &error), PLOT_IO);
	cr_expect_not_null(strstr(error, "different size classes"), "%s", error);
	free(printed);
	free(error);
}

/* The 10th of 20 is the median; two flows have none. */
Test(plot_together, slowdown)
{
	expect_figure("slowdown", "# Flow slowdown by flow size\n"
				  "# 22 finished flows, 1 unfinished (not shown); no bar where the "
				  "class has too few\n"
				  "panel series size_class slowdown finished_flows name\n"
				  "1 1 0 10 20 \"A\"\n"
				  "1 1 1 NaN 0 \"A\"\n"
				  "1 1 2 NaN 0 \"A\"\n"
				  "1 1 3 NaN 0 \"A\"\n"
				  "1 1 4 NaN 0 \"A\"\n"
				  "\n\n1 2 0 NaN 2 \"B\"\n"
				  "1 2 1 NaN 0 \"B\"\n"
				  "1 2 2 NaN 0 \"B\"\n"
				  "1 2 3 NaN 0 \"B\"\n"
				  "1 2 4 NaN 0 \"B\"\n");
	char *script = read_file("out/slowdown.gp");
	cr_expect_not_null(strstr(script, "22 finished flows, 1 unfinished (not shown)"));
	free(script);
}

/* A directory with one entry is called by its label alone. */
Test(plot_together, packets)
{
	create_text("A/series/links.csv", "time_s,links,packets\n1,0,5\n2,0,6\n");
	create_text("B/series/links.csv", "time_s,links,packets\n1,0,7\n1,host/up,8\n");
	expect_figure("packets", "# Packets over time\n"
				 "# All classes of traffic, lost ones included\n"
				 "panel series time_s packets name\n"
				 "1 1 1 5 \"A\"\n"
				 "1 1 2 6 \"A\"\n"
				 "\n\n1 2 1 7 \"B: 0\"\n"
				 "\n\n1 3 1 8 \"B: host/up\"\n");
}

Test(plot_together, job_completion_times)
{
	expect_figure("jct", "# Job completion time\n"
			     "# Mean and range of the finished jobs of each name\n"
			     "panel series job mean_jct_s min_s max_s finished_jobs name\n"
			     "1 1 0 2 1 3 2 \"A\"\n"
			     "1 1 1 4 NaN NaN 1 \"A\"\n"
			     "1 1 2 NaN NaN NaN 0 \"A\"\n"
			     "\n\n1 2 0 2 NaN NaN 1 \"B\"\n"
			     "1 2 1 NaN NaN NaN 0 \"B\"\n"
			     "1 2 2 5 NaN NaN 1 \"B\"\n");
	char *script = read_file("out/jct.gp");
	cr_expect_not_null(strstr(script, "XTICK_AT[3] = 2; XTICK[3] = 'extra'\n"));
	cr_expect_not_null(strstr(script, "'B (1 unfinished)'"));
	free(script);
}

/* Over all names, in both directories: 1, 3, 4 and 2, 5 with one unfinished. */
Test(plot_together, distribution_of_job_completion_times)
{
	expect_figure("jct_cdf", "# Job completion time\n"
				 "# 5 finished jobs, 1 unfinished\n"
				 "panel series time_s share name\n"
				 "1 1 1 0 \"A\"\n"
				 "1 1 1 0.3333333333333333 \"A\"\n"
				 "1 1 3 0.6666666666666666 \"A\"\n"
				 "1 1 4 1 \"A\"\n"
				 "\n\n1 2 2 0 \"B\"\n"
				 "1 2 2 0.3333333333333333 \"B\"\n"
				 "1 2 5 0.6666666666666666 \"B\"\n");
	char *script = read_file("out/jct_cdf.gp");
	cr_expect_not_null(strstr(script, "'B (n = 2, 1 unfinished)'"));
	free(script);
}

Test(plot_together, series)
{
	expect_figure("series", "# panel 1: Active flows\n"
				"# panel 2: Active jobs\n"
				"# panel 3: Mean utilisation\n"
				"# panel 4: Busiest link\n"
				"# Load over time\n"
				"# Every sample\n"
				"panel series time_s value name\n"
				"1 1 1 5 \"A\"\n"
				"1 1 2 6 \"A\"\n"
				"\n\n1 2 4 7 \"B\"\n"
				"\n\n2 1 1 1 \"A\"\n"
				"2 1 2 1 \"A\"\n"
				"\n\n2 2 4 2 \"B\"\n"
				"\n\n3 1 1 0.25 \"A\"\n"
				"3 1 2 0.5 \"A\"\n"
				"\n\n3 2 4 0.125 \"B\"\n"
				"\n\n4 1 1 0.5 \"A\"\n"
				"4 1 2 1 \"A\"\n"
				"\n\n4 2 4 1 \"B\"\n");
}

/* Without the name of a figure, draws all that both directories have data for. Directories with
 * equal last parts are called by their whole paths. */
Test(plot_together, all_that_both_have)
{
	char *printed, *error = NULL, *path = folder_join(folder, "B/series/network.csv");
	create_two();
	cr_assert_eq(unlink(path), 0);
	cr_expect_eq(draw(NULL, NULL, &printed, &error), 4, "%s", error);
	cr_expect_null(strstr(printed, "series"));
	free(printed);
	cr_expect_eq(draw("series", NULL, &printed, &error), PLOT_IO);
	cr_expect_not_null(strstr(error, "B: no figure series: there is no series/network.csv"),
			   "%s", error);
	free(printed);
	free(error);
	free(path);
}

Test(plot_together, mistakes)
{
	char *printed, *error = NULL;
	create_two();
	cr_expect_eq(draw("job_timeline", NULL, &printed, &error), PLOT_USAGE);
	cr_expect_not_null(strstr(error, "no figure \"job_timeline\" of several directories"), "%s",
			   error);
	free(printed);
	free(error);
	create_text("B/flows.csv", FLOWS_HEADER "1,web,0,1,100,0,1,soon,1,2,0,1,1\n");
	cr_expect_eq(draw("fct_cdf", NULL, &printed, &error), -1);
	cr_expect_not_null(strstr(error, "B/flows.csv:2: column fct_s"), "%s", error);
	free(printed);
	free(error);
	struct plot_labelled run = { "A", NULL };
	struct plot_options options = { .term = "png" };
	cr_expect_eq(plot_together(&run, 1, &options, stdout, &error), PLOT_USAGE);
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
	static const char *const bad[] = { "",      "3.5",  "in",     "0.5in",   "41in",
					   "nanin", "-3in", "3.5inx", "3x0.5in", "3x0in",
					   "3xin",  "3 in", "infin" };
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct plot_options options = { 0 };
		cr_expect(plot_size(good[i].text, &options), "%s", good[i].text);
		cr_expect_float_eq(options.width_in, good[i].width, 1e-9);
		cr_expect_float_eq(options.height_in, good[i].height, 1e-9);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct plot_options options = { 0 };
		cr_expect_not(plot_size(bad[i], &options), "%s", bad[i]);
	}
}

/* A figure for a column of 3.5 inches, on each terminal: 252 points, 336 pixels of CSS, or 1050
 * dots at 300 an inch. */
Test(plot_together, size_reaches_the_picture)
{
	static const struct {
		const char *term, *want;
	} cases[] = { { "pdf", "/MediaBox [ 0 0 252 180 ]" },
		      { "eps", "%%BoundingBox: 0 " },
		      { "svg", "width=\"336\" height=\"240\"" },
		      { "png", "\0\0\x04\x1a\0\0\x02\xee" } };
	static const size_t lengths[] = { 25, 17, 24, 8 };
	char *a = folder_join(folder, "A"), *out = folder_join(folder, "out");
	struct plot_labelled run = { a, "x" };
	create_two();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct plot_options options = { .term = cases[i].term,
						.only = { (const char *[]){ "jct" }, 1 },
						.out = out };
		char *printed, *error = NULL, name[64];
		size_t size;
		FILE *to = open_memstream(&printed, &size);
		cr_assert(plot_size("3.5x2.5in", &options));
		cr_assert_eq(plot_together(&run, 1, &options, to, &error), 1, "%s", error);
		fclose(to);
		free(printed);
		snprintf(name, sizeof(name), "out/jct.%s", cases[i].term);
		char *picture = read_in(folder, name, &size);
		bool found = false;
		for (size_t at = 0; at + lengths[i] <= size && !found; at++)
			found = !memcmp(picture + at, cases[i].want, lengths[i]) ||
				!memcmp(picture + at, "/ObjStm", 7); /* cairo 1.18 packs it */
		cr_expect(found, "%s", cases[i].term);
		free(picture);
	}
	free(a);
	free(out);
}

/* With more names than bars that can be told apart, the figure is a distribution. */
Test(plot_together, many_names_are_a_distribution)
{
	char jobs[2000] = "name,jct_s,finished\n", *printed, *error = NULL;
	create_two();
	for (int i = 0; i < 13; i++)
		snprintf(jobs + strlen(jobs), sizeof(jobs) - strlen(jobs), "job%d,1,1\n", i);
	create_text("A/jobs.csv", jobs);
	cr_assert_eq(draw("jct", NULL, &printed, &error), 1, "%s", error);
	free(printed);
	char *data = read_file("out/jct.dat");
	cr_expect_not_null(strstr(data, "panel series time_s share name\n"));
	free(data);
}

/* Jobs of the warm-up do not count, as in summary.json. */
Test(plot_together, jobs_that_were_not_measured)
{
	char *printed, *error = NULL;
	create_two();
	create_text("A/jobs.csv", "name,jct_s,measured,finished\nvgg,1,0,1\nvgg,3,1,1\n");
	cr_assert_eq(draw("jct", NULL, &printed, &error), 1, "%s", error);
	free(printed);
	char *data = read_file("out/jct.dat");
	cr_expect_not_null(strstr(data, "\n1 1 0 3 NaN NaN 1 \"A\"\n"), "%s", data);
	free(data);
}
