"""A skewed posterior. Roads: the density of q as the slope of its distribution function; mass added up; every draw tried as a decision."""

import jax.numpy as jnp
import numpy as np

from course_pkg.checks.record import Record
from solutions.gradients._tools import BY_JAX, NO_JAX, differentiable
from solutions.lambertw._tools import density, safe, safe_origin

# A log variance theta: n normal observations with mean 0, their squares summing to ``total``, and a flat prior
log_joint_of = lambda n, total: lambda theta: -0.5 * n * theta - 0.5 * total * jnp.exp(-theta)


def through_the_density(eps, mu, sigma, gamma, log_joint, *by_jax):
    if by_jax:
        return True
    x = safe(np.asarray(eps, dtype=float), gamma)
    log_q = np.log(density(x, gamma, safe_origin) / sigma)
    return np.mean(np.asarray(log_joint(jnp.asarray(mu + sigma * x)), dtype=float) - log_q)


def value_or_by_jax(answer, eps, mu, sigma, gamma, log_joint, *by_jax):
    if by_jax:
        return differentiable(lambda lam: answer(eps, *lam, log_joint), jnp.array([mu, sigma, gamma]))
    return answer(eps, mu, sigma, gamma, log_joint)


def by_cumulated_mass(q, mu, sigma, gamma):
    """Where the mass of eps, added up from the left, comes to q; and where that lies on the scale of theta."""
    eps = np.linspace(-8, 8, 40_001)
    mass = np.cumsum(np.exp(-(eps**2) / 2))
    return np.interp(q, (mass - 0.5 * np.exp(-(eps**2) / 2)) / mass[-1], mu + sigma * safe(eps, gamma))


def against_every_draw(theta, h, q):
    def cost(h):
        return np.mean([q * (t - h) if t > h else (1 - q) * (h - t) for t in theta])

    return 100 * (cost(h) / min(cost(other) for other in theta) - 1)


def draws_of_the_noise(rng):
    for sign in (1, -1):
        gamma = sign * rng.uniform(0.37, 0.45)
        eps = np.concatenate([rng.uniform(-1.4, 1.4, 5), [-sign * 2.8]])  # at the last, gamma * eps < -1: the plain map has turned round
        yield jnp.asarray(eps), rng.uniform(0.4, 1), rng.uniform(1.3, 1.7), gamma, log_joint_of(4, rng.uniform(2, 4))


def levels(rng):
    for q, sign in [(0.9, 1), (0.15, 1), (0.8, -1)]:
        yield q, rng.uniform(0.5, 2), rng.uniform(1.3, 2), sign * rng.uniform(0.2, 0.35)
    # on the straight part, with a mu that keeps the decision away from 0
    yield 0.05, rng.uniform(2.5, 4), rng.uniform(1.3, 2), rng.uniform(0.9, 1.1)


def decisions(rng):
    for q, side in [(0.9, -1), (0.2, 1)]:
        theta = rng.exponential(2, 31)
        yield theta, np.quantile(theta, q) + side * rng.uniform(0.8, 1.5), q


BOUND = Record(
    cases=draws_of_the_noise,
    reference=through_the_density,
    right="Right. Not one value of W was needed: a climb only goes forward.",
    nudge="Not that bound. With one draw eps = 0 it is log_joint(mu) + 0.919 + log sigma whatever gamma; with log_joint = 0, mu = 0, "
    "sigma = 1, gamma = 1 and one draw eps = 1 it is 1.419 + 1 + log 2 = 3.112.",
    hints=(
        "Draw eps, bend it, stretch it, move it: that is theta. What is the density of q there, said with eps and the two stretches?",
        "log q(theta) = log phi(eps) - log g'(eps) - log sigma; the bound is the mean of log_joint(theta) - log q(theta).",
        "Begin with `theta = mu + sigma * g_e(eps, gamma)`",
    ),
    mistakes={
        "Your log q does not know that bending stretches: subtract log_slope. Without it the bound rewards skew that it should not.": "- log_slope(eps, gamma) -> ",
        "Both stretches have the wrong sign in log q: what is stretched becomes thinner.": "- log_slope(eps, gamma) - jnp -> + log_slope(eps, gamma) + jnp",
        "log sigma is missing from log q: a stretch by sigma makes q thinner.": "- jnp.log(sigma) -> ",
        "That is the density of the noise, not of theta. On its way from eps to theta the map stretches twice.": "- log_slope(eps, gamma) - jnp.log(sigma) -> ",
        "You bent the draws and kept the density of a normal q. The draws and the density must belong to the same q.": (
            "norm.logpdf(eps) - log_slope(eps, gamma) - jnp.log(sigma) -> norm.logpdf(theta, mu, sigma)"
        ),
        "Your log q is right, and your draws are not bent. theta = mu + sigma g(eps).": "g_e(eps, gamma) -> eps",
        "That is the mean log joint density. Subtract log q, or a point will be the best q.": "- log_q -> ",
    },
    later={
        NO_JAX: (
            lambda rng: [(*next(draws_of_the_noise(rng)), BY_JAX)],
            "return jnp.mean(log_joint(theta) - log_q) -> return float(jnp.mean(log_joint(theta) - log_q))",
        ),
    },
    view=value_or_by_jax,
    rtol=3e-4,
)
DECISION = Record(
    cases=levels,
    reference=by_cumulated_mass,
    right="Right, and without a draw: a map that rises takes quantiles to quantiles.",
    nudge="Not that decision. With q = 0.8413, which is Phi(1), mu = 1, sigma = 2 and gamma = 1 it is 1 + 2e = 6.44; at the median it is mu.",
    hints=(
        "The map from eps to theta rises. Where does the q-quantile of eps go?",
        "h = mu + sigma g(Phi^-1(q)).",
        "Begin with `eps = norm.ppf(q)`",
    ),
    mistakes={
        "That is the quantile of a normal with this mu and sigma. Bend the quantile of eps before you stretch and move it.": "g_e(eps, gamma) -> eps",
        "That is the quantile at 1 - q. A tilt above 1/2 makes it dear to lie too low, so the decision is high.": "ppf(q) -> ppf(1 - q)",
        "You stretched and moved before bending. Bend the quantile of eps, then stretch, then move.": "mu + sigma * g_e(eps, gamma) -> g_e(mu + sigma * eps, gamma)",
        "You bent the level q. Which eps lies at this level?": "g_e(eps -> g_e(q",
    },
    rtol=3e-4,
)
EXTRA = Record(
    cases=decisions,
    reference=against_every_draw,
    right="Right. Zero means that q has led to the decision that the posterior itself would have taken.",
    nudge="Not that share. With theta = [0, 2, 4, 8, 14] and q = 3/4 the least risk is 1.8, that of h = 4 is 2.4, and the share is 33.3.",
    hints=(
        "Two risks under the same posterior: that of h and the least that there is. Which decision has the least?",
        "100 (r(h) / r(best) - 1), where r is the mean tilted loss over theta and best the q-quantile of theta.",
        "Begin with a function for the risk: `def risk(decision):`",
    ),
    mistakes={
        "That is the difference in the unit of the loss. Per cent of the least risk were asked for.": "100 * (risk(h) / risk(np.quantile(theta, q)) - 1) -> risk(h) - risk(np.quantile(theta, q))",
        "You divided by the risk of h. By how much does it exceed the least risk, in per cent of the least?": "(risk(h) / risk(np.quantile(theta, q)) - 1) -> (1 - risk(np.quantile(theta, q)) / risk(h))",
        "You compared with the posterior mean. Under a tilted loss another decision has the least risk.": "np.quantile(theta, q) -> theta.mean()",
        "Your loss is turned round: q is the price of a decision that lies too low, 1 - q of one that lies too high.": "q * gap, (q - 1) * gap -> (1 - q) * gap, -q * gap",
    },
    rtol=2e-3,
)
TASKS = {"bound": BOUND, "decision": DECISION, "extra": EXTRA}
