"""The score function. Road: finite differences of log densities, and of a reweighted average for the gradient."""

from typing import Any

import numpy as np
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Verdict, judge
from course_pkg.checks.gradients._tools import slope


def _score_by_differences(theta: np.ndarray, mu: np.ndarray, sigma: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    by_mu = slope(lambda shift: norm.logpdf(theta, mu + shift, sigma), 0.0)
    by_sigma = slope(lambda shift: norm.logpdf(theta, mu, sigma + shift), 0.0)
    return by_mu, by_sigma


def _gradient_by_reweighting(log_joint: np.ndarray, theta: np.ndarray, mu: np.ndarray, sigma: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The draws stay, q moves: each is weighted by the new density over the old, and g is left as it was."""
    log_q = norm.logpdf(theta, mu, sigma).sum(axis=1)
    g = log_joint - log_q

    def average(new_mu: np.ndarray, new_sigma: np.ndarray) -> float:
        weights = np.exp(norm.logpdf(theta, new_mu, new_sigma).sum(axis=1) - log_q)
        return float(np.mean(weights * g))

    def along(by_mu: np.ndarray, by_sigma: np.ndarray) -> float:
        return float(slope(lambda shift: average(mu + shift * by_mu, sigma + shift * by_sigma), 0.0))

    still, units = np.zeros_like(mu), np.eye(len(mu))
    return np.array([along(e, still) for e in units]), np.array([along(still, e) for e in units])


def score_stub(theta: np.ndarray, mu: np.ndarray, sigma: np.ndarray) -> Any:
    raise NotImplementedError


def gradient_stub(log_joint: np.ndarray, theta: np.ndarray, mu: np.ndarray, sigma: np.ndarray) -> Any:
    raise NotImplementedError


def _both(theta: np.ndarray, mu: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """Scores of both parameters, one above the other: shape ``(2, draws, coordinates)``."""
    return np.stack(_score_by_differences(theta, mu, sigma))


def _g(log_joint, theta, mu, sigma, entropy=1.0):
    return log_joint - entropy * norm.logpdf(theta, mu, sigma).sum(axis=1)


def _terms(log_joint, theta, mu, sigma, *, entropy=1.0):
    return _g(log_joint, theta, mu, sigma, entropy)[:, None] * _both(theta, mu, sigma)


def _one_g_for_each_coordinate(log_joint, theta, mu, sigma):
    g = log_joint[:, None] - norm.logpdf(theta, mu, sigma)
    return tuple((g * _both(theta, mu, sigma)).mean(axis=1))


def _variance_for_scale(log_joint, theta, mu, sigma):
    g = log_joint - norm.logpdf(theta, mu, sigma**2).sum(axis=1)
    return tuple((g[:, None] * _both(theta, mu, sigma)).mean(axis=1))


def _less_the_mean(log_joint, theta, mu, sigma):
    g = _g(log_joint, theta, mu, sigma)
    return tuple(((g - g.mean())[:, None] * _both(theta, mu, sigma)).mean(axis=1))


SCORE_MISTAKES = {
    "by the variance": Mistake(
        lambda theta, mu, sigma: ((theta - mu) / sigma**2, -0.5 / sigma**2 + (theta - mu) ** 2 / (2 * sigma**4)),
        "Your second part is the derivative by sigma squared. The parameter here is sigma: the chain rule adds a factor of 2 sigma.",
    ),
    "by log sigma": Mistake(
        lambda theta, mu, sigma: ((theta - mu) / sigma**2, ((theta - mu) / sigma) ** 2 - 1),
        "Your second part is the derivative by log sigma. The parameter here is sigma: the chain rule divides by sigma.",
    ),
    "normaliser forgotten": Mistake(
        lambda theta, mu, sigma: ((theta - mu) / sigma**2, (theta - mu) ** 2 / sigma**3),
        "Sigma also stands in the normalising constant of the density. Without it your second part is never negative.",
    ),
    "sign": Mistake(
        lambda theta, mu, sigma: ((mu - theta) / sigma**2, (theta - mu) ** 2 / sigma**3 - 1 / sigma),
        "Your first part points from the draw to the mean. To make a draw more probable, the mean must move towards it.",
    ),
}
GRADIENT_MISTAKES = {
    "g's own derivative added": Mistake(
        lambda log_joint, theta, mu, sigma: tuple((_terms(log_joint, theta, mu, sigma) - _both(theta, mu, sigma)).mean(axis=1)),
        "You also differentiated g. Its only derivative is minus the score, whose mean is zero: it adds noise and nothing else.",
    ),
    "mean over the wrong axis": Mistake(
        lambda log_joint, theta, mu, sigma: tuple(_terms(log_joint, theta, mu, sigma).mean(axis=2)),
        "You averaged over the coordinates. Draws are rows: the mean runs down the first axis, and each coordinate keeps its own.",
    ),
    "log q forgotten": Mistake(
        lambda log_joint, theta, mu, sigma: tuple(_terms(log_joint, theta, mu, sigma, entropy=0.0).mean(axis=1)),
        "Your g is the log joint alone. That gradient runs to the mode and lets sigma collapse: where is log q?",
    ),
    "log q with the wrong sign": Mistake(
        lambda log_joint, theta, mu, sigma: tuple(_terms(log_joint, theta, mu, sigma, entropy=-1.0).mean(axis=1)),
        "log q has the wrong sign in your g: a place where q has much already is worth less.",
    ),
    "log q not added up": Mistake(
        _one_g_for_each_coordinate,
        "log q of a product is a sum: g needs one value for each draw. Yours has one for each draw and coordinate.",
    ),
    "variance for scale": Mistake(
        _variance_for_scale,
        "You gave norm.logpdf a variance. It takes a standard deviation, which is what sigma is.",
    ),
    "baseline": Mistake(
        _less_the_mean,
        "You took the mean of g off, a baseline. That is a matter for the next exercise; the plain estimate was asked for.",
    ),
    "product of means": Mistake(
        lambda log_joint, theta, mu, sigma: tuple(_g(log_joint, theta, mu, sigma).mean() * _both(theta, mu, sigma).mean(axis=1)),
        "You averaged g and the score apart. They belong to the same draw: multiply first, then average.",
    ),
    "summed": Mistake(
        lambda log_joint, theta, mu, sigma: tuple(_terms(log_joint, theta, mu, sigma).sum(axis=1)),
        "You added the draws up. An expectation is estimated by their mean.",
    ),
}


def _draws(rng: np.random.Generator, draws: int, dim: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    mu, sigma = rng.normal(0, 1, dim), rng.uniform(0.4, 1.6, dim)
    return mu + sigma * rng.normal(size=(draws, dim)), mu, sigma


def score_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 400])
    return judge(
        answer,
        [_draws(rng, draws, dim) for draws, dim in [(5, 3), (2, 2)]],
        _score_by_differences,
        SCORE_MISTAKES,
        right="Right. Averaged over many draws from q both parts vanish; that is what lets us subtract multiples of them later.",
        nudge="Not those derivatives. With mu = 0, sigma = 2 and theta = 4 they are 1 and 1.5.",
    )


def gradient_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 401])
    cases = []
    for draws, dim in [(7, 2), (4, 4)]:
        theta, mu, sigma = _draws(rng, draws, dim)
        cases.append((rng.normal(-6, 3, draws), theta, mu, sigma))
    return judge(
        answer,
        cases,
        _gradient_by_reweighting,
        GRADIENT_MISTAKES,
        right="Right. The model was never differentiated: it only says how much each draw counts.",
        nudge="The shapes are right and the numbers are not. One draw at mu + sigma whose g is 2 gives 2/sigma by mu and 0 by sigma.",
    )


TASKS = (
    Task(
        "gradients/score-function/score",
        "The score function: by hand",
        2,
        10,
        score_stub,
        (
            "Write log N(theta; mu, sigma^2) as three terms and differentiate each, once by mu and once by sigma.",
            "log q = -log sigma - (theta - mu)^2 / (2 sigma^2) + constant.",
            "Begin with `eps = (theta - mu) / sigma`",
        ),
        SCORE_MISTAKES,
        score_verdict,
    ),
    Task(
        "gradients/score-function/gradient",
        "The score function: the ELBO's gradient",
        2,
        14,
        gradient_stub,
        (
            "Each draw votes for the direction that makes it more probable; g says how strongly, and with which sign.",
            "gradient = mean over draws of (log p(theta, D) - log q(theta)) * score(theta); log q adds up over the coordinates.",
            "Begin with `log_q = norm.logpdf(theta, mu, sigma).sum(axis=1)`",
        ),
        GRADIENT_MISTAKES,
        gradient_verdict,
    ),
)
