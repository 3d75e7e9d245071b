"""Values as JSON and back: numbers, texts, tuples, arrays as their bytes, keys, and functions as a number.

Nothing that arrives is run or unpickled, and an object that lies about itself arrives as the numbers that it holds.
"""

import base64
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from course_pkg.classroom import keys

PLAIN = (bool, int, float, str, type(None))


def encode(value: Any, line: Any) -> Any:
    """A value as JSON; a function is lent to the other side."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, jax.Array):
        if jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
            own = jax.random.key_impl(value)
            if not isinstance(own, str):  # a record's, which watches
                line.watching = own
            return {"k": _bytes(np.asarray(jax.random.key_data(value))), "watched": not isinstance(own, str)}
        return {"j": _bytes(np.asarray(value)), "weak": bool(value.weak_type)}
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufcSU":
        return {"a" if isinstance(value, np.ndarray) else "n": _bytes(np.array(value, subok=False))}
    for kind, letter in ((tuple, "t"), (list, "l")):
        if isinstance(value, kind):
            return {letter: [encode(one, line) for one in value]}
    if isinstance(value, np.ndarray) and value.ndim:
        return {"l": [encode(one, line) for one in value]}
    if isinstance(value, dict):
        return {"d": [[encode(key, line), encode(one, line)] for key, one in value.items()]}
    if callable(value):
        line.lent.append(value)
        return {"f": len(line.lent) - 1}
    read = np.asarray(value)
    return {"a": _bytes(read)} if read.dtype.kind in "biufc" else {"x": type(value).__name__}


def decode(value: Any, line: Any) -> Any:
    """The value that `encode` has written."""
    if type(value) in PLAIN:
        return value
    ((letter, held), *_) = value.items()
    if letter in ("t", "l"):
        return (tuple if letter == "t" else list)(decode(one, line) for one in held)
    if letter == "d":
        return {decode(key, line): decode(one, line) for key, one in held}
    if letter == "f":
        return line.borrowed(int(held))
    if letter == "x":
        return type(str(held)[:80], (), {})()
    array = _array(held)
    if letter == "k":
        return jax.random.wrap_key_data(jnp.asarray(array), impl=keys.watched() if value["watched"] else None)
    if letter == "j":
        return jnp.asarray(array[()].item()) if value["weak"] and not array.ndim else jnp.asarray(array)
    return array[()] if letter == "n" else array


def _bytes(array: np.ndarray) -> list[Any]:
    array = array.astype(np.float32) if array.dtype.kind == "V" else array  # a short float of JAX's own
    return [array.dtype.str, list(array.shape), base64.b64encode(array.tobytes()).decode()]


def _array(held: Any) -> np.ndarray:
    dtype = np.dtype(held[0])
    if dtype.kind not in "biufcSU":
        raise ValueError(f"arrays of {dtype} are not sent")
    return np.frombuffer(base64.b64decode(held[2]), dtype).reshape(held[1]).copy()
