/* The exchange of a job that is alone on the network, without simulating it: plan_idle_time()
 * (fluid/collective.h) of its scheme's plan on the hosts that the job had. It rests on the same
 * plan as the fluid run and thus checks the engine of fluid (shares, order, clocks), not the plan;
 * the plan is checked by packets. */
#ifndef INASIM_CROSSCHECK_CLOSED_FORM_H
#define INASIM_CROSSCHECK_CLOSED_FORM_H

#include "crosscheck/outcome.h"
#include "scenario.h"

/* Seconds that the gradients of `job`, the only one of the scenario, are exchanged, over all its
 * iterations (exchange_s). NAN when it has several tensors an iteration or its scheme has no plan
 * here. `path` as simulation_run() has it. */
double closed_form_exchange(const struct scenario *scenario, const char *path,
			    const struct outcome_job *job);

#endif
