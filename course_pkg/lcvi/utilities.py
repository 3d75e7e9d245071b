r"""Utilities: what a decision is worth, and how a loss becomes one.

Calibration needs a utility :math:`u(y, h) \ge 0`, because it works on the logarithm of an expected utility. A loss turns into one by
:math:`M - \ell`, where :math:`M` is its supremum; by the same with a quantile :math:`M_q` of the losses that are met, when the logarithm
is replaced by its tangent (`linearised`); or by :math:`e^{-\ell/M}` (`exponential`). The first keeps the Bayes decision, the last does not
(erratum P07).
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial

from course_pkg import _guard
from course_pkg.decisions.losses import Loss, as_partial, exponential_utility, shifted_utility
from course_pkg.decisions.rules import as_loss


class Utility(NamedTuple):
    r"""A utility :math:`u(y, h) \ge 0`, and what is known about it. Call it like its equation: ``utility(y, h)``."""

    name: str
    utility: Callable  # (y, h) -> worth, element by element
    log: Callable | None = None  # (y, h) -> log u, where that is known without taking a logarithm
    loss: Loss | None = None  # what it was made of
    M: float | None = None  # in the unit of the loss; 1 / gamma for the exponential map
    linear: bool = False  # calibrate with -loss / M, the tangent of the logarithm at no loss
    infimum: float = 0.0  # of the utility; at 0 the pull is strongest at every point

    def __call__(self, y, h):
        """The worth of deciding ``h`` when the truth is ``y``, element by element."""
        return self.utility(y, h)


def direct(utility: Callable, *, log: Callable | None = None, name: str | None = None, infimum: float = 0.0) -> Utility:
    """A utility that was given as such.

    Args:
        utility: ``(y, h) -> worth``, elementwise, written in JAX, never negative.
        log: its logarithm, if that is known in closed form: it spares the estimators an underflow.
        name: for messages.
        infimum: the smallest worth. Above 0, every point pulls less than it could: subtract it with `affine`.

    Raises:
        ValueError: if ``utility`` is no function or ``infimum`` is negative.

    Example:
        >>> import jax.numpy as jnp
        >>> u = direct(lambda y, h: jnp.exp(-((h - y) ** 2)), log=lambda y, h: -((h - y) ** 2))
        >>> float(u(1.0, 1.0))
        1.0

    Source: LCVI paper, sections 2.1 and 6.3.
    """
    if not callable(utility):
        raise ValueError(f"utility is {utility!r}; give a function of truth and decision")
    if _guard.number("infimum", infimum) < 0:
        raise ValueError(f"infimum is {infimum:g}: the utility would go negative and have no logarithm; add {-infimum:g} to it")
    return Utility(name or str(getattr(utility, "__name__", "utility")), utility, log, infimum=float(infimum))


def from_loss(loss, M: float | None = None) -> Utility:
    r"""The utility :math:`M - \ell(y, h)` of a bounded loss, with :math:`M` its supremum where none is given. It keeps the Bayes decision.

    Raises:
        ValueError: if the loss is unbounded and ``M`` missing, or ``M`` is not above 0 or below the supremum.

    Example:
        >>> from course_pkg.decisions import zero_one
        >>> u = from_loss(zero_one(2))
        >>> float(u(1, 1)), float(u(0, 1))
        (1.0, 0.0)

    Source: LCVI paper, section 3.2; thesis, section 4.1.4.
    """
    loss = as_loss(loss)
    M = None if M is None else _guard.positive("M", M)
    function = shifted_utility(loss, M)
    return Utility(f"M - {loss.name}", function, None, loss, loss.supremum if M is None else M)


def linearised(loss, M: float) -> Utility:
    r"""The utility :math:`M - \ell`, whose logarithm is replaced by its tangent: :math:`\log(M - \ell) \approx \log M - \ell/M`.

    No logarithm of a negative number can occur, so :math:`M` may lie below some losses: take `loss_quantile`. The tangent lies above the
    logarithm, so that the bound on the log gain may break (erratum TR14).

    Args:
        loss: a `Loss` or a function ``(y, h) -> cost``.
        M: in the unit of the loss, above 0; the smaller, the stronger the calibration.

    Raises:
        ValueError: if ``M`` is not above 0.

    Example:
        >>> from course_pkg.decisions import squared
        >>> float(linearised(squared(), 4.0)(0.0, 1.0))
        3.0

    Source: LCVI paper, equations 2 and 7; thesis, equation 4.6, which erratum T48 calls by its name.
    """
    loss, M = as_loss(loss), _guard.positive("M", M)
    return Utility(f"linearised {loss.name}", Partial(_tangent, as_partial(loss.loss), M), None, loss, M, linear=True)


def exponential(loss, M: float) -> Utility:
    r"""The utility :math:`e^{-\gamma \ell(y, h)}` with :math:`\gamma = 1/M`; its tangent at no loss vanishes where the loss is :math:`M`.

    It maximises :math:`\mathbb{E}\, e^{-\gamma\ell}`, which is not the loss's own aim: in general another decision is best (erratum P07).

    Raises:
        ValueError: if ``M`` is not above 0.

    Example:
        >>> from course_pkg.decisions import squared
        >>> round(float(exponential(squared(), 4.0)(0.0, 2.0)), 4)
        0.3679

    Source: LCVI paper, equation 3; thesis, equation 4.3, with the derivative of erratum T46.
    """
    loss, M = as_loss(loss), _guard.positive("M", M)
    log = Partial(_log_exponential, as_partial(loss.loss), M)
    return Utility(f"exponential {loss.name}", exponential_utility(loss, 1 / M), log, loss, M)


def loss_quantile(losses, q: float = 0.7) -> float:
    r"""The scale :math:`M_q`: the ``q``-quantile of the losses that a converged approximation expects to meet.

    Args:
        losses: any shape, not negative: usually ``loss(y, h)`` for predictive draws ``y`` and the Bayes decision ``h`` of each point.
        q: strictly between 0 and 1. Values from 0.5 to 0.95 served in the paper; the thesis takes 0.7.

    Raises:
        ValueError: if ``q`` lies outside (0, 1), a loss is negative or not finite, or the quantile is 0.

    Example:
        >>> loss_quantile([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0], 0.7)
        7.0

    Source: LCVI paper, section 3.2; thesis, section 4.1.4.
    """
    q = _guard.proportion("q", q)
    losses = np.asarray(_guard.nonnegative("losses", losses)).ravel()
    M = float(np.quantile(losses, q, method="inverted_cdf"))
    if M == 0:
        raise ValueError(
            f"losses has the {q:g}-quantile 0, and no calibration has that scale; give a larger q or a scale of your own, for calibrate "
            "Objective(quantile=...) or Objective(M=...)"
        )
    return M


def affine(utility: Utility, alpha: float = 1.0, beta: float = 0.0) -> Utility:
    r"""The utility :math:`\alpha u + \beta`: the same decisions under the posterior, another degree of calibration.

    For :math:`\beta > 0` the term is :math:`\mathbb{E}_q \log(1 + \frac{\alpha}{\beta}\tilde u) + \log\beta`, whose first part fades as
    :math:`\beta` grows. At :math:`\beta = 0` the scale :math:`\alpha` is a constant, its logarithm. The result has a
    ``log`` of its own only then, where the utility has one.

    Raises:
        ValueError: if ``alpha`` is not above 0, or the utility would go negative.

    Example:
        >>> u = affine(direct(lambda y, h: 1 / (1 + abs(y - h)), name="peak"), 2.0, 1.0)
        >>> float(u(0.0, 0.0))
        3.0

    Source: LCVI paper, section 3.1; thesis, section 4.1.3, as mended by erratum T44.
    """
    alpha, beta, utility = _guard.positive("alpha", alpha), _guard.number("beta", beta), as_utility(utility)
    infimum = alpha * utility.infimum + beta
    if infimum < -1e-9 * alpha:
        raise ValueError(f"beta is {beta:g}: the utility would go down to {infimum:g}; give at least {-alpha * utility.infimum:g}")
    name = f"{alpha:g} ({utility.name}) + {beta:g}"
    log = Partial(_scaled_log, as_partial(utility.log), alpha) if beta == 0 and utility.log is not None else None
    return Utility(name, Partial(_affine, as_partial(utility.utility), alpha, beta), log, infimum=max(infimum, 0.0))


def calibration_force(inner, slope, alpha: float = 1.0, beta: float = 0.0):
    r"""How hard :math:`\log(\beta + \alpha\tilde u)` pulls at each :math:`\theta`: :math:`\alpha\tilde u' / (\beta + \alpha\tilde u)`.

    At every point the pull is strongest at the smallest shift that is allowed. What the pulls add up to need not be (erratum T44).

    Args:
        inner: expected utility :math:`\tilde u(\theta)` at some points.
        slope: its derivative there.
        alpha: above 0.
        beta: so large that nothing is negative.

    Raises:
        ValueError: if ``alpha`` is not above 0 or a shifted utility is not above 0.

    Example:
        >>> float(calibration_force(0.5, 1.0, beta=0.5))
        1.0

    Source: thesis, section 4.1.3; erratum T44.
    """
    alpha, beta = _guard.positive("alpha", alpha), _guard.number("beta", beta)
    inner, slope = _guard.broadcast(inner=inner, slope=slope)
    shifted = beta + alpha * inner
    if not _guard.traced(shifted) and not bool((shifted > 0).all()):
        raise ValueError(f"beta is {beta:g}: a shifted utility is {float(shifted.min()):g}; raise beta until all are above 0")
    return alpha * slope / shifted


def as_utility(loss_or_utility, M: float | None = None) -> Utility:
    """A `Utility` as it is; a loss through `linearised` at ``M``, or through `from_loss` where it is bounded and ``M`` is missing."""
    if isinstance(loss_or_utility, Utility):
        return loss_or_utility
    loss = as_loss(loss_or_utility)
    return from_loss(loss) if M is None else linearised(loss, M)


def regret(utility: Utility) -> Loss:
    r"""The loss :math:`u(y, y) - u(y, h)` of a utility that is largest where the decision equals the truth.

    Example:
        >>> import jax.numpy as jnp
        >>> float(regret(direct(lambda y, h: jnp.exp(-((h - y) ** 2))))(1.0, 1.0))
        0.0
    """
    if not isinstance(utility, Utility):
        raise ValueError(f"utility is {utility!r}; give a Utility, such as direct(...)")
    function = as_partial(utility.utility)
    return Loss(f"regret of {utility.name}", lambda y, h: function(y, y) - function(y, h))


def loss_of(utility: Utility) -> Loss:
    """The loss that a utility was made of, or else its `regret`."""
    return utility.loss or regret(utility)


def _tangent(loss, M, y, h):
    return M - loss(y, h)


def _log_exponential(loss, M, y, h):
    return -loss(y, h) / M


def _scaled_log(log, alpha, y, h):
    return jnp.log(alpha) + log(y, h)


def _affine(utility, alpha, beta, y, h):
    return beta + alpha * utility(y, h)
