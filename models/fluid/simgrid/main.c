/* inasim-fluid: SimGrid as a solver of max-min shares, a process of its own.
 *
 * Talks to the simulation over the socket that is its standard input (protocol.h). It never
 * loads a platform itself: for every epoch it forks, so that what SimGrid allows once a process
 * happens once a process, and loading its libraries is paid for once.
 *
 * SimGrid is told to be pure max-min: CM02 without cross traffic, no latencies (the simulation adds
 * them), as precise as doubles are. A route is a FATPIPE link of its own, whose bandwidth is the
 * transfer's rate when nobody else is there, and the links that it shares with others; one that is
 * listed twice has weight 2. */
#define _GNU_SOURCE /* memfd_create */
#include "fluid/simgrid/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/link.h>
#include <simgrid/semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PRECISION 1e-12 /* seconds; SimGrid's own */
#define UNLIMITED 1e20  /* scaled bytes per second; more than any link */

/* One epoch; SimGrid gives actors no other way to their data than through globals or text. */
static struct {
	struct epoch_head head;
	double *alone;
	sg_sem_t ended;           /* counts transfers that have ended since the last answer */
	struct epoch_fact *facts; /* those */
	uint32_t count;
	uint32_t active;
	double *bytes; /* of the transfer on a route, until it has begun */
} epoch;

static void give_up(const char *what)
{
	fprintf(stderr, "inasim-fluid: %s\n", what);
	_exit(1);
}

/* --- the socket --- */

/* False at its end. */
static bool get(void *to, size_t size)
{
	char *at = to;

	while (size) {
		ssize_t n = read(STDIN_FILENO, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			give_up(strerror(errno));
		if (n == 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

static void need(void *to, size_t size)
{
	if (!get(to, size))
		_exit(0); /* the simulation has ended */
}

static void put(const void *from, size_t size)
{
	const char *at = from;

	while (size) {
		ssize_t n = write(STDIN_FILENO, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			_exit(0);
		at += n;
		size -= (size_t)n;
	}
}

static void *room(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size);

	if (!memory)
		give_up("out of memory");
	return memory;
}

/* --- transfers --- */

static sg_host_t host(char side, uint32_t number)
{
	char name[16];

	snprintf(name, sizeof(name), "%c%u", side, number);
	return sg_host_by_name(name);
}

static void transfer(int argc, char **argv)
{
	uint32_t route = (uint32_t)strtoul(argv[0], NULL, 10);

	(void)argc;
	sg_host_sendto(host('a', route / epoch.head.side), host('b', route % epoch.head.side),
		       floor(epoch.bytes[route] * EPOCH_SCALE + 0.5));
	epoch.facts[epoch.count++] =
		(struct epoch_fact){ .value = simgrid_get_clock(), .route = route };
	epoch.active--;
	sg_sem_release(epoch.ended);
}

static void start(const struct epoch_order *order)
{
	char text[16], *argv[] = { text, NULL };

	snprintf(text, sizeof(text), "%u", order->route);
	epoch.bytes[order->route] = order->bytes;
	epoch.active++;
	sg_actor_create("transfer", host('a', order->route / epoch.head.side), transfer, 1, argv);
}

/* Until `at`; with `first`, only until a transfer has ended. */
static void advance(double at, bool first)
{
	while (!(first && epoch.count)) {
		double left = at - simgrid_get_clock();

		if (left < PRECISION || (isinf(at) && !epoch.active))
			return;
		if (isinf(at))
			sg_sem_acquire(epoch.ended);
		else if (sg_sem_acquire_timeout(epoch.ended, left))
			return;
	}
}

static void answer(void)
{
	struct epoch_reply reply = { .now = simgrid_get_clock(), .count = epoch.count };

	while (sg_sem_get_capacity(epoch.ended))
		sg_sem_acquire(epoch.ended);
	put(&reply, sizeof(reply));
	put(epoch.facts, epoch.count * sizeof(*epoch.facts));
	epoch.count = 0;
}

/* How much remains of the active transfers: let loose from each other, each goes at the rate that
 * it has when alone. */
static void drain(void)
{
	double begun = simgrid_get_clock();
	uint32_t before = epoch.count;
	char name[16];

	for (uint32_t l = 0; l < epoch.head.links; l++) {
		snprintf(name, sizeof(name), "l%u", l);
		sg_link_set_bandwidth(sg_link_by_name(name), UNLIMITED);
	}
	while (epoch.active)
		sg_sem_acquire(epoch.ended);
	for (uint32_t i = before; i < epoch.count; i++) {
		struct epoch_fact *fact = &epoch.facts[i];

		fact->value = (fact->value - begun) * epoch.alone[fact->route];
		fact->remains = true;
	}
}

/* Until the next transfer ends, if nothing else begins. */
static void go_ahead(void)
{
	epoch.count = 0;
	advance(INFINITY, true);
}

/* A copy of this process looks and answers, `ahead` for when the next transfer ends; this one has
 * not moved. */
static void look(bool ahead)
{
	pid_t copy = fork();

	if (copy < 0)
		give_up(strerror(errno));
	if (copy == 0) {
		if (ahead)
			go_ahead();
		drain();
		answer();
		_exit(0);
	}
	if (waitpid(copy, &(int){ 0 }, 0) != copy)
		give_up(strerror(errno));
}

static void controller(int argc, char **argv)
{
	struct epoch_order order;

	(void)argc, (void)argv;
	for (;;) {
		need(&order, sizeof(order));
		switch ((enum order_kind)order.kind) {
		case ORDER_START:
			advance(order.at, false);
			start(&order);
			break;
		case ORDER_RUN:
			advance(order.at, true);
			answer();
			break;
		case ORDER_LOOK:
			advance(order.at, false);
			look(false);
			break;
		case ORDER_AHEAD:
			look(true);
			break;
		case ORDER_END:
			advance(order.at, false);
			drain();
			answer();
			_exit(0);
		}
	}
}

/* --- epochs --- */

static void load_platform(char *text)
{
	char path[32];
	int fd = memfd_create("platform", MFD_CLOEXEC);

	if (fd < 0 || write(fd, text, epoch.head.text) != (ssize_t)epoch.head.text)
		give_up("the platform has no room in memory");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	simgrid_load_platform(path);
	close(fd);
}

static void serve(char *text)
{
	char *argv[] = { "inasim-fluid",
			 "--log=root.thres:critical",
			 "--cfg=network/model:CM02",
			 "--cfg=network/crosstraffic:0",
			 "--cfg=surf/precision:1e-12",
			 "--cfg=maxmin/precision:1e-12",

			 "--cfg=contexts/stack-size:64",
			 NULL };
	int argc = sizeof(argv) / sizeof(*argv) - 1;

	simgrid_init(&argc, argv);
	load_platform(text);
	epoch.bytes = room(epoch.head.routes, sizeof(*epoch.bytes));
	epoch.facts = room(epoch.head.routes, sizeof(*epoch.facts));
	epoch.ended = sg_sem_init(0);
	sg_actor_create("controller", sg_host_by_name("a0"), controller, 0, NULL);
	simgrid_run();
	give_up("SimGrid has ended by itself");
}

int main(void)
{
	/* The simulation decides when to end; a terminal and timeout(1) signal the whole group. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	while (get(&epoch.head, sizeof(epoch.head))) {
		char *text = room(epoch.head.text, 1);
		int status;
		pid_t child;

		epoch.alone = room(epoch.head.routes, sizeof(*epoch.alone));
		need(text, epoch.head.text);
		need(epoch.alone, epoch.head.routes * sizeof(*epoch.alone));
		child = fork();
		if (child < 0)
			give_up(strerror(errno));
		if (child == 0)
			serve(text);
		free(text);
		free(epoch.alone);
		if (waitpid(child, &status, 0) != child || status)
			return 1; /* the simulation sees that the socket is closed */
	}
	return 0;
}
