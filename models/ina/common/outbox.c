#include "ina/common/outbox.h"

#include "base/ring.h"

#include <stdlib.h>

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
	*outbox =
		(struct outbox){ .nic = nic,
				 .source = { .pull = pull, .owner = outbox, .deferrable = true } };
}

void outbox_release(struct outbox *outbox)
{
	nic_forget(outbox->nic, &outbox->source);
	free(outbox->ring);
}

void outbox_send(struct outbox *outbox, const struct packet *packet)
{
	uint64_t end = outbox->head + outbox->count++;

	outbox->ring =
		ring_reserve(outbox->ring, &outbox->mask, outbox->head, end, sizeof(*outbox->ring));
	outbox->ring[end & outbox->mask] = *packet;
	nic_wake(outbox->nic, &outbox->source);
}
