/* Closed forms give the values that the papers print, to all digits given; where a paper prints
 * none, the values here were worked out by hand from its formula, and are marked "by hand". */
#include "formulas/formulas.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define G 1e9
#define M 1e6

/* `printed` has the digits that count: its last one may be off by half a unit. */
struct row {
	const char *formula;
	struct formula_inputs x;
	double scale; /* unit of the printed number */
	const char *printed;
};

static double half_unit(const char *printed)
{
	const char *point = strchr(printed, '.');

	return 0.5 * pow(10, point ? -(double)strlen(point + 1) : 0);
}

static void check(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct row *row = &rows[i];
		const struct formula *formula = formula_find(row->formula);
		double value;

		cr_assert_not_null(formula, "%s", row->formula);
		value = formula->value(&row->x) / row->scale;
		cr_expect_leq(fabs(value - strtod(row->printed, NULL)),
			      half_unit(row->printed) * (1 + 1e-6), "%s, row %zu: %.9g, printed %s",
			      row->formula, i, value, row->printed);
	}
}
#define CHECK(rows) check(rows, sizeof(rows) / sizeof((rows)[0]))

/* SwitchML 2019 section 2.3, NSDI'21 section 3, PANAMA section 2: 2 PB. */
Test(formulas, volume)
{
	static const struct row rows[] = {
		{ "ina_bytes", { .bytes = 100 * M }, M, "100" },
		{ "ring_bytes", { .workers = 8, .bytes = 100 * M }, M, "175.0" },
		{ "ring_over_ina", { .workers = 4 }, 1, "1.5" },
		{ "ring_over_ina", { .workers = 8 }, 1, "1.75" },
		{ "ring_over_ina", { .workers = 16 }, 1, "1.875" },
		{ "training_bytes",
		  { .workers = 1000, .bytes = G, .iterations = 1000 },
		  1e15,
		  "2" },
	};

	CHECK(rows);
}

#define PACKET(data, size) .payload = data, .frame = size, .wire_extra = 20
#define FULL(data, size)                                                                           \
	{                                                                                          \
		.rate = 10 * G, .bytes = 100 * M, PACKET(data, size)                               \
	}

/* Header overheads of SwitchML 2019 section 5.5 (28.9 and 3.4 %), goodput over throughput of
 * NetReduce table 6; the rest by hand. */
Test(formulas, goodput)
{
	static const struct row rows[] = {
		{ "header_share", { PACKET(128, 180) }, 0.01, "28.9" },
		{ "header_share", { PACKET(1464, 1516) }, 0.01, "3.4" },
		{ "goodput", { PACKET(128, 184) }, 0.01, "63" },
		{ "goodput", { PACKET(128, 180) }, 1, "0.6400" },
		{ "goodput", { PACKET(1464, 1516) }, 1, "0.9531" },
		{ "goodput", { PACKET(128, 184) }, 1, "0.6275" },
		{ "goodput", { PACKET(256, 312) }, 1, "0.7711" },
		{ "goodput", { PACKET(1024, 1080) }, 1, "0.9309" },
		{ "goodput", { PACKET(256, 310) }, 1, "0.7758" },
		{ "goodput", { .payload = 256, .frame = 306 }, 1, "0.8366" },
		{ "goodput", { PACKET(1024, 1086) }, 1, "0.9259" },
		{ "goodput", { PACKET(1460, 1518) }, 1, "0.9493" },
		{ "element_rate", FULL(128, 180), M, "200.0" },
		{ "element_rate", FULL(1464, 1516), M, "297.9" },
		{ "element_rate", FULL(1460, 1518), M, "296.7" },
		{ "tensor_time", FULL(128, 180), 1e-3, "125.0" },
		{ "tensor_time", FULL(1464, 1516), 1e-3, "83.9" },
		{ "tensor_time", FULL(128, 184), 1e-3, "127.5" },
		{ "tensor_time", FULL(256, 312), 1e-3, "103.8" },
		{ "tensor_time", FULL(1024, 1080), 1e-3, "85.9" },
		{ "tensor_time", FULL(256, 310), 1e-3, "103.1" },
		{ "tensor_time", FULL(1024, 1086), 1e-3, "86.4" },
		{ "tensor_time", FULL(1460, 1518), 1e-3, "84.3" },
	};

	CHECK(rows);
}

#define LINE(n, data, size)                                                                        \
	{                                                                                          \
		.workers = n, .rate = 10 * G, PACKET(data, size)                                   \
	}

/* The lines of SwitchML 2019 figure 4, Melements/s, by hand. */
Test(formulas, lines_of_figure_4)
{
	static const struct row rows[] = {
		{ "ring_element_rate", LINE(4, 128, 180), M, "133" },
		{ "ring_element_rate", LINE(8, 128, 180), M, "114" },
		{ "ring_element_rate", LINE(16, 128, 180), M, "107" },
		{ "ring_element_rate", LINE(4, 1460, 1518), M, "197.8" },
		{ "ring_element_rate", LINE(8, 1460, 1518), M, "169.5" },
		{ "ring_element_rate", LINE(16, 1460, 1518), M, "158.2" },
	};

	CHECK(rows);
}

#define POOL(s, trip)                                                                              \
	{                                                                                          \
		.bytes = 100 * M, .slots = s, .elements = 32, .frame = 180, .wire_extra = 20,      \
		.rate = 10 * G, .round_trip = trip                                                 \
	}
#define LOSSY(p)                                                                                   \
	{                                                                                          \
		.bytes = 100 * M, .slots = 128, .elements = 32, .workers = 8, .loss = p,           \
		.rto = 1e-3                                                                        \
	}

/* SwitchML 2019 section 3.6 prints 128 and 512 slots, and 32 and 128 KB of registers. */
Test(formulas, pools)
{
	static const struct row rows[] = {
		{ "pool_slots", { .rate = 10 * G, .round_trip = 15e-6, .frame = 180 }, 1, "128" },
		{ "pool_slots", { .rate = 100 * G, .round_trip = 6e-6, .frame = 180 }, 1, "512" },
		{ "pool_slots_least",
		  { .rate = 10 * G, .round_trip = 15e-6, .frame = 180 },
		  1,
		  "105" },
		{ "pool_in_flight", { .slots = 128, .frame = 180 }, 1, "23040" },
		{ "pool_in_flight", { .slots = 512, .frame = 180 }, 1, "92160" },
		{ "pool_registers", { .slots = 128, .elements = 32 }, 1024, "32" },
		{ "pool_registers", { .slots = 512, .elements = 32 }, 1024, "128" },
		{ "pool_round_trip", POOL(16, 10e-6), 1e-6, "10.00" },
		{ "pool_round_trip", POOL(128, 10e-6), 1e-6, "20.48" },
		{ "pool_element_rate", POOL(128, 10e-6), M, "200.0" },
		{ "pool_element_rate", POOL(16, 10e-6), M, "51.2" },
		{ "pool_time", POOL(128, 10e-6), 1e-3, "125.0" },
		{ "pool_time", POOL(16, 10e-6), 1e-3, "488.29" },
		{ "bandwidth_delay", { .rate = 100 * G, .round_trip = 10e-6 }, 1000, "125" },
		{ "window_rate",
		  { .window = 60000, .round_trip = 10e-6, .rate = 100 * G },
		  G,
		  "48" },
		{ "slot_loss", { .workers = 8, .loss = 0.01 }, 0.01, "14.9" },
		{ "loss_stall", LOSSY(0.0001), 1e-3, "9.8" },
		{ "loss_stall", LOSSY(0.001), 1e-3, "97" },
		{ "loss_stall", LOSSY(0.01), 1e-3, "907" },
		{ "netreduce_window",
		  { .rate = 100 * G, .round_trip = 6.3e-6, .message_packets = 40, .frame = 1024 },
		  1,
		  "1.9" },
	};

	CHECK(rows);
}

/* PANAMA figure 1: 0.11 to 0.70 of the time are communication, and training is 1.06 to 1.28 (A100)
 * and 1.15 to 1.53 (P100) times as fast. */
Test(formulas, figure_1_of_panama)
{
	static const struct row rows[] = {
		{ "ina_speedup", { .share = 0.11 }, 1, "1.06" },
		{ "ina_speedup", { .share = 0.26 }, 1, "1.15" },
		{ "ina_speedup", { .share = 0.44 }, 1, "1.28" },
		{ "ina_speedup", { .share = 0.69 }, 1, "1.53" },
		/* by hand, with the P100's times of SwitchML's table 1 */
		{ "communication_share",
		  { .bytes = 95.3 * M, .rate = 10 * G, .compute = 0.452 },
		  1,
		  "0.252" },
		{ "communication_share",
		  { .bytes = 102.2 * M, .rate = 10 * G, .compute = 0.279 },
		  1,
		  "0.370" },
		{ "communication_share",
		  { .bytes = 553.4 * M, .rate = 10 * G, .compute = 0.434 },
		  1,
		  "0.671" },
	};

	CHECK(rows);
}

#define TRAIN(ideal, c, o)                                                                         \
	{                                                                                          \
		.workers = 8, .batch = 64, .compute = 8 * 64 / (double)(ideal),                    \
		.communication = c, .overlap = o                                                   \
	}

/* SwitchML 2019 table 1: images/s of SwitchML, 8 workers at 10 Gbps, from the column "ideal" and 8
 * |U| / 6.4 Gbps. VGG16 has no overlap; the hidden shares of the others are fitted. */
Test(formulas, table_1_of_switchml_2019)
{
	static const struct row rows[] = {
		{ "training_rate", TRAIN(1180, 553.4e6 * 8 / 6.4e9, 0), 10, "45.5" },
		{ "training_rate", TRAIN(1180, 0, 0), 1, "1180" },
		{ "training_rate", TRAIN(1838, 0, 0), 1, "1838" },
		{ "training_rate", TRAIN(1132, 0, 0), 1, "1132" },
		{ "training_rate", TRAIN(1838, 102.2e6 * 8 / 6.4e9, 0), 1, "1260" },
		{ "training_rate", TRAIN(1132, 95.3e6 * 8 / 6.4e9, 0), 1, "896" },
		{ "training_rate", TRAIN(1838, 102.2e6 * 8 / 6.4e9, 0.343), 1, "1412" },
		{ "training_rate", TRAIN(1132, 95.3e6 * 8 / 6.4e9, 0.814), 1, "1079" },
	};

	CHECK(rows);
}

#define BATCH(ms, percent, hidden)                                                                 \
	{                                                                                          \
		.iteration = (ms)*1e-3, .share = (percent) / 100.0, .overlap = (hidden) / 100.0,   \
		.rate = 10 * G, PACKET(1460, 1518), .workers = 8                                   \
	}

/* SwitchML NSDI'21 table 1: sizes in MiB (by hand), and computing times from the printed shares. Of
 * table 2 the formulas predict 1.73 1.71 1.54 1.50 1.55 1.21; the paper prints 1.80 1.77 1.54 1.54
 * 1.60 1.22. */
Test(formulas, tables_of_switchml_2021)
{
	static const struct row rows[] = {
		{ "exchanged_bytes", BATCH(2101, 97, 2), 1 << 20, "2306" },
		{ "exchanged_bytes", BATCH(1534, 94, 10), 1 << 20, "1632" },
		{ "exchanged_bytes", BATCH(1677, 67, 3), 1 << 20, "1271" },
		{ "exchanged_bytes", BATCH(661, 73, 67), 1 << 20, "546" },
		{ "exchanged_bytes", BATCH(1612, 28, 84), 1 << 20, "511" },
		{ "exchanged_bytes", BATCH(149, 72, 4), 1 << 20, "121" },
		{ "compute_time", BATCH(2101, 97, 2), 1e-3, "104" },
		{ "compute_time", BATCH(1534, 94, 10), 1e-3, "236" },
		{ "compute_time", BATCH(1677, 67, 3), 1e-3, "587" },
		{ "compute_time", BATCH(661, 73, 67), 1e-3, "502" },
		{ "compute_time", BATCH(1612, 28, 84), 1e-3, "1540" },
		{ "ring_slowdown", BATCH(2101, 97, 2), 1, "1.73" },
		{ "ring_slowdown", BATCH(1534, 94, 10), 1, "1.71" },
		{ "ring_slowdown", BATCH(149, 72, 4), 1, "1.54" },
		{ "ring_slowdown", BATCH(1677, 67, 3), 1, "1.50" },
		{ "ring_slowdown", BATCH(661, 73, 67), 1, "1.55" },
		{ "ring_slowdown", BATCH(1612, 28, 84), 1, "1.21" },
		/* seven others' eighths are what a switch takes; all of them at 8 bits a ring's
		   bytes */
		{ "gather_slowdown", { .workers = 8, .share = 1, .volume = 1.0 / 7 }, 1, "1.00" },
		{ "gather_slowdown", { .workers = 8, .share = 0.97, .volume = 0.25 }, 1, "1.73" },
		{ "gather_slowdown", { .workers = 8, .share = 0.5, .volume = 0 }, 1, "0.50" },
	};
	struct formula_inputs x = { .compute = 0.1, .communication = 0.2, .overlap = 0.25 };

	CHECK(rows);
	cr_expect_float_eq(formula_find("iteration_time")->value(&x), 0.25, 1e-12);
}

#define ONE_GPU(iteration_ms, exchange_ms)                                                         \
	{                                                                                          \
		.workers = 1, .batch = 32, .compute = ((iteration_ms) - (exchange_ms)) * 1e-3,     \
		.communication = (exchange_ms)*1e-3, .ratio = 1.5                                  \
	}

/* NetReduce table 7: images/s are 32 over the time of an iteration, which is computing plus
 * communication. The printed images/s of VGG16 and ResNet50 are of an iteration that is shorter by
 * 0.03 %. Gains are by hand, with the ratio of bytes, 1.5, not the measured 1.515, 1.500, 1.194. */
Test(formulas, table_7_of_netreduce)
{
	static const struct row rows[] = {
		{ "training_rate", ONE_GPU(60.62, 47.12), 1, "527.9" },
		{ "training_rate", ONE_GPU(44.69, 31.10), 1, "716.0" },
		{ "training_rate", ONE_GPU(185.08, 111.98), 1, "172.9" },
		{ "training_rate", ONE_GPU(148.63, 74.64), 1, "215.3" },
		{ "training_rate", ONE_GPU(89.19, 23.04), 1, "358.8" },
		{ "training_rate", ONE_GPU(83.42, 19.29), 1, "383.6" },
		{ "training_gain", ONE_GPU(60.62, 47.12), 1, "1.35" },
		{ "training_gain", ONE_GPU(185.08, 111.98), 1, "1.25" },
		{ "ring_over_ina", { .workers = 4 }, 1, "1.5" },
	};

	CHECK(rows);
}

/* P GPUs, 8 a machine, 100 MB, alpha in us, B_intra in GB/s. */
#define GPUS(p, us, gigabytes)                                                                     \
	{                                                                                          \
		.gpus = p, .per_machine = 8, .alpha = (us)*1e-6, .bytes = 100 * M,                 \
		.inter = 100 * G, .intra = (gigabytes)*8 * G                                       \
	}

/* NetReduce appendix A, equations 1 to 3, by hand; section 3.4 has no numbers. */
Test(formulas, equations_of_netreduce)
{
	static const struct row rows[] = {
		{ "flat_ring", GPUS(32, 1, 15.75), 1e-3, "15.562" },
		{ "tencent", GPUS(32, 1, 15.75), 1e-3, "34.244" },
		{ "parallel_netreduce", GPUS(32, 1, 15.75), 1e-3, "19.126" },
		{ "tencent", GPUS(32, 1, 50), 1e-3, "19.022" },
		{ "parallel_netreduce", GPUS(32, 1, 50), 1e-3, "11.515" },
		{ "tencent", GPUS(32, 1, 100), 1e-3, "15.522" },
		{ "parallel_netreduce", GPUS(32, 1, 100), 1e-3, "9.765" },
		{ "tencent", GPUS(32, 1, 150), 1e-3, "14.355" },
		{ "parallel_netreduce", GPUS(32, 1, 150), 1e-3, "9.182" },
		{ "flat_ring", GPUS(128, 1, 100), 1e-3, "16.129" },
		{ "tencent", GPUS(128, 1, 100), 1e-3, "18.546" },
		{ "flat_ring", GPUS(1024, 1, 100), 1e-3, "18.030" },
		{ "tencent", GPUS(1024, 1, 15.75), 1e-3, "38.367" },
		{ "tencent", GPUS(1024, 1, 100), 1e-3, "19.645" },
		{ "tencent", GPUS(1024, 1, 150), 1e-3, "18.478" },
		{ "parallel_netreduce", GPUS(1024, 1, 150), 1e-3, "9.182" },
		{ "flat_ring", GPUS(32, 0.1, 100), 1e-3, "15.506" },
		{ "flat_ring", GPUS(32, 10, 100), 1e-3, "16.120" },
		{ "flat_ring", GPUS(32, 100, 100), 1e-3, "21.700" },
		{ "tencent", GPUS(32, 0.1, 100), 1e-3, "15.502" },
		{ "tencent", GPUS(32, 10, 100), 1e-3, "15.720" },
		{ "tencent", GPUS(32, 100, 100), 1e-3, "17.700" },
		{ "parallel_netreduce", GPUS(32, 0.1, 100), 1e-3, "9.752" },
		{ "parallel_netreduce", GPUS(32, 10, 100), 1e-3, "9.900" },
		{ "parallel_netreduce", GPUS(32, 100, 100), 1e-3, "11.250" },
		{ "flat_ring", GPUS(1024, 0.1, 100), 1e-3, "16.189" },
		{ "flat_ring", GPUS(1024, 10, 100), 1e-3, "36.444" },
		{ "flat_ring", GPUS(1024, 100, 100), 1e-3, "220.584" },
		{ "tencent", GPUS(1024, 0.1, 100), 1e-3, "19.402" },
		{ "tencent", GPUS(1024, 10, 100), 1e-3, "22.075" },
		{ "tencent", GPUS(1024, 100, 100), 1e-3, "46.375" },
		{ "parallel_wins_from", { .gpus = 32 }, 1, "2.13" }, /* the text says 2.3 */
		{ "parallel_wins_from_exact", GPUS(32, 0, 1), 1, "1.87" },
		{ "parallel_wins_from_rate", GPUS(32, 0, 1), 8 * G, "23.33" },
		{ "parallel_wins_from_rate", GPUS(128, 0, 1), 8 * G, "22.22" },
		{ "parallel_wins_from_rate", GPUS(1024, 0, 1), 8 * G, "21.92" },
	};

	CHECK(rows);
}

/* Equations 4 and 5, as printed, are the differences of equations 1 to 3, for any sizes. With one
 * GPU per machine, equation 3 is alpha + M / B, and the parallel ring is the flat ring. */
Test(formulas, identities_of_netreduce)
{
	for (double p = 16; p <= 1024; p *= 2) {
		struct formula_inputs x = GPUS(p, 7, 40);
		double n = 8, inter = x.inter / 8, intra = x.intra / 8, four, five;

		four = (2 * p / n + 3 * log2(n) - n - 2) * x.alpha +
		       ((p - 2 * n) * n * intra + 2 * (n - 1) * p * inter) /
			       (n * p * intra * inter) * x.bytes;
		five = (2 * p - 2 * n - 1) * x.alpha +
		       ((p - 2) * n * intra - 2 * (n - 1) * p * inter) / (n * p * intra * inter) *
			       x.bytes;
		cr_expect_float_eq(formula_find("tencent_less_parallel")->value(&x), four, 1e-12);
		cr_expect_float_eq(formula_find("flat_less_parallel")->value(&x), five, 1e-12);
		x.per_machine = 1;
		cr_expect_float_eq(formula_find("parallel_netreduce")->value(&x),
				   x.alpha + x.bytes / inter, 1e-12);
		cr_expect_float_eq(formula_find("parallel_ring")->value(&x),
				   formula_find("flat_ring")->value(&x), 1e-12);
	}
}

/* Ms per GB in NetReduce's second testbed; its table 9 measured gains of 68.8 and 57.9 % of
 * AlexNet's training. */
Test(formulas, table_9_of_netreduce)
{
	struct formula_inputs x = GPUS(32, 0, 150);
	double ring, tencent, parallel;

	x.bytes = G;
	ring = formula_find("flat_ring")->value(&x);
	tencent = formula_find("tencent")->value(&x);
	parallel = formula_find("parallel_netreduce")->value(&x);
	cr_expect_float_eq(ring, 155.0e-3, 0.05e-3);
	cr_expect_float_eq(tencent, 143.3e-3, 0.05e-3);
	cr_expect_float_eq(parallel, 91.7e-3, 0.05e-3);
	cr_expect_float_eq(ring / parallel, 1.69, 0.005);
	cr_expect_float_eq(tencent / parallel, 1.56, 0.005);
}

#define PROTOTYPE(bytes, extra)                                                                    \
	{                                                                                          \
		.frame = bytes, .bus = 64, .cycle = 5e-9, .adder = 15e-9, .ports = 4,              \
		.fixed = extra                                                                     \
	}

/* PANAMA appendix A. Packets in table 1 that are not added skip the adders and take 30 ns less. */
Test(formulas, accelerators_of_panama)
{
	static const struct row rows[] = {
		{ "panama_port_rate", { .bus = 64, .cycle = 5e-9 }, G, "12.8" },
		{ "panama_port_rate", { .bus = 512, .cycle = 5e-9 }, G, "102.4" },
		{ "panama_port_rate", { .bus = 512, .cycle = 1e-9 }, G, "512" },
		{ "panama_adders", { .bus = 64, .ports = 4 }, 1, "6" },
		{ "panama_adders", { .bus = 512, .ports = 4 }, 1, "48" },
		{ "panama_adders", { .bus = 512, .ports = 64 }, 1, "1008" },
		{ "panama_adders", { .bus = 512, .ports = 128 }, 1, "2032" },
		{ "panama_luts", { .bus = 64, .ports = 4 }, 1, "4461" },
		{ "panama_flip_flops", { .bus = 64, .ports = 4 }, 1, "2339" },
		{ "panama_luts", { .bus = 512, .ports = 128 }, 1, "756673" },
		{ "panama_flip_flops", { .bus = 512, .ports = 128 }, 1, "177475" },
		{ "panama_latency", PROTOTYPE(512, 25e-9), 1e-9, "370" },
		{ "panama_latency", PROTOTYPE(1500, 25e-9), 1e-9, "987.5" },
		{ "panama_latency", PROTOTYPE(1024, 30e-9), 1e-9, "695" },
		{ "panama_area", { .bus = 512, .ports = 4 }, 1, "0.14" },
		{ "panama_area", { .bus = 512, .ports = 16 }, 1, "0.70" },
		{ "panama_area", { .bus = 512, .ports = 128 }, 1, "5.94" },
		{ "panama_window_cap", { .memory = 64 * M, .jobs = 1, .frame = 1500 }, 1, "42666" },
		{ "panama_window_cap", { .memory = 64 * M, .jobs = 1, .frame = 512 }, 1, "65535" },
	};

	CHECK(rows);
}

#define PIPELINE(c, q, size, data)                                                                 \
	{                                                                                          \
		.partition = (c)*1e-3 * (size) / (data), .compute = (q)*1e-3                       \
	}

/* ESA section 7.2.1: its two models alone, payload only, then with headers, by hand. */
Test(formulas, esa)
{
	static const struct row rows[] = {
		{ "esa_pipeline", PIPELINE(0.32, 0.32, 1.0, 1.0), 1e-3, "1.60" },
		{ "esa_pipeline", PIPELINE(0.32, 0.32, 306.0, 256.0), 1e-3, "1.85" },
		{ "esa_pipeline", PIPELINE(0.32, 0.32, 330.0, 256.0), 1e-3, "1.97" },
		{ "esa_pipeline", PIPELINE(0.32, 0.32, 180.0, 128.0), 1e-3, "2.12" },
		{ "esa_pipeline", PIPELINE(0.16, 0.64, 1.0, 1.0), 1e-3, "1.76" },
		{ "esa_pipeline", PIPELINE(0.16, 0.64, 306.0, 256.0), 1e-3, "1.85" },
		{ "esa_pipeline", PIPELINE(0.16, 0.64, 330.0, 256.0), 1e-3, "1.90" },
		{ "esa_pipeline", PIPELINE(0.16, 0.64, 180.0, 128.0), 1e-3, "1.96" },
		{ "esa_priority",
		  { .remaining = 4, .layers = 2, .layer = 1, .communication = 2, .compute = 1 },
		  1,
		  "1.0" },
	};

	CHECK(rows);
}

/* SwitchML 2019 appendix C: Delta = 1.56 and 4.23 are exact to n / f. */
Test(formulas, quantisation)
{
	struct formula_inputs x = { .workers = 2, .bound = 4.23, .factor = 100 };
	double error = formula_find("quantisation_error")->value(&x);

	cr_expect_leq(fabs(5.79 - (1.56 + 4.23)), error);
	x.factor = 10;
	cr_expect_leq(fabs(5.8 - (1.56 + 4.23)), formula_find("quantisation_error")->value(&x));
	x.factor = formula_find("quantisation_factor")->value(&x);
	cr_expect_float_eq(formula_find("quantisation_error")->value(&x),
			   formula_find("quantisation_least_error")->value(&x), 1e-15);
	cr_expect_leq(x.workers * (x.factor * x.bound + 1), 2147483648.0);
}

#define EVEN(n)                                                                                    \
	{                                                                                          \
		.workers = n, .alpha = 1e-6, .bytes = 100 * M, .rate = 100 * G                     \
	}

/* By hand: 2 log2 n steps, 2 (n - 1) / n M / B; if n is no power of two, 2 steps and 2 M / B
 * more. */
Test(formulas, halving_doubling)
{
	static const struct row rows[] = {
		{ "halving_doubling", EVEN(2), 1e-3, "8.002" },
		{ "halving_doubling", EVEN(8), 1e-3, "14.006" },
		{ "halving_doubling", EVEN(6), 1e-3, "28.006" },
		{ "halving_doubling", EVEN(9), 1e-3, "30.008" },
	};

	CHECK(rows);
}

/* By hand: n - 1 steps and (n - 1) / n M / B; m + p - 1 micro-batches of which m are computed. */
Test(formulas, other_collectives)
{
	static const struct row rows[] = {
		{ "reduce_scatter", EVEN(8), 1e-3, "7.007" },
		{ "all_gather", EVEN(4), 1e-3, "6.003" },
		{ "all_to_all", EVEN(5), 1e-3, "6.404" },
		{ "pipeline_time", { .stages = 4, .microbatches = 8, .compute = 24 }, 1, "33" },
		{ "pipeline_time", { .stages = 1, .microbatches = 8, .compute = 24 }, 1, "24" },
	};

	CHECK(rows);
}

#define YEARS(n, a, size, b)                                                                       \
	{                                                                                          \
		.gpus = n, .per_machine = n, .alpha = a, .bytes = size, .inter = G, .intra = b     \
	}

/* Times that no sim_time holds, by hand: one machine sends 7/2 of 1 PB at 100 Mbps, or makes 1,053
 * or 2,046 steps of 6 hours. */
Test(formulas, stages_of_years)
{
	static const struct row rows[] = {
		{ "tencent", YEARS(8, 0, 1e15, 100 * M), M, "280.000" },
		{ "tencent", YEARS(1024, 6 * 3600, 1, 1e15), 3600, "6318.000" },
		{ "parallel_ring", YEARS(1024, 6 * 3600, 1, 1e15), 3600, "12276.000" },
	};

	CHECK(rows);
}

/* Every formula names inputs that exist, no more than fit, and has no value where it should not.
 * Every input belongs to some formula. */
Test(formulas, tables)
{
	struct formula_inputs x = GPUS(20, 1, 100);

	for (const struct formula *formula = formula_table; formula->name; formula++) {
		cr_expect_eq(formula_find(formula->name), formula, "%s stands twice",
			     formula->name);
		cr_expect(*formula->help && *formula->source, "%s", formula->name);
		for (size_t k = 0; k < FORMULA_INPUTS && formula->inputs[k]; k++)
			cr_expect_not_null(formula_input_find(formula->inputs[k]), "%s of %s",
					   formula->inputs[k], formula->name);
	}
	for (const struct formula_input *input = formula_input_table; input->name; input++) {
		size_t uses = 0;

		for (const struct formula *formula = formula_table; formula->name; formula++)
			for (size_t k = 0; k < FORMULA_INPUTS && formula->inputs[k]; k++)
				uses += !strcmp(formula->inputs[k], input->name);
		cr_expect_gt(uses, 0, "%s", input->name);
	}
	/* 20 GPUs, 8 a machine */
	for (const struct formula *formula = formula_table; formula->name; formula++)
		if (formula->premise && strstr(formula->premise, "multiple of per_machine"))
			cr_expect(isnan(formula->value(&x)), "%s", formula->name);
	x.payload = 100;
	x.frame = 99;
	for (const struct formula *formula = formula_table; formula->name; formula++)
		for (size_t k = 0; k < FORMULA_INPUTS && formula->inputs[k]; k++)
			cr_expect(strcmp(formula->inputs[k], "payload") ||
					  (isnan(formula->value(&x)) && formula->premise),
				  "%s of a payload beyond its frame", formula->name);
	x.gpus = 2;
	cr_expect(isnan(formula_find("parallel_wins_from")->value(&x)));
}
