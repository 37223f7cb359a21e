# ---- lines.gp: curves; STYLE is lines, linespoints or steps ----
# Columns: panel series x y, with INTERVALS low and high.

# With intervals the points of neighbouring curves stand a little apart, so that each can be seen.
apart(s) = INTERVALS ? 0.008 * (s - 0.5 * (SERIES + 1)) : 0
beside(x, s) = LOGX ? x * (X1 / X0)**apart(s) : x + apart(s) * (LABELLED ? XTICKS - 1 : X1 - X0)
above(y) = LOGY && y < BOTTOM ? BOTTOM : y # whiskers that reach below a logarithmic axis end at it

whiskers(b, s) = sprintf("DATA index %d using (beside($3*XF,%d)):(above($5*YF)):(0):($6*YF-above($5*YF)) " \
	."with vectors ", b, s).WHISKER.sprintf(" lc rgb PALETTE[cycle(LOOK[%d],8)] notitle, ", s)
# Some marks on steps, not at the same heights as the neighbours'; one entry in the legend.
marked(b, s) = sprintf("DATA index %d using ($3*XF):($4*YF) with steps ls %d notitle, " \
	."DATA index %d using ($3*XF):($4*YF) every %d::%d with points ls %d notitle, " \
	."keyentry with linespoints ls %d title LEGEND[%d]", b, s, b, POINTS[s] / 7 + 1, \
	(POINTS[s] / 7 + 1) * (1 + s % 3) / 4, s, s, s)
curve(b, s) = STYLE eq 'steps' && SERIES > 1 ? marked(b, s) : (INTERVALS ? whiskers(b, s) : '') \
	.sprintf("DATA index %d using (beside($3*XF,%d)):($4*YF) with %s ls %d title LEGEND[%d]", \
	b, s, STYLE, s, s).daggers(b, sprintf("beside($3*XF,%d)", s))
