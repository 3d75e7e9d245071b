"""Random-walk Metropolis and HMC with four chains: this package and blackjax.

Eight schools (non-centred, 10 coordinates) and the breast tumours (logistic regression on 569 rows, 31 coordinates). Both take the same
log density, starts, scales, masses, step size and path length, which one warm-up has found. Each kernel runs in one compiled scan over
steps of all chains, which keeps the positions and acceptances; ``run_chains`` is timed as its users call it, with the keys of each step,
the copy to the host and the DataTree.
"""

import arviz as az
import blackjax
import jax
import jax.numpy as jnp
import numpy as np
from blackjax.mcmc.random_walk import normal as normal_steps

from benchmarks.aims import OURS
from benchmarks.race import Race, Road
from course_pkg import models
from course_pkg.data import breast_cancer, schools, standardised
from course_pkg.mcmc import Tuned, hmc, random_walk, run_chains, tune_hmc

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
        name: {OURS: call(ours), "this package, run_chains": whole(ours), "blackjax": call(theirs)}
        for name, (ours, theirs) in pairs.items()
    }


def least_ess(positions):
    """Effective sample size of the worst coordinate."""
    return min(float(az.ess(positions[..., k].astype(float), method="mean")) for k in range(positions.shape[-1]))


def kernel_race(small, target, kernel):
    """Four chains of one kernel on one target; the means are compared, in standard errors, where they lie furthest apart."""
    draws, count = (1000 if small else 20_000 if target == "eight schools" else 5000), 4
    log_density, dim = targets()[target]
    starts = 0.1 * jax.random.normal(jax.random.key(0), (count, dim))
    tuned = tune_hmc(jax.random.key(1), log_density, starts, STEPS)
    calls = next(found for name, found in roads(log_density, tuned, draws).items() if name.startswith(kernel))

    def road(call, number):
        return Road(lambda seed: call(jax.random.fold_in(jax.random.key(seed), number)))

    made = {name: road(call, number) for number, (name, call) in enumerate(calls.items())}
    size = f"{count} chains of {draws:,} draws, {dim} coordinates"
    return Race(size, made, far("blackjax"), 5.0, "standard errors between means, at the worst", (1e-6 * draws, "µs a step"))


def far(reference):
    """Of draws by name: how many standard errors a mean lies from the reference's, for the coordinate where these are most."""

    def error(reached):
        moments = {}
        for name, x in reached.items():
            x = np.asarray(x, float)
            sizes = np.array([az.ess(x[..., k], method="mean") for k in range(x.shape[-1])])
            flat = x.reshape(-1, x.shape[-1])
            moments[name] = flat.mean(axis=0), flat.var(axis=0) / sizes
        mean, square = moments[reference]
        worst = lambda m, s: float((np.abs(m - mean) / np.sqrt(s + square)).max())
        return {name: None if name == reference else worst(*of) for name, of in moments.items()}

    return error
