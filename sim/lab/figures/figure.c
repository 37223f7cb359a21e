#include "lab/figures/figure.h"

#include "base/mem.h"
#include "base/plain.h"
#include "conf/json_text.h"
#include "lab/figures/gnuplot.h"
#include "data/folder.h"
#include "data/number.h"
#include "data/tex.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TIC_BYTES 45 /* gnuplot cuts tic labels at 49 bytes, even inside a letter of UTF-8 */

static const struct term {
	const char *name, *suffix;
	const char *end; /* the last bytes of a complete picture contain this; "" for text */
} terms[] = { { "png", "png", "IEND" },  { "svg", "svg", "</svg>" },     { "pdf", "pdf", "%%EOF" },
	      { "eps", "eps", "%%EOF" }, { "tikz", "tex", "variables" }, { "dumb", "dumb", "" } };

static const struct term *term_of(const struct plot_options *options)
{
	for (size_t i = 0; i < sizeof(terms) / sizeof(*terms); i++)
		if (!strcmp(terms[i].name, options->term))
			return &terms[i];
	return NULL;
}

char *figure_no_terminal(const struct plot_options *options)
{
	return term_of(options)
		       ? NULL
		       : xasprintf("--term takes png, svg, pdf, eps, tikz or dumb; found \"%s\"",
				   options->term);
}

bool plot_size(const char *text, struct plot_options *options)
{
	static const struct {
		const char *name;
		double in_an_inch;
	} units[] = { { "in", 1 }, { "cm", 2.54 }, { "mm", 25.4 } };
	double width, height = 0;
	int used = 0;
	bool both = sscanf(text, "%lfx%lf%n", &width, &height, &used) == 2;

	if (!both && sscanf(text, "%lf%n", &width, &used) != 1)
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(text + used, units[i].name))
			continue;
		options->width_in = width / units[i].in_an_inch;
		options->height_in = height / units[i].in_an_inch;
		return options->width_in >= 1 && options->width_in <= 40 &&
		       (!both || (options->height_in >= 1 && options->height_in <= 40));
	}
	return false;
}

bool plot_font(const char *text, struct plot_options *options)
{
	int name = 0, end = 0;

	return sscanf(text, "%63[A-Za-z0-9 .-]%n,%lf%n", options->font, &name,
		      &options->font_points, &end) >= 1 &&
	       (!text[name] ||
		(end > 0 && !text[end] && options->font_points >= 5 && options->font_points <= 40));
}

char *figure_folder(const struct plot_options *options, const char *dir, char **error)
{
	struct stat there;

	if (options->out)
		return folder_trim(options->out);
	char *folder = folder_join(dir, "figures");

	if (lstat(folder, &there) != 0 || !S_ISLNK(there.st_mode))
		return folder;
	*error = xasprintf("%s is a symbolic link, which figures do not follow; choose another "
			   "folder with --out",
			   folder);
	free(folder);
	return NULL;
}

char *figure_thousands(char *buffer, uint64_t value)
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

/* ---- Words ---- */

char *figure_cut(const char *text, size_t max)
{
	size_t length = strlen(text), half = (max - strlen("…")) / 2;

	if (length <= max)
		return xstrdup(text);
	size_t tail = plain_letter(text, length - half + 3); /* UTF-8: at most 4 bytes a letter */

	return xasprintf("%.*s…%s", (int)plain_letter(text, half), text, text + tail);
}

/* Writes a string for gnuplot, in single quotes: in double quotes gnuplot would run text between
 * backquotes. Tic labels are formats, where a percent sign is written twice. */
static void quote(struct figure *f, const char *words, bool is_format)
{
	FILE *script = f->script;
	char *tex = !strcmp(f->options->term, "tikz") ? tex_text(words) : NULL;
	bool svg = !strcmp(f->options->term, "svg");
	const char *text = tex ? tex : words;

	putc('\'', script);
	while (*text) {
		if (*text == '\'') { /* '' is misread at the start of a text */
			fputs("'.\"'\".'", script);
			text++;
			continue;
		}
		if (svg && !strncmp(text, "]]>", 3)) {
			fputs("]]\u200b", script); /* with a zero-width space: XML forbids "]]>" */
			text += 2;                 /* the ">" is next */
			continue;
		}
		if (is_format && tex && !strncmp(text, "\\%", 2)) {
			fputs("\\symbol{37}", script); /* what is no format is not cut */
			text += 2;
			continue;
		}
		if (*text == '%' && is_format)
			putc('%', script);
		text += conf_utf8_put(script, text);
	}
	putc('\'', script);
	free(tex);
}

/* Writes a text of the table: without line ends, and without double quotes, which would end it. */
static void put_plain(FILE *data, const char *text)
{
	while (*text) {
		if (*text == '"') {
			putc('\'', data);
			text++;
		} else {
			text += conf_utf8_put(data, text);
		}
	}
}

void figure_comment(struct figure *f, char *text)
{
	fputs("# ", f->head);
	put_plain(f->head, text);
	putc('\n', f->head);
	free(text);
}

void figure_text(struct figure *f, const char *variable, const char *text)
{
	fprintf(f->script, "%s = ", variable);
	quote(f, text, false);
	putc('\n', f->script);
}

void figure_text_at(struct figure *f, const char *array, size_t i, const char *text)
{
	fprintf(f->script, "%s[%zu] = ", array, i);
	quote(f, text, false);
	putc('\n', f->script);
}

static void put_real(FILE *to, double value)
{
	char text[NUMBER_TEXT];

	number_real(text, value);
	fputs(isnan(value) ? "NaN" : text, to);
}

/* Ends the line, too. Whole numbers get a point, since gnuplot divides integers as C does. */
static void put_number(FILE *to, double value)
{
	put_real(to, value);
	fputs(value == floor(value) && fabs(value) < 1e15 ? ".0\n" : "\n", to);
}

void figure_real(struct figure *f, const char *variable, double value)
{
	fprintf(f->script, "%s = ", variable);
	put_number(f->script, value);
}

void figure_real_at(struct figure *f, const char *array, size_t i, double value)
{
	fprintf(f->script, "%s[%zu] = ", array, i);
	put_number(f->script, value);
}

void figure_arrays(struct figure *f, size_t size, const char *names)
{
	while (*names) {
		int length = (int)strcspn(names, " ");

		fprintf(f->script, "array %.*s[%zu]\n", length, names, size);
		names += length + (names[length] == ' ');
	}
}

void figure_count(struct figure *f, const char *variable, size_t value)
{
	fprintf(f->script, "%s = %zu\n", variable, value);
}

void figure_title(struct figure *f, const char *title, char *second)
{
	figure_text(f, "TITLE", title);
	figure_text(f, "SUBTITLE", second);
	figure_comment(f, xstrdup(title));
	figure_comment(f, second);
}

void figure_x(struct figure *f, const char *label, const char *unit, bool logarithmic)
{
	figure_text(f, "XLABEL", label);
	fprintf(f->script, "XUNIT = '%s'\nLOGX = %d\n", unit, logarithmic);
}

void figure_panel(struct figure *f, size_t panel, const char *label, const char *unit)
{
	figure_text_at(f, "YLABEL", panel, label);
	fprintf(f->script, "YUNIT[%zu] = '%s'\n", panel, unit);
	if (f->panels > 1)
		figure_comment(f, xasprintf("panel %zu: %s", panel, label));
}

void figure_tics(struct figure *f, char axis, size_t count)
{
	fprintf(f->script, "%cTICKS = %zu\narray %cTICK[%zu]\narray %cTICK_AT[%zu]\n", axis, count,
		axis, count, axis, count);
}

void figure_tic(struct figure *f, char axis, size_t i, const char *label, double at,
		const char *note)
{
	char *shown;

	fprintf(f->script, "%cTICK_AT[%zu] = ", axis, i);
	put_real(f->script, at);
	fprintf(f->script, "; %cTICK[%zu] = ", axis, i);
	shown = figure_cut(label, TIC_BYTES);
	quote(f, shown, true);
	free(shown);
	if (note) {
		fputs(".\"\\n\".", f->script);
		quote(f, note, true);
	}
	putc('\n', f->script);
}

void figure_legend(struct figure *f, size_t curve, size_t look, size_t dash, const char *name)
{
	fprintf(f->script, "LOOK[%zu] = %zu; DASH[%zu] = %zu; LEGEND[%zu] = ", curve, look, curve,
		dash, curve);
	quote(f, name, false);
	putc('\n', f->script);
}

void figure_counted_legend(struct figure *f, size_t curve, size_t look, const char *name,
			   uint64_t count, uint64_t unfinished)
{
	char number[32], other[32];
	char *left = unfinished ? xasprintf(", %s unfinished", figure_thousands(other, unfinished))
				: xstrdup("");
	char *legend = xasprintf("%s (n = %s%s)", name, figure_thousands(number, count), left);

	figure_legend(f, curve, look, look, count || unfinished ? legend : name);
	free(legend);
	free(left);
}

/* ---- Numbers ---- */

static void widen(struct figure_range *range, double value)
{
	range->low = fmin(range->low, value); /* NaN changes nothing */
	range->high = fmax(range->high, value);
}

/* Skips values that a logarithmic y axis cannot show: ends of intervals may be below 0. */
void figure_reach(struct figure *f, size_t panel, double value)
{
	if (panel == 0)
		widen(&f->x, value);
	else if (!f->log_y || value > 0)
		widen(&f->y[panel - 1], value);
}

bool figure_is_wide(const struct figure_range *range)
{
	return range->low > 0 && range->high > 50 * range->low;
}

/* Counts words that are separated by one blank each. */
static size_t words_in(const char *text)
{
	size_t count = 1;

	for (; *text; text++)
		count += *text == ' ';
	return count;
}

void figure_row(struct figure *f, const double *values, size_t y_columns)
{
	fputs(f->curve, f->data);
	for (size_t i = 0; i < words_in(f->columns); i++) {
		putc(' ', f->data);
		put_real(f->data, values[i]);
		if (i > 0 && i <= y_columns)
			figure_reach(f, f->panel, values[i]);
	}
	figure_reach(f, 0, values[0]);
	fprintf(f->data, " %s\n", f->ending);
	f->rows++;
}

/* Ends the current curve, if any. A curve without rows gets a row of NaN, since gnuplot finds
 * curves by counting blocks. */
static void end_curve(struct figure *f)
{
	static const double nothing[] = { NAN, NAN, NAN, NAN, NAN, NAN, NAN }; /* for any columns */

	if (!f->curve)
		return;
	if (f->panel == 1)
		fprintf(f->script, "POINTS[%zu] = %zu\n", f->number, f->rows);
	if (f->rows == 0)
		figure_row(f, nothing, 0);
	free(f->curve);
	f->curve = NULL;
}

void figure_curve(struct figure *f, size_t panel, size_t curve, const char *name)
{
	size_t length;
	FILE *text;
	int begin;

	end_curve(f);
	if (panel == 1 && curve == 1)
		fprintf(f->data, "panel series %s name\n", f->columns);
	else
		fputs("\n\n", f->data);
	/* what its rows begin and end with, as two strings in one buffer */
	text = open_memstream(&f->curve, &length);
	begin = fprintf(text, "%zu %zu", panel, curve);
	putc('\0', text);
	putc('"', text);
	put_plain(text, name);
	putc('"', text);
	fclose(text);
	f->ending = f->curve + begin + 1;
	f->panel = panel;
	f->number = curve;
	f->rows = 0;
}

void figure_begin(struct figure *f, const char *template, size_t panels, size_t curves,
		  const char *columns)
{
	f->template = template;
	f->panels = panels;
	f->columns = columns;
	f->head = open_memstream(&f->head_text, &f->head_length);
	f->data = open_memstream(&f->data_text, &f->data_length);
	f->script = open_memstream(&f->script_text, &f->script_length);
	f->x = (struct figure_range){ INFINITY, -INFINITY };
	for (size_t p = 0; p < panels; p++)
		f->y[p] = f->x;
	fprintf(f->script, "# Draw this figure again with: gnuplot -d %s.gp\n\n", f->name);
	fprintf(f->script, "NAME = '%s'\nTERM = '%s'\nFONT = '%s'\nPIXELS_HIGH = %d\n%s", f->name,
		f->options->term, f->options->font, FIGURE_HEIGHT,
		f->options->no_title ? "NO_TITLE = 1\n" : "");
	figure_real(f, "WIDTH", f->options->width_in);
	figure_real(f, "HEIGHT", f->options->height_in);
	figure_real(f, "FONT_POINTS", f->options->font_points);
	fprintf(f->script,
		"PANELS = %zu\nSERIES = %zu\narray LEGEND[%zu]\narray LOOK[%zu]\narray DASH[%zu]\n"
		"array POINTS[%zu]\n"
		"array YLABEL[%zu]\narray YUNIT[%zu]\narray YLOW[%zu]\narray YHIGH[%zu]\n"
		"array PANEL_TITLE[%zu]\ndo for [p = 1:PANELS] { PANEL_TITLE[p] = '' }\n"
		/* defaults, which few figures change */
		"LABELLED = 0\nLOGY = 0\nINTERVALS = 0\nDAGGERS = 0\nBASELINE = ''\n"
		"XTICKS = 0\nYTICKS = 0\nGROUP = %zu\n",
		panels, curves, curves, curves, curves, curves, panels, panels, panels, panels,
		panels, f->group);
}

/* ---- The end ---- */

/* The y axis of a panel without values goes from 0 to 1, a logarithmic one from 1 to 10. */
static void write_ranges(struct figure *f)
{
	figure_real(f, "XLOW", f->x.low);
	figure_real(f, "XHIGH", f->x.high);
	for (size_t p = 0; p < f->panels; p++) {
		bool any = isfinite(f->y[p].low);

		fprintf(f->script, "YLOW[%zu] = ", p + 1);
		put_number(f->script, any ? f->y[p].low : f->log_y ? 1 : 0);
		fprintf(f->script, "YHIGH[%zu] = ", p + 1);
		put_number(f->script, any ? f->y[p].high : f->log_y ? 10 : 1);
	}
}

/* Sets the user's axis labels; coming last, they replace ours. There is one y label for each group
 * of panels, or for each panel. */
static void write_labels(struct figure *f)
{
	const struct plot_options *options = f->options;

	if (options->x_label)
		figure_text(f, "XLABEL", options->x_label);
	for (size_t p = 0; p < f->panels; p++) {
		size_t i = f->group > 0 ? p / f->group : p;

		if (i < options->y_labels.count)
			figure_text_at(f, "YLABEL", p + 1, options->y_labels.items[i]);
	}
}

/* False with f->error. */
static bool add_templates(struct figure *f)
{
	const char *const names[] = { "style", f->template, "draw" };

	for (size_t i = 0; i < 3; i++) {
		char *text = gnuplot_template(names[i], &f->error);

		if (!text)
			return false;
		fprintf(f->script, "\n%s", text);
		free(text);
	}
	return true;
}

/* Whether a picture is complete: its last 16 bytes contain `end`. */
static bool is_whole(const char *picture, size_t length, const char *end)
{
	size_t wanted = strlen(end), tail = length < 16 ? length : 16;

	for (size_t i = length - tail; i + wanted <= length && length; i++)
		if (!memcmp(picture + i, end, wanted))
			return true;
	return false;
}

/* Writes a text figure to the stream, without gnuplot's form feed, and any other to its file. */
static bool hand_out(struct figure *f, const char *file, const char *picture, size_t length,
		     FILE *to)
{
	if (!strcmp(f->options->term, "dumb")) {
		for (size_t i = 0; i < length; i++)
			if (picture[i] != '\f')
				putc(picture[i], to);
		return true;
	}
	if (!gnuplot_put(f->folder, file, picture, length, &f->error))
		return false;
	fprintf(to, "%s/%s\n", f->folder, file);
	return true;
}

/* Passes on the lines in which the template speaks of the figure: "NAME: ...". */
static void pass_on(const struct figure *f, const char *said)
{
	size_t length = strlen(f->name), end;

	for (; *said; said += end + (said[end] == '\n')) {
		end = strcspn(said, "\n");
		if (!strncmp(said, f->name, length) && said[length] == ':')
			plain_print(stderr, "%s/%.*s\n", f->folder, (int)end, said);
	}
}

/* First removes an old picture, which must not pass for the new one if drawing fails. */
static bool draw(struct figure *f, FILE *to)
{
	char *dat = xasprintf("%s.dat", f->name), *gp = xasprintf("%s.gp", f->name);
	char *file = xasprintf("%s.%s", f->name, term_of(f->options)->suffix);
	char *path = folder_join(f->folder, file), *picture = NULL, *said = NULL;
	char *table = xasprintf("%s%s", f->head_text, f->data_text);
	size_t length = 0;
	bool ok;

	unlink(path);
	if (gnuplot_put(f->folder, dat, table, strlen(table), &f->error) &&
	    gnuplot_put(f->folder, gp, f->script_text, f->script_length, &f->error))
		picture = gnuplot_run(f->folder, gp, &length, &said, &f->error);
	ok = picture;
	if (ok && !is_whole(picture, length, term_of(f->options)->end)) {
		f->error = xasprintf("gnuplot did not finish %s", path);
		ok = false;
	}
	ok = ok && hand_out(f, file, picture, length, to);
	if (ok && !f->options->quiet)
		pass_on(f, said);
	free(said);
	free(picture);
	free(table);
	free(path);
	free(file);
	free(gp);
	free(dat);
	return ok;
}

bool figure_finish(struct figure *f, bool data, FILE *to)
{
	bool begun = f->data, ok = data && begun;

	if (begun) {
		end_curve(f);
		write_ranges(f);
		write_labels(f);
		ok = ok && add_templates(f);
		fclose(f->head);
		fclose(f->data);
		fclose(f->script);
	}
	ok = ok && draw(f, to);
	free(f->head_text);
	free(f->data_text);
	free(f->script_text);
	return ok;
}
