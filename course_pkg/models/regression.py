"""Linear and polynomial regression with known noise: models whose posterior is known exactly."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.tree_util import Partial
from jaxtyping import Array, Float, PRNGKeyArray

from course_pkg import _guard
from course_pkg.models import priors
from course_pkg.models.model import Model
from course_pkg.models.reading import Reading, Rows


class Gaussian(NamedTuple):
    """A multivariate normal distribution."""

    mean: Float[Array, " d"]
    covariance: Float[Array, "d d"]


def linear_regression(dim: int, noise_sd: float, prior_sd) -> Model:
    r"""Linear regression :math:`y \sim N(x^\top \theta, \sigma^2)` with known noise and prior :math:`\theta_j \sim N(0, \sigma_{0j}^2)`.

    Args:
        dim: number of weights; an intercept is a column of ones in ``x``.
        noise_sd: :math:`\sigma`, in the unit of ``y``, above 0.
        prior_sd: :math:`\sigma_0`, one number or one for each weight, above 0; ``inf`` leaves a weight free (a flat prior, density 1).

    Returns:
        A `Model` of `Rows`; ``predict(key, theta, x)`` takes one row ``(d,)`` or several ``(n, d)`` and draws as many outcomes.

    Raises:
        ValueError: if a scale is not above 0, or there are neither one nor ``dim`` prior scales.

    Source: notes, chapter 1 (a heading only); thesis, section 4.1.7.
    """
    dim = _guard.count("dim", dim)
    noise_sd = _guard.positive("noise_sd", noise_sd)
    prior_sd = priors.scales(prior_sd, dim)

    def constrain(theta):
        return {"theta": theta}

    log_prior, log_likelihood = Partial(priors.flat_or_normal, prior_sd), Partial(_regression_likelihood, noise_sd)
    reading = Reading(moments=lambda theta, x: (x @ theta, jnp.asarray(noise_sd)))
    return Model(dim, log_prior, log_likelihood, Partial(_predict_row, noise_sd), constrain, reading)


def regression_posterior(data: Rows, noise_sd: float, prior_sd) -> Gaussian:
    r"""Exact posterior of `linear_regression`: precision :math:`X^\top X/\sigma^2 + \operatorname{diag}(1/\sigma_0^2)`.

    Its mean is the ridge estimate with penalty :math:`\sigma^2/\sigma_0^2`.

    Args:
        data: `Rows` with ``x`` of shape ``(n, d)`` and ``y`` of shape ``(n,)``.
        noise_sd: as in `linear_regression`.
        prior_sd: as in `linear_regression`.

    Raises:
        ValueError: for bad scales or data, or if flat priors leave the posterior improper.

    Example:
        >>> data = Rows(jnp.array([[1.0], [1.0], [1.0]]), jnp.array([1.0, 2.0, 5.0]))
        >>> posterior = regression_posterior(data, noise_sd=1.0, prior_sd=1.0)
        >>> posterior.mean.tolist(), round(float(posterior.covariance[0, 0]), 4)
        ([2.0], 0.25)

    Source: notes, chapter 1 (a heading only).
    """
    x, y = _rows(data)
    noise_sd = _guard.positive("noise_sd", noise_sd)
    precision = x.T @ x / noise_sd**2 + jnp.diag(priors.scales(prior_sd, x.shape[1]) ** -2.0)
    factor = jnp.linalg.cholesky(precision)
    if not _guard.traced(factor) and not bool(jnp.isfinite(factor).all()):
        raise ValueError("prior_sd leaves the posterior improper: the columns of x are dependent; give a finite prior_sd")
    mean = jax.scipy.linalg.cho_solve((factor, True), x.T @ y / noise_sd**2)
    return Gaussian(mean, jax.scipy.linalg.cho_solve((factor, True), jnp.eye(x.shape[1])))


def regression_predictive(posterior: Gaussian, x, noise_sd: float):
    r"""Posterior predictive of `linear_regression` at rows ``x``.

    It is normal with mean :math:`x^\top m` and variance :math:`x^\top S x + \sigma^2`.

    Returns:
        Means and standard deviations, each of shape ``(n,)``.

    Raises:
        ValueError: if ``x`` is not of shape ``(n, d)`` or ``noise_sd`` not above 0.
    """
    x = _guard.numbers("x", x, ndim=2)
    if x.shape[1] != posterior.mean.shape[0]:
        raise ValueError(f"x has {x.shape[1]} columns and the posterior {posterior.mean.shape[0]} weights; give as many")
    noise_sd = _guard.positive("noise_sd", noise_sd)
    spread = jnp.einsum("ni,ij,nj->n", x, posterior.covariance, x)
    return x @ posterior.mean, jnp.sqrt(spread + noise_sd**2)


def polynomial_regression(degree: int, noise_sd: float, prior_sd) -> Model:
    r"""Polynomial regression :math:`y \sim N(\sum_k \theta_k x^k, \sigma^2)`, :math:`k = 0, \dots`, ``degree``.

    Its exact posterior is `regression_posterior` of ``Rows(powers(x, degree), y)``.

    Args:
        degree: highest power, 0 or more; the model has one weight more.
        noise_sd: as in `linear_regression`.
        prior_sd: as in `linear_regression`.

    Returns:
        A `Model` of `Rows` whose ``x`` has one column; ``predict(key, theta, x)`` takes one row ``(1,)`` or several ``(n, 1)``.

    Raises:
        ValueError: if ``degree`` is below 0, a scale is not above 0, or there are neither one nor ``degree + 1`` prior scales.

    Example:
        >>> model = polynomial_regression(degree=2, noise_sd=1.0, prior_sd=10.0)
        >>> data = Rows(jnp.array([[2.0]]), jnp.array([4.0]))
        >>> round(float(model.log_likelihood(jnp.array([0.0, 0.0, 1.0]), data)), 4)
        -0.9189

    Source: thesis, section 4.1.6, table 4.2.
    """
    degree = _guard.count("degree", degree, least=0)
    inner = linear_regression(degree + 1, noise_sd, prior_sd)

    def log_likelihood(theta, data):
        return inner.log_likelihood(theta, Rows(powers(data.x, degree), data.y))

    def predict(key: PRNGKeyArray, theta, x):
        return inner.predict(key, theta, powers(x, degree))

    reading = Reading(moments=lambda theta, x: (powers(x, degree) @ theta, jnp.asarray(noise_sd)))
    return Model(degree + 1, inner.log_prior, log_likelihood, predict, inner.constrain, reading)


def powers(x, degree: int):
    """The powers 0 to ``degree`` of a column: shape ``(..., 1)`` becomes ``(..., degree + 1)``.

    Raises:
        ValueError: if ``x`` has not exactly one column.

    Example:
        >>> powers(jnp.array([[3.0], [0.0]]), 2).tolist()
        [[1.0, 3.0, 9.0], [1.0, 0.0, 0.0]]
    """
    x, degree = _guard.numbers("x", x, at_least=1), _guard.count("degree", degree, least=0)
    if x.shape[-1] != 1:
        raise ValueError(f"x has shape {x.shape}; give one column, shape (..., 1)")
    return jnp.concatenate([x**k for k in range(degree + 1)], axis=-1)


def noisy_regression(dim: int, prior_sd=1.0, shape: float = 1.0, rate: float = 1.0) -> Model:
    r"""Linear regression with unknown noise: :math:`y \sim N(x^\top w, v)` with :math:`v \sim \mathrm{Gamma}(\alpha, \beta)`.

    The weights have the prior :math:`w_j \sim N(0, \sigma_{0j}^2)`; the gamma, with shape and rate, is the prior of the variance. The
    unconstrained vector is :math:`\theta = (w_1, \dots, w_d, \log v)`, with the Jacobian :math:`v` in the prior (erratum T51).

    Args:
        dim: number of weights; an intercept is a column of ones in ``x``.
        prior_sd: as in `linear_regression`.
        shape: :math:`\alpha`, above 0.
        rate: :math:`\beta`, above 0.

    Returns:
        A `Model` of `Rows`; ``predict(key, theta, x)`` takes one row ``(d,)`` or several ``(n, d)`` and draws as many outcomes.

    Raises:
        ValueError: if a number is not above 0, or there are neither one nor ``dim`` prior scales.

    Example:
        >>> model = noisy_regression(dim=1)
        >>> {name: value.tolist() for name, value in model.constrain(jnp.array([2.0, 0.0])).items()}
        {'theta': [2.0], 'variance': 1.0}

    Source: thesis, section 4.1.7, as mended by erratum T51.
    """
    dim = _guard.count("dim", dim)
    prior_sd, shape, rate = priors.scales(prior_sd, dim), _guard.positive("shape", shape), _guard.positive("rate", rate)

    def log_prior(theta):
        return priors.flat_or_normal(prior_sd, theta[:dim]) + priors.log_gamma_of_log(theta[dim], shape, rate)

    def constrain(theta):
        return {"theta": theta[:dim], "variance": jnp.exp(theta[dim])}

    reading = Reading(moments=lambda theta, x: (x @ theta[:-1], jnp.exp(0.5 * theta[-1])))
    return Model(dim + 1, log_prior, _noisy_likelihood, _predict_noisy, constrain, reading)


def _rows(data: Rows):
    x, y = _guard.numbers("x", data.x, ndim=2), _guard.numbers("y", data.y, ndim=1)
    if len(x) != len(y):
        raise ValueError(f"x has {len(x)} rows and y {len(y)}; give one outcome for each row")
    return x, y


def _regression_likelihood(noise_sd, theta, data):
    return jax.scipy.stats.norm.logpdf(data.y, data.x @ theta, noise_sd).sum()


def _noisy_likelihood(theta, data):
    return priors.log_normal(data.y, data.x @ theta[:-1], 0.5 * theta[-1]).sum()


def _predict_noisy(key: PRNGKeyArray, theta, x):
    mean = x @ theta[:-1]
    return mean + jnp.exp(0.5 * theta[-1]) * jax.random.normal(key, mean.shape, mean.dtype)


def _predict_row(noise_sd, key: PRNGKeyArray, theta, x):
    mean = x @ theta
    return mean + noise_sd * jax.random.normal(key, mean.shape)
