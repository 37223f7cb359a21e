# ---- draw.gp: axes, all panels one above another, and below them one legend ----

# The tics of a logarithmic axis have prefixes of their own.
XF = LOGX && XUNIT eq 's' ? 1 : factor(XUNIT, XHIGH)
X0 = XLOW * XF
X1 = XHIGH * XF
share(x) = X1 <= X0 ? 0 : LOGX ? log(x / X0) / log(X1 / X0) : (x - X0) / (X1 - X0)

# ---- x ----

if (XTICKS > 0) { set xtics () }
if (XTICKS > 0 && LABELLED) {
	if (SLANTED) { set xtics rotate by -30 left }
	set xtics scale 0
	set xrange [-0.5:XTICKS - 0.5]
	do for [i = 1:XTICKS:1 + XTICKS / 30] { set xtics add (XTICK[i] XTICK_AT[i]) } # not all of many
}
if (XTICKS > 0 && !LABELLED) {
	# Numbers at the values of the axis; those without room have a tick only.
	end = -1
	do for [i = 1:XTICKS] {
		half = 0.5 * letters(XTICK[i]) + 0.5
		fits = i == 1 || share(XTICK_AT[i]) * ROOM - half > end
		set xtics add ((fits ? XTICK[i] : '') XTICK_AT[i])
		end = fits ? share(XTICK_AT[i]) * ROOM + half : end
	}
}
# Tics of a logarithmic axis: 1, 2, 5 times the powers of ten; 1 alone where that would crowd.
steps(low, high) = high / low < 4 ? '1 1.5 2 2.5 3 4 5 6 7 8' : high / low < 300 ? '1 2 5' : '1'
if (LOGX) { set logscale x }
if (LOGX && XTICKS == 0) {
	set xtics ()
	do for [e = floor(log10(X0)):ceil(log10(X1))] {
		do for [m in steps(X0, X1)] { set xtics add (m * 10.0**e) }
	}
	set format x XUNIT eq 's' ? '%.0s %cs' : '%g'
}
if (LOGX) {
	PAD = XTICKS == 0 ? 1.15 : X1 > X0 ? (X1 / X0)**0.04 : 2
	set xrange [X0 / PAD:X1 * PAD]
}
if (!LOGX && !LABELLED) {
	PAD = XTICKS == 0 ? (XUNIT eq 's' && X0 > 0 ? 0.03 * (X1 - X0) : 0) : X1 > X0 ? 0.04 * (X1 - X0) : 1
	set xrange [X0 - PAD:X1 + (X1 + PAD > X0 ? PAD : 1)]
}
# The least of 1, 2 and 5 times the powers of ten that is not below v.
nice(v) = 10**floor(log10(v)) * (v <= 10**floor(log10(v)) ? 1 : v <= 2 * 10**floor(log10(v)) ? 2 : v <= 5 * 10**floor(log10(v)) ? 5 : 10)
# gnuplot knows no width of an SVG's letters, and sets up to ten numbers in any room.
tens(v) = 10**floor(log10(v))
automatic(v) = (v < 2 * tens(v) ? 0.2 : v < 5 * tens(v) ? 0.5 : 1) * tens(v)
if (!LOGX && XTICKS == 0 && !TEXT && X1 > X0) {
	wide = int(log10(most(1, X1))) + (automatic(X1 - X0) < 1 ? 4 : 2) # a number and a blank
	if (automatic(X1 - X0) * ROOM < wide * (X1 - X0)) { set xtics nice((X1 - X0) * wide / ROOM) }
}
if (!SLANTED && TIC_LINES > 1) { set xlabel offset 0,1 - TIC_LINES }
XWORDS = wrap(in_unit(XLABEL, scaled(LOGX && XUNIT eq 's' ? '' : unit_name(XUNIT, XF), LOGX)), LETTERS)

# ---- Panels ----

# The legend has a strip of its own, where no curve can run through it. Several panels are all of a size, so their margins are
# shares of the page.
HIGH = TEXT ? 1.0 / int(24 * PIXELS_HIGH / 560.0 + MORE) : LINE / SHAPE # of a line, of the page
unset key
if (PANELS == 1) {
	set multiplot
	set origin 0, KEY_LINES * HIGH
	set size 1, most(0.1, 1 - KEY_LINES * HIGH)
} else {
	set multiplot title HEAD
	do for [p = 1:PANELS] { do for [q = 1:PANELS] { # one scale for one quantity
		if (YLABEL[p] eq YLABEL[q]) {
			YLOW[p] = least(YLOW[p], YLOW[q])
			YHIGH[p] = most(YHIGH[p], YHIGH[q])
		}
	} }
}
SMALLEST = 4 # lines of a plot whose numbers can be read
lacks = 0
TALL = PANELS > 1 ? (1 - (LINES_ABOVE + LINES_BELOW) * HIGH) / DOWN : 1
do for [p = 1:PANELS] {
	YF = factor(YUNIT[p], YHIGH[p])
	Y0 = YLOW[p] * YF
	Y1 = YHIGH[p] * YF
	YWORDS = in_unit(YLABEL[p], scaled(unit_name(YUNIT[p], YF), LOGY))
	FIRST = 1 # of its row, with the axis
	if (PANELS > 1) {
		ACROSS_AT = (p - 1) % ROW % ACROSS
		DOWN_AT = (p - 1) / ROW * ROWS_OF_A_ROW + (p - 1) % ROW / ACROSS
		FIRST = ACROSS_AT == 0 || ROW != GROUP
		set lmargin at screen LEFT + ACROSS_AT * (EACH + GAP)
		set rmargin at screen LEFT + ACROSS_AT * (EACH + GAP) + EACH
		set tmargin at screen 1 - LINES_ABOVE * HIGH - DOWN_AT * TALL - LINES_OVER * HIGH
		set bmargin at screen 1 - LINES_ABOVE * HIGH - (DOWN_AT + 1) * TALL + LINES_UNDER * HIGH
	}

	# From 0 where that does not squeeze everything against the top.
	if (YTICKS == 0 && LOGY) {
		set logscale y
		set ytics ()
		do for [e = floor(log10(Y0)):ceil(log10(Y1))] {
			do for [m in steps(Y0, Y1)] { set ytics add (m * 10.0**e) }
		}
		BOTTOM = Y0 / 1.1
		set yrange [BOTTOM:Y1 * 1.1]
	}
	if (YTICKS == 0 && !LOGY) {
		PAD = Y1 > Y0 ? 0.06 * (Y1 - Y0) : 1
		BOTTOM = Y0 >= 0 && (Y0 < 0.5 * Y1) ? 0 : Y0 - PAD
		set yrange [BOTTOM:Y1 + (BOTTOM == 0 && Y1 > 0 ? 0.06 * Y1 : PAD)]
		# few numbers where more would touch each other
		if (!TEXT && PLOT < 9 * LINE && Y1 > BOTTOM && !exists('HEAT')) { set ytics nice((Y1 - BOTTOM) * 1.6 * LINE / PLOT) }
		if (Y0 < 0) { set xzeroaxis lt 1 lc rgb '#808080' }
	}
	if (YTICKS > 0) {
		set ytics scale 0 ()
		# not all of many: a label needs three quarters of a line
		every = exists('BY') ? 1 + YTICKS / 45 : TEXT ? 1 : 1 + int(0.75 * YTICKS * LINE / PLOT)
		do for [i = 1:YTICKS:every] { set ytics add (YTICK[i] YTICK_AT[i]) }
	}
	set format y FIRST ? '% h' : ''

	# Beside an axis of text there is no room for words, beside a map no axis.
	UNIT = scaled(unit_name(YUNIT[p], YF), LOGY)
	BROKEN = exists('BY') ? 1 : lines(wrap(YWORDS, YLETTERS))
	WIDE = LETTERS - most(0, BESIDE - 4) - (TEXT ? 0 : 3 * (BROKEN - 1)) # titles stand in the middle of the plot
	ABOVE = wrap(TITLE.(exists('BY') && UNIT ne '' ? ', in '.UNIT : ''), WIDE)."\n" \
		.wrap(SUBTITLE, WIDE - shouted(SUBTITLE)).(TEXT && !exists('BY') && YWORDS ne '' ? "\n".YWORDS : '')
	if (!TEXT && !exists('BY')) {
		set ylabel FIRST ? wrap(YWORDS, YLETTERS) : '' \
			offset TIKZ && PANELS > 1 ? 1.5 - 1.5 * BROKEN : PANELS == 1 && BROKEN > 2 ? 2 - BROKEN : 0, 0 # too little room is kept
	}
	set title PANELS == 1 ? (exists('NO_TITLE') ? '' : ABOVE) : \
		PANEL_TITLE[p].(TEXT ? ' '.YWORDS : '') offset 0, PANELS == 1 ? 0 : -0.6
	if (PANELS == 1) { set xlabel XWORDS }
	command = 'plot '
	do for [s = 1:SERIES] { command = command.(s > 1 ? ', ' : '').curve((p - 1) * SERIES + s - 1, s) }
	if (BASELINE ne '') {
		command = command.", 1 with lines lt 1 dt 3 lw 1.5 lc rgb '#000000' title BASELINE"
	}
	eval command
	lacks = most(lacks, SMALLEST - (GPVAL_TERM_YMAX - GPVAL_TERM_YMIN) * GPVAL_TERM_SCALE / GPVAL_TERM_YSIZE / HIGH)
}
if (lacks > 0.3 && HEIGHT > 0) {
	print sprintf("%s: %g inches are too low for its words; it needs %.1f", NAME, HEIGHT, \
		ceil(10 * (HEIGHT + lacks * DOWN * LINE * WIDTH)) / 10.0)
}

# Once more without numbers, for the legend.
XF = NaN
YF = NaN
unset label
if (PANELS > 1) {
	set label 1 XWORDS at screen LEFT + 0.5 * (1 - LEFT), screen (LINES_BELOW - 0.6) * HIGH center
}
set origin 0, 0
set size 1, 1
set lmargin at screen 0
set rmargin at screen 1
set bmargin at screen 0
set tmargin at screen KEY_LINES * HIGH
unset title; unset xlabel; unset ylabel; unset border; unset tics; unset grid; unset logscale y; unset colorbox
set yrange [1e290:1e300]
if (KEY) { set key inside center horizontal maxcols COLUMNS }
if (KEY || PANELS > 1) { eval command }
unset multiplot
