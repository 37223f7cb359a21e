#!/bin/bash
# regress is worth trusting: a one-line change of a protocol constant is caught
# and its first event named (held against full event logs of both programs),
# renaming passes, and whatever is wrong with references is said.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own

# equal WHAT FOUND EXPECTED: two texts
equal() {
	checks=$((checks + 1))
	[[ $2 == "$3" ]] || fail "$1: $2, not $3"
}

# --- references of our own ---

mkdir -p ref scenarios/late
cat >ref/regress.json <<'JSON'
{
  "folders": ["../scenarios"],
  "scenarios": [ { "name": "seven", "scenario": "../scenarios/loss.json", "seed": 7, "set": ["/flows/0/size=30KB"] } ]
}
JSON
cat >scenarios/loss.json <<'JSON'
{
  "name": "loss",
  "topology": { "kind": "star", "hosts": 6, "link": { "rate": "10Gbps", "delay": "1us", "loss": 0.01 } },
  "flows": [ { "name": "lossy", "transport": "reno", "size": "200KB", "pairs": [[0, 5], [1, 5], [2, 5]] } ]
}
JSON
# nothing is lost before 5 ms, some 80,000 events later
cat >scenarios/late/incast.json <<'JSON'
{
  "name": "incast",
  "topology": { "kind": "star", "hosts": 6, "link": { "rate": "10Gbps", "delay": "1us" },
                "switch": { "buffer": "60KB", "ecn": false } },
  "flows": [ { "name": "alone", "transport": "reno", "size": "20MB", "pairs": [[3, 4]] },
             { "name": "incast", "transport": "reno", "size": "500KB", "pairs": [[0, 5], [1, 5], [2, 5]],
               "arrival": { "at": "5ms" } } ]
}
JSON
echo '{ "base": "../loss.json", "axes": [] }' >scenarios/late/plan.json # no scenario

ends 1 regress ref
says out '^loss: has no reference$'
says out '^late-incast: has no reference$'
ends 2 regress ref --update
says err 'needs a reason'
ends 2 regress ref --update ''
says err 'needs a reason'
ends 2 regress --update ref # a folder is no reason
says err 'needs a reason'
ends 0 regress ref --update 'first ones' --jobs 2
says out '^references written: 3$'
equal "files" "$(cd ref && echo *)" \
	"late-incast.events late-incast.json loss.events loss.json regress.json seven.events seven.json"
equal "when, why and by which version, beside the digest" \
	"$(jq -c '.history[0] | [(.date | test("^[0-9-]{10}$")), .reason, (.version + .commit | length > 5)]' ref/loss.json)" \
	'[true,"first ones",true]'
equal "the digest" "$(jq -r .digest ref/loss.json)" "$("$INASIM" run scenarios/loss.json --json | jq -r .digest)"
equal "the seed" "$(jq -r .summary.seed ref/seven.json)" 7
ends 0 regress ref
cp -r ref first
ends 0 regress ref --update 'nothing new'
says out '^references written: 0$'
diff -r ref first >&2 || fail "an update that finds nothing new writes"

# on a terminal, the line that shows how far it is goes before the verdicts come
if command -v script >/dev/null; then
	script -qfec "'$INASIM' regress ref" /dev/null >lines 2>/dev/null </dev/null
	tr '\r' '\n' <lines >out
	says out '^2 of 3 scenarios done'
	equal "the line is blank before the verdicts" "$(grep -B1 '^seven: same' out | head -n 1 | tr -d ' ')" ""
fi

# --- renaming passes ---

cp -r scenarios renamed_scenarios
jq '{ flows, topology, _comment: "x", about: "other words", name: "other" } | .flows[0].name = "y"' \
	scenarios/loss.json >renamed.json
mv renamed.json scenarios/loss.json
ends 0 regress ref
rm -r scenarios
mv renamed_scenarios scenarios

# --- a change of one value is caught; an update notes it ---

cp scenarios/loss.json kept.json
sed -i 's/"200KB"/"201KB"/' scenarios/loss.json
ends 1 regress ref
says out '^loss: differs$'
says out '^late-incast: same$'
says out '^  scenario flows.0.size: "201KB", reference "200KB"$'
says out '^  summary flows.fct_s.mean: [0-9.]{1,10}, reference [0-9.]{1,10}, \+[0-9.]+ %$'
says out '^  summary ... and [0-9]+ more$'
says out '^    now: event [0-9]+ at [0-9.]+ s: '
ends 1 regress ref --scenario loss --json
equal "a field in a list, of all that differ" \
	"$(jq '.[0].summary[] | select(.field == "flows.by_size.2.fct_s.mean") | (.found | tonumber) != (.reference | tonumber)' out)" true
# what has been added, too
jq '.flows += [.flows[0] * { name: "more" }]' kept.json >scenarios/loss.json
ends 1 regress ref --scenario loss
says out '^  scenario flows.1: \{.*, reference missing$'
sed 's/"200KB"/"201KB"/' kept.json >scenarios/loss.json
ends 0 regress ref --scenario loss --scenario loss --update 'larger flows' # once, though named twice
says out '^references written: 1$'
equal "both reasons" "$(jq -rc '[.history[].reason]' ref/loss.json)" '["first ones","larger flows"]'
ends 0 regress ref
cp kept.json scenarios/loss.json
rm -r ref
cp -r first ref

# --- tolerances: the summary alone ---

jq '.summary.flows.fct_s.mean *= 1.001' first/loss.json >ref/loss.json
ends 1 regress ref --scenario loss
says out '^  summary flows.fct_s.mean: '
if grep -q 'first event' out; then fail "an event is named though the digests are equal"; fi
jq '.tolerances = [{ "field": "flows.*.mean", "relative": 0.002 }]' first/regress.json >ref/regress.json
ends 0 regress ref --scenario loss
jq '.tolerances = [{ "field": "flows.*.mean", "relative": 0.0001 }]' first/regress.json >ref/regress.json
ends 1 regress ref --scenario loss
says out 'allowed: relative 0.0001, absolute 0'
cp first/* ref

# --- what is wrong with references is said ---

# broken PATTERN COMMAND...: done to ref, regress ends with 3 and says so
broken() {
	local pattern=$1
	shift
	"$@"
	ends 3 regress ref --scenario loss
	says out "$pattern"
	cp --remove-destination first/* ref
}
broken 'loss.events holds 8 fingerprints, not [0-9]+$' truncate -s 60 ref/loss.events
broken 'loss.events cannot be read' rm ref/loss.events
broken 'cannot read ref/loss.json: Too many levels' ln -sf loss.json ref/loss.json
broken 'loss.events does not belong to the reference' cp ref/seven.events ref/loss.events
broken 'loss.json:[0-9]+: is not a JSON object' truncate -s 100 ref/loss.json
broken '"digest" is missing or wrong' sed -i 's/"digest": "[0-9a-f]/"digest": "/' ref/loss.json
broken '"digest" is missing or wrong' sed -i 's/"digest": "[0-9a-f]/"digest": "+/' ref/loss.json
broken '"events" is missing or wrong' sed -i 's/"events": [0-9][0-9]*/&.5/' ref/loss.json
broken '"resolved" is missing' sed -i 's/"resolved"/"solved"/' ref/loss.json
sed -i 's/"digest": "[0-9a-f]/"digest": "/' ref/loss.json
truncate -s 60 ref/seven.events
ends 0 regress ref --update 'repaired'
says out '^references written: 2$'
equal "the history of a repaired one" "$(jq -rc '[.history[].reason]' ref/loss.json)" '["first ones","repaired"]'
equal "its fingerprints" "$(cksum <ref/seven.events)" "$(cksum <first/seven.events)"
ends 0 regress ref
truncate -s 100 ref/loss.json
ends 3 regress ref --update 'no history to keep'
says err 'nothing was written'
cp first/* ref
ends 2 regress ref --scenario los
says err 'no scenario "los" \(did you mean "loss"\?\)'
ends 6 regress nowhere
mv scenarios/late/incast.json .
ends 1 regress ref
says err 'late-incast.json belongs to no scenario'
if grep -q 'inasim regress ref --update' err; then fail "an update is advised that would change nothing"; fi
mv incast.json scenarios/late
echo '{ "folder": [] }' >ref/regress.json
ends 3 regress ref
says err 'did you mean "folders"'
echo '{ "folders": [] }' >ref/regress.json
ends 3 regress ref
says err 'ref/regress.json has no scenarios: nothing would be compared'
cp first/* ref
chmod 000 scenarios/late
if ! ls scenarios/late >/dev/null 2>&1; then # root can
	ends 3 regress ref
	says err '/folders: .*scenarios/late cannot be read: Permission denied'
fi
chmod 755 scenarios/late
echo '{ "name": "wrong", "topology": {} }' >scenarios/wrong.json
ends 1 regress ref --jobs 1
says out '^wrong: has no reference$'
ends 3 regress ref --update 'with a wrong one'
says err 'nothing was written'
rm scenarios/wrong.json
diff -r ref first >&2 || fail "something was written"

# --- no room for temporary files ---

code=0
(ulimit -f 0 && exec "$INASIM" regress ref --scenario loss) 2>&1 | cat >out || code=$?
equal "the exit code beyond ulimit -f" "$code" 6
says out '^inasim: loss: cannot write a temporary file: File too large$'

# --- a parent that ignores SIGCHLD: runs are waited for all the same ---

code=0
timeout 60 bash -c 'trap "" CHLD; exec "$INASIM" regress ref' >out 2>err || code=$?
equal "the exit code where SIGCHLD is ignored" "$code" 0

# --- interrupted: nothing is written ---

cp kept.json scenarios/endless.json
sed -i 's/"200KB"/"1000TB"/; s/"loss": 0.01/"loss": 0/' scenarios/endless.json
# What bash starts in the background ignores SIGINT unless told otherwise.
for signal in INT TERM; do
	env --default-signal=INT "$INASIM" regress ref --scenario endless --update 'never ends' >out 2>err &
	pid=$!
	wait_for has_child "$pid"
	child=$(child_of "$pid")
	kill -s $signal "$pid"
	code=0
	wait "$pid" || code=$?
	equal "the exit code" "$code" $((128 + $(kill -l $signal)))
	wait_for gone "$child"
done
rm scenarios/endless.json
diff -r ref first >&2 || fail "something was written"

# --- a program with another constant ---

variant=$(dirname "$RANDOM_SCENARIO")/inasim_constant

# log PROGRAM OUT ARGUMENT...: all events of a run
log() {
	"$1" run "${@:3}" --out "$2" --events 0s..1h --quiet
}

# first_line: of the event logs old and new, the first that differs, as in new
first_line() {
	awk 'NR == FNR { line[FNR] = $0; next } line[FNR] != $0 { print; exit }' old/events.csv new/events.csv
}

# words PROGRAM_OUTPUT KEY: the event of the verdict as such a line
words() {
	jq -r ".[0].first_event.$2 | [.event, .class, .entity, .what] | map(tostring) | join(\",\")" "$1"
}

# without_time LINE
without_time() {
	cut -d, -f1,3-5 <<<"$1"
}

# variant_ends CODE ARGUMENT...: as ends, but the variant of the program
variant_ends() {
	INASIM=$variant ends "$@"
}

# early: named by the reference alone
variant_ends 1 regress ref --scenario loss --json
cp out verdict.json
log "$INASIM" old scenarios/loss.json
log "$variant" new scenarios/loss.json
equal "exact" "$(jq '.[0].first_event.exact' verdict.json)" true
equal "the first event" "$(words verdict.json now)" "$(without_time "$(first_line)")"
variant_ends 1 regress ref --scenario loss
says out "^    now: event $(first_line | cut -d, -f1) at $(first_line | cut -d, -f2) s: "
variant_ends 1 regress ref --scenario seven
says out '^seven: differs$'

# late: one of a few hundred; exactly by logs of that stretch, of this program and of the one that made the reference
variant_ends 1 regress ref --scenario late-incast --json
cp out verdict.json
rm -r old new
log "$INASIM" old scenarios/late/incast.json
log "$variant" new scenarios/late/incast.json
number=$(first_line | cut -d, -f1)
equal "too late for its own fingerprint" "$((number > 8192))" 1
equal "inexact" "$(jq '.[0].first_event.exact' verdict.json)" false
equal "in the window" "$(jq ".[0].first_event | .from <= $number and $number <= .to" verdict.json)" true
equal "a small one" "$(jq '.[0].first_event | (.to - .from) * 256 <= .to' verdict.json)" true
line=$(first_line)
mapfile -t stretch < <(jq -r '.[0].first_event.log[]' verdict.json)
rm -r old new
"$INASIM" run "${stretch[@]}" --quiet --out old
"$variant" run "${stretch[@]}" --quiet --out new
equal "in logs of that stretch" "$(first_line)" "$line"

# the same program with other names in it
variant=$(dirname "$RANDOM_SCENARIO")/inasim_renamed
variant_ends 0 regress ref

# a run that is over sooner and the same until then: its last event is told
mkdir -p shorter/scenarios shorter/ref
echo '{ "folders": ["../scenarios"] }' >shorter/ref/regress.json
cat >shorter/scenarios/few.json <<'JSON'
{ "name": "few", "topology": { "kind": "star", "hosts": 4 }, "flows": [ { "pairs": "permutation", "size": "50KB" } ],
  "stop": { "when": "time", "after": "1ms" } }
JSON
ends 0 regress shorter/ref --update 'a first one'
sed -i 's/"when": "time"/"when": "flows_done"/' shorter/scenarios/few.json
ends 1 regress shorter/ref
says out 'the run ended after event [0-9]+, but the reference goes on'
says out 'last: event [1-9][0-9]* at 0\.000[0-9]+ s: '
ends 1 regress shorter/ref --json
holds '.[0].first_event | .found == false and .now.event == .to and .from == .to' out

finish "$checks checks hold"
