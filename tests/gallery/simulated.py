"""Small simulated data for the galleries of both languages, and what an example says of itself."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Example(NamedTuple):
    """A model, and how its writer would read its data."""

    build: Callable  # NumPyro: the program; PyMC: a function that makes the model
    arguments: dict[str, Any]  # of a program in NumPyro
    rows: set[str]  # arrays with an entry for each row
    whole: set[str]  # the other arrays
    outcome: str | None  # the array that was observed; None where it is made from others, or there are several
    apart: str  # words with which a minibatch is refused; empty where the likelihood is a sum over rows
    refused: str  # words with which the model is
    draws: bool  # whether JAX can draw the outcome
    together: bool  # whether the outcome is one draw for all rows, which is none to decide about


def gallery(*, outcome="y"):
    """A table of examples, and a decorator that puts one into it under its own name."""
    examples = {}

    def example(arguments=None, *, rows=None, whole="", apart="", refused="", outcome=outcome, draws=True, together=False):
        def note(build):
            by_name = arguments or {}
            named = set(by_name) if rows is None else set(rows.split())
            examples[build.__name__] = Example(build, by_name, named, set(whole.split()), outcome, apart, refused, draws, together)
            return build

        return note

    return examples, example


RNG = np.random.default_rng(2024)
N, G = 12, 3  # rows, and groups that they belong to
X = RNG.normal(size=(N, 2))
TIME = np.linspace(0.0, 1.0, N)
GROUP = np.arange(N) % G
LEVEL = RNG.normal(size=G)  # a covariate of each group
Y = X @ [1.0, -0.5] + LEVEL[GROUP] + 0.5 * RNG.normal(size=N)
PAIR = np.column_stack([Y, 0.5 * Y + RNG.normal(size=N)])
POSITIVE = np.exp(0.5 * Y)
SHARE = 1.0 / (1.0 + np.exp(-Y))
BINARY = (Y > 0).astype(int)
COUNT = RNG.poisson(POSITIVE + 0.5)
ZEROS = COUNT * (RNG.uniform(size=N) < 0.6)
EXPOSURE = RNG.uniform(0.5, 2.0, N)
GRADE = np.digitize(Y, [-0.5, 0.5])  # 0, 1 or 2
KIND = RNG.integers(0, 3, N)
TRIALS = RNG.integers(5, 10, N)
HITS = RNG.binomial(TRIALS, SHARE)
VOTES = RNG.multinomial(9, [0.2, 0.3, 0.5], N)
SEEN = RNG.uniform(size=N) < 0.7
ANGLE = RNG.vonmises(0.5, 2.0, N)
SERIES = np.cumsum(RNG.normal(size=N))
