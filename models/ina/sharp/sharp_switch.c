/* SHARP at an aggregation node. sharp.c says what is modelled. */
#include "ina/sharp/sharp.h"

#include "base/mem.h"
#include "net/lossless.h"
#include "transport/keys.h"

#include <stdlib.h>

static struct network *net_of(const struct sharp_node *node)
{
	return &node->job->base.scheme->env.topo->net;
}

static sim_time sharp_now_of(const struct sharp_node *node)
{
	return node->job->base.scheme->env.sim->now;
}

/* The node has room for contributions before this. */
static uint64_t sharp_room(const struct sharp_node *node)
{
	return (sharp_is_root(node) ? node->down_freed : node->freed) + node->job->size;
}

/* The next chunk after this one that the same child sends. */
static uint64_t up_after(const struct sharp_node *node, uint64_t chunk)
{
	return chunk + (node->job->kind == SHARP_ALL_GATHER
				? node->gap[chunk % sharp_ranks(node->job)]
				: 1);
}

/* The next chunk after this one that the same child gets. */
static uint64_t down_after(const struct sharp_node *node, uint64_t chunk)
{
	return chunk + (node->job->kind == SHARP_REDUCE_SCATTER
				? node->gap[chunk % sharp_ranks(node->job)]
				: 1);
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* --- timers --- */

/* Whether a sum waits for room at the parent. */
static bool is_blocked(const struct sharp_node *node)
{
	return !sharp_is_root(node) && node->next < node->complete && node->next >= node->limit;
}

/* Whether a result waits for room at a child. */
static bool is_blocked_below(const struct sharp_node *node)
{
	return node->sent < node->have && node->sent >= node->down_limit;
}

static sim_time sharp_switch_due(const void *self)
{
	const struct sharp_node *node = self;

	return node->freed < node->next || node->down_freed < node->sent || is_blocked(node) ||
			       is_blocked_below(node)
		       ? node->progress + sharp_conf(node->job)->timeout
		       : SIM_TIME_MAX;
}

static void sharp_switch_arm(struct sharp_node *node)
{
	alarm_set(node->job->base.scheme->env.sim, &node->alarm, sharp_switch_due(node));
}

/* Restarts the timeout, after an acknowledgement, or when a wait for one or for room begins. */
static void progress(struct sharp_node *node)
{
	node->progress = sharp_now_of(node);
	sharp_switch_arm(node);
}

/* Starts the timeout if the next result waits for room and no other for an acknowledgement. */
static void watch_room_below(struct sharp_node *node)
{
	if (is_blocked_below(node) && node->down_freed == node->sent)
		progress(node);
}

/* --- packets of a node --- */

static void sharp_switch_fill(const struct sharp_node *node, struct packet *packet, uint64_t chunk,
			      uint8_t flags)
{
	const struct ina_job *job = &node->job->base;

	*packet = (struct packet){ .chunk = chunk,
				   .flow = job->number,
				   .size = SHARP_ACK_SIZE,
				   .kind = PACKET_AGGREGATION,
				   .protocol = job->scheme->protocol,
				   .flags = flags,
				   .source = (uint16_t)node->base.place->number };
}

/* A packet of an entry with `end` asks for an acknowledgement. */
static void fill_chunk(const struct sharp_node *node, struct packet *packet, uint64_t chunk,
		       const struct sharp_entry *entry)
{
	sharp_switch_fill(node, packet, chunk, entry->flags);
	packet->size = (uint16_t)node->job->base.scheme->frame;
	packet->value = entry->value;
	packet->tag = entry->end ? SHARP_END : 0;
	packet->flags |= entry->end ? SHARP_ASK : 0;
}

static void ack_child(const struct sharp_node *node, uint32_t c, uint8_t flags,
		      struct switch_actions *actions)
{
	struct packet packet;

	sharp_switch_fill(node, &packet, SHARP_ACK_CHUNK, flags | PACKET_RESULT);
	sharp_tell(&packet, node->child[c].received, sharp_room(node));
	ina_send(actions, &packet, &node->base.place->down_ports[c], 1);
}

static void tell_parent(struct sharp_node *node, struct packet *packet)
{
	node->told_freed = node->down_freed;
	node->told_have = node->have;
	sharp_tell(packet, node->down_freed, node->have);
}

static void ack_parent(struct sharp_node *node, uint8_t flags, struct switch_actions *actions)
{
	struct packet packet;

	sharp_switch_fill(node, &packet, SHARP_ACK_CHUNK, flags);
	tell_parent(node, &packet);
	ina_send_up(actions, &node->base, &packet);
}

/* Tells what holds for every child: all have contributed to the sums that are complete. `to_all`:
 * the packet goes to all children. */
static void tell_children(struct sharp_node *node, struct packet *packet, bool to_all)
{
	sharp_tell(packet, node->complete, sharp_room(node));
	if (!to_all)
		return;
	node->told = sharp_room(node);
	node->told_complete = node->complete;
}

/* Tells the children of sums that have come and of new room, if no result has told them, and if
 * there is much of either. At the root results follow sums at once. */
static void tell_news_down(struct sharp_node *node, struct switch_actions *actions)
{
	uint64_t news = sharp_news(node->job);
	struct packet packet;

	if (sharp_room(node) < node->told + news &&
	    (sharp_is_root(node) || node->complete < node->told_complete + news))
		return;
	sharp_switch_fill(node, &packet, SHARP_ACK_CHUNK, SHARP_ACK | PACKET_RESULT);
	tell_children(node, &packet, true);
	ina_send_down(actions, &node->base, &packet);
}

/* Tells the parent which results are here or gone, unless a sum has told this. There must be many
 * of them, or the parent must have asked about the last one that is gone. */
static void tell_news_up(struct sharp_node *node, struct switch_actions *actions)
{
	if (node->down_freed >= node->told_freed + sharp_news(node->job) ||
	    node->have >= node->told_have + sharp_news(node->job) ||
	    (node->down_freed > node->told_freed && node->end_freed))
		ack_parent(node, SHARP_ACK, actions);
}

/* --- packets leave one at a time, no faster than the link --- */

static void depart(struct sharp_node *node, const struct packet *packet, uint32_t back,
		   const uint32_t *ports, uint32_t count)
{
	struct switch_send send = { .packet = *packet, .ports = ports, .count = count };

	network_switch_send(net_of(node), back, &send);
}

static void sharp_send_sum(struct sharp_node *node)
{
	const struct sharp_entry *sum = sharp_sum_of(node, node->next);
	struct packet packet;

	fill_chunk(node, &packet, node->next, sum);
	if (node->freed == node->next) /* no other sum waits for an acknowledgement */
		progress(node);
	if (node->next < node->probe) {
		packet.flags |= PACKET_RETRANSMIT;
		node->job->base.stats.retransmissions++;
	}
	node->next = sharp_up_from(node, node->next + 1);
	if (node->timed_out || node->next >= lesser(node->limit, node->freed + node->job->size) ||
	    node->next >= node->told)
		packet.flags |= SHARP_ASK; /* the next sum may have to wait for room */
	node->timed_out = false;
	tell_parent(node, &packet);
	node->up_free = sharp_now_of(node) + node->up_time;
	depart(node, &packet, sum->back, &node->base.place->up_port, 1);
	sharp_switch_arm(node);
}

static void sharp_send_result(struct sharp_node *node)
{
	const struct sharp_entry *result = sharp_result_of(node, node->sent);
	bool to_all = node->job->kind != SHARP_REDUCE_SCATTER;
	uint64_t chunk = node->sent;
	struct packet packet;
	uint32_t c;

	fill_chunk(node, &packet, chunk, result);
	packet.flags |= PACKET_RESULT;
	if (node->down_freed == node->sent)
		progress(node);
	node->sent = sharp_down_from(node, chunk + 1);
	if (node->sent >= node->down_limit)
		packet.flags |= SHARP_ASK; /* the next result may have to wait for room */
	tell_children(node, &packet, to_all);
	node->down_free = sharp_now_of(node) + node->down_time;
	c = to_all ? 0 : node->toward[chunk % sharp_ranks(node->job)];
	depart(node, &packet, result->back, &node->base.place->down_ports[c],
	       to_all ? node->base.place->children : 1);
	sharp_switch_arm(node);
}

/* Retransmits a result to a child that lacks it. This goes before new results. */
static void sharp_send_again(struct sharp_node *node)
{
	struct sharp_child *child = node->child;
	const struct sharp_entry *result;
	struct packet packet;

	while (child->resend == SHARP_NONE)
		child++;
	result = sharp_result_of(node, child->resend);
	fill_chunk(node, &packet, child->resend, result);
	packet.flags |= PACKET_RESULT | PACKET_RETRANSMIT;
	node->base.memory->stats.repairs++;
	child->resend = down_after(node, child->resend);
	if (child->resend >= node->sent || child->probe) { /* a probe is one result */
		packet.flags |= SHARP_ASK;
		child->resend = SHARP_NONE;
		node->resending--;
	}
	sharp_tell(&packet, child->received, sharp_room(node));
	node->down_free = sharp_now_of(node) + node->down_time;
	depart(node, &packet, result->back, &node->base.place->down_ports[child - node->child], 1);
}

static bool has_sum(const struct sharp_node *node)
{
	return !sharp_is_root(node) && node->next < node->complete && node->next < node->limit;
}

static bool has_result(const struct sharp_node *node)
{
	return node->resending || (node->sent < node->have && node->sent < node->down_limit);
}

static sim_time later(sim_time a, sim_time b)
{
	return a > b ? a : b;
}

static sim_time result_time(const struct sharp_node *node)
{
	return node->resending ? node->down_free
			       : later(node->down_free, sharp_result_of(node, node->sent)->ready);
}

/* Sets the timer to when the next packet leaves, unless it is set to an earlier time. */
static void plan_turn(struct sharp_node *node)
{
	sim_time at = SIM_TIME_MAX, now = sharp_now_of(node);

	if (has_sum(node))
		at = later(node->up_free, sharp_sum_of(node, node->next)->ready);
	if (has_result(node))
		at = lesser(at, result_time(node));
	if (at == SIM_TIME_MAX || later(at, now) >= node->turn_at)
		return;
	node->turn_at = later(at, now);
	timer_set(node->job->base.scheme->env.sim, &node->turn, node->turn_at);
}

/* Whether an entry waits, as PAUSE has stopped the neighbour behind the port it is charged to. */
static bool is_stopped(const struct sharp_node *node, const struct sharp_entry *entry)
{
	struct network *net = net_of(node);

	return net->lossless && lossless_ingress(net, entry->back)->stopped;
}

static void on_turn(struct sim *sim, uint32_t entity, void *owner)
{
	struct sharp_node *node = owner;

	(void)entity;
	node->turn_at = SIM_TIME_MAX;
	if (has_sum(node) &&
	    later(node->up_free, sharp_sum_of(node, node->next)->ready) <= sim->now) {
		if (is_stopped(node, sharp_sum_of(node, node->next)))
			node->up_free = sim->now + node->up_time;
		else
			sharp_send_sum(node);
	}
	if (has_result(node) && result_time(node) <= sim->now) {
		if (node->resending)
			sharp_send_again(node);
		else if (is_stopped(node, sharp_result_of(node, node->sent)))
			node->down_free = sim->now + node->down_time;
		else
			sharp_send_result(node);
	}
	plan_turn(node);
}

/* --- acknowledgements --- */

static void resend_to(struct sharp_node *node, struct sharp_child *child, uint64_t from)
{
	if (from >= node->sent)
		return;
	node->resending += child->resend == SHARP_NONE;
	child->resend = from;
}

/* Finds the child that has fewest results. What all children have is gone from here. */
static void find_slowest(struct sharp_node *node)
{
	uint64_t min = SHARP_NONE;

	for (uint32_t c = 0; c < node->base.place->children; c++)
		if (node->child[c].has < min) {
			min = node->child[c].has;
			node->slowest = c;
		}
	if (min > node->down_freed) {
		for (uint64_t i = node->down_freed; i < min; i = sharp_down_from(node, i + 1))
			node->end_freed = sharp_result_of(node, i)->end;
		node->down_freed = min;
		progress(node);
	}
}

/* Finds the child whose room ends first. */
static void find_fullest(struct sharp_node *node)
{
	uint64_t min = SHARP_NONE;

	for (uint32_t c = 0; c < node->base.place->children; c++)
		if (node->child[c].freed < min) {
			min = node->child[c].freed;
			node->fullest = c;
		}
	if (min + node->job->size > node->down_limit) {
		node->down_limit = min + node->job->size;
		progress(node);
	}
}

static void listen_to_child(struct sharp_node *node, uint32_t c, const struct packet *packet)
{
	struct sharp_child *child = &node->child[c];

	child->freed = sharp_told(packet, 0, child->freed);
	child->has = sharp_told(packet, 1, child->has);
	if (c == node->slowest && child->has > node->down_freed)
		find_slowest(node);
	if (c == node->fullest && child->freed + node->job->size > node->down_limit)
		find_fullest(node);
	if (child->has >= child->probe)
		child->probe = 0;
	if (!(packet->flags & SHARP_ACK))
		return;
	/* a NAK, or the answer to a probe */
	if (packet->flags & SHARP_ASK || child->has < child->probe) {
		child->probe = 0;
		resend_to(node, child, child->has);
	}
}

static void listen_to_parent(struct sharp_node *node, const struct packet *packet)
{
	uint64_t freed = sharp_up_from(node, sharp_told(packet, 0, node->freed));

	node->limit = sharp_told(packet, 1, node->limit);
	if (freed > node->freed) {
		node->freed = freed;
		node->next = node->next > freed ? node->next : freed;
		progress(node);
	}
	if (packet->flags & SHARP_ACK && freed < node->next &&
	    (packet->flags & SHARP_ASK || freed < node->probe)) {
		node->probe = node->next > node->probe ? node->next : node->probe;
		node->next = freed; /* a NAK, or the answer to a probe: goes back */
	}
}

/* The message about new room may be lost. Sends a packet without elements for a chunk that the
 * parent has, so that the parent answers. In a lossless network the port to the first child is
 * charged. */
static void ask_for_room(struct sharp_node *node)
{
	struct packet packet;

	sharp_switch_fill(node, &packet, node->freed - 1, SHARP_ASK);
	tell_parent(node, &packet);
	depart(node, &packet, node->base.place->down_ports[0], &node->base.place->up_port, 1);
}

/* The same downwards: asks a child that has all results about its room. */
static void ask_child_for_room(struct sharp_node *node, const struct sharp_child *child)
{
	const uint32_t *port = &node->base.place->down_ports[child - node->child];
	struct packet packet;

	sharp_switch_fill(node, &packet, child->has - 1, SHARP_ASK | PACKET_RESULT);
	sharp_tell(&packet, child->received, sharp_room(node));
	depart(node, &packet, *port, port, 1);
}

/* Retransmits the oldest sum that the parent lacks, and the oldest result that each child lacks,
 * and asks for acknowledgements. If nobody lacks what was sent, and what follows has no room at the
 * parent or a child, asks for room. */
static void sharp_switch_on_timeout(struct sim *sim, uint32_t entity, void *owner)
{
	struct sharp_node *node = owner;
	struct ina_job *job = &node->job->base;
	bool lacks = node->freed < node->next; /* a chunk seems lost */

	(void)entity;
	if (lacks) {
		node->probe = node->next > node->probe ? node->next : node->probe;
		node->next = node->freed;
		node->timed_out = true;
	} else if (is_blocked(node)) {
		job->stats.reminders++;
		ask_for_room(node);
	}
	for (uint32_t c = 0; c < node->base.place->children; c++) {
		struct sharp_child *child = &node->child[c];

		if (child->has < node->sent) {
			lacks = true;
			child->probe = node->sent;
			resend_to(node, child, child->has);
		} else if (is_blocked_below(node) && node->sent >= child->freed + node->job->size) {
			job->stats.reminders++;
			ask_child_for_room(node, child);
		}
	}
	if (lacks) {
		job->stats.timeouts++;
		why_timed_out(node->job->base.why);
	}
	node->progress = sim->now;
	sharp_switch_arm(node);
	plan_turn(node);
}

/* --- packets that come --- */

static uint32_t needed(const struct sharp_node *node)
{
	return node->job->kind == SHARP_ALL_GATHER ? 1 : node->base.place->children;
}

/* A sum is complete, or a shard has come. It may go up once all sums before it are complete, too.
 * At the root it is then a result. */
static void sharp_switch_complete(struct sharp_node *node, struct sharp_entry *sum, uint32_t back)
{
	uint64_t before = node->complete;

	sum->ready = sharp_now_of(node) + sharp_conf(node->job)->latency;
	sum->back = back;
	while (node->complete < node->touched &&
	       sharp_sum_of(node, node->complete)->count == needed(node))
		node->complete = sharp_up_from(node, node->complete + 1);
	if (node->complete == before)
		return;
	if (!sharp_is_root(node)) {
		if (is_blocked(node) && node->freed == node->next)
			progress(node);
		return;
	}
	node->base.memory->stats.results += node->complete - before;
	node->have = node->complete;
	watch_room_below(node);
}

static void sharp_add(struct sharp_node *node, struct sharp_child *child, uint32_t back,
		      const struct packet *packet)
{
	struct sharp_entry *sum = sharp_sum_of(node, packet->chunk);

	while (node->touched <= packet->chunk)
		*sharp_sum_of(node, node->touched++) = (struct sharp_entry){ 0 };
	sum->value += packet->value;
	sum->flags |= packet->flags & PACKET_RETRANSMIT;
	sum->end |= packet->tag == SHARP_END;
	child->received = up_after(node, packet->chunk);
	child->nacked = false;
	node->base.memory->stats.packets_aggregated++;
	if (++sum->count == needed(node))
		sharp_switch_complete(node, sum, back);
}

static void from_child(struct sharp_node *node, uint32_t back, const struct packet *packet,
		       struct switch_actions *actions)
{
	struct collective_stats *stats = &node->base.memory->stats;
	uint32_t c = packet->source;
	struct sharp_child *child = &node->child[c];

	listen_to_child(node, c, packet);
	if (packet->flags & SHARP_ACK)
		return;
	if (packet->chunk == child->received && packet->chunk < sharp_room(node)) {
		sharp_add(node, child, back, packet);
	} else if (packet->chunk < child->received) {
		stats->duplicates++;
	} else {
		stats->discarded++;
		if (!child->nacked)
			ack_child(node, c, SHARP_NAK, actions);
		child->nacked = true;
		return;
	}
	if (packet->flags & SHARP_ASK)
		ack_child(node, c, SHARP_ACK, actions);
}

static void from_parent(struct sharp_node *node, uint32_t back, const struct packet *packet,
			struct switch_actions *actions)
{
	struct sharp_entry *result;

	listen_to_parent(node, packet);
	if (packet->flags & SHARP_ACK)
		return;
	if (packet->chunk > node->have || packet->chunk >= node->down_freed + node->job->size) {
		if (!node->nacked)
			ack_parent(node, SHARP_NAK, actions);
		node->nacked = true;
		return;
	}
	if (packet->chunk == node->have) {
		result = sharp_result_of(node, node->have);
		node->have = sharp_down_from(node, node->have + 1);
		*result = (struct sharp_entry){ .value = packet->value,
						.ready = sharp_now_of(node),
						.back = back,
						.flags = packet->flags & PACKET_RETRANSMIT,
						.end = packet->flags & SHARP_ASK };
		if (sharp_conf(node->job)->results == SHARP_HOP)
			result->ready += sharp_conf(node->job)->latency;
		node->nacked = false;
		watch_room_below(node);
	}
	if (packet->flags & SHARP_ASK)
		ack_parent(node, SHARP_ACK, actions);
}

void sharp_at_node(struct sharp_node *node, uint32_t back, const struct packet *packet,
		   struct switch_actions *actions)
{
	if (packet->flags & PACKET_RESULT)
		from_parent(node, back, packet, actions);
	else
		from_child(node, back, packet, actions);
	/* `actions` has room for two packets, and has at most one answer so far */
	if (!sharp_is_root(node))
		tell_news_up(node, actions);
	if (actions->count < 2)
		tell_news_down(node, actions);
	plan_turn(node);
}

/* --- life --- */

static sim_time time_on(const struct sharp_node *node, uint32_t port)
{
	const struct network *net = net_of(node);

	return link_transmission(port_class(net, &net->ports[port]), node->job->base.scheme->frame);
}

/* Finds out which ranks are below the node, and below which child. */
static void find_ranks(struct sharp *job, struct sharp_node *node, uint32_t n)
{
	const struct tree *tree = job->base.tree.tree;
	uint32_t ranks = sharp_ranks(job), children = node->base.place->children;
	uint32_t *next = xcalloc(children, sizeof(*next)), nearest = 0;

	node->below = xcalloc(ranks, sizeof(*node->below));
	node->gap = xcalloc(ranks, sizeof(*node->gap));
	node->toward = xcalloc(ranks, sizeof(*node->toward));
	for (uint32_t w = 0; w < ranks; w++) {
		uint32_t at = tree->node_of_worker[w], child = tree->number_of_worker[w];

		for (; at != n && at != TREE_NONE; at = tree->nodes[at].parent)
			child = tree->nodes[at].number;
		node->toward[w] = (uint16_t)(at == n ? child : children);
	}
	/* Goes backwards over the ranks, so that the next rank is known, and twice, because the
	 * first rank follows the last. The second round sets all entries anew. */
	for (uint32_t i = 2 * ranks; i-- > 0;) {
		uint32_t w = i % ranks, child = node->toward[w];

		if (child < children) {
			node->gap[w] = next[child] - i;
			next[child] = nearest = i;
		}
		node->below[w] = nearest - i;
	}
	for (uint32_t c = 0; c < children; c++) {
		struct sharp_child *child = &node->child[c];

		if (job->kind == SHARP_ALL_GATHER)
			child->received = next[c];
		else
			child->has = child->freed = next[c];
	}
	free(next);
	node->complete = node->next = node->freed = sharp_up_from(node, 0);
	node->have = node->sent = node->down_freed = sharp_down_from(node, 0);
}

static void open_node(struct sharp *job, uint32_t n)
{
	struct sharp_node *node = ina_node(&job->base, n);
	const struct tree_node *place = node->base.place;
	struct sim *sim = job->base.scheme->env.sim;

	node->job = job;
	node->base.memory =
		&((struct sharp_scheme *)job->base.scheme)->main->base.memory[place->sw];
	node->sums = xcalloc(job->mask + 1, sizeof(*node->sums));
	node->results =
		sharp_is_root(node) ? node->sums : xcalloc(job->mask + 1, sizeof(*node->results));
	node->child = xcalloc(place->children, sizeof(*node->child));
	node->limit = node->told = node->down_limit = job->size;
	node->turn_at = SIM_TIME_MAX;
	if (job->kind != SHARP_ALL_REDUCE)
		find_ranks(job, node, n);
	for (uint32_t c = 0; c < place->children; c++) {
		node->child[c].resend = SHARP_NONE;
		node->down_time = later(node->down_time, time_on(node, place->down_ports[c]));
	}
	if (!sharp_is_root(node))
		node->up_time = time_on(node, place->up_port);
	alarm_open(sim, &node->alarm,
		   timer_key_of_job(sharp_timer(job), job->base.spec.number, SHARP_KEY_ALARM | n),
		   sharp_switch_on_timeout, sharp_switch_due, node);
	timer_open(sim, &node->turn, SIM_TIMER,
		   timer_key_of_job(sharp_timer(job), job->base.spec.number, SHARP_KEY_TURN | n),
		   on_turn, node);
	timer_apart(sim, &node->turn);
	sim_name(sim, sharp_switch_on_timeout, "SHARP timeout of an aggregation node of job %j");
	sim_name(sim, on_turn, "SHARP aggregation node of job %j");
}

void sharp_nodes_begin(struct sharp *job)
{
	for (uint32_t n = 0; n < job->base.tree.tree->node_count; n++)
		open_node(job, n);
}

void sharp_nodes_end(struct sharp *job)
{
	struct sim *sim = job->base.scheme->env.sim;

	for (uint32_t n = 0; n < job->base.tree.tree->node_count; n++) {
		struct sharp_node *node = ina_node(&job->base, n);

		alarm_close(sim, &node->alarm);
		timer_close(sim, &node->turn);
		if (!sharp_is_root(node))
			free(node->results);
		free(node->sums);
		free(node->child);
		free(node->below);
		free(node->gap);
		free(node->toward);
	}
}
