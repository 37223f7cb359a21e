#include "workload/flows/sizes.h"

#include "base/mem.h"
#include "workload/data_file.h"

#include <stdio.h>
#include <stdlib.h>

/* --- what a scenario names --- */

static const struct size_part *part_of(const struct size_conf *conf, size_t i)
{
	return &((const struct size_part *)conf->mix.items)[i];
}

size_t size_conf_tables(const struct size_conf *conf)
{
	if (conf->form == SIZE_MIX)
		return conf->mix.count;
	return conf->form == SIZE_CDF ? 1 : 0;
}

const char *size_conf_table(const struct size_conf *conf, size_t i)
{
	return conf->form == SIZE_MIX ? part_of(conf, i)->cdf : conf->cdf;
}

void size_conf_place(const struct size_conf *conf, size_t i, char *place, size_t size)
{
	if (conf->form == SIZE_MIX)
		snprintf(place, size, "/size/mix/%zu/cdf", i);
	else
		snprintf(place, size, "/size/cdf");
}

struct size_cdf *size_conf_load(const struct size_conf *conf, size_t i, const char *scenario,
				char **error)
{
	char *unwanted = NULL, **mistake = error ? error : &unwanted;
	char *path = data_file_find(DATA_CDF, size_conf_table(conf, i), scenario, mistake);
	struct size_cdf *cdf = path ? size_cdf_load(path, mistake) : NULL;

	free(path);
	free(unwanted);
	return cdf;
}

/* --- draws --- */

bool sizes_load(struct sizes *sizes, const struct size_conf *conf, const char *scenario,
		char **error)
{
	size_t count = size_conf_tables(conf);

	*sizes = (struct sizes){ .fixed = conf->fixed,
				 .scale = conf->scale,
				 .cdfs = xcalloc(count, sizeof(*sizes->cdfs)) };
	for (; sizes->count < count; sizes->count++) {
		struct size_cdf *cdf = size_conf_load(conf, sizes->count, scenario, error);

		if (!cdf) {
			sizes_release(sizes);
			return false;
		}
		sizes->cdfs[sizes->count] = cdf;
		weights_add(&sizes->weights,
			    conf->form == SIZE_MIX ? part_of(conf, sizes->count)->weight : 1);
	}
	return true;
}

void sizes_release(struct sizes *sizes)
{
	for (size_t i = 0; i < sizes->count; i++)
		size_cdf_free(sizes->cdfs[i]);
	free(sizes->cdfs);
	weights_release(&sizes->weights);
	*sizes = (struct sizes){ 0 };
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
	/* a smaller size of a table becomes 1 byte, when drawn or by the scale */
	double mean = 0, min = sizes->scale < 1 ? 1 / sizes->scale : 1;

	if (!sizes->count)
		return (double)sizes_scaled(sizes, sizes->fixed);
	for (size_t i = 0; i < sizes->count; i++)
		mean += weights_fraction(&sizes->weights, i) *
			(size_cdf_mean(sizes->cdfs[i]) + size_cdf_lift(sizes->cdfs[i], min));
	return mean * sizes->scale;
}
