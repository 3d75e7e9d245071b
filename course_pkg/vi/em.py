r"""Expectation-maximisation, which is coordinate ascent on the bound with a point in the place of one factor.

With :math:`q(z)` free and a parameter :math:`\theta` instead of its distribution, the bound
:math:`\mathbb{E}_q[\log p(x, z \mid \theta)] - \mathbb{E}_q \log q(z)` is raised in turn: the E step makes it touch
:math:`\log p(x \mid \theta)`, the M step moves :math:`\theta`. With a prior's logarithm added, the same steps climb to the posterior's
mode.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from course_pkg import _guard
from course_pkg.vi.cavi import LOG_2PI, kmeans_plus_plus


class MixturePoint(NamedTuple):
    """A mixture of K normals with diagonal variances, as numbers."""

    weights: Any  # (K,)
    mean: Any  # (K, d)
    variance: Any  # (K, d)


class EM(NamedTuple):
    """Where a run ended."""

    theta: MixturePoint
    responsibilities: Any  # (n, K) probabilities of the components, given theta
    log_likelihood: Any  # (iterations,) in nats at the start of each round, with the log prior, up to its constant, if there is one


def em_mixture(
    key: PRNGKeyArray, x, components: int, *, concentration: float = 1.0, shape: float = 0.0, rate: float = 0.0, iterations: int = 200
) -> EM:
    r"""EM for a mixture of normals with diagonal variances; with priors of weights and precisions, a mode of the posterior.

    The means have a flat prior. The run ends at a local optimum that the start, K observations far from each other, decides.

    Args:
        key: random key of the start.
        x: observations, shape ``(n, d)``.
        components: K, from 1 to n.
        concentration: of a Dirichlet prior of the weights, at least 1; 1 is flat.
        shape: at least 0, of a gamma prior of each precision, with its density in the logarithm of the precision; 0 with ``rate`` 0 is
            flat there.
        rate: of it, at least 0, in squared units of x; above 0 it keeps a component from closing in on one observation, where the
            likelihood has no bound.
        iterations: rounds, at least 1.

    Returns:
        `EM`; its objective, in nats, never falls. Where it has no bound, a variance stops at 1e-12 over the number of observations of its
        component.

    Raises:
        ValueError: if ``x`` is not a finite table or a number is out of range.

    Example:
        >>> x = jnp.array([[-3.0], [-3.2], [-2.8], [3.0], [3.1], [2.9]])
        >>> run = em_mixture(jax.random.key(0), x, 2)
        >>> sorted(round(float(m), 1) for m in run.theta.mean[:, 0]), run.theta.weights.tolist()
        ([-3.0, 3.0], [0.5, 0.5])

    Source: notes, section 5.2.3 (a heading there); Neal and Hinton (1998).
    """
    key, x = _guard.key(key), _guard.numbers("x", x, ndim=2).astype(jnp.result_type(float))
    components, iterations = _guard.count("components", components), _guard.count("iterations", iterations)
    if components > x.shape[0]:
        raise ValueError(f"components is {components} and x has {x.shape[0]} rows; give at most one for each row")
    concentration, shape, rate = (_guard.number(n, v) for n, v in (("concentration", concentration), ("shape", shape), ("rate", rate)))
    if not concentration >= 1:
        raise ValueError(f"concentration is {concentration:g}; give at least 1, or the mode lies where a weight is 0")
    for name, value in (("shape", shape), ("rate", rate)):
        if value < 0:
            raise ValueError(f"{name} is {value:g}; give a number that is not negative")
    weights = jnp.full(components, 1 / components, x.dtype)
    mean = x[kmeans_plus_plus(key, x, components)]
    variance = jnp.broadcast_to((x.var(axis=0) + 1e-6)[None] / components, mean.shape)
    return _run(x, MixturePoint(weights, mean, variance), concentration, shape, rate, iterations)


def log_joint_scores(theta: MixturePoint, x):
    r""":math:`\log \pi_k + \log N(x_n \mid \mu_k, \sigma_k^2)`: the log joint of each observation and each component.

    Args:
        theta: the mixture, K components in d dimensions.
        x: observations, shape ``(n, d)``.

    Returns:
        Scores in nats, shape ``(n, K)``. Their softmax over k is the E step, their logsumexp the log likelihood of each observation.

    Example:
        >>> theta = MixturePoint(jnp.ones(1), jnp.zeros((1, 1)), jnp.ones((1, 1)))
        >>> round(float(log_joint_scores(theta, jnp.zeros((1, 1)))[0, 0]), 4)
        -0.9189

    Source: Neal and Hinton (1998), for the bound that both steps raise.
    """
    quadratic = ((x[:, None] - theta.mean[None]) ** 2 / theta.variance[None]).sum(axis=-1)
    return (jnp.log(theta.weights) - 0.5 * (LOG_2PI + jnp.log(theta.variance)).sum(axis=1))[None] - 0.5 * quadratic


@jax.jit(static_argnums=5)
def _run(x, start, concentration, shape, rate, iterations):
    """Rounds of E and M from ``start`` on, with the objective before each."""

    def log_prior(theta):
        precisions = -shape * jnp.log(theta.variance) - rate / theta.variance
        return (concentration - 1) * jnp.log(theta.weights).sum() + precisions.sum()

    def one(theta, _):
        scores = log_joint_scores(theta, x)
        objective = jax.nn.logsumexp(scores, axis=1).sum() + log_prior(theta)
        return _maximise(x, jax.nn.softmax(scores, axis=1), concentration, shape, rate), objective

    theta, objective = jax.lax.scan(one, start, length=iterations)
    return EM(theta, jax.nn.softmax(log_joint_scores(theta, x), axis=1), objective)


def _maximise(x, r, concentration, shape, rate):
    """The M step: the parameters at their best for responsibilities ``(n, K)``. What is 1e-12 keeps divisions by 0 away."""
    total = r.sum(axis=0) + 1e-12
    weights = (total + concentration - 1) / (total + concentration - 1).sum()
    mean = r.T @ x / total[:, None]
    scatter = (r[..., None] * (x[:, None] - mean[None]) ** 2).sum(axis=0)
    return MixturePoint(weights, mean, (scatter + 2 * rate + 1e-12) / (total[:, None] + 2 * shape))
