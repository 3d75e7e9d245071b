"""The joint step. Roads: the bound by quadrature over theta and outcome; its slopes by differences, rows standing for copies."""

import numpy as np
from scipy.stats import norm

from course_pkg.checks.record import Record
from solutions.lcvi._tools import NODES, WEIGHTS, normal_mean, slope


def by_quadrature(m, s, h, x, a, t, tau, M, counts=None):
    total = normal_mean(lambda theta: norm.logpdf(theta, a, t) - norm.logpdf(theta, m, s), m, s)
    outcome = (m + s * NODES)[:, None, None] * x + tau * NODES[:, None]  # theta, noise, row
    return total - np.einsum("i,j,ijn,n", WEIGHTS, WEIGHTS, (h - outcome) ** 2, np.ones_like(x) if counts is None else counts) / M


def by_differences(m, s, h, x, index, a, t, tau, M):
    """Each row of the minibatch stands for N / B copies of itself."""
    counts = np.zeros(len(h))
    counts[index] = len(h) / len(index)

    def bound(m, s, h):
        return by_quadrature(m, s, h, x, a, t, tau, M, counts)

    by_h = [slope(lambda move: bound(m, s, h + move * unit), 0.0, 1e-4) for unit in np.eye(len(h))]  # noqa: B023
    return slope(lambda at: bound(at, s, h), m, 1e-4), slope(lambda at: bound(m, at, h), s, 1e-4), np.array(by_h)


def problems(rng, sizes):
    for rows, *batch in sizes:
        m, s, a, t, tau, M = rng.uniform([0.2, 0.3, -0.5, 0.6, 0.4, 1.5], [1.0, 0.5, 0.1, 1.2, 0.8, 4.0])
        x = rng.choice([-1, 1], rows) * rng.uniform(0.5, 2, rows)
        yield m, s, rng.normal(0.5, 1, rows), x, *(np.sort(rng.permutation(rows)[:b]) for b in batch), a, t, tau, M


BOUND = Record(
    cases=lambda rng: problems(rng, [(3,), (5,)]),
    reference=by_quadrature,
    right="Right. It is everything that the step below climbs.",
    nudge="Not that bound. With m = 1, s = 0.5, h = [3, 1], x = [2, 1], a = 0, t = 2, tau = 3 and M = 4 it is -6.105.",
    hints=(
        "How far is q from the posterior, and what do the decisions cost under q? An expected square is a squared mean and a variance.",
        "-KL(N(m, s^2) || N(a, t^2)) - sum over n of ((h_n - x_n m)^2 + x_n^2 s^2 + tau^2) / M.",
        "Begin with `loss = (h - x * m) ** 2 + (x * s) ** 2 + tau**2`",
    ),
    mistakes={
        "You took the loss at the mean of q. Averaged over q, each row's squared distance grows by (x s)^2.": "+ (x * s) ** 2 -> ",
        "The spread of theta reaches a row through x: theta x has standard deviation |x| s.": "(x * s) -> s",
        "Your divergence is that of the posterior from q. The bound has that of q from the posterior.": "return -> divergence = np.log(s / t) + (t**2 + (m - a) ** 2) / (2 * s**2) - 0.5\nreturn",
        "The divergence has the wrong sign: this bound is high where q is far from the posterior.": "-divergence -> divergence",
    },
)
GRADIENT = Record(
    cases=lambda rng: problems(rng, [(6, 2), (5, 3)]),
    reference=by_differences,
    right="Right. Averaged over all minibatches it is the gradient from all rows.",
    nudge="Not that gradient. With m = 1, s = 0.5, h = [3, 0], x = [2, 1], index = [0], a = 0, t = 2, tau = 1 and M = 4 it is "
    "(1.75, -0.125, [-1, 0]).",
    hints=(
        "First write the estimate of the bound: which part of it is a sum over rows? Then differentiate that one expression.",
        "estimate = -KL - (N / B) sum over i in index of ((h_i - x_i m)^2 + x_i^2 s^2 + tau^2) / M. JAX can do the rest.",
        "Begin with `def estimate(m, s, h):` or with `gap = h[index] - x[index] * m`",
    ),
    mistakes={
        "The rows of the minibatch stand only for themselves. Each must speak for N / B of them.": "* len(h) / len(index) -> ",
        "Your factor is upside down: each row of the minibatch speaks for N / B of them, which is more than one.": "len(h) / len(index) -> len(index) / len(h)",
        "You scaled the divergence, too. There is one q, however few rows you look at.": "(a - m) / -> len(h) / len(index) * (a - m) / ;; 1 / s - s / t**2 -> len(h) / len(index) * (1 / s - s / t**2)",
        "The slopes in m and s are right. It is one estimate that is differentiated: its factor N / B stays when h is the variable.": "-weight * gap -> -2 / M * gap",
        "Nothing of the utility reaches m and s: that is plain variational inference.": "+ weight * (gap * x[index]).sum() ->  ;; - weight * s * (x[index] ** 2).sum() -> ",
        "The slopes in m and h are right. Yours in s is the one in log s: s times as large.": "return by_m, by_s -> return by_m, s * by_s",
        "The slope in h has a place for each of the N decisions: 0 for rows that were not looked at.": "return by_m, by_s, by_h -> return by_m, by_s, by_h[index]",
    },
    parts=("the slope in m", "the slope in s", "the slope in h"),
)
TASKS = {"bound": BOUND, "gradient": GRADIENT}
