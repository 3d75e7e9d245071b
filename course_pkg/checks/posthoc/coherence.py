"""Coherence. Roads: densities on a grid, raised to a power and multiplied; the mean's slope in each datum."""

from collections.abc import Callable
from typing import Any

import numpy as np

from course_pkg.checks._judge import Mistake, Task, Verdict, judge

GRID = np.linspace(-40, 40, 40_001)


def _normal(mean: float, precision: float) -> np.ndarray:
    return -0.5 * precision * (GRID - mean) ** 2


def _moments(log_density: np.ndarray) -> tuple[float, float]:
    """Mean and precision of an unnormalised log density on the grid."""
    density = np.exp(log_density - log_density.max())
    density /= density.sum()
    mean = density @ GRID
    return float(mean), float(1 / (density @ (GRID - mean) ** 2))


def _loss(y: float) -> np.ndarray:
    return 0.5 * (y - GRID) ** 2


def _power_on_grid(mean: float, precision: float, y: float, nu: float) -> tuple[float, float]:
    return _moments(nu * _normal(mean, precision) - _loss(y))


def _coherent_on_grid(mean: float, precision: float, y: float, weight: float) -> tuple[float, float]:
    return _moments(_normal(mean, precision) - weight * _loss(y))


def _shares_by_moving_each(count: int, nu: float) -> np.ndarray:
    """How far the last mean moves when one datum moves by one."""

    def last(ys: np.ndarray) -> float:
        log_density = _normal(0.0, 1.0)
        for y in ys:
            log_density = nu * log_density - _loss(y)
        return _moments(log_density)[0]

    rest = last(np.zeros(count))
    return np.array([last(unit) - rest for unit in np.eye(count)])


def power_stub(mean: float, precision: float, y: float, nu: float) -> Any:
    raise NotImplementedError


def coherent_stub(mean: float, precision: float, y: float, weight: float) -> Any:
    raise NotImplementedError


def shares_stub(count: int, nu: float) -> Any:
    raise NotImplementedError


def _joined(prior: float, datum: float) -> Callable[[float, float, float], tuple[float, float]]:
    return lambda mean, precision, y: ((prior * precision * mean + datum * y) / (prior * precision + datum), prior * precision + datum)


VARIANCE = "The mean is right. The second value was to be the precision, and you returned the variance, one over it."
SWAPPED = "Mean and precision have changed places: the mean comes first."
PRECISION = "You took the given precision for a variance. It is one over it, and stands in the exponent as a factor."
TWICE = "Your datum counts twice: the loss has a factor 1/2, just like the exponent of a normal density of precision 1."
POWER_MISTAKES = {
    "power on the loss": Mistake(
        lambda mean, precision, y, nu: _joined(1.0, nu)(mean, precision, y),
        "You multiplied the loss by nu. Here the prior is raised to the power and the loss stays whole.",
    ),
    "power ignored": Mistake(
        lambda mean, precision, y, nu: _joined(1.0, 1.0)(mean, precision, y),
        "That is the update with nu = 1, which is Bayes' rule.",
    ),
    "power widens the wrong way": Mistake(
        lambda mean, precision, y, nu: _joined(1 / nu, 1.0)(mean, precision, y),
        "A power below 1 makes the prior wider: it multiplies the exponent, and with it the precision.",
    ),
    "power squared": Mistake(
        lambda mean, precision, y, nu: _joined(nu**2, 1.0)(mean, precision, y),
        "You treated nu like a factor on the standard deviation. It multiplies the exponent, and the exponent is linear in the precision.",
    ),
    "a root of the power": Mistake(
        lambda mean, precision, y, nu: _joined(nu**0.5, 1.0)(mean, precision, y),
        "The power multiplies the exponent, and the precision stands in the exponent as it is: no root.",
    ),
    "precision to the power": Mistake(
        lambda mean, precision, y, nu: _joined(precision ** (nu - 1), 1.0)(mean, precision, y),
        "You raised the precision to the power. The density is raised; its exponent, and the precision in it, is multiplied.",
    ),
    "precision read as variance": Mistake(
        lambda mean, precision, y, nu: _joined(nu / precision**2, 1.0)(mean, precision, y),
        PRECISION,
    ),
    "datum counted twice": Mistake(lambda mean, precision, y, nu: _joined(nu, 2.0)(mean, precision, y), TWICE),
    "changed places": Mistake(lambda *case: _power_on_grid(*case)[::-1], SWAPPED),
    "power on the mean": Mistake(
        lambda mean, precision, y, nu: ((nu**2 * precision * mean + y) / (nu * precision + 1), nu * precision + 1),
        "Precision right, mean not: the power widens the prior and leaves its mean where it was.",
    ),
    "power on the precision only": Mistake(
        lambda mean, precision, y, nu: ((precision * mean + y) / (nu * precision + 1), nu * precision + 1),
        "Precision right, mean not: the prior's weight in the mean is the same nu * precision that stands in the sum.",
    ),
    "variance": Mistake(
        lambda mean, precision, y, nu: (_power_on_grid(mean, precision, y, nu)[0], 1 / (nu * precision + 1)),
        VARIANCE,
    ),
}
COHERENT_MISTAKES = {
    "weight on the prior": Mistake(
        lambda mean, precision, y, weight: _joined(weight, 1.0)(mean, precision, y),
        "That is Part 1 again, with the power `weight`. Here the prior stays whole and the loss is weighted.",
    ),
    "weight inverted": Mistake(
        lambda mean, precision, y, weight: _joined(1.0, 1 / weight)(mean, precision, y),
        "You divided the loss by the weight. A larger weight lets the datum say more.",
    ),
    "weight on both": Mistake(
        lambda mean, precision, y, weight: _joined(weight, weight)(mean, precision, y),
        "You gave the weight to the prior, too. It stays as it is.",
    ),
    "weight ignored": Mistake(
        lambda mean, precision, y, weight: _joined(1.0, 1.0)(mean, precision, y),
        "That is the update with weight 1, which is Bayes' rule.",
    ),
    "precision read as variance": Mistake(
        lambda mean, precision, y, weight: _joined(1 / precision**2, weight)(mean, precision, y),
        PRECISION,
    ),
    "datum counted twice": Mistake(lambda mean, precision, y, weight: _joined(1.0, 2 * weight)(mean, precision, y), TWICE),
    "changed places": Mistake(lambda *case: _coherent_on_grid(*case)[::-1], SWAPPED),
    "weight on the precision only": Mistake(
        lambda mean, precision, y, weight: ((precision * mean + y) / (precision + weight), precision + weight),
        "Precision right, mean not: in the mean the datum has the same weight as in the sum.",
    ),
    "weight squared": Mistake(
        lambda mean, precision, y, weight: _joined(1.0, weight**2)(mean, precision, y),
        "You squared the weight. It multiplies the loss, and the datum's precision is what stands before (y - eta)^2 / 2.",
    ),
    "variance": Mistake(
        lambda mean, precision, y, weight: (_coherent_on_grid(mean, precision, y, weight)[0], 1 / (precision + weight)),
        VARIANCE,
    ),
}
SHARES_MISTAKES = {
    "last to first": Mistake(
        lambda count, nu: _shares_by_moving_each(count, nu)[::-1],
        "Your shares are in reverse. Whatever came first has been raised to the power most often.",
    ),
    "all alike": Mistake(
        lambda count, nu: np.full(count, 1 / (count + nu)),
        "Those are the shares when all data come at once. One after another, every update also raises the earlier data to the power.",
    ),
    "prior raised once": Mistake(
        lambda count, nu: nu ** np.arange(count - 1.0, -1, -1) / (nu + (nu ** np.arange(count)).sum()),
        "The data fade as they should. The prior fades as well: it has been through every update.",
    ),
    "prior left out": Mistake(
        lambda count, nu: nu ** np.arange(count - 1.0, -1, -1) / (nu ** np.arange(count)).sum(),
        "Your shares add up to 1, so that nothing is left for the prior's mean, 0.",
    ),
    "prior not raised": Mistake(
        lambda count, nu: nu ** np.arange(count - 1.0, -1, -1) / (1 + (nu ** np.arange(count)).sum()),
        "The data fade as they should. The prior is raised to the power in every update, too.",
    ),
    "one power too many": Mistake(
        lambda count, nu: nu * _shares_by_moving_each(count, nu),
        "You raised a datum to the power in its own update. The loss comes in whole, and fades only afterwards.",
    ),
    "prior once too few": Mistake(
        lambda count, nu: nu ** np.arange(count - 1.0, -1, -1) / (nu ** (count - 1) + (nu ** np.arange(count)).sum()),
        "The data fade as they should. Your prior has been raised once too few: the first datum's update raises it, too.",
    ),
    "shares on arrival": Mistake(
        lambda count, nu: np.array([1 / (nu ** np.arange(k + 2)).sum() for k in range(count)]),
        "Those are the shares on arrival. Every later update shrinks the ones before it.",
    ),
    "precisions": Mistake(
        lambda count, nu: nu ** np.arange(count - 1.0, -1, -1),
        "Those are the precisions that the data bring. A share is one of them over the sum of all, the prior's among them.",
    ),
}


def power_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 830])
    cases = [(float(rng.normal(0, 2)), float(rng.uniform(0.5, 4)), float(rng.normal(0, 3)), nu) for nu in (0.3, 2.5, 0.6)]
    return judge(
        answer,
        cases,
        _power_on_grid,
        POWER_MISTAKES,
        right="Right. The precisions add up, after the prior's has been multiplied by nu.",
        nudge="Not that belief. With mean = 1, precision = 8, y = 4 and nu = 1/4 the mean becomes 2 and the precision 3.",
        parts=("the mean", "the precision"),
    )


def coherent_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 831])
    cases = [(float(rng.normal(0, 2)), float(rng.uniform(0.5, 4)), float(rng.normal(0, 3)), w) for w in (0.3, 2.5, 0.6)]
    return judge(
        answer,
        cases,
        _coherent_on_grid,
        COHERENT_MISTAKES,
        right="Right. Each datum adds its weight to the precision, and sums do not care about order.",
        nudge="Not that belief. With mean = 1, precision = 2, y = 5 and weight = 6 the mean becomes 4 and the precision 8.",
        parts=("the mean", "the precision"),
    )


def shares_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 832])
    cases = [(2, float(rng.uniform(0.2, 0.8))), (5, float(rng.uniform(0.3, 0.8))), (4, float(rng.uniform(1.3, 2.0)))]
    return judge(
        answer,
        cases,
        _shares_by_moving_each,
        SHARES_MISTAKES,
        right="Right. Below nu = 1 the datum that came last counts most, above it the one that came first.",
        nudge="Not these shares. With two data and nu = 1/3 they are 3/13 and 9/13, and 1/13 is left for the prior.",
    )


TASKS = (
    Task(
        "posthoc/coherence/power",
        "Two orders of the same data: a power prior",
        1,
        8,
        power_stub,
        (
            "Take logarithms. Both terms are parabolas in eta: add them, and read mean and precision off the sum.",
            "nu * precision * (eta - mean)^2 / 2 + (y - eta)^2 / 2: the precisions nu * precision and 1 add up, "
            "and the new mean is the average of mean and y, weighted by them.",
            "Begin with `kept = nu * precision`",
        ),
        POWER_MISTAKES,
        power_verdict,
    ),
    Task(
        "posthoc/coherence/coherent",
        "Two orders of the same data: a weighted loss",
        1,
        6,
        coherent_stub,
        (
            "Two parabolas again. Which of the two carries the factor this time?",
            "precision * (eta - mean)^2 / 2 + weight * (y - eta)^2 / 2.",
            "Begin with `total = precision + weight`",
        ),
        COHERENT_MISTAKES,
        coherent_verdict,
    ),
    Task(
        "posthoc/coherence/shares",
        "Two orders of the same data: who is heard",
        1,
        10,
        shares_stub,
        (
            "A datum enters with precision 1. What do the updates after its own do to that? And to the prior's?",
            "Datum k (from 0) ends with precision nu^(count - 1 - k), the prior with nu^count; the mean is weighted by precisions.",
            "Begin with `precisions = nu ** np.arange(count - 1.0, -1, -1)`",
        ),
        SHARES_MISTAKES,
        shares_verdict,
    ),
)
