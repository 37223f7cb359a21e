/* Sweep directories made by hand, for the tests of lab/. */
#ifndef INASIM_TESTS_SWEEP_SAMPLE_H
#define INASIM_TESTS_SWEEP_SAMPLE_H

#include "data/folder.h"
#include "lab/sweep/sweep_table.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static inline void sample_write(const char *dir, const char *name, const char *text)
{
	char *path = folder_join(dir, name);
	FILE *file = fopen(path, "w");
	cr_assert_not_null(file, "%s", path);
	cr_assert(fputs(text, file) >= 0);
	cr_assert_eq(fclose(file), 0);
	free(path);
}

/* Makes a sweep directory below `parent`, which exists. The caller frees the path. */
static inline char *sample_sweep(const char *parent, const char *name, const char *json,
				 const char *csv)
{
	char *dir = folder_join(parent, name);
	mkdir(dir, 0777);
	sample_write(dir, "sweep.json", json);
	if (csv)
		sample_write(dir, "sweep.csv", csv);
	return dir;
}

/* Two schemes at two loads, three replications with common random numbers. At
 * load 0.8 one point of "ina" was left unfinished and one did not run; the metric
 * "late" exists at some points only. Jobs take 10, 11, 12 and 14, 15, 16 by ring. */
#define SAMPLE_JSON                                                                                \
	"{ \"name\": \"sample\", \"axes\": [\n"                                                    \
	"  { \"name\": \"load\", \"values\": [\"0.2\", \"0.8\"] },\n"                              \
	"  { \"name\": \"scheme\", \"values\": [\"ring\", \"ina, new\"] } ],\n"                    \
	"  \"replications\": 3, \"metrics\": [\"jct\", \"late\"] }\n"
#define SAMPLE_HEADER "point,hash,replication,seed,load,scheme,status,jct,late\n"
#define SAMPLE_CSV                                                                                 \
	SAMPLE_HEADER "0,00000000000000a0,0,71,0.2,ring,done,10,1\n"                               \
		      "1,00000000000000a1,1,72,0.2,ring,done,11,\n"                                \
		      "2,00000000000000a2,2,73,0.2,ring,done,12,\n"                                \
		      "3,00000000000000a3,0,71,0.2,\"ina, new\",done,5.5,\n"                       \
		      "4,00000000000000a4,1,72,0.2,\"ina, new\",done,5.5,\n"                       \
		      "5,00000000000000a5,2,73,0.2,\"ina, new\",done,7,\n"                         \
		      "6,00000000000000a6,0,71,0.8,ring,done,14,\n"                                \
		      "7,00000000000000a7,1,72,0.8,ring,done,15,\n"                                \
		      "8,00000000000000a8,2,73,0.8,ring,done,16,\n"                                \
		      "9,00000000000000a9,0,71,0.8,\"ina, new\",done,14,\n"                        \
		      "10,00000000000000aa,1,72,0.8,\"ina, new\",unfinished,9,\n"                  \
		      "11,00000000000000ab,2,73,0.8,\"ina, new\",timeout,,\n"

#endif
