"""Discrete decisions. Roads: a thousand patients counted out; costs added up entry by entry."""

import math
from typing import Any

import numpy as np

from course_pkg.checks._judge import Mistake, Task, Verdict, judge


def _worths_by_enumeration(p: np.ndarray, costs: np.ndarray, M: float) -> np.ndarray:
    thetas, rows, classes = p.shape
    out = np.zeros((rows, costs.shape[1]))
    for n in range(rows):
        for h in range(costs.shape[1]):
            worth = [M - math.fsum(p[s, n, y] * costs[y, h] for y in range(classes)) for s in range(thetas)]
            out[n, h] = math.log(math.prod(worth)) / thetas
    return out


def _both_by_enumeration(p: np.ndarray, costs: np.ndarray, M: float) -> tuple[np.ndarray, np.ndarray]:
    """The largest product of expected utilities over theta, and the smallest total cost over all thetas and classes."""
    thetas, rows, classes = p.shape
    decisions = range(costs.shape[1])
    total = [[math.fsum(p[s, n, y] * costs[y, h] for s in range(thetas) for y in range(classes)) for h in decisions] for n in range(rows)]
    product = [
        [math.prod(M - math.fsum(p[s, n, y] * costs[y, h] for y in range(classes)) for s in range(thetas)) for h in decisions]
        for n in range(rows)
    ]
    return np.argmax(product, axis=1), np.argmin(total, axis=1)


def worths_stub(p: np.ndarray, costs: np.ndarray, M: float) -> Any:
    raise NotImplementedError


def both_stub(p: np.ndarray, costs: np.ndarray, M: float) -> Any:
    raise NotImplementedError


WORTHS_MISTAKES = {
    "rows and columns swapped": Mistake(
        lambda p, costs, M: np.log(p @ (M - costs.T)).mean(axis=0),
        "You took the columns of the cost matrix for the outcomes. Its rows are outcomes, its columns actions.",
    ),
    "log outside both": Mistake(
        lambda p, costs, M: np.log(p.mean(axis=0) @ (M - costs)),
        "You averaged the probabilities over theta before the logarithm. Each theta has an expected utility and a logarithm of its own.",
    ),
    "log inside both": Mistake(
        lambda p, costs, M: (p @ np.log(M - costs)).mean(axis=0),
        "Your logarithm is inside the sum over outcomes. First the expected utility of each theta, then its logarithm.",
    ),
    "costs as utilities": Mistake(
        lambda p, costs, M: np.log(p @ costs).mean(axis=0),
        "You took costs for utilities. The utility is M less the cost.",
    ),
    "no logarithm": Mistake(
        lambda p, costs, M: (p @ (M - costs)).mean(axis=0),
        "Those are expected utilities. The term is the mean of their logarithms.",
    ),
    "theta summed": Mistake(
        lambda p, costs, M: np.log(p @ (M - costs)).sum(axis=0),
        "You added the draws of theta up. An expectation over q is estimated by their mean.",
    ),
    "the likeliest class only": Mistake(
        lambda p, costs, M: np.log((M - costs)[p.argmax(axis=2)]).mean(axis=0),
        "You looked at the likeliest outcome only. Sum over all of them, with their probabilities.",
    ),
    "the tangent": Mistake(
        lambda p, costs, M: np.log(M) - (p @ costs).mean(axis=0) / M,
        "That is the tangent of the logarithm. No utility is negative here: take the logarithm itself.",
    ),
    "rows added up": Mistake(
        lambda p, costs, M: np.log(p @ (M - costs)).mean(axis=0).sum(axis=0),
        "You added up the rows. Here each row has its own line: shape (N, H).",
    ),
    "turned": Mistake(
        lambda p, costs, M: np.log(p @ (M - costs)).mean(axis=0).T,
        "The numbers are right. Rows of the data first, actions second: turn the array.",
    ),
}


def _by_term(p, costs, M):
    return np.log(p @ (M - costs)).mean(axis=0)


def _by_cost(p, costs, M):  # noqa: ARG001
    return p.mean(axis=0) @ costs


BOTH_MISTAKES = {
    "rows and columns swapped": Mistake(
        lambda p, costs, M: (_by_term(p, costs.T, M).argmax(axis=1), _by_cost(p, costs.T, M).argmin(axis=1)),
        "You took the columns of the cost matrix for the outcomes. Its rows are outcomes, its columns actions.",
    ),
    "the same twice": Mistake(
        lambda p, costs, M: (_by_cost(p, costs, M).argmin(axis=1),) * 2,
        "You gave the Bayes actions twice. The first shall be the best for the term of Part 1.",
    ),
    "the term's twice": Mistake(
        lambda p, costs, M: (_by_term(p, costs, M).argmax(axis=1),) * 2,
        "You gave the actions of Part 1's term twice. The second shall have the smallest expected cost.",
    ),
    "changed places": Mistake(
        lambda p, costs, M: (_by_cost(p, costs, M).argmin(axis=1), _by_term(p, costs, M).argmax(axis=1)),
        "The two are right and have changed places.",
    ),
    "dearest": Mistake(
        lambda p, costs, M: (_by_term(p, costs, M).argmax(axis=1), _by_cost(p, costs, M).argmax(axis=1)),
        "The first actions are right. The second ones have the largest expected cost.",
    ),
    "least": Mistake(
        lambda p, costs, M: (_by_term(p, costs, M).argmin(axis=1), _by_cost(p, costs, M).argmin(axis=1)),
        "The second actions are right. The first ones make the term smallest.",
    ),
    "log inside both": Mistake(
        lambda p, costs, M: ((p @ np.log(M - costs)).mean(axis=0).argmax(axis=1), _by_cost(p, costs, M).argmin(axis=1)),
        "The second actions are right. For the first your logarithm is inside the sum over outcomes.",
    ),
    "likeliest class": Mistake(
        lambda p, costs, M: (_by_term(p, costs, M).argmax(axis=1), costs[p.mean(axis=0).argmax(axis=1)].argmin(axis=1)),
        "The first actions are right. For the second you looked at the likeliest outcome only; a rare one may be dear.",
    ),
    "one for all": Mistake(
        lambda p, costs, M: (
            np.full(p.shape[1], _by_term(p, costs, M).sum(axis=0).argmax()),
            np.full(p.shape[1], _by_cost(p, costs, M).sum(axis=0).argmin()),
        ),
        "Your rows share their actions. Each row has its own.",
    ),
    "counted from one": Mistake(
        lambda p, costs, M: (_by_term(p, costs, M).argmax(axis=1) + 1, _by_cost(p, costs, M).argmin(axis=1) + 1),
        "You count the actions from 1. Here the first is 0.",
    ),
}


def worths_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 780])
    cases = []
    for thetas, rows, classes in [(4, 5, 3), (6, 2, 3)]:
        costs = rng.uniform(0.5, 8, (classes, classes))
        cases.append((rng.dirichlet(np.full(classes, 0.7), (thetas, rows)), costs, float(costs.max() + rng.uniform(0.2, 1))))
    return judge(
        answer,
        cases,
        _worths_by_enumeration,
        WORTHS_MISTAKES,
        right="Right. A sum in the place of draws: no noise and no bias.",
        nudge="Not those numbers. With p = [[[1/2, 1/2]], [[1, 0]], [[1, 0]]] (three thetas, one row), costs = [[0, 2], [4, 1]] and "
        "M = 5 they are [[1.439, 1.150]].",
    )


def both_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 781])
    cases: list[tuple[Any, ...]] = []
    while len(cases) < 2:
        thetas, rows = [(5, 8), (4, 10)][len(cases)]
        # a cost matrix with cheap mistakes and dear ones, and a q that does not know what to think
        costs = np.array([[0.0, 1.0, 2.0], [9.0, 0.5, 2.0], [3.0, 8.0, 1.5]]) * rng.uniform(0.8, 1.2, (3, 3))
        case = (rng.dirichlet(np.full(3, 0.25), (thetas, rows)), costs, float(costs.max() + 0.1))
        want = _both_by_enumeration(*case)
        gaps = [np.diff(np.sort(values, axis=1))[:, -1].min() for values in (_by_term(*case), -_by_cost(*case))]
        others = [mistake.answer(*case) for mistake in BOTH_MISTAKES.values()]
        if min(gaps) > 1e-3 and all((a != want[0]).any() or (b != want[1]).any() for a, b in others):
            cases.append(case)
    return judge(
        answer,
        cases,
        _both_by_enumeration,
        BOTH_MISTAKES,
        right="Right. The term shuns an action that would be dear under some of the thetas; the risk adds them all up.",
        nudge="Not those actions. With p = [[[0, 1]], [[1, 0]]] (two thetas, one row), costs = [[0, 2.6], [5, 2.5]] and M = 5.1 they are "
        "[1] and [0].",
        parts=("the first actions", "the second"),
    )


TASKS = (
    Task(
        "lcvi/discrete/worths",
        "Discrete decisions: the term of each",
        1,
        11,
        worths_stub,
        (
            "For one theta and one row, the expected utility of an action is a sum over outcomes. What comes after it?",
            "(1/S) sum over s of log( sum over y of p[s, n, y] (M - costs[y, h]) ), for each n and h.",
            "Begin with `expected = p @ (M - costs)`",
        ),
        WORTHS_MISTAKES,
        worths_verdict,
    ),
    Task(
        "lcvi/discrete/both",
        "Discrete decisions: two ways to decide",
        1,
        8,
        both_stub,
        (
            "One rule looks for the largest term, the other for the smallest expected cost, where theta is averaged over, too.",
            "argmax over h of Part 1; argmin over h of sum over y of (mean over s of p[s, n, y]) costs[y, h].",
            "Begin with `predictive = p.mean(axis=0)`",
        ),
        BOTH_MISTAKES,
        both_verdict,
    ),
)
