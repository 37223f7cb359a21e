#include "conf/conf.h"

#include "conf_sample.h"

#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct conf_doc *parse(const char *text, struct sample *sample)
{
	return conf_parse("t.json", text, strlen(text), &sample_table, sample, NULL, 0);
}

static char *errors_of(const struct conf_doc *doc, bool json)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	conf_print_errors(doc, to, json);
	fclose(to);
	return text;
}

static char *explained(const struct conf_doc *doc, bool json)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	conf_explain(doc, to, json);
	fclose(to);
	return text;
}

/* The document has exactly `count` mistakes, and `message` is among them. */
static void expect_mistakes(const char *text, size_t length, size_t count, const char *message)
{
	struct conf_doc *doc = conf_parse("t.json", text, length, &sample_table, NULL, NULL, 0);
	char *errors = errors_of(doc, false);

	cr_expect_eq(conf_errors(doc), count, "%zu errors in %s:\n%s", conf_errors(doc), text,
		     errors);
	cr_expect(strstr(errors, message), "%s\nsays\n%sand not\n%s", text, errors, message);
	free(errors);
	conf_doc_free(doc);
}

struct mistake {
	const char *text;
	const char *message;
};

static void expect_each(const struct mistake *mistakes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		expect_mistakes(mistakes[i].text, strlen(mistakes[i].text), 1, mistakes[i].message);
}

static const char full[] =
	"{\n"
	"  \"$schema\": \"x\", \"_comment\": null, \"_comment\": 1e999,\n"
	"  \"name\": \"a\\u00e9\", \"pause\": false, \"seed\": -7, \"loss\": 1e-3,\n"
	"  \"kind\": \"leaf-spine\", \"after\": \"20s\", \"buffer\": \"1.5MB\",\n"
	"  \"threshold\": \"128KB\",\n"
	"  \"link\": { \"_\": [null], \"rate\": \"100Gbps\", \"delay\": \"500 ns\" },\n"
	"  \"jobs\": [\n"
	"    { \"name\": \"a\", \"workers\": 16, \"model\": \"resnet50\", \"size\": \"4MB\" },\n"
	"    { \"name\": \"b\", \"workers\": { \"min\": 16, \"max\": 96 }, \"model\": \"m.json\",\n"
	"      \"size\": { \"cdf\": \"websearch\" } },\n"
	"    { \"name\": \"c\", \"workers\": [7, 8, 9], \"size\": { \"max\": 2, \"min\": 1 } },\n"
	"    { \"name\": \"d\" }\n"
	"  ],\n"
	"  \"pairs\": [[1, 2], [3, 4], [5, 6]], \"tags\": [\"x\", \"\"],\n"
	"  \"limits\": [\"none\", \"5KB\"],\n"
	"  \"schemes\": { \"atp\": { \"down\": { \"delay\": \"2us\" } } }\n"
	"}";

Test(conf, fills_every_type)
{
	struct sample s;
	struct conf_doc *doc = parse(full, &s);

	cr_assert_eq(conf_errors(doc), 0);
	cr_expect_str_eq(conf_path(doc), "t.json");
	cr_expect_not(conf_io_error(doc));
	cr_expect_str_eq(s.name, "a\xc3\xa9");
	cr_expect_not(s.pause);
	cr_expect_eq(s.seed, -7);
	cr_expect_eq(s.loss, 1e-3);
	cr_expect_eq(s.kind, KIND_LEAF_SPINE);
	cr_expect_eq(s.after, 20 * PS_PER_S);
	cr_expect(s.after_given);
	cr_expect_eq(s.buffer, 1500000);
	cr_expect_eq(s.threshold.amount, 128000);
	cr_expect_not(s.threshold.packets);
	cr_expect_eq(s.link.rate, UINT64_C(100000000000));
	cr_expect_eq(s.link.delay, 500 * PS_PER_NS);
	conf_doc_free(doc);
}

Test(conf, fills_lists)
{
	struct sample s;
	struct conf_doc *doc = parse(full, &s);
	const struct conf_list *pairs;
	const struct sample_limit *limits;

	cr_assert_eq(conf_errors(doc), 0);
	cr_assert_eq(s.pairs.count, 3);
	pairs = s.pairs.items;
	cr_expect_eq(pairs[2].count, 2);
	cr_expect_eq(((const int64_t *)pairs[2].items)[0], 5);
	cr_expect_eq(((const int64_t *)pairs[2].items)[1], 6);
	cr_assert_eq(s.tags.count, 2);
	cr_expect_str_eq(((const char *const *)s.tags.items)[0], "x");
	cr_expect_str_eq(((const char *const *)s.tags.items)[1], "");
	cr_assert_eq(s.limits.count, 2);
	limits = s.limits.items;
	cr_expect_eq(limits[0].kind, LIMIT_WORD);
	cr_expect_eq(limits[0].word, 0);
	cr_expect_eq(limits[1].kind, LIMIT_SIZE);
	cr_expect_eq(limits[1].size, 5000);
	conf_doc_free(doc);
}

Test(conf, chooses_alternatives_by_shape)
{
	struct sample s;
	struct conf_doc *doc = parse(full, &s);
	const struct sample_job *jobs = s.jobs.items;

	cr_assert_eq(conf_errors(doc), 0);
	cr_assert_eq(s.jobs.count, 4);
	cr_expect_eq(jobs[0].workers_kind, WORKERS_FIXED);
	cr_expect_eq(jobs[0].workers.fixed, 16);
	cr_expect_eq(jobs[1].workers_kind, WORKERS_RANGE);
	cr_expect_eq(jobs[1].workers.range.min, 16);
	cr_expect_eq(jobs[1].workers.range.max, 96);
	cr_expect_eq(jobs[2].workers_kind, WORKERS_HOSTS);
	cr_expect_eq(jobs[2].workers.hosts.count, 3);
	cr_expect_eq(((const int64_t *)jobs[2].workers.hosts.items)[2], 9);
	conf_doc_free(doc);
}

Test(conf, chooses_alternatives_of_one_shape)
{
	struct sample s;
	struct conf_doc *doc = parse(full, &s);
	const struct sample_job *jobs = s.jobs.items;

	cr_assert_eq(conf_errors(doc), 0);
	cr_expect_eq(jobs[0].model_kind, MODEL_KNOWN);
	cr_expect_eq(jobs[0].model, 1);
	cr_expect_eq(jobs[1].model_kind, MODEL_FILE);
	cr_expect_str_eq(jobs[1].model_file, "m.json");
	cr_expect_eq(jobs[0].size_kind, SIZE_FIXED);
	cr_expect_eq(jobs[0].size, 4000000);
	cr_expect_eq(jobs[1].size_kind, SIZE_CDF);
	cr_expect_str_eq(jobs[1].cdf.file, "websearch");
	cr_expect_eq(jobs[1].cdf.scale, 1.0);
	cr_expect_eq(jobs[2].size_kind, SIZE_RANGE);
	cr_expect_eq(jobs[2].range.max, 2);
	conf_doc_free(doc);
}

Test(conf, fills_defaults)
{
	struct sample s;
	struct conf_doc *doc = parse("{\"name\":\"x\",\"jobs\":[{\"name\":\"j\"}]}", &s);
	const struct sample_job *jobs = s.jobs.items;

	cr_assert_eq(conf_errors(doc), 0);
	cr_expect(s.pause);
	cr_expect_eq(s.seed, 1);
	cr_expect_eq(s.loss, 0.1);
	cr_expect_eq(s.kind, KIND_FAT_TREE);
	cr_expect_eq(s.after, 0);
	cr_expect_not(s.after_given);
	cr_expect_eq(s.threshold.amount, 85);
	cr_expect(s.threshold.packets);
	cr_expect_eq(s.link.delay, PS_PER_US);
	cr_expect_eq(s.pairs.count, 2);
	cr_expect_eq(s.tags.count, 0);
	cr_expect_eq(s.limits.count, 1);
	cr_expect_eq(((const struct sample_limit *)s.limits.items)[0].word, 1);
	cr_expect_eq(jobs[0].workers_kind, WORKERS_FIXED);
	cr_expect_eq(jobs[0].workers.fixed, 4);
	cr_expect_eq(jobs[0].model, 0);
	cr_expect_eq(jobs[0].size, 2000000);
	conf_doc_free(doc);
}

Test(conf, fills_every_scheme)
{
	struct sample s;
	struct conf_doc *doc = parse(full, &s);
	const struct sample_panama *panama = s.schemes[0];
	const struct sample_atp *atp = s.schemes[1];

	cr_assert_eq(conf_errors(doc), 0);
	cr_expect_eq(panama->trees, 4);
	cr_expect_eq(panama->memory, 64 << 20);
	cr_expect_eq(atp->up.rate, 1000000000);
	cr_expect_eq(atp->up.delay, PS_PER_US);
	cr_expect_eq(atp->down.delay, 2 * PS_PER_US);
	conf_doc_free(doc);
}

/* 12 characters, so what follows begins in column 13 */
#define X "{\"name\":\"x\","

Test(conf, bounds_are_inclusive)
{
	static const char *const good[] = {
		X "\"buffer\":\"1500B\"}",
		X "\"buffer\":\"64MB\"}",
		X "\"loss\":0}",
		X "\"loss\":1}",
		X "\"seed\":9007199254740991}",
		X "\"seed\":-9007199254740991}",
		X "\"seed\":-0}",
		X "\"seed\":1e3}",
		X "\"threshold\":\"1000000pkt\"}",
		X "\"threshold\":\"1 pkt\"}",
		X "\"threshold\":\"1MB\"}",
		X "\"jobs\":[{\"name\":\"j\",\"workers\":1000}]}",
		X "\"schemes\":{\"panama\":{\"trees\":64}}}",
	};

	for (size_t i = 0; i < COUNT(good); i++)
		expect_mistakes(good[i], strlen(good[i]), 0, "");
}

Test(conf, values_out_of_range)
{
	static const struct mistake mistakes[] = {
		{ X "\"buffer\":\"1499B\"}",
		  "t.json:1:22: /buffer: \"1499B\" is out of range; allowed: a size with its unit "
		  "from \"1500B\" to \"64MB\", such as \"1MB\"\n" },
		{ X "\"buffer\":\"64.001MB\"}", "t.json:1:22: /buffer: \"64.001MB\" is out of" },
		{ X "\"loss\":1.0000001}", "t.json:1:20: /loss: the number 1.0000001 is out of "
					   "range; allowed: a number from 0 "
					   "to 1\n" },
		{ X "\"loss\":-0.1}", "/loss: the number -0.1 is out of range" },
		{ X "\"seed\":1e17}", "/seed: the number 1e+17 is out of range" },
		{ X "\"seed\":9007199254740993.0}",
		  "/seed: the number 9007199254740992.0 is out of" },
		{ X "\"seed\":-9.007199254740993e15}", "/seed: the number -9007199254740992.0 is" },
		{ X "\"threshold\":\"1000001pkt\"}",
		  "/threshold: \"1000001pkt\" is out of range; allowed: a number of packets or "
		  "bytes "
		  "with its unit, at most 1000000, such as \"85pkt\"\n" },
		{ X "\"schemes\":{\"panama\":{\"trees\":65}}}",
		  "t.json:1:42: /schemes/panama/trees: the number 65 is out of range; allowed: a "
		  "whole number from 1 to 64\n" },
		{ X "\"jobs\":[{\"name\":\"j\",\"workers\":0}]}",
		  "t.json:1:43: /jobs/0/workers: the number 0 is out of range; allowed: a whole "
		  "number from 1 to 1000; or an object with the keys \"min\", \"max\"; or a list" },
		{ X "\"jobs\":[{\"name\":\"j\",\"workers\":[]}]}",
		  "t.json:1:43: /jobs/0/workers: 0 items; allowed: a number of items, at least "
		  "1\n" },
		{ X "\"pairs\":[[1,2],[3]]}",
		  "t.json:1:28: /pairs/1: 1 item; allowed: a number of items, exactly 2\n" },
		{ X "\"pairs\":[[1,2],[3,-4]]}", "/pairs/1/1: the number -4 is out of range" },
	};

	expect_each(mistakes, COUNT(mistakes));
}

Test(conf, wrong_types)
{
	static const struct mistake mistakes[] = {
		{ "[]", "t.json:1:1: /: found a list; allowed: an object with the keys \"name\"" },
		{ "5", "t.json:1:1: /: found the number 5" },
		{ "{\"name\":5}", "t.json:1:9: /name: found the number 5; allowed: a string\n" },
		{ X "\"pause\":1}", "/pause: found the number 1; allowed: true or false\n" },
		{ X "\"pause\":\"yes\"}", "/pause: found \"yes\"; allowed: true or false\n" },
		{ X "\"seed\":\"1\"}", "/seed: found \"1\"; allowed: a whole number\n" },
		{ X "\"seed\":1.5}", "/seed: found the number 1.5; allowed: a whole number\n" },
		{ X "\"loss\":true}", "/loss: found true; allowed: a number from 0 to 1\n" },
		{ X "\"kind\":3}", "/kind: found the number 3; allowed: one of \"star\"" },
		{ X "\"link\":[]}",
		  "/link: found a list; allowed: an object with the keys \"rate\"" },
		{ X "\"jobs\":{}}", "/jobs: found an object; allowed: a list" },
		{ X "\"tags\":[\"a\",5]}", "/tags/1: found the number 5; allowed: a string\n" },
		{ X "\"schemes\":\"atp\"}", "/schemes: found \"atp\"; allowed: an object with" },
		{ X "\"schemes\":{\"atp\":true}}", "/schemes/atp: found true; allowed: an object" },
		{ X "\"jobs\":[{\"name\":\"j\",\"workers\":\"4\"}]}",
		  "/jobs/0/workers: found \"4\"; allowed: a whole number from 1 to 1000; or" },
		{ X "\"jobs\":[{\"name\":\"j\",\"workers\":false}]}",
		  "/jobs/0/workers: found false" },
		{ X "\"limits\":[[]]}", "/limits/0: found a list; allowed: one of \"none\"" },
	};

	expect_each(mistakes, COUNT(mistakes));
}

Test(conf, null_is_no_value)
{
	static const char nowhere[] = "null is not a value (leave out the key to get its default)";
	static const char *const texts[] = {
		"{\"name\":null}",
		X "\"seed\":null}",
		X "\"link\":null}",
		X "\"jobs\":null}",
		X "\"limits\":[null]}",
		X "\"schemes\":{\"atp\":null}}",
		X "\"jobs\":[{\"name\":\"j\",\"workers\":null}]}",
		"null",
	};

	for (size_t i = 0; i < COUNT(texts); i++)
		expect_mistakes(texts[i], strlen(texts[i]), 1, nowhere);
}

Test(conf, units)
{
	static const struct mistake mistakes[] = {
		{ X "\"buffer\":5}", "t.json:1:22: /buffer: found the number 5 without a unit; "
				     "allowed: a size with its "
				     "unit from \"1500B\" to \"64MB\", such as \"1MB\"\n" },
		{ X "\"buffer\":\"5000\"}", "/buffer: \"5000\" has no unit (units are B, kB" },
		{ X "\"buffer\":\"5Mb\"}", "/buffer: \"5Mb\" has an unknown unit (units are B" },
		{ X "\"buffer\":\"big\"}",
		  "/buffer: \"big\" does not start with a number; allowed" },
		{ X "\"buffer\":\"\"}", "/buffer: \"\" does not start with a number" },
		{ X "\"after\":\"0.0001ps\"}", "/after: \"0.0001ps\" is not a whole number of ps" },
		{ X "\"after\":\"9999999h\"}", "/after: \"9999999h\" is too large; allowed" },
		{ X "\"after\":[]}",
		  "/after: found a list; allowed: a time with its unit, such as" },
		{ X "\"link\":{\"rate\":10}}",
		  "t.json:1:28: /link/rate: found the number 10 without a unit; allowed: a rate "
		  "with "
		  "its unit from \"1Mbps\" to \"1Tbps\", such as \"10Gbps\"\n" },
		{ X "\"threshold\":85}", "/threshold: found the number 85 without a unit" },
		{ X "\"threshold\":\"85pkts\"}", "unknown unit (units are pkt, B" },
		{ X "\"threshold\":\"8.5pkt\"}", "unknown unit" },
		{ X "\"jobs\":[{\"name\":\"j\",\"size\":5000}]}",
		  "/jobs/0/size: found the number 5000 without a unit; allowed: a size with its "
		  "unit, "
		  "at least \"1B\", such as \"40MB\"; or an object with the keys \"cdf\"" },
		{ X "\"limits\":[5]}",
		  "/limits/0: found the number 5 without a unit; allowed: one" },
	};

	expect_each(mistakes, COUNT(mistakes));
}

Test(conf, unknown_keys_and_words)
{
	static const struct mistake mistakes[] = {
		{ X "\"buffr\":5}",
		  "t.json:1:13: /buffr: unknown key \"buffr\" (did you mean \"buffer\"?); allowed "
		  "here: \"name\", \"pause\"" },
		{ X "\"Seed\":5}", "unknown key \"Seed\" (did you mean \"seed\"?)" },
		{ X "\"xyzzy\":5}", "/xyzzy: unknown key \"xyzzy\"; allowed here: " },
		{ X "\"link\":{\"$schema\":\"x\"}}", "t.json:1:21: /link/$schema: unknown key" },
		{ X "\n \"link\":{\"dealy\":\"1us\"}}",
		  "t.json:2:10: /link/dealy: unknown key \"dealy\" (did you mean \"delay\"?); "
		  "allowed "
		  "here: \"rate\", \"delay\"\n" },
		{ X "\"a/b~c\":1}", "/a~1b~0c: unknown key \"a/b~c\"; allowed" },
		{ "{\"name\":\"a\\nb\"}",
		  "t.json:1:9: /name: \"a\\nb\" has a control character; allowed: a string" },
		{ X "\"\\u001b[2J\":1}", "t.json:1:13: /?[2J: unknown key \"\\u001b[2J\"" },
		{ X "\"schemes\":{\"pnama\":{}}}",
		  "/schemes/pnama: unknown key \"pnama\" (did you mean \"panama\"?); allowed here: "
		  "\"panama\", \"atp\"\n" },
		{ X "\"kind\":\"fattree\"}", "t.json:1:20: /kind: found \"fattree\" (did you mean "
					     "\"fat-tree\"?); allowed: one "
					     "of \"star\", \"leaf-spine\", \"fat-tree\"\n" },
		{ X "\"limits\":[\"nine\"]}",
		  "/limits/0: found \"nine\" (did you mean \"none\"?); allowed: one of \"none\", "
		  "\"auto\"; or a size with its unit, at most \"1MB\"" },
		{ X "\"limits\":[\"2MB\"]}",
		  "/limits/0: \"2MB\" is out of range; allowed: one of \"none\"" },
		{ X "\"jobs\":[{\"name\":\"j\",\"size\":{\"min\":1,\"max\":2,\"x\":3}}]}",
		  "/jobs/0/size/x: unknown key \"x\"; allowed here: \"min\", \"max\"\n" },
	};

	expect_each(mistakes, COUNT(mistakes));
}

Test(conf, missing_keys)
{
	static const struct mistake mistakes[] = {
		{ "{}", "t.json:1:1: /: the key \"name\" is missing: a string\n" },
		{ X "\"jobs\":[{}]}", "t.json:1:21: /jobs/0: the key \"name\" is missing" },
		{ X "\"jobs\":[{\"name\":\"j\",\"workers\":{\"min\":3}}]}",
		  "t.json:1:43: /jobs/0/workers: the key \"max\" is missing: a whole number from 1 "
		  "to "
		  "1000\n" },
	};

	expect_each(mistakes, COUNT(mistakes));
}

Test(conf, duplicate_keys)
{
	static const struct mistake mistakes[] = {
		{ X "\n\"name\":\"y\"}", "t.json:2:1: /name: the key \"name\" is given twice, "
					 "first in line 1, column 2\n" },
		{ X "\"n\\u0061me\":\"y\"}",
		  "t.json:1:13: /name: the key \"name\" is given twice" },
		{ X "\"link\":{\"rate\":\"1Gbps\",\"delay\":\"1us\",\"rate\":\"1Gbps\"}}",
		  "t.json:1:50: /link/rate: the key \"rate\" is given twice, first in line 1, "
		  "column "
		  "21\n" },
	};

	expect_each(mistakes, COUNT(mistakes));
	expect_mistakes(X "\"name\":\"y\",\"name\":\"z\"}", 34, 2, "1:24: /name: the key \"name\"");
}

/* Numbers that cJSON 1.7.15 accepts although JSON does not allow them. */
Test(conf, numbers_that_are_no_numbers)
{
	static const struct mistake mistakes[] = {
		{ X "\"seed\":01}", "t.json:1:20: /: a number must not start with 0\n" },
		{ X "\"seed\":-01}", "t.json:1:20: /: a number must not start with 0\n" },
		{ X "\"seed\":+1}", "t.json:1:20: /: a number must not start with '+'\n" },
		{ X "\"seed\":.5}", "t.json:1:20: /: a number needs a digit before the point\n" },
		{ X "\"seed\":5.}", "t.json:1:20: /: a number needs a digit after the point\n" },
		{ X "\"seed\":1e}", "t.json:1:20: /: the exponent of this number has no digits\n" },
		{ X "\"seed\":-}", "t.json:1:20: /: a number needs a digit after '-'\n" },
		{ X "\"seed\":10Gbps}", "t.json:1:20: /: a number with a unit stands in quotes" },
		{ X "\"seed\":NaN}", "t.json:1:20: /: the word NaN must stand in double quotes\n" },
		{ X "\"loss\":1e999}", "t.json:1:20: /loss: the number 1e999 is too large\n" },
		{ X "\"loss\":1e-999}", "t.json:1:20: /loss: the number 1e-999 is too small\n" },
		{ X "\"seed\":9007199254740993}",
		  "t.json:1:20: /seed: the integer 9007199254740993 is beyond 2^53 - 1\n" },
		{ X "\"seed\":-9007199254740993}",
		  "/seed: the integer -9007199254740993 is beyond" },
		{ X "\"seed\":1234567890123456789012345678901234567890123456789012345678901234}",
		  "a number of more than 63 characters" },
	};

	expect_each(mistakes, COUNT(mistakes));
}

Test(conf, syntax)
{
	static const struct mistake mistakes[] = {
		{ "", "t.json:1:1: /: there is no JSON in this text: it is empty\n" },
		{ " \n ", "t.json:1:1: /: there is no JSON in this text" },
		{ "{} x", "t.json:1:4: /: text after the end of the document\n" },
		{ "{}{}", "t.json:1:3: /: text after the end" },
		{ "{\"name\":\"x\",}", "t.json:1:12: /: a comma before the closing '}'\n" },
		{ "{\"tags\":[1,\n2,\n]}", "t.json:2:2: /: a comma before the closing ']'\n" },
		{ "{\"a\":1 \"b\":2}",
		  "t.json:1:8: /: expected ',' or '}', found '\"' (is a comma" },
		{ "{\"a\" 1}", "t.json:1:6: /: expected ':' after the key, found '1'\n" },
		{ "{a:1}", "t.json:1:2: /: expected a key in double quotes\n" },
		{ "{'a':1}", "t.json:1:2: /: expected a key in double quotes\n" },
		{ "{\"a\":'x'}", "t.json:1:6: /: strings stand in double quotes, not in '...'\n" },
		{ "{\"a\":tru}", "t.json:1:6: /: the word tru must stand in double quotes\n" },
		{ "{\"a\":,}", "t.json:1:6: /: expected a value, found ','\n" },
		{ "{ // x\n}", "t.json:1:3: /: JSON has no comments; a key that starts with '_'" },
		{ "{\"a\":1 # x\n}", "t.json:1:8: /: JSON has no comments" },
		{ "{\"a\":\"x\n\"}",
		  "t.json:1:6: /: the closing quote of this string is missing\n" },
		{ "{\"a\":\"x\ty\"}", "t.json:1:8: /: control character 0x09 in a string\n" },
		{ "{\"a\":\"\\x\"}", "t.json:1:7: /: unknown escape \\x in a string\n" },
		{ "{\"a\":\"\\\xc3\xa9\"}",
		  "t.json:1:7: /: unknown escape \\\xc3\xa9 in a string\n" },
		{ "{\"a\":\"\\u12g4\"}", "t.json:1:7: /: \\u needs four hexadecimal digits\n" },
		{ "{\"a\":\"\\u0000\"}",
		  "t.json:1:7: /: a string cannot hold the character \\u0000" },
		{ "{\"a\":\"\\ud800x\"}", "t.json:1:7: /: half of a surrogate pair\n" },
		{ "{\"a\":\"\\udc00\"}", "t.json:1:7: /: half of a surrogate pair\n" },
		{ "{\"a\":\n[1, {",
		  "t.json:2:6: /: the text ends inside the object that starts in" },
		{ "{\"a\":", "t.json:1:6: /: the text ends where a value is expected\n" },
		{ "{\"a",
		  "t.json:1:4: /: the text ends inside the string that starts in line 1\n" },
		{ "{\"\xc3\xa9\": \xff}",
		  "t.json:1:7: /: the byte 0xff is not valid UTF-8 here\n" },
		{ "{\"\xc0\xaf\":1}", "t.json:1:3: /: the byte 0xc0 is not valid UTF-8" },
		{ "{\"\xed\xa0\x80\":1}", "t.json:1:3: /: the byte 0xed is not valid UTF-8" },
	};

	expect_each(mistakes, COUNT(mistakes));
}

Test(conf, nul_bytes)
{
	expect_mistakes("{\"name\":\"x\"}\0", 13, 1, "t.json:1:13: /: a NUL byte in the text\n");
	expect_mistakes("{\"na\0me\":\"x\"}", 13, 1, "t.json:1:5: /: a NUL byte in the text\n");
}

Test(conf, nesting)
{
	char deep[3000];

	memset(deep, '[', sizeof(deep));
	expect_mistakes(deep, sizeof(deep), 1, "t.json:1:65: /: nested deeper than 64 levels\n");
	memset(deep + 64, ']', 64);
	deep[128] = '\0';
	expect_mistakes(deep, 128, 1, "t.json:1:1: /: found a list; allowed: an object");
}

Test(conf, truncated_anywhere)
{
	char part[sizeof(full)];

	for (size_t length = 0; length < sizeof(full) - 1; length++) {
		struct sample s;
		struct conf_doc *doc;
		char *errors;

		memcpy(part, full, length);
		part[length] = '\0';
		doc = conf_parse("t.json", part, length, &sample_table, &s, NULL, 0);
		cr_expect_eq(conf_errors(doc), 1, "%zu bytes", length);
		errors = errors_of(doc, false);
		cr_expect_eq(strncmp(errors, "t.json:", 7), 0);
		free(errors);
		conf_doc_free(doc);
	}
}

Test(conf, byte_order_mark)
{
	expect_mistakes("\xef\xbb\xbf{\"name\":\"x\"}", 15, 0, "");
}

Test(conf, all_mistakes_in_the_order_of_the_text)
{
	struct conf_doc *doc = parse("{\n\"buffer\": 1,\n\"colour\": 2,\n\"seed\": 1e999\n}", NULL);
	char *errors = errors_of(doc, false);

	cr_expect_eq(conf_errors(doc), 4);
	cr_expect_eq(strncmp(errors, "t.json:1:1: /: the key \"name\" is missing", 40), 0);
	cr_expect(strstr(errors, "2:11: /buffer") < strstr(errors, "3:1: /colour"));
	cr_expect(strstr(errors, "3:1: /colour") < strstr(errors, "4:9: /seed"));
	cr_expect(strstr(errors, "    \"buffer\": 1,\n              ^\n"), "%s", errors);
	free(errors);
	conf_doc_free(doc);
}

Test(conf, messages_as_json)
{
	struct conf_doc *doc = parse(X "\n\"seed\": \"\\u001b\"}", NULL);
	char *errors = errors_of(doc, true);
	cJSON *list = cJSON_Parse(errors);
	const cJSON *first = cJSON_GetArrayItem(list, 0);

	cr_assert_eq(cJSON_GetArraySize(list), 1);
	cr_expect_str_eq(cJSON_GetObjectItem(first, "file")->valuestring, "t.json");
	cr_expect_eq(cJSON_GetObjectItem(first, "line")->valueint, 2);
	cr_expect_eq(cJSON_GetObjectItem(first, "column")->valueint, 9);
	cr_expect_str_eq(cJSON_GetObjectItem(first, "pointer")->valuestring, "/seed");
	cr_expect_str_eq(cJSON_GetObjectItem(first, "message")->valuestring,
			 "found \"\\u001b\"; allowed: a whole number");
	cJSON_Delete(list);
	free(errors);
	conf_doc_free(doc);
}

Test(conf, too_many_messages)
{
	char text[4096];
	size_t length = (size_t)snprintf(text, sizeof(text), "%s", X "\"tags\":[0");
	struct conf_doc *doc;
	char *errors;

	for (int i = 1; i < 150; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, ",%d", i);
	snprintf(text + length, sizeof(text) - length, "]}");
	doc = parse(text, NULL);
	errors = errors_of(doc, false);
	cr_expect_eq(conf_errors(doc), 150);
	cr_expect(strstr(errors, "t.json: and 50 more\n"));
	free(errors);
	conf_doc_free(doc);
}

Test(conf, semantic_errors)
{
	struct sample s;
	struct conf_doc *doc = parse(full, &s);
	char *errors;

	conf_error(doc, "/jobs/1/workers/max", "%d hosts are too few", 5);
	conf_error(doc, "/jobs/3/workers", "defaulted");
	conf_error(doc, "/jobs/9", "no such job");
	conf_error(doc, "", "all of it");
	errors = errors_of(doc, false);
	cr_expect_eq(conf_errors(doc), 4);
	cr_expect(strstr(errors, "t.json:9:51: /jobs/1/workers/max: 5 hosts are too few\n"), "%s",
		  errors);
	cr_expect(strstr(errors, "t.json:12:5: /jobs/3/workers: defaulted\n"));
	cr_expect(strstr(errors, "t.json:7:11: /jobs/9: no such job\n"));
	cr_expect_eq(strncmp(errors, "t.json:1:1: /: all of it\n", 25), 0);
	free(errors);
	conf_doc_free(doc);
}

static const char small[] = "{\"name\":\"x\",\"jobs\":[{\"name\":\"a\",\"workers\":2}]}";

static struct conf_doc *parse_set(struct sample *s, const char *pointer, const char *value)
{
	struct conf_override set = { pointer, value };

	return conf_parse("t.json", small, strlen(small), &sample_table, s, &set, 1);
}

Test(conf, overrides_replace_and_create)
{
	struct sample s;
	struct conf_doc *doc = parse_set(&s, "/jobs/0/workers", "[3, 4]");

	cr_assert_eq(conf_errors(doc), 0);
	cr_expect_eq(((struct sample_job *)s.jobs.items)->workers.hosts.count, 2);
	conf_doc_free(doc);
	doc = parse_set(&s, "/schemes/panama/trees", "9");
	cr_assert_eq(conf_errors(doc), 0);
	cr_expect_eq(((struct sample_panama *)s.schemes[0])->trees, 9);
	conf_doc_free(doc);
	doc = parse_set(&s, "/jobs/-/name", "b");
	cr_assert_eq(conf_errors(doc), 0);
	cr_expect_eq(s.jobs.count, 2);
	cr_expect_str_eq(((struct sample_job *)s.jobs.items)[1].name, "b");
	conf_doc_free(doc);
	doc = parse_set(&s, "/jobs/0", "{\"name\":\"z\"}");
	cr_assert_eq(conf_errors(doc), 0);
	cr_expect_str_eq(((struct sample_job *)s.jobs.items)[0].name, "z");
	conf_doc_free(doc);
}

Test(conf, override_values_are_json_or_words)
{
	struct sample s;
	struct conf_doc *doc = parse_set(&s, "/after", "20s");

	cr_assert_eq(conf_errors(doc), 0);
	cr_expect_eq(s.after, 20 * PS_PER_S);
	cr_expect(s.after_given);
	conf_doc_free(doc);
	doc = parse_set(&s, "/after", "\"5s\"");
	cr_assert_eq(conf_errors(doc), 0);
	cr_expect_eq(s.after, 5 * PS_PER_S);
	conf_doc_free(doc);
	doc = parse_set(&s, "/name", "");
	cr_assert_eq(conf_errors(doc), 0);
	cr_expect_str_eq(s.name, "");
	conf_doc_free(doc);
}

Test(conf, wrong_overrides)
{
	static const struct {
		const char *pointer, *value, *message;
	} wrong[] = {
		{ "seed", "1", "command line: --set seed: a pointer starts with '/'" },
		{ "", "1", "command line: --set : a pointer starts with '/'" },
		{ "/jobs/1/workers", "1",
		  "command line: --set /jobs/1/workers: there is no item \"1\" in a list of 1 "
		  "(\"-\" "
		  "appends one)\n" },
		{ "/jobs/00", "1", "there is no item \"00\"" },
		{ "/jobs/99999999999999999999", "1", "there is no item \"999" },
		{ "/name/x", "1", "the parent of \"x\" is no object or list\n" },
		{ "/na~2me", "1", "in a pointer ~0 stands for ~ and ~1 for /\n" },
		{ "/sed", "1", "command line: --set /sed: unknown key \"sed\" (did you mean" },
		{ "/seed", "x",
		  "command line: --set /seed: found \"x\"; allowed: a whole number\n" },
		{ "/seed", "01", "command line: --set /seed: found \"01\"; allowed" },
		{ "/loss", "1e999", "command line: --set /loss: the number 1e999 is too large\n" },
		{ "/seed", "\xff", "command line: --set /seed: the value is not valid UTF-8\n" },
		{ "/jobs/-", "{}",
		  "command line: --set /jobs/-: /jobs/1: the key \"name\" is miss" },
		{ "/link", "{\"rate\":\"1Gbps\",\"rate\":\"1Gbps\"}",
		  "command line: --set /link: /link/rate: the key \"rate\" is given twice" },
	};

	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct conf_doc *doc = parse_set(NULL, wrong[i].pointer, wrong[i].value);
		char *errors = errors_of(doc, false);

		cr_expect_eq(conf_errors(doc), 1, "%s", errors);
		cr_expect(strstr(errors, wrong[i].message), "%s: %s", wrong[i].message, errors);
		free(errors);
		conf_doc_free(doc);
	}
}

static void expect_round_trip(const char *text)
{
	struct sample s;
	struct conf_doc *doc = parse(text, &s);
	char *first = conf_resolved_json(doc, true), *second, *compact;
	struct conf_doc *again = parse(first, &s);

	second = conf_resolved_json(again, true);
	compact = conf_resolved_json(again, false);
	cr_expect_eq(conf_errors(again), 0);
	cr_expect_str_eq(first, second);
	cr_expect(!strchr(compact, '\n'));
	cr_expect_eq(conf_resolved_hash(doc), conf_resolved_hash(again));
	conf_doc_free(doc);
	conf_doc_free(again);
	free(first);
	free(second);
	free(compact);
}

Test(conf, resolved_resolves_to_itself)
{
	expect_round_trip(full);
	expect_round_trip(small);
	expect_round_trip("{\"name\":\"\\\"\\\\\",\"any\":\"\\u0001\\\"\\\\\\n\\u007f\",\"loss\":0."
			  "30000000000000004}");
	expect_round_trip("{\"name\":\"x\",\"loss\":5e-324,\"seed\":-9007199254740991}");
	expect_round_trip("{\"name\":\"x\",\"jobs\":[],\"tags\":[]}");
}

Test(conf, resolved_is_complete_and_normal)
{
	struct sample s;
	struct conf_doc *doc =
		parse("{\"name\":\"x\",\"loss\":0.10000000000000001,\"buffer\":\"1500KB\"}", &s);
	char *text = conf_resolved_json(doc, false);

	cr_expect_str_eq(
		text,
		"{\"name\":\"x\",\"pause\":true,\"seed\":1,\"loss\":0.1,\"kind\":\"fat-tree\","
		"\"buffer\":\"1.5MB\",\"threshold\":\"85pkt\","
		"\"link\":{\"rate\":\"10Gbps\",\"delay\":\"1us\"},\"jobs\":[],"
		"\"pairs\":[[4,0],[5,1]],\"limits\":[\"auto\"],"
		"\"schemes\":{\"panama\":{\"trees\":4,\"memory\":\"64MiB\"},"
		"\"atp\":{\"up\":{\"rate\":\"1Gbps\",\"delay\":\"1us\"},"
		"\"down\":{\"rate\":\"10Gbps\",\"delay\":\"1us\"}}}}");
	free(text);
	conf_doc_free(doc);
}

Test(conf, hash_is_of_the_meaning)
{
	struct sample s;
	struct conf_doc *a = parse("{\"name\":\"x\",\"buffer\":\"1MB\"}", &s);
	struct conf_doc *b = parse("{ \"_\": 1, \"buffer\": \"1000 KB\", \"name\": \"x\" }", &s);
	struct conf_doc *c = parse("{\"name\":\"x\",\"buffer\":\"2MB\"}", &s);

	cr_expect_eq(conf_resolved_hash(a), conf_resolved_hash(b));
	cr_expect_neq(conf_resolved_hash(a), conf_resolved_hash(c));
	conf_doc_free(a);
	conf_doc_free(b);
	conf_doc_free(c);
}

Test(conf, explains_where_values_come_from)
{
	struct sample s;
	struct conf_doc *doc = parse_set(&s, "/seed", "5");
	char *text = explained(doc, false), *json = explained(doc, true);
	cJSON *list = cJSON_Parse(json);

	cr_expect(strstr(text, "/seed                    5              command line\n"), "%s",
		  text);
	cr_expect(strstr(text, "t.json:1\n"));
	cr_expect(strstr(text, "default: RFC 3439\n"));
	cr_expect(strstr(text, "default: ATP, table 1\n"));
	cr_expect(strstr(text, "[[4,0],[5,1]]"));
	cr_expect(cJSON_IsArray(list));
	cr_expect(strstr(json, "\"origin\": \"command line\""));
	cr_expect(strstr(json, "\"source\": \"RFC 3439\""));
	cJSON_Delete(list);
	free(text);
	free(json);
	conf_doc_free(doc);
}

Test(conf, suggestions)
{
	static const char *const words[] = { "workers", "all_reduce", "k", "name", NULL };

	cr_expect_str_eq(conf_suggest("wrokers", words), "workers");
	cr_expect_str_eq(conf_suggest("worker", words), "workers");
	cr_expect_str_eq(conf_suggest("all-reduce", words), "all_reduce");
	cr_expect_str_eq(conf_suggest("NAME", words), "name");
	cr_expect_null(conf_suggest("x", words));
	cr_expect_null(conf_suggest("", words));
	cr_expect_null(conf_suggest("something", words));
}

static cJSON *schema_of_sample(void)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	cJSON *schema;

	conf_schema(&sample_table, "Scenario", to);
	fclose(to);
	schema = cJSON_Parse(text);
	free(text);
	cr_assert_not_null(schema);
	return schema;
}

/* The node at "a/b/c". */
static const cJSON *at(const cJSON *node, const char *path)
{
	while (node && *path) {
		size_t length = strcspn(path, "/");
		char key[64];

		snprintf(key, sizeof(key), "%.*s", (int)length, path);
		node = cJSON_GetObjectItemCaseSensitive(node, key);
		path += length + (path[length] == '/');
	}
	return node;
}

Test(conf, schema)
{
	cJSON *schema = schema_of_sample();

	cr_expect_str_eq(at(schema, "$schema")->valuestring,
			 "https://json-schema.org/draft/2020-12/schema");
	cr_expect_str_eq(at(schema, "title")->valuestring, "Scenario");
	cr_expect(cJSON_IsFalse(at(schema, "additionalProperties")));
	cr_expect_not_null(at(schema, "patternProperties/^_"));
	cr_expect_not_null(at(schema, "properties/$schema"));
	cr_expect_eq(cJSON_GetArraySize(at(schema, "required")), 1);
	cr_expect_str_eq(at(schema, "properties/link/$ref")->valuestring, "#/$defs/link");
	cr_expect_str_eq(at(schema, "$defs/atp/properties/up/$ref")->valuestring, "#/$defs/link");
	cr_expect(cJSON_IsFalse(at(schema, "$defs/link/additionalProperties")));
	cr_expect_str_eq(at(schema, "$defs/link/properties/delay/default")->valuestring, "1us");
	cr_expect(strstr(at(schema, "$defs/link/properties/delay/description")->valuestring,
			 "DCTCP, section 4"));
	cr_expect_eq(at(schema, "properties/loss/maximum")->valuedouble, 1);
	cr_expect_eq(cJSON_GetArraySize(at(schema, "properties/kind/enum")), 3);
	cr_expect_eq(at(schema, "properties/pairs/items/minItems")->valueint, 2);
	cr_expect_eq(cJSON_GetArraySize(at(schema, "$defs/job/properties/workers/oneOf")), 3);
	cr_expect_eq(cJSON_GetArraySize(at(schema, "$defs/job/properties/model/anyOf")), 2);
	cr_expect_not_null(at(schema, "$defs/schemes/properties/panama/$ref"));
	cr_expect_not_null(at(schema, "properties/settings/patternProperties/^_"));
	cr_expect(strstr(at(schema, "properties/threshold/pattern")->valuestring, "pkt|"));
	cJSON_Delete(schema);
}

Test(conf, unreadable_files)
{
	static const char *const paths[] = { "/nonexistent/x.json", "/" };

	for (size_t i = 0; i < COUNT(paths); i++) {
		struct sample s;
		struct conf_doc *doc = conf_load(paths[i], &sample_table, &s, NULL, 0);
		char *errors = errors_of(doc, false), *resolved = conf_resolved_json(doc, true);

		cr_expect(conf_io_error(doc));
		cr_expect_eq(conf_errors(doc), 1);
		cr_expect(strstr(errors, ": cannot be read: "));
		cr_expect_str_eq(resolved, "{}");
		free(errors);
		free(resolved);
		conf_doc_free(doc);
	}
}

static const struct conf_row broken_rows[] = {
	{ .name = "seed", .type = CONF_INT, .imin = 1, .imax = 5, .def = "6" },
	{ 0 },
};
static const struct conf_table broken_table = { "broken", broken_rows, sizeof(int64_t), NULL };

Test(conf, a_bad_default_is_a_bug, .signal = SIGABRT)
{
	int64_t out;

	conf_parse("t.json", "{}", 2, &broken_table, &out, NULL, 0);
}

Test(conf, free_keys_and_any_value)
{
	static const char text[] =
		"{ \"name\": \"n\", \"any\": { \"a\": [1, 2.50, \"x\"] }, "
		"\"settings\": { \"/jobs/0\": 5, \"_why\": 1, \"b c\": \"6\" } }";
	struct sample s;
	struct conf_doc *doc = parse(text, &s), *again;
	char *resolved = conf_resolved_json(doc, false), *second;
	const char *const *values = s.settings.items;

	cr_assert_eq(conf_errors(doc), 0);
	cr_expect_str_eq(s.any, "{\"a\":[1,2.5,\"x\"]}");
	cr_assert_eq(s.settings.count, 2);
	cr_expect_str_eq(s.settings.keys[0], "/jobs/0");
	cr_expect_str_eq(values[0], "5");
	cr_expect_str_eq(s.settings.keys[1], "b c");
	cr_expect_str_eq(values[1], "\"6\"");
	again = parse(resolved, &s);
	second = conf_resolved_json(again, false);
	cr_expect_str_eq(resolved, second);
	free(second);
	free(resolved);
	conf_doc_free(again);
	conf_doc_free(doc);
}

Test(conf, mistakes_with_free_keys)
{
	static const struct mistake mistakes[] = {
		{ "{ \"name\": \"n\", \"any\": null }", "/any: null is not a value" },
		{ "{ \"name\": \"n\", \"settings\": [] }",
		  "/settings: found a list; allowed: an object" },
		{ "{ \"name\": \"n\", \"settings\": { \"a\": null } }",
		  "/settings/a: null is not a value" },
		{ "{ \"name\": \"n\", \"settings\": { \"a\": 1, \"a\": 2 } }", "is given twice" },
		{ "{ \"name\": \"n\", \"settings\": { \"a\": 1, \"b\": 2, \"c\": 3, \"d\": 4 } }",
		  "4 members; allowed: a number of members, at most 3" },
	};

	expect_each(mistakes, COUNT(mistakes));
}

/* For a caller that reports overrides in its own words. */
Test(conf, mistakes_one_by_one)
{
	static const char text[] = "{ \"name\": \"n\", \"seed\": \"x\" }";
	const struct conf_override set[] = { { "/pause", "false" }, { "/loss", "7" } };
	struct conf_doc *doc =
		conf_parse("t.json", text, strlen(text), &sample_table, NULL, set, 2);
	struct conf_mistake mistake;

	cr_assert(conf_mistake(doc, 0, &mistake));
	cr_expect_str_eq(mistake.pointer, "/seed");
	cr_expect_eq(mistake.override, 0);
	cr_assert(conf_mistake(doc, 1, &mistake));
	cr_expect_str_eq(mistake.pointer, "/loss");
	cr_expect_eq(mistake.override, 2);
	cr_expect(!conf_mistake(doc, 2, &mistake));
	conf_doc_free(doc);
}

/* A warning is reported with its place, but makes nothing invalid. */
Test(conf, warnings)
{
	const char *text = "{\n  \"name\": \"x\"\n}";
	struct conf_doc *doc =
		conf_parse("t.json", text, strlen(text), &sample_table, NULL, NULL, 0);
	struct conf_mistake mistake;
	char *told;

	cr_assert_eq(conf_errors(doc), 0);
	conf_warn(doc, "/name", "%s is short", "x");
	cr_expect_eq(conf_errors(doc), 0);
	cr_expect_not(conf_mistake(doc, 0, &mistake));
	told = errors_of(doc, false);
	cr_expect_not_null(strstr(told, "t.json:2:11: /name: warning: x is short\n"), "%s", told);
	free(told);
	told = errors_of(doc, true);
	cr_expect_not_null(strstr(told, "\"severity\": \"warning\""), "%s", told);
	free(told);
	for (int i = 0; i < 1000; i++) /* more than are kept */
		conf_warn(doc, "/name", "again");
	cr_expect_eq(conf_errors(doc), 0);
	conf_doc_free(doc);
}

/* A mistake is told apart from the warnings before it. */
Test(conf, mistake_after_a_warning)
{
	static const char text[] = "{ \"name\": \"x\" }";
	struct conf_doc *doc =
		conf_parse("t.json", text, strlen(text), &sample_table, NULL, NULL, 0);
	struct conf_mistake mistake;

	conf_warn(doc, "/name", "is short");
	conf_error(doc, "/name", "is wrong");
	cr_expect_eq(conf_errors(doc), 1);
	cr_assert(conf_mistake(doc, 0, &mistake));
	cr_expect_str_eq(mistake.text, "is wrong");
	cr_expect(!conf_mistake(doc, 1, &mistake));
	conf_doc_free(doc);
}
