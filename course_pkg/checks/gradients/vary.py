"""Vary M, rate and steps. Road: let the variance of the iterate evolve, step by step, until it stands still."""

from typing import Any

import numpy as np

from course_pkg.checks._judge import Mistake, Task, Verdict, judge


def _variance_by_iteration(rate: float, curvature: float, noise_variance: float, draws: int) -> float:
    variance = 0.0
    for _ in range(5_000):
        variance = (1 - rate * curvature) ** 2 * variance + rate**2 * noise_variance / draws
    return variance


def rattle_stub(rate: float, curvature: float, noise_variance: float, draws: int) -> Any:
    raise NotImplementedError


RATTLE_MISTAKES = {
    "draws forgotten": Mistake(
        lambda rate, curvature, noise_variance, draws: _variance_by_iteration(rate, curvature, noise_variance, 1),
        "Your answer does not know how many draws there are. The mean of M draws has an M-th of their variance.",
    ),
    "small rates only": Mistake(
        lambda rate, curvature, noise_variance, draws: rate * noise_variance / (2 * draws * curvature),
        "That is the limit of small rates: you dropped (rate * curvature)^2 when you squared 1 - rate * curvature.",
    ),
    "curvature of one": Mistake(
        lambda rate, curvature, noise_variance, draws: _variance_by_iteration(rate, 1.0, noise_variance, draws),
        "That is for a parabola with curvature 1. With curvature c a step keeps the share 1 - rate * c of the distance.",
    ),
    "rate not squared": Mistake(
        lambda rate, curvature, noise_variance, draws: _variance_by_iteration(rate, curvature, noise_variance, draws) / rate,
        "The step adds rate times noise. Its variance is the square of the rate times the noise's.",
    ),
    "kept share not squared": Mistake(
        lambda rate, curvature, noise_variance, draws: rate * noise_variance / (draws * curvature),
        "A number that is multiplied by k has its variance multiplied by k squared; so does what is kept from before.",
    ),
    "curvature forgotten below": Mistake(
        lambda rate, curvature, noise_variance, draws: curvature * _variance_by_iteration(rate, curvature, noise_variance, draws),
        "You are off by a factor of the curvature. Multiply out 1 - (1 - rate * curvature)^2 once more.",
    ),
    "draws squared": Mistake(
        lambda rate, curvature, noise_variance, draws: _variance_by_iteration(rate, curvature, noise_variance, draws**2),
        "You divided by the square of the number of draws. The mean of M draws has an M-th of their variance.",
    ),
    "one step only": Mistake(
        lambda rate, curvature, noise_variance, draws: rate**2 * noise_variance / draws,
        "That is what one step adds. Earlier steps have not been forgotten: set the variance before equal to the one after.",
    ),
    "standard deviation": Mistake(
        lambda rate, curvature, noise_variance, draws: np.sqrt(_variance_by_iteration(rate, curvature, noise_variance, draws)),
        "You took the root. The variance was asked for.",
    ),
}


def rattle_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 420])
    cases = [(float(rng.uniform(0.2, 0.5)), float(rng.uniform(0.6, 2.0)), float(rng.uniform(2.0, 9.0)), m) for m in (1, 3, 25)]
    return judge(
        answer,
        cases,
        _variance_by_iteration,
        RATTLE_MISTAKES,
        right="Right. More draws and smaller rates buy the same quiet; only the draws leave the speed as it was.",
        nudge="Not that number. With rate 1/4, curvature 2 and two draws it is 1/24 of the noise variance.",
    )


TASKS = (
    Task(
        "gradients/vary/rattle",
        "Vary M, rate and steps: how far it rattles",
        1,
        10,
        rattle_stub,
        (
            "Deep in the run the variance after a step equals the variance before it. Write both down.",
            "v = (1 - rate c)^2 v + rate^2 s^2 / M, for curvature c and noise variance s^2. Solve for v.",
            "Begin with `kept = (1 - rate * curvature) ** 2`",
        ),
        RATTLE_MISTAKES,
        rattle_verdict,
    ),
)
