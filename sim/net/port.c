#include "net/port.h"

void port_carried(const struct port *port, uint64_t *packets, uint64_t *size)
{
	*packets = port->packets - port->count;
	*size = port->bytes;
	for (uint32_t i = 0; i < port->count; i++)
		*size -= port->ring[ring_index(port, i)].size;
}
