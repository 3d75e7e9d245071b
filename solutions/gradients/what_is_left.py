"""What is left to climb. Roads: a bound moved by a little along each width; every pair of batches, one by one."""

import itertools

import numpy as np

from course_pkg.checks.record import Record


def by_moving(gradient, L):
    def bound(a):  # a plane with that slope
        return gradient @ (L @ a)

    return np.array([(bound(step) - bound(-step)) / 2 for step in np.eye(len(gradient))])


def triangles(rng):
    for d in (2, 3, 4):
        yield rng.normal(size=d), np.tril(rng.normal(size=(d, d)), -1) + np.diag(rng.uniform(0.5, 2, d))


def by_pairs(slopes):
    products = [a @ b for a, b in itertools.combinations(slopes, 2)]
    return 0.5 * sum(products) / len(products)


UNIT = Record(
    cases=triangles,
    reference=by_moving,
    right="Right. A step of one width along a coordinate of a moves the mean by a column of L, and the slope is felt along that.",
    nudge="Not that slope. With gradient = [1, 2] and L = [[2, 0], [1, 3]] it is [4, 6].",
    hints=(
        "Moving a by one unit along its first coordinate moves m by the first column of L. How much does the bound rise then?",
        "The chain rule: the slope along a[j] is the sum over i of gradient[i] * dm[i]/da[j], and dm[i]/da[j] = L[i, j].",
        "The sum runs over the rows of L: that is its transpose times the gradient.",
    ),
    mistakes={
        "You took rows of L where the columns are meant: a move of a[j] goes along column j.": "L.T @ -> L @",
        "You divided by the widths. A slope for each unit of m becomes larger, not smaller, where a width is larger.": (
            "L.T @ gradient -> np.linalg.solve(L, gradient)"
        ),
        "You took the diagonal alone. A move in one own coordinate moves the others of m, too.": "L.T @ -> np.diag(np.diag(L)) @",
        "That is the slope times the covariance: one L too many.": "L.T @ -> L @ L.T @",
    },
)
PROMISED = Record(
    cases=lambda rng: [(rng.normal(2, 1, shape),) for shape in ((5, 3), (4, 2), (10, 1))],
    reference=by_pairs,
    right="Right. Two batches have noise of their own, so their product has the mean of the true square.",
    nudge="Not that number. With slopes = [[1, 0], [3, 2], [2, 1]] it is 13/6.",
    hints=(
        "What is the mean of a noisy number's square? And of the product of two numbers with the same mean and independent noise?",
        "Average the inner products of all pairs of different batches, and take half of it.",
        "The square of a sum holds all products: that of each with itself, which you take away, and each pair twice.",
    ),
    mistakes={
        "You kept each batch's product with itself, and with it the noise.": "(total @ total - (slopes**2).sum()) / (B * (B - 1)) -> total @ total / B**2",
        "You averaged the squares of the batches: that is the noise, most of all.": "(total @ total - (slopes**2).sum()) / (B * (B - 1)) -> (slopes**2).sum() / B",
        "Half of it: a parabola with curvature one.": "0.5 * -> ",
        "You took the squares away, and divided by all B**2 products. B of them are gone.": "(B * (B - 1)) -> B**2",
        "You counted each pair once and divided by twice their number, or the other way round.": "0.5 * -> 0.25 *",
        "You took off the noise of a single batch. The mean of B batches carries a B-th of it.": (
            "total @ total - (slopes**2).sum()) / (B * (B - 1)) -> total @ total / B**2 - slopes.var(axis=0, ddof=1).sum())"
        ),
        "You estimated the noise with the divisor B. Its own mean is right with B - 1: half of what is left of it is yours.": (
            "total @ total - (slopes**2).sum()) / (B * (B - 1)) -> total @ total / B**2 - slopes.var(axis=0).sum() / B)"
        ),
        "One half against the other has the right mean, and leaves most pairs of batches unused. Treat all batches alike.": (
            "(total @ total - (slopes**2).sum()) / (B * (B - 1)) -> slopes[:B // 2].mean(axis=0) @ slopes[B // 2:].mean(axis=0)"
        ),
    },
    later={
        "Right where it is positive. An estimate that is cut off at 0 is too large on average: let it be negative.": (
            lambda rng: [(noise - noise.mean(axis=0),) for noise in (rng.normal(size=(6, 2)),)],
            "return 0.5 * (total @ total - (slopes**2).sum()) / -> return 0.5 * max(0.0, total @ total - (slopes**2).sum()) / ",
        ),
    },
)
TASKS = {"unit": UNIT, "promised": PROMISED}
