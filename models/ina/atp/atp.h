/* ATP, private to models/ina/atp/ and its tests.
 *
 *   atp.c         parameters, aggregator indices; its top says what is modelled
 *   atp_switch.c  two levels of hashed aggregators
 *   atp_server.c  the parameter server: the rest of the sums, acknowledgements
 */
#ifndef INASIM_INA_ATP_ATP_H
#define INASIM_INA_ATP_ATP_H

#include "ina/common/pool.h"

struct atp_conf {
	struct pool_conf pool; /* first: POOL_ROWS */
	int64_t positions;
	sim_time idle_limit;
};

/* State of a server with index "rehash". */
struct atp_server {
	/* The server's part of the indices that no position has at first, shuffled. The first
	 * `next` of them have replaced others. */
	uint32_t *unused;
	uint32_t count, next;
	uint32_t *successor; /* by index: 0, or 1 + the index that has replaced it */
};

static inline const struct atp_conf *atp_conf(const struct pool_job *job)
{
	return (const struct atp_conf *)job->base.scheme->conf;
}

/* atp_switch.c */
void atp_at_switch(struct pool_server *server, struct aggregators *pool, bool level1,
		   struct packet *packet, struct switch_actions *actions);
void atp_result_at_switch(struct pool_server *server, struct aggregators *pool,
			  struct packet *packet);

/* atp_server.c */
void atp_at_server(struct pool_server *server, const struct packet *packet);
bool atp_add(struct partial_sums *sums, struct partial_sum *sum, struct bitmap contributors,
	     uint64_t value);

/* atp.c: returns 1 + the new index for the position whose packets collided at `slot`, or 0 if the
 * position keeps its index. */
uint32_t atp_rehash(struct pool_server *server, uint16_t slot);

#endif
