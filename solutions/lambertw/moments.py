"""Moments. Roads: quadrature over z; bisection on a tail that is straight by finite differences."""

import numpy as np

from course_pkg.checks.record import Record
from solutions.gradients._tools import NODES, WEIGHTS
from solutions.lambertw._tools import bent, safe_origin


def by_quadrature(mu, sigma, gamma):
    y = mu + sigma * bent(NODES, gamma)
    mean = WEIGHTS @ y
    return mean, WEIGHTS @ (y - mean) ** 2


def back_by_quadrature(mean, variance, gamma):
    shift, spread = by_quadrature(0.0, 1.0, gamma)
    sigma = np.sqrt(variance / spread)
    return mean - sigma * shift, sigma


def straight(x):
    """Where the origins' third moment, which falls as gamma grows, is zero."""

    def third(gamma):
        z = x if abs(gamma) < 1e-12 else safe_origin(x, gamma)
        return np.sum((z - z.sum() / len(z)) ** 3)

    low, high = -1.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if third(middle) > 0 else (low, middle)
    return (low + high) / 2


numbers = lambda rng, low, high: [(rng.uniform(0.5, 2), rng.uniform(low, high), sign * rng.uniform(0.3, 0.45)) for sign in (1, -1)]


def samples(rng):
    z = np.concatenate([rng.normal(size=30), [-2.0, 2.2]])
    z = z - z.mean() + 0.4
    return [(bent(z, sign * rng.uniform(0.15, 0.25)),) for sign in (1, -1)]


MOMENTS = Record(
    cases=lambda rng: numbers(rng, 1.5, 3),
    reference=by_quadrature,
    right="Right. mu is the place where nothing is bent, and seldom the mean.",
    nudge="Not these two. With mu = 0, sigma = 2 and gamma = -1/2 they are -e^(1/8) = -1.133 and 8 e^(1/2) - e^(1/4) = 11.906.",
    hints=(
        "E[z e^(tz)] is the derivative of E[e^(tz)] by t, and E[z^2 e^(tz)] the second. Which t does each moment of x want?",
        "With M(t) = e^(t^2/2): E[x] = M'(gamma), E[x^2] = M''(2 gamma), M'(t) = t M(t), M''(t) = (1 + t^2) M(t).",
        "Begin with `first = gamma * np.exp(gamma**2 / 2)`",
    ),
    mistakes={
        "The variance is right. The bent z has a mean that is not 0: the side that is stretched pulls it.": "mu + sigma * first -> mu",
        "The mean is right. Your variance is E[x^2]; subtract the square of E[x].": "- first**2 -> ",
        "In E[x^2] the exponential is squared, too: it is e^(2 gamma z), so t is 2 gamma.": "(1 + 4 * gamma**2) * np.exp(2 * gamma**2) -> (1 + gamma**2) * np.exp(gamma**2 / 2)",
        "The mean is right. A stretch by sigma multiplies the variance by sigma squared.": "sigma**2 -> sigma",
    },
    parts=("the mean", "the variance"),
)
PARAMETERS = Record(
    cases=lambda rng: numbers(rng, 2, 5),
    reference=back_by_quadrature,
    right="Right. Who wants data with a given mean and variance now knows what to ask for.",
    nudge="Not these two. With mean = -1.133, variance = 11.906 and gamma = -1/2 they are 0 and 2, and with mean = -0.133 "
    "they are 1 and 2.",
    hints=(
        "How does the variance of y depend on sigma, and does it depend on mu? Find sigma first.",
        "variance = sigma^2 Var[x], mean = mu + sigma E[x].",
        "Begin with `shift, spread = moments(0.0, 1.0, gamma)`",
    ),
    mistakes={
        "sigma is right. mu is not the mean: the bent z has a mean of its own.": "mean - sigma * shift -> mean",
        "sigma is not the standard deviation of y: x has a variance of its own. And mu depends on sigma.": "variance / spread -> variance",
        "sigma is right. In mu it is sigma that stretches the mean of x, not the standard deviation of y. Find sigma first.": "mean - sigma -> mean - np.sqrt(variance)",
        "That is Part 1 once more. Go the other way: which mu and sigma have this mean and this variance?": "\nreturn moments(mean, np.sqrt(variance), gamma)",
    },
    parts=("mu", "sigma"),
)
STRAIGHTEN = Record(
    cases=samples,
    reference=straight,
    right="Right. With this gamma undone, the sample leans to neither side.",
    nudge="Not that gamma. For x = [-0.878, 0, 1.139], the bent -1, 0 and 1 with gamma = 0.13, it is 0.13; "
    "for x = [-1.139, 0, 0.878] it is -0.13.",
    hints=(
        "For each gamma the data have origins, and the origins a skewness. It falls as gamma grows. Where is it 0?",
        "Solve sum of (z_i - mean)^3 = 0 for gamma, with z_i the origin of x_i.",
        "Begin with a function of gamma: `def lean(gamma):`",
    ),
    mistakes={
        "You bent the data once more. Look at where they come from.": "def lean -> from course_pkg.lambertw import g_e\n\ndef lean ;; g_e_inverse -> g_e",
        "You made the mean of the origins 0. Their skewness should be: measure it around their own mean.": "skew(np.asarray -> np.mean(np.asarray",
        "You cubed the origins themselves. Skewness is measured around their own mean.": "skew( -> np.mean( ;; dtype=float) -> dtype=float) ** 3",
        "A sixth of the skewness is a good first guess for small skews. Look for the gamma at which the origins have none.": "\nreturn skew(x) / 6",
    },
    rtol=2e-3,
)
TASKS = {"moments": MOMENTS, "parameters": PARAMETERS, "straighten": STRAIGHTEN}
