r"""Importance sampling: draws of one distribution answer for another.

With draws :math:`\theta_s \sim q` and weights :math:`w_s = \pi_u(\theta_s) / q(\theta_s)`, where :math:`\pi_u` may lack its constant,
:math:`\frac1S\sum_s w_s f_s` estimates :math:`Z\,\mathbb{E}_\pi f` without bias, and :math:`\sum_s w_s f_s / \sum_s w_s` estimates
:math:`\mathbb{E}_\pi f` with a bias of order :math:`1/S`.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from course_pkg import _guard, families
from course_pkg._extras import needs
from course_pkg.decisions import MonteCarlo, effective_sample_size, normalised_weights

EQUAL = 1e-3  # nats between the largest and the smallest log weight, below which all count as equal


class Weighted(NamedTuple):
    """Draws of a proposal with the logarithms of what each is worth."""

    theta: Any  # (S, d)
    log_weights: Any  # (S,)


class Smoothed(NamedTuple):
    """Weights whose largest were replaced by those of a fitted tail."""

    log_weights: Any  # (S,), normalised
    k_hat: float  # shape of the tail: above 0.7 do not trust the estimate


def importance_sample(key: PRNGKeyArray, log_target, family: families.Family, lam, draws: int) -> Weighted:
    r"""Draws of :math:`q_\lambda` and their log weights :math:`\log\pi_u(\theta_s) - \log q_\lambda(\theta_s)`.

    Args:
        key: random key.
        log_target: ``theta (d,) ->`` :math:`\log\pi_u`; ``-inf`` where the target has no mass.
        family: any `Family`, as the proposal.
        lam: its parameters.
        draws: S, at least 2.

    Example:
        >>> q = families.mean_field_normal()
        >>> drawn = importance_sample(jax.random.key(0), lambda t: -0.5 * ((t - 0.5) ** 2).sum(), q, q.init(1, scale=1.0), 4000)
        >>> estimate = self_normalised(drawn.theta[:, 0], drawn.log_weights)
        >>> bool(abs(estimate.value - 0.5) < 4 * estimate.standard_error)
        True

    Source: thesis, section 2.5; notes, section 4.1 (the weights there lack their 1/T, erratum N03).
    """
    draws, lam = _guard.count("draws", draws, least=2), _guard.parameters("lam", lam, family)
    theta = families.sample(key, family, lam, draws)
    return Weighted(theta, jax.vmap(lambda t: log_target(t) - families.log_prob(family, lam, t))(theta))


def unnormalised(values, log_weights) -> MonteCarlo:
    r"""The mean :math:`\frac1S\sum_s w_s f_s`: unbiased for :math:`\mathbb{E}_\pi f` if :math:`\pi_u = \pi`, else for its Z-fold.

    Args:
        values: :math:`f(\theta_s)`, shape ``(S,)`` or ``(S, ...)``.
        log_weights: shape ``(S,)``.

    Returns:
        `MonteCarlo` with the standard error of a plain mean. If all weights are zero it is 0 with a standard error of 0, which says that no
        draw fell where the target is and is no estimate of the error.

    Raises:
        ValueError: if the shapes differ, there are fewer than two draws, or a log weight is NaN or ``+inf``.

    Example:
        >>> float(unnormalised(jnp.array([1.0, 3.0]), jnp.log(jnp.array([1.0, 0.5]))).value)
        1.25

    Source: notes, section 4.1, with erratum N03.
    """
    values, log_weights = _checked(values, log_weights)
    nowhere = (log_weights == -jnp.inf).all()  # the estimate is 0 then, and without these zeros it would not be unbiased
    share = normalised_weights(jnp.where(nowhere, 0.0, log_weights), values.shape[:1])
    terms = values * jnp.exp(log_weights).reshape(-1, *(1,) * (values.ndim - 1))
    standard_error = terms.std(axis=0, ddof=1) / jnp.sqrt(values.shape[0])
    return MonteCarlo(terms.mean(axis=0), standard_error, jnp.where(nowhere, 0.0, effective_sample_size(share)))


def self_normalised(values, log_weights) -> MonteCarlo:
    r"""The ratio :math:`\hat I = \sum_s w_s f_s / \sum_s w_s`, which needs no constant of either density.

    As S grows, :math:`\sqrt S (\hat I - \mathbb{E}_\pi f)` tends to a normal of variance
    :math:`\sigma^2_\mathrm{NIS}(f) = \mathbb{E}_q[(\pi/q)^2 (f - \mathbb{E}_\pi f)^2]`, if that is finite (erratum N05). The standard error
    is its estimate; it means nothing when a few weights carry everything, so look at the effective sample size and `pareto_smooth` first.

    Args:
        values: :math:`f(\theta_s)`, shape ``(S,)`` or ``(S, ...)``.
        log_weights: shape ``(S,)``, up to a constant.

    Raises:
        ValueError: as `unnormalised`, and if all weights are zero.

    Example:
        >>> float(self_normalised(jnp.array([1.0, 3.0]), jnp.array([7.0, 7.0])).value)
        2.0

    Source: notes, section 4.1 and proposition 4.1.1, with errata N03 to N05; thesis, section 2.5.
    """
    values, log_weights = _checked(values, log_weights)
    share = normalised_weights(log_weights, values.shape[:1])
    w = share.reshape(-1, *(1,) * (values.ndim - 1))
    value = (w * values).sum(axis=0)
    standard_error = jnp.sqrt((w**2 * (values - value[None]) ** 2).sum(axis=0))
    return MonteCarlo(value, standard_error, effective_sample_size(share))


def pareto_smooth(log_weights) -> Smoothed:
    r"""Pareto-smoothed weights and the shape :math:`\hat k` of their tail, by ArviZ.

    The largest weights are replaced by quantiles of a generalised Pareto distribution that was fitted to them. Where :math:`\hat k` is
    below about 0.7 the smoothed estimate can be relied on at practical numbers of draws; above, more draws hardly help: mend q. Weights
    that are all equal have no tail; that is said as minus infinity.

    Args:
        log_weights: shape ``(S,)``, up to a constant; at least 25 draws, below which no tail can be fitted.

    Raises:
        ValueError: if there are too few draws, or a log weight is NaN or ``+inf``.

    Example:
        >>> smoothed = pareto_smooth(0.1 * jax.random.normal(jax.random.key(0), (1000,)))
        >>> bool(smoothed.k_hat < 0.5)
        True

    Source: Vehtari, Simpson, Gelman, Yao and Gabry (2024); thesis, section 2.5, names it.
    """
    normalised_weights(log_weights)  # for what it refuses
    log_weights = np.asarray(log_weights, dtype=float)
    if log_weights.ndim != 1 or log_weights.size < 25:
        raise ValueError(f"log_weights has shape {log_weights.shape}; give one for each of at least 25 draws")
    if np.ptp(log_weights) < EQUAL:
        return Smoothed(jnp.full(log_weights.size, -jnp.log(log_weights.size)), -np.inf)
    log_weights = np.maximum(log_weights - log_weights.max(), np.log(np.finfo(float).tiny))  # a weight of zero has no logarithm
    try:
        # ArviZ takes log likelihoods left out, whose weights are their inverses
        smooth, k_hat = needs("arviz_stats.base", "arviz").array_stats.psislw(-log_weights)
    except ValueError as problem:
        raise ValueError(f"log_weights has no tail that can be fitted ({problem}); give draws whose largest weights differ") from None
    return Smoothed(jax.nn.log_softmax(jnp.asarray(smooth, dtype=jnp.result_type(float))), float(k_hat))


def _checked(values, log_weights):
    values = _guard.numbers("values", values, at_least=1)
    if values.shape[0] < 2:
        raise ValueError("values has 1 draw; give at least 2, or there is no standard error")
    return values, _guard.floats("log_weights", log_weights)
