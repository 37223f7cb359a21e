#!/bin/bash
# Layout is what clang-format 14 makes of .clang-format. Skipped (77) without it.
set -euo pipefail

: "${SRC:?source directory}"
formatter=
for name in clang-format-14 clang-format; do
	if command -v "$name" >/dev/null && "$name" --version | grep -q 'version 14\.'; then
		formatter=$name
		break
	fi
done
if [[ -z $formatter ]]; then
	echo "format: clang-format 14 is not installed, skipped"
	exit 77
fi

cd "$SRC"
mapfile -d '' -t files < <(find sim models tests -name '*.[ch]' -print0 | LC_ALL=C sort -z)
mapfile -t wrong < <(printf '%s\0' "${files[@]}" | xargs -0 -n 50 "$formatter" --dry-run -Werror --style=file 2>&1 |
	tee /dev/stderr | sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: error:.*/\1/p' | uniq)
if ((${#wrong[@]} > 0)); then
	printf 'format: %d of %d files differ; to change them:\n  %s -i %s\n' \
		"${#wrong[@]}" "${#files[@]}" "$formatter" "${wrong[*]}" >&2
	exit 1
fi
echo "format: ${#files[@]} files as .clang-format says"
