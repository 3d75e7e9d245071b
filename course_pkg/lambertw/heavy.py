r"""Heavy tails on both sides: Goerg's map :math:`h(z) = z e^{\delta z^2 / 2}`, its inverse by Lambert's W, and the density.

The skewing map of `map` moves mass to one side. This one stretches both, and is one-to-one as it stands: it needs no straight part. Its
inverse takes heavy-tailed data back to the base, which is the "Gaussianize" transform where the base is normal.
"""

import jax
import jax.numpy as jnp

from course_pkg import _guard
from course_pkg.families import Base, normal
from course_pkg.lambertw.function import lambertw


def heavy(z, delta):
    r"""The map :math:`z e^{\delta z^2 / 2}`: the larger :math:`\delta`, the heavier both tails.

    With a normal base the moment of order :math:`n` exists where :math:`n \delta < 1`; the variance, for example, is
    :math:`(1 - 2\delta)^{-3/2}`.

    Args:
        z: real numbers of any shape.
        delta: not below 0, a number or an array that broadcasts against ``z``; 0 changes nothing.

    Raises:
        ValueError: if ``delta`` is below 0, or an argument holds something that is not a finite number.

    Example:
        >>> [round(float(heavy(z, 0.2)), 3) for z in (-2.0, 0.5, 2.0)]
        [-2.984, 0.513, 2.984]

    Source: Goerg (2015), "The Lambert way to Gaussianize heavy-tailed data"; the map is Tukey's h.
    """
    z, delta = _given("z", z, delta)
    return z * jnp.exp(0.5 * delta * z**2)


def heavy_inverse(x, delta):
    r"""The inverse of `heavy`, :math:`z = \operatorname{sgn}(x) \sqrt{W(\delta x^2) / \delta} = x\, e^{-W(\delta x^2) / 2}`.

    Args and errors as for `heavy`, with ``x`` for ``z``. The second form divides by nothing at :math:`\delta = 0`.

    Example:
        >>> round(float(heavy_inverse(heavy(-1.5, 0.2), 0.2)), 5)
        -1.5
        >>> float(jax.grad(heavy_inverse, argnums=1)(2.0, 0.0))  # minus half of x cubed: the tails are felt at zero, too
        -4.0

    Source: Goerg (2015).
    """
    return _inverse(*_given("x", x, delta))


def heavy_log_density(y, mu, sigma, delta, base: Base | None = None):
    r"""Log density of :math:`y = \mu + \sigma\, h(z)`, element by element, in nats.

    .. math:: \log p(y) = \log p_Z(z) - \tfrac12 \delta z^2 - \log(1 + \delta z^2) - \log\sigma, \qquad
        z = x\, e^{-W(\delta x^2) / 2}, \quad x = (y - \mu) / \sigma.

    Args:
        y: real numbers of any shape.
        mu, sigma, delta: location, scale above 0 and tail parameter not below 0, numbers or arrays that broadcast against ``y``.
        base: density of ``z``; standard normal where not given.

    Raises:
        ValueError: if ``sigma`` is not above 0 or ``delta`` is below 0, or an argument holds something that is not a finite number.

    Example:
        >>> round(float(heavy_log_density(0.0, 0.0, 1.0, 0.3)), 4)
        -0.9189
        >>> bool(heavy_log_density(6.0, 0.0, 1.0, 0.3) > heavy_log_density(6.0, 0.0, 1.0, 0.0) + 10)
        True

    Source: Goerg (2015).
    """
    y, mu, sigma, delta = _guard.broadcast(y=y, mu=mu, sigma=sigma, delta=delta)
    if not _guard.traced(sigma) and not bool((sigma > 0).all()):
        raise ValueError(f"sigma holds {float(sigma.min()):g}; give scales above 0")
    z = heavy_inverse((y - mu) / sigma, delta)
    square = delta * z**2
    return (base or normal()).log_prob(z) - 0.5 * square - jnp.log1p(square) - jnp.log(sigma)


def _given(name, value, delta):
    value, delta = _guard.broadcast(**{name: value, "delta": delta})
    _guard.nonnegative("delta", delta)
    return value, delta


@jax.custom_jvp
def _inverse(x, delta):
    return x * jnp.exp(-0.5 * lambertw(delta * x**2))


@_inverse.defjvp
def _inverse_jvp(primals, tangents):
    """Both sides of z exp(delta z^2 / 2) = x differentiated."""
    (x, delta), (dx, ddelta) = primals, tangents
    z = _inverse(x, delta)
    square = delta * z**2
    return z, (jnp.exp(-0.5 * square) * dx - 0.5 * z**3 * ddelta) / (1 + square)
