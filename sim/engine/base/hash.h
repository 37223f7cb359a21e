/* Cheap, good 64-bit mixing, with the constants of SplitMix64 (Steele et al.,
 * OOPSLA'14). Used for seeds, the order of simultaneous events, ECMP and the digest. */
#ifndef INASIM_BASE_HASH_H
#define INASIM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t hash_mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	x ^= x >> 31;
	return x;
}

static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
	return hash_mix(a * UINT64_C(0x9e3779b97f4a7c15) +
			hash_mix(b + UINT64_C(0x632be59bd9b4e019)));
}

/* FNV-1a over bytes, finished with hash_mix(). */
uint64_t hash_bytes(const void *data, size_t length);
uint64_t hash_string(const char *text);

#endif
