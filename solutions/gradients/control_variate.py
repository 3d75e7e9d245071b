"""Control variates. Roads: search for the smallest variance; a reweighted average; two columns with a given correlation."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from course_pkg.checks.record import Record
from solutions.gradients._tools import slope

coefficient_by_search = lambda terms, control: minimize_scalar(lambda a: np.var(terms - a * control), tol=1e-10).x


def gradient_by_reweighting(log_joint, theta, mu, sigma, a):
    """The draws stay and q moves: the slope of the mean of (g - a), each draw weighted by the new density over the old."""
    log_q = norm.logpdf(theta, mu, sigma)
    return slope(lambda m: np.mean(np.exp(norm.logpdf(theta, m, sigma) - log_q) * (log_joint - log_q - a)), mu)


def share_by_columns(rho, multiple):
    """Two columns with exactly this correlation and unit variance; the best coefficient is then rho."""
    columns = np.linalg.qr(np.column_stack([np.ones(50), np.random.default_rng(0).normal(size=(50, 2))]))[0][:, 1:]
    terms = rho * columns[:, 0] + np.sqrt(1 - rho**2) * columns[:, 1]
    return np.var(terms - multiple * rho * columns[:, 0]) / np.var(terms)


def columns_that_move_together(rng):
    for scale in (0.4, 3.0):
        control = rng.normal(0.3, scale, 30)
        yield rng.normal(-2, 1, 30) + rng.uniform(0.6, 1.2) * control, control


def draws_of(rng):
    for draws in (6, 15):
        mu, sigma = rng.normal(), rng.uniform(0.5, 0.9)
        yield rng.normal(-9, 2, draws), mu + sigma * rng.normal(size=draws), mu, sigma, rng.uniform(-8, -5)


COVARIANCE = "/ (centred**2).mean() -> || (centred * terms).mean() / (centred**2).mean() -> np.cov(terms, control)[0, 1]"
COEFFICIENT = Record(
    cases=columns_that_move_together,
    reference=coefficient_by_search,
    right="Right. It is the slope of a regression of the terms on the control.",
    nudge="Another leaves less variance. With control = terms it must be 1, and a constant added to the control must not change it.",
    hints=(
        "Write the variance of terms - a * control as a quadratic in a. Where is its lowest point?",
        "Var(t - a h) = Var(t) - 2 a Cov(t, h) + a^2 Var(h). Set the derivative by a to zero.",
        "Begin with `centred = control - control.mean()`",
    ),
    mistakes={
        "That is twice the best coefficient, where nothing is gained at all. Var(h) enters with a^2: differentiate that as well.": "return -> return 2 *",
        "You averaged products without taking off the means. A constant added to the control changes no variance, but your coefficient.": "control - control.mean() -> control",
        "That is the covariance. Double the control and its coefficient must halve; yours doubles.": COVARIANCE,
        "That is the correlation, which has no unit. The coefficient turns units of the control into units of the terms.": "(centred**2).mean() -> terms.std() / control.std()",
        "Nearly: np.cov divides by M - 1 and np.var by M. Take the same divisor in both.": "(centred * terms).mean() -> (centred * terms).sum() / (len(terms) - 1)",
    },
    rtol=1e-3,
)
GRADIENT = Record(
    cases=draws_of,
    reference=gradient_by_reweighting,
    right="Right. The coefficient stands next to g, and that is why one may add any constant to a log density.",
    nudge="Not that number. With a = 0 it is the plain estimate. One draw at mu + sigma with g = 3 and a = 1 gives 2/sigma.",
    hints=(
        "What may be subtracted without moving the mean? Something with mean zero: the score, times a.",
        "mean of [g(theta) * score(theta) - a * score(theta)], with score = (theta - mu) / sigma^2.",
        "Begin with `g = log_joint - norm.logpdf(theta, mu, sigma)`",
    ),
    mistakes={
        "You subtracted the control inside g and then multiplied by the score. That keeps the mean of g and changes the gradient.": "g * score - a * score -> (g - a * score) * score",
        "You subtracted a itself. A control variate must have mean zero under q: multiply a by the score of each draw.": "- a * score -> - a",
        "Your g is the log joint alone. That gradient runs to the mode and lets sigma collapse: where is log q?": "- norm.logpdf(theta, mu, sigma) -> ",
        "You gave norm.logpdf a variance. It takes a standard deviation, which is what sigma is.": "logpdf(theta, mu, sigma) -> logpdf(theta, mu, sigma**2)",
        "You are short of a factor 1/sigma. How often does sigma stand in the score?": "sigma**2 -> sigma",
    },
)
SHARE = Record(
    cases=lambda rng: [(sign * rng.uniform(0.4, 0.8), m) for sign, m in [(1, 0.5), (-1, 0.5), (1, 1.0), (-1, 2.0), (1, 2.0), (-1, 3.0)]],
    reference=share_by_columns,
    right="Right. At twice the best coefficient nothing is gained, and beyond it the cure is worse than the noise.",
    nudge="Not that share. With rho = 1/2 it is 3/4 at multiple = 1, and 1 again at multiple = 2.",
    hints=(
        "Put a = multiple * Cov / Var(h) into the quadratic of the first part and divide by Var(t).",
        "rho^2 = Cov^2 / (Var(t) Var(h)). What is left is a quadratic in multiple.",
        "Begin with `best = rho**2`, the share that goes at multiple = 1.",
    ),
    mistakes={
        "You kept the covariance term alone, which a large coefficient would drive below zero. A variance cannot be negative.": "(2 - multiple) -> 2",
        "The share that goes is the square of the correlation: a control with correlation one half removes a quarter.": "rho**2 -> rho || rho**2 -> abs(rho)",
        "With you more is always better. The variance is a quadratic in multiple: it turns round at 1.": "* (2 - multiple) -> ",
    },
)
TASKS = {"coefficient": COEFFICIENT, "gradient": GRADIENT, "share": SHARE}
