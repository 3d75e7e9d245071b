"""A skewed posterior. Roads: the density of q as the slope of its distribution function; mass added up; every draw tried as a decision."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Verdict
from course_pkg.checks.gradients._tools import NO_JAX, differentiable
from course_pkg.checks.lambertw._tools import W, bent, density, judge_real, safe, safe_origin

KNEE = -0.9 / np.e


def _log_joint(n: int, total: float) -> Any:
    """A log variance theta: n normal observations with mean 0, their squares summing to ``total``, and a flat prior."""
    return lambda theta: -0.5 * n * theta - 0.5 * total * jnp.exp(-theta)


def _through_the_density(eps: Any, mu: float, sigma: float, gamma: float, log_joint: Any) -> float:
    x = safe(eps, gamma)
    log_q = np.log(density(x, gamma, safe_origin) / sigma)
    return float(np.mean(np.asarray(log_joint(jnp.asarray(mu + sigma * x)), dtype=float) - log_q))


def _by_cumulated_mass(q: float, mu: float, sigma: float, gamma: float) -> float:
    """Where the mass of eps, added up from the left, comes to q; and where that lies on the scale of theta."""
    eps = np.linspace(-8, 8, 40_001)
    mass = np.cumsum(np.exp(-(eps**2) / 2))
    theta = mu + sigma * safe(eps, gamma)
    return float(np.interp(q, (mass - 0.5 * np.exp(-(eps**2) / 2)) / mass[-1], theta))


def _cost(theta: Any, h: float, q: float) -> float:
    return float(np.mean([q * (t - h) if t > h else (1 - q) * (h - t) for t in theta]))


def _against_every_draw(theta: Any, h: float, q: float) -> float:
    return 100 * (_cost(theta, h, q) / min(_cost(theta, other, q) for other in theta) - 1)


def bound_stub(eps: Any, mu: float, sigma: float, gamma: float, log_joint: Any) -> Any:
    raise NotImplementedError


def decision_stub(q: float, mu: float, sigma: float, gamma: float) -> Any:
    raise NotImplementedError


def extra_stub(theta: np.ndarray, h: float, q: float) -> Any:
    raise NotImplementedError


def _slope(eps, gamma):
    c = np.maximum(gamma * eps, W(KNEE))
    return c + np.log1p(c)


def _elbo(log_q, theta=lambda eps, mu, sigma, gamma: mu + sigma * safe(eps, gamma), mean=np.mean):
    def answer(eps, mu, sigma, gamma, log_joint):
        eps = np.asarray(eps, dtype=float)
        fit = np.asarray(log_joint(jnp.asarray(theta(eps, mu, sigma, gamma))), dtype=float)
        return mean(fit - log_q(eps, mu, sigma, gamma))

    return answer


def _log_q(eps, _, sigma, gamma):
    return norm.logpdf(eps) - _slope(eps, gamma) - np.log(sigma)


BOUND_MISTAKES = {
    "bending forgotten": Mistake(
        _elbo(lambda e, m, s, g: norm.logpdf(e) - np.log(s)),
        "Your log q does not know that bending stretches: subtract log_slope. Without it the bound rewards skew that it should not.",
    ),
    "bending added": Mistake(
        _elbo(lambda e, m, s, g: norm.logpdf(e) + _slope(e, g) - np.log(s)),
        "You added log_slope to log q. Where the map stretches, q is thinner.",
    ),
    "width forgotten": Mistake(
        _elbo(lambda e, m, s, g: norm.logpdf(e) - _slope(e, g)),
        "log sigma is missing from log q: a stretch by sigma makes q thinner.",
    ),
    "width added": Mistake(
        _elbo(lambda e, m, s, g: norm.logpdf(e) - _slope(e, g) + np.log(s)),
        "log sigma has the wrong sign in log q: a stretch by sigma makes q thinner.",
    ),
    "noise alone": Mistake(
        _elbo(lambda e, m, s, g: norm.logpdf(e)),
        "That is the density of the noise, not of theta. On its way from eps to theta the map stretches twice.",
    ),
    "normal q": Mistake(
        _elbo(lambda e, m, s, g: norm.logpdf(m + s * safe(e, g), m, s)),
        "You bent the draws and kept the density of a normal q. The draws and the density must belong to the same q.",
    ),
    "not bent": Mistake(
        _elbo(_log_q, lambda e, m, s, g: m + s * e),
        "Your log q is right, and your draws are not bent. theta = mu + sigma g(eps).",
    ),
    "no skew": Mistake(
        _elbo(lambda e, m, s, g: norm.logpdf(e) - np.log(s), lambda e, m, s, g: m + s * e),
        "That is the bound of the normal q: gamma does nothing.",
    ),
    "bent last": Mistake(
        _elbo(_log_q, lambda e, m, s, g: safe(m + s * e, g)),
        "You bent after stretching and moving. Bend eps, then stretch, then move.",
    ),
    "log q added": Mistake(
        _elbo(lambda e, m, s, g: -_log_q(e, m, s, g)),
        "You added log q. The bound is the mean of log p minus log q.",
    ),
    "log q left out": Mistake(
        _elbo(lambda e, m, s, g: 0.0),
        "That is the mean log joint density. Subtract log q, or a point will be the best q.",
    ),
    "joint at the noise": Mistake(
        _elbo(_log_q, lambda e, m, s, g: e),
        "You evaluated the model at the noise. It is theta that it knows.",
    ),
    "negated": Mistake(
        _elbo(_log_q, mean=lambda values: -np.mean(values)),
        "That is minus the bound. The cell below turns the sign for its minimiser; return the bound itself.",
    ),
    "noise forgotten": Mistake(
        _elbo(lambda e, m, s, g: -_slope(e, g) - np.log(s)),
        "The stretches are right, and log q lacks what is stretched: the normal log density of eps.",
    ),
    "sum": Mistake(
        _elbo(_log_q, mean=np.sum),
        "You summed over the draws. The bound is their mean.",
    ),
    "each draw": Mistake(
        _elbo(_log_q, mean=lambda values: values),
        "Those are the terms, one for each draw. Return their mean.",
    ),
}
DECISION_MISTAKES = {
    "of the normal": Mistake(
        lambda q, mu, sigma, gamma: norm.ppf(q, mu, sigma),
        "That is the quantile of the normal q. Bend it as the draws are bent.",
    ),
    "other tail": Mistake(
        lambda q, mu, sigma, gamma: mu + sigma * float(safe(norm.ppf(1 - q), gamma)),
        "That is the quantile at 1 - q. A tilt above 1/2 makes it dear to lie too low, so the decision is high.",
    ),
    "bent last": Mistake(
        lambda q, mu, sigma, gamma: float(safe(norm.ppf(q, mu, sigma), gamma)),
        "You stretched and moved before bending. Bend the quantile of eps, then stretch, then move.",
    ),
    "not moved": Mistake(
        lambda q, mu, sigma, gamma: float(safe(norm.ppf(q), gamma)),
        "That is the quantile of the bent noise. Stretch and move it.",
    ),
    "level bent": Mistake(
        lambda q, mu, sigma, gamma: mu + sigma * float(safe(q, gamma)),
        "You bent the level q. Which eps lies at this level?",
    ),
    "backward": Mistake(
        lambda q, mu, sigma, gamma: mu + sigma * float(safe_origin(np.array([norm.ppf(q)]), gamma)[0]),
        "You bent the quantile the wrong way: from eps to theta the map goes forward.",
    ),
    "plain map": Mistake(
        lambda q, mu, sigma, gamma: mu + sigma * bent(norm.ppf(q), gamma),
        "You bent with the plain map, which turns round at eps = -1 / gamma. The draws of this q are bent with g_e.",
    ),
    "centre": Mistake(
        lambda q, mu, sigma, gamma: mu,
        "That is the median of q, for every tilt. Take the quantile that the loss asks for.",
    ),
    "other skew": Mistake(
        lambda q, mu, sigma, gamma: mu + sigma * float(safe(norm.ppf(q), -gamma)),
        "The skew is turned round.",
    ),
}


def _share(cost=_cost, best=None):
    def answer(theta, h, q):
        least = min(cost(theta, other, q) for other in theta) if best is None else cost(theta, best(theta, q), q)
        return 100 * (cost(theta, h, q) / least - 1)

    return answer


EXTRA_MISTAKES = {
    "difference": Mistake(
        lambda theta, h, q: _cost(theta, h, q) - _cost(theta, np.quantile(theta, q, method="inverted_cdf"), q),
        "That is the difference in the unit of the loss. Per cent of the least risk were asked for.",
    ),
    "share": Mistake(
        lambda theta, h, q: _against_every_draw(theta, h, q) / 100,
        "Right as a share. Per cent were asked for.",
    ),
    "of the risk of h": Mistake(
        lambda theta, h, q: 100 * (1 - 1 / (1 + _against_every_draw(theta, h, q) / 100)),
        "You divided by the risk of h. By how much does it exceed the least risk, in per cent of the least?",
    ),
    "ratio": Mistake(
        lambda theta, h, q: 100 + _against_every_draw(theta, h, q),
        "That is the risk in per cent of the least: a perfect decision has 100. How much more than that?",
    ),
    "against the mean": Mistake(
        _share(best=lambda theta, q: theta.mean()),
        "You compared with the posterior mean. Under a tilted loss another decision has the least risk.",
    ),
    "against the median": Mistake(
        _share(best=lambda theta, q: np.median(theta)),
        "You compared with the posterior median, which is best at a tilt of one half only.",
    ),
    "against the other quantile": Mistake(
        _share(best=lambda theta, q: np.quantile(theta, 1 - q)),
        "You compared with the quantile at 1 - q. The least risk is at the quantile at q.",
    ),
    "loss turned round": Mistake(
        _share(lambda theta, h, q: _cost(theta, h, 1 - q)),
        "Your loss is turned round: q is the price of a decision that lies too low, 1 - q of one that lies too high.",
    ),
    "loss turned round, best not": Mistake(
        _share(lambda theta, h, q: _cost(theta, h, 1 - q), lambda theta, q: np.quantile(theta, q)),
        "Your tilt is mirrored: q is the price of a decision that lies too low, 1 - q of one that lies too high.",
    ),
    "absolute, against the quantile": Mistake(
        _share(lambda theta, h, q: _cost(theta, h, 0.5), lambda theta, q: np.quantile(theta, q)),
        "You compared with the right decision, but your loss has no tilt: a unit too low costs q, a unit too high 1 - q.",
    ),
    "absolute": Mistake(
        _share(lambda theta, h, q: _cost(theta, h, 0.5)),
        "Your loss has no tilt: a unit too low costs q, a unit too high 1 - q.",
    ),
    "least possible": Mistake(
        lambda theta, h, q: 100 * _cost(theta, h, q),
        "That is the risk of h times 100. Compare it with the least that any decision has.",
    ),
}


def bound_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 680])
    cases = []
    for sign in (1, -1):
        gamma = sign * float(rng.uniform(0.37, 0.45))
        eps = np.concatenate([rng.uniform(-1.4, 1.4, 5), [-sign * 2.8]])  # at the last, gamma * eps < -1: the plain map has turned round
        numbers = float(rng.uniform(0.4, 1)), float(rng.uniform(1.3, 1.7)), gamma
        cases.append((jnp.asarray(eps), *numbers, _log_joint(4, float(rng.uniform(2, 4)))))
    verdict = judge_real(
        answer,
        cases,
        lambda eps, *rest: _through_the_density(np.asarray(eps, dtype=float), *rest),
        BOUND_MISTAKES,
        right="Right. Not one value of W was needed: a climb only goes forward.",
        nudge="Not that bound. With one draw eps = 0 it is log_joint(mu) + 0.919 + log sigma whatever gamma; with log_joint = 0, mu = 0, "
        "sigma = 1, gamma = 1 and one draw eps = 1 it is 1.419 + 1 + log 2 = 3.112.",
        rtol=3e-4,
    )
    return Verdict(False, NO_JAX) if verdict.passed and not _climbs(answer, cases[0]) else verdict


def _climbs(answer: Any, case: tuple[Any, ...]) -> bool:
    eps, mu, sigma, gamma, log_joint = case
    with np.errstate(all="ignore"):
        return differentiable(lambda lam: answer(eps, lam[0], lam[1], lam[2], log_joint), jnp.array([mu, sigma, gamma]))


def decision_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 681])
    cases = []
    for q, sign in [(0.9, 1), (0.15, 1), (0.8, -1)]:
        cases.append((q, float(rng.uniform(0.5, 2)), float(rng.uniform(1.3, 2)), sign * float(rng.uniform(0.2, 0.35))))
    # on the straight part, with a mu that keeps the decision away from 0
    cases.append((0.05, float(rng.uniform(2.5, 4)), float(rng.uniform(1.3, 2)), float(rng.uniform(0.9, 1.1))))
    return judge_real(
        answer,
        cases,
        _by_cumulated_mass,
        DECISION_MISTAKES,
        right="Right, and without a draw: a map that rises takes quantiles to quantiles.",
        nudge="Not that decision. At q = 1/2 it is mu; with q = Phi(1) = 0.8413, mu = 1, sigma = 2 and gamma = 1 it is 1 + 2e = 6.44.",
        rtol=3e-4,
    )


def extra_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 682])
    cases = []
    for q, side in [(0.9, -1), (0.2, 1)]:
        theta = rng.exponential(2, 31)
        cases.append((theta, float(np.quantile(theta, q) + side * rng.uniform(0.8, 1.5)), q))
    return judge_real(
        answer,
        cases,
        _against_every_draw,
        EXTRA_MISTAKES,
        right="Right. Zero means that q has led to the decision that the posterior itself would have taken.",
        nudge="Not that share. With theta = [0, 2, 4, 8, 14] and q = 3/4 the least risk is 1.8, that of h = 4 is 2.4, and the "
        "share is 33.3.",
        rtol=2e-3,
    )


TASKS = (
    Task(
        "lambertw/skewed-vi/bound",
        "A skewed posterior: the bound",
        2,
        12,
        bound_stub,
        (
            "Draw eps, bend it, stretch it, move it: that is theta. What is the density of q there, said with eps and the two stretches?",
            "log q(theta) = log phi(eps) - log g'(eps) - log sigma; the bound is the mean of log_joint(theta) - log q(theta).",
            "Begin with `theta = mu + sigma * g_e(eps, gamma)`",
        ),
        BOUND_MISTAKES,
        bound_verdict,
    ),
    Task(
        "lambertw/skewed-vi/decision",
        "A skewed posterior: the decision",
        2,
        6,
        decision_stub,
        (
            "The map from eps to theta rises. Where does the q-quantile of eps go?",
            "h = mu + sigma g(Phi^-1(q)).",
            "Begin with `eps = norm.ppf(q)`",
        ),
        DECISION_MISTAKES,
        decision_verdict,
    ),
    Task(
        "lambertw/skewed-vi/extra",
        "A skewed posterior: what q has cost",
        2,
        8,
        extra_stub,
        (
            "Two risks under the same posterior: that of h and the least that there is. Which decision has the least?",
            "100 (r(h) / r(best) - 1), where r is the mean tilted loss over theta and best the q-quantile of theta.",
            "Begin with a function for the risk: `def risk(decision):`",
        ),
        EXTRA_MISTAKES,
        extra_verdict,
    ),
)
