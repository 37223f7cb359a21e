/* A table with every type of row, for the test and the fuzzer of conf/. */
#ifndef INASIM_TESTS_CONF_SAMPLE_H
#define INASIM_TESTS_CONF_SAMPLE_H

#include "conf/conf.h"

#include <stddef.h>

enum sample_kind { KIND_STAR, KIND_LEAF_SPINE, KIND_FAT_TREE };
static const char *const sample_kinds[] = { "star", "leaf-spine", "fat-tree", NULL };

struct sample_link {
	bps rate;
	sim_time delay;
};
static const struct conf_row link_rows[] = {
	{ .name = "rate",
	  .type = CONF_RATE,
	  .offset = offsetof(struct sample_link, rate),
	  .min = 1000000,
	  .max = 1000000000000,
	  .def = "\"10Gbps\"",
	  .help = "Rate of a link.",
	  .source = "our choice" },
	{ .name = "delay",
	  .type = CONF_TIME,
	  .offset = offsetof(struct sample_link, delay),
	  .max = PS_PER_S,
	  .def = "\"1us\"",
	  .help = "Propagation delay.",
	  .source = "DCTCP, section 4" },
	{ 0 },
};
static const struct conf_table link_table = { "link", link_rows, sizeof(struct sample_link),
					      "A link." };

struct sample_range {
	int64_t min, max;
};
static const struct conf_row range_rows[] = {
	{ .name = "min",
	  .type = CONF_INT,
	  .offset = offsetof(struct sample_range, min),
	  .imin = 1,
	  .imax = 1000 },
	{ .name = "max",
	  .type = CONF_INT,
	  .offset = offsetof(struct sample_range, max),
	  .imin = 1,
	  .imax = 1000 },
	{ 0 },
};
static const struct conf_table range_table = { "range", range_rows, sizeof(struct sample_range),
					       "A range." };

struct sample_cdf {
	const char *file;
	double scale;
};
static const struct conf_row cdf_rows[] = {
	{ .name = "cdf", .type = CONF_STRING, .offset = offsetof(struct sample_cdf, file) },
	{ .name = "scale",
	  .type = CONF_REAL,
	  .offset = offsetof(struct sample_cdf, scale),
	  .rmin = 0.001,
	  .rmax = 1000,
	  .def = "1" },
	{ 0 },
};
static const struct conf_table cdf_table = { "cdf", cdf_rows, sizeof(struct sample_cdf), NULL };

enum { WORKERS_FIXED, WORKERS_RANGE, WORKERS_HOSTS };
enum { MODEL_KNOWN, MODEL_FILE };
enum { SIZE_FIXED, SIZE_CDF, SIZE_RANGE };

struct sample_job {
	const char *name;
	int workers_kind;
	union {
		int64_t fixed;
		struct sample_range range;
		struct conf_list hosts; /* int64_t */
	} workers;
	int model_kind;
	int model; /* index in known_models */
	const char *model_file;
	int size_kind;
	bytes size;
	struct sample_cdf cdf;
	struct sample_range range;
};
static const struct conf_row host_item = { .type = CONF_INT, .imin = 0, .imax = 100000 };
static const struct conf_row workers_rows[] = {
	{ .name = "fixed",
	  .type = CONF_INT,
	  .offset = offsetof(struct sample_job, workers.fixed),
	  .imin = 1,
	  .imax = 1000 },
	{ .name = "range",
	  .type = CONF_OBJECT,
	  .offset = offsetof(struct sample_job, workers.range),
	  .table = &range_table },
	{ .name = "hosts",
	  .type = CONF_LIST,
	  .offset = offsetof(struct sample_job, workers.hosts),
	  .min = 1,
	  .item = &host_item },
	{ 0 },
};
static const struct conf_table workers_table = { "workers", workers_rows, 0, NULL };

static const char *const known_models[] = { "vgg16", "resnet50", NULL };
static const struct conf_row model_rows[] = {
	{ .name = "known",
	  .type = CONF_ENUM,
	  .offset = offsetof(struct sample_job, model),
	  .choices = known_models },
	{ .name = "file", .type = CONF_STRING, .offset = offsetof(struct sample_job, model_file) },
	{ 0 },
};
static const struct conf_table model_table = { "model", model_rows, 0, NULL };

static const struct conf_row size_rows[] = {
	{ .name = "fixed",
	  .type = CONF_BYTES,
	  .offset = offsetof(struct sample_job, size),
	  .min = 1 },
	{ .name = "cdf",
	  .type = CONF_OBJECT,
	  .offset = offsetof(struct sample_job, cdf),
	  .table = &cdf_table },
	{ .name = "range",
	  .type = CONF_OBJECT,
	  .offset = offsetof(struct sample_job, range),
	  .table = &range_table },
	{ 0 },
};
static const struct conf_table size_table = { "size", size_rows, 0, NULL };

static const struct conf_row job_rows[] = {
	{ .name = "name", .type = CONF_STRING, .offset = offsetof(struct sample_job, name) },
	{ .name = "workers",
	  .type = CONF_ONEOF,
	  .table = &workers_table,
	  .tag = offsetof(struct sample_job, workers_kind),
	  .def = "4",
	  .source = "our choice" },
	{ .name = "model",
	  .type = CONF_ONEOF,
	  .table = &model_table,
	  .tag = offsetof(struct sample_job, model_kind),
	  .def = "\"vgg16\"" },
	{ .name = "size",
	  .type = CONF_ONEOF,
	  .table = &size_table,
	  .tag = offsetof(struct sample_job, size_kind),
	  .def = "\"2MB\"" },
	{ 0 },
};
static const struct conf_table job_table = { "job", job_rows, sizeof(struct sample_job), "A job." };
static const struct conf_row job_item = { .type = CONF_OBJECT, .table = &job_table };

struct sample_panama {
	int64_t trees;
	bytes memory;
};
static const struct conf_row panama_rows[] = {
	{ .name = "trees",
	  .type = CONF_INT,
	  .offset = offsetof(struct sample_panama, trees),
	  .imin = 1,
	  .imax = 64,
	  .def = "4",
	  .source = "PANAMA, section 5" },
	{ .name = "memory",
	  .type = CONF_BYTES,
	  .offset = offsetof(struct sample_panama, memory),
	  .def = "\"64MiB\"" },
	{ 0 },
};
static const struct conf_table panama_table = { "panama", panama_rows, sizeof(struct sample_panama),
						NULL };
struct sample_atp {
	struct sample_link up, down;
};
static const struct conf_row atp_rows[] = {
	{ .name = "up",
	  .type = CONF_OBJECT,
	  .offset = offsetof(struct sample_atp, up),
	  .table = &link_table,
	  .def = "{\"rate\": \"1Gbps\"}",
	  .source = "ATP, table 1" },
	{ .name = "down",
	  .type = CONF_OBJECT,
	  .offset = offsetof(struct sample_atp, down),
	  .table = &link_table,
	  .def = "{}" },
	{ 0 },
};
static const struct conf_table atp_table = { "atp", atp_rows, sizeof(struct sample_atp), NULL };
static const struct conf_row scheme_rows[] = { CONF_APART("panama", 0, &panama_table),
					       CONF_APART("atp", 1, &atp_table),
					       { 0 } };
static const struct conf_table schemes_table = { "schemes", scheme_rows, 2 * sizeof(void *), NULL };

/* A value that is either a word, "none" or "auto", or a size, such as "5MB". */
enum { LIMIT_WORD, LIMIT_SIZE };
static const char *const limit_words[] = { "none", "auto", NULL };
struct sample_limit {
	int kind;
	int word;
	bytes size;
};
static const struct conf_row limit_rows[] = {
	{ .name = "word",
	  .type = CONF_ENUM,
	  .offset = offsetof(struct sample_limit, word),
	  .choices = limit_words },
	{ .name = "size",
	  .type = CONF_BYTES,
	  .offset = offsetof(struct sample_limit, size),
	  .max = 1000000 },
	{ 0 },
};
static const struct conf_table limit_table = { "limit", limit_rows, sizeof(struct sample_limit),
					       NULL };
static const struct conf_row limit_item = { .type = CONF_ONEOF,
					    .table = &limit_table,
					    .tag = offsetof(struct sample_limit, kind) };

struct sample {
	const char *name;
	bool pause;
	int64_t seed;
	double loss;
	int kind;
	sim_time after;
	bool after_given;
	bytes buffer;
	struct queue_size threshold;
	struct sample_link link;
	struct conf_list jobs;    /* struct sample_job */
	struct conf_list pairs;   /* struct conf_list of int64_t */
	struct conf_list tags;    /* const char * */
	struct conf_list limits;  /* struct sample_limit */
	struct conf_map settings; /* const char *, JSON */
	const char *any;          /* JSON */
	void *schemes[2];
};
static const struct conf_row any_item = { .type = CONF_JSON };
static const struct conf_row pair_item = {
	.type = CONF_LIST, .min = 2, .max = 2, .item = &host_item
};
static const struct conf_row tag_item = { .type = CONF_STRING };
static const struct conf_row sample_rows[] = {
	{ .name = "name",
	  .type = CONF_STRING,
	  .offset = offsetof(struct sample, name),
	  .help = "Name of the scenario." },
	{ .name = "pause",
	  .type = CONF_BOOL,
	  .offset = offsetof(struct sample, pause),
	  .def = "true" },
	{ .name = "seed",
	  .type = CONF_INT,
	  .offset = offsetof(struct sample, seed),
	  .imin = INT64_MIN,
	  .imax = INT64_MAX,
	  .def = "1" },
	{ .name = "loss",
	  .type = CONF_REAL,
	  .offset = offsetof(struct sample, loss),
	  .rmax = 1,
	  .def = "0.1" },
	{ .name = "kind",
	  .type = CONF_ENUM,
	  .offset = offsetof(struct sample, kind),
	  .choices = sample_kinds,
	  .def = "\"fat-tree\"" },
	{ .name = "after",
	  .type = CONF_TIME,
	  .offset = offsetof(struct sample, after),
	  .present = 1 + offsetof(struct sample, after_given),
	  .def = CONF_OPTIONAL },
	{ .name = "buffer",
	  .type = CONF_BYTES,
	  .offset = offsetof(struct sample, buffer),
	  .min = 1500,
	  .max = 64000000,
	  .def = "\"1MB\"",
	  .source = "RFC 3439" },
	{ .name = "threshold",
	  .type = CONF_QUEUE,
	  .offset = offsetof(struct sample, threshold),
	  .max = 1000000,
	  .def = "\"85pkt\"" },
	{ .name = "link",
	  .type = CONF_OBJECT,
	  .offset = offsetof(struct sample, link),
	  .table = &link_table,
	  .def = "{}",
	  .help = "All links." },
	{ .name = "jobs",
	  .type = CONF_LIST,
	  .offset = offsetof(struct sample, jobs),
	  .max = 1000,
	  .item = &job_item,
	  .def = "[]" },
	{ .name = "pairs",
	  .type = CONF_LIST,
	  .offset = offsetof(struct sample, pairs),
	  .item = &pair_item,
	  .def = "[[4, 0], [5, 1]]" },
	{ .name = "tags",
	  .type = CONF_LIST,
	  .offset = offsetof(struct sample, tags),
	  .item = &tag_item,
	  .def = CONF_OPTIONAL },
	{ .name = "limits",
	  .type = CONF_LIST,
	  .offset = offsetof(struct sample, limits),
	  .item = &limit_item,
	  .def = "[\"auto\"]" },
	{ .name = "settings",
	  .type = CONF_MAP,
	  .offset = offsetof(struct sample, settings),
	  .item = &any_item,
	  .max = 3,
	  .def = CONF_OPTIONAL },
	{ .name = "any",
	  .type = CONF_JSON,
	  .offset = offsetof(struct sample, any),
	  .def = CONF_OPTIONAL },
	{ .name = "schemes",
	  .type = CONF_OBJECT,
	  .offset = offsetof(struct sample, schemes),
	  .table = &schemes_table,
	  .def = "{}" },
	{ 0 },
};
static const struct conf_table sample_table = { "scenario", sample_rows, sizeof(struct sample),
						"A scenario." };

#endif
