"""Discrete decisions. Road: products and sums, entry by entry."""

import math

import numpy as np

from course_pkg.checks.record import Record

# What the action is worth for the row, theta by theta
worth = lambda p, costs, M, n, h: [M - math.fsum(chance * cost for chance, cost in zip(one[n], costs[:, h], strict=True)) for one in p]


def worths_by_products(p, costs, M):
    return np.array([[math.log(math.prod(worth(p, costs, M, n, h))) / len(p) for h in range(costs.shape[1])] for n in range(p.shape[1])])


def both_by_listing(p, costs, M):
    """The largest product of expected utilities over theta, and the largest sum."""
    rows, actions = range(p.shape[1]), range(costs.shape[1])
    return tuple(np.array([max(actions, key=lambda h: of(worth(p, costs, M, n, h))) for n in rows]) for of in (math.prod, math.fsum))


def tables(rng):
    for thetas, rows, classes in [(4, 5, 3), (6, 2, 3)]:
        costs = rng.uniform(0.5, 8, (classes, classes))
        yield rng.dirichlet(np.full(classes, 0.7), (thetas, rows)), costs, costs.max() + rng.uniform(0.2, 1)


def patients(rng):
    """A cost matrix with cheap mistakes and dear ones, and a q that does not know what to think."""
    for thetas, rows in [(5, 12), (4, 14)]:
        costs = np.array([[0.0, 1.0, 2.0], [9.0, 0.5, 2.0], [3.0, 8.0, 1.5]]) * rng.uniform(0.8, 1.2, (3, 3))
        yield rng.dirichlet(np.full(3, 0.25), (thetas, rows)), costs, costs.max() + 0.1


WORTHS = Record(
    cases=tables,
    reference=worths_by_products,
    right="Right. A sum in the place of draws: no noise and no bias.",
    nudge="Not those numbers. With p = [[[1/2, 1/2]], [[1, 0]], [[1, 0]]] (three thetas, one row), costs = [[0, 2], [4, 1]] and "
    "M = 5 they are [[1.439, 1.150]].",
    hints=(
        "For one theta and one row, the expected utility of an action is a sum over outcomes. What comes after it?",
        "(1/S) sum over s of log( sum over y of p[s, n, y] (M - costs[y, h]) ), for each n and h.",
        "Begin with `expected = p @ (M - costs)`",
    ),
    mistakes={
        "You took the columns of the cost matrix for the outcomes. Its rows are outcomes, its columns actions.": "costs -> costs.T",
        "You averaged over theta before the logarithm. Each theta has a logarithm of its own.": "np.log(expected).mean(axis=0) -> np.log(expected.mean(axis=0))",
        "Your logarithm is inside the sum over outcomes. First each theta's expected utility.": "(M - costs) -> np.log(M - costs) ;; np.log(expected) -> expected",
        "You took costs for utilities. The utility is M less the cost.": "(M - costs) -> costs",
        "That is the tangent of the logarithm. No utility is negative here: take the logarithm itself.": "np.log(expected) -> (np.log(M) + expected / M - 1)",
    },
)
BOTH = Record(
    cases=patients,
    reference=both_by_listing,
    right="Right. The term shuns an action that would be dear under some of the thetas; the risk adds them all up.",
    nudge="Not those actions. With p = [[[0, 1]], [[1, 0]]] (two thetas, one row), costs = [[0, 2.6], [5, 2.5]] and M = 5.1 they are "
    "[1] and [0].",
    hints=(
        "One rule looks for the largest term, the other for the smallest expected cost, where theta is averaged over, too.",
        "argmax over h of Part 1; argmin over h of sum over y of (mean over s of p[s, n, y]) costs[y, h].",
        "Begin with `predictive = p.mean(axis=0)`",
    ),
    mistakes={
        "You took the columns of the cost matrix for the outcomes. Its rows are outcomes, its columns actions.": "costs -> costs.T",
        "You gave the Bayes actions twice. The first shall be the best for the term of Part 1.": "worths(p, costs, M).argmax -> (predictive @ costs).argmin",
        "You gave the actions of Part 1's term twice. The second shall have the smallest expected cost.": "(predictive @ costs).argmin -> worths(p, costs, M).argmax",
        "The second actions are right. For the first your logarithm is inside the sum over outcomes.": "worths(p, costs, M) -> (p @ np.log(M - costs)).mean(axis=0)",
        "The first actions are right. For the second you looked at the likeliest outcome only; a rare one may be dear.": "(predictive @ costs) -> costs[predictive.argmax(axis=1)]",
    },
    parts=("the first list of actions", "the second"),
    apart=True,
)
TASKS = {"worths": WORTHS, "both": BOTH}
