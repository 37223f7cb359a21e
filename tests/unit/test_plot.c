/* Each figure from a small table that is made here: the picture is there, and the
 * .dat beside it holds exactly the numbers that the table implies. What a figure
 * looks like is for eyes to judge. */
#include "figure_sample.h"

#include "base/mem.h"
#include "lab/figures/gnuplot.h"

#include <sys/stat.h>

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

TestSuite(plot, .init = setup, .fini = teardown);

/* Makes a program in the folder, and a PATH that finds it first. */
static void create_program(const char *name, const char *text)
{
	char *path = folder_join(folder, name), *search = xasprintf("%s:/bin:/usr/bin", folder);
	create_text(name, text);
	cr_assert_eq(chmod(path, 0700), 0);
	cr_assert_eq(setenv("PATH", search, 1), 0);
	free(search);
	free(path);
}

static void create_manifest(void)
{
	create_text("manifest.json", "{}\n");
	create_text("summary.json", SIZE_CLASSES);
}

static int draw(const char *figure, const char *term, char **printed, char **error)
{
	size_t size;
	struct plot_options options = { .term = term, .only = { &figure, figure != NULL } };
	FILE *to = open_memstream(printed, &size);
	int drawn = plot_run(folder, &options, to, error);
	fclose(to);
	return drawn;
}

/* Draws one figure as PNG, whose .dat must be `want`. */
static void expect_figure(const char *figure, const char *want)
{
	char name[4096], *printed, *error = NULL;
	size_t length;
	cr_assert_eq(draw(figure, "png", &printed, &error), 1, "%s: %s", figure, error);
	snprintf(name, sizeof(name), "%s/figures/%s.png\n", folder, figure);
	cr_expect_str_eq(printed, name);
	free(printed);
	snprintf(name, sizeof(name), "figures/%s.png", figure);
	char *png = read_in(folder, name, &length);
	cr_expect(length > 1000 && !memcmp(png, "\x89PNG\r\n\x1a\n", 8));
	free(png);
	snprintf(name, sizeof(name), "figures/%s.dat", figure);
	char *data = read_in(folder, name, &length);
	cr_expect_str_eq(data, want);
	free(data);
}

static void expect_error(const char *figure, const char *term, const char *want)
{
	char *printed, *error = NULL;
	cr_assert_lt(draw(figure, term, &printed, &error), 0);
	cr_expect_not_null(strstr(error, want), "%s", error);
	cr_expect_str_eq(printed, "");
	free(printed);
	free(error);
}

/* Expects that there is nothing to draw. For a figure asked for by name that is an error; for all
 * figures (NULL) it is not. */
static void expect_no_data(const char *figure)
{
	char *printed, *error = NULL;
	cr_expect_eq(draw(figure, "png", &printed, &error), !figure ? 0 : PLOT_IO, "%s", error);
	cr_expect_eq(!error, !figure);
	if (error)
		cr_expect_not_null(strstr(error, ": no figure "), "%s", error);
	cr_expect_str_eq(printed, "");
	free(printed);
	free(error);
}

/* ---- Flows ---- */

/* 1000 flows below 10 KB of slowdown 1.001 ... 2, backwards; 20 of 10 KB; 19 of 10 MB, one too few
 * for a median; 1 unfinished; 1 not measured. */
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
	expect_figure("slowdown", "# Flow slowdown by flow size\n"
				  "# 1,039 finished flows, 1 unfinished (not shown)\n"
				  "panel series size_class slowdown finished_flows name\n"
				  "1 1 0 1.99 1000 \"99th percentile\"\n"
				  "1 1 1 NaN 20 \"99th percentile\"\n"
				  "1 1 2 NaN 0 \"99th percentile\"\n"
				  "1 1 3 NaN 0 \"99th percentile\"\n"
				  "1 1 4 NaN 19 \"99th percentile\"\n"
				  "\n\n1 2 0 1.95 1000 \"95th percentile\"\n"
				  "1 2 1 NaN 20 \"95th percentile\"\n"
				  "1 2 2 NaN 0 \"95th percentile\"\n"
				  "1 2 3 NaN 0 \"95th percentile\"\n"
				  "1 2 4 NaN 19 \"95th percentile\"\n"
				  "\n\n1 3 0 1.5 1000 \"median\"\n"
				  "1 3 1 10 20 \"median\"\n"
				  "1 3 2 NaN 0 \"median\"\n"
				  "1 3 3 NaN 0 \"median\"\n"
				  "1 3 4 NaN 19 \"median\"\n");
	char *script = read_file("figures/slowdown.gp");
	cr_expect_not_null(strstr(script, "1,039 finished flows, 1 unfinished (not shown)"));
	cr_expect_not_null(strstr(script, "n = 1,000"));
	free(script);
}

/* The size classes of a figure are those of the run. */
Test(plot, slowdown_by_classes_of_the_run)
{
	create_flows();
	create_text("summary.json",
		    "{\"flows\":{\"by_size\":[{\"min_bytes\":0},{\"min_bytes\":10000}]}}\n");
	expect_figure("slowdown", "# Flow slowdown by flow size\n"
				  "# 1,039 finished flows, 1 unfinished (not shown)\n"
				  "panel series size_class slowdown finished_flows name\n"
				  "1 1 0 1.99 1000 \"99th percentile\"\n"
				  "1 1 1 NaN 39 \"99th percentile\"\n"
				  "\n\n1 2 0 1.95 1000 \"95th percentile\"\n"
				  "1 2 1 NaN 39 \"95th percentile\"\n"
				  "\n\n1 3 0 1.5 1000 \"median\"\n"
				  "1 3 1 10 39 \"median\"\n");
	char *script = read_file("figures/slowdown.gp");
	cr_expect_not_null(strstr(script, "'< 10KB'"));
	cr_expect_not_null(strstr(script, "'>= 10KB'"));
	free(script);
}

/* Twenty flows have a median, and no other percentile: the legend names no other. */
Test(plot, too_small_a_slowdown_is_told)
{
	create_manifest();
	FILE *file = create("flows.csv");
	fputs(FLOWS_HEADER "\n", file);
	for (int i = 0; i < 20; i++)
		fprintf(file, "%d,a,0,1,100,0,1,0.5,1,0.5,0,1\n", i);
	cr_assert_eq(fclose(file), 0);
	expect_figure("slowdown",
		      "# Flow slowdown by flow size\n"
		      "# 20 finished flows, 0 unfinished (not shown); slowdowns BELOW 1: 20\n"
		      "panel series size_class slowdown finished_flows name\n"
		      "1 1 0 0.5 20 \"median\"\n"
		      "1 1 1 NaN 0 \"median\"\n"
		      "1 1 2 NaN 0 \"median\"\n"
		      "1 1 3 NaN 0 \"median\"\n"
		      "1 1 4 NaN 0 \"median\"\n");
	char *script = read_file("figures/slowdown.gp");
	cr_expect_not_null(strstr(script, "slowdowns BELOW 1: 20"));
	free(script);
}

/* What has not finished counts: a curve ends at the share that has. */
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
	expect_figure("fct_cdf", "# Flow completion time\n"
				 "# 5 finished flows, 1 unfinished\n"
				 "panel series time_s share name\n"
				 "1 1 0.001 0 \"web\"\n"
				 "1 1 0.001 0.2 \"web\"\n"
				 "1 1 0.002 0.4 \"web\"\n"
				 "1 1 0.002 0.6 \"web\"\n"
				 "1 1 0.004 0.8 \"web\"\n"
				 "\n\n1 2 0.1 0 \"all_`false`'s\"\n"
				 "1 2 0.1 1 \"all_`false`'s\"\n");
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
	cr_assert_eq(draw("fct_cdf", "svg", &printed, &error), 1, "%s", error);
	free(printed);
	char *script = read_file("figures/fct_cdf.gp");
	cr_expect_not_null(strstr(script, "'group0 (n = 4)'"));
	cr_expect_not_null(strstr(script, "'3 other groups (n = 8)'"));
	free(script);
}

/* ---- Jobs ---- */

#define WHY_HEADER                                                                                 \
	"job_id,name,scheme,iteration,worker,host,start_s,finish_s,duration_s,compute_s,jitter_s," \
	"window_s,window_marks_s,window_losses_s,quota_s,lock_s,nic_s,wire_s,inside_s,queue_own_"  \
	"s,queue_"                                                                                 \
	"jobs_s,"                                                                                  \
	"queue_flows_s,pause_s,straggler_s,bubble_s,server_s,no_aggregator_s,timeout_s,fast_s,"    \
	"failure_s,backoff_s,unexplained_s,last_worker,last_times,last_s,link,link_s,pushed_by,"   \
	"pushed_s\n"

/* Means over workers and iterations. Job 0 has (200 + 400) / 2 of computing and (100 + 300) / 2 of
 * wire. Causes below 1 % in every job are the rest. */
Test(plot, breakdown)
{
	create_manifest();
	create_text(
		"why.csv", WHY_HEADER
		"0,a "
		"b,ring,0,0,0,0,300.5,300.5,200,0,0,0,0,0,0,0,100,0,0,0,0,0,0,0,0,0,0,0,0,0,0.5,,,,"
		",,,\n"
		"0,a "
		"b,ring,0,1,1,0,700,700,400,0,0,0,0,0,0,0,300,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,3,1,h0 "
		"-> "
		"h1,1,0,0.5\n"
		"2,c,ring,0,0,2,0,1,1,0,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,,,,,,,\n");
	expect_figure("breakdown", "# What iterations are spent on\n"
				   "# Mean over workers and iterations of 2 jobs\n"
				   "# bar = 0: a b\n"
				   "# bar = 1: c\n"
				   "panel series bar time_s from_s to_s worker_iterations name\n"
				   "1 1 0 300 0 300 2 \"computing\"\n"
				   "1 1 1 0 0 0 1 \"computing\"\n"
				   "\n\n"
				   "1 2 0 200 300 500 2 \"wire\"\n"
				   "1 2 1 1 0 1 1 \"wire\"\n"
				   "\n\n"
				   "1 3 0 0.25 500 500.25 2 \"rest\"\n"
				   "1 3 1 0 1 1 1 \"rest\"\n");
}

Test(plot, breakdown_of_a_job_that_cannot_be)
{
	create_manifest();
	create_text("why.csv", WHY_HEADER "99999999999,a,ring,0,0,0,0,1,1,1,0,0,0,0,0,0,0,0,0,0,0,"
					  "0,0,0,0,0,0,0,0,0,0,0,,,,,,,\n");
	expect_error("breakdown", "png", "\"99999999999\" is not the number of a job");
}

/* As in a table that somebody has sorted by time; rows of an iteration that has some may come. */
Test(plot, breakdown_of_an_iteration_that_comes_again)
{
	create_manifest();
	FILE *file = create("why.csv");
	fputs(WHY_HEADER, file);
	for (int i = 0; i < 5; i++)
		fprintf(file,
			"0,a,ring,%d,0,0,0,1,1,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,,,,,,,"
			"\n",
			i < 4 ? 1 + i % 2 : 0);
	cr_assert_eq(fclose(file), 0);
	expect_error("breakdown", "png", "why.csv:6: column iteration: \"0\" comes too late");
}

Test(plot, no_breakdown)
{
	create_manifest();
	expect_error("breakdown", "png", "there is no why.csv; run --why writes it");
	create_text("why.csv", WHY_HEADER
		    "0,a,ring,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,,,,,,,\n");
	expect_error("breakdown", "png", "iterations took no time");
}

Test(plot, job_timeline)
{
	create_manifest();
	create_text("jobs.csv", JOBS_HEADER "7,late,ring,m,2,2,0,2,,,,,,,0\n"
					    "3,early,ring,m,2,2,2,0,0.5,3,3,0.5,1,1,1\n");
	create_text("iterations.csv", ITERATIONS_HEADER "3,early,1,1.5,3,1.5,0.5,1\n"
							"3,early,0,0.5,1.5,1,0.25,0.75\n");
	expect_figure("job_timeline", "# Jobs over time\n"
				      "# 2 jobs, 1 unfinished (*)\n"
				      "panel series from_s to_s row job_id name\n"
				      "1 1 0 0.5 0 3 \"waiting\"\n"
				      "1 1 2 3 1 7 \"waiting\"\n"
				      "\n\n1 2 0.5 0.75 0 3 \"computing\"\n"
				      "1 2 1.5 2 0 3 \"computing\"\n"
				      "\n\n1 3 0.75 1.5 0 3 \"communicating\"\n"
				      "1 3 2 3 0 3 \"communicating\"\n");
	char *script = read_file("figures/job_timeline.gp");
	cr_expect_not_null(strstr(script, "YTICK_AT[1] = 0; YTICK[1] = 'early'\n"));
	cr_expect_not_null(strstr(script, "YTICK_AT[2] = 1; YTICK[2] = 'late *'\n"));
	free(script);
}

/* 10,000 iterations have a bar each; one more, and two share a bar. */
Test(plot, iterations_that_share_a_bar)
{
	create_manifest();
	create_text("jobs.csv", JOBS_HEADER "0,a,ring,m,2,2,2,0,0,10001,10001,0,1,1,1\n");
	for (int count = 10000; count <= 10001; count++) {
		char *printed, *error = NULL;
		FILE *file = create("iterations.csv");
		fputs(ITERATIONS_HEADER, file);
		for (int i = 0; i < count; i++)
			fprintf(file, "0,a,%d,%d,%d,1,0.5,0.5\n", i, i, i + 1);
		cr_assert_eq(fclose(file), 0);
		cr_assert_eq(draw("job_timeline", "dumb", &printed, &error), 1, "%s", error);
		char *data = read_file("figures/job_timeline.dat");
		cr_expect_eq(!!strstr(data, "; a bar is 2 iterations\n"), count > 10000);
		free(data);
		free(printed);
	}
}

/* A single flow is no distribution: there is no figure, and the reason is said. */
Test(plot, no_distribution_of_one_value)
{
	char *printed, *error = NULL;
	create_manifest();
	create_text("flows.csv", FLOWS_HEADER "\n1,a,0,1,100,0,1,0.004,1,4,0,1\n");
	cr_expect_eq(draw("fct_cdf", "svg", &printed, &error), PLOT_IO);
	cr_expect_not_null(strstr(error, "a single value has no distribution"), "%s", error);
	free(printed);
	free(error);
}

/* ---- Network ---- */

Test(plot, link_utilization)
{
	create_manifest();
	create_text("links.csv", LINKS_HEADER "0,a,b,host,up,1,1,1,0.25,0,0,0,0\n"
					      "1,a,b,host,down,1,1,1,0.125,0,0,0,0\n"
					      "2,a,b,host,up,1,1,1,0.75,0,0,0,0\n");
	expect_figure("link_utilization",
		      "# Utilisation of links, ranked within tier and direction\n"
		      "# 3 links, highest 75.0 %\n"
		      "panel series share_of_links utilization name\n"
		      "1 1 0 0.75 \"host up\"\n"
		      "1 1 0.5 0.25 \"host up\"\n"
		      "1 1 1 0.25 \"host up\"\n"
		      "\n\n1 2 0 0.125 \"host down\"\n"
		      "1 2 1 0.125 \"host down\"\n");
}

/* Hosts are below, at even distances; a switch is above the nodes that it is linked to. */
Test(plot, network)
{
	create_manifest();
	create_text("links.csv", LINKS_HEADER "0,a,s,host,up,1,1,1,0.25,0,0,0,0\n"
					      "1,b,s,host,up,1,1,1,1,0,0,0,0\n"
					      "2,s,a,host,down,1,1,1,0,0,0,0,0\n");
	expect_figure("network", "# How busy was each link?\n"
				 "# 3 nodes; busiest: b to s, 100.0 %\n"
				 "panel series x y to_x to_y link_id utilization name\n"
				 "1 1 0.5 1 0.25 0 2 0 \"link\"\n"
				 "\n\n1 2 0.25 0 0.5 1 0 0.25 \"link\"\n"
				 "\n\n1 3 NaN NaN NaN NaN NaN NaN \"link\"\n"
				 "\n\n1 4 NaN NaN NaN NaN NaN NaN \"link\"\n"
				 "\n\n1 5 0.75 0 0.5 1 1 1 \"link\"\n"
				 "\n\n1 6 0.25 0 0.25 0 NaN NaN \"host\"\n"
				 "1 6 0.75 0 0.75 0 NaN NaN \"host\"\n"
				 "\n\n1 7 0.5 1 0.5 1 NaN NaN \"switch\"\n");
}

/* The colour of a switch says whether gradients were added up there. */
Test(plot, network_where_sums_are_added)
{
	create_manifest();
	create_text("links.csv", LINKS_HEADER "0,a,s,host,up,1,1,1,0.25,0,0,0,0\n"
					      "1,s,t,switch,up,1,1,1,0,0,0,0,0\n");
	create_text("aggregators.csv", "switch,packets_aggregated\ns,0\nt,3\n");
	expect_figure("network", "# How busy was each link?\n"
				 "# 3 nodes; busiest: a to s, 25.0 %\n"
				 "panel series x y to_x to_y link_id utilization name\n"
				 "1 1 0.5 1 0.5 2 1 0 \"link\"\n"
				 "\n\n1 2 0.5 0 0.5 1 0 0.25 \"link\"\n"
				 "\n\n1 3 NaN NaN NaN NaN NaN NaN \"link\"\n"
				 "\n\n1 4 NaN NaN NaN NaN NaN NaN \"link\"\n"
				 "\n\n1 5 NaN NaN NaN NaN NaN NaN \"link\"\n"
				 "\n\n1 6 0.5 0 0.5 0 NaN NaN \"host\"\n"
				 "\n\n1 7 0.5 1 0.5 1 NaN NaN \"switch\"\n"
				 "\n\n1 8 0.5 2 0.5 2 NaN NaN \"switch that added up\"\n");
}

Test(plot, series)
{
	create_manifest();
	create_text(
		"series/network.csv",
		"time_s,active_flows,active_jobs,queued_bytes,mean_utilization,max_utilization\n"
		"0.001,5,1,100,0.25,0.5\n"
		"0.002,7,2,100,0.5,1\n");
	expect_figure("series", "# panel 1: Active flows\n"
				"# panel 2: Active jobs\n"
				"# panel 3: Mean utilisation\n"
				"# panel 4: Busiest link\n"
				"# Load over time\n"
				"# Every sample\n"
				"panel series time_s value name\n"
				"1 1 0.001 5 \"\"\n"
				"1 1 0.002 7 \"\"\n"
				"\n\n2 1 0.001 1 \"\"\n"
				"2 1 0.002 2 \"\"\n"
				"\n\n3 1 0.001 0.25 \"\"\n"
				"3 1 0.002 0.5 \"\"\n"
				"\n\n4 1 0.001 0.5 \"\"\n"
				"4 1 0.002 1 \"\"\n");
}

/* One curve for each entry; rows of several entries alternate in the table. */
Test(plot, packets)
{
	create_manifest();
	create_text("series/links.csv", "time_s,links,count,packets\n"
					"0.01,host/up,8,500\n0.01,3,1,60\n"
					"0.02,host/up,8,510\n0.02,3,1,0\n");
	expect_figure("packets", "# Packets over time\n"
				 "# All classes of traffic, lost ones included\n"
				 "panel series time_s packets name\n"
				 "1 1 0.01 500 \"host/up\"\n"
				 "1 1 0.02 510 \"host/up\"\n"
				 "\n\n1 2 0.01 60 \"3\"\n"
				 "1 2 0.02 0 \"3\"\n");
	char *script = read_file("figures/packets.gp");
	cr_expect_not_null(strstr(script, "'Packets per 10ms'"));
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
	size_t lines = 0;
	cr_assert_eq(draw("series", "png", &printed, &error), 1, "%s", error);
	free(printed);
	char *data = read_file("figures/series.dat");
	for (const char *p = data; *p; p++)
		lines += *p == '\n';
	cr_expect_eq(lines, 6 + 1 + 4 * 2000 + 3 * 2); /* a head, and four panels */
	cr_expect_not_null(strstr(data, "\n1 1 2 1.5 \"\"\n"));
	cr_expect_not_null(strstr(data, "\n3 1 2 1.5 \"\"\n"));
	cr_expect_not_null(strstr(data, "\n4 1 2 2 \"\"\n")); /* a maximum stays one */
	free(data);
}

/* ---- All of them, terminals ---- */

Test(plot, every_figure_that_has_data)
{
	create_flows();
	create_text("links.csv", LINKS_HEADER "0,a,b,host,up,1,1,1,0.25,0,0,0,0\n");
	char *printed, *error = NULL;
	cr_assert_eq(draw(NULL, "png", &printed, &error), 4, "%s", error);
	cr_expect_not_null(strstr(printed, "/figures/network.png\n"));
	cr_expect_not_null(strstr(printed, "/figures/slowdown.png\n"));
	cr_expect_not_null(strstr(printed, "/figures/fct_cdf.png\n"));
	cr_expect_not_null(strstr(printed, "/figures/link_utilization.png\n"));
	free(printed);
	size_t figures = 0, alone = 0, together = 0;
	for (; plot_figure(figures); figures++) {
		alone += plot_figure(figures)->alone != NULL;
		together += plot_figure(figures)->together != NULL;
	}
	cr_expect(figures == 10 && alone == 8 && together == 7);
}

Test(plot, other_terminals)
{
	static const struct {
		const char *term, *file, *magic;
	} cases[] = { { "svg", "figures/slowdown.svg", "<?xml" },
		      { "pdf", "figures/slowdown.pdf", "%PDF" },
		      { "eps", "figures/slowdown.eps", "%!PS" } };
	create_flows();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *printed, *error = NULL;
		cr_assert_eq(draw("slowdown", cases[i].term, &printed, &error), 1, "%s", error);
		free(printed);
		char *figure = read_file(cases[i].file);
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
	for (const char *p = printed; *p; p++)
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
	cr_assert_eq(plot_run(missing, &options, stdout, &error), -1);
	cr_expect_not_null(strstr(error, "there is no directory"), "%s", error);
	free(missing);
	free(error);
}

Test(plot, unknown_names)
{
	create_manifest();
	expect_error("pie", "png", "there is no figure \"pie\"; see inasim list figures");
	expect_error(NULL, "jpeg", "--term takes png, svg, pdf, eps, tikz or dumb; found \"jpeg\"");
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
	expect_error("fct_cdf", "png", "column fct_s: \"0\" is not above 0");
	create_text("summary.json", "{\"flows\":{\"by_size\":[{\"min_bytes\":1000}]}}\n");
	expect_error("slowdown", "png",
		     "column size_bytes: \"100\" is below the first flows.by_size of summary.json");
	create_text("links.csv", LINKS_HEADER "0,a,s,host,up,1,1,1,-0.25,0,0,0,0\n");
	expect_error("network", "png", "links.csv:2: column utilization: \"-0.25\" is below 0");
}

/* The manifest says that there is a second row. */
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

/* Nor is gnuplot missing if the folder is, as when somebody removes it meanwhile. */
Test(plot, missing_folder)
{
	char *error = NULL, *said;
	size_t length;
	cr_expect_null(gnuplot_run("/nowhere", "a.gp", &length, &said, &error));
	cr_expect_str_eq(error, "cannot run gnuplot in /nowhere: No such file or directory");
	free(error);
	free(said);
}

/* A gnuplot that fails, and one that succeeds and does nothing. */
Test(plot, failing_gnuplot)
{
	create_flows();
	create_program("gnuplot", "#!/bin/sh\necho no font >&2; exit 3\n");
	expect_error("slowdown", "png", "slowdown.gp with exit code 3: no font");
	create_program("gnuplot", "#!/bin/sh\nexit 0\n");
	expect_error("slowdown", "png", "gnuplot did not finish ");
}

/* Part of a picture, as a stopped gnuplot leaves it, does not pass for a figure. */
Test(plot, half_a_figure)
{
	static const char *const terms[] = { "png", "svg", "pdf", "eps" };
	create_flows();
	create_program("gnuplot", "#!/bin/sh\necho as much of it as there was\n");
	for (size_t i = 0; i < sizeof(terms) / sizeof(*terms); i++) {
		char name[64];
		expect_error("slowdown", terms[i], "gnuplot did not finish ");
		snprintf(name, sizeof(name), "figures/slowdown.%s", terms[i]);
		cr_expect_not(folder_has(folder, name), "%s passes for a figure", name);
	}
}

/* Exit code 127 need not mean that a shell found no gnuplot: a loader that finds no memory for a
 * library ends with it, too. */
Test(plot, what_really_happened_is_told)
{
	create_flows();
	create_program("gnuplot", "#!/bin/sh\necho cannot map libX >&2; exit 127\n");
	expect_error("slowdown", "png", "with exit code 127: cannot map libX");
	create_program("gnuplot", "#!/bin/sh\nkill -KILL $$\n");
	expect_error("slowdown", "png", "gnuplot was killed by a signal (Killed) on ");
	char *fake = folder_join(folder, "gnuplot");
	cr_assert_eq(chmod(fake, 0600), 0);
	cr_assert_eq(setenv("PATH", folder, 1), 0);
	expect_error("slowdown", "png", "cannot run gnuplot in ");
	free(fake);
}

/* While gnuplot draws, no picture is there: neither the old one nor a part of the new one. */
Test(plot, no_part_of_a_picture)
{
	char *printed, *error = NULL;
	create_flows();
	cr_assert_eq(draw("slowdown", "png", &printed, &error), 1, "%s", error);
	free(printed);
	create_program("gnuplot", "#!/bin/sh\necho $(echo *) .* >&2\nexit 1\n");
	expect_error("slowdown", "png", ": slowdown.dat slowdown.gp . ..");
}

/* ---- Names and places of strangers ---- */

/* A folder of somebody else may hold links to files of the user. */
Test(plot, links_are_not_followed)
{
	static const char *const suffixes[] = { "dat", "gp", "png" };
	char *printed, *error = NULL, *victim = folder_join(folder, "victim");
	create_flows();
	create_text("victim", "mine\n");
	create_text("figures/other", "");
	for (size_t i = 0; i < 3; i++) {
		char path[4096];
		snprintf(path, sizeof(path), "%s/figures/slowdown.%s", folder, suffixes[i]);
		cr_assert_eq(symlink(victim, path), 0);
	}
	cr_assert_eq(draw("slowdown", "png", &printed, &error), 1, "%s", error);
	char *text = read_file("victim");
	cr_expect_str_eq(text, "mine\n");
	free(text);
	free(printed);
	free(victim);
}

Test(plot, a_folder_that_is_a_link)
{
	char *place = folder_join(folder, "figures"), *printed, *error = NULL;
	create_flows();
	cr_assert_eq(symlink("/tmp", place), 0);
	expect_error("slowdown", "png", "figures is a symbolic link, which figures do not follow");
	size_t size;
	char *out = folder_join(folder, "elsewhere"); /* may be a link, as the user named it */
	struct plot_options options = { .term = "svg",
					.only = { (const char *[]){ "slowdown" }, 1 },
					.out = out };
	cr_assert_eq(symlink(folder, out), 0);
	FILE *to = open_memstream(&printed, &size);
	cr_expect_eq(plot_run(folder, &options, to, &error), 1, "%s", error);
	fclose(to);
	free(printed);
	free(place);
	free(out);
}

/* Characters that gnuplot interprets: formats, marks of enhanced text, quotes of both kinds, and
 * control characters of one byte and of two. A picture shows the last as blanks. */
Test(plot, names_are_shown_as_they_are)
{
	static const char name[] = "% %g_x^y{z}'`d`'@a&\x1b\xc2\x9b.";
	static const char *const shown[] = { "% %g_x^y{z}&apos;`d`&apos;@a&amp;  .",
					     "% %g_x^y{z}'`d`'@a&amp;  ." };
	char *printed, *error = NULL;
	create_manifest();
	FILE *file = create("jobs.csv");
	fputs(JOBS_HEADER, file);
	fprintf(file, "3,%s,ring,m,2,2,2,0,0.5,3,3,0.5,1,1,1\n", name);
	cr_assert_eq(fclose(file), 0);
	create_text("iterations.csv", ITERATIONS_HEADER "3,early,1,1.5,3,1.5,0.5,1\n");
	file = create("flows.csv");
	fputs(FLOWS_HEADER "\n", file);
	fprintf(file, "1,%s,0,1,100,0,1,0.004,1,4,0,1\n2,%s,0,1,100,0,1,0.005,1,4,0,1\n", name,
		name);
	cr_assert_eq(fclose(file), 0);
	cr_assert_eq(draw(NULL, "svg", &printed, &error), 2, "%s", error); /* a tic and a legend */
	free(printed);
	static const char *const files[] = { "figures/job_timeline.svg", "figures/fct_cdf.svg" };
	for (size_t i = 0; i < 2; i++) {
		char *svg = read_file(files[i]);
		cr_expect(strstr(svg, shown[0]) || strstr(svg, shown[1]), "%s: %s", files[i], svg);
		free(svg);
	}
	char *data = read_file("figures/fct_cdf.dat");
	cr_expect_not_null(strstr(data, "\"% %g_x^y{z}'`d`'@a&  .\"\n"), "%s", data);
	free(data);
}

/* gnuplot shows 49 bytes of a tic's label. Longer labels lose their middle, between letters. */
Test(plot, long_labels_are_cut)
{
	static const char *const names[] = {
		"a_name_of_45_letters_that_is_shown_as_it_is_x",
		"a_name_of_more_letters_than_gnuplot_shows_50%_number_1",
		"\u2265\u2265\u2265\u2265\u2265\u2265\u2265\u2265\u2265\u2265\u2265\u2265\u2265"
		"\u2265\u2265\u2265",
	};
	static const char *const shown[] = {
		"XTICK[1] = 'a_name_of_45_letters_that_is_shown_as_it_is_x'\n",
		"XTICK[2] = 'a_name_of_more_letter\u2026shows_50%%_number_1'\n",
		"XTICK[3] = "
		"'\u2265\u2265\u2265\u2265\u2265\u2265\u2265\u2026\u2265\u2265\u2265\u2265\u2265"
		"\u2265'\n",
	};
	char *out = folder_join(folder, "out"), *printed, *error = NULL;
	struct plot_labelled run = { folder, "one" };
	struct plot_options options = { .term = "svg",
					.only = { (const char *[]){ "jct" }, 1 },
					.out = out };
	size_t size;
	create_manifest();
	FILE *file = create("jobs.csv");
	fputs("name,jct_s,finished\n", file);
	for (size_t i = 0; i < 3; i++)
		fprintf(file, "%s,1,1\n", names[i]);
	cr_assert_eq(fclose(file), 0);
	FILE *to = open_memstream(&printed, &size);
	cr_assert_eq(plot_together(&run, 1, &options, to, &error), 1, "%s", error);
	fclose(to);
	free(printed);
	char *script = read_file("out/jct.gp");
	for (size_t i = 0; i < 3; i++)
		cr_expect_not_null(strstr(script, shown[i]), "%s in %.3000s", shown[i], script);
	free(script);
	free(out);
}

/* A table may hold bytes that are not UTF-8; the picture is well-formed all the same. */
Test(plot, bytes_that_are_no_letters)
{
	char *printed, *error = NULL;
	create_manifest();
	create_text("flows.csv", FLOWS_HEADER "\n1,a\xff\xe2\x89 \u2265,0,1,100,0,1,0.004,1,4,0,1\n"
					      "2,a\xff\xe2\x89 \u2265,0,1,100,0,1,0.005,1,4,0,1\n");
	cr_assert_eq(draw("fct_cdf", "svg", &printed, &error), 1, "%s", error);
	free(printed);
	char *svg = read_file("figures/fct_cdf.svg");
	cr_expect_not_null(strstr(svg, "<text>a?? \u2265 (n = 2)</text>"));
	free(svg);
}

/* The script draws the figure again, wherever the two files are. */
Test(plot, a_figure_draws_itself_again)
{
	char *printed, *error = NULL, command[9000];
	size_t length, again_length;
	create_flows();
	cr_assert_eq(draw("slowdown", "png", &printed, &error), 1, "%s", error);
	free(printed);
	char *png = read_in(folder, "figures/slowdown.png", &length);
	snprintf(command, sizeof(command),
		 "cd \"%s\" && mkdir moved && cp figures/*.gp figures/*.dat moved && cd moved && "
		 "gnuplot -d slowdown.gp",
		 folder);
	cr_assert_eq(system(command), 0);
	char *again = read_in(folder, "moved/slowdown.png", &again_length);
	cr_expect(length == again_length && !memcmp(png, again, length));
	free(png);
	free(again);
}

Test(plot, templates_of_ones_own)
{
	char *printed, *error = NULL;
	create_flows();
	create_text("style.gp", "print 'hello'\n");
	cr_assert_eq(setenv("INASIM_GNUPLOT", folder, 1), 0);
	expect_error("slowdown", "png", "lines.gp: No such file");
	create_text("lines.gp", "set terminal dumb\nplot 1\n");
	create_text("draw.gp", "");
	cr_expect_eq(draw("slowdown", "dumb", &printed, &error), 1, "%s", error);
	char *script = read_file("figures/slowdown.gp");
	cr_expect_not_null(strstr(script, "print 'hello'"));
	free(script);
	free(printed);
}

Test(plot, titles_can_be_left_out)
{
	static const char *const titles[] = { "Flow slowdown by flow size", "finished flows" };
	create_flows();
	for (int without = 0; without < 2; without++) {
		struct plot_options options = { .term = "svg",
						.only = { (const char *[]){ "slowdown" }, 1 },
						.no_title = without };
		char *printed, *error = NULL;
		size_t size;
		FILE *to = open_memstream(&printed, &size);
		cr_assert_eq(plot_run(folder, &options, to, &error), 1, "%s", error);
		fclose(to);
		free(printed);
		char *svg = read_file("figures/slowdown.svg");
		for (size_t i = 0; i < 2; i++)
			cr_expect_eq(!strstr(svg, titles[i]), without);
		free(svg);
	}
}

Test(plot, figures_that_cannot_be_written)
{
	create_flows();
	create_text("figures", "in the way\n");
	expect_error("slowdown", "png", "cannot write");
}
