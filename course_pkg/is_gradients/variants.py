r"""Variants that try to make reuse pay: an anchor as control variate."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from course_pkg import _guard
from course_pkg.families import Family, dimension
from course_pkg.gradients import Estimator
from course_pkg.is_gradients import reuse as halves
from course_pkg.is_gradients.isgd import reusing
from course_pkg.models import Model, log_joint
from course_pkg.models.reading import row_count


class Anchor(NamedTuple):
    """A point at which the model was asked about all the data."""

    theta: Any  # (d,)
    slope: Any  # (d,) gradient of the log joint there
    log_joint: Any  # ()
    count: Any  # anchors so far, each a pass through the data


def anchored(
    model: Model,
    family: Family,
    samples: int,
    subsample: halves.Subsample,
    *,
    every: int,
    reuse: float = 0.0,
    weighting: halves.Weighting = halves.WEIGHTING,
) -> Estimator:
    r"""A remembered gradient as a control variate, as in SVRG, with or without importance-sampled reuse on top.

    Now and then the model is asked about all the data at one point :math:`\theta_0`, the image of :math:`\epsilon = 0`. A minibatch b then
    answers with

    .. math:: \nabla \log p_b(\theta_m) - \nabla \log p_b(\theta_0) + \nabla \log p(\theta_0),

    whose mean over minibatches is the full gradient at :math:`\theta_m` wherever the anchor lies (erratum T31): what the minibatch gets
    wrong near the anchor cancels. The noise of the draws stays.

    Args:
        model: differentiable in ``theta``.
        family: any `Family`.
        samples: draws in each model gradient.
        subsample: the rows of a minibatch, as in `isgd`; its ``size`` must be given.
        every: a model gradient renews the anchor with probability ``1 / every``, at least 1. An anchor costs a pass through the data.
        reuse: as in `isgd`; 0 for a fresh model gradient at every step.
        weighting: as in `isgd`.

    Returns:
        `Estimator`; ``state.source.count`` counts the anchors.

    Raises:
        ValueError: if ``every`` is below 1, ``subsample`` takes all rows, and as for `isgd`.

    Example:
        >>> from course_pkg import families, gradients, models
        >>> from course_pkg.is_gradients import Subsample
        >>> data = models.Rows(jnp.ones((20, 1)), jnp.arange(20.0))
        >>> model, family = models.linear_regression(1, noise_sd=1.0, prior_sd=10.0), families.mean_field_normal()
        >>> estimator = anchored(model, family, 5, Subsample(4), every=10)
        >>> once = jax.jit(gradients.once, static_argnums=0)  # compiled, as in a run
        >>> once(estimator, jax.random.key(0), family.init(1), data).gradient.mu.shape
        (1,)

    Source: thesis, section 3.1.2, with erratum T31; Johnson and Zhang (2013).
    """
    rule, how = halves.rule(model, family, samples, weighting=weighting), halves.batches(subsample, model)
    size, every = _guard.count("size", how.size), _guard.count("every", every)

    def at(theta, rows, scale):
        return jax.value_and_grad(lambda t: log_joint(model, t, rows, scale))(theta)

    def source_init(key, lam, data):  # noqa: ARG001
        zeros = jnp.zeros(dimension(family, lam), jnp.result_type(*jax.tree.leaves(lam)))
        return Anchor(zeros, zeros, jnp.zeros((), zeros.dtype), jnp.array(0))

    def source(rows_key, draws_key, lam, anchor, data):
        renew = (jax.random.uniform(jax.random.fold_in(rows_key, 1)) * every < 1) | (anchor.count == 0)

        def anew():
            theta = family.transform(lam, jnp.zeros_like(anchor.theta))
            value, slope = _everywhere(partial(at, theta), model, data, size)
            return Anchor(theta, slope, value, anchor.count + 1)

        anchor = jax.lax.cond(renew, anew, lambda: anchor)
        rows, scale = halves.choose(how, rows_key, data)
        cache = halves.evaluate(rule, draws_key, lam, rows, scale)
        value, slope = at(anchor.theta, rows, scale)
        cache = cache._replace(slope=cache.slope + (anchor.slope - slope)[None], log_joint=cache.log_joint - value + anchor.log_joint)
        return cache, anchor

    return reusing(rule, how, source, source_init, reuse)


def _everywhere(at, model, data, size: int):
    """``at(rows, scale)`` for all rows: block by block where they come out even, so that what it needs in between stays in the cache."""
    total = row_count(data, model.reading)
    if total % size:
        return at(data, 1.0)
    parts = jax.lax.map(lambda number: at(*halves.block(model, data, number, size)), jnp.arange(total // size))
    return jax.tree.map(lambda part: part.mean(axis=0), parts)  # each scaled to stand for all
