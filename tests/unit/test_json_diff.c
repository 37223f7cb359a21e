/* Differences of JSON values by pointer. */
#include "lab/json_diff.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

/* All differences of two texts, one a line. */
static void expect(const char *a, const char *b, const char *want)
{
	struct json_diff diff = { 0 };
	cJSON *x = cJSON_Parse(a), *y = cJSON_Parse(b);
	char *text = NULL;
	size_t length;
	FILE *to = open_memstream(&text, &length);
	cr_assert(x && y, "%s %s", a, b);
	json_diff_add(&diff, "", x, y);
	for (size_t i = 0; i < diff.count; i++) {
		char *was = json_diff_text(diff.items[i].a, "nothing");
		char *is = json_diff_text(diff.items[i].b, "nothing");
		fprintf(to, "%s %s %s\n", diff.items[i].pointer, was, is);
		free(was);
		free(is);
	}
	fclose(to);
	cr_expect_str_eq(text, want);
	free(text);
	json_diff_release(&diff);
	cJSON_Delete(x);
	cJSON_Delete(y);
}

Test(json_diff, equal_values_have_none)
{
	expect("{\"a\":[1,{\"b\":null}],\"c\":\"x\"}", "{\"c\":\"x\",\"a\":[1,{\"b\":null}]}", "");
}

Test(json_diff, members_and_items)
{
	expect("{\"a\":1,\"b\":{\"c\":[1,2,3]},\"d\":true}",
	       "{\"a\":2,\"b\":{\"c\":[1,5]},\"e\":null}",
	       "/a 1 2\n/b/c/1 2 5\n/b/c/2 3 nothing\n/d true nothing\n/e nothing null\n");
}

/* RFC 6901, section 3; keys that differ in case are two keys. */
Test(json_diff, escapes_and_case)
{
	expect("{\"a/b\":{\"m~n\":1},\"K\":1}", "{\"a/b\":{\"m~n\":2},\"k\":1}",
	       "/a~1b/m~0n 1 2\n/K 1 nothing\n/k nothing 1\n");
}

Test(json_diff, other_types_are_not_entered)
{
	expect("{\"a\":{\"b\":1},\"c\":1}", "{\"a\":[1],\"c\":\"1\"}",
	       "/a {\"b\":1} [1]\n/c 1 \"1\"\n");
}

/* The cut at 37 bytes would halve the last character: 36 bytes and "..." remain. */
Test(json_diff, long_values_are_cut_between_characters)
{
	expect("[\"12345678901234567890123456789012345\u00e9 and more\"]", "[1]",
	       "/0 \"12345678901234567890123456789012345... 1\n");
	expect("[\"12345678901234567890123456789012345678\"]", "[1]",
	       "/0 \"12345678901234567890123456789012345678\" 1\n");
}
