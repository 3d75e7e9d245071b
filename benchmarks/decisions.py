"""A million Bayes decisions: this package and its peers in one run.

    python benchmarks/decisions.py [--rows 1000000] [--draws 50] [--repeats 5]

Each road is warmed up once and then timed in turn with the others; the table gives medians, the ratio to the closed form
of the tilted loss, and the largest excess risk over the best of all roads. Memory is the peak of the whole process.
"""

import argparse
import resource
import time

import jax
import jax.numpy as jnp
import numpy as np

from course_pkg.decisions import Loss, bayes_decision, linex, risk, tilted


def roads(draws):
    """Name, loss and a function that decides for every row."""
    tilt, tilt_x = tilted(0.23), linex(1.0)
    bump = Loss("bump", lambda y, h: 1 - jnp.exp(-((h - y) ** 2)))
    power = Loss("power", lambda y, h: jnp.abs(h - y) ** 1.5, convex=True)
    as_numpy = np.asarray(draws)
    return [
        ("tilted, closed form", tilt, lambda: bayes_decision(tilt, draws)),
        ("tilted, bisection", tilt, lambda: bayes_decision(tilt, draws, method="numerical")),
        ("tilted, numpy.quantile", tilt, lambda: np.quantile(as_numpy, 0.23, axis=-1, method="inverted_cdf")),
        ("tilted, jnp.sort", tilt, jax.jit(lambda: jnp.sort(draws, axis=-1)[:, int(np.ceil(0.23 * draws.shape[1])) - 1])),
        ("LinEx, closed form", tilt_x, lambda: bayes_decision(tilt_x, draws)),
        ("LinEx, bisection", tilt_x, lambda: bayes_decision(tilt_x, draws, method="numerical")),
        ("|h - y|^1.5, bisection", power, lambda: bayes_decision(power, draws)),
        ("1 - exp(-(h-y)^2), look and bisection", bump, lambda: bayes_decision(bump, draws)),
    ]


def main():
    """Time every road and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=5)
    settings = parser.parse_args()
    draws = jax.random.normal(jax.random.key(0), (settings.rows, settings.draws))
    candidates = roads(draws)
    found = [jax.block_until_ready(decide()) for _, _, decide in candidates]
    seconds = np.zeros((settings.repeats, len(candidates)))
    for turn in range(settings.repeats):
        for k, (_, _, decide) in enumerate(candidates):
            start = time.perf_counter()
            jax.block_until_ready(decide())
            seconds[turn, k] = time.perf_counter() - start
    median = np.median(seconds, axis=0)
    risks = [risk(loss, draws, jnp.asarray(h)) for (_, loss, _), h in zip(candidates, found, strict=True)]
    print(f"{settings.rows} rows of {settings.draws} draws, medians of {settings.repeats} interleaved runs\n")
    print(f"{'road':<40}{'seconds':>9}{'ratio':>8}{'excess risk':>14}")
    for k, (name, loss, _) in enumerate(candidates):
        best = jnp.min(jnp.stack([r for r, (_, other, _) in zip(risks, candidates, strict=True) if other.name == loss.name]), axis=0)
        print(f"{name:<40}{median[k]:>9.3f}{median[k] / median[0]:>8.1f}{float((risks[k] - best).max()):>14.1e}")
    print(f"\npeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB")


if __name__ == "__main__":
    main()
