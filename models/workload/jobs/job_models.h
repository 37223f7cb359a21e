/* The neural networks of a group of jobs: one, or several of which each job draws
 * one by weight ("mix"). */
#ifndef INASIM_WORKLOAD_JOBS_JOB_MODELS_H
#define INASIM_WORKLOAD_JOBS_JOB_MODELS_H

#include "workload/dnn.h"
#include "workload/jobs/jobs.h"
#include "workload/weights.h"

/* The networks that a group has by name: 0 when its layers stand in the scenario. */
size_t model_conf_names(const struct model_conf *conf);
/* One of them, and where it stands below the group: "/model/mix/1/model". */
const char *model_conf_name(const struct model_conf *conf, size_t i);
void model_conf_place(const struct model_conf *conf, size_t i, char *place, size_t size);

/* A name that ends in ".json" is a file with what "model" has in place: an object with "layers".
 * From here on it is the path of the file beside the scenario, which belongs to the document. Once.
 */
void model_conf_find(struct model_conf *conf, struct conf_doc *doc);

/* The network of a name, from such a file or as dnn_load() has it; and one that stands in place. */
struct dnn *job_model_load(const char *name, const char *gpu, char **error);
struct dnn *job_model_in_place(const char *name, const struct model_conf *conf);

/* All zero is empty. */
struct job_models {
	struct dnn **dnns; /* owned; scaled, fused and cut into tensors as the group wants */
	size_t count;
	struct weights weights; /* by network */
};

/* Loads all of a group. False and *error (caller frees), and nothing to release,
 * when one does not exist. */
bool job_models_load(struct job_models *models, const struct job_group_conf *conf, char **error);
void job_models_release(struct job_models *models);

/* The network of the next job; `rng` is not touched when there is only one. */
const struct dnn *job_models_draw(const struct job_models *models, struct rng *rng);

/* Means over the mixture: bytes that a worker all-reduces in an iteration, and
 * how long it computes (compute_scale and jitter not counted). */
double job_models_gradient(const struct job_models *models);
double job_models_tokens(const struct job_models *models); /* that go to experts, once */
double job_models_compute_s(const struct job_models *models);

#endif
