"""Double reparameterisation. Roads: differences of the estimate with the same noise; the difference of a cube, by algebra."""

from functools import partial

import jax
import numpy as np

from course_pkg.checks.record import Record
from solutions.lcvi._tools import slope


def term(at, eps, delta, s, M):
    """The estimate at (mu, sigma, h), outcome by outcome."""
    mu, sigma, h = at
    total = 0.0
    for e, noise in zip(eps, delta, strict=True):
        total += np.log(np.mean([np.exp(-((np.exp(mu + sigma * e + s * d) - h) ** 2) / M) for d in noise]))
    return total / len(eps)


def by_differences(mu, sigma, h, *rest):
    def along(unit):
        return slope(lambda move: term(np.array([mu, sigma, h]) + move * unit, *rest), 0.0)

    return tuple(along(unit) for unit in np.eye(3))


def by_hand(
    mu,
    sigma,
    h,
    eps,
    delta,
    s,
    M,
    outcome=np.exp,
    inner=lambda y: y,
    share=lambda u: u / u.sum(axis=1, keepdims=True),
    by_sigma=lambda eps, delta: eps,
):
    """The chain rule written out, for slips: JAX would take seconds over them."""
    y = outcome(mu + sigma * eps[:, None] + s * delta)
    by_h = share(np.exp(-((y - h) ** 2) / M)) * 2 * (y - h) / M
    along = -by_h * inner(y)
    return along.sum(axis=1).mean(), (along * by_sigma(eps[:, None], delta)).sum(axis=1).mean(), by_h.sum(axis=1).mean()


def slope_in_log_sigma(mu, sigma, *rest):
    by_mu, by_sigma, by_h = by_hand(mu, sigma, *rest)
    return by_mu, sigma * by_sigma, by_h


def draws(rng):
    for thetas, outcomes in [(4, 3), (2, 6)]:
        mu, sigma, h, s, M = rng.uniform([-0.3, 0.3, 0.8, 0.4, 1.0], [0.3, 0.6, 1.6, 0.7, 3.0]).tolist()
        yield mu, sigma, h, rng.normal(size=thetas), rng.normal(size=(thetas, outcomes)), s, M


class Cubic:
    """An estimate with noise in its height and in its slope."""

    def __init__(self, bend, tilt):
        self.bend, self.tilt = bend, tilt

    def __call__(self, key, mu):
        z = float(jax.random.normal(key))
        return self.bend * mu**3 + (self.tilt + z) * mu + 20 * z


def cubics(rng):
    for step in (0.5, 0.2):
        bend, tilt, mu = rng.uniform(1.0, 2.0, 3).tolist()
        yield Cubic(bend, tilt), jax.random.key(int(rng.integers(1 << 30))), mu, step


by_algebra = lambda estimate, key, mu, step: (estimate.bend * (3 * mu**2 + step**2) + estimate.tilt + float(jax.random.normal(key)), 0)


def keys_and_slope(answer, estimate, key, mu, step):
    """The slope and 0; if other keys were asked for, no slope, and 1 if each was asked for on both sides, or 2."""
    asked = []

    def noted(key, mu):
        asked.append(tuple(np.ravel(jax.random.key_data(key)).tolist()))
        return estimate(key, mu)

    got = answer(noted, key, mu, step)
    if set(asked) <= {tuple(np.ravel(jax.random.key_data(key)).tolist())}:
        return got, 0
    return 0.0, 1 if all(asked.count(one) > 1 for one in asked) else 2


GRADIENT = Record(
    cases=draws,
    reference=by_differences,
    right="Right. With the noise of both layers held fixed the estimate is an ordinary function of mu, sigma and h.",
    nudge="Not that gradient. With mu = -1, sigma = 1, h = 0, eps = [2], delta = [[-1]], s = 1 and M = 2 it is (-1, -2, 1).",
    hints=(
        "Write the estimate as a function of mu, sigma and h with all noise held fixed; then let JAX, or the chain rule, do the rest.",
        "theta_s = mu + sigma eps_s, y_st = exp(theta_s + s delta_st); the estimate is mean_s log mean_t exp(-(y_st - h)^2 / M).",
        "Begin with `def term(mu, sigma, h):` and take jax.grad of it in all three arguments.",
    ),
    mistakes={
        "You held the outcomes fixed: they move with theta, which moves with mu and sigma.": partial(by_hand, inner=lambda y: 0),
        "You let y move as much as theta does. It is the exponential of something that does.": partial(by_hand, inner=lambda y: 1),
        "You averaged slopes of log u. An outcome counts by its share of the utility.": partial(
            by_hand, share=lambda u: 0 * u + 1 / u.shape[1]
        ),
        "Your logarithm is outside both means. Each theta has a logarithm of its own.": partial(
            by_hand, share=lambda u: len(u) * u / u.sum()
        ),
        "That is the gradient of the mean utility. The logarithm divides by it.": partial(by_hand, share=lambda u: u / u.shape[1]),
        "Your slope in sigma equals that in mu. Sigma moves theta by eps times as much.": partial(by_hand, by_sigma=lambda eps, delta: 1),
        "Your second slope is the one in log sigma: sigma times as large.": slope_in_log_sigma,
    },
    parts=("the slope in mu", "the slope in sigma", "the slope in h"),
    rtol=2e-4,
)
DIFFERENCE = Record(
    cases=cubics,
    reference=by_algebra,
    view=keys_and_slope,
    right="Right. What both estimates share drops out, and only the slope's own noise is left.",
    nudge="Not that slope. If the estimate is mu^3 + noise, with noise that depends on the key only, it is 12.25 for every key at "
    "mu = 2 with step = 0.5.",
    hints=(
        "Evaluate on either side. What must be the same in both evaluations so that only mu makes the difference?",
        "(estimate at mu + step - estimate at mu - step) / (2 step), both with the same noise.",
        "Begin with `above = estimate(key, mu + step)`",
    ),
    mistakes={
        "Your two estimates come from different noise: their difference is mostly that of the noise, divided by a small number. Give both the same key.": (
            "above = -> key, other = jax.random.split(key)\nabove = ;; below = estimate(key -> below = estimate(other"
        ),
        "Your two estimates have the same noise, but not that of `key`. Hand `key` itself to `estimate`, both times.": "above = -> key = jax.random.split(key)[0]\nabove =",
        "You looked to one side only. The error of your quotient is as large as the step; from both sides, as its square.": "mu - step -> mu ;; 2 * step -> step",
        "Between mu - step and mu + step lie two steps.": "2 * step -> step",
        "That is a difference of values. Divide by how far apart they were taken.": "/ (2 * step) -> ",
        "You went half a step to either side and divided by two whole ones.": "+ step) -> + step / 2) ;; - step) -> - step / 2)",
    },
)
TASKS = {"gradient": GRADIENT, "difference": DIFFERENCE}
