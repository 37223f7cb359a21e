/* Platform files of SimGrid, element by element. Expat reads no other file (the DTD
 * that a platform names, entities) and limits the expansion of entities by itself. */
#include "exchange/simgrid_parts.h"

#include "base/mem.h"

#include <expat.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const cluster_attribute_names[CLUSTER_ATTRIBUTES] = {
	[CLUSTER_ID] = "id",
	[CLUSTER_PREFIX] = "prefix",
	[CLUSTER_SUFFIX] = "suffix",
	[CLUSTER_RADICAL] = "radical",
	[CLUSTER_SPEED] = "speed",
	[CLUSTER_CORE] = "core",
	[CLUSTER_BW] = "bw",
	[CLUSTER_LAT] = "lat",
	[CLUSTER_SHARING] = "sharing_policy",
	[CLUSTER_TOPOLOGY] = "topology",
	[CLUSTER_PARAMETERS] = "topo_parameters",
	[CLUSTER_BB_BW] = "bb_bw",
	[CLUSTER_BB_LAT] = "bb_lat",
	[CLUSTER_BB_SHARING] = "bb_sharing_policy",
	[CLUSTER_ROUTER] = "router_id",
	[CLUSTER_LIMITER] = "limiter_link",
	[CLUSTER_LOOPBACK_BW] = "loopback_bw",
	[CLUSTER_LOOPBACK_LAT] = "loopback_lat",
};

/* Elements that say nothing about a network. <AS> is the name of <zone> before
 * SimGrid 3.16. */
static const char *const harmless[] = { "zone", "AS", "config", "prop", NULL };

struct reader {
	XML_Parser parser;
	struct simgrid_import *import;
	struct simgrid_cluster *cluster;
	bool inside;  /* of the root element */
	bool stopped; /* at something that makes this a network of another kind */
};

static unsigned long line_of(const struct reader *reader)
{
	return (unsigned long)XML_GetCurrentLineNumber(reader->parser);
}

/* --- notes --- */

static void add_note(struct simgrid_import *import, unsigned long line, bool error, const char *fmt,
		     va_list args)
{
	char text[400]; /* longer values are cut */

	vsnprintf(text, sizeof(text), fmt, args);
	import->notes = array_reserve(import->notes, import->count, &import->capacity,
				      sizeof(import->notes[0]));
	import->notes[import->count++] = (struct import_note){ line, error, xstrdup(text) };
}

void import_error(struct simgrid_import *import, unsigned long line, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add_note(import, line, true, fmt, args);
	va_end(args);
}

void import_warning(struct simgrid_import *import, unsigned long line, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add_note(import, line, false, fmt, args);
	va_end(args);
}

bool import_failed(const struct simgrid_import *import)
{
	for (size_t i = 0; i < import->count; i++)
		if (import->notes[i].error)
			return true;
	return false;
}

/* --- elements --- */

static void take_attribute(const struct reader *reader, const char *name, const char *value)
{
	for (int i = 0; i < CLUSTER_ATTRIBUTES; i++) {
		if (strcmp(cluster_attribute_names[i], name))
			continue;
		reader->cluster->values[i] = xstrdup(value);
		return;
	}
	import_error(reader->import, line_of(reader), "a <cluster> has no attribute \"%s\"", name);
}

/* One message is enough: what follows is as foreign as this. */
static void stop(struct reader *reader)
{
	reader->stopped = true;
	XML_StopParser(reader->parser, XML_FALSE);
}

static void take_cluster(const struct reader *reader, const char *const *attributes)
{
	if (reader->cluster->line) {
		import_error(reader->import, line_of(reader),
			     "a second <cluster> (the first is in line %lu): a topology is one "
			     "cluster",
			     reader->cluster->line);
		return;
	}
	reader->cluster->line = line_of(reader);
	for (; *attributes; attributes += 2)
		take_attribute(reader, attributes[0], attributes[1]);
}

static bool is_harmless(const char *name)
{
	for (size_t i = 0; harmless[i]; i++)
		if (!strcmp(harmless[i], name))
			return true;
	return false;
}

static void XMLCALL on_element(void *data, const char *name, const char **attributes)
{
	struct reader *reader = data;

	if (!reader->inside) {
		reader->inside = true;
		if (!strcmp(name, "platform"))
			return;
		import_error(reader->import, line_of(reader),
			     "<%s> is not a platform of SimGrid: <platform> is expected", name);
		stop(reader);
	} else if (!strcmp(name, "cluster")) {
		take_cluster(reader, (const char *const *)attributes);
	} else if (!is_harmless(name)) {
		import_error(reader->import, line_of(reader),
			     "<%s> cannot be taken: a topology is one <cluster>, flat or a fat "
			     "tree",
			     name);
		stop(reader);
	}
}

void simgrid_read(const char *xml, size_t length, struct simgrid_import *import,
		  struct simgrid_cluster *cluster)
{
	struct reader reader = { .parser = XML_ParserCreate(NULL),
				 .import = import,
				 .cluster = cluster };

	if (!reader.parser || length > INT_MAX) {
		import_error(import, 1, "the file is too large");
	} else {
		XML_SetUserData(reader.parser, &reader);
		XML_SetStartElementHandler(reader.parser, on_element);
		if (XML_Parse(reader.parser, xml, (int)length, 1) != XML_STATUS_OK &&
		    !reader.stopped)
			import_error(import, line_of(&reader), "not well-formed XML: %s",
				     XML_ErrorString(XML_GetErrorCode(reader.parser)));
		else if (!cluster->line && !reader.stopped)
			import_error(import, line_of(&reader), "there is no <cluster>");
	}
	if (reader.parser)
		XML_ParserFree(reader.parser);
}

void simgrid_cluster_release(struct simgrid_cluster *cluster)
{
	for (int i = 0; i < CLUSTER_ATTRIBUTES; i++)
		free(cluster->values[i]);
}
