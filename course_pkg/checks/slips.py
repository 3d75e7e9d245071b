"""Slips that every task shares: recognised from the answer, the right result and the solution alone."""

import inspect
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from course_pkg.checks._judge import Trouble, agree, numbers

Parts = tuple[np.ndarray, ...]
SECONDS = 3.0  # spent at most on looking for words
EXACT = 1e-3

SHAPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "The sign is turned round.": lambda w: -w,
    "That is the logarithm of it.": np.log,
    "That is the exponential of it.": np.exp,
    "That is its square.": np.square,
    "That is its square root.": np.sqrt,
    "Upside down: that is one over it.": lambda w: 1 / w,
    "That is one minus it.": lambda w: 1 - w,
    "The table is transposed.": lambda w: w.T if w.ndim == 2 else w * np.nan,
    "The order is turned round.": lambda w: w[::-1] if w.ndim else w * np.nan,
    "Your numbers are right relative to one another: these add up to one, which was not asked for.": lambda w: (
        w / w.sum() if w.ndim else w * np.nan
    ),
}
INPUTS: dict[str, Callable[[Any], Any]] = {
    "were turned round in sign": lambda x: -x,
    "were squared": np.square,
    "were replaced by its root": np.sqrt,
    "were replaced by one over it": lambda x: 1 / x,
    "were 0, or left out": lambda x: x * 0,
    "were 1, or left out": lambda x: x * 0 + 1,
    "were turned into their opposite": lambda x: ~x if np.asarray(x).dtype == bool else None,
    "were one more": lambda x: x + 1,
    "were one less": lambda x: x - 1,
    "were transposed": np.matrix_transpose,
}
PART_OFF = "the rest is right. "
CLOSE = "Close, but not exact. Did you simulate, round, or take too coarse a step? If not, something small is off, such as n - 1 for n."


def shared_slip(
    got: Sequence[Parts], want: Sequence[Parts], cases: Sequence[tuple[Any, ...]], solution: Callable[..., Any], parts: Sequence[str]
) -> str:
    """Words for a slip of a common kind, or for which parts are off; nothing if neither is clear.

    ``solution`` is called as the answer was, and is compared with the answer on changed inputs.
    """
    off = _off(got, want)
    if not _tellable(want):
        return _which(off, parts)
    if _alike(got, want):
        return CLOSE  # and no small case by hand: the answer would meet it
    if 0 < len(off) < len(want[0]):
        some = [tuple(part[k] for k in off) for part in want]
        mine = [tuple(part[k] for k in off) for part in got]
        which = _which(off, parts)
        return which + (_shape(mine, some, cases) or (which and _close(mine, some)))
    if len(want[0]) > 1 and _alike(got, [w[::-1] for w in want]):
        return "These are right, and in the wrong order. "
    return _shape(got, want, cases) or _other_inputs(got, cases, solution) or _close(got, want)


def named(words: str) -> bool:
    """Whether words say what the slip is; if not, a small case may help."""
    return bool(words) and not words.endswith((PART_OFF, "always. ", "in each case. ")) and "Off by a factor of" not in words


def _off(got: Sequence[Parts], want: Sequence[Parts]) -> list[int]:
    if any(len(g) != len(w) for g, w in zip(got, want, strict=True)):
        return []
    return [k for k in range(len(want[0])) if not all(agree(g[k : k + 1], w[k : k + 1], EXACT) for g, w in zip(got, want, strict=True))]


def _which(off: Sequence[int], parts: Sequence[str]) -> str:
    names = [parts[k] for k in off if k < len(parts)]
    if not 0 < len(names) < len(parts):
        return ""
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    words = f"{listed} {'is' if len(names) == 1 else 'are'} off; {PART_OFF}"
    return words[0].upper() + words[1:]


def _tellable(want: Sequence[Parts]) -> bool:
    """Whether the result has numbers enough that no slip is met by chance: choices and counts have not."""
    values = np.concatenate([np.ravel(part) for parts in want for part in parts])
    values = values[np.isfinite(values)]
    return bool(len(np.unique(values[values != np.round(values)])) > 1)


def _alike(got: Sequence[Parts], want: Sequence[Parts]) -> bool:
    return all(agree(g, w, EXACT) for g, w in zip(got, want, strict=True))


def _shape(got: Sequence[Parts], want: Sequence[Parts], cases: Sequence[tuple[Any, ...]]) -> str:
    for words, change in SHAPES.items():
        if _alike(got, [tuple(np.asarray(change(part)) for part in parts) for parts in want]):
            return f"{words} "
    return _factor(got, want, cases)


def _factor(got: Sequence[Parts], want: Sequence[Parts], cases: Sequence[tuple[Any, ...]]) -> str:
    if any(len(g) != len(w) or any(a.shape != b.shape for a, b in zip(g, w, strict=True)) for g, w in zip(got, want, strict=True)):
        return ""
    pairs = [(_flat(g), _flat(w)) for g, w in zip(got, want, strict=True)]
    if not all(np.isfinite(g).all() and np.isfinite(w).all() and w.any() for g, w in pairs):
        return ""
    factors = np.array([g @ w / (w @ w) for g, w in pairs])
    apart = np.abs(factors - 1).max() > 5 * EXACT  # an answer nearer than that is close, and lacks no factor
    if apart and factors.all() and all(_near(g, f * w) for f, (g, w) in zip(factors, pairs, strict=True)):
        if np.ptp(factors) < EXACT * abs(factors[0]):
            return f"Off by a factor of {factors[0]:.3g}. "
        if any(_near(factors, n) or _near(1 / factors, n) for n in _lengths(cases)):
            return "Off by how many there are: a mean for a sum, or a sum for a mean? "
        if all(len(g) > 1 for g, _ in pairs):
            return "Off by a factor, another one in each case. "
    gaps = np.concatenate([g - w for g, w in pairs])
    return f"Off by {gaps[0]:+.3g}, always. " if len(gaps) > 1 and _near(gaps, np.full_like(gaps, gaps[0])) else ""


def _lengths(cases: Sequence[tuple[Any, ...]]) -> list[np.ndarray]:
    """How long each axis of each argument is, case by case."""
    shapes = [[length for argument in case if isinstance(argument, np.ndarray) for length in argument.shape] for case in cases]
    return [np.array(lengths, dtype=float) for lengths in zip(*shapes, strict=False)]


def _flat(parts: Parts) -> np.ndarray:
    return np.concatenate([np.ravel(part) for part in parts])


def _near(one: np.ndarray, other: np.ndarray) -> bool:
    return bool(np.abs(one - other).max() <= EXACT * np.abs(other).max())


def _altered(case: tuple[Any, ...], k: int, change: Callable[[Any], Any]) -> tuple[Any, ...]:
    return (*case[:k], change(case[k]), *case[k + 1 :])


def _swapped(case: tuple[Any, ...], i: int, j: int) -> tuple[Any, ...]:
    return tuple(case[{i: j, j: i}.get(k, k)] for k in range(len(case)))


def _changes(names: Sequence[str]) -> Iterator[tuple[str, Callable[[tuple[Any, ...]], tuple[Any, ...]]]]:
    for k, name in enumerate(names):
        for words, change in INPUTS.items():
            yield f"as if `{name}` {words}", partial(_altered, k=k, change=change)
    for i, j in itertools.combinations(range(len(names)), 2):
        yield f"as if `{names[i]}` and `{names[j]}` had changed places", partial(_swapped, i=i, j=j)


def _other_inputs(got: Sequence[Parts], cases: Sequence[tuple[Any, ...]], solution: Callable[..., Any]) -> str:
    until = time.monotonic() + SECONDS
    for words, change in _changes(list(inspect.signature(solution).parameters)):
        if time.monotonic() > until:
            return ""
        try:
            with np.errstate(invalid="raise"):  # what compares with no number agrees by chance
                same = all(agree(g, numbers(solution(*change(case))), EXACT) for g, case in zip(got, cases, strict=True))
            if same:
                return f"Your answer is right for other inputs: {words}. "
        except (Exception, Trouble):  # this input cannot be changed so
            continue
    return ""


def _close(got: Sequence[Parts], want: Sequence[Parts]) -> str:
    return f"{CLOSE} " if all(agree(g, w, 0.04) for g, w in zip(got, want, strict=True)) else ""
