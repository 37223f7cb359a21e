#include "study/compare/samples.h"

#include "base/hash.h"
#include "base/mem.h"
#include "out/csv_read.h"
#include "out/folder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 5

/* What a table says about its rows: which number they have, what makes two rows
 * of this number in two runs the same, which of them have finished, which count. */
struct sample_table {
	const char *prefix, *file;
	const char *number[2];             /* id, and id within it (or NULL) */
	const char *identity[COLUMNS_MAX]; /* ends with NULL */
	const char *finished, *measured;   /* flags; NULL: all */
};

static const struct sample_table flows_table = {
	"flows.",   "flows.csv", { "flow_id" }, { "size_bytes", "start_s", "src", "dst" },
	"finished", "measured",
};
static const struct sample_table jobs_table = {
	"jobs.",    "jobs.csv", { "job_id" }, { "name", "model", "workers", "arrival_s" },
	"finished", "measured",
};
static const struct sample_table iterations_table = {
	"jobs.", "iterations.csv", { "job_id", "iteration" }, { "name" }, NULL, "measured",
};

static const struct {
	const struct sample_table *table;
	const char *field, *column;
} fields[] = {
	{ &flows_table, "fct_s", "fct_s" },
	{ &flows_table, "slowdown", "slowdown" },
	{ &jobs_table, "jct_s", "jct_s" },
	{ &jobs_table, "waiting_s", "waiting_s" },
	{ &jobs_table, "compute_s", "compute_s" },
	{ &jobs_table, "communication_s", "communication_s" },
	{ &iterations_table, "iteration_s", "duration_s" },
};

static const struct {
	const char *name;
	double quantile;
} statistics[] = {
	{ "mean", NAN }, { "p50", 0.5 }, { "p95", 0.95 }, { "p99", 0.99 }, { "p999", 0.999 },
};

struct sample {
	uint64_t id, inner;
	uint64_t identity; /* hash of what makes it the same */
	double value;
};

/* ---- Which ---- */

/* Cuts ".word" off the end of `text` if it ends so. */
static bool ends_with(const char *text, size_t *length, const char *word)
{
	size_t n = strlen(word);
	if (*length <= n || text[*length - n - 1] != '.' ||
	    strncmp(text + *length - n, word, n) != 0)
		return false;
	*length -= n + 1;
	return true;
}

/* What is left between prefix and field: nothing, or "by_name.NAME" of jobs. */
static bool take_name(struct sample_source *source, const char *text, size_t length)
{
	static const char by[] = "jobs.by_name.";
	size_t n = strlen(by);
	source->name[0] = '\0';
	if (length + 1 == strlen(source->table->prefix))
		return strncmp(text, source->table->prefix, length) == 0;
	if (length <= n || strncmp(text, by, n) != 0 || length - n >= sizeof source->name ||
	    source->table->prefix != jobs_table.prefix)
		return false;
	memcpy(source->name, text + n, length - n);
	source->name[length - n] = '\0';
	return true;
}

bool sample_source(const char *metric, struct sample_source *source)
{
	size_t length = strlen(metric), s = 0, f = 0;
	while (s < sizeof statistics / sizeof *statistics &&
	       !ends_with(metric, &length, statistics[s].name))
		s++;
	if (s == sizeof statistics / sizeof *statistics)
		return false;
	while (f < sizeof fields / sizeof *fields && !ends_with(metric, &length, fields[f].field))
		f++;
	if (f == sizeof fields / sizeof *fields)
		return false;
	source->table = fields[f].table;
	source->column = fields[f].column;
	source->quantile = statistics[s].quantile;
	return take_name(source, metric, length);
}

/* ---- Reading ---- */

struct columns {
	int id, inner, identity[COLUMNS_MAX], value, name, finished, measured;
};

static int column_of(struct csv *csv, const char *name)
{
	return name == NULL ? -1 : csv_need(csv, name);
}

static struct columns find_columns(struct csv *csv, const struct sample_source *source)
{
	const struct sample_table *table = source->table;
	struct columns c = { .id = column_of(csv, table->number[0]),
			     .inner = column_of(csv, table->number[1]),
			     .value = column_of(csv, source->column),
			     .name = *source->name == '\0' ? -1 : column_of(csv, "name"),
			     .finished = column_of(csv, table->finished),
			     .measured = column_of(csv, table->measured) };
	for (size_t i = 0; i < COLUMNS_MAX; i++)
		c.identity[i] = column_of(csv, table->identity[i]);
	return c;
}

static struct sample read_sample(struct csv *csv, const struct columns *c)
{
	struct sample sample = { .id = csv_u64(csv, c->id), .value = NAN };
	if (c->inner >= 0)
		sample.inner = csv_u64(csv, c->inner);
	for (size_t i = 0; i < COLUMNS_MAX && c->identity[i] >= 0; i++)
		sample.identity =
			hash_pair(sample.identity, hash_string(csv_text(csv, c->identity[i])));
	if (c->finished < 0 || csv_flag(csv, c->finished))
		sample.value = csv_real(csv, c->value);
	return sample;
}

static bool wanted(struct csv *csv, const struct columns *c, const struct sample_source *source)
{
	return (c->measured < 0 || csv_flag(csv, c->measured)) &&
	       (c->name < 0 || strcmp(csv_text(csv, c->name), source->name) == 0);
}

static int by_number(const struct sample *a, const struct sample *b)
{
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->inner > b->inner) - (a->inner < b->inner);
}

static int compare_samples(const void *a, const void *b)
{
	return by_number(a, b);
}

bool samples_read(const char *dir, const struct sample_source *source, struct samples *samples,
		  char **error)
{
	size_t capacity = 0;
	*samples = (struct samples){ .each_is_work = source->table->finished != NULL };
	if (!folder_has(dir, source->table->file))
		return true;
	char *path = folder_join(dir, source->table->file);
	struct csv *csv = csv_open(path, error);
	free(path);
	if (csv == NULL)
		return false;
	struct columns columns = find_columns(csv, source);
	while (csv_next(csv)) {
		struct sample sample = read_sample(csv, &columns); /* strict for all rows */
		if (!wanted(csv, &columns, source))
			continue;
		samples->items = array_reserve(samples->items, samples->count, &capacity,
					       sizeof *samples->items);
		samples->items[samples->count++] = sample;
	}
	if (samples->count > 0)
		qsort(samples->items, samples->count, sizeof *samples->items, compare_samples);
	samples->values = xcalloc(samples->count + 1, sizeof *samples->values);
	for (size_t i = 0; i < samples->count; i++)
		samples->values[i] = samples->items[i].value;
	if (csv_close(csv, error))
		return true;
	samples_release(samples);
	return false;
}

void samples_release(struct samples *samples)
{
	free(samples->items);
	free(samples->values);
	*samples = (struct samples){ 0 };
}

/* ---- Pairs ---- */

size_t samples_pair(const struct samples *a, const struct samples *b, double **values_a,
		    double **values_b)
{
	size_t i = 0, j = 0, count = 0, common = 0;
	double *x = *values_a = xcalloc(a->count + b->count + 1, sizeof *x);
	double *y = *values_b = xcalloc(a->count + b->count + 1, sizeof *y);
	for (; i < a->count || j < b->count; count++) {
		int order = i == a->count   ? 1
			    : j == b->count ? -1
					    : by_number(&a->items[i], &b->items[j]);
		if (order == 0 && a->items[i].identity != b->items[j].identity)
			return 0;
		common += order == 0;
		x[count] = order <= 0 ? a->items[i++].value : NAN;
		y[count] = order >= 0 ? b->items[j++].value : NAN;
	}
	return common > 0 ? count : 0;
}
