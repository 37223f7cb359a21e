/* Walks strictly over JSON text (RFC 8259) together with the tree that cJSON made of it. */
#include "conf/json_text.h"

#include "base/fail.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct scan {
	const char *text;
	size_t length, at;
	unsigned depth;
	struct conf_syntax_error *error;
};

/* cJSON copies a number into a buffer of 64 bytes. */
#define MAX_NUMBER_LENGTH 63

/* Here and below, `item` is the node of the value, or NULL when cJSON refused the text. */
static bool scan_value(struct scan *s, cJSON *item);

__attribute__((format(printf, 3, 4))) static bool refuse(struct scan *s, size_t offset,
							 const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	s->error->offset = offset;
	vsnprintf(s->error->text, sizeof(s->error->text), fmt, args);
	va_end(args);
	return false;
}

static bool at_end(const struct scan *s)
{
	return s->at >= s->length;
}

static bool next_is(const struct scan *s, char c)
{
	return !at_end(s) && s->text[s->at] == c;
}

static bool digit_next(const struct scan *s)
{
	return !at_end(s) && isdigit((unsigned char)s->text[s->at]);
}

static void skip_blanks(struct scan *s)
{
	while (!at_end(s) && s->text[s->at] && strchr(" \t\r\n", s->text[s->at]))
		s->at++;
}

size_t conf_line_of(const char *text, size_t offset)
{
	size_t line = 1;

	for (size_t i = 0; i < offset; i++)
		line += text[i] == '\n';
	return line;
}

static bool refuse_end(struct scan *s, const char *what, size_t start)
{
	return refuse(s, s->length, "the text ends inside the %s that starts in line %zu", what,
		      conf_line_of(s->text, start));
}

static bool hex4(const struct scan *s, size_t at, unsigned *code)
{
	*code = 0;
	if (at + 4 > s->length)
		return false;
	for (size_t i = at; i < at + 4; i++) {
		int c = tolower((unsigned char)s->text[i]);

		if (!isxdigit(c))
			return false;
		*code = *code * 16 + (unsigned)(isdigit(c) ? c - '0' : c - 'a' + 10);
	}
	return true;
}

/* The length of the UTF-8 sequence at `p`; 0 if it is invalid (RFC 3629: also overlong forms,
 * surrogates and values beyond Unicode). */
static size_t utf8_length(const unsigned char *p, size_t left)
{
	unsigned low = 0x80, high = 0xbf;
	size_t length;

	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	length = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (p[0] == 0xe0)
		low = 0xa0;
	else if (p[0] == 0xed)
		high = 0x9f;
	else if (p[0] == 0xf0)
		low = 0x90;
	else if (p[0] == 0xf4)
		high = 0x8f;
	if (length > left || p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if (!conf_utf8_continues((char)p[i]))
			return 0;
	return length;
}

/* Scans \uXXXX from the 'u' on. */
static bool scan_unicode(struct scan *s)
{
	size_t start = s->at - 1;
	unsigned code, low;

	if (!hex4(s, s->at + 1, &code))
		return refuse(s, start, "\\u needs four hexadecimal digits");
	s->at += 5;
	if (code == 0)
		return refuse(s, start, "a string cannot hold the character \\u0000");
	if (code < 0xd800 || code > 0xdfff)
		return true;
	if (code > 0xdbff || s->at + 2 > s->length || s->text[s->at] != '\\' ||
	    s->text[s->at + 1] != 'u' || !hex4(s, s->at + 2, &low) || low < 0xdc00 || low > 0xdfff)
		return refuse(s, start, "half of a surrogate pair");
	s->at += 6;
	return true;
}

static bool scan_escape(struct scan *s, size_t start)
{
	const char *letter = s->text + ++s->at;

	if (at_end(s))
		return refuse_end(s, "string", start);
	if (*letter == 'u')
		return scan_unicode(s);
	if (!strchr("\"\\/bfnrt", *letter))
		return refuse(s, s->at - 1, "unknown escape \\%.*s in a string",
			      (int)utf8_length((const unsigned char *)letter, s->length - s->at),
			      letter);
	s->at++;
	return true;
}

static bool scan_string(struct scan *s)
{
	size_t start = s->at++;

	while (!at_end(s)) {
		unsigned char c = (unsigned char)s->text[s->at];

		if (c == '"') {
			s->at++;
			return true;
		}
		if (c == '\n')
			return refuse(s, start, "the closing quote of this string is missing");
		if (c < 0x20)
			return refuse(s, s->at, "control character 0x%02x in a string", c);
		if (c != '\\')
			s->at++;
		else if (!scan_escape(s, start))
			return false;
	}
	return refuse_end(s, "string", start);
}

static void skip_digits(struct scan *s)
{
	while (digit_next(s))
		s->at++;
}

static bool scan_exponent(struct scan *s, size_t start)
{
	if (!next_is(s, 'e') && !next_is(s, 'E'))
		return true;
	s->at++;
	if (next_is(s, '+') || next_is(s, '-'))
		s->at++;
	if (!digit_next(s))
		return refuse(s, start, "the exponent of this number has no digits");
	skip_digits(s);
	return true;
}

static bool scan_number(struct scan *s)
{
	size_t start = s->at;

	if (next_is(s, '-'))
		s->at++;
	if (!digit_next(s))
		return refuse(s, start, "a number needs a digit after '-'");
	if (next_is(s, '0')) {
		s->at++;
		if (digit_next(s))
			return refuse(s, start, "a number must not start with 0");
	}
	skip_digits(s);
	if (next_is(s, '.')) {
		s->at++;
		if (!digit_next(s))
			return refuse(s, start, "a number needs a digit after the point");
		skip_digits(s);
	}
	if (!scan_exponent(s, start))
		return false;
	if (!at_end(s) && isalpha((unsigned char)s->text[s->at]))
		return refuse(s, start,
			      "a number with a unit stands in quotes, such as \"10Gbps\"");
	if (s->at - start > MAX_NUMBER_LENGTH)
		return refuse(s, start, "a number of more than %d characters", MAX_NUMBER_LENGTH);
	return true;
}

/* true, false, null; anything else bare is a mistake. */
static bool scan_word(struct scan *s)
{
	static const char *const words[] = { "true", "false", "null" };
	size_t start = s->at, length;

	while (!at_end(s) && (isalnum((unsigned char)s->text[s->at]) || s->text[s->at] == '_' ||
			      s->text[s->at] == '-'))
		s->at++;
	length = s->at - start;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == length && !memcmp(words[i], s->text + start, length))
			return true;
	if (at_end(s))
		return refuse_end(s, "word", start);
	return refuse(s, start, "the word %.*s must stand in double quotes",
		      (int)(length < 40 ? length : 40), s->text + start);
}

static bool refuse_found(struct scan *s, const char *expected)
{
	unsigned char c = (unsigned char)s->text[s->at];

	if (c == '/' || c == '#')
		return refuse(s, s->at,
			      "JSON has no comments; a key that starts with '_' is ignored");
	if (isprint(c))
		return refuse(s, s->at, "expected %s, found '%c'%s", expected, c,
			      c == '"' ? " (is a comma missing?)" : "");
	return refuse(s, s->at, "expected %s, found the byte 0x%02x", expected, c);
}

static bool refuse_value(struct scan *s)
{
	switch (s->text[s->at]) {
	case '+':
		return refuse(s, s->at, "a number must not start with '+'");
	case '.':
		return refuse(s, s->at, "a number needs a digit before the point");
	case '\'':
		return refuse(s, s->at, "strings stand in double quotes, not in '...'");
	default:
		return refuse_found(s, "a value");
	}
}

static bool scan_member(struct scan *s, cJSON *item, size_t start)
{
	/* for '/' and '#', refuse_found() has a message about comments */
	if (!next_is(s, '"') && !next_is(s, '/') && !next_is(s, '#'))
		return refuse(s, s->at, "expected a key in double quotes");
	if (!next_is(s, '"'))
		return refuse_found(s, "a key");
	if (!scan_string(s))
		return false;
	skip_blanks(s);
	if (at_end(s))
		return refuse_end(s, "object", start);
	if (!next_is(s, ':'))
		return refuse_found(s, "':' after the key");
	s->at++;
	return scan_value(s, item);
}

static void set_place(const struct scan *s, cJSON *item)
{
	if (item)
		item->valueint = (int)s->at;
}

/* The members of an object or the items of a list, after the opening bracket. */
static bool scan_children(struct scan *s, cJSON *child, size_t start)
{
	bool object = s->text[start] == '{', first = true;
	const char *what = object ? "object" : "list";
	char close = object ? '}' : ']';

	for (;; first = false, child = !child ? NULL : child->next) {
		size_t comma = s->at - 1; /* only meaningful from the second round on */

		skip_blanks(s);
		if (at_end(s))
			return refuse_end(s, what, start);
		if (next_is(s, close)) {
			if (!first)
				return refuse(s, comma, "a comma before the closing '%c'", close);
			break;
		}
		set_place(s, child);
		if (object ? !scan_member(s, child, start) : !scan_value(s, child))
			return false;
		skip_blanks(s);
		if (at_end(s))
			return refuse_end(s, what, start);
		if (next_is(s, close))
			break;
		if (!next_is(s, ','))
			return refuse_found(s, object ? "',' or '}'" : "',' or ']'");
		s->at++;
	}
	s->at++;
	return true;
}

static bool scan_container(struct scan *s, const cJSON *item)
{
	size_t start = s->at++;
	bool good;

	if (++s->depth > CONF_MAX_DEPTH)
		return refuse(s, start, "nested deeper than %d levels", CONF_MAX_DEPTH);
	good = scan_children(s, !item ? NULL : item->child, start);
	s->depth--;
	return good;
}

static bool scan_value(struct scan *s, cJSON *item)
{
	char c;

	skip_blanks(s);
	if (at_end(s))
		return refuse(s, s->length, "the text ends where a value is expected");
	c = s->text[s->at];
	if (c == '{' || c == '[')
		return scan_container(s, item);
	if (c == '"')
		return scan_string(s);
	if (c == '-' || isdigit((unsigned char)c))
		return scan_number(s);
	if (isalpha((unsigned char)c))
		return scan_word(s);
	return refuse_value(s);
}

size_t conf_utf8_mistake(const char *text, size_t length)
{
	for (size_t at = 0; at < length;) {
		size_t step = utf8_length((const unsigned char *)text + at, length - at);

		if (step == 0)
			return at;
		at += step;
	}
	return CONF_NOWHERE;
}

size_t conf_utf8_put(FILE *to, const char *text)
{
	unsigned char c = (unsigned char)text[0], next = (unsigned char)text[1];
	bool control = c < 0x20 || c == 0x7f || (c == 0xc2 && next >= 0x80 && next < 0xa0);
	size_t length = 1;

	while (c >= 0x80 && conf_utf8_continues(text[length]))
		length++;
	if (control || conf_utf8_mistake(text, length) != CONF_NOWHERE)
		putc(control ? ' ' : '?', to);
	else
		fwrite(text, 1, length, to);
	return length;
}

size_t conf_utf8_columns(const char *text)
{
	size_t columns = 0;

	for (; *text; text++)
		columns += !conf_utf8_continues(*text);
	return columns;
}

/* Refuses bytes that are allowed nowhere in a text, so that the walk need not check them. */
static bool scan_bytes(struct scan *s)
{
	const char *nul = memchr(s->text, '\0', s->length);
	size_t mistake = conf_utf8_mistake(s->text, s->length);

	if (nul)
		return refuse(s, (size_t)(nul - s->text), "a NUL byte in the text");
	if (mistake != CONF_NOWHERE)
		return refuse(s, mistake, "the byte 0x%02x is not valid UTF-8 here",
			      (unsigned)(unsigned char)s->text[mistake]);
	return true;
}

static bool scan_text(struct scan *s, cJSON *root)
{
	if (!scan_bytes(s))
		return false;
	if (s->length >= 3 && !memcmp(s->text, "\xef\xbb\xbf", 3))
		s->at = 3; /* a byte order mark is harmless, and cJSON skips it too */
	skip_blanks(s);
	if (at_end(s))
		return refuse(s, 0, "there is no JSON in this text: it is empty");
	set_place(s, root);
	if (!scan_value(s, root))
		return false;
	skip_blanks(s);
	if (!at_end(s))
		return refuse(s, s->at, "text after the end of the document");
	return true;
}

cJSON *conf_json_parse(const char *text, size_t length, struct conf_syntax_error *error)
{
	struct scan s = { .text = text, .length = length, .error = error };
	const char *end = text;
	/* + 1: at the NUL cJSON sees that nothing follows the value */
	cJSON *root = cJSON_ParseWithLengthOpts(text, length + 1, &end, 1);
	bool good;

	SIM_BUG_ON(length > INT_MAX); /* offsets are stored in an int */
	good = scan_text(&s, root);
	if (good && !root) /* not known to happen */
		good = refuse(&s, (size_t)(end - text), "this is not valid JSON");
	if (good)
		return root;
	cJSON_Delete(root);
	return NULL;
}

size_t conf_json_value(const char *text, const cJSON *item)
{
	size_t at = (size_t)item->valueint;

	if (!item->string)
		return at;
	for (at++; text[at] != '"'; at++) /* skips the key */
		at += text[at] == '\\';   /* an escaped quote does not end the key */
	at = at + 1 + strspn(text + at + 1, " \t\r\n:");
	return at;
}
