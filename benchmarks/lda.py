"""LDA by coordinate ascent here, in scikit-learn and in gensim, on made-up counts from the model itself.

gensim goes from document to document in Python, so a timed call makes a tenth of its rounds.
"""

import jax
import numpy as np
import scipy.sparse

from benchmarks.aims import OURS
from benchmarks.race import Race, Road, missing
from course_pkg.vi import corpus, lda

ALPHA = GAMMA = 0.1


def made_up(documents, words, topics, length):
    """Sparse counts from the model: topics of concentration 0.05, mixtures of 0.1."""
    rng = np.random.default_rng(0)
    mean = rng.dirichlet(np.full(topics, 0.1), documents) @ rng.dirichlet(np.full(words, 0.05), topics)
    sizes = 1 + rng.poisson(length, documents)
    return scipy.sparse.csr_matrix(np.stack([rng.multinomial(n, p / p.sum()) for n, p in zip(sizes, mean, strict=True)]))


def ours(counts, topics, rounds):
    """The last bound for each token."""
    documents, tokens = corpus(counts), counts.sum()
    options = {"alpha": ALPHA, "gamma": GAMMA, "iterations": rounds}
    return Road(lambda seed: float(lda(jax.random.key(seed), documents, topics, **options).elbo[-1]) / tokens)


def scikit_learn(counts, topics, rounds):
    """The same of scikit-learn: the model, and its own bound for each token."""
    from sklearn.decomposition import LatentDirichletAllocation

    table, tokens = counts.astype(np.float32), counts.sum()

    def fitted(seed):
        return LatentDirichletAllocation(topics, doc_topic_prior=ALPHA, topic_word_prior=GAMMA, max_iter=rounds, random_state=seed).fit(
            table
        )

    return fitted, lambda seed: fitted(seed).score(counts) / tokens


def in_gensim(counts, topics, rounds):
    """The same of gensim: all documents in a chunk, the topics renewed outright after each."""
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LdaModel

    documents, tokens = list(Sparse2Corpus(counts, documents_columns=False)), counts.sum()

    def fitted(seed, passes):
        return LdaModel(
            documents, topics, alpha=[ALPHA] * topics, eta=GAMMA, passes=passes, chunksize=len(documents), update_every=0,
            decay=0.0, eval_every=None, random_state=seed, dtype=np.float32,
        )  # fmt: skip

    few = max(rounds // 10, 1)
    return Road(lambda seed: fitted(seed, few), few / rounds, lambda seed: fitted(seed, rounds).bound(documents) / tokens)


def lda_race(small):
    """The same priors and rounds, each library's own inner steps. Random starts end at different peaks, so the bounds may differ."""
    shape = (200, 300, 5, 50) if small else (1000, 1000, 20, 100)
    documents, words, topics, _ = shape
    rounds = 10 if small else 20
    counts = made_up(*shape)
    roads, absent = {OURS: ours(counts, topics, rounds)}, []
    for package, name in (("scikit-learn", "scikit-learn"), ("gensim", "gensim")):
        if gone := missing(package):
            absent.append(gone)
        elif name == "gensim":
            roads[name] = in_gensim(counts, topics, rounds)
        else:
            fitted, bound = scikit_learn(counts, topics, rounds)
            roads[name] = Road(fitted, 1.0, bound)
    size = f"{documents:,} documents, {words:,} words, {topics} topics, {counts.sum():,} tokens, {rounds} rounds"
    below = lambda found: {name: max(found.values()) - bound for name, bound in found.items()}
    return Race(size, roads, below, 0.1, "nats a token below the best bound", (1.0, "s"), tuple(absent))
