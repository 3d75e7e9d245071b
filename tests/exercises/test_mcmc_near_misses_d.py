"""Trading places: what is nearly right must not pass, what is right in another way must."""

import numpy as np

from tests.exercises import near_misses

CHAPTER = "mcmc/"
SHEETS = ("trading-places",)


def _a(*numbers):
    return np.array(numbers, dtype=float)


def _all_at_once(x, ell, beta, first, coins):
    """Without a loop, by the probabilities."""
    k = np.arange(first, len(x) - 1, 2)
    went = coins < np.exp(np.minimum(0, (beta[k] - beta[k + 1]) * (ell[k + 1] - ell[k])))
    order = np.arange(len(x))
    order[k[went]] += 1
    order[k[went] + 1] -= 1
    return x[order]


def _barker(x, ell, beta, first, coins):
    new = x.copy()
    for k, coin in zip(range(first, len(x) - 1, 2), coins, strict=True):
        r = np.exp((beta[k] - beta[k + 1]) * (ell[k + 1] - ell[k]))
        if coin < r / (1 + r):
            new[k], new[k + 1] = x[k + 1], x[k]
    return new


def _every_neighbour(x, ell, beta, first, coins):
    new, ell = x.copy(), ell.copy()
    for k, coin in zip(range(first, len(x) - 1), coins, strict=False):
        if np.log(coin) < (beta[k] - beta[k + 1]) * (ell[k + 1] - ell[k]):
            new[[k, k + 1]], ell[[k, k + 1]] = new[[k + 1, k]], ell[[k + 1, k]]
    return new


def _integral(ell, beta):
    return float(np.trapezoid(ell.mean(axis=1)[::-1], beta[::-1]))


def _bridge_both(ell, beta):
    """Half by the hotter rung's draws, half by the colder's."""
    up = sum(np.log(np.mean(np.exp((b - c) * row))) for b, c, row in zip(beta, beta[1:], ell[1:], strict=False))
    down = sum(-np.log(np.mean(np.exp((c - b) * row))) for b, c, row in zip(beta, beta[1:], ell, strict=False))
    return (up + down) / 2


def _by_logaddexp(ell, beta):
    return sum(np.logaddexp.reduce((b - c) * row) - np.log(row.size) for b, c, row in zip(beta, beta[1:], ell[1:], strict=False))


BY_HAND = {
    "trading-places/swap": [((_a(1, 2, 3, 4), _a(0, -1, -3, 1), _a(1, 0.5, 0.2, 0), 0, _a(0.6, 0.9)), _a(2, 1, 4, 3))],
    "trading-places/evidence": [((_a([0, 1], [0, 2]), _a(1, 0)), 1.4338)],
}
WRONG = [
    ("trading-places/swap", "Barker's rule", _barker, "Not that round"),
    ("trading-places/swap", "every neighbour in turn", _every_neighbour, "Not that round"),
    ("trading-places/evidence", "the integral of the means by trapezes", _integral, "Not that"),
    ("trading-places/evidence", "both ways, halved", _bridge_both, "Not that"),
]
RIGHT = [
    ("trading-places/swap", "all at once", _all_at_once),
    ("trading-places/evidence", "by logaddexp", _by_logaddexp),
]
test_near_misses = near_misses.trial(CHAPTER, WRONG, RIGHT, BY_HAND, sheets=SHEETS)
