"""Rows as plain data (repro.json) and as a table in Markdown (report.md). Both hold only what is the same on any machine."""
import json

from verdict import VERDICTS, decided_by


def number(value):
    """Four digits that count, and plain where that is short."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    if value == 0 or 0.001 <= abs(value) < 100000:
        text = f"{value:.4g}"
        return f"{value:.0f}" if "e" in text else text
    return f"{value:.3g}"


def shown(value):
    """A value with its interval."""
    if value is None:
        return ""
    if value.half is None:
        return number(value.mean)
    return f"{number(value.mean)} [{number(value.low())}, {number(value.high())}]"


def _values(values):
    return [v and {"mean": v.mean, "low": v.low(), "high": v.high(), "seeds": len(v.values)} for v in values]


def describe(row, judged, judge):
    """All that pages say of a row, but costs."""
    own, readings = judged[row.id]
    given = row.given
    points = [] if own.verdict in ("not by simulation", "not run") else judge.row_points(row)
    sizes = [row.size(p) if isinstance(p, (int, float)) else None for p in row.stated]
    off = [(v.mean - p) / size for v, p, size in zip(own.values, row.stated, sizes) if v and size]
    return {
        "id": row.id, "paper": row.paper.key, "item": given["item"], "place": given["place"], "quote": given["quote"],
        "kind": row.kind, "unit": given.get("unit", ""), "x": row.x, "x_label": given.get("x_label", ""),
        "stated": row.stated, "read_off": given.get("read_off", False), "ours": _values(own.values),
        "shown": [shown(v) for v in own.values], "deviation": max(off, key=abs) if off else None,
        "verdict": own.verdict, "note": own.note, "tolerance": row.tolerance, "digit": given.get("digit", 0),
        "reach": [size and row.reach(p) for p, size in zip(row.stated, sizes)], "why": given.get("why", ""),
        "reason": given.get("reason", ""), "fitted": given.get("fitted", {}),
        "readings": [{"name": n, "verdict": o.verdict, "ours": _values(o.values), "shown": [shown(v) for v in o.values]}
                     for n, o in readings.items()],
        "conclusion": decided_by(own, readings), "command": f"scripts/repro {row.id}",
        "commands": [p.command for p in points], "seeds": sorted({p.seed for p in points}),
        "digests": [judge.points.summary(p)["digest"] for p in points if judge.points.usable(p)],
    }


def counts(papers, judged):
    """{paper or "all": {verdict: n}}"""
    table = {p.key: {v: sum(judged[r.id][0].verdict == v for r in p.rows) for v in VERDICTS} for p in papers}
    table["all"] = {v: sum(t[v] for t in table.values()) for v in VERDICTS}
    return table


def percent(deviation):
    return "" if deviation is None else f"{100 * deviation:+.1f} %"


def stated(row):
    values = [number(p) if isinstance(p, (int, float)) else str(p) for p in row["stated"] if p is not None]
    return " / ".join(values if len(set(values)) > 1 else values[:1]) + (" " + row["unit"] if values and row["unit"] else "")


def _cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def markdown(papers, judged, rows, judge):
    lines = ["# Five papers against inasim", "",
             f"inasim {judge.points.program.version}, commit {judge.points.program.commit}; "
             f"{'full' if judge.full else 'quick'}. Verdicts follow from values, intervals and tolerances "
             "(scenarios/papers/README.md).", ""]
    table = counts(papers, judged)
    lines += ["| paper | rows | " + " | ".join(VERDICTS) + " |", "|---|" + "---|" * (len(VERDICTS) + 1)]
    for key, verdicts in table.items():
        lines.append(f"| {key} | {sum(verdicts.values())} | " + " | ".join(str(verdicts[v]) for v in VERDICTS) + " |")
    for paper in papers:
        lines += ["", f"## {paper.title}", "", "| row | what | paper | ours | off | verdict | readings | why |", "|---|" + "---|" * 7]
        for row in rows[paper.key]:
            why = "; ".join(t for t in (row["note"], row["reason"]) if t)
            cells = [row["id"], f"{row['item']}: {row['quote']}", stated(row), " / ".join(s for s in row["shown"] if s),
                     percent(row["deviation"]), row["verdict"], row["conclusion"], why]
            lines.append("| " + " | ".join(_cell(c) for c in cells) + " |")
    return "\n".join(lines) + "\n"


def replace(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    new.write_text(text)
    new.rename(path)


def write(out, papers, judged, judge):
    rows = {p.key: [describe(r, judged, judge) for r in p.rows] for p in papers}
    about = {"format": 1, "version": judge.points.program.version, "commit": judge.points.program.commit, "full": judge.full,
             "counts": counts(papers, judged), "rows": [r for p in papers for r in rows[p.key]]}
    replace(out / "repro.json", json.dumps(about, indent=1) + "\n")
    replace(out / "report.md", markdown(papers, judged, rows, judge))
