/* The trees of a job. Their roots are drawn from all possible ones. */
#include "ina/panama/panama.h"

#include "base/mem.h"
#include "core/rng.h"

#include <stdlib.h>

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* All possible roots of the job's trees, except where a switch of the tree adds nothing up. There
 * may be none after failures. */
static uint32_t *find_roots(const struct panama_job *job, uint32_t *count)
{
	const struct topology *topo = job->base.scheme->env.topo;
	const struct collective_job *spec = &job->base.spec;
	uint32_t *roots = xcalloc(topo->net.switches, sizeof(*roots));

	*count = 0;
	for (uint64_t entropy = 0; entropy < topo->net.switches; entropy++) {
		uint32_t root = tree_root(topo, job->base.ports, spec->workers, entropy), i = 0;

		if (root == TREE_NONE)
			break;
		while (i < *count && roots[i] != root)
			i++;
		if (i == *count && ina_passing(&job->base, root) == TREE_NONE)
			roots[(*count)++] = root;
	}
	return roots;
}

static uint32_t *choose_roots(const struct panama_job *job, uint32_t *count)
{
	const struct panama_conf *conf = panama_conf(job);
	uint32_t *roots = find_roots(job, count);
	uint32_t only;
	struct rng rng;

	rng_init(&rng, job->base.scheme->env.sim->seed, "panama roots", job->base.spec.number);
	rng_shuffle(&rng, roots, *count);
	if (*count > conf->trees)
		*count = (uint32_t)conf->trees;
	qsort(roots, *count, sizeof(*roots), by_number);
	if (conf->only_tree && *count) {
		only = (uint32_t)(conf->only_tree - 1) % *count;
		roots[0] = roots[only];
		*count = 1;
	}
	return roots;
}

bool panama_trees_build(struct panama_job *job)
{
	struct topology *topo = job->base.scheme->env.topo;
	uint32_t *roots = choose_roots(job, &job->tree_count);

	if (!job->tree_count) {
		free(roots);
		return false;
	}
	job->trees = xcalloc(job->tree_count, sizeof(*job->trees));
	job->sequence_count = panama_conf(job)->recovery ? 2 * job->tree_count : job->tree_count;
	job->sequences_at = xcalloc(topo->net.switches, sizeof(*job->sequences_at));
	job->open_at = xcalloc(topo->net.switches, sizeof(*job->open_at));
	for (uint32_t t = 0; t < job->tree_count; t++) {
		struct ina_tree *tree = &job->trees[t];

		ina_tree_init(tree, &job->base, roots[t]);
		for (uint32_t i = 0; i < tree->tree->node_count; i++) {
			uint32_t sw = tree->tree->nodes[i].sw;

			job->sequences_at[sw] += (uint16_t)(job->sequence_count / job->tree_count);
		}
	}
	free(roots);
	return true;
}

void panama_trees_free(struct panama_job *job)
{
	for (uint32_t t = 0; t < job->tree_count; t++)
		ina_tree_release(&job->trees[t]);
	free(job->trees);
	free(job->sequences_at);
	free(job->open_at);
}
