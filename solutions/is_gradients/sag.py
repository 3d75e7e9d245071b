"""Stochastic average gradients. Roads: a run read off its own history, without a table; moments in closed form; weights from intervals."""

import numpy as np
from scipy.stats import norm

from course_pkg.checks.record import Record
from solutions.is_gradients._tools import log_ratio

MEAN = "np.mean(list(table.values()))"
BIAS = "directions.mean() - fresh.mean()"
KEPT = "rows[share >= least].mean()"
ROWS = "(w * slopes).mean(axis=1)"


def path_from_history(batches, order, rate, x):
    """No table: before each step the run's past is searched for the last visit to each batch."""
    path = [x]
    for now in range(len(order)):
        last = {b: max(t for t in range(now + 1) if order[t] == b) for b in order[: now + 1]}
        slopes = [batches[b].mean() - path[t] for b, t in last.items()]
        path.append(path[-1] + rate * sum(slopes) / len(slopes))
    return np.array(path[1:])


def moments_in_closed_form(table, fresh):
    B = len(table)
    return (1 - 1 / B) * (table.mean() - fresh.mean()), np.var(fresh - table) / B**2


def probability(centre, mu, sd, half):
    """Of the interval centre +- half, on the side of the tail where no digits are lost."""
    far = np.abs(centre - mu)
    return norm.sf((far - half) / sd) - norm.sf((far + half) / sd)


def direction_by_intervals(theta, slopes, old_mu, old_sd, mu, sd, least):
    """A weight is how much likelier a short interval around the draw has become."""
    kept = []
    for b in range(len(theta)):
        w = probability(theta[b], mu, sd, 1e-3 * sd) / probability(theta[b], old_mu[b], old_sd[b], 1e-3 * sd)
        if 1 / (1 + np.var(w) / np.mean(w) ** 2) >= least:
            kept.append(w @ slopes[b] / len(w))
    return sum(kept) / len(kept)


def orders(rng):
    for B, n, early in [(4, 2, [1, 1, 3, 0, 3]), (3, 5, [2, 0, 2, 0])]:
        batches = rng.normal(np.linspace(2, 5, B)[:, None] + rng.uniform(-0.3, 0.3, (B, 1)), 0.5, (B, n))
        yield batches, [*early, *rng.permutation(B).tolist(), 0], float(rng.uniform(0.2, 0.4)), float(rng.uniform(-2, -1))
    # a run whose second gradient is exactly 0: all numbers until then are sums of a few powers of two
    x, first, (near, far) = -float(rng.integers(1, 4)), float(rng.integers(4, 8)), rng.integers(1, 4, 2)
    there = x + 0.25 * (first - x)
    yield np.array([[there - near, there + near], [12.0, 12.0 + far], [first - far, first + far]]), [2, 0, 1, 0], 0.25, x


def aged(rng):
    for B, way in [(4, 1), (7, -1)]:
        fresh = rng.normal(rng.uniform(1, 2), 1, B)
        yield fresh + way * rng.uniform(0.8, 1.2) + rng.normal(0, 0.6, B), fresh


def weights(theta, _slopes, old_mu, old_sd, mu, sd, *_):
    """Of all draws; and the share of each batch."""
    w = np.exp(log_ratio(theta, old_mu[:, None], old_sd[:, None], mu, sd))
    return w, w.mean(axis=1) ** 2 / (w**2).mean(axis=1)


def table_of_draws(rng, B, M):
    """One batch is fresh, two are recent and the others old; the threshold is in the widest gap of the shares."""
    mu, sd = float(rng.normal()), float(rng.uniform(0.5, 1.0))
    away = rng.permutation(np.concatenate([[0.0, 0.35, -0.5], rng.choice([-1, 1], B - 3) * rng.uniform(1.2, 1.8, B - 3)]))
    old_mu, old_sd = mu + away * sd, sd * np.where(away != 0, rng.uniform(1.15, 1.4, B), 1.0)
    theta = old_mu[:, None] + old_sd[:, None] * rng.normal(size=(B, M))
    case = theta, rng.uniform(2, 4, (B, 1)) - 0.7 * theta, old_mu, old_sd, mu, sd
    shares = np.sort(weights(*case, 0.0)[1])
    at = int(np.diff(shares[:-1]).argmax())
    return *case, float(shares[at] + shares[at + 1]) / 2


def table_with_a_rare_batch(rng, B, M):
    """A batch far away whose draws happen to lie near today's mean: its weights are large, and even enough to be kept."""
    mu, sd = float(rng.normal()), float(rng.uniform(0.5, 1.0))
    old_mu, old_sd = mu + np.array([0.0, 0.4, 3.3, -1.6]) * sd, np.array([1.0, 1.2, 1.0, 1.3]) * sd
    theta = old_mu[:, None] + old_sd[:, None] * rng.normal(size=(B, M))
    theta[2] = mu + sd * rng.uniform(-0.2, 0.2, M)
    order, slopes = rng.permutation(B), rng.uniform(2, 4, (B, 1)) - 0.7 * theta
    return theta[order], slopes[order], old_mu[order], old_sd[order], mu, sd, 0.5


def tables(rng):
    """At least three batches are kept, no share is near the threshold; in the last table one that is kept has a weight above 150."""
    for draw, B, M, heaviest in [(table_of_draws, 5, 6, 0), (table_of_draws, 7, 9, 0), (table_with_a_rare_batch, 4, 5, 150)]:
        while True:
            case = draw(rng, B, M)
            (w, shares), least = weights(*case), case[-1]
            if 3 <= (shares >= least).sum() < B and abs(shares - least).min() > 0.05 and w[shares >= least].max() > heaviest:
                break
        yield case


PATH = Record(
    cases=orders,
    reference=path_from_history,
    rtol=1e-6,
    right="Right. Until all batches have been visited, those that were decide among themselves.",
    nudge="Not that path. With batches = [[1, 3], [6, 6], [9, 9]], order = [0, 1, 0], rate = 1/2 and x = 0 it is [1, 2.75, 3.8125].",
    hints=(
        "Three things at each step, in this order: compute one gradient, write it over the old one, take the mean of what is there.",
        "x_new = x + rate * (1/|S|) sum over b in S of table_b, where S are the batches visited so far.",
        "Begin with `table = {}`: what was never visited is not in it",
    ),
    mistakes={
        "You divide by the number of all batches from the start. One that was never visited has said nothing.": f"{MEAN} -> sum(table.values()) / len(batches)",
        "You divide by the points in a batch. Divide by how many rows of the table hold something.": f"{MEAN} -> sum(table.values()) / batches.shape[1]",
        "You climb along the sum of the table. Each gradient stands for all the data already, so that their mean was asked for.": f"{MEAN} -> sum(table.values())",
        "That is plain SGD: you climb along the new gradient alone. The other rows of the table have their say, too.": f"{MEAN} -> table[b]",
        "You compute all gradients anew. Only the visited batch is computed; the others stay as they were.": f"{MEAN} -> np.mean([batches[k].mean() - x for k in table])",
        "You average all gradients since the start. When a batch is visited again its new gradient replaces the old one.": "table[b] -> table[len(places)]",
    },
)
MOMENTS = Record(
    cases=aged,
    reference=moments_in_closed_form,
    parts=("the bias", "the variance"),
    right="Right. The table buys its quiet with a bias, which lasts as long as the table is old.",
    nudge="Not those moments. With table = [1, 9] and fresh = [0, 2] there are two directions, 9/2 and 3/2, and the true gradient "
    "is 1: the bias is 2 and the variance 9/4.",
    hints=(
        "There are B directions, one for each batch that may come next. Write them all down; then take their mean and variance.",
        "direction_b = (1/B) (fresh_b + sum over all a but b of table_a).",
        "Begin with `directions = (table.sum() - table + fresh) / len(table)`",
    ),
    mistakes={
        "That is the bias of the table as it stands. One of its rows is refreshed before the step.": f"{BIAS} -> table.mean() - fresh.mean()",
        "You divided by B - 1. Nothing is estimated: these are all the directions that there are, equally likely.": "directions.var() -> directions.var(ddof=1)",
        "Your variance is that of plain SGD. A direction here is a mean of B gradients of which one is fresh.": "directions.var() -> fresh.var()",
        "Your second value has the bias in it. A variance is around the directions' own mean.": "directions.var() -> np.mean((directions - fresh.mean()) ** 2)",
    },
)
ROOTS = " || ".join(f"mu, sd) -> mu, {f}(sd)) ;; old_sd[:, None] -> {f}(old_sd[:, None])" for f in ("np.sqrt", "np.square"))
DIRECTION = Record(
    cases=tables,
    apart=True,
    reference=direction_by_intervals,
    right="Right. What is left out says nothing, and the rest keeps its size.",
    nudge="Not that direction. With theta = [[0, 2], [1, 3], [0, 4]], slopes = [[1, 3], [2, 6], [5, 5]], old_mu = [1, 1, 0], "
    "old_sd = [1, 2, 1], mu = 1, sd = 1 and least = 0.5 it is 29.881: the weights are [[1, 1], [2, 0.446], [0.607, 33.115]], and the "
    "shares 1, 0.713 and 0.518.",
    hints=(
        "Weights first, then the share of each batch, then which batches stay, and only then the two means.",
        "w_bm = N(theta_bm; mu, sd) / N(theta_bm; old_mu_b, old_sd_b); share_b = (sum_m w_bm)^2 / (M sum_m w_bm^2).",
        "Begin with `w = norm.pdf(theta, mu, sd) / norm.pdf(theta, old_mu[:, None], old_sd[:, None])`",
    ),
    mistakes={
        "A batch that is left out counts as 0 in yours. It is to say nothing: divide by how many are kept.": f"{KEPT} -> np.where(share >= least, rows, 0.0).mean()",
        "You left no batch out. The effective share is the effective sample size over the number of draws, so it lies between 0 and 1.": f"{KEPT} -> rows.mean()",
        "Your weights are upside down: the density asked about is above the bar, the one that made the draws below it.": "share = -> w = 1 / w\nshare =",
        "Your weights compare the densities of eps. Those of theta differ by the two standard deviations as well.": "share = -> w = w * sd / old_sd[:, None]\nshare =",
        "norm.pdf takes standard deviations, which sd and old_sd are.": ROOTS,
        "The right batches, and their gradients have no weights: that is the mean under the old approximations.": "w * slopes -> slopes",
        "You divide by the sum of the weights. Here their mean is over the number of draws.": f"{ROWS} -> (w * slopes).sum(axis=1) / w.sum(axis=1)",
        "You judge a batch by its mean weight. The effective share is (sum w)^2 / sum w^2 over the draws.": "share >= least -> w.mean(axis=1) >= least",
        "": "share >= -> share**0.5 >= || share >= -> share**2 >= || share >= -> w.mean(axis=1) / w.max(axis=1) >=",
    },
)
TASKS = {"path": PATH, "moments": MOMENTS, "direction": DIRECTION}
