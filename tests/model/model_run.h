/* For model tests: a scenario from a string, a tap on a protocol's deliveries. */
#ifndef INASIM_TESTS_MODEL_RUN_H
#define INASIM_TESTS_MODEL_RUN_H

#include "run/simulation_state.h"

#include "transport/tcp_conn.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct run {
	struct scenario scenario;
	struct conf_doc *doc;
	struct simulation *s;
};

/* Parses a scenario; ' stands for ", so that C strings stay readable. */
static inline void run_vparse(struct run *run, const char *fmt, va_list args)
{
	static char text[1 << 20]; /* tests have processes of their own */
	int length = vsnprintf(text, sizeof(text), fmt, args);

	cr_assert(length > 0 && (size_t)length < sizeof(text));
	for (char *c = text; *c; c++)
		if (*c == '\'')
			*c = '"';
	run->s = NULL;
	run->doc = scenario_parse("test.json", text, (size_t)length, &run->scenario);
	run->scenario.topology.host.nic_jitter_given = true; /* closed forms: 0 unless given */
}

/* NVLS has no recovery, one switch, and packets only. */
static inline bool run_is_nvls(unsigned scheme)
{
	return !strcmp(scheme_ops(scheme)->name, "nvls");
}

/* Its tables go to `dir`, if not NULL. */
static inline void run_vbuild(struct run *run, struct out_dir *dir, const char *fmt, va_list args)
{
	char *error = NULL;

	run_vparse(run, fmt, args);
	conf_print_errors(run->doc, stderr, false);
	cr_assert_eq(conf_errors(run->doc), 0);
	run->s = simulation_build(&run->scenario, dir, &error);
	cr_assert_not_null(run->s, "%s", error ? error : "");
}

static inline __attribute__((format(printf, 2, 3))) void run_build(struct run *run, const char *fmt,
								   ...)
{
	va_list args;

	va_start(args, fmt);
	run_vbuild(run, NULL, fmt, args);
	va_end(args);
}

static inline __attribute__((format(printf, 3, 4))) void
run_build_to(struct run *run, struct out_dir *dir, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	run_vbuild(run, dir, fmt, args);
	va_end(args);
}

/* Number of mistakes in a scenario, and where the messages have `words`. */
static inline __attribute__((format(printf, 2, 3))) size_t run_mistakes(const char *words,
									const char *fmt, ...)
{
	struct run run;
	char *text = NULL;
	size_t length = 0, count;
	FILE *to = open_memstream(&text, &length);
	va_list args;

	va_start(args, fmt);
	run_vparse(&run, fmt, args);
	va_end(args);
	conf_print_errors(run.doc, to, false);
	fclose(to);
	count = conf_errors(run.doc);
	if (count)
		cr_expect_not_null(strstr(text, words), "\"%s\" is not in: %s", words, text);
	free(text);
	conf_doc_free(run.doc);
	return count;
}

static inline void run_free(struct run *run)
{
	simulation_free(run->s);
	conf_doc_free(run->doc);
}

/* To its end, which must be `end`. */
static inline void run_to(struct run *run, enum end_reason end)
{
	const struct simulation_options options = { 0 };

	simulation_go(run->s, &options);
	if (run->s->end != end)
		simulation_report(run->s, stderr);
	cr_assert_eq(run->s->end, end, "%s", end_reason_names[run->s->end]);
	cr_assert_eq(run->s->checks.exact_violations + run->s->checks.conservation_violations,
		     end == END_VIOLATION ? 1 : 0);
}

/* How long the second of the run's three iterations took, in seconds. Frees the run, which has
 * ended. */
static inline double run_second_of_three(struct run *run)
{
	double time;

	cr_assert_eq(jobs_report(run->s->jobs)->duration_count, 3);
	time = jobs_report(run->s->jobs)->durations[1];
	run_free(run);
	return time;
}

/* Expects a time in seconds within a share of a closed form. */
static inline void near(double t, double want, double within, const char *what)
{
	cr_expect_float_eq(t / want, 1, within, "%s: %.9f ms, closed form %.9f", what, t * 1e3,
			   want * 1e3);
}

static inline void run_alarm(struct sim *sim, uint32_t entity, void *owner)
{
	(void)sim, (void)entity, (void)owner;
}

/* Up to a time, all events before it included, or until the run stops. */
static inline void run_until(struct run *run, sim_time until)
{
	struct sim *sim = &run->s->sim;
	struct timer alarm;

	if (until <= sim->now)
		return;
	timer_open(sim, &alarm, SIM_SAMPLE, sim_key(SIM_SAMPLE, 1), run_alarm, NULL);
	timer_set(sim, &alarm, until);
	while (sim->now < until && sim_run(sim, 1))
		;
	timer_close(sim, &alarm);
}

/* Stands between the network and a protocol: sees what a host gets, may change
 * it, and may lose it (false). */
struct tap {
	const struct protocol_ops *inner;
	void *inner_self;
	struct protocol_ops ops;
	bool (*pass)(struct tap *tap, uint32_t host, struct packet *packet);
	void *owner;
	struct run *run;
	void (*after)(struct tap *tap, uint32_t host,
		      const struct packet *packet); /* may be NULL */
};

static inline void tap_deliver(void *self, uint32_t host, const struct packet *packet)
{
	struct tap *tap = self;
	struct packet copy = *packet;

	if (!tap->pass(tap, host, &copy))
		return;
	tap->inner->deliver(tap->inner_self, host, &copy);
	if (tap->after)
		tap->after(tap, host, &copy);
}

static inline void tap_at_switch(void *self, uint32_t sw, uint32_t back, struct packet *packet,
				 struct switch_actions *actions)
{
	struct tap *tap = self;

	tap->inner->at_switch(tap->inner_self, sw, back, packet, actions);
}

static inline void tap_in(struct tap *tap, struct run *run, const char *protocol,
			  bool (*pass)(struct tap *tap, uint32_t host, struct packet *packet),
			  void *owner)
{
	struct network *net = &run->s->topo.net;

	/* TCP has two of its name, which are handled alike */
	for (unsigned i = 0; i < net->protocol_count; i++) {
		if (strcmp(net->protocols[i].ops->name, protocol))
			continue;
		*tap = (struct tap){ .inner = net->protocols[i].ops,
				     .inner_self = net->protocols[i].self,
				     .ops = *net->protocols[i].ops,
				     .pass = pass,
				     .owner = owner,
				     .run = run };
		net->protocols[i].ops = &tap->ops;
		net->protocols[i].self = tap;
	}
	tap->ops.deliver = tap_deliver;
	tap->ops.at_switch = tap_at_switch;
	tap->ops.prefetch = NULL;
	tap->ops.ahead = NULL;
	tap->ops.repeat = NULL; /* `self` is the tap; so nothing that repeats is skipped */
}

static inline struct tcp_conn *run_conn(const struct run *run, uint32_t number)
{
	return run->s->tcp->conns[number];
}

static inline const struct cc_ops *cc_named(const char *name)
{
	unsigned i = 0;

	while (strcmp(transport_names[i], name))
		i++;
	return transport_kind(i)->cc;
}

#endif
