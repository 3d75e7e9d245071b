"""The radon houses decided one by one: nothing, a long test or a fan, by a dozen roads to the same predictive distribution.

    python book/capstone/results/houses.py [--seeds 3]

Writes ``houses.json``. For each seed the 919 houses are split anew, a first test of two days is made up for every house (its year's reading
plus noise), and every engine fits 460 of them; some fit 46, too. The others judge. About five minutes a seed on one core. Seeds that are
already stored are not run again, but for NUTS where a row is new: all others are compared with it.
"""

import argparse
import json
import logging
import os
import shlex
import sys
import warnings
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import optax
import pymc as pm
from jax.scipy.stats import norm
from numpyro import distributions as dist
from numpyro.infer import MCMC, NUTS, SVI, Predictive, Trace_ELBO, autoguide

from course_pkg import data, decisions, families, gradients, lambertw, lcvi, models, posthoc
from course_pkg.fit import QUIET, fit

HERE = Path(__file__).parent
FAN, LONG, PRICE = 2000.0, 150.0, 1000.0  # dollars; the last for each pCi/L breathed for thirty years
BOX = 20.0  # a second test like the first
SHORT_SD, TO = 0.5, 2.0  # noise of the first test on the log scale; pCi/L that a fan leaves, at most
ACTIONS = ("nothing", "long test", "fan")

STEPS, SAMPLES, RATE = 4000, 10, 0.03  # of every climb: 40,000 gradients of the log joint
DRAWS, WARMUP, CHAINS = 4000, 500, 4
TOLD = 1000  # draws that a correction is told
TRAINING = posthoc.Training(restarts=2, steps=1500, folds=3)


class Split(NamedTuple):
    """What one seed makes of the houses."""

    train: Any  # (n,) true for the houses that were fitted
    first: Any  # (n,) the first test, on the log scale
    houses: models.Grouped


class Found(NamedTuple):
    """What an engine hands over."""

    y: Any  # (S, n) draws of every house's log activity, before its first test
    about: dict  # what else is worth keeping


# --- the decision ------------------------------------------------------------------------------------------------


def regrets(y, fan=FAN, long=LONG, price=PRICE):
    """What each action costs more than the best of the two in hindsight, in dollars: shape ``(3, ...)`` for log activities ``(...)``."""
    saved = price * np.maximum(np.exp(np.asarray(y, float)) - 0.1 - TO, 0.0)  # by a fan, in thirty years
    return np.stack([np.maximum(saved - fan, 0.0), np.full_like(saved, long), np.maximum(fan - saved, 0.0)])


def weights(y, *tests):
    """Of each draw, once the short tests are read: shape ``(S, n)``, columns summing to 1."""
    log_w = sum(-0.5 * ((test - y) / SHORT_SD) ** 2 for test in tests)
    w = np.exp(log_w - log_w.max(axis=0))
    return w / w.sum(axis=0)


def decide(y, *tests):
    """The action for each house, and its expected regret in dollars."""
    expected = (weights(y, *tests) * regrets(y)).sum(axis=1)
    return expected.argmin(axis=0), expected.min(axis=0)


def worth(y, rng, results=200):
    """What one more short test saves a house with these draws ``(S,)``, in expectation, its price aside; all three actions are open."""
    cost = regrets(y)
    read = rng.choice(y, results) + SHORT_SD * rng.normal(size=results)
    return cost.mean(axis=1).min() - (cost @ weights(y[:, None], read)).min(axis=0).mean()


def between(y, h):
    """The regret of a decision between two actions, as if half a house had a fan: in thousands of dollars, so that `correct` can slide."""
    over = jnp.maximum(PRICE * (jnp.exp(y) - 0.1 - TO), 0.0) - FAN
    nothing, fan = jnp.maximum(over, 0.0), jnp.maximum(-over, 0.0)
    low, high = jnp.clip(h, 0.0, 1.0), jnp.clip(h - 1.0, 0.0, 1.0)
    cost = nothing + low * (LONG - nothing) + high * (fan - LONG)
    return (cost + 100 * (jnp.maximum(-h, 0.0) + jnp.maximum(h - 2.0, 0.0))) / 1000


def cheapest(draws, given):
    costs = jnp.stack([between(draws, float(a)) for a in range(3)])
    return jnp.argmin(costs.mean(axis=-1) if given is None else (costs * given).sum(axis=-1), axis=0).astype(float)


def call(m, s, k):
    r"""The mean of :math:`(e^y - k)_+` for a normal ``y``."""
    d = (m - jnp.log(k)) / s
    return jnp.exp(m + s**2 / 2) * norm.cdf(d + s) - k * norm.cdf(d)


def regret_term(model, first, M):
    """The utility term of the three actions, in closed form given theta: the linearised utility of the regret."""

    def one(theta, covariates):
        m, s = model.reading.moments(theta, covariates)
        trust = s**2 / (s**2 + SHORT_SD**2)  # of the first test
        m, s = m + trust * (first - m), s * jnp.sqrt(1 - trust)
        start, even = TO + 0.1, TO + 0.1 + FAN / PRICE
        above = call(m, s, even)
        nothing, fan = PRICE * above, FAN - PRICE * (call(m, s, start) - above)
        return -jnp.stack([nothing, jnp.full_like(nothing, LONG), fan], axis=-1) / M

    def value(noise, thetas, h, covariates):  # noqa: ARG001
        return jax.vmap(one, (0, None))(thetas, covariates).mean(axis=0)

    return lcvi.Term(lambda key, thetas: (), value, jnp.arange(3))  # noqa: ARG005


# --- the houses --------------------------------------------------------------------------------------------------


def split(seed, size) -> Split:
    houses = data.radon().houses
    rng = np.random.default_rng(seed)
    train = np.zeros(len(houses.y), bool)
    train[rng.permutation(len(train))[:size]] = True
    return Split(train, np.asarray(houses.y) + SHORT_SD * rng.normal(size=len(train)), houses)


def seen(given: Split):
    return jax.tree.map(lambda part: part[np.flatnonzero(given.train)], given.houses)


@cache
def the_model(groups, centred=False):
    return models.hierarchical_regression(groups, 2, centred=centred)


def model_of(given, centred=False):
    return the_model(int(given.houses.group.max()) + 1, centred)


def start_at(model):
    """Both standard deviations at two thirds, all else at nought: half of a hundred is far from any house."""
    return np.where(np.isin(np.arange(model.dim), (1, 2)), -5.0, 0.0)


def drawn(key, model, thetas, given):
    keys = jax.random.split(key, len(thetas))
    return np.asarray(jax.jit(jax.vmap(model.predict, (0, 0, None)))(keys, thetas, given.houses))


# --- the engines -------------------------------------------------------------------------------------------------


def nuts(seed, given) -> Found:
    model = model_of(given)
    mcmc = MCMC(
        NUTS(potential_fn=partial(_energy, model, seen(given))),
        num_warmup=WARMUP,
        num_samples=DRAWS // CHAINS,
        num_chains=CHAINS,
        chain_method="sequential",
        progress_bar=False,
    )
    begin = start_at(model) + 0.1 * np.random.default_rng(seed).normal(size=(CHAINS, model.dim))
    mcmc.run(jax.random.key(seed), init_params=jnp.asarray(begin), extra_fields=("num_steps", "diverging"))
    chains = mcmc.get_samples(group_by_chain=True)
    extra = mcmc.get_extra_fields()
    r_hat = float(np.max(numpyro.diagnostics.split_gelman_rubin(np.asarray(chains))))
    about = {"r_hat": r_hat, "divergent": int(extra["diverging"].sum()), "gradients": int(extra["num_steps"].sum())}
    return Found(drawn(jax.random.key(seed + 1), model, mcmc.get_samples(), given), about)


def _energy(model, rows, theta):
    return -models.log_joint(model, theta, rows)


class Coupling(NamedTuple):
    """A map that `families.compose` takes: the first ``k`` coordinates shift and stretch the rest, then the rest the first."""

    init: Any
    transform: Any
    standardize: Any
    log_det: Any
    affine: bool = False


def coupling(k=5, hidden=16) -> Coupling:
    """A flow of two affine coupling layers (RealNVP), the identity at its start: only the last layer's weights begin at nought."""

    def network(net, x, size):
        inner, outer = net
        shift, stretch = jnp.split(jnp.tanh(x @ inner) @ outer, [size])
        return shift, jnp.tanh(stretch)

    def init(dim):
        rng = np.random.default_rng(0)
        make = lambda a, b: (jnp.asarray(rng.normal(size=(a, hidden)) / np.sqrt(a)), jnp.zeros((hidden, 2 * b)))
        return make(k, dim - k), make(dim - k, k)

    def forward(lam, eps):
        first, rest = eps[:k], eps[k:]
        shift, log_a = network(lam[0], first, rest.size)
        rest = shift + jnp.exp(log_a) * rest
        shift, log_b = network(lam[1], rest, k)
        return jnp.concatenate([shift + jnp.exp(log_b) * first, rest]), log_a.sum() + log_b.sum()

    def standardize(lam, x):
        first, rest = x[:k], x[k:]
        shift, log_b = network(lam[1], rest, k)
        first = (first - shift) * jnp.exp(-log_b)
        shift, log_a = network(lam[0], first, rest.size)
        return jnp.concatenate([first, (rest - shift) * jnp.exp(-log_a)])

    return Coupling(init, lambda lam, eps: forward(lam, eps)[0], standardize, lambda lam, eps: forward(lam, eps)[1])


@cache
def family_of(name):
    return {
        "mean-field": families.mean_field_normal,
        "full rank": families.full_rank_normal,
        "skewed": lambda: families.compose(families.mean_field_normal(), lambertw.skew()),
        "flow": lambda: families.compose(families.mean_field_normal(), coupling()),
    }[name]()


@cache
def climber(model, name, steps):
    """Made once, so that a second seed compiles nothing."""
    family = family_of(name)
    estimator = gradients.reparameterized(model, family, SAMPLES, entropy="closed form" if family.affine else "monte carlo")
    return family, estimator, optax.adam(optax.cosine_decay_schedule(RATE, steps))


def climb(seed, given, name, model, steps):
    family, estimator, adam = climber(model, name, steps)
    start = family.init(model.dim, location=start_at(model))
    return fit(jax.random.key(seed), estimator, adam, start, seen(given), steps, QUIET._replace(judge=False))


def handed_over(seed, given, name, model, lam, **about):
    thetas = families.sample(jax.random.key(seed + 1), family_of(name), lam, DRAWS)
    return Found(drawn(jax.random.key(seed + 2), model, thetas, given), about)


def variational(name, centred, seed, given, share=1.0) -> Found:
    model, steps = model_of(given, centred), round(share * STEPS)
    run = climb(seed, given, name, model, steps)
    return handed_over(seed, given, name, model, run.lam, elbo=float(run.objective[-(steps // 10) :].mean()))


def calibrated(M, seed, given) -> Found:
    """Half of the steps for plain inference, the other half calibrated for the decisions about the houses that were left out.

    The price of a long test is the 0.7-quantile of the regrets, the usual M: about half of the houses get that test.
    """
    model, name, rows = model_of(given), "mean-field", seen(given)
    plain = climb(seed, given, name, model, STEPS // 2).lam
    out = np.flatnonzero(~given.train)
    apart = jax.tree.map(lambda part: part[out], given.houses)
    term = regret_term(model, jnp.asarray(given.first[out]), M)
    about_others = term._replace(value=lambda noise, thetas, h, covariates: term.value(noise, thetas, h, apart))  # noqa: ARG005
    estimator = lcvi.calibrated(model, family_of(name), about_others, samples=SAMPLES)
    adam = optax.adam(optax.cosine_decay_schedule(RATE, STEPS // 2))
    run = fit(jax.random.key(seed + 3), estimator, adam, lcvi.Pair(plain, ()), rows, STEPS // 2, QUIET._replace(judge=False))
    return handed_over(seed, given, name, model, run.lam.lam)


def program(group, x, y=None, groups=85):
    """As a user of NumPyro would write it."""
    mu_a, b = numpyro.sample("mu_a", dist.Normal(0, 1)), numpyro.sample("b", dist.Normal(0, 1).expand([2]))
    sigma_a, sigma_y = numpyro.sample("sigma_a", dist.Uniform(0, 100)), numpyro.sample("sigma_y", dist.Uniform(0, 100))
    a = numpyro.sample("a", dist.Normal(mu_a, sigma_a).expand([groups]))
    numpyro.sample("y", dist.Normal(a[group] + x @ b, sigma_y), obs=y)


def guide(name, seed, given) -> Found:
    rows = seen(given)
    auto = getattr(autoguide, name)(program)
    svi = SVI(program, auto, optax.adam(optax.cosine_decay_schedule(RATE, STEPS)), Trace_ELBO(SAMPLES))
    run = svi.run(jax.random.key(seed), STEPS, *rows, progress_bar=False)
    draw = Predictive(program, guide=auto, params=run.params, num_samples=DRAWS)
    y = draw(jax.random.key(seed + 1), given.houses.group, given.houses.x)["y"]
    return Found(np.asarray(y), {"elbo": -float(run.losses[-STEPS // 10 :].mean())})


def same_in_pymc(given):
    """As a user of PyMC would write it."""
    group, x, y = (np.asarray(part) for part in seen(given))
    with pm.Model() as model:
        mu_a, b = pm.Normal("mu_a", 0, 1), pm.Normal("b", 0, 1, shape=2)
        sigma_a, sigma_y = pm.Uniform("sigma_a", 0, 100), pm.Uniform("sigma_y", 0, 100)
        a = pm.Normal("a", mu_a, sigma_a, shape=85)
        pm.Normal("y", a[group] + x @ b, sigma_y, observed=y)
    return model


def drawn_by_pymc(found, seed, given):
    """Houses from what PyMC hands over: parameters by chain and draw."""
    a, b, noise = (found[name].stack(s=("chain", "draw")).transpose("s", ...).values for name in ("a", "b", "sigma_y"))
    mean = a[:, np.asarray(given.houses.group)] + b @ np.asarray(given.houses.x).T
    return mean + noise[:, None] * np.random.default_rng(seed).normal(size=mean.shape)


def advi(method, seed, given) -> Found:
    with same_in_pymc(given), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adam = pm.adam(learning_rate=0.02)
        q = pm.fit(STEPS, method=method, obj_n_mc=SAMPLES, random_seed=seed, progressbar=False, obj_optimizer=adam)
        found = q.sample(DRAWS, random_seed=seed).posterior
    return Found(drawn_by_pymc(found, seed, given), {"elbo": -float(q.hist[-STEPS // 10 :].mean())})


def pymc_nuts(seed, given) -> Found:
    """PyMC's sampler at its own settings, but for the number of draws."""
    with same_in_pymc(given):
        whole = pm.sample(DRAWS // CHAINS, chains=CHAINS, cores=1, random_seed=seed, progressbar=False, compute_convergence_checks=False)
    found, stats = whole.posterior, whole.sample_stats
    r_hat = max(float(numpyro.diagnostics.split_gelman_rubin(part.values).max()) for part in found.data_vars.values())
    about = {"r_hat": r_hat, "divergent": int(stats["diverging"].sum()), "gradients": int(stats["n_steps"].sum())}
    return Found(drawn_by_pymc(found, seed, given), about)


ENGINES = {
    "NUTS": nuts,
    "NUTS, once more": lambda seed, given: nuts(seed + 1000, given),
    "mean-field": partial(variational, "mean-field", False),
    "mean-field, a twentieth of the steps": partial(variational, "mean-field", False, share=0.05),
    "mean-field, centred": partial(variational, "mean-field", True),
    "full rank": partial(variational, "full rank", False),
    "skewed": partial(variational, "skewed", False),
    "flow": partial(variational, "flow", False),
    "loss-calibrated": partial(calibrated, LONG),
    "loss-calibrated, a tenth as strong": partial(calibrated, 10 * LONG),
    "NumPyro, AutoNormal": partial(guide, "AutoNormal"),
    "NumPyro, AutoMultivariateNormal": partial(guide, "AutoMultivariateNormal"),
    "PyMC, ADVI": partial(advi, "advi"),
    "PyMC, full-rank ADVI": partial(advi, "fullrank_advi"),
    "PyMC, NUTS": pymc_nuts,
}
SURVEYS = {  # houses that are fitted, and which engines see them
    460: tuple(ENGINES),
    46: (
        "NUTS",
        "NUTS, once more",
        "mean-field",
        "mean-field, centred",
        "full rank",
        "loss-calibrated",
        "loss-calibrated, a tenth as strong",
    ),
}


# --- what is kept ------------------------------------------------------------------------------------------------


def corrected(seed, given, y):
    """The decision of each house after a correction of these draws, that nothing was paid for boxes, and its report."""
    rng, w = np.random.default_rng(seed), weights(y, given.first).T
    picked = np.stack([rng.choice(len(y), TOLD, p=row) for row in w])
    draws = np.take_along_axis(y.T, picked, axis=1)
    loss = decisions.Loss("between", between, rule=cheapest)
    outcomes = np.asarray(given.houses.y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", posthoc.CorrectionWarning)  # the interval is kept
        result = posthoc.correct(draws, outcomes, loss, train=given.train, training=TRAINING, key=jax.random.key(seed))
    saved = result.report.against_q_optimal
    about = {"saved": [saved.value, saved.low, saved.high], "by_chance": result.report.by_chance, "nu": result.fit.nu}
    return np.clip(np.rint(np.asarray(result.decisions)), 0, 2).astype(int), 0.0, about


def second_box(seed, given, y):
    """Decisions where every house whose second box is worth its price beforehand hangs one up; what that cost; and how many did."""
    rng = np.random.default_rng([seed, 2])
    second = np.asarray(given.houses.y) + SHORT_SD * rng.normal(size=len(given.first))
    w, saves = weights(y, given.first), np.zeros(len(given.first))
    for n in np.flatnonzero(~given.train):
        saves[n] = worth(rng.choice(y[:, n], TOLD, p=w[:, n]), rng) - BOX
    hung = saves > 0
    action = np.where(hung, decide(y, given.first, second)[0], decide(y, given.first)[0])
    about = {"hung": float(hung[~given.train].mean()), "expects": float(np.maximum(saves, 0)[~given.train].mean())}
    return action, BOX * hung, about


def rules(given):
    """Decisions without a model: one for all, what the agencies say about the first test, and hindsight."""
    y, n, read = np.asarray(given.houses.y), len(given.first), np.exp(given.first) - 0.1
    best = regrets(y)[[0, 2]].argmin(axis=0) * 2
    everywhere = {f"{name} everywhere": np.full(n, a) for a, name in enumerate(ACTIONS)}
    return everywhere | {
        "long test from 4 pCi/L": np.where(read >= 4, 1, 0),
        "fan from 4 pCi/L": np.where(read >= 4, 2, 0),
        "hindsight": best,
    }


def told(action, given, reference, paid=0.0, **more):
    """Costs are regrets on the houses left out and what was paid for boxes, in dollars a house; their error is over these houses."""
    out = ~given.train
    cost = (np.take_along_axis(regrets(np.asarray(given.houses.y)), action[None], axis=0)[0] + paid)[out]
    base = np.take_along_axis(regrets(np.asarray(given.houses.y)), reference[None], axis=0)[0][out]
    error = lambda values: float(values.std(ddof=1) / np.sqrt(len(values)))
    return {
        "shares": [float((action[out] == a).mean()) for a in range(3)],
        "cost": float(cost.mean()),
        "cost_error": error(cost),
        "against_nuts": float((cost - base).mean()),
        "against_nuts_error": error(cost - base),
        "otherwise": float((action[out] != reference[out]).mean()),
        **more,
    }


AFTERWARDS = {  # what is made of an engine's draws, in the large survey
    "NUTS": {"NUTS, corrected": corrected, "NUTS, a second box where it pays": second_box},
    "mean-field": {"mean-field, corrected": corrected},
}


def cpu() -> float:
    """Seconds of all cores, children (a compiler) included: what does not depend on who else is computing."""
    return sum(os.times()[:4])


def one_survey(seed, size, names, kept) -> dict:
    """Every row of one split; those in ``kept`` are taken from there, but for NUTS where another is missing."""
    large = size == max(SURVEYS)
    rows = [row for name in names for row in (name, *(AFTERWARDS.get(name, {}) if large else ()))]
    if set(rows) <= set(kept):
        return kept
    given, found, reference = split(seed, size), {}, None
    for name in names:
        after = {row: make for row, make in AFTERWARDS.get(name, {}).items() if large and row not in kept}
        if name in kept and name != "NUTS" and not after:
            continue
        begin = cpu()
        y, about = ENGINES[name](seed, given)
        action, expected = decide(y, given.first)
        spent = cpu() - begin
        reference = action if reference is None else reference
        opinion = float(expected[~given.train].mean())
        found[name] = told(action, given, reference, opinion=opinion, seconds=spent, about=about)
        if name in kept and abs(found[name]["cost"] - kept[name]["cost"]) > 1e-4:
            raise RuntimeError("NUTS decides otherwise here than in houses.json: remove that file, to run all of it")
        print(seed, size, name, found[name], flush=True)
        for row, make in after.items():
            begin = cpu()
            action, paid, about = make(seed, given, y)
            found[row] = told(action, given, reference, paid, seconds=spent + cpu() - begin, about=about)
            print(seed, size, row, found[row], flush=True)
    for name, action in rules(given).items():
        rows.append(name)
        found[name] = told(action, given, reference, seconds=0.0)
    return {row: (found | kept)[row] for row in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    count = parser.parse_args().seeds
    logging.getLogger("pymc").setLevel(logging.ERROR)
    kept = HERE / "houses.json"
    runs = json.loads(kept.read_text())["runs"] if kept.exists() else []
    settings = {
        "steps": STEPS,
        "samples": SAMPLES,
        "draws": DRAWS,
        "fan": FAN,
        "long": LONG,
        "price": PRICE,
        "box": BOX,
        "short_sd": SHORT_SD,
    }
    runs += [{} for _ in range(len(runs), count)]
    for seed in range(count):
        before = runs[seed]
        runs[seed] = {f"{size} houses": one_survey(seed, size, names, before.get(f"{size} houses", {})) for size, names in SURVEYS.items()}
        if runs[seed] == before:
            continue
        made_by = shlex.join(["python", "book/capstone/results/houses.py", *sys.argv[1:]])
        whole = {"made_by": made_by, "settings": settings, "runs": [run for run in runs if run]}
        rounded = json.loads(json.dumps(whole), parse_float=lambda value: round(float(value), 5))
        kept.write_text(json.dumps(rounded) + "\n")


if __name__ == "__main__":
    main()
