r"""Matrix factorisation, calibrated fast: a step that touches only what its minibatch of rows needs.

The general estimator draws every coordinate of :math:`\theta` at every step. A row's factors matter to that row alone, so here only those
of the rows at hand are drawn, their prior and entropy are scaled up with their likelihood, and one product of thin matrices serves
likelihood and utility. The gradient has the same mean as that of `calibrated`; tests compare them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from course_pkg import _guard, _streams
from course_pkg.gradients import Estimate, Estimator
from course_pkg.lcvi import closed
from course_pkg.lcvi.outcomes import from_outcomes
from course_pkg.lcvi.steps import Pair
from course_pkg.lcvi.table import location_table
from course_pkg.lcvi.utilities import Utility


class Factors(NamedTuple):
    """A factorised normal over both factors: locations, and scales through softplus."""

    row_mu: Float[Array, "rows K"]
    row_raw: Float[Array, "rows K"]
    column_mu: Float[Array, "columns K"]
    column_raw: Float[Array, "columns K"]


class Order(NamedTuple):
    """Where a run stands in its shuffled pass through the rows."""

    step: Any
    rows: Any
    key: Any


def random_start(key: PRNGKeyArray, rows: int, columns: int, factors: int) -> Pair:
    """Everything standard normal, the decisions too: where the authors' runs begin.

    Raises:
        ValueError: if a size is below 1.

    Example:
        >>> random_start(jax.random.key(0), 3, 2, 1).h.shape
        (3, 2)
    """
    keys = jax.random.split(_guard.key(key), 5)
    rows, columns, factors = _guard.count("rows", rows), _guard.count("columns", columns), _guard.count("factors", factors)
    shapes = [(rows, factors)] * 2 + [(columns, factors)] * 2
    lam = Factors(*(jax.random.normal(k, shape) for k, shape in zip(keys[:4], shapes, strict=True)))
    return Pair(lam, jax.random.normal(keys[4], (rows, columns)))


def factor_estimator(
    utility: Utility | None,
    *,
    batch: int = 100,
    samples: int = 11,
    utility_samples: int | None = None,
    draws: int | str | None = None,
    noise_sd: float = 1.0,
    prior_sd: float = 10.0,
    em: bool = False,
) -> Estimator:
    r"""Estimator of the gradient of the calibrated bound of a matrix factorisation, on ``batch`` rows at a time.

    The parameters are ``Pair(Factors, h)`` with decisions ``h`` of shape ``(rows, columns)``, the data `models.TableRows`; hidden cells
    count neither in the likelihood nor in the utility.

    Args:
        utility: None for plain variational inference; then ``h`` is ``()``.
        batch: rows of a step. The rows are shuffled anew for every pass, so that the noise of a pass cancels over it: with rows drawn
            afresh at every step the same rate ends at a worse place.
        samples: draws of the factors.
        utility_samples: how many of them serve the utility term; all where not given.
        draws: None for the closed form of the inner expectation, or a table where there is none; ``"table"`` for the table in any case
            (for the exponential of a tilted loss it is the quicker of the two); a number for as many independent outcomes for each cell
            and draw of the factors: the naive estimator, kept to compare with.
        noise_sd: of a cell, above 0.
        prior_sd: of the factors, above 0.
        em: the decisions are not climbed in: at each step they are the Bayes decision for squared loss, the mean of the draws; ``h`` is
            then ``()``. The same draws judge it, so that the charge for variance is smaller by one part in ``samples``.

    Raises:
        ValueError: if a count is below 1, a scale is not above 0, or the utility depends on more than the difference of decision
            and outcome and ``draws`` is missing.

    Source: LCVI paper, section 6.2, with the settings that its code ran.
    """
    batch, samples = _guard.count("batch", batch), _guard.count("samples", samples)
    inner = samples if utility_samples is None else _guard.count("utility_samples", utility_samples)
    if inner > samples:
        raise ValueError(f"utility_samples is {inner}, more than the {samples} samples there are; give at most as many")
    noise_sd, prior_sd = _guard.positive("noise_sd", noise_sd), _guard.positive("prior_sd", prior_sd)
    if isinstance(draws, str) and draws != "table":
        raise ValueError(f'draws is {draws!r}; give a number of outcomes, "table", or None for the closed form')
    outcomes = None if draws is None or isinstance(draws, str) else _guard.count("draws", draws)
    term = None if utility is None else _inner(utility, noise_sd, outcomes, table=draws == "table")

    def init(key, pair, data):  # noqa: ARG001
        rows = pair.lam.row_mu.shape[0]
        return Order(jnp.array(0), jnp.arange(-(-rows // batch) * batch), key)

    def draw(key, pair, data):  # noqa: ARG001
        keys = jax.random.split(key, 3)
        factors, columns = pair.lam.column_mu.shape[1], pair.lam.column_mu.shape[0]
        row_eps = _streams.normal(keys[0], (samples, batch, factors))
        column_eps = _streams.normal(keys[1], (samples, columns, factors))
        outcome = () if outcomes is None or term is None else _streams.normal(keys[2], (inner, outcomes, batch, columns))
        return row_eps, column_eps, outcome

    def bound(pair, noise, index, real, data):
        row_eps, column_eps, outcome = noise
        lam, scale = pair.lam, pair.lam.row_mu.shape[0] / real.sum()
        w = lam.row_mu[index][None] + jax.nn.softplus(lam.row_raw[index])[None] * row_eps
        z = lam.column_mu[None] + jax.nn.softplus(lam.column_raw)[None] * column_eps
        mean = jnp.einsum("sbk,smk->sbm", w, z)
        seen = data.seen[index] & real[:, None]
        squares = jnp.where(seen[None], (data.value[index][None] - mean) ** 2, 0.0).sum() / samples
        value = -scale * (0.5 * squares / noise_sd**2 + seen.sum() * (jnp.log(noise_sd) + 0.5 * jnp.log(2 * jnp.pi)))
        apart = jnp.where(real[:, None], _divergence(lam.row_mu[index], lam.row_raw[index], prior_sd), 0.0)
        value -= scale * apart.sum() + _divergence(lam.column_mu, lam.column_raw, prior_sd).sum()
        if term is None:
            return value
        h = jax.lax.stop_gradient(mean.mean(axis=0)) if em else pair.h[index]
        return value + scale * jnp.where(seen, term(mean[:inner], h, outcome), 0.0).sum()

    def estimate(noise, pair, state, data):
        index, real, state = _next_rows(state, pair.lam.row_mu.shape[0], batch)
        value, gradient = jax.value_and_grad(bound)(pair, noise, index, real, data)
        return Estimate(value, gradient, jax.tree.map(lambda g: g[None], gradient)), state

    return Estimator(init, draw, estimate)


def predictive_decisions(key: PRNGKeyArray, lam: Factors, level: float | None = None, *, noise_sd: float = 1.0, draws: int = 1000):
    """Decisions for every cell: the predictive mean, exactly, or a quantile of ``draws`` predictive draws.

    Args:
        key: random key.
        lam: parameters of the approximation.
        level: of the quantile, in (0, 1); None for the mean.
        noise_sd: of a cell.
        draws: predictive draws of each cell.

    Raises:
        ValueError: if ``level`` lies outside (0, 1) or a number is out of range.

    Source: the authors' evaluation, 1,000 draws.
    """
    key, draws, noise_sd = _guard.key(key), _guard.count("draws", draws), _guard.positive("noise_sd", noise_sd)
    if level is None:
        return lam.row_mu @ lam.column_mu.T
    place = int(np.clip(np.ceil(_guard.proportion("level", level) * draws) - 1, 0, draws - 1))
    column_key, key = jax.random.split(key)
    z = lam.column_mu[None] + jax.nn.softplus(lam.column_raw)[None] * _streams.normal(column_key, (draws, *lam.column_mu.shape))
    blocks = [_block_quantile(jax.random.fold_in(key, b), lam, z, b, noise_sd, place) for b in range(0, lam.row_mu.shape[0], 62)]
    return jnp.asarray(np.concatenate(blocks))


def predicted_rows(key: PRNGKeyArray, lam: Factors, rows, draws: int, *, noise_sd: float = 1.0):
    """Predictive draws of whole rows, shape ``(draws, rows, columns)``.

    Raises:
        ValueError: if ``draws`` is below 1.
    """
    key, draws = _guard.key(key), _guard.count("draws", draws)
    keys = jax.random.split(key, 3)
    mu, sd = lam.row_mu[rows], jax.nn.softplus(lam.row_raw[rows])
    w = mu[None] + sd[None] * _streams.normal(keys[0], (draws, *mu.shape))
    z = lam.column_mu[None] + jax.nn.softplus(lam.column_raw)[None] * _streams.normal(keys[1], (draws, *lam.column_mu.shape))
    mean = jnp.einsum("sbk,smk->sbm", w, z)
    return mean + noise_sd * _streams.normal(keys[2], mean.shape)


def _block_quantile(key, lam, z, start, noise_sd, place):
    keys = jax.random.split(key)
    mu, raw = lam.row_mu[start : start + 62], lam.row_raw[start : start + 62]
    w = mu[None] + jax.nn.softplus(raw)[None] * _streams.normal(keys[0], (z.shape[0], *mu.shape))
    mean = jnp.einsum("sbk,smk->bms", w, z)
    y = np.asarray(mean + noise_sd * _streams.normal(keys[1], mean.shape))
    return np.partition(y, place, axis=-1)[..., place]


def _inner(utility, noise_sd, outcomes, table) -> Callable:
    if outcomes is not None:
        return lambda mean, h, outcome: from_outcomes(utility, mean[:, None] + noise_sd * outcome, h)
    form = None if table else closed.utility_form(utility)
    if form is None:
        read = location_table(utility, noise_sd)
        return lambda mean, h, _: read(mean, h[None]).mean(axis=0)
    return lambda mean, h, _: form(mean, noise_sd, h[None]).mean(axis=0)


def _divergence(mu, raw, prior_sd):
    """From the prior, in closed form."""
    sd = jax.nn.softplus(raw)
    return 0.5 * (mu**2 + sd**2) / prior_sd**2 - jnp.log(sd / prior_sd) - 0.5


def _next_rows(order, rows, batch):
    """The next rows of a shuffled pass; which of them are real, as the last minibatch of a pass may be short; and the order after it."""
    batches = order.rows.shape[0] // batch
    place = order.step % batches

    def shuffle(order):
        new = jax.random.permutation(jax.random.fold_in(order.key, order.step), rows)
        return order._replace(rows=jnp.concatenate([new, new])[: order.rows.shape[0]] if rows >= batch else jnp.arange(batch) % rows)

    order = jax.lax.cond(place == 0, shuffle, lambda order: order, order)
    index = jax.lax.dynamic_slice_in_dim(order.rows, place * batch, batch)
    return index, place * batch + jnp.arange(batch) < rows, order._replace(step=order.step + 1)
