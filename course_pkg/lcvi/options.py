"""What may be chosen of a calibration: what is maximised, and how. All of it is checked before the first step."""

from typing import Any, NamedTuple

import numpy as np

from course_pkg import _guard


class Objective(NamedTuple):
    r"""What `calibrate` maximises beside the ELBO: the utility term, its scale, its estimator, and the decisions in it.

    Example:
        >>> Objective(M=2.0).quantile
        0.7

    Source: thesis, sections 4.1.4 to 4.1.6.
    """

    M: float | None = None  # scale of the transform, above 0; where not given, the greatest loss if there is one, else a quantile
    quantile: float = 0.7  # level of that quantile (`loss_quantile`), of the losses that the plain approximation expects
    transform: str = "linearised"  # of a loss into a utility: "linearised" or "exponential"
    method: str = "auto"  # for the inner expectation, see `calibrate`
    outcome_draws: int = 8  # outcomes for each draw of theta, where they are drawn
    decisions: str = "joint"  # how they are optimised: "joint", "alternating" or "amortised", see `calibrate`
    predictive_draws: int = 1000  # for each row, by which M, decisions and risks are found


class Optimisation(NamedTuple):
    """How `calibrate` maximises it: Adam, for the plain and for the calibrated approximation alike.

    Example:
        >>> Optimisation(steps=1000).rate
        0.01

    Source: thesis, section 4.1.7.
    """

    steps: int = 20_000  # at most, of each run
    rate: float = 0.01  # of Adam
    batch: int | None = None  # rows of a minibatch; all where not given
    tolerance: float | None = 1e-4  # a run ends when its mean bound over 1,000 steps changes by a smaller share; None for all steps
    samples: int = 11  # draws of theta for the ELBO
    utility_samples: int = 30  # for the utility term
    warm_start: bool = True  # from a plain fit; else the runs that are compared both start anew
    progress: bool = True  # whether to show bars


WORDS = {
    "transform": ("linearised", "exponential"),
    "method": ("auto", "closed", "even", "naive", "taylor", "jensen", "sum", "score"),
    "decisions": ("joint", "alternating", "amortised"),
}


def checked_objective(given: Any) -> Objective:
    """The options with numbers as they are used.

    Raises:
        ValueError: if one is unknown or out of range; the message names it.
    """
    if not isinstance(given, Objective):
        raise ValueError(f"objective is {given!r}; give lcvi.Objective(...) with some of {', '.join(Objective._fields)}")
    for name, words in WORDS.items():
        _guard.choice(name, getattr(given, name), words)
    least = 2 if given.method in ("taylor", "score") else 1
    return given._replace(
        M=None if given.M is None else _guard.positive("M", given.M),
        quantile=_guard.proportion("quantile", given.quantile),
        outcome_draws=_guard.count("outcome_draws", given.outcome_draws, least),
        predictive_draws=_guard.count("predictive_draws", given.predictive_draws),
    )


def checked_optimisation(given: Any) -> Optimisation:
    """The options with numbers as they are used.

    Raises:
        ValueError: if one is out of range; the message names it.
    """
    if not isinstance(given, Optimisation):
        raise ValueError(f"optimisation is {given!r}; give lcvi.Optimisation(...) with some of {', '.join(Optimisation._fields)}")
    for name in ("warm_start", "progress"):
        if not isinstance(getattr(given, name), bool | np.bool_):
            raise ValueError(f"{name} is {getattr(given, name)!r}; give True or False")
    return given._replace(
        steps=_guard.count("steps", given.steps),
        samples=_guard.count("samples", given.samples),
        utility_samples=_guard.count("utility_samples", given.utility_samples),
        rate=_guard.positive("rate", given.rate),
        batch=None if given.batch is None else _guard.count("batch", given.batch),
        tolerance=None if given.tolerance is None else _guard.positive("tolerance", given.tolerance),
    )
