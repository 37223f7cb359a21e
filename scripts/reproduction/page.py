"""index.html: one page of everything, self-contained. Numbers are those of repro.json, with what they cost on this machine."""
import html
import math
import pathlib
import platform

import report
from verdict import VERDICTS

COLOURS = {"reproduced": "good", "consistent with a fit": "fit", "direction only": "half", "not reproduced": "bad", "undecided": "open",
           "not by simulation": "none", "not run": "none"}


def text(value):
    return html.escape(str(value))


def badge(verdict):
    return f'<span class="badge {COLOURS[verdict]}">{verdict}</span>'


def matrix(papers, counts):
    """Verdicts down, papers across: so it fits a phone."""
    titles = {p.key: f'<a href="#{p.key}">{text(p.title)}</a>' for p in papers}
    head = "".join(f"<th>{titles.get(key, 'all')}</th>" for key in counts)
    rows = ""
    for verdict in VERDICTS:
        cells = "".join(f'<td class="{COLOURS[verdict] if c[verdict] else "zero"}">{c[verdict]}</td>' for c in counts.values())
        rows += f"<tr><th>{verdict}</th>{cells}</tr>"
    rows += "<tr><th>rows</th>" + "".join(f"<td>{sum(c.values())}</td>" for c in counts.values()) + "</tr>"
    return f'<div class="scroll"><table class="matrix"><tr><th></th>{head}</tr>{rows}</table></div>'


# --- figures

class Scale:
    """From values to pixels, by logarithm where they span more than a factor of 30."""

    def __init__(self, values, start, end):
        low, high = min(values), max(values)
        self.log = low > 0 and high / low > 30
        if self.log:
            low, high = math.log(low), math.log(high)
        room = 0.08 * (high - low) or abs(high) * 0.1 or 1
        self.low, self.high, self.start, self.end = low - room, high + room, start, end

    def __call__(self, value):
        value = math.log(value) if self.log else value
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


    def ticks(self):
        """Some three to six round values."""
        if self.log:
            first, last = math.ceil(self.low / math.log(10)), math.floor(self.high / math.log(10))
            return [10.0 ** power for power in range(first, last + 1, max(1, (last - first) // 5))]
        rough = (self.high - self.low) / 4
        size = 10 ** math.floor(math.log10(rough))
        step = size * next(m for m in (1, 2, 5, 10) if m * size >= rough)
        return [step * i for i in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]


def _extent(stated, ours, reach):
    values = [p + r for p, far in zip(stated, reach) for r in (-far, far)]
    return values + [v for o in ours for v in (o["low"], o["high"])]


def points_figure(row):
    """Points of a row over x: what is stated as a tick in the band of its tolerance, ours as a dot with its interval."""
    ours = row["ours"]
    if len(ours) < 2 or any(o is None for o in ours):
        return ""
    stated = [p for p in row["stated"] if isinstance(p, (int, float))]
    if len(stated) not in (0, len(ours)) or not (stated or row["x_label"]):
        return ""
    reach = [r for r in row["reach"] if r is not None]
    width, left, top, bottom = 640, 52, 12, 176
    height = bottom + (44 if row["x_label"] else 24)
    y = Scale(_extent(stated, ours, reach), bottom, top)
    step = (width - left - 12) / len(ours)
    out = ""
    for value in y.ticks():
        at = y(value)
        out += (f'<line class="grid" x1="{left}" x2="{width - 8}" y1="{at:.1f}" y2="{at:.1f}"/>'
                f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">{report.number(value)}</text>')
    for i, o in enumerate(ours):
        x = left + (i + 0.5) * step
        if stated:
            low, high = y(stated[i] - reach[i]), y(stated[i] + reach[i])
            half = min(step * 0.35, 30)
            out += (f'<rect class="band" x="{x - half:.1f}" y="{high:.1f}" width="{2 * half:.1f}" height="{max(low - high, 1):.1f}"/>'
                    f'<line class="stated" x1="{x - half:.1f}" x2="{x + half:.1f}" y1="{y(stated[i]):.1f}" y2="{y(stated[i]):.1f}"/>')
        out += (f'<line class="ours" x1="{x:.1f}" x2="{x:.1f}" y1="{y(o["low"]):.1f}" y2="{y(o["high"]):.1f}"/>'
                f'<circle class="ours" cx="{x:.1f}" cy="{y(o["mean"]):.1f}" r="4"><title>{report.number(o["mean"])}</title></circle>')
        label = str(row["x"][i]) if row["x"][i] is not None else ""
        short = label if len(label) * 6 < step else label[:max(int(step / 6) - 1, 1)] + "…"
        out += f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{text(short)}<title>{text(label)}</title></text>'
    if row["kind"] == "claim" and row["verdict"] in VERDICTS[:4] and row["x_label"]:
        first, last = ours[0], ours[-1]
        out += (f'<line class="claim {COLOURS[row["verdict"]]}" x1="{left + 0.5 * step:.1f}" y1="{y(first["mean"]):.1f}" '
                f'x2="{left + (len(ours) - 0.5) * step:.1f}" y2="{y(last["mean"]):.1f}" marker-end="url(#tip)"/>')
    out += f'<text x="{(left + width) / 2}" y="{bottom + 36}" text-anchor="middle">{text(row["x_label"])}</text>'
    legend = "ours ●" + (", stated ─ with its tolerance" if stated else "") + (f"; {row['unit']}" if row["unit"] else "")
    return (f'<figure><svg viewBox="0 0 {width} {height}" role="img" aria-label="{text(row["item"])}">{out}</svg>'
            f'<figcaption>{text(legend)}</figcaption></figure>')


def strip(row):
    """The same under each reading. One number: on a common axis, with what is stated and its tolerance; several: as cells."""
    if not row["readings"]:
        return ""
    lines = [{"name": "default", "verdict": row["verdict"], "ours": row["ours"], "shown": row["shown"]}, *row["readings"]]
    stated = [p for p in row["stated"] if isinstance(p, (int, float))]
    single = len(stated) == 1 and all(len(line["ours"]) == 1 and line["ours"][0] for line in lines)
    body = _axis(row, lines, stated[0]) if single else "".join(
        f'<li>{badge(l["verdict"])} <b>{text(l["name"])}</b> {text(" / ".join(s for s in l["shown"] if s))}</li>' for l in lines)
    return f'<div class="strip"><h4>Readings{": " if row["conclusion"] else ""}{text(row["conclusion"])}</h4>{body if single else f"<ul>{body}</ul>"}</div>'


def _axis(row, lines, stated):
    width, left, line = 640, 210, 24
    height = line * len(lines) + 22
    reach = row["reach"][0]
    x = Scale(_extent([stated], [l["ours"][0] for l in lines], [reach]), left, width - 52)
    low, high = x(stated - reach), x(stated + reach)
    out = (f'<rect class="band" x="{low:.1f}" y="0" width="{max(high - low, 1):.1f}" height="{height - 20}"/>'
           f'<line class="stated" x1="{x(stated):.1f}" x2="{x(stated):.1f}" y1="0" y2="{height - 20}"/>'
           f'<text x="{x(stated):.1f}" y="{height - 6}" text-anchor="middle">{report.number(stated)}</text>')
    for i, l in enumerate(lines):
        o, at = l["ours"][0], line * i + 14
        out += (f'<text x="{left - 8}" y="{at + 4}" text-anchor="end">{text(l["name"][:34])}<title>{text(l["name"])}</title></text>'
                f'<line class="ours" x1="{x(o["low"]):.1f}" x2="{x(o["high"]):.1f}" y1="{at}" y2="{at}"/>'
                f'<circle class="{COLOURS[l["verdict"]]}" cx="{x(o["mean"]):.1f}" cy="{at}" r="5"/>'
                f'<text x="{x(o["mean"]) + 9:.1f}" y="{at + 4}">{report.number(o["mean"])}</text>')
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="readings">{out}</svg>'


# --- rows

def article(row, cost):
    ours = " / ".join(s for s in row["shown"] if s)
    facts = [("paper", report.stated(row)), ("ours", ours + (f' {row["unit"]}' if ours and row["unit"] else "")),
             ("off by", report.percent(row["deviation"])),
             ("tolerance", f'{100 * row["tolerance"]:g} %{" and half of a last digit" if row["digit"] else ""}: {row["why"]}' if row["tolerance"] and row["kind"] == "value" else row["why"]),
             ("fitted", "; ".join(f"{k}: {v}" for k, v in row["fitted"].items())),
             ("why", "; ".join(t for t in (row["note"], row["reason"]) if t))]
    body = "".join(f"<dt>{k}</dt><dd>{text(v)}</dd>" for k, v in facts if v)
    more = ""
    if row["commands"]:
        listed = "\n".join(row["commands"][:12]) + (f"\n# and {len(row['commands']) - 12} more: repro.json" if len(row["commands"]) > 12 else "")
        more = (f'<details><summary>{len(row["commands"])} run{"s" if len(row["commands"]) > 1 else ""}, {cost:.1f} CPU s</summary><pre>{text(listed)}</pre>'
                f'<p>seeds {text(", ".join(map(str, row["seeds"])))}; digests {text(", ".join(row["digests"][:12]))}</p></details>')
    conclusion = f'<span class="conclusion">{text(row["conclusion"])}</span>' if row["conclusion"] else ""
    left, right = f'<dl>{body}</dl><pre class="command">{text(row["command"])}</pre>{more}', points_figure(row) + strip(row)
    return (f'<article id="{row["id"]}" class="{COLOURS[row["verdict"]]}"><header><h3><a href="#{row["id"]}">{text(row["item"])}</a></h3>'
            f'{badge(row["verdict"])}{conclusion}</header>'
            f'<blockquote>{text(row["quote"])} <cite>{text(row["place"])}</cite></blockquote>'
            + (f'<div class="two"><div>{left}</div><div>{right}</div></div>' if right else left) + "</article>")


def robust(papers, rows):
    """Which conclusions hold under all readings, and which hang on one."""
    lines = [(r, r["conclusion"]) for p in papers for r in rows[p.key] if r["conclusion"]]
    if not lines:
        return ""
    titles = {p.key: p.title for p in papers}
    body = "".join(f'<tr><td><a href="#{r["id"]}">{text(titles[r["paper"]])}: {text(r["item"])}</a></td><td>{badge(r["verdict"])}</td>'
                   f'<td>{text(c)}</td></tr>' for r, c in sorted(lines, key=lambda l: l[1] != "robust"))
    return ('<section><h2>What readings decide</h2><p>A reading is a rule that the paper does not state. The verdict of a robust row '
            f'is the same under each of those tried.</p><div class="scroll"><table>{body}</table></div></section>')


def write(out, papers, judged, judge):
    rows = {p.key: [report.describe(r, judged, judge) for r in p.rows] for p in papers}
    cost, total = {}, {}
    for paper in papers:
        for row in paper.rows:
            ran = [] if judged[row.id][0].verdict in ("not by simulation", "not run") else judge.row_points(row)
            seconds = {p.hash: judge.points.record(p).get("cpu_s") or 0 for p in ran}
            cost[row.id] = sum(seconds.values())
            total.update(seconds)
    skipped = [r.id for p in papers for r in p.rows if judged[r.id][0].verdict == "not run"]
    program = judge.points.program
    about = (f"inasim {program.version}, commit {program.commit}; {'full' if judge.full else 'quick'}; {len(total)} runs, "
             f"{sum(total.values()):.0f} CPU s; {platform.machine()}, {platform.system()}. "
             + (f"Not run: {', '.join(skipped[:12])}{f' and {len(skipped) - 12} more' if len(skipped) > 12 else ''}. " if skipped else "Nothing skipped. "))
    sections = "".join(f'<section id="{p.key}"><h2>{text(p.title)}</h2><p>{text(p.text)}</p>'
                       + "".join(article(r, cost[r["id"]]) for r in rows[p.key]) + "</section>" for p in papers)
    template = (pathlib.Path(__file__).parent / "page.html").read_text()
    page = template.replace("{about}", text(about)).replace("{matrix}", matrix(papers, report.counts(papers, judged)))
    report.replace(out / "index.html", page.replace("{robust}", robust(papers, rows)).replace("{sections}", sections))
