/* The verb why: shows what jobs spent their time on, from why.csv. */
#include "cli/cli.h"
#include "cli/why_print.h"

#include "base/mem.h"
#include "base/plain.h"
#include "data/json.h"
#include "lab/breakdown.h"
#include "why/why.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN     20   /* iterations of a job, at most: the longest */
#define SHARE_MIN 0.02 /* a cause with a smaller share of the time is not named */
#define LINKS     2    /* busiest links shown of an iteration */
#define OWNERS    3    /* owners shown of a link, at most */

static_assert(BREAKDOWN_CAUSES == WHY_CAUSES, "lab/breakdown has words for each cause");

void print_causes(FILE *to, const double cause[WHY_CAUSES], double sum)
{
	bool done[WHY_CAUSES] = { false };

	for (unsigned printed = 0; printed < WHY_CAUSES; printed++) {
		unsigned best = WHY_CAUSES;

		for (unsigned c = 0; c < WHY_CAUSES; c++)
			if (!done[c] && (best == WHY_CAUSES || cause[c] > cause[best]))
				best = c;
		if (!(cause[best] > 0) || cause[best] < SHARE_MIN * sum)
			break;
		done[best] = true;
		fprintf(to, "%s%s %.0f %%", printed ? ", " : ": ", breakdown_causes[best].name,
			100 * cause[best] / sum);
	}
}

/* Whether two neighbouring shares are of one link. Parallel links have the same name. */
static bool same_link(const struct breakdown_share *a, const struct breakdown_share *b)
{
	return a->utilization == b->utilization && !strcmp(a->link, b->link);
}

/* Returns the index past the last share of the link of `first`, whose shares are neighbours. Sets
 * *sum to their bytes. */
static size_t end_of_link(const struct breakdown_share *shares, size_t first, size_t end,
			  double *sum)
{
	size_t i = first;

	for (*sum = 0; i < end && same_link(&shares[i], &shares[first]); i++)
		*sum += (double)shares[i].bytes;
	return i;
}

static void print_links(FILE *to, const struct breakdown *b, const struct breakdown_iteration *it)
{
	size_t end = it->first_share + it->share_count;
	double all;

	for (size_t i = it->first_share, next, n = 0; i < end && n < LINKS; i = next, n++) {
		next = end_of_link(b->shares, i, end, &all);
		fprintf(to, "%s%s, %.0f %% full (", n ? "; " : "    busiest: ", b->shares[i].link,
			100 * b->shares[i].utilization);
		for (size_t o = i; o < next && o < i + OWNERS; o++)
			fprintf(to, "%s%s %.3g %%", o > i ? ", " : "", b->shares[o].owner,
				100 * (double)b->shares[o].bytes / all);
		fputs(next > i + OWNERS ? ", ...)" : ")", to);
	}
	if (it->share_count)
		fputc('\n', to);
}

void print_iteration(FILE *to, const struct breakdown *b, const struct breakdown_iteration *it)
{
	const struct breakdown_named *last = &it->last, *link = &it->link, *pushed = &it->pushed;

	fprintf(to, "  iteration %" PRIu64 ": %.6g ms a worker", it->number,
		it->sum / (double)it->workers * 1e3);
	print_causes(to, it->cause, it->sum);
	fprintf(to, "\n    longest: worker %" PRIu64 " (host %" PRIu64 "), %.6g ms", it->worst,
		it->host, it->longest * 1e3);
	if (last->text)
		fprintf(to, "; last: worker %s, %" PRIu64 " time%s, for %.3g ms of the others",
			last->text, last->times, last->times == 1 ? "" : "s", last->time * 1e3);
	if (link->text)
		fprintf(to, "; queues: %s, %.3g ms", link->text, link->time * 1e3);
	if (pushed->text)
		fprintf(to, "; pushed out of aggregators by job %s, %.3g ms", pushed->text,
			pushed->time * 1e3);
	fputc('\n', to);
	print_links(to, b, it);
}

/* Longest first; among equal ones, the earlier first. */
static int by_length(const void *a, const void *b)
{
	const struct breakdown_iteration *x = *(struct breakdown_iteration *const *)a,
					 *y = *(struct breakdown_iteration *const *)b;

	if (x->sum != y->sum)
		return x->sum > y->sum ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* The groups of a job. Returns the first, sets *count. */
static const struct breakdown_group *groups_of(const struct breakdown *b, uint64_t job,
					       size_t *count)
{
	size_t first = 0, end;

	while (first < b->group_count && b->groups[first].job != job)
		first++;
	for (end = first; end < b->group_count && b->groups[end].job == job;)
		end++;
	*count = end - first;
	return &b->groups[first];
}

void print_groups(FILE *to, const struct breakdown *b, uint64_t job)
{
	size_t count, waits = 0;
	const struct breakdown_group *groups = groups_of(b, job, &count);
	double all = 0;

	for (size_t i = 0; i < count; i++) {
		all += groups[i].sum;
		waits += strcmp(groups[i].name, "own") && strcmp(groups[i].name, "other");
	}
	for (size_t i = 0; i < count && waits > 1; i++) {
		fprintf(to, "  %s %.1f %%", groups[i].name, 100 * groups[i].sum / all);
		print_causes(to, groups[i].cause, groups[i].sum);
		fputc('\n', to);
	}
}

static void print_job(FILE *to, const struct breakdown *b, const struct breakdown_iteration *first,
		      size_t count)
{
	const struct breakdown_iteration **order = xcalloc(count, sizeof(*order));
	double cause[WHY_CAUSES] = { 0 }, sum = 0;

	for (size_t i = 0; i < count; i++) {
		order[i] = &first[i];
		sum += first[i].sum;
		for (unsigned c = 0; c < WHY_CAUSES; c++)
			cause[c] += first[i].cause[c];
	}
	fprintf(to,
		"job %" PRIu64 " (%s, %s), %" PRIu64 " workers, %zu iterations: %.6g ms a worker",
		first->job, first->name, first->scheme, first->workers, count,
		sum / (double)first->workers * 1e3);
	print_causes(to, cause, sum);
	fputc('\n', to);
	print_groups(to, b, first->job);
	if (cause[WHY_BACKOFF] > 0)
		fprintf(to,
			"  failures: %.4g ms a worker until there was a way again, and %.4g ms "
			"beyond "
			"that, for timers that had backed off\n",
			cause[WHY_FAILURE] / (double)first->workers * 1e3,
			cause[WHY_BACKOFF] / (double)first->workers * 1e3);
	if (count > SHOWN) {
		qsort(order, count, sizeof(*order), by_length);
		fprintf(to, "  the %d longest of %zu iterations:\n", SHOWN, count);
	}
	for (size_t i = 0; i < count && i < SHOWN; i++)
		print_iteration(to, b, order[i]);
	free(order);
}

static void print_breakdown(FILE *to, const char *dir, const struct breakdown *b)
{
	fprintf(to, "%s\n", dir);
	if (!b->count)
		fputs("  no iteration has ended\n", to);
	for (size_t i = 0, end; i < b->count; i = end) {
		end = breakdown_job_end(b, i);
		print_job(to, b, &b->iterations[i], end - i);
	}
}

/* Prints the causes of several runs side by side. */
static void print_together(FILE *to, char *const *dirs, const struct breakdown *list, size_t count)
{
	fputs("\nms a worker, all iterations\n", to);
	for (size_t i = 0; i < count; i++)
		fprintf(to, "  [%zu] %s\n", i + 1, dirs[i]);
	fprintf(to, "%-14s", "");
	for (size_t i = 0; i < count; i++) {
		char number[24];

		snprintf(number, sizeof(number), "[%zu]", i + 1);
		fprintf(to, " %10s", number);
	}
	fputc('\n', to);
	for (unsigned c = 0; c < WHY_CAUSES; c++) {
		bool any = false;

		for (size_t i = 0; i < count; i++)
			any |= list[i].cause[c] > 0;
		if (!any)
			continue;
		fprintf(to, "%-14s", breakdown_causes[c].name);
		for (size_t i = 0; i < count; i++)
			fprintf(to, " %10.4f",
				list[i].workers > 0 ? list[i].cause[c] / list[i].workers * 1e3 : 0);
		fputc('\n', to);
	}
}

static void json_links(struct json *json, const struct breakdown *b,
		       const struct breakdown_iteration *it)
{
	json_open_array(json, "busiest_links");
	for (size_t i = 0; i < it->share_count; i++) {
		const struct breakdown_share *share = &b->shares[it->first_share + i];

		json_open_object(json, NULL);
		json_string(json, "link", share->link);
		json_real(json, "utilization", share->utilization);
		json_string(json, "owner", share->owner);
		json_u64(json, "bytes", share->bytes);
		json_close_object(json);
	}
	json_close_array(json);
}

static void json_iteration(struct json *json, const struct breakdown *b,
			   const struct breakdown_iteration *it)
{
	json_open_object(json, NULL);
	json_u64(json, "job_id", it->job);
	json_string(json, "name", it->name);
	json_string(json, "scheme", it->scheme);
	json_u64(json, "iteration", it->number);
	json_u64(json, "workers", it->workers);
	json_u64(json, "longest_worker", it->worst);
	json_real(json, "longest_s", it->longest);
	json_open_object(json, "why_s"); /* per worker, as in summary.json */
	for (unsigned c = 0; c < WHY_CAUSES; c++)
		json_real(json, breakdown_causes[c].name, it->cause[c] / (double)it->workers);
	json_close_object(json);
	json_links(json, b, it);
	json_close_object(json);
}

static void json_group(struct json *json, const struct breakdown_group *group)
{
	json_open_object(json, NULL);
	json_u64(json, "job_id", group->job);
	json_string(json, "group", group->name);
	json_real(json, "time_s", group->sum); /* of all workers together, as in why-groups.csv */
	json_open_object(json, "why_s");
	for (unsigned c = 0; c < WHY_CAUSES; c++)
		json_real(json, breakdown_causes[c].name, group->cause[c]);
	json_close_object(json);
	json_close_object(json);
}

static void print_json(FILE *to, char *const *dirs, const struct breakdown *list, size_t count)
{
	struct json json;

	json_init(&json);
	json_open_array(&json, NULL);
	for (size_t i = 0; i < count; i++) {
		json_open_object(&json, NULL);
		json_string(&json, "dir", dirs[i]);
		json_open_array(&json, "iterations");
		for (size_t n = 0; n < list[i].count; n++)
			json_iteration(&json, &list[i], &list[i].iterations[n]);
		json_close_array(&json);
		json_open_array(&json, "groups");
		for (size_t n = 0; n < list[i].group_count; n++)
			json_group(&json, &list[i].groups[n]);
		json_close_array(&json);
		json_close_object(&json);
	}
	json_close_array(&json);
	json_print(&json, to);
}

int verb_why(const struct cli *cli)
{
	struct breakdown *list;
	struct plain plain;
	int code = EXIT_DONE;

	if (cli->why.summary && cli->json) {
		complain("--summary is text: leave out --json");
		return EXIT_USAGE;
	}
	if (!origin_check(cli->argv, cli->argc, cli->quiet))
		return EXIT_IO;
	list = xcalloc((size_t)cli->argc, sizeof(*list));
	plain_open(&plain);
	for (int i = 0; i < cli->argc && code == EXIT_DONE; i++) {
		char *error = NULL;

		if (breakdown_read(&list[i], cli->argv[i], &error)) {
			if (cli->why.summary)
				code = print_summary(plain.to, cli->argv[i], &list[i]);
			else if (!cli->json)
				print_breakdown(plain.to, cli->argv[i], &list[i]);
			continue;
		}
		if (error)
			complain("%s", error);
		else
			complain("there is no %s/why.csv (inasim run --why writes it)",
				 cli->argv[i]);
		free(error);
		code = EXIT_IO;
	}
	if (code == EXIT_DONE && cli->json)
		print_json(stdout, cli->argv, list, (size_t)cli->argc);
	else if (code == EXIT_DONE && cli->argc > 1 && !cli->why.summary)
		print_together(plain.to, cli->argv, list, (size_t)cli->argc);
	plain_close(&plain, stdout);
	for (int i = 0; i < cli->argc; i++)
		breakdown_release(&list[i]);
	free(list);
	return code;
}
