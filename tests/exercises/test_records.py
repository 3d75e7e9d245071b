"""The engine that reads records: slips that every task shares, slips that do not apply, answers that never end."""

import sys
import time

import numpy as np
import pytest

from course_pkg.checks import _limit, judge, record, sheet
from course_pkg.checks._small import MEETS, given, meets
from course_pkg.checks.slips import shared_slip
from solutions.decisions import ridge

RIDGE = sheet.read_sheet(record.ROOT / "solutions" / "decisions" / "ridge.md", "decisions/ridge")


def area(length, width):
    return length**2 * np.log(width)


def spread(y):
    return y.mean(), y.std()


def within(group, y):
    return sum(np.square(np.diff(y[group == one])).sum() for one in np.unique(group))


PAIRS = [(1.7, 2.3), (0.6, 3.1), (2.9, 1.4)]
GROUPS = [(np.array([1.0, 1, 2, 2]), np.array([0.3, 2.1, 1.2, 0.4])), (np.array([3.0, 1, 3, 1]), np.array([4.2, 0.7, 1.9, 2.2]))]
ROWS = [(np.array([0.3, 2.1, 1.2]),), (np.array([4.2, 0.7, 1.9, 2.2]),)]


@pytest.mark.parametrize(
    ("own", "cases", "wrong", "words"),
    [
        (area, PAIRS, lambda length, width: -area(length, width), "The sign is turned round."),
        (area, PAIRS, lambda length, width: 1 / area(length, width), "one over it"),
        (area, PAIRS, lambda length, width: 2.5 * area(length, width), "Off by a factor of 2.5."),
        (area, PAIRS, lambda length, width: 0.3 + area(length, width), "Off by +0.3, always."),
        (area, PAIRS, lambda length, width: area(np.sqrt(length), width), "as if `length` were replaced by its root"),
        (area, PAIRS, lambda length, width: area(width, length), "as if `length` and `width` had changed places"),
        (area, PAIRS, lambda length, width: 1.01 * area(length, width) + 0.01, "Close, but not exact."),
        (area, PAIRS, lambda length, width: 1.002 * area(length, width), "Close, but not exact."),
        (area, PAIRS, lambda length, width: 1.0004 * area(length, width), "Close, but not exact."),  # the sign of `length` is of no account
        (
            spread,
            ROWS,
            lambda y: (len(y) * y.mean(), y.std()),
            "The mean is off; the rest is right. Off by how many there are",
        ),
        (spread, ROWS, lambda y: (y.mean(), y.var()), "The spread is off; the rest is right. That is its square."),
        (spread, ROWS, lambda y: (y.std(), y.mean()), "in the wrong order"),
        (within, GROUPS, lambda group, y: 0.0, "as if `y` were 0, or left out."),
        (area, PAIRS, lambda length, width: length + width, ""),
    ],
)
def test_a_slip_of_a_common_kind_gets_its_words_and_another_none(own, cases, wrong, words):
    def all_parts(f):
        return [tuple(np.asarray(part) for part in (got if isinstance(got, tuple) else (got,))) for got in (f(*case) for case in cases)]

    found = shared_slip(all_parts(wrong), all_parts(own), cases, own, ("the mean", "the spread") if own is spread else ())
    assert words in found
    assert bool(words) == bool(found)


def test_choices_and_counts_are_never_told_of_a_common_slip_that_they_meet_by_chance():
    assert shared_slip([(np.array([0.0, 1]),)], [(np.array([1.0, 0]),)], [(1.0,)], lambda x: x, ()) == ""


def test_a_slip_is_an_edit_of_every_such_place_another_body_or_a_function():
    own = sheet.solution(RIDGE, "penalty")
    assert own(3.0, 2.0) == 9 / 4
    assert sheet.slipped(RIDGE, "penalty", "**2 -> **3 ;; return -> return -")(3.0, 2.0) == -27 / 8
    assert sheet.slipped(RIDGE, "penalty", "\n    x = sigma\n    return x\n")(3.0, 2.0) == 3
    assert sheet.slipped(RIDGE, "penalty", own) is own
    assert sheet.slipped(RIDGE, "penalty", "sigma**2 -> np.square(sigma)")(3.0, 2.0) == 9 / 4  # the answer needs no NumPy
    assert own(3.0, 2.0) == 9 / 4
    with pytest.raises(LookupError, match=r"solutions/decisions/ridge.md: 'sigma\*\*4' is not in the answer 'penalty'"):
        sheet.slipped(RIDGE, "penalty", "sigma**4 -> sigma")


def test_what_an_answer_needs_of_its_sheet_is_there_and_its_demonstrations_are_not(capsys):
    x = np.array([[-1.0], [1.0]])
    np.testing.assert_allclose(sheet.solution(RIDGE, "fit")(x, np.array([0.0, 2.0]), 1.0, 1.0), [1, 2 / 3])
    stein = sheet.read_sheet(record.ROOT / "solutions" / "decisions" / "james-stein.md", "decisions/james-stein")
    signed = sheet.slipped(stein, "estimator", "return -> return np.sign(1) *")  # NumPy, which these lines do without
    np.testing.assert_allclose(signed(np.ones((1, 3))), np.full((1, 3), 2 / 3))
    sheet.solution(stein, "risk")  # its argument theta is no variable of the demonstration
    derivative = sheet.read_sheet(record.ROOT / "solutions" / "lambertw" / "derivative.md", "lambertw/derivative")
    assert sheet.solution(derivative, "rule")((0.0,), (2.0,)) == (0, 2)  # it calls what its sheet hands it over to, in a cell below
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("nudge", "case"),
    [
        ("Not that. With y = [1, 3], s = 1/2 it is 4.", ([1, 3], 0.5)),
        ("Not that. With y = [[1, inf], [0, -2]] and s = 2 they are 0.", ([[1, np.inf], [0, -2]], 2)),
        ("Not that. With y = [1] and s = -0.5 e^-0.5 it is 4.", None),  # more stands there than a number
        ("Not that. With y = [1, e^2] and s = 2 it is 4.", None),
        ("Not that. With y = [1, 2] it is 4.", None),
    ],
)
def test_a_small_case_is_read_from_the_words_or_left_alone(nudge, case):
    found = given(nudge, ["y", "s"], (np.zeros(2), 1.0))
    assert len(found) == (case is not None)
    if case:
        np.testing.assert_array_equal(found[0][0], case[0])
        assert found[0][1] == case[1]


def test_all_the_small_cases_that_the_words_describe_are_tried():
    nudge = "Not that. With y = 2 and s = 1 it is 4, and with s = 3 it is 12."
    assert given(nudge, ["y", "s"], (1.0, 1.0)) == [(2, 1), (2, 3)]
    assert given("Not that. At y = 1, s = 2 it is 4, at y = 2, s = 1 it is 7.", ["y", "s"], (1.0, 1.0)) == [(1, 2), (2, 1)]
    assert not meets(lambda y, s: 4 * y / 2, lambda y, s: 2 * y * s, nudge, ["y", "s"], (1.0, 1.0))


def test_an_answer_is_not_sent_to_a_small_case_that_it_meets():
    def one_column(x, y, sigma, sigma0):  # right where all is 1
        own = sheet.solution(RIDGE, "fit")(x, y, 1.0, 1.0)
        return own if sigma == sigma0 == 1 else own * 3.7 + 1.9

    assert judge("decisions/ridge/fit", one_column).message == MEETS


def test_an_answer_that_ends_python_or_never_ends_is_refused_in_words(monkeypatch):
    name = "decisions/ridge/penalty"
    assert judge(name, lambda sigma, sigma0: sys.exit(0)).message.startswith("Your function ends Python")

    def stubborn(sigma, sigma0):
        while True:
            try:
                time.sleep(0.01)
            except Exception:
                continue

    monkeypatch.setattr("course_pkg.checks.SECONDS", 0.2)
    start = time.monotonic()
    assert judge(name, stubborn).message.startswith("No answer after 0 seconds")
    assert time.monotonic() - start < 10
    with pytest.raises(_limit.TooLong), _limit.limited(0.05):
        time.sleep(5.0)
    with pytest.raises(_limit.TooLong), _limit.limited(0.05):
        while time.monotonic() < start + 60:
            pass
    with _limit.limited(0.1):
        time.sleep(0.25)  # to wait for a busy machine is not to compute
    time.sleep(0.2)  # nothing rings once the limit is left


def test_a_right_answer_is_right_even_where_a_mistake_agrees_with_it(monkeypatch):
    same = ridge.PENALTY._replace(mistakes={"words": "return -> return 1 *"})
    monkeypatch.setitem(ridge.TASKS, "penalty", same)
    record.sheet_tasks.cache_clear()
    assert judge("decisions/ridge/penalty", lambda sigma, sigma0: (sigma / sigma0) ** 2).passed
    record.sheet_tasks.cache_clear()


def test_a_record_that_does_not_fit_its_sheet_is_no_task_less_but_an_error(monkeypatch):
    broken = ridge.PENALTY._replace(mistakes={"words": "sigma**4 -> sigma"})
    monkeypatch.setitem(ridge.TASKS, "penalty", broken)
    record.sheet_tasks.cache_clear()
    with pytest.raises(LookupError, match="is not in the answer 'penalty'"):
        judge("decisions/ridge/penalty", lambda sigma, sigma0: 1.0)
    record.sheet_tasks.cache_clear()
