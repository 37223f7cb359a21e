/* Figures of a sweep that is made here: the .dat beside each holds the numbers
 * that its table implies, worked out by hand. Student's t has closed forms for the
 * two sample sizes used: of 1 degree of freedom t = tan(pi (p - 1/2)), of 2 t =
 * (2p - 1) / sqrt(2p (1 - p)); at p = 0.975: 12.7062047361747 and 4.30265272974946.
 * What a figure looks like is for eyes to judge. */
#include "data/metrics.h"
#include "lab/figures/axis_scale.h"
#include "lab/sweep/metric_words.h"
#include "figure_sample.h"
#include "sweep_sample.h"

#include <math.h>

TestSuite(plot_sweep, .init = setup, .fini = teardown);

/* Two schemes over three sizes that the plan has out of order, three replications each. By ring
 * jobs take 1, 2, 3 s at 16KB, 2, 2, 2 at 64KB; at 256KB one point timed out, the others took 4 and
 * 6. By ina they take twice as long as by ring at 16KB; at 64KB they have 1, 2, 3 (one point with
 * unfinished work); at 256KB nothing has run. No point of ring has "drops". */
#define JSON                                                                                       \
	"{ \"name\": \"sizes\", \"axes\": [\n"                                                     \
	"  { \"name\": \"memory\", \"values\": [\"64KB\", \"16KB\", \"256KB\"] },\n"               \
	"  { \"name\": \"scheme\", \"values\": [\"ring\", \"ina\"] } ],\n"                         \
	"  \"replications\": 3, \"metrics\": [\"jobs.jct_s.mean\", \"network.drops\"] }\n"
#define HASH(digit) "000000000000000" digit
#define CSV                                                                                                                                                                                                                                                \
	"point,hash,replication,seed,memory,scheme,status,jobs.jct_s.mean,network.drops\n"                                                                                                                                                                 \
	"0," HASH(                                                                                                                                                                                                                                         \
		"0") ",0,5,64KB,ring,done,2,\n"                                                                                                                                                                                                            \
		     "1," HASH(                                                                                                                                                                                                                            \
			     "1") ",1,6,64KB,ring,done,2,\n"                                                                                                                                                                                               \
				  "2," HASH(                                                                                                                                                                                                               \
					  "2") ",2,7,64KB,ring,done,2,\n"                                                                                                                                                                                  \
					       "3," HASH(                                                                                                                                                                                                  \
						       "3") ",0,5,64KB,ina,done,1,0\n"                                                                                                                                                                     \
							    "4," HASH(                                                                                                                                                                                     \
								    "4") ",1,6,64KB,ina,"                                                                                                                                                                  \
									 "unfinished,2,0\n"                                                                                                                                                                \
									 "5," HASH(                                                                                                                                                                        \
										 "5") ",2,7,64KB,"                                                                                                                                                         \
										      "ina,done,"                                                                                                                                                          \
										      "3,9\n"                                                                                                                                                              \
										      "6," HASH(                                                                                                                                                           \
											      "6") ",0,5,16KB,ring,done,1,\n"                                                                                                                              \
												   "7," HASH(                                                                                                                                              \
													   "7") ",1,6,16KB,ring,done,2,\n"                                                                                                                 \
														"8," HASH(                                                                                                                                 \
															"8") ",2,7,16KB,ring,done,3,\n"                                                                                                    \
															     "9," HASH(                                                                                                                    \
																     "9") ",0,5,16KB,ina,done,2,1\n"                                                                                       \
																	  "10," HASH(                                                                                                      \
																		  "a") ",1,6,16KB,ina,done,4,1\n"                                                                          \
																		       "11," HASH(                                                                                         \
																			       "b") ",2,7,16KB,ina,done,6,1\n"                                                             \
																				    "12," HASH(                                                                            \
																					    "c") ",0,5,256KB,ring,done,4,\n"                                               \
																						 "13," HASH(                                                               \
																							 "d") ",1,6,256KB,ring,timeout,,\n"                                \
																							      "14," HASH(                                                  \
																								      "e") ",2,7,256KB,ring,done,6,\n"                     \
																									   "15,000000000000001f,0,5,256KB,ina,missing,,\n" \
																									   "16,000000000000001a,1,6,256KB,ina,missing,,\n" \
																									   "17,000000000000001b,2,7,256KB,ina,missing,,\n"

/* ---- Tools ---- */

#define WHERES(...)  .where = { (const char *[]){ __VA_ARGS__ }, 2 }
#define WHERE(text)  .where = { (const char *[]){ text }, 1 }
#define METRIC(text) .metrics = { (const char *[]){ text }, 1 }

static int draw(const char *dir, const struct plot_sweep_options *options, const char *term,
		char **printed, char **error)
{
	size_t size;
	struct plot_options page = { .term = term };
	FILE *to = open_memstream(printed, &size);
	int drawn = plot_sweep(dir, options, &page, to, error);
	fclose(to);
	return drawn;
}

/* The whole of DIR/figures/NAME.SUFFIX; the caller frees. */
static char *read_figure(const char *dir, const char *name, const char *suffix)
{
	char path[4096];
	snprintf(path, sizeof(path), "figures/%s.%s", name, suffix);
	return read_in(dir, path, NULL);
}

static bool same_word(const char *a, size_t a_length, const char *b, size_t b_length)
{
	char *a_end, *b_end;
	double x = strtod(a, &a_end), y = strtod(b, &b_end);
	if (a_end == a + a_length && b_end == b + b_length && a_length > 0 && b_length > 0)
		return (isnan(x) && isnan(y)) || fabs(x - y) <= 1e-12 * fmax(1, fabs(y));
	return a_length == b_length && !strncmp(a, b, a_length);
}

/* Equal word by word and line by line, numbers to 12 digits. */
static void expect_text(const char *got, const char *want)
{
	const char *g = got, *w = want;
	while (*g || *w) {
		size_t g_length = strcspn(g, " \n"), w_length = strcspn(w, " \n");
		cr_assert(same_word(g, g_length, w, w_length) && g[g_length] == w[w_length],
			  "at \"%.40s\", where \"%.40s\" is due, in:\n%s", g, w, got);
		g += g_length + (g[g_length] != '\0');
		w += w_length + (w[w_length] != '\0');
	}
}

/* Draws one figure, whose .dat must be `want`. */
static void expect_figure(const struct plot_sweep_options *options, const char *name,
			  const char *want)
{
	char path[4096], *printed, *error = NULL;
	char *dir = sample_sweep(folder, "s", JSON, CSV);
	cr_assert_eq(draw(dir, options, "png", &printed, &error), 1, "%s", error);
	snprintf(path, sizeof(path), "%s/figures/%s.png\n", dir, name);
	cr_expect_str_eq(printed, path);
	free(printed);
	char *png = read_figure(dir, name, "png");
	cr_expect_eq(memcmp(png, "\x89PNG\r\n\x1a\n", 8), 0);
	free(png);
	char *data = read_figure(dir, name, "dat");
	expect_text(data, want);
	free(data);
	free(dir);
}

/* An axis that does not apply to a point shows it at all its values; a value that no point has is
 * not drawn, be it of the x axis or of the curves. */
Test(plot_sweep, axis_that_does_not_apply)
{
	char *printed,
		*error = NULL,
		*dir = sample_sweep(
			folder, "s",
			"{ \"name\": \"s\", \"replications\": 1, \"metrics\": [\"m\"], \"axes\": "
			"[\n"
			"  { \"name\": \"memory\", \"values\": [\"1KB\", \"2KB\", \"4KB\"] },\n"
			"  { \"name\": \"scheme\", \"values\": [\"ring\", \"ina\", \"atp\"] } ] }",
			"point,hash,replication,seed,memory,scheme,status,m\n"
			"0,0000000000000000,0,5,,ring,done,8\n"
			"1,0000000000000001,0,5,1KB,ina,done,4\n"
			"2,0000000000000002,0,5,4KB,ina,done,2\n");
	struct plot_sweep_options options = { METRIC("m"), .x = "memory" };
	static const char *const drawn[] = {
		"3 of 3 points shown, those without memory at all its values\n"
		"# value: m\n# x = 1000: memory 1KB\n# x = 4000: memory 4KB\n"
		"panel series x value low high replications name\n"
		"1 1 1000 8 nan nan 1 \"ring\"\n1 1 4000 8 nan nan 1 \"ring\"\n\n\n"
		"1 2 1000 4 nan nan 1 \"ina\"\n1 2 4000 2 nan nan 1 \"ina\"\n",
		"relative to scheme ring\n# x = 1000: memory 1KB\n# x = 4000: memory 4KB\n"
		"panel series x value low high replications name\n"
		"1 1 1000 0.5 nan nan 1 \"ina\"\n1 1 4000 0.25 nan nan 1 \"ina\"\n"
	};
	for (size_t i = 0; i < 2; i++) {
		options.relative_to = i ? "ring" : NULL;
		cr_assert_eq(draw(dir, &options, "png", &printed, &error), 1, "%s", error);
		char *data = read_figure(dir,
					 i ? "m-over-memory-by-scheme-relative-to-ring"
					   : "m-over-memory-by-scheme",
					 "dat");
		char *from = strstr(data, i ? "relative to scheme ring\n# x" : "3 of 3");
		cr_assert_not_null(from, "%s", data);
		expect_text(from, drawn[i]);
		free(data);
		free(printed);
	}
	free(dir);
}

static void expect_error(const struct plot_sweep_options *options, const char *json,
			 const char *want)
{
	char *printed, *error = NULL;
	char *dir = sample_sweep(folder, "s", json, CSV);
	cr_expect_eq(draw(dir, options, "png", &printed, &error), PLOT_USAGE, "%s", error);
	cr_expect(error && strstr(error, want), "no \"%s\" in: %s", want, error);
	cr_expect_str_eq(printed, "");
	cr_expect_not(folder_has(dir, "figures"));
	free(printed);
	free(error);
	free(dir);
}

/* ---- Numbers ---- */

#define HEAD                                                                                       \
	"# Mean of replications, 95 % t-intervals; 14 of 18 points shown (1 timeout, 3 "           \
	"missing), 1 with UNFINISHED work (†: mean over survivors)\n"
#define X_NUMBERS "# x = 16000: memory 16KB\n# x = 64000: memory 64KB\n# x = 256000: memory 256KB\n"
#define X_PLACES  "# x = 0: memory 64KB\n# x = 1: memory 16KB\n# x = 2: memory 256KB\n"
#define COLUMNS   "panel series x value low high replications name\n"
#define MARKED    "panel series x value low high replications mark name\n"

/* Without options the numeric axis is x, in numeric order, and y is the one of the two usual
 * metrics that exists. 4 and 6: sd sqrt(2), half width 12.7062 sqrt(2)/sqrt(2). */
Test(plot_sweep, lines_are_means_with_t_intervals)
{
	struct plot_sweep_options options = { 0 };
	expect_figure(&options, "jobs.jct_s.mean-over-memory-by-scheme",
		      "# sizes: job completion time, mean\n" HEAD
		      "# value: jobs.jct_s.mean\n" X_NUMBERS MARKED
		      "1 1 16000 2 0.5775722851575411 6.925540062762781 3 0 \"ring\"\n"
		      "1 1 64000 2 2 2 3 0 \"ring\"\n"
		      "1 1 256000 5 NaN NaN 2 1 \"ring\"\n"
		      "\n\n"
		      "1 2 16000 4 1.1551445703150822 13.851080125525561 3 0 \"ina\"\n"
		      "1 2 64000 2 0.5775722851575411 6.925540062762781 3 1 \"ina\"\n"
		      "1 2 256000 nan nan nan 0 1 \"ina\"\n");
	char *dir = folder_join(folder, "s");
	char *script = read_figure(dir, "jobs.jct_s.mean-over-memory-by-scheme", "gp");
	cr_expect_not_null(strstr(script, "LOGX = 1\n")); /* each four times the last */
	cr_expect_not_null(strstr(script, "XTICK_AT[3] = 256000; XTICK[3] = '256KB'\n"));
	cr_expect_not_null(
		strstr(script, "YLABEL[1] = 'job completion time, mean'\nYUNIT[1] = 's'\n"));
	cr_expect_not_null(strstr(script, "14 of 18 points shown"));
	cr_expect_not_null(strstr(script, "UNFINISHED"));
	free(script);
	free(dir);
}

/* By ina at 16KB each replication takes twice as long; the mean of 1, 2, 3 by ring does not differ
 * from 0 significantly, so the ratio has no bounded interval. At 64KB a point of ina is unfinished:
 * its mean is one over survivors, which gets no ratio. */
Test(plot_sweep, ratios_are_paired)
{
	struct plot_sweep_options options = { .relative_to = "ring" };
	expect_figure(
		&options, "jobs.jct_s.mean-over-memory-by-scheme-relative-to-ring",
		"# sizes: job completion time, mean, relative to scheme ring\n"
		"# Ratio of means, paired by replication, 95 % Fieller intervals; unresolved; 14 "
		"of 18 points shown (1 timeout, 3 missing), 1 with UNFINISHED work (no ratio of "
		"means over survivors)\n"
		"# value: jobs.jct_s.mean, relative to scheme ring\n" X_NUMBERS MARKED
		"1 1 16000 2 nan nan 3 0 \"ina\"\n"
		"1 1 64000 nan nan nan 0 1 \"ina\"\n"
		"1 1 256000 nan nan nan 0 1 \"ina\"\n");
}

Test(plot_sweep, bars_keep_the_order_of_the_plan)
{
	const char *where[] = { "scheme=ring" };
	struct plot_sweep_options options = { .kind = "bars", .by = "none", .where = { where, 1 } };
	expect_figure(
		&options, "jobs.jct_s.mean-over-memory-bars-scheme-ring",
		"# sizes: job completion time, mean (scheme ring)\n# Mean of replications, 95 % "
		"t-intervals; 8 of 9 points shown (1 timeout) (†: mean over survivors)\n# value: "
		"jobs.jct_s.mean\n" X_PLACES MARKED "1 1 0 2 2 2 3 0 \"all\"\n"
		"1 1 1 2 0.5775722851575411 6.925540062762781 3 0 \"all\"\n"
		"1 1 2 5 NaN NaN 2 1 \"all\"\n");
}

Test(plot_sweep, maps)
{
	const char *metrics[] = { "network.drops" };
	struct plot_sweep_options options = { .kind = "heat", .metrics = { metrics, 1 } };
	expect_figure(&options, "network.drops-over-memory-by-scheme-heat",
		      "# sizes: packets dropped\n# Mean of replications, 95 % t-intervals; 14 of "
		      "18 points shown (1 timeout, 3 missing), 1 with UNFINISHED work (means over "
		      "survivors), 8 without "
		      "this value\n# value: network.drops\n" X_PLACES COLUMNS
		      "1 1 0 nan nan nan 0 \"ring\"\n"
		      "1 1 1 nan nan nan 0 \"ring\"\n"
		      "1 1 2 nan nan nan 0 \"ring\"\n" /* 0, 0, 9: sd sqrt(27), half width 4.3027
							* sqrt(27 / 3) */
		      "\n\n"
		      "1 2 0 3 -9.90795818924838 15.90795818924838 3 \"ina\"\n"
		      "1 2 1 1 1 1 3 \"ina\"\n"
		      "1 2 2 nan nan nan 0 \"ina\"\n");
}

/* Quartiles between ranks: of 1, 2, 3 they are 1.5 and 2.5, of 4 and 6 4.5 and 5.5. */
Test(plot_sweep, boxes)
{
	const char *where[] = { "scheme=ring" };
	struct plot_sweep_options options = { .kind = "box", .where = { where, 1 } };
	expect_figure(
		&options, "jobs.jct_s.mean-over-memory-box-scheme-ring",
		"# sizes: job completion time, mean (scheme ring)\n# Replications: minimum, "
		"quartiles, maximum; 8 of 9 points shown (1 timeout) (means over survivors)\n# "
		"value: "
		"jobs.jct_s.mean\n" X_PLACES
		"panel series x minimum quartile1 median quartile3 maximum replications name\n"
		"1 1 0 2 2 2 2 2 3 \"all\"\n"
		"1 1 1 1 1.5 2 2.5 3 3 \"all\"\n"
		"1 1 2 4 4.5 5 5.5 6 2 \"all\"\n");
}

/* Three axes: the third is not averaged over. Each of its values gets a figure. */
Test(plot_sweep, a_third_axis_is_never_averaged)
{
	char *printed, *error = NULL;
	char *dir = sample_sweep(
		folder, "three",
		"{\"name\":\"t\",\"axes\":[{\"name\":\"a\",\"values\":[\"x\",\"y\"]},"
		"{\"name\":\"n\",\"values\":[\"1\",\"2\"]},{\"name\":\"c\",\"values\":[\"p\",\"q\"]"
		"}],\"replications\":1,\"metrics\":[\"m\"]}",
		"point,hash,replication,seed,a,n,c,status,m\n"
		"0," HASH("0") ",0,1,x,1,p,done,10\n1," HASH(
			"1") ",0,1,x,1,q,done,20\n"
			     "2," HASH("2") ",0,1,x,2,p,done,30\n3," HASH(
				     "3") ",0,1,x,2,q,done,40\n"
					  "4," HASH("4") ",0,1,y,1,p,done,50\n5," HASH(
						  "5") ",0,1,y,1,q,done,60\n"
						       "6," HASH("6") ",0,1,y,2,p,done,70\n7," HASH(
							       "7") ",0,1,y,2,q,done,80\n");
	const char *metrics[] = { "m" };
	struct plot_sweep_options options = { .metrics = { metrics, 1 } };
	cr_assert_eq(draw(dir, &options, "png", &printed, &error), 2, "%s", error);
	free(printed);
	char *data = read_figure(dir, "m-over-n-by-a-c-q", "dat");
	expect_text(data,
		    "# t: m (c q)\n# One replication, no intervals; 4 of 4 points shown\n# value: "
		    "m\n# x = 1: n 1\n# x = 2: n 2\n" COLUMNS "1 1 1 20 nan nan 1 \"x\"\n"
		    "1 1 2 40 nan nan 1 \"x\"\n"
		    "\n\n"
		    "1 2 1 60 nan nan 1 \"y\"\n"
		    "1 2 2 80 nan nan 1 \"y\"\n");
	free(data);
	/* A baseline on the third axis: one figure, q over p. */
	options.relative_to = "c=p";
	cr_assert_eq(draw(dir, &options, "png", &printed, &error), 1, "%s", error);
	free(printed);
	data = read_figure(dir, "m-over-n-by-a-relative-to-p-c-q", "dat");
	cr_expect_not_null(strstr(data, "; 8 of 8 points shown\n"), "%s", data);
	cr_expect_not_null(strstr(data, "name\n1 1 1 2 NaN NaN 1 \"x\"\n"), "%s", data);
	free(data);
	free(dir);
}

/* ---- Text, names ---- */

Test(plot_sweep, text_for_terminals)
{
	char *printed, *error = NULL;
	char *dir = sample_sweep(folder, "s", JSON, CSV);
	struct plot_sweep_options options = { 0 };
	cr_assert_eq(draw(dir, &options, "dumb", &printed, &error), 1, "%s", error);
	const char *words[] = { "sizes: job completion time, mean",
				"job completion time, mean (s)",
				"14 of 18 points",
				"ring",
				"ina",
				"16KB",
				"64KB",
				"256KB",
				"memory" };
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		cr_expect_not_null(strstr(printed, words[i]), "no \"%s\" in:\n%s", words[i],
				   printed);
	free(printed);
	free(dir);
}

/* Names that shell and gnuplot would run, that are paths, or that are equal once
 * they are made harmless. */
Test(plot_sweep, names_are_only_names)
{
	char *printed, *error = NULL, *victim = folder_join(folder, "victim");
	sample_write(folder, "victim", "alive\n");
	char json[2000], csv[2000];
	snprintf(json, sizeof(json),
		 "{\"name\":\"`rm '%s'`\",\"axes\":[{\"name\":\"../n'\",\"values\":[\"1\",\"2\"]},"
		 "{\"name\":\"$(rm v)\",\"values\":[\"a'; rm `rm victim`\",\"b\\\" \\\\n\"]}],"
		 "\"replications\":1,\"metrics\":[\"jobs.by_name./`rm '%s'`.jct_s.mean\","
		 "\"jobs.by_name./`rm '%s'`!jct_s.mean\"]}",
		 victim, victim, victim);
	snprintf(
		csv, sizeof(csv),
		"point,hash,replication,seed,../n',$(rm v),status,jobs.by_name./`rm '%s'`.jct_s."
		"mean,jobs.by_name./`rm '%s'`!jct_s.mean\n"
		"0," HASH("0") ",0,1,1,a'; rm `rm victim`,done,10,1\n"
			       "1," HASH("1") ",0,1,1,\"b\"\" \\n\",done,20,1\n"
					      "2," HASH("2") ",0,1,2,a'; rm `rm victim`,done,30,1\n"
							     "3," HASH("3") ",0,1,2,\"b\"\" "
									    "\\n\",done,40,1\n",
		victim, victim);
	char *dir = sample_sweep(folder, "names", json, csv);
	static const char *const kinds[] = { "lines", "bars", "heat", "box" };
	struct sweep_table *table = sweep_table_read(dir, &error);
	cr_assert_not_null(table, "%s", error);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct plot_sweep_options options = { .kind = kinds[i],
						      .metrics = { table->metrics, 2 } };
		cr_assert_eq(draw(dir, &options, "svg", &printed, &error), 2, "%s", error);
		char *second = strchr(printed, '\n') + 1;
		cr_expect_str_neq(printed, second);
		free(printed);
	}
	cr_expect(folder_exists(victim));
	sweep_table_free(table);
	free(victim);
	free(dir);
}

/* Axes, values and the sweep have names that gnuplot takes for formats. Tics of both axes, legend,
 * labels and titles show the names as they are. */
Test(plot_sweep, percent_signs_are_percent_signs)
{
	static const char *const kinds[] = { "lines", "bars", "heat" };
	char *printed, *error = NULL;
	char *dir = sample_sweep(
		folder, "percent",
		"{\"name\":\"%s sweep\",\"axes\":[{\"name\":\"%d "
		"load\",\"values\":[\"50%\",\"%g_x\"]},"
		"{\"name\":\"%c case\",\"values\":[\"100%\",\"%f{y}\"]}],\"replications\":1,"
		"\"metrics\":[\"m\"]}",
		"point,hash,replication,seed,%d load,%c case,status,m\n"
		"0," HASH("0") ",0,1,50%,100%,done,1\n1," HASH(
			"1") ",0,1,50%,%f{y},done,2\n"
			     "2," HASH("2") ",0,1,%g_x,100%,done,3\n3," HASH(
				     "3") ",0,1,%g_x,%f{y},done,4\n");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		static const char *const words[] = { "%s sweep: m<", "%d load<", ">50%<",
						     ">%g_x<",       ">100%<",   ">%f{y}<" };
		struct plot_sweep_options options = { .kind = kinds[i], METRIC("m") };
		cr_assert_eq(draw(dir, &options, "svg", &printed, &error), 1, "%s", error);
		char name[64];
		snprintf(name, sizeof(name), "m-over-d-load-by-c-case%s%s", i > 0 ? "-" : "",
			 i > 0 ? kinds[i] : "");
		char *svg = read_figure(dir, name, "svg");
		for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++)
			cr_expect_not_null(strstr(svg, words[k]), "%s: %s", kinds[i], words[k]);
		free(svg);
		free(printed);
	}
	free(dir);
}

Test(plot_sweep, metrics_in_plain_words)
{
	static const struct {
		const char *name, *words, *unit;
	} cases[] = {
		{ "jobs.jct_s.mean", "job completion time, mean", "s" },
		{ "flows.fct_s.p999", "flow completion time, 99.9th percentile", "s" },
		{ "jobs.by_name.v1.5 x.jct_s.p99", "job completion time of v1.5 x, 99th percentile",
		  "s" },
		{ "jobs.by_name.vgg.finished", "jobs finished of vgg", "number" },
		{ "flows.by_size.0.slowdown.p50", "flow slowdown of flows below 10KB, median",
		  "number" },
		{ "flows.by_size.1.throughput_bps.max",
		  "flow throughput of flows from 10KB on, maximum", "bit/s" },
		{ "flows.by_size.2.count", "flows, size class 2", "number" },
		{ "network.max_queue_bytes", "longest queue", "bytes" },
		{ "jobs.by_name.a.b.slowdown.mean", "job slowdown of a.b, mean", "number" },
		{ "jobs.busbw_bytes_per_s.p50", "bus bandwidth of jobs, median", "B/s" },
		{ "flows.by_name.web.jain", "Jain's index of flows of web", "number" },
		{ "flows.fct_s.p50_low", "flow completion time, median, low end of its interval",
		  "s" },
		{ "jobs.jct_s.p50_high", "job completion time, median, high end of its interval",
		  "s" },
		{ "new.odd_thing_s", "new: odd thing", "s" },
		{ "events", "events", "number" },
	};
	const char *names[19];
	double values[19] = { 0 };
	struct sweep_point point = { .usable = true, .metrics = values };
	struct sweep_table table = { .metrics = names, .points = &point, .point_count = 1 };
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		names[table.metric_count++] = cases[i].name;
	names[table.metric_count++] = "flows.by_size.0.min_bytes";
	values[table.metric_count] = 9999;
	names[table.metric_count++] = "flows.by_size.0.max_bytes";
	values[table.metric_count] = 10000;
	names[table.metric_count++] = "flows.by_size.1.min_bytes";
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *words = metric_words(table.metrics[i], &table);
		cr_expect_str_eq(words, cases[i].words);
		cr_expect_str_eq(metric_unit(cases[i].name), cases[i].unit, "%s", cases[i].name);
		free(words);
	}
}

/* ---- Axes ---- */

static void expect_scale(const char **values, size_t count, bool numeric, bool geometric,
			 double last)
{
	struct sweep_axis axis = { "axis", values, count };
	struct axis_scale scale;
	axis_scale_init(&scale, &axis);
	cr_expect(scale.numeric == numeric && scale.geometric == geometric, "%s: %d %d", values[0],
		  scale.numeric, scale.geometric);
	cr_expect_eq(scale.at[count - 1], last, "%s: %g", values[0], scale.at[count - 1]);
	axis_scale_release(&scale);
}

#define EXPECT_SCALE(numeric, geometric, last, ...)                                                \
	do {                                                                                       \
		const char *values[] = { __VA_ARGS__ };                                            \
		expect_scale(values, sizeof(values) / sizeof(*values), numeric, geometric, last);  \
	} while (0)

Test(plot_sweep, values_with_units_are_numbers)
{
	EXPECT_SCALE(true, true, 1024 * 1024, "16KB", "128KiB", "1MiB");
	EXPECT_SCALE(true, true, 100e9, "1Gbps", "10Gbps", "100Gbps");
	EXPECT_SCALE(true, false, 30e6, "10us", "20us", "30us");
	EXPECT_SCALE(true, true, 10, "1", "2", "5", "10");
	EXPECT_SCALE(true, false, -1, "1", "2", "4", "-1");
	EXPECT_SCALE(true, false, 3, "1", "2", "3");
	EXPECT_SCALE(true, false, 85, "10pkt", "85pkt");
	EXPECT_SCALE(false, false, 1, "16KB", "10us");              /* of two kinds */
	EXPECT_SCALE(false, false, 1, "1", "1.0");                  /* equal: two cases */
	EXPECT_SCALE(false, false, 2, "1", "2", "inf");             /* no number on an axis */
	EXPECT_SCALE(false, false, 3, "0", "1e-5", "1e-4", "1e-3"); /* 0 has no logarithm */
}

Test(plot_sweep, long_numbers_are_rounded_on_ticks_only)
{
	const char *values[] = { "31622777B", "0.30000000000000004", "100Gbps", "a long label" };
	const char *want[] = { "31.6MB", "0.3", "100Gbps", "a long label" };
	struct sweep_axis axis = { "axis", values, 4 };
	struct axis_scale scale;
	char buffer[AXIS_LABEL];
	axis_scale_init(&scale, &axis);
	for (size_t i = 0; i < 4; i++)
		cr_expect_str_eq(axis_scale_label(&scale, i, buffer), want[i]);
	axis_scale_release(&scale);
}

/* ---- Mistakes ---- */

Test(plot_sweep, words_that_do_not_fit)
{
	struct {
		struct plot_sweep_options options;
		const char *want;
	} cases[] = {
		{ { .x = "memroy" },
		  "no axis \"memroy\" (did you mean \"memory\"?); the axes are memory and scheme" },
		{ { .by = "sceme" }, "did you mean \"scheme\"" },
		{ { METRIC("jobs.jct.mean") },
		  "no metric \"jobs.jct.mean\" (did you mean \"jobs.jct_s.mean\"?)" },
		{ { WHERE("memory=65KB") },
		  "no value \"65KB\" (did you mean \"64KB\"?); axis memory has 64KB, 16KB and" },
		{ { WHERE("memory") }, "--where takes AXIS=VALUE, found \"memory\"" },
		{ { WHERE("mem=64KB") }, "no axis \"mem\"" },
		{ { WHERES("memory=64KB", "scheme=ina") }, "no axis is left that has several" },
		{ { .x = "memory", .by = "memory" }, "--x and --by are both memory" },
		{ { .kind = "pie" }, "--kind takes lines, bars, heat, box or cdf, found \"pie\"" },
		{ { .kind = "heat", .by = "none" }, "a map needs two axes" },
		{ { .log = "z" }, "--log takes x, y, xy or none, found \"z\"" },
		{ { .log = "x", .x = "scheme" }, "not all numbers above 0" },
		{ { .log = "y", .kind = "bars" }, "bars begin at 0" },
		{ { .relative_to = "rng" }, "did you mean \"ring\"" },
		{ { .relative_to = "memory=64KB" }, "memory is the x axis" },
		{ { .relative_to = "ring", .kind = "box" }, "show how values spread" },
		{ { .relative_to = "scheme=ring", WHERE("scheme=ring") },
		  "besides the baseline no value of axis scheme is left to draw" },
		{ { .relative_to = "ring", .by = "scheme", WHERE("scheme=ring") },
		  "besides the baseline no value of axis scheme is left to draw" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_error(&cases[i].options, JSON, cases[i].want);
}

/* Too many curves for an eye, or dozens of figures, are refused: which are meant is not guessed. */
Test(plot_sweep, too_much_for_a_figure)
{
	FILE *json, *csv;
	char *json_text, *csv_text, *printed, *error = NULL;
	size_t size;
	json = open_memstream(&json_text, &size);
	csv = open_memstream(&csv_text, &size);
	fputs("{\"name\":\"m\",\"axes\":[{\"name\":\"n\",\"values\":[\"1\",\"2\"]},{\"name\":\"c\","
	      "\"values\":[",
	      json);
	fputs("point,hash,replication,seed,n,c,status,m\n", csv);
	for (int i = 0; i < 30; i++)
		fprintf(json, "%s\"c%d\"", i > 0 ? "," : "", i);
	fputs("]}],\"replications\":1,\"metrics\":[\"m\"]}", json);
	for (int i = 0; i < 60; i++)
		fprintf(csv, "%d,%016x,0,1,%d,c%d,done,1\n", i, i, i / 30 + 1, i % 30);
	fclose(json);
	fclose(csv);
	char *dir = sample_sweep(folder, "many", json_text, csv_text);
	struct plot_sweep_options options = { METRIC("m"), .x = "n" };
	cr_expect_eq(draw(dir, &options, "png", &printed, &error), PLOT_USAGE);
	cr_expect_not_null(strstr(error, "axis c has 30 values, too many curves to tell apart"));
	free(printed);
	free(error);
	options.by = "none";
	cr_expect_eq(draw(dir, &options, "png", &printed, &error), PLOT_USAGE);
	cr_expect_not_null(strstr(error, "pick values with --where, as in --where c=c0"), "%s",
			   error);
	free(printed);
	free(error);
	free(json_text);
	free(csv_text);
	free(dir);
}

Test(plot_sweep, what_is_no_sweep)
{
	char *printed, *error = NULL;
	struct plot_sweep_options options = { 0 };
	cr_expect_eq(draw(folder, &options, "png", &printed, &error), PLOT_IO);
	cr_expect_not_null(strstr(error, "is not a collected sweep"), "%s", error);
	free(printed);
	free(error);
}

Test(plot_sweep, gnuplot_missing)
{
	char *printed, *error = NULL;
	char *dir = sample_sweep(folder, "s", JSON, CSV);
	struct plot_sweep_options options = { 0 };
	cr_assert_eq(setenv("PATH", folder, 1), 0);
	cr_expect_eq(draw(dir, &options, "png", &printed, &error), PLOT_IO);
	cr_expect_not_null(strstr(error, "figures need gnuplot"), "%s", error);
	free(printed);
	free(error);
	free(dir);
}

/* A metric without any value, and zeros on a logarithmic axis, are reported and skipped. */
Test(plot_sweep, nothing_to_draw)
{
	char *printed, *error = NULL;
	char *dir = sample_sweep(folder, "s", JSON, CSV);
	struct plot_sweep_options none = { METRIC("network.drops"), WHERE("scheme=ring") };
	cr_expect_eq(draw(dir, &none, "png", &printed, &error), 0, "%s", error);
	cr_expect_str_eq(printed, "");
	free(printed);
	sample_write(dir, "sweep.csv",
		     "point,hash,replication,seed,memory,scheme,status,jobs.jct_s.mean,network."
		     "drops\n0," HASH("0") ",0,5,64KB,ring,done,2,0\n");
	struct plot_sweep_options zero = { METRIC("network.drops"), .log = "y" };
	cr_expect_eq(draw(dir, &zero, "png", &printed, &error), 0, "%s", error);
	free(printed);
	free(dir);
}

/* Without options a sweep of flows shows their 99th percentile, with too few flows their mean. */
Test(plot_sweep, usual_metrics_of_flows)
{
	static const struct {
		const char *metrics, *first;
	} cases[] = { { "\"flows.fct_s.mean\"", "flows.fct_s.mean-over-load" },
		      { "\"flows.fct_s.mean\",\"flows.fct_s.p99\"", "flows.fct_s.p99-over-load" } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char json[500], path[4096], *printed, *error = NULL;
		snprintf(json, sizeof(json),
			 "{\"name\":\"f\",\"axes\":[{\"name\":\"load\",\"values\":[\"1\",\"2\"]}],"
			 "\"replications\":1,\"metrics\":[%s]}",
			 cases[i].metrics);
		char *dir = sample_sweep(folder, "f", json,
					 i == 0 ? "point,hash,replication,seed,load,status,"
						  "flows.fct_s.mean\n0," HASH("0") ",0,1,1,done,1\n"
						: "point,hash,replication,seed,load,status,"
						  "flows.fct_s.mean,flows.fct_s.p99\n0," HASH(
							  "0") ",0,1,1,done,1,2\n");
		struct plot_sweep_options nothing = { 0 };
		cr_assert_eq(draw(dir, &nothing, "png", &printed, &error), 1, "%s", error);
		snprintf(path, sizeof(path), "%s/figures/%s.png\n", dir, cases[i].first);
		cr_expect_str_eq(printed, path);
		free(printed);
		free(dir);
	}
}

/* ---- For a paper ---- */

/* Draws the table above. Returns the script of figure NAME; the caller frees it. */
static char *script_of(const struct plot_sweep_options *options, struct plot_options page,
		       const char *name)
{
	char *printed, *error = NULL;
	char *dir = sample_sweep(folder, "s", JSON, CSV);
	size_t size;
	FILE *to = open_memstream(&printed, &size);
	cr_assert(plot_sweep(dir, options, &page, to, &error) > 0, "%s", error);
	fclose(to);
	cr_expect_not_null(strstr(printed, name), "no %s in %s", name, printed);
	char *script = read_figure(dir, name, "gp");
	free(printed);
	free(dir);
	return script;
}

#define JCT "jobs.jct_s.mean-over-memory-by-scheme"

static void expect_in(const char *script, const char *want)
{
	cr_expect_not_null(strstr(script, want), "no \"%s\" in:\n%.3000s", want, script);
}

/* Labels of curves, ticks, baselines and axes. A label may name the axis of its value. */
Test(plot_sweep, labels)
{
	const char *labels[] = { "ring=Ring 100%", "scheme=ina=In-network", "64KB=small" };
	const char *y_labels[] = { "JCT" };
	struct plot_options page = { .term = "svg",
				     .x_label = "Switch memory",
				     .y_labels = { y_labels, 1 } };
	struct plot_sweep_options options = { .labels = { labels, 3 } };
	char *script = script_of(&options, page, JCT);
	expect_in(script, "LEGEND[1] = 'Ring 100%'\n");
	expect_in(script, "LEGEND[2] = 'In-network'\n");
	expect_in(script, "XTICK[2] = 'small'\n");
	expect_in(script, "XTICK[3] = '256KB'\n");
	expect_in(script, "XLABEL = 'Switch memory'\n");
	expect_in(script, "YLABEL[1] = 'JCT'\n");
	free(script);
	options.relative_to = "ring";
	page.y_labels.count = 0;
	script = script_of(&options, page, JCT "-relative-to-ring");
	expect_in(script, "/ that of Ring 100%'\n");
	free(script);
}

Test(plot_sweep, labels_of_nothing)
{
	const char *wrong[] = { "wing=Wing" };
	struct plot_sweep_options unknown = { .labels = { wrong, 1 } };
	expect_error(&unknown, JSON,
		     "--label of a sweep takes VALUE=TEXT or AXIS=VALUE=TEXT, as in --label "
		     "\"64KB=TEXT\"; found \"wing=Wing\"");
}

/* Two metrics and both schemes make four panels with one legend; each metric has its own label of
 * the y axis. A single panel is an ordinary figure. */
Test(plot_sweep, panels)
{
	const char *metrics[] = { "jobs.jct_s.mean", "network.drops" };
	const char *y_labels[] = { "JCT", "Drops" };
	struct plot_options page = { .term = "svg", .y_labels = { y_labels, 2 } };
	struct plot_sweep_options options = { .by = "none",
					      .metrics = { metrics, 2 },
					      .panels = true };
	const char *name = "metrics-over-memory-panels";
	char *script = script_of(&options, page, name);
	expect_in(script, "PANELS = 4\n");
	expect_in(script, "GROUP = 2\n");
	expect_in(script, "PANEL_TITLE[1] = 'scheme ring'\n");
	expect_in(script, "PANEL_TITLE[4] = 'scheme ina'\n");
	expect_in(script, "YLABEL[2] = 'JCT'\n");
	expect_in(script, "YLABEL[3] = 'Drops'\n");
	/* both metrics have 18 points; of the 14 that are in, 8 (of ring) have no drops */
	expect_in(script,
		  "14 of 18 points shown (1 timeout, 3 missing), 1 with UNFINISHED work (†: mean "
		  "over survivors), 8 without this value'\n");
	free(script);
	char *dir = folder_join(folder, "s"), *data = read_figure(dir, name, "dat");
	expect_in(data, "\n2 1 64000 2 0.577572");
	expect_in(data, "\n4 1 16000 1 1 1 3 0 \"all\"\n");
	free(data);
	free(dir);
	struct plot_sweep_options one = { .panels = true };
	script = script_of(&one, page, JCT);
	expect_in(script, "PANELS = 1\n");
	free(script);
}

/* Two panels with one baseline, b: of 6 points each counts once. */
Test(plot_sweep, points_that_panels_share)
{
	const char *json =
		"{\"name\":\"p\",\"axes\":[{\"name\":\"c\",\"values\":[\"b\",\"v\",\"w\"]},"
		"{\"name\":\"n\",\"values\":[\"1\",\"2\"]}],\"replications\":1,"
		"\"metrics\":[\"m\"]}";
	char csv[1000] = "point,hash,replication,seed,c,n,status,m\n";
	for (int i = 0; i < 6; i++)
		snprintf(csv + strlen(csv), sizeof(csv) - strlen(csv), "%d,%016x,0,1,%c,%d,%s\n", i,
			 i, "bvw"[i / 2], i % 2 + 1, i == 1 ? "timeout," : "done,3");
	char *printed, *error = NULL, *dir = sample_sweep(folder, "p", json, csv);
	struct plot_sweep_options options = { METRIC("m"), .x = "n", .by = "none",
					      .relative_to = "c=b", .panels = true };
	cr_assert_eq(draw(dir, &options, "svg", &printed, &error), 1, "%s", error);
	char *data = read_figure(dir, "m-over-n-relative-to-b-panels", "dat");
	expect_in(data, "; 5 of 6 points shown (1 timeout)\n");
	free(data);
	free(printed);
	free(dir);
}

/* A page has room for 12 panels. There is none of the baseline, so 13 values fit. */
Test(plot_sweep, a_full_page)
{
	char json[1000] = "{\"name\":\"p\",\"axes\":[{\"name\":\"n\",\"values\":[\"1\",\"2\"]},"
			  "{\"name\":\"c\",\"values\":[\"v0\"";
	char csv[1000] = "point,hash,replication,seed,n,c,status,m\n", *printed, *error = NULL;
	for (int i = 1; i < 13; i++)
		snprintf(json + strlen(json), sizeof(json) - strlen(json), ",\"v%d\"", i);
	strcat(json, "]}],\"replications\":1,\"metrics\":[\"m\"]}");
	for (int i = 0; i < 26; i++)
		snprintf(csv + strlen(csv), sizeof(csv) - strlen(csv),
			 "%d,%016x,0,1,%d,v%d,done,3\n", i, i, i / 13 + 1, i % 13);
	char *dir = sample_sweep(folder, "p", json, csv);
	struct plot_sweep_options options = { METRIC("m"), .x = "n", .by = "none",
					      .relative_to = "c=v0", .panels = true };
	cr_expect_eq(draw(dir, &options, "svg", &printed, &error), 1, "%s", error);
	free(printed);
	options.relative_to = NULL;
	cr_expect_eq(draw(dir, &options, "svg", &printed, &error), PLOT_USAGE);
	cr_expect_not_null(strstr(error, "13 panels do not fit on a page (at most 12)"), "%s",
			   error);
	free(printed);
	free(error);
	free(dir);
}

Test(plot_sweep, no_panels_of_maps)
{
	struct plot_sweep_options options = { .kind = "heat", .panels = true };
	expect_error(&options, JSON, "--panels is for lines, bars and boxes");
}

/* Replications with seeds of their own are no pairs, even if their values go together. */
Test(plot_sweep, ratios_of_independent_samples)
{
	const char *json =
		"{\"name\":\"u\",\"axes\":[{\"name\":\"c\",\"values\":[\"a\",\"b\"]},"
		"{\"name\":\"n\",\"values\":[\"1\"]}],\"replications\":3,\"metrics\":[\"m\"]}";
	const char *csv =
		"point,hash,replication,seed,c,n,status,m\n"
		"0," HASH("0") ",0,1,a,1,done,10\n1," HASH(
			"1") ",1,2,a,1,done,11\n"
			     "2," HASH("2") ",0,3,b,1,done,20\n3," HASH("3") ",1,4,b,1,done,22\n";
	char *printed, *error = NULL, *dir = sample_sweep(folder, "u", json, csv);
	struct plot_sweep_options options = { METRIC("m"), .x = "n", .relative_to = "a" };
	cr_assert_eq(draw(dir, &options, "svg", &printed, &error), 1, "%s", error);
	char *data = read_figure(dir, "m-over-n-by-c-relative-to-a-bars", "dat");
	expect_in(data, "# Ratio of means of independent samples, 95 % Fieller intervals; "
			"unresolved (at least 1 more replication expected); 4 of 4");
	cr_expect(!strstr(data, " 2 2 2 ")); /* pairs would give exactly 2 */
	free(data);
	free(printed);
	free(dir);
}

/* Two replications are too few for intervals. */
Test(plot_sweep, two_replications)
{
	const char *json =
		"{\"name\":\"u\",\"axes\":[{\"name\":\"c\",\"values\":[\"a\",\"b\"]},"
		"{\"name\":\"n\",\"values\":[\"1\"]}],\"replications\":2,\"metrics\":[\"m\"]}";
	const char *csv =
		"point,hash,replication,seed,c,n,status,m\n"
		"0," HASH("0") ",0,1,a,1,done,10\n1," HASH("1") ",1,2,a,1,done,11\n2," HASH(
			"2") ",0,1,b,1,done,20\n3," HASH("3") ",1,2,b,1,done,22\n";
	char *printed, *error = NULL, *dir = sample_sweep(folder, "u", json, csv);
	struct plot_sweep_options options = { METRIC("m"), .x = "n" };
	cr_assert_eq(draw(dir, &options, "svg", &printed, &error), 1, "%s", error);
	char *data = read_figure(dir, "m-over-n-by-c-bars", "dat");
	expect_in(data, "# Mean of two replications, no intervals;");
	expect_in(data, "1 1 0 10.5 NaN NaN 2 \"a\"\n");
	free(data);
	free(printed);
	options.relative_to = "a";
	cr_assert_eq(draw(dir, &options, "svg", &printed, &error), 1, "%s", error);
	data = read_figure(dir, "m-over-n-by-c-relative-to-a-bars", "dat");
	expect_in(data, "# Ratio of means, paired by replication, no intervals;");
	free(data);
	free(printed);
	free(dir);
}

/* --where may leave out the 0, for which a logarithmic axis has no place. */
Test(plot_sweep, a_zero_that_is_not_drawn)
{
	const char *json = "{\"name\":\"z\",\"axes\":[{\"name\":\"load\",\"values\":[\"0\",\"1\","
			   "\"2\"]}],\"replications\":1,\"metrics\":[\"m\"]}";
	const char *csv =
		"point,hash,replication,seed,load,status,m\n"
		"0," HASH("0") ",0,1,0,done,1\n1," HASH("1") ",0,1,1,done,2\n"
							     "2," HASH("2") ",0,1,2,done,3\n";
	char *printed, *error = NULL, *dir = sample_sweep(folder, "z", json, csv);
	struct plot_sweep_options options = { METRIC("m"), .log = "x" };
	cr_expect_eq(draw(dir, &options, "svg", &printed, &error), PLOT_USAGE);
	cr_expect_not_null(strstr(error, "not all numbers above 0"), "%s", error);
	free(printed);
	free(error);
	options =
		(struct plot_sweep_options){ METRIC("m"), .log = "x", WHERES("load=1", "load=2") };
	cr_expect_eq(draw(dir, &options, "svg", &printed, &error), 1, "%s", error);
	free(printed);
	free(dir);
}

/* Values that span more than 50 times get a logarithmic axis, which its label says, unless somebody
 * says another. */
Test(plot_sweep, a_wide_span_is_logarithmic)
{
	const char *json =
		"{\"name\":\"w\",\"axes\":[{\"name\":\"load\",\"values\":[\"1\",\"2\"]}],"
		"\"replications\":1,\"metrics\":[\"wide\",\"narrow\"]}";
	const char *csv = "point,hash,replication,seed,load,status,wide,narrow\n"
			  "0," HASH("0") ",0,1,1,done,1,1\n1," HASH("1") ",0,1,2,done,51,50\n";
	static const struct {
		const char *metric, *log, *name, *want;
	} cases[] = { { "wide", NULL, "wide-over-load", "LOGY = 1\n" },
		      { "narrow", NULL, "narrow-over-load", "LOGY = 0\n" },
		      { "wide", "none", "wide-over-load", "LOGY = 0\n" } };
	char *printed, *error = NULL, *dir = sample_sweep(folder, "w", json, csv);
	for (size_t i = 0; i < 3; i++) {
		struct plot_sweep_options options = { METRIC(cases[i].metric),
						      .log = cases[i].log };
		cr_assert_eq(draw(dir, &options, "svg", &printed, &error), 1, "%s", error);
		char *script = read_figure(dir, cases[i].name, "gp");
		/* the last of its kind counts: the first is the default */
		expect_in(strstr(script, "XTICKS = 2"), cases[i].want);
		free(script);
		char *svg = read_figure(dir, cases[i].name, "svg");
		cr_expect_eq(strstr(svg, "log scale") != NULL, i == 0);
		free(svg);
		free(printed);
	}
	free(dir);
}

/* ---- What replications have together ---- */

/* Three replications; in the r-th the flows of "web" take 1 + 10 r to 20 + 10 r s, in another
 * order. The last has one of "late" that has not finished. */
static char *pooled_sweep(void)
{
	char *dir = sample_sweep(
		folder, "p",
		"{\"name\":\"p\",\"axes\":[{\"name\":\"scheme\",\"values\":[\"ring\",\"ina\"]}],"
		"\"replications\":3,\"metrics\":[\"flows.fct_s.mean\","
		"\"flows.by_name.web.fct_s.mean\",\"flows.fct_s.p99\"]}",
		"point,hash,replication,seed,scheme,status,flows.fct_s.mean,"
		"flows.by_name.web.fct_s.mean,flows.fct_s.p99\n"
		"0," HASH("0") ",0,1,ring,done,10.5,10.5,\n1," HASH(
			"1") ",1,2,ring,done,20.5,20.5,\n"
			     "2," HASH("2") ",2,3,ring,done,30.5,30.5,\n3," HASH(
				     "3") ",0,1,ina,timeout,,,\n");
	for (int r = 0; r < 3; r++) {
		char name[64];
		snprintf(name, sizeof(name), "p/points/" HASH("%d") "/flows.csv", r);
		FILE *file = create(name);
		fputs("group,finished,fct_s\n", file);
		for (int i = 0; i < 20; i++)
			fprintf(file, "web,1,%d\n", 1 + 7 * i % 20 + 10 * r);
		fputs(r == 2 ? "late,0,\n" : "", file);
		fclose(file);
	}
	return dir;
}

/* Of 60 values the 30th is 20. The medians of the replications are 10, 20, 30, so the squared
 * standard error is (100 + 0 + 100) / 2 / 3. As 20 - t * error is below 0, the interval is the
 * logarithm's. With the unfinished flow the 31st of 61 counts, which is 21; in the last replication
 * it is the 11th of 21, 31. */
Test(plot_sweep, a_distribution_of_all_replications)
{
	static const struct {
		const char *quantity, *name;
		double all, median, squares;
	} cases[] = {
		{ "flows.by_name.web.fct_s", "flows.by_name.web.fct_s-by-scheme-cdf", 60, 20, 200 },
		{ "flows.fct_s", "flows.fct_s-by-scheme-cdf", 61, 21, 11 * 11 + 1 + 10 * 10 },
	};
	char *printed, *error = NULL, *dir = pooled_sweep();
	for (size_t i = 0; i < 2; i++) {
		struct plot_sweep_options options = { METRIC(cases[i].quantity), .kind = "cdf" };
		cr_assert_eq(draw(dir, &options, "svg", &printed, &error), 1, "%s", error);
		char *data = read_figure(dir, cases[i].name, "dat");
		double x, share, p, low, high, median = cases[i].median;
		double half = 4.30265272974946 * sqrt(cases[i].squares / 6) / median;
		const char *at = strstr(data, " 0.5 ");
		cr_assert_not_null(at, "%s", data);
		while (at > data && at[-1] != '\n')
			at--;
		cr_assert_eq(sscanf(at, "1 1 %lf %lf %lf %lf %lf", &x, &share, &p, &low, &high), 5);
		cr_expect(x == median && p == 0.5);
		cr_expect_float_eq(share, (30 + (double)i) / cases[i].all, 1e-12);
		cr_expect_float_eq(low, median * exp(-half), 1e-9);
		cr_expect_float_eq(high, median * exp(half), 1e-9);
		expect_in(data, i ? "\n1 1 40 0.98360655" : "\n1 1 40 1 NaN NaN NaN \"ring\"");
		char *script = read_figure(dir, cases[i].name, "gp");
		expect_in(script, i ? "'ring (n = 60, 1 unfinished)'" : "'ring (n = 60)'");
		expect_in(script, "LOGX = 0\n"); /* 1 to 40 s: not 50 times */
		free(script);
		free(data);
		free(printed);
	}
	free(dir);
}

/* Of 61 flows, one of them above all others, the quartiles are the 16th, 31st and 46th. */
Test(plot_sweep, boxes_of_all_replications)
{
	char *printed, *error = NULL, *dir = pooled_sweep();
	struct plot_sweep_options options = { METRIC("flows.fct_s"), .kind = "box" };
	cr_assert_eq(draw(dir, &options, "svg", &printed, &error), 1, "%s", error);
	char *data = read_figure(dir, "flows.fct_s-over-scheme-box", "dat");
	expect_in(data, "\n1 1 0 1 13 21 28 40 60 \"all\"\n");
	free(data);
	free(printed);
	free(dir);
}

Test(plot_sweep, what_has_no_distribution)
{
	const struct {
		struct plot_sweep_options options;
		const char *want;
	} cases[] = {
		{ { METRIC("flows.fct_s.p99"), .kind = "cdf" }, "found \"flows.fct_s.p99\"" },
		{ { METRIC("jobs.jct_s"), .kind = "cdf" }, "found \"jobs.jct_s\"" },
		{ { METRIC("flows.fct_s"), .kind = "cdf", .x = "scheme" }, "leave out --x" },
		{ { METRIC("flows.fct_s"), .kind = "cdf", .log = "y" }, "takes x or none" },
		{ { METRIC("flows.fct_s"), .kind = "cdf", .relative_to = "ring" },
		  "leave out --relative-to" },
		{ { METRIC("flows.fct_s"), .kind = "lines" }, "\"flows.fct_s\"" },
	};
	char *printed, *error = NULL, *dir = pooled_sweep();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cr_expect_eq(draw(dir, &cases[i].options, "svg", &printed, &error), PLOT_USAGE);
		expect_in(error, cases[i].want);
		free(error);
		free(printed);
		error = NULL;
	}
	free(dir);
}

/* No line across what is missing: in the picture the curve of x = 1, 2, 4, 5 has two parts. */
Test(plot_sweep, gaps)
{
	const char *json = "{\"name\":\"g\",\"axes\":[{\"name\":\"load\",\"values\":[\"1\",\"2\","
			   "\"3\",\"4\",\"5\"]}],\"replications\":1,\"metrics\":[\"m\"]}";
	const char *csv = "point,hash,replication,seed,load,status,m\n"
			  "0," HASH("0") ",0,1,1,done,1\n1," HASH(
				  "1") ",0,1,2,done,2\n"
				       "2," HASH("2") ",0,1,3,timeout,\n3," HASH(
					       "3") ",0,1,4,done,4\n"
						    "4," HASH("4") ",0,1,5,done,5\n";
	char *printed, *error = NULL, *dir = sample_sweep(folder, "g", json, csv);
	struct plot_sweep_options options = { METRIC("m") };
	cr_assert_eq(draw(dir, &options, "svg", &printed, &error), 1, "%s", error);
	char *svg = read_figure(dir, "m-over-load", "svg");
	/* gnuplot numbers the plots of whiskers and of the curve; the legend is plot b */
	const char *curve = strstr(svg, "id=\"gnuplot_plot_2a\"");
	cr_assert_not_null(curve);
	size_t parts = 0;
	const char *d = strstr(strstr(curve, "<path"), " d='");
	for (const char *at = d; *at != '>'; at++)
		parts += *at == 'M';
	cr_expect_eq(parts, 2, "%zu parts in %.100s", parts, d);
	free(svg);
	free(printed);
	free(dir);
}

/* For TeX, words are escaped, but not names of files and units. */
Test(plot_sweep, tikz)
{
	const char *labels[] = { "ring=R_1 & 50%", "64KB={~^\\}", "256KB=5%\\\\\\\\" };
	struct plot_sweep_options options = { .labels = { labels, 3 } };
	struct plot_options page = { .term = "tikz", .width_in = 3.5 };
	cr_assert(plot_font("cmss,9", &page));
	char *script = script_of(&options, page, JCT);
	expect_in(script, "NAME = '" JCT "'\n");
	expect_in(script, "LEGEND[1] = 'R\\_1 \\& 50\\%'\n");
	expect_in(script,
		  "XTICK[2] = '\\{\\textasciitilde{}\\textasciicircum{}\\textbackslash{}\\}'\n");
	free(script);
	char *dir = folder_join(folder, "s"), *tex = read_figure(dir, JCT, "tex");
	expect_in(tex, "\\fontfamily{cmss}\\fontsize{9}{10.8}\\selectfont");
	expect_in(tex, "{R\\_1 \\& 50\\%}");
	/* as a format it would be cut behind 49 bytes */
	expect_in(tex, "{5\\symbol{37}\\textbackslash{}\\textbackslash{}\\textbackslash{}"
		       "\\textbackslash{}}");
	expect_in(tex, "\\path (0.000,0.000) rectangle (8.890,"); /* 3.5 inches in centimetres */
	free(tex);
	free(dir);
}

Test(plot_sweep, fonts)
{
	static const char *const wrong[] = { "",    "Sans,", "Sans,4",   "Sans,41",
					     "a'b", "a`b",   "Sans,9pt", "Sans,,9",
					     "a\"", "a\\b",  "a{b" };
	struct plot_options page = { .term = "svg", .width_in = 3.5 };
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		cr_expect_not(plot_font(wrong[i], &page), "%s", wrong[i]);
	cr_assert(plot_font("Times New Roman,9", &page));
	struct plot_sweep_options options = { 0 };
	free(script_of(&options, page, JCT));
	char *dir = folder_join(folder, "s"), *svg = read_figure(dir, JCT, "svg");
	expect_in(svg, "font-family=\"Times New Roman\"");
	expect_in(svg, "font-size=\"12.00\""); /* CSS pixels, of 96 an inch */
	free(svg);
	free(dir);
}
