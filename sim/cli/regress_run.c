#include "cli/regress.h"

#include "base/mem.h"
#include "run/results.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct conf_override *regress_overrides(const struct regress_entry *entry, size_t *count)
{
	struct conf_override *list = xcalloc(entry->set.count + 1, sizeof(*list));

	for (size_t i = 0; i < entry->set.count; i++) {
		const char *set = ((const char *const *)entry->set.items)[i];
		size_t cut = strcspn(set, "=");

		list[i] = (struct conf_override){ xstrndup(set, cut), xstrdup(set + cut + 1) };
	}
	*count = entry->set.count;
	if (entry->seed_given)
		list[(*count)++] = (struct conf_override){ xstrdup("/seed"),
							   xasprintf("%" PRId64, entry->seed) };
	return list;
}

void regress_overrides_free(struct conf_override *overrides, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free((void *)(uintptr_t)overrides[i].pointer); /* ours, const for others */
		free((void *)(uintptr_t)overrides[i].value);
	}
	free(overrides);
}

static char *messages_of(const struct conf_doc *doc)
{
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	conf_print_errors(doc, stream, false);
	fclose(stream);
	while (length && text[length - 1] == '\n')
		text[--length] = '\0';
	return text;
}

int regress_run_build(struct regress_run *run, const struct regress_entry *entry, char **error)
{
	size_t count;
	struct conf_override *overrides = regress_overrides(entry, &count);

	*run = (struct regress_run){ .entry = entry };
	run->doc = scenario_load(entry->path, &run->scenario, overrides, count);
	regress_overrides_free(overrides, count);
	if (conf_errors(run->doc)) {
		*error = messages_of(run->doc);
		return conf_io_error(run->doc) ? EXIT_IO : EXIT_INVALID;
	}
	run->s = simulation_build(&run->scenario, entry->path, NULL, error);
	return run->s ? EXIT_DONE : EXIT_IO;
}

static cJSON *take_json(char *text)
{
	cJSON *tree = cJSON_Parse(text);

	free(text);
	return tree;
}

void regress_run_go(struct regress_run *run)
{
	const struct simulation_options options = { 0 };

	simulation_go(run->s, &options);
	run->summary = take_json(results_summary_json(run->s));
	summary_strip(run->summary);
	run->resolved = take_json(conf_resolved_json(run->doc, false));
}

void regress_run_release(struct regress_run *run)
{
	cJSON_Delete(run->summary);
	cJSON_Delete(run->resolved);
	simulation_free(run->s);
	if (run->doc)
		conf_doc_free(run->doc);
}
