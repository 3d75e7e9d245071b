"""Answers that are nearly right must not pass; right answers in another form must; and nobody is told of a mistake not made."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import betaln, expit, gammaln, logit
from scipy.stats import beta, binom, dirichlet_multinomial, gamma, norm

from course_pkg.checks import judge
from tests.exercises import near_misses

A_DECISION = "decisions/"
# the others stand in test_decisions_near_misses.py
FIRST_SHEETS = (
    "bayes",
    "best",
    "classification",
    "conjugacy",
    "intervals",
    "james",
    "linex",
    "lupus",
    "model",
    "pooled",
    "ridge",
    "stop",
    "von",
)
Z = norm.ppf(0.95)
DRAWS, WEIGHTS = np.array([4.0, 1.0, 2.0]), np.array([2.0, 1.0, 1.0])


def _pulled(y, pull):
    return (1 - pull / (y**2).sum(axis=-1, keepdims=True)) * y


def _positive(y, pull):
    return np.maximum(1 - pull / (y**2).sum(axis=-1, keepdims=True), 0) * y


def _fewest_tests(theta, people, tests):
    choices = [pools for pools in range(1, people + 1) if people % pools == 0]
    return min(choices, key=lambda pools: tests(theta, people, pools))


def _without_clause(theta, people, pools):
    return pools + people * (1 - (1 - theta) ** (people // pools))


def _runs(key, runs, looks, keys=jax.random.split):
    prior_key, noise_key = keys(key)
    theta = np.asarray(jax.random.normal(prior_key, (runs,)))
    sums = np.cumsum(theta[:, None] + np.asarray(jax.random.normal(noise_key, (runs, looks))), axis=1)
    return theta, sums, np.abs(sums) > 1.96 * np.sqrt(np.arange(1, looks + 1))


def _held(theta, n, total):
    reach = Z / np.sqrt(n + 1)
    return np.mean(np.abs(theta - total / (n + 1)) < reach)


def _coverage(key, runs, looks, keys=jax.random.split):
    theta, sums, beyond = _runs(key, runs, looks, keys)
    n = np.where(beyond.any(axis=1), beyond.argmax(axis=1) + 1, looks)
    return _held(theta, n, sums[np.arange(runs), n - 1]), n.mean()


def _run_by_run(key, runs, looks):
    def one(key):
        prior_key, noise_key = jax.random.split(key)
        theta = jax.random.normal(prior_key)
        sums = jnp.cumsum(theta + jax.random.normal(noise_key, (looks,)))
        beyond = jnp.abs(sums) > 1.96 * jnp.sqrt(jnp.arange(1, looks + 1))
        n = jnp.where(beyond.any(), beyond.argmax() + 1, looks)
        return theta, n, sums[n - 1]

    theta, n, total = jax.jit(jax.vmap(one))(jax.random.split(key, runs))
    return _held(theta, n, total), n.mean()


def _never_stopping(key, runs, looks):
    theta, sums, _ = _runs(key, runs, looks)
    return _held(theta, np.full(runs, looks), sums[:, -1]), looks


def _bernoulli(key, runs, looks):
    return jax.random.bernoulli(key, 0.9, (runs,)).mean(), looks


def _stopped_only(key, runs, looks):
    theta, sums, beyond = _runs(key, runs, looks)
    kept = beyond.any(axis=1)
    n = beyond.argmax(axis=1) + 1
    return _held(theta[kept], n[kept], sums[np.arange(runs), n - 1][kept]), n[kept].mean()


def _index_for_number(key, runs, looks):
    theta, sums, beyond = _runs(key, runs, looks)
    last = np.where(beyond.any(axis=1), beyond.argmax(axis=1), looks - 1)
    return _held(theta, last, sums[np.arange(runs), last]), last.mean()


def _index_in_the_interval_only(key, runs, looks):
    theta, sums, beyond = _runs(key, runs, looks)
    last = np.where(beyond.any(axis=1), beyond.argmax(axis=1), looks - 1)
    return _held(theta, last, sums[np.arange(runs), last]), (last + 1).mean()


def _sums(key, runs, looks):
    return jnp.cumsum(jax.random.normal(key, (runs, looks)), axis=1), jnp.arange(1, looks + 1)[None, :]


def _alarm(key, runs, looks):
    sums, n = _sums(key, runs, looks)
    return (jnp.abs(sums) > 1.96 * jnp.sqrt(n)).any(axis=1).mean()


def _alarm_by(scale, axis):
    def answer(key, runs, looks):
        sums, n = _sums(key, runs, looks)
        return (jnp.abs(sums) / scale(n) > 1.96).any(axis=axis).mean()

    return answer


def _risk(key, rule, theta, runs):
    losses = ((rule(theta + np.asarray(jax.random.normal(key, (runs, len(theta))))) - theta) ** 2).sum(axis=1)
    return losses.mean(), losses.std(ddof=1) / np.sqrt(runs)


def _points(theta, p):
    return theta[p.argmax()], theta[np.searchsorted(np.cumsum(p), 0.5)], p @ theta


def _interval(n, total):
    return total / (n + 1) - Z / np.sqrt(n + 1), total / (n + 1) + Z / np.sqrt(n + 1)


def _interval_of_numbers(n, total):
    low, high = _interval(float(n), float(total))
    return float(low), float(high)


def _halvings(times, end=False):
    def answer(prefers, k):
        certain = np.eye(k)
        best = worst = certain[0]
        for outcome in certain:
            best = outcome if prefers(outcome, best) else best
            worst = outcome if prefers(worst, outcome) else worst

        def match(outcome):
            low, high = 0.0, 1.0
            for _ in range(times):
                middle = (low + high) / 2
                low, high = (middle, high) if prefers(outcome, middle * best + (1 - middle) * worst) else (low, middle)
            return low if end else (low + high) / 2

        return np.array([match(outcome) for outcome in certain])

    return answer


def _upper(errors, N, eta, more=1):
    return beta.isf(eta, np.asarray(errors) + more, N - np.asarray(errors))


def _upper_by_halving(errors, N, eta):
    """From the sum of the binomial's terms."""
    low, high = 0.0, 1.0
    for _ in range(40):
        b = (low + high) / 2
        few = sum(math.comb(N, k) * b**k * (1 - b) ** (N - k) for k in range(errors + 1))
        low, high = (b, high) if few > eta else (low, b)
    return low


def _promised(errors, N, pi, eta, upper=_upper):
    limits = upper(errors, N, eta * pi)
    return int(np.argmin(limits)), np.min(limits)


# What a fallback says about a small case that can be worked out by hand: the arguments, and what is said of them.
BY_HAND = {
    "bayes-estimators-tilted/tilted": [((DRAWS, WEIGHTS, 0.3), 2)],
    "bayes-estimators-tilted/imbalanced": [((DRAWS, WEIGHTS, 3.0, 7.0), 2)],
    "best-of-many/limit": [((1, 2, 0.3), 0.8367)],
    "best-of-many/choose": [((np.array([0, 1]), 2, np.array([0.04, 0.96]), 0.25), (1, 0.872))],
    "classification/threshold": [((1.0, 9.0), 0.1)],
    "classification/decide": [((np.array([[0.3, 0.7]]), np.array([[0.0, 5.0], [2.0, 0.0]])), [0])],
    "conjugacy/normal": [((np.array([1.0, 3.0]), 1.0, 0.0, 1.0), (1.333, 0.577))],
    "conjugacy/dirichlet": [((np.array([2, 1]), np.ones(2)), ([3, 2], -1.386))],
    "intervals/interval": [((0.0, 1.0, 0.2), (-1.175, 1.175))],
    "intervals/region": [((np.array([0.1, 0.5, 0.2]), 1.25, 0.3), [False, True, False])],
    "james-stein/bayes": [((np.array([5.0, -10.0]), 2.0), [4, -8])],
    "james-stein/estimator": [((np.ones((1, 4)),), [[0.5] * 4])],
    "james-stein/positive-part": [((np.array([[1.0] * 4, [0.5] * 4]),), [[0.5] * 4, [0] * 4])],
    "james-stein/excess": [((n, 1.0), 1) for n in (5, 8)],
    "linex": [((np.array([0.0, 1.0]), np.ones(2), 1.0), 0.380)],
    "lupus/decide": [((np.array([0.02]),), [True])],
    "lupus/worth": [((np.array([0.004, 0.6]),), [0.4, 0.4])],
    "model-choice/posterior": [((2, 2, 0.5), 0.571), ((1, 1, 0.3), 0.3)],
    "model-choice/points": [((np.array([0.0, 1.0, 5.0]), np.array([0.4, 0.25, 0.35])), (0, 1, 2))],
    "pooled-testing/likelihood": [((np.array([0.5]), 1, 4, 2), [0.375])],
    "pooled-testing/best-pools": [((0.1, 12), 3)],
    "ridge/penalty": [((2.0, 1.0), 4)],
    "ridge/fit": [((np.array([[-1.0], [1.0]]), np.array([0.0, 2.0]), 1.0, 1.0), [1, 0.6667])],
    "stopping/interval": [((3, 2.0), (-0.322, 1.322))],
}
NEAR_MISSES = [
    ("best-of-many/limit", "Poisson", lambda errors, N, eta: gamma.isf(eta, errors + 1) / N, ""),
    ("best-of-many/limit", "half of the last term", lambda errors, N, eta: _upper(errors, N, eta, 0.5), ""),
    ("best-of-many/limit", "two digits", lambda *case: np.round(_upper(*case), 2), ""),
    ("best-of-many/limit", "both ends", lambda errors, N, eta: (_upper(errors, N, eta / 2), 0.0), ""),
    ("best-of-many/choose", "the limit alone", lambda *case: _promised(*case)[1], "Expected a tuple of 2 values"),
    ("best-of-many/choose", "the other way round", lambda *case: _promised(*case)[::-1], "in the wrong order"),
    ("best-of-many/choose", "Poisson", lambda *case: _promised(*case, lambda made, N, eta: gamma.isf(eta, made + 1) / N), ""),
    *[("lupus/decide", f"threshold {at}", lambda p, at=at: p > at, "") for at in (0.005, 0.0095, 0.0105, 0.012, 0.015)],
    *[("james-stein/estimator", f"N - {less}", lambda y, less=less: _pulled(y, y.shape[-1] - less), "") for less in (1, 1.5, 2.5)],
    *[("james-stein/positive-part", f"N - {less}", lambda y, less=less: _positive(y, y.shape[-1] - less), "") for less in (1, 1.5, 2.5)],
    ("james-stein/positive-part", "eight", lambda y: _positive(y, 8), ""),
    ("james-stein/risk", "key ignored", lambda key, *rest: _risk(jax.random.key(3), *rest), "whatever the key is"),
    ("model-choice/points", "the last value", lambda theta, p: (theta[-1], *_points(theta, p)[1:]), "zero-one loss is off"),
    (
        "pooled-testing/best-pools",
        "no clause",
        lambda theta, people: _fewest_tests(theta, people, _without_clause),
        "One person per pool: no second test.",
    ),
    ("stopping/coverage", "constant", lambda key, runs, looks: (0.9, 1.0 * looks), ""),
    ("stopping/coverage", "coin", _bernoulli, ""),
    ("stopping/coverage", "never stops", _never_stopping, "None of your runs stops"),
    ("stopping/coverage", "stopped only", _stopped_only, "only the runs that rejected"),
    ("stopping/coverage", "key ignored", lambda key, *rest: _coverage(jax.random.key(3), *rest), "whatever the key is"),
    ("stopping/coverage", "one key twice", lambda *case: _coverage(*case, lambda key: (key, key)), "drawn from twice"),
    ("stopping/coverage", "parent and child", lambda *case: _coverage(*case, lambda key: (key, jax.random.split(key)[0])), "children only"),
    ("stopping/coverage", "constant coverage", lambda *args: (0.9, _coverage(*args)[1]), "whatever the key is"),
    ("stopping/coverage", "index", _index_for_number, "All of your runs end one observation"),
    ("stopping/coverage", "index, counted right", _index_in_the_interval_only, "Your intervals act as if there were one"),
    ("stopping/alarm", "key ignored", lambda key, *rest: _alarm(jax.random.key(3), *rest), "whatever the key is"),
    ("stopping/alarm", "ten looks", lambda key, runs, looks: _alarm(key, runs, 10), ""),
    ("stopping/alarm", "root of zero", _alarm_by(lambda n: jnp.sqrt(n - 1), 1), "All of your runs reject."),
    ("stopping/alarm", "any over runs", _alarm_by(jnp.sqrt, 0), "All of your runs reject."),
    ("stopping/alarm", "over n", _alarm_by(lambda n: n, 1), "That is a test looked at once"),
    ("stopping/interval", "numbers only", _interval_of_numbers, "Right for numbers"),
    (
        "classification/decide",
        "most probable state",
        lambda probabilities, losses: losses[probabilities.argmax(1)].argmin(1),
        "You decided for the most probable state only.",
    ),
    ("conjugacy/normal", "three", lambda *args: [0.0, 1.0, 2.0], "Expected a tuple of 2 values; your function returned a list of 3."),
    ("von-neumann-morgenstern", "ten halvings", _halvings(10), "Close, but not to four decimals."),
    (
        "bayes-estimators-tilted/tilted",
        "the draw before",
        lambda *case: _quantile(*case, step=-1),
        ("Not that draw", "Close, but not exact"),
    ),
    ("bayes-estimators-tilted/tilted", "the next draw", lambda *case: _quantile(*case, step=1), ("Not that draw", "Close, but not exact")),
    ("bayes-estimators-tilted/tilted", "half of the weight before", lambda y, w, q: np.interp(q, *_middles(y, w)), ""),
    ("bayes-estimators-tilted/imbalanced", "the other ratio", lambda y, w, a, b: _quantile(y, w, min(a / b, 1.0)), "Right in the small"),
    ("classification/threshold", "logarithm of the odds", lambda alpha, beta: np.log(alpha / beta), "Not that threshold"),
    ("conjugacy/dirichlet", "base ten", lambda n, a: (a + n, _evidence(n, a) / np.log(10)), "The log evidence is off; the rest is"),
    ("intervals/interval", "reach for its square", lambda m, s, g: _ends(m, s, s * 2 * _log_ratio(s, g)), "Not those ends"),
    ("intervals/interval", "one end", lambda m, s, g: (m, m + s * np.sqrt(2 * _log_ratio(s, g))), "The lower end is off"),
    ("intervals/region", "above the mean density", lambda density, width, gamma: density > density.mean(), "Right in the small"),
    ("intervals/region", "logarithms", lambda density, width, gamma: np.log(density) > gamma, "Some cells are off"),
    ("james-stein/bayes", "precision of the data", lambda y, s0: y * s0 / (1 + s0), "standard deviations"),
    ("james-stein/excess", "for ten", lambda n, s0: 20 / n / (1 + s0**2), "Not that excess"),
    ("james-stein/excess", "sign", lambda n, s0: -2 / (1 + s0**2), "The sign is turned round"),
    ("linex", "second order", lambda y, w, c: _moments(y, w)[0] - c / 2 * _moments(y, w)[1], "Not that decision"),
    ("lupus/worth", "of the printed table", lambda p: -np.minimum(1 - p, 100 * p), "The sign is turned round"),
    ("lupus/worth", "in states", lambda p: np.minimum(p, 1 - p), "Not those numbers"),
    (
        "model-choice/posterior",
        "no evidence",
        lambda h, n, prior: prior * 0.5**n / (prior * 0.5**n + 1 - prior),
        "Not that probability",
    ),
    (
        "pooled-testing/likelihood",
        "up to it",
        lambda t, k, n, pools: binom.cdf(k, pools, 1 - (1 - t) ** (n // pools)),
        "Not those",
    ),
    ("ridge/penalty", "times the rows", lambda sigma, sigma0: 25 * sigma**2 / sigma0**2, "Off by a factor of 25"),
    ("ridge/penalty", "sum", lambda sigma, sigma0: sigma**2 + sigma0**2, "Not that penalty"),
    ("ridge/fit", "no intercept", lambda x, y, s, s0: np.append(0.0, _ridge(x, y, s, s0)), "Not those coefficients"),
]


def _quantile(y, weights, q, step=0):
    order = np.argsort(y)
    place = np.searchsorted(np.cumsum(weights[order]) / weights.sum(), q)
    return y[order][np.clip(place + step, 0, len(y) - 1)]


def _middles(y, weights):
    order = np.argsort(y)
    return (np.cumsum(weights[order]) - weights[order] / 2) / weights.sum(), y[order]


def _evidence(counts, alpha):
    """Of one sequence."""
    one, other = alpha + counts, alpha
    return gammaln(one).sum() - gammaln(one.sum()) - gammaln(other).sum() + gammaln(other.sum())


def _log_ratio(sd, gamma):
    return max(0.0, -np.log(gamma * sd * np.sqrt(2 * np.pi)))


def _ends(mean, sd, reach):
    return mean - reach, mean + reach


def _moments(y, weights):
    mean = weights @ y / weights.sum()
    return mean, weights @ (y - mean) ** 2 / weights.sum()


def _ridge(x, y, sigma, sigma0):
    return np.linalg.solve(x.T @ x + sigma**2 / sigma0**2 * np.eye(x.shape[1]), x.T @ y)


def _augmented(x, y, sigma, sigma0):
    """Rows of zeros for the prior."""
    d = x.shape[1]
    rows = np.vstack([np.column_stack([np.ones(len(y)), x]) / sigma, np.column_stack([np.zeros(d), np.eye(d) / sigma0])])
    return np.linalg.lstsq(rows, np.append(y / sigma, np.zeros(d)), rcond=None)[0]


# answers with several parts that are right, and may come as a list or an array of them as well as in a tuple
PARTED = [
    "conjugacy/normal",
    "conjugacy/dirichlet",
    "intervals/interval",
    "model-choice/points",
    "stopping/interval",
    "stopping/coverage",
    "james-stein/risk",
]


def _tilted(y, h, below, above):
    return np.where(y >= h, below * (y - h), above * (h - y))


def _one_by_one(y, sigma, mean, sd):
    for one in y:
        mean, sd = (one * sd**2 + mean * sigma**2) / (sd**2 + sigma**2), sigma * sd / np.hypot(sigma, sd)
    return mean, sd


def _log_mean_exp(z, weights):
    return z.max() + np.log(weights @ np.exp(z - z.max()) / weights.sum())


def _binomial(count, trials, chance):
    return math.comb(trials, count) * chance**count * (1 - chance) ** (trials - count)


def _tests(theta, people, pools):
    return people if pools == people else _without_clause(theta, people, pools)


def _ragged(parts):
    out = np.empty(len(parts), dtype=object)
    out[:] = parts
    return out


FORMS = {"list": list, "numpy": np.array, "jax": jnp.array, "ragged": _ragged}
# parts of different shapes, of which neither library makes one array
RAGGED = {("conjugacy/dirichlet", "numpy"), ("conjugacy/dirichlet", "jax")}
LEGITIMATE = [
    ("best-of-many/limit", "quantile of a beta", _upper),
    ("best-of-many/limit", "halving", _upper_by_halving),
    ("best-of-many/choose", "at once", _promised),
    ("best-of-many/choose", "a list", lambda *case: list(_promised(*case))),
    ("von-neumann-morgenstern", "fourteen halvings", _halvings(14, end=True)),
    ("von-neumann-morgenstern", "a tuple", lambda *args: tuple(_halvings(20)(*args))),
    ("von-neumann-morgenstern", "four decimals", lambda *args: np.round(_halvings(20)(*args), 4)),
    ("classification/decide", "a list", lambda probabilities, losses: [int(row.argmin()) for row in probabilities @ losses]),
    ("lupus/decide", "zeros and ones", lambda p: (p > 1 / 101).astype(int)),
    ("lupus/decide", "JAX", lambda p: jnp.asarray(p) * 101 > 1),
    ("james-stein/estimator", "JAX", lambda y: _pulled(jnp.asarray(y), y.shape[-1] - 2)),
    ("stopping/interval", "JAX", lambda n, total: _interval(jnp.asarray(n), jnp.asarray(total))),
    ("stopping/coverage", "the package's own", _coverage),
    ("stopping/coverage", "run by run", _run_by_run),
    ("bayes-estimators-tilted/tilted", "least loss", lambda y, w, q: y[np.argmin([w @ _tilted(y, h, q, 1 - q) for h in y])]),
    ("bayes-estimators-tilted/imbalanced", "least loss", lambda y, w, a, b: y[np.argmin([w @ _tilted(y, h, a, b) for h in y])]),
    ("classification/threshold", "from the odds", lambda alpha, beta: 1 - 1 / (1 + alpha / beta)),
    ("conjugacy/normal", "one after the other", _one_by_one),
    ("conjugacy/dirichlet", "SciPy's", lambda n, a: (n + a, dirichlet_multinomial.logpmf(n, a, n.sum()))),
    ("intervals/interval", "in JAX", lambda m, s, g: tuple(map(jnp.asarray, _ends(m, s, s * np.sqrt(2 * _log_ratio(s, g)))))),
    ("intervals/region", "zeros and ones", lambda density, width, gamma: (density * width > gamma * width).astype(int)),
    ("james-stein/bayes", "a share of y", lambda y, s0: s0**2 * y / (1 + s0**2)),
    (
        "james-stein/positive-part",
        "where",
        lambda y: np.where((y**2).sum(-1, keepdims=True) > y.shape[-1] - 2, _pulled(y, y.shape[-1] - 2), 0),
    ),
    ("james-stein/excess", "in full", lambda n, s0: (n - (n - 2) / (1 + s0**2)) - n * s0**2 / (1 + s0**2)),
    ("linex", "shifted by hand", lambda y, w, c: -_log_mean_exp(-c * y, w) / c),
    ("lupus/worth", "a list", lambda p: [min(1 - one, 100 * one) for one in p.tolist()]),
    (
        "model-choice/posterior",
        "logarithms",
        lambda h, n, prior: expit(betaln(h + 1, n - h + 1) + n * np.log(2) + logit(prior)),
    ),
    ("model-choice/points", "a list", lambda theta, p: list(_points(theta, p))),
    (
        "pooled-testing/likelihood",
        "written out",
        lambda t, k, n, pools: _binomial(k, pools, 1 - (1 - t) ** (n // pools)),
    ),
    ("pooled-testing/best-pools", "a float", lambda theta, people: float(_fewest_tests(theta, people, _tests))),
    ("ridge/penalty", "JAX", lambda sigma, sigma0: jnp.square(sigma / sigma0)),
    ("ridge/fit", "rows for the prior", _augmented),
    ("stopping/alarm", "NumPy", lambda key, runs, looks: float(np.asarray(_alarm(key, runs, looks)))),
    ("james-stein/risk", "divided by the number of runs", lambda *args: (_risk(*args)[0], _risk(*args)[1] * (1 - 1 / args[-1]) ** 0.5)),
]


test_decisions = near_misses.trial(
    A_DECISION,
    NEAR_MISSES,
    LEGITIMATE,
    BY_HAND,
    sheets=FIRST_SHEETS,
    random=("james-stein/risk", "stopping/alarm", "stopping/coverage", "von-neumann-morgenstern"),
    many=3,
)


A_GRADIENT = "gradients/"


def _cdf_difference(step, both_sides=False):
    def answer(theta, alpha):
        below = alpha - step if both_sides else alpha
        rise = gamma.cdf(theta, alpha + step) - gamma.cdf(theta, below)
        return -rise / (alpha + step - below) / gamma.pdf(theta, alpha)

    return answer


def _by_the_quantile(quantile):
    def answer(theta, alpha):
        level = gamma.cdf(theta, alpha)
        return (quantile(level, alpha + 1e-5) - quantile(level, alpha - 1e-5)) / 2e-5

    return answer


def _normal_bound(log_joint, eps, mu, sigma, spread=1.0, *, log_q=norm.logpdf):
    theta = mu + sigma**spread * eps
    return (log_joint(theta) - log_q(theta, mu, sigma)).mean()


def _closed_entropy(log_joint, eps, mu, sigma):
    return log_joint(mu + sigma * eps).mean() + 0.5 * jnp.log(2 * jnp.pi * jnp.e * sigma**2)


def _counts(theta, x, successes, trials, prior_sd, log=np.log, exp=np.exp):
    chance = 1 / (1 + exp(-(theta[0] + x @ theta[1:])))
    return (successes * log(chance) + (trials - successes) * log(1 - chance)).sum() - 0.5 * (theta**2).sum() / prior_sd**2


def _any_fails(draws, x, parts):
    return (1 - (1 - expit(draws[:, :1] + draws[:, 1:] @ x.T)) ** parts).mean(axis=0)


NO_JAX = "JAX cannot differentiate your function"
GRADIENT_NEAR_MISSES = [
    ("score-function/score", "variance for sigma", lambda t, mu, v: ((t - mu) / v, ((t - mu) ** 2 / v - 1) / v), "You took sigma for a"),
    ("control-variate/coefficient", "np.cov", lambda t, c: np.cov(t, c)[0, 1], "That is the covariance"),
    ("reparameterisation/objective", "plain SciPy", _normal_bound, NO_JAX),
    (
        "reparameterisation/entropy",
        "e forgotten",
        lambda log_joint, eps, mu, sigma: _closed_entropy(log_joint, eps, mu, sigma) - 0.5,
        "1.419 at sigma = 1",
    ),
    ("path-derivative/crossing", "both roots", lambda s: (s / 2**0.5, -s / 2**0.5), "Expected one value"),
    ("implicit-gamma/slope", "coarse step", _cdf_difference(0.03), "Close, but not exact"),
    ("implicit-gamma/slope", "quantile", _by_the_quantile(gamma.ppf), "from the quantile function"),
    ("implicit-gamma/slope", "frozen quantile", _by_the_quantile(lambda at, alpha: gamma(alpha).ppf(at)), "from the quantile function"),
    ("implicit-gamma/slope", "upside down", lambda *case: 1 / _cdf_difference(1e-5)(*case), "Upside down: that is one over it."),
    ("implicit-gamma/gradient", "g' alone", lambda g_slope, theta, alpha: g_slope(theta).mean(), "average move"),
    ("find-the-bug/elbo", "rows only", lambda y, mu, sigma, s, s0: norm.logpdf(y, mu, s).sum(), "-2.838"),
    (
        "find-the-bug/prior",
        "sd not squared",
        lambda r, n, t, s, s0: n / len(r) * (r - t).sum() / s - t / s0,
        "Not that slope",
    ),
    ("logistic-regression/log-joint", "plain NumPy", _counts, NO_JAX),
    ("logistic-regression/log-joint", "no failures", lambda *case: _counts(*case, log=lambda p: p), "peaks at log 3"),
    ("logistic-regression/probability", "a quarter", lambda draws, x: np.full(len(x), 0.25), "it is 5/8"),
    (
        "logistic-regression/inspect",
        "price for each part",
        lambda draws, x, parts, price, damage: damage * _any_fails(draws, x, parts) > parts * price,
        "up to a price of 3",
    ),
    ("vary/rattle", "variance squared", lambda r, c, v, m: r * v**2 / m / (c * (2 - r * c)), "Your answer is right for other inputs"),
    ("robbins-monro/conditions", "edge of the first", lambda p: (p < 1, p > 0.5), "The first truth value is off; the rest is right."),
    ("robbins-monro/remaining", "one step fewer", lambda r, p, n: np.prod(1 - r * np.arange(1.0, n) ** -p), "as if `steps` were one less"),
    ("robbins-monro/spread", "the last rate only", lambda rates, v: rates[-1] * v / (2 - rates[-1]), "13/64"),
    ("one-liners/gaussian", "fresh noise", lambda a, b: np.random.default_rng().normal(size=len(a)), "do not come from eps"),
    ("one-liners/log-normal", "sorted", lambda eps, mu, sigma: mu + sigma * np.sort(eps), "do not come from eps"),
    ("encoder/kl", "one half forgotten", lambda m, s: (m**2 + np.exp(2 * s) - 1 - s).sum(-1), "Not that divergence"),
    ("encoder/bound", "median weight", lambda w: np.median(w, axis=0), "it is [log 2]"),
    ("what-is-left/unit", "widths of length one", lambda g, L: L.T @ g / np.linalg.norm(L, axis=0), "it is [4, 6]"),
    ("what-is-left/promised", "neighbours", lambda s: 0.5 * (s[:-1] * s[1:]).sum(1).mean(), "13/6"),
    ("what-is-left/promised", "variance of the mean off", lambda s: 0.5 * (s.mean(0) ** 2).sum() - 0.5 * s.var(0).sum(), "13/6"),
]
GRADIENT_LEGITIMATE = [
    (
        "reparameterisation/objective",
        "base density",
        lambda lj, e, mu, s: (lj(mu + s * e) - jax.scipy.stats.norm.logpdf(e)).mean() + jnp.log(s),
    ),
    (
        "reparameterisation/gradient",
        "1/sigma in one",
        lambda g, e, mu, s: (g(mu + s * e).mean(), (g(mu + s * e) * e).mean() + 1 / s),
    ),
    ("reparameterisation/entropy", "JAX", _closed_entropy),
    ("encoder/bound", "in jax", lambda w: jax.nn.logsumexp(jnp.asarray(w), axis=0) - np.log(len(w))),
    (
        "what-is-left/promised",
        "noise estimated and taken off",
        lambda s: 0.5 * ((s.mean(axis=0) ** 2) - s.var(axis=0, ddof=1) / len(s)).sum(),
    ),
    ("implicit-gamma/slope", "fine steps", _cdf_difference(1e-8)),
    ("implicit-gamma/slope", "both sides", _cdf_difference(1e-2, both_sides=True)),
    ("logistic-regression/log-joint", "jnp", lambda *case: _counts(*map(jnp.asarray, case), log=jnp.log, exp=jnp.exp)),
    ("logistic-regression/inspect", "at least", lambda draws, x, parts, price, damage: damage * _any_fails(draws, x, parts) >= price),
]


test_gradients = near_misses.trial(A_GRADIENT, GRADIENT_NEAR_MISSES, GRADIENT_LEGITIMATE, many=3)


@pytest.mark.parametrize("name", PARTED)
def test_several_values_may_come_in_any_container_of_the_right_length(name, solved):
    for form, made in FORMS.items():
        if (name, form) not in RAGGED:
            verdict = judge(A_DECISION + name, lambda *args, made=made: made(solved[A_DECISION + name](*args)))
            assert verdict.passed, (form, verdict.message)


def test_a_wrong_first_part_is_mentioned_where_the_second_is_built_on_it():
    def tilted_from_above(y, weights, q):
        order = np.argsort(y)[::-1]
        return y[order][np.searchsorted(np.cumsum(weights[order]) / weights.sum(), q)]

    def tilted_by_no_rule(y, weights, q):
        return float(y.max())

    for tilted in (tilted_from_above, tilted_by_no_rule):
        verdict = judge("decisions/bayes-estimators-tilted/imbalanced", lambda y, w, a, b, part=tilted: part(y, w, a / (a + b)))
        assert verdict.message.endswith("If part 1 is not right yet, mend that first.")


def test_where_pools_do_not_pay_everybody_is_tested_alone(solved):
    best = solved["decisions/pooled-testing/best-pools"]
    assert [best(0.4, 24), best(0.35, 60)] == [24, 60]
    assert [_fewest_tests(theta, people, _without_clause) for theta, people in [(0.4, 24), (0.35, 60)]] == [1, 1]
