#include "cli/html.h"

#include "conf/buf.h"
#include "conf/json_text.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

static const char signs[] = "&<>\"'";
static const char *const entities[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;" };

void html_text(FILE *to, const char *text)
{
	while (*text) {
		const char *sign = strchr(signs, *text);

		if (sign) {
			fputs(entities[sign - signs], to);
			text++;
		} else if (*text == '\n') {
			putc(*text++, to);
		} else {
			text += conf_utf8_put(to, text);
		}
	}
}

void html_element(FILE *to, const char *tag, const char *fmt, ...)
{
	struct conf_buf text = { 0 };
	va_list args;

	va_start(args, fmt);
	conf_buf_addv(&text, fmt, args);
	va_end(args);
	fprintf(to, "<%s>", tag);
	html_text(to, conf_buf_text(&text));
	fprintf(to, "</%.*s>", (int)strcspn(tag, " "), tag);
	conf_buf_release(&text);
}

static void put_download(FILE *to, const char *name, const char *text)
{
	fprintf(to, "<a download=\"%s\" href=\"data:text/plain;charset=utf-8,", name);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (isalnum(c) || strchr("-._~,:/", c))
			putc(c, to);
		else
			fprintf(to, "%%%02X", c);
	}
	fprintf(to, "\">%s</a>", name);
}

void html_details(FILE *to, const char *summary, const char *name, const char *text)
{
	fputs("<details>", to);
	html_element(to, "summary", "%s", summary);
	fputs("<p>Save as ", to);
	put_download(to, name, text);
	fputs("</p><pre>", to);
	html_text(to, text);
	fputs("</pre></details>\n", to);
}

/* ---- pictures ---- */

/* The text behind the first `end` after p; p if there is none. */
static const char *behind(const char *p, const char *end)
{
	const char *found = strstr(p, end);

	return found ? found + strlen(end) : p;
}

void html_svg(FILE *to, const char *svg, unsigned number, const char *label)
{
	/* texts before an id or a reference to one; "fNUMBER-" is put in behind them */
	static const char *const ids[] = {
		" id='", " id=\"", "href='#", "href=\"#", "url(#", NULL
	};
	const char *box = strstr(svg, "viewBox=\""), *p = behind(svg, "<svg");
	const size_t value = strlen("viewBox=\""); /* where the box's value begins */

	fputs("<svg role=\"img\" aria-label=\"", to);
	html_text(to, label);
	fputs("\" ", to);
	if (box)
		fprintf(to, "%.*s\"", (int)(value + strcspn(box + value, "\"")), box);
	putc('>', to);
	p = behind(p, ">");
	if (strstr(p, "<desc>"))
		p = behind(p, "</desc>");
	while (*p) {
		size_t i = 0;

		while (ids[i] && strncmp(p, ids[i], strlen(ids[i])))
			i++;
		if (ids[i]) {
			fprintf(to, "%sf%u-", ids[i], number);
			p += strlen(ids[i]);
		} else {
			putc(*p++, to);
		}
	}
}
