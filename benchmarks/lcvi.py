"""Loss-calibrated variational inference: what a calibrated step costs beside a plain one, and the eight-schools figure as a whole.

    python benchmarks/lcvi.py [--steps 100] [--repeats 5] [--schools] [--table]

The factorisation of the listening counts: 20 factors, minibatches of 100 rows, 10 draws of the factors, 30 outcomes for each where they
are drawn. All roads are compiled first, then timed in turn; ratios are medians of the ratios to the plain step of the same round.
``--schools`` times 10 seeds of the eight-schools figure, plain and calibrated, 30,000 steps each; ``--table`` the decisions of Table 4.2,
from as many starts as ``--repeats`` says.
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

from course_pkg import data, decisions, families, gradients, models
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


def race(roads, table, steps, repeats):
    """Milliseconds a step of every road, in turn, and their ratios to the first."""
    optimizer, seconds = optax.adam(0.01), {name: [] for name in roads}
    for repeat in range(repeats + 1):
        for name, (estimator, start, fewer) in roads.items():
            count = max(steps // fewer, 5)
            begin = time.perf_counter()
            fit(jax.random.key(repeat), estimator, optimizer, start, table, count, Settings(progress=False, judge=False))
            if repeat:
                seconds[name].append((time.perf_counter() - begin) / count)
    first = np.array(next(iter(seconds.values())))
    for name, times in seconds.items():
        print(f"{name:<44}{1e3 * np.median(times):>10.2f} ms a step{np.median(np.array(times) / first):>9.2f}")


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
    """Time every road and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--schools", action="store_true")
    parser.add_argument("--table", action="store_true")
    settings = parser.parse_args()
    if settings.schools:
        schools()
    if settings.table:
        table_of_decisions(settings.repeats)
    if settings.schools or settings.table:
        return
    table = data.lastfm().table
    print(f"{'road':<44}{'time':>10}{'':>10}{'ratio':>9}")
    race(fast_roads(table), table, settings.steps, settings.repeats)
    print()
    race(general_roads(table), table, settings.steps, settings.repeats)


if __name__ == "__main__":
    main()
