"""Which estimator? Road: the mean of a logarithm as an integral over the Laplace transform, without listing any draws."""

import itertools
from typing import Any

import numpy as np

from course_pkg.checks._judge import Mistake, Task, Verdict, judge

V = np.linspace(-36.0, 7.0, 1_601)  # log of the transform's argument


def _mean_log(p: np.ndarray, u: np.ndarray, draws: int) -> float:
    """E log X = integral of (e^-t - E e^-tX) / t, and the transform of a mean of draws is a power."""
    t = np.exp(V)
    transform = (np.exp(-t[:, None] * u / draws) @ p) ** draws
    return float(np.trapezoid(np.exp(-t) - transform, V))


def _biases_by_transform(p: np.ndarray, loss: np.ndarray, M: float, draws: int) -> tuple[float, float, float]:
    truth = np.log(M - p @ loss)
    return _mean_log(p, M - loss, draws) - truth, _mean_log(p, M - loss, 1) - truth, np.log(M) - p @ loss / M - truth


def _preferred_by_transform(p: np.ndarray, loss: np.ndarray, M: float, draws: int) -> tuple[int, int, int]:
    columns = loss.T
    naive, jensen = ([_mean_log(p, M - column, size) for column in columns] for size in (draws, 1))
    return int(np.argmax(naive)), int(np.argmax(jensen)), int(np.argmin([p @ column for column in columns]))


def expected_stub(p: np.ndarray, u: np.ndarray, draws: int) -> Any:
    raise NotImplementedError


def biases_stub(p: np.ndarray, loss: np.ndarray, M: float, draws: int) -> Any:
    raise NotImplementedError


def preferred_stub(p: np.ndarray, loss: np.ndarray, M: float, draws: int) -> Any:
    raise NotImplementedError


def _listed(p, u, draws, of=lambda values: np.log(np.mean(values))):
    """The mean over every list of draws."""
    return sum(np.prod(p[list(places)]) * of(u[list(places)]) for places in itertools.product(range(len(u)), repeat=draws))


EXPECTED_MISTAKES = {
    "the truth": Mistake(
        lambda p, u, draws: np.log(p @ u),
        "That is what the estimate should be. Its mean is lower and depends on the number of draws.",
    ),
    "mean of the logs": Mistake(
        lambda p, u, draws: p @ np.log(u),
        "That is the mean of log u, which is right for one draw. With more draws their mean is taken before the logarithm.",
    ),
    "every list alike": Mistake(
        lambda p, u, draws: _listed(np.full(len(u), 1 / len(u)), u, draws),
        "You gave every list of draws the same weight. Its probability is the product of the draws' probabilities.",
    ),
    "sum for mean": Mistake(
        lambda p, u, draws: _listed(p, u, draws, lambda values: np.log(values.sum())),
        "You took the log of the sum. The estimate is the log of the mean: you are off by the log of the number of draws.",
    ),
    "leading bias only": Mistake(
        lambda p, u, draws: np.log(p @ u) - (p @ u**2 - (p @ u) ** 2) / (2 * draws * (p @ u) ** 2),
        "That is the truth less the leading part of the bias. The exact mean was asked for: list the draws.",
    ),
    "order forgotten": Mistake(
        lambda p, u, draws: sum(
            np.prod(p[list(places)]) * np.log(np.mean(u[list(places)]))
            for places in itertools.combinations_with_replacement(range(len(u)), draws)
        ),
        "You counted lists that differ in their order once. There are more ways to draw a and b than to draw a twice.",
    ),
    "without repetition": Mistake(
        lambda p, u, draws: sum(
            np.prod(p[list(places)]) * np.log(np.mean(u[list(places)])) for places in itertools.permutations(range(len(u)), draws)
        ),
        "Your lists hold no value twice. The draws are independent; a value may come again.",
    ),
}


def _biases(p, loss, M, draws, *, tangent=None, jensen=None, sign=1.0):
    truth = np.log(M - p @ loss)
    values = (
        _listed(p, M - loss, draws),
        p @ np.log(M - loss) if jensen is None else jensen(p, loss, M),
        np.log(M) - p @ loss / M if tangent is None else tangent(p, loss, M),
    )
    return tuple(sign * (value - truth) for value in values)


BIASES_MISTAKES = {
    "log M forgotten": Mistake(
        lambda *case: _biases(*case, tangent=lambda p, loss, M: -(p @ loss) / M),
        "The first two are right. The tangent of log(M - loss) at no loss starts from log M, which a climb may drop and a bias may not.",
    ),
    "truth less estimate": Mistake(
        lambda *case: _biases(*case, sign=-1.0),
        "All three signs are turned: a bias is the mean of the estimate less the truth.",
    ),
    "exact line": Mistake(
        lambda *case: _biases(*case, tangent=lambda p, loss, M: np.log(M - p @ loss)),
        "The first two are right. For the third you took the logarithm itself; its tangent at no loss is a straight line in the loss.",
    ),
    "tangent at the mean": Mistake(
        lambda *case: _biases(*case, tangent=lambda p, loss, M: np.log(M) - np.log(p @ loss)),
        "The first two are right. The tangent of log(M - loss) has no logarithm of the loss in it.",
    ),
    "values": Mistake(
        lambda p, loss, M, draws: tuple(value + np.log(M - p @ loss) for value in _biases(p, loss, M, draws)),
        "Those are the means of the three estimates. Take the truth, log E[u], off.",
    ),
    "truth for mean of logs": Mistake(
        lambda p, loss, M, draws: tuple(value + np.log(M - p @ loss) - p @ np.log(M - loss) for value in _biases(p, loss, M, draws)),
        "You compared with the mean of log u. The truth is the logarithm of the expected utility.",
    ),
    "minus loss for M minus loss": Mistake(
        lambda *case: _biases(*case, tangent=lambda p, loss, M: np.log(M) - p @ loss),
        "The first two are right. The slope of log(M - loss) at no loss is -1/M.",
    ),
    "sizes": Mistake(
        lambda *case: tuple(abs(value) for value in _biases(*case)),
        "A bias has a sign: an estimate that is too low on average has a negative one.",
    ),
    "changed places": Mistake(
        lambda *case: tuple(_biases(*case)[place] for place in (1, 0, 2)),
        "The first two have changed places: naive, mean of the logs, tangent.",
    ),
    "quotients": Mistake(
        lambda p, loss, M, draws: tuple(value / np.log(M - p @ loss) for value in _biases(p, loss, M, draws)),
        "You divided by the truth. A bias is a difference.",
    ),
}


def _preferred(p, loss, M, draws):
    u = M - loss
    columns = range(loss.shape[1])
    naive, jensen = ([_listed(p, u[:, h], size) for h in columns] for size in (draws, 1))
    return naive, jensen, [-(p @ loss[:, h]) / M for h in columns]


def _choices(*case):
    return tuple(float(np.argmax(values)) for values in _preferred(*case))


PREFERRED_MISTAKES = {
    "the truth for the naive one": Mistake(
        lambda *case: (_choices(*case)[2], *_choices(*case)[1:]),
        "Your first decision is the best for the true expected utility. With few draws the naive estimate thinks otherwise.",
    ),
    "the best three times": Mistake(
        lambda p, loss, M, draws: (int(np.argmin(p @ loss)),) * 3,
        "Those are three times the decision with the smallest expected loss. An estimator with a bias may prefer another.",
    ),
    "the worst": Mistake(
        lambda *case: tuple(int(np.argmin(values)) for values in _preferred(*case)),
        "Those are the decisions that the estimators think least of.",
    ),
    "naive and Jensen swapped": Mistake(
        lambda *case: tuple(_choices(*case)[place] for place in (1, 0, 2)),
        "The first two have changed places: naive, mean of the logs, tangent.",
    ),
    "values": Mistake(
        lambda *case: tuple(max(values) for values in _preferred(*case)),
        "Those are the three largest values. The places of the decisions, 0, 1, ..., were asked for.",
    ),
    "counted from one": Mistake(
        lambda *case: tuple(place + 1 for place in _choices(*case)),
        "You count the decisions from 1. Here the first is 0.",
    ),
    "outcomes for decisions": Mistake(
        lambda p, loss, M, draws: tuple(int(np.argmax(values)) for values in _preferred(p, loss.T, M, draws)),
        "You took the rows for the decisions. Rows are outcomes, columns decisions.",
    ),
    "Jensen alone": Mistake(
        lambda *case: (_choices(*case)[1],) * 3,
        "Those are three times the decision that the mean of the logs prefers.",
    ),
    "smallest bias": Mistake(
        lambda p, loss, M, draws: tuple(
            int(np.argmin(np.abs(np.asarray(values) - np.log(M - p @ loss) + shift)))
            for values, shift in zip(_preferred(p, loss, M, draws), (0, 0, np.log(M)), strict=True)
        ),
        "Those are the decisions at which each estimator errs least. Which decision does each think most of?",
    ),
}


def expected_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 740])
    return judge(
        answer,
        [(rng.dirichlet(np.full(size, 2.0)), rng.uniform(0.2, 3, size), draws) for size, draws in [(3, 2), (2, 4), (3, 3)]],
        _mean_log,
        EXPECTED_MISTAKES,
        right="Right. It rises towards the log of the expected utility as there are more draws, and never reaches it.",
        nudge="Not that mean. With p = [1/4, 3/4], u = [1, 3] and two draws it is 0.878.",
        rtol=1e-5,
    )


def biases_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 741])
    cases = []
    for size, draws in [(3, 2), (2, 3)]:
        loss = rng.uniform(0.5, 3, size)
        loss[0] = 0.0
        cases.append((rng.dirichlet(np.full(size, 3.0)), loss, float(loss.max() + rng.uniform(0.2, 0.6)), draws))
    return judge(
        answer,
        cases,
        _biases_by_transform,
        BIASES_MISTAKES,
        right="Right. Two are too low and one is too high; only the first fades with more draws.",
        nudge="Not those three. With p = [1/2, 1/2], loss = [0, 2], M = 3 and two draws they are -0.072, -0.144 and 0.072.",
        parts=("the first", "the second", "the third"),
    )


def preferred_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 742])
    while True:
        cases: list[tuple[Any, ...]] = []
        while len(cases) < 4:
            p, loss = rng.dirichlet(np.full(3, 2.0)), rng.uniform(0, 3, (3, 3))
            case = (p, loss, float(loss.max() + rng.uniform(0.01, 0.05)), 2 if len(cases) < 2 else 3)
            naive, logs, best = _choices(*case)
            if len(cases) > 1 or (naive != best and (naive != logs) == bool(cases)):  # first as both err alike, then each for itself
                cases.append(case)
        gaps = [np.diff(np.sort(np.asarray(values)))[-1] for case in cases for values in _preferred(*case)]
        given = {tuple(_choices(*case) for case in cases)}
        given |= {tuple(tuple(map(float, mistake.answer(*case))) for case in cases) for mistake in PREFERRED_MISTAKES.values()}
        if min(gaps) > 1e-3 and len(given) == 1 + len(PREFERRED_MISTAKES):  # else one could not be told from another
            break
    return judge(
        answer,
        cases,
        _preferred_by_transform,
        PREFERRED_MISTAKES,
        right="Right. The tangent errs in its value and not in its decision; the mean of the logs shuns whatever can once go badly.",
        nudge="Not those three. With p = [0.9, 0.1], loss = [[0, 1], [2.99, 1]], M = 3 and two draws they are 0, 1 and 0.",
        parts=("the first", "the second", "the third"),
    )


TASKS = (
    Task(
        "lcvi/which-estimator/expected",
        "Which estimator? The naive one's mean",
        2,
        10,
        expected_stub,
        (
            "A mean over all that can be drawn: list every sequence of draws, with its probability and the estimate that it gives.",
            "sum over (k_1, ..., k_S) of p_k1 ... p_kS log((u_k1 + ... + u_kS) / S).",
            "Begin with `lists = np.array(list(itertools.product(range(len(u)), repeat=draws)))`",
        ),
        EXPECTED_MISTAKES,
        expected_verdict,
    ),
    Task(
        "lcvi/which-estimator/biases",
        "Which estimator? Three biases",
        2,
        9,
        biases_stub,
        (
            "Three means, and one truth to take off. The mean of the logs is a naive estimate with a certain number of draws.",
            "Truth: log(M - E l). Means: Part 1; E log(M - l); log M - E l / M.",
            "Begin with `truth = np.log(M - p @ loss)`",
        ),
        BIASES_MISTAKES,
        biases_verdict,
    ),
    Task(
        "lcvi/which-estimator/preferred",
        "Which estimator? What each would do",
        2,
        8,
        preferred_stub,
        (
            "Rate each decision by the mean of the estimate, once for each estimator, and take the best.",
            "For h = 0, 1, ...: Part 1 with u = M - loss[:, h]; the same with one draw; -p @ loss[:, h] / M.",
            "Begin with `utilities = M - loss`",
        ),
        PREFERRED_MISTAKES,
        preferred_verdict,
    ),
)
