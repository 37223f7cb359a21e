/* The map of the network: nodes by tier, links by how busy they were, switches by whether they
 * added gradients up. It is drawn from links.csv and, if present, aggregators.csv, so it shows what
 * ran, however the scenario described it. */
#include "lab/figures/figure.h"

#include "base/mem.h"
#include "lab/figures/values.h"
#include "data/result_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINKS_MAX 20000         /* more cannot be told apart */
#define CLASSES   5             /* of links by utilisation; their curves are 1 to 5 */
#define HOSTS     (CLASSES + 1) /* curve of the hosts */
#define SWITCHES  (CLASSES + 2) /* curve of the switches that did not add gradients up */
#define ADDING    (CLASSES + 3) /* curve of the switches that added gradients up */
#define UNKNOWN   (-1)          /* tier of a node before it is found */
#define OUTSIDE   1.25          /* radius of the hosts' circle, and x and y of its centre */
/* The part of a switch's share of the circle that its hosts take up. */
#define HOSTS_SHARE 0.8

struct node {
	char *name;   /* owned by a link */
	size_t order; /* position of its first appearance among the ends of all links */
	int tier;     /* hosts 0, switches from 1 */
	bool adds;    /* a switch that added gradients up */
	double x, y;
	double sum;   /* in rows: sum of x of the nodes below; in a circle: hosts placed so far */
	size_t below; /* number of nodes below; in a circle: of hosts */
};

struct link {
	size_t number;  /* of its row in links.csv, from 0 */
	char *names[2]; /* of `from` and `to`; owned */
	struct node *from, *to;
	bool up, across; /* direction: to the next tier, within a tier; down if neither */
	bool host;       /* its lower end is a host */
	double utilization;
};

struct map {
	struct link *links;
	size_t count, capacity;
	struct node *nodes; /* sorted by name */
	size_t node_count;
	bool across; /* some link is within a tier: the switches go into a circle */
	bool adds;   /* some switch has added gradients up */
};

static void map_release(struct map *map)
{
	for (size_t i = 0; i < map->count; i++) {
		free(map->links[i].names[0]);
		free(map->links[i].names[1]);
	}
	free(map->links);
	free(map->nodes);
}

static bool map_read(struct map *map, struct figure *f)
{
	struct csv *csv = values_table(f, "links.csv");

	if (!csv)
		return false;
	int from = csv_need(csv, "from"), to = csv_need(csv, "to"), tier = csv_need(csv, "tier");
	int direction = csv_need(csv, "direction"), used = csv_need(csv, "utilization");

	while (csv_next(csv)) {
		struct link *link;

		map->links =
			array_reserve(map->links, map->count, &map->capacity, sizeof(*map->links));
		link = &map->links[map->count];
		*link = (struct link){ .number = map->count,
				       .names = { xstrdup(csv_text(csv, from)),
						  xstrdup(csv_text(csv, to)) },
				       .up = !strcmp(csv_text(csv, direction), "up"),
				       .across = !strcmp(csv_text(csv, direction), "across"),
				       .host = !strcmp(csv_text(csv, tier), "host"),
				       .utilization = csv_real(csv, used) };
		if (link->utilization < 0)
			csv_complain(csv, used, "is below 0");
		map->across |= link->across;
		map->count++;
	}
	return csv_close(csv, &f->error);
}

/* ---- Nodes ---- */

static int by_name(const void *a, const void *b)
{
	const struct node *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : x->order < y->order ? -1 : x->order > y->order;
}

static int by_place(const void *a, const void *b)
{
	const struct node *x = *(struct node *const *)a, *y = *(struct node *const *)b;

	if (x->x != y->x)
		return x->x < y->x ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int compare_name(const void *name, const void *node)
{
	return strcmp(name, ((const struct node *)node)->name);
}

static struct node *find(const struct map *map, const char *name)
{
	return bsearch(name, map->nodes, map->node_count, sizeof(*map->nodes), compare_name);
}

static void find_nodes(struct map *map)
{
	size_t count = 0;

	map->nodes = xcalloc(2 * map->count + 1, sizeof(*map->nodes));
	for (size_t i = 0; i < 2 * map->count; i++)
		map->nodes[i] = (struct node){ .name = map->links[i / 2].names[i % 2],
					       .order = i,
					       .tier = UNKNOWN };
	qsort(map->nodes, 2 * map->count, sizeof(*map->nodes), by_name);
	for (size_t i = 0; i < 2 * map->count; i++)
		if (count == 0 || strcmp(map->nodes[count - 1].name, map->nodes[i].name))
			map->nodes[count++] = map->nodes[i];
	map->node_count = count;
	for (size_t i = 0; i < map->count; i++) {
		map->links[i].from = find(map, map->links[i].names[0]);
		map->links[i].to = find(map, map->links[i].names[1]);
	}
}

/* Finds the switches that added gradients up. They have a row in aggregators.csv whose count is not
 * 0, or is empty, as in a fluid run. A run without jobs in switches has no such table. */
static bool find_adding(struct map *map, struct figure *f)
{
	struct csv *csv = result_table(f->dir, "aggregators.csv", &f->error);

	if (!csv)
		return !f->error;
	int name = csv_need(csv, "switch"), added = csv_need(csv, "packets_aggregated");

	while (csv_next(csv)) {
		struct node *node = find(map, csv_text(csv, name));
		bool only_sent_on = !csv_empty(csv, added) && csv_u64(csv, added) == 0;

		if (!node || only_sent_on)
			continue;
		node->adds = true;
		map->adds = true;
	}
	return csv_close(csv, &f->error);
}

/* Finds the tiers of all nodes, from hosts (0) up, until nothing changes. Returns how many tiers
 * there are. */
static int find_tiers(struct map *map)
{
	bool more = true;
	int tiers = 1;

	while (more) {
		more = false;
		for (size_t i = 0; i < map->count; i++) {
			struct link *link = &map->links[i];

			if (link->up && link->host)
				link->from->tier = 0;
			if (link->from->tier == UNKNOWN || link->to->tier != UNKNOWN ||
			    !(link->up || link->across))
				continue;
			link->to->tier = link->from->tier + (link->up ? 1 : 0);
			tiers = link->to->tier + 1 > tiers ? link->to->tier + 1 : tiers;
			more = true;
		}
	}
	return tiers;
}

/* ---- Places ---- */

/* Places the nodes of a tier side by side, ordered by the mean x of the nodes below each. `row` has
 * room for all nodes. */
static void place_row(struct map *map, int tier, struct node **row)
{
	size_t count = 0;

	for (size_t i = 0; i < map->count; i++) {
		struct link *link = &map->links[i];

		if (link->up && link->to->tier == tier) {
			link->to->sum += link->from->x;
			link->to->below++;
		}
	}
	for (size_t i = 0; i < map->node_count; i++) {
		struct node *node = &map->nodes[i];

		if (node->tier != tier)
			continue;
		node->x = node->below > 0 ? node->sum / (double)node->below : 0;
		row[count++] = node;
	}
	qsort(row, count, sizeof(*row), by_place);
	for (size_t i = 0; i < count; i++) {
		row[i]->x = ((double)i + 0.5) / (double)count;
		row[i]->y = tier;
	}
}

/* For switches that are joined within a tier, as in a torus: places them in a circle of radius 1,
 * and the hosts of each beside it, in a circle outside. Angles count clockwise from the top. */
static void place_circle(struct map *map, struct node **row)
{
	size_t count = 0;

	for (size_t i = 0; i < map->node_count; i++)
		if (map->nodes[i].tier != 0)
			row[count++] = &map->nodes[i];
	qsort(row, count, sizeof(*row), by_place); /* none has an x: in the order of the links */
	for (size_t i = 0; i < count; i++) {
		double angle = 2 * M_PI * (double)i / (double)count;

		row[i]->x = OUTSIDE + sin(angle);
		row[i]->y = OUTSIDE + cos(angle);
	}
	for (size_t i = 0; i < map->count; i++)
		if (map->links[i].host && map->links[i].up)
			map->links[i].to->below++;
	for (size_t i = 0; i < map->count; i++) {
		struct link *link = &map->links[i];

		if (!link->host || !link->up)
			continue;
		double step = 2 * M_PI / (double)count / (double)link->to->below;
		/* this host's place, counted from the middle of its switch's hosts */
		double at = link->to->sum++ - 0.5 * (double)(link->to->below - 1);
		double angle = atan2(link->to->x - OUTSIDE, link->to->y - OUTSIDE) +
			       HOSTS_SHARE * at * step;

		link->from->x = OUTSIDE + OUTSIDE * sin(angle);
		link->from->y = OUTSIDE + OUTSIDE * cos(angle);
	}
}

/* ---- Drawing ---- */

/* A row of the table is a line from (x, y) to (to_x, to_y); a node is a line without length. */

static size_t class_of(const struct link *link)
{
	double fifth = floor(link->utilization * CLASSES);

	return fifth < CLASSES ? (size_t)fifth : CLASSES - 1;
}

static void put_links(struct figure *f, const struct map *map)
{
	for (size_t c = 0; c < CLASSES; c++) {
		char *legend =
			xasprintf("%zu to %zu %%", 100 * c / CLASSES, 100 * (c + 1) / CLASSES);

		figure_legend(f, c + 1, c + 1, 1, legend);
		figure_curve(f, 1, c + 1, "link");
		for (size_t i = 0; i < map->count; i++) {
			const struct link *link = &map->links[i];

			if (class_of(link) == c)
				figure_row(f,
					   (double[]){ link->from->x, link->from->y, link->to->x,
						       link->to->y, (double)link->number,
						       link->utilization },
					   1);
		}
		free(legend);
	}
}

static size_t kind_of(const struct node *node)
{
	return node->tier == 0 ? HOSTS : node->adds ? ADDING : SWITCHES;
}

static void put_nodes(struct figure *f, const struct map *map, size_t curve, const char *name)
{
	figure_legend(f, curve, curve, 1, name);
	figure_curve(f, 1, curve, name);
	for (size_t i = 0; i < map->node_count; i++) {
		const struct node *node = &map->nodes[i];

		if (kind_of(node) == curve)
			figure_row(f, (double[]){ node->x, node->y, node->x, node->y, NAN, NAN },
				   1);
	}
}

/* The names of the switches, each with the share of the figure's width that it has. */
static void put_names(struct figure *f, const struct map *map)
{
	size_t switches = 0, n = 0, *in_tier = xcalloc(map->node_count + 1, sizeof(*in_tier));

	for (size_t i = 0; i < map->node_count; i++) {
		int tier = map->nodes[i].tier;

		if (tier <= 0)
			continue;
		switches++;
		in_tier[map->across ? 0 : tier]++;
	}
	figure_count(f, "NODES", switches);
	if (switches)
		figure_arrays(f, switches, "NODE NODE_X NODE_Y NODE_ROOM");
	for (size_t i = 0; i < map->node_count; i++) {
		const struct node *node = &map->nodes[i];

		if (node->tier <= 0)
			continue;
		/* two neighbours in a circle may stand one above the other */
		double room =
			(map->across ? 2.0 : 1.0) / (double)in_tier[map->across ? 0 : node->tier];

		n++;
		figure_text_at(f, "NODE", n, node->name);
		figure_real_at(f, "NODE_X", n, node->x);
		figure_real_at(f, "NODE_Y", n, node->y);
		figure_real_at(f, "NODE_ROOM", n, room < 1 ? room : 1);
	}
	free(in_tier);
}

static const struct link *busiest_of(const struct map *map)
{
	const struct link *busiest = map->links;

	for (size_t i = 1; i < map->count; i++)
		if (map->links[i].utilization > busiest->utilization)
			busiest = &map->links[i];
	return busiest;
}

static void draw(struct figure *f, const struct map *map)
{
	const struct link *busiest = busiest_of(map);

	figure_begin(f, "network", 1, map->adds ? ADDING : SWITCHES,
		     "x y to_x to_y link_id utilization");
	figure_title(f, "How busy was each link?",
		     xasprintf("%zu nodes; busiest: %s to %s, %.1f %%", map->node_count,
			       busiest->from->name, busiest->to->name, 100 * busiest->utilization));
	figure_x(f, "", "", false);
	figure_panel(f, 1, "", "");
	put_links(f, map);
	put_nodes(f, map, HOSTS, "host");
	put_nodes(f, map, SWITCHES, "switch");
	if (map->adds)
		put_nodes(f, map, ADDING, "switch that added up");
	put_names(f, map);
}

bool network(struct figure *f)
{
	struct map map = { 0 };
	bool data = map_read(&map, f);

	if (data && (map.count == 0 || map.count > LINKS_MAX)) {
		f->why = map.count == 0 ? "there are no links"
					: "there are too many links to tell apart";
		data = false;
	}
	if (data) {
		find_nodes(&map);
		data = find_adding(&map, f);
	}
	if (data) {
		struct node **row = xcalloc(map.node_count, sizeof(*row));
		int tiers = find_tiers(&map);

		for (int tier = 0; tier < tiers && !map.across; tier++)
			place_row(&map, tier, row);
		if (map.across)
			place_circle(&map, row);
		draw(f, &map);
		free(row);
	}
	map_release(&map);
	return data;
}
