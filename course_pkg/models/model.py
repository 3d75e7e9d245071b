r"""What a model is: three functions on an unconstrained vector :math:`\theta`, and a map to the names that people use."""

from collections.abc import Callable
from typing import NamedTuple

import jax

from course_pkg.models.reading import Reading


class Model(NamedTuple):
    """An unnormalised posterior, how it predicts, and how its data are to be read."""

    dim: int  # of the unconstrained parameter vector
    log_prior: Callable  # theta (d,) -> (), the Jacobian of the unconstraining map included
    log_likelihood: Callable  # theta (d,), data -> (), summed over the rows of data
    predict: Callable  # key, theta (d,), covariates -> y, differentiable in theta unless y is discrete
    constrain: Callable  # theta (d,) -> {name: value}
    reading: Reading = Reading()  # what is a row, what a covariate, what the outcome


def read_as(model: Model, **changes) -> Model:
    """The same model, told how its data are to be read.

    Args:
        model: a `Model`.
        **changes: fields of its `Reading` that differ, for instance ``rows=("x", "y")`` or ``outcome=lambda data: data["y"]``.

    Raises:
        ValueError: if a name is no field of `Reading`.

    Example:
        >>> from course_pkg.models import normal_sample
        >>> read_as(normal_sample(), rows=("y",)).reading.rows
        ('y',)
    """
    unknown = sorted(set(changes) - set(Reading._fields))
    if unknown:
        raise ValueError(f"{unknown[0]} is no field of a Reading; give some of {', '.join(Reading._fields)}")
    return model._replace(reading=model.reading._replace(**changes))


def log_joint(model: Model, theta, data, scale=1.0):
    r"""Log joint density :math:`\log p(\theta) + \text{scale} \cdot \log p(\mathcal{D} \mid \theta)`.

    A minibatch scales the likelihood only: the prior is counted once.

    Example:
        >>> import jax.numpy as jnp
        >>> from course_pkg.models import Rows, linear_regression
        >>> model = linear_regression(dim=1, noise_sd=1.0, prior_sd=1.0)
        >>> data = Rows(jnp.array([[1.0]]), jnp.array([0.0]))
        >>> round(float(log_joint(model, jnp.array([0.0]), data)), 4)
        -1.8379
    """
    return model.log_prior(theta) + scale * model.log_likelihood(theta, data)


def require_differentiable(model: Model) -> Model:
    """The same model, if its predictions can be differentiated in ``theta``.

    Methods that send a gradient through a predictive draw call this at their door: a draw of a discrete outcome has a derivative of zero
    almost everywhere, which would be silently wrong.

    Raises:
        ValueError: if a predicted outcome is discrete; the message names it and says what to do instead.

    Example:
        >>> from course_pkg.models import linear_regression, pooled_testing
        >>> require_differentiable(linear_regression(1, noise_sd=1.0, prior_sd=1.0)).dim
        1
        >>> require_differentiable(pooled_testing())
        Traceback (most recent call last):
        ...
        ValueError: predict cannot be differentiated: the number of infected people is discrete. Sum over the values of ...
    """
    if not isinstance(model, Model):
        raise ValueError(f"model is {model!r}; give a Model: from_numpyro or from_pymc make one of a program, together with its data")
    if model.reading.no_gradient or model.reading.values is not None:
        raise ValueError(model.reading.no_gradient or no_slope("the outcome", "the outcome"))
    return model


def no_slope(outcome: str, values: str) -> str:
    """Why a draw of a discrete outcome has no gradient, and what to do instead."""
    return (
        f"predict cannot be differentiated: {outcome} is discrete. Sum over the values of {values} with their probabilities, use a "
        "score-function gradient, or stop the gradient at theta"
    )


def refusing(predict: Callable, reason: str) -> Callable:
    """`predict`, which raises a ValueError with this `reason` where it is differentiated in ``theta``."""

    @jax.custom_jvp
    def barrier(theta):
        return theta

    @barrier.defjvp
    def refuse(primals, tangents):  # noqa: ARG001
        raise ValueError(reason)

    def draw(key, theta, covariates=None):
        return predict(key, barrier(theta), covariates)

    return draw
