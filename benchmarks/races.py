"""What `run.py` runs: each race is one piece of work and the roads to it, this package's first, then its peers'.

The roads are those of the scripts beside this file, which can be run by themselves, too, and then print more.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from scipy import special

from benchmarks import decisions as deciding
from benchmarks import fit as fitting
from benchmarks import is_gradients as reuse
from benchmarks import lambertw as branches
from benchmarks import lcvi as calibrating
from benchmarks import lda as topics
from benchmarks.aims import ADVI, NUMPYRO, OURS
from course_pkg import data, decisions, families, gradients, lambertw, lcvi, models, posthoc
from course_pkg.fit import Settings, fit
from course_pkg.is_gradients import published


class Road(NamedTuple):
    """One way to do the work."""

    call: Callable  # seed -> what was reached, computed to its end
    share: float = 1.0  # of the work that a timed call does, where a peer is too slow for all of it
    whole: Callable | None = None  # all of the work, for what is reached, where a timed call does a share


class Race(NamedTuple):
    """One piece of work."""

    size: str  # in words
    roads: dict[str, Road]
    error: Callable  # name -> what was reached, of all -> name -> a number, or None where there is nothing to compare
    bound: float  # on that number, for a road to have done the work
    measure: str  # what that number is
    unit: tuple[float, str] = (1.0, "s")  # of the times shown: seconds divided by this are these


def apart(found):
    """How far each lies from the middle of all."""
    middle = np.median([float(value) for value in found.values()])
    return {name: abs(float(value) - middle) for name, value in found.items()}


def unchecked(found):
    """Where there is no other road to compare with."""
    return dict.fromkeys(found)


def vi_schools(small):
    """The evidence lower bound of eight schools, mean-field, the same draws a step and the same optimiser."""
    steps, samples, schools = (4000 if small else 20_000), 11, data.schools()
    plain, few = fitting.TraceMeanField_ELBO(num_particles=samples), max(steps // 10, 1)
    advi = fitting.pymc_advi(schools, steps, samples)
    roads = {
        OURS: Road(fitting.ours(schools, steps, samples, entropy="closed form")),
        "this package, with its bar": Road(fitting.ours(schools, steps, samples, entropy="closed form", progress=True)),
        NUMPYRO: Road(fitting.numpyro_scan(schools, steps, plain)),
        "NumPyro, SVI.run": Road(fitting.numpyro_run(schools, steps, plain)),
        ADVI: Road(fitting.pymc_advi(schools, few, samples), few / steps, advi),
    }
    return Race(f"{steps} steps of Adam, {samples} draws each", roads, apart, 0.3, "nats from the middle ELBO", (1e-6 * steps, "µs a step"))


def vi_logistic(small):
    """A logistic regression of many rows, full-rank, all rows at each step."""
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import SVI, Trace_ELBO
    from numpyro.infer.autoguide import AutoMultivariateNormal

    rows, dim, steps, samples, rate = (1000 if small else 10_000), 10, (1000 if small else 2000), 5, 0.02
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, dim)).astype(np.float32)
    y = (rng.uniform(size=rows) < special.expit(x @ rng.normal(size=dim))).astype(np.float32)
    table = models.Rows(jnp.asarray(x), jnp.asarray(y))
    family = families.full_rank_normal()
    estimator = gradients.reparameterized(models.logistic_regression(dim, 1.0), family, samples)
    adam, start = optax.adam(rate), family.init(dim, scale=0.1)

    def ours(seed):
        run = fit(jax.random.key(seed), estimator, adam, start, table, steps, Settings(progress=False, judge=False))
        return run.objective[-steps // 4 :].mean()

    def program(x, y):
        theta = numpyro.sample("theta", dist.Normal(0, 1).expand([dim]).to_event(1))
        with numpyro.plate("rows", rows):
            numpyro.sample("y", dist.Bernoulli(logits=x @ theta), obs=y)

    svi = SVI(program, AutoMultivariateNormal(program), optax.adam(rate), Trace_ELBO(num_particles=samples))

    @jax.jit
    def scan(state, x, y):
        return jax.lax.scan(lambda s, _: svi.update(s, x, y), state, None, length=steps)[1]

    def theirs(seed):
        losses = np.asarray(scan(svi.init(jax.random.key(seed), *table), *table))
        return -losses[-steps // 4 :].mean()

    size = f"{rows} rows, {dim} coefficients, {steps} steps of Adam, {samples} draws each"
    return Race(size, {OURS: Road(ours), NUMPYRO: Road(theirs)}, apart, 1.0, "nats from the middle ELBO", (1e-6 * steps, "µs a step"))


def lcvi_step(small):
    """A calibrated step of the factorisation beside a plain one, by how the utility term is computed."""
    table, steps, adam = data.lastfm().table, (8 if small else 100), optax.adam(0.01)
    found = calibrating.fast_roads(table)

    def road(estimator, start, fewer):
        count = max(steps // fewer, 2)

        def call(seed):
            return (
                fit(jax.random.key(seed), estimator, adam, start, table, count, Settings(progress=False, judge=False)).objective[:2].mean()
            )

        return Road(call, count / steps, call)

    def against_draws(reached):
        naive = "tilted, exponential, naive, 30 outcomes"
        tabled = "tilted, exponential, table"
        return dict.fromkeys(reached) | {tabled: abs(float(reached[tabled] / reached[naive] - 1))}

    roads = {name: road(*parts) for name, parts in found.items()}
    size = f"{table.value.shape[0]} by {table.value.shape[1]} listening counts, 20 factors, 100 rows a step"
    return Race(size, roads, against_draws, 0.01, "share of the objective, from the naive estimator's", (1e-3 * steps, "ms a step"))


def reused_gradients(small):
    """Until plain SGD's ELBO at the end of its published run is reached: how many steps that takes is found first, then they are timed."""
    problem = published.regression(**(reuse.SMALL if small else {}))
    table, decay = reuse.methods(problem), 0.9**0.01
    last = 130

    def until(name, steps, target):
        rows = reuse.trajectory(problem, table[name], 0, steps, problem.rate, decay, np.inf)
        return rows[-1][3] if target is None else next((row[0] for row in rows if row[3] >= target), steps)

    target = until("SGD", last, None)
    counts = {"ISGD": until("ISGD", 10 * last, target), "SGD": last}

    def road(name):
        method, count = table[name], counts[name]

        def call(seed):
            carry = reuse.begin(problem, method.estimator, seed)
            chunk = (method.estimator, method.adam, count, jax.random.key(seed), 0, problem.rate, decay)
            return problem.elbo(jax.block_until_ready(reuse.advance(*chunk, carry, problem.data))[0][0])

        return Road(call)

    best = reuse.best_elbo(problem, [])
    error = lambda reached: {name: (best - value) / (best - target) - 1 for name, value in reached.items()}
    roads = {OURS: road("ISGD"), "plain SGD": road("SGD")}
    size = f"linear regression, {len(problem.data.y)} rows, {counts['ISGD']} steps against {last}"
    return Race(size, roads, error, 0.5, "gap to the optimum beyond SGD's, as a share of it", (1e-3, "ms"))


def lambert_values(small):
    """W at arguments that a skewed normal asks for, in double precision, with and without its gradient."""
    jax.config.update("jax_enable_x64", True)
    n = 10_000 if small else 1_000_000
    z = np.maximum(np.random.default_rng(0).normal(size=n), -3.0)
    x = 0.2 * z * np.exp(0.2 * z)
    found = branches.roads(x)
    order = ("lambertw", "lambertw with gradient", "lambertw, single", "table, cubic", "SciPy")
    names = {"lambertw": OURS, "SciPy": "SciPy"}
    roads = {names.get(name, name): Road(lambda _, name=name: np.asarray(jax.block_until_ready(found[name]()), float)) for name in order}
    error = lambda reached: {name: float(np.abs(value / reached["SciPy"] - 1).max()) for name, value in reached.items()}
    return Race(f"{n} values", roads, error, 1e-4, "largest relative error", (1e-9 * n, "ns a value"))


def lambert_density(small):
    """The log density of a skewed normal, and its gradient in location, scale and skew, beside SciPy's W in the same formula."""
    jax.config.update("jax_enable_x64", True)
    n = 10_000 if small else 1_000_000
    y = np.asarray(lambertw.g_e(jax.random.normal(jax.random.key(0), (n,)), 0.2))
    z, at = jnp.asarray(y), jnp.asarray([0.1, 1.1, 0.2])
    total = lambda t: lambertw.log_density(z, t[0], t[1], t[2]).sum()
    value, both = jax.jit(total), jax.jit(jax.value_and_grad(total))

    def by_scipy(_):
        t = 0.2 * (y - 0.1) / 1.1
        w = special.lambertw(t).real
        u = w / 0.2
        return float((-0.5 * u**2 - 0.5 * np.log(2 * np.pi) - np.log(1.1) - w - np.log1p(w)).sum())

    roads = {
        OURS: Road(lambda _: float(value(at))),
        "this package, with gradient": Road(lambda _: float(jax.block_until_ready(both(at))[0])),
        "SciPy's W in NumPy": Road(by_scipy),
    }
    return Race(f"{n} rows", roads, lambda found: {k: v / n for k, v in apart(found).items()}, 1e-3, "nats a row", (1e-9 * n, "ns a row"))


def chains(target, kernel):
    """Four chains of one kernel on one target; blackjax takes the same starts, scales, masses and steps."""

    def race(small):
        from benchmarks import mcmc  # needs blackjax

        draws, count = (1000 if small else 20_000), 4
        log_density, dim = mcmc.targets()[target]
        starts = 0.1 * jax.random.normal(jax.random.key(0), (count, dim))
        tuned = mcmc.tune_hmc(jax.random.key(1), log_density, starts, mcmc.STEPS)
        found = next(calls for name, calls in mcmc.roads(log_density, tuned, draws).items() if name.startswith(kernel))
        names = {"course_pkg": OURS, "course_pkg, run_chains": "this package, run_chains", "blackjax": "blackjax"}

        def error(reached):
            """Between means, in standard errors: of the coordinate that lies furthest apart."""
            sizes = {
                name: np.array([mcmc.az.ess(x[..., k].astype(float), method="mean") for k in range(dim)]) for name, x in reached.items()
            }
            of = {name: x.reshape(-1, dim).var(axis=0) / sizes[name] for name, x in reached.items()}
            mean = {name: x.reshape(-1, dim).mean(axis=0) for name, x in reached.items()}
            far = lambda name: np.abs(mean[name] - mean["blackjax"]) / np.sqrt(of[name] + of["blackjax"])
            return {name: None if name == "blackjax" else float(far(name).max()) for name in reached}

        roads = {names[name]: Road(lambda seed, call=call: call(jax.random.key(seed))) for name, call in found.items()}
        for number, name in enumerate(roads):  # each its own draws
            roads[name] = Road(lambda seed, call=roads[name].call, number=number: call(7 * seed + number))
        size = f"{count} chains of {draws} draws, {dim} coordinates"
        return Race(size, roads, error, 5.0, "standard errors between means, largest of all coordinates", (1e-6 * draws, "µs a step"))

    return race


def lda(small):
    """Topics of made-up documents by coordinate ascent, the same priors and rounds."""
    shape = (200, 300, 5, 50) if small else (1900, 2000, 20, 200)
    rounds = 10 if small else 20
    counts = topics.made_up(*shape)
    ours, theirs = topics.ours(counts, shape[2], rounds), topics.scikit_learn(counts, shape[2], rounds, np.float32)
    roads = {OURS: Road(lambda seed: ours(seed)[1][-1])}

    def fitted(seed):
        model = topics.LatentDirichletAllocation(
            shape[2], doc_topic_prior=topics.ALPHA, topic_word_prior=topics.GAMMA, max_iter=rounds, random_state=seed
        )
        return model.fit(counts.astype(np.float32))

    roads["scikit-learn"] = Road(fitted, 1.0, lambda seed: theirs(seed)[1][-1])
    size = f"{shape[0]} documents, {shape[1]} words, {shape[2]} topics, {counts.sum()} tokens, {rounds} rounds"
    return Race(size, roads, apart, 0.1, "nats a token from the middle bound", (1.0, "s"))


def many_decisions(convex):
    """Bayes decisions of many rows of draws."""

    def race(small):
        rows, draws = (10_000 if small else 1_000_000), 50
        y = jax.random.normal(jax.random.key(0), (rows, draws))
        kinds = {name: (loss, decide) for name, loss, decide in deciding.roads(y)}
        ours = (
            ("tilted, closed form", "tilted, bisection", "tilted, numpy.quantile") if convex else ("1 - exp(-(h-y)^2), look and bisection",)
        )
        names = {ours[0]: OURS, "tilted, numpy.quantile": "numpy.quantile"}
        roads = {names.get(name, name): Road(lambda _, name=name: jax.block_until_ready(kinds[name][1]())) for name in ours}
        loss = kinds[ours[0]][0]
        if not convex:
            some, grid = y[:1000], jnp.linspace(-3.0, 3.0, 601)

        def error(reached):
            if convex:
                risks = {name: decisions.risk(loss, y, jnp.asarray(h)) for name, h in reached.items()}
                best = jnp.min(jnp.stack(list(risks.values())), axis=0)
                return {name: float((risk - best).max()) for name, risk in risks.items()}
            looked = jnp.stack([decisions.risk(loss, some, jnp.full(len(some), h)) for h in grid]).min(axis=0)
            return {name: float((decisions.risk(loss, some, jnp.asarray(h)[:1000]) - looked).max()) for name, h in reached.items()}

        return Race(f"{rows} rows of {draws} draws", roads, error, 1e-3, "largest risk beyond the best found", (1.0, "s"))

    return race


def first_calibrate(_):
    """The first call of `calibrate`, in a process of its own."""
    schools, model = data.schools(), models.eight_schools()
    quick = lcvi.Optimisation(steps=1000, rate=0.05, tolerance=None, progress=False)

    def call(seed):
        return lcvi.calibrate(jax.random.key(seed), model, schools, decisions.tilted(0.2), optimisation=quick).calibrated.risk

    return Race("eight schools, 1,000 steps", {OURS: Road(call)}, unchecked, np.inf, "")


def first_correct(small):
    """The first call of `correct`, in a process of its own."""
    n = 300 if small else 1000
    drawn = np.random.default_rng(0).normal(size=(n, 100)).astype(np.float32)
    y = np.random.default_rng(1).normal(0.3, 1.3, n).astype(np.float32)

    def call(seed):
        return list(posthoc.correct(drawn, y, decisions.tilted(0.2), key=jax.random.key(seed)).report.held_out.values())

    return Race(f"{n} points of 100 draws", {OURS: Road(call)}, unchecked, np.inf, "")


RACES: dict[str, Callable] = {  # small -> Race; their titles stand in aims.py
    "vi schools": vi_schools,
    "vi logistic": vi_logistic,
    "lcvi step": lcvi_step,
    "reuse": reused_gradients,
    "lambert": lambert_values,
    "lambert density": lambert_density,
    "walk schools": chains("eight schools", "random walk"),
    "hmc schools": chains("eight schools", "HMC"),
    "walk tumours": chains("breast tumours", "random walk"),
    "hmc tumours": chains("breast tumours", "HMC"),
    "lda": lda,
    "many decisions": many_decisions(True),
    "many decisions, not convex": many_decisions(False),
    "first calibrate": first_calibrate,
    "first correct": first_correct,
}
