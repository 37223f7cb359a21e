/* A simulation in somebody's program: its life, its run, its tables. */
#include "library/library_parts.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *inasim_version(void)
{
	return INASIM_VERSION;
}

sim_time library_time(double seconds)
{
	double ps = ceil(seconds * (double)PS_PER_S);

	if (!(ps > 0))
		return 0;
	return ps < 18e18 ? (sim_time)ps : SIM_TIME_MAX;
}

/* --- its life --- */

/* The settings, "/pointer=value", cut at their first '='. Fills in *count. NULL and *error if one
 * is not of this form. The caller frees with free_sets(). */
static struct conf_override *read_sets(const char *const *sets, size_t *count, char **error)
{
	struct conf_override *overrides;

	for (*count = 0; sets && sets[*count];)
		++*count;
	overrides = xcalloc(*count + 1, sizeof(*overrides));
	for (size_t i = 0; i < *count; i++) {
		char *text = xstrdup(sets[i]), *equals = strchr(text, '=');

		overrides[i].pointer = text;
		if (*text != '/' || !equals) {
			*error = xasprintf("a setting is /pointer=value, such as /seed=2; found "
					   "\"%s\"\n",
					   text);
			return overrides;
		}
		*equals = '\0';
		overrides[i].value = equals + 1;
	}
	return overrides;
}

static void free_sets(struct conf_override *overrides, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free((char *)overrides[i].pointer);
	free(overrides);
}

static char *mistakes_of(const struct conf_doc *doc)
{
	char *text = NULL;
	size_t length = 0;
	FILE *to = open_memstream(&text, &length);

	conf_print_errors(doc, to, false);
	fclose(to);
	return text;
}

static void on_pause(struct sim *sim, uint32_t entity, void *owner)
{
	struct inasim *s = owner;

	(void)entity;
	sim->uncounted++; /* no part of the run */
	s->paused = true;
	sim_stop(sim);
}

/* Builds the run of a loaded scenario, or else closes everything. */
static struct inasim *build(struct inasim *s, char **error)
{
	if (conf_errors(s->doc)) {
		*error = mistakes_of(s->doc);
		inasim_close(s);
		return NULL;
	}
	s->tables = out_dir_in_memory();
	s->run = simulation_build(&s->scenario, s->tables, error);
	if (!s->run) {
		inasim_close(s);
		return NULL;
	}
	timer_open(&s->run->sim, &s->pause, SIM_SAMPLE, sim_key(SIM_SAMPLE, SAMPLE_PAUSE), on_pause,
		   s);
	return s;
}

/* From a file, or from a JSON text if `json` is not NULL. */
static struct inasim *make(const char *path, const char *json, const char *const *sets,
			   char **error)
{
	struct inasim *s = xcalloc(1, sizeof(*s));
	size_t count;
	struct conf_override *overrides;

	*error = NULL;
	overrides = read_sets(sets, &count, error);
	if (!*error)
		s->doc = json ? scenario_parse_set(path, json, strlen(json), &s->scenario,
						   overrides, count)
			      : scenario_load(path, &s->scenario, overrides, count);
	free_sets(overrides, count);
	if (s->doc)
		return build(s, error);
	free(s);
	return NULL;
}

struct inasim *inasim_load(const char *path, const char *const *sets, char **error)
{
	return make(path, NULL, sets, error);
}

struct inasim *inasim_parse(const char *json, const char *const *sets, char **error)
{
	return make("scenario", json, sets, error);
}

void inasim_close(struct inasim *s)
{
	if (!s)
		return;
	if (s->run)
		library_drop_work(s);
	simulation_free(s->run);
	if (s->tables)
		out_dir_abandon(s->tables);
	conf_doc_free(s->doc);
	free(s);
}

/* --- its run --- */

static void end(struct inasim *s)
{
	library_drop_work(s);
	timer_cancel(&s->run->sim, &s->pause);
	simulation_end(s->run);
	results_write_tables(s->run);
	s->ended = true;
}

bool inasim_run(struct inasim *s, double until)
{
	sim_time at = library_time(until);
	/* what is skipped would not see new work, and a pause may be within it */
	const struct simulation_options options = { .no_fast_forward =
							    s->grows || at != SIM_TIME_MAX };

	if (s->ended)
		return false;
	if (!s->begun)
		simulation_begin(s->run, &options);
	s->begun = true;
	if (s->paused)
		s->run->sim.stopped = s->paused = false;
	if (at != SIM_TIME_MAX)
		timer_set(&s->run->sim, &s->pause, at > s->run->sim.now ? at : s->run->sim.now);
	simulation_advance(s->run, &options);
	if (!s->paused)
		end(s);
	return s->paused;
}

void inasim_stop(struct inasim *s)
{
	s->paused = false;
	sim_stop(&s->run->sim);
}

double inasim_now(const struct inasim *s)
{
	return seconds_of(s->run->sim.now);
}

const char *inasim_end(const struct inasim *s)
{
	return s->ended ? end_reason_names[s->run->end] : NULL;
}

uint64_t inasim_digest(const struct inasim *s)
{
	return simulation_digest(s->run);
}

char *inasim_summary(const struct inasim *s)
{
	return s->ended ? results_summary_json(s->run) : NULL;
}

/* --- its tables --- */

/* The number of a table, "jobs.csv" or "jobs"; that of tables if there is none. */
static size_t find_table(const struct inasim *s, const char *name)
{
	size_t count = out_dir_files(s->tables), length = strlen(name), t;

	for (t = 0; t < count; t++) {
		const char *file = inasim_table(s, t);

		if (!strncmp(name, file, length) &&
		    (!file[length] || !strcmp(file + length, ".csv")))
			break;
	}
	return t;
}

const char *inasim_table(const struct inasim *s, size_t number)
{
	uint64_t rows;

	return number < out_dir_files(s->tables) ? out_dir_file(s->tables, number, &rows) : NULL;
}

static double number_of(enum out_type type, const struct out_cell *cell)
{
	if (cell->none)
		return NAN;
	switch (type) {
	case OUT_COUNT:
		return (double)cell->count;
	case OUT_REAL:
		return cell->real;
	case OUT_SECONDS:
		return seconds_of(cell->time);
	case OUT_FLAG:
		return cell->flag;
	case OUT_TEXT:
		break;
	}
	return NAN;
}

const char *inasim_column_name(const struct inasim *s, const char *table, size_t number)
{
	const struct out_schema *schema;
	size_t t = find_table(s, table), columns = 0;

	if (t == out_dir_files(s->tables))
		return NULL;
	out_dir_cells(s->tables, t, &schema);
	while (schema->columns[columns].name && columns < number)
		columns++;
	return schema->columns[columns].name;
}

bool inasim_column(const struct inasim *s, const char *table, const char *name,
		   struct inasim_column *column)
{
	const struct out_schema *schema;
	const struct out_cell *cells;
	size_t t = find_table(s, table), width = 0, wanted = SIZE_MAX;
	uint64_t rows;

	*column = (struct inasim_column){ 0 };
	if (t == out_dir_files(s->tables))
		return false;
	out_dir_file(s->tables, t, &rows);
	cells = out_dir_cells(s->tables, t, &schema);
	for (; schema->columns[width].name; width++)
		if (!strcmp(schema->columns[width].name, name))
			wanted = width;
	if (wanted == SIZE_MAX)
		return false;
	column->name = schema->columns[wanted].name;
	column->help = schema->columns[wanted].help;
	column->rows = rows;
	if (schema->columns[wanted].type == OUT_TEXT)
		column->texts = xcalloc(rows + 1, sizeof(*column->texts));
	else
		column->numbers = xcalloc(rows + 1, sizeof(*column->numbers));
	for (size_t r = 0; r < rows; r++) {
		const struct out_cell *cell = &cells[r * width + wanted];

		if (column->texts)
			column->texts[r] = cell->none ? NULL : cell->text;
		else
			column->numbers[r] = number_of(schema->columns[wanted].type, cell);
	}
	return true;
}

void inasim_column_free(struct inasim_column *column)
{
	free(column->numbers);
	free(column->texts);
	*column = (struct inasim_column){ 0 };
}
