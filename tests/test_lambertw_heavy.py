"""Heavy tails: the map and its inverse, the density by quadrature against moments in closed form, slopes at a delta of zero."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, special, stats

from course_pkg import families as f
from course_pkg import lambertw as lw

DELTAS = [0.0, 1e-12, 0.05, 0.15, 0.9]


@pytest.mark.parametrize("delta", DELTAS)
def test_there_and_back_and_against_scipy_s_w(delta):
    z = np.concatenate([-np.geomspace(1e-6, 12, 40), [0.0], np.geomspace(1e-6, 12, 40)])
    with jax.enable_x64(True):
        x = np.asarray(lw.heavy(z, delta))
        back = np.asarray(lw.heavy_inverse(x, delta))
    assert np.allclose(back, z, rtol=1e-12, atol=0)
    if delta > 0:
        theirs = np.sign(x) * np.sqrt(special.lambertw(delta * x**2).real / delta)
        assert np.allclose(back, theirs, rtol=1e-10)


@pytest.mark.parametrize("delta", DELTAS[:4])
def test_moments_of_the_density_by_quadrature_are_those_in_closed_form(delta):
    """Of order n with a normal base: (n - 1)!! (1 - n delta)^(-(n + 1) / 2), where n delta < 1."""
    with jax.enable_x64(True):
        density = jax.jit(lambda y: jnp.exp(lw.heavy_log_density(y, 0.0, 1.0, delta)))
        for order, factor in ((0, 1), (2, 1), (4, 3)):
            found = 2 * integrate.quad(lambda y, n=order: y**n * float(density(y)), 0, np.inf, limit=400, epsabs=1e-12)[0]
            assert found == pytest.approx(factor * (1 - order * delta) ** (-(order + 1) / 2), rel=1e-5)


@pytest.mark.parametrize("delta", [0.0, 0.1, 0.5])
def test_the_density_of_another_base_is_the_slope_of_its_distribution_function(delta):
    y, step = np.linspace(-7, 9, 33), 1e-4
    with jax.enable_x64(True):
        cdf = lambda y: stats.logistic.cdf(np.asarray(lw.heavy_inverse((y - 1) / 2, delta)))
        slope = (cdf(y + step) - cdf(y - step)) / (2 * step)
        assert np.allclose(np.exp(lw.heavy_log_density(y, 1.0, 2.0, delta, f.logistic())), slope, rtol=1e-6)


def test_derivatives_in_delta_at_zero_and_beyond():
    with jax.enable_x64(True):
        x, step = np.array([-3.0, -0.2, 0.0, 1.0, 4.0]), 1e-6
        for delta in (0.0, 0.3):
            ours = jax.vmap(jax.grad(lambda x, d: lw.heavy_log_density(x, 0.1, 1.2, d), argnums=1), (0, None))(jnp.asarray(x), delta)
            up, more = (np.asarray(lw.heavy_log_density(x, 0.1, 1.2, delta + k * step)) for k in (1, 2))
            here = np.asarray(lw.heavy_log_density(x, 0.1, 1.2, delta))
            assert np.allclose(ours, (4 * up - more - 3 * here) / (2 * step), rtol=1e-4, atol=1e-6)


def test_it_makes_heavy_data_normal_again():
    z = np.random.default_rng(1).normal(size=4000)
    x = np.asarray(lw.heavy(z, 0.2), float)
    assert stats.kurtosis(x) > 3
    assert np.allclose(lw.heavy_inverse(x, 0.2), z, atol=1e-4)


BAD = [
    (lambda: lw.heavy(1.0, -0.1), "delta holds -0.1; give nothing below 0"),
    (lambda: lw.heavy_inverse([1.0, np.nan], 0.1), "x holds nan"),
    (lambda: lw.heavy_log_density(1.0, 0.0, 0.0, 0.1), "sigma holds 0; give scales above 0"),
    (lambda: lw.heavy_log_density(1.0, 0.0, 1.0, [-0.1]), "delta holds -0.1"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
