/* Text workloads of ASTRA-sim 1 and of SimAI, which writes more into the first line:
 *
 *   POLICY [ARGUMENTS]
 *   NUMBER OF LAYERS
 *   NAME -1 TIME COMM BYTES TIME COMM BYTES TIME COMM BYTES UPDATE [POLICY]     a layer a line
 *
 * Three times: forward, input gradient, weight gradient; ns, each with what is exchanged behind it.
 * UPDATE passes behind each exchange. All ranks do the same: a program of one role, whose iteration
 * is a pass. In which order, and what waits for what, is that of the loops of Workload.cc
 * (astra-sim @ 9d8bad5; aliyun/SimAI @ cef83f9):
 *
 *   policy           groups of forward and input gradient; of weight gradient      what waits
 *   DATA             none; all                    weight gradient first, its exchange for nobody
 *   MODEL            all; none                    forward waits; input gradient behind the next
 * time HYBRID_DATA_MODEL    the first dimension; the others                            as MODEL
 *   HYBRID_MODEL_DATA    all but the first dimension; the first                     as MODEL
 *   HYBRID_CUSTOMIZED    each layer's policy says its groups                        as MODEL
 *   HYBRID_TRANSFORMER, ..._FWD_IN_BCKWD   model_parallel_NPU_group neighbours; across them
 *                                                 forward and input gradient wait
 *   HYBRID_DLRM      layer 0: all; others: all    layer 0's all-to-all waits at the last bottom
 * layer HYBRID_DLRM_ENHANCED                          the same, but its gradients' for nobody MICRO
 * weight gradients' exchanges only; DISTRIBUTED_INFERENCE: forward only
 *
 * An exchange of weight gradients is done before its layer's next forward pass. A group does one
 * exchange after the other, in the order in which they were issued: the simulators' LIFO order and
 * chunks are not modelled, nor is the cycle between two steps.
 *
 * What the simulators do differently: bytes of ALLGATHER are what each rank has in ASTRA-sim
 * (Ring.cc), what all have in the end in SimAI (Layer.cc, compute_time); so they are read in files
 * of each. SimAI raises forward exchanges below 4096 bytes to these, and its ns-3 front end has
 * no pipelines; both are left out here: the ranks are those of one stage. Chakra's converter reads
 * the same times as us. */
#include "workload/program/program_files.h"

#include "base/input.h"
#include "base/mem.h"
#include "base/mistake.h"
#include "base/units.h"
#include "workload/program/program_graph.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX   (UINT64_C(1) << 30)
#define LAYERS_MAX UINT64_C(1000000)
#define NONE       UINT32_MAX

enum { COMPUTES, UPDATES, EXCHANGES /* of the first group; each other has one more */ };
enum phase { FORWARD, INPUT, WEIGHT, PHASES };
enum kind { MODEL, DATA, EXPERT, DATA_EXPERT, ALL, KINDS };
static const char *const kind_names[KINDS] = {
	[MODEL] = "tensor", [DATA] = "data", [EXPERT] = "expert", [DATA_EXPERT] = "data_expert",
	[ALL] = "all",
};

enum flow { BY_DATA, BY_MODEL, BY_TRANSFORMER, BY_DLRM, BY_MICRO, BY_INFERENCE };

/* Which ranks a layer's groups have: neighbours, or those a stride apart. */
enum division { WHOLE_DATA, WHOLE_MODEL, MODEL_FIRST, DATA_FIRST, BY_HEAD };

static const struct policy {
	const char *name;
	uint8_t flow, division;
	bool customized, enhanced;
} policies[] = {
	{ "DATA", BY_DATA, WHOLE_DATA },
	{ "MODEL", BY_MODEL, WHOLE_MODEL },
	{ "HYBRID_DATA_MODEL", BY_MODEL, MODEL_FIRST },
	{ "HYBRID_MODEL_DATA", BY_MODEL, DATA_FIRST },
	{ "HYBRID_CUSTOMIZED", BY_MODEL, WHOLE_DATA, .customized = true },
	{ "HYBRID_TRANSFORMER", BY_TRANSFORMER, BY_HEAD },
	{ "HYBRID_TRANSFORMER_FWD_IN_BCKWD", BY_TRANSFORMER, BY_HEAD },
	{ "HYBRID_DLRM", BY_DLRM, WHOLE_DATA },
	{ "HYBRID_DLRM_ENHANCED", BY_DLRM, WHOLE_DATA, .enhanced = true },
	{ "MICRO", BY_MICRO, WHOLE_DATA },
	{ "DISTRIBUTED_INFERENCE", BY_INFERENCE, WHOLE_MODEL },
};
#define POLICIES (sizeof(policies) / sizeof(*policies))

struct exchange {
	uint64_t bytes; /* 0 = none */
	uint8_t op, kind;
};

struct layer {
	uint32_t line;
	uint8_t policy; /* index in `policies` */
	bool checkpoint, initiates;
	sim_time time[PHASES], update;
	struct exchange exchange[PHASES];
	uint32_t weights; /* number of the node that ends its weights' exchange; NONE = none */
};

/* Groups of equal ranks for an operation: a seat. */
struct seat {
	uint64_t size, stride;
	uint8_t op, kind;
};

struct reader {
	const struct program_file_conf *conf;
	const char *path;
	char *at; /* what is not read yet */
	uint32_t line;
	char *word; /* the last */
	const struct policy *policy;
	uint32_t ranks, model, expert, stages, last_bottom;
	bool simai;
	struct layer *layers;
	uint32_t count;
	struct program *program;
	struct seat seats[KINDS * PROGRAM_OPS];
	uint32_t seat_count;
	uint32_t tokens; /* HYBRID_DLRM: ends the exchange of layer 0's gradients; NONE = none */
	uint32_t waits[8], wait_count; /* what the next node that computes needs */
	char *mistake;                 /* the first; owned */
};

static void complain(struct reader *reader, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void complain(struct reader *reader, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	mistake_keep(&reader->mistake, reader->path, reader->line, fmt, args);
	va_end(args);
}

/* --- words and numbers --- */

/* Goes to the next line that has something; false at the end. */
static bool next_line(struct reader *reader, char **line)
{
	while (*reader->at) {
		char *end = reader->at + strcspn(reader->at, "\n");

		*line = reader->at;
		reader->at = *end ? end + 1 : end;
		*end = '\0';
		reader->line++;
		if ((*line)[strspn(*line, " \t\r")])
			return true;
	}
	return false;
}

/* The next word of a line; "" at its end. */
static const char *next_word(struct reader *reader, char **line)
{
	char *word = *line + strspn(*line, " \t\r");

	*line = word + strcspn(word, " \t\r");
	if (**line)
		*(*line)++ = '\0';
	reader->word = word;
	return word;
}

static uint64_t number(struct reader *reader, const char *what, uint64_t max)
{
	const char *c = reader->word;
	uint64_t value = 0;
	bool good = *c;

	for (; good && *c; c++)
		good = *c >= '0' && *c <= '9' && !__builtin_mul_overflow(value, 10, &value) &&
		       !__builtin_add_overflow(value, (uint64_t)(*c - '0'), &value);
	if (good && value <= max)
		return value;
	complain(reader, "%s is \"%.64s\"; allowed: 0 to %" PRIu64, what, reader->word, max);
	return 0;
}

static uint64_t next_number(struct reader *reader, char **line, const char *what, uint64_t max)
{
	next_word(reader, line);
	return number(reader, what, max);
}

/* --- the first line --- */

static uint8_t find_policy(struct reader *reader)
{
	for (uint8_t i = 0; i < POLICIES; i++)
		if (!strcmp(policies[i].name, reader->word))
			return i;
	complain(reader, "there is no policy \"%.64s\"", reader->word);
	return 0;
}

/* Lists of layers: "checkpoints: COUNT LAYER ...". Marks them when layers are there. */
struct marks {
	uint32_t *layers, count;
};

static void read_marks(struct reader *reader, char **line, struct marks *marks)
{
	uint32_t count = (uint32_t)next_number(reader, line, "a number of layers", LAYERS_MAX);

	free(marks->layers);
	marks->layers = xcalloc((size_t)count + 1, sizeof(*marks->layers));
	for (marks->count = 0; marks->count < count && !reader->mistake; marks->count++)
		marks->layers[marks->count] =
			(uint32_t)next_number(reader, line, "a layer", LAYERS_MAX);
}

static void read_head(struct reader *reader, char *line, struct marks *checkpoints,
		      struct marks *initiates)
{
	const struct {
		const char *key;
		uint32_t *value;
	} keys[] = {
		{ "model_parallel_NPU_group:", &reader->model },
		{ "ep:", &reader->expert },
		{ "pp:", &reader->stages },
		{ "vpp:", NULL },
		{ "ga:", NULL },
		{ "pp_comm", NULL },
		{ "pp_comm:", NULL },
		{ "all_gpus:", &reader->ranks },
	};

	next_word(reader, &line);
	reader->policy = &policies[find_policy(reader)];
	while (!reader->mistake && *next_word(reader, &line)) {
		bool known = false;

		if (!strcmp(reader->word, "checkpoints:")) {
			read_marks(reader, &line, checkpoints);
			continue;
		}
		if (!strcmp(reader->word, "checkpoint_initiates:")) {
			read_marks(reader, &line, initiates);
			continue;
		}
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys) && !known; i++) {
			uint64_t value;

			known = !strcmp(reader->word, keys[i].key);
			if (!known)
				continue;
			value = next_number(reader, &line, keys[i].key,
					    keys[i].value ? GRAPH_RANKS_MAX : UINT64_MAX);
			reader->simai |= keys[i].value == &reader->ranks;
			if (keys[i].value)
				*keys[i].value = (uint32_t)value;
		}
		if (known || !strcmp(reader->word, "DLRM_LAST_BOTTOM_LAYER:"))
			continue;
		if (reader->policy->flow == BY_DLRM)
			reader->last_bottom =
				(uint32_t)number(reader, "the last bottom layer", LAYERS_MAX);
		else
			complain(reader, "\"%.64s\" is unknown here", reader->word);
	}
}

/* Ranks are those of one stage of a pipeline: stages do the same and exchange nothing here. */
static void settle_ranks(struct reader *reader)
{
	if (!reader->model)
		reader->model = 1;
	if (!reader->expert)
		reader->expert = 1;
	if (!reader->stages)
		reader->stages = 1;
	if (reader->ranks % reader->stages)
		complain(reader, "all_gpus %" PRIu32 " is no multiple of pp %" PRIu32,
			 reader->ranks, reader->stages);
	reader->ranks /= reader->stages;
	if (reader->conf->ranks)
		reader->ranks = (uint32_t)reader->conf->ranks;
	if (!reader->ranks)
		complain(reader,
			 "does not say of how many ranks; \"model\": { \"file\": { \"path\": "
			 "..., \"ranks\": N } } does");
	else if (reader->ranks > GRAPH_RANKS_MAX)
		complain(reader, "more than %" PRIu32 " ranks", GRAPH_RANKS_MAX);
}

/* --- layers --- */

static void read_exchange(struct reader *reader, char **line, enum phase phase,
			  struct exchange *exchange)
{
	static const struct {
		const char *name;
		enum program_op op;
	} ops[] = {
		{ "ALLREDUCE", OP_ALL_REDUCE },
		{ "ALLGATHER", OP_ALL_GATHER },
		{ "REDUCESCATTER", OP_REDUCE_SCATTER },
		{ "ALLTOALL", OP_ALL_TO_ALL },
		{ "NONE", PROGRAM_OPS },
	};
	const char *word = next_word(reader, line), *group = NULL;
	size_t i = 0, length = 0;

	for (; i < sizeof(ops) / sizeof(*ops); i++) {
		length = strlen(ops[i].name);
		group = word + length;
		if (!strncmp(word, ops[i].name, length) && (!*group || *group == '_'))
			break;
	}
	if (i == sizeof(ops) / sizeof(*ops) ||
	    (*group && strcmp(group, "_EP") && strcmp(group, "_DP_EP"))) {
		complain(reader,
			 "\"%.64s\"; allowed: NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL, "
			 "these also with _EP or _DP_EP",
			 word);
		return;
	}
	exchange->op = (uint8_t)ops[i].op;
	exchange->kind = *group            ? strcmp(group, "_EP") ? DATA_EXPERT : EXPERT
			 : phase == WEIGHT ? DATA
					   : MODEL;
	exchange->bytes = next_number(reader, line, "bytes", GRAPH_BYTES_MAX);
	if (ops[i].op == PROGRAM_OPS)
		exchange->bytes = 0;
}

static void read_layer(struct reader *reader, char *line, struct layer *layer)
{
	*layer = (struct layer){ .line = reader->line,
				 .policy = (uint8_t)(reader->policy - policies),
				 .weights = NONE };
	next_word(reader, &line); /* its name */
	next_word(reader, &line); /* reserved */
	for (unsigned phase = 0; phase < PHASES; phase++) {
		layer->time[phase] = PS_PER_NS * next_number(reader, &line, "a time",
							     GRAPH_TIME_MAX / PS_PER_NS);
		read_exchange(reader, &line, (enum phase)phase, &layer->exchange[phase]);
	}
	layer->update =
		PS_PER_NS * next_number(reader, &line, "a time", GRAPH_TIME_MAX / PS_PER_NS);
	if (*next_word(reader, &line))
		layer->policy = find_policy(reader);
	else if (reader->policy->customized)
		complain(reader, "a layer of HYBRID_CUSTOMIZED ends with its policy");
}

static void mark(struct reader *reader, const struct marks *marks, bool checkpoint)
{
	reader->line = 1;
	for (uint32_t i = 0; i < marks->count && !reader->mistake; i++)
		if (marks->layers[i] >= reader->count)
			complain(reader, "there is no layer %" PRIu32 " for a checkpoint",
				 marks->layers[i]);
		else if (checkpoint)
			reader->layers[marks->layers[i]].checkpoint = true;
		else
			reader->layers[marks->layers[i]].initiates = true;
}

static void read_layers(struct reader *reader)
{
	size_t capacity = 0;
	uint64_t count = 0;
	char *line = NULL;

	if (!next_line(reader, &line))
		complain(reader, "ends before the number of layers");
	else
		count = next_number(reader, &line, "the number of layers", LAYERS_MAX);
	while (!reader->mistake && next_line(reader, &line)) {
		reader->layers = array_reserve(reader->layers, reader->count, &capacity,
					       sizeof(*reader->layers));
		read_layer(reader, line, &reader->layers[reader->count++]);
	}
	if (!reader->mistake && (!count || reader->count != count))
		complain(reader, "has %" PRIu32 " layers, and says %" PRIu64, reader->count, count);
	if (reader->policy->flow == BY_DLRM && reader->last_bottom >= reader->count)
		complain(reader, "there is no last bottom layer %" PRIu32, reader->last_bottom);
}

/* --- groups --- */

/* Size and stride of the groups of a kind; size 1 if a policy has none. */
static struct seat group_of(const struct reader *reader, const struct layer *layer, unsigned kind)
{
	const struct policy *policy = &policies[layer->policy];
	uint64_t n = reader->ranks, model = reader->model, expert = reader->expert;
	uint64_t first = (uint64_t)reader->conf->dimension;

	if (policy->flow == BY_DLRM && layer == reader->layers)
		return (struct seat){ n, 1, .kind = ALL };
	if (policy->division == DATA_FIRST && kind == DATA)
		return (struct seat){ first, 1, .kind = DATA };
	if (policy->division == DATA_FIRST && kind == MODEL)
		return (struct seat){ first ? n / first : 0, first, .kind = MODEL };
	if (policy->division == WHOLE_DATA)
		model = 1;
	else if (policy->division == WHOLE_MODEL)
		model = n;
	else if (policy->division != BY_HEAD)
		model = first;
	if (kind == MODEL)
		return (struct seat){ model, 1, .kind = MODEL };
	if (kind == EXPERT)
		return (struct seat){ expert, model, .kind = EXPERT };
	if (kind == DATA)
		expert = 1;
	model *= expert;
	return (struct seat){ model ? n / model : 0, model, .kind = (uint8_t)kind };
}

static void add_groups(struct reader *reader, const struct seat *seat, uint32_t number)
{
	uint32_t size = (uint32_t)seat->size, stride = (uint32_t)seat->stride;

	for (uint32_t base = 0; base < reader->ranks; base += size * stride)
		for (uint32_t i = 0; i < stride; i++) {
			uint32_t group =
				program_add_strided(reader->program, (enum program_op)seat->op,
						    kind_names[seat->kind], size, base + i, stride);

			for (uint32_t m = 0; m < size; m++)
				program_sit(reader->program, group, m, number);
		}
}

/* The seat of an exchange; NONE if no two ranks take part. */
static uint32_t seat_of(struct reader *reader, const struct layer *layer,
			const struct exchange *exchange)
{
	struct seat seat = group_of(reader, layer, exchange->kind);
	uint64_t block = seat.size * seat.stride;

	seat.op = exchange->op;
	if (!block || reader->ranks % block) {
		reader->line = layer->line;
		complain(reader,
			 "groups \"%s\" of %" PRIu64 " ranks, %" PRIu64
			 " apart, do not divide %" PRIu32 " ranks%s",
			 kind_names[seat.kind], seat.size, seat.stride, reader->ranks,
			 block ? "" : "; \"dimension\" says how many the first dimension has");
		return NONE;
	}
	if (seat.size == 1)
		return NONE;
	for (uint32_t i = 0; i < reader->seat_count; i++)
		if (reader->seats[i].size == seat.size && reader->seats[i].stride == seat.stride &&
		    reader->seats[i].op == seat.op && reader->seats[i].kind == seat.kind)
			return i;
	reader->seats[reader->seat_count] = seat;
	add_groups(reader, &seat, reader->seat_count);
	return reader->seat_count++;
}

/* A group's exchanges have a stream, whatever they are. */
static uint16_t stream_of(const struct reader *reader, uint32_t number)
{
	const struct seat *seat = &reader->seats[number];
	uint32_t first = 0;

	while (reader->seats[first].size != seat->size ||
	       reader->seats[first].stride != seat->stride ||
	       reader->seats[first].kind != seat->kind)
		first++;
	return (uint16_t)(EXCHANGES + first);
}

/* --- the program --- */

static struct program_role *role_of(const struct reader *reader)
{
	return &reader->program->roles[0];
}

static void wait_for(struct reader *reader, uint32_t node)
{
	if (node != NONE)
		reader->waits[reader->wait_count++] = node;
}

/* Computes, behind all that it has to wait for. */
static uint32_t compute(struct reader *reader, const struct layer *layer, sim_time time)
{
	uint32_t node = role_add(role_of(reader), (struct program_node){ .act = ACT_COMPUTE,
									 .stream = COMPUTES,
									 .amount = time,
									 .place = layer->line });

	for (uint32_t i = 0; i < reader->wait_count; i++)
		role_need(role_of(reader), reader->waits[i], false);
	reader->wait_count = 0;
	return node;
}

/* Begins an exchange of a layer when node `behind` is done. Returns the node that ends it. */
static uint32_t exchange(struct reader *reader, const struct layer *layer, enum phase phase,
			 uint32_t behind)
{
	const struct exchange *exchange = &layer->exchange[phase];
	uint32_t seat = exchange->bytes ? seat_of(reader, layer, exchange) : NONE, node;
	uint64_t amount = exchange->bytes;

	if (seat == NONE)
		return NONE;
	if (exchange->op == OP_ALL_GATHER && !reader->simai)
		amount *= reader->seats[seat].size;
	if (amount > GRAPH_BYTES_MAX) {
		reader->line = layer->line;
		complain(reader, "an exchange has more than 2^44 bytes");
	}
	node = role_add(role_of(reader), (struct program_node){ .act = ACT_PART,
								.flags = NODE_GRADIENT | NODE_SUM,
								.stream = stream_of(reader, seat),
								.seat = seat,
								.amount = amount,
								.place = layer->line });
	if (behind != NONE)
		role_need(role_of(reader), behind, false);
	if (!layer->update)
		return node;
	role_add(role_of(reader), (struct program_node){ .act = ACT_COMPUTE,
							 .stream = UPDATES,
							 .amount = layer->update,
							 .place = layer->line });
	role_need(role_of(reader), node, false);
	return (uint32_t)role_of(reader)->count - 1;
}

/* A layer's forward pass, whose exchange the next one waits for. `behind`: it needs exchanges of
 * the iteration before. */
static void forward(struct reader *reader, const struct layer *layer, bool behind)
{
	unsigned flow = reader->policy->flow;
	uint32_t node = compute(reader, layer, layer->time[FORWARD]);

	if (behind && layer->weights != NONE)
		role_need(role_of(reader), layer->weights, true);
	if (behind && layer == reader->layers && reader->tokens != NONE)
		role_need(role_of(reader), reader->tokens, true);
	if (flow == BY_MODEL || flow == BY_TRANSFORMER || flow == BY_INFERENCE)
		wait_for(reader, exchange(reader, layer, FORWARD, node));
}

/* Only an all-to-all, beside the bottom layers: the last of them waits for layer 0's. */
static void forward_dlrm(struct reader *reader)
{
	uint32_t first = NONE;

	for (uint32_t i = 0; i < reader->count; i++) {
		struct layer *layer = &reader->layers[i];

		forward(reader, layer, true);
		if (layer->exchange[FORWARD].op == OP_ALL_TO_ALL) {
			uint32_t end = exchange(reader, layer, FORWARD,
						(uint32_t)role_of(reader)->count - 1);

			first = i ? first : end;
		} else if (i == reader->last_bottom) {
			wait_for(reader, first);
		}
	}
}

static void backward_data(struct reader *reader)
{
	for (uint32_t i = reader->count; i-- > 0;) {
		struct layer *layer = &reader->layers[i];
		uint32_t node = compute(reader, layer, layer->time[WEIGHT]);

		layer->weights = exchange(reader, layer, WEIGHT, node);
		if (!i)
			break;
		node = compute(reader, layer, layer->time[INPUT]);
		if (reader->policy->flow != BY_DLRM || i != reader->last_bottom + 1)
			continue;
		node = exchange(reader, &reader->layers[0], INPUT, node);
		reader->tokens = reader->policy->enhanced ? NONE : node;
	}
}

/* Recomputes what lies between the checkpoint before a layer and the layer. */
static void recompute(struct reader *reader, uint32_t i)
{
	uint32_t from = i;

	while (from && !reader->layers[from].checkpoint)
		from--;
	for (; from < i; from++)
		forward(reader, &reader->layers[from], false);
}

static void backward_model(struct reader *reader)
{
	bool transformer = reader->policy->flow == BY_TRANSFORMER;

	for (uint32_t i = reader->count; i-- > 0;) {
		struct layer *layer = &reader->layers[i];
		bool alone = policies[layer->policy].division == WHOLE_MODEL;
		uint32_t node, end;

		if (layer->initiates)
			recompute(reader, i);
		node = compute(reader, layer, layer->time[INPUT]);
		end = transformer || i ? exchange(reader, layer, INPUT, node) : NONE;
		if (transformer)
			wait_for(reader, end);
		node = compute(reader, layer, layer->time[WEIGHT]);
		layer->weights = alone ? NONE : exchange(reader, layer, WEIGHT, node);
		if (!transformer)
			wait_for(reader, end);
	}
}

static void pass(struct reader *reader)
{
	unsigned flow = reader->policy->flow;

	reader->wait_count = 0;
	for (uint32_t i = 0; flow == BY_MICRO && i < reader->count; i++)
		exchange(reader, &reader->layers[i], WEIGHT, NONE);
	if (flow == BY_MICRO)
		return;
	if (flow == BY_DLRM)
		forward_dlrm(reader);
	for (uint32_t i = 0; flow != BY_DLRM && i < reader->count; i++)
		forward(reader, &reader->layers[i], true);
	if (flow == BY_DATA || flow == BY_DLRM)
		backward_data(reader);
	else if (flow != BY_INFERENCE)
		backward_model(reader);
}

/* Twice: the second time it is known which nodes end exchanges of weights. */
static void make_program(struct reader *reader)
{
	reader->program = program_new(reader->ranks, 1);
	for (unsigned i = 0; i < 2 && !reader->mistake; i++) {
		role_clear(role_of(reader));
		pass(reader);
	}
	if (!reader->mistake && !role_of(reader)->count) /* of one rank, nothing is exchanged */
		compute(reader, reader->layers, 0);
}

struct program *program_of_text(const struct program_file_conf *conf, char **mistake)
{
	struct reader reader = { .conf = conf, .path = conf->path, .tokens = NONE };
	struct marks checkpoints = { 0 }, initiates = { 0 };
	char *text = input_read(conf->path, FILE_MAX, NULL), *line;

	if (!text) {
		*mistake = xasprintf("%s: %s", conf->path, input_why(errno));
		return NULL;
	}
	reader.at = text;
	if (next_line(&reader, &line))
		read_head(&reader, line, &checkpoints, &initiates);
	else
		complain(&reader, "is empty");
	if (!reader.mistake)
		settle_ranks(&reader);
	if (!reader.mistake)
		read_layers(&reader);
	mark(&reader, &checkpoints, true);
	mark(&reader, &initiates, false);
	if (!reader.mistake)
		make_program(&reader);
	if (!reader.mistake)
		reader.mistake = program_finish(reader.program);
	if (!reader.mistake && reader.stages > 1)
		reader.program->note =
			xasprintf("%s: one stage of %" PRIu32 "; what stages send each other, and "
				  "their bubble, is left out",
				  conf->path, reader.stages);
	if (reader.mistake) {
		program_free(reader.program);
		reader.program = NULL;
	}
	free(text);
	free(reader.layers);
	free(checkpoints.layers);
	free(initiates.layers);
	*mistake = reader.mistake;
	return reader.program;
}
