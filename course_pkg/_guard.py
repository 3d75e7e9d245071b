"""Checks on arguments, made once at the public boundary.

Each function returns its argument ready for use, or raises a `ValueError` that names the argument, its value and the mend. Values that
JAX is tracing have no numbers yet, so only their shapes are looked at. Whole numbers become floats here: sums and squares of integers
overflow without a word.
"""

from collections.abc import Callable
from contextlib import contextmanager

import jax
import jax.numpy as jnp
import numpy as np


def traced(x) -> bool:
    """Whether `x` is an abstract value inside a JAX transformation."""
    return isinstance(x, jax.core.Tracer)


def key(key):
    """`key`, if it is one random key: of the new style, or of the old one, two words of 32 bits."""
    kind = getattr(key, "dtype", None)
    new = isinstance(key, jax.Array) and jnp.issubdtype(key.dtype, jax.dtypes.prng_key) and key.shape == ()
    old = isinstance(key, jax.Array | np.ndarray) and kind == np.uint32 and key.shape == (2,)
    if not (new or old):
        said = f"an array of shape {key.shape} and type {kind}" if kind is not None else repr(key)
        raise ValueError(f"key is {said}; give one random key, such as jax.random.key(0)")
    return jnp.asarray(key) if old else key


def numbers(name: str, x, *, ndim: int | None = None, at_least: int = 0):
    """`x` as an array of finite real floats, not empty, of `ndim` dimensions (or at least `at_least`)."""
    x = floats(name, x)
    if ndim is not None and x.ndim != ndim:
        raise ValueError(f"{name} has shape {x.shape}; give an array of {ndim} dimension(s)")
    if x.ndim < at_least:
        raise ValueError(f"{name} has shape {x.shape}; give an array of at least {at_least} dimension(s)")
    if x.size == 0:
        raise ValueError(f"{name} is empty (shape {x.shape}); give at least one value")
    if not traced(x) and not np.isfinite(x).all():
        raise ValueError(f"{name} holds {_first_bad(x)}; remove or replace what is not a finite number")
    return x


def floats(name: str, x):
    """`x` as an array of floats, of single precision at least, whatever they are."""
    given = x if isinstance(x, jax.Array) else array(name, x)
    if not (given.dtype == bool or jnp.issubdtype(given.dtype, np.integer) or jnp.issubdtype(given.dtype, np.floating)):
        raise ValueError(f"{name} has type {given.dtype}; give real numbers")
    with np.errstate(over="ignore"):  # what single precision cannot hold becomes infinite, and is then named
        return jnp.asarray(given.astype(float_type(given.dtype), copy=False))


def float_type(dtype):
    """The precision to compute in: that of floats, single at least; the session's for all other numbers."""
    single = jnp.issubdtype(dtype, np.floating) and dtype.itemsize <= 4
    return np.dtype(np.float32) if single else jnp.result_type(float)


def array(name: str, x) -> np.ndarray:
    """`x` as an array of NumPy, whatever it holds, if it is regular and nothing of it is masked."""
    if any(map(np.ma.is_masked, x if isinstance(x, list | tuple) else [x])):
        raise ValueError(f"{name} is a masked array with masked values; leave them out, with compressed(), or fill them, with filled(...)")
    try:
        return np.asarray(x)
    except (TypeError, ValueError, jax.errors.TracerArrayConversionError) as problem:
        raise ValueError(f"{name} is no regular array of numbers ({problem}); give one number for each place") from None


def _first_bad(x) -> str:
    values = np.asarray(x).ravel()
    place = int(np.flatnonzero(~np.isfinite(values))[0])
    return f"{values[place]} at position {place}"


def number(name: str, x) -> float:
    """`x` as one finite real number, a plain one: JAX gives it the precision of what it meets."""
    if traced(x):
        raise ValueError(f"{name} is a value that JAX is tracing; give a plain number, fixed before the function is compiled")
    given = array(name, x)
    if given.ndim or given.dtype.kind not in "biuf":
        raise ValueError(f"{name} is {x!r}; give one real number")
    if not np.isfinite(given):
        raise ValueError(f"{name} is {given}; give a finite number")
    # of single precision the decimals that it prints: 0.3 has seven digits and is meant to be 0.3 in double, too
    return float(str(given)) if given.dtype.kind == "f" and given.dtype.itemsize < 8 else float(given)


def positive(name: str, x) -> float:
    """`x` as one number above zero."""
    x = number(name, x)
    if x <= 0:
        raise ValueError(f"{name} is {x:g}; give something above 0")
    return x


def share(name: str, x) -> float:
    """`x` as one number from 0 to 1, both included."""
    x = number(name, x)
    if not 0 <= x <= 1:
        raise ValueError(f"{name} is {x:g}; give a share between 0 and 1")
    return x


def nonnegative(name: str, x):
    """`x` as numbers not below zero."""
    x = numbers(name, x)
    if not traced(x) and not (np.asarray(x) >= 0).all():
        raise ValueError(f"{name} holds {np.min(x):g}; give nothing below 0")
    return x


def proportion(name: str, x) -> float:
    """`x` as one number strictly between 0 and 1."""
    x = number(name, x)
    if not 0 < x < 1:
        raise ValueError(f"{name} is {x:g}; give a number strictly between 0 and 1")
    return x


def count(name: str, x, least: int = 1) -> int:
    """`x` as a whole number, `least` or more."""
    given = None if traced(x) else array(name, x)
    if given is None or given.ndim or given.dtype.kind not in "iuf" or given != np.floor(given) or not least <= given < np.inf:
        raise ValueError(f"{name} is {x}; give a whole number, {least} or more")
    return int(given)


def weights(name: str, w, shape: tuple[int, ...], hint: Callable = lambda _: ""):
    """`w` divided by its sum over the last axis, after a check that it fits draws of shape `shape`; `hint` of a shape that does not."""
    w = nonnegative(name, w)
    if w.ndim == 0 or w.shape[-1] != shape[-1] or w.shape not in (shape, shape[-1:]):
        raise ValueError(f"{name} has shape {w.shape}; give {shape} or {shape[-1:]}, one weight for each draw{hint(w.shape)}")
    total = w.sum(axis=-1, keepdims=True)
    if not traced(total) and not (np.asarray(total) > 0).all():
        raise ValueError(f"{name} sums to 0; give at least one draw a weight above 0")
    return w / total


def batch(name: str, h, shape: tuple[int, ...], hint: Callable = lambda _: ""):
    """`h` as finite numbers of the batch shape `shape`, or one that broadcasts to it; `hint` of a shape that does not."""
    h = numbers(name, h)
    try:
        fits = np.broadcast_shapes(h.shape, shape) == shape or shape == ()
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"{name} has shape {h.shape}; give shape {shape}, one decision for each row of draws{hint(h.shape)}")
    return h


@contextmanager
def calling(name: str):
    """What a function of the caller's cannot do on JAX's arrays, said in words and with its name."""
    try:
        yield
    except (TypeError, IndexError, ValueError) as problem:
        raise ValueError(
            f"{name} fails on JAX's arrays ({type(problem).__name__}: {str(problem).split(chr(10), 1)[0]}); write it with jax.numpy, for "
            "arrays of floats: jnp.where in the place of if, no function of NumPy, and .astype(int) for an index"
        ) from problem


def traceable(name: str, function: Callable, *arguments):
    """Raise, in words and with its name, if a function of the caller's cannot be compiled for arrays like these."""
    with calling(name):
        jax.eval_shape(function, *arguments)


def broadcast(**named):
    """Arrays of numbers, brought to one shape and precision, in the order of their names."""
    arrays = {name: numbers(name, x) for name, x in named.items()}
    try:
        np.broadcast_shapes(*(x.shape for x in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {x.shape}" for name, x in arrays.items())
        raise ValueError(f"shapes do not fit: {shapes}; give shapes that broadcast") from None
    dtype = jnp.result_type(*arrays.values())
    return jnp.broadcast_arrays(*(x.astype(dtype) for x in arrays.values()))


def parameters(name: str, lam, family=None):
    """A pytree of parameters, every array of finite numbers; an empty one stays. With a family, of its structure and shapes."""
    if not jax.tree.leaves(lam):
        raise ValueError(f"{name} is {lam!r}, which holds no array; give parameters, such as family.init(dim)")
    lam = jax.tree.map(lambda leaf: leaf if getattr(leaf, "size", 1) == 0 else numbers(name, leaf), lam)
    if family is not None:
        shape = jax.tree.leaves(lam)[0].shape
        wanted = jax.eval_shape(lambda: family.init(shape[-1])) if shape and shape[-1] else None
        if jax.tree.map(np.shape, lam) != jax.tree.map(np.shape, wanted):
            raise ValueError(f"{name} has arrays of shapes {jax.tree.map(np.shape, lam)}; give them like family.init(dim)")
    return lam


def counts(name: str, x) -> tuple[int, ...]:
    """`x` as whole numbers of 1 or more, such as the units of hidden layers; there may be none."""
    if not isinstance(x, tuple | list | np.ndarray) or getattr(x, "ndim", 1) != 1:
        raise ValueError(f"{name} is {x!r}; give a tuple of whole numbers, such as (20, 10), or ()")
    return tuple(count(name, n) for n in x)


def choice(name: str, x, words) -> str:
    """`x`, if it is one of some words."""
    if not isinstance(x, str) or x not in words:
        *most, last = (f'"{word}"' for word in words)
        raise ValueError(f"{name} is {x!r}; give {', '.join(most)} or {last}")
    return x


def switch(name: str, x) -> bool:
    """`x`, if it is true or false."""
    if not isinstance(x, bool | np.bool_):
        raise ValueError(f"{name} is {x!r}; give True or False")
    return bool(x)


def labels(name: str, x, shape: tuple[int, ...]) -> np.ndarray:
    """`x` as one label for each of `shape`, numbers or words, none of them missing."""
    x = array(name, x)
    if x.shape != shape:
        raise ValueError(f"{name} has shape {x.shape}; give {shape}, a label for each point")
    if x.dtype.kind not in "biuUSf" or (x.dtype.kind == "f" and not np.isfinite(x).all()):
        raise ValueError(f"{name} has type {x.dtype} or misses a value; give whole numbers or words")
    return x
