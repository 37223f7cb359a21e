#include "workload/jobs/job_models.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

/* --- what a scenario names --- */

static const struct model_part *part_of(const struct model_conf *conf, size_t i)
{
	return &((const struct model_part *)conf->mix.items)[i];
}

size_t model_conf_names(const struct model_conf *conf)
{
	switch ((enum model_form)conf->form) {
	case MODEL_NAMED:
		return 1;
	case MODEL_IN_PLACE:
		return 0;
	case MODEL_MIX:
		return conf->mix.count;
	}
	return 0;
}

const char *model_conf_name(const struct model_conf *conf, size_t i)
{
	return conf->form == MODEL_MIX ? part_of(conf, i)->model : conf->name;
}

void model_conf_place(const struct model_conf *conf, size_t i, char *place, size_t size)
{
	if (conf->form == MODEL_MIX)
		snprintf(place, size, "/model/mix/%zu/model", i);
	else
		snprintf(place, size, "/model");
}

/* --- networks --- */

static struct dnn *dnn_in_place(const struct model_conf *model)
{
	const struct layer_conf *layers = model->layers.items;
	struct dnn *dnn = dnn_new("in place");

	for (size_t i = 0; i < model->layers.count; i++)
		dnn_add_layer(dnn, layers[i].name ? layers[i].name : "layer", layers[i].gradient,
			      layers[i].forward, layers[i].backward);
	return dnn;
}

/* As the group wants it. */
static void prepare(struct dnn *dnn, const struct job_group_conf *conf)
{
	if (conf->gradient_scale != 1)
		dnn_scale(dnn, conf->gradient_scale);
	if (conf->overlap == OVERLAP_NONE)
		dnn_fuse(dnn, UINT64_MAX); /* one layer, one tensor */
	else if (conf->fusion)
		dnn_fuse(dnn, conf->fusion);
	if (conf->model.form == MODEL_IN_PLACE && conf->model.send_order.count)
		dnn_plan_tensors(dnn, conf->model.send_order.items, conf->model.send_order.count);
	else
		dnn_plan_tensors(dnn, NULL, 0);
}

static void add_dnn(struct job_models *models, const struct job_group_conf *conf, struct dnn *dnn,
		    double weight)
{
	prepare(dnn, conf);
	models->dnns[models->count++] = dnn;
	weights_add(&models->weights, weight);
}

bool job_models_load(struct job_models *models, const struct job_group_conf *conf, char **error)
{
	size_t names = model_conf_names(&conf->model);

	*models = (struct job_models){ .dnns = xcalloc(names + 1, sizeof(struct dnn *)) };
	if (conf->model.form == MODEL_IN_PLACE)
		add_dnn(models, conf, dnn_in_place(&conf->model), 1);
	for (size_t i = 0; i < names; i++) {
		struct dnn *dnn = dnn_load(model_conf_name(&conf->model, i), conf->gpu, error);

		if (!dnn) {
			job_models_release(models);
			return false;
		}
		add_dnn(models, conf, dnn,
			conf->model.form == MODEL_MIX ? part_of(&conf->model, i)->weight : 1);
	}
	return true;
}

void job_models_release(struct job_models *models)
{
	for (size_t i = 0; i < models->count; i++)
		dnn_free(models->dnns[i]);
	free(models->dnns);
	weights_release(&models->weights);
	*models = (struct job_models){ 0 };
}

const struct dnn *job_models_draw(const struct job_models *models, struct rng *rng)
{
	return models->dnns[weights_draw(&models->weights, rng)];
}

double job_models_gradient(const struct job_models *models)
{
	double mean = 0;

	for (size_t i = 0; i < models->count; i++)
		mean += weights_fraction(&models->weights, i) *
			(double)models->dnns[i]->gradient_total;
	return mean;
}

double job_models_compute_s(const struct job_models *models)
{
	double mean = 0;

	for (size_t i = 0; i < models->count; i++)
		mean += weights_fraction(&models->weights, i) *
			seconds_of(models->dnns[i]->compute_total);
	return mean;
}
