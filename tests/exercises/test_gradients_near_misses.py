"""Flows and tighter bounds: what is nearly right must not pass, what is right in another way must."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy import special, stats

from tests.exercises import near_misses

CHAPTER = "gradients/"
SHEETS = ("tighter",)


def _a(*numbers):
    return np.array(numbers, dtype=float)


def _by_jax(log_w, slopes):
    """The derivative along each parameter of the logarithm of the mean weight."""
    log_mean = lambda move: jax.nn.logsumexp(jnp.asarray(log_w) + jnp.asarray(slopes) @ move)
    with jax.enable_x64(True):
        return np.asarray(jax.grad(log_mean)(jnp.zeros(slopes.shape[1])))


def _median_weight(log_w, slopes):
    return (special.softmax(log_w)[:, None] * slopes).mean(axis=0) * 2


BY_HAND = {
    "tighter/density": [((_a([2, 8]), 0.0, np.log(2), 1.0), _a(-2.5 - np.log(2 * np.pi) - 2 * np.log(2)))],
    "tighter/gradient": [((_a(0, np.log(2), 0), _a([1], [2], [4])), _a(2.25))],
    "tighter/doubly": [((_a(0, np.log(3)), _a([1], [2])), _a(19 / 16))],
}
WRONG = [
    (
        "tighter/density",
        "scale at the second coordinate",
        lambda x, a, b, c: stats.norm.logpdf(x[:, 0]) + stats.norm.logpdf(x[:, 1], c * x[:, 0] ** 2, np.exp(a + b * x[:, 1])),
        "Not that density",
    ),
    (
        "tighter/density",
        "shift without its square",
        lambda x, a, b, c: stats.norm.logpdf(x[:, 0]) + stats.norm.logpdf(x[:, 1], c * x[:, 0], np.exp(a + b * x[:, 0])),
        "Not that density",
    ),
    ("tighter/gradient", "twice the mean of weighted slopes", _median_weight, "Not that gradient"),
    ("tighter/gradient", "tempered shares", lambda w, s: special.softmax(w / 2) @ s, "Not that gradient"),
    ("tighter/doubly", "shares of the squares", lambda w, t: special.softmax(2 * w) @ t, "You made the squares add up to one"),
    ("tighter/doubly", "share times its complement", lambda w, t: (special.softmax(w) * (1 - special.softmax(w))) @ t, "Not that gradient"),
]
RIGHT = [
    (
        "tighter/density",
        "a conditional normal",
        lambda x, a, b, c: (
            stats.norm.logpdf(x[:, 0]) + stats.norm.logpdf((x[:, 1] - c * x[:, 0] ** 2) / np.exp(a + b * x[:, 0])) - a - b * x[:, 0]
        ),
    ),
    ("tighter/gradient", "in jax", _by_jax),
    ("tighter/gradient", "softmax", lambda w, s: (special.softmax(w)[:, None] * s).sum(axis=0)),
    ("tighter/doubly", "softmax", lambda w, t: np.exp(2 * special.log_softmax(w)) @ t),
]
test_near_misses = near_misses.trial(CHAPTER, WRONG, RIGHT, BY_HAND, sheets=SHEETS)
