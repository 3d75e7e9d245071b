r"""Averages that remember: stochastic average gradients, plain, as control variates, and importance-sampled.

Data are cut into B blocks of neighbouring rows. A table holds, for each block, what the model last said about it. Every step refreshes
one row of the table, in place, and climbs along the mean over the blocks that have been seen. Each block's log likelihood is multiplied by
B, whatever its length, so that one convention holds throughout: a mean over blocks, the prior counted once (errata T29, T30). The entropy
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
from course_pkg.models.reading import check_parts, map_rows, row_count


class Slots(NamedTuple):
    """What has been seen of each block, or in each of the last steps."""

    entry: Any  # gradients like lam with a leading axis of B (old ones as they were), or a Cache with one (to be reweighted)
    log_joint: Any  # (B,) mean over the draws, scaled to all the data
    seen: Any  # (B,) whether the row holds anything
    steps: Any  # so far, each with one model gradient


def sag(model: Model, family: Family, samples: int, batches: int) -> Estimator:
    r"""Stochastic average gradient: a table of minibatch gradients, one refreshed at each step.

    The estimate is the mean over the blocks S seen so far,

    .. math:: \frac{1}{|S|} \sum_{b \in S} \delta_b,

    each :math:`\delta_b` taken at the parameters of the step that last visited block :math:`b`. A block that was never visited is left out,
    not counted as zero. Biased towards where the parameters were; at rest it is the full gradient's Monte Carlo estimate.

    Memory: B gradients like ``lam``.

    Args:
        model: differentiable in ``theta``.
        family: any `Family`.
        samples: draws in each minibatch gradient, at least 1.
        batches: B, at least 1 and at most the rows of the data. Blocks differ by one row at most. Shuffle the rows once.

    Raises:
        ValueError: if a count is out of range, or there are fewer rows than blocks (when the run starts).

    Example:
        >>> from course_pkg import families, gradients, models
        >>> data = models.Rows(jnp.ones((20, 1)), jnp.full(20, 3.0))
        >>> model, family = models.linear_regression(1, noise_sd=1.0, prior_sd=10.0), families.mean_field_normal()
        >>> estimator = sag(model, family, samples=5, batches=4)
        >>> state_bytes(estimator, family.init(1), data)  # 4 blocks: 2 gradients, a log joint and a flag each; and a count
        56

    Source: thesis, sections 3.1.2 and 3.1.4, with errata T29 to T31; Schmidt, Le Roux and Bach (2017).
    """
    return _table(halves.rule(model, family, samples, weighting=halves.OLD), _guard.count("batches", batches), None, "old")


def saga(model: Model, family: Family, samples: int, batches: int) -> Estimator:
    r"""SAGA: the table of `sag` as a control variate, which makes the direction unbiased.

    Block :math:`j`, chosen at random, has just said :math:`\delta_j` and had said :math:`\delta_j^{\text{old}}`. The estimate is

    .. math:: \delta_j - \delta_j^{\text{old}} + \frac1B \sum_{b=1}^{B} \delta_b^{\text{old}}.

    Over the choice of :math:`j` the last two terms cancel, whatever the table holds, so the mean is the full gradient at the present
    parameters; a block that was never visited counts as zero. `sag` gives the first two terms the weight :math:`1/B`: less variance,
    paid for with bias.

    Memory: as `sag`. Args and errors as for `sag`.

    Example:
        >>> from course_pkg import families, gradients, models
        >>> data = models.Rows(jnp.ones((20, 1)), jnp.full(20, 3.0))
        >>> model, family = models.linear_regression(1, noise_sd=1.0, prior_sd=10.0), families.mean_field_normal()
        >>> once = jax.jit(gradients.once, static_argnums=0)  # compiled, as in a run
        >>> once(saga(model, family, 5, 4), jax.random.key(0), family.init(1), data).gradient.mu.shape
        (1,)

    Source: Defazio, Bach and Lacoste-Julien (2014), equation 1; thesis, section 3.1.2, with erratum T31.
    """
    return _table(halves.rule(model, family, samples, weighting=halves.OLD), _guard.count("batches", batches), None, "control")


def isag(model: Model, family: Family, samples: int, batches: int, weighting: halves.Weighting = halves.WEIGHTING) -> Estimator:
    r"""Importance-sampled stochastic average gradient: the table holds model gradients, and the old ones are reweighted at every step.

    Weights do not discard a block by going to zero: their mean is one, so a block with small weights drags the average towards zero while
    rare large ones would have made up for it (erratum T32). ``weighting.normalise`` mends that for each block; ``weighting.min_ess`` leaves
    out blocks whose relative effective sample size is smaller.

    Memory: B times M times ``3 d + k + 1`` numbers, k being 1 for joint weights and d for weights per factor. Time of a step: one block's
    model gradient, and B times M cheap terms.

    Args:
        model: differentiable in ``theta``.
        family: any `Family`; independent coordinates for weights per factor.
        samples: draws for each block, M, at least 1.
        batches: B, as for `sag`.
        weighting: of the old model gradients; see `Weighting`. Of kind ``"none"`` they go through the new map as they are, the control.

    Raises:
        ValueError: as for `sag`, and for a bad field of ``weighting``; ``scale_by_ess`` is for `isgd`.

    Example:
        >>> from course_pkg import families, gradients, models
        >>> data = models.Rows(jnp.ones((20, 1)), jnp.full(20, 3.0))
        >>> model, family = models.linear_regression(1, noise_sd=1.0, prior_sd=10.0), families.mean_field_normal()
        >>> once = jax.jit(gradients.once, static_argnums=0)  # compiled, as in a run
        >>> once(isag(model, family, 5, 4), jax.random.key(0), family.init(1), data).gradient.mu.shape
        (1,)

    Source: thesis, section 3.1.4 and algorithm 5, with errata T24, T26, T29, T30 and T32.
    """
    rule = _unscaled(halves.rule(model, family, samples, weighting=weighting))
    return _table(rule, _guard.count("batches", batches), None, "reweighted")


def running_average(
    model: Model,
    family: Family,
    samples: int,
    window: int,
    *,
    subsample: halves.Subsample = halves.ALL_ROWS,
    weighting: halves.Weighting | None = None,
) -> Estimator:
    r"""Mean of the last ``window`` minibatch gradients; of fewer at the start of a run.

    Memory and cheap time do not grow with the data. With ``weighting`` the old ones are reweighted as in `isag`.

    Args:
        model: differentiable in ``theta``.
        family: any `Family`.
        samples: draws in each gradient, at least 1.
        window: k, at least 1; 1 is SGD.
        subsample: the rows of a minibatch, all if not given; see `Subsample`.
        weighting: None for old gradients as they were; else as in `isag`.

    Raises:
        ValueError: as for `isag`, for a bad field of ``subsample``, and if the rows do not divide into blocks (when the run starts).

    Example:
        >>> from course_pkg import families, gradients, models
        >>> from course_pkg.is_gradients import Subsample
        >>> data = models.Rows(jnp.ones((20, 1)), jnp.full(20, 3.0))
        >>> model, family = models.linear_regression(1, noise_sd=1.0, prior_sd=10.0), families.mean_field_normal()
        >>> estimator = running_average(model, family, samples=5, window=3, subsample=Subsample(10))
        >>> once = jax.jit(gradients.once, static_argnums=0)  # compiled, as in a run
        >>> once(estimator, jax.random.key(0), family.init(1), data).per_sample.mu.shape
        (3, 1)

    Source: thesis, section 3.1.4 (the stochastic running average).
    """
    rule = _unscaled(halves.rule(model, family, samples, weighting=halves.OLD if weighting is None else weighting))
    how = halves.batches(subsample, model)
    return _table(rule, _guard.count("window", window), how, "old" if weighting is None else "reweighted")


def state_bytes(estimator: Estimator, lam, data) -> int:
    """Bytes that an estimator's state takes, without making one."""
    state = jax.eval_shape(estimator.init, jax.random.key(0), lam, data)
    return sum(int(np.prod(leaf.shape)) * leaf.dtype.itemsize for leaf in jax.tree.leaves(state))


def _unscaled(rule: halves.Rule) -> halves.Rule:
    if rule.weighting.scale_by_ess:
        raise ValueError("scale_by_ess is True, and an average has no single old gradient to scale; give False, or use isgd")
    return rule


def _table(rule: halves.Rule, slots: int, how: halves.Batches | None, kind: str) -> Estimator:
    """A table of ``slots`` rows, by block where ``how`` is None, else by step.

    Its kind: "old" gradients as they were, the same as a "control" variate, or caches that are "reweighted".
    """
    reweighted, min_ess = kind == "reweighted", rule.weighting.min_ess

    def init(key, lam, data):  # noqa: ARG001
        if how is not None:
            halves.check_batches(how, data)
        else:
            check_parts(rule.model, data)
            if slots > (total := row_count(data, rule.model.reading)):
                raise ValueError(f"batches is {slots} and data has {total} rows; give at most {total}")
        row = halves.empty(rule, lam) if reweighted else lam
        entry = jax.tree.map(lambda a: jnp.zeros((slots, *jnp.shape(a)), jnp.result_type(a)), row)
        dtype = jnp.result_type(*jax.tree.leaves(lam))
        return Slots(entry, jnp.zeros(slots, dtype), jnp.zeros(slots, bool), jnp.array(0))

    def draw(key, lam, data):  # noqa: ARG001
        return halves.split(how or halves.Batches(1, True, rule.model), key)

    def evaluate(noise, lam, state, data):
        """The row of the table that is refreshed, and what the model says of its rows of the data."""
        rows_key, draws_key = noise
        if how is not None:
            return state.steps % slots, halves.evaluate(rule, draws_key, lam, *halves.choose(how, rows_key, data))
        slot = jax.random.randint(rows_key, (), 0, slots)
        return slot, _of_block(rule, draws_key, lam, data, slot, slots)

    def estimate(noise, lam, state, data):
        slot, cache = evaluate(noise, lam, state, data)
        entry = cache
        if not reweighted:
            entry = mean_over_samples(halves.pulled_back(rule, lam, cache, cache.eps, jnp.ones_like(cache.log_q)))
        table = jax.tree.map(lambda rows, row: rows.at[slot].set(row), state.entry, entry)
        seen = state.seen.at[slot].set(True)
        log_joint = state.log_joint.at[slot].set(cache.log_joint.mean())
        if kind == "control":
            terms = jax.tree.map(lambda rows, row: rows + (row - rows[slot])[None], state.entry, entry)
        else:
            gradients, used = table, seen
            if reweighted:
                gradients, share = jax.vmap(lambda old: _reweighted(rule, lam, old))(table)
                used = (seen & (share >= min_ess)).at[slot].set(True)
            # A sum over the whole table, not a running one: what early gradients of size 10^8 leave in the last digits would stay for ever.
            terms = jax.tree.map(lambda g: _masked(used, g) * (slots / used.sum()), gradients)
        entropy = mean_over_samples(halves.entropy_terms(rule, lam, halves.entropy_noise(rule, noise[1], cache)))
        per_sample = jax.tree.map(lambda g, h: g + h, terms, jax.tree.map(lambda h: h[None], entropy))
        value = (
            halves.value_of(rule, lam, cache, cache.eps, cache.eps) - log_joint[slot] + jnp.where(seen, log_joint, 0.0).sum() / seen.sum()
        )
        return Estimate(value, mean_over_samples(per_sample), per_sample), Slots(table, log_joint, seen, state.steps + 1)

    return Estimator(init, draw, estimate)


def _of_block(rule, key, lam, data, number, blocks: int):
    """What the model says of one of ``blocks`` blocks, the first of which have one row more where the rows do not come out even."""
    size, longer = divmod(row_count(data, rule.model.reading), blocks)

    def of(start, size):
        part = lambda a: jax.lax.dynamic_slice_in_dim(a, start, size)
        return halves.evaluate(rule, key, lam, map_rows(part, data, rule.model.reading), float(blocks))

    if not longer:
        return of(number * size, size)
    return jax.lax.cond(number < longer, lambda: of(number * (size + 1), size + 1), lambda: of(number * size + longer, size))


def _reweighted(rule, lam, cache):
    eps, w = halves.standardized(rule, lam, cache)
    gradient = mean_over_samples(halves.pulled_back(rule, lam, cache, eps, w))
    return gradient, w_.effective_share(w)


def _masked(used, g):
    """Rows that are used; zeros elsewhere, even where a row holds no number."""
    return jnp.where(used.reshape(-1, *(1,) * (g.ndim - 1)), g, 0.0)
