"""Matrix factorisation: a large table as the product of two thin ones."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.tree_util import Partial
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from course_pkg import _guard
from course_pkg.models import priors
from course_pkg.models.model import Model
from course_pkg.models.reading import Reading, whole


class Cells(NamedTuple):
    """Some cells of a table: where they stand, and what they hold."""

    row: Int[Array, " n"]
    column: Int[Array, " n"]
    value: Float[Array, " n"]


class TableRows(NamedTuple):
    """Whole rows of a table, some of whose cells are hidden. Minibatches of it are minibatches of rows."""

    row: Int[Array, " n"]
    value: Float[Array, "n columns"]
    seen: Bool[Array, "n columns"]  # hidden cells do not count, whatever their value


def matrix_factorization(
    rows: int, columns: int, factors: int, *, noise_sd: float = 1.0, row_sd: float = 1.0, column_sd: float = 1.0
) -> Model:
    r"""A table :math:`Y_{ij} \sim N(w_i^\top z_j, \sigma_y^2)` with factors for its rows and its columns.

    The priors are :math:`w_{ik} \sim N(0, \sigma_w^2)` and :math:`z_{jk} \sim N(0, \sigma_z^2)`; the three sigmas are standard deviations
    (errata P02, P04). The unconstrained vector holds the factors of the rows, row by row, then those of the columns. Turning all factors,
    or flipping the sign of one, changes no prediction: the posterior has many equal modes.

    Args:
        rows: of the table.
        columns: of the table.
        factors: :math:`K`.
        noise_sd: :math:`\sigma_y` in the unit of the cells, above 0.
        row_sd: :math:`\sigma_w`, above 0.
        column_sd: :math:`\sigma_z`, above 0.

    Returns:
        A `Model` of `Cells`, or of `TableRows`, which is the faster where few cells are hidden. ``predict(key, theta, covariates)`` takes
        `Cells` (whose values are not looked at), a pair ``(row, column)``, of shape ``()`` or ``(n,)``, or `TableRows`, for whole rows.

    Raises:
        ValueError: if a size is below 1 or a scale is not above 0.

    Example:
        >>> model = matrix_factorization(rows=3, columns=2, factors=1)
        >>> theta = jnp.array([1.0, 2.0, 3.0, 10.0, 20.0])
        >>> cells = Cells(jnp.array([2]), jnp.array([1]), jnp.array([60.0]))
        >>> round(float(model.log_likelihood(theta, cells)), 4)
        -0.9189

    Source: LCVI paper, section 6.2, equation 8, as mended by errata P02 and P04.
    """
    rows, columns, factors = _guard.count("rows", rows), _guard.count("columns", columns), _guard.count("factors", factors)
    noise_sd, row_sd = _guard.positive("noise_sd", noise_sd), _guard.positive("row_sd", row_sd)
    column_sd = _guard.positive("column_sd", column_sd)

    def split(theta):
        return theta[: rows * factors].reshape(rows, factors), theta[rows * factors :].reshape(columns, factors)

    def log_prior(theta):
        w, z = split(theta)
        return priors.log_normal(w, 0.0, jnp.log(row_sd)).sum() + priors.log_normal(z, 0.0, jnp.log(column_sd)).sum()

    def constrain(theta):
        return dict(zip(("rows", "columns"), split(theta), strict=True))

    def moments(theta, covariates):
        return _mean(split, theta, covariates), jnp.asarray(noise_sd)

    log_likelihood, predict = Partial(_likelihood, split, noise_sd), Partial(_predict, split, noise_sd)
    reading = Reading(covariates=whole, outcome=lambda data: data.value, mask=lambda data: getattr(data, "seen", None), moments=moments)
    return Model((rows + columns) * factors, log_prior, log_likelihood, predict, constrain, reading)


def _likelihood(split, noise_sd, theta, data):
    log_density = priors.log_normal(data.value, _mean(split, theta, data), jnp.log(noise_sd))
    if isinstance(data, TableRows):
        return jnp.where(data.seen, log_density, 0.0).sum()
    return log_density.sum()


def _mean(split, theta, covariates):
    w, z = split(theta)
    if isinstance(covariates, TableRows):
        return w[covariates.row] @ z.T
    row, column = covariates[:2]
    return (w[row] * z[column]).sum(axis=-1)


def _predict(split, noise_sd, key: PRNGKeyArray, theta, covariates):
    mean = _mean(split, theta, covariates)
    return mean + noise_sd * jax.random.normal(key, mean.shape, mean.dtype)
