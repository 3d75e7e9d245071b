"""Stochastic average gradients. Roads: a run read off its own history, without a table; moments in closed form; weights from intervals."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Verdict
from course_pkg.checks._quiet import quiet
from course_pkg.checks._tables import telling, with_kin
from course_pkg.checks.is_gradients._tools import log_ratio


def _path_from_history(batches: np.ndarray, order: Any, rate: float, x: float) -> np.ndarray:
    """No table: before each step the run's past is searched for the last visit to each batch."""
    path, visits = [float(x)], [int(b) for b in order]
    for now in range(len(visits)):
        last = {b: max(t for t in range(now + 1) if visits[t] == b) for b in visits[: now + 1]}
        slopes = [float(batches[b].mean()) - path[t] for b, t in last.items()]
        path.append(path[-1] + rate * sum(slopes) / len(slopes))
    return np.array(path[1:])


def _moments_in_closed_form(table: np.ndarray, fresh: np.ndarray) -> tuple[float, float]:
    B = len(table)
    return float((1 - 1 / B) * (table.mean() - fresh.mean())), float(np.var(fresh - table) / B**2)


def _direction_by_intervals(
    theta: np.ndarray, slopes: np.ndarray, old_mu: np.ndarray, old_sd: np.ndarray, mu: float, sd: float, least: float
) -> float:
    """A weight is how much likelier a short interval around the draw has become."""
    half, kept = 1e-3, []
    for b in range(len(theta)):
        w = [_probability(t, mu, sd, half * sd) / _probability(t, old_mu[b], old_sd[b], half * sd) for t in theta[b]]
        share = sum(w) ** 2 / sum(v**2 for v in w) / len(w)
        if share >= least:
            kept.append(sum(v * s for v, s in zip(w, slopes[b], strict=True)) / len(w))
    return float(sum(kept) / len(kept))


def _probability(centre: float, mu: float, sd: float, half: float) -> float:
    """Of the interval centre +- half, on the side of the tail where no digits are lost."""
    far = abs(centre - mu)
    return float(norm.sf((far - half) / sd) - norm.sf((far + half) / sd))


def path_stub(batches: np.ndarray, order: list, rate: float, x: float) -> Any:
    raise NotImplementedError


def moments_stub(table: np.ndarray, fresh: np.ndarray) -> Any:
    raise NotImplementedError


def direction_stub(
    theta: np.ndarray, slopes: np.ndarray, old_mu: np.ndarray, old_sd: np.ndarray, mu: float, sd: float, least: float
) -> Any:
    raise NotImplementedError


def _walk(direction: Callable[..., Any], *, slope: Callable[..., Any] = lambda rows, x: rows.mean() - x, late: bool = False) -> Any:
    """A run along ``direction(table, seen, batches, b, x)``; ``late`` climbs before the table knows of the new gradient."""

    def answer(batches, order, rate, x):
        table, seen, path = np.zeros(len(batches)), np.zeros(len(batches), bool), []
        for b in order:
            if not late:
                table[b], seen[b] = slope(batches[b], x), True
            step = rate * direction(table, seen, batches, b, x)
            if late:
                table[b], seen[b] = slope(batches[b], x), True
            x = x + step
            path.append(x)
        return np.array(path)

    return answer


def _mean_of_seen(table, seen, *_):
    return table[seen].sum() / max(seen.sum(), 1)


def _mean_of_all_gradients(batches, order, rate, x):
    path, gone = [], []
    for b in order:
        gone.append(batches[b].mean() - x)
        x = x + rate * np.mean(gone)
        path.append(x)
    return np.array(path)


def _mean_of_last(count: Callable[[np.ndarray], int]) -> Callable[..., Any]:
    def answer(batches, order, rate, x):
        path, gone = [], []
        for b in order:
            gone.append(batches[b].mean() - x)
            x = x + rate * np.mean(gone[-count(batches) :])
            path.append(x)
        return np.array(path)

    return answer


def _all_at_the_start(batches, order, rate, x):
    table, path = batches.mean(axis=1) - x, []
    for b in order:
        table[b] = batches[b].mean() - x
        x = x + rate * table.mean()
        path.append(x)
    return np.array(path)


def _by_steps(batches, order, rate, x):
    table, path = {}, []
    for t, b in enumerate(order):
        table[b] = batches[b].mean() - x
        x = x + rate * sum(table.values()) / (t + 1)
        path.append(x)
    return np.array(path)


PATH_MISTAKES = {
    "batch never visited": Mistake(
        _walk(lambda table, *_: table.mean()),
        "You divide by the number of all batches from the first step on. A batch that was never visited has not said that its gradient "
        "is 0; it has said nothing. Leave it out of the count.",
    ),
    "sum over points": Mistake(
        _walk(lambda table, seen, batches, *_: table[: batches.shape[1]].sum() / batches.shape[1]),
        "You sum as many rows of the table as a batch has points, and divide by that. A formula has been printed so. "
        "The mean is over batches.",
    ),
    "divided by points": Mistake(
        _walk(lambda table, seen, batches, *_: table.sum() / batches.shape[1]),
        "You divide by the number of points in a batch. The table has a row for each batch: divide by how many of them hold something.",
    ),
    "sum": Mistake(
        _walk(lambda table, *_: table.sum()),
        "You climb along the sum of the table. Each gradient stands for all the data already, so that their mean was asked for.",
    ),
    "sum over the points of a batch": Mistake(
        _walk(_mean_of_seen, slope=lambda rows, x: (rows - x).sum()),
        "Your batch gradient is a sum over the points. It is their mean; otherwise it grows with the size of the batch.",
    ),
    "only the batch": Mistake(
        _walk(lambda table, seen, batches, b, x: table[b]),
        "That is plain SGD: you climb along the new gradient alone. The other rows of the table have their say, too.",
    ),
    "nothing is old": Mistake(
        _walk(lambda table, seen, batches, b, x: (batches[seen].mean(axis=1) - x).mean()),
        "You compute all the gradients anew where the run is now. Only the visited batch is computed anew; the others stay in the table "
        "as they were.",
    ),
    "table refreshed too late": Mistake(
        _walk(_mean_of_seen, late=True),
        "You take the step before the new gradient is in the table. Write it in first.",
    ),
    "middle": Mistake(
        _walk(lambda table, seen, *_: np.median(table[seen])),
        "You climb along the median of the table. Take the mean.",
    ),
    "mean over steps": Mistake(
        _mean_of_all_gradients,
        "You average all gradients since the start. When a batch is visited again its new gradient replaces the old one.",
    ),
    "downhill": Mistake(
        _walk(lambda *args: -_mean_of_seen(*args)),
        "You walk downhill. The objective is to be made large: add.",
    ),
    "zero taken for nothing": Mistake(
        _walk(lambda table, *_: table.sum() / max((table != 0).sum(), 1)),
        "You count the rows that are not 0. A gradient can be exactly 0, and that batch has been visited: remember which were.",
    ),
    "last ones": Mistake(
        _mean_of_last(len),
        "You average the last B gradients. A batch that was visited twice is among them twice, and another one not at all: "
        "keep one gradient for each batch.",
    ),
    "where a step begins": Mistake(
        lambda batches, order, rate, x: np.append(x, _path_from_history(batches, order, rate, x)[:-1]),
        "Those are the places where the steps begin: you move before the visit, or write x down before the move. Visit, move, write down.",
    ),
    "all at the start": Mistake(
        _all_at_the_start,
        "You compute the gradients of all batches before the first step. One gradient is paid for at each step: the table starts empty.",
    ),
    "divided by steps": Mistake(
        _by_steps,
        "You divide by the number of steps. A batch that was visited twice has still one row only: divide by the number of rows.",
    ),
}
MOMENTS_MISTAKES = {
    "turned round": Mistake(
        lambda table, fresh: (-_moments_in_closed_form(table, fresh)[0], _moments_in_closed_form(table, fresh)[1]),
        "The sign of the bias is turned: it is the mean direction less the true one.",
    ),
    "as stale as the table": Mistake(
        lambda table, fresh: (table.mean() - fresh.mean(), _moments_in_closed_form(table, fresh)[1]),
        "That is the bias of the table as it stands. One of its rows is refreshed before the step.",
    ),
    "n - 1": Mistake(
        lambda table, fresh: (_moments_in_closed_form(table, fresh)[0], np.var(fresh - table, ddof=1) / len(table) ** 2),
        "You divided by B - 1. Nothing is estimated: these are all the directions that there are, equally likely.",
    ),
    "SGD": Mistake(
        lambda table, fresh: (0.0, np.var(fresh)),
        "Those are the bias and the variance of plain SGD, which climbs along the fresh gradient alone.",
    ),
    "variance of SGD": Mistake(
        lambda table, fresh: (_moments_in_closed_form(table, fresh)[0], np.var(fresh)),
        "Your variance is that of plain SGD. A direction here is a mean of B gradients of which one is fresh.",
    ),
    "variance of the change": Mistake(
        lambda table, fresh: (_moments_in_closed_form(table, fresh)[0], np.var(fresh - table)),
        "Your variance is that of fresh less old. Only a B-th part of this gets into the mean.",
    ),
    "part not squared": Mistake(
        lambda table, fresh: (_moments_in_closed_form(table, fresh)[0], np.var(fresh - table) / len(table)),
        "A B-th part of a number has a variance that is smaller by the square of B.",
    ),
    "mean square": Mistake(
        lambda table, fresh: (_moments_in_closed_form(table, fresh)[0], np.mean((fresh - table) ** 2) / len(table) ** 2),
        "Your second value is a mean square. The variance is taken around the directions' own mean.",
    ),
    "squared error": Mistake(
        lambda table, fresh: (
            _moments_in_closed_form(table, fresh)[0],
            _moments_in_closed_form(table, fresh)[1] + _moments_in_closed_form(table, fresh)[0] ** 2,
        ),
        "Your second value is the mean squared distance from the true gradient, bias included. Leave the bias out of it.",
    ),
    "standard deviation": Mistake(
        lambda table, fresh: (_moments_in_closed_form(table, fresh)[0], np.sqrt(_moments_in_closed_form(table, fresh)[1])),
        "Your second value is the standard deviation. The variance was asked for.",
    ),
    "changed places": Mistake(
        lambda table, fresh: _moments_in_closed_form(table, fresh)[::-1],
        "Bias and variance have changed places: the bias comes first.",
    ),
    "mean distance": Mistake(
        lambda table, fresh: (
            np.abs((table.sum() - table + fresh) / len(table) - fresh.mean()).mean(),
            _moments_in_closed_form(table, fresh)[1],
        ),
        "Your first value is the mean distance from the true gradient. A bias has a sign: distances on both sides cancel.",
    ),
    "mean direction": Mistake(
        lambda table, fresh: (_moments_in_closed_form(table, fresh)[0] + fresh.mean(), _moments_in_closed_form(table, fresh)[1]),
        "Your first value is the mean direction. How far is it from the true gradient, the mean of `fresh`?",
    ),
}


def _weights(theta, old_mu, old_sd, mu, sd):
    return np.exp(log_ratio(theta, old_mu[:, None], old_sd[:, None], mu, sd))


def _shares(w):
    return w.sum(axis=1) ** 2 / (w**2).sum(axis=1) / w.shape[1]


def _climb(
    *,
    weights: Callable[..., Any] = _weights,
    keep: Callable[..., Any] = lambda w, least: _shares(w) >= least,
    average: Callable[..., Any] = lambda rows, kept: rows[kept].mean(),
    row: Callable[..., Any] = lambda w, slopes: (w * slopes).mean(axis=1),
) -> Any:
    def answer(theta, slopes, old_mu, old_sd, mu, sd, least):
        w = weights(theta, old_mu, old_sd, mu, sd)
        return average(row(w, slopes), keep(w, least))

    return answer


def _clipped(bound: float, *, shares_too: bool = False) -> Callable[..., Any]:
    def weights(*given):
        return np.minimum(_weights(*given), bound)

    if shares_too:
        return _climb(weights=weights)
    return _climb(row=lambda w, slopes: (np.minimum(w, bound) * slopes).mean(axis=1))


DIRECTION_MISTAKES = {
    "left out as zero": Mistake(
        _climb(average=lambda rows, kept: np.where(kept, rows, 0.0).mean()),
        "A batch that is left out counts as 0 in yours: you divide by the number of all batches. It is to say nothing, not to say 0.",
    ),
    "nothing left out": Mistake(
        _climb(keep=lambda w, least: np.ones(len(w), bool)),
        "You left no batch out. The effective share is the effective sample size over the number of draws, so it lies between 0 and 1.",
    ),
    "the wrong ones left out": Mistake(
        _climb(keep=lambda w, least: _shares(w) <= least),
        "You kept the batches with a small share and left out the others.",
    ),
    "weight upside down": Mistake(
        _climb(weights=lambda *given: 1 / _weights(*given)),
        "Your weights are upside down: the density asked about is above the bar, the one that made the draws below it.",
    ),
    "Jacobian": Mistake(
        _climb(weights=lambda theta, old_mu, old_sd, mu, sd: _weights(theta, old_mu, old_sd, mu, sd) * sd / old_sd[:, None]),
        "Your weights compare the densities of eps. Those of theta differ by the two standard deviations as well.",
    ),
    "no weights": Mistake(
        lambda theta, slopes, old_mu, old_sd, mu, sd, least: slopes[_shares(_weights(theta, old_mu, old_sd, mu, sd)) >= least].mean(),
        "The right batches, and their gradients have no weights: that is the mean under the old approximations.",
    ),
    "plain average": Mistake(
        lambda theta, slopes, *_: slopes.mean(),
        "That is SAG: all the old gradients as they were. Give each its weight, and leave out batches with a small share.",
    ),
    "normalised": Mistake(
        _climb(row=lambda w, slopes: (w * slopes).sum(axis=1) / w.sum(axis=1)),
        "You divide by the sum of the weights. Here their mean is over the number of draws, as it is in the package unless told otherwise.",
    ),
    "normalised over all": Mistake(
        lambda theta, slopes, old_mu, old_sd, mu, sd, least: (
            ((w := _weights(theta, old_mu, old_sd, mu, sd))[kept := _shares(w) >= least] * slopes[kept]).sum() / w[kept].sum()
        ),
        "You divide by the sum of all the weights that are kept. Divide by their number.",
    ),
    "by the mean weight": Mistake(
        _climb(keep=lambda w, least: w.mean(axis=1) >= least),
        "You judge a batch by its mean weight. The effective sample size tells how evenly the weights are spread: (sum w)^2 / sum w^2.",
    ),
    "weighted by share": Mistake(
        _climb(average=lambda rows, kept: rows[kept].sum(), row=lambda w, slopes: (w * slopes).mean(axis=1) * _shares(w) / len(w)),
        "You count a batch by its share. It is kept whole or left out.",
    ),
    "middle draw": Mistake(
        _climb(row=lambda w, slopes: np.median(w * slopes, axis=1)),
        "You took the median over the draws of a batch. Take their mean.",
    ),
    "middle batch": Mistake(
        _climb(average=lambda rows, kept: np.median(rows[kept])),
        "You took the median over the batches. Take their mean.",
    ),
    "draws summed": Mistake(
        _climb(row=lambda w, slopes: (w * slopes).sum(axis=1)),
        "You summed over the draws of a batch. Take their mean.",
    ),
    "batches summed": Mistake(
        _climb(average=lambda rows, kept: rows[kept].sum()),
        "You summed over the batches. Each stands for all the data, so that their mean was asked for.",
    ),
    "clipped": Mistake(
        _clipped(10.0),
        "You cut large weights off. That makes the direction quieter and biases it, and was not asked for: a weight stays as it is.",
    ),
    "too large a share for the draws": Mistake(
        _climb(keep=lambda w, least: w.sum(axis=1) / (w**2).sum(axis=1) >= least),
        "Your share is sum w / sum w^2. The sum above the bar is squared, and the number of draws stands below it.",
    ),
    "draw by draw": Mistake(
        lambda theta, slopes, old_mu, old_sd, mu, sd, least: ((w := _weights(theta, old_mu, old_sd, mu, sd)) * slopes)[w >= least].mean(),
        "You left single draws out. A batch stays with all its draws or goes with all of them.",
    ),
}
DIRECTION_KIN = {
    "clipped": [
        *(_clipped(bound) for bound in (1.0, 2.0, 5.0, 20.0, 30.0, 50.0, 100.0)),
        *(_clipped(bound, shares_too=True) for bound in (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 50.0, 100.0)),
    ],
}
ALL_DIRECTIONS = with_kin(DIRECTION_MISTAKES, DIRECTION_KIN)


def _at_rest(rng: np.random.Generator) -> tuple[Any, ...]:
    """A run whose second gradient is exactly 0: all numbers until then are sums of a few powers of two."""
    x, first, (near, far) = -float(rng.integers(1, 4)), float(rng.integers(4, 8)), rng.integers(1, 4, 2)
    there = x + 0.25 * (first - x)
    batches = np.array([[there - near, there + near], [12.0, 12.0 + far], [first - far, first + far]])
    return batches, [2, 0, 1, 0], 0.25, x


def path_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 530])
    cases = []
    for B, n, early in [(4, 2, [1, 1, 3, 0, 3]), (3, 5, [2, 0, 2, 0])]:
        batches = rng.normal(np.linspace(2, 5, B)[:, None] + rng.uniform(-0.3, 0.3, (B, 1)), 0.5, (B, n))
        order = [*early, *rng.permutation(B).tolist(), 0]
        cases.append((batches, order, float(rng.uniform(0.2, 0.4)), float(rng.uniform(-2, -1))))
    cases.append(_at_rest(rng))
    return quiet(
        answer,
        cases,
        _path_from_history,
        PATH_MISTAKES,
        right="Right. Until all batches have been visited, those that were decide among themselves.",
        nudge="Not that path. With batches = [[1, 3], [6, 6], [9, 9]], order = [0, 1, 0], rate = 1/2 and x = 0 it is [1, 2.75, 3.8125].",
        rtol=1e-6,
    )


def moments_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 531])
    cases = []
    for B in (4, 7):
        fresh = rng.normal(rng.uniform(1, 2), 1, B)
        cases.append((fresh + (1 if B == 4 else -1) * rng.uniform(0.8, 1.2) + rng.normal(0, 0.6, B), fresh))
    return quiet(
        answer,
        cases,
        _moments_in_closed_form,
        MOMENTS_MISTAKES,
        right="Right. The table buys its quiet with a bias, which lasts as long as the table is old.",
        nudge="Not those moments. With table = [1, 9] and fresh = [0, 2] there are two directions, 9/2 and 3/2, and the true gradient "
        "is 1: the bias is 2 and the variance 9/4.",
        parts=("the bias", "the variance"),
    )


def _table_of_draws(rng: np.random.Generator, B: int, M: int) -> tuple[Any, ...]:
    """Draws of a table in which one batch is fresh, two are recent and the others old; the threshold is in the widest gap of the shares."""
    mu, sd = float(rng.normal()), float(rng.uniform(0.5, 1.0))
    away = rng.permutation(np.concatenate([[0.0, 0.35, -0.5], rng.choice([-1, 1], B - 3) * rng.uniform(1.2, 1.8, B - 3)]))
    old_mu = mu + away * sd
    old_sd = sd * np.where(away != 0, rng.uniform(1.15, 1.4, B), 1.0)
    theta = old_mu[:, None] + old_sd[:, None] * rng.normal(size=(B, M))
    slopes = rng.uniform(2, 4, (B, 1)) - 0.7 * theta
    shares = np.sort(_shares(_weights(theta, old_mu, old_sd, mu, sd)))
    at = int(np.diff(shares[:-1]).argmax())
    return theta, slopes, old_mu, old_sd, mu, sd, float(shares[at] + shares[at + 1]) / 2


def _clear(theta: Any, _slopes: Any, old_mu: Any, old_sd: Any, mu: float, sd: float, least: float) -> bool:
    """At least two batches are kept, and no share is near the threshold."""
    shares = _shares(_weights(theta, old_mu, old_sd, mu, sd))
    return bool(3 <= (shares >= least).sum() < len(shares) and abs(shares - least).min() > 0.05)


def _table_with_a_rare_batch(rng: np.random.Generator) -> tuple[Any, ...]:
    """A batch far away whose draws happen to lie near today's mean: its weights are large, and even enough to be kept."""
    mu, sd = float(rng.normal()), float(rng.uniform(0.5, 1.0))
    away, wide = np.array([0.0, 0.4, 3.3, -1.6]), np.array([1.0, 1.2, 1.0, 1.3])
    old_mu, old_sd = mu + away * sd, wide * sd
    theta = old_mu[:, None] + old_sd[:, None] * rng.normal(size=(4, 5))
    theta[2] = mu + sd * rng.uniform(-0.2, 0.2, 5)
    order = rng.permutation(4)
    slopes = rng.uniform(2, 4, (4, 1)) - 0.7 * theta
    return theta[order], slopes[order], old_mu[order], old_sd[order], mu, sd, 0.5


def _large_weights(theta: Any, _slopes: Any, old_mu: Any, old_sd: Any, mu: float, sd: float, least: float) -> bool:
    """Some batch that is kept has a weight above 150."""
    w = _weights(theta, old_mu, old_sd, mu, sd)
    return bool(w[_shares(w) >= least].max(initial=0.0) > 150)


@lru_cache(maxsize=32)
def _tables(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 532])
    return telling(
        lambda: [_table_of_draws(rng, 5, 6), _table_of_draws(rng, 7, 9), _table_with_a_rare_batch(rng)],
        _climb(),
        ALL_DIRECTIONS,
        lambda *case: _clear(*case) and (len(case[0]) != 4 or _large_weights(*case)),
        [_climb(keep=lambda w, least, power=power: _shares(w) ** power >= least) for power in (0.5, 2)],
    )


def direction_verdict(answer: Any, seed: int = 0) -> Verdict:
    return quiet(
        answer,
        _tables(seed),
        _direction_by_intervals,
        ALL_DIRECTIONS,
        right="Right. What is left out says nothing, and the rest keeps its size.",
        nudge="Not that direction. With theta = [[0, 2], [1, 3], [0, 4]], slopes = [[1, 3], [2, 6], [5, 5]], old_mu = [1, 1, 0], "
        "old_sd = [1, 2, 1], mu = 1, sd = 1 and least = 0.65 it is 2.669: the weights are [[1, 1], [2, 0.446], [0.607, 33.115]], and the "
        "shares 1, 0.713 and 0.518.",
    )


TASKS = (
    Task(
        "is_gradients/sag/path",
        "Averages that remember: a table of gradients",
        2,
        11,
        path_stub,
        (
            "Three things at each step, in this order: compute one gradient, write it over the old one, take the mean of what is there.",
            "x_new = x + rate * (1/|S|) sum over b in S of table_b, where S are the batches visited so far.",
            "Begin with `table = {}`: what was never visited is not in it",
        ),
        PATH_MISTAKES,
        path_verdict,
    ),
    Task(
        "is_gradients/sag/moments",
        "Averages that remember: bias and variance",
        2,
        7,
        moments_stub,
        (
            "There are B directions, one for each batch that may come next. Write them all down; then take their mean and variance.",
            "direction_b = (1/B) (fresh_b + sum over all a but b of table_a).",
            "Begin with `directions = (table.sum() - table + fresh) / len(table)`",
        ),
        MOMENTS_MISTAKES,
        moments_verdict,
    ),
    Task(
        "is_gradients/sag/direction",
        "Averages that remember: with weights",
        2,
        12,
        direction_stub,
        (
            "Weights first, then the share of each batch, then which batches stay, and only then the two means.",
            "w_bm = N(theta_bm; mu, sd) / N(theta_bm; old_mu_b, old_sd_b); share_b = (sum_m w_bm)^2 / (M sum_m w_bm^2).",
            "Begin with `w = norm.pdf(theta, mu, sd) / norm.pdf(theta, old_mu[:, None], old_sd[:, None])`",
        ),
        DIRECTION_MISTAKES,
        direction_verdict,
    ),
)
