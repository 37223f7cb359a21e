#include "conf/buf.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve(struct conf_buf *buf, size_t more)
{
	size_t need = buf->length + more + 1;

	if (need <= buf->capacity)
		return;
	buf->capacity = need < 32 ? 32 : need * 2;
	buf->data = xrealloc(buf->data, buf->capacity, 1);
}

void conf_buf_release(struct conf_buf *buf)
{
	free(buf->data);
	*buf = (struct conf_buf){ 0 };
}

void conf_buf_cut(struct conf_buf *buf, size_t length)
{
	if (!buf->data)
		return;
	buf->length = length;
	buf->data[length] = '\0';
}

const char *conf_buf_text(const struct conf_buf *buf)
{
	return buf->data ? buf->data : "";
}

char *conf_buf_take(struct conf_buf *buf)
{
	char *text = buf->data ? buf->data : xstrdup("");

	*buf = (struct conf_buf){ 0 };
	return text;
}

void conf_buf_add_bytes(struct conf_buf *buf, const char *text, size_t length)
{
	reserve(buf, length);
	memcpy(buf->data + buf->length, text, length);
	buf->length += length;
	buf->data[buf->length] = '\0';
}

void conf_buf_add(struct conf_buf *buf, const char *text)
{
	conf_buf_add_bytes(buf, text, strlen(text));
}

void conf_buf_addv(struct conf_buf *buf, const char *fmt, va_list args)
{
	va_list again;
	int length;

	va_copy(again, args);
	length = vsnprintf(NULL, 0, fmt, args);
	if (length > 0) {
		reserve(buf, (size_t)length);
		vsnprintf(buf->data + buf->length, (size_t)length + 1, fmt, again);
		buf->length += (size_t)length;
	}
	va_end(again);
}

void conf_buf_addf(struct conf_buf *buf, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	conf_buf_addv(buf, fmt, args);
	va_end(args);
}

void conf_buf_add_step(struct conf_buf *buf, const char *key)
{
	conf_buf_add_bytes(buf, "/", 1);
	for (; *key; key++) {
		if (*key == '~')
			conf_buf_add_bytes(buf, "~0", 2);
		else if (*key == '/')
			conf_buf_add_bytes(buf, "~1", 2);
		else
			conf_buf_add_bytes(buf, key, 1);
	}
}
