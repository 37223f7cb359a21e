"""The runs that rows need, as points of sweep plans, and the results of those that are there.

All points are in one sweep directory of the program's version. A point has there the hash of its scenario, seed and data,
so one that several plans or rows name runs once, and one that has ended is not run again (sim/cli/README.md).
"""
import concurrent.futures
import copy
import csv
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

from expression import Wrong

FINAL = ("done", "substituted", "unfinished", "refused", "invalid", "violated")


class Program:
    def __init__(self, path, build):
        self.path, self.build = pathlib.Path(path), build
        said = subprocess.run([self.path, "--version"], capture_output=True, text=True, check=True).stdout
        self.version, self.commit = said.split()[1], said.split("(")[1].split(")")[0]
        self.key = f"{self.version}-{self.commit}"
        if "dirty" in self.commit or "unknown" in self.commit:
            self.key += "-" + hashlib.sha256(self.path.read_bytes()).hexdigest()[:12]

    def json(self, *arguments):
        done = subprocess.run([self.path, *arguments, "--json"], capture_output=True, text=True)
        if done.returncode:
            raise Wrong(done.stderr.strip() or f"inasim {' '.join(arguments)}: exit code {done.returncode}")
        return json.loads(done.stdout)

    @functools.lru_cache(maxsize=None)
    def formula(self, name, **inputs):
        return self.json("formula", name, *(f"{k}={v}" for k, v in inputs.items()))["value"]

    @functools.lru_cache(maxsize=None)
    def passes(self, test):
        """Whether a test passes; None if none has run: not built, skipped, or no ctest."""
        try:
            done = subprocess.run(["ctest", "--test-dir", self.build, "-R", f"^{test}$", "--no-tests=error"],
                                  capture_output=True, text=True)
        except FileNotFoundError:
            return None
        ran = re.search(r"^1/1 Test .*(Passed|Failed|Exception|Timeout)", done.stdout, re.MULTILINE)
        return done.returncode == 0 if ran else None


def place(values, pointer, value):
    """values[pointer] = value; within the value of a shorter pointer that is set already, as plans want a place set once."""
    for shorter in values:
        if pointer.startswith(shorter + "/"):
            whole = inside = copy.deepcopy(values[shorter])
            *path, last = pointer[len(shorter) + 1:].split("/")
            for step in path:
                inside = inside[int(step)] if isinstance(inside, list) else inside.setdefault(step, {})
            inside[last] = value
            values[shorter] = whole
            return
    values[pointer] = value


class Point:
    """What is to run: a number of a plan."""
    def __init__(self, plan, about):
        self.plan, self.number, self.hash = plan, about["point"], about["hash"]
        self.seconds = about.get("seconds") or about["cost"] / 1e7
        self.seed, self.random, self.command = about["seed"], about["random"], ""


class Points:
    """A scenario with settings becomes a generated plan over seeds, and a plan with settings one like it, in `folder`/plans."""

    def __init__(self, program, folder, root):
        self.program, self.folder, self.root = program, pathlib.Path(folder) / program.key, root
        self._plans = {}   # path -> {(axes, replication): Point}
        self._seeds = {}   # (base scenario, settings) -> how many
        self._made = {}    # (base scenario, settings) -> path of the generated plan

    def _plan(self, path):
        if path not in self._plans:
            points = self.program.json("sweep", "plan", str(path))["points"]
            table = {}
            for about in points:
                point = Point(path, about)
                axes = tuple(sorted(about["axes"].items()))
                table[axes, about["replication"]] = point
            self._plans[path] = table
        return self._plans[path]

    def settings(self, base, run, arguments, extra):
        """What a variant of a scenario sets: those of the run, of its arguments, of a reading."""
        values = dict(run.get("set", {}))
        for name, label in arguments.items():
            axis = run.get("axes", {}).get(name)
            if axis is None:
                raise Wrong(f"{base.name}: there is no axis \"{name}\" of this run")
            if isinstance(axis, dict):
                if str(label) not in axis:
                    raise Wrong(f"{base.name}: axis \"{name}\" has no \"{label}\"")
                more = axis[str(label)]
            else:
                more = {axis: label}
            for pointer, value in more.items():
                place(values, pointer, value)
        for pointer, value in (extra or {}).items():
            place(values, pointer, value)
        return values

    def want(self, run, folder, arguments, seeds, extra):
        """Remembers that so many seeds are wanted; find() gives points when all are known."""
        if "scenario" in run:
            variant = self._variant(run, folder, arguments, extra)
            self._seeds[variant] = max(seeds, self._seeds.get(variant, 0))

    def _variant(self, run, folder, arguments, extra):
        base = (folder / run["scenario"]).resolve()
        return base, json.dumps(self.settings(base, run, arguments, extra), sort_keys=True)

    def make_plans(self):
        """A plan over seeds for each variant of a scenario."""
        (self.folder / "plans").mkdir(parents=True, exist_ok=True)
        for (base, settings), seeds in self._seeds.items():
            name = "-".join(base.with_suffix("").parts[-2:]) + "-" + hashlib.sha256(settings.encode()).hexdigest()[:8]
            self._made[base, settings] = self._write(name, base, {
                "limits": {"time": "1h", "memory": "4GiB"}, "set": json.loads(settings),
                "axes": [{"name": "run", "pointer": "/seed", "values": list(range(1, seeds + 1))}]})

    def _write(self, name, base, plan):
        """The path of a generated plan."""
        path = self.folder / "plans" / f"{name}.json"
        text = json.dumps({**plan, "name": name, "base": os.path.relpath(base, path.parent)}, indent=1) + "\n"
        if not path.exists() or path.read_text() != text:
            path.with_suffix(".new").write_text(text)
            path.with_suffix(".new").rename(path)
        return path

    @functools.lru_cache(maxsize=None)
    def _plan_with(self, path, settings):
        """A plan as it is, or with more settings below those of its axes."""
        if not settings:
            return path
        plan = json.loads(path.read_text())
        base, values = (path.parent / plan["base"]).resolve(), plan.setdefault("set", {})
        for pointer, value in json.loads(settings).items():
            place(values, pointer, value)
        return self._write(f"{path.stem}-{hashlib.sha256(settings.encode()).hexdigest()[:8]}", base, plan)

    def find(self, run, folder, arguments, replication, extra):
        """The point: the first where nothing is random, None where the plan has fewer replications."""
        if "scenario" in run:
            base, settings = variant = self._variant(run, folder, arguments, extra)
            for seed in (1, replication + 1):
                point = self._plan(self._made[variant])[(("run", str(seed)),), 0]
                if not point.random:
                    break
            point.command = self._command(base, json.loads(settings), point)
            return point
        path = self._plan_with((folder / run["plan"]).resolve(), json.dumps(extra, sort_keys=True) if extra else "")
        table, axes = self._plan(path), tuple(sorted((k, str(v)) for k, v in arguments.items()))
        if (axes, 0) not in table:
            known = {k: v for (a, _) in table for k, v in a}
            raise Wrong(f"{path.name}: no point {dict(axes)}; axes: {', '.join(known)}")
        point = table.get((axes, replication)) if table[axes, 0].random else table[axes, 0]
        if point:
            point.command = f"inasim sweep run {os.path.relpath(path, self.root)} {point.number} --out DIR"
        return point

    def _command(self, base, settings, point):
        """What runs the point by hand, from the root of the project."""
        parts = ["inasim", "run", os.path.relpath(base, self.root)]
        for pointer, value in settings.items():
            text = value if isinstance(value, str) else json.dumps(value)
            parts += ["--set", shlex.quote(f"{pointer}={text}")]
        return " ".join(parts + ["--seed", str(point.seed)])

    def record(self, point):
        try:
            return json.loads((self.folder / "points" / f"{point.hash}.json").read_text())
        except (OSError, ValueError):
            return {"status": "missing"}

    def result(self, point):
        return self.folder / "points" / point.hash

    @functools.lru_cache(maxsize=None)
    def summary(self, point):
        return json.loads((self.result(point) / "summary.json").read_text())

    def column(self, point, table, name):
        with open(self.result(point) / table, newline="") as file:
            return [float(row[name]) for row in csv.DictReader(file) if row[name]]

    def usable(self, point):
        return self.record(point)["status"] in ("done", "substituted", "unfinished", "refused")


class Runner:
    """Runs points, longest first, `jobs` at once; with Slurm each by srun."""

    def __init__(self, points, jobs, slurm, say):
        self.points, self.jobs, self.say = points, jobs, say
        self.prefix = ["srun", "--quiet", "--ntasks=1", "--cpus-per-task=1", *slurm] if slurm is not None else []
        self.stopped, self.children = False, set()

    def _run(self, point):
        if self.stopped:
            return
        command = [*self.prefix, self.points.program.path, "sweep", "run", point.plan, str(point.number),
                   "--out", self.points.folder, "--quiet"]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.children.add(child)
        said = child.communicate()[1]
        self.children.discard(child)
        if child.returncode not in (0, 4) and not self.stopped:
            self.say(f"{point.plan.name} {point.number}: {said.strip().splitlines()[-1] if said.strip() else child.returncode}")

    def stop(self):
        self.stopped = True
        for child in list(self.children):
            child.terminate()

    def run(self, wanted):
        """False: some did not end well."""
        left = {p.hash: p for p in wanted if self.points.record(p)["status"] not in FINAL}
        begun, total, done = time.monotonic(), sum(p.seconds for p in left.values()), 0.0
        if left:
            self.say(f"{len(left)} of {len({p.hash for p in wanted})} points to run, about {total:.0f} CPU s")
        for _ in range(3):  # what was killed, or another process was running, comes again
            ordered = sorted(left.values(), key=lambda p: -p.seconds)
            with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
                waiting = {pool.submit(self._run, p): p for p in ordered}
                for n, future in enumerate(concurrent.futures.as_completed(waiting), 1):
                    future.result()
                    done += waiting[future].seconds
                    if sys.stderr.isatty() or n % 50 == 0:
                        self.say(f"{n} of {len(ordered)} points, {100 * done / max(total, 1e-9):.0f} %, "
                                 f"{time.monotonic() - begun:.0f} s", end="\r" if sys.stderr.isatty() else "\n")
            left = {h: p for h, p in left.items() if self.points.record(p)["status"] not in FINAL}
            if not left or self.stopped:
                break
            time.sleep(1)
        return not left
