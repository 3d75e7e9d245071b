"""What is said at the end of a verdict: whether an answer has changed its arguments, and that something is off only once."""

import copy
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_pkg.checks._judge import Verdict

IN_PLACE = (
    "{names} not what {they} before: your function changes what it was given, and whoever called it goes on with other numbers. "
    "Leave arguments as they are. `x = x + y` makes a new array; `x += y` and `x[i] = y` change the old one, so copy it first."
)


def settled(verdict: Verdict, answer: Any, cases: Sequence[tuple[Any, ...]], stub: Callable[..., Any], nudge: str) -> Verdict:
    """A verdict that refuses an answer, right or wrong in a way of its own, that changes its arguments in place."""
    if not verdict.passed and not verdict.message.endswith(nudge):
        return verdict
    names = list(inspect.signature(stub).parameters)
    changed = [name for name in names if name in {name for case in cases for name in _changed(answer, case, names)}]
    if changed:
        words = IN_PLACE.format(
            names=f"{' and '.join(f'`{name}`' for name in changed)} {'is' if len(changed) == 1 else 'are'}",
            they="it was" if len(changed) == 1 else "they were",
        )
        return Verdict(False, f"The right numbers, but afterwards {words}" if verdict.passed else f"Afterwards {words}")
    return Verdict(verdict.passed, re.sub(r"(the rest is right\. )Not th[^.]*\. ", r"\1", verdict.message))


def _changed(answer: Any, case: tuple[Any, ...], names: list[str]) -> list[str]:
    given = copy.deepcopy(case[: len(names)])  # a case may hold more, for whoever compares the results
    try:
        with np.errstate(all="ignore"):
            answer(*given)
    except Exception:
        return []  # the verdict has spoken of it
    return [name for name, now, before in zip(names, given, case, strict=False) if not _same(now, before)]


def _same(now: Any, before: Any) -> bool:
    if isinstance(before, list):
        return len(now) == len(before) and all(_same(a, b) for a, b in zip(now, before, strict=True))
    return not isinstance(before, np.ndarray) or np.array_equal(now, before, equal_nan=before.dtype.kind == "f")
