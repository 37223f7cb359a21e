# Lists the mutants of C sources: one operator or constant changed in each. A line of
# output is FILE, line, column, length, what stands there, and what a mutant has instead,
# with tabs between. Layout is clang-format's: binary operators stand between blanks.
# Left alone: comments, texts, preprocessor lines, checks of the program itself.
BEGIN {
	other("== !=|!= ==|< <=|<= <|> >=|>= >|&& |||| &&|+ -|- +|* +|/ *|% +|+= -=|-= +=|& ||| &|<< >>|>> <<")
	swap["||"] = "&&"; swap["&&"] = "||"; swap["|"] = "&"; swap["&"] = "|"
	swap["true"] = "false"; swap["false"] = "true"; swap["++"] = "--"; swap["--"] = "++"
	token = " (==|!=|<=|>=|<|>|&&|[|][|]|[+]|-|[*]|/|%|[+]=|-=|&|[|]|<<|>>) " \
		"|[+][+]|--|!|[A-Za-z_][A-Za-z_0-9]*|[0-9][0-9A-Za-z.]*"
}

function other(list,   pairs, pair, n, i) {
	n = split(list, pairs, "|")
	for (i = 1; i <= n; i++)
		if (split(pairs[i], pair, " ") == 2) swap[pair[1]] = pair[2]
}

# The line with blanks for all that is not code.
function code_of(line,   at, c, quote, result) {
	for (at = 1; at <= length(line); at++) {
		c = substr(line, at, 1)
		if (comment) {
			if (substr(line, at, 2) == "*/") { comment = 0; at++; result = result " " }
			c = " "
		} else if (quote != "") {
			if (c == "\\") { at++; result = result " " }
			if (c == quote) quote = ""
			c = " "
		} else if (substr(line, at, 2) == "/*") {
			comment = 1
			c = " "
		} else if (c == "\"" || c == "'") {
			quote = c
			c = " "
		}
		result = result c
	}
	return result
}

function mutant_of(text,   number) {
	if (text in swap) return swap[text]
	if (text == "!") return ""
	if (text ~ /^0[xX]/) return text " ^ 1"
	if (text !~ /^[0-9]/ || text ~ /[eE]$/) return text
	number = text
	sub(/[uUlLf]*$/, "", number)
	return (number + 1) substr(text, length(number) + 1)
}

FNR == 1 { comment = checks = 0 }
{
	line = code_of($0) " "
	if (line ~ /^ *#/) next
	if (line ~ /SIM_BUG_ON|static_assert/) checks = 1
	for (start = 1; !checks && match(substr(line, start), token); start = end) {
		from = start + RSTART - 1
		end = from + RLENGTH
		text = substr(line, from, RLENGTH)
		column = from + (text ~ /^ /)
		gsub(/ /, "", text)
		new = mutant_of(text)
		if (new != text)
			printf "%s\t%d\t%d\t%d\t%s\t%s\n", FILENAME, FNR, column, length(text), text, new
	}
	if (line ~ /;/) checks = 0
}
