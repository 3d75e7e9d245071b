r"""What was gained: the relative risk reduction :math:`J`, and how sure we are of it.

The same points judge both decisions, so their losses are compared pair by pair; where these go up and down together, an interval from
two separate risks would be far too wide.
"""

from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from course_pkg import _guard
from course_pkg.decisions.risk import risk_reduction

AT_ONCE = 2**16  # points drawn in one go: many resamples of few points, or one of many


class Reduction(NamedTuple):
    """A relative saving of risk, with its uncertainty over the points that it was measured on."""

    value: float  # J, a share of the baseline's risk
    standard_error: float
    low: float  # ends of the bootstrap interval
    high: float
    baseline: float  # risks, in the unit of the loss
    improved: float


def paired_reduction(key: PRNGKeyArray, baseline, improved, *, groups=None, level: float = 0.95, resamples: int = 2000) -> Reduction:
    r"""The reduction :math:`J = 1 - \bar\ell_1 / \bar\ell_0` of mean losses on the same points, with a paired bootstrap interval.

    Args:
        key: random key of the bootstrap.
        baseline: losses :math:`\ell_0` point by point, any shape.
        improved: losses :math:`\ell_1` on the same points, in the same order.
        groups: numbers or words of the same shape: points of one group (cells of one listener, say) are drawn together, as they are not
            independent. Each point by itself where not given.
        level: of the interval, in (0, 1).
        resamples: of the bootstrap, at least 100.

    Returns:
        `Reduction`. It says how far other points might give another value; that another run might, several seeds tell.

    Raises:
        ValueError: if shapes differ, there are fewer than two points or groups, a loss is negative or not finite, the baseline is 0
            throughout, or a number is out of range.

    Example:
        >>> result = paired_reduction(jax.random.key(0), np.array([2.0, 4.0, 3.0]), np.array([1.0, 2.0, 1.5]))
        >>> result.value, result.low, result.high
        (0.5, 0.5, 0.5)

    Source: LCVI paper, section 6 (the measure J).
    """
    from scipy import stats  # half a second, which whoever compares nothing need not wait for

    key, level, resamples = _guard.key(key), _guard.proportion("level", level), _guard.count("resamples", resamples, 100)
    first, second = (np.asarray(_guard.nonnegative(n, a), dtype=float) for n, a in (("baseline", baseline), ("improved", improved)))
    if first.shape != second.shape:
        raise ValueError(f"improved has shape {second.shape} and baseline {first.shape}; give the losses on the same points")
    value = float(risk_reduction(first.mean(), second.mean()))
    pairs = np.stack([first.ravel(), second.ravel()])
    if groups is not None:
        _, place = np.unique(_guard.labels("groups", groups, first.shape).ravel(), return_inverse=True)
        pairs = np.stack([np.bincount(place, row) for row in pairs])
    n = pairs.shape[1]
    if n < 2:
        raise ValueError("baseline has 1 point, or groups one group; give at least 2, or there is nothing to resample")
    rng = np.random.default_rng(np.asarray(jax.random.key_data(key)).ravel())
    # the columns of a table are drawn whole, so pairs stay pairs; and its two totals, not their ratio, which a resample whose baseline
    # costs nothing has none of. BCa would take n^2 steps, and for heavy-tailed costs it covered no better
    summed = stats.bootstrap((pairs,), np.sum, axis=-1, n_resamples=resamples, batch=max(1, AT_ONCE // n), method="percentile", rng=rng)
    totals = summed.bootstrap_distribution
    ratios = 1 - totals[1] / np.where(totals[0] > 0, totals[0], np.nan)
    low, high = np.nanquantile(ratios, [(1 - level) / 2, (1 + level) / 2])
    return Reduction(value, float(np.nanstd(ratios, ddof=1)), float(low), float(high), float(first.mean()), float(second.mean()))
