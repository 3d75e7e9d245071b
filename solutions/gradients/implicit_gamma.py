"""The gamma's implicit gradient. Roads: finite differences of the quantile; the Laplace transform in closed form."""

from contextlib import nullcontext
from functools import partial
from unittest.mock import patch

import numpy as np
from scipy.stats import gamma

from course_pkg.checks.record import Record
from solutions.gradients._tools import slope


def slope_of_quantile(theta, alpha, *_):
    """The level of each draw stays, alpha moves, and the quantile at that level moves with it."""
    level = gamma.cdf(theta, alpha)
    return slope(lambda a: gamma.ppf(level, a), alpha)


def with_or_without_quantile(answer, theta, alpha, *without):
    with patch.object(type(gamma), "_ppf", side_effect=NotImplementedError) if without else nullcontext():
        return answer(theta, alpha)


draws_of = lambda rng: [(gamma.ppf(np.sort(rng.uniform(0.05, 0.95, 5)), alpha), alpha) for alpha in rng.uniform(0.8, 4.0, 3).tolist()]
# The derivative of g(theta) = exp(-c theta)
decay_slope = lambda c, theta: -c * np.exp(-c * theta)


def gradient_in_closed_form(g_slope, _, alpha):
    """E exp(-c theta) = (1 + c)^-alpha."""
    (c,) = g_slope.args
    return -np.log1p(c) * (1 + c) ** -alpha


def even_draws(rng):
    for alpha in rng.uniform(1.5, 3.0, 2).tolist():
        theta = rng.permutation(gamma.ppf((np.arange(4_000) + 0.5) / 4_000, alpha))
        yield partial(decay_slope, rng.uniform(0.4, 1.2)), theta, alpha


SLOPE = Record(
    cases=draws_of,
    reference=slope_of_quantile,
    right="Right. You have differentiated a quantile function without having one.",
    nudge="Not those slopes. With alpha = 1 a draw at theta = 1 moves by 1.1736 per unit of alpha. If yours are within a few per cent "
    "and come from a difference quotient, its step is too large, or so small that digits are lost.",
    hints=(
        "Tie each draw to the level eps = F(theta; alpha). Move alpha, keep eps, and ask where theta goes.",
        "0 = dF/dalpha + (dF/dtheta)(dtheta/dalpha), and dF/dtheta is the density.",
        "Begin with `step = 1e-4`, for the derivative of `gamma.cdf(theta, alpha)` by alpha.",
    ),
    mistakes={
        "You stretched all draws alike. That would do for a scale; a larger alpha also changes the shape, so look at F.": "\nreturn theta / alpha",
        "You moved all draws alike. They move by 1 on average, but each by its own amount: look at F at each draw.": "\nreturn np.ones_like(theta)",
        "You differentiated the density and divided by the distribution function. It is the level F that stays fixed.": "gamma.pdf -> gamma.CDF ;; gamma.cdf -> gamma.pdf ;; gamma.CDF -> gamma.cdf",
        "That says how much the level changes. Divide by how fast the level changes with theta, to know how far the draw must move.": "/ gamma.pdf(theta, alpha) -> ",
    },
    later={
        "The right numbers, but from the quantile function. Do it with gamma.cdf and gamma.pdf only: most distributions have no more.": (
            lambda rng: [(*draws_of(rng)[0], "without quantile")],
            slope_of_quantile,
        ),
    },
    view=with_or_without_quantile,
    rtol=1e-3,
)
GRADIENT = Record(
    cases=even_draws,
    reference=gradient_in_closed_form,
    right="Right. Any sampler will do for the draws: only their distribution function has to be differentiated.",
    nudge="Not that slope. With g(theta) = theta it must be 1, with g(theta) = theta^2 it must be 2 alpha + 1.",
    hints=(
        "When alpha moves, each draw moves, and g moves with it. Average over the draws.",
        "d/dalpha E[g(theta)] = E[g'(theta) dtheta/dalpha].",
        "Begin with `moves = draw_slope(theta, alpha)`",
    ),
    mistakes={
        "You used the average move, 1, for every draw (or left it out). Each draw moves by its own amount: multiply, then average.": "g_slope(theta) * moves -> g_slope(theta)",
        "You looked at one draw, at the mean. Every draw has its slope and its move: multiply them, then average.": "theta -> theta.mean(keepdims=True)",
        "You multiplied by the score of the gamma. The score goes with g; its slope goes with how far each draw moves.": """
            from scipy.special import digamma

            return np.mean(g_slope(theta) * (np.log(theta) - digamma(alpha)))
            """,
        "That is how far the draws move on average (namely 1). How much does g change when they do?": "g_slope(theta) * moves -> moves",
    },
    rtol=2e-3,
)
TASKS = {"slope": SLOPE, "gradient": GRADIENT}
