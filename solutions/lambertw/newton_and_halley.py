"""Newton and Halley. Roads: a step into the complex plane for the tangent, a hyperbola for Halley, SciPy for W."""

import numpy as np

from course_pkg.checks._judge import Trouble
from course_pkg.checks.record import Record
from solutions.lambertw._tools import W, real

missing = lambda w, x: w * np.exp(w) - x
slope = lambda w, x, tiny=1e-30: missing(w + 1j * tiny, x).imag / tiny


def curvature(w, x):
    coarse, fine = (2 * (missing(w, x) - missing(w + 1j * h, x).real) / h**2 for h in (1e-2, 5e-3))
    return (4 * fine - coarse) / 3


tangent = lambda w, x: w - missing(w, x) / slope(w, x)


def hyperbola(w, x):
    """Where (a + b t) / (1 + c t) is zero, which has the value, the slope and the curvature of what is missing at t = 0."""
    c = -curvature(w, x) / (2 * slope(w, x))
    return w - missing(w, x) / (slope(w, x) + c * missing(w, x))


def steps(rng):
    yield rng.uniform(-0.8, 1.5, 4), rng.uniform(-0.3, 4, 4)
    yield rng.uniform(-3, -1.3, 3), rng.uniform(-0.35, -0.05, 3)


def both_branches(rng):
    yield np.concatenate([[-0.36, 0.0, 500.0], rng.uniform(-0.35, 0, 3), rng.uniform(0, 20, 3)]), 0
    yield np.concatenate([[-0.36, -0.001], rng.uniform(-0.35, -0.01, 4)]), -1


def arrived(answer, x, branch):
    """What an answer gives, if the equation holds there."""
    w = real(answer, x, branch)
    if np.shape(w) == x.shape:
        w = np.asarray(w, dtype=float)
        off = np.abs(missing(w, x)) / (1 + np.abs(x))
        if not np.isfinite(off).all():
            raise Trouble(LOST.format(x[~np.isfinite(off)][0], branch))
        if off.max() > 3e-6:
            worst = off.argmax()
            raise Trouble(ASTRAY.format(x[worst], branch, w[worst] * np.exp(w[worst])))
    return w


ASTRAY = "Your walk has not arrived at x = {:.4g} on branch {}: there w e^w is {:.4g}. Choose a guess that is nearer, or walk longer."
LOST = "At x = {:.4g} on branch {} your walk ended at something that is no finite number. Choose another guess for it."
THE_ITERATE = "What is missing is w e^w - x, with the given x. You subtracted the iterate: your walk ends at w = 0 whatever x is."
THE_MOVE = "That is the move. Return where you arrive: start from w."
NEWTON = Record(
    cases=steps,
    reference=tangent,
    right="Right. Near the answer, each step doubles the number of right digits.",
    nudge="Not that step. From w = 1 with x = 0 it arrives at 1/2, and from w = 0 at x.",
    hints=(
        "Write f(w) = w e^w - x, which is to become 0. Where does the tangent of f at the present w meet 0?",
        "w <- w - f(w) / f'(w), and f'(w) = e^w (1 + w).",
        "Begin with `f = w * np.exp(w) - x`",
    ),
    mistakes={
        THE_ITERATE: "- x -> - w",
        "Your slope has one term. w e^w is a product of two things that both depend on w, so its slope has two.": "(np.exp(w) * (1 + w)) -> np.exp(w)",
        "You go the wrong way: where the curve rises and f is positive, the zero lies to the left.": "w - f -> w + f",
        THE_MOVE: ("w - f -> f", "w - f -> -f"),
        "Brackets: `/ np.exp(w) * (1 + w)` divides by e^w and multiplies by 1 + w. The whole slope belongs below the bar.": "(np.exp(w) * (1 + w)) -> np.exp(w) * (1 + w)",
    },
    rtol=1e-6,
)
HALLEY = Record(
    cases=steps,
    reference=hyperbola,
    right="Right. Near the answer, each step trebles the number of right digits.",
    nudge="Not that step. From w = 1 with x = 0 it arrives at 1/5, and from w = 0 with x = 1 at 1/2.",
    hints=(
        "You need the second derivative, too. Divide it by twice the first.",
        "w <- w - f / (f' - f f'' / (2 f')), with f' = e^w (1 + w) and f'' = e^w (2 + w).",
        "Begin with `f = w * np.exp(w) - x`",
    ),
    mistakes={
        "That is Newton's step. Halley's has one more term below the bar, which knows how the curve bends.": "- bend -> ",
        "Your bend is twice too strong: the second derivative is divided by twice the first.": "(2 * w + 2) -> (w + 1)",
        "Your bend is f f'' / 2. It must still be divided by the slope f'.": "/ (2 * w + 2) -> * np.exp(w) / 2",
        "Brackets: `/ 2 * w + 2` divides by 2, then multiplies by w, then adds 2. Write `/ (2 * w + 2)`.": "/ (2 * w + 2) -> / 2 * w + 2",
        "Your second derivative equals the first. Differentiate e^w (1 + w) once more: both factors depend on w.": "(w + 2) -> (w + 1)",
    },
    rtol=1e-6,
)
SOLVE = Record(
    cases=both_branches,
    reference=W,
    right="Right. The guess has chosen the branch, and the walk has kept to it.",
    nudge="Not that function. W_0(e) = 1, W_0(-2 e^-2) = -0.406 and W_-1(-2 e^-2) = -2.",
    hints=(
        "The two branches lie on the two sides of w = -1. W grows like a logarithm; which simple guess does that, too?",
        "Branch 0: start at log(1 + x). Branch -1: start at -2. Then 50 steps of Halley.",
        "Begin with `w = np.log1p(x) if branch == 0 else np.full_like(x, -2.0)`",
    ),
    mistakes={
        "For x < 0 you have exchanged the branches. Branch 0 is the upper one.": lambda x, branch: np.where(
            x < 0, W(x, -1 - branch), W(x, branch)
        ),
        "For x < 0 you end on the lower branch. Start above -1 for branch 0.": lambda x, branch: np.where(x < 0, W(x, -1), W(x)),
    },
    view=arrived,
    rtol=1e-6,
)
TASKS = {"newton": NEWTON, "halley": HALLEY, "solve": SOLVE}
