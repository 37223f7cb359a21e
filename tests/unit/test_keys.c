#include "conf/keys.h"

#include "lab/sweep/plan.h"
#include "scenario/scenario.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const struct conf_key *find(const struct conf_key *keys, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(keys[i].path, path))
			return &keys[i];
	return NULL;
}

/* "/jobs/N/workers" as in an example: "/jobs/0/workers" */
static void first_items(char *path)
{
	for (char *n = path; (n = strstr(n, "/N")); n++)
		if (n[2] == '/' || !n[2])
			n[1] = '0';
}

struct told {
	const char *label;
	char text[1000];
};

static void keep(void *owner, const char *label, const char *text)
{
	struct told *told = owner;

	if (!strcmp(label, told->label))
		snprintf(told->text, sizeof(told->text), "%s", text);
}

/* The text about a key under a label; "" = none. */
static const char *told_of(const struct conf_key *key, const char *label, struct told *told)
{
	*told = (struct told){ .label = label };
	conf_key_tell(key, keep, told);
	return told->text;
}

Test(keys, tells_what_a_row_says)
{
	size_t count;
	struct conf_key *keys = conf_keys(&scenario_table, &count);
	const struct conf_key *key = find(keys, count, "/topology/link/rate");
	struct told t;

	cr_assert(key);
	cr_expect_str_eq(told_of(key, "allowed", &t),
			 "a rate with its unit from \"1Mbps\" to \"100Tbps\", such as \"10Gbps\"");
	cr_expect_str_eq(told_of(key, "default", &t), "\"10Gbps\"");
	cr_expect_str_eq(told_of(key, "example", &t),
			 "{ \"topology\": { \"link\": { \"rate\": \"10Gbps\" } } }");
	cr_expect(strstr(told_of(key, "units", &t), "Gbps"));
	key = find(keys, count, "/topology/switch/ecn/threshold");
	cr_assert(key);
	cr_expect(!strncmp(told_of(key, "units", &t), "pkt, B, kB", 10), "%s", t.text);
	key = find(keys, count, "/jobs/N/workers");
	cr_assert(key);
	cr_expect_str_eq(told_of(key, "default", &t), "");
	cr_expect_str_eq(told_of(key, "example", &t), "{ \"jobs\": [ { \"workers\": 1 } ] }");
	cr_expect_str_eq(told_of(key, "units", &t), "");
	key = find(keys, count, "/schemes/switchml");
	cr_assert(key);
	cr_expect_str_eq(told_of(key, "example", &t), "");
	cr_expect(find(keys, count, "/jobs/N/model/layers/N/gradient"));
	cr_expect(find(keys, count, "/schemes/switchml/slots"));
	conf_keys_free(keys, count);
}

/* An example may lack other keys, but the key that it is for must be right. */
static void expect_examples(const struct conf_table *table)
{
	size_t count;
	struct conf_key *keys = conf_keys(table, &count);

	cr_assert_gt(count, 10);
	for (size_t i = 0; i < count; i++) {
		struct told told;
		const char *text = told_of(&keys[i], "example", &told);
		struct conf_mistake mistake;
		struct conf_doc *doc;

		cr_expect(keys[i].row.help && *keys[i].row.help, "%s has no help", keys[i].path);
		if (!*text) /* an object */
			continue;
		doc = conf_parse("example", text, strlen(text), table, NULL, NULL, 0);
		first_items(keys[i].path);
		for (size_t m = 0; conf_mistake(doc, m, &mistake); m++)
			cr_expect_neq(strncmp(mistake.pointer, keys[i].path, strlen(keys[i].path)),
				      0, "%s: %s: %s", text, mistake.pointer, mistake.text);
		conf_doc_free(doc);
	}
	conf_keys_free(keys, count);
}

Test(keys, examples_are_valid)
{
	expect_examples(&scenario_table);
	expect_examples(&plan_table);
}
