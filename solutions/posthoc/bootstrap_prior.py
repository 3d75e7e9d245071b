"""A prior from refits. Roads: differences between pairs of refits; every resample that there is, listed."""

from itertools import combinations, product

import numpy as np

from course_pkg.checks.record import Record


def from_pairs(decisions):
    """The mean refit, and the spread from how far any two refits are apart: half the mean square of their difference."""
    squares = [(one - other) ** 2 for one, other in combinations(decisions, 2)]
    return sum(decisions) / len(decisions), np.sqrt(sum(squares) / len(squares) / 2)


refits = lambda rng: [(rng.normal(2, 1, 3) + np.array([0.1, 0.5, 3.0]) * rng.normal(size=(count, 3)),) for count in (4, 9)]
ONE_SPREAD = (
    "np.sqrt(variance) -> np.full(len(mean), np.sqrt(variance.mean())) || np.sqrt(variance) -> np.full(len(mean), decisions.std(ddof=1))"
)
PRIOR = Record(
    cases=refits,
    reference=from_pairs,
    parts=("the mean", "the spread"),
    right="Right. Both are in the unit of the decisions, so that (h - mean) / sd is a pure number.",
    nudge="Not that prior. The refits 1, 12 and 14 of one point give mean 9 and sd 7.",
    hints=(
        "Look at one column: L decisions for the same point. How would you describe where they lie and how far apart they are?",
        "mean = (1/L) sum of h_l, sd = sqrt((1/(L - 1)) sum of (h_l - mean)^2), for each point.",
        "Begin with `mean = decisions.mean(axis=0)`",
    ),
    mistakes={
        "Nearly: you divided by L. The mean was estimated from the same refits, so divide by L - 1 (NumPy: ddof=1).": "len(decisions) - 1 -> len(decisions)",
        "You divided by the root of L. That says how well the mean is known, not how far refits are apart.": "np.sqrt(variance) -> np.sqrt(variance / len(decisions))",
        "You gave every point the same spread. Each has its own: compare the refits of one point with each other.": ONE_SPREAD,
        "You summed the squares and did not divide: with more refits yours grows.": "/ (len(decisions) - 1) -> ",
    },
)
MEAN = Record(
    cases=lambda rng: [(rng.normal(3, 2, n),) for n in (3, 4, 5)],
    reference=lambda y: np.std([np.mean(rows) for rows in product(y, repeat=len(y))]),
    right="Right. For this engine no refit is needed. For most there is no such formula, and one refits.",
    nudge="Not that spread. From the rows 0 and 2 come the resampled means 0, 1, 1 and 2, with standard deviation 0.707.",
    hints=(
        "A resample is n independent draws from the n rows, each as likely as the others. What is the variance of one such draw?",
        "Var(one draw) = (1/n) sum of (y_i - mean)^2, and the mean of n independent draws has an n-th of it.",
        "Begin with `one_draw = ((y - y.mean()) ** 2).mean()`",
    ),
    mistakes={
        "That is the estimate for fresh samples. Resamples come from these n rows: divide by n.": "** 2).mean() -> ** 2).sum() / (len(y) - 1)",
        "That is how far apart the rows are. A mean of n of them is quieter.": "/ len(y) -> ",
        "That is how far apart the rows are, with n - 1. A mean of n rows is quieter.": "one_draw / len(y) -> y.var(ddof=1)",
        "You divided by n. The variance of a mean of n is an n-th, its standard deviation the root of that.": "(one_draw / len(y)) -> (one_draw) / len(y)",
        "Zero would be right if each row were drawn exactly once. With replacement some come twice and others not at all.": "one_draw / len(y) -> 0",
    },
)
TASKS = {"prior": PRIOR, "mean": MEAN}
