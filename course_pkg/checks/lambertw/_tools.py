"""What several verdicts of this chapter share: origins by bisection, slopes by finite differences, answers that must be real."""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy import special
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Trouble, Verdict, call, judge

COMPLEX = "Your numbers are complex. SciPy's lambertw returns complex numbers even where the answer is real: take `.real`."
AT_ZERO = "Right elsewhere, and not a number where x is 0: there your ratio is 0/0. Write it so that nothing is divided by x."


def W(x: Any, branch: int = 0) -> Any:
    """SciPy's W, without its imaginary part."""
    return special.lambertw(x, branch).real


def steep(f: Callable[[Any], Any], at: Any, step: float = 1e-3) -> Any:
    """A derivative without calculus, from four neighbours."""
    return (8 * (f(at + step) - f(at - step)) - (f(at + 2 * step) - f(at - 2 * step))) / (12 * step)


def bisect(rising: Callable[[Any], Any], value: Any, low: Any, high: Any) -> Any:
    """Where a function that rises takes ``value``, element by element."""
    value = np.asarray(value, dtype=float)
    low, high = np.broadcast_to(low, value.shape), np.broadcast_to(high, value.shape)
    for _ in range(54):
        middle = (low + high) / 2
        below = rising(middle) < value
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


def bent(z: Any, gamma: float) -> Any:
    """The plain map."""
    return z * np.exp(gamma * z)


def origin(x: Any, gamma: float) -> Any:
    """Where x comes from on the plain map's long side; x inside the support. No W is needed, and a gamma of 0 is like any other."""
    low, high = (max(-60.0, -1 / gamma) if gamma > 0 else -60.0), (min(60.0, -1 / gamma) if gamma < 0 else 60.0)
    return bisect(lambda z: bent(z, gamma), x, low, high)


def safe(z: Any, gamma: float, d: float = -0.9 / np.e) -> Any:
    """The map with a straight tail: its slope at the knee by finite differences."""
    knee, slope = _knee(d)
    straight = gamma * z < knee
    return np.where(straight, (d + slope * (gamma * z - knee)) / gamma, bent(np.where(straight, 0.0, z), gamma))


@lru_cache
def _knee(d: float) -> tuple[float, float]:
    """Where v e^v is d, above -1, and its slope there."""
    knee = float(bisect(lambda v: bent(v, 1.0), d, -1.0, 0.0))
    return knee, float(steep(lambda v: bent(v, 1.0), knee))


def safe_origin(x: Any, gamma: float, d: float = -0.9 / np.e) -> Any:
    """Where x comes from on the map with a straight tail."""
    return bisect(lambda z: safe(z, gamma, d), x, -60.0, 60.0)


def density(x: Any, gamma: float, back: Callable[[Any, float], Any] = origin) -> Any:
    """The density of x for a standard normal z: the slope of its distribution function."""
    return steep(lambda t: norm.cdf(back(t, gamma)), x)


def real(got: Any) -> Any:
    """An answer whose numbers are not complex."""
    if any(np.iscomplexobj(part) for part in (got if isinstance(got, tuple | list) else (got,))):
        raise Trouble(COMPLEX)
    return got


def judge_real(
    answer: Any,
    cases: Sequence[tuple[Any, ...]],
    reference: Callable[..., Any],
    mistakes: dict[str, Mistake],
    change: Callable[..., Any] = lambda called, *case: real(called(*case)),
    **words: Any,
) -> Verdict:
    """Judge what ``change`` makes of an answer. A mistake that ``change`` itself turns away is not compared with."""
    with np.errstate(all="ignore"):
        try:
            got = iter([change(partial(call, answer), *case) for case in cases])
        except Trouble as trouble:
            return Verdict(False, str(trouble))

        def of(wrong: Callable[..., Any], *case: Any) -> Any:
            try:
                return change(wrong, *case)
            except Trouble:
                return np.nan

        known = {name: Mistake(partial(of, mistake.answer), mistake.words) for name, mistake in mistakes.items()}
        return judge(lambda *_: next(got), cases, reference, known, **words)
