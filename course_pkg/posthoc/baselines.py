r"""What a decision maker has to beat: one quantile of the predictive for all points.

If the predictive is wrong in the same way everywhere, reading another quantile off it mends the decisions. The level is the only number
that is learnt. A linear map of all quantiles, the next step up, is `fit_decision_maker` without a hidden layer. `conformal_quantile`, what
practitioners use in its place, counts outcomes and does not price them.
"""

import math
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from scipy import optimize

from course_pkg import _guard
from course_pkg.decisions import empirical_risk
from course_pkg.posthoc.features import draws_and_outcomes, predictive_draws, sorted_quantiles

GRID = np.arange(1, 100) / 100


class SingleQuantile(NamedTuple):
    """The decision to take the same quantile everywhere. Call it with draws of shape ``(..., S)``, or with a ``DataTree``."""

    level: float
    risk: float  # empirical, on the points it was chosen on

    def __call__(self, predictive, **where):
        """The quantile of each point's draws, shape ``(...)``."""
        return jnp.asarray(sorted_quantiles(predictive_draws(predictive, **where), np.array([self.level]))[..., 0])


def single_quantile(predictive, y, loss, **where) -> SingleQuantile:
    """The one level whose quantiles cost least on ``y``: the best of 99 levels, refined between its neighbours.

    Args:
        predictive: draws of shape ``(..., S)``, or what `predictive_draws` reads, with its ``variable``, ``group`` and ``axis``.
        y: outcomes, shape ``(...)``.
        loss: a `Loss` or a function ``(y, h) -> cost``.

    Raises:
        ValueError: if the shapes do not fit, a plain array has as many draws as points and no ``axis``, or a number is not finite.

    Example:
        >>> from course_pkg.decisions import absolute
        >>> draws = np.tile(np.linspace(0.0, 1.0, 101), (50, 1))
        >>> baseline = single_quantile(draws, np.full(50, 0.8), absolute())
        >>> round(baseline.level, 2), baseline(draws).shape
        (0.8, (50,))

    Source: post-hoc paper's baseline "optimal quantile".
    """
    draws, y = draws_and_outcomes(predictive, y, **where)
    draws = np.sort(draws, axis=-1)

    def risk(level):
        place = level * (draws.shape[-1] - 1)
        low, high = int(np.floor(place)), int(np.ceil(place))
        return float(empirical_risk(loss, y, draws[..., low] + (place - low) * (draws[..., high] - draws[..., low])))

    risks = [risk(level) for level in GRID]
    k = int(np.argmin(risks))
    found = optimize.minimize_scalar(risk, bounds=(max(GRID[k] - 0.01, 1e-6), min(GRID[k] + 0.01, 1 - 1e-6)), method="bounded")
    return SingleQuantile(float(found.x), float(found.fun)) if found.fun < risks[k] else SingleQuantile(float(GRID[k]), risks[k])


def conformal_quantile(scores, level) -> float:
    r"""The bound of split conformal prediction: with probability ``level`` or more, a new score lies at or below it.

    It is the :math:`k`-th smallest of the :math:`n` scores with :math:`k = \lceil \text{level}\,(n + 1) \rceil`, and infinite where
    :math:`k > n`. If the scores and the new one are exchangeable and have no ties, the probability is :math:`k / (n + 1)` exactly, on
    average over such sets of scores; it holds for no kind of case in particular, and says nothing of costs.

    Args:
        scores: shape ``(n,)``, of cases that what is scored was not fitted to. ``y - h`` raises decisions ``h`` that should suffice.
        level: the share promised, strictly between 0 and 1.

    Raises:
        ValueError: if the scores are not finite numbers of one dimension, or the level is no proportion.

    Example:
        >>> conformal_quantile([3.0, 1.0, 2.0, 5.0], 0.6), conformal_quantile([3.0, 1.0, 2.0, 5.0], 0.9)
        (3.0, inf)

    Source: Papadopoulos, Proedrou, Vovk and Gammerman (2002); Vovk, Gammerman and Shafer (2005).
    """
    _guard.numbers("scores", scores, ndim=1)
    ordered = np.sort(_guard.array("scores", scores))
    k = max(1, math.ceil(round(_guard.proportion("level", level) * (len(ordered) + 1), 9)))  # 0.56 * 25 is a little more than 14
    return float(ordered[k - 1]) if k <= len(ordered) else math.inf
