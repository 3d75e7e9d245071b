r"""Parallel tempering: chains at several temperatures that exchange their places.

A rung of the ladder has the target :math:`\pi_\beta(x) \propto p(x)\, L(x)^\beta`, from the posterior at :math:`\beta = 1` to the prior at
0. Neighbours are exchanged with a probability that keeps the product of all targets, so the first rung keeps the posterior.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from course_pkg import _guard
from course_pkg.mcmc.kernel import Info, Kernel


class Ladder(NamedTuple):
    """Where the chains of all rungs are."""

    position: Any  # (rungs, ...); the first row is the draw
    log_density: Any  # () of the posterior at the first rung, up to its constant
    odd: Any  # () whether the next exchanges begin at the second rung


def tempered(log_prior: Callable, log_likelihood: Callable, betas, kernel: Callable) -> Kernel:
    r"""One step of every rung, then exchanges between neighbours, of even and of odd pairs in turn.

    Args:
        log_prior: position -> :math:`\log p`, up to a constant.
        log_likelihood: position -> :math:`\log L`, up to a constant.
        betas: ``(rungs,)`` inverse temperatures, falling from 1; the last may be 0.
        kernel: ``(log_density, beta)`` -> `Kernel` that keeps the target of a rung.

    Returns:
        `Kernel`; its positions have a leading axis of rungs, so start it with one place for each, and keep the first row:
        ``run_chains(..., constrain=lambda x: {"theta": x[0]})``. Its `Info` holds, for each pair of neighbours, ``(rungs - 1,)``, the
        probability of an exchange, tried or not, and whether there was one.

    Raises:
        ValueError: if ``betas`` does not fall from 1 to a last number of at least 0, or a position has not a place for each.

    Example:
        >>> from course_pkg.mcmc import random_walk
        >>> modes = lambda x: 20 * jnp.cos(3 * x).sum()
        >>> walk = lambda log_density, beta: random_walk(log_density, 0.3 / (beta + 0.03) ** 0.5)
        >>> ladder = tempered(lambda x: -0.5 * (x**2).sum(), modes, [1.0, 0.3, 0.1, 0.03, 0.0], walk)
        >>> state, info = ladder.step(jax.random.key(0), ladder.init(jnp.zeros((5, 1))))
        >>> state.position.shape, info.acceptance_rate.shape
        ((5, 1), (4,))

    Source: Geyer (1991); the turns of even and odd pairs: Syed and others (2022).
    """
    betas = _guard.numbers("betas", betas, ndim=1)
    if not _guard.traced(betas) and not (betas[0] == 1 and betas[-1] >= 0 and bool((jnp.diff(betas) < 0).all())):
        raise ValueError(f"betas is {betas}; give numbers that fall from 1 to a last one of at least 0")
    rungs = len(betas)

    def move(key, beta, position):
        one = kernel(lambda x: log_prior(x) + beta * log_likelihood(x), beta)
        return one.step(key, one.init(position))[0].position

    def init(position):
        if any(a.shape[:1] != betas.shape for a in jax.tree.leaves(position)):
            raise ValueError(f"positions of shapes {[a.shape for a in jax.tree.leaves(position)]} for {rungs} betas; give a place for each")
        first = jax.tree.map(lambda a: a[0], position)
        return Ladder(position, log_prior(first) + log_likelihood(first), jnp.array(False))

    def step(key, state):
        moves, coins = jax.random.split(key)
        position = jax.vmap(move)(jax.random.split(moves, rungs), betas, state.position)
        value = jax.vmap(log_likelihood)(position)
        log_ratio = (betas[:-1] - betas[1:]) * (value[1:] - value[:-1])
        rate = jnp.where(jnp.isnan(log_ratio), 0.0, jnp.exp(jnp.minimum(log_ratio, 0.0)))
        tried = (jnp.arange(rungs - 1) % 2 == 1) == state.odd
        accepted = tried & (1 - jax.random.uniform(coins, rate.shape) <= rate)
        order = jnp.arange(rungs) + jnp.pad(accepted, (0, 1)) - jnp.pad(accepted, (1, 0))
        new = init(jax.tree.map(lambda a: a[order], position))
        return new._replace(odd=~state.odd), Info(rate, accepted)

    return Kernel(init, step)
