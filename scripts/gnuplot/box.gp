# ---- box.gp: boxes from quartile to quartile, a line at the median, whiskers to the ends ----
# Columns: panel series x minimum quartile1 median quartile3 maximum.

set grid noxtics
BAR = 0.8 / SERIES # of the distance of two labels
shift(s) = BAR * (s - 0.5 * (SERIES + 1))
set boxwidth 0.7 * BAR
curve(b, s) = sprintf("DATA index %d using ($3+shift(%d)):($5*YF):($4*YF):($8*YF):($7*YF) " \
	."with candlesticks whiskerbars 0.5 %s title LEGEND[%d], DATA index %d " \
	."using ($3+shift(%d)):($6*YF):($6*YF):($6*YF):($6*YF) with candlesticks lt 1 lw 2 " \
	."lc rgb '#000000' notitle", b, s, fill(s), s, b, s)
