"""Documents as counts of words: the form in which topics read them, and documents cut in two for a test by completion."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from course_pkg import _guard


class Corpus(NamedTuple):
    """Documents as lists of different words with their counts, filled up with words of count 0 to the same length."""

    word: Any  # (N, L) integers below `words`
    count: Any  # (N, L)
    words: int  # V


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
    wrong = values[~np.isfinite(values) | (values < 0) | (values != np.floor(values))]
    if wrong.size:
        raise ValueError(f"counts holds {wrong[0]}, which is no count; give whole numbers of at least 0")
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
    if counts.ndim != 2:
        raise ValueError(f"counts has shape {counts.shape}; give one row for each document")
    if counts.dtype.kind not in "biuf":
        raise ValueError(f"counts has type {counts.dtype}; give real numbers")
    table = counts.tocsr().astype(float)
    table.sum_duplicates()
    table.eliminate_zeros()
    ends = table.indptr[1:-1]
    rows = zip(np.split(table.indices, ends), np.split(table.data, ends), strict=True)
    return list(rows) if table.shape[0] else [], table.shape


def halves(key: PRNGKeyArray, documents: Corpus) -> tuple[Corpus, Corpus]:
    """Each document's tokens dealt at random into two halves: one to be seen, one to be held out.

    Args:
        key: random key of the deal.
        documents: from `corpus`, each with at least two tokens.

    Returns:
        Two `Corpus` of the same documents and words, whose counts add up to those of ``documents``. Of an odd number of tokens the
        second has one more.

    Raises:
        ValueError: if a document has fewer than two tokens, or ``documents`` is no sound `Corpus` of whole counts.

    Example:
        >>> seen, held = halves(jax.random.key(0), corpus(np.array([[2, 0, 3], [1, 1, 0]])))
        >>> seen.count.sum(axis=1).tolist(), (seen.count + held.count).tolist()
        ([2.0, 1.0], [[2.0, 3.0], [1.0, 1.0]])

    Source: Wallach, Murray, Salakhutdinov and Mimno (2009), document completion.
    """
    key, (word, count, words) = _guard.key(key), sound("documents", documents)
    whole = np.asarray(count, dtype=np.int64)
    if (whole != np.asarray(count)).any():
        raise ValueError("documents has counts that are not whole; give what vi.corpus makes")
    short = np.flatnonzero(whole.sum(axis=1) < 2)
    if short.size:
        raise ValueError(f"documents has fewer than two words at row {short[0]}; leave such documents out")
    rng = np.random.default_rng(np.asarray(jax.random.key_data(key)).ravel())
    dealt = np.stack([rng.multivariate_hypergeometric(row, row.sum() // 2) for row in whole])
    return Corpus(word, jnp.asarray(dealt, count.dtype), words), Corpus(word, jnp.asarray(whole - dealt, count.dtype), words)


def sound(name: str, documents, words: int | None = None) -> Corpus:
    """`documents` if it is a `Corpus` (of ``words`` words) that can be read: JAX would take a word that is out of range for another."""
    if not isinstance(documents, Corpus):
        raise ValueError(f"{name} is of type {type(documents).__name__}; give what vi.corpus(counts) makes")
    word, _ = jnp.asarray(documents.word), _guard.numbers(f"{name}.word", documents.word, ndim=2)
    count = _guard.nonnegative(f"{name}.count", documents.count)
    size = _guard.count(f"{name}.words", documents.words)
    if word.shape != count.shape:
        raise ValueError(f"{name}.word has shape {word.shape} and {name}.count {count.shape}; give one count for each word")
    if not jnp.issubdtype(word.dtype, jnp.integer):
        raise ValueError(f"{name}.word has type {word.dtype}; give the numbers of words, integers")
    if not _guard.traced(word) and (int(word.min()) < 0 or int(word.max()) >= size):
        raise ValueError(f"{name}.word goes from {word.min()} to {word.max()}; give numbers from 0 to {size - 1}")
    if words is not None and size != words:
        raise ValueError(f"{name} has a vocabulary of {size} words and the topics one of {words}; count the words that the fit counted")
    return Corpus(word, jnp.asarray(count, jnp.result_type(float)), size)
