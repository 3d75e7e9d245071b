"""Ridge as a Bayes action. Road: climb the log joint density numerically, knowing nothing of penalties."""

import numpy as np
from scipy.optimize import minimize
from scipy.stats import norm

from course_pkg.checks.record import Record


def mode(x, y, sigma, sigma0):
    def minus_log_joint(b):
        return -(norm.logpdf(y, b[0] + x @ b[1:], sigma).sum() + norm.logpdf(b[1:], 0, sigma0).sum())

    rough = minimize(minus_log_joint, np.zeros(x.shape[1] + 1), method="BFGS").x
    return minimize(minus_log_joint, rough, method="Powell", options={"xtol": 1e-10, "ftol": 1e-14}).x


def penalty_by_search(sigma, sigma0):
    slope = mode(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]), sigma, sigma0)[1]
    return 2 / slope - 2  # with these two rows the penalised sum of squares is least at 2 / (2 + penalty)


def tables(rng):
    for rows, sigma, sigma0 in [(25, 1.5, 0.5), (12, 0.8, 1.7)]:
        x = rng.normal(1.0, 1.0, (rows, 3))
        yield x, 4.0 + x @ rng.normal(0, 1, 3) + rng.normal(0, sigma, rows), sigma, sigma0


PENALTY = Record(
    cases=lambda rng: rng.uniform(0.5, 2.0, (3, 2)).tolist(),
    reference=penalty_by_search,
    right="Right. The penalty is what the prior is worth in units of the noise: nobody has to tune it who believes both.",
    nudge="Not that penalty. With sigma = 2 and sigma0 = 1 it is 4: the prior counts like four rows with x = 1.",
    hints=(
        "Write down the log of the joint density. Which terms depend on the coefficients?",
        "log p(y, theta) = -|y - X theta|^2 / (2 sigma^2) - |theta|^2 / (2 sigma0^2) + constant. Multiply by -2 sigma^2.",
        "Compare with |y - X theta|^2 + penalty * |theta|^2 and read off what stands before |theta|^2.",
    ),
    mistakes={
        "Your penalty is upside down. Noisier data should be trusted less, so the penalty must grow with sigma.": "sigma**2 / sigma0**2 -> sigma0**2 / sigma**2",
        "You divided the standard deviations. A Gaussian's exponent holds their squares, the variances.": "**2 -> ",
        "Your penalty does not know sigma0. A wide prior should hardly penalise at all.": "/ sigma0**2 -> ",
        "Your penalty is half of it: both squares stand in the exponent with the same 1/2, which cancels.": "return -> return 0.5 *",
        "Your penalty does not know the noise. The noisier the data, the more the prior counts.": "sigma**2 / -> 1 /",
    },
    rtol=1e-3,
)
FIT = Record(
    cases=tables,
    reference=mode,
    right="Right. Squared loss asks for the posterior mean, and here the posterior mean is ridge regression.",
    nudge="Not those coefficients. With x = [[-1], [1]], y = [0, 2], sigma = 1 and sigma0 = 1 they are 1 and 2/3.",
    hints=(
        "Squared loss asks for the posterior mean. A Gaussian's mean is where its density peaks.",
        "A flat prior lets the intercept absorb the averages: for centred columns and centred y, (X'X + penalty I) theta = X'y.",
        "Begin with `x_mean, y_mean = x.mean(axis=0), y.mean()`",
    ),
    mistakes={
        "Your penalty divides standard deviations. A Gaussian's exponent holds their squares.": "penalty(sigma, sigma0) -> sigma / sigma0",
        "Your penalty is half of it: both squares stand in the exponent with the same 1/2, which cancels.": "penalty(sigma, sigma0) -> penalty(sigma, sigma0) / 2",
        "You penalised the intercept, too. Its prior is flat: adding 100 to every y must add 100 to it and leave the rest alone.": """
            x = np.column_stack([np.ones(len(y)), x])
            return np.linalg.solve(x.T @ x + penalty(sigma, sigma0) * np.eye(x.shape[1]), x.T @ y)
            """,
        "You averaged the squared residuals where the log likelihood adds them up, so the prior weighs N times too much.": "penalty(sigma, -> len(y) * penalty(sigma,",
        "That is ordinary least squares: the prior is missing.": "penalty(sigma, sigma0) -> 0",
        "The average of y is the intercept only for centred columns.": "y_mean - x_mean @ theta -> y_mean",
        "You standardised x before the fit and scaled back after it. The prior is on the coefficients of x as it came.": (
            "centred = x - x_mean -> centred = (x - x_mean) / x.std(axis=0) ;; return -> theta = theta / x.std(axis=0)\nreturn"
        ),
    },
    rtol=1e-3,
)
TASKS = {"penalty": PENALTY, "fit": FIT}
