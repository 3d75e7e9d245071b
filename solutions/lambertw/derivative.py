"""The derivative of W. Road: finite differences of SciPy's W."""

import jax
import jax.numpy as jnp
import numpy as np

from course_pkg.checks.record import Record
from solutions.gradients._tools import NO_JAX
from solutions.lambertw._tools import W, steep

slope_by_differences = lambda x, w: steep(lambda t: W(t, 0 if np.all(w > -1) else -1), x, 3e-4)


def along_or_derivative(primals, tangents):
    """W at x, and how fast it moves while x moves with speed dx; or a derivative at a place, of an order."""
    if not isinstance(primals, tuple):
        return steep(W if tangents == 1 else lambda x: steep(W, x), primals)
    x, dx = np.asarray(primals[0], dtype=float), np.asarray(tangents[0], dtype=float)
    return W(x), steep(lambda t: W(x + t * dx), 0.0, 3e-4)


def rule_or_derivative(answer, primals, tangents):
    """What the rule gives; or a derivative at a place, of an order, that JAX finds with it."""
    if isinstance(primals, tuple):
        return answer(primals, tangents)
    f = taught = jax.custom_jvp(lambda x: x)
    taught.defjvp(answer)
    for _ in range(tangents):
        f = jax.grad(f)
    try:
        return (jax.jit(f) if tangents == 1 else f)(primals)
    except Exception:  # whatever a student's function does with a tracer; a w0 without its rule is one
        return np.nan


def on_both_branches(rng):
    upper, lower = np.concatenate([rng.uniform(-0.3, -0.05, 2), rng.uniform(0.5, 5, 3)]), rng.uniform(-0.33, -0.06, 4)
    return [(upper, W(upper)), (lower, W(lower, -1))]


def moving(rng):
    x = np.concatenate([rng.uniform(-0.3, -0.05, 2), rng.uniform(0.5, 5, 2)])
    yield (jnp.asarray(x),), (jnp.asarray(rng.choice([-1.0, 1.0], 4) * rng.uniform(1.5, 3, 4)),)


AT_ZERO = (
    "Right elsewhere, and not where x is 0. A ratio with x below the bar is 0/0 there: write it so that nothing is divided by x. "
    "(0 is W's value there, not its slope.)"
)
ONE_OVER = "1 / (1 + w) forgets that e^w is differentiated, too: the slope of w e^w is e^w (1 + w)."
HIDDEN = (
    "Value and slope are right, the second derivative is not: JAX does not find your rule when it differentiates the W inside it. Call w0 "
    "there, run the cell with `w0.defjvp(rule)` again, and then this one."
)
NO_CHANGE = (
    "Value and slope are right, the second derivative at 0 is not. What you return there is a case of its own, and does not say how the "
    "slope changes nearby. Find a form that holds at 0 without a case."
)
SLOPE = Record(
    cases=on_both_branches,
    reference=slope_by_differences,
    right="Right, on both branches and at zero. At -1/e, where they meet, no finite number would be.",
    nudge="Not that slope. At x = 0, w = 0 it is 1, at x = e, w = 1 it is 1/(2e) = 0.184, and at x = -2/e^2, w = -2 it is -e^2 = -7.389.",
    hints=(
        "W undoes w e^w. If w e^w rises steeply, W rises gently: one slope is one over the other.",
        "w e^w = x, so (e^w + w e^w) dw = dx. Solve for dw / dx.",
        "Begin with `steepness = np.exp(w) * (1 + w)`",
    ),
    mistakes={
        ONE_OVER: "np.exp(w) * -> ",
        "The slope of the product w e^w has two terms. You have one over the first.": "* (1 + w) -> ",
        "In 1 / (x + e^w) it is x that stands beside the exponential, not w.": "np.exp(w) * (1 + w) -> w + np.exp(w)",
        "In 1 / (x + e^w) the exponential is that of w, not of x.": "np.exp(w) * (1 + w) -> x + np.exp(x)",
        "The size is right. On the lower branch W falls as x grows, so its slope has the other sign.": "1 / steepness -> 1 / np.abs(steepness)",
    },
    later={
        AT_ZERO: (
            lambda rng: [(np.array([0.0, 1.0]), W(np.array([0.0, 1.0])))],
            ("1 / steepness -> w / (x * (1 + w))", "1 / steepness -> np.where(x == 0, 0.0, 1 / steepness)"),
        ),
    },
)
RULE = Record(
    cases=moving,
    reference=along_or_derivative,
    right="Right. That is all an engine needs to know of W to differentiate whatever contains it.",
    nudge="Not that pair. With x = e and dx = 6 it is 1 and 3/e = 1.104, and with x = 0 and dx = 6 it is 0 and 6.",
    hints=(
        "While x moves with speed dx, W(x) moves with its slope times that. Return where W is and how fast it moves.",
        "(W(x), W'(x) dx), and W'(x) = e^-W / (1 + W).",
        "Begin with `(x,), (dx,) = primals, tangents`",
    ),
    mistakes={
        "W is right, and so is its slope. But x moves with speed dx: how fast does W move then?": "* dx -> ",
        ONE_OVER: "jnp.exp(-w) / -> 1 /",
        "The second value is right. The first should be W at x, not x.": "return w, -> return x,",
    },
    later={
        AT_ZERO: (lambda rng: [((jnp.array([0.0, 1.0]),), (jnp.array([2.0, -2.0]),))], "jnp.exp(-w) / (1 + w) -> w / (x * (1 + w))"),
        NO_JAX: (lambda rng: [(0.5, 1)], "jnp.exp(-w) -> np.exp(-np.asarray(w))"),
        HIDDEN: (lambda rng: [(x, 2) for x in (-0.2, 1.0)], "w0(x) -> jax.lax.stop_gradient(w0(x))"),
        NO_CHANGE: (lambda rng: [(0.0, 2)], "jnp.exp(-w) / (1 + w) -> jnp.where(x == 0, 1.0, w / (jnp.where(x == 0, 1.0, x) * (1 + w)))"),
    },
    parts=("the value", "its speed"),
    view=rule_or_derivative,
    rtol=1e-3,
)
TASKS = {"slope": SLOPE, "rule": RULE}
