"""The data sets of the course: local first, checked, never silently replaced.

What a library ships is taken from it. Files are looked for in the folder that the variable ``COURSE_DATA`` names, and their checksums are
compared before they are read.
"""

import hashlib
import os
from pathlib import Path
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


class Table(NamedTuple):
    """Covariates and an outcome, with their names and units."""

    x: Float[Array, "n d"]
    y: Float[Array, " n"]
    names: tuple[str, ...]
    unit: str  # of y


def diabetes() -> Table:
    """442 patients: age, sex, body mass, blood pressure and six blood measurements, and how far the disease went in a year.

    The covariates are in their own units. The set ships with scikit-learn, so nothing is downloaded.

    Example:
        >>> table = diabetes()
        >>> table.x.shape, table.names[2], float(table.y.min())
        ((442, 10), 'bmi', 25.0)

    Source: Efron, Hastie, Johnstone and Tibshirani (2004).
    """
    from sklearn.datasets import load_diabetes

    bunch = load_diabetes(scaled=False)
    return Table(jnp.asarray(bunch.data), jnp.asarray(bunch.target), tuple(bunch.feature_names), "disease progression score")


def local(name: str, sha256: str) -> Path | None:
    """The file ``name`` in the folder that ``COURSE_DATA`` names, or None where there is no such folder or file.

    Raises:
        ValueError: if the file is there and its checksum is not ``sha256``.
    """
    folder = os.environ.get("COURSE_DATA")
    path = Path(folder) / name if folder else None
    if path is None or not path.is_file():
        return None
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != sha256:
        raise ValueError(f"{path} has checksum {found[:12]}..., not {sha256[:12]}...; replace it, or unset COURSE_DATA")
    return path


def standardised(x):
    """Each column of ``x`` with mean 0 and standard deviation 1, together with the means and deviations it had.

    Raises:
        ValueError: if a column does not vary.

    Example:
        >>> z, mean, sd = standardised(np.array([[1.0], [3.0]]))
        >>> z.ravel().tolist(), mean.tolist(), sd.tolist()
        ([-1.0, 1.0], [2.0], [1.0])
    """
    x = np.asarray(x, dtype=float)
    mean, sd = x.mean(axis=0), x.std(axis=0)
    if (sd == 0).any():
        raise ValueError(f"column {int(np.flatnonzero(sd == 0)[0])} of x is constant; drop it, an intercept says the same")
    return jnp.asarray((x - mean) / sd), jnp.asarray(mean), jnp.asarray(sd)
