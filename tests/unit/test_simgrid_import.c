/* Clusters of SimGrid as topologies: what is taken, what is refused, with its line. That
 * the routes are SimGrid's is tests/simgrid.sh, where SimGrid itself is the witness. */
#include "exchange/simgrid_import.h"

#include "topo/topology.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define FAT_TREE "topology='FAT_TREE' topo_parameters="

/* A platform with the cluster in line 4. Its attributes can be given twice only by
 * mistake, so the ones that every cluster needs are parameters. */
static void import_cluster(struct simgrid_import *import, const char *radical, const char *bw,
			   const char *lat, const char *rest)
{
	char text[1024];
	int length = snprintf(text, sizeof(text),
			      "<?xml version='1.0'?>\n<platform version='4.1'>\n"
			      "<zone id='all' routing='Full'>\n"
			      "<cluster id='c' radical='%s' bw='%s' lat='%s' %s/>\n"
			      "</zone>\n</platform>\n",
			      radical, bw, lat, rest);

	cr_assert(length > 0 && (size_t)length < sizeof(text));
	simgrid_import(text, (size_t)length, import);
}

/* The topology that comes out, bound as a scenario would do it. */
static struct conf_doc *bind(const struct simgrid_import *import, struct topology_conf *conf)
{
	struct conf_doc *doc;

	cr_assert_not_null(import->topology, "%s", import->count ? import->notes[0].text : "");
	doc = conf_parse("topology", import->topology, strlen(import->topology), &topology_table,
			 conf, NULL, 0);
	cr_assert_eq(conf_errors(doc), 0);
	return doc;
}

static bool says(const struct simgrid_import *import, bool error, unsigned long line,
		 const char *words)
{
	for (size_t i = 0; i < import->count; i++)
		if (import->notes[i].error == error && import->notes[i].line == line &&
		    strstr(import->notes[i].text, words))
			return true;
	return false;
}

Test(simgrid_import, a_flat_cluster_is_a_star)
{
	struct simgrid_import import;
	struct topology_conf conf;
	struct conf_doc *doc;

	import_cluster(&import, "0-9,20,30-31", "125MBps", "50us", "");
	doc = bind(&import, &conf);
	cr_expect_eq(import.count, 0);
	cr_expect_str_eq(topology_kind((size_t)conf.kind)->name, "star");
	cr_expect_eq(conf.hosts, 13);
	cr_expect_eq(conf.link.rate, 1000000000);
	cr_expect_eq(conf.link.delay, 50 * PS_PER_US);
	cr_expect_eq(conf.switches.latency, 0);
	conf_doc_free(doc);
	simgrid_import_release(&import);
}

Test(simgrid_import, the_latency_of_a_backbone_is_the_switchs)
{
	struct simgrid_import import;
	struct topology_conf conf;
	struct conf_doc *doc;

	import_cluster(&import, "0-9", "1GBps", "1us", "bb_bw='10GBps' bb_lat='500ns'");
	doc = bind(&import, &conf);
	cr_expect_eq(import.count, 0, "10 hosts of 1 GBps cannot fill 10 GBps");
	cr_expect_eq(conf.switches.latency, 500 * PS_PER_NS);
	conf_doc_free(doc);
	simgrid_import_release(&import);

	import_cluster(&import, "0-9", "1GBps", "1us", "bb_bw='9.9GBps'");
	cr_expect_not_null(import.topology);
	cr_expect(says(&import, false, 4, "bb_bw=\"9.9GBps\": a switch of inasim has no such"));
	simgrid_import_release(&import);

	/* A fat pipe holds for each transfer by itself. */
	import_cluster(&import, "0-9", "1GBps", "1us", "bb_bw='1GBps' bb_sharing_policy='FATPIPE'");
	cr_expect_eq(import.count, 0);
	simgrid_import_release(&import);
}

Test(simgrid_import, fat_trees_of_two_and_three_levels)
{
	struct simgrid_import import;
	struct topology_conf conf;
	struct conf_doc *doc;

	import_cluster(&import, "0-15", "10Gbps", "1us", FAT_TREE "'2;4,4;1,2;1,2'");
	doc = bind(&import, &conf);
	cr_expect_str_eq(topology_kind((size_t)conf.kind)->name, "leaf-spine");
	cr_expect_eq(conf.leaves, 4);
	cr_expect_eq(conf.spines, 2);
	cr_expect_eq(conf.hosts_per_leaf, 4);
	cr_expect_eq(topology_uplink_rate(&conf), UINT64_C(20000000000));
	cr_expect(says(&import, false, 4, "2 cables between a leaf and a spine"));
	conf_doc_free(doc);
	simgrid_import_release(&import);

	import_cluster(&import, "0-53", "10Gbps", "1us", FAT_TREE "'3;3,3,6;1,3,3;1,1,1'");
	doc = bind(&import, &conf);
	cr_expect_eq(import.count, 0);
	cr_expect_str_eq(topology_kind((size_t)conf.kind)->name, "fat-tree");
	cr_expect_eq(conf.k, 6);
	conf_doc_free(doc);
	simgrid_import_release(&import);

	import_cluster(&import, "0-7", "10Gbps", "1us", FAT_TREE "'1;8;1;1'");
	doc = bind(&import, &conf);
	cr_expect_str_eq(topology_kind((size_t)conf.kind)->name, "star");
	cr_expect_eq(conf.hosts, 8);
	conf_doc_free(doc);
	simgrid_import_release(&import);
}

Test(simgrid_import, units_are_those_of_simgrid)
{
	static const struct {
		const char *bw, *lat;
		bps rate;
		sim_time delay;
	} samples[] = {
		{ "1.25e9Bps", "1000ps", UINT64_C(10000000000), PS_PER_NS },
		{ "1GiBps", "0.5ms", UINT64_C(8589934592), 500 * PS_PER_US },
		{ "2Mibps", "1e-6s", 2097152, PS_PER_US },
		{ "100Gbps", "2ns", UINT64_C(100000000000), 2 * PS_PER_NS },
		{ "4kBps", "2ns", 32000, 0 }, /* below what a link of inasim may have */
	};

	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		struct simgrid_import import;
		struct topology_conf conf;

		import_cluster(&import, "0-1", samples[i].bw, samples[i].lat, "");
		if (samples[i].delay) {
			struct conf_doc *doc = bind(&import, &conf);

			cr_expect_eq(conf.link.rate, samples[i].rate, "%s", samples[i].bw);
			cr_expect_eq(conf.link.delay, samples[i].delay, "%s", samples[i].lat);
			conf_doc_free(doc);
		} else {
			cr_expect_null(import.topology);
			cr_expect(says(&import, true, 4, "/link/rate"));
		}
		simgrid_import_release(&import);
	}
}

Test(simgrid_import, what_is_another_network_is_refused)
{
	static const struct {
		const char *radical, *bw, *lat, *rest, *words;
	} samples[] = {
		{ "0-1", "10", "1us", "", "bw=\"10\": a number with a unit" },
		{ "0-1", "10gbps", "1us", "", "bw=\"10gbps\": a number with a unit" },
		{ "0-1", "-1Gbps", "1us", "", "bw=\"-1Gbps\"" },
		{ "0-1", "nanGbps", "1us", "", "bw=\"nanGbps\"" },
		{ "0-1", "1e99Gbps", "1us", "", "bw=\"1e99Gbps\"" },
		{ "0-1", "", "1us", "", "needs bw" },
		{ "0-1", "1Gbps", "soon", "", "lat=\"soon\"" },
		{ "0-1", "1Gbps", "0", "", "/link/delay" },
		{ "0", "1Gbps", "1us", "", "/hosts" },
		{ "5-3", "1Gbps", "1us", "", "radical=\"5-3\"" },
		{ "0-", "1Gbps", "1us", "", "radical=\"0-\"" },
		{ "0-3,", "1Gbps", "1us", "", "radical=\"0-3,\"" },
		{ "0-3-5", "1Gbps", "1us", "", "radical=\"0-3-5\"" },
		{ "0-99999999999999999999", "1Gbps", "1us", "", "radical=" },
		{ "0-3", "1Gbps", "1us", "sharing_policy='SHARED'", "links of inasim are" },
		{ "0-3", "1Gbps", "1us", "topology='TORUS'", "FLAT and FAT_TREE can be taken" },
		{ "0-3", "1Gbps", "1us", "topology='FAT_TREE'",
		  "topo_parameters=\"\": a fat tree" },
		{ "0-3", "1Gbps", "1us", FAT_TREE "'2;2,2;1,1'", "3 lists of 2" },
		{ "0-3", "1Gbps", "1us", FAT_TREE "'2;2,2,2;1,1;1,1'", "3 lists of 2" },
		{ "0-3", "1Gbps", "1us", FAT_TREE "'2;2,0;1,1;1,1'", "3 lists of 2" },
		{ "0-3", "1Gbps", "1us", FAT_TREE "'4;2,2,1,1;1,1,1,1;1,1,1,1'", "at most 3" },
		{ "0-4", "1Gbps", "1us", FAT_TREE "'2;2,2;1,1;1,1'", "are 5 hosts" },
		{ "0-3", "1Gbps", "1us", FAT_TREE "'2;2,2;2,1;1,1'",
		  "has one link, here it has 2" },
		{ "0-3", "1Gbps", "1us", FAT_TREE "'2;2,2;1,1;3,1'",
		  "has one link, here it has 3" },
		{ "0-3", "1Gbps", "1us", FAT_TREE "'2;2,2;1,1;1,1001'", "at most 1000 cables" },
		{ "0-15", "1Gbps", "1us", FAT_TREE "'3;2,2,4;1,2,1;1,1,1'",
		  "for k = 4 \"3;2,2,4;1,2,2;1,1,1\"" },
		{ "0-3", "1Gbps", "1us", "colour='red'", "no attribute \"colour\"" },
	};

	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		struct simgrid_import import;

		import_cluster(&import, samples[i].radical, samples[i].bw, samples[i].lat,
			       samples[i].rest);
		cr_expect_null(import.topology, "%s %s", samples[i].radical, samples[i].rest);
		cr_expect(says(&import, true, 4, samples[i].words), "\"%s\", but: %s",
			  samples[i].words, import.count ? import.notes[0].text : "nothing");
		simgrid_import_release(&import);
	}
}

Test(simgrid_import, files_that_hold_no_cluster_are_refused_with_their_line)
{
	static const struct {
		const char *text, *words;
		unsigned long line;
	} samples[] = {
		{ "", "not well-formed", 1 },
		{ "hello", "not well-formed", 1 },
		{ "<platform>\n<cluster", "not well-formed", 2 },
		{ "<platform>\n</zone>", "not well-formed", 2 },
		{ "<html>\n</html>", "<html> is not a platform", 1 },
		{ "<platform>\n\n</platform>", "there is no <cluster>", 3 },
		{ "<platform>\n<zone>\n<host id='h'/><host id='i'/></zone></platform>",
		  "<host> cannot be taken", 3 },
		{ "<platform>\n<cluster id='a'/>\n<cluster id='b'/></platform>",
		  "a second <cluster> (the first is in line 2)", 3 },
	};

	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		struct simgrid_import import;

		simgrid_import(samples[i].text, strlen(samples[i].text), &import);
		cr_expect_null(import.topology);
		cr_expect(says(&import, true, samples[i].line, samples[i].words), "\"%s\": %s",
			  samples[i].text, import.count ? import.notes[0].text : "nothing");
		simgrid_import_release(&import);
	}
}
