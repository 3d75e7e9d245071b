"""When a correction cannot help. Roads: regression on indicators; averages over what is learnt, by quadrature; a walk over the points."""

from typing import Any

import numpy as np

from course_pkg.checks._judge import Mistake, Task, Verdict, call, judge, numbers
from course_pkg.checks.gradients._tools import judge_through, normal_mean


def _floor_by_regression(summary: np.ndarray, y: np.ndarray) -> float:
    """What is left of y after regression on one indicator for each value of the summary."""
    indicators = np.array([[float(a == b) for b in dict.fromkeys(summary.tolist())] for a in summary])
    fitted = indicators @ np.linalg.lstsq(indicators, y, rcond=None)[0]
    return float(((y - fitted) ** 2).sum() / len(y))


def _saving_by_quadrature(shift: float, variance: float, n: int) -> float:
    """Over all values of the mean that n points may show: a new point's risk before, less its risk after."""
    after = normal_mean(lambda learnt: (shift - learnt) ** 2 + variance, shift, np.sqrt(variance / n))
    return shift**2 + variance - after


def _distance_by_walk(h: np.ndarray, h_q: np.ndarray, sd: np.ndarray) -> float:
    total = 0.0
    for a, b, s in zip(h, h_q, sd, strict=True):
        total += (float(a - b) / float(s)) ** 2
    return float((total / len(h)) ** 0.5)


def floor_stub(summary: np.ndarray, y: np.ndarray) -> Any:
    raise NotImplementedError


def saving_stub(shift: float, variance: float, n: int) -> Any:
    raise NotImplementedError


def distance_stub(h: np.ndarray, h_q: np.ndarray, sd: np.ndarray) -> Any:
    raise NotImplementedError


def _groups(summary, y):
    return [y[summary == value] for value in np.unique(summary)]


def _floor_of_lines(summary, y):
    line = np.column_stack([np.ones_like(summary), summary])
    return np.mean((y - line @ np.linalg.lstsq(line, y, rcond=None)[0]) ** 2)


FLOOR_MISTAKES = {
    "one decision for all": Mistake(
        lambda summary, y: y.var(),
        "That is the floor for somebody who is told nothing. Points with different summaries may get different decisions.",
    ),
    "groups counted alike": Mistake(
        lambda summary, y: np.mean([group.var() for group in _groups(summary, y)]),
        "You averaged over the groups as if they were of one size. The risk is a mean over points.",
    ),
    "n - 1": Mistake(
        lambda summary, y: sum((len(group) / len(y)) * group.var(ddof=1) if len(group) > 1 else 0.0 for group in _groups(summary, y)),
        "You divided by the group's size less one. Nothing is being estimated here: the floor is a mean over these very points.",
    ),
    "between the groups": Mistake(
        lambda summary, y: y.var() - _floor_by_regression(summary, y),
        "That is what the summary explains. The floor is what it leaves over.",
    ),
    "share explained": Mistake(
        lambda summary, y: 1 - _floor_by_regression(summary, y) / y.var(),
        "That is the share of the variance that the summary explains. What it leaves over was asked for, as a mean squared loss.",
    ),
    "share left over": Mistake(
        lambda summary, y: _floor_by_regression(summary, y) / y.var(),
        "Yours is a share of the variance of y. The floor is a mean squared loss: do not divide by it.",
    ),
    "groups added": Mistake(
        lambda summary, y: sum(group.var() for group in _groups(summary, y)),
        "You added the variances of the groups. Weight each by its share of the points.",
    ),
    "summed": Mistake(
        lambda summary, y: len(y) * _floor_by_regression(summary, y),
        "That is the sum over the points. The risk is a mean.",
    ),
    "root": Mistake(
        lambda summary, y: np.sqrt(_floor_by_regression(summary, y)),
        "You took the root. A mean squared loss was asked for.",
    ),
    "a straight line": Mistake(
        _floor_of_lines,
        "You let the decision be a straight line in the summary. Any function may be used.",
    ),
    "medians": Mistake(
        lambda summary, y: sum(((group - np.median(group)) ** 2).sum() for group in _groups(summary, y)) / len(y),
        "You decided by the median of each group. For squared loss another number is better.",
    ),
    "the summary itself": Mistake(
        lambda summary, y: np.mean((y - summary) ** 2),
        "You took the summary for the decision. A function of it may be better, and the best was asked for.",
    ),
    "zero": Mistake(
        lambda summary, y: 0.0,
        "Two points with the same summary and different outcomes get one and the same decision, so that something is lost.",
    ),
}
NOT_THAT = "Not that saving. With shift = 2, variance = 6 and n = 8 it is 3.25."
NEARLY = (
    "Near, and not equal. If you simulated: there is a formula, which needs no draw. With shift = 2, variance = 6 and n = 8 it gives 3.25."
)
SAVING_MISTAKES = {
    "price forgotten": Mistake(
        lambda shift, variance, n: shift**2,
        "That is saved by somebody who knows the shift. Yours was learnt from n noisy points.",
    ),
    "on the points learnt from": Mistake(
        lambda shift, variance, n: shift**2 + variance / n,
        "That is the saving on the very points that the correction was learnt from. On a new one the noise in it costs, not saves.",
    ),
    "noise of one point": Mistake(
        lambda shift, variance, n: shift**2 - variance,
        "You charged the noise of a single point. A mean of n is quieter.",
    ),
    "new point charged": Mistake(
        lambda shift, variance, n: shift**2 - variance * (1 + 1 / n),
        "You charged the new point's own variance, too. It is in both risks and drops out.",
    ),
    "turned round": Mistake(
        lambda shift, variance, n: -_saving_by_quadrature(shift, variance, n),
        "The sign is turned: a saving is positive when the risk falls.",
    ),
    "root": Mistake(
        lambda shift, variance, n: shift**2 - np.sqrt(variance / n),
        "You charged a standard deviation. Squared loss charges the variance of what was learnt.",
    ),
    "shift not squared": Mistake(
        lambda shift, variance, n: shift - variance / n,
        "The noise is right. The shift costs its square.",
    ),
    "both squared": Mistake(
        lambda shift, variance, n: shift**2 - variance**2 / n,
        "`variance` is a square already.",
    ),
    "n - 1": Mistake(
        lambda shift, variance, n: shift**2 - variance / (n - 1),
        "You divided by n - 1. The variance is given, and nothing is estimated: a mean of n has an n-th of it.",
    ),
    "summed over the points": Mistake(
        lambda shift, variance, n: n * shift**2 - variance,
        "That is n times as much. One new point's loss was asked for.",
    ),
    "a share": Mistake(
        lambda shift, variance, n: _saving_by_quadrature(shift, variance, n) / (shift**2 + variance),
        "Yours is a share of the risk before. Here the difference was asked for, in the unit of the loss.",
    ),
    "never negative": Mistake(
        lambda shift, variance, n: max(0.0, _saving_by_quadrature(shift, variance, n)),
        "You cut the loss off at 0. A correction learnt from few points can cost more than it saves, and its number is then negative.",
    ),
    "risk after": Mistake(
        lambda shift, variance, n: variance + variance / n,
        "That is the risk after the correction. How much less than before is it?",
    ),
}
DISTANCE_MISTAKES = {
    "in units of h_q": Mistake(
        lambda h, h_q, sd: np.sqrt((((h - h_q) / h_q) ** 2).mean()),
        "You divided by the model's decision. Divide by the standard deviation of its predictive.",
    ),
    "middle": Mistake(
        lambda h, h_q, sd: np.median(np.abs(h - h_q) / sd),
        "That is the median distance. The root of the mean square gives far ones more weight.",
    ),
    "no units": Mistake(
        lambda h, h_q, sd: np.sqrt(((h - h_q) ** 2).mean()),
        "That is in the unit of the decisions. One unit is far where the model is sure and near where it is not: divide by sd.",
    ),
    "divided afterwards": Mistake(
        lambda h, h_q, sd: np.sqrt(((h - h_q) ** 2).mean() / (sd**2).mean()),
        "Divide first, then average: each point's distance is in its own standard deviations.",
    ),
    "divided by the mean sd": Mistake(
        lambda h, h_q, sd: np.sqrt(((h - h_q) ** 2).mean()) / sd.mean(),
        "You used the mean sd for all points. Divide each point's distance by its own, then average.",
    ),
    "sd squared": Mistake(
        lambda h, h_q, sd: np.sqrt((((h - h_q) / sd**2) ** 2).mean()),
        "You divided the distance by the square of sd. Divide it by sd: the whole is squared afterwards.",
    ),
    "sd upside down": Mistake(
        lambda h, h_q, sd: np.sqrt((((h - h_q) * sd) ** 2).mean()),
        "You multiplied by sd. Divide: where the model is sure, a step away is far.",
    ),
    "signed": Mistake(
        lambda h, h_q, sd: ((h - h_q) / sd).mean(),
        "Distances above and below cancel in yours. Square before you average.",
    ),
    "absolute": Mistake(
        lambda h, h_q, sd: (np.abs(h - h_q) / sd).mean(),
        "That is the mean absolute distance. In the root of the mean square far ones count for more.",
    ),
    "root forgotten": Mistake(
        lambda h, h_q, sd: (((h - h_q) / sd) ** 2).mean(),
        "The last root is missing.",
    ),
    "sd as variance": Mistake(
        lambda h, h_q, sd: np.sqrt(((h - h_q) ** 2 / sd).mean()),
        "You divided the square by sd. Divide the distance by sd, or its square by sd squared.",
    ),
    "summed": Mistake(
        lambda h, h_q, sd: np.sqrt((((h - h_q) / sd) ** 2).sum()),
        "You summed where a mean was asked for: with more points, yours grows.",
    ),
    "around their mean": Mistake(
        lambda h, h_q, sd: ((h - h_q) / sd).std(),
        "You took the distances from their own mean. If all decisions move by the same amount they have moved, too.",
    ),
}


def floor_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 860])
    cases = []
    for sizes in [(5, 2, 1), (3, 6, 4, 1)]:
        values = np.sort(rng.normal(size=len(sizes)))
        summary = np.repeat(values, sizes)
        y = summary**2 + np.repeat(rng.normal(0, 2, len(sizes)), sizes) + rng.exponential(1, len(summary)) ** 2
        order = rng.permutation(len(summary))
        cases.append((summary[order], y[order]))
    cases.append((np.full(6, 1.3), rng.exponential(1, 6)))

    def rounded(given: Any, *case: Any) -> Any:  # with one summary for all, some wrong answers are 0 but for the last digits
        parts = tuple(np.round(part, 12) for part in numbers(given(*case)))
        return parts if len(parts) > 1 else parts[0]

    return judge_through(
        answer,
        rounded,
        cases,
        _floor_by_regression,
        FLOOR_MISTAKES,
        right="Right. Where all summaries are alike, no decision maker gets below the variance of the outcomes.",
        nudge="Not that floor. With summary = [0, 0, 0, 1] and y = [1, 2, 6, 4] it is 3.5.",
    )


def saving_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 861])
    cases = [
        (sign * float(rng.uniform(*size)), float(rng.uniform(2, 5)), n) for sign, size, n in [(1, (0.8, 1.6), 20), (-1, (0.1, 0.3), 9)]
    ]
    verdict = judge(
        answer,
        cases,
        _saving_by_quadrature,
        SAVING_MISTAKES,
        right="Right. Where the model is not shifted, every correction from data costs something on average; more data make it cheap.",
        nudge=NOT_THAT,
    )
    if verdict.message != NOT_THAT:
        return verdict
    near = all(abs(float(call(answer, *case)) - _saving_by_quadrature(*case)) < 0.01 * (case[0] ** 2 + case[1]) for case in cases)
    return Verdict(False, NEARLY if near else NOT_THAT)


def distance_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 862])
    cases = []
    for n in (5, 12):
        h_q = rng.normal(0, 3, n)
        cases.append((h_q + rng.normal(0.8, 1, n), h_q, rng.uniform(0.3, 2.5, n)))
    return judge(
        answer,
        cases,
        _distance_by_walk,
        DISTANCE_MISTAKES,
        right="Right. The package's `correct` warns when it exceeds one half.",
        nudge="Not that distance. With h = [3, 6], h_q = [1, 2] and sd = [1, 4] it is the root of 5/2.",
    )


TASKS = (
    Task(
        "posthoc/when-it-cannot-help/floor",
        "When it cannot help: what the summary tells",
        2,
        10,
        floor_stub,
        (
            "All points with the same summary share one decision. What is the best one for such a group, and what does it lose?",
            "(1/N) sum over the groups of sum over their points of (y_n - mean of the group)^2.",
            "Begin with `lost = 0.0`, and go through the groups: `for s in np.unique(summary):`",
        ),
        FLOOR_MISTAKES,
        floor_verdict,
    ),
    Task(
        "posthoc/when-it-cannot-help/saving",
        "When it cannot help: few points",
        2,
        9,
        saving_stub,
        (
            "What was learnt is the shift plus noise. Write the new point's risk before and after; its own variance is in both.",
            "before: shift^2 + variance. after: E[(shift - m)^2] + variance, where m has mean shift and variance `variance` / n.",
            "Begin with `noise = variance / n`",
        ),
        SAVING_MISTAKES,
        saving_verdict,
    ),
    Task(
        "posthoc/when-it-cannot-help/distance",
        "When it cannot help: whose decision is it?",
        2,
        6,
        distance_stub,
        (
            "A root mean square has three steps, in the reverse order of its name.",
            "sqrt((1/N) sum of ((h_n - h_qn) / sd_n)^2).",
            "Begin with `far = (h - h_q) / sd`",
        ),
        DISTANCE_MISTAKES,
        distance_verdict,
    ),
)
