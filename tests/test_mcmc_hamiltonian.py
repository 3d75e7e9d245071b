"""Hamiltonian Monte Carlo: the integrator's symmetries, the acceptance, divergences, jitter, and what the warm-up finds."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from course_pkg.mcmc import dual_averaging, energy, hmc, leapfrog, sample_chain, start_phase, tune_hmc

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (1, 2))]
TESTS = 30  # z-scores in this file, at most
BOUND = stats.norm.isf(1e-5 / TESTS / 2)  # together they raise a false alarm once in 10^5 runs of fresh seeds
MASS = np.array([0.7, 1.6])  # inverse masses


def banana(q):
    """A target with curved level sets, so that nothing about the motion is linear."""
    return -0.5 * q[0] ** 2 - 0.5 * (q[1] - 0.5 * q[0] ** 2) ** 2 - 0.1 * q[1] ** 4


def normal(q):
    return -0.5 * q @ q


@jax.jit
def rolled(z, h, steps):
    """The integrator as a map of z = (q, p) in four dimensions."""
    end = leapfrog(banana, h, jnp.asarray(MASS, z.dtype))(start_phase(banana, z[:2], z[2:]), steps)
    return jnp.concatenate([end.position, end.momentum])


roll_all, jacobians = (jax.jit(jax.vmap(go, (0, None, None))) for go in (rolled, jax.jacfwd(rolled)))


def z_of_mean(values, expected):
    values = np.asarray(values, dtype=float)
    return np.abs((values.mean(axis=0) - expected) / (values.std(axis=0, ddof=1) / np.sqrt(len(values))))


def after_one_step(kernel, key, exact):
    return jax.jit(jax.vmap(lambda k, x: kernel.step(k, kernel.init(x))))(jax.random.split(key, len(exact)), exact)


def test_the_integrator_runs_backwards_and_keeps_volume_to_ten_digits():
    with jax.enable_x64(True):
        turned = jnp.array([1.0, 1.0, -1.0, -1.0])
        starts = jax.random.normal(jax.random.key(0), (20, 4))
        for h, steps in ((0.05, 40), (0.2, 20), (0.45, 10)):
            there = roll_all(starts, h, steps)
            assert float(jnp.abs(there - starts).max()) > 1  # it did go somewhere
            back = roll_all(there * turned[None], h, steps) * turned[None]
            assert float(jnp.abs(back - starts).max()) < 1e-10
            determinant = np.linalg.det(np.asarray(jacobians(starts, h, steps)))
            assert np.abs(determinant - 1).max() < 1e-10


def test_halving_the_step_quarters_the_loss_of_energy():
    with jax.enable_x64(True):
        starts = jax.random.normal(jax.random.key(1), (200, 4))
        level = jax.jit(jax.vmap(lambda z: energy(start_phase(banana, z[:2], z[2:]), jnp.asarray(MASS))))
        lost = [level(roll_all(starts, 0.1 / 2**k, 10 * 2**k)) - level(starts) for k in range(4)]
        errors = np.sqrt(np.mean(np.square(lost), axis=1))
        assert np.abs(errors[:-1] / errors[1:] - 4).max() < 0.3
        assert abs(errors[-2] / errors[-1] - 4) < 0.05


@pytest.mark.parametrize("seed", SEEDS)
def test_acceptance_is_the_exponential_of_the_energy_lost(seed):
    """Erratum N07; and as volume is kept, the exponential has mean one from exact draws."""
    h, steps, count = 1.2, 3, 20_000
    key, draw = jax.random.split(jax.random.key(seed))
    exact = jax.random.normal(draw, (count, 2))
    state, info = after_one_step(hmc(normal, h, steps), key, exact)

    def by_hand(k, q):
        start = start_phase(normal, q, jax.random.normal(jax.random.split(k, 3)[0], (2,)))
        end = leapfrog(normal, h)(start, steps)
        return energy(start), energy(start) - energy(end), end.position

    before, lost, end = jax.jit(jax.vmap(by_hand))(jax.random.split(key, count), exact)
    assert np.allclose(info.acceptance_rate, np.exp(np.minimum(lost, 0)), rtol=1e-4)
    assert np.allclose(info.energy, before, rtol=1e-5)
    assert 0.3 < float(info.accepted.mean()) < 0.97
    assert np.allclose(state.position, np.where(info.accepted[:, None], end, exact), atol=1e-4)
    assert z_of_mean(np.asarray(info.accepted, float) - np.asarray(info.acceptance_rate), 0.0) < BOUND
    assert z_of_mean(np.exp(lost), 1.0) < BOUND
    assert z_of_mean(np.asarray(state.position) ** 2, 1.0).max() < BOUND


def test_masses_are_a_change_of_scale():
    sd = jnp.array([0.1, 5.0])
    scaled = hmc(lambda q: banana(q / sd), 0.3, 5, inverse_mass=sd**2)
    plain = hmc(banana, 0.3, 5)
    starts = jax.random.normal(jax.random.key(0), (50, 2))
    one, info = after_one_step(scaled, jax.random.key(1), starts * sd[None])
    other, same = after_one_step(plain, jax.random.key(1), starts)
    assert np.allclose(one.position / sd[None], other.position, atol=1e-3)
    assert np.allclose(info.acceptance_rate, same.acceptance_rate, atol=1e-3)


@pytest.mark.parametrize(
    "log_density", [lambda q: -50 * q @ q, lambda q: normal(q) + 0 * jnp.sqrt(q[0])], ids=["too long a step", "not a number"]
)
def test_a_path_that_runs_away_is_flagged_and_refused(log_density):
    kernel, start = hmc(log_density, 1.5, 20), jnp.array([1.0, 3.0])
    state, info = kernel.step(jax.random.key(0), kernel.init(start))
    assert bool(info.diverging)
    assert (float(info.acceptance_rate), bool(info.accepted)) == (0.0, False)
    assert state.position.tolist() == start.tolist()
    calm = hmc(log_density, 1e-3, 3)
    assert not bool(calm.step(jax.random.key(0), calm.init(start))[1].diverging)


def test_a_full_circle_explores_nothing_and_jitter_mends_it():
    """On a normal a leapfrog step turns by the angle whose cosine is 1 - h^2/2: twenty of these come round."""
    h, count = 2 * np.sin(np.pi / 20), 20_000
    exact = jax.random.normal(jax.random.key(0), (count, 1))
    turn = lambda jitter: np.asarray(after_one_step(hmc(normal, h, 20, jitter=jitter), jax.random.key(1), exact)[0].position)[:, 0]
    before = np.asarray(exact)[:, 0]
    assert np.abs(turn(0.0) - before).max() < 1e-3
    angles = 20 * np.arccos(1 - (h * np.linspace(0.7, 1.3, 2001)) ** 2 / 2)
    moved = turn(0.3)
    # nearly all are accepted, so the covariance with the start is the mean cosine; 0.05 is five of its standard errors and more
    assert (moved * before).mean() == pytest.approx(np.cos(angles).mean(), abs=0.05)
    assert z_of_mean(moved**2, 1.0) < BOUND


SD = np.array([0.1, 1.0, 10.0])


def three_scales(q):
    return -0.5 * ((q / jnp.asarray(SD, q.dtype)) ** 2).sum()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_warm_up_finds_the_scales_and_an_acceptance_near_its_target(seed):
    first, second, third = jax.random.split(jax.random.key(seed), 3)
    starts = 2 * jnp.asarray(SD, jnp.float32)[None] * jax.random.normal(first, (4, 3))
    tuned = tune_hmc(second, three_scales, starts, 8, jitter=0.2)
    assert np.abs(np.sqrt(tuned.inverse_mass) / SD - 1).max() < 0.15
    assert tuned.positions.shape == (4, 3)
    kernel = hmc(three_scales, tuned.step_size, 8, inverse_mass=tuned.inverse_mass, jitter=0.2)
    run = jax.jit(jax.vmap(lambda k, x: sample_chain(k, kernel, x, 500)))
    _, info = run(jax.random.split(third, 4), tuned.positions)
    assert 0.7 < float(info.acceptance_rate.mean()) < 0.9
    assert 0.7 < float(tuned.acceptance_rate) < 0.9
    assert not bool(info.diverging.any())


@pytest.mark.parametrize("target", [0.6, 0.8, 0.95])
def test_dual_averaging_reaches_its_target_from_either_side(target):
    """Acceptances are noisy as in a chain, with mean e^-h; the step that fits is -log(target)."""
    _, update = dual_averaging(1.0, target)

    def one(state, noise):
        mean = jnp.exp(-jnp.exp(state.log_step))
        return update(state, mean + jnp.minimum(mean, 1 - mean) * noise), None

    noise = jax.random.uniform(jax.random.key(0), (3000,), minval=-1, maxval=1)
    run = jax.jit(lambda state: jax.lax.scan(one, state, noise)[0])
    for first in (1e-3, 30.0):
        state = run(dual_averaging(first, target)[0])
        assert float(jnp.exp(-jnp.exp(state.log_mean))) == pytest.approx(target, abs=0.02)
