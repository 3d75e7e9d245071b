"""Roads of the topics' references that need no digamma: a mean logarithm by an integral, and sums over all assignments."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(80)
_AT, _MASS = (_NODES + 1) / 2, _WEIGHTS / 2
ABOVE = 3  # the integrand is smooth three above a parameter; a recurrence leads back


def mean_logs(eta: Any) -> np.ndarray:
    """Means of the logarithms under a Dirichlet, along the last axis, by quadrature of (x^(a-1) - x^(s-1)) / (1 - x)."""
    one = np.asarray(eta, dtype=float)
    total = one.sum(axis=-1, keepdims=True)
    high = (_AT ** (one[..., None] + ABOVE - 1) - _AT ** (total[..., None] + ABOVE - 1)) / (1 - _AT) @ _MASS
    return sum(1 / (total + j) - 1 / (one + j) for j in range(ABOVE)) - high


def shared(scores: np.ndarray) -> np.ndarray:
    """Probabilities along the last axis from differences of their logarithms."""
    with np.errstate(over="ignore"):
        return 1 / np.exp(scores[..., None, :] - scores[..., :, None]).sum(axis=-1)


def assignments(z: np.ndarray) -> Iterator[tuple[np.ndarray, float]]:
    """Every way to give each word one topic, with its probability if word l has topic k with probability z[l, k]."""
    places = np.arange(len(z))
    for chosen in product(range(z.shape[1]), repeat=len(z)):
        one = np.array(chosen)
        yield one, float(np.prod(z[places, one]))


def blurred(rng: np.random.Generator, T: int, K: int) -> np.ndarray:
    """Probabilities of the topics of T words, none of them sure."""
    return 0.06 + (1 - 0.06 * K) * rng.dirichlet(np.ones(K), T)
