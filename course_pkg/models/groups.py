"""Hierarchical regression: every group has its own level, and the levels have a distribution of their own."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.tree_util import Partial
from jaxtyping import Array, Float, Int, PRNGKeyArray

from course_pkg import _guard
from course_pkg.models import priors
from course_pkg.models.model import Model
from course_pkg.models.reading import Reading, whole


class Grouped(NamedTuple):
    """Rows that belong to groups."""

    group: Int[Array, " n"]  # from 0
    x: Float[Array, "n d"]
    y: Float[Array, " n"]


def hierarchical_regression(groups: int, dim: int, *, centred: bool = True, prior_sd: float = 1.0, largest_sd: float = 100.0) -> Model:
    r"""Varying intercepts: :math:`y_i \sim N(a_{g_i} + x_i^\top b, \sigma_y^2)` with :math:`a_g \sim N(\mu_a, \sigma_a^2)`.

    The priors are :math:`\mu_a, b_j \sim N(0, \sigma_0^2)` and :math:`\sigma_a, \sigma_y` uniform on :math:`(0, s)`. For the radon houses
    the groups are counties, and the two covariates are the logarithm of the county's uranium and the floor of the measurement.

    The unconstrained vector is :math:`(\mu_a, t_a, t_y, b_1, \dots, b_d, e_1, \dots, e_G)` with :math:`\sigma = s \cdot
    \operatorname{sigmoid}(t)`. Centred, :math:`e_g = a_g`; non-centred, :math:`a_g = \mu_a + \sigma_a e_g`.

    Args:
        groups: :math:`G`.
        dim: number of covariates, 1 or more.
        centred: whether the last coordinates are the intercepts themselves.
        prior_sd: :math:`\sigma_0`, above 0.
        largest_sd: :math:`s`, in the unit of ``y``, above 0.

    Returns:
        A `Model` of `Grouped`. ``predict(key, theta, covariates)`` takes `Grouped` (whose ``y`` is not looked at) or a pair
        ``(group, x)``, of shapes ``()`` and ``(d,)`` or ``(n,)`` and ``(n, d)``.

    Raises:
        ValueError: if a size is below 1 or a scale is not above 0.

    Example:
        >>> model = hierarchical_regression(groups=2, dim=1)
        >>> values = model.constrain(jnp.array([0.0, 0.0, 0.0, 5.0, 1.0, 2.0]))
        >>> {name: value.tolist() for name, value in values.items()}
        {'mu_a': 0.0, 'sigma_a': 50.0, 'sigma_y': 50.0, 'b': [5.0], 'a': [1.0, 2.0]}

    Source: Gelman and Hill (2007), chapter 12; the post-hoc paper's radon experiment has these priors.
    """
    groups, dim = _guard.count("groups", groups), _guard.count("dim", dim)
    prior_sd, largest_sd = _guard.positive("prior_sd", prior_sd), _guard.positive("largest_sd", largest_sd)

    def constrain(theta):
        sigma_a, sigma_y = largest_sd * jax.nn.sigmoid(theta[1:3])
        b, e = theta[3 : 3 + dim], theta[3 + dim :]
        a = e if centred else theta[0] + sigma_a * e
        return {"mu_a": theta[0], "sigma_a": sigma_a, "sigma_y": sigma_y, "b": b, "a": a}

    def log_prior(theta):
        mu_a, t, b, e = theta[0], theta[1:3], theta[3 : 3 + dim], theta[3 + dim :]
        normal = priors.log_normal(mu_a, 0.0, jnp.log(prior_sd)) + priors.log_normal(b, 0.0, jnp.log(prior_sd)).sum()
        uniform = (jax.nn.log_sigmoid(t) + jax.nn.log_sigmoid(-t)).sum()  # the slope of the sigmoid is all that is left
        log_sigma_a = _log_sd(largest_sd, t[0])
        spread = priors.log_normal(e, mu_a, log_sigma_a) if centred else priors.log_normal(e, 0.0, 0.0)
        return normal + uniform + spread.sum()

    def moments(theta, covariates):
        values = constrain(theta)
        return _mean(values, covariates), values["sigma_y"]

    log_likelihood, predict = Partial(_likelihood, constrain, largest_sd), Partial(_predict, constrain)
    reading = Reading(covariates=whole, outcome=lambda data: data.y, moments=moments)
    return Model(3 + dim + groups, log_prior, log_likelihood, predict, constrain, reading)


def _log_sd(largest, t):
    return jnp.log(largest) + jax.nn.log_sigmoid(t)


def _mean(values, covariates):
    group, x = covariates[:2]
    if jnp.shape(x)[-1:] != values["b"].shape:
        raise ValueError(f"x has shape {jnp.shape(x)}; give a column for each of the model's dim = {values['b'].size} covariates")
    return values["a"][group] + x @ values["b"]


def _likelihood(constrain, largest_sd, theta, data):
    return priors.log_normal(data.y, _mean(constrain(theta), data), _log_sd(largest_sd, theta[2])).sum()


def _predict(constrain, key: PRNGKeyArray, theta, covariates):
    values = constrain(theta)
    mean = _mean(values, covariates)
    return mean + values["sigma_y"] * jax.random.normal(key, mean.shape, mean.dtype)
