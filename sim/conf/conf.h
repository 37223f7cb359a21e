/* Turns JSON text into typed structs: the only way user input enters inasim.
 *
 * Every key a user may write is a row of a table: name, type, bounds, default, help, source of the
 * default (README.md has an example). Validation, the resolved dump (`explain`), the JSON Schema
 * (`schema`) and the struct that the code reads all come from the rows.
 *
 * All mistakes are collected, each with file:line:column, the JSON pointer, what was found and what
 * is allowed; the caller prints them and exits with code 3. Keys that start with '_' are comments,
 * as is "$schema" at the top. Unknown keys and duplicate keys are errors. `null` is never a value,
 * except inside a CONF_JSON.
 *
 * A struct conf_doc owns the text, the positions, the messages and every string, list and
 * sub-struct that the rows filled in; conf_doc_free() releases them all. Filled structs must not
 * outlive their document. The struct to fill is zeroed first. After an error it is only partly
 * filled and must not be used. */
#ifndef INASIM_CONF_CONF_H
#define INASIM_CONF_CONF_H

#include "base/units.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum conf_type {
	CONF_BOOL,   /* bool */
	CONF_INT,    /* int64_t; bounds imin..imax */
	CONF_REAL,   /* double; bounds rmin..rmax */
	CONF_STRING, /* const char * */
	CONF_ENUM,   /* int: index into choices */
	CONF_TIME,   /* sim_time (uint64_t ps), "1us"; bounds min..max */
	CONF_BYTES,  /* bytes (uint64_t), "40MB"; bounds min..max */
	CONF_RATE,   /* bps (uint64_t), "10Gbps"; bounds min..max */
	CONF_QUEUE,  /* struct queue_size: "85pkt" or "128KB"; bounds on the amount */
	CONF_OBJECT, /* a struct that `table` fills; if `apart`, the field is a pointer to it */
	CONF_LIST,   /* struct conf_list; `item` describes each; bounds min..max on the count */
	CONF_ONEOF,  /* one of the rows ("alternatives") of `table`, see below */
	CONF_MAP,    /* struct conf_map: an object with any keys; `item` describes the values;
		      * bounds min..max on the count */
	CONF_JSON,   /* const char *: any value but null, as JSON text that reads back the same */
};

/* CONF_ONEOF: a value that may have several forms. The rows of `table` are its alternatives.
 * - The name of an alternative only documents it and is not a key. Its `def` is only an example.
 * - The offset of an alternative counts from the same struct as the offset of the ONEOF row. If the
 *   ONEOF is the item of a list or map, it counts from the item, whose size is table->size.
 *   Elsewhere table->size is not used.
 * - The index of the chosen alternative is stored as int at `tag`, and its `present` is set unless
 *   the value is a default.
 *
 * The JSON shape of the value (object, array, string, number, boolean) chooses the alternative.
 * Where several have that shape:
 * - objects: the only one that knows some of the object's keys; no key may belong to two;
 * - others: in order, the first that accepts the value. So a free CONF_STRING comes last.
 *
 * An alternative may not lead back to its own ONEOF row except through an OBJECT. */

struct conf_list {
	void *items; /* array of fields, or of structs, that the row's `item` describes */
	size_t count;
};

struct conf_map {
	const char **keys;
	void *items; /* the value of each key, in an array like that of a list */
	size_t count;
};

struct conf_table;

struct conf_row {
	const char *name;
	enum conf_type type;
	size_t offset;                  /* into the struct of the enclosing table */
	uint64_t min, max;              /* TIME BYTES RATE QUEUE LIST MAP; max 0 = no upper bound */
	int64_t imin, imax;             /* INT (both 0 = any) */
	double rmin, rmax;              /* REAL (both 0 = any); bounds inclusive */
	const char *const *choices;     /* ENUM, NULL-terminated */
	const struct conf_table *table; /* OBJECT, ONEOF */
	bool apart;                     /* OBJECT */
	const struct conf_row *item;    /* LIST, MAP: offset 0, no name, no default */
	size_t tag;                     /* ONEOF: offset of the int for the chosen alternative */
	size_t present;                 /* CONF_GIVEN() of a bool: "the user gave this key"; or 0 */
	const char *def;    /* default as JSON or bare string, CONF_REQUIRED or CONF_OPTIONAL */
	const char *help;   /* one sentence */
	const char *source; /* of the default: paper and section, RFC, "our choice" */
};

/* `def` of a row without default. CONF_REQUIRED: the key must be given. CONF_OPTIONAL: the key may
 * be missing; the field is then all zero, and only `present` tells this from a zero of the user. An
 * OBJECT row with def "{}" is filled from the defaults of its own table. */
#define CONF_REQUIRED NULL
extern const char conf_optional[];
#define CONF_OPTIONAL conf_optional

/* Constructors of rows: CONF_TYPE(key, struct, field, default, WHAT, help[, source[, members]]).
 * WHAT stands for the bounds, the choices or the table. Further members of the row have names, such
 * as `.present = CONF_GIVEN(struct x, k_given)`; `source` needs none, as it follows `help` in the
 * struct. CONF_GROUP is an object in JSON whose fields are in the same struct. CONF_APART fills
 * pointer number `index` of a struct that is an array of pointers; its help is the table's. */
#define CONF_GIVEN(s, field) (1 + offsetof(s, field))
#define CONF_ROW_(kind, key, s, field, d, ...)                                                     \
	{                                                                                          \
		.name = key, .type = kind, .offset = offsetof(s, field), .def = d, __VA_ARGS__     \
	}
#define CONF_AMOUNT_(kind, key, s, field, d, lo, hi, ...)                                          \
	CONF_ROW_(kind, key, s, field, d, .min = lo, .max = hi, .help = __VA_ARGS__)
#define CONF_BOOL(key, s, field, d, ...) CONF_ROW_(CONF_BOOL, key, s, field, d, .help = __VA_ARGS__)
#define CONF_STRING(key, s, field, d, ...)                                                         \
	CONF_ROW_(CONF_STRING, key, s, field, d, .help = __VA_ARGS__)
#define CONF_JSON(key, s, field, d, ...) CONF_ROW_(CONF_JSON, key, s, field, d, .help = __VA_ARGS__)
#define CONF_INT(key, s, field, d, lo, hi, ...)                                                    \
	CONF_ROW_(CONF_INT, key, s, field, d, .imin = lo, .imax = hi, .help = __VA_ARGS__)
#define CONF_REAL(key, s, field, d, lo, hi, ...)                                                   \
	CONF_ROW_(CONF_REAL, key, s, field, d, .rmin = lo, .rmax = hi, .help = __VA_ARGS__)
#define CONF_TIME(...)  CONF_AMOUNT_(CONF_TIME, __VA_ARGS__)
#define CONF_BYTES(...) CONF_AMOUNT_(CONF_BYTES, __VA_ARGS__)
#define CONF_RATE(...)  CONF_AMOUNT_(CONF_RATE, __VA_ARGS__)
#define CONF_QUEUE(...) CONF_AMOUNT_(CONF_QUEUE, __VA_ARGS__)
#define CONF_ENUM(key, s, field, d, names, ...)                                                    \
	CONF_ROW_(CONF_ENUM, key, s, field, d, .choices = names, .help = __VA_ARGS__)
#define CONF_OBJECT(key, s, field, d, rows, ...)                                                   \
	CONF_ROW_(CONF_OBJECT, key, s, field, d, .table = rows, .help = __VA_ARGS__)
#define CONF_GROUP(key, d, rows, ...)                                                              \
	{                                                                                          \
		.name = key, .type = CONF_OBJECT, .def = d, .table = rows, .help = __VA_ARGS__     \
	}
#define CONF_APART(key, index, rows)                                                               \
	{                                                                                          \
		.name = key, .type = CONF_OBJECT, .offset = (index) * sizeof(void *),              \
		.apart = true, .def = "{}", .table = rows                                          \
	}
#define CONF_LIST(key, s, field, d, of, lo, hi, ...)                                               \
	CONF_ROW_(CONF_LIST, key, s, field, d, .item = of, .min = lo, .max = hi,                   \
		  .help = __VA_ARGS__)
#define CONF_MAP(key, s, field, d, of, lo, hi, ...)                                                \
	CONF_ROW_(CONF_MAP, key, s, field, d, .item = of, .min = lo, .max = hi, .help = __VA_ARGS__)
#define CONF_ONEOF(key, s, field, d, forms, form, ...)                                             \
	CONF_ROW_(CONF_ONEOF, key, s, field, d, .table = forms, .tag = offsetof(s, form),          \
		  .help = __VA_ARGS__)

/* Another kind of document that users may confuse with this one. It is recognised by a top-level
 * key that it has and another that it lacks. */
struct conf_other_kind {
	const char *has, *lacks;
	const char *message; /* the only message about such a document */
};

/* A key that has been renamed: the old name is an error, whose message tells the new name. */
struct conf_rename {
	const char *old, *now;
};

struct conf_table {
	const char *name;            /* of the definition in the schema */
	const struct conf_row *rows; /* ends with a row without name */
	size_t size;                 /* of the struct */
	const char *help;
	const struct conf_other_kind *other; /* for tables of whole documents; may be NULL */
	const struct conf_rename *renamed;   /* ends with an entry without `old`; may be NULL */
};

struct conf_doc;

/* `--set /pointer=value`: value is JSON, or, if it does not parse, a string. */
struct conf_override {
	const char *pointer;
	const char *value;
};

/* Both read a document and fill `out`; with `out` NULL they only check the document. They always
 * return a document, which conf_doc_free() releases: look at conf_errors(). conf_load() reads a
 * file; if this fails, it is an error with conf_io_error() true. conf_parse() reads `text`, and
 * messages have `name` in place of a file. */
struct conf_doc *conf_load(const char *path, const struct conf_table *table, void *out,
			   const struct conf_override *overrides, size_t override_count);
struct conf_doc *conf_parse(const char *name, const char *text, size_t length,
			    const struct conf_table *table, void *out,
			    const struct conf_override *overrides, size_t override_count);
void conf_doc_free(struct conf_doc *doc);

/* Zeroed memory that lives as long as the document. */
void *conf_own(struct conf_doc *doc, size_t count, size_t size);
/* Calls release(item) when the document is freed. */
void conf_keep(struct conf_doc *doc, void *item, void (*release)(void *item));

const char *
conf_path(const struct conf_doc *doc); /* as given; paths in the document start in its folder */
bool conf_io_error(const struct conf_doc *doc);
size_t conf_errors(const struct conf_doc *doc);

/* Adds a message at a JSON pointer such as "/jobs/0/workers". Its place is that of the value or, if
 * the value is a default, of the nearest parent in the file. Warnings and notes are allowed only
 * while the document has no errors; conf_mistake() does not return them. */
enum conf_severity {
	CONF_ERROR,
	CONF_WARNING, /* the value is legal, probably a mistake */
	CONF_NOTE,    /* the run does what the user meant, but readers may expect otherwise */
};
void conf_say(struct conf_doc *doc, enum conf_severity severity, const char *pointer,
	      const char *fmt, ...) __attribute__((format(printf, 4, 5)));
#define conf_error(doc, pointer, ...) conf_say(doc, CONF_ERROR, pointer, __VA_ARGS__)
#define conf_warn(doc, pointer, ...)  conf_say(doc, CONF_WARNING, pointer, __VA_ARGS__)
#define conf_note(doc, pointer, ...)  conf_say(doc, CONF_NOTE, pointer, __VA_ARGS__)

/* A text built as by printf(), mostly a JSON pointer, which lives as long as the document:
 * conf_at(doc, "/jobs/%zu", i). */
const char *conf_at(struct conf_doc *doc, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Whether a text has a control character of ASCII, such as a line break. */
bool conf_has_control(const char *text);

size_t conf_warnings(const struct conf_doc *doc); /* number of warnings, without notes */

/* Whether the user gave the value at `pointer`, or a value inside it. A map counts as
 * one value, and so does a list that has no objects: `pointer` must not lead into them. */
bool conf_given(const struct conf_doc *doc, const char *pointer);

/* Prints all messages in the order of their places: the errors or, if there are none, the warnings
 * and notes. Each takes one or more lines, FILE:LINE:COLUMN: /pointer: message. With `json` they
 * are an array of {file,line,column,pointer,severity,message}. */
void conf_print_errors(const struct conf_doc *doc, FILE *to, bool json);
/* Prints the messages of several documents as one such array. */
void conf_print_errors_json(const struct conf_doc *const *docs, size_t count, FILE *to);

/* Stores error or warning number `index`, from 0, in the order in which they were found; false
 * after the last. Only the first 100 messages are kept. For callers whose overrides come from
 * another file, such as the axes of a plan, and who report the place there. */
struct conf_mistake {
	const char *pointer, *text; /* owned by the document */
	size_t override; /* number, from 1, of the override with the error; 0: the file */
};
bool conf_mistake(const struct conf_doc *doc, size_t index, struct conf_mistake *mistake);
bool conf_warning(const struct conf_doc *doc, size_t index, struct conf_mistake *mistake);

/* The resolved document: every key with its value. conf_resolved_json() returns JSON text (caller
 * frees) that, parsed again, resolves to itself. conf_explain() prints one line per value: pointer,
 * value with unit, and where it came from (file:line, command line, default and its source). With
 * `json` it prints an array with an object per value. */
char *conf_resolved_json(const struct conf_doc *doc, bool pretty);
void conf_explain(const struct conf_doc *doc, FILE *to, bool json);

/* Leaves the value at `pointer`, and all values inside it, out of conf_explain() and of
 * conf_given(). */
void conf_leave_out(struct conf_doc *doc, const char *pointer);

/* Hash of the resolved document (not of the text): for the manifest. */
uint64_t conf_resolved_hash(const struct conf_doc *doc);

/* Prints the JSON Schema (2020-12) of a table. */
void conf_schema(const struct conf_table *table, const char *title, FILE *to);

/* The choice nearest to a wrong word ("did you mean"); NULL if none is near. `choices` ends with
 * NULL. */
const char *conf_suggest(const char *word, const char *const *choices);

#endif
