/* From a JSON text to typed structs: the only way user input enters inasim.
 *
 * Every key a user may write is a row of a table: name, type, bounds, default, help, source of the
 * default (README.md has an example). Validation, the resolved dump (`explain`), the JSON Schema
 * (`schema`) and the struct that the code reads all come from the rows.
 *
 * All mistakes are collected, each with file:line:column, the JSON pointer, what was found and what
 * is allowed; the caller prints them and exits with code 3. Keys that start with '_' are comments,
 * everywhere. Unknown keys and duplicate keys are errors. `null` is never a value.
 *
 * A struct conf_doc owns the text, the positions, the messages and every string, list and
 * sub-struct that the rows filled in; conf_doc_free() releases them all. Filled structs must not
 * outlive their document. A struct is zeroed first; after an error it is filled in part and not to
 * be used. */
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
	CONF_OBJECT, /* a struct filled by table; `apart`: the field is a pointer to it */
	CONF_LIST,   /* struct conf_list; item describes its items; bounds min..max on the count */
	CONF_ONEOF,  /* one of the rows ("alternatives") of table, see below */
	CONF_MAP,    /* struct conf_map: an object whose keys are free; item describes its values;
		      * bounds min..max on the count */
	CONF_JSON,   /* const char *: any value, as compact JSON text that reads back the same */
};

/* CONF_ONEOF: a value that may have several forms. The rows of `table` are its alternatives.
 * - The name of an alternative is for the reader; it is no key. Its `def` is ignored.
 * - Its offset counts from the same struct as that of the ONEOF row. If the ONEOF is the item of a
 *   list or map, it counts from the item, whose size is table->size. Elsewhere table->size is not
 *   used.
 * - The index of the alternative that was taken is stored as int at `tag`; the `present` of that
 *   alternative is set.
 *
 * The JSON shape of the value (object, array, string, number, boolean) chooses the alternative.
 * Where several have that shape:
 * - objects: the first that knows all keys, else the only one that knows any;
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
	size_t tag;                     /* ONEOF: offset of the int that says which was taken */
	size_t present;                 /* 0, or 1 + offset of a bool: "the user gave this key" */
	const char *def;    /* default: JSON, or a bare string; CONF_REQUIRED; CONF_OPTIONAL */
	const char *help;   /* one sentence */
	const char *source; /* of the default: paper and section, RFC, "our choice" */
};

/* `def` of a row without default. CONF_REQUIRED: the key must be there. CONF_OPTIONAL: the key may
 * be missing; its field is then all zero, and only `present` tells that from a zero of the user. An
 * OBJECT row with def "{}" is filled from the defaults of its own table. */
#define CONF_REQUIRED NULL
extern const char conf_optional[];
#define CONF_OPTIONAL conf_optional

/* Constructors of rows: CONF_TYPE(key, struct, field, default, WHAT, help[, source[, members]]).
 * WHAT is the bounds, the choices or the table; members are any others of the row, such as
 * `.present = CONF_GIVEN(struct x, k_given)`. (`source` needs no name: it is the member of the
 * struct behind `help`.) CONF_GROUP is an object in JSON whose fields stand in the same struct.
 * CONF_APART is for a struct that is an array of pointers: it fills number `index`. Its help is the
 * table's. */
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

/* Another kind of document that users may confuse with this one. It is recognised by a key that it
 * has at its top and one that it lacks there. */
struct conf_other_kind {
	const char *has, *lacks;
	const char *message; /* the only one that such a document gets */
};

/* A key that has been renamed: the old name is an error, whose message tells the new one. */
struct conf_rename {
	const char *old, *now;
};

struct conf_table {
	const char *name;            /* of the definition in the schema, and for messages */
	const struct conf_row *rows; /* ends with a row without name */
	size_t size;                 /* of the struct */
	const char *help;
	const struct conf_other_kind *other; /* of a whole document; NULL = none */
	const struct conf_rename *renamed;   /* ends with one without `old`; NULL = none */
};

struct conf_doc;

/* `--set /pointer=value`: value is JSON, or, if it does not parse, a string. */
struct conf_override {
	const char *pointer;
	const char *value;
};

/* Reads a document and fills `out`. Always returns a document; look at conf_errors(). `name` stands
 * in messages for the file. With NULL `out` everything is checked and the struct thrown away.
 * conf_load() reads a file; an unreadable one is an error with conf_io_error() true. */
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
conf_path(const struct conf_doc *doc); /* as given; files that it names are relative to it */
bool conf_io_error(const struct conf_doc *doc);
size_t conf_errors(const struct conf_doc *doc);

/* Adds a message at a JSON pointer such as "/jobs/0/workers". Its place is that of the value or,
 * where a default stands, of the nearest parent in the file. Warnings and notes are only for a
 * document without errors; conf_mistake() does not return them. */
enum conf_severity {
	CONF_ERROR,
	CONF_WARNING, /* the value is legal, probably a mistake */
	CONF_NOTE,    /* the run does what was meant, but not what a reader would guess */
};
void conf_say(struct conf_doc *doc, enum conf_severity severity, const char *pointer,
	      const char *fmt, ...) __attribute__((format(printf, 4, 5)));
#define conf_error(doc, pointer, ...) conf_say(doc, CONF_ERROR, pointer, __VA_ARGS__)
#define conf_warn(doc, pointer, ...)  conf_say(doc, CONF_WARNING, pointer, __VA_ARGS__)
#define conf_note(doc, pointer, ...)  conf_say(doc, CONF_NOTE, pointer, __VA_ARGS__)

/* A JSON pointer built as by printf(), which lives as long as the document:
 * conf_at(doc, "/jobs/%zu", i). */
const char *conf_at(struct conf_doc *doc, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

size_t conf_warnings(const struct conf_doc *doc); /* without the notes */

/* The user gave the value at `pointer`, or one inside it. */
bool conf_given(const struct conf_doc *doc, const char *pointer);

/* All messages (errors or, without any, warnings and notes) in the order of their places. Each is
 * one or more lines, FILE:LINE:COLUMN: /pointer: message; with json they are an array of
 * {file,line,column,pointer,severity,message}. */
void conf_print_errors(const struct conf_doc *doc, FILE *to, bool json);
/* The messages of several documents in one such array. */
void conf_print_errors_json(const struct conf_doc *const *docs, size_t count, FILE *to);

/* The errors one by one, in the order in which they were found; false behind the last one. (Only
 * the first 100 messages are kept.) For callers that built the overrides from something that the
 * user wrote elsewhere, such as the axes of a plan, and can report that position instead. */
struct conf_mistake {
	const char *pointer, *text; /* owned by the document */
	size_t override;            /* number of the override that it is in, from 1; 0: the file */
};
bool conf_mistake(const struct conf_doc *doc, size_t index, struct conf_mistake *mistake);

/* The resolved document: every key with its value. conf_resolved_json() returns JSON text (caller
 * frees) that, parsed again, resolves to itself. conf_explain() prints one line per value: pointer,
 * value with unit, and where it came from (file:line, command line, default and its source). */
char *conf_resolved_json(const struct conf_doc *doc, bool pretty);
void conf_explain(const struct conf_doc *doc, FILE *to, bool json);

/* Keeps this pointer and what is below it out of conf_explain(). */
void conf_leave_out(struct conf_doc *doc, const char *pointer);

/* Hash of the resolved document (not of the text): for the manifest. */
uint64_t conf_resolved_hash(const struct conf_doc *doc);

/* JSON Schema 2020-12 of a table. */
void conf_schema(const struct conf_table *table, const char *title, FILE *to);

/* Finds the choice nearest to a wrong word ("did you mean"), or NULL. */
const char *conf_suggest(const char *word, const char *const *choices);

#endif
