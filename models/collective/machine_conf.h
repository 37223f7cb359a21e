/* Machines: what stands behind the hosts of a network, all alike. The engine knows hosts, each with
 * one NIC; a machine with several NICs is as many hosts. Users write all this under
 * "topology.host". */
#ifndef INASIM_COLLECTIVE_MACHINE_CONF_H
#define INASIM_COLLECTIVE_MACHINE_CONF_H

#include "base/types.h"
#include "base/units.h"

/* GPUs of a machine and the links among them, which nobody else uses. */
struct gpus_conf {
	int64_t count;
	bps rate;
	sim_time latency; /* of each step (alpha) */
	bool shared;      /* one link for all of them, as a PCIe switch; else one each */
};

/* NICs of a machine, each of which is a host of the network. */
struct nics_conf {
	int64_t count;
	int wiring; /* enum nics_wiring */
};
enum nics_wiring {
	NICS_RACK,  /* those of a machine are neighbours: below one switch */
	NICS_RAILS, /* NICs of one number are neighbours: rail-optimised */
};

struct machine_conf {
	int64_t slots; /* workers that a machine takes, each of another job */
	struct gpus_conf gpus;
	struct nics_conf nics;
	bps reduction_rate; /* of all parameter servers on a machine together; 0 = no limit */
};

/* The number of NICs, and of GPUs, of a machine: at least 1. */
static inline uint32_t machine_nics(const struct machine_conf *conf)
{
	return conf->nics.count > 1 ? (uint32_t)conf->nics.count : 1;
}
static inline uint32_t machine_gpus(const struct machine_conf *conf)
{
	return conf->gpus.count > 1 ? (uint32_t)conf->gpus.count : 1;
}

/* The number of machines in a network of `hosts` hosts. */
static inline uint32_t machine_count(const struct machine_conf *conf, uint32_t hosts)
{
	return hosts / machine_nics(conf);
}

/* The host that NIC `nic` of a machine is, in a network of `hosts` hosts. */
static inline uint32_t machine_nic(const struct machine_conf *conf, uint32_t hosts,
				   uint32_t machine, uint32_t nic)
{
	if (conf->nics.wiring == NICS_RAILS)
		return nic * machine_count(conf, hosts) + machine;
	return machine * machine_nics(conf) + nic;
}

#endif
