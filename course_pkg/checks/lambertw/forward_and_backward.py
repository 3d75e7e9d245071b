"""Forward and backward. Roads: bisection for the inverse, the slope of the distribution function for the density."""

from typing import Any

import numpy as np
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Verdict
from course_pkg.checks.lambertw._tools import W, bisect, density, judge_real, origin


def _by_the_inverse(z: Any, mu: float, sigma: float, gamma: float) -> Any:
    """The y that W would take back to z."""
    low, high = (-1 / (gamma * np.e), 200.0) if gamma > 0 else (-200.0, -1 / (gamma * np.e))
    return mu + sigma * bisect(lambda x: W(gamma * x) / gamma, z, low, high)


def _by_bisection(y: Any, mu: float, sigma: float, gamma: float) -> Any:
    return origin((y - mu) / sigma, gamma)


def _by_the_distribution_function(y: Any, mu: float, sigma: float, gamma: float) -> Any:
    return density((y - mu) / sigma, gamma) / sigma


def forward_stub(z: np.ndarray, mu: float, sigma: float, gamma: float) -> Any:
    raise NotImplementedError


def backward_stub(y: np.ndarray, mu: float, sigma: float, gamma: float) -> Any:
    raise NotImplementedError


def density_stub(y: np.ndarray, mu: float, sigma: float, gamma: float) -> Any:
    raise NotImplementedError


def _x(y, mu, sigma):
    return (y - mu) / sigma


TURNED = "You have turned the skew round. A positive gamma stretches what lies above mu and squeezes what lies below."
FORWARD_MISTAKES = {
    "other direction": Mistake(lambda z, mu, sigma, gamma: mu + sigma * z * np.exp(-gamma * z), TURNED),
    "location bent, too": Mistake(
        lambda z, mu, sigma, gamma: (mu + sigma * z) * np.exp(gamma * z),
        "You moved and stretched z first and bent the result, mu included. Bend z, then stretch, then move.",
    ),
    "all of it bent": Mistake(
        lambda z, mu, sigma, gamma: (mu + sigma * z) * np.exp(gamma * (mu + sigma * z)),
        "You moved and stretched z first and bent the result. Bend z, then stretch, then move.",
    ),
    "sigma in the exponent": Mistake(
        lambda z, mu, sigma, gamma: mu + sigma * z * np.exp(gamma * sigma * z),
        "sigma stands in your exponent: the shape would depend on the unit. Bend z itself.",
    ),
    "exponential alone": Mistake(
        lambda z, mu, sigma, gamma: mu + sigma * np.exp(gamma * z),
        "You replaced z by the exponential. z is multiplied by it.",
    ),
    "not moved": Mistake(
        lambda z, mu, sigma, gamma: z * np.exp(gamma * z),
        "That is the bent z. It is still to be stretched by sigma and moved by mu.",
    ),
    "stretched only": Mistake(
        lambda z, mu, sigma, gamma: sigma * z * np.exp(gamma * z),
        "Bent and stretched. It is still to be moved by mu.",
    ),
    "mu stretched": Mistake(
        lambda z, mu, sigma, gamma: sigma * (mu + z * np.exp(gamma * z)),
        "You moved before stretching, so that mu is stretched, too. Stretch first, then move.",
    ),
    "not bent": Mistake(
        lambda z, mu, sigma, gamma: mu + sigma * z,
        "Your y does not depend on gamma.",
    ),
    "gamma outside": Mistake(
        lambda z, mu, sigma, gamma: mu + sigma * z * gamma * np.exp(z),
        "gamma belongs into the exponent: e to the power gamma times z.",
    ),
    "size alone": Mistake(
        lambda z, mu, sigma, gamma: mu + sigma * z * np.exp(gamma * np.abs(z)),
        "You took the size of z in the exponent, so that both sides are stretched. Keep its sign.",
    ),
}
BACKWARD_MISTAKES = {
    "not divided": Mistake(
        lambda y, mu, sigma, gamma: W(gamma * _x(y, mu, sigma)),
        "That is gamma z: both sides of the equation were multiplied by gamma, so divide at the end.",
    ),
    "gamma missing inside": Mistake(
        lambda y, mu, sigma, gamma: W(_x(y, mu, sigma)) / gamma,
        "Multiply both sides of x = z e^(gamma z) by gamma before you ask W: it wants gamma x.",
    ),
    "gamma nowhere": Mistake(
        lambda y, mu, sigma, gamma: W(_x(y, mu, sigma)),
        "Your z does not depend on gamma. Multiply both sides of x = z e^(gamma z) by it.",
    ),
    "not standardised": Mistake(
        lambda y, mu, sigma, gamma: W(gamma * y) / gamma,
        "You went back from y. First undo the move and the stretch.",
    ),
    "not moved back": Mistake(
        lambda y, mu, sigma, gamma: W(gamma * y / sigma) / gamma,
        "Subtract mu before you divide by sigma.",
    ),
    "not shrunk": Mistake(
        lambda y, mu, sigma, gamma: W(gamma * (y - mu)) / gamma,
        "After subtracting mu, divide by sigma.",
    ),
    "lower branch": Mistake(
        lambda y, mu, sigma, gamma: (
            np.where(gamma * _x(y, mu, sigma) < 0, W(gamma * _x(y, mu, sigma), -1), W(gamma * _x(y, mu, sigma))) / gamma
        ),
        "Where there are two origins you took the far one, beyond -1 / gamma. The near one was asked for.",
    ),
    "other branch": Mistake(
        lambda y, mu, sigma, gamma: W(gamma * _x(y, mu, sigma), -1) / gamma,
        "You asked for branch -1, which has the far one of two origins, and none where there is one only. The near one is on branch 0.",
    ),
    "standardised": Mistake(
        lambda y, mu, sigma, gamma: _x(y, mu, sigma),
        "That is x, moved and shrunk back. It is still bent.",
    ),
    "divided once more": Mistake(
        lambda y, mu, sigma, gamma: _x(y, mu, sigma) * np.exp(-gamma * _x(y, mu, sigma)),
        "You undid the exponential with x in its exponent. It was made with z, which you do not know yet; W finds it.",
    ),
    "other direction": Mistake(
        lambda y, mu, sigma, gamma: -W(-gamma * _x(y, mu, sigma)) / gamma,
        TURNED,
    ),
}


def _with(jacobian, of=norm.pdf):
    def answer(y, mu, sigma, gamma):
        x = _x(y, mu, sigma)
        w = W(gamma * x)
        return of(w / gamma) * jacobian(x, w, sigma, gamma)

    return answer


DENSITY_MISTAKES = {
    "Jacobian forgotten": Mistake(
        _with(lambda x, w, sigma, gamma: 1.0),
        "That is the density of z. Where the map stretches, the same probability is spread over more of y: divide by the map's slope.",
    ),
    "only the stretch": Mistake(
        _with(lambda x, w, sigma, gamma: 1 / sigma),
        "You divided by sigma and forgot that bending stretches, too: divide by the slope of z e^(gamma z).",
    ),
    "sigma forgotten": Mistake(
        _with(lambda x, w, sigma, gamma: np.exp(-w) / (1 + w)),
        "That is the density of x. Going on to y stretches by sigma: divide by it.",
    ),
    "multiplied by sigma": Mistake(
        _with(lambda x, w, sigma, gamma: sigma * np.exp(-w) / (1 + w)),
        "A stretch by sigma makes a density lower. Divide by sigma.",
    ),
    "upside down": Mistake(
        _with(lambda x, w, sigma, gamma: np.exp(w) * (1 + w) / sigma),
        "You multiplied by the slope of the map. Where it stretches, the density is thinner: divide.",
    ),
    "multiplied by both": Mistake(
        _with(lambda x, w, sigma, gamma: sigma * np.exp(w) * (1 + w)),
        "You multiplied by the stretches. Where the map stretches, the density is thinner: divide.",
    ),
    "divided by gamma": Mistake(
        _with(lambda x, w, sigma, gamma: np.exp(-w) / (1 + w) / sigma / gamma),
        "A gamma too many. The derivative of W(gamma x) / gamma has one gamma from the chain rule, which cancels the one below.",
    ),
    "times gamma": Mistake(
        _with(lambda x, w, sigma, gamma: gamma * np.exp(-w) / (1 + w) / sigma),
        "A gamma too many. z is W(gamma x) / gamma: the gamma of the chain rule and the one below cancel.",
    ),
    "one term of the slope": Mistake(
        _with(lambda x, w, sigma, gamma: np.exp(-w) / sigma),
        "The slope of z e^(gamma z) has two terms. You have e^(gamma z) only.",
    ),
    "1/(1+W)": Mistake(
        _with(lambda x, w, sigma, gamma: 1 / (1 + w) / sigma),
        "The slope of z e^(gamma z) is e^(gamma z) (1 + gamma z). The exponential is missing.",
    ),
    "logarithm": Mistake(
        lambda *case: np.log(_with(lambda x, w, sigma, gamma: np.exp(-w) / (1 + w) / sigma)(*case)),
        "That is the log density. The density itself was asked for.",
    ),
    "other direction": Mistake(
        lambda y, mu, sigma, gamma: _with(lambda x, w, s, g: np.exp(-w) / (1 + w) / s)(y, mu, sigma, -gamma),
        TURNED,
    ),
    "not skewed": Mistake(
        lambda y, mu, sigma, gamma: norm.pdf(y, mu, sigma),
        "That is the bell with no skew.",
    ),
    "normal at y": Mistake(
        lambda y, mu, sigma, gamma: norm.pdf(y, mu, sigma) * np.exp(-W(gamma * _x(y, mu, sigma))) / (1 + W(gamma * _x(y, mu, sigma))),
        "The slope is right, and you evaluated the bell at y. It is z that is normal.",
    ),
}


def _numbers(rng: np.random.Generator) -> list[tuple[float, float, float]]:
    """mu, sigma and gamma, of both signs."""
    return [(float(rng.uniform(0.5, 2)), float(rng.uniform(1.5, 3)), sign * float(rng.uniform(0.2, 0.35))) for sign in (1, -1)]


def forward_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 630])
    return judge_real(
        answer,
        [(np.concatenate([rng.uniform(-2, -0.5, 3), rng.uniform(0.5, 2, 3)]), *numbers) for numbers in _numbers(rng)],
        _by_the_inverse,
        FORWARD_MISTAKES,
        right="Right. One line makes a skewed sample of any sample.",
        nudge="Not that y. With z = 1, mu = 3, sigma = 2 and gamma = 1 it is 3 + 2e = 8.437, and with z = -1 it is 3 - 2/e = 2.264.",
    )


def backward_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 631])
    cases = []
    for mu, sigma, gamma in _numbers(rng):
        x = np.concatenate([rng.uniform(-0.3, -0.1, 3), rng.uniform(0.1, 0.9, 3)]) / gamma
        cases.append((mu + sigma * x, mu, sigma, gamma))
    return judge_real(
        answer,
        cases,
        _by_bisection,
        BACKWARD_MISTAKES,
        right="Right. What was bent is a bell again.",
        nudge="Not that z. With mu = 3, sigma = 2 and gamma = 1, y = 3 + 2e comes from z = 1; with gamma = 1/2, y = 3 + 4e comes "
        "from z = 2.",
    )


def density_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 632])
    cases = []
    for mu, sigma, gamma in _numbers(rng):
        x = np.concatenate([rng.uniform(-0.25, -0.1, 2), rng.uniform(0.1, 0.8, 3)]) / gamma
        cases.append((mu + sigma * x, mu, sigma, gamma))
    return judge_real(
        answer,
        cases,
        _by_the_distribution_function,
        DENSITY_MISTAKES,
        right="Right. The density of any skewed bell is that of a normal, divided by two stretches.",
        nudge="Not that density. At y = mu it is 0.399 / sigma; with mu = 1, sigma = 0.1 and gamma = 1/2 it is 0.0993 at "
        "y = 1 + 0.2 e, where z = 2.",
    )


TASKS = (
    Task(
        "lambertw/forward-and-backward/forward",
        "Forward and backward: bend a sample",
        1,
        5,
        forward_stub,
        (
            "Three things happen to z, one after the other: it is bent, stretched and moved.",
            "x = z e^(gamma z), y = mu + sigma x.",
            "Begin with `x = z * np.exp(gamma * z)`",
        ),
        FORWARD_MISTAKES,
        forward_verdict,
    ),
    Task(
        "lambertw/forward-and-backward/backward",
        "Forward and backward: where it came from",
        1,
        8,
        backward_stub,
        (
            "Undo the move and the stretch. Then x = z e^(gamma z); multiply by gamma, and W's own equation stands there.",
            "gamma x = (gamma z) e^(gamma z), so gamma z = W(gamma x).",
            "Begin with `x = (y - mu) / sigma`",
        ),
        BACKWARD_MISTAKES,
        backward_verdict,
    ),
    Task(
        "lambertw/forward-and-backward/density",
        "Forward and backward: the density",
        1,
        12,
        density_stub,
        (
            "Probability is neither made nor lost: what lies in a short piece of z lies in a longer or shorter piece of y.",
            "p(y) = phi(z) / (sigma e^(gamma z) (1 + gamma z)), with phi the standard normal density.",
            "Begin with `z = backward(y, mu, sigma, gamma)`",
        ),
        DENSITY_MISTAKES,
        density_verdict,
    ),
)
