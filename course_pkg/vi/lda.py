r"""Latent Dirichlet allocation by coordinate ascent, on counts.

Document i mixes K topics, :math:`\pi_i \sim \mathrm{Dir}(\alpha)`; topic k is a distribution over V words,
:math:`B_k \sim \mathrm{Dir}(\gamma)`; each token chooses a topic, then a word. With
:math:`\Psi_k(\eta) = \psi(\eta_k) - \psi(\sum_j \eta_j)`, the mean of :math:`\log\eta_k` under a Dirichlet of any total mass (erratum
N10), the updates are

.. math::

    \tilde z_{ivk} \propto \exp[\Psi_k(\tilde\pi_i) + \Psi_v(\tilde B_k)], \qquad
    \tilde\pi_i = \alpha + \sum_v n_{iv} \tilde z_{iv}, \qquad \tilde B_{kv} = \gamma + \sum_i n_{iv} \tilde z_{ivk}

(errata N08, N09). Tokens of one word in one document are alike, so they share one row of :math:`\tilde z`: the cost is that of the
different words of a document, not of its length.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import digamma, gammaln
from jaxtyping import PRNGKeyArray

from course_pkg import _guard

TINY = 1e-30  # so that a sum that is 0 in single precision can be divided by and has a logarithm
BLOCK = 64  # documents worked on at once: their scores stay in a processor's cache


class Corpus(NamedTuple):
    """Documents as lists of different words with their counts, filled up with words of count 0 to the same length."""

    word: Any  # (N, L) integers below `words`
    count: Any  # (N, L)
    words: int  # V


class Topics(NamedTuple):
    """Variational factors of a fitted model."""

    documents: Any  # (N, K) parameters of the Dirichlets of the documents' mixtures
    topics: Any  # (K, V) parameters of the Dirichlets of the topics
    elbo: Any  # (iterations,) bound on the log evidence of all documents, in nats


def corpus(counts) -> Corpus:
    """A `Corpus` from a table of counts.

    Args:
        counts: how often each document has each word, shape ``(N, V)``, dense or one of SciPy's sparse tables.

    Returns:
        `Corpus`, its rows as long as the largest number of different words in a document.

    Raises:
        ValueError: if there is no document, a count is negative, not whole or not finite, or a document is empty.

    Example:
        >>> corpus(np.array([[2, 0, 1], [0, 3, 0]])).count.tolist()
        [[2.0, 1.0], [3.0, 0.0]]

    Source: notes, section 5.2.1, with the tokens of one word in one document put together.
    """
    rows, shape = _rows_of_sparse(counts) if hasattr(counts, "tocoo") else _rows_of_dense(counts)
    if not rows:
        raise ValueError("counts holds no document; give at least one row")
    values = np.concatenate([data for _, data in rows])
    if not np.all(np.isfinite(values)) or np.any(values < 0) or np.any(values != np.round(values)):
        raise ValueError("counts holds a value that is no count; give whole numbers of at least 0")
    empty = [i for i, (_, data) in enumerate(rows) if data.sum() == 0]
    if empty:
        raise ValueError(f"counts has an empty document at row {empty[0]}; leave documents without words out")
    length = max(len(words) for words, _ in rows)
    word, count = np.zeros((shape[0], length), np.int32), np.zeros((shape[0], length), jnp.result_type(float))
    for i, (words, data) in enumerate(rows):
        word[i, : len(words)], count[i, : len(words)] = words, data
    return Corpus(jnp.asarray(word), jnp.asarray(count), int(shape[1]))


def _rows_of_dense(counts):
    """Of each document the words that it has and their counts, and the table's shape."""
    table = np.asarray(_guard.numbers("counts", counts, ndim=2))
    return [(np.flatnonzero(row), row[np.flatnonzero(row)]) for row in table], table.shape


def _rows_of_sparse(counts):
    """The same of a table of SciPy's, where a place may be given twice and a 0 be stored."""
    table = counts.tocsr(copy=True)
    table.sum_duplicates()
    table.eliminate_zeros()
    ends = table.indptr[1:-1]
    rows = zip(np.split(table.indices, ends), np.split(table.data, ends), strict=True)
    return list(rows) if table.shape[0] else [], table.shape


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

    Each round brings the documents' factors towards rest for the topics as they stand, then renews the topics. A document starts afresh
    from an even mixture in each round, and from its last factor, too; the better of the two is kept. From its last factor alone it stays
    with the topics it met first, and a fit ends much lower: by a tenth of a nat for each token where the topics are the rows and columns
    of a square of words. From the even mixture alone the bound may fall; with both it never does.

    With one topic nothing but that topic is unknown, and the bound is the log evidence: a floor for more topics.

    Args:
        key: random key of the start.
        documents: from `corpus`.
        topics: K, at least 1.
        alpha: Dirichlet parameter of the documents' mixtures, above 0.
        gamma: of the topics, above 0.
        iterations: rounds, at least 1.
        inner: steps for the documents' factors in a round, at most; at least 1.
        tolerance: in tokens, above 0. The inner steps of a block of 64 documents end when the parameters of its factors have changed by
            less in the mean over the block; rows that only fill up the last block do not change, and count.

    Returns:
        `Topics`, the bound in nats after each round. Topics have no order; another key may number them otherwise, or find another peak.

    Raises:
        ValueError: if a number is out of range.

    Example:
        >>> table = np.array([[9, 9, 0, 0], [8, 10, 0, 0], [0, 0, 9, 8], [0, 0, 7, 9]])
        >>> fit = lda(jax.random.key(0), corpus(table), 2)
        >>> share = fit.documents / fit.documents.sum(axis=1, keepdims=True)
        >>> bool((share.max(axis=1) > 0.95).all()), bool((jnp.diff(fit.elbo) > -1e-2).all())
        (True, True)

    Source: notes, section 5.2.1, with errata N08 to N10; Blei, Ng and Jordan (2003).
    """
    rules = _rules(topics, alpha, gamma, inner, tolerance)
    iterations = _guard.count("iterations", iterations)
    start = _start(key, topics, documents.words)
    pi, b, elbo = _batch(rules, iterations, documents.word, documents.count, start)
    return Topics(pi[: documents.word.shape[0]], b, elbo)


def stochastic_lda(
    key: PRNGKeyArray,
    documents: Corpus,
    topics: int,
    *,
    size: int = 64,
    steps: int = 200,
    alpha: float = 0.1,
    gamma: float = 0.1,
    delay: float = 10.0,
    power: float = 0.7,
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
        size: documents in a minibatch, at most N.
        steps: at least 1.
        alpha: Dirichlet parameter of the documents' mixtures, above 0.
        gamma: of the topics, above 0.
        delay: :math:`\tau`, at least 1.
        power: :math:`\kappa`, above 1/2 and at most 1.
        inner: steps for the documents' factors in a step, at most; at least 1.
        tolerance: as in `lda`, the minibatch being the block.

    Returns:
        `Topics`, whose ``elbo`` has one value: the bound of all documents at the end, in nats.

    Raises:
        ValueError: if a number is out of range.

    Example:
        >>> table = np.array([[9, 9, 0, 0], [8, 10, 0, 0], [0, 0, 9, 8], [0, 0, 7, 9]])
        >>> stochastic_lda(jax.random.key(0), corpus(table), 2, size=2).topics.shape
        (2, 4)

    Source: Hoffman, Blei, Wang and Paisley (2013).
    """
    rules = _rules(topics, alpha, gamma, inner, tolerance)
    size, steps = _guard.count("size", size), _guard.count("steps", steps)
    total = documents.word.shape[0]
    if size > total:
        raise ValueError(f"size is {size} and there are {total} documents; give at most as many")
    if not 0.5 < _guard.number("power", power) <= 1:
        raise ValueError(f"power is {power:g}; give more than 1/2 and at most 1")
    if _guard.number("delay", delay) < 1:
        raise ValueError(f"delay is {delay:g}; give at least 1")
    first, key = jax.random.split(key)
    start = _start(first, topics, documents.words)
    pi, b, elbo = _stochastic(rules, steps, size, key, delay, power, documents.word, documents.count, start)
    return Topics(pi[:total], b, elbo)


def log_mean(parameters):
    r""":math:`\Psi_k(\eta) = \psi(\eta_k) - \psi(\sum_j \eta_j)` over the last axis: the mean of :math:`\log` of a Dirichlet draw.

    Args:
        parameters: :math:`\eta`, shape ``(..., K)``, above 0, of any total.

    Returns:
        Means of the logarithms, of the same shape; all are 0 where K is 1.

    Raises:
        ValueError: if ``parameters`` is one number, or holds what is not finite or not above 0.

    Example:
        >>> round(float(log_mean(jnp.array([2.0, 3.0, 5.0]))[0]), 3)
        -1.829

    Source: notes, lemma 2, with erratum N10.
    """
    parameters = _guard.numbers("parameters", parameters, at_least=1)
    if not _guard.traced(parameters) and not bool((parameters > 0).all()):
        raise ValueError(f"parameters holds {parameters.min():g}; give numbers above 0")
    return digamma(parameters) - digamma(parameters.sum(axis=-1, keepdims=True))


def token_bound(fit: Topics, documents: Corpus):
    """The bound at the end of a fit, divided by the number of tokens.

    Args:
        fit: from `lda` or `stochastic_lda`.
        documents: the `Corpus` that it was made for.

    Returns:
        The mean over all tokens, in nats, a plain number.

    Raises:
        ValueError: if the fit was made for another number of documents.

    Example:
        >>> table = np.array([[9, 9, 0, 0], [0, 0, 9, 8]])
        >>> bool(-2 < token_bound(lda(jax.random.key(0), corpus(table), 2), corpus(table)) < 0)
        True

    Source: notes, equation 5.3, of the model in section 5.2.1.
    """
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
        >>> fit = lda(jax.random.key(0), corpus(np.array([[9, 9, 0, 0], [0, 0, 9, 8]])), 2)
        >>> bool(jnp.allclose(mean_topics(fit).sum(axis=1), 1.0, atol=1e-5))
        True

    Source: the mean of a Dirichlet.
    """
    return fit.topics / fit.topics.sum(axis=1, keepdims=True)


class Rules(NamedTuple):
    """The numbers that a fit is made with."""

    alpha: float
    gamma: float
    inner: int
    tolerance: float


def _rules(topics, alpha, gamma, inner, tolerance) -> Rules:
    """The numbers of a fit, and that there is a topic, checked."""
    _guard.count("topics", topics)
    return Rules(
        _guard.positive("alpha", alpha),
        _guard.positive("gamma", gamma),
        _guard.count("inner", inner),
        _guard.positive("tolerance", tolerance),
    )


def _start(key, topics, words):
    """Parameters of the topics ``(K, V)``: about 1, each a little off, or the topics would stay alike."""
    return jax.random.gamma(key, 100.0, (topics, words)) / 100


def _flat(rules, count, topics):
    """Parameters that share a document's tokens out evenly."""
    return rules.alpha + jnp.broadcast_to(count.sum(axis=1, keepdims=True) / topics, (count.shape[0], topics))


def _weights(b):
    r""":math:`\exp \Psi_v(\tilde B_k)`, ``(V, K)``."""
    return jnp.exp(log_mean(b)).T


def _scores(weights, word):
    """The weights of each document's words, ``(n, K, L)``."""
    return jnp.swapaxes(weights[word], 1, 2)


def _normaliser(scores, share):
    """Sums over the topics, ``(n, L)``; a matrix product in this shape would be slower."""
    return (scores * share[..., None]).sum(axis=1) + TINY


def _settle(rules, scores, count, pi):
    """The documents' factors at rest from ``pi`` on, ``(n, K)``."""

    def one(carry):
        pi, _, step = carry
        share = jnp.exp(log_mean(pi))
        new = rules.alpha + share * jnp.einsum("nl,nkl->nk", count / _normaliser(scores, share), scores)
        return new, jnp.abs(new - pi).mean(), step + 1

    return jax.lax.while_loop(lambda carry: (carry[1] > rules.tolerance) & (carry[2] < rules.inner), one, (pi, jnp.inf, 0))[0]


def _document_bounds(rules, scores, count, pi):
    """What each document adds to the bound, with its tokens' factors at their best, ``(n,)``."""
    tokens = (count * jnp.log(_normaliser(scores, jnp.exp(log_mean(pi))))).sum(axis=1)
    return tokens + _dirichlet_terms(pi, rules.alpha)


def _better(rules, scores, count, old):
    """The documents' factors at rest: from a fresh start or from their old ones, whichever is better for each document."""

    def visit(start):
        pi = _settle(rules, scores, count, start)
        return pi, _document_bounds(rules, scores, count, pi)

    pi, bound = jax.lax.map(visit, jnp.stack([_flat(rules, count, old.shape[1]), old]))
    return jnp.where((bound[0] > bound[1])[:, None], *pi)


def _tokens(weights, word, count, scores, pi):
    """Tokens of each word that each topic has to answer for, ``(V, K)``."""
    share = jnp.exp(log_mean(pi))
    each = scores * share[..., None] * (count / _normaliser(scores, share))[:, None]
    return jnp.zeros_like(weights).at[word].add(jnp.swapaxes(each, 1, 2))


def _dirichlet_terms(parameters, prior):
    """Minus KL(q || p) of each row's Dirichlet q and the symmetric prior p, in nats."""
    size, log = parameters.shape[-1], log_mean(parameters)
    q = gammaln(parameters.sum(axis=-1)) - gammaln(parameters).sum(axis=-1) + ((parameters - 1) * log).sum(axis=-1)
    p = gammaln(size * prior) - size * gammaln(prior) + ((prior - 1) * log).sum(axis=-1)
    return p - q


def _blocks(a):
    """The rows of ``a`` in blocks, the last one filled up with zeros: documents without words, which change nothing."""
    return jnp.pad(a, ((0, -a.shape[0] % BLOCK), *((0, 0),) * (a.ndim - 1))).reshape(-1, BLOCK, *a.shape[1:])


def _sweep(rules, b, word, count, pi):
    """One visit to all documents, block by block: the tokens of each word by topic, ``(V, K)``, and the documents' factors."""
    weights = _weights(b)

    def one(total, block):
        word, count, pi = block
        scores = _scores(weights, word)
        pi = _better(rules, scores, count, pi)
        return total + _tokens(weights, word, count, scores, pi), pi

    return jax.lax.scan(one, jnp.zeros_like(weights), (word, count, pi))


def _bound(rules, b, word, count, pi):
    """The bound with each token's factor at its best for the others; a document without words adds 0."""
    weights = _weights(b)
    each = jax.lax.map(lambda block: _document_bounds(rules, _scores(weights, block[0]), *block[1:]).sum(), (word, count, pi))
    return each.sum() + _dirichlet_terms(b, rules.gamma).sum()


@partial(jax.jit, static_argnums=(0, 1))
def _batch(rules, iterations, word, count, b):
    word, count = _blocks(word), _blocks(count)
    start = jax.vmap(lambda c: _flat(rules, c, b.shape[0]))(count)

    def one(carry, _):
        b, pi = carry
        total, pi = _sweep(rules, b, word, count, pi)
        b = rules.gamma + total.T
        return (b, pi), _bound(rules, b, word, count, pi)

    (b, pi), elbo = jax.lax.scan(one, (b, start), length=iterations)
    return pi.reshape(-1, b.shape[0]), b, elbo


@partial(jax.jit, static_argnums=(0, 1, 2))
def _stochastic(rules, steps, size, key, delay, power, word, count, b):
    total = word.shape[0]

    def one(b, numbered):
        number, step_key = numbered
        chosen = jax.random.choice(step_key, total, (size,), replace=False)
        w, c = word[chosen], count[chosen]
        weights = _weights(b)
        scores = _scores(weights, w)
        pi = _settle(rules, scores, c, _flat(rules, c, b.shape[0]))
        found = _tokens(weights, w, c, scores, pi).T
        rate = (number + delay) ** -power
        return (1 - rate) * b + rate * (rules.gamma + total / size * found), None

    b = jax.lax.scan(one, b, (jnp.arange(steps, dtype=b.dtype), jax.random.split(key, steps)))[0]
    word, count = _blocks(word), _blocks(count)
    _, pi = _sweep(rules, b, word, count, jax.vmap(lambda c: _flat(rules, c, b.shape[0]))(count))
    return pi.reshape(-1, b.shape[0]), b, _bound(rules, b, word, count, pi)[None]
