"""Tables of runs on which right and wrong ways to choose part, and wrong answers that share the words of another."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from course_pkg.checks._judge import Mistake, agree, numbers


def with_kin(mistakes: dict[str, Mistake], kin: Mapping[str, Sequence[Callable[..., Any]]]) -> dict[str, Mistake]:
    """The mistakes, and other answers that deserve the words of one of them."""
    more = {f"{name}, {place}": Mistake(one, mistakes[name].words) for name, answers in kin.items() for place, one in enumerate(answers)}
    return mistakes | more


def telling(
    draw: Callable[[], list[tuple[Any, ...]]],
    reference: Callable[..., Any],
    mistakes: dict[str, Mistake],
    clear: Callable[..., bool] = lambda *case: True,
    others: Sequence[Callable[..., Any]] = (),
) -> list[tuple[Any, ...]]:
    """The first drawn cases that are all ``clear`` and on which right and wrong answers part, by a fiftieth at least.

    The reference and the mistakes all differ from one another, except mistakes with the same words; ``others``, wrong
    answers without a name, differ from the reference.
    """
    for _ in range(1000):
        cases = draw()
        if all(clear(*case) for case in cases) and _all_part(cases, reference, mistakes, others):
            return cases
    raise RuntimeError("a thousand draws, and none on which all mistakes can be told apart")


def _all_part(
    cases: list[tuple[Any, ...]], reference: Callable[..., Any], mistakes: dict[str, Mistake], others: Sequence[Callable[..., Any]]
) -> bool:
    with np.errstate(all="ignore"):
        right = [numbers(reference(*case)) for case in cases]
        found: list[tuple[str, Any]] = []
        for words, wrong in [*((mistake.words, mistake.answer) for mistake in mistakes.values()), *(("", other) for other in others)]:
            given = [numbers(wrong(*case)) for case in cases]
            if not _differ(right, given):
                return False
            if words:
                found.append((words, given))
    return all(one[0] == other[0] or _differ(one[1], other[1]) for one, other in combinations(found, 2))


def _differ(one: Iterable[Any], other: Iterable[Any]) -> bool:
    return any(not agree(a, b, 0.02) and not agree(b, a, 0.02) for a, b in zip(one, other, strict=True))
