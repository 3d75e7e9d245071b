"""What several verdicts of this chapter share: log ratios of normal densities, and judging without NumPy's warnings."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import norm

from course_pkg.checks._judge import Trouble, Verdict, agree, call, judge, numbers


def log_ratio(theta: Any, mu: Any, sigma: Any, mu_new: Any, sigma_new: Any) -> Any:
    """Log of the new normal density over the old one at theta, element by element."""
    return norm.logpdf(theta, mu_new, sigma_new) - norm.logpdf(theta, mu, sigma)


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


CLIPPED = (
    "Right where the weights are small, and not where they are large. Are yours clipped? A draw that stands for many counts in full "
    "here: a clipped weight has a bias."
)
LEVELS = (*(np.arange(2, 100) / 10), *range(10, 101))


def unclipped(verdict: Verdict, answer: Any, cases: Any, at_most: Callable[[float], Any], nudge: str) -> Verdict:
    """A verdict that tells an answer in a way of its own that it clips, if it agrees with ``at_most(level)`` at some level."""
    if verdict.passed or not verdict.message.endswith(nudge):
        return verdict
    got = [numbers(call(answer, *case)) for case in cases]
    for level in LEVELS:
        if all(agree(a, numbers(at_most(level)(*case)), 1e-4) for a, case in zip(got, cases, strict=True)):
            return Verdict(False, CLIPPED)
    return verdict
