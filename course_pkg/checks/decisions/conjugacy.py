"""Conjugacy twice. Road: quadrature on a grid for the normal, one ball after the other from an urn for the Dirichlet."""

from itertools import permutations
from typing import Any

import numpy as np
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Verdict, judge


def _normal_by_quadrature(y: np.ndarray, sigma: float, m0: float, s0: float) -> tuple[float, float]:
    spread = 12 * (sigma + s0)
    grid = np.linspace(min(m0, y.min()) - spread, max(m0, y.max()) + spread, 20_001)
    log_joint = norm.logpdf(grid, m0, s0) + sum(norm.logpdf(value, grid, sigma) for value in y)
    weight = np.exp(log_joint - log_joint.max())
    weight /= weight.sum()
    mean = weight @ grid
    return float(mean), float(np.sqrt(weight @ (grid - mean) ** 2))


def _urn(counts: np.ndarray, alpha: np.ndarray) -> float:
    """Log probability of one sequence with these counts: each draw adds a ball of the colour drawn."""
    balls, log_probability = np.array(alpha, dtype=float), 0.0
    for colour, times in enumerate(counts):
        for _ in range(int(times)):
            log_probability += np.log(balls[colour] / balls.sum())
            balls[colour] += 1
    return log_probability


def _dirichlet_by_urn(counts: np.ndarray, alpha: np.ndarray) -> tuple[np.ndarray, float]:
    sequence = tuple(np.repeat(np.arange(len(counts)), counts))
    orders = len(set(permutations(sequence)))
    posterior = np.array(alpha, dtype=float)
    for colour in sequence:
        posterior[colour] += 1
    return posterior, _urn(counts, alpha) + np.log(orders)


def normal_stub(y: np.ndarray, sigma: float, m0: float, s0: float) -> Any:
    raise NotImplementedError


def dirichlet_stub(counts: np.ndarray, alpha: np.ndarray) -> Any:
    raise NotImplementedError


def _variances_added(y: np.ndarray, sigma: float, m0: float, s0: float) -> tuple[float, float]:
    noise, prior = sigma**2 / len(y), s0**2
    return float((noise * y.mean() + prior * m0) / (noise + prior)), float(np.sqrt(noise + prior))


def _from_precisions(y: np.ndarray, prior: float, each: float, m0: float) -> tuple[float, float]:
    total = prior + len(y) * each
    return float((prior * m0 + len(y) * each * y.mean()) / total), float(1 / np.sqrt(total))


def _predictive(y: np.ndarray, sigma: float, m0: float, s0: float) -> tuple[float, float]:
    mean, sd = _normal_by_quadrature(y, sigma, m0, s0)
    return mean, float(np.hypot(sd, sigma))


def _variance_returned(y: np.ndarray, sigma: float, m0: float, s0: float) -> tuple[float, float]:
    mean, sd = _normal_by_quadrature(y, sigma, m0, s0)
    return mean, sd**2


NORMAL_MISTAKES = {
    "precision added as variance": Mistake(
        _variances_added,
        "You added variances. It is precisions, one over the variances, that add: data must make the posterior narrower.",
    ),
    "N forgotten": Mistake(
        lambda y, sigma, m0, s0: _normal_by_quadrature(y[:1] * 0 + y.mean(), sigma, m0, s0),
        "You counted the average as one observation. N observations carry N times the precision of one.",
    ),
    "variance for standard deviation": Mistake(
        _variance_returned,
        "The mean is right and the second number is the variance. The standard deviation was asked for.",
    ),
    "m0 forgotten": Mistake(lambda y, sigma, m0, s0: _normal_by_quadrature(y, sigma, 0.0, s0), "You left out m0."),
    "precision for standard deviation": Mistake(
        lambda y, sigma, m0, s0: (_normal_by_quadrature(y, sigma, m0, s0)[0], _normal_by_quadrature(y, sigma, m0, s0)[1] ** -2),
        "The mean is right and the second number is the precision. The standard deviation is one over its root.",
    ),
    "standard deviations for variances": Mistake(
        lambda y, sigma, m0, s0: _from_precisions(y, 1 / s0, 1 / sigma, m0),
        "You used the standard deviations as if they were variances: a precision is one over the square of sigma or s0.",
    ),
    "standard deviations throughout": Mistake(
        lambda y, sigma, m0, s0: (
            _from_precisions(y, 1 / s0, 1 / sigma, m0)[0],
            _from_precisions(y, 1 / s0, 1 / sigma, m0)[1] ** 2,
        ),
        "You added one over the standard deviations. Precisions are one over the variances, and it is they that add.",
    ),
    "predictive": Mistake(
        _predictive,
        "The mean is right and the second number is the spread of the next observation. That of theta was asked for, without the noise.",
    ),
    "order swapped": Mistake(
        lambda y, sigma, m0, s0: _normal_by_quadrature(y, sigma, m0, s0)[::-1],
        "Both numbers are right and in the wrong order: the mean first, then the standard deviation.",
    ),
}
DIRICHLET_MISTAKES = {
    "posterior without the counts": Mistake(
        lambda counts, alpha: (np.array(alpha, dtype=float), _dirichlet_by_urn(counts, alpha)[1]),
        "Your posterior is still the prior: Dir(alpha) has not seen the counts.",
    ),
    "one order only": Mistake(
        lambda counts, alpha: (_dirichlet_by_urn(counts, alpha)[0], _urn(counts, alpha)),
        "Your evidence is that of one sequence in its order. Counts forget the order: how many sequences share them?",
    ),
    "normalised": Mistake(
        lambda counts, alpha: (
            _dirichlet_by_urn(counts, alpha)[0] / (np.sum(counts) + np.sum(alpha)),
            _dirichlet_by_urn(counts, alpha)[1],
        ),
        "You returned the posterior's mean. Its parameters were asked for: their sum says how much has been seen.",
    ),
    "one subtracted": Mistake(
        lambda counts, alpha: (_dirichlet_by_urn(counts, alpha)[0] - 1, _dirichlet_by_urn(counts, alpha)[1]),
        "The evidence is right and the parameters are not: nothing is subtracted.",
    ),
    "evidence not logged": Mistake(
        lambda counts, alpha: (_dirichlet_by_urn(counts, alpha)[0], np.exp(_dirichlet_by_urn(counts, alpha)[1])),
        "You returned the evidence, not its logarithm.",
    ),
}


def normal_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 2])
    cases = [(rng.normal(3.0, 1.0, n), sigma, -1.0, s0) for n, sigma, s0 in [(5, 1.3, 0.7), (9, 2.0, 3.0)]]
    return judge(
        answer,
        cases,
        _normal_by_quadrature,
        NORMAL_MISTAKES,
        right="Right. Precisions add, and the mean is the average of prior and data in proportion to their precisions.",
        nudge="With one observation, sigma = s0 and m0 = 0 the mean must lie halfway between 0 and y.",
        parts=("the mean", "the standard deviation"),
    )


def dirichlet_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 3])
    cases = [(rng.permutation(counts), rng.uniform(0.4, 3.0, len(counts))) for counts in ([3, 1, 2], [4, 2], [2, 1, 1, 3])]
    return judge(
        answer,
        cases,
        _dirichlet_by_urn,
        DIRICHLET_MISTAKES,
        right="Right. The evidence is what two models of the same counts would be compared by.",
        parts=("the parameters", "the log evidence"),
        nudge="For two colours, alpha = (1, 1) and n draws, each of the n + 1 possible counts has the same evidence.",
    )


TASKS = (
    Task(
        "decisions/conjugacy/normal",
        "Conjugacy twice: the normal mean",
        1,
        13,
        normal_stub,
        (
            "The product of bells is a bell. What adds up when you multiply exponentials?",
            "The coefficients of theta^2 add up: 1/s^2 = 1/s0^2 + N/sigma^2. Those of theta give the mean.",
            "Begin with `prior_precision, data_precision = 1 / s0**2, len(y) / sigma**2`: so m0 and the data share the mean.",
        ),
        NORMAL_MISTAKES,
        normal_verdict,
    ),
    Task(
        "decisions/conjugacy/dirichlet",
        "Conjugacy twice: counts and their evidence",
        1,
        17,
        dirichlet_stub,
        (
            "A Dirichlet's parameters are imaginary counts. The evidence compares normalising constants after and before.",
            "log p(n) = log (N! / prod n_k!) + log B(alpha + n) - log B(alpha), where log B(a) = sum log Gamma(a_k) - log Gamma(sum a_k).",
            "Begin with `def log_b(a):` and give back the logarithm of the beta function of all entries of a.",
        ),
        DIRICHLET_MISTAKES,
        dirichlet_verdict,
    ),
)
