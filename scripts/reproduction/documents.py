"""Numbers in pages that come from runs. A mark behind a number says which, in a comment that no reader sees:

    <!-- n:here 1000 * jobs.jct_s.mean -->     of the run in the first cell of this row of a table: `NAME.json` of the page's
                                               folder, whose results are in traces/reference, or `inasim run ...`
    <!-- n:ref NAME 1000 * sim_time_s -->      of a reference
    <!-- n:row ID -->, <!-- n:row ID/2 -->     of a row of scenarios/papers, its first or third point

A mark behind a back-quote is an example. The number keeps the digits behind the point that it is written with.
"""
import json
import re
import shlex

import targets
from expression import Expression, Wrong
from points import Points
from verdict import Judge

MARK = re.compile(r"(?P<number>-?\d[\d,]*(?:\.\d+)?)(?P<between>[^\d\n|`]*?)<!-- n:(?P<mark>(?:here|ref|row) [^>]*?) -->")
# A number with a unit that runs have, behind which no mark stands.
LOOSE = re.compile(r"(?<![\w./`=-])-?\d[\d,]*\.?\d*(?: %| ms| us| s\b| Gbps| times)(?![^|\n]{0,3}<!-- n:)")


def pages(root):
    folders = [root / "scenarios", root / "models"]
    return [root / "README.md"] + sorted(p for f in folders for p in f.rglob("*.md"))


def loose(text):
    """How many numbers with units have no mark: outside of blocks of code, marks and their numbers taken out."""
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    return len(LOOSE.findall(MARK.sub("", text)))


class Summary:
    """What an expression of a mark sees: members of one summary.json by their names."""

    def __init__(self, summary):
        self.summary = summary

    def run(self, name, _):
        return self.summary[name]


class Marks:
    def __init__(self, root, program, out):
        self.root, self.program, self.out = root, program, out
        self.papers = targets.load(root / "scenarios" / "papers")
        self.rows = {row.id: row for paper in self.papers for row in paper.rows}
        self._points = None

    def points(self):
        if self._points is None:
            self._points = Points(self.program(), self.out, self.root)
        return self._points

    def reference(self, name):
        path = self.root / "traces" / "reference" / f"{name}.json"
        if not path.is_file():
            raise Wrong(f"there is no reference {name}")
        return json.loads(path.read_text())["summary"]

    def of(self, page, line, mark):
        """What a mark stands for: ("ref", name, expression), ("run", run, expression) or ("row", row, point)."""
        kind, rest = mark.split(" ", 1)
        if kind == "row":
            row, _, index = rest.partition("/")
            if row not in self.rows:
                raise Wrong(f"{page.name}: there is no row {row}")
            return "row", self.rows[row], int(index or 0)
        if kind == "ref":
            name, text = rest.split(" ", 1)
            return "ref", name, Expression(text, page.name)
        cell = re.match(r"\|\s*`([^`]*)`", line)
        if not cell:
            raise Wrong(f"{page.name}: no `NAME.json` or `inasim run ...` begins the row of {mark}")
        expression = Expression(rest, page.name)
        if cell[1].startswith("inasim run "):
            return "run", self._command(page, cell[1]), expression
        path = (page.parent / cell[1]).resolve().relative_to(self.root / "scenarios")
        return "ref", "-".join(path.with_suffix("").parts), expression

    def _command(self, page, command):
        run = {"scenario": None, "set": {}}
        words = iter(shlex.split(command)[2:])
        for word in words:
            if word == "--set":
                pointer, _, value = next(words).partition("=")
                try:
                    run["set"][pointer] = json.loads(value)
                except ValueError:
                    run["set"][pointer] = value
            elif word.startswith("--") or run["scenario"]:
                raise Wrong(f"{page.name}: \"{command}\": a mark knows a scenario and --set only")
            else:
                run["scenario"] = word
        return run

    def want(self, what):
        kind, run, _ = what
        if kind == "run":
            self.points().want(run, self.root, {}, 1, None)
        elif kind == "row":
            Judge(self.points(), False).want(run)

    def needed(self, what):
        kind, run, _ = what
        if kind == "run":
            return [self.points().find(run, self.root, {}, 0, None)]
        return Judge(self.points(), False).row_points(run) if kind == "row" else []

    def value(self, what):
        kind, run, expression = what
        if kind == "row":
            outcome = Judge(self.points(), False).outcome(run)
            if expression >= len(outcome.values):
                raise Wrong(f"row {run.id} has no point {expression}, or was not run")
            return outcome.values[expression].mean
        summary = self.reference(run) if kind == "ref" else self.points().summary(self.needed(what)[0])
        return expression.value(Summary(summary))


def written(value, like):
    """The value with the digits behind the point of another text."""
    digits = len(like.partition(".")[2])
    return f"{value:,.{digits}f}" if "," in like else f"{value:.{digits}f}"


def main(root, options, program, make_runner, say):
    marks = Marks(root, program, options.out)
    found = []  # (page, line, match, what)
    for page in pages(root):
        for line in page.read_text().splitlines():
            for match in MARK.finditer(line):
                what = marks.of(page, line, match["mark"])
                if what[0] == "ref" or not options.references and (what[0] == "run" or not options.commands):
                    found.append((page, line, match, what))
    if not options.references:
        for *_, what in found:
            marks.want(what)
        marks.points().make_plans()
        if not make_runner(marks.points(), options).run([p for *_, what in found for p in marks.needed(what)]):
            return 1
    stale = 0
    for page in dict.fromkeys(page for page, *_ in found):
        text = page.read_text()
        for line in dict.fromkeys(line for p, line, *_ in found if p == page):
            new = line
            for p, where, match, what in found:
                if p == page and where == line:
                    now = written(marks.value(what), match["number"])
                    if now != match["number"]:
                        stale += 1
                        say(f"{page.relative_to(root)}: {match['number']} is {now} now ({match['mark']})")
                        new = new.replace(match[0], match[0].replace(match["number"], now, 1), 1)
            if new != line and not options.check:
                text = text.replace(line, new)
        if not options.check and text != page.read_text():
            page.write_text(text)
    say(f"{len(found)} marked numbers, {stale} {'differ' if options.check else 'written'}")
    return 1 if stale and options.check else 0
