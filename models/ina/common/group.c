#include "ina/common/group.h"

#include "base/mem.h"

#include <stdlib.h>

/* Whether the parent leads to more workers. It does not if every node above has one child only,
 * which happens where the root is higher than the workers need. */
static bool any_beyond(const struct tree *tree, uint32_t n)
{
	uint32_t parent = tree->nodes[n].parent;

	return parent != TREE_NONE &&
	       (tree->nodes[parent].children > 1 || any_beyond(tree, parent));
}

void ina_group_open(struct ina_group *group, const struct ina_job *job, uint32_t node)
{
	const struct tree *tree = job->tree.tree;
	const struct tree_node *place = &tree->nodes[node];
	const struct switch_node *sw = &job->scheme->env.topo->net.switch_nodes[place->sw];
	uint32_t n = group->neighbors = place->children + any_beyond(tree, node);

	group->first_port = sw->first_port;
	group->ports = xcalloc(2 * (size_t)n, sizeof(*group->ports));
	group->of_port = xcalloc(sw->ports, sizeof(*group->of_port));
	for (uint32_t i = 0; i < 2 * n; i++)
		group->ports[i] =
			i % n < place->children ? place->down_ports[i % n] : place->up_port;
	for (uint32_t i = 0; i < n; i++)
		group->of_port[group->ports[i] - sw->first_port] = (uint16_t)i;
}

void ina_group_close(struct ina_group *group)
{
	free(group->ports);
	free(group->of_port);
}
