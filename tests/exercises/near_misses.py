"""One test a task for what the chapters' files list: answers that are nearly right, right ones in another form, small cases by hand."""

import contextlib
import re
import warnings

import numpy as np
import pytest

from course_pkg.checks import catalogue, judge

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


def trial(chapter, wrong, right, by_hand=None, *, sheets=(), random=(), many=5, quiet=False):
    """A test for each task in the tables; it tries every answer and names each that is not judged as it should be.

    Args:
        chapter: such as ``"mcmc/"``.
        wrong: rows (task, what it is, answer, words): refused, in a message that holds the words, or one of several, where it hangs on
            the draw how near the answer comes.
        right: rows (task, what it is, answer): accepted.
        by_hand: small cases that the verdicts describe, (arguments, result), for each task but the ``random`` ones. The solution
            meets them, and no wrong answer does that a verdict sends there.
        sheets: beginnings of names; every task with such a name is to be in each table.
        random: tasks without a case by hand.
        many: seeds at which each answer is tried in the thorough tier.
        quiet: whether wrong answers may warn on their way. A warning is an error otherwise, as everywhere.
    """
    begin = tuple(chapter + sheet for sheet in sheets)
    whole = {name.removeprefix(chapter) for name in catalogue() if sheets and name.startswith(begin)}
    by_hand = by_hand or {}
    tables = {"wrong answer": {row[0] for row in wrong}, "right answer": {row[0] for row in right}, "case by hand": {*by_hand, *random}}

    @pytest.mark.parametrize("name", sorted(whole.union(*tables.values())))
    def test(name, solved, seeds):
        cases = by_hand.get(name, [])
        faults = [f"no {what} is listed" for what, table in tables.items() if name in whole and name not in table]
        if not meets(solved[chapter + name], cases):
            faults.append("the solution does not meet the case by hand")
        for _, what, answer, words in (row for row in wrong if row[0] == name):
            for seed in seeds(many):
                with warnings.catch_warnings(action="ignore") if quiet else contextlib.nullcontext():
                    passed, message = judge(chapter + name, answer, seed)
                    met = cases and SENT.search(message) and meets(answer, cases)
                expected = (words,) if isinstance(words, str) else words
                if passed or not any(part in message for part in expected) or message.startswith("Your function raised"):
                    faults.append(f"{what}, seed {seed}, expected {' or '.join(expected)!r}: {message}")
                if met:
                    faults.append(f"{what}, seed {seed}, is sent to a case that it meets: {message}")
        for _, what, answer in (row for row in right if row[0] == name):
            for seed in seeds(many):
                passed, message = judge(chapter + name, answer, seed)
                if not passed:
                    faults.append(f"{what}, seed {seed}, is right: {message}")
        assert not faults, "\n".join(faults)

    return test
