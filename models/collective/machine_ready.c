#include "collective/machine_ready.h"

#define GBPS_OF_BYTES UINT64_C(8000000000) /* 1 GB/s in bit/s */
#define TENTHS(gb)    ((gb)*GBPS_OF_BYTES / 10)

/* Sources: NCCL's src/graph/topo.h (a link of V100 20, A100 20, H100 20.6, Blackwell 40.1 GB/s) and
 * numbers of links from NVIDIA's guides of DGX-1, DGX A100, DGX H100, HGX B200 and GB200 NVL72;
 * MI300X: 48 GB/s a link in rccl, 7 links. Several NVSwitches count as one crossbar, since
 * addresses are spread over them. */
static const struct ready {
	const char *name;
	uint32_t gpus;
	bps rate;
	enum gpus_wiring wiring;
} ready[] = {
	{ "dgx1-v100", 8, TENTHS(6 * 200), GPUS_CUBE_MESH },
	{ "dgx-a100", 8, TENTHS(12 * 200), GPUS_SWITCH },
	{ "hgx-h100", 8, TENTHS(18 * 206), GPUS_SWITCH },
	{ "hgx-b200", 8, TENTHS(18 * 401), GPUS_SWITCH },
	{ "gb200-nvl72", 72, TENTHS(18 * 401), GPUS_SWITCH },
	{ "mi300x", 8, TENTHS(7 * 480), GPUS_MESH },
};

#define READY (sizeof(ready) / sizeof(ready[0]))

const char *const machine_ready_names[READY + 1] = { "dgx1-v100", "dgx-a100",    "hgx-h100",
						     "hgx-b200",  "gb200-nvl72", "mi300x" };

const char *const machine_inside_names[] = {
	[MACHINE_RATES] = "rates", [MACHINE_LINKS] = "links", NULL
};

const char *machine_inside_of(const struct machine_conf *machine)
{
	return machine->gpus.count > 1 ? machine_inside_names[machine->inside] : NULL;
}

void machine_ready_set(struct machine_conf *machine)
{
	struct gpus_conf *gpus = &machine->gpus;

	if (gpus->form != GPUS_READY)
		return;
	gpus->count = ready[gpus->ready].gpus;
	gpus->rate = ready[gpus->ready].rate;
	gpus->wiring = (int)ready[gpus->ready].wiring;
	gpus->latency = PS_PER_US; /* as by default, see the row of "latency" */
	gpus->shared = false;
}

/* nvidia-smi topo -m of DGX-1 V100, as in public benchmark reports; two rows also in NCCL's issue
 * 671. */
static const uint8_t cube_mesh[][3] = {
	{ 0, 1, 1 }, { 0, 2, 1 }, { 0, 3, 2 }, { 0, 4, 2 }, { 1, 2, 2 }, { 1, 3, 1 },
	{ 1, 5, 2 }, { 2, 3, 2 }, { 2, 6, 1 }, { 3, 7, 1 }, { 4, 5, 1 }, { 4, 6, 1 },
	{ 4, 7, 2 }, { 5, 6, 2 }, { 5, 7, 1 }, { 6, 7, 2 },
};

unsigned machine_cube_mesh(size_t index, uint32_t *a, uint32_t *b)
{
	if (index >= sizeof(cube_mesh) / sizeof(cube_mesh[0]))
		return 0;
	*a = cube_mesh[index][0];
	*b = cube_mesh[index][1];
	return cube_mesh[index][2];
}
