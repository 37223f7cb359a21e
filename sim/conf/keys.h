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
 * there: forms of one key may have keys of the same name. The caller frees with conf_keys_free().
 */
struct conf_key *conf_keys(const struct conf_table *table, size_t *count);
void conf_keys_free(struct conf_key *keys, size_t count);

/* What may stand there ("a rate with its unit from ..."), its default as JSON ("" = none), the
 * units it may have ("" = none), and a document with the key in it and nothing else, whose value is
 * the default where there is one. Caller frees. */
char *conf_key_allowed(const struct conf_key *key);
char *conf_key_default(const struct conf_key *key);
const char *conf_key_units(const struct conf_key *key);
char *conf_key_example(const struct conf_key *key);

/* An object, whose keys say more than a value of it would. */
bool conf_key_is_object(const struct conf_key *key);

#endif
