r"""The skewing map :math:`g(z) = z e^{\gamma z}`, made one-to-one, and its inverse, which is where W comes in.

The plain map turns round at :math:`z = -1/\gamma`. The safe one, :math:`g_e`, goes on along its tangent from the point where
:math:`\gamma g(z) = d`, a little before it would turn. Then every real number has exactly one origin, and

.. math:: z = W_e(\gamma x) / \gamma

finds it, where :math:`W_e` goes on along *its* tangent below :math:`d`. Everything here has a derivative in :math:`\gamma`, at zero, too:
written as :math:`z = x e^{-W(\gamma x)}`, the inverse divides by nothing there.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy import special

from course_pkg import _guard
from course_pkg.lambertw.function import lambertw

D = -0.9 / np.e  # where the straight part begins, as in the thesis


def modified_w(x, d: float = D):
    r"""W with a straight left arm: :math:`W(x)` for :math:`x \ge d`, and :math:`W(d) + W'(d)\,(x - d)` below.

    Increasing, with a continuous slope, from the whole real line onto itself.

    Args:
        x: real numbers of any shape.
        d: where the straight part begins, strictly between :math:`-1/e` and 0.

    Raises:
        ValueError: if ``d`` is out of its range or ``x`` is not made of real numbers.

    Example:
        >>> round(float(modified_w(-0.6)), 3), round(float(modified_w(1.0)), 3)
        (-1.87, 0.567)

    Source: thesis, equation 3.5, with the slope of erratum T37.
    """
    x = _guard.numbers("x", x)
    knee = knee_at(d)
    return jnp.where(x < knee.d, knee.w + (x - knee.d) / knee.slope, lambertw(jnp.maximum(x, knee.d)))


def g_e(z, gamma, d: float = D):
    r"""The skewing map: :math:`z e^{\gamma z}` where :math:`\gamma z \ge W(d)`, its tangent beyond.

    A positive :math:`\gamma` stretches to the right, a negative one to the left (erratum T34).

    Args:
        z: real numbers of any shape.
        gamma: the skew, any real number, or an array that broadcasts against ``z``.
        d: where the straight part begins, strictly between :math:`-1/e` and 0.

    Raises:
        ValueError: if ``d`` is out of its range, or ``z`` or ``gamma`` holds something that is not a finite number.

    Example:
        >>> [round(float(g_e(z, 0.2)), 3) for z in (-2.0, 0.0, 2.0)]
        [-1.341, 0.0, 2.984]
        >>> float(g_e(3.0, 0.0))
        3.0

    Source: thesis, equation 3.3, with the straight part of erratum T57.
    """
    z, gamma = _pair_of("z", z, gamma)
    knee = knee_at(d)
    straight = gamma * z < knee.w
    bent = z * jnp.exp(jnp.maximum(gamma * z, knee.w))
    return jnp.where(straight, knee.slope * z + knee.shift / _never_zero(gamma, straight), bent)


def g_e_inverse(x, gamma, d: float = D, w: Callable = lambertw):
    r"""The inverse of `g_e`: :math:`z = W_e(\gamma x) / \gamma`, and :math:`z = x` where :math:`\gamma = 0`.

    Args and errors as for `g_e`, with ``x`` for ``z``; and ``w``, what to compute W with from :math:`d` upwards: a `tabulated` one is
    faster and less exact.

    Example:
        >>> round(float(g_e_inverse(g_e(-1.5, 0.2), 0.2)), 5)
        -1.5
        >>> float(jax.grad(g_e_inverse, argnums=1)(3.0, 0.0))  # minus x squared: the skew is felt at zero, too
        -9.0

    Source: thesis, section 3.2.2, with errata T37, T41 and T57.
    """
    x, gamma = _pair_of("x", x, gamma)
    return _inverse(x, gamma, knee_at(d), w)


def log_slope(z, gamma, d: float = D):
    r""":math:`\log g_e'(z) = c + \log(1 + c)` with :math:`c = \max(\gamma z, W(d))`: the log Jacobian of the skewing map.

    Args and errors as for `g_e`.

    Example:
        >>> float(log_slope(5.0, 0.0))
        0.0

    Source: thesis, section 3.2.2 (the density of x), with errata TR9 and T57.
    """
    z, gamma = _pair_of("z", z, gamma)
    c = jnp.maximum(gamma * z, knee_at(d).w)
    return c + jnp.log1p(c)


class Skew(NamedTuple):
    r"""A map of :math:`\epsilon` with the fields that `families.compose` asks for; it has no base of its own."""

    init: Callable  # dim -> gamma_hat (d,); with a fixed skew ()
    transform: Callable  # gamma_hat, eps (d,) -> (d,)
    standardize: Callable  # gamma_hat, x (d,) -> eps (d,)
    log_det: Callable  # gamma_hat, eps (d,) -> ()
    affine: bool
    gamma: Callable  # gamma_hat -> the skew of each coordinate


def skew(gamma_max: float = 0.3, d: float = D) -> Skew:
    r"""A skew for each coordinate, to be learnt: :math:`\gamma = \gamma_m \tanh\hat\gamma` with :math:`\hat\gamma` any real number.

    ``compose(location_scale(base), skew())`` is the variational family :math:`\mathcal{W}_F(\mu, \sigma, \gamma)` of any base
    :math:`F`; ``compose(full_rank(base), skew())`` mixes skewed coordinates. The start is :math:`\hat\gamma = 0`.

    Args:
        gamma_max: :math:`\gamma_m`, above 0.
        d: where the straight part begins.

    Raises:
        ValueError: if ``gamma_max`` is not above 0 or ``d`` out of its range.

    Example:
        >>> from course_pkg import families
        >>> family = families.compose(families.location_scale(families.normal()), skew(gamma_max=0.5))
        >>> lam = family.init(2, scale=1.0)
        >>> lam[1].tolist(), family.transform(lam, jnp.array([1.0, -1.0])).tolist()
        ([0.0, 0.0], [1.0, -1.0])

    Source: thesis, section 3.2.4.
    """
    gamma_max = _guard.positive("gamma_max", gamma_max)

    def init(dim: int):
        return jnp.zeros(_guard.count("dim", dim))

    return _skew(init, lambda gamma_hat: gamma_max * jnp.tanh(gamma_hat), d)


def fixed_skew(gamma, d: float = D) -> Skew:
    r"""The skew :math:`\gamma`, given once and for all: a number, or one for each coordinate. Its parameters are the empty tuple.

    Raises:
        ValueError: if ``gamma`` holds something that is not a finite number, or ``d`` is out of its range.

    Example:
        >>> skewed = fixed_skew(0.2)
        >>> round(float(skewed.transform((), jnp.array([2.0]))[0]), 3)
        2.984

    Source: thesis, section 3.2.2.
    """
    gamma = _guard.numbers("gamma", gamma)

    def init(dim: int):
        if gamma.shape not in ((), (_guard.count("dim", dim),)):
            raise ValueError(f"gamma has shape {gamma.shape}; give one number or {dim}, one for each coordinate")
        return ()

    return _skew(init, lambda lam: gamma, d)  # noqa: ARG005


def _skew(init, gamma, d) -> Skew:
    knee_at(d)

    def transform(lam, eps):
        return g_e(eps, gamma(lam), d)

    def standardize(lam, x):
        return g_e_inverse(x, gamma(lam), d)

    def log_det(lam, eps):
        return log_slope(eps, gamma(lam), d).sum()

    return Skew(init, transform, standardize, log_det, False, gamma)


@partial(jax.custom_jvp, nondiff_argnums=(2, 3))
def _inverse(x, gamma, knee, lambert):
    y = gamma * x
    straight, far = y < knee.d, y > 1
    w = lambert(jnp.maximum(y, knee.d))
    # w / gamma keeps more digits where w is large, x exp(-w) where gamma is small
    bent = jnp.where(far, w / _never_zero(gamma, far), x * jnp.exp(-w))
    return jnp.where(straight, (x - knee.shift / _never_zero(gamma, straight)) / knee.slope, bent)


@_inverse.defjvp
def _inverse_jvp(knee, lambert, primals, tangents):
    """Both sides of z exp(gamma z) = x differentiated; on the straight part, z and gamma z stand for where it begins."""
    (x, gamma), (dx, dgamma) = primals, tangents
    z = _inverse(x, gamma, knee, lambert)
    straight = gamma * z < knee.w
    c = jnp.maximum(gamma * z, knee.w)
    origin = jnp.where(straight, knee.w / _never_zero(gamma, straight), z)
    return z, (jnp.exp(-c) * dx - origin**2 * dgamma) / (1 + c)


class Knee(NamedTuple):
    """What the straight part needs to know of the point where it begins."""

    d: float
    w: float  # W(d)
    slope: float  # of z exp(z) at w, which is 1 / W'(d)
    shift: float  # of the tangent: it runs through -w^2 exp(w) at 0


def knee_at(d) -> Knee:
    """The knee at ``d``, checked."""
    d = _guard.number("d", d)
    if not -1 / np.e < d < 0:
        raise ValueError(f"d is {d:g}; give a number strictly between -1/e and 0")
    w = float(special.lambertw(d).real)
    return Knee(d, w, float(np.exp(w) * (1 + w)), float(-(w**2) * np.exp(w)))


def _pair_of(name, value, gamma):
    return _guard.broadcast(**{name: value, "gamma": gamma})


def _never_zero(gamma, used):
    """`gamma` where it is used as a divisor, else 1: a derivative passes through what `where` drops, too."""
    return jnp.where(used, gamma, 1)
