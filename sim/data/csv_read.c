#include "data/csv_read.h"

#include "base/fail.h"
#include "base/input.h"
#include "base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_BUFFER (256 * 1024)
#define LARGEST     (UINT64_C(4) << 30) /* bytes of a file */
#define LONGEST_ROW ((size_t)64 << 20)

struct csv {
	char *path;
	FILE *file;
	char *error;       /* the first one, or NULL */
	uint64_t line;     /* being read, from 1 */
	uint64_t row_line; /* on which the current row starts */
	uint64_t rows;     /* read so far, without the header line */
	const char *who;   /* file that says how many rows there are, or NULL */
	uint64_t expected; /* rows, as `who` says */
	bool cut;          /* the row just read ended with the file */
	char **names;      /* of the columns */
	bool *asked;       /* by column: csv_find() or csv_need() has found it */
	size_t columns;

	/* The current row: all cells one after the other, each terminated. */
	char *text;
	size_t length, capacity;
	size_t *cells; /* offsets into text */
	size_t count, cells_capacity;
};

static void fail_at(struct csv *csv, uint64_t line, const char *what)
{
	if (!csv->error)
		csv->error = xasprintf("%s:%" PRIu64 ": %s", csv->path, line, what);
}

static void put(struct csv *csv, int c)
{
	if (csv->length == LONGEST_ROW)
		fail_at(csv, csv->row_line, "a row of more than 64 MiB");
	csv->text = array_reserve(csv->text, csv->length, &csv->capacity, 1);
	csv->text[csv->length++] = (char)c;
}

/* Returns the next character; EOF after an error, so that every loop ends. */
static int get(struct csv *csv)
{
	int c = csv->error ? EOF : getc_unlocked(csv->file);

	if (c == '\n')
		csv->line++;
	else if (!c)
		fail_at(csv, csv->line, "a zero byte: not a text file");
	return c;
}

/* Reads a cell in quotes, behind the opening one; returns the character after the closing one. */
static int read_quoted(struct csv *csv)
{
	uint64_t start = csv->line;

	for (;;) {
		int c = get(csv);

		if (c == EOF) {
			fail_at(csv, start, "a quote is never closed");
			return c;
		}
		if (c != '"') {
			put(csv, c);
			continue;
		}
		c = get(csv);
		if (c != '"')
			return c;
		put(csv, c);
	}
}

static int read_plain(struct csv *csv, int c)
{
	for (; c != ',' && c != '\n' && c != '\r' && c != EOF; c = get(csv)) {
		if (c == '"')
			fail_at(csv, csv->line,
				"a quote inside a cell that does not start with one");
		put(csv, c);
	}
	return c;
}

/* Skips the apostrophe that the writer puts before what would be a formula (csv_write.h). */
static void skip_apostrophe(struct csv *csv)
{
	const char *text = csv->text + csv->cells[csv->count - 1];
	char first = text[strspn(text, "'")];

	if (*text == '\'' && first && strchr("=+-@", first))
		csv->cells[csv->count - 1]++;
}

/* Reads a cell from its first character on; returns what ended it: ',', '\n' or EOF. */
static int read_cell(struct csv *csv, int c)
{
	uint64_t line;
	bool quoted;

	csv->cells =
		array_reserve(csv->cells, csv->count, &csv->cells_capacity, sizeof(*csv->cells));
	csv->cells[csv->count++] = csv->length;
	line = csv->line;
	quoted = c == '"';
	c = quoted ? read_quoted(csv) : read_plain(csv, c);
	put(csv, '\0');
	skip_apostrophe(csv);
	if (c == '\r') {
		c = get(csv);
		if (c != '\n' && c != EOF)
			fail_at(csv, line, "a carriage return inside the line");
	} else if (c != ',' && c != '\n' && c != EOF) {
		fail_at(csv, line, "text after a closing quote");
	}
	return c;
}

/* Checks what csv_expect() asked for. */
static void check_end(struct csv *csv)
{
	char *what = NULL;

	if (csv->who && csv->rows != csv->expected)
		what = xasprintf("ends after %" PRIu64 " rows, %s says %" PRIu64
				 ": cut off or changed since",
				 csv->rows, csv->who, csv->expected);
	else if (csv->who && csv->cut)
		what = xasprintf("the last line has no end: cut off or changed since");
	if (what)
		fail_at(csv, csv->row_line, what);
	free(what);
}

/* Reads the next line that is not empty; false at the end and on errors. */
static bool read_row(struct csv *csv)
{
	if (csv->error)
		return false;
	int c;

	do {
		csv->row_line = csv->line;
		c = get(csv);
	} while (c == '\n' || c == '\r');
	if (c == EOF && ferror(csv->file))
		fail_at(csv, csv->line, strerror(errno));
	if (c == EOF) {
		check_end(csv);
		return false;
	}
	csv->length = 0;
	csv->count = 0;
	c = read_cell(csv, c);
	while (c == ',' && !csv->error)
		c = read_cell(csv, get(csv));
	if (c == EOF && ferror(csv->file))
		fail_at(csv, csv->line, strerror(errno));
	csv->cut = c == EOF;
	return !csv->error;
}

static void skip_byte_order_mark(struct csv *csv)
{
	static const unsigned char mark[] = { 0xef, 0xbb, 0xbf };
	unsigned char start[sizeof(mark)];

	if (fread(start, 1, sizeof(start), csv->file) != sizeof(start) ||
	    memcmp(start, mark, sizeof(mark)))
		rewind(csv->file);
}

static void read_header(struct csv *csv)
{
	if (!read_row(csv)) {
		fail_at(csv, 1, "no header line");
		return;
	}
	csv->names = xcalloc(csv->count, sizeof(*csv->names));
	csv->asked = xcalloc(csv->count, sizeof(*csv->asked));
	for (size_t i = 0; i < csv->count; i++) {
		const char *name = csv->text + csv->cells[i];

		if (!*name)
			fail_at(csv, csv->row_line, "a column without name");
		if (csv_find(csv, name) >= 0)
			fail_at(csv, csv->row_line, "two columns of the same name");
		csv->names[csv->columns++] = xstrdup(name);
	}
}

struct csv *csv_open(const char *path, char **error)
{
	FILE *file = input_open(path, LARGEST);
	struct csv *csv;

	if (!file) {
		*error = xasprintf("cannot read %s: %s", path, input_why(errno));
		return NULL;
	}
	setvbuf(file, NULL, _IOFBF, READ_BUFFER);
	csv = xcalloc(1, sizeof(*csv));
	csv->path = xstrdup(path);
	csv->file = file;
	csv->line = 1;
	skip_byte_order_mark(csv);
	read_header(csv);
	if (!csv->error)
		return csv;
	csv_close(csv, error);
	return NULL;
}

bool csv_close(struct csv *csv, char **error)
{
	bool ok = !csv->error;

	if (!ok)
		*error = csv->error;
	fclose(csv->file);
	for (size_t i = 0; i < csv->columns; i++)
		free(csv->names[i]);
	free(csv->names);
	free(csv->asked);
	free(csv->text);
	free(csv->cells);
	free(csv->path);
	free(csv);
	return ok;
}

int csv_find(const struct csv *csv, const char *name)
{
	for (size_t i = 0; i < csv->columns; i++) {
		if (strcmp(csv->names[i], name))
			continue;
		csv->asked[i] = true;
		return (int)i;
	}
	return -1;
}

char *csv_unread(const struct csv *csv)
{
	char *list = NULL;

	for (size_t i = 0; i < csv->columns; i++) {
		if (csv->asked[i])
			continue;
		char *longer =
			!list ? xstrdup(csv->names[i]) : xasprintf("%s, %s", list, csv->names[i]);

		free(list);
		list = longer;
	}
	return list;
}

size_t csv_columns(const struct csv *csv)
{
	return csv->columns;
}

int csv_need(struct csv *csv, const char *name)
{
	int column = name ? csv_find(csv, name) : -1;

	if (name && column < 0 && !csv->error)
		csv->error = xasprintf("%s: no column %s", csv->path, name);
	return column;
}

bool csv_next(struct csv *csv)
{
	if (!read_row(csv))
		return false;
	csv->rows++;
	if (csv->count == csv->columns)
		return true;
	char *what = xasprintf("%zu cells, the header line has %zu", csv->count, csv->columns);

	fail_at(csv, csv->row_line, what);
	free(what);
	return false;
}

void csv_expect(struct csv *csv, uint64_t rows, const char *who)
{
	csv->expected = rows;
	csv->who = who;
}

uint64_t csv_line(const struct csv *csv)
{
	return csv->row_line;
}

const char *csv_text(const struct csv *csv, int column)
{
	SIM_BUG_ON(column < 0 || (size_t)column >= csv->count);
	return csv->text + csv->cells[column];
}

bool csv_empty(const struct csv *csv, int column)
{
	return !*csv_text(csv, column);
}

void csv_complain(struct csv *csv, int column, const char *what)
{
	SIM_BUG_ON(column < 0 || (size_t)column >= csv->columns);
	if (!csv->error)
		csv->error =
			xasprintf("%s:%" PRIu64 ": column %s: \"%s\" %s", csv->path, csv->row_line,
				  csv->names[column], csv_text(csv, column), what);
}

uint64_t csv_u64(struct csv *csv, int column)
{
	const char *text = csv_text(csv, column);
	uint64_t value = 0;
	bool ok = *text;

	for (const char *p = text; *p && ok; p++)
		ok = *p >= '0' && *p <= '9' && !__builtin_mul_overflow(value, 10, &value) &&
		     !__builtin_add_overflow(value, (uint64_t)(*p - '0'), &value);
	if (ok)
		return value;
	csv_complain(csv, column, "is not a whole number of 64 bits");
	return 0;
}

double csv_real(struct csv *csv, int column)
{
	const char *text = csv_text(csv, column);
	/* strtod() alone would also take blanks, hexadecimal and "nan". */
	bool plain = *text && !text[strspn(text, "0123456789+-.eE")];
	char *end = NULL;
	double value = plain ? strtod(text, &end) : 0;

	if (plain && !*end && end != text && value - value == 0) /* not infinite */
		return value;
	csv_complain(csv, column, "is not a number");
	return 0;
}

bool csv_flag(struct csv *csv, int column)
{
	const char *text = csv_text(csv, column);
	bool ok = (*text == '0' || *text == '1') && !text[1];

	if (!ok)
		csv_complain(csv, column, "is neither 0 nor 1");
	return ok && *text == '1';
}
