"""A posterior of your own. Roads: the joint normal of outcomes and line; draws put together one by one; differences between pairs."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Verdict, agree, call, judge, numbers


def _by_the_joint_normal(
    x: np.ndarray, y: np.ndarray, train: np.ndarray, noise_sd: float, prior_sd: float
) -> tuple[np.ndarray, np.ndarray]:
    """The normal of coefficients and training outcomes together, conditioned on the outcomes."""
    rows = [[1.0, float(value)] for value, used in zip(x, train, strict=True) if used]
    seen, design = y[np.flatnonzero(train)], np.array(rows)
    across = prior_sd**2 * design.T
    gain = across @ np.linalg.inv(prior_sd**2 * design @ design.T + noise_sd**2 * np.eye(len(seen)))
    return gain @ seen, prior_sd**2 * np.eye(2) - gain @ across.T


def _one_by_one(theta: np.ndarray, eps: np.ndarray, x: np.ndarray, noise_sd: float) -> np.ndarray:
    out = np.zeros((len(x), len(theta)))
    for n in range(len(x)):
        for s in range(len(theta)):
            out[n, s] = theta[s, 0] + theta[s, 1] * x[n] + noise_sd * eps[s, n]
    return out


def _saved_from_pairs(old: np.ndarray, new: np.ndarray) -> tuple[float, float]:
    saved = [float(a - b) for a, b in zip(old, new, strict=True)]
    n = len(saved)
    squares = sum((a - b) ** 2 for a in saved for b in saved) / 2
    return sum(saved) / n, (squares / n / (n - 1) / n) ** 0.5


def posterior_stub(x: np.ndarray, y: np.ndarray, train: np.ndarray, noise_sd: float, prior_sd: float) -> Any:
    raise NotImplementedError


def predictive_stub(theta: np.ndarray, eps: np.ndarray, x: np.ndarray, noise_sd: float) -> Any:
    raise NotImplementedError


def saved_stub(old: np.ndarray, new: np.ndarray) -> Any:
    raise NotImplementedError


def _posterior(
    use: Callable[..., Any] = lambda train: train,
    *,
    prior: Any = 1.0,
    noise: float = 2.0,
    root: float = 2.0,
    out: Callable[..., Any] = lambda a: a,
):
    def answer(x, y, train, noise_sd, prior_sd):
        design, seen = np.column_stack([np.ones_like(x), x])[use(train)], y[use(train)]
        covariance = np.linalg.inv(design.T @ design / noise_sd**noise + np.diag(prior * np.ones(2)) / prior_sd**root)
        return covariance @ design.T @ seen / noise_sd**noise, out(covariance)

    return answer


def _turned(*case):
    mean, covariance = _by_the_joint_normal(*case)
    return mean[::-1], covariance[::-1, ::-1]


POSTERIOR_MISTAKES = {
    "fitted to all": Mistake(
        _posterior(lambda train: np.ones_like(train)),
        "Your posterior has seen the points that shall judge. Fit it to the points of `train` only.",
    ),
    "fitted to the others": Mistake(
        _posterior(lambda train: ~train),
        "You fitted the points that were to be held out, and left the others.",
    ),
    "no prior": Mistake(
        _posterior(prior=0.0),
        "That is least squares and its covariance. The prior adds its precision, 1 / prior_sd^2, to both coefficients.",
    ),
    "sd as variance, noise": Mistake(
        _posterior(noise=1.0),
        "noise_sd is a standard deviation: its square belongs here.",
    ),
    "sd as variance, prior": Mistake(
        _posterior(root=1.0),
        "prior_sd is a standard deviation: its square belongs here.",
    ),
    "both sds as variances": Mistake(
        _posterior(noise=1.0, root=1.0),
        "noise_sd and prior_sd are standard deviations: the square of each belongs here.",
    ),
    "prior upside down": Mistake(
        _posterior(root=-2.0),
        "You added the prior's variance. Precisions add up: the prior's is 1 / prior_sd^2.",
    ),
    "noise forgotten": Mistake(
        _posterior(noise=0.0),
        "The data's precision is that of the noise: divide by noise_sd squared, in both places.",
    ),
    "intercept without prior": Mistake(
        _posterior(prior=np.array([0.0, 1.0])),
        "The intercept has the prior, too.",
    ),
    "slope first": Mistake(
        _turned,
        "Intercept and slope have changed places: the intercept comes first.",
    ),
    "precision": Mistake(
        _posterior(out=np.linalg.inv),
        "The mean is right. The second value is the precision matrix; its inverse was asked for.",
    ),
    "standard deviations": Mistake(
        _posterior(out=lambda covariance: np.sqrt(np.diag(covariance))),
        "The mean is right. You returned two standard deviations; intercept and slope also vary together: return the covariance matrix.",
    ),
}
PREDICTIVE_MISTAKES = {
    "no noise": Mistake(
        lambda theta, eps, x, noise_sd: _one_by_one(theta, 0 * eps, x, noise_sd),
        "Those are draws of the line. An outcome lies off the line by its noise, and the decision is about the outcome.",
    ),
    "draws first": Mistake(
        lambda theta, eps, x, noise_sd: _one_by_one(theta, eps, x, noise_sd).T,
        "The draws are right and stand first. One row for each point: turn the array.",
    ),
    "noise reshaped": Mistake(
        lambda theta, eps, x, noise_sd: _one_by_one(theta, 0 * eps, x, 0.0) + noise_sd * eps.reshape(len(x), len(theta)),
        "A reshape of eps leaves its numbers in the wrong places. Turn it: eps[s, n] belongs to draw s at point n.",
    ),
    "draws reshaped": Mistake(
        lambda theta, eps, x, noise_sd: _one_by_one(theta, eps, x, noise_sd).T.reshape(len(x), len(theta)),
        "The draws are right, and a reshape has put them in the wrong places. Turn the array instead.",
    ),
    "one noise for all draws": Mistake(
        lambda theta, eps, x, noise_sd: _one_by_one(theta, np.tile(eps[:1], (len(theta), 1)), x, noise_sd),
        "You gave all draws the noise of the first. Each has its own row of eps.",
    ),
    "one line for all draws": Mistake(
        lambda theta, eps, x, noise_sd: _one_by_one(np.tile(theta[:1], (len(theta), 1)), eps, x, noise_sd),
        "You used the first line for every draw. Each draw has its own row of theta.",
    ),
    "a root of the sd": Mistake(
        lambda theta, eps, x, noise_sd: _one_by_one(theta, eps, x, noise_sd**0.5),
        "You took the root of noise_sd. It is a standard deviation already.",
    ),
    "one noise for all points": Mistake(
        lambda theta, eps, x, noise_sd: _one_by_one(theta, np.tile(eps[:, :1], (1, len(x))), x, noise_sd),
        "You gave all points the noise of the first. Each has its own column of eps.",
    ),
    "variance": Mistake(
        lambda theta, eps, x, noise_sd: _one_by_one(theta, eps, x, noise_sd**2),
        "You multiplied by the variance: eps has standard deviation 1 and wants noise_sd.",
    ),
    "noise unscaled": Mistake(
        lambda theta, eps, x, noise_sd: _one_by_one(theta, eps, x, 1.0),
        "Your noise has standard deviation 1 everywhere. It should be noise_sd.",
    ),
    "mean line": Mistake(
        lambda theta, eps, x, noise_sd: _one_by_one(np.tile(theta.mean(axis=0), (len(theta), 1)), eps, x, noise_sd),
        "You used the mean line for every draw. That is a model that is sure of its coefficients; take each draw's own.",
    ),
    "columns swapped": Mistake(
        lambda theta, eps, x, noise_sd: _one_by_one(theta[:, ::-1], eps, x, noise_sd),
        "Intercept and slope have changed places: column 0 is the intercept.",
    ),
}
SAVED_MISTAKES = {
    "not paired": Mistake(
        lambda old, new: ((old - new).mean(), np.sqrt((old.var(ddof=1) + new.var(ddof=1)) / len(old))),
        "The saving is right. Your error takes the two costs of a point for independent; what makes a point dear for both drops "
        "out of their difference.",
    ),
    "spread of the points": Mistake(
        lambda old, new: ((old - new).mean(), (old - new).std(ddof=1)),
        "The saving is right. That is how far single points differ; a mean of n is quieter.",
    ),
    "variance": Mistake(
        lambda old, new: ((old - new).mean(), (old - new).var(ddof=1) / len(old)),
        "The saving is right. Your error is a variance: take the root.",
    ),
    "divided by n": Mistake(
        lambda old, new: ((old - new).mean(), (old - new).std(ddof=1) / len(old)),
        "The saving is right. Divide by the root of n, not by n.",
    ),
    "n for n - 1": Mistake(
        lambda old, new: ((old - new).mean(), (old - new).std() / np.sqrt(len(old))),
        "Nearly: the standard deviation is estimated around the points' own mean, so divide by n - 1 in it (NumPy: ddof=1).",
    ),
    "root of n - 1": Mistake(
        lambda old, new: ((old - new).mean(), (old - new).std(ddof=1) / np.sqrt(len(old) - 1)),
        "You took 1 from n twice. It belongs in the standard deviation; the mean is one of n.",
    ),
    "an interval": Mistake(
        lambda old, new: ((old - new).mean(), 1.96 * _saved_from_pairs(old, new)[1]),
        "The saving is right. Yours is half an interval of 95 per cent: one standard error was asked for, not 1.96.",
    ),
    "an interval of 90 per cent": Mistake(
        lambda old, new: ((old - new).mean(), float(norm.ppf(0.95)) * _saved_from_pairs(old, new)[1]),
        "The saving is right. Yours is half an interval of 90 per cent: one standard error was asked for, not 1.645.",
    ),
    "summed": Mistake(
        lambda old, new: ((old - new).sum(), _saved_from_pairs(old, new)[1]),
        "The standard error is right. Your saving is a sum over the points: it was asked for per point.",
    ),
    "both summed": Mistake(
        lambda old, new: ((old - new).sum(), len(old) * _saved_from_pairs(old, new)[1]),
        "Those are the sum of the savings and its standard error. Both were asked for per point.",
    ),
    "changed places": Mistake(
        lambda old, new: _saved_from_pairs(old, new)[::-1],
        "The two have changed places: the saving comes first.",
    ),
    "turned round": Mistake(
        lambda old, new: (-_saved_from_pairs(old, new)[0], _saved_from_pairs(old, new)[1]),
        "The sign is turned: a saving is positive when the new decisions cost less.",
    ),
    "the two risks": Mistake(
        lambda old, new: (old.mean(), new.mean()),
        "Those are the two risks. Their difference was asked for, and its standard error.",
    ),
    "share": Mistake(
        lambda old, new: (1 - new.mean() / old.mean(), _saved_from_pairs(old, new)[1]),
        "Your saving is a share of the old risk. Here it is asked for in the unit of the loss.",
    ),
    "both as shares": Mistake(
        lambda old, new: tuple(part / old.mean() for part in _saved_from_pairs(old, new)),
        "Both are shares of the old risk, as in the report. Here they are asked for in the unit of the loss.",
    ),
}


NOT_THESE = "Not these draws. With theta = [[1, 2], [0, 1]], eps = [[1], [-1]], x = [5] and noise_sd = 3 they are [[14, 2]]."
OWN_NOISE = "Your draws do not follow `eps`. Take the noise from there, and draw none of your own."


def posterior_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 870])
    cases = []
    for n, held_out in [(7, 2), (12, 5)]:
        x = rng.normal(size=n)
        train = np.ones(n, dtype=bool)
        train[rng.permutation(n)[:held_out]] = False
        y = 1 - x + rng.normal(size=n) + 3 * ~train
        cases.append((x, y, train, float(rng.uniform(0.5, 0.8)), float(rng.uniform(1.2, 1.8))))
    return judge(
        answer,
        cases,
        _by_the_joint_normal,
        POSTERIOR_MISTAKES,
        right="Right. What is held out has been seen by nobody, and its verdict counts.",
        nudge="Not that posterior. With x = [1, 5], y = [9, 8], train = [True, False], noise_sd = 1/2 and prior_sd = 1 the mean is [4, 4] "
        "and the covariance a ninth of [[5, -4], [-4, 5]].",
        parts=("the mean", "the covariance"),
    )


def predictive_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 871])
    cases = [
        (rng.normal(size=(s, 2)), rng.normal(size=(s, n)), rng.normal(size=n), float(rng.uniform(1.5, 3))) for s, n in [(9, 4), (5, 6)]
    ]
    verdict = judge(
        answer,
        cases,
        _one_by_one,
        PREDICTIVE_MISTAKES,
        right="Right. Draws in this shape are all that `correct` asks of an engine.",
        nudge=NOT_THESE,
    )
    if verdict.message != NOT_THESE:
        return verdict
    theta, eps, x, noise_sd = cases[0]
    draws, again, moved = (numbers(call(answer, theta, e, x, noise_sd)) for e in (eps, eps, eps + 1))
    follows = agree(draws, again, 1e-9) and not agree(draws, moved, 1e-9)
    return Verdict(False, NOT_THESE if follows else OWN_NOISE)


def saved_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 872])
    cases = []
    for n in (6, 15):
        old = rng.exponential(2, n)
        cases.append((old, old * rng.uniform(0.5, 1.1, n)))
    return judge(
        answer,
        cases,
        _saved_from_pairs,
        SAVED_MISTAKES,
        right="Right. If the saving is not well above its error, you have not seen a saving.",
        nudge="Not these two. With old = [2, 6, 7] and new = [1, 4, 1] they are 3 and 1.528.",
        parts=("the saving", "the standard error"),
    )


TASKS = (
    Task(
        "posthoc/your-own/posterior",
        "A posterior of your own: fit",
        2,
        8,
        posterior_stub,
        (
            "Bayes' rule for a line with known noise. Which rows may it look at?",
            "covariance = (X'X / s^2 + I / s0^2)^-1, mean = covariance X'y / s^2, with the rows (1, x_n) of the points in train.",
            "Begin with `design = np.column_stack([np.ones(train.sum()), x[train]])`",
        ),
        POSTERIOR_MISTAKES,
        posterior_verdict,
    ),
    Task(
        "posthoc/your-own/predictive",
        "A posterior of your own: predict",
        2,
        6,
        predictive_stub,
        (
            "A predictive draw needs a line and a distance from it. Where does each come from?",
            "out[n, s] = theta[s, 0] + theta[s, 1] x_n + noise_sd eps[s, n].",
            "Begin with `line = theta[:, :1] + theta[:, 1:] * x[None, :]`",
        ),
        PREDICTIVE_MISTAKES,
        predictive_verdict,
    ),
    Task(
        "posthoc/your-own/saved",
        "A posterior of your own: judge",
        2,
        6,
        saved_stub,
        (
            "Each point has two costs. Make one number of them before you do any statistics.",
            "d_n = old_n - new_n; the mean of d, and its standard error, sqrt((1/(N - 1)) sum of (d_n - mean)^2 / N).",
            "Begin with `d = old - new`",
        ),
        SAVED_MISTAKES,
        saved_verdict,
    ),
)
