r"""Normalising flows: a family bent until it fits.

A coupling layer leaves some coordinates as they are, and moves and scales each of the others by what a small network makes of those. So
its inverse needs no inverse of the network, and its Jacobian is a triangle whose diagonal is known. Layers take turns at who moves.

Like a skew, a `Coupling` has no base of its own: ``families.compose(families.full_rank(families.normal()), coupling())`` is a family.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from course_pkg import _guard


class Networks(NamedTuple):
    """The networks of all layers, each with one hidden layer of tanh units; it puts out d log scales, and then d shifts."""

    weights: Float[Array, "layers d width"]
    bias: Float[Array, "layers width"]
    out_weights: Float[Array, "layers width two_d"]
    out_bias: Float[Array, "layers two_d"]


class Coupling(NamedTuple):
    r"""A map of :math:`\epsilon` with the fields that `families.compose` asks for."""

    init: Callable  # dim -> Networks
    transform: Callable  # networks, eps (d,) -> (d,)
    standardize: Callable  # networks, x (d,) -> eps (d,)
    log_det: Callable  # networks, eps (d,) -> ()
    affine: bool = False


def coupling(layers: int = 4, width: int = 16, reach: float = 2.0) -> Coupling:
    r"""Affine coupling layers: where a coordinate :math:`j` moves, :math:`x_j = \epsilon_j\, e^{s_j} + t_j`.

    The log scale :math:`s` and the shift :math:`t` are functions of the coordinates that stay. Even coordinates stay in the first layer,
    odd ones in the second, and so on. All layers start as the identity: the hidden weights are random, always the same, and those
    behind them zero.

    Args:
        layers: at least 2, so that every coordinate moves.
        width: units in the hidden layer of each network.
        reach: above 0; log scales stay within ``-reach`` and ``reach``, by a tanh, or a first wild step could overflow.

    Raises:
        ValueError: if an argument is out of its range; and from ``init`` if there is but one coordinate, which has no other to look at.

    Example:
        >>> from course_pkg import families
        >>> family = families.compose(families.full_rank(families.normal()), coupling())
        >>> lam = family.init(2, location=3.0, scale=0.5)
        >>> family.transform(lam, jnp.array([1.0, 2.0])).tolist()  # before the first step it bends nothing
        [3.5, 4.0]

    Source: Dinh, Sohl-Dickstein and Bengio (2017), equations 4 to 8.
    """
    layers, width, reach = _guard.count("layers", layers, 2), _guard.count("width", width), _guard.positive("reach", reach)

    def init(dim: int) -> Networks:
        dim = _guard.count("dim", dim, 2)
        hidden = jax.random.normal(jax.random.key(0), (layers, dim, width))
        return Networks(hidden, jnp.zeros((layers, width)), jnp.zeros((layers, width, 2 * dim)), jnp.zeros((layers, 2 * dim)))

    def shape(networks, layer, x):
        """Log scale and shift of a layer, zero where coordinates stay."""
        moves = (jnp.arange(x.size) + layer) % 2
        one = jax.tree.map(lambda leaf: leaf[layer], networks)
        out = jnp.tanh((x * (1 - moves)) @ one.weights + one.bias) @ one.out_weights + one.out_bias
        log_scale, shift = jnp.split(out, 2)
        return moves * reach * jnp.tanh(log_scale / reach), moves * shift

    def forward(networks, eps):
        x, total = eps, 0.0
        for layer in range(layers):
            log_scale, shift = shape(networks, layer, x)
            x, total = x * jnp.exp(log_scale) + shift, total + log_scale.sum()
        return x, total

    def standardize(networks, x):
        for layer in reversed(range(layers)):
            log_scale, shift = shape(networks, layer, x)
            x = (x - shift) * jnp.exp(-log_scale)
        return x

    return Coupling(init, lambda lam, eps: forward(lam, eps)[0], standardize, lambda lam, eps: forward(lam, eps)[1])
