"""The small case that a verdict describes: whether an answer meets it, and need not be sent there."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_pkg.checks._judge import agree, numbers

MEETS = "Right in the small case that was worked out by hand, and wrong in others. Try ties, zeros, signs, large numbers, both ends."


def given(nudge: str, names: Sequence[str], like: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The arguments of the case ``nudge`` describes as ``name = value``, in the types of the case ``like``; None if one is missing."""
    values = [_value(nudge, name) for name in names]
    if None in values:
        return None
    return tuple(np.asarray(v, dtype=w.dtype) if isinstance(w, np.ndarray) else type(w)(v) for v, w in zip(values, like, strict=False))


def _value(text: str, name: str) -> Any:
    start = re.search(rf"\b{name} = (?=[-\d\[])", text)
    if not start:
        return None
    rest, depth, end = text[start.end() :], 0, 0
    while end < len(rest) and (depth or re.match(r"[-\d./\[\]]", rest[end])):
        depth += (rest[end] == "[") - (rest[end] == "]")
        end += 1
    value = rest[:end].rstrip(".").replace("np.inf", "inf")
    goes_on = re.match(r" ?[*^+/(]| -| (?:e|pi|sqrt|exp|log)\b", rest[end:])  # the number is a part of something
    plain = re.fullmatch(r"(?:[-\d./\[\], ]|inf|True|False)+", value)
    return eval(value, {"inf": np.inf}) if plain and not goes_on else None


def meets(answer: Callable[..., Any], own: Callable[..., Any], nudge: str, names: Sequence[str], like: tuple[Any, ...]) -> bool:
    """Whether an answer gives what the solution gives in the case that ``nudge`` describes."""
    try:
        case = given(nudge, names, like)
        return case is not None and agree(numbers(answer(*case)), numbers(own(*case)), 1e-3)
    except Exception:
        return False
