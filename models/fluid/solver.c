#include "fluid/solver.h"

#include "base/mem.h"
#include "fluid/simgrid/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "inasim-fluid"

extern char **environ;

struct solver {
	int socket;
	pid_t process;
};

/* --- the process --- */

/* The path of PROGRAM: in the directory of the running program or, if it is not there, in the build
 * directory. The caller frees. */
static char *find_program(void)
{
	char self[4096], *slash, *path;
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length > 0) {
		self[length] = 0;
		slash = strrchr(self, '/');
		path = xasprintf("%.*s/%s", (int)(slash - self), self, PROGRAM);
		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return xstrdup(INASIM_BUILD_DIR "/" PROGRAM);
}

/* A terminal, timeout(1) and batch systems signal the whole process group, but the simulation must
 * decide when the solver ends. So the solver starts with these signals blocked. */
static void block_signals(posix_spawnattr_t *attributes)
{
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGHUP);
	posix_spawnattr_init(attributes);
	posix_spawnattr_setsigmask(attributes, &blocked);
	posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK);
}

static bool spawn(struct solver *solver, const char *path, int theirs)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	char *argv[] = { PROGRAM, NULL };
	int failed;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, theirs, STDIN_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	block_signals(&attributes);
	failed = posix_spawn(&solver->process, path, &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	errno = failed;
	return !failed;
}

struct solver *solver_open(char **error)
{
	struct solver *solver;
	char *path = find_program();
	int pair[2];

	if (access(path, X_OK)) {
		*error = xasprintf(
			"fluid.solver simgrid needs the program %s, which is missing: install "
			"libsimgrid-dev (scripts/setup), then build again",
			path);
		free(path);
		return NULL;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		*error = xasprintf("no socket for %s: %s", path, strerror(errno));
		free(path);
		return NULL;
	}
	solver = xcalloc(1, sizeof(*solver));
	solver->socket = pair[0];
	if (!spawn(solver, path, pair[1])) {
		*error = xasprintf("%s does not start: %s", path, strerror(errno));
		close(pair[0]);
		free(solver);
		solver = NULL;
	}
	close(pair[1]);
	free(path);
	return solver;
}

double solver_close(struct solver *solver)
{
	struct rusage usage = { 0 };

	close(solver->socket);
	while (wait4(solver->process, NULL, 0, &usage) < 0 && errno == EINTR)
		;
	free(solver);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* --- the socket --- */

static bool get(const struct solver *solver, void *to, size_t size)
{
	char *at = to;

	while (size) {
		ssize_t n = recv(solver->socket, at, size, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

bool solver_rates(struct solver *solver, const struct platform *platform, bool fresh,
		  const double *share, double *rate)
{
	struct solver_question question = { .routes = platform->routes,
					    .side = platform->side,
					    .text = fresh ? (uint32_t)platform->length : 0 };
	size_t size = platform->routes * sizeof(*share);

	return solver_send(solver->socket, &question, sizeof(question)) &&
	       solver_send(solver->socket, platform->text, question.text) &&
	       solver_send(solver->socket, share, size) && get(solver, rate, size);
}
