/* ATP's parameter server: adds the contributions that switches did not, and acknowledges every sum
 * by a parameter packet. */
#include "ina/atp/atp.h"

static void send_parameters(struct pool_server *server, const struct partial_sum *sum,
			    const struct packet *cause)
{
	pool_server_send_result(server, sum, cause->slot, sum->resent ? PACKET_RETRANSMIT : 0,
				sum->fresh);
}

/* A packet cannot be added if some of its contributors are in already. Missing contributors
 * retransmit, each by itself. The exception is a sum of all workers, which replaces this one. */
bool atp_add(struct partial_sums *sums, struct partial_sum *sum, struct bitmap contributors,
	     uint64_t value)
{
	if (!partial_sums_is_all(sums, contributors))
		return partial_sums_add(sums, sum, contributors, value);
	if (sum->whole == contributors.bits)
		return false;
	sum->value = value;
	sum->whole = contributors.bits;
	sum->begun = 0;
	return true;
}

void atp_at_server(struct pool_server *server, const struct packet *packet)
{
	uint64_t chunk = pool_server_packet_chunk(server, packet);
	struct partial_sum *sum = pool_server_entry(server, chunk);

	if (!sum)
		return; /* all workers have the result */
	sum->resent |= (packet->flags & PACKET_RETRANSMIT) != 0;
	if (sum->complete) {
		server->job->base.stats.repairs++;
		send_parameters(server, sum, packet);
		return;
	}
	sum->collided |= (packet->flags & POOL_BYPASS) != 0;
	sum->marked |= (packet->flags & PACKET_CE) != 0;
	atp_add(&server->sums, sum, pool_bitmap(packet), packet->value);
	if (sum->whole != server->racks.all)
		return;
	sum->complete = true;
	if (sum->collided)
		sum->fresh = atp_rehash(server, packet->slot);
	send_parameters(server, sum, packet);
}
