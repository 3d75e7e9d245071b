"""The gamma's implicit gradient. Roads: finite differences of the quantile; the Laplace transform in closed form."""

from collections.abc import Callable
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.special import digamma
from scipy.stats import gamma

from course_pkg.checks._judge import Mistake, Task, Trouble, Verdict, call, judge
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


def _cdf_slope(theta, alpha, step=1e-4):
    return slope(lambda a: gamma.cdf(theta, a), alpha, step)


def _asks_for_the_quantile(answer: Any, case: tuple[Any, ...]) -> bool:
    """Whether an answer that is right fails where the gamma has no quantile function."""
    with patch.object(type(gamma), "_ppf", side_effect=NotImplementedError):
        try:
            call(answer, *case)
        except Trouble:
            return True
    return False


QUANTILE = "The right numbers, but from the quantile function. Do it with gamma.cdf and gamma.pdf only: most distributions have no more."
STEP = "Nearly: you are within a few per cent. If you took a difference quotient, its step is too large, or so small that digits are lost."


SLOPE_MISTAKES = {
    "quantile function": Mistake(_slope_of_quantile, QUANTILE),
    "coarse step": Mistake(
        lambda theta, alpha: (gamma.cdf(theta, alpha) - gamma.cdf(theta, alpha + 0.02)) / 0.02 / gamma.pdf(theta, alpha),
        STEP,
    ),
    "stretched": Mistake(
        lambda theta, alpha: theta / alpha,
        "You stretched all draws alike. That would do for a scale; a larger alpha also changes the shape, so look at F.",
    ),
    "shifted": Mistake(
        lambda theta, alpha: np.ones_like(theta),
        "You moved all draws alike. They move by 1 on average, but each by its own amount: look at F at each draw.",
    ),
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


def _at(theta, g_slope, alpha):
    return np.mean(g_slope(theta) * _slope_of_quantile(theta, alpha))


GRADIENT_MISTAKES = {
    "average move": Mistake(
        lambda g_slope, theta, alpha: g_slope(theta).mean() * _slope_of_quantile(theta, alpha).mean(),
        "You used the average move, 1, for every draw (or left it out). Each draw moves by its own amount: multiply, then average.",
    ),
    "at the mean": Mistake(
        lambda g_slope, theta, alpha: _at(theta.mean(keepdims=True), g_slope, alpha),
        "You looked at one draw, at the mean. Every draw has its slope and its move: multiply them, then average.",
    ),
    "sign": Mistake(
        lambda g_slope, theta, alpha: -_gradient_in_closed_form(g_slope, theta, alpha),
        "The size is right and the sign is not. If g grows with theta, does its mean grow with alpha?",
    ),
    "summed": Mistake(
        lambda g_slope, theta, alpha: len(theta) * _gradient_in_closed_form(g_slope, theta, alpha),
        "You added the draws up. An expectation is estimated by their mean.",
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


FAR = "Not those slopes. With alpha = 1 a draw at theta = 1 moves by 1.1736 per unit of alpha."


def slope_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 450])
    cases = []
    for _ in range(3):
        alpha = float(rng.uniform(0.8, 4.0))
        cases.append((gamma.ppf(np.sort(rng.uniform(0.05, 0.95, 5)), alpha), alpha))
    verdict = judge(
        answer,
        cases,
        _slope_of_quantile,
        SLOPE_MISTAKES,
        right="Right. You have differentiated a quantile function without having one.",
        nudge=FAR,
        rtol=1e-3,
    )
    if verdict.passed and _asks_for_the_quantile(answer, cases[0]):
        return Verdict(False, QUANTILE)
    if verdict.message == FAR and judge(answer, cases, _slope_of_quantile, {}, right="", nudge="", rtol=0.05).passed:
        return Verdict(False, STEP)
    return verdict


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
        nudge="Not that slope. With g(theta) = theta it must be 1, with g(theta) = theta^2 it must be 2 alpha + 1.",
        rtol=2e-3,
    )


TASKS = (
    Task(
        "gradients/implicit-gamma/slope",
        "The gamma's implicit gradient: one draw",
        2,
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
        2,
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
