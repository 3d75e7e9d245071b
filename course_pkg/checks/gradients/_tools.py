"""What several verdicts of this chapter share: averages by quadrature, slopes by finite differences, noise without luck."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np

from course_pkg.checks._judge import Mistake, Trouble, Verdict, call, judge

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def balanced(rng: np.random.Generator, draws: int) -> np.ndarray:
    """Noise with mean 0 and variance 1 exactly: averages of quadratics over it are exact."""
    half = rng.normal(size=draws // 2)
    eps = np.concatenate([half, -half])
    return eps / np.sqrt(np.mean(eps**2))


def normal_mean(f: Callable[[np.ndarray], Any], mu: float, sigma: float) -> float:
    """The mean of ``f`` under a normal distribution, by Gauss-Hermite quadrature."""
    return float(WEIGHTS @ f(mu + sigma * NODES))


def slope(f: Callable[[float], Any], at: float, step: float = 1e-4) -> Any:
    """A derivative without calculus."""
    return (f(at + step) - f(at - step)) / (2 * step)


def judge_through(
    answer: Any,
    change: Callable[..., Any],
    cases: Sequence[tuple[Any, ...]],
    reference: Callable[..., Any],
    mistakes: dict[str, Mistake],
    **words: Any,
) -> Verdict:
    """Judge what ``change`` makes of an answer: ``change(answer, *case)`` is compared with ``reference(*case)``."""
    try:
        got = iter([change(partial(call, answer), *case) for case in cases])
    except Trouble as trouble:
        return Verdict(False, str(trouble))
    known = {name: Mistake(partial(change, mistake.answer), mistake.words) for name, mistake in mistakes.items()}
    return judge(lambda *_: next(got), cases, reference, known, **words)


NO_JAX = "Right in value, but JAX cannot differentiate your function, which the cells below must do. Use jnp throughout, not np or SciPy."


def differentiable(f: Callable[[Any], Any], at: Any) -> bool:
    """Whether JAX finds a finite derivative of ``f``."""
    try:
        return bool(np.isfinite(jax.grad(f)(at)).all())
    except Exception:  # whatever a student's function does with a tracer
        return False
