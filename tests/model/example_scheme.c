/* A whole scheme, "example", which CONTRIBUTING walks through. Workers send chunks up a tree of
 * switches, at most `window` each without a result; a switch adds what its children send and passes
 * the sum on; the root sends it down to all. Nothing is repaired: a lost packet ends the run. */
#include "ina/common/ina.h"

#define WINDOW_MAX 256
#define ELEMENTS   64 /* in a packet; beside them Ethernet 14, IP 20, UDP 8, ours 12, FCS 4 bytes */
#define FRAME      (ELEMENTS * ELEMENT_BYTES + 58)

struct example_conf {
	int64_t window;
	bytes memory;
};

static const struct conf_row rows[] = {
	CONF_INT("window", struct example_conf, window, "64", 1, WINDOW_MAX,
		 "Chunks that a worker has sent and has no result of.", "our choice"),
	CONF_BYTES("memory", struct example_conf, memory, "1MB", 1, UINT64_C(1) << 40,
		   "Of a switch, for sums.", "our choice"),
	{ 0 },
};
const struct conf_table example_table = { "example", rows, sizeof(struct example_conf),
					  "A plain tree." };

static uint64_t window_of(const struct ina_job *job)
{
	return (uint64_t)((const struct example_conf *)job->scheme->conf)->window;
}

struct example_worker {
	struct ina_worker base;
	uint64_t next; /* chunk to send */
};

static bool may_send(const struct example_worker *worker)
{
	return worker->next < ina_available(&worker->base) &&
	       worker->next < worker->base.results + window_of(worker->base.job);
}

static enum nic_pull pull(void *owner, struct packet *packet)
{
	struct example_worker *worker = owner;

	if (!may_send(worker))
		return NIC_NOTHING;
	ina_packet(packet, &worker->base, worker->next++);
	return may_send(worker) ? NIC_MORE : NIC_LAST;
}

static void deliver(void *self, uint32_t host, const struct packet *packet)
{
	struct ina_worker *worker = ina_worker_on(ina_job_of(self, packet), host);

	if (ina_holds(worker, packet->chunk, packet->value))
		ina_complete(worker, packet->chunk);
	ina_wake(worker);
}

struct example_node {
	struct ina_node base;
	/* Chunk c is in slot c mod WINDOW_MAX: who sends c + WINDOW_MAX has the sum of c. */
	struct slot {
		uint64_t value;
		uint32_t children; /* that are in it */
	} slots[WINDOW_MAX];
};

static void at_switch(void *self, uint32_t sw, uint32_t back, struct packet *packet,
		      struct switch_actions *actions)
{
	struct example_node *node = ina_node_at(ina_job_of(self, packet), sw);
	struct slot *slot = &node->slots[packet->chunk % WINDOW_MAX];

	(void)back;
	if (packet->flags & PACKET_RESULT) {
		ina_send_down(actions, &node->base, packet);
		return;
	}
	slot->value += packet->value;
	if (++slot->children < node->base.place->children)
		return;
	packet->value = slot->value;
	*slot = (struct slot){ 0 };
	ina_send_sum(actions, &node->base, packet);
}

static bytes memory(const void *job, const struct tree_node *place)
{
	(void)place;
	return window_of(job) * ELEMENTS * ELEMENT_BYTES;
}

static const struct ina_ops ops = {
	.title = "Example",
	.size = { .worker = sizeof(struct example_worker), .node = sizeof(struct example_node) },
	.protocol = { .name = "example", .deliver = deliver, .at_switch = at_switch },
	.pull = pull,
	.root = "example root",
	.memory = memory,
};

static void *open_scheme(const struct model_env *env, const void *conf)
{
	bytes of_switch = ((const struct example_conf *)conf)->memory;

	return ina_open(&ops, env, conf, (struct ina_format){ FRAME, ELEMENTS, of_switch });
}

const struct collective_ops example_collective = {
	.name = "example",
	.help = "sums in a tree of switches, without recovery",
	.table = &example_table,
	.open = open_scheme,
	.memory = ina_memory,
	INA_OPS,
};
