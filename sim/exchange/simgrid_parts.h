/* The inside of an import, shared by simgrid_xml.c and simgrid_import.c only. */
#ifndef INASIM_EXCHANGE_SIMGRID_PARTS_H
#define INASIM_EXCHANGE_SIMGRID_PARTS_H

#include "exchange/simgrid_import.h"

/* Attributes of <cluster>, as the DTD has them. */
enum cluster_attribute {
	CLUSTER_ID,
	CLUSTER_PREFIX,
	CLUSTER_SUFFIX,
	CLUSTER_RADICAL,
	CLUSTER_SPEED,
	CLUSTER_CORE,
	CLUSTER_BW,
	CLUSTER_LAT,
	CLUSTER_SHARING,
	CLUSTER_TOPOLOGY,
	CLUSTER_PARAMETERS,
	CLUSTER_BB_BW,
	CLUSTER_BB_LAT,
	CLUSTER_BB_SHARING,
	CLUSTER_ROUTER,
	CLUSTER_LIMITER,
	CLUSTER_LOOPBACK_BW,
	CLUSTER_LOOPBACK_LAT,
	CLUSTER_ATTRIBUTES
};
extern const char *const cluster_attribute_names[CLUSTER_ATTRIBUTES];

struct simgrid_cluster {
	unsigned long line;               /* 0 = there was none */
	char *values[CLUSTER_ATTRIBUTES]; /* NULL = not given; owned */
};

/* Adds an error, or a warning. */
void import_error(struct simgrid_import *import, unsigned long line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void import_warning(struct simgrid_import *import, unsigned long line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool import_failed(const struct simgrid_import *import);

/* Finds the one cluster of a platform. Whatever else makes a network there is an
 * error, as is XML that is not well-formed. */
void simgrid_read(const char *xml, size_t length, struct simgrid_import *import,
		  struct simgrid_cluster *cluster);
void simgrid_cluster_release(struct simgrid_cluster *cluster);

#endif
