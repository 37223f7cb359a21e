#!/bin/bash
# One dialect of C (CONTRIBUTING.md), as far as lines show it; clang-format and clang-tidy have no checks for these: `!strcmp()`
# and `!*text`, not `== 0` and `== '\0'`; `p`, not `p != NULL`; `min` and `max`, not `least` and `most`; declarations at the head
# of a block or right behind a check that leaves it, and a blank line behind them.
set -euo pipefail

: "${SRC:?source directory}"
cd "$SRC"

# Prints what is wrong in the files that it is given. What stands outside functions is skipped.
read -r -d '' program <<'EOF' || true
function said(what) {
	printf "%s:%d: %s: %s\n", FILENAME, FNR, what, $0
}

# The line without comments and texts.
function code(line) {
	gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
	gsub(/\/\*.*\*\//, "", line)
	if (in_comment) {
		if (line !~ /\*\//)
			return ""
		sub(/.*\*\//, "", line)
		in_comment = 0
	}
	if (sub(/\/\*.*/, "", line))
		in_comment = 1
	sub(/[ \t]+$/, "", line)
	return line
}

function is_declaration(line) {
	if (line ~ /^\t+(static )?(const )?struct {$/)
		return 1
	return line ~ "^\t+((static|const|struct|enum|union|unsigned|volatile) )*[A-Za-z_][A-Za-z_0-9]*( const)? ([*]+(const )?)*([(][*])?" \
		      "[A-Za-z_][A-Za-z_0-9]*([)][(].*[)]|\\[.*\\])?( =|;|,)" &&
	       line !~ /^\t+(return|goto|else|case|if|do|for|while|switch|typedef|extern) /
}

{
	if (FNR == 1)
		in_comment = in_function = open = 0
	raw = $0
	line = code($0)
	if (line ~ /cmp\([^()]*(\([^()]*(\([^()]*\)[^()]*)*\)[^()]*)*\) [!=]= 0/ && line !~ /\+=/)
		said("compares a comparison with 0")
	if (line ~ /[!=]= '\\0'/)
		said("compares with '\\0'")
	if (line ~ /[!=]= NULL/ && line !~ /[-+|]=|\+ \(|\([^()]*[!=]= NULL\)\)/)
		said("compares with NULL")
	# "least" is a key of sweeps
	if (line ~ /(^|[^a-z_])([a-z_]+_)?(most|least)(_[a-z_]+)?([^a-z_]|$)/ && line !~ /at_least/ &&
	    FILENAME !~ /^sim\/lab\/sweep\/|^models\/formulas\//)
		said("least or most, not min or max")
	if (raw == "{" || raw == "}") {
		in_function = raw == "{"
		state = "open"
		next
	}
	if (!in_function || (raw != "" && line ~ /^[ \t]*$/) || line ~ /^#/)
		next # a comment
	if (open) { # inside a declaration
		unnamed = unnamed && line !~ "^" unnamed "}"
		open = unnamed || line !~ /;$/
		next
	}
	if (line ~ /^[ \t]*$/) {
		blank = 1
		next
	}
	if (is_declaration(line)) {
		if (state == "statement")
			said("a declaration behind a statement")
		state = "declared"
		open = line !~ /;$/
		unnamed = line ~ /struct {$/ ? substr(line, 1, match(line, /[^\t]/) - 1) : ""
	} else {
		if (state == "declared" && !blank && line !~ /^\t*}/)
			said("no blank line behind declarations")
		state = line ~ /{$|:$/ ? "open" : line ~ /^\t*((return|continue|break|goto)[ ;]|SIM_BUG_ON|})/ || left ? "open" : "statement"
	}
	# a check that leaves may have several lines
	left = state == "open" && line ~ /^\t*(return |SIM_BUG_ON)/ && line !~ /;$/
	blank = 0
}
EOF

mapfile -t files < <(find sim models -name '*.[ch]' | LC_ALL=C sort)
wrong=$(awk "$program" "${files[@]}")
if [[ -n $wrong ]]; then
	printf '%s\n' "$wrong" >&2
	exit 1
fi
echo "dialect: ${#files[@]} files"
