#include "exchange/simgrid_parts.h"

#include "base/mem.h"
#include "base/units.h"
#include "out/json.h"
#include "topo/topology.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OF_A_QUANTITY 1e16    /* bps, ps; a thousand times fits 64 bits */
#define MOST_HOSTS         1000000 /* more than any topology takes; keeps sums small */
#define MOST_CABLES        1000
#define MOST_LEVELS        3

/* What a cluster says, in numbers. */
struct facts {
	struct simgrid_import *import;
	const struct simgrid_cluster *cluster;
	bps rate;
	sim_time delay, switch_latency;
	uint64_t hosts;
	unsigned levels;
	uint64_t down[MOST_LEVELS], up[MOST_LEVELS], cables[MOST_LEVELS];
};

static const char *value_of(const struct facts *facts, enum cluster_attribute attribute)
{
	const char *value = facts->cluster->values[attribute];

	return value && *value ? value : NULL;
}

/* `fmt` is a literal that starts with "%s=\"%s\"": the attribute and its value. */
#define REFUSE(facts, attribute, fmt, ...)                                                         \
	import_error((facts)->import, (facts)->cluster->line, "%s=\"%s\": " fmt,                   \
		     cluster_attribute_names[attribute],                                           \
		     value_of(facts, attribute) ? value_of(facts, attribute) : "", __VA_ARGS__)
#define WARN(facts, attribute, fmt, ...)                                                           \
	import_warning((facts)->import, (facts)->cluster->line, "%s=\"%s\": " fmt,                 \
		       cluster_attribute_names[attribute],                                         \
		       value_of(facts, attribute) ? value_of(facts, attribute) : "", __VA_ARGS__)

/* --- quantities, in the units of SimGrid's reference manual --- */

struct scale {
	const char *unit;
	double factor; /* to bps, to ps */
};

static const struct scale rate_scales[] = {
	{ "Bps", 8 },
	{ "kBps", 8e3 },
	{ "MBps", 8e6 },
	{ "GBps", 8e9 },
	{ "TBps", 8e12 },
	{ "KiBps", 8 * 1024. },
	{ "MiBps", 8 * 1024. * 1024 },
	{ "GiBps", 8 * 1024. * 1024 * 1024 },
	{ "TiBps", 8 * 1024. * 1024 * 1024 * 1024 },
	{ "bps", 1 },
	{ "kbps", 1e3 },
	{ "Mbps", 1e6 },
	{ "Gbps", 1e9 },
	{ "Tbps", 1e12 },
	{ "Kibps", 1024. },
	{ "Mibps", 1024. * 1024 },
	{ "Gibps", 1024. * 1024 * 1024 },
	{ "Tibps", 1024. * 1024 * 1024 * 1024 },
	{ NULL, 0 },
};
static const struct scale time_scales[] = {
	{ "ps", 1 },    { "ns", 1e3 },        { "us", 1e6 },         { "ms", 1e9 }, { "s", 1e12 },
	{ "m", 60e12 }, { "h", 3600 * 1e12 }, { "d", 86400 * 1e12 }, { NULL, 0 },
};

/* Rounded to whole bps or ps. */
static bool quantity(const struct facts *facts, enum cluster_attribute attribute,
		     const struct scale *scales, const char *example, uint64_t *result)
{
	const char *text = value_of(facts, attribute);
	char *unit;
	double number = text ? strtod(text, &unit) : 0;

	if (!text) {
		import_error(facts->import, facts->cluster->line,
			     "the <cluster> needs %s, as in %s=\"%s\"",
			     cluster_attribute_names[attribute], cluster_attribute_names[attribute],
			     example);
		return false;
	}
	if (unit != text && number == 0 && !*unit) {
		*result = 0; /* the only number that SimGrid takes without a unit */
		return true;
	}
	for (; unit != text && scales->unit; scales++) {
		if (strcmp(unit, scales->unit) || !(number >= 0) ||
		    number * scales->factor > MOST_OF_A_QUANTITY)
			continue;
		*result = (uint64_t)llround(number * scales->factor);
		return true;
	}
	REFUSE(facts, attribute, "a number with a unit is expected, as \"%s\"", example);
	return false;
}

/* --- shapes --- */

/* Whole numbers from 1 on, `count` of them, between commas; *text moves behind them. */
static bool numbers(const char **text, unsigned count, uint64_t *list)
{
	for (unsigned i = 0; i < count; i++) {
		char *end;

		if (**text < '0' || **text > '9')
			return false;
		list[i] = strtoull(*text, &end, 10);
		if (list[i] < 1 || list[i] > MOST_HOSTS || (i + 1 < count && *end++ != ','))
			return false;
		*text = end;
	}
	return true;
}

/* "2;4,4;1,2;1,2": levels; children, parents, cables of each (Zahavi's PGFT). */
static bool tree_parameters(struct facts *facts)
{
	const char *text = value_of(facts, CLUSTER_PARAMETERS);
	uint64_t levels = 0;
	const char *at = text ? text : "";

	if (!numbers(&at, 1, &levels) || *at++ != ';') {
		REFUSE(facts, CLUSTER_PARAMETERS, "a fat tree needs them as %s",
		       "\"levels;children,...;parents,...;cables,...\"");
		return false;
	}
	if (levels > MOST_LEVELS) {
		REFUSE(facts, CLUSTER_PARAMETERS, "at most %d levels of switches can be taken",
		       MOST_LEVELS);
		return false;
	}
	facts->levels = (unsigned)levels;
	if (numbers(&at, facts->levels, facts->down) && *at++ == ';' &&
	    numbers(&at, facts->levels, facts->up) && *at++ == ';' &&
	    numbers(&at, facts->levels, facts->cables) && !*at)
		return true;
	REFUSE(facts, CLUSTER_PARAMETERS, "expected are 3 lists of %u whole numbers each",
	       facts->levels);
	return false;
}

/* "0-15,20": how many that are. */
static bool radical_count(struct facts *facts)
{
	const char *text = value_of(facts, CLUSTER_RADICAL);
	const char *at = text ? text : "x";

	for (facts->hosts = 0; facts->hosts <= MOST_HOSTS; at++) {
		char *end;
		uint64_t from = strtoull(at, &end, 10), to = from;
		bool good = *at >= '0' && *at <= '9';

		if (good && *end == '-') {
			at = end + 1;
			good = *at >= '0' && *at <= '9';
			to = strtoull(at, &end, 10);
		}
		if (!good || to < from || to - from >= MOST_HOSTS || (*end && *end != ','))
			break;
		facts->hosts += to - from + 1;
		at = end;
		if (!*at)
			return true;
	}
	REFUSE(facts, CLUSTER_RADICAL, "the numbers of its hosts are expected, as %s",
	       "\"0-15\" or \"0-7,9\"");
	return false;
}

static void check_tree(struct facts *facts, bool counted)
{
	uint64_t hosts = 1, half = facts->down[0];

	for (unsigned i = 0; i < facts->levels; i++)
		hosts = hosts > MOST_HOSTS ? hosts : hosts * facts->down[i];
	if (counted && hosts != facts->hosts)
		REFUSE(facts, CLUSTER_RADICAL,
		       "are %" PRIu64 " hosts, topo_parameters=\"%s\" has %" PRIu64, facts->hosts,
		       value_of(facts, CLUSTER_PARAMETERS), hosts);
	if (facts->up[0] != 1 || facts->cables[0] != 1)
		REFUSE(facts, CLUSTER_PARAMETERS,
		       "a host of inasim has one link, here it has %" PRIu64,
		       facts->up[0] * facts->cables[0]);
	if (facts->levels == 3 &&
	    (facts->down[1] != half || facts->down[2] != 2 * half || facts->up[1] != half ||
	     facts->up[2] != half || facts->cables[1] != 1 || facts->cables[2] != 1))
		REFUSE(facts, CLUSTER_PARAMETERS,
		       "three levels must be a fat tree of k-port switches, for k = %" PRIu64
		       " \"3;%" PRIu64 ",%" PRIu64 ",%" PRIu64 ";1,%" PRIu64 ",%" PRIu64 ";1,1,1\"",
		       2 * half, half, half, 2 * half, half, half);
	if (facts->levels == 2 && facts->cables[1] > MOST_CABLES)
		REFUSE(facts, CLUSTER_PARAMETERS, "at most %d cables between two switches",
		       MOST_CABLES);
	else if (facts->levels == 2 && facts->cables[1] > 1)
		WARN(facts, CLUSTER_PARAMETERS,
		     "%" PRIu64 " cables between a leaf and a spine become one link of so many "
		     "times the rate",
		     facts->cables[1]);
}

static void check_backbone(struct facts *facts)
{
	bool shared = !value_of(facts, CLUSTER_BB_SHARING) ||
		      !strcmp(value_of(facts, CLUSTER_BB_SHARING), "SHARED");
	uint64_t backbone;

	if (value_of(facts, CLUSTER_BB_LAT))
		quantity(facts, CLUSTER_BB_LAT, time_scales, "500us", &facts->switch_latency);
	if (!value_of(facts, CLUSTER_BB_BW) ||
	    !quantity(facts, CLUSTER_BB_BW, rate_scales, "20Gbps", &backbone))
		return;
	if ((double)backbone < (double)(shared ? facts->hosts : 1) * (double)facts->rate)
		WARN(facts, CLUSTER_BB_BW,
		     "a switch of inasim has no such limit: its ports alone are, %" PRIu64
		     " times bw=\"%s\"",
		     facts->hosts, value_of(facts, CLUSTER_BW));
}

static bool is_one_of(const char *text, const char *one, const char *other)
{
	return !text || !strcmp(text, one) || !strcmp(text, other);
}

/* What there is beside the shape. */
static void check_rest(const struct facts *facts)
{
	if (!is_one_of(value_of(facts, CLUSTER_SHARING), "SPLITDUPLEX", "FULLDUPLEX"))
		REFUSE(facts, CLUSTER_SHARING, "links of inasim are %s", "SPLITDUPLEX");
	if (value_of(facts, CLUSTER_LIMITER))
		WARN(facts, CLUSTER_LIMITER, "left out: hosts of inasim are limited by %s alone",
		     "their link");
	if (value_of(facts, CLUSTER_LOOPBACK_BW) || value_of(facts, CLUSTER_LOOPBACK_LAT))
		import_warning(facts->import, facts->cluster->line,
			       "the loopback is left out: no host of inasim sends to itself");
	if (value_of(facts, CLUSTER_SPEED) || value_of(facts, CLUSTER_CORE))
		import_warning(facts->import, facts->cluster->line,
			       "speed and cores are left out: computing takes what the models of "
			       "jobs say");
}

static void read_facts(struct facts *facts)
{
	const char *shape = value_of(facts, CLUSTER_TOPOLOGY);
	bool tree = shape && !strcmp(shape, "FAT_TREE"), counted;

	quantity(facts, CLUSTER_BW, rate_scales, "10Gbps", &facts->rate);
	quantity(facts, CLUSTER_LAT, time_scales, "50us", &facts->delay);
	if (!tree && !is_one_of(shape, "FLAT", "FLAT")) {
		REFUSE(facts, CLUSTER_TOPOLOGY, "%s can be taken", "FLAT and FAT_TREE");
		return;
	}
	check_rest(facts);
	counted = radical_count(facts);
	if (tree && tree_parameters(facts))
		check_tree(facts, counted);
	else if (!tree && counted)
		check_backbone(facts);
}

/* --- the topology --- */

static void json_quantity(struct json *json, const char *key, enum unit_kind kind, uint64_t value)
{
	char text[32];

	json_string(json, key, unit_format(kind, value, text, sizeof(text)));
}

static void json_link(struct json *json, const char *key, bps rate, sim_time delay)
{
	json_open_object(json, key);
	json_quantity(json, "rate", UNIT_RATE, rate);
	json_quantity(json, "delay", UNIT_TIME, delay);
	json_close_object(json);
}

/* What was read, as comments. */
static void json_origin(struct json *json, const struct facts *facts)
{
	static const enum cluster_attribute told[] = {
		CLUSTER_ID, CLUSTER_RADICAL, CLUSTER_TOPOLOGY, CLUSTER_PARAMETERS,
		CLUSTER_BW, CLUSTER_LAT,     CLUSTER_BB_BW,    CLUSTER_BB_LAT,
	};

	json_open_object(json, "_simgrid_cluster");
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		if (value_of(facts, told[i]))
			json_string(json, cluster_attribute_names[told[i]],
				    value_of(facts, told[i]));
	json_close_object(json);
}

static void json_shape(struct json *json, const struct facts *facts)
{
	switch (facts->levels) {
	case 3:
		json_string(json, "kind", "fat-tree");
		json_u64(json, "k", 2 * facts->down[0]);
		break;
	case 2:
		json_string(json, "kind", "leaf-spine");
		json_u64(json, "leaves", facts->down[1]);
		json_u64(json, "spines", facts->up[1]);
		json_u64(json, "hosts_per_leaf", facts->down[0]);
		if (facts->cables[1] > 1)
			json_link(json, "uplink", facts->cables[1] * facts->rate, facts->delay);
		break;
	default:
		json_string(json, "kind", "star");
		json_u64(json, "hosts", facts->hosts);
	}
}

static char *topology_text(const struct facts *facts)
{
	struct json json;

	json_init(&json);
	json_open_object(&json, NULL);
	json_origin(&json, facts);
	json_shape(&json, facts);
	json_link(&json, "link", facts->rate, facts->delay);
	json_open_object(&json, "switch");
	json_quantity(&json, "latency", UNIT_TIME, facts->switch_latency);
	json_close_object(&json);
	json_close_object(&json);
	return json_finish(&json);
}

/* The bounds of topologies hold here, too. */
static void check_topology(const struct facts *facts, const char *text)
{
	struct topology_conf conf;
	struct conf_doc *doc =
		conf_parse("topology", text, strlen(text), &topology_table, &conf, NULL, 0);
	struct conf_mistake mistake;

	if (!conf_errors(doc))
		topology_check(&conf, doc);
	for (size_t i = 0; conf_mistake(doc, i, &mistake); i++)
		import_error(facts->import, facts->cluster->line,
			     "a topology cannot be like this: %s: %s", mistake.pointer,
			     mistake.text);
	conf_doc_free(doc);
}

void simgrid_import(const char *xml, size_t length, struct simgrid_import *import)
{
	struct simgrid_cluster cluster = { 0 };
	struct facts facts = { .import = import, .cluster = &cluster };

	*import = (struct simgrid_import){ 0 };
	simgrid_read(xml, length, import, &cluster);
	if (cluster.line)
		read_facts(&facts);
	if (!import_failed(import)) {
		char *text = topology_text(&facts);

		check_topology(&facts, text);
		if (import_failed(import))
			free(text);
		else
			import->topology = text;
	}
	simgrid_cluster_release(&cluster);
}

void simgrid_import_release(struct simgrid_import *import)
{
	for (size_t i = 0; i < import->count; i++)
		free(import->notes[i].text);
	free(import->notes);
	free(import->topology);
}
