"""The safe tail. Roads: slopes by finite differences, inverses by bisection, the share by quadrature."""

from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Verdict
from course_pkg.checks.lambertw._tools import W, bent, bisect, judge_real, steep


def _straight_below(x: Any, d: float) -> Any:
    tangent = W(d) + steep(W, d, 2e-4) * (x - d)
    return np.where(x < d, tangent, W(np.maximum(x, d)))


def _undoes_it(z: Any, gamma: float, d: float) -> Any:
    """The x that the modified W takes back to z."""
    return bisect(lambda x: _straight_below(gamma * x, d) / gamma, z, -1e3, 1e3)


def _by_quadrature(gamma: float, d: float) -> float:
    """Mass of the normal where the equation z e^z = d says that the straight part begins, and beyond."""
    knee = float(bisect(lambda v: v * np.exp(v), d, -1.0, 0.0))
    return quad(lambda z: np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi), abs(knee / gamma), 40)[0]


def modified_stub(x: np.ndarray, d: float) -> Any:
    raise NotImplementedError


def forward_stub(z: np.ndarray, gamma: float, d: float) -> Any:
    raise NotImplementedError


def share_stub(gamma: float, d: float) -> Any:
    raise NotImplementedError


def _below(line):
    return lambda x, d: np.where(x < d, line(x, d), W(np.maximum(x, d)))


MODIFIED_MISTAKES = {
    "x for d in the slope": Mistake(
        _below(lambda x, d: W(d) + (x - d) / (x + np.exp(W(d)))),
        "Your slope contains x, so the left arm is no line: it has a pole where x = -e^W(d), and falls beyond. "
        "The slope of a tangent is that at d.",
    ),
    "slope upside down": Mistake(
        _below(lambda x, d: W(d) + (x - d) * (d + np.exp(W(d)))),
        "Your slope is that of w e^w. W's is one over it.",
    ),
    "level": Mistake(
        _below(lambda x, d: W(d) + 0 * x),
        "Below d you went on level: all those x would come from one z. Go on along the tangent.",
    ),
    "left as it was": Mistake(
        lambda x, d: W(x),
        "Below d you have W itself, and below -1/e the real part of a complex number. Go on along the tangent at d.",
    ),
    "slope one": Mistake(
        _below(lambda x, d: W(d) + (x - d)),
        "Your line has slope 1. It must leave the curve without a corner: what is W's slope at d?",
    ),
    "slope of zero": Mistake(
        _below(lambda x, d: x),
        "That is W's tangent at 0. Take the one at d.",
    ),
    "from the origin": Mistake(
        _below(lambda x, d: W(d) + x / (d + np.exp(W(d)))),
        "The slope is right. The line must pass through the point (d, W(d)): count from d, not from 0.",
    ),
    "height forgotten": Mistake(
        _below(lambda x, d: (x - d) / (d + np.exp(W(d)))),
        "The slope is right. At d your line is at 0, and W is at W(d).",
    ),
    "d as height": Mistake(
        _below(lambda x, d: d + (x - d) / (d + np.exp(W(d)))),
        "The slope is right. At d your line is at d, and W is at W(d).",
    ),
    "sides exchanged": Mistake(
        lambda x, d: np.where(x >= d, W(d) + (x - d) / (d + np.exp(W(d))), W(x)),
        "Tangent and curve have changed sides: the tangent is for x below d.",
    ),
    "at the edge": Mistake(
        lambda x, d: np.where(x < -1 / np.e, W(d) + (x - d) / (d + np.exp(W(d))), W(x)),
        "Your line begins at -1/e. It is the tangent at d, and begins there.",
    ),
    "d in the exponent": Mistake(
        _below(lambda x, d: W(d) + (x - d) / (d + np.exp(d))),
        "The slope is 1 / (d + e^W(d)). You have d in the exponent.",
    ),
    "tangent everywhere": Mistake(
        lambda x, d: W(d) + (x - d) / (d + np.exp(W(d))),
        "You went along the tangent everywhere. From d on, keep W.",
    ),
}


def _beyond(line, where=lambda z, gamma, d: gamma * z < W(d)):
    return lambda z, gamma, d: np.where(where(z, gamma, d), line(z, gamma, d), bent(z, gamma))


def _tangent(z, gamma, d):
    return (d + (gamma * z - W(d)) * (d + np.exp(W(d)))) / gamma


UNMODIFIED = (
    "You left the forward map as it was. It turns round at z = -1 / gamma, and what lies beyond the knee does not come back: "
    "the way there must be the inverse of the way back."
)
FORWARD_MISTAKES = {
    "left unmodified": Mistake(lambda z, gamma, d: bent(z, gamma), UNMODIFIED),
    "wrong side for a negative skew": Mistake(
        _beyond(_tangent, lambda z, gamma, d: z < W(d) / gamma),
        "Right for a positive gamma. For a negative one the knee lies at a positive z, and the straight part is above it: compare gamma z "
        "with W(d).",
    ),
    "d for W(d)": Mistake(
        _beyond(_tangent, lambda z, gamma, d: gamma * z < d),
        "The tangent is right, and it begins too early. The knee is where gamma x = d, that is, where gamma z = W(d).",
    ),
    "skew in the knee": Mistake(
        _beyond(_tangent, lambda z, gamma, d: z < W(d)),
        "Your knee is at z = W(d) whatever gamma is. It is where gamma z = W(d).",
    ),
    "not divided": Mistake(
        _beyond(lambda z, gamma, d: gamma * _tangent(z, gamma, d)),
        "Your straight part is that of gamma x. Divide by gamma.",
    ),
    "half divided": Mistake(
        _beyond(lambda z, gamma, d: d / gamma + (gamma * z - W(d)) * (d + np.exp(W(d)))),
        "gamma divides the whole straight part, not only its first term.",
    ),
    "slope upside down": Mistake(
        _beyond(lambda z, gamma, d: (d + (gamma * z - W(d)) / (d + np.exp(W(d)))) / gamma),
        "Your slope is W's. Going forward it is one over that.",
    ),
    "level": Mistake(
        _beyond(lambda z, gamma, d: d / gamma + 0 * z),
        "Beyond the knee you went on level, so that many z share one x. Go on along the tangent.",
    ),
    "the inverse again": Mistake(
        lambda z, gamma, d: _straight_below(gamma * z, d) / gamma,
        "That is the way back, from x to z. The way there was asked for.",
    ),
    "slope of z": Mistake(
        _beyond(lambda z, gamma, d: (d + (z - W(d)) * (d + np.exp(W(d)))) / gamma),
        "On the straight part it is gamma z that is counted from W(d).",
    ),
}
SHARE_MISTAKES = {
    "sign of the skew": Mistake(
        lambda gamma, d: norm.cdf(W(d) / gamma),
        "Right for a positive gamma. For a negative one the knee is positive, and the share lies above it.",
    ),
    "d for W(d)": Mistake(
        lambda gamma, d: norm.cdf(d / abs(gamma)),
        "You took d for the knee. d is where it lies for gamma x; for gamma z that is W(d).",
    ),
    "multiplied": Mistake(
        lambda gamma, d: norm.cdf(W(d) * abs(gamma)),
        "The knee is where gamma z = W(d). Divide by gamma: less skew, fewer draws on the straight part.",
    ),
    "the rest": Mistake(
        lambda gamma, d: norm.sf(W(d) / abs(gamma)),
        "That is the share on the curve. The rest was asked for.",
    ),
    "turning point": Mistake(
        lambda gamma, d: norm.cdf(-1 / abs(gamma)),
        "That is the share beyond the point where the plain map turns round. The straight part begins before it.",
    ),
    "density": Mistake(
        lambda gamma, d: norm.pdf(W(d) / gamma),
        "That is the normal density at the knee. The probability beyond it was asked for.",
    ),
    "both sides": Mistake(
        lambda gamma, d: 2 * norm.cdf(W(d) / abs(gamma)),
        "You counted both tails. The map has one straight part.",
    ),
    "skew forgotten": Mistake(
        lambda gamma, d: norm.cdf(W(d)),
        "Your share does not depend on gamma. The knee is where gamma z = W(d).",
    ),
    "below the value d": Mistake(
        lambda gamma, d: norm.cdf(d),
        "You asked how many z lie below d. The straight part begins where gamma z = W(d).",
    ),
}


def modified_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 640])
    cases = [
        (
            np.concatenate(
                [rng.uniform(-3, d - 0.05, 4), rng.uniform(-0.36, d - 0.02, 1), rng.uniform(d + 0.02, 0, 2), rng.uniform(0.2, 3, 2)]
            ),
            d,
        )
        for d in (-0.9 / np.e, -float(rng.uniform(0.15, 0.28)))
    ]
    return judge_real(
        answer,
        cases,
        _straight_below,
        MODIFIED_MISTAKES,
        right="Right. It rises everywhere, and every real number has its place on it.",
        nudge="Not that function. With d = -0.5 e^-0.5, where W(d) = -1/2, it is -3/2 at x = 2d and 1 at x = e.",
    )


def forward_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 641])
    cases = []
    for gamma, d in [(float(rng.uniform(0.3, 0.6)), -0.9 / np.e), (-float(rng.uniform(0.4, 0.8)), -float(rng.uniform(0.2, 0.28)))]:
        knee = W(d)
        place = np.concatenate([rng.uniform(-3, knee - 0.1, 4), [0.9 * knee], rng.uniform(knee / 2, 0, 2), rng.uniform(0.2, 1, 2)])
        cases.append((place / gamma, gamma, d))
    return judge_real(
        answer,
        cases,
        _undoes_it,
        FORWARD_MISTAKES,
        right="Right. There and back is where you started, for every z and either sign of the skew.",
        nudge="Not that map. With d = -0.5 e^-0.5, where W(d) = -1/2, it is -0.758 for gamma = 1 at z = -2, and 1.516 for gamma = -1/2 at "
        "z = 4.",
    )


def share_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 642])
    cases = [(float(rng.uniform(0.4, 0.8)), -0.9 / np.e), (-float(rng.uniform(0.3, 0.6)), -float(rng.uniform(0.15, 0.28)))]
    return judge_real(
        answer,
        cases,
        _by_quadrature,
        SHARE_MISTAKES,
        right="Right. That is the price of safety: so many draws are not skewed as the plain map would.",
        nudge="Not that share. With d = -0.5 e^-0.5, where W(d) = -1/2, it is 0.159 for gamma = 1/2 and 0.309 for gamma = -1.",
    )


TASKS = (
    Task(
        "lambertw/safe-tail/modified",
        "The safe tail: the way back",
        2,
        9,
        modified_stub,
        (
            "A line is fixed by a point and a slope. Which point, and which slope, so that there is no corner?",
            "W(d) + W'(d) (x - d), with W'(d) = 1 / (d + e^W(d)), for x < d.",
            "Begin with `knee = W(d)`",
        ),
        MODIFIED_MISTAKES,
        modified_verdict,
    ),
    Task(
        "lambertw/safe-tail/forward",
        "The safe tail: the way there",
        2,
        10,
        forward_stub,
        (
            "Beyond the knee the way back is a line. Solve it for x. On which side of the knee is it used if gamma is negative?",
            "Where gamma z < W(d): gamma x = d + (gamma z - W(d)) / W'(d). Elsewhere x = z e^(gamma z).",
            "Begin with `knee = W(d)`",
        ),
        FORWARD_MISTAKES,
        forward_verdict,
    ),
    Task(
        "lambertw/safe-tail/share",
        "The safe tail: how many draws meet it",
        2,
        5,
        share_stub,
        (
            "For which z is the straight part used? How likely is that for a standard normal?",
            "P(gamma z < W(d)), and gamma z is normal with mean 0 and standard deviation |gamma|.",
            "Begin with `knee = W(d)`",
        ),
        SHARE_MISTAKES,
        share_verdict,
    ),
)
