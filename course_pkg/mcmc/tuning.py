r"""Warm-up of Hamiltonian Monte Carlo: a step size by dual averaging, a diagonal mass matrix from the draws.

What is tuned while the chain runs may bias it, so it is tuned first and then left alone.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from course_pkg import _guard, _streams
from course_pkg.mcmc.hamiltonian import hmc, jitter_share

SHRINK = 5.0  # draws that the prior guess of a variance is worth, as in Stan
GUESS = 1e-3  # that prior guess


class Tuned(NamedTuple):
    """What a warm-up has found."""

    step_size: Any  # ()
    inverse_mass: Any  # (d,)
    positions: Any  # (chains, d) where the chains have got to
    acceptance_rate: Any  # () mean over the last part


class Averaging(NamedTuple):
    """State of dual averaging, in the logarithm of the step size."""

    centre: Any  # that it is drawn to at first
    error: Any  # mean of target less acceptance, as if it had been 0 ten times before the first
    log_step: Any  # in use now
    log_mean: Any  # averaged, for use later
    count: Any


def dual_averaging(step_size, target: float = 0.8) -> tuple[Averaging, Callable]:
    r"""Nesterov's dual averaging, as Hoffman and Gelman use it: the start, and ``update(state, acceptance) -> state``.

    The step size moves so that the mean acceptance comes to ``target``: :math:`\log h_{t+1} = \mu - \frac{\sqrt t}{\gamma}\bar H_t`, with
    :math:`\bar H_t` the sum of target less acceptance over :math:`t + 10`, :math:`\gamma = 0.05` and :math:`\mu = \log 10 h_1`. What is
    used afterwards is a mean of :math:`\log h_t` with weights that favour the late ones.

    Raises:
        ValueError: if ``step_size`` is not above 0 or ``target`` not between 0 and 1.

    Example:
        >>> state, update = dual_averaging(1.0)
        >>> for _ in range(500):  # an acceptance that falls from 1 to 0 as the step grows from 0 to 2
        ...     state = update(state, jnp.clip(1 - jnp.exp(state.log_step) / 2, 0, 1))
        >>> round(float(jnp.exp(state.log_mean)), 1)
        0.4

    Source: Hoffman and Gelman (2014), section 3.2, with their constants.
    """
    target = _guard.proportion("target", target)
    step_size = _guard.numbers("step_size", step_size, ndim=0)
    if not _guard.traced(step_size) and not bool(step_size > 0):
        raise ValueError(f"step_size is {step_size}; give a number above 0")
    first = jnp.log(step_size) * 1.0
    start = Averaging(first + jnp.log(10.0), jnp.zeros_like(first), first, first, jnp.zeros(()))

    def update(state, acceptance):
        count = state.count + 1
        share = 1 / (count + 10.0)
        error = (1 - share) * state.error + share * (target - acceptance)
        log_step = state.centre - jnp.sqrt(count) / 0.05 * error
        weight = count**-0.75
        return Averaging(state.centre, error, log_step, weight * log_step + (1 - weight) * state.log_mean, count)

    return start, update


def tune_hmc(
    key: PRNGKeyArray,
    log_density: Callable,
    positions,
    steps: int,
    *,
    warmup: int = 1000,
    target: float = 0.8,
    step_size: float = 0.1,
    jitter: float = 0.0,
) -> Tuned:
    r"""Step size and diagonal mass matrix for `hmc` with ``steps`` leapfrog steps, from several chains together.

    A first part (15 %) finds a step size and lets the chains leave their start. The middle is cut into windows, each twice as long as the
    one before; after each, the variances of all chains' draws become the inverse masses. The last part (10 %) sets the step size for the
    masses found.

    Args:
        key: random key.
        log_density: position ``(d,)`` -> :math:`\log\pi`, differentiable.
        positions: starts, shape ``(chains, d)``, best scattered more widely than the target.
        steps: leapfrog steps of a path.
        warmup: steps of each chain in all, at least 100.
        target: mean acceptance to reach.
        step_size: first guess.
        jitter: as in `hmc`.

    Returns:
        `Tuned`: ``hmc(log_density, tuned.step_size, steps, inverse_mass=tuned.inverse_mass)`` goes on from ``tuned.positions``.

    Raises:
        ValueError: if ``positions`` is not of shape ``(chains, d)`` or a number is out of range.

    Example:
        >>> sd = jnp.array([1.0, 10.0])
        >>> starts = sd[None] * jax.random.normal(jax.random.key(0), (4, 2))
        >>> tuned = tune_hmc(jax.random.key(1), lambda q: -0.5 * ((q / sd) ** 2).sum(), starts, 8)
        >>> bool(abs(jnp.sqrt(tuned.inverse_mass[1] / tuned.inverse_mass[0]) - 10) < 3)
        True

    Source: Hoffman and Gelman (2014); the windows are Stan's.
    """
    key, positions = _guard.key(key), _guard.numbers("positions", positions, ndim=2).astype(jnp.result_type(float))
    warmup, steps = _guard.count("warmup", warmup, least=100), _guard.count("steps", steps)
    target, jitter = _guard.proportion("target", target), jitter_share(jitter)
    state, _ = dual_averaging(step_size, target)
    inverse_mass = jnp.ones(positions.shape[1], positions.dtype)
    run = partial(_window, log_density, steps, jitter, target)
    acceptance = jnp.zeros(())
    for number, (count, estimate) in enumerate(_windows(warmup)):
        here = jax.random.fold_in(key, number)
        positions, state, acceptance, variance = run(count, here, positions, inverse_mass, state)
        if estimate:
            draws = count * positions.shape[0]
            inverse_mass = (draws * variance + SHRINK * GUESS) / (draws + SHRINK)
            state, _ = dual_averaging(jnp.exp(state.log_mean), target)
    return Tuned(jnp.exp(state.log_mean), inverse_mass, positions, acceptance)


def _windows(warmup: int) -> list[tuple[int, bool]]:
    """Lengths of the parts of a warm-up, and whether masses are estimated after each."""
    first, last = round(0.15 * warmup), round(0.1 * warmup)
    slow = warmup - first - last
    parts = [slow // 7, 2 * (slow // 7)]
    return [(first, False), *((count, True) for count in (*parts, slow - sum(parts))), (last, False)]


@partial(jax.jit, static_argnums=(0, 1, 2, 3, 4))
def _window(log_density, steps, jitter, target, count, key, positions, inverse_mass, state):
    """``count`` steps of all chains while the step size is averaged; the pooled variance of their positions."""
    _, update = dual_averaging(0.1, target)

    def one(carry, step_key):
        positions, state = carry
        kernel = hmc(log_density, jnp.exp(state.log_step), steps, inverse_mass=inverse_mass, jitter=jitter)
        keys = _streams.split(step_key, positions.shape[0])
        states, info = jax.vmap(lambda k, x: kernel.step(k, kernel.init(x)))(keys, positions)
        return (states.position, update(state, info.acceptance_rate.mean())), (states.position, info.acceptance_rate.mean())

    (positions, state), (draws, rates) = jax.lax.scan(one, (positions, state), _streams.split(key, count))
    return positions, state, rates.mean(), draws.reshape(-1, draws.shape[-1]).var(axis=0)
