#include "study/figures/sweep_sheet.h"

#include "base/mem.h"
#include "study/figures/metric_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- What is drawn ---- */

bool sweep_sheet_is_ratio(const struct sweep_sheet *sheet)
{
	return sheet->choice->base_axis != SIZE_MAX;
}

/* The row that everything is compared with is not drawn: it is 1. */
bool sweep_sheet_is_drawn(const struct sweep_sheet *sheet, size_t row)
{
	return !sweep_sheet_is_ratio(sheet) || sheet->choice->base_axis != sheet->choice->by ||
	       sheet->grid.y_level[row] != sheet->choice->base_level;
}

size_t sweep_sheet_rows(const struct sweep_sheet *sheet)
{
	size_t count = 0;
	for (size_t row = 0; row < sheet->grid.rows; row++)
		count += sweep_sheet_is_drawn(sheet, row);
	return count;
}

double sweep_sheet_x(const struct sweep_sheet *sheet, size_t column)
{
	const struct axis_scale *scale = &sheet->choice->scales[sheet->choice->x];
	return scale->numeric ? scale->at[sheet->grid.x_level[column]] : (double)column;
}

const char *sweep_sheet_x_label(const struct sweep_sheet *sheet, size_t column, char *buffer)
{
	return axis_scale_label(&sheet->choice->scales[sheet->choice->x],
				sheet->grid.x_level[column], buffer);
}

/* Number of a row's colour, dash and mark: the same in all figures of a sweep. */
size_t sweep_sheet_style(const struct sweep_sheet *sheet, size_t row)
{
	return sheet->choice->by == SIZE_MAX ? 0 : sheet->grid.y_level[row];
}

const char *sweep_sheet_base(const struct sweep_sheet *sheet)
{
	const struct sweep_choice *choice = sheet->choice;
	return sheet->table->axes[choice->base_axis].values[choice->base_level];
}

/* Name of a curve: a number needs the name of its axis. The caller frees. */
char *sweep_sheet_row_name(const struct sweep_sheet *sheet, size_t row)
{
	const struct sweep_choice *choice = sheet->choice;
	if (choice->by == SIZE_MAX)
		return xstrdup("");
	const struct sweep_axis *axis = &sheet->table->axes[choice->by];
	const char *value = axis->values[sheet->grid.y_level[row]];
	return choice->scales[choice->by].numeric ? xasprintf("%s %s", axis->name, value)
						  : xstrdup(value);
}

static void choose_unit(struct sweep_sheet *sheet)
{
	static const struct {
		enum metric_unit unit;
		double size;
		const char *name;
	} units[] = {
		{ METRIC_BYTES, 1e9, "GB" },
		{ METRIC_BYTES, 1e6, "MB" },
		{ METRIC_BYTES, 1e3, "KB" },
		{ METRIC_BYTES, 0, "bytes" },
		{ METRIC_BITS_PER_SECOND, 1e9, "Gbit/s" },
		{ METRIC_BITS_PER_SECOND, 1e6, "Mbit/s" },
		{ METRIC_BITS_PER_SECOND, 0, "bit/s" },
		{ METRIC_NUMBER, 1e6, "millions" },
		{ METRIC_NUMBER, 0, "" },
	};
	enum metric_unit unit = metric_unit(sheet->table->metrics[sheet->metric]);
	sheet->unit = "";
	sheet->scale = 1;
	if (sweep_sheet_is_ratio(sheet))
		return;
	double largest = fmax(fabs(sheet->low), fabs(sheet->high));
	if (unit == METRIC_SECONDS) {
		sheet->unit = plot_time_unit(largest, &sheet->scale);
		return;
	}
	size_t i = 0;
	while (units[i].unit != unit || largest < units[i].size)
		i++;
	sheet->unit = units[i].name;
	sheet->scale = units[i].size > 0 ? 1 / units[i].size : 1;
}

/* Ends of intervals may lie below 0, where a logarithmic axis has no place: there
 * they do not count, and whiskers are drawn down to the axis. */
static void see(struct sweep_sheet *sheet, double value)
{
	if (sheet->choice->log_y && !(value > 0))
		return;
	sheet->low = fmin(sheet->low, value);
	sheet->high = fmax(sheet->high, value);
}

/* All that a figure shows of a cell. */
static void see_cell(struct sweep_sheet *sheet, size_t cell)
{
	if (sheet->choice->kind != SWEEP_BOX) {
		see(sheet, sheet->at[cell].value);
		see(sheet, sheet->at[cell].low);
		see(sheet, sheet->at[cell].high);
		return;
	}
	size_t count;
	double *values = sweep_grid_values(&sheet->grid, cell, sheet->metric, &count);
	see(sheet, count > 0 ? values[0] : NAN);
	see(sheet, count > 0 ? values[count - 1] : NAN);
	free(values);
}

bool sweep_sheet_estimate(struct sweep_sheet *sheet)
{
	const struct sweep_grid *grid = &sheet->grid;
	sheet->at = xcalloc(grid->columns * grid->rows + 1, sizeof *sheet->at);
	sheet->low = INFINITY;
	sheet->high = -INFINITY;
	for (size_t i = 0; i < grid->columns * grid->rows; i++) {
		sheet->at[i] = sweep_grid_estimate(grid, i, sheet->metric);
		if (sweep_sheet_is_drawn(sheet, i / grid->columns))
			see_cell(sheet, i);
	}
	if (!isfinite(sheet->low))
		return false;
	choose_unit(sheet);
	return true;
}

/* ---- Words ---- */

const char *sweep_sheet_statistic(const struct sweep_sheet *sheet)
{
	if (sheet->table->replications < 2)
		return sweep_sheet_is_ratio(sheet) ? "One replication, no intervals"
						   : "One replication, no interval";
	if (sheet->choice->kind == SWEEP_BOX)
		return "Replications: minimum, quartiles, maximum";
	if (sweep_sheet_is_ratio(sheet))
		return "Ratio of means, paired by replication, 95 % Fieller intervals";
	return "Mean of replications, 95 % t-intervals";
}

/* " (load 0.2, delay 1us)" of the axes that are not drawn; the caller frees. */
char *sweep_sheet_fixed(const struct sweep_sheet *sheet)
{
	const struct sweep_table *table = sheet->table;
	char *text = xstrdup("");
	for (size_t i = 0; i < table->axis_count; i++) {
		if (!sweep_choice_is_fixed(sheet->choice, i) || table->axes[i].count < 2)
			continue;
		char *longer =
			xasprintf("%s%s%s %s", text, *text == '\0' ? " (" : ", ",
				  table->axes[i].name, table->axes[i].values[sheet->fixed[i]]);
		free(text);
		text = longer;
	}
	char *all = xasprintf("%s%s", text, *text == '\0' ? "" : ")");
	free(text);
	return all;
}

/* Where there is no room for words beside the axis (text), or no axis (maps). */
static bool is_unit_in_title(const struct sweep_sheet *sheet)
{
	return plot_is_dumb(sheet->page) || sheet->choice->kind == SWEEP_HEAT;
}

void sweep_sheet_titles(const struct sweep_sheet *sheet)
{
	char *words = metric_words(sheet->table, sheet->metric);
	char *fixed = sweep_sheet_fixed(sheet);
	char *tally = sweep_grid_tally(&sheet->grid, sheet->metric);
	const char *name = sheet->table->name, *colon = *name != '\0' ? ": " : "";
	bool unit = is_unit_in_title(sheet) && *sheet->unit != '\0';
	char *title = sweep_sheet_is_ratio(sheet)
			      ? xasprintf("%s%s%s, relative to %s %s%s", name, colon, words,
					  sheet->table->axes[sheet->choice->base_axis].name,
					  sweep_sheet_base(sheet), fixed)
			      : xasprintf("%s%s%s%s%s%s", name, colon, words, unit ? ", in " : "",
					  unit ? sheet->unit : "", fixed);
	plot_title(sheet->page, title, "%s; %s", sweep_sheet_statistic(sheet), tally);
	free(words);
	free(fixed);
	free(tally);
	free(title);
}

void sweep_sheet_y_label(const struct sweep_sheet *sheet)
{
	if (is_unit_in_title(sheet))
		return;
	char *words = metric_words(sheet->table, sheet->metric);
	char *label = sweep_sheet_is_ratio(sheet)
			      ? xasprintf("%s / that of %s", words, sweep_sheet_base(sheet))
		      : *sheet->unit != '\0' ? xasprintf("%s (%s)", words, sheet->unit)
					     : xstrdup(words);
	plot_label(sheet->page, "y", label);
	free(words);
	free(label);
}
