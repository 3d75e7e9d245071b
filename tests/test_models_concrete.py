"""The concrete models against SciPy's densities, the determinant of their own unconstraining map, and their own predictions."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from scipy import stats

from course_pkg import models as m
from course_pkg.gradients import take

RNG = np.random.default_rng(1)
N = 6
X = RNG.normal(size=(N, 2))
Y = RNG.normal(size=N)
GROUP = np.array([0, 1, 2, 2, 1, 1])
CELLS = m.Cells(np.array([0, 1, 3, 3]), np.array([2, 0, 1, 2]), np.array([1.0, -2.0, 0.5, 30.0]))
SCHOOLS = m.Schools(np.array([28.0, 8.0, -3.0]), np.array([15.0, 10.0, 16.0]))


def norm(x, mean, sd):
    return stats.norm.logpdf(x, mean, sd).sum()


def tanh_network(v, x):
    hidden = np.tanh(x @ v["weights_1"] + v["biases_1"])
    return (hidden @ v["weights_2"] + v["biases_2"])[:, 0]


def radon_mean(v, group, x):
    return v["a"][group] + x @ v["b"]


class Case(NamedTuple):
    """A model, data for it, and what SciPy says of it, from the named values ``v``."""

    model: m.Model
    data: Any
    prior: Any  # v -> log density of the named values
    likelihood: Any  # v -> log likelihood
    covariates: Any
    predictive: Any = None  # v -> (mean, sd) of the prediction at the covariates; None for a discrete outcome
    known: tuple[str, ...] = ()  # values that constrain adds and theta does not hold


def schools_prior(v):
    return norm(v["mu"], 0, 5) + stats.halfcauchy.logpdf(v["tau"], scale=5) + norm(v["theta"], v["mu"], v["tau"])


def schools_case(**options):
    return Case(
        m.eight_schools(schools=3, **options),
        SCHOOLS,
        schools_prior,
        lambda v: norm(SCHOOLS.y, v["theta"], SCHOOLS.sigma),
        SCHOOLS.sigma,
        lambda v: (v["theta"], SCHOOLS.sigma),
    )


def radon_case(centred):
    data = m.Grouped(GROUP, X, Y)

    def prior(v):
        sds = stats.uniform.logpdf([v["sigma_a"], v["sigma_y"]], 0, 10).sum()
        return norm(v["mu_a"], 0, 2) + norm(v["b"], 0, 2) + norm(v["a"], v["mu_a"], v["sigma_a"]) + sds

    return Case(
        m.hierarchical_regression(3, 2, centred=centred, prior_sd=2.0, largest_sd=10.0),
        data,
        prior,
        lambda v: norm(Y, radon_mean(v, GROUP, X), v["sigma_y"]),
        (GROUP, X),
        lambda v: (radon_mean(v, GROUP, X), np.full(N, v["sigma_y"])),
    )


def network_case(noise_sd):
    weights = ("weights_1", "biases_1", "weights_2", "biases_2")

    def prior(v):
        noise = 0.0 if noise_sd else stats.halfnorm.logpdf(v["noise_sd"], scale=0.5)
        return sum(norm(v[name], 0, 1.5) for name in weights) + noise

    return Case(
        m.neural_network(2, (3,), noise_sd=noise_sd, prior_sd=1.5, noise_scale=0.5),
        m.Rows(X, Y),
        prior,
        lambda v: norm(Y, tanh_network(v, X), v["noise_sd"]),
        X,
        lambda v: (tanh_network(v, X), np.full(N, v["noise_sd"])),
        ("noise_sd",) if noise_sd else (),
    )


def factorization_case(data, likelihood):
    def cell_mean(v):
        return (v["rows"][CELLS.row] * v["columns"][CELLS.column]).sum(axis=1)

    return Case(
        m.matrix_factorization(4, 3, 2, noise_sd=0.7, row_sd=10.0, column_sd=2.0),
        data,
        lambda v: norm(v["rows"], 0, 10) + norm(v["columns"], 0, 2),
        likelihood,
        (CELLS.row, CELLS.column),
        lambda v: (cell_mean(v), np.full(4, 0.7)),
    )


TABLE = np.full((4, 3), np.nan)
TABLE[CELLS.row, CELLS.column] = CELLS.value
TABLE_ROWS = m.TableRows(np.arange(4), np.nan_to_num(TABLE, nan=1e30), ~np.isnan(TABLE))  # what is hidden must not count


def cells_likelihood(v):
    return norm(CELLS.value, (v["rows"] @ v["columns"].T)[CELLS.row, CELLS.column], 0.7)


EVENTS, COUNTS = np.array([1.0, 0, 0, 1, 1, 0]), np.array([3.0, 0, 2, 5, 1, 4])
ZEROTH = np.array([[0.0], [1.0], [-2.0], [0.5], [3.0], [0.1]])


def logistic_case(data, likelihood):
    return Case(m.logistic_regression(2, [1.0, 3.0]), data, lambda v: norm(v["theta"], 0, [1, 3]), likelihood, X)


def p_of(v):
    return 1 / (1 + np.exp(-X @ v["theta"]))


CASES = {
    "normal sample": Case(
        m.normal_sample(0.25, 3.0, 2.0),
        Y,
        lambda v: norm(v["mu"], 0, 2) + stats.gamma.logpdf(v["gamma"], 3, scale=1 / 2),
        lambda v: norm(Y, v["mu"], v["gamma"] ** -0.5),
        Y,
        lambda v: (np.full(N, v["mu"]), np.full(N, v["gamma"] ** -0.5)),
    ),
    "noisy regression": Case(
        m.noisy_regression(2, [1.0, 2.0], 2.0, 3.0),
        m.Rows(X, Y),
        lambda v: norm(v["theta"], 0, [1, 2]) + stats.gamma.logpdf(v["variance"], 2, scale=1 / 3),
        lambda v: norm(Y, X @ v["theta"], v["variance"] ** 0.5),
        X,
        lambda v: (X @ v["theta"], np.full(N, v["variance"] ** 0.5)),
    ),
    "polynomial": Case(
        m.polynomial_regression(3, 0.5, 2.0),
        m.Rows(ZEROTH, Y),
        lambda v: norm(v["theta"], 0, 2),
        lambda v: norm(Y, np.polynomial.polynomial.polyval(ZEROTH[:, 0], v["theta"]), 0.5),
        ZEROTH,
        lambda v: (np.polynomial.polynomial.polyval(ZEROTH[:, 0], v["theta"]), np.full(N, 0.5)),
    ),
    "logistic": logistic_case(m.Rows(X, EVENTS), lambda v: stats.bernoulli.logpmf(EVENTS, p_of(v)).sum()),
    "logistic with counts": logistic_case(m.Trials(X, COUNTS, np.full(N, 5.0)), lambda v: stats.binom.logpmf(COUNTS, 5, p_of(v)).sum()),
    "schools": schools_case(),
    "schools, softplus": schools_case(link="softplus"),
    "schools, not centred": schools_case(centred=False),
    "schools, not centred, softplus": schools_case(centred=False, link="softplus"),
    "radon": radon_case(True),
    "radon, not centred": radon_case(False),
    "network": network_case(0.3),
    "network, noise unknown": network_case(None),
    "cells": factorization_case(CELLS, cells_likelihood),
    "table rows": factorization_case(TABLE_ROWS, cells_likelihood),
}
each_case = pytest.mark.parametrize("name", CASES)
each_continuous_case = pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.predictive])


def as_arrays(tree):
    return jax.tree.map(lambda a: jnp.asarray(a, dtype=float) if np.asarray(a).dtype.kind == "f" else jnp.asarray(a), tree)


def some_theta(case, seed=0):
    return jnp.asarray(np.random.default_rng(seed).normal(size=case.model.dim), dtype=float)


@each_case
def test_densities_are_scipy_s_times_the_determinant_of_the_unconstraining_map(name):
    case = CASES[name]
    with jax.enable_x64(True):
        data, theta = as_arrays(case.data), some_theta(case)
        named = {key: np.asarray(value) for key, value in case.model.constrain(theta).items()}

        def flat(theta):
            return ravel_pytree({key: value for key, value in case.model.constrain(theta).items() if key not in case.known})[0]

        log_slope = np.linalg.slogdet(jax.jit(jax.jacfwd(flat))(theta))[1]
        assert float(case.model.log_prior(theta)) == pytest.approx(case.prior(named) + log_slope, abs=1e-9)
        assert float(case.model.log_likelihood(theta, data)) == pytest.approx(case.likelihood(named), rel=1e-9)


@each_case
def test_gradients_stay_finite_far_out(name):
    case = CASES[name]
    data = as_arrays(case.data)
    gradient = jax.jit(jax.grad(m.log_joint, argnums=1), static_argnums=0)
    for far in (-20.0, 20.0):
        assert jnp.isfinite(gradient(case.model, jnp.full(case.model.dim, far), data)).all()


@each_case
def test_precision_is_that_of_theta(name):
    case = CASES[name]
    assert m.log_joint(case.model, some_theta(case), as_arrays(case.data)).dtype == jnp.float32
    with jax.enable_x64(True):
        theta = some_theta(case)
        assert m.log_joint(case.model, theta, as_arrays(case.data)).dtype == jnp.float64
        assert case.model.predict(jax.random.key(0), theta, as_arrays(case.covariates)).dtype == jnp.float64


@pytest.mark.parametrize("name", [name for name in CASES if "schools" not in name])  # a school's effect belongs to its place
def test_the_likelihood_is_a_sum_over_rows(name):
    case = CASES[name]
    data, theta = as_arrays(case.data), some_theta(case)
    parts = [case.model.log_likelihood(theta, take(data, jnp.array(rows)).rows) for rows in ([0, 2], [3, 1])]
    whole = case.model.log_likelihood(theta, take(data, jnp.arange(4)).rows)
    assert float(sum(parts)) == pytest.approx(float(whole), rel=1e-5)


# Two z-tests for every outcome of every case, at most; together they raise a false alarm once in 10^5 runs of fresh seeds.
BOUND = stats.norm.isf(1e-5 / 2 / (2 * N * len(CASES)))
DRAWS = 10_000


@each_continuous_case
def test_predictions_have_their_mean_and_spread(name):
    case = CASES[name]
    theta, covariates = some_theta(case), as_arrays(case.covariates)
    keys = jax.random.split(jax.random.key(2), DRAWS)
    draws = np.asarray(jax.jit(jax.vmap(case.model.predict, (0, None, None)))(keys, theta, covariates), dtype=float)
    mean, sd = case.predictive({key: np.asarray(value) for key, value in case.model.constrain(theta).items()})
    assert draws.shape == (DRAWS, len(mean))
    noise = (draws - mean) / sd
    assert np.abs(noise.mean(0) * np.sqrt(DRAWS)).max() < BOUND
    assert np.abs(((noise**2).mean(0) - 1) * np.sqrt(DRAWS / 2)).max() < BOUND
    among = np.corrcoef(noise.T)[np.triu_indices(noise.shape[1], 1)]
    assert np.abs(among).max() < 0.06  # six standard errors


@each_continuous_case
def test_predictions_are_differentiable(name):
    case = CASES[name]
    assert m.require_differentiable(case.model) is case.model
    with jax.enable_x64(True):
        theta, covariates, key = some_theta(case), as_arrays(case.covariates), jax.random.key(5)
        predict = jax.jit(lambda theta: case.model.predict(key, theta, covariates))
        forward = jax.jit(jax.jacfwd(predict))(theta)
        for place in range(0, case.model.dim, 3):
            step = jnp.zeros(case.model.dim).at[place].set(1e-6)
            by_hand = (predict(theta + step) - predict(theta - step)) / 2e-6
            assert np.allclose(forward[:, place], by_hand, atol=1e-6)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.predictive and "schools" not in name])
def test_one_row_of_covariates_makes_one_outcome(name):
    case = CASES[name]
    first = jax.tree.map(lambda a: a[0], as_arrays(case.covariates)) if name != "normal sample" else None
    assert case.model.predict(jax.random.key(0), some_theta(case), first).shape == ()


def test_one_compilation_serves_new_data():
    case = CASES["radon"]
    log_joint = jax.jit(lambda theta, data: m.log_joint(case.model, theta, data))
    for seed in range(3):
        log_joint(some_theta(case, seed), as_arrays(case.data._replace(y=Y + seed)))
    assert log_joint._cache_size() == 1


def test_the_two_kinds_of_table_agree():
    case = CASES["cells"]
    theta = some_theta(case)
    values = [case.model.log_likelihood(theta, as_arrays(data)) for data in (CELLS, TABLE_ROWS)]
    assert float(values[0]) == pytest.approx(float(values[1]), rel=1e-5)
    slope = jax.grad(case.model.log_likelihood)(theta, as_arrays(TABLE_ROWS))
    assert jnp.isfinite(slope).all()


def test_the_posterior_of_eight_schools_by_quadrature():
    """Effects integrated out by hand; the model's own density, on a grid, gives the same mean of mu."""
    y, sigma = np.array([28.0, 8, -3, 7, -1, 1, 18, 12]), np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    mu, t = np.meshgrid(np.linspace(-20, 30, 201), np.linspace(-6, 5, 221), indexing="ij")
    tau = np.exp(t)
    with jax.enable_x64(True):
        model = m.eight_schools(schools=8)
        # log p(mu, t, data) = log joint at any effects, less the log density of those effects given the rest
        given = 1 / (1 / sigma**2 + 1 / tau[..., None] ** 2)
        mean = given * (y / sigma**2 + mu[..., None] / tau[..., None] ** 2)
        theta = jnp.concatenate([mu[..., None], t[..., None], mean], axis=-1)
        log_joint = jax.jit(jax.vmap(jax.vmap(lambda p: m.log_joint(model, p, m.Schools(jnp.asarray(y), jnp.asarray(sigma))))))
        log_marginal = np.asarray(log_joint(theta)) - stats.norm.logpdf(mean, mean, np.sqrt(given)).sum(-1)
    weight = np.exp(log_marginal - log_marginal.max())
    weight /= weight.sum()
    direct = stats.norm.logpdf(mu, 0, 5) + stats.halfcauchy.logpdf(tau, scale=5) + t
    direct = direct + sum(stats.norm.logpdf(a, mu, np.sqrt(b**2 + tau**2)) for a, b in zip(y, sigma, strict=True))
    assert np.allclose(log_marginal, direct, atol=1e-8)
    assert (weight * mu).sum() == pytest.approx(4.40, abs=0.01)  # erratum P02: 5 is a standard deviation
    assert (weight * tau).sum() == pytest.approx(3.60, abs=0.02)


def test_events_are_drawn_with_their_probability_and_refuse_a_gradient():
    case = CASES["logistic"]
    theta, x = some_theta(case), as_arrays(X)
    keys = jax.random.split(jax.random.key(3), DRAWS)
    draws = jax.jit(jax.vmap(case.model.predict, (0, None, None)))(keys, theta, x)
    p = np.asarray(m.event_probability(theta, x), dtype=float)
    assert set(np.unique(draws)) == {0.0, 1.0}
    assert np.abs((np.asarray(draws).mean(0) - p) / np.sqrt(p * (1 - p) / DRAWS)).max() < BOUND
    with pytest.raises(ValueError, match="outcome of logistic_regression is discrete"):
        m.require_differentiable(case.model)
    with pytest.raises(ValueError, match="use a score-function gradient"):
        jax.grad(lambda theta: case.model.predict(jax.random.key(0), theta, x).sum())(theta)
    stopped = jax.grad(lambda theta: case.model.predict(jax.random.key(0), jax.lax.stop_gradient(theta), x).sum())(theta)
    assert not stopped.any()


BAD = [
    (lambda: m.normal_sample(0.0), "prior_precision is 0"),
    (lambda: m.normal_sample(1.0, -1.0), "shape is -1"),
    (lambda: m.noisy_regression(1, rate=np.inf), "rate is inf"),
    (lambda: m.polynomial_regression(-1, 1.0, 1.0), "degree is -1"),
    (lambda: m.powers(np.ones((3, 2)), 2), "give one column"),
    (lambda: m.logistic_regression(2, 0.0), "prior_sd is 0"),
    (lambda: m.eight_schools(link="log"), "link is 'log'"),
    (lambda: m.eight_schools(scale=0.0), "scale is 0"),
    (lambda: m.eight_schools(schools=0), "schools is 0"),
    (lambda: m.neural_network(1, (0,)), "hidden is 0"),
    (lambda: m.neural_network(1, (2,), noise_sd=0.0), "noise_sd is 0"),
    (lambda: m.matrix_factorization(3, 2, 0), "factors is 0"),
    (lambda: m.matrix_factorization(3, 2, 1, row_sd=-2.0), "row_sd is -2"),
    (lambda: m.hierarchical_regression(0, 1), "groups is 0"),
    (lambda: m.hierarchical_regression(1, 1, largest_sd=0.0), "largest_sd is 0"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
