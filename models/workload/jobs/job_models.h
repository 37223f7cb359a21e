/* The neural networks of a group of jobs: one, or a mix, of which each job draws one by weight. */
#ifndef INASIM_WORKLOAD_JOBS_JOB_MODELS_H
#define INASIM_WORKLOAD_JOBS_JOB_MODELS_H

#include "workload/dnn.h"
#include "workload/jobs/jobs.h"
#include "workload/weights.h"

/* A name that ends in ".json" is a file beside the scenario, with an object as "model" may have in
 * place ("layers"). Replaces the name by the file's path, which the document owns. Call it once. */
void model_conf_find(struct model_conf *conf, struct conf_doc *doc);

struct job_models {
	struct dnn **dnns; /* owned; NULL where there is none, which no run gets to see */
	struct {
		char *text;  /* owned; why there is none */
		bool of_gpu; /* it has no times on the group's GPU */
	} * mistakes;
	size_t count;
	struct weights weights; /* by network */
};

/* Loads all networks of a group as they are written: from such files, in place, or by dnn_load().
 * The document owns them. */
struct job_models *job_models_load(const struct job_group_conf *conf, struct conf_doc *doc);

/* Scales and fuses the networks of a group as it wants, and cuts them into tensors. Once, and only
 * where nothing is wrong with the group. */
void job_models_prepare(const struct job_group_conf *conf);

/* Draws the network of the next job. Leaves `rng` alone when there is only one. */
const struct dnn *job_models_draw(const struct job_models *models, struct rng *rng);

/* One iteration of one worker, the mean over the mixture. */
struct job_means {
	double gradient;  /* bytes that it all-reduces */
	double tokens;    /* bytes that go to experts, each once */
	double compute_s; /* without compute_scale and jitter */
} job_models_means(const struct job_models *models);

#endif
