#!/bin/bash
# Includes go down only. The table below has the rooms, lowest first, and what each may include besides
# itself. A file belongs to the room with the longest path that begins its own.
#
# Also: no cycle among headers, nor among the modules of sim/engine/net (name.h with name.c; lossless*
# is one); every project include is written from the root of its part
# (sim/engine/, sim/ or models/: "net/port.h", never "port.h" or "../net/port.h"); a header of the
# inside of a room (*_parts.h) is included by that room only.
# sim/README.md has the picture of who includes whom, drawn from the includes themselves:
#   SRC=$PWD tests/layers.sh --update   draws it anew
# shellcheck disable=SC2016 # the single quotes hold awk programs
set -euo pipefail

: "${SRC:?source directory}"
cd "$SRC"

# room: what it may include. Names of rooms stand for themselves, those that end with "/" for all in
# it; "models/ina/*" is each folder there that has no line of its own: no scheme includes another.
rooms='
sim/engine/base:
sim/engine/core:        sim/engine/base
sim/engine/net:         sim/engine/base sim/engine/core
sim/engine/topo:        sim/engine/base sim/engine/core sim/engine/net
sim/conf:               sim/engine/base
sim/data:               sim/engine/base sim/engine/core sim/conf
sim/lab:                sim/engine/base sim/engine/core sim/conf sim/data
sim/lab/sweep:          sim/engine/base sim/engine/core sim/conf sim/data sim/lab
sim/lab/compare:        sim/engine/base sim/engine/core sim/conf sim/data sim/lab sim/lab/sweep
sim/lab/figures:        sim/engine/base sim/engine/core sim/conf sim/data sim/lab sim/lab/sweep
sim/lab/regress:        sim/engine/base sim/engine/core sim/conf sim/data sim/lab
models/formulas:        sim/engine/base
models/why:             sim/engine/
models/transport:       sim/engine/ sim/conf models/why
models/transport/cc:    sim/engine/ sim/conf
models/collective:      sim/engine/ sim/conf sim/data models/formulas models/transport models/why
models/ina/common:      sim/engine/ sim/conf sim/data models/formulas models/transport models/collective models/why
models/ina/*:           sim/engine/ sim/conf sim/data models/formulas models/transport models/collective models/ina/common models/why
models/fluid:           sim/engine/ sim/conf sim/data models/transport models/collective
models/workload:        sim/engine/ sim/conf sim/data models/transport models/collective models/fluid models/why
models/scenario:        sim/engine/ sim/conf sim/data models/transport models/collective models/fluid models/workload
models/run:             sim/engine/ sim/conf sim/data models/transport models/collective models/fluid models/workload models/scenario models/why
models/library:         sim/engine/ sim/conf sim/data models/transport models/collective models/fluid models/workload models/scenario models/run models/why
sim/cli:                sim/ models/
'

work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
find sim models -name '*.[ch]' | LC_ALL=C sort >"$work/files"
if [[ ! -s $work/files ]]; then
	echo "layers: no sources found in $SRC" >&2
	exit 1
fi

xargs awk -v rooms="$rooms" -v picture="$work/picture" '
	BEGIN {
		n = split(rooms, lines, "\n")
		for (i = 1; i <= n; i++) {
			if (lines[i] !~ /:/)
				continue
			name = lines[i]
			sub(/:.*/, "", name)
			may = lines[i]
			sub(/^[^:]*:/, "", may)
			known_room[name] = 1
			m = split(may, list, " ")
			for (j = 1; j <= m; j++)
				allowed[name, list[j]] = 1
		}
	}

	function say(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; failures++ }

	# The room of a file: the longest that begins its path.
	function room_of(path,   scheme) {
		if (match(path, /^models\/ina\/[^\/]+\//)) {
			scheme = substr(path, 1, RLENGTH - 1)
			if (!(scheme in known_room))
				return scheme
		}
		while (sub(/\/[^\/]*$/, "", path))
			if (path in known_room)
				return path
		return ""
	}

	# "sim/engine/" allows every room in it; a room of models allows its parts.
	function may_include(self, other,   above) {
		if (self != other && self ~ /^models\/ina\// && !(self in known_room))
			self = "models/ina/*"
		if (self == other || (self, other) in allowed)
			return 1
		for (above = other; sub(/\/[^\/]*$/, "", above);)
			if ((self, above "/") in allowed || (above ~ /^models\// && (above == self || (self, above) in allowed)))
				return 1
		return 0
	}

	FNR == 1 {
		self = room_of(FILENAME)
		if (self == "")
			say("stands in no room (edit the table in tests/layers.sh and the README)")
		known[FILENAME] = 1
		files++
	}

	/^[ \t]*#[ \t]*include[ \t]*"/ {
		target = $0
		sub(/^[^"]*"/, "", target)
		sub(/".*/, "", target)
		includes++
		if (target == "build_info.h") { # generated, for cli alone
			if (self != "sim/cli")
				say("only cli includes build_info.h")
			next
		}
		if (target ~ /\.\./ || target !~ /\//) {
			say("\"" target "\" is not written from the root of its part")
			next
		}
		part = target
		sub(/\/.*/, "", part)
		path = (part ~ /^(base|core|net|topo)$/ ? "sim/engine/" : part ~ /^(conf|data|lab|cli)$/ ? "sim/" : "models/") target
		other = room_of(path)
		if (other == "") {
			say("\"" target "\" is in no room")
			next
		}
		if (other == "sim/cli" && self != "sim/cli")
			say("nobody includes cli, but here is \"" target "\"")
		else if (!may_include(self, other))
			say(self " may not include " other ": \"" target "\"")
		if (target ~ /_parts\.h$/ && other != self)
			say("\"" target "\" is the inside of " other)
		wanted[path] = FILENAME ":" FNR
		drawn[name_of(self)]
		if (name_of(other) != name_of(self))
			uses[name_of(self), name_of(other)]
		if (FILENAME ~ /\.h$/)
			edge[FILENAME] = edge[FILENAME] " " path
		if (self == "sim/engine/net" && other == self && module_of(FILENAME) != module_of(path))
			edge[module_of(FILENAME)] = edge[module_of(FILENAME)] " " module_of(path)
	}

	# What the picture calls a room: all schemes in switches are one.
	function name_of(room) {
		if (room ~ /^models\/ina\// && !(room in known_room))
			return "models/ina/*"
		return room
	}

	# One more than that of the highest room that it includes.
	function height(room,   other, h, most) {
		if (room in heights)
			return heights[room]
		for (other in drawn)
			if ((room, other) in uses && (h = height(other) + 1) > most)
				most = h
		return heights[room] = most + 0
	}

	# From the highest to the lowest: height, room, what it includes.
	function draw(   room, other, list, line, top, h) {
		for (room in drawn)
			if ((h = height(room)) > top)
				top = h
		for (h = top; h >= 0; h--)
			for (room in drawn) {
				if (height(room) != h)
					continue
				list = ""
				for (other in drawn)
					if ((room, other) in uses)
						list = list " " other
				line = sprintf("%2d  %-20s %s", h, room, sorted(list, room ~ /^sim\/engine/))
				sub(/ +$/, "", line)
				print line | "LC_ALL=C sort -k1,1nr -k2 >" picture
			}
		close("LC_ALL=C sort -k1,1nr -k2 >" picture)
	}

	# Without "sim/" and "models/"; for others the engine is one word.
	function sorted(text, engine,   n, i, j, list, kept) {
		n = split(text, list, " ")
		for (i = 1; i <= n; i++) {
			sub(/^(sim|models)\//, "", list[i])
			if (!engine)
				sub(/^engine\/.*/, "engine", list[i])
			for (j = i; j > 1 && list[j] < list[j - 1]; j--) {
				kept = list[j]
				list[j] = list[j - 1]
				list[j - 1] = kept
			}
		}
		text = ""
		for (i = 1; i <= n; i++)
			if (list[i] != list[i - 1])
				text = text (i > 1 ? " " : "") list[i]
		return text
	}

	# "net:hop" for sim/engine/net/hop.c and .h
	function module_of(path) {
		sub(/.*\//, "", path)
		sub(/\.[ch]$/, "", path)
		sub(/^lossless.*/, "lossless", path)
		return "net:" path
	}

	function visit(file,   list, n, i) { # a header, or a module
		if (state[file] == 2)
			return
		if (state[file] == 1) {
			printf "%s: includes itself, by way of others:%s\n", file, trail
			failures++
			return
		}
		state[file] = 1
		n = split(edge[file], list, " ")
		for (i = 1; i <= n; i++) {
			trail = trail " " list[i]
			visit(list[i])
			sub(/ [^ ]*$/, "", trail)
		}
		state[file] = 2
	}

	END {
		for (path in wanted)
			if (!(path in known)) {
				printf "%s: there is no %s\n", wanted[path], path
				failures++
			}
		for (file in edge)
			visit(file)
		if (failures > 0)
			exit 1
		draw()
		printf "layers: %d files, %d includes, all go down\n", files, includes
	}' <"$work/files"

# The block between the fences behind "Who includes whom".
awk -v picture="$work/picture" '
	/^## Who includes whom/ { here = 1 }
	here && /^```/ && !inside { print; while ((getline line < picture) > 0) print line; inside = 1; here = 0; next }
	inside && /^```/ { inside = 0 }
	!inside' sim/README.md >"$work/README.md"
[[ ${1:-} != --update ]] || cp "$work/README.md" sim/README.md
if ! diff sim/README.md "$work/README.md"; then
	echo "layers: the picture in sim/README.md is not that of the includes (SRC=\$PWD tests/layers.sh --update)" >&2
	exit 1
fi
