"""The derivative of W. Road: finite differences of SciPy's W."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from course_pkg.checks._judge import Mistake, Task, Trouble, Verdict, numbers
from course_pkg.checks.gradients._tools import NO_JAX, differentiable
from course_pkg.checks.lambertw._tools import AT_ZERO, W, judge_real, real, steep


def _slope_by_differences(x: Any, w: Any) -> Any:
    branch = 0 if np.all(w > -1) else -1
    return steep(lambda t: W(t, branch), x, 3e-4)


def _along(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    """W at x, and how fast it moves while x moves with speed dx."""
    x, dx = np.asarray(primals[0], dtype=float), np.asarray(tangents[0], dtype=float)
    return W(x), steep(lambda t: W(x + t * dx), 0.0, 3e-4)


def slope_stub(x: np.ndarray, w: np.ndarray) -> Any:
    raise NotImplementedError


def rule_stub(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    raise NotImplementedError


def _right(w):
    return np.exp(-w) / (1 + w)


ONE_OVER = "1 / (1 + w) forgets that e^w is differentiated, too: the slope of w e^w is e^w (1 + w)."
SLOPE_MISTAKES = {
    "division by zero": Mistake(lambda x, w: w / (x * (1 + w)), AT_ZERO),
    "zero at zero": Mistake(
        lambda x, w: np.where(x == 0, 0.0, _right(w)),
        "Right elsewhere. At 0 you have put 0, which is W's value; its slope there is another number.",
    ),
    "1/(1+W)": Mistake(lambda x, w: 1 / (1 + w), ONE_OVER),
    "not turned round": Mistake(
        lambda x, w: np.exp(w) * (1 + w),
        "That is the slope of w e^w in w. W is its inverse: how far does w move when x does?",
    ),
    "sign of the exponent": Mistake(
        lambda x, w: np.exp(w) / (1 + w),
        "The exponential is on the wrong side of the bar.",
    ),
    "one term": Mistake(
        lambda x, w: np.exp(-w),
        "The slope of the product w e^w has two terms. You have one over the first.",
    ),
    "the other term": Mistake(
        lambda x, w: 1 / x,
        "The slope of the product w e^w has two terms. You have one over w e^w, the second.",
    ),
    "w for x": Mistake(
        lambda x, w: 1 / (w + np.exp(w)),
        "In 1 / (x + e^w) it is x that stands beside the exponential, not w.",
    ),
    "x in the exponent": Mistake(
        lambda x, w: 1 / (x + np.exp(x)),
        "In 1 / (x + e^w) the exponential is that of w, not of x.",
    ),
    "always up": Mistake(
        lambda x, w: np.abs(_right(w)),
        "The size is right. On the lower branch W falls as x grows, so its slope has the other sign.",
    ),
}


HIDDEN = (
    "Value and slope are right, the second derivative is not: JAX does not find your rule when it differentiates the W inside it. Call w0 "
    "there, run the cell with `w0.defjvp(rule)` again, and then this one."
)
NO_CHANGE = (
    "Value and slope are right, the second derivative at 0 is not. What you return there is a case of its own, and does not say how the "
    "slope changes nearby. Find a form that holds at 0 without a case."
)


def _with_a_case(primals, tangents):
    from course_pkg.lambertw import lambertw

    (x,), (dx,) = primals, tangents
    w = lambertw(x)
    return w, jnp.where(x == 0, 1.0, w / (jnp.where(x == 0, 1.0, x) * (1 + w))) * dx


def _with_hidden_values(primals, tangents):
    from course_pkg.lambertw import lambertw

    (x,), (dx,) = primals, tangents
    w = jax.lax.stop_gradient(lambertw(x))
    return w, jnp.exp(-w) / (1 + w) * dx


def _rule(out):
    def answer(primals, tangents):
        (x,), (dx,) = primals, tangents
        w = W(np.asarray(x, dtype=float))
        return out(np.asarray(x, dtype=float), w, np.asarray(dx, dtype=float))

    return answer


RULE_MISTAKES = {
    "hidden W": Mistake(_with_hidden_values, HIDDEN),
    "a case at zero": Mistake(_with_a_case, NO_CHANGE),
    "speed forgotten": Mistake(
        _rule(lambda x, w, dx: (w, _right(w))),
        "W is right, and so is its slope. But x moves with speed dx: how fast does W move then?",
    ),
    "divided by the speed": Mistake(
        _rule(lambda x, w, dx: (w, _right(w) / dx)),
        "You divided by dx. The faster x moves, the faster W does.",
    ),
    "added": Mistake(
        _rule(lambda x, w, dx: (w, _right(w) + dx)),
        "You added dx. The chain rule multiplies.",
    ),
    "exchanged": Mistake(
        _rule(lambda x, w, dx: (_right(w) * dx, w)),
        "The value comes first, its speed second.",
    ),
    "division by zero": Mistake(_rule(lambda x, w, dx: (w, w / (x * (1 + w)) * dx)), AT_ZERO),
    "1/(1+W)": Mistake(_rule(lambda x, w, dx: (w, dx / (1 + w))), ONE_OVER),
    "new place": Mistake(
        _rule(lambda x, w, dx: (w, w + _right(w) * dx)),
        "Your second value is where W would be after the move. The move alone was asked for.",
    ),
    "speed alone": Mistake(
        _rule(lambda x, w, dx: (w, dx)),
        "You passed the speed of x on. W moves with another one: multiply by its slope.",
    ),
    "x for W": Mistake(
        _rule(lambda x, w, dx: (x, _right(w) * dx)),
        "The second value is right. The first should be W at x, not x.",
    ),
}


def _watched(place: int):
    """NaN where x is 0, and nowhere else, has words of its own; ``place`` says where x is in a case."""

    def change(called, *case):
        got = real(called(*case))
        x = np.asarray(case[place][0] if isinstance(case[place], tuple) else case[place])
        last = np.asarray(numbers(got)[-1])
        if last.shape == x.shape and np.isnan(last[x == 0]).any() and np.isfinite(last[x != 0]).all():
            wanted = _slope_by_differences(x, W(x)) if not isinstance(case[place], tuple) else _along(*case)[1]
            if np.allclose(last[x != 0], wanted[x != 0], rtol=1e-3):
                raise Trouble(AT_ZERO)
        return got

    return change


def slope_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 620])
    upper = np.concatenate([rng.uniform(-0.3, -0.05, 2), [0.0], rng.uniform(0.5, 5, 3)])
    lower = rng.uniform(-0.33, -0.06, 4)
    return judge_real(
        answer,
        [(upper, W(upper)), (lower, W(lower, -1))],
        _slope_by_differences,
        SLOPE_MISTAKES,
        _watched(0),
        right="Right, on both branches and at zero. At -1/e, where they meet, no finite number would be.",
        nudge="Not that slope. At x = 0, w = 0 it is 1, at x = e, w = 1 it is 1/(2e) = 0.184, and at x = -2/e^2, w = -2 it "
        "is -e^2 = -7.389.",
    )


def rule_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 621])
    x = np.concatenate([rng.uniform(-0.3, -0.05, 2), [0.0], rng.uniform(0.5, 5, 2)])
    dx = rng.choice([-1.0, 1.0], 5) * rng.uniform(1.5, 3, 5)
    verdict = judge_real(
        answer,
        [((jnp.asarray(x),), (jnp.asarray(dx),))],
        _along,
        RULE_MISTAKES,
        _watched(0),
        right="Right. That is all an engine needs to know of W to differentiate whatever contains it.",
        nudge="Not that pair. With x = e and dx = 6 it is 1 and 3/e = 1.104, and with x = 0 and dx = 6 it is 0 and 6.",
        parts=("the value", "its speed"),
    )
    if not verdict.passed:
        return verdict
    taught = jax.custom_jvp(lambda x: x)
    taught.defjvp(answer)
    if not differentiable(jax.jit(taught), 0.5):
        return Verdict(False, NO_JAX)
    words = _again(taught)
    return Verdict(False, words) if words else verdict


def _again(taught: Any) -> str | None:
    """What is to be said of the second derivative, if it is not right."""
    places = np.array([0.0, -0.2, 0.5, 1.0])
    try:
        found = np.array([float(jax.grad(jax.grad(taught))(float(x))) for x in places])
    except Exception:  # whatever a student's function does with a tracer; a w0 without its rule is one
        return HIDDEN
    right = np.isclose(found, steep(lambda t: steep(W, t), places), rtol=1e-3)
    if not right[1:].all():
        return HIDDEN
    return None if right[0] else NO_CHANGE


TASKS = (
    Task(
        "lambertw/derivative/slope",
        "The derivative of W, at zero too",
        1,
        8,
        slope_stub,
        (
            "W undoes w e^w. If w e^w rises steeply, W rises gently: one slope is one over the other.",
            "w e^w = x, so (e^w + w e^w) dw = dx. Solve for dw / dx.",
            "Begin with `steepness = np.exp(w) * (1 + w)`",
        ),
        SLOPE_MISTAKES,
        slope_verdict,
    ),
    Task(
        "lambertw/derivative/rule",
        "The derivative of W: teach it to an engine",
        1,
        8,
        rule_stub,
        (
            "While x moves with speed dx, W(x) moves with its slope times that. Return where W is and how fast it moves.",
            "(W(x), W'(x) dx), and W'(x) = e^-W / (1 + W).",
            "Begin with `(x,), (dx,) = primals, tangents`",
        ),
        RULE_MISTAKES,
        rule_verdict,
    ),
)
