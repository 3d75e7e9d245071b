"""The post-hoc paper's corn: a horseshoe regression on 700 wavelengths, its approximations corrected, theirs beside ours.

    python book/posthoc/results/corn.py [--runs 10]

Writes ``corn.json``. Mean-field VI from ten random starts is looked at twice on its way, before and after it has converged. Beside it
NUTS, the same model with hardly any approximation. Each posterior's decisions, for tilted 0.5 and for squared loss, are corrected on the
40 samples that it was fitted to: with the published settings (21 quantiles, 20,000 full-batch steps, best of 10 restarts by training
risk), without and with the prior from five refits (lambda = 1), and with the package's own settings. The authors used Stan's ADVI with
its own steps and its own rule for stopping; here it is Adam for a fixed number of steps. What was computed is kept in ``.cache/posthoc-
corn`` and taken up again. Twenty minutes on one core.
"""

import argparse
import time
import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import optax
from numpyro.diagnostics import effective_sample_size, split_gelman_rubin
from numpyro.infer import MCMC, NUTS, SVI, Trace_ELBO, init_to_uniform
from numpyro.infer.autoguide import AutoNormal
from stored import store

from course_pkg import data
from course_pkg.decisions import squared, tilted
from course_pkg.posthoc import CorrectionWarning, DecisionPrior, Options, Training, correct

LOSSES = {"tilted 0.5": (tilted(0.5), np.median), "squared": (squared(), np.mean)}
STOPS = {"stopped early": 20_000, "converged": 60_000}
RATE, DRAWS, REFITS = 0.02, 1000, 5
CHAINS, WARMUP, DEPTH = 2, 1000, 10
CACHE = Path(".cache/posthoc-corn")
AS_PUBLISHED = {
    "training": Training(held_out=0.0, restarts=10, steps=20_000, decay=False),
    "options": Options(quantiles=lambda draws: np.moveaxis(np.quantile(draws, np.arange(21) / 20, axis=-1), 0, -1)),
}


def horseshoe(x, y=None):
    """The regularised horseshoe of the authors' Stan program."""
    n, d = 40, x.shape[1]
    z = numpyro.sample("z", dist.Normal(0, 1).expand([d]).to_event(1))
    lam = numpyro.sample("lam", dist.HalfCauchy(1).expand([d]).to_event(1))
    tau = numpyro.sample("tau", dist.HalfCauchy(2 / ((d - 1) * np.sqrt(n))))
    slab = 25 * numpyro.sample("c", dist.InverseGamma(2, 2))
    level = numpyro.sample("level", dist.Normal(0, 10))
    log_sd = numpyro.sample("log_sd", dist.ImproperUniform(dist.constraints.real, (), ()))
    numpyro.sample("y", dist.Normal(level + x @ weights(z, lam, tau, slab), jnp.exp(log_sd)).to_event(1), obs=y)


def weights(z, lam, tau, slab):
    return z * tau * lam * jnp.sqrt(slab / (slab + (tau * lam) ** 2))


def predict(key, site, x):
    """Draws of the starch in some samples, one for each draw of the posterior: shape (S, n)."""
    beta = jax.vmap(weights)(site["z"], site["lam"], site["tau"], 25 * site["c"])
    mean = site["level"][:, None] + beta @ x.T
    return mean + jnp.exp(site["log_sd"])[:, None] * jax.random.normal(key, mean.shape)


def variational(corn, runs):
    """Predictive draws of all samples at each of the stops, for the runs and then the refits: shape (runs + REFITS, S, 80)."""
    rows = np.random.default_rng(0).integers(0, 40, (REFITS, 40))
    rows = np.concatenate([np.tile(np.arange(40), (runs, 1)), rows])
    x, y, there = corn.train.x[rows], corn.train.y[rows], jnp.concatenate([corn.train.x, corn.test.x])
    guide = AutoNormal(horseshoe, init_loc_fn=init_to_uniform(radius=2), init_scale=1.0)  # Stan's own start
    svi = SVI(horseshoe, guide, optax.adam(optax.cosine_decay_schedule(RATE, max(STOPS.values()))), Trace_ELBO())
    states = [svi.init(key, *one) for key, one in zip(jax.random.split(jax.random.key(0), len(rows)), zip(x, y, strict=True), strict=True)]
    state, done, found = jax.tree.map(lambda *parts: jnp.stack(parts), *states), 0, {}

    @jax.jit
    def thousand(state):
        return jax.lax.scan(lambda s, _: (jax.vmap(svi.update)(s, x, y)[0], None), state, length=1000)[0]

    @jax.jit
    def told(state, key):
        site = guide.sample_posterior(key, svi.get_params(state), sample_shape=(DRAWS,))
        return predict(jax.random.fold_in(key, 1), site, there)

    for name, stop in STOPS.items():
        for _ in range(done, stop, 1000):
            state = thousand(state)
        done = stop
        found[name] = np.stack([told(jax.tree.map(lambda a, k=k: a[k], state), jax.random.key(k)) for k in range(len(rows))])
    return found


def sampled(corn):
    """NUTS's predictive draws of all samples, shape (S, 80), and how well the chains agree on the decisions."""
    kernel = NUTS(horseshoe, max_tree_depth=DEPTH, target_accept_prob=0.95)
    sampler = MCMC(kernel, num_warmup=WARMUP, num_samples=DRAWS // CHAINS, num_chains=CHAINS, chain_method="sequential", progress_bar=False)
    sampler.run(jax.random.key(1), corn.train.x, corn.train.y, extra_fields=("diverging",))
    there = jnp.concatenate([corn.train.x, corn.test.x])
    draws = np.asarray(predict(jax.random.key(2), sampler.get_samples(), there))
    by_chain = draws.reshape(CHAINS, -1, 80)
    diverging = int(sampler.get_extra_fields()["diverging"].sum())
    checks = {
        "rhat": float(split_gelman_rubin(by_chain).max()),
        "ess": float(effective_sample_size(by_chain).min()),
        "diverging": diverging,
    }
    return draws, np.array([checks[name] for name in CHECKS])


CHECKS = ("rhat", "ess", "diverging")


def kept(name, make):
    """What ``make`` returns, a dictionary of arrays; from the cache where it is there."""
    path = CACHE / f"{name}.npz"
    if not path.is_file():
        CACHE.mkdir(parents=True, exist_ok=True)
        with jax.enable_x64(True):
            np.savez(path, **make())
    with np.load(path) as found:
        return dict(found)


def decided(draws, y, train, priors, key):
    """Train and test risk of every way to decide from some draws, by loss."""
    out = {}
    for name, (loss, _) in LOSSES.items():
        prior, ask = priors and priors[name], lambda loss=loss, **how: correct(draws.T, y, loss, train=train, key=key, **how)
        plain = ask(nu=0.0, **AS_PUBLISHED)
        risk = {way: (plain.report.train[way], plain.report.held_out[way]) for way in plain.report.train}
        others = {"package's settings": ask()}
        if prior is not None:
            others["decision maker, refits"] = ask(nu=1.0, **AS_PUBLISHED | {"options": AS_PUBLISHED["options"]._replace(prior=prior)})
        risk |= {way: (r.report.train["decision maker"], r.report.held_out["decision maker"]) for way, r in others.items()}
        out[name] = {"risk": risk, "warnings": len(others["package's settings"].warnings)}
        out[name]["spread"] = float(np.std(np.asarray(plain.q_optimal)[~train]))
    return out


def of_refits(draws):
    """The prior on decisions from the refits, by loss: their decisions' mean and standard deviation at the 40 training samples."""
    found = {}
    for name, (_, best) in LOSSES.items():
        h = best(draws[:, :, :40], axis=1)
        found[name] = DecisionPrior(np.pad(h.mean(axis=0), (0, 40)), np.pad(h.std(axis=0, ddof=1), (0, 40), constant_values=1.0))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    runs = parser.parse_args().runs
    warnings.simplefilter("ignore", CorrectionWarning)  # they are counted
    began, corn = time.perf_counter(), data.corn()
    y, train = np.concatenate([corn.train.y, corn.test.y]), np.arange(80) < 40
    draws = kept("vi", lambda: variational(corn, runs))
    nuts = kept("nuts", lambda: dict(zip(("draws", "checks"), sampled(corn), strict=True)))
    constant = {
        name: [float(np.mean(loss(y[part], np.full(40, best(y[:40]))))) for part in (train, ~train)]
        for name, (loss, best) in LOSSES.items()
    }
    found: dict = {"NUTS": decided(nuts["draws"], y, train, None, jax.random.key(0)), **{stop: [] for stop in STOPS}}
    for run in range(runs):
        for stop in STOPS:
            found[stop].append(decided(draws[stop][run], y, train, of_refits(draws[stop][runs:]), jax.random.key(run)))
            print(run, stop, found[stop][-1], f"{time.perf_counter() - began:.0f} s", flush=True)
        checks = dict(zip(CHECKS, nuts["checks"].tolist(), strict=True))
        store(__file__, "corn", stops=STOPS, constant=constant, nuts_checks=checks, results=found)


if __name__ == "__main__":
    main()
