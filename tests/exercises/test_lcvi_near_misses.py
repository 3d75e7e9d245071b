"""Loss calibration: answers that are nearly right must not pass, right ones in another form must, and hints at a small case must hold."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from scipy.stats import halfcauchy, norm

from course_pkg.checks import judge
from course_pkg.checks._judge import agree, numbers
from tests.exercises import near_misses

E = np.e


def _bump(theta):
    return np.exp(-0.5 * (theta - 2) ** 2)


def _bump_slope(theta):
    return (2 - theta) * _bump(theta)


def _cubic(key, mu):
    return mu**3 + float(jax.random.normal(key))


def _a(*values):
    return np.array(values)


def _pinball(gap, level):
    return jnp.maximum(level * gap, (level - 1) * gap)


PAIR = np.array([0.5, 0.5])
KEY = jax.random.key(7)
# the small cases that the verdicts describe: task, inputs, answer as it is printed there
EXAMPLES = [
    ("bound/bound", (_a(3, 3), _a(0.25, 0.75), _a(1, E**2)), 1.369),
    ("bound/best", (_a(0.693, 0), _a(1.0, 3)), _a(0.4, 0.6)),
    ("loss-to-utility/scale", (np.array([[5.0, 4, 9], [1, 9, 0], [6, 5, 8]]), _a(2.0, 7, 5), 0.75), 4),
    ("loss-to-utility/exponential", (_a(2.0), 2.0), (_a(0.368), _a(-0.184))),
    ("loss-to-utility/best", (_a(2.0, 5, 5, 5), _a(2, 3, 4, 5), 2.0), (4, 5)),
    ("shift-and-scale/pull", (_a(2.0), _a(1.0), 3.0, 1.0), _a(3 / 7)),
    ("shift-and-scale/smallest", (np.array([[2, 0.5]]), 4.0), -2),
    ("shift-and-scale/smallest", (np.array([[2, -0.5]]), 4.0), 2),
    ("shift-and-scale/place", (_bump, _bump_slope, _a(-1.0, 1), 1.0, 0.0), 1),
    ("shift-and-scale/place", (_bump, _bump_slope, _a(-1.0, 1), 1.0, 1.0), 0.196),
    ("naive-term/term", (np.array([[[0.0], [1]], [[0], [2]], [[0], [0]]]), _a(0.0), 1.0), -0.352),
    ("naive-term/term", (np.array([[[0.0, 1]]]), _a(0.0, 3), 1.0), -4),
    ("naive-term/corrected", (np.array([[1.0, 3]]),), 0.818),
    ("naive-term/corrected", (np.array([[1.0, 3], [4, 4]]),), 1.102),
    ("which-estimator/expected", (_a(0.25, 0.75), _a(1.0, 3), 2), 0.878),
    ("which-estimator/biases", (PAIR, _a(0.0, 2), 3.0, 2), (-0.072, -0.144, 0.072)),
    ("which-estimator/preferred", (_a(0.9, 0.1), np.array([[0, 1], [2.99, 1]]), 3.0, 2), (0, 1, 0)),
    ("double-reparameterisation/gradient", (-1.0, 1.0, 0.0, _a(2.0), np.array([[-1.0]]), 1.0, 2.0), (-1, -2, 1)),
    ("double-reparameterisation/difference", (_cubic, KEY, 2.0, 0.5), 12.25),
    ("discrete/worths", (np.array([[[0.5, 0.5]], [[1, 0]], [[1, 0]]]), np.array([[0.0, 2], [4, 1]]), 5.0), np.array([[1.439, 1.150]])),
    ("discrete/both", (np.array([[[0.0, 1]], [[1, 0]]]), np.array([[0, 2.6], [5, 2.5]]), 5.1), (_a(1), _a(0))),
    ("em-step/decide", (np.array([[9.0, 1, 4], [4, 6, 1], [2, 1, 1]])[:, :, None], 0.75), _a(4)),
    ("em-step/round", (PAIR, np.array([[[2.0, 1], [3, 4]], [[3, 2], [3, 4]]]), _a(0, 0)), (_a(0.4, 0.6), _a(0, 1))),
    ("joint-step/bound", (1.0, 0.5, _a(3.0, 1), _a(2.0, 1), 0.0, 2.0, 3.0, 4.0), -6.105),
    ("joint-step/gradient", (1.0, 0.5, _a(3.0, 0), _a(2.0, 1), _a(0), 0.0, 2.0, 1.0, 4.0), (1.75, -0.125, _a(-1, 0))),
    ("find-the-bug/decide", (np.array([[0.0, 0, 3]]), _a(0, 1), 1.0), 0),
    ("find-the-bug/minibatch", (_a(0.0, 1), _a(1.0, 1), 6, _a(1.0, -1), 0.0, 0.5, 2.0, 1.0, 4.0), -18.428),
    ("find-the-bug/density", (0.0, _a()), -2.100),
    ("find-the-bug/density", (1.0, _a(0.0, 1)), -5.226),
    ("was-it-calibration/risks", (0.0, 1.0, 1.0, 0.2, 0.5), (0.583, 0.080)),
    ("was-it-calibration/credit", (_a(6.0, 4), _a(5.0, 3), _a(6.0, 5)), (-0.1, 0.2, -0.375)),
    ("solve-or-train/slope", (_a(1.0), np.array([[2.0], [1]]), np.array([[3, 1.1], [1.9, 5]]), 0.3), _a(0.05)),
    ("solve-or-train/points", (9.0, 4.0, 50.0, 2.0), 20),
    ("your-own/loss", (_a(3.1, 3.7, 2.5), _a(3.0, 3, 3)), _a(0, 1.5, 0.5)),
]


def _u(y, h, M):
    return np.exp(-((y - h) ** 2) / M)


def _moments(u):
    return u.mean(axis=1), u.var(axis=1, ddof=1), u.shape[1]


def _term_of_y(y, mu, sigma, h, M):
    u = jnp.exp(-((y - h) ** 2) / M)
    return jnp.log(u.mean(axis=1)).mean()


def _gradient_with(outcome):
    def answer(mu, sigma, h, eps, delta, s, M):
        return jax.grad(lambda m, w, at: _term_of_y(outcome(m, w, eps, delta, s), m, w, at, M), argnums=(0, 1, 2))(mu, sigma, h)

    return answer


def _gradient_by_hand(mu, sigma, h, eps, delta, s, M):
    out = np.zeros(3)
    for e, noise in zip(eps, delta, strict=True):
        y = np.exp(mu + sigma * e + s * noise)
        u = _u(y, h, M)
        along = (u * -2 * (y - h) / M * y).sum() / u.sum()
        out += np.array([along, along * e, (u * 2 * (y - h) / M).sum() / u.sum()]) / len(eps)
    return list(out)


def _joint(m, s, h, x, index, a, t, tau, M, *, weight=None, spread=lambda x: x**2, kl=lambda m, s, a, t: 0.0):
    def estimate(m, s, h):
        loss = (h[index] - x[index] * m) ** 2 + spread(x[index]) * s**2 + tau**2
        divergence = jnp.log(t / s) + (s**2 + (m - a) ** 2) / (2 * t**2) + kl(m, s, a, t)
        return -divergence - (len(h) / len(index) if weight is None else weight(h, index)) * loss.sum() / M

    return jax.grad(estimate, argnums=(0, 1, 2))(m, s, jnp.asarray(h))


def _round_by(of):
    def answer(p, u, h):
        q = softmax(np.log(p) + sum(np.log(u[n, :, h[n]]) for n in range(len(h))))
        return q, of(q, u)

    return answer


def _bound_of(*, tau=lambda tau: tau**2, half=0.5, s=lambda s: s**2):
    def answer(m, s_, h, x, a, t, tau_, M):
        divergence = np.log(t / s_) + (s_**2 + (m - a) ** 2) / (2 * t**2) - half
        return -divergence - ((h - x * m) ** 2 + x**2 * s(s_) + tau(tau_)).sum() / M

    return answer


def _minibatch(rows, h, n, eps, mu, sigma, s, s0, M, *, noise=1.0, cost_mean=False, jacobian=0.0, scale=None):
    theta, k = mu + sigma * eps, n / len(rows) if scale is None else scale(n, rows)
    fit = norm.logpdf(rows[:, None], theta, s).sum(axis=0)
    at = np.full_like(theta, mu) if cost_mean else theta
    cost = ((h[:, None] - at) ** 2 + noise * s**2).sum(axis=0) / M
    return (k * (fit - cost) + norm.logpdf(theta, 0, s0) - norm.logpdf(theta, mu, sigma) + jacobian * np.log(sigma)).mean()


NEAR_MISSES = [
    ("solve-or-train/slope", "softened", lambda w, X, y, k: X.T @ (1 / (1 + np.exp((y - X @ w) / 0.05)) - k).mean(axis=0) / len(X)),
    ("solve-or-train/slope", "scaled by the level", lambda w, X, y, k: X.T @ ((y < X @ w) - k).mean(axis=0) / len(X) / k),
    ("solve-or-train/points", "whole draws", lambda c, p, T, e: T * p / (min(c / S + p * S for S in range(1, 200)) - e)),
    ("solve-or-train/points", "training's draws in e", lambda c, p, T, e: T * p / (2 * np.sqrt(c * p) - e * p)),
    ("solve-or-train/points", "never", lambda c, p, T, e: np.inf),
    ("bound/bound", "log2", lambda lj, q, u: q @ (lj - logsumexp(lj) + np.log2(u) - np.log(q))),
    ("bound/bound", "term by term", lambda lj, q, u: q * (lj - logsumexp(lj) + np.log(u) - np.log(q))),
    ("bound/bound", "minus the bound", lambda lj, q, u: -(q @ (lj - logsumexp(lj) + np.log(u) - np.log(q)))),
    ("bound/bound", "bound exponentiated", lambda lj, q, u: np.exp(q @ (lj - logsumexp(lj) + np.log(u) - np.log(q)))),
    ("bound/best", "square root", lambda lj, u: softmax(lj + 0.5 * np.log(u))),
    ("bound/best", "p log u", lambda lj, u: softmax(lj) * np.log(u) / (softmax(lj) @ np.log(u))),
    ("bound/best", "logs", lambda lj, u: lj + np.log(u) - logsumexp(lj + np.log(u))),
    ("loss-to-utility/scale", "around the mean", lambda y, h, q: np.quantile(np.abs(y - y.mean(axis=0)), q)),
    ("loss-to-utility/scale", "median of the rows", lambda y, h, q: np.median(np.quantile(np.abs(y - h), q, axis=0))),
    ("loss-to-utility/scale", "per draw", lambda y, h, q: np.quantile(np.abs(y - h), q, axis=1).mean()),
    ("loss-to-utility/exponential", "half", lambda l, M: (np.exp(-l / (2 * M)), -np.exp(-l / (2 * M)) / (2 * M))),
    ("loss-to-utility/exponential", "slope in gamma", lambda l, M: (np.exp(-l / M), -l * np.exp(-l / M))),
    ("loss-to-utility/exponential", "utility only", lambda l, M: np.exp(-l / M)),
    ("loss-to-utility/best", "half M", lambda y, g, M: (g[_u(y[:, None], g, np.inf).argmax() * 0], g[0])),
    (
        "loss-to-utility/best",
        "median first",
        lambda y, g, M: (g[np.abs(g - np.median(y)).argmin()], g[_u(y[:, None], g, M).mean(axis=0).argmax()]),
    ),
    ("loss-to-utility/best", "mode", lambda y, g, M: (g[np.abs(g - y.mean()).argmin()], g[_u(y[:, None], g, 0.05).mean(axis=0).argmax()])),
    ("shift-and-scale/pull", "log twice", lambda i, d, a, b: np.log(a * np.abs(d)) - np.log(b + a * i)),
    ("shift-and-scale/pull", "one for all", lambda i, d, a, b: a * d.mean() / (b + a * i.mean())),
    ("shift-and-scale/pull", "without u", lambda i, d, a, b: a * d / (b + a)),
    ("shift-and-scale/smallest", "per decision", lambda u, a: -a * u.min(axis=0)),
    ("shift-and-scale/smallest", "largest column minimum", lambda u, a: -a * u.min(axis=0).max()),
    ("shift-and-scale/smallest", "just above", lambda u, a: -a * u.min() + 0.1),
    ("shift-and-scale/smallest", "never above zero", lambda u, a: min(0.0, -a * u.min())),
    (
        "shift-and-scale/place",
        "two steps",
        lambda u, d, e, a, b: (lambda g: g(g(0.0)))(lambda m: np.mean(a * d(m + e) / (b + a * u(m + e)))),
    ),
    ("naive-term/term", "median over theta", lambda y, h, M: np.median(np.log(_u(y, h, M).mean(axis=1)), axis=0).sum()),
    ("naive-term/term", "theta by theta", lambda y, h, M: np.log(_u(y, h, M).mean(axis=1)).sum(axis=1)),
    ("naive-term/term", "product in the log", lambda y, h, M: np.log(_u(y, h, M).mean(axis=1).prod(axis=1).mean())),
    ("naive-term/term", "sum in the log", lambda y, h, M: np.log(_u(y, h, M).mean(axis=1).sum(axis=1)).mean()),
    ("naive-term/term", "mean outcome first", lambda y, h, M: np.log(_u(y.mean(axis=1), h, M)).mean(axis=0).sum()),
    ("naive-term/term", "mean decision", lambda y, h, M: np.log(_u(y, h.mean(), M).mean(axis=1)).mean(axis=0).sum()),
    ("naive-term/term", "log10", lambda y, h, M: np.log10(_u(y, h, M).mean(axis=1)).mean(axis=0).sum()),
    ("naive-term/corrected", "S_theta", lambda u: (lambda m, v, n: np.log(m) + v / (2 * len(u) * m**2))(*_moments(u)).mean()),
    (
        "naive-term/corrected",
        "variance of the logs",
        lambda u: (np.log(u.mean(axis=1)) + np.log(u).var(axis=1, ddof=1) / (2 * u.shape[1])).mean(),
    ),
    ("naive-term/corrected", "inside the log", lambda u: (lambda m, v, n: np.log(m + v / (2 * n * m**2)))(*_moments(u)).mean()),
    ("naive-term/corrected", "inside, relative", lambda u: (lambda m, v, n: np.log(m * (1 + v / (2 * n * m**2))))(*_moments(u)).mean()),
    (
        "naive-term/corrected",
        "mean squared outside",
        lambda u: (lambda m, v, n: np.log(m) + v / (2 * n * (m**2).mean()))(*_moments(u)).mean(),
    ),
    ("which-estimator/expected", "one more draw", lambda p, u, d: _expected(p, u, d + 1)),
    (
        "which-estimator/expected",
        "simulated",
        lambda p, u, d: np.log(np.random.default_rng(0).choice(u, (1000, d), p=p).mean(axis=1)).mean(),
    ),
    ("which-estimator/expected", "geometric", lambda p, u, d: d * (p @ np.log(u))),
    ("which-estimator/biases", "sizes", lambda p, l, M, d: tuple(abs(b) for b in _biases(p, l, M, d))),
    ("which-estimator/biases", "order", lambda p, l, M, d: tuple(_biases(p, l, M, d)[i] for i in (1, 0, 2))),
    ("which-estimator/biases", "log M twice", lambda p, l, M, d: (*_biases(p, l, M, d)[:2], _biases(p, l, M, d)[2] + np.log(M))),
    ("which-estimator/biases", "one draw for all", lambda p, l, M, d: _biases(p, l, M, 1)),
    ("which-estimator/preferred", "least mean loss unweighted", lambda p, l, M, d: (int(l.mean(axis=0).argmin()),) * 3),
    ("which-estimator/preferred", "minimax", lambda p, l, M, d: (int(l.max(axis=0).argmin()),) * 3),
    (
        "double-reparameterisation/gradient",
        "delta scaled by sigma",
        _gradient_with(lambda m, w, e, d, s: jnp.exp(m + w * e[:, None] + w * d)),
    ),
    ("double-reparameterisation/gradient", "no eps", _gradient_with(lambda m, w, e, d, s: jnp.exp(m + w + s * d))),
    ("double-reparameterisation/gradient", "two values", lambda *case: _gradient_by_hand(*case)[:2]),
    ("discrete/worths", "each outcome alike", lambda p, c, M: np.log(p @ (M - c)).mean(axis=0) * 0 + np.log((M - c).mean(axis=0))),
    ("discrete/worths", "rows averaged", lambda p, c, M: np.log(p @ (M - c)).mean(axis=1)),
    ("discrete/worths", "best only", lambda p, c, M: np.log(p @ (M - c)).mean(axis=0).max(axis=1)),
    ("discrete/both", "first theta", lambda p, c, M: (np.log(p @ (M - c)).mean(axis=0).argmax(axis=1), (p[0] @ c).argmin(axis=1))),
    ("discrete/both", "largest utility", lambda p, c, M: ((p @ (M - c)).max(axis=0).argmax(axis=1), (p.mean(axis=0) @ c).argmin(axis=1))),
    ("em-step/decide", "mean of q and 1 - q", lambda y, q: (np.quantile(y, q, axis=(0, 1)) + np.quantile(y, 1 - q, axis=(0, 1))) / 2),
    ("em-step/round", "unweighted", _round_by(lambda q, u: np.log(u).sum(axis=1).argmax(axis=1))),
    ("em-step/round", "all decisions in q", lambda p, u, h: (softmax(np.log(p) + np.log(u).sum(axis=(0, 2))), h)),
    ("joint-step/bound", "tau not squared", _bound_of(tau=lambda tau: tau)),
    ("joint-step/bound", "half forgotten", _bound_of(half=0.0)),
    ("joint-step/bound", "half added", _bound_of(half=-0.5)),
    ("joint-step/bound", "root of the spread", _bound_of(s=lambda s: s**4)),
    ("joint-step/gradient", "mean", lambda *c: _joint(*c, weight=lambda h, i: 1 / len(i))),
    ("joint-step/gradient", "times n", lambda *c: _joint(*c, weight=lambda h, i: len(h))),
    ("joint-step/gradient", "x forgotten", lambda *c: _joint(*c, spread=lambda x: 1.0 + 0 * x)),
    (
        "find-the-bug/decide",
        "median over theta",
        lambda y, g, M: g[np.median(np.log(_u(y[:, :, None], g, M).mean(axis=1)), axis=0).argmin()],
    ),
    ("find-the-bug/minibatch", "noise forgotten", lambda *c: _minibatch(*c, noise=0.0)),
    ("find-the-bug/minibatch", "noise twice", lambda *c: _minibatch(*c, noise=2.0)),
    ("find-the-bug/minibatch", "cost at mu", lambda *c: _minibatch(*c, cost_mean=True)),
    ("find-the-bug/minibatch", "log-det added", lambda *c: _minibatch(*c, jacobian=1.0)),
    (
        "find-the-bug/density",
        "full Cauchy",
        lambda t, e: halfcauchy.logpdf(np.exp(t), scale=5) - np.log(2) + t + norm.logpdf(e, 0, np.exp(t)).sum(),
    ),
    (
        "find-the-bug/density",
        "variance tau",
        lambda t, e: halfcauchy.logpdf(np.exp(t), scale=5) + t + norm.logpdf(e, 0, np.exp(t / 2)).sum(),
    ),
    (
        "find-the-bug/density",
        "effects averaged",
        lambda t, e: halfcauchy.logpdf(np.exp(t), scale=5) + t + (norm.logpdf(e, 0, np.exp(t)).mean() if len(e) else 0),
    ),
    ("find-the-bug/density", "effects left out", lambda t, e: halfcauchy.logpdf(np.exp(t), scale=5) + t),
    ("was-it-calibration/risks", "shifted", lambda pm, ps, qm, qs, a: (abs(pm - qm), ps)),
    ("was-it-calibration/risks", "doubled", lambda *c: tuple(2 * value for value in _risks(*c))),
    ("was-it-calibration/credit", "logs", lambda e, l, c: tuple(np.log(a.mean() / b.mean()) for a, b in ((e, c), (e, l), (l, c)))),
    (
        "was-it-calibration/credit",
        "summed shares",
        lambda e, l, c: (1 - c.mean() / e.mean(), 1 - l.mean() / e.mean(), l.mean() / e.mean() - c.mean() / l.mean()),
    ),
    ("your-own/loss", "jump", lambda y, h: jnp.where(y - h > 0.2, 3 * (y - h) - 0.2, jnp.maximum(h - y, 0))),
    ("your-own/loss", "allowance times three", lambda y, h: jnp.maximum(3 * (y - h) - 0.2, 0) + jnp.maximum(h - y, 0)),
]
# mistakes in another form must still be called by their names
NAMED = [
    ("solve-or-train/slope", "for each point", lambda w, X, y, k: X * ((y < X @ w).mean(axis=0) - k)[:, None], "have shape (3,)"),
    (
        "solve-or-train/points",
        "no clause",
        lambda c, p, T, e: T * p / (2 * np.sqrt(c * p) - e),
        "training never pays",
    ),
    ("double-reparameterisation/difference", "half steps", lambda f, k, m, c: _central(f, k, m, c / 2), "Not that slope"),
    ("double-reparameterisation/difference", "double steps", lambda f, k, m, c: _central(f, k, m, 2 * c), "Not that slope"),
    ("double-reparameterisation/difference", "a small step", lambda f, k, m, c: _central(f, k, m, 1e-4), "Not that slope"),
    ("double-reparameterisation/difference", "one small step", lambda f, k, m, c: (f(k, m + 1e-5) - f(k, m)) / 1e-5, "Not that slope"),
    ("double-reparameterisation/difference", "by JAX", lambda f, k, m, c: jax.grad(lambda at: f(k, at))(m), "Not that slope"),
    ("shift-and-scale/place", "two decimals", lambda *case: _place(*case) + 0.004, ("to three decimals", "Close, but not exact")),
    ("was-it-calibration/risks", "two hundred thousand draws", lambda *case: _risks_by_draws(*case, 200_000), "Close, but not exact"),
    ("was-it-calibration/risks", "a million draws", lambda *case: _risks_by_draws(*case, 1_000_000), "Close, but not exact"),
    ("was-it-calibration/credit", "no loss", lambda e, l, c: tuple(max(0.0, 1 - a / b) for a, b in _means(e, l, c)), "Not those three"),
    ("was-it-calibration/credit", "sizes", lambda e, l, c: tuple(abs(1 - a / b) for a, b in _means(e, l, c)), "Off by a factor"),
]
LEGITIMATE = [
    ("solve-or-train/slope", "JAX", lambda w, X, y, k: jax.grad(lambda v: _pinball(y - (X @ v)[None], k).mean())(jnp.asarray(w))),
    ("solve-or-train/slope", "a list", lambda w, X, y, k: list(np.einsum("sb,bj->j", (y < X @ w) - k, X) / y.size)),
    ("solve-or-train/points", "closed", lambda c, p, T, e: T * p / max(2 * math.sqrt(c * p) - e, 0) if 4 * c * p > e * e else math.inf),
    ("bound/bound", "JAX", lambda lj, q, u: jnp.sum(q * (jax.nn.log_softmax(lj) + jnp.log(u) - jnp.log(q)))),
    ("bound/bound", "by loops", lambda lj, q, u: sum(a * math.log(b * c / a) for a, b, c in zip(q, softmax(lj), u, strict=True))),
    ("bound/best", "softmax", lambda lj, u: softmax(lj + np.log(u))),
    ("bound/best", "a list", lambda lj, u: list(softmax(lj) * u / (softmax(lj) @ u))),
    ("loss-to-utility/scale", "sorted", lambda y, h, q: np.sort(np.abs(y - h).ravel())[math.ceil(q * y.size) - 1]),
    ("loss-to-utility/scale", "JAX", lambda y, h, q: jnp.quantile(jnp.abs(jnp.asarray(y) - h[None]), q)),
    ("loss-to-utility/scale", "inverted CDF", lambda y, h, q: np.quantile(np.abs(y - h), q, method="inverted_cdf")),
    ("loss-to-utility/exponential", "list", lambda l, M: [np.exp(-l / M), -np.exp(-l / M) / M]),
    ("loss-to-utility/exponential", "grad", lambda l, M: (jnp.exp(-l / M), jax.vmap(jax.grad(lambda x: jnp.exp(-x / M)))(jnp.asarray(l)))),
    (
        "loss-to-utility/best",
        "broadcast the other way",
        lambda y, g, M: (g[((g[:, None] - y) ** 2).mean(axis=1).argmin()], g[np.exp(-((g[:, None] - y) ** 2) / M).sum(axis=1).argmax()]),
    ),
    ("shift-and-scale/pull", "divided through", lambda i, d, a, b: d / (b / a + i)),
    ("shift-and-scale/smallest", "max", lambda u, a: np.max(-a * u)),
    ("shift-and-scale/place", "damped iteration", lambda u, d, e, a, b: _iterate(lambda m: np.mean(a * d(m + e) / (b + a * u(m + e))))),
    ("shift-and-scale/place", "three decimals", lambda *case: round(_place(*case), 3)),
    ("shift-and-scale/place", "Nelder-Mead", lambda *case: _place(*case, method="Nelder-Mead")),
    ("naive-term/term", "logsumexp", lambda y, h, M: (logsumexp(-((y - h) ** 2) / M, axis=1) - np.log(y.shape[1])).mean(axis=0).sum()),
    ("naive-term/term", "JAX", lambda y, h, M: jnp.log(jnp.exp(-((jnp.asarray(y) - h[None, None]) ** 2) / M).mean(1)).mean(0).sum()),
    ("naive-term/corrected", "by loops", lambda u: np.mean([math.log(r.mean()) + r.var(ddof=1) / (2 * len(r) * r.mean() ** 2) for r in u])),
    ("which-estimator/expected", "multiplicities", lambda p, u, d: _expected(p, u, d)),
    ("double-reparameterisation/gradient", "by hand, a list", _gradient_by_hand),
    ("double-reparameterisation/difference", "other order", lambda f, k, m, c: -(f(k, m - c) - f(k, m + c)) / c / 2),
    ("discrete/worths", "einsum", lambda p, c, M: np.log(M - np.einsum("snc,ch->snh", p, c)).mean(axis=0)),
    ("discrete/both", "pooled", lambda p, c, M: (np.log(p @ (M - c)).sum(axis=0).argmax(axis=1), (p @ c).sum(axis=0).argmin(axis=1))),
    ("em-step/decide", "moved axes", lambda y, q: np.quantile(np.moveaxis(y, 2, 0).reshape(y.shape[2], -1), q, axis=1)),
    ("em-step/decide", "order statistic", lambda y, q: np.sort(y.reshape(-1, y.shape[2]), axis=0)[math.ceil(q * y[:, :, 0].size) - 1]),
    ("em-step/round", "logs", _round_by(lambda q, u: np.einsum("k,nkh->nh", q, np.log(u)).argmax(axis=1))),
    (
        "em-step/round",
        "lists",
        lambda p, u, h: tuple(list(part) for part in _round_by(lambda q, u: np.einsum("k,nkh->nh", q, np.log(u)).argmax(1))(p, u, h)),
    ),
    ("joint-step/bound", "without the constant's name", _bound_of()),
    ("joint-step/gradient", "JAX", _joint),
    ("find-the-bug/decide", "JAX", lambda y, g, M: g[int(jnp.log(jnp.exp(-((y[:, :, None] - g) ** 2) / M).mean(1)).mean(0).argmax())]),
    ("find-the-bug/minibatch", "another grouping", _minibatch),
    (
        "find-the-bug/density",
        "written out",
        lambda t, e: math.log(2 / (5 * math.pi)) - math.log1p((math.exp(t) / 5) ** 2) + t + norm.logpdf(e, scale=math.exp(t)).sum(),
    ),
    ("was-it-calibration/risks", "by quadrature", lambda *case: _risks(*case)),
    ("was-it-calibration/risks", "a grid", lambda *case: _risks_on_a_grid(*case)),
    (
        "was-it-calibration/credit",
        "totals",
        lambda e, l, c: np.array([1 - c.sum() / e.sum(), 1 - l.sum() / e.sum(), 1 - c.sum() / l.sum()]),
    ),
    ("your-own/loss", "where", lambda y, h: jnp.where(y > h + 0.2, 3 * (y - h - 0.2), jnp.where(y < h, h - y, 0.0))),
    ("your-own/loss", "maximum of three", lambda y, h: jnp.maximum(jnp.maximum(3 * (y - h - 0.2), h - y), 0)),
]


def _central(f, key, mu, step):
    return (f(key, mu + step) - f(key, mu - step)) / (2 * step)


def _place(u, du, eps, alpha, beta, method="BFGS"):
    return float(minimize(lambda m: m[0] ** 2 / 2 - np.log(beta + alpha * u(m + eps)).mean(), [0.3], method=method).x[0])


def _means(early, long, calibrated):
    return [(calibrated.mean(), early.mean()), (long.mean(), early.mean()), (calibrated.mean(), long.mean())]


def _iterate(pull, m=0.0):
    for _ in range(400):
        m = 0.7 * m + 0.3 * pull(m)
    return m


def _expected(p, u, draws):
    """Counts in the place of lists."""
    total = 0.0
    for counts in np.ndindex(*(draws + 1,) * len(u)):
        if sum(counts) == draws:
            ways = math.factorial(draws) / math.prod(math.factorial(c) for c in counts)
            total += ways * math.prod(a**c for a, c in zip(p, counts, strict=True)) * math.log(np.dot(counts, u) / draws)
    return total


def _biases(p, loss, M, draws):
    truth = np.log(M - p @ loss)
    return _expected(p, M - loss, draws) - truth, p @ np.log(M - loss) - truth, np.log(M) - p @ loss / M - truth


def _risks(p_mean, p_sd, q_mean, q_sd, level):
    h = q_mean + q_sd * norm.ppf(level)
    z = norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    return tuple(np.mean(np.maximum(level * (m + s * z - h), (level - 1) * (m + s * z - h))) for m, s in ((p_mean, p_sd), (q_mean, q_sd)))


def _risks_by_draws(p_mean, p_sd, q_mean, q_sd, level, draws):
    z, h = np.random.default_rng(0).normal(size=draws), q_mean + q_sd * norm.ppf(level)
    return tuple(np.mean(np.maximum(level * (m + s * z - h), (level - 1) * (m + s * z - h))) for m, s in ((p_mean, p_sd), (q_mean, q_sd)))


def _risks_on_a_grid(p_mean, p_sd, q_mean, q_sd, level):
    y, h = np.linspace(-10, 10, 2_001), q_mean + q_sd * norm.ppf(level)
    loss = np.maximum(level * (y - h), (level - 1) * (y - h))
    return tuple(np.trapezoid(loss * norm.pdf(y, m, s), y) for m, s in ((p_mean, p_sd), (q_mean, q_sd)))


CASES = {task: [(args, want) for name, args, want in EXAMPLES if name == task] for task, _, _ in EXAMPLES}
test_answers = near_misses.trial("lcvi/", [(*row, "") for row in NEAR_MISSES] + NAMED, LEGITIMATE, CASES, many=3)


def test_a_program_may_be_written_in_other_ways():
    import numpyro
    from numpyro.distributions import HalfNormal, Normal, StudentT, TransformedDistribution
    from numpyro.distributions.transforms import AffineTransform

    def without_plate(x, y=None):
        spread = numpyro.sample("spread", HalfNormal())
        slope, base = numpyro.sample("slope", Normal()), numpyro.sample("base", Normal(3, 2))
        numpyro.sample("y", StudentT(4, base + slope * x, spread), obs=y)

    def scaled(x, y=None):
        spread = numpyro.sample("spread", HalfNormal(1.0))
        base = numpyro.sample("base", Normal(3.0, 2.0))
        slope = numpyro.sample("slope", Normal(0.0, 1.0))
        line = numpyro.deterministic("line", base + slope * x)
        with numpyro.plate("days", x.shape[0]):
            numpyro.sample("y", TransformedDistribution(StudentT(4.0), AffineTransform(line, spread)), obs=y)

    for program in (without_plate, scaled):
        verdict = judge("lcvi/your-own/program", program)
        assert verdict.passed, verdict.message


def test_a_program_s_other_faults_have_calm_words():
    import numpyro
    from numpyro.distributions import HalfNormal, Normal, StudentT

    def body(x, y, name="y", scale=1.0):
        base, slope = numpyro.sample("base", Normal(3, 2)), numpyro.sample("slope", Normal(0, 1))
        spread = numpyro.sample("spread", HalfNormal(scale))
        numpyro.sample(name, StudentT(4, base + slope * x, spread), obs=y)

    def other_name(x, y=None):
        body(x, y, "demand")

    def no_default(x, y):
        body(x, y)

    def wider(x, y=None):
        body(x, y, scale=2.0)

    def counted(x, y=None):
        with numpyro.plate("rows", len(y)):
            body(x, y)

    for program, words in [
        (counted, "stands in the plate"),
        (other_name, "missing"),
        (no_default, "TypeError"),
        (no_default, "it must run with y=None"),
        (wider, "log density is another one"),
        (wider, "The difference is at spread."),
        (3, "the program itself"),
    ]:
        verdict = judge("lcvi/your-own/program", program)
        assert not verdict.passed
        assert words in verdict.message


@pytest.mark.parametrize("seed", range(3))
def test_the_means_by_transform_are_those_by_counting(seed):
    from solutions.lcvi import which_estimator

    rng = np.random.default_rng(seed)
    p, u = rng.dirichlet(np.ones(3)), rng.uniform(0.1, 4, 3)
    for draws in (1, 2, 4):
        assert agree(numbers(which_estimator.mean_log(p, u, draws)), numbers(_expected(p, u, draws)), 1e-8)
