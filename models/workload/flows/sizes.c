#include "workload/flows/sizes.h"

#include "base/mem.h"
#include "workload/data_file.h"

#include <stdlib.h>

/* --- what a scenario names --- */

size_t size_conf_tables(const struct size_conf *conf)
{
	if (conf->form == SIZE_MIX)
		return conf->mix.count;
	return conf->form == SIZE_CDF ? 1 : 0;
}

const char *size_conf_table(const struct size_conf *conf, size_t i)
{
	return conf->form == SIZE_MIX ? mix_part(&conf->mix, i)->name : conf->cdf;
}

/* --- draws --- */

static void free_sizes(void *item)
{
	struct sizes *sizes = item;

	for (size_t i = 0; i < sizes->count; i++)
		size_cdf_free(sizes->cdfs[i]);
	free(sizes->cdfs);
	weights_release(&sizes->weights);
	free(sizes);
}

static struct size_cdf *load_table(const char *name, struct conf_doc *doc, const char *where)
{
	char *error = NULL, *path = data_file_find(DATA_CDF, name, conf_path(doc), &error);
	struct size_cdf *cdf = path ? size_cdf_load(path, &error) : NULL;

	if (!cdf)
		conf_error(doc, where, "%s", error);
	free(path);
	free(error);
	return cdf;
}

const struct sizes *sizes_load(const struct size_conf *conf, struct conf_doc *doc,
			       const char *pointer)
{
	size_t count = size_conf_tables(conf), before = conf_errors(doc);
	struct sizes *sizes = xcalloc(1, sizeof(*sizes));

	*sizes = (struct sizes){ .fixed = conf->form == SIZE_ENDLESS ? FLOW_ENDLESS : conf->fixed,
				 .scale = conf->form == SIZE_ENDLESS ? 1 : conf->scale,
				 .cdfs = xcalloc(count, sizeof(*sizes->cdfs)) };
	conf_keep(doc, sizes, free_sizes);
	for (; sizes->count < count; sizes->count++) {
		size_t i = sizes->count;
		bool mix = conf->form == SIZE_MIX;

		sizes->cdfs[i] = load_table(size_conf_table(conf, i), doc,
					    mix ? conf_at(doc, "%s/size/mix/%zu/cdf", pointer, i)
						: conf_at(doc, "%s/size/cdf", pointer));
		weights_add(&sizes->weights, mix ? mix_part(&conf->mix, i)->weight : 1);
	}
	return conf_errors(doc) == before ? sizes : NULL;
}

bytes sizes_scaled(const struct sizes *sizes, bytes size)
{
	double scaled = (double)size * sizes->scale + 0.5;

	return scaled < 1 ? 1 : (bytes)scaled;
}

bytes sizes_draw(const struct sizes *sizes, struct rng *rng)
{
	bytes size = sizes->count
			     ? size_cdf_draw(sizes->cdfs[weights_draw(&sizes->weights, rng)], rng)
			     : sizes->fixed;

	return sizes_scaled(sizes, size);
}

double sizes_mean(const struct sizes *sizes)
{
	/* what is drawn or scaled has at least 1 byte: a table's size counts as `min` at least */
	double mean = 0, min = sizes->scale < 1 ? 1 / sizes->scale : 1;

	if (!sizes->count)
		return (double)sizes_scaled(sizes, sizes->fixed);
	for (size_t i = 0; i < sizes->count; i++)
		mean += weights_fraction(&sizes->weights, i) *
			(size_cdf_mean(sizes->cdfs[i]) + size_cdf_lift(sizes->cdfs[i], min));
	return mean * sizes->scale;
}
