/* The verbs export topology and import topology: networks as graphs, on standard output. */
#include "cli/cli.h"

#include "base/input.h"
#include "base/mem.h"
#include "scenario/graph_write.h"
#include "scenario/scenario.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int verb_export_topology(const struct cli *cli)
{
	struct scenario scenario;
	struct conf_doc *doc = load_scenario(cli, cli->argv[0], &scenario);
	int code = exit_code_of(doc);
	struct graph_text text;

	conf_print_errors(doc, stderr, false);
	if (code == EXIT_DONE && scenario.topology.graph) {
		complain("%s: its topology is a graph already", cli->argv[0]);
		code = EXIT_USAGE;
	}
	if (code == EXIT_DONE) {
		graph_export(&text, &scenario.topology);
		graph_text_print(&text, stdout);
		graph_text_release(&text);
	}
	conf_doc_free(doc);
	return code;
}

/* Why no scenario may have this graph, as check says it (caller frees); NULL if one may. */
static char *refusal_of(const char *graph)
{
	char *text = xasprintf("{ \"name\": \"import\", \"flows\": [ { \"pairs\": [[0, 1]] } ], "
			       "\"topology\": { \"kind\": \"graph\", \"graph\": %s } }",
			       graph),
	     *refusal = NULL;
	struct scenario scenario;
	struct conf_doc *doc = scenario_parse("import", text, strlen(text), &scenario);
	struct conf_mistake mistake;
	const char *place = "/topology/graph"; /* other mistakes are not the graph's */

	for (size_t i = 0; !refusal && conf_mistake(doc, i, &mistake); i++)
		if (!strncmp(mistake.pointer, place, strlen(place)))
			refusal = xasprintf("check refuses the network: %s", mistake.text);
	conf_doc_free(doc);
	free(text);
	return refusal;
}

/* The topology of another simulator as JSON (caller frees). NULL and *error if there is none. */
static char *graph_of(FILE *from, char **note, char **error)
{
	struct graph_text text;
	char *json = NULL;
	size_t length;
	FILE *to;

	if (!graph_import(&text, from, note, error))
		return NULL;
	to = open_memstream(&json, &length);
	graph_text_print(&text, to);
	fclose(to);
	graph_text_release(&text);
	*error = refusal_of(json);
	if (!*error)
		return json;
	free(json);
	return NULL;
}

int verb_import_topology(const struct cli *cli)
{
	const char *path = cli->argv[0];
	FILE *from = input_open_pipe(path, UINT64_MAX);
	char *note, *error, *graph;
	int code;

	if (!from) {
		complain("%s: %s", path, input_why(errno));
		return EXIT_IO;
	}
	graph = graph_of(from, &note, &error);
	code = graph ? EXIT_DONE : EXIT_INVALID;
	if (graph)
		fputs(graph, stdout);
	else
		complain("%s: %s", path, error);
	if (graph && note)
		fprintf(stderr, "%s\n", note);
	free(note);
	free(error);
	fclose(from);
	free(graph);
	return code;
}
