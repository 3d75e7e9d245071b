"""One round of EM. Roads: every outcome tried as a decision; the bound climbed over all q, decisions tried one by one."""

import numpy as np

from course_pkg.checks.record import Record
from solutions.lcvi._tools import best_by_climbing


def decide_by_trying(y, level):
    """The outcome that would have cost least as a decision."""
    pools = y.reshape(-1, y.shape[2]).T
    return np.array([min(pool, key=lambda h: np.maximum(level * (pool - h), (level - 1) * (pool - h)).sum()) for pool in pools])


def round_by_search(p, u, h):
    q = best_by_climbing(np.log(p) + sum(np.log(row[:, decision]) for row, decision in zip(u, h, strict=True)))
    return q, np.array([max(range(u.shape[2]), key=lambda d: np.log(row[:, d]) @ q) for row in u])


def outcomes(rng):
    # of these numbers of outcomes, all ways to define a sample quantile that are in use give the same
    for (thetas, draws, rows), level in [((7, 3, 2), 0.2), ((3, 17, 4), 0.9), ((7, 3, 3), 0.7)]:
        centre = rng.normal(0, 1, (thetas, 1, rows)) + np.arange(rows)
        yield centre + rng.gamma(2.0, 1.0, (thetas, draws, rows)), level


def tables(rng):
    for thetas, rows, decisions in [(4, 3, 4), (5, 2, 5), (6, 3, 5)]:
        yield rng.dirichlet(np.full(thetas, 2.0)), rng.uniform(0.02, 2.5, (rows, thetas, decisions)), rng.integers(decisions, size=rows)


DECIDE = Record(
    cases=outcomes,
    reference=decide_by_trying,
    right="Right. The thetas only serve to draw outcomes; all outcomes of a row count alike.",
    nudge="Not those decisions. With one row, y[:, :, 0] = [[9, 1, 4], [4, 6, 1], [2, 1, 1]] and level = 0.75 they are [4].",
    hints=(
        "What is not known when the decision is made? Put everything that was drawn for a row into one pool.",
        "h_n is the quantile at `level` of the S_theta times S_y outcomes y_stn of row n.",
        "Begin with `pool = y.reshape(-1, y.shape[2])`",
    ),
    mistakes={
        "The two sides of your loss have changed places: with a small level it is dear to decide too high.": "level, axis -> 1 - level, axis",
        "Your rows share one decision. Each row has its own outcomes.": "level, axis=0) -> level) + 0 * y[0, 0] || level, axis=0 -> level",
        "You averaged the outcomes of each theta before you took the quantile. Their spread is a part of what is not known.": "y.reshape(-1, y.shape[2]) -> y.mean(axis=1)",
        "You took a quantile for each theta and averaged. That is not the quantile of all outcomes: pool them first.": "(pool, level, axis=0) -> (y, level, axis=1).mean(axis=0)",
        "You took a quantile twice, over outcomes and over thetas. Pool all outcomes of a row first.": "y.reshape(-1, y.shape[2]) -> np.quantile(y, level, axis=1)",
        "You decided for each theta. A decision is made before theta is known: one for each row.": "pool, level, axis=0 -> y, level, axis=1",
    },
)
ROUND = Record(
    cases=tables,
    reference=round_by_search,
    right="Right. Neither half of the round can lower the bound.",
    nudge="Not those two. With p = [1/2, 1/2], u = [[[2, 1], [3, 4]], [[3, 2], [3, 4]]] and h = [0, 0], q is "
    "[0.4, 0.6] and the new h [0, 1].",
    hints=(
        "First the best q for the old decisions: where is Jensen's inequality tight? Then the best decisions for the new q.",
        "q_k is proportional to p_k times the product over n of u[n, k, h_n]. The new h_n maximises sum over k of q_k log u[n, k, h].",
        "Begin with `held = np.array([u[n, :, h[n]] for n in range(len(h))])`",
    ),
    mistakes={
        "Your q is still the posterior. With the decisions held, the bound is highest where q also leans towards what they are worth.": "weight / weight.sum() -> p",
        "You weighed the posterior by the sum of the rows' utilities. Their logarithms add up, so the utilities multiply.": "held.prod -> held.sum",
        "Your q is right. The decisions are the best under the posterior; in EM they are the best under the q of this round.": "(q[:, None] -> (p[:, None]",
        "Your q is right. The decisions have the largest expected utility under it; the bound is raised most by the largest mean of log u.": "np.log(u) -> u",
        "You decided first, under the posterior, and then moved q. The round begins with q, for the decisions that were handed over.": (
            "held = -> h = (p[:, None] * np.log(u)).sum(axis=1).argmax(axis=1)\nheld = ;; return q, (q[:, None] * np.log(u)).sum(axis=1).argmax(axis=1) -> return q, h"
        ),
    },
    parts=("the new q", "the list of decisions"),
    apart=True,
)
TASKS = {"decide": DECIDE, "round": ROUND}
