/* Every key of a kind of document, with what its row says: for help and for the manual. */
#ifndef INASIM_CONF_KEYS_H
#define INASIM_CONF_KEYS_H

#include "conf/conf.h"

struct conf_key {
	char *path; /* "/jobs/N/model/layers/N/gradient": N is any item of a list, NAME any key of a
		       map */
	struct conf_row row; /* a copy */
};

/* Outer ones first, in the order of the tables. A path comes once for each row that can stand
 * there, as forms of one key may have keys of the same name. The caller frees with
 * conf_keys_free(). */
struct conf_key *conf_keys(const struct conf_table *table, size_t *count);
void conf_keys_free(struct conf_key *keys, size_t count);

/* Tells what is to be said of a key: "allowed", "units", "default", "source", and an "example", a
 * document with this key and nothing else. Texts last as long as the call. Nothing of an object,
 * whose keys say more. */
void conf_key_tell(const struct conf_key *key,
		   void (*tell)(void *owner, const char *label, const char *text), void *owner);

#endif
