"""The projects of chapters 5 to 8: what is nearly right must not pass, what is right in another way must."""

import jax
import jax.numpy as jnp
import numpy as np

from tests.exercises import near_misses


def _a(*numbers):
    return np.array(numbers, dtype=float)


# Chapter 7


def _slope_by_jax(q, X, y, noise, h, c, gamma, live=False):
    """The bound as it stands, and JAX; `live` decides anew for the moved draws."""

    def bound(m, omega):
        s = jnp.exp(omega)
        gap = jnp.asarray(h)[None] - (m[None] + s[None] * noise[0]) @ X.T - noise[1]
        if live:
            gap = gap - jnp.log(jnp.mean(jnp.exp(c * gap), axis=0))[None] / c
        loss = jnp.sum(jnp.exp(c * gap) - c * gap - 1) / len(gap)
        fit = jnp.sum((y - X @ m) ** 2) + jnp.sum(X**2 @ s**2)
        return -(fit + m @ m + s @ s) / 2 + omega.sum() - gamma * loss

    with jax.enable_x64(True):
        return jax.grad(bound, argnums=(0, 1))(jnp.asarray(q[0]), jnp.asarray(q[1]))


def _orders_by_another_mean(q, X, y, X_new, c):
    mean, sd = X_new @ q[0], np.hypot(1, np.sqrt(X_new**2 @ np.exp(q[1]) ** 2))
    return mean - sd**2 * c / 2, mean - (np.logaddexp.reduce(c * (X @ q[0] - y)) - np.log(len(y))) / c


def _orders_on_new_rows(q, X, y, X_new, c):
    """The number chosen for the width at the fitted rows."""
    own = X_new @ q[0] - c * (1 + X_new**2 @ np.exp(2 * q[1])) / 2
    return own, X_new @ q[0] - c * np.mean(1 + X**2 @ np.exp(2 * q[1])) / 2


def _naive_saving(old, new, n_train):
    d = (old - new).ravel()
    return d.mean(), d.std(ddof=1) / len(d) ** 0.5


def _saving_by_moments(old, new, n_train):
    each = np.mean(old, axis=1) - np.mean(new, axis=1)
    return each.mean(), np.std(each) * np.sqrt(1 / (len(each) - 1) * (1 + len(each) * old.shape[1] / n_train))


LCVI_BY_HAND = {
    "did-it-help/decide": [((_a([0, 1], [2, 1]), 1.0), _a(0.566, 1))],
    "did-it-help/slope": [
        (((_a(0), _a(0)), _a([1]), _a(1), (_a([1]), _a([0])), _a(0), 1.0, 2.0), (_a(-0.264), _a(-2.264))),
    ],
    "did-it-help/orders": [(((_a(2), _a(0)), _a([1], [1]), _a(2, 4), _a([1]), 1.0), (_a(1), _a(2.566)))],
    "did-it-help/saving": [((_a([2, 4], [5, 5]), _a([1, 3], [2, 2]), 4), (2, 1.4142))],
    "did-it-help/sentence": [(((0.5, 0.2), (0.3, 0.2)), 1)],
}
LCVI_WRONG = [
    ("did-it-help/decide", "the second order", lambda y, c: y.mean(axis=0) - c * y.var(axis=0) / 2, "Not those decisions"),
    ("did-it-help/decide", "a quantile", lambda y, c: np.quantile(y, 0.3, axis=0), "Not those decisions"),
    ("did-it-help/slope", "decided anew", lambda *case: _slope_by_jax(*case, live=True), "Not that slope"),
    ("did-it-help/slope", "turned over", lambda *case: _slope_by_jax(*case)[::-1], "in the wrong order"),
    ("did-it-help/orders", "a number by q", _orders_on_new_rows, "The control is off"),
    ("did-it-help/saving", "all rows as one sample", _naive_saving, "The error is off"),
    ("did-it-help/sentence", "the mean alone", lambda saved, over: int(np.sign(saved[0])) * (1 + (over[0] > 0)), "Not that sentence"),
]
LCVI_RIGHT = [
    ("did-it-help/decide", "row by row", lambda y, c: [-(np.logaddexp.reduce(-c * row) - np.log(row.size)) / c for row in y.T]),
    ("did-it-help/slope", "by JAX", _slope_by_jax),
    ("did-it-help/orders", "by logaddexp", _orders_by_another_mean),
    ("did-it-help/saving", "by moments", _saving_by_moments),
    (
        "did-it-help/sentence",
        "t values",
        lambda saved, over: (t := saved[0] / saved[1]) and (1 + (over[0] / over[1] > 2)) * (t > 2) - (t < -2),
    ),
]
test_lcvi = near_misses.trial("lcvi/", LCVI_WRONG, LCVI_RIGHT, LCVI_BY_HAND, sheets=("did-it-help",))
