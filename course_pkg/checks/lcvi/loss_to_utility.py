"""From loss to utility. Roads: counting losses; a tangent drawn by differences; the grid point nearest to the mean, and sums one by one."""

import math
from typing import Any

import numpy as np
from scipy.optimize import brentq

from course_pkg.checks._judge import Mistake, Task, Verdict, judge
from course_pkg.checks.lcvi._tools import slope


def _scale_by_counting(y: np.ndarray, h: np.ndarray, q: float) -> float:
    """The smallest loss such that the share q of all losses is no larger."""
    losses = [abs(float(value - decision)) for row in y for value, decision in zip(row, h, strict=True)]
    return min(loss for loss in losses if sum(other <= loss for other in losses) >= q * len(losses))


def _exponential_by_differences(loss: np.ndarray, M: float) -> tuple[np.ndarray, np.ndarray]:
    """Try rates until the tangent at no loss, drawn by differences, meets zero at M."""

    def height(rate: float) -> float:
        return 1 + M * slope(lambda at: math.exp(-rate * at), 0.0)

    rate = brentq(height, 1e-4, 1e3, xtol=1e-9)
    return np.array([math.exp(-rate * at) for at in loss]), np.array([slope(lambda x: math.exp(-rate * x), at) for at in loss])


def _best_by_trying(y: np.ndarray, grid: np.ndarray, M: float) -> tuple[float, float]:
    nearest = min(grid, key=lambda h: abs(h - math.fsum(y) / len(y)))
    return float(nearest), float(max(grid, key=lambda h: math.fsum(math.exp(-((value - h) ** 2) / M) for value in y)))


def scale_stub(y: np.ndarray, h: np.ndarray, q: float) -> Any:
    raise NotImplementedError


def exponential_stub(loss: np.ndarray, M: float) -> Any:
    raise NotImplementedError


def best_stub(y: np.ndarray, grid: np.ndarray, M: float) -> Any:
    raise NotImplementedError


def _losses(y, h):
    return np.abs(y - h)


SCALE_MISTAKES = {
    "the other end": Mistake(
        lambda y, h, q: np.quantile(_losses(y, h), 1 - q),
        "That is the quantile at 1 - q. The share q of the losses shall lie below M.",
    ),
    "quantile of utilities": Mistake(
        lambda y, h, q: np.quantile(_losses(y, h).max() - _losses(y, h), q),
        "You took the quantile of utilities. M is a loss: it says from where on a loss counts as a total loss.",
    ),
    "largest loss": Mistake(
        lambda y, h, q: _losses(y, h).max(),
        "That is the largest loss of these draws. With more draws it grows without end, and calibration fades.",
    ),
    "one for each row": Mistake(
        lambda y, h, q: np.quantile(_losses(y, h), q, axis=0),
        "You found a scale for each row. One M serves all: take the quantile over draws and rows together.",
    ),
    "mean of the rows' quantiles": Mistake(
        lambda y, h, q: np.quantile(_losses(y, h), q, axis=0).mean(),
        "You averaged the quantiles of the rows. That is not the quantile of all the losses.",
    ),
    "quantile of mean losses": Mistake(
        lambda y, h, q: np.quantile(_losses(y, h).mean(axis=0), q),
        "You averaged over the draws before you took the quantile. M is about single losses, not about rows' risks.",
    ),
    "signed": Mistake(
        lambda y, h, q: np.quantile(y - h, q),
        "Your losses have a sign. The loss is |y - h|.",
    ),
    "signed, turned": Mistake(
        lambda y, h, q: np.quantile(h - y, q),
        "You took h - y for the loss. An outcome above the decision costs, too: |y - h|.",
    ),
    "squared": Mistake(
        lambda y, h, q: np.quantile((y - h) ** 2, q),
        "That is for squared loss. Here the loss is |y - h|.",
    ),
    "quantile of the outcomes": Mistake(
        lambda y, h, q: np.quantile(y, q),
        "That is a quantile of the outcomes. A quantile of the losses was asked for.",
    ),
    "mean": Mistake(
        lambda y, h, q: _losses(y, h).mean(),
        "That is the mean loss. It does not depend on q.",
    ),
}
EXPONENTIAL_MISTAKES = {
    "sign in the slope's exponent": Mistake(
        lambda loss, M: (np.exp(-loss / M), -np.exp(loss / M) / M),
        "The utility is right. The exponent of your slope has lost its minus sign: it grows with the loss, and only at 0 is it right.",
    ),
    "gamma is M": Mistake(
        lambda loss, M: (np.exp(-loss * M), -M * np.exp(-loss * M)),
        "You took gamma = M. gamma times a loss must have no unit.",
    ),
    "slope at zero": Mistake(
        lambda loss, M: (np.exp(-loss / M), np.full(np.shape(loss), -1 / M)),
        "The utility is right. Your slope is that at no loss; it flattens as the loss grows.",
    ),
    "slope without gamma": Mistake(
        lambda loss, M: (np.exp(-loss / M), -np.exp(-loss / M)),
        "The utility is right. Its slope lacks the inner derivative, gamma.",
    ),
    "slope upwards": Mistake(
        lambda loss, M: (np.exp(-loss / M), np.exp(-loss / M) / M),
        "The utility is right, and it falls as the loss grows: its slope is negative.",
    ),
    "grows with the loss": Mistake(
        lambda loss, M: (np.exp(loss / M), np.exp(loss / M) / M),
        "Your utility grows with the loss.",
    ),
    "the tangent": Mistake(
        lambda loss, M: (1 - loss / M, np.full(np.shape(loss), -1 / M)),
        "That is the tangent: it serves to find gamma. The utility itself is exp(-gamma loss), and never negative.",
    ),
    "slope of the logarithm": Mistake(
        lambda loss, M: (np.exp(-loss / M), -np.exp(-loss / M) * loss / M),
        "The utility is right. You differentiated by the wrong thing: the slope in the loss is asked for, at fixed gamma.",
    ),
}


def _best(y, grid, first, second):
    return grid[np.argmin(first(y[:, None], grid).mean(axis=0))], grid[np.argmax(second(y[:, None], grid))]


def _squared(y, h):
    return (y - h) ** 2


BEST_MISTAKES = {
    "both the mean": Mistake(
        lambda y, grid, M: (_best_by_trying(y, grid, M)[0],) * 2,
        "Both of yours minimise the mean loss. Take the exponential of each loss first and average afterwards; the two are not the same.",
    ),
    "both the exponential": Mistake(
        lambda y, grid, M: (_best_by_trying(y, grid, M)[1],) * 2,
        "Both of yours maximise the exponential. The first shall maximise the mean of M - loss.",
    ),
    "not from the grid": Mistake(
        lambda y, grid, M: (y.mean(), _best_by_trying(y, grid, M)[1]),
        "Your first decision is the mean itself. Take the decisions from the grid.",
    ),
    "gamma is M": Mistake(
        lambda y, grid, M: _best(y, grid, _squared, lambda y, h: np.exp(-_squared(y, h) * M).mean(axis=0)),
        "Your second utility is exp(-M loss). It is exp(-loss / M).",
    ),
    "absolute loss": Mistake(
        lambda y, grid, M: _best(y, grid, lambda y, h: np.abs(y - h), lambda y, h: np.exp(-np.abs(y - h) / M).mean(axis=0)),
        "Those are the decisions for absolute loss. Here it is squared.",
    ),
    "turned round": Mistake(
        lambda y, grid, M: _best_by_trying(y, grid, M)[::-1],
        "The two are right and have changed places: first M minus the loss, then the exponential.",
    ),
    "places in the grid": Mistake(
        lambda y, grid, M: tuple(float(np.flatnonzero(grid == h)[0]) for h in _best_by_trying(y, grid, M)),
        "Those are the places of the decisions in the grid. Return the decisions.",
    ),
    "the worst": Mistake(
        lambda y, grid, M: (grid[np.argmax(_squared(y[:, None], grid).mean(axis=0))], _best_by_trying(y, grid, M)[1]),
        "Your first decision has the largest expected loss. M minus the loss is to be large.",
    ),
    "both the worst": Mistake(
        lambda y, grid, M: tuple(
            grid[np.argmin(value)]
            for value in (M - _squared(y[:, None], grid).mean(axis=0), np.exp(-_squared(y[:, None], grid) / M).mean(axis=0))
        ),
        "Those are the worst decisions. A utility is to be large.",
    ),
    "cut off at zero": Mistake(
        lambda y, grid, M: (grid[np.argmax(np.maximum(M - _squared(y[:, None], grid), 0).mean(axis=0))], _best_by_trying(y, grid, M)[1]),
        "You cut M minus the loss off at 0. Then it is no straight line of the loss any more.",
    ),
}


def scale_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 710])
    cases = []
    # of these numbers of losses, all ways to define a sample quantile that are in use give the same
    for shape, q in [((7, 3), 0.7), ((17, 3), 0.9), ((13, 7), 0.8)]:
        mean, spread = rng.normal(0, 2, shape[1]), rng.uniform(0.5, 3, shape[1])
        cases.append((mean + spread * rng.normal(size=shape), mean + rng.normal(0, 0.5, shape[1]), q))
    return judge(
        answer,
        cases,
        _scale_by_counting,
        SCALE_MISTAKES,
        right="Right. It is in the unit of the loss, and it comes from the approximation before it is calibrated.",
        nudge="Not that scale. With y = [[5, 4, 9], [1, 9, 0], [6, 5, 8]], h = [2, 7, 5] and q = 0.75 it is 4.",
    )


def exponential_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 711])
    return judge(
        answer,
        [(np.concatenate([[0.0], rng.uniform(0.3, 4.0, 4)]), float(M)) for M in rng.uniform([0.6, 2.0], [0.8, 5.0])],
        _exponential_by_differences,
        EXPONENTIAL_MISTAKES,
        right="Right. Near no loss it behaves as 1 - loss / M does, and no loss, however large, costs more than 1.",
        nudge="Not these two. With M = 2 and a loss of 2 the utility is 0.368 and its slope -0.184.",
        parts=("the utility", "the slope"),
    )


def best_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 712])
    cases: list[tuple[Any, ...]] = []
    while len(cases) < 3:
        y = np.concatenate([rng.normal(1, 0.7, 12), rng.uniform(4, 9, 5)])
        case = (y, np.linspace(-1, 8, 46) + float(rng.uniform(0, 0.2)), float(rng.uniform(2.0, 5.0)))
        want = _best_by_trying(*case)
        others = {name: tuple(map(float, mistake.answer(*case))) for name, mistake in BEST_MISTAKES.items()}
        apart = others["cut off at zero"] != others["both the exponential"]
        if apart and want not in others.values():  # else one could not be told from another
            cases.append(case)
    return judge(
        answer,
        cases,
        _best_by_trying,
        BEST_MISTAKES,
        right="Right. The exponential hardly looks at what is far away, so its decision stays with the crowd.",
        nudge="Not those two. With y = [0, 2, 4, 4], grid = [0, 1, 2, 3] and M = 2 they are 2 and 3.",
        parts=("the first decision", "the second"),
    )


TASKS = (
    Task(
        "lcvi/loss-to-utility/scale",
        "From loss to utility: the scale",
        1,
        8,
        scale_stub,
        (
            "First all losses, then one quantile of all of them.",
            "The losses are |y_sn - h_n|, S times N of them. M is the number below which the share q of them lies.",
            "Begin with `losses = np.abs(y - h)`",
        ),
        SCALE_MISTAKES,
        scale_verdict,
    ),
    Task(
        "lcvi/loss-to-utility/exponential",
        "From loss to utility: the exponential",
        1,
        8,
        exponential_stub,
        (
            "The tangent starts at 1 and falls with the slope of the utility at no loss. Where is it zero?",
            "The tangent at 0 is 1 - gamma l, and it shall vanish at l = M. The derivative of exp(-gamma l) in l has two factors.",
            "Begin with `gamma = 1 / M`",
        ),
        EXPONENTIAL_MISTAKES,
        exponential_verdict,
    ),
    Task(
        "lcvi/loss-to-utility/best",
        "From loss to utility: is it the same decision?",
        1,
        8,
        best_stub,
        (
            "For each decision of the grid, average the utility over the outcomes. Do it for both utilities.",
            "h_1 maximises mean_s (M - (y_s - h)^2), h_2 maximises mean_s exp(-(y_s - h)^2 / M).",
            "Begin with `losses = (y[:, None] - grid) ** 2`",
        ),
        BEST_MISTAKES,
        best_verdict,
    ),
)
