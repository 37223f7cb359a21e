/* What runs inside the virtual machine, where each host is a network namespace.
 *   guest plain DEVICE         no segmentation by the device: a packet is a frame
 *   guest step DEVICE PACKETS  marks a packet when more than PACKETS whole frames wait before it
 *   guest flows CONTROL FILE   sends FILE's flows (start_us size source destination) over
 * connections that are open before, and prints a line for each: start, size, time until the
 * receiver has the last byte, marks, retransmissions */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { FLOWS_MAX = 128, HOSTS_MAX = 16, FRAME = 1518, PORT = 5000, CHUNK = 1 << 20 };

struct flow {
	int64_t start, done; /* ns; start relative to the beginning */
	int64_t size, unsent, received;
	int source, destination; /* numbers of hosts */
	int out, in;             /* sockets */
};

static char buffer[CHUNK];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* plain */

static void plain(const char *device)
{
	static const uint32_t offloads[] = { ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO };
	int s = socket(AF_INET, SOCK_DGRAM, 0);

	for (size_t i = 0; i < sizeof(offloads) / sizeof(*offloads); i++) {
		struct ethtool_value off = { .cmd = offloads[i] };
		struct ifreq request = { .ifr_data = (char *)&off };

		strncpy(request.ifr_name, device, IFNAMSIZ - 1);
		if (ioctl(s, SIOCETHTOOL, &request))
			die(device);
	}
}

/* step */

struct message {
	struct nlmsghdr header;
	struct tcmsg tc;
	char attributes[1024];
};

static struct rtattr *append(struct message *m, int type, const void *data, size_t size)
{
	struct rtattr *a = (struct rtattr *)((char *)m + NLMSG_ALIGN(m->header.nlmsg_len));

	a->rta_type = (unsigned short)type;
	a->rta_len = (unsigned short)RTA_LENGTH(size);
	if (size)
		memcpy(RTA_DATA(a), data, size);
	m->header.nlmsg_len = NLMSG_ALIGN(m->header.nlmsg_len) + RTA_ALIGN(a->rta_len);
	return a;
}

/* RED with a weight of 1 (Wlog 0), which tc cannot say: the queue of this instant decides. A table
 * of 31 halves the average away as soon as the queue has been empty. */
static void step(const char *device, uint32_t packets)
{
	uint32_t min = packets * FRAME + FRAME / 2, certain = UINT32_MAX;
	struct tc_red_qopt red = {
		.limit = 2000 * FRAME, .qth_min = min, .qth_max = min + 1, .flags = TC_RED_ECN
	};
	struct message m = {
		.header = { .nlmsg_len = NLMSG_LENGTH(sizeof(m.tc)),
			    .nlmsg_type = RTM_NEWQDISC,
			    .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_ACK },
		.tc = { .tcm_ifindex = (int)if_nametoindex(device),
			.tcm_parent = 0x10001,
			.tcm_handle = 0x100000 },
	};
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
	} answer = { 0 };
	char table[256];
	struct rtattr *options;
	int s = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

	memset(table, 31, sizeof(table));
	append(&m, TCA_KIND, "red", 4);
	options = append(&m, TCA_OPTIONS, NULL, 0);
	append(&m, TCA_RED_PARMS, &red, sizeof(red));
	append(&m, TCA_RED_STAB, table, sizeof(table));
	append(&m, TCA_RED_MAX_P, &certain, sizeof(certain));
	options->rta_len = (unsigned short)((char *)&m + m.header.nlmsg_len - (char *)options);
	if (send(s, &m, m.header.nlmsg_len, 0) < 0 || recv(s, &answer, sizeof(answer), 0) < 0)
		die("netlink");
	errno = -answer.error.error;
	if (errno)
		die("red");
}

/* flows */

static void enter(int host)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/h%d", host);
	fd = open(path, O_RDONLY);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die(path);
	close(fd);
}

static int make_socket(int host, const char *control)
{
	int size = 64 << 20, one = 1, s;

	enter(host);
	s = socket(AF_INET, SOCK_STREAM, 0);
	if (setsockopt(s, IPPROTO_TCP, TCP_CONGESTION, control, (socklen_t)strlen(control)))
		die(control);
	setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	setsockopt(s, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return s;
}

static struct sockaddr_in address(int host)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(PORT) };

	a.sin_addr.s_addr = htonl(0x0a000001U + ((uint32_t)host << 16)); /* 10.HOST.0.1 */
	return a;
}

static void open_connection(struct flow *f, const char *control)
{
	static int listeners[HOSTS_MAX];
	struct sockaddr_in to = address(f->destination);
	int *listener = &listeners[f->destination];

	if (!*listener) {
		*listener = make_socket(f->destination, control);
		if (bind(*listener, (struct sockaddr *)&to, sizeof(to)) ||
		    listen(*listener, FLOWS_MAX))
			die("listen");
	}
	f->out = make_socket(f->source, control);
	if (connect(f->out, (struct sockaddr *)&to, sizeof(to)))
		die("connect");
	f->in = accept(*listener, NULL, NULL);
	if (f->in < 0)
		die("accept");
	fcntl(f->out, F_SETFL, O_NONBLOCK);
	fcntl(f->in, F_SETFL, O_NONBLOCK);
}

static void feed(struct flow *f)
{
	while (f->unsent) {
		ssize_t n = send(f->out, buffer, f->unsent < CHUNK ? (size_t)f->unsent : CHUNK, 0);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0)
			die("send");
		f->unsent -= n;
	}
}

static void drain(struct flow *f)
{
	ssize_t n;

	while (!f->done && (n = recv(f->in, buffer, CHUNK, 0)) > 0) {
		f->received += n;
		if (f->received == f->size)
			f->done = now();
	}
}

/* Sends and receives what it can; returns when to look again, 0 when all is done. */
static int64_t serve(struct flow *flows, int count, int64_t begin, struct pollfd *polls,
		     nfds_t *polled)
{
	int64_t time = now(), next = INT64_MAX;
	bool open = false;

	*polled = 0;
	for (struct flow *f = flows; f < flows + count; f++) {
		bool begun = time >= begin + f->start;

		if (f->done)
			continue;
		if (begun)
			feed(f);
		else if (begin + f->start < next)
			next = begin + f->start;
		drain(f);
		open |= !f->done;
		polls[(*polled)++] = (struct pollfd){ .fd = f->in, .events = POLLIN };
		if (begun && f->unsent)
			polls[(*polled)++] = (struct pollfd){ .fd = f->out, .events = POLLOUT };
	}
	return open ? next : 0;
}

static void report(const struct flow *f, int64_t begin)
{
	struct tcp_info info = { 0 };
	socklen_t size = sizeof(info);

	getsockopt(f->out, IPPROTO_TCP, TCP_INFO, &info, &size);
	printf("flow %lld %lld %.1f %u %u\n", (long long)f->start / 1000, (long long)f->size,
	       (double)(f->done - begin - f->start) / 1e3, info.tcpi_delivered_ce,
	       info.tcpi_total_retrans);
}

static void run_flows(const char *control, const char *file)
{
	static struct flow flows[FLOWS_MAX];
	struct pollfd polls[2 * FLOWS_MAX];
	nfds_t polled;
	int count = 0;
	int64_t begin, next;
	long long start, size;
	FILE *in = fopen(file, "r");

	if (!in)
		die(file);
	for (struct flow *f = flows;
	     count < FLOWS_MAX &&
	     fscanf(in, "%lld %lld %d %d", &start, &size, &f->source, &f->destination) == 4;
	     f++, count++) {
		f->start = start * 1000;
		f->size = f->unsent = size;
	}
	for (struct flow *f = flows; f < flows + count; f++)
		open_connection(f, control);
	usleep(500000); /* the handshakes are over */
	begin = now() + 5000000;
	while ((next = serve(flows, count, begin, polls, &polled))) {
		int64_t wait = next == INT64_MAX ? 1000000000 : next - now();
		struct timespec t = { wait / 1000000000, wait % 1000000000 };

		if (wait > 0)
			ppoll(polls, polled, &t, NULL);
	}
	usleep(100000); /* the last acknowledgements count, too */
	for (const struct flow *f = flows; f < flows + count; f++)
		report(f, begin);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "plain"))
		plain(argv[2]);
	else if (argc == 4 && !strcmp(argv[1], "step"))
		step(argv[2], (uint32_t)atoi(argv[3]));
	else if (argc == 4 && !strcmp(argv[1], "flows"))
		run_flows(argv[2], argv[3]);
	else
		return 2;
	return 0;
}
