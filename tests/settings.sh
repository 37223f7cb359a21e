#!/bin/bash
# Is every setting of a scenario what it was, its bounds, choices and default? Scenarios of others
# rest on them: papers name what they set, and not what they left alone. That the program keeps to
# what the schema says is unit/test_conf.c.
#   tests/settings.sh --update   writes tests/settings.txt anew: read the difference
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own

# A line for each, by its table of the schema: panama.trees: 1 to 64; default 4
settings() {
	"$INASIM" schema | jq -r '
		paths(type == "object" and (has("type") or has("oneOf") or has("enum"))) as $at | getpath($at)
		| [ (.description // "" | capture("Allowed: (?<words>.*?)(, such as .*)?\\.( Source|$)").words),
		    (if has("minimum") or has("maximum") then "\(.minimum // "any") to \(.maximum // "any")" else empty end),
		    (if has("minItems") or has("maxItems") then "\(.minItems // 0) to \(.maxItems // "any") items" else empty end),
		    (.enum // empty | join(" ")),
		    (if has("default") then "default \(.default | tojson)" else empty end) ] as $words
		| select($words != [])
		| ($at - ["$defs", "properties"] | join(".")) + ": " + ($words | join("; "))'
}

settings >now
[[ ${1:-} != --update ]] || cp now "$SRC/tests/settings.txt"
(($(wc -l <now) > 250)) || fail "the schema has only $(wc -l <now) settings"
diff "$SRC/tests/settings.txt" now >&2 || fail "settings have changed (< before, > now)"
finish "$(wc -l <now) settings are what they were"
