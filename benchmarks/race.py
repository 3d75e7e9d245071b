"""What a race is: one piece of work, the roads to it, and how it is seen that they arrive at the same place."""

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

import numpy as np


class Road(NamedTuple):
    """One way to do the work."""

    call: Callable  # seed -> what was reached, computed to its end
    share: float = 1.0  # of the work that a timed call does, where a peer is too slow for all of it
    whole: Callable | None = None  # all of the work, for what is reached, where a timed call does a share


class Race(NamedTuple):
    """One piece of work."""

    size: str  # in words
    roads: dict[str, Road]  # the first is the one that the others' times are divided by
    error: Callable  # name -> what was reached, of all -> name -> a number, or None where there is nothing to compare
    bound: float  # on that number, for a road to have done the work
    measure: str  # what that number is
    unit: tuple[float, str] = (1.0, "s")  # of the times shown: seconds divided by this are these
    absent: tuple[str, ...] = ()  # a sentence for each peer that was left out
    per: Callable | None = None  # what was reached -> what its seconds are divided by, where a call is not the same work each time


def missing(package):
    """A sentence, if a peer is not installed; else None."""
    try:
        version(package)
    except PackageNotFoundError:
        return f"{package} is not installed"
    return None


def apart(found):
    """How far each number lies from the middle of all."""
    middle = np.median([float(value) for value in found.values()])
    return {name: abs(float(value) - middle) for name, value in found.items()}


def unchecked(found):
    """Where there is no other road to compare with."""
    return dict.fromkeys(found)
