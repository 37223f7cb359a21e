/* SimGrid itself as a witness of exported platforms:
 *
 *   transfers PLATFORM [SRC DST BYTES]...
 *
 * loads a platform, starts all transfers at time 0, and prints for each of them in turn
 * the seconds until it was done, the latency of its route in seconds, and the number of
 * links on it. Network model: CM02 without cross traffic, pure max-min sharing. What
 * SimGrid does not accept ends the program with SimGrid's message. */
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xbt/config.h>
#include <xbt/dynar.h>

struct transfer {
	sg_host_t src, dst;
	double bytes, done_s;
};

/* SimGrid calls it as the main function of an actor; argv[1] is its number. */
static struct transfer *transfers;

static void send_one(int argc, char **argv)
{
	struct transfer *transfer = &transfers[strtoul(argv[argc - 1], NULL, 10)];

	sg_host_sendto(transfer->src, transfer->dst, transfer->bytes);
	transfer->done_s = simgrid_get_clock();
}

static void start(size_t number)
{
	char text[24];
	const char *arguments[] = { "send_one", text };

	snprintf(text, sizeof(text), "%zu", number);
	sg_actor_start_(sg_actor_init("send_one", transfers[number].src), send_one, 2, arguments);
}

static sg_host_t host_named(const char *name)
{
	sg_host_t host = sg_host_by_name(name);

	if (!host) {
		fprintf(stderr, "transfers: the platform has no host \"%s\"\n", name);
		exit(2);
	}
	return host;
}

static void print(const struct transfer *transfer)
{
	xbt_dynar_t links = xbt_dynar_new(sizeof(sg_link_t), NULL);

	sg_host_get_route(transfer->src, transfer->dst, links);
	printf("%.12g %.12g %lu\n", transfer->done_s,
	       sg_host_get_route_latency(transfer->src, transfer->dst), xbt_dynar_length(links));
	xbt_dynar_free(&links);
}

int main(int argc, char **argv)
{
	size_t count;

	simgrid_init(&argc, argv);
	sg_cfg_set_string("network/model", "CM02");
	sg_cfg_set_boolean("network/crosstraffic", "no");
	sg_cfg_set_double("surf/precision", 1e-12);
	if (argc < 2 || (argc - 2) % 3) {
		fprintf(stderr, "usage: transfers PLATFORM [SRC DST BYTES]...\n");
		return 2;
	}
	simgrid_load_platform(argv[1]);
	count = (size_t)(argc - 2) / 3;
	transfers = calloc(count ? count : 1, sizeof(*transfers));
	for (size_t i = 0; transfers && i < count; i++) {
		transfers[i].src = host_named(argv[2 + 3 * i]);
		transfers[i].dst = host_named(argv[3 + 3 * i]);
		transfers[i].bytes = strtod(argv[4 + 3 * i], NULL);
		start(i);
	}
	simgrid_run();
	printf("%zu hosts, %zu links\n", sg_host_count(), sg_link_count());
	for (size_t i = 0; transfers && i < count; i++)
		print(&transfers[i]);
	return 0;
}
