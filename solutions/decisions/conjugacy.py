"""Conjugacy twice. Roads: quadrature on a grid for the normal, one ball after the other from an urn for the Dirichlet."""

from itertools import permutations

import numpy as np
from scipy.stats import norm

from course_pkg.checks.record import Record


def normal_by_quadrature(y, sigma, m0, s0):
    spread = 12 * (sigma + s0)
    grid = np.linspace(min(m0, y.min()) - spread, max(m0, y.max()) + spread, 4_001)
    log_joint = norm.logpdf(grid, m0, s0) + sum(norm.logpdf(value, grid, sigma) for value in y)
    weight = np.exp(log_joint - log_joint.max())
    weight /= weight.sum()
    mean = weight @ grid
    return mean, np.sqrt(weight @ (grid - mean) ** 2)


def dirichlet_by_urn(counts, alpha):
    """Each draw adds a ball of the colour drawn; every order of the same colours is as probable."""
    sequence = tuple(np.repeat(np.arange(len(counts)), counts))
    balls, log_probability = np.array(alpha, dtype=float), 0.0
    for colour in sequence:
        log_probability += np.log(balls[colour] / balls.sum())
        balls[colour] += 1
    return balls, log_probability + np.log(len(set(permutations(sequence))))


NORMAL = Record(
    cases=lambda rng: [(rng.normal(3.0, 1.0, n), sigma, -1.0, s0) for n, sigma, s0 in [(5, 1.3, 0.7), (9, 2.0, 3.0)]],
    reference=normal_by_quadrature,
    parts=("the mean", "the standard deviation"),
    right="Right. Precisions add, and the mean is the average of prior and data in proportion to their precisions.",
    nudge="Not that normal. With y = [1, 3], sigma = 1, m0 = 0 and s0 = 1 it has mean 1.333 and standard deviation 0.577.",
    hints=(
        "The product of bells is a bell. What adds up when you multiply exponentials?",
        "The coefficients of theta^2 add up: 1/s^2 = 1/s0^2 + N/sigma^2. Those of theta give the mean.",
        "Begin with `prior_precision, data_precision = 1 / s0**2, len(y) / sigma**2`: so m0 and the data share the mean.",
    ),
    mistakes={
        "You added variances. It is precisions, one over the variances, that add: data must make the posterior narrower.": (
            "1 / s0**2, len(y) / sigma**2 -> s0**2, sigma**2 / len(y) ;; 1 / np.sqrt(precision) -> np.sqrt(precision)"
        ),
        "You counted the average as one observation. N observations carry N times the precision of one.": "len(y) -> 1",
        "The second number is the spread of the next observation. That of theta was asked for, without the noise.": "1 / np.sqrt(precision) -> np.sqrt(1 / precision + sigma**2)",
        "That is the average of y and its standard error: the prior is missing.": "1 / s0**2, -> 0,",
        "You used the standard deviations as if they were variances: a precision is one over the square of sigma or s0.": "**2 -> ",
    },
)
DIRICHLET = Record(
    cases=lambda rng: [(rng.permutation(counts), rng.uniform(0.4, 3.0, len(counts))) for counts in ([3, 1, 2], [4, 2], [2, 1, 1, 3])],
    reference=dirichlet_by_urn,
    parts=("the list of parameters", "the log evidence"),
    right="Right. The evidence is what two models of the same counts would be compared by.",
    nudge="Not those. With counts = [2, 1] and alpha = [1, 1] the parameters are [3, 2] and the log evidence is -1.386: four counts are possible, all alike.",
    hints=(
        "A Dirichlet's parameters are imaginary counts. The evidence compares normalising constants after and before.",
        "log p(n) = log (N! / prod n_k!) + log B(alpha + n) - log B(alpha), where log B(a) = sum log Gamma(a_k) - log Gamma(sum a_k).",
        "Begin with `def log_b(a):` and give back the logarithm of the beta function of all entries of a.",
    ),
    mistakes={
        "Your posterior is still the prior: Dir(alpha) has not seen the counts.": "return alpha + counts -> return alpha",
        "Your evidence is that of one sequence in its order. Counts forget the order: how many sequences share them?": "orders + -> ",
        "The parameters are right. The prior's own normalising constant is missing from your evidence.": "- log_b(alpha) -> ",
    },
)
TASKS = {"normal": NORMAL, "dirichlet": DIRICHLET}
