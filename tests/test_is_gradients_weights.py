"""Importance weights: mean one, the Jacobian, factors and their bias, effective sample size."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, special, stats

from course_pkg import families, lambertw
from course_pkg.is_gradients import effective_size, expected_ess, importance_weights, is_factorised

MEAN_FIELD, FULL = families.mean_field_normal(), families.full_rank_normal()
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (1, 2))]
TESTS = 200  # z-scores in this file, at most
BOUND = stats.norm.isf(1e-5 / TESTS / 2)  # together they raise a false alarm once in 10^5 runs of fresh seeds


weigh = jax.jit(importance_weights, static_argnames=("family", "factors", "normalise"))
sample = jax.jit(families.sample, static_argnums=(1, 3))
LAMBERT = families.compose(families.location_scale(families.normal()), lambertw.skew(gamma_max=0.5))


def hat(gamma):
    """The parameter of a skew ``gamma`` of `LAMBERT`."""
    return jnp.arctanh(jnp.array([gamma]) / 0.5)


def move(lam, key, size):
    rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))
    return jax.tree.map(lambda a: jnp.asarray(a + size * rng.normal(size=a.shape), a.dtype), lam)


def z_of_mean(values, expected=1.0):
    values = np.asarray(values, dtype=float)
    return np.abs((values.mean(axis=0) - expected) / (values.std(axis=0, ddof=1) / np.sqrt(len(values))))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dim", [1, pytest.param(10, marks=pytest.mark.thorough), 100])
def test_weights_have_mean_one_after_random_moves(dim, seed):
    """Moves shrink with dimension so that the weights keep a finite spread and the central limit theorem holds."""
    first, second, third = jax.random.split(jax.random.key(seed), 3)
    old = move(MEAN_FIELD.init(dim), first, 0.3)
    new = move(old, second, 0.15 / np.sqrt(dim))
    theta = sample(third, MEAN_FIELD, old, 40_000)
    weights = weigh(MEAN_FIELD, new, old, theta)
    assert z_of_mean(weights.value) < BOUND
    by_coordinate = weigh(MEAN_FIELD, new, old, theta, factors=dim)
    assert stats.norm.isf(1e-5 / (TESTS * dim) / 2) > z_of_mean(by_coordinate.value).max()
    assert np.allclose(np.sum(by_coordinate.log, axis=1), weights.log, atol=1e-4)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("family", "dim"), [(FULL, 4), (LAMBERT, 3)], ids=["full rank", "Lambert"])
def test_weights_of_other_families_have_mean_one_and_equal_the_ratio_of_densities(family, dim, seed):
    first, second, third = jax.random.split(jax.random.key(seed), 3)
    old = move(family.init(dim), first, 0.02)
    new = move(old, second, 0.03)
    theta = sample(third, family, old, 20_000)
    weights = weigh(family, new, old, theta)
    ratio = jax.jit(jax.vmap(lambda t: families.log_prob(family, new, t) - families.log_prob(family, old, t)))(theta)
    assert np.allclose(weights.log, ratio, atol=2e-4)
    assert z_of_mean(weights.value) < BOUND


def test_without_the_jacobian_the_mean_is_the_ratio_of_scales_to_the_power_of_the_dimension():
    """Erratum T26, in ten dimensions: 0.8^10."""
    old = MEAN_FIELD.init(10, scale=1.0)
    new = old._replace(log_sigma=jnp.full(10, jnp.log(0.8)))
    theta = sample(jax.random.key(0), MEAN_FIELD, old, 100_000)
    draws = np.asarray(theta, float)
    printed = np.exp((stats.norm.logpdf((draws - np.asarray(new.mu)) / 0.8) - stats.norm.logpdf(draws)).sum(axis=1))
    assert z_of_mean(printed, 0.8**10) < BOUND
    assert z_of_mean(weigh(MEAN_FIELD, new, old, theta).value) < BOUND


@pytest.mark.parametrize("seed", SEEDS)
def test_self_normalising_repairs_an_affine_map_and_not_a_change_of_skew(seed):
    """Erratum T26: limits of both self-normalised estimates, against quadrature."""
    zero = families.Diagonal(jnp.zeros(1), jnp.zeros(1))
    old, new = (zero, hat(0.05)), (zero, hat(0.25))
    theta = sample(jax.random.key(seed), LAMBERT, old, 200_000)
    u = np.linspace(-9.0, 9.0, 20_001)[:, None]
    there = np.asarray(jax.jit(jax.vmap(LAMBERT.transform, (None, 0)))(new, u))
    truth = integrate.trapezoid((there * stats.norm.pdf(u))[:, 0], u[:, 0])
    right = weigh(LAMBERT, new, old, theta, normalise=True)
    draws = np.asarray(theta[:, 0], float)
    assert (np.asarray(right.value) * draws).mean() == pytest.approx(truth, abs=0.02)
    standardize = jax.jit(jax.vmap(LAMBERT.standardize, (None, 0)))
    printed = [stats.norm.logpdf(standardize(lam, theta)[:, 0]) for lam in (new, old)]
    assert (special.softmax(printed[0] - printed[1]) * draws).sum() > truth + 0.3


def coupled_gaussian():
    """A target with precision P around a: the gradient of its log density is P (a - theta)."""
    return jnp.array([[1.0, 0.8], [0.8, 1.5]]), jnp.array([0.5, -0.3])


@pytest.mark.parametrize("seed", SEEDS)
def test_bias_per_factor_is_the_closed_form(seed):
    """Erratum T24: coordinate i is read under the new q_i and the old others."""
    precision, a = (np.asarray(part) for part in coupled_gaussian())
    old = families.Diagonal(jnp.array([0.2, 0.1]), jnp.log(jnp.array([0.9, 1.1])))
    new = families.Diagonal(jnp.array([0.5, -0.3]), jnp.log(jnp.array([0.8, 1.0])))
    theta = sample(jax.random.key(seed), MEAN_FIELD, old, 100_000)
    slope = (a - np.asarray(theta)) @ precision
    joint, each = (weigh(MEAN_FIELD, new, old, theta, factors=k) for k in (None, 2))
    true = precision @ (a - new.mu)
    mixed = np.array([precision[i] @ (a - np.where(np.arange(2) == i, new.mu, old.mu)) for i in range(2)])
    joint, each = np.asarray(joint.value)[:, None], np.asarray(each.value)
    assert z_of_mean(joint * slope, true).max() < BOUND
    assert z_of_mean(each * slope, mixed).max() < BOUND
    assert z_of_mean(each * slope, true).max() > 20  # the bias is there to be seen


@pytest.mark.parametrize("seed", SEEDS)
def test_effective_share_is_its_closed_form_and_multiplies_over_dimensions(seed):
    old = families.Diagonal(jnp.zeros(4), jnp.zeros(4))
    new = families.Diagonal(jnp.array([0.3, -0.2, 0.0, 0.1]), jnp.log(jnp.array([1.0, 0.9, 0.8, 1.05])))
    exact = expected_ess(new, old)
    theta = sample(jax.random.key(seed), MEAN_FIELD, old, 200_000)
    each = weigh(MEAN_FIELD, new, old, theta, factors=4)
    joint = weigh(MEAN_FIELD, new, old, theta)
    assert np.allclose(each.ess / 200_000, exact, rtol=0.03)
    assert float(joint.ess) / 200_000 == pytest.approx(float(exact.prod()), rel=0.05)
    pair = weigh(MEAN_FIELD, new, old, theta, factors=2)
    assert np.allclose(pair.ess / 200_000, exact.reshape(2, 2).prod(axis=1), rtol=0.05)
    beyond = families.Diagonal(jnp.zeros(4), jnp.full(4, jnp.log(1.5)))
    assert expected_ess(beyond, old).tolist() == [0.0] * 4  # the weights have no variance


def test_effective_size_survives_large_weights_and_ends_where_it_should():
    assert float(effective_size(jnp.full(5, 1e30))) == pytest.approx(5)
    assert float(effective_size(jnp.array([1e30, 0.0, 0.0]))) == pytest.approx(1)


def test_no_move_gives_weights_of_one_and_normalised_ones_have_mean_one():
    lam = move(MEAN_FIELD.init(3), jax.random.key(1), 0.5)
    theta = sample(jax.random.key(2), MEAN_FIELD, lam, 50)
    assert weigh(MEAN_FIELD, lam, lam, theta).value.tolist() == [1.0] * 50
    other = move(lam, jax.random.key(3), 0.5)
    assert np.allclose(weigh(MEAN_FIELD, other, lam, theta, factors=3, normalise=True).value.mean(axis=0), 1, atol=1e-5)


def test_factorised_families_are_told_from_others():
    assert is_factorised(MEAN_FIELD)
    assert is_factorised(LAMBERT)
    assert not is_factorised(FULL)
    assert not is_factorised(families.compose(FULL, families.mean_field_normal()))
    two_skews = families.compose(families.mean_field_normal(), lambertw.fixed_skew(jnp.array([0.1, -0.2])))
    assert is_factorised(two_skews, 2)  # it has no parameters for 3

    class Module:
        __hash__ = None  # as an object that holds arrays

        def __call__(self, lam, eps):
            return FULL.transform(lam, eps)

    assert not is_factorised(FULL._replace(transform=Module()))


@pytest.mark.parametrize("pair", [(0, 1), (1, 4), (2, 6)])
def test_one_pair_of_coordinates_that_look_at_each_other_is_seen(pair):
    i, j = pair
    mixed = MEAN_FIELD._replace(transform=lambda lam, eps: MEAN_FIELD.transform(lam, eps).at[i].add(0.01 * eps[j]))
    assert not is_factorised(mixed, 7)


BAD = [
    (lambda lam, theta: importance_weights(MEAN_FIELD, lam, lam, theta[0]), r"theta has shape \(4,\)"),
    (lambda lam, theta: importance_weights(MEAN_FIELD, MEAN_FIELD.init(1), lam, theta), "lam_new is for 1 coordinates"),
    (lambda lam, theta: importance_weights(MEAN_FIELD, lam, lam, theta, factors=3), "factors is 3 and theta has 4"),
    (lambda lam, theta: importance_weights(MEAN_FIELD, lam, lam, theta * jnp.nan), "theta holds nan"),
    (lambda lam, theta: importance_weights(FULL, FULL.init(4), FULL.init(4), theta, factors=2), "coordinates depend on each other"),
    (lambda lam, theta: expected_ess(lam, families.Diagonal(jnp.zeros(1), jnp.zeros(1))), r"lam_new.mu has shape \(4,\)"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_is_named(call, words):
    lam = MEAN_FIELD.init(4)
    with pytest.raises(ValueError, match=words):
        call(lam, jnp.zeros((5, 4)))
