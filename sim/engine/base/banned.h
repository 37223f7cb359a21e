/* Bans functions that are easy to misuse: a call is a compile error (after git's
 * banned.h). Force-included into every file of the project. The headers come first
 * because they declare the banned functions. */
#ifndef INASIM_BASE_BANNED_H
#define INASIM_BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC poison strcpy strcat sprintf vsprintf atoi atol atof strtok gets rand srand random     \
	drand48

#endif
