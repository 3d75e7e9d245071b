"""The LinEx loss. Road: search the weighted average loss for its lowest point."""

from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from course_pkg.checks._judge import Mistake, Task, Verdict, judge


def _lowest(y: np.ndarray, weights: np.ndarray, c: float) -> float:
    def risk(h: float) -> float:
        return float(np.average(np.exp(c * (h - y)) - c * (h - y) - 1, weights=weights))

    return float(minimize_scalar(risk, bounds=(y.min(), y.max()), method="bounded", options={"xatol": 1e-10}).x)


def linex_stub(y: np.ndarray, weights: np.ndarray, c: float) -> Any:
    raise NotImplementedError


def _tilt(y: np.ndarray, weights: np.ndarray, c: float) -> float:
    return float(logsumexp(c * y, b=weights / weights.sum()) / c)


MISTAKES = {
    "sign of c": Mistake(
        _tilt,
        "c has the wrong sign. For c > 0 it is overestimates that cost exponentially, so the decision must lie below the mean.",
    ),
    "minus forgotten": Mistake(
        lambda y, weights, c: -_tilt(y, weights, -c),
        "You have the right logarithm and lost a minus sign: your decision has the wrong sign altogether.",
    ),
    "weights ignored": Mistake(
        lambda y, weights, c: _tilt(y, np.ones_like(y), -c),
        "You treated all draws alike. The expectation is over the weights, made to sum to one.",
    ),
    "weights not normalised": Mistake(
        lambda y, weights, c: float(logsumexp(-c * y, b=weights) / -c),
        "Your weights do not sum to one: a common factor in them must not move the decision.",
    ),
    "the mean": Mistake(
        lambda y, weights, c: float(np.average(y, weights=weights)),
        "That is the mean, the answer to squared loss. Here the two sides cost differently.",
    ),
}
RIGHT = "Right. An exponential price on one side moves the decision away from that side, the more the wider the posterior."
NUDGE = "Not that number. As c approaches 0 the decision must approach the weighted mean."


def linex_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 20])
    cases = []
    for c in (1.3, -0.7):
        y = rng.gamma(2.0, 1.0, 200)
        cases.append((y, rng.uniform(0.1, 2.0, 200) * np.exp(-0.3 * y), c))
    first = judge(answer, cases, _lowest, MISTAKES, right=RIGHT, nudge=NUDGE)
    if not first.passed:
        return first
    y, weights, _ = cases[0]
    far = [(y + 2_000.0, weights, 1.3), (y - 2_000.0, weights, 1.3)]
    words = "Right on small numbers, but with draws near 2000 or -2000 the exponential leaves the floating-point range. "
    return judge(
        lambda y, weights, c: np.nan_to_num(_quietly(answer, y, weights, c), nan=0.0, posinf=0.0, neginf=0.0),
        far,
        _lowest,
        {},
        right=RIGHT,
        nudge=words + "Shift the draws first, or find the function that takes the logarithm of a sum of exponentials.",
        rtol=1e-5,
    )


def _quietly(answer: Any, *args: Any) -> Any:
    """The overflow is what we look for, so NumPy need not warn of it."""
    with np.errstate(all="ignore"):
        return answer(*args)


TASKS = (
    Task(
        "decisions/linex",
        "Bayes estimators: LinEx",
        1,
        15,
        linex_stub,
        (
            "Differentiate the average loss with respect to h. The linear part leaves a constant.",
            "c E[exp(c(h - y))] - c = 0. Take exp(c h) out of the expectation and solve for h.",
            "Begin with `shifted = np.log(weights / weights.sum()) - c * y` and look at what is imported.",
        ),
        MISTAKES,
        linex_verdict,
    ),
)
