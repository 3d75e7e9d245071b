"""The loop: where it ends, that chunks change nothing, and how it fails."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from course_pkg import families, gradients, models
from course_pkg import fit as fitting
from course_pkg.fit import QUIET, Settings, fit, robbins_monro

X = jax.random.normal(jax.random.key(1), (40, 2))
DATA = models.Rows(X, X @ jnp.array([1.0, -2.0]) + jax.random.normal(jax.random.key(2), (40,)))
MODEL = models.linear_regression(2, 1.0, 3.0)
FAMILY = families.full_rank_normal()
ESTIMATOR = gradients.path_derivative(MODEL, FAMILY, 4)
KEY = jax.random.key(0)


def quadratic(noise_sd):
    """Climb -lam^2 / 2 on noisy slopes: everything about the run has a closed form."""

    def estimate(noise, lam, state, data):
        gradient = -lam + noise_sd * noise
        return gradients.Estimate(-0.5 * (lam**2).sum(), gradient, gradient[None]), state

    return gradients.Estimator(lambda key, lam, data: (), lambda key, lam, data: jax.random.normal(key, lam.shape), estimate)


def test_full_rank_fit_lands_on_the_exact_posterior():
    run = fit(KEY, ESTIMATOR, optax.adam(optax.cosine_decay_schedule(0.05, 3000)), FAMILY.init(2), DATA, 3000, QUIET)
    exact = models.regression_posterior(DATA, 1.0, 3.0)
    L = families.triangle(run.lam)
    assert np.allclose(run.lam.mu, exact.mean, atol=1e-3)
    assert np.allclose(L @ L.T, exact.covariance, rtol=2e-2, atol=1e-4)
    evidence = jax.scipy.stats.multivariate_normal.logpdf(DATA.y, jnp.zeros(40), jnp.eye(40) + 9 * X @ X.T)
    assert run.objective[-1] == pytest.approx(float(evidence), abs=2e-3)


@pytest.fixture
def optimised():
    """The compiler as readers have it; the quick tier has it leave out its costly passes."""
    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", False)
    yield
    jax.config.update("jax_disable_most_optimizations", before)


@pytest.mark.usefixtures("optimised")
def test_blocks_and_the_bar_change_no_digit(monkeypatch, capsys):
    runs = []
    for block, progress in ((1000, False), (1000, True), (7, False), (1, False)):
        monkeypatch.setattr(fitting, "BLOCK", block)
        # an optimiser of its own has every run compile anew
        runs.append(fit(KEY, ESTIMATOR, optax.adam(0.05), FAMILY.init(2), DATA, 150, Settings(progress=progress, label="plain")))
    for run in runs[1:]:
        assert np.array_equal(run.objective, runs[0].objective)
        assert jax.tree.all(jax.tree.map(lambda a, b: bool((a == b).all()), run.lam, runs[0].lam))
    assert "plain: 100%" in capsys.readouterr().err  # the bar was there, under its name


def test_noise_that_does_not_fit_is_drawn_in_smaller_blocks(monkeypatch):
    expected = fit(KEY, ESTIMATOR, optax.sgd(0.001), FAMILY.init(2), DATA, 40, QUIET)
    monkeypatch.setattr(fitting, "NOISE", 24)  # three steps of 4 x 2 numbers
    assert np.array_equal(fit(KEY, ESTIMATOR, optax.sgd(0.001), FAMILY.init(2), DATA, 40, QUIET).objective, expected.objective)


def test_record_and_history():
    run = fit(KEY, quadratic(0.0), optax.sgd(0.5), jnp.array([8.0]), None, 4, QUIET, record=lambda lam, state: {"lam": lam})
    assert run.recorded["lam"].ravel().tolist() == [8.0, 4.0, 2.0, 1.0]
    assert run.objective.tolist() == [-32.0, -8.0, -2.0, -0.5]
    assert run.lam.tolist() == [0.5]
    assert run.average is None
    assert run.converged is None  # four steps tell nothing


def test_averaged_iterates():
    run = fit(KEY, quadratic(0.0), optax.sgd(0.5), jnp.array([8.0]), None, 4, Settings(average=0.5, progress=False))
    assert run.average.tolist() == [(1.0 + 0.5) / 2]
    noisy = fit(KEY, quadratic(1.0), optax.sgd(0.2), jnp.zeros(50), None, 4000, Settings(average=0.5, progress=False))
    assert float((noisy.average**2).mean()) < float((noisy.lam**2).mean()) / 10


def test_a_constant_rate_rattles_and_robbins_monro_settles():
    # the stationary variance of x <- (1 - a) x + a noise is a / (2 - a)
    constant = fit(KEY, quadratic(1.0), optax.sgd(0.2), jnp.zeros(4000), None, 200, Settings(progress=False, judge=False))
    assert float(constant.lam.var()) == pytest.approx(0.2 / 1.8, rel=0.12)  # 12 % is five standard errors of a variance of 4,000
    settled = fit(
        KEY, quadratic(1.0), optax.sgd(robbins_monro(0.5, power=1.0)), jnp.zeros(4000), None, 2000, Settings(progress=False, judge=False)
    )
    assert float(settled.lam.var()) < float(constant.lam.var()) / 30


def test_rates_that_shrink_too_fast_stop_short():
    slow = fit(KEY, quadratic(0.0), optax.sgd(lambda t: 0.5 * (1.0 + t) ** -1.2), jnp.array([10.0]), None, 20_000, QUIET)
    right = fit(KEY, quadratic(0.0), optax.sgd(robbins_monro(0.5, power=0.7)), jnp.array([10.0]), None, 20_000, QUIET)
    assert float(slow.lam[0]) > 0.4
    assert float(right.lam[0]) < 1e-3


def test_record_sees_the_parameters_of_a_step_and_the_state_that_it_left():
    """In closed form: halved at each step, and counted."""
    plain = quadratic(0.0)
    count = lambda noise, lam, state, data: (plain.estimate(noise, lam, (), data)[0], state + 1)
    counting = gradients.Estimator(lambda key, lam, data: jnp.array(0), plain.draw, count)
    run = fit(KEY, counting, optax.sgd(0.5), jnp.array([8.0]), None, 4, QUIET, record=lambda lam, state: (lam[0], state))
    assert run.recorded[0].tolist() == [8.0, 4.0, 2.0, 1.0]
    assert run.recorded[1].tolist() == [1, 2, 3, 4]
    assert int(run.state) == 4


def test_a_run_that_stops_before_its_averaged_part_has_no_average():
    options = {"tolerance": 0.5, "window": 20, "average": 0.1}
    run = fit(KEY, quadratic(0.0), optax.sgd(1e-5), jnp.array([8.0]), None, 10_000, Settings(progress=False, **options))
    assert len(run.objective) == 40
    assert run.average is None


def test_full_rank_in_one_dimension_has_nothing_below_the_diagonal():
    data = models.Rows(DATA.x[:, :1], DATA.y)
    estimator = gradients.path_derivative(models.linear_regression(1, 1.0, 3.0), FAMILY, 4)
    run = fit(KEY, estimator, optax.adam(optax.cosine_decay_schedule(0.05, 2000)), FAMILY.init(1), data, 2000, QUIET)
    exact = models.regression_posterior(data, 1.0, 3.0)
    assert np.allclose(run.lam.mu, exact.mean, atol=1e-3)
    assert float(jnp.exp(2 * run.lam.log_diagonal[0])) == pytest.approx(float(exact.covariance[0, 0]), rel=2e-2)
    assert run.lam.below.shape == (0,)


def test_stopping_rule():
    flat = fit(KEY, ESTIMATOR, optax.adam(0.05), FAMILY.init(2), DATA, 20_000, Settings(tolerance=1e-4, window=500, progress=False))
    assert flat.converged
    assert len(flat.objective) % 500 == 0
    assert len(flat.objective) < 20_000


def broken_after(step, what):
    """Gradients that turn into ``what`` in the second parameter at step ``step``."""

    def estimate(noise, lam, state, data):
        sick = jnp.where(state == step, what, 0.0)
        gradient = {"a": -lam["a"], "b": -lam["b"] + sick}
        return gradients.Estimate(-sum((v**2).sum() for v in lam.values()), gradient, gradient), state + 1

    return gradients.Estimator(lambda key, lam, data: jnp.array(0), lambda key, lam, data: jnp.zeros(()), estimate)


@pytest.mark.parametrize(
    ("step", "what"),
    [
        (0, jnp.inf),
        (37, jnp.nan),
        *(pytest.param(*case, marks=pytest.mark.thorough) for case in ((0, jnp.nan), (3, jnp.nan), (3, jnp.inf), (37, jnp.inf))),
    ],
)
def test_a_gradient_that_is_not_finite_is_found_and_the_last_good_state_kept(what, step):
    start = {"a": jnp.ones(2), "b": jnp.ones(3)}
    with pytest.raises(fitting.NotFiniteError, match=rf"'b'.* at step {step},") as caught:
        fit(KEY, broken_after(step, what), optax.adam(0.01), start, None, 60, QUIET)
    assert caught.value.step == step
    assert "b" in caught.value.parameter
    kept = caught.value.fit
    assert len(kept.objective) == step
    assert all(np.isfinite(v).all() for v in kept.lam.values())
    if step:
        short = fit(KEY, broken_after(10**6, what), optax.adam(0.01), start, None, step, QUIET)
        assert np.allclose(kept.lam["b"], short.lam["b"])


@pytest.mark.parametrize("hiding", [optax.clip(1.0), pytest.param(optax.scale_by_sign(), marks=pytest.mark.thorough), optax.zero_nans()])
def test_an_optimiser_that_hides_a_gradient_that_is_not_finite_does_not_hide_it_from_the_run(hiding):
    start = {"a": jnp.ones(2), "b": jnp.ones(3)}
    with pytest.raises(fitting.NotFiniteError, match=r"'b'.* at step 3,"):
        fit(KEY, broken_after(3, jnp.inf), optax.chain(hiding, optax.sgd(0.01)), start, None, 60, QUIET)


def test_a_bare_array_is_called_lam():
    def estimate(noise, lam, state, data):
        return gradients.Estimate(lam.sum(), lam * jnp.nan, lam[None]), state

    sick = gradients.Estimator(lambda key, lam, data: (), lambda key, lam, data: jnp.zeros(()), estimate)
    with pytest.raises(fitting.NotFiniteError, match="gradient of lam at step 0") as caught:
        fit(KEY, sick, optax.sgd(0.01), jnp.ones(2), None, 10, Settings(average=0.5, progress=False), record=lambda lam, state: lam)
    assert caught.value.fit.recorded is None
    assert caught.value.fit.average is None
    assert caught.value.fit.lam.tolist() == [1.0, 1.0]


def test_new_data_of_the_same_shape_compile_nothing():
    optimizer = optax.sgd(0.01)
    fit(KEY, ESTIMATOR, optimizer, FAMILY.init(2), DATA, 10, QUIET)
    before = fitting._block._cache_size()
    fit(jax.random.key(9), ESTIMATOR, optimizer, FAMILY.init(2), DATA._replace(y=DATA.y + 1), 10, QUIET)
    assert fitting._block._cache_size() == before


def test_double_precision():
    with jax.enable_x64(True):
        data = jax.tree.map(lambda a: jnp.asarray(a, dtype=float), DATA)
        run = fit(KEY, ESTIMATOR, optax.adam(0.05), FAMILY.init(2), data, 20, QUIET)
        assert run.lam.mu.dtype == jnp.float64


PLAIN = inspect.unwrap(fit)  # without the types that only the tests check
SGD = optax.sgd(0.1)
BAD = [
    (lambda: PLAIN(0, ESTIMATOR, SGD, FAMILY.init(2), DATA, 5, QUIET), r"key is 0; give one random key, such as jax.random.key\(0\)"),
    (lambda: PLAIN(KEY, FAMILY, SGD, FAMILY.init(2), DATA, 5, QUIET), "estimator is Family.* give an Estimator"),
    (lambda: PLAIN(KEY, ESTIMATOR, 0.1, FAMILY.init(2), DATA, 5, QUIET), "optimizer is 0.1; give an optimiser of optax"),
    (lambda: fit(KEY, ESTIMATOR, SGD, FAMILY, DATA, 5, QUIET), "lam has type object"),
    (lambda: fit(KEY, ESTIMATOR, SGD, families.mean_field_normal().init(2), DATA, 5, QUIET), "lam has shapes Diagonal.* give Triangular"),
    (lambda: fit(KEY, ESTIMATOR, SGD, FAMILY.init(2)._replace(log_diagonal=jnp.zeros(1)), DATA, 5, QUIET), "lam has shapes Triangular"),
    (lambda: PLAIN(KEY, ESTIMATOR, SGD, FAMILY.init(2), DATA, 2.5, QUIET), "steps is 2.5"),
    (lambda: PLAIN(KEY, ESTIMATOR, SGD, FAMILY.init(2), DATA, 5, Settings(average=None, progress=False)), "average is None"),
    (lambda: fit(KEY, ESTIMATOR, SGD, FAMILY.init(2), DATA, 5, Settings(average=float("nan"), progress=False)), "average is nan"),
    (lambda: fit(KEY, ESTIMATOR, SGD, FAMILY.init(2), DATA, 5, Settings(window=0, progress=False)), "window is 0"),
    (lambda: fit(KEY, ESTIMATOR, optax.sgd(0.1), FAMILY.init(2), DATA, 0, QUIET), "steps is 0"),
    (lambda: fit(KEY, ESTIMATOR, optax.sgd(0.1), FAMILY.init(2), DATA, 5, Settings(average=1.5, progress=False)), "average is 1.5"),
    (lambda: fit(KEY, ESTIMATOR, optax.sgd(0.1), FAMILY.init(2), DATA, 5, Settings(tolerance=-1.0, progress=False)), "tolerance is -1"),
    (lambda: fit(KEY, ESTIMATOR, SGD, FAMILY.init(2), DATA, 5, Settings(progress=0)), "progress is 0; give True or False"),
    (lambda: fit(KEY, ESTIMATOR, SGD, FAMILY.init(2), DATA, 5, Settings(judge=None, progress=False)), "judge is None"),
    (lambda: PLAIN(KEY, ESTIMATOR, SGD, FAMILY.init(2), DATA, 5, {"progress": False}), "settings is .*; give a record"),
    (lambda: fit(KEY, ESTIMATOR, SGD, FAMILY.init(2), DATA, 5, QUIET, record=lambda lam: lam), "record takes other arguments .* of two"),
    (lambda: fit(KEY, quadratic(1.0), optax.sgd(0.1), jnp.array([jnp.nan]), None, 5, QUIET), "lam holds nan"),
    (lambda: fit(KEY, quadratic(1.0), optax.sgd(0.1), {"a": jnp.zeros(0)}, None, 5, QUIET), "lam holds no number"),
    (lambda: robbins_monro(-1.0), "rate is -1"),
    (lambda: robbins_monro(1.0, power=0.4), "power is 0.4"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
