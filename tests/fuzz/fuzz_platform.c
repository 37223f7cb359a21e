/* Any bytes as a platform of SimGrid: no crash, no leak, a topology or an error, and
 * a topology that came out is a right one.
 * Covers: sim/exchange/simgrid_import.c sim/exchange/simgrid_xml.c */
#include "exchange/simgrid_import.h"
#include "topo/topology.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t errors_of(const struct simgrid_import *import)
{
	size_t errors = 0;

	for (size_t i = 0; i < import->count; i++)
		errors += import->notes[i].error;
	return errors;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct simgrid_import import;

	simgrid_import((const char *)data, size, &import);
	if ((import.topology == NULL) != (errors_of(&import) > 0))
		abort();
	if (import.topology) {
		struct topology_conf conf;
		struct conf_doc *doc = conf_parse("fuzz", import.topology, strlen(import.topology),
						  &topology_table, &conf, NULL, 0);

		if (conf_errors(doc))
			abort();
		conf_doc_free(doc);
	}
	simgrid_import_release(&import);
	return 0;
}
