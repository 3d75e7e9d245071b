"""Chapter 1's sheets on information and on checks: answers that are nearly right, and right ones in another form."""

import numpy as np

from tests.exercises import near_misses

HALF, TABLE = np.array([0.5, 0.5]), np.array([[0.0, 4.0], [2.0, 0.0]])
LIKELIHOOD = np.array([[0.75, 0.25], [0.25, 0.75]])


def _after_each(prior, costs, likelihood):
    """The risk after each result, one by one."""
    chance = prior @ likelihood
    return sum(c * min((prior * column / c) @ costs) for c, column in zip(chance, likelihood.T, strict=True))


def _all_tests_at_once(prior, costs, likelihood, price, most):
    table = np.ones((len(prior), 1))
    for _ in range(most):
        table = (table[:, :, None] * likelihood[:, None, :]).reshape(len(prior), -1)
    return min((prior @ costs).min(), price * most + _after_each(prior, costs, table))


def _plan(prior, costs, likelihood, price, most, divide=True):
    """With the joint density in the place of the posterior, where it is not divided."""
    now = (prior @ costs).min()
    if not most:
        return now
    joint = prior[:, None] * likelihood
    if divide:
        chance = joint.sum(axis=0)
        return min(
            now, price + sum(c * _plan(j / c, costs, likelihood, price, most - 1) for c, j in zip(chance, joint.T, strict=True) if c > 0)
        )
    return min(now, price * prior.sum() + sum(_plan(j, costs, likelihood, price, most - 1, False) for j in joint.T))


BY_HAND = {
    "worth-of-a-test/perfect": [((HALF, TABLE), 1)],
    "worth-of-a-test/sample": [((HALF, TABLE, LIKELIHOOD), 0.25)],
    "worth-of-a-test/plan": [((HALF, TABLE, LIKELIHOOD, 0.1, 1), 0.85)],
    "three-checks/p-value": [((np.array([1.0, 3.0]), np.array([[0.0, 1.0], [3.0, 1.0]]), np.max), 0.5)],
    "three-checks/ranks": [((np.array([0.5, 0.5]), np.array([[0, 1, 2], [-1, 0, 2]])), [1, 2])],
    "three-checks/regret": [((1.0, np.array([1.0, 3.0]), 3.0, 1.0), 2)],
}
NEAR_MISSES = [
    ("worth-of-a-test/perfect", "averaged prior", lambda prior, costs: costs.mean(axis=0).min() - costs.min(axis=1).mean(), ""),
    (
        "worth-of-a-test/sample",
        "half of the value",
        lambda prior, costs, lik: 0.5 * ((prior @ costs).min() - _after_each(prior, costs, lik)),
        "",
    ),
    ("worth-of-a-test/sample", "the wrong sign", lambda prior, costs, lik: _after_each(prior, costs, lik) - (prior @ costs).min(), "sign"),
    ("worth-of-a-test/plan", "all at once", _all_tests_at_once, ""),
    ("worth-of-a-test/plan", "one test fewer", lambda *case: _plan(*case[:-1], case[-1] - 1), "as if `most` were one less"),
    ("three-checks/p-value", "both tails", lambda y, again, T: 2 * min(np.mean([T(x) >= T(y) for x in again]), 0.5), ""),
    ("three-checks/p-value", "in per cent", lambda y, again, T: 100 * np.mean([T(x) >= T(y) for x in again]), ""),
    ("three-checks/ranks", "sorted", lambda truths, draws: np.sort((draws < truths[:, None]).sum(axis=1)), ""),
    (
        "three-checks/regret",
        "an interpolated quantile",
        lambda h, x, a, b: _cost(h, x, a, b) - _cost(np.quantile(x, a / (a + b)) + 0.5, x, a, b),
        "",
    ),
]


def _cost(h, draws, a, b):
    return (a * np.maximum(draws - h, 0) + b * np.maximum(h - draws, 0)).mean()


LEGITIMATE = [
    (
        "worth-of-a-test/perfect",
        "loop",
        lambda prior, costs: min(prior @ costs) - sum(p * min(row) for p, row in zip(prior, costs, strict=True)),
    ),
    ("worth-of-a-test/sample", "one by one", lambda prior, costs, lik: min(prior @ costs) - _after_each(prior, costs, lik)),
    ("worth-of-a-test/plan", "not divided", lambda *case: _plan(*case, divide=False)),
    ("three-checks/p-value", "array", lambda y, again, T: (np.apply_along_axis(T, 1, again) >= T(y)).mean()),
    (
        "three-checks/ranks",
        "searchsorted",
        lambda truths, draws: np.array([np.searchsorted(np.sort(x), t) for t, x in zip(truths, draws, strict=True)]),
    ),
    ("three-checks/regret", "least over the draws", lambda h, x, a, b: _cost(h, x, a, b) - min(_cost(at, x, a, b) for at in x)),
]

test_decisions = near_misses.trial("decisions/", NEAR_MISSES, LEGITIMATE, BY_HAND, sheets=("worth-of-a-test", "three-checks"))
