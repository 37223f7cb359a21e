/* A scenario run as it is, and with an event for each departure (network_by_event()). */
#ifndef INASIM_TESTS_BOTH_WAYS_H
#define INASIM_TESTS_BOTH_WAYS_H

#include "model_run.h"

#include "base/input.h"
#include "base/mem.h"
#include "data/folder.h"
#include "data/table.h"

#include <stdlib.h>
#include <unistd.h>

struct outcome {
	uint64_t digest, events;
	uint64_t departures, deferred; /* of NICs: that took an event, and without one */
	char *flows, *series;          /* tables, NULL = none; owned */
};

static inline char *outcome_table(const char *folder, const char *name)
{
	char *path = folder_join(folder, name), *text = NULL;

	if (folder_exists(path))
		cr_assert_not_null(text = input_read(path, 16 << 20, NULL), "%s", path);
	free(path);
	return text;
}

static inline struct outcome outcome_of(bool by_event, const char *text)
{
	const struct simulation_options options = { 0 };
	char folder[] = INASIM_WORK_DIR "/inasim-both-ways-XXXXXX", *error = NULL;
	struct outcome outcome;
	const struct network *net;
	struct out_dir *dir;
	struct run run;

	cr_assert_not_null(mkdtemp(folder));
	cr_assert_not_null(dir = out_dir_open(folder, &error), "%s", error);
	run_build_to(&run, dir, "%s", text);
	net = &run.s->topo.net;
	if (by_event)
		network_by_event(&run.s->topo.net);
	simulation_go(run.s, &options);
	cr_expect_eq(run.s->checks.exact_violations + run.s->checks.conservation_violations, 0);
	outcome = (struct outcome){ .digest = simulation_digest(run.s),
				    .events = simulation_events(run.s),
				    .departures = net->departures_by_event,
				    .deferred = net->departures_deferred };
	cr_assert(out_dir_commit(dir, &error), "%s", error);
	run_free(&run);
	outcome.flows = outcome_table(folder, "flows.csv");
	outcome.series = outcome_table(folder, "series/network.csv");
	cr_expect(folder_remove(folder));
	return outcome;
}

static inline void outcome_release(struct outcome *outcome)
{
	free(outcome->flows);
	free(outcome->series);
	outcome->flows = outcome->series = NULL;
}

#endif
