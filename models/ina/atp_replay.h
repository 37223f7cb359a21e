/* One ATP job alone, piece by piece: when all workers hold its sums, without packets or events.
 *
 * What a job loses to itself has no closed form. Pieces whose hashes meet go to the server as one
 * packet a worker; these queue on its link, so that pieces wait longer for their sums, hold their
 * aggregators longer, and more of them meet, until marks halve the window. But all of it is known:
 * the hash, the window (window.h itself runs here), the links. So a job is replayed.
 *
 * The workers below one switch are alike: they send, and hear, at the same times, and are one
 * group here, with one window and one NIC. Each group has its own way to a server, by the route of
 * its rack, and results come back by the server's tree. Each link of these is a FIFO. Where one has
 * packets from one link only, when they are through is worked out at once; where several meet, and
 * at level 1, each waits until it is its turn (flights.h). So all that meets comes in the order of
 * time, at links and aggregators.
 *
 * Replayed: windows that grow, and are halved by marks and losses; ECN at each port;
 * aggregators of all switches, by hash or by position; pieces that only some groups' packets found
 * an aggregator for, which are lost until they are sent again; timeouts, of windows that nothing
 * else gets going; results on links that gradients of another server's pieces use; the rate at
 * which the server's host adds. Not replayed: other jobs; loss and full buffers; results that are
 * sent again; what comes first of all that comes at the same time (the packets' draws,
 * core/equeue.h, are others); who marks by chance (RED): as often, but not the draws; turns of a
 * NIC that a worker and a server share: the worker has what the results leave. So with one server,
 * or one switch, it is the packets' time to 0.1 %, mostly to the picosecond; with several servers
 * over several tiers a loss more or less, of which each halves the windows, is a matter of who is
 * first of two at the same time (crosscheck/README.md).
 *
 * A piece takes 0.15 to 0.5 us a group; memory is 16 bytes an aggregator of each switch. */
#ifndef INASIM_INA_ATP_REPLAY_H
#define INASIM_INA_ATP_REPLAY_H

#include "ina/atp.h"

struct atp_replay;

/* Of a job that has its servers (hashed_new()) and its number, which must outlive it; at time 0,
 * nothing sent. The caller frees. */
struct atp_replay *atp_replay_new(const struct hashed_job *job);
void atp_replay_free(struct atp_replay *replay);

/* How many groups of workers there are. */
uint32_t atp_replay_groups(const struct atp_replay *replay);

/* How often each of their windows has been halved, at least. */
uint64_t atp_replay_halvings(const struct atp_replay *replay);

/* All workers hand so many pieces over, and send them as soon as they may. */
void atp_replay_send(struct atp_replay *replay, uint64_t pieces);

/* When all workers hold all sums that need nothing else to be sent. */
sim_time atp_replay_held(const struct atp_replay *replay);

/* Nothing comes behind for now: what is lost waits for a timeout. When all workers hold all. */
sim_time atp_replay_finish(struct atp_replay *replay);

/* After that the workers are idle until they hold all. */
void atp_replay_rest(struct atp_replay *replay);

/* Packets that have come to servers, as `server_packets` of jobs.csv; and that workers have sent
 * again. */
uint64_t atp_replay_server_packets(const struct atp_replay *replay);
uint64_t atp_replay_resent(const struct atp_replay *replay);

#endif
