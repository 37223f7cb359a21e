/* Neural networks as a job sees them: gradients and computing times by layer.
 *
 * From traces/models: profiles.csv says how long a worker with a given GPU
 * computes per iteration, layers/NAME.csv how large the layers are. A gradient
 * has 4 bytes per parameter (fp32). The time is split over the layers in
 * proportion to their multiply-accumulates, one third of it forward and two
 * thirds backward, because the backward pass multiplies twice (gradients of the
 * inputs and of the weights). All sums are exact: the pieces of the time add up
 * to the profile's time to the picosecond.
 *
 * Rows of experts that are spread over the workers also have the values that a sample's tokens take
 * to them and back (column all_to_all, where there is one).
 *
 * A row without parameters (attention products, tied output layers) has nothing
 * to exchange; its time belongs to the layer in front of it, whose gradient
 * appears, going backward, only when both are done. */
#ifndef INASIM_WORKLOAD_DNN_H
#define INASIM_WORKLOAD_DNN_H

#include "base/types.h"

#include <stddef.h>
#include <stdbool.h>

struct dnn_layer {
	const char *name; /* owned by the dnn */
	bytes gradient;
	bytes all_to_all; /* of a worker, to experts and back, each way; 0 = none */
	sim_time forward, backward;
	uint32_t tensors; /* that carry its gradient; dnn_plan_tensors() */
};

/* What is all-reduced as one: the gradient of a layer, or a part of it. */
struct dnn_tensor {
	size_t layer;
	bytes size;
};

struct dnn {
	const char *name;
	struct dnn_layer *layers; /* in the order of the forward pass */
	size_t layer_count;
	struct dnn_tensor *tensors; /* in the order in which a worker hands them over */
	size_t tensor_count;
	int64_t *send_order; /* layers, for dnn_plan_tensors(); NULL = last layer first */
	size_t send_order_count;
	uint64_t batch; /* of its profile: samples of a worker */
	bytes gradient_total;
	sim_time compute_total; /* forward and backward of all layers */
};

/* NULL and *error (caller frees) for a model or GPU that does not exist (with a
 * suggestion and what exists) and for files that are not right. */
struct dnn *dnn_load(const char *name, const char *gpu, char **error);
void dnn_free(struct dnn *dnn);

/* Whether a model has computing times, but none on this GPU: then dnn_load() has failed by the
 * GPU. */
bool dnn_lacks_gpu(const char *name, const char *gpu);

/* A network that stands in the scenario itself; dnn_add_layer() front layer first. */
struct dnn *dnn_new(const char *name);
void dnn_add_layer(struct dnn *dnn, const char *name, bytes gradient, sim_time forward,
		   sim_time backward);

/* The all-to-alls of all layers, each once. */
bytes dnn_tokens(const struct dnn *dnn);

/* Merges consecutive layers, from the last to the first as gradients appear,
 * until each has at least `least` bytes of gradient; what is left at the front
 * may have less. So do the buckets of PyTorch DDP. */
void dnn_fuse(struct dnn *dnn, bytes least);

/* Multiplies every gradient and all-to-all, rounded to whole 4-byte values, at least one. */
void dnn_scale(struct dnn *dnn, double factor);

/* A network an iteration of which is as much as `factor` >= 1 of *dnn: all times and tensors are
 * multiplied, tensors rounded to whole 4-byte values. Of a network with tensors; the caller frees.
 */
struct dnn *dnn_repeated(const struct dnn *dnn, double factor);

/* Says which tensors there are and in which order; last, when the layers are
 * final. `order` names a layer for each tensor; a layer that stands there k
 * times is sent in k equal parts (whole 4-byte values, the last takes the rest).
 * Every layer must stand there, and not more often than it has values. NULL: one
 * tensor a layer, last layer first, as the backward pass makes them. */
void dnn_plan_tensors(struct dnn *dnn, const int64_t *order, size_t count);

/* --- what exists --- */

/* A row of profiles.csv. */
struct dnn_profile {
	char *model, *layers, *gpu; /* layers: name of the file in layers/ */
	int64_t batch;              /* samples per worker and iteration */
	sim_time compute;
	char *quality; /* of the time: see traces/README.md */
};

struct dnn_list {
	struct dnn_profile *profiles; /* in the order of the file */
	size_t count;
};

/* False and *error (caller frees) when the file is missing or not right. */
bool dnn_list_load(struct dnn_list *list, char **error);
void dnn_list_release(struct dnn_list *list);

#endif
