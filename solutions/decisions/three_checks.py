"""Three checks on a model. Roads: counting one by one, places in a sorted list, and every load tried."""

import numpy as np

from course_pkg.checks.record import Record


def share_at_least(y, again, T):
    seen, count = T(y), 0
    for row in again:
        count += 1 if T(row) > seen or T(row) == seen else 0
    return count / len(again)


def places(truths, draws):
    return np.array([sorted([*row, truth]).index(truth) for truth, row in zip(truths, draws, strict=True)])


def regret_by_search(h, draws, a, b):
    mean_cost = lambda load: np.mean([a * (x - load) if x > load else b * (load - x) for x in draws])
    return mean_cost(h) - min(mean_cost(load) for load in np.unique(draws))


def data_sets(rng):
    for T in (np.max, np.var, lambda y: np.abs(np.diff(y)).sum()):
        again = rng.poisson(4.0, (40, 12))
        yield again[np.argsort([T(row) for row in again])[27]], again, T


P_VALUE = Record(
    cases=data_sets,
    reference=share_at_least,
    right="Right. A small share says that the model hardly ever scatters, peaks or jumps so much: T says at what you looked.",
    nudge="Not that share. Count the rows of `again` whose T is at least T(y), and divide by how many rows there are.",
    hints=(
        "One row of `again` is one data set that might have been. What is asked of each?",
        "Compare T(row) with T(y), row by row; the mean of trues and falses is a share.",
        "Begin with `[T(row) >= T(y) for row in again]`",
    ),
    apart=True,
    mistakes={
        "That is the share below or equal: the other tail.": ">= -> <=",
        "Ties count: a replicate with just the statistic that was seen is at least as large.": ">= -> >",
        "You took T across the data sets. Each row of `again` is one, of the length of `y`.": "for row in again -> for row in again.T",
        "That is the number of such data sets. Divide by how many there are.": "np.mean -> np.sum",
        "You compared the data with the replicates entry by entry. Compare their statistics.": "T(row) >= T(y) -> row >= y",
    },
)
RANKS = Record(
    cases=lambda rng: [(rng.normal(size=d), 0.3 + rng.normal(size=(d, n))) for d, n in ((9, 30), (14, 19), (25, 12))],
    reference=places,
    right="Right. If the engine is right, these are spread evenly over 0, 1, ..., L, and nothing else needs to be known.",
    nudge="Not those ranks. With truths = [0.5, 0.5], draws = [[0, 1, 2], [-1, 0, 2]] they are 1 and 2.",
    hints=(
        "One truth has one row of draws. How many of them are smaller?",
        "Compare the row with its truth, entry by entry, and count. `truths[:, None]` stands beside each row.",
        "Begin with `draws < truths[:, None]`",
    ),
    apart=True,
    mistakes={
        "You counted the draws above the truth. A rank counts from below.": "< -> >",
        "That is a share. A rank is a whole number: count.": ".sum(axis=1) -> .mean(axis=1)",
        "Yours begin at 1. With no draw below it a truth has the rank 0.": ".sum(axis=1) -> .sum(axis=1) + 1",
        "You ranked each truth among all of the draws. Its own row is what the engine returned for it.": (
            "(draws < truths[:, None]).sum(axis=1) -> np.array([(draws < truth).sum() for truth in truths])"
        ),
        "You ranked the truths among themselves. Compare each with the draws of its own row.": (
            "(draws < truths[:, None]).sum(axis=1) -> (truths[None, :] < truths[:, None]).sum(axis=1)"
        ),
    },
)
REGRET = Record(
    cases=lambda rng: [
        (4.0, rng.poisson(9.0, 41), 3.0, 1.0),
        (12.0, rng.poisson(6.0, 33), 1.0, 2.5),
        (7.0, rng.poisson(5.0, 57), 19.0, 1.0),
    ],
    reference=regret_by_search,
    right="Right. Where it is small, you and your colleague may keep your priors and sign the same order.",
    nudge="Not that regret. With h = 1, draws = [1, 3], a = 3, b = 1 it is 2.",
    hints=(
        "Two mean costs over the same draws: that of h, and that of the load that your colleague would choose.",
        "The best load is the quantile of the draws at the level a / (a + b).",
        "Begin with a function of the load, `def cost(h):`, and use it twice.",
    ),
    apart=True,
    mistakes={
        "That is what your load costs. Take off what the best load costs there.": "- cost(best) -> ",
        "Your colleague's best load is at the wrong end: the dearer a missing unit, the higher the quantile, a / (a + b).": "a / (a + b) -> b / (a + b)",
        "The mean is not the load that is best at these prices: take the quantile at a / (a + b).": (
            'np.quantile(draws, a / (a + b), method="inverted_cdf") -> draws.mean()'
        ),
        "The median is best only where both prices are the same.": "a / (a + b) -> 0.5",
        "You exchanged the prices: a is for each unit that is missing, where draws lie above the load.": (
            "a * (draws - h), b * (h - draws) -> b * (draws - h), a * (h - draws)"
        ),
    },
)
TASKS = {"p-value": P_VALUE, "ranks": RANKS, "regret": REGRET}
