#!/bin/bash
# Does what the READMEs tell people to type work? Runs every command of the
# ```sh blocks of README.md, of the READMEs up to three folders down, in order, in one copy
# of the source tree per README, with "build/inasim" standing for the program
# under test. Not run: ```console blocks, and commands that start with git clone,
# sudo, scripts/setup, scripts/build, scripts/test or scripts/quickstart. The tutorial is pictures.sh's.
set -euo pipefail

: "${SRC:?source directory}" "${INASIM:?the program}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The commands of one file, one per line; a line that ends in "\" goes on.
commands() {
	awk '
		/^```sh[ \t]*$/ { inside = 1; next }
		/^```/ { inside = 0; next }
		!inside { next }
		{ line = joined $0; joined = "" }
		line ~ /\\$/ { sub(/\\$/, "", line); joined = line; next }
		{ sub(/^[ \t]*(\$ )?/, "", line) }
		line == "" || line ~ /^#/ { next }
		line ~ /^(git clone|sudo|cd inasim|scripts\/(setup|build|test|quickstart))/ { next }
		{ print line }' "$1"
}

run=0
failures=0
while IFS= read -r readme; do
	copy=$work/${readme//\//_}
	mapfile -t list < <(commands "$SRC/$readme")
	((${#list[@]} > 0)) || continue
	mkdir -p "$copy/build"
	tar -C "$SRC" --exclude='./build*' --exclude='./.git' --exclude='./results/*' -cf - . |
		tar -C "$copy" -xf -
	ln -s "$INASIM" "$copy/build/inasim"
	for command in "${list[@]}"; do
		run=$((run + 1))
		if ! (cd "$copy" && bash -c "set -euo pipefail; $command") \
			>"$work/output" 2>&1 </dev/null; then
			printf 'docs: %s: failed: %s\n' "$readme" "$command" >&2
			tail -n 20 "$work/output" | sed 's/^/    /' >&2
			failures=$((failures + 1))
		fi
	done
	rm -rf "$copy"
done < <(cd "$SRC" && find . -mindepth 1 -maxdepth 4 -name README.md -not -path './build*' \
	-not -path './.git/*' -not -path './results/*/*' -not -path './scenarios/tutorial/*' -printf '%P\n' | LC_ALL=C sort)

if ((failures > 0)); then
	echo "docs: $failures of $run commands failed" >&2
	exit 1
fi
echo "docs: $run commands work"
