#include "lab/figures/gnuplot.h"

#include "base/child.h"
#include "base/home.h"
#include "base/input.h"
#include "base/mem.h"
#include "data/folder.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEMPLATE_MAX 100000 /* bytes */
#define MESSAGE_MAX  2000   /* bytes of gnuplot's messages that are shown */
#define NOT_STARTED  125    /* exit status of the child if it could not become gnuplot */

char *gnuplot_template(const char *name, char **error)
{
	const char *own = getenv("INASIM_GNUPLOT");
	char *folder = own && *own ? xstrdup(own) : home_path("scripts/gnuplot");
	char *path = xasprintf("%s/%s.gp", folder, name);
	char *text = input_read(path, TEMPLATE_MAX, NULL);

	if (!text)
		*error = xasprintf("cannot read %s: %s", path, strerror(errno));
	free(path);
	free(folder);
	return text;
}

bool gnuplot_put(const char *folder, const char *file, const char *text, size_t length,
		 char **error)
{
	char *path = folder_join(folder, file);
	bool ok;

	unlink(path);
	ok = folder_make_parents(path) && folder_replace(path, text, length);
	if (!ok)
		*error = xasprintf("cannot write %s: %s", path, strerror(errno));
	free(path);
	return ok;
}

/* Turns this process into gnuplot, with `picture` as standard output and `messages` as standard
 * error; does not return. If that fails, the reason goes to `messages`. PIPED tells the template
 * not to open a file for the picture. */
static void become_gnuplot(const char *folder, const char *script, int picture, int messages)
{
	bool ready;

	setenv("LC_ALL", "C.UTF-8", 1); /* labels are UTF-8 in any locale */
	ready = dup2(picture, STDOUT_FILENO) >= 0 && dup2(messages, STDERR_FILENO) >= 0 &&
		chdir(folder) == 0;
	if (ready)
		execlp("gnuplot", "gnuplot", "-d", "-e", "PIPED = 1", script, (char *)NULL);
	if (ready && errno == ENOENT)
		dprintf(messages, "figures need gnuplot, which is not installed or not in PATH "
				  "(Debian: gnuplot-nox)");
	else
		dprintf(messages, "cannot run gnuplot in %s: %s", folder, strerror(errno));
	_exit(NOT_STARTED);
}

/* Returns NULL, or what went wrong (caller frees). `said` is what gnuplot or become_gnuplot() has
 * written. */
static char *failure(int status, const char *folder, const char *script, const char *said)
{
	const char *words = *said ? said : "no message";

	if (WIFSIGNALED(status))
		return xasprintf("gnuplot was killed by a signal (%s) on %s/%s: %s",
				 strsignal(WTERMSIG(status)), folder, script, words);
	if (WEXITSTATUS(status) == NOT_STARTED)
		return xstrdup(said);
	if (WEXITSTATUS(status) != 0)
		return xasprintf("gnuplot failed on %s/%s with exit code %d: %s", folder, script,
				 WEXITSTATUS(status), words);
	return NULL;
}

/* Waits for the child and reads its messages into *text. Returns NULL, or what went wrong. The
 * caller frees both. */
static char *outcome_of(pid_t child, FILE *messages, const char *folder, const char *script,
			char **text)
{
	int status;
	size_t length;
	char *said;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	said = folder_read_temporary(messages, &length);
	if (length > MESSAGE_MAX)
		length = MESSAGE_MAX;
	while (length && said[length - 1] == '\n')
		length--;
	said[length] = '\0';
	*text = said;
	return failure(status, folder, script, said);
}

char *gnuplot_run(const char *folder, const char *script, size_t *length, char **said, char **error)
{
	FILE *picture = tmpfile(), *messages = tmpfile();
	char *text = NULL;
	pid_t child;

	*said = NULL;
	signal(SIGCHLD, SIG_DFL); /* if our parent ignores it, we cannot wait for a child */
	child = picture && messages ? child_fork() : -1;
	if (child == 0)
		become_gnuplot(folder, script, fileno(picture), fileno(messages));
	*error = child > 0 ? outcome_of(child, messages, folder, script, said)
			   : xasprintf("cannot run gnuplot: %s", strerror(errno));
	if (!*error)
		text = folder_read_temporary(picture, length);
	if (picture)
		fclose(picture);
	if (messages)
		fclose(messages);
	return text;
}
