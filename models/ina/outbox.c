#include "ina/outbox.h"

#include "base/mem.h"

#include <stdlib.h>

#define RING_FIRST 16 /* a power of two */

static enum nic_pull pull(void *owner, struct packet *packet)
{
	struct outbox *outbox = owner;

	if (!outbox->count)
		return NIC_NOTHING;
	*packet = outbox->ring[outbox->head++ & outbox->mask];
	return --outbox->count ? NIC_MORE : NIC_LAST;
}

void outbox_init(struct outbox *outbox, struct nic *nic)
{
	*outbox = (struct outbox){ .nic = nic,
				   .source = { .pull = pull, .owner = outbox },
				   .mask = RING_FIRST - 1 };
	outbox->ring = xcalloc(RING_FIRST, sizeof(*outbox->ring));
}

void outbox_release(struct outbox *outbox)
{
	nic_forget(outbox->nic, &outbox->source);
	free(outbox->ring);
}

static void grow(struct outbox *outbox)
{
	uint64_t mask = 2 * outbox->mask + 1;
	struct packet *ring = xcalloc(mask + 1, sizeof(*ring));

	for (uint64_t i = 0; i < outbox->count; i++)
		ring[i] = outbox->ring[(outbox->head + i) & outbox->mask];
	free(outbox->ring);
	outbox->ring = ring;
	outbox->head = 0;
	outbox->mask = mask;
}

void outbox_send(struct outbox *outbox, const struct packet *packet)
{
	if (outbox->count > outbox->mask)
		grow(outbox);
	outbox->ring[(outbox->head + outbox->count++) & outbox->mask] = *packet;
	nic_wake(outbox->nic, &outbox->source);
}
