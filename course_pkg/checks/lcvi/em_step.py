"""One round of EM. Roads: every outcome tried as a decision; the bound climbed over all q, decisions tried one by one."""

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from course_pkg.checks._judge import Mistake, Task, Verdict, judge


def _decide_by_trying(y: np.ndarray, level: float) -> np.ndarray:
    """The outcome that would have cost least as a decision."""
    best = []
    for n in range(y.shape[2]):
        pool = y[:, :, n].ravel()
        cost = [sum(max(level * (value - h), (level - 1) * (value - h)) for value in pool) for h in pool]
        best.append(pool[int(np.argmin(cost))])
    return np.array(best)


def _round_by_search(p: np.ndarray, u: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Climb in the logits of q with the decisions held, then try every decision of every row."""
    worth = np.log(p) + sum(np.log(u[n, :, h[n]]) for n in range(len(u)))

    def below(logits: np.ndarray) -> tuple[float, np.ndarray]:
        q = softmax(logits)
        inside = worth - np.log(q)
        return -float(q @ inside), -q * (inside - q @ inside)

    q = softmax(minimize(below, np.zeros(len(p)), jac=True, method="BFGS", options={"gtol": 1e-10}).x)
    best = [max(range(u.shape[2]), key=lambda d: sum(a * np.log(b) for a, b in zip(q, row[:, d], strict=True))) for row in u]
    return q, np.array(best)


def decide_stub(y: np.ndarray, level: float) -> Any:
    raise NotImplementedError


def round_stub(p: np.ndarray, u: np.ndarray, h: np.ndarray) -> Any:
    raise NotImplementedError


DECIDE_MISTAKES = {
    "level and 1 - level": Mistake(
        lambda y, level: np.quantile(y, 1 - level, axis=(0, 1)),
        "The two sides of your loss have changed places: with a small level it is dear to decide too high.",
    ),
    "one for all rows": Mistake(
        lambda y, level: np.full(y.shape[2], np.quantile(y, level)),
        "Your rows share one decision. Each row has its own outcomes and its own decision.",
    ),
    "one number for all rows": Mistake(
        lambda y, level: np.quantile(y, level),
        "You made one decision for all rows. Each row has its own: shape (N,).",
    ),
    "quantile of the means": Mistake(
        lambda y, level: np.quantile(y.mean(axis=1), level, axis=0),
        "You averaged the outcomes of each theta before you took the quantile. Their spread is a part of what is not known.",
    ),
    "mean of the quantiles": Mistake(
        lambda y, level: np.quantile(y, level, axis=1).mean(axis=0),
        "You took a quantile for each theta and averaged. That is not the quantile of all outcomes: pool them first.",
    ),
    "quantile of the thetas' quantiles": Mistake(
        lambda y, level: np.quantile(np.quantile(y, level, axis=1), level, axis=0),
        "You took a quantile twice, over outcomes and over thetas. Pool all outcomes of a row first.",
    ),
    "one for each theta": Mistake(
        lambda y, level: np.quantile(y, level, axis=1),
        "You decided for each theta. A decision is made before theta is known: one for each row.",
    ),
    "median": Mistake(
        lambda y, level: np.median(y, axis=(0, 1)),
        "That is the median, for a loss that is as dear on one side as on the other.",
    ),
    "mean": Mistake(
        lambda y, level: y.mean(axis=(0, 1)),
        "That is the mean, the decision for squared loss.",
    ),
}


def _posterior(p, u, h):
    held = np.array([u[n, :, h[n]] for n in range(len(u))])
    q = p * held.prod(axis=0)
    return q / q.sum()


def _best(q, u, of=np.log):
    return np.array([int(np.argmax(q @ of(row))) for row in u])


def _normal(weight):
    return weight / weight.sum()


def _held(u, h):
    return np.array([u[n, :, h[n]] for n in range(len(u))])


def _after(q, u):
    return q, _best(q, u)


ROUND_MISTAKES = {
    "changed places": Mistake(
        lambda p, u, h: _after(_posterior(p, u, h), u)[::-1],
        "The two are right and have changed places: q first, then the decisions.",
    ),
    "posterior kept": Mistake(
        lambda p, u, h: _after(p, u),
        "Your q is still the posterior. With the decisions held, the bound is highest where q also leans towards what they are worth.",
    ),
    "utilities alone": Mistake(
        lambda p, u, h: _after(_normal(_held(u, h).prod(axis=0)), u),
        "Your q knows the utilities only. It is the posterior that they weigh.",
    ),
    "sum over rows": Mistake(
        lambda p, u, h: _after(_normal(p * _held(u, h).sum(axis=0)), u),
        "You weighed the posterior by the sum of the rows' utilities. Their logarithms add up, so the utilities multiply.",
    ),
    "logs for utilities": Mistake(
        lambda p, u, h: _after(_normal(p * np.exp(_held(u, h).sum(axis=0))), u),
        "You took the exponential of the utilities. It is their logarithms that add up to log q.",
    ),
    "not normalised": Mistake(
        lambda p, u, h: _after(p * _held(u, h).prod(axis=0), u),
        "Your q does not add up to 1.",
    ),
    "decided under the posterior": Mistake(
        lambda p, u, h: (_posterior(p, u, h), _best(p, u)),
        "Your q is right. The decisions are the best under the posterior; in EM they are the best under the q of this round.",
    ),
    "largest expected utility": Mistake(
        lambda p, u, h: (_posterior(p, u, h), _best(_posterior(p, u, h), u, lambda row: row)),
        "Your q is right. The decisions have the largest expected utility under it; the bound is raised most by the largest mean of log u.",
    ),
    "decided first": Mistake(
        lambda p, u, h: (_posterior(p, u, _best(p, u)), _best(p, u)),
        "You decided first, under the posterior, and then moved q. The round begins with q, for the decisions that were handed over.",
    ),
    "decisions kept": Mistake(
        lambda p, u, h: (_posterior(p, u, h), h),
        "Your q is right. The decisions are still the old ones.",
    ),
    "smallest": Mistake(
        lambda p, u, h: (_posterior(p, u, h), np.array([int(np.argmin(_posterior(p, u, h) @ np.log(row))) for row in u])),
        "Your q is right. The decisions are the worst ones.",
    ),
    "shared decision": Mistake(
        lambda p, u, h: (
            _posterior(p, u, h),
            np.full(len(u), int(np.argmax(sum(_posterior(p, u, h) @ np.log(row) for row in u)))),
        ),
        "Your q is right. The rows share one decision; each may have its own.",
    ),
}


def decide_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 760])
    cases = []
    # of these numbers of outcomes, all ways to define a sample quantile that are in use give the same
    for (thetas, draws, rows), level in [((7, 3, 2), 0.2), ((3, 17, 4), 0.9), ((7, 3, 3), 0.7)]:
        centre = rng.normal(0, 1, (thetas, 1, rows)) + np.arange(rows)
        cases.append((centre + rng.gamma(2.0, 1.0, (thetas, draws, rows)), level))
    return judge(
        answer,
        cases,
        _decide_by_trying,
        DECIDE_MISTAKES,
        right="Right. The thetas only serve to draw outcomes; all outcomes of a row count alike.",
        nudge="Not those decisions. With one row, y[:, :, 0] = [[9, 1, 4], [4, 6, 1], [2, 1, 1]] and level = 0.75 they are [4].",
    )


def round_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 761])
    cases: list[tuple[Any, ...]] = []
    while len(cases) < 2:
        thetas, rows, decisions = [(4, 3, 4), (5, 2, 5)][len(cases)]
        case = (rng.dirichlet(np.full(thetas, 2.0)), rng.uniform(0.02, 2.5, (rows, thetas, decisions)), rng.integers(decisions, size=rows))
        right = _posterior(*case), _best(_posterior(*case), case[1])
        gaps = [np.diff(np.sort(right[0] @ np.log(row)))[-1] for row in case[1]]
        given = [right, *(mistake.answer(*case) for mistake in ROUND_MISTAKES.values())]
        told = {(tuple(np.round(q, 2)), tuple(h)) for q, h in given}
        if len(told) == len(given) and min(gaps) > 0.02:  # else one could not be told from another
            cases.append(case)
    return judge(
        answer,
        cases,
        _round_by_search,
        ROUND_MISTAKES,
        right="Right. Neither half of the round can lower the bound.",
        nudge="Not those two. With p = [1/2, 1/2], u = [[[2, 1], [3, 4]], [[3, 2], [3, 4]]] and h = [0, 0], q is "
        "[0.4, 0.6] and the new h [0, 1].",
        parts=("q", "the decisions"),
    )


TASKS = (
    Task(
        "lcvi/em-step/decide",
        "One round of EM: the decisions",
        1,
        10,
        decide_stub,
        (
            "What is not known when the decision is made? Put everything that was drawn for a row into one pool.",
            "h_n is the quantile at `level` of the S_theta times S_y outcomes y_stn of row n.",
            "Begin with `pool = y.reshape(-1, y.shape[2])`",
        ),
        DECIDE_MISTAKES,
        decide_verdict,
    ),
    Task(
        "lcvi/em-step/round",
        "One round of EM: both halves",
        1,
        14,
        round_stub,
        (
            "First the best q for the old decisions: where is Jensen's inequality tight? Then the best decisions for the new q.",
            "q_k is proportional to p_k times the product over n of u[n, k, h_n]. The new h_n maximises sum over k of q_k log u[n, k, h].",
            "Begin with `held = np.array([u[n, :, h[n]] for n in range(len(h))])`",
        ),
        ROUND_MISTAKES,
        round_verdict,
    ),
)
