"""A small Bayesian neural network: a regression whose curve is learned, weights and all."""

from itertools import pairwise

import jax
import jax.numpy as jnp
from jax.tree_util import Partial
from jaxtyping import PRNGKeyArray

from course_pkg import _guard
from course_pkg.models import priors
from course_pkg.models.model import Model


def neural_network(
    dim: int, hidden: tuple[int, ...] = (20,), *, noise_sd: float | None = None, prior_sd: float = 1.0, noise_scale: float = 1.0
) -> Model:
    r"""Regression :math:`y \sim N(f_w(x), \sigma^2)` with a fully connected network of tanh units.

    The prior is :math:`w_j \sim N(0, \sigma_0^2)` for all weights and biases. They lie in one flat vector, layer by layer. With
    unknown noise one more coordinate follows, :math:`\log\sigma`, and :math:`\sigma` has a half-normal prior.

    Args:
        dim: number of covariates.
        hidden: units in each hidden layer; an empty tuple makes a linear regression.
        noise_sd: :math:`\sigma` in the unit of ``y``, above 0; None makes it a random variable.
        prior_sd: :math:`\sigma_0`, above 0.
        noise_scale: scale of the half-normal prior in the unit of ``y``, above 0; unused where the noise is known.

    Returns:
        A `Model` of `Rows`; ``predict(key, theta, x)`` takes one row ``(d,)`` or several ``(n, d)``. The parameters by name are
        ``weights_1``, ``biases_1``, ... and ``noise_sd``.

    Raises:
        ValueError: if a size is below 1 or a scale is not above 0.

    Example:
        >>> model = neural_network(dim=1, hidden=(3,), noise_sd=0.1)
        >>> model.dim, {name: value.shape for name, value in model.constrain(jnp.zeros(model.dim)).items()}
        (10, {'weights_1': (1, 3), 'biases_1': (3,), 'weights_2': (3, 1), 'biases_2': (1,), 'noise_sd': ()})

    Source: Neal, Bayesian Learning for Neural Networks (1996), chapter 1.
    """
    sizes = (_guard.count("dim", dim), *_guard.counts("hidden", hidden), 1)
    count = sum((inputs + 1) * outputs for inputs, outputs in pairwise(sizes))
    prior_sd, noise_scale = _guard.positive("prior_sd", prior_sd), _guard.positive("noise_scale", noise_scale)
    known = None if noise_sd is None else _guard.positive("noise_sd", noise_sd)

    def log_noise(theta):
        return theta[count] if known is None else jnp.log(jnp.asarray(known, theta.dtype))

    def log_prior(theta):
        weights = priors.log_normal(theta[:count], 0.0, jnp.log(prior_sd)).sum()
        if known is not None:
            return weights
        return weights + priors.log_half_normal(jnp.exp(theta[count]), noise_scale) + theta[count]

    def constrain(theta):
        named: dict[str, jax.Array] = {}
        for number, (weights, biases) in enumerate(network_layers(sizes, theta), start=1):
            named |= {f"weights_{number}": weights, f"biases_{number}": biases}
        return named | {"noise_sd": jnp.exp(log_noise(theta))}

    log_likelihood, predict = Partial(_likelihood, sizes, log_noise), Partial(_predict, sizes, log_noise)
    return Model(count + (known is None), log_prior, log_likelihood, predict, constrain)


def network_layers(sizes: tuple[int, ...], theta):
    """Weights ``(inputs, outputs)`` and biases ``(outputs,)`` of each layer, cut from the flat vector."""
    layers, start = [], 0
    for inputs, outputs in pairwise(sizes):
        middle, end = start + inputs * outputs, start + (inputs + 1) * outputs
        layers.append((theta[start:middle].reshape(inputs, outputs), theta[middle:end]))
        start = end
    return layers


def network_output(sizes: tuple[int, ...], theta, x):
    """The network's value at one row ``(d,)`` or several ``(n, d)``: tanh after every layer but the last."""
    *inner, (weights, biases) = network_layers(sizes, theta)
    for w, b in inner:
        x = jnp.tanh(_affine(x, w, b))
    return _affine(x, weights, biases)[..., 0]


def _affine(x, weights, biases):
    product = x @ weights
    return product + jnp.broadcast_to(biases, product.shape)


def _likelihood(sizes, log_noise, theta, data):
    return priors.log_normal(data.y, network_output(sizes, theta, data.x), log_noise(theta)).sum()


def _predict(sizes, log_noise, key: PRNGKeyArray, theta, x):
    mean = network_output(sizes, theta, x)
    return mean + jnp.exp(log_noise(theta)) * jax.random.normal(key, mean.shape, mean.dtype)
