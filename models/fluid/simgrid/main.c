/* inasim-fluid: a process in which SimGrid solves for max-min shares.
 *
 * The process answers the simulation's questions (protocol.h) over a socket, its standard input.
 * SimGrid can load only one platform in a process, so each new platform gets a fork.
 *
 * SimGrid is set to pure max-min: CM02 without cross traffic, no latencies (the simulation adds
 * them), the precision of doubles. A route consists of its own FATPIPE link, whose bandwidth is the
 * rate of the transfer if it is alone, and the links that it shares with others. A link that is
 * listed twice has weight 2. SimGrid shares in inverse proportion to latencies, so the latency of a
 * route's own link is 1 / share. The latency factor makes this latency negligible as a time, but
 * not 0, which SimGrid would treat as a share of 1.
 *
 * Transfers never end here: the simulation knows their lengths, and stops them by a share of 0. */
#define _GNU_SOURCE /* memfd_create */
#include "fluid/simgrid/protocol.h"

#include <errno.h>
#include <signal.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/link.h>
#include <simgrid/plugins/load.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define FOR_EVER 1e18 /* bytes */
#define STEP     1e-6 /* seconds until rates are read; any time above 0 would do */

struct transfer {
	sg_link_t cap; /* the route's own link; its load is the rate */
	double share;
	sg_actor_t actor; /* NULL if idle */
};

/* Global, because SimGrid's actors get only text as arguments. */
static struct solver_question question;

static void give_up(const char *what)
{
	fprintf(stderr, "inasim-fluid: %s\n", what);
	_exit(1);
}

/* --- the socket; the simulation closes it when it ends --- */

static void get(void *to, size_t size, int flags)
{
	ssize_t n;

	do
		n = size ? recv(STDIN_FILENO, to, size, MSG_WAITALL | flags) : 0;
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)size)
		_exit(0);
}

static void *room(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size);

	if (!memory)
		give_up("out of memory");
	return memory;
}

/* --- transfers --- */

static void transfer(int argc, char **argv)
{
	(void)argc;
	sg_host_sendto(sg_host_by_name(argv[0]), sg_host_by_name(argv[1]), FOR_EVER);
}

static void change_share(struct transfer *changed, uint32_t route, double share)
{
	char from[16], to[16], *argv[] = { from, to, NULL };

	if (changed->share == share)
		return;
	if (changed->actor)
		sg_actor_kill(changed->actor);
	changed->actor = NULL;
	changed->share = share;
	if (share <= 0)
		return;
	snprintf(from, sizeof(from), "a%u", route / question.side);
	snprintf(to, sizeof(to), "b%u", route % question.side);
	sg_link_set_latency(changed->cap, 1 / share);
	changed->actor = sg_actor_create("transfer", sg_host_self(), transfer, 2, argv);
}

/* The plugin knows only the largest rate since its last reset. Right after a reset this is the
 * present rate. */
static double rate_of(const struct transfer *transfer)
{
	if (!transfer->actor)
		return 0;
	sg_link_load_reset(transfer->cap);
	return sg_link_get_max_instantaneous_load(transfer->cap);
}

static struct transfer *open_transfers(void)
{
	struct transfer *transfers = room(question.routes, sizeof(*transfers));

	for (uint32_t i = 0; i < question.routes; i++) {
		char name[16];

		snprintf(name, sizeof(name), "c%u", i);
		transfers[i].cap = sg_link_by_name(name);
		sg_link_load_track(transfers[i].cap);
	}
	return transfers;
}

/* Answers questions about one platform; main() has read the header of the first one. A question
 * with a new platform stays in the socket for main(), which goes on when this process ends. */
static void answer(int argc, char **argv)
{
	struct transfer *transfers = open_transfers();
	double *values = room(question.routes, sizeof(*values));

	(void)argc, (void)argv;
	do {
		get(values, question.routes * sizeof(*values), 0);
		for (uint32_t i = 0; i < question.routes; i++)
			change_share(&transfers[i], i, values[i]);
		sg_actor_sleep_for(STEP);
		for (uint32_t i = 0; i < question.routes; i++)
			values[i] = rate_of(&transfers[i]);
		if (!solver_send(STDIN_FILENO, values, question.routes * sizeof(*values)))
			_exit(0);
		get(&question, sizeof(question), MSG_PEEK);
		if (question.text)
			_exit(0);
		get(&question, sizeof(question), 0);
	} while (true);
}

/* --- SimGrid --- */

static void load_platform(const char *text)
{
	char path[32];
	int fd = memfd_create("platform", MFD_CLOEXEC);

	if (fd < 0 || write(fd, text, question.text) != (ssize_t)question.text)
		give_up("the platform has no room in memory");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	simgrid_load_platform(path);
	close(fd);
}

static void serve(const char *text)
{
	load_platform(text);
	sg_actor_create("answer", sg_host_by_name("a0"), answer, 0, NULL);
	simgrid_run();
	give_up("SimGrid has ended by itself");
}

static void init(void)
{
	char *argv[] = { "inasim-fluid",
			 "--log=root.thres:critical",
			 "--cfg=network/model:CM02",
			 "--cfg=network/crosstraffic:0",
			 "--cfg=network/TCP-gamma:0",
			 "--cfg=network/latency-factor:1e-18",
			 "--cfg=surf/precision:1e-12",
			 "--cfg=maxmin/precision:1e-12",
			 "--cfg=contexts/stack-size:64",
			 NULL };
	int argc = sizeof(argv) / sizeof(*argv) - 1;

	simgrid_init(&argc, argv);
	sg_link_load_plugin_init();
}

int main(void)
{
	init();
	for (;;) {
		char *text;
		int status;
		pid_t child;

		get(&question, sizeof(question), 0);
		text = room(question.text, 1);
		get(text, question.text, 0);
		child = fork();
		if (child < 0)
			give_up(strerror(errno));
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the parent is killed */
			serve(text);
		}
		free(text);
		if (waitpid(child, &status, 0) != child || status)
			return 1; /* the simulation sees that the socket is closed */
	}
}
