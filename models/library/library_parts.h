/* Shared by the files of the library: library.c (a simulation, its run, its tables) and
 * library_work.c (groups and callbacks). */
#ifndef INASIM_LIBRARY_LIBRARY_PARTS_H
#define INASIM_LIBRARY_LIBRARY_PARTS_H

#include "library/inasim.h"
#include "run/results.h"
#include "run/simulation_state.h"

/* Numbers of the library's own events (sim_key()); others are in run/simulation_state.h. */
#define CONTROL_LIBRARY (UINT64_C(1) << 45)
#define SAMPLE_PAUSE    (UINT64_C(1) << 45)

struct inasim {
	struct scenario scenario;
	struct conf_doc *doc;
	struct out_dir *tables;
	struct simulation *run;
	struct timer pause;
	struct inasim_group *groups; /* a list */
	struct library_call *calls;  /* that have not happened; a list */
	uint32_t group_count;        /* so far */
	uint64_t call_count;
	bool begun, paused, ended;
	bool grows; /* work was added */
};

/* The first moment of the picosecond clock that is not before a time in seconds; SIM_TIME_MAX for
 * what is beyond it. */
sim_time library_time(double seconds);

/* Ends all groups, and forgets all calls. */
void library_drop_work(struct inasim *s);

#endif
