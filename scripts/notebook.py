#!/usr/bin/env python3
"""Results in a notebook: CSV files are the interface, pandas reads them. Copy what you need.

Usage: scripts/notebook.py RUN [SWEEP]    a folder of `inasim run --out`, one of a sweep; draws RUN/notebook.png

What columns mean: inasim schema --results. Needs pandas and matplotlib (apt install python3-pandas python3-matplotlib)."""
import json
import sys
from pathlib import Path

import pandas as pd


def table(folder, name):
    """A table of a run. Empty cells are NaN: what is unfinished has no times."""
    return pd.read_csv(Path(folder) / f"{name}.csv")


def summary(folder):
    """All numbers of summary.json in one Series: summary(run)["jobs.jct_s.mean"]."""
    with open(Path(folder) / "summary.json") as file:
        return pd.json_normalize(json.load(file)).iloc[0]


def percentile(values, p):
    """As inasim has it: nearest rank, and none of fewer than 10 / (1 - p) values."""
    values = values.dropna()
    return values.quantile(p, interpolation="higher") if len(values) >= 10 / (1 - p) else float("nan")


def sweep(folder):
    """The points that are done, if need be by another scheme (status), a row each; the others are in sweep.csv, too."""
    points = pd.read_csv(Path(folder) / "sweep.csv")
    return points[points["status"].isin(["done", "substituted"])]


def means(points, axes, metric):
    """Mean and number of replications of each point. For intervals: inasim compare SWEEP --by AXIS --json."""
    return points.groupby(axes)[metric].agg(["mean", "count"])


def draw(folder):
    """Distribution of flow completion times, by group."""
    import matplotlib
    matplotlib.use("Agg")  # without a display; leave this out in a notebook
    from matplotlib import pyplot
    figure, axes = pyplot.subplots()
    axes.set(xlabel="flow completion time (ms)", ylabel="share of flows", xscale="log")
    for name, flows in table(folder, "flows").query("finished == 1").groupby("group"):
        fct = (1e3 * flows["fct_s"]).sort_values()
        axes.step(fct, [(i + 1) / len(fct) for i in range(len(fct))], label=name)
    axes.legend()
    figure.savefig(Path(folder) / "notebook.png")


if __name__ == "__main__":
    run = sys.argv[1] if len(sys.argv) > 1 else sys.exit(__doc__)
    jobs, flows = table(run, "jobs"), table(run, "flows")
    print(jobs.groupby(["name", "scheme"])[["jct_s", "compute_s", "communication_s"]].mean(numeric_only=True))
    print("flows:", len(flows), "p50", percentile(flows["fct_s"], 0.5), "p99", percentile(flows["fct_s"], 0.99))
    print("packet-hops:", summary(run)["packet_hops"])
    draw(run)
    if len(sys.argv) > 2:
        print(means(sweep(sys.argv[2]), ["scheme", "load"], "jobs.jct_s.mean"))
