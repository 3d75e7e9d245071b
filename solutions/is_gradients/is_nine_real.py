"""Is nine real? Roads: a log walked through line by line; tables sorted by hand."""

from itertools import product
from statistics import median

import numpy as np

from course_pkg.checks._judge import numbers
from course_pkg.checks.record import Record

NEVER = -1e6  # what stands for an infinite time where answers are compared: no run has cost so little
THERE = "there = np.flatnonzero(gap <= target)"
GAIN_OF = "took.min() / np.median(isgd, axis=1).min()"
PUBLISHED = "You leave the published rate out. It is a rate like any other, and may be the best."
ONE_SIDE = "You tuned one side only: ISGD has its best rate, SGD the published one. Let SGD have its best rate, too."


def seconds_by_walk(steps, gradients, gap, target, model, rest):
    before, fresh, spent = 0, 0, 0.0
    for s, g, far in zip(steps, gradients, gap, strict=True):
        spent += (s - before) * rest + (g - fresh) * model
        before, fresh = s, g
        if far <= target:
            return spent
    return NEVER


# The time as a number even where it is infinite, which is an answer here, or none
as_numbers = lambda answer, *case: tuple(np.nan_to_num(part, posinf=NEVER, nan=2 * NEVER) for part in numbers(answer(*case)))


def fresh_by_hand(sgd, isgd, tuning=None):
    """Without ``tuning`` all seeds choose and all judge."""
    one, other = (median(min(table.tolist(), key=lambda row: median(row[:tuning]))[tuning:]) for table in (sgd, isgd))
    return one / other


def by(choose, judge):
    """A gain for which one function of a rate's times chooses, and another judges."""

    def answer(sgd, isgd, tuning=None):
        one, other = (judge(table[np.argmin([choose(row[:tuning]) for row in table])][tuning:]) for table in (sgd, isgd))
        return one / other

    return answer


arrived = lambda row: np.median(row[np.isfinite(row)]) if np.isfinite(row).any() else np.inf


def logs(rng):
    for shape in (
        [9, 6, 4, 1, 3, 0.5, 1.5, 2, 0.8, 0.9],
        [5, 3, 2, 1.5, 2.5, 4],
        [8, 4, 3, 1.2, 0.7, 0.6, 0.9, 1.3],
        [0.8, 1.7, 0.6, 1.2, 0.9, 0.7],  # there from the first line on
        [7, 4, 3, 2, 0.8],  # there on the last line only
        [8, 0.9, 3, 4, 5, 0.8, 2, 0.7],  # a search by halves goes by the first
        [6, np.nan, 3, 0.8, 0.9, np.nan, 0.7],
        [6, 3, 0.9, np.nan, np.nan],
        [5, 3, np.nan, np.nan],
    ):
        steps = np.cumsum(rng.integers(3, 9, len(shape)))
        gradients = np.ceil(steps * rng.uniform(0.2, 0.5)).astype(int)
        yield steps, gradients, 100.0 * np.array(shape), 100.0, float(rng.uniform(2, 4)), float(rng.uniform(0.3, 0.6))


def table(rng, seeds, published):
    """Times of five rates, the published one first: it is "slow" for SGD, or best for "SGD" or for "ISGD"."""
    centre_sgd, centre_isgd = np.array([240, 500, 90, 62, 75]), np.array([55, 120, 27, 22, 33])
    sgd, isgd = (np.round(c[:, None] * rng.lognormal(0, 0.45, (5, seeds)), 1) for c in (centre_sgd, centre_isgd))
    isgd[4][rng.random(seeds) < 0.5] = np.inf
    isgd[3][rng.random(seeds) < 0.2] = np.inf
    orders = [
        np.append(3, rng.permutation([0, 1, 2, 4])) if published == name else np.append(0, 1 + rng.permutation(4))
        for name in ("SGD", "ISGD")
    ]
    return sgd[orders[0]], isgd[orders[1]]


def clear(rng, *rows):
    """Tables in which no rate is nearly as good as the best, and the answer is a number."""
    for seeds, published, *tuning in rows:
        while True:
            case = (*table(rng, seeds, published), *tuning)
            low = [np.sort(np.median(times[:, : tuning[0] if tuning else None], axis=1))[:2] for times in case[:2]]
            if all(one < np.inf and other > 1.03 * one for one, other in low) and 0 < fresh_by_hand(*case) < np.inf:
                break
        yield case


SECONDS = Record(
    cases=logs,
    reference=seconds_by_walk,
    view=as_numbers,
    right="Right. Counts times prices: no neighbour on the machine can change that.",
    nudge="Not that time. With steps = [2, 4, 6, 8, 10], gradients = [1, 1, 1, 2, 3], gap = [9, 6, 7, 5, 8], target = 6, model = 10 and "
    "rest = 1 it is 14; with target = 1 it is `np.inf`.",
    hints=(
        "First find the line of the log at which the run is at the target for the first time. There may be none.",
        "cost at a line = gradients model + steps rest, with the counts of that line.",
        f"Begin with `{THERE}`",
    ),
    mistakes={
        "A run that never arrives arrived with its first line in yours: argmax of nothing but False is 0.": f"{THERE} -> there = [np.argmax(gap <= target)]",
        "You gave a run that never arrives the time that it was given. It has not arrived by then: its time is infinite.": "return np.inf -> there = [-1]",
        "Right but where the gap equals the target: then it has been reached.": "gap <= target -> gap < target",
        "You waited until the run stays at the target. The first time that it is there was asked for.": f"{THERE} -> there = np.arange(np.append(-1, np.flatnonzero(~(gap <= target)))[-1] + 1, len(gap))",
        "You counted the model gradients only. The rest of every step takes time as well, and reuse takes many steps.": "+ steps[there[0]] * rest -> ",
        "Every step pays `rest`, those with a fresh model gradient too.": "steps[there[0]] * rest -> (steps - gradients)[there[0]] * rest",
        "A gap that is not a number is not at the target, but `not gap > target` is true of it.": "gap <= target -> ~(gap > target)",
    },
)
upper = lambda row: np.sort(row)[len(row) // 2]
lower = lambda row: np.sort(row)[(len(row) - 1) // 2]
# An even number of seeds has two in the middle; runs that never arrive are runs, too
MIDDLES = tuple(by(*pair) for pair in product((np.median, upper, lower, arrived, np.mean), repeat=2) if pair != (np.median, np.median))
GAIN = Record(
    cases=lambda rng: clear(rng, (5, "slow"), (7, "slow"), (6, "slow"), (6, "SGD"), (8, "ISGD")),
    apart=True,
    reference=fresh_by_hand,
    right="Right. Both sides have been given the same care.",
    nudge="Not that gain. With sgd = [[90, 80, 70], [30, 36, 60], [50, 40, 45]] and isgd = [[21, 12, 18], [5, np.inf, np.inf], "
    "[9, 10, np.inf]] the medians are [80, 36, 45] and [18, inf, 10], and the gain is 3.6.",
    hints=(
        "Each method has its own best rate. How long does each take at its own?",
        "time of a method = min over its rates of (median over the seeds at that rate).",
        "Begin with `took = np.median(sgd, axis=1)`, one median for each rate",
    ),
    mistakes={
        ONE_SIDE: "took.min() -> took[0]",
        PUBLISHED: "(sgd, -> (sgd[1:], || (isgd, -> (isgd[1:], || (sgd, -> (sgd[1:], ;; (isgd, -> (isgd[1:],",
        "": MIDDLES,
        "That is the gain at the published rate. Let each method have its own best rate.": f"{GAIN_OF} -> took[0] / np.median(isgd, axis=1)[0]",
        "You took means over the seeds. One run that never arrives makes a mean infinite; the median was asked for.": "np.median -> np.mean",
        "You let every seed have its own best rate. A method has one rate for all seeds.": f"{GAIN_OF} -> np.median(sgd.min(axis=0)) / np.median(isgd.min(axis=0))",
        "That is the median of ratios. The ratio of the medians was asked for: two runs with one seed have little in common.": (
            f"{GAIN_OF} -> np.median(sgd[took.argmin()] / isgd[np.median(isgd, axis=1).argmin()])"
        ),
    },
)
NO_SGD, NO_ISGD = "i = -> i = 1 + ;; (sgd[:, -> (sgd[1:,", "j = -> j = 1 + ;; (isgd[:, -> (isgd[1:,"
FRESH = Record(
    cases=lambda rng: clear(
        rng, *[(seeds, name, tuning) for seeds, tuning in [(8, 3), (9, 5), (10, 4), (9, 3), (11, 5)] for name in ("slow", "SGD", "ISGD")]
    ),
    apart=True,
    reference=fresh_by_hand,
    right="Right. Those who judge had no say in the choice.",
    nudge="Not that gain. With sgd = [[10, 33, 90, 41, 42, 44, np.inf], [30, 34, 36, 50, 58, 60, 90]], isgd = [[9, 13, 8, 4, 5, 6, 9], "
    "[2, np.inf, np.inf, 7, 7, 6, 6]] and tuning = 3 both get their first rate, and the gain is 43/5.5.",
    hints=(
        "Two steps for each method: choose a rate with some of the seeds; look at the others at that rate.",
        "time of a method = median over the others of row i, where i = argmin over the rates of a median over those that choose.",
        "Begin with `i = np.argmin(np.median(sgd[:, :tuning], axis=1))`",
    ),
    mistakes={
        "That is Part 2: all seeds choose and all judge. Who chose a rate for its luck is flattered by that luck.": "[:, :tuning] -> ;; , tuning:] -> ]",
        "You judged on the seeds that chose the rates. Judge on the others.": ", tuning:] -> , :tuning]",
        "The rates are right, and all seeds judge. Those that chose must not.": ", tuning:] -> ]",
        "The seeds have changed places: the first `tuning` columns choose, the others judge.": ", tuning:] -> , :tuning] ;; [:, :tuning] -> [:, tuning:]",
        "You gave both the rate that is best for SGD.": "[j, -> [i,",
        PUBLISHED: f"{NO_SGD} || {NO_ISGD} || {NO_SGD} ;; {NO_ISGD}",
        "": (*MIDDLES, by(np.max, np.median), "tuning -> 3", "[:, :tuning] -> [:, :3]"),
        "You took means over the seeds. Take medians, as in Part 2.": "np.median -> np.mean",
        "That is the median of ratios. The ratio of the medians was asked for: two runs with one seed have little in common.": "return -> return np.median(sgd[i, tuning:] / isgd[j, tuning:])  #",
    },
)
TASKS = {"seconds": SECONDS, "gain": GAIN, "fresh": FRESH}
