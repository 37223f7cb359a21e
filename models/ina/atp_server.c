/* ATP's parameter server: adds what switches did not, and acknowledges every sum by
 * its parameter packet. What is modelled: atp.c. */
#include "ina/atp.h"

static void send_parameters(struct hashed_server *server, const struct partial_sum *sum,
			    const struct packet *cause)
{
	server_send_result(server, sum, cause->slot, sum->resent ? PACKET_RETRANSMIT : 0,
			   sum->fresh);
}

/* Adds the packet's contributors if none of them is in; one that comes with some is
 * dropped, as later copies come one by one. */
static void add(struct hashed_server *server, struct partial_sum *sum, const struct packet *packet)
{
	struct bitmap bitmap = packet_bitmap(packet);

	if (partial_sums_is_all(&server->sums, bitmap)) {
		sum->value = packet->value;
		sum->full = bitmap.bits;
		sum->begun = 0;
	} else if (partial_sums_compare(&server->sums, sum, bitmap) == PRESENT_NONE) {
		partial_sums_add(&server->sums, sum, bitmap, packet->value);
	}
}

void atp_at_server(struct hashed_server *server, const struct packet *packet)
{
	uint64_t piece = server_packet_piece(server, packet);
	struct partial_sum *sum = server_entry(server, piece);

	if (!sum)
		return; /* all workers hold the result, and it is forgotten */
	sum->resent |= (packet->flags & PACKET_RETRANSMIT) != 0;
	if (sum->complete) {
		send_parameters(server, sum, packet);
		return;
	}
	sum->collided |= (packet->flags & PACKET_BYPASS) != 0;
	sum->marked |= (packet->flags & PACKET_CE) != 0;
	add(server, sum, packet);
	if (sum->full != server->racks.full)
		return;
	sum->complete = true;
	if (sum->collided)
		sum->fresh = atp_rehash(server, packet->slot);
	send_parameters(server, sum, packet);
}
