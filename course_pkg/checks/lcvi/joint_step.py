"""The joint step. Roads: the bound by quadrature over theta and outcome; its slopes by differences, rows standing for copies."""

from typing import Any

import numpy as np
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Verdict, judge
from course_pkg.checks.lcvi._tools import NODES, WEIGHTS, normal_mean, slope


def _bound_by_quadrature(
    m: float, s: float, h: np.ndarray, x: np.ndarray, a: float, t: float, tau: float, M: float, counts: np.ndarray | None = None
) -> float:
    total = normal_mean(lambda theta: norm.logpdf(theta, a, t) - norm.logpdf(theta, m, s), m, s)
    theta = (m + s * NODES)[:, None]
    for n, (decision, covariate) in enumerate(zip(h, x, strict=True)):
        loss = (decision - (theta * covariate + tau * NODES)) ** 2
        total -= (1.0 if counts is None else counts[n]) * float(WEIGHTS @ loss @ WEIGHTS) / M
    return total


def _gradient_by_differences(
    m: float, s: float, h: np.ndarray, x: np.ndarray, index: np.ndarray, a: float, t: float, tau: float, M: float
) -> tuple[float, float, np.ndarray]:
    """Each row of the minibatch stands for N / B copies of itself."""
    counts = np.zeros(len(h))
    counts[index] = len(h) / len(index)

    def bound(m: float, s: float, h: np.ndarray) -> float:
        return _bound_by_quadrature(m, s, h, x, a, t, tau, M, counts)

    def by_decision(n: int) -> float:
        return float(slope(lambda at: bound(m, s, np.where(np.arange(len(h)) == n, at, h)), h[n], 1e-4))

    by_h = np.array([by_decision(n) for n in range(len(h))])
    return slope(lambda at: bound(at, s, h), m, 1e-4), slope(lambda at: bound(m, at, h), s, 1e-4), by_h


def bound_stub(m: float, s: float, h: np.ndarray, x: np.ndarray, a: float, t: float, tau: float, M: float) -> Any:
    raise NotImplementedError


def gradient_stub(m: float, s: float, h: np.ndarray, x: np.ndarray, index: np.ndarray, a: float, t: float, tau: float, M: float) -> Any:
    raise NotImplementedError


def _divergence(m, s, a, t):
    return np.log(t / s) + (s**2 + (m - a) ** 2) / (2 * t**2) - 0.5


def _bound(m, s, h, x, a, t, tau, M, *, divergence=1.0, utility=1.0, spread=None, noise=1.0, turned=False):
    left = _divergence(a, t, m, s) if turned else _divergence(m, s, a, t)
    spread = x**2 if spread is None else spread(x)
    loss = (h - x * m) ** 2 + spread * s**2 + noise * tau**2
    return -divergence * left - utility * loss.sum() / M


BOUND_MISTAKES = {
    "spread of theta forgotten": Mistake(
        lambda *case: _bound(*case, spread=lambda x: 0.0),
        "You took the loss at the mean of q. Averaged over q, each row's squared distance grows by (x s)^2.",
    ),
    "x forgotten beside s": Mistake(
        lambda *case: _bound(*case, spread=lambda x: 1.0),
        "The spread of theta reaches a row through x: theta x has standard deviation |x| s.",
    ),
    "x not squared": Mistake(
        lambda *case: _bound(*case, spread=lambda x: x),
        "theta x has the variance x^2 s^2: your x is not squared.",
    ),
    "noise forgotten": Mistake(
        lambda *case: _bound(*case, noise=0.0),
        "The decisions are about outcomes, which lie off the line by their noise. It changes no decision, and the value of the bound.",
    ),
    "noise once": Mistake(
        lambda *case: _bound(*case) + (len(case[2]) - 1) * case[6] ** 2 / case[7],
        "The noise enters once for each row. You have it once for all.",
    ),
    "divergence turned round": Mistake(
        lambda *case: _bound(*case, turned=True),
        "Your divergence is that of the posterior from q. The bound has that of q from the posterior.",
    ),
    "divergence added": Mistake(
        lambda *case: _bound(*case, divergence=-1.0),
        "The divergence has the wrong sign: this bound is high where q is far from the posterior.",
    ),
    "loss added": Mistake(
        lambda *case: _bound(*case, utility=-1.0),
        "The loss has the wrong sign: the utility term is minus the expected loss over M.",
    ),
    "mean over rows": Mistake(
        lambda *case: _bound(*case, utility=1 / len(case[2])),
        "You averaged over the rows. Their terms add up.",
    ),
    "times M": Mistake(
        lambda *case: _bound(*case, utility=case[7] ** 2),
        "You multiplied by M. The losses are divided by it.",
    ),
    "M forgotten": Mistake(
        lambda *case: _bound(*case, utility=case[7]),
        "The losses are not divided by M.",
    ),
    "no divergence": Mistake(
        lambda *case: _bound(*case, divergence=0.0),
        "That is the utility term. The bound also has minus the divergence of q from the posterior.",
    ),
}


def _gradient(m, s, h, x, index, a, t, tau, M, *, scale=None, prior=1.0, h_scale=None, h_sign=1.0, by_m=1.0, by_s=1.0):  # noqa: ARG001
    scale = len(h) / len(index) if scale is None else scale
    h_scale = scale if h_scale is None else h_scale
    gap, xs = h[index] - x[index] * m, x[index]
    by_h = np.zeros(len(h))
    by_h[index] = -2 * h_scale * h_sign * gap / M
    return (
        -prior * (m - a) / t**2 + by_m * scale * 2 * (gap * xs).sum() / M,
        prior * (1 / s - s / t**2) - by_s * scale * 2 * s * (xs**2).sum() / M,
        by_h,
    )


GRADIENT_MISTAKES = {
    "rows not scaled": Mistake(
        lambda *case: _gradient(*case, scale=1.0),
        "The rows of the minibatch stand only for themselves. Each must speak for N / B of them.",
    ),
    "times N": Mistake(
        lambda *case: _gradient(*case, scale=len(case[2])),
        "You multiplied the sum over B rows by N. Each of them stands for N / B.",
    ),
    "mean of the minibatch": Mistake(
        lambda *case: _gradient(*case, scale=1 / len(case[4])),
        "You averaged over the rows of the minibatch. The bound has a sum over all N rows, and its estimate a sum scaled by N / B.",
    ),
    "all scaled": Mistake(
        lambda *case: _gradient(*case, prior=len(case[2]) / len(case[4])),
        "You scaled the divergence, too. There is one q, however few rows you look at.",
    ),
    "decisions not scaled": Mistake(
        lambda *case: _gradient(*case, h_scale=1.0),
        "The slopes in m and s are right. It is one estimate that is differentiated: its factor N / B stays when h is the variable.",
    ),
    "decisions downhill": Mistake(
        lambda *case: _gradient(*case, h_sign=-1.0),
        "The slopes in m and s are right. Those in h point away from the outcomes.",
    ),
    "utility does not reach q": Mistake(
        lambda *case: _gradient(*case, by_m=0.0, by_s=0.0),
        "The slopes in h are right. Nothing of the utility reaches m and s: that is plain variational inference with decisions beside it.",
    ),
    "utility does not reach m": Mistake(
        lambda *case: _gradient(*case, by_m=0.0),
        "The slope in m has only the divergence. The loss depends on m, too, as long as h is not yet x m.",
    ),
    "utility does not reach s": Mistake(
        lambda *case: _gradient(*case, by_s=0.0),
        "The slope in s has only the divergence. The expected loss grows with s.",
    ),
    "pull on m away": Mistake(
        lambda *case: _gradient(*case, by_m=-1.0),
        "The utility's part of the slope in m has the wrong sign: m is drawn to where x m is near the decisions.",
    ),
    "slope in log s": Mistake(
        lambda *case: (_gradient(*case)[0], case[1] * _gradient(*case)[1], _gradient(*case)[2]),
        "The slopes in m and h are right. Yours in s is the one in log s: s times as large.",
    ),
    "changed places": Mistake(
        lambda *case: tuple(_gradient(*case)[place] for place in (1, 0, 2)),
        "The slopes in m and s have changed places.",
    ),
    "one decision": Mistake(
        lambda *case: (*_gradient(*case)[:2], np.full(len(case[2]), _gradient(*case)[2].sum())),
        "The slopes in m and s are right. Your decisions share one slope; each row has its own.",
    ),
    "only the minibatch": Mistake(
        lambda *case: (*_gradient(*case)[:2], _gradient(*case)[2][case[4]]),
        "The slopes in m and s are right. The slope in h has a place for each of the N decisions: 0 for rows that were not looked at.",
    ),
    "all rows": Mistake(
        lambda m, s, h, x, index, a, t, tau, M: _gradient(m, s, h, x, np.arange(len(h)), a, t, tau, M),
        "That is the gradient from all rows. Only those of `index` are looked at.",
    ),
    "all downwards": Mistake(
        lambda *case: tuple(-part for part in _gradient(*case)),
        "All signs are turned: that is the gradient of minus the bound.",
    ),
}


def _numbers(rng: np.random.Generator, rows: int) -> tuple[Any, ...]:
    """m, s, h, x, and a, t, tau, M."""
    m, s, a, t, tau, M = map(float, rng.uniform([0.2, 0.3, -0.5, 0.6, 0.4, 1.5], [1.0, 0.5, 0.1, 1.2, 0.8, 4.0]))
    x = rng.choice([-1, 1], rows) * rng.uniform(0.5, 2, rows)
    return (m, s, rng.normal(0.5, 1, rows), x), (a, t, tau, M)


def bound_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 770])
    cases = [(*first, *second) for first, second in (_numbers(rng, rows) for rows in (3, 5))]
    return judge(
        answer,
        cases,
        _bound_by_quadrature,
        BOUND_MISTAKES,
        right="Right. It is everything that the step below climbs.",
        nudge="Not that bound. With m = 1, s = 0.5, h = [3], x = [2], a = 0, t = 2, tau = 3 and M = 4 it is -3.793.",
    )


def gradient_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 771])
    cases = []
    for rows, batch in [(6, 2), (5, 3)]:
        first, second = _numbers(rng, rows)
        cases.append((*first, np.sort(rng.permutation(rows)[:batch]), *second))
    return judge(
        answer,
        cases,
        _gradient_by_differences,
        GRADIENT_MISTAKES,
        right="Right. Averaged over all minibatches it is the gradient from all rows.",
        nudge="Not that gradient. With m = 1, s = 0.5, h = [3, 0], x = [2, 1], index = [0], a = 0, t = 2, tau = 1 and M = 4 it is "
        "(1.75, -0.125, [-1, 0]).",
        parts=("the slope in m", "the slope in s", "the slope in h"),
    )


TASKS = (
    Task(
        "lcvi/joint-step/bound",
        "The joint step: the bound",
        2,
        12,
        bound_stub,
        (
            "How far is q from the posterior, and what do the decisions cost under q? An expected square is a squared mean and a variance.",
            "-KL(N(m, s^2) || N(a, t^2)) - sum over n of ((h_n - x_n m)^2 + x_n^2 s^2 + tau^2) / M.",
            "Begin with `loss = (h - x * m) ** 2 + (x * s) ** 2 + tau**2`",
        ),
        BOUND_MISTAKES,
        bound_verdict,
    ),
    Task(
        "lcvi/joint-step/gradient",
        "The joint step: its gradient from some rows",
        2,
        14,
        gradient_stub,
        (
            "First write the estimate of the bound: which part of it is a sum over rows? Then differentiate that one expression.",
            "estimate = -KL - (N / B) sum over i in index of ((h_i - x_i m)^2 + x_i^2 s^2 + tau^2) / M. JAX can do the rest.",
            "Begin with `def estimate(m, s, h):` or with `gap = h[index] - x[index] * m`",
        ),
        GRADIENT_MISTAKES,
        gradient_verdict,
    ),
)
