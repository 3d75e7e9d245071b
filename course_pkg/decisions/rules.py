r"""Bayes decisions from draws, for any loss.

The Bayes decision minimises the expected loss, :math:`h^* = \arg\min_h \mathbb{E}\,\ell(y, h)`. Where its closed form is known it is used.
Otherwise one look along the line of decisions finds the valley with the lowest point, and bisection on the slope walks down to it. The
slope of an expected loss is a mean of slopes, so kinks are no obstacle, and thousands of decisions are found side by side.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from course_pkg import _guard
from course_pkg.decisions.draws import read
from course_pkg.decisions.losses import Loss, as_loss, as_partial

CORES = os.cpu_count() or 1
BLOCK = 2048  # rows solved at a time: the working set stays in the processor's cache
SCAN = 33  # points of each first look, for losses that are not known to be convex
WIDENINGS = 40  # each doubles the bracket: 40 reach a trillion times the spread of the draws


def bayes_decision(loss, draws, weights=None, *, method: str = "auto", axis=None):
    r"""The decision :math:`h^* = \arg\min_h \sum_s w_s\, \ell(y_s, h)` for every row of draws.

    With a convex loss the numerical answer is exact to rounding. Without, it is the lowest of the valleys that two looks can tell apart, at
    33 points between the extreme draws and at 33 where nine draws in ten lie. Where a whole interval is optimal (a quantile at the edge
    between two draws), its left end is returned by the closed form and a point of it by bisection: compare risks, not decisions.

    Args:
        loss: a `Loss` or any elementwise function ``(y, h) -> cost`` written in JAX.
        draws: shape ``(..., S)``: each row holds ``S`` draws of the unknown, in the unit of the decision (classes: whole numbers from 0).
            An ArviZ ``DataTree`` or a ``DataArray`` is read by the names of its dimensions, the dictionary of NumPyro's ``Predictive``
            with the draws first; where there are several variables, give one of them.
        weights: shape ``(..., S)`` or ``(S,)``, not negative; they need not sum to one. Equal weights where they are not given.
        method: ``"auto"`` (closed form where it is known), ``"closed"`` or ``"numerical"``.
        axis: of the draws in a plain array: the last where it is not given, ``0`` for draws first, ``(0, 1)`` for chain and draw. An array
            cannot tell its draws from its points, so this is not checked.

    Returns:
        The decisions, shape ``(...)``.

    Raises:
        ValueError: if the draws are empty or not finite, the weights are negative, all zero or of another shape, a class lies outside
            the cost matrix, the method is unknown, or no closed form is known where one is asked for.

    Example:
        >>> from course_pkg.decisions import bayes_decision, squared, tilted
        >>> draws = jnp.array([[1.0, 2.0, 3.0, 10.0], [0.0, 0.0, 0.0, 8.0]])
        >>> bayes_decision(squared(), draws).tolist(), bayes_decision(tilted(0.5), draws).tolist()
        ([4.0, 2.0], [2.0, 0.0])

    Source: thesis, sections 2.4.1 and 4.1.6 (Table 4.1); notes, equation 2.3.
    """
    loss = as_loss(loss)
    found = read("draws", draws, axis)
    draws, weights = found.values, found.weights(weights)
    _guard.choice("method", method, ("auto", "closed", "numerical"))
    if method == "closed" and loss.rule is None:
        raise ValueError(f'method is "closed" and {loss.name} loss has no known Bayes rule; use method="numerical"')
    if loss.actions is not None:
        _check_classes(loss, draws)
        if method == "numerical" or loss.rule is None:
            return bayes_action(loss, draws, jnp.arange(loss.actions), weights)
    if loss.rule is not None and method != "numerical":
        return loss.rule(draws, None if weights is None else jnp.broadcast_to(weights, draws.shape))
    with _guard.calling(f"loss {loss.name}"):
        decisions = _minimise(as_partial(loss.loss), draws, weights, convex=loss.convex)
    if not _guard.traced(decisions) and not bool(jnp.isfinite(decisions).all()):
        raise ValueError(f"loss {loss.name} has an expectation that is NaN or infinite where it should be least; mend it between the draws")
    return decisions


def bayes_action(loss, draws, actions, weights=None, *, axis=None):
    r"""The best of finitely many actions: the index or value in ``actions`` with the lowest expected loss.

    Args:
        loss: a `Loss` or any function ``(y, h) -> cost`` that broadcasts.
        draws: shape ``(..., S)``.
        actions: shape ``(K,)``, the decisions to choose among.
        weights: as in `bayes_decision`.
        axis: as in `bayes_decision`.

    Returns:
        The chosen actions, shape ``(...)`` and of the type of ``actions``, the first where several are equally good.

    Raises:
        ValueError: for bad draws, weights or actions, or if the loss is not finite somewhere.

    Example:
        >>> int(bayes_action(lambda y, h: abs(y - h), jnp.array([1.0, 2.0, 9.0]), jnp.array([0, 3, 9])))
        3

    Source: notes, equation 2.3.
    """
    loss = as_loss(loss)
    found = read("draws", draws, axis)
    draws, weights = found.values, found.weights(weights)
    checked = _guard.numbers("actions", actions, ndim=1)
    # one action at a time: memory grows with the draws, not with draws times actions
    with _guard.calling(f"loss {loss.name}"):
        risks = jnp.stack([_average(jnp.broadcast_to(loss.loss(draws, h), draws.shape), weights) for h in checked])
    best = jnp.argmin(_guard.numbers("the expected loss", risks), axis=0)
    kept = actions if isinstance(actions, jax.Array) else np.asarray(actions)
    wraps = isinstance(kept, np.ndarray) and kept.dtype.kind in "iu" and np.abs(kept, dtype=float).max() >= 2**31
    return (checked if wraps else jnp.asarray(kept))[best]  # as they were given: labels and indices stay whole numbers


def _check_classes(loss: Loss, draws):
    if _guard.traced(draws) or loss.costs is None:
        return
    classes = loss.costs.shape[0]
    if not bool(((draws >= 0) & (draws < classes) & (draws == jnp.floor(draws))).all()):
        raise ValueError(f"draws hold a class outside 0, ..., {classes - 1}; number the classes as the rows of the cost matrix")


def _average(values, weights):
    return values.mean(axis=-1) if weights is None else (jnp.broadcast_to(weights, values.shape) * values).sum(axis=-1)


def _minimise(loss, draws, weights, convex):
    rows = draws.reshape(-1, draws.shape[-1])
    if weights is not None and weights.ndim > 1:
        weights = weights.reshape(rows.shape)
    if len(rows) <= 8 * BLOCK or _guard.traced(rows):
        return _solve_rows(loss, rows, weights, convex).reshape(draws.shape[:-1])
    edges = [len(rows) * k // CORES for k in range(CORES + 1)]

    def solve(i, j):
        part = weights if weights is None or weights.ndim == 1 else weights[i:j]
        return _solve_rows(loss, rows[i:j], part, convex).block_until_ready()

    return jnp.concatenate(on_all_cores(solve, edges[:-1], edges[1:])).reshape(draws.shape[:-1])


def on_all_cores(function, *arguments) -> list:
    """``map`` with a thread for each core, of which a compiled loop keeps but one busy."""
    double = jax.config.jax_enable_x64

    def as_precise(*each):
        with jax.enable_x64(double):  # a thread does not inherit it
            return function(*each)

    with ThreadPoolExecutor(CORES) as pool:
        return list(pool.map(as_precise, *arguments))


@partial(jax.jit, static_argnames="convex")
def _solve_rows(loss, rows, weights, convex):
    solve = partial(_solve_block, loss, convex=convex)
    n, size = rows.shape
    if n <= BLOCK:
        return solve(rows, weights)
    pad = -n % BLOCK
    blocks = jnp.pad(rows, ((0, pad), (0, 0)), mode="edge").reshape(-1, BLOCK, size)
    if weights is None or weights.ndim == 1:
        found = jax.lax.map(lambda block: solve(block, weights), blocks)
    else:
        padded = jnp.pad(weights, ((0, pad), (0, 0)), mode="edge").reshape(-1, BLOCK, size)
        found = jax.lax.map(lambda pair: solve(*pair), (blocks, padded))
    return found.reshape(-1)[:n]


def _solve_block(loss, draws, weights, convex):
    def risk(h):  # (n,) -> (n,)
        return _average(loss(draws, h[:, None]), weights)

    def slope(h):  # each row's risk depends on its own decision only, so one directional derivative gives all slopes
        return jax.jvp(risk, (h,), (jnp.ones_like(h),))[1]

    low, high = draws.min(axis=-1), draws.max(axis=-1)
    if convex:
        low, high = _widen(slope, low, high)
        found = _bisect(slope, low, high)
    else:
        # a second look at where nine draws in ten lie: a single wild one would stretch the first until it sees nothing
        looks = [_bisect_from_a_look(risk, slope, *ends) for ends in ((low, high), _bulk(draws, weights, low, high))]
        found = jnp.where(risk(looks[0]) <= risk(looks[1]), *looks)
    return jnp.where(jnp.isfinite(risk(found)), found, jnp.nan)


def _widen(slope, low, high):
    """Move the ends outwards until the risk falls at the low end and rises at the high end."""
    span = jnp.maximum(high - low, jnp.finfo(low.dtype).eps * (1 + jnp.abs(low)))

    def step(carry):
        k, low, high = carry
        reach = span * 2.0**k
        return k + 1, jnp.where(slope(low) > 0, low - reach, low), jnp.where(slope(high) < 0, high + reach, high)

    def unfinished(carry):
        k, low, high = carry
        return (k < WIDENINGS) & ((slope(low) > 0) | (slope(high) < 0)).any()

    _, low, high = jax.lax.while_loop(unfinished, step, (0, low, high))
    return low, high


def _bulk(draws, weights, low, high):
    """Points with about a twentieth of the weight below and above them."""

    def below(share):
        return _bisect(lambda h: _average((draws <= h[:, None]).astype(h.dtype), weights) - share, low, high, halvings=12)

    return below(0.05), below(0.95)


def _bisect_from_a_look(risk, slope, low, high):
    low, high, best = _look(risk, low, high)
    found = _bisect(slope, low, high)
    return jnp.where(risk(found) <= risk(best), found, best)


def _look(risk, low, high):
    """The best of a row of points between the ends, with its neighbours."""
    pitch = (high - low) / (SCAN - 1)

    def step(carry, k):
        best, lowest = carry
        h = low + k * pitch
        here = risk(h)
        better = here < lowest
        return (jnp.where(better, h, best), jnp.where(better, here, lowest)), None

    (best, _), _ = jax.lax.scan(step, (low, risk(low)), jnp.arange(1, SCAN, dtype=low.dtype))
    return best - pitch, best + pitch, best


def _bisect(slope, low, high, halvings=None):
    def step(_, ends):
        low, high = ends
        middle = 0.5 * (low + high)
        rising = slope(middle) >= 0
        return jnp.where(rising, low, middle), jnp.where(rising, middle, high)

    halvings = halvings or jnp.finfo(low.dtype).nmant + 3
    low, high = jax.lax.fori_loop(0, halvings, step, (low, high))
    return 0.5 * (low + high)
