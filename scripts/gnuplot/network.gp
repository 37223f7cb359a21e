# ---- network.gp: nodes, and links in the colour of their utilisation ----
# Columns: panel series x y to_x to_y link_id utilization; series are classes of links, then hosts, switches, and those that added up.

unset grid
unset border
unset xtics
unset ytics
array HEAT[8] = ['#c8c8c8', '#56b4e9', '#009e73', '#e69f00', '#d55e00', '#808080', '#000000', '#cc79a7']
curve(b, s) = s <= 5 ? sprintf("DATA index %d using ($3*XF):4:($5-$3):($6-$4) with vectors nohead lt 1 lw %g lc rgb HEAT[%d] title LEGEND[%d]", \
		b, 0.8 + 0.4 * s, s, s) \
	: sprintf("DATA index %d using ($3*XF):4 with points lt 1 pt %d ps %g lc rgb HEAT[%d] title LEGEND[%d]", b, s == 6 ? 7 : 5, s == 6 ? 0.4 : 1, s, s)
