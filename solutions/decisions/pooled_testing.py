"""Pooled testing. Road: list everybody's state, every possible town, and count the pools that turn positive."""

from itertools import product

import numpy as np
from scipy.stats import binom

from course_pkg.checks.record import Record

COUNT = "binom.pmf(positive, pools, 1 - (1 - theta) ** size)"


def every_town(theta, positive, people, pools):
    towns = np.array(list(product([0, 1], repeat=people)))
    hit = towns.reshape(len(towns), pools, people // pools).any(axis=2).sum(axis=1)
    ill = towns.sum(axis=1)[hit == positive]
    return np.array([(chance**ill * (1 - chance) ** (people - ill)).sum() for chance in theta])


def best(theta, people):
    """The expected number of tests, summed over how many pools turn positive; a pool of one needs no second test."""

    def tests(pools):
        size, counts = people // pools, np.arange(pools + 1)
        chances = binom.pmf(counts, pools, 1 - binom.pmf(0, size, theta))
        return chances @ (pools + counts * size * (size > 1))

    return min((pools for pools in range(1, people + 1) if people % pools == 0), key=tests)


def likelihoods(rng):
    theta = np.sort(rng.uniform(0.01, 0.6, 7))
    return [(theta, 2, 12, 4), (theta, 1, 12, 3), (theta, 1, 12, 2)]


def towns(rng):
    rare = [(0.01, 0.015, 240), (0.06, 0.08, 120), (0.002, 0.003, 960)]
    return [*((rng.uniform(low, high), people) for low, high, people in rare), (0.4, 24), (0.35, 60)]  # at last, pools do not pay


LIKELIHOOD = Record(
    cases=likelihoods,
    reference=every_town,
    right="Right. It agrees with a list of all 4096 possible towns of twelve.",
    nudge="Not those numbers. With theta = [0.5], positive = 1, people = 4 and pools = 2 it is 0.375.",
    hints=(
        "First one pool: when is it negative? Then all pools: how many of them are positive?",
        "A pool of `size` people is negative with probability (1 - theta)^size, and the pools are independent.",
        "Begin with `size = people // pools`; then `binom.pmf(count, trials, chance)`, where what is counted is pools.",
    ),
    mistakes={
        "Size and number have changed places. There are `pools` pools, each of people/pools swabs.": "return -> size, pools = pools, size\nreturn",
        "You counted people. What is counted is pools, and a pool is positive if anybody in it is.": f"{COUNT} -> binom.pmf(positive, people, theta)",
        "Your pools are positive only if everybody in them is ill. One is enough.": "1 - (1 - theta) ** size -> theta**size",
        "You computed the probability of one particular set of positive pools. How many sets have that many?": (
            f"{COUNT} -> (1 - (1 - theta) ** size) ** positive * (1 - theta) ** (size * (pools - positive))"
        ),
        "The power holds how many people are in a pool, not how many pools there are.": "** size -> ** pools",
    },
)
BEST_POOLS = Record(
    cases=towns,
    reference=best,
    right="Right. The rarer the disease, the larger the pools: how to measure is a decision, too.",
    nudge="Not that number. With theta = 0.1 and people = 12 it is 3, with 7.13 tests on average; two pools need 7.62 and four 7.25.",
    hints=(
        "For each way of splitting, how many tests do you expect in the first round and in the second?",
        "Expected tests: pools + people * P(a pool is positive), or just `people` where every pool holds one person.",
        "Begin with `choices = [pools for pools in range(1, people + 1) if people % pools == 0]`",
    ),
    mistakes={
        "That is how many people to put into a pool. The number of pools was asked for.": "return min -> return people // min",
        "Your answer is one pool even where that is dear. Is there a second round, and does the power hold the size?": "+ people * (1 - (1 - theta) ** size) -> || ** size -> ** pools",
        "One person per pool: no second test. That choice costs `people` tests.": "pools if size == 1 else -> ",
        "You test everybody alone. While few are ill, most pools come back clean and spare all their members a test.": "1, people -> people, people",
        "You took the most expensive number of pools.": "min(choices -> max(choices",
    },
)
TASKS = {"likelihood": LIKELIHOOD, "best-pools": BEST_POOLS}
