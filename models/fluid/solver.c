#include "fluid/solver.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM   "inasim-fluid"
#define MOST_HELD 1024 /* orders that wait for the next question */

extern char **environ;

struct solver {
	int socket; /* -1 = gone */
	pid_t process;
	struct epoch_order held[MOST_HELD];
	size_t held_count;
	struct epoch_reply *reply;
	size_t room; /* of it, in bytes */
};

/* --- the process --- */

/* Beside the program that runs, else where it was built. Caller frees. */
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

static bool spawn(struct solver *solver, const char *path, int theirs)
{
	posix_spawn_file_actions_t actions;
	char *argv[] = { PROGRAM, NULL };
	int failed;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, theirs, STDIN_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	failed = posix_spawn(&solver->process, path, &actions, NULL, argv, environ);
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
		*error = xasprintf("the fluid fidelity needs the program %s, which is built where "
				   "libsimgrid-dev is installed (scripts/setup)",
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

	if (solver->socket >= 0)
		close(solver->socket);
	while (wait4(solver->process, NULL, 0, &usage) < 0 && errno == EINTR)
		;
	free(solver->reply);
	free(solver);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* --- the socket --- */

static bool lose(struct solver *solver)
{
	if (solver->socket >= 0)
		close(solver->socket);
	solver->socket = -1;
	return false;
}

static bool put(struct solver *solver, const void *from, size_t size)
{
	const char *at = from;

	while (size && solver->socket >= 0) {
		ssize_t n = send(solver->socket, at, size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return lose(solver);
		at += n;
		size -= (size_t)n;
	}
	return solver->socket >= 0;
}

/* Waits until `size` bytes of the reply are there, of which there are `have`, and takes more if
 * they are. How many there are; 0 when the solver is gone. */
static size_t get(struct solver *solver, size_t have, size_t size)
{
	if (size > solver->room) {
		solver->room = 2 * size;
		solver->reply = xrealloc(solver->reply, solver->room, 1);
	}
	while (have < size && solver->socket >= 0) {
		ssize_t n = read(solver->socket, (char *)solver->reply + have, solver->room - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return lose(solver);
		have += (size_t)n;
	}
	return have;
}

/* --- questions --- */

bool solver_begin(struct solver *solver, const struct platform *platform)
{
	struct epoch_head head = { .routes = platform->routes,
				   .side = platform->side,
				   .links = platform->links,
				   .text = (uint32_t)platform->length };

	solver->held_count = 0;
	return put(solver, &head, sizeof(head)) && put(solver, platform->text, platform->length);
}

static bool send_held(struct solver *solver)
{
	size_t count = solver->held_count;

	solver->held_count = 0;
	return put(solver, solver->held, count * sizeof(*solver->held));
}

static void hold(struct solver *solver, const struct epoch_order *order)
{
	if (solver->held_count == MOST_HELD)
		send_held(solver);
	solver->held[solver->held_count++] = *order;
}

void solver_start(struct solver *solver, uint32_t route, double at, double size)
{
	hold(solver, &(struct epoch_order){ ORDER_START, route, at, size });
}

const struct epoch_reply *solver_ask(struct solver *solver, enum order_kind kind, double at)
{
	size_t have, head = sizeof(*solver->reply);

	hold(solver, &(struct epoch_order){ .kind = kind, .at = at });
	have = send_held(solver) ? get(solver, 0, head) : 0;
	if (!have)
		return NULL;
	have = get(solver, have, head + solver->reply->count * sizeof(*solver->reply->facts));
	return have ? solver->reply : NULL;
}
