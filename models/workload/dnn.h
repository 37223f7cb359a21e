/* Neural networks as a job sees them: gradients and computing times by layer.
 *
 * They come from traces/models. profiles.csv says how long a worker with a given GPU computes in an
 * iteration, layers/NAME.csv how large the layers are. A gradient has 4 bytes per parameter (fp32).
 * One third of the time is forward and two thirds backward, because the backward pass multiplies
 * twice (for the gradients of inputs and of weights). Both times are split over the layers in
 * proportion to their multiply-accumulates. The layers' times add up to the profile's exactly.
 *
 * The optional column all_to_all is for layers whose experts are spread over the workers. It says
 * how many values the tokens of one sample carry to the experts; as many come back.
 *
 * A row without parameters (attention products, tied output layers) has no gradient. Its time is
 * added to the layer before it, at the front of the network to the first layer behind it. The
 * gradient of that layer is ready when the layer and the row have gone backward. */
#ifndef INASIM_WORKLOAD_DNN_H
#define INASIM_WORKLOAD_DNN_H

#include "base/types.h"

#include <stddef.h>
#include <stdbool.h>

struct dnn_layer {
	const char *name; /* owned by the dnn */
	bytes gradient;
	bytes all_to_all; /* bytes that a worker sends to experts, and gets back, in a pass */
	sim_time forward, backward;
	uint32_t tensors; /* number of tensors that carry its gradient; set by dnn_plan_tensors() */
};

/* What is all-reduced at once: the gradient of a layer, or a part of it. */
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
	int64_t *send_order; /* indices of layers, for dnn_plan_tensors(); NULL = last first */
	size_t send_order_count;
	uint64_t batch; /* samples of a worker in an iteration, by its profile */
	bytes gradient_total;
	sim_time compute_total;  /* forward and backward of all layers */
	uint64_t hash;           /* hash of what a job uses of it, as read (job_models.c) */
	struct program *program; /* instead of layers: what its ranks do; NULL = none; owned */
};

/* Loads a network of profiles.csv, without tensors yet. Returns NULL and *error (caller frees) if
 * the model or GPU does not exist, or a file is wrong. *of_gpu becomes true if the model has
 * computing times, but none on this GPU. */
struct dnn *dnn_load(const char *name, const char *gpu, char **error, bool *of_gpu);
void dnn_free(struct dnn *dnn);

/* A network without layers; free it with dnn_free(). dnn_add_layer() adds the layers that a
 * scenario lists, front layer first. */
struct dnn *dnn_new(const char *name);
void dnn_add_layer(struct dnn *dnn, const char *name, bytes gradient, sim_time forward,
		   sim_time backward);

/* Sum of all_to_all over the layers. */
bytes dnn_tokens(const struct dnn *dnn);

/* Merges consecutive layers, from the last to the first as gradients appear, until each has at
 * least `min` bytes of gradient, as PyTorch DDP fills its buckets. The front layer may have
 * less. */
void dnn_fuse(struct dnn *dnn, bytes min);

/* Multiplies every gradient and all_to_all by `factor`. Results are rounded to whole 4-byte values,
 * at least one; 0 stays 0. */
void dnn_scale(struct dnn *dnn, double factor);

/* A network of which one iteration stands for `factor` >= 1 iterations of *dnn, which has tensors.
 * All times, tensors and all_to_all are multiplied, bytes rounded to whole 4-byte values, at least
 * one. `batch`, `hash` and `send_order` stay empty. Free it with dnn_free(). */
struct dnn *dnn_repeated(const struct dnn *dnn, double factor);

/* Makes the tensors, in the order of sending. Call when the layers are final. `order` lists a layer
 * for each tensor. A layer that is listed k times is sent in k equal parts of whole 4-byte values;
 * the last part takes the rest. Every layer must be listed, at most as often as it has values.
 * Without `order` each layer is one tensor, last layer first, as the backward pass makes them. */
void dnn_plan_tensors(struct dnn *dnn, const int64_t *order, size_t count);

/* --- what exists --- */

/* A row of profiles.csv. */
struct dnn_profile {
	char *model, *layers, *gpu; /* layers: name of the file in layers/ */
	int64_t batch;              /* samples per worker and iteration */
	sim_time compute;
	char *quality; /* where the time is from: traces/README.md */
};

struct dnn_list {
	struct dnn_profile *profiles; /* in the order of the file */
	size_t count;
};

/* Returns false and *error (caller frees) if the file is missing or wrong. */
bool dnn_list_load(struct dnn_list *list, char **error);
void dnn_list_release(struct dnn_list *list);

#endif
