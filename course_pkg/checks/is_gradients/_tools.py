"""What several verdicts of this chapter share: log ratios of normal densities, and answers whose weights are clipped."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import norm

from course_pkg.checks._judge import Verdict, agree, call, numbers


def log_ratio(theta: Any, mu: Any, sigma: Any, mu_new: Any, sigma_new: Any) -> Any:
    """Log of the new normal density over the old one at theta, element by element."""
    return norm.logpdf(theta, mu_new, sigma_new) - norm.logpdf(theta, mu, sigma)


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
