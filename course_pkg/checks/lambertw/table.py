"""The table. Roads: the nearest entry by trying all, lines fitted to pairs of entries, the error of a parabola by looking everywhere."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq

from course_pkg.checks._judge import Mistake, Task, Verdict, call
from course_pkg.checks.lambertw._tools import judge_real


def _places(a: int, b: int, resolution: int) -> Any:
    return np.linspace(a, b, resolution * (b - a) + 1)


def _nearest(x: Any, a: int, b: int, resolution: int) -> Any:
    return np.array([np.abs(_places(a, b, resolution) - value).argmin() for value in x])


def _line_by_line(x: Any, a: float, resolution: int, values: Any) -> Any:
    places = a + np.arange(len(values)) / resolution
    out = np.interp(x, places, values)
    for side, pair in [(x < places[0], slice(0, 2)), (x > places[-1], slice(-2, None))]:
        out = np.where(side, np.polyval(np.polyfit(places[pair], values[pair], 1), x), out)
    return out


def _width_by_looking(tolerance: float, bend: float) -> float:
    def error(width: float) -> float:
        t = np.linspace(0, width, 2001)
        return float(np.max(np.abs(np.interp(t, [0, width], [0, bend * width**2 / 2]) - bend * t**2 / 2)))

    return brentq(lambda width: error(width) - tolerance, 1e-9, 1e3)


def entry_stub(x: np.ndarray, a: int, b: int, resolution: int) -> Any:
    raise NotImplementedError


def between_stub(x: np.ndarray, a: float, resolution: int, values: np.ndarray) -> Any:
    raise NotImplementedError


def width_stub(tolerance: float, bend: float) -> Any:
    raise NotImplementedError


def _trunc(places):
    return np.trunc(places).astype(int)


def _rint(places):
    return np.rint(places).astype(int)


def _floor(places):
    return np.floor(places).astype(int)


def _entry(rounding: Callable[..., Any], low: Callable[..., Any], high: Callable[..., Any]):
    def answer(x, a, b, resolution):
        last = resolution * (b - a)
        return high(low(rounding((x - a) * resolution), a), last)

    return answer


def _below_a(index, a):
    return np.where(index < a, 0, index)


def _below_zero(index, _):
    return np.maximum(index, 0)


def _as_it_is(index, _):
    return index


WRAPS = (
    "A little below a, your entry is negative, and a negative index counts from the table's other end. You compare an index with a place: "
    "a is an x."
)
TOP = "Above b your entry lies beyond the last one, and the table has none there."
SHORT = (
    "The ends are right. Between them you take the entry on the left, not the nearest: it errs by up to a whole interval, always in one \
direction."
)
FLOATS = "These are the right numbers, stored as floats, and NumPy does not index with floats. Add `.astype(int)`."
ENTRY_MISTAKES = {
    "floats": Mistake(_entry(np.rint, _below_zero, np.minimum), FLOATS),
    "as it was": Mistake(
        _entry(_trunc, _below_a, _as_it_is),
        "It still has every one of its faults. Print the entries for a = -2, b = 1, resolution = 10 at x = -2.15, -1.92 and 1.3.",
    ),
    "top mended": Mistake(_entry(_trunc, _below_a, np.minimum), f"The top is right. {WRAPS} And the nearest entry was asked for."),
    "compared with a": Mistake(_entry(_rint, _below_a, np.minimum), f"Nearly. {WRAPS}"),
    "compared with a, no top": Mistake(_entry(_rint, _below_a, _as_it_is), f"{WRAPS} And there is a top, too."),
    "truncated": Mistake(_entry(_floor, _below_zero, np.minimum), SHORT),
    "truncated, no top": Mistake(_entry(_floor, _below_zero, _as_it_is), f"{TOP} And between the ends the nearest entry was asked for."),
    "rounded up": Mistake(
        _entry(lambda places: np.ceil(places).astype(int), _below_zero, np.minimum),
        "The ends are right. Between them you take the entry on the right, not the nearest.",
    ),
    "no bottom": Mistake(
        _entry(_rint, _as_it_is, np.minimum),
        "Below a your entry is negative, and a negative index counts from the table's other end. Stop at the first.",
    ),
    "no top": Mistake(_entry(_rint, _below_zero, _as_it_is), TOP),
    "one too far": Mistake(
        _entry(_rint, _below_zero, lambda index, last: np.minimum(index, last + 1)),
        "Above b you are one entry too far. Indices begin at 0, so the last is one less than how many there are.",
    ),
    "one too short": Mistake(
        _entry(_rint, _below_zero, lambda index, last: np.minimum(index, last - 1)),
        "You never reach the last entry. With n intervals there are n + 1 entries, from 0 to n.",
    ),
    "stops at b": Mistake(
        lambda x, a, b, resolution: np.clip(_rint((x - a) * resolution), a, b),
        "You keep the index between a and b. These are places, x values; an index lies between 0 and the last entry.",
    ),
    "start forgotten": Mistake(
        lambda x, a, b, resolution: np.clip(_rint(x * resolution), 0, resolution * (b - a)),
        "The table begins at a, not at 0: count from there.",
    ),
    "resolution upside down": Mistake(
        lambda x, a, b, resolution: np.clip(_rint((x - a) / resolution), 0, resolution * (b - a)),
        "A unit of x holds `resolution` entries: multiply by it.",
    ),
}


def _between(share=lambda t: t, *, held=False):
    def answer(x, a, resolution, values):
        place = (x - a) * resolution
        index = np.clip(np.floor(place), 0, len(values) - 2).astype(int)
        t = share(place - index)
        t = np.clip(t, 0, 1) if held else t
        return values[index] + t * (values[index + 1] - values[index])

    return answer


BETWEEN_MISTAKES = {
    "flat ends": Mistake(
        _between(held=True),
        "Right inside the table. Beyond its ends you stay on the first or last value; the last line on each side was to go on.",
    ),
    "weights exchanged": Mistake(
        _between(lambda t: 1 - t),
        "Your weights are exchanged: close to the left entry it is the left value that should count.",
    ),
    "nearest": Mistake(
        _between(np.rint),
        "You jump to the nearest entry. Go along the straight line between the two.",
    ),
    "staircase": Mistake(
        lambda x, a, resolution, values: values[np.clip(_rint((x - a) * resolution), 0, len(values) - 1)],
        "That is the nearest entry, the staircase of Part 1. Go along the straight line between two entries, and on beyond the ends.",
    ),
    "left entry": Mistake(
        _between(np.floor),
        "You take the entry on the left. Go along the straight line between the two.",
    ),
    "in units of x": Mistake(
        lambda x, a, resolution, values: _between(lambda t: t / resolution)(x, a, resolution, values),
        "How far between the two entries? Measure it in intervals, not in units of x: from 0 at the left entry to 1 at the right one.",
    ),
    "share of x": Mistake(
        lambda x, a, resolution, values: (
            values[i := np.clip(np.floor((x - a) * resolution), 0, len(values) - 2).astype(int)]
            + (x - np.floor(x)) * (values[i + 1] - values[i])
        ),
        "You took the part of x behind the point. It is the place in the table, (x - a) * resolution, that lies between two entries.",
    ),
    "part behind the point": Mistake(
        lambda x, a, resolution, values: _between(lambda t: t - np.floor(t))(x, a, resolution, values),
        "Right inside the table. Beyond its ends the line must go on and on: measure from the index that you use, not from the nearest "
        "whole number.",
    ),
    "difference forgotten": Mistake(
        lambda x, a, resolution, values: (
            values[i := np.clip(np.floor((x - a) * resolution), 0, len(values) - 2).astype(int)]
            + ((x - a) * resolution - i) * values[i + 1]
        ),
        "You add a share of the right value. It is a share of the difference that is added to the left one.",
    ),
}
WIDTH_MISTAKES = {
    "no root": Mistake(
        lambda tolerance, bend: 8 * tolerance / bend,
        "That is the square of the width.",
    ),
    "a tangent's": Mistake(
        lambda tolerance, bend: np.sqrt(2 * tolerance / bend),
        "That is how far you may follow a tangent. A line that meets the curve at both ends stays closer: how far is it off in the middle?",
    ),
    "half of it": Mistake(
        lambda tolerance, bend: np.sqrt(4 * tolerance / bend),
        "In the middle the line is off by bend * width^2 / 8, not 4.",
    ),
    "bend not halved": Mistake(
        lambda tolerance, bend: np.sqrt(tolerance / bend),
        "You let the error be bend * width^2. In the middle of an interval it is much smaller.",
    ),
    "bend doubled": Mistake(
        lambda tolerance, bend: np.sqrt(16 * tolerance / bend),
        "The parabola with second derivative `bend` is bend * t^2 / 2. Have you divided by 2 once too often?",
    ),
    "upside down": Mistake(
        lambda tolerance, bend: np.sqrt(bend / (8 * tolerance)),
        "That is how many intervals a unit needs. How wide is one of them?",
    ),
    "error": Mistake(
        lambda tolerance, bend: bend * tolerance**2 / 8,
        "That is the error of an interval of width `tolerance`. Turn it round: which width has this error?",
    ),
}


def entry_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 660])
    cases = []
    for a, b, resolution in [(-2, 5, 10), (-3, 1, 4), (1, 3, 20)]:
        width = 1 / resolution
        # a quarter of an interval from an entry, on either side: no ties, and rounding is told from truncation
        inside = a + width * (rng.integers(1, resolution * (b - a), 4) + np.array([-0.25, 0.25, -0.25, 0.25]))
        outside = np.array([a - 1.25 * width, a - 2.1 * width, a - 3.0, b - 0.1 * width, b + 1.25 * width, b + 2.0])
        cases.append((rng.permutation(np.concatenate([inside, outside])), a, b, resolution))
    verdict = judge_real(
        answer,
        cases,
        _nearest,
        ENTRY_MISTAKES,
        right="Right. Whatever x is, the entry is one that the table has, and none is nearer.",
        nudge="Not these entries. With a = -2, b = 1 and resolution = 10 they run from 0 to 30; x = -2.15 has entry 0, x = -1.92 has 1, "
        "x = 0.56 has 26 and x = 1.3 has 30.",
    )
    whole = not verdict.passed or all(np.asarray(call(answer, *case)).dtype.kind in "iu" for case in cases)
    return verdict if whole else Verdict(False, FLOATS)


def between_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 661])
    cases = []
    for a, resolution, size in [(-2.3, 4, 9), (1.0, 10, 6)]:
        end = a + (size - 1) / resolution
        x = np.concatenate([rng.uniform(a, end, 5), rng.uniform(a - 2, a - 0.3, 2), rng.uniform(end + 0.3, end + 2, 2), [a, end]])
        cases.append((x, a, resolution, rng.normal(2, 1, size)))
    return judge_real(
        answer,
        cases,
        _line_by_line,
        BETWEEN_MISTAKES,
        right="Right. It is continuous, it has a slope, and it never asks for an entry that is not there.",
        nudge="Not these values. With a = 0, resolution = 2 and values = [1, 3, 4] they are 2 at x = 0.25, 3.5 at x = 0.75, -3 at x = -1 "
        "and 6 at x = 2.",
    )


def width_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 662])
    cases = [(float(rng.uniform(0.02, 0.05)), float(rng.uniform(5, 9))), (float(rng.uniform(0.2, 0.4)), float(rng.uniform(0.2, 0.4)))]
    return judge_real(
        answer,
        cases,
        _width_by_looking,
        WIDTH_MISTAKES,
        right="Right. Two more digits cost ten times the entries.",
        nudge="Not that width. With tolerance = 3 and bend = 6 it is 2: the parabola 3 t^2 and its chord from 0 to 2 are 3 apart at t = 1.",
    )


TASKS = (
    Task(
        "lambertw/table/entry",
        "The table: which entry",
        2,
        10,
        entry_stub,
        (
            "Try x just below a, just above b, and just below an entry. What should come out, and what does?",
            "entry = (x - a) * resolution, rounded, then kept between 0 and the last index, resolution * (b - a).",
            "Begin with `place = (x - a) * resolution`",
        ),
        ENTRY_MISTAKES,
        entry_verdict,
    ),
    Task(
        "lambertw/table/between",
        "The table: between two entries",
        2,
        10,
        between_stub,
        (
            "A line through two entries is given for every x, not only between them. Which two entries serve an x beyond the end?",
            "value = v_i + (place - i) (v_(i+1) - v_i), with i = floor(place) kept between 0 and len(values) - 2.",
            "Begin with `place = (x - a) * resolution`",
        ),
        BETWEEN_MISTAKES,
        between_verdict,
    ),
    Task(
        "lambertw/table/width",
        "The table: how fine",
        2,
        6,
        width_stub,
        (
            "The worst curve is a parabola, bend * t^2 / 2. How far is its chord from 0 to the width off, in the middle?",
            "tolerance = bend * width^2 / 8.",
            "Begin with `squared = 8 * tolerance / bend`",
        ),
        WIDTH_MISTAKES,
        width_verdict,
    ),
)
