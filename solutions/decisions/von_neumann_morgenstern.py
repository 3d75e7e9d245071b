"""Utilities out of preferences. Road: the preferences come from utilities that the verdict knows and the student does not."""

import numpy as np

from course_pkg.checks.record import Record


def ranks(prefers, k):
    certain = np.eye(k)
    return np.array([sum(prefers(one, other) for other in certain) for one in certain]) / (k - 1)


UTILITY = Record(
    cases=lambda rng: [(rng.permutation(np.cumsum(rng.uniform(0.2, 3.0, k)) - 4.0), k) for k in (3, 6, 9)],
    view=lambda answer, utilities, k: answer(lambda p, q: bool(np.asarray(p) @ utilities > np.asarray(q) @ utilities), k),
    reference=lambda utilities, k: (utilities - utilities.min()) / np.ptp(utilities),
    rtol=2.0**-14 + 1e-6,  # 14 halvings of [0, 1] leave an interval of this length, whichever of its points is returned
    right="Right. You recovered every utility from yes and no, up to zero and unit: there is nothing more in a preference.",
    nudge="Not those numbers. Offer each outcome against a lottery between best and worst, and halve the interval of its chance, "
    "until it is known to four decimals.",
    hints=(
        "Find best and worst first. Then step 5 of the proof is a recipe: for which chance of the best are you indifferent?",
        "u(z) is the a at which z is as good as the lottery a best + (1 - a) worst; prefers(z, lottery) says on which side you are.",
        "Begin with `certain = np.eye(k)`",
    ),
    mistakes={
        "You ranked the outcomes and spaced the ranks evenly. The ranking comes from certain outcomes; the spacing only from lotteries.": ranks,
        "Your worst outcome has utility 1 and your best 0. Use the chance of the best outcome, not of the worst.": "return (low -> return 1 - (low",
        "Close, but not to four decimals. Every halving gains one binary digit, and four decimals need at least 14 halvings.": tuple(
            f"range(30) -> range({times})" for times in range(7, 13)
        ),
        "You halve towards the wrong side: who prefers the outcome wants a greater chance of the best.": "if prefers(outcome, middle -> if not prefers(outcome, middle",
        "You took the first outcome for the worst and the last for the best. Ask which they are.": (
            "best = outcome if prefers(outcome, best) else best -> best = certain[-1] ;; "
            "worst = outcome if prefers(worst, outcome) else worst -> worst = certain[0]"
        ),
    },
)
TASKS = {"von-neumann-morgenstern": UTILITY}
