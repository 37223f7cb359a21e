/* Any bytes as a scenario: no crash, no leak, and what is accepted resolves to itself.
 *
 *   clang -fsanitize=fuzzer,address,undefined ... tests/fuzz/fuzz_conf.c
 *   ./fuzz_conf -max_total_time=60 NEW_DIR tests/fuzz/corpus/conf
 * Covers: sim/conf/json_scan.c sim/conf/check.c sim/conf/bind.c sim/conf/scalar.c
 * sim/conf/oneof.c sim/conf/override.c sim/conf/place.c */
#include "../unit/conf_sample.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print_all(const struct conf_doc *doc, FILE *sink)
{
	conf_print_errors(doc, sink, false);
	conf_print_errors(doc, sink, true);
	conf_explain(doc, sink, false);
	conf_explain(doc, sink, true);
}

static void check_round_trip(const struct conf_doc *doc)
{
	struct sample sample;
	char *first = conf_resolved_json(doc, true);
	struct conf_doc *again =
		conf_parse("again", first, strlen(first), &sample_table, &sample, NULL, 0);
	char *second = conf_resolved_json(again, true);

	if (conf_errors(again) > 0 || strcmp(first, second))
		abort();
	free(first);
	free(second);
	conf_doc_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* What stands behind a NUL byte is also tried as a --set. */
	const uint8_t *cut = size > 0 ? memchr(data, 0, size) : NULL;
	size_t length = cut && size - (size_t)(cut - data) > 1 ? (size_t)(cut - data) : size;
	struct conf_override set = { 0 };
	char *pointer = NULL, *value;
	struct conf_doc *doc;
	FILE *sink = fopen("/dev/null", "w");

	if (!sink)
		abort();
	if (length < size) {
		pointer = strndup((const char *)data + length + 1, size - length - 1);
		value = strchr(pointer, '=');
		if (value)
			*value++ = '\0';
		set.pointer = pointer;
		set.value = value ? value : "";
	}
	doc = conf_parse("fuzz", (const char *)data, length, &sample_table, NULL, &set,
			 pointer ? 1 : 0);
	print_all(doc, sink);
	if (conf_errors(doc) == 0)
		check_round_trip(doc);
	conf_error(doc, "/jobs/0/workers/3", "semantic");
	conf_print_errors(doc, sink, false);
	conf_doc_free(doc);
	free(pointer);
	fclose(sink);
	return 0;
}
