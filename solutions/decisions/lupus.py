"""Lupus, mended. Road: the two expected losses, patient by patient, listed over the two states."""

import numpy as np

from course_pkg.checks.record import Record

risks = lambda chance: (chance * 0.0 + (1 - chance) * 1.0, chance * 100.0 + (1 - chance) * 0.0)


def saved(chance):
    with_test = chance * min(0.0, 100.0) + (1 - chance) * min(1.0, 0.0)
    return min(risks(chance)) - with_test


def patients(rng):
    p = np.concatenate([[0.001, 0.008, 0.0098, 0.00995, 0.0105, 0.02, 0.3, 0.9, 0.995], rng.uniform(0, 1, 20)])
    return [(p[np.abs(p - 1 / 101) > 1e-5],)]


DECIDE = Record(
    cases=patients,
    reference=lambda p: np.array([risks(chance)[0] < risks(chance)[1] for chance in p]),
    right="Right. One chance in a hundred and one is enough to treat, because that is how the table prices the two errors.",
    nudge="Some decisions are off. With p = [0.02] the two expected losses are 0.98 and 2, and the answer is true.",
    hints=(
        "A loss is to be made small. Which sign must a penalty have for that to be a good idea?",
        "An expected loss is a sum over the two states, probability times mended entry. In each column only one entry is not zero.",
        "Begin with `risk_lupus = 1 - p`, from the first column; the second column gives the other one.",
    ),
    mistakes={
        "You minimised the printed table, or returned a column: its entries are penalties, and true must mean 'say lupus'.": "< -> >",
        "You divided the two prices. A false alarm is paid only by the healthy: saying lupus costs 1 - p, not 1.": "1 - p -> 1",
        "You chose the more probable state. A patient with one chance in three of lupus would go untreated to spare a loss of 1.": "100 * p -> p",
        "You read the table sideways: rows are what is true. The 100 is for who is sent home ill.": "100 * p -> p ;; 1 - p -> 100 * (1 - p)",
    },
)
WORTH = Record(
    cases=lambda rng: [(np.concatenate([[0.0, 0.002, 0.006, 0.5, 1.0], rng.uniform(0, 1, 20)]),)],
    reference=lambda p: np.array([saved(chance) for chance in p]),
    right="Right. Information is worth what it saves in expected loss: nothing where it could not change the decision.",
    nudge="Not those numbers. With p = [0.004, 0.6] they are 0.4 and 0.4, and to someone who is already sure a test is worth nothing.",
    hints=(
        "How much do you lose on average without the test, deciding as well as you can? And how much with it?",
        "With a perfect test every decision is right and the loss is 0. Without, it is the smaller of two expected losses.",
        "You have both expected losses from the first part; `np.minimum` compares arrays entry by entry.",
    ),
    mistakes={
        "You compared with treating everybody. Without a test one may also choose not to treat.": "np.minimum(1 - p, 100 * p) -> 1 - p",
        "You compared the test with treating nobody. Without a test one would choose the better of the two decisions.": "np.minimum(1 - p, 100 * p) -> 100 * p",
        "You took the worse of the two decisions as what happens without a test. A Bayes rule takes the better.": "minimum -> maximum",
        "With the test the loss is 0, so it saves all that the better decision would lose.": "np.minimum(1 - p, 100 * p) -> np.abs(1 - p - 100 * p)",
    },
)
TASKS = {"decide": DECIDE, "worth": WORTH}
