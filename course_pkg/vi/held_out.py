"""Fitted topics on documents that the fit has not seen: what they are about, and how well their words are foretold."""

import jax
import jax.numpy as jnp

from course_pkg.vi import lda_steps as steps
from course_pkg.vi.documents import Corpus, sound
from course_pkg.vi.lda import Topics, mean_topics


def transform(fit: Topics, documents: Corpus, *, inner: int = 100, tolerance: float = 1e-3):
    r"""Topic proportions of documents, the topics being those of a fit.

    The mean of each document's factor, brought to rest from an even mixture as in `lda`. The factor itself is a Dirichlet whose
    parameters are these proportions times :math:`K\alpha + n_i`, for a document of :math:`n_i` tokens.

    Args:
        fit: from `lda` or `stochastic_lda`.
        documents: from `corpus`, new or old, with the words that the fit counted.
        inner: steps at most, at least 1.
        tolerance: as in `lda`.

    Returns:
        Mean proportions, shape ``(N, K)``; each row sums to 1.

    Raises:
        ValueError: if ``documents`` is no sound `Corpus`, has another vocabulary, or a number is out of range.

    Example:
        >>> from course_pkg.vi import corpus, lda
        >>> fit = lda(jax.random.key(0), corpus([[9, 9, 0, 0], [8, 10, 0, 0], [0, 0, 9, 8], [0, 0, 7, 9]]), 2)
        >>> new = transform(fit, corpus([[5, 5, 0, 0], [0, 0, 6, 4]]))
        >>> bool((new.max(axis=1) > 0.95).all()), bool((new.argmax(axis=1)[0] != new.argmax(axis=1)[1]))
        (True, True)

    Source: Blei, Ng and Jordan (2003), section 5.2.
    """
    documents = sound("documents", documents, words=_words(fit))
    rules = steps.rules(float(fit.alpha), 1.0, inner, tolerance)
    pi = steps.at_rest(rules, fit.topics, steps.blocks(documents.word), steps.blocks(documents.count))
    pi = pi.reshape(-1, pi.shape[-1])[: len(documents.word)]
    return pi / pi.sum(axis=1, keepdims=True)


def perplexity(fit: Topics, seen: Corpus, held: Corpus, *, inner: int = 100, tolerance: float = 1e-3) -> float:
    r"""Perplexity of held-out words by document completion: how many equally likely words would be as hard to foretell.

    The proportions :math:`\bar\pi_i` of each document are inferred from its seen half. A word of the other half has, under the fit, the
    probability :math:`\sum_k \bar\pi_{ik} \bar B_{kv}`, the bars being means. The perplexity is :math:`e^{-s}`, with s the mean of the
    logarithm over all held tokens. Lower is better; V is reached without knowing anything.

    Args:
        fit: from `lda` or `stochastic_lda`; not made with these documents.
        seen: the half to infer from; `halves` deals it.
        held: the other half of the same documents.
        inner: as in `transform`.
        tolerance: as in `transform`.

    Returns:
        Perplexity, a plain number of at least 1.

    Raises:
        ValueError: as `transform`, and if the halves are of different numbers of documents or no word is held out.

    Example:
        >>> from course_pkg.vi import corpus, halves, lda
        >>> fit = lda(jax.random.key(0), corpus([[9, 9, 0, 0], [8, 10, 0, 0], [0, 0, 9, 8], [0, 0, 7, 9]]), 2)
        >>> bool(2 < perplexity(fit, *halves(jax.random.key(1), corpus([[20, 20, 0, 0], [0, 0, 20, 20]]))) < 2.5)
        True

    Source: Wallach, Murray, Salakhutdinov and Mimno (2009).
    """
    held = sound("held", held, words=_words(fit))
    proportions = transform(fit, sound("seen", seen, words=_words(fit)), inner=inner, tolerance=tolerance)
    if len(held.word) != len(proportions):
        raise ValueError(f"seen has {len(proportions)} documents and held {len(held.word)}; give two halves of the same")
    tokens = float(held.count.sum())
    if tokens == 0:
        raise ValueError("held holds no word; give at least one to be foretold")
    by_word = mean_topics(fit).T

    def score(block):
        word, count, share = block
        chance = (by_word[word] * share[:, None]).sum(axis=-1)
        return (count * jnp.log(jnp.where(count > 0, chance, 1.0))).sum()

    total = jax.lax.map(score, tuple(map(steps.blocks, (held.word, held.count, proportions)))).sum()
    return float(jnp.exp(-total / tokens))


def _words(fit) -> int:
    if not isinstance(fit, Topics):
        raise ValueError(f"fit is of type {type(fit).__name__}; give what vi.lda or vi.stochastic_lda returns")
    return fit.topics.shape[1]
