r"""Families: what we approximate a posterior with.

A family :math:`q_\lambda` is a base density :math:`q_0` without parameters and an invertible map with them: draw
:math:`\epsilon \sim q_0`, set :math:`\theta = f_\lambda(\epsilon)`. Everything else follows from the pair. The density is
:math:`\log q_\lambda(\theta) = \log q_0(s_\lambda(\theta)) - \log|\det J|` with :math:`s = f^{-1}`; composing two maps gives another
family.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import scipy.stats
from jaxtyping import Array, Float, PRNGKeyArray

from course_pkg import _guard


class Base(NamedTuple):
    """A density without parameters, the same and independent for every coordinate."""

    sample: Callable  # key, shape -> eps
    log_prob: Callable  # eps -> log density of each coordinate
    entropy: float  # of one coordinate


class Family(NamedTuple):
    r"""Distributions :math:`q_\lambda` of :math:`\theta = f_\lambda(\epsilon)`, for one point at a time."""

    init: Callable  # dim -> lam, a pytree of unconstrained arrays
    base: Base
    transform: Callable  # lam, eps (d,) -> theta (d,)                the map f
    standardize: Callable  # lam, theta (d,) -> eps (d,)              its inverse s
    log_det: Callable  # lam, eps (d,) -> ()                          log |det df/deps|
    affine: bool  # in eps: then log_det does not depend on eps, and the entropy has a closed form


class Diagonal(NamedTuple):
    """Parameters of a factorised family: a location and the logarithm of a scale for each coordinate."""

    mu: Float[Array, " d"]
    log_sigma: Float[Array, " d"]


class Triangular(NamedTuple):
    """Parameters of a full-rank family: a location, the log diagonal of a lower triangle, and what lies below it, row by row."""

    mu: Float[Array, " d"]
    log_diagonal: Float[Array, " d"]
    below: Float[Array, " k"]  # k = d (d - 1) / 2


def location_scale(base: Base) -> Family:
    r"""Independent coordinates :math:`\theta_j = \mu_j + \sigma_j \epsilon_j` over any base: a mean-field family.

    Parameters: `Diagonal`, started at location 0 and scale 1.

    Example:
        >>> family = location_scale(laplace())
        >>> family.transform(Diagonal(jnp.array([1.0]), jnp.array([0.0])), jnp.array([2.0])).tolist()
        [3.0]

    Source: thesis, section 2.3.2; slides, the table of one-liners.
    """

    def init(dim: int) -> Diagonal:
        dim = _guard.count("dim", dim)
        return Diagonal(jnp.zeros(dim), jnp.zeros(dim))

    def transform(lam, eps):
        return lam.mu + jnp.exp(lam.log_sigma) * eps

    def standardize(lam, theta):
        return (theta - lam.mu) * jnp.exp(-lam.log_sigma)

    def log_det(lam, eps):  # noqa: ARG001
        return lam.log_sigma.sum()

    return Family(init, base, transform, standardize, log_det, affine=True)


def full_rank(base: Base) -> Family:
    r"""Dependent coordinates :math:`\theta = \mu + L\epsilon` with a lower triangle :math:`L` whose diagonal is positive.

    Only the triangle is stored: :math:`d(d-1)/2` numbers below the diagonal. Parameters: `Triangular`, started at :math:`\mu = 0`,
    :math:`L = I`.

    Example:
        >>> family = full_rank(normal())
        >>> lam = family.init(2)._replace(below=jnp.array([3.0]))
        >>> triangle(lam).tolist()
        [[1.0, 0.0], [3.0, 1.0]]

    Source: thesis, section 2.3.2 (normal approximations, with the words of erratum T09).
    """

    def init(dim: int) -> Triangular:
        dim = _guard.count("dim", dim)
        return Triangular(jnp.zeros(dim), jnp.zeros(dim), jnp.zeros(dim * (dim - 1) // 2))

    def transform(lam, eps):
        return lam.mu + triangle(lam) @ eps

    def standardize(lam, theta):
        return jax.scipy.linalg.solve_triangular(triangle(lam), theta - lam.mu, lower=True)

    def log_det(lam, eps):  # noqa: ARG001
        return lam.log_diagonal.sum()

    return Family(init, base, transform, standardize, log_det, affine=True)


def triangle(lam: Triangular):
    """The lower triangle ``L``, shape ``(d, d)``, of full-rank parameters."""
    dim = lam.mu.shape[0]
    return jnp.diag(jnp.exp(lam.log_diagonal)).at[jnp.tril_indices(dim, -1)].set(lam.below)


def compose(outer, inner, base: Base | None = None) -> Family:
    r"""The family of :math:`\theta = f(g(\epsilon))`: ``inner`` acts first, ``outer`` on its result.

    Parameters are the pair ``(lam of outer, lam of inner)``.

    Args:
        outer: a `Family`; or anything with its fields ``init``, ``transform``, ``standardize``, ``log_det`` and ``affine``.
        inner: the same.
        base: density of ``eps``; that of ``inner``, or else of ``outer``, where it is not given.

    Example:
        >>> family = compose(full_rank(normal()), location_scale(student_t(4.0)))
        >>> lam = family.init(2)
        >>> family.transform(lam, jnp.array([1.0, 2.0])).tolist()
        [1.0, 2.0]

    Source: thesis, section 3.2.4 (the Lambert W family is a location and scale of a skew).
    """

    def init(dim: int):
        return outer.init(dim), inner.init(dim)

    def transform(lam, eps):
        return outer.transform(lam[0], inner.transform(lam[1], eps))

    def standardize(lam, theta):
        return inner.standardize(lam[1], outer.standardize(lam[0], theta))

    def log_det(lam, eps):
        return inner.log_det(lam[1], eps) + outer.log_det(lam[0], inner.transform(lam[1], eps))

    base = base or getattr(inner, "base", None) or outer.base
    return Family(init, base, transform, standardize, log_det, outer.affine and inner.affine)


def dimension(family: Family, lam) -> int:
    """How many coordinates ``theta`` has: the size of the first array of ``lam``."""
    del family
    return jax.tree.leaves(lam)[0].shape[-1]


def sample(key: PRNGKeyArray, family: Family, lam, draws: int):
    """Independent draws of ``theta``, shape ``(draws, d)``, differentiable in ``lam``.

    Raises:
        ValueError: if ``draws`` is below 1.

    Example:
        >>> family = mean_field_normal()
        >>> sample(jax.random.key(0), family, family.init(3), 5).shape
        (5, 3)
    """
    eps = family.base.sample(key, (_guard.count("draws", draws), dimension(family, lam)))
    return jax.vmap(family.transform, (None, 0))(lam, eps)


def log_prob(family: Family, lam, theta):
    r"""Log density :math:`\log q_\lambda(\theta)` at one point of shape ``(d,)``, in nats.

    Example:
        >>> family = mean_field_normal()
        >>> round(float(log_prob(family, family.init(1), jnp.array([0.0]))), 4)
        -0.9189
    """
    eps = family.standardize(lam, theta)
    return family.base.log_prob(eps).sum() - family.log_det(lam, eps)


def entropy(family: Family, lam):
    r"""Entropy :math:`-\mathbb{E}_q \log q_\lambda` in nats, in closed form: :math:`d\,H(q_0) + \log|\det J|`.

    Raises:
        ValueError: if the map is not affine; then only draws give the entropy.

    Example:
        >>> family = mean_field_normal()
        >>> round(float(entropy(family, family.init(1))), 4)
        1.4189
    """
    if not family.affine:
        raise ValueError("family has a map that is not affine, so its entropy has no closed form; use a Monte Carlo entropy")
    d = dimension(family, lam)
    return d * family.base.entropy + family.log_det(lam, jnp.zeros(d))


def mean_field_normal() -> Family:
    """Independent normals: `location_scale` over `normal`."""
    return location_scale(normal())


def full_rank_normal() -> Family:
    """Any multivariate normal: `full_rank` over `normal`."""
    return full_rank(normal())


def normal() -> Base:
    """The standard normal density."""
    return Base(_sample_normal, _log_normal, 0.5 * math.log(2 * math.pi * math.e))


def laplace() -> Base:
    r"""The Laplace density :math:`\frac12 e^{-|\epsilon|}` (the half of erratum S02 included)."""
    return Base(_sample_laplace, _log_laplace, 1 + math.log(2.0))


def logistic() -> Base:
    """The logistic density, the slope of the sigmoid."""
    return Base(_sample_logistic, _log_logistic, 2.0)


def student_t(df: float) -> Base:
    """Student's t density with ``df`` degrees of freedom, above 0.

    Raises:
        ValueError: if ``df`` is not above 0.
    """
    df = float(_guard.positive("df", df))

    def draw(key, shape):
        return jax.random.t(key, df, shape)

    def log_density(eps):
        return jax.scipy.stats.t.logpdf(eps, df)

    return Base(draw, log_density, float(scipy.stats.t.entropy(df)))  # in double precision: its terms cancel where df is large


def _sample_normal(key, shape):
    return jax.random.normal(key, shape)


def _log_normal(eps):
    return -0.5 * (eps**2 + jnp.log(2 * jnp.pi))


def _sample_laplace(key, shape):
    return jax.random.laplace(key, shape)


def _log_laplace(eps):
    return -jnp.abs(eps) - jnp.log(2.0)


def _sample_logistic(key, shape):
    return jax.random.logistic(key, shape)


def _log_logistic(eps):
    return jax.nn.log_sigmoid(eps) + jax.nn.log_sigmoid(-eps)


Parameters = Any  # a pytree of unconstrained arrays, whose structure a family chooses
