"""What several verdicts of this chapter share: mixing words into a verdict, expected losses by quadrature, slopes by differences."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(80)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def slope(f: Callable[[float], Any], at: float, step: float = 1e-5) -> Any:
    """A derivative without calculus."""
    return (f(at + step) - f(at - step)) / (2 * step)


def normal_mean(f: Callable[[np.ndarray], Any], mean: float, sd: float) -> float:
    """The mean of a smooth function under a normal distribution, by Gauss-Hermite quadrature."""
    return float(WEIGHTS @ f(mean + sd * NODES))


def known(values: Iterable[Any]) -> Callable[..., Any]:
    """A reference whose values were there before the inputs: they were made from it. It is asked once for each case, in order."""
    left = iter(values)
    return lambda *_: next(left)


def balanced(rng: np.random.Generator, size: int) -> np.ndarray:
    """Deviations that add up to zero, of which the largest is 1 in size."""
    d = rng.uniform(-1, 1, size)
    d -= d.mean()
    return d / np.abs(d).max()
