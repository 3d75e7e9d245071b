"""The project's tasks: answers that are nearly right, right ones in another form, and small cases worked out by hand."""

import jax.numpy as jnp
import numpy as np
from scipy.special import softmax
from scipy.stats import norm

from course_pkg.decisions import bayes_action
from tests.exercises import near_misses

CHAPTER = "capstone/your-prices/"
LOSS = [[0.0, 4.0], [1.0, 1.0], [3.0, 0.0]]  # of three actions at two draws


def _costs(level, price, leaves, fan, test):
    nothing, remedied = price * level, fan + price * np.minimum(level, leaves)
    least = np.minimum(nothing, remedied)
    return np.stack([nothing - least, np.full(np.shape(level), test), remedied - least])


def _weighed(y, z, sd, cost, **axis):
    risk = (softmax(norm.logpdf(z, y, sd), **axis) * cost).sum(axis=1)
    return risk.argmin(axis=0), risk.min(axis=0)


def _by_package(y, z, sd, cost):
    w = softmax(-0.5 * ((z - y) / sd) ** 2, axis=0)
    draws = jnp.arange(len(y)).astype(float)

    def of(n):
        loss = lambda s, a: jnp.asarray(cost[:, :, n])[jnp.asarray(a).astype(int), s.astype(int)]
        return int(bayes_action(loss, draws, jnp.arange(3), w[:, n]))

    action = np.array([of(n) for n in range(len(z))])
    return action, (w * cost).sum(axis=1)[action, np.arange(len(z))]


def _told(cost, action, ideal, error):
    n = range(len(action))
    d = np.array([cost[a, k] - cost[b, k] for a, b, k in zip(action, ideal, n, strict=True)])
    return 1000 * d.mean(), error(d)


def _saved(y, w, cost, sd, t):
    later = [(softmax(np.log(w) + norm.logpdf(read, y, sd)) * cost).sum(axis=1).min() for read in t]
    return (w * cost).sum(axis=1).min() - np.mean(later)


NEAR_MISSES = [
    ("regrets", "costs", lambda v, p, k, f, t: np.stack([p * v, t + np.minimum(p * v, f), f + p * np.minimum(v, k)]), "Not those regrets"),
    (
        "decide",
        "one draw nearest",
        lambda y, z, sd, c: (k := abs(y - z).argmin(0), c[:, k, np.arange(len(z))].min(0))[::1],
        "Not that decision",
    ),
    ("decide", "weights over all", lambda y, z, sd, c: _weighed(y, z, sd, c), ""),
    ("beside", "the error of 1,000 houses", lambda c, a, b: _told(c, a, b, lambda d: 1000**0.5 * d.std(ddof=1)), "Error is off"),
    ("worth", "the price taken off", lambda *case: _saved(*case) - 20, "Off by -20"),
]
LEGITIMATE = [
    ("regrets", "costs less the least", _costs),
    ("regrets", "JAX", lambda v, p, k, f, t: jnp.asarray(_costs(v, p, k, f, t))),
    ("decide", "softmax", lambda *case: _weighed(*case, axis=0)),
    ("decide", "the package's", _by_package),
    ("beside", "covariance", lambda c, a, b: _told(c, a, b, lambda d: 1000 * np.sqrt(np.cov(d) / len(d)))),
    ("worth", "result by result", _saved),
    ("worth", "JAX", lambda *case: jnp.asarray(_saved(*case))),
]
BY_HAND = {
    "regrets": [((np.array([1.0, 3.0, 9.0]), 1000.0, 2.0, 2000.0, 100.0), ([[0, 0, 5000], [100] * 3, [2000, 1000, 0]],))],
    "decide": [((np.array([[0.0], [2.0]]), np.array([2.0]), 1.0, np.array(LOSS)[:, :, None]), ([2], [0.3576]))],
    "beside": [
        ((np.array([[0.0, 5, 0], [1, 1, 1], [2, 0, 3]]), np.array([0, 1, 1]), np.array([1, 1, 2])), (-1000, 577.3503)),
    ],
    "worth": [((np.array([0.0, 2.0]), np.array([0.5, 0.5]), np.array(LOSS), 1.0, np.array([0.0, 2.0])), 0.5828)],
}


test_answers = near_misses.trial(CHAPTER, NEAR_MISSES, LEGITIMATE, BY_HAND, sheets=("",))
