"""Importance sampling: bias, standard errors and the limit law against quadrature; the Pareto shape against ArviZ."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from arviz_stats.base import array_stats
from scipy import integrate, stats

from course_pkg import decisions, families
from course_pkg.mcmc import importance_sample, pareto_smooth, self_normalised, unnormalised

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (1, 2))]
TESTS = 60  # z-scores in this file, at most
BOUND = stats.norm.isf(1e-5 / TESTS / 2)  # together they raise a false alarm once in 10^5 runs of fresh seeds

P, Q, Z = stats.norm(0.5, 0.8), stats.norm(-0.3, 1.1), 3.0  # target, proposal, and the constant that the target is given
NORMAL = families.mean_field_normal()
LAM = families.Diagonal(jnp.array([-0.3]), jnp.log(jnp.array([1.1])))


def log_target(theta):
    return (jnp.log(Z) + jax.scipy.stats.norm.logpdf(theta, 0.5, 0.8)).sum()


def f(theta):
    return theta + 0.5 * theta**2


def quadrature(integrand):
    return integrate.quad(integrand, -9, 9, limit=200)[0]


TRUTH = quadrature(lambda t: P.pdf(t) * f(t))
VARIANCE = quadrature(lambda t: P.pdf(t) ** 2 / Q.pdf(t) * (f(t) - TRUTH) ** 2)  # erratum N05
BIAS = -quadrature(lambda t: P.pdf(t) ** 2 / Q.pdf(t) * (f(t) - TRUTH))  # times 1/S: of the self-normalised estimate


def replicates(estimator, seed, draws, count):
    """Values and standard errors of an estimator, and the exact weighted means of f less its expectation, which vary with it."""

    def one(key):
        drawn = importance_sample(key, log_target, NORMAL, LAM, draws)
        value = f(drawn.theta[:, 0])
        estimate = estimator(value, drawn.log_weights)
        return estimate.value, estimate.standard_error, (jnp.exp(drawn.log_weights) / Z * (value - TRUTH)).mean()

    found = jax.jit(lambda keys: jax.lax.map(one, keys, batch_size=500))(jax.random.split(jax.random.key(seed), count))
    return tuple(np.asarray(part, float) for part in found)


def z_of_mean(values, expected):
    return np.abs((values.mean(axis=0) - expected) / (values.std(axis=0, ddof=1) / np.sqrt(len(values))))


def test_log_weights_are_the_difference_of_the_log_densities():
    drawn = importance_sample(jax.random.key(0), log_target, NORMAL, LAM, 500)
    theta = np.asarray(drawn.theta, float)[:, 0]
    assert drawn.theta.shape == (500, 1)
    assert np.allclose(drawn.log_weights, np.log(Z) + P.logpdf(theta) - Q.logpdf(theta), atol=1e-4)
    half = importance_sample(jax.random.key(0), lambda t: jnp.where(t[0] > 0, 0.0, -jnp.inf), NORMAL, LAM, 500)
    assert np.isneginf(half.log_weights).tolist() == (theta <= 0).tolist()


@pytest.mark.parametrize("draws", [2, 20])
def test_the_unnormalised_estimate_is_unbiased_and_so_is_its_squared_standard_error(draws):
    values, errors, _ = replicates(unnormalised, draws, draws, 40_000)
    assert z_of_mean(values, Z * TRUTH) < BOUND
    assert z_of_mean((values - Z * TRUTH) ** 2 - errors**2, 0.0) < BOUND


@pytest.mark.parametrize("seed", SEEDS)
def test_the_limit_law_of_the_self_normalised_estimate_has_the_variance_by_quadrature(seed):
    draws = 1000
    values, errors, _ = replicates(self_normalised, seed, draws, 2000)
    assert z_of_mean(draws * (values - TRUTH) ** 2, VARIANCE) < BOUND
    assert (draws * errors**2).mean() == pytest.approx(VARIANCE, rel=0.04)  # its bias is of order 1/S
    assert stats.kstest((values - TRUTH) / errors, stats.norm.cdf).pvalue > 1e-5 / TESTS
    alone = quadrature(lambda t: P.pdf(t) * (f(t) - TRUTH) ** 2)  # what draws of the target itself would have
    assert z_of_mean(draws * (values - TRUTH) ** 2, alone) > BOUND


def test_the_bias_of_the_self_normalised_estimate_falls_as_one_over_the_draws():
    """The exact weighted mean has expectation 0; taking it off leaves the bias and little noise."""
    for draws, close in ((25, 0.15), (100, 0.08)):  # five standard errors, and a next term that falls as 1/S
        values, _, noise = replicates(self_normalised, draws, draws, 40_000)
        left = draws * (values - TRUTH - noise)
        assert left.mean() == pytest.approx(BIAS, rel=close)
        assert left.std() / np.sqrt(len(left)) < 0.015 * abs(BIAS)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_p_risk_of_chapter_1_is_a_self_normalised_estimate(seed):
    drawn = importance_sample(jax.random.key(seed), log_target, NORMAL, LAM, 3000)
    theta, loss = drawn.theta[:, 0], decisions.tilted(0.2)
    ours, theirs = self_normalised(loss(theta, 0.3), drawn.log_weights), decisions.p_risk(loss, theta, 0.3, drawn.log_weights)
    assert np.allclose(ours, theirs, rtol=1e-5)
    truth = quadrature(lambda t: float(loss(t, 0.3)) * P.pdf(t))
    assert abs(float(ours.value) - truth) / float(ours.standard_error) < BOUND


def test_functions_of_several_values_and_a_constant_that_cancels():
    drawn = importance_sample(jax.random.key(1), log_target, NORMAL, LAM, 400)
    both = jnp.concatenate([drawn.theta, drawn.theta**2], axis=1)
    for estimator in (unnormalised, self_normalised):
        estimate = estimator(both, drawn.log_weights)
        each = [estimator(both[:, k], drawn.log_weights) for k in (0, 1)]
        assert np.allclose(estimate.value, [e.value for e in each], rtol=1e-5)
        assert np.allclose(estimate.standard_error, [e.standard_error for e in each], rtol=1e-4)
    moved = self_normalised(both, drawn.log_weights + 500.0)
    assert np.allclose(moved.value, self_normalised(both, drawn.log_weights).value, rtol=1e-3)


def test_weights_that_are_all_zero_estimate_zero_unless_they_are_normalised():
    nowhere = jnp.full(3, -jnp.inf)
    assert [float(part) for part in unnormalised(jnp.ones(3), nowhere)] == [0.0, 0.0, 0.0]
    assert [float(part) for part in jax.jit(unnormalised)(jnp.ones(3), nowhere)] == [0.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="-inf everywhere"):
        self_normalised(jnp.ones(3), nowhere)


def log_weights_of(sd, seed, draws=4000):
    """Of the standard normal from draws of one with another spread."""
    lam = families.Diagonal(jnp.zeros(1), jnp.log(jnp.array([sd])))
    return importance_sample(jax.random.key(seed), lambda t: -0.5 * t @ t, NORMAL, lam, draws).log_weights


def test_the_pareto_shape_tells_a_wide_proposal_from_a_narrow_one():
    """The tail of the weights has shape 1 - 0.25^2 = 0.94 for the narrow one; for the wide one they are bounded."""
    shapes = {sd: np.array([pareto_smooth(log_weights_of(sd, seed)).k_hat for seed in range(10)]) for sd in (1.3, 0.25)}
    assert shapes[1.3].mean() < 0.4
    assert shapes[0.25].mean() > 0.7


@pytest.mark.parametrize("sd", [1.3, 0.7, 0.25])
def test_smoothing_is_arviz_and_keeps_all_but_the_largest(sd):
    log_weights = np.asarray(log_weights_of(sd, 3), float)
    smoothed = pareto_smooth(log_weights)
    theirs, k_hat = array_stats.psislw(-log_weights)
    assert smoothed.k_hat == pytest.approx(float(k_hat), abs=1e-6)
    normalised = theirs - np.logaddexp.reduce(theirs)
    assert np.allclose(smoothed.log_weights, normalised, atol=1e-3)
    assert float(jnp.exp(smoothed.log_weights).sum()) == pytest.approx(1, abs=1e-4)
    small = np.argsort(log_weights)[:3500]
    assert np.ptp(np.asarray(smoothed.log_weights)[small] - log_weights[small]) < 1e-3


def test_smoothing_survives_weights_that_single_precision_cannot_hold():
    log_weights = np.array(log_weights_of(1.3, 0), float)
    log_weights[:50] = -np.inf
    assert pareto_smooth(log_weights).k_hat == pytest.approx(pareto_smooth(log_weights - 900.0).k_hat, abs=1e-9)
    assert (np.asarray(pareto_smooth(log_weights).log_weights)[:50] < -100).all()


def test_a_perfect_proposal_has_no_tail():
    smoothed = pareto_smooth(np.full(100, -3.0))
    assert smoothed.k_hat == -np.inf
    assert np.allclose(smoothed.log_weights, -np.log(100))


BAD = [
    (lambda: importance_sample(jax.random.key(0), log_target, NORMAL, LAM, 1), "draws is 1"),
    (lambda: unnormalised(jnp.ones(1), jnp.zeros(1)), "values has 1 draw"),
    (lambda: unnormalised(jnp.ones(3), jnp.zeros(2)), r"log_weights has shape \(2,\)"),
    (lambda: unnormalised(jnp.ones(2), jnp.array([0.0, jnp.nan])), r"holds NaN or \+inf"),
    (lambda: self_normalised(jnp.ones(2), jnp.array([0.0, jnp.inf])), r"holds NaN or \+inf"),
    (lambda: self_normalised(jnp.array([1.0, jnp.nan]), jnp.zeros(2)), "values holds nan"),
    (lambda: self_normalised(1.0, jnp.zeros(1)), r"values has shape \(\)"),
    (lambda: pareto_smooth(jnp.zeros(24)), "at least 25 draws"),
    (lambda: pareto_smooth(jnp.zeros((2, 30))), r"log_weights has shape \(2, 30\)"),
    (lambda: pareto_smooth(jnp.full(30, jnp.nan)), "holds NaN"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
