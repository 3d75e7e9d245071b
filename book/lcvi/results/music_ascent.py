"""The Last.fm factorisation climbed without noise: coordinate ascent with closed-form steps, plain and calibrated.

    python book/lcvi/results/music_ascent.py [--seeds 10]

Writes ``music_ascent.json`` beside it: for every loss and every M the risks on seen and hidden cells, seed by seed. The page on music
derives the steps and repeats some of the runs.
"""

import argparse
import json
import shlex
import sys
import time
from pathlib import Path

import numpy as np
from scipy import stats

from course_pkg import data

FACTORS, PRIOR_SD, SWEEPS = 20, 10.0, 200
GAMMA = {"tilted(0.2)": (0.2, 1.62), "tilted(0.5)": (0.5, 1.0), "tilted(0.8)": (0.8, 1.62)}
SWEEP = (0.1, 0.1945, 0.3603, 0.5962, 0.9291, 1.0, 1.4077, 2.1528, 3.5538, 5.0, 8.76, 50.0)


def update(y, seen, b, r2, charge):
    """The best means and variances of one side's factors, given the other's."""
    k = b.shape[1]
    squares = (b[:, :, None] * b[:, None, :]).reshape(len(b), -1)
    left = (seen @ squares).reshape(-1, k, k)
    left[:, np.arange(k), np.arange(k)] += charge @ r2 + 1 / PRIOR_SD**2
    a = np.linalg.solve(left, ((seen * y) @ b)[..., None])[..., 0]
    return a, 1 / (1 / PRIOR_SD**2 + charge @ (b**2 + r2))


def width(a, s2, b, r2):
    """Variance of every cell's mean under q."""
    return a**2 @ r2.T + s2 @ (b**2 + r2).T


def ascend(y, seen, slope, seed):
    """Climb from random columns; ``slope(v)`` is what a unit of a cell's variance costs beside the half that plain inference charges."""
    rng = np.random.default_rng(seed)
    b = rng.normal(size=(y.shape[1], FACTORS))
    r2 = np.log1p(np.exp(rng.normal(size=b.shape))) ** 2
    charge = seen * (1 + 2 * slope(np.ones_like(y)))
    for _ in range(SWEEPS):
        a, s2 = update(y, seen, b, r2, charge)
        b, r2 = update(y.T, seen.T, a, s2, charge.T)
        charge = seen * (1 + 2 * slope(width(a, s2, b, r2)))
    return a, s2, b, r2


def tilted_slope(level, gamma):
    """Of gamma times the expected tilted loss at the best decision, in the variance of the cell's mean."""
    price = gamma * stats.norm.pdf(stats.norm.ppf(level))
    return lambda v: 0.5 * price / np.sqrt(1 + v)


def risks(y, seen, q):
    """Of the best decisions for every loss, with a normal predictive."""
    mean, sd = q[0] @ q[2].T, np.sqrt(1 + width(*q))
    found = {"squared": (y - mean) ** 2, "direct": 1 - np.exp(-((y - mean) ** 2))}
    for name, (level, _) in GAMMA.items():
        off = y - mean - stats.norm.ppf(level) * sd
        found[name] = np.maximum(level * off, (level - 1) * off)
    return {name: [round(float(costs[part].mean()), 5) for part in (seen > 0, seen == 0)] for name, costs in found.items()}


def main():
    """Run all, and store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    seeds = parser.parse_args().seeds
    listening = data.lastfm()
    y, seen = np.asarray(listening.table.value), np.asarray(listening.table.seen, np.float32)
    slopes = {"plain": np.zeros_like, "squared": lambda v: np.full_like(v, 0.3)}
    slopes |= {name: tilted_slope(*pair) for name, pair in GAMMA.items()}
    slopes |= {f"squared, M = {M:g}": lambda v, M=M: np.full_like(v, 1 / M) for M in SWEEP}
    begin, runs = time.perf_counter(), {}
    for name, slope in slopes.items():
        fits = [ascend(y, seen, slope, seed) for seed in range(seeds)]
        found = [risks(y, seen, q) for q in fits]
        runs[name] = {loss: {part: [f[loss][k] for f in found] for k, part in enumerate(("train", "test"))} for loss in found[0]}
        runs[name]["column_scale"] = [round(float(np.sqrt(q[3]).mean()), 6) for q in fits]
        print(name, runs[name]["squared"], round(time.perf_counter() - begin), flush=True)
    result = {"command": shlex.join(["python", "book/lcvi/results/music_ascent.py", *sys.argv[1:]]), "simulated": listening.simulated}
    result |= {"seconds": round(time.perf_counter() - begin), "seeds": seeds, "sweeps": SWEEPS, "runs": runs}
    Path(__file__).with_suffix(".json").write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
