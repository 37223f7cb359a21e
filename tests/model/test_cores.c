/* The cores of hosts, and what a worker does before and after the exchange of a tensor, against
 * closed forms. */
#include "model_run.h"

#include "workload/jobs/jobs_parts.h"

/* Communication of a job of four workers over links of 10 Gbps. */
static double time_of(const char *host, const char *job)
{
	struct run run;
	double time;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 4, 'link': { 'rate': "
		  "'10Gbps' "
		  "}, 'host': { %s } }, 'schemes': { 'switchml': { 'slots': 512 } }, 'jobs': [ { "
		  "'workers': 4, %s } ] }",
		  host, job);
	run_to(&run, END_ALL_DONE);
	time = jobs_report(run.s->jobs)->records[0].communication;
	run_free(&run);
	return time;
}

#define SWITCHML "'all_reduce': 'switchml', 'model': { 'layers': [ { 'gradient': '2.56MB' } ] }"

/* 20,000 packets of 180 bytes take 160 ns each on the link, and as long on the cores as these say,
 * if that is longer. The last one passes the cores of its receiver. */
Test(cores, take_a_packet_after_the_other)
{
	static const struct {
		const char *cores;
		double each, once; /* s: of a packet, of the last one at its receiver */
	} cases[] = {
		{ "'packet': '40ns'", 160e-9, 40e-9 },
		{ "'packet': '160ns'", 160e-9, 160e-9 },
		{ "'packet': '250ns'", 250e-9, 250e-9 },
		{ "'rate': '7.2Gbps'", 200e-9, 200e-9 }, /* 1440 bits */
		{ "'packet': '50ns', 'rate': '7.2Gbps'", 250e-9, 250e-9 },
	};
	double none = time_of("", SWITCHML), rest = none - 20000 * 160e-9;

	cr_expect_lt(rest, 4e-6);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char host[96];

		snprintf(host, sizeof(host), "'cores': { %s }", cases[i].cores);
		/* the gap behind the last packet costs nothing */
		cr_expect_float_eq(time_of(host, SWITCHML),
				   19999 * cases[i].each + 160e-9 + rest + cases[i].once, 1e-12,
				   "%s", cases[i].cores);
	}
}

/* A tensor: launched, 10 Mbit converted before and after. Four that are complete at once are
 * launched one after the other, and each is on its way meanwhile. */
Test(cores, launch_and_conversion)
{
	double none = time_of("", SWITCHML),
	       quarter = time_of("", SWITCHML ", 'gradient_scale': 0.25");
	const char *layers =
		"'all_reduce': 'switchml', 'overlap': 'layers', 'launch': '5ms', 'model': "
		"{ 'layers': [ { 'gradient': '640kB' }, { 'gradient': '640kB' }, "
		"{ 'gradient': '640kB' }, { 'gradient': '640kB' } ] }";

	cr_expect_float_eq(time_of("", SWITCHML ", 'launch': '1ms'"), none + 1e-3, 1e-12);
	cr_expect_float_eq(time_of("", SWITCHML ", 'conversion': '20.48Gbps'"), none + 2e-3, 1e-12);
	cr_expect_float_eq(time_of("", SWITCHML ", 'launch': '1ms', 'conversion': '20.48Gbps'"),
			   none + 3e-3, 1e-12);
	cr_expect_float_eq(time_of("", layers), 4 * 5e-3 + quarter, 1e-12);
}
