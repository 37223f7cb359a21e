#include "run/event_log.h"

#include "base/mem.h"
#include "run/simulation_state.h"
#include "run/switch_watch.h"
#include "topo/links.h"

#include <inttypes.h>
#include <stdlib.h>

static const struct out_column event_columns[] = {
	{ "event", OUT_COUNT, "Number of the event in the run, from 1." },
	{ "time_s", OUT_SECONDS, "When." },
	{ "class", OUT_TEXT, "arrival, departure, timer, control: the order at equal times." },
	{ "entity", OUT_TEXT, "Who acts: a link (from -> to), a NIC, a timer." },
	{ "what", OUT_TEXT, "What happens; for an arrival, the packet." },
	{ "job", OUT_COUNT,
	  "job_id of a packet that switches add, or of a sum. For other events this column and "
	  "those from worker to did are empty." },
	{ "worker", OUT_COUNT, "Worker whose host is at one end of the link; otherwise empty." },
	{ "chunk", OUT_COUNT,
	  "Part of the job's gradients, from 0; ATP, ESA: its low 32 bits; NetReduce: the "
	  "message." },
	{ "switch", OUT_TEXT, "Switch that the packet has reached." },
	{ "aggregator", OUT_COUNT, "Slot or aggregator that the packet names, low 16 bits." },
	{ "did", OUT_TEXT,
	  "What happened to the aggregators of that switch, with + between: allocate, collide, "
	  "preempt, fall_back, duplicate, add, complete, flush, repair, late, discard, overflow, "
	  "free; what timers of switches do to aggregators is not shown." },
	{ "state", OUT_TEXT,
	  "Digest of the run up to this event: equal digests mean equal runs up to here." },
	{ 0 },
};
enum { EVENT_CELLS = sizeof(event_columns) / sizeof(event_columns[0]) - 1 };

const struct out_schema events_schema = { "events.csv",
					  "With run --events FROM..TO: one row for each event.",
					  event_columns };

const char *const event_class_names[] = { [SIM_ARRIVAL] = "arrival",
					  [SIM_DEPARTURE] = "departure",
					  [SIM_TIMER] = "timer",
					  [SIM_CONTROL] = "control",
					  [SIM_SAMPLE] = "sample" };

/* --- words --- */

static bool is_port(const struct simulation *s, uint32_t entity)
{
	return entity < s->topo.net.port_count;
}

/* The worker on the host at one end of a link; UINT32_MAX: none. */
static uint32_t worker_at(const struct network *net, uint32_t port, const uint32_t *worker_of_host)
{
	uint32_t to = net->ports[port].to;

	if (to < net->hosts)
		return worker_of_host[to];
	return port < net->host_ports ? worker_of_host[network_node(net, port)] : UINT32_MAX;
}

/* Fills in the members that come from the packet's scheme. */
static void record_about(const struct network *net, struct event_record *record)
{
	struct packet_about about;

	record->about_job = packet_tells(net, &record->packet, &about);
	if (!record->about_job)
		return;
	record->job = about.job;
	record->chunk = about.chunk;
	record->aggregator = about.aggregator;
	record->worker = worker_at(net, record->event.entity, about.worker_of_host);
}

void event_record(const struct simulation *s, const struct sim_event *event,
		  struct event_record *record)
{
	record->event = *event;
	record->about_job = false;
	if (!is_port(s, event->entity))
		return;
	record->packet = *port_head(&s->topo.net.ports[event->entity]);
	record_about(&s->topo.net, record);
}

char *event_entity(const struct simulation *s, const struct event_record *record,
		   char text[EVENT_TEXT])
{
	const struct sim_event *event = &record->event;

	return is_port(s, event->entity)
		       ? link_name(&s->topo, event->entity, text)
		       : sim_entity_name(&s->sim, event->handler, event->key, text, EVENT_TEXT);
}

/* Writes the packet's protocol, its kind, and the fields of this kind (net/packet.h). Returns the
 * length. */
static int packet_words(const struct network *net, const struct event_record *record, char *text,
			size_t size)
{
	const struct packet *p = &record->packet;
	const char *protocol = net->protocols[p->protocol].ops->name;

	switch ((enum packet_kind)p->kind) {
	case PACKET_DATA:
		return snprintf(text, size, "%s data flow %" PRIu32 " seq %" PRIu64 " payload %u",
				protocol, p->flow, p->seq, p->payload);
	case PACKET_ACK:
		return snprintf(text, size, "%s ack flow %" PRIu32 " seq %" PRIu64, protocol,
				p->flow, p->seq);
	case PACKET_AGGREGATION:
		return snprintf(text, size,
				"%s aggregation job %" PRIu32 " chunk %" PRIu64
				" source %u slot %u",
				protocol, record->about_job ? record->job : p->flow,
				record->about_job ? record->chunk : p->seq, p->source, p->slot);
	case PACKET_CONTROL:
	case PACKET_KINDS:
		break;
	}
	return snprintf(text, size, "%s control flow %" PRIu32 " seq %" PRIu64, protocol, p->flow,
			p->seq);
}

static char *describe_packet(const struct network *net, const struct event_record *record,
			     char text[EVENT_TEXT])
{
	const struct packet *p = &record->packet;
	static const struct {
		uint8_t flag;
		const char *name;
	} flags[] = { { PACKET_ECT, "ECT" },       { PACKET_CE, "CE" },
		      { PACKET_ECE, "ECE" },       { PACKET_RETRANSMIT, "retransmitted" },
		      { PACKET_RESULT, "result" }, { PACKET_URGENT, "urgent" } };
	const char *const *own = net->protocols[p->protocol].ops->flags;
	size_t at = (size_t)packet_words(net, record, text, EVENT_TEXT);

	if (p->kind != PACKET_AGGREGATION && p->generation)
		at += (size_t)snprintf(text + at, EVENT_TEXT - at, " generation %u", p->generation);
	at += (size_t)snprintf(text + at, EVENT_TEXT - at, " size %u", p->size);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (p->flags & flags[i].flag)
			at += (size_t)snprintf(text + at, EVENT_TEXT - at, " %s", flags[i].name);
	for (unsigned i = 0; i < PACKET_OWN_FLAGS; i++)
		if (p->flags & PACKET_OWN(i) && own[i])
			at += (size_t)snprintf(text + at, EVENT_TEXT - at, " %s", own[i]);
	return text;
}

char *event_what(const struct simulation *s, const struct event_record *record,
		 char text[EVENT_TEXT])
{
	static const char *const words[] = { [SIM_ARRIVAL] = "arrives",
					     [SIM_DEPARTURE] = "transmitter is free",
					     [SIM_TIMER] = "expires",
					     [SIM_CONTROL] = "acts",
					     [SIM_SAMPLE] = "looks" };

	if (is_port(s, record->event.entity))
		return describe_packet(&s->topo.net, record, text);
	snprintf(text, EVENT_TEXT, "%s", words[record->event.class]);
	return text;
}

/* --- events.csv --- */

struct event_log {
	struct simulation *s;
	struct out_table *table;
	struct time_span span;
	struct event_record record;
	struct switch_seen seen; /* before the event: the switch that the packet reaches */
	struct sim_observer observer;
};

/* The switch that a packet of a scheme reaches; UINT32_MAX: none. */
static uint32_t switch_of(const struct event_log *log)
{
	return log->record.about_job ? switch_behind(&log->s->topo.net, log->record.event.entity)
				     : UINT32_MAX;
}

/* Before the event: records the state that its handler will change. */
static void keep_event(void *owner, const struct sim_event *event)
{
	struct event_log *log = owner;

	if (!time_span_has(&log->span, event->at))
		return;
	event_record(log->s, event, &log->record);
	if (switch_of(log) != UINT32_MAX)
		switch_look(log->s, switch_of(log), &log->seen);
}

/* Fills in the cells from "job" to "did", which are empty for packets that no switch adds. `name`
 * and `did` are buffers for the texts of the cells. */
static void about_cells(const struct event_log *log, struct out_cell *cells, char name[32],
			char did[SWITCH_DID])
{
	const struct event_record *record = &log->record;
	uint32_t sw = switch_of(log);
	bool none = !record->about_job, elsewhere = sw == UINT32_MAX;
	struct switch_seen now;

	if (!elsewhere) {
		topology_node_name(&log->s->topo, log->s->topo.net.hosts + sw, name, 32);
		switch_look(log->s, sw, &now);
		switch_did(&log->seen, &now, did);
	}
	cells[0] = (struct out_cell){ .none = none, .count = record->job };
	cells[1] = (struct out_cell){ .none = none || record->worker == UINT32_MAX,
				      .count = record->worker };
	cells[2] = (struct out_cell){ .none = none, .count = record->chunk };
	cells[3] = (struct out_cell){ .none = elsewhere, .text = name };
	cells[4] = (struct out_cell){ .none = none || record->aggregator == UINT32_MAX,
				      .count = record->aggregator };
	cells[5] = (struct out_cell){ .none = elsewhere || !*did, .text = did };
}

static void log_event(void *owner, const struct sim_event *event)
{
	struct event_log *log = owner;
	uint64_t state = sim_run_digest(&log->s->sim);
	char entity[EVENT_TEXT], what[EVENT_TEXT], state_text[17], name[32], did[SWITCH_DID];
	struct out_cell cells[EVENT_CELLS];

	if (!time_span_has(&log->span, event->at))
		return;
	snprintf(state_text, sizeof(state_text), "%016" PRIx64, state);
	cells[0] = (struct out_cell){ .count = event->number };
	cells[1] = (struct out_cell){ .time = event->at };
	cells[2] = (struct out_cell){ .text = event_class_names[event->class] };
	cells[3] = (struct out_cell){ .text = event_entity(log->s, &log->record, entity) };
	cells[4] = (struct out_cell){ .text = event_what(log->s, &log->record, what) };
	about_cells(log, &cells[5], name, did);
	cells[EVENT_CELLS - 1] = (struct out_cell){ .text = state_text };
	out_table_row(log->table, cells);
}

struct event_log *event_log_open(struct simulation *s, struct out_dir *dir,
				 const struct time_span *span, char **error)
{
	struct out_table *table = out_table_open(dir, &events_schema, error);
	struct event_log *log;

	if (!table)
		return NULL;
	log = xcalloc(1, sizeof(*log));
	*log = (struct event_log){
		.s = s,
		.table = table,
		.span = *span,
		.observer = { .before = keep_event, .after = log_event, .owner = log },
	};
	simulation_observe(s, &log->observer);
	return log;
}

void event_log_free(struct event_log *log)
{
	free(log);
}
