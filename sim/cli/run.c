/* The verb run: simulate, show progress, write the result directory. */
#include "cli/cli.h"

#include "base/mem.h"
#include "base/plain.h"
#include "build_info.h"
#include "cli/interrupt.h"
#include "data/folder.h"
#include "data/json.h"
#include "data/result_read.h"
#include "run/results.h"
#include "run/simulation_state.h"
#include "run/timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* --- progress --- */

static volatile sig_atomic_t asked; /* by SIGUSR1 */

static void on_question(int number)
{
	(void)number;
	asked = 1;
}

static void catch_signals(void)
{
	struct sigaction question = { .sa_handler = on_question, .sa_flags = SA_RESTART };

	catch_interrupts();
	sigaction(SIGUSR1, &question, NULL);
}

static int terminal_width(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 20 ? 80 : size.ws_col;
}

static void progress_text(const char *name, const struct simulation_progress *p, char *text,
			  size_t size)
{
	const double speed = p->wall_s > 0 ? seconds_of(p->now) / p->wall_s : 0;
	char counts[96] = "";
	int length = 0;

	if (p->of_iterations > 0)
		length = snprintf(counts, sizeof(counts), ", %.0f of %.0f iterations",
				  p->iterations, p->of_iterations);
	if (p->of_flows)
		snprintf(counts + length, sizeof(counts) - (size_t)length,
			 ", %" PRIu64 " of %" PRIu64 " flows", p->flows, p->of_flows);
	length = snprintf(text, size, "%.*s: %.1f %%", (int)plain_letter(name, strnlen(name, 20)),
			  name, 100 * p->done);
	if (p->done > 0.001)
		length += snprintf(text + length, size - (size_t)length, ", %s%.0f s left",
				   p->limit ? "at most " : "", p->wall_s * (1 / p->done - 1));
	snprintf(text + length, size - (size_t)length, "%s, %.6f s at %.3g %s", counts,
		 seconds_of(p->now), speed >= 1 ? speed : 1e3 * speed, speed >= 1 ? "s/s" : "ms/s");
}

static void show_status(const char *name, const struct simulation *s,
			const struct simulation_progress *progress)
{
	char text[256];
	struct plain plain;

	progress_text(name, progress, text, sizeof(text));
	plain_open(&plain);
	fprintf(plain.to, "%s\n", text);
	simulation_waiting(s, plain.to);
	plain_close(&plain, stderr);
}

struct following {
	const char *name; /* of the scenario, without control characters */
	bool line;        /* show progress in a line of the terminal */
	bool warn;
};

static void clear_progress(void)
{
	fprintf(stderr, "\r%*s\r", terminal_width() - 1, "");
}

static void follow(void *owner, enum simulation_news news, const struct simulation *s,
		   const struct simulation_progress *progress)
{
	const struct following *following = owner;
	char text[256];
	int width = terminal_width() - 1; /* the last column stays free, lest the line wraps */

	if (news != SIMULATION_GOES_ON && following->line)
		clear_progress();
	switch (news) {
	case SIMULATION_GOES_ON:
		if (!following->line)
			return;
		progress_text(following->name, progress, text, sizeof(text));
		text[plain_letter(text, strnlen(text, (size_t)width))] = '\0';
		fprintf(stderr, "\r%-*s", width, text);
		return;
	case SIMULATION_ASKED:
		show_status(following->name, s, progress);
		return;
	case SIMULATION_STALLED:
		if (following->warn)
			complain("%s: no job computed or received a sum between %.9f s and %.9f s "
				 "of simulated time; kill -USR1 %ld shows what each waits for",
				 following->name, seconds_of(progress->stalled),
				 seconds_of(progress->now), (long)getpid());
		return;
	}
}

/* --- manifest.json --- */

static void json_time(struct json *json, const char *key, time_t when)
{
	char text[32];
	struct tm utc;

	gmtime_r(&when, &utc);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
	json_string(json, key, text);
}

static void json_build(struct json *json)
{
	json_open_object(json, "build");
	json_string(json, "type", BUILD_TYPE);
	json_string(json, "compiler", BUILD_COMPILER);
	json_string(json, "flags", BUILD_FLAGS);
	json_string(json, "gsl", BUILD_GSL_VERSION);
	json_string(json, "cjson", BUILD_CJSON_VERSION);
	json_close_object(json);
}

static void json_host(struct json *json)
{
	struct utsname host;

	json_open_object(json, "host");
	if (!uname(&host)) {
		json_string(json, "name", host.nodename);
		json_string(json, "system", host.sysname);
		json_string(json, "release", host.release);
		json_string(json, "machine", host.machine);
	}
	json_close_object(json);
}

static void json_command_line(struct json *json, const struct cli *cli)
{
	json_open_array(json, "command_line");
	for (int i = 0; i < cli->full_argc; i++)
		json_string(json, NULL, cli->full_argv[i]);
	json_close_array(json);
}

static void json_files(struct json *json, const struct out_dir *dir)
{
	json_open_array(json, "files");
	for (size_t i = 0; i < out_dir_files(dir); i++) {
		uint64_t rows;

		json_open_object(json, NULL);
		json_string(json, "name", out_dir_file(dir, i, &rows));
		json_u64(json, "rows", rows);
		json_close_object(json);
	}
	json_close_array(json);
}

static char *manifest(const struct cli *cli, const struct simulation *s, const struct conf_doc *doc,
		      const struct out_dir *dir, time_t start)
{
	char *resolved = conf_resolved_json(doc, true);
	struct json json;

	json_init(&json);
	json_open_object(&json, NULL);
	json_string(&json, "tool", "inasim");
	json_string(&json, "version", BUILD_VERSION);
	json_string(&json, "commit", BUILD_COMMIT);
	json_u64(&json, "format", RESULT_FORMAT);
	json_build(&json);
	json_host(&json);
	json_command_line(&json, cli);
	json_string(&json, "scenario_file", conf_path(doc));
	json_hex64(&json, "scenario_hash", conf_resolved_hash(doc));
	json_hex64(&json, "inputs_hash", scenario_hash(s->scenario, doc, BUILD_VERSION));
	json_i64(&json, "seed", s->scenario->seed);
	json_time(&json, "start", start);
	json_time(&json, "end", time(NULL));
	json_real(&json, "wall_s", s->wall_s);
	json_real(&json, "cpu_s", s->cpu_s);
	json_u64(&json, "peak_rss_bytes", peak_rss_bytes());
	json_u64(&json, "events", simulation_events(s));
	if (s->fluid)
		json_null(&json, "packet_hops");
	else
		json_u64(&json, "packet_hops", s->topo.net.hops);
	json_u64(&json, "packet_hops_skipped", s->repeat.hops_skipped);
	json_u64(&json, "iterations_simulated",
		 (uint64_t)jobs_report(s->jobs)->iterations_finished);
	json_u64(&json, "iterations", (uint64_t)jobs_report(s->jobs)->iterations);
	json_string(&json, "end_reason", end_reason_names[s->end]);
	json_hex64(&json, "digest", simulation_digest(s));
	json_files(&json, dir);
	json_raw(&json, "scenario", resolved);
	json_close_object(&json);
	free(resolved);
	return json_finish(&json);
}

/* --- one scenario --- */

/* Complains if `file` is empty because its span of time begins after the end of the run. */
static void tell_beyond(const struct cli *cli, const struct simulation *s,
			const struct time_span *span, const char *file)
{
	if (span->given && span->from > s->sim.now && !cli->quiet)
		complain("%s is empty: the run ended at %.9f s, before %.9f s", file,
			 seconds_of(s->sim.now), seconds_of(span->from));
}

static bool write_timeline(const struct cli *cli, const struct simulation *s, struct out_dir *dir,
			   char **error)
{
	struct timeline_left_out left_out;

	if (!s->timeline)
		return true;
	if (!timeline_write(s->timeline, dir, &left_out, error))
		return false;
	if (left_out.events && !cli->quiet)
		complain("%s is full: %" PRIu64 " events were left out; give a shorter --timeline",
			 TIMELINE_FILE, left_out.events);
	if (left_out.ranks && !cli->quiet)
		complain("%s shows the first %d workers; %" PRIu32 " have no lanes", TIMELINE_FILE,
			 TIMELINE_RANKS, left_out.ranks);
	return true;
}

/* Whether a directory holds results of a run that was not interrupted. True also if the manifest
 * cannot be read. */
static bool holds_finished(const char *dir)
{
	cJSON *manifest = origin_manifest(dir);
	const char *end =
		cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(manifest, "end_reason"));
	bool cut = end && !strcmp(end, end_reason_names[END_INTERRUPTED]);

	cJSON_Delete(manifest);
	return folder_has(dir, "manifest.json") && !cut;
}

/* Renames the directory to `out`. Results of an interrupted run never replace those of one that was
 * not. */
static bool name_results(const struct cli *cli, const struct simulation *s, struct out_dir *dir,
			 const char *out, char **error)
{
	if (s->end == END_INTERRUPTED && holds_finished(out)) {
		complain("%s keeps the results of a run that was not interrupted; the results of "
			 "this run are in %s until the next run",
			 out, out_dir_working_path(dir));
		out_dir_keep(dir, NULL);
		return true;
	}
	if (!out_dir_commit(dir, error))
		return false;
	if (!cli->quiet)
		plain_print(stderr, "results in %s\n", out);
	return true;
}

static bool write_results(const struct cli *cli, const struct simulation *s,
			  const struct conf_doc *doc, struct out_dir *dir, const char *out,
			  time_t start, char **error)
{
	char *summary = results_summary_json(s), *text;
	bool good = out_dir_write(dir, "summary.json", summary, error);

	free(summary);
	tell_beyond(cli, s, &cli->run.timeline, TIMELINE_FILE);
	tell_beyond(cli, s, &cli->run.events, "events.csv");
	good = good && write_timeline(cli, s, dir, error);
	if (good) {
		text = manifest(cli, s, doc, dir, start);
		good = out_dir_write(dir, "manifest.json", text, error);
		free(text);
	}
	if (good)
		return name_results(cli, s, dir, out, error);
	out_dir_keep(dir, error);
	return false;
}

static int code_of(const struct simulation *s)
{
	switch (s->end) {
	case END_ALL_DONE:
	case END_JOBS_DONE:
	case END_FLOWS_DONE:
	case END_MEASURED_DONE:
	case END_ESTIMATED:
	case END_TIME:
		return EXIT_DONE;
	case END_TIME_LIMIT:
	case END_DEADLOCK:
	case END_FAILED:
	case END_REFUSED:
		return EXIT_UNFINISHED;
	case END_INTERRUPTED:
		return EXIT_INTERRUPTED;
	case END_VIOLATION:
		return EXIT_VIOLATED;
	}
	return EXIT_VIOLATED;
}

/* Prints why a scenario did not run, in the form of `check --json`. */
static void print_error_json(const char *path, const char *message)
{
	struct json json;

	json_init(&json);
	json_open_object(&json, NULL);
	json_open_array(&json, "errors");
	json_open_object(&json, NULL);
	json_string(&json, "file", path);
	json_u64(&json, "line", 0);
	json_u64(&json, "column", 0);
	json_string(&json, "pointer", "");
	json_string(&json, "severity", "error");
	json_string(&json, "message", message);
	json_close_object(&json);
	json_close_array(&json);
	json_close_object(&json);
	json_print(&json, stdout);
}

/* Says why a scenario did not run. Frees the error and returns the code. */
static int refuse(const struct cli *cli, const struct conf_doc *doc, int code, char *error)
{
	if (cli->json)
		print_error_json(conf_path(doc), error);
	else
		complain("%s", error);
	free(error);
	return code;
}

static void tell(const struct cli *cli, const struct simulation *s)
{
	struct plain plain;

	plain_open(&plain);
	simulation_report(s, plain.to);
	plain_close(&plain, stderr);
	if (s->end == END_INTERRUPTED)
		complain("interrupted after %.6f s of simulated time", seconds_of(s->sim.now));
	if (cli->json) {
		char *summary = results_summary_json(s);

		fputs(summary, stdout);
		free(summary);
	} else if (!cli->quiet) {
		plain_open(&plain);
		results_print_summary(s, plain.to);
		plain_close(&plain, stdout);
	}
}

/* Whether a directory holds results of another experiment, which must not be replaced: then sets
 * *problem (caller frees). Scenarios of one name are one experiment. */
static bool is_other_experiment(const char *dir, const char *name, char **problem)
{
	cJSON *manifest = origin_manifest(dir); /* if NULL, there is no other experiment */
	const cJSON *scenario = cJSON_GetObjectItemCaseSensitive(manifest, "scenario");
	const char *former =
		cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(scenario, "name"));
	bool other = former && strcmp(former, name);

	if (other)
		*problem = xasprintf("%s holds results of the scenario \"%s\", not of \"%s\": they "
				     "are left alone; give another --out, or --force",
				     dir, former, name);
	cJSON_Delete(manifest);
	return other;
}

/* Simulates. Takes over `dir` (NULL: no results), which gets the results and the name `out`. */
static int simulate(const struct cli *cli, const struct scenario *scenario,
		    const struct conf_doc *doc, struct out_dir *dir, const char *out)
{
	char *name = xstrdup(scenario->name), *error = NULL;
	struct following following = { .name = name,
				       .line = !cli->quiet && isatty(STDERR_FILENO),
				       .warn = !cli->quiet };
	const struct simulation_options options = {
		.dir = dir,
		.tell = follow,
		.owner = &following,
		.interrupted = &interrupted,
		.asked = &asked,
		.no_fast_forward = cli->run.no_fast_forward,
		.why = cli->run.why,
		.events = cli->run.events,
		.timeline = cli->run.timeline,
	};
	time_t start = time(NULL);
	struct simulation *s;
	int code;

	plain_text(name);
	s = simulation_run(scenario, &options, &error);
	free(name);
	if (following.line)
		clear_progress();
	if (!s) {
		if (dir)
			out_dir_abandon(dir);
		return refuse(cli, doc, EXIT_IO, error);
	}
	code = code_of(s);
	tell(cli, s);
	if (dir && !write_results(cli, s, doc, dir, out, start, &error)) {
		complain("%s", error);
		free(error);
		code = EXIT_IO;
	}
	simulation_free(s);
	return code;
}

int run_scenario(const struct cli *cli, const struct scenario *scenario, const struct conf_doc *doc,
		 const char *out)
{
	struct out_dir *dir = NULL;
	char *error = NULL;

	if (out && !cli->run.force && is_other_experiment(out, scenario->name, &error))
		return refuse(cli, doc, EXIT_IO, error);
	if (out && !(dir = out_dir_open(out, &error)))
		return refuse(cli, doc, EXIT_IO, error);
	return simulate(cli, scenario, doc, dir, out);
}

/* Where the results of the i-th scenario go; NULL: nowhere. The caller frees. */
static char *out_path(const struct cli *cli, int i)
{
	if (!cli->out)
		return NULL;
	if (cli->argc == 1)
		return xstrdup(cli->out);
	return xasprintf("%s/%d", cli->out, i);
}

/* Returns why --why or --timeline cannot follow packets of this scenario (caller frees); NULL if
 * they can, or neither is given. */
static char *why_not_follow(const struct cli *cli, const struct scenario *scenario,
			    const char *path)
{
	const char *option = cli->run.why ? "why" : "timeline";

	if (!cli->run.why && !cli->run.timeline.given)
		return NULL;
	if (scenario->fidelity != FIDELITY_PACKET)
		return xasprintf("--%s follows packets, and %s simulates none: leave it out, or "
				 "give --fidelity packet",
				 option, path);
	if (scenario->topology.scheduler != SCHEDULER_FIFO)
		return xasprintf("--%s cannot be used with \"scheduler\" (%s): it does not follow "
				 "queues by class",
				 option, path);
	return NULL;
}

static void print_mistakes(const struct cli *cli, const struct conf_doc *doc, int code)
{
	if (code != EXIT_DONE && cli->json) {
		fputs("{ \"errors\": ", stdout);
		conf_print_errors(doc, stdout, true);
		fputs("}\n", stdout);
	} else if (code != EXIT_DONE || !cli->quiet) {
		conf_print_errors(doc, stderr, false);
	}
}

static int run_one(const struct cli *cli, int i)
{
	struct scenario scenario;
	struct conf_doc *doc = load_scenario(cli, cli->argv[i], &scenario);
	char *out = out_path(cli, i);
	char *problem = NULL;
	int code = exit_code_of(doc);

	print_mistakes(cli, doc, code);
	if (code == EXIT_DONE && (problem = why_not_follow(cli, &scenario, cli->argv[i])))
		code = refuse(cli, doc, EXIT_USAGE, problem);
	if (code == EXIT_DONE)
		code = run_scenario(cli, &scenario, doc, out);
	free(out);
	conf_doc_free(doc);
	return code;
}

/* False after a complaint. */
static bool good_options(const struct cli *cli)
{
	const struct {
		bool given;
		const char *name, *file;
	} files[] = { { cli->run.events.given, "events", "events.csv" },
		      { cli->run.why, "why", "why.csv" },
		      { cli->run.timeline.given, "timeline", TIMELINE_FILE } };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i].given && !cli->out) {
			complain("--%s writes %s into a result directory: give --out DIR, too",
				 files[i].name, files[i].file);
			return false;
		}
	return true;
}

int verb_run(const struct cli *cli)
{
	int worst = EXIT_DONE, next = 0;
	bool list = cli->json && cli->argc > 1; /* one array of all summaries and errors */

	if (!good_options(cli))
		return EXIT_USAGE;
	catch_signals();
	while (next < cli->argc && !interrupted) {
		int code;

		if (list)
			fputs(next ? "," : "[", stdout);
		code = run_one(cli, next++);
		worst = code > worst ? code : worst;
	}
	if (list)
		fputs("]\n", stdout);
	return next < cli->argc ? EXIT_INTERRUPTED : worst;
}
