/* Parameters that ATP and ESA share: their struct, and its rows for the tables of both. */
#ifndef INASIM_INA_COMMON_HASHED_CONF_H
#define INASIM_INA_COMMON_HASHED_CONF_H

#include "conf/conf.h"
#include "ina/common/window.h"

/* At the front of struct atp_conf and struct esa_conf. */
struct hashed_conf {
	bytes memory;
	int64_t elements_per_packet;
	int64_t header;
	struct window_conf window;
};

extern const char *const timeout_resends_names[], *const halve_on_names[];

#define HASHED_AT(field) .offset = offsetof(struct hashed_conf, field)
/* `why` = source of halve_on's default. */
#define HASHED_ROWS(why)                                                                           \
	{ .name = "memory",                                                                        \
	  .type = CONF_BYTES,                                                                      \
	  HASHED_AT(memory),                                                                       \
	  .min = 4,                                                                                \
	  .max = UINT64_C(1) << 40,                                                                \
	  .def = "\"5MB\"",                                                                        \
	  .help = "Aggregation memory of each switch, for all jobs: one aggregator holds the "     \
		  "elements of a packet.",                                                         \
	  .source = "ESA section 7.2.1" },                                                         \
		{ .name = "elements_per_packet",                                                   \
		  .type = CONF_INT,                                                                \
		  HASHED_AT(elements_per_packet),                                                  \
		  .imin = 1,                                                                       \
		  .imax = 2048,                                                                    \
		  .def = "64",                                                                     \
		  .help = "32-bit elements in a packet.",                                          \
		  .source = "ESA sections 7.1.1 and 7.2.1: 306-byte packets" },                    \
		{ .name = "header",                                                                \
		  .type = CONF_INT,                                                                \
		  HASHED_AT(header),                                                               \
		  .imin = 20,                                                                      \
		  .imax = 200,                                                                     \
		  .def = "54",                                                                     \
		  .help = "Bytes of a frame besides the elements: Ethernet 14, IP 20, ATP 16, "    \
			  "FCS 4.",                                                                \
		  .source =                                                                        \
			  "ESA section 7.1.1: 306 bytes without the FCS; 50 counts as ESA does" }, \
		{ .name = "initial_window",                                                        \
		  .type = CONF_BYTES,                                                              \
		  HASHED_AT(window.initial),                                                       \
		  .min = 1,                                                                        \
		  .max = UINT64_C(1) << 40,                                                        \
		  .def = "\"60KB\"",                                                               \
		  .help = "Congestion window of a worker at the start; at least one packet.",      \
		  .source = "ESA section 5.1: 60 KB at 100 Gbps" },                                \
		{ .name = "max_window",                                                            \
		  .type = CONF_BYTES,                                                              \
		  HASHED_AT(window.max),                                                           \
		  .min = 1,                                                                        \
		  .max = UINT64_C(1) << 40,                                                        \
		  .def = CONF_OPTIONAL,                                                            \
		  .help = "Largest congestion window; when missing there is none (ATP's public "   \
			  "code: "                                                                 \
			  "100 packets a thread)." },                                              \
		{ .name = "window_increase",                                                       \
		  .type = CONF_BYTES,                                                              \
		  HASHED_AT(window.increase),                                                      \
		  .min = 1,                                                                        \
		  .max = UINT64_C(1) << 30,                                                        \
		  .def = "\"1500B\"",                                                              \
		  .help = "Growth of the window with each window of results without an ECN mark.", \
		  .source = "ATP's public code, CC_manager.h" },                                   \
		{ .name = "duplicate_threshold",                                                   \
		  .type = CONF_INT,                                                                \
		  HASHED_AT(window.gap),                                                           \
		  .imin = 1,                                                                       \
		  .imax = 1000000,                                                                 \
		  .def = "3",                                                                      \
		  .help = "A piece without a result is lost when a result this many pieces "       \
			  "further on has come; ESA's server reminds switches of a piece after "   \
			  "as many contributions to later ones.",                                  \
		  .source = "ESA sections 5.1 and 5.3" },                                          \
		{ .name = "min_timeout",                                                           \
		  .type = CONF_TIME,                                                               \
		  HASHED_AT(window.rto.least),                                                     \
		  .min = PS_PER_NS,                                                                \
		  .max = 100 * PS_PER_S,                                                           \
		  .def = "\"1ms\"",                                                                \
		  .help = "Least retransmission timeout; beyond it follows the round trips (RFC "  \
			  "6298).",                                                                \
		  .source = "ESA section 6; ATP's public code: 200 us" },                          \
		{ .name = "initial_timeout",                                                       \
		  .type = CONF_TIME,                                                               \
		  HASHED_AT(window.rto.first),                                                     \
		  .min = PS_PER_NS,                                                                \
		  .max = 100 * PS_PER_S,                                                           \
		  .def = "\"50ms\"",                                                               \
		  .help = "Timeout until the first round trip is known.",                          \
		  .source = "ATP's public code" },                                                 \
		{ .name = "max_timeout",                                                           \
		  .type = CONF_TIME,                                                               \
		  HASHED_AT(window.max_rto),                                                       \
		  .min = PS_PER_NS,                                                                \
		  .max = 1000 * PS_PER_S,                                                          \
		  .def = "\"1s\"",                                                                 \
		  .help = "Timeouts without a result in between double up to this.",               \
		  .source = "our choice" },                                                        \
		{ .name = "halve_on",                                                              \
		  .type = CONF_ENUM,                                                               \
		  HASHED_AT(window.halve_on),                                                      \
		  .choices = halve_on_names,                                                       \
		  .def = "\"loss\"",                                                               \
		  .help = "What halves the window: nothing (with max_window = initial_window it "  \
			  "is fixed); mark: an ECN mark; timeout: a timeout, too; loss: also a "   \
			  "piece behind the newest result.",                                       \
		  .source = why },                                                                 \
	{                                                                                          \
		.name = "timeout_resends", .type = CONF_ENUM, HASHED_AT(window.timeout_resends),   \
		.choices = timeout_resends_names, .def = "\"first\"",                              \
		.help = "What a timeout declares lost behind the newest result: the first piece, " \
			"or "                                                                      \
			"all that are in flight.",                                                 \
		.source = "ESA section 5.1, the expected sequence number"                          \
	}

#endif
