"""Lupus, mended. Road: the two expected losses, written out by hand."""

from typing import Any

import numpy as np

from course_pkg.checks._judge import Mistake, Task, Verdict, judge


def _by_hand(p: np.ndarray) -> np.ndarray:
    choices = []
    for chance in p:
        say_lupus = chance * 0.0 + (1 - chance) * 1.0
        say_healthy = chance * 100.0 + (1 - chance) * 0.0
        choices.append(say_lupus < say_healthy)
    return np.array(choices)


def _worth_by_hand(p: np.ndarray) -> np.ndarray:
    prices = []
    for chance in p:
        without = min((1 - chance) * 1.0, chance * 100.0)
        with_test = chance * min(0.0, 100.0) + (1 - chance) * min(1.0, 0.0)
        prices.append(without - with_test)
    return np.array(prices)


def decide_stub(p: np.ndarray) -> Any:
    raise NotImplementedError


def worth_stub(p: np.ndarray) -> Any:
    raise NotImplementedError


DECIDE_MISTAKES = {
    "minimises the negative penalties": Mistake(
        lambda p: ~_by_hand(p),
        "You minimised the table as it is printed. Its entries are negative, so its minimum is the worst error: at p = 0.9 you "
        "send the patient home. Read as a loss, the table needs its signs changed. (Or you returned the number of the column: "
        "true must mean 'say lupus'.)",
    ),
    "prices divided": Mistake(
        lambda p: p > 1 / 100,
        "You divided the two prices. A false alarm is paid only by the healthy: saying lupus costs 1 - p, not 1.",
    ),
    "more probable": Mistake(
        lambda p: p > 0.5,
        "You chose the more probable state. A patient with one chance in three of lupus would go untreated to spare a loss of 1.",
    ),
    "read sideways": Mistake(
        lambda p: 1 - p < 1 / 101,
        "You read the table sideways: rows are what is true, columns what is decided. The 100 is for the patient who is sent home ill.",
    ),
}
WORTH_MISTAKES = {
    "compared with treating": Mistake(
        lambda p: 1 - p,
        "You compared the test with treating everybody. Without a test one may also choose not to treat: use the better of the two.",
    ),
    "compared with not treating": Mistake(
        lambda p: 100 * p,
        "You compared the test with treating nobody. Without a test one would choose the better of the two decisions.",
    ),
    "worse of the two": Mistake(
        lambda p: np.maximum(1 - p, 100 * p),
        "You took the worse of the two decisions as what happens without a test. A Bayes rule takes the better.",
    ),
}


def decide_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 30])
    p = np.concatenate([[0.001, 0.008, 0.0098, 0.00995, 0.0105, 0.02, 0.3, 0.9, 0.995], rng.uniform(0, 1, 20)])
    return judge(
        answer,
        [(p[np.abs(p - 1 / 101) > 1e-5],)],
        _by_hand,
        DECIDE_MISTAKES,
        right="Right. One chance in a hundred and one is enough to treat, because that is how the table prices the two errors.",
        nudge="Some decisions are off. Work out both expected losses at p = 0.02 by hand and compare.",
    )


def worth_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 31])
    return judge(
        answer,
        [(np.concatenate([[0.0, 0.002, 0.006, 0.5, 1.0], rng.uniform(0, 1, 20)]),)],
        _worth_by_hand,
        WORTH_MISTAKES,
        right="Right. Information is worth what it saves in expected loss: nothing where it could not change the decision.",
        nudge="Not those numbers. A test is worth nothing to someone who is already sure, at p = 0 and at p = 1.",
    )


TASKS = (
    Task(
        "decisions/lupus/decide",
        "Lupus, mended: the decision",
        1,
        8,
        decide_stub,
        (
            "A loss is to be made small. Which sign must a penalty have for that to be a good idea?",
            "An expected loss is a sum over the two states, probability times mended entry. In each column only one entry is not zero.",
            "Begin with `risk_lupus = 1 - p`, from the first column; the second column gives the other one.",
        ),
        DECIDE_MISTAKES,
        decide_verdict,
    ),
    Task(
        "decisions/lupus/worth",
        "Lupus, mended: the price of a test",
        1,
        7,
        worth_stub,
        (
            "How much do you lose on average without the test, deciding as well as you can? And how much with it?",
            "With a perfect test every decision is right and the loss is 0. Without, it is the smaller of two expected losses.",
            "You have both expected losses from the first part; `np.minimum` compares arrays entry by entry.",
        ),
        WORTH_MISTAKES,
        worth_verdict,
    ),
)
