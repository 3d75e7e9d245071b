"""Judging without NumPy's warnings, with words for answers that are only close and for those that want more cases."""

from typing import Any

import numpy as np

from course_pkg.checks._judge import Trouble, Verdict, agree, call, judge, numbers


def quiet(*args: Any, **words: Any) -> Verdict:
    """`judge`, while answers may overflow or take roots of what is negative."""
    with np.errstate(all="ignore"):
        return judge(*args, **words)


CLOSE = "Close, but not exact. If you simulated or rounded: the exact number was asked for."


def exact(answer: Any, cases: Any, reference: Any, mistakes: Any, **words: Any) -> Verdict:
    """`quiet`, which tells an answer within some per cent on every case, such as one from draws, that it is close."""
    verdict = quiet(answer, cases, reference, mistakes, **words)
    if verdict.passed or not verdict.message.startswith(words["nudge"]):
        return verdict
    try:
        with np.errstate(all="ignore"):
            near = all(agree(numbers(call(answer, *case)), numbers(reference(*case)), 0.04) for case in cases)
    except Trouble:
        near = False
    return Verdict(False, CLOSE) if near else verdict


def beyond(verdict: Verdict, answer: Any, cases: Any, reference: Any, words: str) -> Verdict:
    """A verdict that asks for more cases: an answer that is right but for these is told so in ``words``."""
    if verdict.passed and not quiet(answer, cases, reference, {}, right="", nudge="").passed:
        return Verdict(False, words)
    return verdict
