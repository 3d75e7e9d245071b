"""What the chapters' tests of near misses share: how an answer is tried, and how it is compared with a case worked out by hand."""

import numpy as np
import pytest

from course_pkg.checks import TASKS, judge


def meets(answer, cases):
    """Whether an answer gives what is said of each case worked out by hand, to the digits that are said."""

    def same(got, want):
        want = want if isinstance(want, tuple) else (want,)
        got = got if isinstance(got, tuple) else (got,)
        pairs = list(zip(got, want, strict=False))
        return len(got) == len(want) and all(np.shape(a) == np.shape(b) and np.allclose(a, b, atol=6e-4) for a, b in pairs)

    with np.errstate(all="ignore"):
        return all(same(answer(*case), want) for case, want in cases)


def rows(table):
    """Rows (task, what it is, answer, words if any) as parameters of a test."""
    return [pytest.param(name, *rest, id=f"{name}: {what}") for name, what, *rest in table]


def refused(name, answer, words, seed):
    """The answer does not pass, runs without a warning (they are errors here), and is told so in these words."""
    verdict = judge(name, answer, seed)
    assert not verdict.passed
    assert not verdict.message.startswith("Your function raised"), verdict.message
    assert words in verdict.message, verdict.message


def accepted(name, answer, seed):
    verdict = judge(name, answer, seed)
    assert verdict.passed, verdict.message


def sent_where_it_fails(name, answer, cases):
    """An answer that is sent to the case worked out by hand does not give what is said there."""
    message = judge(name, answer).message
    if ". With " in message or "Not th" in message:
        assert not meets(answer, cases), message


def right_at_many_seeds(name, solution, seeds=range(25)):
    """The solution passes, and every mistake is called by its name."""
    for seed in seeds:
        assert judge(name, solution, seed).passed, seed
        for mistake in TASKS[name].mistakes.values():
            verdict = judge(name, mistake.answer, seed)
            assert (verdict.passed, verdict.message) == (False, mistake.words), seed
