"""Calibrate a model of your own. Roads: densities from SciPy, added up row by row; costs counted case by case."""

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.stats import halfnorm, norm, t

from course_pkg.checks._judge import NOT_WRITTEN, Mistake, Task, Trouble, Verdict, judge, numbers

HIDDEN = {"base", "slope", "spread"}
DF = 4.0
SOME: dict[str, Any] = {"base": 3.0, "slope": 0.0, "spread": 1.0}

MISSING = "These names are missing from your sample statements: {}. Not known are base, slope and spread, and what is seen is y."
STRANGE = "Your program samples something that was not asked for: {}."
UNSEEN = "Your y is not tied to the data. Give its sample statement obs=y."
TIED = "Without data your program must draw y: pass `obs=y` as it comes, and None will make it a draw."
SHAPE = "With {} rows your program draws y of shape {}. It needs an outcome for each row: is the plate there?"
PLATED = "In your program {} stands in the plate, once for each row. It is one number for all rows: sample it before the plate."
ORDER = "Your 4 is the scale of y. NumPyro's StudentT takes degrees of freedom, place and scale, in this order."
WITHOUT = ". This was a call without y: it must run with y=None, and take the number of rows from x."
HALF = "Your spread can be negative. A half-normal prior lives on the positive numbers."
NO_JAX = "Right in value, but JAX cannot trace your function, and a climb needs its slope. Use jnp throughout, and no `if` on the values."


def _parts_by_rows(x: np.ndarray, y: np.ndarray, values: dict[str, float]) -> dict[str, float]:
    parts = {
        "base": norm.logpdf(values["base"], 3, 2),
        "slope": norm.logpdf(values["slope"], 0, 1),
        "spread": halfnorm.logpdf(values["spread"]),
        "y": 0.0,
    }
    for row, seen in zip(x, y, strict=True):
        parts["y"] += t.logpdf(seen, DF, values["base"] + values["slope"] * row, values["spread"])
    return {name: float(part) for name, part in parts.items()}


def _log_density_by_rows(x: np.ndarray, y: np.ndarray, values: dict[str, float]) -> float:
    return sum(_parts_by_rows(x, y, values).values())


def _trace(program: Callable[..., Any], values: dict[str, Any], *data: Any) -> dict[str, Any]:
    from numpyro import handlers

    try:
        with handlers.block(), handlers.trace() as sites, handlers.seed(rng_seed=0), handlers.substitute(data=values):
            program(*data)
    except NotImplementedError:
        raise Trouble(NOT_WRITTEN) from None
    except Exception as error:
        words = f"Your program could not be run: {type(error).__name__}: {error}"
        raise Trouble(words + (WITHOUT if len(data) == 1 or data[1] is None else "")) from error
    return {name: site for name, site in sites.items() if site["type"] == "sample"}


def _look(program: Any, x: np.ndarray, y: np.ndarray) -> None:
    """Everything that can be seen without numbers."""
    if not callable(program):
        raise Trouble("Hand over the program itself, a function of x and y, without brackets after its name.")
    sites = _trace(program, SOME, jnp.asarray(x), jnp.asarray(y))
    if missing := sorted((HIDDEN | {"y"}) - set(sites)):
        raise Trouble(MISSING.format(", ".join(missing)))
    if strange := sorted(set(sites) - HIDDEN - {"y"}):
        raise Trouble(STRANGE.format(", ".join(strange)))
    if not sites["y"]["is_observed"]:
        raise Trouble(UNSEEN)
    if np.any(sites["spread"]["fn"].support(jnp.asarray(-1.0))):
        raise Trouble(HALF)
    if plated := [name for name in sorted(HIDDEN) if sites[name]["fn"].shape() == np.shape(x)]:
        raise Trouble(PLATED.format(" and ".join(plated)))
    if _in_wrong_order(sites["y"]["fn"]):
        raise Trouble(ORDER)
    for unseen in ((jnp.asarray(x), None), (jnp.asarray(x),)):
        law = _trace(program, SOME | {"y": y}, *unseen)["y"]  # the shape is the law's: no need to draw
        if law["is_observed"]:
            raise Trouble(TIED)
        if law["fn"].shape() != np.shape(x):
            raise Trouble(SHAPE.format(len(x), law["fn"].shape()))


def _in_wrong_order(law: Any) -> bool:
    """Whether the 4 is the scale of a Student distribution."""
    from numpyro.distributions import StudentT

    while not isinstance(law, StudentT) and hasattr(law, "base_dist"):
        law = law.base_dist
    return isinstance(law, StudentT) and bool(np.all(law.scale == DF)) and not np.all(law.df == DF)


def _parts(program: Any, x: np.ndarray, y: np.ndarray, values: dict[str, float]) -> dict[str, float]:
    sites = _trace(program, {name: jnp.asarray(value) for name, value in values.items()}, jnp.asarray(x), jnp.asarray(y))
    return {name: float(site["fn"].log_prob(site["value"]).sum() * (site["scale"] or 1)) for name, site in sites.items()}


def _log_density(program: Any, x: np.ndarray, y: np.ndarray, values: dict[str, float]) -> float:
    return sum(_parts(program, x, y, values).values())


def _cost_case_by_case(y: np.ndarray, h: np.ndarray) -> np.ndarray:
    out = []
    for wanted, baked in zip(*(part.ravel() for part in np.broadcast_arrays(y, h)), strict=True):
        gap = float(wanted - baked)
        out.append(-gap if gap < 0 else 0.0 if gap <= 0.2 else 3 * (gap - 0.2))
    return np.array(out).reshape(np.broadcast_shapes(np.shape(y), np.shape(h)))


def program_stub(x: Any, y: Any = None) -> Any:
    raise NotImplementedError


def loss_stub(y: np.ndarray, h: np.ndarray) -> Any:
    raise NotImplementedError


def _program(
    *,
    base: tuple[float, float] = (3.0, 2.0),
    slope: tuple[float, float] = (0.0, 1.0),
    half: float | None = 1.0,
    scale: Callable[..., Any] = lambda spread: spread,
    line: Callable[..., Any] = lambda base, slope, x: base + slope * x,
    normal: bool = False,
    plate: bool = True,
    all_in_plate: bool = False,
    wrong_order: bool = False,
    observed: bool = True,
    hide: tuple[str, ...] = ("base", "slope", "spread"),
):
    def program(x, y=None):
        import numpyro
        from numpyro.distributions import HalfNormal, Normal, StudentT

        values = {"base": 3.0, "slope": 0.0, "spread": 1.0}
        laws = {"base": Normal(*base), "slope": Normal(*slope), "spread": Normal(0.0, 1.0) if half is None else HalfNormal(half)}
        for name in hide:
            with numpyro.plate("rows", len(x)) if all_in_plate else nullcontext():
                values[name] = numpyro.sample(name, laws[name])
        place, width = line(values["base"], values["slope"], x), scale(values["spread"])
        law = Normal(place, width) if normal else StudentT(place, width, DF) if wrong_order else StudentT(DF, place, width)
        if plate:
            with numpyro.plate("rows", len(x)):
                numpyro.sample("y", law, obs=y if observed else None)
        else:
            numpyro.sample("y", StudentT(DF, values["base"], width), obs=y)

    return program


# what can be told without numbers
FAULTS = {
    "y not observed": Mistake(_program(observed=False), UNSEEN),
    "spread on the whole line": Mistake(_program(half=None), HALF),
    "slope missing": Mistake(_program(hide=("base", "spread")), MISSING.format("slope")),
    "all in the plate": Mistake(_program(all_in_plate=True), PLATED.format("base and slope and spread")),
    "order of the arguments": Mistake(_program(wrong_order=True), ORDER),
    "no plate and no x": Mistake(_program(plate=False), SHAPE.format(7, ())),
}
PROGRAM_MISTAKES = {
    "normal noise": Mistake(
        _program(normal=True),
        "Your outcomes are normal. They are to have Student's t distribution with 4 degrees of freedom around the line.",
    ),
    "spread as variance": Mistake(
        _program(scale=lambda spread: spread**0.5),
        "You took the root of the spread. It is a scale already; only a variance would want a root.",
    ),
    "spread squared": Mistake(
        _program(scale=lambda spread: spread**2),
        "You squared the spread. NumPyro's StudentT takes degrees of freedom, place and scale, and the spread is the scale.",
    ),
    "variance for base": Mistake(
        _program(base=(3.0, 4.0)),
        "The prior of the base is too wide. NumPyro's Normal takes a standard deviation, which is 2.",
    ),
    "base centred at zero": Mistake(
        _program(base=(0.0, 2.0)),
        "The prior of the base is centred at 3.",
    ),
    "slope without x": Mistake(
        _program(line=lambda base, slope, x: base + slope + 0 * x),
        "Your line does not look at x.",
    ),
    "slope downwards": Mistake(
        _program(line=lambda base, slope, x: base - slope * x),
        "Your line falls where its slope is positive.",
    ),
    "priors of slope and base swapped": Mistake(
        _program(base=(0.0, 1.0), slope=(3.0, 2.0)),
        "The priors of base and slope have changed places.",
    ),
}
LOSS_MISTAKES = {
    "sides swapped": Mistake(
        lambda y, h: _cost_case_by_case(h, y),
        "You charged too many as too few. Too few is when y, which is wanted, exceeds h, which was baked.",
    ),
    "rates swapped": Mistake(
        lambda y, h: jnp.maximum(y - h - 0.2, 0) + 3 * jnp.maximum(h - y, 0),
        "The rates have changed places: what is missing costs 3, what is left over 1.",
    ),
    "negative where it is free": Mistake(
        lambda y, h: jnp.maximum(3 * (y - h - 0.2), h - y),
        "A cost is never negative here: where y lies between h and h + 0.2 it is 0.",
    ),
    "nothing forgiven": Mistake(
        lambda y, h: 3 * jnp.maximum(y - h, 0) + jnp.maximum(h - y, 0),
        "The first 0.2 that are missing cost nothing, whatever comes after.",
    ),
    "forgiven if small only": Mistake(
        lambda y, h: jnp.where(y - h > 0.2, 3 * (y - h), 0) + jnp.maximum(h - y, 0),
        "Your cost jumps at 0.2. The first 0.2 stay free where more is missing; only the rest is charged.",
    ),
    "forgiven on both sides": Mistake(
        lambda y, h: 3 * jnp.maximum(y - h - 0.2, 0) + jnp.maximum(h - y - 0.2, 0),
        "You forgave the first 0.2 on both sides. What was baked too much is charged from the first loaf on.",
    ),
    "shortage only": Mistake(
        lambda y, h: 3 * jnp.maximum(y - h - 0.2, 0),
        "What was baked too much costs nothing with you. Then one should bake without end.",
    ),
    "surplus as a gain": Mistake(
        lambda y, h: jnp.where(y > h, 3 * jnp.maximum(y - h - 0.2, 0), y - h),
        "With you what was baked too much brings money. A loss is not negative.",
    ),
    "same price": Mistake(
        lambda y, h: jnp.maximum(y - h - 0.2, 0) + jnp.maximum(h - y, 0),
        "What is missing costs 3 for each unit.",
    ),
    "free allowance on the wrong side": Mistake(
        lambda y, h: 3 * jnp.maximum(y - h, 0) + jnp.maximum(h - y - 0.2, 0),
        "The free 0.2 belong to what is missing, not to what is too much.",
    ),
    "mean": Mistake(
        lambda y, h: jnp.asarray(_cost_case_by_case(y, h)).mean(),
        "You averaged. A loss is needed for each pair of outcome and decision.",
    ),
    "not for JAX": Mistake(lambda y, h: _cost_case_by_case(np.asarray(y), np.asarray(h)), NO_JAX),
}


ANOTHER = (
    "Your program runs, and its log density is another one. Compare each line with the text: which distribution, which numbers, "
    "standard deviation or variance?"
)


def program_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 797])
    cases = []
    for spread in (0.4, 0.7, 1.8):
        x = rng.normal(0, 1.5, 7)
        values = {"base": float(rng.uniform(4, 6)), "slope": float(rng.uniform(0.8, 2)), "spread": spread}
        cases.append((x, values["base"] + values["slope"] * x + spread * rng.standard_t(DF, 7), values))
    try:
        _look(answer, *cases[0][:2])
        got = iter([_log_density(answer, *case) for case in cases])
    except Trouble as trouble:
        return Verdict(False, str(trouble))
    known = {name: Mistake(partial(_log_density, mistake.answer), mistake.words) for name, mistake in PROGRAM_MISTAKES.items()}
    verdict = judge(
        lambda *_: next(got),
        cases,
        _log_density_by_rows,
        known,
        right="Right. Its log density is that of the text, and without data it draws an outcome for each row.",
        nudge=ANOTHER,
    )
    if verdict.message != ANOTHER:
        return verdict
    want, parts = ([of(*case) for case in cases] for of in (_parts_by_rows, partial(_parts, answer)))
    off = [name for name in want[0] if not np.allclose([a[name] for a in parts], [b[name] for b in want], rtol=1e-3)]
    return Verdict(False, f"{ANOTHER} The difference is at {' and '.join(off)}." if off else ANOTHER)


def loss_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 798])
    h = rng.normal(3, 0.5, 6)
    gaps = np.array([0.1, 0.5, -0.1, 1.5, -0.7, -2.0]) * rng.uniform(0.9, 1.1, 6)
    cases = [(h + rng.permutation(gaps), h), (rng.normal(3, 1, (4, 6)), h)]
    verdict = judge(
        answer,
        cases,
        _cost_case_by_case,
        LOSS_MISTAKES,
        right="Right. Anything that says what a wrong decision costs will do, as long as JAX can follow it.",
        nudge="Not those costs. With h = 3 and y = 3.1, 3.7 and 2.5 they are 0, 1.5 and 0.5.",
    )
    if verdict.passed and not _traceable(answer, *cases[0]):
        return Verdict(False, NO_JAX)
    return verdict


def _traceable(loss: Callable[..., Any], y: np.ndarray, h: np.ndarray) -> bool:
    try:
        by_h = jax.jit(jax.grad(lambda at: loss(jnp.asarray(y), at).sum()))(jnp.asarray(h))
        return bool(np.isfinite(numbers(by_h)[0]).all())
    except Exception:  # whatever a student's function does with a tracer
        return False


TASKS = (
    Task(
        "lcvi/your-own/program",
        "A model of your own: the program",
        2,
        12,
        program_stub,
        (
            "A program samples, one line each, everything that is not known; the outcome last, for all rows at once.",
            "base ~ Normal(3, 2), slope ~ Normal(0, 1), spread ~ HalfNormal(1); in a plate y ~ StudentT(4, base + slope x, spread), obs=y.",
            'Begin with `base = numpyro.sample("base", Normal(3.0, 2.0))`; y stands in a `numpyro.plate("rows", len(x))`',
        ),
        FAULTS | PROGRAM_MISTAKES,
        program_verdict,
    ),
    Task(
        "lcvi/your-own/loss",
        "A model of your own: the loss",
        2,
        8,
        loss_stub,
        (
            "Two kinds of error that never happen together: write the cost of each so that it is 0 where the other happens.",
            "3 max(y - h - 0.2, 0) + max(h - y, 0), element by element.",
            "Begin with `missing = jnp.maximum(y - h - 0.2, 0)`",
        ),
        LOSS_MISTAKES,
        loss_verdict,
    ),
)
