"""From the corrected utility to the highest-density region. Road: scan the ends of intervals, and every subset of cells."""

from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Verdict, judge


def _scan_ends(mean: float, sd: float, gamma: float) -> tuple[float, float]:
    def minus_utility(ends: np.ndarray) -> float:
        low, high = ends
        return float(gamma * (high - low) - (norm.cdf(high, mean, sd) - norm.cdf(low, mean, sd)))

    grid = mean + sd * np.linspace(-4, 4, 161)
    low, high = np.meshgrid(grid, grid, indexing="ij")
    utility = np.where(high >= low, norm.cdf(high, mean, sd) - norm.cdf(low, mean, sd) - gamma * (high - low), -np.inf)
    if utility.max() <= 0:
        return mean, mean
    best = np.unravel_index(np.argmax(utility), utility.shape)
    start = np.array([low[best], high[best]])
    ends = minimize(minus_utility, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-15}).x
    return float(ends[0]), float(ends[1])


def _every_subset(density: np.ndarray, width: float, gamma: float) -> np.ndarray:
    subsets = np.array(list(product([False, True], repeat=len(density))))
    utility = subsets @ density * width - gamma * width * subsets.sum(axis=1)
    return subsets[np.argmax(utility)]


def _hull(density: np.ndarray, width: float, gamma: float) -> np.ndarray:
    inside = np.flatnonzero(_every_subset(density, width, gamma))
    cells = np.arange(len(density))
    return (cells >= inside.min()) & (cells <= inside.max())


def _central(density: np.ndarray, width: float, gamma: float) -> np.ndarray:
    """The middle cells that hold as much as the best region does, with as much left out on either side."""
    mass = density * width
    out = 1 - mass[_every_subset(density, width, gamma)].sum()
    return (np.cumsum(mass) > out / 2) & (np.cumsum(mass) - mass < 1 - out / 2)


def interval_stub(mean: float, sd: float, gamma: float) -> Any:
    raise NotImplementedError


def region_stub(density: np.ndarray, width: float, gamma: float) -> Any:
    raise NotImplementedError


def _scale_forgotten(mean: float, sd: float, gamma: float) -> tuple[float, float]:
    low, high = _scan_ends(0.0, 1.0, gamma)
    return mean + sd * low, mean + sd * high


INTERVAL_MISTAKES = {
    "length rewarded": Mistake(
        lambda mean, sd, gamma: (-np.inf, np.inf),
        "You rewarded length. With + gamma every longer interval is better and the whole line is best; length must cost something.",
    ),
    "equal tails": Mistake(
        lambda mean, sd, gamma: (mean - norm.ppf(0.975) * sd, mean + norm.ppf(0.975) * sd),
        "You returned the customary 95% interval. How much it covers is an outcome here, not a choice: gamma decides.",
    ),
    "scale forgotten": Mistake(
        _scale_forgotten,
        "You compared gamma with the standard normal density. The density of a posterior with standard deviation sd is sd times lower.",
    ),
}
REGION_MISTAKES = {
    "length rewarded": Mistake(
        lambda density, width, gamma: np.ones_like(density, dtype=bool),
        "You took everything: that is the printed utility with + gamma, which rewards length. Length must cost something.",
    ),
    "gap filled": Mistake(
        _hull,
        "You filled the gap between the bumps. Nobody asked for one piece: a cell must earn its own length.",
    ),
    "equal tails": Mistake(
        _central,
        "You cut equal tails. With two bumps that keeps the empty middle and gives up cells that hold more.",
    ),
}


def interval_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 40])
    cases = [(float(rng.normal(2, 1)), sd, gamma) for sd, gamma in [(0.6, 0.1), (1.7, 0.05), (2.5, 0.1)]]
    first = judge(
        answer,
        cases,
        _scan_ends,
        INTERVAL_MISTAKES,
        right="Right. The ends lie where the density equals gamma: there one more step adds as much as it costs.",
        nudge="Not those ends. At the best end, the mass that one more step would add is exactly what the step costs.",
        rtol=1e-3,
        parts=("the lower end", "the upper end"),
    )
    if not first.passed:
        return first
    nowhere = judge(answer, [(0.5, 1.0, 0.6)], _scan_ends, {}, right=first.message, nudge="", rtol=1e-3)
    words = "Right where some interval is worth its length. Where gamma is above the peak of the density none is: return (mean, mean)."
    return nowhere if nowhere.passed else Verdict(False, words)


def region_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 41])
    edges = np.linspace(-6, 6, 15)
    cases = []
    for gamma, least, most in [(0.04, 0.12, 0.16), (0.07, 0.12, 0.16), (0.07, 0.07, 0.1)]:
        left = rng.uniform(least, most)  # a small bump, which the last case gives up; equal tails cut it and fill the gap
        mass = left * np.diff(norm.cdf(edges, -4, 0.6)) + (1 - left) * np.diff(norm.cdf(edges, 2, 1.2))
        width = float(edges[1] - edges[0])
        cases.append((mass / mass.sum() / width, width, gamma))
    return judge(
        answer,
        cases,
        _every_subset,
        REGION_MISTAKES,
        right="Right. Every point with more density than gamma, and no other: a highest-density region, in two pieces if need be.",
        nudge="Some cells are off. Ask of each cell alone: does it hold more than its length costs?",
    )


TASKS = (
    Task(
        "decisions/intervals/interval",
        "Intervals: the best one for a bell",
        2,
        15,
        interval_stub,
        (
            "Push one end outwards by a hair. What do you gain, what do you pay?",
            "d/dc of [P(|theta - mean| < c) - 2 gamma c] is 2 p(mean + c) - 2 gamma. Set it to zero and solve for c.",
            "Begin with `peak = 1 / (sd * np.sqrt(2 * np.pi))`",
        ),
        INTERVAL_MISTAKES,
        interval_verdict,
    ),
    Task(
        "decisions/intervals/region",
        "Intervals: the best region for any density",
        2,
        10,
        region_stub,
        (
            "The utility is a sum over cells. Which cells contribute a positive amount?",
            "A cell of length w and density p adds p w - gamma w.",
            "It is a comparison, entry by entry, of two things you are given.",
        ),
        REGION_MISTAKES,
        region_verdict,
    ),
)
