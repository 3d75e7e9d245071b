"""Implicit gradients against derivatives of quadrature, SciPy's densities and JAX's own gamma."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy import integrate, stats

from course_pkg import implicit as im
from course_pkg import models
from course_pkg.fit import QUIET, fit
from course_pkg.gradients import once

DRAWS = 20_000
# 2 x 3 x 2 gamma, 2 x 2 beta, 3 x 2 von Mises, 4 Dirichlet tests: together one false alarm in 10^5 runs of fresh seeds.
BOUND = stats.norm.isf(1e-5 / 26 / 2)


@functools.cache
def moving_draws(sample):
    """Draws of the first coordinate and their derivatives in lam, compiled once for all values that are asked of them."""
    return jax.jit(jax.vmap(jax.value_and_grad(lambda lam, key: sample(key, lam)[0]), (None, 0)))


def slope_of_mean(sample, lam, slope, seed=0):
    """Mean and standard error, leaf by leaf, of the derivative of a value, whose ``slope`` is given, through the draw."""
    draws, moves = moving_draws(sample)(lam, jax.random.split(jax.random.key(seed), DRAWS))
    terms = [np.asarray(slope(draws)).reshape(-1, *(1,) * (t.ndim - 1)) * np.asarray(t) for t in jax.tree.leaves(moves)]
    return [(t.mean(0), t.std(0) / np.sqrt(DRAWS)) for t in terms]


def difference(expectation, x, step=1e-4):
    return (expectation(x + step) - expectation(x - step)) / (2 * step)


VALUES = {"square": (lambda x: 2 * x, lambda x: x**2), "sine": (np.cos, np.sin)}  # slope, value
GAMMA, BETA, VON_MISES, DIRICHLET = im.gamma(), im.beta(), im.von_mises(), im.dirichlet()


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(("a", "b"), [(0.7, 1.0), (3.0, 0.5), (40.0, 10.0)])
def test_gamma_gradient_against_quadrature(a, b, value):
    ours, theirs = VALUES[value]
    lam = im.Positive(jnp.log(jnp.array([a])), jnp.log(jnp.array([b])))

    def expectation(log_a, log_b):
        dist = stats.gamma(np.exp(log_a), scale=np.exp(-log_b))
        return integrate.quad(lambda u: theirs(dist.ppf(u)), 0, 1, limit=300, epsabs=1e-11)[0]

    exact = [difference(lambda t: expectation(t, np.log(b)), np.log(a)), difference(lambda t: expectation(np.log(a), t), np.log(b))]
    for (mean, error), truth in zip(slope_of_mean(GAMMA.sample, lam, ours), exact, strict=True):
        assert abs(mean[0] - truth) / error[0] < BOUND


def test_gamma_agrees_with_jax_draw_by_draw():
    shapes = jnp.array([0.3, 1.0, 2.5, 30.0, 200.0])
    keys = jax.vmap(jax.random.key)(np.arange(20))
    both = [jax.jit(jax.vmap(jax.jacobian(draw, argnums=1), (0, None)))(keys, shapes) for draw in (im.draw_gamma, jax.random.gamma)]
    assert np.allclose(*both, rtol=2e-3, atol=1e-6)


def test_beta_gradient_against_quadrature():
    a, b = 1.5, 4.0
    lam = im.Positive(jnp.log(jnp.array([a])), jnp.log(jnp.array([b])))
    for ours, theirs in VALUES.values():

        def expectation(log_a, log_b, theirs=theirs):
            return integrate.quad(lambda x: theirs(x) * stats.beta.pdf(x, np.exp(log_a), np.exp(log_b)), 0, 1)[0]

        exact = [difference(lambda t: expectation(t, np.log(b)), np.log(a)), difference(lambda t: expectation(np.log(a), t), np.log(b))]
        for (mean, error), truth in zip(slope_of_mean(BETA.sample, lam, ours), exact, strict=True):
            assert abs(mean[0] - truth) / error[0] < BOUND


@pytest.mark.parametrize("kappa", [0.2, 2.0, 150.0])
def test_von_mises_gradient_against_quadrature(kappa):
    lam = im.Circular(jnp.array([0.4]), jnp.log(jnp.array([kappa])))

    def expectation(mu, log_kappa):
        dist = stats.vonmises(np.exp(log_kappa))
        return integrate.quad(lambda x: (x + mu) ** 2 * dist.pdf(x), -np.pi, np.pi, points=[0.0], limit=200)[0]

    exact = [difference(lambda t: expectation(t, np.log(kappa)), 0.4), difference(lambda t: expectation(0.4, t), np.log(kappa))]
    for (mean, error), truth in zip(slope_of_mean(VON_MISES.sample, lam, lambda x: 2 * x), exact, strict=True):
        assert abs(mean[0] - truth) / error[0] < BOUND


def test_von_mises_distribution_function_against_scipy():
    for kappa in (0.01, 1.0, 50.0, 2000.0):
        x = np.linspace(-1, 1, 41) * min(3.1, 7 / np.sqrt(kappa))  # where draws fall
        assert np.allclose(im._von_mises_cdf(jnp.asarray(x), jnp.asarray(kappa)), stats.vonmises(kappa).cdf(x), atol=3e-5)


def test_dirichlet_gradient_against_the_closed_form():
    alpha = np.array([0.8, 2.0, 3.0, 5.0])
    lam = im.Concentrations(jnp.log(jnp.asarray(alpha)))
    total = alpha.sum()
    exact = (np.eye(4)[0] * total - alpha[0]) / total**2 * alpha  # of alpha_0 / total in log alpha
    ((mean, error),) = slope_of_mean(DIRICHLET.sample, lam, np.ones_like)
    assert (np.abs(mean - exact) / error).max() < BOUND


def test_densities_against_scipy():
    two = jnp.array([0.3, 0.6])
    lam = im.Positive(jnp.log(jnp.array([2.0, 0.5])), jnp.log(jnp.array([3.0, 1.2])))
    assert float(im.gamma().log_prob(lam, two)) == pytest.approx(stats.gamma.logpdf(two, [2, 0.5], scale=[1 / 3, 1 / 1.2]).sum(), rel=1e-4)
    assert float(im.beta().log_prob(lam, two)) == pytest.approx(stats.beta.logpdf(two, [2, 0.5], [3, 1.2]).sum(), rel=1e-4)
    simplex = np.array([0.2, 0.3, 0.5])
    three = im.Concentrations(jnp.log(jnp.array([2.0, 0.5, 1.0])))
    assert float(im.dirichlet().log_prob(three, jnp.asarray(simplex))) == pytest.approx(
        stats.dirichlet.logpdf(simplex, [2, 0.5, 1]), rel=1e-4
    )
    angles = im.Circular(jnp.array([0.1]), jnp.log(jnp.array([4.0])))
    assert float(im.von_mises().log_prob(angles, jnp.array([0.9]))) == pytest.approx(stats.vonmises.logpdf(0.8, 4.0), rel=1e-4)


def test_the_minus_sign_is_right():
    """Erratum TR4: flipped, the gradient of the mean of a gamma in its shape would be -1, not 1."""
    ((mean, error),) = slope_of_mean(im.draw_gamma, jnp.array([2.0]), np.ones_like)
    assert abs(mean - 1) / error < BOUND
    assert abs(mean + 1) / error > 50


def test_estimator_finds_a_conjugate_gamma_posterior():
    """Poisson counts with a gamma prior: the posterior is in the family, and the fit must land on it."""
    counts = jnp.array([3.0, 5.0, 2.0, 4.0, 6.0])
    model = models.Model(
        1,
        lambda theta: (jnp.log(theta) - 0.5 * theta).sum(),  # Gamma(2, 1/2), up to its constant
        lambda theta, data: (data * jnp.log(theta) - theta).sum(),
        None,
        None,
    )
    estimator = im.implicit(model, im.gamma(), 20)
    rate = optax.cosine_decay_schedule(0.1, 4000)
    run = fit(jax.random.key(0), estimator, optax.adam(rate), im.gamma().init(1), counts, 4000, QUIET)
    assert np.exp(run.lam.log_a) == pytest.approx(2 + 20, rel=0.03)
    assert np.exp(run.lam.log_b) == pytest.approx(0.5 + 5, rel=0.03)
    estimate = jax.eval_shape(lambda key: once(estimator, key, run.lam, counts), jax.random.key(1))
    assert estimate.per_sample.log_a.shape == (20, 1)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="samples is 0"):
        im.implicit(models.linear_regression(1, 1.0, 1.0), im.gamma(), 0)
    with pytest.raises(ValueError, match="dim is 1"):
        im.dirichlet().init(1)
    for family in (im.gamma(), im.beta(), im.von_mises()):
        with pytest.raises(ValueError, match="dim is 0"):
            family.init(0)


def test_a_draw_far_out_keeps_its_value():
    def slope_and_draw(theta):
        return im.attach_gradient(lambda t, rate: 1 - jnp.exp(-rate * t), lambda t, rate: jnp.log(rate) - rate * t, theta, 1.0)

    assert float(slope_and_draw(jnp.float32(200.0))) == 200.0  # its density is zero in single precision
