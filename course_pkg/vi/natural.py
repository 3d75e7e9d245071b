r"""The metric of an exponential family, and the gradient that heeds it.

A density of an exponential family is :math:`q_\eta(x) = h(x) \exp(\eta^\top t(x) - A(\eta))`. Its mean parameters are the slopes of the log
normaliser A, its Fisher matrix A's second derivatives. One function, A, is the whole family.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from course_pkg import _guard


def fisher(log_normaliser: Callable, eta):
    r"""Fisher matrix of an exponential family in its natural parameters, :math:`\nabla^2 A(\eta)`: the covariance of :math:`t(x)`.

    Args:
        log_normaliser: A, of natural parameters ``(d,)`` to a number, written with `jax.numpy`.
        eta: natural parameters, shape ``(d,)``, where A is finite.

    Returns:
        Matrix, shape ``(d, d)``, in the units of the products of two statistics.

    Raises:
        ValueError: if ``eta`` is no vector of finite numbers, or A or its second derivatives are not finite there.

    Example:
        >>> fisher(lambda eta: jax.nn.softplus(eta[0]), [0.0]).tolist()  # one toss of a fair coin
        [[0.25]]

    Source: Amari (1998); for exponential families Hoffman, Blei, Wang and Paisley (2013).
    """
    eta = _guard.numbers("eta", eta, ndim=1)
    _guard.traceable("log_normaliser", log_normaliser, eta)
    value, found = log_normaliser(eta), jax.hessian(log_normaliser)(eta)
    if not _guard.traced(found) and not bool(jnp.isfinite(value) & jnp.isfinite(found).all()):
        raise ValueError(f"eta is {eta}, where log_normaliser or its curvature is not finite; give parameters inside the family")
    return found


def natural_gradient(log_normaliser: Callable, objective: Callable, eta):
    r"""Direction in which ``objective`` rises most for a small divergence from :math:`q_\eta`: :math:`F(\eta)^{-1} \nabla f(\eta)`.

    In a conditionally conjugate model, with f the ELBO as a function of one factor, it is the coordinate-ascent update less ``eta``.

    Args:
        log_normaliser: as in `fisher`; without a direction in which A is a straight line, or the Fisher matrix has no inverse.
        objective: f, of natural parameters ``(d,)`` to a number, written with `jax.numpy`.
        eta: natural parameters, shape ``(d,)``.

    Returns:
        Direction, shape ``(d,)``.

    Raises:
        ValueError: as `fisher`, and if the Fisher matrix is singular.

    Example:
        >>> A = lambda eta: -(eta[0] ** 2) / (4 * eta[1]) - jnp.log(-2 * eta[1]) / 2  # normal: m / v and -1 / (2 v)
        >>> target = jnp.array([2.0, -1.0])
        >>> bound = lambda eta: (target - eta) @ jax.grad(A)(eta) + A(eta)  # minus the divergence from the normal of `target`, + constant
        >>> bool(jnp.allclose(natural_gradient(A, bound, jnp.array([0.0, -0.5])), target - jnp.array([0.0, -0.5]), atol=1e-5))
        True

    Source: Amari (1998).
    """
    metric = fisher(log_normaliser, eta)
    eta = _guard.numbers("eta", eta, ndim=1)
    _guard.traceable("objective", objective, eta)
    direction = jnp.linalg.solve(metric, jax.grad(objective)(eta))
    if not _guard.traced(direction) and (not bool(jnp.isfinite(direction).all()) or _singular(metric)):
        raise ValueError(f"log_normaliser is a straight line in some direction at eta = {eta}; leave a redundant parameter out")
    return direction


def _singular(metric) -> bool:
    """Whether rounding is all that gives the matrix an inverse, each statistic measured in its own standard deviation."""
    size = jnp.sqrt(jnp.diagonal(metric))
    least = jnp.linalg.eigvalsh(metric / jnp.outer(size, size))[0]
    return not bool(least > 4 * len(size) * jnp.finfo(metric.dtype).eps)
