"""NUTS on one program of PyMC, by back end, and this package's HMC on the same program.

Each call is what a user calls, with its compilation wherever the library repeats it, its warm-up and its four chains; so what counts are
seconds for a thousand effective draws of the worst coordinate.
"""

import logging
import warnings

import jax
import numpy as np
import pymc as pm

from benchmarks.aims import OURS
from benchmarks.mcmc import far, least_ess
from benchmarks.race import Race, Road, missing
from course_pkg.data import schools
from course_pkg.mcmc import hmc, run_chains, tune_hmc
from course_pkg.models import from_pymc, log_joint

CHAINS, STEPS, JITTER = 4, 8, 0.5
BACK_ENDS = {"pymc": "pymc", "nutpie": "nutpie", "numpyro": "numpyro", "blackjax": "blackjax"}  # name -> package
NAMES = ("log_tau", "mu", "eps")  # in the order of the program


def program():
    """Eight schools, with the logarithm of the scale, so that every road has the same coordinates."""
    y, sigma = (np.asarray(part, float) for part in schools())
    with pm.Model() as made:
        tau = pm.HalfCauchy("tau", 5)
        pm.Deterministic("log_tau", pm.math.log(tau))
        pm.Normal("y", pm.Normal("mu", 0, 5) + tau * pm.Normal("eps", 0, 1, shape=len(y)), sigma, observed=y)
    return made


def stacked(posterior):
    """Draws of all coordinates, shape ``(chain, draw, d)``."""
    parts = [np.asarray(posterior[name]) for name in NAMES]
    return np.concatenate([part.reshape(*part.shape[:2], -1) for part in parts], axis=-1)


def nuts_race(small):
    """The means are compared with those of PyMC's own, in standard errors."""
    draws = 500 if small else 2000
    made = program()
    logging.getLogger("pymc").setLevel(logging.ERROR)

    def back_end(sampler):
        def call(seed):
            options = {"chains": CHAINS, "draws": draws, "tune": 1000, "random_seed": seed, "progressbar": False, "cores": 2}
            if sampler in ("numpyro", "blackjax"):
                options["nuts_sampler_kwargs"] = {"chain_method": "vectorized"}
            with made, warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a few divergences
                found = pm.sample(**options, nuts_sampler=sampler, target_accept=0.9, compute_convergence_checks=False)
            return stacked(found["posterior"])

        return Road(call)

    model, data = from_pymc(made)
    log_density = lambda theta: log_joint(model, theta, data)

    def ours(seed):
        keys = jax.random.split(jax.random.key(seed), 3)
        tuned = tune_hmc(keys[0], log_density, jax.random.normal(keys[1], (CHAINS, model.dim)), STEPS, target=0.9, jitter=JITTER)
        kernel = hmc(log_density, tuned.step_size, STEPS, inverse_mass=tuned.inverse_mass, jitter=JITTER)
        return run_chains(keys[2], kernel, tuned.positions, draws, progress=False)["posterior"]["theta"].values

    gone = {name: missing(package) for name, package in BACK_ENDS.items()}
    roads = {f"{OURS}, HMC of {STEPS} steps": Road(ours)} | {f"PyMC, {name}": back_end(name) for name in BACK_ENDS if not gone[name]}
    size = f"eight schools, {CHAINS} chains of {draws:,} draws after a warm-up of 1,000; PyMC's back ends compile in each call"
    per = lambda draws: least_ess(draws) / 1000
    absent, measure = tuple(filter(None, gone.values())), "standard errors between means, at the worst"
    return Race(size, roads, far("PyMC, pymc"), 5.0, measure, (1.0, "s for 1,000 effective"), absent, per)
