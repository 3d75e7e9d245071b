"""Few rows and a dear shortage: decisions of seven ways to fit, on random samples of two columns; and NUTS in PyMC on one of them.

    python book/lambertw/results/cohorts.py [--cohorts 100]

The columns are the area of the largest nuclei of 569 tumours and the progression score of 442 patients. A way sees a sample without
replacement and decides for the tilts 0.95 and 0.99; its risk is the mean loss over all rows of the column. Bayes takes a grid of location,
log scale and skew, flat in all three, with the skew between plus and minus a half, and decides by the predictive quantile. The result is
cohorts.json beside this file; five to eight minutes on one core.
"""

import argparse
import json
import shlex
import sys
import time
import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pymc as pm
from scipy import stats

from course_pkg import data
from course_pkg import lambertw as lw
from course_pkg.convergence import ConvergenceWarning
from course_pkg.lambertw import pymc_dist

SIZES, TILTS = (20, 40, 80), (0.95, 0.99)


def columns():
    """The two columns, each in units of its standard deviation."""
    patients, tumours = data.diabetes(), data.breast_cancer()
    area = np.asarray(tumours.x, float)[:, tumours.names.index("worst area")]
    score = np.asarray(patients.y, float)
    return {"worst area": area / area.std(), "progression": score / score.std()}


@jax.jit
def bayes(y, tilts):
    """Quantiles of the predictive distribution of one more value."""
    centre, spread = y.mean(), y.std()
    mu, log_s, gamma = jnp.linspace(-1.5, 1.2, 31), jnp.linspace(-1.4, 0.7, 31), jnp.linspace(-0.5, 0.5, 31)
    theta = jnp.stack(jnp.meshgrid(mu, log_s, gamma, indexing="ij"), -1).reshape(-1, 3)
    x = (y - centre) / spread
    log_p = jax.vmap(lambda t: lw.log_density(x, t[0], jnp.exp(t[1]), t[2]).sum())(theta)
    weight = jax.nn.softmax(log_p)

    def below(h):
        z = jax.vmap(lambda t: lw.g_e_inverse((h - t[0]) / jnp.exp(t[1]), t[2]))(theta)
        return weight @ jax.scipy.stats.norm.cdf(z)

    def quantile(tilt):
        def halve(_, ends):
            middle = ends.mean()
            return jnp.where(below(middle) < tilt, jnp.stack([middle, ends[1]]), jnp.stack([ends[0], middle]))

        return centre + spread * jax.lax.fori_loop(0, 40, halve, jnp.array([-3.0, 40.0])).mean()

    return jax.lax.map(quantile, tilts)


def lambert(fit):
    """Decisions from a fit: skewed quantiles of the normal."""

    def decide(y, tilt):
        f = fit(y)
        return f.mu + f.sigma * float(lw.g_e(stats.norm.ppf(tilt), f.gamma))

    return decide


def skew_normal(y, tilt):
    """The better of two climbs, from either side of no skew."""
    ends = [stats.skewnorm.fit(y, a, loc=y.mean(), scale=y.std()) for a in (-2.0, 2.0)]
    return stats.skewnorm.ppf(tilt, *max(ends, key=lambda end: stats.skewnorm.logpdf(y, *end).sum()))


WAYS = {
    "normal": lambda y, tilt: y.mean() + y.std() * stats.norm.ppf(tilt),
    "sample quantile": np.quantile,
    "lognormal": lambda y, tilt: np.exp(np.log(y).mean() + np.log(y).std() * stats.norm.ppf(tilt)),
    "skew-normal": skew_normal,
    "W, moments": lambert(lw.fit_igmm),
    "W, likelihood": lambert(lw.fit_mle),
}


def risk(y, h, q):
    """Mean tilted loss of the decision ``h`` over the rows ``y``."""
    return float(np.mean(np.where(y > h, q * (y - h), (1 - q) * (h - y))))


def study(y, size, cohorts):
    """Risk of each way for each tilt over the cohorts, as a ratio to the best decision of all, with the standard error of its mean."""
    ratio = {tilt: {name: [] for name in (*WAYS, "W, Bayes")} for tilt in TILTS}
    for seed in range(cohorts):
        seen = np.random.default_rng(seed).permutation(y)[:size]
        averaged = np.asarray(bayes(jnp.asarray(seen), jnp.asarray(TILTS)))
        for tilt, of_bayes in zip(TILTS, averaged, strict=True):
            best = risk(y, np.quantile(y, tilt, method="inverted_cdf"), tilt)
            for name, decide in WAYS.items():
                ratio[tilt][name].append(risk(y, decide(seen, tilt), tilt) / best)
            ratio[tilt]["W, Bayes"].append(risk(y, of_bayes, tilt) / best)
    return {
        str(t): {name: [round(float(np.mean(v)), 4), round(float(np.std(v) / len(v) ** 0.5), 4)] for name, v in ways.items()}
        for t, ways in ratio.items()
    }


def in_pymc(y):
    """Mean and standard deviation of location, scale and skew by NUTS in PyMC, on the whole column."""
    with pm.Model():
        parts = pm.Normal("mu", 0, 10), pm.HalfNormal("sigma", 10), pm.Uniform("gamma", -0.5, 0.5)
        pymc_dist.LambertW("y", *parts, observed=y)
        drawn = pm.sample(1000, tune=500, chains=4, cores=1, nuts_sampler="nutpie", progressbar=False, random_seed=1).posterior
    return {name: [float(drawn[name].mean()), float(drawn[name].std())] for name in ("mu", "sigma", "gamma")}


def main():
    """Run the study and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cohorts", type=int, default=100)
    settings = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    begin, found = time.time(), {}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=RuntimeWarning, module="scipy")  # SciPy's search tries scales of nothing
        warnings.simplefilter("ignore", ConvergenceWarning)  # moments that break off decide all the same, and are judged by it
        for name, y in columns().items():
            for size in SIZES:
                found.setdefault(name, {})[str(size)] = study(y, size, settings.cohorts)
                print(name, size, found[name][str(size)], round(time.time() - begin), flush=True)
    out = {"made_by": shlex.join(["python", "book/lambertw/results/cohorts.py", *sys.argv[1:]])}
    out |= {"cohorts": settings.cohorts, "ratio": found, "pymc": {"worst area": in_pymc(columns()["worst area"])}}
    Path(__file__).with_name("cohorts.json").write_text(json.dumps(out | {"seconds": round(time.time() - begin)}, indent=1) + "\n")


if __name__ == "__main__":
    main()
