"""One-liners. Road: the distance of Kolmogorov and Smirnov between the draws and SciPy's distribution, for evenly spread noise.

The noise fills its interval or square evenly, so that a right answer is off by less than a thousandth and none is turned away
by chance.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import kstest, laplace, lognorm, norm, qmc

from course_pkg.checks._judge import Mistake, Task, Trouble, Verdict, call, numbers

DISTANCE = 1e-3


def _judge_draws(answer: Any, cases: list[Any], law: Callable[..., Any], mistakes: dict[str, Mistake], right: str, nudge: str) -> Verdict:
    try:
        got = [_draws(call(answer, *case), len(case[0])) for case in cases]
    except Trouble as trouble:
        return Verdict(False, str(trouble))
    distances = [_distance(draws, law(*case[1:])) for draws, case in zip(got, cases, strict=True)]
    if max(distances) < DISTANCE:
        return Verdict(True, right)
    for wrong, words in mistakes.values():
        if all(np.allclose(draws, wrong(*case), rtol=1e-4, atol=1e-4, equal_nan=True) for draws, case in zip(got, cases, strict=True)):
            return Verdict(False, words)
    if any(_own_noise(answer, case, draws) for case, draws in zip(cases, got, strict=True)):
        return Verdict(False, OWN_NOISE)
    if not all(np.isfinite(draws).all() for draws in got):
        return Verdict(False, "Some of your draws are not finite numbers. Which noise makes them so?")
    return Verdict(False, f"{nudge} The distribution functions are up to {max(distances):.1g} apart.")


OWN_NOISE = "Your draws do not come from eps. Use no other noise: the same numbers in another order must give the same draws in that order."


def _own_noise(answer: Any, case: tuple[Any, ...], draws: np.ndarray) -> bool:
    """Whether the noise, put in reverse, does not give the draws in reverse."""
    backwards = [part[::-1] if isinstance(part, np.ndarray) else part for part in case]
    try:
        again = _draws(call(answer, *backwards), len(draws))
    except Trouble:
        return True
    return not np.allclose(again[::-1], draws, equal_nan=True)


def _draws(got: Any, count: int) -> np.ndarray:
    parts = numbers(got)
    if len(parts) != 1 or parts[0].shape != (count,):
        raise Trouble(f"Expected one array with a draw for each number of noise, shape ({count},).")
    return parts[0]


def _distance(draws: np.ndarray, law: Any) -> float:
    if not np.isfinite(draws).all():
        return 1.0
    return float(kstest(draws, law.cdf).statistic)


def gaussian_stub(eps1: np.ndarray, eps2: np.ndarray) -> Any:
    raise NotImplementedError


def laplace_stub(eps: np.ndarray, mu: float, b: float) -> Any:
    raise NotImplementedError


def log_normal_stub(eps: np.ndarray, mu: float, sigma: float) -> Any:
    raise NotImplementedError


def _laplace_as_printed(eps, mu, b):
    with np.errstate(invalid="ignore"):
        return mu - b * np.sign(eps) * np.log(1 - 2 * np.abs(eps))


GAUSSIAN_MISTAKES = {
    "own noise": Mistake(lambda eps1, eps2: np.random.default_rng(0).normal(size=len(eps1)), OWN_NOISE),
    "without the 2": Mistake(
        lambda eps1, eps2: np.sqrt(-np.log(eps1)) * np.cos(2 * np.pi * eps2),
        "That is the printed line. Its draws have variance 1/2: the squared radius of two normals has mean 2, not 1.",
    ),
    "one noise for both": Mistake(
        lambda eps1, eps2: np.sqrt(-2 * np.log(eps1)) * np.cos(2 * np.pi * eps1),
        "Radius and angle come from the same uniform number. They must be independent: that is what the second one is for.",
    ),
    "not a full turn": Mistake(
        lambda eps1, eps2: np.sqrt(-2 * np.log(eps1)) * np.cos(eps2),
        "Your angle runs from 0 to 1. It must go once around the circle.",
    ),
}
LAPLACE_MISTAKES = {
    "own noise": Mistake(lambda eps, mu, b: np.random.default_rng(0).laplace(mu, b, len(eps)), OWN_NOISE),
    "noise on the wrong interval": Mistake(
        _laplace_as_printed,
        "That is the printed line: for eps above 1/2 it takes the logarithm of a negative number. On which interval does it work?",
    ),
    "one side only": Mistake(
        lambda eps, mu, b: mu - b * np.log(eps),
        "Every draw lies above mu: that is an exponential. The other half of the noise must go to the left.",
    ),
    "scale inverted": Mistake(
        lambda eps, mu, b: mu - np.sign(eps - 0.5) * np.log(1 - 2 * np.abs(eps - 0.5)) / b,
        "You divided by b. It is a scale: a larger b spreads the draws.",
    ),
}
LOG_NORMAL_MISTAKES = {
    "own noise": Mistake(lambda eps, mu, sigma: np.random.default_rng(0).lognormal(mu, sigma, len(eps)), OWN_NOISE),
    "parameters left in the base": Mistake(
        lambda eps, mu, sigma: np.exp(eps),
        "Your map does not contain mu and sigma, so its derivative by them is 0. The noise is standard: the map must do the rest.",
    ),
    "variance for scale": Mistake(
        lambda eps, mu, sigma: np.exp(mu + sigma**2 * eps),
        "You multiplied by the variance. It is the standard deviation that stretches standard noise.",
    ),
    "scaled after": Mistake(
        lambda eps, mu, sigma: mu + sigma * np.exp(eps),
        "You exponentiated first. It is the logarithm of the draw that is normal with mean mu and standard deviation sigma.",
    ),
}


def _even(rng: np.random.Generator, count: int = 4_000) -> np.ndarray:
    return rng.permutation((np.arange(count) + 0.5) / count)


def gaussian_verdict(answer: Any, seed: int = 0) -> Verdict:
    eps1, eps2 = qmc.Sobol(2, rng=np.random.default_rng([seed, 440])).random_base2(16).T
    return _judge_draws(
        answer,
        [(np.clip(eps1, 1e-9, 1), eps2)],
        lambda *_: norm,
        GAUSSIAN_MISTAKES,
        "Right. The squared radius of two standard normals is exponential with mean 2, and the angle is uniform.",
        "Those draws are not standard normal.",
    )


def laplace_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 441])
    return _judge_draws(
        answer,
        [(_even(rng), 1.0, 2.0), (_even(rng), float(rng.normal()), float(rng.uniform(0.3, 0.8)))],
        lambda mu, b: laplace(mu, b),
        LAPLACE_MISTAKES,
        "Right. The formula was good and its noise was not: it wants numbers between -1/2 and 1/2.",
        "Those draws are not Laplace. Their middle must be mu, and half of them must lie within b log 2 of it.",
    )


def log_normal_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 442])
    cases = [(norm.ppf(_even(rng)), float(rng.uniform(0.4, 1.2)), float(rng.uniform(0.3, 0.7))) for _ in range(2)]
    return _judge_draws(
        answer,
        cases,
        lambda mu, sigma: lognorm(sigma, scale=np.exp(mu)),
        LOG_NORMAL_MISTAKES,
        "Right. As printed the draws are log-normal as well, but nothing would be learnt: the map held no parameter.",
        "Those draws are not log-normal. Their median must be exp(mu).",
    )


TASKS = (
    Task(
        "gradients/one-liners/gaussian",
        "One-liners, mended: the Gaussian",
        2,
        7,
        gaussian_stub,
        (
            "Two independent standard normals are a point in the plane. How is its squared distance from 0 distributed?",
            "The squared radius is chi-squared with two degrees of freedom: exponential with mean 2.",
            "Begin with `radius = np.sqrt(2 * np.log(1 / eps1))`",
        ),
        GAUSSIAN_MISTAKES,
        gaussian_verdict,
    ),
    Task(
        "gradients/one-liners/laplace",
        "One-liners, mended: the Laplace",
        2,
        8,
        laplace_stub,
        (
            "The sign of the noise should choose the side. Which interval has both signs?",
            "mu - b sgn(e) log(1 - 2|e|) for e uniform on (-1/2, 1/2).",
            "Begin with `e = eps - 0.5`",
        ),
        LAPLACE_MISTAKES,
        laplace_verdict,
    ),
    Task(
        "gradients/one-liners/log-normal",
        "One-liners, mended: the log-normal",
        2,
        6,
        log_normal_stub,
        (
            "The noise may not depend on the parameters. So who must contain mu and sigma?",
            "log theta = mu + sigma eps with eps ~ N(0, 1).",
            "Begin with `log_theta = mu + sigma * eps`",
        ),
        LOG_NORMAL_MISTAKES,
        log_normal_verdict,
    ),
)
