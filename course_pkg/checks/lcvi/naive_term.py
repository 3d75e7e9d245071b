"""The utility term from draws. Roads: outcomes made from expected utilities that are known; curvature by differences, pairs."""

from typing import Any

import numpy as np

from course_pkg.checks._judge import Mistake, Task, Verdict, judge
from course_pkg.checks.lcvi._tools import balanced, known


def _made(rng: np.random.Generator, thetas: int, draws: int, M: float, h: np.ndarray) -> tuple[np.ndarray, float]:
    """Outcomes whose inner means were chosen first, and the term that they must give."""
    inner = rng.uniform(0.2, 0.6, (thetas, len(h)))
    u = np.empty((thetas, draws, len(h)))
    for s in range(thetas):
        for n in range(len(h)):
            u[s, :, n] = inner[s, n] * (1 + rng.uniform(0.5, 0.6) * balanced(rng, draws))
    side = np.where(rng.random(u.shape) < 0.5, -1, 1)
    return h + side * np.sqrt(-M * np.log(u)), float(sum(np.log(inner[:, n]).mean() for n in range(len(h))))


def _corrected_by_differences(u: np.ndarray) -> float:
    """The logarithm's own curvature, drawn by differences, times half the variance of the mean, found from pairs."""
    total, draws = 0.0, u.shape[1]
    for row in u:
        mean = sum(row) / draws
        step = 1e-4 * mean
        curvature = (np.log(mean + step) - 2 * np.log(mean) + np.log(mean - step)) / step**2
        pairs = [(a - b) ** 2 / 2 for i, a in enumerate(row) for b in row[:i]]
        total += np.log(mean) - 0.5 * curvature * sum(pairs) / len(pairs) / draws
    return float(total / len(u))


def term_stub(y: np.ndarray, h: np.ndarray, M: float) -> Any:
    raise NotImplementedError


def corrected_stub(u: np.ndarray) -> Any:
    raise NotImplementedError


def _u(y, h, M):
    return np.exp(-((y - h) ** 2) / M)


TERM_MISTAKES = {
    "log inside the inner mean": Mistake(
        lambda y, h, M: np.log(_u(y, h, M)).mean(axis=(0, 1)).sum(),
        "Your logarithm is inside the inner mean: that is minus the mean loss over M. First average, for each theta, then take the log.",
    ),
    "log outside both": Mistake(
        lambda y, h, M: np.log(_u(y, h, M).mean(axis=(0, 1))).sum(),
        "Your logarithm is outside both means. It belongs between them: the mean over theta is taken of logarithms.",
    ),
    "axes swapped": Mistake(
        lambda y, h, M: np.log(_u(y, h, M).mean(axis=0)).mean(axis=0).sum(),
        "You averaged over theta inside the logarithm and over outcomes outside. The first axis is theta, the second the outcomes.",
    ),
    "mean over rows": Mistake(
        lambda y, h, M: np.log(_u(y, h, M).mean(axis=1)).mean(),
        "You averaged over the rows. Each row has a term of its own, and they add up as log likelihoods do.",
    ),
    "theta summed": Mistake(
        lambda y, h, M: np.log(_u(y, h, M).mean(axis=1)).sum(),
        "You added the draws of theta up. An expectation over q is estimated by their mean.",
    ),
    "inner sum": Mistake(
        lambda y, h, M: np.log(_u(y, h, M).sum(axis=1)).mean(axis=0).sum(),
        "You summed over the outcomes inside the logarithm. Divide by their number.",
    ),
    "one for each row": Mistake(
        lambda y, h, M: np.log(_u(y, h, M).mean(axis=1)).mean(axis=0),
        "Those are the terms of the rows. Add them up.",
    ),
    "rows multiplied": Mistake(
        lambda y, h, M: np.log(_u(y, h, M).mean(axis=(1, 2))).mean() * y.shape[2],
        "You averaged over rows and outcomes alike inside the logarithm. Each row has its own expected utility and its own logarithm.",
    ),
    "times M": Mistake(
        lambda y, h, M: np.log(_u(y, h, 1 / M).mean(axis=1)).mean(axis=0).sum(),
        "You multiplied the loss by M. It is divided by it.",
    ),
    "no square": Mistake(
        lambda y, h, M: np.log(np.exp(-np.abs(y - h) / M).mean(axis=1)).mean(axis=0).sum(),
        "That is for absolute loss. Here the loss is squared.",
    ),
    "negative": Mistake(
        lambda y, h, M: -np.log(_u(y, h, M).mean(axis=1)).mean(axis=0).sum(),
        "The sign is turned: no utility here is above 1, so no logarithm is above 0.",
    ),
    "no log": Mistake(
        lambda y, h, M: _u(y, h, M).mean(axis=(0, 1)).sum(),
        "That is the expected utility. Its logarithm, theta by theta, is the term.",
    ),
}


def _relative(u, ddof=1):
    return u.var(axis=1, ddof=ddof), u.mean(axis=1), u.shape[1]


def _fixed(term):
    return lambda u: term(*_relative(u)).mean()


CORRECTED_MISTAKES = {
    "correction of the mean log": Mistake(
        lambda u: (np.log(u).mean(axis=1) + u.var(axis=1, ddof=1) / (2 * u.mean(axis=1) ** 2)).mean(),
        "You corrected the mean of the logs, not the log of the mean. That is how it is printed in one text, and its error does not fade.",
    ),
    "number of outcomes forgotten": Mistake(
        _fixed(lambda v, m, n: np.log(m) + v / (2 * m**2)),
        "Your correction is as large for a million outcomes as for two. What makes the naive estimate low is the variance of the mean.",
    ),
    "correction of the mean log, divided": Mistake(
        lambda u: (np.log(u).mean(axis=1) + u.var(axis=1, ddof=1) / (2 * u.shape[1] * u.mean(axis=1) ** 2)).mean(),
        "The correction is right. It belongs to the log of the mean, not to the mean of the logs.",
    ),
    "taken off": Mistake(
        _fixed(lambda v, m, n: np.log(m) - v / (2 * n * m**2)),
        "You made it lower still. The logarithm bends downwards, so the naive estimate is too low already.",
    ),
    "no half": Mistake(
        _fixed(lambda v, m, n: np.log(m) + v / (n * m**2)),
        "Your correction is twice too large. The second-order term of an expansion has a factor 1/2.",
    ),
    "mean not squared": Mistake(
        _fixed(lambda v, m, n: np.log(m) + v / (2 * n * m)),
        "The second derivative of log x is -1 / x^2. Your mean is not squared, and the answer changes with the unit of the utility.",
    ),
    "n for n - 1": Mistake(
        lambda u: (np.log(u.mean(axis=1)) + u.var(axis=1) / (2 * u.shape[1] * u.mean(axis=1) ** 2)).mean(),
        "Nearly: divide by S_y - 1 in the variance, as the text asks (NumPy: ddof=1).",
    ),
    "standard deviation": Mistake(
        _fixed(lambda v, m, n: np.log(m) + np.sqrt(v) / (2 * n * m**2)),
        "You took the standard deviation where the variance belongs.",
    ),
    "not corrected": Mistake(
        _fixed(lambda v, m, n: np.log(m)),
        "That is the naive estimate itself.",
    ),
    "all pooled": Mistake(
        lambda u: np.log(u.mean()) + u.var(ddof=1) / (2 * u.size * u.mean() ** 2),
        "You pooled the thetas. Each theta has a mean, a variance and a logarithm of its own.",
    ),
    "axes swapped": Mistake(
        lambda u: (np.log(u.mean(axis=0)) + u.var(axis=0, ddof=1) / (2 * len(u) * u.mean(axis=0) ** 2)).mean(),
        "You averaged over theta inside the logarithm. The first axis is theta, the second the outcomes.",
    ),
    "one correction for all": Mistake(
        lambda u: np.log(u.mean(axis=1)).mean() + u.var(ddof=1) / (2 * u.shape[1] * u.mean() ** 2),
        "Your correction is one for all thetas. Each theta has a V and a mean of its own.",
    ),
    "correction alone": Mistake(
        lambda u: (u.var(axis=1, ddof=1) / (2 * u.shape[1] * u.mean(axis=1) ** 2)).mean(),
        "That is what is to be put back. Return the naive estimate with it.",
    ),
    "theta summed": Mistake(
        lambda u: (np.log(u.mean(axis=1)) + u.var(axis=1, ddof=1) / (2 * u.shape[1] * u.mean(axis=1) ** 2)).sum(),
        "You added the draws of theta up. An expectation over q is estimated by their mean.",
    ),
    "one for each theta": Mistake(
        lambda u: np.log(u.mean(axis=1)) + u.var(axis=1, ddof=1) / (2 * u.shape[1] * u.mean(axis=1) ** 2),
        "Those are the corrected logs of the thetas. Return their mean.",
    ),
}


def term_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 730])
    cases, terms = [], []
    for thetas, draws, rows, M in [(4, 6, 3, 2.0), (5, 3, 1, 0.7), (3, 3, 3, 5.0)]:
        h = rng.normal(0, 2, rows)
        y, term = _made(rng, thetas, draws, M, h)
        cases.append((y, h, M))
        terms.append(term)
    return judge(
        answer,
        cases,
        known(terms),
        TERM_MISTAKES,
        right="Right. The logarithm stands between the two means.",
        nudge="Not that number. With M = 1 it is -0.352 for y = [[[0], [1]], [[0], [2]], [[0], [0]]] (three thetas, two outcomes, one "
        "row) and h = [0], and -4 for y = [[[0, 1]]] (two rows) and h = [0, 3].",
    )


def corrected_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 731])
    return judge(
        answer,
        [(rng.uniform(0.3, 2, (thetas, draws)),) for thetas, draws in [(3, 2), (4, 6), (2, 3)]],
        _corrected_by_differences,
        CORRECTED_MISTAKES,
        right="Right. It helps where V / (S_y mean^2) is well below 1; with few and unequal utilities the estimated V is itself too noisy.",
        nudge="Not that number. With u = [[1, 3]] it is 0.818, and with u = [[1, 3], [4, 4]] 1.102.",
    )


TASKS = (
    Task(
        "lcvi/naive-term/term",
        "The utility term from draws: the naive estimate",
        2,
        12,
        term_stub,
        (
            "From the inside out: a utility for each outcome, the mean over outcomes, the log, the mean over theta, the sum over rows.",
            "sum over n of (1/S_theta) sum over s of log( (1/S_y) sum over t of exp(-(y_stn - h_n)^2 / M) ).",
            "Begin with `u = np.exp(-((y - h) ** 2) / M)`",
        ),
        TERM_MISTAKES,
        term_verdict,
    ),
    Task(
        "lcvi/naive-term/corrected",
        "The utility term from draws: a correction",
        2,
        12,
        corrected_stub,
        (
            "Expand log around the true mean to second order and take expectations. What is the variance of a mean of S_y outcomes?",
            "E log(mean) is about log(true mean) - V / (2 S_y mean^2). Put that much back, with the estimated V and mean of each theta.",
            "Begin with `mean = u.mean(axis=1)`",
        ),
        CORRECTED_MISTAKES,
        corrected_verdict,
    ),
)
