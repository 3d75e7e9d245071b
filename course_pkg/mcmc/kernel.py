r"""What a Markov kernel is here: two functions, and the test that keeps or refuses a proposal."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from course_pkg import _streams


class Kernel(NamedTuple):
    """A way to move that leaves a distribution as it is."""

    init: Callable  # position -> state
    step: Callable  # key, state -> (state, info)


class State(NamedTuple):
    """Where a chain is, with what it would be dear to compute again."""

    position: Any
    log_density: Any  # () of the target there, up to its constant
    gradient: Any = ()  # of it, for kernels that need one


class Info(NamedTuple):
    """What happened in a step; the names are ArviZ's."""

    acceptance_rate: Any  # () probability with which the proposal was accepted
    accepted: Any  # () whether it was


def accept(key, log_ratio, old, new):
    r"""The new state with probability :math:`1 \wedge e^{\text{log ratio}}`, else the old one once more, and an `Info`.

    A ratio that is not a number refuses: it comes from a proposal where the target could not be computed.

    Example:
        >>> state, info = accept(jax.random.key(0), -jnp.inf, 1.0, 2.0)
        >>> float(state), float(info.acceptance_rate)
        (1.0, 0.0)
    """
    rate = jnp.where(jnp.isnan(log_ratio), 0.0, jnp.exp(jnp.minimum(log_ratio, 0.0)))
    accepted = 1 - _streams.uniform(key) <= rate  # a number in (0, 1]: a rate of 1 always accepts, one of 0 never
    state = jax.tree.map(lambda a, b: jnp.where(accepted, a, b), new, old)
    return state, Info(rate, accepted)
