"""Every race of this package with its peers, in turns, and the page *Measured* from what was measured.

    python benchmarks/run.py [--small] [--repeats 5] [--races "vi schools" "lda"]   # some, or all; those not named keep their rows
    python benchmarks/run.py --page                                                # the page alone, from what is stored

Each race runs in a process of its own. There each road is called once, which is timed apart since it compiles, and what it reached is
compared with the others; a road that did not reach it has no ratio. Then all roads are timed in turns (A B A B), and a ratio is that of
one turn's times. Peers that are not installed are left out, with a word: pip install -e '.[bench]'.
"""

import argparse
import datetime
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

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.aims import AIMS, TITLES

ROOT = Path(__file__).resolve().parent.parent
STORED, PAGE = ROOT / "book" / "appendix" / "measured.json", ROOT / "book" / "appendix" / "measured.md"
PACKAGES = ("jax", "jaxlib", "numpy", "scipy", "numpyro", "pymc", "scikit-learn", "blackjax")
MARK = "measured: "


def race_of(name, small, repeats):
    """The rows of one race, in this process."""
    from benchmarks import races

    race = races.RACES[name](small)
    first, reached = {}, {}
    for road, (call, _, whole) in race.roads.items():
        begin = time.perf_counter()
        found = call(0)
        first[road] = time.perf_counter() - begin
        reached[road] = found if whole is None else whole(0)
    errors = race.error(reached)
    seconds = {road: [] for road in race.roads}
    for turn in range(1, repeats + 1):
        for road, (call, share, _) in race.roads.items():
            begin = time.perf_counter()
            call(turn)
            seconds[road].append((time.perf_counter() - begin) / share)
    rows = {
        road: {"first": first[road], "seconds": seconds[road], "error": errors[road]}
        | {"reached": errors[road] is None or bool(errors[road] <= race.bound)}
        for road in race.roads
    }
    about = {"size": race.size, "measure": race.measure, "bound": None if np.isinf(race.bound) else race.bound, "unit": race.unit}
    return about | {"roads": rows, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 2**10}


def apart(name, small, repeats):
    """The rows of one race, from a process of its own without compiled functions of earlier ones; None where it cannot be run."""
    command = [sys.executable, __file__, "--one", name, "--repeats", str(repeats), *(["--small"] * small)]
    quiet = {"JAX_ENABLE_COMPILATION_CACHE": "false", "TQDM_MININTERVAL": "0.1", "JAX_PLATFORMS": os.environ.get("JAX_PLATFORMS", "cpu")}
    done = subprocess.run(command, env=os.environ | quiet, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith(MARK)]
    if done.returncode or not lines:
        print(f"{name}: not run: {(done.stderr.strip().splitlines() or ['no word'])[-1]}", flush=True)
        return None
    return json.loads(lines[-1].removeprefix(MARK))


def surroundings():
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
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "versions": versions,
    }


def ratios(race, over, under):
    """Of two roads' times, turn by turn."""
    return np.array(race["roads"][over]["seconds"]) / np.array(race["roads"][under]["seconds"])


def spread(values, style):
    """Median, and in brackets the least and the greatest."""
    low, middle, high = (format(float(v), style) for v in (np.min(values), np.median(values), np.max(values)))
    return f"{middle} ({low} to {high})"


def three(number):
    """A style of three digits."""
    return ",.0f" if number >= 100 else ".1f" if number >= 10 else ".2f"


def printed(race):
    """One race as a table."""
    divisor, unit = race["unit"]
    ours = next(iter(race["roads"]))
    lines = [f"| road | {unit} | ratio | first call, s | {race['measure'] or 'error'} |", "|:--|--:|--:|--:|--:|"]
    for road, row in race["roads"].items():
        times = np.array(row["seconds"]) / divisor
        ratio = "1" if road == ours else spread(ratios(race, road, ours), three(np.median(ratios(race, road, ours))))
        ratio = ratio if row["reached"] else "not comparable"
        error = "" if row["error"] is None else f"{row['error']:.1g}"
        lines.append(f"| {road} | {spread(times, three(np.median(times)))} | {ratio} | {row['first']:.2f} | {error} |")
    return "\n".join(lines)


def aim_row(aim, measured):
    """Asked, before, after, reached or not."""
    race = measured.get(aim.race)
    if race is None or not {aim.over or aim.under, aim.under} <= set(race["roads"]):
        return "not run", ""
    road = race["roads"][aim.under]
    numbers = [road["first"]] if aim.first else road["seconds"] if aim.over is None else ratios(race, aim.over, aim.under)
    if not all(race["roads"][name]["reached"] for name in (aim.over or aim.under, aim.under)):
        return "not comparable", ""
    found = float(np.median(numbers))
    met = (aim.least is None or found >= aim.least) and (aim.most is None or found <= aim.most)
    words = f"{found:.1f} s" if aim.over is None else spread(numbers, three(found))
    return words, "yes" if met else "no"


def page(stored):
    """The text of *Measured*."""
    measured = stored["races"]
    small = [name for name, race in measured.items() if race["small"]]
    lines = [
        "% Written by benchmarks/run.py from measured.json. Do not edit: make bench.",
        "",
        "(page-measured)=",
        "# Measured",
        "",
        "What this package costs beside what you would take instead, on the same work, in one run. `make bench` runs all of it again, and",
        'writes this page. The peers come with `pip install -e ".[bench]"`.',
        "",
        "The roads of a table run in turns, one after another and again. Times and ratios are medians over the turns, in brackets the",
        "least and the greatest. A ratio is a road's time over that of the first road, in the same turn: above 1, the first is faster.",
        "The first call compiles, and stands apart. Before anything is timed, what the roads have reached is compared; the last column",
        "says how far they are from each other, and a road that did not reach what the others did has no ratio.",
        "",
    ]
    if small:
        lines += [
            ":::{admonition} Some of this was measured in small",
            ":class: warning",
            "",
            f"{len(small)} of {len(measured)} races were run at a small size, as a trial of the scripts. Their ratios say little about",
            "large work, for which the aims are stated.",
            ":::",
            "",
        ]
    lines += ["## What was asked", "", "| race | asked | before | now | reached |", "|:--|:--|:--|:--|:--|"]
    for aim in AIMS:
        now, met = aim_row(aim, measured)
        size = " (small)" if aim.race in small else ""
        lines.append(f"| {TITLES[aim.race]}{size} | {aim.asked} | {aim.before} | {now} | {met} |")
    lines += ["", "*Before* is what earlier runs had shown when the aim was set.", "", "## Race by race", ""]
    for name, title in TITLES.items():
        lines += [f"### {title}", ""]
        if name not in measured:
            lines += ["Not measured yet: its peer was not installed, or it was not asked for.", ""]
            continue
        race = measured[name]
        about = race["about"]
        versions = ", ".join(f"{library} {number}" for library, number in about["versions"].items())
        lines += [f"{race['size'][0].upper()}{race['size'][1:]}; {race['turns']} turns.", "", printed(race), ""]
        command = f'python benchmarks/run.py{" --small" * race["small"]} --repeats {race["turns"]} --races "{name}"'
        lines += [
            f"`{command}`, {about['date']}, {about['cores']} cores with a load of {about['load']} by others and this; peak memory "
            f"{race['memory'] / 2**30:.1f} GiB. Python {about['python']}, {versions}.",
            "",
        ]
    return "\n".join(lines).rstrip() + "\n"


def main():
    """Run, store, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="a trial of the scripts, not a result")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--races", nargs="+")
    parser.add_argument("--page", action="store_true", help="write the page from what is stored")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    settings = parser.parse_args()
    if settings.one:
        print(MARK + json.dumps(race_of(settings.one, settings.small, settings.repeats), default=float))
        return
    if unknown := set(settings.races or ()) - set(TITLES):
        parser.error(f"no race {min(unknown)!r}; there are {', '.join(TITLES)}")
    stored = json.loads(STORED.read_text("utf8")) if STORED.exists() else {"races": {}}
    for name in [] if settings.page else settings.races or TITLES:
        about = surroundings()
        found = apart(name, settings.small, settings.repeats)
        if found is None:
            continue
        stored["races"][name] = found | {"small": settings.small, "turns": settings.repeats, "about": about}
        print(f"\n{TITLES[name]}: {found['size']}\n\n{printed(stored['races'][name])}", flush=True)
        STORED.write_text(json.dumps(stored, indent=1, sort_keys=True, ensure_ascii=False) + "\n", "utf8")
    PAGE.write_text(page(stored), "utf8")


if __name__ == "__main__":
    main()
