"""Model choice and point estimation as decisions. Roads: one toss after the other; every candidate's average loss."""

import numpy as np
from scipy.optimize import minimize_scalar

from course_pkg.checks.record import Record


def toss_by_toss(heads, n, prior):
    """Bayes' theorem after each toss; under the second model the next head has probability (heads so far + 1)/(tosses + 2)."""
    belief, seen = prior, 0
    for toss in range(n):
        chance = (seen + 1) / (toss + 2)
        second = chance if toss < heads else 1 - chance
        belief = belief * second / (belief * second + (1 - belief) * 0.5)
        seen += toss < heads
    return belief


def points_by_search(theta, p):
    wrong = [p[theta != candidate].sum() for candidate in theta]
    absolute = [p @ np.abs(theta - candidate) for candidate in theta]
    squared = minimize_scalar(lambda h: float(p @ (theta - h) ** 2), bounds=(theta.min(), theta.max()), method="bounded")
    return theta[np.argmin(wrong)], theta[np.argmin(absolute)], squared.x


def posteriors(rng):
    for size, end in [(7, -1), (9, 0)]:
        p = rng.dirichlet(np.ones(size))
        p[end] += 0.4  # a lump at one end keeps mode, median and mean apart
        yield np.cumsum(rng.uniform(0.5, 2.0, size)), p / p.sum()


POSTERIOR = Record(
    cases=lambda rng: [(int(rng.integers(2, n - 1)), n, prior) for n, prior in [(6, 0.5), (11, 0.2), (20, 0.7)]],
    reference=toss_by_toss,
    right="Right. With equal losses you would now choose the more probable model. The flexible one pays for what it might have said.",
    nudge="Not that probability. With heads = 2, n = 2 and prior = 0.5 it is 4/7, or 0.571, and after a single toss still the prior.",
    hints=(
        "Each model gives the sequence a probability. The second one has to average over its unknown theta.",
        "Under the second model it is the integral of theta^heads (1 - theta)^(n - heads), a beta function.",
        "Begin with `unknown = beta(heads + 1, n - heads + 1)`",
    ),
    mistakes={
        "You gave the second model its best theta. Its evidence is the average over all of them.": "beta(heads + 1, n - heads + 1) -> (heads / n) ** heads * (1 - heads / n) ** (n - heads)",
        "You left out the prior probability of the models: yours answers only someone who began at one half.": "return -> prior = 0.5\nreturn",
        "One model's evidence is for the sequence, the other's for the count. Use the same data on both sides.": "beta(heads + 1, n - heads + 1) -> 1 / (n + 1)",
        "A probability cannot exceed 1: you returned odds.": "(prior * unknown + (1 - prior) * fair) -> ((1 - prior) * fair)",
        "Your beta function has the exponents for arguments. In its integral stand a - 1 and b - 1.": "heads + 1 -> heads",
    },
)
POINTS = Record(
    cases=posteriors,
    apart=True,
    reference=points_by_search,
    parts=("the number for zero-one loss", "the number for absolute loss", "the number for squared loss"),
    right="Right. One posterior, three losses, three answers: none of them is 'the' estimate.",
    nudge="Not those three. With theta = [0, 1, 5] and p = [0.4, 0.25, 0.35] they are 0, 1 and 2.",
    hints=(
        "Which value is wrong least often? Which has half of the mass on either side? Which is closest in squares?",
        "Reporting h costs 1 - P(theta = h); or has the slope P(theta < h) - P(theta > h); or has the slope 2 (h - E theta).",
        "Begin with `mode = theta[np.argmax(p)]`; for the second number look up `np.cumsum` and `np.searchsorted`.",
    ),
    mistakes={
        "Median and mean must use the probabilities: half of the mass, not half of the values.": "theta[np.searchsorted(np.cumsum(p), 0.5)] -> np.median(theta) ;; p @ theta -> theta.mean()",
        "The mean answers squared loss only. Under zero-one loss a value that cannot occur is always wrong.": "return mode, median -> return mean, mean",
        "You returned a position; report the value of theta there.": "theta[np.argmax(p)] -> np.argmax(p) ;; theta[np.searchsorted(np.cumsum(p), 0.5)] -> np.searchsorted(np.cumsum(p), 0.5)",
        "You interpolated. Report the first value at which half of the mass is reached.": "theta[np.searchsorted(np.cumsum(p), 0.5)] -> np.interp(0.5, np.cumsum(p), theta)",
        "": "theta[np.argmax(p)] -> theta[-1]",
    },
)
TASKS = {"posterior": POSTERIOR, "points": POINTS}
