"""Is nine real? Roads: a log walked through line by line; tables sorted by hand."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from statistics import median
from typing import Any

import numpy as np

from course_pkg.checks._judge import Mistake, Task, Verdict
from course_pkg.checks._quiet import quiet
from course_pkg.checks._tables import telling, with_kin


def _seconds_by_walk(steps: np.ndarray, gradients: np.ndarray, gap: np.ndarray, target: float, model: float, rest: float) -> float:
    before, fresh, spent = 0, 0, 0.0
    for s, g, far in zip(steps, gradients, gap, strict=True):
        spent += (int(s) - before) * rest + (int(g) - fresh) * model
        before, fresh = int(s), int(g)
        if far <= target:
            return spent
    return float(np.inf)


def _best_by_sorting(times: np.ndarray) -> int:
    return min((median(map(float, row)), i) for i, row in enumerate(times))[1]


def _gain_by_hand(sgd: np.ndarray, isgd: np.ndarray) -> float:
    return median(map(float, sgd[_best_by_sorting(sgd)])) / median(map(float, isgd[_best_by_sorting(isgd)]))


def _fresh_by_hand(sgd: np.ndarray, isgd: np.ndarray, tuning: int) -> float:
    one, other = (median(map(float, times[_best_by_sorting(times[:, :tuning])][tuning:])) for times in (sgd, isgd))
    return one / other


def seconds_stub(steps: np.ndarray, gradients: np.ndarray, gap: np.ndarray, target: float, model: float, rest: float) -> Any:
    raise NotImplementedError


def gain_stub(sgd: np.ndarray, isgd: np.ndarray) -> Any:
    raise NotImplementedError


def fresh_stub(sgd: np.ndarray, isgd: np.ndarray, tuning: int) -> Any:
    raise NotImplementedError


def _at(row: Callable[..., int], cost: Callable[..., Any] = lambda s, g, model, rest: g * model + s * rest, never: bool = True) -> Any:
    """What ``cost`` says of the line that ``row`` picks out of the log; infinite for a run that never arrives."""

    def answer(steps, gradients, gap, target, model, rest):
        if never and not (gap <= target).any():
            return np.inf
        i = row(gap, target)
        return cost(steps[i], gradients[i], model, rest)

    return answer


def _first(gap: np.ndarray, target: float) -> int:
    return int(np.argmax(gap <= target))


def _for_good(steps, gradients, gap, target, model, rest):
    """The time after the last line that is above the target; never, if the log ends there."""
    i = np.append(-1, np.flatnonzero(~(gap <= target)))[-1] + 1
    return gradients[i] * model + steps[i] * rest if i < len(gap) else np.inf


def _by_halves(steps, gradients, gap, target, model, rest):
    i = np.searchsorted(-gap, -target)
    return gradients[i] * model + steps[i] * rest if i < len(gap) else np.inf


def _by_own_halves(steps, gradients, gap, target, model, rest):
    low, high = 0, len(gap)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if gap[middle] > target else (low, middle)
    return gradients[low] * model + steps[low] * rest if low < len(gap) else np.inf


def _after_all_above(steps, gradients, gap, target, model, rest):
    i = (gap > target).sum()
    return gradients[i] * model + steps[i] * rest if i < len(gap) else np.inf


def _nearest_unless_above(steps, gradients, gap, target, model, rest):
    i = gap.argmin()  # of a NaN, if there is one
    return np.inf if gap[i] > target else gradients[i] * model + steps[i] * rest


def _at_or_nan(steps, gradients, gap, target, model, rest):
    there = np.flatnonzero(~(gap > target))
    return gradients[there[0]] * model + steps[there[0]] * rest if len(there) else np.inf


SECONDS_MISTAKES = {
    "never is at once": Mistake(
        _at(_first, never=False),
        "Your function says that a run which never arrives arrived with its first line: argmax of nothing but False is 0. "
        "Its time is infinite.",
    ),
    "never is the whole run": Mistake(
        _at(lambda gap, target: _first(gap, target) if (gap <= target).any() else -1, never=False),
        "You gave a run that never arrives the time that it was given. It has not arrived by then: its time is infinite.",
    ),
    "strictly below": Mistake(
        lambda steps, gradients, gap, target, model, rest: _seconds_by_walk(
            steps, gradients, gap, np.nextafter(target, -np.inf), model, rest
        ),
        "Right but where the gap equals the target: then it has been reached.",
    ),
    "for good": Mistake(
        _for_good,
        "You waited until the run stays at the target. The first time that it is there was asked for.",
    ),
    "last": Mistake(
        _at(lambda gap, target: int(np.flatnonzero(gap <= target)[-1])),
        "You took the last line at the target. The first was asked for.",
    ),
    "nearest": Mistake(
        _at(lambda gap, target: int(gap.argmin())),
        "You took the line at which the run is nearest to the optimum. The first at the target was asked for.",
    ),
    "whole run": Mistake(
        _at(lambda gap, target: -1),
        "You took the time of the whole run. It may have arrived much earlier.",
    ),
    "steps alone": Mistake(
        _at(_first, lambda s, g, model, rest: s * rest),
        "You forgot what the model gradients cost.",
    ),
    "gradients alone": Mistake(
        _at(_first, lambda s, g, model, rest: g * model),
        "You counted the model gradients only. The rest of every step takes time as well, and reuse takes many steps.",
    ),
    "every step in full": Mistake(
        _at(_first, lambda s, g, model, rest: s * (model + rest)),
        "You charged every step for a model gradient. The log says how many there were.",
    ),
    "fresh steps for less": Mistake(
        _at(_first, lambda s, g, model, rest: g * model + (s - g) * rest),
        "Every step pays `rest`, those with a fresh model gradient too.",
    ),
    "steps": Mistake(
        _at(_first, lambda s, g, model, rest: s),
        "That is the number of steps. What did they cost?",
    ),
    "arrived and rose": Mistake(
        lambda steps, gradients, gap, target, model, rest: (
            _seconds_by_walk(steps, gradients, gap, target, model, rest) if gap[-1] <= target else np.inf
        ),
        "You call a run that was at the target, and rose again later, one that never arrived. It arrived when it was there first.",
    ),
    "the first line": Mistake(
        lambda steps, gradients, gap, target, model, rest: _seconds_by_walk(steps[1:], gradients[1:], gap[1:], target, model, rest),
        "A run may be at the target on the very first line of its log, number 0. Yours does not see that.",
    ),
    "the last line": Mistake(
        lambda steps, gradients, gap, target, model, rest: _seconds_by_walk(steps[:-1], gradients[:-1], gap[:-1], target, model, rest),
        "A run may be at the target on the very last line of its log only. Yours does not see that.",
    ),
    "search in what is not sorted": Mistake(
        _by_halves,
        "A search by halves wants numbers in order. A gap may rise in between: look at every line.",
    ),
    "not above": Mistake(
        _at_or_nan,
        "A gap that is not a number is not at the target: that run has gone astray. `not gap > target` is true of it; ask `gap <= target`.",
    ),
    "spoilt minimum": Mistake(
        lambda steps, gradients, gap, target, model, rest: (
            _seconds_by_walk(steps, gradients, gap, target, model, rest) if gap.min() <= target else np.inf
        ),
        "A single gap that is not a number makes the minimum of all no number, and yours then says never. Look at the lines one by one.",
    ),
    "lines above counted": Mistake(
        _after_all_above,
        "You count the lines above the target and go to the line of that number. A gap may rise again, or be no number.",
    ),
    "prices exchanged": Mistake(
        _at(_first, lambda s, g, model, rest: g * rest + s * model),
        "The prices have changed places: a model gradient costs `model`, every step `rest`.",
    ),
    "line of the log": Mistake(
        lambda steps, gradients, gap, target, model, rest: _first(gap, target) if (gap <= target).any() else np.inf,
        "That is a line of the log. What had the run cost by then?",
    ),
    "lines added up": Mistake(
        lambda steps, gradients, gap, target, model, rest: (
            (gradients * model + steps * rest)[: _first(gap, target) + 1].sum() if (gap <= target).any() else np.inf
        ),
        "You added the lines up. Each says already how many steps and gradients there were so far.",
    ),
}


SECONDS_KIN = {
    "the first line": [
        lambda steps, gradients, gap, target, model, rest: (
            _seconds_by_walk(steps, gradients, gap, target, model, rest) if np.argmax(gap <= target) else np.inf
        ),
    ],
    "for good": [lambda steps, gradients, gap, *prices: _for_good(steps, gradients, np.where(np.isnan(gap), -np.inf, gap), *prices)],
    "arrived and rose": [
        lambda steps, gradients, gap, target, model, rest: (
            np.inf if gap[-1] > target else _seconds_by_walk(steps, gradients, gap, target, model, rest)
        ),
    ],
    "search in what is not sorted": [_by_own_halves],
    "nearest": [_at(lambda gap, target: int(np.nanargmin(gap))), _nearest_unless_above],
    "spoilt minimum": [
        lambda steps, gradients, gap, *prices: _seconds_by_walk(steps, gradients, np.minimum.accumulate(gap), *prices),
    ],
}
ALL_SECONDS = with_kin(SECONDS_MISTAKES, SECONDS_KIN)


def _medians(times: np.ndarray) -> np.ndarray:
    return np.median(times, axis=1)


def _best(times: np.ndarray) -> int:
    return int(np.argmin(_medians(times)))


def _finite_medians(times: np.ndarray) -> np.ndarray:
    """Of the runs that arrived."""
    return np.array([np.median(row[np.isfinite(row)]) if np.isfinite(row).any() else np.inf for row in times])


def _upper(times: np.ndarray) -> np.ndarray:
    return np.sort(times, axis=1)[:, times.shape[1] // 2]


def _lower(times: np.ndarray) -> np.ndarray:
    return np.sort(times, axis=1)[:, (times.shape[1] - 1) // 2]


def _compare(choose: Callable[..., Any], judge: Callable[..., Any]) -> Callable[..., float]:
    """The rate at which ``choose`` is lowest, judged by ``judge``; each gives a number for every rate, from times and the tables' rest."""

    def answer(sgd, isgd, *tuning):
        one, other = (judge(times, *tuning)[np.argmin(choose(times, *tuning))] for times in (sgd, isgd))
        return one / other

    return answer


def _split(choose: Callable[..., Any], judge: Callable[..., Any]) -> Callable[..., float]:
    """`_compare`, where the first columns choose and the others judge."""
    return _compare(lambda times, tuning: choose(times[:, :tuning]), lambda times, tuning: judge(times[:, tuning:]))


def _without_published(gain: Callable[..., Any]) -> list[Callable[..., Any]]:
    """The first row left out: of both tables, of that of SGD, of that of ISGD."""
    return [
        lambda sgd, isgd, *tuning: gain(sgd[1:], isgd[1:], *tuning),
        lambda sgd, isgd, *tuning: gain(sgd[1:], isgd, *tuning),
        lambda sgd, isgd, *tuning: gain(sgd, isgd[1:], *tuning),
    ]


PUBLISHED = "You leave the first row out. The published rate is a rate like any other, and may be the best."
EVEN = "An even number of seeds has two in the middle, and the median is the mean of those two. You took one of them."
FAILED = "You left out runs that never arrived. They are runs, too: the slowest, and the median can bear them."
BY_MEANS = "You chose the rates by the mean. Choose by the median, as it also judges."
ONE_SIDE = "You tuned one side only: ISGD has its best rate, SGD the published one. Let SGD have its best rate, too."
GAIN_MISTAKES = {
    "one side tuned": Mistake(lambda sgd, isgd: _medians(sgd)[0] / _medians(isgd).min(), ONE_SIDE),
    "as published": Mistake(
        lambda sgd, isgd: _medians(sgd)[0] / _medians(isgd)[0],
        "That is the gain at the published rate. Let each method have its own best rate.",
    ),
    "SGD at the other's rate": Mistake(
        lambda sgd, isgd: _medians(sgd)[_best(isgd)] / _medians(isgd).min(),
        "You gave SGD the rate that is best for ISGD. The best rate of SGD is another one.",
    ),
    "ISGD at the other's rate": Mistake(
        lambda sgd, isgd: _medians(sgd).min() / _medians(isgd)[_best(sgd)],
        "You gave ISGD the rate that is best for SGD. It may have its own.",
    ),
    "best gain": Mistake(
        lambda sgd, isgd: np.nanmax(np.where(np.isfinite(_medians(sgd)), _medians(sgd), np.nan) / _medians(isgd)),
        "That is the largest gain at any one rate. Nobody has to use the rate at which SGD looks worst.",
    ),
    "middle gain": Mistake(
        lambda sgd, isgd: np.nanmedian(np.where(np.isfinite(_medians(sgd)), _medians(sgd), np.nan) / _medians(isgd)),
        "That is the middle one of the gains at one rate for both. Each method has a best rate of its own.",
    ),
    "turned round": Mistake(
        lambda sgd, isgd: _medians(isgd).min() / _medians(sgd).min(),
        "Yours is turned round. A gain above 1 is to say that ISGD is faster.",
    ),
    "share saved": Mistake(
        lambda sgd, isgd: 1 - _medians(isgd).min() / _medians(sgd).min(),
        "That is the share of the time that is saved. The gain is a ratio of times.",
    ),
    "difference": Mistake(
        lambda sgd, isgd: _medians(sgd).min() - _medians(isgd).min(),
        "That is a difference of times. The gain is their ratio.",
    ),
    "means": Mistake(
        lambda sgd, isgd: sgd.mean(axis=1).min() / isgd.mean(axis=1).min(),
        "You took means over the seeds. One run that never arrives makes a mean infinite; the median was asked for.",
    ),
    "lucky seeds": Mistake(
        lambda sgd, isgd: sgd.min() / isgd.min(),
        "You compared the two fastest runs of all. Take the median over the seeds.",
    ),
    "each seed its rate": Mistake(
        lambda sgd, isgd: np.median(sgd.min(axis=0)) / np.median(isgd.min(axis=0)),
        "You let every seed have its own best rate. Nobody knows that rate beforehand: one rate for all seeds of a method.",
    ),
    "seed by seed": Mistake(
        lambda sgd, isgd: np.median(sgd[_best(sgd)] / isgd[_best(isgd)]),
        "That is the median of ratios. The ratio of the medians was asked for: two runs with one seed have little in common.",
    ),
    "published rate left out": Mistake(_without_published(_gain_by_hand)[0], PUBLISHED),
    "one of the middle two": Mistake(_compare(_upper, _upper), EVEN),
    "failed runs left out": Mistake(_compare(_finite_medians, _finite_medians), FAILED),
    "chosen by mean": Mistake(_compare(lambda times: times.mean(axis=1), _medians), BY_MEANS),
}
GAIN_KIN = {
    "published rate left out": _without_published(_gain_by_hand)[1:],
    "one of the middle two": [_compare(_lower, _lower)],
}
ALL_GAINS = with_kin(GAIN_MISTAKES, GAIN_KIN)
FRESH_MISTAKES = {
    "all seeds": Mistake(
        lambda sgd, isgd, tuning: _gain_by_hand(sgd, isgd),
        "That is Part 2: all seeds choose and all judge. Who chose a rate for its luck is flattered by that luck.",
    ),
    "judged on the tuning seeds": Mistake(
        lambda sgd, isgd, tuning: _gain_by_hand(sgd[:, :tuning], isgd[:, :tuning]),
        "You judged on the seeds that chose the rates. Judge on the others.",
    ),
    "chosen on the fresh seeds": Mistake(
        lambda sgd, isgd, tuning: _gain_by_hand(sgd[:, tuning:], isgd[:, tuning:]),
        "You chose the rates on the seeds that are to judge. Choose on the first `tuning` columns.",
    ),
    "judged on all": Mistake(
        lambda sgd, isgd, tuning: np.median(sgd[_best(sgd[:, :tuning])]) / np.median(isgd[_best(isgd[:, :tuning])]),
        "The rates are right, and all seeds judge. Those that chose must not.",
    ),
    "chosen on all": Mistake(
        lambda sgd, isgd, tuning: np.median(sgd[_best(sgd), tuning:]) / np.median(isgd[_best(isgd), tuning:]),
        "The right seeds judge, but they had a say in the choice as well. Choose on the first `tuning` columns only.",
    ),
    "changed places": Mistake(
        lambda sgd, isgd, tuning: np.median(sgd[_best(sgd[:, tuning:]), :tuning]) / np.median(isgd[_best(isgd[:, tuning:]), :tuning]),
        "The two groups of seeds have changed places: the first `tuning` columns choose, the others judge.",
    ),
    "one column": Mistake(
        lambda sgd, isgd, tuning: np.median(sgd[np.argmin(sgd[:, tuning]), tuning:]) / np.median(isgd[np.argmin(isgd[:, tuning]), tuning:]),
        "You chose on one column. The first `tuning` of them choose, `[:, :tuning]`.",
    ),
    "SGD's rate for both": Mistake(
        lambda sgd, isgd, tuning: np.median(sgd[_best(sgd[:, :tuning]), tuning:]) / np.median(isgd[_best(sgd[:, :tuning]), tuning:]),
        "You gave both the rate that is best for SGD.",
    ),
    "one side tuned": Mistake(
        lambda sgd, isgd, tuning: np.median(sgd[0, tuning:]) / np.median(isgd[_best(isgd[:, :tuning]), tuning:]),
        ONE_SIDE,
    ),
    "turned round": Mistake(
        lambda sgd, isgd, tuning: 1 / _fresh_by_hand(sgd, isgd, tuning),
        "Yours is turned round. A gain above 1 is to say that ISGD is faster.",
    ),
    "means": Mistake(
        lambda sgd, isgd, tuning: (
            sgd[np.argmin(sgd[:, :tuning].mean(axis=1)), tuning:].mean() / isgd[np.argmin(isgd[:, :tuning].mean(axis=1)), tuning:].mean()
        ),
        "You took means over the seeds. Take medians, as in Part 2.",
    ),
    "published rate left out": Mistake(_without_published(_fresh_by_hand)[0], PUBLISHED),
    "one of the middle two": Mistake(_split(_medians, _upper), EVEN),
    "failed runs left out": Mistake(_split(_medians, _finite_medians), FAILED),
    "chosen by mean": Mistake(_split(lambda times: times.mean(axis=1), _medians), BY_MEANS),
    "judged by mean": Mistake(
        _split(_medians, lambda times: times.mean(axis=1)),
        "The rates are right, and you judge by the mean. One run that never arrives makes a mean infinite; judge by the median.",
    ),
    "chosen by the slowest": Mistake(
        _split(lambda times: times.max(axis=1), _medians),
        "You chose the rates by the slowest run. Choose by the median, as it also judges.",
    ),
    "three to choose": Mistake(
        lambda sgd, isgd, tuning: _fresh_by_hand(sgd, isgd, 3),
        "You let three columns choose, always. `tuning` says how many they are.",
    ),
}
FRESH_KIN = {
    "published rate left out": _without_published(_fresh_by_hand)[1:],
    "one of the middle two": [
        _split(*pair) for pair in [(_medians, _lower), (_upper, _upper), (_lower, _lower), (_upper, _medians), (_lower, _medians)]
    ],
    "failed runs left out": [_split(_finite_medians, _medians), _split(_finite_medians, _finite_medians)],
    "chosen by mean": [_split(lambda times: np.minimum(times, 1e6).mean(axis=1), _medians)],
}
ALL_FRESH = with_kin(FRESH_MISTAKES, FRESH_KIN)


def _logs(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    cases: list[tuple[Any, ...]] = []
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
        gap = 100.0 * np.array(shape)
        cases.append((steps, gradients, gap, 100.0, float(rng.uniform(2, 4)), float(rng.uniform(0.3, 0.6))))
    return cases


def _table(rng: np.random.Generator, seeds: int, *, published: str = "slow") -> tuple[Any, Any]:
    """Times of five rates, the published one first: it is ``slow`` for SGD, or best for "SGD" or for "ISGD"."""
    centre_sgd, centre_isgd = np.array([240, 500, 90, 62, 75]), np.array([55, 120, 27, 22, 33])
    sgd, isgd = (np.round(c[:, None] * rng.lognormal(0, 0.45, (5, seeds)), 1) for c in (centre_sgd, centre_isgd))
    isgd[4][rng.random(seeds) < 0.5] = np.inf
    isgd[3][rng.random(seeds) < 0.2] = np.inf
    order = np.concatenate([[0], 1 + rng.permutation(4)])
    shuffled = np.concatenate([[0], 1 + rng.permutation(4)])
    if published == "SGD":
        order = np.concatenate([[3], rng.permutation([0, 1, 2, 4])])
    elif published == "ISGD":
        shuffled = np.concatenate([[3], rng.permutation([0, 1, 2, 4])])
    return sgd[order], isgd[shuffled]


def _clear_tables(sgd: np.ndarray, isgd: np.ndarray, *tuning: int) -> bool:
    """No rate is nearly as good as the best, and the answer is a number."""
    for times in (sgd, isgd):
        low, next_low = np.sort(_medians(times[:, : tuning[0]] if tuning else times))[:2]
        if not (np.isfinite(low) and next_low > 1.03 * low):
            return False
    gain = _fresh_by_hand(sgd, isgd, *tuning) if tuning else _gain_by_hand(sgd, isgd)
    return 0 < gain < np.inf


def _by_columns(columns: Callable[[int], Any]) -> Callable[..., float]:
    """Rates chosen on some other columns, times taken over the right ones."""

    def answer(sgd, isgd, tuning):
        one, other = (np.median(times[_best(times[:, columns(tuning)]), tuning:]) for times in (sgd, isgd))
        return one / other

    return answer


def _telling_tables(rng: np.random.Generator, shapes: Sequence[tuple[Any, ...]], *given: Any, **others: Any) -> list[tuple[Any, ...]]:
    """Clear tables, each with a number of seeds, for whom the published rate is best, and perhaps how many columns choose."""

    def draw() -> list[tuple[Any, ...]]:
        cases: list[tuple[Any, ...]] = []
        for seeds, published, *tuning in shapes:
            case = (*_table(rng, seeds, published=published), *tuning)
            while not _clear_tables(*case):
                case = (*_table(rng, seeds, published=published), *tuning)
            cases.append(case)
        return cases

    return telling(draw, *given, **others)


OTHER_SEEDS = [
    _by_columns(lambda tuning: slice(tuning + 1)),
    _by_columns(lambda tuning: slice(tuning - 1)),
    _by_columns(lambda tuning: slice(1)),
    lambda sgd, isgd, tuning: np.median(sgd[_best(sgd), tuning:]) / np.median(isgd[_best(isgd[:, :tuning]), tuning:]),
    lambda sgd, isgd, tuning: np.median(sgd[_best(sgd[:, :tuning]), tuning:]) / np.median(isgd[_best(isgd), tuning:]),
    lambda sgd, isgd, tuning: np.median(sgd[_best(sgd[:, :tuning]), tuning:] / isgd[_best(isgd[:, :tuning]), tuning:]),
]


NEVER = "Your answer is not finite for a run that was at the target. `np.inf` is for a run that never was."


def seconds_verdict(answer: Any, seed: int = 0) -> Verdict:
    verdict = quiet(
        answer,
        _logs(np.random.default_rng([seed, 550])),
        _seconds_by_walk,
        ALL_SECONDS,
        right="Right. Counts times prices: no neighbour on the machine can change that.",
        nudge="Not that time. With steps = [2, 4, 6], gradients = [1, 1, 2], gap = [9, 5, 2], target = 6, model = 10 and rest = 1 it is "
        "14; with target = 1 it is `np.inf`.",
    )
    # the general words on what is not finite would mislead here, where infinity is an answer
    return Verdict(False, NEVER) if verdict.message.startswith("Your answer contains a number that is not finite") else verdict


@lru_cache(maxsize=32)
def _gain_tables(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 551])
    shapes = [(5, "slow"), (7, "slow"), (6, "slow"), (6, "SGD"), (8, "ISGD")]
    return _telling_tables(rng, shapes, _gain_by_hand, ALL_GAINS)


def gain_verdict(answer: Any, seed: int = 0) -> Verdict:
    return quiet(
        answer,
        _gain_tables(seed),
        _gain_by_hand,
        ALL_GAINS,
        right="Right. Both sides have been given the same care.",
        nudge="Not that gain. With sgd = [[90, 80, 70], [30, 36, 60], [50, 40, 45]] and isgd = [[21, 12, 18], [5, np.inf, np.inf], "
        "[9, 10, np.inf]] the medians are [80, 36, 45] and [18, inf, 10], and the gain is 3.6.",
    )


@lru_cache(maxsize=32)
def _tables(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 552])
    shapes = [
        (8, "slow", 3),
        (9, "slow", 5),
        (10, "slow", 4),
        (9, "slow", 3),
        (10, "SGD", 4),
        (9, "ISGD", 5),
        (10, "slow", 4),
        (8, "ISGD", 4),
        (11, "SGD", 5),
    ]
    return _telling_tables(rng, shapes, _fresh_by_hand, ALL_FRESH, others=OTHER_SEEDS)


def fresh_verdict(answer: Any, seed: int = 0) -> Verdict:
    return quiet(
        answer,
        _tables(seed),
        _fresh_by_hand,
        ALL_FRESH,
        right="Right. Those who judge had no say in the choice.",
        nudge="Not that gain. With sgd = [[10, 60, 41, 42, 43], [30, 32, 50, 58, 90]], isgd = [[9, 11, 8, 4, 5], [2, 20, 7, 7, 6]] and "
        "tuning = 2 SGD gets its second rate and ISGD its first, and the gain is 58/5.",
    )


TASKS = (
    Task(
        "is_gradients/is-nine-real/seconds",
        "Is nine real? Time to a target",
        2,
        9,
        seconds_stub,
        (
            "First find the line of the log at which the run is at the target for the first time. There may be none.",
            "cost at a line = gradients model + steps rest, with the counts of that line.",
            "Begin with `there = np.flatnonzero(gap <= target)`",
        ),
        SECONDS_MISTAKES,
        seconds_verdict,
    ),
    Task(
        "is_gradients/is-nine-real/gain",
        "Is nine real? Both sides tuned",
        2,
        8,
        gain_stub,
        (
            "Each method has its own best rate. How long does each take at its own?",
            "time of a method = min over its rates of (median over the seeds at that rate).",
            "Begin with `took = np.median(sgd, axis=1)`, one median for each rate",
        ),
        GAIN_MISTAKES,
        gain_verdict,
    ),
    Task(
        "is_gradients/is-nine-real/fresh",
        "Is nine real? Fresh seeds",
        2,
        9,
        fresh_stub,
        (
            "Two steps for each method: choose a rate with some of the seeds; look at the others at that rate.",
            "time of a method = median over the others of row i, where i = argmin over the rates of a median over those that choose.",
            "Begin with `i = np.argmin(np.median(sgd[:, :tuning], axis=1))`",
        ),
        FRESH_MISTAKES,
        fresh_verdict,
    ),
)
