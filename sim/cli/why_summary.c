/* The short form of the verb why: the hottest links and who used them, jobs that are alike
 * together, and the worst stretch of the worst job. */
#include "cli/cli.h"
#include "cli/why_print.h"

#include "base/mem.h"
#include "data/result_read.h"
#include "lab/hottest.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Jobs of one group, scheme and size. */
struct block {
	const struct breakdown_iteration *first; /* of the first of them */
	size_t jobs, unfinished;
	double cause[WHY_CAUSES], sum, jct_min, jct_max;
};

/* A job's completion time; NaN: it has not finished. */
struct jct {
	uint64_t job;
	double s;
};

struct jcts {
	struct jct *list;
	size_t count, capacity;
};

/* --- links --- */

static bool print_links(FILE *to, const char *dir, char **error)
{
	struct hottest hottest;
	bool good = hottest_read(&hottest, dir, error);

	if (good && hottest.count)
		fprintf(to, "hottest of %zu links (%zu as hot as the first, within 1 %%):\n",
			hottest.all, hottest.alike);
	for (size_t i = 0; good && i < hottest.count; i++) {
		const struct hottest_link *link = &hottest.links[i];
		char *users = hottest_users(link);

		fprintf(to, "  %s: %.3g %% full, busy for %.4g ms, queue up to %.4g KB", link->name,
			100 * link->utilization, link->busy_s * 1e3, (double)link->queue / 1e3);
		if (link->drops)
			fprintf(to, ", %" PRIu64 " drops", link->drops);
		fprintf(to, "; %s\n", users);
		free(users);
	}
	hottest_release(&hottest);
	return good;
}

/* --- jobs --- */

static int by_job(const void *a, const void *b)
{
	const struct jct *x = a, *y = b;

	return x->job < y->job ? -1 : x->job > y->job;
}

static bool read_jcts(struct jcts *jcts, const char *dir, char **error)
{
	struct csv *csv = result_table(dir, "jobs.csv", error);
	int job, time, finished;

	if (!csv)
		return !*error;
	job = csv_need(csv, "job_id");
	time = csv_need(csv, "jct_s");
	finished = csv_need(csv, "finished");
	while (csv_next(csv)) {
		jcts->list = array_reserve(jcts->list, jcts->count, &jcts->capacity,
					   sizeof(*jcts->list));
		jcts->list[jcts->count++] = (struct jct){
			csv_u64(csv, job),
			csv_flag(csv, finished) && !csv_empty(csv, time) ? csv_real(csv, time) : NAN
		};
	}
	if (jcts->count)
		qsort(jcts->list, jcts->count, sizeof(*jcts->list), by_job);
	return csv_close(csv, error);
}

static double jct_of(const struct jcts *jcts, uint64_t job)
{
	struct jct key = { .job = job };
	const struct jct *found =
		jcts->count ? bsearch(&key, jcts->list, jcts->count, sizeof(key), by_job) : NULL;

	return found ? found->s : NAN;
}

static void add_to_block(struct block *block, const struct breakdown *b, size_t first, size_t end,
			 double jct)
{
	block->jobs++;
	block->unfinished += isnan(jct) != 0;
	block->jct_min = fmin(block->jct_min, jct);
	block->jct_max = fmax(block->jct_max, jct);
	for (size_t i = first; i < end; i++) {
		block->sum += b->iterations[i].sum;
		for (unsigned c = 0; c < WHY_CAUSES; c++)
			block->cause[c] += b->iterations[i].cause[c];
	}
}

static bool alike(const struct breakdown_iteration *a, const struct breakdown_iteration *b)
{
	return a->workers == b->workers && !strcmp(a->name, b->name) &&
	       !strcmp(a->scheme, b->scheme);
}

static void print_block(FILE *to, const struct block *block)
{
	const struct breakdown_iteration *first = block->first;
	double per_worker = block->sum / (double)(first->workers * block->jobs);

	fprintf(to, "%zu job%s (%s, %s), %" PRIu64 " workers%s: ", block->jobs,
		block->jobs == 1 ? "" : "s", first->name, first->scheme, first->workers,
		block->jobs == 1 ? "" : " each");
	if (block->jobs > block->unfinished)
		fprintf(to, "JCT %.6g", block->jct_min * 1e3);
	if (block->jobs > block->unfinished && block->jct_max > block->jct_min)
		fprintf(to, " to %.6g", block->jct_max * 1e3);
	if (block->jobs > block->unfinished)
		fputs(" ms, ", to);
	if (block->unfinished)
		fprintf(to, "%zu unfinished, ", block->unfinished);
	fprintf(to, "%.6g ms a worker", per_worker * 1e3);
	print_causes(to, block->cause, block->sum);
	fputc('\n', to);
}

static void print_blocks(FILE *to, const struct breakdown *b, const struct jcts *jcts)
{
	struct block *blocks = NULL;
	size_t count = 0, capacity = 0;

	for (size_t i = 0, end, k; i < b->count; i = end) {
		end = breakdown_job_end(b, i);
		for (k = 0; k < count && !alike(blocks[k].first, &b->iterations[i]);)
			k++;
		if (k == count) {
			blocks = array_reserve(blocks, count, &capacity, sizeof(*blocks));
			blocks[count++] = (struct block){ .first = &b->iterations[i],
							  .jct_min = NAN,
							  .jct_max = NAN };
		}
		add_to_block(&blocks[k], b, i, end, jct_of(jcts, b->iterations[i].job));
	}
	for (size_t k = 0; k < count; k++)
		print_block(to, &blocks[k]);
	free(blocks);
}

/* --- the worst --- */

/* How long a worker did not compute in an iteration. */
static double idle(const struct breakdown_iteration *it)
{
	return (it->sum - it->cause[WHY_COMPUTE]) / (double)it->workers;
}

/* The first iteration of the job that idled longest. */
static size_t worst_job(const struct breakdown *b)
{
	size_t worst = 0;
	double max = -1;

	for (size_t i = 0, end; i < b->count; i = end) {
		double time = 0;

		end = breakdown_job_end(b, i);
		for (size_t k = i; k < end; k++)
			time += idle(&b->iterations[k]);
		if (time > max) {
			max = time;
			worst = i;
		}
	}
	return worst;
}

static bool is(const char *word, const char *option)
{
	size_t length = strlen(option);

	return word && !strncmp(word, option, length) && (!word[length] || word[length] == '=');
}

/* A time in seconds without the zeros at its end. */
static void print_seconds(FILE *to, double time)
{
	char text[40];
	size_t length;

	snprintf(text, sizeof(text), "%.12f", time);
	for (length = strlen(text); text[length - 1] == '0'; length--)
		;
	fprintf(to, "%.*s", (int)(text[length - 1] == '.' ? length - 1 : length), text);
}

/* From one time to another, as --timeline takes them. */
static void print_span(FILE *to, const struct breakdown_iteration *it)
{
	print_seconds(to, it->begin);
	fputs("s..", to);
	print_seconds(to, it->end);
	fputc('s', to);
}

/* Prints the command that ran a scenario, with its changes of values, for a timeline of a stretch.
 * A point of a sweep was run by another. */
static void print_command(FILE *to, const char *dir, const struct breakdown_iteration *it)
{
	cJSON *manifest = origin_manifest(dir);
	const cJSON *line = cJSON_GetObjectItemCaseSensitive(manifest, "command_line");
	const char *file =
		cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(manifest, "scenario_file"));
	const char *verb = cJSON_GetStringValue(cJSON_GetArrayItem(line, 1));

	if (file && verb && !strcmp(verb, "run")) {
		fputs("  inasim run ", to);
		print_quoted(to, file);
		for (const cJSON *word = line->child; word; word = word->next) {
			const char *text = cJSON_GetStringValue(word);

			if (!is(text, "--set") && !is(text, "--seed") && !is(text, "--fidelity"))
				continue;
			fputc(' ', to);
			print_quoted(to, text);
			if (strchr(text, '=') || !word->next)
				continue;
			fputc(' ', to);
			print_quoted(to, cJSON_GetStringValue(word->next));
		}
		fputs(" --timeline ", to);
		print_span(to, it);
		fputs(" --out ", to);
		print_quoted(to, dir);
		fputs("-worst\n", to);
	}
	cJSON_Delete(manifest);
}

static void print_worst(FILE *to, const char *dir, const struct breakdown *b)
{
	size_t first = worst_job(b), end = breakdown_job_end(b, first);
	const struct breakdown_iteration *worst = &b->iterations[first];
	double time = 0;

	for (size_t i = first; i < end; i++) {
		time += idle(&b->iterations[i]);
		if (idle(&b->iterations[i]) > idle(worst))
			worst = &b->iterations[i];
	}
	fprintf(to, "worst: job %" PRIu64 " (%s), a worker did not compute for %.6g ms\n",
		worst->job, worst->name, time * 1e3);
	print_groups(to, b, worst->job);
	print_iteration(to, b, worst);
	fputs("    that was at ", to);
	print_span(to, worst);
	fputc('\n', to);
	print_command(to, dir, worst);
}

int print_summary(FILE *to, const char *dir, const struct breakdown *b)
{
	struct jcts jcts = { 0 };
	char *error = NULL;
	bool good;

	fprintf(to, "%s\n", dir);
	good = print_links(to, dir, &error) && read_jcts(&jcts, dir, &error);
	if (good && b->count) {
		print_blocks(to, b, &jcts);
		print_worst(to, dir, b);
	} else if (good) {
		fputs("  no iteration has ended\n", to);
	} else {
		complain("%s", error);
	}
	free(error);
	free(jcts.list);
	return good ? EXIT_DONE : EXIT_IO;
}
