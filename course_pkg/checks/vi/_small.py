"""Parameters so small that exponentials of mean logarithms round to 0, and what is said to answers that they bring down."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from course_pkg.checks._judge import Verdict
from course_pkg.checks._quiet import beyond

TINY = 1e-3
Tables = tuple[np.ndarray, np.ndarray]

CUT = (
    "Right for moderate parameters. Parameters of 0.001 and 0.002 have mean logarithms hundreds apart, and then one topic has nearly all "
    "the probability. Exponentials may round to 0 there, and logarithms cut off below, or parameters raised, become alike. Take the "
    "largest logarithm off before the exponential, and change nothing else."
)
CROSSED = (
    "Right but for one thing. Where a note has 0.001 for one topic and an entry 0.001 for all others, every product of an exponential of "
    "the note's with one of the entry's rounds to 0, even if the largest of either was taken off before. Add the logarithms of note and "
    "entry first, then take the largest sum off."
)


def _put(tables: Tables, entry: int, row: Any = None, column: Any = None) -> Tables:
    pi, B = (table.copy() for table in tables)
    if row is not None:
        pi[0] = row
    if column is not None:
        B[:, entry] = column
    return pi, B


def tiny(tables: Tables, entry: int) -> Tables:
    """All parameters of the first note, and of one entry, are tiny: no exponential of their sums is left."""
    return _put(tables, entry, TINY, TINY)


def crossed(tables: Tables, entry: int) -> Tables:
    """Tiny for one topic of the first note, and for all others of the entry: each by itself has a large exponential."""
    pi, B = tables
    first = np.arange(len(B)) == 0
    return _put(tables, entry, np.where(first, TINY, pi[0]), np.where(first, B[:, entry], TINY))


def graded_note(tables: Tables, entry: int) -> Tables:
    """Tiny parameters of the first note, each another multiple of the smallest."""
    return _put(tables, entry, row=TINY * (1 + np.arange(len(tables[1]))))


def graded_entry(tables: Tables, entry: int) -> Tables:
    """Tiny parameters of the entry, each another multiple of the smallest."""
    return _put(tables, entry, column=TINY * (1 + np.arange(len(tables[1]))))


def lopsided(tables: Tables, entry: int) -> Tables:
    """One tiny parameter of the first note, so that the probability of one topic is 0 to the last digit."""
    return _put(tables, entry, np.where(np.arange(len(tables[1])) == 0, TINY, tables[0][0]))


def edges(underflow: str) -> tuple[tuple[Callable[[Tables, int], Tables], str], ...]:
    """Changes of the tables, in the order in which answers are tried, each with its words."""
    return (graded_note, CUT), (graded_entry, CUT), (tiny, underflow), (crossed, CROSSED)


def beyond_all(verdict: Verdict, answer: Any, reference: Callable[..., Any], more: Iterable[tuple[list[tuple[Any, ...]], str]]) -> Verdict:
    """`beyond`, for one list of cases after the other."""
    for cases, words in more:
        verdict = beyond(verdict, answer, cases, reference, words)
    return verdict
