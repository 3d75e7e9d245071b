"""When a correction cannot help. Roads: regression on indicators; averages over what is learnt, by quadrature; a walk over the points."""

import numpy as np

from course_pkg.checks.record import Record

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(20)


def floor_by_regression(summary, y):
    """What is left of y after regression on one indicator for each value of the summary."""
    indicators = np.array([[float(a == b) for b in dict.fromkeys(summary.tolist())] for a in summary])
    return np.mean((y - indicators @ np.linalg.lstsq(indicators, y, rcond=None)[0]) ** 2)


def saving_by_quadrature(shift, variance, n):
    """Over all values of the mean that n points may show: a new point's risk before, less its risk after."""
    learnt = shift + np.sqrt(variance / n) * NODES
    return shift**2 + variance - WEIGHTS @ ((shift - learnt) ** 2 + variance) / WEIGHTS.sum()


distance_by_walk = lambda h, h_q, sd: (sum(((a - b) / s) ** 2 for a, b, s in zip(h, h_q, sd, strict=True)) / len(h)) ** 0.5


def groups(rng):
    for sizes in [(5, 2, 1), (3, 6, 4, 1)]:
        summary = np.repeat(np.sort(rng.normal(size=len(sizes))), sizes)
        y = summary**2 + np.repeat(rng.normal(0, 2, len(sizes)), sizes) + rng.exponential(1, len(summary)) ** 2
        order = rng.permutation(len(summary))
        yield summary[order], y[order]


def moved(rng):
    for n in (5, 12):
        h_q = rng.normal(0, 3, n)
        yield h_q + rng.normal(0.8, 1, n), h_q, rng.uniform(0.3, 2.5, n)


FLOOR = Record(
    cases=groups,
    reference=floor_by_regression,
    right="Right. Where all summaries are alike, no decision maker gets below the variance of the outcomes.",
    nudge="Not that floor. With summary = [0, 0, 0, 1] and y = [1, 2, 6, 4] it is 3.5.",
    hints=(
        "All points with the same summary share one decision. What is the best one for such a group, and what does it lose?",
        "(1/N) sum over the groups of sum over their points of (y_n - mean of the group)^2.",
        "Begin with `lost = 0.0`, and go through the groups: `for s in np.unique(summary):`",
    ),
    mistakes={
        "You averaged over the groups. The risk is a mean over points.": "** 2).sum() -> ** 2).mean() ;; len(y) -> len(np.unique(summary))",
        "That is what the summary explains. The floor is what it leaves over.": "((group - group.mean()) ** 2).sum() -> len(group) * (group.mean() - y.mean()) ** 2",
        "You let the decision be a straight line in the summary. Any function may be used.": """
            return np.mean((y - np.polyval(np.polyfit(summary, y, 1), summary)) ** 2)
            """,
        "You decided by the median of each group. For squared loss another number is better.": "group.mean() -> np.median(group)",
    },
)
SAVING = Record(
    cases=lambda rng: [(sign * rng.uniform(*size), rng.uniform(2, 5), n) for sign, size, n in [(1, (0.8, 1.6), 20), (-1, (0.1, 0.3), 9)]],
    reference=saving_by_quadrature,
    right="Right. Where the model is not shifted, every correction from data costs something on average; more data make it cheap.",
    nudge="Not that saving. With shift = 2, variance = 6 and n = 8 it is 3.25.",
    hints=(
        "What was learnt is the shift plus noise. Write the new point's risk before and after; its own variance is in both.",
        "before: shift^2 + variance. after: E[(shift - m)^2] + variance, where m has mean shift and variance `variance` / n.",
        "Begin with `noise = variance / n`",
    ),
    mistakes={
        "You charged the new point's own variance, too. It is in both risks and drops out.": "/ n -> * (1 + 1 / n)",
        "You cut off at 0. A correction learnt from few points can cost more than it saves.": "shift**2 - noise -> max(0.0, shift**2 - noise)",
    },
)
DISTANCE = Record(
    cases=moved,
    reference=distance_by_walk,
    right="Right. The package's `correct` warns when it exceeds one half.",
    nudge="Not that distance. With h = [3, 6], h_q = [1, 2] and sd = [1, 4] it is the root of 5/2.",
    hints=(
        "A root mean square has three steps, in the reverse order of its name.",
        "sqrt((1/N) sum of ((h_n - h_qn) / sd_n)^2).",
        "Begin with `far = (h - h_q) / sd`",
    ),
    mistakes={
        "You divided by the model's decision. Divide by the standard deviation of its predictive.": "/ sd -> / h_q",
        "You used one sd for all points. Divide each point's distance by its own, then average.": "/ sd -> / np.sqrt((sd**2).mean()) || / sd -> / sd.mean()",
        "Distances above and below cancel in yours. Square before you average.": "np.sqrt((far**2).mean()) -> far.mean()",
        "That is the mean absolute distance. In the root of the mean square far ones count for more.": "np.sqrt((far**2).mean()) -> abs(far).mean()",
    },
)
TASKS = {"floor": FLOOR, "saving": SAVING, "distance": DISTANCE}
