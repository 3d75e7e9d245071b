r"""Decisions from a network: learn the map from covariates to decisions once, instead of solving for each point.

The network is trained on predictive draws, by the loss itself: :math:`\arg\min_\phi \mathbb{E}_x \mathbb{E}_{y \mid x}\,
\ell(y, \text{NN}_\phi(x))`. Its best answer at every :math:`x` is the Bayes decision there.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from course_pkg import _guard
from course_pkg.decisions.rules import as_loss
from course_pkg.fit import Settings, fit
from course_pkg.gradients import Estimate, Estimator, no_state


class Network(NamedTuple):
    """Weights of a small network, and the scales that its inputs and output are seen on."""

    weights: list[Any]  # (matrix, bias) of each layer
    centre: Float[Array, " d"]  # these four are held fixed
    spread: Float[Array, " d"]
    location: Float[Array, ""]
    scale: Float[Array, ""]


def start_network(key: PRNGKeyArray, x, *, location: float = 0.0, scale: float = 1.0, width: int = 32, depth: int = 2) -> Network:
    """A network of tanh layers that begins near ``location`` everywhere.

    Args:
        key: random key.
        x: features of some points, shape ``(n, d)``; they set the scale of the inputs.
        location: of the decisions.
        scale: of the decisions, above 0.
        width: of a layer.
        depth: layers between input and output.

    Raises:
        ValueError: if a number is out of range or ``x`` is not a finite table.

    Example:
        >>> network = start_network(jax.random.key(0), jnp.array([[0.0], [1.0]]))
        >>> decide_with(network, jnp.array([[0.5], [2.0]])).shape
        (2,)
    """
    key, x, scale = _guard.key(key), _guard.numbers("x", x, ndim=2), _guard.positive("scale", scale)
    width, depth, location = _guard.count("width", width), _guard.count("depth", depth), _guard.number("location", location)
    sizes = [x.shape[1], *[width] * depth, 1]
    keys = jax.random.split(key, depth + 1)
    pairs = zip(keys, sizes[:-1], sizes[1:], strict=True)
    weights = [(jax.random.normal(k, (n, m)) / jnp.sqrt(n), jnp.zeros(m)) for k, n, m in pairs]
    spread = x.std(axis=0)
    spread = jnp.where(spread > 0, spread, 1.0)
    return Network(weights, x.mean(axis=0), spread, jnp.asarray(location), jnp.asarray(scale))


def decide_with(network: Network, x):
    """The network's decision at each row of ``x``, shape ``(n, d)``.

    Raises:
        ValueError: if ``x`` is not a finite table with as many columns as the network was started for.
    """
    x = _guard.numbers("x", x, ndim=2)
    if x.shape[1] != network.centre.shape[0]:
        raise ValueError(f"x has shape {x.shape}; give {network.centre.shape[0]} columns, as at the start of the network")
    _, *fixed = jax.lax.stop_gradient(network)
    centre, spread, location, scale = fixed
    a = (x - centre[None]) / spread[None]
    for matrix, bias in network.weights[:-1]:
        a = jnp.tanh(a @ matrix + bias[None])
    matrix, bias = network.weights[-1]
    return location + scale * (a @ matrix + bias[None])[:, 0]


class NetworkTraining(NamedTuple):
    """The size of a network that decides, and how it is trained.

    Args:
        width: of a layer.
        depth: layers between input and output.
        steps: of Adam, with a rate that falls to zero as a cosine.
        rate: the first.
        batch: points of a step.
        draws: of the predictive at each of them.

    Example:
        >>> NetworkTraining(width=8, depth=1).batch
        512
    """

    width: int = 32
    depth: int = 2
    steps: int = 3000
    rate: float = 3e-3
    batch: int = 512
    draws: int = 50


TRAINING = NetworkTraining()


def amortise(key: PRNGKeyArray, predict: Callable, x, loss, *, training: NetworkTraining = TRAINING) -> Network:
    r"""Train a network to decide at any ``x`` as the predictive distribution there would have it.

    Args:
        key: random key.
        predict: ``(key, x (b, d), draws) -> y (draws, b)``, predictive draws at some points.
        x: shape ``(n, d)``, the points that it will be asked about, or some of their kind.
        loss: a `Loss` or a function ``(y, h) -> cost``.
        training: the network's size, and the steps, points and draws it learns from; see `NetworkTraining`.

    Raises:
        ValueError: if a field of ``training`` is out of range or ``x`` is not a finite table.

    Example:
        >>> from course_pkg.decisions import squared
        >>> noisy = lambda key, x, draws: x[None, :, 0] + jax.random.normal(key, (draws, len(x)))
        >>> x = jnp.linspace(-1.0, 1.0, 50)[:, None]
        >>> network = amortise(jax.random.key(0), noisy, x, squared(), training=NetworkTraining(width=8, depth=1, steps=500, batch=50))
        >>> bool(jnp.abs(decide_with(network, x) - x[:, 0]).mean() < 0.1)  # the predictive mean
        True

    Source: thesis, section 4.1.6 and Table 4.2.
    """
    key, x, loss = _guard.key(key), _guard.numbers("x", x, ndim=2), as_loss(loss)
    width, depth, steps, rate, batch, draws = _checked(training)
    keys = jax.random.split(key, 3)
    sample = predict(keys[0], x[:: max(1, len(x) // 1000)], draws)
    _guard.traceable(f"loss {loss.name}", loss.loss, sample, sample[:1])
    network = start_network(keys[1], x, location=float(sample.mean()), scale=float(sample.std()), width=width, depth=depth)
    optimizer = optax.adam(optax.cosine_decay_schedule(rate, steps))
    estimator = _network_estimator(predict, loss, batch, draws)
    return fit(keys[2], estimator, optimizer, network, x, steps, Settings(progress=False, judge=False)).lam  # minus a loss is not in nats


def _checked(training: NetworkTraining) -> NetworkTraining:
    if not isinstance(training, NetworkTraining):
        raise ValueError(f"training is {training!r}; give a record, such as NetworkTraining(width=16)")
    counts = {name: _guard.count(name, n) for name, n in training._asdict().items() if name != "rate"}
    return NetworkTraining(rate=_guard.positive("rate", training.rate), **counts)


def _network_estimator(predict, loss, batch, draws) -> Estimator:
    def draw(key, network, x):  # noqa: ARG001
        points, outcome = jax.random.split(key)
        return jax.random.randint(points, (batch,), 0, x.shape[0]), outcome

    def estimate(noise, network, state, x):
        index, key = noise
        rows = x[index]
        y = predict(key, rows, draws)
        value, gradient = jax.value_and_grad(lambda n: -loss.loss(y, decide_with(n, rows)[None]).mean() / network.scale)(network)
        return Estimate(value, gradient, jax.tree.map(lambda g: g[None], gradient)), state

    return Estimator(no_state, draw, estimate)
