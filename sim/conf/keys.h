/* Lists every key of a kind of document with its row, for help and for the manual. */
#ifndef INASIM_CONF_KEYS_H
#define INASIM_CONF_KEYS_H

#include "conf/conf.h"

struct conf_key {
	/* "/jobs/N/model/layers/N/gradient": N is any item of a list, NAME any key of a map. */
	char *path;
	struct conf_row row; /* a copy */
};

/* Returns all keys, outer keys before inner ones, in the order of the tables. A path comes once for
 * each row that can stand there, since two forms of a value may have keys of the same name. The
 * keys of a table inside itself are left out. The caller frees with conf_keys_free(). */
struct conf_key *conf_keys(const struct conf_table *table, size_t *count);
void conf_keys_free(struct conf_key *keys, size_t count);

/* Calls tell() for each fact about a key: "allowed", "units", "default", "source", and an
 * "example", which is a document with only this key. Texts last as long as the call. Tells nothing
 * about an object, since its keys tell more. */
void conf_key_tell(const struct conf_key *key,
		   void (*tell)(void *owner, const char *label, const char *text), void *owner);

#endif
