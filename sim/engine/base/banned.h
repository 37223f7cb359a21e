/* Functions that have bitten everybody once; force-included into every file of
 * the project, so that using one is a compile error (after git's banned.h).
 * The headers come first because they declare what is banned below. */
#ifndef INASIM_BASE_BANNED_H
#define INASIM_BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC poison strcpy strcat sprintf vsprintf atoi atol atof strtok gets rand srand random     \
	drand48

#endif
