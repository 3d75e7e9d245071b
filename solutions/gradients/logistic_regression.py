"""Logistic regression. Roads: SciPy's binomial; a loop over draws; the costs listed over how many parts fail."""

import numpy as np
from scipy.stats import binom, logistic, norm

from course_pkg.checks._judge import Trouble, numbers
from course_pkg.checks.record import Record
from solutions.gradients._tools import BY_JAX, NO_JAX, differentiable


def log_joint_by_scipy(theta, x, successes, trials, prior_sd):
    chance = logistic.cdf([theta[0] + sum(a * b for a, b in zip(row, theta[1:], strict=True)) for row in x])
    return binom.logpmf(successes, trials, chance).sum() + norm.logpdf(theta, 0, prior_sd).sum()


def above_zero(answer, theta, *case):
    """How much larger than at theta = 0: constants do not matter. Or whether JAX finds a slope."""
    if case[-1] == BY_JAX:
        return differentiable(lambda t: answer(t, *case[:-1]), theta)
    here, there = (numbers(answer(at, *case)) for at in (theta, np.zeros_like(theta)))
    if len(here) > 1 or here[0].shape:
        raise Trouble(f"Expected one number; your function returned {len(here)} part(s), the first of shape {here[0].shape}.")
    return here[0] - there[0]


def counts(rng):
    for rows, dim in [(8, 1), (6, 3)]:
        trials = rng.integers(3, 9, rows)
        theta = np.append(rng.uniform(-1.6, -0.8), rng.normal(0, 1, dim))  # far enough from 0 for the intercept's prior to be seen
        yield theta, rng.normal(0, 1, (rows, dim)), rng.binomial(trials, 0.3), trials, rng.uniform(0.8, 2)


average_by_loop = lambda draws, x: np.array([np.mean([logistic.cdf(theta[0] + theta[1:] @ row) for theta in draws]) for row in x])


def inspect_by_enumeration(draws, x, parts, price, damage):
    """Every number of failing parts with its probability and its cost, for each draw and row."""
    chance = np.array([logistic.cdf(theta[0] + x @ theta[1:]) for theta in draws])
    return price < sum(damage * binom.pmf(failing, parts, chance).mean(axis=0) for failing in range(1, parts + 1))


LOG_JOINT = Record(
    cases=counts,
    reference=lambda *case: case[-1] == BY_JAX or above_zero(log_joint_by_scipy, *case),
    right="Right, up to a constant that no gradient sees.",
    nudge="Not that density, even up to a constant. With a wide prior, one row of x = 0 and 3 successes in 4 trials it peaks at log 3.",
    hints=(
        "Each success contributes log p, each failure log(1 - p); then the prior of all the weights.",
        "logit = theta[0] + x theta[1:]; log p = -log(1 + exp(-logit)), log(1 - p) = -log(1 + exp(logit)).",
        "Begin with `logit = theta[0] + x @ theta[1:]`",
    ),
    mistakes={
        "The intercept has the prior, too.": "theta**2 -> theta[1:] ** 2",
        "You took the mean over the rows. Log densities of independent rows add up; a mean makes the prior count for too much.": "did_not).sum() -> did_not).mean()",
        "Your logit is 0 wherever x is 0, whatever the intercept: theta[0] is missing from it.": "theta[0] + -> ",
        "That is the log likelihood. The joint density also holds the prior of all the weights.": "- 0.5 * (theta**2).sum() / prior_sd**2 -> ",
    },
    view=above_zero,
    later={
        NO_JAX: (lambda rng: [(*next(counts(rng)), BY_JAX)], log_joint_by_scipy),
    },
    rtol=3e-4,  # a difference of two numbers that may come in single precision
)
PROBABILITY = Record(
    cases=lambda rng: [(rng.normal([-1.5, 1.0, 0.5], [0.6, 0.8, 0.4], (40, 3)), rng.normal(0, 1.5, (6, 2))) for _ in range(2)],
    reference=average_by_loop,
    right="Right. An average of sigmoids is flatter than a sigmoid of averages, and it is the one that knows what it does not know.",
    nudge="Not those probabilities. With two draws, whose logits are 0 and log 3, it is 5/8.",
    hints=(
        "Each draw of the weights makes a prediction. The posterior predictive is their average.",
        "p(x) = mean over draws of 1 / (1 + exp(-(theta[0] + x theta[1:]))).",
        "Begin with `logit = draws[:, :1] + draws[:, 1:] @ x.T`",
    ),
    mistakes={
        "Your logit is 0 wherever x is 0, whatever the intercept: the first column of draws is missing from it.": "draws[:, :1] + -> ",
        "You let each draw vote. A draw does not say whether the seal fails but how probably: average that.": "1 / (1 + np.exp(-logit)) -> logit > 0",
        "You averaged the weights and then predicted. Average the predictions: the uncertain ones should come nearer to one half.": "return (1 / (1 + np.exp(-logit))).mean(axis=0) -> return 1 / (1 + np.exp(-logit.mean(axis=0)))",
        "Those are logits. Squash each to a probability before you average.": "1 / (1 + np.exp(-logit)) -> logit",
    },
)
INSPECT = Record(
    cases=lambda rng: [
        (rng.normal([-2.0, 1.2], [0.9, 0.5], (40, 2)), np.linspace(-3.0, 3.0, 121)[:, None], parts, 1.0, rng.uniform(2.6, 4.5))
        for parts in (4, 6)
    ],
    reference=inspect_by_enumeration,
    right="Right. The probability came from the model, the line was drawn by the costs.",
    apart=True,
    nudge="Some choices are off. One draw with p = 1/2, two parts, and a damage of 4: inspect up to a price of 3.",
    hints=(
        "Inspecting costs its price for certain. Not inspecting costs the damage, times the probability that any part fails.",
        "P(any fails) = mean over draws of 1 - (1 - p)^parts: the power goes inside the mean.",
        "Begin with `chance = 1 / (1 + np.exp(-draws[:, :1] - draws[:, 1:] @ x.T))`",
    ),
    mistakes={
        "You averaged the chance of one part and then raised it to a power. All parts share the same draw: average at the very end.": "(1 - (1 - chance) ** parts).mean(axis=0) -> 1 - (1 - chance.mean(axis=0)) ** parts",
        "You looked at one part. The damage is done if any of them fails.": "(1 - (1 - chance) ** parts) -> chance",
        "You counted the damage once for each part that fails. It is paid once, however many fail.": "(1 - (1 - chance) ** parts) -> (parts * chance)",
        "You let each draw decide, and took a vote. Average the cost over the draws and decide once: a rare and dear failure counts.": "damage * any_fails > price -> (damage * (1 - (1 - chance) ** parts) > price).mean(axis=0) > 0.5",
        "Your threshold is for a price that only the sound ones pay. An inspection costs its price whether a seal was bad or not.": "damage * any_fails > price -> any_fails > price / (price + damage)",
    },
)
TASKS = {"log-joint": LOG_JOINT, "probability": PROBABILITY, "inspect": INSPECT}
