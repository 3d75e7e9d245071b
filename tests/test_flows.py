"""Coupling layers: the inverse by a round trip, the Jacobian by automatic differentiation, the density by quadrature."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from course_pkg import families, flows


def bent(dim, layers=3, seed=0):
    """A family of a flow whose networks say something everywhere, with parameters."""
    family = families.compose(families.full_rank(families.normal()), flows.coupling(layers, 8))
    lam = family.init(dim, location=0.5, scale=0.8)
    leaves, tree = jax.tree.flatten(lam)
    keys = jax.random.split(jax.random.key(seed), len(leaves))
    return family, tree.unflatten([leaf + 0.3 * jax.random.normal(key, leaf.shape) for leaf, key in zip(leaves, keys, strict=True)])


@pytest.mark.parametrize("dim", [2, 5])
def test_there_and_back_and_the_determinant_is_that_of_the_jacobian(dim):
    with jax.enable_x64(True):
        family, lam = bent(dim)
        eps = jax.random.normal(jax.random.key(1), (4, dim))
        theta = jax.vmap(family.transform, (None, 0))(lam, eps)
        assert np.allclose(jax.vmap(family.standardize, (None, 0))(lam, theta), eps, atol=1e-9)
        jacobian = jax.vmap(jax.jacfwd(family.transform, 1), (None, 0))(lam, eps)
        assert np.allclose(jax.vmap(family.log_det, (None, 0))(lam, eps), np.linalg.slogdet(jacobian)[1], atol=1e-9)


def test_a_density_integrates_to_one_and_is_not_normal():
    family, lam = bent(2, seed=2)
    side = np.linspace(-14, 14, 401)
    points = jnp.array(np.stack(np.meshgrid(side, side, indexing="ij"), -1).reshape(-1, 2))
    mass = np.exp(np.asarray(jax.jit(jax.vmap(lambda t: families.log_prob(family, lam, t)))(points), float)) * (side[1] - side[0]) ** 2
    assert np.isclose(mass.sum(), 1, atol=2e-3)
    points = np.asarray(points, float)
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
