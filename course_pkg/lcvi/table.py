r"""The inner expectation from a table: any loss of the difference between decision and outcome, any noise of a known shape.

If :math:`y = m + s z` and the loss looks at :math:`h - y` alone, then :math:`\log \mathbb{E}[u(y, h)]` is a function of
:math:`d = (h - m)/s` alone. It is integrated once, on a thousand points, and afterwards read off a cubic.
"""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from scipy import stats

from course_pkg import _guard
from course_pkg.lcvi.utilities import Utility

REACH, FAR, POINTS, NODES = 12.0, 10.0, 1024, 96


def location_table(utility: Utility, sd: float, noise=None) -> Callable:
    r"""The function ``(mean, h) -> log expected utility``, or :math:`-\mathbb{E}\,\ell/M` if linearised, read off a table.

    Cubic between a thousand points of :math:`d` within 12, straight beyond. The derivative is that of the cubic.

    Args:
        utility: of the difference between decision and outcome alone; checked at some points.
        sd: :math:`s`, above 0, one number.
        noise: distribution of :math:`z` with a ``pdf`` and a ``cdf``, as SciPy has them; standard normal where not given. What it has
            beyond 10 on either side is left out, so heavy tails are not for this table.

    Raises:
        ValueError: if the utility is negative or depends on more than the difference, ``sd`` is not above 0, or the noise has heavy tails.

    Example:
        >>> from course_pkg.decisions import absolute
        >>> from course_pkg.lcvi.utilities import linearised
        >>> read = location_table(linearised(absolute(), 1.0), sd=2.0)
        >>> round(float(read(jnp.array(1.0), jnp.array(1.0))), 3)  # -2 sqrt(2 / pi)
        -1.596

    Source: elementary; LCVI paper, equation 4.
    """
    sd = _guard.positive("sd", sd)
    _check_difference(utility, sd)
    noise = stats.norm if noise is None else noise
    if noise.cdf(FAR) - noise.cdf(-FAR) < 1 - 1e-6:
        raise ValueError(
            f"noise has more than a millionth of its mass beyond {FAR:g}, which the table leaves out; use draws of the outcome"
        )
    knots = np.linspace(-REACH, REACH, POINTS + 1)
    values = _integrate(utility, sd, noise, knots)
    slopes = np.gradient(values, knots, edge_order=2) * (knots[1] - knots[0])
    rise = np.diff(values)
    cubic = [values[:-1], slopes[:-1], 3 * rise - 2 * slopes[:-1] - slopes[1:], slopes[:-1] + slopes[1:] - 2 * rise]
    c0, c1, c2, c3 = (jnp.asarray(c, jnp.result_type(float)) for c in cubic)
    per_unit = POINTS / (2 * REACH)
    first, last = float(slopes[0]), float(slopes[-1])

    def read(mean, h):
        place = ((h - mean) / sd + REACH) * per_unit
        within = jnp.clip(place, 0.0, POINTS)
        i = jnp.minimum(within.astype(jnp.int32), POINTS - 1)
        t = within - i
        value = c0[i] + t * (c1[i] + t * (c2[i] + t * c3[i]))
        return value + first * jnp.minimum(place, 0.0) + last * jnp.maximum(place - POINTS, 0.0)

    return read


def _check_difference(utility, sd):
    y = jnp.linspace(-3.0, 3.0, 7) * sd
    here, there = [(utility.loss if utility.linear else utility)(y + shift, 0.5 * sd + shift) for shift in (0.0, 2.0 * sd)]
    if not np.allclose(here, there, rtol=1e-3, atol=1e-4):
        raise ValueError(f"utility {utility.name} depends on more than the difference of decision and outcome; use draws of the outcome")
    if not utility.linear and bool((here < 0).any()):
        raise ValueError(f"utility {utility.name} is negative and has no logarithm there; raise M, or use linearised or exponential")


def _integrate(utility, sd, noise, knots):
    """Gauss and Legendre on either side of the decision, where the loss may have a kink."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    total = np.zeros_like(knots)
    low, high = -FAR, FAR
    middle = np.clip(knots, low, high)
    for a, b in ((np.full_like(knots, low), middle), (middle, np.full_like(knots, high))):
        z = a[:, None] + (b - a)[:, None] * (nodes + 1) / 2
        y, h = jnp.asarray(sd * z), jnp.asarray(sd * knots)[:, None]
        worth = utility.loss(y, h) if utility.linear else utility(y, h)
        total += ((b - a)[:, None] / 2 * weights * noise.pdf(z) * np.asarray(worth, dtype=float)).sum(axis=1)
    if utility.linear:
        return -total / utility.M
    # far out the expectation may be smaller than any number that single precision holds
    return np.log(np.maximum(total, np.finfo(np.float32).tiny))
