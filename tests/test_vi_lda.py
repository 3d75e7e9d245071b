"""LDA: its updates token by token, a bound that ends level and below the evidence, known topics found, scikit-learn's bound."""

import inspect
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse
from jax.scipy.special import digamma, gammaln
from scipy.optimize import linear_sum_assignment
from scipy.special import digamma as digamma_of_numbers
from scipy.special import gammaln as log_gamma
from sklearn.decomposition import LatentDirichletAllocation

from course_pkg.vi import Corpus, Minibatches, Topics, corpus, halves, lda, log_mean, mean_topics, stochastic_lda, token_bound
from course_pkg.vi.lda_steps import start

SIDE = 5  # of the square whose rows and columns are the topics
BARS = (
    np.array([row for one in np.eye(SIDE) for row in (np.outer(one, np.ones(SIDE)).ravel(), np.outer(np.ones(SIDE), one).ravel())]) / SIDE
)


def bars(seed=0, documents=400, length=100, alpha=0.2):
    """Counts of words on a square, each document a mixture of rows and columns."""
    rng = np.random.default_rng(seed)
    mixtures = rng.dirichlet(np.full(len(BARS), alpha), documents)
    return rng.multinomial(length, mixtures @ BARS)


@pytest.fixture(scope="module")
def found():
    """The best of five fits of the bars, in single precision as pages have it."""
    documents = corpus(bars())
    fits = [lda(jax.random.key(seed), documents, len(BARS), alpha=0.2, gamma=0.1, iterations=40) for seed in range(5)]
    return documents, max(fits, key=lambda fit: float(fit.elbo[-1]))


def test_bars_are_found(found):
    _, fit = found
    distance = 0.5 * np.abs(np.asarray(mean_topics(fit))[:, None] - BARS[None]).sum(axis=-1)
    rows, columns = linear_sum_assignment(distance)
    assert distance[rows, columns].max() < 0.05


def test_scikit_learns_bound_is_reached_and_is_the_same_number(found):
    documents, fit = found
    counts = bars()
    runs = [
        LatentDirichletAllocation(10, doc_topic_prior=0.2, topic_word_prior=0.1, max_iter=20, random_state=seed).fit(counts)
        for seed in range(2)
    ]
    theirs = max(run.score(counts) for run in runs) / counts.sum()
    assert token_bound(fit, documents) == pytest.approx(theirs, rel=0.01)
    # the bound itself, at our topics: theirs brings its own documents to rest
    runs[0].components_ = np.asarray(fit.topics, dtype=float)
    runs[0].exp_dirichlet_component_ = np.exp(np.asarray(log_mean(fit.topics), dtype=float))
    assert runs[0].score(counts) / counts.sum() == pytest.approx(token_bound(fit, documents), rel=1e-3)


def test_the_stochastic_version_reaches_the_batch_bound(found):
    documents, fit = found
    runs = [stochastic_lda(jax.random.key(s), documents, 10, Minibatches(50), alpha=0.2, gamma=0.1, inner=30) for s in range(3)]
    best = max(runs, key=lambda run: float(run.elbo[0]))
    assert best.documents.shape == (400, 10)
    assert token_bound(best, documents) == pytest.approx(token_bound(fit, documents), rel=0.01)


def small(seed=0, documents=70, words=6, length=12):
    rng = np.random.default_rng(seed)
    return rng.multinomial(length, rng.dirichlet(np.ones(words), documents))


def expected_log(parameters, digamma=digamma):
    return digamma(parameters) - digamma(parameters.sum(axis=-1, keepdims=True))


def token_by_token(counts, b, alpha, gamma, steps):
    """One round as the notes have it, with a factor for each token, from even mixtures: errata N08 and N09 mended."""
    topics = b.shape[0]
    psi_b, new = expected_log(np.asarray(b), digamma_of_numbers), np.full(b.shape, gamma)
    everyone = []
    for row in counts:
        tokens = np.repeat(np.arange(row.size), row)
        pi = np.full(topics, alpha + len(tokens) / topics)
        for step in range(steps + 1):
            log_z = expected_log(pi, digamma_of_numbers)[None] + psi_b[:, tokens].T
            z = np.exp(log_z - log_z.max(axis=1, keepdims=True))
            z /= z.sum(axis=1, keepdims=True)
            if step < steps:
                pi = alpha + z.sum(axis=0)
        for token, share in zip(tokens, z, strict=True):
            new[:, token] += share
        everyone.append(pi)
    return np.array(everyone), new


def test_counts_give_the_updates_token_by_token():
    """Seventy documents, so that one block of documents is full and another is not; rounds in which a memory of the last would show."""
    counts, options = small(), {"alpha": 0.3, "gamma": 0.4, "inner": 3, "tolerance": 1e-12}
    with jax.enable_x64(True):
        b = start(jax.random.key(0), 3, 6)
        fit = lda(jax.random.key(0), corpus(counts), 3, iterations=8, **options)
        for _ in range(8):
            _, b = token_by_token(counts, b, 0.3, 0.4, 3)
        pi, _ = token_by_token(counts, b, 0.3, 0.4, 100)  # with the last topics, documents are given a hundred steps
    assert np.allclose(fit.topics, b, rtol=1e-9)
    assert np.allclose(fit.documents, pi, rtol=1e-9)


def exact_bound(log_pi, log_b, counts, alpha, gamma):
    """The bound from its definition, with token factors at their optimum for the others written out."""

    def minus_kl(q, prior):
        log, k = expected_log(q), q.shape[-1]
        log_p = gammaln(k * prior) - k * gammaln(prior) + ((prior - 1) * log).sum(axis=-1)
        log_q = gammaln(q.sum(axis=-1)) - gammaln(q).sum(axis=-1) + ((q - 1) * log).sum(axis=-1)
        return (log_p - log_q).sum()

    pi, b = jnp.exp(log_pi), jnp.exp(log_b)
    log = expected_log(pi)[:, :, None] + expected_log(b)[None]  # (N, K, V)
    z = jax.lax.stop_gradient(jax.nn.softmax(log, axis=1))
    tokens = (counts[:, None] * z * (log - jnp.log(z))).sum()
    return tokens + minus_kl(pi, alpha) + minus_kl(b, gamma)


exactly, exact_slopes = jax.jit(exact_bound), jax.jit(jax.value_and_grad(exact_bound, (0, 1)))


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (1, 2))])
def test_the_bound_is_what_it_is_by_definition_and_ends_level(seed):
    counts = small(seed)
    with jax.enable_x64(True):
        options = {"alpha": 0.3, "gamma": 0.4, "iterations": 500, "inner": 1000, "tolerance": 1e-9}
        fit = lda(jax.random.key(seed), corpus(counts), 3, **options)
        place = (jnp.log(fit.documents), jnp.log(fit.topics))
        value, slopes = exact_slopes(*place, jnp.asarray(counts), 0.3, 0.4)
        assert float(value) == pytest.approx(float(fit.elbo[-1]), abs=1e-8)
        assert max(float(jnp.abs(slope).max()) for slope in slopes) < 1e-4


def log_dirichlet_multinomial(n, prior):
    """Log probability of tokens in their order, whose counts are the rows of ``n``."""
    k, total = n.shape[-1], n.sum(axis=-1)
    return (log_gamma(k * prior) - log_gamma(k * prior + total) + (log_gamma(n + prior) - log_gamma(prior)).sum(axis=-1)).sum()


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (1, 2))])
def test_with_one_topic_the_bound_is_the_evidence(seed):
    counts, gamma = small(seed), 0.4
    evidence = log_dirichlet_multinomial(counts.sum(axis=0), gamma)
    options = {"alpha": 0.3, "gamma": gamma}
    with jax.enable_x64(True):
        fit = lda(jax.random.key(seed), corpus(counts), 1, iterations=3, **options)
        whole = stochastic_lda(jax.random.key(seed), corpus(counts), 1, Minibatches(len(counts), steps=2, delay=1.0), **options)
    assert np.allclose(fit.elbo, evidence, rtol=1e-12)
    assert float(whole.elbo[0]) == pytest.approx(evidence, rel=1e-12)  # its first step has all documents and a rate of 1
    assert np.allclose(fit.topics, gamma + counts.sum(axis=0))
    assert np.allclose(fit.documents, 0.3 + 12)


def test_the_bound_lies_below_the_evidence_by_enumeration():
    """Two documents of four tokens: the sum over all 2^8 ways to assign them, mixtures and topics integrated out."""
    counts, alpha, gamma = np.array([[3, 1], [1, 3]]), 0.5, 0.7
    document, word = np.array([0] * 4 + [1] * 4), np.array([0, 0, 0, 1, 0, 1, 1, 1])

    terms = []
    for z in itertools.product((0, 1), repeat=8):
        by_document, by_topic = np.zeros((2, 2)), np.zeros((2, 2))
        np.add.at(by_document, (document, z), 1)
        np.add.at(by_topic, (z, word), 1)
        terms.append(log_dirichlet_multinomial(by_document, alpha) + log_dirichlet_multinomial(by_topic, gamma))
    evidence = np.logaddexp.reduce(terms)
    with jax.enable_x64(True):
        best = max(float(lda(jax.random.key(s), corpus(counts), 2, alpha=alpha, gamma=gamma, iterations=200).elbo[-1]) for s in range(4))
    assert evidence - 3 < best < evidence


@pytest.mark.parametrize("prior", [0.003, 0.02])
def test_no_token_loses_its_vote_where_factors_round_to_0(prior):
    """In single precision exp(psi(0.01)) is 0; here most products of such factors would be."""
    counts = small(documents=70, words=40, length=30)
    fit = lda(jax.random.key(0), corpus(counts), 5, alpha=prior, gamma=prior, iterations=30)
    assert np.allclose(fit.documents.sum(axis=1), 5 * prior + counts.sum(axis=1), rtol=1e-4)
    assert float(fit.topics.sum()) == pytest.approx(5 * 40 * prior + counts.sum(), rel=1e-4)
    with jax.enable_x64(True):
        place = (jnp.log(jnp.asarray(np.asarray(part, dtype=float))) for part in fit[:2])
        assert float(exactly(*place, jnp.asarray(counts), prior, prior)) == pytest.approx(float(fit.elbo[-1]), rel=1e-4)


def test_a_whole_float_is_a_number_of_topics():
    with jax.enable_x64(True):  # compiled for the enumeration above
        fits = [inspect.unwrap(lda)(jax.random.key(0), corpus(TABLE), topics, iterations=200) for topics in (2, 2.0)]
    assert np.array_equal(fits[0].topics, fits[1].topics)


def test_a_sparse_table_is_the_dense_one():
    counts = small(words=9)
    dense, sparse = corpus(counts), corpus(scipy.sparse.csr_array(counts))
    assert jax.tree.all(jax.tree.map(np.array_equal, dense, sparse))
    doubled = scipy.sparse.coo_array((np.ones(3), ([0, 0, 1], [2, 2, 0])), shape=(2, 3))
    assert corpus(doubled).count.tolist() == [[2.0], [1.0]]
    assert jax.tree.all(jax.tree.map(np.array_equal, corpus(scipy.sparse.csr_array(counts > 1)), corpus(counts > 1)))
    back = np.zeros(counts.shape)
    np.add.at(back, (np.arange(70)[:, None], np.asarray(dense.word)), np.asarray(dense.count))
    assert np.array_equal(back, counts)


def test_halves_are_dealt_at_random():
    """Six of one word and three of another: of four dealt, 8/3 are of the first in the mean, with the hypergeometric variance."""
    documents = corpus(np.array([[6, 0, 3], [1, 1, 0]]))
    dealt = [halves(jax.random.key(seed), documents) for seed in range(300)]
    for seen, held in dealt[:20]:
        assert np.array_equal(seen.count + held.count, documents.count)
        assert np.array_equal(seen.word, documents.word)
        assert seen.count.sum(axis=1).tolist() == [4.0, 1.0]
    firsts = np.array([float(seen.count[0, 0]) for seen, _ in dealt])
    sd = np.sqrt(4 * 6 / 9 * 3 / 9 * 5 / 8 / len(firsts))
    assert abs(firsts.mean() - 8 / 3) < 4.5 * sd  # a false alarm in 150,000
    assert jax.tree.all(jax.tree.map(np.array_equal, dealt[0], halves(jax.random.key(0), documents)))


as_readers_have_it = inspect.unwrap  # without the type checker that the tests put around every function
KEY, TABLE = jax.random.key(0), np.array([[2, 1], [1, 2]])
GOOD = corpus(TABLE)
BAD = [
    (lambda: corpus([[1, -1]]), "counts holds -1.*, which is no count; give whole numbers"),
    (lambda: corpus([[0.5, 1.0]]), "counts holds 0.5, which is no count; give whole numbers"),
    (lambda: corpus(scipy.sparse.csr_array([[np.nan, 1.0]])), "counts holds nan, which is no count"),
    (lambda: corpus(scipy.sparse.csr_array([[1j, 1.0]])), "counts has type complex128; give real numbers"),
    (lambda: corpus(scipy.sparse.coo_array(np.array([1.0, 2.0]))), r"counts has shape \(2,\); give one row"),
    (lambda: corpus([1, 2]), r"counts has shape \(2,\)"),
    (lambda: corpus([[1, 2], [0, 0]]), "empty document at row 1"),
    (lambda: corpus(scipy.sparse.csr_array((0, 3))), "counts holds no document"),
    (lambda: halves(KEY, corpus([[2, 1], [1, 0]])), "documents has fewer than two words at row 1; leave such documents out"),
    (lambda: halves(KEY, GOOD._replace(count=GOOD.count / 2)), "documents has counts that are not whole"),
    (lambda: as_readers_have_it(lda)(KEY, TABLE, 2), r"documents is of type ndarray; give what vi.corpus\(counts\) makes"),
    (lambda: lda(KEY, GOOD._replace(words=1), 2), "documents.word goes from 0 to 1; give numbers from 0 to 0"),
    (lambda: lda(KEY, GOOD._replace(word=GOOD.word - 1), 2), "documents.word goes from -1 to 0; give numbers from 0 to 1"),
    (lambda: lda(KEY, GOOD._replace(word=GOOD.count), 2), "documents.word has type float32; give the numbers of words"),
    (lambda: lda(KEY, GOOD._replace(count=-GOOD.count), 2), "documents.count holds -2; give nothing below 0"),
    (lambda: lda(KEY, Corpus(GOOD.word, GOOD.count[:, :1], 2), 2), r"documents.word has shape \(2, 2\) and documents.count \(2, 1\)"),
    (lambda: as_readers_have_it(stochastic_lda)(KEY, TABLE, 2), "documents is of type ndarray"),
    (lambda: lda(KEY, GOOD, 0), "topics is 0"),
    (lambda: as_readers_have_it(lda)(KEY, GOOD, 2.5), "topics is 2.5; give a whole number"),
    (lambda: log_mean(2.0), r"parameters has shape \(\)"),
    (lambda: log_mean([1.0, -0.5]), "parameters holds -0.5; give numbers above 0"),
    (
        lambda: token_bound(Topics(np.ones((3, 2)), np.ones((2, 2)), np.zeros(1), 0.1), GOOD),
        "fit is of 3 documents and documents has 2",
    ),
    (
        lambda: token_bound(Topics(np.ones((2, 2)), np.ones((2, 3)), np.zeros(1), 0.1), GOOD),
        "has a vocabulary of 2 words and the topics one of 3",
    ),
    (lambda: lda(KEY, GOOD, 2, alpha=0.0), "alpha is 0"),
    (lambda: lda(KEY, GOOD, 2, gamma=-1.0), "gamma is -1"),
    (lambda: lda(KEY, GOOD, 2, inner=0), "inner is 0"),
    (lambda: as_readers_have_it(lda)(KEY, GOOD, 2, iterations=1.5), "iterations is 1.5"),
    (lambda: lda(KEY, GOOD, 2, tolerance=0.0), "tolerance is 0"),
    (lambda: stochastic_lda(KEY, GOOD, 2, Minibatches(3)), "size is 3 and there are 2 documents"),
    (lambda: stochastic_lda(KEY, GOOD, 2, Minibatches(1, power=0.5)), r"power is 0\.5"),
    (lambda: stochastic_lda(KEY, GOOD, 2, Minibatches(1, delay=0.5)), r"delay is 0\.5"),
    (lambda: as_readers_have_it(stochastic_lda)(KEY, GOOD, 2, 64), "minibatches is 64; give a record"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[f"{number} {words}" for number, (_, words) in enumerate(BAD)])
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
