/* Any bytes as data files: every file of the input is read as a table of each kind, and
 * all of them as a folder of traces with its neural networks. What is accepted is used.
 * Covers: sim/data/csv_read.c models/workload/flows/size_cdf.c models/workload/jobs/job_trace.c
 * models/workload/flows/flow_files.c
 * models/workload/data_file.c models/workload/dnn.c */
#include "files.h"

#include "base/mem.h"
#include "workload/data_file.h"
#include "workload/dnn.h"
#include "workload/flows/flow_files.h"
#include "workload/flows/size_cdf.h"
#include "workload/jobs/job_trace.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_cells(const char *path)
{
	char *error = NULL;
	struct csv *csv = csv_open(path, &error);

	if (csv) {
		csv_expect(csv, 2, "the test");
		while (csv_next(csv))
			for (int i = 0; i < (int)csv_columns(csv); i++) {
				if (csv_empty(csv, i))
					continue;
				if (strlen(csv_text(csv, i)) % 2)
					csv_u64(csv, i);
				else
					csv_real(csv, i);
				if (csv_line(csv) % 4 == 0)
					csv_flag(csv, i);
			}
		csv_close(csv, &error);
	}
	free(error);
}

static void read_sizes(const char *path)
{
	char *error = NULL;
	struct size_cdf *cdf = size_cdf_load(path, &error);

	if (cdf) {
		if (size_cdf_quantile(cdf, 0.0) > size_cdf_quantile(cdf, 1.0) ||
		    size_cdf_quantile(cdf, 0.5) < 1 || !(size_cdf_mean(cdf) >= 0) ||
		    !(size_cdf_lift(cdf, 1500) >= 0))
			abort();
		size_cdf_free(cdf);
	}
	free(error);
}

static void read_traces(const char *path)
{
	static const char *const names[] = { "h0", "gpu-1", "h2" };
	static const struct graph graph = { .hosts = 3, .names = names };
	char *error = NULL;
	struct job_trace jobs;
	struct flow_trace flows;

	if (job_trace_load(&jobs, path, &error))
		job_trace_release(&jobs);
	free(error);
	for (unsigned named = 0; named < 2; named++) {
		error = NULL;
		if (flow_file_load(&flows, path, strstr(path, ".cm") ? START_NS : START_NONE,
				   named ? &graph : NULL, &error))
			flow_trace_release(&flows);
		else if (!error)
			abort();
		free(error);
	}
}

static void read_all(const char *path)
{
	read_cells(path);
	read_sizes(path);
	read_traces(path);
}

static void use_network(const char *name, const char *gpu)
{
	char *error = NULL;
	bool of_gpu;
	struct dnn *dnn = dnn_load(name, gpu, &error, &of_gpu);

	if (dnn) {
		dnn_scale(dnn, 0.5);
		dnn_fuse(dnn, 100000);
		dnn_plan_tensors(dnn, NULL, 0);
		dnn_free(dnn_repeated(dnn, 2.5));
		dnn_free(dnn);
	}
	free(error);
}

static void use_networks(void)
{
	char *error = NULL;
	struct dnn_list list;

	use_network("vgg16", "v100"); /* which are perhaps not there */
	if (dnn_list_load(&list, &error)) {
		for (size_t i = 0; i < list.count && i < 4; i++)
			use_network(list.profiles[i].model, list.profiles[i].gpu);
		dnn_list_release(&list);
	}
	free(error);
}

static void find_files(const char *folder)
{
	char *scenario = xasprintf("%s/x.json", folder);
	static const char *const names[] = { "a", "cdf/a", "", "/dev/null" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *error = NULL;

		free(data_file_find(DATA_ANY, names[i], scenario, &error));
		free(error);
	}
	free(scenario);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *folder = files_write(data, size);

	setenv("INASIM_TRACES", folder, 1);
	files_each(read_all);
	use_networks();
	find_files(folder);
	return 0;
}
