"""Characterise. Roads: draws picked up one by one; quantiles by interpolation between sorted draws, one point at a time."""

import numpy as np

from course_pkg.checks._judge import numbers
from course_pkg.checks.record import Record


def picked(draws):
    chains, each, points = draws.shape
    return np.array([sorted(draws[chain, draw, point] for chain in range(chains) for draw in range(each)) for point in range(points)])


def rows_sorted(answer, draws):
    """Within a row the draws may stand in any order."""
    parts = tuple(np.sort(part, axis=-1) if part.ndim else part for part in numbers(answer(draws)))
    return parts if len(parts) > 1 else parts[0]


def by_interpolation(draws, count):
    places = np.linspace(0, 1, draws.shape[1])  # the smallest draw has level 0, the largest level 1
    return np.array([np.interp(np.arange(1, count + 1) / (count + 1), places, sorted(row)) for row in draws])


FRONT, FRONT1, FRONT2 = (
    f"np.moveaxis(draws, -1, 0) -> draws{swap}.reshape(draws.shape[-1], -1)" for swap in ("", ".swapaxes(0, 1)", ".swapaxes(1, 2)")
)
POINTS_FIRST = Record(
    cases=lambda rng: [(rng.normal(size=shape),) for shape in [(3, 5, 4), (2, 7, 6), (4, 3, 1)]],
    reference=picked,
    view=rows_sorted,
    right="Right. Engines put the points last; a summary of the predictive needs them first.",
    nudge="Not these rows. Row n holds draws[:, :, n] and nothing else.",
    hints=(
        "Two things: the points must come to the front, and chains and draws must become one axis. What does a reshape do to the order in memory?",
        "out[n, c * D + d] = draws[c, d, n] for chain c, draw d of D, point n (the order within a row does not matter).",
        "Begin with `front = np.moveaxis(draws, -1, 0)`",
    ),
    mistakes={
        "The numbers are in the wrong rows: reshape keeps the order in memory. Bring the points in front first.": f"{FRONT} || {FRONT1} || {FRONT2}",
        "Your rows are draws and your columns points. One row for each point was asked for.": "np.moveaxis(draws, -1, 0) -> draws.reshape(-1, draws.shape[-1])",
        "You kept one chain. All of them are draws from the same posterior: keep them side by side.": "np.moveaxis(draws, -1, 0) -> draws[0].T",
        "The points are in front. Now put all the draws of a point into one row, whichever chain they come from.": "front.reshape(len(front), -1) -> front",
    },
)
QUANTILES = Record(
    cases=lambda rng: [(rng.normal(size=shape), count) for shape, count in [((5, 8), 3), ((4, 11), 6), ((7, 7), 1)]],
    reference=by_interpolation,
    right="Right. This is all that the decision maker will be told about a point.",
    nudge="Not these quantiles. With count = 3 the draws 0, 12, 4 of a point give 2, 4, 8. There are several definitions: "
    "here level p has place p (S - 1) among the sorted draws, counted from 0.",
    hints=(
        "Each point has a row of draws, and gets a row of quantiles. The levels cut the probability into count + 1 equal parts.",
        "The levels are k / (count + 1) for k = 1, ..., count; np.quantile interpolates as asked, along the axis that you name.",
        "Begin with `levels = np.arange(1, count + 1) / (count + 1)`",
    ),
    mistakes={
        "You took the quantiles over the points. One row holds all that the model says about one point: go along the rows, the last axis.": "axis=-1).T -> axis=0)",
        "You threw all points together. Each has its own predictive: say along which axis.": ", axis=-1).T -> ) || np.quantile(draws, levels, axis=-1).T -> np.tile(np.quantile(draws, levels), (len(draws), 1))",
        "NumPy puts the levels first. A reshape leaves the numbers in the wrong places: turn the array.": ".T -> .reshape(len(draws), count)",
        "Your levels begin at 0: that is the smallest draw, which says more about the number of draws than about the predictive.": "np.arange(1, count + 1) / (count + 1) -> np.linspace(0, 1, count)",
        "Your last level is 1: that is the largest draw. With count + 1 in the denominator neither end is among them.": "/ (count + 1) -> / count",
        "Those are the middles of equal parts. The levels are k / (count + 1).": "np.arange(1, count + 1) / (count + 1) -> (np.arange(count) + 0.5) / count",
    },
)
TASKS = {"points-first": POINTS_FIRST, "quantiles": QUANTILES}
