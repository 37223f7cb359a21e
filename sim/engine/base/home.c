#include "base/home.h"

#include "base/mem.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first folder above `file` that has share/inasim, as that: "/usr/share/inasim" for
 * /usr/bin/inasim. NULL if none has. Cuts `file`. */
static char *share_above(char *file)
{
	for (char *slash; (slash = strrchr(file, '/'));) {
		char *home;

		*slash = '\0';
		home = xasprintf("%s/share/inasim", file);
		if (access(home, F_OK) == 0)
			return home;
		free(home);
	}
	return NULL;
}

/* Where the program or the library is installed. NULL if neither is. */
static char *installed(void)
{
	char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *home;
	Dl_info library;

	self[length > 0 ? length : 0] = '\0';
	home = share_above(self);
	if (home || !dladdr((void *)(uintptr_t)home_path, &library) ||
	    !realpath(library.dli_fname, self))
		return home;
	return share_above(self);
}

char *home_path(const char *name)
{
	char *home = installed(), *path;

	path = xasprintf("%s/%s", home ? home : INASIM_SOURCE_DIR, name);
	free(home);
	return path;
}
