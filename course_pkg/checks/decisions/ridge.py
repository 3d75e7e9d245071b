"""Ridge as a Bayes action. Road: climb the log joint density numerically, knowing nothing of penalties."""

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Verdict, judge


def _mode(x: np.ndarray, y: np.ndarray, sigma: float, sigma0: float, *, intercept_scale: float = np.inf, share: float = 1.0) -> np.ndarray:
    """Where the log joint density is largest; ``share`` scales the likelihood, an infinite scale means a flat prior."""

    def minus_log_joint(b: np.ndarray) -> float:
        likelihood = norm.logpdf(y, b[0] + x @ b[1:], sigma).sum()
        prior = norm.logpdf(b[1:], 0, sigma0).sum()
        if np.isfinite(intercept_scale):
            prior += norm.logpdf(b[0], 0, intercept_scale)
        return -float(share * likelihood + prior)

    start = np.zeros(x.shape[1] + 1)
    rough = minimize(minus_log_joint, start, method="BFGS").x
    return np.asarray(minimize(minus_log_joint, rough, method="Powell", options={"xtol": 1e-10, "ftol": 1e-14}).x)


def _cases(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 1])
    cases = []
    for rows, sigma, sigma0 in [(25, 1.5, 0.5), (12, 0.8, 1.7)]:
        x = rng.normal(1.0, 1.0, (rows, 3))
        y = 4.0 + x @ rng.normal(0, 1, 3) + rng.normal(0, sigma, rows)
        cases.append((x, y, sigma, sigma0))
    return cases


def _penalty_by_search(sigma: float, sigma0: float) -> float:
    mode = _mode(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]), sigma, sigma0)[1]
    return float(2 / mode - 2)  # with these two rows the penalised sum of squares is least at 2 / (2 + penalty)


def penalty_stub(sigma: float, sigma0: float) -> Any:
    raise NotImplementedError


def ridge_stub(x: np.ndarray, y: np.ndarray, sigma: float, sigma0: float) -> Any:
    raise NotImplementedError


def _least_squares(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.lstsq(np.column_stack([np.ones(len(y)), x]), y, rcond=None)[0])


def _mean_as_intercept(x: np.ndarray, y: np.ndarray, sigma: float, sigma0: float) -> np.ndarray:
    return np.concatenate([[y.mean()], _mode(x, y, sigma, sigma0)[1:]])


def _standardised(x: np.ndarray, y: np.ndarray, sigma: float, sigma0: float) -> np.ndarray:
    return _mode((x - x.mean(axis=0)) / x.std(axis=0), y, sigma, sigma0)


def _scaled_back(x: np.ndarray, y: np.ndarray, sigma: float, sigma0: float) -> np.ndarray:
    theta = _standardised(x, y, sigma, sigma0)[1:] / x.std(axis=0)
    return np.concatenate([[y.mean() - x.mean(axis=0) @ theta], theta])


PENALTY_MISTAKES = {
    "inverted": Mistake(
        lambda sigma, sigma0: sigma0**2 / sigma**2,
        "Your penalty is upside down. Noisier data should be trusted less, so the penalty must grow with sigma.",
    ),
    "not squared": Mistake(
        lambda sigma, sigma0: sigma / sigma0,
        "You divided the standard deviations. A Gaussian's exponent holds their squares, the variances.",
    ),
    "prior forgotten": Mistake(
        lambda sigma, sigma0: sigma**2,
        "Your penalty does not know sigma0. A wide prior should hardly penalise at all.",
    ),
}
RIDGE_MISTAKES = {
    "penalty inverted": Mistake(
        lambda x, y, sigma, sigma0: _mode(x, y, sigma0, sigma),
        "Your penalty is upside down: sigma and sigma0 have changed places.",
    ),
    "intercept penalised": Mistake(
        lambda x, y, sigma, sigma0: _mode(x, y, sigma, sigma0, intercept_scale=sigma0),
        "You penalised the intercept, too. Its prior is flat: adding 100 to every y must add 100 to it and leave the rest alone.",
    ),
    "N forgotten": Mistake(
        lambda x, y, sigma, sigma0: _mode(x, y, sigma, sigma0, share=1 / len(y)),
        "You averaged the squared residuals where the log likelihood adds them up, so the prior weighs N times too much.",
    ),
    "ordinary least squares": Mistake(
        lambda x, y, sigma, sigma0: _least_squares(x, y), "That is ordinary least squares: the prior is missing."
    ),
    "intercept last": Mistake(
        lambda x, y, sigma, sigma0: np.roll(_mode(x, y, sigma, sigma0), -1),
        "The intercept comes first.",
    ),
    "mean for intercept": Mistake(_mean_as_intercept, "The average of y is the intercept only for centred columns."),
    "standardised": Mistake(_standardised, "You standardised x: give the coefficients for x as it came."),
    "standardised and scaled back": Mistake(
        _scaled_back,
        "You standardised x before the fit and scaled back after it. The prior is on the coefficients of x as it came.",
    ),
}


def penalty_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 0])
    cases = [tuple(map(float, pair)) for pair in rng.uniform(0.5, 2.0, (3, 2))]
    return judge(
        answer,
        cases,
        _penalty_by_search,
        PENALTY_MISTAKES,
        right="Right. The penalty is what the prior is worth in units of the noise: nobody has to tune it who believes both.",
        nudge="That is another number. With sigma = sigma0 a single row x = 1 and the prior deserve equal say: try that by hand.",
        rtol=1e-3,
    )


def ridge_verdict(answer: Any, seed: int = 0) -> Verdict:
    return judge(
        answer,
        _cases(seed),
        _mode,
        RIDGE_MISTAKES,
        right="Right. Squared loss asks for the posterior mean, and here the posterior mean is ridge regression.",
        nudge="The shape is right and the numbers are not. As sigma0 grows they must approach ordinary least squares.",
        rtol=1e-3,
    )


TASKS = (
    Task(
        "decisions/ridge/penalty",
        "Ridge as a Bayes action: the penalty",
        1,
        8,
        penalty_stub,
        (
            "Write down the log of the joint density. Which terms depend on the coefficients?",
            "log p(y, theta) = -|y - X theta|^2 / (2 sigma^2) - |theta|^2 / (2 sigma0^2) + constant. Multiply by -2 sigma^2.",
            "Compare with |y - X theta|^2 + penalty * |theta|^2 and read off what stands before |theta|^2.",
        ),
        PENALTY_MISTAKES,
        penalty_verdict,
    ),
    Task(
        "decisions/ridge/fit",
        "Ridge as a Bayes action: the fit",
        1,
        12,
        ridge_stub,
        (
            "Squared loss asks for the posterior mean. A Gaussian's mean is where its density peaks.",
            "A flat prior lets the intercept absorb the averages: for centred columns and centred y, (X'X + penalty I) theta = X'y.",
            "Begin with `x_mean, y_mean = x.mean(axis=0), y.mean()`",
        ),
        RIDGE_MISTAKES,
        ridge_verdict,
    ),
)
