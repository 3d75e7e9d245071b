"""The projects of chapters 5 to 8: what is nearly right must not pass, what is right in another way must."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import wrightomega
from scipy.stats import norm

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


# Chapter 8


def _shift_by_scipy(y, mean, sd, level, nu):
    loss = lambda a: np.mean(np.maximum(level * (y - mean - a * sd), (level - 1) * (y - mean - a * sd))) + nu * a**2 / 2
    return minimize_scalar(loss, bracket=(-1, 1), tol=1e-12).x


def _shift_by_weights(y, mean, sd, level, nu):
    """Without the prior: a quantile with weights."""
    order = np.argsort((y - mean) / sd)
    return ((y - mean) / sd)[order][np.searchsorted(np.cumsum(sd[order]), level * sd.sum())]


def _held_out_by_masks(shift, y, mean, sd, fold, level, nu):
    a = np.zeros(len(y))
    for k in set(fold.tolist()):
        a[fold == k] = shift(*(part[fold != k] for part in (y, mean, sd)), level, nu)
    gap = y - mean - a * sd
    return gap * (level - (gap < 0))


def _mean_of_numbers(shift, y, mean, sd, fold, level, nu):
    """One number for all: the mean of the folds'."""
    a = np.mean([shift(y[fold != k], mean[fold != k], sd[fold != k], level, nu) for k in np.unique(fold)])
    gap = y - mean - a * sd
    return np.where(gap > 0, level, level - 1) * gap


def _choose_by_loop(nus, losses, old):
    rows = [old, *losses]
    best = rows[int(np.argmin([row.mean() for row in rows]))]
    good = [nu for nu, row in zip([np.inf, *nus], rows, strict=True) if (row - best).mean() <= np.std(row - best, ddof=1) / len(old) ** 0.5]
    return max(good)


def _choose_against_the_engine(nus, losses, old):
    """The largest that is clearly better than the engine."""
    d = old - losses
    clear = d.mean(axis=1) > d.std(axis=1, ddof=1) / len(old) ** 0.5
    return nus[clear].max() if clear.any() else np.inf


_mean_of_y = lambda y, mean, sd, level, nu: np.mean(y)
_nus, _losses = _a(1, 0.1), _a([1, 2, 3], [1, 1, 3.2])
POSTHOC_BY_HAND = {
    "correct-or-leave/prior": [((_a([[0, 1, 2]], [[2, 3, 6]]), 0.5), (_a(2), _a(1.4142)))],
    "correct-or-leave/shift": [((_a(4), _a(0), _a(2), 0.9, 1.0), 1.8)],
    "correct-or-leave/held-out": [((_mean_of_y, _a(0, 2, 4), _a(0, 0, 0), _a(1, 1, 1), np.array([0, 0, 1]), 0.5, 1.0), _a(2, 1, 1.5))],
    "correct-or-leave/saved": [((_a(2, 4), _a(1, 3), np.array([[0, 0], [0, 1], [1, 1]])), (0.3333, 0.2583, 0.4833))],
    "correct-or-leave/choose": [((_nus, _losses, _a(2, 3, 3.5)), 1.0), ((_nus, _losses, _a(2, 1, 3.1)), np.inf)],
}
POSTHOC_WRONG = [
    (
        "correct-or-leave/prior",
        "a robust spread",
        lambda d, level: (np.quantile(d, level, axis=2).mean(axis=0), np.ptp(np.quantile(d, level, axis=2), axis=0) / 2),
        "The spread is off",
    ),
    ("correct-or-leave/shift", "a weighted quantile", _shift_by_weights, "The prior pulls at nothing"),
    ("correct-or-leave/held-out", "one number for all folds", _mean_of_numbers, "Not those losses"),
    (
        "correct-or-leave/saved",
        "halves of the interval exchanged",
        lambda old, new, i: (1 - new.mean() / old.mean(), *np.quantile(1 - new[i].mean(axis=1) / old[i].mean(axis=1), [0.95, 0.05])),
        "The lower end and the upper end are off",
    ),
    ("correct-or-leave/choose", "clearly better than the engine", _choose_against_the_engine, "Set each against the best"),
]
POSTHOC_RIGHT = [
    (
        "correct-or-leave/prior",
        "refit by refit",
        lambda d, level: (lambda h: (sum(h) / len(h), np.sqrt(np.var(h, axis=0) * len(h) / (len(h) - 1))))(
            [np.percentile(refit, 100 * level, axis=1) for refit in d]
        ),
    ),
    ("correct-or-leave/shift", "by SciPy", _shift_by_scipy),
    ("correct-or-leave/held-out", "by masks", _held_out_by_masks),
    (
        "correct-or-leave/saved",
        "sums",
        lambda old, new, i: (1 - sum(new) / sum(old), *np.percentile([1 - new[row].sum() / old[row].sum() for row in i], (5, 95))),
    ),
    ("correct-or-leave/choose", "a loop", _choose_by_loop),
]
test_posthoc = near_misses.trial("posthoc/", POSTHOC_WRONG, POSTHOC_RIGHT, POSTHOC_BY_HAND, sheets=("correct-or-leave",))


# Chapter 6


def _back_by_omega(x, gamma):
    with np.errstate(divide="ignore"):
        return x + gamma - wrightomega(np.log(gamma) + x + gamma)


def _back_by_chance(x, gamma):
    """Fixed-point steps, which run away for large skews."""
    z = np.array(x)
    for _ in range(200):
        z = x - gamma * np.expm1(np.minimum(z, 50))
    return z


def _fit_by_profile(y, log_density):
    """A grid of skews, and two parameters at each."""

    def best(gamma, start):
        return minimize(lambda at: -np.mean(log_density(y, at[0], np.exp(at[1]), gamma)), start, method="Nelder-Mead")

    found = {gamma: best(gamma, (np.median(y), np.log(y.std()) - gamma / 2)) for gamma in (0.0, 0.3, 1.0, 2.5)}
    start = min(found, key=lambda gamma: found[gamma].fun)
    line = minimize_scalar(lambda gamma: best(gamma, found[start].x).fun, bounds=(0, max(0.2, 4 * start)), method="bounded")
    gamma = 0.0 if found[0.0].fun <= line.fun else line.x
    mu, a = best(gamma, found[start].x).x
    return [mu, np.exp(a), gamma]


def _fit_by_moments(y, log_density):
    """The skew from the mean's place above the median."""
    gap = max(y.mean() - np.median(y), 0) / y.std()
    gamma = gap / 0.6487
    sigma = y.std() / np.hypot(1 + gamma, gamma)
    return np.median(y), sigma, gamma


def _cost_by_sum(h, mu, sigma, gamma, over, under, back):
    z = norm.ppf((np.arange(400_000) + 0.5) / 400_000)
    y = mu + sigma * (z + gamma * np.expm1(z))
    return np.where(y > h, under * (y - h), over * (h - y)).mean()


def _cost_of_the_normal(h, mu, sigma, gamma, over, under, back):
    mean, sd = mu + sigma * gamma * np.expm1(0.5), sigma * np.sqrt(1 + 2 * gamma * np.exp(0.5) + gamma**2 * (np.exp(2) - np.e))
    d = (h - mean) / sd
    return sd * ((over + under) * (norm.pdf(d) + d * norm.cdf(d)) - under * d)


SKEW = "a-skew-of-your-own"
LAMBERTW_BY_HAND = {
    f"{SKEW}/back": [((_a(0, 2.71828183), 1.0), _a(0, 1))],
    f"{SKEW}/density": [((_a(2), 2.0, 0.5, 1.0, _back_by_omega), _a(-0.9189))],
    f"{SKEW}/order": [((2.0, 3.0, 5.0, 1.0, 1.0), 2)],
    f"{SKEW}/cost": [((0.0, 0.0, 1.0, 1.0, 1.0, 1.0, _back_by_omega), 1.9235)],
}
LAMBERTW_WRONG = [
    (f"{SKEW}/back", "fixed points", _back_by_chance, "Not that origin"),
    (
        f"{SKEW}/density",
        "the density",
        lambda y, m, s, g, back: norm.pdf(z := back((y - m) / s, g)) / s / (1 + g * np.exp(z)),
        "the exponential",
    ),
    (f"{SKEW}/fit", "moments", _fit_by_moments, ("Not the top", "Close, but not exact")),
    (
        f"{SKEW}/order",
        "two moments",
        lambda m, s, g, o, u: m + s * (g * 0.6487 + norm.ppf(u / (o + u)) * np.hypot(1 + g, g)),
        "Not that order",
    ),
    (f"{SKEW}/cost", "a normal with these moments", _cost_of_the_normal, "Not that cost"),
]
LAMBERTW_RIGHT = [
    (f"{SKEW}/back", "Wright's omega", _back_by_omega),
    (
        f"{SKEW}/density",
        "one quotient",
        lambda y, m, s, g, back: [float(-(z**2) / 2 - np.log(np.sqrt(2 * np.pi) * (s + s * g * np.exp(z)))) for z in back((y - m) / s, g)],
    ),
    (f"{SKEW}/fit", "by profile", _fit_by_profile),
    (f"{SKEW}/order", "another name", lambda m, s, g, o, u: m - s * g + s * (z := -norm.ppf(o / (o + u))) + s * g * np.exp(z)),
    (f"{SKEW}/cost", "a sum", _cost_by_sum),
]
test_lambertw = near_misses.trial("lambertw/", LAMBERTW_WRONG, LAMBERTW_RIGHT, LAMBERTW_BY_HAND, sheets=(SKEW,), random=(f"{SKEW}/fit",))


# Chapter 5


def _weigh_by_softmax(then, now):
    w = jax.nn.softmax(jnp.asarray(now - then))
    return w, 1 / (len(then) * float(jnp.sum(w**2)))


def _weigh_clipped(then, now):
    w = np.minimum(np.exp(now - then), 1.5)
    return w / w.sum(), w.sum() ** 2 / (len(w) * (w @ w))


def _path_gradient(theta, slopes, w, mu, omega):
    """Without the score: another estimate of the same slopes."""
    s = slopes + (theta - mu) * np.exp(-2 * omega)
    return w @ s, w @ (s * (theta - mu))


def _by_leaving_out(f, w):
    """The jackknife, which is near."""
    M = len(f)
    out = [(w @ f - w[m] * f[m]) / (1 - w[m]) for m in range(M)]
    return (M - 1) * (np.mean(out) - w @ f)


def _climb_by_records(slope, start, rates, noise, least, weigh, gradient, late=False):
    """A cache of three; `late` asks for the share after the step, and so with draws that are one step older."""
    place, old, cache, places, asked = np.array(start), None, None, [], np.zeros(len(rates), dtype=int)
    for t, rate in enumerate(rates):
        density = lambda theta, at: -(((theta - at[0]) / np.exp(at[1])) ** 2) / 2 - at[1]
        w, share = (None, 0.0) if cache is None else weigh(cache[2], density(cache[0], old if late else place))
        if cache is None or share < least:
            theta = place[0] + np.exp(place[1]) * noise[t]
            cache, w = (theta, slope(theta), density(theta, place)), np.ones(len(theta)) / len(theta)
            asked[t:] += len(theta)
        old = place
        place = place + rate * np.array(gradient(cache[0], cache[1], w, *place))
        places.append(place)
    return places, asked


def _choose_by_loop(gaps, asked, budget):
    at = np.array([[g[n <= budget][-1] for g, n in zip(*rule, strict=True)] for rule in zip(gaps, asked, strict=True)])
    t = [(at[0] - row).mean() / max(np.std(at[0] - row, ddof=1), 1e-12) * len(row) ** 0.5 for row in at]
    k = int(np.argmin(at.sum(axis=1)))
    return k if t[k] > 2 else 0


def _choose_the_surest(gaps, asked, budget):
    """The largest t value, not the least gap."""
    at = np.array([[g[n <= budget][-1] for g, n in zip(*rule, strict=True)] for rule in zip(gaps, asked, strict=True)])
    d = at[0] - at[1:]
    t = d.mean(axis=1) / d.std(axis=1, ddof=1) * d.shape[1] ** 0.5
    return int(t.argmax()) + 1 if t.max() > 2 else 0


_flat = (
    np.ones_like,
    (0.0, 0.0),
    _a(1, 1),
    _a([1, -1], [1, -1]),
    0.99,
    lambda *logs: tuple(np.asarray(part) for part in _weigh_by_softmax(*logs)),
    lambda theta, s, w, mu, omega: (s @ w, (s * (theta - mu)) @ w + 1),
)
_gaps, _asked = _a([[9, 5], [8, 7]], [[7, 3], [2.5, 6.9]]), np.array([[[1, 2], [1, 2]], [[1, 1], [1, 2]]])
PRICE_BY_HAND = {
    "true-price/weigh": [((_a(-1, -1), _a(-1, -2.09861229)), (_a(0.75, 0.25), 0.8))],
    "true-price/gradient": [((_a(1, 3), _a(2, -1), _a(0.5, 0.5), 1.0, 0.0), (0.5, 0))],
    "true-price/bias": [((_a(0, 4), _a(0.75, 0.25)), 0.375)],
    "true-price/climb": [(_flat, (_a([1, 1], [2, 2]), _a(2, 4)))],
    "true-price/choose": [((_gaps, _asked, 1), 1), ((_gaps, _asked, 2), 0)],
}
PRICE_WRONG = [
    ("true-price/weigh", "clipped", _weigh_clipped, "Right in the small case"),
    ("true-price/gradient", "the path derivative", _path_gradient, "Not those two"),
    ("true-price/bias", "the jackknife", _by_leaving_out, "Not that bias"),
    ("true-price/climb", "a share that is a step old", lambda *case: _climb_by_records(*case, late=True), ""),
    ("true-price/choose", "the surest", _choose_the_surest, ""),
]
PRICE_RIGHT = [
    ("true-price/weigh", "softmax", _weigh_by_softmax),
    (
        "true-price/gradient",
        "a standardised noise",
        lambda theta, g, w, mu, omega: (
            np.average(g, weights=w),
            np.average(g * (theta - mu) / np.exp(omega), weights=w) * np.exp(omega) + 1,
        ),
    ),
    ("true-price/bias", "two moments", lambda f, w: (w @ f) * (w @ w) - (w**2) @ f),
    ("true-price/climb", "a cache of three", _climb_by_records),
    ("true-price/choose", "t values", _choose_by_loop),
]
test_is_gradients = near_misses.trial("is_gradients/", PRICE_WRONG, PRICE_RIGHT, PRICE_BY_HAND, sheets=("true-price",))
