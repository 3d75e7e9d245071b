"""Shift and scale. Roads: differences of the logarithm; trying shifts; the top of the calibrated bound, by a search."""

import numpy as np
from scipy.optimize import minimize_scalar

from course_pkg.checks.record import Record
from solutions.lcvi._tools import slope

# Move along the tangent of the expected utility and see how the logarithm changes
pull_by_differences = lambda inner, du, alpha, beta: slope(lambda move: np.log(beta + alpha * (inner + du * move)), 0.0)


def smallest_by_trying(u, alpha):
    """Bisect between a shift that leaves something negative and one that does not."""
    low, high = -alpha * np.abs(u).max() - 1, alpha * np.abs(u).max() + 1
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if (alpha * u + middle >= 0).all() else (middle, high)
    return high


def place_by_search(u, du, eps, alpha, beta):  # noqa: ARG001
    def below(m):
        return m**2 / 2 - np.log(beta + alpha * u(m + eps)).mean()

    best = min(np.linspace(-5, 5, 401), key=below)
    return minimize_scalar(below, bounds=(best - 0.1, best + 0.1), method="bounded", options={"xatol": 1e-9}).x


def tables(rng):
    for low, high, alpha in [(0.4, 2, 2.2), (-1.5, -0.2, 3.1), (1, 5, 1.6), (-1.5, 1.5, 0.3)]:
        yield rng.uniform(low, high, (4, 3)), alpha * rng.uniform(0.9, 1.2)


def bump(centre, width):
    """A utility that is 1 at its best and 0 far away, and its slope."""

    def u(theta):
        return np.exp(-0.5 * ((theta - centre) / width) ** 2)

    return u, lambda theta: (centre - theta) / width**2 * u(theta)


def problems(rng):
    for alpha, beta in [(1.0, 0.0), (2.0, 0.4), (0.6, 0.3)]:
        eps = rng.uniform(-2, 2, 40)
        yield *bump(rng.uniform(1.4, 2.2), rng.uniform(1.2, 1.5)), eps - eps.mean(), alpha, beta


PULL = Record(
    cases=lambda rng: [(rng.uniform(0.3, 2, 5), rng.normal(0, 1, 5), alpha, beta) for alpha, beta in [(1.7, 0.6), (0.4, 3.0), (5.0, -0.2)]],
    reference=pull_by_differences,
    right="Right. At beta = 0 alpha drops out; a large beta leaves hardly anything of the pull.",
    nudge="Not that pull. Where u = 2 and its slope is 1, with alpha = 3 and beta = 1 it is 3/7.",
    hints=(
        "The derivative of a logarithm: the slope of what is inside, divided by what is inside.",
        "d/dtheta log(beta + alpha u(theta)) = alpha u'(theta) / (beta + alpha u(theta)).",
        "Begin with `shifted = beta + alpha * inner`",
    ),
    mistakes={
        "The size is right. A pull has a direction, too: keep the sign of the slope.": "* slope -> * np.abs(slope)",
        "Below the line all is right. Above it stands the slope of alpha u.": "return alpha * -> return",
        "Above the line all is right. Below it stands the whole shifted utility, with its alpha.": "alpha * inner -> inner",
        "That is the slope of alpha u + beta. The utility term has its logarithm.": "/ shifted -> ",
    },
)
SMALLEST = Record(
    cases=tables,
    reference=smallest_by_trying,
    right="Right. It is 0 only if the smallest utility is.",
    nudge="Not that shift. With u = [[2, 0.5]] and alpha = 4 it is -2; with u = [[2, -0.5]] it is 2.",
    hints=(
        "As beta falls, which of the utilities is the first to reach zero?",
        "alpha min(u) + beta = 0.",
        "Begin with `lowest = alpha * u.min()`",
    ),
    mistakes={
        "You let beta go to zero. A utility with a smallest value above 0 can go lower, and one with a smallest value below 0 cannot.": "-lowest -> 0.0",
        "A shift may be negative: if no utility is smaller than 1/2, half a unit can be taken off.": "-lowest -> max(0.0, -lowest)",
        "You shifted the mean to zero. About half of the utilities have no logarithm now.": "min -> mean",
    },
)
PLACE = Record(
    cases=problems,
    reference=place_by_search,
    right="Right. The posterior pulls back in proportion to the way; the utility pulls less the larger beta is.",
    nudge="Not that place, to three decimals. With u = exp(-(theta - 2)^2 / 2), du = (2 - theta) u, alpha = 1 and eps = [-1, 1] it is 1 at "
    "beta = 0 and 0.196 at beta = 1.",
    hints=(
        "At the top of the bound its slope in m is zero: the posterior's pull back and the mean pull of the utility cancel.",
        "m = mean over eps of alpha u'(m + eps) / (beta + alpha u(m + eps)). Look for the root between -5 and 5.",
        "Begin with `def imbalance(m):` and give it to brentq.",
    ),
    mistakes={
        "That is the pull at m = 0. Once m has moved, the pull is another one: find the m at which the two are in balance.": "brentq(imbalance, -5, 5) -> imbalance(0.0)",
        "That is where the utility alone would like q to be. The posterior pulls back, by m.": ".mean() - m -> .mean()",
        "You divided mean slope by mean utility. The logarithm is inside the mean: divide draw by draw.": "u(theta), du(theta) -> u(theta).mean(), du(theta).mean()",
        "You balanced the slope of alpha u. The bound has its logarithm, as in Part 1.": "pull(u(theta), du(theta), alpha, beta) -> (alpha * du(theta))",
    },
    rtol=2.5e-3,  # three decimals
)
TASKS = {"pull": PULL, "smallest": SMALLEST, "place": PLACE}
