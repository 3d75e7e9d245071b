r"""Data that outgrow one memory or one machine.

`minibatches` reads rows of a table from a file that was mapped into memory, a few at each step. `fit_stream` is `fit` on such minibatches,
or on those of any iterator; it keeps checkpoints, and a run that was killed goes on from the last to the same digits. `shard` lays the rows
of a table on many devices, whose share of the sum over rows JAX then computes where it lies; `fit` and `calibrate` do not change.
"""

import hashlib
import itertools
import os
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import PRNGKeyArray
from tqdm import tqdm

from course_pkg import _guard, convergence, families
from course_pkg import fit as fitting
from course_pkg.convergence import BATCHES, ConvergenceWarning
from course_pkg.fit import SETTINGS, Carry, Fit, NotFiniteError, Settings
from course_pkg.gradients import Estimator, Minibatch, no_state, take
from course_pkg.models.reading import DEFAULT, Reading, check_parts, map_rows, row_count

BLOCK = 100  # minibatches in a compiled call
HELD = 2**24  # numbers of data held at once, at most, and as many that are read meanwhile


class Checkpoint(NamedTuple):
    """Where `fit_stream` keeps what it needs to go on.

    Example:
        >>> Checkpoint("run.npz").every
        1000
    """

    file: str | Path  # written anew at each checkpoint, whole or not at all
    every: int = 1000  # steps


def minibatches(key: PRNGKeyArray, data, size: int, *, neighbours: bool = False, reading: Reading = DEFAULT) -> Callable:
    r"""Minibatches of ``size`` rows of a table, drawn afresh at each step: of their likelihood, scaled, the mean is that of all rows.

    Which rows a step takes depends on the key and the number of the step alone, so that reading can begin at any step.

    Args:
        key: random key; the same key gives the same rows.
        data: arrays of NumPy in the model's own structure, most often from ``np.load(file, mmap_mode="r")``. Only rows that are asked for
            are read.
        size: rows in a minibatch, at least 1.
        neighbours: take ``size`` rows that lie side by side, from a place drawn at random and beyond the end on from the beginning. That
            is fast from a disc, and no noisier if the rows were shuffled once; rows sorted by anything make it noisy. Otherwise each row
            is drawn by itself, with replacement, as by `gradients.minibatch`.
        reading: ``model.reading``, where not all arrays have an entry for each row; the others go with every minibatch, whole.

    Returns:
        A function of the number of the first step, which gives an endless iterator over `Minibatch`.

    Raises:
        ValueError: if ``size`` is out of range, or arrays of rows differ in length.

    Example:
        >>> from course_pkg import models
        >>> data = models.Rows(np.ones((10, 2)), np.arange(10.0))
        >>> batch = next(minibatches(jax.random.key(0), data, 4)(0))
        >>> batch.rows.x.shape, batch.scale
        ((4, 2), 2.5)

    Source: notes, section 5.3.1, as mended by errata N12 and T22.
    """
    size, n = _guard.count("size", size), row_count(data, reading)
    neighbours = _guard.switch("neighbours", neighbours)
    if neighbours and size > n:
        raise ValueError(f"size is {size}, and there are {n} rows that can be neighbours; give at most as many")
    seed = np.asarray(jax.random.key_data(_guard.key(key))).tolist()

    def index(step):
        rng = np.random.default_rng([*seed, step])
        return (rng.integers(n) + np.arange(size)) % n if neighbours else rng.integers(n, size=size)

    def begin(first: int) -> Iterator[Minibatch]:
        return (take(data, index(step), reading) for step in itertools.count(first))

    return begin


def fit_stream(
    key: PRNGKeyArray,
    estimator: Estimator,
    optimizer: optax.GradientTransformation,
    lam,
    batches: Callable | Iterable,
    steps: int,
    settings: Settings = SETTINGS,
    *,
    checkpoint: Checkpoint | None = None,
) -> Fit:
    r"""`fit` on minibatches that come one after another, each step on the next: of the data only a block of minibatches is held.

    While the device computes with one block the next is read. With a checkpoint a run that was killed, called again with the same
    arguments, goes on from the last that was kept. Then the result has the same digits as that of a run that was never killed.

    Args:
        key: random key of the draws; the rows are drawn by whoever makes the minibatches.
        estimator: any that takes a `Minibatch` for its data: those of `gradients`, and `lcvi.calibrated`. Not those that look up what they
            remember of each row, such as `is_gradients.sag`.
        optimizer: as for `fit`.
        lam: starting point, a pytree of arrays.
        batches: a function of the number of a step that gives an iterator over `Minibatch` from there, as `minibatches` does; or an
            iterable, of which a run that goes on reads again and skips what it has had. All of the same shapes.
        steps: how many, at least 1.
        settings: as for `fit`; all but the stopping rule.
        checkpoint: where to keep what is needed to go on.

    Returns:
        `Fit`, with the trace of the whole run.

    Warns:
        ConvergenceWarning: as `fit` does.

    Raises:
        NotFiniteError: as `fit` does.
        ValueError: if a checkpoint belongs to another run: by key, start, steps or settings, by shapes, or by the last minibatch that it
            had. Whether estimator and optimiser are the same cannot be told. Also if the minibatches end too early, differ in shape, or
            are something else, or the likelihood is no sum over rows.

    Example:
        >>> from course_pkg import gradients, models
        >>> from course_pkg.fit import QUIET
        >>> family, model = families.mean_field_normal(), models.linear_regression(1, noise_sd=1.0, prior_sd=10.0)
        >>> data = models.Rows(np.ones((1000, 1)), np.full(1000, 3.0))
        >>> estimator = gradients.reparameterized(model, family, samples=5)
        >>> batches = minibatches(jax.random.key(1), data, 50)
        >>> run = fit_stream(jax.random.key(0), estimator, optax.adam(0.05), family.init(1), batches, 500, QUIET)
        >>> bool(abs(run.lam.mu[0] - 3.0) < 0.05)
        True

    Source: thesis, Algorithm 2.
    """
    steps = _guard.count("steps", steps)
    fitting._check(key, estimator, optimizer, None)
    average, tolerance, _, progress, judge, label = fitting._checked(settings)
    if tolerance is not None:
        raise ValueError(f"tolerance is {tolerance:g}, and a stream takes all its steps; leave it out")
    every = steps if checkpoint is None else _guard.count("every", checkpoint.every)
    lam = jax.tree.map(fitting._parameter, lam)
    flat, unravel = ravel_pytree(lam)
    if flat.size == 0:
        raise ValueError("lam holds no number; give a pytree with at least one parameter")

    file = None if checkpoint is None else Path(checkpoint.file)
    kept = None if file is None else _read(file)
    done = 0 if kept is None else int(kept["done"])
    reader = _reader(batches, max(done - 1, 0))
    first = _next(reader, 1, done)[0]
    if estimator.model is not None:
        check_parts(estimator.model, first.rows)
    init_key, key = jax.random.split(key)
    slopes = jnp.zeros((BATCHES, flat.size)) if isinstance(lam, families.Diagonal | families.Triangular) else None
    carry = Carry(flat, optimizer.init(flat), (estimator.init(init_key, lam, first), jnp.array(0)), jnp.zeros_like(flat), slopes)
    length = fitting._block_length(estimator, key, lam, first, steps, False)
    length = min(length, BLOCK, max(1, HELD // _numbers(first)), every)
    run = _name(key, flat, steps, average, length, carry, first)
    objective: list = []
    if kept is None:
        reader = itertools.chain([first], reader)
    else:
        carry = _restored(kept, run, first, carry, file)
        objective = [kept["objective"]]

    step = partial(fitting._block, _streamed(estimator), optimizer, None, fitting._structure(lam))
    first_averaged = steps - int(np.ceil(average * steps))
    judged = fitting._batches(steps - steps // 4, steps // 4)
    marks, saved, recorded = (first_averaged, *judged), done, [None] * len(objective)
    read = lambda begun: _next(reader, min(length, steps - begun), begun)
    block = read(done)
    with tqdm(desc=label, total=steps, initial=done, disable=not progress, unit="step", unit_scale=True) as bar:
        while done < steps:
            data, count = _stacked(block), len(block)
            carry = carry._replace(estimator=(carry.estimator[0], jnp.array(0)))
            last_good, last = carry, block[-1]
            carry, (values, _) = step(count, average > 0, key, done, marks, carry, data)
            objective.append(values)
            recorded.append(None)
            done += count
            block = read(done)  # while the device computes
            if not bool(jnp.isfinite(carry.flat).all()):
                _raise(step, key, done - count, count, marks, last_good, data, unravel, objective, recorded, average)
            if file is not None and (done - saved >= every or done == steps):
                objective, recorded, saved = [np.concatenate([np.asarray(part) for part in objective])], [None], done
                _write(file, run, done, objective[0], last, carry)
            bar.update(count)
    result = fitting._finish(carry, unravel, objective, recorded, average, done - first_averaged)._replace(state=carry.estimator[0])
    result = fitting._judged(result, carry.slopes, judged[1], unravel)
    if judge and (doubt := convergence.doubt(result.objective) or fitting._doubt(result.promised)):
        warnings.warn(f"{doubt} (or Settings(judge=False), if the run is to be cut short)", ConvergenceWarning, stacklevel=2)
    return result


def shard(data, mesh: Mesh, reading: Reading = DEFAULT):
    """The data with their rows laid on the devices of a mesh, in equal parts; what has no rows lies whole on each.

    Hand them to `fit` or `calibrate` as they are: JAX computes with each part where it lies and sums over devices. With several processes
    (``jax.distributed.initialize``) each calls this with the same arrays, or with the same mapped file, of which it reads its own part.

    Args:
        data: arrays in the model's own structure, of NumPy or mapped from a file.
        mesh: devices, of one axis, such as ``jax.make_mesh((jax.device_count(),), ("rows",))``.
        reading: ``model.reading``, where not all arrays have an entry for each row.

    Raises:
        ValueError: if the mesh has more than one axis, or the rows cannot be parted equally: a likelihood has no row to fill up with.

    Example:
        >>> from course_pkg import models
        >>> mesh = jax.make_mesh((1,), ("rows",))
        >>> shard(models.Rows(np.ones((4, 2)), np.zeros(4)), mesh).x.addressable_shards[0].data.shape  # what lies on the first device
        (4, 2)
    """
    if len(mesh.axis_names) != 1:
        raise ValueError(f"mesh has the axes {mesh.axis_names}; give one axis, over which the rows are parted")
    n, parts = row_count(data, reading), mesh.devices.size
    if n % parts:
        raise ValueError(f"data has {n} rows for {parts} devices; leave out {n % parts}, or take a mesh of fewer devices")

    mesh = Mesh(mesh.devices, mesh.axis_names)  # of axes that JAX follows by itself: make_mesh's own ask the model to say where sums go

    def put(leaf, spec):
        leaf = leaf if isinstance(leaf, np.ndarray) else np.asarray(leaf)
        dtype = jax.dtypes.canonicalize_dtype(leaf.dtype)
        return jax.make_array_from_callback(leaf.shape, NamedSharding(mesh, spec), lambda part: np.asarray(leaf[part], dtype))

    laid = map_rows(partial(put, spec=PartitionSpec(mesh.axis_names[0])), data, reading)
    return jax.tree.map(
        lambda leaf: leaf if isinstance(getattr(leaf, "sharding", None), NamedSharding) else put(leaf, PartitionSpec()), laid
    )


@lru_cache(maxsize=16)  # one object for each estimator: with another the same steps would compile again
def _streamed(estimator: Estimator) -> Estimator:
    """The estimator on a block of minibatches, of which each step takes the next: its state counts them."""

    def draw(key, lam, data):
        return estimator.draw(key, lam, _at(data, 0))

    def estimate(noise, lam, state, data):
        inner, place = state
        found, inner = estimator.estimate(noise, lam, inner, _at(data, place))
        return found, (inner, place + 1)

    return Estimator(no_state, draw, estimate, estimator.model)


def _at(block, place):
    return jax.tree.map(lambda part: part[place], block)


def _stacked(block):
    return jax.tree.map(lambda *parts: jnp.asarray(np.stack(parts)), *block)


def _numbers(batch) -> int:
    return sum(int(np.size(leaf)) for leaf in jax.tree.leaves(batch))


def _reader(batches, first: int) -> Iterator:
    if callable(batches):
        return iter(batches(first))
    if not isinstance(batches, Iterable):
        raise ValueError(f"batches is {batches!r}; give an iterable of Minibatch, or what minibatches(key, data, size) returns")
    return itertools.islice(batches, first, None)


def _next(reader, count: int, done: int) -> list:
    block = list(itertools.islice(reader, count))
    if len(block) < count:
        raise ValueError(f"batches ended after {done + len(block)}; give one for each step, over and over again if need be")
    for batch in block:
        if not isinstance(batch, Minibatch):
            raise ValueError(f"batches holds {type(batch).__name__}; give gradients.Minibatch(rows, index, scale)")
        if (shapes := _shapes(batch)) != _shapes(block[0]):
            raise ValueError(f"batches holds {shapes} beside {_shapes(block[0])}; give all the same shapes")
    return block


def _shapes(tree) -> list:
    return [(np.shape(leaf), str(getattr(leaf, "dtype", type(leaf).__name__))) for leaf in jax.tree.leaves(tree)]


def _digest(tree) -> str:
    digest = hashlib.sha256()
    for leaf in jax.tree.leaves(tree):
        digest.update(np.ascontiguousarray(leaf).tobytes())
    return digest.hexdigest()


def _name(key, flat, steps, average, length, carry, batch) -> str:
    """What two runs must share for one to go on where the other stopped."""
    key = np.asarray(jax.random.key_data(key)).tolist()
    return repr((key, _digest(flat), steps, average, length, _shapes(carry), _shapes(batch)))


def _write(file, run, done, objective, last, carry):
    """To a file beside it first: a run that is killed while it writes leaves the checkpoint before."""
    leaves = {f"carry{i}": _plain(leaf) for i, leaf in enumerate(jax.tree.leaves(carry))}
    beside = Path(f"{file}.part")
    with beside.open("wb") as out:
        np.savez(out, run=np.array(run), done=done, objective=objective, last=np.array(_digest(last)), **leaves)
        out.flush()
        os.fsync(out.fileno())
    beside.replace(file)


def _read(file) -> dict[str, Any] | None:
    if not file.exists():
        return None
    try:
        with np.load(file) as kept:
            return {**kept, "done": int(kept["done"])}
    except (KeyError, ValueError, OSError, zipfile.BadZipFile) as problem:
        raise ValueError(f"checkpoint {file} is none of a fit ({problem}); give another file, or delete it to begin anew") from problem


def _restored(kept, run, first, carry, file):
    if str(kept["run"]) != run:
        raise ValueError(f"checkpoint {file} belongs to another run (key, start, steps, settings or shapes); delete it to begin anew")
    if str(kept["last"]) != _digest(first):
        raise ValueError(f"checkpoint {file} was made with other minibatches; give the same, or delete it to begin anew")
    leaves, tree = jax.tree.flatten(carry)
    return jax.tree.unflatten(tree, [_as_it_was(kept[f"carry{i}"], leaf) for i, leaf in enumerate(leaves)])


def _is_key(leaf) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _plain(leaf):
    return np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)


def _as_it_was(value, leaf):
    return jax.random.wrap_key_data(jnp.asarray(value), impl=jax.random.key_impl(leaf)) if _is_key(leaf) else jnp.asarray(value)


def _raise(*where):
    try:
        fitting._raise_not_finite(*where)
    except NotFiniteError as error:
        error.fit = error.fit._replace(state=error.fit.state[0])
        raise
