#include "net/outage.h"

#include "base/mem.h"

#include <stdlib.h>

void network_may_fail(struct network *net)
{
	struct outages *outages = xcalloc(1, sizeof(*outages));

	outages->down = xcalloc(net->port_count, sizeof(*outages->down));
	outages->stranded = xcalloc(net->port_count, sizeof(*outages->stranded));
	outages->lost = xcalloc(net->port_count, sizeof(*outages->lost));
	outages->failed = xcalloc(net->port_count, sizeof(*outages->failed));
	outages->wiped = xcalloc(net->switches, sizeof(*outages->wiped));
	outages->adds_nothing = xcalloc(net->switches, sizeof(*outages->adds_nothing));
	net->outages = outages;
}

void outages_free(struct outages *outages)
{
	if (!outages)
		return;
	free(outages->down);
	free(outages->stranded);
	free(outages->lost);
	free(outages->failed);
	free(outages->wiped);
	free(outages->adds_nothing);
	free(outages);
}

void outage_strands(const struct network *net, uint32_t number)
{
	const struct port *port = &net->ports[number];
	uint32_t *stranded = net->outages->stranded[number];

	stranded[0] = stranded[1] = 0;
	for (uint32_t i = 0; i < port->count; i++)
		stranded[packet_is_control(&port->ring[ring_index(port, i)])]++;
}

/* Whether the switch at the far end should add the AGGREGATION packet up but cannot. */
static bool is_not_added(const struct network *net, uint32_t port, const struct packet *packet)
{
	const struct protocol_ops *ops = net->protocols[packet->protocol].ops;
	uint32_t sw = net->ports[port].to - net->hosts;

	return !net->ports[port].to_host && net->outages->adds_nothing[sw] && ops->adds_at &&
	       ops->adds_at(net->protocols[packet->protocol].self, sw, packet);
}

bool outage_takes(const struct network *net, uint32_t port, const struct packet *packet)
{
	struct outages *outages = net->outages;
	uint32_t *stranded = &outages->stranded[port][packet_is_control(packet)];
	bool lost = outages->down[port] || *stranded ||
		    (packet->kind == PACKET_AGGREGATION && is_not_added(net, port, packet));

	*stranded -= *stranded > 0;
	outages->lost[port] += lost;
	return lost;
}
