#include "scenario/topology_conf.h"

#include "net/network.h"

#include <inttypes.h>

#define PLACE "/topology/switch/pause"

struct pause_check {
	const struct topology_conf *conf;
	struct conf_doc *doc;
	bool fabric;
	struct pause_params params;
};

static const char *links_of(const struct pause_check *check)
{
	return check->fabric ? "between switches" : "of hosts";
}

static void check_headroom(const struct pause_check *check)
{
	bytes needed = topology_headroom(check->conf, check->fabric, &check->params);

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
			   links_of(check), needed, HEADROOM_MAX);
	else if (check->params.headroom < needed)
		conf_error(
			check->doc, PLACE "/headroom",
			"%" PRIu64
			" bytes are not enough for the links %s: after XOFF up to %" PRIu64
			" bytes can still come in (rate x (2 delays + latency + response + a PAUSE "
			"frame) + 2 frames of \"mtu\"%s); allowed: at least \"%" PRIu64 "B\"",
			check->params.headroom, links_of(check), needed, answers, needed);
}

/* False if there is not even room for the headroom. */
static bool check_memory(const struct pause_check *check)
{
	const struct pause_params *p = &check->params;
	bytes fixed = p->headroom + p->mtu, xoff = check->conf->switches.pause.set.xoff;

	if (p->memory <= fixed) {
		conf_error(check->doc, "/topology/switch/buffer",
			   "%" PRIu64 " bytes do not hold the headroom of the links %s (%" PRIu64
			   " bytes), a frame (%" PRIu32
			   ") and something to share; allowed: more than %" PRIu64 " bytes",
			   p->memory, links_of(check), p->headroom, p->mtu, fixed);
		return false;
	}
	if (check->conf->switches.pause.form == PAUSE_SET && xoff > p->memory - fixed)
		conf_error(check->doc, PLACE "/xoff",
			   "the buffer of %" PRIu64 " bytes leaves %" PRIu64
			   " beside the headroom of the links %s (%" PRIu64
			   ") and a frame (%" PRIu32 "); allowed: at most \"%" PRIu64 "B\"",
			   p->memory, p->memory - fixed, links_of(check), p->headroom, p->mtu,
			   p->memory - fixed);
	return true;
}

static void check_thresholds(const struct topology_conf *conf, struct conf_doc *doc)
{
	const struct pause_conf *pause = &conf->switches.pause;
	struct pause_params params = topology_pause(conf, false);

	if (pause->form != PAUSE_SET)
		return;
	if (pause->set.alpha > 0 && (pause->set.xoff || pause->set.xon))
		conf_error(doc, PLACE "/alpha",
			   "moves the thresholds with the free memory; give either \"alpha\" or "
			   "\"xoff\" and \"xon\"");
	else if (pause->set.xon && pause->set.xon >= params.xoff)
		conf_error(doc, PLACE "/xon", "must be smaller than xoff, %" PRIu64 " bytes",
			   params.xoff);
}

/* A queue fed by a single port must reach the ECN threshold before that port is stopped. With
 * alpha, a single port gets alpha / (1 + alpha) of the memory that the smallest switch shares. */
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

static void check_marks(const struct pause_check *check)
{
	const struct topology_conf *conf = check->conf;
	struct queue_size first = topology_first_mark(&conf->switches.ecn,
						      topology_link_conf(conf, check->fabric).rate);
	bytes longest = longest_queue(check), queue;

	if (first.amount == UINT64_MAX)
		return;
	queue = first.amount * (first.packets ? check->params.mtu : 1);
	if (longest <= queue)
		conf_error(check->doc, PLACE,
			   "a queue that one port feeds is stopped at %" PRIu64
			   " bytes, before ECN marks above %" PRIu64
			   " (frames of \"mtu\"): nothing of it would ever be marked; raise xoff "
			   "and buffer, lower the ECN threshold, or \"ecn\": false",
			   longest, queue);
}

void topology_check_pause(const struct topology_conf *conf, struct conf_doc *doc)
{
	unsigned kinds = topology_tiers(conf) > 1 ? 2 : 1; /* of links: of hosts, of the fabric */
	size_t before = conf_errors(doc);

	if (!topology_pause(conf, false).on)
		return;
	if (conf->host.queue)
		conf_error(doc, "/topology/host/queue",
			   "a limited queue drops, and a network with PAUSE must not");
	check_thresholds(conf, doc);
	for (unsigned fabric = 0; fabric < kinds; fabric++) {
		struct pause_check check = { conf, doc, fabric, topology_pause(conf, fabric) };

		check_headroom(&check);
		if (!check_memory(&check))
			return;
		if (conf_errors(doc) == before)
			check_marks(&check);
	}
}
