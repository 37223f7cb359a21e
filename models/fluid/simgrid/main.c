/* inasim-fluid: SimGrid as a solver of max-min shares, a process of its own.
 *
 * Talks to the simulation over the socket that is its standard input (protocol.h). It never
 * loads a platform itself: for every epoch it forks, so that what SimGrid allows once a process
 * happens once a process, and loading its libraries is paid for once.
 *
 * SimGrid is told to be pure max-min: CM02 without cross traffic, no latencies (the simulation adds
 * them), as precise as doubles are. A route is a FATPIPE link of its own, whose bandwidth is the
 * transfer's rate when nobody else is there, and the links that it shares with others; one that is
 * listed twice has weight 2. Rates are shared in inverse proportion to latencies, which is how a
 * route has its share: its link's latency is 1 / share. The factor makes it nothing as a time, but
 * more than 0, for then SimGrid would take a share of 1. */
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
#include <simgrid/plugins/load.h>
#include <simgrid/semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PRECISION 1e-12 /* seconds; SimGrid's own */

struct transfer {
	sg_link_t cap; /* its own link, which knows its rate */
	double left;   /* bytes, when the rates were last seen */
	double rate;   /* bytes per second then */
	bool active;
	sg_sem_t begins; /* its actor waits for that; NULL = it has none yet */
};

/* One epoch; SimGrid gives actors no other way to their data than through globals or text. */
static struct {
	struct epoch_head head;
	struct transfer *transfers; /* by route */
	sg_sem_t ended;             /* counts those that have ended since the last answer */
	struct epoch_reply *reply;  /* with room for all routes */
	uint32_t active;
	double seen;      /* when `left` was true */
	bool rates_known; /* since then, and nothing has begun or ended */
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

/* The next order; as many as have come are read at once. An epoch's last one is waited for. */
static struct epoch_order next_order(void)
{
	static struct epoch_order orders[64];
	static size_t bytes, taken;

	while (bytes < (taken + 1) * sizeof(*orders)) {
		ssize_t n;

		if (bytes == taken * sizeof(*orders))
			bytes = taken = 0;
		n = read(STDIN_FILENO, (char *)orders + bytes, sizeof(orders) - bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(0); /* the simulation has ended */
		bytes += (size_t)n;
	}
	return orders[taken++];
}

/* --- what remains --- */

/* SimGrid does not say what remains of a transfer, but which rate its link has; rates are constant
 * until a transfer begins or ends, and SimGrid knows them when time has passed since. The plugin
 * only has the extreme rates since its last reset: right after it, both are the present one. */
static double rate_of(const struct transfer *transfer)
{
	sg_link_load_reset(transfer->cap);
	return sg_link_get_max_instantaneous_load(transfer->cap) / EPOCH_SCALE;
}

/* Before a transfer begins or ends, and before anybody asks. */
static void see(void)
{
	double now = simgrid_get_clock(), passed = now - epoch.seen;

	if (passed <= 0)
		return;
	for (uint32_t i = 0; i < epoch.head.routes; i++) {
		struct transfer *transfer = &epoch.transfers[i];

		if (!transfer->active)
			continue;
		if (!epoch.rates_known)
			transfer->rate = rate_of(transfer);
		transfer->left -= transfer->rate * passed;
	}
	epoch.rates_known = true;
	epoch.seen = now;
}

static double next_end(void)
{
	double next = INFINITY;

	if (!epoch.rates_known)
		return 0;
	for (uint32_t i = 0; i < epoch.head.routes; i++) {
		const struct transfer *transfer = &epoch.transfers[i];

		if (transfer->active)
			next = fmin(next, epoch.seen + transfer->left / transfer->rate);
	}
	return next;
}

static void add_remains(void)
{
	for (uint32_t i = 0; i < epoch.head.routes; i++) {
		const struct transfer *transfer = &epoch.transfers[i];

		if (transfer->active)
			epoch.reply->facts[epoch.reply->count++] = (struct epoch_fact){
				.value =
					fmax(transfer->left, 0), /* 0: ends now, but for rounding */
				.rate = epoch.rates_known ? transfer->rate : 0,
				.route = i,
				.remains = true,
			};
	}
}

/* --- transfers --- */

static sg_host_t host(char side, uint32_t number)
{
	char name[16];

	snprintf(name, sizeof(name), "%c%u", side, number);
	return sg_host_by_name(name);
}

/* All transfers on a route, one after the other: making an actor takes longer than a transfer. */
static void transfer(int argc, char **argv)
{
	uint32_t route = (uint32_t)strtoul(argv[0], NULL, 10);
	struct transfer *own = &epoch.transfers[route];
	sg_host_t from = host('a', route / epoch.head.side);
	sg_host_t to = host('b', route % epoch.head.side);

	(void)argc;
	for (;;) {
		sg_sem_acquire(own->begins);
		sg_host_sendto(from, to, own->left * EPOCH_SCALE);
		see();
		epoch.rates_known = false;
		own->active = false;
		epoch.reply->facts[epoch.reply->count++] =
			(struct epoch_fact){ .value = simgrid_get_clock(), .route = route };
		epoch.active--;
		sg_sem_release(epoch.ended);
	}
}

static void start(const struct epoch_order *order)
{
	char text[16], *argv[] = { text, NULL };
	struct transfer *begun = &epoch.transfers[order->route];

	see();
	epoch.rates_known = false;
	begun->left = floor(order->bytes * EPOCH_SCALE + 0.5) / EPOCH_SCALE;
	begun->active = true;
	epoch.active++;
	if (!begun->begins) {
		begun->begins = sg_sem_init(0);
		snprintf(text, sizeof(text), "%u", order->route);
		sg_actor_create("transfer", sg_host_self(), transfer, 1, argv);
	}
	sg_sem_release(begun->begins);
}

/* Until `at`; with `first`, only until a transfer has ended. */
static void advance(double at, bool first)
{
	while (!(first && epoch.reply->count)) {
		double left = at - simgrid_get_clock();

		if (left < PRECISION || (isinf(at) && !epoch.active))
			break;
		if (isinf(at))
			sg_sem_acquire(epoch.ended);
		else if (sg_sem_acquire_timeout(epoch.ended, left))
			break;
	}
	sg_actor_yield(); /* to transfers that end now */
	see();
}

static void send_reply(void)
{
	epoch.reply->next_end = next_end();
	put(epoch.reply, sizeof(*epoch.reply) + epoch.reply->count * sizeof(*epoch.reply->facts));
}

static void answer(void)
{
	while (sg_sem_get_capacity(epoch.ended))
		sg_sem_acquire(epoch.ended);
	send_reply();
	epoch.reply->count = 0;
}

/* What has ended is told again. */
static void look(void)
{
	uint32_t ended = epoch.reply->count;

	add_remains();
	send_reply();
	epoch.reply->count = ended;
}

static void open_transfers(void)
{
	uint32_t count = epoch.head.routes;

	epoch.reply = room(1, sizeof(*epoch.reply) + count * sizeof(*epoch.reply->facts));
	epoch.transfers = room(count, sizeof(*epoch.transfers));
	for (uint32_t i = 0; i < count; i++) {
		char name[16];

		snprintf(name, sizeof(name), "c%u", i);
		epoch.transfers[i].cap = sg_link_by_name(name);
		sg_link_load_track(epoch.transfers[i].cap);
	}
}

static void controller(int argc, char **argv)
{
	(void)argc, (void)argv;
	open_transfers();
	for (;;) {
		struct epoch_order order = next_order();

		advance(order.at, order.kind == ORDER_RUN);
		switch ((enum order_kind)order.kind) {
		case ORDER_START:
			start(&order);
			break;
		case ORDER_RUN:
			answer();
			break;
		case ORDER_LOOK:
			look();
			break;
		case ORDER_END:
			look();
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
			 "--cfg=network/TCP-gamma:0",
			 "--cfg=network/latency-factor:1e-18",
			 "--cfg=surf/precision:1e-12",
			 "--cfg=maxmin/precision:1e-12",

			 "--cfg=contexts/stack-size:64",
			 NULL };
	int argc = sizeof(argv) / sizeof(*argv) - 1;

	simgrid_init(&argc, argv);
	sg_link_load_plugin_init();
	load_platform(text);
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

		if (!get(text, epoch.head.text))
			break; /* the simulation has ended */
		child = fork();
		if (child < 0)
			give_up(strerror(errno));
		if (child == 0)
			serve(text);
		free(text);
		if (waitpid(child, &status, 0) != child || status)
			return 1; /* the simulation sees that the socket is closed */
	}
	return 0;
}
