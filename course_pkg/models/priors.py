r"""Pieces that several models share: scales that stay positive, and priors on them.

A scale is unconstrained by a link: :math:`\tau = g(t)` with :math:`g` exponential or softplus. The density of :math:`t` is that of
:math:`\tau` times the slope :math:`g'(t)`. All is computed from :math:`\log \tau`, which stays finite long after :math:`\tau` does.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.special import gammaln

from course_pkg import _guard

LOG_SQRT_2PI = 0.9189385332046727
LOG_2_OVER_PI = -0.4515827052894548


class Linked(NamedTuple):
    """A positive number, seen three ways."""

    value: jax.Array
    log: jax.Array
    log_slope: jax.Array  # log of d value / dt


def positive(link: str, t) -> Linked:
    r"""The positive number that ``t`` stands for, under the link ``"exp"`` or ``"softplus"``.

    Example:
        >>> value, log, log_slope = positive("exp", jnp.array(2.0))
        >>> float(log), float(log_slope)
        (2.0, 2.0)
    """
    if link == "exp":
        return Linked(jnp.exp(t), t, t)
    far = t < -15.0  # there softplus(t) = exp(t) to the last digit, and its logarithm would underflow
    log = jnp.where(far, t, jnp.log(jax.nn.softplus(jnp.where(far, 0.0, t))))
    return Linked(jax.nn.softplus(t), log, jax.nn.log_sigmoid(t))


def check_link(link: str) -> str:
    """`link`, if it is one of the two."""
    return _guard.choice("link", link, ("exp", "softplus"))


def log_normal(x, mean, log_sd):
    r"""Log density of :math:`N(\text{mean}, \text{sd}^2)`, from the logarithm of the standard deviation."""
    return -0.5 * ((x - mean) * jnp.exp(-log_sd)) ** 2 - log_sd - LOG_SQRT_2PI


def log_half_cauchy(log_x, scale: float):
    r"""Log density at :math:`x > 0` of the half-Cauchy, :math:`2 / (\pi s (1 + x^2/s^2))`, from :math:`\log x`."""
    log_scale = jnp.log(scale)
    return LOG_2_OVER_PI - log_scale - jax.nn.softplus(2 * (log_x - log_scale))


def log_half_normal(x, scale: float):
    r"""Log density at :math:`x > 0` of a normal folded at 0."""
    return -0.5 * (x / scale) ** 2 + jnp.log(2.0) - jnp.log(scale) - LOG_SQRT_2PI


def log_gamma_of_log(log_x, shape: float, rate: float):
    r"""Log density of :math:`\log x` where :math:`x \sim \mathrm{Gamma}(\text{shape}, \text{rate})`, Jacobian included."""
    return shape * (jnp.log(rate) + log_x) - rate * jnp.exp(log_x) - gammaln(shape)


def scales(prior_sd, dim: int):
    """`prior_sd` as `dim` positive numbers; infinite ones stand for a flat prior."""
    scale = _guard.floats("prior_sd", prior_sd)
    if scale.shape not in ((), (dim,)):
        raise ValueError(f"prior_sd has shape {scale.shape}; give one number or {dim}, one for each weight")
    if not _guard.traced(scale) and not bool((scale > 0).all()):
        raise ValueError(f"prior_sd is {prior_sd}; give something above 0, or inf for a flat prior")
    return jnp.broadcast_to(scale, (dim,))


def flat_or_normal(prior_sd, theta):
    """Sum of log densities of independent normals around 0; an infinite scale counts as density 1."""
    flat = jnp.isinf(prior_sd)
    log_density = jax.scipy.stats.norm.logpdf(theta, 0.0, jnp.where(flat, 1.0, prior_sd))
    return jnp.where(flat, 0.0, log_density).sum()
