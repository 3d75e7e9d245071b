"""A posterior of your own. Roads: the joint normal of outcomes and line; draws put together one by one; differences between pairs."""

import numpy as np

from course_pkg.checks._judge import read
from course_pkg.checks.record import Record


def by_the_joint_normal(x, y, train, noise_sd, prior_sd):
    """The normal of coefficients and training outcomes together, conditioned on the outcomes."""
    seen, design = y[np.flatnonzero(train)], np.array([[1.0, value] for value, used in zip(x, train, strict=True) if used])
    across = prior_sd**2 * design.T
    gain = across @ np.linalg.inv(prior_sd**2 * design @ design.T + noise_sd**2 * np.eye(len(seen)))
    return gain @ seen, prior_sd**2 * np.eye(2) - gain @ across.T


def one_by_one(theta, eps, x, noise_sd):
    out = np.zeros((len(x), len(theta)))
    for n, s in np.ndindex(out.shape):
        out[n, s] = theta[s, 0] + theta[s, 1] * x[n] + noise_sd * eps[s, n]
    return out


def from_pairs(old, new):
    d, n = [a - b for a, b in zip(old, new, strict=True)], len(old)
    squares = sum((a - b) ** 2 for a in d for b in d) / 2
    return sum(d) / n, (squares / n / (n - 1) / n) ** 0.5


def held_out(rng):
    for n, out in [(7, 2), (12, 5)]:
        x, train = rng.normal(size=n), np.ones(n, dtype=bool)
        train[rng.permutation(n)[:out]] = False
        yield x, 1 - x + rng.normal(size=n) + 3 * ~train, train, rng.uniform(0.5, 0.8), rng.uniform(1.2, 1.8)


def costs(rng):
    for n in (6, 15):
        old = rng.exponential(2, n)
        yield old, old * rng.uniform(0.5, 1.1, n)


POSTERIOR = Record(
    cases=held_out,
    reference=by_the_joint_normal,
    parts=("the mean", "the covariance"),
    right="Right. What is held out has been seen by nobody, and its verdict counts.",
    nudge="Not that posterior. With x = [2, 5], y = [21, 8], train = [True, False], noise_sd = 1/2 and prior_sd = 1 the mean is [4, 8] "
    "and the covariance a 21st of [[17, -8], [-8, 5]].",
    hints=(
        "Bayes' rule for a line with known noise. Which rows may it look at?",
        "covariance = (X'X / s^2 + I / s0^2)^-1, mean = covariance X'y / s^2, with the rows (1, x_n) of the points in train.",
        "Begin with `design = np.column_stack([np.ones(train.sum()), x[train]])`",
    ),
    mistakes={
        "Your posterior has seen the points that shall judge. Fit it to the points of `train` only.": "design = -> train = train | True\ndesign =",
        "You fitted the points that were to be held out, and left the others.": "design = -> train = ~train\ndesign =",
        "That is least squares and its covariance. The prior adds its precision, 1 / prior_sd^2, to both coefficients.": "+ np.eye(2) / prior_sd**2 -> ",
        "noise_sd and prior_sd are standard deviations: the square of each belongs here.": "noise_sd**2 -> noise_sd || prior_sd**2 -> prior_sd || _sd**2 -> _sd",
        "The intercept has the prior, too.": "np.eye(2) -> np.diag([0, 1])",
    },
)
PREDICTIVE = Record(
    cases=lambda rng: [
        (rng.normal(size=(s, 2)), rng.normal(size=(s, n)), rng.normal(size=n), rng.uniform(1.5, 3)) for s, n in [(9, 4), (5, 6)]
    ],
    reference=one_by_one,
    right="Right. Draws in this shape are all that `correct` asks of an engine.",
    nudge="Not these draws. All chance is in `theta` and `eps`: draw none of your own. With theta = [[1, 2], [0, 1]], eps = [[1], [-1]], "
    "x = [5] and noise_sd = 3 they are [[14, 2]].",
    hints=(
        "A predictive draw needs a line and a distance from it. Where does each come from?",
        "out[n, s] = theta[s, 0] + theta[s, 1] x_n + noise_sd eps[s, n].",
        "Begin with `line = theta[:, :1] + theta[:, 1:] * x[None, :]`",
    ),
    mistakes={
        "A reshape has put numbers in the wrong places. Turn the array instead: eps[s, n] belongs to draw s at point n.": "(line + noise_sd * eps).T -> line.T + noise_sd * eps.reshape(len(x), -1) || .T -> .reshape(len(x), -1)",
        "You used the same noise for all draws, or for all points. Each number of eps has its own place: eps[s, n] belongs to draw s at point n.": "eps -> eps[:1]",
        "You used one line for every draw, the first or the mean one. That is a model that is sure of its coefficients; take each draw's own.": "line = -> theta = theta[:1]\nline =",
    },
)


def by_either_divisor(answer, old, new):
    """The error may have n or n - 1 in it."""
    got = read(answer(old, new), (np.zeros(()), np.zeros(())))
    by_n = np.std(old - new) / np.sqrt(len(old))
    return (got[0], by_n * np.sqrt(len(old) / (len(old) - 1))) if np.allclose(got[1:], by_n, rtol=1e-5) else got


SAVED = Record(
    cases=costs,
    reference=from_pairs,
    view=by_either_divisor,
    parts=("the saving", "the standard error"),
    right="Right. If the saving is not well above its error, you have not seen a saving.",
    nudge="Not these two. With old = [2, 6, 7] and new = [1, 4, 1] they are 3 and 1.528.",
    hints=(
        "Each point has two costs. Make one number of them before you do any statistics.",
        "d_n = old_n - new_n; the mean of d, and its standard error, sqrt((1/(N - 1)) sum of (d_n - mean)^2 / N).",
        "Begin with `d = old - new`",
    ),
    mistakes={
        "The saving is right. The costs of a point are not independent: take differences first.": "d.std(ddof=1) -> np.sqrt(old.var(ddof=1) + new.var(ddof=1))",
        "The saving is right. That is how far single points differ; a mean of n is quieter.": "/ np.sqrt(len(d)) -> ",
        "The saving is right. Divide by the root of n, not by n.": "np.sqrt(len(d)) -> len(d)",
        "Those are the two risks. Their difference was asked for, and its standard error.": "d.mean(), d.std(ddof=1) / np.sqrt(len(d)) -> old.mean(), new.mean()",
        "Yours are shares of the old risk, as in the report. Here both are asked for in the unit of the loss.": "d.mean() -> d.mean() / old.mean() || d = old - new -> d = (old - new) / old.mean()",
    },
)
TASKS = {"posterior": POSTERIOR, "predictive": PREDICTIVE, "saved": SAVED}
