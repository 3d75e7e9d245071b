"""Which estimator? Road: the mean of a logarithm as an integral over the Laplace transform, without listing any draws."""

import numpy as np

from course_pkg.checks.record import Record

V = np.linspace(-36.0, 7.0, 1_601)  # log of the transform's argument


def mean_log(p, u, draws):
    """E log X = integral of (e^-t - E e^-tX) / t, and the transform of a mean of draws is a power."""
    t = np.exp(V)
    transform = (np.exp(-t[:, None] * u / draws) @ p) ** draws
    return np.trapezoid(np.exp(-t) - transform, V)


def biases_by_transform(p, loss, M, draws):
    truth = np.log(M - p @ loss)
    return mean_log(p, M - loss, draws) - truth, mean_log(p, M - loss, 1) - truth, np.log(M) - p @ loss / M - truth


def preferred_by_transform(p, loss, M, draws):
    naive, logs = ([mean_log(p, M - column, size) for column in loss.T] for size in (draws, 1))
    return np.argmax(naive), np.argmax(logs), np.argmin([p @ column for column in loss.T])


def bets(rng):
    for size, draws in [(3, 2), (2, 3)]:
        loss = np.append(0.0, rng.uniform(0.5, 3, size - 1))
        yield rng.dirichlet(np.full(size, 3.0)), loss, loss.max() + rng.uniform(0.2, 0.6), draws


def choices(rng):
    for draws in (2, 2, 3, 3, 3):
        loss = rng.uniform(0, 3, (3, 3))
        yield rng.dirichlet(np.full(3, 2.0)), loss, loss.max() + rng.uniform(0.01, 0.05), draws


EXPECTED = Record(
    cases=lambda rng: [(rng.dirichlet(np.full(size, 2.0)), rng.uniform(0.2, 3, size), draws) for size, draws in [(3, 2), (4, 3), (3, 3)]],
    reference=mean_log,
    right="Right. It rises towards the log of the expected utility as there are more draws, and never reaches it.",
    nudge="Not that mean (which is exact, and needs no random numbers). With p = [1/4, 3/4], u = [1, 3] and two draws it is 0.878.",
    hints=(
        "A mean over all that can be drawn: list every sequence of draws, with its probability and the estimate that it gives.",
        "sum over (k_1, ..., k_S) of p_k1 ... p_kS log((u_k1 + ... + u_kS) / S).",
        "Begin with `lists = np.array(list(itertools.product(range(len(u)), repeat=draws)))`",
    ),
    mistakes={
        "That is what the estimate should be. Its mean is lower and depends on the number of draws.": "probability @ estimate -> np.log(p @ u)",
        "You gave every list of draws the same weight. Its probability is the product of the draws' probabilities.": "probability @ estimate -> estimate.mean()",
        "You took the log of the sum. The estimate is the log of the mean: you are off by the log of the number of draws.": "mean -> sum",
    },
    rtol=1e-5,
)
BIASES = Record(
    cases=bets,
    reference=biases_by_transform,
    right="Right. Two are too low and one is too high; only the first fades with more draws.",
    nudge="Not those three. With p = [1/2, 1/2], loss = [0, 2], M = 3 and two draws they are -0.072, -0.144 and 0.072.",
    hints=(
        "Three means, and one truth to take off. The mean of the logs is a naive estimate with a certain number of draws.",
        "Truth: log(M - E l). Means: Part 1; E log(M - l); log M - E l / M.",
        "Begin with `truth = np.log(M - p @ loss)`",
    ),
    mistakes={
        "The first two are right. The tangent of log(M - loss) at no loss starts from log M, which a climb may drop and a bias may not.": "np.log(M) - p -> -p",
        "The first two are right. For the third you took the logarithm itself; its tangent at no loss is a straight line in the loss.": "np.log(M) - p @ loss / M -> truth",
        "You compared with the mean of log u. The truth is the logarithm of the expected utility.": "np.log(M - p @ loss) -> p @ np.log(M - loss)",
        "The first two are right. The slope of log(M - loss) at no loss is -1/M.": "loss / M -> loss",
    },
    parts=("the first", "the second", "the third"),
)
PREFERRED = Record(
    cases=choices,
    reference=preferred_by_transform,
    right="Right. The tangent errs in its value and not in its decision; the mean of the logs shuns whatever can once go badly.",
    nudge="Not those three. With p = [0.9, 0.1], loss = [[0, 1], [2.99, 1]], M = 3 and two draws they are 0, 1 and 0.",
    hints=(
        "Rate each decision by the mean of the estimate, once for each estimator, and take the best.",
        "For h = 0, 1, ...: Part 1 with u = M - loss[:, h]; the same with one draw; -p @ loss[:, h] / M.",
        "Begin with `utilities = M - loss`",
    ),
    mistakes={
        "Your first decision is the best for the true expected utility. With few draws the naive estimate thinks otherwise.": "np.argmax(naive) -> np.argmin(p @ loss)",
        "Those are three times the decision of least expected loss. A bias may prefer another.": "np.argmax(naive) -> np.argmin(p @ loss) ;; np.argmax(logs) -> np.argmin(p @ loss)",
        "Those are the decisions that the estimators think least of.": "argmax -> argmin ;; argmin(p -> argmax(p",
        "The first two have changed places: naive, mean of the logs, tangent.": "return -> naive, logs = logs, naive\nreturn",
        "You took the rows for the decisions. Rows are outcomes, columns decisions.": "utilities = -> loss = loss.T\nutilities =",
    },
    parts=("the first", "the second", "the third"),
    apart=True,
)
TASKS = {"expected": EXPECTED, "biases": BIASES, "preferred": PREFERRED}
