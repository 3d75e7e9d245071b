"""Plain VI of the Last.fm factorisation with the post-hoc paper's settings, and draws of its predictive.

Used by ``lastfm.py``; it writes nothing of its own. The evidence lower bound of a factorised normal has a closed form here, so the only
noise of a step is its minibatch; ``samples=11`` brings the paper's Monte Carlo draws back.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

FACTORS, BATCH = 20, 100


class Factors(NamedTuple):
    """Locations and raw scales of the factors of rows and columns; a scale is the softplus of its raw value."""

    w: jax.Array
    w_raw: jax.Array
    z: jax.Array
    z_raw: jax.Array


def initial(key, rows, columns) -> Factors:
    shapes = [(rows, FACTORS)] * 2 + [(columns, FACTORS)] * 2
    return Factors(*(jax.random.normal(k, shape) for k, shape in zip(jax.random.split(key, 4), shapes, strict=True)))


def kl(location, raw, prior_sd):
    variance = jax.nn.softplus(raw) ** 2
    return 0.5 * ((variance + location**2) / prior_sd**2 - 1 - jnp.log(variance / prior_sd**2)).sum()


def negative_bound(lam: Factors, index, key, y, seen, prior_sd, samples):
    w, vw, z, vz = lam.w[index], jax.nn.softplus(lam.w_raw[index]) ** 2, lam.z, jax.nn.softplus(lam.z_raw) ** 2
    if samples:
        first, second = jax.random.split(key)
        ws = w[None] + jnp.sqrt(vw)[None] * jax.random.normal(first, (samples, *w.shape))
        zs = z[None] + jnp.sqrt(vz)[None] * jax.random.normal(second, (samples, *z.shape))
        error = ((y[index][None] - jnp.einsum("srk,sck->src", ws, zs)) ** 2).mean(axis=0)
    else:
        error = (y[index] - w @ z.T) ** 2 + (w**2) @ vz.T + vw @ (z**2).T + vw @ vz.T
    fit = 0.5 * jnp.where(seen[index], error, 0.0).sum() * y.shape[0] / index.shape[0]
    return fit + kl(lam.w, lam.w_raw, prior_sd) + kl(lam.z, lam.z_raw, prior_sd)


@partial(jax.jit, static_argnames=("steps", "samples"))
def factorise(key, y, seen, prior_sd=10.0, *, steps=30_001, samples=0, rate=0.01):
    """The variational parameters after ``steps`` Adam steps on minibatches of 100 listeners."""
    start, key = jax.random.split(key)
    lam, adam = initial(start, *y.shape), optax.adam(rate)
    batches = y.shape[0] // BATCH + 1

    def epoch(carry, e):
        order = jnp.resize(jax.random.permutation(jax.random.fold_in(key, e), y.shape[0]), (batches, BATCH))

        def step(carry, part):
            k, index = part
            lam, state = carry
            noise = jax.random.fold_in(jax.random.fold_in(key, e), k)
            gradient = jax.grad(negative_bound)(lam, index, noise, y, seen, prior_sd, samples)
            update, state = adam.update(gradient, state)
            return (optax.apply_updates(lam, update), state), None

        return jax.lax.scan(step, carry, (jnp.arange(len(order)), order))

    (lam, _), _ = jax.lax.scan(epoch, (lam, adam.init(lam)), jnp.arange(-(-steps // batches)))
    return lam


def predictive(lam: Factors, draws: int, seed: int, rows=slice(None)) -> np.ndarray:
    """Draws of every cell of some rows: shape ``(rows, columns, draws)``, single precision."""
    rng = np.random.default_rng(seed)
    w, sw, z, sz = (np.asarray(a, np.float32) for a in (lam.w[rows], jax.nn.softplus(lam.w_raw[rows]), lam.z, jax.nn.softplus(lam.z_raw)))
    out = np.empty((draws, len(w), len(z)), np.float32)
    for s in range(draws):
        ws = w + sw * rng.standard_normal(w.shape, np.float32)
        zs = z + sz * rng.standard_normal(z.shape, np.float32)
        out[s] = ws @ zs.T + rng.standard_normal((len(w), len(z)), np.float32)
    return np.moveaxis(out, 0, -1)
