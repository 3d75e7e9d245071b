"""Coherence. Roads: densities on a grid, raised to a power and multiplied; one datum at a time."""

import numpy as np

from course_pkg.checks.record import Record

GRID = np.linspace(-40, 40, 4_001)


normal = lambda mean, precision: -0.5 * precision * (GRID - mean) ** 2


def moments(log_density):
    """Mean and precision of an unnormalised log density on the grid."""
    density = np.exp(log_density - log_density.max())
    density /= density.sum()
    mean = density @ GRID
    return mean, 1 / (density @ (GRID - mean) ** 2)


def by_moving_each(count, nu):
    """The last mean where one datum is 1 and the others are 0, like the mean at the beginning."""

    def last(ys):
        log_density = normal(0, 1)
        for y in ys:
            log_density = nu * log_density + normal(y, 1)
        return moments(log_density)[0]

    return np.array([last(unit) for unit in np.eye(count)])


belief = lambda rng: [(rng.normal(0, 2), rng.uniform(0.5, 4), rng.normal(0, 3), strength) for strength in (0.3, 2.5, 0.6)]
PRECISION = "You took the given precision for a variance. It is one over it, and stands in the exponent as a factor."
TWICE = "Your datum counts twice: the loss has a factor 1/2, just like the exponent of a normal density of precision 1."
POWER = Record(
    cases=belief,
    reference=lambda mean, precision, y, nu: moments(nu * normal(mean, precision) + normal(y, 1)),
    parts=("the mean", "the precision"),
    right="Right. The precisions add up, after the prior's has been multiplied by nu.",
    nudge="Not that belief. With mean = 1, precision = 8, y = 4 and nu = 1/4 the mean becomes 2 and the precision 3.",
    hints=(
        "Take logarithms. Both terms are parabolas in eta: add them, and read mean and precision off the sum.",
        "nu * precision * (eta - mean)^2 / 2 + (y - eta)^2 / 2: the precisions nu * precision and 1 add up, "
        "and the new mean is the average of mean and y, weighted by them.",
        "Begin with `kept = nu * precision`",
    ),
    mistakes={
        "You multiplied the loss by nu. Here the prior is raised to the power and the loss stays whole.": "nu * -> ;; + y -> + nu * y ;; + 1 -> + nu",
        "You raised the precision to the power. The density is raised; its exponent, and the precision in it, is multiplied.": "nu * precision -> precision**nu",
        PRECISION: "nu * precision -> nu / precision",
        TWICE: "+ y -> + 2 * y ;; + 1 -> + 2",
        "Precision right, mean not: the power widens the prior and leaves its mean where it was.": "kept * mean -> nu * kept * mean",
    },
)
COHERENT = Record(
    cases=belief,
    reference=lambda mean, precision, y, weight: moments(normal(mean, precision) + weight * normal(y, 1)),
    parts=("the mean", "the precision"),
    right="Right. Each datum adds its weight to the precision, and sums do not care about order.",
    nudge="Not that belief. With mean = 1, precision = 2, y = 5 and weight = 6 the mean becomes 4 and the precision 8.",
    hints=(
        "Two parabolas again. Which of the two carries the factor this time?",
        "precision * (eta - mean)^2 / 2 + weight * (y - eta)^2 / 2.",
        "Begin with `total = precision + weight`",
    ),
    mistakes={
        "That is Part 1 again, with the power `weight`. Here the prior stays whole and the loss is weighted.": (
            "precision -> weight * precision ;; + weight * y -> + y ;; precision + weight -> precision + 1"
        ),
        "You gave the weight to the prior, too. It stays as it is.": "precision -> weight * precision",
        PRECISION: "precision -> 1 / precision",
        TWICE: "weight -> 2 * weight",
        "Precision right, mean not: in the mean the datum has the same weight as in the sum.": "weight * y -> y",
    },
)
SHARES = Record(
    cases=lambda rng: [(2, rng.uniform(0.2, 0.8)), (5, rng.uniform(0.3, 0.8)), (4, rng.uniform(1.3, 2.0))],
    reference=by_moving_each,
    right="Right. Below nu = 1 the datum that came last counts most, above it the one that came first.",
    nudge="Not these shares. With two data and nu = 1/3 they are 3/13 and 9/13, and 1/13 is left for the prior.",
    hints=(
        "A datum enters with precision 1. What do the updates after its own do to that? And to the prior's?",
        "Datum k (from 0) ends with precision nu^(count - 1 - k), the prior with nu^count; the mean is weighted by precisions.",
        "Begin with `precisions = nu ** np.arange(count - 1.0, -1, -1)`",
    ),
    mistakes={
        "Your shares are in reverse. Whatever came first has been raised to the power most often.": "count - 1.0, -1, -1 -> 1.0 * count",
        "Those are the shares if all data come at once. Every update raises the earlier data to the power.": "nu ** np.arange(count - 1.0, -1, -1) -> np.ones(count) ;; nu**count -> nu",
        "The data fade as they should. The prior fades, too: every update raises it to the power, the first datum's among them.": "nu**count -> nu",
        "You raised a datum to the power in its own update. The loss comes in whole, and fades only afterwards.": "precisions / -> nu * precisions /",
    },
)
TASKS = {"power": POWER, "coherent": COHERENT, "shares": SHARES}
