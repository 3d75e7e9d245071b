r"""The decision maker: a small network from a summary of the predictive to a decision, and what it is trained for.

The map :math:`h = f(s; \omega)` takes the summary :math:`s_n` of the predictive at point n and returns a decision. Its weights
:math:`\omega` are shared by all points. It is trained for the empirical risk plus a prior on the decisions, both averaged over the points:

.. math:: \frac1N \sum_n \ell(y_n, h_n) + \frac{\nu}{N} \sum_n \frac{(h_n - \mu_n)^2}{2 \sigma_n^2}.
"""

from itertools import pairwise
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from course_pkg import _guard
from course_pkg.decisions.rules import as_loss


class DecisionMaker(NamedTuple):
    """A network with ReLU between its layers; with no hidden layer, a linear map. Call it with features of shape ``(..., B)``."""

    layers: tuple  # of (weights (inputs, outputs), bias (outputs,))
    mean: Float[Array, " B"]  # of each feature, taken off before the first layer
    sd: Float[Array, " B"]  # of each feature, divided by
    centre: Float[Array, ""]  # of the outcomes, added to the last layer's output
    scale: Float[Array, ""]  # of the outcomes, that output's unit

    def __call__(self, features):
        """The decisions, shape ``(...)``, in the unit of the outcomes."""
        features = _guard.numbers("features", features, at_least=1)
        if features.shape[-1] != self.mean.shape[0]:
            raise ValueError(f"features has shape {features.shape}; give {self.mean.shape[0]} features for each point, as in training")
        rows = features.reshape(-1, features.shape[-1])
        return _decide(self, rows).reshape(features.shape[:-1])


@jax.jit
def _decide(maker, rows):
    return maker.centre + maker.scale * forward(maker.layers, standardise(rows, maker.mean, maker.sd))


class DecisionPrior(NamedTuple):
    r"""A belief about the decisions themselves: :math:`h_n \sim N(\mu_n, \sigma_n^2)`.

    It is a prior in form. Where its numbers come from a posterior or from refits, the same outcomes have gone into them, and it is better
    read as a penalty for leaving the model.
    """

    mean: Float[Array, "..."]
    sd: Float[Array, "..."]  # a standard deviation, in the unit of the decisions (erratum T55)
    replicates: np.ndarray | None = None  # (L, ...) the refitted decisions that it comes from, if it does


def initial_maker(key: PRNGKeyArray, features, y, hidden: tuple[int, ...] = (20, 10)) -> DecisionMaker:
    """An untrained decision maker: weights at random, features and outcomes brought to mean 0 and standard deviation 1.

    Args:
        key: random key of the weights.
        features: shape ``(N, B)``.
        y: shape ``(N,)``.
        hidden: units of each hidden layer; ``()`` for a linear map.

    Raises:
        ValueError: if all features are constant, a number is not finite, or a layer has no unit.

    Example:
        >>> maker = initial_maker(jax.random.key(0), np.array([[0.0, 1.0], [2.0, 5.0]]), np.array([1.0, 3.0]), hidden=(4,))
        >>> maker(np.zeros((7, 2))).shape, [w.shape for w, _ in maker.layers]
        ((7,), [(2, 4), (4, 1)])

    Source: thesis, section 4.2.5. It speaks of three hidden layers; the authors' experiments have two, of 20 and 10 units.
    """
    key, hidden = _guard.key(key), _guard.counts("hidden", hidden)
    units = standard_units(features, y)
    return DecisionMaker(initial_layers(key, (len(units[0]), *hidden, 1)), *units)


def standard_units(features, y) -> tuple:
    """Mean and standard deviation of each feature and of the outcomes, checked: all but the layers of a decision maker."""
    features = np.asarray(_guard.numbers("features", features, ndim=2))
    y = np.asarray(_guard.numbers("y", y, ndim=1))
    mean, sd = features.mean(axis=0, dtype=float), features.std(axis=0, dtype=float)
    varies = sd > 1e-6 * np.maximum(1e-30, np.abs(mean))  # single precision says nothing finer
    if not varies.any():
        raise ValueError(
            "features are constant: every point has the same summary, so every point would get the same decision; summarise by more "
            "than this, or append covariates"
        )
    numbers = (mean, np.where(varies, sd, 1.0), y.mean(dtype=float), y.std(dtype=float) or 1.0)
    return tuple(jnp.asarray(value, dtype=jnp.result_type(float)) for value in numbers)


# Layers of our own, nine lines, since no kept library has them for nothing: stax, which comes with JAX, calls itself an example that one
# should not import; scikit-learn's perceptron learns from squared and Poisson losses alone, a decision maker from any, with a prior on its
# decisions; Equinox or Flax would be one more dependency of the core, which has to stay small.


def initial_layers(key: PRNGKeyArray, sizes: tuple[int, ...]) -> tuple:
    """Weights of variance 2 over the inputs, as suits ReLU (1 over the inputs for the last layer), and biases of zero."""
    pairs = list(pairwise(sizes))
    gain = [2.0] * (len(pairs) - 1) + [1.0]
    return tuple(
        (jnp.sqrt(g / a) * jax.random.normal(k, (a, b)), jnp.zeros(b))
        for k, (a, b), g in zip(jax.random.split(key, len(pairs)), pairs, gain, strict=True)
    )


def forward(layers, z):
    """The network's output for standardised features ``z`` of shape ``(n, B)``: shape ``(n,)``."""
    for w, b in layers[:-1]:
        z = jax.nn.relu(z @ w + b[None])
    w, b = layers[-1]
    return (z @ w + b[None])[:, 0]


def standardise(features, mean, sd):
    """Features with the training features' mean taken off, in units of their standard deviation."""
    return (features - mean[None]) / sd[None]


def objective(loss, y, h, prior: DecisionPrior | None = None, nu: float = 0.0):
    r"""What a decision maker is trained to make small, its loss and its distance from a prior.

    .. math:: \frac1N \sum_n \ell(y_n, h_n) + \frac{\nu}{N} \sum_n \frac{(h_n - \mu_n)^2}{2 \sigma_n^2}.

    This is the negative log of a power-prior posterior divided by N, up to a constant. The loss and the prior are averaged alike, so that
    the same ``nu`` means the same thing for any number of points, as long as the prior's standard deviations do. (Those of refits shrink
    as points are added.)

    Args:
        loss: a `Loss` or a function ``(y, h) -> cost``.
        y: outcomes, shape ``(...)``.
        h: decisions, of the same shape.
        prior: belief about the decisions, of the same shape or one that broadcasts to it.
        nu: power of the prior, 0 or more; in the unit of the loss.

    Raises:
        ValueError: if the shapes do not fit, ``nu`` is negative, or ``nu`` is above 0 without a prior.

    Example:
        >>> from course_pkg.decisions import absolute
        >>> float(objective(absolute(), np.array([1.0, 3.0]), np.array([2.0, 2.0]), constant_prior(np.zeros(2)), nu=0.5))
        2.0

    Source: thesis, sections 4.2.3 and 4.2.4, as mended by errata T53 and T54.
    """
    y, h = _guard.numbers("y", y), _guard.numbers("h", h)
    if h.shape != y.shape:
        raise ValueError(f"h has shape {h.shape} and y {y.shape}; give one decision for each outcome")
    nu = _guard.number("nu", nu)
    mean, sd = prior_arrays(prior, nu, y.shape)
    loss = as_loss(loss)
    with _guard.calling(f"loss {loss.name}"):
        return costs(loss.loss, y, h, mean, sd, nu).mean()


def costs(loss, y, h, mean, sd, nu):
    """Each point's share of the objective."""
    return loss(y, h) + 0.5 * nu * ((h - mean) / sd) ** 2


def prior_arrays(prior, nu, shape):
    """Mean and standard deviation for every point, after the checks; without a prior, numbers that a ``nu`` of 0 makes idle."""
    if not float(_guard.nonnegative("nu", nu).max()):
        nu = 0.0
    if prior is None:
        if np.max(nu) > 0:
            raise ValueError(f"nu is {np.max(nu):g} and there is no prior; give prior=constant_prior(...) or bootstrap_prior(...)")
        return jnp.zeros(shape), jnp.ones(shape)
    if not isinstance(prior, DecisionPrior):
        raise ValueError(f"prior is {prior!r}; give constant_prior(...), pointwise_prior(...) or bootstrap_prior(...)")
    return _fitted("prior.mean", prior.mean, shape), _positive_sd(prior.sd, shape)


def _fitted(name, x, shape):
    x = _guard.batch(name, x, shape)
    if x.ndim > len(shape):
        raise ValueError(f"{name} has shape {x.shape}; give {shape}, the shape of the outcomes or of the mean")
    return jnp.broadcast_to(x, shape)


def _positive_sd(sd, shape):
    sd = _fitted("prior.sd", sd, shape)
    if not bool((sd > 0).all()):
        raise ValueError(f"prior.sd holds {float(sd.min()):g}; give standard deviations above 0")
    return sd


def constant_prior(h_q, sd: float = 1.0) -> DecisionPrior:
    r"""The prior :math:`h_n \sim N(h_{q,n}, \sigma^2)`: centred on the q-optimal decisions, equally sure of all of them.

    Raises:
        ValueError: if a number is not finite or ``sd`` is not above 0.

    Example:
        >>> constant_prior(np.array([1.0, 2.0])).sd.tolist()
        [1.0, 1.0]

    Source: thesis, section 4.2.4, its first prior.
    """
    h_q = _guard.numbers("h_q", h_q)
    return DecisionPrior(h_q, jnp.full(h_q.shape, _guard.positive("sd", sd)))


def pointwise_prior(mean, sd) -> DecisionPrior:
    r"""The prior :math:`h_n \sim N(\mu_n, \sigma_n^2)`, each point with its own standard deviation.

    Raises:
        ValueError: if the shapes differ, a number is not finite, or a standard deviation is not above 0.

    Example:
        >>> pointwise_prior(np.array([1.0, 2.0]), np.array([0.5, 2.0])).sd.tolist()
        [0.5, 2.0]

    Source: thesis, section 4.2.4, its second prior, with the standard deviation of erratum T55.
    """
    mean = _guard.numbers("mean", mean)
    return DecisionPrior(mean, _positive_sd(sd, mean.shape))
