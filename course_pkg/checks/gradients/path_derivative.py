"""The path derivative. Roads: finite differences with the parameters of log q held; variances by quadrature; a root."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Verdict, judge
from course_pkg.checks.gradients._tools import normal_mean, slope


def _path_by_differences(eps: np.ndarray, mu: float, sigma: float, m: float, s: float) -> tuple[np.ndarray, np.ndarray]:
    def value(theta: np.ndarray) -> Any:  # log q keeps the old parameters: only its draw moves
        return norm.logpdf(theta, m, s) - norm.logpdf(theta, mu, sigma)

    return slope(lambda new: value(new + sigma * eps), mu), slope(lambda new: value(mu + new * eps), sigma)


def _total_by_differences(eps: np.ndarray, mu: float, sigma: float, m: float, s: float) -> tuple[np.ndarray, np.ndarray]:
    def value(new_mu: float, new_sigma: float) -> Any:
        theta = new_mu + new_sigma * eps
        return norm.logpdf(theta, m, s) - norm.logpdf(theta, new_mu, new_sigma)

    return slope(lambda new: value(new, sigma), mu), slope(lambda new: value(mu, new), sigma)


def _variances_by_quadrature(sigma: float, s: float) -> tuple[float, float]:
    def variance(terms: Callable[..., Any]) -> float:
        def by_mu(eps: np.ndarray) -> np.ndarray:
            return np.asarray(terms(eps, 0.0, sigma, 0.0, s)[0])

        return normal_mean(lambda eps: by_mu(eps) ** 2, 0.0, 1.0) - normal_mean(by_mu, 0.0, 1.0) ** 2

    return variance(_path_by_differences), variance(_total_by_differences)


def _crossing_by_search(s: float) -> float:
    def gap(sigma: float) -> float:
        path, total = _variances_by_quadrature(sigma, s)
        return path - total

    return float(brentq(gap, s / 5, 0.99 * s, xtol=1e-10))


def terms_stub(eps: np.ndarray, mu: float, sigma: float, m: float, s: float) -> Any:
    raise NotImplementedError


def variances_stub(sigma: float, s: float) -> Any:
    raise NotImplementedError


def crossing_stub(s: float) -> Any:
    raise NotImplementedError


def _score(eps, sigma):
    return np.stack([eps / sigma, (eps**2 - 1) / sigma])


def _wrong_term(eps, mu, sigma, m, s):
    """The pull of the model and the score term; what is missing is the pull of log q along the path."""
    pull = -(mu + sigma * eps - m) / s**2
    return tuple(np.stack([pull, pull * eps]) - _score(eps, sigma))


TERMS_MISTAKES = {
    "wrong term dropped": Mistake(
        _wrong_term,
        "You dropped the slope of log q in theta and kept the score. The score is the part with mean zero: that one may go.",
    ),
    "eps forgotten": Mistake(
        lambda *case: (_path_by_differences(*case)[0],) * 2,
        "Both of your parts are the same. Moving sigma by a little moves theta by eps times as much.",
    ),
    "model only": Mistake(
        lambda *case: _model_only(*case),
        "You followed log p only. Along the path log q changes with its draw, too; what you may drop is its change with mu and sigma.",
    ),
    "sign of log q": Mistake(
        lambda *case: tuple(2 * part - path for part, path in zip(_model_only(*case), _path_by_differences(*case), strict=True)),
        "The slope of log q at theta is -eps / sigma, and it enters with a minus: look at the two signs again.",
    ),
    "nothing dropped": Mistake(
        _total_by_differences,
        "That is the total derivative: log q was differentiated through its draw and through its own parameters. Hold the latter.",
    ),
    "score added": Mistake(
        lambda eps, mu, sigma, m, s: tuple(np.stack(_path_by_differences(eps, mu, sigma, m, s)) + _score(eps, sigma)),
        "You added the score. With a minus it would complete the total derivative, without it you have the path; so it is only noise.",
    ),
}


def _model_only(eps, mu, sigma, m, s):
    pull = -(mu + sigma * eps - m) / s**2
    return pull, pull * eps


VARIANCES_MISTAKES = {
    "always zero": Mistake(
        lambda sigma, s: (0.0, sigma**2 / s**4),
        "The path derivative is free of noise where q is the posterior, and only there. What is left of eps when sigma is not s?",
    ),
    "as if independent": Mistake(
        lambda sigma, s: (1 / sigma**2 + sigma**2 / s**4, sigma**2 / s**4),
        "You added two variances. Both terms hold the same eps: add the coefficients first, then square.",
    ),
    "score's variance added": Mistake(
        lambda sigma, s: ((1 / sigma - sigma / s**2) ** 2, (1 / sigma - sigma / s**2) ** 2 + 1 / sigma**2),
        "The first is right. The total derivative is the path less the score, and both hold the same eps: do not add variances.",
    ),
    "score added": Mistake(
        lambda sigma, s: ((1 / sigma - sigma / s**2) ** 2, (2 / sigma - sigma / s**2) ** 2),
        "The first is right. In the total derivative the score takes eps / sigma away; in yours it comes in twice.",
    ),
    "total where q is the posterior": Mistake(
        lambda sigma, s: ((1 / sigma - sigma / s**2) ** 2, 1 / s**2),
        "The first is right. The second is right where sigma = s, and only there.",
    ),
    "standard deviations": Mistake(
        lambda sigma, s: (abs(1 / sigma - sigma / s**2), sigma / s**2),
        "Those are standard deviations. The variances were asked for.",
    ),
    "swapped": Mistake(
        lambda sigma, s: _variances_by_quadrature(sigma, s)[::-1],
        "The two have changed places: first the path derivative, then the total one.",
    ),
}
CROSSING_MISTAKES = {
    "where the noise vanishes": Mistake(
        lambda s: s,
        "There the path derivative has no noise at all. The two are equally noisy at a smaller sigma.",
    ),
    "negative": Mistake(
        lambda s: -_crossing_by_search(s),
        "A width is positive.",
    ),
    "upside down": Mistake(
        lambda s: s**2 / _crossing_by_search(s),
        "You are above s, and the crossing is below: at which end does 1/sigma become large?",
    ),
    "root forgotten": Mistake(
        lambda s: s / 2,
        "Nearly: you have an equation for the square of sigma.",
    ),
}


def terms_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 460])
    cases = [
        (rng.normal(size=6), float(rng.normal()), float(rng.uniform(0.4, 0.8)), float(rng.normal()), float(rng.uniform(0.9, 1.5)))
        for _ in range(3)
    ]
    return judge(
        answer,
        cases,
        _path_by_differences,
        TERMS_MISTAKES,
        right="Right. Set m = mu and s = sigma and every single term is zero.",
        nudge="Not those terms. If the target is q itself, they vanish for every eps. By sigma each term is the one by mu times eps.",
        rtol=1e-3,
    )


def variances_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 461])
    cases = [(factor * s, s) for factor, s in zip((0.5, 0.85, 1.6), map(float, rng.uniform(0.6, 1.5, 3)), strict=True)]
    return judge(
        answer,
        cases,
        _variances_by_quadrature,
        VARIANCES_MISTAKES,
        right="Right. Quiet near the posterior, loud where q is far too narrow: a start with a tiny sigma is no place for it.",
        nudge="Not those variances. With sigma = s/2 they are 9/(4 s^2) and 1/(4 s^2).",
        rtol=1e-3,
    )


def crossing_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 462])
    return judge(
        answer,
        [(float(s),) for s in rng.uniform(0.5, 3.0, 2)],
        _crossing_by_search,
        CROSSING_MISTAKES,
        right="Right. Below that width the path derivative is the noisier of the two.",
        nudge="Not that width. A width is positive, and there the two variances of the last part must be equal.",
        rtol=1e-3,
    )


TASKS = (
    Task(
        "gradients/path-derivative/terms",
        "The path derivative: its terms",
        2,
        10,
        terms_stub,
        (
            "Move theta only. log p and log q are both functions of theta; the parameters inside log q are frozen.",
            "(slope of log p - slope of log q in theta) * d theta / d lambda, with theta = mu + sigma eps.",
            "Begin with `theta = mu + sigma * eps`",
        ),
        TERMS_MISTAKES,
        terms_verdict,
    ),
    Task(
        "gradients/path-derivative/variances",
        "The path derivative: its variance",
        2,
        10,
        variances_stub,
        (
            "Write the term in mu as a constant plus a coefficient times eps. Its variance is the coefficient squared.",
            "Path: eps / sigma - (mu + sigma eps - m) / s^2. Total: without eps / sigma.",
            "Begin with `model = sigma / s**2`, the size of eps's coefficient in the slope of log p.",
        ),
        VARIANCES_MISTAKES,
        variances_verdict,
    ),
    Task(
        "gradients/path-derivative/crossing",
        "The path derivative: where it starts to pay",
        2,
        6,
        crossing_stub,
        (
            "Where both are equally noisy, the two variances of Part 2 are the same number.",
            "Set the two variances of Part 2 equal and take roots with both signs.",
            "Begin with `1 / sigma - sigma / s**2 == sigma / s**2`, the sign that has a solution; solve it for sigma on paper.",
        ),
        CROSSING_MISTAKES,
        crossing_verdict,
    ),
)
