# ---- network.gp: nodes, and links in the colour of their utilisation ----
# NODES names stand above switches, in tiers that have room for them all.
# Columns: panel series x y to_x to_y link_id utilization; series are classes of links, then hosts, switches, and those that added up.

unset grid
unset border
unset xtics
unset ytics
# From light to dark, so that the colour-blind and paper without colour see the same order.
array HEAT[8] = ['#d0d0d0', '#fdae6b', '#f16913', '#b33a03', '#5a1d02', '#808080', '#000000', '#0072b2']
fits(i) = letters(NODE[i]) + 1 <= 0.9 * LETTERS * NODE_ROOM[i]
do for [i = 1:NODES] { do for [k = 1:NODES] { # names of a tier: all or none
	if (NODE_Y[i] == NODE_Y[k] && !fits(k)) { NODE_ROOM[i] = least(NODE_ROOM[i], 0) }
} }
do for [i = 1:NODES] { if (fits(i)) { set label NODE[i] at NODE_X[i], NODE_Y[i] center offset 0, 0.8 front } }
curve(b, s) = s <= 5 ? sprintf("DATA index %d using ($3*XF):4:($5-$3):($6-$4) with vectors nohead lt 1 lw %g lc rgb HEAT[%d] title LEGEND[%d]", \
		b, 0.8 + 0.4 * s, s, s) \
	: sprintf("DATA index %d using ($3*XF):4 with points lt 1 pt %d ps %g lc rgb HEAT[%d] title LEGEND[%d]", b, s == 6 ? 7 : s == 7 ? 5 : 13, s == 6 ? 0.4 : s == 7 ? 1 : 1.5, s, s)
