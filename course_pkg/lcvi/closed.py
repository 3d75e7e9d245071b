r"""The inner expectation in closed form, for an outcome that is normal given :math:`\theta`.

With :math:`y \sim N(m, s^2)` the expected loss and the logarithm of the expected utility need no draws, where the loss says so:
`Loss.normal_risk` and `Loss.normal_log_utility` hold the integrals. The package's losses have theirs from `decisions.normal`; a loss of
your own may have its own.
"""

from collections.abc import Callable

from course_pkg import _guard
from course_pkg.decisions.rules import as_loss
from course_pkg.lcvi.utilities import Utility, as_utility


def expected_loss(loss, mean, sd, h):
    r"""Expected loss :math:`\mathbb{E}[\ell(y, h)]` of an outcome :math:`y \sim N(\text{mean}, \text{sd}^2)`, in closed form.

    Args:
        loss: squared, absolute, tilted, imbalanced, LinEx, or any `Loss` with a ``normal_risk``.
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
    loss = as_loss(loss)
    if loss.normal_risk is None:
        raise ValueError(f"loss is {loss.name}, which has no closed form here; use draws of the outcome, or give it a normal_risk")
    return loss.normal_risk(*_moments(mean, sd, h))


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


def utility_form(utility: Utility) -> Callable | None:
    """The function ``(mean, sd, h) -> log expected utility``, or None where no closed form is known."""
    loss, M = utility.loss, utility.M
    if loss is None or M is None:
        return None
    risk, log_utility = loss.normal_risk, loss.normal_log_utility
    if utility.linear:
        return None if risk is None else lambda mean, sd, h: -risk(mean, sd, h) / M
    if utility.log is None or log_utility is None:
        return None
    return lambda mean, sd, h: log_utility(mean, sd, h, M)


def _moments(mean, sd, h):
    mean, sd, h = _guard.broadcast(mean=mean, sd=sd, h=h)
    if not _guard.traced(sd) and not bool((sd > 0).all()):
        raise ValueError(f"sd holds {float(sd.min()):g}; give standard deviations above 0")
    return mean, sd, h
