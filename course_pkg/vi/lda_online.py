"""Latent Dirichlet allocation from minibatches of documents."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from course_pkg import _guard
from course_pkg.vi import lda_steps
from course_pkg.vi.documents import Corpus, sound
from course_pkg.vi.lda import Topics, finished


class Minibatches(NamedTuple):
    """Documents of a step, how many steps, and how fast their rates fall.

    Example:
        >>> Minibatches(size=32).steps
        200
    """

    size: int = 64  # documents in a minibatch, at most N
    steps: int = 200  # at least 1
    delay: float = 10.0  # tau of the rates, at least 1
    power: float = 0.7  # kappa of the rates, above 1/2 and at most 1


MINIBATCHES = Minibatches()


def stochastic_lda(
    key: PRNGKeyArray,
    documents: Corpus,
    topics: int,
    minibatches: Minibatches = MINIBATCHES,
    *,
    alpha: float = 0.1,
    gamma: float = 0.1,
    inner: int = 10,
    tolerance: float = 1e-3,
) -> Topics:
    r"""Fit by minibatches of documents: natural gradients of a Dirichlet are differences of parameters.

    Step t = 0, 1, ... draws a set S of documents, brings their factors to rest from an even mixture, and mixes with
    :math:`\rho_t = (t + \tau)^{-\kappa}`

    .. math::

        \tilde B_{kv} \leftarrow (1 - \rho_t)\, \tilde B_{kv}
        + \rho_t \Bigl(\gamma + \frac{N}{|S|} \sum_{i \in S} n_{iv} \tilde z_{ivk}\Bigr).

    Args:
        key: random key of the start and of the minibatches.
        documents: from `corpus`.
        topics: K, at least 1.
        minibatches: their size and number, and :math:`\tau` and :math:`\kappa`; see `Minibatches`.
        alpha: Dirichlet parameter of the documents' mixtures, above 0.
        gamma: of the topics, above 0.
        inner: steps for the documents' factors in a step, at most; at least 1.
        tolerance: as in `lda`, the minibatch being the block.

    Returns:
        `Topics`, whose ``elbo`` has one value: the bound of all documents at the end, in nats.

    Raises:
        ValueError: if a number is out of range, or ``documents`` is no sound `Corpus`.

    Example:
        >>> from course_pkg.vi import corpus
        >>> table = [[9, 9, 0, 0], [8, 10, 0, 0], [0, 0, 9, 8], [0, 0, 7, 9]]
        >>> stochastic_lda(jax.random.key(0), corpus(table), 2, Minibatches(2)).topics.shape
        (2, 4)

    Source: Hoffman, Blei, Wang and Paisley (2013).
    """
    key, rules, topics = _guard.key(key), lda_steps.rules(alpha, gamma, inner, tolerance), _guard.count("topics", topics)
    if not isinstance(minibatches, Minibatches):
        raise ValueError(f"minibatches is {minibatches!r}; give a record, such as Minibatches(64)")
    size, steps, delay, power = minibatches
    size, steps, (word, count, words) = _guard.count("size", size), _guard.count("steps", steps), sound("documents", documents)
    if size > len(word):
        raise ValueError(f"size is {size} and there are {len(word)} documents; give at most as many")
    if not 0.5 < _guard.number("power", power) <= 1:
        raise ValueError(f"power is {power:g}; give more than 1/2 and at most 1")
    if _guard.number("delay", delay) < 1:
        raise ValueError(f"delay is {delay:g}; give at least 1")
    first, key = jax.random.split(key)
    b = _topics(steps, size, rules, key, (delay, power), (word, count), lda_steps.start(first, topics, words))
    pi, bound = finished(rules, b, lda_steps.blocks(word), lda_steps.blocks(count))
    return Topics(pi[: len(word)], b, bound[None], rules.alpha)


@partial(jax.jit, static_argnums=(0, 1))
def _topics(steps, size, rules, key, pace, documents, b):
    (delay, power), (word, count) = pace, documents

    def one(b, numbered):
        number, step_key = numbered
        chosen = jax.random.choice(step_key, len(word), (size,), replace=False)
        rate = (number + delay) ** -power
        return (1 - rate) * b + rate * target(rules, b, word[chosen], count[chosen], len(word) / size), None

    return jax.lax.scan(one, b, (jnp.arange(steps, dtype=b.dtype), jax.random.split(key, steps)))[0]


def target(rules, b, word, count, scale=1.0):
    """Where a step of length one would go: the topics for some documents, counted ``scale`` times, their factors at rest for ``b``."""
    score = lda_steps.scores(b, word)
    pi = lda_steps.settle(rules, score, count, len(b))
    return rules.gamma + scale * lda_steps.votes(word, count, score, pi, b.shape)
