# ---- heat.gp: a map with a number in each cell ----
# Columns: panel series x value low high; series are the rows, the first one below.

unset grid
set border 15
set yrange [-0.5:YTICKS - 0.5]
set ylabel BY
number(v) = abs(v) >= 100 ? sprintf('%.0f', v) : sprintf('%.3g', v)
HALVES = CELL >= 8 && !RATIO && !TEXT # of intervals
half(width) = HALVES ? "\n± ".number(width / 2) : ''

# From light to dark, so that black numbers can be read and paper without colour shows the same
# order. Ratios have two sides, as far to either, and white at 1.
F = factor(YUNIT[1], YHIGH[1])
LOW = YLOW[1] * F
HIGH = YHIGH[1] > YLOW[1] ? YHIGH[1] * F : LOW + (LOW == 0 ? 1 : abs(LOW))
if (RATIO) {
	LOW = LOW > 0 && 1 / LOW > HIGH ? 1 / LOW : HIGH
	SIDE = LOW > 1.01 ? LOW : 1.01
	set palette defined (0 '#56b4e9', 1 '#ffffff', 2 '#e69f00')
	set logscale cb
	set cbrange [1 / SIDE:SIDE]
	set cbtics ()
	do for [i = -2:2] { set cbtics add (sprintf('%.3g', SIDE**(i / 2.0)) SIDE**(i / 2.0)) }
} else {
	set palette defined (0 '#ffffff', 1 '#56b4e9')
	set cbrange [LOW:HIGH]
	if (LOGY) { set logscale cb }
}
cells(b) = sprintf("DATA index %d using 3:($2-1):($3-0.5):($3+0.5):($2-1.5):($2-0.5):($4*YF) " \
	."with boxxyerror fs solid 1 border rgb '#b0b0b0' lc palette notitle", b)
numbers(b) = sprintf("DATA index %d using 3:($2-1):(valid(4) ? number($4*YF)" \
	.".(valid(5) ? half(($6-$5)*YF) : '') : '–') with labels notitle", b)
curve(b, s) = TEXT ? numbers(b) : cells(b).(CELL >= 4.5 ? ', '.numbers(b) : '')
