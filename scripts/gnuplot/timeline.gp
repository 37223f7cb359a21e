# ---- timeline.gp: a row of bars for each job ----
# Columns: panel series from_s to_s row; series are phases.

set grid xtics noytics
set border 1
set yrange [ROWS - 0.4:-0.6]
array TINT[3] = ['#c8c8c8', PALETTE[1], PALETTE[5]]
if (!TEXT) { set lmargin 2 + 0.88 * BESIDE } # gnuplot takes every letter for an m
curve(b, s) = sprintf("DATA index %d using ($3*XF):5:($3*XF):($4*XF):($5-0.36):($5+0.36) " \
	."with boxxyerror lt %d lc rgb TINT[%d] title LEGEND[%d]", b, s, s, s)
