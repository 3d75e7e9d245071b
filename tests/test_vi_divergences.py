"""Divergences against quadrature, draws and each other's limits; what the two checks catch."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats

from course_pkg import families, models
from course_pkg.vi import Normal, alpha_normal, f_divergence, generator, kl_normal, log_affinity, psis_khat, renyi_normal, vsbc
from course_pkg.vi.checks import _symmetry

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (1, 2))]
TESTS = 30  # z-scores and p-values in this file, at most
LEVEL = 1e-5 / TESTS  # together they raise a false alarm once in 10^5 runs of fresh seeds
BOUND = stats.norm.isf(LEVEL / 2)
GRID = np.linspace(-15.0, 15.0, 20_001)
NAMES = ["forward", "reverse", "chi squared", "hellinger", "total variation"]


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


def one(mean, sd):
    return Normal(jnp.array([mean]), jnp.array([[sd**2]]))


P, Q = (0.0, 1.0), (1.0, 1.5)  # the normals of errata T03 and T04, mean and standard deviation


def on_grid(f, p=P, q=Q):
    """E_q[f(p / q)] by quadrature."""
    log_q = stats.norm.logpdf(GRID, *q)
    return integrate.trapezoid(np.exp(log_q) * np.asarray(f(jnp.exp(stats.norm.logpdf(GRID, *p) - log_q))), GRID)


def test_kl_is_its_integral():
    assert float(kl_normal(one(*P), one(*Q))) == pytest.approx(on_grid(generator("forward")), abs=1e-8)
    assert float(kl_normal(one(*Q), one(*P))) == pytest.approx(on_grid(generator("reverse")), abs=1e-8)
    q = Normal(jnp.array([0.5, -0.2]), jnp.array([[1.0, 0.3], [0.3, 0.5]]))
    p = Normal(jnp.zeros(2), jnp.array([[2.0, -0.6], [-0.6, 1.0]]))
    points = np.stack(np.meshgrid(np.linspace(-7, 8, 401), np.linspace(-6, 6, 401), indexing="ij"), axis=-1)
    log_q, log_p = (stats.multivariate_normal.logpdf(points, d.mean, d.covariance) for d in (q, p))
    cell = 15 / 400 * 12 / 400
    assert float(kl_normal(q, p)) == pytest.approx((np.exp(log_q) * (log_q - log_p)).sum() * cell, abs=1e-6)


@pytest.mark.parametrize("order", [-0.3, 0.2, 0.5, 0.75, 1.6])
def test_alpha_and_renyi_are_their_integrals_and_one_follows_from_the_other(order):
    p, q = one(*P), one(*Q)
    alpha, renyi = float(alpha_normal(p, q, order)), float(renyi_normal(p, q, order))
    assert alpha == pytest.approx(on_grid(generator("alpha", order)), abs=1e-7)
    assert renyi == pytest.approx(np.log(on_grid(lambda t: t**order)) / (order - 1), abs=1e-7)
    assert renyi == pytest.approx(np.log(1 + order * (order - 1) * alpha) / (order - 1), abs=1e-10)  # erratum T04


def test_the_printed_name_was_wrong():
    """Erratum T04: the thesis's function with 1/2 is the alpha divergence of order 3/4; doubling the data doubles Renyi's, not that."""
    p, q = one(*P), one(*Q)
    assert on_grid(lambda t: 4 * (1 - t**0.75) / (1 - 0.5**2)) == pytest.approx(float(alpha_normal(p, q, 0.75)), abs=1e-7)
    assert (float(alpha_normal(p, q, 0.75)), float(renyi_normal(p, q, 0.75))) == pytest.approx((0.3853, 0.3000), abs=1e-4)
    twice = [Normal(jnp.tile(d.mean, 2), jnp.diag(jnp.tile(jnp.diag(d.covariance), 2))) for d in (p, q)]
    assert float(renyi_normal(*twice, 0.75)) == pytest.approx(2 * float(renyi_normal(p, q, 0.75)), abs=1e-10)
    assert float(alpha_normal(*twice, 0.75) / alpha_normal(p, q, 0.75)) == pytest.approx(1.928, abs=1e-3)


def test_limits_and_special_orders():
    p, q = one(*P), one(*Q)
    forward, reverse, hellinger = float(kl_normal(p, q)), float(kl_normal(q, p)), on_grid(generator("hellinger"))
    for near in (1e-5, -1e-5):
        assert float(alpha_normal(p, q, 1 + near)) == pytest.approx(forward, abs=1e-4)
        assert float(alpha_normal(p, q, near)) == pytest.approx(reverse, abs=1e-4)
        assert float(renyi_normal(p, q, 1 + near)) == pytest.approx(forward, abs=1e-4)
        assert float(renyi_normal(p, q, near)) == pytest.approx(0, abs=1e-4)  # Renyi's goes to 0 there,
        assert float(renyi_normal(p, q, near)) / near == pytest.approx(reverse, abs=1e-4)  # as the order times KL(q || p)
    assert float(alpha_normal(p, q, 0.5)) == pytest.approx(4 * hellinger, abs=1e-8)
    assert float(renyi_normal(p, q, 0.5)) == pytest.approx(-2 * np.log(1 - hellinger), abs=1e-8)
    assert float(alpha_normal(p, q, 2.0)) == pytest.approx(0.5 * on_grid(generator("chi squared")), abs=1e-7)
    assert float(alpha_normal(q, p, 2.0)) == float(log_affinity(q, p, 2.0)) == np.inf  # the wider one over the narrower


@pytest.mark.parametrize("name", [*NAMES, "alpha"])
def test_generators_are_convex_and_vanish_at_one(name):
    """Erratum T03: a concave one gives a divergence below 0."""
    f = generator(name, 0.3 if name == "alpha" else None)
    assert float(f(jnp.array(1.0))) == pytest.approx(0, abs=1e-12)
    t = jnp.linspace(0.05, 6, 300)
    middle, chord = f(0.5 * (t[:, None] + t[None])), 0.5 * (f(t)[:, None] + f(t)[None])
    assert float((chord - middle).min()) > -1e-12
    assert on_grid(f) > 0 > on_grid(lambda t: -f(t))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", NAMES)
def test_estimates_from_draws_are_within_their_error(name, seed):
    p, q = (0.3, 0.8), (0.0, 1.0)  # p inside q, so that every variance is finite
    x = np.random.default_rng(seed).normal(*q, 20_000)
    value, error = f_divergence(generator(name), stats.norm.logpdf(x, *p) - stats.norm.logpdf(x, *q))
    assert abs(float(value) - on_grid(generator(name), p, q)) / float(error) < BOUND


def test_ratios_that_single_precision_cannot_hold_cost_what_they_should():
    """A wide q for a narrow p: the exponential of a log ratio of -200 is 0 in single precision, and minus its logarithm infinite."""
    p, q = one(0.0, 0.1), one(0.0, 1.0)
    x = np.random.default_rng(0).normal(size=4000)
    log_ratio = stats.norm.logpdf(x, 0, 0.1) - stats.norm.logpdf(x)
    assert log_ratio.min() < -300
    double, error = f_divergence(generator("reverse"), log_ratio)
    assert abs(float(double) - float(kl_normal(q, p))) / float(error) < BOUND
    chi, own = (float(f_divergence(f, log_ratio)[0]) for f in (generator("chi squared"), lambda t: (t - 1) ** 2))
    assert chi == pytest.approx(own, rel=1e-9)  # any other function is given the ratio
    with jax.enable_x64(False):
        value, _ = f_divergence(generator("reverse"), log_ratio)
        assert value.dtype == jnp.float32
        assert float(value) == pytest.approx(float(double), rel=1e-5)


@pytest.mark.parametrize(("name", "order"), [*((name, None) for name in NAMES), ("alpha", -0.2), ("alpha", 0.5), ("alpha", 1.5)])
def test_generators_keep_their_values_in_single_precision(name, order):
    f, r = generator(name, order), np.array([-300.0, -100.0, -90.0, -30.0, -3.0, 3.0, 30.0, 40.0])
    exact = np.asarray(f.of_log(r))
    with jax.enable_x64(False):
        assert np.allclose(f.of_log(jnp.asarray(r)), exact, rtol=1e-4, atol=1e-30)
        far = float(f.of_log(jnp.asarray(100.0)))  # a ratio beyond the largest number
    assert far == (-100 if name == "reverse" else np.inf)


def test_khat_passes_the_exact_posterior_and_fails_a_narrow_one():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 2))
    data = models.Rows(jnp.asarray(x), jnp.asarray(x @ [1.0, -1.0] + rng.normal(size=50)))
    model, family, exact = models.linear_regression(2, 1.0, 3.0), families.full_rank_normal(), models.regression_posterior(data, 1.0, 3.0)
    triangle = jnp.linalg.cholesky(exact.covariance)
    lam = families.Triangular(exact.mean, jnp.log(jnp.diag(triangle)), triangle[1, :1] / triangle[1, 1])
    assert psis_khat(jax.random.key(0), model, family, lam, data).k_hat == -np.inf  # equal weights
    wide = lam._replace(log_diagonal=lam.log_diagonal + 0.2)
    assert psis_khat(jax.random.key(0), model, family, wide, data).k_hat < 0.5
    narrow = lam._replace(log_diagonal=lam.log_diagonal - 1.2)
    assert psis_khat(jax.random.key(0), model, family, narrow, data).k_hat > 0.7


def simulate(key):
    first, second = jax.random.split(key)
    theta = jax.random.normal(first, (2,))
    return theta, theta + jax.random.normal(second, (2,))


def normal_draws(shift=0.0, width=1.0):
    """Draws of the exact posterior N(y / 2, 1 / 2) of each coordinate, moved or narrowed in the second."""
    move, scale = jnp.array([0.0, shift]), jnp.array([[1.0, width]]) * jnp.sqrt(0.5)
    return jax.jit(lambda key, y: (0.5 * y + move)[None] + scale * jax.random.normal(key, (500, 2)))


def test_khat_names_what_it_cannot_judge():
    data = models.Rows(jnp.ones((20, 1)), jnp.full(20, 3.0))
    model, family = models.linear_regression(1, 1.0, 3.0), families.mean_field_normal()
    lam = family.init(1)

    def khat(model=model, lam=lam, draws=100):
        return psis_khat(jax.random.key(0), model, family, lam, data, draws)

    broken, empty = (model._replace(log_prior=lambda theta, v=v: jnp.where(theta[0] > 0, v, 0.0)) for v in (jnp.nan, -jnp.inf))
    for call, words in (
        (lambda: khat(lam=family.init(2)), "lam is for 2 coordinates and the model has 1"),
        (lambda: khat(lam=lam._replace(mu=jnp.array([jnp.nan]))), "lam holds nan at position 0; .*finite number"),
        (lambda: khat(draws=10), "draws is 10; give a whole number, 25 or more"),
        (lambda: khat(broken), r"model gives a log weight of nan at theta = \["),
        (lambda: khat(empty, lam._replace(mu=jnp.array([30.0]))), "model has no mass at any of the 100 draws"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    assert np.isfinite(khat(empty).k_hat)  # half of the draws lie where the prior has no mass
    full = families.full_rank_normal()
    assert np.isfinite(psis_khat(jax.random.key(0), model, full, full.init(1), data, 100).k_hat)  # one of its parts is empty


def test_vsbc_passes_the_exact_posterior_and_sees_a_lean_and_a_width():
    exact = vsbc(jax.random.key(0), simulate, normal_draws())
    assert exact.probability.shape == (200, 2)
    assert min(exact.p_value.min(), exact.uniform_p_value.min()) > LEVEL
    leaning = vsbc(jax.random.key(1), simulate, normal_draws(shift=0.5))
    assert leaning.p_value[1] < LEVEL < leaning.p_value[0]
    narrow = vsbc(jax.random.key(2), simulate, normal_draws(width=0.4))
    assert narrow.uniform_p_value[1] < LEVEL < narrow.uniform_p_value[0]
    assert narrow.p_value[1] > LEVEL  # a U is symmetric


def test_the_p_value_of_symmetry_keeps_its_level():
    """Few outcomes make it smaller, never larger: the walk is looked at where it may stop."""
    rng = np.random.default_rng(0)
    for levels in (10**9, 20):
        p = np.array([_symmetry(rng.integers(0, levels + 1, 200) / levels) for _ in range(1000)])
        for level in (0.01, 0.05, 0.2):
            assert (p < level).mean() < level + BOUND * np.sqrt(level * (1 - level) / 1000)
    assert (p < 0.2).mean() > 0.08
    assert _symmetry(np.full(20, 0.5)) == 1
    assert _symmetry(np.full(200, 0.9)) == pytest.approx(0, abs=1e-12)


def test_p_against_one_less_p_as_two_samples_raises_twice_as_many_alarms():
    """They are one sample: the largest height of Brownian motion, not of a bridge, decides."""
    rng = np.random.default_rng(0)
    alarms = [stats.ks_2samp(p, 1 - p, method="asymp").pvalue < 0.05 for p in rng.uniform(size=(2000, 200))]
    assert abs(np.mean(alarms) - 0.11) < BOUND * np.sqrt(0.11 * 0.89 / 2000)


def call_with(**changed):
    whole = {"simulate": simulate, "approximate": normal_draws(), "repeats": 20, **changed}
    return lambda: vsbc(jax.random.key(0), **whole)


TWO = Normal(jnp.zeros(2), jnp.eye(2))
BAD = [
    (lambda: generator("kl"), 'name is \'kl\'; give "forward", "reverse"'),
    (lambda: generator("alpha", 1.0), "order is 1, which is the limit"),
    (lambda: f_divergence(generator("forward"), [0.1]), "log_ratio has 1 value"),
    (lambda: f_divergence(generator("forward"), [0.1, np.nan]), "log_ratio holds nan"),
    (lambda: renyi_normal(TWO, TWO, 1.0), "order is 1, which is the limit"),
    (lambda: alpha_normal(TWO, TWO, 0.0), "order is 0, which is the limit"),
    (lambda: kl_normal(TWO._replace(mean=jnp.zeros(3)), TWO), r"q.covariance has shape \(2, 2\); give \(3, 3\)"),
    (lambda: kl_normal(TWO, TWO._replace(covariance=-jnp.eye(2))), "p.covariance is not symmetric and positive definite"),
    (lambda: kl_normal(TWO._replace(covariance=[[1.0, 0.5], [0.0, 1.0]]), TWO), "q.covariance is not symmetric"),
    (lambda: kl_normal(TWO, one(0.0, 1.0)), "q has 2 dimensions and p 1"),
    (lambda: log_affinity(TWO, TWO, np.inf), "order is inf"),
    (call_with(repeats=5), "repeats is 5"),
    (call_with(draws=1), "draws is 1; give a whole number, 2 or more"),
    (call_with(simulate=lambda key: jnp.zeros(2)), "simulate returned something of type ArrayImpl; give a pair"),
    (call_with(simulate=lambda key: (jnp.zeros(()), 0.0)), r"simulate returned theta of shape \(\)"),
    (call_with(simulate=lambda key: (jnp.full(2, jnp.nan), 0.0)), "simulate returned theta with NaN"),
    (call_with(approximate=lambda key, data: jnp.zeros((500, 3))), r"approximate returned shape \(500, 3\)"),
    (call_with(approximate=lambda key, data: jnp.zeros((100, 2))), "approximate returned 100 draws; give at least 500"),
    (call_with(approximate=lambda key, data: jnp.full((500, 2), jnp.inf)), "approximate returned draws with NaN"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
