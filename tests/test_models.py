"""Models of chapter 1 against closed forms, quadrature and SciPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.linear_model import BayesianRidge, Ridge

from course_pkg import models as m

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
DATA = m.Rows(jnp.asarray(X), jnp.asarray(X @ [1.0, -2.0, 0.5] + RNG.normal(size=30)))


def test_regression_log_joint_against_scipy():
    model = m.linear_regression(3, noise_sd=0.7, prior_sd=2.0)
    theta = jnp.array([0.3, -1.0, 0.2])
    mean = np.asarray(DATA.x) @ np.asarray(theta)
    likelihood = stats.norm.logpdf(np.asarray(DATA.y), mean, 0.7).sum()
    prior = stats.norm.logpdf(np.asarray(theta), 0, 2.0).sum()
    assert float(m.log_joint(model, theta, DATA)) == pytest.approx(prior + likelihood, rel=1e-5)
    assert float(m.log_joint(model, theta, DATA, scale=10.0)) == pytest.approx(prior + 10 * likelihood, rel=1e-5)
    assert model.constrain(theta)["theta"] is theta


def test_regression_posterior_is_where_the_log_joint_is_flat_and_as_curved():
    with jax.enable_x64(True):
        model = m.linear_regression(3, noise_sd=0.7, prior_sd=jnp.array([0.5, 1.0, jnp.inf]))
        data = m.Rows(*(jnp.asarray(a, dtype=float) for a in DATA))
        posterior = m.regression_posterior(data, 0.7, jnp.array([0.5, 1.0, jnp.inf]))
        gradient = jax.grad(m.log_joint, argnums=1)(model, posterior.mean, data)
        curvature = jax.hessian(m.log_joint, argnums=1)(model, posterior.mean, data)
        assert np.allclose(gradient, 0, atol=1e-9)
        assert np.allclose(-np.linalg.inv(curvature), posterior.covariance)


def test_regression_posterior_mean_is_ridge_with_the_ratio_of_variances():
    posterior = m.regression_posterior(DATA, 0.7, 2.0)
    ridge = Ridge(alpha=0.7**2 / 2.0**2, fit_intercept=False).fit(X, DATA.y)
    assert np.allclose(posterior.mean, ridge.coef_, atol=1e-5)


def test_a_flat_intercept_is_ridge_with_an_unpenalised_intercept():
    y = DATA.y + 50.0
    with_ones = m.Rows(jnp.column_stack([jnp.ones(30), DATA.x]), y)
    posterior = m.regression_posterior(with_ones, 0.7, jnp.array([jnp.inf, 2.0, 2.0, 2.0]))
    ridge = Ridge(alpha=0.7**2 / 2.0**2).fit(X, y)
    assert np.allclose(posterior.mean[1:], ridge.coef_, atol=1e-4)
    assert float(posterior.mean[0]) == pytest.approx(ridge.intercept_, rel=1e-5)


def test_regression_predictive_against_sklearn():
    peer = BayesianRidge(fit_intercept=False).fit(X, DATA.y)
    noise, prior = peer.alpha_**-0.5, peer.lambda_**-0.5
    mean, sd = m.regression_predictive(m.regression_posterior(DATA, noise, prior), X, noise)
    theirs = peer.predict(X, return_std=True)
    assert np.allclose(mean, theirs[0], atol=1e-4)
    assert np.allclose(sd, theirs[1], rtol=1e-4)


# Two z-tests; together they raise a false alarm once in 10^5 runs of fresh seeds.
BOUND = stats.norm.isf(1e-5 / 2 / 2)


def test_regression_predict_draws_around_the_mean_and_can_be_differentiated():
    model = m.linear_regression(3, noise_sd=0.7, prior_sd=2.0)
    theta, rows = jnp.array([1.0, 0.0, -1.0]), jnp.asarray(X[:2])
    draws = jax.vmap(model.predict, (0, None, None))(jax.random.split(jax.random.key(0), 20_000), theta, rows)
    z = (draws.mean(0) - rows @ theta) / (0.7 / np.sqrt(20_000))
    assert np.abs(z).max() < BOUND
    slope = jax.grad(lambda t: model.predict(jax.random.key(1), t, rows[0]))(theta)
    assert np.allclose(slope, rows[0])


@pytest.mark.parametrize("size", [1, 5, 10])
def test_pooled_likelihood_against_scipy(size):
    model = m.pooled_testing(2.0, 30.0)
    prevalence, data = 0.03, m.Pools(np.array([3.0, 0.0]), np.array([20.0, 15.0]), np.full(2, float(size)))
    theta = jnp.array([np.log(prevalence / (1 - prevalence))])
    theirs = stats.binom.logpmf(data.positives, data.pools, 1 - (1 - prevalence) ** size).sum()
    assert float(model.log_likelihood(theta, data)) == pytest.approx(theirs, rel=1e-4)
    density = stats.beta.logpdf(prevalence, 2, 30) + np.log(prevalence * (1 - prevalence))
    assert float(model.log_prior(theta)) == pytest.approx(density, rel=1e-4)
    assert float(model.constrain(theta)["prevalence"]) == pytest.approx(prevalence, rel=1e-5)


def test_pooled_prior_integrates_to_one_and_extremes_stay_finite():
    model = m.pooled_testing(1.5, 8.0)
    total = integrate.quad(lambda t: float(jnp.exp(model.log_prior(jnp.array([t])))), -25, 15)[0]
    assert total == pytest.approx(1, abs=1e-4)
    for theta in (-30.0, 30.0):
        value, slope = jax.value_and_grad(model.log_likelihood)(jnp.array([theta]), m.Pools(3.0, 10.0, 5.0))
        assert np.isfinite(value)
        assert np.isfinite(slope).all()
    for theta in (-30.0, -100.0):  # P(positive) is 0 in single precision; with no positive pool that is no contradiction
        value, slope = jax.value_and_grad(model.log_likelihood)(jnp.array([theta]), m.Pools(0.0, 10.0, 5.0))
        assert float(value) == pytest.approx(0.0, abs=1e-6)
        assert np.isfinite(slope).all()


def test_predict_infected_is_binomial():
    model, theta = m.pooled_testing(), jnp.array([-2.0])
    keys = jax.random.split(jax.random.key(3), 4000)
    draws = jax.vmap(model.predict, (0, None, None))(keys, theta, 1000)
    p = 1 / (1 + np.exp(2.0))
    z = (float(draws.mean()) - 1000 * p) / np.sqrt(1000 * p * (1 - p) / 4000)
    assert abs(z) < BOUND


def test_check_pools_returns_counts_that_fit():
    checked = m.check_pools(m.Pools([1, 2], [4, 4], 5))
    assert checked.positives.tolist() == [1, 2]


BAD = [
    (lambda: m.linear_regression(0, 1.0, 1.0), "dim is 0"),
    (lambda: m.linear_regression(2, -1.0, 1.0), "noise_sd is -1"),
    (lambda: m.linear_regression(2, 1.0, [1.0, 0.0]), "prior_sd is"),
    (lambda: m.linear_regression(2, 1.0, [1.0, 1.0, 1.0]), "prior_sd has shape"),
    (lambda: m.regression_posterior(m.Rows(np.ones((2, 1)), np.ones(3)), 1.0, 1.0), "x has 2 rows and y 3"),
    (lambda: m.regression_posterior(m.Rows(np.ones((3, 2)), np.ones(3)), 1.0, np.inf), "improper"),
    (lambda: m.regression_posterior(m.Rows(np.ones((3, 2)), np.array([1, np.nan, 2])), 1.0, 1.0), "y holds nan"),
    (lambda: m.regression_predictive(m.Gaussian(jnp.zeros(2), jnp.eye(2)), np.ones((2, 3)), 1.0), "x has 3 columns"),
    (lambda: m.pooled_testing(0.0), "a is 0"),
    (lambda: m.check_pools(m.Pools(3, 2, 1)), "positives exceeds pools"),
    (lambda: m.check_pools(m.Pools(1.5, 2, 1)), "positives holds a fraction"),
    (lambda: m.check_pools(m.Pools(-1, 2, 1)), "positives holds -1"),
    (lambda: m.check_pools(m.Pools(0, 2, 0)), "size holds 0"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
