#include "net/outage.h"

#include "base/mem.h"

#include <stdlib.h>

void network_may_fail(struct network *net)
{
	struct outages *outages = xcalloc(1, sizeof(*outages));

	outages->down = xcalloc(net->port_count, sizeof(*outages->down));
	outages->lost_until = xcalloc(net->port_count, sizeof(*outages->lost_until));
	outages->lost = xcalloc(net->port_count, sizeof(*outages->lost));
	outages->failed = xcalloc(net->port_count, sizeof(*outages->failed));
	outages->wiped = xcalloc(net->switches, sizeof(*outages->wiped));
	net->outages = outages;
	net->whole = true;
}

void outages_free(struct outages *outages)
{
	if (!outages)
		return;
	free(outages->down);
	free(outages->lost_until);
	free(outages->lost);
	free(outages->failed);
	free(outages->wiped);
	free(outages);
}

bool outage_takes(const struct network *net, uint32_t port, const struct packet *packet)
{
	struct outages *outages = net->outages;
	bool lost = outages->down[port] || packet->depart <= outages->lost_until[port];

	outages->lost[port] += lost;
	return lost;
}
