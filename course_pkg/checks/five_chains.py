"""The sets of chains that an exercise puts before its reader."""

from functools import cache

import numpy as np

CHAINS, DRAWS = 4, 1000


def walk(rng: np.random.Generator, chains: int, draws: int, memory: float) -> np.ndarray:
    """Chains in which a draw is ``memory`` times the one before, plus noise, from the long-run law N(0, 1)."""
    noise = rng.normal(size=(chains, draws))
    x = np.empty((chains, draws))
    x[:, 0] = noise[:, 0]
    for t in range(1, draws):
        x[:, t] = memory * x[:, t - 1] + np.sqrt(1 - memory**2) * noise[:, t]
    return x


@cache
def _made() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(2)
    a = walk(rng, CHAINS, DRAWS, 0.95)
    b = walk(rng, CHAINS, DRAWS, 0.4) * np.array([[1.0], [1.0], [0.35], [1.0]])
    c = walk(rng, CHAINS, DRAWS, 0.4)
    d = walk(rng, CHAINS, DRAWS, 0.4) + 9 * np.exp(-np.arange(DRAWS) / 80)
    e = walk(rng, CHAINS, DRAWS, 0.4) + np.array([[-3.0], [3.2], [3.2], [-3.0]])
    return {"A": 3 + 0.4 * a, "B": 51 + 6 * b, "C": -0.2 + 0.07 * c, "D": 12 + 2 * d, "E": 1.5 * e}


def prepared() -> dict[str, np.ndarray]:
    """Five sets of draws of one unknown each, under the letters A to E; each has shape (4, 1000), a row for a chain.

    Example:
        >>> {letter: draws.shape for letter, draws in prepared().items()}
        {'A': (4, 1000), 'B': (4, 1000), 'C': (4, 1000), 'D': (4, 1000), 'E': (4, 1000)}
    """
    return {letter: draws.copy() for letter, draws in _made().items()}
