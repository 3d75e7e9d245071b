"""The utility term from draws. Roads: products in the place of sums of logarithms; curvature by differences, pairs."""

import math

import numpy as np

from course_pkg.checks.record import Record


def by_products(y, h, M):
    def inner(s, n):
        return math.fsum(math.exp(-((value - h[n]) ** 2) / M) for value in y[s, :, n]) / y.shape[1]

    return math.log(math.prod(inner(s, n) for s in range(len(y)) for n in range(len(h)))) / len(y)


def corrected_by_differences(u):
    """The logarithm's own curvature, drawn by differences, times half the variance of the mean, found from pairs."""
    total = 0.0
    for row in u:
        mean, step = sum(row) / len(row), 1e-4
        curvature = (math.log(mean + step) - 2 * math.log(mean) + math.log(mean - step)) / step**2
        pairs = [(a - b) ** 2 / 2 for i, a in enumerate(row) for b in row[:i]]
        total += math.log(mean) - 0.5 * curvature * sum(pairs) / len(pairs) / len(row)
    return total / len(u)


def outcomes(rng):
    for thetas, draws, rows, M in [(4, 6, 3, 2.0), (5, 3, 1, 0.7), (3, 3, 3, 5.0)]:
        h = rng.normal(0, 2, rows)
        yield h + rng.choice([-1, 1], (thetas, draws, rows)) * np.sqrt(M * rng.uniform(0.1, 2.5, (thetas, draws, rows))), h, M


TERM = Record(
    cases=outcomes,
    reference=by_products,
    right="Right. The logarithm stands between the two means.",
    nudge="Not that number. With M = 1 it is -0.352 for y = [[[0], [1]], [[0], [2]], [[0], [0]]] (three thetas, two outcomes, one "
    "row) and h = [0], and -4 for y = [[[0, 1]]] (two rows) and h = [0, 3].",
    hints=(
        "From the inside out: a utility for each outcome, the mean over outcomes, the log, the mean over theta, the sum over rows.",
        "sum over n of (1/S_theta) sum over s of log( (1/S_y) sum over t of exp(-(y_stn - h_n)^2 / M) ).",
        "Begin with `u = np.exp(-((y - h) ** 2) / M)`",
    ),
    mistakes={
        "Your logarithm is inside the inner mean. First average, for each theta, then take the log.": "np.log(u.mean(axis=1)) -> np.log(u).mean(axis=1)",
        "Your logarithm is outside both means. It belongs between them.": "u.mean(axis=1) -> u.mean(axis=(0, 1), keepdims=True)[0]",
        "You averaged over theta inside the logarithm. The first axis is theta, the second the outcomes.": "u.mean(axis=1) -> u.mean(axis=0)",
        "You summed over the outcomes inside the logarithm. Divide by their number.": "u.mean -> u.sum",
    },
)
CORRECTED = Record(
    cases=lambda rng: [(rng.uniform(0.3, 2, shape),) for shape in [(3, 2), (4, 6), (2, 3)]],
    reference=corrected_by_differences,
    right="Right. It helps where V / (S_y mean^2) is well below 1; with few and unequal utilities the estimated V is itself too noisy.",
    nudge="Not that number. With u = [[1, 3]] it is 0.818, and with u = [[1, 3], [4, 4]] 1.102.",
    hints=(
        "Expand log around the true mean to second order and take expectations. What is the variance of a mean of S_y outcomes?",
        "E log(mean) is about log(true mean) - V / (2 S_y mean^2). Put that much back, with the estimated V and mean of each theta.",
        "Begin with `mean = u.mean(axis=1)`",
    ),
    mistakes={
        "You took the estimate further down. Its bias is negative, and to take that off is to add.": "+ low_by -> - low_by",
        "You corrected the mean of the logs, as one text prints it. It is the log of the mean that is low.": "* u.shape[1] ->  ;; np.log(mean) -> np.log(u).mean(axis=1)",
        "Your correction is as large for a million outcomes as for two. What makes the naive estimate low is the variance of the mean.": "* u.shape[1] -> ",
        "The correction is right. It belongs to the log of the mean, not to the mean of the logs.": "np.log(mean) -> np.log(u).mean(axis=1)",
        "Your correction is twice too large. The second-order term of an expansion has a factor 1/2.": "2 * u.shape[1] -> u.shape[1]",
        "The second derivative of log x is -1 / x^2. Your mean is not squared, and the answer changes with the unit of the utility.": "mean**2 -> mean",
        "Nearly: divide by S_y - 1 in the variance, as the text asks (NumPy: ddof=1).": ", ddof=1 -> ",
    },
)
TASKS = {"term": TERM, "corrected": CORRECTED}
