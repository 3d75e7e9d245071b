r"""Coordinate ascent: one factor at a time, each at its best for the others as they stand.

For :math:`q(\theta) = \prod_i q_i(\theta_i)` the bound is highest in :math:`q_i` at

.. math:: q_i(\theta_i) \propto \exp \mathbb{E}_{q_{\setminus i}}[\log \pi_u(\theta)].

Where the conditionals of a model are conjugate this is a distribution with a name, and an update is a line. No update lowers the bound.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.special import digamma, gammaln
from jaxtyping import PRNGKeyArray

from course_pkg import _guard
from course_pkg.models import Rows

LOG_2PI = 1.8378770664093453


class Ascent(NamedTuple):
    """Where an ascent ended, and the bound on its way."""

    q: Any  # the factors
    elbo: Any  # (iterations,) after each round, in nats


class NormalGamma(NamedTuple):
    r"""Factors :math:`q(w) = N(m, S)` and :math:`q(\gamma) = \mathrm{Gamma}(a, b)`, with rate b."""

    mean: Any  # () or (d,)
    covariance: Any  # () a variance, (d,) of independent factors, or (d, d)
    shape: Any  # ()
    rate: Any  # ()


class Mixture(NamedTuple):
    """Factors of a mixture of K normals in d dimensions."""

    responsibilities: Any  # (n, K) q(z)
    counts: Any  # (K,) Dirichlet parameters of the weights
    mean: Any  # (K, d)
    precision: Any  # (K, d) of the means
    shape: Any  # (K, d) of the gammas
    rate: Any  # (K, d)


def cavi_normal(x, *, prior_precision: float = 1e-2, shape: float = 1.0, rate: float = 1.0, iterations: int = 50) -> Ascent:
    r"""A sample :math:`x_i \sim N(\mu, 1/\gamma)` with both unknown, by :math:`q(\mu)\, q(\gamma)`.

    .. math::

        \tau_q &= \tau + n\, \mathbb{E}\gamma, \qquad \nu_q = \mathbb{E}\gamma \sum_i x_i / \tau_q, \\
        \alpha_q &= \alpha + n/2, \qquad \beta_q = \beta + \tfrac12 \sum_i \mathbb{E}(x_i - \mu)^2.

    The last expectation holds the variance of :math:`\mu`, too: :math:`(x_i - \nu_q)^2 + 1/\tau_q`. The first round starts from
    :math:`q(\gamma) = \mathrm{Gamma}(\alpha, \beta)`, the prior.

    Args:
        x: observations, shape ``(n,)``.
        prior_precision: :math:`\tau` of :math:`\mu \sim N(0, 1/\tau)`, above 0.
        shape: :math:`\alpha` of :math:`\gamma \sim \mathrm{Gamma}(\alpha, \beta)`, above 0.
        rate: :math:`\beta`, above 0, in squared units of x.
        iterations: rounds, at least 1.

    Returns:
        `Ascent` with a `NormalGamma`, all parts ``()``, and the bound in nats; the model is `course_pkg.models.normal_sample`.

    Raises:
        ValueError: if ``x`` is not a vector of finite numbers or a number is not above 0.

    Example:
        >>> q, elbo = cavi_normal(jnp.array([1.0, 2.0, 3.0, 2.5]))
        >>> round(float(q.shape), 1), bool((jnp.diff(elbo) > -1e-5).all())
        (3.0, True)

    Source: notes, equation 5.5, for the update; slides, the exercise on the simple Gaussian model, in the convention of erratum S08.
    """
    x = _guard.numbers("x", x, ndim=1).astype(jnp.result_type(float))
    tau, a0, b0 = _guard.positive("prior_precision", prior_precision), _guard.positive("shape", shape), _guard.positive("rate", rate)
    start = NormalGamma(x.mean(), x.var() / x.size + 1e-6, jnp.asarray(a0), jnp.asarray(b0))
    return _ascend(_round_normal, _bound_normal, (x, tau, a0, b0), start, _guard.count("iterations", iterations))


def _round_normal(problem, q):
    """The factor of the mean for that of the precision, then the other way round."""
    x, tau, a0, b0 = problem
    gamma = q.shape / q.rate
    precision = tau + x.size * gamma
    mean = gamma * x.sum() / precision
    rate = b0 + 0.5 * (((x - mean) ** 2).sum() + x.size / precision)
    return NormalGamma(mean, 1 / precision, a0 + 0.5 * x.size, rate)


def _bound_normal(problem, q):
    """The bound, in nats: expected log likelihood and log prior of the mean, gamma terms, entropy of the mean."""
    x, tau, a0, b0 = problem
    gamma, log_gamma = q.shape / q.rate, digamma(q.shape) - jnp.log(q.rate)
    misfit = ((x - q.mean) ** 2).sum() + x.size * q.covariance
    likelihood = 0.5 * (x.size * (log_gamma - LOG_2PI) - gamma * misfit)
    prior = 0.5 * (jnp.log(tau) - LOG_2PI - tau * (q.mean**2 + q.covariance))
    return likelihood + prior + _gamma_terms(q.shape, q.rate, a0, b0) + 0.5 * (LOG_2PI + 1 + jnp.log(q.covariance))


def _gamma_terms(a, b, a0, b0):
    r""":math:`\mathbb{E}_q \log p(\gamma)` and the entropy of :math:`q(\gamma)`: minus KL(q || p) of two gammas."""
    log_gamma = digamma(a) - jnp.log(b)
    prior = a0 * jnp.log(b0) - gammaln(a0) + (a0 - 1) * log_gamma - b0 * a / b
    return prior + a - jnp.log(b) + gammaln(a) + (1 - a) * digamma(a)


def cavi_regression(
    data: Rows, *, prior_sd=1.0, shape: float = 1.0, rate: float = 1.0, factors: str = "block", iterations: int = 100
) -> Ascent:
    r"""Linear regression :math:`y_n \sim N(x_n^\top w, 1/\gamma)` with :math:`w_j \sim N(0, \sigma_{0j}^2)`, by :math:`q(w)\, q(\gamma)`.

    With ``factors="block"`` the weights stay together, :math:`q(w) = N(m, S)` (structured mean field). With ``"coordinate"`` each has a
    factor of its own; its variance is then one over the diagonal of the precision, :math:`1/(S^{-1})_{jj}`, never more than the diagonal
    :math:`S_{jj}` of the covariance.

    Args:
        data: `Rows`, x of shape ``(n, d)`` and y ``(n,)``; an intercept is a column of ones.
        prior_sd: :math:`\sigma_0`, one number or ``(d,)``, above 0.
        shape: :math:`\alpha` of :math:`\gamma \sim \mathrm{Gamma}(\alpha, \beta)`, above 0.
        rate: :math:`\beta`, above 0, in squared units of y.
        factors: ``"block"`` or ``"coordinate"``.
        iterations: rounds, at least 1.

    Returns:
        `Ascent` with a `NormalGamma`, ``mean`` of shape ``(d,)`` and ``covariance`` ``(d, d)`` or ``(d,)``, and the bound in nats. In
        `course_pkg.models.noisy_regression` the gamma is the prior of the variance instead, which is another model.

    Raises:
        ValueError: if ``data`` does not hold finite numbers of fitting shapes, a number is out of range or ``factors`` is unknown.

    Example:
        >>> data = Rows(jnp.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), jnp.array([0.1, 1.0, 2.1]))
        >>> block, one = cavi_regression(data), cavi_regression(data, factors="coordinate")
        >>> bool((one.q.covariance < jnp.diag(block.q.covariance)).all()), bool(one.elbo[-1] < block.elbo[-1])
        (True, True)

    Source: notes, section 5.2 (mean field and structured mean field), equations 5.4 and 5.5.
    """
    _guard.choice("factors", factors, ("block", "coordinate"))
    x, y, sd = _checked_regression(data, prior_sd)
    a0, b0 = _guard.positive("shape", shape), _guard.positive("rate", rate)
    spread = jnp.diag(sd**2) if factors == "block" else sd**2
    start = NormalGamma(jnp.zeros_like(sd), spread, jnp.asarray(a0 + 0.5 * y.size), jnp.asarray(b0 + 0.5 * (y**2).sum()))
    problem = (x.T @ x, x.T @ y, (y**2).sum(), y.size, sd, a0, b0)
    return _ascend(_round_regression, _bound_regression, problem, start, _guard.count("iterations", iterations))


def _checked_regression(data, prior_sd):
    """Covariates ``(n, d)``, outcomes ``(n,)`` and a prior standard deviation for each weight ``(d,)``."""
    x = _guard.numbers("x", data.x, ndim=2).astype(jnp.result_type(float))
    y = _guard.numbers("y", data.y, ndim=1).astype(x.dtype)
    if x.shape[0] != y.shape[0]:
        raise ValueError(f"x has {x.shape[0]} rows and y {y.shape[0]} values; give one outcome for each row")
    sd = _guard.numbers("prior_sd", prior_sd).astype(x.dtype)
    if sd.shape not in ((), (x.shape[1],)):
        raise ValueError(f"prior_sd has shape {sd.shape}; give one number or {x.shape[1]}, one for each weight")
    if not bool((sd > 0).all()):
        raise ValueError(f"prior_sd is {prior_sd}; give numbers above 0")
    return x, y, jnp.broadcast_to(sd, (x.shape[1],))


def _round_regression(problem, q):
    """The weights, together or one after the other, then the precision of the noise."""
    gram, moment, _, n, sd, a0, b0 = problem
    gamma = q.shape / q.rate
    precision = gamma * gram + jnp.diag(1 / sd**2)
    if q.covariance.ndim == 2:
        covariance = jnp.linalg.inv(precision)
        mean = gamma * covariance @ moment
    else:
        covariance = 1 / jnp.diag(precision)

        def one(mean, j):  # at its best for the other means as they stand
            others = precision[j] @ mean - precision[j, j] * mean[j]
            return mean.at[j].set((gamma * moment[j] - others) * covariance[j]), None

        mean = jax.lax.scan(one, q.mean, jnp.arange(q.mean.size))[0]
    new = NormalGamma(mean, covariance, a0 + 0.5 * n, q.rate)
    return new._replace(rate=b0 + 0.5 * _misfit(problem, new))


def _misfit(problem, q):
    r""":math:`\mathbb{E}\|y - Xw\|^2`, the variance of :math:`w` included."""
    gram, moment, square, *_ = problem
    spread = (gram * q.covariance).sum() if q.covariance.ndim == 2 else (jnp.diag(gram) * q.covariance).sum()
    return square - 2 * moment @ q.mean + q.mean @ gram @ q.mean + spread


def _bound_regression(problem, q):
    """The bound, in nats, with the same parts as that of the normal sample."""
    *_, n, sd, a0, b0 = problem
    gamma, log_gamma = q.shape / q.rate, digamma(q.shape) - jnp.log(q.rate)
    likelihood = 0.5 * (n * (log_gamma - LOG_2PI) - gamma * _misfit(problem, q))
    variances = jnp.diag(q.covariance) if q.covariance.ndim == 2 else q.covariance
    log_det = jnp.linalg.slogdet(q.covariance)[1] if q.covariance.ndim == 2 else jnp.log(q.covariance).sum()
    prior = -0.5 * (LOG_2PI + 2 * jnp.log(sd) + (q.mean**2 + variances) / sd**2).sum()
    return likelihood + prior + _gamma_terms(q.shape, q.rate, a0, b0) + 0.5 * (sd.size * (LOG_2PI + 1) + log_det)


def cavi_mixture(
    key: PRNGKeyArray,
    x,
    components: int,
    *,
    concentration: float = 1.0,
    prior_sd: float = 10.0,
    shape: float = 1.0,
    rate: float = 1.0,
    iterations: int = 200,
) -> Ascent:
    r"""A mixture of K normals with diagonal precisions, by :math:`q(z)\, q(\pi) \prod_k q(\mu_k)\, q(\gamma_k)`.

    Weights :math:`\pi \sim \mathrm{Dir}(a, \dots, a)`, means :math:`\mu_{kj} \sim N(0, \sigma_0^2)`, precisions
    :math:`\gamma_{kj} \sim \mathrm{Gamma}(\alpha, \beta)`. The components can be renamed without changing anything, so the bound has at
    least K! equal peaks; the start, K observations far from each other, decides which one is climbed.

    Args:
        key: random key of the start.
        x: observations, shape ``(n, d)``.
        components: K, from 1 to n.
        concentration: :math:`a`, above 0; far below 1 it empties components that are not needed.
        prior_sd: :math:`\sigma_0`, above 0, in units of x.
        shape: :math:`\alpha`, above 0.
        rate: :math:`\beta`, above 0, in squared units of x.
        iterations: rounds, at least 1.

    Returns:
        `Ascent` with a `Mixture` and the bound in nats.

    Raises:
        ValueError: if ``x`` is not a finite table or a number is out of range.

    Example:
        >>> x = jnp.array([[-3.0], [-3.2], [-2.8], [3.0], [3.1], [2.9]])
        >>> q, elbo = cavi_mixture(jax.random.key(0), x, 2)
        >>> sorted(round(float(m), 1) for m in q.mean[:, 0])
        [-3.0, 3.0]

    Source: notes, equation 5.5, for the update. Bishop (2006), section 10.2, joins mean and precision in one prior and factor.
    """
    key, x = _guard.key(key), _guard.numbers("x", x, ndim=2).astype(jnp.result_type(float))
    components = _guard.count("components", components)
    if components > x.shape[0]:
        raise ValueError(f"components is {components} and x has {x.shape[0]} rows; give at most one for each row")
    numbers = [("concentration", concentration), ("prior_sd", prior_sd), ("shape", shape), ("rate", rate)]
    prior = tuple(_guard.positive(name, value) for name, value in numbers)
    start = _start_of_mixture((x, *prior), kmeans_plus_plus(key, x, components))
    return _ascend(_round_mixture, _bound_mixture, (x, *prior), start, _guard.count("iterations", iterations))


def kmeans_plus_plus(key: PRNGKeyArray, x, count: int):
    """Indices of rows far from each other: a row comes next with a probability like its squared distance from the nearest so far.

    Args:
        key: random key.
        x: rows, shape ``(n, d)``; columns on unlike scales count unlike.
        count: how many, from 1 to the number of different rows; beyond it some come twice.

    Returns:
        Indices of rows, shape ``(count,)``; the first is uniform.

    Example:
        >>> sorted(kmeans_plus_plus(jax.random.key(0), jnp.array([[0.0], [0.1], [9.0]]), 2).tolist())[-1]
        2

    Source: Arthur and Vassilvitskii (2007).
    """
    return _far_apart(_guard.key(key), x, count)


@partial(jax.jit, static_argnums=2)
def _far_apart(key, x, count):
    def one(distance, step_key):
        chosen = jax.random.categorical(step_key, jnp.log(distance + 1e-12))
        return jnp.minimum(distance, ((x - x[chosen][None]) ** 2).sum(axis=1)), chosen

    return jax.lax.scan(one, jnp.ones(x.shape[0], x.dtype) * 1e12, jax.random.split(key, count))[1]


@jax.jit
def _start_of_mixture(problem, chosen):
    """Each observation assigned by its distance from the chosen ones, and the factors that follow."""
    x = problem[0]
    centres, sd = x[chosen], x.std(axis=0) + 1e-6
    distance = (((x[:, None] - centres[None]) / sd[None, None]) ** 2).sum(axis=-1)
    return _parameters(problem, jax.nn.softmax(-0.5 * chosen.size * distance, axis=1), None)


def _parameters(problem, r, q):
    """Factors of weights, means and precisions, in this order, for responsibilities ``(n, K)``."""
    x, a, sd, a0, b0 = problem
    total, sums = r.sum(axis=0), r.T @ x
    if q is None:  # the first precisions are those of the whole
        gamma = jnp.broadcast_to(1 / (x.var(axis=0) + 1e-6)[None], sums.shape)
    else:
        gamma = q.shape / q.rate
    precision = 1 / sd**2 + gamma * total[:, None]
    mean = gamma * sums / precision
    misfit = r.T @ x**2 - 2 * mean * sums + total[:, None] * (mean**2 + 1 / precision)
    shape = jnp.broadcast_to(a0 + 0.5 * total[:, None], mean.shape)
    return Mixture(r, a + total, mean, precision, shape, b0 + 0.5 * misfit)


def _scores(problem, q):
    """Expected log of weight times density of each observation under each component, ``(n, K)``."""
    x = problem[0]
    gamma, log_gamma = q.shape / q.rate, digamma(q.shape) - jnp.log(q.rate)
    log_weight = digamma(q.counts) - digamma(q.counts.sum())
    quadratic = x**2 @ gamma.T - 2 * x @ (gamma * q.mean).T + (gamma * (q.mean**2 + 1 / q.precision)).sum(axis=1)[None]
    return (log_weight + 0.5 * (log_gamma - LOG_2PI).sum(axis=1))[None] - 0.5 * quadratic


def _round_mixture(problem, q):
    """The assignments, then all the rest."""
    return _parameters(problem, jax.nn.softmax(_scores(problem, q), axis=1), q)


def _bound_mixture(problem, q):
    """The bound, in nats: observations and their assignments, then minus KL(q || p) of the weights, means and precisions."""
    _, a, sd, a0, b0 = problem
    log_weight = digamma(q.counts) - digamma(q.counts.sum())
    k = q.counts.size
    weights = gammaln(k * a) - k * gammaln(a) + (a - 1) * log_weight.sum()
    weights -= gammaln(q.counts.sum()) - gammaln(q.counts).sum() + ((q.counts - 1) * log_weight).sum()
    means = 0.5 * (1 - 2 * jnp.log(sd) - jnp.log(q.precision) - (q.mean**2 + 1 / q.precision) / sd**2).sum()
    assigned = (q.responsibilities * _scores(problem, q)).sum() - jax.scipy.special.xlogy(q.responsibilities, q.responsibilities).sum()
    return assigned + weights + means + _gamma_terms(q.shape, q.rate, a0, b0).sum()


@partial(jax.jit, static_argnums=(0, 1, 4))
def _ascend(update, bound, problem, start, iterations) -> Ascent:
    """Rounds of ``update`` from ``start`` on, and the ``bound`` after each."""
    as_float = lambda q: jax.tree.map(lambda a: jnp.asarray(a, jnp.result_type(float)), q)  # plain numbers among the parts, too

    def one(q, _):
        q = as_float(update(problem, q))
        return q, bound(problem, q)

    return Ascent(*jax.lax.scan(one, as_float(start), length=iterations))
