"""Logistic regression. Roads: SciPy's binomial; a loop over draws; the costs listed over how many parts fail."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit
from scipy.stats import binom, logistic, norm

from course_pkg.checks._judge import Mistake, Task, Verdict, judge
from course_pkg.checks.gradients._tools import NO_JAX, differentiable, judge_through, one_number


def _log_joint_by_scipy(theta: np.ndarray, x: np.ndarray, successes: np.ndarray, trials: np.ndarray, prior_sd: float) -> float:
    chance = logistic.cdf([theta[0] + sum(a * b for a, b in zip(row, theta[1:], strict=True)) for row in x])
    return float(binom.logpmf(successes, trials, chance).sum() + norm.logpdf(theta, 0, prior_sd).sum())


def _above_zero(log_joint: Callable[..., Any], theta: np.ndarray, *rest: Any) -> float:
    """How much larger than at theta = 0: constants do not matter."""
    return one_number(log_joint(theta, *rest)) - one_number(log_joint(np.zeros_like(theta), *rest))


def _average_by_loop(draws: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.array([np.mean([logistic.cdf(theta[0] + theta[1:] @ row) for theta in draws]) for row in x])


def _inspect_by_enumeration(draws: np.ndarray, x: np.ndarray, parts: int, price: float, damage: float) -> np.ndarray:
    """Every number of failing parts with its probability and its cost, for each draw and row."""
    chance = np.array([logistic.cdf(theta[0] + x @ theta[1:]) for theta in draws])
    waiting = np.zeros(len(x))
    for failing in range(1, parts + 1):
        waiting += damage * binom.pmf(failing, parts, chance).mean(axis=0)
    return price < waiting


def log_joint_stub(theta: np.ndarray, x: np.ndarray, successes: np.ndarray, trials: np.ndarray, prior_sd: float) -> Any:
    raise NotImplementedError


def probability_stub(draws: np.ndarray, x: np.ndarray) -> Any:
    raise NotImplementedError


def inspect_stub(draws: np.ndarray, x: np.ndarray, parts: int, price: float, damage: float) -> Any:
    raise NotImplementedError


def _log_joint(theta, x, successes, failures, prior_sd, *, intercept=1.0, prior=1.0, over=np.sum):
    logit = intercept * theta[0] + x @ theta[1:]
    fit = successes * _log_sigmoid(logit) + failures * _log_sigmoid(-logit)
    return over(fit) - (prior * theta**2).sum() / (2 * prior_sd**2)


def _log_sigmoid(logit):
    return -np.logaddexp(0, -logit)


def _logits(draws, x):
    return draws[:, :1] + draws[:, 1:] @ x.T


LOG_JOINT_MISTAKES = {
    "one trial each": Mistake(
        lambda theta, x, successes, trials, prior_sd: _log_joint(theta, x, successes, 1 - successes, prior_sd),
        "You counted one trial for each row. A row with 2 successes in 6 trials also has 4 failures to explain.",
    ),
    "trials for failures": Mistake(
        lambda theta, x, successes, trials, prior_sd: _log_joint(theta, x, successes, trials, prior_sd),
        "Every trial counts as a failure in yours, the successes too. Failures are trials less successes.",
    ),
    "changed places": Mistake(
        lambda theta, x, successes, trials, prior_sd: _log_joint(theta, x, trials - successes, successes, prior_sd),
        "Your successes and failures have changed places.",
    ),
    "failures left out": Mistake(
        lambda theta, x, successes, trials, prior_sd: _log_joint(theta, x, successes, 0 * successes, prior_sd),
        "Only the successes count in yours. A row with 2 successes in 6 trials also has 4 failures to explain.",
    ),
    "intercept without prior": Mistake(
        lambda theta, x, successes, trials, prior_sd: _log_joint(
            theta, x, successes, trials - successes, prior_sd, prior=np.arange(len(theta)) > 0
        ),
        "The intercept has the prior, too.",
    ),
    "prior_sd as a variance": Mistake(
        lambda theta, x, successes, trials, prior_sd: _log_joint(theta, x, successes, trials - successes, np.sqrt(prior_sd)),
        "You divided by prior_sd. It is a standard deviation.",
    ),
    "mean for sum": Mistake(
        lambda theta, x, successes, trials, prior_sd: _log_joint(theta, x, successes, trials - successes, prior_sd, over=np.mean),
        "You took the mean over the rows. Log densities of independent rows add up; a mean makes the prior count for too much.",
    ),
    "intercept last": Mistake(
        lambda theta, x, successes, trials, prior_sd: _log_joint(np.roll(theta, 1), x, successes, trials - successes, prior_sd),
        "The intercept comes first in theta. You took its last entry.",
    ),
    "not for JAX": Mistake(_log_joint_by_scipy, NO_JAX),
    "intercept left out": Mistake(
        lambda theta, x, successes, trials, prior_sd: _log_joint(theta, x, successes, trials - successes, prior_sd, intercept=0.0),
        "Your logit is 0 wherever x is 0, whatever the intercept: theta[0] is missing from it.",
    ),
    "prior left out": Mistake(
        lambda theta, x, successes, trials, prior_sd: _log_joint(theta, x, successes, trials - successes, prior_sd, prior=0.0),
        "That is the log likelihood. The joint density also holds the prior of all the weights.",
    ),
}
PROBABILITY_MISTAKES = {
    "logit negated": Mistake(
        lambda draws, x: 1 - _average_by_loop(draws, x),
        "You predict the other outcome: the logit has lost its sign on the way from fitting to prediction.",
    ),
    "intercept left out": Mistake(
        lambda draws, x: expit(draws[:, 1:] @ x.T).mean(axis=0),
        "Your logit is 0 wherever x is 0, whatever the intercept: the first column of draws is missing from it.",
    ),
    "votes": Mistake(
        lambda draws, x: (_logits(draws, x) > 0).mean(axis=0),
        "You let each draw vote. A draw does not say whether the seal fails but how probably: average that.",
    ),
    "mean weights plugged in": Mistake(
        lambda draws, x: expit(_logits(draws.mean(axis=0, keepdims=True), x)[0]),
        "You averaged the weights and then predicted. Average the predictions: the uncertain ones should come nearer to one half.",
    ),
    "mean logit": Mistake(
        lambda draws, x: _logits(draws, x).mean(axis=0),
        "Those are logits. Squash each to a probability before you average.",
    ),
}
INSPECT_MISTAKES = {
    "average chance first": Mistake(
        lambda draws, x, parts, price, damage: damage * (1 - (1 - expit(_logits(draws, x)).mean(axis=0)) ** parts) > price,
        "You averaged the chance of one part and then raised it to a power. All parts share the same draw: average at the very end.",
    ),
    "one part": Mistake(
        lambda draws, x, parts, price, damage: damage * expit(_logits(draws, x)).mean(axis=0) > price,
        "You looked at one part. The damage is done if any of them fails.",
    ),
    "all parts": Mistake(
        lambda draws, x, parts, price, damage: damage * (expit(_logits(draws, x)) ** parts).mean(axis=0) > price,
        "You waited for all parts to fail. The damage is paid as soon as one does.",
    ),
    "damage for each part": Mistake(
        lambda draws, x, parts, price, damage: damage * parts * expit(_logits(draws, x)).mean(axis=0) > price,
        "You counted the damage once for each part that fails. It is paid once, however many fail.",
    ),
    "draws vote": Mistake(
        lambda draws, x, parts, price, damage: (damage * (1 - (1 - expit(_logits(draws, x))) ** parts) > price).mean(axis=0) > 0.5,
        "You let each draw decide, and took a vote. Average the cost over the draws and decide once: a rare and dear failure counts.",
    ),
    "turned round": Mistake(
        lambda draws, x, parts, price, damage: ~_inspect_by_enumeration(draws, x, parts, price, damage),
        "Turned round: you inspect exactly where it does not pay.",
    ),
    "price or damage": Mistake(
        lambda draws, x, parts, price, damage: (1 - (1 - expit(_logits(draws, x))) ** parts).mean(axis=0) > price / (price + damage),
        "Your threshold is for a price that only the sound ones pay. An inspection costs its price whether a seal was bad or not.",
    ),
    "one half": Mistake(
        lambda draws, x, parts, price, damage: (1 - (1 - expit(_logits(draws, x))) ** parts).mean(axis=0) > 0.5,
        "You inspect when a failure is more probable than not. That is right only if the price is half of the damage.",
    ),
    "logit negated": Mistake(
        lambda draws, x, parts, price, damage: (1 - (1 - expit(-_logits(draws, x))) ** parts).mean(axis=0) * damage > price,
        "You inspect where it is safest: the logit has lost its sign.",
    ),
}


def log_joint_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 490])
    cases = []
    for rows, dim in [(8, 1), (6, 3)]:
        trials = rng.integers(3, 9, rows)
        theta = rng.normal(0, 1, dim + 1)
        theta[0] = rng.uniform(-1.6, -0.8)  # far enough from 0 for its prior to be seen
        cases.append((theta, rng.normal(0, 1, (rows, dim)), rng.binomial(trials, 0.3), trials, float(rng.uniform(0.8, 2))))
    verdict = judge_through(
        answer,
        _above_zero,
        cases,
        lambda *case: _above_zero(_log_joint_by_scipy, *case),
        LOG_JOINT_MISTAKES,
        right="Right, up to a constant that no gradient sees.",
        nudge="Not that density, even up to a constant. With a wide prior, one row of x = 0 and 3 successes in 4 trials it peaks at log 3.",
        rtol=3e-4,  # a difference of two numbers that may come in single precision
    )
    theta, *rest = cases[0]
    if verdict.passed and not differentiable(lambda t: answer(t, *rest), theta):
        return Verdict(False, NO_JAX)
    return verdict


def probability_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 491])
    cases = [(rng.normal([-1.5, 1.0, 0.5], [0.6, 0.8, 0.4], (40, 3)), rng.normal(0, 1.5, (6, 2))) for _ in range(2)]
    return judge(
        answer,
        cases,
        _average_by_loop,
        PROBABILITY_MISTAKES,
        right="Right. An average of sigmoids is flatter than a sigmoid of averages, and it is the one that knows what it does not know.",
        nudge="Not those probabilities. With two draws, whose logits are 0 and log 3, it is 5/8.",
    )


def inspect_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 492])
    x = np.linspace(-3.0, 3.0, 121)[:, None]
    cases = [(rng.normal([-2.0, 1.2], [0.9, 0.5], (40, 2)), x, parts, 1.0, float(rng.uniform(2.6, 4.5))) for parts in (4, 6)]
    return judge(
        answer,
        cases,
        _inspect_by_enumeration,
        INSPECT_MISTAKES,
        right="Right. The probability came from the model, the line was drawn by the costs.",
        nudge="Some choices are off. One draw with p = 1/2, two parts, and a damage of 4: inspect up to a price of 3.",
    )


TASKS = (
    Task(
        "gradients/logistic-regression/log-joint",
        "Logistic regression: counts and an intercept",
        2,
        10,
        log_joint_stub,
        (
            "Each success contributes log p, each failure log(1 - p); then the prior of all the weights.",
            "logit = theta[0] + x theta[1:]; log p = -log(1 + exp(-logit)), log(1 - p) = -log(1 + exp(logit)).",
            "Begin with `logit = theta[0] + x @ theta[1:]`",
        ),
        LOG_JOINT_MISTAKES,
        log_joint_verdict,
    ),
    Task(
        "gradients/logistic-regression/probability",
        "Logistic regression: prediction",
        2,
        7,
        probability_stub,
        (
            "Each draw of the weights makes a prediction. The posterior predictive is their average.",
            "p(x) = mean over draws of 1 / (1 + exp(-(theta[0] + x theta[1:]))).",
            "Begin with `logit = draws[:, :1] + draws[:, 1:] @ x.T`",
        ),
        PROBABILITY_MISTAKES,
        probability_verdict,
    ),
    Task(
        "gradients/logistic-regression/inspect",
        "Logistic regression: the decision",
        2,
        9,
        inspect_stub,
        (
            "Inspecting costs its price for certain. Not inspecting costs the damage, times the probability that any part fails.",
            "P(any fails) = mean over draws of 1 - (1 - p)^parts: the power goes inside the mean.",
            "Begin with `chance = 1 / (1 + np.exp(-draws[:, :1] - draws[:, 1:] @ x.T))`",
        ),
        INSPECT_MISTAKES,
        inspect_verdict,
    ),
)
