"""Characterise. Roads: draws picked up one by one; quantiles by interpolation between sorted draws, one point at a time."""

from typing import Any

import numpy as np

from course_pkg.checks._judge import Mistake, Task, Verdict, judge, numbers
from course_pkg.checks.gradients._tools import judge_through


def _picked(draws: np.ndarray) -> np.ndarray:
    chains, each, points = draws.shape
    return np.array([[draws[chain, draw, point] for chain in range(chains) for draw in range(each)] for point in range(points)])


def _levels(count: int) -> np.ndarray:
    return np.arange(1, count + 1) / (count + 1)


def _by_interpolation(draws: np.ndarray, count: int) -> np.ndarray:
    places = np.linspace(0, 1, draws.shape[1])  # the smallest draw has level 0, the largest level 1
    return np.array([np.interp(_levels(count), places, sorted(row)) for row in draws])


def _between_places(draws: np.ndarray, count: int) -> np.ndarray:
    """Level p read at place p S of the sorted draws, counted from 0: a place too far to the right, the more so the higher the level."""
    row, places = np.sort(draws, axis=-1), _levels(count) * draws.shape[-1]
    low = places.astype(int)
    high = np.minimum(low + 1, draws.shape[-1] - 1)
    return row[:, low] + (places - low) * (row[:, high] - row[:, low])


def points_first_stub(draws: np.ndarray) -> Any:
    raise NotImplementedError


def quantiles_stub(draws: np.ndarray, count: int) -> Any:
    raise NotImplementedError


SHUFFLED = (
    "The shape is right and the numbers are in the wrong rows: reshape keeps the order in memory, where the points change fastest. "
    "Bring the points to the front first."
)
WRONG_AXIS = (
    "You took the quantiles over the points. One row holds all that the model says about one point: go along the rows, the last axis."
)
WRONG_AXIS_TURNED = f"{WRONG_AXIS} Then the array needs turning: NumPy puts the levels first."
POINTS_FIRST_MISTAKES = {
    "reshaped as it lay": Mistake(lambda draws: draws.reshape(draws.shape[-1], -1), SHUFFLED),
    "chains and draws swapped": Mistake(
        lambda draws: draws.swapaxes(0, 1).reshape(draws.shape[-1], -1),
        "You exchanged chains and draws; the points still change fastest, so that the rows mix them up.",
    ),
    "points in the middle": Mistake(
        lambda draws: draws.swapaxes(1, 2).reshape(draws.shape[-1], -1),
        "Within a chain the points now stand before the draws, but the chains are still in front. Bring the points before both.",
    ),
    "draws first": Mistake(
        lambda draws: draws.reshape(-1, draws.shape[-1]),
        "Your rows are draws and your columns points. One row for each point was asked for.",
    ),
    "chains averaged": Mistake(
        lambda draws: draws.mean(axis=0).T,
        "You averaged the chains. An average of draws is no draw: it varies too little.",
    ),
    "one chain": Mistake(
        lambda draws: draws[0].T,
        "You kept one chain. All of them are draws from the same posterior: keep them side by side.",
    ),
    "draws averaged": Mistake(
        lambda draws: draws.mean(axis=1).T,
        "You averaged over the draws. All of them are wanted, not their mean.",
    ),
    "draws before points": Mistake(
        lambda draws: draws.transpose(1, 2, 0),
        "Your first axis is the draws. Put the points in front, and chains and draws into one axis behind them.",
    ),
    "chains apart": Mistake(
        lambda draws: np.moveaxis(draws, -1, 0),
        "The points are in front. Now put the chains of each point into one row.",
    ),
    "chains apart, turned": Mistake(
        lambda draws: draws.T,
        "The points are in front. Now put all the draws of a point into one row, whichever chain they come from.",
    ),
}
QUANTILES_MISTAKES = {
    "over the points": Mistake(lambda draws, count: np.quantile(draws, _levels(count), axis=0), WRONG_AXIS),
    "over the points, turned": Mistake(lambda draws, count: np.quantile(draws, _levels(count), axis=0).T, WRONG_AXIS_TURNED),
    "over everything": Mistake(
        lambda draws, count: np.quantile(draws, _levels(count)),
        "You took the quantiles of all points thrown together. Each point has its own predictive: say along which axis.",
    ),
    "levels first": Mistake(
        lambda draws, count: _by_interpolation(draws, count).T,
        "The quantiles are right, and the levels are the rows: NumPy puts them first. One row for each point, please.",
    ),
    "reshaped for turned": Mistake(
        lambda draws, count: np.quantile(draws, _levels(count), axis=-1).reshape(len(draws), count),
        "NumPy puts the levels first. A reshape gives the right shape and leaves the numbers in the wrong places: turn the array instead.",
    ),
    "both ends": Mistake(
        lambda draws, count: np.quantile(draws, np.linspace(0, 1, count), axis=-1).T,
        "Your levels begin at 0: that is the smallest draw, which says more about the number of draws than about the predictive.",
    ),
    "up to one": Mistake(
        lambda draws, count: np.quantile(draws, np.arange(1, count + 1) / count, axis=-1).T,
        "Your last level is 1: that is the largest draw. With count + 1 in the denominator neither end is among them.",
    ),
    "from zero": Mistake(
        lambda draws, count: np.quantile(draws, np.arange(count) / (count + 1), axis=-1).T,
        "You count from 0, so that the first level is the smallest draw. k runs from 1 to count.",
    ),
    "middles": Mistake(
        lambda draws, count: np.quantile(draws, (np.arange(count) + 0.5) / count, axis=-1).T,
        "Those are the middles of `count` equal parts. The levels here are k / (count + 1).",
    ),
    "per cent for shares": Mistake(
        lambda draws, count: np.percentile(draws, _levels(count), axis=-1).T,
        "np.percentile counts from 0 to 100: all your levels lie below one per cent.",
    ),
    "no interpolation": Mistake(
        lambda draws, count: np.quantile(draws, _levels(count), axis=-1, method="lower").T,
        "You took the draw below. Between two draws the quantile moves on a straight line.",
    ),
    "places counted to S": Mistake(
        _between_places,
        "You used S where S - 1 belongs: counted from 0 the last of S draws has place S - 1, so that level p stands at p (S - 1).",
    ),
    "the nearest draw": Mistake(
        lambda draws, count: np.quantile(draws, _levels(count), axis=-1, method="nearest").T,
        "You took the nearest draw. Between two draws the quantile moves on a straight line.",
    ),
    "high to low": Mistake(
        lambda draws, count: np.quantile(draws, _levels(count)[::-1], axis=-1).T,
        "Your levels run from high to low. They are k / (count + 1), and k runs from 1 to count.",
    ),
    "over everything, repeated": Mistake(
        lambda draws, count: np.tile(np.quantile(draws, _levels(count)), (len(draws), 1)),
        "All your rows are the same: the quantiles of all points thrown together. Each point has its own predictive.",
    ),
    "a draw that exists": Mistake(
        lambda draws, count: np.quantile(draws, _levels(count), axis=-1, method="inverted_cdf").T,
        "You took one of the draws. Between two draws the quantile moves on a straight line.",
    ),
}


def points_first_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 810])

    def rows_sorted(given: Any, draws: np.ndarray) -> Any:  # within a row the draws may stand in any order
        parts = tuple(np.sort(part, axis=-1) if part.ndim else part for part in numbers(given(draws)))
        return parts if len(parts) > 1 else parts[0]

    return judge_through(
        answer,
        rows_sorted,
        [(rng.normal(size=shape),) for shape in [(3, 5, 4), (2, 7, 6), (4, 3, 1)]],
        lambda draws: np.sort(_picked(draws), axis=-1),
        POINTS_FIRST_MISTAKES,
        right="Right. Engines put the points last; a summary of the predictive needs them first.",
        nudge="Not these rows. Row n holds draws[:, :, n] and nothing else.",
    )


def quantiles_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 811])
    shapes = [((5, 8), 3), ((4, 11), 6), ((7, 7), 1)]
    return judge(
        answer,
        [(rng.normal(size=shape), count) for shape, count in shapes],
        _by_interpolation,
        QUANTILES_MISTAKES,
        right="Right. This is all that the decision maker will be told about a point.",
        nudge="Not these quantiles. With count = 3 the draws 0, 12, 4 of a point give 2, 4, 8. There are several definitions: "
        "here level p has place p (S - 1) among the sorted draws, counted from 0.",
    )


TASKS = (
    Task(
        "posthoc/characterise/points-first",
        "Characterise: the draws in their place",
        1,
        7,
        points_first_stub,
        (
            "Two things: the points must come to the front, and chains and draws must become one axis. "
            "What does a reshape do to the order in memory?",
            "out[n, c * D + d] = draws[c, d, n] for chain c, draw d of D, point n (the order within a row does not matter).",
            "Begin with `front = np.moveaxis(draws, -1, 0)`",
        ),
        POINTS_FIRST_MISTAKES,
        points_first_verdict,
    ),
    Task(
        "posthoc/characterise/quantiles",
        "Characterise: the quantiles",
        1,
        8,
        quantiles_stub,
        (
            "Each point has a row of draws, and gets a row of quantiles. The levels cut the probability into count + 1 equal parts.",
            "The levels are k / (count + 1) for k = 1, ..., count; np.quantile interpolates as asked, along the axis that you name.",
            "Begin with `levels = np.arange(1, count + 1) / (count + 1)`",
        ),
        QUANTILES_MISTAKES,
        quantiles_verdict,
    ),
)
