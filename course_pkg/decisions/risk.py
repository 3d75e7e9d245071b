r"""Risk: what a decision is expected to cost, and under which distribution.

The same average has many names. Over the posterior it is the posterior risk (p-risk), over an approximation the q-risk, over data that
have been seen the empirical risk. All are means of one loss; what changes is who deals the draws.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from course_pkg import _guard
from course_pkg.decisions.draws import read
from course_pkg.decisions.losses import as_partial
from course_pkg.decisions.rules import _average, as_loss


class MonteCarlo(NamedTuple):
    """A Monte Carlo estimate with what is needed to judge it."""

    value: Float[Array, "..."]
    standard_error: Float[Array, "..."]
    effective_sample_size: Float[Array, ""]


def risk(loss, draws, h, weights=None, *, axis=None):
    r"""Expected loss :math:`\mathcal{R}(h) = \sum_s w_s\, \ell(y_s, h)` of each decision, in the unit of the loss.

    Draws from the posterior (or its predictive) give the p-risk; draws from an approximation give the q-risk.

    Args:
        loss: a `Loss` or a function ``(y, h) -> cost``.
        draws: shape ``(..., S)``, or what `bayes_decision` reads: a ``DataTree``, a ``DataArray`` or ``Predictive``'s dictionary.
        h: shape ``(...)``, one decision for each row of draws; with one row, ``draws`` of shape ``(S,)``, any shape.
        weights: shape ``(..., S)`` or ``(S,)``; equal where not given.
        axis: of the draws in a plain array: the last where it is not given, ``0`` for draws first, ``(0, 1)`` for chain and draw.

    Returns:
        The risks, of the shape of the decisions.

    Raises:
        ValueError: if an argument is empty, not finite or of the wrong shape.

    Example:
        >>> from course_pkg.decisions import absolute
        >>> risk(absolute(), jnp.array([0.0, 4.0]), jnp.array([1.0, 5.0])).tolist()
        [2.0, 3.0]

    Source: thesis, equations 2.17 and 2.18.
    """
    loss = as_loss(loss)
    return _expected(f"loss {loss.name}", loss.loss, draws, h, weights, axis)


def gain(utility, draws, h, weights=None, *, axis=None):
    r"""Expected utility :math:`\mathcal{G}(h) = \sum_s w_s\, u(y_s, h)` of each decision, in the unit of the utility.

    Arguments, shapes and errors are those of `risk`, with a utility ``(y, h) -> worth`` in the place of the loss.

    Example:
        >>> from course_pkg.decisions import shifted_utility, zero_one
        >>> float(gain(shifted_utility(zero_one(2)), jnp.array([0, 1, 1, 1]), jnp.array(1)))
        0.75

    Source: thesis, equations 2.15 and 2.16; paper, section 2.1.
    """
    if not callable(utility):
        raise ValueError(f"utility is {utility!r}; give a function of truth and decision")
    return _expected("utility", utility, draws, h, weights, axis)


def _expected(name, function, draws, h, weights, axis):
    found = read("draws", draws, axis)
    h = _guard.batch("h", h, found.values.shape[:-1], found.hint)
    draws, weights = found.values, found.weights(weights)
    with _guard.calling(name):
        expected = _compiled_average(as_partial(function), draws, h, weights)
    return _guard.numbers(f"the expectation of {name}", expected)


@jax.jit
def _compiled_average(function, draws, h, weights):
    if draws.ndim == 1 and h.ndim > 0:
        return jax.lax.map(lambda one: _average(function(draws, one), weights), h.reshape(-1)).reshape(h.shape)
    h = jnp.broadcast_to(h, draws.shape[:-1])[..., None]
    return _average(jnp.broadcast_to(function(draws, h), draws.shape), weights)


def empirical_risk(loss, y, h):
    r"""Mean loss :math:`\frac1N \sum_n \ell(y_n, h_n)` of decisions on outcomes that have been seen.

    Args:
        loss: a `Loss` or a function ``(y, h) -> cost``.
        y: outcomes, shape ``(N,)`` or any other.
        h: decisions, of the shape of ``y``, or one decision for all.

    Raises:
        ValueError: if the shapes do not fit or a number is not finite.

    Example:
        >>> from course_pkg.decisions import tilted
        >>> float(empirical_risk(tilted(0.25), jnp.array([1.0, 3.0]), jnp.array([3.0, 1.0])))
        1.0

    Source: thesis, section 2.4.
    """
    y, h = _guard.numbers("y", y), _guard.numbers("h", h)
    if h.shape not in (y.shape, ()):
        raise ValueError(f"h has shape {h.shape} and y {y.shape}; give one decision for each outcome, or one for all")
    loss = as_loss(loss)
    with _guard.calling(f"loss {loss.name}"):
        costs = loss.loss(y, jnp.broadcast_to(h, y.shape))
    return _guard.numbers(f"loss {loss.name}", costs).mean()


def risk_reduction(baseline, improved):
    r"""Relative saving :math:`J = (R_0 - R_1) / R_0` of risk ``improved`` over risk ``baseline``, a share of the baseline.

    It does not change with the unit of the loss, and it does change when a constant is added to the loss.

    Args:
        baseline: risk or risks, above 0.
        improved: risk or risks of the same shape.

    Raises:
        ValueError: if a risk is negative or not finite, or a baseline is 0.

    Example:
        >>> round(float(risk_reduction(2.0, 1.9)), 4)
        0.05

    Source: paper, section 6.
    """
    baseline, improved = _guard.nonnegative("baseline", baseline), _guard.nonnegative("improved", improved)
    if baseline.shape != improved.shape:
        raise ValueError(f"improved has shape {improved.shape} and baseline {baseline.shape}; give the same")
    if not _guard.traced(baseline) and not bool(baseline.all()):
        raise ValueError("baseline is 0: nothing can be saved; give a risk above 0")
    return 1 - improved / baseline


def p_risk(loss, draws, h, log_weights=None, *, axis=None) -> MonteCarlo:
    r"""Posterior risk with its Monte Carlo error, also from draws of another distribution, by self-normalised importance sampling.

    With :math:`w_s \propto p^*(\theta_s)/q(\theta_s)` summing to one, the estimate is :math:`\sum_s w_s\,\ell(\theta_s, h)`. Neither
    density needs its constant. The estimate is consistent, with a bias of order :math:`1/S`; its standard error
    :math:`\sqrt{\sum_s w_s^2 (\ell_s - \hat R)^2}` is meaningless when a few weights carry everything, so look at the effective sample
    size :math:`1/\sum_s w_s^2` first.

    Args:
        loss: a `Loss` or a function ``(y, h) -> cost``.
        draws: shape ``(S,)``, from ``q``, or what `bayes_decision` reads, of one unknown; a predictive draw goes with the weight of the
            parameter that made it.
        h: decision or decisions, any shape.
        log_weights: of the shape of the draws, :math:`\log p^*(\theta_s) - \log q(\theta_s)`, up to a constant; ``-inf`` where
            :math:`p^*` is zero. Equal where not given: draws of :math:`p^*` itself, taken for independent. Of a sampler's chains the
            costs have the standard error that ``arviz.mcse`` finds.
        axis: of the draws, where there are several: ``(0, 1)`` for chain and draw.

    Returns:
        `MonteCarlo`: value and standard error of the shape of ``h``, and one effective sample size.

    Raises:
        ValueError: if there are fewer than 2 draws, the shapes differ, or a log weight is NaN or ``+inf`` or all are ``-inf``.

    Example:
        >>> from course_pkg.decisions import squared
        >>> theta = jax.random.normal(jax.random.key(0), (4000,))  # q = N(0, 1), p = N(0.5, 1)
        >>> estimate = p_risk(squared(), theta, 0.5, 0.5 * theta)
        >>> bool(abs(estimate.value - 1.0) < 4 * estimate.standard_error)
        True

    Source: thesis, section 2.5 (the ratio of its last display, self-normalised as in equation 2.19).
    """
    loss, found, h = as_loss(loss), read("draws", draws, axis), _guard.numbers("h", h)
    draws = _guard.numbers("draws", found.values, ndim=1)
    if draws.shape[0] < 2:
        raise ValueError("draws has 1 value; give at least 2, or there is no standard error")
    log_weights = jnp.zeros(draws.shape) if log_weights is None else found.arranged("log_weights", log_weights)
    w = normalised_weights(log_weights, draws.shape)
    ess = effective_sample_size(w)
    with _guard.calling(f"loss {loss.name}"):
        costs = loss.loss(jnp.broadcast_to(draws, (*h.shape, *draws.shape)), h[..., None])
    costs = _guard.numbers(f"loss {loss.name}", costs)
    w = jnp.broadcast_to(w, costs.shape)
    value = (w * costs).sum(axis=-1)
    standard_error = jnp.sqrt((w**2 * (costs - value[..., None]) ** 2).sum(axis=-1))
    return MonteCarlo(value, standard_error, ess)


def normalised_weights(log_weights, shape=None):
    r"""Weights :math:`w_s \propto e^{\text{log weight}_s}` that sum to one over the last axis, without overflow.

    Raises:
        ValueError: if a log weight is NaN or ``+inf``, all are ``-inf``, or the shape is not ``shape``.

    Example:
        >>> normalised_weights(jnp.array([1000.0, 1000.0, -jnp.inf])).tolist()
        [0.5, 0.5, 0.0]
    """
    log_weights = _guard.floats("log_weights", log_weights)
    if shape is not None and log_weights.shape != _guard.counts("shape", shape):
        raise ValueError(f"log_weights has shape {log_weights.shape}; give {shape}, one for each draw")
    if log_weights.ndim == 0 or log_weights.size == 0:
        raise ValueError(f"log_weights has shape {log_weights.shape}; give one for each draw")
    if not _guard.traced(log_weights):
        if not bool((log_weights < jnp.inf).all()):  # false for NaN, too
            raise ValueError("log_weights holds NaN or +inf; look at the two log densities where that happens")
        if not bool((log_weights.max(axis=-1) > -jnp.inf).all()):
            raise ValueError("log_weights is -inf everywhere: no draw lies where the target has mass; widen q")
    return jax.nn.softmax(log_weights, axis=-1)


def effective_sample_size(weights):
    r"""How many equally weighted draws the weighted ones are worth: :math:`(\sum_s w_s)^2 / \sum_s w_s^2`, between 1 and S.

    Raises:
        ValueError: if a weight is negative or all are zero.

    Example:
        >>> float(effective_sample_size(jnp.array([1.0, 1.0, 0.0, 0.0])))
        2.0

    Source: named in thesis, section 2.5; the formula is Kish's.
    """
    weights = _guard.numbers("weights", weights, at_least=1)
    w = _guard.weights("weights", weights, weights.shape)
    return 1 / (w**2).sum(axis=-1)
