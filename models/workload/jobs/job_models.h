/* The neural networks of a group of jobs: one, or a mix, of which each job draws one by weight. */
#ifndef INASIM_WORKLOAD_JOBS_JOB_MODELS_H
#define INASIM_WORKLOAD_JOBS_JOB_MODELS_H

#include "workload/dnn.h"
#include "workload/jobs/jobs.h"
#include "workload/weights.h"

/* Replaces each name of a file, which ends in ".json" or as program_files.h says, by its path
 * beside the scenario. The document owns the path. A JSON file holds an object like a "model" with
 * "layers" in the scenario. Call this once. */
void model_conf_find(struct model_conf *conf, struct conf_doc *doc);

struct job_models {
	struct dnn **dnns; /* owned; NULL where loading failed, which is an error before any run */
	struct {
		char *text;  /* why loading failed; owned */
		char *at;    /* where in the model of the scenario; NULL: all of it; owned */
		bool of_gpu; /* because the network has no times on the group's GPU */
	} * mistakes;
	size_t count;
	bool of_gpu;            /* some have the times of the group's GPU, not of their own */
	struct weights weights; /* by network */
};

/* Loads a group's networks, not yet scaled: from files, in place, or by dnn_load(). The document
 * owns them. */
struct job_models *job_models_load(const struct job_group_conf *conf, struct conf_doc *doc);

/* Scales and fuses the networks as the group says, and cuts them into tensors. Call this once, and
 * only if the group has no errors. */
void job_models_prepare(const struct job_group_conf *conf);

/* Draws the network of the next job. Does not use `rng` if there is only one. */
const struct dnn *job_models_draw(const struct job_models *models, struct rng *rng);

/* An iteration of one worker, as the mean over the group's networks. */
struct job_means {
	double gradient;  /* bytes that it all-reduces */
	double tokens;    /* bytes of all layers that go to experts in one direction of one pass */
	double compute_s; /* without compute_scale and jitter */
} job_models_means(const struct job_models *models);

#endif
