r"""The updates of latent Dirichlet allocation on counts, and its bound: what `lda`, `stochastic_lda` and `transform` share.

With :math:`\Psi_k(\eta) = \psi(\eta_k) - \psi(\sum_j \eta_j)`, the mean of :math:`\log\eta_k` under a Dirichlet of any total mass (erratum
N10), the updates are

.. math::

    \tilde z_{ivk} \propto \exp[\Psi_k(\tilde\pi_i) + \Psi_v(\tilde B_k)], \qquad
    \tilde\pi_i = \alpha + \sum_v n_{iv} \tilde z_{iv}, \qquad \tilde B_{kv} = \gamma + \sum_i n_{iv} \tilde z_{ivk}

(errata N08, N09). Tokens of one word in one document are alike, so they share one row of :math:`\tilde z`: the cost is that of the
different words of a document, not of its length. Arguments are not checked here.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.special import digamma, gammaln, logsumexp

from course_pkg import _guard

LEAST = 1e-18  # of a factor beside the largest: a token whose every product rounds to 0 would lose its vote
BLOCK = 64  # documents worked on at once: their scores stay in a processor's cache


class Rules(NamedTuple):
    """The numbers that a fit is made with."""

    alpha: float
    gamma: float
    inner: int
    tolerance: float


def rules(alpha, gamma, inner, tolerance) -> Rules:
    """The numbers of a fit, checked."""
    return Rules(
        _guard.positive("alpha", alpha),
        _guard.positive("gamma", gamma),
        _guard.count("inner", inner),
        _guard.positive("tolerance", tolerance),
    )


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


def start(key, topics, words):
    """Parameters of the topics ``(K, V)``: about 1, each a little off, or the topics would stay alike."""
    return jax.random.gamma(key, 100.0, (topics, words)) / 100


def blocks(a):
    """The rows of ``a`` in blocks, the last one filled up with zeros: documents without words, which change nothing."""
    return jnp.pad(a, ((0, -a.shape[0] % BLOCK), *((0, 0),) * (a.ndim - 1))).reshape(-1, BLOCK, *a.shape[1:])


def _relative(parameters, axis):
    r""":math:`\exp \Psi`, divided by its largest value along ``axis``: what normalises a token's factor cancels the rest."""
    log = log_mean(parameters)
    return jnp.maximum(jnp.exp(log - log.max(axis=axis, keepdims=True)), LEAST)


def scores(b, word):
    """What each topic gives to each document's words, ``(n, K, L)``."""
    return jnp.swapaxes(_relative(b, 0).T[word], 1, 2)


def _normaliser(score, share):
    """Sums over the topics, ``(n, L)``; a matrix product in this shape would be slower."""
    return (score * share[..., None]).sum(axis=1)


def settle(rules, score, count, topics):
    """The documents' factors at rest ``(n, K)``, from an even mixture of all topics."""

    def one(carry):
        pi, _, step = carry
        share = _relative(pi, -1)
        new = rules.alpha + share * jnp.einsum("nl,nkl->nk", count / _normaliser(score, share), score)
        return new, jnp.abs(new - pi).mean(axis=1).max(), step + 1

    even = rules.alpha + jnp.broadcast_to(count.sum(axis=1, keepdims=True) / topics, (len(count), topics))
    return jax.lax.while_loop(lambda carry: (carry[1] > rules.tolerance) & (carry[2] < rules.inner), one, (even, jnp.inf, 0))[0]


def votes(word, count, score, pi, shape):
    """Tokens of each word that each topic has to answer for, of the ``shape`` of the topics, ``(K, V)``."""
    share = _relative(pi, -1)
    each = score * share[..., None] * (count / _normaliser(score, share))[:, None]
    return jnp.zeros(shape[::-1]).at[word].add(jnp.swapaxes(each, 1, 2)).T


def _dirichlet_terms(parameters, prior):
    """Minus KL(q || p) of each row's Dirichlet q and the symmetric prior p, in nats."""
    size, log = parameters.shape[-1], log_mean(parameters)
    each = gammaln(jnp.concatenate([parameters, parameters.sum(axis=-1, keepdims=True)], axis=-1))  # together: it is slow to compile
    whole, part = gammaln(jnp.stack([size * prior, prior]))
    q = each[..., -1] - each[..., :-1].sum(axis=-1) + ((parameters - 1) * log).sum(axis=-1)
    return whole - size * part + ((prior - 1) * log).sum(axis=-1) - q


def bound(rules, b, word, count, pi):
    """The bound of documents in blocks, with each token's factor at its best for the others; a document without words adds 0."""
    log_b = log_mean(b).T

    def of_block(block):
        word, count, pi = block
        tokens = (count * logsumexp(log_b[word] + log_mean(pi)[:, None], axis=-1)).sum(axis=1)
        return (tokens + _dirichlet_terms(pi, rules.alpha)).sum()

    return jax.lax.map(of_block, (word, count, pi)).sum() + _dirichlet_terms(b, rules.gamma).sum()


@jax.jit
def at_rest(rules, b, word, count):
    """The factors of documents in blocks for given topics, ``(blocks, BLOCK, K)``."""
    return jax.lax.map(lambda block: settle(rules, scores(b, block[0]), block[1], len(b)), (word, count))
