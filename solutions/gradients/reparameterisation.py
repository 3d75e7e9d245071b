"""Reparameterisation. Roads: the lower bound by quadrature over theta, its slopes by differences; log q from its distribution function."""

from functools import partial

import numpy as np
from scipy.stats import norm

from course_pkg.checks.record import Record
from solutions.gradients._tools import BY_JAX, NO_JAX, balanced, differentiable, elbo, normal_mean, slope


def elbo_at_the_draws(log_joint, eps, mu, sigma):
    """Over balanced noise the bound itself. At one draw what stands in it, with q as the slope of its distribution function."""
    if len(eps) > 1:
        return elbo(log_joint, mu, sigma)
    theta = mu + sigma * float(eps[0])
    return log_joint(theta) - np.log(slope(lambda at: norm.cdf(at, mu, sigma), theta))


def elbo_with_entropy(log_joint, eps, mu, sigma):
    """Over balanced noise the bound itself. At one draw its log joint, and the entropy by quadrature."""
    if len(eps) > 1:
        return elbo(log_joint, mu, sigma)
    return log_joint(mu + sigma * float(eps[0])) - normal_mean(lambda theta: norm.logpdf(theta, mu, sigma), mu, sigma)


def gradient_by_differences(grad_log_joint, _, mu, sigma):
    (log_joint,) = grad_log_joint.args
    return slope(lambda m: elbo(log_joint, m, sigma), mu), slope(lambda s: elbo(log_joint, mu, s), sigma)


parabola = lambda center, spread, height, theta: height - (theta - center) ** 2 / (2 * spread**2)


def slope_of(log_joint, theta):
    center, spread, _ = log_joint.args
    return -(theta - center) / spread**2


def balanced_cases(rng):
    for sigma in (0.3, 0.8, 2.5):
        log_joint = partial(parabola, rng.normal(0, 2), rng.uniform(0.7, 1.8), rng.normal(-3, 1))
        yield log_joint, balanced(rng, 40), rng.normal(), sigma


def and_a_single_draw(rng):
    cases = list(balanced_cases(rng))
    log_joint, _, mu, sigma = cases[1]
    return [*cases, (log_joint, np.array([0.7]), mu, sigma)]


def value_or_by_jax(answer, log_joint, eps, mu, sigma, *by_jax):
    if by_jax:
        return differentiable(lambda m: answer(log_joint, eps, m, sigma), mu) and differentiable(
            lambda s: answer(log_joint, eps, mu, s), sigma
        )
    return answer(log_joint, eps, mu, sigma)


OBJECTIVE = Record(
    cases=and_a_single_draw,
    reference=lambda *case: case[-1] == BY_JAX or elbo_at_the_draws(*case),
    right="Right. Its noise does not depend on mu and sigma, so it may be differentiated draw by draw.",
    nudge="That is not the lower bound. If the log joint is the log density of q itself, it must be 0 for any noise.",
    hints=(
        "Turn the noise into draws from q, evaluate what stands inside the expectation there, and average.",
        "theta = mu + sigma eps; ELBO = mean of log p(theta, D) - log q(theta), and nothing else.",
        "Begin with `theta = mu + sigma * eps`",
    ),
    mistakes={
        "You added log sigma, the log-determinant of the map, to -log q. It is already inside -log q: the entropy is counted twice.": "mu, sigma)) -> mu, sigma)) + jnp.log(sigma)",
        "You took the log density of eps where that of theta belongs. The two differ by log sigma, and sigma will shrink without it.": "logpdf(theta, mu, sigma) -> logpdf(eps)",
        "That is the average log joint density. The lower bound also has -log q, evaluated at the same draws.": "- norm.logpdf(theta, mu, sigma) -> ",
        "Your draws are spread by the variance. It is the standard deviation that stretches standard noise.": "sigma * eps -> sigma**2 * eps",
        "You put the entropy in closed form, which is Part 3. Here take -log q at the draws: at a single draw the two differ.": "- norm.logpdf(theta, mu, sigma) -> + 0.5 * jnp.log(2 * jnp.pi * jnp.e) + jnp.log(sigma)",
    },
    view=value_or_by_jax,
    later={
        NO_JAX: (
            lambda rng: [(*next(balanced_cases(rng)), BY_JAX)],
            lambda log_joint, eps, mu, sigma: np.mean(log_joint(mu + sigma * eps) - norm.logpdf(mu + sigma * eps, mu, sigma)),
        ),
    },
)
GRADIENT = Record(
    cases=lambda rng: [(partial(slope_of, log_joint), *rest) for log_joint, *rest in balanced_cases(rng)],
    reference=gradient_by_differences,
    right="Right. Whether you wrote eps / sigma in both slopes or 1 / sigma in one makes no difference on balanced noise. "
    "On other noise it does: that is the exercise on the path derivative.",
    nudge="Not those slopes. If the log joint is -theta^2 / 2, they are -mu and 1 / sigma - sigma.",
    hints=(
        "Along the path theta moves with mu and sigma: slope in theta, times how fast theta moves.",
        "(slope of log p - slope of log q) * d theta / d lambda, with d theta / d mu = 1 and d theta / d sigma = eps. "
        "(Log q also changes through its own parameters: that adds minus the score, whose mean is zero.)",
        "Begin with `pull = grad_log_joint(mu + sigma * eps) + eps / sigma`",
    ),
    mistakes={
        "Your slope in sigma has 1/sigma too much: the log-determinant was added although -log q was differentiated along the path.": "(pull * eps).mean() -> (pull * eps).mean() + 1 / sigma",
        "You followed the model only. Along the path -log q changes, too; without it nothing keeps sigma from shrinking to 0.": "+ eps / sigma -> ",
        "The slope of log q at theta is -eps / sigma, and it enters with a minus: look at the two signs again.": "+ eps / sigma -> - eps / sigma",
        "Your 1/sigma is right. But moving sigma by a little moves theta by eps times as much: the slope of log p needs that factor.": "+ eps / sigma -> ;; (pull * eps).mean() -> pull.mean() + 1 / sigma",
        "Your second slope is the one by log sigma: sigma times too large.": "(pull * eps).mean() -> (pull * eps).mean() * sigma",
    },
    parts=("the slope in mu", "the slope in sigma"),
    rtol=1e-3,
)
ENTROPY = Record(
    cases=and_a_single_draw,
    reference=elbo_with_entropy,
    right="Right. In -log q at the draws only log sigma depends on the parameters, so the slopes are the same draw by draw. Only the "
    "noise of the value differs, and where q is the posterior it is Part 1 that has none.",
    nudge="That is not the lower bound. If the log joint is 0 everywhere, what is left is the entropy: 1.419 at sigma = 1, 2.112 at 2.",
    hints=(
        "The mean of -log q is the entropy of q. For a normal it is known and needs no draws.",
        "H(N(mu, sigma^2)) = log(2 pi e) / 2 + log sigma, in place of the average of -log q.",
        "Begin with `entropy = 0.5 * jnp.log(2 * jnp.pi * jnp.e) + jnp.log(sigma)`",
    ),
    mistakes={
        "You kept -log q and added the entropy, which is the mean of -log q. One or the other: the entropy is counted twice.": "mu + sigma * eps)) -> mu + sigma * eps) - norm.logpdf(mu + sigma * eps, mu, sigma))",
        "That is Part 1 again: -log q at the draws. Put its mean, which is known, in its place: at a single draw the two differ.": "mu + sigma * eps)) + entropy -> mu + sigma * eps) - norm.logpdf(mu + sigma * eps, mu, sigma))",
        "You added log sigma, the log-determinant of the map, to the entropy. It is already inside H(q): it is counted twice.": "jnp.log(sigma) -> 2 * jnp.log(sigma)",
        "The gradient is right and the value is not: log sigma is the entropy up to a constant, that of the standard normal.": "0.5 * jnp.log(2 * jnp.pi * jnp.e) + -> ",
        "That is the average log joint density alone. Without the entropy nothing keeps sigma from shrinking to 0.": "+ entropy -> ",
    },
)
TASKS = {"objective": OBJECTIVE, "gradient": GRADIENT, "entropy": ENTROPY}
