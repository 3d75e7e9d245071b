"""Robbins and Monro. Roads: SciPy's zeta function for infinite sums; climbing for real; a population of climbers."""

from typing import Any

import numpy as np
from scipy.special import zeta

from course_pkg.checks._judge import Mistake, Task, Verdict, judge


def _sums(power: float) -> tuple[bool, bool]:
    """The sum of (1 + t)^-power is the zeta function at power, infinite up to 1."""
    return not np.isfinite(_zeta(power)), bool(np.isfinite(_zeta(2 * power)))


def _zeta(power: float) -> float:
    return float(zeta(power)) if power > 1 else np.inf


def _remaining_by_climbing(rate: float, power: float, steps: int) -> float:
    theta = 1.0
    for t in range(steps):
        theta += rate * (1 + t) ** -power * -theta
    return theta


def _spread_of_a_population(rates: np.ndarray, noise_variance: float) -> float:
    """One row for each step's noise, with a unit in its place: what of it is left at the end, squared and added up."""
    theta = np.zeros(len(rates))
    for t, rate in enumerate(rates):
        noise = np.zeros(len(rates))
        noise[t] = 1.0
        theta = theta + rate * (noise - theta)
    return float(noise_variance * (theta**2).sum())


def conditions_stub(power: float) -> Any:
    raise NotImplementedError


def remaining_stub(rate: float, power: float, steps: int) -> Any:
    raise NotImplementedError


def spread_stub(rates: np.ndarray, noise_variance: float) -> Any:
    raise NotImplementedError


def _evolve(rates, noise_variance, *, kept, added):
    variance = 0.0
    for rate in rates:
        variance = (1 - rate) ** kept * variance + rate**added * noise_variance
    return variance


CONDITIONS_MISTAKES = {
    "swapped": Mistake(
        lambda power: _sums(power)[::-1],
        "The two answers have changed places: first, can it go any distance; second, is the noise on the way limited.",
    ),
    "squares forgotten": Mistake(
        lambda power: (_sums(power)[0], power > 1),
        "The second sum is over the squares of the rates: its power is 2 kappa. Your second answer is about kappa.",
    ),
    "zero left out": Mistake(
        lambda power: (0 < power <= 1, power > 0.5),
        "Right for rates that shrink. At power 0 they are constant, and their sum is infinite.",
    ),
    "turned round": Mistake(
        lambda power: tuple(not holds for holds in _sums(power)),
        "Both are turned round: say whether the condition holds, not whether it fails.",
    ),
    "any decay will do": Mistake(
        lambda power: (True, power > 0),
        "You let every shrinking rate pass. Sum 1, 1/4, 1/9, ... : does that go anywhere? And the squares of 1, 0.9, 0.85, ...?",
    ),
    "edges": Mistake(
        lambda power: (power < 1, power >= 0.5),
        "Right everywhere except at an edge: the harmonic series 1 + 1/2 + 1/3 + ... is infinite. Where does it appear?",
    ),
}
REMAINING_MISTAKES = {
    "sum for product": Mistake(
        lambda rate, power, steps: 1 - rate * sum((1 + t) ** -power for t in range(steps)),
        "You added the steps up. Each step takes away a share of what is left, so the shares that stay are multiplied.",
    ),
    "power ignored": Mistake(
        lambda rate, power, steps: (1 - rate) ** steps,
        "That is for a constant rate. Here it shrinks with t.",
    ),
    "distance gone": Mistake(
        lambda rate, power, steps: 1 - _remaining_by_climbing(rate, power, steps),
        "That is how far you have gone. Where you are was asked for, and you started at 1.",
    ),
    "wrong direction": Mistake(
        lambda rate, power, steps: np.prod([1 + rate * (1 + t) ** -power for t in range(steps)]),
        "You walk away from the top: the gradient at theta is minus theta.",
    ),
    "exponential": Mistake(
        lambda rate, power, steps: np.exp(-rate * sum((1 + t) ** -power for t in range(steps))),
        "That is the limit of small rates, where 1 - r is nearly exp(-r). Here the first rates are large.",
    ),
    "counted from one": Mistake(
        lambda rate, power, steps: np.prod([1 - rate * (2 + t) ** -power for t in range(steps)]),
        "Your first step is too small: at t = 0 the rate is the full one.",
    ),
}
SPREAD_MISTAKES = {
    "kept share not squared": Mistake(
        lambda rates, noise_variance: _evolve(rates, noise_variance, kept=1, added=2),
        "A number that is multiplied by k has its variance multiplied by k squared; so does what is kept from before.",
    ),
    "rate not squared": Mistake(
        lambda rates, noise_variance: _evolve(rates, noise_variance, kept=2, added=1),
        "The step adds rate times noise. Its variance is the square of the rate times the noise's.",
    ),
    "rate forgotten": Mistake(
        lambda rates, noise_variance: _evolve(rates, noise_variance, kept=2, added=0),
        "The whole noise comes in with each step in yours. The step multiplies it by the rate.",
    ),
    "rates in reverse": Mistake(
        lambda rates, noise_variance: _evolve(rates[::-1], noise_variance, kept=2, added=2),
        "You took the rates from the last to the first. The noise of an early step is pulled back by all later ones.",
    ),
    "nothing forgotten": Mistake(
        lambda rates, noise_variance: noise_variance * (np.asarray(rates) ** 2).sum(),
        "You only added up. Every later step pulls the earlier noise back towards 0, by the factor 1 - rate.",
    ),
    "standard deviation": Mistake(
        lambda rates, noise_variance: np.sqrt(_spread_of_a_population(rates, noise_variance)),
        "You took the root. The variance was asked for.",
    ),
}


def conditions_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 500])
    powers = [0.0, 0.5, 1.0, float(rng.uniform(0.1, 0.4)), float(rng.uniform(0.6, 0.9)), float(rng.uniform(1.1, 2.0))]
    return judge(
        answer,
        [(power,) for power in powers],
        _sums,
        CONDITIONS_MISTAKES,
        right="Right. Between one half (left out) and one (let in) both hold.",
        nudge="Not for every power. Compare each sum with an integral, from 1 to infinity, of t^-power or of its square.",
        parts=("the first truth value", "the second truth value"),
    )


def remaining_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 501])
    cases = [(float(rng.uniform(0.4, 0.7)), power, steps) for power, steps in [(0.7, 6), (1.2, 30), (1.2, 1_000)]]
    return judge(
        answer,
        cases,
        _remaining_by_climbing,
        REMAINING_MISTAKES,
        right="Right. With the power 1.2 a share stays for ever, without any noise to blame.",
        nudge="Not that share. After two steps with rate 1/2 and power 1, 3/8 are left.",
    )


def spread_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 502])
    cases = [(rng.uniform(0.2, 0.8, 5), float(rng.uniform(1.5, 4))), (0.6 * np.arange(1.0, 40.0) ** -0.7, 2.0)]
    return judge(
        answer,
        cases,
        _spread_of_a_population,
        SPREAD_MISTAKES,
        right="Right. Each step pulls the old noise back and adds new: which of the two wins is decided by the rates.",
        nudge="Not that variance. With rates 1/2 and 1/4 it is 13/64 of the noise variance.",
    )


TASKS = (
    Task(
        "gradients/robbins-monro/conditions",
        "Robbins and Monro: the two conditions",
        1,
        7,
        conditions_stub,
        (
            "The rates add up to infinity, so that any distance can be gone; their squares do not, so that only so much noise comes in.",
            "1 + 1/2^p + 1/3^p + ... is finite exactly when p > 1. The squares have the power 2p.",
            "Begin with `any_distance = power <= 1`",
        ),
        CONDITIONS_MISTAKES,
        conditions_verdict,
    ),
    Task(
        "gradients/robbins-monro/remaining",
        "Robbins and Monro: stopping short",
        1,
        8,
        remaining_stub,
        (
            "The gradient is -theta. What does one step with rate r leave of theta?",
            "theta_{t+1} = (1 - r_t) theta_t with r_t = rate * (1 + t)^-power for t = 0, 1, ..., steps - 1.",
            "Begin with `rates = rate * (1.0 + np.arange(steps)) ** -power`",
        ),
        REMAINING_MISTAKES,
        remaining_verdict,
    ),
    Task(
        "gradients/robbins-monro/spread",
        "Robbins and Monro: the noise",
        1,
        9,
        spread_stub,
        (
            "After a step the iterate is a kept share of the old one plus rate times fresh noise. What are their variances?",
            "v_{t+1} = (1 - r_t)^2 v_t + r_t^2 s^2, starting from v_0 = 0.",
            "Begin with `v = 0.0` and go through the rates in order.",
        ),
        SPREAD_MISTAKES,
        spread_verdict,
    ),
)
