"""Calibrate a model of your own. Roads: densities from SciPy, added up row by row; costs counted case by case."""

import jax
import jax.numpy as jnp
import numpy as np
from numpyro import handlers
from numpyro.distributions import StudentT
from scipy.stats import halfnorm, norm, t

from course_pkg.checks._judge import NOT_WRITTEN, Trouble, Verdict
from course_pkg.checks.record import Record

DF = 4.0
HIDDEN = ("base", "slope", "spread")
SOME = {"base": 3.0, "slope": 0.0, "spread": 1.0}

MISSING = "These names are missing from your sample statements: {}. Not known are base, slope and spread, and what is seen is y."
STRANGE = "Your program samples something that was not asked for: {}."
UNSEEN = "Your y is not tied to the data. Give its sample statement obs=y."
TIED = "Without data your program must draw y: pass `obs=y` as it comes, and None will make it a draw."
SHAPE = "With {} rows your program draws y of shape {}. It needs an outcome for each row: is the plate there?"
PLATED = "In your program {} stands in the plate, once for each row. It is one number for all rows: sample it before the plate."
ORDER = "Your 4 is the scale of y. NumPyro's StudentT takes degrees of freedom, place and scale, in this order."
WITHOUT = ". This was a call without y: it must run with y=None, and take the number of rows from x."
HALF = "Your spread can be negative. A half-normal prior lives on the positive numbers."
ANOTHER = (
    "Your program runs, and its log density is another one. Compare each line with the text: which distribution, which numbers, "
    "standard deviation or variance?"
)
NO_JAX = "Right in value, but JAX cannot trace your function, and a climb needs its slope. Use jnp throughout, and no `if` on the values."


def parts_by_rows(x, y, values):
    rows = [t.logpdf(seen, DF, values["base"] + values["slope"] * at, values["spread"]) for at, seen in zip(x, y, strict=True)]
    return norm.logpdf(values["base"], 3, 2), norm.logpdf(values["slope"], 0, 1), halfnorm.logpdf(values["spread"]), sum(rows)


def traced(program, values, *data):
    try:
        with handlers.block(), handlers.trace() as sites, handlers.seed(rng_seed=0), handlers.substitute(data=values):
            program(*data)
    except NotImplementedError:
        raise Trouble(NOT_WRITTEN) from None
    except Exception as error:
        words = f"Your program could not be run: {type(error).__name__}: {error}"
        raise Trouble(words + (WITHOUT if len(data) == 1 or data[1] is None else "")) from error
    return {name: site for name, site in sites.items() if site["type"] == "sample"}


def look(program, x, y):
    """Everything that can be seen without numbers."""
    if not callable(program):
        raise Trouble("Hand over the program itself, a function of x and y, without brackets after its name.")
    sites = traced(program, SOME, x, y)
    if missing := sorted({*HIDDEN, "y"} - set(sites)):
        raise Trouble(MISSING.format(", ".join(missing)))
    if strange := sorted(set(sites) - {*HIDDEN, "y"}):
        raise Trouble(STRANGE.format(", ".join(strange)))
    if not sites["y"]["is_observed"]:
        raise Trouble(UNSEEN)
    if np.any(sites["spread"]["fn"].support(jnp.asarray(-1.0))):
        raise Trouble(HALF)
    if plated := [name for name in HIDDEN if sites[name]["fn"].shape() == x.shape]:
        raise Trouble(PLATED.format(" and ".join(plated)))
    law = sites["y"]["fn"]
    while not isinstance(law, StudentT) and hasattr(law, "base_dist"):
        law = law.base_dist
    if isinstance(law, StudentT) and np.all(law.scale == DF) and not np.all(law.df == DF):
        raise Trouble(ORDER)
    for unseen in ((x, None), (x,)):
        drawn = traced(program, SOME | {"y": y}, *unseen)["y"]  # the shape is the law's: no need to draw
        if drawn["is_observed"]:
            raise Trouble(TIED)
        if drawn["fn"].shape() != x.shape:
            raise Trouble(SHAPE.format(len(x), drawn["fn"].shape()))


def parts(program, x, y, values):
    sites = traced(program, {name: jnp.asarray(value) for name, value in values.items()}, jnp.asarray(x), jnp.asarray(y))
    return tuple(float(sites[name]["fn"].log_prob(sites[name]["value"]).sum() * (sites[name]["scale"] or 1)) for name in (*HIDDEN, "y"))


def days(rng):
    for spread in (0.4, 0.7, 1.8):
        x = rng.normal(0, 1.5, 7)
        values = {"base": rng.uniform(4, 6), "slope": rng.uniform(0.8, 2), "spread": spread}
        yield x, values["base"] + values["slope"] * x + spread * rng.standard_t(DF, 7), values


def judge_program(answer, seed, mistakes):
    cases = list(days(np.random.default_rng([seed, 797])))
    look(answer, *map(jnp.asarray, cases[0][:2]))
    want, got = (np.array([of(*case) for case in cases]) for of in (parts_by_rows, lambda *case: parts(answer, *case)))
    if np.allclose(got.sum(axis=1), want.sum(axis=1), rtol=1e-4):
        return Verdict(True, PROGRAM.right)
    for words in list(mistakes)[FAULTS:]:
        if all(np.allclose(parts(mistakes[words][0], *case), one, rtol=1e-4) for case, one in zip(cases, got, strict=True)):
            return Verdict(False, words)
    off = [name for name, a, b in zip((*HIDDEN, "y"), got.T, want.T, strict=True) if not np.allclose(a, b, rtol=1e-3)]
    return Verdict(False, f"{ANOTHER} The difference is at {' and '.join(off)}." if off else ANOTHER)


def cost_case_by_case(y, h):
    gaps = np.asarray(y) - np.asarray(h)
    return np.reshape([-gap if gap < 0 else 0.0 if gap <= 0.2 else 3 * (gap - 0.2) for gap in gaps.ravel()], gaps.shape)


slope_case_by_case = lambda y, h, slope=False: np.where(y < h, 1.0, np.where(y > h + 0.2, -3.0, 0.0)) if slope else cost_case_by_case(y, h)


def value_or_slope(answer, y, h, slope=False):
    """What the loss is, or its slope in h as a climb would take it."""
    if not slope:
        return answer(y, h)
    try:
        return jax.jit(jax.grad(lambda at: answer(jnp.asarray(y), at).sum()))(jnp.asarray(h))
    except (Exception, Trouble):  # whatever a student's function does with a tracer
        return np.full(np.shape(h), np.nan)


def loaves(rng):
    h = rng.normal(3, 0.5, 6)
    yield h + rng.permutation([0.1, 0.5, -0.1, 1.5, -0.7, -2.0]) * rng.uniform(0.9, 1.1, 6), h
    yield rng.normal(3, 1, (4, 6)), h


LINE = "StudentT(4.0, base + slope * x, spread)"
FAULTS = 6  # the first slips below: `look` sees them without numbers
PROGRAM = Record(
    by=judge_program,
    right="Right. Its log density is that of the text, and without data it draws an outcome for each row.",
    nudge=ANOTHER,
    hints=(
        "A program samples, one line each, everything that is not known; the outcome last, for all rows at once.",
        "base ~ Normal(3, 2), slope ~ Normal(0, 1), spread ~ HalfNormal(1); in a plate y ~ StudentT(4, base + slope x, spread), obs=y.",
        'Begin with `base = numpyro.sample("base", Normal(3.0, 2.0))`; y stands in a `numpyro.plate("rows", len(x))`',
    ),
    mistakes={
        UNSEEN: ", obs=y -> ",
        HALF: "HalfNormal( -> Normal(0.0, ",
        MISSING.format("slope"): 'slope = numpyro.sample("slope", Normal(0.0, 1.0)) -> slope = 0.0',
        PLATED.format("base and slope and spread"): """
            with numpyro.plate("rows", len(x)):
                base = numpyro.sample("base", Normal(3.0, 2.0))
                slope = numpyro.sample("slope", Normal(0.0, 1.0))
                spread = numpyro.sample("spread", HalfNormal(1.0))
                numpyro.sample("y", StudentT(4.0, base + slope * x, spread), obs=y)
            """,
        ORDER: f"{LINE} -> StudentT(base + slope * x, spread, 4.0)",
        SHAPE.format(7, ()): 'with numpyro.plate("rows", len(x)): -> if True: ;; + slope * x -> ',
        "Your outcomes are normal. They are to have Student's t distribution with 4 degrees of freedom around the line.": f"{LINE} -> Normal(base + slope * x, spread)",
        "You squared the spread. NumPyro's StudentT takes degrees of freedom, place and scale, and the spread is the scale.": "x, spread -> x, spread**2",
    },
)
LOSS = Record(
    cases=loaves,
    reference=slope_case_by_case,
    view=value_or_slope,
    right="Right. Anything that says what a wrong decision costs will do, as long as JAX can follow it.",
    nudge="Not those costs. With h = 3 and y = 3.1, 3.7 and 2.5 they are 0, 1.5 and 0.5.",
    hints=(
        "Two kinds of error that never happen together: write the cost of each so that it is 0 where the other happens.",
        "3 max(y - h - 0.2, 0) + max(h - y, 0), element by element.",
        "Begin with `missing = jnp.maximum(y - h - 0.2, 0)`",
    ),
    mistakes={
        "The rates have changed places: what is missing costs 3, what is left over 1.": "3 * missing + too_many -> missing + 3 * too_many",
        "A cost is never negative here: where y lies between h and h + 0.2 it is 0.": "3 * missing + too_many -> jnp.maximum(3 * (y - h - 0.2), h - y)",
        "The first 0.2 that are missing cost nothing, whatever comes after.": "- 0.2 -> ",
        "Your cost jumps at 0.2. The first 0.2 stay free where more is missing; only the rest is charged.": "jnp.maximum(y - h - 0.2, 0) -> jnp.where(y - h > 0.2, y - h, 0)",
        "You forgave the first 0.2 on both sides. What was baked too much is charged from the first loaf on.": "(h - y, 0) -> (h - y - 0.2, 0)",
    },
    later={
        NO_JAX: (lambda rng: [(*case, True) for case in list(loaves(rng))[:1]], cost_case_by_case),
    },
)
TASKS = {"program": PROGRAM, "loss": LOSS}
