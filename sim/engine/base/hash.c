#include "base/hash.h"

#include <string.h>

uint64_t hash_bytes(const void *data, size_t length)
{
	const unsigned char *p = data;
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < length; i++) {
		h ^= p[i];
		h *= UINT64_C(0x100000001b3);
	}
	return hash_mix(h);
}

uint64_t hash_string(const char *text)
{
	return hash_bytes(text, strlen(text));
}
