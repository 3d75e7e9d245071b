"""A million Bayes decisions by loss: this package beside NumPy's and SciPy's own road to the same decision."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy import optimize, special

from benchmarks.aims import OURS
from benchmarks.race import Race, Road
from course_pkg.decisions import Loss, bayes_decision, linex, risk, tilted

LOSSES = {
    "tilted": tilted(0.23),
    "LinEx": linex(1.0),
    "power": Loss("power", lambda y, h: jnp.abs(h - y) ** 1.5, convex=True),
    "bump": Loss("bump", lambda y, h: 1 - jnp.exp(-((h - y) ** 2))),
}
LOOKED_AT = np.linspace(-4.0, 4.0, 101)


def by_row(risk_at):
    """SciPy's bounded search for every row; it starts between the neighbours of the best of a hundred."""

    def decide(draws):
        found = np.empty(len(draws))
        for i, row in enumerate(draws):
            best = LOOKED_AT[np.argmin(risk_at(row, LOOKED_AT[:, None]))]
            found[i] = optimize.minimize_scalar(lambda h, row=row: risk_at(row, h), bounds=(best - 0.08, best + 0.08), method="bounded").x
        return found

    return decide


PEERS = {  # name, decide, and whether it goes row by row
    "tilted": ("numpy.quantile", lambda y: np.quantile(y, 0.23, axis=-1, method="inverted_cdf"), False),
    "LinEx": ("scipy.special.logsumexp", lambda y: np.log(y.shape[1]) - special.logsumexp(-y, axis=-1), False),
    "power": ("scipy.optimize, row by row", by_row(lambda y, h: (np.abs(h - y) ** 1.5).mean(axis=-1)), True),
    "bump": ("scipy.optimize, row by row", by_row(lambda y, h: (1 - np.exp(-((h - y) ** 2))).mean(axis=-1)), True),
}


def decisions_race(small, kind):
    """Decisions for all rows, or for as many as a road by rows is given; risks are compared on these."""
    rows, draws, some = (10_000 if small else 1_000_000), 50, (100 if small else 1000)
    loss, (peer, decide, slow) = LOSSES[kind], PEERS[kind]
    y = jax.random.normal(jax.random.key(0), (rows, draws))
    plain = np.asarray(y[:some] if slow else y)
    roads = {OURS: Road(lambda _: jax.block_until_ready(bayes_decision(loss, y)))}
    if kind in ("tilted", "LinEx"):
        numerical = Road(lambda _: jax.block_until_ready(bayes_decision(loss, y, method="numerical")))
        roads["this package, without the closed form"] = numerical
    roads[peer] = Road(lambda _: decide(plain), some / rows if slow else 1.0)

    def error(reached):
        risks = {name: risk(loss, y[:some], jnp.asarray(h[:some], y.dtype)) for name, h in reached.items()}
        best = jnp.min(jnp.stack(list(risks.values())), axis=0)
        return {name: float((value - best).max()) for name, value in risks.items()}

    return Race(f"{rows:,} rows of {draws} draws", roads, error, 1e-3, "largest risk beyond the best road's", (1e-9 * rows, "ns a row"))
