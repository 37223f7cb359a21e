/* The load that arrival processes offer, known before a run starts.
 *
 * Load is the payload bytes that hosts send per second, over hosts x link rate. For jobs there are
 * two figures. One counts the bytes of a ring, 2 (n - 1) S in an iteration for a gradient of S
 * bytes and n workers: it is the same for every scheme, so it may be the axis of a comparison. The
 * other counts all bytes that the job sends by its own schemes without losses. */
#ifndef INASIM_WORKLOAD_OFFERED_H
#define INASIM_WORKLOAD_OFFERED_H

#include "workload/jobs/job_models.h"

/* Payload bytes that a job sends in all its iterations, as the mean over the jobs of a group: to
 * all-reduce gradients by a ring, and in all its exchanges, by its own schemes. A job's network and
 * number of workers are drawn independently. `gpus`: of a machine; what these send each other
 * does not count. `reduces`: parameters of the scheme that adds gradients up. */
struct job_bytes {
	double ring, own;
};
struct job_bytes job_group_bytes(const struct job_group_conf *conf, uint32_t gpus,
				 const void *reduces, const struct topology_conf *topology);

/* Payload bytes that all hosts of a job of `workers` (>= 2) together send per byte of its gradient
 * until all sums are where they are needed. `ops`: what the job runs as (scheme_running()). `gpus`:
 * of a machine. */
double job_group_reduced(const struct job_group_conf *conf, const struct collective_ops *ops,
			 uint32_t workers, uint32_t gpus);

/* The number of all-gathers in an iteration, each of the gradients' size. */
double job_group_gathers_each(const struct job_group_conf *conf);

/* Payload bytes that all hosts of a job send in an iteration as tokens and activations. In each of
 * the two passes tokens go to experts and back (4 times in all), and activations go to the next
 * stage (2 times in all). */
double job_group_passed_on(const struct job_group_conf *conf, double workers, uint32_t gpus);

/* Time from the beginning of an iteration to the end of its computing if nothing has to be waited
 * for but other stages, in seconds; without jitter and stragglers. */
double job_group_compute_s(const struct job_group_conf *conf);

/* Mean time between the jobs of a group with Poisson arrivals, in seconds, on `hosts` hosts with
 * links of rate `link`. 0 for other arrivals, and if a load is given of jobs with one worker: they
 * send nothing. */
double job_group_gap_s(const struct job_group_conf *conf, uint32_t hosts, bps link);

/* Load of Poisson arrivals while they last, as fractions of hosts x link rate. */
struct offered {
	double flows, jobs_ring, jobs_own;
};

/* What flows with Poisson arrivals between any hosts offer to the links that leave racks. All 0
 * without such flows, in a graph, and if no link leaves a rack. */
struct offered_fabric {
	double load;     /* payload that leaves racks, over what these links can carry */
	double leaving;  /* fraction of the traffic that leaves its rack */
	double capacity; /* rate of these links over that of the hosts' links */
};

/* Payload bytes that all ranks of a program's group send in an iteration, but for those that stay
 * inside machines of so many GPUs. */
double job_group_sent(const struct job_group_conf *conf, const struct program_group *group,
		      uint32_t gpus);

#endif
