#include "run/series.h"

#include "base/mem.h"
#include "data/inference.h"
#include "run/failures.h"
#include "run/simulation_state.h"
#include "run/why_table.h"
#include "topo/links.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The end of the run cuts the last interval short. Rates over such a short time could be anything,
 * because a segment counts as a whole when it arrives. */
#define END_OF_INTERVAL                                                                            \
	"End of the interval; in the last row, end of the run. Rates of that row, too, are over "  \
	"a whole interval, so that rows add up to the run."

static const struct out_column network_columns[] = {
	{ "time_s", OUT_SECONDS, END_OF_INTERVAL },
	{ "active_flows", OUT_COUNT, "Number of active background flows." },
	{ "active_jobs", OUT_COUNT, "Number of jobs that have hosts." },
	{ "queued_bytes", OUT_COUNT, "Bytes in all egress queues; empty without packets." },
	{ "mean_utilization", OUT_REAL, "Mean utilisation of all links in the interval." },
	{ "max_utilization", OUT_REAL, "Highest utilisation of a link in the interval." },
	{ "down", OUT_COUNT,
	  "Number of failed links and switches of \"failures\" at the end of the interval." },
	{ 0 },
};
const struct out_schema series_schema = { "series/network.csv", "One row for each sample.",
					  network_columns };

static const struct out_column link_columns[] = {
	{ "time_s", OUT_SECONDS, END_OF_INTERVAL },
	{ "links", OUT_TEXT, "Which links: TIER/DIRECTION, or the number of a link." },
	{ "count", OUT_COUNT, "Number of these links." },
	{ "aggregation_utilization", OUT_REAL,
	  "Share of the interval in which the links sent packets that switches aggregate, or their "
	  "results; mean over the links. Columns of classes and queues are empty without "
	  "packets." },
	{ "jobs_utilization", OUT_REAL,
	  "As aggregation_utilization, for other data of jobs: rings, servers." },
	{ "background_utilization", OUT_REAL, "As aggregation_utilization, for data of flows." },
	{ "control_utilization", OUT_REAL,
	  "As aggregation_utilization, for ACKs and control packets." },
	{ "aggregation_queue_bytes", OUT_COUNT,
	  "Bytes of packets that switches aggregate, and of their results, in all queues of the "
	  "links." },
	{ "jobs_queue_bytes", OUT_COUNT, "As aggregation_queue_bytes, for other data of jobs." },
	{ "background_queue_bytes", OUT_COUNT, "As aggregation_queue_bytes, for data of flows." },
	{ "control_queue_bytes", OUT_COUNT,
	  "As aggregation_queue_bytes, for ACKs and control packets." },
	{ "max_queue_bytes", OUT_COUNT, "Longest queue of these links, all classes together." },
	{ "utilization_jain", OUT_REAL,
	  "Jain's index over the links, of the bytes that each carried in the interval; empty if "
	  "they carried none." },
	{ "packets", OUT_COUNT,
	  "Packets of all classes that reached the far ends of the links in the interval, "
	  "including those that were lost there; empty without packets." },
	{ 0 },
};
/* Indices of cells. FIRST_OF_PACKETS is the first of: utilization by class, queue by class,
 * max_queue. */
enum {
	FIRST_OF_PACKETS = 3,
	UTILIZATION_JAIN = 12,
	PACKETS = 13,
	LINK_CELLS = sizeof(link_columns) / sizeof(link_columns[0]) - 1
};

const struct out_schema link_series_schema = {
	"series/links.csv", "One row for each sample and entry of output.series.links.",
	link_columns
};

static const struct out_column flow_columns[] = {
	{ "time_s", OUT_SECONDS, END_OF_INTERVAL },
	{ "group", OUT_TEXT, "Name of the group." },
	{ "active", OUT_COUNT, "Flows of the group under way at the end of the interval." },
	{ "goodput_bps", OUT_REAL,
	  "Payload that all flows together delivered in order in the interval." },
	{ "whole", OUT_COUNT, "Flows that were under way during the whole interval." },
	{ "jain", OUT_REAL,
	  "Jain's index over the flows of \"whole\", of the payload that each delivered; empty if "
	  "they delivered none." },
	{ 0 },
};
const struct out_schema flow_series_schema = { "series/flows.csv",
					       "One row for each sample and group of flows.",
					       flow_columns };

static const struct out_column owner_columns[] = {
	{ "time_s", OUT_SECONDS, END_OF_INTERVAL },
	{ "links", OUT_TEXT, "Which links, as in series/links.csv." },
	{ "owner_job_id", OUT_COUNT,
	  "Job that sent the bytes; empty: flows sent them, or nobody." },
	{ "owner", OUT_TEXT,
	  "Name of the group of that job, or of the flows; empty: PAUSE frames." },
	{ "class", OUT_TEXT,
	  "Class of traffic: aggregation, jobs, background or control, as in series/links.csv." },
	{ "bytes", OUT_COUNT,
	  "Bytes of frames that reached the far ends of the links in the interval, including those "
	  "that were lost there: the rows of a link add up to its bytes in links.csv." },
	{ 0 },
};
const struct out_schema owner_series_schema = {
	"series/owners.csv",
	"With run --why: one row for each sample, entry of output.series.links, and owner and "
	"class whose frames these links carried in the interval.",
	owner_columns
};

/* The links of an entry of output.series.links. */
struct link_set {
	char *label;     /* owned */
	uint32_t *ports; /* owned */
	uint32_t count;
	/* By link, by class: bytes up to the last sample; owned. */
	struct port_sent (*before)[WATCH_CLASSES];
	uint64_t packets; /* that have arrived over all these links up to the last sample */
};

static_assert((int)TRAFFIC_CLASSES == WATCH_CLASSES, "a class of traffic is a class of watch.h");

struct series {
	struct simulation *s;
	sim_time every;
	sim_time last;                                      /* time of the last sample */
	struct out_table *network, *links, *flows, *owners; /* NULL: not written */
	struct port_sent *before; /* by port: bytes up to the last sample; owned */
	double *carried;          /* wire bytes by port in the interval; owned */
	struct link_set *sets;
	size_t set_count;
	struct why_snapshot before_owners; /* at the last sample, with --why; owned */
	struct timer timer;
};

/* --- classes --- */

static unsigned traffic_of(const void *owner, const struct packet *packet)
{
	const struct simulation *s = owner;
	const struct tcp_app *app = NULL;

	switch ((enum packet_kind)packet->kind) {
	case PACKET_AGGREGATION:
		return TRAFFIC_AGGREGATION;
	case PACKET_ACK:
	case PACKET_CONTROL:
		return TRAFFIC_CONTROL;
	case PACKET_DATA:
	case PACKET_KINDS:
		break;
	}
	if (!scenario_has_jobs(s->scenario))
		return TRAFFIC_BACKGROUND;
	if (!tcp_app_of(s->tcp, packet, &app) && !roce_app_of(s->roce, packet, &app))
		return TRAFFIC_JOBS;
	/* no app: a late copy on a closed connection, which most likely belonged to a flow */
	return !app || flows_own(app) ? TRAFFIC_BACKGROUND : TRAFFIC_JOBS;
}

/* --- samples --- */

/* Sets series->carried to the bytes that every link has carried since the last sample. */
static void read_carried(struct series *series)
{
	struct simulation *s = series->s;
	const double *now = s->fluid ? fluid_all_carried(s->fluid) : NULL;

	for (uint32_t i = 0; i < s->topo.net.port_count; i++) {
		struct port_sent sent =
			now ? (struct port_sent){ .part = now[i] } : network_sent(&s->topo.net, i);

		series->carried[i] = port_sent_since(&sent, &series->before[i]);
		series->before[i] = sent;
	}
}

static void sample_network(struct series *series)
{
	struct simulation *s = series->s;
	struct network *net = &s->topo.net;
	double every = seconds_of(series->every), sum = 0, max = 0;
	uint64_t queued = 0;

	for (uint32_t i = 0; i < net->port_count; i++) {
		const struct link_class *link = port_class(net, &net->ports[i]);
		double utilization = series->carried[i] * 8 / ((double)link->rate * every);

		sum += utilization;
		max = utilization > max ? utilization : max;
		queued += network_queue_bytes(net, i);
	}
	out_table_row(series->network,
		      (struct out_cell[]){ { .time = s->sim.now },
					   { .count = flows_active(s->flows) },
					   { .count = jobs_report(s->jobs)->running },
					   { .none = s->fluid, .count = queued },
					   { .real = sum / net->port_count },
					   { .real = max },
					   { .count = failures_down(s->failures) } });
}

/* Adds the i-th link of a set to the cells of the set's row. `could`: capacity of the link in the
 * interval, in bits. Returns the link's utilization. */
static double add_link(struct link_set *set, uint32_t i, struct network *net, double could,
		       struct out_cell *cells)
{
	struct out_cell *used = &cells[FIRST_OF_PACKETS], *queued = used + WATCH_CLASSES,
			*longest = queued + WATCH_CLASSES, *packets = &cells[PACKETS];
	struct port_sent carried[WATCH_CLASSES];
	uint64_t queue[WATCH_CLASSES], length = 0;
	double all = 0;

	network_watched(net, set->ports[i], carried);
	network_queue_by_class(net, set->ports[i], queue);
	for (unsigned c = 0; c < WATCH_CLASSES; c++) {
		double share = port_sent_since(&carried[c], &set->before[i][c]) * 8 / could;

		set->before[i][c] = carried[c];
		used[c].real += share / set->count;
		all += share;
		queued[c].count += queue[c];
		length += queue[c];
	}
	longest->count = length > longest->count ? length : longest->count;
	packets->count += network_arrived(net, set->ports[i]);
	return all;
}

/* Writes the row of a set: without packets, only Jain's index. */
static void sample_links(struct series *series, struct link_set *set)
{
	struct simulation *s = series->s;
	struct network *net = &s->topo.net;
	struct out_cell cells[LINK_CELLS] = { { .time = s->sim.now },
					      { .text = set->label },
					      { .count = set->count } };
	struct jain jain = { 0 };
	uint64_t packets;

	for (unsigned c = FIRST_OF_PACKETS; c < LINK_CELLS; c++)
		cells[c].none = s->fluid;
	for (uint32_t i = 0; i < set->count; i++) {
		double could = (double)port_class(net, &net->ports[set->ports[i]])->rate *
			       seconds_of(series->every);

		jain_add(&jain, s->fluid ? series->carried[set->ports[i]] * 8 / could
					 : add_link(set, i, net, could, cells));
	}
	packets = cells[PACKETS].count; /* of the run so far; the row is of the interval */
	cells[PACKETS].count -= set->packets;
	set->packets = packets;
	cells[UTILIZATION_JAIN] = (struct out_cell){ .real = jain_index(&jain) };
	out_table_row(series->links, cells);
}

static void write_owner(struct series *series, const char *links, const struct why_volume *volume)
{
	const char *names[WHY_CLASSES] = { "aggregation",
					   volume->owner & WHY_FLOWS ? "background" : "jobs",
					   "control" };
	const char *owner = why_owner_name(series->s, volume->owner);

	for (unsigned c = 0; c < WHY_CLASSES; c++)
		if (volume->bytes[c])
			out_table_row(series->owners,
				      (struct out_cell[]){ { .time = series->s->sim.now },
							   { .text = links },
							   why_owner_job(volume->owner),
							   { .none = !owner, .text = owner },
							   { .text = names[c] },
							   { .count = volume->bytes[c] } });
}

/* With --why: writes who filled the links since the last sample. */
static void sample_owners(struct series *series)
{
	struct why *why = why_of(&series->s->topo.net);

	for (size_t i = 0; i < series->set_count; i++) {
		const struct link_set *set = &series->sets[i];
		const struct why_snapshot *list =
			why_carried(why, set->ports, set->count, &series->before_owners);

		for (size_t v = 0; v < list->count; v++)
			write_owner(series, set->label, &list->volumes[v]);
	}
	why_snapshot(why, &series->before_owners);
}

static void sample_flows(struct series *series)
{
	struct simulation *s = series->s;
	struct flow_sample *samples = xcalloc(s->scenario->flows.count, sizeof(*samples));

	flows_sample(s->flows, series->last, samples);
	for_enabled_flows(group, s->scenario) {
		const struct flow_sample *sample = &samples[group - scenario_flows(s->scenario)];

		out_table_row(series->flows,
			      (struct out_cell[]){ { .time = s->sim.now },
						   { .text = group->name },
						   { .count = sample->active },
						   { .real = (double)sample->delivered * 8 /
							     seconds_of(series->every) },
						   { .count = (uint64_t)sample->whole.n },
						   { .real = jain_index(&sample->whole) } });
	}
	free(samples);
}

static void sample_all(struct series *series)
{
	read_carried(series);
	sample_network(series);
	for (size_t i = 0; i < series->set_count; i++)
		sample_links(series, &series->sets[i]);
	if (series->flows)
		sample_flows(series);
	if (series->owners)
		sample_owners(series);
	series->last = series->s->sim.now;
}

/* If nothing else can happen any more, the run is over, and series_stop() takes the last sample. */
static void on_sample(struct sim *sim, uint32_t entity, void *owner)
{
	struct series *series = owner;

	(void)entity;
	sim->uncounted++;
	if (!simulation_moves(series->s))
		return;
	sample_all(series);
	timer_set(sim, &series->timer, sim->now + series->every);
}

/* --- set-up --- */

uint32_t series_ports(const struct simulation *s, const struct series_links *entry, uint32_t *ports)
{
	const struct network *net = &s->topo.net;
	struct link_place wanted;
	uint32_t count = 0;

	ports[0] = (uint32_t)entry->number;
	if (entry->form == SERIES_LINK)
		return 1;
	SIM_BUG_ON(!links_parse(entry->tier, &s->scenario->topology, &wanted));
	for (uint32_t i = 0; i < net->port_count; i++) {
		struct link_place place = link_place_of(net, i);

		if (place.tier == wanted.tier && place.way == wanted.way)
			ports[count++] = i;
	}
	return count;
}

static void init_set(struct link_set *set, struct simulation *s, const struct series_links *conf)
{
	struct network *net = &s->topo.net;

	set->ports = xcalloc(net->port_count, sizeof(*set->ports));
	set->label = conf->form == SERIES_LINK ? xasprintf("%" PRId64, conf->number)
					       : xstrdup(conf->tier);
	set->count = series_ports(s, conf, set->ports);
	for (uint32_t i = 0; net->watch && i < set->count; i++)
		network_watch_port(net, set->ports[i]);
	set->before = xcalloc(set->count, sizeof(*set->before));
}

struct series *series_start(struct simulation *s, struct out_dir *dir, char **error)
{
	const struct scenario *scenario = s->scenario;
	const struct series_links *links = scenario->series.links.items;
	struct series *series;

	if (!dir || !scenario->series.every)
		return NULL;
	series = xcalloc(1, sizeof(*series));
	series->s = s;
	series->every = scenario->series.every;
	series->before = xcalloc(s->topo.net.port_count, sizeof(*series->before));
	series->carried = xcalloc(s->topo.net.port_count, sizeof(*series->carried));
	timer_open(&s->sim, &series->timer, SIM_SAMPLE, sim_key(SIM_SAMPLE, 0), on_sample, series);
	if (!(series->network = out_table_open(dir, &series_schema, error)) ||
	    (scenario->series.links.count &&
	     !(series->links = out_table_open(dir, &link_series_schema, error))) ||
	    (scenario->series.flows &&
	     !(series->flows = out_table_open(dir, &flow_series_schema, error)))) {
		series_free(series);
		return NULL;
	}
	if (scenario->series.links.count && !s->fluid)
		network_watch(&s->topo.net, traffic_of, s);
	series->set_count = scenario->series.links.count;
	series->sets = xcalloc(series->set_count, sizeof(*series->sets));
	for (size_t i = 0; i < series->set_count; i++)
		init_set(&series->sets[i], s, &links[i]);
	timer_set(&s->sim, &series->timer, series->every);
	return series;
}

bool series_by_owner(struct series *series, struct out_dir *dir, char **error)
{
	if (!series || !series->links)
		return true;
	series->owners = out_table_open(dir, &owner_series_schema, error);
	return series->owners;
}

void series_stop(struct series *series)
{
	if (!series)
		return;
	timer_cancel(&series->s->sim, &series->timer);
	if (series->s->sim.now > series->last)
		sample_all(series);
}

void series_free(struct series *series)
{
	if (!series)
		return;
	for (size_t i = 0; i < series->set_count; i++) {
		free(series->sets[i].label);
		free(series->sets[i].ports);
		free(series->sets[i].before);
	}
	free(series->sets);
	free(series->before);
	free(series->carried);
	free(series->before_owners.volumes);
	free(series);
}
