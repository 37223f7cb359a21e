/* The closed forms of the papers: a table of pure functions with their inputs and sources.
 *
 * All formulas hold for a job alone on an idle network. The simulator itself uses only the
 * functions at the end: integer times and slots, and ESA's priority. (--fidelity analytic comes
 * from collective/plan.h.) tests/model compares the simulator with these formulas.
 *
 * Units: seconds, bytes, bits per second, plain numbers. Headers count only in formulas with the
 * input `frame`. */
#ifndef INASIM_FORMULAS_FORMULAS_H
#define INASIM_FORMULAS_FORMULAS_H

#include "base/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORMULA_WIRE_EXTRA 20.0 /* bytes: preamble and gap of Ethernet */

/* Inputs of all formulas, described in formula_input_table. */
struct formula_inputs {
	double workers, gpus, per_machine;
	double bytes, rate, inter, intra, alpha, chunk;
	double payload, frame, wire_extra, round_trip, window;
	double slots, elements, message_packets, loss, rto;
	double compute, communication, iteration, overlap, share, batch, iterations, ratio, volume;
	double bus, cycle, ports, adder, fixed, memory, jobs;
	double layer, layers, remaining, partition;
	double stages, microbatches;
	double bound, factor;
};

/* Kinds of inputs. FORMULA_OCTETS are whole numbers, too. */
enum formula_kind {
	FORMULA_TIME,
	FORMULA_SIZE, /* bytes; users give a unit */
	FORMULA_RATE,
	FORMULA_WHOLE,
	FORMULA_REAL,
	FORMULA_OCTETS /* bytes of a packet; users may leave the unit out */
};

/* An input: its place in struct formula_inputs, and its range. */
struct formula_input {
	const char *name;
	enum formula_kind kind;
	size_t offset;
	double min, max;
	double fallback; /* default value; NAN: the input is required */
	const char *help;
};

#define FORMULA_INPUTS 8 /* at most */

struct formula {
	const char *name;
	const char *unit; /* "s", "B", "bps", ...; "" for a plain number */
	const char *help, *source;
	const char *premise; /* condition on the inputs, or NULL; if violated, the value is NAN */
	const char *inputs[FORMULA_INPUTS + 1]; /* NULL after the last */
	double (*value)(const struct formula_inputs *x);
};

/* Both tables end with an entry without a name. */
extern const struct formula formula_table[];
extern const struct formula_input formula_input_table[];

/* The entry with this name, or NULL. */
const struct formula *formula_find(const char *name);
const struct formula_input *formula_input_find(const char *name);

/* The member of *x that is this input. */
double *formula_place(struct formula_inputs *x, const struct formula_input *input);

/* --- for the simulator --- */

/* Slots that keep a link busy: ceil(rate x round trip / frame), rounded up to a power of two, at
 * least 1, at most `max`, which is a power of two (SwitchML section 3.6). `frame`: bytes, without
 * preamble and gap, as in that section. */
uint64_t formula_pool_slots(bps rate, uint32_t frame, sim_time round_trip, uint64_t max);

/* PANAMA equation 3 plus the fixed latency of the rest of the pipeline:
 * (S/W - 1) / f + L_a x ceil(log2 N) + fixed. The first term is 0 for frames of less than W.
 * `frame` is S in bytes, `bus` W in bits, `cycle` 1/f, `adder` L_a, `ports` N. */
sim_time formula_panama_latency(uint32_t frame, uint64_t bus, sim_time cycle, sim_time adder,
				uint32_t ports, sim_time fixed);

/* The `n` GPUs of a machine, for the stages of NetReduce's appendix A. Below, M is the size and B
 * the rate. The formulas below are for GPUs with a link each; a shared link carries the bytes of
 * all (formulas.c). log2 n is rounded up to a whole number. */
struct formula_machine {
	uint64_t n;
	sim_time alpha;
	bps rate;         /* of a GPU */
	bool shared;      /* the GPUs share one link */
	uint64_t links;   /* of a GPU, which share its rate; 0 means 1 */
	uint64_t masters; /* of a reduce and a broadcast, for equal parts; 0 means 1 */
};
/* A reduce-scatter or an all-gather: (n - 1) alpha + (n - 1) / n M / B. */
sim_time formula_machine_scatter(const struct formula_machine *machine, bytes size);
/* Reduce to one GPU, by halving and gathering over one link: 2 log2 n alpha + 2 (n - 1) / n M / B.
 * With k masters and B from l links it is max(1 + 1 / k, 2 l / k) (n - 1) / n M / B: GPUs send a
 * master's part of all, and each part takes one link. */
sim_time formula_machine_reduce(const struct formula_machine *machine, bytes size);
/* Broadcast by scatter and all-gather: (log2 n + n - 1) alpha + 2 (n - 1) / n M / B. */
sim_time formula_machine_broadcast(const struct formula_machine *machine, bytes size);
/* Through a switch that adds and copies (NVLS), GPUs with a link each; each GPU owns a piece of M.
 * Half of it, a reduce-scatter or an all-gather: alpha + M / B, since the own piece crosses the
 * link, too. Both: 2 alpha + (n + 1) / n M / B. */
sim_time formula_machine_switch(const struct formula_machine *machine, bytes size, bool half);

/* ESA equation 1, times `scale`. */
double formula_esa_priority(double scale, double remaining, double layers, double layer,
			    double ratio);

#endif
