"""A function ready-made: its values on a grid, and what to do between them.

A place in a table is found in fewer operations than a value of `lambertw`, so a table of W is the faster of the two: several times
faster for W alone, and hardly where W is a part of a likelihood with its gradient. It pays for that with digits, and it has ends. So
nothing looks W up unless it is asked to: hand a table to `g_e_inverse` or `log_density` as ``w``. ``benchmarks/lambertw.py`` prints
times and errors of both.
"""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from course_pkg import _guard


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Tabulated:
    """Values on an even grid. Call it like the function that it stands for; `jax.jit` takes it as a function or as an argument."""

    lo: float = dataclasses.field(metadata={"static": True})
    hi: float = dataclasses.field(metadata={"static": True})
    values: Float[Array, " n"]
    slopes: Float[Array, " n"] | None  # for the cubic; None for the linear
    # largest distance from the function, seen at ten places in every interval
    error: float = dataclasses.field(metadata={"static": True})

    def __call__(self, x):
        """The function at ``x``, any shape: interpolated between ``lo`` and ``hi``, straight on beyond them."""
        n = self.values.shape[0]
        width = (self.hi - self.lo) / (n - 1)
        place = (jnp.asarray(x, self.values.dtype) - self.lo) / width
        # the index is what must stay inside the table: a negative one would count from its end (erratum T40)
        index = jnp.clip(jnp.floor(place), 0, n - 2).astype(jnp.int32)
        t = place - index
        left, right = self.values[index], self.values[index + 1]
        if self.slopes is None:
            return left + t * (right - left)
        rise, fall = width * self.slopes[index], width * self.slopes[index + 1]
        inner = jnp.clip(t, 0, 1)
        bend = inner * (1 - inner) * ((1 - inner) * (rise - (right - left)) + inner * ((right - left) - fall))
        return left + inner * (right - left) + bend + jnp.where(t < 0, t * rise, jnp.where(t > 1, (t - 1) * fall, 0.0))


def tabulated(fn: Callable, lo: float, hi: float, resolution: int, *, kind: str = "cubic") -> Tabulated:
    r"""A table of a function of one number, with ``resolution`` intervals for each unit of its argument.

    Linear interpolation errs by up to :math:`h^2 \max|f''| / 8`, where :math:`h` is the width of an interval; cubic (Hermite's, which meets
    values and slopes) by up to :math:`h^4 \max|f''''| / 384`. Both have a derivative, and continue as straight lines beyond the ends.

    Args:
        fn: from an array to an array of the same shape, differentiable for the cubic.
        lo, hi: ends of the table, ``lo`` below ``hi``; ``fn`` must be finite on all of it.
        resolution: intervals in a unit, at least 1; the table has about ``resolution * (hi - lo) + 1`` entries.
        kind: ``"linear"`` or ``"cubic"``.

    Raises:
        ValueError: if ``lo`` is not below ``hi``, ``resolution`` is below 1, ``kind`` is neither word, or ``fn`` or its slope is not
            finite.

    Example:
        >>> table = tabulated(jnp.sin, 0.0, 3.0, 10)
        >>> bool(abs(table(1.234) - jnp.sin(1.234)) <= table.error), table.error < 1e-6
        (True, True)

    Source: thesis, section 3.2.4 (memoisation), with erratum T40.
    """
    lo, hi, resolution = _guard.number("lo", lo), _guard.number("hi", hi), _guard.count("resolution", resolution)
    if lo >= hi:
        raise ValueError(f"lo is {lo:g} and hi is {hi:g}; give lo below hi")
    _guard.choice("kind", kind, ("linear", "cubic"))
    intervals = max(1, int(np.ceil(resolution * (hi - lo))))
    grid = jnp.linspace(lo, hi, intervals + 1)
    values, slopes = fn(grid), jax.vmap(jax.grad(lambda t: fn(t)))(grid) if kind == "cubic" else None
    for name, found in (("fn", values), ("the slope of fn", slopes)):
        if found is not None and not bool(jnp.isfinite(found).all()):
            place = float(grid[int(jnp.argmin(jnp.isfinite(found)))])
            raise ValueError(f"{name} is not finite at {place:g}; give lo and hi inside its domain")
    table = Tabulated(lo, hi, values, slopes, np.nan)
    between = jnp.linspace(lo, hi, 10 * intervals + 1)
    return dataclasses.replace(table, error=float(jnp.abs(table(between) - fn(between)).max()))
