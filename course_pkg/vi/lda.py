r"""Latent Dirichlet allocation by coordinate ascent, on counts.

Document i mixes K topics, :math:`\pi_i \sim \mathrm{Dir}(\alpha)`; topic k is a distribution over V words,
:math:`B_k \sim \mathrm{Dir}(\gamma)`; each token chooses a topic, then a word. The updates are in `lda_steps`.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from course_pkg import _guard
from course_pkg.vi import lda_steps as steps
from course_pkg.vi.documents import Corpus, sound

AT_LAST = 100  # inner steps, at least, for the factors of documents that a fit returns


class Topics(NamedTuple):
    """Variational factors of a fitted model."""

    documents: Any  # (N, K) parameters of the Dirichlets of the documents' mixtures
    topics: Any  # (K, V) parameters of the Dirichlets of the topics
    elbo: Any  # (iterations,) bound on the log evidence of all documents, in nats
    alpha: Any  # Dirichlet parameter of the mixtures: what a new document begins with


def lda(
    key: PRNGKeyArray,
    documents: Corpus,
    topics: int,
    *,
    alpha: float = 0.1,
    gamma: float = 0.1,
    iterations: int = 100,
    inner: int = 10,
    tolerance: float = 1e-3,
) -> Topics:
    r"""Fit by coordinate ascent over all documents.

    Each round brings the documents' factors towards rest for the topics as they stand, each from an even mixture of all topics, then
    renews the topics. From where the last round left it, a document would stay with the topics that it met first, when these said little
    yet; topics then form around such documents, and the fit ends lower. The price of forgetting: within a round every step climbs, but
    a new start may end below the old one, so from round to round the bound may fall. It seldom does, and by little; the last value
    need not be the highest. For the same reason few inner steps are better than many: a document is not made to decide early. With the
    topics of the last round, the documents are given at least 100.

    With one topic nothing but that topic is unknown, and the bound is the log evidence: a floor for more topics.

    Args:
        key: random key of the start.
        documents: from `corpus`.
        topics: K, at least 1.
        alpha: Dirichlet parameter of the documents' mixtures, above 0.
        gamma: of the topics, above 0.
        iterations: rounds, at least 1.
        inner: steps for the documents' factors in a round, at most; at least 1.
        tolerance: in tokens, above 0. The inner steps of a block of 64 documents end when in none of them the parameters of the mixture
            have changed by more, in the mean over topics.

    Returns:
        `Topics`, the bound in nats after each round. Topics have no order; another key may number them otherwise, or find another peak.

    Raises:
        ValueError: if a number is out of range, or ``documents`` is no sound `Corpus`.

    Example:
        >>> from course_pkg.vi import corpus
        >>> table = [[9, 9, 0, 0], [8, 10, 0, 0], [0, 0, 9, 8], [0, 0, 7, 9]]
        >>> fit = lda(jax.random.key(0), corpus(table), 2)
        >>> share = fit.documents / fit.documents.sum(axis=1, keepdims=True)
        >>> bool((share.max(axis=1) > 0.95).all()), bool(fit.elbo[-1] > fit.elbo[0])
        (True, True)

    Source: notes, section 5.2.1, with errata N08 to N10; Blei, Ng and Jordan (2003); even starts as in Hoffman, Blei and Bach (2010).
    """
    key, rules, topics = _guard.key(key), steps.rules(alpha, gamma, inner, tolerance), _guard.count("topics", topics)
    iterations, (word, count, words) = _guard.count("iterations", iterations), sound("documents", documents)
    pi, b, elbo = _batch(iterations, rules, steps.blocks(word), steps.blocks(count), steps.start(key, topics, words))
    return Topics(pi[: len(word)], b, elbo, rules.alpha)


def token_bound(fit: Topics, documents: Corpus):
    """The bound at the end of a fit, divided by the number of tokens.

    Args:
        fit: from `lda` or `stochastic_lda`.
        documents: the `Corpus` that it was made for.

    Returns:
        The mean over all tokens, in nats, a plain number.

    Raises:
        ValueError: if the fit was made for another number of documents or words.

    Example:
        >>> from course_pkg.vi import corpus
        >>> table = [[9, 9, 0, 0], [0, 0, 9, 8]]
        >>> bool(-2 < token_bound(lda(jax.random.key(0), corpus(table), 2), corpus(table)) < 0)
        True

    Source: notes, equation 5.3, of the model in section 5.2.1.
    """
    documents = sound("documents", documents, words=fit.topics.shape[1])
    if len(fit.documents) != len(documents.count):
        raise ValueError(f"fit is of {len(fit.documents)} documents and documents has {len(documents.count)}; give what it was made for")
    return float(fit.elbo[-1] / documents.count.sum())


def mean_topics(fit: Topics):
    """Mean of each topic's distribution over words, under its factor.

    Args:
        fit: from `lda` or `stochastic_lda`.

    Returns:
        Probabilities, shape ``(K, V)``; each row sums to 1.

    Example:
        >>> from course_pkg.vi import corpus
        >>> fit = lda(jax.random.key(0), corpus([[9, 9, 0, 0], [0, 0, 9, 8]]), 2)
        >>> bool(jnp.allclose(mean_topics(fit).sum(axis=1), 1.0, atol=1e-5))
        True

    Source: the mean of a Dirichlet.
    """
    topics = jnp.asarray(fit.topics)
    return topics / topics.sum(axis=1, keepdims=True)


def _sweep(rules, b, word, count):
    """One visit to all documents, block by block: the tokens of each word by topic, ``(K, V)``, and the documents' factors."""

    def one(total, block):
        word, count = block
        score = steps.scores(b, word)
        pi = steps.settle(rules, score, count, len(b))
        return total + steps.votes(word, count, score, pi, b.shape), pi

    return jax.lax.scan(one, jnp.zeros_like(b), (word, count))


@partial(jax.jit, static_argnums=0)
def _batch(iterations, rules, word, count, b):
    def one(carry, last):
        b, _ = carry
        total, pi = _sweep(_patient(rules, last), b, word, count)
        b = jnp.where(last, b, rules.gamma + total)
        return (b, pi), steps.bound(rules, b, word, count, pi)

    # documents come to rest in one round more, of the same program: to compile another takes longer
    nothing = jnp.zeros((*word.shape[:2], len(b)), b.dtype)
    (b, pi), elbo = jax.lax.scan(one, (b, nothing), jnp.arange(iterations + 1) == iterations)
    return pi.reshape(-1, len(b)), b, elbo[:-1].at[-1].set(elbo[-1])


def _patient(rules, last=True):
    return rules._replace(inner=jnp.where(last, jnp.maximum(rules.inner, AT_LAST), rules.inner))


@jax.jit
def finished(rules, b, word, count):
    """The factors of all documents for the final topics, ``(N, K)`` and filled up to whole blocks, and the bound."""
    pi = steps.at_rest(_patient(rules), b, word, count)
    return pi.reshape(-1, len(b)), steps.bound(rules, b, word, count, pi)
