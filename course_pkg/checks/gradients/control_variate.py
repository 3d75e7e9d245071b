"""Control variates. Roads: search for the smallest variance; a reweighted average; two columns with a given correlation."""

from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Verdict, judge
from course_pkg.checks.gradients._tools import slope


def _coefficient_by_search(terms: np.ndarray, control: np.ndarray) -> float:
    return float(minimize_scalar(lambda a: np.var(terms - a * control), tol=1e-10).x)


def _gradient_by_reweighting(log_joint: np.ndarray, theta: np.ndarray, mu: float, sigma: float, a: float) -> float:
    """The draws stay and q moves: the slope of the mean of (g - a), each draw weighted by the new density over the old."""
    log_q = norm.logpdf(theta, mu, sigma)
    return float(slope(lambda m: np.mean(np.exp(norm.logpdf(theta, m, sigma) - log_q) * (log_joint - log_q - a)), mu))


def _share_by_columns(rho: float, multiple: float) -> float:
    """Two columns with exactly this correlation and unit variance; the best coefficient is then rho."""
    columns = np.linalg.qr(np.column_stack([np.ones(50), np.random.default_rng(0).normal(size=(50, 2))]))[0][:, 1:]
    terms = rho * columns[:, 0] + np.sqrt(1 - rho**2) * columns[:, 1]
    return float(np.var(terms - multiple * rho * columns[:, 0]) / np.var(terms))


def coefficient_stub(terms: np.ndarray, control: np.ndarray) -> Any:
    raise NotImplementedError


def gradient_stub(log_joint: np.ndarray, theta: np.ndarray, mu: float, sigma: float, a: float) -> Any:
    raise NotImplementedError


def share_stub(rho: float, multiple: float) -> Any:
    raise NotImplementedError


def _covariance(terms, control):
    return np.mean((terms - terms.mean()) * (control - control.mean()))


def _with(log_joint, theta, mu, sigma):
    """g and the score in mu, for each draw."""
    return log_joint - norm.logpdf(theta, mu, sigma), (theta - mu) / sigma**2


def _inside_g(log_joint, theta, mu, sigma, a):
    g, score = _with(log_joint, theta, mu, sigma)
    return np.mean((g - a * score) * score)


def _gradient(log_joint, theta, mu, sigma, a, *, entropy=1.0):
    _, score = _with(log_joint, theta, mu, sigma)
    return np.mean((log_joint - entropy * norm.logpdf(theta, mu, sigma) - a) * score)


def _without_score(log_joint, theta, mu, sigma, a):
    g, score = _with(log_joint, theta, mu, sigma)
    return np.mean(g * score) - a


COEFFICIENT_MISTAKES = {
    "doubled": Mistake(
        lambda terms, control: 2 * _coefficient_by_search(terms, control),
        "That is twice the best coefficient, where nothing is gained at all. Var(h) enters with a^2: differentiate that as well.",
    ),
    "not centred": Mistake(
        lambda terms, control: (terms * control).mean() / (control**2).mean(),
        "You averaged products without taking off the means. A constant added to the control changes no variance, but your coefficient.",
    ),
    "sign": Mistake(
        lambda terms, control: -_coefficient_by_search(terms, control),
        "The size is right and the sign is not: a times the control is subtracted, so it has to move with the terms.",
    ),
    "divided by a standard deviation": Mistake(
        lambda terms, control: _covariance(terms, control) / np.std(control),
        "You divided by a standard deviation. Double the control and its coefficient must halve; yours stays.",
    ),
    "divided by the wrong variance": Mistake(
        lambda terms, control: _covariance(terms, control) / np.var(terms),
        "You divided by the variance of the terms. Halve the control and its coefficient must double.",
    ),
    "correlation": Mistake(
        lambda terms, control: np.corrcoef(terms, control)[0, 1],
        "That is the correlation, which has no unit. The coefficient turns units of the control into units of the terms.",
    ),
    "two divisors": Mistake(
        lambda terms, control: np.cov(terms, control)[0, 1] / np.var(control),
        "Nearly: np.cov divides by M - 1 and np.var by M. Take the same divisor in both.",
    ),
}
GRADIENT_MISTAKES = {
    "put inside g": Mistake(
        _inside_g,
        "You subtracted the control inside g and then multiplied by the score. That keeps the mean of g and changes the gradient.",
    ),
    "mean not zero": Mistake(
        _without_score,
        "You subtracted a itself. A control variate must have mean zero under q: multiply a by the score of each draw.",
    ),
    "log q left out": Mistake(
        lambda *case: _gradient(*case, entropy=0.0),
        "Your g is the log joint alone. That gradient runs to the mode and lets sigma collapse: where is log q?",
    ),
    "sigma once": Mistake(
        lambda log_joint, theta, mu, sigma, a: sigma * _gradient(log_joint, theta, mu, sigma, a),
        "You are short of a factor 1/sigma. How often does sigma stand in the score?",
    ),
    "a ignored": Mistake(
        lambda log_joint, theta, mu, sigma, a: _gradient(log_joint, theta, mu, sigma, 0.0),
        "Your answer does not depend on a. If you took the control's own average off, it took the whole control with it.",
    ),
    "another control": Mistake(
        lambda log_joint, theta, mu, sigma, a: _inside_g(log_joint, theta, mu, sigma, a) + a / sigma**2,
        "The expectation is right, but your control is the square of the score less its mean. The score itself was asked for.",
    ),
    "summed": Mistake(
        lambda log_joint, theta, mu, sigma, a: len(theta) * _gradient(log_joint, theta, mu, sigma, a),
        "You added the draws up. An expectation is estimated by their mean.",
    ),
    "coefficient doubled": Mistake(
        lambda log_joint, theta, mu, sigma, a: _gradient_by_reweighting(log_joint, theta, mu, sigma, 2 * a),
        "You subtracted a twice.",
    ),
    "added": Mistake(
        lambda log_joint, theta, mu, sigma, a: _gradient_by_reweighting(log_joint, theta, mu, sigma, -a),
        "You added the control. On average that is right as well, but with this sign a good coefficient makes the noise larger.",
    ),
}
SHARE_MISTAKES = {
    "only the gain": Mistake(
        lambda rho, multiple: 1 - 2 * multiple * rho**2,
        "You kept the covariance term alone, which a large coefficient would drive below zero. A variance cannot be negative.",
    ),
    "not squared": Mistake(
        lambda rho, multiple: 1 - (2 * multiple - multiple**2) * np.abs(rho),
        "The share that goes is the square of the correlation: a control with correlation one half removes a quarter.",
    ),
    "sign of rho kept": Mistake(
        lambda rho, multiple: 1 - (2 * multiple - multiple**2) * rho * np.abs(rho),
        "With a negative correlation you say that the noise grows. The coefficient turns its sign with it, and the gain is the same.",
    ),
    "only the quadratic": Mistake(
        lambda rho, multiple: 1 - (multiple * rho) ** 2,
        "At multiple = 2 nothing is gained, and you gain most. The variance of the control comes back with a plus sign.",
    ),
    "linear in multiple": Mistake(
        lambda rho, multiple: 1 - multiple * rho**2,
        "With you more is always better. The variance is a quadratic in multiple: it turns round at 1.",
    ),
    "multiple ignored": Mistake(
        lambda rho, multiple: 1 - rho**2,
        "That is what the best coefficient leaves. Your answer does not depend on multiple.",
    ),
    "coefficient for multiple": Mistake(
        lambda rho, multiple: 1 - 2 * multiple * rho + multiple**2 * rho**2,
        "One of your two terms has rho where it should have its square: the best coefficient itself holds a rho.",
    ),
    "standard deviation": Mistake(
        lambda rho, multiple: np.sqrt(_share_by_columns(rho, multiple)),
        "You took the root. A share of the variance was asked for.",
    ),
    "what goes": Mistake(
        lambda rho, multiple: (2 * multiple - multiple**2) * rho**2,
        "That is the share that goes. The share that is left was asked for.",
    ),
}


def coefficient_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 430])
    cases = []
    for scale in (0.4, 3.0):
        control = rng.normal(0.3, scale, 30)
        cases.append((rng.normal(-2, 1, 30) + rng.uniform(0.6, 1.2) * control, control))
    return judge(
        answer,
        cases,
        _coefficient_by_search,
        COEFFICIENT_MISTAKES,
        right="Right. It is the slope of a regression of the terms on the control.",
        nudge="Another leaves less variance. With control = terms it must be 1, and a constant added to the control must not change it.",
        rtol=1e-3,
    )


def gradient_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 431])
    cases = []
    for draws in (6, 15):
        mu, sigma = float(rng.normal()), float(rng.uniform(0.5, 0.9))
        theta = mu + sigma * rng.normal(size=draws)
        cases.append((rng.normal(-9, 2, draws), theta, mu, sigma, float(rng.uniform(-8, -5))))
    return judge(
        answer,
        cases,
        _gradient_by_reweighting,
        GRADIENT_MISTAKES,
        right="Right. The coefficient stands next to g, and that is why one may add any constant to a log density.",
        nudge="Not that number. With a = 0 it is the plain estimate. One draw at mu + sigma with g = 3 and a = 1 gives 2/sigma.",
    )


def share_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 432])
    signs_and_multiples = [(1, 0.5), (-1, 0.5), (1, 1.0), (-1, 2.0), (1, 2.0), (-1, 3.0)]
    cases = [(sign * float(rng.uniform(0.4, 0.8)), multiple) for sign, multiple in signs_and_multiples]
    return judge(
        answer,
        cases,
        _share_by_columns,
        SHARE_MISTAKES,
        right="Right. At twice the best coefficient nothing is gained, and beyond it the cure is worse than the noise.",
        nudge="Not that share. With rho = 1/2 it is 3/4 at multiple = 1, and 1 again at multiple = 2.",
    )


TASKS = (
    Task(
        "gradients/control-variate/coefficient",
        "Control variates: the best coefficient",
        2,
        8,
        coefficient_stub,
        (
            "Write the variance of terms - a * control as a quadratic in a. Where is its lowest point?",
            "Var(t - a h) = Var(t) - 2 a Cov(t, h) + a^2 Var(h). Set the derivative by a to zero.",
            "Begin with `centred = control - control.mean()`",
        ),
        COEFFICIENT_MISTAKES,
        coefficient_verdict,
    ),
    Task(
        "gradients/control-variate/gradient",
        "Control variates: in the right place",
        2,
        9,
        gradient_stub,
        (
            "What may be subtracted without moving the mean? Something with mean zero: the score, times a.",
            "mean of [g(theta) * score(theta) - a * score(theta)], with score = (theta - mu) / sigma^2.",
            "Begin with `g = log_joint - norm.logpdf(theta, mu, sigma)`",
        ),
        GRADIENT_MISTAKES,
        gradient_verdict,
    ),
    Task(
        "gradients/control-variate/share",
        "Control variates: what is left",
        2,
        8,
        share_stub,
        (
            "Put a = multiple * Cov / Var(h) into the quadratic of the first part and divide by Var(t).",
            "rho^2 = Cov^2 / (Var(t) Var(h)). What is left is a quadratic in multiple.",
            "Begin with `best = rho**2`, the share that goes at multiple = 1.",
        ),
        SHARE_MISTAKES,
        share_verdict,
    ),
)
