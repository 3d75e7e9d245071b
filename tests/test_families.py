"""Families: densities by quadrature and SciPy, maps by automatic differentiation."""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats

from course_pkg import families as f

BASES = {
    "normal": (f.normal(), stats.norm()),
    "laplace": (f.laplace(), stats.laplace()),
    "logistic": (f.logistic(), stats.logistic()),
    "student": (f.student_t(5.0), stats.t(5.0)),
}
KEY = jax.random.key(0)


@pytest.mark.parametrize("name", BASES)
def test_base_against_scipy(name):
    base, theirs = BASES[name]
    grid = np.linspace(-6, 6, 25)
    assert np.allclose(base.log_prob(jnp.asarray(grid)), theirs.logpdf(grid), rtol=1e-5, atol=1e-5)
    assert base.entropy == pytest.approx(theirs.entropy(), rel=1e-4)
    # four tests at this level: one false alarm in 10^4 runs
    draws = np.asarray(base.sample(KEY, (5000,)))
    assert stats.kstest(draws, theirs.cdf).pvalue > 2.5e-5


def random_parameters(family, dim, seed=1):
    rng = np.random.default_rng(seed)
    return jax.tree.map(lambda a: jnp.asarray(0.5 * rng.normal(size=a.shape), a.dtype), family.init(dim))


FAMILIES = {
    "mean field": f.mean_field_normal(),
    "laplace": f.location_scale(f.laplace()),
    "full rank": f.full_rank_normal(),
    "full rank t": f.full_rank(f.student_t(4.0)),
    "composed": f.compose(f.full_rank_normal(), f.location_scale(f.logistic())),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_map_and_inverse_and_log_det(name):
    with jax.enable_x64(True):
        family = FAMILIES[name]
        lam = random_parameters(family, 4)
        eps = jax.random.normal(KEY, (4,))

        @jax.jit
        def there_and_back(eps):
            back = family.standardize(lam, family.transform(lam, eps))
            return back, jax.jacobian(family.transform, argnums=1)(lam, eps), family.log_det(lam, eps)

        back, jacobian, log_det = there_and_back(eps)
        assert np.allclose(back, eps)
        assert float(log_det) == pytest.approx(np.linalg.slogdet(jacobian)[1])
        assert f.dimension(family, lam) == 4


@pytest.mark.parametrize("name", FAMILIES)
def test_density_integrates_to_one_and_entropy_is_minus_its_mean_log(name):
    family = FAMILIES[name]
    lam = random_parameters(family, 1)

    compiled = jax.jit(lambda t: f.log_prob(family, lam, t[None]))
    log = lambda t: float(compiled(t))
    centre = float(family.transform(lam, jnp.zeros(1))[0])
    pieces = [centre - 60, centre - 2, centre, centre + 2, centre + 60]
    integral = lambda value: sum(integrate.quad(value, a, b, limit=200)[0] for a, b in pairwise(pieces))
    assert integral(lambda t: np.exp(log(t))) == pytest.approx(1, abs=2e-3)
    assert -integral(lambda t: np.exp(log(t)) * log(t)) == pytest.approx(float(f.entropy(family, lam)), abs=1e-2)


def test_full_rank_normal_against_scipy():
    family = f.full_rank_normal()
    lam = random_parameters(family, 3)
    L = np.asarray(f.triangle(lam))
    theta = np.array([0.3, -0.2, 1.0])
    theirs = stats.multivariate_normal(np.asarray(lam.mu), L @ L.T)
    assert float(f.log_prob(family, lam, jnp.asarray(theta))) == pytest.approx(theirs.logpdf(theta), rel=1e-4)
    assert float(f.entropy(family, lam)) == pytest.approx(theirs.entropy(), rel=1e-5)
    draws = np.asarray(f.sample(KEY, family, lam, 40_000))
    # nine entries: |z| below 5 fails by chance once in 10^5 runs; the error of a covariance entry is about sd * sd * sqrt(2 / n)
    scale = np.sqrt(np.outer(np.diag(theirs.cov), np.diag(theirs.cov)) * 2 / 40_000)
    assert (np.abs(np.cov(draws.T) - theirs.cov) / scale).max() < 5


def test_a_student_t_of_few_degrees_has_the_right_entropy_and_no_mean():
    assert f.student_t(1.0).entropy == pytest.approx(np.log(4 * np.pi), rel=1e-5)
    assert f.student_t(1e8).entropy == pytest.approx(f.normal().entropy, rel=1e-6)  # where single precision would cancel


BAD = [
    (lambda: f.student_t(0.0), "df is 0"),
    (lambda: f.mean_field_normal().init(0), "dim is 0"),
    (lambda: f.full_rank_normal().init(0), "dim is 0"),
    (lambda: f.sample(KEY, f.mean_field_normal(), f.mean_field_normal().init(1), 0), "draws is 0"),
    (lambda: f.entropy(f.mean_field_normal()._replace(affine=False), f.mean_field_normal().init(1)), "not affine"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("name", ["mean field", "full rank"])
def test_own_units_are_slopes_along_moves_by_the_family_s_own_widths(name):
    """By another road: differentiate the bound itself along the moves, for a normal posterior."""
    family = FAMILIES[name]
    lam, target = random_parameters(family, 3), random_parameters(f.full_rank_normal(), 3)
    precision = jnp.linalg.inv(f.triangle(target) @ f.triangle(target).T)

    def bound(mu, L):
        return -0.5 * (mu - target.mu) @ precision @ (mu - target.mu) - 0.5 * jnp.trace(precision @ L @ L.T) + jnp.log(jnp.diag(L)).sum()

    def root(lam):
        return f.triangle(lam) if name == "full rank" else jnp.diag(jnp.exp(lam.log_sigma))

    L, rows = root(lam), jnp.tril_indices(3, -1)
    moved = lambda a, B: bound(lam.mu + L @ a, L @ (jnp.eye(3) + B))
    a, B = jax.grad(moved, (0, 1))(jnp.zeros(3), jnp.zeros((3, 3)))
    own = jnp.concatenate([a, jnp.diag(B) / jnp.sqrt(2.0), B[rows] if name == "full rank" else jnp.zeros(0)])
    found = f.own_units(lam, jax.grad(lambda lam: bound(lam.mu, root(lam)))(lam))
    np.testing.assert_allclose(found, own, rtol=2e-3, atol=2e-3 * float(jnp.abs(own).max()))
    assert f.own_units((lam, lam), (lam, lam)) is None
