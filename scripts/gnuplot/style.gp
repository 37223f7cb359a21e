# ---- style.gp: terminal, colours, titles: what all figures share ----

set encoding utf8
# The names of the columns begin with "panel": a comment to gnuplot, a header to others.
set datafile commentschars '#p'
DATA = NAME.'.dat'
TEXT = TERM eq 'dumb'
TIKZ = TERM eq 'tikz' # the words are escaped for TeX
PAPER = WIDTH > 0 && !TEXT # inches; else for a screen, in pixels
FILES = TERM eq 'pdf' || TERM eq 'eps'

# For paper letters have 8 points, as captions have, whatever the width.
FACE = FONT eq '' ? 'Sans' : FONT
SIZE = FONT_POINTS > 0 ? FONT_POINTS : 8
LETTERS = TEXT ? 79 : PAPER ? int(14.5 * WIDTH * 8 / SIZE) : 80 # that fit side by side
# The height of a line, as a share of the width: gnuplot's svg terminal takes half as much again as letters have.
LINE = PAPER && TERM eq 'svg' ? 1.5 * SIZE / (72 * WIDTH) : 1.95 / LETTERS

# ---- Words ----

# As many lines as a text needs, broken at blanks.
blank(s, n) = n < 2 ? 0 : s[n:n] eq ' ' ? n : blank(s, n - 1)
broken(s, n, at) = at == 0 ? s : s[1:at-1]."\n".wrap(s[at+1:*], n)
end(s) = strstrt(s, "\n")
wrap(s, n) = end(s) > 0 ? wrap(s[1:end(s)-1], n)."\n".wrap(s[end(s)+1:*], n) : \
	strlen(s) <= n ? s : broken(s, n, blank(s, n + 1))
lines(s) = end(s) == 0 ? 1 : 1 + lines(s[end(s)+1:*])
cut(s, n) = TIKZ || strlen(s) <= n ? s : s[1:n/2-1].'…'.s[strlen(s)-n/2+1:*] # in its middle
# Letters that are seen of a text that is escaped for TeX: \_ and \symbol{37} are one each.
slash(s) = strstrt(s, '\')
escape(s) = strstrt('abcdefghijklmnopqrstuvwxyz', s[1:1]) > 0 ? strstrt(s, '}') : 1
letters(s) = !TIKZ || slash(s) == 0 ? strlen(s) : slash(s) + letters(s[slash(s)+1+escape(s[slash(s)+1:*]):*])
capitals(s) = s eq '' ? 0 : (strstrt('ABCDEFGHIJKLMNOPQRSTUVWXYZ', s[1:1]) > 0) + capitals(s[2:*])
# What words in capitals take beside others: "15 by ANOTHER SCHEME".
shouted(s) = TEXT || capitals(s) < 7 ? 0 : 4
least(a, b) = a < b ? a : b
most(a, b) = a > b ? a : b

# ---- Units ----

# A quantity in a unit that suits its largest value: what to multiply it with, and the name.
factor(unit, v) = \
	unit eq 's' ? (v >= 1 ? 1 : v >= 1e-3 ? 1e3 : v >= 1e-6 ? 1e6 : 1e9) : \
	unit eq '%' ? 100 : \
	unit eq 'bytes' || unit eq 'bit/s' || unit eq 'B/s' ? (v >= 1e9 ? 1e-9 : v >= 1e6 ? 1e-6 : \
		v >= 1e3 && unit eq 'bytes' ? 1e-3 : 1) : \
	unit eq 'number' && v >= 1e6 ? 1e-6 : 1
prefixed(unit, f) = f == 1e-9 ? 'G'.unit : f == 1e-6 ? 'M'.unit : f == 1e-3 ? 'K'.unit : \
	unit eq 'B' ? 'bytes' : unit
unit_name(unit, f) = \
	unit eq 's' ? (f == 1 ? 's' : f == 1e3 ? 'ms' : f == 1e6 ? 'µs' : 'ns') : \
	unit eq 'bytes' ? prefixed('B', f) : unit eq 'bit/s' || unit eq 'B/s' ? prefixed(unit, f) : \
	unit eq 'number' ? (f < 1 ? 'millions' : '') : \
	unit eq '%' && TIKZ ? '\%' : unit
in_unit(words, unit) = unit eq '' ? words : words.' ('.unit.')'
scaled(unit, logarithmic) = unit.(logarithmic ? (unit eq '' ? '' : ', ').'log scale' : '')

# ---- Room ----

BESIDE = 0 # letters of the longest label beside the plot
do for [i = 1:YTICKS] {
	if (exists('BY') && !TEXT) { YTICK[i] = wrap(YTICK[i], 24) } # rows of maps have room
	BESIDE = most(BESIDE, exists('BY') ? least(24, letters(YTICK[i])) : letters(YTICK[i]))
}
# Panels beside each other where each then has two inches; those of a row show one metric.
ROW = GROUP > 1 ? GROUP : PANELS
FIT = TEXT || GROUP == 0 ? 1 : PAPER ? int(most(1, WIDTH / (0.25 * SIZE))) : 3
ROWS_OF_A_ROW = (ROW + FIT - 1) / FIT
ACROSS = (ROW + ROWS_OF_A_ROW - 1) / ROWS_OF_A_ROW
DOWN = PANELS / ROW * ROWS_OF_A_ROW

ROOM = YTICKS > 0 ? 0.75 * LETTERS - BESIDE : 0.82 * LETTERS / ACROSS # of the x axis
CELL = most(1, int(ROOM / most(1, XTICKS)) - 1)

# Labels below an axis are broken where each word then has room, else slanted: in two lines where those of the next leave room.
longest = 0
do for [i = 1:XTICKS] { do for [k = 1:words(XTICK[i])] {
	longest = most(longest, letters(word(XTICK[i], k)))
} }
SLANTED = LABELLED && longest > CELL && !TEXT
TIC_LINES = 1
if (LABELLED && !TEXT) {
	longest = 0
	do for [i = 1:XTICKS] {
		XTICK[i] = SLANTED && CELL < 7 ? cut(XTICK[i], 24) : wrap(XTICK[i], SLANTED ? 24 : CELL)
		longest = most(longest, least(24, letters(XTICK[i])))
		TIC_LINES = most(TIC_LINES, lines(XTICK[i]))
	}
	if (SLANTED) { TIC_LINES = 1 + longest / 5 }
}
# Letters right of the last tick: a slanted label goes on.
BEYOND = SLANTED ? most(2, 0.87 * least(24, letters(XTICK[XTICKS])) - 0.4 * CELL) : 2

# The legend has the page's width below the plot: columns that have room for its longest name.
KEY = LEGEND[1] ne '' && !exists('BY')
ENTRIES = SERIES + (BASELINE ne '')
name_longest = letters(BASELINE)
do for [s = 1:SERIES] {
	LEGEND[s] = cut(LEGEND[s], LETTERS - 6)
	name_longest = most(name_longest, letters(LEGEND[s]))
}
# gnuplot takes every letter for an m; on paper its svg terminal even for a wider one.
OVER = TEXT ? 0 : TERM eq 'svg' ? 0.2 : 0.15
COLUMNS = most(1, least(4, int((PAPER && TERM eq 'svg' ? 0.88 : 1) * LETTERS / ((1 - OVER) * name_longest + 5.5))))
KEY_LINES = (KEY ? (ENTRIES + COLUMNS - 1) / COLUMNS : 0) + (TEXT ? 0 : KEY ? 0.8 : 0.3)
# Lines that a plain figure does not have make it higher (and rows of maps).
MORE = most(0, (ENTRIES - 1) / COLUMNS - 1) + TIC_LINES - 1

# ---- Terminal ----

# A narrow figure is higher for its width, because titles and legend take more lines.
SHAPE = HEIGHT > 0 ? HEIGHT / WIDTH : (PAPER && WIDTH < 5 ? 1.4 : 1) * PIXELS_HIGH / 900.0 + MORE * LINE

# Several panels: lines above all of them, above and below each, and below all.
HEAD = exists('NO_TITLE') ? '' : wrap(TITLE, LETTERS)."\n".wrap(SUBTITLE, LETTERS - shouted(SUBTITLE))
LINES_ABOVE = HEAD eq '' ? 0.3 : lines(HEAD) + 0.7
LINES_OVER = PANEL_TITLE[1] eq '' ? 0.4 : 1.4
LINES_UNDER = TIC_LINES + 0.7
LINES_BELOW = 1.5 + KEY_LINES
ROUND = (LINES_ABOVE + LINES_BELOW + DOWN * (LINES_OVER + LINES_UNDER)) * LINE
PLOT = PANELS == 1 ? SHAPE - (LINES_ABOVE + LINES_UNDER + LINES_BELOW) * LINE : \
	HEIGHT > 0 ? (HEIGHT / WIDTH - ROUND) / DOWN : ACROSS > 1 ? 0.64 / ACROSS : \
	PAPER && WIDTH < 5 ? 0.36 : 0.22 # is so high, of the page's width
PLOT = most(PLOT, LINE)
YLETTERS = most(14, int((TIKZ ? 1.3 : 1) * (LETTERS * PLOT + 4)))
LEFT = 0
digits = 4
do for [p = 1:PANELS] {
	LEFT = most(LEFT, lines(wrap(YLABEL[p].' (ms)', YLETTERS)))
	top = YHIGH[p] * factor(YUNIT[p], YHIGH[p])
	digits = most(digits, top >= 1 ? int(log10(top)) + 1 : top > 0 ? 3 - int(log10(top)) : 1)
}
LEFT = TEXT ? 8.0 / LETTERS : (digits + 0.0625) / LETTERS + (1.25 + LEFT) * LINE # numbers, then the words in lines
GAP = ROW == GROUP ? 1.5 / LETTERS : LEFT # panels of a row that share their axis have it once
EACH = (1 - LEFT - (ACROSS - 1) * GAP - 1.0 * BEYOND / LETTERS) / ACROSS
if (PANELS > 1) {
	SHAPE = DOWN * PLOT + ROUND
	PIXELS_HIGH = 560 + 200 * (PANELS - 1) # of text
}

# Lines and marks shrink with letters. The cairo terminals take a point for 1/72 inch of a screen
# with 96 dots an inch, hence their scales; a CSS inch has 96 pixels, so there a point is 4/3.
inches(w) = sprintf(' size %gin,%gin', w, w * SHAPE)
dots(w) = sprintf(" size %d,%d background '#ffffff'", int(w + 0.5), int(w * SHAPE + 0.5))
if (TEXT) {
	set terminal dumb size 79, int(24 * PIXELS_HIGH / 560.0) + MORE noenhanced mono
} else {
	face(points) = sprintf(" font '%s,%.3g'", FACE, points)
	eval 'set terminal '.(TIKZ ? sprintf("tikz font '%s\\fontsize{%g}{%g}\\selectfont' linewidth 0.8", \
	     FONT eq '' ? '' : '\fontfamily{'.FONT.'}', SIZE, 1.2 * SIZE).inches(PAPER ? WIDTH : 5) : \
	     (TERM eq 'svg' ? 'svg' : TERM.'cairo').' noenhanced'.( \
	     FILES ? (PAPER ? face(SIZE).' linewidth 0.8 fontscale 0.75'.inches(WIDTH) \
	                    : face(12).inches(7.2)) : \
	     !PAPER ? face(14).dots(900) : \
	     TERM eq 'svg' ? face(SIZE * 4 / 3.0).' linewidth 0.8'.dots(96 * WIDTH) : \
	     face(SIZE).' fontscale 3.125 linewidth 2 pointscale 2'.dots(300 * WIDTH)))
	if (!exists('PIPED')) { set output NAME.(TIKZ ? '.tex' : '.'.TERM) }
}

# ---- Colours, dashes, marks ----

# Okabe and Ito's palette, told apart by the colour-blind too; black last. Curves differ in dash
# and mark as well, bars in their filling, so that paper without colour tells them apart.
array PALETTE[8] = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#f0e442', \
                    '#000000']
array MARKS[8] = [7, 4, 9, 10, 5, 6, 13, 8]
array FILLS[5] = ['solid 1', 'pattern 4', 'solid 0.4', 'pattern 5', 'pattern 2']
cycle(look, n) = (look - 1) % n + 1
do for [s = 1:SERIES] {
	set style line s lt cycle(LOOK[s], 8) lw 2 ps 1.3 dt cycle(DASH[s], 5) \
		lc rgb PALETTE[cycle(LOOK[s], 8)] pt MARKS[cycle(LOOK[s], 8)]
}
fill(s) = sprintf("lt %d lc rgb '%s' fs %s border rgb '#303030'", LOOK[s], \
                  PALETTE[cycle(LOOK[s], 8)], FILLS[cycle(LOOK[s], 5)])
if (!TEXT) {
	set grid back lt 1 dt 1 lw 1 lc rgb '#e0e0e0'
	set tics scale 0.6 tc rgb '#303030'
	set border 3 lw 1.2 lc rgb '#808080'
	set key width 1 - OVER * name_longest
	set key Left reverse samplen 2.5 tc rgb '#303030'
}
set border 3
set tics nomirror out
set micro
# Intervals are vectors with flat heads: error bars of gnuplot erase what is behind their middle.
WHISKER = 'heads size screen 0.008,90 fixed lt 1 lw 1'
# Where a column "mark" says what a reader should know of a bar or point: 1 a mean over survivors, 2 by another scheme.
dagger(mark) = mark == 1 ? '†' : mark == 2 ? '‡' : ''
daggers(b, x) = !DAGGERS ? '' : sprintf(", DATA index %d using (%s):(($6 > $4 ? $6 : $4)*YF):(dagger($8)) " \
	."with labels offset 0,0.6 notitle", b, x)
set style fill solid 1 noborder
