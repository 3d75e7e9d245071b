"""James-Stein in five parts. Roads: risks in closed form or by quadrature; the two rules themselves, whose risks the tests check."""

import numpy as np
from scipy.integrate import trapezoid
from scipy.stats import chi2, ncx2, norm

from course_pkg.checks.record import Record
from solutions.decisions._tools import RUNS, random_record

THETA = np.linspace(-1.0, 2.0, 6)
FACTOR = "1 - (y.shape[-1] - 2) / squared_length"


def risk_law(rule, theta, runs):
    """Risk and standard error of a rule that keeps a share of y, with standard errors of both."""
    kept, n, squared_length = rule(np.ones(1))[0], len(theta), theta @ theta
    risk = kept**2 * n + (1 - kept) ** 2 * squared_length
    error = np.sqrt((2 * kept**4 * n + 4 * kept**2 * (1 - kept) ** 2 * squared_length) / runs)
    return [risk, error], [error, 0.02 * error]  # from 20,000 runs the error itself is known to about one per cent


def mean_inverse(n, noncentrality):
    """E[1/|y|^2] for y ~ N(theta, I_n), |theta|^2 = noncentrality: an integral over the length u, where it is smooth."""
    law = chi2(n) if noncentrality == 0 else ncx2(n, noncentrality)
    u = np.linspace(1e-6, np.sqrt(noncentrality) + np.sqrt(n) + 12, 2_001)
    return trapezoid(2 * law.pdf(u**2) / u, u)


def bayes_by_quadrature(y, s0):
    theta = np.linspace(-30, 30, 4_001)
    weights = [norm.pdf(theta, 0, s0) * norm.pdf(value, theta) for value in np.ravel(y)]
    return np.reshape([weight @ theta / weight.sum() for weight in weights], y.shape)


def james_stein(y):
    length = np.linalg.norm(y, axis=-1, keepdims=True)
    return y - (y.shape[-1] - 2) / length * (y / length)


def positive_part(y):
    beyond = np.linalg.norm(y, axis=-1, keepdims=True) > np.sqrt(y.shape[-1] - 2)
    return np.where(beyond, james_stein(y), 0.0)


def excess_by_quadrature(n, s0):
    """Average risk of James-Stein under theta ~ N(0, s0^2 I), less that of the Bayes rule; |y|^2 is (1 + s0^2) chi2(n)."""
    inverse = mean_inverse(n, 0.0) / (1 + s0**2)
    theta = np.linspace(-30, 30, 4_001)
    weight = norm.pdf(theta, 0, s0) * norm.pdf(0.0, theta)
    return n - (n - 2) ** 2 * inverse - n * (weight @ theta**2) / weight.sum()


def data_sets(rng):
    """Two numbers of coordinates; the lengths run from well inside |y|^2 = N - 2 to well beyond it."""
    for n in (10, 5):
        y = rng.normal(size=(12, n))
        lengths = np.sqrt((n - 2) * np.linspace(0.2, 6.0, len(y)))
        yield (y * (lengths / np.linalg.norm(y, axis=1))[:, None],)


RISK = random_record(
    [(lambda y: y, THETA, RUNS), (lambda y: y / 2, THETA, RUNS)],
    risk_law,
    parts=("the risk", "its standard error"),
    right="Right. This function will now judge every estimator that you write below.",
    nudge="For the rule that says y the risk must be the number of coordinates, whatever theta is. "
    "Its standard error is the spread of the losses over sqrt(runs).",
    hints=(
        "Fix theta, draw many data sets, apply the rule to each, and average its squared distance from theta.",
        "risk = E |rule(y) - theta|^2, y ~ N(theta, I); its standard error is sd(losses)/sqrt(runs).",
        "Begin with `y = theta + np.asarray(jax.random.normal(key, (runs, len(theta))))`",
    ),
    mistakes={
        "You averaged over the coordinates. The loss here is their sum: the risk of saying y is n, not 1.": "sum(axis=1) -> mean(axis=1)",
        "The risk is right; what you call its standard error is the spread of one run's loss. A mean of runs errs less, by sqrt(runs).": "/ np.sqrt(runs) -> ",
        "You measured the distance to y. What counts is the distance to theta, which the rule has not seen.": "rule(y) - theta -> rule(y) - y",
        "Each data set has one draw of noise, which all its coordinates share. Draw one for each coordinate.": "(runs, len(theta)) -> (runs, 1)",
        "Your data do not know theta: y is theta plus noise.": "y = theta + -> y = ",
        "You summed over the runs. The loss of a run is a sum over its coordinates.": "sum(axis=1) -> sum(axis=0)",
    },
)
BAYES = Record(
    cases=lambda rng: [(rng.normal(0, 2, shape), s0) for shape, s0 in [((5,), 0.5), ((3, 4), 1.8)]],
    reference=bayes_by_quadrature,
    right="Right. Knowing s0 you would shrink by a fixed factor. The next part finds the factor without knowing it.",
    nudge="Not that estimate. With y = [5, -10] and s0 = 2 it is [4, -8].",
    hints=(
        "Every coordinate is a normal mean with a normal prior around zero, seen once.",
        "E[theta | y] is a weighted mean of 0 and y; the weights are the precisions 1/s0^2 and 1.",
        "Begin with `prior_precision = 1 / s0**2`",
    ),
    mistakes={
        "You kept the part that should go. A very wide prior must leave y almost alone.": "1 / s0**2 -> s0**2",
        "You compared standard deviations. It is variances that share out the weight between prior and data.": "s0**2 -> s0",
        "You have the weighted sum of 0 and y. A mean divides it by the sum of both weights.": "(1 + prior_precision) -> 1",
    },
)
ESTIMATOR = Record(
    cases=data_sets,
    reference=james_stein,
    right="Right. Its risk is below that of y everywhere, and no prior was asked for.",
    nudge="Not these estimates. With y = [[1, 1, 1, 1]] it is y / 2, since |y|^2 = 2 (N - 2).",
    hints=(
        "The Bayes factor is 1 - 1/(1 + s0^2). All coordinates together tell you how large 1 + s0^2 is.",
        "|y|^2/(1 + s0^2) is chi-squared with N degrees of freedom, and E[1/chi2_N] = 1/(N - 2).",
        "Begin with `squared_length = (y**2).sum(axis=-1, keepdims=True)`",
    ),
    mistakes={
        "You pull by N. The mean of 1/chi-squared with N degrees of freedom is not 1/N: two degrees of freedom go missing.": "- 2) -> )",
        "You divided by the length of y where its square belongs.": "/ squared_length -> / np.sqrt(squared_length)",
        "You divided by the mean of the squares. |y|^2 is their sum.": "sum(axis -> mean(axis",
        "You summed over the rows. Each row is its own problem: sum over the last axis, and keep it for the division.": "axis=-1, keepdims=True -> || axis=-1 -> axis=0",
        "You kept B y, the part that should go: the rule is (1 - B) y.": f"({FACTOR}) -> (y.shape[-1] - 2) / squared_length",
    },
)
POSITIVE_PART = Record(
    cases=data_sets,
    reference=positive_part,
    right="Right. It beats James-Stein, which beats y: near zero nearly all of the risk is gone.",
    nudge="Not these estimates. With y = [[1, 1, 1, 1], [0.5, 0.5, 0.5, 0.5]] they are 1/2 in the first row and 0 in the second.",
    hints=(
        "For which y does the estimator of the last part point the other way? Would you ever want that?",
        "Follow the factor 1 - (N - 2)/|y|^2 as |y|^2 falls. At which length should the estimate have arrived at zero, and stay there?",
        "Begin with the factor of part 3, and look up `np.maximum`: it is for the factor, not for the estimate.",
    ),
    mistakes={
        "The positive part is missing: for short y your factor is negative and the estimate points away from the data.": f"np.maximum({FACTOR}, 0) -> ({FACTOR})",
        "You clipped the coordinates. It is the factor that must not fall below zero; theta may be negative.": f"np.maximum({FACTOR}, 0) * y -> np.maximum(({FACTOR}) * y, 0)",
        "Where the factor is negative you say y itself. There the best guess is nearly zero.": f"np.maximum({FACTOR}, 0) -> np.where({FACTOR} > 0, {FACTOR}, 1)",
    },
)
EXCESS = Record(
    cases=lambda rng: [(n, rng.uniform(0.3, 2.0)) for n in (5, 8, 20)],
    reference=excess_by_quadrature,
    rtol=1e-3,
    right="Right. The price of not knowing s0 does not grow with the number of coordinates that share it.",
    nudge="Not that excess. With n = 5 and s0 = 1 it is 1.",
    hints=(
        "Average over theta first, then you need only the distribution of |y|^2.",
        "The risk of James-Stein is N - (N - 2)^2 E[1/|y|^2], the Bayes risk is N s0^2/(1 + s0^2). Subtract.",
        "Write E[1/|y|^2] with |y|^2 = (1 + s0^2) chi2_N and let the common denominator do the rest.",
    ),
    mistakes={
        "The mean of 1/|y|^2 is not one over the mean of |y|^2.": "return -> return n - n * s0**2 / (1 + s0**2) - (n - 2)**2 / (n * (1 + s0**2)) + 0 *",
        "That is what James-Stein saves over saying y. What it loses to the Bayes rule was asked for.": "return 2 -> return (n - 2)",
        "That is the average risk of James-Stein. Take off what the Bayes rule would have.": "return 2 -> return n - (n - 2)",
    },
)
TASKS = {"risk": RISK, "bayes": BAYES, "estimator": ESTIMATOR, "positive-part": POSITIVE_PART, "excess": EXCESS}
