r"""Losses: what a decision costs once the truth is known.

A loss :math:`\ell(y, h)` says what it costs to decide :math:`h` when the truth turns out to be :math:`y`. It is written for numbers and
works on arrays, element by element. A `Loss` carries the function together with what is known about it: its Bayes rule in closed form,
its supremum, whether it is convex in the decision, and what it is worth on average where the truth is normal.
"""

import inspect
import reprlib
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial

from course_pkg import _guard
from course_pkg.decisions import normal


class Loss(NamedTuple):
    r"""A loss :math:`\ell(y, h)` and what is known about it.

    Call it like its equation: ``tilted(0.2)(y, h)``. Any elementwise JAX function makes a loss:
    ``Loss("cubic", lambda y, h: abs(y - h) ** 3)``. What else is known of it spares draws and steps, and is believed: look at it at some
    points by `decisions.risk` first.

    Example:
        >>> cosh = Loss(
        ...     "cosh", lambda y, h: jnp.cosh(h - y) - 1, convex=True,
        ...     normal_risk=lambda mean, sd, h: jnp.exp(0.5 * sd**2) * jnp.cosh(h - mean) - 1,
        ... )
        >>> round(float(cosh.normal_risk(0.0, 1.0, 0.5)), 3)  # lcvi.expected_loss and lcvi.calibrate use it
        0.859
    """

    name: str
    loss: Callable  # (y, h) -> cost, element by element
    rule: Callable | None = None  # (draws (..., S), weights (..., S) or None) -> decision (...), the Bayes rule in closed form
    supremum: float = float("inf")  # of the cost over all y and h
    convex: bool = False  # in h, for every y
    actions: int | None = None  # decisions are 0, ..., actions - 1; None where they are real numbers
    costs: Any = None  # (classes, actions) the whole loss, where the truth is one of finitely many classes, too
    normal_risk: Callable | None = None  # (mean, sd, h) -> expected loss where y ~ N(mean, sd^2), in closed form
    normal_log_utility: Callable | None = None  # (mean, sd, h, M) -> log of the expectation of exp(-loss / M) there, likewise

    def __call__(self, y, h):
        """The cost of deciding ``h`` when the truth is ``y``, element by element."""
        return self.loss(y, h)


def squared() -> Loss:
    r"""Squared loss :math:`(h - y)^2`, in the square of the unit of ``y``; its Bayes rule is the mean.

    Example:
        >>> float(squared()(2.0, 5.0))
        9.0

    Source: thesis, Table 4.1; paper, Table 1.
    """
    known = Loss("squared", _squared, _mean, convex=True)
    return known._replace(normal_risk=normal.squared_risk, normal_log_utility=normal.squared_log_utility)


def absolute() -> Loss:
    r"""Absolute loss :math:`|h - y|`, in the unit of ``y``; its Bayes rule is the median.

    Example:
        >>> float(absolute()(2.0, 5.0))
        3.0

    Source: thesis, Table 4.1 (with the bars of erratum P06).
    """
    return _with_forms(Loss("absolute", _absolute, Partial(_quantile, q=0.5), convex=True), 1.0, 1.0)


def tilted(q: float) -> Loss:
    r"""Tilted (pinball) loss: :math:`q\,|h-y|` where :math:`h \le y`, :math:`(1-q)\,|h-y|` where :math:`h > y`.

    Its Bayes rule is the q-quantile. A small ``q`` makes overestimating dear: each unit above the truth costs :math:`1-q`, each unit
    below it only :math:`q`.

    Args:
        q: the quantile, strictly between 0 and 1.

    Raises:
        ValueError: if ``q`` is not strictly between 0 and 1.

    Example:
        >>> float(tilted(0.25)(2.0, 6.0)), float(tilted(0.25)(6.0, 2.0))
        (3.0, 1.0)

    Source: thesis, Table 4.1 and section 4.1.7 (with the bars of erratum P06).
    """
    q = _guard.proportion("q", q)
    return _with_forms(Loss(f"tilted({q:g})", Partial(_imbalanced, q, 1 - q), Partial(_quantile, q=q), convex=True), q, 1 - q)


def imbalanced(a: float, b: float) -> Loss:
    r"""Imbalanced absolute loss: :math:`a\,|h-y|` where :math:`h \le y`, :math:`b\,|h-y|` where :math:`h > y`.

    Its Bayes rule is the quantile :math:`a / (a + b)`: only the ratio of the two prices matters to the decision.

    Args:
        a: cost of a unit of underestimation, above 0.
        b: cost of a unit of overestimation, above 0.

    Raises:
        ValueError: if ``a`` or ``b`` is not above 0.

    Example:
        >>> float(imbalanced(10.0, 1.0)(5.0, 3.0)), float(imbalanced(10.0, 1.0)(3.0, 5.0))
        (20.0, 2.0)

    Source: thesis, Table 4.1 (with the bars of erratum P06).
    """
    a, b = _guard.positive("a", a), _guard.positive("b", b)
    name = f"imbalanced({a:g}, {b:g})"
    return _with_forms(Loss(name, Partial(_imbalanced, a, b), Partial(_quantile, q=a / (a + b)), convex=True), a, b)


def linex(c: float) -> Loss:
    r"""LinEx loss :math:`e^{c(h-y)} - c(h-y) - 1`: about linear on one side of the truth, exponential on the other.

    Its Bayes rule is :math:`-\frac1c \log \mathbb{E}\, e^{-cy}`. For ``c > 0`` overestimating is the dear side, for ``c < 0``
    underestimating.

    Args:
        c: the tilt, per unit of ``y``; any number but 0.

    Raises:
        ValueError: if ``c`` is 0 or not finite.

    Example:
        >>> round(float(linex(1.0)(0.0, 2.0)), 3), round(float(linex(1.0)(2.0, 0.0)), 3)
        (4.389, 1.135)

    Source: thesis, Table 4.1; Varian (1975), Zellner (1986).
    """
    c = _guard.number("c", c)
    if c == 0:
        raise ValueError("c is 0; give a tilt above or below 0, or use squared(), the limit of 2 linex(c) / c**2")
    risk = Partial(normal.linex_risk, c)
    return Loss(f"linex({c:g})", Partial(_linex, c), Partial(_log_mean_exp, c), convex=True, normal_risk=risk)


def cost_matrix(costs) -> Loss:
    r"""A finite table of costs: deciding ``h`` when the class is ``y`` costs ``costs[y, h]``.

    Its Bayes rule weighs each column by the probabilities of the classes and takes the cheapest. The table may have more columns than
    rows, for instance a decision "ask an expert". Where two decisions cost the same, the first is taken.

    Args:
        costs: shape ``(classes, decisions)``; costs, not penalties with a minus sign (erratum T02).

    Raises:
        ValueError: if the table is not two-dimensional, is empty or holds a number that is not finite.

    Example:
        >>> lupus = cost_matrix([[0.0, 100.0], [1.0, 0.0]])  # rows: lupus, not lupus; columns: treat, do not
        >>> int(lupus.rule(jnp.array([0, 1, 1, 1]), None))  # one in four has it: treat
        0

    Source: thesis, Table 2.1 (as mended by erratum T02).
    """
    costs = _guard.numbers("costs", costs, ndim=2)
    rule = Partial(_cheapest_column, costs)
    return Loss("cost matrix", Partial(_look_up, costs), rule, supremum=float(costs.max()), actions=costs.shape[1], costs=costs)


def zero_one(classes: int) -> Loss:
    r"""Zero-one loss :math:`1[h \ne y]` on the classes ``0, ..., classes - 1``; its Bayes rule is the most probable class.

    Args:
        classes: how many, at least 2.

    Raises:
        ValueError: if ``classes`` is below 2.

    Example:
        >>> int(zero_one(3).rule(jnp.array([2, 0, 2, 1]), None))
        2

    Source: notes, Figure 2.1.
    """
    classes = _guard.count("classes", classes, 2)
    return cost_matrix(1 - np.eye(classes))._replace(name=f"zero-one({classes})")


def shifted_utility(loss: Loss, M: float | None = None) -> Callable:
    r"""The utility :math:`u(y, h) = M - \ell(y, h)`, never negative.

    Args:
        loss: a bounded loss, or any loss together with ``M``.
        M: the top of the utility, in the unit of the loss; the loss's supremum where it is not given.

    Raises:
        ValueError: if the loss is unbounded and ``M`` is missing, or ``M`` lies below the supremum of a bounded loss.

    Example:
        >>> u = shifted_utility(zero_one(2))
        >>> float(u(1, 1)), float(u(0, 1))
        (1.0, 0.0)

    Source: thesis, section 2.4.1; paper, section 3. Unbounded losses and quantiles for ``M`` are the matter of chapter 7.
    """
    loss = as_loss(loss)
    if M is None:
        M = loss.supremum
        if not np.isfinite(M):
            raise ValueError(f"M is missing and {loss.name} loss is unbounded; give M, or use exponential_utility")
    M = _guard.number("M", M)
    if np.isfinite(loss.supremum) and loss.supremum > M:
        raise ValueError(f"M is {M:g}, below the loss's supremum {loss.supremum:g}: the utility would be negative; raise M")
    return Partial(_shifted, as_partial(loss.loss), M)


def exponential_utility(loss: Loss, gamma: float) -> Callable:
    r"""The utility :math:`u(y, h) = e^{-\gamma\,\ell(y, h)}`, between 0 and 1 for every loss that is not negative.

    It is no affine map of the loss, so its best decision is in general not that of the loss.

    Args:
        loss: any loss.
        gamma: rate, per unit of the loss, above 0.

    Raises:
        ValueError: if ``gamma`` is not above 0.

    Example:
        >>> round(float(exponential_utility(squared(), 0.5)(0.0, 2.0)), 4)
        0.1353

    Source: paper, equation 3; thesis, section 4.1.4.
    """
    gamma = _guard.positive("gamma", gamma)
    return Partial(_exponential, as_partial(as_loss(loss).loss), gamma)


def as_loss(loss) -> Loss:
    """A `Loss` from a `Loss` or from a plain function of truth and decision."""
    if isinstance(loss, Loss):
        return loss
    if not callable(loss):
        raise ValueError(f"loss is {reprlib.repr(loss)}; give a Loss, such as squared(), or a function of truth and decision")
    name = getattr(loss, "__name__", "custom")
    if not _takes_two(loss):
        raise ValueError(
            f"loss is {name}, which does not take a truth and a decision; give a function of these two, or call it: {name}(...)"
        )
    return Loss(name, loss)


def _takes_two(function) -> bool:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # written in C: it does not say
        return True
    try:
        signature.bind(None, None)
    except TypeError:
        return False
    return True


def as_partial(function) -> Partial:
    """The function in a form that jit takes as data: numbers in a `Partial` are traced, so all tilted losses share one compilation."""
    return function if isinstance(function, Partial) else Partial(function)


def quantile(draws, weights=None, *, q):
    r"""The smallest draw at which the (weighted) share of draws not above it reaches ``q``.

    This is the left end of the interval of minimisers of the tilted loss over the draws.

    Args:
        draws: shape ``(..., S)``.
        weights: shape ``(..., S)`` or ``(S,)``, not negative; equal where not given.
        q: between 0 and 1.

    Raises:
        ValueError: if the draws are empty, the weights do not fit, ``q`` lies outside [0, 1] or a number is not finite.

    Example:
        >>> float(quantile(jnp.array([4.0, 1.0, 3.0, 2.0]), q=0.5))
        2.0
    """
    draws = _guard.numbers("draws", draws, at_least=1)
    weights = None if weights is None else _guard.weights("weights", weights, draws.shape)
    return _quantile(draws, weights, q=q if _guard.traced(q) else _guard.share("q", q))


def _quantile(draws, weights, *, q):
    # NumPy's vectorised sort is some twenty times faster on a CPU than JAX's, which is kept for traced values
    xp = jnp if any(map(_guard.traced, (draws, weights, q))) else np
    draws = xp.asarray(draws)
    size = draws.shape[-1]
    if weights is None:
        # q * size may exceed a whole number by rounding alone, of the precision that q has
        eps = np.finfo(getattr(q, "dtype", float)).eps
        place = xp.clip(xp.ceil(xp.asarray(q * size * (1 - 4 * eps))).astype(int) - 1, 0, size - 1)
        return jnp.asarray(xp.take_along_axis(xp.sort(draws, axis=-1), xp.full((*draws.shape[:-1], 1), place), -1)[..., 0])
    order = xp.argsort(draws, axis=-1)
    mass = xp.cumsum(xp.take_along_axis(xp.broadcast_to(xp.asarray(weights), draws.shape), order, -1), axis=-1)
    place = xp.argmax(mass >= q - size * np.finfo(mass.dtype).eps, axis=-1, keepdims=True)  # rounding, again
    return jnp.asarray(xp.take_along_axis(xp.take_along_axis(draws, order, -1), place, -1)[..., 0])


def _with_forms(loss: Loss, a, b) -> Loss:
    """The imbalanced loss with these prices, and its averages under a normal."""
    risk, log_utility = Partial(normal.imbalanced_risk, a, b), Partial(normal.imbalanced_log_utility, a, b)
    return loss._replace(normal_risk=risk, normal_log_utility=log_utility)


def _squared(y, h):
    return (h - y) ** 2


def _absolute(y, h):
    return jnp.abs(h - y)


def _imbalanced(a, b, y, h):
    return jnp.where(y >= h, a * (y - h), b * (h - y))


def _linex(c, y, h):
    # expm1 keeps the digits that exp(t) - 1 - t loses near the truth
    return jnp.expm1(c * (h - y)) - c * (h - y)


def _look_up(costs, y, h):
    return costs[jnp.asarray(y).astype(int), jnp.asarray(h).astype(int)]


def _shifted(loss, M, y, h):
    return M - loss(y, h)


def _exponential(loss, gamma, y, h):
    return jnp.exp(-gamma * loss(y, h))


def _mean(draws, weights):
    return draws.mean(axis=-1) if weights is None else (weights * draws).sum(axis=-1)


def _log_mean_exp(c, draws, weights):
    b = 1 / draws.shape[-1] if weights is None else weights
    return -jax.scipy.special.logsumexp(-c * draws, axis=-1, b=b) / c


def _cheapest_column(costs, draws, weights):
    hit = jax.nn.one_hot(jnp.asarray(draws).astype(int), costs.shape[0], dtype=costs.dtype)
    share = hit.mean(axis=-2) if weights is None else (weights[..., None] * hit).sum(axis=-2)
    return jnp.argmin(share @ costs, axis=-1)
