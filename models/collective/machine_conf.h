/* Machines, all alike. A host of the network has one NIC; a machine with several NICs is several
 * hosts. Scenarios have these parameters under "topology.host". */
#ifndef INASIM_COLLECTIVE_MACHINE_CONF_H
#define INASIM_COLLECTIVE_MACHINE_CONF_H

#include "base/types.h"
#include "base/units.h"

/* GPUs of a machine and the links among them. */
struct gpus_conf {
	int64_t count;
	bps rate;
	sim_time latency; /* of each step (alpha) */
	bool shared;      /* all share one link, as a PCIe switch; false: one link each */
	int form;         /* enum gpus_form, by the shape of the value */
	int ready;        /* GPUS_READY: which (machine_ready.h); it sets the other members */
	int wiring;       /* enum gpus_wiring */
};
enum gpus_form { GPUS_READY, GPUS_SET };
enum gpus_wiring {
	GPUS_SWITCH,    /* a link from each GPU to a switch among them */
	GPUS_MESH,      /* a link between any two, each of rate / (count - 1) */
	GPUS_CUBE_MESH, /* DGX-1: 24 links of rate / 6, see machine_ready.h */
};

/* The links of a GPU, which have its rate together. A message between two GPUs takes one. */
static inline uint64_t gpus_links(const struct gpus_conf *conf)
{
	if (conf->wiring == GPUS_MESH)
		return (uint64_t)(conf->count > 1 ? conf->count - 1 : 1);
	return conf->wiring == GPUS_CUBE_MESH ? 6 : 1;
}

/* NICs of a machine. Each is a host of the network. */
struct nics_conf {
	int64_t count;
	int wiring; /* enum nics_wiring */
};
enum nics_wiring {
	NICS_RACK,  /* the NICs of a machine are neighbours, below one switch */
	NICS_RAILS, /* NICs i of all machines are neighbours: rail-optimised */
};

struct machine_conf {
	int64_t slots; /* most workers on a machine, all of different jobs */
	struct gpus_conf gpus;
	struct nics_conf nics;
	bps reduction_rate; /* of all parameter servers on a machine together; 0 = no limit */
	int inside;         /* enum machine_inside */
};
enum machine_inside {
	MACHINE_RATES, /* what GPUs of a machine exchange takes closed-form times */
	MACHINE_LINKS, /* GPUs are hosts, with links among them (scenario/machine_links.h) */
};

/* The numbers of NICs and GPUs of a machine, at least 1. With links inside, each GPU is a host, so
 * for jobs all machines have one GPU. */
static inline uint32_t machine_nics(const struct machine_conf *conf)
{
	return conf->nics.count > 1 && conf->inside == MACHINE_RATES ? (uint32_t)conf->nics.count
								     : 1;
}
static inline uint32_t machine_gpus(const struct machine_conf *conf)
{
	return conf->gpus.count > 1 && conf->inside == MACHINE_RATES ? (uint32_t)conf->gpus.count
								     : 1;
}

/* The number of machines in a network of `hosts` hosts. */
static inline uint32_t machine_count(const struct machine_conf *conf, uint32_t hosts)
{
	return hosts / machine_nics(conf);
}

/* The host number of NIC `nic` of a machine, in a network of `hosts` hosts. */
static inline uint32_t machine_nic(const struct machine_conf *conf, uint32_t hosts,
				   uint32_t machine, uint32_t nic)
{
	if (conf->nics.wiring == NICS_RAILS)
		return nic * machine_count(conf, hosts) + machine;
	return machine * machine_nics(conf) + nic;
}

#endif
