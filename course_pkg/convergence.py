r"""Whether a climb on noisy slopes has arrived, as far as its trace can tell.

A run keeps one noisy value of its objective for each step. As with Markov chains, the first half is left out, and the second is cut in
two: has the objective risen from the third quarter of the run to the fourth? Neighbouring values depend on each other, so each quarter is
cut into batches, and it is the means of batches whose scatter says how sure the rise is.
"""

from typing import NamedTuple

import numpy as np
from scipy import stats

from course_pkg import _guard

BATCHES = 10  # in a quarter of a run
FEWEST = 200  # steps of a run that can be judged: five in a batch
MATTERS = 0.5  # nats: the price of a normal that is one standard deviation off in one coordinate
PROMISE = 0.25  # nats that a slope may promise: near a summit all that is left, about half where a family is still too narrow
LEVEL = 0.01  # of the test, on either side
NOISY = 5.0  # nats: an interval that reaches further says nothing


class ConvergenceWarning(UserWarning):
    """A run has ended while its objective was still rising, or was too noisy to tell; an iteration has broken off without a fit."""


class Rise(NamedTuple):
    """How much an objective rose from the third quarter of a run to the fourth: an estimate, and an interval for it."""

    nats: float
    low: float
    high: float


def rise(objective) -> Rise:
    r"""The rise of the mean objective from the third quarter of a run to the fourth, in the objective's units.

    The interval comes from the means of ten batches in each quarter, and from Student's t with the nine degrees of freedom of one. Each of
    its ends is crossed by chance in at most one of a hundred runs, if batches are long enough to be independent.

    Args:
        objective: its value at each step, shape ``(steps,)``, at least 200 of them.

    Raises:
        ValueError: if there are too few values, or one is not finite.

    Example:
        >>> noise = np.random.default_rng(0).normal(size=1000)
        >>> climb = np.minimum(np.arange(1000) / 100, 5.0)  # up to the middle of the run
        >>> round(rise(climb).nats, 2), bool(rise(climb + noise).low < 0 < rise(climb + noise).high)
        (0.0, True)
        >>> round(rise(np.arange(1000) / 100).nats, 2)
        2.5

    Source: Geweke (1992), who compares two parts of a chain; Dhaka et al. (2020), who judge a variational climb as a chain.
    """
    _guard.numbers("objective", objective, ndim=1)
    values = np.asarray(objective, float)
    if values.size < FEWEST:
        raise ValueError(f"objective has {values.size} values; give at least {FEWEST}")
    size = values.size // (4 * BATCHES)
    means = values[-2 * BATCHES * size :].reshape(2, BATCHES, size).mean(axis=-1)
    nats = means[1].mean() - means[0].mean()
    reach = stats.t.isf(LEVEL, BATCHES - 1) * np.sqrt(means.var(axis=1, ddof=1).sum() / BATCHES)
    return Rise(float(nats), float(nats - reach), float(nats + reach))


def converged(objective) -> bool | None:
    """False if the `rise` or a fall is more than half a nat and more than noise, True if the rise is surely less, None where that is open.

    Open is the case of too few steps (below 200) and of too much noise. The objective is in nats, as lower bounds and log joints are. A
    run that arrived only in its third quarter counts as False: it has not been seen to stay where it is. And True is no proof: a rate that
    is far too low, or has fallen to almost nothing, makes any trace flat.

    Raises:
        ValueError: if the objective is no series of numbers.

    Example:
        >>> noise, steps = np.random.default_rng(0).normal(size=1000), np.arange(1000)
        >>> converged(noise), converged(noise + steps / 100), converged(noise - steps / 100), converged(100 * noise), converged(noise[:100])
        (True, False, False, None, None)
    """
    return None if _short(objective) else _verdict(rise(objective))


def doubt(objective) -> str | None:
    """What to tell the owner of a run: that it was still rising, fell, or was too noisy to tell; None where there is nothing to say."""
    if _short(objective):
        return None
    found = rise(objective)
    verdict, span = _verdict(found), f"from the third quarter of the {len(objective)} steps to the fourth"
    if verdict is False and found.nats > 0:
        return f"the objective still rose by {found.nats:.2g} nats {span}; take more steps, another rate or a better start"
    if verdict is False:
        return f"the objective fell by {-found.nats:.2g} nats {span}; lower the rate"
    if verdict is None and found.high - found.nats > NOISY:
        return (
            f"the objective is too noisy to say whether it still rose {span} (by {found.low:.2g} to {found.high:.2g} nats); "
            "take more draws, larger minibatches, more steps or a narrower start"
        )
    return None


def _short(objective) -> bool:
    values = _guard.floats("objective", objective)
    if values.ndim != 1:
        raise ValueError(f"objective has shape {values.shape}; give its value at each step, shape (steps,)")
    return values.size < FEWEST or not bool(np.isfinite(values).all())


def _verdict(found: Rise) -> bool | None:
    if (found.nats > MATTERS and found.low > 0) or (found.nats < -MATTERS and found.high < 0):
        return False
    return True if found.high < MATTERS else None
