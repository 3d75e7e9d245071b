"""One quantile for all points. Roads: the expected loss by quadrature, minimised over levels; every level tried on every point."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from course_pkg.checks.record import Record

NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)


def by_search(q, shift, spread, believed):
    def expected_loss(h):
        total = 0.0
        for low, high, cost in ((shift - 9 * spread, h, 1 - q), (h, shift + 9 * spread, q)):  # the loss has its corner at h
            y = (low + high) / 2 + (high - low) / 2 * NODES
            total += cost * (high - low) / 2 * WEIGHTS @ (abs(y - h) * norm.pdf(y, shift, spread))
        return total

    ends = (shift - 6 * spread, shift + 6 * spread)
    return norm.cdf(minimize_scalar(expected_loss, bounds=ends, method="bounded", options={"xatol": 1e-9}).x / believed)


def by_trying(levels, quantiles, y, q):
    costs = [sum(q * (a - h) if a > h else (1 - q) * (h - a) for a, h in zip(y, column, strict=True)) for column in quantiles.T]
    return levels[costs.index(min(costs))]


def beliefs(rng):
    for q, sign in [(0.1, 1), (0.8, -1), (0.5, 1)]:
        spread, believed = rng.uniform([0.6, 1.3], [1.1, 2.0])
        yield q, sign * rng.uniform(0.3, 0.8), spread, believed


def outcomes(rng):
    levels = np.arange(1, 20) / 20
    for q in (0.1, 0.3, 0.8):
        wide = rng.random(60) < 0.3
        believed = np.where(wide, 6.0, 1.0)
        # a narrow predictive lies too high and a wide one too low: few points, where much is at stake, against many
        y = np.where(wide, 0.6, -0.5) * believed + 0.5 * believed * rng.normal(size=60)
        yield levels, believed[:, None] * norm.ppf(levels), y, q


LEVEL = Record(
    cases=beliefs,
    reference=by_search,
    right="Right. With no shift and q = 1/2 it is 1/2, however wrong the width: there the error costs nothing.",
    nudge="Not that level. With q = 1/2, shift = 1 and believed = 2 it is 0.691, whatever the spread; with q = 0.9, shift = 0, "
    "spread = 2 and believed = 4 it is 0.739.",
    hints=(
        "First find the best decision under the truth, then ask where the model's predictive has it.",
        "The best decision is the true q-quantile, shift + spread * z with Phi(z) = q. A normal of width s has h at level Phi(h / s).",
        "Begin with `best = shift + spread * norm.ppf(q)`",
    ),
    mistakes={
        "That level is right for somebody whose predictive is right. Where does the true q-quantile lie in this one?": "norm.cdf(best / believed) -> q",
        "You asked how likely the truth lies below the model's quantile. It is the other way round.": "shift + spread -> believed ;; best / believed -> (best - shift) / spread",
        "You took the true (1 - q)-quantile. Deciding too low costs q: with a large q, decide high.": "ppf(q) -> ppf(1 - q)",
    },
)
CHOOSE = Record(
    cases=outcomes,
    reference=by_trying,
    right="Right. This is the least that anything cleverer has to beat: it learns one number, for all points.",
    nudge="Not that level. With levels [0.2, 0.5, 0.8], y = [8, 8, 8], q = 0.25 and the quantiles [0, 8, 12], [0, 11, 12] and "
    "[0, 11, 12] of the three points the levels cost 2, 1.5 and 3, so that 0.5 is the best.",
    hints=(
        "Pretend, for one level after another, that everybody had decided by it. What would it have cost?",
        "Risk of level k: the mean over n of q (y_n - h_nk) where h_nk <= y_n, and of (1 - q)(h_nk - y_n) where it is larger.",
        "Begin with `gap = y[:, None] - quantiles`",
    ),
    mistakes={
        "The two sides of your loss have changed places: deciding too low costs q for each unit, too high 1 - q.": "gap = y[:, None] - quantiles -> q, gap = 1 - q, y[:, None] - quantiles",
        "Your loss is as dear on one side as on the other.": "gap = y[:, None] - quantiles -> q, gap = 0.5, y[:, None] - quantiles",
        "You did not look at y. The level q is right only if the predictive is.": "cost.mean(axis=0) -> abs(levels - q)",
        "You let each point choose, and averaged. All points must use one level.": "np.argmin(cost.mean(axis=0))] -> cost.argmin(axis=1)].mean()",
        "That is the place of the level in the list. The level was asked for.": "levels[np.argmin(cost.mean(axis=0))] -> np.argmin(cost.mean(axis=0))",
        "You chose the level below which a share q of the outcomes lies. Where much is at stake at a few points, it is not the cheapest.": (
            "cost.mean(axis=0) -> abs((gap < 0).mean(axis=0) - q)"
        ),
        "You squared the distances. The tilted loss grows with the distance itself.": "* gap -> * gap * abs(gap) || cost = -> cost = gap**2  #",
        "A decision that is too high has a negative cost in yours. Take the distance, not the difference with its sign.": "(q - 1) * gap -> (1 - q) * gap",
        "": "np.argmin(cost.mean(axis=0)) -> np.bincount(cost.argmin(axis=1)).argmax()",
    },
    apart=True,
)
TASKS = {"level": LEVEL, "choose": CHOOSE}
