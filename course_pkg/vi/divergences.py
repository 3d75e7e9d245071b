r"""How far two distributions are apart: f-divergences, Renyi's, and their closed forms for normals.

An f-divergence is :math:`D_f(p \,\|\, q) = \mathbb{E}_q[f(p/q)]` with a convex f and :math:`f(1) = 0` (erratum T03: a concave one has the
sign turned). The divergences of Renyi and of alpha are two functions of one integral :math:`\int p^a q^{1-a}`, and not the same
(erratum T04).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from course_pkg import _guard


class Normal(NamedTuple):
    """A multivariate normal."""

    mean: Any  # (d,)
    covariance: Any  # (d, d)


class Generator(NamedTuple):
    r"""The convex :math:`f` of a divergence. Call it like its equation, ``f(t)``; it is written in :math:`r = \log t`."""

    name: str
    of_log: Callable  # log t -> f(t), element by element

    def __call__(self, t):
        """What a ratio ``t`` of at least 0 costs, element by element."""
        return self.of_log(jnp.log(t))


def generator(name: str, order: float | None = None) -> Generator:
    r"""The convex :math:`f` of a divergence :math:`\mathbb{E}_q[f(t)]`, :math:`t = p/q`.

    Args:
        name: ``"forward"`` for KL(p || q), :math:`t \log t`; ``"reverse"`` for KL(q || p), :math:`-\log t`; ``"chi squared"``,
            :math:`(t - 1)^2`; ``"hellinger"`` for the squared distance, :math:`(\sqrt t - 1)^2 / 2`; ``"total variation"``,
            :math:`|t - 1| / 2`; ``"alpha"``, :math:`(t^a - 1 - a(t - 1)) / (a(a - 1))`.
        order: a of ``"alpha"``, neither 0 nor 1; the others take none.

    Returns:
        `Generator`, a function of ``t``. The means of the first two are in nats, those of the others have no unit. It computes from
        :math:`\log t`, so a ratio that is too small for the precision costs what it should (`f_divergence`).

    Raises:
        ValueError: if the name is unknown, or the order missing, 0 or 1.

    Example:
        >>> round(float(generator("chi squared")(3.0)), 4)
        4.0

    Source: thesis, section 2.2.2, with errata T03 and T04; the Hellinger distance and total variation are not in it.
    """
    written: dict[str, Callable] = {  # in r = log t, so that e^r is t; t log t is 0 at t = 0
        "forward": lambda r: jnp.where(r > -jnp.inf, jnp.exp(r) * r, 0.0),
        "reverse": lambda r: -r,
        "chi squared": lambda r: jnp.expm1(r) ** 2,
        "hellinger": lambda r: 0.5 * jnp.expm1(0.5 * r) ** 2,
        "total variation": lambda r: 0.5 * jnp.abs(jnp.expm1(r)),
    }
    if isinstance(name, str) and name == "alpha":
        a = _guard.number("order", order)
        if a in (0, 1):
            raise ValueError(f'order is {a:g}, which is the limit; use "reverse" for 0 and "forward" for 1')
        return Generator(name, lambda r: _alpha(a, r))
    return Generator(name, written[_guard.choice("name", name, [*written, "alpha"])])


def _alpha(a: float, r):
    """The function of the alpha divergence: infinite, and not the difference of two infinite terms, where ``t`` is."""
    value = (jnp.expm1(a * r) - a * jnp.expm1(r)) / (a * (a - 1))
    return jnp.where(jnp.exp(r) < jnp.inf, value, jnp.inf)


def f_divergence(f: Callable, log_ratio):
    r"""Estimate :math:`\mathbb{E}_q[f(p/q)]` from :math:`\log p - \log q` at draws of q: a mean and its standard error.

    Both densities need their constants. Where p reaches further than q the few draws that matter may be missing, and the estimate is too
    low without showing it. A `generator` takes the log ratio as it is. Any other function is given the ratio, which is rounded to 0 where
    its logarithm is below about -87 in single precision, and -745 in double.

    Args:
        f: convex with :math:`f(1) = 0`: a `generator`, or any function of the ratio that works element by element.
        log_ratio: :math:`\log p - \log q` in nats, shape ``(S,)``, at draws of q; at least 2 of them.

    Returns:
        Mean and standard error, each ``()``, in the unit of f: nats for both KLs.

    Raises:
        ValueError: if there are fewer than two numbers or one is not finite.

    Example:
        >>> import jax
        >>> x = jax.random.normal(jax.random.key(0), (10_000,))  # q = N(0, 1), p = N(1, 1): KL(q || p) = 1/2
        >>> value, error = f_divergence(generator("reverse"), x - 0.5)
        >>> bool(abs(value - 0.5) < 4 * error)
        True

    Source: thesis, section 2.2.2, with erratum T03.
    """
    log_ratio = _guard.numbers("log_ratio", log_ratio, ndim=1)
    if log_ratio.size < 2:
        raise ValueError("log_ratio has 1 value; give at least 2, or there is no standard error")
    with _guard.calling("f"):
        terms = f.of_log(log_ratio) if isinstance(f, Generator) else f(jnp.exp(log_ratio))
    return terms.mean(), terms.std(ddof=1) / jnp.sqrt(log_ratio.size)


def kl_normal(q: Normal, p: Normal):
    r""":math:`\mathrm{KL}(q \,\|\, p)` of two normals.

    .. math::

        \tfrac12 \bigl[\operatorname{tr}(\Sigma_p^{-1} \Sigma_q) + (\mu_q - \mu_p)^\top \Sigma_p^{-1} (\mu_q - \mu_p) - d
        + \log |\Sigma_p| - \log |\Sigma_q|\bigr]

    Args:
        q: the distribution that the mean is taken under, ``mean`` of shape ``(d,)`` and ``covariance`` ``(d, d)``.
        p: the other one, of the same dimension.

    Returns:
        The divergence, ``()``, in nats.

    Raises:
        ValueError: if a shape does not fit or a covariance is not symmetric and positive definite.

    Example:
        >>> q, p = Normal(jnp.zeros(1), jnp.eye(1)), Normal(jnp.ones(1), jnp.eye(1))
        >>> float(kl_normal(q, p))
        0.5

    Source: thesis, equation 2.4, for normals.
    """
    q, p = _pair("q", q, "p", p)
    shift = q.mean - p.mean
    solved = jnp.linalg.solve(p.covariance, q.covariance)
    log_det = jnp.linalg.slogdet(p.covariance)[1] - jnp.linalg.slogdet(q.covariance)[1]
    return 0.5 * (jnp.trace(solved) + shift @ jnp.linalg.solve(p.covariance, shift) - shift.size + log_det)


def log_affinity(p: Normal, q: Normal, order: float):
    r""":math:`\log \int p^a q^{1-a}` of two normals, the integral that `renyi_normal` and `alpha_normal` are functions of.

    Args:
        p: ``mean`` of shape ``(d,)``, ``covariance`` ``(d, d)``.
        q: of the same dimension.
        order: a, any finite number.

    Returns:
        The logarithm, ``()``, in nats; infinite where :math:`a \Sigma_p^{-1} + (1 - a) \Sigma_q^{-1}` is not positive definite.

    Raises:
        ValueError: if a shape does not fit, a covariance is not symmetric and positive definite, or ``order`` is not finite.

    Example:
        >>> float(log_affinity(Normal(jnp.zeros(1), jnp.eye(1)), Normal(jnp.ones(1), jnp.eye(1)), 0.5))
        -0.125

    Source: the normal integral, by completing the square.
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
    r"""Renyi's divergence :math:`\frac{1}{a - 1} \log \int p^a q^{1-a}` of two normals; KL(p || q) as a tends to 1.

    It is a divergence for orders above 0 only. At 0 it is 0 for every pair, and below 0 it is negative.

    Args:
        p: ``mean`` of shape ``(d,)``, ``covariance`` ``(d, d)``.
        q: of the same dimension.
        order: a, not 1.

    Returns:
        The value, ``()``, in nats; infinite where the integral is.

    Raises:
        ValueError: if ``order`` is 1 or not finite, and as `log_affinity`.

    Example:
        >>> float(renyi_normal(Normal(jnp.zeros(1), jnp.eye(1)), Normal(jnp.ones(1), jnp.eye(1)), 0.5))  # a / 2
        0.25

    Source: thesis, section 2.2.2, with erratum T04.
    """
    order = _guard.number("order", order)
    if order == 1:
        raise ValueError("order is 1, which is the limit; use kl_normal")
    return log_affinity(p, q, order) / (order - 1)


def alpha_normal(p: Normal, q: Normal, order: float):
    r"""The alpha divergence :math:`\frac{1}{a(a - 1)} \left(\int p^a q^{1-a} - 1\right)` of two normals.

    It tends to KL(p || q) as a tends to 1 and to KL(q || p) as a tends to 0. At order 2 it is half the chi-squared divergence, at 1/2 four
    times the squared Hellinger distance.

    Args:
        p: ``mean`` of shape ``(d,)``, ``covariance`` ``(d, d)``.
        q: of the same dimension.
        order: a, neither 0 nor 1; the number of Amari's that the thesis has is :math:`2a - 1`.

    Returns:
        The divergence, ``()``, without a unit; infinite where the integral is.

    Raises:
        ValueError: if ``order`` is 0, 1 or not finite, and as `log_affinity`.

    Example:
        >>> round(float(alpha_normal(Normal(jnp.zeros(1), jnp.eye(1)), Normal(jnp.ones(1), jnp.eye(1)), 2.0)), 4)  # (e - 1) / 2
        0.8591

    Source: thesis, section 2.2.2, with erratum T04.
    """
    order = _guard.number("order", order)
    if order in (0, 1):
        raise ValueError(f"order is {order:g}, which is the limit; use kl_normal")
    return jnp.expm1(log_affinity(p, q, order)) / (order * (order - 1))


def _pair(name, first, other, second) -> tuple[Normal, Normal]:
    """Both normals, checked, if they are of one dimension."""
    first, second = _normal(name, first), _normal(other, second)
    if first.mean.size != second.mean.size:
        raise ValueError(f"{name} has {first.mean.size} dimensions and {other} {second.mean.size}; give two of one dimension")
    return first, second


def _normal(name, given) -> Normal:
    if not hasattr(given, "covariance"):
        raise ValueError(f"{name} is {given!r}; give Normal(mean, covariance)")
    mean = _guard.numbers(f"{name}.mean", given.mean, ndim=1)
    covariance = _guard.numbers(f"{name}.covariance", given.covariance, ndim=2)
    if covariance.shape != (mean.size, mean.size):
        raise ValueError(f"{name}.covariance has shape {covariance.shape}; give {(mean.size, mean.size)}")
    if not _guard.traced(covariance) and not _is_covariance(np.asarray(covariance, float)):
        raise ValueError(f"{name}.covariance is not symmetric and positive definite; give one that is")
    return Normal(mean * 1.0, covariance * 1.0)


def _is_covariance(c) -> bool:
    """Whether ``c`` is symmetric, up to the rounding of single precision, and positive definite."""
    return bool(np.abs(c - c.T).max() <= 1e-4 * np.abs(c).max() and np.linalg.eigvalsh(c).min() > 0)
