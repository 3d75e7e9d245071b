"""The projects of chapters 2 to 4: what is nearly right must not pass, what is right in another way must."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.integrate import quad
from scipy.special import entr, logsumexp, softmax, xlogy
from scipy.stats import lognorm, norm

from tests.exercises import near_misses


def _a(*numbers):
    return np.array(numbers, dtype=float)


# Chapter 4


def _score_one_by_one(log_joint, mu, log_sigma, eps, rest=np.mean):
    """Each draw on its own; the two of a pair are averaged at the end."""
    g = [[log_joint(np.array([mu + sign * np.exp(log_sigma) * e]))[0] + e**2 / 2 for sign in (1, -1)] for e in eps]
    terms = np.zeros((len(eps), 2))
    for m, e in enumerate(eps):
        base = rest(g[:m] + g[m + 1 :])
        for above, noise in zip(np.array(g[m]) - base, (e, -e), strict=True):
            terms[m] += 0.5 * above * _a(noise / np.exp(log_sigma), noise**2 - 1)
    return terms


def _path_by_jax(slope, mu, log_sigma, eps):
    """The slope, with the entropy by JAX."""
    entropy = float(jax.grad(lambda w: 0.5 * jnp.log(2 * jnp.pi * jnp.e * jnp.exp(2 * w)))(log_sigma))
    theta = mu + np.exp(log_sigma) * eps
    return np.array([[slope(t), slope(t) * (t - mu) + entropy] for t in theta])


def _path_without_score(slope, mu, log_sigma, eps):
    """The path derivative: another gradient of the same mean."""
    d = slope(mu + np.exp(log_sigma) * eps) + eps * np.exp(-log_sigma)
    return np.stack([d, d * np.exp(log_sigma) * eps], axis=1)


def _price_by_cov(estimates, sigma, cost):
    V = np.cov(estimates.T)
    return cost * (V[0, 0] * sigma**2 / 2 + V[1, 1] / 4)


def _climb_step_by_step(gradient, start, rates, noise, late=None):
    mu, omega, total = float(start[0]), float(start[1]), np.zeros(2)
    for t, rate in enumerate(rates):
        slope = gradient(mu, omega, noise[t])
        if late:
            mu += rate * slope[0]
            omega += rate * gradient(mu, omega, noise[t])[1]
        else:
            mu, omega = mu + rate * slope[0], omega + rate * slope[1]
        total += (t >= len(rates) // 2) * np.array([mu, omega])
    return tuple(2 * total / len(rates))


def _worth_by_area(old, new, over, under):
    level = under / (over + under)
    law = [lognorm(np.exp(q[1]), scale=np.exp(q[0])) for q in (old, new)]
    return quad(lambda h: (over + under) * (law[1].cdf(h) - level), law[1].ppf(level), law[0].ppf(level), epsabs=1e-12)[0]


def _worth_by_a_parabola(old, new, over, under):
    """Half the curvature at the new decision, times the squared distance."""
    level = under / (over + under)
    law = [lognorm(np.exp(q[1]), scale=np.exp(q[0])) for q in (old, new)]
    return 0.5 * (over + under) * law[1].pdf(law[1].ppf(level)) * (law[0].ppf(level) - law[1].ppf(level)) ** 2


def _worth_by_means(old, new, over, under):
    best = lambda q: np.exp(q[0] + np.exp(q[1]) ** 2 / 2)
    theta = new[0] + np.exp(new[1]) * norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    cost = lambda h: np.mean(np.where(np.exp(theta) < h, over * (h - np.exp(theta)), under * (np.exp(theta) - h)))
    return cost(best(old)) - cost(best(new))


GRADIENTS_BY_HAND = {
    "which-gradient/score": [((lambda theta: theta, 0.0, 0.0, _a(2, 0)), _a([4, 6], [0, 2]))],
    "which-gradient/path": [((lambda theta: -theta, 1.0, 0.0, _a(1, -2)), _a([-2, -1], [1, -1]))],
    "which-gradient/price": [((_a([0, 0], [2, 4]), 2.0, 3.0), 18)],
    "which-gradient/climb": [((lambda mu, omega, eps: _a(1, 2), (0.0, 0.0), np.ones(4), np.zeros((4, 1))), _a(3.5, 7))],
    "which-gradient/worth": [((_a(0, 0), _a(1, 0), 1.0, 1.0), 0.5355)],
}
GRADIENTS_WRONG = [
    ("which-gradient/score", "the largest of the rest", lambda *case: _score_one_by_one(*case, rest=np.max), "Not those terms"),
    ("which-gradient/score", "the mean", lambda *case: _score_one_by_one(*case).mean(axis=0), "to have shape"),
    ("which-gradient/path", "the path derivative", _path_without_score, "That is the path derivative"),
    ("which-gradient/path", "columns exchanged", lambda *case: _path_by_jax(*case)[:, ::-1], "Not those terms"),
    (
        "which-gradient/price",
        "the larger of the two",
        lambda e, s, c: c * max(e[:, 0].var(ddof=1) * s**2 / 2, e[:, 1].var(ddof=1) / 4),
        "Not that price",
    ),
    ("which-gradient/price", "the variance of the sum", lambda e, s, c: c * (e @ _a(s, 0.5**0.5)).var(ddof=1) / 2, "Not that price"),
    ("which-gradient/climb", "one after the other", lambda *case: _climb_step_by_step(*case, late=True), ""),
    ("which-gradient/worth", "a parabola", _worth_by_a_parabola, "Not that"),
    ("which-gradient/worth", "means for quantiles", _worth_by_means, "Not that"),
]
GRADIENTS_RIGHT = [
    ("which-gradient/score", "one by one", _score_one_by_one),
    ("which-gradient/path", "by JAX", _path_by_jax),
    ("which-gradient/price", "by cov", _price_by_cov),
    ("which-gradient/climb", "a running sum", _climb_step_by_step),
    ("which-gradient/worth", "an area", _worth_by_area),
]
test_gradients = near_misses.trial("gradients/", GRADIENTS_WRONG, GRADIENTS_RIGHT, GRADIENTS_BY_HAND, sheets=("which-gradient",))


# Chapter 2


def _transition(order):
    """Places and momenta in pairs; `order` says which half of a leapfrog step comes first."""

    def answer(log_density, slope, lam, momentum, coin, size, steps):
        first = np.log(lam)
        target = lambda u: log_density(np.exp(u)) + u
        force = lambda u: 1 + np.exp(u) * slope(np.exp(u))
        u, p = first, momentum
        for _ in range(steps):
            for what in order:
                u, p = (
                    (u + size * p, p)
                    if what == "drift"
                    else (u + size / 2 * p, p)
                    if what == "half"
                    else (u, p + size * {"kick": 0.5, "whole": 1}[what] * force(u))
                )
        prob = np.minimum(1, np.exp(target(u) - target(first) + (momentum**2 - p**2) / 2))
        return np.exp(np.where(coin < prob, u, first)), prob

    return answer


def _warm_up_with(rate, mean):
    def answer(transition, lam, size, momenta, coins, target):
        sizes = []
        for t, pair in enumerate(zip(momenta, coins, strict=True), start=1):
            lam, prob = transition(lam, *pair, size)
            size = size * np.exp(rate(t) * (np.mean(prob) - target))
            sizes.append(size)
        return lam, mean(sizes[len(sizes) // 2 :])

    return answer


def _gain_by_unit_loss(d, error, k):
    """What a wrong sign costs on average, by the loss function of a unit normal."""
    b = error * np.sqrt((k - 1) / k)
    z = abs(d) / b
    return b * (norm.pdf(z) - z * norm.sf(z))


def _plan_by_array(gain, d, error, price):
    ks = 2 ** np.arange(11)
    balance = np.array([0] + [gain(d, error, k) - price * (k - 1) for k in ks[1:]])
    return ks[balance.argmax()], balance.max()


def _plan_while_it_rises(gain, d, error, price):
    """Doubles as long as the next doubling gains something, each judged as if it were the first."""
    k, total = 1, 0.0
    while k < 1024 and gain(d, error / np.sqrt(k), 2) > price * k:
        total += gain(d, error / np.sqrt(k), 2) - price * k
        k *= 2
    return k, total


MCMC_BY_HAND = {
    "decide-or-sample-on/transition": [
        ((lambda lam: -lam, lambda lam: -np.ones_like(lam), _a(1), _a(1), _a(0), 1.0, 1), (_a(np.e), _a(0.7960)))
    ],
    "decide-or-sample-on/warm-up": [
        ((lambda lam, momentum, coin, size: (lam, np.ones(1)), _a(1), 1.0, np.zeros((4, 1)), np.zeros((4, 1)), 0.5), (_a(1), 3.311))
    ],
    "decide-or-sample-on/implied": [((1.0, 2, 20), 40)],
    "decide-or-sample-on/gain": [((0.0, 1.0, 2), 0.2821)],
    "decide-or-sample-on/plan": [((lambda d, error, k: 1 - 1 / k, 0.0, 1.0, 0.1), (4, 0.45))],
}
MCMC_WRONG = [
    ("decide-or-sample-on/transition", "drift first", _transition(("half", "whole", "half")), ""),
    ("decide-or-sample-on/transition", "Euler", _transition(("whole", "drift")), ""),
    ("decide-or-sample-on/warm-up", "root of t", _warm_up_with(lambda t: t**-0.5, lambda s: np.exp(np.mean(np.log(s)))), ""),
    ("decide-or-sample-on/warm-up", "median", _warm_up_with(lambda t: t**-0.6, np.median), ""),
    (
        "decide-or-sample-on/implied",
        "as if S were infinite in one place",
        lambda r, c, s: 2 * c / np.float64(r**2 - 1) * (1 - 2 / s),
        "Not that many",
    ),
    ("decide-or-sample-on/implied", "at most all draws", lambda r, c, s: min(c * s, 2 * c / (r**2 - 1 + 2 / s)) * 0.97, ""),
    ("decide-or-sample-on/gain", "how likely the sign is wrong", lambda d, s, k: abs(d) * norm.sf(abs(d) / s), "Not that"),
    (
        "decide-or-sample-on/gain",
        "regret now less regret then",
        lambda d, s, k: _gain_by_unit_loss(d, s, 1e12) - _gain_by_unit_loss(d, s / k**0.5, 1e12),
        "Not that",
    ),
    ("decide-or-sample-on/plan", "doubling by doubling", _plan_while_it_rises, ""),
]
MCMC_RIGHT = [
    ("decide-or-sample-on/transition", "step by step", _transition(("kick", "drift", "kick"))),
    ("decide-or-sample-on/warm-up", "sizes multiplied", _warm_up_with(lambda t: t**-0.6, lambda s: np.exp(np.mean(np.log(s))))),
    ("decide-or-sample-on/implied", "all in one", lambda r, c, s: 2 * c * s / (s * (r**2 - 1) + 2)),
    ("decide-or-sample-on/gain", "unit normal loss", _gain_by_unit_loss),
    ("decide-or-sample-on/plan", "by an array", _plan_by_array),
]
test_mcmc = near_misses.trial("mcmc/", MCMC_WRONG, MCMC_RIGHT, MCMC_BY_HAND, sheets=("decide-or",))


# Chapter 3


def _cavi_by_loops(L, q2, rounds):
    for _ in range(rounds):
        a = np.array([sum(q * x for q, x in zip(q2, row, strict=True)) for row in L])
        q1 = np.exp(a - logsumexp(a))
        b = (q1[:, None] * L).sum(axis=0)
        q2 = np.exp(b - logsumexp(b))
    return list(q1), list(q2)


def _cavi_the_other_first(L, q2, rounds):
    """The second factor first, from the exact marginal of the first."""
    q1 = softmax(L @ q2)
    for _ in range(rounds):
        q2 = softmax(q1 @ L)
        q1 = softmax(L @ q2)
    return q1, q2


def _cavi_damped(L, q2, rounds):
    q1 = np.full(len(L), 1 / len(L))
    for _ in range(rounds):
        q1 = (q1 + softmax(L @ q2)) / 2
        q2 = (q2 + softmax(q1 @ L)) / 2
    return q1, q2


def _elbo_cell_by_cell(L, q1, q2):
    q = np.outer(q1, q2)
    return float((q * L).sum() - xlogy(q, q).sum())


def _covariance_by_four(fit, L, a, b, step):
    rows = []
    for tilt in (np.outer(a, np.ones_like(b)), np.outer(np.ones_like(a), b)):
        (u1, u2), (d1, d2) = fit(L + step * tilt), fit(L - step * tilt)
        rows.append([(u1 - d1) @ a / (2 * step), (u2 - d2) @ b / (2 * step)])
    return rows


def _covariance_of_the_fit(fit, L, a, b, step):
    q1, q2 = fit(L)
    return np.diag([q1 @ a**2 - (q1 @ a) ** 2, q2 @ b**2 - (q2 @ b) ** 2])


def _exact_covariance(fit, L, a, b, step):
    """Without tilts: what the rates are if the fit is exact and the step small."""
    p, A, B = softmax(L), np.broadcast_to(a[:, None], L.shape), np.broadcast_to(b, L.shape)
    return np.cov(np.stack([A.ravel(), B.ravel()]), aweights=p.ravel(), ddof=0)


def _regret_by_quantile(L, demand, h, over, under, level=None):
    p = softmax(L).ravel()
    order = np.argsort(demand.ravel())
    best = demand.ravel()[order][np.searchsorted(np.cumsum(p[order]), level or under / (over + under))]
    cost = lambda h: p @ (over * np.maximum(h - demand.ravel(), 0) + under * np.maximum(demand.ravel() - h, 0))
    return cost(h) - cost(best)


VI_BY_HAND = {
    "three-orders/cavi": [((_a([0, 0], [0, 2]), _a(0.5, 0.5), 1), (_a(0.2689, 0.7311), _a(0.1881, 0.8119)))],
    "three-orders/elbo": [((_a([0, 0], [0, 2]), _a(0.5, 0.5), _a(0.5, 0.5)), 1.8863)],
    "three-orders/covariance": [
        (
            (lambda t: (softmax(t).sum(axis=1), softmax(t).sum(axis=0)), np.zeros((2, 2)), _a(0, 1), _a(0, 1), 1.0),
            _a([0.2311, 0], [0, 0.2311]),
        )
    ],
    "three-orders/order": [((_a(1, 2), _a([2, -1], [-1, 3]), _a(1, 1), 1.0, 3.0), 4.1682)],
    "three-orders/regret": [((np.zeros((2, 2)), _a([0, 1], [2, 3]), 1.0, 1.0, 3.0), 1)],
}
VI_WRONG = [
    ("three-orders/cavi", "begins with the other", _cavi_the_other_first, "Q1 is off"),
    ("three-orders/cavi", "damped", _cavi_damped, "Not those factors"),
    (
        "three-orders/elbo",
        "entropy in bits",
        lambda L, q1, q2: q1 @ L @ q2 + (entr(q1).sum() + entr(q2).sum()) / np.log(2),
        "Not that bound",
    ),
    (
        "three-orders/elbo",
        "L at the modes",
        lambda L, q1, q2: L[q1.argmax(), q2.argmax()] + entr(q1).sum() + entr(q2).sum(),
        "Not that bound",
    ),
    ("three-orders/covariance", "that of the fit", _covariance_of_the_fit, ""),
    ("three-orders/covariance", "that of the table", _exact_covariance, ""),
    ("three-orders/order", "rounded", lambda *case: np.round(_order(*case)), ""),
    (
        "three-orders/order",
        "logistic quantile",
        lambda m, C, w, o, u: w @ m + np.sqrt(w @ C @ w * 3) / np.pi * np.log(u / o),
        "Not that order",
    ),
    ("three-orders/regret", "the median", lambda *case: _regret_by_quantile(*case, level=0.5), "Not that regret"),
]
VI_RIGHT = [
    ("three-orders/cavi", "by loops", _cavi_by_loops),
    ("three-orders/elbo", "cell by cell", _elbo_cell_by_cell),
    ("three-orders/covariance", "fit by fit", _covariance_by_four),
    ("three-orders/order", "SciPy's quantile", lambda *case: _order(*case)),
    ("three-orders/regret", "by a quantile", _regret_by_quantile),
]


def _order(means, covariance, weights, over, under):
    return norm.isf(over / (over + under), np.dot(weights, means), np.einsum("i,ij,j", weights, covariance, weights) ** 0.5)


test_vi = near_misses.trial("vi/", VI_WRONG, VI_RIGHT, VI_BY_HAND, sheets=("three-orders",))
