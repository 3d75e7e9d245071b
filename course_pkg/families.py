r"""Families: what we approximate a posterior with.

A family :math:`q_\lambda` is a base density :math:`q_0` without parameters and an invertible map with them: draw
:math:`\epsilon \sim q_0`, set :math:`\theta = f_\lambda(\epsilon)`. Everything else follows from the pair. The density is
:math:`\log q_\lambda(\theta) = \log q_0(s_\lambda(\theta)) - \log|\det J|` with :math:`s = f^{-1}`; composing two maps gives another
family.

A fit starts where ``family.init(dim, location=0.0, scale=0.1)`` says: at ``location`` (a number, or one for each coordinate), with draws
scattered around it by ``scale`` (above 0, likewise). Maps that are no `Family`, a skew for instance, have ``init(dim)`` alone. The start is
narrow for a reason. Draws of a wide one fall where the log joint is thousands of nats below its summit, and gradients from there swamp all
others: a fit may be thrown far away and not come back. A narrow one first finds the way up by the gradient at a point, and then widens.
NumPyro's autoguides start at 0.1, too.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy.stats
from jaxtyping import Array, Float, PRNGKeyArray

from course_pkg import _guard, _streams

NARROW = 0.1  # the scale that families start with


class Base(NamedTuple):
    """A density without parameters, the same and independent for every coordinate."""

    sample: Callable  # key, shape -> eps
    log_prob: Callable  # eps -> log density of each coordinate
    entropy: float  # of one coordinate
    scipy: Any = None  # the same in scipy.stats, for its distribution function and quantiles; None where there is none


class Family(NamedTuple):
    r"""Distributions :math:`q_\lambda` of :math:`\theta = f_\lambda(\epsilon)`, for one point at a time."""

    init: Callable  # dim, location=0.0, scale=0.1 -> lam, a pytree of unconstrained arrays
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
    """Parameters of a full-rank family: a location, the log diagonal of a lower triangle, and what lies below it, row by row.

    What lies below is counted in units of its row's diagonal entry. An optimiser's step then means the same in a coordinate measured in
    thousands and in one measured in thousandths.
    """

    mu: Float[Array, " d"]
    log_diagonal: Float[Array, " d"]
    below: Float[Array, " k"]  # k = d (d - 1) / 2, each the share of its row's diagonal entry


def location_scale(base: Base) -> Family:
    r"""Independent coordinates :math:`\theta_j = \mu_j + \sigma_j \epsilon_j` over any base: a mean-field family.

    Parameters: `Diagonal`.

    Example:
        >>> family = location_scale(laplace())
        >>> family.transform(Diagonal(jnp.array([1.0]), jnp.array([0.0])), jnp.array([2.0])).tolist()
        [3.0]

    Source: thesis, section 2.3.2; slides, the table of one-liners.
    """

    def init(dim: int, location=0.0, scale=NARROW) -> Diagonal:
        mu, sigma = each_coordinate(dim, location, scale)
        return Diagonal(mu, jnp.log(sigma))

    def transform(lam, eps):
        return lam.mu + jnp.exp(lam.log_sigma) * eps

    def standardize(lam, theta):
        return (theta - lam.mu) * jnp.exp(-lam.log_sigma)

    def log_det(lam, eps):  # noqa: ARG001
        return lam.log_sigma.sum()

    return Family(init, base, transform, standardize, log_det, affine=True)


def full_rank(base: Base) -> Family:
    r"""Dependent coordinates :math:`\theta = \mu + L\epsilon` with a lower triangle :math:`L` whose diagonal is positive.

    Only the triangle is stored: :math:`d(d-1)/2` numbers below the diagonal. Parameters: `Triangular`, started with a diagonal :math:`L`.

    Example:
        >>> family = full_rank(normal())
        >>> lam = family.init(2, scale=2.0)._replace(below=jnp.array([3.0]))
        >>> triangle(lam).tolist()
        [[2.0, 0.0], [6.0, 2.0]]

    Source: thesis, section 2.3.2 (normal approximations, with the words of erratum T09).
    """

    def init(dim: int, location=0.0, scale=NARROW) -> Triangular:
        mu, sigma = each_coordinate(dim, location, scale)
        return Triangular(mu, jnp.log(sigma), jnp.zeros(mu.size * (mu.size - 1) // 2))

    def transform(lam, eps):
        return lam.mu + triangle(lam) @ eps

    def standardize(lam, theta):
        return jax.scipy.linalg.solve_triangular(triangle(lam), theta - lam.mu, lower=True)

    def log_det(lam, eps):  # noqa: ARG001
        return lam.log_diagonal.sum()

    return Family(init, base, transform, standardize, log_det, affine=True)


def triangle(lam: Triangular):
    """The lower triangle ``L``, shape ``(d, d)``, of full-rank parameters."""
    return jnp.exp(lam.log_diagonal)[:, None] * _unit_triangle(lam)


def own_units(lam, gradient):
    r"""The slope of a bound along moves that are counted in the family's own widths, as one vector; None but for the two normal families.

    A move takes :math:`\theta = \mu + L\epsilon` to :math:`\mu + L(a + (I + B)\epsilon)`, with :math:`B` a lower triangle, or a
    diagonal where :math:`L` is one. Where the posterior is the normal itself, the bound bends by 1 along each entry of :math:`a` and below
    the diagonal of :math:`B`, and by 2 on it, which is divided out. So near its summit a bound can rise by half the squared length.

    Args:
        lam: `Diagonal` or `Triangular`; of other parameters the widths are not known.
        gradient: of the bound, the same record.

    Example:
        >>> lam, slope = mean_field_normal().init(1, scale=2.0), Diagonal(jnp.array([0.5]), jnp.array([0.0]))
        >>> own_units(lam, slope).tolist()  # in a posterior as wide: one width off, and half a nat too low
        [1.0, 0.0]

    Source: Amari (1998), the natural gradient; its length is the Newton decrement of a bound with that curvature.
    """
    if isinstance(lam, Diagonal):
        return jnp.concatenate([jnp.exp(lam.log_sigma) * gradient.mu, gradient.log_sigma / math.sqrt(2)])
    if not isinstance(lam, Triangular):
        return None
    below = jnp.tril_indices(lam.mu.size, -1)
    unit = _unit_triangle(lam)
    rows = jnp.zeros_like(unit).at[below].set(gradient.below)
    turned = unit.T @ (rows + jnp.diag(gradient.log_diagonal - (unit * rows).sum(axis=1)))
    location = unit.T @ (jnp.exp(lam.log_diagonal) * gradient.mu)
    return jnp.concatenate([location, jnp.diag(turned) / math.sqrt(2), turned[below]])


def compose(outer, inner, base: Base | None = None) -> Family:
    r"""The family of :math:`\theta = f(g(\epsilon))`: ``inner`` acts first, ``outer`` on its result.

    Parameters are the pair ``(lam of outer, lam of inner)``. The outer map starts at ``location`` and ``scale``, the inner one at 0 and
    1, so that the scale counts once. Where the outer one is no family and so has neither (a skew), the inner one starts there.

    Args:
        outer: a `Family`; or anything with its fields ``init``, ``transform``, ``standardize``, ``log_det`` and ``affine``.
        inner: the same.
        base: density of ``eps``; that of ``inner``, or else of ``outer``, where it is not given.

    Raises:
        ValueError: if neither of the two is a `Family`.

    Example:
        >>> family = compose(full_rank(normal()), location_scale(student_t(4.0)))
        >>> lam = family.init(2, location=3.0, scale=0.5)
        >>> family.transform(lam, jnp.array([1.0, 2.0])).tolist()
        [3.5, 4.0]

    Source: thesis, section 3.2.4 (the Lambert W family is a location and scale of a skew).
    """
    first, second = (isinstance(part, Family) for part in (outer, inner))
    if not (first or second):
        raise ValueError(f"outer is {outer!r} and inner is {inner!r}; give at least one Family, such as families.mean_field_normal()")

    def init(dim: int, location=0.0, scale=NARROW):
        start, standard = (dim, location, scale), (dim, 0.0, 1.0)
        if not first:
            return outer.init(dim), inner.init(*start)
        return outer.init(*start), inner.init(*standard) if second else inner.init(dim)

    def transform(lam, eps):
        return outer.transform(lam[0], inner.transform(lam[1], eps))

    def standardize(lam, theta):
        return inner.standardize(lam[1], outer.standardize(lam[0], theta))

    def log_det(lam, eps):
        return inner.log_det(lam[1], eps) + outer.log_det(lam[0], inner.transform(lam[1], eps))

    base = base or (inner.base if second else outer.base)
    return Family(init, base, transform, standardize, log_det, outer.affine and inner.affine)


def dimension(family, lam) -> int:
    """How many coordinates ``theta`` has: the size of the first array of ``lam``.

    Raises:
        ValueError: if ``family`` is no family, or ``lam`` has other shapes than the family's own parameters.
    """
    if not isinstance(family, Family):
        raise ValueError(f"family is {family!r}; give a Family, such as families.mean_field_normal()")
    sizes = [jnp.shape(leaf)[-1] for leaf in jax.tree.leaves(lam) if jnp.ndim(leaf)]
    if not sizes or sizes[0] == 0:
        raise ValueError(f"lam is {lam!r}; give parameters such as family.init(2)")
    if (given := _shapes(lam)) != (own := _own_shapes(family.init, sizes[0])):
        raise ValueError(f"lam has shapes {given}; give {own}, those of family.init({sizes[0]})")
    return sizes[0]


def sample(key: PRNGKeyArray, family: Family, lam, draws: int):
    """Independent draws of ``theta``, shape ``(draws, d)``, differentiable in ``lam``.

    Raises:
        ValueError: if ``draws`` is below 1, ``key`` is no random key, or ``lam`` does not fit the family.

    Example:
        >>> family = mean_field_normal()
        >>> sample(jax.random.key(0), family, family.init(3), 5).shape
        (5, 3)
    """
    key, lam = _guard.key(key), _guard.parameters("lam", lam)
    shape = _guard.count("draws", draws), dimension(family, lam)
    eps = family.base.sample(key, shape)
    return jax.vmap(family.transform, (None, 0))(lam, eps)


def log_prob(family: Family, lam, theta):
    r"""Log density :math:`\log q_\lambda(\theta)` at one point of shape ``(d,)``, in nats.

    Raises:
        ValueError: if ``lam`` does not fit the family, or ``theta`` has another shape than ``(d,)``.

    Example:
        >>> family = mean_field_normal()
        >>> round(float(log_prob(family, family.init(1, scale=1.0), jnp.array([0.0]))), 4)
        -0.9189
    """
    lam = _guard.parameters("lam", lam)
    dim, theta = dimension(family, lam), _guard.numbers("theta", theta)
    if jnp.shape(theta) != (dim,):
        raise ValueError(f"theta has shape {jnp.shape(theta)}; give ({dim},), one point of the family, and use jax.vmap for many")
    eps = family.standardize(lam, theta)
    return family.base.log_prob(eps).sum() - family.log_det(lam, eps)


def entropy(family: Family, lam):
    r"""Entropy :math:`-\mathbb{E}_q \log q_\lambda` in nats, in closed form: :math:`d\,H(q_0) + \log|\det J|`.

    Raises:
        ValueError: if the map is not affine (then only draws give the entropy), or ``lam`` does not fit the family.

    Example:
        >>> family = mean_field_normal()
        >>> round(float(entropy(family, family.init(1, scale=1.0))), 4)
        1.4189
    """
    lam = _guard.parameters("lam", lam)
    d = dimension(family, lam)
    if not family.affine:
        raise ValueError("family has a map that is not affine, so its entropy has no closed form; use a Monte Carlo entropy")
    return d * family.base.entropy + family.log_det(lam, jnp.zeros(d))


def each_coordinate(dim: int, location, scale):
    """``location`` and ``scale`` of a start, checked, each of shape ``(dim,)``."""
    dim = _guard.count("dim", dim)
    mu, sigma = _one_each("location", location, dim), _one_each("scale", scale, dim)
    if not _guard.traced(scale) and not (np.asarray(scale) > 0).all():
        raise ValueError(f"scale holds {np.min(scale):g}; give numbers above 0")
    return mu, sigma


def mean_field_normal() -> Family:
    """Independent normals: `location_scale` over `normal`."""
    return location_scale(normal())


def full_rank_normal() -> Family:
    """Any multivariate normal: `full_rank` over `normal`."""
    return full_rank(normal())


def normal() -> Base:
    """The standard normal density."""
    return Base(_sample_normal, _log_normal, 0.5 * math.log(2 * math.pi * math.e), scipy.stats.norm)


def laplace() -> Base:
    r"""The Laplace density :math:`\frac12 e^{-|\epsilon|}` (the half of erratum S02 included)."""
    return Base(_sample_laplace, _log_laplace, 1 + math.log(2.0), scipy.stats.laplace)


def logistic() -> Base:
    """The logistic density, the slope of the sigmoid."""
    return Base(_sample_logistic, _log_logistic, 2.0, scipy.stats.logistic)


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

    # the entropy in double precision: its terms cancel where df is large
    return Base(draw, log_density, float(scipy.stats.t.entropy(df)), scipy.stats.t(df))


def _one_each(name, value, dim):
    value = _guard.numbers(name, value)
    if value.shape not in ((), (dim,)):
        raise ValueError(f"{name} has shape {value.shape}; give one number or {dim}, one for each coordinate")
    return jnp.broadcast_to(value.astype(jnp.result_type(float)), (dim,))


def _unit_triangle(lam):
    dim = lam.mu.shape[0]
    return jnp.eye(dim, dtype=lam.mu.dtype).at[jnp.tril_indices(dim, -1)].set(lam.below)


def _shapes(lam):
    return jax.tree.map(jnp.shape, lam)


@functools.lru_cache
def _own_shapes(init, dim):
    return _shapes(jax.eval_shape(lambda: init(dim)))


def _sample_normal(key, shape):
    return _streams.normal(key, shape)


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
