r"""The skewed density in PyMC's words.

Everything here is made of PyTensor's own operations, so a model compiles for each of PyMC's backends: C, Numba and JAX, and with them for
every sampler that PyMC offers.
"""

from collections.abc import Callable

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from pymc.distributions.shape_utils import implicit_size_from_params, rv_size_is_none
from pytensor.gradient import disconnected_grad

from course_pkg.lambertw.density import skewed_normal
from course_pkg.lambertw.function import DENOMINATOR, GUESS, INV_E, NUMERATOR
from course_pkg.lambertw.map import D, knee_at


def LambertW(name: str, mu=0.0, sigma=1.0, gamma=0.0, *, base: Callable | None = None, d: float = D, **kwargs):
    r"""A random variable :math:`y = \mu + \sigma\, g_e(z)` in the model at hand, for use as a likelihood or a prior.

    Args:
        name: of the variable.
        mu, sigma, gamma: location, scale above 0, and skew; numbers, arrays or variables of the model.
        base: what makes the density of ``z``: a function of ``size``, such as ``pm.Logistic.dist`` or ``partial(pm.StudentT.dist, nu=4)``;
            ``pm.Normal.dist`` where not given.
        d: where the straight part of the map begins, strictly between :math:`-1/e` and 0.
        **kwargs: what ``pm.CustomDist`` takes, ``observed``, ``shape`` and ``dims`` among them.

    Raises:
        ValueError: if ``d`` is out of its range.

    Example:
        >>> with pm.Model() as model:
        ...     gamma = pm.Uniform("gamma", -0.5, 0.5)
        ...     y = LambertW("y", 0.0, 1.0, gamma, observed=[0.0, 1.0])
        >>> round(float(pm.logp(LambertW_dist(0.0, 1.0, 0.3), 0.0).eval()), 4)
        -0.9189

    Source: thesis, section 3.2.4, with errata T37 and T57.
    """
    return pm.CustomDist(name, mu, sigma, gamma, **_parts(base, d), **kwargs)


def LambertW_dist(mu=0.0, sigma=1.0, gamma=0.0, *, base: Callable | None = None, d: float = D, **kwargs):
    """The same variable without a name and a model, as ``pm.Normal.dist`` is to ``pm.Normal``.

    Example:
        >>> pm.draw(LambertW_dist(0.0, 1.0, 0.3, size=3), random_seed=1).shape
        (3,)

    Source: as `LambertW`.
    """
    return pm.CustomDist.dist(mu, sigma, gamma, **_parts(base, d), **kwargs)


def LambertW_moments(mu=0.0, sigma=1.0, gamma=0.0, *, d: float = D):
    r"""Mean and variance of the variable with a normal base, as PyTensor expressions: neither is :math:`\mu` or :math:`\sigma^2`.

    Those of `safe_moments`. PyMC's own distributions say nothing of a variance; heavy-tailed bases may leave none.

    Args:
        mu, sigma, gamma: numbers, arrays or variables of a model that broadcast.
        d: as in `LambertW`.

    Raises:
        ValueError: if ``d`` is out of its range.

    Example:
        >>> [round(float(part.eval()), 4) for part in LambertW_moments(0.0, 1.0, 0.3)]
        [0.3133, 1.5314]

    Source: thesis, section 3.2.4, with errata T36 and T57.
    """
    mu, sigma, gamma = _full(*map(pt.as_tensor, (mu, sigma, gamma)))
    mean, variance = skewed_normal(gamma, knee_at(d), xp=pt, erfc=pt.erfc)
    return mu + sigma * mean, sigma**2 * variance


def _parts(base, d):
    base, knee = base or pm.Normal.dist, knee_at(d)

    def draw(mu, sigma, gamma, size):
        mu, sigma, gamma = _full(mu, sigma, gamma)
        if rv_size_is_none(size):
            size = implicit_size_from_params(mu, sigma, gamma, ndims_params=[0, 0, 0])
        return mu + sigma * _g_e(base(size=size), gamma, knee)

    def logp(value, mu, sigma, gamma):
        mu, sigma, gamma = _full(mu, sigma, gamma)
        z, log_slope = _back((value - mu) / sigma, gamma, knee)
        density = pm.logp(base(), z) - log_slope - pt.log(sigma)
        return pm.distributions.dist_math.check_parameters(density, sigma > 0, msg="sigma > 0")

    return {"dist": draw, "logp": logp, "class_name": "LambertW"}


def _full(*parts):
    """In full precision: PyTensor keeps a constant such as 2.0 in the least that holds it, and its logarithm, too."""
    return (pt.cast(part, pytensor.config.floatX) for part in parts)


def _g_e(z, gamma, knee):
    straight = gamma * z < knee.w
    bent = z * pt.exp(pt.maximum(gamma * z, knee.w))
    return pt.switch(straight, knee.slope * z + knee.shift / pt.switch(straight, gamma, 1.0), bent)


def _back(x, gamma, knee):
    """The origin ``z`` of ``x``, and the logarithm of the slope of the map there."""
    y = gamma * x
    straight = y < knee.d
    w = _lambertw(pt.maximum(y, knee.d))
    z = pt.switch(straight, (x - knee.shift / pt.switch(straight, gamma, 1.0)) / knee.slope, x * pt.exp(-w))
    c = pt.switch(straight, knee.w, w)
    return z, c + pt.log1p(c)


def _lambertw(x):
    """The principal branch, away from -1/e. The guess counts as a number; the last step of Halley has the first two derivatives."""
    p = pt.sqrt(2 * np.e * (x + INV_E[0]))
    guess = pt.switch(p < GUESS[1], p * _polynomial(NUMERATOR, p) / _polynomial(DENOMINATOR, p) - 1, _from_logarithm(x))
    return _halley(disconnected_grad(_halley(guess, disconnected_grad(x))), x)


def _halley(w, x):
    r = w - x * pt.exp(-w)
    return w - 2 * (1 + w) * r / (2 * (1 + w) ** 2 - (2 + w) * r)


def _from_logarithm(x):
    log_x = pt.log(pt.maximum(x, 2.0))  # used further out only
    w = log_x - pt.log(log_x) + pt.log(log_x) / log_x
    z = log_x - pt.log(w) - w
    q = 2 * (1 + w) * (1 + w + 2 / 3 * z)
    return w * (1 + z / (1 + w) * (q - z) / (q - 2 * z))


def _polynomial(coefficients, p):
    value = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        value = value * p + coefficient
    return value
