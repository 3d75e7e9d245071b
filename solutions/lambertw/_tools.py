"""What several records of this chapter share: origins by bisection, slopes by finite differences, answers that must be real."""

from functools import lru_cache

import numpy as np
from scipy import special
from scipy.stats import norm

from course_pkg.checks._judge import Trouble

COMPLEX = "Your numbers are complex. SciPy's lambertw returns complex numbers even where the answer is real: take `.real`."
# SciPy's W, without its imaginary part
W = lambda x, branch=0: special.lambertw(x, branch).real


def real(answer, *case):
    """What an answer gives, if its numbers are not complex."""
    got = answer(*case)
    if any(np.iscomplexobj(part) for part in (got if isinstance(got, tuple | list) else (got,))):
        raise Trouble(COMPLEX)
    return got


# A derivative without calculus, from four neighbours
steep = lambda f, at, step=1e-3: (8 * (f(at + step) - f(at - step)) - (f(at + 2 * step) - f(at - 2 * step))) / (12 * step)


def bisect(rising, value, low, high):
    """Where a function that rises takes ``value``, element by element."""
    value = np.asarray(value, dtype=float)
    low, high = np.broadcast_to(low, value.shape), np.broadcast_to(high, value.shape)
    for _ in range(54):
        middle = (low + high) / 2
        below = rising(middle) < value
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


# The plain map
bent = lambda z, gamma: z * np.exp(gamma * z)


def origin(x, gamma):
    """Where x comes from on the plain map's long side; x inside the support. No W is needed, and a gamma of 0 is like any other."""
    low, high = (max(-60.0, -1 / gamma) if gamma > 0 else -60.0), (min(60.0, -1 / gamma) if gamma < 0 else 60.0)
    return bisect(lambda z: bent(z, gamma), x, low, high)


def safe(z, gamma, d=-0.9 / np.e):
    """The map with a straight tail: its slope at the knee by finite differences."""
    knee, slope = _knee(d)
    straight = gamma * z < knee
    return np.where(straight, (d + slope * (gamma * z - knee)) / gamma, bent(np.where(straight, 0.0, z), gamma))


@lru_cache
def _knee(d):
    """Where v e^v is d, above -1, and its slope there."""
    knee = float(bisect(lambda v: bent(v, 1.0), d, -1.0, 0.0))
    return knee, float(steep(lambda v: bent(v, 1.0), knee))


# Where x comes from on the map with a straight tail
safe_origin = lambda x, gamma, d=-0.9 / np.e: bisect(lambda z: safe(z, gamma, d), x, -60.0, 60.0)
# The density of x for a standard normal z: the slope of its distribution function
density = lambda x, gamma, back=origin: steep(lambda t: norm.cdf(back(t, gamma)), x)
