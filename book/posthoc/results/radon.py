"""The radon houses from three engines, corrected with the same call; and the post-hoc paper's own settings on PyMC's ADVI.

    python book/posthoc/results/radon.py [--seeds 10]

Writes ``radon.json``. Each engine fits the 460 houses of the training half and predicts all 919, once for each seed. Five refits make the
bootstrap prior of the published run. About a minute a seed on two cores. Seeds that are already stored are not run again.
"""

import argparse
import functools
import json
import logging
import warnings

import arviz as az
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import nutpie
import pymc as pm
from numpyro.infer import SVI, Predictive, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal
from stored import HERE, store

from course_pkg.data import radon
from course_pkg.decisions import tilted
from course_pkg.posthoc import CorrectionWarning, Options, Refits, Training, bootstrap_prior, correct

DRAWS = 1000


@functools.cache
def everything():
    """All houses, and which of them are for training."""
    found = radon()
    return found.houses, np.asarray(found.is_train)


def pymc_model(group, x, y):
    """The paper's model on some houses; its predictive is asked for at all 919."""
    there = everything()[0]
    with pm.Model() as model:
        mu_a, b = pm.Normal("mu_a", 0, 1), pm.Normal("b", 0, 1, shape=2)
        sigma_a, sigma_y = pm.Uniform("sigma_a", 0, 100), pm.Uniform("sigma_y", 0, 100)
        a = pm.Normal("a", mu_a, sigma_a, shape=85)
        pm.Normal("seen", a[group] + x @ b, sigma_y, observed=y)
        pm.Normal("y", a[np.asarray(there.group)] + np.asarray(there.x) @ b, sigma_y, shape=len(there.y))
    return model


def houses():
    """The training half."""
    there, train = everything()
    return tuple(np.asarray(part)[train] for part in there)


def predict(model, posterior, seed):
    # y is neither observed nor part of the posterior: it is drawn forward from the parameters
    posterior = posterior.posterior.to_dataset().drop_vars("y", errors="ignore")
    with model:
        return pm.sample_posterior_predictive(posterior, var_names=["y"], random_seed=seed, progressbar=False)


def advi(seed, data=None, steps=10_000):
    group, x, y = houses() if data is None else data
    full = pymc_model(group, x, y)
    with pm.Model():
        mu_a, b = pm.Normal("mu_a", 0, 1), pm.Normal("b", 0, 1, shape=2)
        sigma_a, sigma_y = pm.Uniform("sigma_a", 0, 100), pm.Uniform("sigma_y", 0, 100)
        a = pm.Normal("a", mu_a, sigma_a, shape=85)
        pm.Normal("seen", a[group] + x @ b, sigma_y, observed=y)
        approximation = pm.fit(steps, method="advi", random_seed=seed, progressbar=False, obj_optimizer=pm.adam(learning_rate=0.02))
        posterior = approximation.sample(DRAWS, random_seed=seed)
    return predict(full, posterior, seed)


@functools.cache
def nuts_program():
    group, x, y = houses()
    with pm.Model() as model:
        mu_a, b = pm.Normal("mu_a", 0, 1), pm.Normal("b", 0, 1, shape=2)
        sigma_a, sigma_y = pm.Uniform("sigma_a", 0, 100), pm.Uniform("sigma_y", 0, 100)
        e = pm.Normal("e", 0, 1, shape=85)
        a = pm.Deterministic("a", mu_a + sigma_a * e)
        pm.Normal("seen", a[group] + x @ b, sigma_y, observed=y)
    return nutpie.compile_pymc_model(model)


def nuts(seed):
    posterior = nutpie.sample(nuts_program(), draws=DRAWS // 4, tune=500, chains=4, cores=1, seed=seed, progress_bar=False)
    return predict(pymc_model(*houses()), posterior, seed)


def numpyro_model(group, x, y=None):
    mu_a, b = numpyro.sample("mu_a", dist.Normal(0, 1)), numpyro.sample("b", dist.Normal(0, 1).expand([2]))
    sigma_a, sigma_y = numpyro.sample("sigma_a", dist.Uniform(0, 100)), numpyro.sample("sigma_y", dist.Uniform(0, 100))
    a = numpyro.sample("a", dist.Normal(mu_a, sigma_a).expand([85]))
    numpyro.sample("y", dist.Normal(a[group] + x @ b, sigma_y), obs=y)


def guide(seed, data=None, steps=10_000):
    group, x, y = houses() if data is None else data
    auto = AutoNormal(numpyro_model)
    svi = SVI(numpyro_model, auto, numpyro.optim.Adam(0.02), Trace_ELBO(5))
    run = svi.run(jax.random.key(seed), steps, jnp.asarray(group), jnp.asarray(x), jnp.asarray(y), progress_bar=False)
    draw = Predictive(numpyro_model, guide=auto, params=run.params, num_samples=DRAWS)
    there = everything()[0]
    y = draw(jax.random.key(seed + 1), jnp.asarray(there.group), jnp.asarray(there.x))["y"]
    return az.from_dict({"posterior_predictive": {"y": np.asarray(y)[None]}})


def refit(key, data):
    """The medians of ADVI's predictive at all houses, from resampled ones."""
    draws = advi(int(jax.random.bits(key)) % 2**31, data).posterior_predictive["y"].values
    return np.median(draws, axis=(0, 1))


def told(result):
    report = result.report
    return {
        "train_risk": report.train,
        "held_out_risk": report.held_out,
        "saved_against_q_optimal": list(report.against_q_optimal),
        "saved_against_single_quantile": list(report.against_single_quantile),
        "fidelity": report.fidelity._asdict(),
        "nu": result.fit.nu,
    }


def published(y):
    """The paper's settings: 21 quantiles from the smallest draw to the largest, the bootstrap prior, 20,000 steps on all houses."""
    prior = bootstrap_prior(refit, houses(), 5, key=jax.random.key(5), refits=Refits(".cache/posthoc-radon"))  # taken up if interrupted
    return correct(
        advi(5),
        y,
        tilted(0.5),
        train=everything()[1],
        nu=1.0,
        training=Training(held_out=0.0, restarts=1, steps=20_000, decay=False),
        options=Options(
            quantiles=lambda draws: np.moveaxis(np.quantile(draws, np.arange(21) / 20, axis=-1), 0, -1),
            prior=prior._replace(replicates=None),
        ),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    count = parser.parse_args().seeds
    warnings.simplefilter("ignore", CorrectionWarning)  # the intervals are kept with the results
    logging.getLogger("pymc").setLevel(logging.ERROR)
    (there, train), kept = everything(), HERE / "radon.json"
    y = np.asarray(there.y)
    found: dict = json.loads(kept.read_text()) if kept.exists() else {}
    done, found = found.get("seeds", 0), found.get("results", {})
    if not done:
        found = {"published settings (PyMC, ADVI)": told(published(y))}
    for seed in range(done, count):
        for name, engine in {"PyMC, NUTS": nuts, "PyMC, ADVI": advi, "NumPyro, AutoNormal": guide}.items():
            tree = engine(seed)
            for q in (0.5, 0.9):
                result = correct(tree, y, tilted(q), train=train, key=jax.random.key(seed))
                found.setdefault(f"{name}, tilted {q}", []).append(told(result))
                print(seed, name, q, result.report, sep="\n", flush=True)
        store(__file__, "radon", seeds=seed + 1, results=found)


if __name__ == "__main__":
    main()
