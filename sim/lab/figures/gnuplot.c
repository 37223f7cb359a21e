#include "lab/figures/gnuplot.h"

#include "base/child.h"
#include "base/mem.h"
#include "out/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEMPLATE_MAX 100000
#define MESSAGE_MAX  2000
#define NOT_STARTED  125 /* exit status of the child that is not gnuplot (yet) */

char *gnuplot_template(const char *name, char **error)
{
	const char *folder = getenv("INASIM_GNUPLOT");
	if (folder == NULL || *folder == '\0')
		folder = INASIM_GNUPLOT_DIR;
	char *path = xasprintf("%s/%s.gp", folder, name);
	char *text = folder_read(path, TEMPLATE_MAX, NULL);
	if (text == NULL)
		*error = xasprintf("cannot read %s: %s", path, strerror(errno));
	free(path);
	return text;
}

bool gnuplot_put(const char *folder, const char *file, const char *text, size_t length,
		 char **error)
{
	char *path = folder_join(folder, file);
	char *part = xasprintf("%s/.%s.%ld", folder, file, (long)getpid());
	unlink(part); /* of a process of this number that was killed */
	int fd = folder_make_parents(path)
			 ? open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666)
			 : -1;
	bool ok = fd >= 0 && folder_write(fd, text, length);
	int reason = errno;
	if (fd >= 0 && close(fd) != 0 && ok) {
		ok = false;
		reason = errno;
	}
	if (ok && rename(part, path) != 0) {
		ok = false;
		reason = errno;
	}
	if (!ok) {
		*error = xasprintf("cannot write %s: %s", path, strerror(reason));
		if (fd >= 0)
			unlink(part);
	}
	free(part);
	free(path);
	return ok;
}

/* Does not return. What goes wrong is said where gnuplot says what goes wrong. */
static void become_gnuplot(const char *folder, const char *script, int picture, int messages)
{
	if (dup2(picture, STDOUT_FILENO) >= 0 && dup2(messages, STDERR_FILENO) >= 0 &&
	    chdir(folder) == 0)
		execlp("gnuplot", "gnuplot", "-d", "-e", "PIPED = 1", script, (char *)NULL);
	const char *why = errno == ENOENT
				  ? "figures need gnuplot, which is not installed or not in "
				    "PATH (Debian: gnuplot-nox)"
				  : strerror(errno);
	folder_write(messages, why, strlen(why));
	_exit(NOT_STARTED);
}

/* All that comes through the pipe, ended by a NUL. */
static char *read_all(int fd, size_t *length)
{
	char *text = NULL;
	size_t capacity = 0;
	ssize_t got = 1;
	*length = 0;
	while (got > 0 || (got < 0 && errno == EINTR)) {
		if (*length + 1 >= capacity)
			text = xrealloc(text, capacity = 2 * capacity + 65536, 1);
		got = read(fd, text + *length, capacity - *length - 1);
		*length += got > 0 ? (size_t)got : 0;
	}
	text[*length] = '\0';
	return text;
}

/* NULL, or what went wrong (caller frees); `said`: gnuplot's words. */
static char *failure(int status, const char *folder, const char *script, const char *said)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return NULL;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_STARTED)
		return strncmp(said, "figures need", 12) == 0
			       ? xstrdup(said)
			       : xasprintf("cannot run gnuplot in %s: %s", folder, said);
	if (WIFSIGNALED(status))
		return xasprintf("gnuplot was ended by a signal (%s) on %s/%s%s%s",
				 strsignal(WTERMSIG(status)), folder, script,
				 *said != '\0' ? ": " : "", said);
	return xasprintf("gnuplot failed on %s/%s with exit code %d: %s", folder, script,
			 WEXITSTATUS(status), *said != '\0' ? said : "it says nothing");
}

/* What gnuplot said, without the ends of lines at its end. */
static void read_said(FILE *messages, char *said)
{
	rewind(messages);
	size_t length = fread(said, 1, MESSAGE_MAX - 1, messages);
	while (length > 0 && said[length - 1] == '\n')
		length--;
	said[length] = '\0';
	fclose(messages);
}

static char *could_not(const char *what)
{
	return xasprintf("cannot run gnuplot: %s: %s", what, strerror(errno));
}

char *gnuplot_run(const char *folder, const char *script, size_t *length, char **error)
{
	int ends[2];
	char said[MESSAGE_MAX];
	FILE *messages = tmpfile();
	*error = NULL;
	if (messages == NULL || pipe(ends) != 0) {
		*error = could_not(messages == NULL ? "no temporary file" : "no pipe");
		if (messages != NULL)
			fclose(messages);
		return NULL;
	}
	pid_t child = child_fork();
	if (child == 0) {
		close(ends[0]);
		become_gnuplot(folder, script, ends[1], fileno(messages));
	}
	if (child < 0)
		*error = could_not("no process");
	close(ends[1]);
	char *picture = read_all(ends[0], length);
	close(ends[0]);
	int status = 0;
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	read_said(messages, said);
	if (child > 0)
		*error = failure(status, folder, script, said);
	if (*error == NULL)
		return picture;
	free(picture);
	return NULL;
}
