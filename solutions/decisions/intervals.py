"""From the corrected utility to the highest-density region. Roads: scan the ends of intervals, and every subset of cells."""

import numpy as np
from scipy.optimize import minimize
from scipy.stats import norm

from course_pkg.checks.record import Record


def scan_ends(mean, sd, gamma):
    def utility(low, high):
        return norm.cdf(high, mean, sd) - norm.cdf(low, mean, sd) - gamma * (high - low)

    low, high = np.meshgrid(*[mean + sd * np.linspace(-4, 4, 161)] * 2, indexing="ij")
    found = np.where(high >= low, utility(low, high), -np.inf)
    if found.max() <= 0:
        return mean, mean
    best = np.unravel_index(np.argmax(found), found.shape)
    start, exact = np.array([low[best], high[best]]), {"xatol": 1e-9, "fatol": 1e-15}
    return tuple(minimize(lambda ends: -utility(*ends), start, method="Nelder-Mead", options=exact).x)


def every_subset(density, width, gamma):
    subsets = np.indices([2] * len(density)).reshape(len(density), -1).T == 1
    utility = subsets @ density * width - gamma * width * subsets.sum(axis=1)
    return subsets[np.argmax(utility)]


def bumps(rng):
    edges = np.linspace(-6, 6, 15)
    width = edges[1] - edges[0]
    for gamma, least, most in [(0.04, 0.12, 0.16), (0.07, 0.12, 0.16), (0.07, 0.07, 0.1)]:
        left = rng.uniform(least, most)  # a small bump, which the last case gives up; equal tails cut it and fill the gap
        mass = left * np.diff(norm.cdf(edges, -4, 0.6)) + (1 - left) * np.diff(norm.cdf(edges, 2, 1.2))
        yield mass / mass.sum() / width, width, gamma


INTERVAL = Record(
    cases=lambda rng: [(rng.normal(2, 1), sd, gamma) for sd, gamma in [(0.6, 0.1), (1.7, 0.05), (2.5, 0.1)]],
    reference=scan_ends,
    rtol=1e-3,
    parts=("the lower end", "the upper end"),
    right="Right. The ends lie where the density equals gamma: there one more step adds as much as it costs.",
    nudge="Not those ends. With mean = 0, sd = 1 and gamma = 0.2 they are -1.175 and 1.175: one more step would add there just what it costs.",
    hints=(
        "Push one end outwards by a hair. What do you gain, what do you pay?",
        "d/dc of [P(|theta - mean| < c) - 2 gamma c] is 2 p(mean + c) - 2 gamma. Set it to zero and solve for c.",
        "Begin with `peak = 1 / (sd * np.sqrt(2 * np.pi))`",
    ),
    mistakes={
        "You rewarded length. With + gamma every longer interval is better and the whole line is best; length must cost something.": "reach = -> reach = np.inf * ",
        "You returned the customary 95% interval. How much it covers is an outcome here, not a choice: gamma decides.": "np.sqrt(2 * np.log(peak / gamma)) -> 1.96",
        "You used the standard normal density. That of a posterior with standard deviation sd is sd times lower.": "(sd * np.sqrt(2 * np.pi)) -> np.sqrt(2 * np.pi)",
        "Your reach counts standard deviations. Measured from the mean it is sd times as long.": "reach = sd * -> reach =",
        "The exponent of a bell is minus half a square. In your reach the half is lost.": "2 * np.log -> np.log",
    },
    later={
        "Right where some interval is worth its length. Where gamma is above the peak of the density none is: return (mean, mean).": (
            lambda rng: [(0.5, 1.0, 0.6)],
            "gamma >= peak -> False",
        ),
    },
)
REGION = Record(
    cases=bumps,
    apart=True,
    reference=every_subset,
    right="Right. Every point with more density than gamma, and no other: a highest-density region, in two pieces if need be.",
    nudge="Some cells are off. With density = [0.1, 0.5, 0.2], width = 1.25 and gamma = 0.3 only the second is worth its length.",
    hints=(
        "The utility is a sum over cells. Which cells contribute a positive amount?",
        "A cell of length w and density p adds p w - gamma w.",
        "It is one line, a comparison entry by entry. Begin with `return density`",
    ),
    mistakes={
        "You took everything: that is the printed utility with + gamma, which rewards length. Length must cost something.": "> gamma -> > 0",
        "You filled the gap between the bumps. Nobody asked for one piece: a cell must earn its own length.": """
            inside, cells = np.flatnonzero(density > gamma), np.arange(len(density))
            return (cells >= inside.min()) & (cells <= inside.max())
            """,
        "You cut equal tails. With two bumps that keeps the empty middle and gives up cells that hold more.": """
            mass = density * width
            out = 1 - mass[density > gamma].sum()
            return (np.cumsum(mass) > out / 2) & (np.cumsum(mass) - mass < 1 - out / 2)
            """,
        "You took the cells that cost more than they hold, and left the others.": "> -> <",
        "The width enters what a cell holds and what it costs: you have it on one side only.": "> gamma -> * width > gamma || > gamma -> > gamma * width",
    },
)
TASKS = {"interval": INTERVAL, "region": REGION}
