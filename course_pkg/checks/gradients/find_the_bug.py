"""Find the bug. Road: the evidence lower bound by quadrature over theta; a minibatch stands for copies of itself."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Verdict, judge
from course_pkg.checks.gradients._tools import balanced, elbo, slope


def _log_joint(y: np.ndarray, s: float, s0: float) -> Callable[[Any], Any]:
    def log_joint(theta: Any) -> Any:
        return norm.logpdf(theta, 0, s0) + sum(norm.logpdf(value, theta, s) for value in y)

    return log_joint


def _elbo_by_quadrature(y: np.ndarray, mu: float, sigma: float, s: float, s0: float) -> float:
    return elbo(_log_joint(y, s, s0), mu, sigma)


def _slope_of_copies(rows: np.ndarray, n: int, theta: float, s: float, s0: float) -> float:
    copies = np.tile(rows, n // len(rows))
    return float(slope(_log_joint(copies, s, s0), theta))


def _elbo_of_copies(rows: np.ndarray, n: int, eps: np.ndarray, mu: float, sigma: float, s: float, s0: float) -> float:  # noqa: ARG001
    return elbo(_log_joint(np.tile(rows, n // len(rows)), s, s0), mu, sigma)


def elbo_stub(y: np.ndarray, mu: float, sigma: float, s: float, s0: float) -> Any:
    raise NotImplementedError


def prior_stub(rows: np.ndarray, n: int, theta: float, s: float, s0: float) -> Any:
    raise NotImplementedError


def scale_stub(rows: np.ndarray, n: int, eps: np.ndarray, mu: float, sigma: float, s: float, s0: float) -> Any:
    raise NotImplementedError


def _entropy(sigma):
    return 0.5 * np.log(2 * np.pi * np.e * sigma**2)


def _slope_parts(rows, theta, s, s0):
    """Slopes of the log likelihood of the rows, and of the log prior."""
    return (rows - theta).sum() / s**2, -theta / s0**2


def _minibatch(rows, eps, mu, sigma, s, s0, *, likelihood, prior, entropy):
    theta = mu + sigma * eps
    fit = norm.logpdf(rows[:, None], theta, s).sum(axis=0)
    return np.mean(likelihood * fit + prior * norm.logpdf(theta, 0, s0) - entropy * norm.logpdf(theta, mu, sigma))


def _slope_from(rows, theta, s, s0, *, likelihood, prior):
    by_rows, by_prior = _slope_parts(rows, theta, s, s0)
    return likelihood * by_rows + prior * by_prior


ELBO_MISTAKES = {
    "negative entropy added": Mistake(
        lambda y, mu, sigma, s, s0: _elbo_by_quadrature(y, mu, sigma, s, s0) - 2 * _entropy(sigma),
        "The entropy still has the wrong sign: as sigma goes to zero this bound goes up without end. Minus log q, not plus.",
    ),
    "theta's spread forgotten": Mistake(
        lambda y, mu, sigma, s, s0: _log_joint(y, s, s0)(mu) + _entropy(sigma),
        "You evaluated the model at mu only. Averaged over q, each squared distance grows by sigma squared.",
    ),
    "absolute value": Mistake(
        lambda y, mu, sigma, s, s0: _elbo_by_quadrature(y, mu, sigma, s, s0) - _entropy(sigma) + abs(_entropy(sigma)),
        "You took the absolute value of the entropy. A narrow density has a negative one, and that is what keeps q from collapsing.",
    ),
    "spread forgotten in the fit": Mistake(
        lambda y, mu, sigma, s, s0: _elbo_by_quadrature(y, mu, sigma, s, s0) + 0.5 * len(y) * sigma**2 / s**2,
        "The rows are compared with mu only. Averaged over q, the squared distance of each row grows by sigma squared.",
    ),
    "spread of one row": Mistake(
        lambda y, mu, sigma, s, s0: _elbo_by_quadrature(y, mu, sigma, s, s0) + 0.5 * (len(y) - 1) * sigma**2 / s**2,
        "Each of the rows has its sigma squared. You have added one for all of them.",
    ),
    "spread forgotten in the prior": Mistake(
        lambda y, mu, sigma, s, s0: _elbo_by_quadrature(y, mu, sigma, s, s0) + 0.5 * sigma**2 / s0**2,
        "The prior is evaluated at mu only. Averaged over q, the squared distance from 0 grows by sigma squared.",
    ),
    "everything turned round": Mistake(
        lambda y, mu, sigma, s, s0: 2 * _entropy(sigma) - _elbo_by_quadrature(y, mu, sigma, s, s0),
        "You turned every sign round. Two of the three terms were right.",
    ),
    "entropy left out": Mistake(
        lambda y, mu, sigma, s, s0: _elbo_by_quadrature(y, mu, sigma, s, s0) - _entropy(sigma),
        "Now the entropy is gone. Its sign was wrong, not its presence.",
    ),
}
PRIOR_MISTAKES = {
    "one factor for both": Mistake(
        lambda rows, n, theta, s, s0: _slope_from(rows, theta, s, s0, likelihood=n / len(rows), prior=n / len(rows)),
        "With half of the rows your prior counts twice. It stands outside the factor n / len(rows).",
    ),
    "prior for each row looked at": Mistake(
        lambda rows, n, theta, s, s0: _slope_from(rows, theta, s, s0, likelihood=n / len(rows), prior=len(rows)),
        "The prior still counts once for each row that you look at. It is stated once, however many rows there are.",
    ),
    "factor upside down": Mistake(
        lambda rows, n, theta, s, s0: _slope_from(rows, theta, s, s0, likelihood=len(rows) / n, prior=1),
        "Your factor is upside down: the fewer rows you look at, the more each of them must speak for.",
    ),
    "prior left out": Mistake(
        lambda rows, n, theta, s, s0: _slope_from(rows, theta, s, s0, likelihood=n / len(rows), prior=0),
        "Now the prior is gone. It was counted too often, but once is right.",
    ),
    "mean of the rows": Mistake(
        lambda rows, n, theta, s, s0: _slope_from(rows, theta, s, s0, likelihood=1 / len(rows), prior=1),
        "You took the mean over the rows beside a whole prior: your data set has one row. Log likelihoods add up.",
    ),
    "prior once for each row": Mistake(
        lambda rows, n, theta, s, s0: n / len(rows) * sum(_slope_parts(np.array([row]), theta, s, s0)[0] - theta / s0**2 for row in rows),
        "The prior is still scaled with the rows, so it counts n times. It is stated once, however many rows there are.",
    ),
    "likelihood not scaled": Mistake(
        lambda rows, n, theta, s, s0: sum(_slope_parts(rows, theta, s, s0)),
        "The prior is right, and now the rows stand only for themselves. Each must speak for n / len(rows) of them.",
    ),
    "prior shared out": Mistake(
        lambda rows, n, theta, s, s0: n / len(rows) * _slope_parts(rows, theta, s, s0)[0] - theta / s0**2 / n,
        "You divided the prior by n. That is right inside a mean over rows that is multiplied by n afterwards; here it stands outside.",
    ),
}
SCALE_MISTAKES = {
    "entropy scaled by n": Mistake(
        lambda rows, n, *rest: _minibatch(rows, *rest, likelihood=n / len(rows), prior=1, entropy=n),
        "The entropy is still multiplied by n. That makes q too wide by the root of n, however long you run.",
    ),
    "prior scaled by n": Mistake(
        lambda rows, n, *rest: _minibatch(rows, *rest, likelihood=n / len(rows), prior=n, entropy=1),
        "The entropy is right and the prior is now counted n times.",
    ),
    "one factor for all": Mistake(
        lambda rows, n, *rest: _minibatch(rows, *rest, likelihood=n / len(rows), prior=n / len(rows), entropy=n / len(rows)),
        "With half of the rows your prior and your log q count twice. Only the rows are a part of something larger.",
    ),
    "log q left out": Mistake(
        lambda rows, n, *rest: _minibatch(rows, *rest, likelihood=n / len(rows), prior=1, entropy=0),
        "Now log q is gone. It was counted too often, but once is right.",
    ),
    "log q with the wrong sign": Mistake(
        lambda rows, n, *rest: _minibatch(rows, *rest, likelihood=n / len(rows), prior=1, entropy=-1),
        "Log q has the wrong sign: as sigma goes to zero this bound goes up without end.",
    ),
    "bound for each row": Mistake(
        lambda rows, n, *rest: _minibatch(rows, *rest, likelihood=1 / len(rows), prior=1 / n, entropy=1 / n),
        "That is an n-th of the bound. Its top is in the right place, but its value was asked for.",
    ),
    "prior shared out": Mistake(
        lambda rows, n, *rest: _minibatch(rows, *rest, likelihood=n / len(rows), prior=1 / n, entropy=1),
        "Log q is right now, and the prior counts for an n-th. It is no part of the sum over rows any more.",
    ),
    "log q shared out": Mistake(
        lambda rows, n, *rest: _minibatch(rows, *rest, likelihood=n / len(rows), prior=1, entropy=1 / n),
        "Now log q counts for an n-th only. There is one q for all rows, whatever their number.",
    ),
    "likelihood not scaled": Mistake(
        lambda rows, n, *rest: _minibatch(rows, *rest, likelihood=1, prior=1, entropy=1),
        "Prior and entropy are right, and the rows stand only for themselves: q will believe that there is nothing else.",
    ),
}


def _numbers(rng: np.random.Generator) -> tuple[float, float, float, float]:
    """mu, sigma, s, s0."""
    mu, sigma, s, s0 = map(float, rng.uniform([0.3, 0.2, 0.8, 0.5], [1.0, 0.6, 1.6, 1.5]))
    return mu, sigma, s, s0


def elbo_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 480])
    cases = [(rng.normal(1, 1, count), *_numbers(rng)) for count in (3, 8, 1)]
    y, mu, _, s, s0 = cases[-1]
    cases.append((y, mu, 0.05, s, s0))  # so narrow that the entropy is negative
    return judge(
        answer,
        cases,
        _elbo_by_quadrature,
        ELBO_MISTAKES,
        right="Right. It never exceeds the log evidence; the other one could be made as large as you please.",
        nudge="That is not the lower bound. With two rows, both 0, with mu = 0 and every width 1 it is -2.838; with no rows it is 0 there.",
    )


def prior_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 481])
    cases = []
    for count, n in [(4, 20), (5, 100)]:
        mu, _, s, s0 = _numbers(rng)
        cases.append((rng.normal(0.5, 1, count), n, mu, s, s0))
    return judge(
        answer,
        cases,
        _slope_of_copies,
        PRIOR_MISTAKES,
        right="Right. Averaged over all minibatches it is the gradient of the whole log joint.",
        nudge="Not that slope. With rows = [2, 2], n = 4, theta = 1 and s = s0 = 2 it is 3/4.",
    )


def scale_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 482])
    return judge(
        answer,
        [(rng.normal(0.5, 1, count), n, balanced(rng, 30), *_numbers(rng)) for count, n in [(4, 20), (5, 50)]],
        _elbo_of_copies,
        SCALE_MISTAKES,
        right="Right. Rows are scaled because there are more of them; there is one prior and one q.",
        nudge="That is not the bound. Where q is the prior, the two cancel: n / len(rows) times the rows' mean log density is left.",
        rtol=1e-5,
    )


TASKS = (
    Task(
        "gradients/find-the-bug/elbo",
        "Find the bug: a bound that rises for ever",
        2,
        9,
        elbo_stub,
        (
            "Compute the three terms apart and print each for small sigma. Which one grows where it should fall?",
            "ELBO = E[log p(y | theta)] + E[log p(theta)] - E[log q(theta)], and E[(theta - c)^2] = (mu - c)^2 + sigma^2.",
            "Begin with `spread = sigma**2`, which stands in all three terms.",
        ),
        ELBO_MISTAKES,
        elbo_verdict,
    ),
    Task(
        "gradients/find-the-bug/prior",
        "Find the bug: a slope from some rows",
        2,
        8,
        prior_stub,
        (
            "Compare with the gradient on the whole data set. Which part is too large, and by what factor?",
            "log p(theta) + (n / B) * sum over the B rows of log p(y | theta).",
            "Begin with `scale = n / len(rows)`",
        ),
        PRIOR_MISTAKES,
        prior_verdict,
    ),
    Task(
        "gradients/find-the-bug/scale",
        "Find the bug: a bound from some rows",
        2,
        10,
        scale_stub,
        (
            "The broken function puts one bracket around three terms and scales it as a whole. Which of the three come in rows?",
            "log p(theta) + (n / B) * sum of log p(y | theta) - log q(theta), averaged over the draws.",
            "Begin with `draws = mu + sigma * eps`",
        ),
        SCALE_MISTAKES,
        scale_verdict,
    ),
)
