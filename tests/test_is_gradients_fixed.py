"""Fixed-draw variational inference against its optimum in closed form, where the posterior is normal."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from course_pkg import families, gradients, lambertw, models
from course_pkg.is_gradients import fixed_draws

DIM, DRAWS = 3, 12
MEAN_FIELD, FULL_RANK = families.mean_field_normal(), families.full_rank_normal()
X = np.random.default_rng(0).normal(size=(40, DIM)) @ np.array([[1.0, 0.4, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 1.0]])
DATA = models.Rows(jnp.asarray(X), jnp.asarray(X.sum(axis=1)))
MODEL = models.linear_regression(DIM, 1.0, 3.0)
ONE = models.linear_regression(1, 1.0, 10.0)
EXACT = models.regression_posterior(DATA, 1.0, 3.0)


def kept(seed, draws=DRAWS, dim=DIM):
    """The noise that `fixed_draws` keeps."""
    return np.asarray(MEAN_FIELD.base.sample(jax.random.split(jax.random.key(seed))[0], (draws, dim)), float)


@pytest.mark.parametrize("seed", range(3))
def test_full_rank_meets_its_closed_form(seed):
    """theta = mu + L eps has the posterior's mean and covariance on the very draws, whose own are eps-bar and S."""
    found = fixed_draws(jax.random.key(seed), MODEL, FULL_RANK, DRAWS, FULL_RANK.init(DIM), DATA)
    eps = kept(seed)
    lower = np.linalg.cholesky(EXACT.covariance) @ np.linalg.inv(np.linalg.cholesky(np.cov(eps.T, ddof=0)))
    assert found.converged
    assert np.allclose(families.triangle(found.lam), lower, atol=2e-3)
    assert np.allclose(found.lam.mu, EXACT.mean - lower @ eps.mean(axis=0), atol=2e-3)


@pytest.mark.parametrize("seed", range(3))
def test_one_coordinate_meets_its_closed_form(seed):
    data = models.Rows(jnp.ones((5, 1)), jnp.arange(5.0))
    exact, eps = models.regression_posterior(data, 1.0, 10.0), kept(seed, 7, 1)
    found = fixed_draws(jax.random.key(seed), ONE, MEAN_FIELD, 7, MEAN_FIELD.init(1), data)
    sigma = np.sqrt(float(exact.covariance[0, 0])) / eps.std()
    assert float(jnp.exp(found.lam.log_sigma[0])) == pytest.approx(sigma, rel=2e-3)
    assert float(found.lam.mu[0]) == pytest.approx(float(exact.mean[0]) - sigma * eps.mean(), abs=2e-3)


def test_the_bound_is_too_high_by_a_nat_for_each_parameter_over_the_draws():
    """In the mean: p / M between the draws that were climbed and others, here with p = 9 of a family that holds the posterior."""
    draws = 60
    runs = [fixed_draws(jax.random.key(seed), MODEL, FULL_RANK, draws, FULL_RANK.init(DIM), DATA) for seed in range(40)]
    gap = [run.objective - run.fresh for run in runs]
    error = np.std(gap) / np.sqrt(len(gap))
    assert abs(np.mean(gap) - 9 / draws) < 4.5 * error + 0.02  # and a term of order 1 / M^2
    assert np.mean(gap) > 4.5 * error


def test_where_it_ends_the_gradient_on_the_draws_is_zero_for_a_map_that_bends():
    family = families.compose(families.location_scale(families.normal()), lambertw.skew(gamma_max=0.5))
    found = fixed_draws(jax.random.key(1), MODEL, family, 40, family.init(DIM), DATA)
    estimator = gradients.reparameterized(MODEL, family, 40)
    left = jax.jit(estimator.estimate)(jnp.asarray(kept(1, 40)), found.lam, None, DATA)[0]
    assert float(left.value) == pytest.approx(found.objective, rel=1e-4)
    assert max(float(jnp.abs(leaf).max()) for leaf in jax.tree.leaves(left.gradient)) < 0.5
    assert found.objective > found.fresh - 1


def test_many_rows_in_single_precision_are_climbed_to_the_top():
    """A bound of some ten thousand nats: rounding of single precision would end the climb a nat below its summit."""
    X = np.random.default_rng(3).normal(size=(20_000, 5))
    data, model = models.Rows(jnp.asarray(X), jnp.asarray(X @ np.arange(5.0))), models.linear_regression(5, 1.0, 10.0)
    exact, eps = models.regression_posterior(data, 1.0, 10.0), kept(2, 40, 5)
    found = fixed_draws(jax.random.key(2), model, MEAN_FIELD, 40, MEAN_FIELD.init(5), data)
    sigma = 1 / np.sqrt(np.diag(np.linalg.inv(exact.covariance))) / eps.std(axis=0)
    assert found.converged
    assert found.lam.mu.dtype == jnp.asarray(1.0).dtype
    assert np.allclose(np.exp(found.lam.log_sigma), sigma, rtol=0.2)  # but for what the draws' own correlations change
    assert 0 < found.objective - found.fresh < 1.5


def test_evaluations_end_a_climb():
    found = fixed_draws(jax.random.key(0), MODEL, MEAN_FIELD, 4, MEAN_FIELD.init(DIM, scale=1.0), DATA, evaluations=3)
    assert not found.converged
    assert found.evaluations < 60


BENT = families.compose(families.full_rank_normal(), lambertw.skew(gamma_max=0.3))
BAD = [
    (lambda: fixed_draws(jax.random.key(0), MODEL, FULL_RANK, DIM, FULL_RANK.init(DIM), DATA), "samples is 3 and lam is of full rank"),
    (
        lambda: fixed_draws(jax.random.key(0), MODEL, BENT, DIM, BENT.init(DIM), DATA),
        "samples is 3 and lam is of full rank in 3 dimensions",
    ),
    (lambda: fixed_draws(jax.random.key(0), MODEL, MEAN_FIELD, 1, MEAN_FIELD.init(DIM), DATA), "samples is 1"),
    (
        lambda: fixed_draws(jax.random.key(0), MODEL, MEAN_FIELD, 2, MEAN_FIELD.init(DIM)._replace(log_sigma=jnp.full(DIM, 400.0)), DATA),
        "where the bound is not finite",
    ),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
