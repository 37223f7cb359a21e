/* Which promise holds for which scenario, and that promises can be broken. */
#include "crosscheck/promise.h"

#include "base/mem.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STAR   "'topology': { 'kind': 'star', 'hosts': 8 }"
#define TREE   "'topology': { 'kind': 'fat-tree', 'k': 4 }"
#define LARGE  "'model': { 'layers': [ { 'gradient': '10MB' } ] }"
#define SMALL  "'model': { 'layers': [ { 'gradient': '9.99MB' } ] }"
#define JOB(s) "{ 'workers': 4, 'all_reduce': '" s "', " LARGE " }"

/* ' stands for ". */
static enum crosscheck_kind kind_of(const char *members)
{
	char *text = xasprintf("{ 'name': 'n', %s }", members);
	struct scenario scenario;
	enum crosscheck_kind kind;
	struct conf_doc *doc;

	for (char *c = text; *c; c++)
		if (*c == '\'')
			*c = '"';
	doc = scenario_parse("test.json", text, strlen(text), &scenario);
	conf_print_errors(doc, stderr, false);
	cr_assert_eq(conf_errors(doc), 0);
	kind = crosscheck_kind(&scenario);
	conf_doc_free(doc);
	free(text);
	return kind;
}

Test(promise, kinds_of_one_job)
{
	cr_expect_eq(kind_of(STAR ", 'jobs': [ " JOB("ring") " ]"), CROSSCHECK_ALONE);
	cr_expect_eq(kind_of(TREE ", 'jobs': [ " JOB("switchml") " ]"), CROSSCHECK_ALONE);
	cr_expect_eq(kind_of(STAR ", 'jobs': [ " JOB("ps") " ]"), CROSSCHECK_ALONE_SHARDS);
	cr_expect_eq(kind_of(STAR ", 'jobs': [ " JOB("atp") " ]"), CROSSCHECK_ALONE_HASHED);
	cr_expect_eq(kind_of(TREE ", 'jobs': [ " JOB("esa") " ]"), CROSSCHECK_ALONE_HASHED);
	cr_expect_eq(kind_of(TREE ", 'jobs': [ " JOB("ring") " ]"), CROSSCHECK_ALONE_PATHS);
	cr_expect_eq(kind_of(STAR ", 'jobs': [ " JOB("ps_stream") " ]"), CROSSCHECK_ALONE);
	cr_expect_eq(kind_of(STAR ", 'schemes': { 'ps_stream': { 'slots': 64 } }, 'jobs': [ " JOB(
			     "ps_stream") " ]"),
		     CROSSCHECK_ALONE_SERVERS);
	cr_expect_eq(kind_of(STAR ", 'jobs': [ { 'workers': 4, 'servers': 1, 'all_reduce': "
				  "'ps_stream', " LARGE " } ]"),
		     CROSSCHECK_ALONE);
	cr_expect_eq(kind_of(TREE ", 'jobs': [ " JOB("ps_stream") " ]"), CROSSCHECK_ALONE_PATHS);
	cr_expect_eq(kind_of(TREE ", 'jobs': [ " JOB("ps") " ]"), CROSSCHECK_ALONE_PATHS);
	cr_expect_eq(
		kind_of(STAR ", 'jobs': [ { 'workers': 4, 'all_reduce': 'ring', " SMALL " } ]"),
		CROSSCHECK_ALONE_SMALL);
	/* One tensor an iteration, or one a layer. */
	cr_expect_eq(kind_of(STAR ", 'jobs': [ { 'workers': 4, 'all_reduce': 'ring', 'model': "
				  "{ 'layers': [ { 'gradient': '9MB' }, { 'gradient': '9MB' } ] } "
				  "} ]"),
		     CROSSCHECK_ALONE);
	cr_expect_eq(kind_of(STAR ", 'jobs': [ { 'workers': 4, 'all_reduce': 'ring', 'overlap': "
				  "'layers', 'model': { 'layers': [ { 'gradient': '9MB' }, "
				  "{ 'gradient': '99MB' } ] } } ]"),
		     CROSSCHECK_ALONE_SMALL);
}

/* 10 MB a server: by their number, that of workers, or a list; counted from hosts of workers, too.
 */
Test(promise, parameter_servers_are_judged_by_their_shards)
{
#define PS(gradient, more)                                                                         \
	STAR ", 'jobs': [ { 'all_reduce': 'ps', 'model': { 'layers': [ { 'gradient': '" gradient   \
	     "' } ] }, " more " } ]"
	cr_expect_eq(kind_of(PS("20MB", "'workers': 4, 'servers': 2")), CROSSCHECK_ALONE);
	cr_expect_eq(kind_of(PS("20MB", "'workers': 4, 'servers': 3")), CROSSCHECK_ALONE_SHARDS);
	cr_expect_eq(kind_of(PS("40MB", "'workers': [ 0, 1, 2, 3 ]")), CROSSCHECK_ALONE);
	cr_expect_eq(kind_of(PS("39MB", "'workers': [ 0, 1, 2, 3 ]")), CROSSCHECK_ALONE_SHARDS);
	cr_expect_eq(kind_of(PS("10MB", "'workers': 4, 'servers': [ 7 ]")), CROSSCHECK_ALONE);
	cr_expect_eq(kind_of(PS("40MB", "'workers': 4, 'servers': { 'placement': 'workers' }")),
		     CROSSCHECK_ALONE);
}

Test(promise, short_queues_are_a_kind_of_their_own)
{
	/* 2 links of 1 us and a switch of 500 ns, there and back: 6250 bytes at 10 Gbps */
#define QUEUES(s) "'topology': { 'kind': 'star', 'hosts': 8, 'switch': { " s " } }"
	cr_expect_eq(
		kind_of(QUEUES("'ecn': { 'threshold': '6300B' }") ", 'jobs': [ " JOB("ring") " ]"),
		CROSSCHECK_ALONE);
	cr_expect_eq(
		kind_of(QUEUES("'ecn': { 'threshold': '6200B' }") ", 'jobs': [ " JOB("ring") " ]"),
		CROSSCHECK_ALONE_SHORT);
	cr_expect_eq(
		kind_of(QUEUES("'buffer': '6200B', 'ecn': false") ", 'jobs': [ " JOB("ring") " ]"),
		CROSSCHECK_ALONE_SHORT);
	cr_expect_eq(kind_of(QUEUES("'ecn': false") ", 'jobs': [ " JOB("ring") " ]"),
		     CROSSCHECK_ALONE);
}

Test(promise, kinds_of_several)
{
	cr_expect_eq(kind_of(STAR ", 'jobs': [ " JOB("ring") ", " JOB("ring") " ]"),
		     CROSSCHECK_APART);
	cr_expect_eq(kind_of("'topology': { 'kind': 'star', 'hosts': 4, 'host': { 'slots': 2 } }, "
			     "'jobs': [ " JOB("ring") ", " JOB("ring") " ]"),
		     CROSSCHECK_ALIKE);
	cr_expect_eq(kind_of(STAR ", 'jobs': [ " JOB("panama") ", " JOB("panama") " ]"),
		     CROSSCHECK_EVEN);
	cr_expect_eq(kind_of(STAR
			     ", 'jobs': [ { 'count': 2, 'workers': 4, 'all_reduce': 'ring', " LARGE
			     " } ]"),
		     CROSSCHECK_APART);
	cr_expect_eq(kind_of(STAR ", 'jobs': [ " JOB("ring") ", " JOB("switchml") " ]"),
		     CROSSCHECK_MIXED);
	cr_expect_eq(kind_of(STAR ", 'jobs': [ " JOB("ring") ", { 'enabled': false, 'workers': 4, "
							     "'all_reduce': 'atp', " LARGE " } ]"),
		     CROSSCHECK_ALONE);
	cr_expect_eq(kind_of(STAR ", 'jobs': [ " JOB("ring") " ], 'flows': [ { 'pairs': [[0, 1]], "
							     "'size': '1MB' } ]"),
		     CROSSCHECK_FLOWS);
}

Test(promise, what_hangs_on_chance_is_open)
{
	static const char *const scenarios[] = {
		STAR ", 'flows': [ { 'pairs': [[0, 1]], 'size': '999kB' } ]",
		STAR ", 'flows': [ { 'size': { 'cdf': 'websearch' }, 'count': 9, "
		     "'arrival': { 'poisson_load': 0.1 } } ]",
		"'topology': { 'kind': 'star', 'hosts': 8, 'link': { 'loss': 0.001 } }, "
		"'jobs': [ " JOB("ring") " ]",
		"'topology': { 'kind': 'star', 'hosts': 8, 'host': { 'jitter': '1us' } }, "
		"'jobs': [ " JOB("ring") " ]",
		STAR
		", 'jobs': [ { 'workers': 4, 'all_reduce': 'ring', 'start_jitter': '1us', " LARGE
		" } ]",
		STAR ", 'jobs': [ { 'workers': { 'min': 2, 'max': 4 }, 'all_reduce': 'ring', " LARGE
		     " } ]",
	};

	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		cr_expect_eq(kind_of(scenarios[i]), CROSSCHECK_OPEN, "%s", scenarios[i]);
}

/* Bounds stand where a mechanism keeps them: streams of one kind that are served alike, or nobody
 * else. Where congestion control or hashing decides who gets what, or when the last job ends, there
 * are none. */
Test(promise, what_no_mechanism_keeps_is_not_promised)
{
	static const enum crosscheck_kind kept[] = { CROSSCHECK_ALONE, CROSSCHECK_EVEN };

	for (unsigned kind = 0; kind < CROSSCHECK_KINDS; kind++) {
		const struct promise *promise = &promises[kind];
		bool any = isfinite(promise->each) || isfinite(promise->end) ||
			   isfinite(promise->mean);

		cr_expect_eq(any, kind == kept[0] || kind == kept[1], "%s", promise->kind);
	}
	cr_expect_eq(kind_of(TREE ", 'jobs': [ " JOB("atp") ", " JOB("atp") " ]"),
		     CROSSCHECK_APART);
	cr_expect_eq(kind_of(TREE ", 'jobs': [ " JOB("ring") ", " JOB("ring") " ]"),
		     CROSSCHECK_APART);
}

Test(promise, every_kind_has_its_words)
{
	for (size_t i = 0; i < CROSSCHECK_KINDS; i++) {
		cr_expect_not_null(promises[i].kind);
		cr_expect_not_null(promises[i].reason);
		cr_expect(promises[i].each > 0 && promises[i].end > 0 && promises[i].mean > 0);
	}
	/* No scheme falls into the first kind because it has no line in the table. */
	for (unsigned i = 0; i < SCHEME_COUNT; i++) {
		char *text = xasprintf(STAR ", 'jobs': [ { 'workers': 4, 'all_reduce': '%s', " LARGE
					    " } ]",
				       scheme_names[i]);

		cr_expect_neq(kind_of(text), CROSSCHECK_ALONE_SHORT, "%s", scheme_names[i]);
		free(text);
	}
}

Test(promise, can_be_broken)
{
	cr_expect(promise_holds(0.02, 0.02));
	cr_expect(promise_holds(-0.02, 0.02));
	cr_expect_not(promise_holds(0.0201, 0.02));
	cr_expect_not(promise_holds(-0.0201, 0.02));
	cr_expect_not(promise_holds(NAN, 0.02), "what did not finish keeps no promise");
}
