"""James-Stein in five parts. Roads: risks in closed form or by quadrature; the two rules themselves, whose risks the tests check."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from scipy.integrate import trapezoid
from scipy.stats import chi2, ncx2, norm

from course_pkg.checks._judge import Mistake, Task, Trouble, Verdict, bound, call, judge, key_words, read

RUNS = 20_000
Rule = Callable[[np.ndarray], np.ndarray]


def _mean_inverse(n: int, noncentrality: float) -> float:
    """E[1/|y|^2] for y ~ N(theta, I_n), |theta|^2 = noncentrality: an integral over the length u, where it is smooth."""
    law = chi2(n) if noncentrality == 0 else ncx2(n, noncentrality)
    u = np.linspace(1e-6, np.sqrt(noncentrality) + np.sqrt(n) + 12, 2_001)
    return float(trapezoid(2 * law.pdf(u**2) / u, u))


def _bayes_by_quadrature(y: np.ndarray, s0: float) -> np.ndarray:
    theta = np.linspace(-30, 30, 20_001)
    means = []
    for value in np.ravel(y):
        weight = norm.pdf(theta, 0, s0) * norm.pdf(value, theta)
        means.append(weight @ theta / weight.sum())
    return np.reshape(means, y.shape)


def _excess_by_quadrature(n: int, s0: float) -> float:
    """Average risk of James-Stein under theta ~ N(0, s0^2 I), less that of the Bayes rule; |y|^2 is (1 + s0^2) chi2(n)."""
    inverse = _mean_inverse(n, 0.0) / (1 + s0**2)
    theta = np.linspace(-30, 30, 20_001)
    weight = norm.pdf(theta, 0, s0) * norm.pdf(0.0, theta)
    bayes = n * float(weight @ theta**2 / weight.sum())
    return n - (n - 2) ** 2 * inverse - bayes


def risk_stub(key: jax.Array, rule: Rule, theta: np.ndarray, runs: int) -> Any:
    raise NotImplementedError


def bayes_stub(y: np.ndarray, s0: float) -> Any:
    raise NotImplementedError


def james_stein_stub(y: np.ndarray) -> Any:
    raise NotImplementedError


def positive_part_stub(y: np.ndarray) -> Any:
    raise NotImplementedError


def excess_stub(n: int, s0: float) -> Any:
    raise NotImplementedError


def _losses(key: jax.Array, rule: Rule, theta: np.ndarray, runs: int) -> np.ndarray:
    y = theta + np.asarray(jax.random.normal(key, (runs, len(theta))), dtype=float)
    return (np.asarray(rule(y)) - theta) ** 2


def _summary(losses: np.ndarray, by: float = 1.0) -> tuple[float, float]:
    return float(losses.mean()), float(losses.std(ddof=1) / by)


def _against_the_data(key: jax.Array, rule: Rule, theta: np.ndarray, runs: int) -> tuple[float, float]:
    y = theta + np.asarray(jax.random.normal(key, (runs, len(theta))), dtype=float)
    return _summary(((np.asarray(rule(y)) - y) ** 2).sum(axis=1), np.sqrt(runs))


RISK_MISTAKES = {
    "averaged over coordinates": Mistake(
        lambda key, rule, theta, runs: _summary(_losses(key, rule, theta, runs).mean(axis=1), np.sqrt(runs)),
        "You averaged over the coordinates. The loss here is their sum: the risk of saying y is n, not 1.",
    ),
    "standard deviation for standard error": Mistake(
        lambda key, rule, theta, runs: _summary(_losses(key, rule, theta, runs).sum(axis=1)),
        "The risk is right; what you call its standard error is the spread of one run's loss. A mean of runs errs less, by sqrt(runs).",
    ),
    "measured against the data": Mistake(
        _against_the_data,
        "You measured the distance to y. What counts is the distance to theta, which the rule has not seen.",
    ),
}
BAYES_MISTAKES = {
    "keeps what it should remove": Mistake(
        lambda y, s0: y - _bayes_by_quadrature(y, s0),
        "You kept the part that should go. A very wide prior must leave y almost alone.",
    ),
    "not squared": Mistake(
        lambda y, s0: y * s0 / (1 + s0),
        "You compared standard deviations. It is variances that share out the weight between prior and data.",
    ),
}


def _pulled(y: np.ndarray, pull: float) -> np.ndarray:
    return y - pull * y / (y**2).sum(axis=-1, keepdims=True)


def _james_stein(y: np.ndarray) -> np.ndarray:
    return _pulled(y, y.shape[-1] - 2.0)


def _positive_part(y: np.ndarray) -> np.ndarray:
    beyond = (y**2).sum(axis=-1, keepdims=True) > y.shape[-1] - 2
    return np.where(beyond, _james_stein(y), 0.0)


JAMES_STEIN_MISTAKES = {
    "N for N - 2": Mistake(
        lambda y: _pulled(y, float(y.shape[-1])),
        "You pull by N. The mean of 1/chi-squared with N degrees of freedom is not 1/N: two degrees of freedom go missing.",
    ),
    "length not squared": Mistake(
        lambda y: y - (y.shape[-1] - 2) * y / np.sqrt((y**2).sum(axis=-1, keepdims=True)),
        "You divided by the length of y where its square belongs.",
    ),
    "summed over the runs": Mistake(
        lambda y: y - (y.shape[-1] - 2) * y / (y**2).sum(),
        "You added up all the rows. Each row is its own problem: sum over the last axis, and keep it for the division.",
    ),
    "N - 1": Mistake(
        lambda y: _pulled(y, y.shape[-1] - 1.0),
        "You pull by N - 1. The mean of 1/chi-squared with N degrees of freedom is 1/(N - 2): two degrees of freedom go missing.",
    ),
    "eight": Mistake(
        lambda y: _pulled(y, 8.0),
        "Your 8 is N - 2 for ten coordinates only. Take N from the shape of y.",
    ),
    "positive part": Mistake(_positive_part, "That is already part 4. Here the factor may be negative."),
}
POSITIVE_PART_MISTAKES = {
    "positive part forgotten": Mistake(
        _james_stein,
        "The positive part is missing: for short y your factor is negative and the estimate points away from the data.",
    ),
    "coordinates clipped": Mistake(
        lambda y: np.maximum(_james_stein(y), 0),
        "You clipped the coordinates. It is the factor before y that must not fall below zero; theta may well be negative.",
    ),
    "factor made positive": Mistake(
        lambda y: np.abs(1 - (y.shape[-1] - 2) / (y**2).sum(axis=-1, keepdims=True)) * y,
        "You turned the negative factor around. Where it would be negative, nothing should be left.",
    ),
}
EXCESS_MISTAKES = {
    "prior forgotten": Mistake(
        lambda n, s0: 2.0,
        "That is the risk at theta = 0. Average over the prior: with a wide one James-Stein loses next to nothing.",
    ),
    "one over the mean": Mistake(
        lambda n, s0: n - (n - 2) ** 2 / (n * (1 + s0**2)) - n * s0**2 / (1 + s0**2),
        "The mean of 1/|y|^2 is not one over the mean of |y|^2.",
    ),
    "against the data": Mistake(
        lambda n, s0: (n - 2) / (1 + s0**2),
        "That is what James-Stein saves over saying y. What it loses to the Bayes rule was asked for.",
    ),
}


def risk_verdict(answer: Any, seed: int = 0) -> Verdict:
    key = jax.random.key(seed)
    theta = np.linspace(-1.0, 2.0, 6)
    rules: list[tuple[Rule, float, float]] = [  # a rule, its risk, and the variance of one run's loss, both in closed form
        (lambda y: y, 6.0, 12.0),
        (lambda y: y / 2, 1.5 + float(theta @ theta) / 4, 0.75 + float(theta @ theta) / 4),
    ]
    got = []
    try:
        for rule, _, _ in rules:
            got.append(_pair(answer, key, rule, theta))
    except Trouble as trouble:
        return Verdict(False, str(trouble))
    exact = [np.sqrt(variance / RUNS) for _, _, variance in rules]
    errors = [abs(value - truth) / error for (value, _), (_, truth, _), error in zip(got, rules, exact, strict=True)]
    # a standard error from 20,000 runs is itself known to about one per cent
    spread_right = all(abs(se / error - 1) < 0.1 for (_, se), error in zip(got, exact, strict=True))
    if max(errors) < bound(2) and spread_right:
        try:
            again, other = (_pair(answer, jax.random.key(seed + step), rules[0][0], theta) for step in (0, 1))
        except Trouble as trouble:
            return Verdict(False, str(trouble))
        if words := key_words(got[0][0], again[0], [other[0]]):
            return Verdict(False, words)
        return Verdict(True, "Right. This function will now judge every estimator that you write below.")
    for mistake in RISK_MISTAKES.values():
        wrong = [mistake.answer(jax.random.key(1_000 + seed), rule, theta, RUNS) for rule, _, _ in rules]
        if all(
            abs(a - b) <= bound(2) * np.sqrt(2) * error and np.isclose(s, t, rtol=0.1, atol=1e-9)
            for (a, s), (b, t), error in zip(got, wrong, exact, strict=True)
        ):
            return Verdict(False, mistake.words)
    if max(errors) < bound(2):
        return Verdict(False, "The risk is right and its standard error is not. It is the spread of the losses over sqrt(runs).")
    return Verdict(False, "Not that risk. For the rule that says y it must be the number of coordinates, whatever theta is.")


def _pair(answer: Any, key: jax.Array, rule: Rule, theta: np.ndarray) -> tuple[float, float]:
    pair = read(call(answer, key, rule, theta, RUNS), (np.zeros(()), np.zeros(())))
    if len(pair) != 2 or any(part.shape for part in pair):
        raise Trouble("Expected two numbers: the risk and its standard error.")
    return float(pair[0]), float(pair[1])


def bayes_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 60])
    return judge(
        answer,
        [(rng.normal(0, 2, shape), s0) for shape, s0 in [((5,), 0.5), ((3, 4), 1.8)]],
        _bayes_by_quadrature,
        BAYES_MISTAKES,
        right="Right. Knowing s0 you would shrink by a fixed factor. The next part finds the factor without knowing it.",
        nudge="Not those numbers. With s0 = 1 prior and data weigh the same, so every coordinate is halved.",
    )


def _judge_rule(answer: Any, seed: int, rule: Rule, mistakes: dict[str, Mistake], right: str, nudge: str) -> Verdict:
    """Compare row by row, for two numbers of coordinates; the lengths run from well inside |y|^2 = N - 2 to well beyond it."""
    rng = np.random.default_rng([seed, 62])
    cases = []
    for n in (10, 5):
        y = rng.normal(size=(12, n))
        lengths = np.sqrt((n - 2) * np.linspace(0.2, 6.0, len(y)))
        cases.append((y * (lengths / np.sqrt((y**2).sum(axis=1)))[:, None],))
    return judge(answer, cases, rule, mistakes, right=right, nudge=nudge)


def james_stein_verdict(answer: Any, seed: int = 0) -> Verdict:
    return _judge_rule(
        answer,
        seed,
        _james_stein,
        JAMES_STEIN_MISTAKES,
        "Right. Its risk is below that of y everywhere, and no prior was asked for.",
        "Not these estimates. Where |y|^2 = 2 (N - 2) the estimate must be y / 2, however many coordinates there are.",
    )


def positive_part_verdict(answer: Any, seed: int = 0) -> Verdict:
    return _judge_rule(
        answer,
        100 + seed,
        _positive_part,
        POSITIVE_PART_MISTAKES,
        "Right. It beats James-Stein, which beats y: near zero nearly all of the risk is gone.",
        "Not these estimates. For |y|^2 below N - 2 they must be exactly zero, and beyond it those of part 3.",
    )


def excess_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 61])
    return judge(
        answer,
        [(n, float(rng.uniform(0.3, 2.0))) for n in (5, 8, 20)],
        _excess_by_quadrature,
        EXCESS_MISTAKES,
        right="Right. The price of not knowing s0 does not grow with the number of coordinates that share it.",
        nudge="Not that number. As s0 approaches 0 it approaches 2, and for a wide prior it vanishes.",
        rtol=1e-3,
    )


TASKS = (
    Task(
        "decisions/james-stein/risk",
        "James-Stein: a risk by simulation",
        3,
        10,
        risk_stub,
        (
            "Fix theta, draw many data sets, apply the rule to each, and average its squared distance from theta.",
            "risk = E |rule(y) - theta|^2, y ~ N(theta, I); its standard error is sd(losses)/sqrt(runs).",
            "Begin with `y = theta + np.asarray(jax.random.normal(key, (runs, len(theta))))`",
        ),
        RISK_MISTAKES,
        risk_verdict,
    ),
    Task(
        "decisions/james-stein/bayes",
        "James-Stein: the Bayes rule",
        3,
        5,
        bayes_stub,
        (
            "Every coordinate is a normal mean with a normal prior around zero, seen once.",
            "E[theta | y] is a weighted mean of 0 and y; the weights are the precisions 1/s0^2 and 1.",
            "Begin with `prior_precision = 1 / s0**2`",
        ),
        BAYES_MISTAKES,
        bayes_verdict,
    ),
    Task(
        "decisions/james-stein/estimator",
        "James-Stein: the estimator",
        3,
        12,
        james_stein_stub,
        (
            "The Bayes factor is 1 - 1/(1 + s0^2). All coordinates together tell you how large 1 + s0^2 is.",
            "|y|^2/(1 + s0^2) is chi-squared with N degrees of freedom, and E[1/chi2_N] = 1/(N - 2).",
            "Begin with `squared_length = (y**2).sum(axis=-1, keepdims=True)`",
        ),
        JAMES_STEIN_MISTAKES,
        james_stein_verdict,
    ),
    Task(
        "decisions/james-stein/positive-part",
        "James-Stein: the positive part",
        3,
        6,
        positive_part_stub,
        (
            "For which y does the estimator of the last part point the other way? Would you ever want that?",
            "Follow the factor 1 - (N - 2)/|y|^2 as |y|^2 falls. At which length should the estimate have arrived at zero, and stay there?",
            "Begin with the factor of part 3, and look up `np.maximum`: it is for the factor, not for the estimate.",
        ),
        POSITIVE_PART_MISTAKES,
        positive_part_verdict,
    ),
    Task(
        "decisions/james-stein/excess",
        "James-Stein: the price of not knowing",
        3,
        12,
        excess_stub,
        (
            "Average over theta first, then you need only the distribution of |y|^2.",
            "The risk of James-Stein is N - (N - 2)^2 E[1/|y|^2], the Bayes risk is N s0^2/(1 + s0^2). Subtract.",
            "Write E[1/|y|^2] with |y|^2 = (1 + s0^2) chi2_N and let the common denominator do the rest.",
        ),
        EXCESS_MISTAKES,
        excess_verdict,
    ),
)
