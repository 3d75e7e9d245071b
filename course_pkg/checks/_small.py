"""The small case that a verdict describes: whether an answer meets it, and need not be sent there."""

import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_pkg.checks._judge import agree, numbers

MEETS = "Right in the small case that was worked out by hand, and wrong in others. Try more rows, ties, zeros, signs, large numbers, ends."


def given(nudge: str, names: Sequence[str], like: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """The arguments of the cases ``nudge`` describes as ``name = value``, in the types of the case ``like``; none if one is missing.

    A name that is given once has this value in every case.
    """
    values = [_values(nudge, name) for name in names]
    many = {len(found) for found in values} - {1}
    if 0 in many:
        return []
    cases = many.pop() if len(many) == 1 else 1  # the first, where it is not clear what belongs together
    return [
        tuple(np.asarray(v, dtype=w.dtype) if isinstance(w, np.ndarray) else type(w)(v) for v, w in zip(case, like, strict=False))
        for case in zip(*(found[:cases] if len(found) > 1 else found * cases for found in values), strict=True)
    ]


def _values(text: str, name: str) -> list[Any]:
    found = (_value(text[start.end() :]) for start in re.finditer(rf"\b{name} = (?=[-\d\[])", text))
    return list(itertools.takewhile(lambda value: value is not None, found))


def _value(rest: str) -> Any:
    depth, end = 0, 0
    while end < len(rest) and (depth or re.match(r"[-\d./\[\]]", rest[end])):
        depth += (rest[end] == "[") - (rest[end] == "]")
        end += 1
    value = rest[:end].rstrip(".").replace("np.inf", "inf")
    goes_on = re.match(r" ?[*^+/(]| -| (?:e|pi|sqrt|exp|log)\b", rest[end:])  # the number is a part of something
    plain = re.fullmatch(r"(?:[-\d./\[\], ]|inf|True|False)+", value)
    return eval(value, {"inf": np.inf}) if plain and not goes_on else None


def meets(answer: Callable[..., Any], own: Callable[..., Any], nudge: str, names: Sequence[str], like: tuple[Any, ...]) -> bool:
    """Whether an answer gives what the solution gives in the cases that ``nudge`` describes."""
    try:
        cases = given(nudge, names, like)
        return bool(cases) and all(agree(numbers(answer(*case)), numbers(own(*case)), 1e-3) for case in cases)
    except Exception:
        return False
