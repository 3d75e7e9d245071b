"""The chapter on corrections: what is nearly right must not pass, what is right in another way must, and what is said must be true."""

from itertools import product

import jax.numpy as jnp
import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.stats import norm

from course_pkg import posthoc
from tests.exercises import near_misses

CHAPTER = "posthoc/"

# What a fallback says about a small case that can be worked out by hand: the arguments, and what is said of them.
BY_HAND = {
    "single-quantile/level": [((0.5, 1.0, 3.0, 2.0), 0.691), ((0.9, 0.0, 2.0, 4.0), 0.739)],
    "single-quantile/choose": [
        ((np.array([0.2, 0.5, 0.8]), np.array([[0.0, 8, 12], [0, 11, 12], [0, 11, 12]]), np.full(3, 8.0), 0.25), 0.5),
    ],
    "characterise/points-first": [((np.array([[[7.0, 0], [1, 6]], [[5, 2], [3, 4]]]),), [[7, 1, 5, 3], [0, 6, 2, 4]])],
    "characterise/quantiles": [((np.array([[0.0, 12, 4]]), 3), [[2, 4, 8]])],
    "coherence/power": [((1.0, 8.0, 4.0, 0.25), (2, 3))],
    "coherence/coherent": [((1.0, 2.0, 5.0, 6.0), (4, 8))],
    "coherence/shares": [((2, 1 / 3), [3 / 13, 9 / 13])],
    "objective/objective": [((np.array([1.0, 3]), np.array([5.0, 2]), np.ones(2), np.array([2.0, 1]), 2.0), 4.5)],
    "objective/decision": [((np.array([3.0, 3]), np.ones(2), np.array([0.5, 1]), 2.0), [1.4, 2])],
    "bootstrap-prior/prior": [((np.array([[1.0], [12], [14]]),), ([9], [7]))],
    "bootstrap-prior/mean": [((np.array([0.0, 2.0]),), 0.707)],
    "nu/shift": [((np.array([2.0, 4, 9]), np.ones(3), 0.5, 2.0), 0.8)],
    "nu/risks": [
        ((np.array([1.0, 5, 8, 2, 10]), np.zeros(5), 1.0, np.array([0, 0, 0, 1, 2]), np.array([0.0, 2])), [[10, 16, 36], [11, 1, 64]])
    ],
    "nu/choose": [((np.array([1.0, 2, 0.5, 4]), np.array([[0, 3], [2, 1], [1.5, 1.5], [2, 1.01]])), 2)],
    "when-it-cannot-help/floor": [((np.array([0.0, 0, 0, 1]), np.array([1.0, 2, 6, 4])), 3.5)],
    "when-it-cannot-help/saving": [((2.0, 6.0, 8), 3.25)],
    "when-it-cannot-help/distance": [((np.array([3.0, 6]), np.array([1.0, 2]), np.array([1.0, 4])), np.sqrt(5 / 2))],
    "nine-in-ten/offset": [
        ((np.array([3.0, 1, 2, 5]), 0.7), 5),
        ((np.array([3.0, 1, 2, 5]), 0.5), 3),
        ((np.array([3.0, 1, 2, 5]), 0.9), np.inf),
    ],
    "nine-in-ten/coverage": [((4, 0.5), 0.6)],
    "nine-in-ten/orders": [
        ((np.zeros(5), np.array([9.0, 1, 3, 2, 9]), np.array([True, False, False, False, True]), np.array([10.0, 20]), 0.6), [13, 23]),
    ],
    "your-own/posterior": [
        ((np.array([2.0, 5]), np.array([21.0, 8]), np.array([True, False]), 0.5, 1.0), ([4, 8], np.array([[17, -8], [-8, 5]]) / 21)),
    ],
    "your-own/predictive": [((np.array([[1.0, 2], [0, 1]]), np.array([[1.0], [-1]]), np.array([5.0]), 3.0), [[14, 2]])],
    "your-own/saved": [((np.array([2.0, 6, 7]), np.array([1.0, 4, 1])), (3, 1.528))],
}


def _rank(scores, level, add=1, most=np.inf):
    k = int(np.ceil(level * (len(scores) + add)))
    return np.sort(scores)[k - 1] if k <= len(scores) else most


def _normal(prior, datum):
    return lambda mean, precision, y, a: (
        (prior(precision, a) * mean + datum(a) * y) / (prior(precision, a) + datum(a)),
        prior(precision, a) + datum(a),
    )


def _shares(prior, datum=lambda nu, k: nu**k):
    def answer(count, nu):
        weights = np.array([datum(nu, count - 1 - k) for k in range(count)])
        return weights / (weights.sum() + prior(nu, count))

    return answer


def _fold_risks(learn, average=np.mean, loss=np.square, centre=np.mean):
    def answer(y, h_q, sd, fold, nus):
        gap = y - h_q
        table = [
            [average(loss(gap[fold == k] - centre(gap[learn(fold, k)]) * 2 / (2 + nu / sd**2))) for k in np.unique(fold)] for nu in nus
        ]
        return np.array(table)

    return answer


def _tilted(y, h, q):
    return np.where(h <= y, q * (y - h), (1 - q) * (h - y))


def _resampled(times):
    rng = np.random.default_rng(0)
    return lambda y: y[rng.integers(0, len(y), (times, len(y)))].mean(axis=1).std()


def _line(x, y, train, noise_sd, prior_sd, *, mean_by=1.0, design=lambda x: np.column_stack([np.ones_like(x), x])):
    rows = design(x)[train]
    covariance = np.linalg.inv(rows.T @ rows / noise_sd**2 + np.eye(rows.shape[1]) / prior_sd**2)
    return covariance @ rows.T @ y[train] / noise_sd**2 * mean_by, covariance


def _centred(x, y, train, noise_sd, prior_sd):
    return _line(x - x[train].mean(), y, train, noise_sd, prior_sd)


def _levels(count):
    return np.arange(1, count + 1) / (count + 1)


def _one_standard_error(nus, risks, ddof):
    means = risks.mean(axis=1)
    best = means.argmin()
    return nus[means <= means[best] + risks[best].std(ddof=ddof) / risks.shape[1] ** 0.5].max()


def _simulated(times):
    def answer(shift, variance, n):
        rng = np.random.default_rng(0)
        learnt, y = rng.normal(shift, np.sqrt(variance / n), times), rng.normal(shift, np.sqrt(variance), times)
        return (y**2 - (y - learnt) ** 2).mean()

    return answer


NEAR_MISSES = [
    ("single-quantile/level", "the other tail", lambda q, b, t, s: 1 - norm.cdf((b + t * norm.ppf(q)) / s), ""),
    ("single-quantile/level", "no ppf", lambda q, b, t, s: norm.cdf((b + t * q) / s), "Not that level"),
    ("single-quantile/level", "the density", lambda q, b, t, s: norm.pdf((b + t * norm.ppf(q)) / s), "Not that level"),
    ("single-quantile/level", "q plus the shift", lambda q, b, t, s: q + b / s, "Not that level"),
    (
        "single-quantile/choose",
        "a level for each point",
        lambda v, h, y, q: v[_tilted(y[:, None], h, q).argmin(axis=1)],
        "to be one number",
    ),
    (
        "single-quantile/choose",
        "the most frequent",
        lambda v, h, y, q: v[np.bincount(_tilted(y[:, None], h, q).argmin(axis=1), minlength=len(v)).argmax()],
        "Not that level",
    ),
    (
        "single-quantile/choose",
        "no sign",
        lambda v, h, y, q: v[
            np.mean([[(q if a >= b else 1 - q) * (a - b) for b in row] for a, row in zip(y, h, strict=True)], axis=0).argmin()
        ],
        "negative cost",
    ),
    ("single-quantile/choose", "the worst loss", lambda v, h, y, q: v[_tilted(y[:, None], h, q).max(axis=0).argmin()], "Not that level"),
    ("single-quantile/choose", "the risks", lambda v, h, y, q: _tilted(y[:, None], h, q).mean(axis=0), "to be one number"),
    ("characterise/points-first", "rows in reverse", lambda d: d.reshape(-1, d.shape[-1]).T[::-1], "The order is turned round."),
    ("characterise/points-first", "sorted over the points", lambda d: np.sort(d.reshape(-1, d.shape[-1]), axis=1).T, "draws[:, :, n]"),
    ("characterise/points-first", "draws before points", lambda d: np.moveaxis(d, 0, -1), "shape"),
    ("characterise/points-first", "means", lambda d: d.mean(axis=(0, 1)), "shape"),
    *[
        ("characterise/quantiles", method, lambda d, c, m=method: np.quantile(d, _levels(c), axis=-1, method=m).T, "2, 4, 8")
        for method in ("weibull", "hazen", "median_unbiased")
    ],
    ("characterise/quantiles", "nearest", lambda d, c: np.quantile(d, _levels(c), axis=-1, method="nearest").T, "Not these quantiles"),
    ("characterise/quantiles", "twenty", lambda d, c: np.quantile(d, _levels(20), axis=-1).T, "shape"),
    ("characterise/quantiles", "high to low", lambda d, c: np.quantile(d, _levels(c), axis=-1).T[:, ::-1], "2, 4, 8"),
    ("characterise/quantiles", "all points", lambda d, c: np.array([np.quantile(d.ravel(), _levels(c))] * len(d)), "You threw all points"),
    ("coherence/power", "no precision", lambda m, p, y, nu: (nu * p * m + y) / (nu * p + 1), "Expected a tuple of 2 values"),
    ("coherence/power", "sd", lambda m, p, y, nu: ((nu * p * m + y) / (nu * p + 1), (nu * p + 1) ** -0.5), "The precision is off"),
    ("coherence/power", "plain mean", lambda m, p, y, nu: ((m + y) / 2, nu * p + 1), "The mean is off"),
    ("coherence/power", "nu added", _normal(lambda p, nu: p + nu, lambda nu: 1), "the mean becomes 2"),
    ("coherence/coherent", "one less the weight", _normal(lambda p, w: (1 - w) * p, lambda w: w), "the mean becomes 4"),
    ("coherence/coherent", "a root", _normal(lambda p, w: p, lambda w: w**0.5), "Your answer is right for other inputs"),
    ("coherence/coherent", "precision alone", lambda m, p, y, w: p + w, "Expected a tuple of 2 values"),
    ("coherence/shares", "prior once too often", _shares(lambda nu, n: nu ** (n + 1)), "3/13"),
    ("coherence/shares", "upside down", _shares(lambda nu, n: nu**-n, lambda nu, k: nu**-k), ""),
    ("coherence/shares", "falling by count", _shares(lambda nu, n: nu**n, lambda nu, k: 1 / (1 + k)), "3/13"),
    ("coherence/shares", "the prior's among them", lambda n, nu: nu ** np.arange(n, -1.0, -1), "shape"),
    ("coherence/shares", "the last alone", lambda n, nu: np.eye(n)[-1], "Your answer is right for other inputs"),
    ("objective/objective", "points", lambda l, h, m, s, nu: l + nu / 2 * ((h - m) / s) ** 2, "shape"),
    ("objective/objective", "N twice", lambda l, h, m, s, nu: l.mean() + nu / 2 * (((h - m) / s) ** 2).mean() / len(h), ""),
    ("objective/objective", "sd upside down", lambda l, h, m, s, nu: (l + nu / 2 * (h - m) ** 2 * s**2).mean(), "Your answer is right"),
    ("objective/objective", "losses alone", lambda l, h, m, s, nu: l.mean(), "Your answer is right for other inputs"),
    ("objective/decision", "precisions alone", lambda y, m, s, nu: (y + nu * m / s) / (1 + nu / s), "1.4 and 2"),
    ("objective/decision", "sd upside down", lambda y, m, s, nu: (2 * y + nu * s**2 * m) / (2 + nu * s**2), "Your answer is right"),
    ("bootstrap-prior/prior", "two too many", lambda d: (d.mean(0), d.std(0, ddof=2)), "The spread is off"),
    ("bootstrap-prior/prior", "all thrown together", lambda d: (d.mean(), d.std(ddof=1)), "shape"),
    ("bootstrap-prior/prior", "all in one", lambda d: (d.mean(0), np.repeat(d.std(ddof=1), d.shape[1])), "every point the same spread"),
    ("bootstrap-prior/prior", "swapped", lambda d: (d.std(0, ddof=1), d.mean(0)), "in the wrong order"),
    ("bootstrap-prior/prior", "covariance", lambda d: (d.mean(0), np.cov(d.T)), "shape"),
    ("bootstrap-prior/prior", "means alone", lambda d: d.mean(0), "Expected a tuple of 2 values"),
    ("bootstrap-prior/mean", "at random", _resampled(20_000), "Close, but not exact"),
    ("bootstrap-prior/mean", "three at random", _resampled(3), "Not that spread"),
    ("bootstrap-prior/mean", "all means", lambda y: np.array([np.mean(r) for r in product(y, repeat=len(y))]), "shape"),
    ("bootstrap-prior/mean", "root of the sum", lambda y: np.sqrt(((y - y.mean()) ** 2).sum()), "Off by how many there are: a mean for a"),
    ("nu/shift", "median", lambda y, h, s, nu: 2 * np.median(y - h) / (2 + nu / s**2), "it is 4/5"),
    ("nu/shift", "sum", lambda y, h, s, nu: 2 * (y - h).sum() / (2 + nu / s**2), "how many there are"),
    ("nu/shift", "each its own", lambda y, h, s, nu: 2 * (y - h) / (2 + nu / s**2), "shape"),
    ("nu/risks", "median learnt", _fold_risks(lambda f, k: f != k, centre=np.median), ""),
    ("nu/risks", "the first nu", lambda *case: np.tile(_fold_risks(lambda f, k: f != k)(*case)[0], (len(case[4]), 1)), "`nus` were 0"),
    ("nu/risks", "four folds", lambda *case: _fold_risks(lambda f, k: f != k)(*case[:3], np.minimum(case[3], 3), case[4]), "shape"),
    ("nu/risks", "one fold too few", lambda *case: _fold_risks(lambda f, k: f != k)(*case)[:, :-1], "shape"),
    ("nu/risks", "rows in reverse", lambda *case: _fold_risks(lambda f, k: f != k)(*case)[::-1], "The order is turned round."),
    *[("nu/choose", f"one standard error, {ddof}", lambda nus, r, ddof=ddof: _one_standard_error(nus, r, ddof), "") for ddof in (0, 1)],
    ("nu/choose", "the risk", lambda nus, r: r.mean(axis=1).min(), "Not that nu"),
    ("nu/choose", "all of them", lambda nus, r: nus[r.mean(axis=1) == r.mean(axis=1).min()], "shape"),
    ("when-it-cannot-help/floor", "spread of the means", lambda s, y: np.var([y[s == v].mean() for v in np.unique(s)]), "it is 3.5"),
    ("when-it-cannot-help/saving", "n + 1", lambda b, v, n: b**2 - v / (n + 1), "Your answer is right for other inputs"),
    ("when-it-cannot-help/saving", "simulated", _simulated(200_000), "Did you simulate"),
    ("when-it-cannot-help/saving", "simulated, 30", _simulated(30), "Not that saving"),
    ("when-it-cannot-help/saving", "times n", lambda b, v, n: b**2 - v * n, "Your answer is right for other inputs"),
    ("when-it-cannot-help/distance", "each", lambda h, q, s: np.abs(h - q) / s, "shape"),
    ("when-it-cannot-help/distance", "multiplied", lambda h, q, s: np.sqrt((((h - q) * s) ** 2).mean()), "one over it"),
    ("when-it-cannot-help/distance", "variances", lambda h, q, s: np.linalg.norm((h - q) / s**2) / len(h) ** 0.5, "`sd` were squared"),
    ("when-it-cannot-help/distance", "n - 1", lambda h, q, s: np.sqrt((((h - q) / s) ** 2).sum() / (len(h) - 1)), "5/2"),
    ("nine-in-ten/offset", "two more", lambda s, level: _rank(s, level, 2), "Not that score"),
    ("nine-in-ten/offset", "the largest where there is none", lambda s, level: _rank(s, level, most=s.max()), "No finite number"),
    ("nine-in-ten/offset", "NumPy's, higher", lambda s, level: np.quantile(s, level, method="higher"), "Not that score"),
    ("nine-in-ten/offset", "the rank", lambda s, level: np.ceil(level * (len(s) + 1)), "Not that score"),
    ("nine-in-ten/offset", "mean and spread", lambda s, level: s.mean() + norm.ppf(level) * s.std(), "Not that score"),
    ("nine-in-ten/coverage", "one more on both sides", lambda n, level: np.ceil(level * (n + 1)) / (n + 2), "Not that probability"),
    ("nine-in-ten/coverage", "at least", lambda n, level: max(level, n / (n + 1)), ""),
    ("nine-in-ten/coverage", "the next rank", lambda n, level: (np.floor(level * (n + 1)) + 2) / (n + 1), "Not that probability"),
    ("nine-in-ten/orders", "not sorted", lambda h, y, f, new, level: new + (y - h)[~f][0], "Not these orders"),
    ("nine-in-ten/orders", "without the one more", lambda h, y, f, new, level: new + _rank((y - h)[~f], level, 0), "one more"),
    (
        "nine-in-ten/orders",
        "the mean miss, too",
        lambda h, y, f, new, level: new + (y - h)[~f].mean() + _rank((y - h)[~f], level),
        "Not these",
    ),
    ("nine-in-ten/orders", "one number", lambda h, y, f, new, level: _rank((y - h)[~f], level), "shape"),
    ("nine-in-ten/orders", "demands", lambda h, y, f, new, level: new + _rank(y[~f], level), "Your answer is right for other inputs"),
    ("your-own/posterior", "mean scaled", lambda *case: _line(*case, mean_by=case[3] ** 2), "The mean is off"),
    ("your-own/posterior", "prior's variance", lambda *case: _line(*case[:4], 1 / case[4]), "Your answer is right for other inputs"),
    ("your-own/posterior", "centred", _centred, "Not that posterior"),
    ("your-own/posterior", "no intercept", lambda *case: _line(*case, design=lambda x: x[:, None]), "shape"),
    ("your-own/posterior", "variances", lambda *case: (_line(*case)[0], np.diag(_line(*case)[1])), "shape"),
    ("your-own/posterior", "mean alone", lambda *case: _line(*case)[0], ""),
    ("your-own/predictive", "intercept left out", lambda t, e, x, s: (t[:, 1:] * x + s * e).T, "[[14, 2]]"),
    ("your-own/predictive", "slope left out", lambda t, e, x, s: (t[:, :1] + 0 * x + s * e).T, "Your answer is right for other inputs"),
    ("your-own/predictive", "reshaped", lambda t, e, x, s: (t[:, :1] + t[:, 1:] * x + s * e).reshape(len(x), -1), "Turn the array"),
    ("your-own/predictive", "a root", lambda t, e, x, s: (t[:, :1] + t[:, 1:] * x + s**0.5 * e).T, "`noise_sd` were replaced by its root"),
    ("your-own/saved", "medians", lambda a, b: (np.median(a - b), (a - b).std(ddof=1) / len(a) ** 0.5), "The saving is off"),
    ("your-own/saved", "summed", lambda a, b: ((a - b).sum(), (a - b).std(ddof=1) * len(a) ** 0.5), "how many there are"),
    ("your-own/saved", "saving summed", lambda a, b: ((a - b).sum(), (a - b).std(ddof=1) / len(a) ** 0.5), "The saving is off"),
    ("your-own/saved", "shares", lambda a, b: (1 - b.mean() / a.mean(), (a - b).std(ddof=1) / len(a) ** 0.5 / a.mean()), "of the old risk"),
    *[
        ("your-own/saved", f"times {z}", lambda a, b, z=z: ((a - b).mean(), z * (a - b).std(ddof=1) / len(a) ** 0.5), "factor of 1.")
        for z in (1.96, 1.645)
    ],
    ("your-own/saved", "n - 1 twice", lambda a, b: ((a - b).mean(), (a - b).std(ddof=1) / (len(a) - 1) ** 0.5), "The standard error is"),
    ("your-own/saved", "swapped", lambda a, b: ((a - b).std(ddof=1) / len(a) ** 0.5, (a - b).mean()), "in the wrong order"),
    ("your-own/saved", "points", lambda a, b: (a - b, 0.0), "shape"),
    ("your-own/saved", "no error", lambda a, b: (a - b).mean(), "Expected a tuple of 2 values"),
]


def _quantile_by_hand(draws, count):
    out = []
    for row in draws.tolist():
        row.sort()
        out.append([])
        for level in _levels(count):
            place = level * (len(row) - 1)
            low = min(int(place), len(row) - 2)
            out[-1].append(row[low] + (place - low) * (row[low + 1] - row[low]))
    return out


def _by_updates(count, nu):
    def last(ys):
        mean, precision = 0.0, 1.0
        for y in ys:
            mean, precision = (nu * precision * mean + y) / (nu * precision + 1), nu * precision + 1
        return mean

    return [last([float(j == k) for j in range(count)]) for k in range(count)]


def _on_the_package_s_grid(update):
    def answer(mean, precision, y, strength):
        eta = np.linspace(-15, 15, 6_001)
        belief = posthoc.belief_on_grid(eta, -0.5 * precision * (eta - mean) ** 2)
        after = update(belief, lambda y, eta: 0.5 * (y - eta) ** 2, np.array([y]), strength)
        return float(after.mean), float(after.sd) ** -2

    return answer


def _numerically(y, mu, sd, nu):
    return minimize(lambda h: ((h - y) ** 2).mean() + nu / 2 * (((h - mu) / sd) ** 2).mean(), mu, tol=1e-12).x


def _all_resamples(y):
    return np.std([np.mean(rows) for rows in product(y, repeat=len(y))])


def _risks_with_delete(y, h_q, sd, fold, nus):
    table = {}
    for k in sorted(set(fold.tolist())):
        out = np.flatnonzero(fold == k)
        gap = np.delete(y, out) - np.delete(h_q, out)
        for i, nu in enumerate(nus):
            b = gap.mean() * sd**2 / (sd**2 + nu / 2)
            table[i, k] = np.mean([(y[n] - h_q[n] - b) ** 2 for n in out])
    return [[table[i, k] for k in range(fold.max() + 1)] for i in range(len(nus))]


def _by_solve(x, y, train, noise_sd, prior_sd):
    rows = jnp.stack([jnp.ones(int(train.sum())), jnp.asarray(x[train])], axis=1)
    precision = rows.T @ rows + (noise_sd / prior_sd) ** 2 * jnp.eye(2)
    return jnp.linalg.solve(precision, rows.T @ jnp.asarray(y[train])), noise_sd**2 * jnp.linalg.inv(precision)


def _one_row_at_a_time(x, y, train, noise_sd, prior_sd):
    precision, pull = np.eye(2) / prior_sd**2, np.zeros(2)
    for a, b, used in zip(x, y, train, strict=True):
        if used:
            row = np.array([1.0, a])
            precision, pull = precision + np.outer(row, row) / noise_sd**2, pull + row * b / noise_sd**2
    return np.linalg.solve(precision, pull), np.linalg.inv(precision)


LEGITIMATE = [
    ("single-quantile/level", "SciPy's normals", lambda q, b, t, s: norm(0, s).cdf(norm(b, t).ppf(q))),
    ("single-quantile/level", "JAX", lambda q, b, t, s: jnp.asarray(norm.cdf((b + t * norm.ppf(q)) / s))),
    ("single-quantile/choose", "sums", lambda v, h, y, q: v[np.argmin(_tilted(y[:, None], h, q).sum(axis=0))]),
    ("single-quantile/choose", "a key", lambda v, h, y, q: min(range(len(v)), key=lambda k: _tilted(y, h[:, k], q).mean()) * 0.05 + 0.05),
    ("single-quantile/choose", "JAX", lambda v, h, y, q: jnp.asarray(v)[jnp.argmin(jnp.asarray(_tilted(y[:, None], h, q)).mean(axis=0))]),
    (
        "single-quantile/choose",
        "maximum",
        lambda v, h, y, q: v[np.maximum(q * (y[:, None] - h), (q - 1) * (y[:, None] - h)).sum(0).argmin()],
    ),
    ("characterise/points-first", "transposed", lambda d: d.reshape(-1, d.shape[-1]).T),
    ("characterise/points-first", "all turned", lambda d: d.T.reshape(d.shape[-1], -1)),
    ("characterise/points-first", "stacked", lambda d: np.concatenate(list(d)).T),
    ("characterise/points-first", "side by side", lambda d: np.hstack([chain.T for chain in d])),
    ("characterise/points-first", "lists", lambda d: [d[:, :, n].ravel().tolist() for n in range(d.shape[-1])]),
    ("characterise/points-first", "JAX", lambda d: jnp.moveaxis(jnp.asarray(d), -1, 0).reshape(d.shape[-1], -1)),
    ("characterise/points-first", "einsum", lambda d: np.einsum("cdn->ncd", d).reshape(d.shape[-1], -1)),
    ("characterise/quantiles", "by hand", _quantile_by_hand),
    ("characterise/quantiles", "the package's", posthoc.characterize),
    ("characterise/quantiles", "linspace", lambda d, c: np.quantile(d, np.linspace(0, 1, c + 2)[1:-1], axis=1).T),
    ("characterise/quantiles", "percentiles", lambda d, c: np.percentile(d, 100 * _levels(c), axis=-1).T),
    ("characterise/quantiles", "rows", lambda d, c: np.stack([np.quantile(row, _levels(c)) for row in d])),
    ("characterise/quantiles", "JAX", lambda d, c: jnp.quantile(jnp.asarray(d), jnp.asarray(_levels(c)), axis=-1).T),
    ("characterise/quantiles", "pandas", lambda d, c: pd.DataFrame(d.T).quantile(_levels(c)).to_numpy().T),
    ("coherence/power", "the package's", _on_the_package_s_grid(posthoc.power_prior_update)),
    ("coherence/power", "as a pull", lambda m, p, y, nu: [m + (y - m) / (nu * p + 1), nu * p + 1]),
    ("coherence/coherent", "the package's", _on_the_package_s_grid(posthoc.coherent_update)),
    ("coherence/coherent", "an array", lambda m, p, y, w: np.array([np.average([m, y], weights=[p, w]), p + w])),
    ("coherence/shares", "update by update", _by_updates),
    ("coherence/shares", "multiplied", lambda n, nu: np.cumprod(np.r_[1.0, np.full(n - 1, nu)])[::-1] / sum(nu**k for k in range(n + 1))),
    ("coherence/shares", "JAX", lambda n, nu: (w := nu ** jnp.arange(n)[::-1]) / (w.sum() + nu**n)),
    (
        "objective/objective",
        "a loop",
        lambda l, h, m, s, nu: sum(a + nu * (b - c) ** 2 / (2 * d * d) for a, b, c, d in zip(l, h, m, s, strict=True)) / len(h),
    ),
    ("objective/objective", "JAX", lambda l, h, m, s, nu: jnp.mean(jnp.asarray(l) + nu * (jnp.asarray(h) - m) ** 2 / (2 * s**2))),
    (
        "objective/objective",
        "densities",
        lambda l, h, m, s, nu: l.mean() - nu * (norm.logpdf(h, m, s) - norm.logpdf(m, m, s)).mean(),
    ),
    ("objective/decision", "numerically", _numerically),
    (
        "objective/decision",
        "precisions",
        lambda y, m, s, nu: [(2 * a + nu * b / c**2) / (2 + nu / c**2) for a, b, c in zip(y, m, s, strict=True)],
    ),
    ("objective/decision", "JAX", lambda y, m, s, nu: m + (jnp.asarray(y) - m) / (1 + nu / (2 * s**2))),
    ("bootstrap-prior/prior", "NumPy's", lambda d: (d.mean(axis=0), d.std(axis=0, ddof=1))),
    ("bootstrap-prior/prior", "an array", lambda d: np.stack([d.mean(axis=0), np.sqrt(np.diag(np.cov(d.T)))])),
    ("bootstrap-prior/prior", "pandas", lambda d: [pd.DataFrame(d).mean(), pd.DataFrame(d).std()]),
    ("bootstrap-prior/prior", "JAX", lambda d: (jnp.mean(d, axis=0), jnp.std(jnp.asarray(d), axis=0, ddof=1))),
    ("bootstrap-prior/mean", "all resamples", _all_resamples),
    ("bootstrap-prior/mean", "NumPy's", lambda y: np.std(y) / len(y) ** 0.5),
    ("nu/shift", "one over", lambda y, h, s, nu: np.mean(y - h) / (1 + nu / (2 * s**2))),
    ("nu/shift", "sums", lambda y, h, s, nu: 2 * (y - h).sum() / (2 * len(y) + len(y) * nu / s**2)),
    ("nu/shift", "JAX", lambda y, h, s, nu: jnp.mean(jnp.asarray(y - h)) * 2 * s**2 / (2 * s**2 + nu)),
    ("nu/risks", "np.delete and lists", _risks_with_delete),
    ("nu/risks", "JAX", lambda *case: jnp.asarray(_fold_risks(lambda f, k: f != k)(*case))),
    ("nu/choose", "np.isclose", lambda nus, r: max(nus[np.isclose(r.mean(axis=1), r.mean(axis=1).min())])),
    ("nu/choose", "sorted", lambda nus, r: nus[np.argsort(-nus)][np.argmin(r[np.argsort(-nus)].mean(axis=1))]),
    ("nu/choose", "sums", lambda nus, r: float(max(nu for nu, row in zip(nus, r, strict=True) if row.sum() == r.sum(axis=1).min()))),
    ("nu/choose", "JAX", lambda nus, r: jnp.where(jnp.asarray(r).mean(1) == jnp.asarray(r).mean(1).min(), jnp.asarray(nus), -1.0).max()),
    ("when-it-cannot-help/floor", "pandas", lambda s, y: ((y - pd.Series(y).groupby(s).transform("mean")) ** 2).mean()),
    ("when-it-cannot-help/floor", "law of total variance", lambda s, y: y.var() - np.var([y[s == v].mean() for v in s])),
    ("when-it-cannot-help/floor", "weighted", lambda s, y: sum((s == v).mean() * y[s == v].var() for v in set(s))),
    ("when-it-cannot-help/floor", "point by point", lambda s, y: np.mean([(b - y[s == a].mean()) ** 2 for a, b in zip(s, y, strict=True)])),
    ("when-it-cannot-help/saving", "the two risks", lambda b, v, n: (b**2 + v) - (v + v / n)),
    ("when-it-cannot-help/distance", "the package's", lambda h, q, s: posthoc.fidelity(h, q, s).root_mean_square),
    ("when-it-cannot-help/distance", "a norm", lambda h, q, s: np.linalg.norm((h - q) / s) / len(h) ** 0.5),
    ("when-it-cannot-help/distance", "JAX", lambda h, q, s: jnp.sqrt(jnp.mean(jnp.square((jnp.asarray(h) - q) / s)))),
    ("nine-in-ten/offset", "the package's", posthoc.conformal_quantile),
    ("nine-in-ten/offset", "one more, infinite", lambda s, level: np.quantile([*s, np.inf], level, method="inverted_cdf")),
    ("nine-in-ten/offset", "JAX", lambda s, level: jnp.sort(jnp.append(jnp.asarray(s), jnp.inf))[int(np.ceil(level * (len(s) + 1))) - 1]),
    ("nine-in-ten/coverage", "the least rank", lambda n, level: min(k for k in range(1, n + 2) if k >= level * (n + 1)) / (n + 1)),
    ("nine-in-ten/coverage", "what is above", lambda n, level: 1 - np.floor((1 - level) * (n + 1)) / (n + 1)),
    ("nine-in-ten/orders", "the package's", lambda h, y, f, new, level: new + posthoc.conformal_quantile((y - h)[~f], level)),
    ("nine-in-ten/orders", "JAX", lambda h, y, f, new, level: jnp.asarray(new) + _rank((y - h)[np.flatnonzero(~f)], level)),
    ("your-own/posterior", "JAX", _by_solve),
    ("your-own/posterior", "one row at a time", _one_row_at_a_time),
    ("your-own/predictive", "matrices", lambda t, e, x, s: np.column_stack([np.ones_like(x), x]) @ t.T + s * e.T),
    (
        "your-own/predictive",
        "lists",
        lambda t, e, x, s: [[a + b * z + s * c for (a, b), c in zip(t, e[:, n], strict=True)] for n, z in enumerate(x)],
    ),
    ("your-own/predictive", "JAX", lambda t, e, x, s: jnp.outer(x, t[:, 1]) + t[:, 0][None, :] + s * jnp.asarray(e).T),
    ("your-own/saved", "covariance", lambda a, b: (a.mean() - b.mean(), np.sqrt(np.cov(a, b).ravel() @ [1, -1, -1, 1] / len(a)))),
    ("your-own/saved", "JAX", lambda a, b: jnp.stack([jnp.mean(a - b), jnp.std(jnp.asarray(a - b), ddof=1) / len(a) ** 0.5])),
]


SHEETS = (
    "single-quantile",
    "characterise",
    "coherence",
    "objective",
    "bootstrap-prior",
    "nu",
    "when-it-cannot-help",
    "your-own",
    "nine-in-ten",
)
test_answers = near_misses.trial(CHAPTER, NEAR_MISSES, LEGITIMATE, BY_HAND, sheets=SHEETS)
