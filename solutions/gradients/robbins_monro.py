"""Robbins and Monro. Roads: SciPy's zeta function for infinite sums; climbing for real; a population of climbers."""

import numpy as np
from scipy.special import zeta

from course_pkg.checks.record import Record

# The sum of (1 + t)^-power is the zeta function at power, infinite up to 1
sums = lambda power: (power <= 1 or bool(np.isinf(zeta(power))), 2 * power > 1 and bool(np.isfinite(zeta(2 * power))))


def remaining_by_climbing(rate, power, steps):
    theta = 1.0
    for t in range(steps):
        theta += rate * (1 + t) ** -power * -theta
    return theta


def spread_of_a_population(rates, noise_variance):
    """One row for each step's noise, with a unit in its place: what of it is left at the end, squared and added up."""
    theta = np.zeros(len(rates))
    for rate, noise in zip(rates, np.eye(len(rates)), strict=True):
        theta = theta + rate * (noise - theta)
    return noise_variance * (theta**2).sum()


CONDITIONS = Record(
    cases=lambda rng: [(power,) for power in (0.0, 0.5, 1.0, rng.uniform(0.1, 0.4), rng.uniform(0.6, 0.9), rng.uniform(1.1, 2.0))],
    reference=sums,
    right="Right. Between one half (left out) and one (let in) both hold.",
    nudge="Not for every power. Compare each sum with an integral, from 1 to infinity, of t^-power or of its square.",
    hints=(
        "The rates add up to infinity, so that any distance can be gone; their squares do not, so that only so much noise comes in.",
        "1 + 1/2^p + 1/3^p + ... is finite exactly when p > 1. The squares have the power 2p.",
        "Begin with `any_distance = power <= 1`",
    ),
    mistakes={
        "The two answers have changed places: first, can it go any distance; second, is the noise on the way limited.": "return any_distance, noise_is_finite -> return noise_is_finite, any_distance",
        "The second sum is over the squares of the rates: its power is 2 kappa. Your second answer is about kappa.": "0.5 -> 1",
        "Right for rates that shrink. At power 0 they are constant, and their sum is infinite.": "power <= 1 -> 0 < power <= 1",
        "You let every shrinking rate pass. Sum 1, 1/4, 1/9, ... : does that go anywhere? And the squares of 1, 0.9, 0.85, ...?": "power <= 1 -> True ;; > 0.5 -> > 0",
        "Right everywhere except at an edge: the harmonic series 1 + 1/2 + 1/3 + ... is infinite. Where does it appear?": "<= 1 -> < 1 ;; > 0.5 -> >= 0.5",
    },
    parts=("the first truth value", "the second truth value"),
)
REMAINING = Record(
    cases=lambda rng: [(rng.uniform(0.4, 0.7), power, steps) for power, steps in [(0.7, 6), (1.2, 30), (1.2, 1_000)]],
    reference=remaining_by_climbing,
    right="Right. With the power 1.2 a share stays for ever, without any noise to blame.",
    nudge="Not that share. After two steps with rate 1/2 and power 1, 3/8 are left.",
    hints=(
        "The gradient is -theta. What does one step with rate r leave of theta?",
        "theta_{t+1} = (1 - r_t) theta_t with r_t = rate * (1 + t)^-power for t = 0, 1, ..., steps - 1.",
        "Begin with `rates = rate * (1.0 + np.arange(steps)) ** -power`",
    ),
    mistakes={
        "You added the steps up. Each step takes away a share of what is left, so the shares that stay are multiplied.": "np.prod(1 - rates) -> 1 - rates.sum()",
        "That is the limit of small rates, where 1 - r is nearly exp(-r). Here the first rates are large.": "np.prod(1 - rates) -> np.exp(-rates.sum())",
        "Your first step is too small: at t = 0 the rate is the full one.": "1.0 + -> 2.0 +",
    },
)
SPREAD = Record(
    cases=lambda rng: [(rng.uniform(0.2, 0.8, 5), rng.uniform(1.5, 4)), (0.6 * np.arange(1.0, 40.0) ** -0.7, 2.0)],
    reference=spread_of_a_population,
    right="Right. Each step pulls the old noise back and adds new: which of the two wins is decided by the rates.",
    nudge="Not that variance. With rates 1/2 and 1/4 it is 13/64 of the noise variance.",
    hints=(
        "After a step the iterate is a kept share of the old one plus rate times fresh noise. What are their variances?",
        "v_{t+1} = (1 - r_t)^2 v_t + r_t^2 s^2, starting from v_0 = 0.",
        "Begin with `v = 0.0` and go through the rates in order.",
    ),
    mistakes={
        "A number that is multiplied by k has its variance multiplied by k squared; so does what is kept from before.": "(1 - rate) ** 2 -> (1 - rate)",
        "The step adds rate times noise. Its variance is the square of the rate times the noise's.": "rate**2 -> rate",
        "The whole noise comes in with each step in yours. The step multiplies it by the rate.": "rate**2 * -> ",
        "You took the rates from the last to the first. The noise of an early step is pulled back by all later ones.": "in rates -> in rates[::-1]",
        "You only added up. Every later step pulls the earlier noise back towards 0, by the factor 1 - rate.": "(1 - rate) ** 2 * v -> v",
    },
)
TASKS = {"conditions": CONDITIONS, "remaining": REMAINING, "spread": SPREAD}
