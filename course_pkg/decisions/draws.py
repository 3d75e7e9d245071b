"""Draws of any engine, read without guessing: which axis is the draws, and which the points that are decided about.

Here draws come last, as every function of this chapter wants them. ArviZ has the dimensions chain and draw first and gives them names;
NumPyro's ``Predictive`` returns a dictionary of arrays whose first axis is the draws; a plain array says nothing about its axes.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from course_pkg import _guard

DIMENSIONS = ("chain", "draw", "sample")  # ArviZ's names of what is not a point


class Draws(NamedTuple):
    """Draws as one array, with what is needed to bring weights into the same order."""

    values: Any  # (..., S)
    axes: tuple[int, ...]  # where the draws were
    dims: tuple = ()  # names of the dimensions as they were given, where they had names

    def arranged(self, name: str, given):
        """Weights of the draws with these last, from the order of the draws as they were given, ``(S,)`` or one for each number."""
        if hasattr(given, "dims"):
            if not set(given.dims) <= set(self.dims):
                raise ValueError(f"{name} has the dimensions {given.dims} and the draws {self.dims or 'no names'}; give the same names")
            given = given.transpose(*(word for word in self.dims if word in given.dims)).values
        given = _guard.floats(name, given)
        if self.axes == (-1,) or given.ndim not in (len(self.axes), self.values.ndim - 1 + len(self.axes)):
            return given
        if given.ndim > len(self.axes):
            return _moved(given, self.axes)
        return given.transpose(np.argsort(np.argsort(self.axes))).reshape(-1)  # from the order in the array to that of the axes

    def weights(self, given):
        """Weights arranged, checked and divided by their sum; None where none are given."""
        if given is None:
            return None
        return _guard.weights("weights", self.arranged("weights", given), self.values.shape, partial(self.hint, of_weights=True))

    def hint(self, shape, *, of_weights: bool = False) -> str:
        """Which other axis would make decisions (or weights) of ``shape`` fit, in words."""
        whole = self.values.shape
        candidates = [(k,) for k in range(len(whole) - 1)] + ([(0, 1)] if len(whole) > 2 else [])
        for axes in candidates if self.axes == (-1,) else []:
            taken = tuple(whole[k] for k in axes)
            rest = tuple(n for k, n in enumerate(whole) if k not in axes)
            if tuple(shape) in ((taken, (int(np.prod(taken)),)) if of_weights else (rest,)):
                return f"; draws has shape {whole}: it would fit with axis={axes[0] if len(axes) == 1 else axes} for the axis of the draws"
        return ""


def read(name: str, given, axis=None, *, variable: str | None = None, group: str = "posterior_predictive") -> Draws:
    """The draws of an engine with those axes last, flattened into one, that are draws and not points.

    Args:
        name: of the argument, for messages.
        given: a plain array; an xarray ``DataArray``, whose dimensions ``chain``, ``draw`` and ``sample`` are the draws; a ``DataTree`` or
            ``Dataset`` with one such variable; or a dictionary with one array, draws first, as NumPyro's ``Predictive`` returns it.
        axis: of the draws in an array without names, an integer or several; where it is not given the last, and the first in a dictionary.
        variable: which one, where there are several.
        group: of a ``DataTree``.

    Raises:
        ValueError: if a group, variable or dimension is not there or not the only one, an axis is out of range, or a number is not finite.

    Example:
        >>> read("draws", {"y": np.zeros((200, 3))}).values.shape, read("draws", np.zeros((4, 50, 3)), axis=(0, 1)).values.shape
        ((3, 200), (3, 200))

    Source: ArviZ, the schema of its groups; NumPyro, ``Predictive``.
    """
    if hasattr(given, "children") or hasattr(given, "data_vars"):
        given = _group(name, given, group)
        given = given[_choice(name, list(given.data_vars), variable)]
    elif isinstance(given, Mapping):
        given, axis = given[_choice(name, list(given), variable)], 0 if axis is None else axis
    if hasattr(given, "dims") and axis is None:
        axes = _by_name(name, given)
        return Draws(_moved(_guard.numbers(name, given.values, at_least=1), axes), axes, tuple(given.dims))
    if any(word in getattr(given, "dims", ()) for word in DIMENSIONS):
        raise ValueError(f"axis is {axis!r} and the dimensions of {name} have names {given.dims}, which say it; leave axis out")
    values = _guard.numbers(name, getattr(given, "values", given) if hasattr(given, "dims") else given, at_least=1)
    axes = (-1,) if axis is None else _axes(name, axis, values.ndim)
    return Draws(values if axes == (-1,) else _moved(values, axes), axes)


def _group(name, tree, group):
    if not hasattr(tree, "children") or (tree.data_vars and not tree.children):
        return tree  # a data set, or a group that has been taken out already
    if group not in tree.children:
        there = ", ".join(tree.children) or "none"
        raise ValueError(
            f"{name} has no group {group!r} (groups: {there}); draw it first, with pymc.sample_posterior_predictive or "
            "numpyro.infer.Predictive, and add it to the DataTree; or give the array itself, such as tree['posterior']['theta']"
        )
    return tree[group]


def _choice(name, there, variable):
    if variable is None and len(there) != 1:
        raise ValueError(
            f"{name} holds {len(there)} variables ({', '.join(map(str, there))}); name one, where there is variable=, or give its array"
        )
    if variable is not None and variable not in there:
        raise ValueError(f"variable is {variable!r}, and {name} holds {', '.join(map(str, there))}; give one of these")
    return there[0] if variable is None else variable


def _by_name(name, array) -> tuple[int, ...]:
    axes = tuple(array.dims.index(word) for word in DIMENSIONS if word in array.dims)
    if not axes:
        raise ValueError(f"{name} has the dimensions {array.dims}; one of them must be draw or sample, or axis must say which it is")
    return axes


def _axes(name, axis, ndim) -> tuple[int, ...]:
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    whole = all(isinstance(a, int | np.integer) and not isinstance(a, bool) and -ndim <= a < ndim for a in axes)
    if not axes or not whole or len({a % ndim for a in axes}) < len(axes):
        raise ValueError(f"axis is {axis!r} and {name} has {ndim} dimension(s); give the axis of the draws, or (0, 1) for chain and draw")
    return tuple(sorted(int(a) % ndim for a in axes))


def _moved(values, axes):
    values = jnp.moveaxis(values, axes, range(-len(axes), 0))
    return values.reshape(*values.shape[: values.ndim - len(axes)], -1)
