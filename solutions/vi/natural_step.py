"""Natural steps of a Gamma. Road: moments and the bound's slopes by quadrature over log theta, and a linear system; no update is known."""

import numpy as np
from scipy.special import gammaln

from course_pkg.checks.record import Record

U = np.linspace(-12.0, 6.0, 20_001)  # log theta
THETA = np.exp(U)
STATISTICS = np.stack([U, THETA])


def weights(a, b):
    """Of a Gamma on the grid; d theta is theta d log theta."""
    log = a * U - b * THETA
    w = np.exp(log - log.max())
    return w / w.sum()


def covariance(w, f):
    """Of the two statistics and a function, both of the grid."""
    gap = STATISTICS - (STATISTICS @ w)[:, None]
    return (gap * w) @ f.T


by_integrals = lambda a, b: covariance(weights(a, b), STATISTICS)


def by_slopes(a, b, y, x, a0, b0, rho, scale=1.0):
    """The slope of E_q[f] in a natural parameter is the covariance of its statistic with f; f is log joint less log q."""
    log_joint = (a0 - 1) * U - b0 * THETA
    for one, years in zip(y, x, strict=True):
        log_joint = log_joint + scale * (one * np.log(years * THETA) - years * THETA - gammaln(one + 1))
    w = weights(a, b)
    slope = covariance(w, log_joint - (a - 1) * U + b * THETA)
    move = rho * np.linalg.solve(covariance(w, STATISTICS), slope)
    return a + move[0], b - move[1]


def lifts(rng):
    for n, rho in ((3, 0.3), (6, 1.0), (4, 0.55)):
        x = rng.uniform(0.5, 4.0, n)
        a, a0 = rng.uniform(2.5, 8.0, 2)
        b, b0 = rng.uniform(1.5, 5.0, 2)
        yield a, b, rng.poisson(x) + 1.0, x, a0, b0, rho


def minibatches(rng):
    for (a, b, y, x, a0, b0, rho), N in zip(lifts(rng), (10, 40, 23), strict=True):
        yield a, b, y, x, N, a0, b0, rho


FISHER = Record(
    cases=lambda rng: np.column_stack([rng.uniform(2.5, 8.0, 3), rng.uniform(1.5, 5.0, 3)]).tolist(),
    reference=by_integrals,
    right="Right. A large shape makes log theta nearly certain, and it moves with theta: the matrix is far from diagonal.",
    nudge="Not that matrix. For a = 1 and b = 2 it is [[1.6449, 0.5], [0.5, 0.25]].",
    hints=(
        "A covariance matrix is the matrix of second derivatives of the log normaliser in the natural parameters.",
        "A(a, -b) = log Gamma(a) - a log b. With e = -b it is log Gamma(a) - a log(-e): differentiate twice, by a and by e.",
        "Begin with `return np.array([[polygamma(1, a), ...], [..., ...]])`",
    ),
    mistakes={
        "Your covariance is negative. That is for the parameters (a, b); the natural ones are (a, -b), and log theta grows with theta.": "1 / b -> -1 / b",
        "You took theta and log theta for independent. Where one is large the other is.": "1 / b -> 0.0",
        "That is the mean of theta, not its variance, in the corner.": "a / b**2 -> a / b",
        "You read b as a scale. It is a rate: the mean of theta is a / b.": "1 / b -> b ;; a / b**2 -> a * b**2",
        "In the first corner stands the mean of log theta (digamma) or a part of it. Its variance is the trigamma function.": "polygamma(1, a) -> digamma(a)",
        "That is the inverse of the Fisher matrix, which turns a gradient into a natural one.": "\nreturn np.linalg.inv(np.array([[polygamma(1, a), 1 / b], [1 / b, a / b**2]]))",
    },
    rtol=1e-4,
)
PRIOR = "Your target has no prior. The data add to it: a0 + sum of y, b0 + sum of x."
BEYOND = "You added the target to where you are. A step goes part of the way: the natural gradient is target *less* present parameters."
SWAPPED = "You exchanged rho and 1 - rho. At rho = 0 nothing moves, at rho = 1 you are at the target."
ROWS = "Each lift counts for one in your rate. What it adds is the years that it has run: the likelihood has exp(-theta x)."
STEP = Record(
    cases=lifts,
    reference=by_slopes,
    right="Right. No matrix is left: what the metric's inverse does, the metric in the gradient undoes.",
    nudge="Not that step. With a = 1, b = 1, y = [3, 1], x = [2, 2], a0 = 2, b0 = 1 and rho = 0.5 it is (3.5, 3).",
    hints=(
        "The log joint is linear in the statistics log theta and theta. Which natural parameters does it have, as a density of theta?",
        "The target is a0 + sum of y and b0 + sum of x. The natural gradient is the target less (a, b), up to the sign of b.",
        "Begin with `a_hat, b_hat = a0 + y.sum(), b0 + x.sum()`",
    ),
    mistakes={
        PRIOR: "a0 + y -> y ;; b0 + x -> x",
        BEYOND: "(1 - rho) * a + -> a + ;; (1 - rho) * b + -> b +",
        SWAPPED: "(1 - rho) * a + rho * a_hat -> rho * a + (1 - rho) * a_hat ;; (1 - rho) * b + rho * b_hat -> rho * b + (1 - rho) * b_hat",
        ROWS: "b0 + x.sum() -> b0 + len(x)",
        "The exponent of a Gamma density is its shape less one, and so is the prior's: the two ones cancel.": "a0 + y -> a0 - 1 + y",
        "You averaged shape and mean. The natural parameters are a and -b; a mean is neither of them.": """
            a_hat, b_hat = a0 + y.sum(), b0 + x.sum()
            shape = (1 - rho) * a + rho * a_hat
            return shape, shape / ((1 - rho) * a / b + rho * a_hat / b_hat)
            """,
        "That is the ordinary gradient. Solve with the Fisher matrix, or see that it cancels.": """
            metric = np.array([[polygamma(1, a), 1 / b], [1 / b, a / b**2]])
            gradient = metric @ np.array([a0 + y.sum() - a, b - b0 - x.sum()])
            return a + rho * gradient[0], b - rho * gradient[1]
            """,
    },
    rtol=1e-4,
)
MINIBATCH = Record(
    cases=minibatches,
    reference=lambda a, b, y, x, N, a0, b0, rho: by_slopes(a, b, y, x, a0, b0, rho, scale=N / len(y)),
    right="Right. Every lift is as likely as any other to be drawn, so N / |S| times the sum has the sum over all for its mean.",
    nudge="Not that step. With a = 1, b = 1, y = [3, 1], x = [2, 2], N = 4, a0 = 2, b0 = 1 and rho = 0.5 it is (5.5, 5).",
    hints=(
        "The mean of the minibatch's sum is |S| / N of the whole sum.",
        "Multiply both sums by N / |S|. The prior is there once, however many lifts are drawn.",
        "Begin with `scale = N / len(y)`",
    ),
    mistakes={
        "You forgot to scale: these lifts count for themselves only, as if the company had no others.": "N / len(y) -> 1.0",
        "You scaled the prior, too. It is one term, not one of N.": "a0 + scale * y.sum(), b0 + scale * x.sum() -> scale * (a0 + y.sum()), scale * (b0 + x.sum())",
        "Your factor is upside down. Few lifts must count for many.": "N / len(y) -> len(y) / N",
        "You multiplied the sum by N. That is right for the *mean* over the minibatch; the sum wants N / |S|.": "N / len(y) -> N",
        "You scaled the breakdowns and not the years, and the rate comes out far too high.": "scale * x.sum() -> x.sum()",
        PRIOR: "a0 + scale -> scale ;; b0 + scale -> scale",
        BEYOND: "(1 - rho) * a + -> a + ;; (1 - rho) * b + -> b +",
        SWAPPED: "(1 - rho) * a + rho * a_hat -> rho * a + (1 - rho) * a_hat ;; (1 - rho) * b + rho * b_hat -> rho * b + (1 - rho) * b_hat",
    },
    rtol=1e-4,
)
TASKS = {"fisher": FISHER, "step": STEP, "minibatch": MINIBATCH}
