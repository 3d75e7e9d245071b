"""Importance-sampled gradients beside plain SGD, as published: until plain SGD's ELBO at the end of its run is reached.

``benchmarks/is_gradients.py`` tells the whole story, in half an hour; this is its first row.
"""

import jax
import numpy as np

from benchmarks import is_gradients
from benchmarks.aims import OURS
from benchmarks.race import Race, Road
from course_pkg.is_gradients import published

DECAY, LAST = 0.9**0.01, 130  # of the published run


def reuse_race(small):
    """How many steps it takes is found first, then these are timed."""
    problem = published.regression(**(is_gradients.SMALL if small else {}))
    table = is_gradients.methods(problem)

    def run(name, steps):
        return is_gradients.trajectory(problem, table[name], 0, steps, problem.rate, DECAY, np.inf)

    target = run("SGD", LAST)[-1][3]
    count = next((row[0] for row in run("ISGD", 10 * LAST) if row[3] >= target), 10 * LAST)

    def road(name, steps):
        method = table[name]

        def call(seed):
            carry = is_gradients.begin(problem, method.estimator, seed)
            chunk = (method.estimator, method.adam, steps, jax.random.key(seed), 0, problem.rate, DECAY)
            return jax.block_until_ready(is_gradients.advance(*chunk, carry, problem.data))[0][0]

        return Road(call)

    best = is_gradients.best_elbo(problem, [])
    error = lambda reached: {name: (best - problem.elbo(lam)) / (best - target) - 1 for name, lam in reached.items()}
    roads = {OURS: road("ISGD", count), "plain SGD": road("SGD", LAST)}
    size = f"linear regression, {len(problem.data.y):,} rows, {count} steps against {LAST}"
    return Race(size, roads, error, 0.5, "gap to the optimum beyond SGD's, as a share of it", (1e-3, "ms"))
