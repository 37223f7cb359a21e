#include "conf/keys.h"

#include "conf/bind.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* --- the walk --- */

/* The tables around the current row, innermost first. The walk enters none of them again. */
struct inside {
	const struct conf_table *table;
	const struct inside *outer;
};

struct walk {
	struct conf_key *keys;
	size_t count, capacity;
	struct conf_buf path;
};

static void walk_rows(struct walk *w, const struct conf_table *table, const struct inside *outer);

static void add_key(struct walk *w, const struct conf_row *row)
{
	w->keys = array_reserve(w->keys, w->count, &w->capacity, sizeof(*w->keys));
	w->keys[w->count] = (struct conf_key){ xstrdup(conf_buf_text(&w->path)), *row };
	if (!row->help && row->type == CONF_OBJECT)
		w->keys[w->count].row.help = row->table->help;
	w->count++;
}

/* Adds the keys below a row. Alternatives of a ONEOF add no step to the path. */
static void walk_below(struct walk *w, const struct conf_row *row, const struct inside *inside)
{
	size_t length = w->path.length;

	if (row->type == CONF_OBJECT)
		walk_rows(w, row->table, inside);
	if (row->type == CONF_ONEOF)
		for (const struct conf_row *form = row->table->rows; form->name; form++)
			walk_below(w, form, inside);
	if (row->type == CONF_LIST || row->type == CONF_MAP) {
		conf_buf_add_step(&w->path, row->type == CONF_LIST ? "N" : "NAME");
		walk_below(w, row->item, inside);
	}
	conf_buf_cut(&w->path, length);
}

static void walk_rows(struct walk *w, const struct conf_table *table, const struct inside *outer)
{
	struct inside inside = { table, outer };
	size_t length = w->path.length;

	for (const struct inside *i = outer; i; i = i->outer)
		if (i->table == table)
			return;
	for (const struct conf_row *row = table->rows; row->name; row++) {
		conf_buf_add_step(&w->path, row->name);
		add_key(w, row);
		walk_below(w, row, &inside);
		conf_buf_cut(&w->path, length);
	}
}

struct conf_key *conf_keys(const struct conf_table *table, size_t *count)
{
	struct walk w = { 0 };

	walk_rows(&w, table, NULL);
	conf_buf_release(&w.path);
	*count = w.count;
	return w.keys;
}

void conf_keys_free(struct conf_key *keys, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(keys[i].path);
	free(keys);
}

/* --- examples --- */

static void add_default(struct conf_buf *text, const struct conf_row *row)
{
	cJSON *value = conf_default(row);

	conf_buf_add_json(text, value, false);
	cJSON_Delete(value);
}

static void add_sample(struct conf_buf *text, const struct conf_row *row);

/* An object with the required keys, and no more. */
static void add_sample_object(struct conf_buf *text, const struct conf_row *rows)
{
	const char *between = " ";

	conf_buf_add(text, "{");
	for (const struct conf_row *row = rows; row->name; row++) {
		if (row->def != CONF_REQUIRED)
			continue;
		conf_buf_addf(text, "%s\"%s\": ", between, row->name);
		add_sample(text, row);
		between = ", ";
	}
	conf_buf_add(text, " }");
}

/* 1 or, if that is out of bounds, the bound nearest to it. */
static void add_sample_number(struct conf_buf *text, const struct conf_row *row)
{
	bool whole = row->type == CONF_INT;
	double low = whole ? (double)row->imin : row->rmin;
	double high = whole ? (double)row->imax : row->rmax;

	conf_buf_add_json_number(text, low == 0 && high == 0 ? 1
				       : low > 1             ? low
				       : high < 1            ? high
							     : 1);
}

static void add_sample(struct conf_buf *text, const struct conf_row *row)
{
	bool list = row->type == CONF_LIST, map = row->type == CONF_MAP;

	if (list || map) {
		conf_buf_add(text, list ? "[ " : "{ \"NAME\": ");
		add_sample(text, row->item);
		conf_buf_add(text, list ? " ]" : " }");
	} else if (conf_has_default(row)) {
		add_default(text, row);
	} else if (conf_has_unit(row->type)) {
		conf_describe_amount(text, row);
	} else if (row->type == CONF_INT || row->type == CONF_REAL) {
		add_sample_number(text, row);
	} else if (row->type == CONF_BOOL) {
		conf_buf_add(text, "true");
	} else if (row->type == CONF_STRING) {
		conf_buf_add(text, "\"...\"");
	} else if (row->type == CONF_ENUM) {
		conf_buf_add_json_string(text, row->choices[0]);
	} else if (row->type == CONF_OBJECT) {
		add_sample_object(text, row->table->rows);
	} else if (row->type == CONF_ONEOF) {
		add_sample(text, row->table->rows);
	} else {
		conf_buf_add(text, "{}");
	}
}

static void add_example(struct conf_buf *text, const struct conf_key *key)
{
	struct conf_buf end = { 0 }; /* closing brackets, the outermost first */

	for (const char *step = key->path; *step == '/';) {
		size_t length = strcspn(++step, "/");
		bool item = length == 1 && *step == 'N';

		if (item)
			conf_buf_add(text, "[ ");
		else
			conf_buf_addf(text, "{ \"%.*s\": ", (int)length, step);
		conf_buf_add(&end, item ? "]" : "}");
		step += length;
	}
	add_sample(text, &key->row);
	for (size_t i = end.length; i-- > 0;)
		conf_buf_addf(text, " %c", end.data[i]);
	conf_buf_release(&end);
}

/* --- facts about a row --- */

static void add_allowed(struct conf_buf *text, const struct conf_row *row)
{
	if (row->type != CONF_ONEOF) {
		conf_describe_row(text, row);
		return;
	}
	for (const struct conf_row *form = row->table->rows; form->name; form++) {
		conf_buf_add(text, text->length > 0 ? " Or " : "");
		conf_describe_row(text, form);
		conf_buf_addf(text, ": %s", form->help);
	}
}

void conf_key_tell(const struct conf_key *key,
		   void (*tell)(void *owner, const char *label, const char *text), void *owner)
{
	const struct conf_row *row = &key->row;
	struct conf_buf text = { 0 };

	if (row->type == CONF_OBJECT)
		return;
	add_allowed(&text, row);
	tell(owner, "allowed", conf_buf_text(&text));
	conf_buf_cut(&text, 0);
	conf_describe_units(&text, row);
	if (text.length > 0)
		tell(owner, "units", conf_buf_text(&text));
	conf_buf_cut(&text, 0);
	if (row->def == CONF_REQUIRED)
		conf_buf_add(&text, "none: this key is required");
	else if (conf_has_default(row))
		add_default(&text, row);
	if (text.length > 0)
		tell(owner, "default", conf_buf_text(&text));
	if (row->source)
		tell(owner, "source", row->source);
	conf_buf_cut(&text, 0);
	add_example(&text, key);
	tell(owner, "example", conf_buf_text(&text));
	conf_buf_release(&text);
}
