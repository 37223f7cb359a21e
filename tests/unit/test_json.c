#include "data/json.h"

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Finishes `json`, which must be `want`, and frees. */
static void expect(struct json *json, const char *want)
{
	char *text = json_finish(json);
	cr_assert_str_eq(text, want);
	free(text);
}

Test(json, values_of_every_kind)
{
	struct json j;
	json_init(&j);
	json_open_object(&j, NULL);
	json_u64(&j, "most", UINT64_MAX);
	json_i64(&j, "least", INT64_MIN);
	json_bool(&j, "yes", true);
	json_bool(&j, "no", false);
	json_null(&j, "nothing");
	json_hex64(&j, "digest", 0xabc);
	json_string(&j, "text", "x");
	json_string(&j, "no_text", NULL);
	json_close_object(&j);
	expect(&j, "{\n"
		   "  \"most\": 18446744073709551615,\n"
		   "  \"least\": -9223372036854775808,\n"
		   "  \"yes\": true,\n"
		   "  \"no\": false,\n"
		   "  \"nothing\": null,\n"
		   "  \"digest\": \"0000000000000abc\",\n"
		   "  \"text\": \"x\",\n"
		   "  \"no_text\": null\n"
		   "}\n");
}

Test(json, reals)
{
	struct json j;
	json_init(&j);
	json_open_array(&j, NULL);
	json_real(&j, NULL, 0.1);
	json_real(&j, NULL, 1.0 / 3);
	json_real(&j, NULL, 1e300);
	json_real(&j, NULL, (double)NAN);
	json_real(&j, NULL, (double)INFINITY);
	json_close_array(&j);
	expect(&j, "[\n  0.1,\n  0.3333333333333333,\n  1e+300,\n  null,\n  null\n]\n");
}

Test(json, nesting_and_empty)
{
	struct json j;
	json_init(&j);
	json_open_object(&j, NULL);
	json_open_array(&j, "list");
	json_open_object(&j, NULL);
	json_close_object(&j);
	json_open_array(&j, NULL);
	json_u64(&j, NULL, 1);
	json_u64(&j, NULL, 2);
	json_close_array(&j);
	json_close_array(&j);
	json_open_object(&j, "after");
	json_close_object(&j);
	json_close_object(&j);
	expect(&j, "{\n"
		   "  \"list\": [\n"
		   "    {},\n"
		   "    [\n"
		   "      1,\n"
		   "      2\n"
		   "    ]\n"
		   "  ],\n"
		   "  \"after\": {}\n"
		   "}\n");
}

Test(json, outermost_value_may_be_a_scalar)
{
	struct json j;
	json_init(&j);
	json_u64(&j, NULL, 7);
	expect(&j, "7\n");
}

Test(json, strings_are_escaped)
{
	struct json j;
	json_init(&j);
	json_open_object(&j, NULL);
	json_string(&j, "a\"key", "quote \" backslash \\ slash / \n\t\r\b\f \x01 \x7f");
	json_close_object(&j);
	expect(&j, "{\n  \"a\\\"key\": \"quote \\\" backslash \\\\ slash / "
		   "\\n\\t\\r\\b\\f \\u0001 \\u007f\"\n}\n");
}

Test(json, text_is_utf8)
{
	static const char *const good[] = { "µ", "≥", "😀", "\xf4\x8f\xbf\xbf" };
	static const char *const bad[] = {
		"\x80",         /* no start */
		"\xc3",         /* cut off */
		"\xe2\x89",     /* cut off: two bytes */
		"\xc0\xaf",     /* overlong */
		"\xe0\x80\xaf", /* overlong: three bytes */
		"\xed\xa0\x80", /* surrogate: three bytes */
		"\xf5\x80\x80\x80",
		"\xf4\x90\x80\x80", /* above U+10FFFF */
	};
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct json j;
		char want[32];
		json_init(&j);
		json_string(&j, NULL, good[i]);
		snprintf(want, sizeof(want), "\"%s\"\n", good[i]);
		expect(&j, want);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct json j;
		char want[64] = "\"";
		json_init(&j);
		json_string(&j, NULL, bad[i]);
		for (size_t k = 0; k < strlen(bad[i]); k++) /* each byte by itself */
			memcpy(want + 1 + 3 * k, "\xef\xbf\xbd", 4);
		memcpy(want + strlen(want), "\"\n", 3);
		expect(&j, want);
	}
}

Test(json, raw_text_is_indented)
{
	struct json j;
	json_init(&j);
	json_open_object(&j, NULL);
	json_raw(&j, "scenario", "{\n  \"a\": 1\n}\n");
	json_close_object(&j);
	expect(&j, "{\n  \"scenario\": {\n    \"a\": 1\n  }\n}\n");
}

Test(json, a_value_without_key_in_an_object_is_a_bug, .signal = SIGABRT)
{
	struct json j;
	json_init(&j);
	json_open_object(&j, NULL);
	json_u64(&j, NULL, 1);
}

Test(json, an_open_object_at_the_end_is_a_bug, .signal = SIGABRT)
{
	struct json j;
	json_init(&j);
	json_open_object(&j, NULL);
	json_finish(&j);
}
