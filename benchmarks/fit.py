"""Mean-field variational inference on eight schools: this package and its peers in one run.

    python benchmarks/fit.py [--steps 20000] [--samples 11] [--repeats 5]

The same model (non-centred), family, number of draws, optimiser, rate and steps for all. Compile time is kept apart: each road is run once
before it is timed, then all are timed in turn. ``SVI.run`` is timed as its users call it, which includes the compilation that it repeats on
every call. The progress bar's price is this package's own time with the bar (50 blocks) over its time without.
"""

import argparse
import logging
import os
import time

import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
import optax
from numpyro.infer import SVI, Trace_ELBO, TraceMeanField_ELBO
from numpyro.infer.autoguide import AutoNormal

from course_pkg import families, gradients, models
from course_pkg.data import schools
from course_pkg.fit import Settings, fit

RATE = 0.01


def ours(data, steps, samples, *, entropy, progress=False):
    """Seconds of one call are what this function takes; returns the mean objective of the last quarter."""
    model, family = models.eight_schools(centred=False), families.mean_field_normal()
    estimator = gradients.reparameterized(model, family, samples, entropy=entropy)
    optimizer, start = optax.adam(RATE), family.init(model.dim, scale=1.0)

    def call(seed):
        run = fit(jax.random.key(seed), estimator, optimizer, start, data, steps, Settings(progress=progress))
        return run.objective[-steps // 4 :].mean()

    return call


def program(y, sigma):
    """Eight schools in NumPyro's words."""
    mu = numpyro.sample("mu", dist.Normal(0, 5))
    tau = numpyro.sample("tau", dist.HalfCauchy(5))
    with numpyro.plate("schools", len(y)):
        eps = numpyro.sample("eps", dist.Normal(0, 1))
        numpyro.sample("y", dist.Normal(mu + tau * eps, sigma), obs=y)


def numpyro_scan(data, steps, elbo):
    """NumPyro's update in a scan that is compiled once."""
    svi = SVI(program, AutoNormal(program), optax.adam(RATE), elbo)

    @jax.jit
    def run(state, y, sigma):
        return jax.lax.scan(lambda s, _: svi.update(s, y, sigma), state, None, length=steps)

    def call(seed):
        state = svi.init(jax.random.key(seed), *data)
        losses = jax.block_until_ready(run(state, *data))[1]
        return -np.asarray(losses)[-steps // 4 :].mean()

    return call


def numpyro_run(data, steps, elbo):
    """``SVI.run``, as users call it."""

    def call(seed):
        svi = SVI(program, AutoNormal(program), optax.adam(RATE), elbo)
        result = svi.run(jax.random.key(seed), steps, *data, progress_bar=False)
        return -np.asarray(result.losses)[-steps // 4 :].mean()

    return call


def pymc_advi(data, steps, samples):
    """PyMC's ADVI with as many Monte Carlo draws, its steps alone."""
    import pymc as pm

    logging.getLogger("pymc").setLevel(logging.ERROR)
    y, sigma = (np.asarray(part, dtype=float) for part in data)
    with pm.Model():
        mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
        eps = pm.Normal("eps", 0, 1, shape=len(y))
        pm.Normal("y", mu + tau * eps, sigma, observed=y)
        step = pm.ADVI().objective.step_function(obj_n_mc=samples, obj_optimizer=pm.adam(learning_rate=RATE), score=True)

    def call(seed):
        del seed
        return -np.mean([step() for _ in range(steps)][-steps // 4 :])

    return call


def main():
    """Time every road and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--samples", type=int, default=11)
    parser.add_argument("--repeats", type=int, default=5)
    settings = parser.parse_args()
    os.environ.setdefault("TQDM_MININTERVAL", "0.1")
    data = schools()
    steps, samples = settings.steps, settings.samples
    mean_field, plain = TraceMeanField_ELBO(num_particles=samples), Trace_ELBO(num_particles=samples)
    roads = {
        "course_pkg.fit, closed-form entropy": (ours(data, steps, samples, entropy="closed form"), steps),
        "course_pkg.fit, Monte Carlo entropy": (ours(data, steps, samples, entropy="monte carlo"), steps),
        "course_pkg.fit with its bar": (ours(data, steps, samples, entropy="closed form", progress=True), steps),
        "NumPyro update in a scan, mean-field ELBO": (numpyro_scan(data, steps, mean_field), steps),
        "NumPyro update in a scan, ELBO": (numpyro_scan(data, steps, plain), steps),
        "NumPyro SVI.run": (numpyro_run(data, steps, mean_field), steps),
        "PyMC ADVI": (pymc_advi(data, steps // 10, samples), steps // 10),
    }
    reached = {name: [call(0)] for name, (call, _) in roads.items()}
    seconds: dict[str, list[float]] = {name: [] for name in roads}
    for seed in range(1, settings.repeats + 1):
        for name, (call, count) in roads.items():
            start = time.perf_counter()
            reached[name].append(call(seed))
            seconds[name].append((time.perf_counter() - start) / count)
    first = np.median(seconds["course_pkg.fit, closed-form entropy"])
    print(f"\n{steps} steps of {samples} draws, medians of {settings.repeats} interleaved runs (PyMC: a tenth of the steps)\n")
    print(f"{'road':<44}{'µs a step':>10}{'ratio':>8}{'ELBO':>9}")
    for name, times in seconds.items():
        median = np.median(times)
        print(f"{name:<44}{1e6 * median:>10.1f}{median / first:>8.1f}{np.mean(reached[name]):>9.2f}")


if __name__ == "__main__":
    main()
