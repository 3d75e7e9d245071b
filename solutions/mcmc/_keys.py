"""Samplers that take a key. Road: many chains start at exact draws; what a right step does to them is known from sums over a fine grid."""

from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy.stats import gumbel_r, norm

from course_pkg.checks._judge import Trouble, Verdict, agree, bound, call, key_words, numbers, shape_words
from course_pkg.checks._keys import KEY_TWICE, PARENT, key_trouble
from course_pkg.checks.record import Record

CHAINS, LATER = 20_000, 6
FEW, MANY_STEPS = 2, 104  # where keys are written down
NO_KEY = "Your answer is the same whatever `key` is. Take all randomness from `key`: each step is given another one."
ALL_ALIKE = "All your chains move by the same noise. Each of them needs noise of its own: draw with the shape of x."
ONE_COIN = "All your chains share one coin. Each of them needs its own: draw with the shape of x."


class Target(NamedTuple):
    """A distribution on the line of which everything is known; ``law`` is SciPy's."""

    log_density: Any
    slope: Any
    law: Any
    edges: tuple[float, float]


BELL = Target(lambda x: -(x**2) / 2, lambda x: -x, norm, (-7.0, 7.0))
SKEWED = Target(lambda x: -x - jnp.exp(-x), lambda x: jnp.exp(-x) - 1, gumbel_r, (-3.2, 17.0))


class Case(NamedTuple):
    """What an answer is tried on: a step that is repeated from outside, or a whole chain, with a push uphill or without."""

    target: Target
    size: float
    pushed: bool = False
    chain: bool = False

    def push(self, x):
        return self.size**2 / 2 * np.asarray(self.target.slope(x), dtype=float) if self.pushed else 0.0

    def start(self, seed):
        return jnp.asarray(self.target.law.ppf(np.random.default_rng([seed, 240]).uniform(size=CHAINS)), dtype=float)

    def rest(self):
        return (self.target.log_density, *((self.target.slope,) if self.pushed else ()), self.size)

    def run(self, answer, key, x, steps):
        if self.chain:
            return places(call(answer, key, x, steps, *self.rest()))
        for step_key in jax.random.split(key, steps):
            x = jnp.asarray(places(call(answer, step_key, x, *self.rest())), dtype=float)
        return np.asarray(x, dtype=float)


def places(got):
    """An answer as one place for each chain."""
    if words := shape_words(numbers(got), (np.zeros(CHAINS),)):
        raise Trouble(words.replace(str(CHAINS), "n"))
    return numbers(got)[0]


@lru_cache
def moments(case):
    """Means and standard deviations of what `measured` averages, for the right chain."""
    x = np.linspace(*case.target.edges, 701)
    pi = case.target.law.pdf(x)
    pi = pi / pi.sum()
    offered = norm.pdf(x[None, :], (x + case.push(x))[:, None], case.size) * (x[1] - x[0]) * pi[:, None]
    moved = np.minimum(offered, offered.T) / pi[:, None]  # the smaller of the two flows
    rate = float(pi @ moved.sum(axis=1))  # moves within a cell of the grid are moves, too
    np.fill_diagonal(moved, 0)
    P = moved + np.diag(1 - moved.sum(axis=1))
    level = case.target.law.cdf(x) - 0.5
    jump, fourth = (float(pi @ (moved * (x[None, :] - x[:, None]) ** power).sum(axis=1)) for power in (2, 4))
    rows = [(rate, np.sqrt(rate * (1 - rate))), (jump, np.sqrt(fourth - jump**2))]
    for matrix in (P, np.linalg.matrix_power(P, LATER)):
        mean, square = pi @ (level * (matrix @ level)), pi @ (level**2 * (matrix @ level**2))
        rows += [(0.0, np.sqrt(1 / 12)), (1 / 3, np.sqrt(4 / 45)), (mean, np.sqrt(square - mean**2))]
    return np.transpose(rows)


@lru_cache(maxsize=512)
def measured(answer, cases, seed):
    """Means over the chains and their standard errors, a row for each case.

    The share of chains that moved at the first step, their mean squared move, and then, after one step and after some, three means each.
    """
    rows = []
    for case in cases:
        x, (one, more) = case.start(seed), jax.random.split(jax.random.key(seed))
        once, later = case.run(answer, one, x, 1), case.run(answer, more, x, LATER)
        level, x = case.target.law.cdf(x) - 0.5, np.asarray(x, dtype=float)
        out = [once != x, (once - x) ** 2]
        for end in (once, later):
            there = case.target.law.cdf(end) - 0.5
            out += [there, 4 * there**2, level * there]
        rows.append([(each.mean(), each.std() / np.sqrt(CHAINS)) for each in out])
    return np.moveaxis(rows, 2, 0)


def alike(answer, case, seed):
    """Whether noise, or coin, is one for all chains."""
    x = case.start(seed)
    once = case.run(answer, jax.random.key(seed + 77), x, 1)
    moved = once != np.asarray(x, dtype=float)
    if moved.sum() < 100:
        return None
    if np.ptp((once - np.asarray(x, dtype=float) - case.push(x))[moved]) < 1e-3:
        return ALL_ALIKE
    gain = np.asarray(case.target.log_density(once), dtype=float) - np.asarray(case.target.log_density(x), dtype=float)
    # with a coin for each, some of so many chains go far down; a chain that climbs only is another matter
    return ONE_COIN if not case.pushed and -2.5 < gain[moved].min() < -1e-3 else None


def misused(answer, seed, case):
    """What is wrong with the use of keys in many steps of a few chains."""
    return key_trouble(answer, seed, jnp.linspace(-0.5, 0.7, FEW), *((MANY_STEPS,) if case.chain else ()), *case.rest())


def deaf(answer, seed, case):
    """Whether an answer moves its chains, and to the same places with each of two keys."""
    x = case.start(seed)
    one, other = (case.run(answer, jax.random.key(place), x, 1) for place in (seed, seed + 1))
    return agree((one,), (other,), 1e-9) and not agree((one,), (np.asarray(x, dtype=float),), 1e-9)


def judged(cases, right, nudge, special, answer, seed, mistakes):
    got, off = measured.__wrapped__(answer, cases, seed)
    means, spreads = np.moveaxis([moments(case) for case in cases], 1, 0)
    limit = bound(got.size)
    fits = np.abs(got - means) <= limit * spreads / np.sqrt(CHAINS)
    if fits.all():
        x = cases[0].start(seed)
        first, again, other = (cases[0].run(answer, jax.random.key(place), x, LATER) for place in (seed, seed, seed + 1))
        words = key_words(first, again, [other]) or misused(answer, seed, cases[0])
        return Verdict(not words, words or right)
    if deaf(answer, seed, cases[0]):
        return Verdict(False, NO_KEY)
    for words, slips in mistakes.items():
        if words in (KEY_TWICE, PARENT, NO_KEY):
            continue  # right in law, or known by what they do with keys
        for slip in slips:
            known, own = measured(slip, cases, 1_000)
            if (np.abs(got - known) <= limit * np.sqrt(off**2 + own**2)).all():  # a wrong chain has spreads of its own
                return Verdict(False, words)
    words = [alike(answer, case, seed) for case in cases] + [misused(answer, seed, cases[0])]
    return Verdict(False, next(filter(None, words), special if fits[0].all() else nudge))


def key_record(cases, *, right, nudge, special, **rest):
    """A sampler; ``special`` is said of one that is right in the first case and not in the others."""
    return Record(right=right, nudge=nudge, by=partial(judged, cases, right, nudge, special), **rest)
