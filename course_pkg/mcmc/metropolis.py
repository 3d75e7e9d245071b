r"""Metropolis-Hastings: propose, compare, keep or stay.

A proposal :math:`y \sim s(\cdot \mid x)` is accepted with probability

.. math:: \alpha(x, y) = 1 \wedge \frac{\pi(y)\, s(x \mid y)}{\pi(x)\, s(y \mid x)}.

Probability then flows from :math:`x` to :math:`y` as fast as it flows back (detailed balance), so that :math:`\pi` stays as it is. The
constant of :math:`\pi` cancels.
"""

from collections.abc import Callable

import jax

from course_pkg import _guard, _streams
from course_pkg.mcmc.kernel import Kernel, State, accept


def metropolis_hastings(log_density: Callable, propose: Callable, log_ratio: Callable | None = None) -> Kernel:
    r"""Metropolis-Hastings with any proposal.

    Args:
        log_density: position -> :math:`\log \pi`, up to a constant; ``-inf`` outside the support.
        propose: ``(key, x) -> y``, of the same shapes.
        log_ratio: ``(x, y) ->`` :math:`\log s(x \mid y) - \log s(y \mid x)`, the way back over the way there; not needed if the proposal is
            symmetric.

    Returns:
        `Kernel`; a position may be any pytree of arrays.

    Example:
        >>> import jax.numpy as jnp
        >>> kernel = metropolis_hastings(lambda x: -x, lambda key, x: x * jnp.exp(jax.random.normal(key)), lambda x, y: jnp.log(y / x))
        >>> state, info = kernel.step(jax.random.key(1), kernel.init(jnp.array(1.0)))  # target: the exponential distribution
        >>> bool(state.position > 0)
        True

    Source: thesis, section 2.2.1 and algorithm 1 (its equation 2.3 is right as printed); notes, section 4.2.
    """

    def init(position):
        return State(position, log_density(position))

    def step(key, state):
        move, coin = _streams.split(key)
        new = init(propose(move, state.position))
        log_alpha = new.log_density - state.log_density
        if log_ratio is not None:
            log_alpha += log_ratio(state.position, new.position)
        return accept(coin, log_alpha, state, new)

    return Kernel(init, step)


def random_walk(log_density: Callable, scale) -> Kernel:
    r"""Random-walk Metropolis: :math:`y = x + A\xi`, :math:`\xi \sim \mathcal{N}(0, I)`.

    Args:
        log_density: position ``(d,)`` -> :math:`\log \pi`, up to a constant.
        scale: the matrix :math:`A`: one number or ``(d,)`` for a diagonal, ``(d, d)`` for a whole matrix, such as the Cholesky factor of
            a covariance. About :math:`2.4/\sqrt d` standard deviations of the target is a good length for a target that looks normal.

    Raises:
        ValueError: if ``scale`` is not finite or has more than two dimensions, or a number or diagonal is not above 0.

    Example:
        >>> import jax.numpy as jnp
        >>> kernel = random_walk(lambda x: -0.5 * x @ x, 1.0)
        >>> kernel.step(jax.random.key(0), kernel.init(jnp.zeros(2)))[0].position.shape
        (2,)

    Source: thesis, section 2.2.1; notes, section 4.2. The length: Roberts, Gelman and Gilks (1997).
    """
    scale = _guard.numbers("scale", scale)
    if scale.ndim > 2 or (scale.ndim == 2 and scale.shape[0] != scale.shape[1]):
        raise ValueError(f"scale has shape {scale.shape}; give a number, a diagonal (d,) or a matrix (d, d)")
    if scale.ndim < 2 and not _guard.traced(scale) and not bool((scale > 0).all()):
        raise ValueError(f"scale is {scale}; give numbers above 0")

    def propose(key, x):
        noise = jax.random.normal(_streams.unrolled(key), x.shape, x.dtype)
        return x + (scale @ noise if scale.ndim == 2 else scale * noise)

    return metropolis_hastings(log_density, propose)


def independence(log_density: Callable, sample: Callable, log_prob: Callable) -> Kernel:
    r"""Metropolis-Hastings with proposals that forget where the chain is: :math:`s(y \mid x) = s(y)`.

    Where :math:`\pi / s` is unbounded the chain sticks in the tails of :math:`\pi` for ever longer; where it is bounded by :math:`K`
    (both densities normalised), its total variation distance from :math:`\pi` is at most :math:`(1 - 1/K)^n` after n steps.

    Args:
        log_density: position -> :math:`\log \pi`, up to a constant.
        sample: ``key -> y``.
        log_prob: ``y ->`` :math:`\log s(y)`, up to a constant.

    Example:
        >>> import jax.numpy as jnp
        >>> from course_pkg import families
        >>> q, lam = families.mean_field_normal(), families.mean_field_normal().init(2, scale=1.0)
        >>> draw = lambda key: families.sample(key, q, lam, 1)[0]
        >>> kernel = independence(lambda x: -0.5 * x @ x, draw, lambda y: families.log_prob(q, lam, y))
        >>> bool(kernel.step(jax.random.key(0), kernel.init(jnp.zeros(2)))[1].accepted)  # the target itself: always accepted
        True

    Source: notes, section 4.2; Mengersen and Tweedie (1996) for the rate.
    """
    return metropolis_hastings(log_density, lambda key, x: sample(key), lambda x, y: log_prob(x) - log_prob(y))  # noqa: ARG005


def langevin(log_density: Callable, step_size) -> Kernel:
    r"""Metropolis-adjusted Langevin: a step uphill and noise, :math:`y = x + \frac{h^2}{2} \nabla\log\pi(x) + h\,\xi`.

    The proposal is not symmetric, so its ratio stays in the acceptance. It is one leapfrog step of `hmc`, read in another way.

    Args:
        log_density: position ``(d,)`` -> :math:`\log \pi`, differentiable.
        step_size: :math:`h`, above 0; a number or ``(d,)``.

    Raises:
        ValueError: if ``step_size`` is not above 0, or is a matrix.

    Example:
        >>> import jax.numpy as jnp
        >>> kernel = langevin(lambda x: -0.5 * x @ x, 0.8)
        >>> kernel.step(jax.random.key(0), kernel.init(jnp.ones(3)))[0].gradient.shape
        (3,)

    Source: Roberts and Tweedie (1996); a case of notes, section 4.2.
    """
    h = _guard.numbers("step_size", step_size)
    if h.ndim > 1:
        raise ValueError(f"step_size has shape {h.shape}; give a number or one for each coordinate (d,)")
    if not _guard.traced(h) and not bool((h > 0).all()):
        raise ValueError(f"step_size is {h}; give numbers above 0")
    value_and_grad = jax.value_and_grad(log_density)

    def init(position):
        return State(position, *value_and_grad(position))

    def log_proposal(start, end):
        """Up to a constant, which cancels."""
        return -0.5 * (((end.position - start.position - 0.5 * h**2 * start.gradient) / h) ** 2).sum()

    def step(key, state):
        move, coin = _streams.split(key)
        noise = jax.random.normal(_streams.unrolled(move), state.position.shape, state.position.dtype)
        new = init(state.position + 0.5 * h**2 * state.gradient + h * noise)
        log_alpha = new.log_density - state.log_density + log_proposal(new, state) - log_proposal(state, new)
        return accept(coin, log_alpha, state, new)

    return Kernel(init, step)
