"""Eight schools: the smallest hierarchical model, and a hard one."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.tree_util import Partial
from jaxtyping import Array, Float, PRNGKeyArray

from course_pkg import _guard
from course_pkg.models import priors
from course_pkg.models.model import Model
from course_pkg.models.reading import Reading


class Schools(NamedTuple):
    """Estimated effects of coaching and their standard errors, one of each for every school."""

    y: Float[Array, " j"]  # points of a test score
    sigma: Float[Array, " j"]  # points


def eight_schools(*, centred: bool = True, mean_sd: float = 5.0, scale: float = 5.0, link: str = "exp", schools: int = 8) -> Model:
    r"""Effects :math:`\theta_j \sim N(\mu, \tau^2)`, seen with known noise, :math:`y_j \sim N(\theta_j, \sigma_j^2)`.

    The priors are :math:`\mu \sim N(0, 5^2)` and :math:`\tau \sim \text{half-Cauchy}(5)`; the 5 is a standard deviation (erratum P02). The
    unconstrained vector is :math:`(\mu, t, e_1, \dots, e_J)` with :math:`\tau = g(t)` and the Jacobian :math:`g'(t)` in the prior (erratum
    P03). Centred, :math:`e_j = \theta_j`; non-centred, :math:`\theta_j = \mu + \tau e_j`.

    Args:
        centred: whether the last coordinates are the effects themselves.
        mean_sd: prior standard deviation of :math:`\mu` in points, above 0.
        scale: of the half-Cauchy in points, above 0.
        link: :math:`g`, ``"exp"`` or ``"softplus"``.
        schools: how many, at least 1.

    Returns:
        A `Model` of `Schools`; ``predict(key, theta, sigma)`` draws a new estimate for every school, given
        its standard error, shape ``(J,)``.

    Raises:
        ValueError: if a scale is not above 0, ``link`` is neither word, or there is no school.

    Example:
        >>> model = eight_schools()
        >>> model.dim
        10
        >>> {name: value.tolist() for name, value in eight_schools(schools=1).constrain(jnp.array([1.0, 0.0, 3.0])).items()}
        {'mu': 1.0, 'tau': 1.0, 'theta': [3.0]}

    Source: LCVI paper, section 6.1, as mended by errata P02 and P03; Rubin (1981).
    """
    mean_sd, scale = _guard.positive("mean_sd", mean_sd), _guard.positive("scale", scale)
    schools, link = _guard.count("schools", schools), priors.check_link(link)

    def effects(theta):
        mu, e = theta[0], theta[2:]
        return e if centred else mu + priors.positive(link, theta[1]).value * e

    def log_prior(theta):
        mu, e, tau = theta[0], theta[2:], priors.positive(link, theta[1])
        hyper = priors.log_normal(mu, 0.0, jnp.log(mean_sd)) + priors.log_half_cauchy(tau.log, scale) + tau.log_slope
        spread = priors.log_normal(e, mu, tau.log) if centred else priors.log_normal(e, 0.0, 0.0)
        return hyper + spread.sum()

    def constrain(theta):
        return {"mu": theta[0], "tau": priors.positive(link, theta[1]).value, "theta": effects(theta)}

    def moments(theta, sigma):
        return effects(theta), sigma

    reading = Reading(covariates=lambda data: data.sigma, outcome=lambda data: data.y, moments=moments)
    return Model(schools + 2, log_prior, Partial(_likelihood, effects), Partial(_predict, effects), constrain, reading)


def _likelihood(effects, theta, data):
    return priors.log_normal(data.y, effects(theta), jnp.log(data.sigma)).sum()


def _predict(effects, key: PRNGKeyArray, theta, sigma):
    mean = effects(theta)
    return mean + sigma * jax.random.normal(key, mean.shape, mean.dtype)
