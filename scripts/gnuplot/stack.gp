# ---- stack.gp: bars of parts, one on another ----
# Columns: panel series x time from to; series are parts.

set grid noxtics
HALF = 0.36
part(s) = TEXT ? sprintf('lt %d', s) : sprintf("lt 1 lc rgb '%s' fs %s border rgb '#303030'", PALETTE[cycle(LOOK[s], 8)], \
	FILLS[cycle(DASH[s], 5)])
curve(b, s) = sprintf("DATA index %d using 3:($5*YF):($3-HALF):($3+HALF):($5*YF):($6*YF) " \
	."with boxxyerror %s title LEGEND[%d]", b, part(s), s)
