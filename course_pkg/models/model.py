r"""What a model is: three functions on an unconstrained vector :math:`\theta`, and a map to the names that people use."""

from collections.abc import Callable
from typing import NamedTuple

import jax
from jaxtyping import Array, Float


class Model(NamedTuple):
    """An unnormalised posterior, and how it predicts."""

    dim: int  # of the unconstrained parameter vector
    log_prior: Callable  # theta (d,) -> (), the Jacobian of the unconstraining map included
    log_likelihood: Callable  # theta (d,), data -> (), summed over the rows of data
    predict: Callable  # key, theta (d,), covariates -> y, differentiable in theta unless y is discrete
    constrain: Callable  # theta (d,) -> {name: value}


class Rows(NamedTuple):
    """Covariates and outcomes, one row for each unit."""

    x: Float[Array, "n d"]
    y: Float[Array, " n"]


def log_joint(model: Model, theta, data, scale=1.0):
    r"""Log joint density :math:`\log p(\theta) + \text{scale} \cdot \log p(\mathcal{D} \mid \theta)`.

    A minibatch scales the likelihood only: the prior is counted once.

    Example:
        >>> import jax.numpy as jnp
        >>> from course_pkg.models import linear_regression
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
    reason = getattr(model.predict, "no_gradient", None)
    if reason:
        raise ValueError(reason)
    return model


def with_moments(predict: Callable, moments: Callable) -> Callable:
    """`predict` of an outcome that is normal given ``theta``, with ``(theta, covariates) -> (mean, sd)`` beside it as its ``moments``.

    Who needs an expectation over the outcome can then take the integral instead of drawing.
    """
    predict.moments = moments  # type: ignore[attr-defined]
    return predict


def without_gradient(predict: Callable, outcome: str, values: str) -> Callable:
    """`predict` of an outcome without a derivative: it refuses to be differentiated instead of returning a gradient of zero."""
    reason = (
        f"predict cannot be differentiated: {outcome} is discrete. Sum over the values of {values} with their probabilities, use a "
        "score-function gradient, or stop the gradient at theta"
    )
    return refusing(predict, reason)


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

    draw.no_gradient = reason  # type: ignore[attr-defined]
    return draw
