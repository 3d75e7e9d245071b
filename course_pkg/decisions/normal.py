r"""What a loss is worth on average, in closed form, where the truth is normal.

With :math:`y \sim N(m, s^2)` and :math:`d = (h - m)/s` the expected loss, and the logarithm of the expectation of :math:`e^{-\ell/M}`,
need no draws:

- squared: :math:`\mathbb{E}\,\ell = (h-m)^2 + s^2`;
- imbalanced with prices :math:`a, b` (tilted: :math:`q, 1-q`): :math:`s\,[(a+b)(\phi(d) + d\,\Phi(d)) - a\,d]`;
- LinEx: :math:`e^{c(h-m) + c^2s^2/2} - c(h-m) - 1`;
- :math:`e^{-\ell/M}` of the squared loss: :math:`-\frac12\log(1+2s^2/M) - (h-m)^2/(M+2s^2)`;
- :math:`e^{-\ell/M}` of the imbalanced loss: two tails of the normal, added on the log scale.

The two with tails carry their derivatives with them, which cost nothing once the value is known. Each loss of `losses` holds those of its
own (`Loss.normal_risk`, `Loss.normal_log_utility`). Source: elementary.
"""

import jax
import jax.numpy as jnp
from jax.scipy.special import log_ndtr

SQRT_HALF = 0.7071067811865476
INV_SQRT_2PI = 0.3989422804014327


def squared_risk(mean, sd, h):
    """Expected squared loss."""
    return (h - mean) ** 2 + sd**2


def imbalanced_risk(a, b, mean, sd, h):
    """Expected imbalanced loss."""
    return sd * (a + b) * _tail(a / (a + b), (h - mean) / sd)


def linex_risk(c, mean, sd, h):
    """Expected LinEx loss."""
    return jnp.expm1(c * (h - mean) + 0.5 * (c * sd) ** 2) - c * (h - mean)


def squared_log_utility(mean, sd, h, M):
    """Log of the expectation of the exponential of minus the squared loss over M."""
    return -0.5 * jnp.log1p(2 * sd**2 / M) - (h - mean) ** 2 / (M + 2 * sd**2)


def imbalanced_log_utility(a, b, mean, sd, h, M):
    """Log of the expectation of the exponential of minus the imbalanced loss over M."""
    return _log_two_tails((h - mean) / sd, a * sd / M, b * sd / M)


@jax.custom_jvp
def _tail(q, d):
    r"""Expected tilted loss of a standard normal, :math:`\phi(d) + d\,(\Phi(d) - q)`; its derivative is :math:`\Phi(d) - q`."""
    return INV_SQRT_2PI * jnp.exp(-0.5 * d * d) + d * (_Phi(d) - q)


@_tail.defjvp
def _tail_slope(primals, tangents):
    (q, d), (dq, dd) = primals, tangents
    slope = _Phi(d) - q
    value = INV_SQRT_2PI * jnp.exp(-0.5 * d * d) + d * slope
    return value, slope * dd - (0.0 if isinstance(dq, float) and dq == 0 else d * dq)


@jax.custom_jvp
def _log_two_tails(d, c, b):
    r"""Log of :math:`\mathbb{E}[e^{-c(z-d)}; z > d] + \mathbb{E}[e^{-b(d-z)}; z < d]` for a standard normal :math:`z`."""
    return jnp.logaddexp(*_two_tails(d, c, b))


def _two_tails(d, c, b):
    above = c * d + 0.5 * c * c + log_ndtr(-d - c)
    below = -b * d + 0.5 * b * b + log_ndtr(d - b)
    return above, below


@_log_two_tails.defjvp
def _log_two_tails_slope(primals, tangents):
    d, c, b = primals
    dd, dc, db = tangents
    above, below = _two_tails(d, c, b)
    value = jnp.logaddexp(above, below)
    share = jnp.exp(above - value)  # of the expected utility that lies above h
    edge = INV_SQRT_2PI * jnp.exp(-0.5 * d * d - value)  # density at h over the whole
    by_c = share * (d + c) - edge
    by_b = (1 - share) * (b - d) - edge
    return value, dd * (c * share - b * (1 - share)) + dc * by_c + db * by_b


def _Phi(d):
    return 0.5 * jax.lax.erfc(-SQRT_HALF * d)
