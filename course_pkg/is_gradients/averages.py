r"""Averages that remember: stochastic average gradients, plain and importance-sampled.

Data are cut into B blocks of neighbouring rows. A table holds, for each block, what the model last said about it. Every step refreshes
one row of the table, in place, and climbs along the mean over the blocks that have been seen. Each block's log likelihood is scaled to
stand for all the data, so that one convention holds throughout: a mean over blocks, the prior counted once (errata T29, T30). The entropy
needs no model and is taken at the current parameters.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from course_pkg import _guard
from course_pkg.families import Family
from course_pkg.gradients import Estimate, Estimator, mean_over_samples
from course_pkg.is_gradients import reuse as halves
from course_pkg.is_gradients import weights as w_
from course_pkg.models import Model
from course_pkg.models.reading import check_parts, row_count


class Table(NamedTuple):
    """What has been seen of each block, or in each of the last steps."""

    entry: Any  # gradients like lam with a leading axis of B (old ones as they were), or a Cache with one (to be reweighted)
    log_joint: Any  # (B,) mean over the draws, scaled to all the data
    seen: Any  # (B,) whether the row holds anything
    steps: Any  # so far, each with one model gradient


def sag(model: Model, family: Family, samples: int, batches: int) -> Estimator:
    r"""Stochastic average gradient: a table of minibatch gradients, one refreshed at each step.

    The estimate is :math:`\frac{1}{|S|} \sum_{b \in S} \delta_b` over the blocks S seen so far, each :math:`\delta_b` taken at the
    parameters of the step that last visited block :math:`b`. A block that was never visited is left out, not counted as zero. Biased
    towards where the parameters were; at rest it is the full gradient's Monte Carlo estimate.

    Memory: B gradients like ``lam``.

    Args:
        model: differentiable in ``theta``.
        family: any `Family`.
        samples: draws in each minibatch gradient, at least 1.
        batches: B, at least 1; it must divide the rows of the data. Shuffle them once.

    Raises:
        ValueError: if a count is out of range, or the rows do not divide into blocks (when the run starts).

    Example:
        >>> from course_pkg import families, gradients, models
        >>> data = models.Rows(jnp.ones((20, 1)), jnp.full(20, 3.0))
        >>> model, family = models.linear_regression(1, noise_sd=1.0, prior_sd=10.0), families.mean_field_normal()
        >>> estimator = sag(model, family, samples=5, batches=4)
        >>> state_bytes(estimator, family.init(1), data)  # 4 blocks: 2 gradients, a log joint and a flag each; and a count
        56

    Source: thesis, sections 3.1.2 and 3.1.4, with errata T29 to T31; Schmidt, Le Roux and Bach (2017).
    """
    rule = halves.rule(model, family, samples, "reparameterized", "none", False, None)
    return _table(rule, _guard.count("batches", batches), _blocks, None)


def isag(
    model: Model,
    family: Family,
    samples: int,
    batches: int,
    *,
    weights: str = "per factor",
    normalise: bool = False,
    clip: float | None = None,
    least_ess: float = 0.0,
) -> Estimator:
    r"""Importance-sampled stochastic average gradient: the table holds model gradients, and the old ones are reweighted at every step.

    Weights do not discard a block by going to zero: their mean is one, so a block with small weights drags the average towards zero while
    rare large ones would have made up for it (erratum T32). ``normalise`` mends that for each block; ``least_ess`` leaves out blocks whose
    effective share is smaller.

    Memory: B times M times ``3 d + k + 1`` numbers, k being 1 for joint weights and d for weights per factor. Time of a step: one block's
    model gradient, and B times M cheap terms.

    Args:
        model: differentiable in ``theta``.
        family: any `Family`; independent coordinates for weights per factor.
        samples: draws for each block, M, at least 1.
        batches: B, at least 1; it must divide the rows of the data.
        weights: ``"per factor"``, ``"joint"``, or ``"none"``: old model gradients through the new map, the control.
        normalise: divide the weights of a block by their mean over its draws; at least 2 draws.
        clip: largest logarithm of a weight; 50 if not given.
        least_ess: smallest effective share, between 0 and 1, of a block that stays in the average.

    Raises:
        ValueError: as for `sag`, and for unknown words or shares.

    Example:
        >>> from course_pkg import families, gradients, models
        >>> data = models.Rows(jnp.ones((20, 1)), jnp.full(20, 3.0))
        >>> model, family = models.linear_regression(1, noise_sd=1.0, prior_sd=10.0), families.mean_field_normal()
        >>> gradients.once(isag(model, family, 5, 4), jax.random.key(0), family.init(1), data).gradient.mu.shape
        (1,)

    Source: thesis, section 3.1.4 and algorithm 5, with errata T24, T26, T29, T30 and T32.
    """
    rule = halves.rule(model, family, samples, "reparameterized", weights, normalise, clip)
    return _table(rule, _guard.count("batches", batches), _blocks, _share(rule, least_ess))


def running_average(
    model: Model,
    family: Family,
    samples: int,
    window: int,
    *,
    size: int | None = None,
    blocks: bool = False,
    weights: str | None = None,
    normalise: bool = False,
    clip: float | None = None,
    least_ess: float = 0.0,
) -> Estimator:
    r"""Mean of the last ``window`` minibatch gradients; of fewer at the start of a run.

    Memory and cheap time do not grow with the data. With ``weights`` the old ones are reweighted as in `isag`.

    Args:
        model: differentiable in ``theta``.
        family: any `Family`.
        samples: draws in each gradient, at least 1.
        window: k, at least 1; 1 is SGD.
        size: rows in a minibatch, drawn anew at each step; None for all rows.
        blocks: take the minibatch as a block of a fixed partition.
        weights: None for old gradients as they were; else as in `isag`.
        normalise: as in `isag`.
        clip: as in `isag`.
        least_ess: as in `isag`.

    Raises:
        ValueError: as for `isag`.

    Example:
        >>> from course_pkg import families, gradients, models
        >>> data = models.Rows(jnp.ones((20, 1)), jnp.full(20, 3.0))
        >>> model, family = models.linear_regression(1, noise_sd=1.0, prior_sd=10.0), families.mean_field_normal()
        >>> estimator = running_average(model, family, samples=5, window=3, size=10)
        >>> gradients.once(estimator, jax.random.key(0), family.init(1), data).per_sample.mu.shape
        (3, 1)

    Source: thesis, section 3.1.4 (the stochastic running average).
    """
    rule = halves.rule(model, family, samples, "reparameterized", "none" if weights is None else weights, normalise, clip)
    how = halves.batches(size, blocks, model)
    return _table(rule, _guard.count("window", window), how, None if weights is None else _share(rule, least_ess))


def state_bytes(estimator: Estimator, lam, data) -> int:
    """Bytes that an estimator's state takes, without making one."""
    state = jax.eval_shape(estimator.init, jax.random.key(0), lam, data)
    return sum(int(np.prod(leaf.shape)) * leaf.dtype.itemsize for leaf in jax.tree.leaves(state))


_blocks = None  # rows by block: the row of the table is the block's number


def _share(rule, least_ess) -> float:
    least_ess = _guard.number("least_ess", least_ess)
    if not 0 <= least_ess <= 1:
        raise ValueError(f"least_ess is {least_ess:g}; give a share between 0 and 1")
    if least_ess > 0 and rule.samples * rule.factors < 2:
        raise ValueError(f"least_ess is {least_ess:g} and a block has one weight, whose share is always 1; give more samples")
    return least_ess


def _table(rule: halves.Rule, slots: int, how: halves.Batches | None, least_ess: float | None) -> Estimator:
    """A table of ``slots`` rows: old gradients as they were if ``least_ess`` is None, else caches that are reweighted."""

    def init(key, lam, data):  # noqa: ARG001
        if how is not None:
            halves.check_batches(how, data)
        else:
            check_parts(rule.model, data)
            total = row_count(data, rule.model.reading)
            if total % slots:
                raise ValueError(f"batches is {slots} and data has {total} rows; give a number that divides {total}")
        row = lam if least_ess is None else halves.empty(rule, lam)
        entry = jax.tree.map(lambda a: jnp.zeros((slots, *jnp.shape(a)), jnp.result_type(a)), row)
        dtype = jnp.result_type(*jax.tree.leaves(lam))
        return Table(entry, jnp.zeros(slots, dtype), jnp.zeros(slots, bool), jnp.array(0))

    def draw(key, lam, data):  # noqa: ARG001
        return halves.split(how or halves.Batches(1, True, rule.model), key)

    def estimate(noise, lam, state, data):
        rows_key, draws_key = noise
        if how is None:
            slot = jax.random.randint(rows_key, (), 0, slots)
            rows, scale = halves.block(rule.model, data, slot, row_count(data, rule.model.reading) // slots)
        else:
            slot = state.steps % slots
            rows, scale = halves.choose(how, rows_key, data)
        cache = halves.evaluate(rule, draws_key, lam, rows, scale)
        if least_ess is None:
            entry = mean_over_samples(halves.pulled_back(rule, lam, cache, cache.eps, jnp.ones_like(cache.log_q)))
        else:
            entry = cache
        table = jax.tree.map(lambda rows, row: rows.at[slot].set(row), state.entry, entry)
        seen = state.seen.at[slot].set(True)
        log_joint = state.log_joint.at[slot].set(cache.log_joint.mean())
        if least_ess is None:
            gradients, used = table, seen
        else:
            gradients, share = jax.vmap(lambda old: _reweighted(rule, lam, old))(table)
            used = (seen & (share >= least_ess)).at[slot].set(True)

        # A sum over the whole table, not a running one: what early gradients of size 10^8 leave in the last digits would stay for ever.
        count = used.sum()
        terms = jax.tree.map(lambda g: _masked(used, g) * (slots / count), gradients)
        entropy = mean_over_samples(halves.entropy_terms(rule, lam, halves.entropy_noise(rule, draws_key, cache)))
        per_sample = jax.tree.map(lambda g, h: g + h, terms, jax.tree.map(lambda h: h[None], entropy))
        value = (
            halves.value_of(rule, lam, cache, cache.eps, cache.eps) - log_joint[slot] + jnp.where(seen, log_joint, 0.0).sum() / seen.sum()
        )
        return Estimate(value, mean_over_samples(per_sample), per_sample), Table(table, log_joint, seen, state.steps + 1)

    return Estimator(init, draw, estimate)


def _reweighted(rule, lam, cache):
    eps, w = halves.standardized(rule, lam, cache)
    gradient = mean_over_samples(halves.pulled_back(rule, lam, cache, eps, w))
    return gradient, w_.effective_share(w)


def _masked(used, g):
    """Rows that are used; zeros elsewhere, even where a row holds no number."""
    return jnp.where(used.reshape(-1, *(1,) * (g.ndim - 1)), g, 0.0)
