#include "conf/doc.h"

#include "base/fail.h"
#include "base/mem.h"
#include "base/plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_QUOTED_LINE 120 /* bytes; longer source lines are not shown */

void conf_reportv(struct conf_doc *doc, struct conf_place place, const char *pointer,
		  const char *fmt, va_list args)
{
	struct conf_buf text = { 0 };
	struct conf_message *message;

	if (doc->message_count == CONF_MAX_MESSAGES) {
		doc->dropped++;
		return;
	}
	conf_buf_addv(&text, fmt, args);
	doc->messages = array_reserve(doc->messages, doc->message_count, &doc->message_capacity,
				      sizeof(doc->messages[0]));
	message = &doc->messages[doc->message_count];
	*message = (struct conf_message){ .place = place,
					  .order = doc->message_count++,
					  .pointer = xstrdup(pointer),
					  .text = conf_buf_take(&text) };
}

void conf_report(struct conf_doc *doc, struct conf_place place, const char *pointer,
		 const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	conf_reportv(doc, place, pointer, fmt, args);
	va_end(args);
}

void conf_say(struct conf_doc *doc, enum conf_severity severity, const char *pointer,
	      const char *fmt, ...)
{
	size_t before = doc->message_count;
	struct conf_place place = { .offset = CONF_NOWHERE };
	va_list args;

	SIM_BUG_ON(severity != CONF_ERROR && conf_errors(doc));
	if (before < CONF_MAX_MESSAGES) /* else the message is dropped; finding places is slow */
		place = conf_place_of_pointer(doc, pointer);
	va_start(args, fmt);
	conf_reportv(doc, place, pointer, fmt, args);
	va_end(args);
	if (severity == CONF_ERROR)
		return;
	doc->remarks = doc->message_count + doc->dropped; /* all, as there are no errors */
	doc->warnings += severity == CONF_WARNING;
	if (doc->message_count > before)
		doc->messages[before].severity = severity;
}

static const char *const severity_names[] = {
	[CONF_ERROR] = "error", [CONF_WARNING] = "warning", [CONF_NOTE] = "note"
};

static bool find_message(const struct conf_doc *doc, enum conf_severity severity, size_t index,
			 struct conf_mistake *mistake)
{
	for (size_t i = 0; i < doc->message_count; i++) {
		const struct conf_message *message = &doc->messages[i];

		if (message->severity != severity || index--)
			continue;
		*mistake = (struct conf_mistake){ .pointer = message->pointer,
						  .text = message->text,
						  .override = message->place.override_index };
		return true;
	}
	return false;
}

bool conf_mistake(const struct conf_doc *doc, size_t index, struct conf_mistake *mistake)
{
	return find_message(doc, CONF_ERROR, index, mistake);
}

bool conf_warning(const struct conf_doc *doc, size_t index, struct conf_mistake *mistake)
{
	return find_message(doc, CONF_WARNING, index, mistake);
}

static int compare_sizes(size_t a, size_t b)
{
	return (a > b) - (a < b);
}

/* Orders messages: the file from top to bottom, then the command line from left to right. */
static int compare_messages(const void *a, const void *b)
{
	const struct conf_message *x = *(const struct conf_message *const *)a;
	const struct conf_message *y = *(const struct conf_message *const *)b;
	int order = compare_sizes(x->place.override_index, y->place.override_index);

	if (order == 0 && x->place.override_index == 0) /* CONF_NOWHERE + 1 is 0, so it is first */
		order = compare_sizes(x->place.offset + 1, y->place.offset + 1);
	return order != 0 ? order : compare_sizes(x->order, y->order);
}

static const struct conf_message **sorted_messages(const struct conf_doc *doc)
{
	const struct conf_message **sorted = xcalloc(doc->message_count + 1, sizeof(*sorted));

	for (size_t i = 0; i < doc->message_count; i++)
		sorted[i] = &doc->messages[i];
	qsort(sorted, doc->message_count, sizeof(*sorted), compare_messages);
	return sorted;
}

/* Prints the line of the source with a caret below the place, if a terminal can show it. */
static void print_source(const char *text, size_t column, FILE *to)
{
	size_t length = strcspn(text, "\r\n");

	if (length == 0 || length > MAX_QUOTED_LINE ||
	    conf_utf8_mistake(text, length) != CONF_NOWHERE)
		return;
	for (size_t i = 0; i < length; i++)
		if (((unsigned char)text[i] < 0x20 && text[i] != '\t') || text[i] == 0x7f)
			return;
	fprintf(to, "    %.*s\n    ", (int)length, text);
	for (; column > 1; column--, text++) {
		fputc(*text == '\t' ? '\t' : ' ', to);
		while (((unsigned char)text[0] & 0x80) && conf_utf8_continues(text[1]))
			text++; /* all bytes of a character are one column */
	}
	fputs("^\n", to);
}

/* Prints a pointer or a message, with control characters of ASCII replaced by '?'. */
static void print_plain(const char *text, FILE *to)
{
	char *plain = xstrdup(text);

	for (char *p = plain; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	fputs(plain, to);
	free(plain);
}

static void print_text(const struct conf_doc *doc, const struct conf_message *message, FILE *to)
{
	const char *source = NULL, *pointer = message->pointer;
	size_t line, column = 0;
	bool pointer_told = false; /* the place, which is printed first, includes the pointer */

	if (message->place.override_index > 0) {
		const char *set = doc->override_pointers[message->place.override_index - 1];

		fprintf(to, "command line: --set %s: ", set);
		pointer_told = !strcmp(set, pointer);
	} else if (message->place.offset == CONF_NOWHERE) {
		fprintf(to, "%s: ", doc->name);
		pointer_told = !*pointer;
	} else {
		source = conf_position(doc->text, message->place.offset, &line, &column);
		fprintf(to, "%s:%zu:%zu: ", doc->name, line, column);
	}
	if (!pointer_told) {
		print_plain(!*pointer ? "/" : pointer, to);
		fputs(": ", to);
	}
	if (message->severity != CONF_ERROR)
		fprintf(to, "%s: ", severity_names[message->severity]);
	print_plain(message->text, to);
	fputc('\n', to);
	if (source)
		print_source(source, column, to);
}

static cJSON *json_of_message(const struct conf_doc *doc, const struct conf_message *message)
{
	cJSON *object = conf_node(cJSON_CreateObject());
	bool in_file = message->place.override_index == 0;
	size_t line = 0, column = 0;

	if (in_file && message->place.offset != CONF_NOWHERE)
		conf_position(doc->text, message->place.offset, &line, &column);
	cJSON_AddStringToObject(object, "file", in_file ? doc->name : "command line");
	cJSON_AddNumberToObject(object, "line", (double)line);
	cJSON_AddNumberToObject(object, "column", (double)column);
	cJSON_AddStringToObject(object, "pointer", message->pointer);
	cJSON_AddStringToObject(object, "severity", severity_names[message->severity]);
	cJSON_AddStringToObject(object, "message", message->text);
	return object;
}

void conf_print_errors_json(const struct conf_doc *const *docs, size_t count, FILE *to)
{
	cJSON *list = conf_node(cJSON_CreateArray());

	for (size_t d = 0; d < count; d++) {
		const struct conf_message **sorted = sorted_messages(docs[d]);

		for (size_t i = 0; i < docs[d]->message_count; i++)
			cJSON_AddItemToArray(list, json_of_message(docs[d], sorted[i]));
		free(sorted);
	}
	conf_print_json(list, to);
}

void conf_print_errors(const struct conf_doc *doc, FILE *to, bool json)
{
	const struct conf_message **sorted;
	struct plain plain; /* since file names, too, may hold control characters */

	if (json) {
		conf_print_errors_json(&doc, 1, to);
		return;
	}
	sorted = sorted_messages(doc);
	plain_open(&plain);
	for (size_t i = 0; i < doc->message_count; i++)
		print_text(doc, sorted[i], plain.to);
	if (doc->dropped > 0)
		fprintf(plain.to, "%s: and %zu more\n", doc->name, doc->dropped);
	plain_close(&plain, to);
	free(sorted);
}
