r"""Many chains at once, and their draws as ArviZ wants them.

The steps run in compiled blocks, all chains side by side. The keys depend on the number of the chain and of the step alone, so that
neither the length of a block nor the progress bar changes a digit.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray
from tqdm import tqdm

from course_pkg import _guard, _streams
from course_pkg._extras import needs
from course_pkg.mcmc.kernel import Kernel

BLOCK = 5000  # steps in a compiled call


def run_chains(
    key: PRNGKeyArray,
    kernel: Kernel,
    positions,
    draws: int,
    *,
    warmup: int = 0,
    constrain: Callable | None = None,
    name: str = "theta",
    progress: bool = True,
):
    r"""Run one chain from each position and return the draws.

    Args:
        key: random key; the same key gives the same draws.
        kernel: any `Kernel`.
        positions: starts: an array, or a pytree of arrays, with a leading axis of chains. Whole numbers stay whole if the kernel keeps
            them so, as Gibbs sampling keeps labels; else they become floats.
        draws: kept from each chain.
        warmup: steps of each chain that are thrown away before that.
        constrain: position -> ``{name: value}``, such as a model's. Without it a dict keeps its names, and an array is called ``name``.
        name: of the variable where the position is a plain array.
        progress: whether to show a bar.

    Returns:
        A ``DataTree`` as ArviZ reads it: group ``posterior`` with dimensions ``(chain, draw, ...)``, and ``sample_stats`` with what the
        kernel reports (``acceptance_rate`` and, where there is one, ``lp``, the log density).

    Raises:
        ValueError: if a count is out of range, the starts do not share a leading axis, or their parts have no names.

    Example:
        >>> from course_pkg.mcmc import random_walk
        >>> starts = jax.random.normal(jax.random.key(0), (4, 2))
        >>> tree = run_chains(jax.random.key(1), random_walk(lambda x: -0.5 * x @ x, 1.5), starts, 500, warmup=100, progress=False)
        >>> tree["posterior"]["theta"].shape
        (4, 500, 2)
        >>> bool(abs(float(tree["posterior"]["theta"].mean())) < 0.3)
        True

    Source: thesis, algorithm 1 (one chain); the layout is ArviZ's.
    """
    key, draws, warmup = _guard.key(key), _guard.count("draws", draws), _guard.count("warmup", warmup, least=0)
    floats = _guard.parameters("positions", positions)
    lengths = {leaf.shape[:1] for leaf in jax.tree.leaves(floats)}
    if len(lengths) != 1 or lengths == {()}:
        raise ValueError(f"positions has leading axes {sorted(lengths)}; give one chain's start for each row of every array")
    if constrain is None and not isinstance(floats, dict | jax.Array):
        raise ValueError(f"positions is a {type(positions).__name__}; give constrain, which names its parts")
    with _guard.calling("kernel at positions"):
        states = _first(kernel, _labels_or_floats(jax.vmap(kernel.init), jax.vmap(kernel.step), positions, floats, *lengths.pop()))
    parts, done, total = [], 0, draws + warmup
    length = min(BLOCK, max(1, total // 50)) if progress else BLOCK
    with tqdm(desc="chains", total=total, disable=not progress, unit="step", unit_scale=True) as bar:
        while done < total:
            keep = done >= warmup
            count = min(length, (total if keep else warmup) - done)
            states, kept = _block(kernel, constrain, count, keep, key, done, states)
            if keep:
                parts.append(jax.tree.map(np.asarray, kept))
            done += count
            bar.update(count)
    values, stats = jax.tree.map(lambda *blocks: np.concatenate(blocks, axis=1), *parts)
    return _tree(values if isinstance(values, dict) else {name: values}, stats)


def sample_chain(key: PRNGKeyArray, kernel: Kernel, position, draws: int):
    """One chain inside a compiled program: positions and infos, each with a leading axis of draws. It can be batched with ``vmap``.

    Raises:
        ValueError: if ``draws`` is below 1, or the position holds what is not a finite number.

    Example:
        >>> from course_pkg.mcmc import random_walk
        >>> position, info = sample_chain(jax.random.key(0), random_walk(lambda x: -0.5 * x @ x, 1.5), jnp.zeros(1), 100)
        >>> position.shape, info.accepted.shape
        ((100, 1), (100,))
    """
    key, draws = _guard.key(key), _guard.count("draws", draws)
    with _guard.calling("kernel at positions"):
        position = _labels_or_floats(kernel.init, kernel.step, position, _guard.parameters("position", position))

    def one(state, step_key):
        state, info = kernel.step(step_key, state)
        return state, (state.position, info)

    with _guard.calling("kernel at positions"):
        return jax.lax.scan(one, kernel.init(position), _streams.split(key, draws))[1]


def _labels_or_floats(init, step, position, floats, *chains):
    """The position as it was given if its whole numbers stay whole in a step, else as floats."""
    given = jax.tree.map(jnp.asarray, position)
    if all(jnp.issubdtype(leaf.dtype, np.floating) for leaf in jax.tree.leaves(given)):
        return floats
    keys = jax.random.split(jax.random.key(0), chains) if chains else jax.random.key(0)
    try:
        before, after = jax.eval_shape(lambda p: (init(p).position, step(keys, init(p))[0].position), given)
    except (TypeError, ValueError):  # no gradient in whole numbers, and no normal ones among them
        return floats
    return given if jax.tree.map(jnp.result_type, before) == jax.tree.map(jnp.result_type, after) else floats


@partial(jax.jit, static_argnums=0)
def _first(kernel, positions):
    return jax.vmap(kernel.init)(positions)


@partial(jax.jit, static_argnums=(0, 1, 2, 3))
def _block(kernel, constrain, count, keep, key, start, states):
    chains = jax.tree.leaves(states)[0].shape[0]
    step_keys = jax.vmap(lambda n: _streams.split(_streams.fold_in(key, n), chains))(start + jnp.arange(count))

    def one(states, keys):
        states, info = jax.vmap(kernel.step)(keys, states)
        if not keep:
            return states, None
        value = states.position if constrain is None else jax.vmap(constrain)(states.position)
        return states, (value, _stats(info, states))

    states, kept = jax.lax.scan(one, states, step_keys)
    return states, None if kept is None else jax.tree.map(lambda a: jnp.swapaxes(a, 0, 1), kept)  # (chain, draw, ...)


def _stats(info, states) -> dict[str, Any]:
    stats = dict(info._asdict())
    if hasattr(states, "log_density"):
        stats["lp"] = states.log_density
    return stats


def _tree(posterior, stats):
    return needs("arviz_base", "arviz").from_dict({"posterior": posterior, "sample_stats": stats})
