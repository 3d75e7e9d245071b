"""Loss-calibrated variational inference: what a calibrated step costs beside a plain one, and the eight-schools figure as a whole.

    python benchmarks/lcvi.py --schools
    python benchmarks/lcvi.py --table [--repeats 5]

The races' factorisation: 20 factors, minibatches of 100 rows, 10 draws of the factors, 30 outcomes for each where they are drawn.
``--schools`` times 10 seeds of the eight-schools figure, plain and calibrated, 30,000 steps each; ``--table`` the decisions of Table 4.2,
from as many starts as ``--repeats`` says.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/lcvi.py`

from benchmarks.aims import OURS
from benchmarks.race import Race, Road, unchecked
from course_pkg import data, decisions, families, gradients, lcvi, models
from course_pkg.decisions import bayes_decision
from course_pkg.fit import Settings, fit
from course_pkg.lcvi import Pair, calibrated, drawn_outcome, exponential, linearised, networks, normal_outcome
from course_pkg.lcvi.factors import factor_estimator, random_start
from course_pkg.lcvi.published import eight_schools_run


def fast_roads(table):
    """The step that touches only its minibatch."""
    squared, tilted = decisions.squared(), decisions.tilted(0.2)
    options = {"samples": 10}
    estimators = {
        "plain": factor_estimator(None, **options),
        "squared, exponential, closed form": factor_estimator(exponential(squared, 1.0), **options),
        "tilted, linearised, closed form": factor_estimator(linearised(tilted, 1.0), **options),
        "tilted, linearised, on half the draws": factor_estimator(linearised(tilted, 1.0), utility_samples=5, **options),
        "tilted, exponential, table": factor_estimator(exponential(tilted, 1.0), draws="table", **options),
        "tilted, exponential, naive, 30 outcomes": factor_estimator(exponential(tilted, 1.0), draws=30, **options),
    }
    start = random_start(jax.random.key(0), *table.value.shape, 20)
    return {n: (e, start if n != "plain" else start._replace(h=()), 4 if "naive" in n else 1) for n, e in estimators.items()}


def general_roads(table):
    """The step of any model, on minibatches of rows."""
    rows, columns = table.value.shape
    model, family = models.matrix_factorization(rows, columns, 20, row_sd=10.0, column_sd=10.0), families.mean_field_normal()
    u, options = exponential(decisions.tilted(0.2), 1.0), {"samples": 10}
    terms = {
        "any model, closed form": normal_outcome(model.reading.moments, u),
        "any model, 8 even outcomes": drawn_outcome(model, u, 8),
        "any model, naive, 30 outcomes": drawn_outcome(model, u, 30, even=False),
    }
    plain = gradients.minibatch(gradients.reparameterized(model, family, 10, entropy="closed form"), 100)
    roads = {"any model, plain": (plain, family.init(model.dim, scale=1.0), 1)}
    start = Pair(family.init(model.dim, scale=1.0), jnp.zeros((rows, columns)))
    for name, term in terms.items():
        roads[name] = gradients.minibatch(calibrated(model, family, term, **options), 100), start, 4 if "naive" in name else 1
    return roads


def step_race(small, kind):
    """Steps of the factorisation of the listening counts, each objective beside the naive estimator's."""
    table, steps, adam = data.lastfm().table, (8 if small else 100), optax.adam(0.01)
    naive = {"fast": "tilted, exponential, naive, 30 outcomes", "general": "any model, naive, 30 outcomes"}[kind]
    found = {"fast": fast_roads, "general": general_roads}[kind]

    def road(estimator, start, fewer):
        count = max(steps // fewer, 2)

        def call(seed):
            run = fit(jax.random.key(seed), estimator, adam, start, table, count, Settings(progress=False, judge=False))
            return run.objective[:2].mean()

        return Road(call, count / steps)

    def against_draws(reached):
        """The roads to the same objective as the naive one's."""
        same = ("tilted, exponential, table", "any model, closed form", "any model, 8 even outcomes")
        return {name: abs(float(value / reached[naive] - 1)) if name in same else None for name, value in reached.items()}

    roads = {name: road(*parts) for name, parts in found(table).items()}
    size = f"{table.value.shape[0]} by {table.value.shape[1]} listening counts, 20 factors, 10 draws, 100 rows a step"
    return Race(size, roads, against_draws, 0.01, "share of the objective, from the naive estimator's", (1e-3 * steps, "ms a step"))


def first_race(_):
    """`calibrate` in a process that has compiled nothing."""
    known, model = data.schools(), models.eight_schools()
    quick = lcvi.Optimisation(steps=1000, rate=0.05, tolerance=None, progress=False)

    def call(seed):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # so few steps end before they have converged
            return lcvi.calibrate(jax.random.key(seed), model, known, decisions.tilted(0.2), optimisation=quick).calibrated.risk

    return Race("eight schools, 1,000 steps", {OURS: Road(call)}, unchecked, np.inf, "")


def schools():
    """Seconds for the eight-schools figure."""
    table = data.schools()
    for calibrate in (False, True):  # compile
        eight_schools_run(jax.random.key(99), table, calibrate=calibrate, iterations=1000)
    begin = time.perf_counter()
    for seed in range(10):
        for calibrate in (False, True):
            eight_schools_run(jax.random.key(seed), table, calibrate=calibrate)
    print(f"eight schools, 10 seeds, plain and calibrated, 30,000 steps each: {time.perf_counter() - begin:.1f} s")


def table_of_decisions(starts):
    """Decisions for many points of a cubic with noise that grows, tilted loss with q = 0.2: solved from 50 draws, and by a network.

    Every start has draws and a network of its own, the points of a size are the same.
    """
    loss, z = decisions.tilted(0.2), float(jax.scipy.stats.norm.ppf(0.2))
    centre = lambda x: x[:, 0] ** 3 - x[:, 0]
    width = lambda x: 0.5 + 0.25 * jnp.abs(x[:, 0])
    predict = jax.jit(lambda key, x, n: centre(x) + width(x) * jax.random.normal(key, (n, x.shape[0])), static_argnums=2)
    print(
        f"{'points':>9}{'start':>7}{'solved: s':>12}{'excess risk':>14}{'network: s':>12}{'excess risk':>14}"
        "  (theirs: 0.04, 0.42, 3.44, 39.3 s; 4.4 s)"
    )
    for size in (10**3, 10**4, 10**5, 10**6):
        x = jax.random.uniform(jax.random.key(size), (size, 1), minval=-2.0, maxval=2.0)
        bayes_decision(loss, jnp.zeros((size, 50)), method="numerical")  # compile
        for start in range(starts):
            blocks = zip(jax.random.split(jax.random.key(100 + start), -(-size // 10**5)), range(0, size, 10**5), strict=True)
            y = jnp.concatenate([predict(key, x[i : i + 10**5], 50).T for key, i in blocks])
            times, found = [], []
            for solve in (
                lambda y=y: bayes_decision(loss, y, method="numerical"),
                lambda x=x, start=start: networks.decide_with(
                    networks.amortise(jax.random.key(start), predict, x, loss, training=networks.NetworkTraining(steps=2000)), x
                ),
            ):
                begin = time.perf_counter()
                found.append(jax.block_until_ready(solve()))
                times.append(time.perf_counter() - begin)
            # expected tilted loss of a normal in closed form, beyond the best
            excess = [float(jnp.mean(_tilted_risk((h - centre(x)) / width(x)) * width(x) - _tilted_risk(z) * width(x))) for h in found]
            print(f"{size:>9}{start:>7}{times[0]:>12.2f}{excess[0]:>14.5f}{times[1]:>12.2f}{excess[1]:>14.5f}", flush=True)


def _tilted_risk(d, q=0.2):
    return jax.scipy.stats.norm.pdf(d) + d * (jax.scipy.stats.norm.cdf(d) - q)


def main():
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--schools", action="store_true")
    parser.add_argument("--table", action="store_true")
    settings = parser.parse_args()
    if settings.schools:
        schools()
    if settings.table:
        table_of_decisions(settings.repeats)


if __name__ == "__main__":
    main()
