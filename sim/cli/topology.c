/* The verbs export topology and import topology: networks as graphs, on standard output. */
#include "cli/cli.h"

#include "base/input.h"
#include "scenario/graph_write.h"
#include "scenario/scenario.h"

#include <errno.h>
#include <stdlib.h>

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

int verb_import_topology(const struct cli *cli)
{
	const char *path = cli->argv[0];
	FILE *from = input_open_pipe(path, UINT64_MAX);
	struct graph_text text;
	char *note, *error;
	int code = EXIT_DONE;

	if (!from) {
		complain("%s: %s", path, input_why(errno));
		return EXIT_IO;
	}
	if (graph_import(&text, from, &note, &error)) {
		graph_text_print(&text, stdout);
		graph_text_release(&text);
	} else {
		complain("%s: %s", path, error);
		code = EXIT_INVALID;
	}
	if (note)
		fprintf(stderr, "%s\n", note);
	free(note);
	free(error);
	fclose(from);
	return code;
}
