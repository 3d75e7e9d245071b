"""Flows and tighter bounds. Roads: a conditional normal; central differences of a logarithm of whole weights; weights as fractions of any size."""

from decimal import Decimal, localcontext

import numpy as np
from scipy.stats import norm

from course_pkg.checks.record import Record


def by_conditional(x, a, b, c):
    """Given the first coordinate, the second is normal."""
    first, second = x.T
    return norm.logpdf(first) + norm.logpdf(second, c * first**2, np.exp(a + b * first))


def weights_of(log_w):
    return [Decimal(float(v)).exp() for v in log_w]


def by_differences(log_w, slopes):
    """Of the logarithm of the mean weight, parameter by parameter."""
    with localcontext() as context:
        context.prec = 60
        h = Decimal("1e-15")

        def log_mean(move):
            parts = zip(log_w, move, strict=True)
            return (sum((Decimal(float(v)) + h * Decimal(float(m))).exp() for v, m in parts) / len(log_w)).ln()

        return np.array([float((log_mean(column) - log_mean(-column)) / (2 * h)) for column in slopes.T])


def by_fractions(log_w, through):
    with localcontext() as context:
        context.prec = 60
        w = weights_of(log_w)
        total = sum(w) ** 2
        return np.array([float(sum(v * v / total * Decimal(float(t)) for v, t in zip(w, column, strict=True))) for column in through.T])


def draws(rng):
    for shift, K, p in ((0.0, 4, 3), (-2000.0, 6, 2), (900.0, 3, 1)):
        yield shift + rng.normal(0, 1.5, K), rng.normal(size=(K, p)) + 0.5


def points(rng):
    for n in (4, 1, 7):
        a, b, c = rng.uniform(0.2, 0.9, 3) * rng.choice([-1, 1], 3)
        yield rng.normal(0, 1.5, (n, 2)), a, b, c


DENSITY = Record(
    cases=points,
    reference=by_conditional,
    right="Right. The Jacobian is a triangle, so its log determinant is the log scale, and nothing had to be inverted but a sum and a product.",
    nudge="Not that density. At x = [[2, 8]] with a = 0, b = log 2 and c = 1 it is [-5/2 - log(2 pi) - 2 log 2] = [-5.724].",
    hints=(
        "Undo the layer: the first coordinate is known, so are the scale and the shift of the second.",
        "log q(x) = log N(eps_1) + log N(eps_2) - log |det|, and the Jacobian is [[1, 0], [?, e^(a + b eps_1)]].",
        "Begin with `log_scale = a + b * x[:, 0]`, and find the second coordinate of the noise.",
    ),
    mistakes={
        "You added the log determinant. Where the layer stretches, the same mass lies on more room: subtract it.": "- log_scale\n -> + log_scale\n",
        "The log determinant is missing: stretching makes a density thinner.": " - log_scale\n -> \n",
        "You scaled before you took the shift off. The layer scales first and shifts last, so undo the shift first.": (
            "(x[:, 1] - c * x[:, 0] ** 2) * np.exp(-log_scale) -> x[:, 1] * np.exp(-log_scale) - c * x[:, 0] ** 2"
        ),
        "You went through the layer once more. The density needs the noise from which x came: go back.": (
            "(x[:, 1] - c * x[:, 0] ** 2) * np.exp(-log_scale) -> x[:, 1] * np.exp(log_scale) + c * x[:, 0] ** 2"
        ),
        "You took log 2 pi by halves: there are two coordinates, and each has log sqrt(2 pi).": "np.log(2 * np.pi) -> 0.5 * np.log(2 * np.pi)",
        "You subtracted the determinant, not its logarithm.": "- log_scale\n -> - np.exp(log_scale)\n",
        "You took the density at x as if it were the noise. Undo the layer first.": (
            "second = (x[:, 1] - c * x[:, 0] ** 2) * np.exp(-log_scale) -> second = x[:, 1]"
        ),
    },
)
GRADIENT = Record(
    cases=draws,
    reference=by_differences,
    right="Right. Each draw counts by its share of the weights, so a bound of many draws listens to the few that fit best.",
    nudge="Not that gradient. With log_w = [0, log 2, 0] and slopes = [[1], [2], [4]] it is [9/4].",
    hints=(
        "The gradient of log f is that of f, over f. And the gradient of w_k is w_k times that of log w_k.",
        "The 1/K stands above and below. What is left is each slope times w_k / sum of w.",
        "Begin with `w = np.exp(log_w - log_w.max())`, and divide so that the shares add up to one.",
    ),
    mistakes={
        "You averaged the slopes. That is the gradient of the usual bound, the mean of the log weights.": "share @ slopes -> slopes.mean(axis=0)",
        "You squared the shares. That is for the doubly reparameterised gradient, whose slopes are others.": "share @ -> share**2 @",
        "The shares must add up to one: divide by the sum of the weights, not by the number of draws.": "w / w.sum() -> w / len(w)",
        "You took the slope of the best draw alone.": "share @ slopes -> slopes[log_w.argmax()]",
        "You used log weights as weights. Exponentiate first.": "w = np.exp(log_w - log_w.max()) -> w = log_w",
        "You divided by K once more. It stands above and below, and cancels.": "share @ slopes -> share @ slopes / len(w)",
    },
)
DOUBLY = Record(
    cases=draws,
    reference=by_fractions,
    right="Right. Where all weights are equal each part counts 1/K^2, and there are K: the whole fades like 1/K, its scatter faster.",
    nudge="Not that gradient. With log_w = [0, log 3] and through = [[1], [2]] it is [19/16].",
    hints=(
        "First the shares of Part 2: they add up to one.",
        "Then square each share. The squares do not add up to one, and are not to be divided by their sum.",
        "Begin with `w = np.exp(log_w - log_w.max())`, as in Part 2.",
    ),
    mistakes={
        "You forgot the square: a part through the draw counts by the square of its share.": "share**2 @ -> share @",
        "You made the squares add up to one. They should not: their sum is one over the effective sample size.": (
            "share**2 @ through -> share**2 @ through / (share**2).sum()"
        ),
        "You squared before the sum was taken: divide by the square of the sum, not by the sum of weights.": "share**2 @ through -> w**2 @ through / w.sum()",
        "You multiplied by K. Nothing has to be made up for: the gradient itself fades like 1/K.": "share**2 @ through -> len(w) * share**2 @ through",
        "You squared the parts, too. Only the shares are squared.": "share**2 @ through -> share**2 @ through**2",
    },
)
TASKS = {"density": DENSITY, "gradient": GRADIENT, "doubly": DOUBLY}
