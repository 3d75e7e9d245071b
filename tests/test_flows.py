"""Coupling layers: the inverse by a round trip, the Jacobian by automatic differentiation, the density by quadrature."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from course_pkg import families, flows


def bent(dim, layers=3, seed=0):
    """A family of a flow whose networks say something everywhere, with parameters."""
    family = families.compose(families.full_rank(families.normal()), flows.coupling(layers, 8))
    rng, lam = np.random.default_rng(seed), family.init(dim, location=0.5, scale=0.8)
    return family, jax.tree.map(lambda leaf: jnp.asarray(leaf + 0.3 * rng.normal(size=leaf.shape), leaf.dtype), lam)


@pytest.mark.parametrize("dim", [pytest.param(2, marks=pytest.mark.thorough), 5])
def test_there_and_back_and_the_determinant_is_that_of_the_jacobian(dim):
    with jax.enable_x64(True):
        family, lam = bent(dim)
        eps = np.random.default_rng(1).normal(size=(4, dim))

        @jax.jit
        @jax.vmap
        def there_and_back(eps):
            theta = family.transform(lam, eps)
            return family.standardize(lam, theta), jax.jacfwd(family.transform, 1)(lam, eps), family.log_det(lam, eps)

        back, jacobian, log_det = there_and_back(eps)
        assert np.allclose(back, eps, atol=1e-9)
        assert np.allclose(log_det, np.linalg.slogdet(jacobian)[1], atol=1e-9)


def test_a_density_integrates_to_one_and_is_not_normal():
    family, lam = bent(2, seed=2)
    side = np.linspace(-14, 14, 281)
    points = np.stack(np.meshgrid(side, side, indexing="ij"), -1).reshape(-1, 2)
    mass = (
        np.exp(np.asarray(jax.jit(jax.vmap(lambda t: families.log_prob(family, lam, t)))(points.astype("float32")), float))
        * (side[1] - side[0]) ** 2
    )
    assert np.isclose(mass.sum(), 1, atol=2e-3)
    spread = points - mass @ points
    assert abs((mass[:, None] * spread**3).sum(axis=0)).max() > 0.02


def test_a_start_is_the_family_outside_and_every_coordinate_can_move():
    family = families.compose(families.full_rank(families.normal()), flows.coupling())
    lam = family.init(3, location=2.0, scale=0.1)
    eps = jnp.array([1.0, -2.0, 0.5])
    assert np.allclose(family.transform(lam, eps), 2 + 0.1 * eps)
    networks = flows.coupling(layers=2).init(3)
    moved = flows.coupling(layers=2).transform(networks._replace(out_bias=jnp.ones((2, 6))), eps)
    assert (abs(moved - eps) > 0.1).all()


def test_log_scales_stay_within_reach():
    flow = flows.coupling(layers=2, reach=0.5)
    wild = flow.init(2)._replace(out_bias=jnp.full((2, 4), 1e6))
    assert np.isclose(flow.log_det(wild, jnp.zeros(2)), 2 * 0.5, atol=1e-5)


def test_one_coordinate_has_no_other_to_look_at():
    with pytest.raises(ValueError, match="dim is 1; give"):
        flows.coupling().init(1)
