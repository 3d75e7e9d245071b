"""One test a task for what the chapters' files list: answers that are nearly right, right ones in another form, small cases by hand."""

import re

import numpy as np
import pytest

from course_pkg.checks import TASKS, judge

SENT = re.compile(r"Not th|\. With [^.]*\d")  # words that send an answer to its case by hand


def meets(answer, cases):
    """Whether an answer gives what is said of each case worked out by hand, to the digits that are said."""

    def same(got, want):
        want = want if isinstance(want, tuple) else (want,)
        got = got if isinstance(got, tuple) else (got,)
        pairs = list(zip(got, want, strict=False))
        return len(got) == len(want) and all(np.shape(a) == np.shape(b) and np.allclose(a, b, atol=6e-4) for a, b in pairs)

    with np.errstate(all="ignore"):
        return all(same(answer(*case), want) for case, want in cases)


def trial(chapter, wrong, right, by_hand=None, *, sheets=(), random=(), many=5):
    """A test for each task in the tables; it tries every answer and names each that is not judged as it should be.

    Args:
        chapter: such as ``"mcmc/"``.
        wrong: rows (task, what it is, answer, words): refused, without a warning, in a message that holds the words.
        right: rows (task, what it is, answer): accepted.
        by_hand: small cases that the verdicts describe, (arguments, result), for each task but the ``random`` ones. The solution
            meets them, and no wrong answer does that a verdict sends there.
        sheets: every task of these is to be in each table; their names begin with one of these.
        random: tasks without a case by hand.
        many: seeds at which each answer is tried in the thorough tier.
    """
    tried = sorted({row[0] for row in (*wrong, *right)})
    if sheets:
        names = {name.removeprefix(chapter) for name in TASKS if name.startswith(tuple(chapter + sheet for sheet in sheets))}
        assert {row[0] for row in wrong} == {row[0] for row in right} == {*by_hand, *random} == names

    @pytest.mark.parametrize("name", tried)
    def test(name, solved, seeds):
        cases = (by_hand or {}).get(name, [])
        faults = [] if meets(solved[chapter + name], cases) else ["the solution does not meet the case by hand"]
        for _, what, answer, words in (row for row in wrong if row[0] == name):
            for seed in seeds(many):
                passed, message = judge(chapter + name, answer, seed)
                if passed or words not in message or message.startswith("Your function raised"):
                    faults.append(f"{what}, seed {seed}, expected {words!r}: {message}")
            if cases and SENT.search(message) and meets(answer, cases):
                faults.append(f"{what} is sent to a case that it meets: {message}")
        for _, what, answer in (row for row in right if row[0] == name):
            for seed in seeds(many):
                passed, message = judge(chapter + name, answer, seed)
                if not passed:
                    faults.append(f"{what}, seed {seed}, is right: {message}")
        assert not faults, "\n".join(faults)

    return test
