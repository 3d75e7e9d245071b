"""A million values of the Lambert W function: this package, SciPy and tables in one run.

    python benchmarks/lambertw.py [--points 1000000] [--repeats 9]

Three kinds of argument: what a skewed normal with a skew of 0.2 asks for, the interval from close to the branch point to 5, and
16 powers of ten. All roads are run once before they are timed, then timed in turn. The ratio is SciPy's time over the road's; the
error is the largest relative one against SciPy in double precision. SciPy has no gradient, so "with gradient" is compared with its
value alone. At the end, what a table saves where it is used: in a log likelihood with its gradient.
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np
from scipy import special

from course_pkg.lambertw import D, g_e, halley, lambertw, log_density, tabulated


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


def likelihoods(n, dtype):
    """Name and call of the log likelihood of a skewed normal with its gradient, W computed and looked up."""
    y = g_e(jax.random.normal(jax.random.key(0), (n,), dtype), 0.2)
    at = jnp.asarray([0.1, 1.1, 0.2], dtype)
    found = {}
    ways = {"lambertw": lambertw} | {f"table, {kind}": tabulated(lambertw, D, 5.0, 1000, kind=kind) for kind in ("linear", "cubic")}
    for name, w in ways.items():
        both = jax.jit(jax.value_and_grad(lambda t, y, w=w: log_density(y, t[0], t[1], t[2], w=w).sum()))
        found[f"{name}, {np.dtype(dtype).name}"] = lambda both=both: both(at, y)
    return found


def measure(calls, repeats):
    """Median seconds of every call, all in turn."""
    seconds = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            start = time.perf_counter()
            jax.block_until_ready(call())
            seconds[name].append(time.perf_counter() - start)
    return {name: np.median(times) for name, times in seconds.items()}


def main():
    """Time every road on every kind of argument and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=9)
    settings = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    rng, n = np.random.default_rng(0), settings.points
    z = np.maximum(rng.normal(size=n), -3.0)
    arguments = {
        "skewed normal, 0.2 z exp(0.2 z)": 0.2 * z * np.exp(0.2 * z),
        "uniform on (-0.36, 5)": rng.uniform(-0.36, 5, n),
        "ten to a power from -8 to 8": 10 ** rng.uniform(-8, 8, n),
    }
    for kind, x in arguments.items():
        calls = roads(x)
        reached = {name: np.asarray(call()) for name, call in calls.items()}
        seconds = measure(calls, settings.repeats)
        print(f"\n{kind}: {n} points, medians of {settings.repeats} interleaved runs\n")
        print(f"{'road':<34}{'ns a point':>12}{'ratio':>8}{'error':>10}")
        for name, time_taken in seconds.items():
            error = np.abs(reached[name] / reached["SciPy"] - 1).max()
            print(f"{name:<34}{1e9 * time_taken / n:>12.1f}{seconds['SciPy'] / time_taken:>8.1f}{error:>10.0e}")
    print("\nlog likelihood of a skewed normal, with its gradient in location, scale and skew\n")
    print(f"{'road':<34}{'ns a point':>12}{'error':>10}")
    for dtype in (jnp.float64, jnp.float32):
        with jax.enable_x64(dtype == jnp.float64):
            calls = likelihoods(n, dtype)
            slopes = [np.asarray(call()[1]) for call in calls.values()]
            for (name, time_taken), slope in zip(measure(calls, settings.repeats).items(), slopes, strict=True):
                error = np.abs(slope / slopes[0] - 1).max()
                print(f"{name:<34}{1e9 * time_taken / n:>12.1f}{error:>10.0e}")


if __name__ == "__main__":
    main()
