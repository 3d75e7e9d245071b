"""Tilted and imbalanced losses from weighted draws. Road: the average loss of every candidate, and the least of them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from course_pkg.checks._judge import Mistake, Task, Verdict, judge


def _cheapest(y: np.ndarray, weights: np.ndarray, below: float, above: float) -> float:
    """Brute force: an overshoot costs ``above`` a unit, an undershoot ``below``; the average has its corners at the draws."""
    excess = y[:, None] - y[None, :]  # draw minus candidate
    loss = np.where(excess >= 0, below * excess, -above * excess)
    return float(y[np.argmin(weights @ loss / weights.sum())])


def _unnormalised(y: np.ndarray, weights: np.ndarray, q: float) -> float:
    order = np.argsort(y)
    place = int(np.searchsorted(np.cumsum(weights[order]), q))
    return float(y[order][min(place, len(y) - 1)])


def _unsorted(y: np.ndarray, weights: np.ndarray, q: float) -> float:
    return float(y[np.searchsorted(np.cumsum(weights) / weights.sum(), q)])


PART_1_FIRST = " If part 1 is not right yet, mend that first."


def tilted_stub(y: np.ndarray, weights: np.ndarray, q: float) -> Any:
    raise NotImplementedError


def imbalanced_stub(y: np.ndarray, weights: np.ndarray, a: float, b: float) -> Any:
    raise NotImplementedError


TILTED_MISTAKES = {
    "other tail": Mistake(
        lambda y, weights, q: _cheapest(y, weights, 1 - q, q),
        "You took the other tail. q is what a unit of undershooting costs: for large q, aim high.",
    ),
    "weights ignored": Mistake(
        lambda y, weights, q: _cheapest(y, np.ones_like(y), q, 1 - q),
        "You treated all draws alike. A draw counts in proportion to its weight.",
    ),
    "weights not sorted along": Mistake(
        lambda y, weights, q: _cheapest(np.sort(y), weights, q, 1 - q),
        "You sorted the draws and left their weights in the old order. Sort both by the same permutation.",
    ),
    "weights not normalised": Mistake(_unnormalised, "The weights need not sum to one: compare with q times their sum."),
    "not sorted": Mistake(_unsorted, "Sort the draws, and the weights along with them."),
}
IMBALANCED_MISTAKES = {
    "a and b swapped": Mistake(
        lambda y, weights, a, b: _cheapest(y, weights, b, a),
        "a and b have changed places: a is the price of deciding too low, so a large a should push the decision up." + PART_1_FIRST,
    ),
    "a read as a quantile": Mistake(
        lambda y, weights, a, b: _cheapest(y, weights, a, 1 - a),
        "You took the a-quantile. Only the ratio of a and b matters: doubling both must change nothing." + PART_1_FIRST,
    ),
    "weights ignored": Mistake(
        lambda y, weights, a, b: _cheapest(y, np.ones_like(y), a, b),
        "You treated all draws alike. A draw counts in proportion to its weight." + PART_1_FIRST,
    ),
    "weights not sorted along": Mistake(
        lambda y, weights, a, b: _cheapest(np.sort(y), weights, a, b),
        "The draws are sorted and their weights are not." + PART_1_FIRST,
    ),
}


def _draws(seed: int, stream: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([seed, stream])
    y = rng.gamma(2.0, 1.0, 81)
    return y, np.exp(-0.5 * y) * rng.uniform(0.5, 2.0, 81)


def _verdict(
    answer: Any,
    seed: int,
    settings: list[tuple[float, ...]],
    cheapest: Callable[..., float],
    mistakes: dict[str, Mistake],
    right: str,
    then: str,
) -> Verdict:
    cases = [(*_draws(seed, 10 + number), *setting) for number, setting in enumerate(settings)]
    nudge = (
        "Not that number. The average loss is a chain of straight pieces with corners at the draws, so the answer is a draw. "
        "With equal weights and equal prices it is the median."
    ) + then
    return judge(answer, cases, cheapest, mistakes, right=right, nudge=nudge)


def tilted_verdict(answer: Any, seed: int = 0) -> Verdict:
    return _verdict(
        answer,
        seed,
        [(0.2,), (0.83,), (0.65,)],
        lambda y, weights, q: _cheapest(y, weights, q, 1 - q),
        TILTED_MISTAKES,
        "Right. The tilted loss asks for a quantile, and weighted draws have one, too.",
        then="",
    )


def imbalanced_verdict(answer: Any, seed: int = 0) -> Verdict:
    return _verdict(
        answer,
        seed,
        [(0.6, 1.8), (0.9, 0.2), (0.35, 0.35)],
        _cheapest,
        IMBALANCED_MISTAKES,
        "Right. Only the ratio of the two prices matters, as an affine change of the loss never changes the decision.",
        then=PART_1_FIRST,
    )


TASKS = (
    Task(
        "decisions/bayes-estimators-tilted/tilted",
        "Bayes estimators: the tilted loss",
        1,
        12,
        tilted_stub,
        (
            "Move h a little to the right. For which draws does the loss grow, for which does it fall, and how fast?",
            "The slope of the risk at h is (1 - q) P(y < h) - q P(y > h). It changes sign where P(y <= h) reaches q.",
            "Begin with `order = np.argsort(y)`",
        ),
        TILTED_MISTAKES,
        tilted_verdict,
    ),
    Task(
        "decisions/bayes-estimators-tilted/imbalanced",
        "Bayes estimators: the imbalanced absolute loss",
        1,
        8,
        imbalanced_stub,
        (
            "Divide the loss by a number so that its two prices add up to one. Does that change the decision?",
            "a = (a + b) q with q = a/(a + b), and b = (a + b)(1 - q).",
            "You have `tilted`. With which q does it answer this question?",
        ),
        IMBALANCED_MISTAKES,
        imbalanced_verdict,
    ),
)
