"""Densities by quadrature, samples by Kolmogorov and Smirnov, moments by quadrature, tables against what they stand for."""

from functools import cache, partial
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, special, stats

from course_pkg import families as f
from course_pkg import lambertw as lw

BASES = {
    "normal": (f.normal(), stats.norm(), lw.normal_mgf),
    "laplace": (f.laplace(), stats.laplace(), lw.laplace_mgf),
    "logistic": (f.logistic(), stats.logistic(), lw.logistic_mgf),
    "student": (f.student_t(3.0), stats.t(3.0), None),
}
SKEWS = (-0.5, -0.2, 0.0, 0.1, 0.5)
MU, SIGMA = 0.7, 1.6


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


def integral(density, places):
    return sum(integrate.quad(density, a, b, limit=300)[0] for a, b in pairwise(places))


# The skew is an argument, so that a base compiles once.
@partial(jax.jit, static_argnums=2)
def safe_density(y, gamma, base):
    return jnp.exp(lw.log_density(y, MU, SIGMA, gamma, base))


@partial(jax.jit, static_argnames="d")
def safe_map(z, gamma, d):
    return lw.g_e(z, gamma, d)


@partial(jax.jit, static_argnums=2)
def whole_density(y, gamma, base):
    return jnp.exp(lw.log_density_two_branches(y, 0.0, SIGMA, gamma, base))


@partial(jax.jit, static_argnums=2)
def first_branch(t, gamma, base):
    return jnp.exp(base.log_prob(lw.lambertw(t * gamma) / gamma)) / (t * gamma + jnp.exp(lw.lambertw(t * gamma)))


@pytest.mark.parametrize("gamma", SKEWS)
@pytest.mark.parametrize("name", BASES)
def test_safe_density_integrates_to_one(name, gamma):
    base = BASES[name][0]
    # exp(gamma z) has very long tails: integrate over t with y = mu + sinh(t)
    whole = integral(lambda t: float(safe_density(MU + np.sinh(t), gamma, base)) * np.cosh(t), [-40, -3, -1, 0, 1, 3, 40])
    assert whole == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("gamma", SKEWS)
@pytest.mark.parametrize("name", BASES)
def test_two_branches_integrate_to_one_and_one_branch_does_not(name, gamma):
    base, theirs, _ = BASES[name]
    density = lambda y: whole_density(y, gamma, base)
    if gamma == 0:
        assert float(density(1.0)) == pytest.approx(theirs.pdf(1.0 / SIGMA) / SIGMA, rel=1e-6)
        return
    (edge,) = (end for end in lw.support(0.0, SIGMA, gamma) if np.isfinite(end))
    away = np.sign(gamma)
    assert float(density(edge * (1 + 1e-6))) == 0
    # y = edge exp(-t^2) takes the infinite value at the edge away, and looks close at 0, where the second origin runs off to infinity
    near = integral(lambda t: float(density(edge * np.exp(-t * t))) * 2 * t * abs(edge) * np.exp(-t * t), [0, 0.3, 1, 3, 26])
    far = integral(lambda t: float(density(away * np.sinh(t))) * np.cosh(t), [0, 1, 3, 40])
    assert near + far == pytest.approx(1, abs=1e-5)
    first = lambda t: first_branch(t, gamma, base)
    plain_edge = -1 / (gamma * np.e)
    one = integral(lambda t: float(first(plain_edge + away * t * t)) * 2 * t, [1e-9, 0.3, abs(plain_edge) ** 0.5])
    one += integral(lambda t: float(first(away * np.sinh(t))) * np.cosh(t), [0, 1, 3, 40])
    assert one == pytest.approx(theirs.cdf(1 / abs(gamma)), abs=1e-5)  # erratum T38


def test_the_two_densities_agree_where_the_map_is_not_straight_and_few_turn_back():
    y = jnp.linspace(0.8, 12.0, 40)
    both = jax.jit(lambda y: (lw.log_density(y, MU, SIGMA, 0.2), lw.log_density_two_branches(y, MU, SIGMA, 0.2)))
    assert np.allclose(*both(y), rtol=1e-12)


@pytest.mark.parametrize("gamma", SKEWS)
@pytest.mark.parametrize("name", BASES)
def test_samples_follow_the_density(name, gamma):
    base, theirs, _ = BASES[name]
    family = f.compose(f.location_scale(base), lw.fixed_skew(gamma))
    lam = (f.Diagonal(jnp.array([MU]), jnp.array([np.log(SIGMA)])), ())
    draws = np.asarray(f.sample(jax.random.key(5), family, lam, 5000))[:, 0]
    # twenty tests at this level: one false alarm in 10^4 runs
    assert stats.kstest(draws, lambda y: theirs.cdf(np.asarray(lw.g_e_inverse((y - MU) / SIGMA, gamma)))).pvalue > 5e-6
    place = jnp.asarray(draws[:9])
    assert np.allclose(jax.vmap(lambda y: f.log_prob(family, lam, y[None]))(place), lw.log_density(place, MU, SIGMA, gamma, base))


@pytest.mark.parametrize("density", [lw.log_density, lw.log_density_two_branches])
def test_gradients_by_differences(density):
    at = np.array([[y, MU, SIGMA, gamma] for gamma in (-0.4, -1e-4, 0.0, 1e-10, 0.3) for y in (-0.3, 0.69, 1.5, 4.0)])
    for name in BASES:
        both = jax.jit(jax.vmap(jax.value_and_grad(lambda place, base=BASES[name][0]: density(*place, base))))
        steps = 1e-6 * np.concatenate([np.zeros((1, 4)), np.eye(4), -np.eye(4)])
        values, slopes = both((at[None] + steps[:, None]).reshape(-1, 4))
        (here, *beside), slopes = np.asarray(values).reshape(9, -1), slopes[: len(at)]
        with np.errstate(invalid="ignore"):  # outside its support a density has no difference
            differences = (np.stack(beside[:4], axis=1) - np.stack(beside[4:], axis=1)) / 2e-6
        inside = np.isfinite(here)
        assert inside.sum() > len(at) / 2
        off = ~np.isclose(slopes, differences, rtol=1e-4, atol=1e-4).all(axis=1) & inside
        assert not off.any(), (name, at[off])


def test_derivative_at_no_skew_is_the_series():
    """Erratum T41: the sum of u^3 - 2u, where an else-branch would say 0."""
    u = np.random.default_rng(0).gamma(2.0, size=500) - 2
    slope = jax.jit(jax.grad(lambda gamma: lw.log_density(u, 0.0, 1.0, gamma).sum()))(0.0)
    assert float(slope) == pytest.approx(float((u**3 - 2 * u).sum()), rel=1e-10)


@cache
def moments_of(mgf):
    return jax.jit(partial(lw.moments, mgf=mgf))


@pytest.mark.parametrize("name", ["normal", "laplace", "logistic"])
def test_moments_by_quadrature(name):
    _, theirs, mgf = BASES[name]
    found = moments_of(mgf)
    for gamma in (-0.2, 0.0, 0.05, 0.2):
        moment = lambda z, k, gamma=gamma: theirs.pdf(z) * (z * np.exp(gamma * z)) ** k
        raw = [integral(partial(moment, k=k), [-200, -5, 0, 5, 200]) for k in range(1, 5)]
        mean, variance = raw[0], raw[1] - raw[0] ** 2
        third = raw[2] - 3 * raw[0] * raw[1] + 2 * raw[0] ** 3
        fourth = raw[3] - 4 * raw[0] * raw[2] + 6 * raw[0] ** 2 * raw[1] - 3 * raw[0] ** 4
        wanted = [MU + SIGMA * mean, SIGMA**2 * variance, third / variance**1.5, fourth / variance**2 - 3]
        assert np.allclose(found(MU, SIGMA, gamma), wanted, rtol=1e-6, atol=1e-6)


def test_moments_of_the_safe_map_by_quadrature():
    skews = np.array([-1.1, -0.35, -1e-9, 0.0, 0.02, 0.6, 2.0])
    for d in (lw.D, -0.25, -1e-3, -0.367):
        found = lw.safe_moments(MU, SIGMA, skews, d)
        for gamma, mean, variance in zip(skews, *found, strict=True):
            knee = special.lambertw(d).real / gamma if abs(gamma) > 0.01 else 0.0
            places = [-20, *sorted({-5.0, min(max(knee, -9), 9), 5.0}), 20]
            value = partial(safe_map, gamma=gamma, d=d)
            first = integral(lambda z, value=value: stats.norm.pdf(z) * float(value(z)), places)
            square = integral(lambda z, value=value, first=first: stats.norm.pdf(z) * (float(value(z)) - first) ** 2, places)
            assert [mean, variance] == pytest.approx([MU + SIGMA * first, SIGMA**2 * square], rel=1e-9)
    for part in (0, 1):  # the slopes, at no skew too
        moment = jax.jit(jax.value_and_grad(lambda gamma, part=part: lw.safe_moments(MU, SIGMA, gamma)[part]))
        for gamma in (-0.4, 0.0, 0.3):
            (up, _), (_, slope), (down, _) = (moment(gamma + step) for step in (1e-6, 0.0, -1e-6))
            assert float(slope) == pytest.approx(float(up - down) / 2e-6, abs=1e-6)


def test_moments_of_the_normal_in_closed_form_and_where_there_are_none():
    g = 0.2
    found = moments_of(lw.normal_mgf)(0.0, 1.0, g)
    assert float(found.mean) == pytest.approx(g * np.exp(g**2 / 2))  # erratum T36
    assert float(found.variance) == pytest.approx(np.exp(2 * g**2) * (1 + 4 * g**2) - g**2 * np.exp(g**2))
    laplace = moments_of(lw.laplace_mgf)(0.0, 1.0, 0.4)
    assert np.isfinite(laplace[1])
    assert np.isnan(laplace[2])


def test_support():
    assert lw.support(1.0, 2.0, 0.5) == pytest.approx((1 - 4 / np.e, np.inf))
    assert lw.support(1.0, 2.0, -0.5) == pytest.approx((-np.inf, 1 + 4 / np.e))
    assert lw.support(1.0, 2.0, 0.0) == (-np.inf, np.inf)


@pytest.mark.parametrize(("kind", "power", "constant"), [("linear", 2, 1 / 8), ("cubic", 4, 1 / 384)])
def test_table_errs_as_theory_says(kind, power, constant):
    table = lw.tabulated(jnp.exp, -1.0, 2.0, 10, kind=kind)
    bound = constant * 0.1**power * np.exp(2.0)
    assert 0.8 * bound < table.error <= bound * 1.001
    x = np.random.default_rng(0).uniform(-1.0, 2.0, 1000)
    value, slope = jax.jit(jax.vmap(jax.value_and_grad(table)))(x)
    assert np.abs(value - np.exp(x)).max() <= table.error * 1.01
    assert np.allclose(slope, np.exp(x), rtol=0.06 if kind == "linear" else 1e-3)


def test_table_goes_on_straight_and_does_not_wrap():
    """Erratum T40: an index below 0 must not count from the end."""
    w, slope = map(np.asarray, jax.jit(jax.vmap(jax.value_and_grad(lw.lambertw)))(np.array([-0.3, 5.0, 1.0])))
    read = jax.jit(jax.vmap(jax.value_and_grad(lambda x, table: table(x)), (0, None)))
    for kind in ("cubic", "linear"):
        table = lw.tabulated(lw.lambertw, -0.3, 5.0, 100, kind=kind)
        value, steepness = map(np.asarray, read(np.array([-0.3, 5.0, -0.32, 5.2, -1e6, 1e6, 6.0, -0.5, 1.0]), table))
        assert np.allclose(value[:2], w[:2])
        below, above = value[2:4]
        assert w[0] - 0.1 < below < w[0]
        assert w[1] < above < w[1] + 0.1
        assert np.isfinite(value).all()
        if kind == "cubic":
            assert float(value[6]) == pytest.approx(float(w[1] + slope[1]))
            assert float(steepness[7]) == pytest.approx(float(slope[0]))
            assert float(value[8]) == pytest.approx(float(w[2]), abs=1e-6)
            assert float(table(6.0)) == pytest.approx(float(value[6]))  # not compiled, too


@pytest.mark.parametrize(("kind", "digits"), [("linear", 2e-6), ("cubic", 1e-11)])
def test_density_takes_a_table(kind, digits):
    table = lw.tabulated(lw.lambertw, lw.D, 5.0, 1000, kind=kind)
    y = jnp.linspace(-4.0, 9.0, 200)

    def value_and_slopes(**w):
        density = lambda t: lw.log_density(y, *t, **w)
        return jax.jit(lambda t: (density(t), jax.jacobian(density)(t)))(np.array([MU, SIGMA, 0.3]))

    (value, slopes), (exact, steepness) = value_and_slopes(w=table), value_and_slopes()
    assert np.allclose(value, exact, atol=20 * digits)
    assert np.allclose(slopes, steepness, atol=100 * digits)


BAD = [
    (lambda: lw.log_density(0.0, 0.0, 0.0, 0.1), "sigma holds 0"),
    (lambda: lw.log_density(np.nan, 0.0, 1.0, 0.1), "y holds nan"),
    (lambda: lw.log_density_two_branches(0.0, 0.0, -1.0, 0.1), "sigma holds -1"),
    (lambda: lw.moments(0.0, 1.0, np.inf), "gamma holds inf"),
    (lambda: lw.moments(0.0, -2.0, 0.1), "sigma holds -2"),
    (lambda: lw.support(0.0, 0.0, 0.1), "sigma is 0"),
    (lambda: lw.tabulated(jnp.exp, 1.0, 1.0, 10), "lo is 1 and hi is 1"),
    (lambda: lw.tabulated(jnp.exp, 0.0, 1.0, 0), "resolution is 0"),
    (lambda: lw.tabulated(jnp.exp, 0.0, 1.0, 10, kind="quintic"), "kind is 'quintic'"),
    (lambda: lw.tabulated(lw.lambertw, -0.5, 1.0, 10), "fn is not finite at -0.5"),
    (lambda: lw.tabulated(jnp.sqrt, 0.0, 1.0, 10), "the slope of fn is not finite at 0"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
