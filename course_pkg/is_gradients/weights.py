r"""Importance weights: what a draw of yesterday's approximation is worth under today's.

A draw :math:`\theta_m \sim q_\lambda` answers questions about :math:`q_{\lambda'}` when it is weighted by
:math:`w_m = q_{\lambda'}(\theta_m) / q_\lambda(\theta_m)`. The densities are those of :math:`\theta`, so the ratio holds the Jacobians of
both maps:

.. math:: w_m = \frac{q_0(\epsilon'_m)}{q_0(\epsilon_m)} \frac{|\det J_\lambda(\epsilon_m)|}{|\det J_{\lambda'}(\epsilon'_m)|},
    \qquad \epsilon' = s_{\lambda'}(\theta)

(errata T26, T27). Its mean is one for every move.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from course_pkg import _guard, families
from course_pkg.families import Family

LARGEST = 50.0  # of a log weight where it is raised to a power of e: beyond it a draw has nothing to say and single precision overflows


class Weights(NamedTuple):
    """Weights of draws, and how many draws of the new distribution they are worth."""

    log: Any  # (M,) for the joint density, (M, k) for k factors
    value: Any  # the same shape
    ess: Any  # effective sample size, () or (k,), between 1 and M


def importance_weights(family: Family, lam_new, lam_old, theta, *, factors: int | None = None, normalise: bool = False) -> Weights:
    r"""Weights :math:`q_{\lambda'}(\theta_m) / q_\lambda(\theta_m)` of draws from :math:`q_\lambda`, Jacobians included.

    Estimand :math:`\mathbb{E}_{q_{\lambda'}}[g]`, estimator :math:`\frac{1}{M} \sum_m w_m\, g(\theta_m)` (erratum T23). The joint weights
    are unbiased. With ``factors`` the coordinates are cut into equal blocks, each with a weight of its own: block :math:`i` then estimates
    :math:`\mathbb{E}_{q'_i\, q_{\setminus i}}`, the other blocks staying as they were (erratum T24). That scatters far less in many
    dimensions and is biased wherever :math:`g_i` looks at the other blocks.

    Args:
        family: any `Family`; with ``factors``, one whose coordinates are independent.
        lam_new: parameters of the distribution asked about.
        lam_old: parameters that the draws were made with.
        theta: draws, shape ``(M, d)``.
        factors: how many equal blocks of coordinates; None for one weight for each draw.
        normalise: divide by the mean weight (of each block). Biased by a term of order 1/M; it bounds a weight by M. It repairs a missing
            Jacobian for affine maps only (erratum T26).

    Returns:
        `Weights`, of shape ``(M,)`` or ``(M, factors)``. The effective sample size is :math:`(\sum w)^2 / \sum w^2`.

    Raises:
        ValueError: if ``theta`` is not of shape ``(M, d)``, d being that of both parameters, ``factors`` does not divide ``d``, or
            the family's coordinates depend on each other and ``factors`` is given.

    Example:
        >>> family = families.mean_field_normal()
        >>> old = family.init(2, scale=1.0)
        >>> theta = families.sample(jax.random.key(0), family, old, 4000)
        >>> new = old._replace(mu=jnp.array([0.3, 0.0]))
        >>> weights = importance_weights(family, new, old, theta)
        >>> bool(abs(weights.value.mean() - 1) < 0.02), bool(abs((weights.value @ theta)[0] / 4000 - 0.3) < 0.03)
        (True, True)
        >>> importance_weights(family, new, old, theta, factors=2).value.shape
        (4000, 2)

    Source: thesis, section 3.1.1, with errata T23, T24, T26 and T27.
    """
    theta = _guard.numbers("theta", theta, ndim=2)
    lam_new, lam_old = _guard.parameters("lam_new", lam_new, family), _guard.parameters("lam_old", lam_old, family)
    for name, lam in (("lam_new", lam_new), ("lam_old", lam_old)):
        if (dim := families.dimension(family, lam)) != theta.shape[1]:
            raise ValueError(f"theta has shape {theta.shape} and {name} is for {dim} coordinates; give parameters and draws of the same")
    factors = None if factors is None else check_factors(family, factors, theta.shape[1])

    def log_density(lam):
        eps = jax.vmap(family.standardize, (None, 0))(lam, theta)
        return log_q(family, lam, eps, factors or 1)

    log_w = log_density(lam_new) - log_density(lam_old)
    log_w = log_w if factors else log_w[:, 0]
    value = from_log(log_w, normalise=normalise)
    return Weights(log_w, value, effective_size(value))


def log_q(family: Family, lam, eps, factors: int = 1):
    """Log density of ``theta = f(eps)`` by blocks of coordinates, shape ``(M, factors)``, from ``eps`` of shape ``(M, d)``."""

    def one(e):
        if factors == 1:
            return (family.base.log_prob(e).sum() - family.log_det(lam, e))[None]
        return coordinate_log_q(family, lam, e).reshape(factors, -1).sum(axis=1)

    return jax.vmap(one)(eps)


def coordinate_log_q(family: Family, lam, eps):
    """Log density of each coordinate, shape ``(d,)``, of a family whose coordinates are independent."""
    slope = jax.jvp(lambda e: family.transform(lam, e), (eps,), (jnp.ones_like(eps),))[1]
    return family.base.log_prob(eps) - jnp.log(jnp.abs(slope))


def from_log(log_w, *, normalise: bool = False, clip: float = LARGEST):
    """Weights from their logarithms over draws in the first axis, none above ``exp(clip)``; divided by their mean, if asked.

    A draw that the new map cannot have made (its inverse is not a number there) lies outside the new support: its weight is 0.
    """
    log_w = jnp.where(jnp.isnan(log_w), -jnp.inf, log_w)
    if normalise:
        return jax.nn.softmax(log_w, axis=0) * log_w.shape[0]
    return jnp.exp(jnp.minimum(log_w, clip))


def effective_size(w, axis=0):
    r"""Effective sample size :math:`(\sum w)^2 / \sum w^2` over an axis: 1 where one weight has everything, M where all are equal.

    Raises:
        ValueError: if a weight is negative or not finite, all are zero, or there is no such axis.

    Example:
        >>> float(effective_size(jnp.array([1.0, 1.0, 0.0])))
        2.0

    Source: Kish's formula, as in `course_pkg.decisions.effective_sample_size`.
    """
    w = _guard.nonnegative("w", _guard.numbers("w", w, at_least=1))
    if axis is not None and not (isinstance(axis, int) and not isinstance(axis, bool) and -w.ndim <= axis < w.ndim):
        raise ValueError(f"axis is {axis!r} and w has {w.ndim} dimension(s); give a whole number from {-w.ndim} to {w.ndim - 1}")
    if not _guard.traced(w) and not bool((w.max(axis=axis) > 0).all()):
        raise ValueError("w is 0 throughout: no draw is worth anything; give at least one weight above 0")
    return _effective_size(w, axis)


def effective_share(w):
    """The effective size of all weights over their number, for compiled loops: no checks, and NaN where all weights are zero."""
    return _effective_size(w, None) / w.size


def _effective_size(w, axis):
    w = w / jnp.maximum(w.max(axis=axis, keepdims=True), jnp.finfo(w.dtype).tiny)  # squares of large weights overflow
    return w.sum(axis=axis) ** 2 / (w**2).sum(axis=axis)


def expected_ess(lam_new: families.Diagonal, lam_old: families.Diagonal):
    r"""Share :math:`1 / \mathbb{E}_q[w^2]` of the draws that survive, for each coordinate of a mean-field normal, in closed form.

    With :math:`r = \sigma'/\sigma` and :math:`\delta = (\mu' - \mu)/\sigma` it is :math:`r\sqrt{2 - r^2}\; e^{-\delta^2/(2 - r^2)}`,
    and 0 from :math:`r = \sqrt 2` on, where the variance of the weights is infinite. The share of a block is the product over its
    coordinates, so it decays exponentially with dimension.

    Raises:
        ValueError: if the two do not have the same shape.

    Example:
        >>> old = families.Diagonal(jnp.zeros(1), jnp.zeros(1))
        >>> new = families.Diagonal(jnp.array([0.5]), jnp.zeros(1))
        >>> round(float(expected_ess(new, old)[0]), 4)  # exp(-0.25)
        0.7788

    Source: thesis, section 3.1.1, figure 3.2 (which shows it by simulation).
    """
    lam_new, lam_old = _mean_field("lam_new", lam_new), _mean_field("lam_old", lam_old)
    if lam_new.mu.shape != lam_old.mu.shape:
        raise ValueError(f"lam_new.mu has shape {lam_new.mu.shape} and lam_old.mu {lam_old.mu.shape}; give the same")
    ratio = jnp.exp(lam_new.log_sigma - lam_old.log_sigma)
    delta = (lam_new.mu - lam_old.mu) * jnp.exp(-lam_old.log_sigma)
    left = 2 - ratio**2
    safe = jnp.where(left > 0, left, 1.0)
    return jnp.where(left > 0, ratio * jnp.sqrt(safe) * jnp.exp(-(delta**2) / safe), 0.0)


def _mean_field(name, lam) -> families.Diagonal:
    if not isinstance(lam, families.Diagonal):
        raise ValueError(f"{name} is {lam!r}; give the parameters of a mean-field normal, such as families.mean_field_normal().init(2)")
    mu, log_sigma = (_guard.numbers(f"{name}.{field}", value) for field, value in lam._asdict().items())
    if mu.shape != log_sigma.shape:
        raise ValueError(f"{name} has a mu of shape {mu.shape} and a log_sigma of {log_sigma.shape}; give the same")
    return families.Diagonal(mu, log_sigma)


def check_factors(family: Family, factors, dim: int) -> int:
    """`factors`, if it divides `dim` and the family's coordinates allow it."""
    factors = _guard.count("factors", factors)
    if dim % factors:
        raise ValueError(f"factors is {factors} and theta has {dim} coordinates; give a number that divides {dim}")
    if factors > 1 and not is_factorised(family, dim):
        raise ValueError(f"factors is {factors} and the family's coordinates depend on each other; give None, or a mean-field family")
    return factors


def is_factorised(family: Family, dim: int = 3) -> bool:
    """Whether each coordinate of ``theta`` follows from its own ``eps`` alone.

    Read off the Jacobian at some parameters without structure. Two coordinates differ in some binary digit of their numbers, so it is
    enough to move, digit by digit, those that have it and to see whether others follow.

    Args:
        family: any `Family`.
        dim: how many coordinates, at least 1.

    Raises:
        ValueError: if ``dim`` is below 1.

    Example:
        >>> is_factorised(families.mean_field_normal()), is_factorised(families.full_rank_normal())
        (True, False)
    """
    dim = _guard.count("dim", dim)
    try:
        hash(family)
    except TypeError:  # made of objects that hold arrays: asked anew each time
        return _is_factorised.__wrapped__(family, dim)
    return _is_factorised(family, dim)


@lru_cache(maxsize=32)  # asked anew for each estimator, and slow, since nothing of it is compiled
def _is_factorised(family, dim):
    with jax.ensure_compile_time_eval():
        leaves, tree = jax.tree.flatten(family.init(dim))
        *keys, key = jax.random.split(jax.random.key(0), len(leaves) + 1)
        parts = [a + 0.1 * jax.random.normal(k, jnp.shape(a), jnp.result_type(a, float)) for a, k in zip(leaves, keys, strict=True)]
        lam = jax.tree.unflatten(tree, parts)
        eps, tangent = jax.random.normal(key, (2, dim))
        moved = lambda v: jax.jvp(lambda e: family.transform(lam, e), (eps,), (v,))[1]
        for digit in range((dim - 1).bit_length()):
            has = (jnp.arange(dim) >> digit) % 2 == 1
            for part in (has, ~has):
                if bool((jnp.where(part, 0.0, moved(jnp.where(part, tangent, 0.0))) != 0).any()):
                    return False
    return True
