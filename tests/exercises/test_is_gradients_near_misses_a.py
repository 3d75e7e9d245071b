"""The first sheets on importance-sampled gradients: what is nearly right must not pass, what is right in another way must."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from scipy import integrate, optimize, special
from scipy.stats import norm

from course_pkg import families
from course_pkg.is_gradients import effective_size, expected_ess, importance_weights
from tests.exercises import near_misses

CHAPTER = "is_gradients/"
SHEETS = ("the-weight", "decay", "bias-per-factor", "cached-step")


def _a(*numbers):
    return np.array(numbers, dtype=float)


# What a fallback says about a small case that can be worked out by hand: the arguments, and what is said of them.
BY_HAND = {
    "the-weight/normal": [((_a([1, 2]), _a(1, 0), _a(2, 1), _a(3, 4), _a(0.5, 2)), [14.778])],
    "the-weight/mean": [((_a(2, 1, 4), _a(1, 3, 1)), 0.375)],
    "the-weight/bent": [((_a(1), 1.0, 2.0), [0.726])],
    "decay/size": [((np.log(_a([1, 9], [1, 3], [2, 3])),), [8 / 3, 25 / 11])],
    "decay/share": [((_a(0.5, 0.5), _a(1, 0.5)), 0.447), ((_a(1), _a(1.2)), 0.151)],
    "decay/steps": [((0.1, 4, 0.4), 4)],
    "bias-per-factor/estimate": [((_a([2, 0], [4, 1]), _a([3, 2], [0, 0]), _a(0, 0), _a(2, 1), _a(3, 1), _a(1, 1)), [3, 0.607])],
    "bias-per-factor/bias": [((_a([2, -1], [-1, 3]), _a(1, 1), _a(2, 3)), [-2, -1])],
    "bias-per-factor/draws": [((-0.5, 4.0, 6.1), 9)],
    "cached-step/pathwise": [((_a(2, 4), _a(3, 0), 0.0, 2.0, 2.5, 0.5), (6, -4))],
    "cached-step/score": [((_a(2, 4), _a(0, -1), 0.0, 2.0, 3.0, 0.5), (5.833, 20.669))],
    "cached-step/stale": [((1.0, 2.0, 3.0, 5.0), (0.5, 1.05))],
}


def _ratio(theta, m, s, m_new, s_new):
    return norm.pdf(theta, m_new, s_new) / norm.pdf(theta, m, s)


def _row(e, m, s, m_new, s_new):
    """A ratio for each draw and coordinate, from the noise."""
    return _ratio(m + s * e, m, s, m_new, s_new)


def _noise(e, m, s, m_new, s_new):
    return norm.pdf((m + s * e - m_new) / s_new) / norm.pdf(e)


def _back(e, k, k_new):
    return np.arcsinh(k_new * np.sinh(k * e) / k) / k_new


def _phi(e, k, k_new):
    return norm.pdf(_back(e, k, k_new)) / norm.pdf(e)


def _w(x):
    return np.exp(x - x.max(axis=0))


def _one(d, r):
    return r * np.sqrt(2 - r**2) * np.exp(-(d**2) / (2 - r**2))


def _zero_if_wide(formula):
    def answer(d, r):
        return 0.0 if (r**2 >= 2).any() else formula(d, r)

    return answer


def _sampled_share(d, r):
    eps = np.random.default_rng(0).normal(size=(100_000, len(d)))
    log_w = (norm.logpdf(eps, d, r) - norm.logpdf(eps)).sum(axis=1)
    w = np.exp(log_w)
    return w.sum() ** 2 / (w**2).sum() / len(w)


def _gradient(t, g, m, s, n, z, w=None, eps=None, entropy=None):
    w = _ratio(t, m, s, n, z) if w is None else w
    eps = (t - n) / z if eps is None else eps
    return (w * g).mean(), (w * g * eps).mean() + (1 / z if entropy is None else entropy)


def _scored(t, j, m, s, n, z, w=None, log_q=None, by_mu=None, by_sigma=None):
    w = _ratio(t, m, s, n, z) if w is None else w
    log_q = norm.logpdf(t, n, z) if log_q is None else log_q
    by_mu = (t - n) / z**2 if by_mu is None else by_mu
    by_sigma = ((t - n) ** 2 / z**2 - 1) / z if by_sigma is None else by_sigma
    return (w * (j - log_q) * by_mu).mean(), (w * (j - log_q) * by_sigma).mean()


def _off(A):
    return A - np.diag(np.diag(A))


def _clipped_rows(most):
    return lambda *case: np.minimum(_row(*case).prod(1), most)


def _bell(e, k, n):
    return _phi(e, k, n) * np.cosh(k * e) / np.cosh(n * _back(e, k, n))


def _clipped_bell(most):
    return lambda *case: np.minimum(_bell(*case), most)


def _shifted(by):
    def answer(x):
        with np.errstate(all="ignore"):
            w = np.exp(x - by(x))
            return w.sum(0) ** 2 / (w**2).sum(0)

    return answer


def _clipped_estimate(most):
    return lambda t, g, *q: (np.minimum(_ratio(t, *q), most) * g).mean(0)


def _clipped_gradient(most):
    return lambda t, g, *q: _gradient(t, g, *q, w=np.minimum(_ratio(t, *q), most))


def _clipped_score(most):
    return lambda t, j, *q: _scored(t, j, *q, w=np.minimum(_ratio(t, *q), most))


def _whole(delta, d, least):
    return int(np.sqrt(-np.log(least) / d) / delta)


def _left(delta, d, n):
    return np.exp(-d * (n * delta) ** 2)


NEAR_MISSES = [
    ("the-weight/normal", "one stretch", lambda e, m, s, n, z: _noise(e, m, s, n, z).prod(1) * s[0] / z[0], "Not those"),
    ("the-weight/normal", "stretches added", lambda e, m, s, n, z: _noise(e, m, s, n, z).prod(1) * s.sum() / z.sum(), "Not those"),
    ("the-weight/normal", "stretches averaged", lambda e, m, s, n, z: _noise(e, m, s, n, z).prod(1) * (s / z).mean(), "Not those"),
    *[("the-weight/normal", f"clipped at {most}", _clipped_rows(most), "") for most in (1, 5, 1000)],
    ("the-weight/normal", "each clipped", lambda e, m, s, n, z: np.minimum(_row(e, m, s, n, z), 5).prod(1), ""),
    ("the-weight/normal", "a floor", lambda e, m, s, n, z: np.maximum(_row(e, m, s, n, z).prod(1), 1e-3), "floor"),
    ("the-weight/normal", "a low floor", lambda e, m, s, n, z: np.maximum(_row(e, m, s, n, z).prod(1), 3e-4), "floor"),
    ("the-weight/normal", "theta without mu", lambda e, m, s, n, z: _ratio(s * e, m, s, n, z).prod(1), "Not those"),
    ("the-weight/normal", "geometric mean", lambda e, m, s, n, z: _row(e, m, s, n, z).prod(1) ** (1 / len(m)), "Not those"),
    ("the-weight/normal", "mean weight", lambda e, m, s, n, z: _row(e, m, s, n, z).prod(1).mean(), "shape"),
    ("the-weight/normal", "a column", lambda e, m, s, n, z: _row(e, m, s, n, z).prod(1, keepdims=True), "shape"),
    ("the-weight/mean", "largest", lambda s, z: (z / s).max(), "Not that mean"),
    ("the-weight/mean", "first", lambda s, z: z[0] / s[0], "Not that mean"),
    ("the-weight/mean", "ratio of sums", lambda s, z: z.sum() / s.sum(), "Not that mean"),
    ("the-weight/mean", "new widths", lambda s, z: z.prod(), "Your answer is right for other inputs"),
    ("the-weight/mean", "geometric mean", lambda s, z: (z / s).prod() ** (1 / len(s)), "Not that mean"),
    ("the-weight/mean", "a number to the power d", lambda s, z: (z / s).mean() ** len(s), "Not that mean"),
    ("the-weight/mean", "norms", lambda s, z: np.linalg.norm(z) / np.linalg.norm(s), "Not that mean"),
    (
        "the-weight/mean",
        "simulated",
        lambda s, z: np.mean(_noise(np.random.default_rng(0).normal(size=(20_000, len(s))), 0, s, 0, z).prod(1)),
        "Close",
    ),
    (
        "the-weight/bent",
        "slope in theta",
        lambda e, k, n: _phi(e, k, n) * np.sqrt(1 + (n * np.sinh(k * e) / k) ** 2) / np.cosh(k * e),
        "Not those weights",
    ),
    *[("the-weight/bent", f"clipped at {most}", _clipped_bell(most), "") for most in (0.5, 1.5, 10)],
    ("the-weight/bent", "a floor", lambda e, k, n: np.maximum(_bell(e, k, n), 1e-2), "floor"),
    ("the-weight/bent", "mean", lambda e, k, n: (_phi(e, k, n) * np.cosh(k * e) / np.cosh(n * _back(e, k, n))).mean(), "shape"),
    ("decay/size", "ddof", lambda x: len(x) / (1 + _w(x).var(0, ddof=1) / _w(x).mean(0) ** 2), "Not those"),
    ("decay/size", "squared sum below", lambda x: (_w(x) ** 2).sum(0) / _w(x).sum(0) ** 2, "Upside down"),
    ("decay/size", "a whole number", lambda x: np.round(_w(x).sum(0) ** 2 / (_w(x) ** 2).sum(0)), "Not those"),
    ("decay/size", "all weights together", lambda x: np.exp(x).sum() ** 2 / (np.exp(x) ** 2).sum(), "shape"),
    ("decay/size", "clipped", lambda x: np.exp(np.clip(x, -50, 50)).sum(0) ** 2 / (np.exp(np.clip(x, -50, 50)) ** 2).sum(0), "overflows"),
    ("decay/size", "summed to one first", lambda x: 1 / ((np.exp(x) / np.exp(x).sum(0)) ** 2).sum(0), "overflows"),
    ("decay/size", "the mean taken off", _shifted(lambda x: x.mean(0)), "some hundreds apart"),
    ("decay/size", "the median taken off", _shifted(lambda x: np.median(x, axis=0)), "some hundreds apart"),
    ("decay/size", "the smallest taken off", _shifted(lambda x: x.min(0)), "some hundreds apart"),
    ("decay/size", "the first taken off", _shifted(lambda x: x[0]), "some hundreds apart"),
    ("decay/size", "the last taken off", _shifted(lambda x: x[-1]), "some hundreds apart"),
    (
        "decay/size",
        "the mean taken off, then summed to one",
        lambda x: 1 / ((np.exp(x - x.mean(0)) / np.exp(x - x.mean(0)).sum(0)) ** 2).sum(0),
        "some hundreds apart",
    ),
    *[
        ("decay/size", f"clipped at {least}", _shifted(lambda x, least=least: x - np.maximum(x - x.max(0), least)), "to be clipped")
        for least in (-5, -10)
    ],
    ("decay/size", "one mean for all", lambda x: np.exp(x - x.mean()).sum(0) ** 2 / (np.exp(x - x.mean()) ** 2).sum(0), "one factor"),
    ("decay/share", "sigma for 2 - r^2", lambda d, r: np.prod(r * np.sqrt(2 - r) * np.exp(-(d**2) / (2 - r))), "Not that share"),
    ("decay/share", "in new widths", _zero_if_wide(lambda d, r: _one(d / r, r).prod()), "Not that share"),
    (
        "decay/share",
        "distance not squared",
        _zero_if_wide(lambda d, r: np.prod(r * np.sqrt(2 - r**2) * np.exp(-np.abs(d) / (2 - r**2)))),
        "Not that share",
    ),
    ("decay/share", "summed", _zero_if_wide(lambda d, r: _one(d, r).sum()), "Not that share"),
    ("decay/share", "root of the whole", _zero_if_wide(lambda d, r: _one(d, r).prod() ** 0.5), "That is its square root."),
    ("decay/share", "squared", _zero_if_wide(lambda d, r: _one(d, r).prod() ** 2), "That is its square."),
    ("decay/share", "wide only from 2 on", lambda d, r: 0.0 if (r >= 2).any() else _one(d, r).prod(), "0"),
    (
        "decay/share",
        "guard on the product",
        lambda d, r: 0.0 if np.prod(2 - r**2) <= 0 else np.prod(r) * np.sqrt(np.prod(2 - r**2)) * np.exp(-(d**2 / (2 - r**2)).sum()),
        "on its own",
    ),
    ("decay/share", "guard on the mean", lambda d, r: 0.0 if np.mean(r**2) >= 2 else np.nanprod(_one(d, r)), "on its own"),
    ("decay/share", "guard on the last", lambda d, r: 0.0 if r[-1] ** 2 >= 2 else _one(d, r).prod(), "on its own"),
    ("decay/share", "wide only from 1.5 on", lambda d, r: 0.0 if (r >= 1.5).any() else _one(d, r).prod(), "on its own"),
    ("decay/share", "wide from 1.2 on", lambda d, r: 0.0 if (r >= 1.2).any() else _one(d, r).prod(), "Up to root 2"),
    ("decay/share", "wide ignored", lambda d, r: np.where(r**2 < 2, _one(d, np.where(r**2 < 2, r, 1)), 1).prod(), "infinite"),
    ("decay/share", "simulated", _sampled_share, "Close"),
    ("decay/share", "log", _zero_if_wide(lambda d, r: np.log(_one(d, r)).sum()), "That is the logarithm of it."),
    ("decay/share", "the other way", lambda d, r: np.prod(np.sqrt(2 * r**2 - 1 + 0j).real / r**2 * np.exp(-(d**2) / (2 * r**2 - 1))), ""),
    *[("decay/steps", f"at least {least}", lambda *case, least=least: max(least, _whole(*case)), "the answer is 0") for least in (1, 2, 3)],
    (
        "decay/steps",
        "a search from one on",
        lambda s, d, a: max(n for n in range(1, 2000) if n == 1 or _left(s, d, n) >= a),
        "the answer is 0",
    ),
    *[
        (
            "decay/steps",
            f"a search to {end}",
            lambda s, d, a, end=end: max(n for n in range(end) if _left(s, d, n) >= a),
            "do you stop looking",
        )
        for end in (50, 100, 1000)
    ],
    ("decay/steps", "rounded", lambda s, d, a: round(np.sqrt(-np.log(a) / d) / s), "Not that many"),
    ("decay/steps", "dimension multiplied", lambda s, d, a: np.floor(np.sqrt(-np.log(a) * d) / s), "Not that many"),
    ("decay/steps", "dimension squared", lambda s, d, a: np.floor(np.sqrt(-np.log(a)) / d**2 / s), "Not that many"),
    ("decay/steps", "least over d", lambda s, d, a: np.floor(np.sqrt(-np.log(a / d)) / s), "Not that many"),
    ("bias-per-factor/estimate", "neighbour's", lambda t, g, *q: (np.roll(_ratio(t, *q), 1, axis=1) * g).mean(0), ""),
    *[("bias-per-factor/estimate", f"clipped at {most}", _clipped_estimate(most), "") for most in (1, 1.5, 100)],
    ("bias-per-factor/estimate", "all summed", lambda t, g, *q: (_ratio(t, *q) * g).mean(), "shape"),
    ("bias-per-factor/estimate", "terms", lambda t, g, *q: _ratio(t, *q) * g, "shape"),
    (
        "bias-per-factor/estimate",
        "self-normalised sum",
        lambda t, g, *q: (_ratio(t, *q) * g).sum(0) / _ratio(t, *q).sum(),
        "Not that estimate",
    ),
    ("bias-per-factor/bias", "couplings' size", lambda A, m, n: np.abs(_off(A)) @ (n - m), "Not that bias"),
    ("bias-per-factor/bias", "twice", lambda A, m, n: 2 * _off(A) @ (n - m), "Not that bias"),
    ("bias-per-factor/bias", "squared", lambda A, m, n: (_off(A) @ (n - m)) ** 2, "That is its square."),
    ("bias-per-factor/bias", "averaged", lambda A, m, n: _off(A) @ (n - m) / len(m), "Off by how many there are: a mean for a"),
    ("bias-per-factor/bias", "at the old mean", lambda A, m, n: -_off(A) @ m, "Your answer is right for other inputs"),
    ("bias-per-factor/bias", "matrix", lambda A, m, n: _off(A) * (n - m), "shape"),
    ("bias-per-factor/draws", "at least five", lambda b, v, w: max(5, int((w - v) / b**2) + 1), "a few draws"),
    ("bias-per-factor/draws", "at least two", lambda b, v, w: max(2, int((w - v) / b**2) + 1), "a few draws"),
    ("bias-per-factor/draws", "the bias added", lambda b, v, w: int((w - v) / b**2 + b**2) + 1, ""),
    *[
        (
            "bias-per-factor/draws",
            f"a search to {end}",
            lambda b, v, w, end=end: next((k for k in range(1, end) if w / k < b * b + v / k), end),
            "do you stop looking",
        )
        for end in (200, 1000)
    ],
    ("bias-per-factor/draws", "ceil", lambda b, v, w: int(np.ceil((w - v) / b**2)), "tie"),
    ("bias-per-factor/draws", "as good", lambda b, v, w: next(k for k in range(1, 10**6) if w / k <= b * b + v / k), "tie"),
    ("bias-per-factor/draws", "one too many", lambda b, v, w: np.floor((w - v) / b**2) + 2, "Not that many"),
    ("cached-step/pathwise", "theta for eps", lambda t, g, m, s, n, z: _gradient(t, g, m, s, n, z, eps=t), "The part by sigma is"),
    ("cached-step/pathwise", "square weights", lambda t, g, *q: _gradient(t, g, *q, w=_ratio(t, *q) ** 2), "Not that gradient"),
    *[("cached-step/pathwise", f"clipped at {most}", _clipped_gradient(most), "") for most in (1, 1.5, 100)],
    (
        "cached-step/pathwise",
        "a sum with the entropy in it",
        lambda t, g, m, s, n, z: ((_ratio(t, m, s, n, z) * g).sum(), (_ratio(t, m, s, n, z) * g * (t - n) / z + 1 / z).sum()),
        "how many there are",
    ),
    (
        "cached-step/pathwise",
        "weight by sigma only",
        lambda t, g, m, s, n, z: (g.mean(), (_ratio(t, m, s, n, z) * g * (t - n) / z).mean() + 1 / z),
        "The part by mu is",
    ),
    ("cached-step/pathwise", "by mu alone", lambda t, g, *q: (_ratio(t, *q) * g).mean(), "tuple of 2"),
    ("cached-step/pathwise", "minimised", lambda *case: tuple(-x for x in _gradient(*case)), "The sign is turned round."),
    (
        "cached-step/pathwise",
        "terms",
        lambda t, g, m, s, n, z: (_ratio(t, m, s, n, z) * g, _ratio(t, m, s, n, z) * g * (t - n) / z + 1 / z),
        "shape",
    ),
    (
        "cached-step/score",
        "normaliser left out of the score",
        lambda t, j, m, s, n, z: _scored(t, j, m, s, n, z, by_sigma=(t - n) ** 2 / z**3),
        "part by sigma is off",
    ),
    (
        "cached-step/score",
        "signs of the score",
        lambda t, j, m, s, n, z: _scored(t, j, m, s, n, z, by_mu=(n - t) / z**2),
        "part by mu is off",
    ),
    (
        "cached-step/score",
        "score not over sigma",
        lambda t, j, m, s, n, z: _scored(t, j, m, s, n, z, by_mu=(t - n) / z),
        "part by mu is off",
    ),
    *[("cached-step/score", f"clipped at {most}", _clipped_score(most), "") for most in (1, 1.5, 100)],
    ("cached-step/score", "minimised", lambda *case: tuple(-x for x in _scored(*case)), "The sign is turned round."),
    ("cached-step/score", "one number", lambda *case: _scored(*case)[0], "tuple of 2"),
    ("cached-step/stale", "weighted by the new width", lambda m, s, n, z: ((n - m) / z, z / s**2 - 1 / z), "part by mu is off"),
    ("cached-step/stale", "ratio of widths", lambda m, s, n, z: ((n - m) / s**2, z / s - 1), "part by sigma is off"),
    ("cached-step/stale", "sigma's sign", lambda m, s, n, z: ((n - m) / s**2, 1 / z - z / s**2), "part by sigma is off"),
    ("cached-step/stale", "mu's sign", lambda m, s, n, z: ((m - n) / s**2, z / s**2 - 1 / z), "part by mu is off"),
    ("cached-step/stale", "halved", lambda m, s, n, z: ((n - m) / (2 * s**2), z / (2 * s**2) - 1 / (2 * z)), "Not that bias"),
    ("cached-step/stale", "swapped", lambda m, s, n, z: (z / s**2 - 1 / z, (n - m) / s**2), "wrong order"),
    ("cached-step/stale", "KL", lambda m, s, n, z: np.log(s / z) + (z**2 + (n - m) ** 2) / (2 * s**2) - 0.5, "tuple of 2"),
]


def _by_loops(e, mu, sigma, mu_new, sigma_new):
    out = []
    for row in e:
        w = 1.0
        for x, m, s, n, z in zip(row, mu, sigma, mu_new, sigma_new, strict=True):
            there = (m + s * x - n) / z
            w *= math.exp((x * x - there * there) / 2) * s / z
        out.append(w)
    return out


def _the_package_s_weights(e, mu, sigma, mu_new, sigma_new):
    old, new = families.Diagonal(jnp.asarray(mu), jnp.log(sigma)), families.Diagonal(jnp.asarray(mu_new), jnp.log(sigma_new))
    return importance_weights(families.mean_field_normal(), new, old, jnp.asarray(mu + sigma * e)).value


def _by_cholesky(e, mu, sigma, mu_new, sigma_new):
    L, L_new = np.diag(sigma), np.diag(sigma_new)
    there = np.linalg.solve(L_new, (mu + e @ L.T - mu_new).T).T
    return np.exp(((e**2).sum(1) - (there**2).sum(1)) / 2) * np.linalg.det(L) / np.linalg.det(L_new)


def _bent_by_jax(e, k, k_new):
    forward = lambda x, k: jnp.sinh(k * x) / k
    there = jnp.arcsinh(k_new * forward(jnp.asarray(e), k)) / k_new
    slope = jax.vmap(jax.grad(forward), (0, None))
    return jnp.exp((jnp.asarray(e) ** 2 - there**2) / 2) * slope(jnp.asarray(e), k) / slope(there, k_new)


def _the_package_s_share(d, r):
    new, old = families.Diagonal(jnp.asarray(d), jnp.log(r)), families.Diagonal(jnp.zeros(len(d)), jnp.zeros(len(d)))
    return expected_ess(new, old).prod()


def _share_by_quad(d, r):
    total = 1.0
    for shift, width in zip(d, r, strict=True):
        if width >= 2**0.5:
            return 0
        square = lambda x, s=shift, w=width: np.exp(2 * norm.logpdf(x, s, w) - norm.logpdf(x))
        total *= integrate.quad(square, -50, 50, points=[0.0], limit=300)[0]
    return 1 / total


def _walk(delta, d, least):
    t = 0
    while math.exp(-d * ((t + 1) * delta) ** 2) >= least:
        t += 1
    return t


def _by_root(delta, d, least):
    return math.floor(optimize.brentq(lambda t: np.exp(-d * (t * delta) ** 2) - least, 0, 1e4))


def _by_autodiff(t, g, m, s, n, z):
    t, w = jnp.asarray(t), jnp.asarray(_ratio(t, m, s, n, z))
    eps = (t - n) / z
    return jax.grad(lambda p: jnp.mean(w * g * (p[0] + p[1] * eps)) + jnp.log(p[1]))(jnp.array([n, z]))


def _score_by_autodiff(t, j, m, s, n, z):
    t = jnp.asarray(t)
    w_g = _ratio(t, m, s, n, z) * (j - norm.logpdf(t, n, z))
    return tuple(jax.grad(lambda p: jnp.mean(w_g * jax.scipy.stats.norm.logpdf(t, p[0], p[1])))(jnp.array([n, z])))


def _kl_by_autodiff(m, s, n, z):
    kl = lambda p: jnp.log(s / p[1]) + (p[1] ** 2 + (p[0] - m) ** 2) / (2 * s**2) - 0.5
    return jax.grad(kl)(jnp.array([n, z]))


def _bias_by_loops(A, m, n):
    return [sum(A[i][j] * (n[j] - m[j]) for j in range(len(m)) if j != i) for i in range(len(m))]


LEGITIMATE = [
    ("the-weight/normal", "loops and noise", _by_loops),
    ("the-weight/normal", "the package's", _the_package_s_weights),
    ("the-weight/normal", "Cholesky factors", _by_cholesky),
    ("the-weight/normal", "logarithms", lambda e, m, s, n, z: np.exp((norm.logpdf(m + s * e, n, z) - norm.logpdf(m + s * e, m, s)).sum(1))),
    ("the-weight/normal", "frozen", lambda e, m, s, n, z: np.prod(norm(n, z).pdf(m + s * e) / norm(m, s).pdf(m + s * e), axis=-1)),
    ("the-weight/mean", "NumPy", lambda s, z: z.prod() / s.prod()),
    ("the-weight/mean", "logarithms", lambda s, z: np.exp(np.log(z).sum() - np.log(s).sum())),
    ("the-weight/mean", "determinants", lambda s, z: np.linalg.det(np.diag(z)) / np.linalg.det(np.diag(s))),
    ("the-weight/mean", "JAX", lambda s, z: jnp.prod(jnp.asarray(z) / s)),
    ("the-weight/bent", "autodiff", _bent_by_jax),
    (
        "the-weight/bent",
        "a root for cosh",
        lambda e, k, n: _phi(e, k, n) * np.sqrt((1 + np.sinh(k * e) ** 2) / (1 + (n * np.sinh(k * e) / k) ** 2)),
    ),
    ("the-weight/bent", "a list", lambda e, k, n: [float(_phi(x, k, n) * np.cosh(k * x) / np.cosh(n * _back(x, k, n))) for x in e]),
    ("decay/size", "the package's", lambda x: effective_size(jnp.exp(x - x.max(axis=0)))),
    ("decay/size", "logsumexp", lambda x: np.exp(2 * special.logsumexp(x, axis=0) - special.logsumexp(2 * x, axis=0))),
    ("decay/size", "softmax", lambda x: 1 / (special.softmax(x, axis=0) ** 2).sum(axis=0)),
    ("decay/size", "JAX's softmax", lambda x: 1 / (jax.nn.softmax(jnp.asarray(x), axis=0) ** 2).sum(axis=0)),
    ("decay/share", "the package's", _the_package_s_share),
    ("decay/share", "quadrature", _share_by_quad),
    ("decay/share", "a loop", lambda d, r: math.prod(0.0 if b * b >= 2 else float(_one(a, b)) for a, b in zip(d, r, strict=True))),
    ("decay/share", "where", lambda d, r: np.where(r**2 < 2, _one(d, np.where(r**2 < 2, r, 1)), 0).prod()),
    ("decay/share", "logarithms", _zero_if_wide(lambda d, r: np.exp((np.log(r) + np.log(2 - r**2) / 2 - d**2 / (2 - r**2)).sum()))),
    ("decay/share", "maximum", lambda d, r: np.prod(r * np.sqrt(np.maximum(2 - r**2, 0)) * np.exp(-(d**2) / np.maximum(2 - r**2, 1e-300)))),
    ("decay/share", "not a number put right", lambda d, r: np.nan_to_num(_one(d, r)).prod()),
    ("decay/steps", "a walk", _walk),
    ("decay/steps", "a root", _by_root),
    ("decay/steps", "Part 2", lambda s, d, least: max(t for t in range(10_000) if np.exp(-((t * s) ** 2)) ** d >= least)),
    ("decay/steps", "floor", lambda s, d, least: np.floor(np.sqrt(np.log(1 / least) / d) / s)),
    ("decay/steps", "JAX", lambda s, d, least: jnp.floor(jnp.sqrt(-jnp.log(least) / d) / s).astype(int)),
    (
        "bias-per-factor/estimate",
        "logarithms",
        lambda t, g, *q: np.mean(np.exp(norm.logpdf(t, *q[2:]) - norm.logpdf(t, *q[:2])) * g, axis=0),
    ),
    ("bias-per-factor/estimate", "einsum", lambda t, g, *q: np.einsum("mi,mi->i", _ratio(t, *q), g) / len(t)),
    (
        "bias-per-factor/estimate",
        "noise and stretches",
        lambda t, g, m, s, n, z: [
            np.mean(norm.pdf((t[:, i] - n[i]) / z[i]) / norm.pdf((t[:, i] - m[i]) / s[i]) * s[i] / z[i] * g[:, i]) for i in range(len(m))
        ],
    ),
    (
        "bias-per-factor/estimate",
        "JAX",
        lambda t, g, m, s, n, z: (jax.scipy.stats.norm.pdf(t, n[None], z[None]) / jax.scipy.stats.norm.pdf(t, m[None], s[None]) * g).mean(
            axis=0
        ),
    ),
    ("bias-per-factor/bias", "loops", _bias_by_loops),
    ("bias-per-factor/bias", "less its own", lambda A, m, n: A @ (n - m) - A.diagonal() * (n - m)),
    ("bias-per-factor/bias", "both means", lambda A, m, n: -_off(A) @ m - A.diagonal() * n + A @ n),
    ("bias-per-factor/bias", "JAX", lambda A, m, n: jnp.where(jnp.eye(len(m)) > 0, 0.0, A) @ (n - m)),
    ("bias-per-factor/draws", "counting", lambda b, v, w: next(k for k in range(1, 10**6) if w / k < b * b + v / k)),
    ("bias-per-factor/draws", "floor", lambda b, v, w: math.floor((w - v) / b**2) + 1),
    ("bias-per-factor/draws", "a table", lambda b, v, w: 1 + np.argmax(w / np.arange(1, 10_000) < b**2 + v / np.arange(1, 10_000))),
    ("bias-per-factor/draws", "division", lambda b, v, w: (w - v) // b**2 + 1),
    ("cached-step/pathwise", "autodiff", _by_autodiff),
    (
        "cached-step/pathwise",
        "noise and stretches",
        lambda t, g, m, s, n, z: _gradient(t, g, m, s, n, z, w=s / z * np.exp((((t - m) / s) ** 2 - ((t - n) / z) ** 2) / 2)),
    ),
    ("cached-step/pathwise", "an array", lambda *case: np.array(_gradient(*case))),
    (
        "cached-step/pathwise",
        "a dot product",
        lambda t, g, *q: (_ratio(t, *q) @ g / len(t), _ratio(t, *q) * g @ (t - q[2]) / q[3] / len(t) + 1 / q[3]),
    ),
    ("cached-step/score", "autodiff", _score_by_autodiff),
    ("cached-step/score", "an array", lambda *case: np.array(_scored(*case))),
    (
        "cached-step/score",
        "a correction of the old g",
        lambda t, j, m, s, n, z: _scored(t, j - norm.logpdf(t, m, s), m, s, n, z, log_q=np.log(_ratio(t, m, s, n, z))),
    ),
    ("cached-step/stale", "autodiff", _kl_by_autodiff),
    ("cached-step/stale", "one bar", lambda m, s, n, z: ((n - m) / s**2, (z**2 - s**2) / (s**2 * z))),
    ("cached-step/stale", "a list", lambda m, s, n, z: [-(m - n) / s / s, z / s / s - 1 / z]),
]


test_answers = near_misses.trial(CHAPTER, NEAR_MISSES, LEGITIMATE, BY_HAND, sheets=SHEETS)
