/* A run may be dropped at any moment, by every scheme: no use of what is freed, no leak. What it
 * takes to see that is the sanitizers' build (preset asan); elsewhere a crash would show. */
#include "model_run.h"

#include <inttypes.h>

/* NICs that are behind then send what they owe before they forget their sources. */
static void drop_after(unsigned i, const char *nic, uint64_t events)
{
	const char *scheme = scheme_ops(i)->name;
	struct run run;

	run_build(&run,
		  "{'name': 't', 'topology': {'kind': 'star', 'hosts': 40, 'switch': {%s}, 'host': "
		  "{'nic': '%s'}},"
		  " 'jobs': [{'count': 2, 'model': 'vgg16', 'workers': 16, 'all_reduce': '%s'}]}",
		  run_is_nvls(i) ? "'pause': true" : "", nic, scheme);
	cr_expect(sim_run(&run.s->sim, events), "%s is over after %" PRIu64 " events", scheme,
		  events);
	run_free(&run);
}

Test(teardown, in_mid_run)
{
	static const char *const nics[] = { "turns", "bytes", "fifo" };

	for (unsigned i = 0; all_reduce_ops(i); i++)
		for (unsigned n = 0; n < 3; n++)
			for (uint64_t events = 1; events < 20000; events *= 3)
				drop_after(i, nics[n], events);
}
