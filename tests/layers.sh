#!/bin/bash
# Includes go down only. The table of layers, lowest first; a layer may include
# itself and the layers its line names (and nobody includes cli):
#
#   base <- core, conf <- net, out <- study <- lab; topo <- exchange, transport <- collective <- ina
#        <- fluid <- workload <- models (registry, scenario, simulation) <- cli
#
# Inside study, compare may include sweep, and no other folder another.
#
# Also: no cycle among headers, and every project include is written from the
# layer's root ("net/port.h", never "port.h" or "../net/port.h").
# shellcheck disable=SC2016 # the single quotes hold awk programs
set -euo pipefail

: "${SRC:?source directory}"
cd "$SRC"

find sim models -name '*.[ch]' 2>/dev/null | LC_ALL=C sort >"${TMPDIR:-/tmp}/layers.$$"
trap 'rm -f "${TMPDIR:-/tmp}/layers.$$"' EXIT
if [[ ! -s ${TMPDIR:-/tmp}/layers.$$ ]]; then
	echo "layers: no sources found in $SRC" >&2
	exit 1
fi

xargs awk '
	BEGIN {
		split("base core conf net out study lab topo exchange transport collective ina fluid workload models " \
		      "cli", name, " ")
		may["base"] = ""
		may["core"] = "base"
		may["conf"] = "base"
		may["net"] = "base core conf"
		may["out"] = "base core conf"
		may["study"] = "base core conf out"
		may["lab"] = "base core conf out study"
		may["topo"] = "base core conf net out"
		may["exchange"] = "base core conf net out topo"
		may["transport"] = "base core conf net out topo"
		may["collective"] = "base core conf net out topo transport"
		may["ina"] = "base core conf net out topo transport collective"
		may["fluid"] = may["ina"] " ina"
		may["workload"] = may["fluid"] " fluid"
		may["models"] = may["workload"] " workload"
		may["cli"] = may["models"] " models study lab exchange"
		for (layer in may) {
			allowed[layer, layer] = 1
			n = split(may[layer], list, " ")
			for (i = 1; i <= n; i++)
				allowed[layer, list[i]] = 1
		}
	}

	function say(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; failures++ }

	# The layer of a file: its folder below sim/ or models/; the files that stand
	# in models/ itself are the registry.
	function layer_of(path,   parts, n) {
		n = split(path, parts, "/")
		if (parts[1] == "models" && n == 2)
			return "models"
		return parts[2]
	}

	# The folder inside study; "" for its own files and those of other layers.
	function part_of(path,   parts) {
		return split(path, parts, "/") == 4 && parts[2] == "study" ? parts[3] : ""
	}

	FNR == 1 {
		self = layer_of(FILENAME)
		self_part = part_of(FILENAME)
		if (!(self in may))
			say("folder " self " is in no layer (edit the table in tests/layers.sh and the README)")
		known[FILENAME] = 1
		files++
	}

	/^[ \t]*#[ \t]*include[ \t]*"/ {
		target = $0
		sub(/^[^"]*"/, "", target)
		sub(/".*/, "", target)
		includes++
		if (target == "build_info.h") { # generated, for cli alone
			if (self != "cli")
				say("only cli includes build_info.h")
			next
		}
		if (target ~ /\.\./) {
			say("\"" target "\" climbs; write it from the root of the layer")
			next
		}
		n = split(target, parts, "/")
		other = n == 1 ? "models" : parts[1]
		if (!(other in may)) {
			say("\"" target "\" names no layer")
			next
		}
		if (other == "cli" && self != "cli")
			say("nobody includes cli, but here is \"" target "\"")
		else if (!((self, other) in allowed))
			say(self " may not include " other ": \"" target "\"")
		other_part = part_of("sim/" target)
		if (self == "study" && other_part != "" && other_part != self_part &&
		    !(other_part == "sweep" && self_part == "compare"))
			say("study/" self_part " may not include study/" other_part ": \"" target "\"")
		path = (other ~ /^(base|core|conf|net|out|study|lab|topo|exchange|cli)$/ ? "sim/" : "models/") target
		wanted[path] = FILENAME ":" FNR
		if (FILENAME ~ /\.h$/)
			edge[FILENAME] = edge[FILENAME] " " path
	}

	function visit(file,   list, n, i) {
		if (state[file] == 2)
			return
		if (state[file] == 1) {
			printf "%s: header includes itself, by way of others:%s\n", file, trail
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
		for (file in known)
			visit(file)
		if (failures > 0)
			exit 1
		printf "layers: %d files, %d includes, all go down\n", files, includes
	}' <"${TMPDIR:-/tmp}/layers.$$"
