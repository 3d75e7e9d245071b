"""The first sheets on variational inference: what is nearly right must not pass, what is right in another way must."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from scipy import linalg, special, stats

from course_pkg import models, vi
from tests.exercises import near_misses

CHAPTER = "vi/"
SHEETS = ("elbo-lemma", "simple-model", "bound-that-rises", "mean-field-regression")
LOG_2PI = np.log(2 * np.pi)


def _a(*numbers):
    return np.array(numbers, dtype=float)


HALVES = np.repeat(_a(0, 2), 200)
# What a fallback says about a small case that can be worked out by hand: the arguments, and what is said of them.
BY_HAND = {
    "elbo-lemma/divergence": [((_a(0.5, 0.5), _a(0.25, 0.75)), 0.1438), ((_a(0, 0.5, 0.5), _a(0.5, 0.25, 0.25)), 0.6931)],
    "elbo-lemma/bound": [((_a(0.25, 0.75), _a(0.3, 0.2)), -0.9457), ((_a(0, 0.5, 0.5), _a(0.3, 0.1, 0.1)), -1.6094)],
    "elbo-lemma/within": [((_a(0.1, 0.3, 0.1, 0.1), np.array([True, True, False, False])), (_a(0.25, 0.75, 0, 0), 0.4055))],
    "elbo-lemma/units": [((-2.0, 0.5, 2, 0.5), (-0.6137, 0.5, 0.8925))],
    "simple-model/gamma": [((_a(1, 2), 2.0, 0.5, 1.0, 3.0), (2, 5.5))],
    "simple-model/mu": [((_a(1, 2, 6), 3.0, 1.0), (2.7, 10))],
    "simple-model/ascent": [((_a(2, 2), 1.0, 1.0, 2.0, 1), (1, 2, 2, 3.5)), ((_a(2, 2), 1.0, 1.0, 2.0, 2), (1.0667, 2.1429, 2, 3.3378))],
    "simple-model/marginal": [((_a(1), _a(0, 2, 3), 4.0, 4.0, 3.0), _a(-8.2768))],
    "bound-that-rises/score": [((3.0, HALVES, 0 * HALVES), 40)],
    "bound-that-rises/waiting": [((_a(1, 3), 4.0, 3.0, 3.0, 2.0), -5.0589)],
    "bound-that-rises/weights": [((_a([1, 0], [1, 2]), _a(2, 0), _a(1, 0), _a(0.5, 1), 1.0, 2.0), -6.4486)],
    "bound-that-rises/sample": [((_a(1, 2), 1.0, 4.0, 2.0, 3.0, 2.0, 1.0, 1.0), -4.2983)],
    "mean-field-regression/posterior": [((_a([1, 0], [1, 1]), _a(1, 3), 2.0, 1.0), (_a(17, 14) / 29, _a([20, -4], [-4, 24]) / 29))],
    "mean-field-regression/factors": [((_a([1, 2], [1, 3]), 2.0, 0.5), _a(0.4714, 0.3714))],
    "mean-field-regression/round": [((_a(0, 2), _a([1, 1], [0, 1]), _a(3, 1), 2.0, 1.0), _a(0.2, 0.6333))],
    "mean-field-regression/ratio": [((_a(1, -2), _a([2, 1], [1, 2])), 1.1180)],
}


def _kl(q, p):
    return special.rel_entr(q, p).sum()


def _within(joint, allowed, change=lambda q: q, lacks=lambda q, p: _kl(q, p)):
    q = np.where(allowed, joint, 0) / joint[allowed].sum()
    return change(q), lacks(q, joint / joint.sum())


def _by_max(joint, allowed):
    q = special.softmax(np.where(allowed, np.log(joint), -np.inf))
    return q, special.logsumexp(np.log(joint)) - special.logsumexp(np.log(joint), b=allowed)


def _gamma(x, nu, t, a, b):
    e2 = nu**2 + 1 / t
    return a + x.size / 2, b + (x @ x - 2 * nu * x.sum() + x.size * e2) / 2


def _mu(x, g, tau):
    return g * x.sum() / (tau + len(x) * g), tau + len(x) * g


def _rounds(x, tau, alpha, beta, rounds, mean=lambda a, b: a / b, gamma=_gamma, mu=_mu):
    g = alpha / beta
    for _ in range(rounds):
        nu, t = mu(x, g, tau)
        a, b = gamma(x, nu, t, alpha, beta)
        g = mean(a, b)
    return nu, t, a, b


def _by_recursion(x, tau, alpha, beta, rounds, g=None):
    nu, t = _mu(x, alpha / beta if g is None else g, tau)
    a, b = _gamma(x, nu, t, alpha, beta)
    return [nu, t, a, b] if rounds == 1 else _by_recursion(x, tau, alpha, beta, rounds - 1, a / b)


def _marginal(mu, x, tau, alpha, beta, cut=lambda a, b, n: 0.0, half=0.5):
    a, b = alpha + len(x) / 2, beta + half * ((x[:, None] - mu) ** 2).sum(0)
    out = stats.norm.logpdf(mu, 0, tau**-0.5) + alpha * np.log(beta) - special.gammaln(alpha)
    return out + special.gammaln(a) - a * np.log(b) - len(x) / 2 * LOG_2PI + cut(a, b, len(x))


def _student(mu, x, tau, alpha, beta):
    """One reading after the other: each is a Student t given those before."""
    out, a, b = stats.norm.logpdf(mu, 0, tau**-0.5), alpha, beta + 0 * mu
    for one in x:
        out = out + stats.t.logpdf(one, 2 * a, mu, np.sqrt(b / a))
        a, b = a + 0.5, b + (one - mu) ** 2 / 2
    return out


def _score(c, j, q, ddof=1, power=0.5):
    r = j - q
    return (c - np.mean(r)) / (np.var(r, ddof=ddof) / len(r)) ** power


def _h(a, b):
    return a - np.log(b) + special.gammaln(a) + (1 - a) * special.digamma(a)


def _waiting(x, a, b, a0, b0, h=_h, n=len, log=lambda a, b: special.digamma(a) - np.log(b), shape=lambda a0: a0 - 1, fall=np.sum):
    E, L = a / b, log(a, b)
    return n(x) * L - E * fall(x) + a0 * np.log(b0) - special.gammaln(a0) + shape(a0) * L - b0 * E + h(a, b)


def _waiting_kl(x, a, b, a0, b0):
    E, L = a / b, special.digamma(a) - np.log(b)
    kl = (a - a0) * special.digamma(a) - special.gammaln(a) + special.gammaln(a0) + a0 * np.log(b / b0) + a * (b0 - b) / b
    return len(x) * L - E * x.sum() - kl


def _evidence_less_kl(x, a, b, a0, b0):
    """The posterior is a gamma; the bound lacks the divergence from it."""
    an, bn = a0 + len(x), b0 + x.sum()
    log_evidence = a0 * np.log(b0) - special.gammaln(a0) - an * np.log(bn) + special.gammaln(an)
    return log_evidence + _waiting_kl(np.zeros(0), a, b, an, bn)


def _weights(X, y, m, sd, s, s0, h=lambda sd: (0.5 * (LOG_2PI + 1) + np.log(sd)).sum(), spread=None, noise=1.0, prior=1.0):
    spread = (X**2 @ sd**2).sum() if spread is None else spread(X, sd)
    fit = stats.norm.logpdf(y, X @ m, s).sum() - noise * spread / (2 * s**2)
    return fit + stats.norm.logpdf(m, 0, s0).sum() - prior * (sd**2).sum() / (2 * s0**2) + h(sd)


def _weights_by_kl(X, y, m, sd, s, s0):
    kl = vi.kl_normal(vi.Normal(jnp.asarray(m), jnp.diag(sd**2)), vi.Normal(jnp.zeros(len(m)), s0**2 * jnp.eye(len(m))))
    return stats.norm.logpdf(y, X @ m, s).sum() - 0.5 * np.trace(X.T @ X @ np.diag(sd**2)) / s**2 - kl


def _sample(x, nu, t, a, b, tau, al, be, pi=LOG_2PI, extra=lambda *q: 0.0):
    L = special.digamma(a) - np.log(b)
    fit = 0.5 * (len(x) * (L - pi) - a / b * (((x - nu) ** 2).sum() + len(x) / t))
    prior = 0.5 * (np.log(tau) - LOG_2PI - tau * (nu**2 + 1 / t)) + al * np.log(be) - special.gammaln(al) + (al - 1) * L - be * a / b
    return fit + prior + 0.5 * (LOG_2PI + 1 - np.log(t)) + _h(a, b) + extra(nu, t, a, b)


def _ridge(X, y, s, s0):
    m = linalg.solve(X.T @ X + (s / s0) ** 2 * np.eye(X.shape[1]), X.T @ y)
    return m, s**2 * np.linalg.inv(X.T @ X + (s / s0) ** 2 * np.eye(X.shape[1]))


def _woodbury(X, y, s, s0):
    K = s0**2 * X.T @ np.linalg.inv(s0**2 * X @ X.T + s**2 * np.eye(len(y)))
    return K @ y, s0**2 * (np.eye(X.shape[1]) - K @ X)


def _by_model(X, y, s, s0):
    post = models.regression_posterior(models.Rows(jnp.asarray(X), jnp.asarray(y)), s, s0)
    return post.mean, post.covariance


def _widths(X, s, s0, power=-0.5, noise=2):
    return ((X**2).sum(0) / s**noise + s0**-2) ** power


def _round(m, X, y, s, s0, weight=lambda x, s, s0: x @ x / (x @ x + (s / s0) ** 2), sign=1):
    m = m.copy()
    for j, x in enumerate(X.T):
        m[j] = weight(x, s, s0) * (x @ (y - sign * np.delete(X, j, 1) @ np.delete(m, j))) / (x @ x)
    return m


def _by_precision(m, X, y, s, s0):
    P, b = X.T @ X / s**2 + np.eye(len(m)) / s0**2, X.T @ y / s**2
    return linalg.solve_triangular(np.tril(P), b - np.triu(P, 1) @ m, lower=True)


def _round_jax(m, X, y, s, s0):
    m = jnp.asarray(m)
    for j in range(len(m)):
        slope = jax.grad(lambda w: -0.5 * jnp.sum((y - X @ w) ** 2) / s**2 - 0.5 * jnp.sum(w**2) / s0**2)
        m = m.at[j].add(slope(m)[j] / ((X[:, j] ** 2).sum() / s**2 + 1 / s0**2))
    return m


def _ratio(c, C, v=None, below=None):
    v = 1 / np.diag(np.linalg.inv(C)) if v is None else v(C)
    return np.sqrt(c**2 @ v / (c @ C @ c if below is None else below(c, C)))


def _small_in_place(q, p):
    q[q == 0] = 1e-12
    return (q * np.log(q / p)).sum()


def _bound_in_place(q, joint):
    q[q == 0] = 1e-30
    return (q * np.log(joint / q)).sum()


def _within_in_place(joint, allowed):
    total = joint.sum()
    joint[~allowed] = 0
    return joint / joint.sum(), np.log(total / joint.sum())


def _flat_in_place(joint, allowed):
    lacks = np.log(joint.sum())
    joint[~allowed] = 0
    return joint**0 / len(joint), lacks


def _gamma_in_place(x, nu, t, a, b):
    x -= nu
    return a + len(x) / 2, b + (x @ x + len(x) / t) / 2


def _rate_over_shape(a, b):
    return b / a


def _from(first, x, tau, alpha, beta, rounds):
    return _by_recursion(x, tau, alpha, beta, rounds, first(alpha, beta))


def _only_the_first_off(*case):
    return _marginal(*case) + 0.3 * (np.arange(len(case[0])) == 0)


def _weights_in_place(X, y, m, sd, s, s0):
    sd *= 1.0 + 1e-9
    return _weights(X, y, m, sd, s, s0)


def _weighed(X, y, s, s0):
    """The precisions of least squares and of the prior added, where least squares has a precision."""
    C = s**2 * np.linalg.pinv(X.T @ X)
    post = s0**2 * C @ np.linalg.inv(C + s0**2 * np.eye(len(C)))
    return post @ (np.linalg.pinv(C) @ (np.linalg.pinv(X) @ y)), post


def _posterior_in_place(X, y, s, s0):
    X /= s
    y /= s
    return _ridge(X, y, 1.0, s0)


def _round_in_place(m, X, y, s, s0):
    m[:] = _round(m, X, y, s, s0)
    return m


def _ratio_in_place(c, C):
    c /= np.linalg.norm(c)
    return _ratio(c, C)


NEAR_MISSES = [
    ("elbo-lemma/divergence", "mean of both ways", lambda q, p: (_kl(q, p) + _kl(p, q)) / 2, "Not that divergence"),
    ("elbo-lemma/divergence", "decimal", lambda q, p: (q * np.log10(q / p)).sum(), "Not that divergence"),
    ("elbo-lemma/divergence", "not added", lambda q, p: q * np.log(q / p), "to be one number"),
    ("elbo-lemma/divergence", "zeros divided", lambda q, p: (q * np.log(q / p)).sum(), "Where q_k is 0"),
    ("elbo-lemma/divergence", "p made to sum to one again", lambda q, p: _kl(q, p / p[q > 0].sum()), "sum to one again"),
    ("elbo-lemma/divergence", "each value left out counts", lambda q, p: _kl(q, p) + 0.1 * (q == 0).sum(), "not where some of q is 0"),
    ("elbo-lemma/divergence", "in place, a small number", _small_in_place, "`q` is not what it was"),
    ("elbo-lemma/bound", "mean", lambda q, j: -_kl(q, j) / len(q), "Off by how many there are: a mean for a"),
    ("elbo-lemma/bound", "evidence taken off", lambda q, j: -_kl(q, j) - j.sum(), "Not that bound"),
    ("elbo-lemma/bound", "exponential", lambda q, j: np.exp(-_kl(q, j)), "That is the exponential of it."),
    ("elbo-lemma/bound", "zeros divided", lambda q, j: (q * np.log(j / q)).sum(), "Where q_k is 0"),
    ("elbo-lemma/bound", "bits", lambda q, j: -_kl(q, j) / np.log(2), "Off by a factor of 1.44"),
    (
        "elbo-lemma/bound",
        "renormalised where q is",
        lambda q, j: np.log(j.sum()) - _kl(q, j / j[q > 0].sum()),
        "not where some of q is 0",
    ),
    ("elbo-lemma/bound", "in place", _bound_in_place, "`q` is not what it was"),
    ("elbo-lemma/within", "q alone", lambda *case: _within(*case)[0], "2 values"),
    ("elbo-lemma/within", "exchanged", lambda *case: _within(*case)[::-1], "wrong order"),
    ("elbo-lemma/within", "short", lambda j, ok: (j[ok] / j[ok].sum(), -np.log(j[ok].sum() / j.sum())), "shape"),
    ("elbo-lemma/within", "joint kept", lambda j, ok: (j * ok, _within(j, ok)[1]), "Your q is off; the rest is right"),
    ("elbo-lemma/within", "in place", _within_in_place, "The right numbers, but afterwards `joint` is not"),
    ("elbo-lemma/within", "in place, and flat", _flat_in_place, "Afterwards `joint` is not"),
    ("elbo-lemma/within", "ratio", lambda j, ok: (_within(j, ok)[0], j.sum() / j[ok].sum()), "What lacks is off; the rest is right"),
    ("elbo-lemma/within", "what is kept", lambda j, ok: (_within(j, ok)[0], j[ok].sum() / j.sum()), "What lacks is off; the rest is right"),
    ("elbo-lemma/within", "other side", lambda j, ok: _within(j, ~ok), "Your answer is right for other inputs"),
    ("elbo-lemma/within", "bits", lambda j, ok: (_within(j, ok)[0], _within(j, ok)[1] / np.log(2)), "What lacks is off; the rest is right"),
    (
        "elbo-lemma/within",
        "tempered",
        lambda *case: (np.sqrt(_within(*case)[0]) / np.sqrt(_within(*case)[0]).sum(), _within(*case)[1]),
        "Your q is off",
    ),
    ("elbo-lemma/units", "decimal", lambda b, k, n, c: (b - n * np.log10(c), k, np.exp(b + k) / c**n), "The bound is off"),
    (
        "elbo-lemma/units",
        "divergence instead of the bound",
        lambda b, k, n, c: (b, k - n * np.log(c), np.exp(b + k) / c**n),
        "The bound and the",
    ),
    (
        "elbo-lemma/units",
        "divergence takes it back",
        lambda b, k, n, c: (b - n * np.log(c), k + n * np.log(c), np.exp(b + k)),
        "The divergence and",
    ),
    ("elbo-lemma/units", "half of n", lambda b, k, n, c: (b - n * np.log(c) / 2, k, np.exp(b + k) / c ** (n / 2)), "the rest is right"),
    ("elbo-lemma/units", "difference", lambda b, k, n, c: (b - n * np.log(c), k, np.exp(b - k) / c**n), "The evidence is off"),
    ("elbo-lemma/units", "divergence scaled", lambda b, k, n, c: (b - n * np.log(c), k * c, np.exp(b + k) / c**n), "The divergence is off"),
    ("elbo-lemma/units", "two of three", lambda b, k, n, c: (b - n * np.log(c), k), "3 values"),
    ("simple-model/gamma", "beta a scale", lambda x, nu, t, a, b: _gamma(x, nu, t, a, 1 / b), "The rate is off; the rest is right"),
    ("simple-model/gamma", "in place", _gamma_in_place, "`x` is not what it was"),
    ("simple-model/gamma", "one less", lambda x, nu, t, a, b: (a + (len(x) - 1) / 2, _gamma(x, nu, t, a, b)[1]), "The shape is off"),
    (
        "simple-model/gamma",
        "E mu^2 without the mean",
        lambda x, nu, t, a, b: (a + len(x) / 2, b + (x @ x + len(x) / t) / 2),
        "The rate is off",
    ),
    ("simple-model/gamma", "mean and variance", lambda *case: (lambda a, b: (a / b, a / b**2))(*_gamma(*case)), "Not that gamma"),
    ("simple-model/gamma", "exchanged", lambda *case: _gamma(*case)[::-1], "These are right, and in the wrong"),
    ("simple-model/gamma", "mean alone", lambda *case: _gamma(*case)[0] / _gamma(*case)[1], "2 values"),
    ("simple-model/mu", "mean for sum", lambda x, g, t: (g * x.mean() / _mu(x, g, t)[1], _mu(x, g, t)[1]), "The centre is off"),
    ("simple-model/mu", "number forgotten", lambda x, g, t: (g * x.sum() / (t + g), t + g), "Not that normal"),
    ("simple-model/mu", "variances added", lambda x, g, t: (_mu(x, g, t)[0], 1 / (1 / t + 1 / (len(x) * g))), "The precision is off"),
    ("simple-model/mu", "halves", lambda x, g, t: (_mu(x, g, t)[0], _mu(x, g, t)[1] / 2), "The precision is off"),
    (
        "simple-model/mu",
        "prior's weight above",
        lambda x, g, t: ((t + g * x.sum()) / _mu(x, g, t)[1], _mu(x, g, t)[1]),
        "The centre is off",
    ),
    ("simple-model/mu", "centre alone", lambda *case: _mu(*case)[0], "2 values"),
    (
        "simple-model/ascent",
        "the end",
        lambda x, t, a, b, rounds: _rounds(x, t, a, b, 200),
        "The centre, the precision and the rate are off",
    ),
    ("simple-model/ascent", "gamma alone", lambda *case: _rounds(*case)[2:], "4 values"),
    ("simple-model/ascent", "order of the results", lambda *case: (*_rounds(*case)[2:], *_rounds(*case)[:2]), "Not those four"),
    ("simple-model/ascent", "variance", lambda *case: (lambda n, t, a, b: (n, 1 / t, a, b))(*_rounds(*case)), "The precision is off"),
    ("simple-model/ascent", "scale", lambda *case: (lambda n, t, a, b: (n, t, a, 1 / b))(*_rounds(*case)), "The rate is off"),
    ("simple-model/ascent", "rate over shape at first", lambda *case: _from(_rate_over_shape, *case), "The centre, the"),
    ("simple-model/ascent", "mode at first", lambda *case: _from(lambda a, b: (a - 1) / b, *case), "The centre, the"),
    ("simple-model/ascent", "product at first", lambda *case: _from(lambda a, b: a * b, *case), "The centre, the precision and the rate"),
    (
        "simple-model/marginal",
        "no gamma(alpha)",
        lambda m, x, t, a, b: _marginal(m, x, t, a, b) + special.gammaln(a),
        "The constant is off",
    ),
    ("simple-model/marginal", "one forgotten at one place", _only_the_first_off, "Close, but not exact"),
    ("simple-model/marginal", "tau a standard deviation", lambda m, x, t, a, b: _marginal(m, x, t**-2, a, b), "Not that"),
    ("simple-model/marginal", "tau a variance", lambda mu, x, t, a, b: _marginal(mu, x, 1 / t, a, b), "Your answer is right"),
    ("simple-model/marginal", "beta a scale", lambda mu, x, t, a, b: _marginal(mu, x, t, a, 1 / b), "Your answer is right"),
    ("simple-model/marginal", "rounded", lambda *case: np.round(_marginal(*case), 1), ""),
    ("simple-model/marginal", "one number", lambda *case: _marginal(*case).sum(), "shape"),
    ("bound-that-rises/score", "error of log joint", lambda c, j, q: (c - (j - q).mean()) / stats.sem(j), "Not that score"),
    ("bound-that-rises/score", "a score for each draw", lambda c, j, q: (c - j + q) / stats.sem(j - q), "to be one number"),
    (
        "bound-that-rises/waiting",
        "mode",
        lambda *case: _waiting(*case, log=lambda a, b: np.log(a - 0.5) - np.log(b)),
        ("Close, but not exact", "Not that bound"),
    ),
    ("bound-that-rises/waiting", "negated", lambda *case: -_waiting(*case), "The sign is turned round."),
    (
        "bound-that-rises/waiting",
        "no gamma function",
        lambda *case: _waiting(*case, h=lambda a, b: _h(a, b) - special.gammaln(a)),
        "Not that bound",
    ),
    (
        "bound-that-rises/weights",
        "no pi",
        lambda *case: _weights(*case, h=lambda sd: (0.5 + np.log(sd)).sum()),
        "What does not depend on q is off",
    ),
    (
        "bound-that-rises/weights",
        "mean entropy",
        lambda *case: _weights(*case, h=lambda sd: (0.5 * (LOG_2PI + 1) + np.log(sd)).mean()),
        ("Not that", "Close, but not exact"),
    ),
    (
        "bound-that-rises/weights",
        "spread without columns",
        lambda *case: _weights(*case, spread=lambda X, sd: len(X) * (sd**2).sum()),
        "Not that",
    ),
    (
        "bound-that-rises/weights",
        "prior's spread added",
        lambda *case: _weights(*case, prior=-1.0),
        ("Close, but not exact", "Not that bound"),
    ),
    ("bound-that-rises/weights", "prior's 2 pi", lambda *case: _weights(*case) + len(case[2]) * LOG_2PI / 2, "does not depend on q"),
    ("bound-that-rises/weights", "in place", _weights_in_place, "`sd` is not what it was"),
    ("bound-that-rises/waiting", "prior's gamma function", lambda *c: _waiting(*c) + special.gammaln(c[3]), "does not depend on q"),
    ("bound-that-rises/sample", "4 pi", lambda *case: _sample(*case, pi=np.log(4 * np.pi)), "does not depend on q"),
    ("bound-that-rises/sample", "root", lambda *case: _sample(*case, pi=LOG_2PI / 2), "does not depend on q"),
    (
        "bound-that-rises/sample",
        "entropy of gamma twice",
        lambda *case: _sample(*case, extra=lambda n, t, a, b: _h(a, b)),
        "may stay as it was",
    ),
    (
        "bound-that-rises/sample",
        "tau_q's root",
        lambda *case: _sample(*case, extra=lambda n, t, a, b: 0.25 * np.log(t)),
        ("Close, but not exact", "Not that bound"),
    ),
    ("bound-that-rises/sample", "prior's constant", lambda *case: _sample(*case) - 0.5 * np.log(case[5]), "does not depend on q"),
    ("bound-that-rises/sample", "mean over the sample", lambda *case: _sample(*case) / len(case[0]), "Off by how many there"),
    ("mean-field-regression/posterior", "mean alone", lambda *case: _ridge(*case)[0], "2 values"),
    ("mean-field-regression/posterior", "sds", lambda *case: (_ridge(*case)[0], np.sqrt(np.diag(_ridge(*case)[1]))), "shape"),
    ("mean-field-regression/posterior", "penalty not squared", lambda X, y, s, s0: _ridge(X, y, (s * s0) ** 0.5, s0), "Not that normal"),
    ("mean-field-regression/posterior", "penalty upside down", lambda X, y, s, s0: _ridge(X, y, s0, s), "Your answer is right"),
    (
        "mean-field-regression/posterior",
        "shrunk twice",
        lambda X, y, s, s0: (_ridge(X, y, s, s0)[1] @ _ridge(X, y, s, s0)[0], _ridge(X, y, s, s0)[1]),
        "mean is off",
    ),
    (
        "mean-field-regression/posterior",
        "noise added",
        lambda *c: (_ridge(*c)[0], _ridge(*c)[1] + c[2] ** 2 * np.eye(c[0].shape[1])),
        "covariance is off",
    ),
    ("mean-field-regression/posterior", "least squares and prior weighed", _weighed, "It may have fewer"),
    ("mean-field-regression/posterior", "in place", _posterior_in_place, "`X` and `y` are not what they were"),
    ("mean-field-regression/posterior", "negated mean", lambda *case: (-_ridge(*case)[0], _ridge(*case)[1]), "The mean is off"),
    (
        "mean-field-regression/factors",
        "rows for columns",
        lambda X, s, s0: ((X**2).sum(1) / s**2 + s0**-2) ** -0.5,
        "as if `X` were transposed",
    ),
    ("mean-field-regression/factors", "mean square", lambda X, s, s0: ((X**2).mean(0) / s**2 + s0**-2) ** -0.5, "Not those"),
    ("mean-field-regression/factors", "roots of precisions", lambda X, s, s0: _widths(X, s, s0, power=0.5), "Upside down: that is"),
    ("mean-field-regression/factors", "s and s0 exchanged", lambda X, s, s0: _widths(X, s0, s), "Your answer is right for other inputs"),
    ("mean-field-regression/factors", "matrix", lambda X, s, s0: np.diag(_widths(X, s, s0)), "shape"),
    ("mean-field-regression/round", "first weight only", lambda m, *rest: np.r_[_round(m, *rest)[:1], m[1:]], "Not that round"),
    ("mean-field-regression/round", "in place", _round_in_place, "The right numbers, but afterwards `m` is not what it was"),
    ("mean-field-regression/round", "s and s0 exchanged", lambda m, X, y, s, s0: _round(m, X, y, s0, s), "Your answer is right"),
    ("mean-field-regression/round", "starts from zero", lambda m, *rest: _round(0 * m, *rest), "Your answer is right for other inputs"),
    ("mean-field-regression/ratio", "plain c", lambda c, C: _ratio(np.ones_like(c), C), "Your answer is right for other inputs"),
    ("mean-field-regression/ratio", "mean", lambda c, C: _ratio(c, C) / len(c), "Off by how many there are: a mean for a"),
    ("mean-field-regression/ratio", "difference", lambda c, C: 1 - _ratio(c, C), "That is one minus it."),
    ("mean-field-regression/ratio", "each weight", lambda c, C: np.sqrt(1 / np.diag(np.linalg.inv(C)) / np.diag(C)), "to be one number"),
    ("mean-field-regression/ratio", "eigenvalues", lambda c, C: _ratio(c, C, v=lambda C: np.linalg.eigvalsh(C)), "Not that ratio"),
    (
        "mean-field-regression/ratio",
        "sizes of c below",
        lambda c, C: _ratio(c, C, below=lambda c, C: abs(c) @ C @ abs(c)),
        "Not that ratio",
    ),
    ("mean-field-regression/ratio", "smaller by larger", lambda c, C: min(_ratio(c, C), 1 / _ratio(c, C)), "Not that ratio"),
    ("mean-field-regression/ratio", "in place", _ratio_in_place, "`c` is not what it was"),
    ("mean-field-regression/ratio", "fourth root", lambda c, C: _ratio(c, C) ** 0.5, "That is its square root."),
]
LEGITIMATE = [
    ("elbo-lemma/divergence", "rel_entr", _kl),
    ("elbo-lemma/divergence", "entropy", stats.entropy),
    ("elbo-lemma/divergence", "JAX", lambda q, p: jnp.sum(jax.scipy.special.xlogy(q, q / p))),
    ("elbo-lemma/divergence", "loop", lambda q, p: sum(a * math.log(a / b) for a, b in zip(q, p, strict=True) if a)),
    ("elbo-lemma/divergence", "a small number", lambda q, p: float((q * np.log((q + 1e-30) / p)).sum())),
    ("elbo-lemma/bound", "rel_entr", lambda q, j: -_kl(q, j)),
    ("elbo-lemma/bound", "from the evidence", lambda q, j: np.log(j.sum()) - _kl(q, j / j.sum())),
    ("elbo-lemma/bound", "JAX", lambda q, j: jnp.sum(jnp.where(q > 0, q * jnp.log(j / jnp.where(q > 0, q, 1)), 0))),
    ("elbo-lemma/bound", "xlogy", lambda q, j: special.xlogy(q, j).sum() - special.xlogy(q, q).sum()),
    ("elbo-lemma/within", "divergence", _within),
    ("elbo-lemma/within", "softmax", _by_max),
    ("elbo-lemma/within", "a list", lambda *case: list(_within(*case))),
    ("elbo-lemma/within", "JAX", lambda j, ok: (jnp.where(ok, j, 0) / (j @ ok), jnp.log(j.sum()) - jnp.log(j @ ok))),
    ("elbo-lemma/units", "through the evidence", lambda b, k, n, c: (np.log(np.exp(b + k) / c**n) - k, k, np.exp(b + k) / c**n)),
    ("elbo-lemma/units", "JAX, a list", lambda b, k, n, c: [b - n * jnp.log(c), k, jnp.exp(b - n * jnp.log(c) + k)]),
    ("elbo-lemma/units", "math", lambda b, k, n, c: (b - math.log(c) * n, k, math.exp(b + k) * c**-n)),
    ("simple-model/gamma", "second moments", _gamma),
    ("simple-model/gamma", "a loop", lambda x, nu, t, a, b: (a + 0.5 * len(x), b + sum(((one - nu) ** 2 + 1 / t) / 2 for one in x))),
    ("simple-model/gamma", "JAX", lambda x, nu, t, a, b: jnp.stack([a + x.size / 2, b + jnp.sum((jnp.asarray(x) - nu) ** 2 + 1 / t) / 2])),
    ("simple-model/mu", "in full", _mu),
    ("simple-model/mu", "average", lambda x, g, t: (np.average([0, *x], weights=[t, *(g for _ in x)]), t + g * len(x))),
    ("simple-model/mu", "JAX, a list", lambda x, g, t: [g * jnp.sum(jnp.asarray(x)) / (t + len(x) * g), t + len(x) * g]),
    ("simple-model/ascent", "in full", _rounds),
    ("simple-model/ascent", "recursion, a list", _by_recursion),
    ("simple-model/ascent", "an array", lambda *case: jnp.array(_rounds(*case))),
    ("simple-model/marginal", "Student's t, one after the other", _student),
    ("simple-model/marginal", "in full", _marginal),
    ("simple-model/marginal", "a list", lambda mu, *rest: [float(_marginal(_a(m), *rest)[0]) for m in mu]),
    ("simple-model/marginal", "JAX", lambda *case: jnp.asarray(_marginal(*case), jnp.float32)),
    ("bound-that-rises/score", "S - 1", _score),
    ("bound-that-rises/score", "S", lambda *case: _score(*case, ddof=0)),
    ("bound-that-rises/score", "a t-test", lambda c, j, q: -stats.ttest_1samp(j - q, c).statistic),
    ("bound-that-rises/score", "JAX", lambda c, j, q: (c - jnp.mean(jnp.asarray(j - q))) / jnp.std(jnp.asarray(j - q)) * len(q) ** 0.5),
    ("bound-that-rises/waiting", "term by term", _waiting),
    ("bound-that-rises/waiting", "divergence from the prior", _waiting_kl),
    ("bound-that-rises/waiting", "divergence from the posterior", _evidence_less_kl),
    ("bound-that-rises/waiting", "SciPy's entropy", lambda *case: _waiting(*case, h=lambda a, b: stats.gamma.entropy(a, scale=1 / b))),
    ("bound-that-rises/weights", "log densities", _weights),
    ("bound-that-rises/weights", "the package's divergence", _weights_by_kl),
    ("bound-that-rises/weights", "SciPy's entropy", lambda *case: _weights(*case, h=lambda sd: stats.norm.entropy(0, sd).sum())),
    ("bound-that-rises/weights", "JAX", lambda *case: jnp.asarray(_weights(*case))),
    ("bound-that-rises/sample", "term by term", _sample),
    ("bound-that-rises/sample", "JAX", lambda *case: jnp.asarray(_sample(*case))),
    ("mean-field-regression/posterior", "ridge", _ridge),
    ("mean-field-regression/posterior", "through the rows", _woodbury),
    ("mean-field-regression/posterior", "the package", _by_model),
    ("mean-field-regression/posterior", "a list", lambda *case: list(_ridge(*case))),
    ("mean-field-regression/factors", "columns", _widths),
    ("mean-field-regression/factors", "a list", lambda X, s, s0: [1 / math.sqrt(x @ x / s**2 + 1 / s0**2) for x in X.T]),
    ("mean-field-regression/factors", "JAX", lambda X, s, s0: 1 / jnp.sqrt(jnp.diag(jnp.asarray(X).T @ X) / s**2 + 1 / s0**2)),
    ("mean-field-regression/round", "columns", _round),
    ("mean-field-regression/round", "a triangle", _by_precision),
    ("mean-field-regression/round", "slopes, in JAX", _round_jax),
    ("mean-field-regression/round", "a list", lambda *case: list(_round(*case))),
    ("mean-field-regression/ratio", "roots", _ratio),
    ("mean-field-regression/ratio", "JAX", lambda c, C: jnp.linalg.norm(c / jnp.sqrt(jnp.diag(jnp.linalg.inv(C)))) / jnp.sqrt(c @ C @ c)),
    ("mean-field-regression/ratio", "a float", lambda c, C: float(_ratio(c, C))),
]


test_answers = near_misses.trial(CHAPTER, NEAR_MISSES, LEGITIMATE, BY_HAND, sheets=SHEETS)


def test_the_rounds_are_those_of_the_package(solved):
    x = np.random.default_rng(0).normal(1.0, 2.0, 9)
    fitted = vi.cavi_normal(x, prior_precision=0.3, shape=2.0, rate=1.5, iterations=60)
    nu_q, tau_q, alpha_q, beta_q = solved[CHAPTER + "simple-model/ascent"](x, 0.3, 2.0, 1.5, 60)
    assert np.allclose(fitted.q, (nu_q, 1 / tau_q, alpha_q, beta_q), rtol=1e-3)
    assert np.isclose(
        fitted.elbo[-1], solved[CHAPTER + "bound-that-rises/sample"](x, nu_q, tau_q, alpha_q, beta_q, 0.3, 2.0, 1.5), atol=1e-3
    )
