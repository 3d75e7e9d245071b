"""Topics of documents that a fit has not seen: closed forms, scikit-learn, and its topics on the pages of this book."""

import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer

from course_pkg.vi import Topics, corpus, halves, lda, log_mean, perplexity, token_bound, transform

APART = Topics(
    np.ones((1, 2)), np.array([[3e4, 1e4, 1e-3, 1e-3], [1e-3, 1e-3, 2e4, 2e4]]), np.zeros(1), 0.4
)  # words of one topic or the other


def test_with_topics_that_share_no_word_everything_is_counted():
    """Then the posterior is a Dirichlet in the counts by topic; the words of each topic are 3/4, 1/4, 1/2 and 1/2 of it."""
    seen, held = np.array([[2, 1, 1, 0], [0, 0, 0, 3]]), np.array([[1, 1, 0, 2], [0, 1, 1, 0]])
    share = (0.4 + np.array([[3, 1], [0, 3]])) / (0.8 + np.array([[4], [3]]))
    assert np.allclose(transform(APART, corpus(seen)), share, rtol=1e-5)
    chance = share[:, [0, 0, 1, 1]] * np.array([3 / 4, 1 / 4, 1 / 2, 1 / 2])
    assert perplexity(APART, corpus(seen), corpus(held)) == pytest.approx(np.exp(-(held * np.log(chance)).sum() / 6), rel=1e-5)


def test_one_topic_foretells_every_word_by_its_share():
    counts, new = np.array([[4, 1, 1], [2, 2, 0]]), np.array([[3, 1, 2], [1, 1, 4]])
    fit = lda(jax.random.key(0), corpus(counts), 1, gamma=0.5, iterations=2)
    seen, held = halves(jax.random.key(0), corpus(new))
    left = np.zeros(3)
    np.add.at(left, np.asarray(held.word), np.asarray(held.count))
    by_hand = np.exp(-(left * np.log((0.5 + counts.sum(axis=0)) / 11.5)).sum() / left.sum())
    assert perplexity(fit, seen, held) == pytest.approx(by_hand, rel=1e-5)
    assert np.allclose(transform(fit, seen), 1.0)


def test_no_knowledge_is_worth_the_size_of_the_vocabulary():
    even = Topics(np.ones((1, 3)), np.full((3, 7), 5.0), np.zeros(1), 0.1)
    assert perplexity(even, *halves(jax.random.key(0), corpus(np.eye(7, dtype=int) + 1))) == pytest.approx(7.0, rel=1e-5)


def test_a_word_of_no_topic_s_own_does_not_vanish():
    """Where the prior is 0.01, exp(psi) of a word that no document had is 0 in single precision, for every topic."""
    fit = Topics(np.ones((1, 2)), np.array([[30.0, 0.01, 0.01], [0.01, 10.0, 0.01]]), np.zeros(1), 0.01)
    share = transform(fit, corpus([[0, 0, 5]]))
    even = np.exp(np.asarray(log_mean(jnp.full(2, 2.51))))
    weight = even * np.exp(np.asarray(log_mean(jnp.asarray(fit.topics)))[:, 2] + 105)
    assert weight[1] > weight[0]  # a topic with fewer words leaves more to those that it has not met
    assert share[0, 1] > 0.9


@pytest.fixture(scope="module")
def sections(request):
    """Counts of words in the sections of this book's pages, and of some that are held out, cut in two; of a sixth in the quick tier."""
    texts = [
        path.read_text("utf8") for path in sorted((Path(__file__).parents[1] / "book").glob("*/*.md")) if path.parent.name != "appendix"
    ]
    prose = [re.sub(r"^```.*?^```$|\$\$.*?\$\$|\$[^$]*\$|`[^`]*`", " ", text, flags=re.M | re.S) for text in texts]
    parts = [part for text in prose for part in re.split(r"^## ", text, flags=re.M) if len(part.split()) > 60]
    parts = parts if request.config.getoption("--thorough") else parts[::6]
    count = CountVectorizer(token_pattern=r"[a-z]{4,}", stop_words="english", min_df=4, max_df=0.6, max_features=1000)
    n = np.asarray(count.fit_transform(parts).todense())
    n = n[n.sum(axis=1) >= 4]
    new = np.arange(len(n)) % 5 == 0
    return n[~new], corpus(n[~new]), *halves(jax.random.key(0), corpus(n[new]))


def table_of(documents):
    """Counts of a `Corpus` as a table."""
    table = np.zeros((len(documents.word), documents.words))
    np.add.at(table, (np.arange(len(table))[:, None], np.asarray(documents.word)), np.asarray(documents.count))
    return table


SETTINGS = {"alpha": 0.1, "gamma": 0.1, "iterations": 20, "inner": 50, "tolerance": 1e-3}


def scikit_learns(train, seen, held, topics, seed):
    """Bound per token and perplexity of held-out words, at the same settings."""
    run = LatentDirichletAllocation(
        topics, doc_topic_prior=0.1, topic_word_prior=0.1, max_iter=20, max_doc_update_iter=50, mean_change_tol=1e-3, random_state=seed
    ).fit(train)
    run.max_doc_update_iter = 100  # as `lda` at its end, `transform` and `perplexity`
    return run, run.score(train) / train.sum(), completed(run, seen, held)


def completed(run, seen, held):
    chance = run.transform(table_of(seen)) @ (run.components_ / run.components_.sum(axis=1, keepdims=True))
    return np.exp(-(table_of(held) * np.log(chance)).sum() / table_of(held).sum())


def test_on_this_book_topics_are_no_worse_than_scikit_learns(sections):
    """Four starts each. Were the two alike, a mean would be worse by 4.5 standard errors in less than one book of 400 (t, 6 degrees)."""
    table, train, seen, held = sections
    theirs = np.array([scikit_learns(table, seen, held, 15, seed)[1:] for seed in range(4)])
    fits = [lda(jax.random.key(seed), train, 15, **SETTINGS) for seed in range(4)]
    ours = np.array([(token_bound(fit, train), perplexity(fit, seen, held)) for fit in fits])
    error = np.sqrt((ours.var(axis=0, ddof=1) + theirs.var(axis=0, ddof=1)) / 4)
    bound, surprise = (ours.mean(axis=0) - theirs.mean(axis=0)) / error
    assert bound > -4.5
    assert surprise < 4.5


def test_given_the_same_topics_scikit_learn_says_the_same(sections):
    table, _, seen, held = sections
    run, _, _ = scikit_learns(table[:200], seen, held, 5, 0)
    run.max_doc_update_iter, run.mean_change_tol = 2000, 1e-9  # to the end, where the way there no longer shows
    with jax.enable_x64(True):
        fit, end = Topics(np.ones((1, 5)), run.components_, np.zeros(1), 0.1), {"inner": 2000, "tolerance": 1e-9}
        assert np.allclose(transform(fit, seen, **end), run.transform(table_of(seen)), atol=1e-5)
        assert perplexity(fit, seen, held, **end) == pytest.approx(completed(run, seen, held), rel=1e-5)


GOOD = corpus([[2, 1, 0, 0], [1, 0, 2, 1]])
BAD = [
    (lambda: transform(APART, corpus([[1, 2]])), "documents has a vocabulary of 2 words and the topics one of 4"),
    (lambda: transform(APART, GOOD, inner=0), "inner is 0"),
    (lambda: transform(APART, GOOD, tolerance=-1.0), "tolerance is -1"),
    (lambda: perplexity(APART, GOOD, corpus([[1, 2]])), "held has a vocabulary of 2 words"),
    (lambda: perplexity(APART, corpus([[1, 2]]), GOOD), "seen has a vocabulary of 2 words"),
    (lambda: perplexity(APART, GOOD, corpus([[1, 2, 0, 0]])), "seen has 2 documents and held 1; give two halves of the same"),
    (lambda: perplexity(APART, GOOD, GOOD._replace(count=0 * GOOD.count)), "held holds no word; give at least one"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
