"""Project: did calibration help? Roads: bisection; differences of the bound; quadrature and searches; pairs of splits; intervals."""

from itertools import combinations

import numpy as np
from scipy.optimize import bisect, minimize_scalar

from course_pkg.checks.record import Record
from solutions.lcvi._tools import normal_mean
from solutions.lcvi._tools import slope as difference


def linex(y, h, c):
    return np.exp(c * (h - y)) - c * (h - y) - 1


def by_bisection(y, c):
    def excess(h, draws):
        return np.mean(np.exp(c * (h - draws))) - 1

    return [bisect(excess, draws.min() - 1e-9, draws.max() + 1e-9, args=(draws,), xtol=1e-9) for draws in y.T]


def bound(m, omega, X, y, noise, h, c, gamma):
    """Row by row and draw by draw."""
    s, total = np.exp(omega), 0.0
    for row, seen in zip(X, y, strict=True):
        total -= ((seen - row @ m) ** 2 + row**2 @ s**2) / 2
    for eps, delta in zip(*noise, strict=True):
        total -= gamma * linex(X @ (m + s * eps) + delta, h, c).sum() / len(noise[0])
    return total - (m @ m + s @ s) / 2 + omega.sum()


def by_differences(q, *rest):
    units = np.eye(len(q[0]))
    by_m = [difference(lambda move: bound(q[0] + move * unit, q[1], *rest), 0.0) for unit in units]  # noqa: B023
    return np.array(by_m), np.array([difference(lambda move: bound(q[0], q[1] + move * unit, *rest), 0.0) for unit in units])  # noqa: B023


def by_search(q, X, y, X_new, c):
    best = lambda risk: minimize_scalar(risk, bracket=(-1.0, 1.0), tol=1e-10).x
    own = []
    for row in X_new:
        sd = np.sqrt(1 + row**2 @ np.exp(2 * q[1]))
        own.append(row @ q[0] + best(lambda h: normal_mean(lambda out: linex(out, h, c), 0.0, sd)))  # noqa: B023
    number = best(lambda b: linex(y, X @ q[0] + b, c).mean())
    return np.array(own), np.array([row @ q[0] + number for row in X_new])


def by_pairs(old, new, n_train):
    saved = [float(np.sum(a) - np.sum(b)) / len(a) for a, b in zip(old, new, strict=True)]
    R = len(saved)
    variance = sum((a - b) ** 2 for a, b in combinations(saved, 2)) / (R * (R - 1))
    return sum(saved) / R, (variance * (n_train + R * len(old[0])) / (R * n_train)) ** 0.5


def by_intervals(saved, over):
    (low, high), floor = (saved[0] - 2 * saved[1], saved[0] + 2 * saved[1]), over[0] - 2 * over[1]
    return (low > 0) * (1 + (floor > 0)) - (high < 0)


def outcomes(rng):
    for S, N, c in ((6, 3, 0.8), (9, 2, 1.7)):
        yield rng.normal(1.5, 1.2, (S, N)) + rng.exponential(1.0, (S, N)), c * rng.uniform(0.9, 1.1)


def fits(rng):
    for d, N, S in ((3, 5, 4), (2, 4, 6)):
        q = rng.normal(0.2, 0.5, d), rng.uniform(-1.2, -0.4, d)
        X, noise = rng.normal(0.3, 0.9, (N, d)), (rng.normal(size=(S, d)), rng.normal(size=(S, N)))
        yield q, X, rng.normal(0.5, 1, N), noise, X @ q[0] + rng.uniform(-0.8, 0.3, N), rng.uniform(0.6, 0.9), rng.uniform(1.4, 2.2)


def rows(rng):
    for d, N, n in ((3, 7, 4), (2, 9, 3)):
        q, X = (rng.normal(0.4, 0.6, d), rng.uniform(-0.9, -0.2, d)), rng.normal(size=(N, d))
        yield q, X, X @ q[0] + rng.exponential(1.5, N) - 0.6, rng.normal(0.5, 1.2, (n, d)), rng.uniform(0.7, 1.3)


def splits(rng):
    for R, n, n_train in ((4, 5, 11), (7, 3, 8)):
        old = rng.exponential(2, (R, n)) + rng.exponential(1, (R, 1))
        yield old, old * rng.uniform(0.4, 1.1, (R, 1)) + rng.normal(0, 0.1, (R, n)), n_train


def reports(rng):
    """Means on either side of one, two and three errors, for both savings."""
    for k in (-3.0, -1.5, 1.5, 2.5):
        for j in (-2.5, 0.6, 1.5, 2.6):
            a, b = rng.uniform(0.1, 0.3, 2)
            yield (k * a, a), (j * b, b)


DECIDE = Record(
    cases=outcomes,
    reference=by_bisection,
    right="Right. Low draws count most: too much is what the loss cannot bear.",
    nudge="Not those decisions. With y = [[0, 1], [2, 1]] and c = 1 they are 0.566 and 1.",
    hints=(
        "Differentiate the mean loss of one point in h. What must the mean of exp(c (h - y)) be?",
        "exp(c h) times the mean of exp(-c y) is 1. `logsumexp` takes the logarithm of a sum that would leave the range.",
        "One line: `np.log(len(y))`, less a `logsumexp` over the draws, over c.",
    ),
    mistakes={
        "That is the best decision for squared loss. LinEx stays below the mean.": "return -> return y.mean(axis=0) #",
        "Yours lies above the mean. For c > 0 the dear side is h > y: decide low.": "return (np.log(len(y)) - logsumexp(-c * y, axis=0)) / c -> return (logsumexp(c * y, axis=0) - np.log(len(y))) / c",
        "You have the sum of the draws' exponentials where their mean is wanted.": "np.log(len(y)) -> 0",
        "You averaged over the points. Each point decides for itself, over its draws.": "np.log(len(y)) -> np.log(len(y.T)) ;; axis=0 -> axis=1",
        "One decision for all points: take the mean over the draws alone.": "np.log(len(y)) -> np.log(y.size) ;; , axis=0 -> ",
        "The logarithm has to be divided by c; it is an exponent yet.": "(np.log(len(y)) - logsumexp(-c * y, axis=0)) / c -> np.log(len(y)) - logsumexp(-c * y, axis=0)",
    },
    later={
        "Right for small draws. For large ones an exponential leaves the range of numbers; take off the largest exponent first, or use `logsumexp`.": (
            lambda rng: [(rng.normal(side * 1_950, 3, (5, 2)), 1.0) for side in (-1, 1)],
            "\n    return -np.log(np.mean(np.exp(-c * y), axis=0)) / c",
        ),
    },
)
SLOPE = Record(
    cases=fits,
    reference=by_differences,
    rtol=2e-4,
    parts=("the slope in m", "the slope in omega"),
    right="Right. At the best decisions for these draws the pull on m is small, and that on omega always narrows.",
    nudge="Not that slope. With d = 1, m = omega = 0, one row X = [[1]], y = [1], eps = [[1]], delta = [[0]], h = [0], c = 1 and gamma = 2 it is (-0.264, -2.264).",
    hints=(
        "Two layers of noise, both fixed: the outcome moves with theta, and theta with m and omega. The first three terms need no draws.",
        "d loss / d outcome = c - c exp(c (h - outcome)); d outcome / d m_j = x_j; d outcome / d omega_j = x_j s_j eps_j.",
        "Begin with `m, s, (eps, delta) = q[0], np.exp(q[1]), noise`",
    ),
    mistakes={
        "The loss is a cost: it lowers the bound. Or is your slope the one in h? The outcome stands on its other side.": "-gamma -> gamma",
        "You averaged the loss over the rows. Each row is decided about, and its loss counts whole.": "pull = -gamma * -> pull = -gamma / len(X) *",
        "You summed over the draws of theta. They estimate a mean.": "pull.mean(axis=0) -> pull.sum(axis=0) ;; (pull * s * eps).mean -> (pull * s * eps).sum",
        "The outcome does not move as omega does: d theta / d omega is s times eps.": "(pull * s * eps) -> (pull * eps) || (pull * s * eps) -> (pull * s)",
        "You held the outcomes fixed, so that the loss does not pull at all.": "-gamma * -> 0 *",
        "The noise of the outcomes is left out: your draws are of the mean of y, not of y.": "@ X.T + delta -> @ X.T",
        "The entropy's part is missing: omega itself stands in the bound.": "1 - s**2 * -> -(s**2) *",
        "The prior's part is missing.": "(y - X @ m) - m -> (y - X @ m) ;; (1 + (X**2) -> (0 + (X**2)",
        "Your second slope is in s. The parameter is its logarithm: a factor s more.": "\n    m, s, (eps, delta) = q[0], np.exp(q[1]), noise\n    pull = -gamma * (c - c * np.exp(c * (h - (m + s * eps) @ X.T - delta))) @ X\n    return X.T @ (y - X @ m) - m + pull.mean(axis=0), 1 / s - s * (1 + (X**2).sum(axis=0)) + (pull * eps).mean(axis=0)",
    },
)
ORDERS = Record(
    cases=rows,
    reference=by_search,
    parts=("the predictive orders", "the control"),
    right="Right. Both know the loss; only the first believes in the width of q.",
    nudge="Not those orders. With q = ([2], [0]), X = [[1], [1]], y = [2, 4], X_new = [[1]] and c = 1 they are 1 and 2.566.",
    hints=(
        "The predictive distribution of a row is normal: which mean and which variance? For the control, what is left of y once the fit's mean is taken off?",
        "For N(a, v) the best LinEx decision is a - c v / 2. The best number for the rest r_n solves mean exp(c (b - r_n)) = 1.",
        "Begin with `m, s2 = q[0], np.exp(2 * q[1])`",
    ),
    mistakes={
        "The noise of the outcome is missing in the variance. You order for y, not for its mean.": "1 + X_new**2 -> X_new**2",
        "The second part of q is the logarithm of s; the variance is exp(2 omega).": "np.exp(2 * q[1]) -> np.exp(q[1]) || np.exp(2 * q[1]) -> q[1] ** 2",
        "You took the variance's root. The shift of LinEx is c times half the variance.": "c * variance / 2 -> c * np.sqrt(variance) / 2",
        "Half of that: a normal's best LinEx decision is its mean less c v / 2.": "c * variance / 2 -> c * variance",
        "You shifted upwards. Too much is what costs exponentially.": "- c * variance / 2 -> + c * variance / 2",
        "Your control's number is the mean of what is left. That is best for squared loss.": "-np.log(np.mean(np.exp(-c * left))) / c -> left.mean()",
        "What is left has the wrong sign: it is the outcome less the fit's mean.": "y - X @ m -> X @ m - y",
        "Your control starts from the predictive orders. It takes the fit's mean alone.": "X_new @ m + number -> X_new @ m - c * variance / 2 + number",
    },
)
SAVING = Record(
    cases=splits,
    reference=by_pairs,
    parts=("the saving", "the error"),
    right="Right. More splits make the first part of the error small, and never the second.",
    nudge="Not those two. With old = [[2, 4], [5, 5]], new = [[1, 3], [2, 2]] and n_train = 4 they are 2 and 1.414.",
    hints=(
        "One number a split first: both rules were judged on the same rows. Then mean and variance over the splits.",
        "d_r = the mean over the rows of old - new; the error is the root of (1/R + n/n_train) times the variance of the d_r.",
        "Begin with `each = (old - new).mean(axis=1)`",
    ),
    mistakes={
        "The splits share their rows; with 1/R alone you count the same days again and again.": "1 / R + n / n_train -> 1 / R",
        "You left 1/R out: a few splits are noisy besides.": "1 / R + n / n_train -> n / n_train",
        "Turned over: the more rows judge, beside those that were fitted, the more the splits share. It is n / n_train.": "n / n_train -> n_train / n",
        "That is the variance. The error is its root.": "np.sqrt((1 / R + n / n_train) * each.var(ddof=1)) -> (1 / R + n / n_train) * each.var(ddof=1)",
        "Pair them: the variances of the two rules hold what is common to both, which the difference has lost.": "each.var(ddof=1) -> (old.mean(axis=1).var(ddof=1) + new.mean(axis=1).var(ddof=1))",
        "The variance is to be that among the savings of the splits, not among single rows.": "each.var(ddof=1) -> (old - new).var(ddof=1)",
        "Divide by R - 1 in the variance, as by `ddof=1`.": "ddof=1 -> ddof=0",
        "You saved the wrong way round: what the new rule costs less is what it saves.": "each.mean(), -> -each.mean(),",
        "You divided by the old losses. The saving is wanted in the unit of the loss.": "each = (old - new).mean(axis=1) -> each = (old - new).mean(axis=1) / old.mean(axis=1)",
    },
)
SENTENCE = Record(
    cases=reports,
    reference=by_intervals,
    right="Right. Three of four reports would be shorter if their authors had asked both questions.",
    nudge="Not that sentence. With saved = [0.5, 0.2] and over = [0.3, 0.2] it is 1: seen, and not over the control.",
    hints=(
        "Two questions, in this order: was anything seen against the plain fit? If a saving was, was it seen against the control, too?",
        "Seen: mean > 2 error. Harm seen: mean < -2 error. The control is asked only where a saving was seen.",
        "Begin with the case in which nothing was seen, `abs(saved[0]) <= ...`",
    ),
    mistakes={
        "You never ask the control.": "2 if over[0] > 2 * over[1] else 1 -> 2",
        "You ask the control alone. First something must be seen against the plain fit.": "\n    return 2 if over[0] > 2 * over[1] else 1 if saved[0] > 2 * saved[1] else -1 if saved[0] < -2 * saved[1] else 0",
        "One standard error is exceeded by chance every third time. Two were asked for.": "2 * saved[1] -> saved[1] ;; 2 * over[1] -> over[1] || 2 * saved[1] -> saved[1]",
        "A harm is seen, too, and to be said.": "abs(saved[0]) -> saved[0]",
        "A mean above 0 is not yet a saving that was seen, of the control no more than of the plain fit.": "over[0] > 2 * over[1] -> over[0] > 0",
        "The two savings have changed places.": "if abs(saved[0]) -> saved, over = over, saved\nif abs(saved[0])",
    },
)
TASKS = {"decide": DECIDE, "slope": SLOPE, "orders": ORDERS, "saving": SAVING, "sentence": SENTENCE}
