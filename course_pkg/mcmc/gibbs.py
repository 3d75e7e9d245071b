r"""Gibbs sampling: draw one part from its conditional, the others standing still.

Such a draw is a Metropolis-Hastings proposal whose ratio is 1, so it is always accepted.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from course_pkg import _guard
from course_pkg.mcmc.kernel import Info, Kernel

SCANS = ("systematic", "random")


class Place(NamedTuple):
    """Where a chain is."""

    position: Any


def gibbs(updates: Sequence[Callable], *, scan: str = "systematic") -> Kernel:
    r"""Gibbs sampler from updates that each leave the target as it is.

    A systematic scan applies all of them in order: the target stays, though the whole step is in general not reversible. A random scan
    applies one, chosen with equal probabilities: the step is reversible if the updates are, and does the work of one of them.

    Args:
        updates: functions ``(key, position) -> position``; each draws a block of the position (any pytree) from its conditional given the
            rest. A step of another kernel does as well (Metropolis within Gibbs).
        scan: ``"systematic"`` or ``"random"``.

    Returns:
        `Kernel`, whose info says 1: no draw from a conditional is refused (what an update of another kind refuses is not counted).

    Raises:
        ValueError: if there is no update or ``scan`` is unknown.

    Example:
        >>> first = lambda key, x: x.at[0].set(0.9 * x[1] + jnp.sqrt(1 - 0.81) * jax.random.normal(key))
        >>> second = lambda key, x: x.at[1].set(0.9 * x[0] + jnp.sqrt(1 - 0.81) * jax.random.normal(key))
        >>> kernel = gibbs([first, second])  # a bivariate normal of correlation 0.9
        >>> kernel.step(jax.random.key(0), kernel.init(jnp.zeros(2)))[0].position.shape
        (2,)

    Source: notes, section 4.3 (a heading there); Geman and Geman (1984).
    """
    updates = tuple(updates)
    if not updates:
        raise ValueError("updates is empty; give at least one function (key, position) -> position")
    _guard.choice("scan", scan, SCANS)

    def step(key, state):
        position = state.position
        if scan == "random":
            which, key = jax.random.split(key)
            position = jax.lax.switch(jax.random.randint(which, (), 0, len(updates)), updates, key, position)
        else:
            for update, part in zip(updates, jax.random.split(key, len(updates)), strict=True):
                position = update(part, position)
        return Place(position), Info(jnp.ones(()), jnp.array(True))

    return Kernel(Place, step)
