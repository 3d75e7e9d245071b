"""A threshold for the effective sample size. Roads: cycles summed one by one; signs counted; runs added up by hand."""

from itertools import pairwise

import numpy as np

from course_pkg.checks.record import Record

COST = "gradients * model + steps * rest"
STOPPED = f"np.minimum({COST}, budget)"
BEST = "np.argmin(cost.mean(axis=1))"
AGREE = "(signs[1:] * signs[:-1]).mean()"


def pace_by_cycles(model, rest, reuse):
    """A cycle is a fresh step and the reused ones that follow it: k of them with probability reuse^k (1 - reuse)."""
    k = np.arange(5000)
    chance = reuse**k * (1 - reuse)
    steps, time = chance @ (1 + k), chance @ (model + rest * (1 + k))
    return steps / time * (model + rest)


def agreement_by_counting(gradients):
    pairs = [a * b for before, after in pairwise(gradients) for a, b in zip(before, after, strict=True)]
    return sum(int(product > 0) - int(product < 0) for product in pairs) / len(pairs)


def choice_by_hand(leasts, steps, gradients, model, rest, budget):
    spent = [sum(min(budget, g * model + s * rest) for s, g in zip(*row, strict=True)) for row in zip(steps, gradients, strict=True)]
    return leasts[spent.index(min(spent))]


def walks(rng):
    """Gradients of a slope and noise; a few parts are exactly 0, twice in a row among them, and a column is tiny."""
    for steps, parameters, slope in [(4, 7, 1.2), (6, 4, 0.3)]:
        gradients = slope * rng.choice([-1, 1], parameters) * rng.uniform(0.5, 3, parameters) + rng.normal(size=(steps, parameters))
        if parameters == 7:
            gradients[1:3, 0], gradients[2, 3] = 0.0, 0.0
        gradients[:, -1] *= 1e-5
        yield (gradients,)


def runs(rng):
    """A table in which a low threshold is cheap when it arrives, and does not always."""
    gradients = np.ceil(np.array([[20], [26], [34], [46], [80]]) * rng.lognormal(0, 0.35, (5, 5)))
    steps = np.ceil(gradients * np.array([[10], [7], [4.5], [3], [1.4]]) * rng.lognormal(0, 0.25, (5, 5)))
    never = rng.random((5, 5)) < np.array([[0.4], [0.3], [0.15], [0.05], [0.0]])
    slow = rng.random((5, 5)) < 0.1
    steps, gradients = (np.where(never, np.inf, np.where(slow, 6 * a, a)) for a in (steps, gradients))
    order = rng.permutation(5)
    return (
        np.array([0.0, 0.3, 0.5, 0.7, 0.9])[order],
        steps[order],
        gradients[order],
        1.0,
        rng.uniform(0.08, 0.2),
        float(rng.integers(120, 200)),
    )


def tables(rng):
    """No two thresholds are nearly as good, and a run is stopped for good or is not near the budget."""
    cases = []
    while len(cases) < 40:
        leasts, steps, gradients, model, rest, budget = runs(rng)
        cost = gradients * model + steps * rest
        low, next_low = np.sort(np.minimum(cost, budget).mean(axis=1))[:2]
        if next_low > 1.03 * low and abs(cost / budget - 1).min() > 0.02:
            cases.append((leasts, steps, gradients, model, rest, budget))
    return cases


PACE = Record(
    cases=lambda rng: [
        (float(rng.uniform(*m)), float(rng.uniform(0.5, 0.9)), p) for m, p in [((8, 20), 0.9), ((3, 6), 0.75), ((2, 4), 0.0)]
    ],
    reference=pace_by_cycles,
    right="Right. However often a gradient is reused, the pace stays below (model + rest) / rest.",
    nudge="Not that pace. With model = 9, rest = 1 and reuse = 2/3 a step takes 4 seconds on average instead of 10: the pace is 5/2.",
    hints=(
        "How many seconds does a step take on average, with reuse and without?",
        "mean seconds of a step = reuse * (seconds of a reused one) + (1 - reuse) * (seconds of a fresh one).",
        "Begin with `seconds = (1 - reuse) * model + rest`",
    ),
    mistakes={
        "You took `reuse` for the probability of a fresh gradient. Both readings have been printed; here it is that of reusing.": "(1 - reuse) -> reuse",
        "Close if a model gradient is dear, and often quoted: a step of SGD pays for the rest, too.": "(model + rest) / -> model /",
        "You averaged speeds. It is times that add up: average the seconds of a step.": "(model + rest) / seconds -> (1 - reuse) + reuse * (model + rest) / rest",
        "That is the share of the time that is saved. How many times as many steps is that?": "(model + rest) / seconds -> 1 - seconds / (model + rest)",
    },
)
AGREEMENT = Record(
    cases=walks,
    apart=True,
    reference=agreement_by_counting,
    right="Right. Where there is a slope it is near 1, and where all is noise near 0.",
    nudge="Not that agreement. With gradients = [[1, 2, 3, 0], [5, 1, 2, 4], [3, -6, -1, -1], [2, -1, 5, -3]] the pairs have 3/4, -1/2 "
    "and 1/2, and the agreement is 1/4.",
    hints=(
        "Multiply two signs. What comes out if they are the same, if they differ, and if one of them is 0?",
        "For one pair of rows: share of the same - share of the others = (1/d) sum over i of sign(a_i) sign(b_i).",
        "Begin with `signs = np.sign(gradients)`",
    ),
    mistakes={
        "That is the share of equal signs, one half where all is noise. Take off the share that differ.": f"{AGREE} -> (signs[1:] * signs[:-1] > 0).mean()",
        "You averaged products of gradients. Only their signs count.": "np.sign(gradients) -> gradients",
        "You compare every gradient with the first one. Compare it with the one before it.": "signs[:-1] -> signs[:1]",
        "Right but for zeros: a zero neither agrees nor differs.": "np.sign(gradients) -> np.where(gradients >= 0, 1, -1)",
        "Right but for zeros: you count what does not agree as a difference. A zero does neither.": f"{AGREE} -> 2 * (signs[1:] * signs[:-1] > 0).mean() - 1",
        "": f".mean() -> [0].mean() || .mean() -> [-1].mean() || {AGREE} -> np.median((signs[1:] * signs[:-1]).mean(axis=1))",
    },
)
CHOOSE = Record(
    cases=tables,
    apart=True,
    reference=choice_by_hand,
    right="Right. What a threshold is worth depends on what a failure costs.",
    nudge="Not that threshold. With leasts = [0, 0.5, 0.9], steps = [[20, inf], [40, 40], [50, 50]], gradients = [[5, inf], [20, 16], "
    "[50, 45]], model = 1, rest = 1/2 and budget = 60 the mean costs are 37.5, 38 and 60, so that it is 0.",
    hints=(
        "What has each run cost? Then: what does a threshold cost on average?",
        "A run that arrives in time costs gradients model + steps rest; any other costs the budget. Which is the smaller of the two?",
        f"Begin with `cost = {STOPPED}`",
    ),
    mistakes={
        "That is a place in the list. The threshold that stands there was asked for.": f"leasts[{BEST}] -> {BEST}",
        "You left out the runs that never arrived. Such a run has cost the whole budget.": f"{STOPPED} -> np.ma.masked_invalid({COST}) ;; cost.mean(axis=1) -> cost.mean(axis=1).filled(np.inf)",
        "Stop each run at the budget, before the mean is taken. No run costs more than that, not even one that would never arrive.": f"{STOPPED} -> {COST}",
        "You counted the model gradients only. Cheap steps take time as well, and there are many.": f"{COST} -> gradients * model",
        "Every step pays `rest`, those with a fresh model gradient too.": f"{STOPPED} -> np.fmin(gradients * model + (steps - gradients) * rest, budget)",
        "A run that would arrive later than the budget is stopped, too.": f"{STOPPED} -> np.where(np.isinf(steps), budget, {COST})",
        "You chose by the median run. What a failure costs does not show in it; take the mean.": "cost.mean(axis=1) -> np.median(cost, axis=1)",
    },
)
TASKS = {"pace": PACE, "agreement": AGREEMENT, "choose": CHOOSE}
