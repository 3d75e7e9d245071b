r"""Densities and moments of :math:`y = \mu + \sigma\, g(z)`, where :math:`z` has a base density and :math:`g` skews it.

`log_density` is that of the safe map, on the whole real line: what a likelihood or a variational family wants.
`log_density_two_branches` is that of the plain map :math:`z e^{\gamma z}`, which meets each value on one side of 0 twice.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from course_pkg import _guard
from course_pkg.families import Base, normal
from course_pkg.lambertw.function import INV_E, lambertw
from course_pkg.lambertw.map import D, g_e_inverse, knee_at, log_slope

STRAIGHT = 1e-8  # |gamma| below which the second origin lies 10^8 away and is forgotten


def log_density(y, mu, sigma, gamma, base: Base | None = None, d: float = D, w: Callable = lambertw):
    r"""Log density of :math:`y = \mu + \sigma\, g_e(z)`, element by element, in nats.

    .. math:: \log p(y) = \log p_Z(z) - \log g_e'(z) - \log\sigma, \qquad z = W_e(\gamma x) / \gamma, \quad x = (y - \mu) / \sigma.

    Neither :math:`\mu` is the mean of :math:`y` nor :math:`\sigma` its standard deviation (erratum T36): see `moments`.

    Args:
        y: real numbers of any shape.
        mu, sigma, gamma: location, scale above 0 and skew, numbers or arrays that broadcast against ``y``.
        base: density of ``z``; standard normal where not given.
        d: where the straight part of the map begins.
        w: what to compute W with from ``d`` upwards: a `tabulated` one is faster and less exact.

    Raises:
        ValueError: if ``sigma`` is not above 0, an argument holds something that is not a finite number, or ``d`` is out of its range.

    Example:
        >>> round(float(log_density(0.0, 0.0, 1.0, 0.3)), 4)
        -0.9189
        >>> float(jax.grad(log_density, argnums=3)(3.0, 0.0, 1.0, 0.0))  # x^3 - 2x, not 0
        21.0

    Source: thesis, section 3.2.2, with errata T37, T39, T41 and TR9.
    """
    y, mu, sigma, gamma = _arguments(y, mu, sigma, gamma)
    base = base or normal()
    z = g_e_inverse((y - mu) / sigma, gamma, d, w)
    return base.log_prob(z) - log_slope(z, gamma, d) - jnp.log(sigma)


def log_density_two_branches(y, mu, sigma, gamma, base: Base | None = None):
    r"""Log density of :math:`y = \mu + \sigma z e^{\gamma z}`, the plain map, which is two-to-one beyond :math:`z = -1/\gamma`.

    Between 0 and :math:`-1/(\gamma e)` two origins :math:`W_k(\gamma x) / \gamma` give the same :math:`x`, one for each branch, and both
    count. Beyond :math:`-1/(\gamma e)` the density is 0; at that point it is infinite. So it is beside 0, on the same side, with a base
    whose tails fall more slowly than :math:`e^{-|\gamma z|}`.

    Args and errors as for `log_density`, without ``d``.

    Example:
        >>> both = log_density_two_branches(-0.7, 0.0, 1.0, 0.5)
        >>> bool(both > log_density(-0.7, 0.0, 1.0, 0.5)), float(log_density_two_branches(-0.8, 0.0, 1.0, 0.5))
        (True, -inf)

    Source: thesis, section 3.2.2, with erratum T38; Goerg (2011).
    """
    y, mu, sigma, gamma = _arguments(y, mu, sigma, gamma)
    base = base or normal()
    x = (y - mu) / sigma
    inside = gamma * x > -INV_E[0]
    u = jnp.where(inside, gamma * x, 0.0)
    w = lambertw(u)
    first = base.log_prob(x * jnp.exp(-w)) - w - jnp.log1p(w)
    twice = inside & (gamma * x < 0) & (jnp.abs(gamma) > STRAIGHT)
    v = lambertw(jnp.where(twice, gamma * x, -0.2), branch=-1)
    second = base.log_prob(v / jnp.where(twice, gamma, -1.0)) - v - jnp.log(-1 - v)
    # minus infinity itself would make the derivative of logaddexp NaN
    log_p = jnp.logaddexp(first, jnp.where(twice, second, jnp.finfo(u.dtype).min))
    return jnp.where(inside, log_p, -jnp.inf) - jnp.log(sigma)


class Moments(NamedTuple):
    """Of a distribution; NaN where a moment does not exist."""

    mean: jax.Array
    variance: jax.Array
    skewness: jax.Array
    kurtosis: jax.Array  # excess: 0 for the normal


def normal_mgf(t):
    r"""Moment-generating function of the standard normal, :math:`e^{t^2 / 2}`."""
    return jnp.exp(t**2 / 2)


def laplace_mgf(t):
    r"""Moment-generating function of the Laplace density, :math:`1 / (1 - t^2)`; infinite from :math:`|t| = 1` on."""
    return jnp.where(jnp.abs(t) < 1, 1 / (1 - t**2), jnp.inf)


def logistic_mgf(t):
    r"""Moment-generating function of the logistic density, :math:`\pi t / \sin(\pi t)`; infinite from :math:`|t| = 1` on."""
    return jnp.where(jnp.abs(t) < 1, 1 / jnp.sinc(t), jnp.inf)


def moments(mu, sigma, gamma, mgf: Callable = normal_mgf) -> Moments:
    r"""Mean, variance, skewness and excess kurtosis of :math:`y = \mu + \sigma z e^{\gamma z}`.

    With :math:`M(t) = \mathbb{E}\,e^{tz}` the moment-generating function of the base, the moment :math:`\mathbb{E}\,(z e^{\gamma z})^k` is
    :math:`M^{(k)}(k \gamma)`, its :math:`k`-th derivative. For the normal base that is :math:`\mathbb{E}\,x = \gamma e^{\gamma^2/2}` and
    :math:`\operatorname{Var} x = e^{2\gamma^2}(1 + 4\gamma^2) - \gamma^2 e^{\gamma^2}`. The plain map is meant; with the safe one the
    numbers differ by what the share of :math:`z` beyond the knee makes of them, see `safe_moments`.

    Args:
        mu, sigma, gamma: one number each; ``sigma`` above 0.
        mgf: the base's moment-generating function, differentiable four times. A base without one (Student's t) has no moments once skewed.

    Returns:
        `Moments`; NaN in what needs a moment :math:`k` for which ``mgf`` is infinite at :math:`k \gamma`.

    Raises:
        ValueError: if ``sigma`` is not above 0 or an argument holds something that is not a finite number.

    Example:
        >>> found = moments(0.0, 1.0, 0.2)
        >>> round(float(found.mean), 3), round(float(found.variance), 3), round(float(found.skewness), 3)
        (0.204, 1.215, 1.241)

    Source: erratum T36; Goerg (2011), for the normal base.
    """
    mu, sigma, gamma = _arguments(mu, sigma, gamma)
    if mu.ndim:
        raise ValueError(f"mu, sigma and gamma have the common shape {mu.shape}; give one number each")
    raw, derivative = [], mgf
    for k in range(1, 5):
        derivative = jax.grad(derivative)
        value = derivative(k * gamma)
        raw.append(jnp.where(jnp.isfinite(mgf(k * gamma)), value, jnp.nan))
    m1, m2, m3, m4 = raw
    variance = m2 - m1**2
    third = m3 - 3 * m1 * m2 + 2 * m1**3
    fourth = m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4
    return Moments(mu + sigma * m1, sigma**2 * variance, third / variance**1.5, fourth / variance**2 - 3)


def safe_moments(mu, sigma, gamma, d: float = D):
    r"""Mean and variance of :math:`y = \mu + \sigma\, g_e(z)` with a standard normal :math:`z`, in closed form.

    Under the weight :math:`e^{k\gamma z}` the normal is another one, with mean :math:`k\gamma`. So each side of the knee brings the
    probability, the mean and the mean square of a part of a normal.

    Args and errors as for `log_density`, without ``y`` and ``base``; ``mu``, ``sigma`` and ``gamma`` are numbers or arrays that broadcast.

    Example:
        >>> [round(float(part), 4) for part in safe_moments(0.0, 1.0, 0.3)]
        [0.3133, 1.5314]

    Source: erratum T36, with the map of erratum T57.
    """
    mu, sigma, gamma = _arguments(mu, sigma, gamma)
    mean, variance = skewed_normal(gamma, knee_at(d))
    return mu + sigma * mean, sigma**2 * variance


def skewed_normal(gamma, knee, m=0.0, s=1.0, xp=jnp, erfc=jax.scipy.special.erfc):
    r"""Mean and variance of :math:`g_e(z)` with :math:`z \sim N(m, s^2)`, for JAX or, by ``xp`` and ``erfc``, for PyTensor."""

    def beyond(m, a):
        """Over a normal's part above ``a``: its probability, and the integrals of ``z`` and of its square."""
        t = (a - m) / s
        share, height = erfc(t / 2**0.5) / 2, xp.exp(-(t**2) / 2) / (2 * np.pi) ** 0.5
        return share, m * share + s * height, (m**2 + s**2) * share + s * (a + m) * height

    side = xp.where(gamma < 0, -1.0, 1.0)
    gamma, m = side * gamma, side * m
    some = xp.maximum(gamma, 1e-6)  # with less, nothing lies beyond the knee
    a, shift = knee.w / some, knee.shift / some
    first = xp.exp(gamma * m + (gamma * s) ** 2 / 2) * beyond(m + gamma * s**2, a)[1]
    second = xp.exp(2 * gamma * m + 2 * (gamma * s) ** 2) * beyond(m + 2 * gamma * s**2, a)[2]
    share, away, square = beyond(-m, -a)  # the straight part: knee.slope * z + shift below a
    mean = first - knee.slope * away + shift * share
    return side * mean, second + knee.slope**2 * square - 2 * knee.slope * shift * away + shift**2 * share - mean**2


def support(mu: float, sigma: float, gamma: float) -> tuple[float, float]:
    r"""Where the plain density lives: right of :math:`\mu - \sigma / (\gamma e)` for a positive skew, left of it for a negative one.

    Example:
        >>> [round(end, 3) for end in support(0.0, 1.0, 0.2)]
        [-1.839, inf]

    Raises:
        ValueError: if ``sigma`` is not above 0 or an argument is not a finite number.

    Source: thesis, section 3.2.3, with erratum TR9.
    """
    mu, sigma, gamma = _guard.number("mu", mu), _guard.positive("sigma", sigma), _guard.number("gamma", gamma)
    if gamma == 0:
        return -np.inf, np.inf
    edge = mu - sigma / (gamma * np.e)
    return (edge, np.inf) if gamma > 0 else (-np.inf, edge)


def _arguments(*given):
    """All of them as arrays of one shape and precision, the scale checked."""
    names = ("y", "mu", "sigma", "gamma")[-len(given) :]
    arrays = _guard.broadcast(**dict(zip(names, given, strict=True)))
    sigma = arrays[-2]
    if not _guard.traced(sigma) and not bool((sigma > 0).all()):
        raise ValueError(f"sigma holds {float(sigma.min()):g}; give scales above 0")
    return arrays
