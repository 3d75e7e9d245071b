"""Asymmetric classification. Road: list every decision's expected loss and look where the cheaper one changes."""

import numpy as np
from scipy.optimize import brentq

from course_pkg.checks.record import Record


def switch(alpha, beta):
    def gap(p):  # expected loss of saying 1 less that of saying 0, each listed over the two labels
        say_one = sum(chance * cost for chance, cost in [(1 - p, alpha), (p, 0.0)])
        say_zero = sum(chance * cost for chance, cost in [(1 - p, 0.0), (p, beta)])
        return say_one - say_zero

    return brentq(gap, 0.0, 1.0, xtol=1e-12)


def by_enumeration(probabilities, losses):
    decisions = []
    for row in probabilities:
        risks = [sum(p * losses[state][h] for state, p in enumerate(row)) for h in range(len(losses[0]))]
        decisions.append(risks.index(min(risks)))
    return np.array(decisions)


def tables(rng):
    losses = rng.uniform(1.0, 10.0, (3, 3)) * (1 - np.eye(3))
    for table in (losses, losses + rng.uniform(0, 1, (3, 3)), losses[:, [1, 2, 0]]):  # at last, a state's best decision has another number
        yield rng.dirichlet(np.ones(3), 60), table


def a_wide_table(rng):
    """Three states and four decisions; the last is by far the cheapest in the first state, and one belief is nearly sure of that."""
    losses = rng.uniform(1.0, 10.0, (3, 4))
    losses[0, 3] = 0.5 * losses[0].min()
    yield np.vstack([rng.dirichlet(np.ones(3), 60), [0.96, 0.02, 0.02]]), losses


THRESHOLD = Record(
    cases=lambda rng: [(1.0, 9.0), *rng.uniform(0.5, 6.0, (3, 2)).tolist()],
    reference=switch,
    right="Right. The classifier gives a probability; the costs alone say where to cut it.",
    nudge="Not that threshold. With alpha = 1 and beta = 9 it is 0.1: there both decisions cost 0.9 on average.",
    hints=(
        "At the threshold you do not care which label you say. What does that make equal?",
        "Saying 1 costs alpha (1 - p) on average, saying 0 costs beta p.",
        "Solve `alpha * (1 - p) == beta * p` for p, then `return` it.",
    ),
    mistakes={
        "The two costs have changed places. If misses cost far more than false alarms, you should say 1 early: at a low threshold.": "return alpha -> return beta",
        "One half says the more probable label. That is right only where the two errors cost the same.": lambda alpha, beta: 0.5,
        "That is the threshold on the odds p/(1-p), not on the probability: it can exceed 1.": "(alpha + beta) -> beta",
        "That is the odds turned round, which can exceed 1. Where do the two expected losses cross?": "alpha / (alpha + beta) -> beta / alpha",
        "You multiplied by the costs' sum. At the threshold alpha (1 - p) equals beta p: solve that for p.": "/ (alpha -> * (alpha",
    },
)
DECIDE = Record(
    cases=tables,
    reference=by_enumeration,
    right="Right. One matrix product and one minimum decide any finite problem.",
    nudge="Some decisions are off. With probabilities = [[0.3, 0.7]] and losses = [[0, 5], [2, 0]] the two cost 1.4 and 1.5, so the answer is [0].",
    hints=(
        "For each row of probabilities, average each column of the table, then take the cheapest.",
        "risk[n, h] = sum over states s of probabilities[n, s] losses[s, h].",
        "Begin with `risk = probabilities @ losses`",
    ),
    mistakes={
        "You chose the most probable state and never looked at the losses.": "risk.argmin -> probabilities.argmax",
        "You decided for the most probable state only. The others have probability, too, and losses.": "probabilities @ losses -> losses[probabilities.argmax(axis=1)]",
        "You read the table sideways: rows are states, columns are decisions, and the average runs over states.": "@ losses -> @ losses.T",
        "You chose the largest expected loss. A loss is minimised.": "argmin -> argmax",
    },
    later={
        "Right for square tables. With three states and four decisions some of your decisions are off.": (
            a_wide_table,
            "risk.argmin -> risk[:, : probabilities.shape[1]].argmin",
        ),
    },
)
TASKS = {"threshold": THRESHOLD, "decide": DECIDE}
