"""Reparameterisation. Roads: the lower bound by quadrature over theta, its slopes by differences; log q from its distribution function."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Verdict, judge
from course_pkg.checks.gradients._tools import NO_JAX, balanced, differentiable, elbo, normal_mean, slope

Density = Callable[[Any], Any]
BASE_ENTROPY = 0.5 * np.log(2 * np.pi * np.e)


def _elbo_at_the_draws(log_joint: Density, eps: np.ndarray, mu: float, sigma: float) -> float:
    """Over balanced noise the bound itself. At one draw what stands in it, with q as the slope of its distribution function."""
    if len(eps) > 1:
        return elbo(log_joint, mu, sigma)
    theta = mu + sigma * float(eps[0])
    return float(log_joint(theta) - np.log(slope(lambda at: norm.cdf(at, mu, sigma), theta)))


def _elbo_with_entropy(log_joint: Density, eps: np.ndarray, mu: float, sigma: float) -> float:
    """Over balanced noise the bound itself. At one draw its log joint, and the entropy by quadrature."""
    if len(eps) > 1:
        return elbo(log_joint, mu, sigma)
    return float(log_joint(mu + sigma * float(eps[0])) - normal_mean(lambda theta: norm.logpdf(theta, mu, sigma), mu, sigma))


def _log_joint(center: float, spread: float, height: float, theta: Any) -> Any:
    return height - (theta - center) ** 2 / (2 * spread**2)


def _slope_of(log_joint: partial[Any], theta: Any) -> Any:
    center, spread, _ = log_joint.args
    return -(theta - center) / spread**2


def _gradient_by_differences(grad_log_joint: partial[Any], eps: np.ndarray, mu: float, sigma: float) -> tuple[float, float]:  # noqa: ARG001
    (log_joint,) = grad_log_joint.args
    return slope(lambda m: elbo(log_joint, m, sigma), mu), slope(lambda s: elbo(log_joint, mu, s), sigma)


def objective_stub(log_joint: Density, eps: np.ndarray, mu: float, sigma: float) -> Any:
    raise NotImplementedError


def gradient_stub(grad_log_joint: Density, eps: np.ndarray, mu: float, sigma: float) -> Any:
    raise NotImplementedError


def entropy_stub(log_joint: Density, eps: np.ndarray, mu: float, sigma: float) -> Any:
    raise NotImplementedError


def _objective(log_joint, eps, mu, sigma, *, log_q=1.0):
    theta = mu + sigma * eps
    return np.mean(log_joint(theta) - log_q * norm.logpdf(theta, mu, sigma))


def _closed_form(log_joint, eps, mu, sigma):
    return _objective(log_joint, eps, mu, sigma, log_q=0.0) + BASE_ENTROPY + np.log(sigma)


def _gradient(grad_log_joint, eps, mu, sigma, *, q_sign=1.0, extra=0.0, by_sigma=None):
    pull = grad_log_joint(mu + sigma * eps) + q_sign * eps / sigma
    return pull.mean(), (pull * (eps if by_sigma is None else by_sigma)).mean() + extra / sigma


OBJECTIVE_MISTAKES = {
    "log-det added": Mistake(
        lambda log_joint, eps, mu, sigma: _objective(log_joint, eps, mu, sigma) + np.log(sigma),
        "You added log sigma, the log-determinant of the map, to -log q. It is already inside -log q: the entropy is counted twice.",
    ),
    "log q of the noise": Mistake(
        lambda log_joint, eps, mu, sigma: np.mean(log_joint(mu + sigma * eps) - norm.logpdf(eps)),
        "You took the log density of eps where that of theta belongs. The two differ by log sigma, and sigma will shrink without it.",
    ),
    "q left out": Mistake(
        lambda log_joint, eps, mu, sigma: _objective(log_joint, eps, mu, sigma, log_q=0.0),
        "That is the average log joint density. The lower bound also has -log q, evaluated at the same draws.",
    ),
    "log q added": Mistake(
        lambda log_joint, eps, mu, sigma: _objective(log_joint, eps, mu, sigma, log_q=-1.0),
        "log q has the wrong sign: this bound goes up without end as sigma goes to zero.",
    ),
    "variance for scale": Mistake(
        lambda log_joint, eps, mu, sigma: np.mean(log_joint(mu + sigma**2 * eps) - norm.logpdf(mu + sigma**2 * eps, mu, sigma)),
        "Your draws are spread by the variance. It is the standard deviation that stretches standard noise.",
    ),
    "entropy in closed form": Mistake(
        _closed_form,
        "You put the entropy in closed form, which is Part 3. Here take -log q at the draws: at a single draw the two differ.",
    ),
    "not for JAX": Mistake(_objective, NO_JAX),
}
GRADIENT_MISTAKES = {
    "log-det added": Mistake(
        lambda grad_log_joint, eps, mu, sigma: _gradient(grad_log_joint, eps, mu, sigma, extra=1.0),
        "Your slope in sigma has 1/sigma too much: the log-determinant was added although -log q was differentiated along the path.",
    ),
    "log q left out": Mistake(
        lambda grad_log_joint, eps, mu, sigma: _gradient(grad_log_joint, eps, mu, sigma, q_sign=0.0),
        "You followed the model only. Along the path -log q changes, too; without it nothing keeps sigma from shrinking to 0.",
    ),
    "sign of grad log q": Mistake(
        lambda grad_log_joint, eps, mu, sigma: _gradient(grad_log_joint, eps, mu, sigma, q_sign=-1.0),
        "The slope of log q at theta is -eps / sigma, and it enters with a minus: look at the two signs again.",
    ),
    "product of means": Mistake(
        lambda grad_log_joint, eps, mu, sigma: (
            grad_log_joint(mu + sigma * eps).mean(),
            grad_log_joint(mu + sigma * eps).mean() * eps.mean() + 1 / sigma,
        ),
        "You averaged the slope and eps apart. They belong to the same draw: multiply first, then average.",
    ),
    "summed": Mistake(
        lambda grad_log_joint, eps, mu, sigma: (
            grad_log_joint(mu + sigma * eps).sum(),
            (grad_log_joint(mu + sigma * eps) * eps).sum() + 1 / sigma,
        ),
        "You added the draws up. An expectation is estimated by their mean.",
    ),
    "eps forgotten beside 1/sigma": Mistake(
        lambda grad_log_joint, eps, mu, sigma: (
            grad_log_joint(mu + sigma * eps).mean(),
            grad_log_joint(mu + sigma * eps).mean() + 1 / sigma,
        ),
        "Your 1/sigma is right. But moving sigma by a little moves theta by eps times as much: the slope of log p needs that factor.",
    ),
    "by log sigma": Mistake(
        lambda grad_log_joint, eps, mu, sigma: (
            grad_log_joint(mu + sigma * eps).mean(),
            (grad_log_joint(mu + sigma * eps) * eps).mean() * sigma + 1,
        ),
        "Your second slope is the one by log sigma: sigma times too large.",
    ),
    "eps forgotten": Mistake(
        lambda grad_log_joint, eps, mu, sigma: _gradient(grad_log_joint, eps, mu, sigma, by_sigma=1.0),
        "Both of your parts are the same. Moving sigma by a little moves theta by eps times as much.",
    ),
}
ENTROPY_MISTAKES = {
    "entropy twice": Mistake(
        lambda log_joint, eps, mu, sigma: _objective(log_joint, eps, mu, sigma) + BASE_ENTROPY + np.log(sigma),
        "You kept -log q and added the entropy, which is the mean of -log q. One or the other: the entropy is counted twice.",
    ),
    "entropy subtracted": Mistake(
        lambda log_joint, eps, mu, sigma: _objective(log_joint, eps, mu, sigma, log_q=0.0) - BASE_ENTROPY - np.log(sigma),
        "You subtracted the entropy. A wide q has a large entropy, and the bound rewards width.",
    ),
    "unchanged": Mistake(
        _objective,
        "That is Part 1 again: -log q at the draws. Put its mean, which is known, in its place: at a single draw the two differ.",
    ),
    "log-det added": Mistake(
        lambda *case: _closed_form(*case) + np.log(case[3]),
        "You added log sigma, the log-determinant of the map, to the entropy. It is already inside H(q): it is counted twice.",
    ),
    "constant left out": Mistake(
        lambda log_joint, eps, mu, sigma: _objective(log_joint, eps, mu, sigma, log_q=0.0) + np.log(sigma),
        "The gradient is right and the value is not: log sigma is the entropy up to a constant, that of the standard normal.",
    ),
}


def _cases(seed: int, stream: int, single: tuple[float, ...] = ()) -> list[tuple[Any, ...]]:
    """Balanced noise, and each of the ``single`` draws on its own."""
    rng = np.random.default_rng([seed, stream])
    cases = []
    for sigma in (0.3, 0.8, 2.5):
        log_joint = partial(_log_joint, float(rng.normal(0, 2)), float(rng.uniform(0.7, 1.8)), float(rng.normal(-3, 1)))
        cases.append((log_joint, balanced(rng, 40), float(rng.normal()), sigma))
    log_joint, _, mu, sigma = cases[1]
    return cases + [(log_joint, np.array([eps]), mu, sigma) for eps in single]


def objective_verdict(answer: Any, seed: int = 0) -> Verdict:
    cases = _cases(seed, 410, single=(0.7,))
    verdict = judge(
        answer,
        cases,
        _elbo_at_the_draws,
        OBJECTIVE_MISTAKES,
        right="Right. Its noise does not depend on mu and sigma, so it may be differentiated draw by draw.",
        nudge="That is not the lower bound. If the log joint is the log density of q itself, it must be 0 for any noise.",
    )
    log_joint, eps, mu, sigma = cases[0]
    if verdict.passed and not (
        differentiable(lambda m: answer(log_joint, eps, m, sigma), mu) and differentiable(lambda s: answer(log_joint, eps, mu, s), sigma)
    ):
        return Verdict(False, NO_JAX)
    return verdict


def gradient_verdict(answer: Any, seed: int = 0) -> Verdict:
    cases = [(partial(_slope_of, log_joint), *rest) for log_joint, *rest in _cases(seed, 411)]
    return judge(
        answer,
        cases,
        _gradient_by_differences,
        GRADIENT_MISTAKES,
        right="Right. Whether you wrote eps / sigma in both slopes or 1 / sigma in one makes no difference on balanced noise. "
        "On other noise it does: that is the exercise on the path derivative.",
        nudge="Not those slopes. If the log joint is -theta^2 / 2, they are -mu and 1 / sigma - sigma.",
        rtol=1e-3,
    )


def entropy_verdict(answer: Any, seed: int = 0) -> Verdict:
    return judge(
        answer,
        _cases(seed, 412, single=(0.7,)),
        _elbo_with_entropy,
        ENTROPY_MISTAKES,
        right="Right. In -log q at the draws only log sigma depends on the parameters, so the slopes are the same draw by draw. Only the "
        "noise of the value differs, and where q is the posterior it is Part 1 that has none.",
        nudge="That is not the lower bound. If the log joint is 0 everywhere, what is left is the entropy: 1.419 at sigma = 1, 2.112 at 2.",
    )


TASKS = (
    Task(
        "gradients/reparameterisation/objective",
        "Reparameterisation: the objective",
        2,
        8,
        objective_stub,
        (
            "Turn the noise into draws from q, evaluate what stands inside the expectation there, and average.",
            "theta = mu + sigma eps; ELBO = mean of log p(theta, D) - log q(theta), and nothing else.",
            "Begin with `theta = mu + sigma * eps`",
        ),
        OBJECTIVE_MISTAKES,
        objective_verdict,
    ),
    Task(
        "gradients/reparameterisation/gradient",
        "Reparameterisation: the gradient by hand",
        2,
        10,
        gradient_stub,
        (
            "Along the path theta moves with mu and sigma: slope in theta, times how fast theta moves.",
            "(slope of log p - slope of log q) * d theta / d lambda, with d theta / d mu = 1 and d theta / d sigma = eps. "
            "(Log q also changes through its own parameters: that adds minus the score, whose mean is zero.)",
            "Begin with `pull = grad_log_joint(mu + sigma * eps) + eps / sigma`",
        ),
        GRADIENT_MISTAKES,
        gradient_verdict,
    ),
    Task(
        "gradients/reparameterisation/entropy",
        "Reparameterisation: the entropy in closed form",
        2,
        6,
        entropy_stub,
        (
            "The mean of -log q is the entropy of q. For a normal it is known and needs no draws.",
            "H(N(mu, sigma^2)) = log(2 pi e) / 2 + log sigma, in place of the average of -log q.",
            "Begin with `entropy = 0.5 * jnp.log(2 * jnp.pi * jnp.e) + jnp.log(sigma)`",
        ),
        ENTROPY_MISTAKES,
        entropy_verdict,
    ),
)
