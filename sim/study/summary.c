#include "study/summary.h"

#include "base/mem.h"
#include "out/folder.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const of_the_machine[] = { "cpu_s", "packet_hops_per_cpu_s", "peak_rss_bytes" };

static void add(struct summary *summary, const char *name, double value)
{
	for (size_t i = 0; i < sizeof of_the_machine / sizeof *of_the_machine; i++)
		if (strcmp(name, of_the_machine[i]) == 0)
			return;
	summary->numbers = array_reserve(summary->numbers, summary->count, &summary->capacity,
					 sizeof *summary->numbers);
	summary->numbers[summary->count++] = (struct summary_number){ xstrdup(name), value };
}

static void collect(struct summary *summary, const char *prefix, const cJSON *container)
{
	size_t index = 0;
	const cJSON *item;
	cJSON_ArrayForEach(item, container)
	{
		const char *dot = *prefix == '\0' ? "" : ".";
		char *name = item->string != NULL ? xasprintf("%s%s%s", prefix, dot, item->string)
						  : xasprintf("%s%s%zu", prefix, dot, index);
		index++;
		if (cJSON_IsObject(item) || cJSON_IsArray(item))
			collect(summary, name, item);
		else if (cJSON_IsNumber(item))
			add(summary, name, item->valuedouble);
		else if (cJSON_IsNull(item))
			add(summary, name, NAN);
		free(name);
	}
}

void summary_init(struct summary *summary, const cJSON *root)
{
	*summary = (struct summary){ 0 };
	collect(summary, "", root);
}

void summary_release(struct summary *summary)
{
	for (size_t i = 0; i < summary->count; i++)
		free(summary->numbers[i].name);
	free(summary->numbers);
}

size_t summary_find(const struct summary *summary, const char *name)
{
	for (size_t i = 0; i < summary->count; i++)
		if (strcmp(summary->numbers[i].name, name) == 0)
			return i;
	return SIZE_MAX;
}

double summary_value(const struct summary *summary, const char *name)
{
	size_t i = summary_find(summary, name);
	return i == SIZE_MAX ? NAN : summary->numbers[i].value;
}

/* The whole file, NULL with errno. */
static char *read_text(const char *path)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = fopen(path, "r");
	if (file == NULL)
		return NULL;
	errno = 0;
	if (getdelim(&text, &size, '\0', file) < 0 && errno == 0)
		errno = ENODATA;
	else if (!feof(file) && errno == 0)
		errno = EILSEQ; /* a zero byte */
	int reason = errno;
	fclose(file);
	if (reason == 0)
		return text;
	free(text);
	errno = reason;
	return NULL;
}

static size_t line_of(const char *text, const char *place)
{
	size_t line = 1;
	for (; text < place; text++)
		line += *text == '\n';
	return line;
}

cJSON *summary_read_json(const char *dir, const char *file, char **error)
{
	char *path = folder_join(dir, file), *text = read_text(path);
	cJSON *root = NULL;
	if (text == NULL) {
		*error = xasprintf("cannot read %s: %s", path, strerror(errno));
	} else {
		const char *end = text;
		root = cJSON_ParseWithLengthOpts(text, strlen(text) + 1, &end, 1);
		if (root != NULL && !cJSON_IsObject(root)) {
			cJSON_Delete(root);
			root = NULL;
			end = text;
		}
		if (root == NULL)
			*error =
				xasprintf("%s:%zu: is not a JSON object", path, line_of(text, end));
	}
	free(text);
	free(path);
	return root;
}
