"""The table. Roads: the nearest entry by trying all, lines fitted to pairs of entries, the error of a parabola by looking everywhere."""

import numpy as np
from scipy.optimize import brentq

from course_pkg.checks.record import Record


def nearest(x, a, b, resolution, *whole):
    places = np.linspace(a, b, resolution * (b - a) + 1)
    return True if whole else np.array([np.abs(places - value).argmin() for value in x])


def entries_or_whether_whole(answer, x, a, b, resolution, *whole):
    got = answer(x, a, b, resolution)
    return np.asarray(got).dtype.kind in "iu" if whole else got


def line_by_line(x, a, resolution, values):
    places = a + np.arange(len(values)) / resolution
    out = np.interp(x, places, values)
    for side, pair in [(x < places[0], slice(0, 2)), (x > places[-1], slice(-2, None))]:
        out = np.where(side, np.polyval(np.polyfit(places[pair], values[pair], 1), x), out)
    return out


def width_by_looking(tolerance, bend):
    def error(width):
        t = np.linspace(0, width, 2001)
        return np.max(np.abs(np.interp(t, [0, width], [0, bend * width**2 / 2]) - bend * t**2 / 2))

    return brentq(lambda width: error(width) - tolerance, 1e-9, 1e3)


def around_the_table(rng):
    for a, b, resolution in [(-2, 5, 10), (-3, 1, 4), (1, 3, 20)]:
        width = 1 / resolution
        # a quarter of an interval from an entry, on either side: no ties, and rounding is told from truncation
        inside = a + width * (rng.integers(1, resolution * (b - a), 4) + np.array([-0.25, 0.25, -0.25, 0.25]))
        outside = np.array([a - 1.25 * width, a - 2.1 * width, a - 3.0, b - 0.1 * width, b + 1.25 * width, b + 2.0])
        yield rng.permutation(np.concatenate([inside, outside])), a, b, resolution


def places_and_values(rng):
    for a, resolution, size in [(-2.3, 4, 9), (1.0, 10, 6)]:
        end = a + (size - 1) / resolution
        x = np.concatenate([rng.uniform(a, end, 5), rng.uniform(a - 2, a - 0.3, 2), rng.uniform(end + 0.3, end + 2, 2), [a, end]])
        yield x, a, resolution, rng.normal(2, 1, size)


ENTRY = Record(
    cases=around_the_table,
    reference=nearest,
    right="Right. Whatever x is, the entry is one that the table has, and none is nearer.",
    nudge="Not these entries. With a = -2, b = 1 and resolution = 10 they run from 0 to 30; x = -2.15 has entry 0, x = -1.92 has 1, "
    "x = 0.56 has 26 and x = 1.3 has 30.",
    hints=(
        "Try x just below a, just above b, and just below an entry. What should come out, and what does?",
        "entry = (x - a) * resolution, rounded, then kept between 0 and the last index, resolution * (b - a).",
        "Begin with `place = (x - a) * resolution`",
    ),
    mistakes={
        "It still has every one of its faults. Print the entries for a = -2, b = 1, resolution = 10 at x = -2.15, -1.92 and 1.3.": (
            "\nindex = np.trunc((x - a) * resolution).astype(int)\nreturn np.where(index < a, 0, index)"
        ),
        "The ends are right. Between them you take the entry on the left, not the nearest.": "np.rint -> np.floor",
        "Below a your entry is negative, and a negative index counts from the table's other end. Stop at the first.": "np.clip(np.rint(place), 0, last) -> np.minimum(np.rint(place), last)",
        "Above b you are one entry too far. Indices begin at 0, so the last is one less than how many there are.": "0, last -> 0, last + 1",
        "The table begins at a, not at 0: count from there.": "(x - a) -> x",
    },
    later={
        "These are the right numbers, stored as floats, and NumPy does not index with floats. Add `.astype(int)`.": (
            lambda rng: [(*case, "whole") for case in around_the_table(rng)],
            ".astype(int) -> ",
        ),
    },
    view=entries_or_whether_whole,
)
BETWEEN = Record(
    cases=places_and_values,
    reference=line_by_line,
    right="Right. It is continuous, it has a slope, and it never asks for an entry that is not there.",
    nudge="Not these values. With a = 0, resolution = 2 and values = [1, 3, 4] they are 2 at x = 0.25, 3.5 at x = 0.75, -3 at x = -1 "
    "and 6 at x = 2.",
    hints=(
        "A line through two entries is given for every x, not only between them. Which two entries serve an x beyond the end?",
        "value = v_i + (place - i) (v_(i+1) - v_i), with i = floor(place) kept between 0 and len(values) - 2.",
        "Begin with `place = (x - a) * resolution`",
    ),
    mistakes={
        "Beyond the ends you stay on the first or last value; the last line was to go on.": "t = place - left -> t = np.clip(place - left, 0, 1)",
        "Your weights are exchanged: close to the left entry it is the left value that should count.": "t = place - left -> t = 1 - (place - left)",
        "That is the nearest entry, the staircase of Part 1. Go along the straight line between two entries, and on beyond the ends.": "t = place - left -> t = np.clip(np.rint(place - left), 0, 1)",
        "You took the part of x behind the point. It is the place in the table, (x - a) * resolution, that lies between two entries.": "t = place - left -> t = x - np.floor(x)",
        "Right inside the table. Beyond its ends the line must go on: measure from the index that you use.": "t = place - left -> t = place - np.floor(place)",
    },
)
WIDTH = Record(
    cases=lambda rng: [(rng.uniform(0.02, 0.05), rng.uniform(5, 9)), (rng.uniform(0.2, 0.4), rng.uniform(0.2, 0.4))],
    reference=width_by_looking,
    right="Right. Two more digits cost ten times the entries.",
    nudge="Not that width. With tolerance = 3 and bend = 6 it is 2: the parabola 3 t^2 and its chord from 0 to 2 are 3 apart at t = 1.",
    hints=(
        "The worst curve is a parabola, bend * t^2 / 2. How far is its chord from 0 to the width off, in the middle?",
        "tolerance = bend * width^2 / 8.",
        "Begin with `squared = 8 * tolerance / bend`",
    ),
    mistakes={
        "That is how far you may follow a tangent. A line that meets the curve at both ends stays closer: how far is it off in the middle?": "8 -> 2",
        "In the middle the line is off by bend * width^2 / 8, not 4.": "8 -> 4",
        "You let the error be bend * width^2. In the middle of an interval it is much smaller.": "8 -> 1",
    },
)
TASKS = {"entry": ENTRY, "between": BETWEEN, "width": WIDTH}
