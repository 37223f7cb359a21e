/* The load that arrival processes offer, known before a run starts.
 *
 * Load is the payload bytes that hosts send per second, over hosts x link rate. For jobs there are
 * two figures. One counts the bytes of a ring, 2 (n - 1) S in an iteration for a gradient of S
 * bytes and n workers: it is the same for every scheme, so it may be the axis of a comparison. The
 * other counts the bytes that the job's own scheme sends without losses. */
#ifndef INASIM_WORKLOAD_OFFERED_H
#define INASIM_WORKLOAD_OFFERED_H

#include "workload/jobs/job_models.h"

/* Payload bytes that a job sends in all its iterations to exchange gradients, as the mean over the
 * jobs of a group. A job's network and number of workers are drawn independently. */
struct job_bytes {
	double ring, own; /* by a ring, by the job's own scheme */
};
struct job_bytes job_group_bytes(const struct job_group_conf *conf);

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

#endif
