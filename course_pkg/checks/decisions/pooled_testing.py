"""Pooled testing. Road: list everybody's state, every possible town, and count the pools that turn positive."""

from itertools import product
from typing import Any

import numpy as np
from scipy.stats import binom

from course_pkg.checks._judge import Mistake, Task, Verdict, judge


def _every_town(theta: np.ndarray, positive: int, people: int, pools: int) -> np.ndarray:
    towns = np.array(list(product([0, 1], repeat=people)))
    hit = towns.reshape(len(towns), pools, people // pools).any(axis=2).sum(axis=1)
    ill = towns.sum(axis=1)[hit == positive]
    return np.array([(chance**ill * (1 - chance) ** (people - ill)).sum() for chance in np.ravel(theta)])


def _tests(theta: float, people: int, pools: int, *, again: bool = True) -> float:
    """Expected number of tests, summed over how many pools turn positive; a pool of one needs no second test."""
    size = people // pools
    counts = np.arange(pools + 1)
    chances = binom.pmf(counts, pools, 1 - binom.pmf(0, size, theta))
    return float(chances @ (pools + counts * size * (again and size > 1)))


def _clause_forgotten(theta: float, people: int) -> int:
    def tests(pools: int) -> float:
        return pools + people * (1 - (1 - theta) ** (people // pools))

    return min(_divisors(people), key=tests)


def _divisors(people: int) -> list[int]:
    return [pools for pools in range(1, people + 1) if people % pools == 0]


def _best(theta: float, people: int) -> int:
    return min(_divisors(people), key=lambda pools: _tests(theta, people, pools))


def likelihood_stub(theta: np.ndarray, positive: int, people: int, pools: int) -> Any:
    raise NotImplementedError


def best_pools_stub(theta: float, people: int) -> Any:
    raise NotImplementedError


def _coefficient_forgotten(theta: np.ndarray, positive: int, people: int, pools: int) -> np.ndarray:
    return _every_town(theta, positive, people, pools) / binom.pmf(positive, pools, 0.5) / 2.0**pools


LIKELIHOOD_MISTAKES = {
    "size and number swapped": Mistake(
        lambda theta, positive, people, pools: binom.pmf(positive, people // pools, 1 - (1 - theta) ** pools),
        "The size of a pool and the number of pools have changed places. There are `pools` pools, each of people/pools swabs.",
    ),
    "everybody tested alone": Mistake(
        lambda theta, positive, people, pools: binom.pmf(positive, people, theta),
        "You counted people. What is counted is pools, and a pool is positive if anybody in it is.",
    ),
    "everybody ill": Mistake(
        lambda theta, positive, people, pools: binom.pmf(positive, pools, theta ** (people // pools)),
        "Your pools are positive only if everybody in them is ill. One is enough.",
    ),
    "coefficient forgotten": Mistake(
        _coefficient_forgotten,
        "You computed the probability of one particular set of positive pools. How many sets have that many?",
    ),
}
BEST_POOLS_MISTAKES = {
    "size for number": Mistake(
        lambda theta, people: people // _best(theta, people),
        "That is how many people to put into a pool. The number of pools was asked for.",
    ),
    "second tests forgotten": Mistake(
        lambda theta, people: min(_divisors(people), key=lambda pools: _tests(theta, people, pools, again=False)),
        "Your answer is one pool even where that is dear: the second round is missing, or the power holds the number of pools and "
        "not their size.",
    ),
    "one person per pool": Mistake(_clause_forgotten, "One person per pool: no second test. That choice costs `people` tests."),
    "everybody alone": Mistake(
        lambda theta, people: people,
        "You test everybody alone. While few are ill, most pools come back clean and spare all their members a test.",
    ),
}


def likelihood_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 80])
    theta = np.sort(rng.uniform(0.01, 0.6, 7))
    return judge(
        answer,
        [(theta, 2, 12, 4), (theta, 1, 12, 3), (theta, 1, 12, 2)],
        _every_town,
        LIKELIHOOD_MISTAKES,
        right="Right. It agrees with a list of all 4096 possible towns of twelve.",
        nudge="Not those numbers. With one pool the likelihood of no positive pool is (1 - theta)^people.",
    )


def best_pools_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 81])
    rare = [(0.01, 0.015, 240), (0.06, 0.08, 120), (0.002, 0.003, 960)]
    cases: list[tuple[Any, ...]] = [(float(rng.uniform(low, high)), people) for low, high, people in rare]
    cases += [(0.4, 24), (0.35, 60)]  # so common that pools do not pay
    return judge(
        answer,
        cases,
        _best,
        BEST_POOLS_MISTAKES,
        right="Right. The rarer the disease, the larger the pools: how to measure is a decision, too.",
        nudge="Not that number. Compute the expected number of tests for each divisor of `people` and take the least.",
    )


TASKS = (
    Task(
        "decisions/pooled-testing/likelihood",
        "Pooled testing: the likelihood",
        1,
        10,
        likelihood_stub,
        (
            "First one pool: when is it negative? Then all pools: how many of them are positive?",
            "A pool of `size` people is negative with probability (1 - theta)^size, and the pools are independent.",
            "Begin with `size = people // pools`; then `binom.pmf(count, trials, chance)`, where what is counted is pools.",
        ),
        LIKELIHOOD_MISTAKES,
        likelihood_verdict,
    ),
    Task(
        "decisions/pooled-testing/best-pools",
        "Pooled testing: how many pools?",
        1,
        12,
        best_pools_stub,
        (
            "For each way of splitting, how many tests do you expect in the first round and in the second?",
            "Expected tests: pools + people * P(a pool is positive), or just `people` where every pool holds one person.",
            "Begin with `choices = [pools for pools in range(1, people + 1) if people % pools == 0]`",
        ),
        BEST_POOLS_MISTAKES,
        best_pools_verdict,
    ),
)
