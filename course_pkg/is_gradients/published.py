r"""The three models of the published runs, with data of their sizes and an ELBO that has (almost) no noise of its own.

Settings: Sakaya and Klami (2017), the code that goes with the paper; N rows, D columns, K components as there. A run is judged by
``elbo(lam)``, computed apart from the run and in double precision: in closed form or by quadrature for the first two, from a fixed set of
draws for the mixture.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from course_pkg import _guard, families
from course_pkg.models import Model, Rows, linear_regression, log_joint, priors

NODES, HERMITE = np.polynomial.hermite_e.hermegauss(40)
HERMITE = HERMITE / HERMITE.sum()
LOG_2PI = float(np.log(2 * np.pi))


class Problem(NamedTuple):
    """A published run: what is fitted, to what, from where, and how well."""

    name: str
    model: Model
    data: Any
    size: int  # rows in a minibatch, as published
    rate: float  # of Adam at the first step, as published; times 0.9 every 100 steps
    start: families.Diagonal
    elbo: Callable  # lam -> float, in nats


def normal_columns(rows: int = 50_000, columns: int = 500, size: int = 1000, seed: int = 111, temper: float = 1.0) -> Problem:
    r"""D independent normals: :math:`x_{nd} \sim N(\mu_d, 1/\tau_d)`, :math:`\mu_d \sim N(0, 1/\tau_d)`, :math:`\tau_d \sim
    \mathrm{Gamma}(10^{-3}, 10^{-3})`, data :math:`2 + 5 N(0, 1)`.

    The unconstrained vector is :math:`(\mu, t)` with :math:`\tau = \mathrm{softplus}(t)`. ``temper`` multiplies the log likelihood: the
    published code does not scale a minibatch up to all rows, so it fits the model with ``temper = size / rows``.

    Example:
        >>> problem = normal_columns(rows=100, columns=3, size=10)
        >>> problem.model.dim, bool(np.isfinite(problem.elbo(problem.start)))
        (6, True)

    Source: Sakaya and Klami (2017), the code's normal model.
    """
    rows, columns, size = (_guard.count(name, n) for name, n in (("rows", rows), ("columns", columns), ("size", size)))
    x = 2 + 5 * np.random.default_rng(seed).standard_normal((rows, columns), dtype=np.float32)
    sums = x.sum(axis=0, dtype=np.float64), (x.astype(np.float64) ** 2).sum(axis=0)

    def log_prior(theta):
        mu, tau = theta[:columns], priors.positive("softplus", theta[columns:])
        return (priors.log_normal(mu, 0.0, -0.5 * tau.log) + priors.log_gamma_of_log(tau.log, 1e-3, 1e-3) - tau.log + tau.log_slope).sum()

    def log_likelihood(theta, x):
        mu, tau = theta[:columns], priors.positive("softplus", theta[columns:])
        squares = ((x - mu[None]) ** 2).sum(axis=0)
        return temper * (-0.5 * tau.value * squares + 0.5 * x.shape[0] * (tau.log - LOG_2PI)).sum()

    model = Model(2 * columns, log_prior, log_likelihood, _no_predict, lambda theta: {"mu": theta[:columns], "t": theta[columns:]})
    start = families.mean_field_normal().init(2 * columns, scale=1.0)
    return Problem("normal", model, jnp.asarray(x), size, 0.05, start, partial(_normal_elbo, sums, rows, temper))


def _normal_elbo(sums, rows, temper, lam):
    mu, sd = np.asarray(lam.mu, np.float64), np.exp(np.asarray(lam.log_sigma, np.float64))
    m, t = np.split(mu, 2)
    s, s_t = np.split(sd, 2)
    nodes = t[:, None] + s_t[:, None] * NODES
    tau = np.logaddexp(0, nodes)
    log_tau = np.log(np.maximum(tau, 1e-300)) @ HERMITE
    mean_tau, log_slope = tau @ HERMITE, -np.logaddexp(0, -nodes) @ HERMITE
    squares = sums[1] - 2 * m * sums[0] + rows * (m**2 + s**2)
    likelihood = temper * (-0.5 * mean_tau * squares + 0.5 * rows * (log_tau - LOG_2PI))
    prior = -0.5 * mean_tau * (m**2 + s**2) + 0.5 * (log_tau - LOG_2PI) + log_slope
    shape = 1e-3
    gamma = shape * np.log(shape) - float(jax.scipy.special.gammaln(shape)) + (shape - 1) * log_tau - shape * mean_tau
    return float((likelihood + prior + gamma).sum() + _entropy(sd))


def regression(rows: int = 50_000, columns: int = 500, size: int = 5000, seed: int = 0) -> Problem:
    r"""Linear regression with K weights: covariates :math:`5 N(0, 1)`, weights :math:`N(0, 1)`, noise of standard deviation 1.

    Example:
        >>> problem = regression(rows=100, columns=3, size=10)
        >>> problem.model.dim, bool(np.isfinite(problem.elbo(problem.start)))
        (3, True)

    Source: Sakaya and Klami (2017), the code's linear regression.
    """
    rows, columns, size = (_guard.count(name, n) for name, n in (("rows", rows), ("columns", columns), ("size", size)))
    rng = np.random.default_rng(seed)
    x = 5 * rng.standard_normal((rows, columns), dtype=np.float32)
    y = x @ rng.standard_normal(columns).astype(np.float32) + rng.standard_normal(rows, dtype=np.float32)
    precise = x.astype(np.float64)
    moments = precise.T @ precise, precise.T @ y, float((y.astype(np.float64) ** 2).sum())
    start = families.mean_field_normal().init(columns, scale=1.0)
    model = linear_regression(columns, 1.0, 1.0)
    return Problem("regression", model, Rows(jnp.asarray(x), jnp.asarray(y)), size, 0.1, start, partial(_regression_elbo, moments, rows))


def _regression_elbo(moments, rows, lam):
    xx, xy, yy = moments
    mu, sd = np.asarray(lam.mu, np.float64), np.exp(np.asarray(lam.log_sigma, np.float64))
    squares = yy - 2 * mu @ xy + mu @ xx @ mu + sd**2 @ np.diag(xx)
    prior = -0.5 * (mu**2 + sd**2 + LOG_2PI).sum()
    return float(-0.5 * squares - 0.5 * rows * LOG_2PI + prior + _entropy(sd))


def gaussian_mixture(rows: int = 10_000, components: int = 25, size: int = 500, seed: int = 222, draws: int = 16) -> Problem:
    r"""A mixture of K normals in the plane: centres :math:`5 N(0, 1)`, unit noise; :math:`\mu \sim N(0, 1)`, :math:`\tau \sim
    \mathrm{Gamma}(10^{-5}, 10^{-5})`, :math:`\pi \sim \mathrm{Dirichlet}(1000)`.

    The unconstrained vector holds the centres, softplus precisions of both coordinates, and K - 1 logits. A run starts at centres that are
    rows of the data, with standard deviations of 0.1; labels and local optima are those of the start.

    Example:
        >>> problem = gaussian_mixture(rows=100, components=3, size=10)
        >>> problem.model.dim, bool(np.isfinite(problem.elbo(problem.start)))
        (14, True)

    Source: Sakaya and Klami (2017), the code's Gaussian mixture.
    """
    rows, k, size = (_guard.count(name, n) for name, n in (("rows", rows), ("components", components), ("size", size)))
    rng = np.random.default_rng(seed)
    centres = 5 * rng.standard_normal((k, 2))
    x = (centres[rng.integers(0, k, rows)] + rng.standard_normal((rows, 2))).astype(np.float32)

    def parts(theta):
        mu, tau = theta[: 2 * k].reshape(k, 2), priors.positive("softplus", theta[2 * k : 4 * k].reshape(k, 2))
        return mu, tau, jax.nn.log_softmax(jnp.append(theta[4 * k :], 0.0))

    def log_prior(theta):
        mu, tau, log_pi = parts(theta)
        gamma = priors.log_gamma_of_log(tau.log, 1e-5, 1e-5) - tau.log + tau.log_slope
        return priors.log_normal(mu, 0.0, 0.0).sum() + gamma.sum() + 1000.0 * log_pi.sum()

    def log_likelihood(theta, x):
        mu, tau, log_pi = parts(theta)
        by_part = -0.5 * sum(tau.value[None, :, j] * (x[:, j, None] - mu[None, :, j]) ** 2 for j in range(2))
        return jax.nn.logsumexp(by_part + (0.5 * tau.log.sum(axis=1) + log_pi - LOG_2PI)[None], axis=1).sum()

    model = Model(5 * k - 1, log_prior, log_likelihood, _no_predict, lambda theta: {"centres": theta[: 2 * k].reshape(k, 2)})
    location = np.concatenate([x[rng.choice(rows, k, replace=False)].ravel(), np.zeros(3 * k - 1)])
    start = families.Diagonal(jnp.asarray(location, dtype=float), jnp.full(5 * k - 1, jnp.log(0.1)))
    half = np.random.default_rng(1).standard_normal((draws // 2, 5 * k - 1)).astype(np.float32)
    data = jnp.asarray(x)
    return Problem("mixture", model, data, size, 0.1, start, partial(_mixture_elbo, model, data, np.concatenate([half, -half])))


def _mixture_elbo(model, data, eps, lam):
    value = _mean_log_joint(model, lam, eps, data)
    return float(value) + float(_entropy(np.exp(np.asarray(lam.log_sigma, np.float64))))


@partial(jax.jit, static_argnums=0)
def _mean_log_joint(model, lam, eps, data):
    return jax.lax.map(lambda e: log_joint(model, lam.mu + jnp.exp(lam.log_sigma) * e, data), eps).mean()


def _entropy(sd):
    return (np.log(sd) + 0.5 * (1 + LOG_2PI)).sum()


def _no_predict(key, theta, covariates):
    raise NotImplementedError("the published runs stop at the posterior: no predictions")
