"""The gamma's implicit gradient. Roads: finite differences of the quantile; the Laplace transform in closed form."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.special import digamma
from scipy.stats import gamma

from course_pkg.checks._judge import Mistake, Task, Verdict, judge
from course_pkg.checks.gradients._tools import slope


def _slope_of_quantile(theta: np.ndarray, alpha: float) -> np.ndarray:
    """The level of each draw stays, alpha moves, and the quantile at that level moves with it."""
    level = gamma.cdf(theta, alpha)
    return np.asarray(slope(lambda a: gamma.ppf(level, a), alpha))


def _decay_slope(c: float, theta: np.ndarray) -> np.ndarray:
    """The derivative of g(theta) = exp(-c theta)."""
    return -c * np.exp(-c * theta)


def _gradient_in_closed_form(g_slope: partial[Any], theta: np.ndarray, alpha: float) -> float:  # noqa: ARG001
    """E exp(-c theta) = (1 + c)^-alpha."""
    (c,) = g_slope.args
    return float(-np.log1p(c) * (1 + c) ** -alpha)


def slope_stub(theta: np.ndarray, alpha: float) -> Any:
    raise NotImplementedError


def gradient_stub(g_slope: Callable[[np.ndarray], np.ndarray], theta: np.ndarray, alpha: float) -> Any:
    raise NotImplementedError


def _cdf_slope(theta, alpha):
    return slope(lambda a: gamma.cdf(theta, a), alpha)


SLOPE_MISTAKES = {
    "sign": Mistake(
        lambda theta, alpha: _cdf_slope(theta, alpha) / gamma.pdf(theta, alpha),
        "All your draws move left as alpha grows, yet the mean of this gamma is alpha. What does the minus in the derivation do?",
    ),
    "density and distribution function swapped": Mistake(
        lambda theta, alpha: -slope(lambda a: gamma.pdf(theta, a), alpha) / gamma.cdf(theta, alpha),
        "You differentiated the density and divided by the distribution function. It is the level F that stays fixed.",
    ),
    "density forgotten": Mistake(
        lambda theta, alpha: -_cdf_slope(theta, alpha),
        "That says how much the level changes. Divide by how fast the level changes with theta, to know how far the draw must move.",
    ),
}
GRADIENT_MISTAKES = {
    "product of means": Mistake(
        lambda g_slope, theta, alpha: g_slope(theta).mean() * _slope_of_quantile(theta, alpha).mean(),
        "You averaged the two factors apart. They belong to the same draw: multiply first, then average.",
    ),
    "score for path": Mistake(
        lambda g_slope, theta, alpha: np.mean(g_slope(theta) * (np.log(theta) - digamma(alpha))),
        "You multiplied by the score of the gamma. The score goes with g; its slope goes with how far each draw moves.",
    ),
    "draws only": Mistake(
        lambda g_slope, theta, alpha: _slope_of_quantile(theta, alpha).mean(),
        "That is how far the draws move on average (namely 1). How much does g change when they do?",
    ),
}


def slope_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 450])
    cases = []
    for _ in range(3):
        alpha = float(rng.uniform(0.8, 4.0))
        cases.append((gamma.ppf(np.sort(rng.uniform(0.05, 0.95, 5)), alpha), alpha))
    return judge(
        answer,
        cases,
        _slope_of_quantile,
        SLOPE_MISTAKES,
        right="Right. You have differentiated a quantile function without having one.",
        nudge="Not those slopes. Averaged over draws of a Gamma(alpha, 1) they must be 1, since the mean of the draws is alpha.",
        rtol=1e-3,
    )


def gradient_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 451])
    cases = []
    for _ in range(2):
        alpha = float(rng.uniform(1.5, 3.0))
        theta = rng.permutation(gamma.ppf((np.arange(4_000) + 0.5) / 4_000, alpha))
        cases.append((partial(_decay_slope, float(rng.uniform(0.4, 1.2))), theta, alpha))
    return judge(
        answer,
        cases,
        _gradient_in_closed_form,
        GRADIENT_MISTAKES,
        right="Right. Any sampler will do for the draws: only their distribution function has to be differentiated.",
        nudge="Not that slope. With g(theta) = theta, whose slope is 1, it must be 1.",
        rtol=2e-3,
    )


TASKS = (
    Task(
        "gradients/implicit-gamma/slope",
        "The gamma's implicit gradient: one draw",
        3,
        15,
        slope_stub,
        (
            "Tie each draw to the level eps = F(theta; alpha). Move alpha, keep eps, and ask where theta goes.",
            "0 = dF/dalpha + (dF/dtheta)(dtheta/dalpha), and dF/dtheta is the density.",
            "Begin with `step = 1e-4`, for the derivative of `gamma.cdf(theta, alpha)` by alpha.",
        ),
        SLOPE_MISTAKES,
        slope_verdict,
    ),
    Task(
        "gradients/implicit-gamma/gradient",
        "The gamma's implicit gradient: an expectation",
        3,
        8,
        gradient_stub,
        (
            "When alpha moves, each draw moves, and g moves with it. Average over the draws.",
            "d/dalpha E[g(theta)] = E[g'(theta) dtheta/dalpha].",
            "Begin with `moves = draw_slope(theta, alpha)`",
        ),
        GRADIENT_MISTAKES,
        gradient_verdict,
    ),
)
