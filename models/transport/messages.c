#include "transport/messages.h"

#include "base/ring.h"
#include "transport/cc/dctcp.h"
#include "transport/keys.h"

#include <stdlib.h>

static struct message *oldest(const struct messages *messages)
{
	return &messages->ring[messages->head & messages->mask];
}

/* Waits for the last byte of the oldest message. */
static void expect(struct messages *messages)
{
	if (!messages->count || messages->expecting)
		return;
	messages->expecting = true;
	if (messages->src == messages->dst)
		timer_set(messages->net->sim, &messages->timer, messages->net->sim->now);
	else
		tcp_expect(messages->tcp, messages->conn, oldest(messages)->end);
}

static void on_bytes(void *owner, uint64_t total)
{
	struct messages *messages = owner;

	while (messages->count && oldest(messages)->end <= total) {
		struct message message = *oldest(messages);

		messages->head++;
		messages->count--;
		if (message.way)
			why_work_ends(messages->net, connection_job(messages->key), messages->dst,
				      message.way);
		messages->arrived(messages->owner, &message);
	}
	messages->expecting = false;
	expect(messages);
}

static const struct tcp_app app = { .delivered = on_bytes };

static void messages_on_timer(struct sim *sim, uint32_t entity, void *owner)
{
	struct messages *messages = owner;

	(void)sim, (void)entity;
	on_bytes(messages, messages->written);
}

void messages_init(struct messages *messages, struct tcp *tcp, const struct network *net,
		   uint32_t src, uint32_t dst, uint64_t key,
		   void (*arrived)(void *owner, const struct message *message), void *owner)
{
	*messages = (struct messages){ .tcp = tcp,
				       .net = net,
				       .src = src,
				       .dst = dst,
				       .key = key,
				       .arrived = arrived,
				       .owner = owner };
}

void messages_release(struct messages *messages)
{
	if (messages->open && messages->src == messages->dst)
		timer_close(messages->net->sim, &messages->timer);
	else if (messages->open)
		tcp_close(messages->tcp, messages->conn);
	free(messages->ring);
	messages->ring = NULL;
	messages->open = false;
}

static void open_connection(struct messages *messages)
{
	messages->open = true;
	if (messages->src == messages->dst) {
		/* no TCP connection has this key, so the timer can use it */
		timer_open(messages->net->sim, &messages->timer, SIM_TIMER,
			   timer_key(TIMER_TCP, 2 * messages->key), messages_on_timer, messages);
		sim_name(messages->net->sim, messages_on_timer, "messages of a host to itself %h");
	} else {
		messages->conn = tcp_open(messages->tcp, messages->src, messages->dst, &dctcp_cc, 0,
					  messages->key, &app, messages);
		if (!messages->bulk)
			tcp_set_urgent(messages->tcp, messages->conn);
		if (messages->timeout)
			tcp_set_timeout(messages->tcp, messages->conn, messages->timeout);
	}
}

bool messages_under_way(const struct messages *messages, uint32_t type, uint64_t number)
{
	for (uint64_t i = messages->head; i < messages->head + messages->count; i++) {
		const struct message *message = &messages->ring[i & messages->mask];

		if (message->number == number && message->type == type)
			return true;
	}
	return false;
}

void messages_send(struct messages *messages, struct message message, uint32_t size)
{
	uint64_t number = messages->head + messages->count++;

	if (!messages->open)
		open_connection(messages);
	messages->ring = ring_reserve(messages->ring, &messages->mask, messages->head, number,
				      sizeof(*messages->ring));
	messages->written += size;
	message.end = messages->written;
	if (messages->src == messages->dst)
		message.way = why_tells_itself(messages->net, connection_job(messages->key),
					       messages->src);
	else
		tcp_write(messages->tcp, messages->conn, size);
	messages->ring[number & messages->mask] = message;
	expect(messages);
}
