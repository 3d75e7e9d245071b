"""Find the bug. Roads: products in the place of logarithms; quadrature, rows standing for copies; slopes of distribution functions."""

import math

import numpy as np
from scipy.stats import halfcauchy, norm

from course_pkg.checks.record import Record
from solutions.lcvi._tools import normal_mean, slope


def decide_by_products(y, grid, M):
    return max(grid, key=lambda h: math.prod(math.fsum(math.exp(-((value - h) ** 2) / M) for value in row) for row in y))


def bound_by_quadrature(rows, h, n, eps, mu, sigma, s, s0, M):  # noqa: ARG001
    """Copies of the rows fill the data set. Quadrature stands for the balanced noise, over which means of squares are exact."""

    def inside(theta):
        rest = norm.logpdf(theta, 0, s0) - norm.logpdf(theta, mu, sigma)
        for value, decision in zip(np.tile(rows, n // len(rows)), np.tile(h, n // len(rows)), strict=True):
            rest = rest + norm.logpdf(value, theta, s) - ((decision - theta) ** 2 + s**2) / M
        return rest

    return normal_mean(inside, mu, sigma)


def density_by_differences(t, effects):
    """The density of t = log tau is the slope of the probability that tau lies below exp(t); each effect's, the same way."""
    prior = slope(lambda at: halfcauchy.cdf(np.exp(at), scale=5), t, 1e-4)
    return np.log(prior) + np.log(slope(lambda move: norm.cdf(effects + move, 0, np.exp(t)), 0.0, 1e-4)).sum()


def crowds(rng):
    for _ in range(3):
        y = np.exp(rng.normal(0, 0.5, (6, 1)) + 0.8 * rng.normal(size=(6, 5)))
        yield np.minimum(y, 5 + rng.random((6, 5))), np.linspace(0, 4, 41) + rng.uniform(0, 0.1), rng.uniform(0.6, 1.4)


def minibatches(rng):
    for count, n in [(3, 12), (5, 40)]:
        half = rng.normal(size=15)
        eps = np.concatenate([half, -half]) / np.sqrt(np.mean(half**2))
        yield (
            rng.normal(0.5, 1, count),
            rng.normal(0.5, 1, count),
            n,
            eps,
            *rng.uniform([0.3, 0.2, 0.8, 0.5, 2.0], [1.0, 0.6, 1.6, 1.5, 5.0]),
        )


def widths(rng):
    for low, high, count in [(0.5, 1.2, 3), (1.8, 2.4, 8), (-1.5, -0.5, 0)]:
        t = rng.uniform(low, high)
        yield t, np.exp(t) * rng.normal(size=count)


DECIDE = Record(
    cases=crowds,
    reference=decide_by_products,
    right="Right. Now M matters: with a small one the decision stays with the crowd, with a large one it goes to the mean.",
    nudge="Not that decision. With y = [[0, 0, 3]], grid = [0, 1] and M = 1 it is 0.",
    hints=(
        "For a single outcome the function is right. What happens with two, in which order?",
        "The term of h is (1/S_theta) sum over s of log( (1/S_y) sum over t of u(y_st, h) ).",
        "Begin with `u = np.exp(-((y[:, :, None] - grid) ** 2) / M)`",
    ),
    mistakes={
        "That is still the decision nearest to the mean: the log undoes the exponential before the average.": "np.log(u.mean(axis=1)) -> np.log(u).mean(axis=1)",
        "That has the largest expected utility. Here the utility term was asked for, log and all.": "np.log(u.mean(axis=1)) -> u.mean(axis=1)",
        "That is the place of the decision in the grid. Return the decision.": "grid[term.argmax()] -> term.argmax()",
    },
    apart=True,
)
MINIBATCH = Record(
    cases=minibatches,
    reference=bound_by_quadrature,
    right="Right. Averaged over all minibatches it is the bound from all rows.",
    nudge="Not that bound. With rows = [0, 1], h = [1, 1], n = 6, eps = [1, -1], mu = 0, sigma = 0.5, s = 2, s0 = 1 and "
    "M = 4 it is -18.428.",
    hints=(
        "Compute the four parts with all rows and, on average, with some. Which of them does not agree?",
        "(n / B) sum of log likelihoods + log prior - log q - (n / B) sum of expected losses / M.",
        "Begin with `draws = mu + sigma * eps`",
    ),
    mistakes={
        "The utility still counts only for the rows that were looked at. It is a sum over rows, as the log likelihood is.": "((h -> len(rows) / n * ((h",
        "You scaled prior and log q, too. They are stated once, however many rows there are.": "by_row.sum(axis=0) + once) -> (by_row.sum(axis=0) + once))",
        "The utility is right, and the prior is scaled now. It is stated once.": "once = -> once = n / len(rows) *",
        "The utility is right, and log q is scaled now. There is one q.": "- norm.logpdf(draws, mu -> - n / len(rows) * norm.logpdf(draws, mu",
        "You multiplied the utility by n. It was a sum over the rows already; each row stands for n / len(rows).": "((h -> len(rows) * ((h",
    },
    rtol=1e-5,
)
DENSITY = Record(
    cases=widths,
    reference=density_by_differences,
    right="Right. It integrates to 1 over t and the effects.",
    nudge="Not that density. At t = 0 without any effects it is -2.100; at t = 1 with the effects 0 and 1 it is -5.226.",
    hints=(
        "Of which variable is this a density? An interval of t and the interval of tau that it is mapped to are equally probable.",
        "p_t(t) = p_tau(exp(t)) |d exp(t) / dt|.",
        "Begin with `tau = np.exp(t)`",
    ),
    mistakes={
        "Your density is still that of tau, looked at as a function of t: it does not integrate to 1 over t.": "+ t -> ",
        "The factor is there and upside down. An interval of t has the probability of the interval of tau that it is mapped to.": "+ t -> - t",
        "You counted the factor once for each effect. Only tau was transformed, once.": "+ t -> + len(effects) * t",
        "You added the derivative itself. To a log density belongs its logarithm.": "+ t -> + tau",
        "You gave the half-Cauchy prior to t. It belongs to tau.": "halfcauchy.logpdf(tau, scale=5) + t -> halfcauchy.logpdf(np.abs(t), scale=5)",
    },
)
TASKS = {"decide": DECIDE, "minibatch": MINIBATCH, "density": DENSITY}
