#!/bin/bash
# The report is one page that is whole by itself: every section, names that cannot break out of their
# text, each id once, nothing that is fetched, and a scenario in it that runs again to the same digest.
# What it looks like is for eyes to judge.
# shellcheck disable=SC2016 # the single quotes hold jq programs
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own
command -v gnuplot >/dev/null && command -v python3 >/dev/null || exit 77

cat >plain.json <<'JSON'
{
  "name": "<b>&\"'</b><script>alert(1)</script>", "topology": { "kind": "star", "hosts": 8 },
  "jobs": [ { "name": "</title><img src=x onerror=alert(2)>", "workers": 4, "all_reduce": "ring", "iterations": 2,
              "model": { "layers": [ { "gradient": "100KB", "forward": "50us" } ] } } ],
  "flows": [ { "name": "id='x' <svg", "size": "10KB", "arrival": { "poisson_load": 0.2 }, "stop": "jobs_done" } ],
  "stop": { "when": "jobs_done", "after": "1s" }
}
JSON
cat >plan.json <<'JSON'
{ "name": "plan", "base": "plain.json", "replications": 2,
  "axes": [ { "name": "load", "cases": { "<i>low": { "/flows/0/arrival/poisson_load": 0.1 },
                                          "high": { "/flows/0/arrival/poisson_load": 0.2 } } },
            { "name": "scheme", "pointer": "/jobs/0/all_reduce", "values": ["ring", "switchml"] } ] }
JSON

# page FILE SECTION...: it is well-formed and has these, in this order; "scenario.json" is kept
page() {
	checks=$((checks + 1))
	python3 - "$@" <<'PYTHON' || fail "$1 is no page as it should be"
import html.parser, sys, urllib.parse
EMPTY = {"meta", "link", "br", "img", "hr"}
class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.heads, self.svgs, self.saved, self.details = [], set(), [], 0, {}, 0
    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in EMPTY: self.handle_endtag(tag)
    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        assert tag not in ("script", "img", "iframe", "b", "i", "object"), tag
        assert not any(name.startswith("on") for name in a), a
        for name in ("src", "href", "xlink:href", "data", "action"):
            assert not a.get(name) or a[name].startswith(("data:", "#")), a
        if "id" in a:
            assert a["id"] not in self.ids, a["id"]
            self.ids.add(a["id"])
        if a.get("download"):
            self.saved[a["download"]] = urllib.parse.unquote(a["href"].split(",", 1)[1])
        self.svgs += tag == "svg"
        self.details += tag == "details"
        if tag not in EMPTY: self.open.append(tag)
        if tag in ("h2", "h3"): self.heads.append("")
    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag
    def handle_data(self, text):
        if self.open and self.open[-1] in ("h2", "h3"): self.heads[-1] += text
text = open(sys.argv[1], encoding="utf-8").read()
page = Page()
page.feed(text)
page.close()
assert not page.open, page.open
assert "prefers-color-scheme: dark" in text and "width=device-width" in text and "@" + "BODY@" not in text
at = 0
for head in sys.argv[2:]:
    assert head in page.heads[at:], (head, page.heads)
    at = page.heads.index(head, at) + 1
assert page.svgs > 0 and page.details > page.svgs and "CITATION.cff" in page.saved, (page.svgs, page.details)
if "scenario.json" in page.saved: open("scenario.json", "w").write(page.saved["scenario.json"])
PYTHON
}
sections=("The answer" "Does it mean what it says?" "Figures" "Results" "What was run" "How to run it again" "How to cite")

ends 0 run plain.json --why --quiet --out run
ends 0 report run
says out '^run/report.html$'
silent err
page run/report.html "The answer" "What iterations are spent on" "Hottest links" "Figures" "Results" "How to cite"
says run/report.html '<th>used by</th>'
page run/report.html "${sections[@]}"
says run/report.html '&lt;script&gt;alert\(1\)&lt;/script&gt;'
says run/report.html 'aria-label="breakdown"'
says run/report.html "$(jq -r .digest run/manifest.json)"
[[ ! -e run/figures && $(ls -d run/report* | wc -l) == 1 ]] || fail "the report leaves more than itself: $(ls run)"
ends 0 run scenario.json --quiet --out again
holds '.digest == $of' again/manifest.json --arg of "$(jq -r .digest run/manifest.json)"

# The answer is computed from the summaries: who is fastest, by how much, what flows pay, and why.
ends 0 run plain.json --why --quiet --out ina --set /jobs/0/all_reduce=switchml
ends 0 report run ina --out answer.html
read -r ring ina < <(jq -s -r '[.[].jobs.jct_s.mean] | @tsv' run/summary.json ina/summary.json)
fastest=$(awk -v a="$ring" -v b="$ina" 'BEGIN { printf "%s", b < a ? "ina" : "run" }')
ratio=$(awk -v a="$ring" -v b="$ina" 'BEGIN { printf "%.4g", b / a }')
says answer.html "<p class=\"answer\">$fastest is the fastest by job completion time, mean: [0-9.]+ [mu]s.* $ratio times as long as run"
says answer.html "<p class=\"answer\">Others in $fastest: flow completion time, "
says answer.html 'That is of one seed: what others say is unresolved\.'
says answer.html '<p class="answer">Why: an iteration in .* (more|less) on .* than in '
says answer.html '<h1>Which is fastest: run or ina\? And why\?</h1>'
says answer.html '<td>job completion time, mean<small>jobs.jct_s.mean</small></td>'
if grep -q 'aria-label="jct' answer.html; then fail "bars or a distribution of one job a run"; fi
says run/report.html '<p class="answer">Job completion time, mean: '

# Jobs that differ: no mean over them, and the group that runs treat differently decides.
cat >unlike.json <<'JSON'
{ "name": "unlike", "topology": { "kind": "star", "hosts": 8 },
  "jobs": [ { "name": "small", "workers": 2, "all_reduce": "ring", "iterations": 2,
              "model": { "layers": [ { "gradient": "100KB", "forward": "50us" } ] } },
            { "name": "large", "workers": 4, "all_reduce": "ring", "iterations": 2,
              "model": { "layers": [ { "gradient": "1MB", "forward": "50us" } ] } } ] }
JSON
ends 0 run unlike.json --why --quiet --out unlike
ends 0 run unlike.json --why --quiet --out mixed --set /jobs/1/all_reduce=switchml
ends 0 report unlike
page unlike/report.html "The answer" "What iterations of small are spent on" "What iterations of large are spent on" "Figures"
says unlike/report.html '<p class="answer">Job completion time, mean: small [0-9.]+ us, 1[0-9.]* times its ideal; large [0-9.]+ [mu]s'
says unlike/report.html '<p class="answer">An iteration of small takes a worker '
says unlike/report.html '<p class="answer">An iteration of large takes a worker '
ends 0 report unlike mixed --out mixed.html
says mixed.html '<p class="answer">mixed is the fastest by job completion time of large, mean: '
says mixed.html '<p class="answer">Others in mixed: job completion time of small, mean: '
says mixed.html '<p class="answer">Why: an iteration of large in mixed spends '
for file in unlike/report.html mixed.html; do
	! grep -Eq 'jobs\.(jct|iteration)_s' "$file" || fail "$file has a mean over jobs that differ"
done

# warnings: none of a run that has none, and those that there are
ends 0 run plain.json --quiet --out good --set /flows/0/enabled=false
sed -i 's/-dirty"/"/' good/manifest.json
ends 0 report good
says good/report.html 'No warning: '
sed -i 's/^  "commit": "\(.*\)"/  "commit": "\1-dirty"/' good/manifest.json
ends 0 report good
says good/report.html 'The program had uncommitted changes'
ends 4 run plain.json --quiet --out cut --set /stop/after=300us
ends 0 report cut --out elsewhere/page.html
ends 0 report cut --out $'a\nb\nfolder/page.html'
page $'a\nb\nfolder/page.html' "The answer" "Figures"
[[ $(grep -c '<svg' $'a\nb\nfolder/page.html') == "$(grep -c '<svg' elsewhere/page.html)" ]] || fail "figures are missing in a folder whose name has line breaks"
says elsewhere/page.html 'The run ended by time_limit'
says elsewhere/page.html 'measured jobs did not finish'
! grep -q 'No warning: ' elsewhere/page.html || fail "a run without an end has no warning"

jq '{ name, topology, jobs } | .jobs[0].iterations = 300' plain.json >steady.json
ends 0 run steady.json --quiet --out steady --fast-forward 1%
ends 0 report steady
says steady/report.html "<p class=\"warning\">The end of the job is an estimate, from the $(jq .iterations_simulated steady/manifest.json) iterations that were simulated\.</p>"
! grep -q 'No warning: ' steady/report.html || fail "an estimate has no warning"

ends 0 run plain.json --quiet --out other --set /jobs/0/all_reduce=panama
ends 0 report other
says other/report.html '<p class="warning">Not as configured: .*ring'

ends 2 report run cut
says err 'several directories need --out FILE'
ends 0 report run cut --out both.html
page both.html "The answer" "Does run mean what it says?" "Figures" "Results" "run alone" "cut alone" "How to cite"

ends 0 sweep run plan.json 0-7 --why --quiet --out sweep
ends 0 sweep collect plan.json --out sweep
ends 0 report sweep
page sweep/report.html "${sections[@]}"
says sweep/report.html 'aria-label="breakdown-over-'
says sweep/report.html 'All points are done'
# Both axes have names: which value is the fastest, and its verdict against the next, in the words of compare.
"$INASIM" compare sweep --by scheme --metric jobs.jct_s.mean --json >ratios
verdict=$(jq -r 'first(.rows[].verdict | select(.))' ratios)
says sweep/report.html "<p class=\"answer\">By job completion time, mean: (ring|switchml) is the fastest in [12] of 2 combinations, 0 of them resolved\\. load [^<]*: ${verdict//[()]/.}\."
says sweep/report.html '<p class="answer">By job completion time, mean: (.i.low|&lt;i&gt;low|high) is the fastest'
# The fastest of five is named, whichever it is; more groups of jobs than fit an answer: it says so.
jq '.jobs = [range(4) as $i | .jobs[0] * { name: "j\($i)", workers: 2, iterations: ($i + 1) }]' plain.json >groups.json
jq '.base = "groups.json" | .replications = 1 | .axes = [.axes[1] | .values += ["esa", "atp", "ps"]]' plan.json >many.json
ends 0 sweep run many.json 0-4 --quiet --out many
ends 0 sweep collect many.json --out many
ends 0 report many
fastest=$(jq -rs 'sort_by(.jobs.by_name.j0.jct_s.mean)[0].jobs.by_name.j0.jct_s.mean' many/points/*/summary.json)
scheme=$(awk -F, -v t="$fastest" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $at["jobs.by_name.j0.jct_s.mean"] == t { print $at["scheme"] }' many/sweep.csv)
says many/report.html "<p class=\"answer\">By .* of j0, mean: $scheme is the fastest\. $scheme [0-9.]+ [mu]s, next "
says many/report.html '<p class="answer">More groups of jobs are below\.</p>'
sed 's/"cases": .*/"pointer": "\/flows\/0\/arrival\/poisson_load", "values": [0.1, 0.2] } ] }/; s/, "replications": 2/, "replications": 1/' plan.json |
	sed '/"name": "scheme"/d; /"high":/d' >numbers.json
ends 0 sweep run numbers.json 0-1 --quiet --out numbers
ends 0 sweep collect numbers.json --out numbers
ends 0 report numbers
says numbers/report.html '<p class="answer">Of 2 combinations, load 0\..* has the lowest job completion time, mean: '
jq '.axes[0].values += [0.3]' numbers.json >more.json # a point without a value is no combination that has one
ends 0 sweep run more.json 0-1 --quiet --out more
ends 4 sweep collect more.json --out more
ends 0 report more
says more/report.html '<p class="answer">Of 2 combinations with a value, load 0\.'
says sweep/report.html '<h1>plan: what do load and scheme change\?</h1>'
says numbers/report.html '<h1>plan: what does load change\?</h1>'
echo '{ "name": "none", "base": "plain.json", "axes": [] }' >none.json
ends 0 sweep run none.json 0 --quiet --out none
ends 0 sweep collect none.json --out none
ends 0 report none
says none/report.html '<h1>none: how long does its work take\?</h1>'
# Names may begin with digits; "precision" spares replications; refused jobs are in no mean.
jq '.replications = 9 | .precision = { of: "jobs.count", within: 0.1, least: 3 } | .axes = [.axes[1], { name: "adds",
	cases: { "1 switch": { "/topology/switch/aggregation": "all" },
		"no switch": { "/topology/switch/aggregation": "none" } } }]' plan.json >refused.json
ends 4 sweep run refused.json 0-2 9-11 18-20 27-29 --quiet --out refused
ends 4 sweep collect refused.json --out refused
ends 0 report refused
says refused/report.html '<p class="answer">By flow completion time, [^<]*: 1 switch is the fastest\. [^<]* In 1 other fewer than two have a value'
says refused/report.html '<p class="warning">3 of 12 points: refused\.</p>'
says refused/report.html '<p class="warning">3 of 12 points: schemes refused 1 of 1 jobs; the first '
says refused/report.html '12, with all replications \(at most 9 of each combination\)'
ends 0 compare refused --by scheme
says out '9 of 12 points done, at most 9 replications'
ends 0 report sweep run --out apart.html # a sweep beside a run: nothing is compared
says apart.html '<h1>What are the results of sweep and run\?</h1>'

# again over its own, never over anything else
ends 0 report run
echo "mine" >mine.html
ends 6 report run --out mine.html
says err 'mine.html exists and is not a report of inasim'
[[ $(<mine.html) == mine ]] || fail "a file that is no report was replaced"
ends 6 report nowhere
says err 'there is no directory nowhere'
ends 6 report . --out none.html
says err 'manifest.json'
[[ ! -e none.html ]] || fail "a page of nothing"

# interrupted, it leaves nothing: neither a page nor its figures
mkdir slow
printf '#!/bin/sh\necho $$ >"%s/pid"\nexec sleep 60\n' "$PWD" >slow/gnuplot
chmod +x slow/gnuplot
for signal in TERM QUIT XCPU; do
	rm -f run/report.html pid
	PATH=$PWD/slow:$PATH setsid "$INASIM" report run >out 2>err &
	pid=$!
	wait_for written pid
	kill "-$signal" -- "-$pid" # as a terminal does, and batch systems
	code=0
	wait "$pid" || code=$?
	checks=$((checks + 1))
	((code == 130)) || fail "a report after SIG$signal: exit code $code: $(cat out err)"
	says err '^inasim: interrupted: run/report.html was not written$'
	[[ -z $(compgen -G 'run/report*') ]] || fail "a report after SIG$signal leaves $(compgen -G 'run/report*')"
done

# without gnuplot all but the figures
mkdir bare
ln -s "$(command -v env)" bare/env
code=0
PATH=$PWD/bare "$INASIM" report run --out bare.html >out 2>err || code=$?
((code == 0)) || fail "without gnuplot: exit code $code: $(cat err)"
says bare.html 'Figures are missing: figures need gnuplot'

# --- failures: when, how long, what was lost; a table that is damaged is refused ---

jq '.failures = { "events": [ { "fails": "h1", "at": "50us", "repair_after": "10us" }, { "fails": "h7", "at": "60us" } ] }' plain.json >failing.json
"$INASIM" run --quiet failing.json --out failing >/dev/null 2>&1 || true
ends 0 report failing --out failing.html
says failing.html 'h1 -&gt; [^<]* at 0.00005 s, until 0.00006 s, [0-9]+ packets lost'
says failing.html 'h7 -&gt; [^<]* at 0.00006 s, for ever, [0-9]+ packets lost'
echo x >>failing/failures.csv
ends 6 report failing --out damaged.html
says err 'failures.csv'

finish "$checks checks hold"
