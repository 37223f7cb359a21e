#!/bin/bash
# One dialect (CONTRIBUTING.md): `sizeof(x)`, and `p` or `!p` where `!= NULL` is no number. Layout is what clang-format 14 makes of
# .clang-format; that part is skipped (77) without it.
set -euo pipefail

cd "${SRC:?source directory}"
if grep -rnE --include='*.[ch]' '== NULL|\<sizeof [^(]' sim models tests ||
	grep -rnE --include='*.[ch]' '!= NULL' sim models tests | grep -vE '([+[]|[+|]=|!= \().*!= NULL'; then
	echo "format: another dialect than CONTRIBUTING.md says" >&2
	exit 1
fi

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

mapfile -d '' -t files < <(find sim models tests -name '*.[ch]' -print0 | LC_ALL=C sort -z)
wrong=()
for file in "${files[@]}"; do
	"$formatter" --dry-run -Werror --style=file "$file" >"${TMPDIR:-/tmp}/format.$$" 2>&1 && continue
	wrong+=("$file")
	grep -m 3 'error:' "${TMPDIR:-/tmp}/format.$$" >&2
done
rm -f "${TMPDIR:-/tmp}/format.$$"
if ((${#wrong[@]} > 0)); then
	printf 'format: %d of %d files differ; to change them:\n  %s -i %s\n' \
		"${#wrong[@]}" "${#files[@]}" "$formatter" "${wrong[*]}" >&2
	exit 1
fi
echo "format: ${#files[@]} files as .clang-format says"
