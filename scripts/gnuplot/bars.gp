# ---- bars.gp: bars side by side at each label, with INTERVALS their ends ----
# Columns: panel series x y low high; without low and high (one value) a bar has no whiskers.

set grid noxtics
BAR = 0.8 / SERIES # of the distance of two labels
shift(s) = BAR * (s - 0.5 * (SERIES + 1))
set boxwidth 0.7 * BAR
ends(b, s) = INTERVALS ? sprintf(", DATA index %d using ($3+shift(%d)):($5*YF):(0):(($6-$5)*YF) " \
	."with vectors ", b, s).WHISKER." lc rgb '#303030' notitle" : ''
curve(b, s) = sprintf("DATA index %d using ($3+shift(%d)):($4*YF):(BAR) with boxes ", b, s) \
	.fill(s).sprintf(" title LEGEND[%d]", s).ends(b, s).daggers(b, sprintf("$3+shift(%d)", s))
