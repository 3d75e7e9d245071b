"""Random keys that a record watches: what another process does with one is written down there, and done again here."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.random import define_prng_impl, threefry_prng_impl

MOST = 5_000  # uses that are passed on
_uses: list[list[Any]] = []


def _noted(kind: str, do: Callable[..., Any]) -> Callable[..., Any]:
    def done(key: Any, *rest: Any) -> Any:
        shape = list(rest[-1]) if kind == "drawn" else []
        jax.debug.callback(lambda key: _uses.append([kind, np.asarray(key).ravel().tolist(), shape]), key)
        return do(key, *rest)

    return done


@functools.cache
def watched() -> Any:
    """Keys that do what JAX's own do, each use of which is written down."""
    own = threefry_prng_impl
    split, fold_in, bits = _noted("made", own.split), _noted("made", own.fold_in), _noted("drawn", own.random_bits)
    return define_prng_impl(
        key_shape=own.key_shape, seed=own.seed, split=split, random_bits=bits, fold_in=fold_in, name="watched", tag="watched"
    )


def uses() -> list[list[Any]]:
    """What was written down since this was last asked."""
    if not watched.cache_info().currsize:
        return []
    jax.effects_barrier()
    found = _uses[:MOST]
    _uses.clear()
    return found


def again(found: Sequence[Sequence[Any]], kind_of_key: Any) -> None:
    """Use keys of a kind as they were used elsewhere."""
    for kind, words, shape in found[:MOST]:
        if math.prod(shape) > MOST:
            raise ValueError("more was drawn than is looked at")
        for key in np.reshape(np.asarray(words, np.uint32), (-1, 2)):
            there = jax.random.wrap_key_data(jnp.asarray(key), impl=kind_of_key)
            jax.block_until_ready(jax.random.bits(there, tuple(shape)) if kind == "drawn" else jax.random.key_data(jax.random.split(there)))
