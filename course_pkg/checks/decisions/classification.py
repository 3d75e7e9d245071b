"""Asymmetric classification. Road: list every decision's expected loss and look where the cheaper one changes."""

from typing import Any

import numpy as np
from scipy.optimize import brentq

from course_pkg.checks._judge import Mistake, Task, Verdict, judge


def _switch(alpha: float, beta: float) -> float:
    def gap(p: float) -> float:  # expected loss of saying 1 less that of saying 0, each listed over the two labels
        say_one = sum(chance * cost for chance, cost in [(1 - p, alpha), (p, 0.0)])
        say_zero = sum(chance * cost for chance, cost in [(1 - p, 0.0), (p, beta)])
        return say_one - say_zero

    return float(brentq(gap, 0.0, 1.0, xtol=1e-12))


def _by_enumeration(probabilities: np.ndarray, losses: np.ndarray) -> np.ndarray:
    decisions = []
    for row in probabilities:
        risks = [sum(p * losses[state][h] for state, p in enumerate(row)) for h in range(len(losses[0]))]
        decisions.append(risks.index(min(risks)))
    return np.array(decisions)


def threshold_stub(alpha: float, beta: float) -> Any:
    raise NotImplementedError


def decide_stub(probabilities: np.ndarray, losses: np.ndarray) -> Any:
    raise NotImplementedError


THRESHOLD_MISTAKES = {
    "costs swapped": Mistake(
        lambda alpha, beta: beta / (alpha + beta),
        "The two costs have changed places. If misses cost far more than false alarms, you should say 1 early: at a low threshold.",
    ),
    "one half": Mistake(
        lambda alpha, beta: 0.5,
        "One half says the more probable label. That is right only where the two errors cost the same.",
    ),
    "odds": Mistake(
        lambda alpha, beta: alpha / beta,
        "That is the threshold on the odds p/(1-p), not on the probability: it can exceed 1.",
    ),
}
DECIDE_MISTAKES = {
    "most probable": Mistake(
        lambda probabilities, losses: probabilities.argmax(axis=1),
        "You chose the most probable state and never looked at the losses.",
    ),
    "most probable state only": Mistake(
        lambda probabilities, losses: losses[probabilities.argmax(axis=1)].argmin(axis=1),
        "You decided for the most probable state only. The others have probability, too, and losses.",
    ),
    "transposed": Mistake(
        lambda probabilities, losses: _by_enumeration(probabilities, losses.T),
        "You read the table sideways: rows are states, columns are decisions, and the average runs over states.",
    ),
    "maximised": Mistake(
        lambda probabilities, losses: _by_enumeration(probabilities, -losses),
        "You chose the largest expected loss. A loss is minimised.",
    ),
}


def threshold_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 4])
    cases = [(1.0, 9.0)] + [tuple(map(float, pair)) for pair in rng.uniform(0.5, 6.0, (3, 2))]
    return judge(
        answer,
        cases,
        _switch,
        THRESHOLD_MISTAKES,
        right="Right. The classifier gives a probability; the costs alone say where to cut it.",
        nudge="Not that number. With alpha = 1 and beta = 9, at your threshold the two decisions must cost the same on average.",
    )


def decide_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 5])
    losses = rng.uniform(1.0, 10.0, (3, 3)) * (1 - np.eye(3))
    cases = [
        (rng.dirichlet(np.ones(3), 60), losses),
        (rng.dirichlet(np.ones(3), 60), losses + rng.uniform(0, 1, (3, 3))),
        (rng.dirichlet(np.ones(3), 60), losses[:, [1, 2, 0]]),  # the best decision for a state does not share its number
    ]
    square = judge(
        answer,
        cases,
        _by_enumeration,
        DECIDE_MISTAKES,
        right="Right. One matrix product and one minimum decide any finite problem.",
        nudge="Some decisions are off. When one state is certain, take the cheapest entry of its row.",
    )
    if not square.passed:
        return square
    words = "Right for square tables. With three states and four decisions some of your decisions are off."
    wide = (rng.dirichlet(np.ones(3), 60), rng.uniform(1.0, 10.0, (3, 4)))
    return judge(answer, [wide], _by_enumeration, {}, right=square.message, nudge=words)


TASKS = (
    Task(
        "decisions/classification/threshold",
        "Asymmetric classification: the threshold",
        1,
        5,
        threshold_stub,
        (
            "At the threshold you do not care which label you say. What does that make equal?",
            "Saying 1 costs alpha (1 - p) on average, saying 0 costs beta p.",
            "Solve `alpha * (1 - p) == beta * p` for p, then `return` it.",
        ),
        THRESHOLD_MISTAKES,
        threshold_verdict,
    ),
    Task(
        "decisions/classification/decide",
        "Asymmetric classification: any table of losses",
        1,
        5,
        decide_stub,
        (
            "For each row of probabilities, average each column of the table, then take the cheapest.",
            "risk[n, h] = sum over states s of probabilities[n, s] losses[s, h].",
            "Begin with `risk = probabilities @ losses`",
        ),
        DECIDE_MISTAKES,
        decide_verdict,
    ),
)
