"""Parallel tempering: an exchange by enumeration, a posterior with two modes by quadrature."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from course_pkg.mcmc import Kernel, State, random_walk, run_chains, sample_chain, tempered

PRIOR, LIKELIHOOD = np.array([0.2, 0.5, 0.3]), np.array([4.0, 0.1, 1.0])
log_prior, log_likelihood = (lambda i, table=table: jnp.log(jnp.asarray(table))[i] for table in (PRIOR, LIKELIHOOD))
BETAS = (1.0, 0.4, 0.0)


def stay(log_density, beta):
    """A kernel that keeps any target."""
    return Kernel(lambda x: State(x, log_density(x)), lambda key, state: (state, ()))


def test_an_exchange_balances_on_three_places():
    """Flows between the nine settings of a pair, for the even pair and for the odd one."""
    kernel = tempered(log_prior, log_likelihood, BETAS, stay)
    of_rung = PRIOR * LIKELIHOOD ** np.array(BETAS)[:, None]
    for pair, odd in ((0, False), (1, True)):
        flow = np.zeros((3, 3))
        for i, j in np.ndindex(3, 3):
            setting = np.array([i, j, 1] if pair == 0 else [1, i, j])
            state = kernel.init(jnp.array(setting))._replace(odd=jnp.array(odd))
            rate = float(kernel.step(jax.random.key(0), state)[1].acceptance_rate[pair])
            flow[i, j] = of_rung[pair, i] * of_rung[pair + 1, j] * rate
        assert np.allclose(flow, flow.T, rtol=1e-5)
        assert flow.max() > 1.5 * flow.min()


def test_pairs_take_turns_and_places_change_together():
    kernel = tempered(log_prior, log_likelihood, BETAS, stay)
    seen = set()
    for seed in range(20):
        state, was_odd = kernel.init(jnp.array([0, 1, 2])), False
        for key in jax.random.split(jax.random.key(seed), 4):
            new, info = kernel.step(key, state)
            swapped = np.array(info.accepted)
            assert not swapped[0 if was_odd else 1]
            order = np.arange(3)
            for k in np.flatnonzero(swapped):
                order[[k, k + 1]] = order[[k + 1, k]]
            assert np.array_equal(np.asarray(state.position)[order], new.position)
            assert float(new.log_density) == pytest.approx(float(jnp.log(PRIOR * LIKELIHOOD)[new.position[0]]), rel=1e-5)
            seen.update(np.flatnonzero(swapped).tolist())
            state, was_odd = new, not was_odd
    assert seen == {0, 1}


def two_modes(x):
    """A likelihood with a narrow mode at -2 and a wide one at 2."""
    return jnp.logaddexp(-0.5 * ((x[0] + 2) / 0.1) ** 2, -0.5 * ((x[0] - 2) / 0.3) ** 2)


def wide(x):
    return -0.5 * (x[0] / 2) ** 2


def walk(log_density, beta):
    return random_walk(log_density, 0.25 / jnp.sqrt(beta + 0.01))


@cache
def exact():
    """Probability of the right mode, by quadrature."""
    x = np.linspace(-12, 12, 48_001)
    log = np.logaddexp(-0.5 * ((x + 2) / 0.1) ** 2, -0.5 * ((x - 2) / 0.3) ** 2) - 0.5 * (x / 2) ** 2
    weight = np.exp(log)
    return weight[x > 0].sum() / weight.sum()


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (1, 2, 3))])
def test_weights_of_two_modes_come_out_from_either_start(seed):
    """64 ladders that start in one mode, against quadrature; a false alarm once in 10^5 runs. The walk alone stays where it was."""
    ladder = tempered(wide, two_modes, jnp.array([1.0, 0.3, 0.08, 0.02, 0.0]), walk)
    for start in (-2.0, 2.0):
        keys = jax.random.split(jax.random.key(seed), 64)
        run = jax.jit(lambda keys, start=start: jax.vmap(lambda k: sample_chain(k, ladder, jnp.full((5, 1), start), 2000))(keys))
        right = np.asarray(run(keys)[0][:, 500:, 0, 0] > 0).mean(axis=1)
        assert abs(right.mean() - exact()) < stats.t.isf(0.25e-5, 63) * right.std(ddof=1) / 8
        assert right.std() < 0.1
        alone = sample_chain(keys[0], walk(lambda x: wide(x) + two_modes(x), 1.0), jnp.full(1, start), 2000)[0]
        assert np.all(np.sign(np.asarray(alone)) == np.sign(start))


def test_draws_of_the_first_rung_are_kept_by_constrain():
    ladder = tempered(wide, two_modes, [1.0, 0.1], walk)
    tree = run_chains(jax.random.key(0), ladder, jnp.zeros((2, 2, 1)), 20, constrain=lambda x: {"x": x[0]}, progress=False)
    assert tree["posterior"]["x"].shape == (2, 20, 1)
    assert tree["sample_stats"]["acceptance_rate"].shape == (2, 20, 1)
    x = jnp.asarray(tree["posterior"]["x"].values)
    assert np.allclose(tree["sample_stats"]["lp"], jax.vmap(jax.vmap(lambda x: wide(x) + two_modes(x)))(x), atol=1e-4)


@pytest.mark.parametrize("betas", [[0.5, 0.1], [1.0, 0.2, 0.3], [1.0, -0.1], [[1.0, 0.0]], [1.0, np.nan]])
def test_a_ladder_that_is_none_is_refused(betas):
    with pytest.raises(ValueError, match="betas"):
        tempered(wide, two_modes, betas, walk)


def test_a_start_for_other_rungs_is_refused():
    with pytest.raises(ValueError, match="for 2 betas; give a place for each"):
        tempered(wide, two_modes, [1.0, 0.1], walk).init(jnp.zeros((3, 1)))
