"""How an answer is judged.

A student hands over a function. It is called on fresh inputs and compared with a reference that was found by another road
than the one the exercise teaches (`record.judge_record`). If it disagrees, it is compared with the answers that others have given
before: a mistake that is known by name is named, and nothing else is said about the right answer.
"""

import copy
import linecache
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

# A random answer that is right is turned away once in 10,000 verdicts on fresh keys (the key of a verdict is fixed).
FALSE_ALARM = 1e-4


class Verdict(NamedTuple):
    """What is said about an answer: ``message`` is for the student, and never contains the answer."""

    passed: bool
    message: str


class Mistake(NamedTuple):
    """A wrong answer that is known by name, and the words that help its author on."""

    answer: Callable[..., Any]
    words: str


class Task(NamedTuple):
    """One function to write: ``verdict(answer, seed)`` judges it on inputs drawn with ``seed``."""

    name: str
    title: str
    stars: int
    minutes: int
    stub: Callable[..., Any]
    hints: tuple[str, str, str]
    mistakes: dict[str, Mistake]
    verdict: Callable[[Any, int], Verdict]


class Trouble(Exception):  # noqa: N818  (not an error of ours: it carries a verdict out of nested calls)
    """An answer that could not be compared; the text is the verdict's message."""


NOT_WRITTEN = "Not written yet. Ask for a hint when you want one."


def call(answer: Any, *args: Any) -> Any:
    """Call a student's function on copies of ``args``; whatever goes wrong becomes a :class:`Trouble` with calm words."""
    if not callable(answer):
        raise Trouble(f"Hand over the function itself, without brackets after its name; this is a {type(answer).__name__}.")
    got = calmly(answer, *copy.deepcopy(args))
    if got is None:
        raise Trouble("Your function returned nothing. Does its last line start with `return`?")
    return got


def calmly(answer: Any, *args: Any) -> Any:
    """Call a student's function; whatever goes wrong becomes a :class:`Trouble`."""
    try:
        return answer(*args)
    except Trouble:
        raise  # of an answer in another process, where it got its words
    except NotImplementedError as error:
        raise Trouble(unwritten(error, answer)) from error
    except SystemExit:
        raise Trouble("Your function ends Python: it calls `exit`. Let it `return` instead.") from None
    except Exception as error:
        raise Trouble(f"Your function raised {type(error).__name__}: {error}{_where(answer, error)}.") from error


def unwritten(error: NotImplementedError, answer: Any = None) -> str:
    """Words for a stub that was called: the answer's own, or that of another part which the answer, or a cell, needs."""
    if str(error):  # a library's
        return f"Your function raised NotImplementedError: {error}{_where(answer, error)}."
    name = traceback.extract_tb(error.__traceback__)[-1].name
    if answer is not None and name == getattr(answer, "__name__", name):
        return NOT_WRITTEN
    return f"This needs `{name}`, which is not written yet. Write that part first, and come back."


def _where(answer: Any, error: Exception) -> str:
    """The line of the student's own code at which ``error`` arose, if it arose there."""
    file = getattr(getattr(answer, "__code__", None), "co_filename", None)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    if not frames:
        return ""
    line = frames[-1].lineno or 0
    source = linecache.getline(frames[-1].filename, line).strip()
    return f" (line {line} of its cell: `{source}`)" if source else f" (line {line} of its cell)"


def numbers(got: Any) -> tuple[np.ndarray, ...]:
    """An answer as a tuple of float arrays: one number, an array, or a tuple of them."""
    parts = got if isinstance(got, tuple) else (got,)
    try:
        if any(np.asarray(part).dtype.kind in "US" for part in parts):  # NumPy would read the digits of a text
            raise ValueError
        return tuple(np.asarray(part, dtype=float) for part in parts)
    except (TypeError, ValueError):
        raise Trouble(f"Your function returned a {type(got).__name__} that cannot be read as numbers.") from None


def read(got: Any, want: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """An answer in the form of ``want``: any list, tuple or array does whose first axis has the right length."""
    if len(want) == 1 and isinstance(got, tuple) and want[0].ndim and len(got) == len(want[0]) > 1:
        got = list(got)
    elif len(want) > 1 and not isinstance(got, tuple):
        if _length(got) != len(want):
            raise Trouble(f"Expected {_count(len(want))}; your function returned {_form(got)}.")
        got = tuple(got)
    return numbers(got)


def _length(got: Any) -> int:
    """How long the first axis is; 0 if there is none."""
    return len(got) if isinstance(got, list) or getattr(got, "ndim", None) else 0


def _form(got: Any) -> str:
    if isinstance(got, list):
        return f"a list of {len(got)}"
    return f"an array of shape {tuple(got.shape)}" if getattr(got, "ndim", None) else "one value"


def agree(one: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...], rtol: float) -> bool:
    """Same shapes, and equal up to ``rtol`` of the largest finite number in ``other``."""
    sizes = [np.abs(part[np.isfinite(part)]).max(initial=0.0) for part in other]
    return len(one) == len(other) and all(
        a.shape == b.shape and np.allclose(a, b, rtol=0.0, atol=rtol * max(sizes)) for a, b in zip(one, other, strict=True)
    )


def shape_words(got: tuple[np.ndarray, ...], want: tuple[np.ndarray, ...]) -> str | None:
    if len(got) != len(want):
        wanted = f"an array of shape {want[0].shape}" if len(want) == 1 and want[0].ndim else _count(len(want))
        return f"Expected {wanted}; your function returned {_count(len(got))}."
    for place, (a, b) in enumerate(zip(got, want, strict=True), start=1):
        if a.shape != b.shape:
            part = f"part {place} of " if len(want) > 1 else ""
            wanted = f"have shape {b.shape}" if b.ndim else "be one number"
            found = f"has shape {a.shape}" if a.ndim else "is one number"
            return f"Expected {part}your answer to {wanted}; it {found}."
        if not np.all(np.isfinite(a)) and np.all(np.isfinite(b)):
            return "Your answer contains a number that is not finite. Where could a logarithm, a power or a ratio run away?"
    return None


def _count(values: int) -> str:
    return "one value" if values == 1 else f"a tuple of {values} values"


def key_words(first: Any, again: Any, others: Sequence[Any]) -> str | None:
    """What is wrong with the use of a random key: the same key must give the same answer, another key another one."""
    if not agree(numbers(first), numbers(again), 1e-9):
        return "Right, but the same key gave two different answers. Take all randomness from `key`."
    if all(agree(numbers(first), numbers(other), 1e-9) for other in others):
        return "Right, but it is the same whatever the key is. Draw the noise from `key`."
    return None


def bound(tests: int = 1) -> float:
    """How many standard errors a right answer may be off, if ``tests`` comparisons share one false-alarm rate."""
    return float(norm.isf(FALSE_ALARM / tests / 2))
