#!/bin/bash
# scripts/release gives the same bytes in another clone, at another time, under another umask; the archive has what git has,
# names its commit when it is built, and a tag gives it the plain name. The commit and not the tag is what --version says.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own
git -c safe.directory='*' clone -q --no-hardlinks "$SRC" one 2>err || { echo "release: $(<err); skipped"; exit 77; }
[[ -x one/scripts/release ]] || { echo "release: not committed yet, skipped"; exit 77; }
mkdir first second tagged
commit=$(git -C one rev-parse HEAD)
version=$("$INASIM" --version | sed -n 's/^inasim \([0-9.]*\) .*/\1/p')
name=inasim-$version-g${commit:0:12}

(cd first && TZ=Asia/Tokyo ../one/scripts/release) >out
checks=$((checks + 1))
git clone -q one two
(umask 077 && find two -name '*.md' -exec touch -d 2001-01-01 {} + && echo more >>two/README.md && two/scripts/release HEAD second) >out2
cmp first/"$name".tar.gz second/"$name".tar.gz || fail "other bytes"
cmp out out2 || fail "other checksums"
(cd second && sha256sum -c --quiet "$name.tar.gz.sha256") || fail "the checksum is wrong"

# unpacked in a repository of somebody else
git init -q other
tar -xzf first/"$name".tar.gz -C other
diff <(git -C one ls-files | LC_ALL=C sort) <(cd other/"$name" && find . -type f -printf '%P\n' | LC_ALL=C sort) >out || fail "other files: $(<out)"
# info FOLDER: the commit that a build of it would print
info() {
	cmake "-DSOURCE=$PWD/$1" "-DOUT=$PWD/info.h" -DPROJECT_VERSION="$version" -P "$1/sim/cli/build_info.cmake"
	sed -n 's/^#define BUILD_COMMIT "\(.*\)"$/\1/p' info.h
}
checks=$((checks + 4))
[[ $(info "other/$name") == "${commit:0:12}" ]] || fail "the archive builds $(info "other/$name")"
git -C one -c user.name=test -c user.email=test@localhost tag -a "v$version" -m "a tag"
[[ $(info one) == "${commit:0:12}" ]] || fail "the tagged clone builds $(info one)"
[[ $(info two) == "${commit:0:12}-dirty" ]] || fail "the changed clone builds $(info two)"
one/scripts/release "v$version" tagged >out
[[ $(<out) == *" inasim-$version.tar.gz" ]] || fail "the tag gives $(<out)"
one/scripts/release nowhere tagged >out 2>err && fail "makes what is not there"
says err '^release: no commit nowhere$'
finish "$checks checks hold"
