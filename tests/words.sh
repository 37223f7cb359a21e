#!/bin/bash
# Pages keep to a budget of words (code blocks and tables count), and their links lead somewhere: to a file that is
# there and, behind a "#", to one of its headings. A page that grows takes from another.
# shellcheck disable=SC2016 # the single quotes hold sed programs
set -euo pipefail

: "${SRC:?source directory}"
cd "$SRC"
all=31000  # of all pages together
page=1000  # of one
declare -A more=(
	[./CHANGELOG.md]=1250
	[./CONTRIBUTING.md]=1650
	[./scenarios/in-network/README.md]=2050
	[./scenarios/gallery.md]=1150
	[./sim/cli/README.md]=2650
	[./traces/README.md]=1200
)
failures=0
fail() {
	echo "words: $*" >&2
	failures=$((failures + 1))
}

# headings FILE: as anchors
headings() {
	sed '/^```/,/^```/d' "$1" | sed -n 's/^#\+ //p' | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

mapfile -t pages < <(find . -name '*.md' -not -path './.git/*' -not -path './build*' -not -path './results/*/*' | sort)
sum=0 links=0
for file in "${pages[@]}"; do
	words=$(wc -w <"$file")
	sum=$((sum + words))
	((words <= ${more[$file]:-page})) || fail "$file has $words words, ${more[$file]:-$page} are allowed"
	while IFS= read -r link; do
		links=$((links + 1))
		target=$file
		[[ $link == '#'* ]] || target=$(dirname "$file")/${link%%#*}
		if [[ ! -e $target ]]; then
			fail "$file: nothing is at $link"
		elif [[ $link == *'#'* ]] && ! grep -qxF -- "${link#*#}" < <(headings "$target"); then
			fail "$file: no heading for $link"
		fi
	done < <(sed '/^```/,/^```/d' "$file" | grep -oE '\]\([^) ]+\)' | sed 's/^](//; s/)$//' | grep -v '^https\?:' || true)
done
((links > 100)) || fail "only $links links found"
((sum <= all)) || fail "$sum words in all, $all are allowed: shorten pages"
((failures == 0)) || exit 1
echo "words: $sum of $all in ${#pages[@]} pages, $links links"
