"""Random-walk Metropolis and HMC with four chains: this package and blackjax in one run.

    python benchmarks/mcmc.py [--draws 20000] [--repeats 9] [--chains 4]

Eight schools (non-centred, 10 coordinates) and the breast tumours (logistic regression on 569 rows, 31 coordinates). Both take the same
log density, starts, scales, masses, step size and path length, which one warm-up has found. Each kernel runs in one compiled scan over
steps of all chains, which keeps the positions and acceptances; ``run_chains`` is timed as its users call it, with the keys of each step,
the copy to the host and the DataTree. Every road is run once before it is timed, then all are timed in turn; ratios are medians over the
turns. The effective sample size is that of the worst coordinate, by ArviZ, with a standard error over the turns.

blackjax is needed: ``pip install blackjax``.
"""

import argparse
import sys
import time

import arviz as az
import jax
import jax.numpy as jnp
import numpy as np

from course_pkg import models
from course_pkg.data import breast_cancer, schools, standardised
from course_pkg.mcmc import Tuned, hmc, random_walk, run_chains, tune_hmc

try:
    import blackjax
    from blackjax.mcmc.random_walk import normal as normal_steps
except ImportError:
    sys.exit("blackjax is not installed, and this benchmark compares with it: pip install blackjax")

STEPS = 8  # leapfrog steps of a path


def targets():
    """Name -> log density and dimension."""
    table = breast_cancer()
    x = jnp.asarray(np.column_stack([np.ones(len(table.y)), standardised(table.x)[0]]), float)
    tumours = models.Rows(x, jnp.asarray(table.y, float))
    found = {}
    for name, model, data in (
        ("eight schools", models.eight_schools(centred=False), schools()),
        ("breast tumours", models.logistic_regression(x.shape[1], 1.0), tumours),
    ):
        found[name] = (lambda theta, model=model, data=data: models.log_joint(model, theta, data)), model.dim
    return found


def scanned(step, draws):
    """All chains' steps in one compiled scan; positions and acceptances, with axes (draw, chain)."""

    @jax.jit
    def run(key, states):
        chains = jax.tree.leaves(states)[0].shape[0]

        def one(states, key):
            states, info = jax.vmap(step)(jax.random.split(key, chains), states)
            return states, (states.position, info.acceptance_rate)

        return jax.lax.scan(one, states, jax.random.split(key, draws))[1]

    return run


def roads(log_density, tuned: Tuned, draws):
    """Kernel -> road -> call of a key that returns positions ``(chain, draw, d)``."""
    scale = 2.4 / np.sqrt(tuned.inverse_mass.shape[0]) * jnp.sqrt(tuned.inverse_mass)
    pairs = {
        "random walk": (random_walk(log_density, scale), blackjax.additive_step_random_walk(log_density, normal_steps(scale))),
        f"HMC, {STEPS} steps": (
            hmc(log_density, tuned.step_size, STEPS, inverse_mass=tuned.inverse_mass),
            blackjax.hmc(log_density, tuned.step_size, tuned.inverse_mass, STEPS),
        ),
    }

    def call(kernel):
        run, states = scanned(kernel.step, draws), jax.vmap(kernel.init)(tuned.positions)
        return lambda key: np.swapaxes(np.asarray(run(key, states)[0]), 0, 1)

    def whole(kernel):
        return lambda key: run_chains(key, kernel, tuned.positions, draws, progress=False)["posterior"]["theta"].values

    return {
        name: {"course_pkg": call(ours), "course_pkg, run_chains": whole(ours), "blackjax": call(theirs)}
        for name, (ours, theirs) in pairs.items()
    }


def least_ess(positions):
    """Effective sample size of the worst coordinate."""
    return min(float(az.ess(positions[..., k].astype(float), method="mean")) for k in range(positions.shape[-1]))


def measure(calls, repeats):
    """Seconds and effective sample sizes of every road, by turns."""
    seconds: dict[str, list[float]] = {road: [] for road in calls}
    sizes: dict[str, list[float]] = {road: [] for road in calls}
    for turn in range(repeats + 1):
        for number, (road, call) in enumerate(calls.items()):
            start = time.perf_counter()
            positions = call(jax.random.fold_in(jax.random.key(turn), number))
            took = time.perf_counter() - start
            if turn:
                seconds[road].append(took)
                sizes[road].append(least_ess(positions))
    return {road: np.array(s) for road, s in seconds.items()}, {road: np.array(s) for road, s in sizes.items()}


def main():
    """Time every road and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--chains", type=int, default=4)
    settings = parser.parse_args()
    draws, chains = settings.draws, settings.chains
    print(f"{chains} chains of {draws} draws, medians of {settings.repeats} interleaved runs\n")
    print(f"{'target':<16}{'kernel':<16}{'road':<24}{'µs a step':>10}{'time ratio':>12}{'ESS a step':>12}{'ESS ratio':>16}")
    for target, (log_density, dim) in targets().items():
        starts = 0.1 * jax.random.normal(jax.random.key(0), (chains, dim))
        tuned = tune_hmc(jax.random.key(1), log_density, starts, STEPS)
        for kernel, calls in roads(log_density, tuned, draws).items():
            seconds, sizes = measure(calls, settings.repeats)
            for road in calls:
                ratios = sizes[road] / sizes["blackjax"].mean()
                error = ratios.std(ddof=1) / np.sqrt(len(ratios))
                print(
                    f"{target:<16}{kernel:<16}{road:<24}{1e6 * np.median(seconds[road]) / draws:>10.2f}"
                    f"{np.median(seconds[road] / seconds['blackjax']):>12.2f}{sizes[road].mean() / draws / chains:>12.4f}"
                    f"{ratios.mean():>9.2f} ± {error:.2f}"
                )


if __name__ == "__main__":
    main()
