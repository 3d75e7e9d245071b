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


ELBO_MISTAKES = {
    "negative entropy added": Mistake(
        lambda y, mu, sigma, s, s0: _elbo_by_quadrature(y, mu, sigma, s, s0) - 2 * _entropy(sigma),
        "The entropy still has the wrong sign: as sigma goes to zero this bound goes up without end. Minus log q, not plus.",
    ),
    "theta's spread forgotten": Mistake(
        lambda y, mu, sigma, s, s0: _log_joint(y, s, s0)(mu) + _entropy(sigma),
        "You evaluated the model at mu only. Averaged over q, each squared distance grows by sigma squared.",
    ),
    "entropy left out": Mistake(
        lambda y, mu, sigma, s, s0: _elbo_by_quadrature(y, mu, sigma, s, s0) - _entropy(sigma),
        "Now the entropy is gone. Its sign was wrong, not its presence.",
    ),
}
PRIOR_MISTAKES = {
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
    return judge(
        answer,
        [(rng.normal(1, 1, count), *_numbers(rng)) for count in (3, 8)],
        _elbo_by_quadrature,
        ELBO_MISTAKES,
        right="Right. It never exceeds the log evidence; the other one could be made as large as you please.",
        nudge="That is not the lower bound. With no data and q equal to the prior it must be 0.",
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
        nudge="Not that slope. With rows = all n of them it must be the slope of the full log joint.",
    )


def scale_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 482])
    return judge(
        answer,
        [(rng.normal(0.5, 1, count), n, balanced(rng, 30), *_numbers(rng)) for count, n in [(4, 20), (5, 50)]],
        _elbo_of_copies,
        SCALE_MISTAKES,
        right="Right. Rows are scaled because there are more of them; there is one prior and one q.",
        nudge="That is not the bound. With rows = all n of them it must be the bound for the whole data set.",
    )


TASKS = (
    Task(
        "gradients/find-the-bug/elbo",
        "Find the bug: a bound that rises for ever",
        2,
        9,
        elbo_stub,
        (
            "Plot the broken bound against sigma. Which term grows where it should fall?",
            "ELBO = E[log p(y | theta)] + E[log p(theta)] - E[log q(theta)], and E[(theta - c)^2] = (mu - c)^2 + sigma^2.",
            "Begin with `spread = sigma**2`, and ask of each of the three terms what it does when that grows.",
        ),
        ELBO_MISTAKES,
        elbo_verdict,
    ),
    Task(
        "gradients/find-the-bug/prior",
        "Find the bug: a stubborn prior",
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
        "Find the bug: too wide by the root of n",
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
