#include "formulas/formulas.h"

#include <math.h>
#include <string.h>

#define ELEMENT_BITS 32
#define ROUNDING     1e-9 /* keeps ceil() of a whole quotient from rounding up to the next */

static uint64_t log2_up(uint64_t n)
{
	uint64_t levels = 0;

	while (UINT64_C(1) << levels < n)
		levels++;
	return levels;
}

uint64_t formula_pool_slots(bps rate, uint32_t frame, sim_time round_trip, uint64_t max)
{
	unsigned __int128 product = (unsigned __int128)round_trip * rate; /* bits * PS_PER_S */
	uint64_t slots = 1;

	while ((unsigned __int128)slots * frame * 8 * PS_PER_S < product && slots < max)
		slots *= 2;
	return slots;
}

sim_time formula_panama_latency(uint32_t frame, uint64_t bus, sim_time cycle, sim_time adder,
				uint32_t ports, sim_time fixed)
{
	uint64_t bits = (uint64_t)frame * 8;
	sim_time through = bits > bus ? (bits - bus) * cycle / bus : 0;

	return through + log2_up(ports) * adder + fixed; /* a tree of adders */
}

/* A stage inside a machine: `steps` steps in which (n - 1) / n of the bytes pass a link `times`
 * times. */
struct machine_stage {
	uint64_t steps, times, parts;
};

static sim_time stage_time(const struct formula_machine *machine, struct machine_stage stage,
			   bytes size)
{
	unsigned __int128 bits = (unsigned __int128)size * 8 * (machine->n - 1) * stage.times;
	unsigned __int128 rate = (unsigned __int128)machine->rate * machine->n * stage.parts;

	return stage.steps * machine->alpha + (sim_time)((bits * PS_PER_S + rate - 1) / rate);
}

/* All GPUs send at once, so a shared link is busy n times as long. */
static struct machine_stage scatter_of(const struct formula_machine *machine)
{
	return (struct machine_stage){ machine->n - 1, machine->shared ? machine->n : 1, 1 };
}

/* A scatter and a gather, or the reverse. A shared link carries the bytes n times in one of them,
 * and once in the other. */
static struct machine_stage to_masters(const struct formula_machine *machine, uint64_t steps)
{
	uint64_t masters = machine->masters ? machine->masters : 1;
	uint64_t all = masters + 1, single = 2 * (machine->links ? machine->links : 1);

	if (machine->shared)
		return (struct machine_stage){ steps, machine->n + 1, 1 };
	return (struct machine_stage){ steps, all > single ? all : single, masters };
}

static struct machine_stage reduce_of(const struct formula_machine *machine)
{
	return to_masters(machine, 2 * log2_up(machine->n));
}

static struct machine_stage broadcast_of(const struct formula_machine *machine)
{
	return to_masters(machine, log2_up(machine->n) + machine->n - 1);
}

sim_time formula_machine_scatter(const struct formula_machine *machine, bytes size)
{
	return stage_time(machine, scatter_of(machine), size);
}

sim_time formula_machine_reduce(const struct formula_machine *machine, bytes size)
{
	return stage_time(machine, reduce_of(machine), size);
}

sim_time formula_machine_broadcast(const struct formula_machine *machine, bytes size)
{
	return stage_time(machine, broadcast_of(machine), size);
}

sim_time formula_machine_switch(const struct formula_machine *machine, bytes size, bool half)
{
	uint64_t times = half ? 1 : machine->n + 1, of = half ? 1 : machine->n;
	unsigned __int128 bits = (unsigned __int128)size * 8 * times;
	unsigned __int128 rate = (unsigned __int128)machine->rate * of;

	return (half ? 1 : 2) * machine->alpha + (sim_time)((bits * PS_PER_S + rate - 1) / rate);
}

double formula_esa_priority(double scale, double remaining, double layers, double layer,
			    double ratio)
{
	return scale / remaining * (layers / layer) * ratio;
}

/* --- the formulas --- */

#define GIVES(name, expression)                                                                    \
	static double name(const struct formula_inputs *x)                                         \
	{                                                                                          \
		return expression;                                                                 \
	}

/* The bytes that each rank of a ring sends, as a multiple of its gradients. */
static double ring_share(double n)
{
	return 2 * (n - 1) / n;
}

GIVES(ina_bytes, x->bytes)
GIVES(ring_bytes, ring_share(x->workers) * x->bytes)
GIVES(ring_over_ina, ring_share(x->workers))
GIVES(training_bytes, 2 * x->workers * x->bytes * x->iterations)

/* The payload, or NAN if it does not fit into the frame. */
static double payload_of(const struct formula_inputs *x)
{
	return x->payload <= x->frame ? x->payload : NAN;
}

GIVES(goodput, payload_of(x) / (x->frame + x->wire_extra))
GIVES(header_share, 1 - payload_of(x) / x->frame)
GIVES(element_rate, goodput(x) * x->rate / ELEMENT_BITS)
GIVES(ring_element_rate, element_rate(x) / ring_share(x->workers))
GIVES(tensor_time, 8 * x->bytes / (x->rate * goodput(x)))
GIVES(ring_tensor_time, ring_share(x->workers) * tensor_time(x))

static sim_time ps_of(double seconds)
{
	return (sim_time)llround(seconds * (double)PS_PER_S);
}

GIVES(bandwidth_delay, (x->rate * x->round_trip) / 8)
GIVES(window_rate, fmin(x->rate, 8 * x->window / x->round_trip))
GIVES(pool_slots_least, ceil(bandwidth_delay(x) / x->frame - ROUNDING))
GIVES(pool_slots, (double)formula_pool_slots((bps)x->rate, (uint32_t)x->frame, ps_of(x->round_trip),
					     UINT64_C(1) << 31))
GIVES(pool_in_flight, (x->slots * x->frame))
GIVES(pool_registers, 2 * x->slots * x->elements * ELEMENT_BITS / 8)
GIVES(pool_round_trip, fmax(x->round_trip, 8 * x->slots * (x->frame + x->wire_extra) / x->rate))
GIVES(pool_element_rate, (x->slots * x->elements) / pool_round_trip(x))

/* The number of chunks of the tensor per slot, one after the other. */
static double pool_turns(const struct formula_inputs *x)
{
	return ceil(8 * x->bytes / ELEMENT_BITS / (x->elements * x->slots) - ROUNDING);
}

GIVES(pool_time, pool_turns(x) * pool_round_trip(x))
GIVES(slot_loss, 1 - pow(1 - x->loss, 2 * x->workers))
GIVES(loss_stall, 8 * x->bytes / ELEMENT_BITS / (x->elements * x->slots) * slot_loss(x) * x->rto)
GIVES(netreduce_window, bandwidth_delay(x) / (x->message_packets * x->frame))

GIVES(exchange_time, 2 * 8 * x->bytes / x->rate)
GIVES(communication_share, exchange_time(x) / (exchange_time(x) + x->compute))
GIVES(ina_speedup, 1 / (1 - x->share / 2))
GIVES(iteration_time, x->compute + (1 - x->overlap) * x->communication)
GIVES(training_rate, (x->workers * x->batch) / iteration_time(x))
GIVES(compute_time, (1 - x->share * (1 - x->overlap)) * x->iteration)
GIVES(exchanged_bytes, goodput(x) * x->share * x->iteration * x->rate / 8)
GIVES(ring_slowdown, 1 + (ring_share(x->workers) - 1) * x->share)
GIVES(gather_slowdown, 1 + ((x->workers - 1) * x->volume - 1) * x->share)
GIVES(training_gain, (x->compute + x->communication) / (x->compute + x->communication / x->ratio))

/* The time of the gradients on a link: M / B of NetReduce's appendix A. */
static double over(const struct formula_inputs *x, double rate)
{
	return 8 * x->bytes / rate;
}

static double machines(const struct formula_inputs *x)
{
	double m = x->gpus / x->per_machine;

	return m == floor(m) ? m : NAN;
}

/* The time of a stage, as stage_time(); but inputs may be so large that no sim_time holds it. */
static double inside(const struct formula_inputs *x, struct machine_stage stage)
{
	return (double)stage.steps * x->alpha +
	       (double)stage.times * (x->per_machine - 1) / x->per_machine * over(x, x->intra);
}

/* Stage 1 of equation 2 has M / B_intra here, because equations 4 and 5 need that. The paper prints
 * M / (n B_intra). */
GIVES(machine_reduce,
      inside(x, reduce_of(&(struct formula_machine){ .n = (uint64_t)x->per_machine })))
GIVES(machine_broadcast,
      inside(x, broadcast_of(&(struct formula_machine){ .n = (uint64_t)x->per_machine })))
GIVES(machine_scatter,
      inside(x, scatter_of(&(struct formula_machine){ .n = (uint64_t)x->per_machine })))
GIVES(flat_ring, 2 * (x->gpus - 1) * x->alpha + ring_share(x->gpus) * over(x, x->inter))
GIVES(machine_ring, 2 * (machines(x) - 1) * x->alpha + ring_share(machines(x)) * over(x, x->inter))
GIVES(tencent, machine_reduce(x) + machine_ring(x) + machine_broadcast(x))
GIVES(parallel_netreduce,
      isnan(machines(x)) ? NAN : 2 * machine_scatter(x) + x->alpha + over(x, x->inter))
GIVES(parallel_ring, 2 * machine_scatter(x) + machine_ring(x))
GIVES(tencent_less_parallel, tencent(x) - parallel_netreduce(x))
GIVES(flat_less_parallel, flat_ring(x) - parallel_netreduce(x))
GIVES(parallel_wins_from, x->gpus > 2 ? 2 * x->gpus / (x->gpus - 2) : NAN)
GIVES(parallel_wins_from_exact,
      x->gpus > 2 ? ring_share(x->per_machine) * x->gpus / (x->gpus - 2) : NAN)
GIVES(parallel_wins_from_rate, parallel_wins_from_exact(x) * x->inter)

/* Half of a ring all-reduce: n - 1 rounds, each of which sends 1/n of the bytes. */
static double one_half(const struct formula_inputs *x)
{
	return (x->workers - 1) * x->alpha + ring_share(x->workers) / 2 * over(x, x->rate);
}

GIVES(reduce_scatter, one_half(x))
GIVES(all_gather, one_half(x))
GIVES(all_to_all, one_half(x))
GIVES(pipeline_time, (1 + (x->stages - 1) / x->microbatches) * x->compute)

/* If n is not a power of two, some ranks first send their gradients to partners, so that a power of
 * two is left. At the end the partners send back the sums. */
static double halving_doubling(const struct formula_inputs *x)
{
	double levels = floor(log2(x->workers)), left = exp2(levels), folds = x->workers > left;

	return 2 * (levels + folds) * x->alpha + (ring_share(left) + 2 * folds) * over(x, x->rate);
}

/* The busiest rank has a parent and two children in one tree, and a parent in the other. Each tree
 * has half the data, so this rank sends 2 M and receives 2 M. The first chunk goes up a tree and
 * down again. */
static double double_tree(const struct formula_inputs *x)
{
	double steps = 2 * ceil(log2(x->workers)), chunk = fmin(x->chunk, x->bytes / 2);

	if (x->workers < 4)
		return NAN;
	return steps * (x->alpha + 8 * chunk / x->rate) + 2 * over(x, x->rate);
}

GIVES(panama_port_rate, x->bus / x->cycle)
GIVES(panama_adders, (x->ports - 1) * x->bus / ELEMENT_BITS)
GIVES(panama_luts, 352 * panama_adders(x) + (188 + 127) * x->ports + 1089)
GIVES(panama_flip_flops, 72 * panama_adders(x) + (118 + 118) * x->ports + 963)
GIVES(panama_latency,
      seconds_of(formula_panama_latency((uint32_t)x->frame, (uint64_t)x->bus, ps_of(x->cycle),
					ps_of(x->adder), (uint32_t)x->ports, ps_of(x->fixed))))
GIVES(panama_area, 5.94 / 2032 * panama_adders(x))
GIVES(panama_window_cap, fmin(UINT16_MAX, floor(x->memory / x->jobs / x->frame)))

GIVES(esa_priority,
      formula_esa_priority(1, x->remaining, x->layers, x->layer, x->communication / x->compute))
GIVES(esa_pipeline, fmax(3 * x->partition + x->compute, 4 * x->partition) + x->compute)

#define INT32_LIMIT 2147483648.0
GIVES(quantisation_error, x->workers / x->factor)
GIVES(quantisation_factor, (INT32_LIMIT - x->workers) / (x->workers * x->bound))
GIVES(quantisation_least_error, (x->workers * x->workers) * x->bound / (INT32_LIMIT - x->workers))

/* --- inputs --- */

#define INPUT(name, kind, min, max, fallback, help)                                                \
	{                                                                                          \
#name, FORMULA_##kind, offsetof(struct formula_inputs, name), min, max, fallback,  \
			help                                                                       \
	}
#define MAX_TIME 1e6
#define MAX_SIZE 1e15
#define MAX_RATE 1e15

const struct formula_input formula_input_table[] = {
	INPUT(workers, WHOLE, 2, 1e6, NAN, "workers of the job"),
	INPUT(gpus, WHOLE, 2, 1e6, NAN, "P: all GPUs of the job"),
	INPUT(per_machine, WHOLE, 1, 1024, NAN, "n: GPUs in a machine"),
	INPUT(bytes, SIZE, 1, MAX_SIZE, NAN, "gradients of a worker, |U| or M"),
	INPUT(rate, RATE, 1, MAX_RATE, NAN, "rate of a link"),
	INPUT(inter, RATE, 1, MAX_RATE, NAN, "B_inter: rate of a machine's link to the network"),
	INPUT(intra, RATE, 1, MAX_RATE, NAN, "B_intra: rate between GPUs of a machine"),
	INPUT(alpha, TIME, 0, MAX_TIME, 0, "fixed time of each step, besides that of its bytes"),
	INPUT(chunk, SIZE, 1, MAX_SIZE, 64e3, "bytes that a tree passes on at a time"),
	INPUT(payload, OCTETS, 1, 65535, NAN, "bytes of data in a packet"),
	INPUT(frame, OCTETS, 1, 65535, NAN, "bytes of a packet, headers and FCS included"),
	INPUT(wire_extra, OCTETS, 0, 255, FORMULA_WIRE_EXTRA,
	      "bytes between frames, preamble included"),
	INPUT(round_trip, TIME, 0, MAX_TIME, NAN, "round-trip time without queues"),
	INPUT(window, SIZE, 1, MAX_SIZE, NAN, "bytes in flight"),
	INPUT(slots, WHOLE, 1, 1e9, NAN, "s: packets in flight"),
	INPUT(elements, WHOLE, 1, 16384, NAN, "k: 32-bit values in a packet"),
	INPUT(message_packets, WHOLE, 1, 1e6, NAN, "MsgLen: packets of a message"),
	INPUT(loss, REAL, 0, 1, NAN, "probability that a link loses a packet"),
	INPUT(rto, TIME, 0, MAX_TIME, NAN, "retransmission timeout"),
	INPUT(compute, TIME, 0, MAX_TIME, NAN, "computing time of an iteration, or of a layer"),
	INPUT(communication, TIME, 0, MAX_TIME, NAN, "of an iteration"),
	INPUT(iteration, TIME, 0, MAX_TIME, NAN, "time of a whole iteration"),
	INPUT(overlap, REAL, 0, 1, 0, "share of the communication that computing hides"),
	INPUT(share, REAL, 0, 1, NAN, "share of the iteration that is communication"),
	INPUT(batch, WHOLE, 1, 1e9, NAN, "samples of a worker in an iteration"),
	INPUT(iterations, WHOLE, 1, 1e12, NAN, "iterations of the training"),
	INPUT(ratio, REAL, 1e-6, 1e6, NAN, "old communication time over new one"),
	INPUT(volume, REAL, 0, 1e6, NAN,
	      "bytes that a worker sends to all others, per byte of gradient"),
	INPUT(bus, WHOLE, 1, 65536, NAN, "W: bits that an accelerator takes at a time"),
	INPUT(cycle, TIME, 1e-12, 1, NAN, "1/f of the accelerator: 5ns is 200 MHz"),
	INPUT(ports, WHOLE, 1, 65536, NAN, "N: ports of the accelerator"),
	INPUT(adder, TIME, 0, 1, NAN, "L_a: latency of one adder; 15ns gives PANAMA's table 1"),
	INPUT(fixed, TIME, 0, 1, 0,
	      "latency of the rest of the pipeline; 25ns gives PANAMA's table 1"),
	INPUT(memory, SIZE, 1, MAX_SIZE, NAN, "memory of an accelerator for packets"),
	INPUT(jobs, WHOLE, 1, 1e6, NAN, "jobs that share the memory"),
	INPUT(layer, WHOLE, 1, 1e6, NAN, "l: number of the layer; 1 is the front layer"),
	INPUT(layers, WHOLE, 1, 1e6, NAN, "L: layers of the neural network"),
	INPUT(remaining, TIME, 1e-12, MAX_TIME, NAN, "T: remaining time of the job"),
	INPUT(partition, TIME, 0, MAX_TIME, NAN,
	      "communication time of a quarter of the gradients"),
	INPUT(stages, WHOLE, 1, 1e6, NAN, "p: stages of a pipeline"),
	INPUT(microbatches, WHOLE, 1, 1e6, NAN, "m: microbatches that pass one after the other"),
	INPUT(bound, REAL, 1e-30, 1e30, NAN, "B: bound on the absolute value of gradients"),
	INPUT(factor, REAL, 1e-30, 1e30, NAN,
	      "f: gradients are multiplied by f and rounded to integers"),
	{ 0 },
};

#define FORMULA(name, unit, source, premise, help, ...)                                            \
	{                                                                                          \
#name, unit, help, source, premise, { __VA_ARGS__ }, name                          \
	}
#define PACKET  "payload", "frame", "wire_extra"
#define MACHINE "gpus", "per_machine", "alpha", "bytes", "intra"
#define FITS    "payload is at most frame"
#define WHOLE   "gpus is a multiple of per_machine"

const struct formula formula_table[] = {
	FORMULA(ina_bytes, "B", "SwitchML 2019 section 2.3", NULL,
		"bytes that a worker sends, and as many that it receives, with aggregation in the "
		"network or dedicated servers",
		"bytes"),
	FORMULA(ring_bytes, "B", "SwitchML 2019 section 2.3, NSDI'21 section 3", NULL,
		"bytes that a worker sends, and as many that it receives, in a ring or with "
		"servers beside workers",
		"workers", "bytes"),
	FORMULA(ring_over_ina, "", "PANAMA section 2; NetReduce table 7: 1.5 for 4", NULL,
		"bytes of a ring over those of aggregation in the network", "workers"),
	FORMULA(training_bytes, "B", "PANAMA section 2", NULL,
		"bytes that all workers together send and receive in a training", "workers",
		"bytes", "iterations"),

	FORMULA(goodput, "", "derived: payload over bytes on the wire", FITS,
		"share of the rate that carries data", PACKET),
	FORMULA(header_share, "", "SwitchML 2019 section 5.5", FITS,
		"share of a frame that is headers", "payload", "frame"),
	FORMULA(element_rate, "elements/s", "SwitchML 2019 figure 4", FITS,
		"all-reduce by SwitchML, or by as many servers as workers", "rate", PACKET),
	FORMULA(ring_element_rate, "elements/s", "SwitchML 2019 figure 4", FITS,
		"all-reduce by a ring, or by servers beside workers", "workers", "rate", PACKET),
	FORMULA(tensor_time, "s", "derived: 8 |U| / (rate x goodput)", FITS,
		"aggregation of a tensor at the rate of the link", "bytes", "rate", PACKET),
	FORMULA(ring_tensor_time, "s", "SwitchML 2019 section 2.3", FITS,
		"aggregation of a tensor by a ring, or by servers beside workers", "workers",
		"bytes", "rate", PACKET),

	FORMULA(bandwidth_delay, "B", "SwitchML 2019 section 3.6", NULL,
		"bytes in flight that keep a link busy", "rate", "round_trip"),
	FORMULA(window_rate, "bps", "derived: window / round trip", NULL,
		"rate with a window that does not grow", "window", "rate", "round_trip"),
	FORMULA(pool_slots_least, "", "SwitchML 2019 section 3.6", NULL,
		"least number of slots that keep a link busy", "rate", "round_trip", "frame"),
	FORMULA(pool_slots, "", "SwitchML 2019 section 3.6", NULL,
		"pool_slots_least, rounded up to a power of two: what \"slots\": \"bdp\" takes",
		"rate", "round_trip", "frame"),
	FORMULA(pool_in_flight, "B", "SwitchML 2019 section 3.6", NULL,
		"bytes that a worker with so many slots has in flight", "slots", "frame"),
	FORMULA(pool_registers, "B", "SwitchML 2019 section 3.6", NULL,
		"bytes of switch memory for both versions of all slots", "slots", "elements"),
	FORMULA(pool_round_trip, "s", "SwitchML 2019 figure 2", NULL,
		"round-trip time of a packet, with the queue that a pool causes", "slots", "frame",
		"wire_extra", "rate", "round_trip"),
	FORMULA(pool_element_rate, "elements/s", "SwitchML 2019 figure 2", NULL,
		"elements that an all-reduce with a pool of slots adds per second", "slots",
		"elements", "frame", "wire_extra", "rate", "round_trip"),
	FORMULA(pool_time, "s", "SwitchML 2019 figure 2", NULL,
		"aggregation of a tensor with a pool of slots", "bytes", "slots", "elements",
		"frame", "wire_extra", "rate", "round_trip"),
	FORMULA(slot_loss, "", "derived: both ways of all workers", NULL,
		"probability that a packet is lost in one use of a slot", "workers", "loss"),
	FORMULA(loss_stall, "s", "derived; SwitchML 2019 figure 5", NULL,
		"mean time for which a slot waits for timeouts during a tensor", "bytes",
		"elements", "slots", "workers", "loss", "rto"),
	FORMULA(netreduce_window, "", "NetReduce section 3.2", NULL,
		"least number of messages in flight that keep a link busy", "rate", "round_trip",
		"message_packets", "frame"),

	FORMULA(exchange_time, "s", "PANAMA section 2", NULL,
		"communication time as PANAMA counts it: sending, then receiving", "bytes", "rate"),
	FORMULA(communication_share, "", "PANAMA figure 1a", NULL,
		"share of an iteration that is communication, without overlap, by exchange_time",
		"bytes", "rate", "compute"),
	FORMULA(ina_speedup, "", "PANAMA figure 1b", NULL,
		"speedup of training when communication takes half the time", "share"),
	FORMULA(iteration_time, "s", "SwitchML NSDI'21 table 1", NULL, "time of an iteration",
		"compute", "communication", "overlap"),
	FORMULA(training_rate, "samples/s",
		"SwitchML 2019 table 1; NetReduce table 7, for one worker", NULL,
		"samples of all workers per second", "workers", "batch", "compute", "communication",
		"overlap"),
	FORMULA(compute_time, "s", "SwitchML NSDI'21 table 1", NULL,
		"computing time of an iteration, from the measured share of communication",
		"iteration", "share", "overlap"),
	FORMULA(exchanged_bytes, "B", "SwitchML NSDI'21 table 1", FITS,
		"bytes that a worker sends in an iteration, from the measured share of "
		"communication",
		"iteration", "share", "rate", PACKET),
	FORMULA(ring_slowdown, "", "SwitchML NSDI'21 table 2", NULL,
		"iteration time with a ring over that with aggregation in the network; share is "
		"measured with the latter",
		"workers", "share"),
	FORMULA(gather_slowdown, "", "SwitchML NSDI'21 table 2", NULL,
		"the same with an all-gather of compressed gradients, whose volume is 0.25 for "
		"8-bit levels, 0.2 for a tenth of 32-bit values with 32-bit indices",
		"workers", "share", "volume"),
	FORMULA(training_gain, "", "NetReduce table 7", NULL,
		"gain of training when communication takes 1/ratio of its former time", "compute",
		"communication", "ratio"),

	FORMULA(flat_ring, "s", "NetReduce appendix A, equation 1", NULL,
		"all-reduce by one flat ring of all GPUs (FR)", "gpus", "alpha", "bytes", "inter"),
	FORMULA(tencent, "s",
		"NetReduce appendix A, equation 2, its first stage as 4 and 5 have it", WHOLE,
		"all-reduce by reduction in machines, a ring between them, broadcast (TA)", MACHINE,
		"inter"),
	FORMULA(parallel_netreduce, "s", "NetReduce appendix A, equation 3", WHOLE,
		"all-reduce by a NetReduce ring for each GPU of a machine (PN)", MACHINE, "inter"),
	FORMULA(parallel_ring, "s", "derived; NetReduce section 3.4", WHOLE,
		"all-reduce by a ring for each GPU of a machine (PR)", MACHINE, "inter"),
	FORMULA(tencent_less_parallel, "s", "NetReduce appendix A, equation 4", WHOLE,
		"time by which TA is slower than PN", MACHINE, "inter"),
	FORMULA(flat_less_parallel, "s", "NetReduce appendix A, equation 5", WHOLE,
		"time by which FR is slower than PN", MACHINE, "inter"),
	FORMULA(parallel_wins_from, "", "NetReduce appendix A, equation 6", "gpus is more than 2",
		"B_intra / B_inter from which PN is never slower than FR (sufficient)", "gpus"),
	FORMULA(parallel_wins_from_exact, "", "derived from equation 5 without alpha",
		"gpus is more than 2", "parallel_wins_from for large tensors, exactly", "gpus",
		"per_machine"),
	FORMULA(parallel_wins_from_rate, "bps", "derived from equation 5 without alpha",
		"gpus is more than 2", "B_intra from which PN is faster than FR", "gpus",
		"per_machine", "inter"),
	FORMULA(halving_doubling, "s", "Thakur et al. 2005 section 4.5; pairs fold as there", NULL,
		"all-reduce by recursive halving and doubling", "workers", "alpha", "bytes",
		"rate"),
	FORMULA(double_tree, "s", "derived; Sanders et al. 2009, NCCL 2.4", "workers is 4 or more",
		"all-reduce by two binary trees of half the data each", "workers", "alpha", "bytes",
		"chunk", "rate"),

	FORMULA(reduce_scatter, "s", "Thakur et al. 2005 section 4.4, as a ring", NULL,
		"reduce-scatter: each worker has the sum of 1/n of the bytes", "workers", "alpha",
		"bytes", "rate"),
	FORMULA(all_gather, "s", "Thakur et al. 2005 section 4.1", NULL,
		"all-gather by a ring: all bytes, of which each worker had 1/n", "workers", "alpha",
		"bytes", "rate"),
	FORMULA(all_to_all, "s", "Thakur et al. 2005 section 4.3: pairwise exchange", NULL,
		"all-to-all: each worker has 1/n of its bytes for each", "workers", "alpha",
		"bytes", "rate"),
	FORMULA(pipeline_time, "s", "GPipe section 2.3: a bubble of (p - 1) / (m + p - 1)", NULL,
		"time of an iteration of a pipeline; compute is that of a stage, without its "
		"bubble",
		"stages", "microbatches", "compute"),

	FORMULA(panama_port_rate, "bps", "PANAMA appendix A, equation 1", NULL,
		"rate that a port of an accelerator supports", "bus", "cycle"),
	FORMULA(panama_adders, "", "PANAMA appendix A, equation 2", NULL,
		"adders of an accelerator", "bus", "ports"),
	FORMULA(panama_luts, "", "PANAMA appendix A, table 2", NULL, "look-up tables in an FPGA",
		"bus", "ports"),
	FORMULA(panama_flip_flops, "", "PANAMA appendix A, table 2", NULL, "flip-flops in an FPGA",
		"bus", "ports"),
	FORMULA(panama_latency, "s", "PANAMA appendix A, equation 3, log2 N rounded up", NULL,
		"latency of a packet through an accelerator", "frame", "bus", "cycle", "adder",
		"ports", "fixed"),
	FORMULA(panama_area, "mm2", "PANAMA figure 13: 5.94 mm2 for 2032 adders", NULL,
		"area of the adders in 7 nm", "bus", "ports"),
	FORMULA(panama_window_cap, "", "PANAMA section 4", NULL,
		"packets in flight that an accelerator's memory, and 16 bits, allow each job",
		"memory", "jobs", "frame"),

	FORMULA(esa_priority, "", "ESA equation 1", NULL, "priority of a packet, with T in seconds",
		"remaining", "layers", "layer", "communication", "compute"),
	FORMULA(esa_pipeline, "s", "derived; ESA section 7.2.1", NULL,
		"time of an iteration with two layers of two partitions each; compute is that of a "
		"layer",
		"partition", "compute"),
	FORMULA(quantisation_error, "", "SwitchML 2019 appendix C", NULL, "largest error of a sum",
		"workers", "factor"),
	FORMULA(quantisation_factor, "", "SwitchML 2019 appendix C", NULL,
		"largest factor without overflow of 32 bits", "workers", "bound"),
	FORMULA(quantisation_least_error, "", "SwitchML 2019 appendix C", NULL,
		"quantisation_error with quantisation_factor", "workers", "bound"),
	{ 0 },
};

const struct formula *formula_find(const char *name)
{
	for (const struct formula *f = formula_table; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

const struct formula_input *formula_input_find(const char *name)
{
	for (const struct formula_input *i = formula_input_table; i->name; i++)
		if (!strcmp(i->name, name))
			return i;
	return NULL;
}

double *formula_place(struct formula_inputs *x, const struct formula_input *input)
{
	return (double *)(void *)((char *)x + input->offset);
}
