"""Model choice and point estimation as decisions. Road: one toss after the other; every candidate's average loss."""

from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from course_pkg.checks._judge import Mistake, Task, Verdict, judge


def _toss_by_toss(heads: int, n: int, prior: float) -> float:
    """Bayes' theorem after each toss; under the second model the next head has probability (heads so far + 1)/(tosses + 2)."""
    belief, seen = prior, 0
    for toss in range(n):
        head = toss < heads
        chance = (seen + 1) / (toss + 2)
        second = chance if head else 1 - chance
        belief = belief * second / (belief * second + (1 - belief) * 0.5)
        seen += head
    return belief


def _points_by_search(theta: np.ndarray, p: np.ndarray) -> tuple[float, float, float]:
    wrong = [p[theta != candidate].sum() for candidate in theta]
    absolute = [p @ np.abs(theta - candidate) for candidate in theta]
    squared = minimize_scalar(lambda h: float(p @ (theta - h) ** 2), bounds=(theta.min(), theta.max()), method="bounded")
    return float(theta[np.argmin(wrong)]), float(theta[np.argmin(absolute)]), float(squared.x)


def posterior_stub(heads: int, n: int, prior: float) -> Any:
    raise NotImplementedError


def points_stub(theta: np.ndarray, p: np.ndarray) -> Any:
    raise NotImplementedError


def _from_ratio(ratio: float, prior: float) -> float:
    return prior * ratio / (prior * ratio + 1 - prior)


def _odds(probability: float) -> float:
    return probability / (1 - probability)


def _plugged_in(heads: int, n: int, prior: float) -> float:
    best = heads / n
    return _from_ratio(best**heads * (1 - best) ** (n - heads) * 2.0**n, prior)


def _positions(theta: np.ndarray, p: np.ndarray, *which: int) -> tuple[float, ...]:
    """The three estimates, with those in ``which`` replaced by their place in theta."""
    points = _points_by_search(theta, p)
    return tuple(float(np.flatnonzero(theta == value)[0]) if place in which else value for place, value in enumerate(points))


POSTERIOR_MISTAKES = {
    "best theta plugged in": Mistake(
        _plugged_in,
        "You gave the second model its best theta, chosen after seeing the data. Its evidence is the average over all of them.",
    ),
    "prior ignored": Mistake(
        lambda heads, n, prior: _toss_by_toss(heads, n, 0.5),
        "You left out the prior probability of the models: yours answers only someone who began at one half.",
    ),
    "orders counted once": Mistake(
        lambda heads, n, prior: _from_ratio(2.0**n / (n + 1), prior),
        "One model's evidence is for the sequence, the other's for the count. Use the same data on both sides.",
    ),
    "the other model": Mistake(
        lambda heads, n, prior: 1 - _toss_by_toss(heads, n, prior),
        "That is the probability of the fair coin. The other one was asked for.",
    ),
    "odds": Mistake(
        lambda heads, n, prior: _odds(_toss_by_toss(heads, n, prior)),
        "A probability cannot exceed 1: you returned odds.",
    ),
    "ratio of evidences": Mistake(
        lambda heads, n, prior: _odds(_toss_by_toss(heads, n, 0.5)),
        "A probability cannot exceed 1: you returned the ratio of the two evidences, which knows nothing of the prior.",
    ),
    "prior swapped": Mistake(
        lambda heads, n, prior: _toss_by_toss(heads, n, 1 - prior),
        "`prior` belongs to the second model.",
    ),
}
POINTS_MISTAKES = {
    "reversed": Mistake(
        lambda theta, p: _points_by_search(theta, p)[::-1],
        "All three numbers are there, in the wrong order: zero-one loss first, then absolute, then squared.",
    ),
    "probabilities ignored": Mistake(
        lambda theta, p: (_points_by_search(theta, p)[0], float(np.median(theta)), float(theta.mean())),
        "Median and mean must use the probabilities: half of the mass, not half of the values.",
    ),
    "mean for everything": Mistake(
        lambda theta, p: (_points_by_search(theta, p)[2],) * 3,
        "The mean answers squared loss only. Under zero-one loss a value that cannot occur is always wrong.",
    ),
    "two positions": Mistake(
        lambda theta, p: _positions(theta, p, 0, 1),
        "You returned a position, twice; report the value of theta there.",
    ),
    "position of the mode": Mistake(
        lambda theta, p: _positions(theta, p, 0),
        "The number for zero-one loss is off. You returned a position; report the value of theta there.",
    ),
    "position of the median": Mistake(
        lambda theta, p: _positions(theta, p, 1),
        "The number for absolute loss is off. You returned a position; report the value of theta there.",
    ),
}


def posterior_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 70])
    cases = [(int(rng.integers(2, n - 1)), n, prior) for n, prior in [(6, 0.5), (11, 0.2), (20, 0.7)]]
    return judge(
        answer,
        cases,
        _toss_by_toss,
        POSTERIOR_MISTAKES,
        right="Right. With equal losses you would now choose the more probable model. The flexible one pays for what it might have said.",
        nudge="Not that probability. After one toss, whichever way it fell, your belief must not have moved.",
    )


def points_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 71])
    cases = []
    for size in (7, 9):
        theta = np.cumsum(rng.uniform(0.5, 2.0, size))
        p = rng.dirichlet(np.ones(size))
        p[-1] += 0.4  # a lump at the far end keeps mode, median and mean apart
        cases.append((theta, p / p.sum()))
    return judge(
        answer,
        cases,
        _points_by_search,
        POINTS_MISTAKES,
        right="Right. One posterior, three losses, three answers: none of them is 'the' estimate.",
        nudge="Compute the average loss of each candidate value and look for the smallest, one loss at a time.",
        parts=("the number for zero-one loss", "the number for absolute loss", "the number for squared loss"),
    )


TASKS = (
    Task(
        "decisions/model-choice/posterior",
        "Model choice: fair or not?",
        1,
        12,
        posterior_stub,
        (
            "Each model gives the sequence a probability. The second one has to average over its unknown theta.",
            "Under the second model it is the integral of theta^heads (1 - theta)^(n - heads), a beta function.",
            "Begin with `unknown = beta(heads + 1, n - heads + 1)`",
        ),
        POSTERIOR_MISTAKES,
        posterior_verdict,
    ),
    Task(
        "decisions/model-choice/points",
        "Point estimation: three losses, three answers",
        1,
        10,
        points_stub,
        (
            "Which value is wrong least often? Which has half of the mass on either side? Which is closest in squares?",
            "Reporting h costs 1 - P(theta = h); or has the slope P(theta < h) - P(theta > h); or has the slope 2 (h - E theta).",
            "Begin with `mode = theta[np.argmax(p)]`; for the second number look up `np.cumsum` and `np.searchsorted`.",
        ),
        POINTS_MISTAKES,
        points_verdict,
    ),
)
