"""Moments. Roads: quadrature over z; bisection on a tail that is straight by finite differences."""

from typing import Any

import numpy as np
from scipy.stats import skew

from course_pkg.checks._judge import Mistake, Task, Verdict
from course_pkg.checks.gradients._tools import NODES, WEIGHTS
from course_pkg.checks.lambertw._tools import bent, judge_real, safe, safe_origin


def _by_quadrature(mu: float, sigma: float, gamma: float) -> tuple[float, float]:
    y = mu + sigma * bent(NODES, gamma)
    mean = float(WEIGHTS @ y)
    return mean, float(WEIGHTS @ (y - mean) ** 2)


def _back_by_quadrature(mean: float, variance: float, gamma: float) -> tuple[float, float]:
    shift, spread = _by_quadrature(0.0, 1.0, gamma)
    sigma = np.sqrt(variance / spread)
    return mean - sigma * shift, sigma


def _root(of: Any) -> float:
    """Where a function that falls with gamma, or rises, is zero, between -1 and 1."""
    low, high = -1.0, 1.0
    up = of(high) > of(low)
    for _ in range(30):
        middle = (low + high) / 2
        if (of(middle) < 0) == up:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _straight(x: Any) -> float:
    def third(gamma: float) -> float:
        z = x if abs(gamma) < 1e-12 else safe_origin(x, gamma)
        total = sum((value - z.sum() / len(z)) ** 3 for value in z)
        return float(total)

    return _root(third)


def moments_stub(mu: float, sigma: float, gamma: float) -> Any:
    raise NotImplementedError


def parameters_stub(mean: float, variance: float, gamma: float) -> Any:
    raise NotImplementedError


def straighten_stub(x: np.ndarray) -> Any:
    raise NotImplementedError


def _first(gamma):
    return gamma * np.exp(gamma**2 / 2)


def _second(gamma):
    return (1 + 4 * gamma**2) * np.exp(2 * gamma**2)


MOMENTS_MISTAKES = {
    "mu and sigma": Mistake(
        lambda mu, sigma, gamma: (mu, sigma**2),
        "mu and sigma^2 are mean and variance of mu + sigma z, before the bending. The bent z has another mean than 0 and another variance "
        "than 1.",
    ),
    "mean left at mu": Mistake(
        lambda mu, sigma, gamma: (mu, _by_quadrature(mu, sigma, gamma)[1]),
        "The variance is right. The bent z has a mean that is not 0: the side that is stretched pulls it.",
    ),
    "variance left": Mistake(
        lambda mu, sigma, gamma: (_by_quadrature(mu, sigma, gamma)[0], sigma**2),
        "The mean is right. The bent z has another variance than 1.",
    ),
    "second moment": Mistake(
        lambda mu, sigma, gamma: (mu + sigma * _first(gamma), sigma**2 * _second(gamma)),
        "The mean is right. Your variance is E[x^2]; subtract the square of E[x].",
    ),
    "swapped": Mistake(
        lambda mu, sigma, gamma: _by_quadrature(mu, sigma, gamma)[::-1],
        "Both are right, in the wrong order: the mean comes first, then the variance.",
    ),
    "same t": Mistake(
        lambda mu, sigma, gamma: (
            mu + sigma * _first(gamma),
            sigma**2 * ((1 + gamma**2) * np.exp(gamma**2 / 2) - _first(gamma) ** 2),
        ),
        "The mean is right. In E[x^2] the exponential is squared, too: it is e^(2 gamma z), so t is 2 gamma.",
    ),
    "standard deviation": Mistake(
        lambda mu, sigma, gamma: (_by_quadrature(mu, sigma, gamma)[0], np.sqrt(_by_quadrature(mu, sigma, gamma)[1])),
        "The mean is right. Your second value is the standard deviation; its square was asked for.",
    ),
    "sigma once": Mistake(
        lambda mu, sigma, gamma: (_by_quadrature(mu, sigma, gamma)[0], _by_quadrature(mu, 1.0, gamma)[1] * sigma),
        "The mean is right. A stretch by sigma multiplies the variance by sigma squared.",
    ),
    "of x": Mistake(
        lambda mu, sigma, gamma: _by_quadrature(0.0, 1.0, gamma),
        "Those are mean and variance of x. Now stretch and move.",
    ),
    "shift not stretched": Mistake(
        lambda mu, sigma, gamma: (mu + _first(gamma), _by_quadrature(mu, sigma, gamma)[1]),
        "The variance is right. The mean of x is stretched by sigma, too.",
    ),
    "expectation into the function": Mistake(
        lambda mu, sigma, gamma: (mu + sigma * np.exp(gamma**2 / 2), _by_quadrature(mu, sigma, gamma)[1]),
        "The variance is right. For the mean you took E[e^(gamma z)]; the z before it is missing: differentiate.",
    ),
}
PARAMETERS_MISTAKES = {
    "mean and sd": Mistake(
        lambda mean, variance, gamma: (mean, np.sqrt(variance)),
        "You took mean and standard deviation of y for mu and sigma. They are those of mu + sigma z, before the bending.",
    ),
    "mu left at the mean": Mistake(
        lambda mean, variance, gamma: (mean, _back_by_quadrature(mean, variance, gamma)[1]),
        "sigma is right. mu is not the mean: the bent z has a mean of its own.",
    ),
    "sigma left at the sd": Mistake(
        lambda mean, variance, gamma: (mean - np.sqrt(variance) * _first(gamma), np.sqrt(variance)),
        "sigma is not the standard deviation of y: x has a variance of its own. And mu depends on sigma.",
    ),
    "mu from the sd": Mistake(
        lambda mean, variance, gamma: (mean - np.sqrt(variance) * _first(gamma), _back_by_quadrature(mean, variance, gamma)[1]),
        "sigma is right. In mu it is sigma that stretches the mean of x, not the standard deviation of y. Find sigma first.",
    ),
    "shift not stretched": Mistake(
        lambda mean, variance, gamma: (mean - _first(gamma), _back_by_quadrature(mean, variance, gamma)[1]),
        "sigma is right. The mean of x is stretched by sigma before mu is added.",
    ),
    "shift added": Mistake(
        lambda mean, variance, gamma: (
            2 * mean - _back_by_quadrature(mean, variance, gamma)[0],
            _back_by_quadrature(mean, variance, gamma)[1],
        ),
        "sigma is right. The shift has the wrong sign: the mean of x, with its own sign, is taken away from the mean of y.",
    ),
    "sigma squared": Mistake(
        lambda mean, variance, gamma: (
            _back_by_quadrature(mean, variance, gamma)[0],
            _back_by_quadrature(mean, variance, gamma)[1] ** 2,
        ),
        "mu is right. Your second value is sigma squared.",
    ),
    "multiplied": Mistake(
        lambda mean, variance, gamma: (
            mean - np.sqrt(variance * _by_quadrature(0.0, 1.0, gamma)[1]) * _first(gamma),
            np.sqrt(variance * _by_quadrature(0.0, 1.0, gamma)[1]),
        ),
        "You multiplied by the variance of x. The variance of y is sigma^2 times that: divide.",
    ),
    "forward": Mistake(
        lambda mean, variance, gamma: _by_quadrature(mean, np.sqrt(variance), gamma),
        "That is Part 1 once more. Go the other way: which mu and sigma have this mean and this variance?",
    ),
}


def _over(z, of):
    return lambda x: _root(lambda gamma: float(of(x if abs(gamma) < 1e-12 else z(x, gamma))))


STRAIGHTEN_MISTAKES = {
    "sign": Mistake(
        lambda x: -_straight(x),
        "The size is right and the sign is not. Data with a long right tail were bent with a positive gamma.",
    ),
    "forward": Mistake(
        _over(safe, skew),
        "You bent the data once more. Look at where they come from.",
    ),
    "mean": Mistake(
        _over(safe_origin, np.mean),
        "You made the mean of the origins 0. Their skewness should be: measure it around their own mean.",
    ),
    "third moment around zero": Mistake(
        _over(safe_origin, lambda z: (z**3).mean()),
        "You cubed the origins themselves. Skewness is measured around their own mean.",
    ),
    "middle": Mistake(
        _over(safe_origin, lambda z: z.mean() - np.median(z)),
        "You brought mean and median together. That is one way to say that nothing leans; here the third moment was to be 0.",
    ),
    "a sixth": Mistake(
        lambda x: skew(x) / 6,
        "A sixth of the skewness is a good first guess for small skews. Look for the gamma at which the origins have none.",
    ),
    "skewness": Mistake(
        lambda x: skew(x),
        "That is the skewness of x. Which gamma is behind it?",
    ),
    "none": Mistake(
        lambda x: 0.0,
        "At gamma = 0 the origins are the data themselves, with all their skewness.",
    ),
}


def moments_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 670])
    cases = [(float(rng.uniform(0.5, 2)), float(rng.uniform(1.5, 3)), sign * float(rng.uniform(0.3, 0.45))) for sign in (1, -1)]
    return judge_real(
        answer,
        cases,
        _by_quadrature,
        MOMENTS_MISTAKES,
        right="Right. mu is the place where nothing is bent, and seldom the mean.",
        nudge="Not these two. With mu = 0, sigma = 2 and gamma = -1/2 they are -e^(1/8) = -1.133 and 8 e^(1/2) - e^(1/4) = 11.906.",
        parts=("the mean", "the variance"),
    )


def parameters_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 671])
    cases = [(float(rng.uniform(0.5, 2)), float(rng.uniform(2, 5)), sign * float(rng.uniform(0.3, 0.45))) for sign in (1, -1)]
    return judge_real(
        answer,
        cases,
        _back_by_quadrature,
        PARAMETERS_MISTAKES,
        right="Right. Who wants data with a given mean and variance now knows what to ask for.",
        nudge="Not these two. With mean = -1.133, variance = 11.906 and gamma = -1/2 they are 0 and 2, and with mean = -0.133 "
        "they are 1 and 2.",
        parts=("mu", "sigma"),
    )


def straighten_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 672])
    z = np.concatenate([rng.normal(size=30), [-2.0, 2.2]])
    z = z - z.mean() + 0.4
    return judge_real(
        answer,
        [(np.asarray(bent(z, sign * float(rng.uniform(0.15, 0.25)))),) for sign in (1, -1)],
        _straight,
        STRAIGHTEN_MISTAKES,
        right="Right. With this gamma undone, the sample leans to neither side.",
        nudge=BY_ORIGINS,
        rtol=2e-3,
    )


BY_ORIGINS = (
    "Not that gamma. For x = [-0.878, 0, 1.139], the bent -1, 0 and 1 with gamma = 0.13, it is 0.13; "
    "for x = [-1.139, 0, 0.878] it is -0.13."
)
TASKS = (
    Task(
        "lambertw/moments/moments",
        "Moments: mean and variance",
        2,
        9,
        moments_stub,
        (
            "E[z e^(tz)] is the derivative of E[e^(tz)] by t, and E[z^2 e^(tz)] the second. Which t does each moment of x want?",
            "With M(t) = e^(t^2/2): E[x] = M'(gamma), E[x^2] = M''(2 gamma), M'(t) = t M(t), M''(t) = (1 + t^2) M(t).",
            "Begin with `first = gamma * np.exp(gamma**2 / 2)`",
        ),
        MOMENTS_MISTAKES,
        moments_verdict,
    ),
    Task(
        "lambertw/moments/parameters",
        "Moments: from the moments back",
        2,
        7,
        parameters_stub,
        (
            "How does the variance of y depend on sigma, and does it depend on mu? Find sigma first.",
            "variance = sigma^2 Var[x], mean = mu + sigma E[x].",
            "Begin with `shift, spread = moments(0.0, 1.0, gamma)`",
        ),
        PARAMETERS_MISTAKES,
        parameters_verdict,
    ),
    Task(
        "lambertw/moments/straighten",
        "Moments: the skew that leaves no skew",
        2,
        9,
        straighten_stub,
        (
            "For each gamma the data have origins, and the origins a skewness. It falls as gamma grows. Where is it 0?",
            "Solve sum of (z_i - mean)^3 = 0 for gamma, with z_i the origin of x_i.",
            "Begin with a function of gamma: `def lean(gamma):`",
        ),
        STRAIGHTEN_MISTAKES,
        straighten_verdict,
    ),
)
