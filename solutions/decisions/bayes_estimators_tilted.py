"""Tilted and imbalanced losses from weighted draws. Road: the average loss of every candidate, and the least of them."""

import numpy as np

from course_pkg.checks.record import Record

FIRST = " If part 1 is not right yet, mend that first."
NUDGE = "Not that draw. With y = [4, 1, 2], weights = [2, 1, 1] and {} it is 2."


def cheapest(y, weights, below, above):
    """An overshoot costs ``above`` a unit, an undershoot ``below``; the average has its corners at the draws."""
    excess = y[:, None] - y[None, :]  # draw minus candidate
    loss = np.where(excess >= 0, below * excess, -above * excess)
    return y[np.argmin(weights @ loss / weights.sum())]


def draws(rng, settings):
    for setting in settings:
        y = rng.gamma(2.0, 1.0, 81)
        yield y, np.exp(-0.5 * y) * rng.uniform(0.5, 2.0, 81), *setting


TILTED = Record(
    cases=lambda rng: draws(rng, [(0.2,), (0.83,), (0.65,)]),
    reference=lambda y, weights, q: cheapest(y, weights, q, 1 - q),
    right="Right. The tilted loss asks for a quantile, and weighted draws have one, too.",
    nudge=NUDGE.format("q = 0.3"),
    hints=(
        "Move h a little to the right. For which draws does the loss grow, for which does it fall, and how fast?",
        "The slope of the risk at h is (1 - q) P(y < h) - q P(y > h). It changes sign where P(y <= h) reaches q.",
        "Begin with `order = np.argsort(y)`",
    ),
    mistakes={
        "You took the other tail. q is what a unit of undershooting costs: for large q, aim high.": "(below, q) -> (below, 1 - q)",
        "You sorted the draws and left their weights in the old order. Sort both by the same permutation.": "weights[order] -> weights",
        "The weights need not sum to one: compare with q times their sum.": "/ weights.sum() -> ",
        "You interpolated between two draws. The answer is one of them.": "y[order][np.searchsorted(below, q)] -> np.interp(q, below, y[order])",
        "That is the mean, for squared loss. This loss is not squared, and its sides cost differently.": "y[order][np.searchsorted(below, q)] -> weights @ y / weights.sum()",
    },
)
IMBALANCED = Record(
    cases=lambda rng: draws(rng, [(0.6, 1.8), (0.9, 0.2), (0.35, 0.35)]),
    reference=cheapest,
    right="Right. Only the ratio of the two prices matters, as an affine change of the loss never changes the decision.",
    nudge=NUDGE.format("a = 3, b = 7") + FIRST,
    hints=(
        "Divide the loss by a number so that its two prices add up to one. Does that change the decision?",
        "a = (a + b) q with q = a/(a + b), and b = (a + b)(1 - q).",
        "You have `tilted`. With which q does it answer this question?",
    ),
    mistakes={
        "a and b have changed places: a is the price of deciding too low, so a large a should push the decision up." + FIRST: (
            "a / (a + b) -> b / (a + b)"
        ),
        "You took the a-quantile. Only the ratio of a and b matters: doubling both must change nothing." + FIRST: "a / (a + b) -> a",
        "You treated all draws alike. A draw counts in proportion to its weight." + FIRST: "weights -> np.ones_like(y)",
        "The draws are sorted and their weights are not." + FIRST: "tilted(y -> tilted(np.sort(y)",
    },
)
TASKS = {"tilted": TILTED, "imbalanced": IMBALANCED}
