#include "workload/jobs/job_models.h"

#include "base/hash.h"
#include "base/mem.h"
#include "workload/data_file.h"
#include "workload/jobs/jobs_parts.h"
#include "workload/program/program_files.h"

#include <stdlib.h>
#include <string.h>

/* --- what a scenario names --- */

static bool is_file(const char *name)
{
	size_t length = strlen(name);

	return (length > 5 && !strcmp(name + length - 5, ".json")) || program_file_is(name);
}

static void find_file(const char **name, struct conf_doc *doc)
{
	char *path = data_file_beside(*name, conf_path(doc));

	*name = conf_at(doc, "%s", path);
	free(path);
}

static void find_named(const char **name, struct conf_doc *doc)
{
	if (is_file(*name))
		find_file(name, doc);
}

static void find_program(struct program_file_conf *file, struct conf_doc *doc)
{
	if (file->given)
		find_file(&file->path, doc);
	if (file->given && file->groups)
		find_file(&file->groups, doc);
}

void model_conf_find(struct model_conf *conf, struct conf_doc *doc)
{
	struct mix_part *parts = conf->mix.items;

	if (conf->form == MODEL_NAMED)
		find_named(&conf->name, doc);
	if (conf->form == MODEL_IN_PLACE)
		find_program(&conf->file, doc);
	for (size_t i = 0; conf->form == MODEL_MIX && i < conf->mix.count; i++)
		find_named(&parts[i].name, doc);
}

/* --- networks --- */

static struct dnn *from_layers(const char *name, const struct model_conf *model)
{
	const struct layer_conf *layers = model->layers.items;
	size_t count = model->send_order.count;
	struct dnn *dnn = dnn_new(name);

	for (size_t i = 0; i < model->layers.count; i++) {
		dnn_add_layer(dnn, layers[i].name ? layers[i].name : "layer", layers[i].gradient,
			      layers[i].forward, layers[i].backward);
		dnn->layers[i].all_to_all = layers[i].all_to_all;
	}
	if (count) {
		dnn->send_order = xcalloc(count, sizeof(*dnn->send_order));
		memcpy(dnn->send_order, model->send_order.items, count * sizeof(*dnn->send_order));
		dnn->send_order_count = count;
	}
	return dnn;
}

/* The network of a program: what all ranks together, and one of them, exchange and compute. */
static struct dnn *of_program(const char *name, struct program *program)
{
	struct dnn *dnn = dnn_new(name);

	dnn->program = program;
	for (size_t i = 0; i < program->role_count; i++) {
		const struct program_role *role = &program->roles[i];
		bytes gradient = 0;
		sim_time compute = 0;

		for (size_t n = 0; n < role->count; n++) {
			gradient +=
				role->nodes[n].flags & NODE_GRADIENT ? role->nodes[n].amount : 0;
			compute += role->nodes[n].act == ACT_COMPUTE ? role->nodes[n].amount : 0;
		}
		dnn->gradient_total =
			gradient > dnn->gradient_total ? gradient : dnn->gradient_total;
		dnn->compute_total = compute > dnn->compute_total ? compute : dnn->compute_total;
	}
	return dnn;
}

/* The name of a file without folder and ending. Caller frees. */
static char *name_in(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return xstrndup(name, (size_t)(strrchr(name, '.') - name));
}

static struct dnn *from_file(const struct program_file_conf *file, char **error)
{
	struct program *program = program_of_file(file, error);
	struct dnn *dnn = NULL;
	char *name;

	if (program) {
		name = name_in(file->path);
		dnn = of_program(name, program);
		free(name);
	}
	return dnn;
}

/* *at and *error: as program_of_conf() says. */
static struct dnn *from_conf(const char *name, const struct model_conf *model,
			     const struct job_group_conf *group, char **at, char **error)
{
	int forms = (model->layers.count > 0) + (model->program.roles.count > 0) +
		    model->llm.given + model->file.given;
	struct program *program = NULL;

	*at = NULL;
	if (forms != 1)
		*error = xasprintf(
			"has %s of \"layers\", \"roles\", \"llm\" and \"file\"; allowed: one",
			forms ? "several" : "none");
	else if (!model->program.roles.count && model->program.groups.count)
		*error = xstrdup("\"groups\" are for a program, which has \"roles\"");
	else if (!model->layers.count && model->send_order.count)
		*error = xstrdup("\"send_order\" is for layers");
	else if (model->layers.count)
		return from_layers(name, model);
	else if (model->file.given)
		return from_file(&model->file, error);
	else if (model->llm.given)
		program = program_llm(&model->llm, &group->tokens, group->gpu, error);
	else
		program = program_of_conf(&model->program, at, error);
	if (!program)
		return NULL;
	return of_program(model->llm.given ? llm_names[model->llm.model] : name, program);
}

static struct dnn *from_json(const char *path, const struct job_group_conf *group, char **error)
{
	struct model_conf model = { 0 };
	struct conf_doc *doc = conf_load(path, &model_in_place_table, &model, NULL, 0);
	char *at = NULL, *text = NULL;
	struct dnn *dnn = NULL;

	if (conf_errors(doc)) {
		*error = data_file_mistake(doc);
	} else {
		char *name = name_in(path);

		find_program(&model.file, doc);
		dnn = from_conf(name, &model, group, &at, &text);
		if (!dnn) {
			conf_error(doc, conf_at(doc, "%s", at ? at : ""), "%s", text);
			*error = data_file_mistake(doc);
		}
		free(at);
		free(text);
		free(name);
	}
	conf_doc_free(doc);
	return dnn;
}

static const char *name_of(const struct model_conf *model, size_t i)
{
	return model->form == MODEL_MIX ? mix_part(&model->mix, i)->name : model->name;
}

static struct dnn *load(const struct job_group_conf *conf, size_t i, char **at, char **error,
			bool *of_gpu)
{
	const struct model_conf *model = &conf->model;
	const char *name = name_of(model, i);

	if (model->form == MODEL_IN_PLACE)
		return from_conf("in place", model, conf, at, error);
	if (program_file_is(name))
		return from_file(&(struct program_file_conf){ .path = name }, error);
	return is_file(name) ? from_json(name, conf, error)
			     : dnn_load(name, conf->gpu, error, of_gpu);
}

static uint64_t hash_of(const struct dnn *dnn)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < dnn->layer_count; i++) {
		const struct dnn_layer *layer = &dnn->layers[i];

		hash = hash_pair(hash, hash_string(layer->name));
		hash = hash_pair(hash, layer->gradient);
		if (layer->all_to_all) /* networks without keep the hash they had */
			hash = hash_pair(hash, layer->all_to_all);
		hash = hash_pair(hash, layer->forward);
		hash = hash_pair(hash, layer->backward);
	}
	for (size_t i = 0; i < dnn->send_order_count; i++)
		hash = hash_pair(hash, (uint64_t)dnn->send_order[i]);
	if (dnn->program)
		hash = hash_pair(hash, program_hash(dnn->program));
	return hash;
}

static void free_models(void *item)
{
	struct job_models *models = item;

	for (size_t i = 0; i < models->count; i++) {
		dnn_free(models->dnns[i]);
		free(models->mistakes[i].text);
		free(models->mistakes[i].at);
	}
	free(models->dnns);
	free(models->mistakes);
	weights_release(&models->weights);
	free(models);
}

struct job_models *job_models_load(const struct job_group_conf *conf, struct conf_doc *doc)
{
	struct job_models *models = xcalloc(1, sizeof(*models));
	bool mix = conf->model.form == MODEL_MIX;

	models->count = mix ? conf->model.mix.count : 1;
	models->dnns = xcalloc(models->count, sizeof(*models->dnns));
	models->mistakes = xcalloc(models->count, sizeof(*models->mistakes));
	for (size_t i = 0; i < models->count; i++) {
		struct dnn *dnn = models->dnns[i] =
			load(conf, i, &models->mistakes[i].at, &models->mistakes[i].text,
			     &models->mistakes[i].of_gpu);

		if (dnn)
			dnn->hash = hash_of(dnn);
		models->of_gpu |= conf->model.form == MODEL_IN_PLACE
					  ? conf->model.llm.given
					  : !is_file(name_of(&conf->model, i));
		weights_add(&models->weights, mix ? mix_part(&conf->model.mix, i)->weight : 1);
	}
	conf_keep(doc, models, free_models);
	return models;
}

static void prepare(struct dnn *dnn, const struct job_group_conf *conf)
{
	if (dnn->program) {
		program_scale(dnn->program, conf->gradient_scale);
		return;
	}
	if (conf->gradient_scale != 1)
		dnn_scale(dnn, conf->gradient_scale);
	if (conf->overlap == OVERLAP_NONE)
		dnn_fuse(dnn, UINT64_MAX); /* one layer, one tensor */
	else if (conf->fusion && !conf->fusion_cycle)
		dnn_fuse(dnn, conf->fusion);
	dnn_plan_tensors(dnn, dnn->send_order, dnn->send_order_count);
}

void job_models_prepare(const struct job_group_conf *conf)
{
	for (size_t i = 0; i < conf->models->count; i++)
		prepare(conf->models->dnns[i], conf);
}

const struct dnn *job_models_draw(const struct job_models *models, struct rng *rng)
{
	return models->dnns[weights_draw(&models->weights, rng)];
}

struct job_means job_models_means(const struct job_models *models)
{
	struct job_means means = { 0 };

	for (size_t i = 0; i < models->count; i++) {
		double fraction = weights_fraction(&models->weights, i);

		means.gradient += fraction * (double)models->dnns[i]->gradient_total;
		means.tokens += fraction * (double)dnn_tokens(models->dnns[i]);
		means.compute_s += fraction * seconds_of(models->dnns[i]->compute_total);
	}
	return means;
}
