r"""What information is worth: the risk that it saves, before it is paid for.

Whoever looks first decides later, once for each thing that may be seen. The value of looking is the risk of the best decision now, less
the mean risk of those best decisions. It is never negative, and nothing where no result would change the decision.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from course_pkg import _guard
from course_pkg.decisions.draws import read
from course_pkg.decisions.losses import as_loss
from course_pkg.decisions.risk import effective_sample_size, normalised_weights
from course_pkg.decisions.rules import bayes_action, bayes_decision


class Information(NamedTuple):
    """What a piece of information is worth, with what is needed to judge the estimate."""

    value: Float[Array, "..."]  # risk that it saves, in the unit of the loss
    standard_error: Float[Array, "..."]  # of the value, for independent draws
    bias: Float[Array, "..."]  # of the value by the number of draws: an estimate, from halves of them; not taken off
    decision: Float[Array, "..."]  # the best one now
    risk: Float[Array, "..."]  # of that decision
    effective_sample_size: Float[Array, "..."]  # draws that carry a posterior: the median over what may be seen; 1 if all is seen


def value_of_perfect_information(loss, draws, *, actions=None, axis=None) -> Information:
    r"""What it would save to know the state: :math:`\min_h \mathbb{E}\,\ell(\theta, h) - \mathbb{E} \min_h \ell(\theta, h)`.

    No test, however good, is worth more. The best decision is chosen and priced on the same draws, which makes the value too low by an
    amount of order :math:`1/S`; ``bias`` estimates it.

    Args:
        loss: a `Loss` or a function ``(state, h) -> cost``, in the unit of what the information costs.
        draws: of the state, shape ``(..., S)`` with ``S`` at least 4, or what `bayes_decision` reads. The standard error takes them as
            independent: for those of a chain multiply it by the root of draws per effective draw.
        actions: shape ``(K,)``, the decisions to choose among; every number, or the columns of a cost matrix, where not given.
        axis: of the draws, as in `bayes_decision`.

    Returns:
        `Information`, each entry of shape ``(...)``.

    Raises:
        ValueError: if there are fewer than 4 draws, or as in `bayes_decision`.

    Example:
        >>> cost = lambda rate, send_back: jnp.where(send_back == 1, 2.0, 40 * rate)  # keep it, or send it back for 2
        >>> rate = jnp.array([0.01, 0.02, 0.03, 0.04, 0.05, 0.06])
        >>> told = value_of_perfect_information(cost, rate, actions=jnp.array([0, 1]))
        >>> int(told.decision), round(float(told.risk), 3), round(float(told.value), 3)
        (0, 1.4, 0.067)

    Source: Raiffa and Schlaifer (1961), chapter 4.
    """
    loss, draws = as_loss(loss), _several("draws", draws, axis)
    with _guard.calling(f"loss {loss.name}"):
        least = loss.loss(draws, _best(loss, draws[..., None], None, actions))

        def saved(part, least):
            h = _best(loss, part, None, actions)
            return loss.loss(part, h[..., None]) - least, h

        gains, decision = saved(draws, least)
        halves = [saved(draws[..., k::2], least[..., k::2])[0].mean(axis=-1) for k in (0, 1)]
    gains = _guard.numbers(f"loss {loss.name}", gains)
    value = gains.mean(axis=-1)
    error = gains.std(axis=-1, ddof=1) / np.sqrt(draws.shape[-1])
    risk = loss.loss(draws, decision[..., None]).mean(axis=-1)
    return Information(value, error, sum(halves) / 2 - value, decision, risk, jnp.ones_like(value))


def value_of_sample_information(
    key: PRNGKeyArray, loss, draws, simulate: Callable, log_likelihood: Callable, *, actions=None, outer: int = 1000, axis=None
) -> Information:
    r"""What a test would save: :math:`\min_h \mathbb{E}\,\ell(\theta, h) - \mathbb{E}_y \min_h \mathbb{E}[\ell(\theta, h) \mid y]`.

    A state is taken from the draws and a result :math:`y` simulated from it, ``outer`` times. The posterior after each is the draws
    themselves with weights :math:`p(y \mid \theta_s)`. So the value is that of a state which is one of the draws, without bias; for
    the distribution behind the draws the bias is of order one over the effective sample size, and upwards as a rule: ``bias`` estimates
    it. Time and memory grow with ``outer`` times the number of draws.

    Args:
        key: random key.
        loss: as in `value_of_perfect_information`.
        draws: likewise; of what is believed now, prior or posterior.
        simulate: ``(key, state) -> result`` for one state, a number; the result an array of any shape, or several in a tuple.
        log_likelihood: ``(result, state) -> log density`` for one result and one state, up to what depends on the result alone.
        actions: as in `value_of_perfect_information`.
        outer: results that are simulated, at least 4.
        axis: of the draws, as in `bayes_decision`.

    Returns:
        `Information`, each entry of shape ``(...)``. The standard error holds both the results' and the draws' part, and is rather too
        large than too small.

    Raises:
        ValueError: if there are fewer than 4 draws or results, or a function fails or does not return one number.

    Example:
        >>> from course_pkg.decisions import squared
        >>> theta = jax.random.normal(jax.random.key(0), (2000,))  # N(0, 1); a reading has the variance 1, and halves that of theta
        >>> read_it = lambda key, theta: theta + jax.random.normal(key)
        >>> told = value_of_sample_information(jax.random.key(1), squared(), theta, read_it, lambda y, theta: -0.5 * (y - theta) ** 2)
        >>> bool(abs(told.value - told.bias - 0.5) < 4 * told.standard_error)
        True

    Source: Raiffa and Schlaifer (1961), chapter 4; for nested estimates Heath, Manolopoulou and Baio (2017).
    """
    key, loss, draws = _guard.key(key), as_loss(loss), _several("draws", draws, axis)
    outer = _guard.count("outer", outer, 4)
    rows = draws.reshape(-1, draws.shape[-1])
    keys = jax.random.split(key, len(rows))
    told = [_one_row(one, loss, row, simulate, log_likelihood, actions, outer) for one, row in zip(keys, rows, strict=True)]
    return jax.tree.map(lambda *entries: jnp.stack(entries).reshape(draws.shape[:-1]), *told)


def _one_row(key, loss, draws, simulate, log_likelihood, actions, outer) -> Information:
    pick, data = jax.random.split(key)
    size = draws.shape[0]
    places = jnp.concatenate([_places(one, k, size, n) for one, k, n in zip(jax.random.split(pick), (0, 1), _halved(outer), strict=True)])
    with _guard.calling("simulate"):
        results = jax.vmap(simulate)(jax.random.split(data, outer), draws[places])
    with _guard.calling("log_likelihood"):
        table = jax.vmap(jax.vmap(log_likelihood, (None, 0)), (0, None))(results, draws)
    if table.shape != (outer, size):
        raise ValueError(f"log_likelihood returns an array of shape {table.shape[2:]}; give one number: sum over what was measured")
    weights = normalised_weights(table)
    gains, after, decision = _gains(loss, draws, weights, actions)
    value = gains.mean()
    split = [slice(0, outer // 2), slice(outer // 2, None)]  # results whose state is of the one half of the draws, and of the other
    own = [_gains(loss, draws[k::2], normalised_weights(table[part, k::2]), actions)[0] for k, part in enumerate(split)]
    # what the choice saved in the state behind each result: its variance bounds the draws' own share (the envelope theorem)
    lived = loss.loss(draws[places], jnp.broadcast_to(decision, after.shape)) - loss.loss(draws[places], after)
    error = jnp.sqrt(gains.var(ddof=1) / outer + lived.var(ddof=1) / size)
    bias = jnp.concatenate(own).mean() - value
    risk = loss.loss(draws, jnp.broadcast_to(decision, draws.shape)).mean()
    return Information(value, error, bias, decision, risk, jnp.median(effective_sample_size(weights)))


def _gains(loss, draws, weights, actions):
    """Saved by the best decision after each result (in its posterior's mean), those decisions, and the best decision before."""
    wide = jnp.broadcast_to(draws, weights.shape)
    before, after = _best(loss, draws, None, actions), _best(loss, wide, weights, actions)
    with _guard.calling(f"loss {loss.name}"):
        difference = loss.loss(wide, jnp.broadcast_to(before, wide.shape)) - loss.loss(wide, after[:, None])
    return _guard.numbers(f"loss {loss.name}", (weights * difference).sum(axis=-1)), after, before


def _best(loss, draws, weights, actions):
    return bayes_decision(loss, draws, weights) if actions is None else bayes_action(loss, draws, actions, weights)


def _places(key, first, size, wanted):
    """Places of draws in one half, every second one; none twice while they last."""
    half = jnp.arange(first, size, 2)
    rounds = -(-wanted // len(half))
    return jax.vmap(lambda one: jax.random.permutation(one, half))(jax.random.split(key, rounds)).reshape(-1)[:wanted]


def _halved(outer):
    return outer // 2, outer - outer // 2


def _several(name, draws, axis):
    draws = read(name, draws, axis).values
    if draws.ndim == 0 or draws.shape[-1] < 4:
        raise ValueError(f"{name} has shape {draws.shape}; give at least 4 draws, two in each half")
    return draws
