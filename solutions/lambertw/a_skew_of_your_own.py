"""Project: a skew of your own. Roads: bisection and Wright's omega; slopes of the distribution function; other climbs; quadrature."""

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq, minimize
from scipy.special import wrightomega
from scipy.stats import norm

from course_pkg.checks.record import Record
from solutions.lambertw._tools import bisect, steep


def skew(z, gamma):
    return z + gamma * np.expm1(z)


def by_bisection(x, gamma):
    with np.errstate(over="ignore", invalid="ignore"):
        return bisect(lambda z: skew(z, gamma) if gamma else z, x, np.minimum(x, 0) - 1, np.maximum(x, 0) + gamma + 1)


def origin(x, gamma):
    """Wright's omega of log v is W(v), where v itself may be no number."""
    with np.errstate(divide="ignore"):
        return x + gamma - wrightomega(x + gamma + np.log(gamma))


def by_slopes(y, mu, sigma, gamma, back):  # noqa: ARG001
    return np.log(steep(lambda t: norm.cdf(by_bisection((t - mu) / sigma, gamma)), y, 1e-3 * sigma))


def given_density(y, mu, sigma, gamma):
    z = origin((y - mu) / sigma, gamma)
    return norm.logpdf(z) - np.log(sigma * (1 + gamma * np.exp(z)))


def largest(y, log_density):
    """The mean log density at its top, by another climb from several places."""
    below = lambda at: -np.mean(log_density(y, at[0], np.exp(at[1]), at[2]))
    starts = [(y.mean(), np.log(y.std()) - gamma, gamma) for gamma in (0.0, 0.3, 0.9)]
    return -min(minimize(below, start, method="L-BFGS-B", bounds=[(None, None), (None, None), (0, 200)]).fun for start in starts)


def attained(answer, y, log_density):
    """What a fit's parameters attain; far below everything if they are none."""
    given = answer(y, log_density)
    try:
        got = np.array(given, float)
    except (TypeError, ValueError):  # no numbers
        return -99.0
    if got.shape != (3,) or not (np.isfinite(got).all() and got[1] > 0 and got[2] >= 0):
        return -99.0
    return np.mean(log_density(y, *got.tolist()))


def by_root(mu, sigma, gamma, over, under):
    too_few = lambda h: under * norm.sf(origin((h - mu) / sigma, gamma)) - over * norm.cdf(origin((h - mu) / sigma, gamma))
    return brentq(too_few, mu - 9 * sigma, mu + sigma * skew(9.0, gamma), xtol=1e-10)


def by_quadrature(h, mu, sigma, gamma, over, under, back):  # noqa: ARG001
    at = float(by_bisection(np.array((h - mu) / sigma), gamma))
    gap = lambda z: abs(mu + sigma * skew(z, gamma) - h) * norm.pdf(z)
    return over * quad(gap, -12, at, epsabs=1e-11)[0] + under * quad(gap, at, 14, epsabs=1e-11)[0]


def families(rng):
    for gamma in (0.3, 1.4):
        yield rng.normal(3, 1), rng.uniform(0.6, 0.9), gamma * rng.uniform(0.8, 1.2)


def days(rng):
    for mu, sigma, gamma in families(rng):
        z = norm.ppf((np.arange(120) + rng.uniform(size=120)) / 120)  # no chance of a sample whose best skew is infinite
        yield mu + 2 * sigma * skew(z, 0.4 + 0.4 * gamma), given_density
    yield -rng.exponential(1.5, 60), given_density  # the lean to the left: no skew is the best skew


BACK = Record(
    cases=lambda rng: [(np.append(rng.uniform(-6, 9, 6), 0.0), gamma * rng.uniform(0.8, 1.2)) for gamma in (0.2, 1.3, 4.0)],
    reference=by_bisection,
    rtol=1e-6,
    right="Right. From the right side Newton's steps on a convex function come down to the root and never pass it.",
    nudge="Not that origin. With x = [0, 2.7183] and gamma = 1 it is [0, 1].",
    hints=(
        "What is the slope of g? Where must Newton begin so that no step overshoots, and no exponential leaves the range?",
        "z <- z - (z + gamma (e^z - 1) - x) / (1 + gamma e^z). Begin at the smaller of x + gamma and log(1 + max(x, 0) / gamma).",
        "Begin with the case `gamma == 0`, where nothing is bent.",
    ),
    mistakes={
        "That is a single step, or a few. Go on until nothing moves.": "range(20) -> range(1) || range(20) -> range(2)",
        "You lost the -1: g(0) is to be 0.": "z + power - gamma - x -> z + power - x ;; np.minimum(x + gamma, -> np.minimum(x,",
        "That is where x *goes*: g(x). Asked for is where it comes from.": "\n    return x + gamma * np.expm1(x)",
        "That is w = gamma e^z. The z in it was asked for.": "return z -> return gamma * np.exp(z)",
        "That inverts z e^(gamma z), the chapter's map. Yours is another.": "\n    return lambertw(gamma * np.maximum(x, -0.3 / gamma)).real / gamma",
    },
    later={
        "Right where e^(x + gamma) is a number. At x = 800 it is none: Newton's steps from a place that is not too high never need it.": (
            lambda rng: [(np.array([-1_900.0, 800.0, 1_950.0]) + rng.normal(size=3), 0.7)],
            "\n    return x + gamma - lambertw(gamma * np.exp(x + gamma)).real if gamma else np.array(x)",
        ),
        "Right where there is a skew. At gamma = 0 the map leaves every number alone, and so does its inverse.": (
            lambda rng: [(np.append(rng.normal(0, 4, 5), 0.0), 0.0)],
            "gamma == 0 -> gamma == -1",
        ),
    },
)
DENSITY = Record(
    cases=lambda rng: [(mu + sigma * skew(rng.normal(size=5), gamma), mu, sigma, gamma, origin) for mu, sigma, gamma in families(rng)],
    reference=by_slopes,
    right="Right. The slope is never 0, so the density never runs away.",
    nudge="Not that log density. With y = [2], mu = 2, sigma = 0.5 and gamma = 1 it is -0.9189.",
    hints=(
        "The density of z, and how far the map stretches it there.",
        "log p(y) = log phi(z) - log sigma - log g'(z), with z = back((y - mu) / sigma, gamma).",
        "Begin with `z = back((y - mu) / sigma, gamma)`",
    ),
    mistakes={
        "The slope of g is missing: it stretches what it moves.": " - np.log1p(gamma * np.exp(z)) -> ",
        "The slope of g is 1 + gamma e^z.": "np.log1p(gamma * np.exp(z)) -> np.log(gamma * np.exp(z))",
        "A stretch thins the density out: divide by the slope.": "- np.log1p -> + np.log1p",
        "Sigma stretches, too.": " - np.log(sigma) -> ",
        "Standardise before you go back: it is (y - mu) / sigma that g made.": "back((y - mu) / sigma, gamma) -> back(y, gamma)",
        "The slope is that of g at z, where it came from, and not at y.": "gamma * np.exp(z) -> gamma * np.exp((y - mu) / sigma)",
        "The data were never brought back. That is the density of z at a place that z never was.": "back((y - mu) / sigma, gamma) -> (y - mu) / sigma",
    },
)
FIT = Record(
    cases=days,
    reference=largest,
    view=attained,
    rtol=1e-5,
    right="Right. Where the data lean the other way the family says so: no skew.",
    nudge="Not the top of the likelihood. For data that lean to the left the fit is (mean, standard deviation with divisor N, 0); otherwise try several starts.",
    hints=(
        "Three numbers to climb in, two of them with a wall. What can stand in for sigma, and what for gamma, that may be any number?",
        "Minimise -mean log_density(y, mu, e^a, b^2) in (mu, a, b), without derivatives, from a b that is not 0.",
        "Begin with `def cost(at):`",
    ),
    mistakes={
        "That is the normal of largest likelihood. The family can do better.": "return mu, np.exp(log_sigma), root**2 -> return y.mean(), y.std(), 0.0",
        "You climbed in another parameter than you return: bring sigma and gamma back to their own units.": (
            "return mu, np.exp(log_sigma), root**2 -> return mu, np.exp(log_sigma), abs(root) || "
            "return mu, np.exp(log_sigma), root**2 -> return mu, np.exp(2 * log_sigma), root**2"
        ),
        "You held mu at the mean. The mean of the family is mu + sigma gamma (sqrt(e) - 1).": "log_density(y, at[0], -> log_density(y, y.mean(), ;; return mu, -> return y.mean(),",
        "You held sigma at the standard deviation. A skew widens, too, so sigma must be smaller.": "log_density(y, at[0], np.exp(at[1]) -> log_density(y, at[0], y.std() ;; return mu, np.exp(log_sigma) -> return mu, y.std()",
        "The three are right, and mu and sigma have changed places.": "return mu, np.exp(log_sigma) -> return np.exp(log_sigma), mu * np.sign(mu)",
        "You stopped where you began.": "root**2 -> root**2 ;; return mu, -> mu, log_sigma, root = start\nreturn mu,",
    },
)
ORDER = Record(
    cases=lambda rng: [(*family, 1.0, rng.uniform(3, 8)) for family in families(rng)] + [(*family, 2.5, 1.0) for family in families(rng)],
    reference=by_root,
    right="Right. A map that rises carries quantiles along.",
    nudge="Not that order. With mu = 2, sigma = 3, gamma = 5, over = 1 and under = 1 it is 2.",
    hints=(
        "Which quantile of the demand? And what does a rising map do to quantiles?",
        "level = under / (over + under); y = mu + sigma g(z) at the normal's quantile z.",
        "Begin with `z = norm.ppf(` of the level.",
    ),
    mistakes={
        "The level is turned round: what is missing is dear, so order much.": "under / (over + under) -> over / (over + under)",
        "That is the normal's order; the skew is missing.": " + gamma * np.expm1(z) -> ",
        "You lost the -1 of the map.": "expm1 -> exp",
        "The level is under / (over + under).": "under / (over + under) -> min(under / over, 0.99) || under / (over + under) -> 1 - over / (over + 2 * under)",
        "That is the mean demand. The costs have a say.": "\n    return mu + sigma * gamma * np.expm1(0.5)",
        "The quantile is yet to go through sigma and mu.": "mu + sigma * (z + gamma * np.expm1(z)) -> z + gamma * np.expm1(z)",
    },
)
COST = Record(
    cases=lambda rng: [
        (mu + sigma * skew(rng.uniform(-0.7, 1.5), gamma), mu, sigma, gamma, rng.uniform(0.7, 1.2), rng.uniform(3, 6), origin)
        for mu, sigma, gamma in families(rng)
    ],
    reference=by_quadrature,
    right="Right. No draws, so two orders can be held against each other to any digit.",
    nudge="Not that cost. With h = 0, mu = 0, sigma = 1, gamma = 1, over = 1 and under = 1 it is 1.923.",
    hints=(
        "First what is missing on average, E[(y - h)+]; what is left over follows from it without another integral.",
        "E[(y - h)+] = (mu - sigma gamma - h)(1 - Phi(z_h)) + sigma phi(z_h) + sigma gamma sqrt(e) (1 - Phi(z_h - 1)); left over = that + h - E[y].",
        "Begin with z_h, `back` of the standardised order.",
    ),
    mistakes={
        "The two prices have changed places.": "under * missing + over * (missing -> over * missing + under * (missing",
        "What is left over is not the mean surplus: on some days nothing is. It is missing + h - E[y].": "over * (missing + h - mean) -> over * (h - mean)",
        "Only what is missing is paid for in yours.": " + over * (missing + h - mean) -> ",
        "The mean demand is mu + sigma gamma (sqrt(e) - 1), not mu.": "mean = mu + sigma * gamma * (np.exp(0.5) - 1) -> mean = mu",
        "E[e^z; z > z_h] has the normal at z_h - 1.": "norm.sf(z - 1) -> norm.sf(z)",
        "The -1 of the map is missing in E[(y - h)+].": "mu - sigma * gamma - h -> mu - h",
        "The root of e is missing: the mean of e^z is not 1.": "np.exp(0.5) * norm.sf -> norm.sf || np.exp(0.5) -> 1",
    },
)
TASKS = {"back": BACK, "density": DENSITY, "fit": FIT, "order": ORDER, "cost": COST}
