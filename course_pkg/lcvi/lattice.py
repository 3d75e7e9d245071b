r"""Keys whose draws spread evenly: a lattice for any model that draws from a key.

An inner mean over :math:`S` independent outcomes errs by order :math:`S^{-1/2}`. Draws that share one random shift and then step through
the unit interval by :math:`1/S` err by order :math:`S^{-1}` where what is averaged is a function of bounded variation of one uniform
number. A model only sees its key, so the even spread is put into the key: the :math:`k`-th key of a set returns the random bits of an
ordinary key plus :math:`k/S` of the interval, wrapped around. Each key by itself draws exactly as an ordinary one does, number by number
independently, so no mean over the set of keys becomes biased, whatever the model.
"""

import jax
import jax.numpy as jnp
from jax.extend.random import define_prng_impl
from jaxtyping import PRNGKeyArray

from course_pkg import _guard
from course_pkg._streams import unrolled


def lattice_keys(key: PRNGKeyArray, count: int):
    r"""``count`` keys for one and the same draw; over the set, each random number that is drawn visits every ``1 / count`` of its range.

    Powers of two are best: then every stream that a model splits off keeps the even spread.

    Args:
        key: an ordinary key, which sets the shifts.
        count: how many, at least 1.

    Returns:
        Keys, shape ``(count,)``, to be used as any others.

    Raises:
        ValueError: if ``count`` is below 1.

    Example:
        >>> keys = lattice_keys(jax.random.key(0), 4)
        >>> u = jax.vmap(lambda k: jax.random.uniform(k, (1000,)))(keys)  # each column: four numbers, a quarter apart
        >>> bool(jnp.allclose(jnp.sort(u, axis=0)[1:] - jnp.sort(u, axis=0)[:-1], 0.25, atol=1e-6))
        True

    Source: Cranley and Patterson (1976), randomly shifted lattices.
    """
    key, count = _guard.key(key), _guard.count("count", count)
    start = jax.random.bits(key, (2,), jnp.uint32)
    step = jnp.uint32(2**32 // count) if count > 1 else jnp.uint32(0)
    offsets = step * jnp.arange(count, dtype=jnp.uint32)
    data = jnp.concatenate([jnp.broadcast_to(start, (count, 2)), offsets[:, None]], axis=1)
    return jax.random.wrap_key_data(data, impl=EVEN)


def _ordinary(data):
    return unrolled(jax.random.wrap_key_data(data[:2], impl="threefry2x32"))


def _seed(seed):
    return jnp.concatenate([jax.random.key_data(jax.random.key(seed, impl="threefry2x32")), jnp.zeros(1, jnp.uint32)])


def _child(data, plain):
    """A stream of its own, with another order of visiting the interval: two streams in step would move along a diagonal."""
    plain = jax.random.key_data(plain)
    stride = 2 * (plain[..., :1] % 16) + 1
    return jnp.concatenate([plain, data[2] * stride], axis=-1)


def _split(data, shape):
    return _child(data, jax.random.split(_ordinary(data), shape))


def _fold_in(data, number):
    return _child(data, jax.random.fold_in(_ordinary(data), number))


def _random_bits(data, width, shape):
    bits = jax.random.bits(_ordinary(data), shape, jnp.dtype(f"uint{width}"))
    if width <= 32:
        return bits + (data[2] >> (32 - width)).astype(bits.dtype)
    return bits + (data[2].astype(bits.dtype) << (width - 32))


EVEN = define_prng_impl(key_shape=(3,), seed=_seed, split=_split, random_bits=_random_bits, fold_in=_fold_in, name="even", tag="even")
