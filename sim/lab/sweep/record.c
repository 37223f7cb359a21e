#include "lab/sweep/record.h"

#include "base/input.h"
#include "base/mem.h"
#include "data/folder.h"
#include "data/json.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_RECORD (1 << 20) /* bytes */
#define LARGEST_COUNT  9e15      /* exact in a double, as JSON numbers are */

const char *const point_status_names[POINT_STATUSES] = {
	[POINT_MISSING] = "missing",         [POINT_DONE] = "done",
	[POINT_SUBSTITUTED] = "substituted", [POINT_UNFINISHED] = "unfinished",
	[POINT_REFUSED] = "refused",         [POINT_INVALID] = "invalid",
	[POINT_VIOLATED] = "violated",       [POINT_IO] = "io",
	[POINT_TIMEOUT] = "timeout",         [POINT_MEMORY] = "memory",
	[POINT_KILLED] = "killed",
};

bool point_status_is_done(enum point_status status)
{
	return status == POINT_DONE || status == POINT_SUBSTITUTED;
}

bool point_status_is_usable(enum point_status status)
{
	return point_status_is_done(status) || status == POINT_UNFINISHED ||
	       status == POINT_REFUSED;
}

void record_init(struct point_record *record)
{
	*record = (struct point_record){ .exit_code = -1,
					 .host = xstrdup(""),
					 .version = xstrdup(""),
					 .commit = xstrdup(""),
					 .message = xstrdup("") };
}

void record_release(struct point_record *record)
{
	free(record->host);
	free(record->version);
	free(record->commit);
	free(record->message);
	*record = (struct point_record){ 0 };
}

/* --- reading --- */

/* A number from 0 to `max`. Anything else counts as 0, such as null for no signal or limit. */
static double number_at(const cJSON *object, const char *key, double max)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
	double value = cJSON_IsNumber(item) ? item->valuedouble : 0;

	return value > 0 && value <= max ? value : 0;
}

static uint64_t count_at(const cJSON *object, const char *key)
{
	return (uint64_t)number_at(object, key, LARGEST_COUNT);
}

static void text_at(const cJSON *object, const char *key, char **text)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	if (!cJSON_IsString(item))
		return;
	free(*text);
	*text = xstrdup(item->valuestring);
}

static enum point_status status_at(const cJSON *object)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, "status");

	for (int i = 0; cJSON_IsString(item) && i < POINT_STATUSES; i++)
		if (!strcmp(item->valuestring, point_status_names[i]))
			return (enum point_status)i;
	return POINT_MISSING;
}

static void read_members(struct point_record *record, const cJSON *root)
{
	const cJSON *limits = cJSON_GetObjectItemCaseSensitive(root, "limits");
	const cJSON *code = cJSON_GetObjectItemCaseSensitive(root, "exit_code");

	record->status = status_at(root);
	record->exit_code = cJSON_IsNumber(code) ? code->valueint : -1;
	record->signal = (int)number_at(root, "signal", 127);
	record->attempts = count_at(root, "attempts");
	record->wall_s = number_at(root, "wall_s", 1e15);
	record->cpu_s = number_at(root, "cpu_s", 1e15);
	record->peak_rss_bytes = count_at(root, "peak_rss_bytes");
	/* + 0.5: rounds to whole ps */
	record->limits.time = (sim_time)(number_at(limits, "time_s", 1e7) * (double)PS_PER_S + 0.5);
	record->limits.memory = count_at(limits, "memory_bytes");
	text_at(root, "host", &record->host);
	text_at(root, "version", &record->version);
	text_at(root, "commit", &record->commit);
	text_at(root, "message", &record->message);
}

void record_read(struct point_record *record, const char *path)
{
	char *text = input_read(path, LONGEST_RECORD, NULL);
	cJSON *root = text ? cJSON_Parse(text) : NULL;

	if (root)
		read_members(record, root);
	cJSON_Delete(root);
	free(text);
}

/* --- writing --- */

static char *record_json(const struct point_record *record)
{
	const struct point_limits *limits = &record->limits;
	struct json json;

	json_init(&json);
	json_open_object(&json, NULL);
	json_string(&json, "status", point_status_names[record->status]);
	json_real(&json, "exit_code", record->exit_code >= 0 ? (double)record->exit_code : NAN);
	json_real(&json, "signal", record->signal ? (double)record->signal : NAN);
	json_u64(&json, "attempts", record->attempts);
	json_real(&json, "wall_s", record->wall_s);
	json_real(&json, "cpu_s", record->cpu_s);
	json_u64(&json, "peak_rss_bytes", record->peak_rss_bytes);
	json_string(&json, "host", record->host);
	json_string(&json, "version", record->version);
	json_string(&json, "commit", record->commit);
	json_string(&json, "message", record->message);
	json_open_object(&json, "limits");
	json_real(&json, "time_s", limits->time ? seconds_of(limits->time) : NAN);
	json_real(&json, "memory_bytes", limits->memory ? (double)limits->memory : NAN);
	json_close_object(&json);
	json_close_object(&json);
	return json_finish(&json);
}

bool record_write(const struct point_record *record, const char *path)
{
	char *text = record_json(record);
	bool good = folder_replace(path, text, strlen(text));
	int reason = errno; /* free() may change it */

	free(text);
	errno = reason;
	return good;
}

/* --- rules --- */

/* Whether a limit is above a former one; 0 stands for no limit. */
static bool is_higher(uint64_t limit, uint64_t former)
{
	return former != 0 && (limit == 0 || limit > former);
}

bool record_wants_run(const struct point_record *record, const struct point_limits *limits)
{
	enum point_status status = record->status;

	return status == POINT_MISSING || status == POINT_IO || status == POINT_KILLED ||
	       (status == POINT_TIMEOUT && is_higher(limits->time, record->limits.time)) ||
	       (status == POINT_MEMORY && is_higher(limits->memory, record->limits.memory));
}

int record_exit_code(const struct point_record *record)
{
	static const int codes[POINT_STATUSES] = {
		[POINT_MISSING] = 4,    [POINT_DONE] = 0,    [POINT_SUBSTITUTED] = 0,
		[POINT_UNFINISHED] = 4, [POINT_REFUSED] = 4, [POINT_INVALID] = 3,
		[POINT_VIOLATED] = 5,   [POINT_IO] = 6,      [POINT_TIMEOUT] = 4,
		[POINT_MEMORY] = 4,     [POINT_KILLED] = 1,
	};

	return record->status == POINT_KILLED && record->signal ? 128 + record->signal
								: codes[record->status];
}
