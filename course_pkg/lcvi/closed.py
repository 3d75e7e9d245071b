r"""The inner expectation in closed form, for an outcome that is normal given :math:`\theta`.

With :math:`y \sim N(m, s^2)` and :math:`d = (h - m)/s` the expected loss and the logarithm of the expected utility need no draws:

- squared: :math:`\mathbb{E}\,\ell = (h-m)^2 + s^2`;
- imbalanced with prices :math:`a, b` (tilted: :math:`q, 1-q`): :math:`s\,[(a+b)(\phi(d) + d\,\Phi(d)) - a\,d]`;
- LinEx: :math:`e^{c(h-m) + c^2s^2/2} - c(h-m) - 1`;
- :math:`e^{-\gamma(h-y)^2}`: :math:`-\frac12\log(1+2\gamma s^2) - \gamma(h-m)^2/(1+2\gamma s^2)`;
- :math:`e^{-\gamma\ell}` of the imbalanced loss: two tails of the normal, added on the log scale.

The two with tails carry their derivatives with them, which cost nothing once the value is known.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax.scipy.special import log_ndtr

from course_pkg import _guard
from course_pkg.decisions import losses
from course_pkg.decisions.losses import Loss
from course_pkg.decisions.rules import as_loss
from course_pkg.lcvi.utilities import Utility, as_utility

SQRT_HALF = 0.7071067811865476
INV_SQRT_2PI = 0.3989422804014327


def expected_loss(loss, mean, sd, h):
    r"""Expected loss :math:`\mathbb{E}[\ell(y, h)]` of an outcome :math:`y \sim N(\text{mean}, \text{sd}^2)`, in closed form.

    Args:
        loss: squared, absolute, tilted, imbalanced or LinEx.
        mean: any shape.
        sd: above 0; a shape that broadcasts with it.
        h: decisions, likewise.

    Raises:
        ValueError: if the loss has no closed form here, a number is not finite, the shapes do not fit, or ``sd`` is not above 0.

    Example:
        >>> from course_pkg.decisions import squared
        >>> float(expected_loss(squared(), 1.0, 2.0, 4.0))
        13.0

    Source: elementary; thesis, section 4.1.5 has draws in its place.
    """
    form = loss_form(as_loss(loss))
    if form is None:
        raise ValueError(f"loss is {as_loss(loss).name}, which has no closed form here; use draws of the outcome")
    return form(*_moments(mean, sd, h))


def log_expected_utility(utility: Utility, mean, sd, h):
    r"""Log of the expected utility of an outcome :math:`y \sim N(\text{mean}, \text{sd}^2)`; :math:`-\mathbb{E}\,\ell/M` if linearised.

    Raises:
        ValueError: if the utility has no closed form here, or ``sd`` is not above 0.

    Example:
        >>> from course_pkg.decisions import squared
        >>> from course_pkg.lcvi.utilities import exponential
        >>> round(float(log_expected_utility(exponential(squared(), 2.0), 0.0, 1.0, 0.0)), 4)  # -log(2) / 2
        -0.3466

    Source: LCVI paper, equation 4, with the inner integral done.
    """
    utility = as_utility(utility)
    form = utility_form(utility)
    if form is None:
        raise ValueError(f"utility is {utility.name}, which has no closed form here; use draws of the outcome")
    return form(*_moments(mean, sd, h))


def loss_form(loss: Loss) -> Callable | None:
    """The function ``(mean, sd, h) -> expected loss``, or None where no closed form is known."""
    kind, arguments = _kind(loss)
    if kind is losses._squared:
        return lambda mean, sd, h: (h - mean) ** 2 + sd**2
    if kind in (losses._absolute, losses._imbalanced):
        a, b = arguments or (1.0, 1.0)
        return lambda mean, sd, h: sd * (a + b) * _tail(a / (a + b), (h - mean) / sd)
    if kind is losses._linex:
        (c,) = arguments
        return lambda mean, sd, h: jnp.expm1(c * (h - mean) + 0.5 * (c * sd) ** 2) - c * (h - mean)
    return None


def utility_form(utility: Utility) -> Callable | None:
    """The function ``(mean, sd, h) -> log expected utility``, or None where no closed form is known."""
    if utility.loss is None or utility.M is None:
        return None
    M, form = utility.M, loss_form(utility.loss)
    if utility.linear:
        return None if form is None else lambda mean, sd, h: -form(mean, sd, h) / M
    if utility.log is None:
        return None
    kind, arguments = _kind(utility.loss)
    if kind is losses._squared:
        return lambda mean, sd, h: -0.5 * jnp.log1p(2 * sd**2 / M) - (h - mean) ** 2 / (M + 2 * sd**2)
    if kind in (losses._absolute, losses._imbalanced):
        a, b = arguments or (1.0, 1.0)
        return lambda mean, sd, h: _log_two_tails((h - mean) / sd, a * sd / M, b * sd / M)
    return None


def is_squared(utility: Utility) -> bool:
    """Whether the utility was made of squared loss, whose closed form is the cheapest of all."""
    return utility.loss is not None and _kind(utility.loss)[0] is losses._squared


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


def _kind(loss: Loss):
    function = loss.loss
    return getattr(function, "func", function), getattr(function, "args", ())


def _moments(mean, sd, h):
    mean, sd, h = _guard.broadcast(mean=mean, sd=sd, h=h)
    if not _guard.traced(sd) and not bool((sd > 0).all()):
        raise ValueError(f"sd holds {float(sd.min()):g}; give standard deviations above 0")
    return mean, sd, h
