"""EM, one bump for two, Laplace: what is nearly right must not pass, what is right in another way must."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy import integrate, optimize, special, stats

from tests.exercises import near_misses

CHAPTER = "vi/"
SHEETS = ("em-as-vi", "two-bumps", "laplace", "switches")
LOG_2PI = np.log(2 * np.pi)


def _a(*numbers):
    return np.array(numbers, dtype=float)


def _bell(mean, sd, grid):
    return stats.norm.logpdf(grid, mean, sd)


GRID = np.linspace(-12, 12, 481)
HIKER = np.logaddexp(np.log(0.65) + _bell(3, 0.9, GRID), np.log(0.35) + _bell(-2.8, 0.8, GRID))
CELLS = GRID - 0.025  # 1 lies between two of them
NARROW = np.logaddexp(_bell(-3, 0.1, GRID), _bell(5, 0.1, GRID)) - np.log(2)
PAIR = (_a(-1, 1), _a(0.5, 0.5), _a(1, -1), _a(4, 1))
# What a fallback says about a small case that can be worked out by hand: the arguments, and what is said of them.
BY_HAND = {
    "em-as-vi/responsibilities": [((_a(1), _a(0.25, 0.75), _a(0, 2), _a(1, 4)), _a([0.3142, 0.6858]))],
    "em-as-vi/m-step": [((_a(0, 4), _a([1, 0], [0.5, 0.5])), (_a(0.75, 0.25), _a(1.3333, 4), _a(3.5556, 0)))],
    "em-as-vi/bound": [((_a(0), _a([0.05, 0.95]), _a(0.5, 0.5), _a(0, 1), _a(1, 1)), -1.8886)],
    "em-as-vi/em": [((*PAIR, 1), (_a(*[0.5098, 0.4902]), _a(*[0.5436, -0.5654]), _a(*[0.7045, 0.6803]), -2.7758))],
    "two-bumps/forward": [((GRID, NARROW), (1.0, np.hypot(4, 0.1)))],
    "two-bumps/divergence": [
        ((GRID, _bell(0, 1, GRID), 1.0, 1.0, a), want) for a, want in ((0.0, 0.5), (1.0, 0.5), (0.5, 0.4700), (2.0, 0.8591))
    ],
    "two-bumps/closest": [
        ((GRID, HIKER, a), want) for a, want in ((0.0, (2.9975, 0.9045)), (0.5, (1.0454, 2.7783)), (1.0, (0.97, 2.8989)))
    ],
    "two-bumps/risks": [((CELLS, _bell(0, 1, CELLS), _a([1.5, 0.5], [3, 1]), _a(CELLS < 1, 0.1 + 0 * CELLS)), _a(0.1, 0.8413))],
    "laplace/mode": [((3, 4, 1.0), 0.5052)],
    "laplace/covariance": [((_a([-2, 1], [1, -2]),), _a([2, 1], [1, 2]) / 3)],
    "laplace/evidence": [((-3.0, _a([-4, 0], [0, -1])), -1.8553)],
    "laplace/chance": [((0.0, 2.0, 0.5), 0.5), ((-1.0, 2.0, 0.5), 0.3085)],
    "switches/tilted": [((0.0, 3.0, 0.0, 1.0, 1), (1.197, 1.568))],
    "switches/propagate": [((_a(0, 0), _a(1, -1), 0.5, 0.0, 9.0, 15), (0, 0.4567))],
}


def _switch(m, v, t, s, up, slope=lambda z: np.exp(stats.norm.logpdf(z) - stats.norm.logcdf(z))):
    """From the series of log Phi."""
    z = up * (m - t) / np.hypot(np.sqrt(v), s)
    gain = v / (v + s**2)
    return m + up * gain * np.sqrt(v + s**2) * slope(z), v * (1 - gain * slope(z) * (z + slope(z)))


def _switch_by_nodes(m, v, t, s, up, count=12):
    nodes, weights = np.polynomial.hermite_e.hermegauss(count)
    theta = m + np.sqrt(v) * nodes
    weights = weights * stats.norm.cdf(up * (theta - t) / s)
    mean = weights @ theta / weights.sum()
    return mean, weights @ (theta - mean) ** 2 / weights.sum()


def _tank(t, up, s, m0, v0, sweeps, order=1, damping=1.0, at_once=False):
    """Lists of two numbers a site; the order is turned round by -1."""
    sites, prior = np.zeros((len(t), 2)), np.array([m0 / v0, 1 / v0])
    for _ in range(sweeps if damping == 1 else 8 * sweeps):
        new = sites.copy()
        for i in range(len(t))[::order]:
            rest = np.delete(sites if at_once else new, i, axis=0).sum(axis=0) + prior
            m, v = _switch(rest[0] / rest[1], 1 / rest[1], t[i], s, up[i])
            new[i] += damping * (np.array([m / v, 1 / v]) - rest - new[i])
        sites = new
    a, b = sites.sum(axis=0) + prior
    return a / b, 1 / np.sqrt(b)


def _s(x, w, m, v):
    return (np.log(w) - 0.5 * (LOG_2PI + np.log(v)))[None] - (x[:, None] - m[None]) ** 2 / (2 * v)[None]


def _r(*case, temper=1.0):
    return special.softmax(temper * _s(*case), axis=1)


def _plain(x, w, m, v):
    r = w * stats.norm.pdf(x[:, None], m, np.sqrt(v))
    return r / r.sum(axis=1, keepdims=True)


def _r_by_loops(x, w, m, v):
    return [[1 / sum(np.exp(_s(one, w, m, v)[0] - s)) for s in _s(one, w, m, v)[0]] for one in x[:, None]]


def _m(x, r, change=lambda w, m, v: (w, m, v)):
    n = r.sum(0)
    m = x @ r / n
    return change(n / n.sum(), m, x**2 @ r / n - m**2)


def _in_place(x, r):
    n = r.sum(0)
    w = n / len(x)
    r /= n
    m = x @ r
    return w, m, ((x[:, None] - m) ** 2 * r).sum(0)


def _l(x, r, *theta, h=special.entr):
    return (r * _s(x, *theta)).sum() + h(r).sum()


def _naive(x, r, w, m, v):
    return np.sum(r * np.log(w * stats.norm.pdf(x[:, None], m, np.sqrt(v))) + special.entr(r))


def _e(x, w, m, v, rounds, r=_r, m_step=_m, height=lambda s: special.logsumexp(s, axis=1).sum()):
    for _ in range(rounds):
        w, m, v = m_step(x, r(x, w, m, v))
    return w, m, v, height(_s(x, w, m, v))


def _jax_r(x, w, m, v):
    return jax.nn.softmax(jnp.log(w)[None] + jax.scipy.stats.norm.logpdf(x[:, None], m[None], jnp.sqrt(v)[None]), axis=1)


def _d(theta, log_p, mu, sigma, a, power=None, width=lambda t: t[1] - t[0], ends=(0, 1)):
    log_q, step = _bell(mu, sigma, theta), width(theta)
    if a == ends[0]:
        return step * np.sum(np.exp(log_q) * (log_q - log_p))
    if a == ends[1]:
        return step * np.sum(np.exp(log_p) * (log_p - log_q))
    b = 1 - a if power is None else power(a)
    return (step * np.exp(a * log_p + b * log_q).sum() - 1) / (a * (a - 1))


def _ratios(theta, log_p, mu, sigma, a):
    p, q = np.exp(log_p), np.exp(_bell(mu, sigma, theta))
    f = {0: -np.log(p / q), 1: p / q * np.log(p / q)}.get(a, ((p / q) ** a - 1) / (a * (a - 1)) if a not in (0, 1) else None)
    return (theta[1] - theta[0]) * np.sum(q * f)


def _down(theta, log_p, a, starts=((-3, 0.1), (0.1, 1), (3, 0.1)), method="Nelder-Mead", aim=_d, pick=min, **more):
    ends = [optimize.minimize(lambda z: aim(theta, log_p, z[0], np.exp(z[1]), a), s, method=method, **more) for s in starts]
    best = pick(ends, key=lambda end: end.fun).x
    return best[0], np.exp(best[1])


def _direct(theta, log_p, mu, sigma, a, log_of=np.log, floor=0.0):
    q, step = stats.norm.pdf(theta, mu, sigma), theta[1] - theta[0]
    return _by_logs(np.log(np.exp(log_p) + floor) if floor else log_p, log_of(q + floor), step, a)


def _by_logs(log_p, log_q, step, a):
    p, q = np.exp(log_p), np.exp(log_q)
    if a in (0, 1):
        return step * np.sum(q * (log_q - log_p) if a == 0 else p * (log_p - log_q))
    return (step * np.sum(np.exp(a * log_p + (1 - a) * log_q)) - 1) / (a * (a - 1))


def _by_jax(theta, log_p, mu, sigma, a):
    t, log_p = jnp.asarray(theta), jnp.asarray(log_p)
    log_q, step = jax.scipy.stats.norm.logpdf(t, mu, sigma), t[1] - t[0]
    if a in (0, 1):
        return step * jnp.sum(jnp.exp(log_q) * (log_q - log_p) if a == 0 else jnp.exp(log_p) * (log_p - log_q))
    return (step * jnp.sum(jnp.exp(a * log_p + (1 - a) * log_q)) - 1) / (a * (a - 1))


def _mid(theta, log_p, mu, sigma, a, change):
    d = _d(theta, log_p, mu, sigma, a)
    return d if a in (0, 1) else change(d)


def _by_grid(theta, log_p, a, h=0.1):
    m, s = (part.ravel() for part in np.meshgrid(np.arange(-4, 4.01, h), np.arange(0.4, 4.5, h)))
    log_q, step = stats.norm.logpdf(theta, m[:, None], s[:, None]), theta[1] - theta[0]
    best = np.argmin([_by_logs(log_p, one, step, a) for one in log_q])
    return m[best], s[best]


def _fw(theta, log_p, step=lambda t: t[1] - t[0], ddof=0):
    w = np.exp(log_p) * step(theta)
    return w @ theta, np.sqrt(w @ (theta - w @ theta) ** 2)


def _risk(theta, log_p, fits, loss, q=lambda f, t: stats.norm.pdf(t, *f), p=np.exp, choose=np.argmin, fall=np.sum):
    step = theta[1] - theta[0]
    return np.array([step * fall(p(log_p) * loss[choose(loss @ q(f, theta))]) for f in fits])


def _risk_in_place(theta, log_p, fits, loss):
    p = np.exp(log_p, out=log_p)
    return _risk(theta, p, fits, loss, p=lambda p: p)


def _no_prior(y, n, s0):
    eta = 0.0
    for _ in range(50):
        r = special.expit(eta)
        eta = eta + (y - n * r - eta / s0**2) / (n * r * (1 - r))
    return eta


def _on_a_grid(y, n, s0, h=1e-3):
    eta = np.arange(-6, 6, h)
    return eta[np.argmax(y * eta - n * np.logaddexp(0, eta) - eta**2 / (2 * s0**2))]


def _root(y, n, s0, prior=lambda eta, s0: eta / s0**2):
    return optimize.brentq(lambda eta: y - n * special.expit(eta) - prior(eta, s0), -30, 30)


def _steps(y, n, s0, steps=4, start=None, damp=1.0):
    eta = np.log((y + 0.5) / (n - y + 0.5)) if start is None else start(y, n)
    for _ in range(steps):
        r = special.expit(eta)
        eta = eta + damp * (y - n * r - eta / s0**2) / (n * r * (1 - r) + 1 / s0**2)
    return eta


def _z(value, H, d=len, det=lambda H: np.linalg.det(-H)):
    return value + 0.5 * d(H) * LOG_2PI - 0.5 * np.log(det(H))


def _sorted(found, by, turn=1):
    order = np.argsort(turn * found[by])
    return *(part[order] for part in found[:3]), found[3]


def _dear(*case):
    w, m, v, _ = _e(*case)
    return w, m, v, np.log(np.sum(w * stats.norm.pdf(case[0][:, None], m, np.sqrt(v)), axis=1)).sum()


RIGHT = [
    ("switches/tilted", "gain", _switch),
    ("switches/tilted", "a list", lambda *c: list(_switch(*c))),
    ("switches/propagate", "from the last", lambda *c: _tank(*c, order=-1)),
    ("switches/propagate", "damped, all at once", lambda *c: _tank(*c, damping=0.5, at_once=True)),
    ("switches/propagate", "an array", lambda *c: np.array(_tank(*c))),
    ("em-as-vi/responsibilities", "softmax", _r),
    ("em-as-vi/m-step", "mean of squares", _m),
    ("em-as-vi/bound", "entr", _l),
    ("em-as-vi/em", "logsumexp", lambda *c: _e(*c)),
    ("two-bumps/closest", "Nelder-Mead", lambda *c: _down(*c)),
    ("two-bumps/risks", "a loop", lambda *c: _risk(*c)),
    ("laplace/mode", "a root", lambda *c: _root(*c)),
    ("laplace/evidence", "slogdet", lambda *c: _z(*c)),
    ("em-as-vi/responsibilities", "loops", _r_by_loops),
    ("em-as-vi/responsibilities", "JAX", _jax_r),
    ("em-as-vi/m-step", "np.average", lambda x, r: [_m(x, r)[0], *np.array([_avg(x, c) for c in r.T]).T]),
    ("em-as-vi/m-step", "JAX", lambda x, r: _m(jnp.asarray(x), jnp.asarray(r))),
    ("em-as-vi/bound", "JAX", lambda x, r, *t: jnp.sum(jnp.asarray(r) * _s(x, *t)) + jax.scipy.special.entr(r).sum()),
    ("em-as-vi/em", "logaddexp", lambda *c: _e(*c, height=lambda s: np.logaddexp.reduce(s, axis=1).sum())),
    ("em-as-vi/em", "JAX", lambda *c: _e(*c, r=_jax_r)),
    ("two-bumps/forward", "trapezoid", lambda t, lp: _fw(t, lp, step=np.gradient)),
    ("two-bumps/forward", "normalised", lambda t, lp: _fw(t, special.log_softmax(lp), step=lambda t: 1.0)),
    ("two-bumps/divergence", "JAX", _by_jax),
    ("two-bumps/closest", "Powell", lambda *c: _down(*c, method="Powell")),
    ("two-bumps/closest", "a finer grid", lambda *c: _finer_grid(*c)),
    ("two-bumps/closest", "L-BFGS", lambda *c: _down(*c, method="L-BFGS-B", bounds=[(-5, 5), (-1, 2)])),
    (
        "two-bumps/risks",
        "by einsum",
        lambda t, lp, f, loss: (loss @ np.exp(lp))[[np.argmin(loss @ np.exp(_bell(*o, t))) for o in f]] * (t[1] - t[0]),
    ),
    (
        "two-bumps/risks",
        "trapezoid",
        lambda *c: [integrate.trapezoid(np.exp(c[1]) * c[3][np.argmin(c[3] @ _q(o, c[0]))], c[0]) for o in c[2]],
    ),
    ("laplace/mode", "Newton from the data", lambda *c: _steps(*c, steps=20)),
    (
        "laplace/mode",
        "BFGS",
        lambda y, n, s: optimize.minimize(lambda e: n * np.logaddexp(0, e) - y * e + e**2 / (2 * s**2), [0.0], tol=1e-9).x[0],
    ),
    ("laplace/covariance", "solve", lambda H: np.linalg.solve(H, -np.eye(len(H)))),
    ("laplace/covariance", "JAX", lambda H: -jnp.linalg.inv(H)),
    ("laplace/evidence", "size of the determinant", lambda v, H: _z(v, H, det=lambda H: abs(np.linalg.det(H)))),
    ("laplace/evidence", "Cholesky", lambda v, H: v + len(H) / 2 * LOG_2PI - np.log(np.diag(np.linalg.cholesky(-H))).sum()),
    ("laplace/chance", "by a score", lambda m, s, t: stats.norm.cdf((m - np.log(t / (1 - t))) / s)),
    ("laplace/chance", "JAX", lambda m, s, t: jax.scipy.stats.norm.sf(jax.scipy.special.logit(t), m, s)),
]


def _finer_grid(theta, log_p, a):
    m, s = _by_grid(theta, log_p, a)
    ms, ss = (part.ravel() for part in np.meshgrid(m + np.linspace(-0.1, 0.1, 41), s + np.linspace(-0.1, 0.1, 41)))
    step = theta[1] - theta[0]
    best = np.argmin([_by_logs(log_p, stats.norm.logpdf(theta, *one), step, a) for one in zip(ms, ss, strict=True)])
    return ms[best], ss[best]


def _q(fit, theta):
    return stats.norm.pdf(theta, *fit)


def _avg(x, c):
    m = np.average(x, weights=c)
    return m, np.average((x - m) ** 2, weights=c)


WRONG = [
    ("switches/tilted", "twelve nodes", _switch_by_nodes, ""),
    ("switches/tilted", "mean alone", lambda *c: _switch(*c)[0], "Expected a tuple of 2 values"),
    ("switches/tilted", "plain", lambda *c: _switch(*c, slope=lambda z: stats.norm.pdf(z) / stats.norm.cdf(z)), "round to 0"),
    ("switches/tilted", "second moment", lambda *c: (_switch(*c)[0], _switch(*c)[1] + _switch(*c)[0] ** 2), "The variance is off"),
    ("switches/propagate", "two rounds", lambda *c: _tank(*c[:-1], 2), ""),
    ("switches/propagate", "one round, turned", lambda *c: _tank(*c[:-1], 1, order=-1), ""),
    ("switches/propagate", "s squared", lambda t, up, s, *c: _tank(t, up, s**2, *c), "were squared"),
    ("switches/propagate", "other order of results", lambda *c: _tank(*c)[::-1], "in the wrong order"),
    ("em-as-vi/responsibilities", "plain densities", _plain, "rounded to 0"),
    ("em-as-vi/responsibilities", "tempered", lambda *c: _r(*c, temper=0.5), "Not those shares"),
    ("em-as-vi/responsibilities", "transposed", lambda *c: _r(*c).T, "transposed"),
    ("em-as-vi/responsibilities", "guarded", lambda *c: np.nan_to_num(_plain(*c)), "rounded to 0"),
    ("em-as-vi/responsibilities", "weights squared", lambda x, w, m, v: _r(x, w**2, m, v), "Your answer is right for other inputs"),
    ("em-as-vi/m-step", "in place", _in_place, "`r` is not what it was"),
    ("em-as-vi/m-step", "precision", lambda x, r: _m(x, r, lambda w, m, v: (w, m, 1 / v)), "The vector of variances is off"),
    ("em-as-vi/m-step", "pooled", lambda x, r: _m(x, r, lambda w, m, v: (w, m, 0 * v + w @ v)), "The vector of variances is off"),
    ("em-as-vi/m-step", "two results", lambda x, r: _m(x, r)[:2], "3 values"),
    ("em-as-vi/m-step", "plain mean", lambda x, r: (_m(x, r)[0], 0 * r[0] + x.mean(), _m(x, r)[2]), "The vector of means is off"),
    ("em-as-vi/bound", "zeros", lambda x, r, *t: np.sum(r * (_s(x, *t) - np.log(r))), "r log r"),
    (
        "em-as-vi/bound",
        "zeros shifted",
        lambda x, r, *t: np.sum(r * _s(x, *t)) - np.nansum(r * np.log(np.maximum(r, 1e-2))),
        "however small",
    ),
    ("em-as-vi/bound", "floor", lambda x, r, *t: np.sum(r * _s(x, *t)) - np.sum(r * np.log(np.maximum(r, 0.1))), "Close, but not exact"),
    ("em-as-vi/bound", "log of densities", _naive, "its logarithm is lost"),
    ("em-as-vi/bound", "gap", lambda x, r, *t: special.rel_entr(r, _r(x, *t)).sum(), "Not that bound"),
    ("em-as-vi/em", "plain densities", lambda *c: _e(*c, r=_plain), "rounded to 0"),
    ("em-as-vi/em", "tempered", lambda *c: _e(*c, r=lambda *t: _r(*t, temper=0.8)), ("Close, but not exact", "Not those")),
    (
        "em-as-vi/em",
        "no 2 pi",
        lambda *c: _e(*c, height=lambda s: special.logsumexp(s + LOG_2PI / 2, axis=1).sum()),
        "log likelihood is off",
    ),
    ("em-as-vi/em", "until it rests", lambda x, w, m, v, rounds: _e(x, w, m, v, 300), ("Not those", "Close, but not exact")),
    ("em-as-vi/em", "three results", lambda *c: _e(*c)[:3], "4 values"),
    ("em-as-vi/em", "sorted by means", lambda *c: _sorted(_e(*c), 1), "The vector of weights"),
    ("em-as-vi/em", "plain densities at the end", _dear, "rounded to 0"),
    ("two-bumps/forward", "mean alone", lambda *c: _fw(*c)[0], "2 values"),
    (
        "two-bumps/forward",
        "size of the deviation",
        lambda t, lp: (_fw(t, lp)[0], np.exp(lp) @ abs(t - _fw(t, lp)[0]) * (t[1] - t[0])),
        "is off",
    ),
    ("two-bumps/forward", "exchanged", lambda *c: _fw(*c)[::-1], "These are right, and in the wrong"),
    (
        "two-bumps/forward",
        "median",
        lambda t, lp: (np.interp(0.5, np.cumsum(np.exp(lp)) * (t[1] - t[0]), t), _fw(t, lp)[1]),
        "The mean is off",
    ),
    ("two-bumps/forward", "log weights", lambda t, lp: _fw(t, lp / 2), "Not that normal"),
    ("two-bumps/divergence", "plain ratios", _ratios, "a ratio or a logarithm of it is lost"),
    ("two-bumps/divergence", "nan to zero", lambda *c: _ratios(*c) if np.isfinite(_ratios(*c)) else 0.0, "is lost"),
    ("two-bumps/divergence", "log of the density", _direct, "a ratio or a logarithm of it is lost"),
    ("two-bumps/divergence", "floor", lambda *c: _direct(*c, floor=1e-300), "a floor does not bring it back"),
    ("two-bumps/divergence", "power of q", lambda *c: _d(*c, power=lambda a: a), "Not that divergence"),
    ("two-bumps/divergence", "a step of 1/8", lambda *c: _d(*c, width=lambda t: 0.125), "Not that divergence"),
    ("two-bumps/divergence", "root of sigma", lambda t, lp, m, s, a: _d(t, lp, m, np.sqrt(s), a), "Your answer is right for other inputs"),
    ("two-bumps/divergence", "sigma squared", lambda t, lp, m, s, a: _d(t, lp, m, s**2, a), "Your answer is right for other inputs"),
    ("two-bumps/divergence", "a (1 - a)", lambda *c: _mid(*c, change=lambda d: -d), "The sign is turned round"),
    ("two-bumps/divergence", "no ends", lambda *c: _d(*c, ends=(None, None)), "Right but for a = 0 and a = 1"),
    ("two-bumps/divergence", "absolute", lambda t, lp, m, s, a: _d(t, lp, m, s, 0.5), "Not that divergence"),
    ("two-bumps/divergence", "doubled", lambda *c: 2 * _d(*c), "Not that divergence"),
    ("two-bumps/closest", "highest end", lambda *c: _down(*c, pick=max), "bottom of a dip"),
    ("two-bumps/closest", "start in the middle", lambda *c: _down(*c, starts=[(0.1, 0.1)]), "bottom of a dip"),
    (
        "two-bumps/closest",
        "start at the moments",
        lambda t, lp, a: _down(t, lp, a, starts=[(m, np.log(s)) for m, s in [_fw(t, lp)]]),
        "a dip",
    ),
    ("two-bumps/closest", "start right", lambda *c: _down(*c, starts=[(3, 0.1)]), "bottom of a dip"),
    (
        "two-bumps/closest",
        "two starts",
        lambda t, lp, a: _down(t, lp, a, starts=[(_fw(t, lp)[0], np.log(_fw(t, lp)[1])), (3, 0.1)]),
        "bottom of a dip",
    ),
    ("two-bumps/closest", "off the grid", lambda *c: _down(*c, starts=[(3, 0.1), (-30, 0.1)]), "lies on the grid"),
    ("two-bumps/closest", "a coarse grid", _by_grid, ""),
    ("two-bumps/closest", "mean alone", lambda *c: _down(*c)[0], "2 values"),
    ("two-bumps/risks", "in place", _risk_in_place, "`log_p` is not what it was"),
    ("two-bumps/risks", "log p", lambda *c: _risk(*c, p=lambda lp: lp), "Not those risks"),
    ("two-bumps/risks", "root of sigma", lambda *c: _risk(*c, q=lambda f, t: stats.norm.pdf(t, f[0], f[1] ** 0.5)), "other spreads"),
    ("two-bumps/risks", "mean over the grid", lambda *c: _risk(*c, fall=np.mean), "Off by how many there are: a mean for a"),
    ("laplace/mode", "half a case", lambda *c: _steps(*c, steps=0), "Not that place"),
    ("laplace/mode", "from the likelihood", lambda *c: _steps(*c, steps=30, start=lambda y, n: np.log(y / (n - y))), "If y is 0 or n"),
    ("laplace/mode", "clipped", lambda y, n, s: special.logit(y / n) if y in (0, n) else _root(y, n, s), "If y is 0 or n"),
    ("laplace/mode", "short steps", lambda *c: _steps(*c, steps=5, damp=0.3), "Not that place"),
    ("laplace/mode", "no prior in the curvature", _no_prior, "1 / s0^2. Without the prior's term"),
    ("laplace/mode", "on a grid", _on_a_grid, "Close, but not exact"),
    ("laplace/covariance", "sizes first", lambda H: np.linalg.inv(abs(H)), "Not that covariance"),
    ("laplace/covariance", "root", lambda H: np.sqrt(np.diag(np.linalg.inv(-H))), "shape"),
    ("laplace/covariance", "correlations", lambda H: np.linalg.inv(-H) / abs(np.diag(np.linalg.inv(H)))[0], "Not that covariance"),
    ("laplace/covariance", "in place", lambda H: np.linalg.inv(np.negative(H, out=H)), "`H` is not what it was"),
    ("laplace/covariance", "doubled", lambda H: np.linalg.inv(-H) * 2, "Not that covariance"),
    ("laplace/evidence", "minus determinant", lambda v, H: _z(v, H, det=lambda H: -np.linalg.det(H)), "Not that logarithm"),
    ("laplace/evidence", "complex, minus", lambda v, H: _z(v, H, det=lambda H: -np.linalg.det(H) + 0j), "Right in the small"),
    ("laplace/evidence", "one more", lambda v, H: _z(v, H, d=lambda H: len(H) + 1), "Not that logarithm"),
    ("laplace/evidence", "BIC", lambda v, H: v - len(H) / 2 * np.log(abs(np.linalg.det(H))), "Not that logarithm"),
    ("laplace/chance", "other way round", lambda m, s, t: stats.norm.sf(m, special.logit(t), s), "That is one minus it."),
    ("laplace/chance", "both sides", lambda m, s, t: 2 * stats.norm.sf(abs(special.logit(t) - m) / s), "Not that chance"),
    ("laplace/chance", "no spread", lambda m, s, t: stats.norm.sf(special.logit(t), m), "Your answer is right for other inputs"),
    (
        "laplace/chance",
        "simulated",
        lambda m, s, t: (special.expit(m + s * np.random.default_rng(0).normal(size=10**6)) > t).mean(),
        "Close, but not exact",
    ),
]


test_answers = near_misses.trial(CHAPTER, WRONG, RIGHT, BY_HAND, sheets=SHEETS, quiet=True)
