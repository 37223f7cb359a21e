/* The verb why: what jobs spent their time on, out of why.csv. */
#include "cli/cli.h"

#include "base/mem.h"
#include "base/plain.h"
#include "io/csv_read.h"
#include "why/why.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 20   /* iterations of a job; of more, the longest */
#define LEAST 0.02 /* share of a cause that is named */
#define NAMES 64   /* links that an iteration's workers name, at most */

/* Something named by rows of an iteration, and how much of it. */
struct named {
	char *text; /* owned */
	uint64_t times;
	double time;
};

struct iteration {
	uint64_t job, number, workers;
	size_t before;       /* the one of the job that was read before, as in `newest` */
	char *name, *scheme; /* owned */
	double cause[WHY_CAUSES], sum;
	double longest;
	uint64_t worst, host; /* worker, and where it is */
	struct named last[NAMES], links[NAMES];
};

struct breakdown {
	const char *dir;
	struct iteration *iterations; /* by job, then number */
	size_t count, capacity;
	size_t *newest; /* iteration of a job that was read, by job; 1 = the first, 0 = none */
	size_t jobs, job_capacity;
	double cause[WHY_CAUSES], workers; /* of all jobs */
};

struct columns {
	int job, name, scheme, iteration, worker, host, duration, last, times, last_s, link, link_s;
	int cause[WHY_CAUSES];
};

/* --- reading --- */

static struct columns find_columns(struct csv *csv)
{
	struct columns c = {
		csv_need(csv, "job_id"),     csv_need(csv, "name"),
		csv_need(csv, "scheme"),     csv_need(csv, "iteration"),
		csv_need(csv, "worker"),     csv_need(csv, "host"),
		csv_need(csv, "duration_s"), csv_need(csv, "last_worker"),
		csv_need(csv, "last_times"), csv_need(csv, "last_s"),
		csv_need(csv, "link"),       csv_need(csv, "link_s"),
	};

	for (unsigned i = 0; i < WHY_CAUSES; i++) {
		char name[40];

		snprintf(name, sizeof(name), "%s_s", why_cause_names[i]);
		c.cause[i] = csv_need(csv, name);
	}
	return c;
}

/* What does not fit is left out. */
static void add_named(struct named list[NAMES], const char *text, uint64_t times, double time)
{
	size_t i = 0;

	while (i < NAMES && list[i].text && strcmp(list[i].text, text))
		i++;
	if (i == NAMES)
		return;
	if (!list[i].text)
		list[i].text = xstrdup(text);
	list[i].times += times;
	list[i].time += time;
}

static struct iteration *iteration_of(struct breakdown *b, struct csv *csv, const struct columns *c)
{
	uint64_t job = csv_u64(csv, c->job), number = csv_u64(csv, c->iteration);

	while (b->jobs <= job) {
		b->newest = array_reserve(b->newest, b->jobs, &b->job_capacity, sizeof(*b->newest));
		b->newest[b->jobs++] = 0;
	}
	/* a worker is ahead of others by less than an iteration */
	for (size_t i = b->newest[job], n = 0; i && n < 3; i = b->iterations[i - 1].before, n++)
		if (b->iterations[i - 1].number == number)
			return &b->iterations[i - 1];
	b->iterations =
		array_reserve(b->iterations, b->count, &b->capacity, sizeof(*b->iterations));
	b->iterations[b->count] = (struct iteration){ .job = job,
						      .number = number,
						      .before = b->newest[job],
						      .name = xstrdup(csv_text(csv, c->name)),
						      .scheme = xstrdup(csv_text(csv, c->scheme)) };
	b->newest[job] = ++b->count;
	return &b->iterations[b->count - 1];
}

static void add_row(struct breakdown *b, struct csv *csv, const struct columns *c)
{
	struct iteration *it = iteration_of(b, csv, c);
	double duration = csv_real(csv, c->duration);

	for (unsigned i = 0; i < WHY_CAUSES; i++) {
		it->cause[i] += csv_real(csv, c->cause[i]);
		b->cause[i] += csv_real(csv, c->cause[i]);
	}
	it->sum += duration;
	b->workers += !it->number;
	if (!it->workers++ || duration > it->longest) {
		it->longest = duration;
		it->worst = csv_u64(csv, c->worker);
		it->host = csv_u64(csv, c->host);
	}
	if (!csv_empty(csv, c->last))
		add_named(it->last, csv_text(csv, c->last), csv_u64(csv, c->times),
			  csv_real(csv, c->last_s));
	if (!csv_empty(csv, c->link))
		add_named(it->links, csv_text(csv, c->link), 1, csv_real(csv, c->link_s));
}

static int by_number(const void *a, const void *b)
{
	const struct iteration *x = a, *y = b;

	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static bool read_breakdown(struct breakdown *b, const char *dir, char **error)
{
	char *path = xasprintf("%s/why.csv", dir);
	struct csv *csv = csv_open(path, error);
	struct columns columns;

	free(path);
	*b = (struct breakdown){ .dir = dir };
	if (!csv)
		return false;
	columns = find_columns(csv);
	while (csv_next(csv))
		add_row(b, csv, &columns);
	if (b->count)
		qsort(b->iterations, b->count, sizeof(*b->iterations), by_number);
	return csv_close(csv, error);
}

static void free_breakdown(struct breakdown *b)
{
	for (size_t i = 0; i < b->count; i++) {
		struct iteration *it = &b->iterations[i];

		for (size_t n = 0; n < NAMES; n++) {
			free(it->last[n].text);
			free(it->links[n].text);
		}
		free(it->name);
		free(it->scheme);
	}
	free(b->iterations);
	free(b->newest);
}

/* --- printing --- */

static const struct named *most_of(const struct named list[NAMES])
{
	const struct named *best = NULL;

	for (size_t i = 0; i < NAMES && list[i].text; i++)
		if (!best || list[i].time > best->time)
			best = &list[i];
	return best;
}

/* Largest first, as shares of their sum. */
static void print_causes(FILE *to, const double cause[WHY_CAUSES], double sum)
{
	bool done[WHY_CAUSES] = { false };

	for (unsigned printed = 0; printed < WHY_CAUSES; printed++) {
		unsigned best = WHY_CAUSES;

		for (unsigned c = 0; c < WHY_CAUSES; c++)
			if (!done[c] && (best == WHY_CAUSES || cause[c] > cause[best]))
				best = c;
		if (cause[best] < LEAST * sum)
			break;
		done[best] = true;
		fprintf(to, "%s%s %.0f %%", printed ? ", " : "", why_cause_names[best],
			100 * cause[best] / sum);
	}
}

static void print_iteration(FILE *to, const struct iteration *it)
{
	const struct named *last = most_of(it->last), *link = most_of(it->links);

	fprintf(to, "  iteration %" PRIu64 ": %.6g ms a worker: ", it->number,
		it->sum / (double)it->workers * 1e3);
	print_causes(to, it->cause, it->sum);
	fprintf(to, "\n    longest: worker %" PRIu64 " (h%" PRIu64 "), %.6g ms", it->worst,
		it->host, it->longest * 1e3);
	if (last)
		fprintf(to, "; last: worker %s, %" PRIu64 " times, for %.3g ms of the others",
			last->text, last->times, last->time * 1e3);
	if (link)
		fprintf(to, "; queues: %s, %.3g ms", link->text, link->time * 1e3);
	fputc('\n', to);
}

static int by_length(const void *a, const void *b)
{
	const struct iteration *x = *(struct iteration *const *)a,
			       *y = *(struct iteration *const *)b;

	if (x->sum != y->sum)
		return x->sum > y->sum ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void print_job(FILE *to, const struct iteration *first, size_t count)
{
	const struct iteration **order = xcalloc(count, sizeof(*order));
	double cause[WHY_CAUSES] = { 0 }, sum = 0;

	for (size_t i = 0; i < count; i++) {
		order[i] = &first[i];
		sum += first[i].sum;
		for (unsigned c = 0; c < WHY_CAUSES; c++)
			cause[c] += first[i].cause[c];
	}
	fprintf(to,
		"job %" PRIu64 " (%s, %s), %" PRIu64 " workers, %zu iterations: %.6g ms a worker: ",
		first->job, first->name, first->scheme, first->workers, count,
		sum / (double)first->workers * 1e3);
	print_causes(to, cause, sum);
	fputc('\n', to);
	if (count > SHOWN) {
		qsort(order, count, sizeof(*order), by_length);
		fprintf(to, "  the %d longest of %zu iterations:\n", SHOWN, count);
	}
	for (size_t i = 0; i < count && i < SHOWN; i++)
		print_iteration(to, order[i]);
	free(order);
}

static void print_breakdown(FILE *to, const struct breakdown *b)
{
	fprintf(to, "%s\n", b->dir);
	for (size_t i = 0, end; i < b->count; i = end) {
		for (end = i; end < b->count && b->iterations[end].job == b->iterations[i].job;)
			end++;
		print_job(to, &b->iterations[i], end - i);
	}
}

/* Causes side by side, in milliseconds a worker. */
static void print_together(FILE *to, const struct breakdown *list, size_t count)
{
	fputs("\nms a worker, all iterations\n", to);
	for (size_t i = 0; i < count; i++)
		fprintf(to, "  [%zu] %s\n", i + 1, list[i].dir);
	fprintf(to, "%-14s", "");
	for (size_t i = 0; i < count; i++)
		fprintf(to, "%8s[%zu]", "", i + 1);
	fputc('\n', to);
	for (unsigned c = 0; c < WHY_CAUSES; c++) {
		bool any = false;

		for (size_t i = 0; i < count; i++)
			any |= list[i].cause[c] > 0;
		if (!any)
			continue;
		fprintf(to, "%-14s", why_cause_names[c]);
		for (size_t i = 0; i < count; i++)
			fprintf(to, " %10.4f",
				list[i].workers > 0 ? list[i].cause[c] / list[i].workers * 1e3 : 0);
		fputc('\n', to);
	}
}

int verb_why(const struct cli *cli)
{
	struct breakdown *list = xcalloc((size_t)cli->argc, sizeof(*list));
	struct plain plain;
	int code = EXIT_DONE;

	plain_open(&plain);
	for (int i = 0; i < cli->argc && code == EXIT_DONE; i++) {
		char *error = NULL;

		if (read_breakdown(&list[i], cli->argv[i], &error)) {
			print_breakdown(plain.to, &list[i]);
			continue;
		}
		complain("%s (inasim run --why writes it)", error);
		free(error);
		code = EXIT_IO;
	}
	if (code == EXIT_DONE && cli->argc > 1)
		print_together(plain.to, list, (size_t)cli->argc);
	plain_close(&plain, stdout);
	for (int i = 0; i < cli->argc; i++)
		free_breakdown(&list[i]);
	free(list);
	return code;
}
