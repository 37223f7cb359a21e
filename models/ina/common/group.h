/* A job's multicast group at a switch of its tree. The switch's neighbours in the group are its
 * children and, last, its parent if that leads to more workers. */
#ifndef INASIM_INA_COMMON_GROUP_H
#define INASIM_INA_COMMON_GROUP_H

#include "ina/common/ina.h"

struct ina_group {
	uint32_t neighbors;
	/* By neighbour, stored twice in a row. All ports but that of neighbour n are then the
	 * neighbors - 1 entries from n + 1 on. */
	uint32_t *ports;
	uint16_t *of_port;   /* number of the neighbour, by port of the switch from 0 */
	uint32_t first_port; /* the switch's port 0, as the network numbers ports */
};

/* The group at node `node` of the job's tree; release it with ina_group_close(). */
void ina_group_open(struct ina_group *group, const struct ina_job *job, uint32_t node);
void ina_group_close(struct ina_group *group);

/* Number of the neighbour that a packet comes from. `back` is that of protocol_ops.at_switch(). */
static inline uint32_t ina_group_from(const struct ina_group *group, uint32_t back)
{
	return group->of_port[back - group->first_port];
}

static inline void ina_group_send(struct switch_actions *actions, const struct ina_group *group,
				  const struct packet *packet, uint32_t neighbor)
{
	ina_send(actions, packet, &group->ports[neighbor], 1);
}

/* Sends to all neighbours except `neighbor`. */
static inline void ina_group_send_others(struct switch_actions *actions,
					 const struct ina_group *group, const struct packet *packet,
					 uint32_t neighbor)
{
	ina_send(actions, packet, &group->ports[neighbor + 1], group->neighbors - 1);
}

#endif
