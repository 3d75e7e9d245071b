"""Cases on which right and wrong answers part."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from course_pkg.checks._judge import agree, numbers

Case = tuple[Any, ...]


def telling(
    draw: Callable[[], list[Case]], reference: Callable[..., Any], mistakes: Sequence[tuple[str, Callable[..., Any]]]
) -> list[Case]:
    """The first drawn cases on which mistakes differ by a fiftieth from the reference and, if they have words, from those with others."""
    for _ in range(1000):
        cases, found = draw(), list[tuple[str, Any]]()
        for words, one in [("right", reference), *mistakes]:
            with np.errstate(all="ignore"):
                given = [numbers(one(*case)) for case in cases]
            rivals = [before for others, before in found if others == "right" or "" != words != others != ""]
            if not all(_differ(before, given) for before in rivals):
                break
            found.append((words, given))
        else:
            return cases
    raise RuntimeError("a thousand draws, and none on which all mistakes can be told apart")


def _differ(one: Iterable[Any], other: Iterable[Any]) -> bool:
    return any(not agree(a, b, 0.02) and not agree(b, a, 0.02) for a, b in zip(one, other, strict=True))
