/* The links of a run that were busiest, and who used them: from links.csv and, of runs with --why,
 * why-hottest.csv. */
#ifndef INASIM_LAB_HOTTEST_H
#define INASIM_LAB_HOTTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOTTEST 5 /* links, at most */

struct hottest_user {
	char *name;    /* of a group of jobs or of flows; owned */
	uint64_t jobs; /* of this group that used the link; 0: flows, or PAUSE frames */
	uint64_t job;  /* the first of them */
	uint64_t bytes;
};

struct hottest_link {
	uint64_t id;
	char *name; /* as "leaf0 -> h3"; owned */
	double utilization;
	double busy_s; /* how long its bytes took */
	uint64_t bytes, drops, marks, queue;
	struct hottest_user *users; /* largest first; NULL: nobody has looked; owned */
	size_t user_count;
};

struct hottest {
	struct hottest_link links[HOTTEST]; /* hottest first; of equal ones the lower number */
	size_t count;
	size_t alike; /* links as hot as the first, within 1 %, itself included */
	size_t all;   /* links of the network */
};

/* False with *error (caller frees) if a table cannot be read. Without links.csv, as of a run that
 * was killed, there are none. Release `hottest` in any case. */
bool hottest_read(struct hottest *hottest, const char *dir, char **error);
void hottest_release(struct hottest *hottest);
/* Who used a link, as "train (8 jobs) 71 %, web 29 %". The caller frees. */
char *hottest_users(const struct hottest_link *link);

#endif
