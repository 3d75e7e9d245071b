"""Every race of this package with its peers, in turns, and how its cost grows; the page *Measured* shows what is stored.

    python benchmarks/run.py [--small] [--races "vi schools" lda growth]   # some, or all; those not named keep what is stored of them
    python benchmarks/run.py --list

Each race runs in a process of its own. There each road is called once, which is timed apart since it compiles, and what it reached is
compared with the others; a road that did not reach it has no ratio. Then all roads are timed in turns (A B A B) until the race's seconds
are spent, three times at least (small: twice), and a ratio is that of one turn's times. Peers that are not installed are left out, with a
word; `make bench` installs them. What is done is stored at once, and a run that is stopped keeps it.
"""

import argparse
import datetime
import importlib
import json
import os
import platform
import resource
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/run.py`

from benchmarks import report
from benchmarks.aims import RACES
from benchmarks.race import missing

ROOT = Path(__file__).resolve().parent.parent
STORED = ROOT / "book" / "appendix" / "measured.json"
PACKAGES = ("jax", "jaxlib", "numpy", "scipy", "optax", "numpyro", "pymc", "nutpie", "blackjax", "scikit-learn", "gensim", "lightgbm")
MARK = "measured: "
TURNS = {False: (3, 15), True: (2, 15)}  # at least, at most: in full, and small
SECONDS = {False: 15.0, True: 1.0}  # for the turns of a race: in full, and small
QUIET = {"JAX_ENABLE_COMPILATION_CACHE": "false", "JAX_TRACEBACK_FILTERING": "off", "TQDM_MININTERVAL": "0.1"}
QUIET["JAX_PLATFORMS"] = os.environ.get("JAX_PLATFORMS", "cpu")


def timed(call, seed):
    """What a call returns, and its seconds."""
    begin = time.perf_counter()
    return call(seed), time.perf_counter() - begin


def race_of(name, small):
    """The rows of one race, in this process."""
    entry = RACES[name]
    race = getattr(importlib.import_module(f"benchmarks.{entry.module}"), entry.function)(small, *entry.arguments)
    first, reached, absent, ours = {}, {}, list(race.absent), next(iter(race.roads))
    for road, (call, _, whole) in list(race.roads.items()):
        try:
            found, first[road] = timed(call, 0)
            reached[road] = found if whole is None else whole(0)
        except Exception as error:  # a peer's own, which is no reason to leave out the others
            if road == ours:
                raise
            absent.append(f"{road}, which stopped with {type(error).__name__} ({str(error).splitlines()[0]})")
            del race.roads[road]
    errors = race.error(reached)
    seconds = {road: [] for road in race.roads}
    until, turn = time.perf_counter() + SECONDS[small], 0
    while turn < TURNS[small][0] or (turn < TURNS[small][1] and time.perf_counter() < until):
        turn += 1
        for road, (call, share, _) in race.roads.items():
            found, took = timed(call, turn)
            seconds[road].append(took / share / (1.0 if race.per is None else race.per(found)))
    rows = {
        road: {"first": first[road], "seconds": seconds[road], "error": errors[road]}
        | {"reached": errors[road] is None or bool(errors[road] <= race.bound)}
        for road in race.roads
    }
    about = {"size": race.size, "measure": race.measure, "bound": None if np.isinf(race.bound) else race.bound, "unit": race.unit}
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 2**10
    return about | {"order": list(rows), "roads": rows, "memory": memory, "turns": turn, "absent": absent}


def apart(script, *arguments):
    """What a script prints after the mark, from a process of its own without compiled functions of earlier ones; or words why not."""
    command = [sys.executable, str(ROOT / "benchmarks" / script), *arguments]
    done = subprocess.run(command, env=os.environ | QUIET, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith(MARK)]
    if done.returncode or not lines:
        return (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
    return json.loads(lines[-1].removeprefix(MARK))


def processor():
    """What the machine calls its processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def surroundings(small):
    """When, on what and with what."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "python": platform.python_version(),
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "small": small,
        "versions": versions,
    }


def store(path, stored):
    """Whole or not at all."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(stored, indent=1, sort_keys=True, ensure_ascii=False) + "\n", "utf8")
    part.replace(path)


def one(name, small):
    """A race, stored as the page reads it; or a sentence why it was not run."""
    peer = RACES[name].package
    if peer and (gone := missing(peer)):
        return gone
    return apart("run.py", "--one", name, *(["--small"] * small))


def every(names, small, path):
    """Run, print and store one after another."""
    from benchmarks import growth

    stored = json.loads(path.read_text("utf8")) if path.exists() else {}
    stored = {"races": {}, "growth": {}} | stored
    for name in names:
        about, begin = surroundings(small), time.perf_counter()
        if name == "growth":
            for curve, rows in growth.curves(small, apart):
                stored["growth"][curve] = rows | {"about": about}
                print(f"{growth.CURVES[curve].title}: {report.growth_line(rows)}", flush=True)
                store(path, stored)
            print(f"({time.perf_counter() - begin:.0f} s)", flush=True)
            continue
        found = one(name, small)
        if isinstance(found, str):
            print(f"\n{RACES[name].title}: not run: {found}", flush=True)
            continue
        stored["races"][name] = found | {"about": about}
        store(path, stored)
        took = time.perf_counter() - begin
        print(f"\n{RACES[name].title}: {found['size']} ({found['turns']} turns, {took:.0f} s)\n\n{report.race(found)}", flush=True)


def main(arguments=None):
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="a trial of the scripts, not a result")
    parser.add_argument("--races", nargs="+", default=[*RACES, "growth"])
    parser.add_argument("--list", action="store_true", help="the names")
    parser.add_argument("--out", type=Path, default=STORED)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    settings = parser.parse_args(arguments)
    if settings.list:
        titles = {name: entry.title for name, entry in RACES.items()} | {"growth": "Time and memory as the work grows"}
        print("\n".join(f"{name:<24}{title}" for name, title in titles.items()))
    elif settings.one:
        print(MARK + json.dumps(race_of(settings.one, settings.small), default=float))
    elif unknown := sorted(set(settings.races) - {*RACES, "growth"}):
        parser.error(f"no race {unknown[0]!r}; there are {', '.join([*RACES, 'growth'])}")
    else:
        try:
            every(settings.races, settings.small, settings.out)
        except KeyboardInterrupt:
            sys.exit(f"\nstopped; what was done is in {settings.out}")


if __name__ == "__main__":
    main()
