"""Vary M, rate and steps. Road: let the variance of the iterate evolve, step by step, until it stands still."""

from course_pkg.checks.record import Record


def variance_by_iteration(rate, curvature, noise_variance, draws):
    variance = 0.0
    for _ in range(5_000):
        variance = (1 - rate * curvature) ** 2 * variance + rate**2 * noise_variance / draws
    return variance


RATTLE = Record(
    cases=lambda rng: [(*rng.uniform([0.2, 0.6, 2.0], [0.5, 2.0, 9.0]).tolist(), draws) for draws in (1, 3, 25)],
    reference=variance_by_iteration,
    right="Right. More draws and smaller rates buy the same quiet; only the draws leave the speed as it was.",
    nudge="Not that number. With rate 1/4, curvature 2 and two draws it is 1/24 of the noise variance.",
    hints=(
        "Deep in the run the variance after a step equals the variance before it. Write both down.",
        "v = (1 - rate c)^2 v + rate^2 s^2 / M, for curvature c and noise variance s^2. Solve for v.",
        "Begin with `kept = (1 - rate * curvature) ** 2`",
    ),
    mistakes={
        "That is the limit of small rates: you dropped (rate * curvature)^2 when you squared 1 - rate * curvature.": "1 - kept -> 2 * rate * curvature",
        "The step adds rate times noise. Its variance is the square of the rate times the noise's.": "rate**2 -> rate",
        "A number that is multiplied by k has its variance multiplied by k squared; so does what is kept from before.": "** 2 -> ",
    },
)
TASKS = {"rattle": RATTLE}
