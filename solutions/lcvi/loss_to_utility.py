"""From loss to utility. Roads: counting losses; a tangent drawn by differences; the grid point nearest to the mean, and sums one by one."""

import math

import numpy as np
from scipy.optimize import brentq

from course_pkg.checks.record import Record
from solutions.lcvi._tools import slope


def by_counting(y, h, q):
    losses = np.abs(y - h).ravel()
    return min(loss for loss in losses if (losses <= loss).mean() >= q)


def by_differences(loss, M):
    """Try rates until the tangent at no loss, drawn by differences, meets zero at M."""
    rate = brentq(lambda rate: 1 + M * slope(lambda at: math.exp(-rate * at), 0.0), 1e-4, 1e3, xtol=1e-9)
    return np.array([math.exp(-rate * at) for at in loss]), np.array([slope(lambda x: math.exp(-rate * x), at) for at in loss])


def by_trying(y, grid, M):
    nearest = min(grid, key=lambda h: abs(h - math.fsum(y) / len(y)))
    return nearest, max(grid, key=lambda h: math.fsum(math.exp(-((value - h) ** 2) / M) for value in y))


def fits(rng):
    # of these numbers of losses, all ways to define a sample quantile that are in use give the same
    for shape, q in [((7, 3), 0.7), ((17, 3), 0.9), ((13, 7), 0.8)]:
        mean, spread = rng.normal(0, 2, shape[1]), rng.uniform(0.5, 3, shape[1])
        yield mean + spread * rng.normal(size=shape), mean + rng.normal(0, 0.5, shape[1]), q


def skewed(rng):
    for _ in range(3):
        y = np.concatenate([rng.normal(1, 0.7, 12), rng.uniform(4, 9, 5)])
        yield y, np.linspace(-1, 8, 46) + rng.uniform(0, 0.2), rng.uniform(2.0, 5.0)


SCALE = Record(
    cases=fits,
    reference=by_counting,
    right="Right. It is in the unit of the loss, and it comes from the approximation before it is calibrated.",
    nudge="Not that scale. With y = [[5, 4, 9], [1, 9, 0], [6, 5, 8]], h = [2, 7, 5] and q = 0.75 it is 4.",
    hints=(
        "First all losses, then one quantile of all of them.",
        "The losses are |y_sn - h_n|, S times N of them. M is the number below which the share q of them lies.",
        "Begin with `losses = np.abs(y - h)`",
    ),
    mistakes={
        "You took the quantile of utilities. M is a loss: it says from where on a loss counts as a total loss.": "losses.ravel() -> losses.max() - losses",
        "That is the largest loss of these draws. With more draws it grows without end, and calibration fades.": "np.quantile(losses.ravel(), q) -> losses.max()",
        "You averaged the quantiles of the rows. That is not the quantile of all the losses.": "losses.ravel(), q) -> losses, q, axis=0).mean()",
        "You averaged over the draws before you took the quantile. M is about single losses, not about rows' risks.": "losses.ravel() -> losses.mean(axis=0)",
        "Your losses have a sign. The loss is |y - h|.": "np.abs(y - h) -> y - h",
    },
)
EXPONENTIAL = Record(
    cases=lambda rng: [(np.append(0.0, rng.uniform(0.3, 4.0, 4)), M) for M in rng.uniform([0.6, 2.0], [0.8, 5.0])],
    reference=by_differences,
    right="Right. Near no loss it behaves as 1 - loss / M does, and no loss, however large, costs more than 1.",
    nudge="Not these two. With M = 2 and a loss of 2 the utility is 0.368 and its slope -0.184.",
    hints=(
        "The tangent starts at 1 and falls with the slope of the utility at no loss. Where is it zero?",
        "The tangent at 0 is 1 - gamma l, and it shall vanish at l = M. The derivative of exp(-gamma l) in l has two factors.",
        "Begin with `gamma = 1 / M`",
    ),
    mistakes={
        "The utility is right. The exponent of your slope has lost its minus sign: it grows with the loss, and only at 0 is it right.": "-gamma * utility -> -gamma / utility",
        "The utility is right. Your slope is that at no loss; it flattens as the loss grows.": "-gamma * utility -> 0 * loss - gamma",
        "The utility is right. Its slope lacks the inner derivative, gamma.": "-gamma * utility -> -utility",
        "That is the tangent, which serves to find gamma. The utility is exp(-gamma loss).": "np.exp(-gamma * loss) -> 1 - gamma * loss ;; -gamma * utility -> 0 * loss - gamma",
    },
    parts=("the utility", "the slope"),
)
BEST = Record(
    cases=skewed,
    reference=by_trying,
    right="Right. The exponential hardly looks at what is far away, so its decision stays with the crowd.",
    nudge="Not those two. With y = [2, 5, 5, 5], grid = [2, 3, 4, 5] and M = 2 they are 4 and 5.",
    hints=(
        "For each decision of the grid, average the utility over the outcomes. Do it for both utilities.",
        "h_1 maximises mean_s (M - (y_s - h)^2), h_2 maximises mean_s exp(-(y_s - h)^2 / M).",
        "Begin with `losses = (y[:, None] - grid) ** 2`",
    ),
    mistakes={
        "Both of yours minimise the mean loss. Take the exponential of each loss first and average afterwards; the two are not the same.": "bent.mean(axis=0) -> straight.mean(axis=0)",
        "Both of yours maximise the exponential. The first shall maximise the mean of M - loss.": "straight.mean(axis=0) -> bent.mean(axis=0)",
        "Your first decision is the mean itself. Take the decisions from the grid.": "grid[straight.mean(axis=0).argmax()] -> y.mean()",
        "Your second utility is exp(-M loss). It is exp(-loss / M).": "/ M -> * M",
        "You cut M minus the loss off at 0. Then it is no straight line of the loss any more.": "M - losses -> np.maximum(M - losses, 0)",
    },
    parts=("the first decision", "the second"),
    apart=True,
)
TASKS = {"scale": SCALE, "exponential": EXPONENTIAL, "best": BEST}
