r"""What the decision maker is told: a few numbers that stand for a predictive distribution.

A posterior predictive comes as draws, from whatever engine made it. Each point's draws are summed up by their mean, their median or a row
of evenly spaced quantiles. Nothing else about the model passes this door.
"""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from course_pkg import _guard
from course_pkg.decisions.draws import read

BLOCK = 2**24  # numbers sorted at a time


def characterize(
    predictive, quantiles=20, *, covariates=None, variable: str | None = None, group: str = "posterior_predictive"
) -> Float[Array, "*points features"]:
    r"""Summarise the predictive distribution of each point.

    A whole number :math:`B` gives the quantiles at the levels :math:`k/(B+1)`, :math:`k = 1, \dots, B`, by linear interpolation between
    the sorted draws, as NumPy does. The decision maker sees these numbers only: two points with the same summary get the same decision.
    Covariates may be appended to tell such points apart; a decision maker may then rely on them and ignore the model.

    Args:
        predictive: draws of shape ``(..., S)``, an ArviZ ``DataTree`` or ``Predictive``'s dictionary (see `predictive_draws`).
        quantiles: how many quantiles (1 or more), a list of levels strictly between 0 and 1, ``"mean"``, ``"median"``, or a function of
            the draws, ``(..., S) -> (...)`` or ``(..., S) -> (..., B)``.
        covariates: shape ``(...)`` or ``(..., d)``, appended to the summary as they are.
        variable: which variable of a ``DataTree``, where there are several.
        group: which group of a ``DataTree``.

    Returns:
        Features of shape ``(..., B)`` or, with covariates, ``(..., B + d)``.

    Raises:
        ValueError: if there are fewer than 2 draws, a number is not finite, a level lies outside (0, 1), the group or variable is not
            there, or the covariates do not fit the points.

    Example:
        >>> draws = np.array([[0.0, 1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 8.0, 8.0]])
        >>> characterize(draws, 3).tolist()
        [[1.0, 2.0, 3.0], [0.0, 0.0, 8.0]]
        >>> characterize(draws, "mean", covariates=np.array([7.0, 9.0])).tolist()
        [[2.0, 7.0], [3.200000047683716, 9.0]]

    Source: thesis, section 4.2.5 and Figure 4.8, with the word of erratum X15; section 4.2.6 for the covariates.
    """
    draws = predictive_draws(predictive, variable=variable, group=group)
    features = _summary(draws, quantiles)
    if covariates is not None:
        features = np.concatenate([features, _columns(covariates, draws.shape[:-1])], axis=-1)
    return jnp.asarray(features, dtype=jnp.result_type(float))


def predictive_draws(predictive, *, variable: str | None = None, group: str = "posterior_predictive", axis=None) -> np.ndarray:
    r"""The draws of an engine as one array of shape ``(..., S)``: points first, draws last.

    Args:
        predictive: an array that already has this shape; or an ArviZ ``DataTree`` (or ``Dataset``, or ``DataArray``) whose variables have
            the dimensions ``chain`` and ``draw``, or ``sample``, in any order; or the dictionary of NumPyro's ``Predictive``, draws first.
        variable: which variable, where there are several.
        group: which group of a ``DataTree``: ``"posterior_predictive"`` for the points that were fitted, ``"predictions"`` for new ones.
        axis: of the draws in a plain array: the last where it is not given, ``0`` for draws first, ``(0, 1)`` for chain and draw. An array
            of as many draws as points fits either way, so only its giver can know.

    Raises:
        ValueError: if the group or variable is not there, there are fewer than 2 draws, or a draw is not finite.

    Example:
        >>> import arviz as az
        >>> tree = az.from_dict({"posterior_predictive": {"y": np.zeros((4, 250, 3))}})  # chain, draw, points
        >>> predictive_draws(tree).shape, predictive_draws({"y": np.zeros((1000, 3))}).shape
        ((3, 1000), (3, 1000))

    Source: ArviZ, the schema of its groups.
    """
    return _several(read("predictive", predictive, axis, variable=variable, group=group))


def draws_and_outcomes(predictive, y, *, axis=None, name="predictive", **where) -> tuple[np.ndarray, np.ndarray]:
    """The draws, shape ``(..., S)``, and one finite outcome for each row of them.

    Raises:
        ValueError: if they do not fit, or a plain array has as many draws as points and ``axis`` does not say which are which.
    """
    found = read(name, predictive, axis, **where)
    draws, y = _several(found, name), np.asarray(_guard.numbers("y", y, at_least=1))
    if y.shape != draws.shape[:-1]:
        ahead = tuple(range(draws.ndim - y.ndim))
        first = f"; the draws come first: give {_axis_word(ahead[0] if len(ahead) == 1 else ahead)}"
        raise ValueError(
            f"y has shape {y.shape}, and the draws are for points of shape {draws.shape[:-1]}; give one outcome for each row of draws"
            f"{first if ahead and y.shape == draws.shape[len(ahead) :] else ''}"
        )
    if y.shape == draws.shape[1:] and found.axes == (-1,):  # the last axis, and by default alone
        raise ValueError(
            f"{name} is an array of shape {draws.shape}, with as many draws as points, and nothing says which axis is which; give "
            f"{_axis_word(-1)} if the draws come last, {_axis_word(0)} if they come first"
        )
    return draws, y


def _axis_word(axis) -> str:
    return f"axis={axis} (to correct, options=Options(axis={axis}))"


def _several(found, name="predictive") -> np.ndarray:
    draws = np.asarray(found.values)
    if draws.shape[-1] < 2:
        raise ValueError(f"{name} has shape {draws.shape}: a single draw for each point; give at least 2, as the last axis")
    return draws


def _summary(draws, quantiles):
    if callable(quantiles):
        return _of_callable(quantiles, draws)
    if isinstance(quantiles, str):
        if quantiles not in ("mean", "median"):
            raise ValueError(f'quantiles is {quantiles!r}; give a number, levels, "mean", "median" or a function of the draws')
        return (draws.mean(axis=-1) if quantiles == "mean" else np.median(draws, axis=-1))[..., None]
    return sorted_quantiles(draws, levels(quantiles))


def levels(quantiles) -> np.ndarray:
    """The levels k / (B + 1) for a number B, or the levels given, checked."""
    if _guard.floats("quantiles", quantiles).ndim == 0:
        count = _guard.count("quantiles", quantiles)
        return np.arange(1, count + 1) / (count + 1)
    given = np.asarray(_guard.numbers("quantiles", quantiles, ndim=1), dtype=float)
    if not ((given > 0) & (given < 1)).all():
        raise ValueError(f"quantiles holds {given[(given <= 0) | (given >= 1)][0]:g}; give levels strictly between 0 and 1")
    return given


def sorted_quantiles(draws, q) -> np.ndarray:
    """Quantiles over the last axis by linear interpolation; sorting once serves all levels."""
    rows = draws.reshape(-1, draws.shape[-1])
    place = q * (rows.shape[1] - 1)
    low = np.floor(place).astype(int)
    share, high = place - low, np.minimum(low + 1, rows.shape[1] - 1)
    out = np.empty((len(rows), len(q)), rows.dtype if rows.dtype.kind == "f" else float)
    step = max(1, BLOCK // rows.shape[1])
    for i in range(0, len(rows), step):
        block = np.sort(rows[i : i + step], axis=-1)
        out[i : i + step] = block[:, low] + share * (block[:, high] - block[:, low])
    return out.reshape(*draws.shape[:-1], len(q))


def _of_callable(summary: Callable, draws):
    given = np.asarray(_guard.numbers("quantiles(draws)", summary(draws)))
    points = draws.shape[:-1]
    if given.shape == points:
        return given[..., None]
    if given.shape[:-1] != points:
        raise ValueError(f"quantiles returned shape {given.shape} for {points} points; give {points} or {points} and a last axis")
    return given


def _columns(covariates, points):
    x = np.asarray(_guard.numbers("covariates", covariates))
    x = x[..., None] if x.shape == points else x
    if x.shape[:-1] != points:
        raise ValueError(f"covariates has shape {x.shape}; give {points}, or {points} and a last axis of covariates")
    return x
