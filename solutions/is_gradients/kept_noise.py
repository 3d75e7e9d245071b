"""Kept noise. Roads: a root of the bound's slopes; draws counted up until the loss is small; a run read off its own history."""

import numpy as np
from scipy import optimize

from course_pkg.checks.record import Record

MEAN = "table.mean()"
ROW = "answer - table[b] + table.mean()"


def optimum_by_slopes(eps, m, s):
    """Where both slopes of the bound are zero, by a root finder in mu and log sigma, from the posterior's own."""

    def slopes(v):
        gap = (v[0] + np.exp(v[1]) * eps - m) / s**2
        return [-gap.mean() * s, 1 - (gap * np.exp(v[1]) * eps).mean()]

    found = optimize.root(slopes, (m, np.log(s / eps.std()) + 0.1), tol=1e-12).x
    return found[0], np.exp(found[1])


def enough_by_counting(slopes, curvature, nats):
    """Along the principal axes of the curvature, draw by draw."""
    bend, axes = np.linalg.eigh(curvature)
    along = (slopes - slopes.mean(axis=0)) @ axes
    one = sum(np.mean(column**2) / b for column, b in zip(along.T, bend, strict=True)) / 2
    draws = 1
    while one / draws > nats:
        draws += 1
    return draws


def climb_from_history(a, c, order, noise, rate, x):
    """No table: each row is looked up in the run's past."""
    path, said = [x], []
    for t, b in enumerate(order):
        rows = [next((said[k] for k in range(t - 1, -1, -1) if order[k] == block), 0.0) for block in range(len(a))]
        said.append(a[b] * c[b] - a[b] * path[-1] + noise[t])
        path.append(path[-1] + rate * (said[-1] - rows[b] + sum(rows) / len(rows)))
    return np.array(path[1:])


def lists(rng):
    for draws, lean in ((4, 0.6), (7, -0.8), (5, 0.5)):
        yield lean + rng.normal(size=draws) * rng.uniform(0.7, 1.4), float(rng.uniform(1, 3)), float(rng.uniform(0.4, 0.8))


def tops(rng):
    """Slopes and curvatures that do not lie along the axes; no loss is near a whole number of draws."""
    for K, p, nats in ((12, 3, 0.2), (30, 2, 0.1), (9, 4, 0.3)):
        while True:
            slopes = rng.normal(size=(K, p)) @ rng.normal(size=(p, p)) * 1.5 + rng.normal(size=p)
            root = rng.normal(size=(p, p))
            curvature = root @ root.T + 0.5 * np.eye(p)
            one = np.trace(np.linalg.inv(curvature) @ np.cov(slopes.T, ddof=0)) / 2 / nats
            if 8 < one < 150 and 0.2 < one % 1 < 0.8:
                break
        yield slopes, curvature, nats


def walks(rng):
    """Blocks that are visited again, and one that never is."""
    for B, early in ((4, [1, 1, 3, 0, 3]), (5, [2, 0, 2, 0])):
        order = [*early, *rng.permutation(B - 1).tolist(), 0, 1]
        a, c = rng.uniform(0.5, 1.5, B), rng.uniform(1, 4, B)
        yield a, c, order, rng.normal(size=len(order)), float(rng.uniform(0.2, 0.4)), float(rng.uniform(-2, -1))


OPTIMUM = Record(
    cases=lists,
    reference=optimum_by_slopes,
    parts=("the mean", "the standard deviation"),
    right="Right. The draws get the posterior's mean and spread, and q is off by what they miss.",
    nudge="Not that optimum. With eps = [0, 4], m = 3 and s = 1 it is (2, 0.5): the draws are 2 and 4, with mean 3 and standard deviation 1.",
    hints=(
        "Which mean and which spread should the draws themselves have? Split the mean square into mean and variance.",
        "F = -((mu + sigma eps_bar - m)^2 + sigma^2 v) / (2 s^2) + log sigma, with v the variance of eps, divided by M.",
        "Begin with `sigma = s / eps.std()`",
    ),
    mistakes={
        "You divided the variance by M - 1. F is a mean over M draws, and its own variance has M.": "eps.std() -> eps.std(ddof=1)",
        "You took the mean square of the noise for its variance. Their mean is not 0, and mu makes up for it.": "eps.std() -> np.sqrt(np.mean(eps**2))",
        "The mean of q is not m: the draws are to have mean m, and they lie at mu + sigma times the mean of the noise.": "m - sigma * eps.mean() -> m",
        "You moved mu the wrong way. If the noise lies too high, mu goes down.": "m - sigma -> m + sigma",
        "You multiplied by the spread of the noise. Noise that is too narrow needs a wider q.": "s / eps.std() -> s * eps.std()",
        "You moved mu by s times the mean of the noise. It is q's own sigma that stretches it.": "m - sigma * -> m - s *",
        "That is sigma squared in the second place.": "eps.mean(), sigma -> eps.mean(), sigma**2",
    },
)
ENOUGH = Record(
    cases=tops,
    apart=True,
    reference=enough_by_counting,
    right="Right. Where the model is the family's own, V = H, and it is p / (2 nats).",
    nudge="Not that number. With slopes = [[2, 0], [-2, 0], [0, 1], [0, -1]], curvature = [[1, 0], [0, 2]] and nats = 0.2 the covariance "
    "is diagonal with 2 and 1/2, one draw loses 1.125 nats, and it takes 6.",
    hints=(
        "What does one draw lose on average? M draws lose an M-th part of it.",
        "one = tr(H^-1 V) / 2; the least whole M with one / M <= nats.",
        "Begin with `V = np.cov(slopes.T, ddof=0)`",
    ),
    mistakes={
        "You left out the half of the parabola.": "0.5 * np.trace -> np.trace",
        "One draw too few: a number below the ratio loses more than was allowed. Round up.": "np.ceil -> np.floor",
        "You divided by K - 1. Here the covariance is divided by K.": "ddof=0 -> ddof=1",
        "You forgot the curvature. The same error of the slope costs little where the hill is steep.": "np.linalg.solve(curvature, V) -> V",
        "You multiplied by the curvature. Where the hill is steep the top moves less: solve with it.": "np.linalg.solve(curvature, V) -> curvature @ V",
        "You looked at the diagonals alone. Parameters that pull together count through the inverse of the whole matrix.": "np.linalg.solve(curvature, V) -> V / curvature",
        "You have not taken the mean of the slopes off.": "np.cov(slopes.T, ddof=0) -> slopes.T @ slopes / len(slopes)",
    },
)
CLIMB = Record(
    cases=walks,
    reference=climb_from_history,
    rtol=1e-6,
    right="Right. What the table says of a block is taken off when the block itself speaks.",
    nudge="Not that climb. With a = [1, 1], c = [4, 0], order = [0, 0, 1], noise = [0, 1, 0], rate = 1/2 and x = 0 it is [2, 2.5, 2].",
    hints=(
        "Three things at each step, in this order: the answer, the move by the table as it was, the new row.",
        "x_new = x + rate (g - table_b + mean of table), with g = a_b (c_b - x) + noise_t; then table_b = g.",
        "Begin with `table = np.zeros(len(a))`",
    ),
    mistakes={
        "That is SAG: your correction has the weight 1/B. SAGA gives it the weight 1, and is unbiased.": f"({ROW}) -> ((answer - table[b]) / len(a) + {MEAN})",
        "That is plain SGD: the table has no say in your step.": f"({ROW}) -> answer",
        "You left out the mean of the table. Without it the step is biased by what you took off.": f"({ROW}) -> (answer - table[b])",
        "You write the answer into the table before the step. The rows as they were are meant.": "- table[b] + table.mean() -> - table[b] + (table.sum() - table[b] + answer) / len(a)",
        "You left the noise out of the row. The table keeps what was answered, noise and all.": "table[b] = answer -> table[b] = answer - xi",
        "You divide by the blocks that were visited. Here a block that was never visited counts as zero.": f"{MEAN} -> table.sum() / max(np.count_nonzero(table), 1)",
        "Your signs are the other way round: the block's own row is taken off, the mean is put on.": f"{ROW} -> answer + table[b] - {MEAN}",
    },
)
TASKS = {"optimum": OPTIMUM, "enough": ENOUGH, "climb": CLIMB}
