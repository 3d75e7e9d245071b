r"""What the estimators of this chapter share: model gradients on a minibatch, remembered, and turned into gradients later.

A step has an expensive half and a cheap one. The expensive half evaluates :math:`\nabla_\theta \log p(\mathcal{D}, \theta_m)` at draws of
the current approximation: a `Cache`. The cheap half, `standardized` and `pulled_back`, turns a cache into a gradient in
:math:`\lambda'`, whatever approximation the draws came from.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from course_pkg import _guard, families, gradients
from course_pkg.families import Family
from course_pkg.is_gradients import weights as w_
from course_pkg.models import Model, log_joint
from course_pkg.models.reading import check_parts, map_rows, row_count

FORMS = ("reparameterized", "score")
KINDS = ("per factor", "joint", "none")


class Weighting(NamedTuple):
    """How old model gradients are weighted, and how far they are trusted.

    Example:
        >>> Weighting("joint", min_ess=0.5).clip  # one weight for each draw, refreshed when half of them are lost
        50.0
    """

    kind: str = "per factor"  # each coordinate its own weight; "joint" for one a draw; "none" for old gradients as they are, the control
    normalise: bool = False  # divide the weights by their mean over the draws; at least 2 draws
    clip: float = w_.LARGEST  # largest logarithm of a weight
    min_ess: float = 0.0  # smallest relative effective sample size, over draws and factors, that is still used; between 0 and 1
    scale_by_ess: bool = False  # multiply a reused gradient by its relative ESS: shorter steps where less is known


class Subsample(NamedTuple):
    """Which rows a model gradient sees.

    Example:
        >>> Subsample(20, partition=True).size
        20
    """

    size: int | None = None  # rows in a minibatch, drawn anew with each model gradient; None for all rows
    partition: bool = False  # neighbours from a fixed partition instead of any rows: no gather, so faster; shuffle the data once


WEIGHTING, OLD, ALL_ROWS = Weighting(), Weighting("none"), Subsample()


class Cache(NamedTuple):
    """Draws with what the model said about them, M draws in d dimensions."""

    theta: Any  # (M, d)
    eps: Any  # (M, d) that they were made from
    log_q: Any  # (M, k) log densities that they were drawn with, by factor
    log_joint: Any  # (M,)
    slope: Any  # (M, d) gradient of the log joint in theta; (M, 0) in the score-function form, which needs none


class Rule(NamedTuple):
    """How a cache is turned into a gradient."""

    model: Model
    family: Family
    samples: int
    form: str  # "reparameterized" or "score"
    weighting: Weighting
    factors: int


def rule(model, family, samples, form="reparameterized", weighting=WEIGHTING) -> Rule:
    """The choices, checked."""
    samples = _guard.count("samples", samples)
    _guard.choice("form", form, FORMS)
    if not isinstance(weighting, Weighting):
        raise ValueError(f'weighting is {weighting!r}; give a record, such as Weighting("joint")')
    kind = _guard.choice("kind", weighting.kind, KINDS)
    normalise, scale = _guard.switch("normalise", weighting.normalise), _guard.switch("scale_by_ess", weighting.scale_by_ess)
    clip, min_ess = _guard.positive("clip", weighting.clip), _guard.share("min_ess", weighting.min_ess)
    if kind == "per factor" and model.dim > 1 and not w_.is_factorised(family, model.dim):
        raise ValueError('kind is "per factor" and the family\'s coordinates depend on each other; give "joint", or a mean-field family')
    if normalise and samples < 2:
        raise ValueError(f"samples is {samples} and normalise is True: the mean of one weight is that weight; give 2 draws or more")
    factors = model.dim if kind == "per factor" else 1
    if min_ess > 0 and samples * factors < 2:
        raise ValueError(f"min_ess is {min_ess:g} and there is one weight, whose relative ESS is always 1; give more samples")
    return Rule(model, family, samples, form, Weighting(kind, normalise, clip, min_ess, scale), factors)


def empty(rule: Rule, lam) -> Cache:
    """A cache with nothing in it, of the right shapes."""
    m, d = rule.samples, families.dimension(rule.family, lam)
    dtype = jnp.result_type(*jax.tree.leaves(lam))
    slope = (m, d if rule.form == "reparameterized" else 0)
    shapes = ((m, d), (m, d), (m, rule.factors), (m,), slope)
    return Cache(*(jnp.zeros(shape, dtype) for shape in shapes))


def evaluate(rule: Rule, key, lam, rows, scale) -> Cache:
    """The expensive half: fresh draws, and the model at each of them."""
    eps = rule.family.base.sample(key, (rule.samples, families.dimension(rule.family, lam)))
    theta = jax.vmap(rule.family.transform, (None, 0))(lam, eps)
    joint = lambda t: log_joint(rule.model, t, rows, scale)
    if rule.form == "reparameterized":
        value, slope = jax.vmap(jax.value_and_grad(joint))(theta)
    else:
        value, slope = jax.vmap(joint)(theta), jnp.zeros((rule.samples, 0), theta.dtype)
    return Cache(theta, eps, w_.log_q(rule.family, lam, eps, rule.factors), value, slope)


def standardized(rule: Rule, lam, cache: Cache):
    """The cache's draws as the current approximation sees them: ``eps`` anew, and the weights ``(M, k)``."""
    eps = jax.vmap(rule.family.standardize, (None, 0))(lam, cache.theta)
    if rule.weighting.kind == "none":
        return eps, jnp.ones_like(cache.log_q)
    log_w = w_.log_q(rule.family, lam, eps, rule.factors) - cache.log_q
    eps = jnp.where(jnp.isnan(eps), 0.0, eps)  # outside the support, with weight 0
    return eps, w_.from_log(log_w, normalise=rule.weighting.normalise, clip=rule.weighting.clip)


def pulled_back(rule: Rule, lam, cache: Cache, eps, w):
    """The cheap half: what the draws say about the log joint, a pytree like ``lam`` with a leading axis of M, from weights ``(M, k)``.

    In the score-function form it holds the entropy too.
    """
    if rule.form == "score":
        return _score_terms(rule, lam, cache, eps, w)

    def one(e, cotangent):
        return jax.vjp(lambda p: rule.family.transform(p, e), lam)[1](cotangent)[0]

    return jax.vmap(one)(eps, w * cache.slope)


def _score_terms(rule, lam, cache, eps, w):
    """``g w grad log q`` at the current ``lam``; of ``g`` only the log joint is old (erratum T28)."""

    def by_factor(p, theta):
        return w_.log_q(rule.family, p, rule.family.standardize(p, theta)[None], rule.factors)[0]

    def one(theta, weight):
        return jax.vjp(lambda p: by_factor(p, theta), lam)[1](weight)[0]

    g = cache.log_joint - w_.log_q(rule.family, lam, eps).sum(axis=1)
    return jax.tree.map(lambda s: g.reshape(-1, *(1,) * (s.ndim - 1)) * s, jax.vmap(one)(cache.theta, w))


def entropy_terms(rule: Rule, lam, eps):
    """Gradient of the entropy for each draw of noise. It needs no model, so it is never old; for affine maps it has no noise either."""
    return jax.vmap(jax.grad(rule.family.log_det), (None, 0))(lam, eps)


def value_of(rule: Rule, lam, cache: Cache, eps, entropy_eps):
    """The objective: the log joint as it was last seen, the entropy as it is now."""
    if rule.form == "score":
        return (cache.log_joint - w_.log_q(rule.family, lam, eps).sum(axis=1)).mean()
    if rule.family.affine:
        return cache.log_joint.mean() + families.entropy(rule.family, lam)
    return cache.log_joint.mean() - w_.log_q(rule.family, lam, entropy_eps).mean()


def entropy_noise(rule: Rule, key, cache: Cache):
    """Noise for a Monte Carlo entropy, the numbers that `evaluate` draws from the same key; nothing is drawn where none is needed."""
    return cache.eps if rule.family.affine or rule.form == "score" else rule.family.base.sample(key, cache.eps.shape)


class Batches(NamedTuple):
    """How the rows of a step are chosen."""

    size: int | None  # None for all
    partition: bool
    model: Model  # which says what the rows of its data are


def batches(subsample, model) -> Batches:
    """The choice, checked."""
    if not isinstance(subsample, Subsample):
        raise ValueError(f"subsample is {subsample!r}; give a record, such as Subsample(20)")
    size, partition = subsample.size, _guard.switch("partition", subsample.partition)
    if size is None and partition:
        raise ValueError("partition is True and size is None; give the number of rows in a block")
    return Batches(None if size is None else _guard.count("size", size), partition, model)


def check_batches(how: Batches, data) -> None:
    """Raise if the data cannot be taken in parts, or the partition does not come out even."""
    if how.size is None:
        return
    check_parts(how.model, data)
    total = row_count(data, how.model.reading)
    if how.partition and total % how.size:
        raise ValueError(f"size is {how.size} and data has {total} rows; give a size that divides {total}")


def choose(how: Batches, key, data):
    """Rows and scale of one step. ``key`` is used as `gradients.minibatch` uses it."""
    if how.size is None:
        return gradients.rows_and_scale(data)
    total = row_count(data, how.model.reading)
    if how.partition:
        return block(how.model, data, jax.random.randint(key, (), 0, total // how.size), how.size)
    batch = gradients.take(data, jax.random.randint(key, (how.size,), 0, total), how.model.reading)
    return batch.rows, batch.scale


def block(model: Model, data, number, size: int):
    """Rows ``number * size`` to ``(number + 1) * size``, and the scale that makes them stand for all."""
    part = lambda a: jax.lax.dynamic_slice_in_dim(a, number * size, size)
    return map_rows(part, data, model.reading), row_count(data, model.reading) / size


def split(how: Batches, key):
    """Keys of the rows and of the draws, as `gradients.minibatch` splits them."""
    return (key, key) if how.size is None else jax.random.split(key)


Source = Callable  # key of rows, key of draws, lam, memory, data -> (Cache, memory)
