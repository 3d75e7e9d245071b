"""Utilities out of preferences. Road: the preferences come from utilities that the verdict knows and the student does not."""

from collections.abc import Callable
from typing import Any

import numpy as np

from course_pkg.checks._judge import Mistake, Task, Trouble, Verdict, call, judge, read

# 14 halvings of [0, 1] leave an interval of this length, whichever of its points is returned
DIGITS = 2.0**-14 + 1e-6
Prefers = Callable[[np.ndarray, np.ndarray], bool]


def _prefers(utilities: np.ndarray) -> Prefers:
    return lambda p, q: bool(np.asarray(p) @ utilities > np.asarray(q) @ utilities)


def _scaled(utilities: np.ndarray) -> np.ndarray:
    return (utilities - utilities.min()) / (utilities.max() - utilities.min())


def utility_stub(prefers: Prefers, k: int) -> Any:
    raise NotImplementedError


def _ranks(prefers: Prefers, k: int) -> np.ndarray:
    certain = np.eye(k)
    beaten = [sum(prefers(certain[i], certain[j]) for j in range(k)) for i in range(k)]
    return np.array(beaten) / (k - 1)


def _upside_down(prefers: Prefers, k: int) -> np.ndarray:
    """Against a lottery, an outcome gets the chance of the worst at which it is as good: found on a fine grid."""
    certain, order = np.eye(k), np.argsort(_ranks(prefers, k))
    worst, best = certain[order[0]], certain[order[-1]]
    chances = np.linspace(0, 1, 200_001)
    found = []
    for outcome in certain:
        low, high = 0, len(chances) - 1
        while low < high:
            middle = (low + high) // 2
            if prefers(outcome, chances[middle] * best + (1 - chances[middle]) * worst):
                low = middle + 1
            else:
                high = middle
        found.append(1 - chances[low])
    return np.array(found)


MISTAKES = {
    "ranks": Mistake(
        _ranks,
        "You ranked the outcomes and spaced the ranks evenly. The ranking comes from certain outcomes; the spacing only from lotteries.",
    ),
    "upside down": Mistake(
        _upside_down,
        "Your worst outcome has utility 1 and your best 0. Use the chance of the best outcome, not of the worst.",
    ),
}


def utility_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 90])
    hidden = [rng.permutation(np.cumsum(rng.uniform(0.2, 3.0, k)) - 4.0) for k in (3, 6, 9)]
    # the student's function sees only the oracle; what lies behind it stays here
    table = {id_: _scaled(utilities) for id_, utilities in enumerate(hidden)}
    oracles = {id_: _prefers(utilities) for id_, utilities in enumerate(hidden)}

    def asked(id_: int) -> np.ndarray:
        (got,) = read(call(answer, oracles[id_], len(hidden[id_])), (table[id_],))
        return got

    try:
        close = all(asked(id_).shape == table[id_].shape and np.allclose(asked(id_), table[id_], atol=0.02) for id_ in table)
    except (Trouble, ValueError) as trouble:
        return Verdict(False, str(trouble) if isinstance(trouble, Trouble) else "Expected one array of utilities.")
    return judge(
        asked,
        [(id_,) for id_ in table],
        table.__getitem__,
        {
            name: Mistake(lambda id_, wrong=mistake.answer: wrong(oracles[id_], len(hidden[id_])), mistake.words)
            for name, mistake in MISTAKES.items()
        },
        right="Right. You recovered every utility from yes and no, up to zero and unit: there is nothing more in a preference.",
        nudge=(
            "Close, but not to four decimals. Every halving gains one binary digit, and four decimals need at least 14 halvings."
            if close
            else "Not those numbers. Offer each outcome against a lottery between best and worst, and halve the interval of its chance."
        ),
        rtol=DIGITS,
    )


TASKS = (
    Task(
        "decisions/von-neumann-morgenstern",
        "Von Neumann and Morgenstern: utilities out of yes and no",
        3,
        15,
        utility_stub,
        (
            "Find best and worst first. Then step 5 of the proof is a recipe: for which chance of the best are you indifferent?",
            "u(z) is the a at which z is as good as the lottery a best + (1 - a) worst; prefers(z, lottery) says on which side you are.",
            "Begin with `certain = np.eye(k)`",
        ),
        MISTAKES,
        utility_verdict,
    ),
)
