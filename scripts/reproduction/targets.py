"""The rows of scenarios/papers: what the papers say, and what here is held against it. scenarios/papers/README.md has the format."""
import json
import pathlib

from expression import Expression, Wrong

# key: (type, required)
PAPER = {"key": (str, True), "title": (str, True), "text": (str, True), "runs": (dict, False), "rows": (list, True)}
RUN = {"plan": (str, False), "scenario": (str, False), "set": (dict, False), "axes": (dict, False)}
ROW = {"id": (str, True), "item": (str, True), "place": (str, True), "quote": (str, True), "kind": (str, True),
       "x": (list, False), "x_label": (str, False), "paper": (object, False), "read_off": (bool, False),
       "ours": (object, False), "unit": (str, False), "tolerance": (float, False), "digit": (float, False), "why": (str, False),
       "claim": (object, False), "direction": (object, False), "seeds": (list, False), "readings": (dict, False),
       "fitted": (dict, False), "reason": (str, False)}
KINDS = ("value", "claim", "identity", "trace", "none")


def _check(what, given, keys):
    for key, value in given.items():
        if key.startswith("_"):
            continue
        if key not in keys:
            raise Wrong(f"{what}: there is no key \"{key}\"; there are {', '.join(keys)}")
        kind = keys[key][0]
        if kind is float and isinstance(value, int):
            value = float(value)
        if not isinstance(value, kind):
            raise Wrong(f"{what}: \"{key}\" is no {kind.__name__}")
    for key, (_, required) in keys.items():
        if required and key not in given:
            raise Wrong(f"{what}: \"{key}\" is missing")


def _spread(what, value, n):
    """One value for each of n points."""
    if not isinstance(value, list):
        return [value] * n
    if len(value) != n:
        raise Wrong(f"{what}: {len(value)} values for {n} points")
    return value


class Row:
    def __init__(self, paper, given, place):
        what = f"{place}: row \"{given.get('id', '?')}\""
        _check(what, given, ROW)
        self.paper, self.given = paper, given
        self.id, self.kind = given["id"], given["kind"]
        if self.kind not in KINDS:
            raise Wrong(f"{what}: \"kind\" is one of {', '.join(KINDS)}, not \"{self.kind}\"")
        self.x = given.get("x", [None])
        n = len(self.x)
        self.stated = _spread(what, given.get("paper"), n)
        self.ours = [Expression(e, what) if e else None for e in _spread(what, given.get("ours"), n)]
        self.claims = [Expression(e, what) if e else None for e in _spread(what, given.get("claim"), n)]
        self.tolerance = given.get("tolerance")
        self.seeds = given.get("seeds", [1, 3])
        self.direction = given.get("direction")
        self.claimed_direction = Expression(self.direction, what) if isinstance(self.direction, str) else None
        self.readings = {name: self._reading(what, name, r, n) for name, r in given.get("readings", {}).items()}
        self._complete(what)

    def _reading(self, what, name, given, n):
        """Either settings for all runs of the row, or expressions in the place of its own."""
        if isinstance(given, dict):
            return given
        return [Expression(e, f"{what}, reading \"{name}\"") for e in _spread(what, given, n)]

    def _complete(self, what):
        given = self.given
        if self.kind == "none":
            if not given.get("reason"):
                raise Wrong(f"{what}: why not by simulation? \"reason\" is missing")
        elif self.kind in ("value", "identity"):
            if self.tolerance is None or not given.get("why"):
                raise Wrong(f"{what}: \"tolerance\" and \"why\" it is that are missing")
            if any(p is None or o is None for p, o in zip(self.stated, self.ours)):
                raise Wrong(f"{what}: each point needs \"paper\" and \"ours\"")
        elif any(c is None for c in self.claims):
            raise Wrong(f"{what}: \"claim\" is missing")
        if len(self.seeds) != 2 or not all(isinstance(s, int) and s >= 0 for s in self.seeds):
            raise Wrong(f"{what}: \"seeds\" are two numbers, of quick and full")

    def size(self, stated):
        """What tolerances are relative to: the distance from "direction" where that is a number, as a gain of 1.15 is 0.15."""
        return abs(stated - self.direction if isinstance(self.direction, (int, float)) else stated) or 1

    def reach(self, stated):
        """How far ours may be off: the tolerance, and half of the last digit that is printed."""
        return (self.tolerance or 0) * self.size(stated) + self.given.get("digit", 0) / 2

    def is_fitted(self, reading):
        """Whether something was chosen to meet the paper: for the row, or for a reading that "fitted" names."""
        fitted = set(self.given.get("fitted", {}))
        return reading in fitted or bool(fitted - set(self.readings))

    def has_to_hold(self, reading):
        """A spread of hosts is none that the paper states: a claim holds under all."""
        return self.kind == "claim" and reading.startswith("spread ")

    def expressions(self, reading=None):
        """(expression, x) of all that the row evaluates, as is or under a reading that has its own."""
        mine = self.readings[reading] if reading else None
        if isinstance(mine, list):
            yield from zip(mine, self.x)
            return
        yield from ((e, x) for e, x in zip(self.ours + self.claims, self.x * 2) if e)
        if self.claimed_direction:
            yield from ((self.claimed_direction, x) for x in self.x)


class Paper:
    def __init__(self, path):
        given = read_json(path)
        place = path.name
        _check(place, given, PAPER)
        self.path, self.key, self.title, self.text = path, given["key"], given["title"], given["text"]
        self.runs = given.get("runs", {})
        check_runs(place, self.runs, path.parent)
        self.rows = [Row(self, row, place) for row in given["rows"]]


def check_runs(place, runs, folder):
    for name, run in runs.items():
        what = f"{place}: run \"{name}\""
        _check(what, run, RUN)
        if ("plan" in run) == ("scenario" in run):
            raise Wrong(f"{what}: is of a \"plan\" or of a \"scenario\"")
        if "plan" in run and ("set" in run or "axes" in run):
            raise Wrong(f"{what}: a plan has its own values")
        if not (folder / (run.get("plan") or run["scenario"])).is_file():
            raise Wrong(f"{what}: there is no {run.get('plan') or run['scenario']}")


def read_json(path):
    try:
        return json.loads(path.read_text())
    except ValueError as error:
        raise Wrong(f"{path.name}: {error}") from None


def load(folder):
    """All papers, in the order of their titles."""
    papers = [Paper(path) for path in sorted(pathlib.Path(folder).glob("*.json")) if path.name != "numbers.json"]
    seen = {}
    for paper in papers:
        for row in paper.rows:
            if row.id in seen:
                raise Wrong(f"two rows \"{row.id}\"")
            seen[row.id] = row
            for reading in [None, *row.readings]:
                for expression, x in row.expressions(reading):
                    for _ in expression.needs(paper.runs, x):
                        pass
    return papers
