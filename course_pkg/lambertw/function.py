r"""The Lambert W function, which undoes :math:`w \mapsto w e^w`: both real branches, exact to rounding, differentiable, fast.

How a value is found, for all numbers at once and without a loop:

1. a guess. Not far from the point :math:`x = -1/e`, where the two branches meet, W is a smooth function of :math:`p = \pm\sqrt{2 (e x +
   1)}`, and a quotient of two polynomials is right to five digits or more. Further out the equation reads :math:`w + \log|w| = \log|x|`,
   which one step of Fritsch, Shafer and Crowley solves to five digits even in single precision;
2. one step of Halley, which trebles the digits.

Close to the branch point the quotient alone is exact; every iteration would lose digits there. Close to zero a short series keeps
them. XLA treats the subnormal numbers, below 10^-307 or so, as zero, and so do we.

`newton` and `halley` are the iterations of a textbook, for looking at.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from course_pkg import _guard

# 1/e, and what the double before drops of it
INV_E = (0.36787944117144233, -1.2428753672788363e-17)

# 1 + W = p N(p) / D(p), lowest power first: the Padé quotient of degrees 6 and 6 of W's series at the branch point (Corless and others,
# 1996, equation 4.22). A test makes it anew in fractions.
NUMERATOR = (
    1.0, 1.934566117736432, 1.3840936808351572, 0.4471579722083312, 0.06303147803022772, 0.00298393543214853, 1.159603046700761e-05,
)  # fmt: skip
DENOMINATOR = (
    1.0, 2.2678994510697654, 1.987282386747301, 0.8427304257291804, 0.17641871158689446, 0.01634419087908057, 0.00046953428534895683,
)  # fmt: skip
EXACT = 0.3  # |p| up to which the quotient has all digits of a double
GUESS = (-1.1, 4.0)  # p between which it has five

ZERO = 1e-4  # |x| up to which four terms of the series at zero have all digits


def lambertw(x, branch: int = 0):
    r"""The number :math:`w` with :math:`w e^w = x` on a real branch, element by element.

    Branch 0 takes :math:`x \ge -1/e` to :math:`w \ge -1`, branch -1 takes :math:`-1/e \le x < 0` to :math:`w \le -1`. Outside the result is
    NaN; the float that is nearest to :math:`-1/e` counts as :math:`-1/e`. Derivatives of any order, forward and in reverse, come from
    :math:`W'(x) = e^{-W} / (1 + W)`: 1 at zero, infinite at the branch point.

    Args:
        x: real numbers of any shape, in single or double precision; what is not a float becomes one.
        branch: 0 or -1.

    Returns:
        An array of the shape and precision of ``x``. Relative error below 1e-14 in double and 1e-6 in single precision.

    Raises:
        ValueError: if ``branch`` is neither 0 nor -1, or ``x`` is not made of real numbers.

    Example:
        >>> round(float(lambertw(1.0)), 6), round(float(lambertw(-0.2, branch=-1)), 6)
        (0.567143, -2.542641)
        >>> float(jax.grad(lambertw)(0.0))
        1.0

    Source: thesis, section 3.2.1, with erratum T33, and section 3.2.2, with TR9 (the derivative); Corless and others (1996).
    """
    x = _guard.floats("x", x)
    return _pair(x, _branch(branch))[0]


def one_plus_w(delta, branch: int = 0):
    r""":math:`1 + W(-1/e + \delta)`: how far W is from the branch point, given how far its argument is.

    A float close to :math:`-1/e` has few digits of its distance :math:`\delta` left. Who knows :math:`\delta` itself gets all digits of
    :math:`1 + W \approx \pm\sqrt{2 e \delta}`, however small, and of its derivatives.

    Args:
        delta: real numbers, not below 0; for branch -1 not above :math:`1/e`. Outside the result is NaN.
        branch: 0 or -1.

    Raises:
        ValueError: as `lambertw`.

    Example:
        >>> round(1e15 * float(one_plus_w(1e-30)), 4)  # in double precision 1e-30 vanishes beside 1/e
        2.3316

    Source: Corless and others (1996), section 4.
    """
    return _height(_guard.floats("delta", delta), _branch(branch))


class Iterates(NamedTuple):
    """What an iteration went through."""

    path: Array  # (steps + 1, ...) the guess and every iterate
    converged_at: Int[Array, "..."]  # steps until nothing moved any more but by rounding; -1 where that never came


def newton(x, guess, steps: int = 50) -> Iterates:
    r"""Newton's iteration :math:`w \leftarrow w - (w e^w - x) / (e^w (1 + w))`, for looking at: right digits double.

    Args:
        x: the argument of W, any shape.
        guess: :math:`w_0`, any shape that broadcasts; it chooses the branch, above or below -1.
        steps: how many, at least 1.

    Raises:
        ValueError: if ``steps`` is below 1, or ``x`` or ``guess`` holds something that is not a finite number.

    Example:
        >>> run = newton(1.0, 0.0)
        >>> [round(float(w), 3) for w in run.path[:4]], int(run.converged_at)
        ([0.0, 1.0, 0.684, 0.577], 5)

    Source: thesis, section 3.2.1, with the letters of erratum T33.
    """

    def step(w, x):
        return w - (w * jnp.exp(w) - x) / (jnp.exp(w) * (1 + w))

    return _iterate(step, x, guess, steps)


def halley(x, guess, steps: int = 50) -> Iterates:
    r"""Halley's iteration, which follows the bend of the curve as well, for looking at: right digits treble.

    .. math:: w \leftarrow w - \frac{f}{e^w (w + 1) - \frac{(w + 2) f}{2 w + 2}}, \qquad f = w e^w - x.

    Arguments and errors as for `newton`.

    Example:
        >>> int(halley(1.0, 0.0).converged_at)
        3

    Source: thesis, section 3.2.1, with the letters of erratum T33.
    """

    def step(w, x):
        f = w * jnp.exp(w) - x
        return w - f / (jnp.exp(w) * (w + 1) - (w + 2) * f / (2 * w + 2))

    return _iterate(step, x, guess, steps)


def _iterate(step, x, guess, steps) -> Iterates:
    steps = _guard.count("steps", steps)
    x, guess = _guard.broadcast(x=x, guess=guess)
    dtype = x.dtype

    def scanned(w, _):
        return (new := step(w, x)), new

    path = jnp.concatenate([guess[None], jax.lax.scan(scanned, guess, length=steps)[1]])
    change = jnp.abs(jnp.diff(path, axis=0))
    still = jnp.isfinite(path[1:]) & (change <= 8 * jnp.finfo(dtype).eps * (1 + jnp.abs(path[1:])))
    return Iterates(path, jnp.where(still.any(axis=0), jnp.argmax(still, axis=0), -1))


def _branch(branch) -> int:
    if not isinstance(branch, int | np.integer) or branch not in (0, -1):
        raise ValueError(f"branch is {branch!r}; give 0 or -1, the two real ones")
    return int(branch)


@partial(jax.custom_jvp, nondiff_argnums=(1,))
@partial(jax.jit, static_argnums=1)
def _pair(x, branch):
    """W and 1 + W; the second keeps its digits at the branch point, where the derivative needs them."""
    high, low = _inverse_e(x.dtype)
    inside = (x >= -high) & ((x <= 0) | (branch == 0))
    w, above = _solve(jnp.maximum((x + high) + low, 0), x, branch)
    return jnp.where(inside, w, jnp.nan), jnp.where(inside, above, jnp.nan)


@_pair.defjvp
def _pair_jvp(branch, primals, tangents):
    (x,), (dx,) = primals, tangents
    w, above = _pair(x, branch)
    slope = jnp.exp(-w) / above if branch == 0 else w / (x * above)  # the same number; one cannot take 0, the other overflows near it
    return (w, above), (slope * dx, slope * dx)


@partial(jax.custom_jvp, nondiff_argnums=(1,))
@partial(jax.jit, static_argnums=1)
def _height(delta, branch):
    high, low = _inverse_e(delta.dtype)
    x = (delta - high) - low
    inside = (delta >= 0) & ((x <= 0) | (branch == 0))
    return jnp.where(inside, _solve(delta, x, branch)[1], jnp.nan)


@_height.defjvp
def _height_jvp(branch, primals, tangents):
    above = _height(primals[0], branch)
    return above, jnp.exp(1 - above) / above * tangents[0]


def _solve(delta, x, branch):
    """W and 1 + W at ``x = -1/e + delta``; what one of the two cannot say close to the branch point or to zero, the other does."""
    p = (1 if branch == 0 else -1) * jnp.sqrt(2 * np.e * delta)
    quotient = p * _polynomial(NUMERATOR, p) / _polynomial(DENOMINATOR, p)
    w = jnp.where((p > GUESS[0]) & (p < GUESS[1]), quotient - 1, _from_logarithm(x))
    # Halley's step in u = x exp(-w), which equals w at the root; in two halves, for exp(-w) alone may overflow
    half = jnp.exp(-0.5 * w)
    r = w - x * half * half
    w = w - 2 * (1 + w) * r / (2 * (1 + w) ** 2 - (2 + w) * r)
    near = jnp.abs(p) < EXACT
    above = jnp.where(near, quotient, 1 + w)
    w = jnp.where(near, quotient - 1, w)
    if branch == 0:
        w = jnp.where(jnp.abs(x) < ZERO, x * (1 - x * (1 - x * (1.5 - x * (8 / 3)))), w)
        return jnp.where(x == jnp.inf, jnp.inf, w), jnp.where(x == jnp.inf, jnp.inf, above)
    return jnp.where(x == 0, -jnp.inf, w), jnp.where(x == 0, -jnp.inf, above)


def _from_logarithm(x):
    """W from the equation of logarithms, in single precision, which halves the cost and is enough for a guess."""
    mantissa, exponent = jnp.frexp(jnp.abs(x))
    log_x = jnp.log(mantissa.astype(jnp.float32)) + exponent.astype(jnp.float32) * np.float32(np.log(2))
    log_log = jnp.log(jnp.abs(log_x))
    w = log_x - log_log + log_log / log_x
    z = log_x - jnp.log(jnp.abs(w)) - w
    q = 2 * (1 + w) * (1 + w + 2 / 3 * z)
    w = w * (1 + z / (1 + w) * (q - z) / (q - 2 * z))
    return w.astype(x.dtype)


def _polynomial(coefficients, p):
    value = jnp.full_like(p, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value = value * p + coefficient
    return value


def _inverse_e(dtype):
    """1/e as the sum of two numbers of this precision."""
    high = np.asarray(INV_E[0], dtype)
    return high, np.asarray(INV_E[0] - float(high) + INV_E[1], dtype)
