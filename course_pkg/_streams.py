"""JAX's ordinary random streams, bit by bit, for loops in which drawing is most of the work.

On a processor JAX goes through threefry's rounds in a loop, five times over the whole array. Written out they are one pass, which runs
several times as fast and compiles sooner.
"""

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.random import define_prng_impl

TURNS = ((13, 15, 26, 6), (17, 29, 16, 24))  # bits by which a word is turned, in every other group of four rounds
PARITY = np.uint32(0x1BD11BDA)
ORDINARY = "threefry2x32"
_once = jax.lax.optimization_barrier  # else the compiler goes through all rounds again wherever the words are used


def split(key, count=2):
    """The same keys as ``jax.random.split`` makes."""
    return _ordinary(key, jax.random.split(unrolled(key), count))


def fold_in(key, number):
    """The same key as ``jax.random.fold_in`` makes."""
    return _ordinary(key, jax.random.fold_in(unrolled(key), number))


def uniform(key, shape=(), minval=0.0, maxval=1.0):
    """The same numbers as ``jax.random.uniform`` draws."""
    return jax.random.uniform(unrolled(key), shape, minval=minval, maxval=maxval)


def normal(key, shape, dtype=float):
    """The same standard normal numbers as ``jax.random.normal`` draws: in a row, since short last axes are slow to go through.

    Example:
        >>> key = jax.random.key(3)
        >>> bool((normal(key, (4, 3, 2)) == jax.random.normal(key, (4, 3, 2))).all())
        True

    Source: Salmon, Moraes, Dror and Shaw (2011), section 4.2.
    """
    return _once(jax.random.normal(unrolled(key), (math.prod(shape),), dtype)).reshape(shape)


def unrolled(key):
    """The same stream with its rounds written out; a key of another kind than JAX's ordinary one as it is."""
    ordinary = jnp.issubdtype(key.dtype, jax.dtypes.prng_key) and jax.random.key_impl(key) == ORDINARY
    if not ordinary or not jax.config.jax_threefry_partitionable:
        return key
    return jax.random.wrap_key_data(jax.random.key_data(key), impl=UNROLLED)


def _ordinary(key, made):
    """Keys of the kind of ``key``: other code may be handed them, and not all of JAX takes another kind."""
    return made if unrolled(key) is key else jax.random.wrap_key_data(jax.random.key_data(made), impl=ORDINARY)


def _rounds(key, first, second):
    words = (key[0], key[1], key[0] ^ key[1] ^ PARITY)
    x, y = first + words[0], second + words[1]
    for group in range(5):
        for turn in TURNS[group % 2]:
            x = x + y
            y = x ^ (y << turn | y >> (32 - turn))
        x, y = x + words[(group + 1) % 3], y + words[(group + 2) % 3] + np.uint32(group + 1)
    return x, y


def _counted(key, shape):
    """Two words for each place of an array, from its number; these are 64 bits wide, of which 32 are in use."""
    size = math.prod(shape)
    if size > np.iinfo(np.uint32).max:
        raise ValueError(f"an array of shape {shape} would hold {size} random numbers; draw it in parts")
    places = jnp.arange(size, dtype=jnp.uint32).reshape(shape)
    return _rounds(key, jnp.zeros_like(places), places)


def _seed(seed):
    return jax.random.key_data(jax.random.key(seed, impl=ORDINARY))


@partial(jax.jit, static_argnums=1)
def _split(key, shape):
    return _once(jnp.stack(_counted(key, shape), axis=-1))


@jax.jit
def _fold_in(key, number):
    return _once(jnp.stack(_rounds(key, jnp.uint32(0), number.astype(jnp.uint32))))


@partial(jax.jit, static_argnums=(1, 2))
def _random_bits(key, width, shape):
    high, low = _counted(key, shape)
    return _once(high.astype(jnp.uint64) << 32 | low.astype(jnp.uint64) if width == 64 else (high ^ low).astype(f"uint{width}"))


UNROLLED = define_prng_impl(
    key_shape=(2,), seed=_seed, split=_split, random_bits=_random_bits, fold_in=_fold_in, name="unrolled", tag="unrolled"
)
