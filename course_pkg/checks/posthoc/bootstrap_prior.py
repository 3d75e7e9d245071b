"""A prior from refits. Roads: differences between pairs of refits; every resample that there is, listed."""

from itertools import combinations, product
from typing import Any

import numpy as np

from course_pkg.checks._judge import Mistake, Task, Verdict, call, judge


def _from_pairs(decisions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean refit, and the spread from how far any two refits are apart: half the mean square of their difference."""
    total = np.zeros(decisions.shape[1])
    squares = []
    for row in decisions:
        total = total + row
    for one, other in combinations(decisions, 2):
        squares.append((one - other) ** 2)
    return total / len(decisions), np.sqrt(sum(squares) / len(squares) / 2)


def _all_resamples(y: np.ndarray) -> float:
    """The standard deviation of the mean over all n^n resamples."""
    means = np.array([np.mean(rows) for rows in product(y, repeat=len(y))])
    return float(np.sqrt(np.mean((means - means.mean()) ** 2)))


def prior_stub(decisions: np.ndarray) -> Any:
    raise NotImplementedError


def mean_stub(y: np.ndarray) -> Any:
    raise NotImplementedError


def _mean_and(spread):
    return lambda decisions: (_from_pairs(decisions)[0], spread(decisions))


PRIOR_MISTAKES = {
    "variance": Mistake(
        _mean_and(lambda decisions: _from_pairs(decisions)[1] ** 2),
        "The mean is right. Your spread has the unit of the decisions squared: it is a variance, and the prior's normal wants its root.",
    ),
    "divided by L": Mistake(
        _mean_and(lambda decisions: decisions.std(axis=0)),
        "Nearly: you divided by L. The mean was estimated from the same refits, so divide by L - 1 (NumPy: ddof=1).",
    ),
    "variance divided by L": Mistake(
        _mean_and(lambda decisions: decisions.var(axis=0)),
        "Your spread is a variance, and one divided by L. Take the root, and divide by L - 1.",
    ),
    "standard error": Mistake(
        _mean_and(lambda decisions: _from_pairs(decisions)[1] / np.sqrt(len(decisions))),
        "You divided by the root of L. That says how well the mean of the refits is known; with enough refits it is 0. How far apart are "
        "the refits?",
    ),
    "over the points": Mistake(
        lambda decisions: (decisions.mean(axis=1), decisions.std(axis=1, ddof=1)),
        "You went along the points. Each column is one point; compare its refits with each other, down the column.",
    ),
    "over the points, by L": Mistake(
        lambda decisions: (decisions.mean(axis=1), decisions.std(axis=1)),
        "You went along the points, axis 1. Compare the refits of one point with each other: axis 0.",
    ),
    "one spread for all": Mistake(
        _mean_and(lambda decisions: np.full(decisions.shape[1], np.sqrt((_from_pairs(decisions)[1] ** 2).mean()))),
        "You gave every point the same spread. Here each point keeps its own.",
    ),
    "first refit as centre": Mistake(
        lambda decisions: (decisions[0], _from_pairs(decisions)[1]),
        "Your centre is the first refit. It is one of L: take their mean.",
    ),
    "medians": Mistake(
        lambda decisions: (np.median(decisions, axis=0), _from_pairs(decisions)[1]),
        "The spread is right. Your centre is the median of the refits: take their mean.",
    ),
    "changed places": Mistake(
        lambda decisions: _from_pairs(decisions)[::-1],
        "Mean and standard deviation have changed places: the mean comes first.",
    ),
    "all thrown together": Mistake(
        _mean_and(lambda decisions: np.full(decisions.shape[1], decisions.std(ddof=1))),
        "Your spread is that of all decisions thrown together, whatever their point. Compare the refits of one point with each other.",
    ),
    "range": Mistake(
        _mean_and(lambda decisions: np.ptp(decisions, axis=0)),
        "The distance from the lowest refit to the highest grows with every refit. Use all of them: the standard deviation.",
    ),
    "half the range": Mistake(
        _mean_and(lambda decisions: (decisions.max(axis=0) - decisions.min(axis=0)) / 2),
        "Half the distance from the lowest refit to the highest grows with every refit. Use all of them: the standard deviation.",
    ),
    "sum not divided": Mistake(
        _mean_and(lambda decisions: np.sqrt(((decisions - decisions.mean(axis=0)) ** 2).sum(axis=0))),
        "You summed the squares and did not divide: with more refits yours grows.",
    ),
    "absolute deviation": Mistake(
        _mean_and(lambda decisions: np.abs(decisions - decisions.mean(axis=0)).mean(axis=0)),
        "You averaged absolute deviations. The standard deviation squares them first.",
    ),
}
NOT_THAT = "Not that spread. From the rows 0 and 2 come the resampled means 0, 1, 1 and 2, with standard deviation 0.707."
NEARLY = "Near, and not equal. If you drew resamples at random: there is a number for all of them together, which needs no draw."
MEAN_MISTAKES = {
    "divided by n - 1": Mistake(
        lambda y: y.std(ddof=1) / np.sqrt(len(y)),
        "That is the usual estimate for fresh samples. Resamples are drawn from the n rows themselves, and these have the variance with n.",
    ),
    "spread of the rows": Mistake(
        lambda y: y.std(),
        "That is how far apart the rows are. A mean of n of them is quieter.",
    ),
    "spread of the rows, n - 1": Mistake(
        lambda y: y.std(ddof=1),
        "That is how far apart the rows are, with n - 1. A mean of n rows is quieter, and resamples come from these very rows.",
    ),
    "variance": Mistake(
        lambda y: _all_resamples(y) ** 2,
        "That is the variance. Take its root.",
    ),
    "divided by n": Mistake(
        lambda y: y.std() / len(y),
        "You divided by n. The variance of a mean of n is an n-th, its standard deviation the root of that.",
    ),
    "without replacement": Mistake(
        lambda y: 0.0,
        "Zero would be right if each row were drawn exactly once. With replacement some come twice and others not at all.",
    ),
}


def prior_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 840])
    spread = np.array([0.1, 0.5, 3.0])
    cases = [(rng.normal(2, 1, 3)[None, :] + spread[None, :] * rng.normal(size=(refits, 3)),) for refits in (4, 9)]
    return judge(
        answer,
        cases,
        _from_pairs,
        PRIOR_MISTAKES,
        right="Right. Both are in the unit of the decisions, so that (h - mean) / sd is a pure number.",
        nudge="Not that prior. The refits 1, 12 and 14 of one point give mean 9 and sd 7.",
        parts=("the mean", "the spread"),
    )


def mean_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 841])
    cases = [(rng.normal(3, 2, n),) for n in (3, 4, 5)]
    verdict = judge(
        answer,
        cases,
        _all_resamples,
        MEAN_MISTAKES,
        right="Right. For this engine no refit is needed. For most there is no such formula, and one refits.",
        nudge=NOT_THAT,
    )
    if verdict.message != NOT_THAT:
        return verdict
    near = all(np.isclose(float(call(answer, *case)), _all_resamples(*case), rtol=0.15) for case in cases)
    return Verdict(False, NEARLY if near else NOT_THAT)


TASKS = (
    Task(
        "posthoc/bootstrap-prior/prior",
        "A prior from refits: mean and spread",
        1,
        8,
        prior_stub,
        (
            "Look at one column: L decisions for the same point. How would you describe where they lie and how far apart they are?",
            "mean = (1/L) sum of h_l, sd = sqrt((1/(L - 1)) sum of (h_l - mean)^2), for each point.",
            "Begin with `mean = decisions.mean(axis=0)`",
        ),
        PRIOR_MISTAKES,
        prior_verdict,
    ),
    Task(
        "posthoc/bootstrap-prior/mean",
        "A prior from refits: an engine that takes the mean",
        1,
        9,
        mean_stub,
        (
            "A resample is n independent draws from the n rows, each as likely as the others. What is the variance of one such draw?",
            "Var(one draw) = (1/n) sum of (y_i - mean)^2, and the mean of n independent draws has an n-th of it.",
            "Begin with `one_draw = ((y - y.mean()) ** 2).mean()`",
        ),
        MEAN_MISTAKES,
        mean_verdict,
    ),
)
