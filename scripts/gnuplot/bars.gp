# ---- bars.gp: bars side by side at each label, with INTERVALS their ends ----
# Columns: panel series x y low high.

set grid noxtics
BAR = 0.8 / SERIES # of the distance of two labels
shift(s) = BAR * (s - 0.5 * (SERIES + 1))
set boxwidth 0.7 * BAR
curve(b, s) = sprintf("DATA index %d using ($3+shift(%d)):($4*YF)", b, s).(INTERVALS \
	? ":($5*YF):($6*YF):(BAR) with boxerrorbars " : ":(BAR) with boxes ") \
	.fill(s).sprintf(" title LEGEND[%d]", s)
