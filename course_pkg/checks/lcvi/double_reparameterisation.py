"""Double reparameterisation. Roads: differences of the estimate with the same noise; slopes of a smooth function that are known."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from course_pkg.checks._judge import Mistake, Task, Verdict, judge
from course_pkg.checks.lcvi._tools import known, slope

SAME = (
    "Your two estimates come from different noise: their difference is mostly that of the noise, divided by a small number. "
    "Give both the same key."
)

OTHER = "Your two estimates have the same noise, but not that of `key`. Hand `key` itself to `estimate`, both times."


def _term(mu: float, sigma: float, h: float, eps: np.ndarray, delta: np.ndarray, s: float, M: float) -> float:
    total = 0.0
    for e, noise in zip(eps, delta, strict=True):
        y = [np.exp(mu + sigma * e + s * d) for d in noise]
        total += np.log(sum(np.exp(-((value - h) ** 2) / M) for value in y) / len(y))
    return total / len(eps)


def _gradient_by_differences(mu: float, sigma: float, h: float, *rest: Any) -> tuple[float, float, float]:
    return (
        slope(lambda at: _term(at, sigma, h, *rest), mu),
        slope(lambda at: _term(mu, at, h, *rest), sigma),
        slope(lambda at: _term(mu, sigma, at, *rest), h),
    )


def gradient_stub(mu: float, sigma: float, h: float, eps: np.ndarray, delta: np.ndarray, s: float, M: float) -> Any:
    raise NotImplementedError


def difference_stub(estimate: Callable[..., Any], key: Any, mu: float, step: float) -> Any:
    raise NotImplementedError


def _gradient(mu, sigma, h, eps, delta, s, M, *, by_y=True, weights=None, by_sigma=None, normal=False):
    y = mu + sigma * eps[:, None] + s * delta
    y = y if normal else np.exp(y)
    u = np.exp(-((y - h) ** 2) / M)
    share = u / u.sum(axis=1, keepdims=True) if weights is None else weights(u)
    along = share * 2 * (h - y) / M * (y if by_y and not normal else 1)
    on = eps[:, None] if by_sigma is None else by_sigma(eps[:, None], delta)
    return along.sum(axis=1).mean(), (along * on).sum(axis=1).mean(), (share * 2 * (y - h) / M).sum(axis=1).mean()


GRADIENT_MISTAKES = {
    "no gradient through y": Mistake(
        lambda *case: (0.0, 0.0, _gradient(*case)[2]),
        "The slope in h is right. You held the outcomes fixed: they move with theta, which moves with mu and sigma.",
    ),
    "outcome moves as theta": Mistake(
        lambda *case: _gradient(*case, by_y=False),
        "The slope in h is right. You let y move as much as theta does; it is the exponential of something that does.",
    ),
    "gradient of the mean of logs": Mistake(
        lambda *case: _gradient(*case, weights=lambda u: np.full(u.shape, 1 / u.shape[1])),
        "You averaged the slopes of log u. The slope of a log of a mean weighs each outcome by its share of the utility.",
    ),
    "log outside both": Mistake(
        lambda *case: _gradient(*case, weights=lambda u: u / u.sum() * len(u)),
        "Your logarithm is outside both means. Each theta has a logarithm of its own.",
    ),
    "no division": Mistake(
        lambda *case: _gradient(*case, weights=lambda u: u / u.shape[1]),
        "That is the gradient of the mean utility. The logarithm divides by it, theta by theta.",
    ),
    "eps forgotten": Mistake(
        lambda *case: _gradient(*case, by_sigma=lambda eps, delta: 1.0),
        "Your slope in sigma equals that in mu. Moving sigma by a little moves theta by eps times as much.",
    ),
    "the other noise": Mistake(
        lambda *case: _gradient(*case, by_sigma=lambda eps, delta: delta),
        "Your slope in sigma has delta in the place of eps. sigma is the width of q; delta belongs to the outcome.",
    ),
    "summed": Mistake(
        lambda *case: tuple(len(case[3]) * part for part in _gradient(*case)),
        "You added the draws of theta up. An expectation over q is estimated by their mean.",
    ),
    "h downwards": Mistake(
        lambda *case: (*_gradient(*case)[:2], -_gradient(*case)[2]),
        "The slope in h has the wrong sign: the utility rises as h comes nearer to the outcome.",
    ),
    "all downwards": Mistake(
        lambda *case: tuple(-part for part in _gradient(*case)),
        "All signs are turned: that is the gradient of minus the term.",
    ),
    "slope in log sigma": Mistake(
        lambda *case: (_gradient(*case)[0], case[1] * _gradient(*case)[1], _gradient(*case)[2]),
        "Your second slope is the one in log sigma: sigma times too large.",
    ),
}
GRADIENT_MISTAKES |= {
    "changed places": Mistake(
        lambda *case: tuple(_gradient(*case)[place] for place in (1, 0, 2)),
        "The slopes in mu and sigma have changed places.",
    ),
    "exponential forgotten": Mistake(
        lambda *case: _gradient(*case, normal=True),
        "Your outcome is normal. Here it is log-normal: y = exp(theta + s delta).",
    ),
}
DIFFERENCE_MISTAKES = {
    "noise drawn again": Mistake(
        lambda estimate, key, mu, step: (
            (estimate(jax.random.split(key)[0], mu + step) - estimate(jax.random.split(key)[1], mu - step)) / (2 * step)
        ),
        SAME,
    ),
    "another key for both": Mistake(
        lambda estimate, key, mu, step: (
            (estimate(jax.random.split(key)[0], mu + step) - estimate(jax.random.split(key)[0], mu - step)) / (2 * step)
        ),
        OTHER,
    ),
    "one side": Mistake(
        lambda estimate, key, mu, step: (estimate(key, mu + step) - estimate(key, mu)) / step,
        "You looked to one side only. The error of your quotient is as large as the step; from both sides, as its square.",
    ),
    "half the way": Mistake(
        lambda estimate, key, mu, step: (estimate(key, mu + step) - estimate(key, mu - step)) / step,
        "Between mu - step and mu + step lie two steps.",
    ),
    "not divided": Mistake(
        lambda estimate, key, mu, step: estimate(key, mu + step) - estimate(key, mu - step),
        "That is a difference of values. Divide by how far apart they were taken.",
    ),
    "turned round": Mistake(
        lambda estimate, key, mu, step: (estimate(key, mu - step) - estimate(key, mu + step)) / (2 * step),
        "The sign is turned: where the estimate rises, a slope is positive.",
    ),
    "short steps": Mistake(
        lambda estimate, key, mu, step: (estimate(key, mu + step / 2) - estimate(key, mu - step / 2)) / (2 * step),
        "You went half a step to either side and divided by two whole ones.",
    ),
    "half steps": Mistake(
        lambda estimate, key, mu, step: (estimate(key, mu + step / 2) - estimate(key, mu - step / 2)) / step,
        "Between your two places lies one step; the text has them `step` to either side, two steps apart.",
    ),
    "double steps": Mistake(
        lambda estimate, key, mu, step: (estimate(key, mu + 2 * step) - estimate(key, mu - 2 * step)) / (4 * step),
        "Between your two places lie four steps; the text has them `step` to either side, two steps apart.",
    ),
    "no difference": Mistake(
        lambda estimate, key, mu, step: float(jax.grad(lambda at: estimate(key, at))(mu)),
        "That is the slope itself, by JAX or with a tiny step of your own. Here a difference was asked for, with the given `step`.",
    ),
}


def gradient_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 750])
    cases = []
    for thetas, draws in [(4, 3), (2, 6)]:
        mu, sigma, h, s, M = map(float, rng.uniform([-0.3, 0.3, 0.8, 0.4, 1.0], [0.3, 0.6, 1.6, 0.7, 3.0]))
        cases.append((mu, sigma, h, rng.normal(size=thetas), rng.normal(size=(thetas, draws)), s, M))
    return judge(
        answer,
        cases,
        _gradient_by_differences,
        GRADIENT_MISTAKES,
        right="Right. With the noise of both layers held fixed the estimate is an ordinary function of mu, sigma and h.",
        nudge="Not that gradient. With mu = -1, sigma = 1, h = 0, eps = [2], delta = [[-1]], s = 1 and M = 2 it is (-1, -2, 1).",
        parts=("the slope in mu", "the slope in sigma", "the slope in h"),
        rtol=2e-4,
    )


def difference_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 751])
    cases, slopes = [], []
    for step in (0.5, 0.2):
        bend, tilt, mu = map(float, rng.uniform(1.0, 2.0, 3))
        noisy, key = _Noisy(bend, tilt), jax.random.key(int(rng.integers(1 << 30)))
        cases.append((noisy, key, mu, step))
        slopes.append(bend * (3 * mu**2 + step**2) + tilt + noisy.noise(key))  # the difference of a cube, by algebra
    verdict = judge(
        answer,
        cases,
        known(slopes),
        DIFFERENCE_MISTAKES,
        right="Right. What both estimates share drops out, and only the slope's own noise is left.",
        nudge="Not that slope. If the estimate is mu^3 + noise, with noise that depends on the key only, it is 12.25 for every key at "
        "mu = 2 with step = 0.5.",
    )
    others = [case[0].asked for case in cases if set(case[0].asked) != {_name(case[1])}]
    if verdict.passed or not any(others):
        return verdict
    return Verdict(False, OTHER if all(asked.count(name) > 1 for asked in others for name in asked) else SAME)


class _Noisy:
    """A cubic with noise in its height and in its slope. It remembers the keys that its copies, which answers get, were asked with."""

    def __init__(self, bend: float, tilt: float, note: Callable[[tuple[int, ...]], None] = lambda name: None) -> None:
        self.bend, self.tilt, self.note = bend, tilt, note
        self.asked: list[tuple[int, ...]] = []

    def __deepcopy__(self, memo: Any) -> "_Noisy":
        return _Noisy(self.bend, self.tilt, self.asked.append)

    @staticmethod
    def noise(key: Any) -> float:
        return float(jax.random.normal(key))

    def __call__(self, key: Any, mu: Any) -> Any:
        self.note(_name(key))
        z = self.noise(key)
        return self.bend * mu**3 + (self.tilt + z) * mu + 20 * z


def _name(key: Any) -> tuple[int, ...]:
    return tuple(int(part) for part in np.ravel(jax.random.key_data(key)))


TASKS = (
    Task(
        "lcvi/double-reparameterisation/gradient",
        "Double reparameterisation: the gradient",
        2,
        16,
        gradient_stub,
        (
            "Write the estimate as a function of mu, sigma and h with all noise held fixed; then let JAX, or the chain rule, do the rest.",
            "theta_s = mu + sigma eps_s, y_st = exp(theta_s + s delta_st); the estimate is mean_s log mean_t exp(-(y_st - h)^2 / M).",
            "Begin with `def term(mu, sigma, h):` and take jax.grad of it in all three arguments.",
        ),
        GRADIENT_MISTAKES,
        gradient_verdict,
    ),
    Task(
        "lcvi/double-reparameterisation/difference",
        "Double reparameterisation: a check by differences",
        2,
        8,
        difference_stub,
        (
            "Evaluate on either side. What must be the same in both evaluations so that only mu makes the difference?",
            "(estimate at mu + step - estimate at mu - step) / (2 step), both with the same noise.",
            "Begin with `above = estimate(key, mu + step)`",
        ),
        DIFFERENCE_MISTAKES,
        difference_verdict,
    ),
)
