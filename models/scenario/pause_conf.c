#include "scenario/topology_conf.h"

#include "net/network.h"
#include "topo/graph.h"

#include <inttypes.h>
#include <stdio.h>

#define PLACE "/topology/switch/pause"

/* A check of all links of one kind that lead into switches of one kind; in a graph, of one link. */
struct pause_check {
	const struct topology_conf *conf;
	struct conf_doc *doc;
	bool marks;        /* somebody heeds ECN marks */
	const char *links; /* name of the links in messages: "of hosts" */
	struct link_conf link;
	const struct switch_conf *at; /* the switch at the link's far end */
	struct pause_params params;   /* of the port there */
};

static void check_headroom(const struct pause_check *check)
{
	bytes needed = topology_headroom_of(check->conf, &check->link, check->at, &check->params);
	char answers[96] = "";

	if (check->conf->switches.answers.packets)
		snprintf(answers, sizeof(answers),
			 "; the jobs' schemes hold packets for %g s and send up to %u for one",
			 seconds_of(check->conf->switches.answers.held),
			 check->conf->switches.answers.packets);
	if (needed > HEADROOM_MAX)
		conf_error(check->doc, PLACE,
			   "the links %s need a headroom of %" PRIu64
			   " bytes a port; at most %" PRIu32 " are possible",
			   check->links, needed, HEADROOM_MAX);
	else if (check->params.headroom < needed)
		conf_error(
			check->doc, PLACE "/headroom",
			"%" PRIu64
			" bytes are not enough for the links %s: after XOFF up to %" PRIu64
			" bytes can still come in (rate x (2 delays + latency + response + a PAUSE "
			"frame) + 2 frames of \"mtu\"%s); allowed: at least \"%" PRIu64 "B\"",
			check->params.headroom, check->links, needed, answers, needed);
}

/* Returns false if headroom and a frame take all memory. */
static bool check_memory(const struct pause_check *check)
{
	const struct pause_params *p = &check->params;
	bytes fixed = p->headroom + p->mtu, xoff = check->conf->switches.pause.set.xoff;

	if (p->memory <= fixed) {
		conf_error(check->doc, "/topology/switch/buffer",
			   "%" PRIu64 " bytes do not hold the headroom of the links %s (%" PRIu64
			   " bytes), a frame (%" PRIu32
			   ") and something to share; allowed: more than %" PRIu64 " bytes",
			   p->memory, check->links, p->headroom, p->mtu, fixed);
		return false;
	}
	if (check->conf->switches.pause.form == PAUSE_SET && xoff > p->memory - fixed)
		conf_error(check->doc, PLACE "/xoff",
			   "the buffer of %" PRIu64 " bytes leaves %" PRIu64
			   " beside the headroom of the links %s (%" PRIu64
			   ") and a frame (%" PRIu32 "); allowed: at most \"%" PRIu64 "B\"",
			   p->memory, p->memory - fixed, check->links, p->headroom, p->mtu,
			   p->memory - fixed);
	return true;
}

static void check_alpha(const struct pause_conf *pause, struct conf_doc *doc)
{
	if (pause->form == PAUSE_SET && pause->set.alpha > 0 && (pause->set.xoff || pause->set.xon))
		conf_error(doc, PLACE "/alpha",
			   "sets the thresholds by the free memory; give either \"alpha\" or "
			   "\"xoff\" and \"xon\"");
}

static void check_xon(const struct pause_check *check)
{
	const struct pause_conf *pause = &check->conf->switches.pause;

	if (pause->form == PAUSE_SET && pause->set.xon && pause->set.xon >= check->params.xoff)
		conf_error(check->doc, PLACE "/xon", "must be smaller than xoff, %" PRIu64 " bytes",
			   check->params.xoff);
}

/* The longest queue that a single ingress port can feed before PAUSE stops its neighbour. With
 * alpha, this is alpha / (1 + alpha) of the shared memory of the switch with the fewest ports. */
static bytes longest_queue(const struct pause_check *check)
{
	const struct pause_params *p = &check->params;
	struct topology_shape shape;
	uint32_t fewest = UINT32_MAX;

	if (!p->alpha)
		return p->xoff;
	topology_shape(check->conf, &shape);
	for (uint32_t i = 0; i < shape.switches; i++)
		fewest = shape.ports[i] < fewest ? shape.ports[i] : fewest;
	topology_shape_release(&shape);
	return (bytes)((double)(fewest * (p->memory - p->headroom - p->mtu)) * (double)p->alpha /
		       (double)(ALPHA_ONE + p->alpha));
}

/* A queue that a single ingress port feeds must reach the ECN threshold before PAUSE stops the
 * port's neighbour. */
static void check_marks(const struct pause_check *check)
{
	struct queue_size first = topology_first_mark(&check->at->ecn, check->link.rate);
	bytes longest = longest_queue(check), queue;

	if (first.amount == UINT64_MAX || !check->marks)
		return;
	queue = first.amount * (first.packets ? check->params.mtu : 1);
	if (longest <= queue)
		conf_error(check->doc, PLACE,
			   "PAUSE stops a queue that one port feeds at %" PRIu64
			   " bytes, before ECN marks above %" PRIu64
			   " (frames of \"mtu\"): packets in it would never be marked; raise xoff "
			   "and buffer, lower the ECN threshold, or write \"ecn\": false",
			   longest, queue);
}

/* Checks links of this name; the other members of `of` are as they are for all links. Returns
 * whether there was no error. */
static bool check_links(const struct pause_check *of, const char *links,
			const struct link_conf *link, const struct switch_conf *at)
{
	size_t before = conf_errors(of->doc);
	struct pause_check check = *of;

	check.links = links;
	check.link = *link;
	check.at = at;
	check.params = topology_pause_of(of->conf, link, at);
	check_headroom(&check);
	if (!check_memory(&check))
		return false;
	check_xon(&check);
	if (conf_errors(of->doc) == before)
		check_marks(&check);
	return conf_errors(of->doc) == before;
}

/* Checks every link, in each direction that leads into a switch, up to the first mistake. */
static void check_graph(const struct graph *graph, const struct pause_check *of)
{
	for (uint32_t direction = 0; direction < 2 * graph->link_count; direction++) {
		const struct graph_link *link = &graph->links[direction / 2];
		uint32_t to = direction % 2 ? link->b : link->a;
		char links[GRAPH_NAME_MAX + 16];

		if (to < graph->hosts)
			continue;
		snprintf(links, sizeof(links), "to \"%s\"", graph->names[to]);
		if (!check_links(of, links, &link->link,
				 &graph->settings[graph->settings_of[to - graph->hosts]]))
			return;
	}
}

void topology_check_pause(const struct topology_conf *conf, bool marks, struct conf_doc *doc)
{
	const struct pause_check all = { .conf = conf, .doc = doc, .marks = marks };
	struct link_conf of_hosts = topology_link_conf(conf, false);
	struct link_conf fabric = topology_link_conf(conf, true);

	if (!topology_pause(conf, false).on)
		return;
	if (conf->switches.shared.size)
		conf_error(doc, "/topology/switch/shared_buffer",
			   "with pause, ports share their buffers by \"alpha\" of pause");
	if (conf->host.queue)
		conf_error(doc, "/topology/host/queue",
			   "a limited queue drops packets, which a network with PAUSE must not do");
	check_alpha(&conf->switches.pause, doc);
	if (conf->graph)
		check_graph(conf->graph, &all);
	else if (check_links(&all, "of hosts", &of_hosts, &conf->switches) &&
		 topology_tiers(conf) > 1)
		check_links(&all, "between switches", &fabric, &conf->switches);
}
