"""A million values of the Lambert W function, and a density made of them: this package, SciPy and tables.

    python benchmarks/lambertw.py [--small]

The arguments are those that a skewed normal with a skew of 0.2 asks for. The error is the largest against SciPy in double precision,
as a share of W where this is above 0.01. SciPy has no gradient, so "with gradient" is compared with its value alone.
"""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from scipy import special

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/lambertw.py`

from benchmarks.aims import OURS
from benchmarks.race import Race, Road, apart
from course_pkg.lambertw import D, g_e, halley, lambertw, log_density, tabulated

TFP = "TensorFlow Probability's JAX substrate"


def textbook(x):
    """Three steps of Halley from log(1 + x), the road of the thesis with a common first guess."""
    return halley(x, jnp.log1p(x), steps=3).path[-1]


def roads(x):
    """Name and call of every road to W at ``x``."""
    double, single = jnp.asarray(x), jnp.asarray(x, jnp.float32)
    value, both, halley_three = jax.jit(lambertw), jax.jit(jax.vmap(jax.value_and_grad(lambertw))), jax.jit(textbook)
    found = {
        "SciPy": lambda: special.lambertw(x).real,
        "lambertw": lambda: value(double),
        "lambertw with gradient": lambda: both(double)[0],
        "lambertw, single": lambda: value(single),
        "lambertw with gradient, single": lambda: both(single)[0],
        "Halley, three steps": lambda: halley_three(double),
    }
    if np.ptp(x) < 100:  # a table needs an end
        for kind in ("linear", "cubic"):
            table = jax.jit(tabulated(lambertw, float(x.min()), float(x.max()), 1000, kind=kind))
            found[f"table, {kind}"] = lambda table=table: table(double)
    return found


def substrate():
    """TensorFlow Probability's W for JAX, or a sentence why it is not there."""
    try:
        from tensorflow_probability.substrates import jax as tfp

        return tfp.math.lambertw  # imported when it is asked for
    except ImportError:
        return f"{TFP} is not installed"
    except AttributeError as error:
        return f"{TFP} does not import beside JAX {jax.__version__} ({error})"


def values_race(small):
    """W with and without its gradient, in double precision but where a road says otherwise."""
    jax.config.update("jax_enable_x64", True)
    n, theirs = (10_000 if small else 1_000_000), substrate()
    z = np.maximum(np.random.default_rng(0).normal(size=n), -3.0)
    x = 0.2 * z * np.exp(0.2 * z)
    found, at = roads(x), jnp.asarray(x)
    if callable(theirs):
        value, both = jax.jit(theirs), jax.jit(jax.vmap(jax.value_and_grad(theirs)))
        found |= {TFP: lambda: value(at), f"{TFP}, with gradient": lambda: both(at)[0]}
    calls = {OURS if name == "lambertw" else name.replace("lambertw", OURS): call for name, call in found.items()}
    order = sorted(calls, key=lambda name: name != OURS)
    made = {name: Road(lambda _, name=name: np.asarray(jax.block_until_ready(calls[name]()), float)) for name in order}
    largest = lambda a, b: float(np.max(np.abs(a - b) / np.maximum(np.abs(b), 0.01)))
    error = lambda reached: {name: largest(value, reached["SciPy"]) for name, value in reached.items()}
    absent = () if callable(theirs) else (theirs,)
    return Race(f"{n:,} values", made, error, 1e-3, "largest error, as a share of W or of 0.01", (1e-9 * n, "ns a value"), absent)


def density_race(small):
    """The log density of a skewed normal, and its gradient in location, scale and skew, beside SciPy's W in the same formula."""
    jax.config.update("jax_enable_x64", True)
    n = 10_000 if small else 1_000_000
    y = np.asarray(g_e(jax.random.normal(jax.random.key(0), (n,)), 0.2))
    z, at = jnp.asarray(y), jnp.asarray([0.1, 1.1, 0.2])
    cubic = tabulated(lambertw, D, 5.0, 1000, kind="cubic")
    total = lambda t, w=lambertw: log_density(z, t[0], t[1], t[2], w=w).sum()
    value, both = jax.jit(total), jax.jit(jax.value_and_grad(total))
    looked_up = jax.jit(jax.value_and_grad(lambda t: total(t, cubic)))

    def by_scipy(_):
        w = special.lambertw(0.2 * (y - 0.1) / 1.1).real
        return float((-0.5 * (w / 0.2) ** 2 - 0.5 * np.log(2 * np.pi) - np.log(1.1) - w - np.log1p(w)).sum())

    made = {
        OURS: Road(lambda _: float(value(at))),
        "this package, with gradient": Road(lambda _: float(jax.block_until_ready(both(at))[0])),
        "the same, W from a cubic table": Road(lambda _: float(jax.block_until_ready(looked_up(at))[0])),
        "SciPy's W in NumPy": Road(by_scipy),
    }
    each = lambda found: {name: value / n for name, value in apart(found).items()}
    return Race(f"{n:,} rows, double precision", made, each, 1e-3, "nats a row from the middle", (1e-9 * n, "ns a row"))


if __name__ == "__main__":
    from benchmarks import run

    run.main(["--races", "lambert", "lambert density", *sys.argv[1:]])
