r"""The utility term of an outcome whose draws have no derivative: events, classes, counts, and mixtures.

A draw :math:`y` jumps where :math:`\theta` moves, but its probability does not. `summed_outcome` adds up all values,

.. math::
    \tilde u(\theta, h) = \sum_y p(y \mid \theta)\, u(y, h),

as `outcomes.classes` does for a cost matrix: exact for finitely many values, and cut where little is left for counts (`greatest_value`).
`scored_outcome` draws outcomes and differentiates their log probability, for values that are too many, or no whole numbers.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp

from course_pkg import _guard
from course_pkg.lcvi.outcomes import Term, _check_utility
from course_pkg.lcvi.utilities import Utility
from course_pkg.models import Model

TAIL = 1e-6  # of the probability, which a cut may leave out at the plain approximation
LEFT = 1e-3  # which it may leave out at the calibrated one
MOST = 500  # values in a sum


def summed_outcome(model: Model, utility: Utility, greatest: int | None = None) -> Term:
    r"""The term of a discrete outcome, summed over its values: no draws, no bias but that of a cut.

    What a cut leaves out is shared among the values that stay, in proportion. An expected loss then errs by at most the probability
    that was left out, times the difference of the mean losses on either side of the cut.

    Args:
        model: with ``reading.log_prob`` and ``reading.values``.
        utility: a `Utility`. For a cost matrix the best of its decisions is found by looking at all.
        greatest: value to sum up to; the greatest of ``reading.values`` where not given.

    Raises:
        ValueError: if the model does not say which values there are and how probable, or there is no greatest.

    Example:
        >>> from course_pkg import decisions, lcvi, models
        >>> model = models.logistic_regression(1, prior_sd=1.0)
        >>> term = summed_outcome(model, lcvi.linearised(decisions.squared(), 1.0))
        >>> term.value((), jnp.zeros((1, 1)), jnp.array([0.5]), jnp.ones((1, 1))).tolist()  # a fair coin, decided halfway
        [-0.25]

    Source: thesis, section 4.1.5 (discrete outputs); LCVI paper, section 4.1.
    """
    _check_utility(utility)
    least, last = _values(model)
    if greatest is not None:
        last = _guard.count("greatest", greatest, least)
    if last is None:
        raise ValueError(
            'greatest is None, and the outcome has no greatest value to sum up to; give one, or draw: scored_outcome, method="score"'
        )
    values = jnp.arange(least, last + 1)

    def draw(key, thetas):  # noqa: ARG001
        return ()

    def value(noise, thetas, h, covariates):  # noqa: ARG001
        log_p = jax.nn.log_softmax(jax.vmap(lambda theta: _log_probs(model, theta, covariates, values))(thetas), axis=1)
        y = values.astype(log_p.dtype).reshape(1, -1, *(1,) * (log_p.ndim - 2))
        y, h, log_p = _side_by_side(utility, y, h, log_p)
        if utility.linear:
            return -(jnp.exp(log_p) * utility.loss(y, h)).sum(axis=1).mean(axis=0) / utility.M  # type: ignore[misc]
        if utility.log is not None:
            return logsumexp(log_p + utility.log(y, h), axis=1).mean(axis=0)
        return logsumexp(log_p, axis=1, b=utility(y, h)).mean(axis=0)

    return Term(draw, value, _actions(utility))


def scored_outcome(model: Model, utility: Utility, draws: int = 8) -> Term:
    r"""The term from drawn outcomes, whose gradient in :math:`\theta` is that of their log probability.

    .. math::
        \nabla_\theta\, \mathbb{E}[u(y, h) \mid \theta] = \mathbb{E}\big[(u(y, h) - b)\, \nabla_\theta \log p(y \mid \theta)\big]

    The baseline :math:`b` is the mean over the other draws of the same :math:`\theta`. The linearised term is unbiased; the others
    are too low on average, like `terms.naive`. It scatters more than a sum.

    Args:
        model: with ``reading.log_prob``.
        utility: a `Utility`; for a cost matrix as in `summed_outcome`.
        draws: outcomes for each :math:`\theta`, at least 2.

    Raises:
        ValueError: if ``draws`` is too small, or the model does not say how probable an outcome is.

    Source: thesis, section 2.3.1, equation 2.10, for the outcome in the place of the parameters.
    """
    draws = _guard.count("draws", draws, 2)
    _check_utility(utility)
    _log_prob(model)

    def draw(key, thetas: int):
        return jax.random.split(key, (thetas, draws))

    def value(keys, thetas, h, covariates):
        predict, log_prob = (jax.vmap(f, (0, None, None)) for f in (model.predict, lambda y, theta, x: _log_prob(model)(theta, x, y)))
        y = jax.vmap(predict, (0, 0, None))(keys, jax.lax.stop_gradient(thetas), covariates)  # (S_theta, S_y, ...)
        log_p = jax.vmap(log_prob, (0, 0, None))(y, thetas, covariates)
        one = jnp.exp(log_p - jax.lax.stop_gradient(log_p))  # with the score as its gradient
        y, h, one = _side_by_side(utility, y.astype(log_p.dtype), h, one)

        def inner(f):
            apart = jax.lax.stop_gradient(f - f.mean(axis=1, keepdims=True)) * draws / (draws - 1)  # from the mean of the others
            return (f + apart * (one - 1)).mean(axis=1)

        if utility.linear:
            return -inner(utility.loss(y, h)).mean(axis=0) / utility.M  # type: ignore[misc]
        if utility.log is None:
            return jnp.log(inner(utility(y, h))).mean(axis=0)
        log_u = utility.log(y, h)
        top = jax.lax.stop_gradient(log_u.max(axis=1, keepdims=True))
        return (jnp.log(inner(jnp.exp(log_u - top))) + top[:, 0]).mean(axis=0)

    return Term(draw, value, _actions(utility))


def greatest_value(model: Model, thetas, covariates, drawn) -> int | None:
    """Where to cut the sum over an outcome's values: above it lies less than a millionth of the probability at every row, and a margin.

    Args:
        model: with ``reading.log_prob`` and ``reading.values``.
        thetas: draws from an approximation, shape ``(S, d)``.
        covariates: as ``predict`` wants them.
        drawn: predicted outcomes, any shape; the search ends beyond twice the greatest.

    Returns:
        The value; None where more than 500 values would be summed.

    Raises:
        ValueError: if probabilities do not sum to one.

    Example:
        >>> from course_pkg.models import pooled_testing
        >>> greatest_value(pooled_testing(), jnp.array([[0.0]]), 1000, jnp.array([503])), pooled_testing().reading.values
        (None, (0, None))
    """
    least, last = _values(model)
    end = 2 * int(np.max(drawn)) + 20
    if last is not None and (end >= last or last - least < MOST):
        end = last
    if end - least > 4 * MOST:
        return None
    p = _chances(model, thetas, covariates, end)
    total = p.sum(axis=0)
    if (total > 1.01).any() or (end == last and (total < 0.99).any()):
        worst = total[np.abs(total - 1).argmax()]
        raise ValueError(f"log_prob gives all values from {least} to {end} the probability {worst:g}; give log probabilities that sum to 1")
    if (total < 0.99).any():
        return None  # too heavy a tail
    if end == last and last - least < MOST:
        return last
    above = p[::-1].cumsum(axis=0)[::-1] - p
    needed = int(np.argmax(above.max(axis=1) < TAIL))
    cut = min(end, least + needed + needed // 4 + 5)
    return cut if cut - least < MOST else None


def check_values(name: str, y, model: Model):
    """Raise unless the outcomes are whole numbers among those of ``reading.values``, where there are any.

    Raises:
        ValueError: if one is not; the message has the first.
    """
    if model.reading.values is None:
        return
    least, greatest = _values(model)
    y = np.asarray(y)
    strange = y[(y != np.floor(y)) | (y < least) | (y > (np.inf if greatest is None else greatest))]
    if strange.size:
        upwards = "upwards" if greatest is None else f"to {greatest}"
        raise ValueError(f"{name} holds the outcome {strange[0]:g}, and reading.values says whole numbers from {least} {upwards}")


def left_out(model: Model, thetas, covariates, greatest: int) -> float:
    """Probability of the values above ``greatest``, at the row where it is largest."""
    return float(1 - _chances(model, thetas, covariates, greatest).sum(axis=0).min())


def _chances(model, thetas, covariates, end):
    """Probability of each value up to ``end``, a mean over thetas, shape ``(K, rows)``."""
    values = jnp.arange(_values(model)[0], end + 1)
    one = lambda theta, known: jnp.exp(_log_probs(model, theta, known, values))
    p = jax.jit(lambda thetas, known: jax.lax.map(lambda theta: one(theta, known), thetas).mean(axis=0))(thetas, covariates)
    return np.asarray(p, float).reshape(len(values), -1)


def _log_probs(model, theta, covariates, values):
    """Of each value at each row, shape ``(K, ...)``."""
    drawn = jax.eval_shape(model.predict, jax.random.key(0), theta, covariates)
    at = lambda shape: lambda v: _log_prob(model)(theta, covariates, jnp.full(shape, v, drawn.dtype))
    one = (1,) * len(drawn.shape)  # a value that all rows share: what depends on it alone is found once, and not for each row
    log_p = jax.vmap(at(one if _stretches(at(one), drawn) else drawn.shape))(values)
    if log_p.shape[1:] != drawn.shape:
        raise ValueError(f"log_prob gives shape {log_p.shape[1:]} for outcomes of shape {drawn.shape}; give one number for each outcome")
    return log_p


def _stretches(log_prob, drawn) -> bool:
    """Whether a log probability takes one value for all rows."""
    try:
        return jax.eval_shape(log_prob, 0).shape == drawn.shape
    except (TypeError, ValueError, NotImplementedError):  # of shapes that do not go together
        return False


def _log_prob(model):
    if model.reading.log_prob is None:
        raise ValueError(
            "the model does not say how probable an outcome is; models.read_as(model, log_prob=lambda theta, covariates, y: ...) says so"
        )
    return model.reading.log_prob


def _values(model):
    if model.reading.values is None:
        raise ValueError(
            "the model does not say which whole numbers the outcome may be; say so by models.read_as(model, values=(least, greatest)), "
            "with None for no greatest, or take scored_outcome"
        )
    least, greatest = values = model.reading.values
    if greatest is not None and not least <= greatest:
        raise ValueError(f"reading.values is {values}; give the least and the greatest whole number, or None for no greatest")
    return values


def _actions(utility):
    return None if utility.loss is None or utility.loss.actions is None else jnp.arange(utility.loss.actions)


def _side_by_side(utility, y, h, p):
    """Outcomes, decisions and probabilities with as many axes; where decisions are finitely many, all of them along a last one."""
    actions = _actions(utility)
    y, h, p = (y, h, p) if actions is None else (y[..., None], actions, p[..., None])
    return y, jnp.expand_dims(h, tuple(range(p.ndim - jnp.ndim(h)))), p
