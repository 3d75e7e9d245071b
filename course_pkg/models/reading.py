"""How the data of a model are to be read: one contract for minibatches, held-out rows, calibration and prediction."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import checkify
from jaxtyping import Array, Float

from course_pkg import _guard


class Rows(NamedTuple):
    """Covariates and outcomes, one row for each unit."""

    x: Float[Array, "n d"]
    y: Float[Array, " n"]


def whole(data):
    """The data as they are."""
    return data


def nothing(data):  # noqa: ARG001
    """Where nothing is known of the data."""
    return


def x_of_rows(data):
    """``data.x`` where the data are `Rows`, else the data as they are."""
    return data.x if isinstance(data, Rows) else data


def y_of_rows(data):
    """``data.y`` where the data are `Rows`; else nothing is known."""
    return data.y if isinstance(data, Rows) else None


class Reading(NamedTuple):
    """What each part of a model's data is, and what is known of its outcome.

    The default is that of a regression: every array has an entry for each row; of `Rows`, ``predict`` wants the ``x`` and the ``y`` was
    seen; of other data, ``predict`` wants all and no outcome is known. A model that reads its data otherwise says so, here or by `read_as`.
    The last fields belong to the model's ``predict``: who replaces that replaces them too.
    """

    rows: tuple[str, ...] | None = None  # arrays with an entry for each row, by name; None for all with an axis. The others are left whole
    covariates: Callable = x_of_rows  # data -> what predict wants of them
    outcome: Callable = y_of_rows  # data -> what was seen, in the shape of what predict draws; None where nothing says
    mask: Callable | None = None  # data -> True where an outcome counts, in its shape, or None for all
    moments: Callable | None = None  # theta, covariates -> (mean, sd) of an outcome that is normal given theta
    log_prob: Callable | None = None  # theta, covariates, y in the shape of a draw -> log probability (or density) of each entry of y
    values: tuple[int, int | None] | None = None  # least and greatest of a discrete outcome's whole numbers; None for no greatest
    no_gradient: str = ""  # why predict cannot be differentiated in theta, and what to do instead
    no_parts: str = ""  # why the data cannot be taken in parts
    doubt: str = ""  # why what was seen may be something else than what predict draws


DEFAULT = Reading()
FEW = 50  # rows among which a term that is counted once is not lost in rounding


def row_count(data, reading: Reading = DEFAULT) -> int:
    """How many rows the data have.

    Raises:
        ValueError: if no array has rows, two differ in length, or a name of ``reading.rows`` is not among the data.

    Example:
        >>> row_count(Rows(jnp.ones((3, 2)), jnp.ones(3)))
        3
        >>> row_count({"y": jnp.ones(400), "uranium": jnp.ones(8)})
        Traceback (most recent call last):
        ...
        ValueError: data has 8 entries in uranium, 400 entries in y; say which have an entry for each row: models.read_as(model, rows=(...))
        >>> row_count({"y": jnp.ones(400), "uranium": jnp.ones(8)}, Reading(rows=("y",)))
        400
    """
    if reading.no_parts:
        raise ValueError(reading.no_parts)
    named = {_name(path): leaf for path, leaf in jax.tree_util.tree_leaves_with_path(data) if _has_rows(path, leaf, reading)}
    missing = set(reading.rows or ()) - {_top(path) for path, _ in jax.tree_util.tree_leaves_with_path(data)}
    if missing:
        raise ValueError(f"data has no {min(missing)!r}, which the model's reading calls an array of rows; pass it, or use models.read_as")
    if not named:
        raise ValueError("data has no array with an entry for each row; pass the outcome and its covariates as data")
    lengths = {name: jnp.shape(leaf)[0] for name, leaf in named.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{n} entries in {name}" for name, n in lengths.items())
        raise ValueError(f"data has {listed}; say which have an entry for each row: models.read_as(model, rows=(...))")
    first, n = next(iter(lengths.items()))
    if n == 0:
        raise ValueError(f"data is empty: {first} has no entry; give at least one row")
    return n


def map_rows(function: Callable, data, reading: Reading = DEFAULT):
    """The data with ``function`` applied to the arrays that have an entry for each row; the others are left whole.

    Example:
        >>> data = {"y": jnp.arange(4), "uranium": jnp.ones(2)}
        >>> map_rows(lambda rows: rows[1:3], data, Reading(rows=("y",)))["y"].tolist()
        [1, 2]
    """
    return jax.tree_util.tree_map_with_path(lambda path, leaf: function(leaf) if _has_rows(path, leaf, reading) else leaf, data)


def check_parts(model, data) -> None:
    """Raise unless the log likelihoods of the first row and of the others add up to that of all: what a minibatch of the data stands on.

    It is looked at once, at a point near the origin, before the first step; data that JAX is tracing have no values to look at.

    Args:
        model: a `Model`.
        data: what its likelihood takes.

    Raises:
        ValueError: if the rows cannot be told, an unknown has an entry for each row, or the likelihood is no sum over rows.
    """
    n = row_count(data, model.reading)
    if n == 1 or any(_guard.traced(leaf) for leaf in jax.tree.leaves(data)):
        return
    with jax.ensure_compile_time_eval():  # also where an estimator is made ready inside a compiled function
        _check_sum(model, data, n)
        if n > FEW:
            _check_sum(model, map_rows(lambda a: a[:FEW], data, model.reading), FEW)


def _check_sum(model, data, n):
    """One row against the others, since one would be stretched in silence over whatever is as long as all rows."""
    theta = 0.5 * jax.random.normal(jax.random.key(0), (model.dim,))
    total = float(model.log_likelihood(theta, data))
    try:
        parts = [map_rows(lambda a, part=part: a[part], data, model.reading) for part in (slice(0, 1), slice(1, n))]
        one, others = (float(model.log_likelihood(theta, part)) for part in parts)
    except (TypeError, ValueError, IndexError, RuntimeError) as problem:  # the last: NumPyro's scan
        why = _why(model, n) or _tied(model, data) or str(problem).split("\n", 1)[0]
        raise ValueError(f"data cannot be taken in parts: {why}") from problem
    apart = abs(one + others - total)
    if np.isfinite(apart) and apart > (1e-4 if n <= FEW else 1e-3) * max(1.0, abs(one), abs(others)):
        why = _why(model, n) or (
            "the likelihood is no sum over rows, or an array was taken for rows that is none (models.read_as says which are)"
        )
        sums = f"one row and the others have log likelihoods {one:g} and {others:g}, all {total:g}"
        raise ValueError(f"data cannot be taken in parts: {sums}; {why}")


def _tied(model, data) -> str:
    """What the model says of other rows, if it belongs to its own."""
    try:
        model.reading.covariates(map_rows(lambda a: a[:1], data, model.reading))
    except ValueError as problem:
        return str(problem)
    return ""


def _why(model, n) -> str:
    names = own_unknowns(model, n)
    return f"there are {n} rows, and {names} has {n} entries: an unknown for each row; use all rows at each step" if names else ""


def own_unknowns(model, n: int) -> str:
    """Names of the unknowns that have an entry for each of n rows, in one line; empty where there are none."""
    if model.constrain is None or model.dim < n - 1:  # then they are made from others; the one less is of unknowns that sum to zero
        return ""
    shapes = jax.eval_shape(model.constrain, jax.ShapeDtypeStruct((model.dim,), jnp.result_type(float)))
    return ", ".join(name for name, value in shapes.items() if value.shape[:1] == (n,))


FAR = 1_000_000  # more than an array of unknowns has entries


def beyond(model, covariates) -> str:
    """Where ``predict`` looks beyond an array's ends for these covariates (JAX takes another entry in silence); empty if nowhere."""
    seen = _seen(model, covariates)
    whole = [leaf for leaf in (np.asarray(leaf) for leaf in jax.tree.leaves(covariates) if leaf is not seen) if _counts(leaf)]
    if not whole:
        return ""  # no whole number to look anything up by
    if words := _outside(model, covariates):
        return words
    # -1 is what pandas calls a category that it does not know; were it further off, would it be missed?
    negative = any((leaf < 0).any() for leaf in whole) and _outside(model, jax.tree.map(_far, covariates))
    return "a negative index, which counts from the end" if negative else ""


def _seen(model, covariates):
    """The outcome among them, of which ``predict`` looks at the number alone; None where there is none."""
    try:
        return model.reading.outcome(covariates)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def _outside(model, covariates) -> str:
    draw = checkify.checkify(lambda theta: model.predict(jax.random.key(0), theta, covariates), errors=checkify.index_checks)
    try:
        words = draw(jnp.zeros(model.dim))[0].get() or ""
    except Exception:  # JAX's checker cannot follow every draw, a multinomial's for one; what predict itself cannot do it says itself
        return ""
    return words.split(": ", 1)[-1].split("\n", 1)[0].strip(" .")


def _counts(leaf) -> bool:
    """Whether an array may say which entry of another: whole numbers, as floats too if they are more than a yes or no."""
    if leaf.dtype.kind != "f":
        return leaf.dtype.kind in "iu"
    return leaf.size > 0 and bool((leaf == np.floor(leaf)).all()) and bool(leaf.max() > 1)


def _far(leaf):
    leaf = np.asarray(leaf)
    if leaf.dtype.kind == "u" or not _counts(leaf):
        return leaf
    return np.where(leaf < 0, leaf.dtype.type(FAR if leaf.dtype.kind == "f" else min(FAR, np.iinfo(leaf.dtype).max)), leaf)


def check_indices(name: str, model, covariates, own) -> None:
    """Raise if these covariates ask for a group that was not fitted: beyond the end of an array, or by another number of groups.

    Raises:
        ValueError: if they do and the model's own do not; the message names the index or the array, and the mend.
    """
    for key in sorted(set(own) & set(covariates) - set(model.reading.rows or own)) if isinstance(own, dict) else ():
        was, now = np.shape(own[key])[:1], np.shape(covariates[key])[:1]
        if was != now and was and now and (names := own_unknowns(model, was[0])):
            raise ValueError(
                f"{name} has another number of entries in {key}, {now[0]} for {was[0]}, and {names} has one for each that was fitted; give "
                f"{key} as the data have it, and let the rows count in it"
            )
    if (words := beyond(model, covariates)) and not beyond(model, own):
        raise ValueError(
            f"{name} asks for what was not fitted, such as a new group: {words}; leave such rows out, or make room when fitting (in "
            "numpyro.plate, in shape=), where an unknown without rows keeps its prior"
        )


def _has_rows(path, leaf, reading) -> bool:
    return jnp.ndim(leaf) > 0 and (reading.rows is None or _top(path) in reading.rows)


def _top(path) -> str:
    return _plain(path[0]) if path else ""


def _name(path) -> str:
    return ".".join(_plain(key) for key in path) or "data"


def _plain(key: Any) -> str:
    return str(getattr(key, "name", getattr(key, "key", getattr(key, "idx", key))))
