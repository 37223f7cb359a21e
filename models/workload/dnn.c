#include "workload/dnn.h"

#include "base/input.h"
#include "base/mem.h"
#include "data/csv_read.h"
#include "workload/data_file.h"
#include "workload/program/llm_models.h"
#include "workload/program/program.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_PER_PARAMETER 4 /* fp32 */

#define TOKENS_MAX (UINT64_C(1) << 44) /* bytes of one row; as LAYER_MAX in jobs_conf.c */
#define MACS_MAX   (UINT64_C(1) << 50) /* of one row; the sum of thousands of rows still fits */

/* --- profiles.csv --- */

static void read_profiles(struct dnn_list *list, struct csv *csv)
{
	int model = csv_need(csv, "model"), layers = csv_need(csv, "layers"),
	    gpu = csv_need(csv, "gpu");
	int batch = csv_need(csv, "batch"), compute = csv_need(csv, "compute_ms");
	int quality = csv_need(csv, "quality");
	size_t capacity = 0;

	while (csv_next(csv)) {
		uint64_t samples = csv_u64(csv, batch);
		sim_time time = data_time(csv, compute, PS_PER_MS);

		if (samples == 0 || samples > INT32_MAX)
			csv_complain(csv, batch, "is not between 1 and 2^31-1");
		if (time == 0)
			csv_complain(csv, compute, "must be above 0");
		list->profiles = array_reserve(list->profiles, list->count, &capacity,
					       sizeof(*list->profiles));
		list->profiles[list->count++] = (struct dnn_profile){
			.model = xstrdup(csv_text(csv, model)),
			.layers = xstrdup(csv_text(csv, layers)),
			.gpu = xstrdup(csv_text(csv, gpu)),
			.batch = (int64_t)samples,
			.compute = time,
			.quality = xstrdup(csv_text(csv, quality)),
		};
	}
}

bool dnn_list_load(struct dnn_list *list, char **error)
{
	char *path = data_path("models/profiles.csv");
	struct csv *csv = csv_open(path, error);

	free(path);
	*list = (struct dnn_list){ 0 };
	if (!csv)
		return false;
	read_profiles(list, csv);
	if (csv_close(csv, error))
		return true;
	dnn_list_release(list);
	return false;
}

void dnn_list_release(struct dnn_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct dnn_profile *profile = &list->profiles[i];

		free(profile->model);
		free(profile->layers);
		free(profile->gpu);
		free(profile->quality);
	}
	free(list->profiles);
	*list = (struct dnn_list){ 0 };
}

/* The names of all GPUs that `model` has a profile for; of all models if `model` is NULL. Each
 * once, NULL behind the last. The caller frees the array; the names belong to the list. */
static char **names_in(const struct dnn_list *list, const char *model)
{
	char **names = xcalloc(list->count + 1, sizeof(*names));
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++) {
		char *name = model ? list->profiles[i].gpu : list->profiles[i].model;
		size_t j = 0;

		if (model && strcmp(list->profiles[i].model, model))
			continue;
		while (j < count && strcmp(names[j], name))
			j++;
		if (j == count)
			names[count++] = name;
	}
	return names;
}

static char *layers_path(const char *name)
{
	char *file = xasprintf("models/layers/%s.csv", name), *path = data_path(file);

	free(file);
	return path;
}

/* How to write a step of the language model of this name; "" if none has it. Caller frees. */
static char *step_instead(const char *name)
{
	const char *const *llm = llm_names;

	while (*llm && strcmp(*llm, name))
		llm++;
	return *llm ? xasprintf("; its training step is \"model\": { \"llm\": { \"name\": \"%s\", "
				"... } } (inasim help llm)",
				name)
		    : xstrdup("");
}

/* The message when there is no profile for (name, gpu). Caller frees. */
static char *no_profile(const struct dnn_list *list, const char *name, const char *gpu,
			bool *of_gpu)
{
	char **gpus = names_in(list, name), **models = names_in(list, NULL), *suggestion, *text;
	char *layers = layers_path(name), *step = step_instead(name);
	/* opened only to see whether a model without profile has a table of layers */
	FILE *file = !gpus[0] && *name ? input_open(layers, UINT64_MAX) : NULL;

	*of_gpu = gpus[0];
	suggestion = data_suggestion(*of_gpu ? gpu : name, *of_gpu ? gpus : models);
	if (*of_gpu)
		text = xasprintf("no computing time of %s on GPU \"%s\"%s%s", name, gpu, suggestion,
				 step);
	else if (*step)
		text = xasprintf("no model \"%s\" with measured times%s", name, step);
	else
		text = xasprintf(
			"no model \"%s\"%s%s. Your own: \"model\": { \"layers\": [ { "
			"\"gradient\": \"4MB\", \"forward\": \"1ms\", \"backward\": \"2ms\" } ] }, "
			"or \"model\": \"NAME.json\", a file that holds such an object",
			name,
			file ? " with a computing time (its layers are known: list them with "
			       "their times in the scenario)"
			     : "",
			suggestion);
	if (file)
		fclose(file);
	free(layers);
	free(step);
	free(suggestion);
	free(models);
	free(gpus);
	return text;
}

static const struct dnn_profile *find_profile(const struct dnn_list *list, const char *name,
					      const char *gpu)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->profiles[i].model, name) && !strcmp(list->profiles[i].gpu, gpu))
			return &list->profiles[i];
	return NULL;
}

/* --- layers --- */

/* Multiply-accumulates by layer, while the file is read. */
struct macs {
	uint64_t *items;
	uint64_t total;
};

static void read_layers(struct dnn *dnn, struct macs *macs, struct csv *csv)
{
	int name = csv_need(csv, "layer"), params = csv_need(csv, "params"),
	    work = csv_need(csv, "macs"), routed = csv_find(csv, "all_to_all");
	size_t capacity = 0, macs_capacity = 0;
	uint64_t waiting = 0; /* MACs of rows before the first layer; that layer gets them */

	while (csv_next(csv)) {
		uint64_t count = csv_u64(csv, params), row = csv_u64(csv, work);
		uint64_t values = routed < 0 ? 0 : csv_u64(csv, routed);

		if (count > UINT32_MAX) /* 16 GiB; keeps every sum far from overflow */
			csv_complain(csv, params, "is more than 2^32-1");
		if (row > MACS_MAX)
			csv_complain(csv, work, "is more than 2^50");
		if (values > (count ? UINT32_MAX : 0))
			csv_complain(csv, routed,
				     "is more than 2^32-1, or belongs to no parameters");
		else if (values > TOKENS_MAX / BYTES_PER_PARAMETER / dnn->batch)
			csv_complain(csv, routed, "is more than 2^44 bytes in a batch");
		macs->total += row;
		if (count == 0 && dnn->layer_count == 0) {
			waiting += row;
			continue;
		}
		if (count == 0) {
			macs->items[dnn->layer_count - 1] += row;
			continue;
		}
		dnn->layers = array_reserve(dnn->layers, dnn->layer_count, &capacity,
					    sizeof(*dnn->layers));
		macs->items = array_reserve(macs->items, dnn->layer_count, &macs_capacity,
					    sizeof(*macs->items));
		macs->items[dnn->layer_count] = row + waiting;
		dnn->layers[dnn->layer_count++] =
			(struct dnn_layer){ .name = xstrdup(csv_text(csv, name)),
					    .gradient = count * BYTES_PER_PARAMETER,
					    .all_to_all =
						    values * BYTES_PER_PARAMETER * dnn->batch };
		dnn->gradient_total += count * BYTES_PER_PARAMETER;
		waiting = 0;
	}
}

/* time * part / whole, rounded down. The shares of 0 and of `whole` are exact, so the differences
 * between consecutive shares add up to the time. */
static sim_time share(sim_time time, uint64_t part, uint64_t whole)
{
	return (sim_time)((unsigned __int128)time * part / whole);
}

static void split_time(struct dnn *dnn, const struct macs *macs)
{
	sim_time forward = dnn->compute_total / 3, backward = dnn->compute_total - forward;
	uint64_t before = 0;

	for (size_t i = 0; i < dnn->layer_count; i++) {
		uint64_t after = before + macs->items[i];

		dnn->layers[i].forward =
			share(forward, after, macs->total) - share(forward, before, macs->total);
		dnn->layers[i].backward =
			share(backward, after, macs->total) - share(backward, before, macs->total);
		before = after;
	}
}

static bool load_layers(struct dnn *dnn, const char *file, char **error)
{
	char *path = layers_path(file);
	struct csv *csv = csv_open(path, error);
	struct macs macs = { 0 };
	bool ok = csv;

	if (csv) {
		read_layers(dnn, &macs, csv);
		ok = csv_close(csv, error);
	}
	if (ok && (!dnn->layer_count || !macs.total)) {
		*error = xasprintf(
			"%s: needs a layer with parameters (params) and one with work (macs)",
			path);
		ok = false;
	}
	if (ok)
		split_time(dnn, &macs);
	free(macs.items);
	free(path);
	return ok;
}

/* --- public --- */

struct dnn *dnn_load(const char *name, const char *gpu, char **error, bool *of_gpu)
{
	struct dnn_list list;
	const struct dnn_profile *profile;
	struct dnn *dnn = NULL;

	*of_gpu = false;
	if (!dnn_list_load(&list, error))
		return NULL;
	profile = find_profile(&list, name, gpu);
	if (!profile) {
		*error = no_profile(&list, name, gpu, of_gpu);
	} else {
		dnn = dnn_new(profile->model);
		dnn->compute_total = profile->compute;
		dnn->batch = (uint64_t)profile->batch;
		if (!load_layers(dnn, profile->layers, error)) {
			dnn_free(dnn);
			dnn = NULL;
		}
	}
	dnn_list_release(&list);
	return dnn;
}

void dnn_free(struct dnn *dnn)
{
	if (!dnn)
		return;
	for (size_t i = 0; i < dnn->layer_count; i++)
		free((char *)dnn->layers[i].name);
	free(dnn->layers);
	free(dnn->tensors);
	free(dnn->send_order);
	program_free(dnn->program);
	free((char *)dnn->name);
	free(dnn);
}

struct dnn *dnn_new(const char *name)
{
	struct dnn *dnn = xcalloc(1, sizeof(*dnn));

	dnn->name = xstrdup(name);
	return dnn;
}

void dnn_add_layer(struct dnn *dnn, const char *name, bytes gradient, sim_time forward,
		   sim_time backward)
{
	dnn->layers = xrealloc(dnn->layers, dnn->layer_count + 1, sizeof(*dnn->layers));
	dnn->layers[dnn->layer_count++] = (struct dnn_layer){
		.name = xstrdup(name),
		.gradient = gradient,
		.forward = forward,
		.backward = backward,
	};
	dnn->gradient_total += gradient;
	dnn->compute_total += forward + backward;
}

bytes dnn_tokens(const struct dnn *dnn)
{
	bytes sum = 0;

	for (size_t i = 0; i < dnn->layer_count; i++)
		sum += dnn->layers[i].all_to_all;
	return sum;
}

/* Adds layer `front` to `fused`, which holds the layers from the next one to `last`. */
static void fuse_front(struct dnn_layer *fused, const struct dnn_layer *front, const char *last)
{
	char *name = xasprintf("%s to %s", front->name, last);

	free((char *)fused->name);
	free((char *)front->name);
	fused->name = name;
	fused->gradient += front->gradient;
	fused->all_to_all += front->all_to_all;
	fused->forward += front->forward;
	fused->backward += front->backward;
}

void dnn_fuse(struct dnn *dnn, bytes min)
{
	size_t free_place = dnn->layer_count; /* fused layers stand from here to the end */
	char *last = NULL;

	for (size_t i = dnn->layer_count; i-- > 0;) {
		if (last && dnn->layers[free_place].gradient < min) {
			fuse_front(&dnn->layers[free_place], &dnn->layers[i], last);
			continue;
		}
		dnn->layers[--free_place] = dnn->layers[i];
		free(last);
		last = xstrdup(dnn->layers[free_place].name);
	}
	free(last);
	dnn->layer_count -= free_place;
	memmove(dnn->layers, dnn->layers + free_place, dnn->layer_count * sizeof(*dnn->layers));
}

/* size * factor in whole 4-byte values, at least one. 0 stays 0. */
static bytes scaled(bytes size, double factor)
{
	double values = (double)(size / BYTES_PER_PARAMETER) * factor + 0.5;

	return size ? (values < 1 ? 1 : (bytes)values) * BYTES_PER_PARAMETER : 0;
}

void dnn_scale(struct dnn *dnn, double factor)
{
	dnn->gradient_total = 0;
	for (size_t i = 0; i < dnn->layer_count; i++) {
		struct dnn_layer *layer = &dnn->layers[i];

		layer->gradient = scaled(layer->gradient, factor);
		layer->all_to_all = scaled(layer->all_to_all, factor);
		dnn->gradient_total += layer->gradient;
	}
}

/* The size of a layer's tensor `number`. The last one takes the rest of the gradient. */
static bytes tensor_size(const struct dnn_layer *layer, uint32_t number)
{
	bytes part = layer->gradient / layer->tensors / BYTES_PER_PARAMETER * BYTES_PER_PARAMETER;

	return number + 1 < layer->tensors ? part : layer->gradient - part * number;
}

void dnn_plan_tensors(struct dnn *dnn, const int64_t *order, size_t count)
{
	uint32_t *sent = xcalloc(dnn->layer_count, sizeof(*sent));

	dnn->tensor_count = order ? count : dnn->layer_count;
	dnn->tensors = xcalloc(dnn->tensor_count, sizeof(*dnn->tensors));
	for (size_t t = 0; t < dnn->tensor_count; t++) {
		dnn->tensors[t].layer = order ? (size_t)order[t] : dnn->layer_count - 1 - t;
		dnn->layers[dnn->tensors[t].layer].tensors++;
	}
	for (size_t t = 0; t < dnn->tensor_count; t++) {
		size_t layer = dnn->tensors[t].layer;

		dnn->tensors[t].size = tensor_size(&dnn->layers[layer], sent[layer]++);
	}
	free(sent);
}

struct dnn *dnn_repeated(const struct dnn *dnn, double factor)
{
	struct dnn *more = dnn_new(dnn->name);

	for (size_t i = 0; i < dnn->layer_count; i++) {
		const struct dnn_layer *layer = &dnn->layers[i];

		dnn_add_layer(more, layer->name, 0,
			      (sim_time)((double)layer->forward * factor + 0.5),
			      (sim_time)((double)layer->backward * factor + 0.5));
		more->layers[i].tensors = layer->tensors;
		more->layers[i].all_to_all = scaled(layer->all_to_all, factor);
	}
	more->tensor_count = dnn->tensor_count;
	more->tensors = xcalloc(dnn->tensor_count, sizeof(*more->tensors));
	for (size_t t = 0; t < dnn->tensor_count; t++) {
		double values = (double)dnn->tensors[t].size / BYTES_PER_PARAMETER * factor + 0.5;
		struct dnn_tensor tensor = { .layer = dnn->tensors[t].layer,
					     .size = (values < 1 ? 1 : (bytes)values) *
						     BYTES_PER_PARAMETER };

		more->tensors[t] = tensor;
		more->layers[tensor.layer].gradient += tensor.size;
		more->gradient_total += tensor.size;
	}
	return more;
}
