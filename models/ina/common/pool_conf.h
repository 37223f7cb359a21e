/* Parameters that ATP and ESA share: their struct, and its rows for the tables of both. */
#ifndef INASIM_INA_COMMON_POOL_CONF_H
#define INASIM_INA_COMMON_POOL_CONF_H

#include "conf/conf.h"
#include "ina/common/ina.h"
#include "ina/common/window.h"

/* At the front of struct atp_conf and struct esa_conf. */
struct pool_conf {
	struct ina_packet_conf packets;
	bytes memory;
	int index; /* enum pool_index */
	struct window_conf window;
};

/* Which aggregator a chunk gets. The last two are ATP's. */
enum pool_index { INDEX_DISTINCT, INDEX_HASH, INDEX_POSITION, INDEX_REHASH };

extern const char *const timeout_resends_names[], *const halve_on_names[];

#define POOL_INDEX_HELP                                                                            \
	"Aggregator of a chunk. distinct: each job takes all aggregators "                         \
	"in turn, in a random order of its own, so that its window uses "                          \
	"none twice; hash: a hash of job and sequence number, so that a "                          \
	"window of w chunks collides with itself w^2 / 2 / aggregators "                           \
	"times"
#define POOL_INDEX_SOURCE                                                                          \
	"ATP's public code draws the indices of a job without repetition (HashTable.cc); hash: "   \
	"ESA "                                                                                     \
	"section 2.1, hash(jobID, seqNum)"

#define POOL_ROWS                                                                                  \
	CONF_BYTES("memory", struct pool_conf, memory, "5MB", 4, UINT64_C(1) << 40,                \
		   "Aggregation memory of each switch, for all jobs: one aggregator holds the "    \
		   "elements of a packet.",                                                        \
		   "ESA section 7.2.1"),                                                           \
		CONF_INT("elements_per_packet", struct pool_conf, packets.elements, "64", 1, 2048, \
			 "32-bit elements in a packet.",                                           \
			 "ESA sections 7.1.1 and 7.2.1: 306-byte packets"),                        \
		CONF_INT("header", struct pool_conf, packets.header, "54", 20, 200,                \
			 "Bytes of a frame besides the elements: Ethernet 14, IP 20, ATP 16, FCS " \
			 "4.",                                                                     \
			 "ESA section 7.1.1: 306 bytes without the FCS; 50 counts as ESA does"),   \
		CONF_BYTES("initial_window", struct pool_conf, window.initial, "60KB", 1,          \
			   UINT64_C(1) << 40,                                                      \
			   "Congestion window of a worker at the start; at least one packet.",     \
			   "ESA section 5.1: 60 KB at 100 Gbps"),                                  \
		CONF_BYTES("max_window", struct pool_conf, window.max, CONF_OPTIONAL, 1,           \
			   UINT64_C(1) << 40,                                                      \
			   "Largest congestion window. Default: no limit (ATP's public code: 100 " \
			   "packets a thread)."),                                                  \
		CONF_BYTES("window_increase", struct pool_conf, window.increase, "1500B", 1,       \
			   UINT64_C(1) << 30,                                                      \
			   "The window grows by this with each window of results that have no "    \
			   "ECN mark (with halve_on nothing: of all results).",                    \
			   "ATP's public code, CC_manager.h"),                                     \
		CONF_INT("duplicate_threshold", struct pool_conf, window.gap, "3", 1, 1000000,     \
			 "A chunk counts as lost when a result came that is so many chunks "       \
			 "further on; ESA's server reminds switches of a chunk after so many "     \
			 "contributions to later ones.",                                           \
			 "ESA sections 5.1 and 5.3"),                                              \
		CONF_TIME("min_timeout", struct pool_conf, window.rto.min, "1ms", PS_PER_NS,       \
			  100 * PS_PER_S,                                                          \
			  "Shortest retransmission timeout; otherwise the timeout follows the "    \
			  "round trips (RFC 6298).",                                               \
			  "ESA section 6; ATP's public code: 200 us"),                             \
		CONF_TIME("initial_timeout", struct pool_conf, window.rto.first, "50ms",           \
			  PS_PER_NS, 100 * PS_PER_S, "Timeout until a worker's first result.",     \
			  "ATP's public code"),                                                    \
		CONF_TIME("max_timeout", struct pool_conf, window.max_rto, "1s", PS_PER_NS,        \
			  1000 * PS_PER_S,                                                         \
			  "The timeout doubles up to this while no result comes.", "our choice"),  \
		CONF_ENUM(                                                                         \
			"halve_on", struct pool_conf, window.halve_on, "share", halve_on_names,    \
			"What cuts the window. nothing: never cut (fixed, if max_window = "        \
			"initial_window); mark: an ECN mark halves it; timeout: marks and "        \
			"timeouts halve it; share: as timeout, and each window of chunks cuts it " \
			"in proportion to chunks that others overtook, as marks do in DCTCP; "     \
			"loss: as timeout, and each chunk that others overtook halves it.",        \
			"our choice, after RFC 8257 section 3.3; mark: ATP's public code, "        \
			"CC_manager.h (its client has it switched off)"),                          \
		CONF_ENUM("timeout_resends", struct pool_conf, window.timeout_resends, "first",    \
			  timeout_resends_names,                                                   \
			  "Chunks after the newest result that a timeout declares lost: that "     \
			  "of the window's oldest if it is one of them, or all in flight.",        \
			  "ESA section 5.1, the expected sequence number")

#endif
