"""Time and peak memory of fit, calibrate, decide, correct and LDA as rows, dimensions and draws grow over three decades.

    python benchmarks/growth.py [--small]      # the same as python benchmarks/run.py --races growth

Each size has a process of its own. There the work is done once, which compiles it, and a second time, which is timed. Peak memory is the
resident set's highest mark at the end, less its mark once the libraries are imported: data, compilation and work. The exponent is the slope
of a straight line through the sizes on a log-log scale; in brackets stand the least and the greatest slope from one size to the next. That
of memory is of what lies beyond the smallest size's, where this is more than 16 MiB.
"""

import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/growth.py`


class Curve(NamedTuple):
    """One kind of work, and what grows in it."""

    title: str
    work: Callable  # size -> a call of a seed
    sizes: tuple[int, ...]


def mark():
    """The highest mark of this process's memory so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 2**10


def fitting(rows=1000, dim=10, samples=5):
    """Fifty steps of mean-field VI on a logistic regression."""
    import jax
    import optax

    from course_pkg import families, gradients, models
    from course_pkg.fit import Settings, fit

    keys = jax.random.split(jax.random.key(0))
    x = jax.random.normal(keys[0], (rows, dim))
    data = models.Rows(x, jax.random.bernoulli(keys[1], 0.5, (rows,)).astype(x.dtype))
    family, adam = families.mean_field_normal(), optax.adam(0.01)
    estimator = gradients.reparameterized(models.logistic_regression(dim, 1.0), family, samples)
    start, settings = family.init(dim, scale=0.1), Settings(progress=False, judge=False)
    return lambda seed: fit(jax.random.key(seed), estimator, adam, start, data, 50, settings).lam


def calibrating(rows=1000, draws=100):
    """A hundred steps each of plain and calibrated VI on a linear regression."""
    import jax
    import jax.numpy as jnp

    from course_pkg import decisions, lcvi, models

    keys = jax.random.split(jax.random.key(0))
    x = jax.random.normal(keys[0], (rows, 5))
    data = models.Rows(x, x.sum(axis=1) + jax.random.normal(keys[1], (rows,)))
    model, loss = models.linear_regression(5, 1.0, jnp.inf), decisions.tilted(0.2)
    objective = lcvi.Objective(predictive_draws=draws)
    quick = lcvi.Optimisation(steps=100, tolerance=None, progress=False)
    return lambda seed: lcvi.calibrate(jax.random.key(seed), model, data, loss, objective=objective, optimisation=quick).calibrated.risk


def deciding(rows=1000, draws=50):
    """Decisions for a loss that is not convex, and has no closed form."""
    import jax
    import jax.numpy as jnp

    from course_pkg.decisions import Loss, bayes_decision

    y = jax.random.normal(jax.random.key(0), (rows, draws))
    bump = Loss("bump", lambda y, h: 1 - jnp.exp(-((h - y) ** 2)))
    return lambda _: bayes_decision(bump, y)


def correcting(points=1000, draws=100):
    """Three hundred steps of a decision maker, from all points, and its report."""
    import jax
    import numpy as np

    from course_pkg import decisions, posthoc

    rng = np.random.default_rng(0)
    drawn, y = rng.normal(size=(points, draws)).astype(np.float32), rng.normal(0.3, 1.3, points).astype(np.float32)
    training = posthoc.Training(steps=300, restarts=1, held_out=0.0)
    options = posthoc.Options(axis=-1)
    told = {"nu": 0.0, "training": training, "options": options}
    return lambda seed: posthoc.correct(drawn, y, decisions.tilted(0.2), key=jax.random.key(seed), **told).decisions


def topics(documents=1000, words=1000, count=10):
    """Five rounds of coordinate ascent on documents of a hundred tokens."""
    import jax
    import numpy as np
    import scipy.sparse

    from course_pkg.vi import corpus, lda

    rng = np.random.default_rng(0)
    places = np.repeat(np.arange(documents), 100), rng.integers(words, size=100 * documents)
    made = corpus(scipy.sparse.coo_matrix((np.ones(100 * documents, int), places), (documents, words)).tocsr())
    return lambda seed: lda(jax.random.key(seed), made, count, iterations=5)


CURVES = {
    "fit rows": Curve("`fit`, rows", lambda n: fitting(rows=n), (10**3, 10**4, 10**5, 10**6)),
    "fit dimensions": Curve("`fit`, dimensions", lambda n: fitting(dim=n), (10, 10**2, 10**3, 10**4)),
    "fit draws": Curve("`fit`, draws a step", lambda n: fitting(samples=n), (1, 10, 10**2, 10**3)),
    "calibrate rows": Curve("`calibrate`, rows", lambda n: calibrating(rows=n), (10**2, 10**3, 10**4, 10**5)),
    "calibrate draws": Curve("`calibrate`, predictive draws", lambda n: calibrating(draws=n), (10, 10**2, 10**3, 10**4)),
    "decide rows": Curve("`bayes_decision`, rows", lambda n: deciding(rows=n), (10**3, 10**4, 10**5, 10**6)),
    "decide draws": Curve("`bayes_decision`, draws", lambda n: deciding(draws=n), (10, 10**2, 10**3, 10**4)),
    "correct points": Curve("`correct`, points", lambda n: correcting(points=n), (10**2, 10**3, 10**4, 10**5)),
    "correct draws": Curve("`correct`, draws", lambda n: correcting(draws=n), (10, 10**2, 10**3, 10**4)),
    "lda documents": Curve("`lda`, documents", lambda n: topics(documents=n), (10**2, 10**3, 10**4, 10**5)),
    "lda words": Curve("`lda`, words", lambda n: topics(words=n), (10**2, 10**3, 10**4, 10**5)),
    "lda topics": Curve("`lda`, topics", lambda n: topics(documents=200, count=n), (2, 20, 200, 2000)),
}
SMALL = ("fit rows", "decide rows", "lda documents")  # of which a trial takes the two smallest sizes


def measure(name, size):
    """Seconds and bytes of one size, in this process."""
    import jax

    import course_pkg.lcvi
    import course_pkg.posthoc
    import course_pkg.vi  # noqa: F401 - what is imported is no part of the work

    jax.block_until_ready(jax.random.normal(jax.random.key(0), (3,)))
    before = mark()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of runs as short as these
        call = CURVES[name].work(size)
        jax.block_until_ready(call(0))
        begin = time.perf_counter()
        jax.block_until_ready(call(1))
        took = time.perf_counter() - begin
    return {"seconds": took, "memory": mark() - before}


def curves(small, apart):
    """Name and rows of every curve; ``apart`` runs a size in a process of its own."""
    for name in SMALL if small else CURVES:
        sizes, found = CURVES[name].sizes[: 2 if small else None], []
        for size in sizes:
            row = apart("growth.py", "--one", name, str(size))
            if isinstance(row, str):
                print(f"{CURVES[name].title}: {size} was not run: {row}", flush=True)
                break
            found.append(row)
        if len(found) > 1:
            yield name, {"sizes": sizes[: len(found)]} | {key: [row[key] for row in found] for key in ("seconds", "memory")}


def main():
    """One size, or all of them."""
    from benchmarks import run

    if sys.argv[1:2] == ["--one"]:
        print(run.MARK + json.dumps(measure(sys.argv[2], int(sys.argv[3]))))
    else:
        run.main(["--races", "growth", *sys.argv[1:]])


if __name__ == "__main__":
    main()
