"""What an answer does with a random key: no key is to be drawn from twice, and none that others are made of.

Two draws of one key are not independent. That need not show in what comes out, and so is looked for where it is done.
"""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.extend.random import define_prng_impl, threefry_prng_impl

from course_pkg.checks._judge import Trouble, call

KEY_TWICE = (
    "A key is drawn from twice, in one step or in two that may lie far apart. What comes from one key twice is not independent, even where "
    "it does not show. Give each draw a key of its own."
)
PARENT = (
    "You draw from a key from which others are made, too: by you, with split or fold_in, or by a sampler for its own use, as "
    "`jax.random.gamma` does. Nothing promises that its numbers are independent of theirs, even where nothing shows. Split first, and "
    "draw from children only, each of them once."
)

Key = tuple[int, ...]
drawn, parents = list[tuple[Key, Any]](), list[tuple[Key, Any]]()  # each with the shape of what was drawn, or the number of children


def _noted(where: list[tuple[Key, Any]], do: Callable[..., Any]) -> Callable[..., Any]:
    """What JAX's ordinary keys do, which writes down of which key, within compiled functions and loops as well."""

    def done(key: Any, *rest: Any) -> Any:
        shape = rest[-1] if where is drawn else None
        jax.debug.callback(lambda key: where.append((tuple(np.asarray(key).ravel().tolist()), shape)), key)
        return do(key, *rest)

    return done


NOTED = define_prng_impl(
    key_shape=threefry_prng_impl.key_shape,
    seed=threefry_prng_impl.seed,
    split=_noted(parents, threefry_prng_impl.split),
    random_bits=_noted(drawn, threefry_prng_impl.random_bits),
    fold_in=_noted(parents, threefry_prng_impl.fold_in),
    name="noted",
    tag="noted",
)


def key_trouble(answer: Any, seed: int, *rest: Any, redrawn: bool = False) -> str | None:
    """Words if an answer that takes a key first, and then ``rest``, draws from one twice, or from one that it makes others of.

    Each use is written down by itself, so ``rest`` should ask for a few draws only. With ``redrawn`` the same shape may be drawn of a key
    again: that gives the same numbers, as where a mean and its error are worked out one after the other.
    """
    drawn.clear()
    parents.clear()
    try:
        call(answer, jax.random.key(seed, impl=NOTED), *rest)
    except Trouble:  # keys of two kinds, for one: what runs with ordinary keys is not blamed for these
        return None
    finally:
        jax.effects_barrier()
    keys = [key for key, _ in (set(drawn) if redrawn else drawn)]
    if len(set(keys)) < len(keys):
        return KEY_TWICE
    return PARENT if set(keys) & {key for key, _ in parents} else None
