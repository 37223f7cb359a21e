#include "workload/dnn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <criterion/criterion.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

static void setup(void)
{
	setenv("INASIM_TRACES", INASIM_SOURCE_DIR "/traces", 1);
}

TestSuite(dnn, .init = setup);

static struct dnn *load(const char *name, const char *gpu)
{
	char *error = NULL;
	bool of_gpu;
	struct dnn *dnn = dnn_load(name, gpu, &error, &of_gpu);

	cr_assert_not_null(dnn, "%s", error);
	return dnn;
}

/* Sums over the layers equal the totals, whatever was done to the layers. */
static void expect_sums(const struct dnn *dnn, sim_time compute)
{
	bytes gradient = 0;
	sim_time forward = 0, backward = 0;

	for (size_t i = 0; i < dnn->layer_count; i++) {
		gradient += dnn->layers[i].gradient;
		forward += dnn->layers[i].forward;
		backward += dnn->layers[i].backward;
		cr_expect_gt(dnn->layers[i].gradient, 0);
		cr_expect_eq(dnn->layers[i].gradient % 4, 0);
	}
	cr_expect_eq(gradient, dnn->gradient_total, "%s", dnn->name);
	cr_expect_eq(forward + backward, dnn->compute_total, "%s", dnn->name);
	cr_expect_eq(forward, dnn->compute_total / 3, "%s", dnn->name);
	cr_expect_eq(dnn->compute_total, compute, "%s", dnn->name);
}

/* Published parameter counts times 4, published or derived times, and batches. */
static const struct {
	const char *model, *gpu;
	bytes gradient;
	sim_time compute;
	int64_t batch;
} known[] = {
	{ "vgg16", "p100", 553430176, 415600 * PS_PER_US, 64 },
	{ "vgg16", "a100", 553430176, 127000 * PS_PER_US, 64 },
	{ "resnet50", "p100", 102228128, 292200 * PS_PER_US, 64 },
	{ "resnet152", "v100", 4 * 60192808, 383200 * PS_PER_US, 64 },
	{ "alexnet", "p100", 4 * 61100840, 171400 * PS_PER_US, 512 },
	{ "inceptionv3", "p100", 4 * 23834568, 450700 * PS_PER_US, 64 },
	{ "googlenet", "a100", 4 * 6999577, 25200 * PS_PER_US, 64 },
	{ "bert", "v100", UINT64_C(4) * 336226108, 640000 * PS_PER_US, 32 },
	{ "gpt2", "a100", UINT64_C(4) * 124439808, 250000 * PS_PER_US, 12 },
	{ "deeplight", "p100", UINT64_C(4) * 607911930, 94900 * PS_PER_US, 8192 },
};

static const struct dnn_profile *profile_of(const struct dnn_list *list, const char *model,
					    const char *gpu)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->profiles[i].model, model) && !strcmp(list->profiles[i].gpu, gpu))
			return &list->profiles[i];
	return NULL;
}

Test(dnn, published_sizes_and_times)
{
	struct dnn_list list;
	char *error = NULL;

	cr_assert(dnn_list_load(&list, &error));
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct dnn *dnn = load(known[i].model, known[i].gpu);
		const struct dnn_profile *profile = profile_of(&list, known[i].model, known[i].gpu);

		cr_expect_str_eq(dnn->name, known[i].model);
		cr_expect_eq(dnn->gradient_total, known[i].gradient, "%s", dnn->name);
		cr_expect_eq(profile->batch, known[i].batch, "%s", dnn->name);
		cr_expect(*profile->quality);
		expect_sums(dnn, known[i].compute);
		dnn_free(dnn);
	}
	dnn_list_release(&list);
}

/* Every profile of the list loads, and its time is split without a remainder. */
Test(dnn, all_profiles)
{
	struct dnn_list list;
	char *error = NULL;

	cr_assert(dnn_list_load(&list, &error), "%s", error);
	cr_assert_geq(list.count, 40);
	for (size_t i = 0; i < list.count; i++) {
		struct dnn *dnn = load(list.profiles[i].model, list.profiles[i].gpu);

		expect_sums(dnn, list.profiles[i].compute);
		dnn_free(dnn);
	}
	dnn_list_release(&list);
}

/* VGG16 by hand: 16 layers; conv1_1 has 86,704,128 of 15,470,264,320 macs, so
 * that share of a third of 415.6 ms (rounded down), and twice it backward. */
Test(dnn, time_follows_the_work)
{
	struct dnn *dnn = load("vgg16", "p100");
	const uint64_t total = UINT64_C(15470264320), third = 415600 * PS_PER_US / 3;
	const struct dnn_layer *first = &dnn->layers[0];

	cr_assert_eq(dnn->layer_count, 16);
	cr_expect_str_eq(first->name, "conv1_1");
	cr_expect_eq(first->gradient, 4 * 1792);
	cr_expect_eq(first->forward, (uint64_t)((unsigned __int128)third * 86704128 / total));
	cr_expect_leq(first->backward - 2 * first->forward, 2);
	cr_expect_eq(dnn->layers[13].gradient, 4 * UINT64_C(102764544), "fc6");
	dnn_free(dnn);
}

/* --- small models of our own --- */

static char base[] = INASIM_WORK_DIR "/inasim-dnn-XXXXXX";

static void write_file(const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/models/%s", base, name);
	file = fopen(path, "w");
	cr_assert_not_null(file);
	fputs(text, file);
	fclose(file);
}

static const char profiles[] = "model,layers,gpu,batch,compute_ms,quality,source\n"
			       "toy,toy,p100,8,0.000000009,estimate,\"by hand, for tests\"\n"
			       "lost,nowhere,p100,8,1,estimate,x\n";

static void own_setup(void)
{
	char path[128];

	cr_assert_not_null(mkdtemp(base));
	setenv("INASIM_TRACES", base, 1);
	snprintf(path, sizeof(path), "%s/models", base);
	cr_assert_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/models/layers", base);
	cr_assert_eq(mkdir(path, 0700), 0);
	write_file("profiles.csv", profiles);
}

static void own_teardown(void)
{
	static const char *const names[] = { "models/profiles.csv", "models/layers/toy.csv",
					     "models/layers/odd.csv", "models/layers", "models" };
	char path[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", base, names[i]);
		remove(path);
	}
	rmdir(base);
}

TestSuite(dnn_own, .init = own_setup, .fini = own_teardown);

static void write_layers(const char *name, const char *rows)
{
	char text[1024];

	snprintf(text, sizeof(text), "index,layer,kind,params,macs,tensors\n%s", rows);
	write_file(name, text);
}

/* Rows without parameters give their time to the layer before them, the first rows to the layer
 * after them. A layer without macs has no time. 9 ps over 3 units: 3 forward, 6 backward. */
Test(dnn_own, rows_without_parameters)
{
	struct dnn *dnn;

	write_layers("layers/toy.csv", "0,in,x,0,1,0\n1,a,x,5,0,1\n2,b,x,7,0,1\n"
				       "3,c,x,2,1,1\n4,att,x,0,1,0\n");
	dnn = load("toy", "p100");
	cr_assert_eq(dnn->layer_count, 3);
	cr_expect_eq(dnn->layers[0].forward, 1);
	cr_expect_eq(dnn->layers[0].backward, 2);
	cr_expect_eq(dnn->layers[1].forward + dnn->layers[1].backward, 0);
	cr_expect_eq(dnn->layers[2].forward, 2);
	cr_expect_eq(dnn->layers[2].backward, 4);
	cr_expect_str_eq(dnn->layers[2].name, "c");
	expect_sums(dnn, 9);
	dnn_free(dnn);
}

Test(dnn_own, files_that_are_not_right)
{
	static const char *const rows[] = { "", "0,a,x,0,5,0\n", "0,a,x,5,0,1\n", "0,a,x,-5,0,1\n",
					    "0,a,x,4294967296,1,1\n" };
	char *error = NULL;
	bool of_gpu;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		write_layers("layers/toy.csv", rows[i]);
		cr_expect_null(dnn_load("toy", "p100", &error, &of_gpu), "case %zu", i);
		cr_expect_not_null(strstr(error, "layers/toy.csv:"), "%s", error);
		free(error);
	}
	write_file("layers/toy.csv", "layer,params,macs,all_to_all\na,5,1,4294967295\n");
	write_file("profiles.csv", "model,layers,gpu,batch,compute_ms,quality,source\n"
				   "toy,toy,p100,1073741825,1,estimate,x\n");
	cr_expect_null(dnn_load("toy", "p100", &error, &of_gpu));
	cr_expect_not_null(strstr(error, "toy.csv:2: column all_to_all"), "%s", error);
	free(error);
	write_file("profiles.csv", profiles);
	cr_expect_null(dnn_load("lost", "p100", &error, &of_gpu));
	cr_expect_not_null(strstr(error, "nowhere.csv: No such file"), "%s", error);
	free(error);
	write_file("profiles.csv",
		   "model,layers,gpu,batch,compute_ms,quality,source\na,a,b,0,1,c,d\n");
	cr_expect_null(dnn_load("toy", "p100", &error, &of_gpu));
	cr_expect_not_null(strstr(error, "profiles.csv:2: column batch"), "%s", error);
	free(error);
}

/* --- names --- */

static void expect_message(const char *name, const char *gpu, const char *want)
{
	char *error = NULL;
	bool of_gpu;

	cr_assert_null(dnn_load(name, gpu, &error, &of_gpu));
	cr_expect_not_null(strstr(error, want), "%s", error);
	cr_expect_eq(of_gpu, strstr(error, "no computing time of") != NULL, "%s", error);
	free(error);
}

Test(dnn, wrong_names_are_told_what_exists)
{
	expect_message("vgg15", "p100",
		       "no model \"vgg15\"; did you mean \"vgg16\"? There are: alexnet, vgg16");
	expect_message("xyzzy", "p100", "no model \"xyzzy\"; there are: alexnet");
	expect_message(
		"vgg16", "p10",
		"of vgg16 on GPU \"p10\"; did you mean \"p100\"? There are: p100, v100, a100");
	expect_message("deeplight", "a100", "did you mean \"p100\"? There are: p100");
	expect_message("deeplight", "xyzzy", "GPU \"xyzzy\"; there are: p100");
	expect_message("resnet101", "p100", "its layers are known");
	expect_message("", "p100", "no model \"\"");
}

/* --- fusion and scaling --- */

/* Against a naive greedy pass over the unfused layers, for many thresholds: the
 * same tensors, all but the first at least as large as asked, no byte lost. */
Test(dnn, fusion)
{
	static const bytes min[] = { 0, 1, 4, 100000, 1 << 20, 25 << 20, UINT64_MAX };

	for (size_t i = 0; i < sizeof(min) / sizeof(min[0]); i++) {
		struct dnn *whole = load("resnet50", "p100"), *fused = load("resnet50", "p100");
		size_t at;
		bytes sum = 0;

		dnn_fuse(fused, min[i]);
		expect_sums(fused, whole->compute_total);
		at = fused->layer_count;
		for (size_t j = whole->layer_count; j-- > 0;) {
			sum += whole->layers[j].gradient;
			if (sum < min[i] && j > 0)
				continue;
			cr_assert_gt(at, 0);
			cr_expect_eq(fused->layers[--at].gradient, sum, "least %zu layer %zu", i,
				     j);
			sum = 0;
		}
		cr_expect_eq(at, 0);
		dnn_free(whole);
		dnn_free(fused);
	}
}

/* The name of a fused layer says which layers are inside. */
Test(dnn, fusion_names)
{
	struct dnn *dnn = load("vgg16", "p100");

	dnn_fuse(dnn, 60 << 20);
	/* fc8 16.4 MB + fc7 67.1 MB; fc6 411 MB; the convolutions, 58.9 MB */
	cr_assert_eq(dnn->layer_count, 3);
	cr_expect_str_eq(dnn->layers[2].name, "fc7 to fc8");
	cr_expect_str_eq(dnn->layers[1].name, "fc6");
	cr_expect_str_eq(dnn->layers[0].name, "conv1_1 to conv5_3");
	cr_expect_eq(dnn->layers[0].gradient, 4 * UINT64_C(14714688));
	dnn_free(dnn);
}

Test(dnn, scaling)
{
	struct dnn *dnn = load("vgg16", "p100");

	dnn_scale(dnn, 0.5);
	cr_expect_eq(dnn->layers[0].gradient, 4 * 896);
	cr_expect_eq(dnn->gradient_total, 553430176 / 2);
	expect_sums(dnn, 415600 * PS_PER_US);
	dnn_scale(dnn, 1e-12);
	cr_expect_eq(dnn->gradient_total, 4 * 16, "at least one value a layer");
	dnn_free(dnn);
}

/* One iteration that stands for 2.5: times are 3 x 2.5 = 7.5 ps, tensors 10 values x 2.5 = 25. A
 * layer sent in two parts keeps two. The sums are those of the parts. */
Test(dnn, repeated)
{
	static const int64_t order[] = { 1, 0, 0 };
	struct dnn *dnn = dnn_new("two"), *more;

	dnn_add_layer(dnn, "front", 40, 3, 1000);
	dnn_add_layer(dnn, "back", 4, 20, 0);
	dnn_plan_tensors(dnn, order, 3);
	more = dnn_repeated(dnn, 2.5);
	cr_expect_str_eq(more->name, "two");
	cr_assert_eq(more->layer_count, 2);
	cr_expect_eq(more->layers[0].forward, 8);
	cr_expect_eq(more->layers[0].backward, 2500);
	cr_expect_eq(more->layers[1].forward, 50);
	cr_expect_eq(more->compute_total, 8 + 2500 + 50);
	cr_assert_eq(more->tensor_count, 3);
	cr_expect_eq(more->tensors[0].size, 12); /* 1 value x 2.5, rounded up */
	cr_expect_eq(more->tensors[1].size, 52); /* 5 values x 2.5 */
	cr_expect_eq(more->tensors[2].size, 52);
	cr_expect_eq(more->tensors[2].layer, 0);
	cr_expect_eq(more->layers[0].gradient, 104);
	cr_expect_eq(more->layers[0].tensors, 2);
	cr_expect_eq(more->gradient_total, 116);
	dnn_free(more);
	dnn_free(dnn);
}

/* A tensor smaller than one 4-byte value becomes one value. */
Test(dnn, repeated_keeps_a_value)
{
	struct dnn *dnn = dnn_new("tiny"), *less;

	dnn_add_layer(dnn, "only", 1, 0, 0);
	dnn_plan_tensors(dnn, NULL, 0);
	less = dnn_repeated(dnn, 1.5);
	cr_expect_eq(less->tensors[0].size, 4);
	cr_expect_eq(less->gradient_total, 4);
	dnn_free(less);
	dnn_free(dnn);
}
