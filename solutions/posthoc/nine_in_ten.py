"""Nine in ten, guaranteed. Roads: every order of the ranks; candidates accepted by their p-values, which is full conformal prediction."""

from itertools import permutations

import numpy as np

from course_pkg.checks.record import Record


def by_p_values(scores, level):
    """The largest candidate for the new score that so many of all scores reach, or pass, that it is no surprise."""
    n = len(scores)

    def accepted(candidate):
        return (1 + sum(s >= candidate for s in scores)) / (n + 1) > 1 - level + 1e-9

    return max(c for c in [*scores, np.inf] if accepted(c))


def by_enumeration(n, level):
    every = list(permutations(range(n + 1)))
    return sum(order[-1] <= by_p_values(order[:-1], level) for order in every) / len(every)


def one_by_one(h_past, y, fitted, h_new, level):
    kept = [a - b for a, b, used in zip(y, h_past, fitted, strict=True) if not used]
    return [h + by_p_values(kept, level) for h in h_new]


def past_scores(rng):
    for n, level in [(12, 0.8), (23, 0.9), (17, 0.3), (7, 0.9), (14, 0.62)]:
        yield rng.normal(0.5, 2.0, n), level


def past_lines(rng):
    for level in (0.9, 0.75, 0.3):
        fitted = rng.permutation(60) < 33
        h_past = rng.normal(size=60)
        # the line knows its own rows: it is too low on all others, and less sure there
        yield (
            h_past,
            h_past + np.where(fitted, 0.1, 1.5) + np.where(fitted, 0.5, 2.0) * rng.normal(size=60),
            fitted,
            rng.normal(3, 1, 4),
            level,
        )


OFFSET = Record(
    cases=past_scores,
    reference=by_p_values,
    right="Right. Of n + 1 evenings the new one is equally likely to have any rank; it is only one of them that you have not seen.",
    nudge="Not that score. With scores [3, 1, 2, 5] and level 0.7 it is 5: the new evening's rank among five is at most 4 with probability 0.8, and at most "
    "3 with 0.6. With level 0.5 it is 3, and with level 0.9 it is infinite.",
    hints=(
        "The new score is one more: among n + 1 numbers in no order its rank is equally likely to be 1, 2, ..., n + 1.",
        "A new score is at most the k-th smallest of n with probability k / (n + 1). Take the smallest k with k / (n + 1) >= level.",
        "Begin with `k = int(np.ceil(level * (len(scores) + 1)))`",
    ),
    mistakes={
        "You forgot the new evening: n scores and the new one are n + 1. With yours it suffices less often than promised.": "level * (n + 1) -> level * n",
        "You rounded down, so that the promise is not kept. The rank must be large enough.": "np.ceil -> np.floor",
        "A quantile between two scores promises nothing exact, and n scores have no place for the new one.": "return -> return np.quantile(scores, level)  #",
        "That is the next larger score. Places in an array are counted from 0.": "[k - 1] -> [min(k, n - 1)]",
        "You took the distance without its sign. Only orders that are too low do not suffice.": "np.sort(scores) -> np.sort(abs(scores))",
        "Your scores are in the order of the evenings. The k-th smallest is asked for.": "np.sort(scores) -> scores",
        "With few evenings the largest score is not enough: 7 of them promise 7/8 at most. No finite number keeps the promise then.": (
            "if k <= n else np.inf -> if k <= n else np.max(scores)"
        ),
        "You took the level for the share that may fail.": "np.ceil(level -> np.ceil((1 - level)",
    },
    apart=True,
)
COVERAGE = Record(
    cases=lambda rng: [(3, 0.7), (4, 0.55), (5, 0.77), (6, 0.81), (2, 0.9)],
    reference=by_enumeration,
    right="Right, whatever the demand and whatever the model. It needs only that no evening is told apart from the others by its place.",
    nudge="Not that probability. With n = 4 and level 0.5 the offset is the third of the four scores, from below, and of five scores the new one is the "
    "fourth or fifth with probability 2/5: it suffices with 3/5.",
    hints=(
        "Which rank may the new score have among all n + 1, so that the order suffices?",
        "The offset is the k-th smallest with k = ceil(level (n + 1)). The new score's rank is equally likely to be 1, ..., n + 1.",
        "Begin with `k = np.ceil(level * (n + 1))`",
    ),
    mistakes={
        "That is what was promised. With n + 1 ranks not every share can be had, and what is had is a little more.": "np.ceil(level * (n + 1)) / (n + 1) -> level",
        "That is how often a *past* order suffices. The new one has a rank among n + 1.": "(n + 1)) / (n + 1) -> (n + 1)) / n || np.ceil(level * (n + 1)) / (n + 1) -> min(np.ceil(level * (n + 1)) / n, 1)",
        "Your k forgets the new evening, so that the order suffices less often than promised.": "level * (n + 1)) -> level * n)",
        "You rounded down. The promise is kept, or a little more than kept.": "np.ceil -> np.floor",
        "You counted past evenings only, n where there are n + 1.": "np.ceil(level * (n + 1)) / (n + 1) -> np.ceil(level * n) / n",
        "That is how often it does *not* suffice.": "return -> return 1 -",
    },
)
ORDERS = Record(
    cases=past_lines,
    reference=one_by_one,
    right="Right. This is conformalised quantile regression for one side, if the line is a quantile regression; and it is as true of any other line.",
    nudge="Not these orders. With h_past = [0, 0, 0, 0, 0], y = [9, 1, 3, 2, 9], fitted = [True, False, False, False, True], level = 0.6 and h_new = [10, 20] "
    "they are 13 and 23.",
    hints=(
        "The promise needs past evenings that are like the new one. Which of these have been seen by the line?",
        "Scores y - h on the evenings that were not fitted; their k-th smallest is added to h_new.",
        "Begin with `scores = (y - h_past)[~fitted]`",
    ),
    mistakes={
        "You counted all past evenings. Those that the line was fitted to are not like the new one: its misses there are too small.": "[~fitted] -> ",
        "You counted the very evenings that the line was fitted to. It knows them; its misses there are too small.": "~fitted -> fitted",
        "You took the distance on both sides. Who orders the upper end of a two-sided interval orders for a larger promise than this one.": (
            "(y - h_past)[~fitted] -> abs(y - h_past)[~fitted]"
        ),
        "Your scores have the wrong sign: an order that was short has a positive one.": "y - h_past -> h_past - y",
        "You lowered the orders by what they were short.": "h_new + -> h_new -",
        "You split what may fail between two sides, and asked for a larger share below. Here only one side fails.": "offset(scores, level) -> offset(scores, (1 + level) / 2)",
        "You forgot the new evening, which is one more. With yours the orders suffice less often than promised.": (
            "offset(scores, level) -> np.sort(scores)[int(np.ceil(level * len(scores))) - 1]"
        ),
        "That quantile lies between two scores, and forgets that the new evening is one more.": "offset(scores, level) -> np.quantile(scores, level)",
    },
    apart=True,
)
TASKS = {"offset": OFFSET, "coverage": COVERAGE, "orders": ORDERS}
