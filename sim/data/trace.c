#include "data/trace.h"

#include "base/mem.h"

#include <perfetto.pb-c.h> /* of perfetto.proto, by protoc-c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trace {
	ProtobufCBuffer buffer; /* must be first: append() casts its address to the trace */
	uint8_t *bytes;
	size_t length, capacity, max_bytes;
	uint64_t tracks, left_out;
};

static void append(ProtobufCBuffer *buffer, size_t length, const uint8_t *data)
{
	struct trace *trace = (struct trace *)(void *)buffer;

	for (size_t i = 0; i < length; i++) {
		trace->bytes = array_reserve(trace->bytes, trace->length, &trace->capacity, 1);
		trace->bytes[trace->length++] = data[i];
	}
}

struct trace *trace_new(size_t max_bytes)
{
	struct trace *trace = xcalloc(1, sizeof(*trace));

	trace->buffer.append = append;
	trace->max_bytes = max_bytes;
	return trace;
}

void trace_free(struct trace *trace)
{
	if (!trace)
		return;
	free(trace->bytes);
	free(trace);
}

/* Appends a trace of this packet alone: protobuf reads concatenated messages as one. */
static void put(struct trace *trace, Perfetto__TracePacket *packet)
{
	Perfetto__Trace one = PERFETTO__TRACE__INIT;

	packet->has_trusted_packet_sequence_id = 1;
	packet->trusted_packet_sequence_id = 1; /* all packets come from one writer */
	one.n_packet = 1;
	one.packet = &packet;
	perfetto__trace__pack_to_buffer(&one, &trace->buffer);
}

uint64_t trace_track(struct trace *trace, uint64_t parent, const char *name, const char *unit)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__CounterDescriptor counter = PERFETTO__COUNTER_DESCRIPTOR__INIT;

	track.has_uuid = 1;
	track.uuid = ++trace->tracks;
	track.name = (char *)(uintptr_t)name; /* protobuf-c takes no const; it only reads */
	track.has_parent_uuid = parent != 0;
	track.parent_uuid = parent;
	counter.unit_name = (char *)(uintptr_t)unit;
	track.counter = unit ? &counter : NULL;
	packet.track_descriptor = &track;
	put(trace, &packet);
	return track.uuid;
}

/* Whether there is room for an event; else counts it as left out. */
static bool has_room(struct trace *trace)
{
	bool room = trace->length < trace->max_bytes;

	trace->left_out += !room;
	return room;
}

static void put_event(struct trace *trace, uint64_t track, sim_time at, Perfetto__TrackEvent *event,
		      Perfetto__TrackEvent__Type type)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	event->has_type = event->has_track_uuid = 1;
	event->type = type;
	event->track_uuid = track;
	packet.has_timestamp = 1;
	packet.timestamp = at / PS_PER_NS;
	packet.track_event = event;
	put(trace, &packet);
}

static void annotate(Perfetto__TrackEvent *event, Perfetto__DebugAnnotation **note,
		     const char *name, uint64_t value)
{
	(*note)->name = (char *)(uintptr_t)name;
	(*note)->has_uint_value = 1;
	(*note)->uint_value = value;
	event->n_debug_annotations = 1;
	event->debug_annotations = note;
}

void trace_slice(struct trace *trace, uint64_t track, const char *name, sim_time begin,
		 sim_time end)
{
	Perfetto__TrackEvent start = PERFETTO__TRACK_EVENT__INIT,
			     stop = PERFETTO__TRACK_EVENT__INIT;
	Perfetto__DebugAnnotation note = PERFETTO__DEBUG_ANNOTATION__INIT, *notes = &note;

	if (!has_room(trace))
		return;
	start.name = (char *)(uintptr_t)name;
	annotate(&start, &notes, "ps", end - begin);
	put_event(trace, track, begin, &start, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN);
	put_event(trace, track, end, &stop, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END);
}

void trace_instant(struct trace *trace, uint64_t track, sim_time at, const struct trace_mark *mark)
{
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
	Perfetto__DebugAnnotation note = PERFETTO__DEBUG_ANNOTATION__INIT, *notes = &note;
	uint64_t arrow = mark->arrow;

	if (!has_room(trace))
		return;
	event.name = (char *)(uintptr_t)mark->name;
	if (mark->key)
		annotate(&event, &notes, mark->key, mark->value);
	if (arrow && mark->arrives) {
		event.n_terminating_flow_ids = 1;
		event.terminating_flow_ids = &arrow;
	} else if (arrow) {
		event.n_flow_ids = 1;
		event.flow_ids = &arrow;
	}
	put_event(trace, track, at, &event, PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT);
}

void trace_count(struct trace *trace, uint64_t track, sim_time at, uint64_t value)
{
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;

	if (!has_room(trace))
		return;
	event.has_counter_value = 1;
	event.counter_value = (int64_t)value;
	put_event(trace, track, at, &event, PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER);
}

const void *trace_bytes(const struct trace *trace, size_t *length)
{
	*length = trace->length;
	return trace->bytes;
}

uint64_t trace_left_out(const struct trace *trace)
{
	return trace->left_out;
}

/* --- the page --- */

/* Writes base64 (RFC 4648 section 4), without line breaks. */
static void put_base64(FILE *to, const uint8_t *data, size_t length)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < length; i += 3) {
		size_t left = length - i;
		uint32_t three = (uint32_t)data[i] << 16;

		three |= left > 1 ? (uint32_t)data[i + 1] << 8 : 0;
		three |= left > 2 ? data[i + 2] : 0;
		fputc(digits[three >> 18], to);
		fputc(digits[three >> 12 & 63], to);
		fputc(left > 1 ? digits[three >> 6 & 63] : '=', to);
		fputc(left > 2 ? digits[three & 63] : '=', to);
	}
}

char *trace_page(const struct trace *trace, const char *template)
{
	static const char mark[] = "@TRACE@";
	const char *place = strstr(template, mark);
	char *page = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&page, &size);

	fwrite(template, 1, (size_t)(place - template), to);
	put_base64(to, trace->bytes, trace->length);
	fputs(place + strlen(mark), to);
	fclose(to);
	return page;
}
