/* What a user may write under "jobs", and what is checked before a run. */
#include "workload/jobs/jobs.h"

#include "base/mem.h"
#include "workload/data_file.h"
#include "workload/jobs/jobs_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct conf_row layer_rows[] = {
	{ .name = "name",
	  .type = CONF_STRING,
	  .offset = offsetof(struct layer_conf, name),
	  .def = CONF_OPTIONAL,
	  .help = "Label." },
	{ .name = "gradient",
	  .type = CONF_BYTES,
	  .offset = offsetof(struct layer_conf, gradient),
	  .min = 1,
	  .max = UINT64_C(1) << 44,
	  .def = CONF_REQUIRED,
	  .help = "Bytes to all-reduce." },
	{ .name = "forward",
	  .type = CONF_TIME,
	  .offset = offsetof(struct layer_conf, forward),
	  .max = 10000 * PS_PER_S,
	  .def = "\"0s\"",
	  .help = "Forward computation.",
	  .source = "communication only" },
	{ .name = "backward",
	  .type = CONF_TIME,
	  .offset = offsetof(struct layer_conf, backward),
	  .max = 10000 * PS_PER_S,
	  .def = "\"0s\"",
	  .help = "Backward computation.",
	  .source = "communication only" },
	{ 0 },
};
static const struct conf_table layer_table = { "layer", layer_rows, sizeof(struct layer_conf),
					       "A layer." };
static const struct conf_row layer_item = { .type = CONF_OBJECT,
					    .table = &layer_table,
					    .help = "A layer." };
static const struct conf_row send_order_item = {
	.type = CONF_INT, .imin = 0, .imax = 99999, .help = "Index of a layer."
};
static const struct conf_row in_place_rows[] = {
	{ .name = "layers",
	  .type = CONF_LIST,
	  .offset = offsetof(struct model_conf, layers),
	  .min = 1,
	  .max = 100000,
	  .item = &layer_item,
	  .def = CONF_REQUIRED,
	  .help = "The layers, front layer first." },
	{ .name = "send_order",
	  .type = CONF_LIST,
	  .offset = offsetof(struct model_conf, send_order),
	  .min = 1,
	  .max = 1000000,
	  .item = &send_order_item,
	  .def = CONF_OPTIONAL,
	  .help = "Layers in the order in which their gradients are sent; one that stands here k "
		  "times is sent in k equal parts. Otherwise last layer first." },
	{ 0 },
};
static const struct conf_table in_place_table = { "model_in_place", in_place_rows,
						  sizeof(struct model_conf), NULL };
static const struct conf_row model_part_rows[] = {
	{ .name = "model",
	  .type = CONF_STRING,
	  .offset = offsetof(struct model_part, model),
	  .def = CONF_REQUIRED,
	  .help = "A name from traces/models (inasim list models)." },
	{ .name = "weight",
	  .type = CONF_REAL,
	  .offset = offsetof(struct model_part, weight),
	  .rmin = 1e-9,
	  .rmax = 1e9,
	  .def = "1",
	  .help = "Of the jobs, this over the sum of all weights trains this network.",
	  .source = "all alike" },
	{ 0 },
};
static const struct conf_table model_part_table = { "model_part", model_part_rows,
						    sizeof(struct model_part), NULL };
static const struct conf_row model_part_item = { .type = CONF_OBJECT,
						 .table = &model_part_table,
						 .help = "A network and its weight." };
static const struct conf_row model_mix_rows[] = {
	{ .name = "mix",
	  .type = CONF_LIST,
	  .offset = offsetof(struct model_conf, mix),
	  .min = 1,
	  .max = 1000,
	  .item = &model_part_item,
	  .def = CONF_REQUIRED,
	  .help = "Each job draws one of these by weight." },
	{ 0 },
};
static const struct conf_table model_mix_table = { "model_mix", model_mix_rows,
						   sizeof(struct model_conf), NULL };
static const struct conf_row model_forms[] = {
	{ .name = "named",
	  .type = CONF_STRING,
	  .offset = offsetof(struct job_group_conf, model.name),
	  .help = "A name from traces/models (inasim list models)." },
	{ .name = "in_place",
	  .type = CONF_OBJECT,
	  .offset = offsetof(struct job_group_conf, model),
	  .table = &in_place_table,
	  .help = "Layers in place." },
	{ .name = "mixed",
	  .type = CONF_OBJECT,
	  .offset = offsetof(struct job_group_conf, model),
	  .table = &model_mix_table,
	  .help = "One of several networks, drawn for each job." },
	{ 0 },
};
static const struct conf_table model_table = { "model", model_forms, sizeof(struct job_group_conf),
					       NULL };

static const struct conf_row range_rows[] = {
	{ .name = "min",
	  .type = CONF_INT,
	  .offset = offsetof(struct workers_conf, min),
	  .imin = 1,
	  .imax = 1000000,
	  .def = CONF_REQUIRED,
	  .help = "Fewest workers." },
	{ .name = "max",
	  .type = CONF_INT,
	  .offset = offsetof(struct workers_conf, max),
	  .imin = 1,
	  .imax = 1000000,
	  .def = CONF_REQUIRED,
	  .help = "Most workers." },
	{ 0 },
};
static const struct conf_table range_table = { "workers_range", range_rows,
					       sizeof(struct workers_conf), NULL };
static const struct conf_row worker_host = {
	.type = CONF_INT, .imin = 0, .imax = 1000000, .help = "Host number."
};
static const struct conf_row workers_forms[] = {
	{ .name = "number",
	  .type = CONF_INT,
	  .offset = offsetof(struct job_group_conf, workers.number),
	  .imin = 1,
	  .imax = 1000000,
	  .help = "So many, each on a host of its own." },
	{ .name = "range",
	  .type = CONF_OBJECT,
	  .offset = offsetof(struct job_group_conf, workers),
	  .table = &range_table,
	  .help = "Drawn for each job, uniformly." },
	{ .name = "hosts",
	  .type = CONF_LIST,
	  .offset = offsetof(struct job_group_conf, workers.hosts),
	  .min = 1,
	  .item = &worker_host,
	  .help = "On these hosts, in the order of ranks." },
	{ 0 },
};
static const struct conf_table workers_table = { "workers", workers_forms,
						 sizeof(struct job_group_conf), NULL };

static const char *const rule_names[] = { "duration", NULL };
static const struct conf_row iterations_forms[] = {
	{ .name = "number",
	  .type = CONF_INT,
	  .offset = offsetof(struct job_group_conf, iterations),
	  .imin = 1,
	  .imax = INT64_C(1000000000),
	  .help = "Iterations of each job." },
	{ .name = "rule",
	  .type = CONF_ENUM,
	  .offset = offsetof(struct job_group_conf, iterations_rule),
	  .choices = rule_names,
	  .help = "duration: as many as the trace's duration holds of pure computation." },
	{ 0 },
};
static const struct conf_table iterations_table = { "iterations", iterations_forms,
						    sizeof(struct job_group_conf), NULL };

static const struct conf_row straggler_rows[] = {
	{ .name = "workers",
	  .type = CONF_INT,
	  .offset = offsetof(struct job_group_conf, stragglers.workers),
	  .imin = 0,
	  .imax = 1000000,
	  .def = "0",
	  .help = "So many workers, the last ranks, are slow.",
	  .source = "none" },
	{ .name = "slowdown",
	  .type = CONF_REAL,
	  .offset = offsetof(struct job_group_conf, stragglers.slowdown),
	  .rmin = 1,
	  .rmax = 1e6,
	  .def = "2",
	  .help = "Their computing time is multiplied by this.",
	  .source = "our choice" },
	{ 0 },
};
static const struct conf_table straggler_table = { "stragglers", straggler_rows,
						   sizeof(struct job_group_conf), NULL };

static const char *const overlap_names[] = {
	[OVERLAP_NONE] = "none", [OVERLAP_LAYERS] = "layers", NULL
};

static const char *const jitter_names[] = {
	[JITTER_PER_ITERATION] = "iteration", [JITTER_PER_TENSOR] = "tensor", NULL
};

#define AT(field) .offset = offsetof(struct job_group_conf, field)
static const struct conf_row group_rows[] = {
	{ .name = "name",
	  .type = CONF_STRING,
	  AT(name),
	  .def = "\"job\"",
	  .help = "Name in results.",
	  .source = "a label" },
	{ .name = "enabled",
	  .type = CONF_BOOL,
	  AT(enabled),
	  .def = "true",
	  .help = "false: none of these jobs; what other groups draw stays the same.",
	  .source = "our choice" },
	{ .name = "count",
	  .type = CONF_INT,
	  AT(count),
	  .imin = 1,
	  .imax = JOBS_MOST,
	  .def = CONF_OPTIONAL,
	  .help = "Jobs of this kind; when missing one (at), or as many as arrive before the run "
		  "ends (poisson_gap, poisson_load)." },
	{ .name = "model",
	  .type = CONF_ONEOF,
	  AT(model),
	  .tag = offsetof(struct job_group_conf, model.form),
	  .table = &model_table,
	  .def = CONF_REQUIRED,
	  .help = "The neural network." },
	{ .name = "gpu",
	  .type = CONF_STRING,
	  AT(gpu),
	  .def = "\"p100\"",
	  .help = "Whose computing time: p100, v100, a100.",
	  .source = "PANAMA section 7" },
	{ .name = "workers",
	  .type = CONF_ONEOF,
	  AT(workers),
	  .tag = offsetof(struct job_group_conf, workers.form),
	  .table = &workers_table,
	  .present = 1 + offsetof(struct job_group_conf, workers.given),
	  .def = CONF_OPTIONAL,
	  .help = "How many workers; needed unless a trace says it." },
	{ .name = "servers",
	  .type = CONF_ONEOF,
	  AT(servers),
	  .tag = offsetof(struct job_group_conf, servers.form),
	  .table = &servers_table,
	  .present = 1 + offsetof(struct job_group_conf, servers.given),
	  .def = CONF_OPTIONAL,
	  .help = "Parameter servers, of schemes that have some; when missing, as many as the "
		  "scheme wants, on hosts of their own." },
	{ .name = "iterations",
	  .type = CONF_ONEOF,
	  AT(iterations),
	  .tag = offsetof(struct job_group_conf, iterations_form),
	  .table = &iterations_table,
	  .present = 1 + offsetof(struct job_group_conf, iterations_given),
	  .def = "1",
	  .help = "Training iterations; when missing, of a trace with durations (duration_s) and a "
		  "model that computes: duration.",
	  .source = "our choice; with a trace that has duration_s, as it says" },
	{ .name = "max_steps",
	  .type = CONF_INT,
	  AT(max_steps),
	  .imin = 1,
	  .imax = 1000000000,
	  .def = CONF_OPTIONAL,
	  .help = "A job of more iterations than this is simulated in so many steps, each of which "
		  "stands for several iterations: their computing and their gradients together. "
		  "Results then speak of steps where they say iterations." },
	{ .name = "all_reduce",
	  .type = CONF_ENUM,
	  AT(all_reduce),
	  .choices = scheme_names,
	  .def = CONF_REQUIRED,
	  .help = "The scheme that adds the gradients up (inasim list schemes)." },
	{ .name = "placement",
	  .type = CONF_ENUM,
	  AT(placement),
	  .choices = placement_names,
	  .def = "\"compact\"",
	  .help = "Which free hosts a job gets (unless workers is a list of hosts).",
	  .source = "PANAMA section 7" },
	{ .name = "arrival",
	  .type = CONF_ONEOF,
	  AT(arrival),
	  .tag = offsetof(struct job_group_conf, arrival.form),
	  .table = &job_arrival_table,
	  .def = "{\"at\": \"0s\"}",
	  .help = "When jobs arrive.",
	  .source = "our choice" },
	{ .name = "overlap",
	  .type = CONF_ENUM,
	  AT(overlap),
	  .choices = overlap_names,
	  .def = "\"none\"",
	  .help = "none: compute, then communicate; layers: a layer's gradient is sent while "
		  "others are computed.",
	  .source = "PANAMA section 2" },
	{ .name = "fusion",
	  .type = CONF_BYTES,
	  AT(fusion),
	  .min = 1,
	  .max = UINT64_C(1) << 40,
	  .def = CONF_OPTIONAL,
	  .help = "overlap layers: consecutive layers are merged until a tensor has at least this "
		  "size." },
	{ .name = "gradient_scale",
	  .type = CONF_REAL,
	  AT(gradient_scale),
	  .rmin = 1e-9,
	  .rmax = 1e6,
	  .def = "1",
	  .help = "Multiplies all gradients: a smaller experiment that says so.",
	  .source = "full size" },
	{ .name = "compute_scale",
	  .type = CONF_REAL,
	  AT(compute_scale),
	  .rmin = 0,
	  .rmax = 1e6,
	  .def = "1",
	  .help = "Multiplies all computing times.",
	  .source = "full size" },
	{ .name = "compute_jitter",
	  .type = CONF_REAL,
	  AT(compute_jitter),
	  .rmin = 0,
	  .rmax = 100,
	  .def = "0",
	  .help = "Each worker's computing of each iteration takes up to this fraction longer, "
		  "uniformly.",
	  .source = "none" },
	{ .name = "start_jitter",
	  .type = CONF_TIME,
	  AT(start_jitter),
	  .max = 1000 * PS_PER_S,
	  .def = "\"0s\"",
	  .help = "Each worker starts each iteration up to this much later, uniformly.",
	  .source = "none" },
	{ .name = "send_jitter",
	  .type = CONF_TIME,
	  AT(send_jitter),
	  .max = 1000 * PS_PER_S,
	  .def = "\"0s\"",
	  .help = "Each worker pauses up to this long, uniformly, before it hands a gradient over.",
	  .source = "none" },
	{ .name = "send_jitter_per",
	  .type = CONF_ENUM,
	  AT(send_jitter_per),
	  .choices = jitter_names,
	  .def = "\"iteration\"",
	  .help = "iteration: before the first gradient of an iteration; tensor: before each.",
	  .source = "our reading of ESA section 7.2.1" },
	{ .name = "stragglers",
	  .type = CONF_OBJECT,
	  .offset = 0,
	  .table = &straggler_table,
	  .def = "{}",
	  .help = "Slow workers." },
	{ 0 },
};
const struct conf_table job_group_table = { "job_group", group_rows, sizeof(struct job_group_conf),
					    "Jobs of one kind." };

/* --- checks --- */

static void check_model(const struct job_group_conf *conf, struct conf_doc *doc,
			const char *pointer)
{
	char place[160], key[64], *error;

	for (size_t i = 0; i < model_conf_names(&conf->model); i++) {
		const char *name = model_conf_name(&conf->model, i);
		struct dnn *dnn = dnn_load(name, conf->gpu, &error);

		model_conf_place(&conf->model, i, key, sizeof(key));
		snprintf(place, sizeof(place), "%s%s", pointer,
			 conf->arrival.part_model                 ? "/arrival/trace"
			 : !dnn && dnn_lacks_gpu(name, conf->gpu) ? "/gpu"
								  : key);
		if (!dnn) {
			conf_error(doc, place, "%s", error);
			free(error);
		}
		dnn_free(dnn);
	}
}

static void check_workers(const struct job_group_conf *conf, struct conf_doc *doc,
			  const char *pointer, uint32_t hosts)
{
	int64_t most =
		conf->workers.form == WORKERS_NUMBER ? conf->workers.number : conf->workers.max;
	char place[128];

	snprintf(place, sizeof(place), "%s/workers", pointer);
	if (!conf->workers.given) {
		if (conf->arrival.form != JOBS_TRACE)
			conf_error(doc, pointer,
				   "needs \"workers\" (only a job trace brings its own)");
		return;
	}
	if (conf->arrival.form == JOBS_TRACE)
		conf_error(
			doc, place,
			"the trace says how many workers; leave this out, or see gpus_per_worker");
	if (conf->workers.form == WORKERS_HOSTS)
		return; /* job_group_check_servers() looks at lists */
	if (conf->workers.form == WORKERS_RANGE && conf->workers.min > conf->workers.max)
		conf_error(doc, place, "min %" PRId64 " is larger than max %" PRId64,
			   conf->workers.min, conf->workers.max);
	if (most > (int64_t)hosts)
		conf_error(doc, place,
			   "%" PRId64 " workers, but the network has %" PRIu32
			   " hosts and a host has one "
			   "worker of a job",
			   most, hosts);
}

/* Every layer is sent, in no more parts than it has values. */
static void check_send_order(const struct job_group_conf *conf, struct conf_doc *doc,
			     const char *pointer)
{
	const struct conf_list *order = &conf->model.send_order;
	const struct layer_conf *layers = conf->model.layers.items;
	size_t layer_count = conf->model.layers.count;
	uint64_t *parts = xcalloc(layer_count, sizeof(*parts));
	char place[160];

	for (size_t i = 0; i < order->count; i++) {
		int64_t layer = ((const int64_t *)order->items)[i];

		snprintf(place, sizeof(place), "%s/model/send_order/%zu", pointer, i);
		if ((size_t)layer < layer_count)
			parts[layer]++;
		else
			conf_error(doc, place, "there is no layer %" PRId64 "; layers are 0 to %zu",
				   layer, layer_count - 1);
	}
	for (size_t i = 0; i < layer_count; i++) {
		snprintf(place, sizeof(place), "%s/model/send_order", pointer);
		if (!parts[i])
			conf_error(doc, place, "layer %zu is never sent", i);
		else if ((double)layers[i].gradient * conf->gradient_scale / 4 < (double)parts[i])
			conf_error(doc, place,
				   "layer %zu is sent in %" PRIu64
				   " parts but has fewer 4-byte values",
				   i, parts[i]);
	}
	snprintf(place, sizeof(place), "%s/model/send_order", pointer);
	if (conf->overlap == OVERLAP_NONE || conf->fusion)
		conf_error(doc, place,
			   "needs \"overlap\": \"layers\" and no \"fusion\": else layers "
			   "are merged into one tensor");
	free(parts);
}

/* A load needs bytes. */
static void check_load(const struct job_group_conf *conf, struct conf_doc *doc, const char *pointer)
{
	const struct workers_conf *workers = &conf->workers;
	char place[128];

	snprintf(place, sizeof(place), "%s/arrival/poisson_load", pointer);
	if (conf->arrival.form == JOBS_LOAD &&
	    ((workers->form == WORKERS_NUMBER && workers->number == 1) ||
	     (workers->form == WORKERS_RANGE && workers->max == 1) ||
	     (workers->form == WORKERS_HOSTS && workers->hosts.count == 1)))
		conf_error(doc, place, "jobs of one worker have nothing to send");
}

void job_group_check(const struct job_group_conf *conf, struct conf_doc *doc, const char *pointer,
		     const struct topology_conf *topology, const struct cluster_conf *cluster,
		     bool bounded)
{
	char place[128];

	check_model(conf, doc, pointer);
	if (conf->model.form == MODEL_IN_PLACE && conf->model.send_order.count)
		check_send_order(conf, doc, pointer);
	check_workers(conf, doc, pointer, topology_hosts(topology));
	job_group_check_servers(conf, doc, pointer, topology_hosts(topology), cluster);
	job_group_check_scheme(conf, doc, pointer, topology);
	snprintf(place, sizeof(place), "%s/iterations", pointer);
	if (conf->iterations_form == ITERATIONS_RULE && conf->arrival.form != JOBS_TRACE)
		conf_error(doc, place, "\"duration\" needs an arrival from a trace");
	if (conf->iterations_form == ITERATIONS_RULE && conf->compute_scale == 0)
		conf_error(doc, place,
			   "\"duration\" needs a computing time, but compute_scale is 0");
	snprintf(place, sizeof(place), "%s/fusion", pointer);
	if (conf->fusion && conf->overlap == OVERLAP_NONE)
		conf_error(doc, place,
			   "without \"overlap\": \"layers\" there is only one tensor to fuse");
	snprintf(place, sizeof(place), "%s/count", pointer);
	if (conf->count > 1 && conf->arrival.form == JOBS_TRACE)
		conf_error(doc, place, "the trace says how many jobs; see \"limit\"");
	if (!conf->count && job_group_poisson(conf) && !bounded)
		conf_error(doc, pointer,
			   "a Poisson process needs an end: \"count\", or a run that something "
			   "else ends, such as \"stop\": {\"when\": \"time\"}");
	check_load(conf, doc, pointer);
}
