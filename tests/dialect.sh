#!/bin/bash
# One dialect of C (CONTRIBUTING.md), as far as a search can tell: sizeof(x), no comparison with NULL but where its answer
# is a number.
set -euo pipefail

: "${SRC:?source directory}"
cd "$SRC"
mapfile -d '' -t files < <(find sim models tests -name '*.[ch]' -print0 |
	LC_ALL=C sort -z)
((${#files[@]} > 0)) || { echo "dialect: no sources found in $SRC" >&2; exit 1; }
if grep -nE '\bsizeof [*a-z]|== NULL|\b(if|while|return|for)\b ?\(?[^"=]*!= NULL|(&&|\|\||\?) [^"]*!= NULL' "${files[@]}"; then
	echo "dialect: write sizeof(x), !p and p; CONTRIBUTING.md says more" >&2
	exit 1
fi
echo "dialect: ${#files[@]} files of one dialect"
