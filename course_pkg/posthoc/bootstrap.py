r"""A prior on decisions from refits: how much would the q-optimal decisions have moved with other data?

Draw rows with replacement, refit the engine, note its q-optimal decisions at the original points; do so L times. The mean and the standard
deviation of each point's decisions make a prior that is narrow where the model is sure of its decision.
"""

import hashlib
import json
import os
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray
from tqdm import tqdm

from course_pkg import _guard
from course_pkg.posthoc.maker import DecisionPrior


class Refits(NamedTuple):
    """How refits are run: one after another and kept nowhere, where nothing is said.

    Args:
        folder: where each finished replicate is kept, so that a second call takes up where the first one ended.
        workers: threads. Engines that compile their loops let go of the interpreter, so threads serve; see ``executor`` for the rest.
        executor: of `concurrent.futures`, in the place of threads; ``ProcessPoolExecutor`` where the refit may be pickled.

    Example:
        >>> Refits(workers=2).executor is None
        True
    """

    folder: str | os.PathLike | None = None
    workers: int = 1
    executor: Executor | None = None


REFITS = Refits()


def bootstrap_prior(
    refit: Callable,
    data,
    n_bootstrap: int,
    *,
    key: PRNGKeyArray | None = None,
    pointwise: bool = True,
    floor: float = 0.0,
    refits: Refits = REFITS,
    progress: bool = True,
) -> DecisionPrior:
    r"""The prior :math:`h_n \sim N(\hat\mu_n, \hat\sigma_n^2)` from the q-optimal decisions of refits on resampled data.

    :math:`\hat\mu_n` is the mean over the refits and :math:`\hat\sigma_n = \sqrt{\frac1{L-1}\sum_l (h_n^l - \hat\mu_n)^2}` the root of the
    unbiased variance: a standard deviation, in the unit of the decisions.

    Args:
        refit: function ``(key, data) -> decisions``: fits the engine to the resampled data and returns its q-optimal decisions at the
            *original* points. For an engine that wants a whole number as its seed, ``int(jax.random.bits(key))`` is one.
        data: arrays or data frames in any nest of tuples, lists and dictionaries, all of the same number of rows, which are resampled
            together.
        n_bootstrap: :math:`L`, at least 2.
        key: random key; key 0 where it is not given. Replicate ``l`` depends on the key and ``l`` alone.
        pointwise: whether each point keeps its own standard deviation; if not, all get the root of the mean variance.
        floor: least standard deviation, in the unit of the decisions, for points where the refits agree to the digit.
        refits: how they are run, in threads or processes, and where they are kept; see `Refits`. From a folder a second call with the same
            key and data takes up where the first one ended. It cannot tell whether ``refit`` has changed in between: empty the folder if it
            has.
        progress: whether to show a bar.

    Returns:
        `DecisionPrior` of the shape of the decisions, with all replicates.

    Raises:
        ValueError: if ``n_bootstrap`` is below 2, the rows differ in number, a refit returns another shape or something not finite, a
            standard deviation is 0, or the folder belongs to another key or other data.

    Example:
        >>> heights = np.array([1.0, 2.0, 3.0, 4.0])
        >>> prior = bootstrap_prior(lambda key, rows: np.full(4, rows.mean()), heights, 400, progress=False)
        >>> bool(abs(prior.sd[0] - heights.std() / 2) < 0.05)  # the standard error of a mean
        True

    Source: thesis, section 4.2.4, as mended by erratum T55.
    """
    n_bootstrap, pointwise, refits = _guard.count("n_bootstrap", n_bootstrap, 2), _guard.switch("pointwise", pointwise), _checked(refits)
    floor = float(_guard.nonnegative("floor", _guard.number("floor", floor)))
    key = jax.random.key(0) if key is None else _guard.key(key)
    leaves, structure = jax.tree.flatten(data, is_leaf=lambda leaf: hasattr(leaf, "iloc"))
    _rows(leaves)
    kept = None if refits.folder is None else _open(refits.folder, key, leaves)
    seeds = [np.asarray(jax.random.key_data(jax.random.fold_in(key, replicate))) for replicate in range(n_bootstrap)]
    done = {k: np.load(_file(kept, k)) for k in range(n_bootstrap) if kept is not None and _file(kept, k).is_file()}
    with tqdm(desc="bootstrap", total=n_bootstrap, initial=len(done), disable=not progress, unit="refit") as bar:
        pool = refits.executor or ThreadPoolExecutor(refits.workers)
        try:
            jobs = {pool.submit(_replicate, refit, seeds[k], leaves, structure): k for k in range(n_bootstrap) if k not in done}
            for job in as_completed(jobs):
                k = jobs[job]
                done[k] = _finite(job.result(), k)
                if kept is not None:
                    _keep(_file(kept, k), done[k])
                bar.update()
        finally:
            if refits.executor is None:
                pool.shutdown(cancel_futures=True)
    shapes = {decisions.shape for decisions in done.values()}
    if len(shapes) > 1:
        raise ValueError(f"refit returned decisions of shapes {sorted(shapes)}; it must decide at the original points, every time")
    return _prior(np.stack([done[k] for k in range(n_bootstrap)]), pointwise, floor)


def _prior(decisions, pointwise, floor) -> DecisionPrior:
    variance = decisions.var(axis=0, ddof=1)
    sd = np.maximum(np.sqrt(variance if pointwise else np.full_like(variance, variance.mean())), floor)
    if not (sd > 0).all():
        raise ValueError(
            f"the refits agree to the digit at {int((sd == 0).sum())} point(s), so their standard deviation is 0; raise n_bootstrap, set "
            "floor, or take pointwise=False"
        )
    return DecisionPrior(jnp.asarray(decisions.mean(axis=0)), jnp.asarray(sd), decisions)


def _replicate(refit, seed, leaves, structure):
    rows_key, refit_key = jax.random.split(jax.random.wrap_key_data(seed))
    n = _rows(leaves)
    index = np.asarray(jax.random.randint(rows_key, (n,), 0, n))
    return refit(refit_key, jax.tree.unflatten(structure, [_take(leaf, index) for leaf in leaves]))


def _take(leaf, index):
    return leaf.iloc[index] if hasattr(leaf, "iloc") else leaf[index]  # a masked array keeps its mask


def _rows(leaves) -> int:
    lengths = {np.shape(leaf)[0] if np.ndim(leaf) else None for leaf in leaves}
    if len(lengths) != 1 or not (n := lengths.pop()):
        raise ValueError("data holds no rows, or arrays of different lengths; give arrays whose first axis numbers the same rows")
    return n


def _checked(refits: Refits) -> Refits:
    if not isinstance(refits, Refits):
        raise ValueError(f'refits is {refits!r}; give a record, such as Refits(workers=2, folder="refits")')
    folder, workers, executor = refits
    if not (folder is None or isinstance(folder, str | os.PathLike)):
        raise ValueError(f"folder is {folder!r}; give the name of a folder, or None to keep nothing")
    if not (executor is None or isinstance(executor, Executor)):
        raise ValueError(f"executor is {executor!r}; give one of concurrent.futures, such as ProcessPoolExecutor(2)")
    return Refits(folder, _guard.count("workers", workers), executor)


def _finite(decisions, replicate) -> np.ndarray:
    return np.asarray(_guard.numbers(f"refit's decisions (replicate {replicate})", decisions, at_least=1))


def _open(folder, key, leaves) -> Path:
    """The folder, once it is known to hold replicates of this key and these data or none."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    for leaf in leaves:
        digest.update(np.ascontiguousarray(leaf).tobytes() if not hasattr(leaf, "iloc") else leaf.to_csv().encode())
    mine = {"key": np.asarray(jax.random.key_data(key)).ravel().tolist(), "data": digest.hexdigest()}
    label = folder / "replicates.json"
    if label.is_file():
        if json.loads(label.read_text()) != mine:
            raise ValueError(f"folder is {folder}, which holds replicates of another key or other data; name another, or empty it")
    else:
        label.write_text(json.dumps(mine))
    return folder


def _file(folder, replicate) -> Path:
    return folder / f"replicate-{replicate:05d}.npy"


def _keep(path: Path, decisions):
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb") as out:
        np.save(out, decisions)
    os.replace(unfinished, path)  # whole or not at all, whenever the run is interrupted
