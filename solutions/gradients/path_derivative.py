"""The path derivative. Roads: finite differences with the parameters of log q held; variances by quadrature; a root."""

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from course_pkg.checks.record import Record
from solutions.gradients._tools import normal_mean, slope


def path_by_differences(eps, mu, sigma, m, s):
    def value(theta):  # log q keeps the old parameters: only its draw moves
        return norm.logpdf(theta, m, s) - norm.logpdf(theta, mu, sigma)

    return slope(lambda new: value(new + sigma * eps), mu), slope(lambda new: value(mu + new * eps), sigma)


def total_by_mu(eps, sigma, s):
    def value(mu):
        return norm.logpdf(mu + sigma * eps, 0.0, s) - norm.logpdf(mu + sigma * eps, mu, sigma)

    return slope(value, 0.0)


def variances_by_quadrature(sigma, s):
    def variance(term):
        return normal_mean(lambda eps: term(eps) ** 2, 0.0, 1.0) - normal_mean(term, 0.0, 1.0) ** 2

    return variance(lambda eps: path_by_differences(eps, 0.0, sigma, 0.0, s)[0]), variance(lambda eps: total_by_mu(eps, sigma, s))


crossing_by_search = lambda s: brentq(lambda sigma: np.subtract(*variances_by_quadrature(sigma, s)), s / 5, 0.99 * s, xtol=1e-10)
TERMS = Record(
    cases=lambda rng: [(rng.normal(size=6), rng.normal(), rng.uniform(0.4, 0.8), rng.normal(), rng.uniform(0.9, 1.5)) for _ in range(3)],
    reference=path_by_differences,
    right="Right. Set m = mu and s = sigma and every single term is zero.",
    nudge="Not those terms. If the target is q itself, they vanish for every eps. By sigma each term is the one by mu times eps.",
    hints=(
        "Move theta only. log p and log q are both functions of theta; the parameters inside log q are frozen.",
        "(slope of log p - slope of log q in theta) * d theta / d lambda, with theta = mu + sigma eps.",
        "Begin with `theta = mu + sigma * eps`",
    ),
    mistakes={
        "You dropped the slope of log q in theta and kept the score. The score is the part with mean zero: that one may go.": "+ eps / sigma -> ;; return pull, pull * eps -> return pull - eps / sigma, pull * eps - (eps**2 - 1) / sigma",
        "Both of your parts are the same. Moving sigma by a little moves theta by eps times as much.": "pull * eps -> pull",
        "You followed log p only. Along the path log q changes with its draw, too; what you may drop is its change with mu and sigma.": "+ eps / sigma -> ",
        "The slope of log q at theta is -eps / sigma, and it enters with a minus: look at the two signs again.": "+ eps / sigma -> - eps / sigma",
        "That is the total derivative: log q was differentiated through its draw and through its own parameters. Hold the latter.": "return pull, pull * eps -> return pull - eps / sigma, pull * eps - (eps**2 - 1) / sigma",
    },
    parts=("the derivative by mu", "the derivative by sigma"),
    rtol=1e-3,
)
VARIANCES = Record(
    cases=lambda rng: [(factor * s, s) for factor, s in zip((0.5, 0.85, 1.6), rng.uniform(0.6, 1.5, 3).tolist(), strict=True)],
    reference=variances_by_quadrature,
    right="Right. Quiet near the posterior, loud where q is far too narrow: a start with a tiny sigma is no place for it.",
    nudge="Not those variances. With sigma = s/2 they are 9/(4 s^2) and 1/(4 s^2).",
    hints=(
        "Write the term in mu as a constant plus a coefficient times eps. Its variance is the coefficient squared.",
        "Path: eps / sigma - (mu + sigma eps - m) / s^2. Total: without eps / sigma.",
        "Begin with `model = sigma / s**2`, the size of eps's coefficient in the slope of log p.",
    ),
    mistakes={
        "The path derivative is free of noise where q is the posterior, and only there. What is left of eps when sigma is not s?": "(1 / sigma - model) ** 2 -> 0.0",
        "You added two variances. Both terms hold the same eps: add the coefficients first, then square.": "(1 / sigma - model) ** 2 -> 1 / sigma**2 + model**2",
        "The first is right. The total derivative is the path less the score, and both hold the same eps: do not add variances.": ", model**2 -> , (1 / sigma - model) ** 2 + 1 / sigma**2",
        "The first is right. In the total derivative the score takes eps / sigma away; in yours it comes in twice.": ", model**2 -> , (2 / sigma - model) ** 2",
    },
    parts=("the path derivative's variance", "the total derivative's variance"),
    rtol=1e-3,
)
CROSSING = Record(
    cases=lambda rng: [(s,) for s in rng.uniform(0.5, 3.0, 2).tolist()],
    reference=crossing_by_search,
    right="Right. Below that width the path derivative is the noisier of the two.",
    nudge="Not that width. A width is positive, and there the two variances of the last part must be equal.",
    hints=(
        "Where both are equally noisy, the two variances of Part 2 are the same number.",
        "Set the two variances of Part 2 equal and take roots with both signs.",
        "Begin with `1 / sigma - sigma / s**2 == sigma / s**2`, the sign that has a solution; solve it for sigma on paper.",
    ),
    mistakes={
        "There the path derivative has no noise at all. The two are equally noisy at a smaller sigma.": "/ np.sqrt(2) -> ",
        "You are above s, and the crossing is below: at which end does 1/sigma become large?": "/ np.sqrt(2) -> * np.sqrt(2)",
        "Nearly: you have an equation for the square of sigma.": ("np.sqrt(2) -> 2", "s / np.sqrt(2) -> s**2 / 2"),
    },
    rtol=1e-3,
)
TASKS = {"terms": TERMS, "variances": VARIANCES, "crossing": CROSSING}
