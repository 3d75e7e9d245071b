"""Importance sampling without the constant. Roads: weighted least squares; how the estimate moves with a draw's weight; Gauss-Hermite."""

import numpy as np
from scipy.special import logsumexp

from course_pkg.checks.record import Record
from solutions.lcvi._tools import normal_mean


def by_least_squares(values, log_w):
    """The number from which the weighted squared distances are smallest."""
    root = np.exp((log_w - logsumexp(log_w)) / 2)
    return np.linalg.lstsq(root[:, None], root * values, rcond=None)[0][0]


def by_influence(values, log_w):
    """The root of the summed squares of how the estimate moves as the log of one weight does, by complex steps."""
    share, moves = np.exp(log_w - logsumexp(log_w)), []
    for place in range(len(values)):
        w = share.astype(complex)
        w[place] *= np.exp(1e-30j)
        moves.append((w @ values / w.sum()).imag / 1e-30)
    return np.sqrt(np.square(moves).sum())


def by_hermite(f, s, only_finite=False):
    """pi^2 / q is a normal density but for a factor, if q is wide enough."""
    falls = 1 - 1 / (2 * s**2)
    if only_finite or falls <= 0:
        return float(falls > 0) if only_finite else np.inf
    mean, width = normal_mean(f, 0.0, 1.0), 1 / np.sqrt(2 * falls)
    return s * width * normal_mean(lambda x: (f(x) - mean) ** 2, 0.0, width)


finite_or_value = lambda answer, f, s, only_finite=False: float(np.isfinite(answer(f, s))) if only_finite else answer(f, s)


def draws(levels):
    return lambda rng: [(rng.normal(2, 1.5, size), rng.normal(level, 0.9, size)) for size, level in zip((7, 12), levels, strict=True)]


def far(rng):
    near = np.round(rng.normal(0, 0.8, 6) * 64) / 64  # single precision holds multiples of 1/64 exactly
    return [(rng.normal(2, 1.5, 6), near + level) for level in (800.0, -900.0)]


def wide_apart(rng):
    """Two draws have nearly all of the weight."""
    log_w = np.full(12, -450.0) + np.round(rng.uniform(-0.4, 0.4, 12) * 64) / 64
    log_w[4:6] += 900
    return [(rng.normal(2, 1.5, 12), log_w)]


def functions(rng):
    """Smooth functions; the last stays finite where an integrator over the whole line asks for thousands."""
    level, tilt = float(rng.uniform(1.5, 2.5)), float(rng.uniform(0.4, 0.6))
    return [lambda x: x + level, lambda x: x**2 + tilt * x, lambda x: np.exp(tilt * np.clip(x, -60, 60))]


def with_widths(*ranges, order=(0, 1, 2), rest=()):
    def cases(rng):
        f = functions(rng)
        return [(f[k], float(rng.uniform(*ends)), *rest) for k, ends in zip(order, ranges, strict=True)]

    return cases


NARROW = (0.82, 0.85), (0.75, 0.77), (0.72, 0.73)
OVERFLOW = (
    "Right, until a logarithm is large: its exponential overflows, or all of them vanish. A constant that is added to all logarithms "
    "cancels in the end, so choose one under which the largest weight is 1."
)
APART = (
    "Right while the logarithms lie close together. They may be some hundreds apart, and then one shift only is safe: take off the largest."
)
ESTIMATE = Record(
    cases=draws((1.5, -2.0)),
    reference=by_least_squares,
    right="Right. Neither density needs its constant.",
    nudge="Not that estimate. With values 1, 2 and 4 and weights 1, 1 and 2 it is 2.75.",
    hints=(
        "Average with weights, as one averages marks that count differently. What happens to the result if all weights are multiplied "
        "by the same number, and what can you do with that?",
        "Estimate = sum of w_s f_s over the sum of w_s. Replace w_s by w_s / max w: in logarithms, take the largest off.",
        "Begin with `w = np.exp(log_w - log_w.max())`",
    ),
    mistakes={
        "That is the sum of the products of weight and value, which grows with the number of draws. By what do you divide it?": "- log_w.max() -> ;; / w.sum() -> ",
        "You divided by the number of draws. Here the weights have a constant too many, and so has yours.": "- log_w.max() -> ;; w.sum() -> len(w)",
        "You divided by the number of draws. With a constant taken off, the mean of the weights is any number.": "w.sum() -> len(w)",
        "You put the logarithms where the weights belong.": "np.exp(log_w - log_w.max()) -> log_w",
    },
    later={
        OVERFLOW: (far, "- log_w.max() -> "),
        APART: (wide_apart, "log_w.max() -> log_w.mean()"),
    },
)
ERROR = Record(
    cases=draws((0.5, -2.0)),
    reference=by_influence,
    right="Right. The level of the values has no part in it, and the constant of the weights has none.",
    nudge="Not that error. With values 0 and 4 and weights 3 and 1 it is 1.061.",
    hints=(
        "Everything in the formula can be had from the draws: I from Part 1, an expectation under q from a mean over the S draws. One "
        "more thing is needed, since these weights do not have mean 1.",
        "Let p_s = w_s / sum of w, so that S p_s has mean 1. Then the variance of the limit is estimated by the mean of "
        "(S p_s)^2 (f_s - I)^2, and the estimate's own variance is an S-th of that.",
        "Begin with `share = np.exp(log_w - log_w.max())`, and divide it by its sum on the next line.",
    ),
    mistakes={
        "Your weights have the unknown constant in them. Divide them by their mean.": "share**2 -> np.exp(log_w)**2 / len(values)**2",
        "Your largest weight is 1. The formula wants weights whose mean is 1.": "share**2 -> (share / share.max())**2 / len(values)**2",
        "You squared the values themselves. What counts is how far they are from the estimate.": "- share @ values -> ",
        "That is the target's spread over the root of the ESS. Keep each weight with its value.": "(share**2 * -> (share**2).sum() * (share *",
        "That is the standard deviation of f under the target, which does not fall with S. In the formula the weight stands squared.": "share**2 -> share",
        "That is the root of the variance itself. A standard error divides the variance by S.": "share**2 -> share**2 * len(values)",
        "Divided by S, and with the weight not squared: draws that count for many are as uncertain as one.": "share**2 -> share / len(values)",
        "You took off the plain mean of the values. Put the weighted one, of Part 1, in the place of I.": "- share @ values -> - values.mean()",
    },
    later={
        OVERFLOW: (far, "- log_w.max() -> "),
        APART: (wide_apart, "log_w.max() -> log_w.mean()"),
    },
)
SQUARE = "np.exp(2 * log_pi - log_q)"
LIMIT = Record(
    cases=with_widths((1.3, 1.5), (1.6, 2.2), (1.1, 1.2)),
    reference=by_hermite,
    view=finite_or_value,
    rtol=2e-3,
    right="Right. It is what S times the mean squared error of Part 1 tends to.",
    nudge="Not that variance. With f(x) = x^2 and s = 1.4 it is 1.157.",
    hints=(
        "Two integrals over the line: first I, the mean of f under pi, then the variance, into which I goes. A fine grid and the "
        "trapezoidal rule will do. Before that, ask what pi^2 / q does far out.",
        "The integrand is pi(x)^2 / q(x) (f(x) - I)^2, and pi(x)^2 / q(x) is in proportion to exp(-x^2 + x^2 / (2 s^2)). For which s "
        "does it not fall?",
        "Begin with `if s**2 <= 0.5:`",
    ),
    mistakes={
        "That is E_q[w^2 f^2] - I^2, of the plain mean. Take I off before squaring.": "(f(grid) - mean) ** 2, grid) -> f(grid)**2, grid) - mean**2",
        "You did not take I off. A constant f has no error at all.": "(f(grid) - mean) -> f(grid)",
        "You multiplied E_q[w^2] by the variance of f. Weights and f are not independent.": f"np.trapezoid({SQUARE} -> np.trapezoid({SQUARE}, grid) * np.trapezoid(np.exp(log_pi)",
        "Your I is the mean of f under q. The estimate tends to the mean under pi.": "np.exp(log_pi) -> np.exp(log_q)",
    },
    later={
        "Right for a wide q. You say infinite for one that is narrower than pi and still has a finite variance: put the exponents of pi^2 "
        "and q together, and see where the sign changes.": (with_widths(*NARROW, order=(0, 1, 0), rest=(True,)), "s**2 <= 0.5 -> s < 1"),
        "Right for a wide q. For one that is only just wide enough your number is off: pi^2 / q falls slowly there, and what is far out "
        "counts. How far does your grid go? A simulation hardly ever comes there.": (
            with_widths(*NARROW, order=(0, 1, 0)),
            "25, 25 -> 6, 6",
        ),
        "Right for a wide q. If q is narrow, pi^2 / q grows on the way out, the integral is infinite, and a grid or a simulation does not "
        "say so: find out from the exponents from which s on.": (
            with_widths((0.45, 0.46), (0.65, 0.66), (0.695, 0.705), order=(0, 1, 0)),
            "s**2 <= 0.5 -> False",
        ),
    },
)
TASKS = {"estimate": ESTIMATE, "standard-error": ERROR, "limit": LIMIT}
