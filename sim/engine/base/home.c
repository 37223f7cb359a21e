#include "base/home.h"

#include "base/mem.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The parent of the program's folder: "/usr" for /usr/bin/inasim. NULL without /proc. */
static char *prefix(void)
{
	char self[4096], *slash;
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	for (int up = 0; up < 2; up++) {
		self[length > 0 ? length : 0] = '\0';
		slash = strrchr(self, '/');
		if (!slash)
			return NULL;
		length = slash - self;
	}
	return xstrndup(self, (size_t)length);
}

char *home_path(const char *name)
{
	char *above = prefix(), *home = above ? xasprintf("%s/share/inasim", above) : NULL, *path;
	bool installed = home && access(home, F_OK) == 0;

	path = xasprintf("%s/%s", installed ? home : INASIM_SOURCE_DIR, name);
	free(home);
	free(above);
	return path;
}
