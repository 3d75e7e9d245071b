"""Shift and scale. Roads: differences of the logarithm; trying shifts; the top of the calibrated bound, by a search."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from course_pkg.checks._judge import Mistake, Task, Verdict, call, judge, numbers
from course_pkg.checks.lcvi._tools import balanced, slope

Function = Callable[[Any], Any]


def _pull_by_differences(inner: np.ndarray, du: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    """Move along the tangent of the expected utility and see how the logarithm changes."""
    return np.diag(slope(lambda move: np.log(beta + alpha * (inner[:, None] + du[:, None] * move * np.eye(len(inner)))), 0.0))


def _smallest_by_trying(u: np.ndarray, alpha: float) -> float:
    """Bisect between a shift that leaves something negative and one that does not."""
    low, high = -alpha * np.abs(u).max() - 1, alpha * np.abs(u).max() + 1
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if (alpha * u + middle >= 0).all() else (middle, high)
    return float(high)


def _place_by_climbing(u: Function, du: Function, eps: np.ndarray, alpha: float, beta: float) -> float:  # noqa: ARG001
    def below(m: float) -> float:
        return float(m**2 / 2 - np.log(beta + alpha * u(m + eps)).mean())

    grid = np.linspace(-5, 5, 401)
    best = grid[int(np.argmin([below(m) for m in grid]))]
    return float(minimize_scalar(below, bounds=(best - 0.1, best + 0.1), method="bounded", options={"xatol": 1e-9}).x)


def pull_stub(inner: np.ndarray, slope: np.ndarray, alpha: float, beta: float) -> Any:
    raise NotImplementedError


def smallest_stub(u: np.ndarray, alpha: float) -> Any:
    raise NotImplementedError


def place_stub(u: Function, du: Function, eps: np.ndarray, alpha: float, beta: float) -> Any:
    raise NotImplementedError


PULL_MISTAKES = {
    "shift ignored": Mistake(
        lambda inner, du, alpha, beta: du / inner,
        "Your pull is that of the unshifted utility. With beta the same slope is divided by something larger.",
    ),
    "no alpha above": Mistake(
        lambda inner, du, alpha, beta: du / (beta + alpha * inner),
        "Below the line all is right. Above it stands the slope of alpha u.",
    ),
    "no alpha below": Mistake(
        lambda inner, du, alpha, beta: alpha * du / (beta + inner),
        "Above the line all is right. Below it stands the whole shifted utility, with its alpha.",
    ),
    "no alpha at all": Mistake(
        lambda inner, du, alpha, beta: du / (beta + inner),
        "Your answer does not depend on alpha. It drops out only where beta is 0.",
    ),
    "no logarithm": Mistake(
        lambda inner, du, alpha, beta: alpha * du,
        "That is the slope of alpha u + beta. The utility term has its logarithm.",
    ),
    "beta above": Mistake(
        lambda inner, du, alpha, beta: (alpha * du + beta) / (beta + alpha * inner),
        "A constant has no slope: no beta above the line.",
    ),
    "squared below": Mistake(
        lambda inner, du, alpha, beta: -alpha * du / (beta + alpha * inner) ** 2,
        "That is the slope of 1 / (alpha u + beta). The logarithm was meant.",
    ),
    "size": Mistake(
        lambda inner, du, alpha, beta: np.abs(alpha * du / (beta + alpha * inner)),
        "The size is right. A pull has a direction, too: keep the sign of the slope.",
    ),
}
SMALLEST_MISTAKES = {
    "zero": Mistake(
        lambda u, alpha: 0.0,
        "You let beta go to zero. A utility with a smallest value above 0 can go lower, and one with a smallest value below 0 cannot.",
    ),
    "never below zero": Mistake(
        lambda u, alpha: max(0.0, -alpha * u.min()),
        "A shift may be negative: if no utility is smaller than 1/2, half a unit can be taken off.",
    ),
    "alpha forgotten": Mistake(
        lambda u, alpha: -u.min(),
        "The scale is forgotten: it is alpha u + beta that must not go below 0.",
    ),
    "alpha below": Mistake(
        lambda u, alpha: -u.min() / alpha,
        "alpha stands on the wrong side: it is alpha u that is shifted.",
    ),
    "sign": Mistake(
        lambda u, alpha: alpha * u.min(),
        "The sign is turned: the smallest utility and its shift add up to zero.",
    ),
    "largest": Mistake(
        lambda u, alpha: -alpha * u.max(),
        "With that shift every utility is negative but the largest. Which one goes below zero first?",
    ),
    "mean": Mistake(
        lambda u, alpha: -alpha * u.mean(),
        "You shifted the mean to zero. About half of the utilities have no logarithm now.",
    ),
    "size": Mistake(
        lambda u, alpha: alpha * abs(u.min()),
        "You took the size of the smallest utility. Where it is above zero, the shift goes down.",
    ),
}

REST = "Right. The posterior pulls back in proportion to the way; the utility pulls less the larger beta is."
NOT_THERE = (
    "Not that place. With u = exp(-(theta - 2)^2 / 2), du = (2 - theta) u, alpha = 1 and eps = [-1, 1] it is 1 at beta = 0 and "
    "0.196 at beta = 1."
)
NEARLY = "Nearly: your place is off by less than 0.01. Solve to more digits, until three decimals stand."


def _mean_pull(u, du, alpha, beta):
    return lambda theta: np.mean(alpha * du(theta) / (beta + alpha * u(theta)))


def _root(f):
    return brentq(f, -5, 5, xtol=1e-11)


PLACE_MISTAKES = {
    "one step": Mistake(
        lambda u, du, eps, alpha, beta: _mean_pull(u, du, alpha, beta)(eps),
        "That is the pull at m = 0. Once m has moved, the pull is another one: find the m at which the two are in balance.",
    ),
    "at m only": Mistake(
        lambda u, du, eps, alpha, beta: _root(lambda m: m - _mean_pull(u, du, alpha, beta)(np.array([m]))),
        "You took the pull at m only. It is averaged over q, at m + eps.",
    ),
    "no posterior": Mistake(
        lambda u, du, eps, alpha, beta: _root(lambda m: _mean_pull(u, du, alpha, beta)(m + eps)),
        "That is where the utility alone would like q to be. The posterior pulls back, by m.",
    ),
    "no shift": Mistake(
        lambda u, du, eps, alpha, beta: _root(lambda m: m - np.mean(du(m + eps) / u(m + eps))),
        "That is the place without a shift. beta weakens the pull.",
    ),
    "log of the mean": Mistake(
        lambda u, du, eps, alpha, beta: _root(lambda m: m - alpha * du(m + eps).mean() / (beta + alpha * u(m + eps).mean())),
        "You divided the mean slope by the mean utility. The logarithm is inside the mean over q: divide draw by draw.",
    ),
    "no alpha": Mistake(
        lambda u, du, eps, alpha, beta: _root(lambda m: m - _mean_pull(u, du, 1.0, beta)(m + eps)),
        "You forgot the scale alpha.",
    ),
    "summed": Mistake(
        lambda u, du, eps, alpha, beta: _root(lambda m: m - len(eps) * _mean_pull(u, du, alpha, beta)(m + eps)),
        "You added the pulls up. The expectation over q is their mean.",
    ),
    "no logarithm": Mistake(
        lambda u, du, eps, alpha, beta: _root(lambda m: m - alpha * du(m + eps).mean()),
        "You balanced the slope of alpha u. The bound has its logarithm, so the slope is divided by the shifted utility, as in Part 1.",
    ),
    "away": Mistake(
        lambda u, du, eps, alpha, beta: -_place_by_climbing(u, du, eps, alpha, beta),
        "The sign is turned: q moves to where the utility is larger.",
    ),
    "the best theta": Mistake(
        lambda u, du, eps, alpha, beta: _root(du),
        "That is where the utility is largest, whatever the posterior says. q rests between the two.",
    ),
}


def pull_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 720])
    return judge(
        answer,
        [(rng.uniform(0.3, 2, 5), rng.normal(0, 1, 5), alpha, beta) for alpha, beta in [(1.7, 0.6), (0.4, 3.0), (5.0, -0.2)]],
        _pull_by_differences,
        PULL_MISTAKES,
        right="Right. At beta = 0 alpha drops out; a large beta leaves hardly anything of the pull.",
        nudge="Not that pull. Where u = 2 and its slope is 1, with alpha = 3 and beta = 1 it is 3/7.",
    )


def smallest_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 721])
    cases = [(rng.uniform(low, high, (4, 3)), float(rng.uniform(1.5, 4))) for low, high in [(0.4, 2), (-1.5, -0.2), (1, 5)]]
    cases.append((rng.uniform(-1, 2, (4, 3)) - 0.5, 0.3))
    return judge(
        answer,
        cases,
        _smallest_by_trying,
        SMALLEST_MISTAKES,
        right="Right. It is 0 only if the smallest utility is.",
        nudge="Not that shift. With u = [[2, 0.5]] and alpha = 4 it is -2; with u = [[2, -0.5]] it is 2.",
    )


def place_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 722])
    cases = []
    for alpha, beta in [(1.0, 0.0), (2.0, 0.5), (0.6, 1.5)]:
        centre, width = float(rng.uniform(1.2, 2.2)), float(rng.uniform(1.3, 1.9))
        eps = balanced(rng, 40) * 2
        cases.append((_Bump(centre, width), _BumpSlope(centre, width), eps - eps.mean(), alpha, beta))
    verdict = judge(
        answer,
        cases,
        _place_by_climbing,
        PLACE_MISTAKES,
        right=REST,
        nudge=NOT_THERE,
        rtol=2e-4,
    )
    if verdict.message != NOT_THERE:
        return verdict
    off = max(abs(float(numbers(call(answer, *case))[0]) - _place_by_climbing(*case)) for case in cases)
    if off < 1e-3:
        return Verdict(True, REST)
    return Verdict(False, NEARLY) if off < 0.01 else verdict


class _Bump:
    """A utility that is 1 at its best and 0 far away."""

    def __init__(self, centre: float, width: float) -> None:
        self.centre, self.width = centre, width

    def __call__(self, theta: Any) -> Any:
        return np.exp(-0.5 * ((theta - self.centre) / self.width) ** 2)


class _BumpSlope(_Bump):
    def __call__(self, theta: Any) -> Any:
        return (self.centre - theta) / self.width**2 * super().__call__(theta)


TASKS = (
    Task(
        "lcvi/shift-and-scale/pull",
        "Shift and scale: the pull",
        2,
        7,
        pull_stub,
        (
            "The derivative of a logarithm: the slope of what is inside, divided by what is inside.",
            "d/dtheta log(beta + alpha u(theta)) = alpha u'(theta) / (beta + alpha u(theta)).",
            "Begin with `shifted = beta + alpha * inner`",
        ),
        PULL_MISTAKES,
        pull_verdict,
    ),
    Task(
        "lcvi/shift-and-scale/smallest",
        "Shift and scale: the smallest shift",
        2,
        5,
        smallest_stub,
        (
            "As beta falls, which of the utilities is the first to reach zero?",
            "alpha min(u) + beta = 0.",
            "Begin with `lowest = alpha * u.min()`",
        ),
        SMALLEST_MISTAKES,
        smallest_verdict,
    ),
    Task(
        "lcvi/shift-and-scale/place",
        "Shift and scale: where q comes to rest",
        2,
        12,
        place_stub,
        (
            "At the top of the bound its slope in m is zero: the posterior's pull back and the mean pull of the utility cancel.",
            "m = mean over eps of alpha u'(m + eps) / (beta + alpha u(m + eps)). Look for the root between -5 and 5.",
            "Begin with `def imbalance(m):` and give it to brentq.",
        ),
        PLACE_MISTAKES,
        place_verdict,
    ),
)
