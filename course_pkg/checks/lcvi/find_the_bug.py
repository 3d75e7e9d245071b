"""Find the bug. Roads: products in the place of logarithms; quadrature, rows standing for copies; slopes of distribution functions."""

import math
from typing import Any

import numpy as np
from scipy.stats import halfcauchy, norm

from course_pkg.checks._judge import Mistake, Task, Verdict, judge
from course_pkg.checks.gradients._tools import balanced
from course_pkg.checks.lcvi._tools import normal_mean, slope


def _decide_by_products(y: np.ndarray, grid: np.ndarray, M: float) -> float:
    def product(h: float) -> float:
        return math.prod(math.fsum(math.exp(-((value - h) ** 2) / M) for value in row) for row in y)

    return float(max(grid, key=product))


def _bound_by_quadrature(
    rows: np.ndarray, h: np.ndarray, n: int, eps: np.ndarray, mu: float, sigma: float, s: float, s0: float, M: float
) -> float:
    """Copies of the rows fill the data set. Quadrature stands for the balanced noise, over which means of squares are exact."""
    _ = eps
    y, decisions = np.tile(rows, n // len(rows)), np.tile(h, n // len(rows))

    def inside(theta: np.ndarray) -> np.ndarray:
        fit = sum(norm.logpdf(value, theta, s) for value in y)
        cost = sum((decision - theta) ** 2 + s**2 for decision in decisions)
        return fit + norm.logpdf(theta, 0, s0) - norm.logpdf(theta, mu, sigma) - cost / M

    return normal_mean(inside, mu, sigma)


def _density_by_differences(t: float, effects: np.ndarray) -> float:
    """The density of t = log tau is the slope of the probability that tau lies below exp(t); each effect's, the same way."""
    prior = slope(lambda at: halfcauchy.cdf(np.exp(at), scale=5), t, 1e-4)
    return float(np.log(prior) + sum(np.log(slope(lambda at: norm.cdf(at, 0, np.exp(t)), effect, 1e-4)) for effect in effects))


def decide_stub(y: np.ndarray, grid: np.ndarray, M: float) -> Any:
    raise NotImplementedError


def minibatch_stub(rows: np.ndarray, h: np.ndarray, n: int, eps: np.ndarray, mu: float, sigma: float, s: float, s0: float, M: float) -> Any:
    raise NotImplementedError


def density_stub(t: float, effects: np.ndarray) -> Any:
    raise NotImplementedError


def _u(y, grid, M):
    return np.exp(-((y[:, :, None] - grid) ** 2) / M)


DECIDE_MISTAKES = {
    "unchanged": Mistake(
        lambda y, grid, M: grid[np.log(_u(y, grid, M)).mean(axis=(0, 1)).argmax()],
        "That is still the decision nearest to the mean, whatever M is: the log undoes the exponential before anything is averaged.",
    ),
    "log outside both": Mistake(
        lambda y, grid, M: grid[_u(y, grid, M).mean(axis=(0, 1)).argmax()],
        "That has the largest expected utility. It is the decision to make in the end; here the utility term was asked for, log and all.",
    ),
    "axes swapped": Mistake(
        lambda y, grid, M: grid[np.log(_u(y, grid, M).mean(axis=0)).mean(axis=0).argmax()],
        "You averaged over theta inside the logarithm and over outcomes outside. The first axis is theta.",
    ),
    "the place in the grid": Mistake(
        lambda y, grid, M: float(np.log(_u(y, grid, M).mean(axis=1)).mean(axis=0).argmax()),
        "That is the place of the decision in the grid. Return the decision.",
    ),
    "the worst": Mistake(
        lambda y, grid, M: grid[np.log(_u(y, grid, M).mean(axis=1)).mean(axis=0).argmin()],
        "That is the worst decision of the grid.",
    ),
    "the term": Mistake(
        lambda y, grid, M: np.log(_u(y, grid, M).mean(axis=1)).mean(axis=0).max(),
        "That is the term of the best decision. Return the decision.",
    ),
    "times M": Mistake(
        lambda y, grid, M: grid[np.log(_u(y, grid, 1 / M).mean(axis=1)).mean(axis=0).argmax()],
        "The logarithm stands where it should, and M on the wrong side: the loss is divided by it.",
    ),
}


def _minibatch(rows, h, n, eps, mu, sigma, s, s0, M, *, fit=None, prior=1.0, log_q=1.0, utility=None):
    theta, scale = mu + sigma * eps, n / len(rows)
    per_fit = norm.logpdf(rows[:, None], theta, s).sum(axis=0)
    per_cost = ((h[:, None] - theta) ** 2 + s**2).sum(axis=0) / M
    rest = prior * norm.logpdf(theta, 0, s0) - log_q * norm.logpdf(theta, mu, sigma)
    return ((scale if fit is None else fit) * per_fit + rest - (scale if utility is None else utility) * per_cost).mean()


def _share(case):
    return case[2] / len(case[0])


MINIBATCH_MISTAKES = {
    "unchanged": Mistake(
        lambda *case: _minibatch(*case, utility=1.0),
        "The utility still counts only for the rows that were looked at. It is a sum over rows, as the log likelihood is.",
    ),
    "all scaled": Mistake(
        lambda *case: _minibatch(*case, prior=_share(case), log_q=_share(case)),
        "You scaled prior and log q, too. They are stated once, however many rows there are.",
    ),
    "prior scaled": Mistake(
        lambda *case: _minibatch(*case, prior=_share(case)),
        "The utility is right, and the prior is scaled now. It is stated once.",
    ),
    "log q scaled": Mistake(
        lambda *case: _minibatch(*case, log_q=_share(case)),
        "The utility is right, and log q is scaled now. There is one q.",
    ),
    "utility times n": Mistake(
        lambda *case: _minibatch(*case, utility=case[2]),
        "You multiplied the utility by n. It was a sum over the rows already; each row stands for n / len(rows).",
    ),
    "mean utility": Mistake(
        lambda *case: _minibatch(*case, utility=1 / len(case[0])),
        "You averaged the utility over the rows. Their terms add up.",
    ),
    "fit no longer scaled": Mistake(
        lambda *case: _minibatch(*case, fit=1.0),
        "The utility is right, and the log likelihood has lost its factor.",
    ),
    "nothing scaled": Mistake(
        lambda *case: _minibatch(*case, fit=1.0, utility=1.0),
        "Now neither the log likelihood nor the utility speaks for the rows that were not looked at.",
    ),
    "utility added": Mistake(
        lambda *case: _minibatch(*case, utility=-_share(case)),
        "The factor is right and the sign is not: a cost lowers the bound.",
    ),
    "utility shared out": Mistake(
        lambda *case: _minibatch(*case, utility=1 / _share(case)),
        "Your factor is upside down: the fewer rows you look at, the more each of them must speak for.",
    ),
    "no utility": Mistake(
        lambda *case: _minibatch(*case, utility=0.0),
        "Now the utility is gone. It counted too little, not too much.",
    ),
}


def _density(t, effects, *, jacobian=1.0, prior=None):
    tau = np.exp(t)
    return (halfcauchy.logpdf(tau, scale=5) if prior is None else prior(tau)) + jacobian * t + norm.logpdf(effects, 0, tau).sum()


DENSITY_MISTAKES = {
    "unchanged": Mistake(
        lambda t, effects: _density(t, effects, jacobian=0.0),
        "Your density is still that of tau, looked at as a function of t: it does not integrate to 1 over t.",
    ),
    "taken off": Mistake(
        lambda t, effects: _density(t, effects, jacobian=-1.0),
        "The factor is there and upside down. An interval of t has the probability of the interval of tau that it is mapped to.",
    ),
    "for each effect": Mistake(
        lambda t, effects: _density(t, effects, jacobian=1.0 + len(effects)),
        "Only tau was transformed. The effects are what they were and need no factor.",
    ),
    "for the effects instead": Mistake(
        lambda t, effects: _density(t, effects, jacobian=float(len(effects))),
        "You counted the factor once for each effect. Only tau was transformed, once.",
    ),
    "tau added": Mistake(
        lambda t, effects: _density(t, effects, jacobian=0.0) + np.exp(t),
        "You added the derivative itself. To a log density belongs its logarithm.",
    ),
    "log of t": Mistake(
        lambda t, effects: _density(t, effects, jacobian=0.0) + np.log(np.abs(t)),
        "You added the log of t. The derivative of tau = exp(t) is exp(t), and its logarithm is simpler.",
    ),
    "prior of t": Mistake(
        lambda t, effects: _density(t, effects, jacobian=0.0, prior=lambda tau: halfcauchy.logpdf(np.abs(np.log(tau)), scale=5)),
        "You gave the half-Cauchy prior to t. It belongs to tau.",
    ),
    "variance": Mistake(
        lambda t, effects: halfcauchy.logpdf(np.exp(t), scale=5) + 2 * t + norm.logpdf(effects, 0, np.exp(t)).sum(),
        "You took the factor of tau squared. The prior is for tau, whose derivative in t is tau.",
    ),
    "prior left out": Mistake(
        lambda t, effects: _density(t, effects, prior=lambda tau: 0.0),
        "Now the prior of tau is gone.",
    ),
}


def decide_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 790])
    cases: list[tuple[Any, ...]] = []
    while len(cases) < 3:
        y = np.minimum(np.exp(rng.normal(0, 0.5, (6, 1)) + 0.8 * rng.normal(size=(6, 5))), 5 + rng.random((6, 5)))
        case = (y, np.linspace(0, 4, 41) + float(rng.uniform(0, 0.1)), float(rng.uniform(0.6, 1.4)))
        answers = np.sort([_decide_by_products(*case), *(mistake.answer(*case) for mistake in DECIDE_MISTAKES.values())])
        if np.diff(answers).min() > 0.01:  # else one could not be told from another
            cases.append(case)
    return judge(
        answer,
        cases,
        _decide_by_products,
        DECIDE_MISTAKES,
        right="Right. Now M matters: with a small one the decision stays with the crowd, with a large one it goes to the mean.",
        nudge="Not that decision. With y = [[0, 0, 3]], grid = [0, 1] and M = 1 it is 0.",
    )


def minibatch_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 791])
    cases = []
    for count, n in [(3, 12), (5, 40)]:
        mu, sigma, s, s0, M = map(float, rng.uniform([0.3, 0.2, 0.8, 0.5, 2.0], [1.0, 0.6, 1.6, 1.5, 5.0]))
        cases.append((rng.normal(0.5, 1, count), rng.normal(0.5, 1, count), n, balanced(rng, 30), mu, sigma, s, s0, M))
    return judge(
        answer,
        cases,
        _bound_by_quadrature,
        MINIBATCH_MISTAKES,
        right="Right. Averaged over all minibatches it is the bound from all rows.",
        nudge="Not that bound. With rows = [0, 1], h = [1, 1], n = 6, eps = [1, -1], mu = 0, sigma = 0.5, s = 2, s0 = 1 and "
        "M = 4 it is -18.428.",
        rtol=1e-5,
    )


def density_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 792])
    return judge(
        answer,
        [(t, np.exp(t) * rng.normal(size=count)) for t, count in [(float(rng.uniform(0.5, 1.2)), 3), (float(rng.uniform(1.6, 2.4)), 8)]]
        + [(float(rng.uniform(-1.5, -0.5)), np.array([]))],
        _density_by_differences,
        DENSITY_MISTAKES,
        right="Right. It integrates to 1 over t and the effects.",
        nudge="Not that density. At t = 0 without any effects it is -2.100; at t = 1 with the effects 0 and 1 it is -5.226.",
    )


TASKS = (
    Task(
        "lcvi/find-the-bug/decide",
        "Find the bug: a decision that nothing moves",
        2,
        9,
        decide_stub,
        (
            "For a single outcome the function is right. What happens with two, in which order?",
            "The term of h is (1/S_theta) sum over s of log( (1/S_y) sum over t of u(y_st, h) ).",
            "Begin with `u = np.exp(-((y[:, :, None] - grid) ** 2) / M)`",
        ),
        DECIDE_MISTAKES,
        decide_verdict,
    ),
    Task(
        "lcvi/find-the-bug/minibatch",
        "Find the bug: a bound from some rows",
        2,
        9,
        minibatch_stub,
        (
            "Compute the four parts with all rows and, on average, with some. Which of them does not agree?",
            "(n / B) sum of log likelihoods + log prior - log q - (n / B) sum of expected losses / M.",
            "Begin with `draws = mu + sigma * eps`",
        ),
        MINIBATCH_MISTAKES,
        minibatch_verdict,
    ),
    Task(
        "lcvi/find-the-bug/density",
        "Find the bug: a prior for a width",
        2,
        7,
        density_stub,
        (
            "Of which variable is this a density? An interval of t and the interval of tau that it is mapped to are equally probable.",
            "p_t(t) = p_tau(exp(t)) |d exp(t) / dt|.",
            "Begin with `tau = np.exp(t)`",
        ),
        DENSITY_MISTAKES,
        density_verdict,
    ),
)
