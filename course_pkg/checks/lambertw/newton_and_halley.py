"""Newton and Halley. Roads: a step into the complex plane for the tangent, a hyperbola for Halley, SciPy for W."""

from typing import Any

import numpy as np

from course_pkg.checks._judge import Mistake, Task, Verdict, call, numbers
from course_pkg.checks.lambertw._tools import W, judge_real


def _f(w: Any, x: Any) -> Any:
    return w * np.exp(w) - x


def _slope(w: Any, x: Any) -> Any:
    tiny = 1e-30
    return _f(w + 1j * tiny, x).imag / tiny


def _curvature(w: Any, x: Any) -> Any:
    coarse, fine = (2 * (_f(w, x) - _f(w + 1j * h, x).real) / h**2 for h in (1e-2, 5e-3))
    return (4 * fine - coarse) / 3


def _tangent(w: Any, x: Any) -> Any:
    return w - _f(w, x) / _slope(w, x)


def _hyperbola(w: Any, x: Any) -> Any:
    """Where (a + b t) / (1 + c t) is zero, which has the value, the slope and the curvature of f at t = 0."""
    c = -_curvature(w, x) / (2 * _slope(w, x))
    return w - _f(w, x) / (_slope(w, x) + c * _f(w, x))


def newton_stub(w: np.ndarray, x: np.ndarray) -> Any:
    raise NotImplementedError


def halley_stub(w: np.ndarray, x: np.ndarray) -> Any:
    raise NotImplementedError


def solve_stub(x: np.ndarray, branch: int) -> Any:
    raise NotImplementedError


def _halley(bend):
    return lambda w, x: w - _f(w, x) / (np.exp(w) * (1 + w) - bend(w, _f(w, x)))


THE_ITERATE = "What is missing is w e^w - x, with the given x. You subtracted the iterate: your walk ends at w = 0 whatever x is."
NEWTON_MISTAKES = {
    "z for x": Mistake(lambda w, x: w - (w * np.exp(w) - w) / (np.exp(w) * (1 + w)), THE_ITERATE),
    "one term of the slope": Mistake(
        lambda w, x: w - _f(w, x) / np.exp(w),
        "Your slope is e^w. w e^w is a product of two things that both depend on w, so its slope has two terms.",
    ),
    "the other term of the slope": Mistake(
        lambda w, x: w - _f(w, x) / (w * np.exp(w)),
        "Your slope is w e^w. w e^w is a product of two things that both depend on w, so its slope has two terms.",
    ),
    "plus": Mistake(
        lambda w, x: w + _f(w, x) / (np.exp(w) * (1 + w)),
        "You go the wrong way: where the curve rises and f is positive, the zero lies to the left.",
    ),
    "the move alone": Mistake(
        lambda w, x: _f(w, x) / (np.exp(w) * (1 + w)),
        "That is how far to go. Return where you arrive.",
    ),
    "minus the move": Mistake(
        lambda w, x: -_f(w, x) / (np.exp(w) * (1 + w)),
        "That is the move. Return where you arrive: start from w.",
    ),
    "x forgotten": Mistake(
        lambda w, x: w - w / (1 + w),
        "Your step does not know x. The line is to meet zero where w e^w is x.",
    ),
    "slope at x": Mistake(
        lambda w, x: w - _f(w, x) / (np.exp(x) * (1 + x)),
        "You took the slope at x. The line touches the curve at w.",
    ),
    "multiplied": Mistake(
        lambda w, x: w - _f(w, x) * np.exp(w) * (1 + w),
        "You multiplied by the slope. The steeper the curve, the nearer the zero: divide.",
    ),
    "logarithm": Mistake(
        lambda w, x: np.log(np.abs(x / w)),
        "That is w <- log(x / w), an iteration of its own, and a slow one. Newton's follows the tangent of w e^w - x.",
    ),
}
HALLEY_MISTAKES = {
    "z for x": Mistake(lambda w, x: _hyperbola(w, w), THE_ITERATE),
    "Newton": Mistake(
        _tangent,
        "That is Newton's step. Halley's has one more term below the bar, which knows how the curve bends.",
    ),
    "bend added": Mistake(
        _halley(lambda w, f: -(w + 2) * f / (2 * w + 2)),
        "You added the bend. It is subtracted from the slope.",
    ),
    "half forgotten": Mistake(
        _halley(lambda w, f: (w + 2) * f / (w + 1)),
        "Your bend is twice too strong: the second derivative is divided by twice the first.",
    ),
    "not divided by the slope": Mistake(
        _halley(lambda w, f: (w + 2) * np.exp(w) * f / 2),
        "Your bend is f f'' / 2. It must still be divided by the slope f'.",
    ),
    "exponential left over": Mistake(
        _halley(lambda w, f: (w + 2) * np.exp(w) * f / (2 * w + 2)),
        "The exponentials of f'' and f' cancel in the bend. One is left in yours.",
    ),
    "brackets": Mistake(
        _halley(lambda w, f: (w + 2) * f / 2 * w + 2),
        "Brackets: `/ 2 * w + 2` divides by 2, then multiplies by w, then adds 2. Write `/ (2 * w + 2)`.",
    ),
    "bend of w e^w wrong": Mistake(
        _halley(lambda w, f: (w + 1) * f / (2 * w + 2)),
        "Your second derivative equals the first. Differentiate e^w (1 + w) once more: both factors depend on w.",
    ),
    "plus": Mistake(
        lambda w, x: 2 * w - _hyperbola(w, x),
        "You go the wrong way: subtract the move.",
    ),
    "the move alone": Mistake(
        lambda w, x: w - _hyperbola(w, x),
        "That is how far to go. Return where you arrive.",
    ),
    "minus the move": Mistake(
        lambda w, x: _hyperbola(w, x) - w,
        "That is the move. Return where you arrive: start from w.",
    ),
}
ASTRAY = "Your walk has not arrived at x = {:.4g} on branch {}: there w e^w is {:.4g}. Choose a guess that is nearer, or walk longer."
LOST = "At x = {:.4g} on branch {} your walk ended at something that is no finite number. Choose another guess for it."
NOT_W = "Not that function. W_0(e) = 1, W_0(-2 e^-2) = -0.406 and W_-1(-2 e^-2) = -2."
SOLVE_MISTAKES = {
    "guess on the upper branch": Mistake(
        lambda x, branch: W(x),
        "Whatever the branch, you end on the upper one. The equation holds there, too, so nothing in the numbers warns you: the guess "
        "decides. Start below -1 for branch -1.",
    ),
    "branches exchanged": Mistake(
        lambda x, branch: np.where(x < 0, W(x, -1 - branch), W(x, branch)),
        "For negative x you have exchanged the branches. Branch 0 is the upper one, with w above -1.",
    ),
    "lower where there are two": Mistake(
        lambda x, branch: np.where(x < 0, W(x, -1), W(x)),
        "For negative x you end on the lower branch whichever was asked for. Start above -1 for branch 0.",
    ),
}


def _steps(seed: list[int]) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [
        (rng.uniform(-0.8, 1.5, 4), rng.uniform(-0.3, 4, 4)),
        (rng.uniform(-3, -1.3, 3), rng.uniform(-0.35, -0.05, 3)),
    ]


def newton_verdict(answer: Any, seed: int = 0) -> Verdict:
    return judge_real(
        answer,
        _steps([seed, 610]),
        _tangent,
        NEWTON_MISTAKES,
        right="Right. Near the answer, each step doubles the number of right digits.",
        nudge="Not that step. From w = 0 it arrives at x, and from w = 1 with x = 0 it arrives at 1/2.",
        rtol=1e-6,
    )


def halley_verdict(answer: Any, seed: int = 0) -> Verdict:
    return judge_real(
        answer,
        _steps([seed, 611]),
        _hyperbola,
        HALLEY_MISTAKES,
        right="Right. Near the answer, each step trebles the number of right digits.",
        nudge="Not that step. From w = 0 with x = 1 it arrives at 1/2, and from w = 1 with x = 0 at 1/5.",
        rtol=1e-6,
    )


def solve_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 612])
    upper = np.concatenate([[-0.36, 0.0, 500.0], rng.uniform(-0.35, 0, 3), rng.uniform(0, 20, 3)])
    lower = np.concatenate([[-0.36, -0.001], rng.uniform(-0.35, -0.01, 4)])
    cases = [(upper, 0), (lower, -1)]
    verdict = judge_real(
        answer,
        cases,
        W,
        SOLVE_MISTAKES,
        right="Right. The guess has chosen the branch, and the walk has kept to it.",
        nudge=NOT_W,
        rtol=1e-6,
    )
    if verdict.passed or ("not finite" not in verdict.message and verdict.message != NOT_W):
        return verdict
    return _how_far(answer, cases) or verdict


def _how_far(answer: Any, cases: list[tuple[Any, int]]) -> Verdict | None:
    """Whether the equation holds where the walk has ended."""
    for x, branch in cases:
        with np.errstate(all="ignore"):
            w = numbers(call(answer, x, branch))[0]
            missing = np.abs(w * np.exp(w) - x) / (1 + np.abs(x))
        if not np.isfinite(missing).all():
            return Verdict(False, LOST.format(x[~np.isfinite(missing)][0], branch))
        if missing.max() > 1e-6:
            worst = missing.argmax()
            return Verdict(False, ASTRAY.format(x[worst], branch, w[worst] * np.exp(w[worst])))
    return None


TASKS = (
    Task(
        "lambertw/newton-and-halley/newton",
        "Newton and Halley: a straight line",
        1,
        7,
        newton_stub,
        (
            "Write f(w) = w e^w - x, which is to become 0. Where does the tangent of f at the present w meet 0?",
            "w <- w - f(w) / f'(w), and f'(w) = e^w (1 + w).",
            "Begin with `f = w * np.exp(w) - x`",
        ),
        NEWTON_MISTAKES,
        newton_verdict,
    ),
    Task(
        "lambertw/newton-and-halley/halley",
        "Newton and Halley: a line that bends",
        1,
        7,
        halley_stub,
        (
            "You need the second derivative, too. Divide it by twice the first.",
            "w <- w - f / (f' - f f'' / (2 f')), with f' = e^w (1 + w) and f'' = e^w (2 + w).",
            "Begin with `f = w * np.exp(w) - x`",
        ),
        HALLEY_MISTAKES,
        halley_verdict,
    ),
    Task(
        "lambertw/newton-and-halley/solve",
        "Newton and Halley: a guess and a walk",
        1,
        8,
        solve_stub,
        (
            "The two branches lie on the two sides of w = -1. W grows like a logarithm; which simple guess does that, too?",
            "Branch 0: start at log(1 + x). Branch -1: start at -2. Then 50 steps of Halley.",
            "Begin with `w = np.log1p(x) if branch == 0 else np.full_like(x, -2.0)`",
        ),
        SOLVE_MISTAKES,
        solve_verdict,
    ),
)
