"""The last sheets on importance-sampled gradients: what is nearly right must not pass, what is right in another way must."""

import math
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from scipy.stats import norm

from course_pkg import families
from course_pkg.is_gradients import effective_size, importance_weights
from tests.exercises import near_misses

CHAPTER = "is_gradients/"
SHEETS = ("sag", "threshold", "is-nine-real")
INF = np.inf


def _a(*numbers):
    return np.array(numbers, dtype=float)


# What a fallback says about a small case that can be worked out by hand: the arguments, and what is said of them.
BY_HAND = {
    "sag/path": [((_a([1, 3], [6, 6], [9, 9]), [0, 1, 0], 0.5, 0.0), [1, 2.75, 3.8125])],
    "sag/moments": [((_a(1, 9), _a(0, 2)), (2, 2.25))],
    "sag/direction": [
        ((_a([0, 2], [1, 3], [0, 4]), _a([1, 3], [2, 6], [5, 5]), _a(1, 1, 0), _a(1, 2, 1), 1.0, 1.0, 0.5), 29.881),
    ],
    "threshold/pace": [((9.0, 1.0, 2 / 3), 2.5)],
    "threshold/agreement": [((_a([1, 2, 3, 0], [5, 1, 2, 4], [3, -6, -1, -1], [2, -1, 5, -3]),), 0.25)],
    "threshold/choose": [
        (
            (
                _a(0, 0.5, 0.9),
                _a([20, INF], [40, 40], [50, 50]),
                _a([5, INF], [20, 16], [50, 45]),
                1.0,
                0.5,
                60.0,
            ),
            0.0,
        )
    ],
    "is-nine-real/seconds": [
        ((np.array([2, 4, 6, 8, 10]), np.array([1, 1, 1, 2, 3]), _a(9, 6, 7, 5, 8), 6.0, 10.0, 1.0), 14),
        ((np.array([2, 4, 6, 8, 10]), np.array([1, 1, 1, 2, 3]), _a(9, 6, 7, 5, 8), 1.0, 10.0, 1.0), INF),
    ],
    "is-nine-real/gain": [((_a([90, 80, 70], [30, 36, 60], [50, 40, 45]), _a([21, 12, 18], [5, INF, INF], [9, 10, INF])), 3.6)],
    "is-nine-real/fresh": [
        (
            (
                _a([10, 33, 90, 41, 42, 44, INF], [30, 34, 36, 50, 58, 60, 90]),
                _a([9, 13, 8, 4, 5, 6, 9], [2, INF, INF, 7, 7, 6, 6]),
                3,
            ),
            43 / 5.5,
        )
    ],
}


def _sag(step, *, slope=lambda rows, x: rows.mean() - x):
    """A run whose step is made of the table so far, the number of batches, the step's number and x."""

    def answer(batches, order, rate, x):
        table, path = {}, []
        for t, b in enumerate(order):
            table[b] = slope(batches[b], x)
            x = x + rate * step(table, len(batches), t, b)
            path.append(x)
        return np.array(path)

    return answer


def _mean(table, *_):
    return np.mean(list(table.values()))


def _added_again(batches, order, rate, x):
    """A running sum from which the old gradient is never taken away."""
    total, seen, path = 0.0, set(), []
    for b in order:
        total, seen = total + batches[b].mean() - x, seen | {b}
        x = x + rate * total / len(seen)
        path.append(x)
    return np.array(path)


def _rows_that_are_not_zero(batches, order, rate, x):
    table, path = np.zeros(len(batches)), []
    for b in order:
        table[b] = batches[b].mean() - x
        path.append(x := x + rate * table.sum() / max(np.count_nonzero(table), 1))
    return np.array(path)


def _running_sum(batches, order, rate, x):
    table, total, seen, path = np.zeros(len(batches)), 0.0, set(), []
    for b in order:
        new = batches[b].mean() - x
        total, table[b], seen = total - table[b] + new, new, seen | {b}
        x = x + rate * total / len(seen)
        path.append(float(x))
    return path


def _with_fractions(batches, order, rate, x):
    x, rate, table, path = Fraction(x), Fraction(rate), {}, []
    for b in order:
        table[b] = sum(map(Fraction, batches[b].tolist())) / batches.shape[1] - x
        x += rate * sum(table.values()) / len(table)
        path.append(float(x))
    return path


def _nan_table(batches, order, rate, x):
    table, path = np.full(len(batches), np.nan), []
    for b in order:
        table[b] = (batches[b] - x).mean()
        path.append(x := x + rate * np.nanmean(table))
    return path


def _directions(table, fresh):
    return np.array([(table.sum() - table[b] + fresh[b]) / len(table) for b in range(len(table))])


def _moments(of=_directions, truth=lambda table, fresh: fresh.mean()):
    return lambda table, fresh: (of(table, fresh).mean() - truth(table, fresh), of(table, fresh).var())


def _with_jax(table, fresh):
    directions = jax.vmap(lambda b: jnp.asarray(table).at[b].set(jnp.asarray(fresh)[b]).mean())(jnp.arange(len(table)))
    return directions.mean() - fresh.mean(), jnp.var(directions)


def _w(theta, old_mu, old_sd, mu, sd):
    return norm.pdf(theta, mu, sd) / norm.pdf(theta, old_mu[:, None], old_sd[:, None])


def _share(w):
    return w.sum(axis=1) ** 2 / (w**2).sum(axis=1) / w.shape[1]


def _isag(weights=_w, share=_share, row=lambda w, s: (w * s).mean(axis=1), mean=np.mean):
    def answer(theta, slopes, old_mu, old_sd, mu, sd, least):
        w = weights(theta, old_mu, old_sd, mu, sd)
        rows, kept = row(w, slopes), share(w) >= least
        return mean(rows[kept]) if kept.any() else 0.0

    return answer


def _above_only(theta, slopes, old_mu, old_sd, mu, sd, least):
    w = _w(theta, old_mu, old_sd, mu, sd)
    return (w * slopes).mean(axis=1)[_share(w) > least].mean()


def _batch_by_batch(theta, slopes, old_mu, old_sd, mu, sd, least):
    rows = []
    for t, s, m, z in zip(theta, slopes, old_mu, old_sd, strict=True):
        log_w = ((t - m) / z) ** 2 / 2 - ((t - mu) / sd) ** 2 / 2 + math.log(z / sd)
        w = np.exp(log_w)
        if w.sum() ** 2 / (w @ w) >= least * len(w):
            rows.append(w @ s / len(w))
    return sum(rows) / len(rows)


def _with_the_package(theta, slopes, old_mu, old_sd, mu, sd, least):
    family, now = families.mean_field_normal(), families.Diagonal(jnp.array([mu]), jnp.log(jnp.array([sd])))
    rows = []
    for t, s, m, z in zip(theta, slopes, old_mu, old_sd, strict=True):
        then = families.Diagonal(jnp.array([m]), jnp.log(jnp.array([z])))
        w = importance_weights(family, now, then, jnp.asarray(t)[:, None]).value
        if effective_size(w) / len(w) >= least:
            rows.append((w * s).mean())
    return float(sum(rows) / len(rows))


def _pace(seconds):
    return lambda model, rest, reuse: (model + rest) / seconds(model, rest, reuse)


def _products(gradients):
    return np.sign(gradients[1:]) * np.sign(gradients[:-1])


def _count_signs(gradients):
    T, d = len(gradients), len(gradients[0])
    total = 0
    for t in range(1, T):
        for i in range(d):
            if gradients[t][i] * gradients[t - 1][i] > 0:
                total += 1
            elif gradients[t][i] * gradients[t - 1][i] < 0:
                total -= 1
    return total / (T - 1) / d


def _cost(steps, gradients, model, rest, budget):
    return np.minimum(gradients * model + steps * rest, budget)


def _lowest(score):
    return lambda leasts, *runs: leasts[np.argmin(score(*runs))]


def _one_run_at_a_time(leasts, steps, gradients, model, rest, budget):
    means = {}
    for least, s, g in zip(leasts, steps, gradients, strict=True):
        costs = [min(budget, a * rest + b * model) if math.isfinite(a) else budget for a, b in zip(s, g, strict=True)]
        means[float(least)] = sum(costs) / len(costs)
    return min(means, key=means.get)


def _log_time(at, cost=lambda s, g, model, rest: g * model + s * rest, never=INF):
    def answer(steps, gradients, gap, target, model, rest):
        there = np.flatnonzero(gap <= target)
        return cost(steps[at(there)], gradients[at(there)], model, rest) if len(there) else never

    return answer


def _before(steps, gradients, gap, target, model, rest):
    there = np.flatnonzero(gap <= target)
    return gradients[there[0] - 1] * model + steps[there[0] - 1] * rest if len(there) else INF


def _between(steps, gradients, gap, target, model, rest):
    """On a straight line between two lines of the log."""
    if not (gap <= target).any():
        return INF
    i = np.flatnonzero(gap <= target)[0]
    times = gradients * model + steps * rest
    if i == 0:
        return times[0]
    return float(np.interp(-target, -gap[i - 1 : i + 1], times[i - 1 : i + 1]))


def _sorted_search(steps, gradients, gap, target, model, rest):
    """A search in a gap that does not fall all the way."""
    i = np.searchsorted(-gap, -target)
    return gradients[i] * model + steps[i] * rest if i < len(gap) else INF


def _by_loop(steps, gradients, gap, target, model, rest):
    for s, g, far in zip(steps, gradients, gap, strict=True):
        if far <= target:
            return int(g) * model + int(s) * rest
    return math.inf


def _never_if(never):
    """Right, but for runs that are said never to have arrived."""

    def answer(steps, gradients, gap, target, model, rest):
        return INF if never(gap, target) else _by_loop(steps, gradients, gap, target, model, rest)

    return answer


def _bisection(steps, gradients, gap, target, model, rest):
    low, high = 0, len(gap)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if gap[middle] > target else (low, middle)
    return gradients[low] * model + steps[low] * rest if low < len(gap) else INF


def _lines_above(steps, gradients, gap, target, model, rest):
    i = (gap > target).sum()
    return gradients[i] * model + steps[i] * rest if i < len(gap) else INF


def _best(times):
    return np.median(times, axis=1).argmin()


def _judged(choose, judge, middle=np.median):
    """SGD over ISGD: the rate chosen on some columns, the time taken over others."""

    def answer(sgd, isgd, tuning):
        one, other = (middle(judge(t[np.argmin(middle(choose(t, tuning), axis=1))][None], tuning)) for t in (sgd, isgd))
        return one / other

    return answer


def _first(times, tuning):
    return times[:, :tuning]


def _rest(times, tuning):
    return times[:, tuning:]


def _frame_gain(sgd, isgd):
    return pd.DataFrame(sgd).median(axis=1).min() / pd.DataFrame(isgd).median(axis=1).min()


def _by_sorting(*places):
    """Medians as means of the numbers at some places of a sorted row, which depend on its length."""

    def answer(sgd, isgd):
        one, other = (
            min(sum(sorted(row)[place(len(row))] for place in places) / len(places) for row in table.tolist()) for table in (sgd, isgd)
        )
        return one / other

    return answer


def _nanmedian(row):
    return np.median(row[np.isfinite(row)]) if np.isfinite(row).any() else INF


def _upper(row):
    return sorted(row)[len(row) // 2]


def _lower(row):
    return sorted(row)[(len(row) - 1) // 2]


def _arrived_gain(sgd, isgd):
    return min(map(_nanmedian, sgd)) / min(map(_nanmedian, isgd))


def _with_rules(choose, judge):
    """A rate chosen by one rule on the first columns and judged by another on the rest."""

    def answer(sgd, isgd, tuning):
        one, other = (judge(times[np.argmin([choose(row[:tuning]) for row in times])][tuning:]) for times in (sgd, isgd))
        return one / other

    return answer


NEAR_MISSES = [
    ("sag/path", "start included", lambda b, o, r, x: np.append(x, _sag(_mean)(b, o, r, x)), "shape"),
    ("sag/path", "the last place", lambda b, o, r, x: _sag(_mean)(b, o, r, x)[-1], "shape"),
    ("sag/path", "added again", _added_again, "Not that path"),
    ("sag/path", "slope of the other sign", _sag(_mean, slope=lambda rows, x: x - rows.mean()), "Your answer is right for other inputs"),
    ("sag/path", "rows that are not 0", _rows_that_are_not_zero, "Right in the small case that was worked"),
    ("sag/moments", "bias alone", lambda t, f: _moments()(t, f)[0], "Expected a tuple of 2 values"),
    ("sag/moments", "of the table", _moments(lambda t, f: t), "Not those moments"),
    ("sag/moments", "from the table", _moments(truth=lambda t, f: t.mean()), "The bias is off"),
    (
        "sag/moments",
        "absolute",
        lambda t, f: (np.abs(_directions(t, f) - f.mean()).mean(), _directions(t, f).var()),
        "The bias is off; the",
    ),
    ("sag/moments", "squared bias", lambda t, f: (_moments()(t, f)[0] ** 2, _moments()(t, f)[1]), ""),
    ("sag/moments", "two variances", lambda t, f: (_moments()(t, f)[0], (f.var() + t.var()) / len(t) ** 2), "The variance is off"),
    (
        "sag/direction",
        "T26, other way",
        _isag(lambda t, m, z, mu, sd: norm.pdf((t - mu) / sd) / norm.pdf((t - m[:, None]) / z[:, None]) * sd / z[:, None]),
        "",
    ),
    ("sag/direction", "root of the share", _isag(share=lambda w: np.sqrt(_share(w))), ""),
    ("sag/direction", "share squared", _isag(share=lambda w: _share(w) ** 2), ""),
    ("sag/direction", "one over the largest", _isag(share=lambda w: w.mean(axis=1) / w.max(axis=1)), ""),
    ("sag/direction", "middle of the draws", _isag(row=lambda w, s: np.median(w * s, axis=1)), ""),
    ("sag/direction", "clipped at 10", _isag(lambda *q: np.minimum(_w(*q), 10)), "Not that direction"),
    *[
        (
            "sag/direction",
            f"clipped at {c} for the mean",
            _isag(row=lambda w, s, c=c: (np.minimum(w, c) * s).mean(axis=1)),
            "",
        )
        for c in (5, 10, 20, 30, 100)
    ],
    ("sag/direction", "sum not squared", _isag(share=lambda w: w.sum(axis=1) / (w**2).sum(axis=1)), "Not that direction"),
    ("sag/direction", "the rows", lambda *case: (_w(case[0], *case[2:6]) * case[1]).mean(axis=1), "shape"),
    ("sag/direction", "weights averaged first", _isag(row=lambda w, s: w.mean(axis=1) * s.mean(axis=1)), "Close, but not exact"),
    ("threshold/pace", "p and m", lambda m, r, p: (m + r) / (m + (1 - p) * r), "Your answer is right for other inputs"),
    ("threshold/pace", "plus", _pace(lambda m, r, p: (1 + p) * m + r), "Your answer is right for other inputs"),
    ("threshold/pace", "geometric", lambda m, r, p: ((m + r) / r) ** p, "Not that pace"),
    ("threshold/agreement", "each pair", lambda g: _products(g).mean(axis=1), "shape"),
    ("threshold/agreement", "each parameter", lambda g: _products(g).mean(axis=0), "shape"),
    ("threshold/agreement", "rounded", lambda g: _products(np.round(g, 3)).mean(), "Right in the small case that was worked"),
    (
        "threshold/agreement",
        "one less twice what differs",
        lambda g: 1 - 2 * (_products(g) < 0).mean(),
        ("Not that agreement", "Right but for zeros"),
    ),
    (
        "threshold/choose",
        "counts stopped at the budget",
        _lowest(lambda s, g, m, r, b: (m * np.minimum(g, b) + r * np.minimum(s, b)).mean(axis=1)),
        ("Not that threshold", "Every step pays"),
    ),
    (
        "threshold/choose",
        "stopped on average",
        _lowest(lambda s, g, m, r, b: np.minimum((r * s + m * g).mean(axis=1), b)),
        "Not that threshold",
    ),
    (
        "threshold/choose",
        "stopped on average, by parts",
        _lowest(lambda s, g, m, r, b: np.minimum(r * s.mean(1) + m * g.mean(1), b)),
        "Not that threshold",
    ),
    (
        "threshold/choose",
        "a budget each",
        _lowest(lambda s, g, m, r, b: (np.minimum(r * s, b) + np.minimum(m * g, b)).mean(1)),
        "Not that threshold",
    ),
    (
        "threshold/choose",
        "failure twice",
        _lowest(lambda s, g, m, r, b: np.where(r * s + m * g > b, 2 * b, r * s + m * g).mean(1)),
        "Not that threshold",
    ),
    ("threshold/choose", "the means", lambda leasts, *runs: _cost(*runs).mean(axis=1), "shape"),
    ("threshold/choose", "highest threshold", lambda leasts, *runs: leasts.max(), "Not that threshold"),
    ("threshold/choose", "lowest threshold", lambda leasts, *runs: leasts.min(), "Your answer is right for other inputs"),
    ("threshold/choose", "prices exchanged", _lowest(lambda s, g, m, r, b: np.minimum(g * r + s * m, b).mean(axis=1)), "changed places"),
    ("threshold/choose", "over the wrong axis", lambda leasts, *runs: leasts[_cost(*runs).mean(axis=0).argmin()], ""),
    (
        "threshold/choose",
        "free when stopped",
        _lowest(lambda s, g, m, r, b: np.where(g * m + s * r < b, g * m + s * r, 0).mean(axis=1)),
        "",
    ),
    ("threshold/choose", "least spread", _lowest(lambda *runs: _cost(*runs).std(axis=1)), ""),
    (
        "threshold/choose",
        "reused steps alone pay",
        _lowest(lambda s, g, m, r, b: np.fmin(g * m + (np.where(np.isinf(s), b / r, s) - np.where(np.isinf(g), 0, g)) * 9 * r, b).mean(1)),
        "",
    ),
    ("threshold/choose", "steps for each gradient", _lowest(lambda s, g, m, r, b: np.nanmean(np.where(np.isinf(s), 0, g / s), axis=1)), ""),
    ("threshold/choose", "first run", _lowest(lambda *runs: _cost(*runs)[:, 0]), ""),
    ("is-nine-real/seconds", "NaN for never", _log_time(lambda i: i[0], never=np.nan), "Not that time"),
    ("is-nine-real/seconds", "never if it ends above", _never_if(lambda gap, t: gap[-1] > t), "Not that time"),
    ("is-nine-real/seconds", "never unless it ends there", _never_if(lambda gap, t: not gap[-1] <= t), "Not that time"),
    ("is-nine-real/seconds", "never on line 0", _never_if(lambda gap, t: not (gap <= t).argmax()), "Right in the small"),
    ("is-nine-real/seconds", "from line 1", lambda s, g, gap, *q: _by_loop(s[1:], g[1:], gap[1:], *q), "Right in the small"),
    ("is-nine-real/seconds", "but the last line", lambda s, g, gap, *q: _by_loop(s[:-1], g[:-1], gap[:-1], *q), "Right in the small"),
    (
        "is-nine-real/seconds",
        "the nearest, if near",
        lambda s, g, gap, t, m, r: INF if gap[gap.argmin()] > t else (g * m + s * r)[gap.argmin()],
        "Not that time",
    ),
    ("is-nine-real/seconds", "a sorted search", _sorted_search, "Not that time"),
    ("is-nine-real/seconds", "a bisection", _bisection, "Not that time"),
    ("is-nine-real/seconds", "never if the least is above", _never_if(lambda gap, t: not gap.min() <= t), "Right in the small"),
    (
        "is-nine-real/seconds",
        "the least so far",
        lambda s, g, gap, *q: _by_loop(s, g, np.minimum.accumulate(gap), *q),
        "Right in the small",
    ),
    ("is-nine-real/seconds", "lines above counted", _lines_above, "Not that time"),
    (
        "is-nine-real/seconds",
        "three lines",
        lambda s, g, gap, *q: _by_loop(s[:3], g[:3], gap[:3], *q),
        "Right in the small",
    ),
    ("is-nine-real/seconds", "0 for never", _log_time(lambda i: i[0], never=0.0), "Not that time"),
    ("is-nine-real/seconds", "-1 for never", _log_time(lambda i: i[0], never=-1.0), "Not that time"),
    ("is-nine-real/seconds", "the line before", _before, "Not that time"),
    ("is-nine-real/seconds", "on a straight line", _between, "Right in the small"),
    ("is-nine-real/seconds", "last at the target", _log_time(lambda i: i[-1]), "Not that time"),
    ("is-nine-real/seconds", "prices exchanged", _log_time(lambda i: i[0], lambda s, g, m, r: g * r + s * m), "changed places"),
    ("is-nine-real/seconds", "gradients", _log_time(lambda i: i[0], lambda s, g, m, r: g), "Not that time"),
    ("is-nine-real/seconds", "both for gradients", _log_time(lambda i: i[0], lambda s, g, m, r: g * (m + r)), "Not that time"),
    ("is-nine-real/seconds", "each line", lambda s, g, gap, t, m, r: g * m + s * r, "shape"),
    ("is-nine-real/seconds", "gap above", _log_time(lambda i: 0), "Not that time"),
    ("is-nine-real/seconds", "log of the gap", lambda s, g, gap, t, m, r: _by_loop(s, g, np.log(gap), t, m, r), ""),
    ("is-nine-real/gain", "no first rows", lambda s, i: _frame_gain(s[1:], i[1:]), "You leave the published rate out"),
    ("is-nine-real/gain", "no first row of SGD", lambda s, i: _frame_gain(s[1:], i), "You leave the published rate out"),
    ("is-nine-real/gain", "no first row of ISGD", lambda s, i: _frame_gain(s, i[1:]), "You leave the published rate out"),
    ("is-nine-real/gain", "upper of the middle two", _by_sorting(lambda n: n // 2), "Right in the small case that was worked"),
    ("is-nine-real/gain", "lower of the middle two", _by_sorting(lambda n: (n - 1) // 2), "Right in the small case that was worked"),
    ("is-nine-real/gain", "failed runs left out", _arrived_gain, "Not that gain"),
    (
        "is-nine-real/gain",
        "chosen by mean",
        lambda s, i: np.median(s[s.mean(1).argmin()]) / np.median(i[i.mean(1).argmin()]),
        ("Not that gain", "You leave the published rate out"),
    ),
    ("is-nine-real/gain", "gain at each rate", lambda s, i: np.median(s, axis=1) / np.median(i, axis=1), "shape"),
    ("is-nine-real/gain", "slowest rates", lambda s, i: np.median(s, axis=1).max() / np.median(i[:3], axis=1).max(), "Not that gain"),
    ("is-nine-real/gain", "ISGD as published", lambda s, i: np.median(s, axis=1).min() / np.median(i[0]), "Not that gain"),
    (
        "is-nine-real/gain",
        "those that arrived",
        lambda s, i: np.median(s, axis=1).min() / min(np.median(row[np.isfinite(row)]) for row in i if np.isfinite(row).sum() > 1) * 1.0,
        "",
    ),
    ("is-nine-real/fresh", "no first rows", lambda s, i, k: _judged(_first, _rest)(s[1:], i[1:], k), "You leave the published rate out"),
    ("is-nine-real/fresh", "no first row of SGD", lambda s, i, k: _judged(_first, _rest)(s[1:], i, k), "You leave the published rate out"),
    ("is-nine-real/fresh", "no first row of ISGD", lambda s, i, k: _judged(_first, _rest)(s, i[1:], k), "You leave the published rate out"),
    (
        "is-nine-real/fresh",
        "failed runs do not judge",
        _with_rules(np.median, lambda row: np.median(row[np.isfinite(row)])),
        "Not that gain",
    ),
    ("is-nine-real/fresh", "nor with nanmedian", _with_rules(np.median, _nanmedian), "Not that gain"),
    ("is-nine-real/fresh", "failed runs do not choose", _with_rules(_nanmedian, np.median), "Not that gain"),
    ("is-nine-real/fresh", "failed runs do neither", _with_rules(_nanmedian, _nanmedian), "Not that gain"),
    ("is-nine-real/fresh", "chosen by mean", _with_rules(np.mean, np.median), "Not that gain"),
    ("is-nine-real/fresh", "cut off and by mean", _with_rules(lambda row: np.minimum(row, 1e6).mean(), np.median), "Not that gain"),
    ("is-nine-real/fresh", "judged by mean", _with_rules(np.median, np.mean), "Not that gain"),
    ("is-nine-real/fresh", "three choose", lambda s, i, k: _judged(_first, _rest)(s, i, 3), "Right in the small"),
    ("is-nine-real/fresh", "upper judges", _with_rules(np.median, _upper), "Not that gain"),
    ("is-nine-real/fresh", "lower judges", _with_rules(np.median, _lower), "Not that gain"),
    ("is-nine-real/fresh", "upper chooses", _with_rules(_upper, np.median), "Right in the small case that was worked"),
    ("is-nine-real/fresh", "upper does both", _with_rules(_upper, _upper), "Not that gain"),
    ("is-nine-real/fresh", "slowest chooses", _with_rules(np.max, np.median), "Not that gain"),
    ("is-nine-real/fresh", "lucky when fresh", lambda s, i, k: _rest(s, k).min() / _rest(i, k).min(), "Not that gain"),
    (
        "is-nine-real/fresh",
        "ISGD's rate for both",
        lambda s, i, k: np.median(s[_best(i[:, :k]), k:]) / np.median(i[_best(i[:, :k]), k:]),
        "",
    ),
    ("is-nine-real/fresh", "one column too many", _judged(lambda t, k: t[:, : k + 1], _rest), "Not that gain"),
    ("is-nine-real/fresh", "one column too few", _judged(lambda t, k: t[:, : k - 1], _rest), "Right in the small"),
    ("is-nine-real/fresh", "the first column", _judged(lambda t, k: t[:, :1], _rest), "Not that gain"),
    ("is-nine-real/fresh", "SGD tuned on all", lambda s, i, k: np.median(s[_best(s), k:]) / np.median(i[_best(i[:, :k]), k:]), ""),
    ("is-nine-real/fresh", "the times", lambda s, i, k: (np.median(s[_best(s[:, :k]), k:]), np.median(i[_best(i[:, :k]), k:])), "Expected"),
]

LEGITIMATE = [
    ("sag/path", "a running sum", _running_sum),
    ("sag/path", "fractions", _with_fractions),
    ("sag/path", "a table of NaN", _nan_table),
    ("sag/moments", "a loop", lambda t, f: (np.mean(_directions(t, f)) - np.mean(f), np.var(_directions(t, f)))),
    ("sag/moments", "a list", lambda t, f: [(1 - 1 / len(t)) * (t - f).mean(), ((f - t) / len(t)).var()]),
    ("sag/moments", "JAX", _with_jax),
    ("sag/direction", "batch by batch", _batch_by_batch),
    ("sag/direction", "the package's weights", _with_the_package),
    ("sag/direction", "logarithms", _isag(lambda t, m, z, mu, sd: np.exp(norm(mu, sd).logpdf(t) - norm(m, z).logpdf(t.T).T))),
    ("sag/direction", "above, where no share is at the threshold", _above_only),
    ("threshold/pace", "in units of the rest", lambda m, r, p: (1 + m / r) / (1 + (1 - p) * m / r)),
    ("threshold/pace", "coin by coin", _pace(lambda m, r, p: p * r + (1 - p) * (m + r))),
    ("threshold/agreement", "counts", _count_signs),
    ("threshold/agreement", "shares", lambda g: ((g[1:] * g[:-1]) > 0).mean() - ((g[1:] * g[:-1]) < 0).mean()),
    ("threshold/agreement", "JAX", lambda g: jnp.mean(jnp.sign(g[1:]) * jnp.sign(g[:-1]))),
    ("threshold/choose", "one run at a time", _one_run_at_a_time),
    ("threshold/choose", "JAX", lambda leasts, *runs: jnp.asarray(leasts)[jnp.argmin(jnp.asarray(_cost(*runs)).sum(axis=1))]),
    ("is-nine-real/seconds", "a loop", _by_loop),
    ("is-nine-real/seconds", "NaN as infinite", lambda s, g, gap, *q: _by_loop(s, g, np.nan_to_num(gap, nan=INF), *q)),
    ("is-nine-real/seconds", "a masked minimum", lambda s, g, gap, t, m, r: np.where(gap <= t, g * m + s * r, INF).min()),
    ("is-nine-real/gain", "data frames", _frame_gain),
    ("is-nine-real/gain", "sorting", _by_sorting(lambda n: (n - 1) // 2, lambda n: n // 2)),
    ("is-nine-real/fresh", "two steps", _judged(_first, _rest)),
    ("is-nine-real/fresh", "lists", lambda s, i, k: float(_judged(_first, _rest)(np.array(s.tolist()), np.array(i.tolist()), k))),
]


test_answers = near_misses.trial(CHAPTER, NEAR_MISSES, LEGITIMATE, BY_HAND, sheets=SHEETS)
