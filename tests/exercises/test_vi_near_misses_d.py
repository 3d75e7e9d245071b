"""A natural step: what is nearly right must not pass, what is right in another way must."""

import numpy as np
from scipy import special

from tests.exercises import near_misses

CHAPTER = "vi/"
SHEETS = ("natural-step",)


def _a(*numbers):
    return np.array(numbers, dtype=float)


def _metric(a, b, corner=None, scale=1.0):
    return scale * _a([special.polygamma(1, a) if corner is None else corner, 1 / b], [1 / b, a / b**2])


def _differences(a, b, h=1e-4):
    """Of the log normaliser, by second differences in (a, -b)."""
    A = lambda e: special.gammaln(e[0]) - e[0] * np.log(-e[1])
    steps, at = h * np.eye(2), _a(a, -b)
    return _a(*[[(A(at + s + t) - A(at + s - t) - A(at - s + t) + A(at - s - t)) / (4 * h**2) for t in steps] for s in steps])


def _to(a, b, a_hat, b_hat, rho):
    return a + rho * (a_hat - a), b + rho * (b_hat - b)


def _solved(a, b, y, x, a0, b0, rho):
    gap = _a(a0 + y.sum() - a, b - b0 - x.sum())
    move = np.linalg.solve(_metric(a, b), _metric(a, b) @ gap)
    return a + rho * move[0], b - rho * move[1]


def _noisy(a, b, y, x, N, a0, b0, rho):
    return _to(a, b, a0 + N * y.mean(), b0 + N * x.mean(), rho)


BY_HAND = {
    "natural-step/fisher": [((1.0, 2.0), _a([1.6449, 0.5], [0.5, 0.25]))],
    "natural-step/step": [((1.0, 1.0, _a(3, 1), _a(2, 2), 2.0, 1.0, 0.5), (3.5, 3.0))],
    "natural-step/minibatch": [((1.0, 1.0, _a(3, 1), _a(2, 2), 4, 2.0, 1.0, 0.5), (5.5, 5.0))],
}
WRONG = [
    ("natural-step/fisher", "trigamma by 1/a^2", lambda a, b: _metric(a, b, 1 / a**2), "Not that matrix"),
    ("natural-step/fisher", "trigamma by 1/a + 1/(2a^2)", lambda a, b: _metric(a, b, 1 / a + 1 / (2 * a**2)), "Close, but not exact"),
    ("natural-step/fisher", "the variances alone, as a vector", lambda a, b: np.diag(_metric(a, b)), "shape"),
    ("natural-step/fisher", "the parameters (a, b)", lambda a, b: _metric(a, b) * _a([1, -1], [-1, 1]), "Your covariance is negative"),
    (
        "natural-step/step",
        "the rate a step of length one",
        lambda a, b, y, x, a0, b0, rho: (_to(a, b, a0 + y.sum(), 0, rho)[0], b0 + x.sum()),
        "",
    ),
    (
        "natural-step/step",
        "averages over the lifts",
        lambda a, b, y, x, a0, b0, rho: _to(a, b, a0 + y.mean(), b0 + x.mean(), rho),
        "Not that step",
    ),
    (
        "natural-step/step",
        "logarithms of the parameters averaged",
        lambda a, b, y, x, a0, b0, rho: (a ** (1 - rho) * (a0 + y.sum()) ** rho, b ** (1 - rho) * (b0 + x.sum()) ** rho),
        "Not that step",
    ),
    (
        "natural-step/minibatch",
        "the present parameters scaled, too",
        lambda a, b, y, x, N, a0, b0, rho: _to(a * N / len(y), b * N / len(y), a0 + N * y.mean(), b0 + N * x.mean(), rho),
        "Not that step",
    ),
    (
        "natural-step/minibatch",
        "one lift fewer",
        lambda a, b, y, x, N, a0, b0, rho: _to(a, b, a0 + N * y.sum() / (len(y) - 1), b0 + N * x.sum() / (len(y) - 1), rho),
        "Not that step",
    ),
]
RIGHT = [
    ("natural-step/fisher", "second differences", _differences),
    ("natural-step/step", "by the matrix and its inverse", _solved),
    ("natural-step/minibatch", "means times N", _noisy),
]
test_near_misses = near_misses.trial(CHAPTER, WRONG, RIGHT, BY_HAND, sheets=SHEETS)
