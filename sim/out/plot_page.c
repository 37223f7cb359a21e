#include "out/plot_page.h"

#include "base/mem.h"
#include "out/folder.h"
#include "out/number.h"
#include "out/result_read.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHELL_NOT_FOUND 127 /* exit status of sh for a command that is not there */
#define MESSAGE_MAX     2000
#define DUMB_COLUMNS    79
#define SCREEN_LETTERS  80   /* of a title in a figure of PLOT_WIDTH */
#define PRINT_LETTERS   14.5 /* of a title in an inch of paper, at 8 points */
#define PRINT_DPI       300
#define DUMB_ROWS       24 /* of a figure of the usual height */

struct term {
	const char *name;
	const char *suffix;
	const char *end; /* stands in the last bytes of a whole file; NULL: text, nothing does */
};

static const struct term terms[] = { { "png", "png", "IEND" },
				     { "svg", "svg", "</svg>" },
				     { "pdf", "pdf", "%%EOF" },
				     { "dumb", "txt", NULL } };

static const struct term *term_of(const struct plot_page *page)
{
	for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
		if (strcmp(terms[i].name, page->options->term) == 0)
			return &terms[i];
	return NULL;
}

const char *plot_colour(size_t index)
{
	static const char *const palette[PLOT_COLOURS] = {
		"#0072b2", "#d55e00", "#009e73", "#cc79a7",
		"#e69f00", "#56b4e9", "#f0e442", "#000000",
	};
	return palette[index % PLOT_COLOURS];
}

void plot_curve_style(FILE *script, size_t index)
{
	fprintf(script, "lt %zu dt %zu lw 2 lc rgb '%s'", index % PLOT_COLOURS + 1, index % 5 + 1,
		plot_colour(index));
}

/* Marks that differ in shape and in being filled. */
void plot_mark_style(FILE *script, size_t index)
{
	static const int marks[] = { 7, 4, 9, 10, 5, 6, 13, 8 };
	fprintf(script, "lt %zu pt %d ps 1.3 lw 2 lc rgb '%s'", index % PLOT_COLOURS + 1,
		marks[index % (sizeof marks / sizeof *marks)], plot_colour(index));
}

void plot_line_style(FILE *script, size_t index)
{
	plot_mark_style(script, index);
	fprintf(script, " dt %zu", index % 5 + 1);
}

/* Full, hatched and pale in turn: neighbours differ without colour. */
void plot_bar_style(FILE *script, size_t index)
{
	static const char *const fills[] = { "solid 1", "pattern 4", "solid 0.4", "pattern 5",
					     "pattern 2" };
	fprintf(script, "lt %zu lc rgb '%s' fs %s border rgb '#303030'", index + 1,
		plot_colour(index), fills[index % (sizeof fills / sizeof *fills)]);
}

bool plot_is_dumb(const struct plot_page *page)
{
	return strcmp(page->options->term, "dumb") == 0;
}

/* ---- Tables ---- */

/* A run leaves out the tables that would be empty. */
static const struct {
	const char *file, *why;
} missing[] = {
	{ "flows.csv", "there is no flows.csv, as after a run without flows" },
	{ "jobs.csv", "there is no jobs.csv, as after a run without jobs" },
	{ "iterations.csv", "there is no iterations.csv, as after a run without jobs" },
	{ "links.csv", "there is no links.csv" },
	{ "series/network.csv",
	  "there is no series/network.csv; scenarios ask for it by \"every\" of output.series" },
	{ "series/links.csv",
	  "there is no series/links.csv; scenarios ask for it by \"links\" of output.series" },
};

static const char *why_missing(const char *file)
{
	for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
		if (strcmp(missing[i].file, file) == 0)
			return missing[i].why;
	return "there is no such table";
}

struct csv *plot_table(struct plot_page *page, const char *file)
{
	struct csv *csv = result_table(page->dir, file, &page->error);
	if (csv == NULL && page->error == NULL)
		page->why = why_missing(file);
	return csv;
}

enum plot_outcome plot_without(const struct plot_page *page)
{
	return page->error == NULL ? PLOT_NO_DATA : PLOT_FAILED;
}

enum plot_outcome plot_table_end(struct plot_page *page, struct csv *csv)
{
	return csv_close(csv, &page->error) ? PLOT_DRAWN : PLOT_FAILED;
}

/* ---- Text ---- */

void plot_quote(FILE *script, const char *text)
{
	putc('\'', script);
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;
		if (c == '\'') /* '' is a quote too, but not where the text starts */
			fputs("'.\"'\".'", script);
		else
			putc(c < 0x20 || c == 0x7f ? ' ' : c, script);
	}
	putc('\'', script);
}

void plot_comment(FILE *data, const char *text)
{
	for (; *text != '\0'; text++)
		putc((unsigned char)*text < 0x20 ? ' ' : *text, data);
}

size_t plot_columns(const struct plot_page *page)
{
	if (plot_is_dumb(page))
		return page->options->dumb_columns > 0 ? (size_t)page->options->dumb_columns
						       : DUMB_COLUMNS;
	return page->options->width_in > 0 ? (size_t)(page->options->width_in * PRINT_LETTERS)
					   : SCREEN_LETTERS;
}

/* Quoted, on as many lines as it needs, broken at blanks. */
static void quote_wrapped(const struct plot_page *page, const char *text, size_t width)
{
	char *copy = xstrdup(text), *rest = copy;
	while (strlen(rest) > width) {
		char *cut = rest + width;
		while (cut > rest && *cut != ' ')
			cut--;
		if (cut == rest)
			break;
		*cut = '\0';
		plot_quote(page->script, rest);
		fputs(".\"\\n\".", page->script);
		rest = cut + 1;
	}
	plot_quote(page->script, rest);
	free(copy);
}

void plot_label(struct plot_page *page, const char *axis, const char *text)
{
	double room = (double)plot_columns(page) * (*axis == 'x' ? 1 : 0.9 * page->shape);
	fprintf(page->script, "set %slabel ", axis);
	quote_wrapped(page, text, (size_t)room);
	putc('\n', page->script);
}

void plot_title(struct plot_page *page, const char *title, const char *fmt, ...)
{
	char second[600];
	va_list args;
	va_start(args, fmt);
	vsnprintf(second, sizeof second, fmt, args);
	va_end(args);
	/* gnuplot sets a title below a key that is above the plot; hence this. */
	fputs("set key title ", page->script);
	quote_wrapped(page, title, plot_columns(page));
	fputs(".\"\\n\".", page->script);
	quote_wrapped(page, second, plot_columns(page));
	if (!plot_is_dumb(page)) /* some air above the key, where lines are not scarce */
		fputs(".\"\\n \"", page->script);
	putc('\n', page->script);
}

char *plot_thousands(char *buffer, uint64_t value)
{
	char digits[NUMBER_TEXT];
	size_t count = number_u64(digits, value);
	char *p = buffer;
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && (count - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = '\0';
	return buffer;
}

void plot_real(FILE *data, double value)
{
	char text[NUMBER_TEXT];
	number_real(text, value);
	fputs(text, data);
}

const char *plot_time_unit(double end_s, double *scale)
{
	static const struct {
		double scale;
		const char *name;
	} units[] = { { 1, "s" }, { 1e3, "ms" }, { 1e6, "µs" }, { 1e9, "ns" } };
	size_t i = 0;
	while (i < 3 && end_s * units[i].scale < 1)
		i++;
	*scale = units[i].scale;
	return units[i].name;
}

void plot_log_axis(struct plot_page *page, char axis, double low, double high)
{
	static const int steps[] = { 1, 2, 5 };
	bool dense = high / low < 300;
	int first = (int)floor(log10(low)), last = (int)ceil(log10(high));
	const char *separator = "";
	fprintf(page->script, "set logscale %c\nset %ctics (", axis, axis);
	for (int power = first; power <= last; power++) {
		for (size_t i = 0; i < (dense ? 3 : 1); i++) {
			fprintf(page->script, "%s%de%d", separator, steps[i], power);
			separator = ", ";
		}
	}
	fputs(")\n", page->script);
}

/* ---- Files ---- */

static char *path_of(const struct plot_page *page, const char *suffix)
{
	return xasprintf("%s/%s.%s", page->folder, page->name, suffix);
}

static FILE *open_output(struct plot_page *page, const char *suffix)
{
	char *path = path_of(page, suffix);
	FILE *file = NULL;
	if (folder_make_parents(path))
		file = fopen(path, "w");
	if (file == NULL)
		page->error = xasprintf("cannot write %s: %s", path, strerror(errno));
	free(path);
	return file;
}

/* For a screen: pixels; pdf in inches, in the same proportions. */
static void set_screen(FILE *script, const char *term, int width, int height)
{
	if (strcmp(term, "pdf") == 0)
		fprintf(script, "pdfcairo size %.2fin,%.2fin noenhanced font 'Sans,12'",
			width / 125.0, height / 125.0);
	else
		fprintf(script, "%s size %d,%d noenhanced font 'Sans,14' background '#ffffff'",
			strcmp(term, "svg") == 0 ? "svg" : "pngcairo", width, height);
}

/* For paper: letters of 8 points, as captions have, whatever the width; lines and
 * marks shrink with them. The cairo terminals take a point for 1/72 inch of a screen
 * with 96 dots an inch, hence their scales. */
static void set_print(FILE *script, const char *term, double width, double height)
{
	if (strcmp(term, "pdf") == 0)
		fprintf(script,
			"pdfcairo size %.3fin,%.3fin noenhanced font 'Sans,8' linewidth 0.8 "
			"fontscale 0.75",
			width, height);
	else if (strcmp(term, "svg") == 0) /* a CSS inch has 96 pixels, a point is 4/3 */
		fprintf(script,
			"svg size %.0f,%.0f noenhanced font 'Sans,10.7' linewidth 0.8 "
			"background '#ffffff'",
			width * 96, height * 96);
	else
		fprintf(script,
			"pngcairo size %.0f,%.0f noenhanced font 'Sans,8' fontscale %.2f "
			"linewidth 2 pointscale 2 background '#ffffff'",
			width * PRINT_DPI, height * PRINT_DPI, PRINT_DPI / 96.0);
}

/* A narrow figure is higher for its width, because titles and legend take more
 * lines. */
static double shape_of(const struct plot_options *options, int width, int height)
{
	if (options->width_in > 0 && options->height_in > 0)
		return options->height_in / options->width_in;
	bool narrow = options->width_in > 0 && options->width_in < 5;
	return (narrow ? 1.4 : 1) * height / width;
}

static void set_term(const struct plot_page *page, int width, int height)
{
	const struct term *term = term_of(page);
	const struct plot_options *options = page->options;
	fputs("set terminal ", page->script);
	if (plot_is_dumb(page))
		fprintf(page->script, "dumb size %d,%d noenhanced mono",
			options->dumb_columns > 0 ? options->dumb_columns : DUMB_COLUMNS,
			options->dumb_rows > 0 ? options->dumb_rows
					       : DUMB_ROWS * height / PLOT_HEIGHT);
	else if (options->width_in > 0)
		set_print(page->script, term->name, options->width_in,
			  options->width_in * page->shape);
	else
		set_screen(page->script, term->name, width, height);
	fprintf(page->script, "\nset output '%s.%s'\n", page->name, term->suffix);
}

enum plot_outcome plot_page_open(struct plot_page *page, int width, int height)
{
	page->data = open_output(page, "dat");
	if (page->data == NULL)
		return PLOT_FAILED;
	page->script = open_output(page, "gp");
	if (page->script == NULL)
		return PLOT_FAILED;
	fprintf(page->script, "# Redraw with: gnuplot -d %s.gp\nset encoding utf8\n", page->name);
	page->shape = shape_of(page->options, width, height);
	set_term(page, width, height);
	if (!plot_is_dumb(page))
		fputs("set grid back lt 1 dt 1 lw 1 lc rgb '#e0e0e0'\n"
		      "set tics scale 0.6 tc rgb '#303030'\n"
		      "set border 3 lw 1.2 lc rgb '#808080'\n",
		      page->script);
	/* Above the plot, where no curve can run through it. */
	fputs(plot_is_dumb(page) ? "set key tmargin center horizontal\n"
				 : "set key tmargin center horizontal Left reverse samplen 3 "
				   "tc rgb '#303030'\n",
	      page->script);
	fputs("set border 3\n"
	      "set tics nomirror out\n"
	      "set micro\n"
	      "set pointintervalbox 0\n" /* no white patch where an error bar meets a bar */
	      "set datafile missing 'nan'\n"
	      "set style fill solid 1 noborder\n",
	      page->script);
	return PLOT_DRAWN;
}

static bool close_output(struct plot_page *page, FILE **file, const char *suffix)
{
	if (*file == NULL)
		return true;
	errno = 0; /* of an earlier write that failed, the reason is no longer known */
	bool ok = fflush(*file) == 0 && ferror(*file) == 0;
	int reason = errno;
	ok = fclose(*file) == 0 && ok;
	*file = NULL;
	if (!ok && page->error == NULL)
		page->error = xasprintf("cannot write %s/%s.%s: %s", page->folder, page->name,
					suffix, reason ? strerror(reason) : "a write failed");
	return ok;
}

/* ---- gnuplot ---- */

/* "cd FOLDER && gnuplot NAME.gp", FOLDER quoted for the shell. "./" keeps a
 * relative FOLDER from CDPATH and from looking like an option. The caller frees. */
static char *command_of(const struct plot_page *page)
{
	char *quoted = xmalloc(4 * strlen(page->folder) + 1);
	char *q = quoted;
	for (const char *p = page->folder; *p != '\0'; p++) {
		if (*p == '\'') {
			memcpy(q, "'\\''", 4);
			q += 4;
		} else {
			*q++ = *p;
		}
	}
	*q = '\0';
	char *command = xasprintf("cd '%s%s' && exec gnuplot -d %s.gp 2>&1",
				  *page->folder == '/' ? "" : "./", quoted, page->name);
	free(quoted);
	return command;
}

/* Runs it; returns its exit status, -1 if it did not end by itself. What it
 * says goes to `said` (of MESSAGE_MAX bytes). */
static int run(const char *command, char *said)
{
	said[0] = '\0';
	FILE *pipe = popen(command, "r");
	if (pipe == NULL)
		return -1;
	size_t length = fread(said, 1, MESSAGE_MAX - 1, pipe);
	said[length] = '\0';
	char rest[256];
	while (fread(rest, 1, sizeof rest, pipe) > 0)
		; /* so that gnuplot is not stopped by a full pipe */
	while (length > 0 && said[length - 1] == '\n')
		said[--length] = '\0';
	int status = pclose(pipe);
	return status != -1 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Is the figure there, to its end? On a full disk gnuplot's drivers leave a part of it, and
 * gnuplot ends with 0. */
static bool is_whole(const char *figure, const char *end)
{
	char tail[16];
	FILE *file = fopen(figure, "rb");
	if (file == NULL)
		return false;
	if (fseek(file, -(long)sizeof tail, SEEK_END) != 0)
		rewind(file); /* it is shorter */
	size_t length = fread(tail, 1, sizeof tail, file);
	size_t wanted = end == NULL ? 1 : strlen(end);
	fclose(file);
	for (size_t i = 0; i + wanted <= length; i++)
		if (end == NULL || memcmp(tail + i, end, wanted) == 0)
			return true;
	return false;
}

static bool draw(struct plot_page *page, const char *figure)
{
	char said[MESSAGE_MAX];
	char *command = command_of(page);
	unlink(figure); /* an old one must not pass for the new one */
	int status = run(command, said);
	free(command);
	if (status == SHELL_NOT_FOUND)
		page->error = xasprintf("figures need gnuplot, which is not installed or not in "
					"PATH (Debian: gnuplot-nox)");
	else if (status != 0)
		page->error = xasprintf("gnuplot failed on %s/%s.gp: %s", page->folder, page->name,
					*said != '\0' ? said : "it says nothing");
	else if (!is_whole(figure, term_of(page)->end))
		page->error = xasprintf("gnuplot made no whole %s: %s", figure,
					*said != '\0' ? said : "it says nothing");
	if (page->error != NULL)
		unlink(figure); /* a part must not pass for the whole */
	return page->error == NULL;
}

/* Hands the figure out: its path, or its text when it is made of text. */
static bool show(struct plot_page *page, const char *figure, FILE *to)
{
	if (!plot_is_dumb(page)) {
		fprintf(to, "%s\n", figure);
		return true;
	}
	FILE *text = fopen(figure, "r");
	if (text == NULL) {
		page->error = xasprintf("cannot read %s: %s", figure, strerror(errno));
		return false;
	}
	char line[1024];
	while (fgets(line, sizeof line, text) != NULL)
		fputs(line + (line[0] == '\f'), to); /* gnuplot's form feed */
	fclose(text);
	unlink(figure);
	return true;
}

enum plot_outcome plot_page_render(struct plot_page *page, enum plot_outcome outcome, FILE *to)
{
	bool closed = close_output(page, &page->data, "dat");
	closed = close_output(page, &page->script, "gp") && closed;
	if (outcome != PLOT_DRAWN)
		return outcome;
	char *figure = path_of(page, term_of(page)->suffix);
	bool ok = closed && draw(page, figure) && show(page, figure, to);
	free(figure);
	return ok ? PLOT_DRAWN : PLOT_FAILED;
}
