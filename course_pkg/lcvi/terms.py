r"""The utility term :math:`\mathbb{U}(\lambda, h) = \mathbb{E}_q \log \tilde u(\theta, h)`, estimated from draws.

Inside the logarithm stands the expected utility :math:`\tilde u(\theta, h) = \mathbb{E}[u(y, h) \mid \theta]` of one :math:`\theta`. Each
function here takes utilities :math:`u_{st}` of shape ``(S_theta, S_y, ...)``, one row of outcomes for each :math:`\theta`, and returns one
number for each decision, shape ``(...)``. They differ in what they estimate and how they err:

- `naive`: too low by about :math:`V / (2 S_y \tilde u^2)`, a bias that fades with :math:`S_y`;
- `taylor`: the same with that bias added back, exact to the next order;
- `jensen`: an unbiased estimate of a lower quantity, :math:`\mathbb{E} \log u`; the gap does not fade;
- `taylor_of_logs`: the correction as it is printed, which belongs to `jensen` and not to `naive` (erratum T47);
- `linearised`: an unbiased estimate of :math:`-\mathbb{E}\,\ell / M`, which lies above the term of :math:`M - \ell` less :math:`\log M`.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.special import logsumexp

from course_pkg import _guard


def naive(u):
    r"""Log of the inner mean: :math:`\frac{1}{S_\theta}\sum_s \log \frac{1}{S_y} \sum_t u_{st}`.

    In expectation it climbs to the term as :math:`S_y` grows. With one outcome it **is** `jensen`.

    Raises:
        ValueError: if ``u`` has fewer than two axes, is empty, or holds a number that is negative or not finite.

    Example:
        >>> round(float(naive(jnp.array([[1.0, 3.0]]))), 4)  # log 2
        0.6931

    Source: LCVI paper, equation 6; thesis, equations 4.4 and 4.5.
    """
    return jnp.log(_utilities(u).mean(axis=1)).mean(axis=0)


def naive_from_logs(log_u):
    r"""`naive` from the logarithms of the utilities, which do not underflow.

    Example:
        >>> float(naive_from_logs(jnp.full((1, 2), -1000.0)))
        -1000.0
    """
    log_u = _guard.numbers("log_u", log_u, at_least=2)
    return (logsumexp(log_u, axis=1) - jnp.log(float(log_u.shape[1]))).mean(axis=0)


def taylor(u):
    r"""`naive` with its leading bias added back: :math:`\log\bar u_s + \hat V_s / (2 S_y \bar u_s^2)`.

    Needs at least two outcomes. Helps where :math:`\hat V / (S_y \bar u^2)` is well below 1, and is lost where it is not.

    Raises:
        ValueError: as for `naive`, or with a single outcome for each ``theta``.

    Example:
        >>> round(float(taylor(jnp.array([[1.0, 3.0]]))), 4)  # log 2 + 2 / (2 * 2 * 4)
        0.8181

    Source: thesis, section 4.1.5, with the correction that erratum T47 gives.
    """
    u = _utilities(u, outcomes=2)
    mean = u.mean(axis=1)
    return (jnp.log(mean) + u.var(axis=1, ddof=1) / (2 * u.shape[1] * mean**2)).mean(axis=0)


def taylor_of_logs(u):
    r"""The printed correction: :math:`\overline{\log u}_s + \hat V_s / (2 \bar u_s^2)`. Its error does not fade with :math:`S_y` (T47).

    Raises:
        ValueError: as for `taylor`.

    Example:
        >>> round(float(taylor_of_logs(jnp.array([[1.0, 3.0]]))), 4)  # (log 3) / 2 + 2 / (2 * 4)
        0.7993

    Source: thesis, section 4.1.5, the display as printed.
    """
    u = _utilities(u, outcomes=2)
    mean = u.mean(axis=1)
    return (jnp.log(u).mean(axis=1) + u.var(axis=1, ddof=1) / (2 * mean**2)).mean(axis=0)


def jensen(u):
    r"""Mean of the logarithms, :math:`\frac{1}{S_\theta S_y} \sum_{st} \log u_{st}`: unbiased for a bound from below (erratum P05).

    Raises:
        ValueError: as for `naive`.

    Example:
        >>> round(float(jensen(jnp.array([[1.0, 3.0]]))), 4)
        0.5493

    Source: LCVI paper, section 4.1.
    """
    return jnp.log(_utilities(u)).mean(axis=(0, 1))


def linear(losses, M: float):
    r"""The tangent of the logarithm: :math:`-\frac{1}{M S_\theta S_y} \sum_{st} \ell_{st}`, without the constant :math:`\log M`.

    Raises:
        ValueError: if ``M`` is not above 0, or a loss is not finite.

    Example:
        >>> float(linear(jnp.array([[1.0, 3.0]]), M=4.0))
        -0.5

    Source: LCVI paper, equation 7; thesis, equation 4.6.
    """
    return -_guard.numbers("losses", losses, at_least=2).mean(axis=(0, 1)) / _guard.positive("M", M)


def discrete(probabilities, utilities):
    r"""The term for finitely many outcomes, summed over them: :math:`\frac{1}{S_\theta} \sum_s \log \sum_y p_{s}(y)\, u(y, h)`.

    Args:
        probabilities: shape ``(S_theta, ..., C)``, of the ``C`` outcomes given each ``theta``.
        utilities: shape ``(C, H)``, the worth of each decision (column) under each outcome (row), not negative.

    Returns:
        The term of every decision, shape ``(..., H)``: the decision is its argmax.

    Raises:
        ValueError: if a utility is negative, the shapes do not fit, or probabilities do not sum to one.

    Example:
        >>> p = jnp.array([[0.25, 0.75]])  # one theta: lupus, not lupus
        >>> discrete(p, jnp.array([[100.0, 0.0], [99.0, 100.0]])).argmax().item()  # columns: treat, do not treat
        0

    Source: thesis, section 4.1.5 (discrete outputs); LCVI paper, section 4.1.
    """
    p, u = _guard.nonnegative("probabilities", probabilities), _guard.nonnegative("utilities", utilities)
    if u.ndim != 2 or p.ndim < 2 or p.shape[-1] != u.shape[0]:
        raise ValueError(f"utilities has shape {u.shape} and probabilities {p.shape}; give one row of utilities for each outcome")
    if not _guard.traced(p) and not bool(jnp.allclose(p.sum(axis=-1), 1, atol=1e-4)):
        raise ValueError("probabilities do not sum to 1 over the last axis; divide them by their sum")
    return jnp.log(p @ u).mean(axis=0)


def estimation(u):
    r"""The term of a decision on parameters: :math:`\frac{1}{S_\theta}\sum_s \log u(\theta_s, h)`, ``u`` of shape ``(S_theta, ...)``.

    Raises:
        ValueError: if ``u`` is empty or holds a number that is negative or not finite.

    Example:
        >>> float(estimation(jnp.array([1.0, 1.0])))
        0.0

    Source: thesis, section 4.1.2.
    """
    return jnp.log(_nonnegative(_guard.numbers("u", u, at_least=1))).mean(axis=0)


class Accuracy(NamedTuple):
    """How an estimator of the utility term errs."""

    bias: jax.Array
    bias_error: jax.Array  # standard error of the bias
    variance: jax.Array


def accuracy(estimates, truth) -> Accuracy:
    """Bias and variance of repeated estimates, shape ``(repeats, ...)``, of a known ``truth``.

    Raises:
        ValueError: if there are fewer than two repeats or a number is not finite.

    Example:
        >>> accuracy(jnp.array([1.0, 3.0]), 1.5).bias.item()
        0.5
    """
    estimates, truth = _guard.numbers("estimates", estimates, at_least=1), _guard.numbers("truth", truth)
    if truth.shape not in ((), estimates.shape[1:]):
        raise ValueError(f"truth has shape {truth.shape} and estimates {estimates.shape}; give one number, or {estimates.shape[1:]}")
    if estimates.shape[0] < 2:
        raise ValueError("estimates has 1 repeat; give at least 2, or there is no variance")
    variance = estimates.var(axis=0, ddof=1)
    return Accuracy(estimates.mean(axis=0) - truth, jnp.sqrt(variance / estimates.shape[0]), variance)


ESTIMATORS: dict[str, Callable] = {"naive": naive, "taylor": taylor, "jensen": jensen}


def _utilities(u, outcomes: int = 1):
    u = _nonnegative(_guard.numbers("u", u, at_least=2))
    if u.shape[1] < outcomes:
        raise ValueError(f"u has {u.shape[1]} outcome for each theta; give at least {outcomes}, or there is no variance to correct with")
    return u


def _nonnegative(u):
    if not _guard.traced(u) and not bool((u >= 0).all()):
        raise ValueError(f"u holds {float(u.min()):g}, and a negative utility has no logarithm; raise M, use linearised, or exponential")
    return u
