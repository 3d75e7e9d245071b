"""A normal sample with unknown mean and precision: the smallest model with two parameters that mean-field inference can do by hand."""

import jax
import jax.numpy as jnp
from jax.tree_util import Partial
from jaxtyping import PRNGKeyArray

from course_pkg import _guard
from course_pkg.models import priors
from course_pkg.models.model import Model
from course_pkg.models.reading import Reading, whole


def normal_sample(prior_precision: float = 1e-2, shape: float = 1.0, rate: float = 1.0) -> Model:
    r"""A sample :math:`x_i \sim N(\mu, 1/\gamma)` with :math:`\mu \sim N(0, 1/\tau)` and :math:`\gamma \sim \mathrm{Gamma}(\alpha, \beta)`.

    Second arguments of :math:`N` are variances, so :math:`\gamma` and :math:`\tau` are precisions; the gamma has shape :math:`\alpha` and
    rate :math:`\beta` (erratum S08). The unconstrained vector is :math:`\theta = (\mu, \log\gamma)`.

    Args:
        prior_precision: :math:`\tau`, above 0.
        shape: :math:`\alpha`, above 0.
        rate: :math:`\beta`, above 0.

    Returns:
        A `Model` of an array ``(n,)``. ``predict(key, theta, covariates)`` draws one more value where ``covariates`` is None, else one for
        each of its rows, whatever they hold.

    Raises:
        ValueError: if a number is not above 0.

    Example:
        >>> model = normal_sample()
        >>> round(float(model.log_likelihood(jnp.array([0.0, 0.0]), jnp.array([0.0]))), 4)
        -0.9189
        >>> {name: float(value) for name, value in model.constrain(jnp.array([3.0, 0.0])).items()}
        {'mu': 3.0, 'gamma': 1.0}

    Source: slides, the exercise on the simple Gaussian model, in the convention of erratum S08.
    """
    tau, alpha, beta = _guard.positive("prior_precision", prior_precision), _guard.positive("shape", shape), _guard.positive("rate", rate)

    def constrain(theta):
        return {"mu": theta[0], "gamma": jnp.exp(theta[1])}

    reading = Reading(covariates=whole, outcome=whole)
    return Model(2, Partial(_prior, tau, alpha, beta), _likelihood, _predict, constrain, reading)


def _prior(tau, alpha, beta, theta):
    mu, log_gamma = theta
    return priors.log_normal(mu, 0.0, -0.5 * jnp.log(tau)) + priors.log_gamma_of_log(log_gamma, alpha, beta)


def _likelihood(theta, x):
    mu, log_gamma = theta
    return priors.log_normal(x, mu, -0.5 * log_gamma).sum()


def _predict(key: PRNGKeyArray, theta, covariates=None):
    rows = () if covariates is None else jnp.shape(jax.tree.leaves(covariates)[0])[:1]
    return theta[0] + jnp.exp(-0.5 * theta[1]) * jax.random.normal(key, rows, theta.dtype)
