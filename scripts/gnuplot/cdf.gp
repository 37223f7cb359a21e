# ---- cdf.gp: distributions as steps with some marks, and intervals of percentiles ----
# Columns: panel series x share percentile low high; a row without percentile has no interval.

# Intervals of neighbouring curves stand a little apart, so that each can be seen.
at(s) = sprintf('($4*YF+%g)', 0.016 * (s - 0.5 * (SERIES + 1)))
curve(b, s) = sprintf("DATA index %d using ($3*XF):($4*YF) with steps ls %d notitle, ", b, s) \
	.sprintf("DATA index %d using ($6*XF):%s:(($7-$6)*XF):(0) with vectors ", b, at(s)).WHISKER \
	.sprintf(" lc rgb PALETTE[cycle(LOOK[%d],8)] notitle, ", s) \
	.sprintf("DATA index %d using ($5 > 0 ? $3*XF : NaN):%s with points ls %d notitle, ", b, at(s), s) \
	.sprintf("DATA index %d using ($3*XF):($4*YF) every %d::%d with points ls %d notitle, ", \
	b, POINTS[s] / 7 + 1, (POINTS[s] / 7 + 1) * (1 + s % 3) / 4, s) \
	.sprintf("keyentry with linespoints ls %d title LEGEND[%d]", s, s)
