/* Each figure from a small table that is made here: the file is there, and the
 * .dat beside it holds exactly the numbers that the table implies. What a figure
 * looks like is for eyes to judge. */
#include "out/plot.h"

#include "out/folder.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLOWS_HEADER                                                                               \
	"flow_id,group,src,dst,size_bytes,start_s,finish_s,fct_s,ideal_fct_s,slowdown,"            \
	"retransmissions,finished"
#define JOBS_HEADER                                                                                \
	"job_id,name,scheme,model,workers,iterations,iterations_done,arrival_s,start_s,"           \
	"finish_s,jct_s,waiting_s,compute_s,communication_s,finished\n"
#define ITERATIONS_HEADER                                                                          \
	"job_id,name,iteration,start_s,finish_s,duration_s,compute_s,communication_s\n"
#define LINKS_HEADER                                                                               \
	"link_id,from,to,tier,direction,rate_bps,packets,bytes,utilization,drops,losses,"          \
	"ecn_marks,max_queue_bytes\n"

/* A blank and a quote: paths go through the shell and gnuplot. */
static char folder[] = INASIM_WORK_DIR "/inasim plot's-XXXXXX";

static void setup(void)
{
	cr_assert_not_null(mkdtemp(folder));
}

static void teardown(void)
{
	cr_expect(folder_remove(folder));
}

TestSuite(plot, .init = setup, .fini = teardown);

static FILE *create(const char *name)
{
	char *path = folder_join(folder, name);
	cr_assert(folder_make_parents(path));
	FILE *file = fopen(path, "w");
	cr_assert_not_null(file, "%s", path);
	free(path);
	return file;
}

static void create_text(const char *name, const char *text)
{
	FILE *file = create(name);
	fputs(text, file);
	cr_assert_eq(fclose(file), 0);
}

static void create_manifest(void)
{
	create_text("manifest.json", "{}\n");
}

/* The whole of DIR/NAME; the caller frees. */
static char *read_file(const char *name, size_t *length)
{
	char *path = folder_join(folder, name);
	FILE *file = fopen(path, "r");
	cr_assert_not_null(file, "no %s", path);
	cr_assert_eq(fseek(file, 0, SEEK_END), 0);
	*length = (size_t)ftell(file);
	rewind(file);
	char *text = calloc(*length + 1, 1);
	cr_assert_eq(fread(text, 1, *length, file), *length);
	fclose(file);
	free(path);
	return text;
}

static int draw(const char *figure, const char *term, char **printed, char **error)
{
	size_t size;
	struct plot_options options = { .term = term, .only = figure };
	FILE *to = open_memstream(printed, &size);
	int drawn = plot_directory(folder, &options, to, error);
	fclose(to);
	return drawn;
}

/* Draws one figure as PNG, whose .dat must be `want`. */
static void expect_figure(const char *figure, const char *want)
{
	char name[4096], *printed, *error = NULL;
	size_t length;
	cr_assert_eq(draw(figure, "png", &printed, &error), 1, "%s: %s", figure, error);
	snprintf(name, sizeof name, "%s/figures/%s.png\n", folder, figure);
	cr_expect_str_eq(printed, name);
	free(printed);
	snprintf(name, sizeof name, "figures/%s.png", figure);
	char *png = read_file(name, &length);
	cr_expect(length > 1000 && memcmp(png, "\x89PNG\r\n\x1a\n", 8) == 0);
	free(png);
	snprintf(name, sizeof name, "figures/%s.dat", figure);
	char *data = read_file(name, &length);
	cr_expect_str_eq(data, want);
	free(data);
}

static void expect_error(const char *figure, const char *term, const char *want)
{
	char *printed, *error = NULL;
	cr_assert_eq(draw(figure, term, &printed, &error), -1);
	cr_expect_not_null(strstr(error, want), "%s", error);
	cr_expect_str_eq(printed, "");
	free(printed);
	free(error);
}

/* Of a figure that was asked for by name that is an error; of all figures (NULL) it is none. */
static void expect_no_data(const char *figure)
{
	char *printed, *error = NULL;
	cr_expect_eq(draw(figure, "png", &printed, &error), figure == NULL ? 0 : -1, "%s", error);
	cr_expect_eq(error != NULL, figure != NULL);
	if (error != NULL)
		cr_expect_not_null(strstr(error, ": no figure "), "%s", error);
	cr_expect_str_eq(printed, "");
	free(printed);
	free(error);
}

/* ---- Flows ---- */

/* 1000 flows below 10 KB of slowdown 1.001 ... 2, backwards; 20 of 10 KB; 19 of
 * 10 MB, one too few for a median; 1 unfinished; 1 that does not count. */
static void create_flows(void)
{
	create_manifest();
	FILE *file = create("flows.csv");
	fputs(FLOWS_HEADER ",measured\n", file);
	for (int i = 1000; i >= 1; i--)
		fprintf(file, "%d,a,0,1,9999,0,1,0.5,0.25,%.3f,0,1,1\n", i, 1 + i / 1000.0);
	for (int i = 1; i <= 20; i++)
		fprintf(file, "%d,a,0,1,10000,0,1,0.5,0.25,%d,0,1,1\n", i, i);
	for (int i = 1; i <= 19; i++)
		fprintf(file, "%d,a,0,1,10000000,0,1,0.5,0.25,%d,0,1,1\n", i, i);
	fputs("1,a,0,1,10000000,0,,,0.25,,0,0,1\n", file);
	fputs("1,a,0,1,10000000,0,1,9,0.25,36,0,1,0\n", file);
	cr_assert_eq(fclose(file), 0);
}

Test(plot, slowdown)
{
	create_flows();
	expect_figure("slowdown", "# class min_bytes finished_flows p50 p95 p99\n"
				  "0 0 1000 1.5 1.95 1.99\n"
				  "1 10000 20 10 nan nan\n"
				  "2 100000 0 nan nan nan\n"
				  "3 1000000 0 nan nan nan\n"
				  "4 10000000 19 nan nan nan\n");
	size_t length;
	char *script = read_file("figures/slowdown.gp", &length);
	cr_expect_not_null(strstr(script, "1,039 finished flows, 1 unfinished (not shown)"));
	cr_expect_not_null(strstr(script, "n = 1,000"));
	free(script);
}

Test(plot, too_small_a_slowdown_is_told)
{
	create_manifest();
	FILE *file = create("flows.csv");
	fputs(FLOWS_HEADER "\n", file);
	for (int i = 0; i < 20; i++)
		fprintf(file, "%d,a,0,1,100,0,1,0.5,1,0.5,0,1\n", i);
	cr_assert_eq(fclose(file), 0);
	expect_figure("slowdown", "# class min_bytes finished_flows p50 p95 p99\n"
				  "0 0 20 0.5 nan nan\n"
				  "1 10000 0 nan nan nan\n"
				  "2 100000 0 nan nan nan\n"
				  "3 1000000 0 nan nan nan\n"
				  "4 10000000 0 nan nan nan\n");
	size_t length;
	char *script = read_file("figures/slowdown.gp", &length);
	cr_expect_not_null(strstr(script, "20 BELOW 1"));
	free(script);
}

Test(plot, fct_cdf)
{
	create_manifest();
	create_text("flows.csv", FLOWS_HEADER "\n"
					      "1,web,0,1,100,0,1,0.004,1,4,0,1\n"
					      "2,all_`false`'s,0,1,100,0,1,0.1,1,1,0,1\n"
					      "3,web,0,1,100,0,1,0.001,1,1,0,1\n"
					      "4,web,0,1,100,0,,,1,,0,0\n"
					      "5,web,0,1,100,0,1,0.002,1,1,0,1\n"
					      "6,web,0,1,100,0,1,0.002,1,1,0,1\n");
	expect_figure("fct_cdf", "# group 1, n = 4: fct_s share\n"
				 "0.001 0\n0.001 0.25\n0.002 0.5\n0.002 0.75\n0.004 1\n"
				 "\n\n# group 2, n = 1: fct_s share\n"
				 "0.1 0\n0.1 1\n");
}

Test(plot, many_groups_become_one)
{
	create_manifest();
	FILE *file = create("flows.csv");
	fputs(FLOWS_HEADER "\n", file);
	for (int i = 0; i < 30; i++) /* group 0 four times, 1 to 8 three, 9 twice */
		fprintf(file, "%d,group%d,0,1,100,0,1,%d,1,1,0,1\n", i,
			i % 10 == 9 && i > 20 ? 0 : i % 10, 1 + i % 10);
	cr_assert_eq(fclose(file), 0);
	char *printed, *error = NULL;
	size_t length;
	cr_assert_eq(draw("fct_cdf", "svg", &printed, &error), 1, "%s", error);
	free(printed);
	char *script = read_file("figures/fct_cdf.gp", &length);
	cr_expect_not_null(strstr(script, "'group0 (n = 4)'"));
	cr_expect_not_null(strstr(script, "'3 other groups (n = 8)'"));
	free(script);
}

/* ---- Jobs ---- */

Test(plot, job_timeline)
{
	create_manifest();
	create_text("jobs.csv", JOBS_HEADER "7,late,ring,m,2,2,0,2,,,,,,,0\n"
					    "3,early,ring,m,2,2,2,0,0.5,3,3,0.5,1,1,1\n");
	create_text("iterations.csv", ITERATIONS_HEADER "3,early,1,1.5,3,1.5,0.5,1\n"
							"3,early,0,0.5,1.5,1,0.25,0.75\n");
	expect_figure("job_timeline", "# waiting: row job_id from_s to_s\n"
				      "nan nan nan nan\n"
				      "0 3 0 0.5\n"
				      "1 7 2 3\n"
				      "\n\n# computing: row job_id from_s to_s\n"
				      "nan nan nan nan\n"
				      "0 3 0.5 0.75\n"
				      "0 3 1.5 2\n"
				      "\n\n# communicating: row job_id from_s to_s\n"
				      "nan nan nan nan\n"
				      "0 3 0.75 1.5\n"
				      "0 3 2 3\n");
	size_t length;
	char *script = read_file("figures/job_timeline.gp", &length);
	cr_expect_not_null(strstr(script, "'early' 0"));
	cr_expect_not_null(strstr(script, "'late (unfinished)' 1"));
	free(script);
}

/* ---- Network ---- */

Test(plot, link_utilization)
{
	create_manifest();
	create_text("links.csv", LINKS_HEADER "0,a,b,host,up,1,1,1,0.25,0,0,0,0\n"
					      "1,a,b,host,down,1,1,1,0.125,0,0,0,0\n"
					      "2,a,b,host,up,1,1,1,0.75,0,0,0,0\n");
	expect_figure("link_utilization", "# bundle 1: share_of_links utilization\n"
					  "0 0.75\n0.5 0.25\n1 0.25\n"
					  "\n\n# bundle 2: share_of_links utilization\n"
					  "0 0.125\n1 0.125\n");
}

Test(plot, series)
{
	create_manifest();
	create_text(
		"series/network.csv",
		"time_s,active_flows,active_jobs,queued_bytes,mean_utilization,max_utilization\n"
		"0.001,5,1,100,0.25,0.5\n"
		"0.002,7,2,100,0.5,1\n");
	expect_figure("series",
		      "# time_s active_flows active_jobs mean_utilization max_utilization\n"
		      "0.001 5 1 0.25 0.5\n"
		      "0.002 7 2 0.5 1\n");
}

/* One line for each entry; rows of the entries stand one below the other. */
Test(plot, packets)
{
	create_manifest();
	create_text("series/links.csv", "time_s,links,count,packets\n"
					"0.01,host/up,8,500\n0.01,3,1,60\n"
					"0.02,host/up,8,510\n0.02,3,1,0\n");
	expect_figure("packets", "# host/up: time_s packets\n0.01 500\n0.02 510\n"
				 "\n\n# 3: time_s packets\n0.01 60\n0.02 0\n");
	size_t length;
	char *script = read_file("figures/packets.gp", &length);
	cr_expect_not_null(strstr(script, "'Packets per 10 ms'"));
	free(script);
}

Test(plot, packets_of_no_links)
{
	char *printed, *error = NULL;
	create_manifest();
	create_text("series/links.csv", "time_s,links,count,packets\n");
	cr_expect_neq(draw("packets", "png", &printed, &error), 1);
	free(printed);
	free(error);
}

Test(plot, long_series_are_thinned)
{
	create_manifest();
	FILE *file = create("series/network.csv");
	fputs("time_s,active_flows,active_jobs,queued_bytes,mean_utilization,max_utilization\n",
	      file);
	for (int i = 1; i <= 4000; i++)
		fprintf(file, "%d,%d,1,0,%d,%d\n", i, i, i, i);
	cr_assert_eq(fclose(file), 0);
	char *printed, *error = NULL;
	size_t length, lines = 0;
	cr_assert_eq(draw("series", "png", &printed, &error), 1, "%s", error);
	free(printed);
	char *data = read_file("figures/series.dat", &length);
	for (const char *p = data; *p != '\0'; p++)
		lines += *p == '\n';
	cr_expect_eq(lines, 1 + 2000);
	cr_expect_not_null(strstr(data, "\n2 1.5 1 1.5 2\n"));
	free(data);
}

/* ---- All of them, terminals ---- */

Test(plot, every_figure_that_has_data)
{
	create_flows();
	create_text("links.csv", LINKS_HEADER "0,a,b,host,up,1,1,1,0.25,0,0,0,0\n");
	char *printed, *error = NULL;
	cr_assert_eq(draw(NULL, "png", &printed, &error), 3, "%s", error);
	cr_expect_not_null(strstr(printed, "/figures/slowdown.png\n"));
	cr_expect_not_null(strstr(printed, "/figures/fct_cdf.png\n"));
	cr_expect_not_null(strstr(printed, "/figures/link_utilization.png\n"));
	free(printed);
	size_t count;
	const struct plot_figure *figures = plot_figures(&count);
	cr_assert_eq(count, 6);
	for (size_t i = 0; i < count; i++)
		cr_expect(*figures[i].name != '\0' && *figures[i].help != '\0');
}

Test(plot, other_terminals)
{
	static const struct {
		const char *term, *file, *magic;
	} cases[] = { { "svg", "figures/slowdown.svg", "<?xml" },
		      { "pdf", "figures/slowdown.pdf", "%PDF" } };
	create_flows();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *printed, *error = NULL;
		size_t length;
		cr_assert_eq(draw("slowdown", cases[i].term, &printed, &error), 1, "%s", error);
		free(printed);
		char *figure = read_file(cases[i].file, &length);
		cr_expect_eq(memcmp(figure, cases[i].magic, strlen(cases[i].magic)), 0);
		free(figure);
	}
}

Test(plot, dumb_goes_to_the_stream)
{
	create_flows();
	char *printed, *error = NULL;
	size_t lines = 0;
	cr_assert_eq(draw("slowdown", "dumb", &printed, &error), 1, "%s", error);
	cr_expect_not_null(strstr(printed, "Flow slowdown by flow size"));
	for (const char *p = printed; *p != '\0'; p++)
		lines += *p == '\n';
	cr_expect(lines >= 24 && lines <= 25, "%zu lines", lines);
	cr_expect_null(strchr(printed, '\f'));
	cr_expect_not(folder_has(folder, "figures/slowdown.txt"));
	free(printed);
}

/* ---- Mistakes ---- */

Test(plot, no_result_directory)
{
	expect_error(NULL, "png", "not a result directory");
	struct plot_options options = { .term = "png" };
	char *error = NULL, *missing = folder_join(folder, "missing");
	cr_assert_eq(plot_directory(missing, &options, stdout, &error), -1);
	cr_expect_not_null(strstr(error, "there is no directory"), "%s", error);
	free(missing);
	free(error);
}

Test(plot, unknown_names)
{
	create_manifest();
	expect_error("pie", "png", "no figure \"pie\"; there are slowdown, fct_cdf,");
	expect_error(NULL, "jpeg", "no terminal \"jpeg\"");
}

Test(plot, nothing_to_draw)
{
	create_manifest();
	expect_no_data(NULL); /* no tables at all */
	create_text("flows.csv", FLOWS_HEADER "\n1,web,0,1,100,0,,,1,,0,0\n");
	create_text("jobs.csv", JOBS_HEADER);
	create_text("iterations.csv", ITERATIONS_HEADER);
	create_text("links.csv", LINKS_HEADER);
	expect_no_data(NULL); /* nothing in them */
	create_text("flows.csv", FLOWS_HEADER "\n1,web,0,1,100,0,1,1,1,1,0,1\n");
	expect_no_data("slowdown"); /* too little */
}

Test(plot, mistakes_in_tables_are_told)
{
	create_manifest();
	create_text("flows.csv", FLOWS_HEADER "\n1,web,0,1,100,0,1,soon,1,1,0,1\n");
	expect_error("fct_cdf", "png", "flows.csv:2: column fct_s: \"soon\" is not a number");
	create_text("flows.csv", "flow_id,group\n1,web\n");
	expect_error("slowdown", "png", "flows.csv: no column size_bytes");
	create_text("flows.csv", FLOWS_HEADER "\n1,web,0,1,100,0,1,0,1,1,0,1\n");
	expect_error("fct_cdf", "png", "column fct_s: \"0\" is no duration");
}

/* The manifest knows of a second row. */
Test(plot, tables_that_were_cut_are_told)
{
	create_text("manifest.json", "{ \"files\": [ { \"name\": \"flows.csv\", \"rows\": 2 } ] }");
	expect_error("slowdown", "png", "cannot read");
	create_text("flows.csv", FLOWS_HEADER "\n1,web,0,1,100,0,1,1,1,1,0,1\n");
	expect_error("slowdown", "png", "ends after 1 rows, manifest.json says 2");
}

Test(plot, missing_gnuplot)
{
	create_flows();
	cr_assert_eq(setenv("PATH", folder, 1), 0);
	expect_error("slowdown", "png", "figures need gnuplot");
}

/* A program of that name that fails, and one that succeeds and does nothing. */
Test(plot, failing_gnuplot)
{
	create_flows();
	char *fake = folder_join(folder, "gnuplot");
	create_text("gnuplot", "#!/bin/sh\necho no font; exit 3\n");
	cr_assert_eq(chmod(fake, 0700), 0);
	cr_assert_eq(setenv("PATH", folder, 1), 0);
	expect_error("slowdown", "png", "slowdown.gp: no font");
	create_text("gnuplot", "#!/bin/sh\nexit 0\n");
	expect_error("slowdown", "png", "gnuplot made no ");
	free(fake);
}

/* On a full disk gnuplot leaves a part of a figure and ends with 0, as this one does. */
Test(plot, half_a_figure)
{
	static const char *const terms[] = { "png", "svg", "pdf" };
	create_flows();
	char *fake = folder_join(folder, "gnuplot");
	create_text("gnuplot",
		    "#!/bin/sh\nfor term in png svg pdf; do\n"
		    "printf 'as much of it as there was room for' >slowdown.$term\ndone\n");
	cr_assert_eq(chmod(fake, 0700), 0);
	free(fake);
	cr_assert_eq(setenv("PATH", folder, 1), 0);
	for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
		char name[64];
		expect_error("slowdown", terms[i], "gnuplot made no whole ");
		snprintf(name, sizeof name, "figures/slowdown.%s", terms[i]);
		cr_expect_not(folder_has(folder, name), "%s passes for a figure", name);
	}
}

Test(plot, figures_that_cannot_be_written)
{
	create_flows();
	create_text("figures", "in the way\n");
	expect_error("slowdown", "png", "cannot write");
}
