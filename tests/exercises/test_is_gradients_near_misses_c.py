"""Kept noise: what is nearly right must not pass, what is right in another way must."""

from fractions import Fraction

import jax.numpy as jnp
import numpy as np

from tests.exercises import near_misses

CHAPTER = "is_gradients/"
SHEETS = ("kept-noise",)


def _a(*numbers):
    return np.array(numbers, dtype=float)


BY_HAND = {
    "kept-noise/optimum": [((_a(0, 4), 3.0, 1.0), (2.0, 0.5))],
    "kept-noise/enough": [((_a([2, 0], [-2, 0], [0, 1], [0, -1]), _a([1, 0], [0, 2]), 0.2), 6)],
    "kept-noise/climb": [((_a(1, 1), _a(4, 0), [0, 0, 1], _a(0, 1, 0), 0.5, 0.0), _a(2, 2.5, 2))],
}


def _saga(step, first=0.0):
    """A run whose step is made of the answer, the table, the block and the step's number."""

    def answer(a, c, order, noise, rate, x):
        table, path = np.full(len(a), first), []
        for t, b in enumerate(order):
            g = a[b] * (c[b] - x) + noise[t]
            x, table[b] = x + rate * step(g, table, b, t), g
            path.append(x)
        return np.array(path)

    return answer


def _running_mean(a, c, order, noise, rate, x):
    table, mean, path = [0.0] * len(a), 0.0, []
    for b, xi in zip(order, noise, strict=True):
        g = float(a[b] * (c[b] - x) + xi)
        x += rate * (g - table[b] + mean)
        mean += (g - table[b]) / len(a)
        table[b] = g
        path.append(x)
    return path


def _fractions(eps, m, s):
    noise = [Fraction(float(e)) for e in eps]
    mean = sum(noise) / len(noise)
    spread = float(sum((e - mean) ** 2 for e in noise) / len(noise)) ** 0.5
    return m - s / spread * float(mean), s / spread


def _parts(slopes, curvature, nats):
    gap = slopes - slopes.mean(axis=0)
    return -(-np.einsum("ki,ij,kj->", gap, np.linalg.inv(curvature), gap) // (2 * len(slopes) * nats))


def _one(slopes, curvature):
    return np.trace(np.linalg.inv(curvature) @ np.cov(slopes.T, ddof=0)) / 2


WRONG = [
    ("kept-noise/optimum", "the median of the noise", lambda e, m, s: (m - s / e.std() * np.median(e), s / e.std()), ""),
    ("kept-noise/optimum", "the posterior's own", lambda e, m, s: (m, s), ""),
    ("kept-noise/optimum", "the mean alone", lambda e, m, s: m - s / e.std() * e.mean(), ""),
    ("kept-noise/optimum", "exchanged", lambda e, m, s: (s / e.std(), m - s / e.std() * e.mean()), ""),
    ("kept-noise/optimum", "absolute deviations", lambda e, m, s: (m - s / e.std() * e.mean(), s / abs(e - e.mean()).mean()), ""),
    ("kept-noise/enough", "not rounded", lambda g, H, nats: _one(g, H) / nats, ""),
    ("kept-noise/enough", "rounded to the nearest, one more", lambda g, H, nats: int(_one(g, H) / nats) + 2, "Not that number"),
    ("kept-noise/enough", "a half for each parameter", lambda g, H, nats: int(np.ceil(len(H) / 2 / nats)), "Not that number"),
    ("kept-noise/enough", "the product of the traces", lambda g, H, nats: int(np.ceil(np.trace(np.cov(g.T)) / np.trace(H) / 2 / nats)), ""),
    ("kept-noise/climb", "the table's last row first", _saga(lambda g, table, b, t: g - table[b - 1] + table.mean()), "Not that climb"),
    ("kept-noise/climb", "the sum of the table", _saga(lambda g, table, b, t: g - table[b] + table.sum()), ""),
    ("kept-noise/climb", "the mean of the others", _saga(lambda g, table, b, t: g - table[b] + np.delete(table, b).mean()), ""),
    ("kept-noise/climb", "a first row of ones", _saga(lambda g, table, b, t: g - table[b] + table.mean(), 1.0), ""),
    ("kept-noise/climb", "the last place", lambda *case: _running_mean(*case)[-1], "shape"),
    ("kept-noise/climb", "with the start", lambda *case: np.array([case[-1], *_running_mean(*case)[:-1]]), ""),
]
RIGHT = [
    ("kept-noise/optimum", "fractions", _fractions),
    ("kept-noise/optimum", "JAX", lambda e, m, s: (m - s * jnp.mean(e) / jnp.std(e), s / jnp.std(e))),
    ("kept-noise/enough", "quadratic forms", _parts),
    ("kept-noise/enough", "an inverse", lambda g, H, nats: np.ceil(_one(g, H) / nats)),
    ("kept-noise/climb", "a running mean", _running_mean),
]
test_near_misses = near_misses.trial(CHAPTER, WRONG, RIGHT, BY_HAND, sheets=SHEETS)
