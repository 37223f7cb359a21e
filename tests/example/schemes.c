/* The list of schemes with one more. */
#define SCHEMES_MORE(X) X(example)
#include "collective/schemes.c"
