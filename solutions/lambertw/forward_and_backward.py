"""Forward and backward. Roads: bisection for the inverse, the slope of the distribution function for the density."""

import numpy as np

from course_pkg.checks.record import Record
from solutions.lambertw import _tools
from solutions.lambertw._tools import W, bisect, origin, real


def by_the_inverse(z, mu, sigma, gamma):
    """The y that W would take back to z."""
    low, high = (-1 / (gamma * np.e), 200.0) if gamma > 0 else (-200.0, -1 / (gamma * np.e))
    return mu + sigma * bisect(lambda x: W(gamma * x) / gamma, z, low, high)


by_bisection = lambda y, mu, sigma, gamma: origin((y - mu) / sigma, gamma)
by_the_distribution_function = lambda y, mu, sigma, gamma: _tools.density((y - mu) / sigma, gamma) / sigma
# mu, sigma and gamma, of both signs
numbers = lambda rng: [(rng.uniform(0.5, 2), rng.uniform(1.5, 3), sign * rng.uniform(0.2, 0.35)) for sign in (1, -1)]
noise = lambda rng: [(np.concatenate([rng.uniform(-2, -0.5, 3), rng.uniform(0.5, 2, 3)]), *case) for case in numbers(rng)]


def data(rng, low, high):
    for mu, sigma, gamma in numbers(rng):
        x = np.concatenate([rng.uniform(low, -0.1, 3), rng.uniform(0.1, high, 3)]) / gamma
        yield mu + sigma * x, mu, sigma, gamma


TURNED = "You have turned the skew round. A positive gamma stretches what lies above mu and squeezes what lies below."
FORWARD = Record(
    cases=noise,
    reference=by_the_inverse,
    right="Right. One line makes a skewed sample of any sample.",
    nudge="Not that y. With z = 2, mu = 3, sigma = 2 and gamma = 1/2 it is 3 + 4e = 13.873, and with z = -2 it is 3 - 4/e = 1.528.",
    hints=(
        "Three things happen to z, one after the other: it is bent, stretched and moved.",
        "x = z e^(gamma z), y = mu + sigma x.",
        "Begin with `x = z * np.exp(gamma * z)`",
    ),
    mistakes={
        TURNED: "gamma * z -> -gamma * z",
        "You moved and stretched z first and bent the result. Bend z, then stretch, then move.": "x = z * -> x = (mu + sigma * z) * ;; mu + sigma * x -> x",
        "sigma stands in your exponent: the shape would depend on the unit. Bend z itself.": "gamma * z -> gamma * sigma * z",
        "You replaced z by the exponential. z is multiplied by it.": "z * np.exp -> np.exp",
        "You moved before stretching, so that mu is stretched, too. Stretch first, then move.": "mu + sigma * x -> sigma * (mu + x)",
    },
)
BACKWARD = Record(
    cases=lambda rng: data(rng, -0.3, 0.9),
    reference=by_bisection,
    right="Right. What was bent is a bell again.",
    nudge="Not that z. With mu = 3, sigma = 2 and gamma = 1, y = 3 + 2e comes from z = 1; with gamma = 1/2, y = 3 + 4e comes from z = 2.",
    hints=(
        "Undo the move and the stretch. Then x = z e^(gamma z); multiply by gamma, and W's own equation stands there.",
        "gamma x = (gamma z) e^(gamma z), so gamma z = W(gamma x).",
        "Begin with `x = (y - mu) / sigma`",
    ),
    mistakes={
        "That is gamma z: both sides of the equation were multiplied by gamma, so divide at the end.": "/ gamma -> ",
        "Multiply both sides of x = z e^(gamma z) by gamma before you ask W: it wants gamma x.": "gamma * x -> x",
        "Where there are two origins you took the far one, beyond -1 / gamma. The near one was asked for.": "W(gamma * x) -> np.where(gamma * x < 0, W(gamma * x, -1), W(gamma * x))",
        "You asked for branch -1, which has the far one of two origins, and none where there is one only. The near one is on branch 0.": "W(gamma * x) -> W(gamma * x, -1)",
        "You undid the exponential with x in its exponent. It was made with z, which you do not know yet; W finds it.": "W(gamma * x) / gamma -> x * np.exp(-gamma * x)",
    },
    view=real,
)
DENSITY = Record(
    cases=lambda rng: data(rng, -0.25, 0.8),
    reference=by_the_distribution_function,
    right="Right. The density of any skewed bell is that of a normal, divided by two stretches.",
    nudge="Not that density. At y = mu it is 0.399 / sigma; with mu = 1, sigma = 0.1 and gamma = 1/2 it is 0.0993 at y = 1 + 0.2 e, "
    "where z = 2.",
    hints=(
        "Probability is neither made nor lost: what lies in a short piece of z lies in a longer or shorter piece of y.",
        "p(y) = phi(z) / (sigma e^(gamma z) (1 + gamma z)), with phi the standard normal density.",
        "Begin with `z = backward(y, mu, sigma, gamma)`",
    ),
    mistakes={
        "That is the density of z. Where the map stretches, the same probability is spread over more of y: divide by the map's slope.": "/ (sigma * slope) -> ",
        "You divided by sigma and forgot that bending stretches, too: divide by the slope of z e^(gamma z).": "sigma * slope -> sigma",
        "You multiplied by the slope of the map. Where it stretches, the density is thinner: divide.": "(sigma * slope) -> sigma * slope",
        "The slope of z e^(gamma z) has two terms. You have e^(gamma z) only.": "* (1 + gamma * z) -> ",
        "The slope of z e^(gamma z) is e^(gamma z) (1 + gamma z). The exponential is missing.": "np.exp(gamma * z) * -> ",
        "The slope is right, and you evaluated the bell at y. It is z that is normal.": "norm.pdf(z) / (sigma * slope) -> norm.pdf(y, mu, sigma) / slope",
    },
    view=real,
)
TASKS = {"forward": FORWARD, "backward": BACKWARD, "density": DENSITY}
