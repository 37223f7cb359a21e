#include "core/checkpoint.h"

void checkpoints_init(struct checkpoints *checkpoints)
{
	checkpoints->count = 0;
	checkpoints->every = PS_PER_NS;
}

sim_time checkpoints_next(const struct checkpoints *checkpoints)
{
	return (checkpoints->count + 1) * checkpoints->every;
}

/* Keeps those at even multiples of the distance: the 2nd, the 4th ... */
static void thin(struct checkpoints *checkpoints)
{
	for (size_t i = 1; i < checkpoints->count; i += 2)
		checkpoints->list[i / 2] = checkpoints->list[i];
	checkpoints->count /= 2;
	checkpoints->every *= 2;
}

void checkpoints_add(struct checkpoints *checkpoints, uint64_t events, uint64_t digest)
{
	checkpoints->list[checkpoints->count] = (struct checkpoint){
		.at = checkpoints_next(checkpoints), .events = events, .digest = digest
	};
	checkpoints->count++;
	if (checkpoints->count == CHECKPOINTS_MAX ||
	    (checkpoints->count >= CHECKPOINTS_FEW &&
	     checkpoints->count * CHECKPOINT_EVENTS > events))
		thin(checkpoints);
}

bool checkpoints_differ(const struct checkpoint *a, size_t a_count, const struct checkpoint *b,
			size_t b_count, sim_time *after, sim_time *until)
{
	*after = 0;
	for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
		if (a[i].at < b[j].at) {
			i++;
		} else if (b[j].at < a[i].at) {
			j++;
		} else if (a[i].events == b[j].events && a[i].digest == b[j].digest) {
			*after = a[i].at;
			i++, j++;
		} else {
			*until = a[i].at;
			return true;
		}
	}
	return false;
}
