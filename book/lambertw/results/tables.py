"""What a table of W saves: W alone, and a log likelihood of a skewed normal with its gradient.

    python book/lambertw/results/tables.py [--points 1000000] [--repeats 25]

Writes ``tables.json``: median nanoseconds for each point, all ways in turn, in double precision. A minute on one core.
"""

import argparse
import json
import shlex
import sys
import time
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from scipy import special

from course_pkg import lambertw as lw


def measure(calls, points, repeats):
    """Median nanoseconds a point of every call; the first round compiles and does not count."""
    seconds = {name: [] for name in calls}
    for _ in range(repeats + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            jax.block_until_ready(call())
            seconds[name].append(time.perf_counter() - start)
    return {name: round(1e9 * float(np.median(times[1:])) / points, 2) for name, times in seconds.items()}


def main():
    """Time every way and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=25)
    settings = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    y = lw.g_e(jax.random.normal(jax.random.key(0), (settings.points,)), 0.2)
    argument = jnp.maximum(0.2 * y, lw.D)
    on_the_host = np.asarray(argument)
    ways = {"lambertw": lw.lambertw} | {kind: lw.tabulated(lw.lambertw, lw.D, 5.0, 1000, kind=kind) for kind in ("linear", "cubic")}

    def likelihood(w):
        return jax.jit(jax.value_and_grad(lambda t: lw.log_density(y, t[0], t[1], t[2], w=w).sum()))

    at = jnp.array([0.1, 1.1, 0.2])
    alone = {"scipy": lambda: special.lambertw(on_the_host).real}
    alone |= {name: partial(jax.jit(w), argument) for name, w in ways.items()}
    used = {name: partial(likelihood(w), at) for name, w in ways.items()}
    found = {
        "made_by": shlex.join(["python", "book/lambertw/results/tables.py", *sys.argv[1:]]),
        "points": settings.points,
        "nanoseconds_a_point": {
            "alone": measure(alone, settings.points, settings.repeats),
            "likelihood": measure(used, settings.points, settings.repeats),
        },
    }
    Path(__file__).with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n", "utf8")


if __name__ == "__main__":
    main()
