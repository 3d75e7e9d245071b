"""Logistic regression: the probability of an event, from covariates."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.special import gammaln
from jax.tree_util import Partial
from jaxtyping import Array, Float, PRNGKeyArray

from course_pkg import _guard
from course_pkg.models import priors
from course_pkg.models.model import Model, no_slope, refusing
from course_pkg.models.reading import Reading


class Trials(NamedTuple):
    """Covariates and counts, one row for each group of trials."""

    x: Float[Array, "n d"]
    successes: Float[Array, " n"]
    trials: Float[Array, " n"]


def logistic_regression(dim: int, prior_sd) -> Model:
    r"""Logistic regression: :math:`y = 1` with probability :math:`1 / (1 + e^{-x^\top \theta})`.

    The prior is :math:`\theta_j \sim N(0, \sigma_{0j}^2)`.

    Args:
        dim: number of weights; an intercept is a column of ones in ``x``.
        prior_sd: :math:`\sigma_0`, one number or one for each weight, above 0; ``inf`` leaves a weight free (a flat prior, density 1).

    Returns:
        A `Model` of `Rows` with ``y`` 0 or 1, or of `Trials`. ``predict(key, theta, x)`` draws 0 or 1 for one row ``(d,)`` or several
        ``(n, d)``; a draw of an event has no gradient, so `require_differentiable` refuses the model.

    Raises:
        ValueError: if a scale is not above 0, or there are neither one nor ``dim`` prior scales.

    Example:
        >>> from course_pkg.models import Rows
        >>> model = logistic_regression(dim=2, prior_sd=1.0)
        >>> data = Rows(jnp.array([[1.0, 2.0]]), jnp.array([1.0]))
        >>> round(float(jnp.exp(model.log_likelihood(jnp.array([0.0, 0.0]), data))), 4)
        0.5
        >>> counts = Trials(jnp.array([[1.0, 2.0]]), jnp.array([1.0]), jnp.array([2.0]))
        >>> round(float(jnp.exp(model.log_likelihood(jnp.array([0.0, 0.0]), counts))), 4)
        0.5

    Source: Gelman et al., Bayesian Data Analysis (2013), chapter 16.
    """
    dim = _guard.count("dim", dim)
    prior_sd = priors.scales(prior_sd, dim)

    def constrain(theta):
        return {"theta": theta}

    reason = no_slope("the outcome of logistic_regression", "the event")
    reading = Reading(
        covariates=lambda data: data.x,
        outcome=lambda data: getattr(data, "y", None),
        log_prob=_log_prob_event,
        values=(0, 1),
        no_gradient=reason,
    )
    log_prior = Partial(priors.flat_or_normal, prior_sd)
    return Model(dim, log_prior, _event_likelihood, refusing(_predict_event, reason), constrain, reading)


def event_probability(theta, x):
    r"""Probability :math:`1/(1 + e^{-x^\top\theta})` of the event, at one row ``(d,)`` or several ``(n, d)``; differentiable in ``theta``.

    Example:
        >>> float(event_probability(jnp.array([0.0]), jnp.array([3.0])))
        0.5
    """
    return jax.nn.sigmoid(x @ theta)


def _event_likelihood(theta, data):
    logit = data.x @ theta
    if isinstance(data, Trials):
        k, n = (jnp.asarray(count, dtype=logit.dtype) for count in (data.successes, data.trials))
        log_choose = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
        return (log_choose + k * jax.nn.log_sigmoid(logit) + (n - k) * jax.nn.log_sigmoid(-logit)).sum()
    return _log_prob_event(theta, data.x, data.y).sum()


def _log_prob_event(theta, x, y):
    return jax.nn.log_sigmoid((2 * y - 1) * (x @ theta))


def _predict_event(key: PRNGKeyArray, theta, x):
    p = event_probability(theta, x)
    return jax.random.bernoulli(key, p).astype(p.dtype)
