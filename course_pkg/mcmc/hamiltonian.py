r"""Hamiltonian Monte Carlo: give the position a momentum, let both roll, and correct for the error of the rolling.

With :math:`\tilde\pi(q, p) = \pi(q)\, \mathcal{N}(p \mid 0, M)` (no factor of one half, erratum N06) the energy is
:math:`H = -\log\tilde\pi`. The exact motion keeps it. The leapfrog integrator nearly does, keeps volume, and runs backwards when the
momentum is flipped, so accepting with probability :math:`1 \wedge e^{H(q, p) - H(q', p')}` makes up for what it loses (erratum N07).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from course_pkg import _guard, _streams
from course_pkg.mcmc.kernel import Kernel, State, accept

DIVERGENT = 1000.0  # rise of the energy along a path from which on the integrator is taken to have lost the motion


class Phase(NamedTuple):
    """A point of phase space with the target's log density and gradient there."""

    position: Any  # (d,)
    momentum: Any  # (d,)
    log_density: Any  # ()
    gradient: Any  # (d,)


class HMCInfo(NamedTuple):
    """What happened in a step; the names are ArviZ's."""

    acceptance_rate: Any  # () probability with which the end of the path was accepted
    accepted: Any  # () whether it was
    energy: Any  # () H at the start of the path, momentum included
    diverging: Any  # () whether it rose by `DIVERGENT` or more along the path, or could not be computed


def leapfrog(log_density: Callable, step_size, inverse_mass=1.0) -> Callable:
    r"""The integrator :math:`\psi_h`: half a kick, a drift, half a kick.

    .. math:: p_{1/2} = p + \tfrac h2 \nabla\log\pi(q), \qquad q' = q + h M^{-1} p_{1/2}, \qquad p' = p_{1/2} + \tfrac h2 \nabla\log\pi(q')

    Args:
        log_density: position ``(d,)`` -> :math:`\log \pi`, differentiable.
        step_size: :math:`h`, a number.
        inverse_mass: the diagonal of :math:`M^{-1}`, a number or ``(d,)``; about the variances of the target.

    Returns:
        Function ``(phase, steps) -> phase`` for a `Phase`. The gradient at its end is handed on, so a path of n steps needs n gradients.
        It runs inside compiled loops and checks nothing: `hmc` does.

    Example:
        >>> roll = leapfrog(lambda q: -0.5 * q @ q, 0.1)
        >>> there = roll(start_phase(lambda q: -0.5 * q @ q, jnp.ones(1), jnp.zeros(1)), 20)
        >>> back = roll(there._replace(momentum=-there.momentum), 20)
        >>> bool(jnp.allclose(back.position, 1.0, atol=1e-5))
        True

    Source: notes, section 4.4.4 (right as printed).
    """
    value_and_grad = jax.value_and_grad(log_density)

    def one(_, phase):
        half = phase.momentum + 0.5 * step_size * phase.gradient
        position = phase.position + step_size * inverse_mass * half
        value, gradient = value_and_grad(position)
        return Phase(position, half + 0.5 * step_size * gradient, value, gradient)

    return lambda phase, steps: jax.lax.fori_loop(0, steps, one, phase)


def start_phase(log_density: Callable, position, momentum) -> Phase:
    """A `Phase` from a position and a momentum, both ``(d,)``; it runs inside compiled loops and checks nothing."""
    return Phase(position, momentum, *jax.value_and_grad(log_density)(position))


def energy(phase: Phase, inverse_mass=1.0):
    r""":math:`H = -\log\pi(q) + \frac12 p^\top M^{-1} p`, up to a constant; it runs inside compiled loops and checks nothing.

    Example:
        >>> float(energy(start_phase(lambda q: -0.5 * q @ q, jnp.ones(1), 2 * jnp.ones(1))))
        2.5
    """
    return -phase.log_density + 0.5 * (inverse_mass * phase.momentum**2).sum()


def hmc(log_density: Callable, step_size, steps: int, *, inverse_mass=1.0, jitter: float = 0.0) -> Kernel:
    r"""Hamiltonian Monte Carlo with fresh momentum at each step and a diagonal mass matrix.

    Args:
        log_density: position ``(d,)`` -> :math:`\log \pi`, differentiable.
        step_size: :math:`h` of the `leapfrog`, above 0.
        steps: how many of them make a path, at least 1.
        inverse_mass: diagonal of :math:`M^{-1}`, a number or ``(d,)``, above 0; `tune_hmc` estimates it.
        jitter: share by which the step size of each path varies, uniformly to both sides, in [0, 1). A path of fixed length may come
            round to where it began and explore nothing; lengths that vary prevent that.

    Returns:
        `Kernel` with an `HMCInfo`. As the momentum is drawn afresh, its flip after a refusal changes nothing and is left out;
        `abstract_hmc` has it.

    Raises:
        ValueError: if a number is out of range, or ``inverse_mass`` is a matrix.

    Example:
        >>> kernel = hmc(lambda q: -0.5 * q @ q, 0.3, 5)
        >>> state, info = kernel.step(jax.random.key(0), kernel.init(jnp.ones(2)))
        >>> bool(info.acceptance_rate > 0.9), bool(info.diverging)
        (True, False)

    Source: notes, section 4.4, with errata N06 and N07; Bou-Rabee and Sanz-Serna (2018).
    """
    steps, jitter = _guard.count("steps", steps), jitter_share(jitter)
    step_size, inverse_mass = (_diagonal(name, x) for name, x in (("step_size", step_size), ("inverse_mass", inverse_mass)))

    def init(position):
        return State(position, *jax.value_and_grad(log_density)(position))

    def step(key, state):
        kick, coin, *length = _streams.split(key, 3 if jitter else 2)
        momentum = jax.random.normal(_streams.unrolled(kick), state.position.shape, state.position.dtype) / jnp.sqrt(inverse_mass)
        start = Phase(state.position, momentum, state.log_density, state.gradient)
        size = step_size * _streams.uniform(length[0], (), minval=1 - jitter, maxval=1 + jitter) if jitter else step_size
        end = leapfrog(log_density, size, inverse_mass)(start, steps)
        before = energy(start, inverse_mass)
        lost = before - energy(end, inverse_mass)
        new = State(end.position, end.log_density, end.gradient)
        kept, info = accept(coin, lost, state, new)
        return kept, HMCInfo(info.acceptance_rate, info.accepted, before, ~(-lost < DIVERGENT))  # not a number is divergent, too

    return Kernel(init, step)


def _diagonal(name, x):
    x = _guard.numbers(name, x)
    if x.ndim > 1:
        raise ValueError(f"{name} has shape {x.shape}; give a number or a diagonal (d,)")
    if not _guard.traced(x) and not bool((x > 0).all()):
        raise ValueError(f"{name} is {x}; give numbers above 0")
    return x


def jitter_share(jitter) -> float:
    """``jitter``, if it is a share of a step size that leaves something of it."""
    if not _guard.share("jitter", jitter) < 1:
        raise ValueError(f"jitter is {jitter}; give a share of at least 0 and below 1")
    return float(jitter)


def abstract_hmc(log_density: Callable, path: Callable, flip: Callable, log_volume: Callable | None = None) -> Kernel:
    r"""The kernel under all of these: go to :math:`\Phi(x)` or, if that is refused, to :math:`S(x)`.

    .. math:: \alpha(x) = 1 \wedge \frac{\eta(\Phi(x))}{\eta(x)}\, |\det \Phi'(x)|

    It leaves :math:`\eta` as it is if :math:`S` is an involution that does not change :math:`\eta`, and :math:`\Phi` runs backwards under
    it: :math:`S \circ \Phi = \Phi^{-1} \circ S`. A refused step has to flip: staying at :math:`x` instead does not keep :math:`\eta`.
    Nothing here is random but the coin, so it takes another kernel, such as fresh momenta, to reach everything.

    Args:
        log_density: :math:`\log\eta`, of a point (any pytree), up to a constant.
        path: :math:`\Phi`.
        flip: :math:`S`.
        log_volume: point -> :math:`\log |\det \Phi'|`; 0 if not given.

    Example:
        >>> normal = lambda x: -0.5 * (x["q"] ** 2 + x["p"] ** 2)
        >>> kernel = abstract_hmc(normal, lambda x: {"q": x["p"], "p": -x["q"]}, lambda x: {"q": x["q"], "p": -x["p"]})
        >>> state, info = kernel.step(jax.random.key(0), kernel.init({"q": jnp.array(1.0), "p": jnp.array(0.0)}))
        >>> float(state.position["p"]), float(info.acceptance_rate)  # a quarter of a turn
        (-1.0, 1.0)

    Source: notes, section 4.4.1 and proposition 4.4.1 (right as printed).
    """

    def init(point):
        return State(point, log_density(point))

    def step(key, state):
        new = init(path(state.position))
        log_alpha = new.log_density - state.log_density
        if log_volume is not None:
            log_alpha += log_volume(state.position)
        return accept(key, log_alpha, State(flip(state.position), state.log_density), new)

    return Kernel(init, step)
