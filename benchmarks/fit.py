"""Variational inference on eight schools and on many rows: this package beside NumPyro and PyMC.

The same model, family, number of draws, optimiser, rate and steps for all. ``SVI.run`` is timed as its users call it, which includes the
compilation that it repeats on every call. The progress bar's price is this package's own time with the bar over its time without. PyMC
computes in double precision, the others in single.
"""

import functools
import logging

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import optax
from numpyro.infer import SVI, Trace_ELBO, TraceMeanField_ELBO
from numpyro.infer.autoguide import AutoMultivariateNormal, AutoNormal
from scipy import special

from benchmarks.aims import ADVI, NUMPYRO, OURS
from benchmarks.race import Race, Road, apart, missing
from course_pkg import families, gradients, models
from course_pkg.data import schools
from course_pkg.fit import Settings, fit

FAMILIES = {
    "mean-field": (families.mean_field_normal, AutoNormal, TraceMeanField_ELBO),
    "full-rank": (families.full_rank_normal, AutoMultivariateNormal, Trace_ELBO),
}


def last(objective):
    """The mean of the last quarter."""
    return np.asarray(objective)[-len(objective) // 4 :].mean()


def ours(model, data, plan, scale, *, progress=False):
    """The mean objective of the last quarter, of a seed."""
    family, steps, samples, rate = plan
    made = FAMILIES[family][0]()
    entropy = "closed form" if family == "mean-field" else "monte carlo"
    estimator, adam = gradients.reparameterized(model, made, samples, entropy=entropy), optax.adam(rate)
    start, settings = made.init(model.dim, scale=scale), Settings(progress=progress)
    return lambda seed: last(fit(jax.random.key(seed), estimator, adam, start, data, steps, settings).objective)


def numpyro_roads(program, data, plan):
    """NumPyro's update in a scan that is compiled once, and ``SVI.run`` as users call it."""
    family, steps, samples, rate = plan
    _, guide, elbo = FAMILIES[family]
    made = lambda: SVI(program, guide(program), optax.adam(rate), elbo(num_particles=samples))
    svi = made()

    @jax.jit
    def run(state, *data):
        return jax.lax.scan(lambda s, _: svi.update(s, *data), state, None, length=steps)[1]

    def again(seed):
        return -last(made().run(jax.random.key(seed), steps, *data, progress_bar=False).losses)

    scan = lambda seed: -last(np.asarray(run(svi.init(jax.random.key(seed), *data), *data)))
    return {NUMPYRO: Road(scan), "NumPyro, SVI.run": Road(again)}


def pymc_road(make, plan, share, longer):
    """PyMC's ADVI with as many Monte Carlo draws, its steps alone; a timed call makes a share of them, from where the last one ended.

    It starts wider than the others, so that its accuracy may take ``longer`` times their steps.
    """
    import pymc as pm

    family, steps, samples, rate = plan
    logging.getLogger("pymc").setLevel(logging.ERROR)

    @functools.cache
    def compiled():
        method = pm.ADVI if family == "mean-field" else pm.FullRankADVI
        with make():
            return method().objective.step_function(obj_n_mc=samples, obj_optimizer=pm.adam(learning_rate=rate), score=True)

    climb = lambda count: -last(np.array([compiled()() for _ in range(count)]))
    few = max(round(share * steps), 1)
    return Road(lambda _: climb(few), few / steps, lambda _: climb(longer * steps))


def schools_race(small, family):
    """The evidence lower bound of eight schools."""
    data, model = schools(), models.eight_schools(centred=False)
    plan = (family, 4000 if small else 20_000, 11, 0.01)

    def program(y, sigma):
        mu = numpyro.sample("mu", dist.Normal(0, 5))
        tau = numpyro.sample("tau", dist.HalfCauchy(5))
        with numpyro.plate("schools", len(y)):
            eps = numpyro.sample("eps", dist.Normal(0, 1))
            numpyro.sample("y", dist.Normal(mu + tau * eps, sigma), obs=y)

    def in_pymc():
        import pymc as pm

        y, sigma = (np.asarray(part, dtype=float) for part in data)
        with pm.Model() as made:
            mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
            pm.Normal("y", mu + tau * pm.Normal("eps", 0, 1, shape=len(y)), sigma, observed=y)
        return made

    roads = {OURS: Road(ours(model, data, plan, 1.0)), "this package, with its bar": Road(ours(model, data, plan, 1.0, progress=True))}
    return against(roads, numpyro_roads(program, data, plan), in_pymc, plan, (0.1, 0.3, "eight schools", 1))


def logistic_race(small, family):
    """A logistic regression of many rows, all of them at each step."""
    rows, dim = (1000 if small else 10_000), 10
    plan = (family, 1000 if small else 2000, 5, 0.01)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, dim)).astype(np.float32)
    y = (rng.uniform(size=rows) < special.expit(x @ rng.normal(size=dim))).astype(np.float32)
    data = models.Rows(jnp.asarray(x), jnp.asarray(y))

    def program(x, y):
        theta = numpyro.sample("theta", dist.Normal(0, 1).expand([dim]).to_event(1))
        with numpyro.plate("rows", rows):
            numpyro.sample("y", dist.Bernoulli(logits=x @ theta), obs=y)

    def in_pymc():
        import pymc as pm

        with pm.Model() as made:
            pm.Bernoulli("y", logit_p=x @ pm.Normal("theta", 0, 1, shape=dim), observed=y)
        return made

    roads = {OURS: Road(ours(models.logistic_regression(dim, 1.0), data, plan, 0.1))}
    return against(roads, numpyro_roads(program, data, plan), in_pymc, plan, (0.02, 1.0, f"{rows:,} rows, {dim} coefficients", 3))


def against(roads, theirs, in_pymc, plan, about):
    """The race of these roads."""
    share, bound, words, longer = about
    family, steps, samples, _ = plan
    gone = missing("pymc")
    theirs = (
        theirs if gone else theirs | {ADVI if family == "mean-field" else "PyMC, FullRankADVI": pymc_road(in_pymc, plan, share, longer)}
    )
    size = f"{words}; {steps:,} steps of Adam with {samples} draws each"
    unit = (1e-6 * steps, "µs a step")
    return Race(size, roads | theirs, apart, bound, "nats from the middle ELBO", unit, (gone,) if gone else ())
