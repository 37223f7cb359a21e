"""What a row comes to: values with intervals over seeds, and the verdict that follows from them, the tolerance and what is stated.

    reproduced             all points within the tolerance, or the claim holds
    consistent with a fit  the same, with a number that was chosen to meet the paper ("fitted")
    direction only         not that, but every point is on the stated side (of "direction": a number), or that claim holds
    not reproduced         neither
    undecided              an interval is wider than the tolerance, or too few seeds for a value this near its edge
    not by simulation      the row says why; nothing runs
    not run                a point is missing, or the test of a trace

Where "direction" is a number, a tolerance is of the distance from it: 1.04 is no gain of 1.15 (73 % off), though 10 % of 1.15
would say so. Readings named "spread ..." are hosts, no rules: a claim has to hold under all of them, with as many seeds.
"""
import math

from expression import Wrong

VERDICTS = ("reproduced", "consistent with a fit", "direction only", "not reproduced", "undecided", "not by simulation", "not run")
# Student's t at 97.5 %, by degrees of freedom
T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
     2.120, 2.110, 2.101, 2.093, 2.086)


class Value:
    """A number over seeds: its mean, and from three on that differ Student's interval at 95 %."""

    def __init__(self, values):
        self.values, n = values, len(values)
        self.mean = sum(values) / n
        self.half = None
        if n >= 3 and max(values) > min(values):
            deviation = math.sqrt(sum((v - self.mean) ** 2 for v in values) / (n - 1))
            self.half = T[min(n - 1, len(T)) - 1] * deviation / math.sqrt(n)

    def low(self):
        return self.mean - (self.half or 0)

    def high(self):
        return self.mean + (self.half or 0)


class Outcome:
    """Of a row as it is, or under one of its readings."""

    def __init__(self, values, verdict, note=""):
        self.values, self.verdict, self.note = values, verdict, note


class Results:
    """What expressions of a row see: the runs of one seed, under a reading."""

    def __init__(self, judge, row, replication, reading):
        self.judge, self.row, self.replication, self.reading = judge, row, replication, reading

    def run(self, name, arguments):
        return Run(self.judge, self.judge.point(self.row, name, arguments, self.replication, self.reading))

    def formula(self, name, **inputs):
        return self.judge.points.program.formula(name, **inputs)

    def passes(self, test):
        passed = self.judge.points.program.passes(test)
        if passed is None:
            raise Missing(f"the test {test} is not there to run")
        return passed

    def column(self, run, table, name):
        run.there()
        return self.judge.points.column(run.point, table, name)


class Missing(Exception):
    pass


class Run:
    """summary.json of a point; as it is asked for, one member after the other."""

    def __init__(self, judge, point):
        self.judge, self.point = judge, point

    def there(self):
        if self.point is None or not self.judge.points.usable(self.point):
            raise Missing()

    def __getitem__(self, key):
        self.there()
        return self.judge.points.summary(self.point)[key]


class Judge:
    def __init__(self, points, full):
        self.points, self.full = points, full

    def seeds(self, row, reading=None):
        """Quick takes one seed for readings: they show which rule decides, not by how much. Spreads of a claim decide, too."""
        few = reading and not row.has_to_hold(reading)
        return row.seeds[1] if self.full else min(row.seeds[0], 1) if few else row.seeds[0]

    def extra(self, row, reading):
        settings = row.readings.get(reading)
        return settings if isinstance(settings, dict) else None

    def readings(self, row):
        return [None, *row.readings]

    def needs(self, row):
        """(name, arguments, replication, reading) of all runs of a row."""
        for reading in self.readings(row):
            for expression, x in row.expressions(reading):
                for name, arguments in expression.needs(row.paper.runs, x):
                    for replication in range(self.seeds(row, reading)):
                        yield name, arguments, replication, reading

    def want(self, row):
        for name, arguments, _, reading in self.needs(row):
            self.points.want(row.paper.runs[name], row.paper.path.parent, arguments, self.seeds(row, reading), self.extra(row, reading))

    def point(self, row, name, arguments, replication, reading):
        return self.points.find(row.paper.runs[name], row.paper.path.parent, arguments, replication, self.extra(row, reading))

    def row_points(self, row):
        """All points of a row, each once, in the order of its expressions."""
        found = {}
        for name, arguments, replication, reading in self.needs(row):
            point = self.point(row, name, arguments, replication, reading)
            if point:
                found.setdefault(point.hash, point)
        return list(found.values())

    def _over_seeds(self, row, expression, x, reading):
        values, seen = [], set()
        for replication in range(self.seeds(row, reading)):
            points = [self.point(row, n, a, replication, reading) for n, a in expression.needs(row.paper.runs, x)]
            which = tuple(p.hash if p else None for p in points)
            if which in seen or None in which:
                continue
            seen.add(which)
            values.append(expression.value(Results(self, row, replication, reading), x))
        if not values:
            raise Missing()
        return values

    def outcome(self, row, reading=None):
        outcome = self._outcome(row, reading)
        if outcome.verdict == "reproduced" and row.is_fitted(reading):
            outcome.verdict = "consistent with a fit"
        return outcome

    def _outcome(self, row, reading):
        if row.kind == "none":
            return Outcome([], "not by simulation")
        if self.seeds(row) == 0:
            return Outcome([], "not run", "by --full")
        own = row.readings.get(reading)
        claimed = isinstance(own, list) and row.kind == "claim"  # such a reading has no values of its own
        ours = [None] * len(row.x) if claimed else own if isinstance(own, list) else row.ours
        claims = own if claimed else row.claims
        try:
            values = [Value(self._over_seeds(row, e, x, reading)) if e else None for e, x in zip(ours, row.x)]
            claims = [self._over_seeds(row, e, x, reading) if e else None for e, x in zip(claims, row.x)]
            direction = self._direction(row, values, reading)
        except Missing as missing:
            return Outcome([], "not run", str(missing))
        if row.kind in ("value", "identity"):
            few = reading is None and any(len(v.values) < 3 for v in values) and any(p.random for p in self.row_points(row))
            return self._values(row, values, direction, few)
        held = [all(c) for c in claims]
        note = "" if all(held) else f"{sum(held)} of {len(held)} hold" if len(held) > 1 else ""
        verdict = "reproduced" if all(held) else "direction only" if direction else "not reproduced"
        return Outcome(values, verdict, note)

    def _direction(self, row, values, reading):
        if row.claimed_direction:
            return all(all(self._over_seeds(row, row.claimed_direction, x, reading)) for x in row.x)
        if row.direction is None:
            return False
        return all((p > row.direction and v.low() > row.direction) or (p < row.direction and v.high() < row.direction)
                   for p, v in zip(row.stated, values))

    def _values(self, row, values, direction, few):
        reach = [row.reach(p) for p in row.stated]
        off = [abs(v.mean - p) for v, p in zip(values, row.stated)]
        if any(v.half and v.half > r and o <= r for v, o, r in zip(values, off, reach)):
            return Outcome(values, "undecided", "an interval is wider than the tolerance: more seeds")
        if few and any(abs(o - r) < 0.2 * r for o, r in zip(off, reach)):
            return Outcome(values, "undecided", "near the edge of the tolerance: three seeds")
        inside = sum(o <= r for o, r in zip(off, reach))
        note = f"{inside} of {len(off)} within the tolerance" if len(off) > 1 and inside < len(off) else ""
        if inside == len(off):
            return Outcome(values, "reproduced")
        return Outcome(values, "direction only" if direction else "not reproduced", note)


def under_spreads(row, own, readings):
    """The outcome of a claim, which is not better than under any spread of hosts."""
    against = {n: o for n, o in readings.items() if row.has_to_hold(n) and VERDICTS.index(o.verdict) > VERDICTS.index(own.verdict)}
    if not against:
        return own
    worst = max((o.verdict for o in against.values()), key=VERDICTS.index)
    return Outcome(own.values, worst, "; ".join(filter(None, [own.note, "not with a " + ", ".join(against)])))


def decided_by(own, readings):
    """What the strip of readings says: {name: Outcome} beside the row's own."""
    ran = {name: o for name, o in readings.items() if o.verdict != "not run"}
    if own.verdict == "not run" or not ran:
        return ""
    other = [name for name, o in ran.items() if o.verdict != own.verdict]
    return "decided by: " + "; ".join(other) if other else "robust"


def judge_all(papers, judge):
    """{row id: (Outcome, {reading: Outcome})}"""
    judged = {}
    for paper in papers:
        for row in paper.rows:
            try:
                readings = {name: judge.outcome(row, name) for name in row.readings}
                judged[row.id] = under_spreads(row, judge.outcome(row), readings), readings
            except Wrong as error:
                raise Wrong(f"row {row.id}: {error}") from None
    return judged
