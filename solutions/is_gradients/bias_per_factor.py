"""A weight for each factor. Roads: the density of a draw with one coordinate moved; quadrature on a grid of draws; every count tried."""

from itertools import count

import numpy as np
from scipy.stats import norm

from course_pkg.checks.record import Record
from solutions.gradients._tools import NODES, WEIGHTS
from solutions.is_gradients._tools import CLIPPED, clipped, log_ratio


def one_moved(theta, slopes, mu, sigma, mu_new, sigma_new):
    """Coordinate i weighted by the density of the whole draw where only i has moved, over that where none has."""
    out = []
    for i in range(theta.shape[1]):
        at, wide = mu.copy(), sigma.copy()
        at[i], wide[i] = mu_new[i], sigma_new[i]
        w = np.prod(norm.pdf(theta, at, wide), axis=1) / np.prod(norm.pdf(theta, mu, sigma), axis=1)
        out.append(np.average(w * slopes[:, i]))
    return np.array(out)


def bias_by_quadrature(A, mu, mu_new):
    """Both means on a grid of old draws with probabilities: once with factors' weights, once with joint ones."""
    dim, b, middle = len(mu), 0.7, slice(12, -12)  # the nodes outside have no probability to speak of
    sigma = np.linspace(0.8, 1.2, dim)
    theta = mu + sigma * np.stack(np.meshgrid(*[NODES[middle]] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    p = np.stack(np.meshgrid(*[WEIGHTS[middle]] * dim, indexing="ij"), axis=-1).reshape(-1, dim).prod(axis=1)
    log_w = log_ratio(theta, mu, sigma, mu_new, sigma)
    return p @ ((np.exp(log_w) - np.exp(log_w.sum(axis=1, keepdims=True))) * (b - theta @ A))


def count_up(bias, factor_variance, joint_variance):
    return next(draws for draws in count(1) if joint_variance / draws < bias**2 + factor_variance / draws)


def moved(rng, dim, way):
    mu, sigma = rng.normal(0, 1, dim), rng.uniform(0.6, 1.4, dim)
    mu_new = mu + sigma * rng.uniform(0.2, 0.5, dim) * rng.choice([-1, 1], dim)
    return mu, sigma, mu_new, sigma * np.exp(way * rng.uniform(0.15, 0.35, dim))


def tables(rng):
    for draws, dim, way in [(7, 2, -1), (5, 4, 1)]:
        mu, sigma, *new = moved(rng, dim, way)
        yield mu + sigma * rng.uniform(-1.7, 1.7, (draws, dim)), rng.normal(1, 2, (draws, dim)), mu, sigma, *new


def large(rng):
    """Draws where the new q is and the old one hardly: weights above 40, one of them above 200."""
    mu, sigma, _, _ = moved(rng, 2, -1)
    mu_new = mu + 3.2 * sigma * rng.choice([-1, 1], 2)
    theta = mu_new + 0.75 * sigma * rng.permuted(np.tile(np.linspace(-0.6, 0.6, 7)[:, None], 2), axis=0)
    yield theta, rng.uniform(0.5, 2, (7, 2)), mu, sigma, mu_new, 0.75 * sigma


def coupled(rng):
    for dim in (2, 3):
        couplings = np.triu(rng.uniform(0.3, 0.9, (dim, dim)) * np.array([1, 1, -1])[:dim], 1)  # one of the three is negative
        mu = rng.uniform(0.4, 1.0, dim) * rng.choice([-1, 1], dim)
        move = np.array([0.3, -0.55, 0.9])[:dim] * rng.uniform(0.9, 1.1, dim)
        yield couplings + couplings.T + np.diag(rng.uniform(2.2, 3.5, dim)), mu, mu + move


def even_between(rng, *rows):
    """The two errors are equal well between a number of draws and the next one."""
    for least, bias in rows:
        size, variance = bias * float(rng.uniform(0.9, 1.1)), float(rng.uniform(1.0, 2.0))
        yield size, variance, variance + (least + float(rng.uniform(0.3, 0.7))) * size**2


def ties(rng):
    """Powers of two and their sums: every way of comparing is exact."""
    for bias, draws in [(0.5, 8), (-0.25, 16)]:
        variance = float(2 ** rng.integers(0, 3))
        yield bias, variance, variance + draws * bias**2


ESTIMATE = Record(
    cases=tables,
    reference=one_moved,
    right="Right. No weight is a product of many, so none runs away with the number of coordinates. What does that cost?",
    nudge="Not that estimate. With theta = [[2, 0], [4, 1]], slopes = [[3, 2], [0, 0]], mu = [0, 0], sigma = [2, 1], "
    "mu_new = [3, 1] and sigma_new = [1, 1] it is [3, 0.607].",
    hints=(
        "Every number in the table of slopes has a weight of its own. On which densities does it depend?",
        "w_mi = q'_i(theta_mi) / q_i(theta_mi) for draw m and coordinate i: a table as large as that of the slopes.",
        "Begin with `w = norm.pdf(theta, mu_new, sigma_new) / norm.pdf(theta, mu, sigma)`",
    ),
    mistakes={
        "You gave each draw one weight, a product. Coordinate i of the slopes gets the weight of coordinate i.": "w * slopes -> w.prod(axis=1, keepdims=True) * slopes",
        "Your weights are ratios of the noise's densities. The density of theta is the noise's divided by sigma.": "w * slopes -> w * sigma_new / sigma * slopes",
        "Your weights are upside down: the new density belongs above the old one.": "w * slopes -> slopes / w",
        "Your draws all count the same. They come from the old q; under the new one some are more likely than others.": "w * slopes -> slopes",
        "You averaged the weights on their own. Multiply each with its draw first.": "(w * slopes).mean(axis=0) -> w.mean(axis=0) * slopes.mean(axis=0)",
        "You divided by the sum of the weights. The plain mean over the draws was asked for.": "mean(axis=0) -> sum(axis=0) / w.sum(axis=0)",
    },
    later={
        CLIPPED: (large, clipped("w * slopes -> np.minimum(w, LEVEL) * slopes", (5, 20, 100))),
    },
)
BIAS = Record(
    cases=coupled,
    reference=bias_by_quadrature,
    right="Right. It vanishes if A is diagonal, or as the move does. More draws do not help.",
    nudge="Not that bias. With A = [[2, -1], [-1, 3]], mu = [1, 1] and mu_new = [2, 3] it is [-2, -1].",
    hints=(
        "Under which distribution does this average run? Coordinate i is where the new q has it; where are the others?",
        "s_i = b_i - sum over j of A_ij theta_j. For the truth each theta_j is at mu'_j on average. Where is it for the estimate?",
        "Begin with `off = A - np.diag(np.diag(A))`",
    ),
    mistakes={
        "Unbiased, then? The slope in coordinate i looks at the other coordinates, and those are still where the old q put them.": "return -> return 0.0 *",
        "You counted coordinate i's own move as well. Its own weight takes care of that one.": "off @ -> A @",
        "You counted coordinate i's own move, which its weight takes care of. What about the others?": "off @ -> np.diag(A) *",
        "You inverted A. It is the precision, and the slope b - A theta holds it as it is.": "off = -> A = np.linalg.inv(A)\noff =",
        "That is what the estimate is on average, but for b. Take the truth off.": "off @ (mu_new - mu) -> -off @ mu - np.diag(A) * mu_new",
    },
)
DRAWS = Record(
    cases=lambda rng: even_between(rng, (6 + rng.integers(5), 0.45), (40 + rng.integers(5), -0.45), (170 + rng.integers(5), 0.45)),
    reference=count_up,
    right="Right. With few draws a little bias is worth taking; with many it is all that is left.",
    nudge="Not that many. With bias = -1/2, factor_variance = 4 and joint_variance = 6.1 it is 9: with 9 draws the mean squared errors "
    "are 0.694 and 0.678, with 8 draws 0.75 and 0.7625.",
    hints=(
        "A mean squared error has two parts. Which of them shrink as draws are added?",
        "With M draws the mean squared errors are joint_variance / M and bias^2 + factor_variance / M. For which M are they equal?",
        "Begin with `even = (joint_variance - factor_variance) / bias**2`",
    ),
    mistakes={
        "The right place. A whole number of draws was asked for, the first beyond it.": "int(np.floor(even)) + 1 -> even",
        "One too few: with so many draws the factors' weights are still ahead.": "+ 1 -> ",
        "You compared a variance with a bias. In a mean squared error the bias is squared.": ("bias**2 -> bias", "bias**2 -> abs(bias)"),
        "Too many: the factors' weights have a variance, too, besides their bias.": "(joint_variance - factor_variance) -> joint_variance",
        "You took roots of the variances. A mean squared error is a squared bias plus a variance.": "joint_variance - factor_variance -> np.sqrt(joint_variance) - np.sqrt(factor_variance)",
    },
    later={
        "Right for many draws. Where the bias is large one weight for the whole draw wins with a few draws, or with one.": (
            lambda rng: even_between(rng, (0, 2.0), (1, -2.5), (3, 1.5)),
            "return -> return max(5, int(even) + 1) #",
        ),
        "Right, until it takes more than a few hundred draws. A small bias is worth taking for longer; do you stop looking too soon?": (
            lambda rng: even_between(rng, (1500, 0.3)),
            "return -> return min(200, int(even) + 1) #",
        ),
        "Right but for a tie: where the two errors are equal neither is the smaller, and it takes one draw more.": (
            ties,
            "int(np.floor(even)) + 1 -> int(np.ceil(even))",
        ),
    },
)
TASKS = {"estimate": ESTIMATE, "bias": BIAS, "draws": DRAWS}
