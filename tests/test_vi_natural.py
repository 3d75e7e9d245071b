"""Natural gradients: Fisher matrices by sums and integrals, steps of length one, minibatches that are right on average."""

import itertools
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.special import digamma, gammaln
from scipy import integrate, special, stats

from course_pkg.vi import Minibatches, cavi_normal, corpus, fisher, lda_steps, natural_gradient, stochastic_lda
from course_pkg.vi.lda_online import target


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


@jax.jit
def dirichlet(eta):
    """Log normaliser; the statistics are the logarithms, the natural parameters the usual ones up to a constant."""
    return gammaln(eta).sum() - gammaln(eta.sum())


@jax.jit
def normal(eta):
    return -(eta[0] ** 2) / (4 * eta[1]) - jnp.log(-2 * eta[1]) / 2


@jax.jit
def gamma(eta):
    """Of a Gamma(a, b), with statistics log x and x: natural parameters a and -b."""
    return gammaln(eta[0]) - eta[0] * jnp.log(-eta[1])


def covariance(weight, statistics):
    weight = weight / weight.sum()
    gap = statistics - weight @ statistics
    return (weight * gap.T) @ gap


def test_fisher_of_a_die_by_enumeration():
    eta = np.array([0.3, -0.7])  # the last face has 0
    faces = np.vstack([np.eye(2), np.zeros(2)])
    found = fisher(lambda e: jnp.logaddexp(jax.nn.logsumexp(e), 0.0), eta)
    assert np.allclose(found, covariance(np.exp(faces @ eta), faces), atol=1e-12)


def test_fisher_of_normal_gamma_and_beta_by_quadrature():
    x = np.linspace(-9, 12, 20_001)
    assert np.allclose(fisher(normal, [1.2, -0.4]), covariance(np.exp(1.2 * x - 0.4 * x**2), np.stack([x, x**2], 1)), rtol=1e-8)
    x = np.linspace(1e-9, 40, 400_001)
    assert np.allclose(
        fisher(gamma, [3.5, -1.3]), covariance(stats.gamma.pdf(x, 3.5, scale=1 / 1.3), np.stack([np.log(x), x], 1)), rtol=1e-6
    )

    def moment(*which):  # of logarithms under a beta; x = 1 / (1 + exp(-u)) takes the ends away
        def f(u):
            logs = -np.logaddexp(0, -u), -np.logaddexp(0, u)
            return np.exp(2.5 * logs[0] + 0.8 * logs[1] - special.betaln(2.5, 0.8)) * np.prod([logs[i] for i in which])

        return integrate.quad(f, -80, 200, limit=400, points=[0])[0]

    want = [[moment(i, j) - moment(i) * moment(j) for j in (0, 1)] for i in (0, 1)]
    assert np.allclose(fisher(dirichlet, [2.5, 0.8]), want, atol=1e-7)


def test_fisher_is_the_curvature_of_the_divergence():
    eta, step = jnp.array([2.0, 0.7, 4.0]), np.array([0.02, -0.01, 0.03])

    def kl(new):  # of Dirichlets, the old one first
        return (eta - new) @ jax.grad(dirichlet)(eta) - dirichlet(eta) + dirichlet(new)

    assert float(kl(eta + step)) == pytest.approx(float(step @ fisher(dirichlet, eta) @ step) / 2, rel=0.01)
    assert float(kl(eta + step / 100)) == pytest.approx(float(step @ fisher(dirichlet, eta) @ step) / 2e4, rel=2e-4)


@pytest.mark.parametrize(
    ("family", "eta", "best"),
    [(dirichlet, [0.1, 3.0, 40.0], [5.1, 0.1, 7.0]), (normal, [0.3, -2.0], [4.0, -0.2]), (gamma, [2.0, -5.0], [31.0, -0.7])],
)
def test_a_step_of_length_one_reaches_the_best_member(family, eta, best):
    eta, best = jnp.array(eta), jnp.array(best)

    @jax.jit
    def bound(e):  # minus the divergence from the member `best`, up to a constant
        return (best - e) @ jax.grad(family)(e) + family(e)

    assert np.allclose(eta + natural_gradient(family, bound, eta), best, rtol=1e-8)
    assert not np.allclose(eta + jax.grad(bound)(eta), best, rtol=0.1)  # the ordinary one goes elsewhere


def test_it_is_coordinate_ascents_update_of_a_precision():
    """The factor of the precision of a normal sample, its mean's factor held where `cavi_normal` has it at the end."""
    x = np.array([1.2, -0.4, 0.8, 2.9, 1.1])
    fit = cavi_normal(x, prior_precision=0.3, shape=2.0, rate=1.5, iterations=200).q
    squares = float(((x - fit.mean) ** 2).sum() + len(x) * fit.covariance)

    @jax.jit
    def bound(eta):  # E log likelihood and prior of the precision, plus its entropy
        a, b = eta[0], -eta[1]
        mean, log = a / b, digamma(a) - jnp.log(b)
        return (2.0 + len(x) / 2) * log - (1.5 + squares / 2) * mean + gamma(eta) - eta @ jax.grad(gamma)(eta)

    eta = jnp.array([0.8, -4.0])
    moved = eta + natural_gradient(gamma, bound, eta)
    assert np.allclose(moved, [fit.shape, -fit.rate], rtol=1e-6)


COUNTS = np.array([[3, 0, 2, 1], [0, 4, 0, 1], [1, 1, 1, 1], [5, 0, 0, 2], [0, 2, 3, 0]])
RULES = lda_steps.rules(0.3, 0.4, 500, 1e-12)
TOPICS = np.array([[1.0, 0.5, 2.0, 0.7], [0.4, 3.0, 0.9, 1.1]])


aim = jax.jit(target)


@jax.jit
def elbo(words, flat):
    """The bound of all documents, a function of the topics alone: the documents' factors are at their best for them."""
    b = flat.reshape(TOPICS.shape)
    pi = jax.lax.stop_gradient(lda_steps.settle(RULES, lda_steps.scores(b, words.word), words.count, len(b)))
    return lda_steps.bound(RULES, b, words.word[None], words.count[None], pi[None])


def test_topics_move_by_the_natural_gradient_of_the_bound():
    words = corpus(COUNTS)
    best = aim(RULES, jnp.asarray(TOPICS), words.word, words.count)
    normaliser = jax.jit(lambda flat: sum(map(dirichlet, flat.reshape(TOPICS.shape))))
    found = natural_gradient(normaliser, partial(elbo, words), TOPICS.ravel())
    assert np.allclose(found, (best - TOPICS).ravel(), atol=1e-6)


def test_a_minibatch_is_right_on_average():
    """Over all ten pairs of five documents; no two of them say the same."""
    words = corpus(COUNTS)
    pairs = [list(pair) for pair in itertools.combinations(range(5), 2)]
    each = np.array([aim(RULES, jnp.asarray(TOPICS), words.word[np.array(pair)], words.count[np.array(pair)], 5 / 2) for pair in pairs])
    assert np.allclose(each.mean(axis=0), aim(RULES, jnp.asarray(TOPICS), words.word, words.count), rtol=1e-9)
    assert each.std(axis=0).min() > 0.05
    without = np.array([aim(RULES, jnp.asarray(TOPICS), words.word[np.array(pair)], words.count[np.array(pair)]) for pair in pairs])
    assert not np.allclose(without.mean(axis=0), aim(RULES, jnp.asarray(TOPICS), words.word, words.count), rtol=0.1)


def test_one_step_of_length_one_on_all_documents_is_a_round_of_coordinate_ascent():
    words, key = corpus(COUNTS), jax.random.key(0)
    options = {"alpha": 0.3, "gamma": 0.4, "inner": 500, "tolerance": 1e-12}
    fit = stochastic_lda(key, words, 2, Minibatches(5, steps=1, delay=1.0), **options)
    first = lda_steps.start(jax.random.split(key)[0], 2, 4)
    assert np.allclose(fit.topics, aim(RULES, first, words.word, words.count), rtol=1e-9)
    half = stochastic_lda(key, words, 2, Minibatches(5, steps=1, delay=2.0, power=1.0), **options)
    assert np.allclose(half.topics, (first + fit.topics) / 2, rtol=1e-9)


def test_what_has_no_metric_is_refused():
    with pytest.raises(ValueError, match=r"eta is .* give parameters inside the family"):
        fisher(normal, [0.0, 0.5])
    with pytest.raises(ValueError, match="log_normaliser is a straight line"):
        natural_gradient(lambda e: jnp.exp(e[0] + e[1]), lambda e: -(e @ e), [0.0, 0.0])
    for seed in range(5):  # softmax: one number too many, which rounding hides
        eta = np.random.default_rng(seed).normal(size=4)
        with pytest.raises(ValueError, match="leave a redundant parameter out"):
            natural_gradient(jax.nn.logsumexp, lambda e: -(e @ e), eta)
    with pytest.raises(ValueError, match="objective fails on JAX's arrays"):
        natural_gradient(normal, lambda e: float(np.asarray(e).sum()), [0.0, -0.5])
