r"""How far two distributions are apart: f-divergences, Renyi's, and their closed forms for normals.

An f-divergence is :math:`D_f(p \,\|\, q) = \mathbb{E}_q[f(p/q)]` with a convex f and :math:`f(1) = 0` (erratum T03: a concave one has the
sign turned). The divergences of Renyi and of alpha are two functions of one integral :math:`\int p^a q^{1-a}`, and not the same
(erratum T04).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from course_pkg import _guard


class Normal(NamedTuple):
    """A multivariate normal."""

    mean: Any  # (d,)
    covariance: Any  # (d, d)


def generator(name: str, order: float | None = None) -> Callable:
    r"""The convex :math:`f` of a divergence :math:`\mathbb{E}_q[f(t)]`, :math:`t = p/q`.

    Args:
        name: ``"forward"`` for KL(p, q), :math:`t \log t`; ``"reverse"`` for KL(q, p), :math:`-\log t`; ``"chi squared"``,
            :math:`(t - 1)^2`; ``"hellinger"`` for the squared distance, :math:`(\sqrt t - 1)^2 / 2`; ``"total variation"``,
            :math:`|t - 1| / 2`; ``"alpha"``, :math:`(t^a - 1 - a(t - 1)) / (a(a - 1))`.
        order: a of ``"alpha"``, neither 0 nor 1.

    Raises:
        ValueError: if the name is unknown, or the order missing or 0 or 1.

    Example:
        >>> float(generator("chi squared")(jnp.array(3.0)))
        4.0

    Source: thesis, section 2.2.2, with errata T03 and T04; the Hellinger distance and total variation are not in it.
    """
    known: dict[str, Callable] = {
        "forward": lambda t: jax.scipy.special.xlogy(t, t),
        "reverse": lambda t: -jnp.log(t),
        "chi squared": lambda t: (t - 1) ** 2,
        "hellinger": lambda t: 0.5 * (jnp.sqrt(t) - 1) ** 2,
        "total variation": lambda t: 0.5 * jnp.abs(t - 1),
    }
    if name == "alpha":
        a = _guard.number("order", order)
        if a in (0, 1):
            raise ValueError(f'order is {a:g}, which is the limit; use "reverse" for 0 and "forward" for 1')
        return lambda t: (t**a - 1 - a * (t - 1)) / (a * (a - 1))
    if name not in known:
        raise ValueError(f"name is {name!r}; give one of {', '.join([*known, 'alpha'])}")
    return known[name]


def f_divergence(f: Callable, log_ratio):
    r"""Estimate :math:`\mathbb{E}_q[f(p/q)]` from :math:`\log p - \log q` at draws of q: a mean and its standard error.

    Both densities need their constants. Where p reaches further than q the few draws that matter may be missing, and the estimate is too
    low without showing it. A log ratio below about -87 is a ratio of 0 in single precision, so ``"reverse"`` may then be infinite.

    Args:
        f: convex, such as a `generator`.
        log_ratio: shape ``(S,)``, at draws of q.

    Raises:
        ValueError: if there are fewer than two numbers or one is not finite.

    Example:
        >>> x = jax.random.normal(jax.random.key(0), (10_000,))  # q = N(0, 1), p = N(1, 1): KL(q, p) = 1/2
        >>> value, error = f_divergence(generator("reverse"), x - 0.5)
        >>> bool(abs(value - 0.5) < 4 * error)
        True
    """
    log_ratio = _guard.numbers("log_ratio", log_ratio, ndim=1)
    if log_ratio.size < 2:
        raise ValueError("log_ratio has 1 value; give at least 2, or there is no standard error")
    terms = f(jnp.exp(log_ratio))
    return terms.mean(), terms.std(ddof=1) / jnp.sqrt(log_ratio.size)


def kl_normal(q: Normal, p: Normal):
    r""":math:`\mathrm{KL}(q, p)` of two normals, in nats.

    Example:
        >>> q, p = Normal(jnp.zeros(1), jnp.eye(1)), Normal(jnp.ones(1), jnp.eye(1))
        >>> float(kl_normal(q, p))
        0.5

    Source: thesis, section 2.2.2.
    """
    q, p = _pair("q", q, "p", p)
    shift = q.mean - p.mean
    solved = jnp.linalg.solve(p.covariance, q.covariance)
    log_det = jnp.linalg.slogdet(p.covariance)[1] - jnp.linalg.slogdet(q.covariance)[1]
    return 0.5 * (jnp.trace(solved) + shift @ jnp.linalg.solve(p.covariance, shift) - shift.size + log_det)


def log_affinity(p: Normal, q: Normal, order: float):
    r""":math:`\log \int p^a q^{1-a}` of two normals; infinite where :math:`a \Sigma_p^{-1} + (1 - a) \Sigma_q^{-1}` is not positive.

    Example:
        >>> float(log_affinity(Normal(jnp.zeros(1), jnp.eye(1)), Normal(jnp.ones(1), jnp.eye(1)), 0.5))
        -0.125
    """
    p, q = _pair("p", p, "q", q)
    a = _guard.number("order", order)
    first, second = jnp.linalg.inv(p.covariance), jnp.linalg.inv(q.covariance)
    precision = a * first + (1 - a) * second
    pull = a * first @ p.mean + (1 - a) * second @ q.mean
    square = a * p.mean @ first @ p.mean + (1 - a) * q.mean @ second @ q.mean
    log_det = lambda m: jnp.linalg.slogdet(m)[1]
    value = 0.5 * (a * log_det(first) + (1 - a) * log_det(second) - log_det(precision) + pull @ jnp.linalg.solve(precision, pull) - square)
    return jnp.where(jnp.linalg.eigvalsh(precision).min() > 0, value, jnp.inf)


def renyi_normal(p: Normal, q: Normal, order: float):
    r"""Renyi's divergence :math:`\frac{1}{a - 1} \log \int p^a q^{1-a}`, in nats; KL(p, q) as a tends to 1.

    It is a divergence for orders above 0; at 0 it is 0, and below it is negative.

    Raises:
        ValueError: if ``order`` is 1.

    Example:
        >>> float(renyi_normal(Normal(jnp.zeros(1), jnp.eye(1)), Normal(jnp.ones(1), jnp.eye(1)), 0.5))  # a / 2
        0.25

    Source: thesis, section 2.2.2, with erratum T04.
    """
    if order == 1:
        raise ValueError("order is 1, which is the limit; use kl_normal")
    return log_affinity(p, q, order) / (order - 1)


def alpha_normal(p: Normal, q: Normal, order: float):
    r"""The alpha divergence :math:`\frac{1}{a(a - 1)} \left(\int p^a q^{1-a} - 1\right)`; KL(p, q) as a tends to 1, KL(q, p) as to 0.

    At order 2 it is half the chi-squared divergence, at 1/2 four times the squared Hellinger distance.

    Raises:
        ValueError: if ``order`` is 0 or 1.

    Example:
        >>> round(float(alpha_normal(Normal(jnp.zeros(1), jnp.eye(1)), Normal(jnp.ones(1), jnp.eye(1)), 2.0)), 4)  # (e - 1) / 2
        0.8591

    Source: thesis, section 2.2.2, with erratum T04.
    """
    if order in (0, 1):
        raise ValueError(f"order is {order:g}, which is the limit; use kl_normal")
    return jnp.expm1(log_affinity(p, q, order)) / (order * (order - 1))


def _pair(name, first, other, second) -> tuple[Normal, Normal]:
    first, second = _normal(name, first), _normal(other, second)
    if first.mean.size != second.mean.size:
        raise ValueError(f"{name} has {first.mean.size} dimensions and {other} {second.mean.size}; give two of one dimension")
    return first, second


def _normal(name, given) -> Normal:
    mean = _guard.numbers(f"{name}.mean", given.mean, ndim=1)
    covariance = _guard.numbers(f"{name}.covariance", given.covariance, ndim=2)
    if covariance.shape != (mean.size, mean.size):
        raise ValueError(f"{name}.covariance has shape {covariance.shape}; give {(mean.size, mean.size)}")
    if not _guard.traced(covariance) and not np.all(np.linalg.eigvalsh(np.asarray(covariance, float)) > 0):
        raise ValueError(f"{name}.covariance is not positive definite; give one that is")
    return Normal(mean * 1.0, covariance * 1.0)
